/* SPDX-License-Identifier: Apache-2.0 */
/* operand.c - operands: registers, numbers, symbols, addresses, vectors. See ptx.h. */
#include "tests/ptx/parse.h"

#include <stdio.h>
#include <stdlib.h>

/* The value of a register that nothing has written; no constant of a program. */
#define JUNK UINT64_C(0xdeadbeefbaadf00d)

uint32_t add_slot(struct reader *r, enum origin origin, uint64_t value) {
    struct ptx_code *c = r->code;
    c->slot = grow(r, c->slot, c->slots, &c->slot_room, sizeof *c->slot);
    c->slot[c->slots] = (struct slot){.value = value, .origin = origin};
    return (uint32_t)c->slots++;
}

void declare(struct reader *r) {
    do {
        struct declaration *d = &r->declaration[r->declarations];
        if (r->declarations == DECLS_MAX || !take_name(r, d->name, sizeof d->name))
            refuse(r, "a register's name is missing before", "");
        r->declarations++;
        d->depth = r->depth;
        d->count = 0;
        if (accept(r, '<')) {
            d->count = (uint32_t)take_number(r);
            expect(r, '>');
        }
        d->slot = (uint32_t)r->code->slots;
        for (uint32_t i = 0; i < (d->count ? d->count : 1); i++)
            (void)add_slot(r, FROM_VALUE, JUNK);
    } while (accept(r, ','));
    expect(r, ';');
}

static bool is_member(const struct declaration *d, const char *name, uint32_t *slot) {
    const size_t length = strlen(d->name);
    char *end;
    if (strncmp(name, d->name, length) != 0 || name[length] < '0' || name[length] > '9')
        return false;
    const unsigned long number = strtoul(name + length, &end, 10);
    *slot = d->slot + (uint32_t)number;
    return *end == '\0' && number < d->count;
}

static bool find_slot(const struct reader *r, const char *name, uint32_t *slot) {
    for (int i = r->declarations - 1; i >= 0; i--) {
        const struct declaration *d = &r->declaration[i];
        *slot = d->slot;
        if (d->count ? is_member(d, name, slot) : strcmp(d->name, name) == 0)
            return true;
    }
    return false;
}

uint32_t find_register(struct reader *r, const char *name) {
    uint32_t slot;
    if (!find_slot(r, name, &slot))
        refuse(r, "no such register:", name);
    return slot;
}

static const struct {
    const char *name;
    enum special special;
} specials[] = {
    {"%tid.x", TID_X},
    {"%tid.y", TID_Y},
    {"%tid.z", TID_Z},
    {"%ntid.x", NTID_X},
    {"%ntid.y", NTID_Y},
    {"%ntid.z", NTID_Z},
    {"%ctaid.x", CTAID_X},
    {"%ctaid.y", CTAID_Y},
    {"%ctaid.z", CTAID_Z},
    {"%nctaid.x", NCTAID_X},
    {"%nctaid.y", NCTAID_Y},
    {"%nctaid.z", NCTAID_Z},
    {"%laneid", LANE},
    {"%warpid", WARP},
    {"%nwarpid", NWARPS},
    {"%cluster_ctarank", CLUSTER_RANK},
    {"%cluster_nctarank", CLUSTER_SIZE},
    {"%cluster_ctaid.x", CLUSTER_CTAID_X},
    {"%cluster_ctaid.y", CLUSTER_CTAID_Y},
    {"%cluster_ctaid.z", CLUSTER_CTAID_Z},
    {"%cluster_nctaid.x", CLUSTER_NCTAID_X},
    {"%cluster_nctaid.y", CLUSTER_NCTAID_Y},
    {"%cluster_nctaid.z", CLUSTER_NCTAID_Z},
    {"%clusterid.x", CLUSTERID_X},
    {"%clusterid.y", CLUSTERID_Y},
    {"%clusterid.z", CLUSTERID_Z},
    {"%nclusterid.x", NCLUSTERID_X},
    {"%nclusterid.y", NCLUSTERID_Y},
    {"%nclusterid.z", NCLUSTERID_Z},
    {"%lanemask_eq", MASK_EQ},
    {"%lanemask_lt", MASK_LT},
    {"%lanemask_le", MASK_LE},
    {"%lanemask_gt", MASK_GT},
    {"%lanemask_ge", MASK_GE},
    {"%smid", SMID},
    {"%nsmid", NSMID},
    {"%gridid", GRIDID},
    {"%dynamic_smem_size", DYNAMIC_SMEM},
    {"%total_smem_size", TOTAL_SMEM},
    {"%clock", CLOCK},
    {"%clock64", CLOCK},
    {"%clock_hi", CLOCK},
    {"%globaltimer", CLOCK},
    {"%globaltimer_lo", CLOCK},
};

static bool find_special(struct reader *r, const char *name, uint32_t *slot) {
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (strcmp(specials[i].name, name) == 0) {
            *slot = add_slot(r, FROM_SPECIAL, specials[i].special);
            return true;
        }
    return false;
}

static const struct symbol *find_symbol(const struct reader *r, const char *name) {
    for (int i = 0; i < r->symbols; i++)
        if (strcmp(r->symbol[i].name, name) == 0)
            return &r->symbol[i];
    for (int i = 0; i < r->module->symbols; i++)
        if (strcmp(r->module->symbol[i].name, name) == 0)
            return &r->module->symbol[i];
    return NULL;
}

/* An equal constant gets the same slot, when it was added lately. */
static uint32_t add_constant(struct reader *r, uint64_t value) {
    const struct ptx_code *c = r->code;
    for (size_t back = 1; back <= 64 && back <= c->slots; back++) {
        const struct slot *s = &c->slot[c->slots - back];
        if (s->origin == FROM_VALUE && s->value == value)
            return (uint32_t)(c->slots - back);
    }
    return add_slot(r, FROM_VALUE, value);
}

static void add_arg(struct reader *r, struct ins *ins, uint32_t slot, int64_t offset) {
    enum { ARGS_MAX = 400 };
    if (!ins->arg) {
        ins->arg = calloc(ARGS_MAX, sizeof *ins->arg);
        ins->offset = calloc(ARGS_MAX, sizeof *ins->offset);
    }
    if (!ins->arg || !ins->offset || ins->args == ARGS_MAX)
        refuse(r, "too many operands of", ins->name);
    ins->arg[ins->args] = slot;
    ins->offset[ins->args++] = (int32_t)offset;
}

/* The slot of a name that is no label. */
static uint32_t slot_of(struct reader *r, const char *name) {
    uint32_t slot;
    if (strcmp(name, "_") == 0) /* a slot of its own, which no constant shares */
        return add_slot(r, FROM_VALUE, JUNK);
    if (strcmp(name, "WARP_SZ") == 0)
        return add_constant(r, WARP_SIZE);
    if (find_slot(r, name, &slot) || find_special(r, name, &slot))
        return slot;
    const struct symbol *s = find_symbol(r, name);
    if (!s)
        refuse(r, "no such name:", name);
    return add_slot(r, s->origin, s->offset);
}

static bool is_number(const char *at) {
    return (*at >= '0' && *at <= '9') || *at == '-' || *at == '+';
}

/* A register, a symbol or a number, and what is added to it in an address. */
static void read_scalar(struct reader *r, struct ins *ins) {
    char name[NAME_MAX_];
    skip(r);
    if (is_number(r->at)) {
        add_arg(r, ins, add_constant(r, take_number(r)), 0);
        return;
    }
    if (!take_name(r, name, sizeof name))
        refuse(r, "no operand at", "");
    const uint32_t slot = slot_of(r, name);
    int64_t offset = 0;
    if (accept(r, '+'))
        offset = (int64_t)take_number(r);
    add_arg(r, ins, slot, offset);
}

static void read_operand(struct reader *r, struct ins *ins, char close);

static void read_list(struct reader *r, struct ins *ins, char close) {
    do
        read_operand(r, ins, close);
    while (accept(r, ','));
    expect(r, close);
}

/* Vectors in braces, addresses in brackets; both are flattened. */
static void read_operand(struct reader *r, struct ins *ins, char close) {
    (void)close;
    if (accept(r, '{'))
        read_list(r, ins, '}');
    else if (accept(r, '['))
        read_list(r, ins, ']');
    else
        read_scalar(r, ins);
    if (accept(r, '|'))
        read_scalar(r, ins);
}

static void read_label(struct reader *r, struct ins *ins) {
    r->jump = grow(r, r->jump, r->jumps, &r->jump_room, sizeof *r->jump);
    struct label *jump = &r->jump[r->jumps++];
    if (!take_name(r, jump->name, sizeof jump->name))
        refuse(r, "no label behind", ins->name);
    jump->at = (uint32_t)r->code->count;
    expect(r, ';');
}

void read_operands(struct reader *r, struct ins *ins) {
    if (strncmp(ins->name, "bra", 3) == 0 &&
        (ins->name[3] == '\0' || ins->name[3] == '.')) {
        read_label(r, ins);
        return;
    }
    while (!accept(r, ';')) {
        if (ins->operands == OPERANDS_MAX)
            refuse(r, "too many operands of", ins->name);
        if (ins->operands > 0)
            expect(r, ',');
        if (accept(r, '!'))
            ins->negated |= 1u << ins->operands;
        ins->first[ins->operands++] = ins->args;
        read_operand(r, ins, ';');
    }
    ins->first[ins->operands] = ins->args;
}
