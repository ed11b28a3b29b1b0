/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wgmma.c - wgmma.mma_async: products of 64 x n x 32 bytes that a warpgroup starts and
 * waits for. A product reads its operands at a random moment between start and wait. See
 * ptx.h.
 *
 * Layouts of operands in shared memory (PTX ISA, "Asynchronous Warpgroup Level Matrix
 * Shared Memory Layout"). A chunk is 16 bytes; a row is the 16, 32, 64 or 128 bytes that a
 * swizzle has (16: none). K-major, byte kb of k in row r of the operand:
 *
 *   no swizzle   r % 8 * 16  + r / 8 * stride + kb / 16 * leading + kb % 16
 *   swizzle      r % 8 * row + r / 8 * stride + kb
 *
 * MN-major, byte rb along the operand's rows at k:
 *
 *   no swizzle   rb % 16  + rb / 16 * stride   + k % 8 * 16  + k / 8 * leading
 *   swizzle      rb % row + rb / row * leading + k % 8 * row + k / 8 * stride
 */
#include "tests/ptx/inside.h"

#include <stdlib.h>

enum {
    THREADS = GROUP_WARPS * WARP_SIZE,
    M = 64,
    N_MAX = 256,
    K_BYTES = 32,
    K_MAX = 32,
    CHUNK = 16
};

struct descriptor {
    uint32_t at, leading, stride, row, swizzle;
    bool k_major;
    uint32_t rows, element; /* element: bytes */
};

/* ---- operands in shared memory ---- */

static struct descriptor described(struct thread *t, const struct ins *ins, uint64_t bits,
                                   bool k_major, uint32_t rows, enum type type) {
    static const uint32_t swizzles[] = {0, 128, 64, 32};
    struct descriptor d = {.at = (uint32_t)(bits & 0x3fff) << 4,
                           .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                           .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                           .swizzle = swizzles[bits >> 62],
                           .k_major = k_major,
                           .rows = rows,
                           .element = (uint32_t)size_of(type)};
    d.row = d.swizzle ? d.swizzle : CHUNK;
    if (bits >> 49 & 7)
        fail(t, ins, PTX_ILLEGAL_INSTRUCTION,
             "a matrix descriptor with a base offset is not known here");
    return d;
}

/* Chunk i of an operand: 2 chunks along k for each row, or rows * element / 16 chunks for
 * each k. */
static uint32_t chunk_count(const struct descriptor *d) {
    return d->rows * K_BYTES / CHUNK;
}

static uint32_t chunk_at(const struct descriptor *d, uint32_t i) {
    uint32_t at;
    if (d->k_major) {
        const uint32_t r = i / 2, kb = i % 2 * CHUNK;
        at = r % 8 * d->row + r / 8 * d->stride + (d->swizzle ? kb : i % 2 * d->leading);
    } else {
        const uint32_t each = d->rows * d->element / CHUNK, k = i / each;
        const uint32_t rb = i % each * CHUNK;
        at = rb % d->row + rb / d->row * (d->swizzle ? d->leading : d->stride) +
             k % 8 * d->row + k / 8 * (d->swizzle ? d->stride : d->leading);
    }
    return swizzled(d->at + at, d->swizzle);
}

static void check_operand(struct thread *t, const struct ins *ins,
                          const struct descriptor *d) {
    for (uint32_t i = 0; i < chunk_count(d); i++) {
        uint32_t at;
        struct block *b = shared_at(t, ins, chunk_at(d, i), CHUNK, &at);
        check_async_read(t, ins, b, at, CHUNK);
    }
}

static void check_unchanged(struct thread *t, const struct ins *ins,
                            const struct descriptor *d, uint64_t since) {
    for (uint32_t i = 0; i < chunk_count(d); i++)
        if (changed_since(t->block, chunk_at(d, i), CHUNK, since))
            fail(t, ins, PTX_FAILED,
                 "shared address %u, which a wgmma in flight reads, has been overwritten",
                 chunk_at(d, i) - SMEM_BEGIN);
}

/* x[k][row] */
static void load_operand(double x[K_MAX][N_MAX], const struct thread *t,
                         const struct descriptor *d, enum type type) {
    const uint32_t per_chunk = CHUNK / d->element;
    for (uint32_t i = 0; i < chunk_count(d); i++) {
        const unsigned char *from = t->block->smem + chunk_at(d, i);
        const uint32_t each = d->rows / per_chunk;
        for (uint32_t j = 0; j < per_chunk; j++) {
            uint32_t bits = 0;
            memcpy(&bits, from + j * d->element, d->element);
            if (d->k_major)
                x[i % 2 * per_chunk + j][i / 2] = element(type, bits, 0);
            else
                x[i / each][i % each * per_chunk + j] = element(type, bits, 0);
        }
    }
}

/* A from registers: as for mma.sync, each warp has 16 rows. */
static void load_registers(double x[K_MAX][N_MAX], const struct warpgroup *g,
                           const struct ins *ins, enum type type) {
    const unsigned e = 4 / (unsigned)size_of(type);
    for (unsigned l = 0; l < THREADS; l++)
        for (unsigned i = 0; i < 4; i++)
            for (unsigned j = 0; j < e; j++)
                x[e * (l % 4) + j + 4 * e * (i / 2)]
                 [l / WARP_SIZE * 16 + l % WARP_SIZE / 4 + 8 * (i % 2)] =
                     element(type, get(&g->thread[l], ins, ins->first[1] + i), j);
}

static bool has_registers(const struct ins *ins) {
    return ins->first[2] - ins->first[1] > 1;
}

/* Immediate i after the predicate; `usual` where there is none. */
static int immediate(const struct thread *t, const struct ins *ins, unsigned i, int usual) {
    return ins->operands > 4 + i ? (int)operand(t, ins, 4 + i) : usual;
}

static struct descriptor operand_a(struct thread *t, const struct product *p) {
    return described(t, p->ins, p->a, immediate(t, p->ins, 2, 0) == 0, M,
                     (enum type)p->ins->type[1]);
}

static struct descriptor operand_b(struct thread *t, const struct product *p) {
    const unsigned which = has_registers(p->ins) ? 2 : 3;
    return described(t, p->ins, p->b, immediate(t, p->ins, which, 0) == 0,
                     (uint32_t)p->ins->n, (enum type)p->ins->type[2]);
}

/* ---- the product ---- */

struct work {
    double a[K_MAX][N_MAX], b[K_MAX][N_MAX], sum[M][N_MAX];
};

static bool is_integer(const struct ins *ins) {
    return ins->type[0] == T_S32;
}

static bool is_8_bit_float(enum type type) {
    return type == T_E4M3 || type == T_E5M2;
}

static unsigned row_of(unsigned l, unsigned i) {
    return l / WARP_SIZE * 16 + l % WARP_SIZE / 4 + 8 * (i / 2 % 2);
}

static unsigned column_of(unsigned l, unsigned i) {
    return 8 * (i / 4) + 2 * (l % 4) + i % 2;
}

static void load_sums(struct work *w, const struct warpgroup *g, const struct product *p) {
    const struct ins *ins = p->ins;
    const unsigned count = (unsigned)ins->n / 2, each = ins->type[0] == T_F16 ? 2 : 1;
    for (unsigned l = 0; l < THREADS; l++)
        for (unsigned i = 0; i < count; i++) {
            const uint64_t bits = get(&g->thread[l], ins, i / each);
            w->sum[row_of(l, i)][column_of(l, i)] =
                !p->adds          ? 0
                : is_integer(ins) ? (double)(int32_t)bits
                                  : element((enum type)ins->type[0], bits, i % each);
        }
}

static uint64_t rounded(const struct ins *ins, double x) {
    if (!is_integer(ins))
        return ins->type[0] == T_F16 ? narrow(T_F16, x, 0) : of_f32((float)x);
    if (ins->flags & SATFINITE)
        x = x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
    return (uint32_t)(int64_t)x;
}

static void store_sums(const struct work *w, const struct warpgroup *g,
                       const struct ins *ins) {
    const unsigned count = (unsigned)ins->n / 2;
    for (unsigned l = 0; l < THREADS; l++)
        for (unsigned i = 0; i < count; i++) {
            struct thread *t = &g->thread[l];
            const uint64_t x = rounded(ins, w->sum[row_of(l, i)][column_of(l, i)]);
            if (ins->type[0] != T_F16)
                put(t, ins, i, x);
            else if (i % 2 == 0)
                put(t, ins, i / 2, x);
            else
                put(t, ins, i / 2, get(t, ins, i / 2) | x << 16);
        }
}

/* Integers, and sums in f16. */
static void add_up_plain(struct work *w, const struct ins *ins, double sign) {
    for (int i = 0; i < M; i++)
        for (int k = 0; k < ins->k; k++) {
            const double a = sign * w->a[k][i];
            for (int j = 0; j < ins->n; j++)
                w->sum[i][j] += a * w->b[k][j];
        }
}

static void add_up_cut(struct work *w, const struct ins *ins, double sign) {
    const struct kept kept =
        is_8_bit_float((enum type)ins->type[1]) ? kept_of_8_bit : kept_bits;
    double terms[K_MAX + 1];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < ins->n; j++) {
            for (int k = 0; k < ins->k; k++)
                terms[k] = sign * w->a[k][i] * w->b[k][j];
            terms[ins->k] = w->sum[i][j];
            w->sum[i][j] = tensor_sum(terms, ins->k + 1, kept);
        }
}

/* Executes a product, for all threads of its warpgroup. */
static void execute(struct warpgroup *g, struct product *p) {
    struct thread *t = g->thread;
    const struct ins *ins = p->ins;
    struct work *w = malloc(sizeof *w);
    if (!w)
        fail(t, ins, PTX_FAILED, "no memory for a product");
    const struct descriptor da = operand_a(t, p), db = operand_b(t, p);
    if (has_registers(ins))
        load_registers(w->a, g, ins, (enum type)ins->type[1]);
    else
        load_operand(w->a, t, &da, (enum type)ins->type[1]);
    load_operand(w->b, t, &db, (enum type)ins->type[2]);
    load_sums(w, g, p);
    const double sign = immediate(t, ins, 0, 1) * immediate(t, ins, 1, 1);
    if (is_integer(ins) || ins->type[0] == T_F16)
        add_up_plain(w, ins, sign);
    else
        add_up_cut(w, ins, sign);
    store_sums(w, g, ins);
    free(w);
    p->executed = true;
    t->block->cluster->launch->report->tensor_ops += 2u * M * (unsigned)(ins->n * ins->k);
}

/* In the order of their start. */
static void execute_all(struct warpgroup *g) {
    for (size_t i = 0; i < g->products; i++)
        if (!g->product[i].executed)
            execute(g, &g->product[i]);
}

/* ---- instructions ---- */

static uint32_t number_in_group(const struct warp *w) {
    return (uint32_t)(w - w->group->warp);
}

static bool is_owed(const struct product *p, uint32_t warp) {
    return (p->waited >> warp & 1) == 0;
}

/* Marks the registers of the products that a warp has not waited for, in all its lanes. */
static void mark_busy(struct warp *w) {
    const struct warpgroup *g = w->group;
    bool any = false;
    for (size_t i = 0; i < g->products; i++) {
        const struct ins *ins = g->product[i].ins;
        if (!is_owed(&g->product[i], number_in_group(w)))
            continue;
        any = true;
        for (unsigned a = 0; a < ins->first[1]; a++)
            w->busy[ins->arg[a]] |= BUSY_SUM;
        for (unsigned a = ins->first[1]; has_registers(ins) && a < ins->first[2]; a++)
            w->busy[ins->arg[a]] |= BUSY_A;
    }
    for (uint32_t l = 0; l < w->lanes; l++)
        w->thread[l].busy = any ? w->busy : NULL;
}

/* A warp has waited for a product: its registers are free again. */
static void retire(struct thread *t, struct product *p) {
    const struct descriptor da = operand_a(t, p), db = operand_b(t, p);
    if (!has_registers(p->ins))
        check_unchanged(t, p->ins, &da, p->since);
    check_unchanged(t, p->ins, &db, p->since);
    for (unsigned a = 0; a < p->ins->first[2]; a++)
        t->warp->busy[p->ins->arg[a]] = 0;
    p->waited |= 1u << number_in_group(t->warp);
}

/* Forgets the products that all warps have waited for. */
static void forget_products(struct warpgroup *g) {
    size_t kept = 0;
    for (size_t i = 0; i < g->products; i++)
        if (g->product[i].waited != (1u << GROUP_WARPS) - 1)
            g->product[kept++] = g->product[i];
    g->products = kept;
}

static bool is_same_in_group(const struct warpgroup *g, const struct ins *ins, unsigned i) {
    for (unsigned l = 1; l < THREADS; l++)
        if (operand(&g->thread[l], ins, i) != operand(g->thread, ins, i))
            return false;
    return true;
}

static void check_product(struct thread *t, const struct ins *ins) {
    struct warpgroup *g = t->warp->group;
    const bool alike = (has_registers(ins) || is_same_in_group(g, ins, 1)) &&
                       is_same_in_group(g, ins, 2) && is_same_in_group(g, ins, 3);
    if (!alike)
        fail(t, ins, PTX_FAILED, "threads of a warpgroup give a wgmma different operands");
    for (unsigned l = 0; l < THREADS; l++)
        if (!g->thread[l].fenced)
            fail(&g->thread[l], ins, PTX_FAILED, "no wgmma.fence before the first wgmma");
    if (ins->m != M || ins->n % 8 != 0 || ins->n < 8 || ins->n > N_MAX || ins->types != 3 ||
        (unsigned)ins->k * size_of((enum type)ins->type[1]) != K_BYTES)
        fail(t, ins, PTX_ILLEGAL_INSTRUCTION, "this shape of wgmma is not known");
}

static void start(struct thread *t, const struct ins *ins) {
    struct warpgroup *g = t->warp->group;
    if (!gather_group(t, ins))
        return;
    check_product(t, ins);
    struct product *list = grown_list(g->product, g->products, &g->room, sizeof *list);
    if (!list)
        fail(t, ins, PTX_FAILED, "no memory for a product");
    g->product = list;
    struct product *p = &g->product[g->products++];
    *p = (struct product){.ins = ins,
                          .a = operand(t, ins, 1),
                          .b = operand(t, ins, 2),
                          .adds = predicate(t, ins, 3),
                          .since = launch_of(t)->time};
    const struct descriptor da = operand_a(t, p), db = operand_b(t, p);
    if (!has_registers(ins))
        check_operand(t, ins, &da);
    check_operand(t, ins, &db);
    for (uint32_t w = 0; w < GROUP_WARPS; w++) {
        p->batch[w] = g->warp[w].open_batch;
        mark_busy(&g->warp[w]);
    }
    if (dice(launch_of(t), 2) == 0)
        execute_all(g);
    go_on_group(t, ins);
}

static void fence(struct thread *t, const struct ins *ins) {
    (void)ins;
    t->fenced = true;
}

/* A warp commits and waits by itself: the other warps of its group may come later. */
static void commit(struct thread *t, const struct ins *ins) {
    if (!gather_warp(t, ins))
        return;
    t->warp->open_batch++;
    go_on(t, ins, UINT32_MAX);
}

static void wait_group(struct thread *t, const struct ins *ins) {
    struct warpgroup *g = t->warp->group;
    const uint32_t warp = number_in_group(t->warp), open = t->warp->open_batch;
    if (!gather_warp(t, ins))
        return;
    const uint32_t newest = (uint32_t)operand(t, ins, 0);
    const uint32_t before = open > newest ? open - newest : 0;
    for (size_t i = 0; i < g->products; i++) {
        struct product *p = &g->product[i];
        if (p->batch[warp] >= before || !is_owed(p, warp))
            continue;
        if (!p->executed)
            execute(g, p);
        retire(t, p);
    }
    forget_products(g);
    mark_busy(t->warp);
    go_on(t, ins, UINT32_MAX);
}

const struct op wgmma_ops[] = {
    {"wgmma.mma_async.sync.aligned", T_ANY, SATFINITE, start},
    {"wgmma.fence.sync.aligned", T_NONE, 0, fence},
    {"wgmma.commit_group.sync.aligned", T_NONE, 0, commit},
    {"wgmma.wait_group.sync.aligned", T_NONE, 0, wait_group},
    END_OF_ROWS,
};
