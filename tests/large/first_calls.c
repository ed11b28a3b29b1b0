/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first_calls.c - how long a program waits for the first product of each of many shapes,
 * and how fast the kernel is that it gets.
 *
 *     first_calls FILE behind|wait   reads names of problems, a line each
 *
 * It opens the first device with the results of the database FILE, and prints for each
 * problem a line of CSV: its name, the milliseconds of its first call (the plan and the
 * launch, without the product), the kernel's time in nanoseconds, and whether a better
 * kernel is being built. With `behind` the context has GEMMTUNE_OPEN_BUILD_BEHIND. Which
 * images are cached is up to the caller (GEMMTUNE_CACHE_DIR). Problems are packed: single
 * products, and batches with strides.
 */
#include "core/problem/problem.h"
#include "include/gemmtune.h"
#include "tuner/base/quantile.h"
#include "tuner/rig/probe.h"
#include "tuner/rig/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 9, WORKSPACE = 32 << 20 };

static const int64_t room = INT64_C(1) << 30; /* bytes of each matrix */

struct setting {
    struct gt_rig *rig;
    const struct gt_rig_ops *ops;
    gemmtune_ctx *ctx;
    void *a, *b, *c, *workspace;
    gemmtune_plan *plan;      /* of the present problem */
    const void *alpha, *beta; /* of its type */
};

static void check(bool done, const char *what, const char *why) {
    if (done)
        return;
    (void)fprintf(stderr, "first_calls: %s: %s\n", what, why);
    exit(1);
}

static double now_ms(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* ---- the device ---------------------------------------------------------------------- */

static void *allocate(const struct setting *s, int64_t bytes) {
    struct gt_err err = {""};
    void *memory = NULL;
    check(s->ops->alloc(&memory, s->rig, bytes, &err) == GEMMTUNE_OK, "memory", err.line);
    return memory;
}

/* Random numbers of every type: as f32 from 0.5 to 1, and finite as two of 16 bits. */
static void *random_matrix(const struct setting *s, uint32_t seed) {
    enum { WORDS = 1 << 20 };
    struct gt_err err = {""};
    void *const memory = allocate(s, room);
    uint32_t *const part = malloc(WORDS * sizeof *part);
    check(part != NULL, "memory", "out of memory");
    for (int i = 0; i < WORDS; i++) {
        seed = seed * 1664525U + 1013904223U;
        part[i] = (seed >> 8 & 0x007f3fffU) | 0x3f000000U;
    }
    for (int64_t at = 0; at < room; at += WORDS * (int64_t)sizeof *part)
        check(s->ops->write(s->rig, memory, at, part, WORDS * (int64_t)sizeof *part,
                            &err) == GEMMTUNE_OK,
              "data", err.line);
    free(part);
    return memory;
}

static void begin(struct setting *s, const char *database, bool behind) {
    struct gt_device_list list;
    struct gt_err err = {""};
    gemmtune_target target;
    check(gt_probe_devices(&list, &err) == GEMMTUNE_OK && list.count > 0, "no device",
          err.line);
    check(gt_rig_open(&s->rig, &list.device[0], &err) == GEMMTUNE_OK, "device", err.line);
    s->ops = gt_rig_head(s->rig)->ops;
    s->a = random_matrix(s, 1);
    s->b = random_matrix(s, 2);
    s->c = random_matrix(s, 3);
    s->workspace = allocate(s, WORKSPACE);
    s->ops->target(&target, s->rig);
    target.flags = behind ? GEMMTUNE_OPEN_BUILD_BEHIND : 0;
    check(gemmtune_open(&s->ctx, database, &target) == GEMMTUNE_OK, database,
          gemmtune_errmsg());
    gt_devices_clear(&list);
}

/* ---- a problem ----------------------------------------------------------------------- */

static bool fits(const gemmtune_problem *p) {
    const int64_t products = p->batch > 1 ? p->batch : 1;
    return p->m * p->k * products * (int64_t)gt_type_size(p->type_a) <= room &&
           p->k * p->n * products * (int64_t)gt_type_size(p->type_b) <= room &&
           p->m * p->n * products * (int64_t)gt_type_size(p->type_c) <= room;
}

static gt_status launch(void *user, struct gt_err *err) {
    const struct setting *s = user;
    const gt_status status = gemmtune_execute(s->plan, s->alpha, s->a, s->b, s->beta, s->c,
                                              s->workspace, gt_rig_head(s->rig)->stream);
    return status == GEMMTUNE_OK ? status : gt_fail(err, status, "%s", gemmtune_errmsg());
}

/* The median time of a product, in ns. */
static double time_product(struct setting *s, const char *name) {
    struct gt_batch *batch = NULL;
    struct gt_err err = {""};
    double ns[ROUNDS];
    check(s->ops->batch(&batch, s->rig, launch, s, &err) == GEMMTUNE_OK, name, err.line);
    for (int i = 0; i < ROUNDS; i++)
        check(s->ops->time(batch, &ns[i], &err) == GEMMTUNE_OK, name, err.line);
    s->ops->batch_destroy(batch);
    return gt_median(ns, ROUNDS);
}

static void set_scalars(struct setting *s, const gemmtune_problem *p) {
    static const double one = 1, zero = 0;
    static const float one_f = 1, zero_f = 0;
    static const int32_t one_i = 1, zero_i = 0;
    const bool is_double = p->type_acc == GEMMTUNE_F64,
               is_int = p->type_acc == GEMMTUNE_I32;
    s->alpha = is_double ? (const void *)&one : is_int ? (const void *)&one_i : &one_f;
    s->beta = is_double ? (const void *)&zero : is_int ? (const void *)&zero_i : &zero_f;
}

static void do_problem(struct setting *s, const char *name) {
    gemmtune_plan_info info = {.struct_size = sizeof info};
    struct gt_err err = {""};
    gemmtune_problem p;
    check(gemmtune_problem_parse(&p, name) == GEMMTUNE_OK, name, gemmtune_errmsg());
    if (!fits(&p))
        return;
    set_scalars(s, &p);
    const double began = now_ms();
    check(gemmtune_plan_create(&s->plan, s->ctx, &p, GEMMTUNE_MATCH_DEFAULT, WORKSPACE) ==
              GEMMTUNE_OK,
          name, gemmtune_errmsg());
    check(launch(s, &err) == GEMMTUNE_OK, name, err.line);
    const double ms = now_ms() - began;
    check(s->ops->finish(s->rig, &err) == GEMMTUNE_OK, name, err.line);
    check(gemmtune_plan_describe(s->plan, &info) == GEMMTUNE_OK, name, gemmtune_errmsg());
    (void)printf("%s,%.3f,%.0f,%d\n", name, ms, time_product(s, name),
                 info.better != GEMMTUNE_BETTER_NONE);
    gemmtune_plan_destroy(s->plan);
}

int main(int argc, char **argv) {
    struct setting s = {.rig = NULL};
    char name[512];
    const bool behind = argc == 3 && strcmp(argv[2], "behind") == 0;
    if (argc != 3 || !(behind || strcmp(argv[2], "wait") == 0)) {
        (void)fprintf(stderr, "usage: first_calls FILE behind|wait\n");
        return 2;
    }
    begin(&s, argv[1], behind);
    while (fgets(name, sizeof name, stdin) != NULL) {
        name[strcspn(name, "\n")] = '\0';
        do_problem(&s, name);
    }
    gemmtune_close(s.ctx);
    gt_rig_close(s.rig);
    return 0;
}
