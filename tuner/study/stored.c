/* SPDX-License-Identifier: Apache-2.0 */
/* stored.c - see stored.h. A domain has all values that occur, in ascending order. */
#include "tuner/study/stored.h"

#include "core/room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gt_stored_clear(struct gt_stored *s) {
    for (int i = 0; i < s->spaces; i++) {
        /* a family that is made here is not const */
        struct gt_family *family = NULL;
        memcpy(&family, &s->space[i].family, sizeof family);
        free(family);
        gt_space_clear(&s->space[i]);
        free(s->outcome[i]);
        free(s->ns[i]);
    }
    free(s->space);
    free(s->outcome);
    free(s->ns);
    *s = (struct gt_stored){0};
}

gt_status gt_stored_row(struct gt_stored_rows *rows, const struct gt_stored_row *row,
                        struct gt_err *err) {
    struct gt_stored_row *const all =
        gt_room_for(rows->row, &rows->room, rows->count, sizeof *all);
    if (all == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %zu stored points",
                       rows->count + 1);
    rows->row = all;
    rows->row[rows->count++] = *row;
    return GEMMTUNE_OK;
}

/* ---- a family made from the rows ---- */

static int by_value(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static gt_status take_domain(struct gt_param *param, const struct gt_stored_rows *rows,
                             int p, struct gt_err *err) {
    snprintf(param->name, sizeof param->name, "%s", rows->param[p]);
    for (size_t i = 0; i < rows->count; i++) {
        const int64_t value = rows->row[i].value[p];
        int at = 0;
        while (at < param->count && param->value[at] != value)
            at++;
        if (at == GT_VALUES_MAX)
            return gt_fail(err, GEMMTUNE_EINVAL, "parameter %s has more than %d values",
                           param->name, GT_VALUES_MAX);
        if (at == param->count)
            param->value[param->count++] = value;
    }
    qsort(param->value, (size_t)param->count, sizeof *param->value, by_value);
    return GEMMTUNE_OK;
}

static int by_point(const void *a, const void *b) {
    const struct gt_stored_row *x = a, *y = b;
    for (int i = 0; i < GT_POINT_MAX; i++)
        if (x->value[i] != y->value[i])
            return x->value[i] < y->value[i] ? -1 : 1;
    return 0;
}

/* Among rows of the same point, a correct and the fastest one comes first. */
static int by_merit(const void *a, const void *b) {
    const struct gt_stored_row *x = a, *y = b;
    const int order = by_point(a, b);
    if (order != 0)
        return order;
    if (x->outcome != y->outcome)
        return x->outcome < y->outcome ? -1 : 1;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

static void fill_row(unsigned char *at, const struct gt_family *f,
                     const struct gt_stored_row *row) {
    for (int p = 0; p < f->param_count; p++) {
        int i = 0;
        while (f->param[p].value[i] != row->value[p])
            i++;
        at[p] = (unsigned char)i;
    }
}

/* Fills a space with the rows, in the order of the sorted domains that
 * gt_space_at needs. */
static void fill(struct gt_stored *s, int at, const struct gt_family *f,
                 const struct gt_stored_rows *rows) {
    struct gt_space *space = &s->space[at];
    const size_t params = (size_t)f->param_count;
    for (size_t i = 0; i < rows->count; i++) {
        const struct gt_stored_row *row = &rows->row[i];
        if (i > 0 && by_point(row, row - 1) == 0)
            continue;
        fill_row(space->idx + space->count * params, f, row);
        s->outcome[at][space->count] = row->outcome;
        s->ns[at][space->count] = row->ns;
        space->count++;
        if (row->outcome == GT_CORRECT && (s->best_ns == 0 || row->ns < s->best_ns))
            s->best_ns = row->ns;
    }
}

static bool grow(struct gt_stored *s, const struct gt_stored_rows *rows) {
    const size_t n = (size_t)s->spaces + 1;
    struct gt_space *space = realloc(s->space, n * sizeof *space);
    if (space)
        s->space = space;
    gt_outcome **outcome = realloc(s->outcome, n * sizeof *outcome);
    if (outcome)
        s->outcome = outcome;
    double **ns = realloc(s->ns, n * sizeof *ns);
    if (ns)
        s->ns = ns;
    if (!space || !outcome || !ns)
        return false;
    space[n - 1] = (struct gt_space){.params = rows->params};
    space[n - 1].idx = malloc(rows->count * (size_t)rows->params + 1);
    outcome[n - 1] = malloc((rows->count + 1) * sizeof **outcome);
    ns[n - 1] = malloc((rows->count + 1) * sizeof **ns);
    s->spaces++;
    return space[n - 1].idx && outcome[n - 1] && ns[n - 1];
}

gt_status gt_stored_add(struct gt_stored *s, struct gt_stored_rows *rows,
                        struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    struct gt_family *f = calloc(1, sizeof *f);
    if (!f)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for stored points");
    snprintf(f->name, sizeof f->name, "%s", rows->name);
    f->param_count = rows->params;
    for (int p = 0; status == GEMMTUNE_OK && p < rows->params; p++)
        status = take_domain(&f->param[p], rows, p, err);
    if (status == GEMMTUNE_OK && !grow(s, rows))
        status = gt_fail(err, GEMMTUNE_ENOMEM, "no memory for stored points");
    if (status != GEMMTUNE_OK) {
        free(f);
        return status;
    }
    struct gt_space *space = &s->space[s->spaces - 1];
    space->family = f;
    space->raw = 1;
    for (int p = 0; p < f->param_count; p++)
        space->raw *= f->param[p].count;
    if (rows->count > 0)
        qsort(rows->row, rows->count, sizeof *rows->row, by_merit);
    fill(s, s->spaces - 1, f, rows);
    return GEMMTUNE_OK;
}

/* ---- starts from another replay ---- */

static int space_named(const struct gt_stored *s, const char *name) {
    for (int i = 0; i < s->spaces; i++)
        if (strcmp(s->space[i].family->name, name) == 0)
            return i;
    return -1;
}

struct timed_pick {
    struct gt_pick pick;
    double ns;
};

static int by_time(const void *a, const void *b) {
    const struct timed_pick *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    if (x->pick.space != y->pick.space)
        return x->pick.space < y->pick.space ? -1 : 1;
    return (x->pick.index > y->pick.index) - (x->pick.index < y->pick.index);
}

/* The correct points of `from` that are also points of `s`. */
static size_t take_shared(struct timed_pick *out, const struct gt_stored *s,
                          const struct gt_stored *from) {
    size_t count = 0;
    struct gt_point point;
    for (int i = 0; i < from->spaces; i++) {
        const int space = space_named(s, from->space[i].family->name);
        for (size_t j = 0; space >= 0 && j < from->space[i].count; j++) {
            gt_space_point(&from->space[i], j, &point);
            const size_t index = gt_space_find(&s->space[space], &point);
            if (from->outcome[i][j] == GT_CORRECT && index != SIZE_MAX)
                out[count++] = (struct timed_pick){{space, index}, from->ns[i][j]};
        }
    }
    return count;
}

int gt_stored_starts(struct gt_pick *out, int room, const struct gt_stored *s,
                     const struct gt_stored *from) {
    size_t points = 0;
    int count = 0;
    for (int i = 0; i < from->spaces; i++)
        points += from->space[i].count;
    struct timed_pick *shared = calloc(points + 1, sizeof *shared);
    const size_t found = shared ? take_shared(shared, s, from) : 0;
    if (found > 0)
        qsort(shared, found, sizeof *shared, by_time);
    for (; count < room && (size_t)count < found; count++)
        out[count] = shared[count].pick;
    free(shared);
    return count;
}
