/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the monotonic clock, for durations and deadlines. */
#ifndef GT_CORE_CLOCK_H
#define GT_CORE_CLOCK_H

/* Seconds since some moment before the program began, to the nanosecond. Readings of
 * several processes of one machine may be compared. A change of the system's date does not
 * change it. */
double gt_seconds(void);

#endif
