/* SPDX-License-Identifier: Apache-2.0 */
/* rows_memory.c - see rows_inside.h. */
#include "tuner/study/rows_inside.h"

#include "core/element.h"
#include "tuner/search/search.h"

#include <stdlib.h>
#include <string.h>

/* Rows of a matrix as it lies in memory are drawn; later ones repeat them. A prime, so that
 * no tile meets the same rows at the same places. */
enum { DRAWN = 509 };

/* Rows of numbers as the type stores them; NULL: no memory. */
static unsigned char *draw(gemmtune_dtype type, int64_t rows, int64_t cols,
                           uint64_t *seed) {
    const size_t size = gt_type_size(type);
    const bool is_float = gt_type_is_float(type);
    unsigned char *all = malloc((size_t)(rows * cols) * size + 1);
    for (int64_t i = 0; all != NULL && i < rows * cols; i++) {
        const double x = 2 * gt_random_uniform(seed) - 1;
        gt_element_put(all + (size_t)i * size, type, is_float ? x : (double)(int)(100 * x));
    }
    return all;
}

static gt_status no_memory(struct gt_err *err) {
    return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the rows to compare");
}

/* Fills a device matrix of this shape from the drawn rows. */
static gt_status fill(struct gt_rows_matrix *x, struct gt_rig *rig, gemmtune_dtype type,
                      struct gt_shape shape, const unsigned char *drawn,
                      struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(rig)->ops;
    const size_t size = gt_type_size(type);
    const int64_t elems = x->offset + gt_shape_elems(shape, x->ld);
    const size_t bytes = (size_t)elems * size;
    unsigned char *host = calloc(bytes + 16, 1);
    if (host == NULL)
        return no_memory(err);
    for (int64_t r = 0; r < shape.rows; r++)
        memcpy(host + (size_t)(x->offset + r * x->ld) * size,
               drawn + (size_t)(r % DRAWN * shape.cols) * size, (size_t)shape.cols * size);
    gt_status status = ops->alloc(&x->memory, rig, (int64_t)bytes + 16, err);
    if (status == GEMMTUNE_OK)
        status = ops->write(rig, x->memory, 0, host, (int64_t)bytes + 16, err);
    free(host);
    return status;
}

static gt_status make_inputs(struct gt_rows_memory *m, uint64_t seed, struct gt_err *err) {
    const gemmtune_problem *p = &m->problem;
    const struct gt_shape a = gt_problem_shape_a(p), b = gt_problem_shape_b(p);
    unsigned char *drawn = draw(p->type_a, a.rows < DRAWN ? a.rows : DRAWN, a.cols, &seed);
    gt_status status = drawn != NULL ? GEMMTUNE_OK : no_memory(err);
    for (int i = 0; i < GT_ROWS_PLACES && status == GEMMTUNE_OK; i++) {
        m->a[i].ld = gt_shape_least_ld(a) + i;
        m->a[i].offset = i * GT_ROWS_OFFSET;
        status = fill(&m->a[i], m->rig, p->type_a, a, drawn, err);
    }
    free(drawn);
    if (status != GEMMTUNE_OK)
        return status;
    drawn = draw(p->type_b, b.rows < DRAWN ? b.rows : DRAWN, b.cols, &seed);
    m->b.ld = gt_shape_least_ld(b);
    status = drawn != NULL ? fill(&m->b, m->rig, p->type_b, b, drawn, err) : no_memory(err);
    free(drawn);
    return status;
}

static gt_status make_output(struct gt_rows_memory *m, struct gt_err *err) {
    const gemmtune_problem *p = &m->problem;
    const struct gt_rig_ops *ops = gt_rig_head(m->rig)->ops;
    const size_t size = gt_type_size(p->type_c);
    for (int i = 0; i < GT_ROWS_PLACES; i++)
        m->ldc[i] = p->n + i;
    m->c_elems = GT_ROWS_OFFSET + p->m * (p->n + 1) + 16;
    m->reference = malloc((size_t)(p->m * p->n) * size + 1);
    m->got = malloc((size_t)m->c_elems * size);
    if (m->reference == NULL || m->got == NULL)
        return no_memory(err);
    return ops->alloc(&m->c.memory, m->rig, m->c_elems * (int64_t)size, err);
}

/* Operands have numbers that follow the column alone, so that a row may stand anywhere. */
static gt_status make_operand(const void **out, struct gt_rows_memory *m,
                              const struct gt_epi_operand *o, uint64_t *seed,
                              struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(m->rig)->ops;
    const gemmtune_dtype type = (gemmtune_dtype)o->type;
    const bool wide = o->shape == GT_EPI_COLUMNS || gt_epi_has_ld(o->shape);
    const int64_t cols = wide ? m->problem.n : 1;
    const int64_t rows = o->shape == GT_EPI_SCALAR || o->shape == GT_EPI_COLUMNS
                             ? 1
                             : m->problem.m + GT_ROWS_PRODUCTS;
    struct gt_rows_matrix x = {.ld = cols};
    unsigned char *drawn = draw(type, 1, cols, seed);
    unsigned char *all = malloc((size_t)(rows * cols) * gt_type_size(type) + 16);
    gt_status status = drawn != NULL && all != NULL ? GEMMTUNE_OK : no_memory(err);
    const size_t line = (size_t)cols * gt_type_size(type);
    for (int64_t r = 0; status == GEMMTUNE_OK && r < rows; r++)
        memcpy(all + (size_t)r * line, drawn, line);
    if (status == GEMMTUNE_OK)
        status = ops->alloc(&x.memory, m->rig, rows * (int64_t)line + 16, err);
    *out = x.memory;
    if (status == GEMMTUNE_OK)
        status = ops->write(m->rig, x.memory, 0, all, rows * (int64_t)line, err);
    free(drawn);
    free(all);
    return status;
}

static gt_status make_operands(struct gt_rows_memory *m, uint64_t seed,
                               struct gt_err *err) {
    const struct gt_epilogue *e = gt_epilogue_of(&m->problem);
    const struct gt_rig_ops *ops = gt_rig_head(m->rig)->ops;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; e != NULL && i < e->operands && status == GEMMTUNE_OK; i++)
        status = make_operand(&m->operand[i], m, &e->operand[i], &seed, err);
    if (e != NULL && e->d2 >= 0 && status == GEMMTUNE_OK)
        status = ops->alloc(&m->d2, m->rig,
                            (m->problem.m * m->problem.n + 16) *
                                (int64_t)gt_type_size((gemmtune_dtype)e->type_d2),
                            err);
    return status;
}

gt_status gt_rows_memory_make(struct gt_rows_memory *m, struct gt_rig *rig,
                              const gemmtune_problem *all, uint64_t seed,
                              struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(rig)->ops;
    *m = (struct gt_rows_memory){.rig = rig, .problem = *all};
    gt_status status = make_inputs(m, seed, err);
    if (status == GEMMTUNE_OK)
        status = make_output(m, err);
    if (status == GEMMTUNE_OK)
        status = make_operands(m, seed + 1, err);
    if (status == GEMMTUNE_OK)
        status =
            ops->alloc(&m->rows, rig, GT_ROWS_PRODUCTS * (int64_t)sizeof(int32_t), err);
    for (int i = 0; i < 3 && status == GEMMTUNE_OK; i++)
        status = ops->alloc(&m->pointer[i], rig, GT_ROWS_PRODUCTS * (int64_t)sizeof(void *),
                            err);
    return status;
}

gt_status gt_rows_memory_need(struct gt_rows_memory *m, int64_t bytes, struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(m->rig)->ops;
    if (bytes <= m->workspace_bytes)
        return GEMMTUNE_OK;
    if (m->workspace != NULL)
        ops->release(m->rig, m->workspace);
    m->workspace = NULL;
    m->workspace_bytes = 0;
    const gt_status status = ops->alloc(&m->workspace, m->rig, bytes, err);
    m->workspace_bytes = status == GEMMTUNE_OK ? bytes : 0;
    return status;
}

static void release(struct gt_rows_memory *m, void *memory) {
    if (memory != NULL)
        gt_rig_head(m->rig)->ops->release(m->rig, memory);
}

void gt_rows_memory_clear(struct gt_rows_memory *m) {
    for (int i = 0; i < GT_ROWS_PLACES; i++)
        release(m, m->a[i].memory);
    for (int i = 0; i < 3; i++)
        release(m, m->pointer[i]);
    for (int i = 0; i < GT_EPILOGUE_OPERANDS_MAX; i++)
        release(m, (void *)(uintptr_t)m->operand[i]);
    release(m, m->b.memory);
    release(m, m->c.memory);
    release(m, m->rows);
    release(m, m->d2);
    release(m, m->workspace);
    free(m->reference);
    free(m->got);
}
