/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - what the parts of `gemmtune compare` share. compare.c reads, compare_pick.c
 * finds the two devices, compare_rows.c works the rows out, compare_table.c prints them,
 * compare_svg.c draws them. */
#ifndef GT_TUNER_CMD_COMPARE_H
#define GT_TUNER_CMD_COMPARE_H

#include "tuner/cmd/common.h"
#include "tuner/base/progress.h"
#include "tuner/base/published.h"
#include "tuner/study/predict.h"
#include "tuner/study/versus.h"

enum { GT_DESCRIBED_MAX = GT_TEXTS_MAX };

/* One of the two. Databases, publications and device files may each know it. */
struct gt_compare_side {
    const char *key;        /* in the view; NULL: in no database */
    char name[128];         /* for people */
    const char *published;  /* its name in published figures; NULL: in none */
    char file[GT_NAME_MAX]; /* the built-in device file that describes it; "": none does */
    bool described;         /* device is known */
    struct gt_device device;
};

/* A device file of the command line. */
struct gt_compare_file {
    const char *path;
    bool used; /* one of the two is its device */
    struct gt_device device;
};

enum gt_compare_source {
    GT_COMPARE_TUNED,
    GT_COMPARE_PUBLISHED,
    GT_COMPARE_RATE, /* the best published rate of a kernel, whatever the size */
};

/* One device's part of a row. Times and rates of 0 are not known. */
struct gt_compare_part {
    const char *kernel; /* family, or rung of the publication */
    const char *point;  /* NULL: a published kernel */
    double ns, gflops;
    double predicted_ns;      /* of this kernel */
    struct gt_predicted best; /* the fastest point of all families; family NULL: none */
};

struct gt_compare_row {
    enum gt_compare_source source;
    char problem[GT_PROBLEM_NAME_MAX + 16];
    double flops;                             /* 0: the publication gives no size */
    struct gt_compare_part part[2];           /* of A and B */
    double ratio, predicted_ratio;            /* times of A over times of B */
    const struct gt_versus_row *versus;       /* tuned rows */
    const struct gt_published_row *published; /* published rows */
};

struct gt_comparison {
    struct gt_view view;
    struct gt_published published;
    struct gt_versus versus;
    struct gt_compare_side side[2]; /* A and B */
    struct gt_compare_file file[GT_DESCRIBED_MAX];
    int file_count;
    struct gt_families *families;
    struct gt_progress progress;
    struct gt_compare_row *row; /* tuned ones by problem, then published ones */
    size_t row_count;
    double predicted_geomean; /* of the predicted ratios of published rows; 0: none */
};

/* Finds both devices. `names` are two texts of the command line. The view, the published
 * figures and the files have been read. EINVAL says why a name fits none or several. */
gt_status gt_compare_pick(struct gt_comparison *c, char **names, struct gt_err *err);

/* Fills row and row_count; the caller frees row. A published row has a figure of one of
 * the two devices at least. */
gt_status gt_compare_rows(struct gt_comparison *c, struct gt_err *err);

extern const struct gt_form gt_compare_tuned_form, gt_compare_published_form,
    gt_compare_data_form;
/* The table, of all rows or none, is the caller's. People see fewer columns. */
gt_status gt_compare_table(struct gt_table **out, const struct gt_comparison *c,
                           bool people, struct gt_err *err);
/* GFLOP/s over multiplications, both on logarithmic axes. EIO. */
gt_status gt_compare_svg(const struct gt_comparison *c, const char *path,
                         struct gt_err *err);

/* Three digits and no exponent: ratios run from a thousandth to a thousand. NULL when the
 * value is not above 0. */
const char *gt_compare_ratio(char buf[GT_CELL_MAX], double value);
/* What a publication calls a kernel, by our name when the file has one. */
const char *gt_compare_rung(const struct gt_published_row *r);

#endif
