/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intake.c - the rule by which rows from elsewhere come in. For each key the newest row
 * wins; of equally new ones, the one with the larger checksum. So the result depends on the
 * set of sources: not on their order, on how often each was taken, or on which of them had
 * taken others before. Rows that were made here are never replaced.
 */
#include "db/internal.h"

#include "core/log.h"

#include <string.h>

static const char *name_here(const struct gt_intake *in, const char *provenance) {
    return strcmp(provenance, GT_LOCAL) == 0 ? in->theirs : provenance;
}

/* Whether the rows were made here, and come back from elsewhere. */
static bool is_own(const struct gt_intake *in, const char *provenance) {
    return strcmp(provenance, in->own) == 0;
}

static bool larger(const struct gt_db_table *table, const void *a, const void *b) {
    char a_sum[GT_CHECKSUM_MAX], b_sum[GT_CHECKSUM_MAX];
    gt_row_checksum(a_sum, table, a);
    gt_row_checksum(b_sum, table, b);
    return strcmp(a_sum, b_sum) > 0;
}

/* Clears what differs between two cards of one key: which card it is, and its driver. */
static void forget_card(struct gt_device *d) {
    d->uuid[0] = d->pci[0] = d->driver[0] = d->compiler[0] = '\0';
}

static int64_t *count_of(struct gt_merge_report *report, const struct gt_db_table *table) {
    return table == &gt_trial_table   ? &report->trials
           : table == &gt_rival_table ? &report->rivals
                                      : &report->records;
}

/* Stores the row and counts it when it is new. A row is refused, if its device did not
 * arrive, with a log line. */
static gt_status put(struct gt_intake *in, const struct gt_db_table *table,
                     const struct gt_db_subject *subject, const void *row, bool is_new,
                     struct gt_err *err) {
    int64_t id = 0;
    struct gt_err why = {{0}};
    int64_t *count = count_of(&in->report, table);
    const gt_status status = gt_subject_put(&id, in->db, subject, &why);
    if (status == GEMMTUNE_ENOTFOUND) {
        in->report.skipped++;
        gt_log(GEMMTUNE_LOG_WARN, "a %s of %s is refused: %s", table->name,
               subject->problem, why.line);
        return GEMMTUNE_OK;
    }
    if (status != GEMMTUNE_OK)
        return gt_fail(err, status, "%s", why.line);
    *count += is_new;
    return gt_row_put(NULL, in->db, table, id, row, err);
}

gt_status gt_intake_device(void *intake, void *stored_device, struct gt_err *err) {
    struct gt_intake *in = intake;
    struct gt_stored_device *theirs = stored_device, ours = {0};
    const char *const key[] = {theirs->key, NULL};
    bool found = false;
    int64_t id = 0;
    theirs->here = false;
    forget_card(&theirs->device);
    const gt_status status =
        gt_row_find(&found, &ours, &id, in->db, &gt_device_table, "x.key = ?", key, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (found && (ours.here || !larger(&gt_device_table, theirs, &ours)))
        return GEMMTUNE_OK;
    in->report.devices += id == 0;
    return gt_row_put(NULL, in->db, &gt_device_table, 0, theirs, err);
}

/* Whether the row that ended at `a_ms` replaces the other one: it is newer, or as new and
 * larger. */
static bool replaces(const struct gt_db_table *table, const void *a, int64_t a_ms,
                     const void *b, int64_t b_ms) {
    return a_ms != b_ms ? a_ms > b_ms : larger(table, a, b);
}

/* Whether this database's own trial of the subject is as good as `theirs`, which left from
 * here. It is compared as it would leave now. */
static gt_status have_trial(bool *have, struct gt_intake *in,
                            const struct gt_stored_trial *theirs, struct gt_err *err) {
    struct gt_stored_trial ours = {0};
    int64_t id = 0;
    const gt_status status = gt_subject_find(have, &ours, &id, in->db, &gt_trial_table,
                                             &theirs->row.subject, GT_LOCAL, err);
    ours.row.provenance = in->own;
    ours.row.run_id = 0;
    *have = *have && !replaces(&gt_trial_table, theirs, theirs->row.ended_ms, &ours,
                               ours.row.ended_ms);
    return status;
}

gt_status gt_intake_trial(void *intake, void *stored_trial, struct gt_err *err) {
    struct gt_intake *in = intake;
    struct gt_stored_trial *theirs = stored_trial, before = {0};
    struct gt_trial_row *row = &theirs->row;
    bool found = false;
    int64_t id = 0;
    gt_status status = GEMMTUNE_OK;
    if (row->state == GT_TRIAL_RUNNING)
        return GEMMTUNE_OK; /* this database has no such trial */
    row->provenance = name_here(in, row->provenance);
    row->run_id = 0;
    if (is_own(in, row->provenance))
        status = have_trial(&found, in, theirs, err);
    if (status != GEMMTUNE_OK || found)
        return status;
    status = gt_subject_find(&found, &before, &id, in->db, &gt_trial_table, &row->subject,
                             row->provenance, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (found &&
        !replaces(&gt_trial_table, theirs, row->ended_ms, &before, before.row.ended_ms))
        return GEMMTUNE_OK;
    return put(in, &gt_trial_table, &row->subject, theirs, id == 0, err);
}

/* Adds a record to the set that was written at the same moment. When the subject is there
 * already, the row with the larger checksum stays. */
static gt_status add_record(struct gt_intake *in, const struct gt_stored_record *theirs,
                            struct gt_err *err) {
    const struct gt_record_row *row = &theirs->row;
    struct gt_stored_record before = {0};
    bool found = false;
    int64_t id = 0;
    const gt_status status = gt_subject_find(&found, &before, &id, in->db, &gt_record_table,
                                             &row->subject, row->provenance, err);
    if (status != GEMMTUNE_OK || (found && !larger(&gt_record_table, theirs, &before)))
        return status;
    return put(in, &gt_record_table, &row->subject, theirs, id == 0, err);
}

/* Whether this database's own records of the problem make `theirs`, which left from here,
 * unnecessary: they were written later, or at the same moment with as good a record of the
 * same subject. */
static gt_status have_record(bool *have, struct gt_intake *in,
                             const struct gt_stored_record *theirs, struct gt_err *err) {
    struct gt_stored_record ours = {0};
    int64_t own_ms = 0, id = 0;
    gt_status status =
        gt_records_stamp(&own_ms, have, in->db, &theirs->row.subject, GT_LOCAL, err);
    if (status != GEMMTUNE_OK || !*have || own_ms != theirs->row.measured_ms) {
        *have = *have && own_ms > theirs->row.measured_ms;
        return status;
    }
    status = gt_subject_find(have, &ours, &id, in->db, &gt_record_table,
                             &theirs->row.subject, GT_LOCAL, err);
    ours.row.provenance = in->own;
    ours.row.verified = false;
    *have = *have && !larger(&gt_record_table, theirs, &ours);
    return status;
}

gt_status gt_intake_record(void *intake, void *stored_record, struct gt_err *err) {
    struct gt_intake *in = intake;
    struct gt_stored_record *theirs = stored_record;
    struct gt_record_row *row = &theirs->row;
    int64_t before_ms = 0;
    bool have = false;
    row->provenance = name_here(in, row->provenance);
    row->verified = false;
    gt_status status = GEMMTUNE_OK;
    if (is_own(in, row->provenance))
        status = have_record(&have, in, theirs, err);
    if (status != GEMMTUNE_OK || have)
        return status;
    status =
        gt_records_stamp(&before_ms, NULL, in->db, &row->subject, row->provenance, err);
    if (status != GEMMTUNE_OK || before_ms > row->measured_ms)
        return status;
    if (before_ms < row->measured_ms)
        status = gt_records_delete(in->db, &row->subject, row->provenance, err);
    return status == GEMMTUNE_OK ? add_record(in, theirs, err) : status;
}

/* Whether this database's own comparison is as good as `theirs`, which left from here. */
static gt_status have_rival(bool *have, struct gt_intake *in,
                            const struct gt_stored_rival *theirs, struct gt_err *err) {
    struct gt_stored_rival ours = {0};
    int64_t id = 0;
    const gt_status status =
        gt_rival_find(have, &ours, &id, in->db, &theirs->row, GT_LOCAL, err);
    ours.row.provenance = in->own;
    *have = *have && !replaces(&gt_rival_table, theirs, theirs->row.measured_ms, &ours,
                               ours.row.measured_ms);
    return status;
}

gt_status gt_intake_rival(void *intake, void *stored_rival, struct gt_err *err) {
    struct gt_intake *in = intake;
    struct gt_stored_rival *theirs = stored_rival, before = {0};
    struct gt_rival_row *row = &theirs->row;
    bool found = false;
    int64_t id = 0;
    gt_status status = GEMMTUNE_OK;
    row->provenance = name_here(in, row->provenance);
    if (is_own(in, row->provenance))
        status = have_rival(&found, in, theirs, err);
    if (status != GEMMTUNE_OK || found)
        return status;
    status = gt_rival_find(&found, &before, &id, in->db, row, row->provenance, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (found && !replaces(&gt_rival_table, theirs, row->measured_ms, &before,
                           before.row.measured_ms))
        return GEMMTUNE_OK;
    return put(in, &gt_rival_table, &row->subject, theirs, id == 0, err);
}
