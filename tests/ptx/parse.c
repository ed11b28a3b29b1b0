/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c - a module: its kernels, its memory, the names of its sources. See ptx.h. */
#include "tests/ptx/parse.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- kernels ---- */

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

/* ---- the module ---- */

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
