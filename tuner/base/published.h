/* SPDX-License-Identifier: Apache-2.0 */
/*
 * published.h - published figures of devices that we may never see. They stand in
 * db/published/ and are built into the program. They are shown beside our own figures under
 * the name of their source; they are never stored in a database and never chosen by a
 * lookup.
 */
#ifndef GT_TUNER_BASE_PUBLISHED_H
#define GT_TUNER_BASE_PUBLISHED_H

#include "core/problem/problem.h"

struct gt_published_row {
    char device[128]; /* the vendor's name of the device */
    char title[128];  /* title of the source */
    char kernel[24];  /* the source's own name of its kernel */
    char how[160];    /* the kernel in a few words, or "" */
    char rung[32];    /* our name of the kernel, the same for all sources, or "" */
    char point[128];  /* our point that does the same, as "FAMILY NAME=VALUE ...", or "" */
    bool host;        /* measured on the host of the device, not on the device */
    char dtype[8], layout[4];
    char problem[GT_PROBLEM_NAME_MAX]; /* "" when the source gives a volume or no size */
    int64_t volume;                    /* m * n * k; 0 when the source does not say */
    /* 0: not given, or too short for the source's resolution */
    double ms;
    /* resolution of the source; 0 when it does not say */
    double resolution_ms;
    double gflops; /* as given, else 2 * volume / time; 0 when neither is known */
};

/* The rows of all files, in file order. */
struct gt_published {
    size_t count;
    struct gt_published_row *row;
};

/* `out` must be zeroed. EPARSE names the file of db/published/ that is wrong. */
gt_status gt_published_load(struct gt_published *out, struct gt_err *err);
/* Adds the rows of one file. `name` is the file's name in messages. */
gt_status gt_published_parse(struct gt_published *p, const char *name, const char *text,
                             struct gt_err *err);
void gt_published_clear(struct gt_published *p);

#endif
