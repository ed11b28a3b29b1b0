/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jax_call.c - products inside of programs that JAX compiles: a handler of XLA's foreign
 * function interface for CUDA, and one for arrays in host memory. Python registers both and
 * gives each device's context (python/gemmtune/jax.py).
 *
 * A call has a (.., m, k), b (.., k, n) and the operands of an epilogue, all without gaps;
 * the result is (.., m, n), and its leading sizes are the broadcast ones. Attributes:
 * "epilogue", a text, "" for none; "math", the number of a gemmtune_math.
 */
#include "python/native/xla_ffi.h"

#include "include/gemmtune.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

enum {
    DEVICES_MAX = 64,
    RANK_MAX = 16,
    OPERANDS_MAX = 8, /* of an epilogue */
    WORKSPACE_MAX = 32 << 20
};

/* Contexts by ordinal; the last one is for arrays in host memory. */
static gemmtune_ctx *contexts[DEVICES_MAX + 1];

/* A plan is made once for each problem with an epilogue's operands, and kept. */
struct kept {
    struct kept *next;
    gemmtune_ctx *ctx;
    gemmtune_problem problem;
    char epilogue[256];
    gemmtune_plan *plan;
    size_t workspace;
};
static struct kept *kept_plans;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

EXPORTED void gemmtune_jax_device(int ordinal, gemmtune_ctx *ctx);
EXPORTED gt_xla_error *gemmtune_jax_cuda(struct gt_xla_call *call);
EXPORTED gt_xla_error *gemmtune_jax_host(struct gt_xla_call *call);

/* ordinal -1: for arrays in host memory. Called before any product. */
void gemmtune_jax_device(int ordinal, gemmtune_ctx *ctx) {
    if (ordinal < DEVICES_MAX)
        contexts[ordinal < 0 ? DEVICES_MAX : ordinal] = ctx;
}

/* ---- what a call says ---------------------------------------------------------------- */

static gt_xla_error *refuse(const struct gt_xla_call *call, int code, const char *line) {
    struct gt_xla_error_args args = {sizeof args, NULL, line, code};
    return call->api->error_create(&args);
}

static gt_xla_error *refuse_status(const struct gt_xla_call *call, gemmtune_status status) {
    const char *line = gemmtune_errmsg();
    return refuse(call,
                  status == GEMMTUNE_EINVAL || status == GEMMTUNE_EPARSE
                      ? GT_XLA_INVALID_ARGUMENT
                  : status == GEMMTUNE_EUNSUPPORTED ? GT_XLA_UNIMPLEMENTED
                                                    : GT_XLA_INTERNAL,
                  line[0] != '\0' ? line : gemmtune_strerror(status));
}

/* False for a type that gemmtune does not have. */
static bool type_of(gemmtune_dtype *out, int dtype) {
    static const int known[][2] = {
        {GT_XLA_F32, GEMMTUNE_F32},       {GT_XLA_F64, GEMMTUNE_F64},
        {GT_XLA_F16, GEMMTUNE_F16},       {GT_XLA_BF16, GEMMTUNE_BF16},
        {GT_XLA_F8E4M3FN, GEMMTUNE_E4M3}, {GT_XLA_F8E5M2, GEMMTUNE_E5M2},
        {GT_XLA_S8, GEMMTUNE_I8},         {GT_XLA_S32, GEMMTUNE_I32},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i][0] == dtype) {
            *out = (gemmtune_dtype)known[i][1];
            return true;
        }
    return false;
}

static size_t size_of(gemmtune_dtype type) {
    static const size_t sizes[] = {4, 8, 2, 2, 1, 1, 1, 4};
    return sizes[type];
}

static const void *attribute(const struct gt_xla_call *call, const char *name, int type) {
    const struct gt_xla_attributes *all = &call->attributes;
    for (int64_t i = 0; i < all->size; i++)
        if (all->types[i] == type && all->names[i]->len == strlen(name) &&
            memcmp(all->names[i]->ptr, name, all->names[i]->len) == 0)
            return all->values[i];
    return NULL;
}

/* ---- leading sizes ------------------------------------------------------------------- */

/* One batch of products, and the leading indices outside of it. */
struct batch {
    int64_t count, stride_a, stride_b;
    int outer; /* so many leading indices of the result are outside */
    int64_t size[RANK_MAX], step_a[RANK_MAX], step_b[RANK_MAX];
};

/* The stride of an operand's leading index, in matrices: 0 where it is repeated. `at`
 * counts the result's leading indices from the right. */
static int64_t step_of(const struct gt_xla_buffer *x, int64_t at) {
    int64_t inner = 1;
    const int64_t rank = x->rank - 2;
    if (at >= rank || x->dims[rank - 1 - at] == 1)
        return 0;
    for (int64_t i = 0; i < at; i++)
        inner *= x->dims[rank - 1 - i];
    return inner;
}

/* Takes leading indices into the batch from the right, while a single stride describes
 * them. */
static void read_batch(struct batch *out, const struct gt_xla_buffer *a,
                       const struct gt_xla_buffer *b, const struct gt_xla_buffer *to) {
    const int64_t leading = to->rank - 2;
    int64_t at = 0;
    *out = (struct batch){.count = 1};
    for (; at < leading; at++) {
        const int64_t size = to->dims[leading - 1 - at];
        const int64_t step_a = step_of(a, at), step_b = step_of(b, at);
        if (size == 1)
            continue;
        if (out->count == 1) {
            out->stride_a = step_a;
            out->stride_b = step_b;
        } else if (step_a != out->stride_a * out->count ||
                   step_b != out->stride_b * out->count) {
            break;
        }
        out->count *= size;
    }
    for (; at < leading; at++, out->outer++) {
        out->size[out->outer] = to->dims[leading - 1 - at];
        out->step_a[out->outer] = step_of(a, at);
        out->step_b[out->outer] = step_of(b, at);
    }
}

/* ---- the problem --------------------------------------------------------------------- */

struct product {
    const struct gt_xla_buffer *a, *b, *to;
    gemmtune_problem problem;
    struct batch batch;
    char epilogue[256];
    size_t operands;
    const void *operand[OPERANDS_MAX];
};

static const void *number(const struct product *x, bool one) {
    static const float f32[] = {0, 1};
    static const double f64[] = {0, 1};
    static const int32_t i32[] = {0, 1};
    return x->problem.type_acc == GEMMTUNE_F64   ? (const void *)&f64[one]
           : x->problem.type_acc == GEMMTUNE_I32 ? (const void *)&i32[one]
                                                 : (const void *)&f32[one];
}

/* Each product of a batch that shares b is rows of one product. */
static void lay_out(struct product *x) {
    gemmtune_problem *p = &x->problem;
    struct batch *batch = &x->batch;
    read_batch(batch, x->a, x->b, x->to);
    if (batch->count > 1 && batch->stride_b == 0 && batch->stride_a == 1 &&
        p->epilogue == NULL) {
        p->m *= batch->count;
        batch->count = 1;
    }
    p->batch = batch->count;
    if (batch->count > 1) {
        p->stride_a = batch->stride_a * p->m * p->k;
        p->stride_b = batch->stride_b * p->k * p->n;
    }
}

static gt_xla_error *read_product(struct product *x, const struct gt_xla_call *call) {
    const struct gt_xla_span *epilogue = attribute(call, "epilogue", GT_XLA_STRING);
    const struct gt_xla_scalar *math = attribute(call, "math", GT_XLA_SCALAR);
    gemmtune_dtype a, b, to;
    if (call->args.size < 2 || call->args.size > 2 + OPERANDS_MAX ||
        call->results.size != 1 || epilogue == NULL || math == NULL ||
        epilogue->len >= sizeof x->epilogue)
        return refuse(call, GT_XLA_INVALID_ARGUMENT, "no call of gemmtune.jax.matmul");
    x->a = call->args.buffers[0];
    x->b = call->args.buffers[1];
    x->to = call->results.buffers[0];
    if (x->a->rank < 2 || x->b->rank < 2 || x->to->rank < 2 || x->to->rank > RANK_MAX)
        return refuse(call, GT_XLA_INVALID_ARGUMENT, "matrices have 2 to 16 indices");
    if (!type_of(&a, x->a->dtype) || !type_of(&b, x->b->dtype) ||
        !type_of(&to, x->to->dtype))
        return refuse(call, GT_XLA_UNIMPLEMENTED, "gemmtune has no such type");
    const int64_t *const dims = x->to->dims + x->to->rank - 2;
    gemmtune_problem_init(&x->problem, a, dims[0], dims[1], x->a->dims[x->a->rank - 1]);
    x->problem.layout = GEMMTUNE_ROW_MAJOR;
    x->problem.type_b = b;
    x->problem.type_c = to;
    x->problem.math = (gemmtune_math) * (const int64_t *)math->value;
    memcpy(x->epilogue, epilogue->ptr, epilogue->len);
    x->epilogue[epilogue->len] = '\0';
    x->problem.epilogue = epilogue->len > 0 ? x->epilogue : NULL;
    x->operands = (size_t)call->args.size - 2;
    for (size_t i = 0; i < x->operands; i++)
        x->operand[i] = ((const struct gt_xla_buffer *)call->args.buffers[2 + i])->data;
    lay_out(x);
    return NULL;
}

/* ---- products one after another ------------------------------------------------------ */

typedef gemmtune_status run_batch(const struct product *x, const void *a, const void *b,
                                  void *to, void *user);

/* Calls `run` for each index outside of the batch. */
static gemmtune_status for_each(const struct product *x, run_batch *run, void *user) {
    const gemmtune_problem *p = &x->problem;
    const int64_t bytes_a =
        p->k * (x->a->dims[x->a->rank - 2]) * (int64_t)size_of(p->type_a);
    const int64_t bytes_b = p->k * p->n * (int64_t)size_of(p->type_b);
    const int64_t bytes_c = p->m * p->n * p->batch * (int64_t)size_of(p->type_c);
    int64_t index[RANK_MAX] = {0}, turn = 0;
    for (;;) {
        int64_t at_a = 0, at_b = 0;
        for (int i = 0; i < x->batch.outer; i++) {
            at_a += index[i] * x->batch.step_a[i];
            at_b += index[i] * x->batch.step_b[i];
        }
        const gemmtune_status status = run(x, (const char *)x->a->data + at_a * bytes_a,
                                           (const char *)x->b->data + at_b * bytes_b,
                                           (char *)x->to->data + turn++ * bytes_c, user);
        int i = 0;
        while (i < x->batch.outer && ++index[i] == x->batch.size[i])
            index[i++] = 0;
        if (status != GEMMTUNE_OK || i == x->batch.outer)
            return status;
    }
}

static bool is_empty(const struct product *x) {
    for (int64_t i = 0; i < x->to->rank; i++)
        if (x->to->dims[i] == 0)
            return true;
    return false;
}

/* ---- on CUDA ------------------------------------------------------------------------- */

struct launch {
    const struct gt_xla_call *call;
    gemmtune_ctx *ctx;
    void *stream;
};

static bool is_of(const struct kept *one, const gemmtune_ctx *ctx,
                  const struct product *x) {
    gemmtune_problem p = x->problem;
    p.epilogue = one->problem.epilogue;
    return one->ctx == ctx && memcmp(&one->problem, &p, sizeof p) == 0 &&
           strcmp(one->epilogue, x->epilogue) == 0;
}

/* The plan of a problem, made by its first call. */
static gemmtune_status keep(struct kept **out, gemmtune_ctx *ctx, const struct product *x) {
    gemmtune_plan_info info = {.struct_size = sizeof info};
    gemmtune_status status = GEMMTUNE_OK;
    (void)pthread_mutex_lock(&lock);
    struct kept *one = kept_plans;
    while (one != NULL && !is_of(one, ctx, x))
        one = one->next;
    if (one == NULL && (one = calloc(1, sizeof *one)) != NULL) {
        one->ctx = ctx;
        one->problem = x->problem;
        memcpy(one->epilogue, x->epilogue, sizeof one->epilogue);
        one->problem.epilogue = x->problem.epilogue != NULL ? one->epilogue : NULL;
        status = gemmtune_plan_create(&one->plan, ctx, &one->problem,
                                      GEMMTUNE_MATCH_DEFAULT, WORKSPACE_MAX);
        if (status == GEMMTUNE_OK)
            status = gemmtune_plan_describe(one->plan, &info);
        one->workspace = info.workspace_bytes;
        if (status == GEMMTUNE_OK) {
            one->next = kept_plans;
            kept_plans = one;
        } else {
            free(one);
        }
    }
    (void)pthread_mutex_unlock(&lock);
    *out = one;
    return one == NULL ? GEMMTUNE_ENOMEM : status;
}

static gemmtune_status run_gemm(const struct product *x, const void *a, const void *b,
                                void *to, void *user) {
    const struct launch *l = user;
    return gemmtune_gemm(l->ctx, &x->problem, number(x, true), a, b, number(x, false), to,
                         l->stream);
}

static gt_xla_error *run_plan(const struct product *x, const struct launch *l) {
    const struct gt_xla_call *call = l->call;
    struct kept *one = NULL;
    gemmtune_args args;
    gemmtune_status status = keep(&one, l->ctx, x);
    if (status != GEMMTUNE_OK)
        return refuse_status(call, status);
    gemmtune_args_init(&args);
    if (one->workspace > 0) {
        struct gt_xla_memory_args memory = {.struct_size = sizeof memory,
                                            .ctx = call->ctx,
                                            .size = one->workspace,
                                            .alignment = 256};
        gt_xla_error *error = call->api->memory_allocate(&memory);
        if (error != NULL)
            return error;
        args.workspace = memory.data;
    }
    args.alpha = number(x, true);
    args.beta = number(x, false);
    args.a = x->a->data;
    args.b = x->b->data;
    args.c = x->to->data;
    args.operands = (int32_t)x->operands;
    args.operand = x->operand;
    status = gemmtune_launch(one->plan, &args, l->stream);
    gt_xla_error *error = status == GEMMTUNE_OK ? NULL : refuse_status(call, status);
    if (args.workspace != NULL) {
        struct gt_xla_free_args memory = {sizeof memory, NULL, call->ctx, one->workspace,
                                          args.workspace};
        gt_xla_error *freed = call->api->memory_free(&memory);
        error = error != NULL ? error : freed;
    }
    return error;
}

/* The index of the call's device; 0 with a version of XLA that does not say. */
static gt_xla_error *find_ordinal(int32_t *out, const struct gt_xla_call *call) {
    struct gt_xla_ordinal_args args = {.struct_size = sizeof args, .ctx = call->ctx};
    gt_xla_error *error = NULL;
    const size_t needed = offsetof(struct gt_xla_api, ordinal_get) + sizeof(void *);
    if (call->api->struct_size >= needed)
        error = call->api->ordinal_get(&args);
    *out = args.ordinal;
    return error;
}

static gt_xla_error *run_on_cuda(const struct gt_xla_call *call) {
    struct gt_xla_stream_args stream = {.struct_size = sizeof stream, .ctx = call->ctx};
    struct launch l = {.call = call};
    struct product x;
    int32_t ordinal;
    gt_xla_error *error = read_product(&x, call);
    if (error == NULL)
        error = find_ordinal(&ordinal, call);
    if (error == NULL)
        error = call->api->stream_get(&stream);
    if (error != NULL || is_empty(&x))
        return error;
    l.ctx = ordinal >= 0 && ordinal < DEVICES_MAX ? contexts[ordinal] : NULL;
    l.stream = stream.stream;
    if (l.ctx == NULL)
        return refuse(call, GT_XLA_INTERNAL, "gemmtune.jax has not opened this device");
    if (x.operands > 0)
        return x.batch.outer > 0
                   ? refuse(call, GT_XLA_UNIMPLEMENTED,
                            "an epilogue's operands beside two batches: broadcast a and b")
                   : run_plan(&x, &l);
    const gemmtune_status status = for_each(&x, run_gemm, &l);
    return status == GEMMTUNE_OK ? NULL : refuse_status(call, status);
}

/* ---- on the host --------------------------------------------------------------------- */

/* gemmtune_host_gemm has no batches. */
static gemmtune_status run_on_host(const struct product *x, const void *a, const void *b,
                                   void *to, void *user) {
    gemmtune_ctx *const ctx = user;
    gemmtune_problem one = x->problem;
    gemmtune_args args;
    gemmtune_status status = GEMMTUNE_OK;
    one.batch = 1;
    for (int64_t i = 0; status == GEMMTUNE_OK && i < x->problem.batch; i++) {
        gemmtune_args_init(&args);
        args.alpha = number(x, true);
        args.beta = number(x, false);
        args.a = a;
        args.b = b;
        args.c = to;
        args.a_offset = x->problem.batch > 1 ? i * x->problem.stride_a : 0;
        args.b_offset = x->problem.batch > 1 ? i * x->problem.stride_b : 0;
        args.c_offset = i * one.m * one.n;
        status = gemmtune_host_gemm(&ctx, 1, &one, &args, NULL, NULL);
    }
    return status;
}

static gt_xla_error *run_in_host_memory(const struct gt_xla_call *call) {
    struct product x;
    gt_xla_error *error = read_product(&x, call);
    if (error != NULL || is_empty(&x))
        return error;
    if (contexts[DEVICES_MAX] == NULL)
        return refuse(call, GT_XLA_INTERNAL, "gemmtune.jax has not opened a device");
    const gemmtune_status status = for_each(&x, run_on_host, contexts[DEVICES_MAX]);
    return status == GEMMTUNE_OK ? NULL : refuse_status(call, status);
}

/* ---- handlers ------------------------------------------------------------------------ */

/* XLA asks a handler for its version before it calls it. Ours knows structs that only grow,
 * so it is of the version that asks. */
static bool answer_metadata(const struct gt_xla_call *call) {
    if (call->extension == NULL || call->extension->type != GT_XLA_METADATA)
        return false;
    struct gt_xla_metadata *told =
        ((struct gt_xla_metadata_extension *)call->extension)->metadata;
    told->version.struct_size = sizeof told->version;
    told->version.major = call->api->version.major;
    told->version.minor = call->api->version.minor;
    told->traits = 0;
    return true;
}

gt_xla_error *gemmtune_jax_cuda(struct gt_xla_call *call) {
    return answer_metadata(call) ? NULL : run_on_cuda(call);
}

gt_xla_error *gemmtune_jax_host(struct gt_xla_call *call) {
    return answer_metadata(call) ? NULL : run_in_host_memory(call);
}
