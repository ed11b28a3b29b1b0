/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapped - for the fake CUDA driver (tests/fake/cuda/), whose tensor maps can be read: what
 * the maps do not cover counts as 0. A box or a swizzle that is not the point's makes
 * everything 0, and so does a map that the point does not have.
 *
 *     pack   A to the workspace, 64 bytes into it, rows of whole 16 bytes    when PACK
 *
 * BAD 1 leaves out the last k of A, 2 asks for a box that no driver takes.
 */
struct gt_tensor_map {
    ulong address, type, inner, outer, stride, box[2], how, rest[8];
};

static gt_a element(const struct gt_tensor_map *map, int outer, int inner)
{
    if (outer >= map->outer || inner >= map->inner)
        return 0;
    return ((const GT_GLOBAL gt_a *)(map->address + outer * map->stride))[inner];
}

GT_KERNEL(pack, 8, 8, 1)(GT_PARAMS) {
    const int across = (m - 1) / 8 + 1;
    const int i = GT_BLOCK % across * 8 + GT_THREAD_X;
    const int p = GT_BLOCK / across * 8 + GT_THREAD_Y;
    if (i < m && p < k)
        workspace[64 / GT_SIZEOF_A + i * (gt_long)(GT_CDIV(k, 4) * 4) + p] = a[i * lda + p];
}

GT_KERNEL(gemm, 8, 8, 1)(GT_PARAMS) {
    const int across = (n - 1) / 8 + 1;
    const int i = GT_BLOCK / across * 8 + GT_THREAD_Y;
    const int j = GT_BLOCK % across * 8 + GT_THREAD_X;
    const int boxes = map_a.box[0] == GT_BOX && map_a.box[1] == 4 && map_b.box[0] == 8 &&
                      map_b.box[1] == GT_BOX && map_a.how >> 16 == 0 &&
                      map_b.how >> 16 == (GT_BOX == 16 ? 32 : 0) && map_c.address == 0;
    gt_acc acc = 0;
    if (i >= m || j >= n)
        return;
    for (int p = 0; p < k && boxes; p++)
        acc = gt_fma(element(&map_a, i, p), element(&map_b, p, j), acc);
    gt_store_c(c + i * ldc + j, alpha, acc, beta);
}
