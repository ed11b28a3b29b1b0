/* SPDX-License-Identifier: Apache-2.0 */
/* epilogue_text.c - see epilogue_text.h. Names of types are ours; no text of the user's
 * epilogue gets here. */
#include "runtime/family/epilogue_text.h"

#include "core/epilogue/epilogue_op.h"
#include "core/page.h"

#include <stdio.h>

static const char *name_of(int32_t type) {
    return gt_type_name((gemmtune_dtype)type);
}

static bool is_float(int32_t type) {
    return gt_type_is_float((gemmtune_dtype)type);
}

/* ---- parameters and arguments ---------------------------------------------- */

static void put_params(struct gt_page *page, const struct gt_epilogue *e) {
    gt_page_put(page, "#define GT_OPERAND_PARAMS ");
    for (int i = 0; i < e->operands; i++) {
        gt_page_put(page, ", const GT_GLOBAL gt_%s *GT_RESTRICT gt_op_%d",
                    name_of(e->operand[i].type), i);
        if (gt_epi_has_ld(e->operand[i].shape))
            gt_page_put(page, ", gt_long gt_ld_%d", i);
    }
    if (gt_epilogue_has_products(e))
        gt_page_put(page, ", int gt_z");
    if (gt_epilogue_reads(e, GT_EPI_ALPHA))
        gt_page_put(page, ", gt_acc gt_alpha");
    if (e->d2 >= 0)
        gt_page_put(page, ", GT_GLOBAL gt_%s *gt_d2, gt_long gt_ld_d2",
                    name_of(e->type_d2));
    gt_page_put(page, "\n");
}

static void put_arguments(struct gt_page *page, const struct gt_epilogue *e) {
    gt_page_put(page, "#define GT_OPERANDS ");
    for (int i = 0; i < e->operands; i++) {
        gt_page_put(page, ", gt_op_%d", i);
        if (gt_epi_has_ld(e->operand[i].shape))
            gt_page_put(page, ", gt_ld_%d", i);
    }
    gt_page_put(page, "%s%s%s\n", gt_epilogue_has_products(e) ? ", gt_z" : "",
                gt_epilogue_reads(e, GT_EPI_ALPHA) ? ", gt_alpha" : "",
                e->d2 >= 0 ? ", gt_d2, gt_ld_d2" : "");
}

/* GT_MOVE_OPERANDS(rows, product): see templates/common/batch.h. A kernel that walks over
 * products (templates/common/walk.h) passes rows of all of them, so it says the number of a
 * product only: GT_MOVE_PRODUCT(product). */
static void put_moves(struct gt_page *page, const struct gt_epilogue *e) {
    gt_page_put(page, "#define GT_MOVE_PRODUCT(product) %s\n",
                gt_epilogue_has_products(e) ? "gt_z = (int)(product)" : "(void)0");
    gt_page_put(page, "#define GT_MOVE_OPERANDS(rows, product) GT_MOVE_PRODUCT(product)");
    for (int i = 0; i < e->operands; i++) {
        if (e->operand[i].shape == GT_EPI_ROWS)
            gt_page_put(page, "; gt_op_%d += (rows)", i);
        if (e->operand[i].shape == GT_EPI_MATRIX)
            gt_page_put(page, "; gt_op_%d += (rows) * gt_ld_%d", i, i);
    }
    gt_page_put(page, "%s\n", e->d2 >= 0 ? "; gt_d2 += (rows) * gt_ld_d2" : "");
}

/* GT_OPERAND(number): where the rows, or the only row, of an operand begin. */
static void put_origins(struct gt_page *page, const struct gt_epilogue *e) {
    for (int i = 0; i < e->operands; i++)
        if (e->operand[i].shape == GT_EPI_PRODUCT_ROWS)
            gt_page_put(page, "#define GT_OPERAND_%d (gt_op_%d + GT_Z * gt_ld_%d)\n", i, i,
                        i);
        else
            gt_page_put(page, "#define GT_OPERAND_%d gt_op_%d\n", i, i);
    gt_page_put(page, "#define GT_OPERAND(number) GT_OPERAND_##number\n");
}

/* The operands of two shapes as a list of DO(number, type, bytes of those before it at a
 * place). */
static void put_list(struct gt_page *page, const struct gt_epilogue *e, const char *name,
                     enum gt_epi_shape shape, enum gt_epi_shape or_shape) {
    int before = 0;
    gt_page_put(page, "#define %s(DO)", name);
    for (int i = 0; i < e->operands; i++) {
        if (e->operand[i].shape != (int32_t)shape &&
            e->operand[i].shape != (int32_t)or_shape)
            continue;
        gt_page_put(page, " DO(%d, %s, %d)", i, name_of(e->operand[i].type), before);
        before += (int)gt_type_size((gemmtune_dtype)e->operand[i].type);
    }
    gt_page_put(page, "\n");
}

/* The operands that templates/common/operands.h moves: see there. */
static void put_lists(struct gt_page *page, const struct gt_epilogue *e) {
    const int boxed = gt_epilogue_boxed(e);
    put_list(page, e, "GT_COLUMN_OPERANDS", GT_EPI_COLUMNS, GT_EPI_PRODUCT_ROWS);
    put_list(page, e, "GT_ROW_OPERANDS", GT_EPI_ROWS, GT_EPI_ROWS);
    gt_page_put(page, "#define GT_OTHER_OPERANDS(DO)");
    for (int i = 0; i < e->operands; i++)
        if (e->operand[i].shape == GT_EPI_SCALAR ||
            e->operand[i].shape == GT_EPI_PRODUCTS ||
            (e->operand[i].shape == GT_EPI_MATRIX && i != boxed))
            gt_page_put(page, " DO(%d)", i);
    gt_page_put(page, "\n#define GT_BOXED_OPERAND(DO)");
    if (boxed >= 0)
        gt_page_put(page, " DO(%d, %s)", boxed, name_of(e->operand[boxed].type));
    gt_page_put(page, "\n");
}

int gt_epilogue_macros(const struct gt_epilogue *e, char *buf, size_t size) {
    struct gt_page page = gt_page_of(buf, size);
    put_params(&page, e);
    put_arguments(&page, e);
    put_moves(&page, e);
    put_origins(&page, e);
    put_lists(&page, e);
    gt_page_put(&page,
                "#define GT_NEEDS_X %d\n#define GT_NEEDS_C %d\n"
                "#define GT_BRIEF %d\n#define GT_HAS_D2 %d\n",
                gt_epilogue_reads(e, GT_EPI_X), gt_epilogue_reads(e, GT_EPI_C),
                gt_epilogue_is_brief(e), e->d2 >= 0);
    return page.len;
}

/* ---- the values that expressions read -------------------------------------- */

/* "const int gt_in_3 = " or "const gt_real gt_in_3 = ". A value is an int when its type is
 * an integer and sums are integers. */
static void put_name(struct gt_page *page, const char *name, bool integer) {
    gt_page_put(page, "    const %s gt_in_%s = ", integer ? "int" : "gt_real", name);
}

/* The value of a stored element, given as text. */
static void put_element(struct gt_page *page, int32_t type, const char *element,
                        bool integer) {
    if (integer)
        gt_page_put(page, "(int)%s;\n", element);
    else if (is_float(type))
        gt_page_put(page, "(gt_real)gt_from_%s(%s);\n", name_of(type), element);
    else
        gt_page_put(page, "(gt_real)(int)%s;\n", element);
}

static void put_operand(struct gt_page *page, const struct gt_epilogue *e, int i) {
    const struct gt_epi_operand *x = &e->operand[i];
    const bool integer = !is_float(x->type) && !is_float(e->type_acc);
    char name[16], element[32];
    (void)snprintf(name, sizeof name, "%d", i);
    (void)snprintf(element, sizeof element, "gt_at.of_%d", i);
    put_name(page, name, integer);
    put_element(page, x->type, element, integer);
}

/* x is an int when sums and C are integers. Beside integer sums, a C of floats makes x
 * real. gt_adds is a constant; when it is 0, beta is 0. An old element of C that the kernel
 * does not read is -0, which changes no sum. With beta 0 the kernel reads it only for an
 * epilogue that names c. */
static void put_x(struct gt_page *page, const struct gt_epilogue *e) {
    const bool integer = !is_float(e->type_acc) && !is_float(e->type_c);
    put_name(page, "x", integer);
    if (is_float(e->type_acc) || integer)
        gt_page_put(page,
                    "(%s)(gt_adds%s ? gt_fma(beta, gt_from_c(old), alpha * acc)\n"
                    "        : alpha * acc);\n",
                    integer ? "int" : "gt_real",
                    gt_epilogue_reads(e, GT_EPI_C) ? " && beta != (gt_acc)0" : "");
    else
        gt_page_put(page,
                    "(gt_real)(int)(alpha * acc) +\n"
                    "        (gt_adds%s ? (gt_real)(int)beta * (gt_real)gt_from_c(old)\n"
                    "                 : GT_REAL(0.0));\n",
                    gt_epilogue_reads(e, GT_EPI_C) ? " && beta != (gt_acc)0" : "");
    if (!is_float(e->type_acc) && !integer && gt_epilogue_has_once(e))
        gt_page_put(
            page, "    const gt_real gt_once_x =\n"
                  "        gt_adds && beta != (gt_acc)0 ? gt_in_x\n"
                  "                                     : gt_iodd((int)(alpha * acc));\n");
}

static void put_values(struct gt_page *page, const struct gt_epilogue *e) {
    const struct {
        enum gt_epi_op_id op;
        int32_t type;
        const char *name, *element;
    } values[] = {{GT_EPI_ACC, e->type_acc, "acc", "acc"},
                  {GT_EPI_C, e->type_c, "c", "old"},
                  {GT_EPI_ALPHA, e->type_acc, "alpha", "gt_alpha"},
                  {GT_EPI_BETA, e->type_acc, "beta", "beta"}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const bool integer = !is_float(values[i].type) && !is_float(e->type_acc);
        if (!gt_epilogue_reads(e, (int)values[i].op))
            continue;
        put_name(page, values[i].name, integer);
        put_element(page, values[i].type, values[i].element, integer);
    }
    if (gt_epilogue_reads(e, GT_EPI_X))
        put_x(page, e);
    for (int i = 0; i < e->operands; i++)
        put_operand(page, e, i);
}

/* ---- operands of an element ------------------------------------------------ */

/* gt_fetch_<n> reads operand n at its place. */
static void put_fetch(struct gt_page *page, const struct gt_epilogue *e, int i) {
    static const char *const at[GT_EPI_SHAPES] = {
        [GT_EPI_SCALAR] = "0",      [GT_EPI_ROWS] = "gt_i",
        [GT_EPI_COLUMNS] = "gt_j",  [GT_EPI_MATRIX] = "gt_j",
        [GT_EPI_PRODUCTS] = "GT_Z", [GT_EPI_PRODUCT_ROWS] = "gt_j",
    };
    gt_page_put(page,
                "GT_INLINE void gt_fetch_%d(struct gt_operands *gt_to GT_PLACE_PARAMS) {\n"
                "    gt_to->of_%d = GT_OPERAND_%d[",
                i, i, i);
    if (e->operand[i].shape == GT_EPI_MATRIX)
        gt_page_put(page, "gt_i * gt_ld_%d + ", i);
    gt_page_put(page, "%s];\n}\n", at[e->operand[i].shape]);
}

/* struct gt_operands has the operands of an element as stored. gt_fetch reads all of them.
 * `none` is there because C has no empty struct. */
static void put_operands(struct gt_page *page, const struct gt_epilogue *e) {
    gt_page_put(page, "struct gt_operands {\n    int none;\n");
    for (int i = 0; i < e->operands; i++)
        gt_page_put(page, "    gt_%s of_%d;\n", name_of(e->operand[i].type), i);
    gt_page_put(page, "};\n");
    for (int i = 0; i < e->operands; i++)
        put_fetch(page, e, i);
    gt_page_put(page, "GT_INLINE void gt_fetch(struct gt_operands *gt_to GT_PLACE_PARAMS) {"
                      "\n    gt_to->none = 0;\n");
    for (int i = 0; i < e->operands; i++)
        gt_page_put(page, "    gt_fetch_%d(gt_to GT_PLACE(gt_i, gt_j));\n", i);
    gt_page_put(page, "}\n");
}

/* ---- the function ---------------------------------------------------------- */

static void put_stores(struct gt_page *page, const struct gt_epilogue *e) {
    const bool integer = gt_epilogue_stores_int(e, false);
    gt_page_put(page, "typedef %s gt_result;\n#define GT_REAL_RESULT %d\n",
                integer ? "int" : "gt_real", !integer);
    gt_page_put(page,
                "GT_INLINE gt_c gt_rounded(gt_result x) {\n    return gt_%sput_%s(x);\n}\n",
                integer ? "i" : "", name_of(e->type_c));
    gt_page_put(page, "#define GT_PUT_D(v) gt_d = (v)\n");
    if (e->d2 >= 0)
        gt_page_put(page,
                    "#define GT_PUT_D2(v) gt_d2[gt_i * gt_ld_d2 + gt_j] = gt_%sput_%s(v)\n",
                    gt_epilogue_stores_int(e, true) ? "i" : "", name_of(e->type_d2));
}

int gt_epilogue_function(const struct gt_epilogue *e, char *buf, size_t size) {
    char lines[GT_EPILOGUE_SOURCE_MAX];
    struct gt_page page = gt_page_of(buf, size);
    (void)gt_epilogue_source(e, lines, sizeof lines);
    put_operands(&page, e);
    put_stores(&page, e);
    gt_page_put(&page,
                "GT_INLINE gt_result gt_result_of(int gt_adds, gt_acc alpha, gt_acc acc, "
                "gt_acc beta, gt_c old, struct gt_operands gt_at GT_PLACE_PARAMS) {\n"
                "    gt_result gt_d;\n");
    put_values(&page, e);
    gt_page_put(&page, "%s    return gt_d;\n}\n", lines);
    gt_page_put(&page, "GT_INLINE gt_c gt_element(gt_acc alpha, gt_acc acc, gt_acc beta, "
                       "gt_c old GT_PLACE_PARAMS) {\n"
                       "    struct gt_operands gt_at;\n"
                       "    gt_fetch(&gt_at GT_PLACE(gt_i, gt_j));\n"
                       "    return gt_rounded(gt_result_of(1, alpha, acc, beta, old, gt_at "
                       "GT_PLACE(gt_i, gt_j)));\n}\n");
    return page.len;
}
