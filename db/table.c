/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - the tables as lists of columns, and the rules for a sound row beyond its
 * columns.
 *
 * Checksums depend on the order and the kinds of a table's columns. A change of either
 * needs a migration that computes every checksum anew.
 */
#include "db/internal.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* The largest integer that JSON readers agree on: 2^53 - 1. */
#define EXACT_MAX INT64_C(9007199254740991)

/* ---- rules on more than one column ---------------------------------------- */

static bool all_of(const char *text, const char *allowed) {
    return text[strspn(text, allowed)] == '\0';
}

static gt_status check_problem(const char *name, struct gt_err *err) {
    gemmtune_problem problem;
    char canonical[GT_PROBLEM_NAME_MAX];
    if (gt_problem_from_name(&problem, name, err) != GEMMTUNE_OK)
        return GEMMTUNE_EINVAL;
    (void)gt_problem_name(&problem, canonical);
    if (strcmp(canonical, name) != 0)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "problem \"%s\" is not in canonical form: \"%s\"", name, canonical);
    return GEMMTUNE_OK;
}

static gt_status check_point(const char *text, struct gt_err *err) {
    struct gt_point point;
    char canonical[GT_POINT_TEXT_MAX];
    if (gt_point_is_canonical(text))
        return GEMMTUNE_OK;
    if (gt_point_parse(&point, text, err) != GEMMTUNE_OK)
        return GEMMTUNE_EINVAL;
    (void)gt_point_text(&point, canonical);
    return gt_fail(err, GEMMTUNE_EINVAL, "point \"%s\" is not in canonical form: \"%s\"",
                   text, canonical);
}

static gt_status check_family(const struct gt_db_subject *s, struct gt_err *err) {
    if (!all_of(s->family, "abcdefghijklmnopqrstuvwxyz0123456789_-"))
        return gt_fail(err, GEMMTUNE_EINVAL, "family \"%s\" is not a name", s->family);
    if (strlen(s->family_hash) != 64 || !all_of(s->family_hash, "0123456789abcdef"))
        return gt_fail(err, GEMMTUNE_EINVAL, "family_hash \"%s\" is not 64 hex digits",
                       s->family_hash);
    return GEMMTUNE_OK;
}

/* `before` is a sound subject, or NULL. */
static gt_status check_subject(const struct gt_db_subject *s,
                               const struct gt_db_subject *before, struct gt_err *err) {
    const bool same_family = before != NULL && strcmp(s->family, before->family) == 0 &&
                             strcmp(s->family_hash, before->family_hash) == 0;
    const bool same_problem = before != NULL && strcmp(s->problem, before->problem) == 0;
    gt_status status = same_family ? GEMMTUNE_OK : check_family(s, err);
    if (status == GEMMTUNE_OK && !same_problem)
        status = check_problem(s->problem, err);
    return status == GEMMTUNE_OK ? check_point(s->point, err) : status;
}

static gt_status check_time(const struct gt_measurement *m, struct gt_err *err) {
    if (!(m->low_ns > 0 && m->low_ns <= m->median_ns && m->median_ns <= m->high_ns))
        return gt_fail(err, GEMMTUNE_EINVAL, "times %g <= %g <= %g ns are not an interval",
                       m->low_ns, m->median_ns, m->high_ns);
    return GEMMTUNE_OK;
}

static gt_status check_samples(const struct gt_measurement *m, struct gt_err *err) {
    for (int i = 0; i < m->samples; i++)
        if (!(isfinite(m->sample_ns[i]) && m->sample_ns[i] > 0))
            return gt_fail(err, GEMMTUNE_EINVAL, "sample %d is %g ns", i,
                           (double)m->sample_ns[i]);
    return GEMMTUNE_OK;
}

static gt_status check_device(const void *row, const void *before, struct gt_err *err) {
    const struct gt_stored_device *d = row;
    char key[GT_DEVICE_KEY_MAX];
    (void)before;
    gt_device_key(&d->device, key);
    if (strcmp(key, d->key) != 0)
        return gt_fail(err, GEMMTUNE_EINVAL, "device key \"%s\" should be \"%s\"", d->key,
                       key);
    return GEMMTUNE_OK;
}

static gt_status check_trial(const void *row, const void *before, struct gt_err *err) {
    const struct gt_trial_row *t = &((const struct gt_stored_trial *)row)->row;
    const struct gt_stored_trial *other = before;
    gt_status status =
        check_subject(&t->subject, other != NULL ? &other->row.subject : NULL, err);
    if (status == GEMMTUNE_OK)
        status = check_samples(&t->time, err);
    if (status == GEMMTUNE_OK && t->time.samples > 0)
        status = check_time(&t->time, err);
    if (status == GEMMTUNE_OK && t->outcome == GT_CORRECT && t->time.samples == 0)
        status = gt_fail(err, GEMMTUNE_EINVAL, "a correct trial was never timed");
    return status;
}

static gt_status check_record(const void *row, const void *before, struct gt_err *err) {
    const struct gt_record_row *r = &((const struct gt_stored_record *)row)->row;
    const struct gt_stored_record *other = before;
    const gt_status status =
        check_subject(&r->subject, other != NULL ? &other->row.subject : NULL, err);
    return status == GEMMTUNE_OK ? check_time(&r->time, err) : status;
}

static gt_status check_rival(const void *row, const void *before, struct gt_err *err) {
    const struct gt_rival_row *r = &((const struct gt_stored_rival *)row)->row;
    const struct gt_stored_rival *other = before;
    const gt_status status =
        check_subject(&r->subject, other != NULL ? &other->row.subject : NULL, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (!(r->ours_ns > 0 && r->rival_ns > 0))
        return gt_fail(err, GEMMTUNE_EINVAL, "times of %g and %g ns", r->ours_ns,
                       r->rival_ns);
    if (!(r->ratio_low > 0 && r->ratio_low <= r->ratio && r->ratio <= r->ratio_high))
        return gt_fail(err, GEMMTUNE_EINVAL, "ratios %g <= %g <= %g are not an interval",
                       r->ratio_low, r->ratio, r->ratio_high);
    return r->verdict != GT_NO_VERDICT
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_EINVAL, "there is no verdict");
}

/* ---- words ----------------------------------------------------------------- */

static const char *const state_words[] = {[GT_TRIAL_RUNNING] = "running",
                                          [GT_TRIAL_DONE] = "done",
                                          [GT_TRIAL_QUARANTINED] = "quarantined",
                                          NULL};

static const char *const outcome_words[] = {
#define X(name, word) [name] = word,
    GT_OUTCOME_LIST(X)
#undef X
        NULL,
};

static const char *const verdict_words[] = {
#define X(name, word) [name] = word,
    GT_VERDICT_LIST(X)
#undef X
        NULL,
};

/* ---- columns --------------------------------------------------------------- */

#define ROOM(type, member) (int64_t)sizeof(((type *)NULL)->member)

#define DEVICE(field, kind_, ...)                                                          \
    {                                                                                      \
        .name = #field, .kind = kind_,                                                     \
        .offset = offsetof(struct gt_stored_device, device.field), __VA_ARGS__             \
    }
#define CHARS(field, exported_)                                                            \
    DEVICE(field, GT_COLUMN_CHARS, .high = ROOM(struct gt_stored_device, device.field),    \
           .exported = exported_)
#define INT(field)   DEVICE(field, GT_COLUMN_INT, .high = INT_MAX, .exported = true)
#define INT64(field) DEVICE(field, GT_COLUMN_INT64, .high = EXACT_MAX, .exported = true)
#define BOOL(field)  DEVICE(field, GT_COLUMN_BOOL, .high = 1, .exported = true)

static const struct gt_db_column device_columns[] = {
    {.name = "key",
     .kind = GT_COLUMN_CHARS,
     .offset = offsetof(struct gt_stored_device, key),
     .low = 1,
     .high = GT_DEVICE_KEY_MAX,
     .exported = true},
    {.name = "here",
     .kind = GT_COLUMN_BOOL,
     .offset = offsetof(struct gt_stored_device, here),
     .high = 1},
    DEVICE(backend, GT_COLUMN_WORD, .words = gt_backend_words, .exported = true),
    CHARS(name, true),
    CHARS(vendor, true),
    CHARS(arch, true),
    CHARS(uuid, false),
    CHARS(pci, false),
    CHARS(driver, false),
    CHARS(compiler, false),
    INT(cc),
    INT(units),
    INT(warp),
    INT(max_threads),
    INT(regs_per_block),
    INT(clock_mhz),
    INT(mem_clock_mhz),
    INT(bus_bits),
    INT64(mem_bytes),
    INT64(max_alloc),
    INT64(l2_bytes),
    INT64(smem_max),
    BOOL(has_f64),
    BOOL(is_cpu),
};
#undef DEVICE
#undef CHARS
#undef INT
#undef INT64
#undef BOOL

#define TEXT(name_, from_, type, field, low_, room, shared)                                \
    {                                                                                      \
        .name = name_, .from = from_, .kind = GT_COLUMN_TEXT,                              \
        .offset = offsetof(type, field), .low = low_, .high = room, .exported = true,      \
        .is_shared = shared                                                                \
    }
#define SUBJECT(type)                                                                      \
    TEXT("device", "d.key", type, row.subject.device_key, 1, GT_DEVICE_KEY_MAX, true),     \
        TEXT("problem", "s.problem", type, row.subject.problem, 1, GT_PROBLEM_NAME_MAX,    \
             false),                                                                       \
        TEXT("family", "f.name", type, row.subject.family, 1, GT_DB_FAMILY_MAX, true),     \
        TEXT("family_hash", "f.hash", type, row.subject.family_hash, 64, 65, true),        \
        TEXT("point", "s.point", type, row.subject.point, 0, GT_POINT_TEXT_MAX, false)
enum { SUBJECT_COLUMNS = 5 };

#define OF(type, name_, kind_, field, low_, high_)                                         \
    {                                                                                      \
        .name = name_, .kind = kind_, .offset = offsetof(type, field), .low = low_,        \
        .high = high_                                                                      \
    }
#define TIME(type, name_, field, exported_, nullable_)                                     \
    {                                                                                      \
        .name = name_, .kind = GT_COLUMN_REAL, .offset = offsetof(type, row.time.field),   \
        .exported = exported_, .nullable = nullable_                                       \
    }
#define CONDITIONS(type)                                                                   \
    OF(type, "launches", GT_COLUMN_INT, row.time.launches, 0, INT_MAX),                    \
        OF(type, "dropped", GT_COLUMN_INT, row.time.dropped, 0, INT_MAX),                  \
        OF(type, "clock_mhz", GT_COLUMN_INT, row.time.clock_mhz, 0, INT_MAX)

#define TRIAL(name_, kind_, low_, high_)                                                   \
    OF(struct gt_stored_trial, #name_, kind_, row.name_, low_, high_)

static const struct gt_db_column trial_columns[] = {
    SUBJECT(struct gt_stored_trial),
    {.name = "state",
     .kind = GT_COLUMN_WORD,
     .offset = offsetof(struct gt_stored_trial, row.state),
     .words = state_words},
    TRIAL(attempts, GT_COLUMN_INT, 1, INT_MAX),
    {.name = "outcome",
     .kind = GT_COLUMN_WORD,
     .offset = offsetof(struct gt_stored_trial, row.outcome),
     .words = outcome_words},
    OF(struct gt_stored_trial, "samples", GT_COLUMN_SAMPLES, row.time, 0, GT_SAMPLES_MAX),
    TIME(struct gt_stored_trial, "median_ns", median_ns, false, false),
    TIME(struct gt_stored_trial, "low_ns", low_ns, false, false),
    TIME(struct gt_stored_trial, "high_ns", high_ns, false, false),
    CONDITIONS(struct gt_stored_trial),
    TRIAL(registers, GT_COLUMN_INT, -1, INT_MAX),
    TRIAL(spill_bytes, GT_COLUMN_INT, -1, INT_MAX),
    TRIAL(smem_bytes, GT_COLUMN_INT, -1, INT_MAX),
    TRIAL(compile_ms, GT_COLUMN_REAL, 0, 0),
    TRIAL(error, GT_COLUMN_TEXT, 0, GT_DB_ERROR_MAX),
    OF(struct gt_stored_trial, "run", GT_COLUMN_REF, row.run_id, 0, INT64_MAX),
    OF(struct gt_stored_trial, "ended_ms", GT_COLUMN_INT64, row.ended_ms, 0, EXACT_MAX),
    TRIAL(provenance, GT_COLUMN_TEXT, 1, GT_PROVENANCE_MAX),
};

#define RECORD(name_, kind_, field, low_, high_)                                           \
    {                                                                                      \
        .name = name_, .kind = kind_, .offset = offsetof(struct gt_stored_record, field),  \
        .low = low_, .high = high_, .exported = true                                       \
    }

static const struct gt_db_column record_columns[] = {
    SUBJECT(struct gt_stored_record),
    RECORD("rank", GT_COLUMN_INT, row.rank, 0, INT_MAX),
    RECORD("tied", GT_COLUMN_BOOL, row.tied, 0, 1),
    OF(struct gt_stored_record, "verified", GT_COLUMN_BOOL, row.verified, 0, 1),
    TIME(struct gt_stored_record, "median_ns", median_ns, true, false),
    TIME(struct gt_stored_record, "low_ns", low_ns, true, true),
    TIME(struct gt_stored_record, "high_ns", high_ns, true, true),
    RECORD("samples", GT_COLUMN_INT, row.time.samples, 1, GT_SAMPLES_MAX),
    CONDITIONS(struct gt_stored_record),
    {.name = "baseline_ns",
     .was = "naive_ns",
     .kind = GT_COLUMN_REAL,
     .offset = offsetof(struct gt_stored_record, row.baseline_ns),
     .exported = true},
    RECORD("measured_ms", GT_COLUMN_INT64, row.measured_ms, 0, EXACT_MAX),
    OF(struct gt_stored_record, "provenance", GT_COLUMN_TEXT, row.provenance, 1,
       GT_PROVENANCE_MAX),
};

#define RIVAL(name_, kind_, low_, high_)                                                   \
    {                                                                                      \
        .name = #name_, .kind = kind_,                                                     \
        .offset = offsetof(struct gt_stored_rival, row.name_), .low = low_, .high = high_, \
        .exported = true                                                                   \
    }
#define RIVAL_REAL(name_) RIVAL(name_, GT_COLUMN_REAL, 0, 0)

static const struct gt_db_column rival_columns[] = {
    SUBJECT(struct gt_stored_rival),
    RIVAL(workspace, GT_COLUMN_INT64, 0, EXACT_MAX),
    RIVAL(library, GT_COLUMN_TEXT, 1, GT_DB_LIBRARY_MAX),
    RIVAL(version, GT_COLUMN_INT, 1, INT_MAX),
    {.name = "verdict",
     .kind = GT_COLUMN_WORD,
     .offset = offsetof(struct gt_stored_rival, row.verdict),
     .words = verdict_words,
     .exported = true},
    RIVAL_REAL(ours_ns),
    RIVAL_REAL(rival_ns),
    RIVAL_REAL(ratio),
    RIVAL_REAL(ratio_low),
    RIVAL_REAL(ratio_high),
    RIVAL_REAL(floor),
    RIVAL(rounds, GT_COLUMN_INT, 1, GT_SAMPLES_MAX),
    RIVAL(driver, GT_COLUMN_TEXT, 0, ROOM(struct gt_device, driver)),
    RIVAL(measured_ms, GT_COLUMN_INT64, 0, EXACT_MAX),
    OF(struct gt_stored_rival, "provenance", GT_COLUMN_TEXT, row.provenance, 1,
       GT_PROVENANCE_MAX),
};

_Static_assert(GT_DB_LIBRARY_MAX + ROOM(struct gt_device, driver) <= GT_DB_ERROR_MAX,
               "GT_DB_TEXTS_MAX is enough for a rival's texts");
_Static_assert(sizeof(gt_outcome) == sizeof(int) &&
                   sizeof(enum gt_verdict) == sizeof(int) &&
                   sizeof(gemmtune_backend) == sizeof(int) &&
                   sizeof(enum gt_trial_state) == sizeof(int),
               "GT_COLUMN_WORD takes every enum for an int");

/* ---- tables ---------------------------------------------------------------- */

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const char *const no_joins[] = {NULL};
static const char *const subject_joins[] = {
    "subject AS s ON s.id = x.subject",
    "device AS d ON d.id = s.device",
    "family AS f ON f.id = s.family",
    NULL,
};

const struct gt_db_table gt_device_table = {
    .name = "device",
    .conflict = "key",
    .joins = no_joins,
    .order = "x.key",
    .column = device_columns,
    .count = LENGTH(device_columns),
    .check = check_device,
};

const struct gt_db_table gt_trial_table = {
    .name = "trial",
    .conflict = "subject, provenance",
    .joins = subject_joins,
    .order = "d.key, s.problem, x.id",
    .column = trial_columns,
    .count = LENGTH(trial_columns),
    .own = SUBJECT_COLUMNS,
    .texts = offsetof(struct gt_stored_trial, texts),
    .check = check_trial,
};

static int compare_numbers(double a, double b) {
    return (a > b) - (a < b);
}

/* Rows that were verified here come first, then the winner of each source, the fastest
 * ahead. */
static int compare_records(const void *a, const void *b) {
    const struct gt_record_row *x = &(*(const struct gt_stored_record *const *)a)->row;
    const struct gt_record_row *y = &(*(const struct gt_stored_record *const *)b)->row;
    const int order[] = {
        (int)y->verified - (int)x->verified,
        compare_numbers(x->rank, y->rank),
        compare_numbers(x->time.median_ns, y->time.median_ns),
        strcmp(x->subject.family, y->subject.family),
        strcmp(x->subject.family_hash, y->subject.family_hash),
        strcmp(x->subject.point, y->subject.point),
        strcmp(x->provenance, y->provenance),
    };
    size_t i = 0;
    while (i + 1 < LENGTH(order) && order[i] == 0)
        i++;
    return order[i];
}

/* SQLite reads the rows of a device by problem without sorting, out of an index. To sort
 * the rows of a problem here takes less time than to sort all columns there. */
const struct gt_db_table gt_record_table = {
    .name = "record",
    .conflict = "subject, provenance",
    .joins = subject_joins,
    .order = "d.key, s.problem",
    .compare = compare_records,
    .column = record_columns,
    .count = LENGTH(record_columns),
    .own = SUBJECT_COLUMNS,
    .texts = offsetof(struct gt_stored_record, texts),
    .check = check_record,
};

const struct gt_db_table gt_rival_table = {
    .name = "rival",
    .conflict = "subject, workspace, library, version, provenance",
    .joins = subject_joins,
    .order = "d.key, s.problem, f.name, f.hash, s.point, x.workspace, x.library, "
             "x.version, x.provenance <> 'local', x.provenance",
    .column = rival_columns,
    .count = LENGTH(rival_columns),
    .own = SUBJECT_COLUMNS,
    .texts = offsetof(struct gt_stored_rival, texts),
    .check = check_rival,
};
