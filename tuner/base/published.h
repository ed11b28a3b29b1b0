/* SPDX-License-Identifier: Apache-2.0 */
/*
 * published.h - figures that others published for devices we may never see: db/published/,
 * built into the program. Shown beside ours under that name; never stored, never eligible
 * for lookup.
 */
#ifndef GT_TUNER_BASE_PUBLISHED_H
#define GT_TUNER_BASE_PUBLISHED_H

#include "core/problem.h"

struct gt_published_row {
    char device[128]; /* as its vendor names it */
    char title[128];  /* of the source */
    char kernel[24];  /* the source's own name of its kernel */
    char how[160];    /* the kernel in a few words; "" */
    char rung[32];    /* the kernel by our name, the same for all sources; "" */
    char point[128];  /* "FAMILY NAME=VALUE ..." of ours that does the same; "" */
    bool host;        /* measured on the host of the device, not on the device */
    char dtype[8], layout[4];
    char problem[GT_PROBLEM_NAME_MAX]; /* "" when the source gives a volume or nothing */
    int64_t volume;                    /* m * n * k; 0 when the source does not say */
    double ms;                         /* 0: below the source's resolution, or not given */
    double resolution_ms;              /* of the source; 0 when it does not say */
    double gflops; /* as given, else 2 * volume / time; 0 when neither is known */
};

/* Rows by file, in file order. */
struct gt_published {
    size_t count;
    struct gt_published_row *row;
};

/* Starts zeroed. EPARSE names a file of db/published/ that is wrong. */
gt_status gt_published_load(struct gt_published *out, struct gt_err *err);
/* Adds the rows of one such file; `name` stands for it in messages. */
gt_status gt_published_parse(struct gt_published *p, const char *name, const char *text,
                             struct gt_err *err);
void gt_published_clear(struct gt_published *p);

#endif
