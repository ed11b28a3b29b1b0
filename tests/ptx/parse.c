/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c - the text of a module: kernels, their memory, their instructions. See ptx.h. */
#include "tests/ptx/parse.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- words ------------------------------------------------------------------------- */

void refuse(struct reader *r, const char *what, const char *word) {
    snprintf(r->why, PTX_WHY, "line %d of the PTX: %s %.200s", r->line, what, word);
    longjmp(r->out, 1);
}

void *grow(struct reader *r, void *old, size_t count, size_t *room, size_t size) {
    if (count < *room)
        return old;
    const size_t wanted = *room ? 2 * *room : 256;
    void *grown = realloc(old, wanted * size);
    if (!grown)
        refuse(r, "no memory for", "the module");
    memset((char *)grown + *room * size, 0, (wanted - *room) * size);
    *room = wanted;
    return grown;
}

void skip_line(struct reader *r) {
    while (*r->at && *r->at != '\n')
        r->at++;
}

void skip(struct reader *r) {
    for (;; r->at++) {
        if (r->at[0] == '/' && r->at[1] == '/')
            skip_line(r);
        if (*r->at == '\n')
            r->line++;
        if (!isspace((unsigned char)*r->at))
            return;
    }
}

bool accept(struct reader *r, char c) {
    skip(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

void expect(struct reader *r, char c) {
    const char wanted[2] = {c, '\0'};
    if (!accept(r, c))
        refuse(r, "this is missing:", wanted);
}

bool take_name(struct reader *r, char *out, size_t size) {
    size_t length = 0;
    skip(r);
    while (isalnum((unsigned char)*r->at) || (*r->at && strchr("_$%.:", *r->at))) {
        if (*r->at == ':' && r->at[1] != ':' && (length == 0 || r->at[-1] != ':'))
            break; /* of a label */
        if (length + 1 < size)
            out[length++] = *r->at;
        r->at++;
    }
    out[length] = '\0';
    return length > 0;
}

/* An integer, or the bits of a number as 0f3F800000 or 0d3FF0000000000000. */
uint64_t take_number(struct reader *r) {
    char *end;
    uint64_t value;
    skip(r);
    const bool minus = *r->at == '-';
    const char *digits = r->at + (*r->at == '-' || *r->at == '+');
    if (digits[0] == '0' && digits[1] && strchr("fFdD", digits[1]))
        value = strtoull(digits + 2, &end, 16);
    else
        value = strtoull(digits, &end, 0);
    if (end == digits)
        refuse(r, "a number is missing", "");
    while (*end == 'U')
        end++;
    r->at = end;
    return minus ? 0 - value : value;
}

/* ---- symbols ------------------------------------------------------------------------ */

void add_symbol(struct reader *r, bool of_module, const char *name, enum origin origin,
                uint64_t offset) {
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

/* ".align 16 .b8 name[32]" behind the space. */
static void read_memory(struct reader *r, struct memory *m) {
    char word[NAME_MAX_];
    *m = (struct memory){.align = 1};
    while (take_name(r, word, sizeof word) && word[0] == '.')
        if (strcmp(word, ".align") == 0)
            m->align = (size_t)take_number(r);
        else if (strcmp(word, ".ptr") != 0)
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

static size_t aligned(size_t at, size_t align) {
    return (at + align - 1) / align * align;
}

/* Arrays of shared memory that belong to the module belong to every kernel. */
static void read_shared(struct reader *r) {
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

static void read_local(struct reader *r) {
    struct memory m;
    read_memory(r, &m);
    expect(r, ';');
    const size_t at = aligned(r->code->local, m.align);
    add_symbol(r, false, m.name, FROM_LOCAL, at);
    r->code->local = at + m.bytes;
}

/* Data of the module: zeros, or the numbers in braces. */
static void read_global(struct reader *r) {
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

/* ---- instructions -------------------------------------------------------------------- */

/* Takes operands over into memory that has just their size. */
static void trim(struct reader *r, struct ins *ins) {
    uint32_t *arg = realloc(ins->arg, (ins->args + 1u) * sizeof *arg);
    int32_t *offset = realloc(ins->offset, (ins->args + 1u) * sizeof *offset);
    if (!arg || !offset)
        refuse(r, "no memory for", ins->name);
    ins->arg = arg;
    ins->offset = offset;
}

static void read_guard(struct reader *r, struct ins *ins) {
    char name[NAME_MAX_];
    ins->guard_negated = accept(r, '!');
    if (!take_name(r, name, sizeof name))
        refuse(r, "no predicate behind", "@");
    ins->guard = find_register(r, name);
}

static void read_instruction(struct reader *r, const char *known) {
    struct ptx_code *c = r->code;
    char name[160];
    struct ins ins = {.line = r->line, .file = r->file, .source_line = r->source_line};
    if (known)
        snprintf(name, sizeof name, "%s", known);
    else if (accept(r, '@')) {
        read_guard(r, &ins);
        (void)take_name(r, name, sizeof name);
    }
    ins.line = r->line;
    snprintf(ins.name, sizeof ins.name, "%.95s", name);
    if (!decode(&ins, name, strlen(name)))
        refuse(r, "the interpreter does not know the instruction", name);
    snprintf(ins.name, sizeof ins.name, "%.95s", name);
    read_operands(r, &ins);
    trim(r, &ins);
    if (ins.args == 2 && c->slot[ins.arg[1]].origin == FROM_SPECIAL &&
        c->slot[ins.arg[1]].value == CLOCK)
        ins.run = ptx_read_clock;
    c->ins = grow(r, c->ins, c->count, &c->room, sizeof *c->ins);
    c->ins[c->count++] = ins;
}

static void add_label(struct reader *r, const char *name) {
    if (r->labels == LABELS_MAX)
        refuse(r, "too many labels at", name);
    struct label *l = &r->label[r->labels++];
    snprintf(l->name, sizeof l->name, "%.63s", name);
    l->at = (uint32_t)r->code->count;
}

static void patch_jumps(struct reader *r) {
    for (size_t i = 0; i < r->jumps; i++) {
        int found = -1;
        for (int j = 0; j < r->labels && found < 0; j++)
            if (strcmp(r->label[j].name, r->jump[i].name) == 0)
                found = j;
        if (found < 0)
            refuse(r, "no such label:", r->jump[i].name);
        r->code->ins[r->jump[i].at].target = r->label[found].at;
    }
}

/* ".loc 1 209 0, function_name ..." */
static void read_loc(struct reader *r) {
    r->file = (int)take_number(r);
    r->source_line = (int)take_number(r);
    skip_line(r);
}

static void close_scope(struct reader *r) {
    while (r->declarations > 0 && r->declaration[r->declarations - 1].depth == r->depth)
        r->declarations--;
    r->depth--;
}

/* A word of a kernel that begins with a dot. */
static void read_inner(struct reader *r, const char *word) {
    char type[NAME_MAX_];
    if (strcmp(word, ".reg") == 0) {
        (void)take_name(r, type, sizeof type);
        declare(r);
    } else if (strcmp(word, ".loc") == 0) {
        read_loc(r);
    } else if (strcmp(word, ".shared") == 0) {
        read_shared(r);
    } else if (strcmp(word, ".local") == 0) {
        read_local(r);
    } else if (strcmp(word, ".pragma") == 0) {
        while (*r->at && *r->at != ';')
            r->at++;
        expect(r, ';');
    } else {
        refuse(r, "the interpreter does not know", word);
    }
}

static void read_statement(struct reader *r) {
    char word[160];
    if (accept(r, '{')) {
        r->depth++;
    } else if (accept(r, '}')) {
        close_scope(r);
    } else if (skip(r), *r->at == '@') {
        read_instruction(r, NULL);
    } else if (accept(r, ';')) {
        return;
    } else if (!take_name(r, word, sizeof word)) {
        const char here[2] = {*r->at, '\0'};
        refuse(r, "nothing can begin with", here);
    } else if (word[0] == '.') {
        read_inner(r, word);
    } else if (accept(r, ':')) {
        add_label(r, word);
    } else {
        read_instruction(r, word);
    }
}

static void read_body(struct reader *r) {
    r->depth = 1;
    while (r->depth > 0)
        read_statement(r);
    static const struct ins end = {.name = "ret"};
    struct ptx_code *c = r->code;
    c->ins = grow(r, c->ins, c->count, &c->room, sizeof *c->ins);
    c->ins[c->count] = end;
    (void)decode(&c->ins[c->count++], "ret", 3);
    patch_jumps(r);
}

/* ---- kernels ------------------------------------------------------------------------- */

static void read_params(struct reader *r) {
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

/* ".maxntid 256, 1, 1" and the like, up to the body. */
static void read_limits(struct reader *r) {
    char word[NAME_MAX_];
    unsigned product = 1;
    while (!accept(r, '{')) {
        if (!take_name(r, word, sizeof word))
            refuse(r, "no body of", r->kernel->name);
        const bool threads = strcmp(word, ".maxntid") == 0 || strcmp(word, ".reqntid") == 0;
        while (skip(r), isdigit((unsigned char)*r->at)) {
            const uint64_t value = take_number(r);
            product *= threads ? (unsigned)value : 1;
            (void)accept(r, ',');
        }
    }
    r->kernel->max_threads = product > 1 ? product : 1024;
}

static void read_kernel(struct reader *r) {
    struct ptx_kernel *k = calloc(1, sizeof *k);
    struct ptx_code *c = calloc(1, sizeof *c);
    if (!k || !c) {
        free(k);
        free(c);
        refuse(r, "no memory for", "a kernel");
    }
    k->next = r->module->kernels;
    k->code = c;
    r->module->kernels = r->kernel = k;
    r->code = c;
    c->dynamic_align = 1;
    c->data = r->module->data;
    c->data_bytes = r->module->data_bytes;
    c->file = r->module->file;
    c->files = (int)(sizeof r->module->file / sizeof *r->module->file);
    r->symbols = r->declarations = r->labels = 0;
    r->jumps = 0;
    r->file = r->source_line = 0;
    for (int i = 0; i < r->module->symbols; i++)
        if (r->module->symbol[i].origin == FROM_DYNAMIC &&
            r->module->symbol[i].offset > c->dynamic_align)
            c->dynamic_align = r->module->symbol[i].offset;
    (void)add_slot(r, FROM_VALUE, 1); /* 0: no guard */
    (void)take_name(r, k->name, sizeof k->name);
    read_params(r);
    read_limits(r);
    read_body(r);
    k->static_smem = c->smem;
    r->kernel = NULL;
    r->code = NULL;
}

/* ---- the module ---------------------------------------------------------------------- */

/* .file 1 "/tmp/dmma.cu" */
static void read_file(struct reader *r) {
    const uint64_t number = take_number(r);
    expect(r, '"');
    const char *begin = r->at;
    while (*r->at && *r->at != '"')
        r->at++;
    const size_t length = (size_t)(r->at - begin);
    char **to = &r->module->file[number % 64];
    free(*to);
    *to = calloc(1, length + 1);
    if (!*to)
        refuse(r, "no memory for", "names of files");
    memcpy(*to, begin, length);
    skip_line(r);
}

static void skip_braces(struct reader *r) {
    int depth = 0;
    do {
        skip(r);
        depth += (*r->at == '{') - (*r->at == '}');
        if (!*r->at)
            refuse(r, "the text ends too early", "");
        r->at++;
    } while (depth > 0);
}

static void read_target(struct reader *r) {
    char word[NAME_MAX_];
    (void)take_name(r, word, sizeof word);
    (void)sscanf(word, "sm_%d", &r->module->target);
    skip_line(r);
}

static void read_outer(struct reader *r) {
    char word[NAME_MAX_];
    if (!take_name(r, word, sizeof word))
        refuse(r, "a directive is missing", "");
    if (strcmp(word, ".version") == 0 || strcmp(word, ".address_size") == 0)
        skip_line(r);
    else if (strcmp(word, ".target") == 0)
        read_target(r);
    else if (strcmp(word, ".file") == 0)
        read_file(r);
    else if (strcmp(word, ".entry") == 0)
        read_kernel(r);
    else if (strcmp(word, ".shared") == 0)
        read_shared(r);
    else if (strcmp(word, ".global") == 0 || strcmp(word, ".const") == 0)
        read_global(r);
    else if (strcmp(word, ".section") == 0) {
        (void)take_name(r, word, sizeof word);
        skip_braces(r);
    } else if (strcmp(word, ".visible") != 0 && strcmp(word, ".extern") != 0 &&
               strcmp(word, ".weak") != 0)
        refuse(r, "the interpreter does not know", word);
}

struct ptx_module *ptx_parse(const char *text, char why[PTX_WHY]) {
    struct ptx_module *volatile m = calloc(1, sizeof *m);
    struct reader *volatile r = calloc(1, sizeof *r);
    snprintf(why, PTX_WHY, "no memory for a module");
    if (!m || !r)
        goto failed;
    *r = (struct reader){.module = m, .text = text, .at = text, .line = 1, .why = why};
    if (setjmp(r->out) != 0)
        goto failed;
    for (skip(r); *r->at; skip(r))
        read_outer(r);
    free(r->jump);
    free(r);
    return m;
failed:
    if (r)
        free(r->jump);
    free(r);
    ptx_free(m);
    return NULL;
}

static void free_code(struct ptx_code *c) {
    for (size_t i = 0; i < c->count; i++) {
        free(c->ins[i].arg);
        free(c->ins[i].offset);
    }
    free(c->ins);
    free(c->slot);
    free(c);
}

void ptx_free(struct ptx_module *m) {
    if (!m)
        return;
    for (struct ptx_kernel *k = m->kernels; k;) {
        struct ptx_kernel *next = k->next;
        free_code(k->code);
        free(k);
        k = next;
    }
    for (size_t i = 0; i < sizeof m->file / sizeof *m->file; i++)
        free(m->file[i]);
    free(m->data);
    free(m);
}

int ptx_target(const struct ptx_module *module) {
    return module->target;
}

const struct ptx_kernel *ptx_find(const struct ptx_module *module, const char *name) {
    for (const struct ptx_kernel *k = module->kernels; k; k = k->next)
        if (strcmp(k->name, name) == 0)
            return k;
    return NULL;
}
