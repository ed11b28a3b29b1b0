/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bind.c - numbers for a family's names (device, types, layout, sizes, point), and the
 * family's shape with these numbers. It asks no device. family_rules.c asks the rules.
 */
#include "core/epilogue/epilogue_keep.h"
#include "core/text.h"
#include "runtime/drivers/driver.h"
#include "runtime/family/family_inside.h"

#include <inttypes.h>
#include <string.h>

/* ---- may the family serve at all ------------------------------------------------- */

static bool is_f64(const gemmtune_problem *p) {
    return p->type_a == GEMMTUNE_F64 || p->type_c == GEMMTUNE_F64;
}

/* PoCL 5 loses private values that live across barriers, other ones at each compilation. It
 * keeps facts about freed instructions and applies them to new ones at the same address.
 * PoCL 6 is right. */
static bool breaks_barriers(const struct gt_device *d) {
    return strncmp(d->compiler, "PoCL 5.", 7) == 0;
}

const struct gt_dtype *gt_family_dtype(const struct gt_family *f,
                                       const gemmtune_problem *p) {
    const struct gt_dtype *own = gt_dtype_of(p), *strict = gt_dtype_strict(own);
    if ((f->dtypes & gt_dtype_bit(own)) != 0)
        return own;
    return (f->dtypes & gt_dtype_bit(strict)) != 0 ? strict : NULL;
}

static bool has_barriers(const struct gt_template *file) {
    bool found = false;
    for (int i = 0; i < GT_TEMPLATES_MAX && file[i].name != NULL && !found; i++)
        found = strstr(file[i].text, "GT_BARRIER") != NULL;
    return found;
}

/* Whether the epilogue asks for an element's product, which the kernels do not know: the
 * kernels of a batch count the rows of all products, and m is no constant in them. */
static bool has_unknown_product(const struct gt_family *f, const gemmtune_problem *p) {
    const struct gt_epilogue *e = gt_epilogue_of(p);
    return gt_problem_is_batch(p) && f->batching >= GT_BATCHING_OWN && !f->per_problem &&
           e != NULL && gt_epilogue_has_products(e);
}

bool gt_family_serves(const struct gt_family *f, const struct gt_device *d,
                      const gemmtune_problem *p, const char **why) {
    static const char *const no_source[GT_BACKENDS] = {
#define X(id, word, title) [id] = "the family has no source for " title,
        GT_BACKEND_LIST(X)
#undef X
    };
    const struct gt_dtype *const type = gt_family_dtype(f, p);
    const bool cuda = gt_driver_of(d->backend)->speaks_cuda;
    const bool needs_cc = cuda || f->ptx;
    const int cc = cuda ? d->cc : d->ptx;
    const char *reason = NULL;
    if (f->source[d->backend]->name == NULL)
        reason = no_source[d->backend];
    else if (type == NULL)
        reason = "the family has no kernel for these data types";
    else if ((f->layouts & gt_layout_bit(gt_problem_layout(p))) == 0)
        reason = "the family has no kernel for this layout";
    else if (gt_problem_is_batch(p) && f->batching == GT_BATCHING_NONE)
        reason = "the family has no kernel for batches";
    else if (p->batch_kind != GEMMTUNE_BATCH_STRIDED && f->batching != GT_BATCHING_GRID &&
             !(gt_problem_has_pointers(p) && f->pointers))
        reason = "the family has kernels for strided batches only";
    else if (gt_problem_has_pointers(p) && f->map_count > 0)
        reason = "tensor maps describe matrices at strides only";
    else if (gt_problem_has_pointers(p) && !cuda)
        reason = "arrays of pointers need a CUDA device";
    else if (p->epilogue != NULL && !f->epilogue)
        reason = "the family has no place for an epilogue";
    else if (p->epilogue != NULL && has_unknown_product(f, p))
        reason = "the family's kernels do not know the product of an element";
    else if (!gt_problem_is_batch(p) && f->batching == GT_BATCHING_ONLY)
        reason = "the family has kernels for batches only";
    else if (f->map_count > 0 && gt_driver_of(d->backend)->check_map == NULL)
        reason = "the family needs tensor maps, which this backend does not have";
    else if (!cuda && f->ptx && cc == 0)
        reason = "the family's kernels contain PTX, which only NVIDIA's compilers take";
    else if (needs_cc && cc < f->min_cc[gt_dtype_index(type)])
        reason = "the family needs a newer compute capability";
    else if (!cuda && (f->cuda_only & gt_dtype_bit(type)) != 0)
        reason = "the family's kernels for these data types need CUDA";
    else if (needs_cc && cc > f->max_cc)
        reason = "the family is not made for so new a compute capability";
    else if (p->row_order && gt_type_is_float(p->type_a) && f->sums.by[0] == '\0')
        reason = "row_order: the family states no order of sums";
    else if (is_f64(p) && !d->has_f64)
        reason = "the device has no double precision";
    else if (breaks_barriers(d) && has_barriers(f->source[d->backend]))
        reason = "the family has barriers, which PoCL 5 miscompiles";
    if (why != NULL)
        *why = reason;
    return reason == NULL;
}

/* ---- built-in names -------------------------------------------------------------- */

/* CUDA has an instruction for four products of bytes from this compute capability on. */
enum { DOT4_CC = 61 };

static void device_values(int64_t *value, const struct gt_device *d) {
    const bool cuda = gt_driver_of(d->backend)->speaks_cuda;
    value[GT_IN_CUDA] = cuda;
    value[GT_IN_CC] = cuda ? d->cc : 0;
    value[GT_IN_CPU] = d->is_cpu;
    value[GT_IN_UNITS] = d->units;
    value[GT_IN_WARP] = d->warp;
    value[GT_IN_MAX_THREADS] = d->max_threads;
    value[GT_IN_SMEM_MAX] = d->smem_max;
    value[GT_IN_REGS_MAX] = d->regs_per_block;
    value[GT_IN_F16] = cuda || d->has_f16;
    value[GT_IN_PTX] = cuda ? d->cc : d->ptx;
    value[GT_IN_DOT4] = d->has_dot4 || value[GT_IN_PTX] >= DOT4_CC;
    value[GT_IN_SUBGROUPS] = d->subgroup_sizes;
    value[GT_IN_NATIVE] = d->vector_bytes;
}

static void problem_values(int64_t *value, const gemmtune_problem *p) {
    value[GT_IN_M] = p->m;
    value[GT_IN_N] = p->n;
    value[GT_IN_K] = p->k;
    value[GT_IN_LDA] = p->lda;
    value[GT_IN_LDB] = p->ldb;
    value[GT_IN_LDC] = p->ldc;
    value[GT_IN_BATCH] = p->batch;
    value[GT_IN_POINTERS] = gt_problem_has_pointers(p);
    value[GT_IN_PROMISED] = p->pointer_align;
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

/* ---- slots of rows: see templates/common/batch.h ---------------------------------- */

/* Rows of a slot when the family has no tiles, and before the point is known. */
enum { SLOT_ROWS_USUAL = 64 };

/* The number of tiles of `rows` rows in a column of C. Each group has at least one tile.
 * The last tile of a group is half full in the mean. */
static int64_t expected_tiles(const struct gt_binding *b, int64_t rows) {
    const int64_t tiles = b->m / rows + b->batch / 2;
    return tiles > b->batch ? tiles : b->batch;
}

/* M and BATCH become the rows of a slot and the number of slots. Rules ask whether there is
 * one product: slots never are one, since a slot may have no row. */
static void set_slots(struct gt_binding *b, int64_t rows) {
    const int64_t in_groups = b->walks > 0 ? expected_tiles(b, rows)
                                           : b->m / rows + b->batch; /* enough for all */
    const int64_t in_products = (b->m + rows - 1) / rows * b->batch;
    const int64_t slots = b->batch_kind == GEMMTUNE_GROUPED_ROWS ? in_groups : in_products;
    b->slot_rows = rows;
    b->value[GT_IN_M] = rows;
    b->value[GT_IN_BATCH] = slots > 2 ? slots : 2;
}

gt_status gt_bind_derived(struct gt_binding *b, struct gt_err *err) {
    const struct gt_family *f = b->family;
    gt_status status = GEMMTUNE_OK;
    if (f->derive_all != NULL && f->derive_all(b->value))
        return GEMMTUNE_OK;
    for (int i = 0; i < f->derive_count && status == GEMMTUNE_OK; i++) {
        const struct gt_derived *d = &f->derive[i];
        status = gt_expr_eval(&b->value[d->slot], d->expr, b->value, err);
        if (status != GEMMTUNE_OK)
            status = gt_fail_within(err, GEMMTUNE_EINVAL, "%s", f->symbols.name[d->slot]);
    }
    return status;
}

bool gt_bind_may_walk(const struct gt_binding *b) {
    return b->is_batch && (b->batch_kind != GEMMTUNE_BATCH_POINTERS || b->family->pointers);
}

gt_status gt_bind_walk(struct gt_binding *b, struct gt_err *err) {
    const gt_status status = gt_bind_may_walk(b)
                                 ? gt_expr_eval(&b->walks, b->family->walk, b->value, err)
                                 : GEMMTUNE_OK;
    b->value[GT_IN_WALK] = b->walks > 0;
    return status == GEMMTUNE_OK ? status : gt_fail_within(err, GEMMTUNE_EINVAL, "walk");
}

gt_status gt_bind_slots(struct gt_binding *b, struct gt_err *err) {
    const struct gt_family *f = b->family;
    int64_t rows = SLOT_ROWS_USUAL;
    /* Points are bound after one another: "tile_m" may read M, and shall not see the slots
     * of the point before. */
    b->value[GT_IN_M] = SLOT_ROWS_USUAL;
    if (f->has_shape &&
        (gt_expr_eval(&rows, f->shape[GT_SHAPE_TILE_M], b->value, NULL) != GEMMTUNE_OK ||
         rows < 1 || rows > GT_DIM_MAX))
        return gt_fail(err, GEMMTUNE_EINVAL, "tile_m is no number of rows");
    set_slots(b, b->walks > 0 ? b->walks : rows);
    return GEMMTUNE_OK;
}

/* ---- the problem ----------------------------------------------------------------- */

static void bind_epilogue(struct gt_binding *b) {
    const struct gt_epilogue *e = b->epilogue;
    b->value[GT_IN_EPILOGUE] = e != NULL;
    if (e == NULL)
        return;
    b->value[GT_IN_EPI_COLUMN] =
        gt_epilogue_bytes(e, GT_EPI_COLUMNS) + gt_epilogue_bytes(e, GT_EPI_PRODUCT_ROWS);
    b->value[GT_IN_EPI_ROW] = gt_epilogue_bytes(e, GT_EPI_ROWS);
    b->value[GT_IN_EPI_BOXED] = gt_epilogue_boxed(e) >= 0;
}

/* A family that computes in strict arithmetic does so whatever the problem allows. */
static void bind_math(struct gt_binding *b) {
    const gemmtune_math math = b->dtype != NULL ? b->dtype->math : GEMMTUNE_MATH_STRICT;
    b->value[GT_IN_FAST] = math == GEMMTUNE_MATH_FAST;
    b->value[GT_IN_BF16X3] = math == GEMMTUNE_MATH_BF16X3;
}

void gt_bind_problem(struct gt_binding *b, const struct gt_family *f,
                     const struct gt_device *d, const gemmtune_problem *p) {
    memset(b, 0, sizeof *b);
    b->family = f;
    b->dtype = gt_family_dtype(f, p);
    b->is_batch = gt_problem_is_batch(p);
    b->row_order = p->row_order;
    b->batch_kind = p->batch_kind;
    b->m = p->m;
    b->n = p->n;
    b->panels[0] = b->panels[1] = 1;
    b->batch = p->batch;
    b->rows = (gt_problem_has_rows(p) ? p->expected_rows : p->m) * p->batch;
    b->stride[0] = gt_problem_outputs(p) > 1 ? p->stride_a : 0;
    b->stride[1] = p->batch > 1 ? p->stride_b : 0;
    b->stride[2] = gt_problem_outputs(p) > 1 ? p->stride_c : 0;
    gt_builtin_values(b->value, d, p);
    b->epilogue = gt_epilogue_of(p);
    bind_epilogue(b);
    bind_math(b);
    for (int i = 0; i < f->constant_count; i++)
        b->value[f->constant[i].slot] = f->constant[i].value;
    gt_bind_align(b, p, GT_VECTOR_BYTES);
    if (gt_problem_has_rows(p))
        set_slots(b, SLOT_ROWS_USUAL);
}

/* Of one matrix no stride counts, nor of matrices that pointers lead to. Those pointers are
 * aligned as the problem says. Every pointer is aligned to its own element. */
static int64_t align_of(const gemmtune_problem *p, int64_t ld, int64_t stride,
                        gemmtune_dtype type, int64_t pointer_align) {
    const bool behind = gt_problem_has_pointers(p);
    const int64_t element = (int64_t)gt_type_size(type);
    const int64_t known = behind ? p->pointer_align : pointer_align;
    return gt_row_align(ld, gt_problem_is_batch(p) && !behind ? stride : 0, type,
                        known > element ? known : element);
}

void gt_bind_align(struct gt_binding *b, const gemmtune_problem *p, int64_t pointer_align) {
    /* A group of rows of a transposed A begins at any element of its rows. */
    const bool splits_a = gt_problem_has_rows(p) && p->trans_a != GEMMTUNE_NOTRANS;
    const int64_t align_a = splits_a ? 1 : pointer_align;
    b->value[GT_IN_ALIGN_A] = align_of(p, p->lda, p->stride_a, p->type_a, align_a);
    b->value[GT_IN_ALIGN_B] = align_of(p, p->ldb, p->stride_b, p->type_b, pointer_align);
    b->value[GT_IN_ALIGN_C] = align_of(p, p->ldc, p->stride_c, p->type_c, pointer_align);
}

/* ---- the point ------------------------------------------------------------------- */

static gt_status check_value(const struct gt_param *p, int64_t value, struct gt_err *err) {
    for (int i = 0; i < p->count; i++)
        if (p->value[i] == value)
            return GEMMTUNE_OK;
    return gt_fail(err, GEMMTUNE_EINVAL, "%s=%" PRId64 " is not one of the family's values",
                   p->name, value);
}

/* The value of the family's parameter i, which is usually the point's entry i. */
static bool get_param(int64_t *value, const struct gt_family *f, int i,
                      const struct gt_point *point) {
    if (i >= point->count || strcmp(point->entry[i].name, f->param[i].name) != 0)
        return gt_point_get(point, f->param[i].name, value);
    *value = point->entry[i].value;
    return true;
}

static gt_status check_names(const struct gt_family *f, const struct gt_point *point,
                             struct gt_err *err) {
    for (int i = 0; i < point->count; i++) {
        const char *name = point->entry[i].name;
        const bool in_place = i < f->param_count && strcmp(f->param[i].name, name) == 0;
        if (!in_place && !gt_family_has_param(f, name))
            return gt_fail(err, GEMMTUNE_EINVAL, "family %s has no parameter %s", f->name,
                           name);
    }
    return GEMMTUNE_OK;
}

gt_status gt_point_values(int64_t values[GT_POINT_MAX], const struct gt_family *f,
                          const struct gt_point *point, struct gt_err *err) {
    gt_status status = check_names(f, point, err);
    for (int i = 0; i < f->param_count && status == GEMMTUNE_OK; i++)
        if (get_param(&values[i], f, i, point))
            status = check_value(&f->param[i], values[i], err);
        else
            status = gt_fail(err, GEMMTUNE_EINVAL, "family %s needs a value for %s",
                             f->name, f->param[i].name);
    return status;
}

/* Reads "NAME=12", a value of the parameter's domain, and the space after it. *text goes on
 * to the next pair. False for a number that is negative or has many digits, too. */
static bool read_pair(int64_t *value, const char **text, const struct gt_param *p) {
    enum { DIGITS_MAX = 18 }; /* they fit into 64 bits */
    const char *at = *text;
    for (const char *name = p->name; *name != '\0'; name++, at++)
        if (*at != *name)
            return false;
    if (*at != '=')
        return false;
    const char *number = ++at;
    *value = 0;
    for (; *at >= '0' && *at <= '9' && at - number < DIGITS_MAX; at++)
        *value = 10 * *value + (*at - '0');
    if (at == number || (*at != ' ' && *at != '\0'))
        return false;
    *text = at + (*at == ' ');
    return check_value(p, *value, NULL) == GEMMTUNE_OK;
}

gt_status gt_values_parse(int64_t values[GT_POINT_MAX], const struct gt_family *f,
                          const char *text, struct gt_err *err) {
    const char *at = text;
    struct gt_point point;
    int i = 0;
    while (i < f->param_count && read_pair(&values[i], &at, &f->param[i]))
        i++;
    if (i == f->param_count && *at == '\0')
        return GEMMTUNE_OK;
    const gt_status status = gt_point_parse(&point, text, err);
    return status == GEMMTUNE_OK ? gt_point_values(values, f, &point, err) : status;
}

gt_status gt_values_check(const struct gt_family *f, const int64_t *values,
                          struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < f->param_count && status == GEMMTUNE_OK; i++)
        status = check_value(&f->param[i], values[i], err);
    return status;
}

gt_status gt_bind_values(struct gt_binding *b, const int64_t *values, struct gt_err *err) {
    const gt_status status = gt_values_check(b->family, values, err);
    return status == GEMMTUNE_OK ? gt_bind_checked(b, values, err) : status;
}

gt_status gt_bind_checked(struct gt_binding *b, const int64_t *values, struct gt_err *err) {
    for (int i = 0; i < b->family->param_count; i++)
        b->value[b->family->param[i].slot] = values[i];
    gt_status status = gt_bind_walk(b, err);
    if (status == GEMMTUNE_OK)
        status = gt_bind_derived(b, err);
    if (status != GEMMTUNE_OK || b->slot_rows == 0)
        return status;
    status = gt_bind_slots(b, err);
    return status == GEMMTUNE_OK ? gt_bind_derived(b, err) : status;
}

gt_status gt_bind_point(struct gt_binding *b, const struct gt_point *point,
                        struct gt_err *err) {
    int64_t values[GT_POINT_MAX];
    const gt_status status = gt_point_values(values, b->family, point, err);
    return status == GEMMTUNE_OK ? gt_bind_values(b, values, err) : status;
}

void gt_point_of_values(struct gt_point *out, const struct gt_family *f,
                        const int64_t *values) {
    memset(out, 0, sizeof *out);
    for (int i = 0; i < f->param_count; i++) {
        memcpy(out->entry[i].name, f->param[i].name, sizeof out->entry[i].name);
        out->entry[i].value = values[i];
    }
    out->count = f->param_count;
}

void gt_family_start(const struct gt_family *f, int i, struct gt_point *out) {
    gt_point_of_values(out, f, f->start[i]);
}

void gt_family_default(const struct gt_family *f, struct gt_point *out) {
    int64_t values[GT_POINT_MAX];
    for (int i = 0; i < f->param_count; i++)
        values[i] = f->param[i].preset;
    gt_point_of_values(out, f, values);
}

bool gt_family_adapt(int64_t values[GT_POINT_MAX], const struct gt_family *f, int which) {
    for (int i = 0; i < f->adapt_count; i++) {
        const struct gt_param *p = &f->param[f->adapt[i]];
        values[f->adapt[i]] = p->value[which % p->count];
        which /= p->count;
    }
    return which == 0;
}

int gt_family_split(const struct gt_family *f) {
    int i = 0;
    while (f->has_shape && i < f->param_count &&
           !gt_expr_uses(f->shape[GT_SHAPE_SPLIT], f->param[i].slot))
        i++;
    return f->has_shape && i < f->param_count ? i : -1;
}

/* ---- shape ---- */

bool gt_shape_of(int64_t out[GT_SHAPE_COUNT], const struct gt_binding *b) {
    if (b->family->shape_all != NULL)
        return b->family->shape_all(out, b->value);
    for (int i = 0; i < GT_SHAPE_COUNT; i++)
        if (!b->family->has_shape ||
            gt_expr_eval(&out[i], b->family->shape[i], b->value, NULL) != GEMMTUNE_OK ||
            out[i] < 0)
            return false;
    return true;
}
