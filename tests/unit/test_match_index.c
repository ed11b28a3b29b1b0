/* SPDX-License-Identifier: Apache-2.0 */
/* An index gives the candidates of a query, and so the answers, that a search among all
 * kernels gives: for random kernels, many of them of one place, and random queries. */
#include "runtime/lookup/match_inside.h"
#include "tests/unit/match_families.h"

enum { MOST = 1500, QUERIES = 60 };

static struct gt_known known[MOST];
static uint32_t seed = 4;

static int draw(int count) {
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 8) % (uint32_t)count);
}

/* Few sizes, so that many problems are equal, or differ in their layout alone. */
static void draw_problem(gemmtune_problem *p, char name[GT_PROBLEM_NAME_MAX]) {
    static const char *const types[] = {"i32", "f32"}, *const layouts[] = {"nn", "nt"};
    static const char *const options[] = {"",          "",          ",batch=3",
                                          ",epi=bias", ",epi=relu", ",beta"};
    char text[128];
    struct gt_err err = {""};
    (void)snprintf(text, sizeof text, "%s-%s-%dx%dx%d%s", types[draw(2)], layouts[draw(2)],
                   1 << draw(10), 3 << draw(8), 5 << draw(6), options[draw(6)]);
    if (gt_problem_from_name(p, text, &err) != GEMMTUNE_OK)
        fail_msg("%s: %s", text, err.line);
    (void)gt_problem_name(p, name);
}

/* On this device, on another one of its architecture, or on one of another. */
static void draw_known(struct gt_known *k) {
    static const char *const device[] = {"here", "here", "there", "old"};
    const int d = draw(4);
    memset(k, 0, sizeof *k);
    draw_problem(&k->problem, k->problem_name);
    (void)snprintf(k->device_key, sizeof k->device_key, "%s", device[d]);
    (void)snprintf(k->arch, sizeof k->arch, "%s", d == 3 ? "sm_61" : card.arch);
    k->family = gt_families_find(families, draw(2) ? "choosy" : "plain");
    if (strcmp(k->family->name, "choosy") == 0)
        set_known_point(k, draw(2) ? "V=4 W=8" : "V=1 W=8");
    k->verified = draw(3) != 0;
    k->rank = draw(3);
    k->median_ns = 1000 + draw(100000);
}

static struct gt_query query_of(const struct gt_snapshot *s, const gemmtune_problem *p) {
    return (struct gt_query){.snapshot = s,
                             .device = &card,
                             .device_key = "here",
                             .problem = p,
                             .worst = (gemmtune_match)draw(4),
                             .workspace_max = SIZE_MAX,
                             .pointer_align = 4 << draw(3)};
}

/* Both walks give the same groups of the same candidates. */
static void expect_same_walk(struct gt_query query, const struct gt_snapshot *all,
                             const struct gt_snapshot *indexed) {
    struct gt_lookup l[2] = {{.query = query}, {.query = query}};
    struct gt_match_walk walk[2];
    struct gt_near *group[2];
    size_t count[2];
    l[0].query.snapshot = all;
    l[1].query.snapshot = indexed;
    for (int i = 0; i < 2; i++) {
        (void)gt_problem_name(query.problem, l[i].name);
        assert_int_equal(gt_match_walk_begin(&walk[i], &l[i], NULL), GEMMTUNE_OK);
    }
    do {
        for (int i = 0; i < 2; i++)
            assert_int_equal(gt_match_walk_next(&group[i], &count[i], &walk[i], NULL),
                             GEMMTUNE_OK);
        assert_int_equal(count[0], count[1]);
        for (size_t i = 0; i < count[0]; i++) {
            assert_ptr_equal(group[0][i].known, group[1][i].known);
            assert_int_equal(group[0][i].preference, group[1][i].preference);
            assert_int_equal(group[0][i].match, group[1][i].match);
            assert_true(group[0][i].distance == group[1][i].distance);
        }
    } while (count[0] > 0);
    assert_int_equal(walk[0].seen, walk[1].seen);
    gt_match_walk_end(&walk[0]);
    gt_match_walk_end(&walk[1]);
}

static void expect_same_answer(struct gt_query query, const struct gt_snapshot *all,
                               const struct gt_snapshot *indexed) {
    struct gt_choice choice[2];
    struct gt_err err[2] = {{""}, {""}};
    query.snapshot = all;
    const gt_status status = gt_match(&choice[0], &query, &err[0]);
    query.snapshot = indexed;
    assert_int_equal(gt_match(&choice[1], &query, &err[1]), status);
    assert_string_equal(err[0].line, err[1].line);
    if (status != GEMMTUNE_OK)
        return;
    assert_ptr_equal(choice[0].known, choice[1].known);
    assert_string_equal(choice[0].why, choice[1].why);
    assert_memory_equal(&choice[0].point, &choice[1].point, sizeof choice[0].point);
}

static void test_same_as_among_all(void **state) {
    static const size_t counts[] = {0, 1, 16, 17, 200, MOST};
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        struct gt_index *index;
        for (size_t i = 0; i < counts[c]; i++)
            draw_known(&known[i]);
        assert_int_equal(gt_index_create(&index, known, counts[c], NULL), GEMMTUNE_OK);
        const struct gt_snapshot all = {families, known, counts[c], NULL},
                                 indexed = {families, known, counts[c], index};
        for (int i = 0; i < QUERIES; i++) {
            char name[GT_PROBLEM_NAME_MAX];
            gemmtune_problem p;
            draw_problem(&p, name);
            expect_same_walk(query_of(&all, &p), &all, &indexed);
            expect_same_answer(query_of(&all, &p), &all, &indexed);
        }
        gt_index_destroy(index);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_among_all),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
