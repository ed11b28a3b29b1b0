/* SPDX-License-Identifier: Apache-2.0 */
/* A tuned point that a rule refuses gets smaller values of what the rule names. */
#include "tests/unit/match_families.h"

#define HERE "card-a"

static bool is_of_another(void *user, const struct gt_choice *c) {
    (void)user;
    return strcmp(c->family->name, "shrinks") != 0;
}

/* Asks the family about the problem. It answers from a record of 512 x 512 x 512 in nn, or
 * from its default point, which is the same. */
static gt_status ask(struct gt_choice *out, const char *problem, bool tuned) {
    struct gt_known known = {.family = gt_families_find(families, "shrinks"),
                             .verified = true,
                             .median_ns = 10000,
                             .arch = "sm_90",
                             .device_key = HERE,
                             .problem_name = "i8-nn-512x512x512"};
    const struct gt_snapshot snapshot = {
        .families = families, .known = &known, .count = tuned};
    gemmtune_problem p;
    assert_int_equal(gt_problem_from_name(&known.problem, known.problem_name, NULL),
                     GEMMTUNE_OK);
    set_known_point(&known, "V=4 BM=128");
    assert_int_equal(gt_problem_from_name(&p, problem, NULL), GEMMTUNE_OK);
    const struct gt_query query = {.snapshot = &snapshot,
                                   .device = &card,
                                   .device_key = HERE,
                                   .problem = &p,
                                   .worst = tuned ? GEMMTUNE_MATCH_SHAPE
                                                  : GEMMTUNE_MATCH_DEFAULT,
                                   .workspace_max = SIZE_MAX,
                                   .pointer_align = 16,
                                   .skip = is_of_another};
    return gt_match(out, &query, NULL);
}

static void test_lowered_points(void **state) {
    static const struct {
        const char *problem, *point; /* NULL: none may run */
    } rows[] = {
        {"i8-nn-500x512x512", "V=4 BM=128"},
        {"i8-nn-100x512x512", "V=4 BM=64"}, /* by a rule of accept */
        {"i8-nn-40x512x512", "V=4 BM=32"},  /* twice */
        {"i8-nt-512x512x512", "V=4 BM=64"}, /* by a rule of require */
        {"i8-nt-40x512x512", "V=4 BM=32"},  /* by both */
        {"i8-nn-100x512x511", "V=1 BM=64"}, /* then adapted to odd rows */
        {"i8-nt-512x512x511", "V=1 BM=64"},
        {"i8-nn-20x512x512", NULL}, /* there is no smaller value */
        {"i8-nn-100x4x512", NULL},  /* nor does one help */
    };
    (void)state;
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        const char *problem = rows[i / 2].problem, *point = rows[i / 2].point;
        struct gt_choice c;
        char text[GT_POINT_TEXT_MAX];
        const gt_status status = ask(&c, problem, i % 2 == 0);
        if (point == NULL) {
            assert_int_not_equal(status, GEMMTUNE_OK);
            continue;
        }
        assert_int_equal(status, GEMMTUNE_OK);
        (void)gt_point_text(&c.point, text);
        if (strcmp(text, point) != 0)
            fail_msg("%s has %s, not %s: %s", problem, text, point, c.why);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lowered_points)};
    return cmocka_run_group_tests_name("match_lower", tests, setup, teardown);
}
