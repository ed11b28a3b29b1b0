/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epilogue_source.h - an epilogue as text of a kernel, for CUDA and OpenCL C.
 *
 * The text has one line for each assignment, and one line that stores each output:
 *
 *     const gt_real gt_v0 = gt_gelu((gt_in_x + gt_in_0));
 *     GT_PUT_D(gt_v0);
 *
 * No character of it comes from the user's text: names are numbered, and numbers are
 * written anew. A kernel's prelude must define
 *   types       gt_real: gt_acc where sums are floats, else float. int as in C
 *   values      gt_in_x gt_in_acc gt_in_c gt_in_alpha gt_in_beta, and gt_in_<n> for operand
 *               n: gt_real, or int for an integer of a problem with sums of integers. A
 *               value that the text does not name need not exist
 *               gt_once_x and gt_iodd(int): x, when no beta c is added, and an integer as
 *               reals that a rounding to 16 or 8 bits turns into the nearest element; where
 *               gt_epilogue_has_once
 *   stores      GT_PUT_D(v), GT_PUT_D2(v): v is gt_real or int, as gt_epilogue_stores_int
 *               says; rounded to the nearest element, integers saturated
 *   of gt_real  gt_min gt_max (x, y); gt_abs gt_relu gt_exp gt_log gt_tanh gt_erf gt_sqrt
 *               gt_sigmoid gt_gelu gt_gelu_tanh gt_silu (x); as accurate as epilogue_op.h
 *               demands
 *   of int      gt_iadd gt_isub gt_imul gt_imin gt_imax (x, y); gt_ineg gt_iabs gt_irelu
 *               (x); modulo 2^32
 *   casts       gt_cast_<type>(real): real; gt_int_<type>(real): int; gt_iint_<type>(int):
 *               int. All round to the nearest even number of the type and saturate
 * Operators are C's: + - * / on gt_real, which may be fused, comparisons, ?:.
 */
#ifndef GT_CORE_EPILOGUE_EPILOGUE_SOURCE_H
#define GT_CORE_EPILOGUE_EPILOGUE_SOURCE_H

#include "core/epilogue/epilogue.h"

/* Writes the lines; returns the length needed, as snprintf does. */
int gt_epilogue_source(const struct gt_epilogue *e, char *buf, size_t size);

/* Bytes that hold the lines of every epilogue, with the NUL. */
enum { GT_EPILOGUE_SOURCE_MAX = 16384 };

/* Whether the value of d, or of d2 when `second`, is an int. */
bool gt_epilogue_stores_int(const struct gt_epilogue *e, bool second);

#endif
