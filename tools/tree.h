/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - the templates of a folder, parts included, in place of the built-in ones. A
 * program with this file links neither core/embed.o nor build/gen/templates.o and
 * families.o, so it can hold the templates of two trees at once.
 */
#ifndef GT_TOOLS_TREE_H
#define GT_TOOLS_TREE_H

#include "runtime/family/family.h"

struct gt_tree;

/* Reads FOLDER/common/ and FOLDER/<family>/. A family that this program cannot read is left
 * out, and a line on stderr says why. EIO, EINVAL: there is no sound family; ENOMEM. */
gt_status gt_tree_open(struct gt_tree **out, const char *folder, struct gt_err *err);
void gt_tree_close(struct gt_tree *t);
const struct gt_families *gt_tree_families(const struct gt_tree *t);
/* From now on the sources that the calling thread makes have the parts of this tree. */
void gt_tree_use(const struct gt_tree *t);

#endif
