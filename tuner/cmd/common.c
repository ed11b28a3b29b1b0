/* SPDX-License-Identifier: Apache-2.0 */
/*
 * common.c - the first steps of most subcommands. It knows the exit codes and decides
 * nothing else.
 */
#include "tuner/cmd/common.h"

#include "core/json.h"
#include "core/text.h"
#include "runtime/lookup/shelf.h"
#include "tuner/base/sweep_lines.h"
#include "tuner/base/svg.h"
#include "tuner/base/terminal.h"
#include "tuner/base/talk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FAMILIES_MAX = 64, OPERAND_MAX = 32 };

/* ---- the command line ---- */

/* The name of an operand in the usage: "FILE..." is FILE. */
static const char *operand_name(char buf[OPERAND_MAX], const struct gt_cmd *cmd, int i) {
    const char *at = cmd->operands;
    for (; i > 0 && strchr(at, ' ') != NULL; i--)
        at = strchr(at, ' ') + 1;
    (void)snprintf(buf, OPERAND_MAX, "%.*s", (int)strcspn(at, " ."), at);
    return buf;
}

int gt_common_parse(const struct gt_cmd *cmd, int argc, char **argv, void *values,
                    const struct gt_format *format, int least, int most, int *first) {
    const int code = gt_options_parse(cmd, argc, argv, values, first);
    const int operands = argc - *first;
    char name[OPERAND_MAX];
    if (code >= 0)
        return code;
    if (operands < least)
        return gt_die(GT_EXIT_USAGE, "%s: %s is missing; usage: gemmtune %s %s", cmd->name,
                      operand_name(name, cmd, operands), cmd->name, cmd->operands);
    if (operands > most)
        return gt_die(GT_EXIT_USAGE, "%s: too many arguments; usage: gemmtune %s%s%s",
                      cmd->name, cmd->name, cmd->operands[0] != '\0' ? " " : "",
                      cmd->operands);
    if (format != NULL && format->json && format->csv)
        return gt_die(GT_EXIT_USAGE, "%s: --json and --csv exclude each other", cmd->name);
    return -1;
}

#define WORD(x)             #x
#define VERSION_OF(a, b, c) WORD(a) "." WORD(b) "." WORD(c)

const char *gt_common_version(void) {
    return VERSION_OF(GEMMTUNE_VERSION_MAJOR, GEMMTUNE_VERSION_MINOR,
                      GEMMTUNE_VERSION_PATCH);
}

void gt_common_command(char text[GT_COMMAND_MAX], int argc, char **argv) {
    static const char dots[] = " ...";
    int len = gt_text_put(text, GT_COMMAND_MAX, 0, "gemmtune");
    for (int i = 0; i < argc; i++) {
        const int after = len + 1 + (int)strlen(argv[i]);
        if (after + (int)sizeof dots > GT_COMMAND_MAX) {
            (void)gt_text_put(text, GT_COMMAND_MAX, len, dots);
            return;
        }
        len = gt_text_put(text, GT_COMMAND_MAX, len, " ");
        len = gt_text_put(text, GT_COMMAND_MAX, len, argv[i]);
    }
}

int gt_common_output(const char *path) {
    struct gt_err err = {""};
    if (path == NULL || gt_new_text_ask(path, &err) == GEMMTUNE_OK)
        return -1;
    return gt_die(GT_EXIT_FAILURE, "%s", err.line);
}

int gt_common_picture(const char *path) {
    if (path != NULL && strcmp(path, "-") == 0)
        return gt_die(GT_EXIT_USAGE, "standard output has the table, so a picture needs a "
                                     "file");
    return gt_common_output(path);
}

size_t gt_common_bytes(double limit) {
    return limit < (double)SIZE_MAX ? (size_t)limit : SIZE_MAX;
}

int gt_common_spread(enum gt_spread *out, const char *word) {
    struct gt_err err = {""};
    return gt_spread_parse(out, word, &err) == GEMMTUNE_OK
               ? -1
               : gt_die(GT_EXIT_USAGE, "--spread: %s", err.line);
}

int gt_common_outcome(gt_outcome outcome) {
    return outcome == GT_CORRECT        ? GT_EXIT_OK
           : outcome == GT_WRONG_RESULT ? GT_EXIT_VERIFY
                                        : GT_EXIT_FAILURE;
}

int gt_common_fail(gt_status status, const struct gt_err *err) {
    return gt_die(status == GEMMTUNE_EIO ? GT_EXIT_DATABASE : gt_exit_of(status), "%s",
                  err->line[0] != '\0' ? err->line : gemmtune_strerror(status));
}

/* ---- the database ---- */

int gt_common_db_path(const char **path, char buf[GT_PATH_SIZE]) {
    struct gt_err err = {""};
    if (*path != NULL)
        return -1;
    if (gt_db_default_path(buf, GT_PATH_SIZE, &err) != GEMMTUNE_OK)
        return gt_die(GT_EXIT_DATABASE, "%s", err.line);
    *path = buf;
    return -1;
}

static int open_db(struct gt_db **out, const char *path, enum gt_db_mode mode) {
    struct gt_err err = {""};
    enum gt_db_flaw mended = GT_DB_SOUND;
    const gt_status status = mode == GT_DB_READ
                                 ? gt_db_open_mended(out, &mended, path, &err)
                                 : gt_db_open(out, path, mode, &err);
    if (mended != GT_DB_SOUND)
        gt_talk("%s: %s", path,
                mended == GT_DB_UNFINISHED
                    ? "a process died while writing it; repaired"
                    : "an older gemmtune made it; brought up to date");
    if (status == GEMMTUNE_OK)
        gt_shelf_beside(path);
    return status == GEMMTUNE_OK ? -1 : gt_die(GT_EXIT_DATABASE, "%s", err.line);
}

int gt_common_read_db(struct gt_db **out, const char *path) {
    char buf[GT_PATH_SIZE];
    const bool asked = path != NULL;
    const int code = gt_common_db_path(&path, buf);
    *out = NULL;
    if (code >= 0)
        return code;
    if (!asked && access(path, F_OK) != 0 && errno == ENOENT) {
        gt_talk("no database at %s yet: nothing has been tuned; --db names another one",
                path);
        return -1;
    }
    return open_db(out, path, GT_DB_READ);
}

int gt_common_peek_db(struct gt_db **out, const char *path) {
    char buf[GT_PATH_SIZE];
    const int code = gt_common_db_path(&path, buf);
    *out = NULL;
    if (code >= 0)
        return code;
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return -1;
    return open_db(out, path, GT_DB_READ);
}

/* The folder of a given path must exist, since a typing error would otherwise create
 * folders. */
static int check_folder(const char *path) {
    char folder[GT_PATH_SIZE];
    const char *slash = strrchr(path, '/');
    const int length = slash != NULL ? (int)(slash - path) : 0;
    (void)snprintf(folder, sizeof folder, "%.*s", length, path);
    if (length == 0 || access(folder, F_OK) == 0)
        return -1;
    return gt_die(GT_EXIT_DATABASE, "%s: there is no folder %s", path, folder);
}

void gt_common_say_empty(const char *path) {
    char buf[GT_PATH_SIZE];
    if (gt_common_db_path(&path, buf) < 0)
        gt_talk("no winners in %s; \"gemmtune show PROBLEM\" has the trials of a search "
                "that was stopped, and --db names another database",
                path);
}

int gt_common_write_db(struct gt_db **out, const char *path) {
    char buf[GT_PATH_SIZE];
    int code = path != NULL ? check_folder(path) : -1;
    if (code < 0)
        code = gt_common_db_path(&path, buf);
    return code >= 0 ? code : open_db(out, path, GT_DB_WRITE);
}

/* ---- families and problems ---- */

int gt_common_families(struct gt_families **out, const struct gt_texts *folders) {
    struct gt_err err = {""};
    gt_status status = gt_families_create(out, &err);
    for (int i = 0; status == GEMMTUNE_OK && i < folders->count; i++)
        status = gt_families_add_sound(*out, folders->text[i], GEMMTUNE_LOG_WARN, &err);
    if (status == GEMMTUNE_OK)
        return -1;
    gt_families_destroy(*out);
    *out = NULL;
    return gt_die(GT_EXIT_INPUT, "%s", err.line);
}

int gt_common_problem(gemmtune_problem *out, const char *name) {
    struct gt_err err = {""};
    if (gt_problem_from_name(out, name, &err) != GEMMTUNE_OK)
        return gt_die(GT_EXIT_INPUT, "%s", err.line);
    return -1;
}

int gt_common_product(gemmtune_problem *out, const char *name) {
    const int code = gt_common_problem(out, name);
    if (code < 0 && (out->m == 0 || out->n == 0 || out->k == 0))
        return gt_die(GT_EXIT_INPUT, "\"%s\" is an empty product: nothing to time", name);
    return code;
}

/* Says what became of the lines of a log. */
static void say_lines(const struct gt_sweep *s, const char *file) {
    char left[GT_SWEEP_LEFT_MAX];
    const struct gt_sweep_lines *lines = &s->lines;
    const int64_t products = lines->fate[GT_LOGGED_PROBLEM];
    if (products == 0)
        return;
    gt_sweep_lines_left(left, lines);
    gt_talk("%s: %zu problem%s on %" PRId64 " line%s%s%s%s%s", file, s->count,
            gt_text_plural((int64_t)s->count), products, gt_text_plural(products),
            lines->untyped > 0 ? ", as f32, since the list names no types" : "",
            lines->half_sums > 0 ? ", sums in f16 taken as sums in f32" : "",
            left[0] != '\0' ? "; left out: " : "", left);
}

int gt_common_sweep(struct gt_sweep *out, const char *file, const char *const *names,
                    int count) {
    struct gt_err err = {""};
    gt_status status = GEMMTUNE_OK;
    *out = (struct gt_sweep){0};
    if (file != NULL)
        status = gt_sweep_load(out, file, &err);
    if (file != NULL && status == GEMMTUNE_OK)
        say_lines(out, file);
    for (int i = 0; status == GEMMTUNE_OK && i < count; i++)
        status = gt_sweep_add(out, names[i], &err);
    return status == GEMMTUNE_OK ? -1 : gt_die(GT_EXIT_INPUT, "%s", err.line);
}

int gt_common_family(const struct gt_family **out, const struct gt_families *families,
                     const char *name) {
    const char *names[FAMILIES_MAX + 1] = {NULL};
    *out = gt_families_find(families, name);
    if (*out != NULL)
        return -1;
    for (size_t i = 0; i < FAMILIES_MAX && gt_families_at(families, i) != NULL; i++)
        names[i] = gt_families_at(families, i)->name;
    const char *near = gt_text_nearest(name, names);
    char list[256] = "";
    for (size_t i = 0, len = 0; names[i] != NULL && len < sizeof list; i++)
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", i > 0 ? ", " : "",
                                names[i]);
    if (near != NULL)
        return gt_die(GT_EXIT_USAGE, "no family '%s'; did you mean '%s'?", name, near);
    return gt_die(GT_EXIT_USAGE, "no family '%s'; there are %s", name, list);
}

/* ---- printing ---- */

void gt_common_print(const struct gt_table *t, const struct gt_format *format) {
    gt_talk_clear();
    if (format->json)
        gt_table_json(t, stdout);
    else if (format->csv)
        gt_table_csv(t, stdout);
    else
        gt_common_print_people(t, format, stdout);
}

void gt_common_print_people(const struct gt_table *t, const struct gt_format *format,
                            FILE *out) {
    gt_talk_clear();
    gt_table_print(t, format->wide ? 0 : gt_terminal_width(out), out);
}

void gt_json_name(bool *first, const char *key) {
    (void)fputs(*first ? "" : ", ", stdout);
    *first = false;
    gt_json_quote(stdout, key);
    (void)fputs(": ", stdout);
}

void gt_json_text(bool *first, const char *key, const char *text) {
    gt_json_name(first, key);
    if (text != NULL)
        gt_json_quote(stdout, text);
    else
        (void)fputs("null", stdout);
}

void gt_json_number(bool *first, const char *key, double value) {
    char buf[GT_CELL_MAX];
    gt_json_name(first, key);
    (void)fputs(gt_show_count(buf, value)[0] != '\0' ? buf : "null", stdout);
}
