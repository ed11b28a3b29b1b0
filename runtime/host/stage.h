/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage.h - copies between a device and pageable host memory, through a ring of pinned
 * chunks: threads copy one chunk while the link copies others. A stage belongs to one lane.
 */
#ifndef GT_RUNTIME_HOST_STAGE_H
#define GT_RUNTIME_HOST_STAGE_H

#include "runtime/host/copier.h"
#include "runtime/host/link.h"

enum { GT_HOST_CHUNKS = 4 };

struct gt_host_stage {
    struct gt_link *link;
    struct gt_copier *copier;
    int64_t chunk_bytes;
    char *memory; /* GT_HOST_CHUNKS chunks; NULL: none yet */
    int next;
    struct gt_host_chunk {
        void *event;        /* of its last copy; NULL: no copy is running */
        struct gt_box part; /* data for the host when the event ends; rows 0: none */
    } chunk[GT_HOST_CHUNKS];
};

/* Allocates the ring. ENOMEM. */
gt_status gt_host_stage_open(struct gt_host_stage *s, struct gt_link *link,
                             struct gt_copier *copier, int64_t chunk_bytes,
                             struct gt_err *err);
/* No operation of the stage may be running. A stage of zeros needs no close. */
void gt_host_stage_close(struct gt_host_stage *s);

/* The link's copy_in and copy_out for pageable memory. They wait while all chunks are in
 * use. After gt_host_stage_out, *box->host is complete only after gt_host_stage_flush. */
gt_status gt_host_stage_in(struct gt_host_stage *s, void *queue, const struct gt_box *box,
                           struct gt_err *err);
gt_status gt_host_stage_out(struct gt_host_stage *s, void *queue, const struct gt_box *box,
                            struct gt_err *err);
/* Waits for all chunks and empties them. */
gt_status gt_host_stage_flush(struct gt_host_stage *s, struct gt_err *err);

#endif
