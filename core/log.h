/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - lines for people. Nothing is logged until gemmtune_set_log installs a
 * function. */
#ifndef GT_CORE_LOG_H
#define GT_CORE_LOG_H

#include "core/status.h"

/* Formats one line (at most 512 bytes, no newline) for the installed function. */
void gt_log(gemmtune_log_level level, const char *fmt, ...) GT_PRINTF(2, 3);

#endif
