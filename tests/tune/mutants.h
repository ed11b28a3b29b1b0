/* SPDX-License-Identifier: Apache-2.0 */
/* mutants.h - one mutant, and the points, mistakes and problems that tables of them
 * share. */
#ifndef GT_TESTS_TUNE_MUTANTS_H
#define GT_TESTS_TUNE_MUTANTS_H

/* A shipped family with `now` in place of the text `was`, tried at a point. `types` has a
 * problem's types, layout and options. */
struct mutant {
    const char *name, *family, *types, *point, *was, *now;
};

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
#define SKINNY_STREAM /* no slabs */                                                       \
    "SIDE=0 S=4 R=2 V=1 VX=1 U=2 STAGES=1 LANES=32 THREADS=128 MINB=1 SPLIT=1"

#define MULTI_OF(slices, split, stream, fold, v, repack)                                   \
    "BM=32 BN=32 BK=32 TM=4 TN=4 STAGES=2 SLICES=" slices " SPLIT=" split                  \
    " CLUSTER=0 STREAM=" stream " FOLD=" fold " VA=" v " VB=" v " ORDER=0 REPACK=" repack  \
    " MINB=1 GROUP=1"
#define MULTI        MULTI_OF("2", "1", "0", "1", "1", "0")
#define MULTI_SPLIT  MULTI_OF("1", "2", "0", "1", "1", "0")
#define MULTI_STREAM MULTI_OF("1", "1", "3", "1", "1", "0") /* shares end within tiles */
#define MULTI_FOLD   MULTI_OF("1", "1", "0", "2", "1", "0")
#define MULTI_PACK   MULTI_OF("1", "1", "0", "1", "4", "2")

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
#define BUNDLE_MUTANT(name, types, point, was, now)                                        \
    { "bundle_" name, "bundle", types, point, was, now }
#define SERIES_MUTANT(name, types, was, now)                                               \
    { "series_" name, "series", types, "VECTOR=0 MR=4 NV=0 AHEAD=1 UNROLL_K=4", was, now }
#define SMALL_SHAPE "-5x9x7" /* of batches of small products */
#define GRID_MUTANT(name, more)                                                            \
    {                                                                                      \
        "grid_" name, "naive", "f32-nn,batch=5", NAIVE, "GT_PRODUCT();",                   \
            "GT_PRODUCT(); " more                                                          \
    }
#define ROWS_MUTANT(name, kind, more)                                                      \
    { name, "naive", "f32-nn," kind, NAIVE, "GT_PRODUCT();", "GT_PRODUCT(); " more }
#define VECTOR          "VECTOR=16 NV=2 MR=4 PM=2 PN=2 BK=32 DIRECT=0"
#define VECTOR_IN_PLACE "VECTOR=16 NV=2 MR=4 PM=2 PN=2 BK=32 DIRECT=1"

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

/* Whole tiles for all points above: errors at edges only do not show on the
 * timed problem. */
#define PROBLEM "-64x64x128"

/* The name of a mutant that must be accepted begins with this. */
#define ALLOWED "allowed_"

#endif
