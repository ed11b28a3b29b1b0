/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind.c - numbers for a family's names: device, types, layout, sizes, point; and what its
 * rules and launch expressions make of them. Knows no text and no driver.
 */
#include "runtime/family_inside.h"

#include <inttypes.h>
#include <string.h>

/* CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; CUDA
 * Driver API, cuTensorMapEncodeTiled. */
enum {
    CUDA_BLOCK_Z_MAX = 64,
    CUDA_GRID_YZ_MAX = 65535,
    CUDA_CLUSTER_MAX = 16, /* blocks; 8 is portable, 16 needs an opt-in */
    CUDA_CLUSTER_CC = 90,
    CUDA_MAP_BOX_MAX = 256,
};
#define CUDA_GRID_X_MAX     INT64_C(2147483647)
#define CUDA_MAP_SIDE_MAX   (INT64_C(1) << 32)
#define CUDA_MAP_STRIDE_MAX ((INT64_C(1) << 40) - 1)

/* ---- may the family serve at all ------------------------------------------------- */

static bool is_f64(const gemmtune_problem *p) {
    return p->type_a == GEMMTUNE_F64 || p->type_c == GEMMTUNE_F64;
}

/* PoCL 5 loses private values that live across barriers, other ones each time it compiles:
 * what it knew of an instruction it believes of the next one at that address. PoCL 6 is
 * right. */
static bool breaks_barriers(const struct gt_device *d) {
    return strncmp(d->compiler, "PoCL 5.", 7) == 0;
}

bool gt_family_serves(const struct gt_family *f, const struct gt_device *d,
                      const gemmtune_problem *p, const char **why) {
    const char *reason = NULL;
    if (f->source[d->backend] == NULL)
        reason = d->backend == GEMMTUNE_CUDA ? "the family has no source for CUDA"
                                             : "the family has no source for OpenCL";
    else if ((f->dtypes & gt_dtype_bit(gt_dtype_of(p))) == 0)
        reason = "the family has no kernel for these data types";
    else if ((f->layouts & gt_layout_bit(gt_problem_layout(p))) == 0)
        reason = "the family has no kernel for this layout";
    else if (f->map_count > 0 && d->backend != GEMMTUNE_CUDA)
        reason = "the family needs tensor maps, which only CUDA has";
    else if (d->backend == GEMMTUNE_CUDA && d->cc < f->min_cc)
        reason = "the family needs a newer compute capability";
    else if (is_f64(p) && !d->has_f64)
        reason = "the device has no double precision";
    else if (breaks_barriers(d) && strstr(f->source[d->backend], "GT_BARRIER") != NULL)
        reason = "the family has barriers, which PoCL 5 miscompiles";
    if (why != NULL)
        *why = reason;
    return reason == NULL;
}

/* ---- built-in names -------------------------------------------------------------- */

static void device_values(int64_t *value, const struct gt_device *d) {
    value[GT_IN_CUDA] = d->backend == GEMMTUNE_CUDA;
    value[GT_IN_CC] = d->backend == GEMMTUNE_CUDA ? d->cc : 0;
    value[GT_IN_CPU] = d->is_cpu;
    value[GT_IN_UNITS] = d->units;
    value[GT_IN_WARP] = d->warp;
    value[GT_IN_MAX_THREADS] = d->max_threads;
    value[GT_IN_SMEM_MAX] = d->smem_max;
    value[GT_IN_REGS_MAX] = d->regs_per_block;
}

static void problem_values(int64_t *value, const gemmtune_problem *p) {
    value[GT_IN_M] = p->m;
    value[GT_IN_N] = p->n;
    value[GT_IN_K] = p->k;
    value[GT_IN_LDA] = p->lda;
    value[GT_IN_LDB] = p->ldb;
    value[GT_IN_LDC] = p->ldc;
    value[GT_IN_TA] = p->trans_a != GEMMTUNE_NOTRANS;
    value[GT_IN_TB] = p->trans_b != GEMMTUNE_NOTRANS;
    value[GT_IN_SIZEOF_A] = (int64_t)gt_type_size(p->type_a);
    value[GT_IN_SIZEOF_B] = (int64_t)gt_type_size(p->type_b);
    value[GT_IN_SIZEOF_C] = (int64_t)gt_type_size(p->type_c);
    value[GT_IN_SIZEOF_ACC] = (int64_t)gt_type_size(p->type_acc);
    value[GT_IN_FLOAT] = gt_type_is_float(p->type_a);
}

void gt_builtin_values(int64_t value[GT_BUILTIN_COUNT], const struct gt_device *d,
                       const gemmtune_problem *p) {
    memset(value, 0, GT_BUILTIN_COUNT * sizeof *value);
    device_values(value, d);
    if (p != NULL)
        problem_values(value, p);
}

void gt_bind_problem(struct gt_binding *b, const struct gt_family *f,
                     const struct gt_device *d, const gemmtune_problem *p) {
    memset(b, 0, sizeof *b);
    b->family = f;
    b->dtype = gt_dtype_of(p);
    gt_builtin_values(b->value, d, p);
    gt_bind_align(b, p, GT_VECTOR_BYTES);
}

void gt_bind_align(struct gt_binding *b, const gemmtune_problem *p, int64_t pointer_align) {
    b->value[GT_IN_ALIGN_A] = gt_row_align(p->lda, p->type_a, pointer_align);
    b->value[GT_IN_ALIGN_B] = gt_row_align(p->ldb, p->type_b, pointer_align);
    b->value[GT_IN_ALIGN_C] = gt_row_align(p->ldc, p->type_c, pointer_align);
}

/* ---- the point ------------------------------------------------------------------- */

static gt_status check_value(const struct gt_param *p, int64_t value, struct gt_err *err) {
    for (int i = 0; i < p->count; i++)
        if (p->value[i] == value)
            return GEMMTUNE_OK;
    return gt_fail(err, GEMMTUNE_EINVAL, "%s=%" PRId64 " is not one of the family's values",
                   p->name, value);
}

gt_status gt_point_values(int64_t values[GT_POINT_MAX], const struct gt_family *f,
                          const struct gt_point *point, struct gt_err *err) {
    for (int i = 0; i < point->count; i++)
        if (!gt_family_has_param(f, point->entry[i].name))
            return gt_fail(err, GEMMTUNE_EINVAL, "family %s has no parameter %s", f->name,
                           point->entry[i].name);
    for (int i = 0; i < f->param_count; i++) {
        if (!gt_point_get(point, f->param[i].name, &values[i]))
            return gt_fail(err, GEMMTUNE_EINVAL, "family %s needs a value for %s", f->name,
                           f->param[i].name);
        const gt_status status = check_value(&f->param[i], values[i], err);
        if (status != GEMMTUNE_OK)
            return status;
    }
    return GEMMTUNE_OK;
}

gt_status gt_bind_values(struct gt_binding *b, const int64_t *values, struct gt_err *err) {
    const struct gt_family *f = b->family;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < f->param_count && status == GEMMTUNE_OK; i++) {
        status = check_value(&f->param[i], values[i], err);
        b->value[f->param[i].slot] = values[i];
    }
    for (int i = 0; i < f->derive_count && status == GEMMTUNE_OK; i++) {
        const struct gt_derived *d = &f->derive[i];
        status = gt_expr_eval(&b->value[d->slot], d->expr, b->value, err);
        if (status != GEMMTUNE_OK)
            status = gt_fail_within(err, GEMMTUNE_EINVAL, "%s", f->symbols.name[d->slot]);
    }
    return status;
}

gt_status gt_bind_point(struct gt_binding *b, const struct gt_point *point,
                        struct gt_err *err) {
    int64_t values[GT_POINT_MAX];
    const gt_status status = gt_point_values(values, b->family, point, err);
    return status == GEMMTUNE_OK ? gt_bind_values(b, values, err) : status;
}

void gt_family_start(const struct gt_family *f, int i, struct gt_point *out) {
    gt_family_default(f, out);
    for (int j = 0; j < f->param_count; j++)
        out->entry[j].value = f->start[i][j];
}

void gt_family_default(const struct gt_family *f, struct gt_point *out) {
    memset(out, 0, sizeof *out);
    for (int i = 0; i < f->param_count; i++) {
        memcpy(out->entry[i].name, f->param[i].name, sizeof out->entry[i].name);
        out->entry[i].value = f->param[i].preset;
    }
    out->count = f->param_count;
}

/* ---- rules ----------------------------------------------------------------------- */

/* The first rule that is 0 or cannot be evaluated. */
static const struct gt_rule *first_refusal(const struct gt_rule *rules, int count,
                                           const struct gt_binding *b) {
    for (int i = 0; i < count; i++) {
        int64_t holds = 0;
        if (gt_expr_eval(&holds, rules[i].expr, b->value, NULL) != GEMMTUNE_OK ||
            holds == 0)
            return &rules[i];
    }
    return NULL;
}

const struct gt_rule *gt_refused(const struct gt_binding *b) {
    return first_refusal(b->family->require, b->family->require_count, b);
}

/* A demand that is nonsense (0, not a power of two, past a vector, not computable) becomes
 * the strictest one: better a kernel that runs less often than one that faults. */
int64_t gt_align_needed(const struct gt_binding *b, int operand) {
    int64_t bytes = 0;
    if (gt_expr_eval(&bytes, b->family->align[operand], b->value, NULL) != GEMMTUNE_OK)
        return GT_VECTOR_BYTES;
    return bytes > 0 && bytes < GT_VECTOR_BYTES && (bytes & (bytes - 1)) == 0
               ? bytes
               : GT_VECTOR_BYTES;
}

bool gt_align_met(const struct gt_binding *b, int operand) {
    return b->value[GT_IN_ALIGN_A + operand] >= gt_align_needed(b, operand);
}

const char *gt_not_accepted(const struct gt_binding *b) {
    static const char *const misaligned[3] = {
        "the rows of A are not aligned as this kernel needs",
        "the rows of B are not aligned as this kernel needs",
        "the rows of C are not aligned as this kernel needs",
    };
    const struct gt_rule *rule =
        first_refusal(b->family->accept, b->family->accept_count, b);
    if (rule != NULL)
        return rule->why;
    for (int i = 0; i < 3; i++)
        if (!gt_align_met(b, i))
            return misaligned[i];
    return NULL;
}

/* ---- launch ---------------------------------------------------------------------- */

struct limit {
    const char *what;
    int64_t value, least, most;
};

static gt_status check_limits(const struct limit *limits, size_t count,
                              struct gt_err *err) {
    for (size_t i = 0; i < count; i++)
        if (limits[i].value < limits[i].least || limits[i].value > limits[i].most)
            return gt_fail(err, GEMMTUNE_EINVAL,
                           "%s is %" PRId64 ", must be from %" PRId64 " to %" PRId64,
                           limits[i].what, limits[i].value, limits[i].least,
                           limits[i].most);
    return GEMMTUNE_OK;
}

/* What every backend asks. Each side is at most max_threads, so the product cannot overflow
 * where it is formed. */
static gt_status check_block(const struct gt_launch *l, const struct gt_device *d,
                             struct gt_err *err) {
    const int64_t most = d->max_threads;
    const struct limit sides[] = {
        {"block x", l->block[0], 1, most},
        {"block y", l->block[1], 1, most},
        {"block z", l->block[2], 1, most},
        {"grid x", l->grid[0], 1, INT64_MAX},
        {"grid y", l->grid[1], 1, INT64_MAX},
        {"grid z", l->grid[2], 1, INT64_MAX},
        {"shared memory in bytes", l->smem_bytes, 0, d->smem_max},
        {"workspace in bytes", l->workspace_bytes, 0, INT64_MAX},
    };
    const gt_status status = check_limits(sides, sizeof sides / sizeof *sides, err);
    if (status != GEMMTUNE_OK)
        return status;
    const struct limit all = {"threads a block", l->block[0] * l->block[1], 1, most};
    if (all.value > most)
        return check_limits(&all, 1, err);
    const struct limit volume = {"threads a block", all.value * l->block[2], 1, most};
    return check_limits(&volume, 1, err);
}

static gt_status check_cluster(const struct gt_launch *l, const struct gt_device *d,
                               struct gt_err *err) {
    const struct limit sides[] = {
        {"cluster x", l->cluster[0], 1, CUDA_CLUSTER_MAX},
        {"cluster y", l->cluster[1], 1, CUDA_CLUSTER_MAX},
        {"cluster z", l->cluster[2], 1, CUDA_CLUSTER_MAX},
        {"blocks a cluster", l->cluster[0] * l->cluster[1] * l->cluster[2], 1,
         d->cc >= CUDA_CLUSTER_CC ? CUDA_CLUSTER_MAX : 1},
    };
    gt_status status = check_limits(sides, 3, err); /* the product last: it may overflow */
    if (status == GEMMTUNE_OK)
        status = check_limits(sides + 3, 1, err);
    for (int i = 0; i < 3 && status == GEMMTUNE_OK; i++)
        if (l->grid[i] % l->cluster[i] != 0)
            status = gt_fail(err, GEMMTUNE_EINVAL,
                             "grid of %" PRId64
                             " blocks is no multiple of the cluster's %" PRId64,
                             l->grid[i], l->cluster[i]);
    return status;
}

static gt_status check_cuda(const struct gt_launch *l, const struct gt_device *d,
                            struct gt_err *err) {
    const struct limit sides[] = {
        {"block z", l->block[2], 1, CUDA_BLOCK_Z_MAX},
        {"grid x", l->grid[0], 1, CUDA_GRID_X_MAX},
        {"grid y", l->grid[1], 1, CUDA_GRID_YZ_MAX},
        {"grid z", l->grid[2], 1, CUDA_GRID_YZ_MAX},
    };
    const gt_status status = check_limits(sides, sizeof sides / sizeof *sides, err);
    return status == GEMMTUNE_OK ? check_cluster(l, d, err) : status;
}

/* An OpenCL global size is grid times block and must fit a size_t. */
static gt_status check_opencl(const struct gt_launch *l, struct gt_err *err) {
    const int64_t most = SIZE_MAX < INT64_MAX ? (int64_t)SIZE_MAX : INT64_MAX;
    const struct limit sides[] = {
        {"grid x", l->grid[0], 1, most / l->block[0]},
        {"grid y", l->grid[1], 1, most / l->block[1]},
        {"grid z", l->grid[2], 1, most / l->block[2]},
    };
    return check_limits(sides, sizeof sides / sizeof *sides, err);
}

static gt_status eval_three(int64_t out[3], struct gt_expr *const expr[3],
                            const struct gt_binding *b, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < 3 && status == GEMMTUNE_OK; i++)
        status = gt_expr_eval(&out[i], expr[i], b->value, err);
    return status;
}

static gt_status evaluate(struct gt_launch *out, const struct gt_pass *pass,
                          const struct gt_binding *b, struct gt_err *err) {
    gt_status status = eval_three(out->grid, pass->grid, b, err);
    if (status == GEMMTUNE_OK)
        status = eval_three(out->block, pass->block, b, err);
    if (status == GEMMTUNE_OK)
        status = eval_three(out->cluster, pass->cluster, b, err);
    if (status == GEMMTUNE_OK)
        status = gt_expr_eval(&out->smem_bytes, pass->smem, b->value, err);
    if (status == GEMMTUNE_OK)
        status = gt_expr_eval(&out->workspace_bytes, b->family->workspace, b->value, err);
    return status;
}

static gt_status check_launch(const struct gt_launch *l, const struct gt_device *d,
                              struct gt_err *err) {
    const gt_status status = check_block(l, d, err);
    if (status != GEMMTUNE_OK)
        return status;
    return d->backend == GEMMTUNE_CUDA ? check_cuda(l, d, err) : check_opencl(l, err);
}

/* Appends the pass when the point has it. */
static gt_status add_pass(struct gt_passes *out, const struct gt_pass *pass,
                          const struct gt_binding *b, const struct gt_device *d,
                          struct gt_err *err) {
    int64_t exists = 0;
    gt_status status = gt_expr_eval(&exists, pass->when, b->value, err);
    if (status == GEMMTUNE_OK && exists == 0)
        return GEMMTUNE_OK;
    struct gt_launch *launch = &out->item[out->count].launch;
    if (status == GEMMTUNE_OK)
        status = evaluate(launch, pass, b, err);
    if (status == GEMMTUNE_OK)
        status = check_launch(launch, d, err);
    launch->overlaps = b->family->overlap && out->count > 0;
    out->item[out->count++].entry = pass->entry;
    return status == GEMMTUNE_OK ? status : gt_fail_within(err, status, "%s", pass->entry);
}

bool gt_shape_of(int64_t out[GT_SHAPE_COUNT], const struct gt_binding *b) {
    for (int i = 0; i < GT_SHAPE_COUNT; i++)
        if (!b->family->has_shape ||
            gt_expr_eval(&out[i], b->family->shape[i], b->value, NULL) != GEMMTUNE_OK ||
            out[i] < 0)
            return false;
    return true;
}

/* ---- tensor maps ----------------------------------------------------------------- */

/* Of an empty product a side may be 0: nobody encodes its maps. */
static gt_status check_tiling(const struct gt_tiling *t, int64_t at, struct gt_err *err) {
    const struct limit sides[] = {
        {"at", at, 0, INT64_MAX},
        {"inner", t->inner, 0, CUDA_MAP_SIDE_MAX},
        {"outer", t->outer, 0, CUDA_MAP_SIDE_MAX},
        {"stride", t->stride, 0, CUDA_MAP_STRIDE_MAX},
        {"inner side of the box", t->box[0], 1, CUDA_MAP_BOX_MAX},
        {"outer side of the box", t->box[1], 1, CUDA_MAP_BOX_MAX},
    };
    return check_limits(sides, sizeof sides / sizeof *sides, err);
}

static gt_status find_base(gt_arg *out, const struct gt_map *map,
                           const struct gt_binding *b, struct gt_err *err) {
    for (int i = 0; i < map->base_count; i++) {
        int64_t holds = 0;
        const gt_status status = gt_expr_eval(&holds, map->base[i].when, b->value, err);
        *out = map->base[i].arg;
        if (status != GEMMTUNE_OK || holds != 0)
            return status;
    }
    return gt_fail(err, GEMMTUNE_EINVAL, "the matrix lies nowhere");
}

static gt_status add_map(struct gt_passes *out, const struct gt_map *map,
                         const struct gt_binding *b, struct gt_err *err) {
    const int i = out->map_count++;
    struct gt_tiling *t = &out->map[i].tiling;
    const struct {
        int64_t *to;
        const struct gt_expr *expr;
    } rows[] = {
        {&out->map[i].at, map->at}, {&t->inner, map->inner},   {&t->outer, map->outer},
        {&t->stride, map->stride},  {&t->box[0], map->box[0]}, {&t->box[1], map->box[1]},
    };
    gt_status status = find_base(&out->map[i].base, map, b, err);
    for (size_t j = 0; j < sizeof rows / sizeof *rows && status == GEMMTUNE_OK; j++)
        status = gt_expr_eval(rows[j].to, rows[j].expr, b->value, err);
    t->type = out->map[i].base == GT_ARG_C ? b->dtype->c : b->dtype->a;
    if (status == GEMMTUNE_OK)
        status = check_tiling(t, out->map[i].at, err);
    return status == GEMMTUNE_OK ? status : gt_fail_within(err, status, "%s", map->name);
}

gt_status gt_passes_of(struct gt_passes *out, const struct gt_binding *b,
                       const struct gt_device *d, struct gt_err *err) {
    const struct gt_family *f = b->family;
    gt_status status = GEMMTUNE_OK;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < f->pass_count && status == GEMMTUNE_OK; i++) {
        if (i == f->main)
            out->main = out->count;
        status = add_pass(out, &f->pass[i], b, d, err);
    }
    for (int i = 0; i < f->map_count && status == GEMMTUNE_OK; i++)
        status = add_map(out, &f->map[i], b, err);
    if (status != GEMMTUNE_OK)
        return gt_fail_within(err, GEMMTUNE_EINVAL, "launch of family %s", f->name);
    return GEMMTUNE_OK;
}

gt_status gt_launch_of(struct gt_launch *out, const struct gt_binding *b,
                       const struct gt_device *d, struct gt_err *err) {
    struct gt_passes passes;
    const gt_status status = gt_passes_of(&passes, b, d, err);
    *out = passes.item[passes.main].launch;
    return status;
}
