/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem_name.c - a problem's name: read and written. problem.h has the grammar.
 */
#include "core/problem/problem.h"

#include "core/epilogue/epilogue.h"
#include "core/problem/packed.h"
#include "core/text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *const gt_layout_words[GT_LAYOUTS + 1] = {"nn", "nt", "tn", "tt", NULL};

/* ---- types, layout and sizes ----------------------------------------------- */

static gt_status take_types(gemmtune_problem *p, struct gt_reader *r, struct gt_err *err) {
    const struct gt_piece piece = gt_piece_take(r, "-");
    return gt_types_from_word(p, piece.text, (size_t)piece.len, err);
}

static gt_status take_layout(gemmtune_problem *p, struct gt_reader *r, struct gt_err *err) {
    const struct gt_piece piece = gt_piece_take(r, "-");
    for (int i = 0; i < GT_LAYOUTS; i++) {
        if (gt_piece_is(piece, gt_layout_words[i])) {
            p->trans_a = i / 2 ? GEMMTUNE_TRANS : GEMMTUNE_NOTRANS;
            p->trans_b = i % 2 ? GEMMTUNE_TRANS : GEMMTUNE_NOTRANS;
            return GEMMTUNE_OK;
        }
    }
    return gt_fail(err, GEMMTUNE_EPARSE, "layout \"%.*s\" is not nn, nt, tn or tt",
                   piece.len, piece.text);
}

static gt_status read_number(int64_t *out, const char *what, struct gt_piece piece,
                             int64_t least, int64_t most, struct gt_err *err) {
    int64_t value;
    if (!gt_text_int(&value, piece.text, (size_t)piece.len) || value < least ||
        value > most)
        return gt_fail(err, GEMMTUNE_EPARSE,
                       "%s \"%.*s\" is not a number from %" PRId64 " to %" PRId64, what,
                       piece.len, piece.text, least, most);
    *out = value;
    return GEMMTUNE_OK;
}

static gt_status take_sizes(gemmtune_problem *p, struct gt_reader *r, struct gt_err *err) {
    const struct {
        const char *what;
        int64_t *value;
        char stop; /* the separator that must follow; ',' accepts the end as well */
    } sizes[] = {{"m", &p->m, 'x'}, {"n", &p->n, 'x'}, {"k", &p->k, ','}};
    for (size_t i = 0; i < 3; i++) {
        const struct gt_piece piece = gt_piece_take(r, "x,");
        gt_status status =
            read_number(sizes[i].value, sizes[i].what, piece, 0, GT_DIM_MAX, err);
        if (status == GEMMTUNE_OK && piece.stop != sizes[i].stop &&
            (piece.stop != '\0' || sizes[i].stop != ','))
            status =
                gt_fail(err, GEMMTUNE_EPARSE,
                        "\"%.*s\" is followed by %s: the sizes are <m>x<n>x<k>", piece.len,
                        piece.text, piece.stop == '\0' ? "nothing" : "the wrong separator");
        if (status != GEMMTUNE_OK)
            return status;
    }
    return GEMMTUNE_OK;
}

/* ---- options --------------------------------------------------------------- */

#define AT(member) offsetof(gemmtune_problem, member)
#define ONE        GEMMTUNE_BATCH_STRIDED
#define POINTERS   GEMMTUNE_BATCH_POINTERS
#define GROUPED    GEMMTUNE_GROUPED_ROWS
#define MASKED     GEMMTUNE_MASKED_ROWS

/* clang-format off */
const struct gt_problem_option gt_problem_options[] = {
    /* name       kind            member             least most     batch_kind */
    {"lda",       GT_NAME_NUMBER, AT(lda),           1, GT_DIM_MAX, ONE},
    {"ldb",       GT_NAME_NUMBER, AT(ldb),           1, GT_DIM_MAX, ONE},
    {"ldc",       GT_NAME_NUMBER, AT(ldc),           1, GT_DIM_MAX, ONE},
    {"batch",     GT_NAME_NUMBER, AT(batch),         1, GT_DIM_MAX, ONE},
    {"groups",    GT_NAME_NUMBER, AT(batch),         1, GT_DIM_MAX, GROUPED},
    {"pointers",  GT_NAME_FLAG,   AT(batch_kind),    0, 0,          POINTERS},
    {"align",     GT_NAME_BYTES,  AT(pointer_align), 1, 1 << 30,    ONE},
    {"masked",    GT_NAME_FLAG,   AT(batch_kind),    0, 0,          MASKED},
    {"rows",      GT_NAME_NUMBER, AT(expected_rows), 1, GT_DIM_MAX, ONE},
    {"sa",        GT_NAME_NUMBER, AT(stride_a),      0, INT64_MAX,  ONE},
    {"sb",        GT_NAME_NUMBER, AT(stride_b),      0, INT64_MAX,  ONE},
    {"sc",        GT_NAME_NUMBER, AT(stride_c),      0, INT64_MAX,  ONE},
    {"beta",      GT_NAME_FLAG,   AT(reads_c),       0, 0,          ONE},
    {"packed_b",  GT_NAME_FLAG,   AT(packed_b),      0, 0,          ONE},
    {"row_order", GT_NAME_FLAG,   AT(row_order),     0, 0,          ONE},
    {"epi",       GT_NAME_TEXT,   AT(epilogue),      0, 0,          ONE},
    {NULL,        GT_NAME_FLAG,   0,                 0, 0,          ONE},
};
/* clang-format on */

enum { OPTIONS_TEXT_MAX = 256 }; /* length of the list of options in a message */

/* Whether the two rows set the same thing: the number of products, or the kind of batch. */
static bool excludes(const struct gt_problem_option *x, const struct gt_problem_option *y) {
    return x->offset == y->offset || (x->batch_kind != ONE && y->batch_kind != ONE);
}

static gt_status check_seen(unsigned seen, const struct gt_problem_option *option,
                            struct gt_err *err) {
    for (unsigned i = 0; gt_problem_options[i].name != NULL; i++) {
        const struct gt_problem_option *other = &gt_problem_options[i];
        if ((seen & 1U << i) == 0 || !excludes(option, other))
            continue;
        if (other == option)
            return gt_fail(err, GEMMTUNE_EPARSE, "%s is given a second time", option->name);
        return gt_fail(err, GEMMTUNE_EPARSE, "%s and %s exclude each other", other->name,
                       option->name);
    }
    return GEMMTUNE_OK;
}

gt_status gt_problem_set(gemmtune_problem *p, unsigned *seen,
                         const struct gt_problem_option *option, int64_t number,
                         const char *text, struct gt_err *err) {
    static const int32_t yes = 1;
    const uint32_t bytes = (uint32_t)number;
    char *member = (char *)p + option->offset;
    const gt_status status = check_seen(*seen, option, err);
    if (status != GEMMTUNE_OK)
        return status;
    *seen |= 1U << (option - gt_problem_options);
    if (option->kind == GT_NAME_NUMBER)
        memcpy(member, &number, sizeof number);
    else if (option->kind == GT_NAME_BYTES)
        memcpy(member, &bytes, sizeof bytes);
    else if (option->kind == GT_NAME_TEXT)
        memcpy(member, &text, sizeof text);
    else if (option->batch_kind == ONE)
        memcpy(member, &yes, sizeof yes);
    if (option->batch_kind != ONE)
        p->batch_kind = option->batch_kind;
    return GEMMTUNE_OK;
}

/* "lda= ldb= .. epi=" */
static void list_options(char line[OPTIONS_TEXT_MAX]) {
    int len = 0;
    for (const struct gt_problem_option *o = gt_problem_options; o->name != NULL; o++)
        len += snprintf(line + len, OPTIONS_TEXT_MAX - (size_t)len, "%s%s%s",
                        len > 0 ? " " : "", o->name, o->kind == GT_NAME_FLAG ? "" : "=");
}

static gt_status find_option(const struct gt_problem_option **out, struct gt_piece piece,
                             struct gt_err *err) {
    char line[OPTIONS_TEXT_MAX];
    const struct gt_problem_option *o = gt_problem_options;
    while (o->name != NULL && !gt_piece_is(piece, o->name))
        o++;
    *out = o;
    if (o->name != NULL && o->kind == GT_NAME_FLAG && piece.stop == '=')
        return gt_fail(err, GEMMTUNE_EPARSE, "%s takes no value", o->name);
    if (o->name != NULL && o->kind != GT_NAME_FLAG && piece.stop != '=')
        return gt_fail(err, GEMMTUNE_EPARSE, "%s needs a value, as in \"%s=%s\"", o->name,
                       o->name, o->kind == GT_NAME_TEXT ? "relu" : "16");
    if (o->name != NULL)
        return GEMMTUNE_OK;
    list_options(line);
    return gt_fail(err, GEMMTUNE_EPARSE, "\"%.*s\" is none of %s", piece.len, piece.text,
                   line);
}

static gt_status take_option(gemmtune_problem *p, unsigned *seen, struct gt_reader *r,
                             struct gt_err *err) {
    const struct gt_problem_option *option;
    int64_t number = 0;
    gt_status status = find_option(&option, gt_piece_take(r, "=,"), err);
    const char *text = r->at;
    if (status == GEMMTUNE_OK && option->kind <= GT_NAME_BYTES)
        status = read_number(&number, option->name, gt_piece_take(r, ","), option->least,
                             option->most, err);
    if (status == GEMMTUNE_OK && option->kind == GT_NAME_TEXT)
        (void)gt_piece_take(r, "");
    return status == GEMMTUNE_OK ? gt_problem_set(p, seen, option, number, text, err)
                                 : status;
}

/* ---- from a name ----------------------------------------------------------- */

static gt_status parse_name(gemmtune_problem *p, const char *name, struct gt_err *err) {
    struct gt_reader r = {name, name + strlen(name)};
    unsigned seen = 0;
    if (strlen(name) >= GT_PROBLEM_NAME_MAX)
        return gt_fail(err, GEMMTUNE_EPARSE, "longer than %d bytes",
                       GT_PROBLEM_NAME_MAX - 1);
    gt_status status = take_types(p, &r, err);
    if (status == GEMMTUNE_OK)
        status = take_layout(p, &r, err);
    if (status == GEMMTUNE_OK)
        status = take_sizes(p, &r, err);
    while (status == GEMMTUNE_OK && r.at[-1] == ',')
        status = take_option(p, &seen, &r, err);
    return status;
}

static gt_status read_name(gemmtune_problem *out, const char *name, struct gt_err *err) {
    gemmtune_problem p;
    gt_status status = gt_problem_init(&p, sizeof p, GEMMTUNE_F32, 0, 0, 0, err);
    p.layout = GEMMTUNE_ROW_MAJOR;
    if (status == GEMMTUNE_OK)
        status = parse_name(&p, name, err);
    if (status == GEMMTUNE_OK)
        status = gt_problem_settle(out, NULL, &p, err);
    return status == GEMMTUNE_EINVAL ? GEMMTUNE_EPARSE
                                     : status; /* the caller gave text, not an argument */
}

gt_status gt_problem_read_name(gemmtune_problem *out, const char *name,
                               struct gt_err *err) {
    const gt_status status = read_name(out, name, err);
    return status == GEMMTUNE_OK ? status
                                 : gt_fail_within(err, status, "problem \"%.200s\"", name);
}

gt_status gt_problem_from_name(gemmtune_problem *out, const char *name,
                               struct gt_err *err) {
    gemmtune_problem p;
    gt_status status = read_name(&p, name, err);
    if (status == GEMMTUNE_OK)
        status = gt_problem_supported(&p, err);
    if (status == GEMMTUNE_OK)
        status = gt_problem_keep(&p, err);
    if (status != GEMMTUNE_OK)
        return gt_fail_within(err, status, "problem \"%.200s\"", name);
    *out = p;
    return GEMMTUNE_OK;
}

/* ---- to a name ------------------------------------------------------------- */

const char *gt_problem_layout(const gemmtune_problem *p) {
    return gt_layout_words[2 * (p->trans_a != GEMMTUNE_NOTRANS) +
                           (p->trans_b != GEMMTUNE_NOTRANS)];
}

/* Writes ",lda=8" unless the value is the default; returns the new length. */
static int put_option(char *buf, int len, const char *what, int64_t value,
                      int64_t by_default) {
    if (value == by_default)
        return len;
    return len + snprintf(buf + len, GT_PROBLEM_NAME_MAX - (size_t)len, ",%s=%" PRId64,
                          what, value);
}

static int put_flag(char *buf, int len, const char *what, bool value) {
    return value ? len + snprintf(buf + len, GT_PROBLEM_NAME_MAX - (size_t)len, ",%s", what)
                 : len;
}

/* An operand's leading dimension and stride; a name has each unless there are no gaps. */
struct spacing {
    const char *ld_name, *stride_name;
    struct gt_shape shape;
    int64_t ld, ld_by_default, stride;
};

static int put_batch(char *buf, int len, const gemmtune_problem *p) {
    const bool grouped = p->batch_kind == GROUPED;
    len = put_option(buf, len, grouped ? "groups" : "batch", p->batch,
                     p->batch_kind == ONE ? 1 : INT64_MIN);
    len = put_flag(buf, len, "pointers", p->batch_kind == POINTERS);
    len = put_option(buf, len, "align", p->pointer_align, 0);
    len = put_flag(buf, len, "masked", p->batch_kind == MASKED);
    return put_option(buf, len, "rows", p->expected_rows, gt_problem_rows_by_default(p));
}

/* Writes the epilogue's canonical text. The problem is canonical, so it has one. */
static int put_epilogue(char *buf, int len, const gemmtune_problem *p) {
    char text[GT_EPILOGUE_MAX];
    const bool known =
        gt_epilogue_settle(text, p->epilogue, p->type_c, p->type_acc, NULL) == GEMMTUNE_OK;
    return len + snprintf(buf + len, GT_PROBLEM_NAME_MAX - (size_t)len, ",epi=%s",
                          known ? text : p->epilogue);
}

/* Writes types, layout and sizes, without printf: a database that is opened has a name to
 * check in every record. */
static int put_head(char buf[GT_PROBLEM_NAME_MAX], const gemmtune_problem *p) {
    const int64_t sides[] = {p->m, p->n, p->k};
    static const char *const ahead[] = {"-", "x", "x"};
    char number[GT_INT_TEXT_MAX];
    int len = gt_types_word(p, buf);
    len = gt_text_put(buf, GT_PROBLEM_NAME_MAX, len, "-");
    len = gt_text_put(buf, GT_PROBLEM_NAME_MAX, len, gt_problem_layout(p));
    for (int i = 0; i < 3; i++) {
        (void)gt_text_of_int(number, sides[i]);
        len = gt_text_put(buf, GT_PROBLEM_NAME_MAX, len, ahead[i]);
        len = gt_text_put(buf, GT_PROBLEM_NAME_MAX, len, number);
    }
    return len;
}

int gt_problem_name(const gemmtune_problem *p, char buf[GT_PROBLEM_NAME_MAX]) {
    const struct gt_shape a = gt_problem_shape_a(p), b = gt_problem_shape_b(p),
                          c = gt_problem_shape_c(p);
    const struct spacing spacings[] = {
        {"lda", "sa", a, p->lda, gt_shape_least_ld(a), p->stride_a},
        {"ldb", "sb", b, p->ldb, gt_packed_ld(p), p->stride_b},
        {"ldc", "sc", c, p->ldc, gt_shape_least_ld(c), p->stride_c},
    };
    int len = put_head(buf, p);
    for (const struct spacing *x = spacings; x < spacings + 3; x++)
        len = put_option(buf, len, x->ld_name, x->ld, x->ld_by_default);
    len = put_batch(buf, len, p);
    for (const struct spacing *x = spacings; x < spacings + 3; x++)
        len = put_option(buf, len, x->stride_name, x->stride, x->shape.rows * x->ld);
    len = put_flag(buf, len, "beta", p->reads_c != 0);
    len = put_flag(buf, len, "packed_b", p->packed_b != 0);
    len = put_flag(buf, len, "row_order", p->row_order != 0);
    if (p->epilogue != NULL)
        len = put_epilogue(buf, len, p);
    return len;
}

/* ---- public ---------------------------------------------------------------- */

int gemmtune_problem_format(const gemmtune_problem *p, char *buf, size_t size) {
    struct gt_err *err = gt_thread_err();
    err->line[0] = '\0';
    if (p == NULL || (buf == NULL && size > 0))
        return gt_fail(err, GEMMTUNE_EINVAL, "%s is NULL", p == NULL ? "problem" : "buf");
    gemmtune_problem canonical;
    const gt_status status = gt_problem_settle(&canonical, NULL, p, err);
    if (status != GEMMTUNE_OK)
        return status;
    char name[GT_PROBLEM_NAME_MAX];
    (void)gt_problem_name(&canonical, name);
    return snprintf(buf, size, "%s", name);
}

gemmtune_status gemmtune_problem_parse_sized(gemmtune_problem *p, size_t size,
                                             const char *name) {
    struct gt_err *err = gt_public_entry();
    gemmtune_problem canonical;
    if (p == NULL || name == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "%s is NULL", p == NULL ? "problem" : "name");
    gt_status status = gt_problem_read_name(&canonical, name, err);
    if (status == GEMMTUNE_OK)
        status = gt_problem_copy_out(p, size, &canonical, err);
    return status;
}
