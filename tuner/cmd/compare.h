/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - shared by the parts of `gemmtune compare`: compare.c reads, compare_pick.c
 * finds the two devices, compare_rows.c makes the rows, compare_table.c prints them,
 * compare_svg.c draws them, compare_classes.c their ratios.
 */
#ifndef GT_TUNER_CMD_COMPARE_H
#define GT_TUNER_CMD_COMPARE_H

#include "tuner/cmd/common.h"
#include "tuner/base/progress.h"
#include "tuner/base/published.h"
#include "tuner/study/predict.h"
#include "tuner/study/versus.h"

enum { GT_DESCRIBED_MAX = GT_TEXTS_MAX };

/* One of the two devices. Databases, publications and device files may each know it. */
struct gt_compare_side {
    const char *key;       /* key in the view; NULL: it is in no database */
    char name[128];        /* its name for people */
    const char *published; /* its name in published figures; NULL: it is in none */
    /* name of the built-in device file that describes it; "": there is none */
    char file[GT_NAME_MAX];
    bool described; /* `device` is filled in */
    struct gt_device device;
};

/* A device file of the command line. */
struct gt_compare_file {
    const char *path;
    bool used; /* it describes one of the two devices */
    struct gt_device device;
};

enum gt_compare_source {
    GT_COMPARE_TUNED,
    GT_COMPARE_PUBLISHED,
    GT_COMPARE_PREDICTED, /* what the model expects of the fastest kernels */
    GT_COMPARE_RATE,      /* the best published rate of a kernel, whatever the size */
};

/* One device's part of a row. Times and rates are 0 when unknown. */
struct gt_compare_part {
    const char *kernel; /* a family, or a rung of the publication */
    const char *point;  /* NULL for a published kernel */
    double ns, gflops;
    double predicted_ns; /* of this kernel */
    /* the fastest point of all families; its family is NULL when there is none */
    struct gt_predicted best;
};

struct gt_compare_row {
    enum gt_compare_source source;
    char problem[GT_PROBLEM_NAME_MAX + 16];
    double flops;                             /* 0: the publication gives no size */
    struct gt_compare_part part[2];           /* for A and for B */
    double ratio, predicted_ratio;            /* time of A over time of B */
    const struct gt_versus_row *versus;       /* of a tuned row, else NULL */
    const struct gt_published_row *published; /* of a published row, else NULL */
};

struct gt_comparison {
    struct gt_view view;
    struct gt_published published;
    struct gt_versus versus;
    struct gt_compare_side side[2]; /* A and B */
    struct gt_compare_file file[GT_DESCRIBED_MAX];
    int file_count;
    struct gt_families *families;
    struct gt_sweep sizes; /* problems that the command line names */
    struct gt_progress progress;
    struct gt_compare_row *row; /* tuned rows by problem, published ones, predicted ones */
    size_t row_count;
    /* geometric means of the predicted ratios of published rows, which are of one kernel,
     * and of predicted rows, which are of the fastest ones; 0: there is none */
    double predicted_geomean, best_geomean;
};

/* Finds both devices; `names` are the two texts of the command line. The view, the
 * published figures and the files must have been read. EINVAL explains why a name fits no
 * device or several. */
gt_status gt_compare_pick(struct gt_comparison *c, char **names, struct gt_err *err);

/* "GTX 1080" for "NVIDIA GeForce GTX 1080". */
const char *gt_compare_short_name(const char *name);

/* Makes `row` and row_count; the caller frees row. A published row has a figure of at least
 * one of the two devices. There is a predicted row for each of `sizes`, and for some usual
 * problems where there would be no row. */
gt_status gt_compare_rows(struct gt_comparison *c, struct gt_err *err);

extern const struct gt_form gt_compare_tuned_form, gt_compare_published_form,
    gt_compare_data_form;
/* Makes the table with all rows; the caller destroys it. People see fewer columns. */
gt_status gt_compare_table(struct gt_table **out, const struct gt_comparison *c,
                           bool people, struct gt_err *err);
/* Draws GFLOP/s over multiplications, both on logarithmic axes, and the ratios of each
 * class of shapes. EIO. */
gt_status gt_compare_svg(const struct gt_comparison *c, const char *path,
                         struct gt_err *err);
/* The same picture, within a page of HTML. ENOTFOUND: there is no figure to draw. */
gt_status gt_compare_draw(const struct gt_comparison *c, FILE *page, struct gt_err *err);

/* The words of a command line that compares. */
struct gt_compare_values {
    struct gt_texts db, device_files;
    const char *sizes;
    bool quiet;
};
/* Reads all that is known of the two named devices, and makes the rows.
 * `families` are borrowed. Returns -1, or the exit code. Clear it in either case. */
int gt_compare_load(struct gt_comparison *c, const struct gt_compare_values *v,
                    struct gt_families *families, char **names);
void gt_compare_clear(struct gt_comparison *c);

/* Writes three digits without an exponent: ratios range from a thousandth to a thousand.
 * NULL when the value is not above 0. */
const char *gt_compare_ratio(char buf[GT_CELL_MAX], double value);
/* The name of a publication's kernel: our name for it when the file has one. */
const char *gt_compare_rung(const struct gt_published_row *r);

#endif
