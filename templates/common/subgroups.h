/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subgroups.h - work-items that run in step and read each other's registers (OpenCL with
 * cl_intel_subgroups and cl_intel_required_subgroup_size). The name SUBGROUPS of space.json
 * is the sum of the sizes that the device has. A kernel asks for one of them.
 *
 *     GT_IN_SUBGROUPS(size)   before GT_KERNEL: the kernel runs in subgroups of `size`
 *     GT_LANE              the number of the work-item in its subgroup
 *     GT_SUBGROUP_OF       the number of the subgroup in its block
 *     gt_of_lane(x, lane)  the x of that lane, of any type; one lane for all work-items
 *     gt_words(from)       word GT_LANE of the 32-bit words at `from`, where all work-items
 *                          have one `from`: one load for the subgroup
 */
#if GT_OPENCL && GT_SUBGROUPS
#define GT_IN_SUBGROUPS(size) __attribute__((intel_reqd_sub_group_size(size)))
#define GT_LANE ((int)get_sub_group_local_id())
#define GT_SUBGROUP_OF ((int)get_sub_group_id())
#define gt_of_lane(x, lane) intel_sub_group_shuffle(x, lane)
#define gt_words(from) intel_sub_group_block_read((const GT_GLOBAL uint *)(from))
#endif
