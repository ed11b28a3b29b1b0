/* SPDX-License-Identifier: Apache-2.0 */
/* body.c - the body of a kernel: instructions, labels, registers. See ptx.h. */
#include "tests/ptx/parse.h"

#include <stdio.h>
#include <stdlib.h>

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

void read_body(struct reader *r) {
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
