/* SPDX-License-Identifier: Apache-2.0 */
/* verify_rows.h - `gemmtune verify --row-order`: the proof of row_order on a device. */
#ifndef GT_TUNER_CMD_VERIFY_ROWS_H
#define GT_TUNER_CMD_VERIFY_ROWS_H

#include "tuner/cmd/common.h"

struct gt_verify_rows {
    const char *device, *db, *sizes;
    const struct gt_texts *templates;
    const char *const *names; /* of problems, with or without row_order */
    int count;
    int64_t rows;     /* of A; 0: as usual */
    int64_t launches; /* of a case; 0: as usual */
    uint64_t seed;
    bool all; /* every start of the order as well */
    bool quiet;
    const struct gt_format *format;
};

/* Compares rows of each kind (types, layout, n, k, epilogue) among the named problems, or
 * among all problems of the database with row_order. Returns the exit code: 0; 5: bits
 * differ; 1: a kind could not be compared, or there is none. */
int gt_verify_rows(const struct gt_verify_rows *v);

extern const struct gt_form gt_verify_rows_form;

#endif
