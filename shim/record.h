/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - the file in which a process writes what it has asked for. Its name is FILE of
 * GEMMTUNE_EXEC with the host and the number of the process (FILE.node7.1234);
 * `gemmtune record` brings such files of its own host together. Lines are only added, and
 * each is written by one call, so that a process that is killed leaves what it had counted,
 * within a factor of two.
 *
 *     gemmtune record 1                 the first line
 *     N COUNT FUNCTION PROBLEM          problem N of this process was asked for COUNT times
 *     - COUNT FUNCTION REASON           calls without a problem, and why they have none
 *
 * Of several lines with one N, or one FUNCTION and REASON, the last one counts. PROBLEM is
 * a name (docs/api.md), REASON words to the end of the line.
 */
#ifndef GT_SHIM_RECORD_H
#define GT_SHIM_RECORD_H

#include "shim/call.h"
#include "shim/table.h"

/* Notes a call: its problem, or the reason why it has none. True. */
bool gt_shim_record(struct gt_shim_key *key, const struct gt_shim_call *x,
                    enum gt_shim_reason why);
/* Writes the last counts. */
void gt_shim_record_end(void);
/* A process after a fork has a file of its own. */
void gt_shim_record_anew(void);
/* As gt_shim_original_hold. */
void gt_shim_record_hold(bool held);

#endif
