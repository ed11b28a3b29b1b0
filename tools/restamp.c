/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restamp.c - the program of tools/restamp, which explains the options. It compares the
 * kernels of a file's records in two trees. Where all kernels of a family are the same, it
 * gives the family's records the hash of the new tree.
 *
 *     restamp [-o OLD] -n NEW [-s N] [-a] [-k] [-w] [-t] [-x KERNEL -d FOLDER] FILE
 *
 * OLD and NEW are folders as templates/ is one. Without OLD it checks the hashes alone.
 * With -x it writes both texts of one kernel into FOLDER.
 */
#include "tools/stamp.h"
#include "tools/starts.h"

#include "core/new_file.h"
#include "core/text.h"
#include "tuner/base/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_SAME = 0, EXIT_DIFFERENT = 1, EXIT_USAGE = 2, HASH_SHOWN = 12 };

struct options {
    const char *old_folder, *new_folder, *file;
    const char *kernel, *folder; /* -x and -d */
    bool write, starts;
    struct gt_stamp stamp;
};

/* ---- what is said ------------------------------------------------------------------- */

static const char *verdict(const struct gt_stamp_row *r) {
    return r->differs != NULL                          ? "not proved"
           : r->compared < r->records                  ? "same so far"
           : strcmp(r->hash, r->new_family->hash) == 0 ? "same, hash unchanged"
                                                       : "same";
}

#define ROWS(X)                                                                            \
    X("family", "family", TEXT, 0, r->family, "the family of the records")                 \
    X("records", "records", COUNT, 0, r->records, "all of its records in the file")        \
    X("compared", "compared", COUNT, 0, r->compared, "records that were compared")         \
    X("kernels", "kernels", COUNT, 0, r->kernels, "different kernels among these")         \
    X("text", "same text", COUNT, 0, r->same[GT_SAME_TEXT],                                \
      "kernels of the same text, but for comments and blanks")                             \
    X("tokens", "preprocessed", COUNT, 0, r->same[GT_SAME_TOKENS],                         \
      "others that are the same behind the preprocessor")                                  \
    X("code", "machine code", COUNT, 0, r->same[GT_SAME_CODE],                             \
      "others of the same machine code")                                                   \
    X("not_proved", "not proved", COUNT, 0, r->same[GT_SAME_NOT],                          \
      "kernels that differ, or that cannot be compiled here")                              \
    X("verdict", "all", TEXT, 0, verdict(r), "what follows for the family")
GT_COLUMNS(row, struct gt_stamp_row, ROWS)
static const struct gt_form rows = GT_FORM(row, "");

static size_t count_state(const struct gt_stamp *s, enum gt_stamp_state state) {
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        count += s->row[i].state == state;
    return count;
}

static void say_unknown(const struct gt_stamp_row *r, bool has_old) {
    printf("%s: its %zu record%s %s the hash %.*s, which is ", r->family, r->records,
           gt_text_plural((int64_t)r->records), r->records == 1 ? "has" : "have",
           HASH_SHOWN, r->hash);
    if (!has_old)
        printf("not the tree's (%.*s)\n", HASH_SHOWN, r->new_family->hash);
    else if (r->old_family == NULL)
        printf("not the new tree's (%.*s); the old tree has no such family\n", HASH_SHOWN,
               r->new_family->hash);
    else
        printf("neither the old tree's (%.*s) nor the new one's (%.*s)\n", HASH_SHOWN,
               r->old_family->hash, HASH_SHOWN, r->new_family->hash);
}

static void say_row(const struct gt_stamp_row *r, const struct options *o) {
    if (r->state == GT_STAMP_GONE)
        printf("%s: it has %zu record%s, and the new tree has no such family, "
               "or none that this program reads\n",
               r->family, r->records, gt_text_plural((int64_t)r->records));
    if (r->state == GT_STAMP_UNKNOWN)
        say_unknown(r, o->old_folder != NULL);
    if (r->differs != NULL)
        printf("%s: the first kernel that is not proved the same: %s. Both texts:\n"
               "    tools/restamp OLD %s--show '%s %s %s'\n",
               r->family, r->why, o->starts ? "--starts " : "", r->family,
               r->differs->problem, r->differs->point);
}

static gt_status print(const struct options *o, struct gt_err *err) {
    const struct gt_stamp *s = &o->stamp;
    struct gt_table *t = NULL;
    const size_t current = count_state(s, GT_STAMP_CURRENT);
    gt_status status = gt_table_create(&t, &rows, err);
    for (size_t i = 0; i < s->count && status == GEMMTUNE_OK; i++)
        if (s->row[i].state == GT_STAMP_COMPARED)
            status = add_row(t, &s->row[i], err);
    if (status == GEMMTUNE_OK) {
        printf("%s: the hashes of %zu of %zu families are the tree's\n", o->file, current,
               s->count);
        gt_table_print(t, 0, stdout);
        for (size_t i = 0; i < s->count; i++)
            say_row(&s->row[i], o);
    }
    gt_table_destroy(t);
    return status;
}

/* ---- what is done ------------------------------------------------------------------- */

static bool is_same(const struct gt_stamp_row *r) {
    return r->state == GT_STAMP_COMPARED && r->differs == NULL && r->compared == r->records;
}

static gt_status stamp(const struct options *o, struct gt_err *err) {
    const struct gt_stamp *s = &o->stamp;
    struct gt_new_hash *change = calloc(s->count + 1, sizeof *change);
    gt_status status = GEMMTUNE_OK;
    size_t count = 0;
    if (change == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (size_t i = 0; i < s->count; i++)
        if (is_same(&s->row[i]) && strcmp(s->row[i].hash, s->row[i].new_family->hash) != 0)
            change[count++] =
                (struct gt_new_hash){s->row[i].hash, s->row[i].new_family->hash};
    if (count > 0)
        status = gt_exported_stamp(o->file, change, count, err);
    if (status == GEMMTUNE_OK)
        printf("%s: %zu famil%s stamped\n", o->file, count,
               count == 1 ? "y was" : "ies were");
    free(change);
    return status;
}

static gt_status run(int *code, struct options *o, struct gt_err *err) {
    struct gt_stamp *s = &o->stamp;
    gt_status status = gt_stamp_begin(s, err);
    if (status == GEMMTUNE_OK)
        status = gt_stamp_compare(s, err);
    if (status == GEMMTUNE_OK)
        status = print(o, err);
    if (status == GEMMTUNE_OK && o->write)
        status = stamp(o, err);
    *code = EXIT_SAME;
    for (size_t i = 0; i < s->count; i++)
        if (s->row[i].state == GT_STAMP_GONE || s->row[i].state == GT_STAMP_UNKNOWN ||
            s->row[i].differs != NULL)
            *code = EXIT_DIFFERENT;
    gt_stamp_clear(s);
    return status;
}

/* ---- one kernel --------------------------------------------------------------------- */

static gt_status put(const char *folder, const char *which, const char *ending,
                     const char *text, struct gt_err *err) {
    char path[GT_PATH_SIZE];
    struct gt_new_text to;
    (void)snprintf(path, sizeof path, "%s/%s.%s", folder, which, ending);
    const gt_status status = gt_new_text_begin(&to, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    (void)fputs(text, to.out);
    return gt_new_text_end(&to, status, err);
}

/* Writes WHICH.launch, WHICH.cu and, after the preprocessor, WHICH.i. */
static gt_status put_made(const struct options *o, const char *which,
                          const struct gt_tree *tree, const struct gt_recorded *record,
                          struct gt_err *err) {
    const struct gt_device *d = &o->stamp.records->device[record->device];
    struct gt_made made;
    gt_status status = gt_made_create(&made, tree, d, record, err);
    if (status == GEMMTUNE_OK)
        status = put(o->folder, which, "launch", made.launches, err);
    if (status == GEMMTUNE_OK)
        status = put(o->folder, which, "cu", made.source, err);
    char *behind = status == GEMMTUNE_OK ? gt_kernel_preprocess(d, made.source) : NULL;
    if (behind != NULL)
        status = put(o->folder, which, "i", behind, err);
    free(behind);
    gt_made_clear(&made);
    return status;
}

static bool is_kernel(const struct gt_recorded *r, const char *kernel) {
    char name[GT_PROBLEM_NAME_MAX + GT_POINT_TEXT_MAX + GT_NAME_MAX];
    (void)snprintf(name, sizeof name, "%s %s %s", r->family, r->problem, r->point);
    return strcmp(name, kernel) == 0;
}

static gt_status show(const struct options *o, struct gt_err *err) {
    const struct gt_exported *records = o->stamp.records;
    size_t i = 0;
    while (i < records->count && !is_kernel(&records->item[i], o->kernel))
        i++;
    if (i == records->count)
        return gt_fail(err, GEMMTUNE_ENOTFOUND, "%s has no record '%.300s'", o->file,
                       o->kernel);
    const gt_status status = put_made(o, "old", o->stamp.old_tree, &records->item[i], err);
    return status == GEMMTUNE_OK
               ? put_made(o, "new", o->stamp.new_tree, &records->item[i], err)
               : status;
}

/* ---- the program -------------------------------------------------------------------- */

static bool read_options(struct options *o, int argc, char **argv) {
    bool known = true;
    for (int option; (option = getopt(argc, argv, "o:n:s:x:d:aktw")) != -1;)
        switch (option) {
        case 'o':
            o->old_folder = optarg;
            break;
        case 'n':
            o->new_folder = optarg;
            break;
        case 's':
            o->stamp.sample = strtoul(optarg, NULL, 10);
            break;
        case 'x':
            o->kernel = optarg;
            break;
        case 'd':
            o->folder = optarg;
            break;
        case 'a':
            o->stamp.all = true;
            break;
        case 'k':
            o->stamp.keep_going = true;
            break;
        case 't':
            o->starts = true;
            break;
        case 'w':
            o->write = true;
            break;
        default:
            known = false;
        }
    o->file = argv[optind];
    return known && optind + 1 == argc && o->new_folder != NULL &&
           (o->kernel == NULL || (o->folder != NULL && o->old_folder != NULL)) &&
           (!o->starts || (o->old_folder != NULL && !o->write));
}

static void log_line(void *user, gemmtune_log_level level, const char *line) {
    (void)user, (void)level;
    (void)fprintf(stderr, "restamp: %s\n", line);
}

/* The trees, and the records of the file or, in their place, the starts. */
static gt_status load(struct gt_tree **old_tree, struct gt_tree **new_tree,
                      struct gt_exported *records, struct options *o, struct gt_err *err) {
    struct gt_exported file;
    gt_status status = gt_tree_open(new_tree, o->new_folder, err);
    if (status == GEMMTUNE_OK && o->old_folder != NULL)
        status = gt_tree_open(old_tree, o->old_folder, err);
    if (status == GEMMTUNE_OK)
        status = gt_exported_read(&file, o->file, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (!o->starts) {
        *records = file;
        return GEMMTUNE_OK;
    }
    status = file.devices > 0
                 ? gt_starts_list(records, file.device, *old_tree, *new_tree, err)
                 : gt_fail(err, GEMMTUNE_EPARSE, "%s: it has no device", o->file);
    gt_exported_clear(&file);
    o->file = "starts";
    return status;
}

int main(int argc, char **argv) {
    struct options o = {.write = false};
    struct gt_exported records = {0};
    struct gt_tree *old_tree = NULL, *new_tree = NULL;
    struct gt_err err = {""};
    int code = EXIT_SAME;
    if (!read_options(&o, argc, argv)) {
        (void)fprintf(stderr, "restamp: see the head of tools/restamp.c\n");
        return EXIT_USAGE;
    }
    gemmtune_set_log(log_line, NULL, GEMMTUNE_LOG_WARN);
    gt_status status = load(&old_tree, &new_tree, &records, &o, &err);
    o.stamp.records = &records;
    o.stamp.old_tree = old_tree;
    o.stamp.new_tree = new_tree;
    if (status == GEMMTUNE_OK)
        status = o.kernel != NULL ? show(&o, &err) : run(&code, &o, &err);
    gt_tree_close(old_tree);
    gt_tree_close(new_tree);
    gt_exported_clear(&records);
    if (status != GEMMTUNE_OK)
        (void)fprintf(stderr, "restamp: %s\n", err.line);
    return status == GEMMTUNE_OK ? code : EXIT_USAGE;
}
