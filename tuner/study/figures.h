/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures.h - what `gemmtune bench --json` has printed, read again: sums over all files of
 * one device, and a picture of them. No device and no database.
 */
#ifndef GT_TUNER_STUDY_FIGURES_H
#define GT_TUNER_STUDY_FIGURES_H

#include "core/json.h"
#include "tuner/base/svg.h"
#include "tuner/bench/bench_stats.h"

enum { GT_FIGURE_FILES_MAX = 32, GT_FIGURE_NAME_MAX = 48 };

/* The conditions of a run. Texts belong to `doc`; NULL: the file does not say it. */
struct gt_figure_file {
    struct gt_json *doc;
    const char *path; /* as the caller gave it; borrowed */
    const char *device, *name, *driver, *compiler, *version, *command;
    double workspace; /* bytes of each side; NAN: they grow with the problem */
    bool as_used;     /* a run with --as-used: its lines have no verdict */
};

/* How `bench --as-used` calls the library: plans with no workspace, with the workspace of
 * all sides and with any, and the one-call form. */
enum gt_used_way { GT_USED_NONE, GT_USED_SAME, GT_USED_ANY, GT_USED_CALL, GT_USED_WAYS };

/* One line of a run. Texts belong to the file's document. */
struct gt_figure {
    const char *problem;
    const char *baseline, *baseline_is; /* NULL: nothing to compare with */
    double ours_ns, base_ns;            /* NAN: not measured */
    double ratio, low, high;            /* the baseline's time over ours; its interval */
    enum gt_verdict verdict;
    bool failed;    /* ours was wrong, or could not be measured */
    size_t file;    /* index */
    size_t type;    /* index of the types' row, plus GT_DTYPES for batches */
    size_t shape;   /* index of the class of shapes; GT_SHAPE_CLASSES for batches */
    size_t in_file; /* place */
    double used[GT_USED_WAYS]; /* the ratio of each way; NAN: not measured */
};

/* Lines that are summed up together: begin to end of `line`, the least ratio first. */
struct gt_figure_group {
    char name[GT_FIGURE_NAME_MAX]; /* "f32", "f32 batches", "deep" */
    size_t begin, end;
    struct gt_tally tally;
    int alone, failed;             /* lines without a baseline, or without our time */
    const struct gt_figure *worst; /* NULL: no line has a verdict */
};

enum gt_figures_by { GT_FIGURES_BY_TYPE, GT_FIGURES_BY_CLASS };

struct gt_figures {
    struct gt_figure_file file[GT_FIGURE_FILES_MAX];
    size_t files;
    struct gt_figure *line;
    size_t count;
    struct gt_figure_group *group;
    size_t groups;
};

/* Adds a file. EINVAL: too many files. EIO, or EPARSE with file:line: it is not a run of
 * `bench`, it has other conditions than the first file (device, versions, workspace), or a
 * problem that is there already. ENOMEM. */
gt_status gt_figures_read(struct gt_figures *f, const char *path, struct gt_err *err);
/* Sorts the lines into groups, which have the order of the types, batches last, or of the
 * classes. Groups of before are gone. ENOMEM. */
gt_status gt_figures_group(struct gt_figures *f, enum gt_figures_by by, struct gt_err *err);
void gt_figures_clear(struct gt_figures *f);
/* "win", "tie", "loss", "noisy" or "failed"; NULL: there is nothing to compare with. */
const char *gt_figure_word(const struct gt_figure *line);

/* The libraries that gemmtune was compared with, each once: "cuBLAS 13.1.0, cublasLt
 * 13.1.0". Cut to fit. */
void gt_figures_rivals(char *text, size_t size, const struct gt_figures *f);

/* figures_svg.c: a row for each group, a mark for each line by its ratio. ENOTFOUND: no
 * line has a verdict. EIO. The lines must be grouped. */
gt_status gt_figures_svg(const struct gt_figures *f, const char *path, struct gt_err *err);
/* The same picture, within a page of HTML. */
gt_status gt_figures_draw(const struct gt_figures *f, FILE *page, struct gt_err *err);

#endif
