/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family_source.c - the parts of templates/common/ that a family uses, and three checks of
 * its kernels: their parameters, their first statement, their atomics. A kernel with other
 * parameters than "args" would read wrong arguments. A kernel that overlaps without waiting
 * is wrong only now and then. Sums by atomics have another order in each run. All are
 * refused here.
 */
#include "runtime/family/family_inside.h"

#include "core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the parts ---------------------------------------------------------------------- */

static const char *past(const char *text, const char *chars) {
    return text + strspn(text, chars);
}

/* Reads a line "#define GT_<NAME> <integer>": the name and the value. */
static bool read_constant(char name[GT_NAME_MAX], int64_t *value, const char *line) {
    static const char head[] = "#define GT_", blanks[] = " \t";
    if (strncmp(line, head, sizeof head - 1) != 0)
        return false;
    line += sizeof head - 1;
    const size_t len = strcspn(line, " \t\n");
    if (!gt_point_is_name(line, len))
        return false;
    memcpy(name, line, len);
    name[len] = '\0';
    line = past(line + len, blanks);
    const size_t digits = strspn(line, "0123456789");
    return gt_text_int(value, line, digits) && strchr(" \t\r\n", line[digits]) != NULL;
}

/* Adds the integer macros of a part as names that expressions may use. */
static gt_status add_constants(struct gt_family *f, const char *text, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (const char *line = text; line != NULL && status == GEMMTUNE_OK;) {
        char name[GT_NAME_MAX];
        int64_t value;
        if (f->constant_count < GT_CONSTANTS_MAX && read_constant(name, &value, line)) {
            struct gt_constant *c = &f->constant[f->constant_count++];
            c->value = value;
            status = gt_symbols_add(&c->slot, &f->symbols, name, err);
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return status;
}

static gt_status read_part(uint64_t *set, struct gt_node n, struct gt_err *err) {
    const char *name;
    const gt_status status = gt_json_string(&name, n, err);
    if (status != GEMMTUNE_OK)
        return status;
    const uint64_t bit = gt_part_bit(name);
    if (bit == 0)
        return gt_json_fail(n, err, "\"%s\" is not a part of templates/common", name);
    if ((*set & bit) != 0)
        return gt_json_fail(n, err, "\"%s\" is listed twice", name);
    *set |= bit;
    return GEMMTUNE_OK;
}

/* A family without "uses" may use all parts. */
gt_status gt_parse_uses(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    const bool absent = gt_json_kind(n) == GT_JSON_ABSENT;
    uint64_t set = absent ? UINT64_MAX : 0;
    gt_status status =
        absent ? GEMMTUNE_OK : gt_read_list(n, GT_JSON_ARRAY, 0, GT_PARTS_MAX, err);
    for (size_t i = 0; !absent && i < gt_json_count(n) && status == GEMMTUNE_OK; i++)
        status = read_part(&set, gt_json_at(n, i), err);
    f->uses = gt_parts_closed(set);
    for (int i = 0; gt_part_name(i) != NULL && status == GEMMTUNE_OK; i++)
        if ((f->uses & ~(uint64_t)GT_PARTS_ALWAYS & UINT64_C(1) << i) != 0)
            status = add_constants(f, gt_part_text(i), err);
    return status;
}

/* ---- the kernels -------------------------------------------------------------------- */

/* The characters that separate words; a backslash continues a line. */
static const char blank[] = " \t\r\n\\";

/* The place after the parenthesis that closes the one at `at`; NULL when none does. */
static const char *past_parentheses(const char *at) {
    int depth = 0;
    for (; *at != '\0'; at++) {
        depth += (*at == '(') - (*at == ')');
        if (depth == 0)
            return at + 1;
    }
    return NULL;
}

/* Whether `word` stands at `at`, with blanks in it or not. If so, *at moves past it. */
static bool skip(const char **at, const char *word) {
    const char *c = past(*at, blank);
    for (; *word != '\0' && *c == *word; word++)
        c = past(c + 1, blank);
    if (*word == '\0')
        *at = c;
    return *word == '\0';
}

static bool begins(const char *at, const char *word) {
    return strncmp(at, word, strlen(word)) == 0;
}

/* The first statement of a kernel's body after the declarations of its shared memory. */
static const char *first_statement(const char *at) {
    while (begins(at, "GT_SHARED_ARRAY") || begins(at, "extern __shared__")) {
        const char *end = strchr(at, ';');
        if (end == NULL)
            break;
        at = past(end + 1, blank);
    }
    return at;
}

static int line_of(const char *text, const char *at) {
    int line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

static bool is_identifier(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

/* The error of the kernel that the parentheses at `at` name; NULL when there is
 * none. */
static const char *wrong_with(const struct gt_family *f, const char *at) {
    at = past_parentheses(at);
    if (at == NULL || !skip(&at, "(GT_PARAMS)"))
        return "a kernel must take (GT_PARAMS), the parameters that \"args\" lists";
    if (!skip(&at, "{"))
        return "a kernel's body must follow (GT_PARAMS)";
    at = first_statement(at);
    if (f->overlap && !skip(&at, "GT_FOLLOW();"))
        return "a kernel must begin with GT_FOLLOW(); where \"overlap\" is 1";
    if (f->batching == GT_BATCHING_GRID && !skip(&at, "GT_PRODUCT();"))
        return "a kernel must begin with GT_PRODUCT(); where \"batch\" is \"grid\"";
    return NULL;
}

static gt_status refuse(const char *name, int line, const char *what, struct gt_err *err) {
    return gt_fail(err, GEMMTUNE_EPARSE, "%s:%d: %s", name, line, what);
}

/* The parenthesis after the next GT_KERNEL, from `at` on; NULL: there is none. */
static const char *next_kernel(const char *text, const char *at) {
    static const char mark[] = "GT_KERNEL";
    for (at = strstr(at, mark); at != NULL; at = strstr(at, mark)) {
        const bool whole = at == text || !is_identifier(at[-1]);
        at += sizeof mark - 1;
        if (whole && *at == '(')
            return at;
    }
    return NULL;
}

const char *gt_kernel_body(const char *code, const char *at) {
    for (at = next_kernel(code, at); at != NULL; at = next_kernel(code, at)) {
        const char *body = past_parentheses(at);
        if (body != NULL && skip(&body, "(GT_PARAMS)") && *body == '{')
            return body + 1;
    }
    return NULL;
}

/* The first place of `word` that does not continue another word, as "red." does in
 * "shared.global". */
static const char *find_word(const char *text, const char *word) {
    const char *at = strstr(text, word);
    while (at != NULL && at > text &&
           ((is_identifier(at[-1]) && at[-1] != '_') || at[-1] == '.'))
        at = strstr(at + 1, word);
    return at;
}

const char *gt_code_atomic(const char *code) {
    static const char *const words[] = {"atomic", "atom_",        "atom.",
                                        "red.",   "multimem.red", "cp.reduce"};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *const at = find_word(code, words[i]);
        if (at != NULL && (first == NULL || at < first))
            first = at;
    }
    return first;
}

static gt_status check_text(const struct gt_family *f, const char *name, const char *text,
                            struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    const char *follow = strstr(text, "GT_FOLLOW"), *atomic = gt_code_atomic(text);
    if (!f->says_bits && atomic != NULL)
        return refuse(name, line_of(text, atomic),
                      "a template with atomics must say in \"same_bits\" whether sums have "
                      "the same order in every run",
                      err);
    if (!f->overlap && follow != NULL)
        return refuse(name, line_of(text, follow),
                      "GT_FOLLOW() is for families whose \"overlap\" is 1", err);
    for (const char *at = next_kernel(text, text); at != NULL && status == GEMMTUNE_OK;
         at = next_kernel(text, at)) {
        const char *what = wrong_with(f, at);
        if (what != NULL)
            status = refuse(name, line_of(text, at), what, err);
    }
    return status;
}

static gt_status check_file(const struct gt_family *f, const struct gt_template *file,
                            struct gt_err *err) {
    char *text = strdup(file->text);
    if (text == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    gt_code_blank_comments(text);
    const gt_status status = check_text(f, file->name, text, err);
    free(text);
    return status;
}

gt_status gt_family_check_sources(const struct gt_family *f, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < GT_BACKENDS; i++)
        for (int j = 0; j < GT_TEMPLATES_MAX && status == GEMMTUNE_OK; j++)
            if (f->source[i][j].name != NULL)
                status = check_file(f, &f->source[i][j], err);
    return status;
}
