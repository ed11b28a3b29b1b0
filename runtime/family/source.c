/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c - the text that a compiler sees: macros, parts, rules, template. The template
 * keeps its lines, so the line numbers in a compiler's message hold for its file.
 */
#include "runtime/drivers/driver.h"
#include "runtime/family/epilogue_text.h"
#include "runtime/family/family_inside.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a growing text -------------------------------------------------------------- */

struct text {
    char *bytes;
    size_t length, room;
    bool failed; /* out of memory: the rest is dropped, and the end reports it */
};

static bool reserve(struct text *t, size_t more) {
    const size_t needed = t->length + more + 1;
    if (t->failed || needed <= t->room)
        return !t->failed;
    const size_t room = needed > 2 * t->room ? needed : 2 * t->room;
    char *grown = realloc(t->bytes, room);
    t->failed = grown == NULL;
    if (grown != NULL) {
        t->bytes = grown;
        t->room = room;
    }
    return !t->failed;
}

static void put_bytes(struct text *t, const char *piece, size_t length) {
    if (!reserve(t, length))
        return;
    memcpy(t->bytes + t->length, piece, length);
    t->length += length;
    t->bytes[t->length] = '\0';
}

static void put(struct text *t, const char *piece) {
    put_bytes(t, piece, strlen(piece));
}

GT_PRINTF(2, 3) static void putf(struct text *t, const char *fmt, ...) {
    char line[256]; /* names are short; expressions go through put_rule */
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    put(t, line);
}

static gt_status finish(char **out, struct text *t, struct gt_err *err) {
    *out = NULL;
    if (t->failed) {
        free(t->bytes);
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    }
    *out = t->bytes;
    return GEMMTUNE_OK;
}

/* ---- pieces ---------------------------------------------------------------------- */

/* Negative numbers stand in parentheses, so that GT_X-GT_Y stays a subtraction. Numbers
 * beyond 31 bits end in L, which makes them 64-bit integers in both languages. */
static void put_macro(struct text *t, const char *name, int64_t value) {
    const char *suffix = value > INT32_MAX || value < -INT32_MAX ? "L" : "";
    putf(t, value < 0 ? "#define %s (%" PRId64 "%s)\n" : "#define %s %" PRId64 "%s\n", name,
         value, suffix);
}

static void put_own_macro(struct text *t, const char *name, int64_t value) {
    char macro[GT_NAME_MAX + sizeof "GT_"];
    (void)snprintf(macro, sizeof macro, "GT_%s", name);
    put_macro(t, macro, value);
}

/* GT_DTYPE_F32 and the like: two mixes that compute alike must still differ in text. */
static void put_dtype(struct text *t, const struct gt_dtype *row) {
    char macro[GT_NAME_MAX] = "GT_DTYPE_";
    size_t length = strlen(macro);
    for (const char *c = row->name; *c != '\0' && length + 1 < sizeof macro; c++)
        macro[length++] =
            isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_';
    macro[length] = '\0';
    put_macro(t, macro, 1);
}

/* The types that types.h reads. */
static void put_types(struct text *t, const struct gt_dtype *row) {
    putf(t, "#define GT_TYPE_A %s\n", gt_type_name(row->a));
    putf(t, "#define GT_TYPE_B %s\n", gt_type_name(row->b));
    putf(t, "#define GT_TYPE_C %s\n", gt_type_name(row->c));
    putf(t, "#define GT_TYPE_ACC %s\n", gt_type_name(row->acc));
}

static void put_builtins(struct text *t, const struct gt_dtype *row, const int64_t *value) {
    if (row != NULL) {
        put_dtype(t, row);
        put_types(t, row);
    }
    for (int i = 0; i < GT_BUILTIN_COUNT; i++)
        if (gt_builtins[i].macro != NULL)
            put_macro(t, gt_builtins[i].macro, value[i]);
}

/* An expression as C. */
static void put_c(struct text *t, const struct gt_expr *expr) {
    const int length = gt_expr_c(expr, NULL, 0);
    char *text = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (text == NULL) {
        t->failed = true;
        return;
    }
    (void)gt_expr_c(expr, text, (size_t)length + 1);
    put(t, text);
    free(text);
}

/* A derived name that kernels compute from their m, n and k. */
static void put_expression(struct text *t, const char *name, const struct gt_expr *expr) {
    putf(t, "#define GT_%s ", name);
    put_c(t, expr);
    put(t, "\n");
}

static void put_names(struct text *t, const struct gt_binding *b) {
    const struct gt_family *f = b->family;
    for (int i = 0; i < f->param_count; i++)
        put_own_macro(t, f->param[i].name, b->value[f->param[i].slot]);
    for (int i = 0; i < f->derive_count; i++) {
        const struct gt_derived *d = &f->derive[i];
        const char *name = f->symbols.name[d->slot];
        if (d->in_image)
            put_own_macro(t, name, b->value[d->slot]);
        else if (d->in_source)
            put_expression(t, name, d->expr);
    }
}

/* Appends a text about an epilogue, which `write` writes. */
static void put_epilogue(struct text *t, const struct gt_epilogue *e,
                         int (*write)(const struct gt_epilogue *e, char *buf,
                                      size_t size)) {
    char *text = malloc(GT_EPILOGUE_TEXT_MAX);
    t->failed = t->failed || text == NULL;
    if (text != NULL && write(e, text, GT_EPILOGUE_TEXT_MAX) < GT_EPILOGUE_TEXT_MAX)
        put(t, text);
    free(text);
}

/* A parameter with its type. The workspace is not `restrict`: a kernel must not read the
 * data of an earlier kernel before its wait. */
static void put_param(struct text *t, const struct gt_binding *b, gt_arg arg) {
    static const char *const declared[] = {
        [GT_ARG_M] = "int m",
        [GT_ARG_N] = "int n",
        [GT_ARG_K] = "int k",
        [GT_ARG_ALPHA] = "gt_acc alpha",
        [GT_ARG_BETA] = "gt_acc beta",
        [GT_ARG_A] = "const GT_GLOBAL gt_a *GT_RESTRICT a",
        [GT_ARG_B] = "const GT_GLOBAL gt_b *GT_RESTRICT b",
        [GT_ARG_C] = "GT_GLOBAL gt_c *GT_RESTRICT c",
        [GT_ARG_LDA] = "gt_long lda",
        [GT_ARG_LDB] = "gt_long ldb",
        [GT_ARG_LDC] = "gt_long ldc",
        [GT_ARG_WORKSPACE] = "GT_GLOBAL gt_acc *workspace",
        [GT_ARG_BATCH] = "int batch",
        [GT_ARG_STRIDE_A] = "gt_long stride_a",
        [GT_ARG_STRIDE_B] = "gt_long stride_b",
        [GT_ARG_STRIDE_C] = "gt_long stride_c",
        [GT_ARG_STRIDE_W] = "gt_long stride_w",
        [GT_ARG_ROWS] = "const GT_GLOBAL int *GT_RESTRICT all_rows",
    };
    static const char *const pointers[GT_ARG_MAP] = {
        [GT_ARG_A] = "const gt_a *const *GT_RESTRICT all_a",
        [GT_ARG_B] = "const gt_b *const *GT_RESTRICT all_b",
        [GT_ARG_C] = "gt_c *const *GT_RESTRICT all_c",
    };
    if (arg >= GT_ARG_MAP)
        putf(t, "GT_TENSOR_MAP(%s)", b->family->map[arg - GT_ARG_MAP].name);
    else if (b->batch_kind == GEMMTUNE_BATCH_POINTERS && pointers[arg] != NULL)
        put(t, pointers[arg]);
    else
        put(t, declared[arg]);
}

/* ---- offsets --------------------------------------------------------------------- */

/* A buffer has no address that a program might add to before a launch. So kernels on a
 * device with buffers take the elements before the first one of each pointer, and begin
 * with GT_AT_OFFSETS(). Other kernels have neither. */
static bool has_offsets(const struct gt_device *d) {
    return !gt_driver_of(d->backend)->pointers_are_addresses;
}

/* Calls `put_one` with the name of each pointer, in the order of the arguments. */
static void each_pointer(struct text *t, const struct gt_binding *b,
                         void (*put_one)(struct text *t, const char *name)) {
    gt_arg args[GT_ARGS_MAX];
    char name[GT_NAME_MAX];
    const int count = gt_family_args(args, b);
    for (int i = 0; i < count; i++)
        if (gt_arg_pointer(args[i]) != NULL)
            put_one(t, gt_arg_pointer(args[i]));
    for (int i = 0; b->epilogue != NULL && i < b->epilogue->operands; i++) {
        (void)snprintf(name, sizeof name, "gt_op_%d", i);
        put_one(t, name);
    }
    if (b->epilogue != NULL && b->epilogue->d2 >= 0)
        put_one(t, "gt_d2");
}

static void put_offset_param(struct text *t, const char *name) {
    putf(t, ", gt_long gt_at_%s", name);
}

static void put_move(struct text *t, const char *name) {
    putf(t, " %s += gt_at_%s;", name, name);
}

static void put_offsets(struct text *t, const struct gt_binding *b) {
    put(t, "#define GT_OFFSET_PARAMS");
    each_pointer(t, b, put_offset_param);
    put(t, "\n#define GT_AT_OFFSETS()");
    each_pointer(t, b, put_move);
    put(t, "\n");
}

/* Code, with GT_AT_OFFSETS() at the beginning of every kernel. */
static void put_moving(struct text *t, const char *code) {
    char *const plain = strdup(code);
    t->failed = t->failed || plain == NULL;
    if (t->failed) {
        free(plain);
        return;
    }
    gt_code_blank_comments(plain);
    const char *done = plain;
    for (const char *body = gt_kernel_body(plain, plain); body != NULL;
         body = gt_kernel_body(plain, body)) {
        put_bytes(t, code + (done - plain), (size_t)(body - done));
        put(t, " GT_AT_OFFSETS()");
        done = body;
    }
    put(t, code + (done - plain));
    free(plain);
}

/* ---- pieces with kernels --------------------------------------------------------- */

/* GT_PARAMS: the parameters of every kernel of the family, with names and types, then the
 * epilogue's parameters, and the offsets. */
static void put_params(struct text *t, const struct gt_binding *b, bool offsets) {
    gt_arg args[GT_ARGS_MAX];
    const int count = gt_family_args(args, b);
    put(t, "#define GT_PARAMS ");
    for (int i = 0; i < count; i++) {
        put(t, i > 0 ? ", " : "");
        put_param(t, b, args[i]);
    }
    put(t, b->epilogue != NULL ? " GT_OPERAND_PARAMS" : "");
    put(t, offsets ? " GT_OFFSET_PARAMS\n" : "\n");
}

/* The number of an element's product. Kernels that deal with all products count the rows of
 * all of them; kernels of one product are told its number. */
static void put_product(struct text *t, const struct gt_binding *b) {
    if (b->is_batch && b->family->batching >= GT_BATCHING_OWN)
        putf(t, "#define GT_Z ((int)(gt_i / %" PRId64 "))\n", b->m);
    else
        put(t, "#define GT_Z gt_z\n");
}

/* The macros of an epilogue, which parts and templates read. */
static void put_epilogue_macros(struct text *t, const struct gt_binding *b) {
    if (b->epilogue == NULL)
        return;
    put_epilogue(t, b->epilogue, gt_epilogue_macros);
    if (gt_epilogue_has_products(b->epilogue))
        put_product(t, b);
}

/* The macros of kernels for batches. Kernels of single products have none of them. */
static void put_batch(struct text *t, const struct gt_binding *b) {
    if (!b->is_batch)
        return;
    static const char *const kinds[] = {
        [GEMMTUNE_GROUPED_ROWS] = "GT_GROUPED",
        [GEMMTUNE_MASKED_ROWS] = "GT_MASKED",
    };
    put_macro(t, "GT_BATCH", 1);
    if (kinds[b->batch_kind] != NULL)
        put_macro(t, kinds[b->batch_kind], 1);
    if (b->slot_rows > 0)
        put_macro(t, "GT_SLOT_ROWS", b->slot_rows);
    for (int i = 0; i < b->family->arg_count; i++)
        if (b->family->args[i] == GT_ARG_WORKSPACE)
            put_macro(t, "GT_HAS_WORKSPACE", 1);
}

/* The function of an epilogue follows the part that it is made of. */
static void put_parts(struct text *t, uint64_t set, const struct gt_epilogue *epilogue,
                      void (*put_code)(struct text *t, const char *code)) {
    const uint64_t made_of = gt_part_bit("epilogue");
    const uint64_t all = epilogue != NULL ? set | made_of : set & ~made_of;
    for (int i = 0; gt_part_name(i) != NULL; i++) {
        const uint64_t bit = UINT64_C(1) << i;
        if ((all & bit) == 0)
            continue;
        putf(t, "#line 1 \"common/%s.h\"\n", gt_part_name(i));
        put_code(t, gt_part_text(i));
        if (epilogue != NULL && bit == made_of)
            put_epilogue(t, epilogue, gt_epilogue_function);
    }
    put(t, "\n");
}

/* The family's parts. The part `batch` joins them for batches without strides and for those
 * with an epilogue, unless the kernel walks over all products or slots (the part `walk`).
 */
static uint64_t parts_of(const struct gt_binding *b) {
    const bool odd_batch =
        b->batch_kind != GEMMTUNE_BATCH_STRIDED || (b->is_batch && b->epilogue != NULL);
    return odd_batch && b->walks == 0 ? b->family->uses | gt_part_bit("batch")
                                      : b->family->uses;
}

/* A require rule as a static assertion. It holds even when the text is built elsewhere. */
static void put_rule(struct text *t, const struct gt_rule *rule, int number) {
    put(t, "GT_STATIC_ASSERT(");
    put_c(t, rule->expr);
    putf(t, ", gt_rule_%d);\n", number);
}

static void put_template(struct text *t, const char *name, const char *source,
                         void (*put_code)(struct text *t, const char *code)) {
    putf(t, "#line 1 \"%s\"\n", name);
    put_code(t, source);
}

/* ---- whole texts ----------------------------------------------------------------- */

gt_status gt_source_of(char **out, const struct gt_binding *b, const struct gt_device *d,
                       struct gt_err *err) {
    const struct gt_family *f = b->family;
    const bool offsets = has_offsets(d);
    void (*const put_code)(struct text * t, const char *code) = offsets ? put_moving : put;
    struct text t = {0};
    *out = NULL;
    if (f->source[d->backend]->name == NULL)
        return gt_fail(err, GEMMTUNE_EINVAL, "family %s has no source for %s", f->name,
                       gt_backend_name(d->backend));
    put_builtins(&t, b->dtype, b->value);
    put_names(&t, b);
    put_batch(&t, b);
    put_params(&t, b, offsets);
    if (offsets)
        put_offsets(&t, b);
    put_epilogue_macros(&t, b);
    put_parts(&t, parts_of(b), b->epilogue, put_code);
    for (int i = 0; i < f->require_count; i++)
        put_rule(&t, &f->require[i], i);
    for (int i = 0; i < GT_TEMPLATES_MAX && f->source[d->backend][i].name != NULL; i++)
        put_template(&t, f->source[d->backend][i].name, f->source[d->backend][i].text,
                     put_code);
    return finish(out, &t, err);
}

gt_status gt_source_plain(char **out, const struct gt_device *d, const gemmtune_problem *p,
                          const char *name, const char *text, struct gt_err *err) {
    int64_t value[GT_BUILTIN_COUNT];
    struct text t = {0};
    gt_builtin_values(value, d, p);
    put_builtins(&t, p != NULL ? gt_dtype_of(p) : NULL, value);
    put_parts(&t, p != NULL ? gt_parts_closed(0) : gt_part_bit("dialect"), NULL, put);
    put_template(&t, name, text, put);
    return finish(out, &t, err);
}
