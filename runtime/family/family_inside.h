/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family_inside.h - declarations that family*.c, bind.c, source.c and model.c share,
 * private to them: the built-in names, the parts of the parser, and access to template
 * text.
 */
#ifndef GT_RUNTIME_FAMILY_FAMILY_INSIDE_H
#define GT_RUNTIME_FAMILY_FAMILY_INSIDE_H

#include "core/json.h"
#include "runtime/family/family.h"

/*
 * Names that every family may use, in the order of their slots. The last column is the
 * macro in sources. It is NULL for names that belong to one problem.
 */
#define GT_BUILTIN_LIST(X)                                                                 \
    X(M, "M", NULL)                                                                        \
    X(N, "N", NULL)                                                                        \
    X(K, "K", NULL)                                                                        \
    X(LDA, "LDA", NULL)                                                                    \
    X(LDB, "LDB", NULL)                                                                    \
    X(LDC, "LDC", NULL)                                                                    \
    X(BATCH, "BATCH", NULL)                                                                \
    X(PROMISED, "PROMISED", NULL)                                                          \
    X(ALIGN_A, "ALIGN_A", NULL)                                                            \
    X(ALIGN_B, "ALIGN_B", NULL)                                                            \
    X(ALIGN_C, "ALIGN_C", NULL)                                                            \
    X(TA, "TA", "GT_TA")                                                                   \
    X(TB, "TB", "GT_TB")                                                                   \
    X(SIZEOF_A, "sizeof(A)", "GT_SIZEOF_A")                                                \
    X(SIZEOF_B, "sizeof(B)", "GT_SIZEOF_B")                                                \
    X(SIZEOF_C, "sizeof(C)", "GT_SIZEOF_C")                                                \
    X(SIZEOF_ACC, "sizeof(ACC)", "GT_SIZEOF_ACC")                                          \
    X(FLOAT, "FLOAT", "GT_FLOAT")                                                          \
    X(FAST, "FAST", "GT_FAST")                                                             \
    X(BF16X3, "BF16X3", "GT_BF16X3")                                                       \
    X(EPILOGUE, "EPILOGUE", "GT_EPILOGUE")                                                 \
    X(EPI_COLUMN, "EPI_COLUMN", "GT_EPI_COLUMN")                                           \
    X(EPI_ROW, "EPI_ROW", "GT_EPI_ROW")                                                    \
    X(EPI_BOXED, "EPI_BOXED", "GT_EPI_BOXED")                                              \
    X(WALK, "WALK", "GT_WALK")                                                             \
    X(POINTERS, "POINTERS", "GT_POINTERS")                                                 \
    X(CUDA, "CUDA", "GT_CUDA")                                                             \
    X(CC, "CC", "GT_CC")                                                                   \
    X(CPU, "CPU", "GT_CPU")                                                                \
    X(UNITS, "UNITS", "GT_UNITS")                                                          \
    X(WARP, "WARP", "GT_WARP")                                                             \
    X(MAX_THREADS, "MAX_THREADS", "GT_MAX_THREADS")                                        \
    X(SMEM_MAX, "SMEM_MAX", "GT_SMEM_MAX")                                                 \
    X(REGS_MAX, "REGS_MAX", "GT_REGS_MAX")                                                 \
    X(F16, "F16", "GT_F16")                                                                \
    X(DOT4, "DOT4", "GT_DOT4")                                                             \
    X(PTX, "PTX", "GT_PTX")                                                                \
    X(SUBGROUPS, "SUBGROUPS", "GT_SUBGROUPS")                                              \
    X(NATIVE, "NATIVE", "GT_NATIVE")

enum gt_builtin {
#define X(id, name, macro) GT_IN_##id,
    GT_BUILTIN_LIST(X)
#undef X
        GT_BUILTIN_COUNT
};

_Static_assert(GT_BUILTIN_COUNT + GT_CONSTANTS_MAX + GT_POINT_MAX + GT_RULES_MAX <=
                   GT_SYMBOLS_MAX,
               "a family at its limits must fit the symbol table");

struct gt_builtin_name {
    const char *name;  /* its spelling in expressions */
    const char *macro; /* its spelling in sources; NULL: not in sources */
};
extern const struct gt_builtin_name gt_builtins[GT_BUILTIN_COUNT];

struct gt_arg_name {
    const char *name;
    gt_arg arg;
    bool needed; /* a kernel without it cannot compute the product */
};
extern const struct gt_arg_name gt_arg_names[]; /* ended by a NULL name */

/* Values of all built-in names. Without `p`, the values of the problem's names
 * stay 0. */
void gt_builtin_values(int64_t value[GT_BUILTIN_COUNT], const struct gt_device *d,
                       const gemmtune_problem *p);

/* ---- prelude.c ---- */

/* A set of parts of templates/common/ has bit i for part i. Every set has dialect and
 * types. */
enum { GT_PARTS_MAX = 63, GT_PARTS_ALWAYS = 3 };
/* The name of part i, in the order of parts in a source; NULL past the last one. */
const char *gt_part_name(int i);
/* The text of part i, which must exist. Lives for ever. */
const char *gt_part_text(int i);
/* The bit of the part of that name; 0 when there is none. */
uint64_t gt_part_bit(const char *name);
/* The set with the parts that its members need and the parts of every set. */
uint64_t gt_parts_closed(uint64_t set);

/* Gives the text of a family's file `file` for a backend; the caller frees *out. */
typedef gt_status (*gt_source_fn)(char **out, void *user, gemmtune_backend backend,
                                  const char *file, struct gt_err *err);

/* ---- family_words.c ---- */

/* Whether text is [a-z][a-z0-9_]* or, as a C identifier, [A-Za-z_][A-Za-z0-9_]*, and short
 * enough for a name. */
bool gt_is_word(const char *text, bool identifier);
/* A copy of a string in *out. The old text is freed. */
gt_status gt_read_text(char **out, struct gt_node n, struct gt_err *err);
/* Fails unless n is an array or object (see `kind`) of `least` to `most` members. */
gt_status gt_read_list(struct gt_node n, enum gt_json_kind kind, size_t least, size_t most,
                       struct gt_err *err);

/* The argument with this name; -1 when there is none. */
int gt_arg_by_name(const char *name);
/* Whether the family has a parameter with this name. */
bool gt_family_has_param(const struct gt_family *f, const char *name);
/* Reads a kernel's name. */
gt_status gt_read_entry(char out[GT_NAME_MAX], struct gt_node n, struct gt_err *err);

/* ---- family_expr.c ---- */

/* The names that an expression may use. */
enum gt_scope {
    GT_OF_POINT,  /* device, types, layout, point: the value holds for every problem */
    GT_OF_IMAGE,  /* also derived names that are numbers in the source */
    GT_OF_ORDER,  /* k, types, layout, point, compute capability: no size of C, no unit */
    GT_OF_PROBLEM /* also the problem's sizes and alignment */
};

/* The first name in e that has no place in the scope; NULL when there is none. */
const char *gt_name_beyond(enum gt_scope scope, const struct gt_family *f,
                           const struct gt_expr *e);
gt_status gt_read_expr(struct gt_expr **out, const struct gt_family *f, struct gt_node n,
                       enum gt_scope scope, struct gt_err *err);
/* An optional expression; `preset` when it is absent. */
gt_status gt_read_or(struct gt_expr **out, const char *preset, const struct gt_family *f,
                     struct gt_node n, enum gt_scope scope, struct gt_err *err);
/* An array of three expressions; `presets` when it is absent. */
gt_status gt_read_three(struct gt_expr *out[3], const struct gt_family *f, struct gt_node n,
                        enum gt_scope scope, const char *const presets[3],
                        struct gt_err *err);

/* ---- family_space.c and family_launch.c ---- */

/* One key of space.json each. The node of an optional key may be absent. */
gt_status gt_parse_params(struct gt_family *f, struct gt_node n, struct gt_err *err);
gt_status gt_parse_meaning(struct gt_family *f, struct gt_node n, struct gt_err *err);
gt_status gt_parse_default(struct gt_family *f, struct gt_node n, struct gt_err *err);
gt_status gt_parse_starts(struct gt_family *f, struct gt_node n, struct gt_err *err);
gt_status gt_parse_adapt(struct gt_family *f, struct gt_node n, struct gt_err *err);
gt_status gt_parse_rungs(struct gt_family *f, struct gt_node n, struct gt_err *err);
gt_status gt_parse_derive(struct gt_family *f, struct gt_node n, struct gt_err *err);
gt_status gt_parse_require(struct gt_family *f, struct gt_node n, struct gt_err *err);
gt_status gt_parse_accept(struct gt_family *f, struct gt_node n, struct gt_err *err);
gt_status gt_parse_align(struct gt_family *f, struct gt_node n, struct gt_err *err);
/* Call these three in this order: passes are kept in the order in which they run. */
gt_status gt_parse_before(struct gt_family *f, struct gt_node n, struct gt_err *err);
gt_status gt_parse_launch(struct gt_family *f, struct gt_node n, struct gt_err *err);
gt_status gt_parse_after(struct gt_family *f, struct gt_node n, struct gt_err *err);
gt_status gt_parse_shape(struct gt_family *f, struct gt_node n, struct gt_err *err);
gt_status gt_parse_variants(struct gt_family *f, struct gt_node n, struct gt_err *err);
gt_status gt_parse_maps(struct gt_family *f, struct gt_node n, struct gt_err *err);

/* ---- family_sums.c ---- */

gt_status gt_parse_sums(struct gt_family *f, struct gt_node n, struct gt_err *err);
void gt_sums_clear(struct gt_sums *sums);

/* ---- family_source.c ---- */

/* "uses": the parts of templates/common/ in the source, and the names that they add to
 * expressions. */
gt_status gt_parse_uses(struct gt_family *f, struct gt_node n, struct gt_err *err);
/* The first word of an atomic operation in code without comments; NULL: there is none. */
const char *gt_code_atomic(const char *code);
/* EPARSE, with file and line, unless every kernel of the family's sources takes
 * (GT_PARAMS), and begins with GT_FOLLOW() exactly where "overlap" is 1; or sources have
 * atomics, and "same_bits" is not said. */
gt_status gt_family_check_sources(const struct gt_family *f, struct gt_err *err);
/* Where the body of the next kernel that takes (GT_PARAMS) begins, after its brace, from
 * `at` on in code without comments; NULL: there is none. */
const char *gt_kernel_body(const char *code, const char *at);

/* ---- family_hash.c ---- */

/* Writes blanks over the comments of C or OpenCL C. Line ends stay. */
void gt_code_blank_comments(char *code);
/* Removes comments, and makes one blank of every run of blanks and line ends; a directive
 * keeps its line. Code with a raw string, a digraph or a trigraph stays as it is. */
void gt_code_canonical(char *code);
/* Fills f->hash from the document of space.json, f's sources and the parts that f uses.
 * `part_text` gives the text of a part. ENOMEM when there is no memory. */
gt_status gt_family_set_hash(struct gt_family *f, struct gt_node space,
                             const char *(*part_text)(int part), struct gt_err *err);

/* gt_family_parse that fetches the sources after space.json has named them. */
gt_status gt_family_parse_with(struct gt_family **out, const char *folder_name,
                               const char *json_name, const char *json, gt_source_fn read,
                               void *user, struct gt_err *err);

#endif
