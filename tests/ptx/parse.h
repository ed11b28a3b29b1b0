/* SPDX-License-Identifier: Apache-2.0 */
/* parse.h - what the files that read PTX share. See ptx.h. */
#ifndef GT_TESTS_PTX_PARSE_H
#define GT_TESTS_PTX_PARSE_H

#include "tests/ptx/code.h"

#include <setjmp.h>
#include <string.h>

enum { NAME_MAX_ = 64, SYMBOLS_MAX = 64, DECLS_MAX = 256, LABELS_MAX = 4096 };

/* A symbol: memory that has a name. */
struct symbol {
    char name[NAME_MAX_];
    enum origin origin;
    uint64_t offset;
};

/* ".reg .b32 %r<170>", or of one register when count is 0. */
struct declaration {
    char name[NAME_MAX_];
    uint32_t count, slot;
    int depth;
};

struct label {
    char name[NAME_MAX_];
    uint32_t at;
};

struct ptx_module {
    struct ptx_kernel *kernels;
    int target;
    struct symbol symbol[SYMBOLS_MAX]; /* of the whole module */
    int symbols;
    unsigned char *data; /* of global symbols */
    size_t data_bytes;
    char *file[64]; /* owned by the module; kernels point here */
};

struct reader {
    struct ptx_module *module;
    const char *text, *at;
    int line;
    jmp_buf out;
    char *why;
    /* of the kernel that is being read */
    struct ptx_kernel *kernel;
    struct ptx_code *code;
    struct symbol symbol[SYMBOLS_MAX];
    int symbols, depth, file, source_line;
    struct declaration declaration[DECLS_MAX];
    int declarations;
    struct label label[LABELS_MAX];
    int labels;
    struct label *jump; /* name of the label, number of the instruction */
    size_t jumps, jump_room;
};

/* ---- words.c ---- */

_Noreturn void refuse(struct reader *r, const char *what, const char *word);
/* grown_list, which refuses the module when there is no memory. */
void *grow(struct reader *r, void *old, size_t count, size_t *room, size_t size);
/* Blanks and comments. */
void skip(struct reader *r);
void skip_line(struct reader *r);
/* Whether this character comes next; it is passed over. */
bool accept(struct reader *r, char c);
void expect(struct reader *r, char c);
/* Copies a word of letters, digits and _ $ % . : to `out`; false when none is there. */
bool take_name(struct reader *r, char *out, size_t size);
/* An integer, or the bits of a number as 0f3F800000 or 0d3FF0000000000000. */
uint64_t take_number(struct reader *r);

/* ---- symbol.c: each begins after the word of the space ---- */

void read_shared(struct reader *r);
void read_local(struct reader *r);
/* Data of the module: zeros, or the numbers in braces. */
void read_global(struct reader *r);
/* All parameters of the kernel, with their parentheses. */
void read_params(struct reader *r);

/* ---- operand.c ---- */

uint32_t add_slot(struct reader *r, enum origin origin, uint64_t value);
/* ".reg .b32 %r<170>, %x;" after the type. */
void declare(struct reader *r);
/* Reads the operands of an instruction up to the semicolon. */
void read_operands(struct reader *r, struct ins *ins);
/* The slot of a predicate's name. */
uint32_t find_register(struct reader *r, const char *name);

/* ---- body.c ---- */

/* All statements of a kernel after its first brace, and that brace's partner. */
void read_body(struct reader *r);

#endif
