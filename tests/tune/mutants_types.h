/* SPDX-License-Identifier: Apache-2.0 */
/* mutants_types.h - mistakes that a type's rounding might hide, and kernels that look at C
 * first. */
#ifndef GT_TESTS_TUNE_MUTANTS_TYPES_H
#define GT_TESTS_TUNE_MUTANTS_TYPES_H

#include "tests/tune/mutants.h"

static const struct mutant type_mutants[] = {
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
    MISTAKES("i8_bf16", "i8=bf16", INTEGER),
    MISTAKES("i8_f32", "i8=f32", INTEGER),
    MISTAKES("i8_i8", "i8=i8", INTEGER),
    {"naive_i8_f32_whole_c", "naive", "i8=f32-nn", NAIVE,
     "gt_store_c(c + row * ldc + col, alpha",
     "c[row * ldc + col] = (gt_f32)(int)c[row * ldc + col];\n"
     "        gt_store_c(c + row * ldc + col, alpha"},
    {"naive_i8_f32_sums_of_24_bits", "naive", "i8=f32-nn", NAIVE,
     "gt_store_c(c + row * ldc + col, alpha, acc",
     "gt_store_c(c + row * ldc + col, 1,\n"
     "                   (gt_i32)(int)((float)(int)alpha * (float)(int)acc)"},
    /* most of C is 0 where the data are exact; elsewhere it has a fraction, if it is no end
     * of the range */
    {"naive_i8_i8_cut_off", "naive", "i8=i8-nn,epi=d=x*0.001", NAIVE,
     "gt_store_c(c + row * ldc + col, alpha, acc, beta GT_PLACE(row, col));",
     "const int old = GT_READS_C(beta) ? c[row * ldc + col] : 0;\n"
     "        const gt_real x = (gt_real)(int)(alpha * acc + beta * (gt_acc)old);\n"
     "        c[row * ldc + col] = (gt_c)(int)gt_clamp(x * 0.001f, -128.0f, 127.0f);"},
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

#endif
