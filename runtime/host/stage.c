/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/host/stage.h"

gt_status gt_host_stage_open(struct gt_host_stage *s, struct gt_link *link,
                             struct gt_copier *copier, int64_t chunk_bytes,
                             struct gt_err *err) {
    void *memory = NULL;
    *s = (struct gt_host_stage){.link = link, .copier = copier, .chunk_bytes = chunk_bytes};
    const int64_t bytes = GT_HOST_CHUNKS * chunk_bytes;
    const gt_status status = link->ops->host_alloc(&memory, link, bytes, err);
    s->memory = memory;
    return status == GEMMTUNE_OK
               ? status
               : gt_fail_within(err, status, "%lld bytes of pinned host memory",
                                (long long)bytes);
}

void gt_host_stage_close(struct gt_host_stage *s) {
    for (int i = 0; i < GT_HOST_CHUNKS; i++)
        if (s->chunk[i].event != NULL)
            s->link->ops->event_release(s->link, s->chunk[i].event);
    if (s->memory != NULL)
        s->link->ops->host_release(s->link, s->memory);
    *s = (struct gt_host_stage){0};
}

/* Waits until a chunk's copy has ended, and copies its data to the host. */
static gt_status empty(struct gt_host_stage *s, int i, struct gt_err *err) {
    struct gt_host_chunk *c = &s->chunk[i];
    if (c->event == NULL)
        return GEMMTUNE_OK;
    const gt_status status = s->link->ops->join(s->link, c->event, err);
    s->link->ops->event_release(s->link, c->event);
    c->event = NULL;
    if (status == GEMMTUNE_OK && c->part.rows > 0)
        gt_copier_copy(s->copier, c->part.host, c->part.host_pitch,
                       s->memory + i * s->chunk_bytes, c->part.row_bytes, c->part.row_bytes,
                       c->part.rows);
    c->part.rows = 0;
    return status;
}

gt_status gt_host_stage_flush(struct gt_host_stage *s, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < GT_HOST_CHUNKS; i++)
        status = empty(s, (s->next + i) % GT_HOST_CHUNKS, err);
    return status;
}

/* Copies one part of a box, at most a chunk, through chunk i. */
static gt_status part_in(struct gt_host_stage *s, int i, void *queue, struct gt_box part,
                         struct gt_err *err) {
    char *chunk = s->memory + i * s->chunk_bytes;
    gt_copier_copy(s->copier, chunk, part.row_bytes, part.host, part.host_pitch,
                   part.row_bytes, part.rows);
    part.host = chunk;
    part.host_pitch = part.row_bytes;
    return s->link->ops->copy_in(s->link, queue, &part, err);
}

static gt_status part_out(struct gt_host_stage *s, int i, void *queue, struct gt_box part,
                          struct gt_err *err) {
    s->chunk[i].part = part;
    part.host = s->memory + i * s->chunk_bytes;
    part.host_pitch = part.row_bytes;
    return s->link->ops->copy_out(s->link, queue, &part, err);
}

typedef gt_status part_fn(struct gt_host_stage *s, int i, void *queue, struct gt_box part,
                          struct gt_err *err);

static gt_status by_chunk(struct gt_host_stage *s, void *queue, const struct gt_box *part,
                          part_fn *copy, struct gt_err *err) {
    const int i = s->next;
    s->next = (i + 1) % GT_HOST_CHUNKS;
    gt_status status = empty(s, i, err);
    if (status == GEMMTUNE_OK)
        status = copy(s, i, queue, *part, err);
    if (status == GEMMTUNE_OK)
        status = s->link->ops->record(&s->chunk[i].event, s->link, queue, err);
    return status;
}

/* Cuts a box into parts of at most a chunk. Rows that are longer than a chunk are cut. */
static gt_status in_parts(struct gt_host_stage *s, void *queue, const struct gt_box *box,
                          part_fn *copy, struct gt_err *err) {
    const int64_t width = box->row_bytes < s->chunk_bytes ? box->row_bytes : s->chunk_bytes;
    const int64_t height = s->chunk_bytes / width;
    gt_status status = GEMMTUNE_OK;
    for (int64_t x = 0; x < box->row_bytes; x += width)
        for (int64_t y = 0; status == GEMMTUNE_OK && y < box->rows; y += height) {
            const int64_t right = box->row_bytes - x, below = box->rows - y;
            struct gt_box part = *box;
            part.host = (char *)box->host + y * box->host_pitch + x;
            part.offset = box->offset + y * box->pitch + x;
            part.row_bytes = width < right ? width : right;
            part.rows = height < below ? height : below;
            status = by_chunk(s, queue, &part, copy, err);
        }
    return status;
}

gt_status gt_host_stage_in(struct gt_host_stage *s, void *queue, const struct gt_box *box,
                           struct gt_err *err) {
    return in_parts(s, queue, box, part_in, err);
}

gt_status gt_host_stage_out(struct gt_host_stage *s, void *queue, const struct gt_box *box,
                            struct gt_err *err) {
    return in_parts(s, queue, box, part_out, err);
}
