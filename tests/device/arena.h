/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - products of drawn numbers with all matrices inside of one buffer, at drawn
 * places. Random bytes around each matrix must stay as they are. Numbers are small
 * integers, so results are equal bit by bit in every type.
 */
#ifndef GT_TESTS_DEVICE_ARENA_H
#define GT_TESTS_DEVICE_ARENA_H

#include "core/element.h"
#include "core/problem/packed.h"
#include "core/problem/problem.h"
#include "runtime/exec/exec.h"
#include "tests/chance.h"
#include "tests/device/machines.h"

#include <stdio.h>
#include <string.h>

enum { ARENA = 1 << 20, GROUPS_MAX = 8, OPERANDS = 2 };

static unsigned char arena[ARENA], want[ARENA], got[ARENA];

static inline int64_t draw(int64_t below) {
    return (int64_t)(any_bits() % (uint64_t)below);
}

/* ---- the arena ---- */

static int64_t used; /* bytes */

/* Room for elements at a random multiple of `align` elements; returns the offset in
 * elements. */
static inline int64_t place(int64_t elements, int64_t size, int64_t align) {
    const int64_t unit = size * align;
    const int64_t at = (used + draw(200) + unit - 1) / unit;
    used = at * unit + elements * size;
    assert_true(used + 256 <= ARENA - ARENA / 4);
    return at * align;
}

/* Small integers to the elements from `offset` on. */
static inline void fill(int64_t offset, int64_t elements, gemmtune_dtype type) {
    const int64_t size = (int64_t)gt_type_size(type);
    for (int64_t i = 0; i < elements; i++)
        gt_element_put(arena + (offset + i) * size, type, (double)(draw(5) - 2));
}

static inline double read_element(const unsigned char *bytes, gemmtune_dtype type,
                                  int64_t offset) {
    return gt_element_get(bytes + offset * (int64_t)gt_type_size(type), type);
}

/* ---- one product ---- */

struct drawn {
    gemmtune_problem p; /* canonical */
    gemmtune_args args;
    union gt_value alpha, beta;
    int32_t rows[GROUPS_MAX];
    int64_t operand_offset[OPERANDS];
    int64_t end; /* bytes of the arena that are compared: the rest is workspace */
};

static inline void draw_rows(struct drawn *x) {
    const bool grouped = x->p.batch_kind == GEMMTUNE_GROUPED_ROWS;
    for (int64_t i = 0; i < x->p.batch; i++)
        x->rows[i] = (int32_t)(grouped ? (i + 1) * x->p.m / x->p.batch : draw(x->p.m + 1));
    x->args.rows_offset = place(x->p.batch, sizeof *x->rows, 1);
    memcpy(arena + x->args.rows_offset * (int64_t)sizeof *x->rows, x->rows,
           (size_t)x->p.batch * sizeof *x->rows);
}

/* Draws the places of all matrices, at multiples of `align` elements, and their numbers. */
static inline void draw_memory(struct drawn *x, int64_t align) {
    const gemmtune_problem *p = &x->p;
    const int64_t elems[3] = {gt_problem_elems_a(p), gt_problem_elems_b(p),
                              gt_problem_elems_c(p)};
    const gemmtune_dtype type[3] = {p->type_a, p->type_b, p->type_c};
    int64_t *const offset[3] = {&x->args.a_offset, &x->args.b_offset, &x->args.c_offset};
    used = 0;
    for (int i = 0; i < ARENA; i++)
        arena[i] = (unsigned char)draw(256);
    for (int i = 0; i < 3; i++) {
        *offset[i] = place(elems[i], (int64_t)gt_type_size(type[i]), align);
        fill(*offset[i], elems[i], type[i]);
    }
    if (gt_problem_has_rows(p))
        draw_rows(x);
    x->end = x->args.workspace_offset = (used + 255) / 256 * 256;
}

/* alpha op(A) op(B) of row i and column j of product z. */
static inline double product(const struct drawn *x, int64_t z, int64_t i, int64_t j) {
    const gemmtune_problem *p = &x->p;
    const int64_t matrix = p->batch_kind == GEMMTUNE_GROUPED_ROWS ? 0 : z;
    const int64_t a = x->args.a_offset + matrix * p->stride_a;
    const int64_t b = x->args.b_offset + z * p->stride_b;
    double sum = 0;
    for (int64_t k = 0; k < p->k; k++)
        sum += read_element(arena, p->type_a,
                            a + (p->trans_a ? k * p->lda + i : i * p->lda + k)) *
               read_element(arena, p->type_b,
                            b + (p->trans_b ? j * p->ldb + k : k * p->ldb + j));
    return sum * gt_element_get(&x->alpha, p->type_acc);
}

/* Writes the expected C over `want`. */
static inline void expect_rows(const struct drawn *x, int64_t z, int64_t matrix,
                               int64_t first, int64_t end) {
    const gemmtune_problem *p = &x->p;
    const int64_t size = (int64_t)gt_type_size(p->type_c);
    const double beta = gt_element_get(&x->beta, p->type_acc);
    for (int64_t i = first; i < end; i++)
        for (int64_t j = 0; j < p->n; j++) {
            const int64_t at = x->args.c_offset + matrix * p->stride_c + i * p->ldc + j;
            double c = product(x, z, i, j);
            if (beta != 0)
                c += beta * read_element(arena, p->type_c, at);
            gt_element_put(want + at * size, p->type_c, c);
        }
}

static inline void expect(const struct drawn *x) {
    const gemmtune_problem *p = &x->p;
    memcpy(want, arena, sizeof want);
    for (int64_t z = 0; z < p->batch; z++)
        if (p->batch_kind == GEMMTUNE_GROUPED_ROWS)
            expect_rows(x, z, 0, z > 0 ? x->rows[z - 1] : 0, x->rows[z]);
        else
            expect_rows(x, z, z, 0,
                        p->batch_kind == GEMMTUNE_MASKED_ROWS ? x->rows[z] : p->m);
}

/* A zero may have either sign: a product by a negative alpha, or the sum of no products. */
static inline void accept_zeros(const struct drawn *x) {
    const gemmtune_dtype type = x->p.type_c;
    const int64_t size = (int64_t)gt_type_size(type), first = x->args.c_offset;
    for (int64_t i = first; i < first + gt_problem_elems_c(&x->p); i++)
        if (read_element(want, type, i) == 0 && read_element(got, type, i) == 0)
            memcpy(got + i * size, want + i * size, (size_t)size);
}

/* All bytes up to x->end. */
static inline void compare(const struct drawn *x, const char *name) {
    accept_zeros(x);
    for (int64_t i = 0; i < x->end; i++)
        if (got[i] != want[i])
            fail_msg(
                "%s, seed %llu: byte %lld of the arena is %02x, not %02x (A from %lld, "
                "B from %lld, C from %lld)",
                name, (unsigned long long)chance_seed, (long long)i, got[i], want[i],
                (long long)x->args.a_offset, (long long)x->args.b_offset,
                (long long)x->args.c_offset);
}

static inline void scalars(struct drawn *x, double alpha, double beta) {
    x->alpha = gt_value_of(x->p.type_acc, alpha);
    x->beta = gt_value_of(x->p.type_acc, beta);
    x->args.alpha = &x->alpha;
    x->args.beta = &x->beta;
}

#endif
