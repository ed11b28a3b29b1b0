/* SPDX-License-Identifier: Apache-2.0 */
/* pieces.c - see pieces.h. */
#include "tuner/bench/pieces.h"

#include "tuner/lab/lab_internal.h"

#include <stdlib.h>
#include <string.h>

static void clear(struct gt_pieces *x, struct gt_rig *rig) {
    gt_lists_clear(&x->lists, rig);
    for (int i = 0; i < 3; i++)
        free(x->matrix[i]);
    free(x->rows);
    memset(x, 0, sizeof *x);
}

void gt_pieces_clear(struct gt_piece_store *s) {
    for (int i = 0; i < s->sets; i++)
        clear(&s->of_set[i], s->lab->rig);
    if (s->lab != NULL)
        clear(&s->other, s->lab->rig);
    free(s->of_set);
    s->of_set = NULL;
    s->sets = 0;
}

/* Group or product z of a call: its rows, and the first elements of its A, B and C. */
struct part {
    int64_t rows, at[3];
};

static struct part part_of(const gemmtune_problem *p, const int32_t *rows, int64_t z) {
    if (p->batch_kind != GEMMTUNE_GROUPED_ROWS)
        return (struct part){rows[z], {z * p->stride_a, z * p->stride_b, z * p->stride_c}};
    const int64_t begin = z > 0 ? rows[z - 1] : 0;
    return (struct part){
        rows[z] - begin,
        {p->trans_a ? begin : begin * p->lda, z * p->stride_b, begin * p->ldc}};
}

static void fill(struct gt_pieces *x, const gemmtune_problem *p, const int32_t *rows,
                 void *const matrix[3]) {
    const gemmtune_dtype type[3] = {p->type_a, p->type_b, p->type_c};
    for (int64_t z = 0; z < p->batch; z++) {
        const struct part part = part_of(p, rows, z);
        if (part.rows == 0)
            continue;
        for (int i = 0; i < 3; i++)
            x->matrix[i][x->count] =
                (char *)matrix[i] + part.at[i] * (int64_t)gt_type_size(type[i]);
        x->rows[x->count++] = (int)part.rows;
    }
}

/* Makes the pieces of matrices with rows that are given on the host. */
static gt_status make(struct gt_pieces *x, const struct gt_piece_store *s,
                      const int32_t *rows, void *const matrix[3], struct gt_err *err) {
    const size_t most = (size_t)s->problem.batch;
    bool enough = (x->rows = calloc(most, sizeof *x->rows)) != NULL;
    for (int i = 0; i < 3; i++)
        enough = (x->matrix[i] = calloc(most, sizeof *x->matrix[i])) != NULL && enough;
    if (!enough)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the sizes of groups");
    fill(x, &s->problem, rows, matrix);
    return gt_lists_write(&x->lists, s->lab->rig, x->matrix, x->count, err);
}

gt_status gt_pieces_prepare(struct gt_piece_store *s, const gemmtune_problem *p,
                            struct gt_err *err) {
    const struct gt_sets *sets = &s->lab->sets;
    gt_status status = GEMMTUNE_OK;
    gt_pieces_clear(s);
    s->problem = *p;
    s->of_set = calloc((size_t)sets->count, sizeof *s->of_set);
    if (s->of_set == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the sizes of groups");
    s->sets = sets->count;
    for (int i = 0; status == GEMMTUNE_OK && i < s->sets; i++) {
        void *const matrix[3] = {sets->view[0][i], sets->view[1][i], sets->view[2][i]};
        status = make(&s->of_set[i], s, sets->rows.host, matrix, err);
    }
    return status;
}

/* Reads the rows of a call from the device, where alone a call has them. */
static gt_status make_other(struct gt_piece_store *s, const struct gt_call *x,
                            struct gt_err *err) {
    struct gt_rig *const rig = s->lab->rig;
    const int64_t batch = s->problem.batch;
    void *const matrix[3] = {x->a, x->b, x->c};
    int32_t *rows = calloc((size_t)batch, sizeof *rows);
    clear(&s->other, rig);
    gt_status status = rows != NULL
                           ? gt_rig_head(rig)->ops->read(rig, x->rows, 0, rows,
                                                         batch * (int64_t)sizeof *rows, err)
                           : gt_fail(err, GEMMTUNE_ENOMEM, "no memory for rows");
    if (status == GEMMTUNE_OK)
        status = make(&s->other, s, rows, matrix, err);
    free(rows);
    return status;
}

gt_status gt_pieces_find(const struct gt_pieces **out, struct gt_piece_store *s,
                         const struct gt_call *x, struct gt_err *err) {
    for (int i = 0; i < s->sets; i++)
        if (s->lab->sets.view[2][i] == x->c) {
            *out = &s->of_set[i];
            return GEMMTUNE_OK;
        }
    *out = &s->other;
    return make_other(s, x, err);
}
