/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the monotonic clock: how long something takes, and when it is overdue. */
#ifndef GT_CORE_CLOCK_H
#define GT_CORE_CLOCK_H

/* Seconds since some moment before the program began, to the nanosecond. Two readings of
 * one machine may be compared, also by two processes. The system's date does not change
 * it. */
double gt_seconds(void);

#endif
