/* SPDX-License-Identifier: Apache-2.0 */
/* epilogues.h - parsed epilogues, and random texts of them. Most of these are of the
 * language. */
#ifndef GT_TESTS_UNIT_EPILOGUES_H
#define GT_TESTS_UNIT_EPILOGUES_H

#include "core/epilogue/epilogue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The epilogue of a text that must be right. */
static inline struct gt_epilogue parsed(const char *text, gemmtune_dtype c,
                                        gemmtune_dtype acc) {
    struct gt_epilogue e;
    struct gt_err err = {""};
    if (gt_epilogue_parse(&e, text, c, acc, &err) != GEMMTUNE_OK)
        fail_msg("%s: %s", text, err.line);
    return e;
}

struct random_text {
    uint64_t seed;
    char text[1024];
    size_t len;
};

static inline unsigned draw(uint64_t *seed, unsigned below) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(*seed >> 33) % below;
}

static inline void write_text(struct random_text *r, const char *text) {
    const size_t len = strlen(text);
    if (r->len + len < sizeof r->text) {
        memcpy(r->text + r->len, text, len + 1);
        r->len += len;
    }
}

static inline const char *any_of(struct random_text *r, const char *const *words,
                                 unsigned count) {
    return words[draw(&r->seed, count)];
}

static inline void write_expression(struct random_text *r, int depth);

static inline void write_leaf(struct random_text *r) {
    static const char *const leaves[] = {"x",     "x",        "acc",     "c",     "alpha",
                                         "beta",  "s",        "bias[j]", "sa[i]", "up[i,j]",
                                         "1",     "0.5",      "3",       "1.5e0", "100e-2",
                                         "1e-20", "0.044715", "7",       "0",     "127"};
    write_text(r, any_of(r, leaves, sizeof leaves / sizeof *leaves));
}

static inline void write_call(struct random_text *r, int depth) {
    static const char *const names[] = {"abs",       "relu", "exp",  "log",  "tanh",
                                        "erf",       "sqrt", "gelu", "silu", "sigmoid",
                                        "gelu_tanh", "f16",  "bf16", "e4m3", "e5m2",
                                        "i8",        "i32",  "min",  "max"};
    const unsigned i = draw(&r->seed, sizeof names / sizeof *names);
    write_text(r, names[i]);
    write_text(r, "(");
    write_expression(r, depth - 1);
    if (i >= 17) {
        write_text(r, ",");
        write_expression(r, depth - 1);
    }
    write_text(r, ")");
}

static inline void write_bracketed(struct random_text *r, int depth) {
    const bool brackets = draw(&r->seed, 4) > 0;
    write_text(r, brackets ? "(" : "");
    write_expression(r, depth);
    write_text(r, brackets ? ")" : "");
}

static inline void write_select(struct random_text *r, int depth) {
    static const char *const signs[] = {"<", "<=", ">", ">=", "==", "!="};
    write_text(r, "(");
    write_bracketed(r, depth - 1);
    write_text(r, any_of(r, signs, 6));
    write_bracketed(r, depth - 1);
    write_text(r, "?");
    write_expression(r, depth - 1);
    write_text(r, ":");
    write_expression(r, depth - 1);
    write_text(r, ")");
}

static inline void write_expression(struct random_text *r, int depth) {
    static const char *const signs[] = {"+", "-", "*", "/"};
    const unsigned form = depth <= 0 ? 0 : draw(&r->seed, 9);
    if (form <= 1)
        write_leaf(r);
    else if (form <= 3)
        write_call(r, depth);
    else if (form == 4)
        write_select(r, depth);
    else if (form == 5) {
        write_text(r, "-");
        write_bracketed(r, depth - 1);
    } else {
        write_bracketed(r, depth - 1);
        write_text(r, any_of(r, signs, 4));
        write_bracketed(r, depth - 1);
    }
}

/* Declares the operands that the text names. */
static inline void write_declarations(struct random_text *r, const char *body) {
    static const struct {
        const char *named, *declared;
    } operands[] = {{"bias[j]", "bias[j]"}, {"sa[i]", "sa[i]"}, {"up[i,j]", "up[i,j]"}};
    static const char *const types[] = {":f32;", ":f16;",  ":bf16;",
                                        ":i8;",  ":e4m3;", ":i32;"};
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++)
        if (strstr(body, operands[i].named) != NULL) {
            write_text(r, operands[i].declared);
            write_text(r, any_of(r, types, 6));
        }
    for (const char *c = body; *c != '\0'; c++)
        if (*c == 's' && strchr("+-*/(,=<>?:", c[-1]) != NULL &&
            strchr("+-*/),=<>?:;!", c[1]) != NULL) {
            write_text(r, "s:f32;");
            return;
        }
}

/* A text that often has a local and a second output. */
static inline void write_random_epilogue(struct random_text *r, int depth) {
    struct random_text body = {.seed = r->seed};
    const bool local = draw(&body.seed, 3) == 0;
    if (local) {
        write_text(&body, "t=");
        write_expression(&body, depth - 1);
        write_text(&body, ";");
    }
    write_text(&body, "d=");
    write_expression(&body, depth);
    if (local) {
        write_text(&body, draw(&body.seed, 2) == 0 ? "*t" : "+t;d2=t/2");
    }
    r->seed = body.seed;
    r->len = 0;
    r->text[0] = '\0';
    write_declarations(r, body.text);
    write_text(r, body.text);
}

#endif
