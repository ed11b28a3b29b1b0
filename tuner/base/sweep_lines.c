/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_lines.c - see sweep_lines.h. */
#include "tuner/base/sweep_lines.h"

#include "core/io.h"
#include "core/text.h"
#include "tuner/base/sweep_list.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A longer line is read in parts. A line of a group of products may be long. */
enum { LINE_SIZE = 1 << 16, LIST_MIN = 4096 };

/* ---- the kind of the file ---- */

/* The next character that is no blank. */
static int next_mark(FILE *file) {
    int c = ' ';
    while (c == ' ' || c == '\t' || c == '\r' || c == '\n')
        c = getc(file);
    return c;
}

/* Whether the text begins as JSON does. A byte-order mark may come first. */
static bool begins_as_json(FILE *file) {
    static const char mark[] = "\xEF\xBB\xBF";
    char head[sizeof mark] = "";
    if (fread(head, 1, sizeof mark - 1, file) != sizeof mark - 1 || strcmp(head, mark) != 0)
        rewind(file);
    const int first = next_mark(file);
    const int second = first == '[' ? next_mark(file) : EOF;
    rewind(file);
    return first == EOF || first == '{' || first == '"' ||
           (first == '[' && !isalpha(second)); /* not "[rank0]: ..." */
}

/* ---- lines ---- */

/* Adds up equal problems. */
static gt_status shrink(struct gt_sweep *s, const char *path, struct gt_err *err) {
    const gt_status status = gt_sweep_merge(s, true, err);
    return status == GEMMTUNE_OK && s->count > GT_SWEEP_MAX
               ? gt_fail(err, GEMMTUNE_EPARSE, "%s: more than %d different problems", path,
                         GT_SWEEP_MAX)
               : status;
}

/* A list of lines that has room for *room problems. */
struct growing {
    struct gt_sweep *sweep;
    size_t room;
    const char *path;
    int64_t number; /* of the line */
};

/* Makes room for one more. A list that is full first becomes shorter, so that a log of
 * millions of calls takes little memory. */
static gt_status make_room(struct growing *g, struct gt_err *err) {
    struct gt_sweep *const s = g->sweep;
    if (s->count < g->room)
        return GEMMTUNE_OK;
    gt_status status = shrink(s, g->path, err);
    const size_t more = s->count > LIST_MIN ? s->count : LIST_MIN;
    if (status == GEMMTUNE_OK)
        status = gt_sweep_reserve(s, more, err);
    if (status == GEMMTUNE_OK)
        g->room = s->count + more;
    return status;
}

static gt_status take_line(struct growing *g, const char *line, size_t len,
                           struct gt_err *err) {
    struct gt_sweep_lines *const lines = &g->sweep->lines;
    struct gt_logged logged;
    struct gt_err why = {""};
    gt_status status = gt_logged_read(&logged, line, len, &why);
    if (status != GEMMTUNE_OK) {
        *err = why;
        return status;
    }
    if (logged.fate == GT_LOGGED_DAMAGED && lines->fate[GT_LOGGED_DAMAGED] == 0) {
        lines->damaged_line = g->number;
        lines->damage = why;
    }
    lines->fate[logged.fate]++;
    if (logged.fate != GT_LOGGED_PROBLEM)
        return GEMMTUNE_OK;
    lines->untyped += (logged.notes & GT_LOGGED_UNTYPED) != 0;
    lines->half_sums += (logged.notes & GT_LOGGED_HALF_SUMS) != 0;
    status = make_room(g, err);
    if (status == GEMMTUNE_OK) {
        const int64_t calls =
            logged.calls < GT_SWEEP_CALLS_MAX ? logged.calls : GT_SWEEP_CALLS_MAX;
        gt_sweep_append(g->sweep, &logged.problem, (double)calls);
        g->sweep->item[g->sweep->count - 1].count = calls;
    }
    return status;
}

static gt_status take_lines(struct gt_sweep *s, FILE *file, const char *path,
                            struct gt_err *err) {
    struct growing growing = {.sweep = s, .path = path, .number = 1};
    char *line = malloc(LINE_SIZE);
    if (line == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a line of %s", path);
    gt_status status = GEMMTUNE_OK;
    while (status == GEMMTUNE_OK && fgets(line, LINE_SIZE, file) != NULL) {
        size_t len = strlen(line);
        const bool whole = len > 0 && line[len - 1] == '\n';
        while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r'))
            len--;
        status = take_line(&growing, line, len, err);
        growing.number += whole;
    }
    if (status == GEMMTUNE_OK && ferror(file))
        status = gt_fail(err, GEMMTUNE_EIO, "%s: %s", path, strerror(errno));
    free(line);
    return status == GEMMTUNE_OK ? shrink(s, path, err) : status;
}

/* ---- what is left out ---- */

void gt_sweep_lines_left(char text[GT_SWEEP_LEFT_MAX], const struct gt_sweep_lines *lines) {
    static const char *const what[GT_LOGGED_FATES] = {
        [GT_LOGGED_COMPLEX] = "complex",
        [GT_LOGGED_TYPES] = "with types that no kernel has",
        [GT_LOGGED_EPILOGUE] = "with an epilogue that no kernel has",
        [GT_LOGGED_GROUPED] = "with several shapes in one call",
        [GT_LOGGED_APART] = "with two matrices C",
        [GT_LOGGED_EMPTY] = "with an empty product",
        [GT_LOGGED_OTHER] = "of another function",
        [GT_LOGGED_DAMAGED] = "damaged",
    };
    int len = 0;
    text[0] = '\0';
    for (int i = 0; i < GT_LOGGED_FATES; i++) {
        if (what[i] == NULL || lines->fate[i] == 0)
            continue;
        len += snprintf(text + len, (size_t)(GT_SWEEP_LEFT_MAX - len), "%s%" PRId64 " %s",
                        len > 0 ? ", " : "", lines->fate[i], what[i]);
        if (i == GT_LOGGED_DAMAGED)
            len += snprintf(text + len, (size_t)(GT_SWEEP_LEFT_MAX - len),
                            " (line %" PRId64 ": %.120s)", lines->damaged_line,
                            lines->damage.line);
    }
}

static gt_status check(const struct gt_sweep *s, const char *path, struct gt_err *err) {
    char left[GT_SWEEP_LEFT_MAX];
    if (s->count > 0)
        return GEMMTUNE_OK;
    gt_sweep_lines_left(left, &s->lines);
    if (left[0] == '\0')
        return gt_fail(err, GEMMTUNE_EPARSE,
                       "%s: neither a list of problems in JSON nor lines of TunableOp, "
                       "rocblas-bench, hipblaslt-bench or DeepBench",
                       path);
    return gt_fail(err, GEMMTUNE_EPARSE, "%s: no line can be tuned: %s", path, left);
}

/* ---- the file ---- */

gt_status gt_sweep_lines_read(struct gt_sweep *out, bool *is_json, FILE *file,
                              const char *path, struct gt_err *err) {
    *out = (struct gt_sweep){0};
    *is_json = begins_as_json(file);
    if (*is_json)
        return GEMMTUNE_OK;
    gt_status status = take_lines(out, file, path, err);
    if (status == GEMMTUNE_OK)
        status = check(out, path, err);
    if (status == GEMMTUNE_OK)
        gt_sweep_weigh(out);
    else
        gt_sweep_clear(out);
    return status;
}

gt_status gt_sweep_lines_load(struct gt_sweep *out, bool *is_json, const char *path,
                              struct gt_err *err) {
    FILE *file;
    *out = (struct gt_sweep){0};
    gt_status status = gt_fopen_input(&file, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = gt_sweep_lines_read(out, is_json, file, path, err);
    (void)fclose(file);
    return status;
}
