/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epilogue_element.h - operations of an epilogue on the ranges of one element that range.h
 * lacks: functions of one number, integers, comparisons.
 * They give the results on all members of their operands, in doubles. epilogue_range.c adds
 * the roundoff of a kernel.
 */
#ifndef GT_CORE_EPILOGUE_EPILOGUE_ELEMENT_H
#define GT_CORE_EPILOGUE_EPILOGUE_ELEMENT_H

#include "core/epilogue/epilogue_op.h"
#include "core/range.h"

/* A function of one real number. */
struct gt_epi_function;

/* The function that an operation is; it must be one. */
const struct gt_epi_function *gt_epi_function_of(enum gt_epi_op_id op);
struct gt_range gt_epi_function_range(const struct gt_epi_function *f, struct gt_range t);

/* A sum, difference, product, minimum.. of integers, modulo 2^32. y counts only where the
 * operation has two operands. */
struct gt_range gt_epi_integer_range(enum gt_epi_op_id op, struct gt_range x,
                                     struct gt_range y);

/* Whether a comparison holds: 0 is false, 1 true, [0, 1] either. */
struct gt_range gt_epi_truth_range(enum gt_epi_op_id op, struct gt_range x,
                                   struct gt_range y);

#endif
