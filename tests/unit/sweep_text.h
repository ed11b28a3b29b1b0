/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_text.h - a sweep from memory. */
#ifndef GT_TESTS_UNIT_SWEEP_TEXT_H
#define GT_TESTS_UNIT_SWEEP_TEXT_H

#include "core/json.h"
#include "tuner/base/sweep.h"

/* As gt_sweep_load. `name` is the file's name in messages. */
static inline gt_status parse_sweep(struct gt_sweep *out, const char *name,
                                    const char *text, size_t size, struct gt_err *err) {
    struct gt_json *doc = NULL;
    *out = (struct gt_sweep){0};
    const gt_status status = gt_json_parse(&doc, name, text, size, err);
    return status == GEMMTUNE_OK ? gt_sweep_take(out, doc, err) : status;
}

#endif
