/* SPDX-License-Identifier: Apache-2.0 */
/* cell.h - the text of a table's cell. */
#ifndef GT_TUNER_BASE_CELL_H
#define GT_TUNER_BASE_CELL_H

#include "tuner/base/table.h"

/* Whether a column of this kind has texts, not numbers. */
bool gt_cell_is_text(enum gt_cell_kind kind);
/* The text of a cell: its own, or its number written to `buf` for people or for programs.
 * NULL when the cell is empty. */
const char *gt_cell_show(char buf[GT_CELL_MAX], enum gt_cell_kind kind, struct gt_cell cell,
                         bool people);

#endif
