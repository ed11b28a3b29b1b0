/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate_work.c - the beginning and the end of every `gemmtune evaluate`: it reads the
 * stored rows, and prints the losses. */
#include "tuner/judge/evaluate.h"

#include "tuner/cmd/which_device.h"
#include "tuner/base/talk.h"

#include <stdio.h>

/* ---- tuned problems ---- */

/* Finds the device in the database that --device names, or the only one. */
static int pick_stored_device(struct gt_evaluate_work *w, struct gt_db *db) {
    struct gt_err err = {""};
    size_t at = 0;
    gt_status status = gt_view_devices(&w->view, db, &err);
    if (status == GEMMTUNE_OK)
        status = gt_which_stored(&at, &w->view, w->v.device, &err);
    if (status == GEMMTUNE_ENOTFOUND || status == GEMMTUNE_EINVAL)
        return gt_die(GT_EXIT_USAGE, "evaluate: %s", err.line);
    if (status != GEMMTUNE_OK)
        return gt_common_fail(status, &err);
    w->device = w->view.device[at].device;
    (void)snprintf(w->device_key, sizeof w->device_key, "%s", w->view.device[at].key);
    return -1;
}

static int read_rows(struct gt_evaluate_work *w, struct gt_db *db) {
    struct gt_err err = {""};
    int64_t stale = 0;
    gt_status status = gt_known_load(&w->known, &w->known_count, &stale, db, w->families,
                                     w->device.arch, &err);
    if (status == GEMMTUNE_OK)
        status = gt_view_records(&w->view, db, w->device_key, NULL, &err);
    if (status == GEMMTUNE_OK)
        status = gt_view_trials(&w->view, db, w->device_key, NULL, &err);
    if (status != GEMMTUNE_OK)
        return gt_common_fail(status, &err);
    if (stale > 0)
        gt_talk("stored results of older kernel sources: %lld", (long long)stale);
    return -1;
}

static int load(struct gt_evaluate_work *w) {
    struct gt_db *db = NULL;
    int code = gt_common_read_db(&db, w->v.db);
    if (code < 0 && db != NULL && w->v.stored)
        code = pick_stored_device(w, db);
    if (code < 0 && db != NULL)
        code = read_rows(w, db);
    gt_db_close(db);
    return code;
}

static int create(struct gt_evaluate_work *w) {
    const struct gt_evaluation_setup setup = {.device = &w->device,
                                              .device_key = w->device_key,
                                              .families = w->families,
                                              .known = w->known,
                                              .known_count = w->known_count,
                                              .view = &w->view,
                                              .seed = (uint64_t)w->v.seed,
                                              .workspace_max =
                                                  gt_common_bytes(w->v.workspace)};
    struct gt_err err = {""};
    const gt_status status = gt_evaluation_create(&w->evaluation, &setup, &err);
    return status == GEMMTUNE_OK ? -1 : gt_common_fail(status, &err);
}

int gt_evaluate_prepare(struct gt_evaluate_work *w) {
    const int code = load(w);
    return code < 0 ? create(w) : code;
}

void gt_evaluate_take(struct gt_evaluate_work *w, struct gt_session *session) {
    w->session = session;
    w->families = session->families;
    w->device = session->device;
    (void)snprintf(w->device_key, sizeof w->device_key, "%s", session->device_key);
}

bool gt_evaluate_has_time(const struct gt_evaluate_work *w, int64_t start_ms) {
    return w->v.budget <= 0 || (double)(gt_now_ms() - start_ms) < 1e3 * w->v.budget;
}

/* ---- the end ---- */

static int print(const struct gt_evaluate_work *w) {
    const struct gt_evaluate_report report = {.device_key = w->device_key,
                                              .hidden = w->hidden,
                                              .hidden_count = w->count,
                                              .done = w->done,
                                              .tuned = gt_evaluation_count(w->evaluation),
                                              .known = w->known_count,
                                              .rules = w->rules,
                                              .stored = w->v.stored,
                                              .fresh = w->v.drawn.random > 0 ? "drawn"
                                                       : w->sweep.count > 0  ? "named"
                                                                             : NULL,
                                              .seed = w->v.seed};
    struct gt_err err = {""};
    const gt_status status = gt_evaluate_print(&report, &w->v.format, &err);
    return status == GEMMTUNE_OK ? -1 : gt_common_fail(status, &err);
}

static int verdict(const struct gt_evaluate_work *w) {
    if (w->wrong > 0)
        return gt_die(GT_EXIT_VERIFY, "%d kernel%s computed wrong results", w->wrong,
                      gt_text_plural(w->wrong));
    if (w->failed > 0 && !gt_session_stop)
        return gt_die(GT_EXIT_FAILURE, "kernels or problems that could not be measured: %d",
                      w->failed);
    if (w->done < w->count)
        return gt_die(gt_session_exit(GT_EXIT_FAILURE), "%s after %zu of %zu problem%s",
                      gt_session_stop ? "stopped" : "the time was up", w->done, w->count,
                      gt_text_plural((int64_t)w->count));
    return GT_EXIT_OK;
}

int gt_evaluate_end(const struct gt_evaluate_work *w) {
    const int code = print(w);
    return code < 0 ? verdict(w) : code;
}
