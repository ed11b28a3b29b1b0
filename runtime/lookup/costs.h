/* SPDX-License-Identifier: Apache-2.0 */
/*
 * costs.h - the costs of the performance model, in clocks and issue slots of a unit
 * (multiprocessor) unless the line names another unit.
 *
 * The fitted costs were fitted all at once, to trials of an H200: other devices get them
 * until they have costs of their own (costs.json, shelf.h). `gemmtune predict --fit` prints
 * that file from the trials of a database. After a change of costs the trees of learned.h
 * are learned anew.
 */
#ifndef GT_RUNTIME_LOOKUP_COSTS_H
#define GT_RUNTIME_LOOKUP_COSTS_H

/* X(name, value, whether it is fitted, meaning) */
#define GT_COST_LIST(X)                                                                    \
    X(load, 2.5, false, "issue slots of a load from shared memory; measured")              \
    X(line, 1, false, "a line that the load/store unit reads; its design")                 \
    X(bandwidth, 0.94, false, "share of its peak that device memory reaches; measured")    \
    X(l2_share, 0.6, false, "share of the cache that operands can fill; assumed")          \
    X(copy, 8.01, true, "issue slots of an instruction that brings a slab")                \
    X(conflict, 0.214, true, "share of a slot that a crowded register bank costs")         \
    X(copy_line, 3.55, true, "load/store unit: an instruction that brings a slab")         \
    X(write, 0.289, true, "load/store unit: a line of a slab written")                     \
    X(fold, 7.03, true, "load/store unit: a line of partial sums written and read")        \
    X(store, 4.43, true, "load/store unit: a line of C written")                           \
    X(begin_ns, 443, true, "ns until a block has its first slab, once a round of blocks")  \
    X(again_ns, 1000, true, "ns from a block's end to its successor's first products")     \
    X(barrier, 43.1, true, "wait of a warp at the end of a slab")                          \
    X(wait, 9.9, true, "wait of a warp between two bursts of multiply-adds")               \
    X(tensor_wait, 42.5, true, "the same between products of tensor cores")                \
    X(tensor_share, 0.855, true, "share of their ceiling that tensor cores reach")         \
    X(l2_bytes, 42.1, true, "bytes a clock from the second-level cache")                   \
    X(memory_ns, 662, true, "ns from the request of a slab to its arrival")                \
    X(first_memory, 646, true, "the same when most is in the first-level cache")           \
    X(part, 706, true, "adding one part of a tile that streams have split")                \
    X(registers, 1.15, false, "registers that compilers use / estimate of families")       \
    X(cluster, 2640, true, "wait of a cluster for its blocks")                             \
    X(pair, 1200, false, "start and end of a cluster that shares slabs; measured")         \
    X(launch_ns, 1410, true, "ns of a graph's first kernel")                               \
    X(pass_ns, 1890, true, "ns of each further kernel")                                    \
    X(moved, 2300, true, "bytes a ns through the workspace")

struct gt_costs {
#define X(name, value, fitted, what) double name;
    GT_COST_LIST(X)
#undef X
};

/* The costs of this list: of a device that has none of its own (shelf.h). */
extern const struct gt_costs gt_costs_usual;

#endif
