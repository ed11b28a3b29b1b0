/* SPDX-License-Identifier: Apache-2.0 */
/* opcode.c - the name of an instruction: which action, with which modifiers. See ptx.h. */
#include "tests/ptx/inside.h"

#include <stdio.h>

static const struct op *const tables[] = {
    integer_ops, bit_ops,     float_ops,  half_ops,    convert_ops,
    move_ops,    memory_ops,  atomic_ops, control_ops, warp_ops,
    mma_ops,     barrier_ops, copy_ops,   bulk_ops,    wgmma_ops,
};

enum field { FLAG, TYPE, SPACE, COMPARE, OPERATION, VECTOR, COUNT };

static const struct modifier {
    const char *text;
    enum field field;
    int value;
} modifiers[] = {
    {"pred", TYPE, T_PRED},
    {"b8", TYPE, T_B8},
    {"u8", TYPE, T_U8},
    {"s8", TYPE, T_S8},
    {"b16", TYPE, T_B16},
    {"u16", TYPE, T_U16},
    {"s16", TYPE, T_S16},
    {"f16", TYPE, T_F16},
    {"bf16", TYPE, T_BF16},
    {"b32", TYPE, T_B32},
    {"u32", TYPE, T_U32},
    {"s32", TYPE, T_S32},
    {"f32", TYPE, T_F32},
    {"tf32", TYPE, T_TF32},
    {"f16x2", TYPE, T_F16X2},
    {"bf16x2", TYPE, T_BF16X2},
    {"b64", TYPE, T_B64},
    {"u64", TYPE, T_U64},
    {"s64", TYPE, T_S64},
    {"f64", TYPE, T_F64},
    {"e4m3", TYPE, T_E4M3},
    {"e5m2", TYPE, T_E5M2},
    {"e4m3x2", TYPE, T_E4M3X2},
    {"e5m2x2", TYPE, T_E5M2X2},
    {"global", SPACE, SPACE_GLOBAL},
    {"shared", SPACE, SPACE_SHARED},
    {"shared::cta", SPACE, SPACE_SHARED},
    {"shared::cluster", SPACE, SPACE_CLUSTER},
    {"local", SPACE, SPACE_LOCAL},
    {"param", SPACE, SPACE_PARAM},
    {"const", SPACE, SPACE_CONST},
    {"eq", COMPARE, EQ},
    {"ne", COMPARE, NE},
    {"lt", COMPARE, LT},
    {"le", COMPARE, LE},
    {"gt", COMPARE, GT},
    {"ge", COMPARE, GE},
    {"lo", COMPARE, LT}, /* of unsigned numbers */
    {"ls", COMPARE, LE},
    {"hi", COMPARE, GT},
    {"hs", COMPARE, GE},
    {"equ", COMPARE, EQU},
    {"neu", COMPARE, NEU},
    {"ltu", COMPARE, LTU},
    {"leu", COMPARE, LEU},
    {"gtu", COMPARE, GTU},
    {"geu", COMPARE, GEU},
    {"num", COMPARE, NUM},
    {"nan", COMPARE, NOT_A_NUMBER},
    {"add", OPERATION, OP_ADD},
    {"min", OPERATION, OP_MIN},
    {"max", OPERATION, OP_MAX},
    {"and", OPERATION, OP_AND},
    {"or", OPERATION, OP_OR},
    {"xor", OPERATION, OP_XOR},
    {"exch", OPERATION, OP_EXCH},
    {"cas", OPERATION, OP_CAS},
    {"inc", OPERATION, OP_INC},
    {"dec", OPERATION, OP_DEC},
    {"popc", OPERATION, OP_POPC},
    {"v2", VECTOR, 2},
    {"v4", VECTOR, 4},
    {"v8", VECTOR, 8},
    {"x1", COUNT, 1},
    {"x2", COUNT, 2},
    {"x4", COUNT, 4},
    {"1d", COUNT, 1},
    {"2d", COUNT, 2},
    {"3d", COUNT, 3},
    {"4d", COUNT, 4},
    {"5d", COUNT, 5},
    {"rn", FLAG, RN},
    {"rz", FLAG, RZ},
    {"rm", FLAG, RM},
    {"rp", FLAG, RP},
    {"rna", FLAG, RNA},
    {"rni", FLAG, RNI},
    {"rzi", FLAG, RZI},
    {"rmi", FLAG, RMI},
    {"rpi", FLAG, RPI},
    {"ftz", FLAG, FTZ},
    {"sat", FLAG, SAT},
    {"satfinite", FLAG, SATFINITE},
    {"relu", FLAG, RELU},
    {"approx", FLAG, APPROX},
    {"full", FLAG, FULL},
    {"NaN", FLAG, NAN_OUT},
    {"clamp", FLAG, CLAMP},
    {"wrap", FLAG, WRAP},
    {"trans", FLAG, TRANS},
    {"row", FLAG, ROW},
    {"col", FLAG, COLUMN},
    {"parity", FLAG, PARITY},
    {"noinc", FLAG, NO_INC},
    {"read", FLAG, READ},
    {"tile", FLAG, TILED},
    {"bulk_group", FLAG, BULK_GROUP},
    {"mbarrier::complete_tx::bytes", FLAG, TX_BYTES},
    {"multicast::cluster", FLAG, MULTICAST},
    {"L2::cache_hint", FLAG, HINTED},
    {"volatile", FLAG, MEMORY},
    {"weak", FLAG, MEMORY},
    {"relaxed", FLAG, MEMORY},
    {"acquire", FLAG, MEMORY},
    {"release", FLAG, MEMORY},
    {"acq_rel", FLAG, MEMORY},
    {"sc", FLAG, MEMORY},
    {"cta", FLAG, MEMORY},
    {"cluster", FLAG, MEMORY},
    {"gpu", FLAG, MEMORY},
    {"sys", FLAG, MEMORY},
    {"gl", FLAG, MEMORY},
    {"nc", FLAG, MEMORY},
    {"ca", FLAG, MEMORY},
    {"cg", FLAG, MEMORY},
    {"cs", FLAG, MEMORY},
    {"lu", FLAG, MEMORY},
    {"cv", FLAG, MEMORY},
    {"wb", FLAG, MEMORY},
    {"wt", FLAG, MEMORY},
    {"noftz", FLAG, MEMORY}, /* f16 is never flushed here */
    {"uni", FLAG, MEMORY},
    {"sync", FLAG, MEMORY},
    {"aligned", FLAG, MEMORY},
    {"unified", FLAG, MEMORY},
    {"level::eviction_priority", FLAG, MEMORY},
};

const unsigned char type_bytes[T_ANY + 1] = {
    [T_B8] = 1,     [T_U8] = 1,  [T_S8] = 1,  [T_E4M3] = 1, [T_E5M2] = 1,   [T_B16] = 2,
    [T_U16] = 2,    [T_S16] = 2, [T_F16] = 2, [T_BF16] = 2, [T_E4M3X2] = 2, [T_E5M2X2] = 2,
    [T_B32] = 4,    [T_U32] = 4, [T_S32] = 4, [T_F32] = 4,  [T_TF32] = 4,   [T_F16X2] = 4,
    [T_BF16X2] = 4, [T_B64] = 8, [T_U64] = 8, [T_S64] = 8,  [T_F64] = 8,
};

static bool take(struct ins *ins, const struct modifier *m) {
    switch (m->field) {
    case FLAG:
        ins->flags |= (unsigned)m->value;
        break;
    case TYPE:
        if (ins->types < 4)
            ins->type[ins->types++] = (uint8_t)m->value;
        break;
    case SPACE:
        if (ins->spaces < 2)
            ins->space[ins->spaces++] = (uint8_t)m->value;
        break;
    case COMPARE:
        ins->compare = (uint8_t)m->value;
        break;
    case OPERATION:
        ins->operation = (uint8_t)m->value;
        break;
    case VECTOR:
        ins->vector = (uint8_t)m->value;
        break;
    case COUNT:
        ins->count = (uint8_t)m->value;
        break;
    }
    return true;
}

/* One word between dots. */
static bool take_word(struct ins *ins, const char *word, size_t length) {
    char text[40];
    if (length >= sizeof text)
        return false;
    memcpy(text, word, length);
    text[length] = '\0';
    for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++)
        if (strcmp(modifiers[i].text, text) == 0)
            return take(ins, &modifiers[i]);
    if (sscanf(text, "m%dn%dk%d", &ins->m, &ins->n, &ins->k) == 3)
        return true;
    if (strncmp(text, "L1::", 4) == 0 || strncmp(text, "L2::", 4) == 0) {
        ins->flags |= MEMORY;
        return true;
    }
    return sscanf(text, "m%dn%d", &ins->m, &ins->n) == 2;
}

static bool take_words(struct ins *ins, const char *at, const char *end) {
    bool known = true;
    while (known && at < end) {
        const char *word = ++at; /* after the dot */
        while (at < end && *at != '.')
            at++;
        known = take_word(ins, word, (size_t)(at - word));
    }
    return known;
}

/* Whether the row's name is the instruction's, or its beginning up to a dot. */
static bool begins_with(const struct op *op, const char *name, size_t length) {
    const size_t own = strlen(op->name);
    return own <= length && memcmp(op->name, name, own) == 0 &&
           (own == length || name[own] == '.');
}

static bool fits(const struct ins *ins, const struct op *op) {
    const enum type type = ins->types ? (enum type)ins->type[ins->types - 1] : T_NONE;
    return (op->type == T_ANY || op->type == type) && !(ins->flags & ~op->allowed);
}

/* Reads the modifiers as the row wants them. */
static bool try(struct ins *ins, const struct op *op, const char *name, size_t length) {
    struct ins with = *ins;
    if (!begins_with(op, name, length) ||
        !take_words(&with, name + strlen(op->name), name + length) || !fits(&with, op))
        return false;
    with.run = op->run;
    *ins = with;
    return true;
}

bool decode(struct ins *ins, const char *name, size_t length) {
    const struct op *best = NULL;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct op *op = tables[i]; op->name; op++) {
            struct ins scratch = *ins;
            if ((!best || strlen(op->name) > strlen(best->name)) &&
                try(&scratch, op, name, length))
                best = op;
        }
    return best && try(ins, best, name, length);
}
