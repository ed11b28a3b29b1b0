/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.h - makes the actions of arithmetic. DEFINE_2(add, u32, a + b) is the action
 * add_u32, which puts a + b of its operands into its result. See ptx.h.
 */
#ifndef GT_TESTS_PTX_VALUES_H
#define GT_TESTS_PTX_VALUES_H

#include "tests/ptx/inside.h"

#define C_pred bool
#define C_u16  uint16_t
#define C_s16  int16_t
#define C_u32  uint32_t
#define C_s32  int32_t
#define C_u64  uint64_t
#define C_s64  int64_t
#define C_f32  float
#define C_f64  double

#define GET_pred(i) predicate(t, ins, i)
#define GET_u16(i)  ((uint16_t)get(t, ins, i))
#define GET_s16(i)  ((int16_t)get(t, ins, i))
#define GET_u32(i)  ((uint32_t)get(t, ins, i))
#define GET_s32(i)  ((int32_t)get(t, ins, i))
#define GET_u64(i)  ((uint64_t)get(t, ins, i))
#define GET_s64(i)  ((int64_t)get(t, ins, i))
#define GET_f32(i)  as_f32(get(t, ins, i))
#define GET_f64(i)  as_f64(get(t, ins, i))

#define BITS_pred(x) (x)
#define BITS_u16(x)  ((uint16_t)(x))
#define BITS_s16(x)  ((uint16_t)(x))
#define BITS_u32(x)  ((uint32_t)(x))
#define BITS_s32(x)  ((uint32_t)(x))
#define BITS_u64(x)  ((uint64_t)(x))
#define BITS_s64(x)  ((uint64_t)(x))
#define BITS_f32(x)  of_f32(x)
#define BITS_f64(x)  of_f64(x)

#define DEFINE_1(name, T, expr)                                                            \
    static void name##_##T(struct thread *t, const struct ins *ins) {                      \
        const C_##T a = GET_##T(1);                                                        \
        put(t, ins, 0, BITS_##T(expr));                                                    \
    }
#define DEFINE_2(name, T, expr)                                                            \
    static void name##_##T(struct thread *t, const struct ins *ins) {                      \
        const C_##T a = GET_##T(1), b = GET_##T(2);                                        \
        put(t, ins, 0, BITS_##T(expr));                                                    \
    }
#define DEFINE_3(name, T, expr)                                                            \
    static void name##_##T(struct thread *t, const struct ins *ins) {                      \
        const C_##T a = GET_##T(1), b = GET_##T(2), c = GET_##T(3);                        \
        put(t, ins, 0, BITS_##T(expr));                                                    \
    }

/* For types with signs that do not matter. */
#define SIGNLESS(DEFINE, name, expr)                                                       \
    DEFINE(name, u16, expr) DEFINE(name, u32, expr) DEFINE(name, u64, expr)
/* For all integers. */
#define EACH_INTEGER(DEFINE, name, expr)                                                   \
    SIGNLESS(DEFINE, name, expr)                                                           \
    DEFINE(name, s16, expr) DEFINE(name, s32, expr) DEFINE(name, s64, expr)

#define ROWS_SIGNLESS(text, name)                                                          \
    {text, T_U16, 0, name##_u16}, {text, T_S16, 0, name##_u16},                            \
        {text, T_U32, 0, name##_u32}, {text, T_S32, 0, name##_u32},                        \
        {text, T_U64, 0, name##_u64}, {                                                    \
        text, T_S64, 0, name##_u64                                                         \
    }
#define ROWS_BITS(text, name)                                                              \
    {text, T_B16, 0, name##_u16}, {text, T_B32, 0, name##_u32}, {                          \
        text, T_B64, 0, name##_u64                                                         \
    }
#define ROWS_INTEGER(text, name)                                                           \
    {text, T_U16, 0, name##_u16}, {text, T_S16, 0, name##_s16},                            \
        {text, T_U32, 0, name##_u32}, {text, T_S32, 0, name##_s32},                        \
        {text, T_U64, 0, name##_u64}, {                                                    \
        text, T_S64, 0, name##_s64                                                         \
    }

#endif
