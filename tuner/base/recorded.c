/* SPDX-License-Identifier: Apache-2.0 */
/* recorded.c - see recorded.h. */
#include "tuner/base/recorded.h"

#include "core/io.h"
#include "core/json.h"
#include "core/new_file.h"
#include "core/problem/problem.h"
#include "core/room.h"
#include "core/text.h"
#include "tuner/base/sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_SIZE = 2048 };
static const int64_t count_max = GT_SWEEP_CALLS_MAX;

void gt_recorded_clear(struct gt_recorded *r) {
    for (size_t i = 0; i < r->count; i++) {
        free(r->item[i].what);
        free(r->item[i].function);
    }
    free(r->item);
    *r = (struct gt_recorded){0};
}

/* ---- items  ---- */

static bool same(const struct gt_recorded_item *item, const char *what,
                 const char *function) {
    return strcmp(item->what, what) == 0 &&
           (function == NULL
                ? item->function == NULL
                : item->function != NULL && strcmp(item->function, function) == 0);
}

static gt_status add(struct gt_recorded *r, const char *what, const char *function,
                     int64_t count, struct gt_err *err) {
    for (size_t i = 0; i < r->count; i++)
        if (same(&r->item[i], what, function)) {
            r->item[i].count += count;
            return GEMMTUNE_OK;
        }
    struct gt_recorded_item *item = gt_room_for(r->item, &r->room, r->count, sizeof *item);
    if (item == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    r->item = item;
    item = &r->item[r->count];
    *item = (struct gt_recorded_item){.what = strdup(what), .count = count};
    if (function != NULL)
        item->function = strdup(function);
    r->count++;
    return item->what != NULL && (function == NULL || item->function != NULL)
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

/* Adds a problem, or the reason why it cannot be tuned. */
static gt_status add_problem(struct gt_recorded *r, const char *name, const char *function,
                             int64_t count, struct gt_err *err) {
    gemmtune_problem p;
    struct gt_err why = {""};
    char text[GT_PROBLEM_NAME_MAX + sizeof why.line + 4];
    if (gt_problem_from_name(&p, name, &why) == GEMMTUNE_OK && p.m > 0 && p.n > 0 &&
        p.k > 0) {
        (void)gt_problem_name(&p, text);
        return add(r, text, NULL, count, err);
    }
    (void)snprintf(text, sizeof text, "%s: %s", name, why.line);
    return add(r, text, function, count, err);
}

/* ---- the kept file  ---- */

static gt_status take_size(struct gt_recorded *r, struct gt_node n, struct gt_err *err) {
    const char *name = "";
    int64_t count = 1;
    gt_status status;
    if (gt_json_kind(n) == GT_JSON_STRING) {
        status = gt_json_string(&name, n, err);
    } else {
        status = gt_json_need_string(&name, n, "problem", err);
        if (status == GEMMTUNE_OK)
            status = gt_json_need_int(&count, n, "count", 1, count_max, err);
    }
    return status == GEMMTUNE_OK ? add_problem(r, name, "", count, err) : status;
}

static gt_status take_passed(struct gt_recorded *r, struct gt_node n, struct gt_err *err) {
    const char *function = "", *why = "";
    int64_t count = 1;
    gt_status status = gt_json_need_string(&function, n, "function", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_string(&why, n, "why", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_int(&count, n, "count", 1, count_max, err);
    return status == GEMMTUNE_OK ? add(r, why, function, count, err) : status;
}

static gt_status take_list(struct gt_recorded *r, struct gt_node root, const char *key,
                           gt_status (*take)(struct gt_recorded *, struct gt_node,
                                             struct gt_err *),
                           struct gt_err *err) {
    const struct gt_node list = gt_json_member(root, key);
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; status == GEMMTUNE_OK && i < gt_json_count(list); i++)
        status = take(r, gt_json_at(list, i), err);
    return status;
}

gt_status gt_recorded_load(struct gt_recorded *r, const char *path, struct gt_err *err) {
    struct gt_json *doc = NULL;
    if (access(path, F_OK) != 0)
        return GEMMTUNE_OK;
    gt_status status = gt_json_load(&doc, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    const struct gt_node root = gt_json_root(doc);
    status = take_list(r, root, "sizes", take_size, err);
    if (status == GEMMTUNE_OK)
        status = take_list(r, root, "passed_on", take_passed, err);
    gt_json_destroy(doc);
    return status;
}

/* ---- what a process wrote  ---- */

/* Lines of one process, the last of each kind. */
struct counted {
    char *key; /* "N", or "- FUNCTION REASON" */
    char *line;
};

struct process {
    size_t count, room;
    struct counted *item;
};

static void clear_process(struct process *p) {
    for (size_t i = 0; i < p->count; i++) {
        free(p->item[i].key);
        free(p->item[i].line);
    }
    free(p->item);
}

/* "N COUNT FUNCTION WHAT" in parts, which end in the line's own bytes. */
struct parts {
    char *number, *function, *what;
    int64_t count;
};

static bool split(struct parts *out, char *line) {
    char *at[4] = {line};
    for (int i = 1; i < 4; i++) {
        at[i] = strchr(at[i - 1], ' ');
        if (at[i] == NULL)
            return false;
        *at[i]++ = '\0';
    }
    *out = (struct parts){at[0], at[2], at[3], 0};
    return gt_text_int(&out->count, at[1], strlen(at[1])) && out->count > 0 &&
           out->count <= count_max && out->what[0] != '\0';
}

static gt_status keep_line(struct process *p, const char *line, struct gt_err *err) {
    char copy[LINE_SIZE], key[LINE_SIZE];
    struct parts parts;
    size_t i = 0;
    (void)snprintf(copy, sizeof copy, "%s", line);
    if (!split(&parts, copy))
        return GEMMTUNE_OK; /* a line that was cut off */
    const bool plain = strcmp(parts.number, "-") != 0;
    (void)snprintf(key, sizeof key, "%s%s%s%s%s", parts.number, plain ? "" : " ",
                   plain ? "" : parts.function, plain ? "" : " ", plain ? "" : parts.what);
    while (i < p->count && strcmp(p->item[i].key, key) != 0)
        i++;
    if (i == p->count) {
        struct counted *const all = gt_room_for(p->item, &p->room, i, sizeof *all);
        if (all == NULL)
            return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
        p->item = all;
        p->item[p->count++] = (struct counted){strdup(key), NULL};
    }
    free(p->item[i].line);
    p->item[i].line = strdup(line);
    return p->item[i].key != NULL && p->item[i].line != NULL
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

static gt_status add_lines(struct gt_recorded *r, struct process *p, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; status == GEMMTUNE_OK && i < p->count; i++) {
        struct parts parts;
        if (!split(&parts, p->item[i].line))
            continue;
        status = strcmp(parts.number, "-") == 0
                     ? add(r, parts.what, parts.function, parts.count, err)
                     : add_problem(r, parts.what, parts.function, parts.count, err);
    }
    return status;
}

gt_status gt_recorded_add_process(struct gt_recorded *r, const char *path,
                                  struct gt_err *err) {
    static const char head[] = "gemmtune record 1\n";
    struct process p = {0};
    char line[LINE_SIZE];
    FILE *in = NULL;
    gt_status status = gt_fopen_input(&in, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (fgets(line, sizeof line, in) == NULL || strcmp(line, head) != 0)
        status = gt_fail(err, GEMMTUNE_EPARSE, "%s: its first line is not \"%.17s\"", path,
                         head);
    while (status == GEMMTUNE_OK && fgets(line, sizeof line, in) != NULL) {
        const size_t length = strcspn(line, "\n");
        const bool whole = line[length] == '\n';
        line[length] = '\0';
        if (whole)
            status = keep_line(&p, line, err);
    }
    (void)fclose(in);
    if (status == GEMMTUNE_OK)
        status = add_lines(r, &p, err);
    clear_process(&p);
    return status;
}

/* ---- the file that is written  ---- */

static double seconds_of(const char *name) {
    static const double unknown_s = 3e-6;
    gemmtune_problem p;
    struct gt_err err;
    return gt_problem_from_name(&p, name, &err) == GEMMTUNE_OK ? gt_sweep_guess(&p)
                                                               : unknown_s;
}

static void weigh(struct gt_recorded *r) {
    double most = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->item[i].function == NULL) {
            r->item[i].weight = (double)r->item[i].count * seconds_of(r->item[i].what);
            most = fmax(most, r->item[i].weight);
        }
    for (size_t i = 0; i < r->count; i++)
        r->item[i].weight = gt_sweep_share(r->item[i].weight, most);
}

/* Problems first, the heaviest one first; then calls that were passed on, the most
 * frequent ones first. */
static int by_weight(const void *a, const void *b) {
    const struct gt_recorded_item *x = a, *y = b;
    if ((x->function == NULL) != (y->function == NULL))
        return x->function == NULL ? -1 : 1;
    if (x->function == NULL && x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->what, y->what);
}

static void put_text(FILE *out, const char *before, const char *text) {
    (void)fputs(before, out);
    gt_json_quote(out, text);
}

static void put_item(FILE *out, const struct gt_recorded_item *item, bool first) {
    (void)fputs(first ? "\n    " : ",\n    ", out);
    if (item->function == NULL) {
        put_text(out, "{\"problem\": ", item->what);
        fprintf(out, ", \"count\": %" PRId64 ", \"weight\": %.0f}", item->count,
                item->weight);
        return;
    }
    put_text(out, "{\"function\": ", item->function);
    put_text(out, ", \"why\": ", item->what);
    fprintf(out, ", \"count\": %" PRId64 "}", item->count);
}

static void put_list(FILE *out, const char *key, const struct gt_recorded *r,
                     bool problems) {
    bool first = true;
    fprintf(out, ",\n  \"%s\": [", key);
    for (size_t i = 0; i < r->count; i++)
        if ((r->item[i].function == NULL) == problems) {
            put_item(out, &r->item[i], first);
            first = false;
        }
    (void)fputs(first ? "]" : "\n  ]", out);
}

gt_status gt_recorded_write(struct gt_recorded *r, const char *path, struct gt_err *err) {
    struct gt_new_text text;
    gt_status status = gt_new_text_begin(&text, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    weigh(r);
    if (r->count > 0)
        qsort(r->item, r->count, sizeof *r->item, by_weight);
    (void)fputs(
        "{\n  \"format\": 1,\n  \"about\": \"GEMM calls of programs, counted by gemmtune "
        "record. Weights are parts of the time that they are expected to take.\"",
        text.out);
    put_list(text.out, "sizes", r, true);
    put_list(text.out, "passed_on", r, false);
    (void)fputs("\n}\n", text.out);
    return gt_new_text_end(&text, status, err);
}
