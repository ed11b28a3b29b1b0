/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - a tuning run: claims trials, ends them, stores the finalists. Every call is one
 * transaction, which is on disk when the call returns. A trial is on disk as "running"
 * before its launch, so that a point that takes the machine down is known afterwards.
 */
#include "db/internal.h"

#include "core/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Attempts without an outcome before a trial is given up. */
enum { ATTEMPTS_MAX = 2 };

/* ---- runs ------------------------------------------------------------------ */

static const char *or_empty(const char *text) {
    return text != NULL ? text : "";
}

/* Trials that have no outcome become what they were before: none. One that a machine went
 * down in stays, since its attempts must be remembered. */
static gt_status forget_unfinished(struct gt_db *db, int64_t run_id, struct gt_err *err) {
    return gt_sql_run(
        db, err, "DELETE FROM trial WHERE run = ? AND state = 'running' AND attempts = 1",
        "i", run_id);
}

static gt_status end_run(struct gt_db *db, int64_t run_id, const char *how,
                         struct gt_err *err) {
    const gt_status status = gt_sql_run(
        db, err, "UPDATE run SET ended_ms = ?, how = ? WHERE id = ? AND ended_ms IS NULL",
        "iti", gt_now_ms(), how, run_id);
    return status == GEMMTUNE_OK ? forget_unfinished(db, run_id, err) : status;
}

/* A run ends when its handle is closed: the next run may claim the trials that it left
 * running. */
static void closing(struct gt_db *db) {
    if (db->run_id != 0)
        (void)end_run(db, db->run_id, "closed", NULL);
}

static gt_status put_device(int64_t *id, struct gt_db *db, const struct gt_device *device,
                            struct gt_err *err) {
    struct gt_stored_device row = {.here = true, .device = *device};
    gt_device_key(device, row.key);
    return gt_row_put(id, db, &gt_device_table, 0, &row, err);
}

static gt_status put_run(struct gt_db *db, int64_t device, const struct gt_run_info *info,
                         struct gt_err *err) {
    struct gt_owner self;
    int64_t seed = 0;
    gt_owner_self(&self);
    memcpy(&seed, &info->seed, sizeof seed);
    return gt_sql_run(
        db, err,
        "INSERT INTO run (device, version, driver, compiler, arguments, seed, "
        "pid, boot, start_time, started_ms, how) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')",
        "ittttiitii", device, or_empty(info->version), or_empty(info->driver),
        or_empty(info->compiler), or_empty(info->arguments), seed, self.pid, self.boot,
        self.start_time, gt_now_ms());
}

gt_status gt_db_run_begin(int64_t *run_id, struct gt_db *db, const struct gt_device *device,
                          const struct gt_run_info *info, struct gt_err *err) {
    int64_t device_id = 0;
    *run_id = 0;
    gt_status status = gt_txn_begin(db, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = put_device(&device_id, db, device, err);
    if (status == GEMMTUNE_OK)
        status = put_run(db, device_id, info, err);
    const int64_t id = sqlite3_last_insert_rowid(db->conn);
    status = gt_txn_end(db, status, err);
    if (status == GEMMTUNE_OK) {
        *run_id = db->run_id = id;
        db->closing = closing;
    }
    return status;
}

gt_status gt_db_run_end(struct gt_db *db, int64_t run_id, const char *how,
                        struct gt_err *err) {
    gt_status status = gt_txn_begin(db, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = gt_txn_end(db, end_run(db, run_id, or_empty(how), err), err);
    if (status == GEMMTUNE_OK && db->run_id == run_id)
        db->run_id = 0;
    return status;
}

gt_status gt_db_run_find(bool *found, char *arguments, size_t size, uint64_t *seed,
                         struct gt_db *db, int64_t run_id, struct gt_err *err) {
    sqlite3_stmt *stmt = NULL;
    *found = false;
    arguments[0] = '\0';
    gt_status status =
        gt_sql_prepare(&stmt, db, "SELECT arguments, seed FROM run WHERE id = ?", err);
    if (status == GEMMTUNE_OK)
        (void)sqlite3_bind_int64(stmt, 1, run_id);
    if (status == GEMMTUNE_OK)
        status = gt_sql_step(found, db, stmt, err);
    if (status == GEMMTUNE_OK && *found) {
        const char *text = or_empty((const char *)sqlite3_column_text(stmt, 0));
        if (strlen(text) < size)
            memcpy(arguments, text, strlen(text) + 1);
        *seed = (uint64_t)sqlite3_column_int64(stmt, 1);
    }
    (void)sqlite3_finalize(stmt);
    return status;
}

/* ---- claims ---------------------------------------------------------------- */

static gt_status load_owner(bool *at_work, struct gt_owner *owner, struct gt_db *db,
                            int64_t run_id, struct gt_err *err) {
    sqlite3_stmt *stmt = NULL;
    *at_work = false;
    gt_status status = gt_sql_prepare(&stmt, db,
                                      "SELECT pid, start_time, boot FROM run "
                                      "WHERE id = ? AND ended_ms IS NULL",
                                      err);
    if (status == GEMMTUNE_OK)
        (void)sqlite3_bind_int64(stmt, 1, run_id);
    if (status == GEMMTUNE_OK)
        status = gt_sql_step(at_work, db, stmt, err);
    if (status == GEMMTUNE_OK && *at_work) {
        owner->pid = sqlite3_column_int64(stmt, 0);
        owner->start_time = sqlite3_column_int64(stmt, 1);
        (void)snprintf(owner->boot, sizeof owner->boot, "%s",
                       or_empty((const char *)sqlite3_column_text(stmt, 2)));
    }
    (void)sqlite3_finalize(stmt);
    return status;
}

/* The state of the run that began a trial. */
struct fate {
    bool alive; /* it holds the trial */
    bool down;  /* the machine went down during the trial */
};

static gt_status look_at_run(struct fate *fate, struct gt_db *db, int64_t run_id,
                             struct gt_err *err) {
    struct gt_owner owner = {0};
    bool at_work = false;
    const gt_status status = load_owner(&at_work, &owner, db, run_id, err);
    fate->alive = at_work && gt_owner_alive(&owner);
    fate->down = at_work && !gt_owner_of_this_boot(&owner);
    return status;
}

static gt_status put_trial(int64_t *id, struct gt_db *db,
                           const struct gt_stored_trial *trial, struct gt_err *err) {
    int64_t subject = 0;
    gt_status status = gt_row_check(&gt_trial_table, trial, NULL, err);
    if (status == GEMMTUNE_OK)
        status = gt_subject_put(&subject, db, &trial->row.subject, err);
    if (status == GEMMTUNE_OK)
        status = gt_row_put(id, db, &gt_trial_table, subject, trial, err);
    return status == GEMMTUNE_ENOTFOUND ? GEMMTUNE_EINVAL : status;
}

/* A running trial counts as crashed until it ends. */
static void set_running(struct gt_stored_trial *trial, int attempts, int64_t run_id,
                        const struct gt_db_subject *subject) {
    trial->row = (struct gt_trial_row){
        .subject = *subject,
        .state = GT_TRIAL_RUNNING,
        .attempts = attempts,
        .outcome = GT_CRASHED,
        .registers = -1,
        .spill_bytes = -1,
        .smem_bytes = -1,
        .error = "",
        .provenance = GT_LOCAL,
        .run_id = run_id,
    };
}

static void set_quarantined(struct gt_stored_trial *trial) {
    trial->row.state = GT_TRIAL_QUARANTINED;
    trial->row.outcome = GT_CRASHED;
    trial->row.error = "every attempt ended without an outcome";
    trial->row.ended_ms = gt_now_ms();
}

/* A tuner that was killed says nothing about the point that it was trying. A machine that
 * went down may, and twice is enough. A row that is not sound counts as none: its point is
 * tried anew. */
static gt_status claim(int64_t *trial_id, bool *claimed, struct gt_db *db, int64_t run_id,
                       const struct gt_db_subject *subject, struct gt_err *err) {
    struct gt_stored_trial trial = {0};
    struct fate fate = {false, false};
    bool found = false;
    int64_t id = 0;
    gt_status status =
        gt_subject_find(&found, &trial, &id, db, &gt_trial_table, subject, GT_LOCAL, err);
    if (status == GEMMTUNE_OK && found)
        status = look_at_run(&fate, db, trial.row.run_id, err);
    if (status != GEMMTUNE_OK || fate.alive ||
        (found && trial.row.state != GT_TRIAL_RUNNING))
        return status;
    *claimed = !fate.down || trial.row.attempts < ATTEMPTS_MAX;
    if (*claimed)
        set_running(&trial, found ? trial.row.attempts + fate.down : 1, run_id, subject);
    else
        set_quarantined(&trial);
    return put_trial(trial_id, db, &trial, err);
}

gt_status gt_db_trial_begin(int64_t *trial_id, bool *claimed, struct gt_db *db,
                            int64_t run_id, const struct gt_db_subject *subject,
                            struct gt_err *err) {
    bool ours = false;
    *trial_id = 0;
    *claimed = false;
    gt_status status = gt_txn_begin(db, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = claim(trial_id, &ours, db, run_id, subject, err);
    status = gt_txn_end(db, status, err);
    *claimed = ours && status == GEMMTUNE_OK;
    return status;
}

/* ---- ends ------------------------------------------------------------------ */

static void one_line(char *line, size_t size, const char *fmt, ...) GT_PRINTF(3, 4);

static void one_line(char *line, size_t size, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    gt_text_line(line, size, fmt, args);
    va_end(args);
}

static void set_ended(struct gt_stored_trial *trial, const struct gt_trial_row *row,
                      char error[GT_DB_ERROR_MAX]) {
    struct gt_trial_row *t = &trial->row;
    one_line(error, GT_DB_ERROR_MAX, "%s", or_empty(row->error));
    t->state = row->state == GT_TRIAL_QUARANTINED ? GT_TRIAL_QUARANTINED : GT_TRIAL_DONE;
    t->outcome = row->outcome;
    t->time = row->time;
    t->registers = row->registers;
    t->spill_bytes = row->spill_bytes;
    t->smem_bytes = row->smem_bytes;
    t->compile_ms = row->compile_ms;
    t->error = error;
    t->ended_ms = gt_now_ms();
}

static gt_status end_trial(struct gt_db *db, int64_t trial_id,
                           const struct gt_trial_row *row, struct gt_err *err) {
    struct gt_stored_trial trial = {0};
    char id_text[24], error[GT_DB_ERROR_MAX];
    const char *const texts[] = {id_text, NULL};
    bool found = false;
    int64_t id = 0;
    (void)snprintf(id_text, sizeof id_text, "%" PRId64, trial_id);
    const gt_status status =
        gt_row_find(&found, &trial, &id, db, &gt_trial_table, "x.id = ?", texts, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (!found || trial.row.state != GT_TRIAL_RUNNING)
        return gt_fail(err, GEMMTUNE_EINVAL, "%s: trial %" PRId64 " is not running",
                       db->path, trial_id);
    set_ended(&trial, row, error);
    return put_trial(NULL, db, &trial, err);
}

gt_status gt_db_trial_end(struct gt_db *db, int64_t trial_id,
                          const struct gt_trial_row *row, struct gt_err *err) {
    gt_status status = gt_txn_begin(db, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = end_trial(db, trial_id, row, err);
    return gt_txn_end(db, status, err);
}

/* ---- records --------------------------------------------------------------- */

static gt_status put_record(struct gt_db *db, const struct gt_db_subject *set,
                            const struct gt_record_row *row, int64_t measured_ms,
                            struct gt_err *err) {
    struct gt_stored_record record = {.row = *row};
    struct gt_db_subject *subject = &record.row.subject;
    int64_t id = 0;
    record.row.provenance = GT_LOCAL;
    record.row.measured_ms = measured_ms;
    if (strcmp(or_empty(subject->device_key), set->device_key) != 0 ||
        strcmp(or_empty(subject->problem), set->problem) != 0)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "a record of %s on %s is among those of %s on %s",
                       or_empty(subject->problem), or_empty(subject->device_key),
                       set->problem, set->device_key);
    gt_status status = gt_row_check(&gt_record_table, &record, NULL, err);
    if (status == GEMMTUNE_OK)
        status = gt_subject_put(&id, db, subject, err);
    if (status == GEMMTUNE_OK)
        status = gt_row_put(NULL, db, &gt_record_table, id, &record, err);
    return status == GEMMTUNE_ENOTFOUND ? GEMMTUNE_EINVAL : status;
}

static gt_status replace_records(struct gt_db *db, const struct gt_db_subject *set,
                                 const struct gt_record_row *rows, size_t count,
                                 struct gt_err *err) {
    int64_t before_ms = 0;
    gt_status status = gt_records_stamp(&before_ms, NULL, db, set, GT_LOCAL, err);
    const bool given = count > 0 && rows[0].measured_ms > 0;
    const int64_t moment_ms = given ? rows[0].measured_ms : gt_now_ms();
    /* Later than the set that it replaces, even when the clock was set back. */
    const int64_t measured_ms = moment_ms > before_ms ? moment_ms : before_ms + 1;
    if (status == GEMMTUNE_OK)
        status = gt_records_delete(db, set, GT_LOCAL, err);
    for (size_t i = 0; i < count && status == GEMMTUNE_OK; i++)
        status = put_record(db, set, &rows[i], measured_ms, err);
    return status;
}

gt_status gt_db_records_moment(int64_t *moment_ms, struct gt_db *db, const char *device_key,
                               const char *problem, struct gt_err *err) {
    const struct gt_db_subject set = {.device_key = device_key, .problem = problem};
    *moment_ms = 0;
    return gt_records_stamp(moment_ms, NULL, db, &set, GT_LOCAL, err);
}

gt_status gt_db_records_replace(bool *put, struct gt_db *db, int64_t known_ms,
                                const char *device_key, const char *problem,
                                const struct gt_record_row *rows, size_t count,
                                struct gt_err *err) {
    const struct gt_db_subject set = {.device_key = device_key, .problem = problem};
    int64_t moment_ms = 0;
    *put = false;
    gt_status status = gt_txn_begin(db, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = gt_db_records_moment(&moment_ms, db, device_key, problem, err);
    const bool known = status == GEMMTUNE_OK && moment_ms == known_ms;
    if (known)
        status = replace_records(db, &set, rows, count, err);
    status = gt_txn_end(db, status, err);
    *put = known && status == GEMMTUNE_OK;
    return status;
}
