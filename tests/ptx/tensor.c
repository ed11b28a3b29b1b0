/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor.c - boxes of a tensor in global memory. A box lies in shared memory with its first
 * dimension contiguous. Elements outside of the tensor are read as zeros. They are not
 * written, but a row's last 16 bytes are always written whole. See ptx.h.
 */
#include "tests/ptx/inside.h"

enum { RANKS = 5 };

/*
 * The words: address, kind, two sides, stride, two sides of the box (which the fake
 * driver's kernels in OpenCL read as well), then the rest.
 */
void ptx_tensor_pack(uint64_t words[16], const struct ptx_tensor *t) {
    const uint64_t all[16] = {
        t->address,
        t->kind,
        t->dims[0],
        t->dims[1],
        t->strides[1],
        t->box[0],
        t->box[1],
        t->rank | t->element << 8 | (uint64_t)t->swizzle << 16,
        t->dims[2],
        t->dims[3],
        t->dims[4],
        t->strides[2],
        t->strides[3],
        t->strides[4],
        t->box[2] | (uint64_t)t->box[3] << 16 | (uint64_t)t->box[4] << 32,
    };
    memcpy(words, all, sizeof all);
}

void ptx_tensor_unpack(struct ptx_tensor *t, const uint64_t w[16]) {
    *t = (struct ptx_tensor){
        .address = w[0],
        .kind = (enum ptx_kind)(w[1] & 255),
        .dims = {w[2], w[3], w[8], w[9], w[10]},
        .rank = w[7] & 255,
        .element = w[7] >> 8 & 255,
        .swizzle = (uint32_t)(w[7] >> 16),
        .box = {(uint32_t)w[5], (uint32_t)w[6], w[14] & 0xffff, w[14] >> 16 & 0xffff,
                w[14] >> 32 & 0xffff},
    };
    t->strides[0] = t->element;
    t->strides[1] = w[4];
    for (int d = 2; d < RANKS; d++)
        t->strides[d] = w[9 + d];
}

enum type tensor_type(const struct ptx_tensor *t) {
    static const enum type types[] = {
        [PTX_U8] = T_U8,     [PTX_S32] = T_S32, [PTX_F16] = T_F16,
        [PTX_BF16] = T_BF16, [PTX_F32] = T_F32, [PTX_F64] = T_F64};
    return types[t->kind];
}

/* A row of a box: the elements along the first dimension. */
struct row {
    uint64_t global;     /* of its first element in the tensor */
    uint32_t place;      /* in the box, in bytes */
    uint32_t begin, end; /* elements of it that exist */
};

/* Row number n of the box; begin == end when none of it exists. */
static struct row row_of(const struct flight *f, uint32_t n) {
    const struct ptx_tensor *m = &f->map;
    const int64_t x = f->at[0], left = (int64_t)m->dims[0] - x;
    struct row r = {.global = m->address, .place = n * m->box[0] * m->element};
    bool exists = true;
    for (uint32_t d = 1; d < m->rank; d++) {
        const int64_t at = f->at[d] + (int64_t)(n % m->box[d]);
        n /= m->box[d];
        exists = exists && at >= 0 && at < (int64_t)m->dims[d];
        r.global += (uint64_t)at * m->strides[d];
    }
    r.begin = x < 0 ? (uint32_t)(-x < m->box[0] ? -x : m->box[0]) : 0;
    r.end = left < 0 ? 0 : left < m->box[0] ? (uint32_t)left : m->box[0];
    if (!exists || r.end < r.begin)
        r.end = r.begin;
    r.global += (uint64_t)((x + (int64_t)r.begin) * (int64_t)m->element);
    return r;
}

static uint32_t rows_of(const struct ptx_tensor *m) {
    uint32_t rows = 1;
    for (uint32_t d = 1; d < m->rank; d++)
        rows *= m->box[d];
    return rows;
}

/* Copies bytes to shared memory in pieces that a swizzle does not tear. */
static void put_swizzled(unsigned char *smem, uint32_t at, uint32_t swizzle,
                         const unsigned char *from, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i++)
        smem[swizzled(at + i, swizzle)] = from[i];
}

void tensor_load(struct flight *f, unsigned char *smem, uint32_t at) {
    const struct ptx_tensor *m = &f->map;
    memset(smem + at, 0, f->bytes);
    for (uint32_t n = 0; n < rows_of(m); n++) {
        const struct row r = row_of(f, n);
        const uint32_t bytes = (r.end - r.begin) * m->element;
        if (bytes > 0)
            put_swizzled(smem, at + r.place + r.begin * m->element, m->swizzle,
                         reach_global(f->thread, f->ins, r.global, bytes), bytes);
    }
}

/* The end of the elements of a row that a store writes. An H200 writes the last piece of 16
 * bytes whole, with the elements that the box holds past the tensor's edge. */
static uint32_t written_end(const struct ptx_tensor *m, const struct row *r) {
    const uint32_t piece = 16 / m->element, end = (r->end + piece - 1) / piece * piece;
    return r->begin == r->end ? r->end : end < m->box[0] ? end : m->box[0];
}

/* f->data: the box without its swizzle. */
void tensor_store(struct flight *f) {
    const struct ptx_tensor *m = &f->map;
    for (uint32_t n = 0; n < rows_of(m); n++) {
        const struct row r = row_of(f, n);
        const uint32_t bytes = (written_end(m, &r) - r.begin) * m->element;
        if (bytes == 0)
            continue;
        unsigned char *to = reach_global(f->thread, f->ins, r.global, bytes);
        const unsigned char *from = f->data + r.place + r.begin * m->element;
        for (uint32_t i = 0; f->reduce && i < bytes; i += m->element)
            store_reduced(to + i, from + i, f->reduce, f->type);
        if (!f->reduce)
            memcpy(to, from, bytes);
    }
}
