/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/host/timeline.h"

#include <stdlib.h>
#include <string.h>

static int by_begin(const void *x, const void *y) {
    const struct gt_host_span *a = x, *b = y;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

/* Seconds that at least one span covers; sorts the spans. */
static double covered(struct gt_host_span *span, size_t count) {
    double seconds = 0, upto = 0;
    qsort(span, count, sizeof *span, by_begin);
    for (size_t i = 0; i < count; i++) {
        const double begin = i > 0 && span[i].begin < upto ? upto : span[i].begin;
        if (span[i].end > begin) {
            seconds += span[i].end - begin;
            upto = span[i].end;
        }
    }
    return seconds;
}

/* Spans of products come first, then spans of copies. */
struct spans {
    struct gt_host_span *of;
    size_t products, all;
};

static void gather(struct spans *s, const struct gt_host_op *op,
                   const struct gt_host_span *span, int64_t count) {
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < count; i++)
            if ((op[i].lane == GT_LANE_RUN) == (pass == 0) && span[i].end > 0)
                s->of[s->all++] = span[i];
        if (pass == 0)
            s->products = s->all;
    }
}

/* exposed = all - products, where `all` is the time of any copy or product. */
static void add_times(gemmtune_host_report *r, const struct gt_host_op *op,
                      const struct gt_host_span *span, int64_t count, int devices) {
    struct spans s = {.of = calloc((size_t)count + 1, sizeof *s.of)};
    if (s.of == NULL)
        return;
    gather(&s, op, span, count);
    const double products = covered(s.of, s.products);
    const double copies = covered(s.of + s.products, s.all - s.products);
    const double all = covered(s.of, s.all);
    r->compute_seconds += products / devices;
    r->copy_seconds += copies / devices;
    r->exposed_seconds += (all - products) / devices;
    free(s.of);
}

static gemmtune_host_event event_of(const struct gt_host_cut *cut,
                                    const struct gt_host_op *op,
                                    const struct gt_host_span *span, int device) {
    static const char letter[] = {'A', 'B', 'C', 'x', 'C'};
    const struct gt_host_region r = gt_host_region_of(cut, gt_host_operand_of(op), op);
    const bool product = op->kind == GT_RUN;
    return (gemmtune_host_event){
        .struct_size = sizeof(gemmtune_host_event),
        .device = device,
        .lane = (int32_t)op->lane,
        .operand = letter[op->kind],
        .row = r.row,
        .col = r.col,
        .rows = r.rows,
        .cols = r.cols,
        .depth_at = product ? op->at[2] : 0,
        .depth = product ? op->size[2] : 0,
        .bytes = gt_host_op_bytes(cut, op),
        .flops = product
                     ? 2.0 * (double)op->size[0] * (double)op->size[1] * (double)op->size[2]
                     : 0,
        .begin = span->begin,
        .end = span->end,
    };
}

void gt_host_timeline_add(gemmtune_host_report *report, const struct gt_host_cut *cut,
                          const struct gt_host_engine *e, int device, int devices,
                          const gemmtune_host_options *options) {
    const struct gt_host_op *op;
    const struct gt_host_span *span;
    const int64_t count = gt_host_engine_ops(e, &op, &span);
    add_times(report, op, span, count, devices);
    for (int64_t i = 0; i < count; i++) {
        if (span[i].end <= 0)
            continue;
        const gemmtune_host_event event = event_of(cut, &op[i], &span[i], device);
        report->bytes_in += op[i].lane < GT_LANE_RUN ? event.bytes : 0;
        report->bytes_out += op[i].lane == GT_LANE_OUT ? event.bytes : 0;
        if (options->trace != NULL)
            options->trace(options->trace_user, &event);
    }
}
