/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expr.c - parses a text to a tree in one array, and writes the tree as C.
 *
 *   expr    = binary(1) [ "?" expr ":" expr ]
 *   binary(p) = unary { operator of precedence >= p, binary(that + 1) }
 *   unary   = ( "-" | "!" ) unary | primary
 *   primary = number | NAME | "sizeof" "(" word ")" | "(" expr ")"
 *           | ( "min" | "max" | "cdiv" ) "(" expr "," expr ")"
 *
 * Every node takes at least one character, so a text of n bytes has at most n nodes.
 */
#include "core/expr_inside.h"

#include "core/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parentheses, calls, unary operators and ?: inside one another. */
enum { DEPTH_MAX = 64 };

/* A longer operator stands before its own beginning: "<=" before "<". */
static const struct binary {
    const char *text;
    enum gt_expr_op op;
    int precedence; /* higher binds tighter; as in C */
} binaries[] = {
    {"||", GT_EXPR_OR, 1}, {"&&", GT_EXPR_AND, 2}, {"==", GT_EXPR_EQ, 3},
    {"!=", GT_EXPR_NE, 3}, {"<=", GT_EXPR_LE, 4},  {">=", GT_EXPR_GE, 4},
    {"<", GT_EXPR_LT, 4},  {">", GT_EXPR_GT, 4},   {"+", GT_EXPR_ADD, 5},
    {"-", GT_EXPR_SUB, 5}, {"*", GT_EXPR_MUL, 6},  {"/", GT_EXPR_DIV, 6},
    {"%", GT_EXPR_MOD, 6},
};

static const struct call {
    const char *text, *c;
    enum gt_expr_op op;
} calls[] = {
    {"min", "GT_MIN", GT_EXPR_MIN},
    {"max", "GT_MAX", GT_EXPR_MAX},
    {"cdiv", "GT_CDIV", GT_EXPR_CDIV},
};

enum {
    BINARY_COUNT = sizeof binaries / sizeof *binaries,
    CALL_COUNT = sizeof calls / sizeof *calls
};

/* ---- symbols --------------------------------------------------------------- */

static bool is_symbol(const char *name) {
    static const char *const sizes[] = {"sizeof(A)", "sizeof(B)", "sizeof(C)",
                                        "sizeof(ACC)"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (strcmp(name, sizes[i]) == 0)
            return true;
    return gt_point_is_name(name, strlen(name));
}

int gt_symbols_find(const struct gt_symbols *s, const char *name) {
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->name[i], name) == 0)
            return i;
    return -1;
}

gt_status gt_symbols_add(int *slot, struct gt_symbols *s, const char *name,
                         struct gt_err *err) {
    if (!is_symbol(name))
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "\"%s\" is not a name (A-Z, then A-Z 0-9 _, at most %d bytes)", name,
                       GT_NAME_MAX - 1);
    if (gt_symbols_find(s, name) >= 0)
        return gt_fail(err, GEMMTUNE_EINVAL, "%s is defined a second time", name);
    if (s->count == GT_SYMBOLS_MAX)
        return gt_fail(err, GEMMTUNE_EINVAL, "no room for %s: at most %d names", name,
                       GT_SYMBOLS_MAX);
    memcpy(s->name[s->count], name, strlen(name) + 1);
    *slot = s->count++;
    return GEMMTUNE_OK;
}

/* ---- parsing ---------------------------------------------------------------
 * Each function takes the construct of its name from the text. It returns the index of the
 * node, or -1 with the line written. */

struct parser {
    struct gt_expr *e;
    struct gt_expr_node *node; /* the nodes of e */
    const struct gt_symbols *symbols;
    const char *at; /* in e->text */
    int depth;
    struct gt_err *err;
};

static int parse_expr(struct parser *p);

static void skip_space(struct parser *p) {
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')
        p->at++;
}

static int column(const struct parser *p, const char *at) {
    return (int)(at - p->e->text) + 1;
}

/* Fails with the thing that was expected at the parser's place. */
static int fail_expected(struct parser *p, const char *what) {
    const size_t len = gt_text_utf8(p->at, strlen(p->at));
    char found[16] = "the end";
    if (*p->at != '\0')
        (void)snprintf(found, sizeof found, "'%.*s'", (int)len, p->at);
    (void)gt_fail(p->err, GEMMTUNE_EPARSE, "expected %s, not %s, at column %d of \"%s\"",
                  what, found, column(p, p->at), p->e->text);
    return -1;
}

static bool accept(struct parser *p, const char *text) {
    skip_space(p);
    const size_t len = strlen(text);
    if (strncmp(p->at, text, len) != 0)
        return false;
    p->at += len;
    return true;
}

static bool expect(struct parser *p, const char *text) {
    if (accept(p, text))
        return true;
    char what[8];
    (void)snprintf(what, sizeof what, "'%s'", text);
    (void)fail_expected(p, what);
    return false;
}

static int add_node(struct parser *p, struct gt_expr_node node) {
    p->node[p->e->count] = node;
    return p->e->count++;
}

static bool enter(struct parser *p) {
    if (p->depth++ < DEPTH_MAX)
        return true;
    (void)gt_fail(p->err, GEMMTUNE_EPARSE,
                  "nested more than %d deep at column %d of \"%s\"", DEPTH_MAX,
                  column(p, p->at), p->e->text);
    return false;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_word_char(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || is_digit(c) || c == '_';
}

static size_t word_length(const char *at) {
    size_t len = 0;
    while (is_word_char(at[len]))
        len++;
    return len;
}

static int parse_number(struct parser *p) {
    const size_t len = word_length(p->at);
    struct gt_expr_node node = {.op = GT_EXPR_NUMBER};
    if (!gt_text_int(&node.number, p->at, len)) {
        (void)gt_fail(
            p->err, GEMMTUNE_EPARSE,
            "\"%.*s\" is not a decimal integer of 64 bits, at column %d of \"%s\"",
            (int)len, p->at, column(p, p->at), p->e->text);
        return -1;
    }
    p->at += len;
    return add_node(p, node);
}

/* Adds a node for the word of len bytes at `word`. The table holds a word inside sizeof as
 * "sizeof(word)". */
static int add_symbol(struct parser *p, enum gt_expr_op op, const char *word, size_t len) {
    char name[GT_EXPR_TEXT_MAX + 8];
    (void)snprintf(name, sizeof name, op == GT_EXPR_SIZEOF ? "sizeof(%.*s)" : "%.*s",
                   (int)len, word);
    const int slot = gt_symbols_find(p->symbols, name);
    if (slot < 0) {
        (void)gt_fail(p->err, GEMMTUNE_EPARSE, "unknown name \"%s\" at column %d of \"%s\"",
                      name, column(p, word), p->e->text);
        return -1;
    }
    return add_node(p, (struct gt_expr_node){.op = op,
                                             .slot = (int16_t)slot,
                                             .name = (int16_t)(word - p->e->text),
                                             .len = (int16_t)len});
}

static int parse_sizeof(struct parser *p) {
    if (!expect(p, "("))
        return -1;
    skip_space(p);
    const char *word = p->at;
    const size_t len = word_length(word);
    if (len == 0)
        return fail_expected(p, "A, B, C or ACC");
    p->at += len;
    return expect(p, ")") ? add_symbol(p, GT_EXPR_SIZEOF, word, len) : -1;
}

/* Takes operand i of the node. */
static bool parse_operand(struct gt_expr_node *node, int i, struct parser *p) {
    const int at = parse_expr(p);
    node->arg[i] = (int16_t)at;
    return at >= 0;
}

static int parse_call(struct parser *p, enum gt_expr_op op) {
    struct gt_expr_node node = {.op = op};
    if (!expect(p, "(") || !parse_operand(&node, 0, p) || !expect(p, ",") ||
        !parse_operand(&node, 1, p) || !expect(p, ")"))
        return -1;
    return add_node(p, node);
}

static int parse_word(struct parser *p) {
    const char *word = p->at;
    const size_t len = word_length(word);
    p->at += len;
    for (int i = 0; i < CALL_COUNT; i++)
        if (len == strlen(calls[i].text) && memcmp(word, calls[i].text, len) == 0)
            return parse_call(p, calls[i].op);
    if (len == strlen("sizeof") && memcmp(word, "sizeof", len) == 0)
        return parse_sizeof(p);
    return add_symbol(p, GT_EXPR_SYMBOL, word, len);
}

static int parse_primary(struct parser *p) {
    skip_space(p);
    if (is_digit(*p->at))
        return parse_number(p);
    if (is_word_char(*p->at))
        return parse_word(p);
    if (!accept(p, "("))
        return fail_expected(p, "a number, a name or '('");
    const int inner = parse_expr(p);
    return inner >= 0 && expect(p, ")") ? inner : -1;
}

static int parse_unary(struct parser *p) {
    struct gt_expr_node node = {.op = accept(p, "-")   ? GT_EXPR_NEGATE
                                      : accept(p, "!") ? GT_EXPR_NOT
                                                       : GT_EXPR_NUMBER};
    if (node.op == GT_EXPR_NUMBER)
        return parse_primary(p);
    if (!enter(p))
        return -1;
    node.arg[0] = (int16_t)parse_unary(p);
    p->depth--;
    return node.arg[0] < 0 ? -1 : add_node(p, node);
}

/* The binary operator at the parser's place if it binds at least as tightly, else NULL. */
static const struct binary *accept_binary(struct parser *p, int precedence) {
    skip_space(p);
    for (int i = 0; i < BINARY_COUNT; i++) {
        const struct binary *b = &binaries[i];
        if (strncmp(p->at, b->text, strlen(b->text)) == 0)
            return b->precedence >= precedence && accept(p, b->text) ? b : NULL;
    }
    return NULL;
}

static int parse_binary(struct parser *p, int precedence) {
    int left = parse_unary(p);
    const struct binary *b = NULL;
    while (left >= 0 && (b = accept_binary(p, precedence)) != NULL) {
        const int right = parse_binary(p, b->precedence + 1);
        if (right < 0)
            return -1;
        left = add_node(
            p, (struct gt_expr_node){.op = b->op, .arg = {(int16_t)left, (int16_t)right}});
    }
    return left;
}

static int parse_expr(struct parser *p) {
    struct gt_expr_node node = {.op = GT_EXPR_IF};
    if (!enter(p))
        return -1;
    int result = parse_binary(p, 1);
    node.arg[0] = (int16_t)result;
    if (result >= 0 && accept(p, "?"))
        result = parse_operand(&node, 1, p) && expect(p, ":") && parse_operand(&node, 2, p)
                     ? add_node(p, node)
                     : -1;
    p->depth--;
    return result;
}

/* An expression without nodes, which has room for one a character of the text. */
static gt_status expr_create(struct gt_expr **out, struct gt_expr_node **node,
                             const char *text, struct gt_err *err) {
    const size_t len = strlen(text), nodes = len * sizeof **node;
    *out = NULL;
    if (len >= GT_EXPR_TEXT_MAX)
        return gt_fail(err, GEMMTUNE_EPARSE,
                       "an expression of %zu bytes, at most %d are allowed", len,
                       GT_EXPR_TEXT_MAX - 1);
    struct gt_expr *e = malloc(sizeof *e + nodes + len + 1);
    if (e == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory for an expression");
    *node = (struct gt_expr_node *)(e + 1);
    *e = (struct gt_expr){.node = *node,
                          .text = memcpy((char *)(e + 1) + nodes, text, len + 1)};
    *out = e;
    return GEMMTUNE_OK;
}

gt_status gt_expr_parse(struct gt_expr **out, const char *text,
                        const struct gt_symbols *symbols, struct gt_err *err) {
    struct parser p = {.symbols = symbols, .err = err};
    gt_status status = expr_create(&p.e, &p.node, text, err);
    *out = NULL;
    if (status != GEMMTUNE_OK)
        return status;
    p.at = p.e->text;
    p.e->root = parse_expr(&p);
    status = p.e->root >= 0 ? GEMMTUNE_OK : GEMMTUNE_EPARSE;
    skip_space(&p);
    if (status == GEMMTUNE_OK && *p.at != '\0') {
        (void)fail_expected(&p, "an operator");
        status = GEMMTUNE_EPARSE;
    }
    if (status == GEMMTUNE_OK)
        *out = p.e;
    else
        gt_expr_destroy(p.e);
    return status;
}

void gt_expr_destroy(struct gt_expr *e) {
    free(e);
}

const char *gt_expr_text(const struct gt_expr *e) {
    return e->text;
}

bool gt_expr_uses(const struct gt_expr *e, int slot) {
    for (int i = 0; i < e->count; i++)
        if ((e->node[i].op == GT_EXPR_SYMBOL || e->node[i].op == GT_EXPR_SIZEOF) &&
            e->node[i].slot == slot)
            return true;
    return false;
}

/* ---- to C ------------------------------------------------------------------ */

struct writer {
    char *buf;
    size_t size;
    int len; /* length of the whole text, even when it does not fit */
};

static void put(struct writer *w, const char *fmt, ...) GT_PRINTF(2, 3);

static void put(struct writer *w, const char *fmt, ...) {
    const bool room = (size_t)w->len < w->size;
    va_list args;
    va_start(args, fmt);
    w->len += vsnprintf(room ? w->buf + w->len : NULL, room ? w->size - (size_t)w->len : 0,
                        fmt, args);
    va_end(args);
}

static void write_node(struct writer *w, const struct gt_expr *e, int at);

static void write_call(struct writer *w, const struct gt_expr *e,
                       const struct gt_expr_node *node) {
    int i = 0;
    while (calls[i].op != node->op)
        i++;
    put(w, "%s(", calls[i].c);
    write_node(w, e, node->arg[0]);
    put(w, ", ");
    write_node(w, e, node->arg[1]);
    put(w, ")");
}

static void write_binary(struct writer *w, const struct gt_expr *e,
                         const struct gt_expr_node *node) {
    int i = 0;
    while (binaries[i].op != node->op)
        i++;
    put(w, "(");
    write_node(w, e, node->arg[0]);
    put(w, " %s ", binaries[i].text);
    write_node(w, e, node->arg[1]);
    put(w, ")");
}

static void write_if(struct writer *w, const struct gt_expr *e,
                     const struct gt_expr_node *node) {
    put(w, "(");
    write_node(w, e, node->arg[0]);
    put(w, " ? ");
    write_node(w, e, node->arg[1]);
    put(w, " : ");
    write_node(w, e, node->arg[2]);
    put(w, ")");
}

static void write_unary(struct writer *w, const struct gt_expr *e,
                        const struct gt_expr_node *node) {
    put(w, node->op == GT_EXPR_NEGATE ? "(-" : "(!");
    write_node(w, e, node->arg[0]);
    put(w, ")");
}

static void write_node(struct writer *w, const struct gt_expr *e, int at) {
    const struct gt_expr_node *node = &e->node[at];
    switch (node->op) {
    case GT_EXPR_NUMBER:
        put(w, "%" PRId64, node->number);
        break;
    case GT_EXPR_SYMBOL:
        put(w, "GT_%.*s", node->len, e->text + node->name);
        break;
    case GT_EXPR_SIZEOF:
        put(w, "GT_SIZEOF_%.*s", node->len, e->text + node->name);
        break;
    case GT_EXPR_NEGATE:
    case GT_EXPR_NOT:
        write_unary(w, e, node);
        break;
    case GT_EXPR_MIN:
    case GT_EXPR_MAX:
    case GT_EXPR_CDIV:
        write_call(w, e, node);
        break;
    case GT_EXPR_IF:
        write_if(w, e, node);
        break;
    default:
        write_binary(w, e, node);
    }
}

int gt_expr_c(const struct gt_expr *e, char *buf, size_t size) {
    struct writer w = {buf, size, 0};
    if (size > 0)
        buf[0] = '\0';
    write_node(&w, e, e->root);
    return w.len;
}
