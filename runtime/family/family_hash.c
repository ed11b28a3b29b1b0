/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family_hash.c - the hash of a family: over everything that changes its kernels or its
 * space, and nothing that only people read. Left out are
 *   - comments, blank space and line ends in sources and parts,
 *   - blank space in space.json, its "about" and "meaning", and the clauses that explain
 *     its rules,
 *   - its "same_bits", which plans tell,
 *   - its "adapt", "sums" and the parameters that rules name, which only lookups read,
 *   - its "shape", which only the model reads, but for "tile_m": slots of rows are so high.
 * So a comment may be reworded, or a forecast mended: stored results stay current.
 */
#include "runtime/family/family_inside.h"

#include "core/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- code without comments ---------------------------------------------------------- */

/* Bytes of the comment at `at`; 0 when there is none. A backslash at the end of its line
 * continues a comment of "//". */
static size_t comment_at(const char *at) {
    size_t len = 2;
    if (strncmp(at, "/*", 2) == 0) {
        const char *end = strstr(at + 2, "*/");
        return end != NULL ? (size_t)(end + 2 - at) : strlen(at);
    }
    if (strncmp(at, "//", 2) != 0)
        return 0;
    while (at[len] != '\0' && at[len] != '\n')
        len += at[len] == '\\' && at[len + 1] == '\n' ? 2 : 1;
    return len;
}

/* Whether the character may begin a blank or a literal, or ends the text. */
static bool may_end_token(char c) {
    return (c >= '\0' && c <= ' ') || c == '"' || c == '\'' || c == '/' || c == '\\';
}

/* Bytes of the token at `at`: a string or character literal, or one character and the plain
 * ones after it. A literal without its closing quote ends with its line. */
static size_t token_at(const char *at) {
    size_t len = 1;
    if (*at != '"' && *at != '\'') {
        while (!may_end_token(at[len]))
            len++;
        return len;
    }
    while (at[len] != '\0' && at[len] != '\n' && at[len] != *at)
        len += at[len] == '\\' && at[len + 1] != '\0' ? 2 : 1;
    return len + (at[len] == *at);
}

void gt_code_blank_comments(char *code) {
    while (*code != '\0') {
        const size_t comment = comment_at(code);
        for (size_t i = 0; i < comment; i++)
            if (code[i] != '\n')
                code[i] = ' ';
        code += comment > 0 ? comment : token_at(code);
    }
}

/* Bytes of the blank at `at`: one space, a continued line's end, or a comment. */
static size_t blank_at(const char *at) {
    if (*at == ' ' || (*at >= '\t' && *at <= '\r')) /* \t \n \v \f \r */
        return 1;
    if (*at != '\\' && *at != '/')
        return 0;
    return strncmp(at, "\\\n", 2) == 0 ? 2 : comment_at(at);
}

/* The first place after the blanks at `at`. *new_line becomes true when a line ends in
 * them. */
static const char *past_blanks(const char *at, bool *new_line) {
    for (size_t len = blank_at(at); len > 0; len = blank_at(at)) {
        *new_line |= *at == '\n';
        at += len;
    }
    return at;
}

/* Raw strings, digraphs and trigraphs, which this file does not read. */
static bool has_rare_spelling(const char *code) {
    return strstr(code, "R\"") != NULL || strstr(code, "%:") != NULL ||
           strstr(code, "??") != NULL;
}

void gt_code_canonical(char *code) {
    bool new_line = true, directive = false;
    const char *end = code; /* end of the token before */
    char *to = code;
    if (has_rare_spelling(code))
        return;
    for (const char *token = past_blanks(end, &new_line); *token != '\0';
         token = past_blanks(end, &new_line)) {
        const bool starts_directive = new_line && *token == '#';
        const size_t len = token_at(token);
        if (to > code && new_line && (directive || starts_directive))
            *to++ = '\n';
        else if (to > code && token > end)
            *to++ = ' ';
        directive = starts_directive || (directive && !new_line);
        memmove(to, token, len);
        to += len;
        end = token + len;
        new_line = false;
    }
    *to = '\0';
}

static gt_status add_code(struct gt_hash *h, const char *code, struct gt_err *err) {
    char *copy = strdup(code);
    if (copy == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    gt_code_canonical(copy);
    gt_hash_add_text(h, copy);
    free(copy);
    return GEMMTUNE_OK;
}

/* ---- space.json --------------------------------------------------------------------- */

static void add_scalar(struct gt_hash *h, struct gt_node n) {
    const char *text = "";
    char number[32];
    double value = 0;
    if (gt_json_kind(n) == GT_JSON_STRING && gt_json_string(&text, n, NULL) == GEMMTUNE_OK)
        gt_hash_add_text(h, text);
    if (gt_json_kind(n) != GT_JSON_NUMBER)
        return;
    (void)gt_json_double(&value, n, NULL);
    (void)snprintf(number, sizeof number, "%.17g", value);
    gt_hash_add_text(h, number);
}

/* A value: its kind, how many members it has, its text or number, its members. */
static void add_value(struct gt_hash *h, struct gt_node n) {
    char head[48];
    (void)snprintf(head, sizeof head, "%d %zu", (int)gt_json_kind(n), gt_json_count(n));
    gt_hash_add_text(h, head);
    add_scalar(h, n);
    for (size_t i = 0; i < gt_json_count(n); i++) {
        gt_hash_add_text(h, gt_json_key(gt_json_at(n, i)));
        add_value(h, gt_json_at(n, i));
    }
}

/* The conditions of a list of rules; each rule is a condition and a clause for people. */
static void add_rules(struct gt_hash *h, struct gt_node rules) {
    for (size_t i = 0; i < gt_json_count(rules); i++)
        add_value(h, gt_json_at(gt_json_at(rules, i), 0));
}

/* Keys that do not count. */
static bool is_left_out(const char *key) {
    static const char *const keys[] = {"about", "meaning", "adapt", "same_bits", "sums"};
    bool out = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        out = out || strcmp(key, keys[i]) == 0;
    return out;
}

static void add_space(struct gt_hash *h, struct gt_node root) {
    for (size_t i = 0; i < gt_json_count(root); i++) {
        const struct gt_node n = gt_json_at(root, i);
        const char *key = gt_json_key(n);
        if (is_left_out(key))
            continue;
        gt_hash_add_text(h, key);
        if (strcmp(key, "require") == 0 || strcmp(key, "accept") == 0)
            add_rules(h, n);
        else if (strcmp(key, "shape") == 0)
            add_value(h, gt_json_member(n, "tile_m"));
        else
            add_value(h, n);
    }
}

/* ---- the family --------------------------------------------------------------------- */

/* The files of a template. A backend without one counts as an empty file. */
static gt_status add_source(struct gt_hash *h, const struct gt_template *file,
                            struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    int i = 0;
    do
        status = add_code(h, file[i].text != NULL ? file[i].text : "", err);
    while (++i < GT_TEMPLATES_MAX && file[i].name != NULL && status == GEMMTUNE_OK);
    return status;
}

gt_status gt_family_set_hash(struct gt_family *f, struct gt_node space,
                             const char *(*part_text)(int part), struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    struct gt_hash h;
    gt_hash_init(&h);
    add_space(&h, space);
    for (int i = 0; i < GT_BACKENDS && status == GEMMTUNE_OK; i++)
        status = add_source(&h, f->source[i], err);
    for (int i = 0; gt_part_name(i) != NULL && status == GEMMTUNE_OK; i++)
        if ((f->uses & UINT64_C(1) << i) != 0)
            status = add_code(&h, part_text(i), err);
    gt_hash_hex(&h, f->hash);
    return status;
}
