/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/host/rates.h"

#include "core/clock.h"
#include "runtime/host/link.h"
#include "runtime/host/slab.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    COPY_BYTES = 32 * 1024 * 1024,
    ROW_BYTES = 4096,  /* of short rows, which lie */
    ROW_PITCH = 65536, /* so many bytes apart */
    COPIES = 4,        /* copies in a measurement */
    SIDE_LEAST = 16,   /* of a product that is timed in little memory */
    SIDE_FIRST = 512,  /* of the first product that is timed */
    SIDE_LAST = 4096,
    COPIER_THREADS_KNOWN = 65 /* up to 64 */
};

static const double long_enough = 2e-3; /* seconds; a shorter product is made larger */

/* ---- the link ---- */

struct bench {
    struct gt_link *link;
    void *queue[2]; /* in, out */
    void *host[2];
    void *memory[2];
    int64_t bytes;
};

static void bench_close(struct bench *b) {
    const struct gt_link_ops *ops = b->link->ops;
    struct gt_err ignored;
    for (int i = 0; i < 2; i++) {
        if (b->queue[i] != NULL) {
            (void)ops->finish(b->link, b->queue[i], &ignored);
            ops->queue_close(b->link, b->queue[i]);
        }
        if (b->host[i] != NULL)
            ops->host_release(b->link, b->host[i]);
        if (b->memory[i] != NULL)
            ops->release(b->link, b->memory[i]);
    }
}

static gt_status bench_open(struct bench *b, struct gt_link *link, int64_t bytes,
                            struct gt_err *err) {
    const struct gt_link_ops *ops = link->ops;
    gt_status status = GEMMTUNE_OK;
    *b = (struct bench){.link = link, .bytes = bytes};
    for (int i = 0; status == GEMMTUNE_OK && i < 2; i++) {
        status = ops->queue_open(&b->queue[i], link, err);
        if (status == GEMMTUNE_OK)
            status = ops->host_alloc(&b->host[i], link, bytes, err);
        if (status == GEMMTUNE_OK)
            status = ops->alloc(&b->memory[i], link, bytes, err);
        if (status == GEMMTUNE_OK)
            memset(b->host[i], 0, (size_t)bytes);
    }
    return status;
}

/* Enqueues COPIES copies of a box one way, between two events. */
static gt_status enqueue_copies(struct bench *b, int way, const struct gt_box *box,
                                void *event[2], struct gt_err *err) {
    const struct gt_link_ops *ops = b->link->ops;
    gt_status status = ops->record(&event[0], b->link, b->queue[way], err);
    for (int i = 0; status == GEMMTUNE_OK && i < COPIES; i++)
        status = way == 0 ? ops->copy_in(b->link, b->queue[way], box, err)
                          : ops->copy_out(b->link, b->queue[way], box, err);
    return status == GEMMTUNE_OK ? ops->record(&event[1], b->link, b->queue[way], err)
                                 : status;
}

/* Waits for the second event; seconds between both. Releases them. */
static gt_status end_copies(double *seconds, struct bench *b, void *event[2],
                            gt_status status, struct gt_err *err) {
    const struct gt_link_ops *ops = b->link->ops;
    if (status == GEMMTUNE_OK && event[1] != NULL)
        status = ops->join(b->link, event[1], err);
    if (status == GEMMTUNE_OK && event[1] != NULL)
        status = ops->seconds(seconds, b->link, event[0], event[1], err);
    for (int i = 0; i < 2; i++)
        if (event[i] != NULL)
            ops->event_release(b->link, event[i]);
    return status;
}

/* Bytes per second of the ways in `ways` (1 in, 2 out, 3 both at once). */
static gt_status time_copies(double rate[2], struct bench *b, unsigned ways,
                             struct gt_err *err) {
    void *event[2][2] = {{NULL, NULL}, {NULL, NULL}};
    gt_status status = GEMMTUNE_OK;
    for (int way = 0; status == GEMMTUNE_OK && way < 2; way++) {
        const struct gt_box box = {b->host[way], b->bytes, b->memory[way], 0, b->bytes,
                                   b->bytes,     1};
        if (ways >> way & 1U)
            status = enqueue_copies(b, way, &box, event[way], err);
    }
    for (int way = 0; way < 2; way++) {
        double seconds = 0;
        status = end_copies(&seconds, b, event[way], status, err);
        if (seconds > 0)
            rate[way] = COPIES * (double)b->bytes / seconds;
    }
    return status;
}

/* The cost of a short row beside its bytes: of a box with rows that lie far apart. */
static gt_status time_rows(double *row, struct bench *b, double rate, struct gt_err *err) {
    const int64_t rows = b->bytes / ROW_PITCH;
    const struct gt_box box = {b->host[0], ROW_PITCH, b->memory[0], 0,
                               ROW_BYTES,  ROW_BYTES, rows};
    void *event[2] = {NULL, NULL};
    double seconds = 0;
    *row = 0;
    if (rows == 0)
        return GEMMTUNE_OK;
    gt_status status = enqueue_copies(b, 0, &box, event, err);
    status = end_copies(&seconds, b, event, status, err);
    const double own = seconds / (double)(COPIES * rows) - ROW_BYTES / rate;
    if (own > 0)
        *row = own / (1 - (double)ROW_BYTES / GT_HOST_LONG_ROW);
    return status;
}

static int64_t copied_bytes(int64_t memory) {
    const int64_t bytes = memory / 4 < COPY_BYTES ? memory / 4 : COPY_BYTES;
    return bytes > ROW_BYTES ? bytes : ROW_BYTES;
}

static gt_status measure_link(struct gt_host_rates *r, struct gt_link *link, int64_t memory,
                              struct gt_err *err) {
    struct bench b;
    double each[2] = {0}, both[2] = {0};
    gt_status status = bench_open(&b, link, copied_bytes(memory), err);
    for (int turn = 0; turn < 2; turn++) { /* the first turn is a warm-up */
        for (unsigned way = 1; status == GEMMTUNE_OK && way <= 2; way++)
            status = time_copies(each, &b, way, err);
        if (status == GEMMTUNE_OK)
            status = time_copies(both, &b, 3, err);
        if (status == GEMMTUNE_OK)
            status = time_rows(&r->row, &b, each[0], err);
    }
    bench_close(&b);
    r->in = each[0];
    r->out = each[1];
    r->both_in = both[0] < each[0] ? both[0] : each[0];
    r->both_out = both[1] < each[1] ? both[1] : each[1];
    if (status == GEMMTUNE_OK &&
        !(r->in > 0 && r->out > 0 && r->both_in > 0 && r->both_out > 0))
        return gt_fail(err, GEMMTUNE_EDEVICE, "copies to and from the device take no time");
    return status;
}

/* ---- a product ----------------------------------------------------------------------- */

static int64_t at_most(int64_t x, int64_t most) {
    return x < most ? x : most;
}

/* The product of one tile. Its sides are at most `side` and at most the problem's. */
static struct gt_host_cut one_tile(const struct gt_host_cut *cut, int64_t side) {
    struct gt_host_cut one = *cut;
    gemmtune_problem *p = &one.problem;
    p->m = at_most(p->m, side);
    p->n = at_most(p->n, side);
    p->k = at_most(p->k, side);
    one.tile[0] = p->m;
    one.tile[1] = p->n;
    one.tile[2] = p->k;
    one.slots[GT_A] = one.slots[GT_B] = one.slots[GT_C] = 1;
    one.tail = 1;
    return one;
}

static bool is_in_memory(const struct gt_host_cut *cut, int64_t side, int64_t memory) {
    const struct gt_host_cut one = one_tile(cut, side);
    return gt_host_slot_bytes(&one) <= memory / 2;
}

/* The side of the first product that is timed: SIDE_FIRST, or less in little memory. */
static int64_t first_side(const struct gt_host_cut *cut, int64_t memory) {
    int64_t side = SIDE_FIRST;
    while (side > SIDE_LEAST && !is_in_memory(cut, side, memory))
        side /= 2;
    return side;
}

static int64_t longest_side(const gemmtune_problem *p) {
    const int64_t mn = p->m > p->n ? p->m : p->n;
    return mn > p->k ? mn : p->k;
}

/* Times larger and larger products until one takes long enough, or is the whole problem. */
static gt_status measure_product(double *flops, struct gt_link *link, gemmtune_ctx *ctx,
                                 const struct gt_host_cut *cut, int64_t memory,
                                 struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    double seconds = 0;
    const int64_t first = first_side(cut, memory), longest = longest_side(&cut->problem);
    for (int64_t side = first; side <= SIDE_LAST && seconds < long_enough; side *= 2) {
        const struct gt_host_cut one = one_tile(cut, side);
        if (side > first && (side / 2 >= longest || !is_in_memory(cut, side, memory)))
            break;
        status = gt_host_slab_time(&seconds, link, ctx, &one, memory / 4, err);
        if (status != GEMMTUNE_OK)
            return status;
        *flops = gt_host_product_flops(one.tile[0], one.tile[1], one.tile[2], seconds);
    }
    return status;
}

/* ---- memory of measurements ---------------------------------------------------------- */

/* A device, and the class of what was measured on it. */
struct rates_class {
    char device[sizeof(((struct gt_device *)0)->uuid)];
    gemmtune_backend backend;
    int ordinal;
    int copy;     /* binary digits of the bytes of a copy */
    size_t types; /* gt_dtype_index */
    int volume;   /* binary digits of the product that is timed; 0: none */
};

/* Measurements of this process. Classes are few, but a program may have hundreds. */
static struct {
    pthread_mutex_t lock;
    size_t count;
    struct known {
        struct rates_class of;
        struct gt_host_rates rates;
    } * known;
} memory_of = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The rate of a small product says little about the rate of a large one, and short copies
 * say little about long ones. Problems share a measurement when the products and the copies
 * that would be timed have the same number of binary digits. Without sums no product is
 * timed. */
static struct rates_class class_of(const gemmtune_ctx *ctx, const struct gt_host_cut *cut,
                                   int64_t memory) {
    const struct gt_device *d = gt_ctx_device(ctx);
    const struct gt_host_cut one = one_tile(cut, SIDE_LAST);
    const gemmtune_problem *p = &one.problem;
    struct rates_class c = {.backend = d->backend, .ordinal = d->ordinal};
    memcpy(c.device, d->uuid, sizeof c.device);
    (void)frexp((double)copied_bytes(memory), &c.copy);
    if (cut->sums) {
        (void)frexp((double)p->m * (double)p->n * (double)p->k, &c.volume);
        c.types = gt_dtype_index(gt_dtype_of(&cut->problem));
    }
    return c;
}

static bool same_link(const struct rates_class *x, const struct rates_class *y) {
    return x->backend == y->backend && x->ordinal == y->ordinal && x->copy == y->copy &&
           strcmp(x->device, y->device) == 0;
}

/* Finds the rates of the class. *link_known: the rates of the link at least. */
static bool recall(struct gt_host_rates *rates, bool *link_known,
                   const struct rates_class *of) {
    bool found = false;
    *link_known = false;
    (void)pthread_mutex_lock(&memory_of.lock);
    for (size_t i = 0; !found && i < memory_of.count; i++) {
        const struct known *x = &memory_of.known[i];
        if (!same_link(&x->of, of))
            continue;
        found = x->of.types == of->types && x->of.volume == of->volume;
        if (found || !*link_known)
            *rates = x->rates;
        *link_known = true;
    }
    (void)pthread_mutex_unlock(&memory_of.lock);
    return found;
}

/* Without memory the next call measures again. */
static void remember(const struct rates_class *of, const struct gt_host_rates *rates) {
    (void)pthread_mutex_lock(&memory_of.lock);
    struct known *grown =
        realloc(memory_of.known, (memory_of.count + 1) * sizeof *memory_of.known);
    if (grown != NULL) {
        memory_of.known = grown;
        grown[memory_of.count++] = (struct known){*of, *rates};
    }
    (void)pthread_mutex_unlock(&memory_of.lock);
}

/* Measures a product, and the link unless *r has its rates. */
static gt_status measure(struct gt_host_rates *r, bool link_known, gemmtune_ctx *ctx,
                         const struct gt_host_cut *cut, int64_t memory,
                         struct gt_err *err) {
    struct gt_link *link = NULL;
    gt_status status = gt_link_open(&link, ctx->gpu, err);
    if (status == GEMMTUNE_OK)
        status = link->ops->attach(link, err);
    if (status != GEMMTUNE_OK) {
        gt_link_close(link);
        return status;
    }
    if (!link_known)
        status = measure_link(r, link, memory, err);
    r->flops = 1e30; /* without sums, a tile costs a launch */
    if (status == GEMMTUNE_OK && cut->sums)
        status = measure_product(&r->flops, link, ctx, cut, memory, err);
    link->ops->detach(link);
    gt_link_close(link);
    return status;
}

/* ---- copies through staging memory --------------------------------------------------- */

static gt_status time_copier(double *rate, struct gt_copier *copier, struct gt_err *err) {
    char *from = calloc(1, COPY_BYTES), *to = calloc(1, COPY_BYTES);
    double best = 0;
    for (int i = 0; from != NULL && to != NULL && i < 3; i++) {
        const double begin = gt_seconds();
        gt_copier_copy(copier, to, 4096, from, 4096, 4096, COPY_BYTES / 4096);
        const double seconds = gt_seconds() - begin;
        best = best == 0 || seconds < best ? seconds : best;
    }
    const bool done = best > 0;
    free(from);
    free(to);
    *rate = done ? COPY_BYTES / best : 0;
    return done ? GEMMTUNE_OK : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

/* Measured once for each number of threads. */
static gt_status copier_rate(double *rate, struct gt_copier *copier, struct gt_err *err) {
    static _Atomic(double) known[COPIER_THREADS_KNOWN];
    const int threads = gt_copier_threads(copier);
    const bool kept = threads < COPIER_THREADS_KNOWN;
    *rate = kept ? atomic_load(&known[threads]) : 0;
    if (*rate > 0)
        return GEMMTUNE_OK;
    const gt_status status = time_copier(rate, copier, err);
    if (status == GEMMTUNE_OK && kept)
        atomic_store(&known[threads], *rate);
    return status;
}

static double smaller(double x, double y) {
    return x < y ? x : y;
}

gt_status gt_host_rates_of(struct gt_host_rates *out, double link[2], gemmtune_ctx *ctx,
                           const struct gt_host_cut *cut, int64_t memory,
                           struct gt_copier *staged, struct gt_err *err) {
    const struct rates_class of = class_of(ctx, cut, memory);
    gt_status status = GEMMTUNE_OK;
    double copier = 0;
    bool link_known;
    *out = (struct gt_host_rates){0};
    if (!recall(out, &link_known, &of)) {
        status = measure(out, link_known, ctx, cut, memory, err);
        if (status == GEMMTUNE_OK)
            remember(&of, out);
    }
    if (status == GEMMTUNE_OK && staged != NULL)
        status = copier_rate(&copier, staged, err);
    link[0] = out->in;
    link[1] = out->out;
    if (copier > 0) {
        out->row = 0; /* threads pack the rows */
        out->in = smaller(out->in, copier);
        out->out = smaller(out->out, copier);
        out->both_in = smaller(out->both_in, copier / 2);
        out->both_out = smaller(out->both_out, copier / 2);
    }
    return status;
}
