/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.h - keeps the operations of a host product, and draws them, lane by lane. */
#ifndef GT_TUNER_STREAM_TIMELINE_H
#define GT_TUNER_STREAM_TIMELINE_H

#include "core/status.h"

#include <stdbool.h>

struct gt_timeline {
    gemmtune_host_event *event;
    size_t count, room;
    bool incomplete; /* events are missing, since there was no memory for them */
};

/* Takes an event, as gemmtune_host_options.trace does; `user` is a struct gt_timeline. */
void gt_timeline_take(void *user, const gemmtune_host_event *event);
void gt_timeline_clear(struct gt_timeline *t);

/* Draws four lanes a device over the seconds of the product, with the share of time in
 * which a product ran. `title` stands above. The drawing of an incomplete timeline says
 * that operations are missing. EIO. */
gt_status gt_timeline_draw(const struct gt_timeline *t, const char *path, const char *title,
                           const gemmtune_host_report *report, struct gt_err *err);

#endif
