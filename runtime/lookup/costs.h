/* SPDX-License-Identifier: Apache-2.0 */
/*
 * costs.h - the costs of the performance model, in clocks and issue slots of a unit
 * (multiprocessor) unless the line names another unit. Costs of CPUs are in ns of one
 * core, and their names begin with "core_".
 *
 * The fitted costs were fitted all at once: of GPUs to trials of an H200, of CPUs to trials
 * on two cores of an Intel Xeon with AVX-512. Other devices get them until they have costs
 * of their own (costs.json, shelf.h). `gemmtune predict --fit` prints that file from the
 * trials of a database. After a change of costs the trees of learned.h are learned anew.
 */
#ifndef GT_RUNTIME_LOOKUP_COSTS_H
#define GT_RUNTIME_LOOKUP_COSTS_H

#include <stdbool.h>
#include <stddef.h>

/* Which trials a cost is fitted to. */
enum gt_cost_fit { GT_COST_GIVEN, GT_COST_OF_GPU, GT_COST_OF_CPU };

/* X(name, value, least, most, what it is fitted to, meaning). A file with a cost below its
 * least or above its most value is refused: nothing costs so little or so much, or the
 * model would divide by it. */
#define GT_COST_LIST(X)                                                                    \
    X(load, 2.5, 0, 1000, GIVEN, "issue slots of a load from shared memory; measured")     \
    X(line, 1, 0, 1000, GIVEN, "a line that the load/store unit reads; its design")        \
    X(bandwidth, 0.94, 0.01, 1, GIVEN,                                                     \
      "share of its peak that device memory reaches; measured")                            \
    X(l2_share, 0.6, 0, 1, GIVEN, "share of the cache that operands can fill; assumed")    \
    X(copy, 8.01, 0, 1000, OF_GPU, "issue slots of an instruction that brings a slab")     \
    X(conflict, 0.214, 0, 100, OF_GPU,                                                     \
      "share of a slot that a crowded register bank costs")                                \
    X(copy_line, 3.55, 0, 1000, OF_GPU,                                                    \
      "load/store unit: an instruction that brings a slab")                                \
    X(write, 0.289, 0, 1000, OF_GPU, "load/store unit: a line of a slab written")          \
    X(fold, 7.03, 0, 1000, OF_GPU,                                                         \
      "load/store unit: a line of partial sums written and read")                          \
    X(store, 4.43, 0, 1000, OF_GPU, "load/store unit: a line of C written")                \
    X(begin_ns, 443, 0, 1e6, OF_GPU,                                                       \
      "ns until a block has its first slab, once a round of blocks")                       \
    X(again_ns, 1000, 0, 1e6, OF_GPU,                                                      \
      "ns from a block's end to its successor's first products")                           \
    X(barrier, 43.1, 0, 1e4, OF_GPU, "wait of a warp at the end of a slab")                \
    X(wait, 9.9, 0, 1e4, OF_GPU, "wait of a warp between two bursts of multiply-adds")     \
    X(tensor_wait, 42.5, 0, 1e4, OF_GPU, "the same between products of tensor cores")      \
    X(tensor_share, 0.855, 0.01, 1, OF_GPU,                                                \
      "share of their ceiling that tensor cores reach")                                    \
    X(l2_bytes, 42.1, 0.1, 1e4, OF_GPU, "bytes a clock from the second-level cache")       \
    X(memory_ns, 662, 0, 1e5, OF_GPU, "ns from the request of a slab to its arrival")      \
    X(first_memory, 646, 0, 1e5, OF_GPU, "the same when most is in the first-level cache") \
    X(part, 706, 0, 1e6, OF_GPU, "adding one part of a tile that streams have split")      \
    X(registers, 1.15, 0.1, 10, GIVEN,                                                     \
      "registers that compilers use / estimate of families")                               \
    X(cluster, 2640, 0, 1e6, OF_GPU, "wait of a cluster for its blocks")                   \
    X(pair, 1200, 0, 1e6, GIVEN, "start and end of a cluster that shares slabs; measured") \
    X(launch_ns, 1410, 0, 1e6, OF_GPU, "ns of a graph's first kernel")                     \
    X(pass_ns, 1890, 0, 1e6, OF_GPU, "ns of each further kernel")                          \
    X(moved, 2300, 0.1, 1e6, OF_GPU, "bytes a ns through the workspace")                   \
    X(core_fma, 0.17, 1e-4, 100, OF_CPU, "a multiply-add of vectors")                      \
    X(core_load, 0.105, 0, 100, OF_CPU, "a load of a vector or of a value for all of one") \
    X(core_copy, 0.28, 0, 100, OF_CPU, "an element of a slab that is packed")              \
    X(core_sum, 0.1, 0, 100, OF_CPU, "a vector of sums that waits between slabs")          \
    X(core_store, 0.25, 0, 100, OF_CPU, "an element of C")                                 \
    X(core_bytes, 10, 1e-3, 1e4, OF_CPU, "bytes a ns from memory")                         \
    X(core_group_ns, 190, 0, 1e6, OF_CPU, "a work-group, beside its work")                 \
    X(core_launch_ns, 6500, 0, 1e8, OF_CPU, "a launch")                                    \
    X(scale, 1, 1e-6, 1e6, GIVEN,                                                          \
      "measured / computed time of a device that does not report its peaks")

struct gt_costs {
#define X(name, value, low, high, fitted, what) double name;
    GT_COST_LIST(X)
#undef X
};

enum {
#define X(name, value, low, high, fitted, what) GT_COST_##name,
    GT_COST_LIST(X)
#undef X
        GT_COSTS /* how many there are */
};

/* The list, without the values: shelf.h has those as the costs of the usual device. */
struct gt_cost_row {
    const char *name;
    size_t at; /* offset in struct gt_costs */
    double low, high;
    enum gt_cost_fit fitted;
};
extern const struct gt_cost_row gt_cost_list[GT_COSTS];
double *gt_cost_at(struct gt_costs *c, int i);

#endif
