/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/stream/stream.h"

#include "core/element.h"
#include "tuner/base/quantile.h"
#include "tuner/stream/proof.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Everything that is open while a stream runs. */
struct work {
    const struct gt_stream_setup *setup;
    struct gt_stream *out;
    struct gt_contest contest;
    struct gt_link *link; /* of the first device */
    struct gt_matrices matrices;
    struct gt_proof *proof;
    struct gt_resident *resident;
    struct gt_cublasxt *cublasxt;
    union gt_value alpha, beta; /* of the accumulator's type */
};

static void say(const struct work *w, const char *what) {
    if (w->setup->step != NULL)
        w->setup->step(w->setup->user, what);
}

/* ---- opening ------------------------------------------------------------------------- */

static gt_status open_devices(struct work *w, const struct gt_device *const *device,
                              int devices, const char *db_path, struct gt_err *err) {
    struct gt_contest *c = &w->contest;
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < devices; i++) {
        gemmtune_target target;
        status = gt_rig_open(&c->rig[i], device[i], err);
        if (status != GEMMTUNE_OK)
            break;
        c->devices = i + 1;
        /* Each rig's context is made current by its opening; the handle outlives that. */
        target = gt_rig_head(c->rig[i])->gpu->target;
        status = gemmtune_open(&c->ctx[i], db_path, &target);
        if (status != GEMMTUNE_OK)
            (void)gt_fail(err, status, "%s", gemmtune_errmsg());
    }
    if (status == GEMMTUNE_OK)
        status = gt_link_open(&w->link, gt_rig_head(c->rig[0])->gpu, err);
    return status == GEMMTUNE_OK ? w->link->ops->attach(w->link, err) : status;
}

static void close_all(struct work *w) {
    struct gt_contest *c = &w->contest;
    gt_cublasxt_close(w->cublasxt);
    gt_resident_close(w->resident);
    gt_proof_destroy(w->proof);
    gt_matrices_close(&w->matrices);
    if (w->link != NULL)
        w->link->ops->detach(w->link);
    gt_link_close(w->link);
    for (int i = 0; i < c->devices; i++)
        gemmtune_close(c->ctx[i]);
    for (int i = 0; i < c->devices; i++)
        gt_rig_close(c->rig[i]);
}

static struct gt_proof_data proof_data(const struct work *w) {
    return (struct gt_proof_data){w->contest.p, w->contest.alpha, w->contest.beta,
                                  w->contest.a, w->contest.b,     w->contest.c};
}

/* The factors as the kernels get them: rounded to the accumulator's type. */
static void set_factors(struct work *w) {
    const gemmtune_dtype type = w->setup->p.type_acc;
    w->alpha = gt_value_of(type, w->setup->alpha);
    w->beta = gt_value_of(type, w->setup->beta);
    w->contest.alpha = gt_element_get(&w->alpha, type);
    w->contest.beta = gt_element_get(&w->beta, type);
}

static gt_status open_matrices(struct work *w, struct gt_err *err) {
    const struct gt_stream_setup *s = w->setup;
    struct gt_contest *c = &w->contest;
    const bool made = s->path[0] == NULL || s->path[1] == NULL || s->path[2] == NULL;
    say(w, !made         ? "mapping the files"
           : s->pageable ? "making the matrices"
                         : "making and pinning the matrices");
    gt_status status = gt_matrices_open(&w->matrices, &s->p, s->pageable ? NULL : w->link,
                                        s->path, s->seed, err);
    if (status != GEMMTUNE_OK)
        return status;
    c->p = &s->p;
    c->a = w->matrices.data[0];
    c->b = w->matrices.data[1];
    c->c = w->matrices.data[2];
    set_factors(w);
    for (int i = 0; i < 3; i++)
        w->out->bytes += (double)w->matrices.bytes[i];
    const struct gt_proof_data data = proof_data(w);
    return gt_proof_begin(&w->proof, &data, s->seed, err);
}

/* ---- contestants --------------------------------------------------------------------- */

/* Stops as well when a file has let us down: the rest would be for nothing. */
static int watch(void *user, const gemmtune_host_progress *progress) {
    const struct work *w = user;
    struct gt_err unread;
    const bool stop =
        w->setup->progress != NULL && w->setup->progress(w->setup->user, progress) != 0;
    return stop || gt_matrices_check(&w->matrices, &unread) != GEMMTUNE_OK;
}

static gt_status run_own(double *seconds, struct work *w, bool first, struct gt_err *err) {
    const struct gt_stream_setup *s = w->setup;
    gemmtune_host_options options;
    gemmtune_host_report report;
    gemmtune_args args;
    gemmtune_host_options_init(&options);
    gemmtune_host_report_init(&report);
    gemmtune_args_init(&args);
    options.order = s->five_buffers ? GEMMTUNE_HOST_FIVE_BUFFERS : GEMMTUNE_HOST_PLANNED;
    options.threads = s->threads;
    options.memory_max = (size_t)s->memory;
    options.tile_m = s->tile[0];
    options.tile_n = s->tile[1];
    options.tile_k = s->tile[2];
    options.progress = watch;
    options.user = w;
    args.alpha = &w->alpha;
    args.beta = &w->beta;
    args.a = w->contest.a;
    args.b = w->contest.b;
    args.c = w->contest.c;
    if (first) {
        options.trace = gt_timeline_take;
        options.trace_user = &w->out->timeline;
    }
    const gemmtune_status status = gemmtune_host_gemm(w->contest.ctx, w->contest.devices,
                                                      &s->p, &args, &options, &report);
    if (first)
        w->out->report = report;
    *seconds = report.seconds;
    return status == GEMMTUNE_OK ? status : gt_fail(err, status, "%s", gemmtune_errmsg());
}

static void leave_out(struct gt_stream_times *t, const struct gt_err *err) {
    snprintf(t->why, sizeof t->why, "%.*s", (int)sizeof t->why - 1, err->line);
}

/* The fastest of cublasXt's block sizes, each tried once. */
static gt_status choose_block(struct work *w, struct gt_err *err) {
    struct gt_stream_times *t = &w->out->cublasxt;
    double best = 0;
    gt_status status = GEMMTUNE_OK;
    for (const int *block = gt_cublasxt_blocks; status == GEMMTUNE_OK && *block; block++) {
        double seconds = 0;
        char text[64];
        snprintf(text, sizeof text, "cublasXt with blocks of %d", *block);
        say(w, text);
        status = gt_cublasxt_time(&seconds, w->cublasxt, *block, err);
        if (status == GEMMTUNE_OK && (best == 0 || seconds < best)) {
            best = seconds;
            t->block = *block;
        }
    }
    return status;
}

/* The product of a whole slab as a problem that users can tune. */
static void name_slab(struct work *w) {
    const gemmtune_host_report *r = &w->out->report;
    gemmtune_problem slab = w->setup->p;
    if (r->tiles == 0)
        return;
    slab.m = r->tile_m;
    slab.n = r->tile_n;
    slab.k = r->tile_k;
    slab.lda = slab.ldb = slab.ldc = 0;
    slab.reads_c = w->contest.beta != 0 || r->tile_k < w->setup->p.k;
    (void)gemmtune_problem_format(&slab, w->out->slab, sizeof w->out->slab);
}

/* A contestant that cannot take part is left out, with the reason. */
static void open_contestants(struct work *w) {
    struct gt_err err;
    gt_status status;
    if (w->setup->cublasxt) {
        status = gt_cublasxt_open(&w->cublasxt, &w->contest, &err);
        if (status == GEMMTUNE_OK)
            status = choose_block(w, &err);
        w->out->cublasxt.took_part = status == GEMMTUNE_OK;
        if (status != GEMMTUNE_OK)
            leave_out(&w->out->cublasxt, &err);
    }
    if (w->setup->resident) {
        say(w, "copying everything to the device");
        status = gt_resident_open(&w->resident, &w->contest, &err);
        w->out->resident.took_part = status == GEMMTUNE_OK;
        if (status != GEMMTUNE_OK)
            leave_out(&w->out->resident, &err);
    }
}

/* ---- rounds -------------------------------------------------------------------------- */

static gt_status check(struct work *w, struct gt_err *err) {
    const struct gt_proof_data data = proof_data(w);
    struct gt_err wrong = {""};
    say(w, "checking the product");
    const gt_status status = gt_proof_end(&w->out->worst, w->proof, &data, &wrong);
    w->out->correct = status == GEMMTUNE_OK;
    memcpy(w->out->wrong, wrong.line, sizeof w->out->wrong - 1);
    return status == GEMMTUNE_ENOMEM ? gt_fail(err, status, "%s", wrong.line) : GEMMTUNE_OK;
}

/* The first round's product is the one that is checked and reported; contestants that write
 * to C begin after the check. */
static gt_status play_round(struct work *w, int round, struct gt_err *err) {
    struct gt_stream *out = w->out;
    say(w, "multiplying");
    gt_status status = run_own(&out->own.seconds[round], w, round == 0, err);
    if (status == GEMMTUNE_OK && round == 0) {
        name_slab(w);
        status = check(w, err);
        if (status == GEMMTUNE_OK && out->correct)
            status = gt_matrices_keep_c(&w->matrices, err);
        if (status == GEMMTUNE_OK && out->correct)
            open_contestants(w);
    }
    if (status == GEMMTUNE_OK && out->resident.took_part) {
        say(w, "multiplying on the device alone");
        status = gt_resident_time(&out->resident.seconds[round], w->resident,
                                  out->own.seconds[round], err);
    }
    if (status == GEMMTUNE_OK && out->cublasxt.took_part) {
        say(w, "cublasXt");
        status = gt_cublasxt_time(&out->cublasxt.seconds[round], w->cublasxt,
                                  out->cublasxt.block, err);
    }
    return status;
}

/* The fate of a file comes first: a stop or a wrong product may follow from it. */
static gt_status say_files(const struct work *w, gt_status status, struct gt_err *err) {
    struct gt_err file = {""};
    const gt_status files = gt_matrices_check(&w->matrices, &file);
    if (files != GEMMTUNE_OK)
        return gt_fail(err, files, "%s", file.line);
    const bool undone = w->matrices.npy[2].file.part[0] != '\0';
    char fate[160];
    gt_stream_unkept(fate, sizeof fate, w->setup->path[2]);
    if (status != GEMMTUNE_OK && undone && w->out->report.tiles > 0)
        return gt_fail(err, status, "%.340s%s", err->line, fate);
    return status;
}

static gt_status run(struct work *w, struct gt_err *err) {
    gt_status status = open_matrices(w, err);
    w->out->own.took_part = true;
    for (int i = 0; status == GEMMTUNE_OK && i < w->setup->rounds; i++) {
        status = play_round(w, i, err);
        if (!w->out->correct)
            break;
    }
    return say_files(w, status, err);
}

gt_status gt_stream_run(struct gt_stream *out, const struct gt_stream_setup *setup,
                        const struct gt_device *const *device, int devices,
                        const char *db_path, struct gt_err *err) {
    struct work w = {.setup = setup, .out = out};
    memset(out, 0, sizeof *out);
    gt_status status = open_devices(&w, device, devices, db_path, err);
    if (status == GEMMTUNE_OK)
        status = run(&w, err);
    close_all(&w);
    return status;
}

void gt_stream_unkept(char *text, size_t size, const char *path) {
    const bool old = path != NULL && access(path, F_OK) == 0;
    (void)snprintf(text, size, "; %.130s%s", old ? path : "no C was written",
                   old ? " is as it was" : "");
}

void gt_stream_clear(struct gt_stream *s) {
    gt_timeline_clear(&s->timeline);
}

/* ---- results ------------------------------------------------------------------------- */

double gt_stream_median(const struct gt_stream_times *t, int rounds) {
    double copy[GT_STREAM_ROUNDS_MAX];
    if (!t->took_part)
        return 0;
    memcpy(copy, t->seconds, sizeof copy);
    return gt_median(copy, (size_t)rounds);
}

double gt_stream_ratio(const struct gt_stream *s, const struct gt_stream_times *t,
                       int rounds) {
    double ratio[GT_STREAM_ROUNDS_MAX];
    if (!t->took_part)
        return 0;
    for (int i = 0; i < rounds; i++)
        ratio[i] = t->seconds[i] / s->own.seconds[i];
    return gt_median(ratio, (size_t)rounds);
}
