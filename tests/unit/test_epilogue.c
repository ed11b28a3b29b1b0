/* SPDX-License-Identifier: Apache-2.0 */
#include "core/epilogue/epilogue.h"

#include "core/decimal.h"
#include "core/epilogue/epilogue_op.h"
#include "tests/unit/epilogue_texts.h"
#include "tests/unit/epilogues.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define F32  GEMMTUNE_F32
#define F64  GEMMTUNE_F64
#define BF16 GEMMTUNE_BF16
#define I32  GEMMTUNE_I32

/* ---- canonical texts ---- */

static void assert_canonical(const char *text, gemmtune_dtype c, gemmtune_dtype acc,
                             const char *canonical) {
    char found[GT_EPILOGUE_MAX] = "";
    struct gt_err err = {""};
    if (gt_epilogue_settle(found, text, c, acc, &err) != GEMMTUNE_OK)
        fail_msg("%s: %s", text, err.line);
    assert_string_equal(found, canonical);
    assert_int_equal(gt_epilogue_settle(found, canonical, c, acc, &err), GEMMTUNE_OK);
    assert_string_equal(found, canonical);
}

static void test_one_meaning_has_one_text(void **state) {
    (void)state;
    for (int i = 0; i < EPILOGUE_TEXTS; i++)
        assert_canonical(epilogue_texts[i].text, F32, F32, epilogue_texts[i].canonical);
}

/* A shorthand's operands have C's type; scales have the type of the arithmetic. */
static void test_types_of_shorthands(void **state) {
    (void)state;
    assert_canonical("sa[i]:f32;sb[j]:f32;bias[j]:bf16;d=x*sa[i]*sb[j]+bias[j]", BF16, F32,
                     "dequantise_bias");
    assert_canonical("sa[i]:f32;d=x*sa[i]", BF16, I32, "scale_rows");
    assert_canonical("sa[i]:f64;d=x*sa[i]", F64, F64, "scale_rows");
    assert_canonical("sa[i]:f32;d=x*sa[i]", F64, F64, "sa[i]:f32;scale_rows");
    assert_canonical("d=x+bias[j]", BF16, F32, "bias");
    assert_canonical("d=x*sa[i]", BF16, F32, "sa[i]:bf16;scale_rows");
    assert_canonical("d=x*q[i,j]", BF16, I32, "q[i,j]:bf16;d=x*q[i,j]");
}

static void test_every_shorthand_is_its_expression(void **state) {
    (void)state;
    for (const struct gt_epilogue_step *s = gt_epilogue_steps; s->name != NULL; s++) {
        struct gt_epilogue of_name, of_text;
        char text[GT_EPILOGUE_MAX] = "", declared[64];
        for (const char *left = s->operands; *left != '\0';) {
            const size_t len = strcspn(left, ";");
            (void)snprintf(declared, sizeof declared, "%.*s:f32;", (int)len, left);
            (void)strncat(text, declared, sizeof text - strlen(text) - 1);
            left += len + (left[len] == ';');
        }
        (void)strncat(text, "d=", sizeof text - strlen(text) - 1);
        (void)strncat(text, s->means, sizeof text - strlen(text) - 1);
        assert_int_equal(gt_epilogue_parse(&of_text, text, F32, F32, NULL), GEMMTUNE_OK);
        assert_int_equal(gt_epilogue_parse(&of_name, s->name, F32, F32, NULL), GEMMTUNE_OK);
        assert_true(gt_epilogue_same(&of_name, &of_text));
        assert_canonical(text, F32, F32, s->name);
        assert_true(strlen(s->about) > 0);
    }
}

static void test_random_texts_round_trip(void **state) {
    static const gemmtune_dtype types[][2] = {
        {F32, F32}, {BF16, F32}, {F64, F64}, {I32, I32}, {BF16, I32}};
    struct random_text r = {.seed = 7};
    int accepted = 0;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        const gemmtune_dtype *type = types[round % 5];
        struct gt_epilogue e, again;
        char text[GT_EPILOGUE_MAX], twice[GT_EPILOGUE_MAX], printed[GT_EPILOGUE_MAX];
        write_random_epilogue(&r, 1 + round % 5);
        if (gt_epilogue_parse(&e, r.text, type[0], type[1], NULL) != GEMMTUNE_OK)
            continue;
        accepted++;
        if (gt_epilogue_canonical(text, &e, NULL) != GEMMTUNE_OK)
            fail_msg("no canonical text: %s", r.text);
        assert_int_equal(gt_epilogue_parse(&again, text, type[0], type[1], NULL),
                         GEMMTUNE_OK);
        if (!gt_epilogue_same(&e, &again))
            fail_msg("%s is not %s", text, r.text);
        assert_int_equal(gt_epilogue_canonical(twice, &again, NULL), GEMMTUNE_OK);
        assert_string_equal(text, twice);
        assert_true(gt_epilogue_print(&e, printed, sizeof printed) <=
                    (int)strlen(r.text) + 16);
    }
    assert_true(accepted > 8000);
}

/* ---- refusals ---- */

static void test_refusals_name_column_and_part(void **state) {
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"", "column 1 of the epilogue: expected a name, not its end"},
        {"bais",
         "column 1 of the epilogue: \"bais\" is neither a shorthand nor an assignment"},
        {"bias_gelo", "column 6 of the epilogue: \"gelo\" is neither a shorthand nor an "
                      "assignment: did you mean \"gelu\"?"},
        {"bias_", "column 6 of the epilogue: \"\" is neither"},
        {"Relu", "column 1 of the epilogue: expected a name, not \"R\""},
        {"d = x", "column 2 of the epilogue: expected \"=\" (as in \"d=x+1\"), \":\", "
                  "\"[\" or the end, not \" \""},
        {"d=x+ 1",
         "column 5 of the epilogue: expected a number, a name or \"(\", not \" \""},
        {"d=", "column 3 of the epilogue: expected a number, a name or \"(\", not its end"},
        {"d=(x", "column 5 of the epilogue: expected \")\" or an operator, not its end"},
        {"d=x)",
         "column 4 of the epilogue: expected an operator, \";\" or the end, not \")\""},
        {"d=(x]", "column 5 of the epilogue: expected \")\" or an operator, not \"]\""},
        {"d=x;", "column 5 of the epilogue: expected a name, not its end"},
        {"d=x;relu", "column 5 of the epilogue: \"relu\" stands behind the last statement"},
        {"relu;d=x", "column 6 of the epilogue: \"d\" stands behind the last statement"},
        {"d=x;b:f32", "column 5 of the epilogue: \"b\" stands behind the last statement"},
        {"b[k]:f32;d=x",
         "column 2 of the epilogue: \"[k]\" is not [i], [j], [i,j], [z] or [z,j]"},
        {"b[j]:f33;d=x", "column 6 of the epilogue: \"f33\" is not a type"},
        {"b[j]:;d=x", "column 6 of the epilogue: expected a type, not \";\""},
        {"b[j];d=x", "column 5 of the epilogue: expected \":\", not \";\""},
        {"b[j]:f32", "the epilogue: \"d\" is not assigned"},
        {"b[j]:f32;d=x", "the epilogue: \"b\" is declared and not read"},
        {"t=x;d=x", "the epilogue: \"t\" is assigned and not read"},
        {"d2[i,j]:f32;d=x", "the epilogue: \"d2\" is not assigned"},
        {"d2[j]:f32;d=x", "column 1 of the epilogue: \"d2\" is a matrix"},
        {"d2[i,j]:f32;d2[i,j]:f32;d=x",
         "column 13 of the epilogue: \"d2\" is named a second"},
        {"d[i,j]:f32;d=x", "column 1 of the epilogue: \"d\" is C"},
        {"b[j]:f32;d=x+b", "column 14 of the epilogue: \"b\" has another index"},
        {"bias[i]:f32;bias_relu", "column 13 of the epilogue: \"bias\" has another index"},
        {"b[j]:f64;d=x+b[j]", "column 6 of the epilogue: \"f64\" holds more than"},
        {"d=f64(x)", "column 3 of the epilogue: \"f64\" holds more than"},
        {"d=y", "column 3 of the epilogue: \"y\" is not declared"},
        {"d=gleu(x)", "column 3 of the epilogue: \"gleu\" is no function"},
        {"gelu,beta",
         "column 5 of the epilogue: \",\" cannot stand here; a problem's name"},
        {"d=x+1,beta",
         "column 6 of the epilogue: \",\" cannot stand here; a problem's name"},
        {"d=scale_rows", "column 3 of the epilogue: \"scale_rows\" is a shorthand, which"},
        {"d=x*d", "column 5 of the epilogue: \"d\" is an output, not an"},
        {"d=x*d[i,j]", "column 5 of the epilogue: \"d\" is an output, not an operand"},
        {"d2=x;d=x+d2[i]", "expected an operator"},
        {"d=b[j]+b[i]", "column 8 of the epilogue: \"b\" has another index where it"},
        {"d=x+i[j]", "column 5 of the epilogue: \"i\" has a meaning already"},
        {"d=x+b[k]",
         "column 6 of the epilogue: \"[k]\" is not [i], [j], [i,j], [z] or [z,j]"},
        {"d=x+b[z]+b[z,j]", "column 10 of the epilogue: \"b\" has another index where it"},
        {"d=x+z[j]", "column 5 of the epilogue: \"z\" has a meaning already"},
        {"d2[z,j]:f32;d=d2=x", "\"d2\" is a matrix: its declaration is d2[i,j]:<type>"},
        {"d=x+b[j];b=x;d2=b", "column 10 of the epilogue: \"b\" is named a second time"},
        {"d=a[i]+b[i]+e[i]+f[i]+g[i]+h[i]+k[i]+l[i]+m[i]",
         "column 43 of the epilogue: \"m\" is one operand too many"},
        {"exp=x;d=x", "column 1 of the epilogue: \"exp\" has a meaning already"},
        {"i:f32;d=x*i", "column 1 of the epilogue: \"i\" has a meaning already"},
        {"t=x;t=x;d=t", "column 5 of the epilogue: \"t\" is named a second time"},
        {"abcdefghijklmnop=x",
         "column 1 of the epilogue: \"abcdefghijklmnop\" is a name of"},
        {"d=$(reboot)",
         "column 3 of the epilogue: expected a number, a name or \"(\", not \"$\""},
        {"d=\"x\"", "not \"\"\""},
        {"d=x<0", "column 1 of the epilogue: \"d\" is assigned a comparison, not a number"},
        {"d=(x<0)+1", "column 8 of the epilogue: \"+\" needs a number, not a comparison"},
        {"d=x?1:2", "column 4 of the epilogue: \"?\" needs a comparison ahead of it"},
        {"d=exp(x<0)", "column 3 of the epilogue: \"exp\" needs a number"},
        {"d=min(x)", "column 8 of the epilogue: expected \",\", not \")\""},
        {"d=exp(x,1)", "column 8 of the epilogue: expected \")\", not \",\""},
        {"d=x>0?x", "column 8 of the epilogue: expected \":\" or an operator, not its end"},
        {"d=1e999", "column 3 of the epilogue: \"1e999\" is beyond the numbers"},
        {"d=1e39", "column 3 of the epilogue: \"1e39\" is beyond the numbers"},
        {"d=1e-40", "column 3 of the epilogue: \"1e-40\" is beyond the numbers"},
        {"d=1e-999", "column 3 of the epilogue: \"1e-999\" is beyond the numbers"},
        {"d=1.x", "column 3 of the epilogue: \"1.\" is not a number"},
        {"d=1x", "column 3 of the epilogue: \"1x\" is not a number"},
        {"d=1e+", "column 3 of the epilogue: \"1e\" is not a number"},
        {"d=.5", "expected a number"},
        {"d=0x10", "column 3 of the epilogue: \"0x\" is not a number"},
        {"a:f32;b:f32;e:f32;f:f32;g:f32;h:f32;k:f32;l:f32;m:f32;d=x",
         "column 49 of the epilogue: \"m\" is one operand too many: at most 8"},
        {"a=x;b=a;e=b;f=e;g=f;h=g;k=h;l=k;d=l",
         "column 33 of the epilogue: \"d\" is one assignment too many: at most 8"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gt_epilogue e;
        struct gt_err err = {""};
        if (gt_epilogue_parse(&e, cases[i].text, F32, F32, &err) != GEMMTUNE_EPARSE)
            fail_msg("%s is accepted", cases[i].text);
        if (strstr(err.line, cases[i].said) == NULL)
            fail_msg("%s: said: %s", cases[i].text, err.line);
    }
}

static void repeat(char *out, const char *piece, int times) {
    out += strlen(out);
    for (int i = 0; i < times; i++, out += strlen(piece))
        memcpy(out, piece, strlen(piece) + 1);
}

static void test_depth_is_limited(void **state) {
    static const struct {
        const char *open, *close;
    } forms[] = {{"(", ")"}, {"-", ""}, {"exp(", ")"}, {"x>0?1:", ""}, {"x>0?", ":1"}};
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (int deep = 0; deep < 2; deep++) {
            const int times = GT_EPILOGUE_DEPTH_MAX - 1 + deep;
            char text[512] = "d=";
            struct gt_epilogue e;
            struct gt_err err = {""};
            repeat(text, forms[i].open, times);
            repeat(text, "x", 1);
            repeat(text, forms[i].close, times);
            assert_int_equal(gt_epilogue_parse(&e, text, F32, F32, &err),
                             deep ? GEMMTUNE_EPARSE : GEMMTUNE_OK);
            if (deep)
                assert_non_null(strstr(err.line, "is nested more than 24 deep"));
        }
}

static void test_length_is_limited(void **state) {
    char text[512] = "d=x", canonical[GT_EPILOGUE_MAX];
    struct gt_err err = {""};
    (void)state;
    repeat(text, "+x", 126);
    assert_int_equal(strlen(text), 255);
    assert_canonical(text, F32, F32, text);
    repeat(text, "+", 1);
    assert_int_equal(gt_epilogue_settle(canonical, text, F32, F32, &err), GEMMTUNE_EPARSE);
    assert_string_equal(err.line, "an epilogue of 256 bytes: the limit is 255");
    (void)strcpy(text, "relu");
    repeat(text, "_relu", 50);
    assert_canonical(text, F32, F32, text);
}

/* A text is refused, if its canonical text would be too long. */
static void test_canonical_text_is_limited(void **state) {
    char text[512] = "d=x", canonical[GT_EPILOGUE_MAX];
    struct gt_err err = {""};
    (void)state;
    repeat(text, "*1e-5", 31);
    assert_int_equal(gt_epilogue_settle(canonical, text, F32, F32, &err), GEMMTUNE_OK);
    repeat(text, "*1e-5", 1);
    assert_int_equal(gt_epilogue_settle(canonical, text, F32, F32, &err), GEMMTUNE_EPARSE);
    assert_string_equal(err.line,
                        "the epilogue's canonical text has 259 bytes, or is nested "
                        "too deep: the limits are 255 and 24");
}

static void test_integers_stay_integers(void **state) {
    static const struct {
        const char *text;
        gemmtune_dtype c, acc;
        enum gt_epi_kind kind;
    } cases[] = {
        {"d=x", I32, I32, GT_EPI_INT},
        {"d=acc*2+c", I32, I32, GT_EPI_INT},
        {"d=acc/2", I32, I32, GT_EPI_REAL},
        {"d=acc*0.5", I32, I32, GT_EPI_REAL},
        {"d=x", BF16, I32, GT_EPI_REAL},
        {"d=acc", BF16, I32, GT_EPI_INT},
        {"d=i8(acc*0.5)", I32, I32, GT_EPI_INT},
        {"d=2*3", F32, F32, GT_EPI_REAL},
        {"d=acc>0?1:2", I32, I32, GT_EPI_INT},
        {"d=acc>0?1:2.5", I32, I32, GT_EPI_REAL},
        {"d=i8(x)", F32, F32, GT_EPI_REAL},
        {"d=3000000000", I32, I32, GT_EPI_REAL},
        {"d=min(acc,f32(c))", I32, I32, GT_EPI_REAL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gt_epilogue e;
        assert_int_equal(
            gt_epilogue_parse(&e, cases[i].text, cases[i].c, cases[i].acc, NULL),
            GEMMTUNE_OK);
        if (e.node[e.statement[e.d].root].kind != cases[i].kind)
            fail_msg("%s", cases[i].text);
    }
}

/* ---- numbers ---- */

static void test_decimals(void **state) {
    static const struct {
        const char *read, *written;
    } cases[] = {
        {"0", "0"},
        {"00.000", "0"},
        {"0e99999999999", "0"},
        {"1", "1"},
        {"0.1", "0.1"},
        {"10", "10"},
        {"123456789012345", "123456789012345"},
        {"1e15", "1e15"},
        {"999999999999999", "999999999999999"},
        {"0.00001", "0.00001"},
        {"0.000001", "1e-6"},
        {"1.7976931348623157e308", "1.7976931348623157e308"},
        {"4.9e-324", "5e-324"},
        {"0.000000000000000000000000000000000000000001e42", "1"},
        {"100000000000000000000e-20", "1"},
        {"1.25e+2", "125"},
        {"16777217", "16777217"},
        {"0.30000000000000004", "0.30000000000000004"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[GT_DECIMAL_MAX];
        double value = -1;
        assert_int_equal(gt_decimal_read(&value, cases[i].read, strlen(cases[i].read)),
                         strlen(cases[i].read));
        assert_int_equal(gt_decimal_write(text, value), strlen(cases[i].written));
        assert_string_equal(text, cases[i].written);
    }
}

static void test_random_decimals_round_trip(void **state) {
    uint64_t seed = 3;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        char text[GT_DECIMAL_MAX];
        double value, again = -1;
        const uint64_t bits = (uint64_t)draw(&seed, 1U << 31) << 32 | draw(&seed, 1U << 31)
                                                                          << 1;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        const int len = gt_decimal_write(text, value);
        assert_in_range(len, 1, GT_DECIMAL_MAX - 1);
        assert_int_equal(gt_decimal_read(&again, text, (size_t)len), len);
        assert_memory_equal(&again, &value, sizeof value);
        assert_memory_equal(&value, &(double){strtod(text, NULL)}, sizeof value);
    }
}

/* Only the numbers that stand wholly in the text are read. */
static void test_decimals_end(void **state) {
    static const struct {
        const char *text;
        size_t len, used;
    } cases[] = {{"", 0, 0},   {".5", 2, 0},  {"1.", 2, 1},   {"1.5", 2, 1},
                 {"1e", 2, 1}, {"1e-", 3, 1}, {"1e5", 2, 1},  {"12", 1, 1},
                 {"-1", 2, 0}, {"inf", 3, 0}, {"0x10", 4, 1}, {"1e-5x", 5, 4}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value;
        assert_int_equal(gt_decimal_read(&value, cases[i].text, cases[i].len),
                         cases[i].used);
    }
}

/* ---- shapes of operands ---- */

/* Three products of two rows of 7 values; the value for row 5 of all,
 * column 4, product 2. */
static void test_operands_are_stored_by_their_shape(void **state) {
    static const struct {
        const char *index;
        int32_t shape;
        struct gt_epi_extent extent;
        struct gt_epi_place place;
        bool has_ld;
    } wanted[] = {{"", GT_EPI_SCALAR, {1, 1}, {0, 0}, false},
                  {"[i]", GT_EPI_ROWS, {1, 6}, {0, 5}, false},
                  {"[j]", GT_EPI_COLUMNS, {1, 7}, {0, 4}, false},
                  {"[i,j]", GT_EPI_MATRIX, {6, 7}, {5, 4}, true},
                  {"[z]", GT_EPI_PRODUCTS, {1, 3}, {0, 2}, false},
                  {"[z,j]", GT_EPI_PRODUCT_ROWS, {3, 7}, {2, 4}, true}};
    (void)state;
    _Static_assert(sizeof wanted / sizeof *wanted == GT_EPI_SHAPES, "all shapes");
    for (int i = 0; i < GT_EPI_SHAPES; i++) {
        const int32_t shape = wanted[i].shape;
        const struct gt_epi_extent extent = gt_epi_extent_of(shape, 6, 7, 3);
        const struct gt_epi_place place = gt_epi_place_of(shape, 5, 4, 2);
        assert_string_equal(gt_epi_index[shape], wanted[i].index);
        assert_int_equal(extent.rows, wanted[i].extent.rows);
        assert_int_equal(extent.columns, wanted[i].extent.columns);
        assert_int_equal(place.row, wanted[i].place.row);
        assert_int_equal(place.column, wanted[i].place.column);
        assert_int_equal(gt_epi_has_ld(shape), wanted[i].has_ld);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_meaning_has_one_text),
        cmocka_unit_test(test_types_of_shorthands),
        cmocka_unit_test(test_every_shorthand_is_its_expression),
        cmocka_unit_test(test_random_texts_round_trip),
        cmocka_unit_test(test_refusals_name_column_and_part),
        cmocka_unit_test(test_depth_is_limited),
        cmocka_unit_test(test_length_is_limited),
        cmocka_unit_test(test_canonical_text_is_limited),
        cmocka_unit_test(test_integers_stay_integers),
        cmocka_unit_test(test_decimals),
        cmocka_unit_test(test_random_decimals_round_trip),
        cmocka_unit_test(test_decimals_end),
        cmocka_unit_test(test_operands_are_stored_by_their_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
