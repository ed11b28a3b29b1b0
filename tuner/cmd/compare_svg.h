/* SPDX-License-Identifier: Apache-2.0 */
/* compare_svg.h - what the two panels of the picture of `gemmtune compare` share. */
#ifndef GT_TUNER_CMD_COMPARE_SVG_H
#define GT_TUNER_CMD_COMPARE_SVG_H

#include "tuner/base/svg.h"
#include "tuner/cmd/compare.h"

/* Height of the panel of classes, in pixels; 0: no row has a ratio. */
int gt_compare_classes_height(const struct gt_comparison *c);
/* Draws it between the two sides, from `top` on. */
void gt_compare_classes_draw(struct gt_svg *svg, const struct gt_comparison *c, double left,
                             double right, double top);

#endif
