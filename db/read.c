/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.c - the read side: sound rows in a defined order, and the check of a whole file.
 */
#include "db/internal.h"

#include "core/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- every row of a table -------------------------------------------------- */

static void skip(struct gt_db *db, const struct gt_db_table *table, int64_t id,
                 const struct gt_err *why) {
    db->bad++;
    gt_log(GEMMTUNE_LOG_WARN, "%s: %s %" PRId64 " is skipped: %s", db->path, table->name,
           id, why->line);
}

/* Empties all but the texts, which are loaded before they are read. */
static void clear(union gt_db_stored *row, const struct gt_db_table *table) {
    memset(row, 0, table->texts > 0 ? table->texts : sizeof row->device);
}

/* Sound rows that wait until all rows of their device and problem are there. */
struct group {
    union gt_db_stored **row; /* of `room` places; the last one may be NULL */
    size_t count, room;
};

/* The place after the rows that wait. NULL: no memory. */
static union gt_db_stored *next_row(struct group *g) {
    if (g->count == g->room) {
        union gt_db_stored **grown = realloc(g->row, (g->room + 1) * sizeof *g->row);
        if (grown == NULL)
            return NULL;
        g->row = grown;
        g->row[g->room++] = NULL;
    }
    if (g->row[g->count] == NULL)
        g->row[g->count] = malloc(sizeof **g->row);
    return g->row[g->count];
}

static void clear_group(struct group *g) {
    for (size_t i = 0; i < g->room; i++)
        free(g->row[i]);
    free(g->row);
}

/* Whether the next row belongs to the rows that wait. */
static bool belongs(const struct group *g, const struct gt_db_table *table) {
    if (g->count == 0 || table->compare == NULL)
        return g->count == 0;
    const struct gt_db_subject *a = &g->row[0]->record.row.subject;
    const struct gt_db_subject *b = &g->row[g->count]->record.row.subject;
    return strcmp(a->problem, b->problem) == 0 && strcmp(a->device_key, b->device_key) == 0;
}

/* Gives the rows that wait to fn, in order. */
static gt_status give(struct group *g, const struct gt_db_table *table, gt_stored_fn fn,
                      void *user, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    if (g->count > 1)
        qsort(g->row, g->count, sizeof *g->row, table->compare);
    for (size_t i = 0; i < g->count && status == GEMMTUNE_OK; i++)
        status = fn(user, g->row[i], err);
    return status;
}

/* Lets the next row wait with the others, after it has given the rows of another group. */
static gt_status take(struct group *g, const struct gt_db_table *table, gt_stored_fn fn,
                      void *user, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    if (!belongs(g, table)) {
        union gt_db_stored *row = g->row[g->count];
        status = give(g, table, fn, user, err);
        g->row[g->count] = g->row[0];
        g->row[0] = row;
        g->count = 0;
    }
    g->count++;
    return status;
}

/* `group` is empty at first; it keeps the rows that were not given. */
static gt_status visit_groups(struct group *g, struct gt_db *db,
                              const struct gt_db_table *table, sqlite3_stmt *stmt,
                              gt_stored_fn fn, void *user, struct gt_err *err) {
    const union gt_db_stored *before = NULL; /* the last sound row */
    bool more = true;
    gt_status status = gt_sql_step(&more, db, stmt, err);
    while (status == GEMMTUNE_OK && more) {
        struct gt_err why;
        int64_t id = 0;
        union gt_db_stored *row = next_row(g);
        if (row == NULL)
            return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
        clear(row, table);
        if (gt_row_load(row, &id, table, before, stmt, &why) == GEMMTUNE_OK) {
            if (table == &gt_trial_table)
                row->trial.row.id = id;
            status = take(g, table, fn, user, err);
            before = row;
        } else
            skip(db, table, id, &why);
        if (status == GEMMTUNE_OK)
            status = gt_sql_step(&more, db, stmt, err);
    }
    return status;
}

static gt_status visit(struct gt_db *db, const struct gt_db_table *table,
                       sqlite3_stmt *stmt, gt_stored_fn fn, void *user,
                       struct gt_err *err) {
    struct group g = {0};
    gt_status status = visit_groups(&g, db, table, stmt, fn, user, err);
    if (status == GEMMTUNE_OK)
        status = give(&g, table, fn, user, err);
    clear_group(&g);
    return status;
}

/* The two filters that a reader may give; a device has neither. */
static char *filtered(const struct gt_db_table *table, const char *device_key,
                      const char *problem) {
    char where[64];
    (void)snprintf(where, sizeof where, "%s%s%s", device_key != NULL ? "d.key = ?1" : "",
                   device_key != NULL && problem != NULL ? " AND " : "",
                   problem != NULL ? "s.problem = ?2" : "");
    return gt_row_select(table, where[0] != '\0' ? where : NULL, true);
}

gt_status gt_db_each(struct gt_db *db, const struct gt_db_table *table,
                     const char *device_key, const char *problem, gt_stored_fn fn,
                     void *user, struct gt_err *err) {
    sqlite3_stmt *stmt = NULL;
    char *sql = filtered(table, device_key, problem);
    gt_status status = sql != NULL ? gt_sql_prepare(&stmt, db, sql, err)
                                   : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    if (status == GEMMTUNE_OK && device_key != NULL)
        (void)sqlite3_bind_text(stmt, 1, device_key, -1, SQLITE_STATIC);
    if (status == GEMMTUNE_OK && problem != NULL)
        (void)sqlite3_bind_text(stmt, 2, problem, -1, SQLITE_STATIC);
    if (status == GEMMTUNE_OK)
        status = visit(db, table, stmt, fn, user, err);
    (void)sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return status;
}

/* ---- the public readers ---------------------------------------------------- */

struct device_reader {
    gt_db_device_fn fn;
    void *user;
};

static gt_status give_device(void *user, void *row, struct gt_err *err) {
    const struct device_reader *reader = user;
    const struct gt_stored_device *device = row;
    return reader->fn(reader->user, device->key, &device->device, err);
}

gt_status gt_db_devices(struct gt_db *db, gt_db_device_fn fn, void *user,
                        struct gt_err *err) {
    struct device_reader reader = {fn, user};
    return gt_db_each(db, &gt_device_table, NULL, NULL, give_device, &reader, err);
}

struct trial_reader {
    gt_db_trial_fn fn;
    void *user;
};

static gt_status give_trial(void *user, void *row, struct gt_err *err) {
    const struct trial_reader *reader = user;
    struct gt_stored_trial *trial = row;
    return reader->fn(reader->user, &trial->row, err);
}

gt_status gt_db_trials(struct gt_db *db, const char *device_key, const char *problem,
                       gt_db_trial_fn fn, void *user, struct gt_err *err) {
    struct trial_reader reader = {fn, user};
    return gt_db_each(db, &gt_trial_table, device_key, problem, give_trial, &reader, err);
}

/* Trials beside the best record of their device and problem. */
static const char *const beside_records[] = {
    "subject AS s ON s.id = x.subject",
    "device AS d ON d.id = s.device",
    "family AS f ON f.id = s.family",
    "(SELECT rs.device, rs.problem, min(r.median_ns) AS ns FROM record AS r "
    "JOIN subject AS rs ON rs.id = r.subject WHERE r.verified GROUP BY 1, 2) AS best "
    "ON best.device = s.device AND best.problem = s.problem",
    NULL,
};

static gt_status read_runners_up(struct gt_db *db, double within, gt_db_trial_fn fn,
                                 void *user, struct gt_err *err) {
    struct trial_reader reader = {fn, user};
    struct gt_db_table beside = gt_trial_table;
    sqlite3_stmt *stmt = NULL;
    beside.joins = beside_records;
    char *sql =
        gt_row_select(&beside,
                      "x.state = 'done' AND x.outcome = 'correct' AND x.run NOT NULL "
                      "AND x.median_ns > 0 AND x.median_ns <= ?1 * best.ns",
                      true);
    gt_status status = sql != NULL ? gt_sql_prepare(&stmt, db, sql, err)
                                   : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    if (status == GEMMTUNE_OK)
        (void)sqlite3_bind_double(stmt, 1, within);
    if (status == GEMMTUNE_OK)
        status = visit(db, &gt_trial_table, stmt, give_trial, &reader, err);
    (void)sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return status;
}

/* Whether any trial may be a runner-up. A database of imported records has none. */
static gt_status has_measured_trials(bool *found, struct gt_db *db, struct gt_err *err) {
    int64_t one = 0;
    return gt_sql_int(&one, found, db, err,
                      "SELECT 1 FROM trial WHERE outcome = 'correct' AND run NOT NULL "
                      "LIMIT 1",
                      "");
}

gt_status gt_db_runners_up(struct gt_db *db, double within, gt_db_trial_fn fn, void *user,
                           struct gt_err *err) {
    bool any = false;
    const gt_status status = has_measured_trials(&any, db, err);
    return status == GEMMTUNE_OK && any ? read_runners_up(db, within, fn, user, err)
                                        : status;
}

bool gt_ranking_same(const struct gt_ranking *ranking, const struct gt_record_row *row) {
    return strcmp(ranking->device, row->subject.device_key) == 0 &&
           strcmp(ranking->problem, row->subject.problem) == 0;
}

void gt_ranking_apply(struct gt_ranking *ranking, struct gt_record_row *row) {
    if (!gt_ranking_same(ranking, row)) {
        (void)snprintf(ranking->device, sizeof ranking->device, "%s",
                       row->subject.device_key);
        (void)snprintf(ranking->problem, sizeof ranking->problem, "%s",
                       row->subject.problem);
        ranking->next = 0;
    }
    row->rank = ranking->next++;
    if (row->rank == 0)
        ranking->winner = row->time;
    row->tied = row->tied && gt_measurement_near(&row->time, &ranking->winner);
}

struct record_reader {
    gt_db_record_fn fn;
    void *user;
    struct gt_ranking ranking;
};

static gt_status give_record(void *user, void *row, struct gt_err *err) {
    struct record_reader *reader = user;
    struct gt_stored_record *record = row;
    gt_ranking_apply(&reader->ranking, &record->row);
    return reader->fn(reader->user, &record->row, err);
}

gt_status gt_db_records(struct gt_db *db, const char *device_key, const char *problem,
                        gt_db_record_fn fn, void *user, struct gt_err *err) {
    struct record_reader reader = {.fn = fn, .user = user};
    return gt_db_each(db, &gt_record_table, device_key, problem, give_record, &reader, err);
}

struct rival_reader {
    gt_db_rival_fn fn;
    void *user;
};

static gt_status give_rival(void *user, void *row, struct gt_err *err) {
    const struct rival_reader *reader = user;
    struct gt_stored_rival *rival = row;
    rival->row.is_local = strcmp(rival->row.provenance, GT_LOCAL) == 0;
    return reader->fn(reader->user, &rival->row, err);
}

gt_status gt_db_rivals(struct gt_db *db, const char *device_key, const char *problem,
                       gt_db_rival_fn fn, void *user, struct gt_err *err) {
    struct rival_reader reader = {fn, user};
    return gt_db_each(db, &gt_rival_table, device_key, problem, give_rival, &reader, err);
}

/* ---- one row --------------------------------------------------------------- */

static gt_status load_first(bool *found, void *row, int64_t *id, struct gt_db *db,
                            const struct gt_db_table *table, sqlite3_stmt *stmt,
                            struct gt_err *err) {
    struct gt_err why = {{0}};
    bool some = false;
    const gt_status status = gt_sql_step(&some, db, stmt, err);
    if (status != GEMMTUNE_OK || !some)
        return status;
    *found = gt_row_load(row, id, table, NULL, stmt, &why) == GEMMTUNE_OK;
    if (!*found)
        skip(db, table, *id, &why);
    return GEMMTUNE_OK;
}

gt_status gt_row_find(bool *found, void *row, int64_t *id, struct gt_db *db,
                      const struct gt_db_table *table, const char *where,
                      const char *const *texts, struct gt_err *err) {
    sqlite3_stmt *stmt = NULL;
    *found = false;
    *id = 0;
    char *sql = gt_row_select(table, where, false);
    gt_status status = sql != NULL ? gt_sql_prepare(&stmt, db, sql, err)
                                   : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (int i = 0; status == GEMMTUNE_OK && texts[i] != NULL; i++)
        (void)sqlite3_bind_text(stmt, i + 1, texts[i], -1, SQLITE_STATIC);
    if (status == GEMMTUNE_OK)
        status = load_first(found, row, id, db, table, stmt, err);
    (void)sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return status;
}

gt_status gt_subject_find(bool *found, void *row, int64_t *id, struct gt_db *db,
                          const struct gt_db_table *table,
                          const struct gt_db_subject *subject, const char *provenance,
                          struct gt_err *err) {
    const char *const texts[] = {subject->device_key,
                                 subject->problem,
                                 subject->family,
                                 subject->family_hash,
                                 subject->point,
                                 provenance,
                                 NULL};
    return gt_row_find(found, row, id, db, table,
                       "d.key = ? AND s.problem = ? AND f.name = ? AND f.hash = ? AND "
                       "s.point = ? AND x.provenance = ?",
                       texts, err);
}

gt_status gt_db_trial_find(bool *found, struct gt_trial_row *row, struct gt_db *db,
                           const struct gt_db_subject *subject, struct gt_err *err) {
    struct gt_stored_trial *trial = &db->found;
    int64_t id = 0;
    memset(trial, 0, sizeof *trial);
    const gt_status status =
        gt_subject_find(found, trial, &id, db, &gt_trial_table, subject, GT_LOCAL, err);
    *found = *found && trial->row.state != GT_TRIAL_RUNNING;
    if (!*found)
        return status;
    *row = trial->row;
    row->id = id;
    return status;
}

/* ---- the whole file -------------------------------------------------------- */

static gt_status ignore_row(void *user, void *row, struct gt_err *err) {
    (void)user;
    (void)row;
    (void)err;
    return GEMMTUNE_OK;
}

static gt_status check_references(struct gt_db *db, struct gt_err *err) {
    sqlite3_stmt *stmt = NULL;
    bool row = false;
    gt_status status = gt_sql_prepare(&stmt, db, "PRAGMA foreign_key_check", err);
    if (status == GEMMTUNE_OK)
        status = gt_sql_step(&row, db, stmt, err);
    if (status == GEMMTUNE_OK && row)
        status = gt_fail(err, GEMMTUNE_EDB, "%s: %s %lld refers to a %s that is missing",
                         db->path, (const char *)sqlite3_column_text(stmt, 0),
                         sqlite3_column_int64(stmt, 1),
                         (const char *)sqlite3_column_text(stmt, 2));
    (void)sqlite3_finalize(stmt);
    return status;
}

gt_status gt_db_check(struct gt_db *db, int64_t *bad, struct gt_err *err) {
    static const struct gt_db_table *const tables[] = {&gt_device_table, &gt_trial_table,
                                                       &gt_record_table, &gt_rival_table};
    char origin[GT_PROVENANCE_MAX];
    const int64_t before = db->bad;
    *bad = 0;
    gt_status status = gt_db_check_pages(db, "integrity_check", err);
    if (status == GEMMTUNE_OK)
        status = check_references(db, err);
    if (status == GEMMTUNE_OK)
        status = gt_db_origin(origin, db, err);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == GEMMTUNE_OK; i++)
        status = gt_db_each(db, tables[i], NULL, NULL, ignore_row, NULL, err);
    *bad = db->bad - before;
    return status;
}
