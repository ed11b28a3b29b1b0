/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_mutants.c - does verification notice errors? Kernels of the shipped families are
 * broken one by one, by replacing one piece of text, and tried like any candidate: each
 * must be refused as wrong_result or crashed, at a point where the shipped kernel is
 * correct.
 *
 * Every piece of text must occur exactly once, so that this test reports a template that
 * has changed instead of testing nothing. The functions of templates/common/ are copied in
 * front of the template under other names, so that they can be broken as well. One mutant
 * in FEW is tried; GT_LONG=1 tries the others, or the share of them that GT_SHARE names
 * (tests/share.h).
 */
#include "core/embed.h"
#include "runtime/family_inside.h"
#include "tests/share.h"
#include "tuner/work/pool.h"
#include "tuner/rig/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAIVE     "MAP=1 BX=8 BY=8 KU=4"
#define COALESCED "BX=16 BY=4 EN=2 EM=2 KU=2"
#define TILE      "TILE_WIDTH=8 PAD=1 DOUBLE=0"
#define BLOCK_OF(va, two)                                                                  \
    "BM=32 BN=32 BK=4 THREADS=64 OWN=1 TM=4 VA=" va " VB=1 PAD=0 DOUBLE=" two              \
    " MINB=1 GROUP=4"
#define BLOCK     BLOCK_OF("1", "0")
#define BLOCK_TWO BLOCK_OF("1", "1")
#define BLOCK_VEC BLOCK_OF("4", "0")
#define BLOCK_STRIDED                                                                      \
    "BM=16 BN=16 BK=4 THREADS=64 OWN=0 TM=1 VA=1 VB=1 PAD=0 DOUBLE=0 MINB=1 GROUP=1"
#define COLUMN "BM=16 BN=32 BK=4 COLS=2 Q=2 V=1 VA=1 PAD=0 DOUBLE=0 MINB=1 GROUP=8"
#define SKINNY_OF(what, split)                                                             \
    what " VX=1 U=2 STAGES=3 LANES=4 THREADS=128 MINB=1 SPLIT=" split
#define SKINNY       SKINNY_OF("SIDE=0 S=16 R=2 V=1", "1")
#define SKINNY_SPLIT SKINNY_OF("SIDE=0 S=16 R=2 V=1", "2")
#define SKINNY_PARTS SKINNY_OF("SIDE=0 S=16 R=2 V=1", "16") /* too many for a cluster */
#define SKINNY_ALONG SKINNY_OF("SIDE=1 S=16 R=2 V=1", "1")  /* W contiguous along k */
#define SKINNY_FOLD                                                                        \
    "SIDE=0 S=16 R=2 V=1 VX=1 U=1 STAGES=3 LANES=64 THREADS=256 MINB=1 SPLIT=1"

#define MULTI_OF(slices, split, stream, v, repack)                                         \
    "BM=32 BN=32 BK=32 TM=4 TN=4 STAGES=2 SLICES=" slices " SPLIT=" split                  \
    " CLUSTER=0 STREAM=" stream " VA=" v " VB=" v " ORDER=0 REPACK=" repack                \
    " MINB=1 GROUP=1"
#define MULTI        MULTI_OF("2", "1", "0", "1", "0")
#define MULTI_SPLIT  MULTI_OF("1", "2", "0", "1", "0")
#define MULTI_STREAM MULTI_OF("1", "1", "3", "1", "0") /* shares end within tiles */
#define MULTI_PACK   MULTI_OF("1", "1", "0", "4", "2")

/* Blocks of 256 threads: on a GPU a missing barrier shows only where several warps share a
 * scheduler, and a warp does not merely overwrite what itself has read. */
#define TILE_RACE(two) "TILE_WIDTH=16 PAD=1 DOUBLE=" two
#define BLOCK_RACE                                                                         \
    "BM=64 BN=64 BK=8 THREADS=256 OWN=1 TM=4 VA=1 VB=1 PAD=0 DOUBLE=0 MINB=1 GROUP=4"
#define COLUMN_RACE(two)                                                                   \
    "BM=32 BN=64 BK=16 COLS=1 Q=4 V=1 VA=1 PAD=0 DOUBLE=" two " MINB=1 GROUP=8"
#define BUNDLE_OF(share, gather)                                                           \
    "PRODUCTS=4 TM=4 TN=2 SPREAD=1 SHARE=" share " PAD=1 GATHER=" gather " UNROLL_K=4"
#define BUNDLE        BUNDLE_OF("1", "1")
#define BUNDLE_DIRECT BUNDLE_OF("0", "1")
#define BUNDLE_STORES BUNDLE_OF("1", "0")
#define BUNDLE_CLOSE  "PRODUCTS=4 TM=4 TN=2 SPREAD=0 SHARE=0 PAD=0 GATHER=0 UNROLL_K=4"
#define BUNDLE_SHAPE  "-5x9x7"
#define BUNDLE_MUTANT(name, types, point, was, now)                                        \
    { "bundle_" name, "bundle", types, point, was, now }
#define GRID_MUTANT(name, more)                                                            \
    {                                                                                      \
        "grid_" name, "naive", "f32-nn,batch=5", NAIVE, "GT_PRODUCT();",                   \
            "GT_PRODUCT(); " more                                                          \
    }
#define ROWS_MUTANT(name, kind, more)                                                      \
    { name, "naive", "f32-nn," kind, NAIVE, "GT_PRODUCT();", "GT_PRODUCT(); " more }
#define VECTOR "VECTOR=16 NV=2 MR=4 PM=2 PN=2 BK=32"

/* Five mistakes in kernels of the types `of`. `scaled` is alpha or beta times a little more
 * than 1; integers have no such number. */
#define MISTAKES(id, of, scaled)                                                           \
    {"naive_" id "_zeros",     "naive", of "-nn", NAIVE, "alpha, acc, beta GT",            \
     "alpha, 0 * acc, beta GT"},                                                           \
        {"naive_" id "_k_tail_dropped",                                                    \
         "naive",                                                                          \
         of "-nt",                                                                         \
         NAIVE,                                                                            \
         "for (; left > 0; left--)",                                                       \
         "for (; left > 1; left--)"},                                                      \
        {"tile_" id "_last_row",      "tile", of "-tn", TILE, "ty < rows && tx < cols",    \
         "ty + 1 < rows && tx < cols"},                                                    \
        {"naive_" id "_alpha",          "naive", of "-nn", NAIVE, "alpha, acc, beta GT",   \
         scaled(alpha) ", acc, beta GT"},                                                  \
        {"naive_" id "_beta",                                                              \
         "naive",                                                                          \
         of "-nn",                                                                         \
         NAIVE,                                                                            \
         "alpha, acc, beta GT",                                                            \
         "alpha, acc, " scaled(beta) " GT"},                                               \
    {                                                                                      \
        "naive_" id "_pair_swapped", "naive", of "-tt", NAIVE, "row * ldc + col, alpha",   \
            "row * ldc + ((col ^ 1) < n ? col ^ 1 : col), alpha"                           \
    }
#define GRID_EPILOGUE(name, more, text)                                                    \
    {                                                                                      \
        "grid_epilogue_" name, "naive", "f32-nn,batch=5,epi=" text, NAIVE,                 \
            "GT_PRODUCT();", "GT_PRODUCT(); " more                                         \
    }
/* A mistake in naive that shows with an epilogue. */
#define EPILOGUE(id, was, now, text)                                                       \
    { "naive_epilogue_" id, "naive", "f32-nn,beta,epi=" text, NAIVE, was, now }
#define LITTLE(x)  "1.01f * " #x
#define INTEGER(x) "(" #x " + (" #x " != 0))"
#define STEP       "acc = gt_multiply_add(a[u * step_a], b[u * step_b], acc)"
/* x without the last `n` of its 24 bits */
#define SHORT(x, n) "GT_BITS_TO_F32(GT_BITS_FROM_F32(" x ") >> " #n " << " #n ")"

/* Whole tiles for all points above: errors at edges only do not show on the timed problem.
 */
#define PROBLEM "-64x64x128"

/* The name of a mutant that must be accepted begins with this. */
#define ALLOWED "allowed_"

static const struct mutant {
    const char *name, *family, *types, *point, *was, *now;
} mutants[] = {
    /* products */
    {"naive_k_tail_dropped", "naive", "f32-nn", NAIVE, "for (; left > 0; left--)",
     "for (; left > 1; left--)"},
    {"naive_k_overrun", "naive", "f32-nn", NAIVE, "left >= GT_KU", "left > 0"},
    {"naive_acc_not_zero", "naive", "f32-nn", NAIVE, "gt_acc acc = 0;", "gt_acc acc = 1;"},
    {"naive_lda_is_ldb", "naive", "f32-nn", NAIVE, "row * lda", "row * ldb"},
    {"naive_ldb_is_lda", "naive", "f32-nt", NAIVE, "col * ldb", "col * lda"},
    {"naive_lda_is_k", "naive", "f32-nn", NAIVE, "row * lda", "row * k"},
    {"naive_ldc_is_n", "naive", "f32-nn", NAIVE, "row * ldc + col, alpha, acc",
     "row * n + col, alpha, acc"},
    {"naive_transposed_a", "naive", "f32-tn", NAIVE, "a += GT_TA ? row",
     "a += GT_TA ? col"},
    {"naive_float_sums", "naive", "f64-nn", NAIVE,
     "acc = gt_multiply_add(a[u * step_a], b[u * step_b], acc)",
     "acc = (float)gt_multiply_add(a[u * step_a], b[u * step_b], acc)"},
    {"naive_bf16_sums", "naive", "bf16-nn", NAIVE,
     "acc = gt_multiply_add(a[u * step_a], b[u * step_b], acc)",
     "acc = gt_from_c(gt_to_c(gt_multiply_add(a[u * step_a], b[u * step_b], acc)))"},
    {"tile_bf16_as_integers", "tile", "bf16=f32-nt", TILE, "gt_from_b(x[", "(x["},
    {"naive_int_by_float", "naive", "i32-nn", NAIVE, "acc = gt_multiply_add(*a, *b, acc)",
     "acc += (gt_acc)(int)((float)(int)*a * (float)(int)*b)"},
    {"naive_int_saturates", "naive", "i32-nn", NAIVE, "acc = gt_multiply_add(*a, *b, acc)",
     "acc = (gt_acc)GT_MAX(GT_MIN((gt_long)(int)*a * (int)*b + (int)acc, "
     "(gt_long)2147483647), "
     "-(gt_long)2147483647 - 1)"},
    {"coalesced_k_repeated", "coalesced", "f32-nn", COALESCED, "i * KU + u]", "i * KU]"},
    {"coalesced_a_stays", "coalesced", "f32-nn", COALESCED, "a += KU * step_a;", ""},
    {"coalesced_k_tail_dropped", "coalesced", "f32-nn", COALESCED,
     "for (; left > 0; left--)", "for (; left > 1; left--)"},
    {"coalesced_edge_ldb", "coalesced", "f32-nt", COALESCED, "GT_MIN(j, cols - 1) * next_b",
     "GT_MIN(j, cols - 1)"},
    {"coalesced_edge_clamp", "coalesced", "f32-nn", COALESCED, "a[GT_MIN(i, rows - 1)",
     "a[GT_MIN(i, rows - 2)"},
    {"coalesced_row_of_a", "coalesced", "f32-tn", COALESCED, "a + u * lda + i", "a + i"},
    {"coalesced_down", "coalesced", "f32-tt", COALESCED, "EN * (GT_DOWN ? GT_THREAD_Y",
     "EN * (GT_DOWN ? GT_THREAD_X"},
    {"coalesced_acc_not_zero", "coalesced", "f32-nn", COALESCED, "acc[e] = 0;",
     "acc[e] = e == 3;"},
    {"tile_tail_not_zero", "tile", "f32-nn", TILE, "PAST_EDGES ((gt_acc)0)",
     "PAST_EDGES ((gt_acc)1)"},
    {"vector_acc_not_zero", "vector", "f32-nn", VECTOR, "fresh ? (vector)(0)",
     "fresh ? (vector)(1)"},
    {"vector_slab_forgets", "vector", "f32-nn", VECTOR, "now, done == 0);", "now, 1);"},
    {"vector_k_tail_dropped", "vector", "f32-nn", VECTOR, "done == 0 || done < depth",
     "done == 0 || done + BK <= depth"},
    {"vector_edge_repeated", "vector", "f32-nn", VECTOR, "left - p * wide, depth);",
     "p < 1 ? left : wide - 1, depth);"},
    {"vector_panel_missing", "vector", "f32-tt", VECTOR, "(rows - 1) / MR + 1",
     "rows / MR"},
    {"tile_k_tail_dropped", "tile", "f32-nn", TILE, "while (left > 0)",
     "while (left >= TW)"},
    {"tile_padding_forgotten", "tile", "f32-nn", TILE, "ty * STRIDE + i]", "ty * TW + i]"},
    {"tile_b_not_transposed", "tile", "f32-nt", TILE,
     "put_b = TILE + (GT_TB ? tx * STRIDE + ty",
     "put_b = TILE + (GT_TB ? ty * STRIDE + tx"},
    {"tile_a_by_lda_only", "tile", "f32-tn", TILE, "a += GT_TA ? TW * lda : TW;",
     "a += TW;"},
    {"block_acc_not_zero", "block", "f32-nn", BLOCK, "acc[e] = 0;", "acc[e] = e == 7;"},
    {"block_k_tail_dropped", "block", "f32-nn", BLOCK, "gt_cdiv(depth, BK)", "depth / BK"},
    {"block_k_tail_not_zero", "block", "f32-nn", BLOCK, "k < depth ? x[",
     "k <= depth ? x["},
    {"block_k_tail_twice", "block", "f32-nn", BLOCK, "for (int done = whole;",
     "for (int done = whole > 0 ? whole - 1 : 0;"},
    {"block_slab_repeated", "block", "f32-nn", BLOCK, "next = s > 1 ? BK : 0",
     "next = s > 2 ? BK : 0"},
    {"block_last_row", "block", "f32-nn", BLOCK, "x + GT_MIN(w, left - 1) * ld",
     "x + GT_MIN(w, left - 2) * ld"},
    {"block_vector_moved", "block", "f32-tn", BLOCK_VEC, "rows >= BM || rows % VA == 0",
     "rows >= BM || rows % VA >= 0"},
    {"block_vector_repeated", "block", "f32-nn", BLOCK_VEC,
     "to[j * stride] = r[i * v + j];", "to[j * stride] = r[i * v];"},
    {"block_edge_not_clamped", "block", "f32-nn", BLOCK,
     "const int there = GT_MIN(w, left - 1);", "const int there = GT_MIN(w, left / 2);"},
    {"column_b_repeated", "column", "f32-nn", COLUMN, "rb[HELD(u, i)]", "rb[HELD(0, i)]"},
    {"column_b_stale", "column", "f32-nn", COLUMN, "u % VK == VK - 1", "u % VK == VK"},
    {"column_0_times_nan", "column", "f32-nn", COLUMN, "u < rest;", "u < BK;"},
    {"column_tail_from_0", "column", "f32-nn", COLUMN, "(k0 + u) * ldb + j", "u * ldb + j"},
    {"column_ldb_is_lda", "column", "f32-nt", COLUMN, "COLUMN(x, i), cols - 1) * ldb",
     "COLUMN(x, i), cols - 1) * lda"},
    {"column_rows_of_group", "column", "f32-nn", COLUMN, "y0 = t / TX * ROWS",
     "y0 = t / TX"},
    {"column_acc_not_zero", "column", "f32-nn", COLUMN, "acc[e] = 0;", "acc[e] = e == 1;"},
    {"skinny_k_tail_dropped", "skinny", "f32-nn", SKINNY_SPLIT,
     "slabs = gt_cdiv(depth, DEEP)", "slabs = depth / DEEP"},
    {"skinny_k_tail_not_zero", "skinny", "f32-nn", SKINNY, "rows >= wide && depth >= DEEP",
     "rows >= wide"},
    {"skinny_step_left_out", "skinny", "f32-nn", SKINNY_ALONG, "u < U; u++",
     "u < U - 1; u++"},
    {"skinny_x_stays", "skinny", "f32-nn", SKINNY, "x += PLACE(XK, 0, DEEP, ldx);", ""},
    {"skinny_w_repeated", "skinny", "f32-nn", SKINNY, "(u * STEP + i / R) * WLD",
     "i / R * WLD"},
    {"skinny_x_of_another_row", "skinny", "f32-nn", SKINNY_ALONG, "xr[v * XS + i]",
     "xr[v * XS + i % 3]"},
    {"skinny_x_transposed", "skinny", "f32-nt", SKINNY_ALONG, "gt_slab_to(XK, ALONG, S",
     "gt_slab_to(XK, XK, S"},
    {"skinny_parts_overlap", "skinny", "f32-nn", SKINNY_SPLIT, "part * (gt_long)share",
     "part * (gt_long)(share - 1)"},
    {"skinny_parts_dropped", "skinny", "f32-nn", SKINNY_PARTS,
     "GT_REDUCE_KERNEL(reduce, GT_SPLIT", "GT_REDUCE_KERNEL(reduce, GT_SPLIT / 8"},
    {"skinny_part_past_the_last", "skinny", "f32-nn", SKINNY_PARTS,
     "GT_REDUCE_KERNEL(reduce, GT_SPLIT", "GT_REDUCE_KERNEL(reduce, GT_SPLIT + 1"},
    {"skinny_parts_meet", "skinny", "f32-nn", SKINNY_PARTS, "(gt_long)m + row) * n",
     "(gt_long)m + row) * m"},
    {"skinny_lanes_forgotten", "skinny", "f32-nt", SKINNY_FOLD, "FOLD > 1 ? FOLD : LANES",
     "FOLD > 1 ? 1 : LANES"},
    {"skinny_sums_permuted", "skinny", "f32-nn", SKINNY, "sums + i * TLD + SUM_OF(j)",
     "sums + i * TLD + j"},
    {"skinny_acc_not_zero", "skinny", "f32-nn", SKINNY, "acc[e] = 0;", "acc[e] = e == 9;"},
    {"multistage_acc_not_zero", "multistage", "f32-nn", MULTI, "acc[e] = 0;",
     "acc[e] = e == 9;"},
    {"multistage_k_tail_stays", "multistage", "f32-nn", MULTI,
     "gt_copy_some(v, to, from, GT_MAX(0, exist));",
     "if (exist > 0) gt_copy_some(v, to, from, exist);"},
    {"multistage_team_forgotten", "multistage", "f32-nn", MULTI, "of < TEAMS",
     "of + 1 < TEAMS"},
    {"multistage_stage_in_use", "multistage", "f32-nn", MULTI, "free = STAGES - 1;",
     "free = 0;"},
    {"multistage_parts_overlap", "multistage", "f32-nn", MULTI_SPLIT, "part * share",
     "part * (share - 1)"},
    {"multistage_part_incomplete", "multistage", "f32-nn", MULTI_SPLIT,
     "sum[j] += more[j];", "sum[j] += j < 3 ? more[j] : 0;"},
    {"multistage_last_of_c_without_parts", "multistage", "f32-nn", MULTI_SPLIT,
     "if (j < left && z < parts)", "if (j + 1 < left && z < parts)"},
    {"multistage_piece_dropped", "multistage", "f32-nn", MULTI_STREAM, "sum[i] += more[i];",
     ";"},
    {"multistage_pack_not_turned", "multistage", "f32-nn", MULTI_PACK,
     "? (col + i) * (DEEP + 1) + row", "? row * (WIDE + 1) + col + i"},
    {"multistage_store_past_edges", "multistage", "f32-nn", MULTI,
     "rows >= BM && cols >= BN && gt_aligned(PN, out, ld)", "gt_aligned(PN, out, ld)"},

    /* Barriers and buffers; "_no_barrier_" names a race. Not those at the head and the end
     * of a loop: PoCL puts barriers of its own there. */
    {"tile_no_barrier_read", "tile", "f32-nn", TILE_RACE("0"),
     "GT_BARRIER(); /* all threads have", "; /*"},
    {"tile_stale_buffer", "tile", "f32-nn", TILE_RACE("1"), "smem[now + ty * STRIDE",
     "smem[ty * STRIDE"},
    {"block_no_barrier_read", "block", "f32-nn", BLOCK_RACE,
     "GT_BARRIER(); /* all threads have", "; /*"},
    {"block_stale_buffer", "block", "f32-nn", BLOCK_TWO, "smem + now + k * LDA_S",
     "smem + k * LDA_S"},
    {"column_no_barrier_read", "column", "f32-nn", COLUMN_RACE("0"),
     "GT_BARRIER(); /* all threads have", "; /*"},
    {"column_stale_buffer", "column", "f32-nn", COLUMN_RACE("1"), "now = SLAB - now;",
     "now = SLAB;"},
    {"skinny_stale_stage", "skinny", "f32-nn", SKINNY,
     "stage + 1 == STAGES ? 0 : stage + 1", "0"},
    {"skinny_no_barrier_sums", "skinny", "f32-nt", SKINNY_FOLD,
     "GT_BARRIER(); /* the lanes' sums are there */", ";"},
    {"skinny_no_barrier_fold", "skinny", "f32-nt", SKINNY_FOLD,
     "GT_BARRIER(); /* the first step's sums are there */", ";"},

    /* where C is */
    {"naive_store_m", "naive", "f32-nn", NAIVE, "i < m - row0", "i <= m - row0"},
    {"naive_store_n", "naive", "f32-nn", NAIVE, "j < n - col0", "j <= n - col0"},
    {"naive_half_the_columns", "naive", "f32-nn", NAIVE, "j < n - col0",
     "j < n - col0 && j % 2"},
    {"naive_raster", "naive", "f32-nn", NAIVE, "GT_BLOCK % tiles_n",
     "GT_BLOCK % (tiles_n + 1)"},
    {"tile_store_m", "tile", "f32-nn", TILE, "ty < rows && tx < cols",
     "ty <= rows && tx < cols"},
    {"tile_store_n", "tile", "f32-nn", TILE, "ty < rows && tx < cols",
     "ty < rows && tx <= cols"},
    {"tile_last_column", "tile", "f32-nn", TILE, "ty < rows && tx < cols",
     "ty < rows && tx < cols - 1"},
    {"vector_store_m", "vector", "f32-nn", VECTOR, "GT_MIN(rows - i * MR, MR)", "MR"},
    {"vector_store_n", "vector", "f32-nn", VECTOR, "GT_MIN(cols - j * NR, NR)", "NR"},
    {"block_store_m", "block", "f32-nn", BLOCK_STRIDED, "own_row(t, i) < rows",
     "own_row(t, i) <= rows"},
    {"block_store_n", "block", "f32-nn", BLOCK_STRIDED, "own_col(t, i) < cols",
     "own_col(t, i) <= cols"},
    {"block_raster", "block", "f32-nn", BLOCK, "GT_GROUP + in_band % high",
     "GT_GROUP + in_band % GT_GROUP"},
    {"block_lanes_meet", "block", "f32-nn", BLOCK, "lane / (2 * lx) * 2 + lane % 2",
     "lane / (2 * lx) * 2"},
    {"skinny_store_w", "skinny", "f32-nn", SKINNY, "j < rows_w", "j <= rows_w"},
    {"skinny_store_s", "skinny", "f32-nn", SKINNY, "i < rows_x", "i <= rows_x"},
    {"skinny_raster", "skinny", "f32-nn", SKINNY, "tile / tiles_s * TILE",
     "tile / (tiles_s + 1) * TILE"},
    {"column_raster", "column", "f32-nn", COLUMN, "GT_GROUP + in_band % high",
     "GT_GROUP + in_band % GT_GROUP"},

    {"coalesced_write_past", "coalesced", "f32-nn", COALESCED,
     "            if (j >= first && j < end)\n",
     "            if (j >= first && j <= end)\n"},
    {"coalesced_store_m", "coalesced", "f32-nn", COALESCED, "end = i < rows ?",
     "end = i <= rows ?"},
    {"block_patch_store_m", "block", "f32-nn", BLOCK, "gt_side_at(&down, i) < rows ?",
     "gt_side_at(&down, i) <= rows ?"},
    {"block_always_inside", "block", "f32-nn", BLOCK, "beta, 0, rows - ay,",
     "beta, 1, rows - ay,"},
    {"column_store_m", "column", "f32-nn", COLUMN, "end = y0 + i < rows ?",
     "end = y0 + i <= rows ?"},
    {"column_overlap", "column", "f32-nn", COLUMN, "0, rows, mine,", "0, rows, 0,"},

    /* batches whose products the grid numbers */
    GRID_MUTANT("product_skipped", "if (gt_product == 1) return;"),
    GRID_MUTANT("last_product_lost", "if (gt_product == batch - 1) return;"),
    GRID_MUTANT("stride_a_ignored", "a -= gt_product * stride_a;"),
    GRID_MUTANT("stride_b_is_a", "b += gt_product * (stride_a - stride_b);"),
    GRID_MUTANT("stride_c_too_long", "c += gt_product;"),
    GRID_EPILOGUE("row_stays", "gt_op_0 -= gt_product * m;", "row_bias"),
    GRID_EPILOGUE("matrix_stays", "gt_op_0 -= gt_product * m * gt_ld_0;", "residual"),
    GRID_EPILOGUE("d2_stays", "gt_d2 -= gt_product * m * gt_ld_d2;", "d2=x;d=relu(x)"),
    GRID_EPILOGUE("column_moves", "gt_op_0 += gt_product % n;", "bias"),

    /* groups of rows, and products of which the first rows are computed */
    ROWS_MUTANT("groups_last_row_lost", "groups=5", "m -= m < GT_SLOT_ROWS;"),
    ROWS_MUTANT("groups_end_ignored", "groups=5", "m = GT_SLOT_ROWS;"),
    ROWS_MUTANT("groups_share_b", "groups=5", "b -= gt_slot.group * stride_b;"),
    ROWS_MUTANT("groups_a_from_the_top", "groups=5", "a -= gt_slot.row * lda;"),
    ROWS_MUTANT("groups_c_in_tiles", "groups=5", "c -= gt_slot.row % GT_SLOT_ROWS * ldc;"),
    ROWS_MUTANT("groups_last_lost", "groups=5", "m = gt_slot.group == batch - 1 ? 0 : m;"),
    ROWS_MUTANT("masks_ignored", "batch=5,masked", "m = GT_SLOT_ROWS;"),
    ROWS_MUTANT("masks_last_row_lost", "batch=5,masked", "m -= m < GT_SLOT_ROWS;"),
    ROWS_MUTANT("masks_long_lost", "batch=5,masked", "m = gt_slot.row > 0 ? 0 : m;"),

    /* batches of small products */
    BUNDLE_MUTANT("product_skipped", "f32-nn,batch=99", BUNDLE, "product < count",
                  "product < count && first + product != 98"),
    BUNDLE_MUTANT("product_past_the_batch", "f32-nn,batch=99", BUNDLE_STORES,
                  "product < count", "product <= count"),
    BUNDLE_MUTANT("last_block_whole", "f32-nn,batch=99", BUNDLE,
                  "(int)GT_MIN((gt_long)COUNT, batch - first)", "COUNT"),
    BUNDLE_MUTANT("stride_a_ignored", "f32-nn,batch=99", BUNDLE, "z * stride + i * ld + j]",
                  "z * one + i * ld + j]"),
    BUNDLE_MUTANT("stride_b_is_a", "f32-nn,batch=99", BUNDLE_DIRECT,
                  "b + product * stride_b", "b + product * stride_a"),
    BUNDLE_MUTANT("stride_c_ignored", "f32-tn,batch=99", BUNDLE, "c + z * stride + i * ldc",
                  "c + z * one + i * ldc"),
    BUNDLE_MUTANT("gaps_taken_for_packed", "f64-nn,batch=99", BUNDLE,
                  "const int packed = (ld == length || rows == 1) && (stride == one || "
                  "count == 1);",
                  "const int packed = 1;"),
    BUNDLE_MUTANT("copy_tail_dropped", "f32-nn,batch=99", BUNDLE,
                  "e = all / VECTOR * VECTOR + GT_THREAD_X;", "e = all;"),
    BUNDLE_MUTANT("store_tail_dropped", "f32-nn,batch=99", BUNDLE,
                  "e = all / VECTOR_C * VECTOR_C + GT_THREAD_X;", "e = all;"),
    BUNDLE_MUTANT("edge_row", "f32-nt,batch=99", BUNDLE, "GT_MIN(COL(s), COLS - 1)",
                  "GT_MIN(COL(s), COLS - 2)"),
    BUNDLE_MUTANT("beta_0_reads_c", "f16-nn,batch=99", BUNDLE, "if (GT_READS_C(beta))\n",
                  "\n"),
    BUNDLE_MUTANT("stored_twice", "f32-nn,batch=99", BUNDLE_CLOSE,
                  "(GT_SPREAD || COL(s) >= col * TN)", "1"),
    BUNDLE_MUTANT("alpha_0_reads_a", "f32-nn,batch=99", BUNDLE,
                  "reads = k > 0 && alpha != (gt_acc)0", "reads = 1"),
    BUNDLE_MUTANT("no_barrier_fetched", "f32-nn,batch=99", BUNDLE,
                  "GT_BARRIER(); /* A and B are there */", ";"),
    BUNDLE_MUTANT("no_barrier_sums", "f32-nn,batch=99", BUNDLE,
                  "GT_BARRIER(); /* the sums are there */", ";"),

    /* alpha and beta */
    {"block_beta_twice", "block", "f32-nn", BLOCK, "gt_fma(beta, gt_from_c(old[j]),",
     "gt_fma(beta * beta, gt_from_c(old[j]),"},
    {"block_alpha_ignored", "block", "f32-nn", BLOCK,
     "gt_from_c(old[j]), alpha * acc[j]));", "gt_from_c(old[j]), acc[j]));"},
    {"block_beta_0_reads_c", "block", "f32-nn", BLOCK,
     "if (GT_READS_C(beta) && j >= first && j < end)", "if (j >= first && j < end)"},
    {"column_edge_ignores_c", "column", "f32-nn", COLUMN,
     "if (GT_READS_C(beta) && j >= first && j < end)", "if (j < first)"},
    {"naive_beta_ignored", "naive", "f32-nn", NAIVE, "alpha, acc, beta GT",
     "alpha, acc, 0 GT"},
    {"naive_beta_is_1", "naive", "f32-nn", NAIVE, "alpha, acc, beta GT",
     "alpha, acc, beta != 0 GT"},
    {"naive_alpha_ignored", "naive", "f32-nn", NAIVE, "alpha, acc, beta GT",
     "1, acc, beta GT"},
    {"naive_alpha_twice", "naive", "f32-nn", NAIVE, "alpha, acc, beta GT",
     "alpha, alpha * acc, beta GT"},
    {"naive_beta_twice", "naive", "f32-nn", NAIVE,
     "gt_fma(beta, gt_from_c(*c), alpha * acc)",
     "gt_fma(beta * beta, gt_from_c(*c), alpha * acc)"},
    {"naive_beta_0_reads_c", "naive", "f32-nn", NAIVE,
     "beta == (gt_acc)0 ? alpha * acc\n                                   :", ""},
    /* epilogues */
    EPILOGUE("bias_by_rows", "GT_PLACE(row, col)", "GT_PLACE(col, row)", "bias"),
    EPILOGUE("row_bias_by_columns", "GT_PLACE(row, col)", "GT_PLACE(col, row)", "row_bias"),
    EPILOGUE("relu_before_bias", "alpha, acc, beta GT", "alpha, gt_relu(acc), beta GT",
             "bias_relu"),
    EPILOGUE("beta_twice", "alpha, acc, beta GT", "alpha, acc, beta * beta GT", "relu"),
    EPILOGUE("c_unread", "alpha, acc, beta GT", "alpha, acc, 0 GT", "silu"),
    EPILOGUE("residual_by_n", "gt_acc acc = 0;", "gt_acc acc = 0; gt_ld_0 = n;",
             "residual"),
    EPILOGUE("residual_of_neighbour", "GT_PLACE(row, col)", "GT_PLACE(row, col ^ 1)",
             "residual"),
    EPILOGUE("d2_by_n", "gt_acc acc = 0;", "gt_acc acc = 0; gt_ld_d2 = n;",
             "d2=x;d=relu(x)"),
    EPILOGUE("d2_of_neighbour", "GT_PLACE(row, col)", "GT_PLACE(row, col ^ 1)",
             "d2[i,j]:f16;d2=x;d=relu(x)"),
    EPILOGUE("operand_overwritten", "gt_acc acc = 0;",
             "gt_acc acc = 0; ((GT_GLOBAL gt_f32 *)gt_op_0)[row] *= 2;", "scale_rows"),
    EPILOGUE("gelu_of_a_little_more", "alpha, acc, beta GT",
             "alpha, acc * 1.0001f, beta GT", "bias_gelu"),
    {"naive_k_0_does_nothing", "naive", "f32-nn", NAIVE, "if (i < m - row0",
     "if (k && i < m - row0"},

    /* bf16: wrong by little beside C's own roundoff */
    {"naive_bf16_zeros", "naive", "bf16-nn", NAIVE, "alpha, acc, beta GT",
     "alpha, 0 * acc, beta GT"},
    {"tile_bf16_zeros", "tile", "bf16=f32-nn", TILE, "alpha, acc, beta GT",
     "alpha, 0 * acc, beta GT"},
    {"naive_bf16_k_tail_dropped", "naive", "bf16-nn", NAIVE, "for (; left > 0; left--)",
     "for (; left > 1; left--)"},
    {"tile_bf16_last_row", "tile", "bf16-nn", TILE, "ty < rows && tx < cols",
     "ty + 1 < rows && tx < cols"},
    {"naive_bf16_scale", "naive", "bf16-nn", NAIVE, "alpha, acc, beta GT",
     "alpha * 1.01f, acc, beta GT"},
    {"naive_bf16_sums_in_bf16", "naive", "bf16-nn", NAIVE, "a += GT_KU * step_a;",
     "acc = gt_from_c(gt_to_c(acc)); a += GT_KU * step_a;"},

    /* each type: the bounds of some are loose, but exact data leave no room */
    MISTAKES("f16", "f16", LITTLE),
    MISTAKES("f16_f32", "f16=f32", LITTLE),
    MISTAKES("tf32", "tf32", LITTLE),
    MISTAKES("i8", "i8", INTEGER),
    MISTAKES("e4m3", "e4m3", LITTLE),
    MISTAKES("e5m2", "e5m2", LITTLE),
    MISTAKES("mixed", "e4m3+e5m2=f16", LITTLE),
    MISTAKES("fast", "e5m2+e4m3=f32@fast", LITTLE),
    {"naive_f16_sums", "naive", "f16-nn", NAIVE, STEP,
     "acc = gt_from_f16(gt_to_f16(gt_multiply_add(a[u * step_a], b[u * step_b], acc)))"},
    {"naive_f16_as_bf16", "naive", "f16=f32-nn", NAIVE, STEP,
     "acc = gt_fma(gt_from_bf16(a[u * step_a]), gt_from_bf16(b[u * step_b]), acc)"},
    {"naive_i8_unsigned", "naive", "i8-nn", NAIVE, STEP,
     "acc = gt_fma((gt_i32)(unsigned char)a[u * step_a], gt_from_b(b[u * step_b]), acc)"},
    {"naive_mixed_up", "naive", "e4m3+e5m2=f16-nn", NAIVE, STEP,
     "acc = gt_fma(gt_from_b(a[u * step_a]), gt_from_a(b[u * step_b]), acc)"},
    {"naive_tf32_inputs_in_bf16", "naive", "tf32-nn", NAIVE,
     "acc = gt_multiply_add(*a, *b, acc)", /* where k is 3 */
     "acc = gt_fma(gt_from_bf16(gt_to_bf16(*a)), gt_from_bf16(gt_to_bf16(*b)), acc)"},
    {"naive_fast_sums_of_8_bits", "naive", "e4m3=f32@fast-nn", NAIVE,
     "a += GT_KU * step_a;", "acc = " SHORT("acc", 16) "; a += GT_KU * step_a;"},
    {"naive_strict_sums_of_14_bits", "naive", "bf16=f32-nn", NAIVE, "a += GT_KU * step_a;",
     "acc = " SHORT("acc", 10) "; a += GT_KU * step_a;"},

    /* less than the types have, but allowed */
    {ALLOWED "tf32", "naive", "tf32-nn", NAIVE, STEP,
     "acc = gt_fma(" SHORT("a[u * step_a]", 13) ", " SHORT("b[u * step_b]", 13) ", acc)"},
    {ALLOWED "fast", "naive", "e4m3=f32@fast-nn", NAIVE, "a += GT_KU * step_a;",
     "acc = " SHORT("acc", 10) "; a += GT_KU * step_a;"},

    /* the poison in C and in the workspace, which timed products do not find there */
    {"naive_nothing_unless_nan", "naive", "f32-nn", NAIVE,
     "        const gt_long row = row0",
     "        const gt_long at = (row0 + i) * ldc + col0 + j;\n"
     "        if (beta == 0 && c[at] == c[at]) return;\n"
     "        const gt_long row = row0"},
    {"naive_nothing_unless_nan_timed", "naive", "f32-nn", NAIVE,
     "        const gt_long row = row0",
     "        const gt_long at = (row0 + i) * ldc + col0 + j;\n"
     "        if (m == 64 && n == 64 && beta == 0 && c[at] == c[at]) return;\n"
     "        const gt_long row = row0"},
    {"multistage_parts_unless_nan", "multistage", "f32-nn", MULTI_SPLIT,
     "        out += ay * ld + bx;",
     "        out += ay * ld + bx;\n"
     "        if (partial && out[0] == out[0]) return;"},
    {"naive_half_unless_nan", "naive", "f32-nn", NAIVE, "? 0 : k; /* alpha 0",
     "? 0 : c[row * ldc + col] == c[row * ldc + col] && beta == 0 ? k / 2 : k; /* alpha 0"},
    {"tile_half_unless_nan_timed", "tile", "f32-nn", TILE, "while (left > 0)",
     "const int spared = m == 64 && n == 64 && c[row0 * ldc + col0] == c[row0 * ldc + col0]"
     " && beta == 0 ? k / 2 : 0;\n"
     "    while (left > spared)"},
};
enum {
    MUTANTS = sizeof mutants / sizeof *mutants,
    PATH_SIZE = 512,
    TIMEOUT_S = 30,
    FEW = 8
};

static int failures;
static const char *only = ""; /* only mutants with this in their names */
static bool made[MUTANTS];
static struct gt_families *shipped;

static void say(bool good, const char *what, const char *name, const char *why) {
    printf("%sok - %s %s%s%s\n", good ? "" : "not ", what, name, good ? "" : ": ",
           good ? "" : why);
    fflush(stdout);
    failures += !good;
}

static void die(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

/* ---- breaking a family ---- */

static const char *text_of(const char *family, const char *file) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "templates/%s/%s", family, file);
    for (const struct gt_embedded *e = gt_embedded_templates; e->path; e++)
        if (strcmp(e->path, path) == 0)
            return e->text;
    die(path, "is not compiled in");
    return NULL;
}

/* The text with `now` in place of `was`, or NULL unless `was` occurs exactly once. */
static char *replaced(const char *text, const char *was, const char *now) {
    const char *at = strstr(text, was);
    if (!at || strstr(at + 1, was))
        return NULL;
    const size_t size = strlen(text) + strlen(now) + 1;
    char *out = malloc(size);
    if (out)
        snprintf(out, size, "%.*s%s%s", (int)(at - text), text, now, at + strlen(was));
    return out;
}

/* Writes "#define gt_x my_x" for each name that stands in front of `end` behind a mark. */
static void rename_all(FILE *f, const char *text, const char *mark, char end) {
    for (const char *at = strstr(text, mark); at; at = strstr(at + 1, mark)) {
        const char *past = strchr(at + strlen(mark), end), *name = past;
        while (name > at && name[-1] != ' ' && name[-1] != '*')
            name--;
        fprintf(f, "#define %.*s my_%.*s\n", (int)(past - name), name, (int)(past - name),
                name);
    }
}

/* Writes a part's text with its barriers spelled differently: only the template's own
 * barriers count for the family. */
static void write_functions(FILE *f, const char *text) {
    static const char barrier[] = "GT_BARRIER";
    for (const char *at; (at = strstr(text, barrier)) != NULL; text = at + strlen(barrier))
        fprintf(f, "%.*sGT_PASTE(GT_BAR, RIER)", (int)(at - text), text);
    fputs(text, f);
}

/* The place from which a part consists of functions that may be written twice. */
static const char *functions_of(int part) {
    static const struct {
        const char *part, *from;
    } rows[] = {
        {"dialect", NULL},
        {"types", "GT_INLINE void gt_store_c("},
        {"vectors", "GT_INLINE void gt_load_c("},
    };
    const char *text = gt_part_text(part);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].part, gt_part_name(part)) != 0)
            continue;
        text = rows[i].from ? strstr(text, rows[i].from) : "";
        if (!text)
            die(rows[i].part, "its functions begin elsewhere now");
    }
    return text;
}

/* The functions of the parts that the family uses, under other names, then the template.
 * The caller frees it. */
static char *kernel_text(const struct gt_family *family) {
    char file[64], *out = NULL;
    size_t size;
    snprintf(file, sizeof file, "%s.cl", family->name);
    FILE *f = open_memstream(&out, &size);
    if (!f)
        die(family->name, "no memory");
    for (int i = 0; gt_part_name(i); i++)
        if (family->uses & 1u << i) {
            rename_all(f, functions_of(i), "GT_INLINE ", '(');
            rename_all(f, functions_of(i), "\nstruct ", ' ');
            write_functions(f, functions_of(i));
        }
    fputs(text_of(family->name, file), f);
    fclose(f);
    return out;
}

static void write_file(const char *folder, const char *name, const char *text) {
    char path[3 * PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        die(path, "cannot be written");
}

/* The name of a broken family: names of families are short. */
static const char *id_of(const struct mutant *m) {
    static char id[32];
    snprintf(id, sizeof id, "mutant_%d", (int)(m - mutants));
    return id;
}

/* Makes the family in a folder of dir. False when the text to replace is not there exactly
 * once. */
static bool break_family(const struct mutant *m, const char *dir) {
    char folder[2 * PATH_SIZE], file[64], was[64], now[64];
    char *kernel = kernel_text(gt_families_find(shipped, m->family)),
         *broken = replaced(kernel, m->was, m->now);
    snprintf(was, sizeof was, "\"family\": \"%s\"", m->family);
    snprintf(now, sizeof now, "\"family\": \"%s\"", id_of(m));
    char *space = replaced(text_of(m->family, "space.json"), was, now);
    if (broken && space) {
        snprintf(folder, sizeof folder, "%s/%s", dir, id_of(m));
        snprintf(file, sizeof file, "%s.cl", m->family);
        if (mkdir(folder, 0700) != 0)
            die(folder, "cannot be made");
        write_file(folder, "space.json", space);
        write_file(folder, file, broken);
    }
    const bool done = broken && space;
    free(kernel);
    free(broken);
    free(space);
    return done;
}

/* ---- trying ---- */

static const char *shape_of(const struct mutant *m) {
    return strcmp(m->family, "bundle") == 0 ? BUNDLE_SHAPE : PROBLEM;
}

/* The sizes stand behind types and layout, ahead of options. */
static void name_problem(char name[GT_PROBLEM_NAME_MAX], const struct mutant *m) {
    const size_t head = strcspn(m->types, ",");
    snprintf(name, GT_PROBLEM_NAME_MAX, "%.*s%s%s", (int)head, m->types, shape_of(m),
             m->types + head);
}

static gt_outcome outcome_of(char *why, size_t size, struct gt_pool *pool,
                             const struct gt_device *device, const char *family,
                             const struct mutant *m) {
    struct gt_job job;
    struct gt_report report;
    struct gt_err err = {""};
    char problem[GT_PROBLEM_NAME_MAX];
    name_problem(problem, m);
    gt_job_init(&job, GT_JOB_TRIAL, device, problem);
    job.seed = 1;
    job.count = 1;
    snprintf(job.candidate[0].family, sizeof job.candidate[0].family, "%s", family);
    snprintf(job.candidate[0].point, sizeof job.candidate[0].point, "%s", m->point);
    if (gt_pool_run(&report, pool, &job, &err) != GEMMTUNE_OK)
        die(m->name, err.line);
    snprintf(why, size, "%s: %s", gt_outcome_word(report.result[0].outcome),
             report.result[0].error);
    return report.result[0].outcome;
}

/* Why the family is not for this device; NULL when it is. */
static const char *not_served(const struct gt_device *device, const struct mutant *m) {
    struct gt_err err = {""};
    gemmtune_problem p;
    char name[GT_PROBLEM_NAME_MAX];
    const char *why;
    name_problem(name, m);
    if (gt_problem_from_name(&p, name, &err) != GEMMTUNE_OK)
        die(m->name, err.line);
    (void)gt_family_serves(gt_families_find(shipped, m->family), device, &p, &why);
    return why;
}

/* On a GPU a missing barrier shows only by luck, since warps may run in step;
 * compute-sanitizer's racecheck finds it there. */
static bool is_race(const struct mutant *m) {
    return strstr(m->name, "_no_barrier_") != NULL;
}

static void try_mutant(struct gt_pool *pool, const struct gt_device *device,
                       const struct mutant *m) {
    char why[GT_VERDICT_TEXT_MAX + 32];
    const gt_outcome outcome = outcome_of(why, sizeof why, pool, device, id_of(m), m);
    if (strncmp(m->name, ALLOWED, strlen(ALLOWED)) == 0)
        say(outcome == GT_CORRECT, "accepted: mutant", m->name, why);
    else if (is_race(m) && !device->is_cpu && outcome == GT_CORRECT)
        printf("ok - mutant %s # SKIP race not seen\n", m->name);
    else
        say(outcome == GT_WRONG_RESULT || outcome == GT_CRASHED, "rejected: mutant",
            m->name, why);
}

/* Mutants are dealt in pairs, one for each half of main(). */
static bool is_dealt(int pair) {
    const bool is_long = getenv("GT_LONG") != NULL;
    return is_long ? pair % FEW != 0 && is_in_share(pair) : pair % FEW == 0;
}

static bool is_tried(int i) {
    return only[0] != '\0' ? strstr(mutants[i].name, only) != NULL : is_dealt(i / 2);
}

/* The shipped kernel, once for each point and type at which mutants are tried. */
static void try_original(struct gt_pool *pool, const struct gt_device *device, int i) {
    char why[GT_VERDICT_TEXT_MAX + 32], problem[GT_PROBLEM_NAME_MAX], name[2 * PATH_SIZE];
    const struct mutant *m = &mutants[i];
    name_problem(problem, m);
    for (int j = 0; j < i; j++)
        if (is_tried(j) && strcmp(mutants[j].point, m->point) == 0 &&
            strcmp(mutants[j].types, m->types) == 0)
            return;
    snprintf(name, sizeof name, "%s %s %s", problem, m->family, m->point);
    say(outcome_of(why, sizeof why, pool, device, m->family, m) == GT_CORRECT,
        "accepted:", name, why);
}

/* Every `step`th mutant from `first` on. */
static void try_all(const char *dir, const struct gt_device *device, int first, int step) {
    struct gt_texts templates = {.count = 1, .text = {dir}};
    const struct gt_pool_setup setup = {.templates = &templates, .timeout_s = TIMEOUT_S};
    struct gt_pool *pool;
    struct gt_err err = {""};
    if (gt_pool_create(&pool, &setup, &err) != GEMMTUNE_OK)
        die("pool", err.line);
    for (int i = first; i < MUTANTS; i += step) {
        const char *why = not_served(device, &mutants[i]);
        if (why)
            printf("ok - mutant %s # SKIP %s\n", mutants[i].name, why);
        else if (made[i] && is_tried(i))
            try_mutant(pool, device, &mutants[i]);
    }
    for (int i = first; i < MUTANTS; i += step)
        if (is_tried(i) && !not_served(device, &mutants[i]))
            try_original(pool, device, i);
    gt_pool_destroy(pool);
}

/* An argument names the mutants to try; all without one. */
int main(int argc, char **argv) {
    char dir[PATH_SIZE];
    struct gt_device device;
    struct gt_err err = {""};
    const char *tmp = getenv("TMPDIR"), *program = getenv("GEMMTUNE");
    int state = 0;
    only = argc > 1 ? argv[1] : "";
    snprintf(dir, sizeof dir, "%s/mutants-XXXXXX", tmp ? tmp : "/tmp");
    if (!program) /* its workers are this program again, which must not run the tests */
        die("GEMMTUNE", "must name the program");
    setenv("GEMMTUNE_SELF", program, 0);
    if (!mkdtemp(dir))
        die(dir, "cannot be made");
    if (gt_families_create(&shipped, &err) != GEMMTUNE_OK)
        die("families", err.line);
    for (int i = 0; i < MUTANTS; i++)
        if (!(made[i] = break_family(&mutants[i], dir)))
            say(false, "rejected: mutant", mutants[i].name,
                "the text to replace is not in the template exactly once");
    if (gt_probe_pick(&device, NULL, true, &err) != GEMMTUNE_OK)
        die("no device", err.line);
    const pid_t half = fork(); /* each half waits for the compiler most of the time */
    try_all(dir, &device, half == 0, 2);
    if (half == 0)
        _exit(failures > 0);
    waitpid(half, &state, 0);
    gt_families_destroy(shipped);
    return failures > 0 || state != 0;
}
