/* SPDX-License-Identifier: Apache-2.0 */
/* trouble.h - the first thing that went wrong, for the line at the end. */
#ifndef GT_SHIM_TROUBLE_H
#define GT_SHIM_TROUBLE_H

void gt_shim_trouble(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* For a child after a fork: no thread of it holds the lock. */
void gt_shim_trouble_anew(void);
/* "" where all went well. */
const char *gt_shim_first_trouble(void);

#endif
