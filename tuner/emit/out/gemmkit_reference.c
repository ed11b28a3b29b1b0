/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemmkit_reference.c - see gemmkit_reference.h. Elements are small integers, so that every
 * sum is exact and C must be equal bit by bit, unless an epilogue has functions. A row of
 * op(A) has as many elements that are not 0 as the CPU has time for.
 */
#include "gemmkit_reference.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the device ---- */

struct gk_calls gk_cu;

char gk_device_name[128];

void gk_stop(int code, const char *what, const char *why) {
    fprintf(stderr, "gemmkit_test: %s%s\n", what, why);
    exit(code);
}

void gk_open_device(void) {
    static const struct {
        const char *symbol;
        size_t at;
    } wanted[] = {
#define X(name, symbol, params) {#symbol, offsetof(struct gk_calls, name)},
        CALLS(X)
#undef X
    };
    const char *path = getenv("GEMMKIT_LIBCUDA");
    void *const library = dlopen(path != NULL ? path : "libcuda.so.1", RTLD_NOW);
    if (library == NULL)
        gk_stop(4, "there is no CUDA driver: ", dlerror());
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *const found = dlsym(library, wanted[i].symbol);
        if (found == NULL)
            gk_stop(4, "the CUDA driver has no ", wanted[i].symbol);
        memcpy((char *)&gk_cu + wanted[i].at, &found, sizeof found);
    }
    int device = 0;
    void *context = NULL;
    if (gk_cu.cuInit(0) != 0 || gk_cu.cuDeviceGet(&device, 0) != 0 ||
        gk_cu.cuDeviceGetName(gk_device_name, sizeof gk_device_name, device) != 0 ||
        gk_cu.cuDevicePrimaryCtxRetain(&context, device) != 0 ||
        gk_cu.cuCtxSetCurrent(context) != 0)
        gk_stop(4, "there is no CUDA device", "");
}

device_t gk_allocate(size_t bytes) {
    device_t memory = 0;
    if (gk_cu.cuMemAlloc(&memory, bytes > 0 ? bytes : 1) != 0)
        gk_stop(1, "out of device memory", "");
    return memory;
}

device_t gk_upload(const void *from, size_t bytes) {
    const device_t memory = gk_allocate(bytes);
    if (gk_cu.cuMemcpyHtoD(memory, from, bytes) != 0)
        gk_stop(1, "a copy to the device failed", "");
    return memory;
}

void *gk_host(size_t bytes) {
    void *const memory = calloc(bytes > 0 ? bytes : 1, 1);
    if (memory == NULL)
        gk_stop(1, "out of host memory", "");
    return memory;
}

/* ---- elements ---- */

/* Bits of exponent and fraction of the floats that C has no type for. */
static const struct {
    int exponent, fraction;
} floats[] = {[GEMMKIT_F16] = {5, 10},
              [GEMMKIT_BF16] = {8, 7},
              [GEMMKIT_E4M3] = {4, 3},
              [GEMMKIT_E5M2] = {5, 2}};

static uint64_t encode_float(int type, double v) {
    const int bits = floats[type].exponent, fraction = floats[type].fraction;
    const int bias = (1 << (bits - 1)) - 1;
    const uint64_t sign = signbit(v) ? UINT64_C(1) << (bits + fraction) : 0;
    int exponent;
    if (v == 0)
        return 0;
    (void)frexp(fabs(v), &exponent);
    exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    const double units = nearbyint(ldexp(fabs(v), fraction - exponent));
    return sign | (((uint64_t)(exponent + bias - 1) << fraction) + (uint64_t)units);
}

/* The number's bits in the type, rounded to the nearest element. */
static uint64_t encode(int type, double v) {
    uint64_t bits = 0;
    const float f = (float)v;
    const double most = type == GEMMKIT_I8    ? 127 /* integers saturate */
                        : type == GEMMKIT_I32 ? 2147483647
                                              : 0;
    const double least = most > 0 ? -most - 1 : 0;
    const int32_t i = (int32_t)(v > most ? most : v >= least ? v : least);
    if (type == GEMMKIT_F64)
        memcpy(&bits, &v, sizeof v);
    else if (type == GEMMKIT_F32)
        memcpy(&bits, &f, sizeof f);
    else if (type == GEMMKIT_I32 || type == GEMMKIT_I8)
        memcpy(&bits, &i, gk_type_size(type));
    else
        bits = encode_float(type, v);
    return bits;
}

static double decode_float(int type, uint64_t bits) {
    const int exponent = floats[type].exponent, fraction = floats[type].fraction;
    const int bias = (1 << (exponent - 1)) - 1;
    const int field = (int)(bits >> fraction) & ((1 << exponent) - 1);
    const double part = (double)(bits & ((UINT64_C(1) << fraction) - 1));
    const double size = field == 0 ? ldexp(part, 1 - bias - fraction)
                                   : ldexp(part + (1 << fraction), field - bias - fraction);
    if (field == (1 << exponent) - 1 && type != GEMMKIT_E4M3)
        return NAN; /* infinity, too: no result here is as large */
    return bits >> (exponent + fraction) & 1 ? -size : size;
}

static double decode(int type, uint64_t bits) {
    double f64;
    float f32;
    int32_t i32;
    memcpy(&f64, &bits, sizeof f64);
    memcpy(&f32, &bits, sizeof f32);
    memcpy(&i32, &bits, sizeof i32);
    return type == GEMMKIT_F64   ? f64
           : type == GEMMKIT_F32 ? f32
           : type == GEMMKIT_I32 ? i32
           : type == GEMMKIT_I8  ? (int8_t)i32
                                 : decode_float(type, bits);
}

double gk_cast(int type, double v) {
    static const double most[] = {
        [GEMMKIT_F32] = 3.4e38,   [GEMMKIT_F64] = 1.7e308,   [GEMMKIT_F16] = 65504,
        [GEMMKIT_BF16] = 3.38e38, [GEMMKIT_E4M3] = 448,      [GEMMKIT_E5M2] = 57344,
        [GEMMKIT_I8] = 127,       [GEMMKIT_I32] = 2147483647};
    const bool integer = type == GEMMKIT_I8 || type == GEMMKIT_I32;
    const double least = -most[type] - integer;
    const double near = integer ? nearbyint(v) : v;
    return decode(type, encode(type, near > most[type] ? most[type]
                                     : near < least    ? least
                                                       : near));
}

static uint64_t load(const unsigned char *from, size_t size) {
    uint64_t bits = 0;
    memcpy(&bits, from, size);
    return bits;
}

static uint64_t state = 1;
static uint32_t draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

/* ---- one operand ---- */

static int64_t first_of(const struct matrix *x, int64_t product) {
    return x->count > 1 ? product * x->stride : 0;
}

static struct matrix make(int64_t rows, int64_t cols, int64_t ld, int64_t stride,
                          int64_t batch, int type) {
    struct matrix x = {.rows = rows, .cols = cols, .ld = ld, .type = type};
    x.stride = stride;
    x.count = stride == 0 ? 1 : batch;
    x.bytes =
        (size_t)((x.count - 1) * stride + (rows - 1) * ld + cols) * gk_type_size(type);
    x.number = gk_host((size_t)(x.count * rows * cols));
    x.store = gk_host(x.bytes);
    memset(x.store, 0xff, x.bytes); /* not numbers, or -1 */
    return x;
}

/* Stores the numbers, which are -3 to 3. */
static void fill_store(struct matrix *x) {
    const size_t size = gk_type_size(x->type);
    uint64_t code[7];
    for (int i = 0; i < 7; i++)
        code[i] = encode(x->type, i - 3);
    for (int64_t p = 0; p < x->count; p++)
        for (int64_t r = 0; r < x->rows; r++)
            for (int64_t c = 0; c < x->cols; c++)
                memcpy(x->store + (size_t)(first_of(x, p) + r * x->ld + c) * size,
                       &code[x->number[(p * x->rows + r) * x->cols + c] + 3], size);
}

/* Copies the store to the device. */
static void place(struct matrix *x, int shift) {
    const size_t ahead = (size_t)shift * gk_type_size(x->type);
    x->base = gk_allocate(ahead + x->bytes);
    x->memory = x->base + ahead;
    if (gk_cu.cuMemcpyHtoD(x->memory, x->store, x->bytes) != 0)
        gk_stop(1, "a copy to the device failed", "");
}

static void give_back(struct matrix *x) {
    free(x->number);
    free(x->store);
    (void)gk_cu.cuMemFree(x->base);
    if (x->list != 0)
        (void)gk_cu.cuMemFree(x->list);
}

/* A device array of pointers to the matrices of a batch. */
static void make_list(struct matrix *x, int64_t batch) {
    device_t *const list = gk_host((size_t)batch * sizeof *list);
    for (int64_t i = 0; i < batch; i++)
        list[i] = x->memory + (size_t)first_of(x, i) * gk_type_size(x->type);
    x->list = gk_upload(list, (size_t)batch * sizeof *list);
    free(list);
}

/* ---- one product ---- */

/* Element (i, l) of op(A) of a product. */
static int8_t *at_a(const struct product *x, int64_t b, int64_t i, int64_t l) {
    const struct matrix *a = &x->a;
    const int64_t first = (a->count > 1 ? b : 0) * a->rows * a->cols;
    return &a->number[first + (x->p.kind.trans_a ? l * a->cols + i : i * a->cols + l)];
}

/* Copies op(B) in pieces that the caches hold. */
static void flatten(struct product *x) {
    enum { PIECE = 64 };
    const struct matrix *m = &x->b;
    const int64_t n = x->p.n, k = x->p.k;
    x->flat = gk_host((size_t)(m->count * k * n));
    if (!x->p.kind.trans_b) {
        memcpy(x->flat, m->number, (size_t)(m->count * k * n));
        return;
    }
    for (int64_t b = 0; b < m->count; b++)
        for (int64_t j = 0; j < n; j += PIECE)
            for (int64_t l = 0; l < k; l++)
                for (int64_t at = j; at < n && at < j + PIECE; at++)
                    x->flat[(b * k + l) * n + at] = m->number[(b * n + at) * k + l];
}

static int64_t packed(const struct gk_problem *p, int64_t stride, int64_t rows,
                      int64_t ld) {
    return p->kind.batch == 2 ? rows * ld : stride;
}

/* Row i of a product of op(A) and op(B), as sums of integers. */
static void reference(int32_t *row, const struct product *x, int64_t b, int64_t i) {
    const int64_t n = x->p.n, first = (x->b.count > 1 ? b : 0) * x->p.k;
    memset(row, 0, (size_t)n * sizeof *row);
    for (int64_t l = 0; l < x->p.k; l++) {
        const int a = *at_a(x, b, i, l);
        const int8_t *of = &x->flat[(first + l) * n];
        for (int64_t j = 0; a != 0 && j < n; j++)
            row[j] += a * of[j];
    }
}

/* The codes of small integers in a type. */
enum { CODES = 8192 };
static void make_codes(uint64_t code[CODES], int type) {
    for (int i = 0; i < CODES; i++)
        code[i] = encode(type, i - CODES / 2);
}

/* Whether an element is not the one that is wanted. A zero has any sign. */
static bool is_other(int type, uint64_t is, uint64_t should) {
    return is != should && ((is | should) << (65 - 8 * gk_type_size(type))) != 0;
}

static int complain(const char *name, const char *matrix, size_t at, double is,
                    double should) {
    printf("WRONG %s: element %zu of %s is %.9g, not %.9g\n", name, at, matrix, is, should);
    return 1;
}

/* The elements of C that the product has are written to its store, which has C as it was
 * before. */
static void expect(struct product *x, int alpha, int beta) {
    struct matrix *const c = &x->c;
    const size_t size = gk_type_size(c->type);
    int32_t *const row = gk_host((size_t)x->p.n * sizeof *row);
    uint64_t *const code = gk_host(CODES * sizeof *code);
    make_codes(code, c->type);
    for (int64_t b = 0; b < x->p.batch; b++)
        for (int64_t i = 0; i < x->p.m; i++) {
            const int64_t first = first_of(c, b) + i * c->ld;
            reference(row, x, b, i);
            for (int64_t j = 0; j < x->p.n; j++) {
                const int before = c->number[(b * c->rows + i) * c->cols + j];
                const int number = alpha * row[j] + beta * before;
                const uint64_t bits = number >= -CODES / 2 && number < CODES / 2
                                          ? code[number + CODES / 2]
                                          : encode(c->type, number);
                memcpy(c->store + (size_t)(first + j) * size, &bits, size);
            }
        }
    free(code);
    free(row);
}

static int compare_plain(struct product *x, const unsigned char *got, int alpha, int beta,
                         const char *name) {
    struct matrix *const c = &x->c;
    const size_t size = gk_type_size(c->type);
    expect(x, alpha, beta);
    if (memcmp(got, c->store, c->bytes) == 0)
        return 0;
    for (size_t at = 0; at < c->bytes; at += size) {
        const uint64_t is = load(got + at, size), should = load(c->store + at, size);
        if (is_other(c->type, is, should))
            return complain(name, "C", at / size, decode(c->type, is),
                            decode(c->type, should));
    }
    return 0;
}

/* ---- epilogues ---- */

/* The place of an operand's value for an element. */
static int64_t place_of(const struct product *x, int shape, int64_t b, int64_t i,
                        int64_t j) {
    const int64_t place[] = {
        [GK_SCALAR] = 0,      [GK_PER_ROW] = b * x->p.m + i,
        [GK_PER_COLUMN] = j,  [GK_MATRIX] = (b * x->p.m + i) * x->p.n + j,
        [GK_PER_PRODUCT] = b, [GK_ROWS_PER_PRODUCT] = b * x->p.n + j};
    return place[shape];
}

static void make_operands(struct product *x) {
    const struct gk_epilogue *const e = x->epilogue;
    const int64_t rows = x->p.m * x->p.batch, n = x->p.n;
    const int64_t sides[][2] = {[GK_SCALAR] = {1, 1},
                                [GK_PER_ROW] = {1, rows},
                                [GK_PER_COLUMN] = {1, n},
                                [GK_MATRIX] = {rows, n},
                                [GK_PER_PRODUCT] = {1, x->p.batch},
                                [GK_ROWS_PER_PRODUCT] = {x->p.batch, n}};
    for (int o = 0; o < e->operands; o++) {
        const int64_t *const side = sides[e->operand[o].shape];
        struct matrix *const m = &x->operand[o];
        *m = make(side[0], side[1], side[1], 0, 1, e->operand[o].type);
        for (int64_t i = 0; i < side[0] * side[1]; i++)
            m->number[i] = (int8_t)((int)(draw() % 5) - 2);
        fill_store(m);
        place(m, 0);
    }
    if (e->d2 >= 0) {
        x->d2 = make(rows, n, n, 0, 1, e->d2);
        place(&x->d2, 0);
    }
}

/* Results of functions are compared within a unit of their type, and a little more. */
static bool is_wrong(const struct product *x, int type, uint64_t is, double want) {
    static const int fraction[] = {
        [GEMMKIT_F32] = 23, [GEMMKIT_F64] = 52, [GEMMKIT_F16] = 10, [GEMMKIT_BF16] = 7,
        [GEMMKIT_E4M3] = 3, [GEMMKIT_E5M2] = 2, [GEMMKIT_I8] = 0,   [GEMMKIT_I32] = 0};
    const bool integer = type == GEMMKIT_I8 || type == GEMMKIT_I32;
    const double more = x->p.kind.type_acc == GEMMKIT_F64 ? 1e-12 : 2e-5;
    if (x->epilogue->exact)
        return is_other(type, is, encode(type, want));
    if (!isfinite(want) || fabs(want) > 3e4)
        return false;
    const double room = integer ? 1 : ldexp(fabs(want), -fraction[type]);
    return !(fabs(decode(type, is) - want) <= room + more * (1 + fabs(want)));
}

static int compare_epilogue(const struct product *x, const unsigned char *got,
                            const unsigned char *second, int alpha, int beta,
                            const char *name) {
    const struct matrix *c = &x->c, *d2 = &x->d2;
    const size_t size = gk_type_size(c->type), size_2 = gk_type_size(d2->type);
    int32_t *const row = gk_host((size_t)x->p.n * sizeof *row);
    struct gk_element e = {.alpha = alpha, .beta = beta};
    int bad = 0;
    for (int64_t b = 0; b < x->p.batch; b++)
        for (int64_t i = 0; i < x->p.m && !bad; i++) {
            reference(row, x, b, i);
            for (int64_t j = 0; j < x->p.n && !bad; j++) {
                const size_t at = (size_t)(first_of(c, b) + i * c->ld + j);
                const size_t at_2 = (size_t)place_of(x, GK_MATRIX, b, i, j);
                double more = 0;
                e.acc = row[j];
                e.c = c->number[(b * c->rows + i) * c->cols + j];
                e.x = alpha * e.acc + beta * e.c;
                for (int o = 0; o < x->epilogue->operands; o++)
                    e.operand[o] =
                        x->operand[o]
                            .number[place_of(x, x->epilogue->operand[o].shape, b, i, j)];
                const double want =
                    gk_expected((int)(x->epilogue - gk_epilogues), &e, &more);
                const uint64_t is = load(got + at * size, size);
                if (is_wrong(x, c->type, is, want))
                    bad = complain(name, "C", at, decode(c->type, is), want);
                if (bad || second == NULL)
                    continue;
                const uint64_t other = load(second + at_2 * size_2, size_2);
                if (is_wrong(x, d2->type, other, more))
                    bad = complain(name, "d2", at_2, decode(d2->type, other), more);
            }
        }
    free(row);
    return bad;
}

/* ---- the whole ---- */

struct product gk_make_product(const struct gk_problem *p, int shift) {
    struct product x = {.p = *p};
    if (p->kind.epilogue != 0)
        x.epilogue = &gk_epilogues[p->kind.epilogue - 1];
    const bool ta = p->kind.trans_a, tb = p->kind.trans_b;
    const int64_t ra = ta ? p->k : p->m, rb = tb ? p->n : p->k;
    x.a = make(ra, ta ? p->m : p->k, p->lda, packed(p, p->stride[0], ra, p->lda), p->batch,
               p->kind.type_a);
    x.b = make(rb, tb ? p->k : p->n, p->ldb, packed(p, p->stride[1], rb, p->ldb), p->batch,
               p->kind.type_b);
    x.c = make(p->m, p->n, p->ldc, packed(p, p->stride[2], p->m, p->ldc), p->batch,
               p->kind.type_c);
    const double fits = BUDGET / ((double)p->m * (double)p->n * (double)p->batch);
    x.filled = fits >= (double)p->k ? p->k : fits < 8 ? 8 : (int64_t)fits;
    if (x.epilogue != NULL && x.filled > 64) /* functions of small numbers */
        x.filled = 64;
    if (x.filled > p->k)
        x.filled = p->k;
    for (int64_t i = 0; i < x.b.count * x.b.rows * x.b.cols; i++)
        x.b.number[i] = (int8_t)((int)(draw() % 5) - 2);
    flatten(&x);
    for (int64_t b = 0; b < x.a.count; b++)
        for (int64_t i = 0; i < p->m; i++)
            for (int64_t f = 0; f < x.filled; f++)
                *at_a(&x, b, i, x.filled == p->k ? f : draw() % p->k) = draw() & 1 ? 1 : -1;
    for (int64_t i = 0; i < x.c.count * p->m * p->n; i++)
        x.c.number[i] = (int8_t)((int)(draw() % 7) - 3);
    fill_store(&x.a);
    fill_store(&x.b);
    place(&x.a, shift);
    place(&x.b, shift);
    place(&x.c, shift);
    if (x.epilogue != NULL)
        make_operands(&x);
    if (p->kind.batch == 2) {
        make_list(&x.a, p->batch);
        make_list(&x.b, p->batch);
        make_list(&x.c, p->batch);
    }
    return x;
}

void gk_clear_product(struct product *x) {
    give_back(&x->a);
    give_back(&x->b);
    give_back(&x->c);
    for (int i = 0; x->epilogue != NULL && i < x->epilogue->operands; i++)
        give_back(&x->operand[i]);
    if (x->epilogue != NULL && x->epilogue->d2 >= 0)
        give_back(&x->d2);
    free(x->flat);
}

static unsigned char *download(const struct matrix *from) {
    unsigned char *const to = gk_host(from->bytes);
    if (gk_cu.cuMemcpyDtoH(to, from->memory, from->bytes) != 0)
        gk_stop(1, "a copy from the device failed", "");
    return to;
}

void gk_reset(struct product *x, bool numbers) {
    memset(x->c.store, 0xff, x->c.bytes);
    if (numbers)
        fill_store(&x->c);
    if (gk_cu.cuMemcpyHtoD(x->c.memory, x->c.store, x->c.bytes) != 0)
        gk_stop(1, "a copy to the device failed", "");
}

int gk_compare(struct product *x, int alpha, int beta, const char *name) {
    unsigned char *const got = download(&x->c), *second = NULL;
    if (x->epilogue != NULL && x->epilogue->d2 >= 0)
        second = download(&x->d2);
    const int bad = x->epilogue == NULL
                        ? compare_plain(x, got, alpha, beta, name)
                        : compare_epilogue(x, got, second, alpha, beta, name);
    free(second);
    free(got);
    return bad;
}
