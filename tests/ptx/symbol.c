/* SPDX-License-Identifier: Apache-2.0 */
/* symbol.c - symbols: parameters and memory, which have names. See ptx.h. */
#include "tests/ptx/parse.h"

#include <stdio.h>
#include <stdlib.h>

static void add_symbol(struct reader *r, bool of_module, const char *name,
                       enum origin origin, uint64_t offset) {
    struct ptx_module *m = r->module;
    int *count = of_module ? &m->symbols : &r->symbols;
    struct symbol *s = of_module ? m->symbol : r->symbol;
    if (*count == SYMBOLS_MAX)
        refuse(r, "too many symbols at", name);
    s += (*count)++;
    snprintf(s->name, sizeof s->name, "%.63s", name);
    s->origin = origin;
    s->offset = offset;
}

struct memory {
    size_t align, bytes;
    enum type type;
    char name[NAME_MAX_];
    bool is_open; /* name[] */
};

static enum type type_named(struct reader *r, const char *name) {
    static const struct {
        const char *name;
        enum type type;
    } rows[] = {{".b8", T_B8},   {".u8", T_U8},   {".s8", T_S8},   {".b16", T_B16},
                {".u16", T_U16}, {".s16", T_S16}, {".f16", T_F16}, {".b32", T_B32},
                {".u32", T_U32}, {".s32", T_S32}, {".f32", T_F32}, {".b64", T_B64},
                {".u64", T_U64}, {".s64", T_S64}, {".f64", T_F64}, {".pred", T_PRED}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].type;
    refuse(r, "no type:", name);
}

/* Words about the memory that a parameter leads to: ".ptr .global". */
static bool is_about_pointee(const char *word) {
    static const char *const words[] = {".ptr", ".global", ".shared", ".const", ".local"};
    bool is = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        is = is || strcmp(words[i], word) == 0;
    return is;
}

/* ".align 16 .b8 name[32]" after the space. A pointer's .align is at most its own. */
static void read_memory(struct reader *r, struct memory *m) {
    char word[NAME_MAX_];
    *m = (struct memory){.align = 1};
    while (take_name(r, word, sizeof word) && word[0] == '.')
        if (strcmp(word, ".align") == 0)
            m->align = (size_t)take_number(r);
        else if (!is_about_pointee(word))
            m->type = type_named(r, word);
    snprintf(m->name, sizeof m->name, "%.63s", word);
    m->bytes = size_of(m->type);
    if (m->align < m->bytes)
        m->align = m->bytes;
    if (!accept(r, '['))
        return;
    m->is_open = accept(r, ']');
    if (!m->is_open) {
        m->bytes *= (size_t)take_number(r);
        expect(r, ']');
    }
}

/* Arrays of shared memory that belong to the module belong to every kernel. */
void read_shared(struct reader *r) {
    struct memory m;
    read_memory(r, &m);
    expect(r, ';');
    if (m.is_open) {
        add_symbol(r, !r->kernel, m.name, FROM_DYNAMIC, m.align);
        if (r->code && m.align > r->code->dynamic_align)
            r->code->dynamic_align = m.align;
        return;
    }
    if (!r->kernel)
        refuse(r, "shared memory of a size belongs into a kernel:", m.name);
    const size_t at = aligned(r->code->smem, m.align);
    add_symbol(r, false, m.name, FROM_SHARED, at);
    r->code->smem = at + m.bytes;
    if (m.align > r->code->smem_align)
        r->code->smem_align = m.align;
}

void read_local(struct reader *r) {
    struct memory m;
    read_memory(r, &m);
    expect(r, ';');
    const size_t at = aligned(r->code->local, m.align);
    add_symbol(r, false, m.name, FROM_LOCAL, at);
    r->code->local = at + m.bytes;
}

void read_global(struct reader *r) {
    struct ptx_module *m = r->module;
    struct memory memory;
    read_memory(r, &memory);
    const size_t at = aligned(m->data_bytes, memory.align), end = at + memory.bytes;
    const size_t each = size_of(memory.type);
    enum { DATA_MAX = 1 << 20 };
    if (!m->data)
        m->data = calloc(1, DATA_MAX);
    if (!m->data || end > DATA_MAX)
        refuse(r, "no memory for", memory.name);
    add_symbol(r, true, memory.name, FROM_GLOBAL, at);
    m->data_bytes = end;
    if (accept(r, '=')) {
        const bool many = accept(r, '{');
        for (size_t to = at; to < end; to += each) {
            const uint64_t value = take_number(r);
            memcpy(m->data + to, &value, each);
            if (!accept(r, ','))
                break;
        }
        if (many)
            expect(r, '}');
    }
    expect(r, ';');
}

void read_params(struct reader *r) {
    struct ptx_kernel *k = r->kernel;
    char word[NAME_MAX_];
    struct memory m;
    expect(r, '(');
    if (accept(r, ')'))
        return;
    do {
        if (!take_name(r, word, sizeof word) || strcmp(word, ".param") != 0 ||
            k->params == PTX_PARAMS)
            refuse(r, "no parameter, or too many:", word);
        read_memory(r, &m);
        k->param_at[k->params] = aligned(k->param_bytes, m.align);
        k->param_size[k->params] = m.bytes;
        add_symbol(r, false, m.name, FROM_PARAM, k->param_at[k->params]);
        k->param_bytes = k->param_at[k->params++] + m.bytes;
    } while (accept(r, ','));
    expect(r, ')');
}
