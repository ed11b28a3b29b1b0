/* SPDX-License-Identifier: Apache-2.0 */
/* window_trial.c - the trial of a pick: its job, its row in the database, and its outcome
 * for the search and the finals. */
#include "tuner/tune/window_inside.h"

#include "core/log.h"
#include "tuner/lab/race.h"

#include <math.h>

static struct gt_db_subject subject_of(const struct gt_window *w,
                                       const struct gt_window_entry *e) {
    return (struct gt_db_subject){.device_key = w->t->device_key,
                                  .problem = w->item->name,
                                  .family = e->candidate.family,
                                  .family_hash = e->family->hash,
                                  .point = e->candidate.point};
}

void gt_window_init_job(struct gt_job *job, const struct gt_window *w,
                        enum gt_job_kind kind, const struct gt_window_entry *e) {
    gt_job_init(job, kind, &w->t->device, w->item->name);
    job->id = e->id;
    job->seed = w->t->seed;
    job->best_ns = w->best_high_ns;
    job->count = 1;
    job->candidate[0] = e->candidate;
}

/* Counts the outcome of an entry and offers it to the finals. Trials run at different
 * times, so their times are compared as if taken at the device's highest clock. */
static void resolve(struct gt_window *w, struct gt_window_entry *e,
                    const struct gt_trial_row *row, int64_t workspace_bytes) {
    const double share = gt_clock_share(&row->time, w->t->device.clock_mhz);
    const double ns = share * row->time.median_ns;
    e->state = GT_PICK_RESOLVED;
    e->outcome = row->outcome;
    e->median_ns = ns;
    w->result->trials++;
    w->result->outcome[row->outcome]++;
    if (row->outcome != GT_CORRECT)
        return;
    gt_finals_offer(w->finals, w->t,
                    &(struct gt_finalist){.candidate = e->candidate,
                                          .workspace_bytes = workspace_bytes,
                                          .screen_ns = ns,
                                          .low_ns = share * row->time.low_ns,
                                          .high_ns = share * row->time.high_ns,
                                          .share = share,
                                          .ended_ms = row->ended_ms});
    if (w->best_ns == 0 || ns < w->best_ns) {
        w->best_ns = ns;
        w->best_high_ns = share * row->time.high_ns;
        w->shown_ns = row->time.median_ns;
        w->best_family = e->family->name;
    }
}

gt_status gt_window_find_stored(bool *found, struct gt_window *w, struct gt_window_entry *e,
                                struct gt_err *err) {
    struct gt_trial_row row;
    const struct gt_db_subject subject = subject_of(w, e);
    const gt_status status = gt_db_trial_find(found, &row, w->t->db, &subject, err);
    if (status == GEMMTUNE_OK && *found)
        resolve(w, e, &row, gt_finals_workspace(w->t, &w->item->problem, &e->candidate));
    return status;
}

gt_status gt_window_begin_trial(bool *claimed, struct gt_window *w,
                                struct gt_window_entry *e, struct gt_err *err) {
    const struct gt_db_subject subject = subject_of(w, e);
    bool found = false;
    gt_status status =
        gt_db_trial_begin(&e->trial_id, claimed, w->t->db, w->t->run_id, &subject, err);
    if (status != GEMMTUNE_OK || *claimed)
        return status;
    status = gt_window_find_stored(&found, w, e, err);
    if (status == GEMMTUNE_OK && !found) {
        /* another process is trying it; the search learns no time */
        e->state = GT_PICK_RESOLVED;
        e->outcome = GT_CONSTRAINTS;
        w->result->tried_elsewhere++;
    }
    return status;
}

struct gt_trial_row gt_trial_row_of(const struct gt_tuner *t,
                                    const struct gt_db_subject *subject,
                                    const struct gt_result *r) {
    return (struct gt_trial_row){.subject = *subject,
                                 .state = GT_TRIAL_DONE,
                                 .outcome = r->outcome,
                                 .time = r->time,
                                 .registers = r->registers,
                                 .spill_bytes = r->spill_bytes,
                                 .smem_bytes = r->smem_bytes,
                                 .compile_ms = r->compile_ms,
                                 .error = r->error,
                                 .provenance = "local",
                                 .run_id = t->run_id,
                                 .ended_ms = INT64_MAX}; /* later than all records */
}

gt_status gt_window_end_trial(struct gt_window *w, struct gt_window_entry *e,
                              const struct gt_result *r, struct gt_err *err) {
    const struct gt_db_subject subject = subject_of(w, e);
    struct gt_trial_row row = gt_trial_row_of(w->t, &subject, r);
    row.compile_ms = fmax(r->compile_ms, e->compile_ms);
    gt_status status = gt_db_trial_end(w->t->db, e->trial_id, &row, err);
    if (status == GEMMTUNE_OK)
        resolve(w, e, &row, r->workspace_bytes);
    w->result->fresh++;
    w->result->dropped += r->time.dropped;
    w->result->spent.check_s += r->spent.check_s;
    w->result->spent.time_s += r->spent.time_s;
    return status;
}

gt_status gt_window_record_refusal(struct gt_window *w, struct gt_window_entry *e,
                                   const struct gt_result *r, struct gt_err *err) {
    bool claimed = false;
    gt_status status = gt_window_begin_trial(&claimed, w, e, err);
    return status != GEMMTUNE_OK || !claimed ? status : gt_window_end_trial(w, e, r, err);
}

void gt_window_abandon(struct gt_window *w, struct gt_window_entry *e, const char *why) {
    e->state = GT_PICK_RESOLVED;
    e->outcome = GT_CONSTRAINTS; /* the search learns no time */
    w->result->abandoned++;
    gt_log(GEMMTUNE_LOG_WARN, "%s: %s \"%s\" is left to another run: %s", w->item->name,
           e->candidate.family, e->candidate.point, why);
}
