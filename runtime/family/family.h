/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family.h - a kernel template with its declared space: templates/<name>/space.json and
 * source.
 *
 * Built-in families are parsed when the library is built (tools/families.c);
 * gt_families_add_folder adds the families of a folder (`--templates DIR`). A family never
 * changes, and threads may share it.
 *
 * docs/templates.md lists the names that expressions may use, besides the family's own
 * parameters and derived names. One built kernel serves many problems. So "require",
 * "align", a pass's "when", "walk" and a tensor map's "of", "box", "swizzle" and "planes"
 * use neither the problem's names nor names derived from them; "planes" may use "variants".
 */
#ifndef GT_RUNTIME_FAMILY_FAMILY_H
#define GT_RUNTIME_FAMILY_FAMILY_H

#include "core/device.h"
#include "core/expr.h"
#include "core/launch.h"
#include "core/problem/problem.h"

enum { GT_VALUES_MAX = 64, GT_RULES_MAX = 64, GT_ARGS_MAX = 24, GT_STARTS_MAX = 48 };
/* the batch, its strides and the list of rows, after the arguments of "args" */
enum { GT_ARGS_BATCH = 6 };
enum { GT_MAPS_MAX = 4, GT_MAP_BASES = 4, GT_CONSTANTS_MAX = 16 };
enum { GT_ADAPT_MAX = 4, GT_TEMPLATES_MAX = 16 };
enum { GT_RUNGS_MAX = 4, GT_RUNG_NAME_MAX = 32 };
enum { GT_BESIDE_MAX = 2, GT_PASSES_MAX = 2 * GT_BESIDE_MAX + 1 }; /* before, main, after */

/* A kernel's arguments, in the order of space.json's "args". */
typedef enum gt_arg {
    GT_ARG_M, /* int */
    GT_ARG_N,
    GT_ARG_K,
    GT_ARG_ALPHA, /* the accumulator type */
    GT_ARG_BETA,
    GT_ARG_A, /* device pointers */
    GT_ARG_B,
    GT_ARG_C,
    GT_ARG_LDA, /* 64-bit */
    GT_ARG_LDB,
    GT_ARG_LDC,
    GT_ARG_WORKSPACE, /* device pointer */
    GT_ARG_BATCH,     /* int: the products of a batch */
    GT_ARG_STRIDE_A,  /* 64-bit: elements from a matrix to the next */
    GT_ARG_STRIDE_B,
    GT_ARG_STRIDE_C,
    GT_ARG_STRIDE_W, /* 64-bit: accumulators from a product's workspace to the next one's */
    GT_ARG_ROWS,     /* device pointer: see gemmtune_args */
    GT_ARG_MAP       /* the first tensor map, by value; the next maps follow */
} gt_arg;

struct gt_param {
    char name[GT_NAME_MAX];
    int slot; /* in the symbol table */
    int count;
    int64_t value[GT_VALUES_MAX]; /* the domain, in file order */
    int64_t preset;               /* its value in the default point */
    char *about; /* its meaning, a sentence without its full stop; NULL: it was not said */
};

struct gt_rule {
    struct gt_expr *expr; /* must not be 0 */
    char *why;            /* one clause for people */
    int lower;            /* index of a parameter: a smaller value may hold; -1: none */
    bool is_speed;        /* of accept: other points are faster, so row_order ignores it */
};

struct gt_derived {
    int slot;
    struct gt_expr *expr;
    bool of_problem; /* whether it uses numbers of the problem */
    bool in_source;  /* uses none of those but M, N and K, so kernels can compute it */
    bool in_image;   /* its value is a number in the source: another value, another image */
};

/* An integer macro of a part of templates/common/, as a name with one value. */
struct gt_constant {
    int slot;
    int64_t value;
};

/* One kernel launch of a point. All passes take the same arguments and share one
 * workspace. */
struct gt_pass {
    char entry[GT_NAME_MAX];
    struct gt_expr *when; /* of the point; 0: the point has no such pass */
    struct gt_expr *grid[3], *block[3], *cluster[3], *smem;
};

/* A tensor map argument: it describes a matrix in A, B, C or the workspace. */
struct gt_map {
    char name[GT_NAME_MAX]; /* in "args" */
    int base_count;
    struct {
        gt_arg arg;
        struct gt_expr *when; /* of the point; the first that is not 0 holds the matrix.
                               * All 0: the point has no such map */
    } base[GT_MAP_BASES];
    struct gt_expr *at; /* bytes into it */
    struct gt_expr *inner, *outer, *stride, *box[2], *swizzle;
    struct gt_expr *planes; /* of the image; not 0: in a batch each matrix is a plane */
};

/*
 * The input of the performance model about a point's main kernel: space.json's "shape", one
 * expression a key; NULL has no preset. docs/templates.md explains each.
 */
#define GT_SHAPE_LIST(X)                                                                   \
    X(TILE_M, "tile_m", NULL)                                                              \
    X(TILE_N, "tile_n", NULL)                                                              \
    X(TILE_K, "tile_k", NULL)                                                              \
    X(PRODUCTS, "products", "0")                                                           \
    X(SPLIT, "split", "1")                                                                 \
    X(STREAM, "stream", "0")                                                               \
    X(STREAM_SLABS, "stream_slabs", "0")                                                   \
    X(AHEAD, "ahead", "0")                                                                 \
    X(GROUP, "group", "1")                                                                 \
    X(REGS, "regs", "0")                                                                   \
    X(FIT, "fit", "1")                                                                     \
    X(LOADS, "loads", "0")                                                                 \
    X(BURST, "burst", "0")                                                                 \
    X(LINES, "lines", "0")                                                                 \
    X(CONFLICTS, "conflicts", "0")                                                         \
    X(COPIES, "copies", "0")                                                               \
    X(SLAB, "slab", "0")                                                                   \
    X(FOLDS, "folds", "1")                                                                 \
    X(STORE, "store", "100")                                                               \
    X(TENSOR, "tensor", "0")                                                               \
    X(MOVED, "moved", "0")                                                                 \
    X(WIDTH, "width", "1")

enum gt_shape_key {
#define X(id, key, preset) GT_SHAPE_##id,
    GT_SHAPE_LIST(X)
#undef X
        GT_SHAPE_COUNT
};

/* The families with which tables compare the others. */
enum gt_role {
    GT_ROLE_NONE,
    GT_ROLE_BASELINE, /* the simplest kernel: speed-ups are relative to it */
    GT_ROLE_TEXTBOOK  /* the kernel that textbooks teach next */
};

/* How the kernels of a family compute a batch: space.json's "batch". */
enum gt_batching {
    GT_BATCHING_NONE, /* they do not */
    GT_BATCHING_GRID, /* each product has blocks of its own, by the grid's y and z, unless
                       * the point walks */
    GT_BATCHING_OWN,  /* the family's launch and kernels deal with all products */
    GT_BATCHING_ONLY  /* the same, and single products are refused */
};

/* The order of sums of a family's points: space.json's "sums". See family_sums.c. */
enum { GT_SUMS_MAX = 12, GT_ORDER_MAX = 96 };
struct gt_sums {
    char by[GT_NAME_MAX]; /* the instruction and the way; "": the family states none */
    struct gt_expr *when; /* 0: the point has no order that m leaves alone */
    bool is_default;      /* the default point's order is for problems without records */
    int count;
    struct {
        char name[GT_NAME_MAX];
        struct gt_expr *value;
    } number[GT_SUMS_MAX];
};

/* A rung of the ladder: the points of the family that have the fixed values. */
struct gt_rung {
    char name[GT_RUNG_NAME_MAX];
    struct gt_point fixed;
};

/* A file of a template. */
struct gt_template {
    char *name; /* "tile/tile.cl", the name in compiler messages */
    char *text;
};

struct gt_family {
    char name[GT_NAME_MAX];
    char hash[65]; /* see family_hash.c */
    char *about;   /* one sentence */
    /* By gemmtune_backend: the files of the template, in their order. The first one without
     * a name ends them. */
    struct gt_template source[GT_BACKENDS][GT_TEMPLATES_MAX];
    char entry[GT_NAME_MAX]; /* name of the main kernel */
    uint64_t uses;           /* bit i: part i of templates/common/ */
    uint64_t dtypes;         /* bit i: row i of core/dtype.h */
    uint64_t layouts;        /* bits of gt_layout_bit */
    int min_cc[GT_DTYPES];   /* least compute capability of each mix, on CUDA and for ptx */
    uint64_t cuda_only;      /* gt_dtype_bit of the mixes that other backends do not get */
    int max_cc;              /* greatest compute capability, there */
    bool ptx;                /* its OpenCL source contains PTX */
    int rank;                /* default points are offered in this order, lowest first */
    enum gt_role role;
    bool pointers; /* it deals with arrays of pointers itself */
    bool overlap;  /* kernels begin with GT_FOLLOW: they may be launched early */
    enum gt_batching batching;
    bool epilogue;    /* stores of C compute the epilogue of a problem that has one */
    bool same_bits;   /* the same operands give the same bits in every run */
    bool says_bits;   /* space.json says so, or the contrary */
    bool per_problem; /* an image serves one problem: derived names are numbers in it */
    struct gt_symbols symbols;
    int constant_count, param_count, derive_count, require_count, accept_count, arg_count;
    struct gt_constant constant[GT_CONSTANTS_MAX];
    struct gt_param param[GT_POINT_MAX];
    /* Points that did well before, in parameter order. A search tries the legal ones
     * first. */
    int start_count;
    /* indexes of the parameters that a lookup may change, so that a point can run a
     * problem that it was not made for */
    int adapt_count, adapt[GT_ADAPT_MAX];
    int64_t start[GT_STARTS_MAX][GT_POINT_MAX];
    struct gt_sums sums;
    int rung_count; /* 0: the family does not stand on the ladder */
    struct gt_rung rung[GT_RUNGS_MAX];
    struct gt_derived derive[GT_RULES_MAX];
    struct gt_rule require[GT_RULES_MAX]; /* which points a device may have, for a type */
    struct gt_rule accept[GT_RULES_MAX];  /* which problems a built kernel may run */
    struct gt_expr *align[3];             /* bytes, of the row starts of A, B and C */
    struct gt_expr *workspace;            /* bytes */
    struct gt_expr *walk;     /* rows of a tile when one launch has all products; else 0 */
    struct gt_expr *panel[2]; /* rows and columns of a panel of C; NULL: all of C is one */
    int pass_count, main;     /* pass[main] is the pass of "launch" */
    struct gt_pass pass[GT_PASSES_MAX]; /* in the order they run */
    bool has_shape;
    struct gt_expr *shape[GT_SHAPE_COUNT]; /* of point and problem */
    /* All of "derive", "require" and "shape" at once, as C; NULL: the family is not built
     * in, or has no shape. */
    bool (*derive_all)(int64_t *value);   /* false: a name cannot be computed */
    int (*refusal)(const int64_t *value); /* the first rule that refuses; -1: none does */
    bool (*shape_all)(int64_t *out, const int64_t *value); /* false: no shape */
    int map_count;
    struct gt_map map[GT_MAPS_MAX];
    gt_arg args[GT_ARGS_MAX];
};

/* ---- the collection -------------------------------------------------------------- */

struct gt_families; /* a list; immutable while anyone else reads it */

/* The built-in families, by rank, then name; NULL ends the list. tools/families.c writes
 * it, as build/gen/families.c, out of templates/. */
extern const struct gt_family *const gt_families_built_in[];

/* A list of all built-in families. */
gt_status gt_families_create(struct gt_families **out, struct gt_err *err);
/* Adds every DIR/<name>/space.json; a family of an existing name replaces it. */
gt_status gt_families_add_folder(struct gt_families *f, const char *folder,
                                 struct gt_err *err);
/* The same without the families that cannot be read: a line of that level says why. A
 * family of such a name that the list has already goes as well, since it is not the one
 * that the folder means. EINVAL: the folder has no sound family. */
gt_status gt_families_add_sound(struct gt_families *f, const char *folder,
                                gemmtune_log_level level, struct gt_err *err);
void gt_families_destroy(struct gt_families *f);
size_t gt_families_count(const struct gt_families *f);
/* By rank, then name; NULL past the end. */
const struct gt_family *gt_families_at(const struct gt_families *f, size_t i);
const struct gt_family *gt_families_find(const struct gt_families *f, const char *name);
/* The same, or NULL unless its hash is this one. Results of another hash are stale. */
const struct gt_family *gt_families_current(const struct gt_families *f, const char *name,
                                            const char *hash);
/* The first family of this role; NULL when there is none. */
const struct gt_family *gt_families_with_role(const struct gt_families *f,
                                              enum gt_role role);

/* Parses one family; the collection and tests use it. `folder_name` is the expected
 * name. `source`: the text of each file of a backend's template. */
gt_status gt_family_parse(struct gt_family **out, const char *folder_name,
                          const char *json_name, const char *json,
                          const char *const source[GT_BACKENDS], struct gt_err *err);
void gt_family_destroy(struct gt_family *f);

/* ---- a point of a family on a device, for a type and layout ---------------------- */

/* Bit of a mix in gt_family.dtypes; 0 for NULL. */
uint64_t gt_dtype_bit(const struct gt_dtype *row);
/* Bits of the mixes that a word of "dtypes" means: the mix of that name, for "int8" all
 * mixes with 8-bit integers as A and B, or for "fp8", "fp8@promoted" and "fp8@fast" all
 * mixes of this arithmetic with 8-bit floats as A and B. 0 for any other word. */
uint64_t gt_dtype_word_bits(const char *word);
/* The family runs the kernels of this mix for the problem: the problem's own mix or, when
 * the family does not declare it, the mix of the same types in strict arithmetic. NULL when
 * it declares neither. */
const struct gt_dtype *gt_family_dtype(const struct gt_family *f,
                                       const gemmtune_problem *p);
/* Bit of "nn", "nt", "tn" or "tt" in gt_family.layouts; 0 for any other text. */
uint64_t gt_layout_bit(const char *layout);

/* Values of every symbol. Fill with gt_bind_*; evaluate rules and launches on it. A plain
 * value: copy it freely. */
struct gt_binding {
    const struct gt_family *family;
    const struct gt_dtype *dtype; /* gt_family_dtype's: f16 and bf16 have the same sizes */
    bool is_batch;                /* the kernels are those for batches */
    bool row_order;               /* the problem has it: rules about speed do not count */
    gemmtune_batch_kind batch_kind;
    /* Where rows are grouped or masked, M and BATCH are meant for slots: see
     * templates/common/batch.h. These two are the problem's. */
    int64_t m, batch;
    int64_t n;         /* the problem's; N is a panel's */
    int64_t panels[2]; /* along C's rows and columns; M and N are the first one's */
    int64_t rows;      /* of C that are expected to be computed, in all products */
    int64_t stride[3]; /* of A, B and C in a batch, else 0 */
    int64_t slot_rows; /* rows of a slot; 0: there are no slots */
    int64_t walks;     /* rows of a tile when one launch has all products' tiles; else 0 */
    const struct gt_epilogue *epilogue; /* of the problem, see epilogue_keep.h */
    int64_t value[GT_SYMBOLS_MAX];
};

/* The arguments of the family's kernels, in order; returns how many. Kernels for batches
 * that are numbered by the grid take the batch and its strides after the arguments of
 * "args". */
int gt_family_args(gt_arg out[GT_ARGS_MAX], const struct gt_binding *b);

/* The name in kernels of an argument that is a pointer; NULL of another one. */
const char *gt_arg_pointer(gt_arg arg);

/* Whether the family has a kernel for the problem's types and layout on the device. If not,
 * `why` (may be NULL) gets one clause. */
bool gt_family_serves(const struct gt_family *f, const struct gt_device *d,
                      const gemmtune_problem *p, const char **why);

/* Binds device, types and layout, and the problem's dimensions for "accept" and
 * "launch". */
void gt_bind_problem(struct gt_binding *b, const struct gt_family *f,
                     const struct gt_device *d, const gemmtune_problem *p);
/* Binds the alignment of rows: the largest power of two, at most 16, that divides the
 * pointers and the row starts. Pointers are multiples of `pointer_align` bytes and of their
 * own element: 1 says no more than that. gt_bind_problem binds it for pointers aligned to
 * 16. */
void gt_bind_align(struct gt_binding *b, const gemmtune_problem *p, int64_t pointer_align);
/* The point's values in the family's parameter order, checked against the domains. EINVAL
 * as gt_bind_point. */
gt_status gt_point_values(int64_t values[GT_POINT_MAX], const struct gt_family *f,
                          const struct gt_point *point, struct gt_err *err);
/* The values of a point in text form, as gt_point_parse and gt_point_values. A text that
 * names all parameters in their order is read at once. */
gt_status gt_values_parse(int64_t values[GT_POINT_MAX], const struct gt_family *f,
                          const char *text, struct gt_err *err);
/* The point of these values. */
void gt_point_of_values(struct gt_point *out, const struct gt_family *f,
                        const int64_t *values);
/* Binds the point's values and computes derived names. EINVAL: a parameter is missing or
 * unknown, its value is outside the domain, or a derived expression fails. */
gt_status gt_bind_point(struct gt_binding *b, const struct gt_point *point,
                        struct gt_err *err);
/* gt_bind_point without the look-up by name: values in the family's parameter order. */
gt_status gt_bind_values(struct gt_binding *b, const int64_t *values, struct gt_err *err);
/* EINVAL unless each value is of its parameter's domain. */
gt_status gt_values_check(const struct gt_family *f, const int64_t *values,
                          struct gt_err *err);
/* gt_bind_values for values that passed gt_values_check. Others are bound as they are. */
gt_status gt_bind_checked(struct gt_binding *b, const int64_t *values, struct gt_err *err);

/* The steps of gt_bind_checked that depend on the point beside derived names, for a
 * caller that binds one parameter after the other. gt_bind_walk binds WALK:
 * whether one launch has the tiles of all products. It is 0 unless gt_bind_may_walk: for
 * a single product, and for matrices of pointers that the family's walks cannot follow.
 * gt_bind_slots binds M and BATCH where there are slots, as the point's tiles are high;
 * derived names are computed before it, and again after it. EINVAL: an expression fails. */
bool gt_bind_may_walk(const struct gt_binding *b);
gt_status gt_bind_walk(struct gt_binding *b, struct gt_err *err);
gt_status gt_bind_slots(struct gt_binding *b, struct gt_err *err);

/* The launches of some points compute C panel by panel. Sets `panels`; M and N become the
 * rows and columns of a panel, and derived names are computed again. The last panels of
 * rows and columns may be smaller. EINVAL: an expression fails, or one panel is all of C.
 * (panels.c) */
gt_status gt_bind_panels(struct gt_binding *b, struct gt_err *err);
/* A panel of C: where it begins, and how large it is. It is computed from the same rows of
 * op(A), or the same columns of op(B), as the panel before. */
struct gt_panel {
    int64_t row, col, m, n;
    bool same_rows, same_cols;
    int kind; /* bit 0: it is in the last column of panels; bit 1: in the last row */
};
enum { GT_PANEL_KINDS = 4 };
/* The panels in the order in which they are computed, of a binding that has panels. */
struct gt_panel gt_panel_at(const struct gt_binding *b, int64_t number);
/* M and N become the panel's. */
gt_status gt_bind_panel(struct gt_binding *b, const struct gt_panel *p, struct gt_err *err);
/* Computes derived names. EINVAL: one cannot be computed. */
gt_status gt_bind_derived(struct gt_binding *b, struct gt_err *err);
static inline bool gt_has_panels(const struct gt_binding *b) {
    return b->panels[0] * b->panels[1] > 1;
}

/* The first require rule that refuses, or NULL when all hold. An expression error
 * refuses. */
const struct gt_rule *gt_refused(const struct gt_binding *b);
/* The first accept rule (or alignment demand) that refuses the problem; NULL when it may
 * run. */
const char *gt_not_accepted(const struct gt_binding *b);
/* Whether the shape of the problem is accepted, and the point is refused all the same: by
 * the alignment of its rows, or by a require rule, as a copy of four f64 is. */
bool gt_is_misfit(const struct gt_binding *b);
/* The bound point's values. The parameter that the refusing rule names gets its next
 * smaller one. A rule that names none lowers *last, the index of the parameter that
 * was lowered before; -1: there is none. Sets *last. False, and nothing is written, when no
 * rule refuses, when there is no parameter to lower, or no smaller value. */
bool gt_family_lower(int64_t values[GT_POINT_MAX], int *last, const struct gt_binding *b);
/* Alignment in bytes that the pointers and rows of A (0), B (1) or C (2) must have. */
int64_t gt_align_needed(const struct gt_binding *b, int operand);
/* Whether the rows of the bound problem have that alignment. */
bool gt_align_met(const struct gt_binding *b, int operand);
/* The values of the family's shape for the bound problem and point. False when the family
 * has none, or one of its expressions fails or is negative. */
bool gt_shape_of(int64_t out[GT_SHAPE_COUNT], const struct gt_binding *b);
void gt_family_default(const struct gt_family *f, struct gt_point *out);
/* Start i of start_count, as a point. */
void gt_family_start(const struct gt_family *f, int i, struct gt_point *out);
/* Sets the parameters of "adapt" to combination `which` of their values, from 0. False past
 * the last one. */
bool gt_family_adapt(int64_t values[GT_POINT_MAX], const struct gt_family *f, int which);
/* The parameter that splits k: the first one that the shape's "split" uses. -1: none. */
int gt_family_split(const struct gt_family *f);

/*
 * The order in which a kernel of the bound point adds the k products of an element of C, as
 * a line of text: "fma", "mma split=4 slab=32". Two kernels with the same text for problems
 * of one k, types and layout give an element the same bits on one architecture. The order
 * does not depend on m, on the batch, or on strides and alignment, since the expressions of
 * "sums" may not use them. Integer sums have the order "exact" in every family. False, with
 * a clause in `why` (may be NULL), when the point states no order.
 */
bool gt_order_of(char out[GT_ORDER_MAX], const struct gt_binding *b, const char **why);
/* The value of each number of "sums" in a text of gt_order_of. False: no point of the
 * family has this text, with floating-point types or integers. "" stands for any order; its
 * numbers are 0 and say nothing. */
bool gt_order_numbers(int64_t out[GT_SUMS_MAX], const struct gt_family *f, bool is_float,
                      const char *order);

/* ---- source text ----------------------------------------------------------------- */

/*
 * The whole text that a compiler sees:
 * - #defines of types, layout, parameters, derived and device names (each GT_<NAME>),
 * - GT_PARAMS; where pointers are buffers, with the elements before each first one, by
 *   which GT_AT_OFFSETS() moves the pointers at the beginning of every kernel,
 * - the parts of templates/common/ that the family uses,
 * - every require rule as a static assertion,
 * - a #line and the template.
 * One text serves every problem of the binding's types and layout. M, N and K are variables
 * of the kernel in it. Derived names that use them are expressions in the text; a derived
 * name that uses LDA.. or ALIGN_A.. is not in it. The family's "variants" are numbers in
 * it, with "per_problem" all derived names are: there is a text for each value of them. The
 * caller frees *out.
 */
gt_status gt_source_of(char **out, const struct gt_binding *b, const struct gt_device *d,
                       struct gt_err *err);
/* The embedded text of a path such as "templates/tile/tile.cl", or NULL. Lives for ever. */
const char *gt_template_text(const char *path);
/* The text of one of the program's own helper kernels: type and device macros for `p`, the
 * parts dialect and types, a #line that names `name`, and `text`. Without `p` there are no
 * types. The caller frees *out. */
gt_status gt_source_plain(char **out, const struct gt_device *d, const gemmtune_problem *p,
                          const char *name, const char *text, struct gt_err *err);

#endif
