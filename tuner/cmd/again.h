/* SPDX-License-Identifier: Apache-2.0 */
/* again.h - the command that tries a stored trial again, as its run did. */
#ifndef GT_TUNER_CMD_AGAIN_H
#define GT_TUNER_CMD_AGAIN_H

#include "tuner/base/view.h"
#include "tuner/cmd/session.h"

/* Zeroed at first but for `db`. Rows of one run are mostly neighbours. */
struct gt_again {
    struct gt_db *db;
    int64_t run_id; /* of the options below; 0: none yet */
    uint64_t seed;
    char options[GT_AGAIN_MAX];
};

enum { GT_AGAIN_COMMAND_MAX = 1600 + GT_AGAIN_MAX };

/* Writes "gemmtune trial ...". A row from elsewhere has unknown options, and gets none. */
void gt_again_command(char buf[GT_AGAIN_COMMAND_MAX], struct gt_again *a,
                      const struct gt_view_row *r);

#endif
