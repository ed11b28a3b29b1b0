/* SPDX-License-Identifier: Apache-2.0 */
/* say.h - the one line on stderr, at exit. */
#ifndef GT_SHIM_SAY_H
#define GT_SHIM_SAY_H

struct gt_shim_state;

/* Calls served, calls passed on by reason, seconds saved, and what went wrong first. */
void gt_shim_say(struct gt_shim_state *s);

#endif
