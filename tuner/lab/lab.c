/* SPDX-License-Identifier: Apache-2.0 */
/* lab.c - see lab.h: sets a problem up and checks kernels on it. Timing is in measure.c. */
#include "core/bytes.h"
#include "tuner/lab/check_internal.h"
#include "tuner/lab/lab_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Shapes that every kernel must get right besides the timed one: full tiles, ragged tiles,
 * primes, single rows and columns, an empty sum, padded leading dimensions, alpha and beta.
 * In half of the ragged ones, rows begin at multiples of 4 elements and of 16 bytes:
 * kernels with vector loads refuse the others, and must meet ragged edges and tails too. */
struct small {
    int m, n, k;
    int to; /* leading dimensions are rounded up to a multiple of this; if 4, of 16 bytes */
    /* extra elements in A's rows; twice as many in B's and three times in C's, so that no
     * leading dimension equals another */
    int pad;
    double alpha, beta;
    bool uniform, finite; /* see gt_case_spec */
};
static const struct small smalls[] = {
    {1, 1, 1, 1, 0, 1, 0, false, false},       {256, 256, 64, 1, 0, 1, 0, false, true},
    {127, 129, 67, 1, 0, 2, -1, false, false}, {33, 17, 5, 4, 8, 1, 1, false, true},
    {61, 59, 1231, 4, 2, -1, 2, false, false}, {259, 5, 131, 4, 0, 1, 0, true, false},
    {7, 521, 3, 1, 1, 1.5, -0.5, true, false}, {96, 160, 80, 1, 0, 1, 0, true, true},
    {19, 23, 0, 4, 1, 1, 2, false, false},     {113, 97, 257, 4, 0, 0.5, 0, true, false},
    {64, 1, 1204, 1, 0, 1, 0, false, true},    {1, 301, 33, 4, 2, 0, 1.5, false, false},
};
_Static_assert(sizeof smalls / sizeof smalls[0] == GT_LAB_SMALLS, "one case each");

/* A kernel that is compiled for one shape accepts no other. So a batch of small products
 * has cases of its own shape: packed and with gaps, more products than blocks are full of,
 * alpha and beta. */
static const struct own {
    int batch;
    int pad; /* spare elements as in struct small, and three times as many behind a matrix
              */
    double alpha, beta;
    bool uniform, finite;
} owns[] = {
    {67, 0, 2, -1, false, false},
    {5, 1, 1, 0, false, false},
    {33, 4, 0.5, 1, true, true},
    {3, 0, 0, 1.5, false, false},
};
_Static_assert(sizeof owns / sizeof owns[0] == GT_LAB_OWNS, "one case each");

gt_status gt_lab_create(struct gt_lab **out, const struct gt_device *d,
                        struct gt_err *err) {
    *out = NULL;
    struct gt_lab *lab = calloc(1, sizeof *lab);
    if (!lab)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the test bench");
    gt_status status = gt_rig_open(&lab->rig, d, err);
    if (status != GEMMTUNE_OK) {
        gt_lab_destroy(lab);
        return status;
    }
    *out = lab;
    return GEMMTUNE_OK;
}

static void clear_problem(struct gt_lab *lab) {
    for (int i = 0; i < 2; i++) {
        gt_case_destroy(lab->timed[i]);
        lab->timed[i] = NULL;
    }
    for (int i = 0; i < GT_LAB_OWNS; i++) {
        gt_case_destroy(lab->own[i]);
        lab->own[i] = NULL;
    }
    gt_sets_clear(lab);
    if (lab->checker)
        gt_checker_unreserve(lab->checker);
    lab->name[0] = '\0';
}

static void clear_types(struct gt_lab *lab) {
    clear_problem(lab);
    for (int i = 0; i < GT_LAB_SMALLS; i++) {
        gt_case_destroy(lab->small[i]);
        lab->small[i] = NULL;
    }
    gt_checker_destroy(lab->checker);
    lab->checker = NULL;
}

void gt_lab_destroy(struct gt_lab *lab) {
    if (!lab)
        return;
    if (lab->rig) /* otherwise the rig never opened and has no memory */
        clear_types(lab);
    gt_rig_close(lab->rig);
    free(lab);
}

struct gt_gpu *gt_lab_gpu(struct gt_lab *lab) {
    return gt_rig_head(lab->rig)->gpu;
}

const struct gt_device *gt_lab_device(const struct gt_lab *lab) {
    return gt_rig_head(lab->rig)->device;
}

/* ---- set-up ---- */

static int64_t padded(const struct small *s, int64_t row, int pads, gemmtune_dtype type) {
    const int64_t vector = GT_VECTOR_BYTES / (int64_t)gt_type_size(type);
    const int64_t to = s->to > 1 && vector > s->to ? vector : s->to;
    return ((row > 0 ? row : 1) + pads * s->pad + to - 1) / to * to;
}

/* The products of a small shape. One product is 0 apart: nothing depends on it. Of a batch
 * there are two to four, with gaps of whole vectors between them, so that kernels with
 * vector loads are not spared. Operands that the batch shares are shared here as well. */
static void space_products(gemmtune_problem *p, const gemmtune_problem *types,
                           const struct small *s) {
    enum { GAP = GT_VECTOR_BYTES }; /* elements */
    const int64_t gap = s->pad > 0 ? GAP : 0;
    p->stride_a = p->stride_b = p->stride_c = 0;
    if (!gt_problem_is_batch(types))
        return;
    p->batch = 2 + s->pad % 3;
    p->stride_a = types->stride_a == 0 ? 0 : gt_problem_shape_a(p).rows * p->lda + gap;
    p->stride_b = types->stride_b == 0 ? 0 : gt_problem_shape_b(p).rows * p->ldb + 2 * gap;
    p->stride_c = p->m * p->ldc + 3 * gap;
}

/* The small shape with the types, the layout and the kind of batch of `types`. */
static gemmtune_problem small_problem(const struct small *s,
                                      const gemmtune_problem *types) {
    gemmtune_problem p = *types;
    p.m = s->m;
    p.n = s->n;
    p.k = s->k;
    p.lda = padded(s, p.trans_a ? p.m : p.k, 1, p.type_a);
    p.ldb = padded(s, p.trans_b ? p.k : p.n, 2, p.type_b);
    p.ldc = padded(s, p.n, 3, p.type_c);
    p.expected_rows = gt_problem_rows_by_default(&p);
    space_products(&p, types, s);
    return p;
}

static bool has_own_cases(const gemmtune_problem *p) {
    const int64_t most = GT_LAB_OWN_SIDE_MAX;
    return gt_problem_is_batch(p) && p->m <= most && p->n <= most && p->k <= most;
}

/* The problem with another number of products, rows and gaps. Shared operands stay so. */
static gemmtune_problem own_problem(const struct own *o, const gemmtune_problem *timed) {
    gemmtune_problem p = *timed;
    const int64_t gap = 3 * o->pad;
    p.batch = o->batch;
    p.lda = gt_problem_shape_a(&p).cols + o->pad;
    p.ldb = gt_problem_shape_b(&p).cols + 2 * o->pad;
    p.ldc = p.n + 3 * o->pad;
    p.stride_a = p.stride_a == 0 ? 0 : gt_problem_shape_a(&p).rows * p.lda + gap;
    p.stride_b = p.stride_b == 0 ? 0 : gt_problem_shape_b(&p).rows * p.ldb + gap;
    p.stride_c = p.m * p.ldc + gap;
    return p;
}

static int64_t c_bytes(const gemmtune_problem *p) {
    const gemmtune_problem memory = gt_memory_of(p);
    return gt_problem_elems_c(&memory) * (int64_t)gt_type_size(p->type_c);
}

static int64_t scratch_bytes(const gemmtune_problem *p) {
    int64_t most = c_bytes(p);
    for (int i = 0; i < GT_LAB_SMALLS; i++) {
        const gemmtune_problem s = small_problem(&smalls[i], p);
        most = c_bytes(&s) > most ? c_bytes(&s) : most;
    }
    for (int i = 0; has_own_cases(p) && i < GT_LAB_OWNS; i++) {
        const gemmtune_problem s = own_problem(&owns[i], p);
        most = c_bytes(&s) > most ? c_bytes(&s) : most;
    }
    return most;
}

int64_t gt_lab_bytes(const gemmtune_problem *p, const struct gt_device *d) {
    const int64_t other = INT64_C(32) << 20; /* small and own cases, and the rest */
    const int64_t cases = gt_bytes_product(2, gt_case_bytes(p));
    const int64_t rest = gt_bytes_sum(scratch_bytes(p), gt_sets_bytes(p, d));
    return gt_bytes_sum(gt_bytes_sum(cases, rest), other);
}

static gt_status setup_smalls(struct gt_lab *lab, const gemmtune_problem *p, uint64_t seed,
                              struct gt_err *err) {
    const bool whole = !gt_type_is_float(p->type_acc);
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < GT_LAB_SMALLS; i++) {
        const struct small *s = &smalls[i];
        const struct gt_case_spec spec = {
            .problem = small_problem(s, p),
            .alpha = whole ? (int)(2 * s->alpha) : s->alpha,
            .beta = whole ? (int)(2 * s->beta) : s->beta,
            .mode = s->uniform ? GT_DATA_UNIFORM : gt_data_exact(p, s->k),
            .seed = seed + (uint64_t)i + 10,
            .finite = s->finite,
            .spread = GT_SPREAD_UNEVEN,
        };
        status = gt_case_create(&lab->small[i], lab->checker, &spec, err);
    }
    return status;
}

/* The checker's scratch must hold the largest C. A larger problem makes a new checker. */
gt_status gt_lab_setup_types(struct gt_lab *lab, const gemmtune_problem *p, uint64_t seed,
                             struct gt_err *err) {
    const int64_t scratch = scratch_bytes(p);
    if (lab->checker && gt_problem_same_kind(&lab->problem, p) &&
        lab->problem.pointer_align == p->pointer_align && scratch <= lab->scratch)
        return GEMMTUNE_OK;
    clear_types(lab);
    lab->problem = *p;
    lab->scratch = scratch;
    gt_status status = gt_checker_create(&lab->checker, lab->rig, p, scratch, err);
    if (status == GEMMTUNE_OK)
        status = setup_smalls(lab, p, seed, err);
    if (status != GEMMTUNE_OK)
        clear_types(lab);
    return status;
}

static gt_status setup_timed(struct gt_lab *lab, const gemmtune_problem *p, uint64_t seed,
                             struct gt_err *err) {
    const enum gt_data_mode mode[2] = {gt_data_exact(p, p->k), GT_DATA_UNIFORM};
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < 2; i++) {
        const struct gt_case_spec spec = {.problem = *p,
                                          .alpha = 1,
                                          .beta = p->reads_c ? 1 : 0,
                                          .mode = mode[i],
                                          .seed = seed + (uint64_t)i,
                                          /* like the C of a timed product */
                                          .finite = i == 1,
                                          .rounds_sum = lab->rounds_sum,
                                          .spread =
                                              i == 1 ? GT_SPREAD_EVEN : GT_SPREAD_UNEVEN};
        status = gt_case_create(&lab->timed[i], lab->checker, &spec, err);
    }
    return status;
}

static gt_status setup_own(struct gt_lab *lab, const gemmtune_problem *p, uint64_t seed,
                           struct gt_err *err) {
    const bool whole = !gt_type_is_float(p->type_acc);
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; has_own_cases(p) && status == GEMMTUNE_OK && i < GT_LAB_OWNS; i++) {
        const struct own *o = &owns[i];
        const struct gt_case_spec spec = {
            .problem = own_problem(o, p),
            .alpha = whole ? (int)(2 * o->alpha) : o->alpha,
            .beta = whole ? (int)(2 * o->beta) : o->beta,
            .mode = o->uniform ? GT_DATA_UNIFORM : gt_data_exact(p, p->k),
            .seed = seed + (uint64_t)i + 30,
            .finite = o->finite,
            .spread = GT_SPREAD_UNEVEN,
        };
        status = gt_case_create(&lab->own[i], lab->checker, &spec, err);
    }
    return status;
}

/* Bytes of the largest buffer: a matrix or the reference. */
static int64_t largest_buffer(const gemmtune_problem *asked) {
    const gemmtune_problem memory = gt_memory_of(asked), *p = &memory;
    const int64_t bytes[] = {
        gt_problem_elems_a(p) * (int64_t)gt_type_size(p->type_a),
        gt_problem_elems_b(p) * (int64_t)gt_type_size(p->type_b),
        c_bytes(p),
        gt_bytes_product(gt_bytes_product(gt_problem_outputs(p), p->m * p->n),
                         (int64_t)gt_type_size(gt_type_wide(p->type_acc))),
    };
    int64_t most = 0;
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        most = bytes[i] > most ? bytes[i] : most;
    return most;
}

static gt_status fits(const gemmtune_problem *p, const struct gt_device *d,
                      struct gt_err *err) {
    const int64_t need = gt_lab_bytes(p, d);
    const int64_t single = largest_buffer(p);
    if (need > d->mem_bytes)
        return gt_fail(
            err, GEMMTUNE_ENOMEM,
            "needs %lld bytes on the device (matrices, reference and rotating inputs), "
            "which has %lld",
            (long long)need, (long long)d->mem_bytes);
    if (gt_bytes_sum(single, 2 * GT_VIEW_ALIGN) > d->max_alloc)
        return gt_fail(
            err, GEMMTUNE_ENOMEM,
            "its largest matrix needs %lld bytes in one buffer, the device allows %lld",
            (long long)single, (long long)d->max_alloc);
    return GEMMTUNE_OK;
}

gt_status gt_lab_setup(struct gt_lab *lab, const gemmtune_problem *p, uint64_t seed,
                       struct gt_err *err) {
    char name[GT_PROBLEM_NAME_MAX];
    gt_problem_name(p, name);
    if (strcmp(name, lab->name) == 0 && seed == lab->seed)
        return GEMMTUNE_OK;
    clear_problem(lab);
    gt_status status = fits(p, gt_lab_device(lab), err);
    if (status == GEMMTUNE_OK)
        status = gt_lab_setup_types(lab, p, seed, err);
    if (status == GEMMTUNE_OK)
        status = setup_timed(lab, p, seed, err);
    if (status == GEMMTUNE_OK)
        status = setup_own(lab, p, seed, err);
    if (status != GEMMTUNE_OK) {
        clear_types(lab);
        return gt_fail_within(err, status, "%s", name);
    }
    lab->problem = *p;
    lab->seed = seed;
    snprintf(lab->name, sizeof lab->name, "%s", name);
    return GEMMTUNE_OK;
}

gt_status gt_lab_setup_inputs(struct gt_lab *lab, struct gt_err *err) {
    if (lab->sets.count > 0)
        return GEMMTUNE_OK;
    gt_status status = gt_sets_create(lab, &lab->problem, lab->seed, err);
    if (status != GEMMTUNE_OK) {
        status = gt_fail_within(err, status, "%s", lab->name);
        clear_types(lab);
    }
    return status;
}

/* ---- a kernel for all cases ---- */

enum { SHARED = GT_LAB_SMALLS + GT_LAB_OWNS };

struct gt_suite {
    const struct gt_exec *exec; /* made for the problem; owned by the caller */
    /* for small cases, then for own cases; NULL: the kernel does not accept the case */
    struct gt_exec *shared[SHARED];
};

void gt_suite_destroy(struct gt_suite *s) {
    if (!s)
        return;
    for (int i = 0; i < SHARED; i++)
        gt_exec_destroy(s->shared[i]);
    free(s);
}

/* The case with this place in a suite; NULL when the problem has no such case. */
static struct gt_case *shared_case(const struct gt_lab *lab, int i) {
    return i < GT_LAB_SMALLS ? lab->small[i] : lab->own[i - GT_LAB_SMALLS];
}

static gt_status share_cases(struct gt_suite *s, const struct gt_lab *lab,
                             struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < SHARED && status == GEMMTUNE_OK; i++) {
        if (shared_case(lab, i) == NULL)
            continue;
        const gemmtune_problem p =
            i < GT_LAB_SMALLS ? small_problem(&smalls[i], &lab->problem)
                              : own_problem(&owns[i - GT_LAB_SMALLS], &lab->problem);
        status = gt_exec_share(&s->shared[i], s->exec, &p, err);
        status = status == GEMMTUNE_EINVAL ? GEMMTUNE_OK : status;
    }
    return status;
}

/* ---- workspace ---- */

static int64_t workspace_of(const struct gt_exec *e) {
    struct gt_exec_info info;
    gt_exec_describe(e, &info);
    return info.fit->passes.workspace_bytes;
}

/* The limit has two parts. A caller of the library can be asked for a GiB, or for twice
 * what the matrices take: products by residues need 4 / 3 of it. The device must have room
 * for it beside the problem. */
static int64_t workspace_max(const struct gt_lab *lab) {
    const struct gt_device *d = gt_lab_device(lab);
    const int64_t left = d->mem_bytes - gt_lab_bytes(&lab->problem, d);
    const int64_t had = (left < d->max_alloc ? left : d->max_alloc) - 2 * GT_VIEW_ALIGN;
    const int64_t matrices = (int64_t)gt_problem_bytes(&lab->problem);
    const int64_t asked = matrices > INT64_C(1) << 29 ? 2 * matrices : INT64_C(1) << 30;
    return had < asked ? had : asked;
}

/* The largest workspace that one of the cases needs. */
static int64_t suite_workspace(const struct gt_suite *s) {
    int64_t need = workspace_of(s->exec);
    for (int i = 0; i < SHARED; i++)
        if (s->shared[i] && workspace_of(s->shared[i]) > need)
            need = workspace_of(s->shared[i]);
    return need;
}

static gt_status reserve(struct gt_lab *lab, int64_t bytes, struct gt_err *err) {
    if (bytes > 0 && bytes > workspace_max(lab))
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "needs %lld bytes of workspace, at most %lld may be had",
                       (long long)bytes, (long long)workspace_max(lab));
    return gt_checker_reserve(lab->checker, bytes, err);
}

gt_status gt_lab_reserve(struct gt_suite **out, struct gt_lab *lab, const struct gt_exec *e,
                         struct gt_err *err) {
    struct gt_suite *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the cases of a kernel");
    s->exec = e;
    gt_status status = share_cases(s, lab, err);
    if (status == GEMMTUNE_OK)
        status = reserve(lab, suite_workspace(s), err);
    if (status == GEMMTUNE_OK)
        *out = s;
    else
        gt_suite_destroy(s);
    return status;
}

/* ---- checking ---- */

gt_status gt_lab_check(bool *right, char why[GT_VERDICT_MAX], struct gt_lab *lab,
                       const struct gt_suite *s, struct gt_err *err) {
    enum { COUNT = SHARED + 2 };
    struct gt_case *cases[COUNT];
    const struct gt_exec *execs[COUNT];
    int count = 0;
    for (int i = 0; i < SHARED; i++)
        if (s->shared[i]) {
            cases[count] = shared_case(lab, i);
            execs[count++] = s->shared[i];
        }
    for (int i = 0; i < 2; i++) {
        cases[count] = lab->timed[i];
        execs[count++] = s->exec;
    }
    return gt_check(right, why, lab->checker, cases, execs, count, err);
}

gt_status gt_lab_recheck(bool *right, char why[GT_VERDICT_MAX], struct gt_lab *lab,
                         const struct gt_exec *e, struct gt_err *err) {
    return gt_check(right, why, lab->checker, &lab->timed[1], &e, 1, err);
}

gt_status gt_lab_error(struct gt_error *out, bool *measured, struct gt_lab *lab,
                       struct gt_err *err) {
    const gemmtune_problem *p = &lab->problem;
    *measured =
        gt_type_is_float(p->type_acc) && p->epilogue == NULL && p->m > 0 && p->n > 0;
    return *measured ? gt_checker_error(out, lab->timed[1], err) : GEMMTUNE_OK;
}
