/* SPDX-License-Identifier: Apache-2.0 */
/* test_epilogue_range.c - values and ranges of epilogues against known ones. */
#include "core/epilogue/epilogue_range.h"

#include "core/element.h"
#include "core/epilogue/epilogue_op.h"
#include "tests/unit/epilogues.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define F32  GEMMTUNE_F32
#define F64  GEMMTUNE_F64
#define F16  GEMMTUNE_F16
#define BF16 GEMMTUNE_BF16
#define I32  GEMMTUNE_I32

/* ---- known values ---- */

static double value_of(const char *text, double acc) {
    static const double operand[GT_EPILOGUE_OPERANDS_MAX] = {3, 5, 7};
    const struct gt_epilogue e = parsed(text, F64, F64);
    struct gt_epi_result out[2];
    gt_epilogue_eval(out, &e,
                     &(struct gt_epi_values){
                         .acc = acc, .c = 2, .alpha = 1, .beta = 0.5, .operand = operand});
    assert_true(out[0].store.low <= out[0].value && out[0].value <= out[0].store.high);
    return out[0].value;
}

static void assert_near(double found, double known, double tolerance) {
    if (!(fabs(found - known) <= tolerance * fmax(fabs(known), 1e-300)))
        fail_msg("%.17g is not %.17g", found, known);
}

/* Known to 16 digits, from series in 60 digits. */
static void test_functions_have_known_values(void **state) {
    static const struct {
        const char *text;
        double acc, value;
    } cases[] = {
        {"d=gelu(acc)", 1, 0.8413447460685429},
        {"d=gelu(acc)", -1, -0.15865525393145705},
        {"d=gelu(acc)", 0.5, 0.34573123063700656},
        {"d=gelu(acc)", -3, -0.004049694094890284},
        {"d=gelu(acc)", 10, 10},
        {"d=gelu(acc)", 0, 0},
        {"d=gelu_tanh(acc)", 1, 0.8411919906082768},
        {"d=gelu_tanh(acc)", -1, -0.1588080093917233},
        {"d=silu(acc)", 1, 0.7310585786300049},
        {"d=silu(acc)", -1, -0.2689414213699951},
        {"d=silu(acc)", 4, 3.928055160151634},
        {"d=sigmoid(acc)", 2, 0.8807970779778823},
        {"d=sigmoid(acc)", -2, 0.11920292202211755},
        {"d=erf(acc)", 0.5, 0.5204998778130465},
        {"d=erf(acc)", 1, 0.8427007929497149},
        {"d=erf(acc)", 2, 0.9953222650189527},
        {"d=tanh(acc)", 0.5, 0.46211715726000975},
        {"d=exp(acc)", 1, 2.718281828459045},
        {"d=log(acc)", 10, 2.302585092994046},
        {"d=sqrt(acc)", 2, 1.4142135623730951},
        {"d=abs(acc)", -2, 2},
        {"d=relu(acc)", -2, 0},
        {"d=relu(acc)", 2, 2},
        {"d=x", 4, 5}, /* alpha acc + beta c */
        {"d=alpha*acc-beta*c", 4, 3},
        {"d=acc>c?min(acc,6):max(acc,-1)", 9, 6},
        {"d=acc>c?min(acc,6):max(acc,-1)", -9, -1},
        {"d=acc==4?1:0", 4, 1},
        {"d=acc!=4?1:0", 4, 0},
        {"d=acc<=4?1:0", 4, 1},
        {"d=acc>=5?1:0", 4, 0},
        {"a:f32;b[i]:f16;e[i,j]:f64;d=acc*a+b[i]/e[i,j]", 2, 6 + 5.0 / 7},
        {"d=i8(acc)", 200.4, 127},
        {"d=i8(acc)", -200.4, -128},
        {"d=i8(acc)", 2.5, 2},
        {"d=e4m3(acc)", 1000, 448},
        {"d=f16(acc)", -1e9, -65504},
        {"d=e5m2(acc)", 1.1, 1},
        {"t=acc*2;d=t+t*t", 3, 42},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_near(value_of(cases[i].text, cases[i].acc), cases[i].value, 4e-15);
}

/* erf(t) = 2 / sqrt(pi) sum (-1)^n t^(2n+1) / (n! (2n+1)) */
static long double erf_by_series(long double t) {
    long double term = t, sum = t;
    for (int n = 1; n < 200; n++) {
        term *= -t * t / n;
        sum += term / (2 * n + 1);
    }
    return sum * 1.12837916709551257389615890312154517L;
}

static void test_functions_at_many_points(void **state) {
    (void)state;
    for (int i = -300; i <= 300; i++) {
        const double t = i / 100.0;
        const long double phi = (1 + erf_by_series(t * 0.70710678118654752440L)) / 2;
        const long double z = 0.79788456080286535588L * (t + 0.044715L * t * t * t);
        const double at_least = 1e-14 * fabs(t);
        assert_true(fabs(value_of("d=erf(acc)", t) - (double)erf_by_series(t)) < 1e-14);
        assert_true(fabs(value_of("d=gelu(acc)", t) - (double)(t * phi)) <= at_least);
        assert_true(fabs(value_of("d=gelu_tanh(acc)", t) -
                         (double)(t / 2 * (1 + tanhl(z)))) <= at_least);
        assert_true(fabs(value_of("d=silu(acc)", t) - (double)(t / (1 + expl(-t)))) <=
                    at_least);
    }
}

/* ---- ranges of single operations ---- */

static struct gt_range stored(const char *text, gemmtune_dtype c, gemmtune_dtype acc,
                              struct gt_epi_values values) {
    static const double operand[GT_EPILOGUE_OPERANDS_MAX] = {0};
    const struct gt_epilogue e = parsed(text, c, acc);
    struct gt_epi_result out[2];
    values.operand = operand;
    gt_epilogue_eval(out, &e, &values);
    return out[0].store;
}

static void assert_range(struct gt_range found, double low, double high, bool nan) {
    if (!(found.low >= low && found.low <= low && found.high >= high &&
          found.high <= high && found.nan == nan))
        fail_msg("[%g, %g]%s is not [%g, %g]%s", found.low, found.high,
                 found.nan ? " or NaN" : "", low, high, nan ? " or NaN" : "");
}

static void assert_only_nan(struct gt_range found) {
    if (!found.nan || found.low <= found.high)
        fail_msg("[%g, %g] is right as well as NaN", found.low, found.high);
}

static void test_odd_numbers_have_an_answer(void **state) {
    const struct gt_epi_values zero = {.acc = 0, .alpha = 1}, one = {.acc = 1, .alpha = 1};
    const struct gt_epi_values near = {.acc = 0, .acc_error = 1e-3, .alpha = 1};
    const struct gt_epi_values unread = {.acc = 1, .alpha = 1, .beta = 0, .c = NAN};
    const struct gt_epi_values bad = {.acc = NAN, .alpha = 1};
    const struct gt_epi_values huge = {.acc = INFINITY, .acc_error = 1, .alpha = 1};
    (void)state;
    assert_range(stored("d=acc", F32, F32, huge), INFINITY, INFINITY, false);
    assert_range(stored("d=-acc", F32, F32, huge), -INFINITY, -INFINITY, false);
    assert_range(stored("d=1/acc", F32, F32, zero), -INFINITY, INFINITY, false);
    assert_range(stored("d=acc/acc", F32, F32, zero), -INFINITY, INFINITY, true);
    assert_range(stored("d=1/acc", I32, I32, zero), INT32_MIN, INT32_MAX, false);
    assert_range(stored("d=log(acc)", F32, F32, zero), -INFINITY, -INFINITY, false);
    assert_true(stored("d=log(acc-2)", F32, F32, one).nan);
    assert_true(stored("d=sqrt(acc-2)", F32, F32, one).nan);
    assert_range(stored("d=exp(acc*100)", F32, F32, one), 3.40282346638528860e38, INFINITY,
                 false);
    assert_range(stored("d=exp(acc*100)", F16, F32, one), INFINITY, INFINITY, false);
    assert_range(stored("d=f16(exp(acc*100))", F16, F32, one), 65504, 65504, false);
    assert_range(stored("d=exp(acc*1000)-exp(acc*1000)", F64, F64, one), -INFINITY,
                 INFINITY, true);
    assert_range(stored("d=acc>0?1:-1", F32, F32, near), -1, 1, false);
    assert_range(stored("d=acc>0?1:-1", F32, F32, one), 1, 1, false);
    assert_only_nan(stored("d=relu(acc)", F32, F32, bad));
    assert_only_nan(stored("d=relu(x)", BF16, F32, bad));
    assert_only_nan(stored("d=min(acc,1)", F32, F32, bad));
    assert_only_nan(stored("d=max(1,-acc)", GEMMTUNE_E4M3, F32, bad));
    assert_only_nan(stored("d=abs(acc)+2", F64, F64, bad));
    assert_only_nan(stored("d=gelu(2*acc/3)", F16, F32, bad));
    assert_only_nan(stored("d=tanh(exp(sqrt(acc)))", F32, F32, bad));
    assert_range(stored("d=i8(relu(acc))", F32, F32, bad), 0, 0, false);
    assert_range(stored("d=i32(acc)", I32, F32, bad), 0, 0, false);
    assert_range(stored("d=i32(acc)", F32, F32, bad), 0, 0, false);
    assert_range(stored("d=i8(log(acc))", F32, F32, near), -128, 0, false);
    assert_range(stored("d=i8(acc/acc)", F32, F32, zero), -128, 127, false);
    assert_range(stored("d=x", BF16, F32, unread), 1, 1, false);
    assert_true(stored("d=c", BF16, F32, unread).nan);
}

/* Far below 0 the functions that go to 0 have no other answer, however large the operand
 * is; of minus infinity some devices make NaN. */
static void test_tails_end(void **state) {
    static const char *const functions[] = {"d=silu(acc)", "d=gelu(acc)",
                                            "d=gelu_tanh(acc)"};
    static const double far[] = {-150, -1e6, -1e10, -1e30, -INFINITY};
    (void)state;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        for (size_t k = 0; k < sizeof far / sizeof *far; k++)
            for (int wide = 0; wide < 2; wide++) {
                const gemmtune_dtype type = wide ? F64 : F32;
                const double acc = wide && k == 0 ? -1500 : far[k];
                const struct gt_range found =
                    stored(functions[i], type, type,
                           (struct gt_epi_values){.acc = acc, .alpha = 1});
                const double tiny = 260 * gt_type_least(type);
                assert_true(found.low >= -tiny && found.low <= 0);
                assert_true(found.high >= 0 && found.high <= tiny);
                assert_int_equal(found.nan, acc < -DBL_MAX);
            }
}

/* The little that is left of these functions before that is right to a few digits. */
static void test_tails_are_narrow(void **state) {
    static const struct {
        const char *text;
        double acc, part;
    } cases[] = {{"d=gelu(acc)", -3, 4e-4},      {"d=gelu(acc)", -4, 1.2e-2},
                 {"d=gelu_tanh(acc)", -4, 2e-4}, {"d=gelu_tanh(acc)", -8, 2e-4},
                 {"d=silu(acc)", -20, 4e-6},     {"d=silu(acc)", -80, 5e-3}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gt_epi_values values = {.acc = cases[i].acc, .alpha = 1};
        const struct gt_range found = stored(cases[i].text, F32, F32, values);
        if (!(found.high - found.low <= cases[i].part * -found.low))
            fail_msg("%s of %g: [%g, %g]", cases[i].text, cases[i].acc, found.low,
                     found.high);
    }
}

/* Integers that become elements of 16 or 8 bits are rounded once. 16842753 is nearer to
 * 16908288 than to 16777216; as an f32 it would be half-way. */
static void test_integers_are_rounded_once(void **state) {
    static const struct {
        const char *text;
        gemmtune_dtype c;
        double acc, value;
    } cases[] = {
        {"d=x", BF16, 16842753, 16908288},
        {"d=x", BF16, -16842753, -16908288},
        {"d=x", BF16, 16842752, 16777216},
        {"d=x", BF16, INT32_MAX, 2147483648.0},
        {"d=acc", BF16, 16842753, 16908288},
        {"d=relu(-x)", BF16, -16842753, 16908288},
        {"d=max(x,c)", BF16, 16842753, 16908288},
        {"d=acc>3?x:acc", BF16, 16842753, 16908288},
        {"d=bf16(x)", BF16, 16842753, 16908288},
        {"d=f32(x)", BF16, 16842753, 16777216},
        {"t=-x;d=abs(t)", BF16, 16842753, 16908288},
        {"d=x", F16, 65519, 65504},
        {"d=x", F16, 65520, INFINITY},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gt_epi_values values = {.acc = cases[i].acc, .c = -1, .alpha = 1};
        const struct gt_range found = stored(cases[i].text, cases[i].c, I32, values);
        if (!(found.low >= cases[i].value && found.high <= cases[i].value))
            fail_msg("%s of %.0f: [%.0f, %.0f]", cases[i].text, cases[i].acc, found.low,
                     found.high);
    }
}

static void test_integers_are_exact(void **state) {
    static const struct {
        const char *text;
        double acc, value;
    } cases[] = {
        {"d=x", 7, 7 * 3 + 2 * 5},
        {"d=acc*acc", 65536, 0},
        {"d=acc+1", INT32_MAX, INT32_MIN},
        {"d=-acc", INT32_MIN, INT32_MIN},
        {"d=abs(acc)", INT32_MIN, INT32_MIN},
        {"d=relu(acc-c)", 3, 0},
        {"d=min(acc,c)", 3, 3},
        {"d=max(acc,c)", 3, 5},
        {"d=acc<c?alpha:beta", 3, 3},
        {"d=i8(acc)", 300, 127},
        {"d=i8(acc/2)", 5, 2},
        {"d=i32(acc/3)", 300, 100},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct gt_epi_values values = {
            .acc = cases[i].acc, .c = 5, .alpha = 3, .beta = 2};
        const struct gt_range found = stored(cases[i].text, I32, I32, values);
        if (!(found.low <= cases[i].value && cases[i].value <= found.high) ||
            found.high - found.low > 1)
            fail_msg("%s: [%g, %g]", cases[i].text, found.low, found.high);
    }
}

/* The range is no wider than a few roundoffs, so that a wrong kernel is outside it. */
static void test_ranges_are_narrow(void **state) {
    static const struct {
        const char *text;
        double factor;
    } cases[] = {{"d=x", 8},
                 {"d=gelu(x)", 80},
                 {"d=silu(x)", 80},
                 {"d=x*sigmoid(x)", 80},
                 {"d=x/(1+exp(-x))", 80},
                 {"d=relu(x*0.5+1)", 12}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = -40; k <= 40; k++) {
            const double acc = k / 8.0 + 0.01;
            const struct gt_range found =
                stored(cases[i].text, F32, F32,
                       (struct gt_epi_values){
                           .acc = acc, .acc_error = fabs(acc) * 0x1p-24, .alpha = 1});
            assert_true(found.high - found.low <=
                        cases[i].factor * 0x1p-23 * (fabs(acc) + 1));
        }
}

/* A kernel that does something else is refused at some of a few elements. */
static void test_other_expressions_are_outside(void **state) {
    static const char *const pairs[][2] = {
        {"b[j]:f32;d=gelu(x+b[j])", "b[j]:f32;d=gelu(x)+b[j]"},
        {"b[j]:f32;d=relu(x+b[j])", "b[j]:f32;d=relu(x)+b[j]"},
        {"d=gelu(x)", "d=gelu_tanh(x)"},
        {"d=x", "d=x+beta*c"},
        {"d=silu(x)", "d=relu(x)"},
        {"s:f32;b[j]:f32;d=x*s+b[j]", "s:f32;b[j]:f32;d=(x+b[j])*s"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct gt_epilogue right = parsed(pairs[i][0], F32, F32);
        const struct gt_epilogue wrong = parsed(pairs[i][1], F32, F32);
        int outside = 0;
        for (int k = 0; k < 16; k++) {
            const double operand[] = {0.75, -0.5};
            const struct gt_epi_values values = {.acc = k / 4.0 - 2.1,
                                                 .acc_error = 1e-5,
                                                 .c = 0.25,
                                                 .alpha = 1,
                                                 .beta = 1,
                                                 .operand = operand};
            struct gt_epi_result of_right[2], of_wrong[2];
            gt_epilogue_eval(of_right, &right, &values);
            gt_epilogue_eval(of_wrong, &wrong, &values);
            outside += of_wrong[0].value < of_right[0].store.low ||
                       of_wrong[0].value > of_right[0].store.high;
        }
        if (outside < 4)
            fail_msg("%s is taken for %s", pairs[i][1], pairs[i][0]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_have_known_values),
        cmocka_unit_test(test_functions_at_many_points),
        cmocka_unit_test(test_odd_numbers_have_an_answer),
        cmocka_unit_test(test_tails_end),
        cmocka_unit_test(test_tails_are_narrow),
        cmocka_unit_test(test_integers_are_rounded_once),
        cmocka_unit_test(test_integers_are_exact),
        cmocka_unit_test(test_ranges_are_narrow),
        cmocka_unit_test(test_other_expressions_are_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
