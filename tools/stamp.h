/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stamp.h - the records of a file that have another hash of their family than a tree
 * has: are their kernels the same in the tree that the records are from? A kernel is
 * the same when its launches, its tensor maps, its workspace and its arguments are, and
 * when its texts are one kernel (kernel.h).
 */
#ifndef GT_TOOLS_STAMP_H
#define GT_TOOLS_STAMP_H

#include "tools/kernel.h"
#include "tools/exported.h"
#include "tools/tree.h"

enum gt_stamp_state {
    GT_STAMP_CURRENT, /* the records have the hash of the new tree */
    GT_STAMP_GONE,    /* the new tree has no such family */
    GT_STAMP_UNKNOWN, /* the records have neither the old nor the new hash */
    GT_STAMP_COMPARED
};

/* The records of a family that have one hash. */
struct gt_stamp_row {
    const char *family, *hash;                       /* the records' */
    const struct gt_family *old_family, *new_family; /* NULL: the tree has none */
    enum gt_stamp_state state;
    size_t records;                    /* all */
    size_t compared;                   /* records with compared kernels */
    size_t kernels;                    /* that are different from each other among them */
    size_t same[GT_SAME_WAYS];         /* of these kernels; GT_SAME_NOT: they differ */
    const struct gt_recorded *differs; /* the first record that does; NULL: none */
    size_t first;                      /* its place in the order of comparing */
    char why[GT_KERNEL_WHY_MAX];
};

struct gt_stamp {
    const struct gt_exported *records;
    const struct gt_tree *old_tree, *new_tree; /* no old tree: nothing is compared */
    bool all;        /* compare families of an unchanged hash as well */
    bool keep_going; /* compare all kernels of a family, though one differs */
    size_t sample;   /* compare so many records, at least one of each family; 0: all */
    size_t count;
    struct gt_stamp_row *row; /* by family */
};

/* Fills in the rows. ENOMEM. */
gt_status gt_stamp_begin(struct gt_stamp *s, struct gt_err *err);
/* Compares, on all cores, and shows on stderr how far it is. ENOMEM. */
gt_status gt_stamp_compare(struct gt_stamp *s, struct gt_err *err);
void gt_stamp_clear(struct gt_stamp *s);

/* A record's kernel as a tree makes it. */
struct gt_made {
    char *launches; /* a line for each number that a launch depends on */
    char *source;
};
/* EINVAL, EUNSUPPORTED, EPARSE: the tree refuses the record. The caller clears *out in any
 * case. */
gt_status gt_made_create(struct gt_made *out, const struct gt_tree *tree,
                         const struct gt_device *d, const struct gt_recorded *record,
                         struct gt_err *err);
void gt_made_clear(struct gt_made *m);

#endif
