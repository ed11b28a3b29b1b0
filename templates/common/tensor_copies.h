/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_copies.h - copies of boxes of a matrix that a tensor map describes ("tensor_maps"
 * of space.json), in both directions. One thread starts a copy. Places in shared memory are
 * addresses, aligned to 128 bytes, or to 1024 when the map has a swizzle. `inner` times an
 * element's size is a multiple of 16: the hardware refuses boxes that begin elsewhere in a
 * row, though PTX does not say so. CUDA from sm_90 on.
 */
#if !GT_OPENCL && __CUDA_ARCH__ >= 900
GT_INLINE void gt_map_prefetch(const struct gt_tensor_map *map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* Starts to copy the map's box at (inner, outer) to shared memory. Past the matrix's edges
 * it has zeros. All bytes of the box count as arrived at the barrier. */
GT_INLINE void gt_box_load(int to, const struct gt_tensor_map *map, int inner, int outer,
                           int barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
                 ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(map), "r"(inner), "r"(outer), "r"(barrier)
                 : "memory");
}

/* The same to each block of the cluster whose bit is set in `blocks`: to this address
 * there, with the barrier at this address there. */
GT_INLINE void gt_box_load_to(int to, const struct gt_tensor_map *map, int inner, int outer,
                              int barrier, int blocks) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
                 ".mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
                 "l"(map), "r"(inner), "r"(outer), "r"(barrier), "h"((short)blocks)
                 : "memory");
}

/* Both for a map of planes: the box at (inner, outer) of a plane. */
GT_INLINE void gt_plane_load(int to, const struct gt_tensor_map *map, int inner, int outer,
                             int plane, int barrier) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile"
                 ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
                 "l"(map), "r"(inner), "r"(outer), "r"(plane), "r"(barrier)
                 : "memory");
}

GT_INLINE void gt_plane_load_to(int to, const struct gt_tensor_map *map, int inner,
                                int outer, int plane, int barrier, int blocks) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile"
                 ".mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
                 "l"(map), "r"(inner), "r"(outer), "r"(plane), "r"(barrier),
                 "h"((short)blocks)
                 : "memory");
}

/* Starts to copy a box from shared memory to the matrix. Elements past the matrix's
 * edges are not stored. The copy belongs to the thread's open group (bulk_copies.h). */
GT_INLINE void gt_box_store(const struct gt_tensor_map *map, int inner, int outer,
                            int from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
                 "[%0, {%1, %2}], [%3];" ::"l"(map),
                 "r"(inner), "r"(outer), "r"(from)
                 : "memory");
}

/* The place of byte `at` of a box in shared memory with a swizzle of `span` bytes. `at`
 * counts from a multiple of 1024. */
GT_INLINE int gt_swizzled(int at, int span) {
    return at ^ ((at >> 7 & (span / 16 - 1)) << 4);
}
#endif
