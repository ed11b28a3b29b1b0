/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epilogue.h - the function of an element of alpha A B + beta C before it is stored: the
 * language, its syntax tree, and its canonical text. docs/epilogue.md describes it for
 * users.
 *
 *     epilogue    = { declaration ";" } ( shorthand | assignment { ";" assignment } )
 *     declaration = name [ index ] ":" type
 *     index       = "[i]" | "[j]" | "[i,j]" | "[z]" | "[z,j]"
 *     assignment  = name "=" expression
 *     shorthand   = step { "_" step }
 *     expression  = comparison [ "?" expression ":" expression ]
 *     comparison  = sum [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) sum ]
 *     sum         = product { ( "+" | "-" ) product }
 *     product     = unary { ( "*" | "/" ) unary }
 *     unary       = "-" unary | primary
 *     primary     = number | name [ index ] | function "(" expression { "," expression }
 * ")" | type "(" expression ")" | "(" expression ")"
 *
 * There are no blanks. A name with an index that is not declared is an operand of C's type.
 * A tree has the problem's types, so that the tree alone says what a kernel computes.
 */
#ifndef GT_CORE_EPILOGUE_EPILOGUE_H
#define GT_CORE_EPILOGUE_EPILOGUE_H

#include "core/dtype.h"

enum {
    GT_EPILOGUE_MAX = 256,     /* bytes of the longest text with its NUL */
    GT_EPILOGUE_NAME_MAX = 16, /* bytes of the longest name in it with its NUL */
    GT_EPILOGUE_OPERANDS_MAX = 8,
    GT_EPILOGUE_STATEMENTS_MAX = 8,
    GT_EPILOGUE_NODES_MAX = 256, /* a node takes at least one byte of text */
    GT_EPILOGUE_DEPTH_MAX = 24   /* brackets, calls, signs and "?" inside one another */
};

/* The kind of a node's value. In a problem with sums of floats every number is REAL. */
enum gt_epi_kind {
    GT_EPI_TRUTH, /* of a comparison; only "?" takes it */
    GT_EPI_INT,   /* int32; sums and products are modulo 2^32 */
    GT_EPI_REAL   /* f64 when the problem's sums are f64, else f32 */
};

/* An operand has a value for each of these. A group of rows counts as a product, and a
 * single product is number 0. */
enum gt_epi_shape {
    GT_EPI_SCALAR,
    GT_EPI_ROWS,         /* [i] */
    GT_EPI_COLUMNS,      /* [j] */
    GT_EPI_MATRIX,       /* [i,j] */
    GT_EPI_PRODUCTS,     /* [z] */
    GT_EPI_PRODUCT_ROWS, /* [z,j] */
    GT_EPI_SHAPES
};

/* A shape's index as text; "" for a scalar. */
extern const char *const gt_epi_index[GT_EPI_SHAPES];

/* Whether operands of this shape have rows of n values, and so a leading dimension. */
bool gt_epi_has_ld(int32_t shape);

/* The size of an operand as it is stored.
 * One without a leading dimension is a single row. */
struct gt_epi_extent {
    int64_t rows, columns;
};

/* The size of an operand when all products together have `rows` rows of n values. */
struct gt_epi_extent gt_epi_extent_of(int32_t shape, int64_t rows, int64_t n,
                                      int64_t products);

/* The place of a value in an operand as it is stored. */
struct gt_epi_place {
    int64_t row, column;
};

/* The place of the value for row i of all products together, column j and product z. */
struct gt_epi_place gt_epi_place_of(int32_t shape, int64_t i, int64_t j, int64_t z);

/* A node of the tree. Its operands are nodes with lower indices. */
struct gt_epi_node {
    double number;  /* GT_EPI_NUMBER: finite, not negative */
    int16_t arg[3]; /* nodes; GT_EPI_OPERAND, GT_EPI_LOCAL: arg[0] is an index;
                     * GT_EPI_CAST: arg[1] is the gemmtune_dtype */
    uint8_t op;     /* enum gt_epi_op_id */
    uint8_t kind;   /* enum gt_epi_kind */
};

struct gt_epi_operand {
    char name[GT_EPILOGUE_NAME_MAX];
    int32_t type;  /* gemmtune_dtype, as stored */
    int32_t shape; /* enum gt_epi_shape */
};

struct gt_epi_statement {
    char name[GT_EPILOGUE_NAME_MAX];
    int32_t root; /* node */
    int32_t used; /* 1: a later statement reads it */
};

/* A tree without pointers. Unused bytes are 0,
 * so trees are compared and hashed as bytes. */
struct gt_epilogue {
    int32_t type_c, type_acc, type_d2; /* gemmtune_dtype */
    int32_t d, d2;                     /* statements with the outputs; d2 may be -1 */
    int32_t operands, statements, nodes;
    struct gt_epi_operand operand[GT_EPILOGUE_OPERANDS_MAX];
    struct gt_epi_statement statement[GT_EPILOGUE_STATEMENTS_MAX];
    struct gt_epi_node node[GT_EPILOGUE_NODES_MAX];
};

/* ---- shorthands ------------------------------------------------------------ */

/* A word that stands for an expression of `x`. Words are joined with "_"; each is applied
 * to the value of the one before. */
struct gt_epilogue_step {
    const char *name;
    const char *operands; /* declarations without types, or "" */
    const char *means;    /* an expression; x is the value so far */
    bool scales;          /* operands are f32 (f64 beside f64 sums); else of C's type */
    const char *about;    /* for people */
};
extern const struct gt_epilogue_step gt_epilogue_steps[]; /* ends in a NULL name */

/* The step that the text begins with, up to "_" or its end, or NULL. The longest wins. */
const struct gt_epilogue_step *gt_epilogue_step_at(const char *text, size_t len);

/* ---- text and tree --------------------------------------------------------- */

/* Parses a text for a problem with these types. EPARSE names the column (from 1) and the
 * part that is wrong. */
gt_status gt_epilogue_parse(struct gt_epilogue *out, const char *text,
                            gemmtune_dtype type_c, gemmtune_dtype type_acc,
                            struct gt_err *err);

/* Writes the tree as declarations and assignments. The text has no blanks and no needless
 * brackets. Returns the length needed, as snprintf does. */
int gt_epilogue_print(const struct gt_epilogue *e, char *buf, size_t size);

/* Writes the canonical text: a shorthand where one has exactly this meaning, else the text
 * of gt_epilogue_print. Its tree is *e. EPARSE when the text would be too long. */
gt_status gt_epilogue_canonical(char text[GT_EPILOGUE_MAX], const struct gt_epilogue *e,
                                struct gt_err *err);

/* gt_epilogue_parse, then gt_epilogue_canonical. */
gt_status gt_epilogue_settle(char canonical[GT_EPILOGUE_MAX], const char *text,
                             gemmtune_dtype type_c, gemmtune_dtype type_acc,
                             struct gt_err *err);

bool gt_epilogue_same(const struct gt_epilogue *x, const struct gt_epilogue *y);

/* Whether the expressions have such a leaf: enum gt_epi_op_id GT_EPI_X, GT_EPI_C, .. */
bool gt_epilogue_reads(const struct gt_epilogue *e, int op);

/* Whether all outputs have 16 bits or fewer and the arithmetic is f32: kernels may then use
 * shorter functions, with errors that still are far below a unit of the outputs. */
bool gt_epilogue_is_brief(const struct gt_epilogue *e);

/* Whether the value of a node is made of integers and elements without a rounding, but for
 * the one to the arithmetic where an integer becomes REAL: by signs, minima, choices.. */
bool gt_epilogue_keeps(const struct gt_epilogue *e, int at);

/* Whether sums are integers, and such a value becomes an element of 16 or 8 bits as d, or
 * as d2 when `second`. It is then rounded once, and not to the arithmetic before. So is x,
 * unless beta c is added to it. */
bool gt_epilogue_rounds_once(const struct gt_epilogue *e, bool second);
/* The same for a cast. */
bool gt_epilogue_casts_once(const struct gt_epilogue *e, const struct gt_epi_node *node);
/* Whether one of these is so. */
bool gt_epilogue_has_once(const struct gt_epilogue *e);

/* The first matrix operand with elements as large as C's, or -1. */
int gt_epilogue_boxed(const struct gt_epilogue *e);

/* Whether an operand has a value or a row for each product. */
bool gt_epilogue_has_products(const struct gt_epilogue *e);

/* Bytes of all operands of this shape at one place. */
int gt_epilogue_bytes(const struct gt_epilogue *e, enum gt_epi_shape shape);

/* The type of REAL numbers: F64 when the sums are F64, else F32. */
gemmtune_dtype gt_epilogue_real(const struct gt_epilogue *e);

#endif
