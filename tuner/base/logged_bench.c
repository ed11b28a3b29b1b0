/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logged_bench.c - a line of rocBLAS or hipBLASLt: a command of their benchmarks, as bench
 * logging writes it, or the members of a call in braces, as profile logging and PyTorch
 * write them. Both are names with values. Whatever has no effect on the problem is passed
 * over.
 */
#include "tuner/base/logged_inside.h"

#include <string.h>

/* ---- the words ---- */

static const struct gt_logged_word types[] = {
    {"f32_r", GEMMTUNE_F32},
    {"s", GEMMTUNE_F32},
    {"f64_r", GEMMTUNE_F64},
    {"d", GEMMTUNE_F64},
    {"f16_r", GEMMTUNE_F16},
    {"h", GEMMTUNE_F16},
    {"bf16_r", GEMMTUNE_BF16},
    {"f8_r", GEMMTUNE_E4M3},
    {"bf8_r", GEMMTUNE_E5M2},
    {"i8_r", GEMMTUNE_I8},
    {"i8", GEMMTUNE_I8},
    {"i32_r", GEMMTUNE_I32},
    {"i", GEMMTUNE_I32},
    {"f32_c", GT_LOGGED_COMPLEX_TYPE},
    {"f64_c", GT_LOGGED_COMPLEX_TYPE},
    {"c", GT_LOGGED_COMPLEX_TYPE},
    {"z", GT_LOGGED_COMPLEX_TYPE},
    {NULL, 0},
};

static const struct gt_logged_word activations[] = {
    {"", 0},
    {"none", 0},
    {"None", 0},
    {"relu", 1},
    {"RELU", 1},
    /* the form with tanh */
    {"gelu", 2},
    {"GELU", 2},
    {"swish", 3},
    {"silu", 3},
    {NULL, 0},
};
static const char *const steps[] = {NULL, "relu", "gelu_tanh", "silu"};

/* ---- names and values ---- */

enum name {
    FUNCTION,
    PRECISION,
    TRANS_A,
    TRANS_B,
    M,
    N,
    K,
    LDA,
    LDB,
    LDC,
    LDD,
    STRIDE_A,
    STRIDE_B,
    STRIDE_C,
    STRIDE_D,
    BATCH,
    TYPE_A,
    TYPE_B,
    TYPE_C,
    TYPE_D,
    COMPUTE,
    BETA,
    ACTIVATION,
    BIAS_TYPE,
    SCALE_A,
    SCALE_B,
    CALLS,
    BIAS,
    BIAS_SOURCE,
    SCALE_ROWS,
    GRADIENT,
    AUXILIARY,
    GROUPED,
    NAMES
};

/* A name as an option, short and long, and as a member. As an option a flag has no value;
 * as a member it is true or false. */
static const struct {
    const char *brief, *option, *member;
    bool flag;
} names[NAMES] = {
    [FUNCTION] = {"-f", "--function", "function", false},
    [PRECISION] = {"-r", "--precision", NULL, false},
    [TRANS_A] = {"--transposeA", "--transA", "transA", false},
    [TRANS_B] = {"--transposeB", "--transB", "transB", false},
    [M] = {"-m", "--sizem", "M", false},
    [N] = {"-n", "--sizen", "N", false},
    [K] = {"-k", "--sizek", "K", false},
    [LDA] = {NULL, "--lda", "lda", false},
    [LDB] = {NULL, "--ldb", "ldb", false},
    [LDC] = {NULL, "--ldc", "ldc", false},
    [LDD] = {NULL, "--ldd", "ldd", false},
    [STRIDE_A] = {NULL, "--stride_a", "stride_a", false},
    [STRIDE_B] = {NULL, "--stride_b", "stride_b", false},
    [STRIDE_C] = {NULL, "--stride_c", "stride_c", false},
    [STRIDE_D] = {NULL, "--stride_d", "stride_d", false},
    [BATCH] = {"--batch", "--batch_count", "batch_count", false},
    [TYPE_A] = {NULL, "--a_type", "a_type", false},
    [TYPE_B] = {NULL, "--b_type", "b_type", false},
    [TYPE_C] = {NULL, "--c_type", "c_type", false},
    [TYPE_D] = {NULL, "--d_type", "d_type", false},
    [COMPUTE] = {NULL, "--compute_type", "compute_type", false},
    [BETA] = {NULL, "--beta", "beta", false},
    [ACTIVATION] = {NULL, "--activation_type", "activation", false},
    [BIAS_TYPE] = {NULL, "--bias_type", "bias_type", false},
    [SCALE_A] = {NULL, "--scaleA", "scaleA", false},
    [SCALE_B] = {NULL, "--scaleB", "scaleB", false},
    [CALLS] = {NULL, NULL, "call_count", false},
    [BIAS] = {NULL, "--bias_vector", "bias_vector", true},
    [BIAS_SOURCE] = {NULL, "--bias_source", "bias_source", false},
    [SCALE_ROWS] = {NULL, "--scaleAlpha_vector", "scaleAlpha_vector", true},
    [GRADIENT] = {NULL, "--gradient", "gradient", true},
    [AUXILIARY] = {NULL, "--use_e", "use_e", true},
    [GROUPED] = {NULL, "--grouped_gemm", "grouped_gemm", true},
};

/* The value of each name; its text is NULL when the line does not have the name. */
struct values {
    struct gt_piece of[NAMES];
};

static bool is_word(const char *word, struct gt_piece piece) {
    return word != NULL && gt_piece_is(piece, word);
}

static struct gt_piece take_word(struct gt_reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
        r->at++;
    return gt_piece_take(r, " \t");
}

/* Reads the words of a command. A name without a value has another name after it. */
static void read_options(struct values *v, struct gt_reader r) {
    for (struct gt_piece word = take_word(&r); word.len > 0; word = take_word(&r)) {
        int i = 0;
        while (i < NAMES && !is_word(names[i].brief, word) &&
               !is_word(names[i].option, word))
            i++;
        if (i == NAMES)
            continue;
        v->of[i] = (struct gt_piece){"", 0, ' '};
        struct gt_reader ahead = r;
        const struct gt_piece value = take_word(&ahead);
        if (!names[i].flag && !(value.len > 1 && memcmp(value.text, "--", 2) == 0)) {
            v->of[i] = value;
            r = ahead;
        }
    }
}

/* Without the blanks and quotes around it. */
static struct gt_piece bare(struct gt_piece p) {
    while (p.len > 0 && gt_logged_is(*p.text, " \t\"'"))
        p.text++, p.len--;
    while (p.len > 0 && gt_logged_is(p.text[p.len - 1], " \t\"'"))
        p.len--;
    return p;
}

static bool is_off(struct gt_piece value) {
    return gt_piece_is(value, "false") || gt_piece_is(value, "0");
}

/* Reads "name: value, name: value }". */
static bool read_members(struct values *v, struct gt_reader r) {
    char stop;
    do {
        struct gt_piece name = bare(gt_piece_take(&r, ":,}"));
        stop = name.stop;
        if (stop != ':')
            continue;
        const struct gt_piece value = bare(gt_piece_take(&r, ",}"));
        stop = value.stop;
        for (int i = 0; i < NAMES; i++)
            if (is_word(names[i].member, name) && !(names[i].flag && is_off(value)))
                v->of[i] = value;
        if (gt_piece_is(name, "rocblas_function"))
            v->of[FUNCTION] = value;
        if (gt_piece_is(name, "activation_type"))
            v->of[ACTIVATION] = value;
    } while (stop == ',' || stop == ':');
    return stop == '}';
}

/* ---- from values to a call ---- */

static bool has(const struct values *v, int name) {
    return v->of[name].text != NULL;
}

static bool begins(struct gt_piece *p, const char *word) {
    const int len = (int)strlen(word);
    if (p->len < len || memcmp(p->text, word, (size_t)len) != 0)
        return false;
    p->text += len, p->len -= len;
    return true;
}

/* Reads the name of a function: "gemm_strided_batched_ex", "rocblas_sgemm_64". A letter
 * before "gemm" is the precision. */
static void read_function(struct gt_logged_call *c, struct values *v) {
    static const char *const products[] = {"",
                                           "_ex",
                                           "_ex3",
                                           "_batched",
                                           "_batched_ex",
                                           "_batched_ex3",
                                           "_strided_batched",
                                           "_strided_batched_ex",
                                           "_strided_batched_ex3"};
    struct gt_piece f =
        has(v, FUNCTION) ? v->of[FUNCTION] : (struct gt_piece){"matmul", 6, 0};
    if (gt_piece_is(f, "matmul"))
        return;
    (void)begins(&f, "rocblas_");
    if (f.len > 3 && memcmp(f.text + f.len - 3, "_64", 3) == 0)
        f.len -= 3;
    if (f.len > 0 && gt_logged_is(*f.text, "hsdcz")) {
        v->of[PRECISION] = (struct gt_piece){f.text, 1, ' '};
        f.text++, f.len--;
    }
    c->fate = begins(&f, "gemm") ? GT_LOGGED_PROBLEM : GT_LOGGED_OTHER;
    size_t i = 0;
    while (i < sizeof products / sizeof *products && !gt_piece_is(f, products[i]))
        i++;
    if (i == sizeof products / sizeof *products)
        c->fate = GT_LOGGED_OTHER;
    c->has_pointers = i >= 3 && i < 6;
}

static int type_of(const struct values *v, int name, int otherwise) {
    return has(v, name) ? gt_logged_value(types, v->of[name], GT_LOGGED_UNKNOWN_TYPE)
                        : otherwise;
}

/* The types of A, B, the result and the sums. All are the precision when they are not
 * named; the sums of ordinary products of f16 are, too. */
static void read_types(struct gt_logged_call *c, const struct values *v) {
    const int all = type_of(v, PRECISION, GT_LOGGED_NO_TYPE);
    c->type_a = type_of(v, TYPE_A, all);
    c->type_b = type_of(v, TYPE_B, all);
    c->type_c = type_of(v, TYPE_D, type_of(v, TYPE_C, all));
    c->type_acc = all == GEMMTUNE_I8 || all == GEMMTUNE_BF16 ? GT_LOGGED_NO_TYPE : all;
    if (has(v, COMPUTE) &&
        (gt_piece_is(v->of[COMPUTE], "xf32_r") || gt_piece_is(v->of[COMPUTE], "x"))) {
        c->math = GEMMTUNE_MATH_TF32;
        c->type_acc = GEMMTUNE_F32;
    } else {
        c->type_acc = type_of(v, COMPUTE, c->type_acc);
    }
}

static void read_trans(bool *out, struct gt_logged_call *c, const struct values *v,
                       int name, struct gt_err *err) {
    const struct gt_piece p = has(v, name) ? v->of[name] : (struct gt_piece){"N", 1, ' '};
    *out = p.len == 1 && gt_logged_is(*p.text, "TtCc");
    if (p.len != 1 || !gt_logged_is(*p.text, "NnTtCc"))
        gt_logged_damage(c, err, "%s is \"%.*s\": not N, T or C", names[name].member,
                         p.len < 40 ? p.len : 40, p.text);
}

static void read_number(int64_t *out, struct gt_logged_call *c, const struct values *v,
                        int name, struct gt_err *err) {
    const struct gt_piece p = v->of[name];
    if (has(v, name) && (!gt_text_int(out, p.text, (size_t)p.len) || *out < 0))
        gt_logged_damage(c, err, "%s is \"%.*s\": not a size", names[name].member,
                         p.len < 40 ? p.len : 40, p.text);
}

static void need_sizes(struct gt_logged_call *c, const struct values *v,
                       struct gt_err *err) {
    for (int i = M; i <= K; i++)
        if (!has(v, i) || v->of[i].len == 0)
            gt_logged_damage(c, err, "there is no %s", names[i].member);
}

/* A text is 0 when it has no digit but 0 before an exponent. */
static bool is_zero(struct gt_piece p) {
    for (int i = 0; i < p.len && !gt_logged_is(p.text[i], "eE,"); i++)
        if (p.text[i] >= '1' && p.text[i] <= '9')
            return false;
    return true;
}

static void read_numbers(struct gt_logged_call *c, const struct values *v,
                         struct gt_err *err) {
    const struct {
        int name;
        int64_t *out;
    } numbers[] = {{M, &c->m},     {N, &c->n},     {K, &c->k},         {LDA, &c->lda},
                   {LDB, &c->ldb}, {LDC, &c->ldc}, {BATCH, &c->batch}, {CALLS, &c->calls}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        read_number(numbers[i].out, c, v, numbers[i].name, err);
    if (c->batch < 2)
        return;
    read_number(&c->stride_a, c, v, STRIDE_A, err);
    read_number(&c->stride_b, c, v, STRIDE_B, err);
    read_number(&c->stride_c, c, v, STRIDE_C, err);
}

/* The result D takes the place of C. Where C is read it must be the same matrix. */
static void read_result(struct gt_logged_call *c, const struct values *v,
                        struct gt_err *err) {
    const int64_t ldc = c->ldc, stride_c = c->stride_c;
    const int type_c = type_of(v, TYPE_C, c->type_c);
    c->reads_c = has(v, BETA) && !is_zero(v->of[BETA]);
    read_number(&c->ldc, c, v, LDD, err);
    if (c->batch > 1)
        read_number(&c->stride_c, c, v, STRIDE_D, err);
    if (c->fate == GT_LOGGED_PROBLEM && c->reads_c &&
        (c->ldc != ldc || c->stride_c != stride_c || c->type_c != type_c))
        c->fate = GT_LOGGED_APART;
}

static bool is_vector(const struct values *v, int name) {
    return has(v, name) && gt_piece_is(v->of[name], "v");
}

static void read_epilogue(struct gt_logged_call *c, const struct values *v) {
    const int activation =
        has(v, ACTIVATION) ? gt_logged_value(activations, v->of[ACTIVATION], -1) : 0;
    c->has_bias = has(v, BIAS);
    if (c->has_bias)
        c->bias_type = type_of(v, BIAS_TYPE, GT_LOGGED_NO_TYPE);
    c->activation = activation > 0 ? steps[activation] : NULL;
    c->scales_a = is_vector(v, SCALE_A) || has(v, SCALE_ROWS);
    c->scales_b = is_vector(v, SCALE_B);
    const bool scaled = c->scales_a || c->scales_b;
    if (activation < 0 || has(v, GRADIENT) || has(v, AUXILIARY) ||
        (is_vector(v, SCALE_A) && has(v, SCALE_ROWS)) || (scaled && c->reads_c) ||
        (has(v, BIAS_SOURCE) && !gt_piece_is(v->of[BIAS_SOURCE], "d")))
        c->fate = GT_LOGGED_EPILOGUE;
}

static void read_call(struct gt_logged_call *c, struct values *v, struct gt_err *err) {
    read_function(c, v);
    if (c->fate == GT_LOGGED_PROBLEM && has(v, GROUPED))
        c->fate = GT_LOGGED_GROUPED;
    if (c->fate != GT_LOGGED_PROBLEM)
        return;
    read_types(c, v);
    read_trans(&c->trans_a, c, v, TRANS_A, err);
    read_trans(&c->trans_b, c, v, TRANS_B, err);
    read_numbers(c, v, err);
    need_sizes(c, v, err);
    read_result(c, v, err);
    if (c->fate == GT_LOGGED_PROBLEM)
        read_epilogue(c, v);
}

bool gt_logged_bench(struct gt_logged_call *c, const char *line, size_t len,
                     struct gt_err *err) {
    static const char *const commands[] = {"rocblas-bench", "hipblaslt-bench"};
    static const char *const members[] = {"rocblas_function", "function: matmul",
                                          "function: \"matmul\""};
    struct values v = {0};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const char *at = gt_logged_after(line, len, commands[i]);
        if (at == NULL || at == line + len || (*at != ' ' && *at != '\t'))
            continue;
        read_options(&v, (struct gt_reader){at, line + len});
        read_call(c, &v, err);
        return true;
    }
    const char *brace = gt_logged_after(line, len, "{");
    bool ours = false;
    for (size_t i = 0; brace != NULL && i < sizeof members / sizeof *members; i++)
        ours = ours || gt_logged_after(line, len, members[i]) != NULL;
    if (!ours)
        return false;
    if (read_members(&v, (struct gt_reader){brace, line + len}))
        read_call(c, &v, err);
    else
        gt_logged_damage(c, err, "the line has no closing brace");
    return true;
}
