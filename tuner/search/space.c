/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space.c - finds the legal points of a family without walking the whole cross product.
 *
 * Parameters are bound in file order, one a level. The level of a name is the number of
 * parameters that must be bound before it has a value: 0 for names of the device and the
 * problem, i + 1 for parameter i, and for a derived name the highest level of the names in
 * it. In batches WALK is such a name too, and so are M and BATCH where rows are grouped or
 * masked: these are bound as gt_bind_checked binds them. A rule is tested at the level of
 * its highest name; when it refuses, everything below is skipped.
 *
 * One order of sums is tested in the same way: what decides whether a point has an order
 * (sums.when) is one rule more, and each number of the order is compared with the wanted
 * one.
 *
 * The answers of a level's tests depend only on those earlier parameters that the tests
 * read, which are seldom all. They are remembered, so that most prefixes need no test.
 */
#include "tuner/search/space.h"

#include "core/mix.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    POINTS_MAX = 4 << 20, /* 4 Mi points of 24 bytes are 96 MiB */
    /* steps of a walk, some seconds of work; our largest space takes 78 Mi */
    WORK_MAX = 128 << 20,
    OPERANDS = 3,
    /* names that levels bind: derived ones, which slots need twice, WALK, M and BATCH */
    BOUND_MAX = 2 * GT_RULES_MAX + 3,
    TESTS_MAX = 2 * GT_RULES_MAX + BOUND_MAX + OPERANDS + 1 + GT_SUMS_MAX,
    POINTER_ALIGN = 16, /* of the tuner's buffers; kernels need no more */
    ANSWER_BITS = 12,
    ANSWERS =
        1 << ANSWER_BITS, /* remembered answers of a level; neighbouring points need few */
};

/* A step at a level: bind WALK, bind M and BATCH, compute a derived name, test a rule, test
 * a number of the order of sums, or test an operand's alignment. */
struct test {
    enum { WALK, SLOTS, DERIVE, RULE, NUMBER, ALIGN } what;
    const struct gt_expr *expr;
    int slot; /* of the derived name; or the operand */
    int level;
    int64_t wanted; /* of the number */
};

/* The verdict of a level's tests on each value of its parameter, in one context: the packed
 * values of the earlier parameters that the tests read. */
struct answer {
    uint64_t context;
    bool known;
    uint64_t passed;  /* bit i: value i passed */
    int64_t *derived; /* the names that the level binds, for each value */
};

struct level {
    int first, tests; /* in walk.test */
    uint32_t reads;   /* bit i: the tests read parameter i */
    int context_bits;
    int slots, slot[BOUND_MAX]; /* the names that the level binds */
    int answers;                /* ANSWERS, or 1: none is remembered */
    struct answer *answer;
    int64_t *derived; /* for all answers */
};

struct walk {
    struct gt_space *space;
    size_t room;  /* number of points for which space->idx has room */
    int64_t work; /* prefixes tried plus expressions evaluated */
    bool accept;  /* test the accept rules too */
    bool counts;  /* the points are counted and not listed */
    const struct gt_space_filter *filter; /* NULL: all points are wanted */
    const char *order; /* of sums, that points must have; "": any; NULL: any or none */
    size_t enough;     /* the walk ends at so many points */
    struct gt_binding bound;
    /* of the names that gt_bind_walk and gt_bind_slots bind */
    int walk_slot, m_slot, batch_slot;
    int tests;
    /* by level; within a level, derived names come before rules */
    struct test test[TESTS_MAX];
    struct level level[GT_POINT_MAX + 1];
    unsigned char at[GT_POINT_MAX];
    struct gt_err *err;
};

_Static_assert(GT_VALUES_MAX <= UCHAR_MAX + 1, "an index into a domain must fit a byte");
_Static_assert(GT_VALUES_MAX <= 64, "values that passed must fit a word");
_Static_assert(GT_POINT_MAX <= 32, "parameters that are read must fit a word");

/* ---- levels ---- */

/* The parameters that an expression reads, directly or through derived names. */
static uint32_t reads_of(const struct gt_expr *e, const uint32_t *reads,
                         const struct gt_symbols *symbols) {
    uint32_t all = 0;
    for (int slot = 0; slot < symbols->count; slot++)
        if (reads[slot] != 0 && gt_expr_uses(e, slot))
            all |= reads[slot];
    return all;
}

static int level_of(uint32_t reads) {
    int level = 0;
    for (; reads != 0; reads >>= 1)
        level++;
    return level;
}

/* Inserts a test after the others of its level. read: the parameters that it reads. */
static void add_test(struct walk *w, struct test t, uint32_t read) {
    int i = w->tests++;
    t.level = level_of(read);
    for (; i > 0 && w->test[i - 1].level > t.level; i--)
        w->test[i] = w->test[i - 1];
    w->test[i] = t;
    w->level[t.level].tests++;
    w->level[t.level].reads |= read;
}

/* Derived names are in an order in which each uses only earlier ones. */
static void plan_derived(struct walk *w, const struct gt_family *f, uint32_t *reads) {
    for (int i = 0; i < f->derive_count; i++) {
        const struct gt_derived *d = &f->derive[i];
        reads[d->slot] = reads_of(d->expr, reads, &f->symbols);
        add_test(w, (struct test){DERIVE, d->expr, d->slot, 0, 0}, reads[d->slot]);
    }
}

/* In the order of gt_bind_checked. */
static void plan_names(struct walk *w, const struct gt_family *f, uint32_t *reads) {
    if (gt_bind_may_walk(&w->bound)) {
        reads[w->walk_slot] = reads_of(f->walk, reads, &f->symbols);
        add_test(w, (struct test){WALK, NULL, -1, 0, 0}, reads[w->walk_slot]);
    }
    plan_derived(w, f, reads);
    if (w->bound.slot_rows == 0)
        return;
    reads[w->m_slot] = reads[w->walk_slot];
    if (f->has_shape)
        reads[w->m_slot] |= reads_of(f->shape[GT_SHAPE_TILE_M], reads, &f->symbols);
    reads[w->batch_slot] = reads[w->m_slot];
    add_test(w, (struct test){SLOTS, NULL, -1, 0, 0}, reads[w->m_slot]);
    plan_derived(w, f, reads);
}

static void plan_rule(struct walk *w, const struct gt_expr *rule, const uint32_t *reads) {
    add_test(w, (struct test){RULE, rule, -1, 0, 0},
             reads_of(rule, reads, &w->space->family->symbols));
}

/* Whether a point has any order with a text is asked of whole points: see has_order. */
static void plan_order(struct walk *w, const struct gt_family *f, const int64_t *number,
                       const uint32_t *reads) {
    plan_rule(w, f->sums.when, reads);
    for (int i = 0; w->order[0] != '\0' && i < f->sums.count; i++) {
        const struct gt_expr *value = f->sums.number[i].value;
        add_test(w, (struct test){NUMBER, value, -1, 0, number[i]},
                 reads_of(value, reads, &f->symbols));
    }
}

static void plan_tests(struct walk *w, const struct gt_family *f, const int64_t *number) {
    uint32_t reads[GT_SYMBOLS_MAX] = {0};
    for (int i = 0; i < f->param_count; i++)
        reads[f->param[i].slot] = UINT32_C(1) << i;
    plan_names(w, f, reads);
    for (int i = 0; i < f->require_count; i++)
        plan_rule(w, f->require[i].expr, reads);
    for (int i = 0; w->accept && i < f->accept_count; i++)
        if (!(f->accept[i].is_speed && w->bound.row_order))
            plan_rule(w, f->accept[i].expr, reads);
    if (w->order != NULL)
        plan_order(w, f, number, reads);
    for (int i = 0; w->accept && i < OPERANDS; i++)
        add_test(w, (struct test){ALIGN, NULL, i, 0, 0},
                 reads_of(f->align[i], reads, &f->symbols));
    for (int l = 0, i = 0; l <= f->param_count; i += w->level[l++].tests)
        w->level[l].first = i;
}

static int bits_of(int count) {
    int bits = 0;
    while (count > 1 << bits)
        bits++;
    return bits;
}

/* Notes the names that a test binds. */
static void add_slots(const struct walk *w, struct level *level, const struct test *t) {
    if (t->what == WALK)
        level->slot[level->slots++] = w->walk_slot;
    if (t->what == SLOTS) {
        level->slot[level->slots++] = w->m_slot;
        level->slot[level->slots++] = w->batch_slot;
    }
    if (t->what == DERIVE)
        level->slot[level->slots++] = t->slot;
}

/* Allocates the answers: only one for a level with a context that does not fit in a word or
 * would have to hold every earlier parameter. */
static gt_status plan_answers(struct walk *w, const struct gt_family *f) {
    for (int l = 1; l <= f->param_count; l++) {
        struct level *level = &w->level[l];
        const uint32_t before = (UINT32_C(1) << (l - 1)) - 1;
        const size_t values = (size_t)f->param[l - 1].count;
        level->reads &= before;
        for (int i = 0; i < l - 1; i++)
            if (level->reads >> i & 1)
                level->context_bits += bits_of(f->param[i].count);
        for (int i = level->first; i < level->first + level->tests; i++)
            add_slots(w, level, &w->test[i]);
        level->answers = level->context_bits > 64 || level->reads == before ? 1 : ANSWERS;
        const size_t answers = (size_t)level->answers, names = (size_t)level->slots;
        level->answer = calloc(answers, sizeof *level->answer);
        level->derived = malloc(answers * values * names * sizeof *level->derived + 1);
        if (level->answer == NULL || level->derived == NULL)
            return gt_fail(w->err, GEMMTUNE_ENOMEM, "no memory for the rules of family %s",
                           f->name);
        for (size_t i = 0; i < answers; i++)
            level->answer[i].derived = level->derived + i * values * names;
    }
    return GEMMTUNE_OK;
}

static void forget_answers(struct walk *w) {
    for (int l = 0; l <= GT_POINT_MAX; l++) {
        free(w->level[l].answer);
        free(w->level[l].derived);
    }
}

/* ---- search ---- */

/* gt_bind_slots asks for the rows that gt_bind_walk found. Those are no name, so remembered
 * answers lack them, and they are found anew. */
static bool bind_slots(struct gt_binding *b) {
    return gt_bind_walk(b, NULL) == GEMMTUNE_OK && gt_bind_slots(b, NULL) == GEMMTUNE_OK;
}

/* An expression that fails (a division by zero) refuses the point, as in gt_bind. */
static bool passes(struct walk *w, const struct test *t) {
    int64_t value;
    w->work++;
    if (t->what == WALK)
        return gt_bind_walk(&w->bound, NULL) == GEMMTUNE_OK;
    if (t->what == SLOTS)
        return bind_slots(&w->bound);
    if (t->what == ALIGN)
        return gt_align_met(&w->bound, t->slot);
    if (gt_expr_eval(&value, t->expr, w->bound.value, NULL) != GEMMTUNE_OK)
        return false;
    if (t->what == NUMBER)
        return value == t->wanted;
    if (t->what == DERIVE)
        w->bound.value[t->slot] = value;
    return t->what == DERIVE || value != 0;
}

/* Whether the tests of this level hold. */
static bool holds(struct walk *w, const struct level *level) {
    for (int i = level->first; i < level->first + level->tests; i++)
        if (!passes(w, &w->test[i]))
            return false;
    return true;
}

/* The packed values of the parameters that the level's tests read. */
static uint64_t context_of(const struct walk *w, const struct level *level) {
    const struct gt_family *f = w->space->family;
    uint64_t context = 0;
    for (int i = 0; level->reads >> i != 0; i++)
        if (level->reads >> i & 1)
            context = context << bits_of(f->param[i].count) | w->at[i];
    return context;
}

/* Tests each value of the next parameter. */
static void find_out(struct walk *w, struct answer *a, const struct level *level,
                     const struct gt_param *param) {
    a->passed = 0;
    for (int i = 0; i < param->count; i++) {
        w->bound.value[param->slot] = param->value[i];
        if (!holds(w, level))
            continue;
        a->passed |= UINT64_C(1) << i;
        for (int j = 0; j < level->slots; j++)
            a->derived[i * level->slots + j] = w->bound.value[level->slot[j]];
    }
}

/* The answer for the next parameter, from memory or by testing. */
static const struct answer *answer_of(struct walk *w, const struct level *level,
                                      const struct gt_param *param) {
    if (level->answers == 1) {
        find_out(w, level->answer, level, param);
        return level->answer;
    }
    const uint64_t context = context_of(w, level);
    struct answer *a = &level->answer[context * GT_MIX_STEP >> (64 - ANSWER_BITS)];
    if (!a->known || a->context != context) {
        a->known = true;
        a->context = context;
        find_out(w, a, level, param);
    }
    return a;
}

/* The tests compare one order alone; of the others, a text may be too long. */
static bool has_order(const struct walk *w) {
    char text[GT_ORDER_MAX];
    return w->order == NULL || w->order[0] != '\0' || gt_order_of(text, &w->bound, NULL);
}

static bool is_wanted(const struct walk *w) {
    const struct gt_family *f = w->space->family;
    int64_t values[GT_POINT_MAX] = {0};
    if (!has_order(w))
        return false;
    if (w->filter == NULL || w->filter->wants == NULL)
        return true;
    for (int i = 0; i < f->param_count; i++)
        values[i] = f->param[i].value[w->at[i]];
    return w->filter->wants(w->filter->user, values);
}

static gt_status keep(struct walk *w) {
    struct gt_space *s = w->space;
    const size_t size = (size_t)s->params;
    if (!is_wanted(w))
        return GEMMTUNE_OK;
    if (s->count == POINTS_MAX)
        return gt_fail(w->err, GEMMTUNE_EINVAL, "family %s has more than %d legal points",
                       s->family->name, POINTS_MAX);
    if (w->counts) {
        s->count++;
        return GEMMTUNE_OK;
    }
    if (s->count == w->room) {
        const size_t room = w->room == 0 ? 256 : 2 * w->room;
        unsigned char *idx =
            realloc(s->idx, room * size + 1); /* + 1: the family may have no parameters */
        if (idx == NULL)
            return gt_fail(w->err, GEMMTUNE_ENOMEM, "no memory for %zu points of family %s",
                           room, s->family->name);
        s->idx = idx;
        w->room = room;
    }
    memcpy(s->idx + s->count * size, w->at, size);
    s->count++;
    return GEMMTUNE_OK;
}

/* Visits all points below a prefix, where the prefix's own tests hold. */
static gt_status descend(struct walk *w, int bound) {
    const struct gt_family *f = w->space->family;
    gt_status status = GEMMTUNE_OK;
    if (bound == f->param_count)
        return keep(w);
    const struct gt_param *param = &f->param[bound];
    const struct level *level = &w->level[bound + 1];
    w->work += param->count;
    if (w->work > WORK_MAX)
        return gt_fail(w->err, GEMMTUNE_EINVAL,
                       "family %s: its points are not counted after %d steps; its rules "
                       "need to refuse earlier",
                       f->name, WORK_MAX);
    const struct answer *a = answer_of(w, level, param);
    for (int i = 0; status == GEMMTUNE_OK && i < param->count; i++) {
        if (!(a->passed >> i & 1) || w->space->count >= w->enough)
            continue;
        w->at[bound] = (unsigned char)i;
        w->bound.value[param->slot] = param->value[i];
        for (int j = 0; j < level->slots; j++)
            w->bound.value[level->slot[j]] = a->derived[i * level->slots + j];
        status = descend(w, bound + 1);
    }
    return status;
}

/* Notes the order of sums that the points must have, and its numbers. False: no point of
 * the family has it. */
static bool set_order(struct walk *w, int64_t number[GT_SUMS_MAX],
                      const gemmtune_problem *p) {
    const bool is_float = gt_type_is_float(p->type_a);
    if (!p->row_order || w->filter == NULL || w->filter->order == NULL)
        return true;
    if (is_float)
        w->order = w->filter->order;
    return gt_order_numbers(number, w->space->family, is_float, w->filter->order);
}

/* Walks as the members say that are set already. */
static gt_status walk(struct walk *w, const struct gt_device *d,
                      const gemmtune_problem *p) {
    const struct gt_family *f = w->space->family;
    int64_t number[GT_SUMS_MAX];
    if (!set_order(w, number, p))
        return GEMMTUNE_OK;
    gt_bind_problem(&w->bound, f, d, p);
    gt_bind_align(&w->bound, p, POINTER_ALIGN);
    w->walk_slot = gt_symbols_find(&f->symbols, "WALK");
    w->m_slot = gt_symbols_find(&f->symbols, "M");
    w->batch_slot = gt_symbols_find(&f->symbols, "BATCH");
    plan_tests(w, f, number);
    gt_status status = plan_answers(w, f);
    if (status == GEMMTUNE_OK && holds(w, &w->level[0]))
        status = descend(w, 0);
    forget_answers(w);
    return status;
}

static gt_status create(struct gt_space *out, const struct gt_family *f,
                        const struct gt_device *d, const gemmtune_problem *p, bool accept,
                        const struct gt_space_filter *filter, struct gt_err *err) {
    struct gt_space s = {.family = f, .params = f->param_count, .raw = 1};
    struct walk w = {
        .space = &s, .accept = accept, .filter = filter, .enough = SIZE_MAX, .err = err};
    for (int i = 0; i < f->param_count; i++)
        s.raw *= f->param[i].count;
    const gt_status status = walk(&w, d, p);
    if (status != GEMMTUNE_OK)
        gt_space_clear(&s);
    *out = s;
    return status;
}

gt_status gt_space_create(struct gt_space *out, const struct gt_family *f,
                          const struct gt_device *d, const gemmtune_problem *p,
                          struct gt_err *err) {
    return create(out, f, d, p, true, NULL, err);
}

gt_status gt_space_create_wanted(struct gt_space *out, const struct gt_family *f,
                                 const struct gt_device *d, const gemmtune_problem *p,
                                 const struct gt_space_filter *filter, struct gt_err *err) {
    return create(out, f, d, p, true, filter, err);
}

gt_status gt_space_create_any(struct gt_space *out, const struct gt_family *f,
                              const struct gt_device *d, const gemmtune_problem *p,
                              struct gt_err *err) {
    return create(out, f, d, p, false, NULL, err);
}

gt_status gt_space_count(size_t *out, size_t enough, const struct gt_family *f,
                         const struct gt_device *d, const gemmtune_problem *p,
                         const struct gt_space_filter *filter, struct gt_err *err) {
    struct gt_space s = {.family = f, .params = f->param_count};
    struct walk w = {.space = &s,
                     .accept = true,
                     .counts = true,
                     .filter = filter,
                     .enough = enough,
                     .err = err};
    const gt_status status = walk(&w, d, p);
    *out = status == GEMMTUNE_OK ? s.count : 0;
    return status;
}

void gt_space_clear(struct gt_space *s) {
    free(s->idx);
    *s = (struct gt_space){0};
}
