/* SPDX-License-Identifier: Apache-2.0 */
/* starts.h - the starting and default points of families as if they were records: kernels
 * to compare where a family has no record, or few. */
#ifndef GT_TOOLS_STARTS_H
#define GT_TOOLS_STARTS_H

#include "tools/exported.h"
#include "tools/tree.h"

/* Lists these points of each family that both trees have, with the hash of the old one, on
 * the device of `d`. A point gets the first types, layout and shape that the new tree
 * accepts; the search for them begins elsewhere for each point. Points that fit none are
 * left out. The caller clears *out. ENOMEM. */
gt_status gt_starts_list(struct gt_exported *out, const struct gt_device *d,
                         const struct gt_tree *old_tree, const struct gt_tree *new_tree,
                         struct gt_err *err);

#endif
