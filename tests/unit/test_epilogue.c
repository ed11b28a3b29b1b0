/* SPDX-License-Identifier: Apache-2.0 */
#include "core/epilogue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_texts_of_the_grammar(void **state) {
    static const char *const texts[] = {
        "relu",
        "bias[j]:bf16;bias_gelu",
        "d=x",
        "d=x*0.5",
        "s:f32;d=x*s",
        "sa[i]:f32;sb[j]:f32;t=x*sa[i]*sb[j];d=t/(1+exp(-t))",
        "up[i,j]:f16;d=silu(x)*up[i,j]",
        "d=x>0?x:0.1*x",
        "d=max(min(x,6),0)",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct gt_err err = {""};
        (void)gt_epilogue_check(texts[i], &err);
        assert_string_equal(err.line, "");
    }
}

static void test_other_texts_are_quoted(void **state) {
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"", "\"\" in an epilogue does not begin with a name"},
        {"bais", "\"bais\" in an epilogue is neither a shorthand nor an assignment"},
        {"Relu", "\"Relu\" in an epilogue does not begin with a name"},
        {"d = x", "is neither <name>=<expression> nor <name>[<index>]:<type>"},
        {" d=x", "\" d=x\" in an epilogue does not begin with a name"},
        {"d=x+ 1", "\"x+ 1\" in an epilogue is not an expression"},
        {"d=", "\"\" in an epilogue is not an expression"},
        {"d=(x", "\"(x\" in an epilogue is not an expression"},
        {"d=x)", "\"x)\" in an epilogue is not an expression"},
        {"d=(x]", "is not an expression"},
        {"d=((((((((((((((((((x))))))))))))))))))", "is not an expression"},
        {"d=x;", "\"\" in an epilogue does not begin with a name"},
        {"d=x;relu", "\"relu\" in an epilogue stands behind its last statement"},
        {"relu;d=x", "\"d=x\" in an epilogue stands behind its last statement"},
        {"d=x;b:f32", "\"b:f32\" in an epilogue stands behind its last statement"},
        {"b[k]:f32;d=x", "\"b[k]:f32\" in an epilogue is neither <name>="},
        {"b[j]:f33;d=x", "\"b[j]:f33\" in an epilogue is neither"},
        {"b[j]:f32", "an epilogue that assigns nothing"},
        {"b[j]", "\"b[j]\" in an epilogue is neither"},
        {"abcdefghijklmnop=x", "does not begin with a name"},
        {"d=$(reboot)", "is not an expression"},
        {"d=\"x\"", "is not an expression"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gt_err err = {""};
        assert_int_equal(gt_epilogue_check(cases[i].text, &err), GEMMTUNE_EPARSE);
        if (strstr(err.line, cases[i].said) == NULL)
            fail_msg("%s: said: %s", cases[i].text, err.line);
    }
}

static void test_length_is_limited(void **state) {
    char text[GT_EPILOGUE_MAX + 1] = "d=";
    struct gt_err err = {""};
    (void)state;
    memset(text + 2, '1', sizeof text - 3);
    assert_int_equal(gt_epilogue_check(text, &err), GEMMTUNE_EPARSE);
    assert_string_equal(err.line, "an epilogue of 256 bytes: the limit is 255");
    text[GT_EPILOGUE_MAX - 1] = '\0';
    assert_int_equal(gt_epilogue_check(text, &err), GEMMTUNE_OK);
}

/* A shorthand stands for a text of the grammar; the shorthand itself is not one. */
static void test_shorthands(void **state) {
    (void)state;
    for (const struct gt_epilogue_name *e = gt_epilogues; e->name != NULL; e++) {
        char text[GT_EPILOGUE_MAX] = "", declared[64];
        const char *left = e->operands;
        while (*left != '\0') {
            const size_t len = strcspn(left, ";");
            (void)snprintf(declared, sizeof declared, "%.*s:f32;", (int)len, left);
            (void)strncat(text, declared, sizeof text - strlen(text) - 1);
            left += len + (left[len] == ';');
        }
        (void)strncat(text, e->means, sizeof text - strlen(text) - 1);
        assert_int_equal(gt_epilogue_check(text, NULL), GEMMTUNE_OK);
        assert_int_equal(gt_epilogue_check(e->name, NULL), GEMMTUNE_OK);
        assert_true(strlen(e->about) > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_of_the_grammar),
        cmocka_unit_test(test_other_texts_are_quoted),
        cmocka_unit_test(test_length_is_limited),
        cmocka_unit_test(test_shorthands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
