/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_entry.h - one object of a sweep file's "sizes": read and checked, not yet expanded,
 * because 80 bytes can ask for 10^18 problems. sweep.h has the keys of an entry.
 */
#ifndef GT_TUNER_BASE_SWEEP_ENTRY_H
#define GT_TUNER_BASE_SWEEP_ENTRY_H

#include "core/json.h"
#include "core/problem/problem.h"

/* The values start, start + step, ... of one dimension. */
struct gt_sweep_span {
    int64_t start, step, count;
};

/* Every value of one dimension of an entry, in file order. */
struct gt_sweep_spans {
    size_t count;
    struct gt_sweep_span *span;
    double values; /* number of values of all spans */
};

/* A combination of options: a problem that has them, and which were given. */
struct gt_sweep_like {
    gemmtune_problem problem;
    unsigned seen; /* as gt_problem_set counts them */
};

enum { GT_SWEEP_LIKES_MAX = 1000 };

struct gt_sweep_entry {
    struct gt_node node;
    size_t types, layouts;
    const struct gt_dtype *type[GT_DTYPES];
    int layout[GT_LAYOUTS];       /* bit 1: A stored transposed; bit 0: B */
    bool cubes;                   /* dim[0] holds volumes */
    struct gt_sweep_spans dim[3]; /* m n k */
    size_t likes;
    struct gt_sweep_like *like; /* every combination of the options */
    double weight;
};

/* Reads the object at `n`. The caller clears *e, also after an error. EPARSE names the
 * file, the line and the key. */
gt_status gt_sweep_entry_read(struct gt_sweep_entry *e, struct gt_node n,
                              struct gt_err *err);
/* Reads the types alone, from the member "dtype" of the object. EPARSE. */
gt_status gt_sweep_entry_read_types(struct gt_sweep_entry *e, struct gt_node n,
                                    struct gt_err *err);
/* The weight of an entry; 1 when it has none. */
gt_status gt_sweep_read_weight(double *out, struct gt_node entry, struct gt_err *err);
void gt_sweep_entry_clear(struct gt_sweep_entry *e);

/* The number of problems. It is a double, because it can be far above 2^63. */
double gt_sweep_entry_count(const struct gt_sweep_entry *e);

#endif
