#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: long
# ptx_trials.sh - the program with families that need CUDA, on the software GPU: the whole path
# of `trial` for points of each family; `tune`. GT_LONG=1: more trials.
. "$GT_SRC/tests/tune/lib.sh"

use_software_gpu

# trial FAMILY PROBLEM POINT: the whole check: all cases, padding, alpha, beta, poison.
trial() {
    is_mine || return 0
    "$GEMMTUNE" trial "$2" --device 0 --untimed --timeout 500s --family "$1" --point "$3" --json \
        >"$TMPDIR/out" 2>&1
    has "trial of $1 on ${FAKE_CUDA_DEVICE:-h200}: $2" "$(cat "$TMPDIR/out")" '"outcome": "correct"'
}
# Correct kernels in which compute-sanitizer sees mistakes.
for family in handover meeting; do
    is_mine && has "trial of $family" "$("$GEMMTUNE" trial f32-nn-24x20x36 --device 0 --untimed --timeout 500s \
        --templates "$GT_SRC/tests/data/families" --family $family --json 2>&1)" '"outcome": "correct"'
done
trial dmma f64-nt-33x66x40,beta "SPLIT=2 REDUCE=1"
# Blocks take tiles of all products in turns, of one slab or more, and shifted rows; then tiles of groups. In some
# trials a block has more tiles than its queue.
tiles="BM=32 BN=32 BK=16 WM=16 WN=16 STAGES=3 GROUP=1 TAIL=1"
trial dmma f64-nt-70x40x16,batch=200,beta "$tiles VA=2 VB=2 AHEAD=0"
trial dmma f64-tn-67x35x21,batch=30,sb=0 "$tiles VA=2 VB=2 ODD=1 AHEAD=1"
trial dmma f64-nn-12000x40x8,groups=40 "$tiles AHEAD=1"
trial dmma f64-tt-150x70x20,batch=130 "BM=64 BN=64 BK=16 WM=32 WN=32 STAGES=3 GROUP=8 TAIL=1 AHEAD=1"
trial dmma f64-tt-150x40x24,batch=16,masked,rows=50,beta "$tiles AHEAD=0"
trial dmma f64-nt-70x40x16,batch=200,pointers,align=16,beta "$tiles VA=2 VB=2 AHEAD=1"
trial dmma f64-tn-67x35x21,batch=60,pointers,align=8,epi=batch_bias_residual "$tiles AHEAD=0"
trial limbs i32-tn-33x66x40 "ENGINE=1 CLUSTER=2 BM=128 BN=64 BK=128 WM=64 WN=64 STAGES=4 GROUP=8"
trial tma f32-nn-33x68x40 "REPACK=0"
trial mma i8-tt-65x130x71,beta "AHEAD=1 TAIL=0 SPLIT=3"
trial triple f32@split-tn-65x130x71,beta \
    "BM=64 BN=64 KBYTES=128 WM=32 WN=32 SLICES=2 STAGES=3 VA=4 VB=4 GROUP=1 SPLIT=3"
trial triple f32@split-nt-70x130x100,beta "ENGINE=1 BM=128 BN=128 KBYTES=128 WM=16 WN=128 SPLIT=3"
# Vectors across k: pairs of rows, patches of columns, both cut off at the edges.
trial triple f32@split-tn-67x137x75,lda=68,ldb=140 \
    "ENGINE=1 BM=128 BN=128 KBYTES=128 WM=16 WN=128 VA=16 VB=16"
trial triple f32@bf16x3-tt-67x137x75,beta \
    "ENGINE=1 BM=128 BN=128 KBYTES=128 WM=16 WN=128 VA=16 VB=16 REPACK=3 SPLIT=2"
trial triple f32@bf16x3-nn-67x137x75,ldb=140 \
    "ENGINE=1 BM=64 BN=64 KBYTES=128 WM=16 WN=64 VA=4 VB=16"
trial wgmma bf16-tn-40x48x200,beta "REPACK=0 CM=2 BM=64 WGM=1 PRODUCERS=2"
# More tiles than units, so that blocks have several in turn: equal shares of 140 tiles, then 132
# whole ones. Tiles of five parts, which meet in any order.
trial wgmma bf16-nt-1088x256x136 "BM=64 BN=16 WGM=1 STAGES=2 GROUP=1 PERSIST=1 REPACK=0 STORE=1 TAIL=1 PRODUCERS=1"
trial wgmma i8-nn-130x80x400,beta "BM=64 BN=32 WGM=1 STAGES=2 GROUP=1 PERSIST=1 PINGPONG=1 REPACK=0 SWAP=1 RS=1 TAIL=1 PRODUCERS=2"
# The same with the tiles of two products.
trial wgmma bf16-nt-380x192x136,batch=2 \
    "BM=64 BN=16 WGM=1 STAGES=2 GROUP=1 PERSIST=1 PINGPONG=1 REPACK=0 STORE=1"
# Teams of two warpgroups in turns, alone and with an epilogue; four warpgroups that share a tile.
trial wgmma bf16-nt-1088x384x72 "BM=128 BN=16 WGM=2 STAGES=2 GROUP=1 PERSIST=1 PINGPONG=1 REPACK=0 STORE=1"
trial wgmma bf16-nt-380x192x136,batch=4,epi=bias_gelu \
    "BM=64 BN=32 WGM=1 WGN=2 STAGES=2 GROUP=1 PERSIST=1 PINGPONG=1 REPACK=0 STORE=1"
# NaN of an instruction, an integer rounded once, a constant beyond all integers.
trial mma 'bf16-nt-40x48x40,epi=d2[i,j]:f32;d=relu(sqrt(x));d2=max(log(x),x)' ""
trial wgmma 'i8=bf16-nt-64x48x64,epi=d2[i,j]:i32;d2=3e9;d=max(acc*16842753,x)' "BM=64 BN=16 WGM=1 STAGES=2 GROUP=1 REPACK=0"
trial wgmma f16-nn-140x72x136,beta "BM=128 BN=32 WGM=2 WGN=2 STAGES=2 GROUP=1 REPACK=0 STORE=1"
# Rows of C that begin anywhere: chunks share the pieces of 16 bytes between them.
trial wgmma bf16-nt-70x153x72,ldc=155 "BM=64 BN=256 WGM=1 STAGES=2 REPACK=0"
# Rows of A and B that begin anywhere, copied ahead as they lie.
trial mma bf16-nn-70x45x81,lda=83 "VA=16 VB=16 REPACK=3"
trial wgmma i8-nn-45x81x147 "BM=64 BN=32 WGM=1 STAGES=2 GROUP=1 REPACK=3 SWAP=1 RS=1"
# C panel by panel: two rows and two columns of panels; one copy stays or none; transposed copies; one
# operand alone, the other where it lies.
panels="BM=64 BN=64 WGM=1 STAGES=3 GROUP=1"
trial wgmma bf16-nn-130x150x71,beta "$panels REPACK=7"
trial wgmma f16-tn-128x201x71,lda=131 "$panels CM=2 REPACK=7"
trial wgmma bf16-tt-201x137x71 "$panels CN=2 PERSIST=1 REPACK=7"
trial wgmma tf32-tn-71x137x75,beta "$panels REPACK=7"
trial wgmma tf32-tn-140x136x75 "$panels REPACK=6 RS=1"
trial wgmma tf32-nn-71x136x75 "$panels REPACK=5 SWAP=1 RS=1"
trial wgmma bf16-nn-137x200x71 "$panels REPACK=5 STORE=1"
trial wgmma e4m3@promoted-nt-40x32x1152 "BM=64 BN=32 WGM=1 STAGES=4 GROUP=1 REPACK=0 STORE=1"
trial wgmma e5m2=f32@promoted-nn-40x80x304 \
    "BM=64 BN=32 WGM=1 STAGES=2 GROUP=1 REPACK=0 SWAP=1 RS=1 PRODUCERS=1"
trial wgmma i8-nn-5x33x200 "BM=64 BN=16 WGM=1 GROUP=1 SWAP=1 SPLIT=3 REDUCE=1 PRODUCERS=2"
# X from registers: both orders of a thread's rows, a fragment and more, one slab and more;
# boxes of C that turn two rows of X to a row.
trial wgmma i8-nn-40x80x144 "BM=64 BN=32 WGM=1 STAGES=2 GROUP=1 REPACK=0 SWAP=1 RS=1 STORE=1"
trial wgmma tf32-tn-136x40x68,beta "BM=128 BN=16 WGM=1 STAGES=2 GROUP=1 REPACK=2 RS=1"

# Batches of matrices that lie in any order, each as aligned as promised and no better.
trial mma bf16-nn-40x40x72,batch=3,pointers,align=8,beta "VA=8 VB=8 SPLIT=2"
# Groups of rows. The last ones end within a tile; the first rows of products, with k split.
trial mma bf16-nt-200x40x272,groups=5 \
    "BM=32 BN=64 KBYTES=128 WM=32 WN=32 VA=16 VB=16 GROUP=1"
trial mma bf16-nn-60x40x136,batch=5,masked,rows=20,beta "SPLIT=2 VA=16 VB=16"
# One tensor map has the matrices of all groups.
trial wgmma bf16-nt-300x80x136,groups=5 "BM=64 BN=64 WGM=1 STAGES=3 GROUP=1 REPACK=0"
trial wgmma bf16-nn-150x80x128,batch=3,masked,rows=50,beta \
    "BM=64 BN=64 WGM=1 STAGES=3 GROUP=1 REPACK=0 CN=2 PERSIST=1 PRODUCERS=2"
# Blocks walk over the tiles of all groups. Boxes of C would reach into the next group: its
# rows, also rows of a transposed C. More groups than a warp has lanes.
trial wgmma bf16-nt-300x80x136,groups=5 \
    "BM=64 BN=64 WGM=1 STAGES=3 GROUP=1 REPACK=0 PERSIST=1 STORE=1 PRODUCERS=1"
trial wgmma i8-nn-150x80x128,groups=5 \
    "BM=64 BN=32 WGM=1 STAGES=3 GROUP=1 REPACK=0 PERSIST=1 STORE=1 SWAP=1 RS=1"
trial wgmma bf16-nn-300x80x128,groups=40 \
    "BM=128 BN=64 STAGES=3 GROUP=1 REPACK=0 PERSIST=1 STORE=1 CN=2 PRODUCERS=2"
trial wgmma bf16-nn-300x80x128,groups=40 \
    "BM=128 BN=16 STAGES=3 GROUP=1 REPACK=0 PERSIST=1 SWAP=1 CM=2"
trial wgmma bf16-nn-100x80x128,batch=3 "BM=64 BN=64 WGM=1 STAGES=3 GROUP=1 REPACK=0 STORE=1"
# Where k is no whole slabs, each matrix is a plane of its map: rows of the next one are not read.
trial wgmma bf16-nn-100x80x136,batch=3 "BM=64 BN=64 WGM=1 STAGES=3 GROUP=1 REPACK=0 STORE=1"
trial wgmma f16-tn-104x72x40,batch=5,beta "BM=128 BN=48 STAGES=3 GROUP=1 REPACK=0 PERSIST=1 CM=2"
trial wgmma bf16-tt-136x72x72,batch=3,sb=0 "BM=64 BN=64 WGM=1 STAGES=3 GROUP=1 REPACK=0 PERSIST=1 CN=2"
trial wgmma bf16-nn-300x80x72,groups=5 "BM=64 BN=64 WGM=1 STAGES=3 GROUP=1 REPACK=0"
trial wgmma i8-nn-150x80x144,groups=5 \
    "BM=64 BN=32 WGM=1 STAGES=3 GROUP=1 REPACK=0 PERSIST=1 STORE=1 SWAP=1 RS=1"

# A family of one's own that names no parts, so that its source has all of them.
is_mine && has "trial of a family with all parts" \
    "$("$GEMMTUNE" trial f32-nn-24x20x36 --device 0 --untimed --timeout 500s --family oob --point WHERE=0 \
        --templates "$GT_SRC/tests/data/families" --json 2>&1)" '"outcome": "correct"'
# The same kernels compiled for sm_80.
export FAKE_CUDA_DEVICE=a100
trial mma bf16-nt-200x40x272,groups=5 \
    "BM=32 BN=64 KBYTES=128 WM=32 WN=32 VA=16 VB=16 GROUP=1"
trial mma i8-nn-150x33x130,groups=5,beta "AHEAD=1 TAIL=0 SPLIT=2"
trial tailored f64-nn-65x52x39,batch=5 "ENGINE=1 BM=48 BN=64 BK=16 TM=16 TN=56 STAGES=3"
trial tailored f16-nn-65x52x39,batch=5 "ENGINE=1 BM=48 BN=64 BK=48 TM=16 TN=32"
if [ -n "${GT_LONG:-}" ]; then
    trial mma f16-nt-60x40x136,batch=5,masked,rows=20 "REPACK=0 VA=16 VB=16"
fi
export FAKE_CUDA_DEVICE=h200

# Batches of small products: more groups than blocks, so that the ring turns round.
thin=f32-nn-4x4x512,batch=1100
turns="PRODUCTS=4 TM=2 TN=4 SLICES=8 STAGES=2"
# One with a B that is copied once to each stage, one with a pointer for each matrix.
trial pipeline $thin,sb=0 "$turns BULK=0"
trial pipeline $thin,pointers,align=16 "$turns BULK=1"
# Pieces of 16 bytes, and single elements of rows with padding.
trial bundle f32-tn-8x12x5,batch=45,pointers,align=16,beta "SHARE=1 GATHER=1 PRODUCTS=4 PAD=1"
trial bundle f16-nn-9x8x9,batch=33,pointers,lda=12,ldc=10 "SHARE=1 GATHER=1 TM=5 TN=5"
# Tiles that end beyond the matrix, one and four elements a copy, of four some that do not exist; slabs that k does
# not fill; a thread without a patch; a patch of more rows than the matrix has left.
trial tailored f32-tn-79x70x37,batch=2,lda=80,ldb=72 "BM=96 BN=96 BK=8 TM=8 TN=8 STAGES=4"
trial tailored f32-nn-65x52x39,batch=5 "BM=48 BN=64 BK=8 TM=7 TN=4 STAGES=3"
trial tailored f32-tt-50x47x20,batch=7,lda=53,ldb=21,ldc=48,sc=2500,beta "BM=64 BN=32 BK=8 TM=6 TN=6 ORDER=1"
trial tailored f32-tn-100x100x17,batch=3,sb=0 "BM=128 BN=128 BK=18 TM=20 TN=4 STAGES=4"
trial tailored f64-nt-33x70x41,batch=4,pointers,align=16,beta "BM=48 BN=48 BK=14 TM=4 TN=8 STAGES=4"
trial tailored i32-tn-130x44x12,batch=3,pointers "BM=32 BN=48 BK=12 TM=20 TN=6"
# f64 by warps: one part and many, rows and columns past the edges, k's past the last slab.
trial tailored f64-nn-65x52x39,batch=5 "ENGINE=1 BM=48 BN=64 BK=16 TM=16 TN=32 STAGES=3"
trial tailored f64-tt-50x47x21,batch=4,lda=53,ldb=21,ldc=48,sc=2500,beta "ENGINE=1 BM=64 BN=32 BK=8 TM=32 TN=16"
trial tailored f64-tn-40x100x64,batch=3,sa=0 "ENGINE=1 BM=48 BN=128 BK=16 TM=48 TN=32 STAGES=4"
trial tailored f64-nt-33x70x7,batch=9,pointers,align=16 "ENGINE=1 BM=48 BN=96 BK=8 TM=16 TN=80"
# 16-bit types, as they lie in memory and across; rows of 16, 8 and 2 bytes' alignment; one slab and more.
trial tailored f16-nn-65x52x39,batch=5 "ENGINE=1 BM=48 BN=64 BK=48 TM=16 TN=32"
trial tailored bf16-tt-50x47x21,batch=4,lda=53,ldb=21,ldc=48,sc=2500,beta "ENGINE=1 BM=64 BN=32 BK=16 TM=32 TN=16 STAGES=3"
trial tailored f16=f32-nt-63x61x51,batch=4,pointers "ENGINE=1 BM=64 BN=64 BK=64 TM=32 TN=32"
trial tailored bf16=f32-tn-40x104x64,batch=3,sa=0 "ENGINE=1 BM=48 BN=128 BK=16 TM=48 TN=64 STAGES=4"
trial tailored f16-nn-100x100x100,batch=2 "ENGINE=1 BM=128 BN=128 BK=112 TM=64 TN=64"
trial tailored bf16-nn-50x62x30,batch=3,pointers,align=4,beta "ENGINE=1 BM=64 BN=32 BK=16 TM=16 TN=32"
trial tailored f16-nn-63x65x1,batch=4 "ENGINE=1 BM=64 BN=96 BK=16 TM=32 TN=48"
# Parts with columns that end with half a block: as they lie in memory and across, stored in fours and in twos.
trial tailored f64-nt-33x70x7,batch=4,pointers,align=16 "ENGINE=1 BM=48 BN=96 BK=8 TM=16 TN=72"
trial tailored f64-tt-50x47x21,batch=3,lda=53,ldb=21,ldc=48,sc=2500,beta "ENGINE=1 BM=64 BN=32 BK=8 TM=32 TN=24"
trial tailored f16-nn-65x52x39,batch=3 "ENGINE=1 BM=48 BN=64 BK=48 TM=16 TN=56"
trial tailored bf16=f32-tn-40x104x64,batch=3,sa=0 "ENGINE=1 BM=48 BN=128 BK=16 TM=48 TN=40 STAGES=4"
trial tailored f16-nt-100x72x40,batch=2 "ENGINE=1 BM=128 BN=96 BK=48 TM=48 TN=72"
trial tailored bf16-nn-50x62x30,batch=3,pointers,align=4,beta "ENGINE=1 BM=64 BN=32 BK=16 TM=16 TN=40"
# C that is no vectors: the tile is gathered, of one matrix or a part of it. Fewer threads than columns.
trial tailored f64-tt-16x55x10,batch=2,beta "ENGINE=1 BM=32 BN=64 BK=16 TM=16 TN=56"
trial tailored 'bf16-tn-70x35x33,batch=3,beta,epi=bias_residual' "ENGINE=1 BM=48 BN=48 BK=48 TM=16 TN=40"
trial tailored f64-nn-37x49x20,batch=3,beta "ENGINE=1 BM=48 BN=32 BK=24 TM=48 TN=16"
trial tailored 'bf16-tn-70x35x33,batch=3,beta,epi=bias_residual' "ENGINE=1 BM=48 BN=48 BK=48 TM=16 TN=48"
# Matrices that end with a part of a piece; rows of whole pieces.
trial pipeline f16-nt-21x20x7,batch=33,pointers,align=16 "ENGINE=1 PRODUCTS=2 TM=16 TN=32 STAGES=2"
trial pipeline f32-tn-9x7x5,batch=330,pointers,align=16 "PRODUCTS=2 TM=2 TN=2 STAGES=3 BULK=1"
trial pipeline f16-nn-20x24x32,lda=40,ldb=32,ldc=40,batch=40,pointers,align=16 \
    "ENGINE=1 PRODUCTS=2 TM=16 TN=16 STAGES=3"
trial pipeline f64-tn-17x12x15,batch=9,ldb=16,ldc=14 "ENGINE=1 PRODUCTS=1 TM=32 TN=16 STAGES=2"
# Pointers that turn round in the ring, to matrices with more pieces than threads and with parts of pieces.
trial pipeline f32-nn-3x5x511,batch=1100,pointers,align=16 "$turns BULK=0"
# Rows with padding in shared memory: fragments and vectors past the ends of k, groups of C that begin
# within a piece, and an operand with padding of its own.
trial pipeline f16-nn-21x20x36,batch=9 "ENGINE=1 PRODUCTS=1 TM=32 TN=32 STAGES=2 PAD=1"
trial pipeline bf16-tt-9x7x23,batch=5,lda=10 "ENGINE=1 PRODUCTS=2 TM=16 TN=16 STAGES=3 PAD=1"
# Runs that begin and end within pieces of 16 bytes: groups of one product and of two, with
# a last one that is not whole, matrices of less than a piece, padded rows of C, and C0.
trial pipeline bf16-tt-17x19x21,batch=33,ldc=20 "ENGINE=1 PRODUCTS=2 TM=32 TN=32 STAGES=3 BULK=1"
trial pipeline f16-nn-5x3x7,batch=1101,sb=0 "PRODUCTS=1 TM=2 TN=2 STAGES=2 BULK=1"
trial pipeline f16-nn-5x3x7,batch=1101,beta "PRODUCTS=1 TM=2 TN=2 STAGES=2 BULK=1"
trial pipeline f16-nn-1x3x1,batch=101 "PRODUCTS=1 TM=1 TN=1 STAGES=2 BULK=1"
trial pipeline i8-nn-3x1x5,batch=101,beta "PRODUCTS=1 TM=1 TN=1 STAGES=4 BULK=1"
trial pipeline f64-nt-9x7x5,batch=45 "ENGINE=1 PRODUCTS=1 TM=16 TN=16 STAGES=2"
trial pipeline bf16-tn-17x19x21,batch=33,epi=residual "ENGINE=1 PRODUCTS=1 TM=32 TN=32 STAGES=2 BULK=1"
# Lines of 31, 33 and 65 elements: lanes share the k's of two instructions; the last block
# of k has one, one and, in full blocks, both.
trial pipeline f16-nn-33x31x65,batch=9 "ENGINE=1 PRODUCTS=1 TM=16 TN=32 STAGES=2"
trial pipeline bf16-tt-31x20x33,batch=5,beta "ENGINE=1 PRODUCTS=1 TM=32 TN=16 STAGES=2"
trial pipeline f16-tn-31x33x64,batch=9 "ENGINE=1 PRODUCTS=2 TM=16 TN=48 STAGES=2"
# A rest of four k's, and of five.
trial pipeline f16-tn-33x31x36,batch=9 "ENGINE=1 PRODUCTS=1 TM=48 TN=32 STAGES=2 BULK=1"
trial pipeline bf16-tn-31x33x5,batch=19 "ENGINE=1 PRODUCTS=1 TM=32 TN=48 STAGES=2"
trial pipeline f64-nn-17x13x9,batch=7,beta "ENGINE=1 PRODUCTS=1 TM=32 TN=16 STAGES=2 PAD=1"
trial pipeline f64-nn-4x5x8,batch=9 "PRODUCTS=1 TM=4 TN=4 STAGES=2 PAD=1"
trial pipeline f32-nt-9x11x13,batch=20,ldb=14 "PRODUCTS=1 TM=3 TN=4 STAGES=2 SLICES=2 PAD=1"
trial pipeline i8-tn-7x9x18,batch=20,sb=0 "PRODUCTS=2 TM=4 TN=4 STAGES=2 PAD=1"

# Epilogues: sums of parts of k, boxes that the hardware stores, products that are computed
# transposed.
trial dmma 'f64-nt-33x66x40,beta,epi=bias_relu' "SPLIT=2 REDUCE=1"
trial dmma f64-nn-150x40x24,groups=5,epi=batch_bias_residual "$tiles AHEAD=1"
trial mma 'bf16-tn-65x130x71,batch=3,beta,epi=row_bias_gelu' "SPLIT=3"
trial wgmma 'bf16-nt-768x192x136,epi=r[i,j]:bf16;s[i]:f32;d2[i,j]:bf16;d2=x;d=relu(x)+r[i,j]*s[i]' \
    "BM=64 BN=16 WGM=1 STAGES=2 GROUP=1 PERSIST=1 REPACK=0 STORE=1"
trial wgmma 'i8-nn-5x33x200,epi=b[i]:i32;d=x+b[i]+c' \
    "BM=64 BN=16 WGM=1 GROUP=1 SWAP=1 SPLIT=1 REDUCE=0"
# A NaN becomes 0 as an integer.
trial mma 'bf16-nn-33x24x17,epi=d2[i,j]:i8;d2=log(x);d=i32(sqrt(x))-i8(x/0)' ""
# Several products a block: pieces that have parts of two rows; rows of whole pieces, with a
# second output; elements straight from the threads.
trial bundle 'f16-nn-9x7x9,batch=33,epi=row_bias_gelu' "SHARE=1 GATHER=1 TM=5 TN=5"
trial bundle 'f32-tn-8x12x5,batch=45,beta,epi=s:f32;d2[i,j]:bf16;d2=s*x;d=relu(x)+r[i,j]*b[j]+q[i]' \
    "SHARE=1 GATHER=1 PRODUCTS=4 PAD=1"
trial bundle 'bf16-nt-9x10x9,batch=13,ldc=12,sc=120,epi=dequantise_bias_swiglu' "SHARE=0 GATHER=0"
trial tailored 'f32-nn-67x50x20,batch=3,beta,epi=s:f32;d2[i,j]:bf16;d2=s*x;d=relu(x)+r[i,j]*b[j]+q[i]' \
    "BM=48 BN=64 BK=10 TM=6 TN=6"
trial tailored 'f64-nn-36x41x12,batch=3,beta,epi=bias_residual' "ENGINE=1 BM=48 BN=48 BK=16 TM=16 TN=48"
trial tailored 'bf16-nt-36x44x12,batch=5,pointers,align=16,epi=scale_batch_row_bias_swiglu' "ENGINE=1 BM=48 BN=48 BK=16 TM=48 TN=16"
trial tailored 'f32-nt-36x40x12,batch=5,pointers,align=16,epi=scale_batch_row_bias_swiglu' "BM=48 BN=48 TM=6 TN=4"
# Products that are gathered, with a last group that is no whole one; elements straight from the threads.
trial pipeline 'f16-nn-9x7x9,batch=33,epi=row_bias_gelu' "PRODUCTS=4 TM=3 TN=4 STAGES=3 BULK=1"
trial pipeline 'f16-nn-21x20x36,batch=9,epi=bias_swiglu' "ENGINE=1 PRODUCTS=2 TM=32 TN=32 STAGES=2 PAD=1"
trial pipeline 'f32-tn-8x12x5,batch=45,beta,epi=s:f32;d2[i,j]:bf16;d2=s*x;d=relu(x)+r[i,j]*b[j]+q[i]' \
    "PRODUCTS=4 TM=2 TN=4 STAGES=3 PAD=1"
trial pipeline 'f64-nn-17x13x9,batch=7,ldc=14,epi=residual' "ENGINE=1 PRODUCTS=1 TM=32 TN=16 STAGES=2"
# A matrix that comes through the boxes of C, in two places and in four; a transposed one. In
# a batch a product's last boxes would reach into the next one.
trial wgmma 'bf16-nt-72x264x72,epi=bias_swiglu' "BM=64 BN=256 WGM=1 STAGES=5 GROUP=1 REPACK=0 STORE=1"
trial wgmma 'bf16-nt-72x264x72,batch=2,epi=scale_rows_residual' \
    "BM=64 BN=256 WGM=1 STAGES=2 GROUP=1 REPACK=0 STORE=1"
trial wgmma 'i8-nn-40x80x144,epi=b[j]:i32;s[i]:f32;r[i,j]:i32;d=x*s[i]+b[j]+r[i,j]' \
    "BM=64 BN=32 WGM=1 STAGES=2 GROUP=1 REPACK=0 SWAP=1 RS=1 STORE=1"
# Sums of integers that become floats: in registers, in the boxes of C, by lines, by parts of k.
trial wgmma 'i8=bf16-nt-140x128x144,epi=dequantise_bias' "BM=128 BN=64 WGM=2 STAGES=3 GROUP=1 PERSIST=1 STORE=1"
trial wgmma 'i8=f32-nt-140x128x144,epi=dequantise_residual' \
    "BM=128 BN=64 WGM=2 STAGES=3 GROUP=1 PERSIST=1 PINGPONG=1 STORE=1"
trial wgmma 'i8=bf16-nn-130x80x400,beta' \
    "BM=64 BN=32 WGM=1 STAGES=2 GROUP=1 PERSIST=1 PINGPONG=1 REPACK=0 SWAP=1 RS=1 TAIL=1 PRODUCERS=2"
trial wgmma 'i8=bf16-nn-5x33x200,epi=dequantise' "BM=64 BN=16 WGM=1 GROUP=1 SWAP=1 SPLIT=3 REDUCE=1 PRODUCERS=2"
trial wgmma 'i8=bf16-nt-150x80x128,groups=5,epi=dequantise_swiglu' \
    "BM=64 BN=64 WGM=1 STAGES=2 GROUP=1 PERSIST=1 PINGPONG=1 REPACK=0"
trial mma 'i8=f16-tt-65x130x71,beta,epi=dequantise_gelu' "AHEAD=1 TAIL=0 SPLIT=3"
trial mma 'i8=bf16-nn-150x33x130,groups=5,beta,epi=dequantise' "AHEAD=1 TAIL=0 SPLIT=2"
trial pipeline 'i8=f32-tn-7x9x18,batch=20,sb=0,epi=dequantise' "PRODUCTS=2 TM=4 TN=4 STAGES=2 PAD=1"
trial bundle 'i8=bf16-tn-5x9x7,batch=37,beta,epi=dequantise' ""
# The same as i8: pairs that are half a word, rows that begin anywhere, boxes of 64 bytes.
trial wgmma 'i8=i8-nt-140x256x200,ldc=272,epi=dequantise_residual' \
    "BM=64 BN=256 WGM=1 STAGES=3 GROUP=1 PERSIST=1 STORE=1"
trial wgmma 'i8=i8-nt-150x331x128,ldc=333,epi=dequantise_bias' "BM=64 BN=256 WGM=1 STAGES=2 GROUP=1 PERSIST=1"
trial wgmma 'i8=i8-nt-70x150x100,epi=res[i,j]:e4m3;d=x*0.01+res[i,j]' "BM=64 BN=24 WGM=1 STAGES=3 GROUP=1"
trial wgmma 'i8=i8-nn-5x32x200,epi=res[i,j]:e5m2;d=x*0.01+res[i,j]' \
    "BM=64 BN=32 WGM=1 GROUP=1 SWAP=1 STORE=1 RS=1"
trial wgmma 'i8=i8-nn-5x33x200,beta' "BM=64 BN=16 WGM=1 GROUP=1 SWAP=1 SPLIT=3 REDUCE=1 PRODUCERS=2"
trial wgmma 'i8=i8-nt-150x80x128,groups=5,epi=dequantise_swiglu' "BM=64 BN=32 WGM=1 GROUP=1 PERSIST=1 REPACK=0"
trial mma 'i8=i8-tt-65x130x71,beta,epi=dequantise_gelu' "AHEAD=1 TAIL=0 SPLIT=3"
trial pipeline 'i8=i8-tn-8x12x18,batch=20,epi=dequantise' "PRODUCTS=4 TM=4 TN=4 STAGES=2 BULK=1"
trial pipeline 'i8=i8-nn-5x6x7,batch=50,pointers,align=16,epi=dequantise' \
    "PRODUCTS=4 TM=2 TN=2 STAGES=2 BULK=1"
trial skinny 'i8=i8-nt-5x67x51,epi=dequantise' ""
trial skinny 'i8=bf16-nt-5x67x51,epi=dequantise' ""
# f32 and f64 by parts, in batches and groups, with an epilogue.
trial triple 'f32@split-nn-65x130x71,batch=3,beta,epi=bias_gelu' ""
trial triple 'f32@split-nt-130x132x200,batch=2,epi=residual' "ENGINE=1 BM=128 BN=64 KBYTES=128 WM=16 WN=64 STAGES=3"
trial triple 'f32@bf16x3-tn-130x132x300,epi=d2=x;d=silu(x)' \
    "ENGINE=1 BM=64 BN=64 KBYTES=128 WM=16 WN=64 STAGES=3 SPLIT=2"
trial triple 'f32@split-nn-150x40x64,groups=5,epi=batch_bias_residual' ""
trial triple 'f32@split-nn-50x40x64,batch=3,pointers,align=16,beta' "VA=16 VB=16"
trial remainder 'f64@residues-nt-129x66x100,beta,epi=d2=x;d=silu(x)+b[j]' \
    "ENGINE=1 CLUSTER=2 MODULI=14 BM=128 BN=64 BK=128 WM=64 WN=64 STAGES=4 GROUP=8"
trial remainder 'f64@residues-nn-67x35x51,groups=3,beta,epi=batch_bias' ""
# Groups and masks: slots of rows, and blocks that walk over the tiles of all groups. Each group has its
# bias or scale; operands with rows have the rows of C, or of all products. Batches with
# blocks that take more than one tile. Products with arrays of pointers.
trial mma 'bf16-nt-200x40x272,groups=5,epi=batch_bias_residual' \
    "BM=32 BN=64 KBYTES=128 WM=32 WN=32 VA=16 VB=16 GROUP=1"
trial wgmma 'bf16-nt-300x80x136,groups=5,epi=batch_bias_residual' "BM=64 BN=64 WGM=1 STAGES=3 GROUP=1 REPACK=0"
trial wgmma 'bf16-nt-300x80x136,groups=5,epi=scale_rows_batch_bias_swiglu' \
    "BM=64 BN=64 WGM=1 STAGES=3 GROUP=1 REPACK=0 PERSIST=1 STORE=1 PRODUCERS=1"
trial wgmma 'i8-nn-150x80x128,groups=5,epi=sz[z]:f32;r[i,j]:i32;d=x*sz[z]+r[i,j]' \
    "BM=64 BN=32 WGM=1 STAGES=3 GROUP=1 REPACK=0 PERSIST=1 STORE=1 SWAP=1 RS=1"
trial wgmma 'bf16-nn-150x80x128,batch=3,masked,rows=50,beta,epi=d2=x;d=x*s[z]+q[i]+b[z,j]' \
    "BM=64 BN=64 WGM=1 STAGES=3 GROUP=1 REPACK=0 CN=2 PERSIST=1 PRODUCERS=2"
trial wgmma 'bf16-nn-72x40x72,batch=70,epi=batch_bias_residual' \
    "BM=64 BN=64 WGM=1 STAGES=3 GROUP=1 REPACK=0 PERSIST=1 STORE=1 PRODUCERS=1"
trial wgmma 'i8-nn-40x80x128,batch=40,epi=sz[z]:f32;r[i,j]:i32;d=x*sz[z]+r[i,j]' \
    "BM=64 BN=32 WGM=1 STAGES=3 GROUP=1 REPACK=0 PERSIST=1 STORE=1 SWAP=1 RS=1"
trial wgmma 'bf16-nt-72x264x72,batch=2,epi=scale_batch_batch_bias' \
    "BM=64 BN=256 WGM=1 STAGES=5 GROUP=1 REPACK=0 STORE=1"
trial mma 'bf16-nn-40x40x72,batch=3,pointers,align=8,beta,epi=batch_bias_residual' "VA=8 VB=8 SPLIT=2"
trial pipeline 'f16-nt-21x20x7,batch=33,pointers,align=16,epi=batch_bias_residual' \
    "ENGINE=1 PRODUCTS=2 TM=16 TN=32 STAGES=2"
trial bundle 'f32-tn-8x12x5,batch=45,pointers,align=16,beta,epi=scale_batch_row_bias' "SHARE=1 GATHER=1 PRODUCTS=4"
# Rows of C leave by warps, which read vectors that others copied, tile after tile.
trial wgmma 'bf16-nn-200x264x72,epi=bias_silu' "BM=64 BN=64 WGM=1 STAGES=2 PERSIST=1 STORE=0 REPACK=0"
if [ -n "${GT_LONG:-}" ]; then
    trial wgmma 'bf16-nn-40x48x200,epi=bias_silu' "REPACK=0 BM=64 WGM=1"
    trial wgmma 'i8-nn-5x33x200,epi=b[i]:i32;d=x+b[i]+c' \
        "BM=64 BN=16 WGM=1 GROUP=1 SWAP=0 SPLIT=3 REDUCE=1"
    trial mma 'i8-tt-65x130x71,beta,epi=b[j]:i32;d2[i,j]:i8;d2=x;d=max(x+b[j],-5)' \
        "AHEAD=1 TAIL=0 SPLIT=3"
    trial mma 'bf16-nn-40x48x200,epi=bias_gelu' ""
    trial tma 'f32-nn-65x132x200,epi=r[i,j]:f32;d=x*2+r[i,j]' "REPACK=0 SPLIT=2"
    trial limbs 'i32-tn-33x66x40,beta,epi=r[i,j]:i8;b[j]:i32;d=relu(x+b[j])-r[i,j]' \
        "ENGINE=1 CLUSTER=2 BM=128 BN=64 BK=128 WM=64 WN=64 STAGES=4 GROUP=8"
fi

# A run of the tuner, timed by the model.
tune f64-nn-33x18x20 --db "$TMPDIR/ptx.db" --family naive --effort quick --budget 25s
is "a problem is tuned" "$(sql "$TMPDIR/ptx.db" \
    "SELECT count(*) FROM record WHERE rank = 0 AND verified = 1")" 1

# A kernel's error stands in its trial's line.
FAKE_CUDA_STEPS=100 "$GEMMTUNE" trial f64-nn-33x18x20 --device 0 --untimed --family naive \
    >"$TMPDIR/out" 2>&1
has "a failure names the kernel" "$(cat "$TMPDIR/out")" "takes more than 100 instructions"
exit "$bad"
