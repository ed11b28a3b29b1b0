/* SPDX-License-Identifier: Apache-2.0 */
/* plan_choose.c - see plan_choose.h. */
#include "runtime/plan_choose.h"

#include "core/log.h"

enum {
    TRIES_MAX = 32,  /* choices that may fail to build before a plan gives up */
    RECORDS_MAX = 8, /* records among them: when so many fail, records are not the cause */
    ASKED_MAX = 64   /* choices that are looked for in the cache; 0.3 ms each */
};

/* ---- choices that failed ------------------------------------------------------------- */

/* Choices that failed to build: records, and families by their default points. When only
 * cached images are wanted, those that are not cached are skipped as well. */
struct failures {
    const struct gt_gpu *gpu;
    bool only_cached;
    int asked; /* how many choices were looked for in the cache */
    int count, records;
    struct {
        const struct gt_known *known;
        const struct gt_family *family;
    } entry[TRIES_MAX];
};

static bool has_failed(const struct failures *f, const struct gt_choice *c) {
    if (c->known != NULL && f->records >= RECORDS_MAX)
        return true;
    for (int i = 0; i < f->count; i++)
        if (f->entry[i].known == c->known && f->entry[i].family == c->family)
            return true;
    return false;
}

static bool is_skipped(void *user, const struct gt_choice *c) {
    struct failures *f = user;
    if (has_failed(f, c))
        return true;
    return f->only_cached &&
           (f->asked++ >= ASKED_MAX || !gt_exec_is_cached(f->gpu, &c->fit));
}

static void note_failure(struct failures *f, const struct gt_choice *c,
                         const struct gt_err *err) {
    f->entry[f->count].known = c->known;
    f->entry[f->count].family = c->family;
    f->count++;
    f->records += c->known != NULL;
    gt_log(GEMMTUNE_LOG_WARN, "does not build, trying the next (%s): %s", c->why,
           err->line);
}

/* ---- the choice ---------------------------------------------------------------------- */

gt_status gt_plan_choose(struct gt_choice *choice, struct gt_gpu *gpu,
                         struct gt_query query, bool only_cached, gt_try_fn try, void *user,
                         struct gt_err *err) {
    struct failures failures = {.gpu = gpu, .only_cached = only_cached};
    struct gt_err first = {""}, now = {""};
    gt_status first_status = GEMMTUNE_OK, status;
    query.skip = is_skipped;
    query.user = &failures;
    do {
        status = gt_match(choice, &query, &now);
        if (status != GEMMTUNE_OK)
            break;
        status = try(user, gpu, &choice->fit, &now);
        if (status == GEMMTUNE_OK)
            return GEMMTUNE_OK;
        note_failure(&failures, choice, &now);
        if (first_status == GEMMTUNE_OK) {
            first_status = status;
            first = now;
        }
    } while (status != GEMMTUNE_ENOMEM && failures.count < TRIES_MAX);
    if (first_status != GEMMTUNE_OK) {
        status = first_status;
        now = first;
    }
    return gt_fail(err, status, "%s", now.line);
}

/* ---- kernels for unaligned pointers -------------------------------------------------- */

static size_t element_size(const gemmtune_problem *p, int operand) {
    const gemmtune_dtype type[3] = {p->type_a, p->type_b, p->type_c};
    return gt_type_size(type[operand]);
}

int64_t gt_narrow_align(const gemmtune_problem *p) {
    size_t most = 1;
    for (int i = 0; i < 3; i++)
        most = element_size(p, i) > most ? element_size(p, i) : most;
    return (int64_t)most;
}

bool gt_wants_narrow(const struct gt_fit *fit, const struct gt_gpu *gpu,
                     const gemmtune_problem *p) {
    if (!gpu->driver->pointers_are_addresses || gt_problem_has_pointers(p))
        return false; /* buffers are aligned for every type, and arrays as promised */
    for (int i = 0; i < 3; i++)
        if (fit->align[i] > (int64_t)element_size(p, i))
            return true;
    return false;
}
