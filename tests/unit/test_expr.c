/* SPDX-License-Identifier: Apache-2.0 */
/* Without --wrap=malloc the tests of running out of memory are skipped. */
#include "core/expr.h"
#include "tests/unit/short_of_memory.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the names of these tests ---- */

static const struct {
    const char *name;
    int64_t value;
} known[] = {
    {"M", 1500},      {"N", 12},        {"K", 90000},        {"ZERO", 0},
    {"SEVEN_7", 7},   {"MINUS", -5},    {"MOST", INT64_MAX}, {"LEAST", INT64_MIN},
    {"sizeof(A)", 2}, {"sizeof(B)", 4}, {"sizeof(C)", 8},    {"sizeof(ACC)", 16},
};

enum { KNOWN = sizeof known / sizeof *known };

static struct gt_symbols symbols;
static int64_t values[GT_SYMBOLS_MAX];

static int define_names(void **state) {
    (void)state;
    for (int i = 0; i < KNOWN; i++) {
        int slot = -1;
        if (gt_symbols_add(&slot, &symbols, known[i].name, NULL) != GEMMTUNE_OK ||
            slot != i)
            return -1;
        values[slot] = known[i].value;
    }
    return 0;
}

static struct gt_expr *parsed(const char *text) {
    struct gt_expr *e = NULL;
    struct gt_err err = {""};
    const gt_status status = gt_expr_parse(&e, text, &symbols, &err);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
    assert_non_null(e);
    return e;
}

static int64_t value_of(const char *text) {
    struct gt_expr *e = parsed(text);
    struct gt_err err = {""};
    int64_t value = 0;
    const gt_status status = gt_expr_eval(&value, e, values, &err);
    gt_expr_destroy(e);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
    return value;
}

/* ---- symbols ---- */

static void test_symbols_find_and_add(void **state) {
    (void)state;
    for (int i = 0; i < KNOWN; i++)
        assert_int_equal(gt_symbols_find(&symbols, known[i].name), i);
    assert_int_equal(gt_symbols_find(&symbols, "m"), -1);
    assert_int_equal(gt_symbols_find(&symbols, ""), -1);
}

static void test_symbols_refuse(void **state) {
    static const char *const malformed[] = {
        "",          "m",
        "1M",        "_M",
        "M N",       "sizeof(D)",
        "sizeof",    "sizeof( A )",
        "M\xC3\x89", "ABCDEFGHIJKLMNOPQRSTUVWX", /* 24 bytes */
    };
    struct gt_symbols full = {0};
    struct gt_err err;
    int slot = 77;
    (void)state;
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        assert_int_equal(gt_symbols_add(&slot, &full, malformed[i], &err), GEMMTUNE_EINVAL);
        assert_non_null(strstr(err.line, "is not a name"));
    }
    for (int i = 0; i < GT_SYMBOLS_MAX; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "P%d", i);
        assert_int_equal(gt_symbols_add(&slot, &full, name, &err), GEMMTUNE_OK);
        assert_int_equal(slot, i);
    }
    assert_int_equal(gt_symbols_add(&slot, &full, "P7", &err), GEMMTUNE_EINVAL);
    assert_string_equal(err.line, "P7 is defined a second time");
    assert_int_equal(gt_symbols_add(&slot, &full, "MORE", &err), GEMMTUNE_EINVAL);
    assert_string_equal(err.line, "no room for MORE: at most 144 names");
    assert_int_equal(full.count, GT_SYMBOLS_MAX);
}

/* ---- values ---- */

/* The compiler is the oracle: the same text, as C. */
#define SAME_AS_C(expression) assert_int_equal(value_of(#expression), (int64_t)(expression))

static void test_agrees_with_c(void **state) {
    const int64_t M = 1500;
    const int64_t N = 12;
    const int64_t K = 90000;
    const int64_t ZERO = 0;
    (void)state;
    SAME_AS_C(1 + 2 * 3);
    SAME_AS_C((1 + 2) * 3);
    SAME_AS_C(10 - 4 - 3);
    SAME_AS_C(100 / 7 / 2);
    SAME_AS_C(100 / 7 * 7 + 100 % 7);
    SAME_AS_C(-7 / 2);
    SAME_AS_C(-7 % 2);
    SAME_AS_C(7 / -2);
    SAME_AS_C(7 % -2);
    SAME_AS_C(2 * -3);
    SAME_AS_C(- -3);
    SAME_AS_C(!0 + !5 + !!9);
    SAME_AS_C(!(1 - 1));
    SAME_AS_C(1 < 2);
    SAME_AS_C(2 <= 1);
    SAME_AS_C(2 <= 2);
    SAME_AS_C(2 > 2);
    SAME_AS_C(2 >= 2);
    SAME_AS_C(1 >= 2);
    SAME_AS_C(3 == 3);
    SAME_AS_C(3 == 4);
    SAME_AS_C(3 != 4);
    SAME_AS_C(3 != 3);
    SAME_AS_C(M * N > K ? M : N);
    SAME_AS_C(M * N <= K ? M : N);
    SAME_AS_C(0 ? 1 : 0 ? 2 : 3);
    SAME_AS_C(1 ? 0 ? 4 : 5 : 6);
    SAME_AS_C((ZERO || N) && ZERO);
    SAME_AS_C(5 && 6);
    SAME_AS_C(1 + 1 == 2 ? 10 + 1 : 20 + 1);
}

/* Mixes that the compiler warns about, against the same with parentheses. */
static void test_precedence_without_parentheses(void **state) {
    (void)state;
    assert_int_equal(value_of("ZERO || N && K"), value_of("ZERO || (N && K)"));
    assert_int_equal(value_of("1 || 0 && 0"), 1);
    assert_int_equal(value_of("1 && 0 == 0"), 1);
    assert_int_equal(value_of("2 < 1 == 0"), 1);
    assert_int_equal(value_of("0 == 2 < 1"), 1);
    assert_int_equal(value_of("3 > 2 > 1"), 0);
    assert_int_equal(value_of("!ZERO + 1"), 2);
    assert_int_equal(value_of("-N % 5"), -2);
    assert_int_equal(value_of("M + N * K - M / N % 5 < 3 == 0"), 1);
}

static void test_functions_and_names(void **state) {
    (void)state;
    assert_int_equal(value_of("min(M, N)"), 12);
    assert_int_equal(value_of("max ( M , N )"), 1500);
    assert_int_equal(value_of("min(-1, 1) + max(-1, 1) * 10"), 9);
    assert_int_equal(value_of("cdiv(M, 7)"), 215);
    assert_int_equal(value_of("cdiv(14, 7)"), 2);
    assert_int_equal(value_of("cdiv(0, 7)"), 0);
    assert_int_equal(value_of("cdiv(MOST, 2)"), INT64_MAX / 2 + 1);
    assert_int_equal(value_of("min(max(1, 2), cdiv(9, 4))"), 2);
    assert_int_equal(value_of("sizeof(A) + sizeof( B )*sizeof(C) + sizeof (ACC)"),
                     2 + 32 + 16);
    assert_int_equal(value_of("SEVEN_7+MINUS"), 2);
    assert_int_equal(value_of("\t1\n+ 1 \r"), 2);
    assert_int_equal(value_of("9223372036854775807"), INT64_MAX);
    assert_int_equal(value_of("-9223372036854775807-1"), INT64_MIN);
    assert_int_equal(value_of("LEAST / 1 + MOST"), -1);
}

static void test_lazy_operands_are_not_evaluated(void **state) {
    (void)state;
    assert_int_equal(value_of("ZERO && 1 / ZERO"), 0);
    assert_int_equal(value_of("N || 1 / ZERO"), 1);
    assert_int_equal(value_of("ZERO ? 1 / ZERO : 4"), 4);
    assert_int_equal(value_of("N ? 4 : 1 / ZERO"), 4);
}

static void test_faults_are_errors(void **state) {
    static const struct {
        const char *text, *wrong;
    } cases[] = {
        {"1 / ZERO", "division by zero"},
        {"1 % ZERO", "division by zero"},
        {"cdiv(1, ZERO)", "division by zero"},
        {"cdiv(MINUS, 2)", "negative operand of cdiv"},
        {"cdiv(2, MINUS)", "negative operand of cdiv"},
        {"MOST + 1", "overflow"},
        {"LEAST - 1", "overflow"},
        {"MOST * 2", "overflow"},
        {"LEAST * -1", "overflow"},
        {"-LEAST", "overflow"},
        {"LEAST / -1", "overflow"},
        {"LEAST % -1", "overflow"},
        {"N && 1 / ZERO", "division by zero"},
        {"ZERO || 1 / ZERO", "division by zero"},
        {"1 / ZERO ? 1 : 2", "division by zero"},
        {"!(1 / ZERO)", "division by zero"},
        {"min(1, 1 / ZERO)", "division by zero"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gt_expr *e = parsed(cases[i].text);
        struct gt_err err = {""};
        char expected[128];
        int64_t value = 77;
        assert_int_equal(gt_expr_eval(&value, e, values, &err), GEMMTUNE_EINVAL);
        (void)snprintf(expected, sizeof expected, "%s in \"%s\"", cases[i].wrong,
                       cases[i].text);
        assert_string_equal(err.line, expected);
        assert_int_equal(value, 77);
        assert_int_equal(gt_expr_eval(&value, e, values, NULL), GEMMTUNE_EINVAL);
        gt_expr_destroy(e);
    }
}

/* ---- refusals ---- */

static void assert_refused(const char *text, const char *said) {
    struct gt_expr *e = (struct gt_expr *)&symbols; /* anything but NULL */
    struct gt_err err = {""};
    assert_int_equal(gt_expr_parse(&e, text, &symbols, &err), GEMMTUNE_EPARSE);
    assert_null(e);
    if (strstr(err.line, said) == NULL)
        fail_msg("said: %s", err.line);
}

static void test_malformed_text_is_located(void **state) {
    (void)state;
    assert_refused("",
                   "expected a number, a name or '(', not the end, at column 1 of \"\"");
    assert_refused("M +", "expected a number, a name or '(', not the end, at column 4");
    assert_refused("M N", "expected an operator, not 'N', at column 3 of \"M N\"");
    assert_refused("(M", "expected ')', not the end, at column 3");
    assert_refused("M)", "expected an operator, not ')'");
    assert_refused("()", "expected a number, a name or '(', not ')'");
    assert_refused("M << 2", "not '<', at column 4");
    assert_refused("M = 2", "expected an operator, not '='");
    assert_refused("M & N", "expected an operator, not '&'");
    assert_refused("M ? N", "expected ':', not the end");
    assert_refused("M ? : N", "not ':'");
    assert_refused("M : N", "expected an operator, not ':'");
    assert_refused("+1", "not '+'");
    assert_refused("~1", "not '~'");
    assert_refused("min(1)", "expected ',', not ')', at column 6");
    assert_refused("min(1, 2, 3)", "expected ')', not ','");
    assert_refused("min", "expected '(', not the end");
    assert_refused("cdiv(1, )", "not ')'");
    assert_refused("sizeof()", "expected A, B, C or ACC, not ')'");
    assert_refused("sizeof A", "expected '(', not 'A'");
    assert_refused("sizeof(A", "expected ')', not the end");
    assert_refused("M \xC3\x97 N", "expected an operator, not '\xC3\x97', at column 3");
    assert_refused("M \xFF N", "expected an operator");
    assert_refused("1.5", "expected an operator, not '.'");
}

static void test_unknown_names_and_numbers(void **state) {
    (void)state;
    assert_refused("M + FOO", "unknown name \"FOO\" at column 5 of \"M + FOO\"");
    assert_refused("m", "unknown name \"m\" at column 1");
    assert_refused("sizeof(D)", "unknown name \"sizeof(D)\" at column 8");
    assert_refused("abs(1)", "unknown name \"abs\"");
    assert_refused("Min(1, 2)", "unknown name \"Min\"");
    assert_refused("1 + 0x10", "\"0x10\" is not a decimal integer of 64 bits, at column 5");
    assert_refused("16K", "\"16K\" is not a decimal integer");
    assert_refused("9223372036854775808", "is not a decimal integer of 64 bits");
}

static void repeat(char *text, size_t size, const char *part, int count) {
    for (int i = 0; i < count; i++)
        (void)snprintf(text + strlen(text), size - strlen(text), "%s", part);
}

static void test_depth_is_bounded(void **state) {
    char text[600] = "";
    (void)state;
    repeat(text, sizeof text, "(", 63); /* the whole counts as one */
    repeat(text, sizeof text, "1", 1);
    repeat(text, sizeof text, ")", 63);
    assert_int_equal(value_of(text), 1);
    text[0] = '\0';
    repeat(text, sizeof text, "(", 64);
    assert_refused(text, "nested more than 64 deep at column 65");
    text[0] = '\0';
    repeat(text, sizeof text, "-", 200);
    assert_refused(text, "nested more than 64 deep");
    text[0] = '\0';
    repeat(text, sizeof text, "!", 63);
    repeat(text, sizeof text, "0", 1);
    assert_int_equal(value_of(text), 1);
    text[0] = '\0';
    repeat(text, sizeof text, "1?1:", 100);
    assert_refused(text, "nested more than 64 deep");
}

static void test_length_is_bounded(void **state) {
    char text[600] = "1";
    (void)state;
    repeat(text, sizeof text, "+1", 255); /* 511 bytes, and the longest chain */
    assert_int_equal(strlen(text), 511);
    assert_int_equal(value_of(text), 256);
    repeat(text, sizeof text, " ", 1);
    assert_refused(text, "an expression of 512 bytes, at most 511 are allowed");
}

/* ---- questions ---- */

static void test_text_and_uses(void **state) {
    struct gt_expr *e = parsed(" M*min(N , sizeof(B)) ");
    (void)state;
    assert_string_equal(gt_expr_text(e), " M*min(N , sizeof(B)) ");
    for (int i = 0; i < KNOWN; i++) {
        const bool used = i == gt_symbols_find(&symbols, "M") ||
                          i == gt_symbols_find(&symbols, "N") ||
                          i == gt_symbols_find(&symbols, "sizeof(B)");
        assert_int_equal(gt_expr_uses(e, i), used);
    }
    assert_false(gt_expr_uses(e, -1));
    gt_expr_destroy(e);
    gt_expr_destroy(NULL);
    e = parsed("0 + 1"); /* slot 0 is no accident of a number's node */
    assert_false(gt_expr_uses(e, 0));
    gt_expr_destroy(e);
}

static void test_as_c(void **state) {
    static const struct {
        const char *text, *c;
    } cases[] = {
        {"M", "GT_M"},
        {"42", "42"},
        {"1 + M * N", "(1 + (GT_M * GT_N))"},
        {"(1 + M) * N", "((1 + GT_M) * GT_N)"},
        {"1 - 2 - 3", "((1 - 2) - 3)"},
        {"-M + !N", "((-GT_M) + (!GT_N))"},
        {"- -1", "(-(-1))"},
        {"M ? N : K ? 1 : 2", "(GT_M ? GT_N : (GT_K ? 1 : 2))"},
        {"min(M,max(N,cdiv(K,2)))", "GT_MIN(GT_M, GT_MAX(GT_N, GT_CDIV(GT_K, 2)))"},
        {"2*sizeof( A )*sizeof(ACC)", "((2 * GT_SIZEOF_A) * GT_SIZEOF_ACC)"},
        {"M <= N && N >= K || M == 1 && M != 2 && M < 3 && M > 4",
         "(((GT_M <= GT_N) && (GT_N >= GT_K)) || "
         "((((GT_M == 1) && (GT_M != 2)) && (GT_M < 3)) && (GT_M > 4)))"},
        {"M / N % K", "((GT_M / GT_N) % GT_K)"},
    };
    char buf[256];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gt_expr *e = parsed(cases[i].text);
        assert_int_equal(gt_expr_c(e, buf, sizeof buf), strlen(cases[i].c));
        assert_string_equal(buf, cases[i].c);
        gt_expr_destroy(e);
    }
}

static void test_as_c_is_cut_like_snprintf(void **state) {
    struct gt_expr *e = parsed("M + N");
    const char *whole = "(GT_M + GT_N)";
    (void)state;
    for (size_t size = 0; size < 16; size++) {
        char buf[16];
        memset(buf, '#', sizeof buf);
        assert_int_equal(gt_expr_c(e, buf, size), strlen(whole));
        const size_t kept = size > strlen(whole) ? strlen(whole) : size > 0 ? size - 1 : 0;
        assert_memory_equal(buf, whole, kept);
        assert_int_equal(buf[kept], size > 0 ? '\0' : '#');
        assert_int_equal(buf[15], '#');
    }
    assert_int_equal(gt_expr_c(e, NULL, 0), strlen(whole));
    gt_expr_destroy(e);
}

/* ---- random expressions ---- */

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

/* Appends a random expression over names and small numbers. Division only by what is never
 * zero, so that every one has a value. */
static void grow(char *text, size_t size, int depth, uint64_t *seed) {
    static const char *const leaves[] = {"M", "N", "K", "ZERO", "MINUS", "3", "64"};
    static const char *const between[] = {" + ",  "-",     "*",       "<",  "<=",
                                          ">",    ">= ",   "==",      "!=", "&&",
                                          " || ", "/ 7 -", " % 11 + "};
    static const char *const before[] = {"-(", "!(", "("};
    const uint64_t shape = next_random(seed) % 8;
    if (depth == 0 || shape == 0) {
        repeat(text, size, leaves[next_random(seed) % 7], 1);
    } else if (shape == 1) {
        repeat(text, size, before[next_random(seed) % 3], 1);
        grow(text, size, depth - 1, seed);
        repeat(text, size, ")", 1);
    } else if (shape == 2) {
        repeat(text, size, "(", 1);
        grow(text, size, depth - 1, seed);
        repeat(text, size, " ? ", 1);
        grow(text, size, depth - 1, seed);
        repeat(text, size, ":", 1);
        grow(text, size, depth - 1, seed);
        repeat(text, size, ")", 1);
    } else {
        grow(text, size, depth - 1, seed);
        repeat(text, size, between[next_random(seed) % 13], 1);
        grow(text, size, depth - 1, seed);
    }
}

/* gt_expr_c's output, with the names put back, is the same expression: it has the same
 * value and prints as itself. */
static void test_random_expressions_survive_printing(void **state) {
    struct gt_symbols printed_symbols = {0};
    uint64_t seed = 42;
    int compared = 0;
    (void)state;
    for (int i = 0; known[i].name[0] != 's';
         i++) { /* the sizeofs stand last, unused here */
        char name[GT_NAME_MAX];
        int slot = 0;
        (void)snprintf(name, sizeof name, "GT_%s", known[i].name);
        assert_int_equal(gt_symbols_add(&slot, &printed_symbols, name, NULL), GEMMTUNE_OK);
    }
    for (int round = 0; round < 5000; round++) {
        char text[2048] = "";
        char printed[4096];
        struct gt_expr *again = NULL;
        int64_t value = 0;
        int64_t again_value = 0;
        grow(text, sizeof text, 3, &seed);
        struct gt_expr *e = parsed(text);
        const int len = gt_expr_c(e, printed, sizeof printed);
        assert_in_range(len, 1, sizeof printed - 1);
        if (len < 512) {
            struct gt_err err = {""};
            assert_int_equal(gt_expr_parse(&again, printed, &printed_symbols, &err), 0);
            assert_int_equal(gt_expr_eval(&value, e, values, &err),
                             gt_expr_eval(&again_value, again, values, &err));
            assert_int_equal(value, again_value);
            compared++;
        }
        gt_expr_destroy(e);
        gt_expr_destroy(again);
    }
    assert_in_range(compared, 4000, 5000);
}

/* Texts made of the grammar's own pieces: parsed or refused, never a crash. */
static void test_random_pieces_do_not_crash(void **state) {
    static const char *const pieces[] = {
        "(", ")",  "min", "cdiv", "sizeof", "A", ",", "?", ":", "!",    "-", "||", "&",
        "=", "==", "<",   "9",    "M",      "K", " ", "*", "/", "\xC3", "_", "%"};
    uint64_t seed = 7;
    int good = 0;
    int bad = 0;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        char text[256] = "";
        struct gt_expr *e = NULL;
        struct gt_err err = {""};
        int64_t value = 0;
        const int count = (int)(next_random(&seed) % 9);
        for (int i = 0; i < count; i++)
            repeat(text, sizeof text, pieces[next_random(&seed) % 25], 1);
        if (gt_expr_parse(&e, text, &symbols, &err) == GEMMTUNE_OK) {
            const gt_status status = gt_expr_eval(&value, e, values, &err);
            assert_true(status == GEMMTUNE_OK || err.line[0] != '\0');
            good++;
        } else {
            assert_null(e);
            assert_true(err.line[0] != '\0');
            bad++;
        }
        gt_expr_destroy(e);
    }
    assert_true(good > 100 && bad > 10000);
}

static void test_out_of_memory(void **state) {
    struct gt_expr *e = NULL;
    struct gt_err err = {""};
    (void)state;
    if (__real_malloc == NULL)
        skip();
    allocations_left = 0;
    const gt_status status = gt_expr_parse(&e, "M + N", &symbols, &err);
    allocations_left = -1;
    assert_int_equal(status, GEMMTUNE_ENOMEM);
    assert_null(e);
    assert_string_equal(err.line, "out of memory for an expression");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbols_find_and_add),
        cmocka_unit_test(test_symbols_refuse),
        cmocka_unit_test(test_agrees_with_c),
        cmocka_unit_test(test_precedence_without_parentheses),
        cmocka_unit_test(test_functions_and_names),
        cmocka_unit_test(test_lazy_operands_are_not_evaluated),
        cmocka_unit_test(test_faults_are_errors),
        cmocka_unit_test(test_malformed_text_is_located),
        cmocka_unit_test(test_unknown_names_and_numbers),
        cmocka_unit_test(test_depth_is_bounded),
        cmocka_unit_test(test_length_is_bounded),
        cmocka_unit_test(test_text_and_uses),
        cmocka_unit_test(test_as_c),
        cmocka_unit_test(test_as_c_is_cut_like_snprintf),
        cmocka_unit_test(test_random_expressions_survive_printing),
        cmocka_unit_test(test_random_pieces_do_not_crash),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, define_names, NULL);
}
