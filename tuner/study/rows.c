/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c - see rows.h. All rows as one product are the reference. A case computes some of
 * them again: `launches` times m rows (or a batch, or groups), from rows that are spread
 * over all. Row r of A always becomes row r of C, so one comparison at the end of a case
 * sees all of its launches.
 */
#include "tuner/study/rows_inside.h"

#include "core/element.h"
#include "runtime/plan/plan_choose.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KERNELS_MAX = 256, LAUNCHES_MAX = 256 };

static const size_t workspaces[] = {(size_t)256 << 20, 0};

/* How rows are computed again. */
struct shape {
    gemmtune_batch_kind kind;
    int64_t m;     /* rows of a product; of all groups */
    int64_t batch; /* products or groups */
    int place;
    size_t workspace_max;
};

struct comparing {
    const struct gt_rows_setup *setup;
    struct gt_rows_report *report;
    struct gt_rows_memory memory;
    uint64_t seen[KERNELS_MAX]; /* hashes of kernels */
    char of_reference[256];
};

/* A kernel that was built. */
struct built {
    struct gt_exec *exec;
    char name[256];
};

/* ---- kernels --------------------------------------------------------------------- */

static uint64_t hash_of(const char *text) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

static void count_kernel(struct comparing *c, const char *name) {
    const uint64_t hash = hash_of(name);
    for (int i = 0; i < c->report->kernels; i++)
        if (c->seen[i] == hash)
            return;
    if (c->report->kernels < KERNELS_MAX)
        c->seen[c->report->kernels++] = hash;
}

static gt_status build(void *user, struct gt_gpu *gpu, const struct gt_fit *fit,
                       struct gt_err *err) {
    struct built *b = user;
    return gt_exec_build(&b->exec, gpu, fit, NULL, err);
}

static void name_kernel(struct comparing *c, struct built *b, const struct gt_family *f,
                        const struct gt_point *point) {
    char text[GT_POINT_TEXT_MAX];
    (void)gt_point_text(point, text);
    (void)snprintf(b->name, sizeof b->name, "%s \"%.200s\"", f->name, text);
    count_kernel(c, b->name);
}

/* The kernel that a lookup gives. */
static gt_status choose(struct built *b, struct comparing *c, const gemmtune_problem *p,
                        const struct shape *s, struct gt_err *err) {
    struct gt_gpu *gpu = gt_rig_head(c->setup->rig)->gpu;
    struct gt_choice choice;
    const struct gt_query query = {.snapshot = c->setup->snapshot,
                                   .device = gt_rig_head(c->setup->rig)->device,
                                   .device_key = c->setup->device_key,
                                   .problem = p,
                                   .worst = GEMMTUNE_MATCH_DEFAULT,
                                   .workspace_max = s->workspace_max,
                                   .pointer_align = s->place > 0 ? 1 : GT_VECTOR_BYTES};
    b->exec = NULL;
    const gt_status status = gt_plan_choose(&choice, gpu, query, false, build, b, err);
    if (status == GEMMTUNE_OK)
        name_kernel(c, b, choice.family, &choice.point);
    return status;
}

/* ---- launches -------------------------------------------------------------------- */

static int64_t rows_of(const struct shape *s) {
    return s->kind == GEMMTUNE_GROUPED_ROWS ? s->m : s->m * s->batch;
}

/* The problem of a shape. All products have the same B. */
static gemmtune_problem problem_of(const struct comparing *c, const struct shape *s) {
    const struct gt_rows_memory *mem = &c->memory;
    gemmtune_problem p = mem->problem;
    p.m = s->m;
    p.batch = s->batch;
    p.batch_kind = s->kind;
    p.lda = mem->a[s->place].ld;
    p.ldb = mem->b.ld;
    p.ldc = mem->ldc[s->place];
    p.stride_a = p.trans_a != GEMMTUNE_NOTRANS ? s->m : s->m * p.lda;
    p.stride_b = s->batch > 1 ? 0 : gt_problem_shape_b(&p).rows * p.ldb;
    p.stride_c = s->m * p.ldc;
    p.expected_rows = gt_problem_has_rows(&p) ? gt_problem_rows_by_default(&p) : 0;
    return p;
}

/* The end of group z, of unequal groups; the rows that exist of masked product z. */
static int32_t listed(const struct shape *s, int64_t z) {
    if (s->kind == GEMMTUNE_MASKED_ROWS)
        return (int32_t)(s->m - z % 3 % s->m);
    return (int32_t)(z + 1 == s->batch
                         ? s->m
                         : s->m * (z + 1) * (z + 2) / ((s->batch + 1) * (s->batch + 2)));
}

static gt_status write_lists(struct comparing *c, const struct shape *s, int64_t first,
                             struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(c->setup->rig)->ops;
    const struct gt_rows_memory *mem = &c->memory;
    const gemmtune_problem p = problem_of(c, s);
    int32_t list[GT_ROWS_PRODUCTS];
    const char *at[3][GT_ROWS_PRODUCTS];
    gt_status status = GEMMTUNE_OK;
    for (int64_t z = 0; z < s->batch; z++) {
        const int64_t row = first + z * s->m;
        const int64_t of_a =
            mem->a[s->place].offset + (p.trans_a != GEMMTUNE_NOTRANS ? row : row * p.lda);
        const int64_t of_c = s->place * GT_ROWS_OFFSET + row * p.ldc;
        list[z] = listed(s, z);
        at[0][z] =
            (const char *)mem->a[s->place].memory + of_a * (int64_t)gt_type_size(p.type_a);
        at[1][z] = (const char *)mem->b.memory;
        at[2][z] = (const char *)mem->c.memory + of_c * (int64_t)gt_type_size(p.type_c);
    }
    if (gt_problem_has_rows(&p))
        status = ops->write(c->setup->rig, mem->rows, 0, list,
                            s->batch * (int64_t)sizeof *list, err);
    for (int i = 0; i < 3 && status == GEMMTUNE_OK && gt_problem_has_pointers(&p); i++)
        status = ops->write(c->setup->rig, mem->pointer[i], 0, at[i],
                            s->batch * (int64_t)sizeof *at[i], err);
    return status;
}

/* Computes the rows from `first` on. */
static gt_status launch(struct comparing *c, const struct built *b, const struct shape *s,
                        int64_t first, struct gt_err *err) {
    const struct gt_rows_memory *mem = &c->memory;
    const gemmtune_problem p = problem_of(c, s);
    const struct gt_epilogue *e = gt_epilogue_of(&p);
    const bool pointers = gt_problem_has_pointers(&p);
    const gt_status status = write_lists(c, s, first, err);
    if (status != GEMMTUNE_OK)
        return status;
    unsigned char one[8], zero[8];
    gt_element_put(one, p.type_acc, 1);
    gt_element_put(zero, p.type_acc, 0);
    struct gt_call call = {
        .alpha = one,
        .beta = zero,
        .a = pointers ? mem->pointer[0] : mem->a[s->place].memory,
        .b = pointers ? mem->pointer[1] : mem->b.memory,
        .c = pointers ? mem->pointer[2] : mem->c.memory,
        .workspace = mem->workspace,
        .stream = gt_rig_head(c->setup->rig)->stream,
        .operands = e != NULL ? e->operands : 0,
        .operand = e != NULL ? mem->operand : NULL,
        .d2 = mem->d2,
        .rows = gt_problem_has_rows(&p) ? mem->rows : NULL,
    };
    if (!pointers) {
        call.offset.a = mem->a[s->place].offset +
                        (p.trans_a != GEMMTUNE_NOTRANS ? first : first * p.lda);
        call.offset.c = s->place * GT_ROWS_OFFSET + first * p.ldc;
    }
    return gt_exec_run(b->exec, &call, err);
}

/* ---- comparisons ----------------------------------------------------------------- */

static const char *kind_text(const struct shape *s) {
    return s->kind == GEMMTUNE_GROUPED_ROWS     ? " groups"
           : s->kind == GEMMTUNE_MASKED_ROWS    ? " masked products"
           : s->kind == GEMMTUNE_BATCH_POINTERS ? " products by pointers"
           : s->batch > 1                       ? " products"
                                                : " product";
}

static void describe(char *buf, size_t size, const struct shape *s) {
    (void)snprintf(buf, size, "%" PRId64 "%s of %s%" PRId64 " rows%s%s", s->batch,
                   kind_text(s), s->kind == GEMMTUNE_GROUPED_ROWS ? "all " : "", s->m,
                   s->place > 0 ? ", odd rows" : "",
                   s->workspace_max == 0 ? ", no workspace" : "");
}

static void compare_row(struct comparing *c, const struct built *b, const struct shape *s,
                        int64_t row) {
    const struct gt_rows_memory *mem = &c->memory;
    const size_t size = gt_type_size(mem->problem.type_c);
    const size_t bytes = (size_t)mem->problem.n * size;
    const int64_t at = s->place * GT_ROWS_OFFSET + row * mem->ldc[s->place];
    c->report->compared++;
    if (memcmp(mem->reference + (size_t)row * bytes, mem->got + (size_t)at * size, bytes) ==
        0)
        return;
    char what[96];
    describe(what, sizeof what, s);
    if (c->report->differing++ == 0)
        (void)snprintf(c->report->first, sizeof c->report->first,
                       "row %" PRId64 " in %s by %s is not what %s gives", row, what,
                       b->name, c->of_reference);
}

/* The rows that a launch from `first` on computes. */
static void compare_launch(struct comparing *c, const struct built *b,
                           const struct shape *s, int64_t first) {
    const int64_t count = rows_of(s);
    for (int64_t i = 0; i < count; i++) {
        if (s->kind == GEMMTUNE_MASKED_ROWS && i % s->m >= listed(s, i / s->m))
            continue;
        compare_row(c, b, s, first + i);
    }
}

/* No row of an earlier case may pass for one of this case. */
static gt_status spoil(struct comparing *c, struct gt_err *err) {
    const struct gt_rows_memory *mem = &c->memory;
    const int64_t bytes = mem->c_elems * (int64_t)gt_type_size(mem->problem.type_c);
    return gt_rig_head(c->setup->rig)
        ->ops->fill(c->setup->rig, mem->c.memory, bytes & -4, UINT32_MAX, err);
}

/* Computes the rows of a shape again and compares them. */
static gt_status run_shape(struct comparing *c, const struct built *b,
                           const struct shape *s, int launches, struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(c->setup->rig)->ops;
    const int64_t all = c->memory.problem.m, count = rows_of(s), free = all - count;
    const int64_t size = (int64_t)gt_type_size(c->memory.problem.type_c);
    int64_t first[LAUNCHES_MAX];
    struct gt_exec_info info;
    gt_exec_describe(b->exec, &info);
    gt_status status =
        gt_rows_memory_need(&c->memory, info.fit->passes.workspace_bytes, err);
    if (status == GEMMTUNE_OK)
        status = spoil(c, err);
    if (launches > all / count)
        launches = (int)(all / count);
    for (int i = 0; i < launches && status == GEMMTUNE_OK; i++) {
        first[i] = launches > 1 ? free * i / (launches - 1) : free;
        status = launch(c, b, s, first[i], err);
    }
    if (status == GEMMTUNE_OK)
        status = ops->finish(c->setup->rig, err);
    if (status == GEMMTUNE_OK)
        status = ops->read(c->setup->rig, c->memory.c.memory, 0, c->memory.got,
                           c->memory.c_elems * size, err);
    for (int i = 0; i < launches && status == GEMMTUNE_OK; i++)
        compare_launch(c, b, s, first[i]);
    c->report->cases++;
    return status;
}

static gt_status make_reference(struct comparing *c, struct gt_err *err) {
    const struct gt_rig_ops *ops = gt_rig_head(c->setup->rig)->ops;
    const struct shape s = {
        .m = c->memory.problem.m, .batch = 1, .workspace_max = workspaces[0]};
    const gemmtune_problem p = problem_of(c, &s);
    const int64_t bytes = p.m * p.n * (int64_t)gt_type_size(p.type_c);
    struct gt_exec_info info;
    struct built b;
    gt_status status = choose(&b, c, &p, &s, err);
    if (status != GEMMTUNE_OK)
        return status;
    gt_exec_describe(b.exec, &info);
    status = gt_rows_memory_need(&c->memory, info.fit->passes.workspace_bytes, err);
    if (status == GEMMTUNE_OK)
        status = launch(c, &b, &s, 0, err);
    if (status == GEMMTUNE_OK)
        status = ops->finish(c->setup->rig, err);
    if (status == GEMMTUNE_OK)
        status = ops->read(c->setup->rig, c->memory.c.memory, 0, c->memory.reference, bytes,
                           err);
    memcpy(c->of_reference, b.name, sizeof b.name);
    gt_exec_destroy(b.exec);
    return status;
}

/* ---- cases ----------------------------------------------------------------------- */

/* Where no kernel in the order may run a shape, a lookup refuses: that is no difference. */
static gt_status run_case(struct comparing *c, const struct shape *s, struct gt_err *err) {
    const gemmtune_problem p = problem_of(c, s);
    struct gt_err why = {""};
    struct built b;
    char what[96];
    if (rows_of(s) > c->memory.problem.m)
        return GEMMTUNE_OK;
    describe(what, sizeof what, s);
    if (c->setup->say != NULL)
        c->setup->say(c->setup->user, what);
    gt_status status = choose(&b, c, &p, s, &why);
    if (status == GEMMTUNE_ENOTFOUND || status == GEMMTUNE_EUNSUPPORTED) {
        if (c->report->refused++ == 0)
            (void)snprintf(c->report->refusal, sizeof c->report->refusal, "%s: %.200s",
                           what, why.line);
        return GEMMTUNE_OK;
    }
    if (status != GEMMTUNE_OK)
        return gt_fail(err, status, "%s", why.line);
    status = run_shape(c, &b, s, c->setup->launches, err);
    gt_exec_destroy(b.exec);
    return status;
}

static gt_status run_singles(struct comparing *c, struct gt_err *err) {
    static const int64_t ms[] = {1, 2, 3, 7, 16, 33, 64, 100, 256, 1000, 4096};
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; i < sizeof ms / sizeof *ms; i++)
        for (int place = 0; place < GT_ROWS_PLACES; place++)
            for (size_t w = 0; w < 2 && status == GEMMTUNE_OK; w++) {
                const struct shape s = {
                    .m = ms[i], .batch = 1, .place = place, .workspace_max = workspaces[w]};
                if (place == 0 || w == 0)
                    status = run_case(c, &s, err);
            }
    return status;
}

static gt_status run_batches(struct comparing *c, struct gt_err *err) {
    static const struct shape shapes[] = {
        {.kind = GEMMTUNE_BATCH_STRIDED, .m = 1, .batch = 9},
        {.kind = GEMMTUNE_BATCH_STRIDED, .m = 5, .batch = 3},
        {.kind = GEMMTUNE_BATCH_STRIDED, .m = 65, .batch = 4},
        {.kind = GEMMTUNE_BATCH_STRIDED, .m = 5, .batch = 3, .place = 1},
        {.kind = GEMMTUNE_BATCH_POINTERS, .m = 3, .batch = 7},
        {.kind = GEMMTUNE_BATCH_POINTERS, .m = 17, .batch = 5, .place = 1},
        {.kind = GEMMTUNE_GROUPED_ROWS, .m = 40, .batch = 6},
        {.kind = GEMMTUNE_GROUPED_ROWS, .m = 700, .batch = 11},
        {.kind = GEMMTUNE_GROUPED_ROWS, .m = 41, .batch = 6, .place = 1},
        {.kind = GEMMTUNE_MASKED_ROWS, .m = 9, .batch = 4},
    };
    const bool cuda =
        gt_driver_of(gt_rig_head(c->setup->rig)->device->backend)->speaks_cuda;
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && status == GEMMTUNE_OK; i++) {
        struct shape s = shapes[i];
        s.workspace_max = workspaces[0];
        if (s.kind != GEMMTUNE_BATCH_POINTERS || cuda)
            status = run_case(c, &s, err);
    }
    return status;
}

/* All rows by one point, if it may run them in the order. */
static gt_status run_point(struct comparing *c, const struct gt_family *f,
                           const struct gt_point *point, struct gt_err *err) {
    struct gt_rig_head *head = gt_rig_head(c->setup->rig);
    struct shape s = {.m = c->memory.problem.m, .batch = 1, .workspace_max = workspaces[0]};
    struct gt_err why;
    struct built b = {.exec = NULL};
    struct gt_fit fit;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < 2 && status == GEMMTUNE_OK; i++) {
        const gemmtune_problem p = problem_of(c, &s);
        if (gt_fit_point(&fit, f, head->device, &p, point, NULL) != GEMMTUNE_OK ||
            gt_fit_order(&fit, c->report->order, NULL) != GEMMTUNE_OK ||
            gt_exec_build(&b.exec, head->gpu, &fit, NULL, &why) != GEMMTUNE_OK) {
            s.m = s.m < 64 ? s.m : 64; /* it may be made for few rows */
            continue;
        }
        name_kernel(c, &b, f, point);
        if (c->setup->say != NULL)
            c->setup->say(c->setup->user, b.name);
        status = run_shape(c, &b, &s, 1, err);
        gt_exec_destroy(b.exec);
        break;
    }
    return status;
}

static gt_status run_starts(struct comparing *c, struct gt_err *err) {
    const struct gt_families *all = c->setup->snapshot->families;
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; i < gt_families_count(all); i++) {
        const struct gt_family *f = gt_families_at(all, i);
        struct gt_point point;
        gt_family_default(f, &point);
        if (status == GEMMTUNE_OK)
            status = run_point(c, f, &point, err);
        for (int j = 0; j < f->start_count && status == GEMMTUNE_OK; j++) {
            gt_family_start(f, j, &point);
            status = run_point(c, f, &point, err);
        }
    }
    return status;
}

gt_status gt_rows_compare(struct gt_rows_report *out, const struct gt_rows_setup *setup,
                          struct gt_err *err) {
    struct comparing c = {.setup = setup, .report = out};
    const struct gt_device *device = gt_rig_head(setup->rig)->device;
    gemmtune_problem all = *setup->problem;
    struct gt_row_order order;
    memset(out, 0, sizeof *out);
    gt_match_order(&order, setup->snapshot, device, setup->problem);
    memcpy(out->order, order.text, sizeof out->order);
    all.m = setup->rows;
    all.batch = 1;
    all.batch_kind = GEMMTUNE_BATCH_STRIDED;
    all.expected_rows = 0;
    all.pointer_align = 0;
    all.packed_b = 0;
    gt_status status = gt_rows_memory_make(&c.memory, setup->rig, &all, setup->seed, err);
    if (status == GEMMTUNE_OK)
        status = make_reference(&c, err);
    if (status == GEMMTUNE_OK)
        status = run_singles(&c, err);
    if (status == GEMMTUNE_OK)
        status = run_batches(&c, err);
    if (status == GEMMTUNE_OK && setup->starts && all.row_order)
        status = run_starts(&c, err);
    gt_rows_memory_clear(&c.memory);
    return status;
}
