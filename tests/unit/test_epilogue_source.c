/* SPDX-License-Identifier: Apache-2.0 */
#include "core/epilogue/epilogue_source.h"

#include "core/epilogue/epilogue_cost.h"
#include "tests/unit/epilogues.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define F32  GEMMTUNE_F32
#define F64  GEMMTUNE_F64
#define BF16 GEMMTUNE_BF16
#define I32  GEMMTUNE_I32

/* ---- text of a kernel ---- */

static void test_text_of_kernels(void **state) {
    static const struct {
        const char *text;
        gemmtune_dtype c, acc;
        const char *source;
    } cases[] = {
        {"bias_gelu", F32, F32,
         "const gt_real gt_v0 = gt_gelu((gt_in_x + gt_in_0));\nGT_PUT_D(gt_v0);\n"},
        {"s:f32;t=x*s;d2=t;d=t>0?t:-0.1*t", F32, F32,
         "const gt_real gt_v0 = (gt_in_x * gt_in_0);\n"
         "const gt_real gt_v1 = gt_v0;\n"
         "const gt_real gt_v2 = ((gt_v0 > 0.0f) ? gt_v0 : ((-0.1f) * gt_v0));\n"
         "GT_PUT_D(gt_v2);\nGT_PUT_D2(gt_v1);\n"},
        {"d=1e300*alpha+min(beta,c)", F64, F64,
         "const gt_real gt_v0 = ((1e300 * gt_in_alpha) + gt_min(gt_in_beta, gt_in_c));\n"
         "GT_PUT_D(gt_v0);\n"},
        {"d=i8(acc*2+c)", I32, I32,
         "const int gt_v0 = gt_iint_i8(gt_iadd(gt_imul(gt_in_acc, 2), gt_in_c));\n"
         "GT_PUT_D(gt_v0);\n"},
        {"d=acc>0?-acc:0.5", I32, I32,
         "const gt_real gt_v0 = ((gt_in_acc > 0) ? (gt_real)(gt_ineg(gt_in_acc)) : 0.5f);\n"
         "GT_PUT_D(gt_v0);\n"},
        {"d=i8(acc/3)", I32, I32,
         "const int gt_v0 = gt_int_i8(((gt_real)(gt_in_acc) / (gt_real)(3)));\n"
         "GT_PUT_D(gt_v0);\n"},
        {"d=e4m3(acc)<1.5?abs(acc):2", BF16, I32,
         "const int gt_v0 = ((gt_cast_e4m3(gt_iodd(gt_in_acc)) < 1.5f) ? "
         "gt_iabs(gt_in_acc) : 2);\nGT_PUT_D(gt_v0);\n"},
        {"d=x", BF16, I32,
         "const gt_real gt_v0 = gt_in_x;\nconst gt_real gt_o0 = gt_once_x;\n"
         "GT_PUT_D(gt_o0);\n"},
        {"d=x", F32, I32, "const gt_real gt_v0 = gt_in_x;\nGT_PUT_D(gt_v0);\n"},
        {"d=acc", BF16, I32, "const int gt_v0 = gt_in_acc;\nGT_PUT_D(gt_v0);\n"},
        {"d=x*0.5", BF16, I32,
         "const gt_real gt_v0 = (gt_in_x * 0.5f);\nGT_PUT_D(gt_v0);\n"},
        {"d2[i,j]:f32;t=relu(x);d2=t;d=t>c?t:0", BF16, I32,
         "const gt_real gt_v0 = gt_relu(gt_in_x);\nconst gt_real gt_v1 = gt_v0;\n"
         "const gt_real gt_v2 = ((gt_v0 > gt_in_c) ? gt_v0 : (gt_real)(0));\n"
         "GT_PUT_D(gt_v2);\nGT_PUT_D2(gt_v1);\n"},
        {"d2[i,j]:f32;d2=x;d=acc>0?max(x,c):acc", BF16, I32,
         "const gt_real gt_v0 = gt_in_x;\nconst gt_real gt_o0 = gt_once_x;\n"
         "const gt_real gt_v1 = ((gt_in_acc > 0) ? gt_max(gt_in_x, gt_in_c) : "
         "(gt_real)(gt_in_acc));\n"
         "const gt_real gt_o1 = ((gt_in_acc > 0) ? gt_max(gt_once_x, gt_in_c) : "
         "gt_iodd(gt_in_acc));\n"
         "GT_PUT_D(gt_o1);\nGT_PUT_D2(gt_v0);\n"},
        {"d=f32(x)", BF16, I32,
         "const gt_real gt_v0 = gt_cast_f32(gt_in_x);\n"
         "const gt_real gt_o0 = gt_cast_f32(gt_in_x);\nGT_PUT_D(gt_o0);\n"},
        {"d=i8(relu(x))", F32, F32,
         "const gt_real gt_v0 = gt_cast_i8(gt_relu(gt_in_x));\nGT_PUT_D(gt_v0);\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gt_epilogue e = parsed(cases[i].text, cases[i].c, cases[i].acc);
        char source[GT_EPILOGUE_SOURCE_MAX];
        assert_int_equal(gt_epilogue_source(&e, source, sizeof source),
                         strlen(cases[i].source));
        assert_string_equal(source, cases[i].source);
    }
}

static void test_outputs_say_their_kind(void **state) {
    const struct gt_epilogue both = parsed("d2=acc*0.5;d=acc", I32, I32);
    const struct gt_epilogue one = parsed("d=x", F32, F32);
    (void)state;
    assert_true(gt_epilogue_stores_int(&both, false));
    assert_false(gt_epilogue_stores_int(&both, true));
    assert_false(gt_epilogue_stores_int(&one, false));
    assert_false(gt_epilogue_stores_int(&one, true));
}

/* Whether the word is one that epilogue_source.h or C defines. */
static bool is_known(const char *word, size_t len) {
    static const char *const words[] = {"const", "int", "f", "GT_PUT_D", "GT_PUT_D2"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == len && memcmp(words[i], word, len) == 0)
            return true;
    return len > 3 && memcmp(word, "gt_", 3) == 0;
}

/* No name of the text reaches the source, and every text fits. */
static void test_source_has_no_foreign_words(void **state) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    struct random_text r = {.seed = 5};
    int accepted = 0;
    (void)state;
    for (int round = 0; round < 5000; round++) {
        struct gt_epilogue e;
        char source[GT_EPILOGUE_SOURCE_MAX];
        write_random_epilogue(&r, 1 + round % 5);
        if (gt_epilogue_parse(&e, r.text, round % 2 ? F32 : BF16, round % 3 ? F32 : I32,
                              NULL) != GEMMTUNE_OK)
            continue;
        accepted++;
        assert_in_range(gt_epilogue_source(&e, source, sizeof source), 1,
                        sizeof source - 1);
        for (const char *at = source; *at != '\0';) {
            const size_t len = strspn(at, "0123456789.");
            const size_t word = len > 0
                                    ? len + strspn(at + len, "e-0123456789f")
                                    : strspn(at, "abcdefghijklmnopqrstuvwxyz"
                                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
            if (len == 0 && strchr(letters, *at) != NULL && !is_known(at, word))
                fail_msg("%.*s in %s", (int)word, at, source);
            at += word > 0 ? word : 1;
        }
    }
    assert_true(accepted > 2000);
}

/* The longest source comes of casts in brackets. */
static void test_the_longest_source(void **state) {
    char text[GT_EPILOGUE_MAX] = "d=acc", source[GT_EPILOGUE_SOURCE_MAX];
    (void)state;
    while (strlen(text) + 4 < sizeof text)
        (void)strcat(text, "/acc");
    const struct gt_epilogue e = parsed(text, I32, I32);
    assert_in_range(gt_epilogue_source(&e, source, sizeof source), 1000, sizeof source / 2);
    assert_int_equal(gt_epilogue_source(&e, source, 10), gt_epilogue_source(&e, NULL, 0));
    assert_int_equal(strlen(source), 9);
}

/* ---- cost ---- */

static void test_cost(void **state) {
    const struct gt_epilogue e =
        parsed("s:f32;a[i]:f32;b[j]:bf16;u[i,j]:e4m3;d2[i,j]:f32;t=x*s+a[i]+b[j];d2=t;"
               "d=gelu(t)*u[i,j]",
               BF16, F32);
    const struct gt_epilogue_cost cost = gt_epilogue_cost_of(&e, 1, 100, 10);
    (void)state;
    assert_int_equal(cost.operations, 4);
    assert_int_equal(cost.functions, 1);
    assert_int_equal(cost.flops, 5000);
    assert_int_equal(cost.bytes_in, 4 + 400 + 20 + 1000);
    assert_int_equal(cost.bytes_out, 4000);
    assert_int_equal(cost.bytes_saved, 2 * 2000);
}

/* Five products with 100 rows together. */
static void test_cost_of_products(void **state) {
    const struct gt_epilogue e = parsed("scale_batch_batch_bias", BF16, F32);
    const struct gt_epilogue_cost cost = gt_epilogue_cost_of(&e, 5, 100, 10);
    (void)state;
    assert_int_equal(cost.bytes_in, 5 * 4 + 5 * 10 * 2);
    assert_int_equal(cost.bytes_saved, 2 * 2000);
}

static void test_cost_of_c_and_of_nothing(void **state) {
    const struct gt_epilogue e = parsed("b[j]:f32;d=acc>0?c:c+b[j]", F32, F32);
    const struct gt_epilogue_cost cost = gt_epilogue_cost_of(&e, 1, 8, 4);
    const struct gt_epilogue_cost empty = gt_epilogue_cost_of(&e, 1, 0, 4);
    const struct gt_epilogue_cost huge = gt_epilogue_cost_of(&e, 1, INT32_MAX, INT32_MAX);
    (void)state;
    assert_int_equal(cost.operations, 3);
    assert_int_equal(cost.bytes_in, 16 + 128);
    assert_int_equal(cost.bytes_out, 0);
    assert_int_equal(cost.bytes_saved, 256);
    assert_int_equal(empty.bytes_in + empty.bytes_saved + empty.flops, 0);
    assert_true(huge.bytes_saved == INT64_MAX && huge.flops == INT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_of_kernels),
        cmocka_unit_test(test_outputs_say_their_kind),
        cmocka_unit_test(test_source_has_no_foreign_words),
        cmocka_unit_test(test_the_longest_source),
        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_cost_of_products),
        cmocka_unit_test(test_cost_of_c_and_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
