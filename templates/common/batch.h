/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - the product of a block where the matrices of a batch do not lie at fixed
 * strides, where not all of their rows are computed, or where the batch has an epilogue. It
 * is in the source of such a problem, unless the kernel walks (walk.h), behind all other
 * parts, and replaces GT_PRODUCT() of dialect.h. So a family whose "batch" is "grid" serves
 * these problems without a word of its own.
 *
 * GT_POINTERS 1: the kernel's parameters all_a, all_b and all_c are arrays of `batch`
 * pointers. They lead to matrices that the caller has promised to be aligned. With k 0
 * neither A nor B is read, nor are their arrays.
 *
 * GT_GROUPED 1: A and C are one matrix each, of m rows in `batch` groups. Group g is
 * multiplied by matrix g of B, and ends ahead of row all_rows[g].
 * GT_MASKED 1: the first all_rows[z] rows of product z are computed.
 *
 * In both, the grid's y and z number slots of GT_SLOT_ROWS rows, the height of a tile. A
 * slot lies within one group or product, and is to the kernel a product of its own: its m
 * is the rows that exist in the slot, from 0 to GT_SLOT_ROWS. The host does not know the
 * groups. It launches floor(m / GT_SLOT_ROWS) + batch slots, which are enough: group g has
 * the slots from floor(begin / GT_SLOT_ROWS) + g on. That number grows with g by at least
 * the slots that a group needs, and every block finds its group by bisection.
 */
#if GT_POINTERS || GT_GROUPED || GT_MASKED
#undef GT_PRODUCT
#endif

#if GT_POINTERS
/* A pointer loaded from memory has no address space; the assumption says that it is
 * global. */
#define GT_POINTER(type, x, exists)                                                        \
    type *GT_RESTRICT x = (exists) ? all_##x[gt_product] : 0;                              \
    __builtin_assume(__isGlobal(x))

#define GT_PRODUCT()                                                                       \
    const gt_long gt_product = GT_GRID_PRODUCT;                                            \
    if (gt_product >= batch)                                                               \
        return;                                                                            \
    GT_POINTER(const gt_a, a, k > 0);                                                      \
    GT_POINTER(const gt_b, b, k > 0);                                                      \
    GT_POINTER(gt_c, c, 1);                                                                \
    GT_PRODUCT_WORKSPACE()
#endif

#if GT_GROUPED || GT_MASKED
/* A slot: its first row in A and C, its rows that exist, and the group or product. */
struct gt_slot {
    gt_long row, group;
    int rows;
};

GT_INLINE struct gt_slot gt_slot_of(gt_long number, const GT_GLOBAL int *all_rows,
                                    int batch, int m) {
    struct gt_slot slot;
    gt_long left; /* rows from the slot's first one to the end */
#if GT_GROUPED
    int low = 0, high = batch; /* the group is from low to high - 1 */
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (all_rows[middle - 1] / GT_SLOT_ROWS + middle <= number)
            low = middle;
        else
            high = middle;
    }
    const int begin = low > 0 ? all_rows[low - 1] : 0;
    slot.group = low;
    slot.row = begin + (number - begin / GT_SLOT_ROWS - low) * GT_SLOT_ROWS;
    left = GT_MIN(all_rows[low], m) - slot.row;
#else
    const int each = gt_cdiv(m, GT_SLOT_ROWS);
    const gt_long product = number / each; /* the grid may have more slots than there are */
    slot.group = GT_MIN(product, batch - 1);
    slot.row = number % each * GT_SLOT_ROWS;
    left = product < batch ? GT_MIN(all_rows[slot.group], m) - slot.row : 0;
#endif
    slot.rows = (int)GT_MAX(0, GT_MIN(left, GT_SLOT_ROWS));
    return slot;
}

/* The matrix of A and C that has the slot. */
#if GT_GROUPED
#define GT_SLOT_MATRIX 0
#else
#define GT_SLOT_MATRIX gt_slot.group
#endif

/* On CUDA all threads of a slot without rows end. On OpenCL they go on with m 0 (see
 * dialect.h): they may read B, so the slot always has an existing group, and write nothing.
 */
#define GT_PRODUCT()                                                                       \
    const gt_long gt_product = GT_GRID_PRODUCT;                                            \
    const struct gt_slot gt_slot = gt_slot_of(gt_product, all_rows, batch, m);             \
    const gt_long gt_rows_ahead = GT_SLOT_MATRIX * (gt_long)m + gt_slot.row;               \
    (void)gt_rows_ahead; /* only an epilogue asks for it */                                \
    if (!GT_OPENCL && gt_slot.rows == 0)                                                   \
        return;                                                                            \
    m = gt_slot.rows;                                                                      \
    a += GT_SLOT_MATRIX * stride_a + gt_slot.row * (GT_TA ? 1 : lda);                      \
    b += gt_slot.group * stride_b;                                                         \
    c += GT_SLOT_MATRIX * stride_c + gt_slot.row * ldc;                                    \
    GT_PRODUCT_WORKSPACE()

/* The rows of A, B and C, as they are stored, ahead of the slot: of tensor maps, which
 * begin at the first matrix. */
#define GT_ROWS_BEFORE_A ((int)(GT_SLOT_MATRIX * stride_a / lda + gt_slot.row))
#define GT_ROWS_BEFORE_B ((int)(gt_slot.group * stride_b / ldb))
#define GT_ROWS_BEFORE_C ((int)(GT_SLOT_MATRIX * stride_c / ldc + gt_slot.row))

/* A slot has one row of tiles: tiles.h would divide by their number, which may be 0. */
#define gt_tile_place(row, col, tile, bm, bn, group, m, n)                                 \
    (*(row) = 0, *(col) = (tile) * (bn))
#endif

/*
 * An epilogue of a batch. The rows of all products count as one column of rows: an operand
 * with [i] or [i,j], and d2, has m rows for each product, one product after another. Of
 * groups these are the m rows of C. GT_MOVE_OPERANDS(rows, product) moves such operands to
 * the block's first row, and tells those with [z] or [z,j] its product or group. An operand
 * with [j] and a scalar serve all products. It stands in GT_PRODUCT() with the workspace,
 * which moves likewise.
 */
#ifdef GT_MOVE_OPERANDS
#if GT_GROUPED || GT_MASKED
#define GT_MOVE_TO_PRODUCT() GT_MOVE_OPERANDS(gt_rows_ahead, gt_slot.group)
#else
#define GT_MOVE_TO_PRODUCT() GT_MOVE_OPERANDS(gt_product *m, gt_product)
#endif
#undef GT_PRODUCT_WORKSPACE
#ifdef GT_HAS_WORKSPACE
#define GT_PRODUCT_WORKSPACE()                                                             \
    GT_MOVE_TO_PRODUCT();                                                                  \
    workspace += gt_product * stride_w
#else
#define GT_PRODUCT_WORKSPACE() GT_MOVE_TO_PRODUCT()
#endif
#endif
