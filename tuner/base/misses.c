/* SPDX-License-Identifier: Apache-2.0 */
/* misses.c - see misses.h. */
#include "tuner/base/misses.h"

#include "core/io.h"
#include "core/log.h"
#include "core/text.h"
#include "runtime/plan/misses.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 5 }; /* refused lines that get a warning each */

/* A line, and later all lines of one problem. */
struct miss {
    char problem[GT_PROBLEM_NAME_MAX];
    int64_t loss, lines; /* sum of thousandths */
};

struct log {
    const char *path, *device_key;
    struct miss *miss;
    size_t count, room;
    int64_t line_number, others, refused;
};

/* ---- reading ----------------------------------------------------------------------- */

/* Leaves out the present line. Another process may have died while it wrote the line, so
 * the others count. */
static void refuse(struct log *log, const char *what) {
    if (log->refused++ < SHOWN_MAX)
        gt_log(GEMMTUNE_LOG_WARN, "%s:%lld: %s; the line is left out", log->path,
               (long long)log->line_number, what);
}

static void say_refused(const struct log *log) {
    const long long more = (long long)log->refused - SHOWN_MAX;
    if (more > 0)
        gt_log(GEMMTUNE_LOG_WARN, "%s: %lld more line%s left out", log->path, more,
               more == 1 ? " is" : "s are");
}

static gt_status make_room(struct log *log, struct gt_err *err) {
    if (log->count < log->room)
        return GEMMTUNE_OK;
    const size_t room = log->room == 0 ? 64 : 2 * log->room;
    struct miss *grown = realloc(log->miss, room * sizeof *grown);
    if (grown == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    log->miss = grown;
    log->room = room;
    return GEMMTUNE_OK;
}

static gt_status keep(struct log *log, int64_t loss, const char *name, struct gt_err *err) {
    gemmtune_problem p;
    struct gt_err why = {""};
    if (gt_problem_from_name(&p, name, &why) != GEMMTUNE_OK) {
        refuse(log, why.line);
        return GEMMTUNE_OK;
    }
    const gt_status status = make_room(log, err);
    if (status != GEMMTUNE_OK)
        return status;
    struct miss *m = &log->miss[log->count++];
    (void)gt_problem_name(&p, m->problem);
    m->loss = loss;
    m->lines = 1;
    return GEMMTUNE_OK;
}

/* Takes "<loss> <device key> <problem>". */
static gt_status take_line(struct log *log, const char *line, size_t len,
                           struct gt_err *err) {
    struct gt_reader rest = {line, line + len};
    const struct gt_piece loss = gt_piece_take(&rest, " ");
    const struct gt_piece key = gt_piece_take(&rest, " ");
    int64_t thousandths = 0;
    if (key.stop != ' ' || key.len == 0 ||
        !gt_text_int(&thousandths, loss.text, (size_t)loss.len) || thousandths < 1 ||
        thousandths > GT_MISS_LOSS_MAX)
        refuse(log, "is not LOSS DEVICE PROBLEM, with a loss in thousandths");
    else if (gt_piece_is(key, log->device_key))
        return keep(log, thousandths, rest.at, err);
    else
        log->others++;
    return GEMMTUNE_OK;
}

static gt_status read_lines(struct log *log, FILE *file, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    while (status == GEMMTUNE_OK && (len = getline(&line, &room, file)) > 0) {
        log->line_number++;
        if (line[len - 1] != '\n')
            break;
        line[len - 1] = '\0';
        status = take_line(log, line, (size_t)len - 1, err);
    }
    if (status == GEMMTUNE_OK && ferror(file))
        status = gt_fail(err, GEMMTUNE_EIO, "%s: %s", log->path, strerror(errno));
    free(line);
    return status;
}

/* ---- order ------------------------------------------------------------------------- */

static int by_problem(const void *a, const void *b) {
    const struct miss *x = a, *y = b;
    return strcmp(x->problem, y->problem);
}

static int by_loss(const void *a, const void *b) {
    const struct miss *x = a, *y = b;
    return x->loss != y->loss ? (x->loss < y->loss) - (x->loss > y->loss)
                              : strcmp(x->problem, y->problem);
}

/* Makes one miss of all lines of a problem, then sorts them. */
static void add_up(struct log *log) {
    size_t kept = 0;
    if (log->count == 0)
        return;
    qsort(log->miss, log->count, sizeof *log->miss, by_problem);
    for (size_t i = 1; i < log->count; i++)
        if (strcmp(log->miss[kept].problem, log->miss[i].problem) == 0) {
            log->miss[kept].loss += log->miss[i].loss;
            log->miss[kept].lines++;
        } else
            log->miss[++kept] = log->miss[i];
    log->count = kept + 1;
    qsort(log->miss, log->count, sizeof *log->miss, by_loss);
}

/* ---- the sweep --------------------------------------------------------------------- */

static gt_status add_to_sweep(struct gt_misses_read *out, struct gt_sweep *sweep,
                              const struct log *log, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    *out = (struct gt_misses_read){.others = log->others, .problems = log->count};
    for (size_t i = 0; i < log->count && status == GEMMTUNE_OK; i++) {
        const size_t before = sweep->count;
        status = gt_sweep_add(sweep, log->miss[i].problem, err);
        if (sweep->count > before)
            sweep->item[before].weight = (double)log->miss[i].lines;
        out->lines += log->miss[i].lines;
    }
    return status;
}

gt_status gt_misses_load(struct gt_misses_read *out, struct gt_sweep *sweep,
                         const char *path, const char *device_key, struct gt_err *err) {
    struct log log = {.path = path, .device_key = device_key};
    FILE *file;
    gt_status status = gt_fopen_input(&file, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = read_lines(&log, file, err);
    say_refused(&log);
    (void)fclose(file);
    if (status == GEMMTUNE_OK) {
        add_up(&log);
        status = add_to_sweep(out, sweep, &log, err);
    }
    free(log.miss);
    return status;
}
