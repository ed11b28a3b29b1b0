/* SPDX-License-Identifier: Apache-2.0 */
/* lists.c - see lists.h. */
#include "tuner/lab/lists.h"

#include "core/bytes.h"
#include "core/mix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

/* The least stride of at least `elements` at which matrices are aligned to `promised`
 * bytes; with `exactly` it is no multiple of twice as many. */
static int64_t stride_of(int64_t elements, gemmtune_dtype type, int64_t promised,
                         bool exactly) {
    const int64_t size = (int64_t)gt_type_size(type);
    const int64_t to = promised > size ? promised / size : 1;
    const int64_t steps = (elements + to - 1) / to;
    return (exactly ? steps | 1 : steps) * to;
}

/* The strided batch of memory that pointers lead to. At least `more` elements follow a
 * matrix. */
static gemmtune_problem memory_of(const gemmtune_problem *p, int64_t more, bool exactly) {
    const int64_t promised = p->pointer_align;
    gemmtune_problem q = *p;
    if (!gt_problem_has_pointers(p))
        return q;
    q.batch_kind = GEMMTUNE_BATCH_STRIDED;
    q.pointer_align = 0;
    q.stride_a =
        stride_of(gt_problem_shape_a(p).rows * p->lda + more, p->type_a, promised, exactly);
    q.stride_b =
        stride_of(gt_problem_shape_b(p).rows * p->ldb + more, p->type_b, promised, exactly);
    q.stride_c = stride_of(p->m * p->ldc + more, p->type_c, promised, exactly);
    return q;
}

gemmtune_problem gt_memory_of(const gemmtune_problem *p) {
    return memory_of(p, 1, true);
}

gemmtune_problem gt_timed_memory_of(const gemmtune_problem *p) {
    return memory_of(p, 0, p->pointer_align < GT_VECTOR_BYTES);
}

/* ---- orders ---- */

const struct gt_orders gt_orders_plain = {{1, 0}, {1, 0}, {1, 0}, {1, 0}};

/* The least number from `from` on that has no divisor in common with `count`. */
static int64_t coprime(int64_t count, int64_t from) {
    for (int64_t step = from;; step++) {
        int64_t x = count, y = step;
        while (y != 0) {
            const int64_t rest = x % y;
            x = y;
            y = rest;
        }
        if (x == 1)
            return step;
    }
}

/* (place - shift) / step modulo count, by Euclid's algorithm: step times `x` and times `y`
 * leave the remainders `a` and `b`. */
struct gt_order gt_order_back(struct gt_order o, int64_t count) {
    int64_t a = o.step % count, b = count, x = 1, y = 0;
    while (a > 1) {
        const int64_t times = b / a, rest = b % a, next = y - times * x;
        b = a;
        y = x;
        a = rest;
        x = next;
    }
    const int64_t step = count == 1 ? 0 : (x % count + count) % count;
    return (struct gt_order){step, (count - o.shift % count) % count * step % count};
}

struct gt_orders gt_orders_of(const gemmtune_problem *p) {
    const int64_t n = p->batch;
    if (!gt_problem_has_pointers(p))
        return gt_orders_plain;
    const struct gt_order place = {coprime(n, n * 6 / 7 + 1), 3};
    return (struct gt_orders){.a = {coprime(n, n * 5 / 8 + 1), 1},
                              .b = {coprime(n, n * 3 / 8 + 1), 2},
                              .place = place,
                              .back = gt_order_back(place, n)};
}

/* ---- rows ---- */

/* A number from 0 to 999 for group or product z. */
static int64_t chance(uint64_t seed, int64_t z) {
    return (int64_t)(gt_mix(seed + (uint64_t)z * GT_MIX_STEP) % 1000);
}

/* Rows of group or product z. The rows of groups, and with ZIPF the rows of products, are
 * shares of all rows: they are still to be scaled to their sum. */
static int64_t weight(const gemmtune_problem *p, enum gt_spread spread, uint64_t seed,
                      int64_t z) {
    const int64_t expected = p->expected_rows, by_chance = chance(seed, z);
    if (spread == GT_SPREAD_AROUND)
        return expected * (750 + by_chance / 2) / 1000;
    if (spread == GT_SPREAD_EXACT)
        return expected;
    if (spread == GT_SPREAD_ZIPF)
        return 1000 * expected * p->batch / (z + 1);
    return by_chance < 300 ? 0 : by_chance < 400 ? p->m : p->m * chance(seed + 1, z) / 1000;
}

gt_status gt_spread_parse(enum gt_spread *out, const char *word, struct gt_err *err) {
    static const char *const words[] = {[GT_SPREAD_AROUND] = "around",
                                        [GT_SPREAD_EXACT] = "exact",
                                        [GT_SPREAD_ZIPF] = "zipf"};
    *out = GT_SPREAD_AROUND;
    for (int i = 0; word != NULL && i < GT_SPREAD_UNEVEN; i++)
        if (strcmp(word, words[i]) == 0) {
            *out = (enum gt_spread)i;
            return GEMMTUNE_OK;
        }
    return word == NULL
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_EINVAL,
                         "\"%s\" is no spread of rows: around, exact or zipf", word);
}

static double sum_of_weights(const gemmtune_problem *p, enum gt_spread spread,
                             uint64_t seed) {
    double sum = 0;
    for (int64_t z = 0; z < p->batch; z++)
        sum += (double)weight(p, spread, seed, z);
    return sum;
}

/* Groups share all rows; of uneven ones the last rows belong to none. */
static void fill_ends(int32_t *rows, const gemmtune_problem *p, enum gt_spread spread,
                      uint64_t seed) {
    const bool even = spread != GT_SPREAD_UNEVEN;
    const double expected = (double)p->expected_rows * (double)p->batch;
    const double most = (double)p->m - (even ? 0 : floor((double)p->m / 9));
    const double all = even && expected < most ? expected : most;
    const double sum = sum_of_weights(p, spread, seed);
    double before = 0;
    for (int64_t z = 0; z < p->batch; z++) {
        before += (double)weight(p, spread, seed, z);
        rows[z] = sum > 0 ? (int32_t)floor(all * (before / sum)) : 0;
    }
}

/* A product has at most m rows. */
static void fill_rows(int32_t *rows, const gemmtune_problem *p, enum gt_spread spread,
                      uint64_t seed) {
    const double expected = (double)p->expected_rows * (double)p->batch;
    const double scale =
        spread == GT_SPREAD_ZIPF ? expected / sum_of_weights(p, spread, seed) : 1;
    for (int64_t z = 0; z < p->batch; z++)
        rows[z] =
            (int32_t)fmin(floor(scale * (double)weight(p, spread, seed, z)), (double)p->m);
}

void gt_rows_fill(int32_t *rows, const gemmtune_problem *p, enum gt_spread spread,
                  uint64_t seed) {
    if (p->batch_kind == GEMMTUNE_GROUPED_ROWS)
        fill_ends(rows, p, spread, seed);
    else
        fill_rows(rows, p, spread, seed);
}

static gt_status write_rows(void **mem, struct gt_rig *rig, const int32_t *host,
                            int64_t count, struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(rig)->ops;
    const int64_t bytes = count * (int64_t)sizeof *host;
    const gt_status status = ops->alloc(mem, rig, bytes, err);
    return status == GEMMTUNE_OK ? ops->write(rig, *mem, 0, host, bytes, err) : status;
}

gt_status gt_rows_create(struct gt_rows *out, struct gt_rig *rig, const gemmtune_problem *p,
                         enum gt_spread spread, uint64_t seed, struct gt_err *err) {
    const bool grouped = p->batch_kind == GEMMTUNE_GROUPED_ROWS;
    memset(out, 0, sizeof *out);
    if (!gt_problem_has_rows(p))
        return GEMMTUNE_OK;
    out->host = calloc((size_t)p->batch, sizeof *out->host);
    if (out->host == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for rows");
    gt_rows_fill(out->host, p, spread, seed);
    out->used = grouped ? out->host + p->batch - 1 : out->host;
    gt_status status = write_rows(&out->mem, rig, out->host, p->batch, err);
    if (status == GEMMTUNE_OK)
        status = write_rows(&out->used_mem, rig, out->used, gt_problem_outputs(p), err);
    return status;
}

void gt_rows_clear(struct gt_rows *rows, struct gt_rig *rig) {
    if (rows->mem != NULL)
        gt_rig_head(rig)->ops->release(rig, rows->mem);
    if (rows->used_mem != NULL)
        gt_rig_head(rig)->ops->release(rig, rows->used_mem);
    free(rows->host);
    memset(rows, 0, sizeof *rows);
}

int64_t gt_rows_group(const struct gt_rows *rows, const gemmtune_problem *p, int64_t i) {
    int64_t g = 0;
    if (p->batch_kind != GEMMTUNE_GROUPED_ROWS)
        return 0;
    while (g < p->batch - 1 && i >= rows->host[g])
        g++;
    return g;
}

/* ---- lists ---- */

/* Bytes of an array of pointers. */
static int64_t array_bytes(int64_t count) {
    const int64_t bytes = gt_bytes_product(count, (int64_t)sizeof(void *));
    return gt_bytes_sum(bytes, GT_VIEW_ALIGN - 1) / GT_VIEW_ALIGN * GT_VIEW_ALIGN;
}

int64_t gt_lists_bytes(const gemmtune_problem *p) {
    return gt_problem_has_pointers(p) ? gt_bytes_product(3, array_bytes(p->batch)) : 0;
}

gt_status gt_lists_write(struct gt_lists *out, struct gt_rig *rig, void **const pointers[3],
                         int64_t count, struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(rig)->ops;
    const int64_t bytes = array_bytes(count);
    memset(out, 0, sizeof *out);
    if (count == 0)
        return GEMMTUNE_OK;
    gt_status status = ops->alloc(&out->mem, rig, 3 * bytes, err);
    for (int i = 0; i < 3 && status == GEMMTUNE_OK; i++) {
        status = ops->write(rig, out->mem, i * bytes, pointers[i],
                            count * (int64_t)sizeof **pointers, err);
        if (status == GEMMTUNE_OK)
            status = ops->view(&out->view[i], rig, out->mem, i * bytes, bytes, err);
    }
    return status;
}

/* The pointer to the matrix of an operand that product z has. */
static char *pointer_to(const gemmtune_problem *memory, int operand, int64_t z,
                        const struct gt_orders *orders, void *matrix) {
    const struct gt_stack x = gt_stack_of(memory, operand);
    const int64_t place = gt_order_at(orders->place, z, memory->batch);
    const int64_t number = operand == 2   ? place
                           : operand == 1 ? gt_order_at(orders->b, place, memory->batch)
                                          : gt_order_at(orders->a, place, memory->batch);
    return (char *)matrix + number * x.stride * (int64_t)gt_type_size(x.type);
}

gt_status gt_lists_create(struct gt_lists *out, struct gt_rig *rig,
                          const gemmtune_problem *p, const gemmtune_problem *memory,
                          void *const matrix[3], const struct gt_orders *orders,
                          struct gt_err *err) {
    memset(out, 0, sizeof *out);
    if (!gt_problem_has_pointers(p))
        return GEMMTUNE_OK;
    void **host = calloc((size_t)p->batch, 3 * sizeof *host);
    if (host == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for pointers");
    void **const of[3] = {host, host + p->batch, host + 2 * p->batch};
    for (int i = 0; i < 3; i++)
        for (int64_t z = 0; z < p->batch; z++)
            of[i][z] = pointer_to(memory, i, z, orders, matrix[i]);
    const gt_status status = gt_lists_write(out, rig, of, p->batch, err);
    free(host);
    return status;
}

void gt_lists_clear(struct gt_lists *lists, struct gt_rig *rig) {
    for (int i = 0; i < 3; i++)
        if (lists->view[i] != NULL)
            gt_rig_head(rig)->ops->view_release(rig, lists->view[i]);
    if (lists->mem != NULL)
        gt_rig_head(rig)->ops->release(rig, lists->mem);
    memset(lists, 0, sizeof *lists);
}
