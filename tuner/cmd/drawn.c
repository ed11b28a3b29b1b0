/* SPDX-License-Identifier: Apache-2.0 */
/* drawn.c - see drawn.h. */
#include "tuner/cmd/drawn.h"

#include "tuner/tune/draw.h"

double gt_drawn_volume(const struct gt_device *d) {
    return d->is_cpu ? 1e8 : 4e10;
}

bool gt_drawn_lacks_random(const struct gt_drawn_values *v) {
    return v->random == 0 && (v->types.count > 0 || v->volume > 0 || v->batch > 0);
}

int gt_drawn_make(struct gt_sweep *out, const struct gt_drawn_values *v, int64_t seed,
                  const struct gt_device *d, const char *command) {
    static const struct gt_texts usual_types = {2, {"f32", "f64"}};
    if (v->volume > 0 && v->volume < 1)
        return gt_die(GT_EXIT_USAGE, "%s: --volume needs a number of 1 or more", command);
    struct gt_err err = {""};
    const struct gt_draw how = {
        .count = (size_t)v->random,
        .seed = (uint64_t)seed,
        .types = v->types.count > 0 ? &v->types : &usual_types,
        .volume = v->volume > 0 ? v->volume : gt_drawn_volume(d),
        .elements = v->elements,
        .batch = (int)v->batch,
    };
    const gt_status status = gt_draw_problems(out, &how, &err);
    if (status == GEMMTUNE_EPARSE || status == GEMMTUNE_EINVAL)
        return gt_die(GT_EXIT_USAGE, "%s: %s", command, err.line);
    return status == GEMMTUNE_OK ? -1 : gt_common_fail(status, &err);
}
