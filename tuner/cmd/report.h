/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - shared by the parts of `gemmtune report`: report.c is the command,
 * report_load.c reads, report_page.c puts the page together, report_overview.c writes its
 * sentences, report_roofline.c draws, report_data.c writes the data of the page's script.
 *
 * The page needs no network. It can be read without its script, which sorts, filters and
 * opens rows. Every text of a database goes through html.h.
 */
#ifndef GT_TUNER_CMD_REPORT_H
#define GT_TUNER_CMD_REPORT_H

#include "tuner/cmd/compare.h"
#include "tuner/cmd/winner.h"
#include "tuner/study/figures.h"

/* A problem on a device: its winner, its trials, or both. */
struct gt_report_problem {
    gemmtune_problem problem;
    const char *name, *device; /* the name; the device's key */
    size_t place;              /* of the device, in the view of the records */
    bool has_winner;
    struct gt_winner winner;
    double flops, bytes;    /* operations; the least that memory must move */
    double roofline_ns;     /* the least time by both; 0 unknown */
    double workspace;       /* bytes that the winner needs; NAN unknown */
    double within, without; /* times with 32 MiB and with no workspace; NAN */
    size_t finals;          /* records of the problem, from winner.row on */
    size_t trial, trials;   /* rows of the view of trials */
    size_t correct;         /* of the trials */
};

struct gt_report_page {
    struct gt_families *families;
    struct gt_view records, trials;
    struct gt_duels duels;
    struct gt_report_problem *problem; /* by device and name */
    size_t count;
    size_t failed, unfinished;    /* trials */
    struct gt_figures figures;    /* of `bench --json`; files 0: none */
    struct gt_comparison *versus; /* two devices; NULL: none */
    struct gt_texts pictures;     /* SVG files, shown as images */
    const char *progress;         /* of a run that is under way; NULL: none is */
};

/* Adds a database's rows, of the device with that key, or of all. */
gt_status gt_report_add(struct gt_report_page *r, struct gt_db *db, const char *key,
                        struct gt_err *err);
/* After the last database: finds problems, winners and trials. ENOMEM. */
gt_status gt_report_find(struct gt_report_page *r, struct gt_err *err);
void gt_report_clear(struct gt_report_page *r);

/* Writes the page. `again` repeats trials; its database is the first. EPARSE: a
 * picture cannot be read. EIO, ENOMEM. */
struct gt_again;
gt_status gt_report_write(const struct gt_report_page *r, struct gt_again *again,
                          const char *path, struct gt_err *err);

/* Parts of the page. */
void gt_report_overview(FILE *out, const struct gt_report_page *r);
gt_status gt_report_rooflines(FILE *out, const struct gt_report_page *r,
                              struct gt_err *err);
void gt_report_data(FILE *out, const struct gt_report_page *r, struct gt_again *again);

/* The winner's part of the roofline, 0 to 1; NAN unknown. */
double gt_report_share(const struct gt_report_problem *p);

#endif
