/* SPDX-License-Identifier: Apache-2.0 */
/* The collection of families: the built-in ones, and the ones of a folder. */
#include "tests/unit/made_up.h"
#include "tests/unit/toy_family.h"
#include "tools/print_family.h"

#include <sys/stat.h>
#include <unistd.h>

static void test_builtin_families(void **state) {
    (void)state;
    struct gt_families *all = builtin();
    assert_true(gt_families_count(all) >= 2);
    assert_non_null(gt_families_find(all, "naive"));
    assert_null(gt_families_find(all, "nobody"));
    assert_null(gt_families_at(all, gt_families_count(all)));
    for (size_t i = 1; i < gt_families_count(all); i++)
        assert_true(gt_families_at(all, i - 1)->rank <= gt_families_at(all, i)->rank);
    gt_families_destroy(all);
    gt_families_destroy(NULL);
}

/* `gemmtune space` tells what they mean. */
static void test_parameters_have_meanings(void **state) {
    (void)state;
    struct gt_families *all = builtin();
    for (size_t i = 0; i < gt_families_count(all); i++) {
        const struct gt_family *f = gt_families_at(all, i);
        for (int j = 0; j < f->param_count; j++)
            if (f->param[j].about == NULL || f->param[j].about[0] == '\0')
                fail_msg("%s: no meaning of %s", f->name, f->param[j].name);
    }
    gt_families_destroy(all);
}

/* ---- a folder ---- */

static char folder[512];

static void path_of(char path[1024], const char *name) {
    (void)snprintf(path, 1024, "%s/%s", folder, name);
}

static void make_folder(const char *name) {
    char path[1024];
    path_of(path, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void make_file(const char *name, const char *text, size_t size) {
    char path[1024];
    path_of(path, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static int folder_create(void **state) {
    const char *tmp = getenv("TMPDIR");
    (void)state;
    (void)snprintf(folder, sizeof folder, "%s/gt-family-XXXXXX",
                   tmp != NULL ? tmp : "/tmp");
    return mkdtemp(folder) == NULL;
}

static int folder_remove(void **state) {
    static const char *const names[] = {"toy/space.json",
                                        "toy/toy.cl",
                                        "toy",
                                        "common/x",
                                        "common",
                                        "stray",
                                        "bad/space.json",
                                        "bad",
                                        "tile/space.json",
                                        "tile",
                                        ""};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[1024];
        path_of(path, names[i]);
        (void)remove(path);
    }
    return 0;
}

static void expect_folder_refused(struct gt_families *all, gt_status status,
                                  const char *said) {
    struct gt_err err = {""};
    const size_t before = gt_families_count(all);
    assert_int_equal(gt_families_add_folder(all, folder, &err), status);
    if (strstr(err.line, said) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", err.line, said);
    assert_int_equal(gt_families_count(all), before);
}

static void test_folder(void **state) {
    (void)state;
    struct gt_families *all = builtin();
    const size_t before = gt_families_count(all);
    expect_folder_refused(all, GEMMTUNE_EINVAL, "no family in it");
    make_folder("common");
    make_file("common/x", "x", 1);
    make_file("stray", "x", 1);
    make_folder("toy");
    expect_folder_refused(all, GEMMTUNE_EINVAL, "no family in it");
    make_file("toy/space.json", good, strlen(good));
    expect_folder_refused(all, GEMMTUNE_EIO, "toy/toy.cl");
    make_file("toy/toy.cl", "a\0b", 3);
    expect_folder_refused(all, GEMMTUNE_EPARSE, "NUL");
    make_file("toy/toy.cl", "the text", 8);
    assert_int_equal(gt_families_add_folder(all, folder, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_families_count(all), before + 1);
    assert_string_equal(gt_families_find(all, "toy")->source[0]->text, "the text");
    assert_string_equal(gt_families_at(all, 0)->name, "pipeline"); /* rank 5 */
    assert_string_equal(gt_families_at(all, 1)->name, "series");
    assert_string_equal(gt_families_at(all, 2)->name, "bundle");
    assert_string_equal(gt_families_at(all, 3)->name, "toy"); /* rank 7 */
    make_file("toy/toy.cl", "newer", 5);
    assert_int_equal(gt_families_add_folder(all, folder, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_families_count(all), before + 1); /* replaced, not added */
    assert_string_equal(gt_families_find(all, "toy")->source[1]->text, "newer");
    make_file("toy/space.json", "{", 1);
    expect_folder_refused(all, GEMMTUNE_EPARSE, "toy/space.json:1");
    gt_families_destroy(all);
}

static struct {
    int count;
    char line[2][512];
} warned;

static void take_warning(void *user, gemmtune_log_level level, const char *line) {
    (void)user, (void)level;
    if (warned.count < 2)
        (void)snprintf(warned.line[warned.count], sizeof *warned.line, "%s", line);
    warned.count++;
}

/* Each bad family costs a line and itself, also where it would replace another one. */
static void test_bad_families_beside_a_sound_one(void **state) {
    struct gt_err err = {""};
    (void)state;
    struct gt_families *all = builtin();
    const size_t before = gt_families_count(all);
    warned.count = 0;
    gemmtune_set_log(take_warning, NULL, GEMMTUNE_LOG_WARN);
    make_folder("bad");
    make_file("bad/space.json", "{", 1);
    assert_int_equal(gt_families_add_sound(all, folder, GEMMTUNE_LOG_WARN, &err),
                     GEMMTUNE_EINVAL);
    assert_int_equal(warned.count, 1); /* the reason stands once */
    assert_non_null(strstr(warned.line[0], "bad/space.json:1"));
    assert_memory_equal(err.line, "no family is sound in ", 22);
    assert_string_equal(err.line + 22, folder);
    make_folder("tile");
    make_file("tile/space.json", "[]", 2);
    make_folder("toy");
    make_file("toy/space.json", good, strlen(good));
    make_file("toy/toy.cl", "the text", 8);
    expect_folder_refused(all, GEMMTUNE_EPARSE, "bad/space.json:1");
    warned.count = 0;
    assert_int_equal(gt_families_add_sound(all, folder, GEMMTUNE_LOG_WARN, &err),
                     GEMMTUNE_OK);
    gemmtune_set_log(NULL, NULL, GEMMTUNE_LOG_WARN);
    assert_int_equal(warned.count, 2);
    assert_non_null(strstr(warned.line[0], "bad/space.json:1"));
    assert_non_null(strstr(warned.line[1], "tile/space.json:1"));
    assert_non_null(gt_families_find(all, "toy"));
    assert_null(gt_families_find(all, "tile"));
    assert_int_equal(gt_families_count(all), before);
    gt_families_destroy(all);
}

/* The family as C, functions and data; the caller frees it. */
static char *printed(const struct gt_family *f) {
    char *text = NULL;
    size_t size = 0;
    struct gt_printer to = {.code = open_memstream(&text, &size)};
    to.data = to.code;
    assert_non_null(to.code);
    assert_true(gt_family_print(&to, f));
    assert_int_equal(fclose(to.code), 0);
    return text;
}

static void forget_rules(struct gt_rule *rule) {
    for (int i = 0; i < GT_RULES_MAX; i++) {
        rule[i].expr = NULL;
        rule[i].why = NULL;
    }
}

/* The family without its pointers; `printed` compares their texts. */
static struct gt_family plain_members(const struct gt_family *f) {
    struct gt_family r;
    memcpy(&r, f, sizeof r); /* with the bytes between members */
    r.about = NULL;
    for (int i = 0; i < GT_POINT_MAX; i++)
        r.param[i].about = NULL;
    memset(r.source, 0, sizeof r.source);
    for (int i = 0; i < GT_RULES_MAX; i++)
        r.derive[i].expr = NULL;
    forget_rules(r.require);
    forget_rules(r.accept);
    memset(r.align, 0, sizeof r.align);
    r.sums.when = NULL;
    for (int i = 0; i < GT_SUMS_MAX; i++)
        r.sums.number[i].value = NULL;
    r.workspace = r.walk = r.panel[0] = r.panel[1] = NULL;
    for (int i = 0; i < GT_PASSES_MAX; i++) {
        struct gt_pass *p = &r.pass[i];
        p->when = p->smem = NULL;
        memset(p->grid, 0, sizeof p->grid);
        memset(p->block, 0, sizeof p->block);
        memset(p->cluster, 0, sizeof p->cluster);
    }
    memset(r.shape, 0, sizeof r.shape);
    r.derive_all = NULL;
    r.refusal = NULL;
    r.shape_all = NULL;
    for (int i = 0; i < GT_MAPS_MAX; i++) {
        struct gt_map *m = &r.map[i];
        for (int j = 0; j < GT_MAP_BASES; j++)
            m->base[j].when = NULL;
        m->at = m->inner = m->outer = m->stride = m->box[0] = m->box[1] = m->swizzle = NULL;
        m->planes = NULL;
    }
    return r;
}

/* Built-in families were parsed when the library was built. Families that are parsed now
 * have the same hashes, rules, kernels and points. */
static void test_builtin_families_from_their_folder(void **state) {
    struct gt_err err = {""};
    (void)state;
    struct gt_families *built_in = builtin(), *read = builtin();
    if (gt_families_add_folder(read, "templates", &err) != GEMMTUNE_OK)
        fail_msg("%s", err.line);
    assert_int_equal(gt_families_count(read), gt_families_count(built_in));
    for (size_t i = 0; i < gt_families_count(read); i++) {
        const struct gt_family *x = gt_families_at(built_in, i);
        const struct gt_family *y = gt_families_at(read, i);
        char *of_x = printed(x), *of_y = printed(y);
        const struct gt_family plain_x = plain_members(x), plain_y = plain_members(y);
        assert_ptr_not_equal(x, y);
        assert_memory_equal(&plain_x, &plain_y, sizeof plain_x);
        assert_string_equal(of_x, of_y);
        for (int j = 0; j < GT_BACKENDS; j++)
            for (int k = 0; k < GT_TEMPLATES_MAX && x->source[j][k].name != NULL; k++)
                assert_string_equal(x->source[j][k].text, y->source[j][k].text);
        free(of_x);
        free(of_y);
    }
    gt_families_destroy(built_in);
    gt_families_destroy(read);
}

/* A value that makes operators fail now and then. */
static int64_t draw(unsigned *state) {
    static const int64_t values[] = {
        0, 1, 2, 4, 8, 16, 32, 64, 100, 4096, INT64_C(1) << 33, INT64_MAX, INT64_MIN, -1};
    *state = *state * 1664525u + 1013904223u;
    return values[(*state >> 16) % (sizeof values / sizeof *values)];
}

/* The function of the built-in expression and the nodes of the one that was parsed now give
 * the same value, or both none. */
static void expect_same_values(const struct gt_expr *built_in, const struct gt_expr *parsed,
                               int *valid) {
    unsigned state = 1;
    for (int i = 0; i < 40; i++) {
        int64_t value[GT_SYMBOLS_MAX], x = 7, y = 7;
        for (int j = 0; j < GT_SYMBOLS_MAX; j++)
            value[j] = draw(&state);
        const gt_status status = gt_expr_eval(&x, built_in, value, NULL);
        assert_int_equal(status, gt_expr_eval(&y, parsed, value, NULL));
        assert_int_equal(x, y);
        *valid += status == GEMMTUNE_OK;
    }
}

/* Lists that became one function give what the lists that were parsed now give. */
static void expect_same_lists(const struct gt_family *built_in,
                              const struct gt_family *parsed, const gemmtune_problem *p,
                              int *refused) {
    static const struct gt_device h200 = MADE_UP(.arch = "sm_90", .cc = 90, .units = 132,
                                                 .smem_max = 232448, .has_f64 = true);
    struct gt_binding x, y;
    unsigned state = 1;
    for (int i = 0; i < 40; i++) {
        int64_t values[GT_POINT_MAX], of_x[GT_SHAPE_COUNT], of_y[GT_SHAPE_COUNT];
        for (int j = 0; j < parsed->param_count; j++)
            values[j] =
                parsed->param[j]
                    .value[(uint64_t)draw(&state) % (uint64_t)parsed->param[j].count];
        gt_bind_problem(&x, built_in, &h200, p);
        gt_bind_problem(&y, parsed, &h200, p);
        const gt_status status = gt_bind_values(&x, values, NULL);
        assert_int_equal(gt_bind_values(&y, values, NULL), status);
        if (status != GEMMTUNE_OK)
            continue;
        assert_memory_equal(x.value, y.value, sizeof x.value);
        const struct gt_rule *rule_x = gt_refused(&x), *rule_y = gt_refused(&y);
        assert_int_equal(rule_x != NULL ? rule_x - built_in->require : -1,
                         rule_y != NULL ? rule_y - parsed->require : -1);
        *refused += rule_x != NULL;
        const bool shaped = gt_shape_of(of_x, &x);
        assert_int_equal(shaped, gt_shape_of(of_y, &y));
        if (shaped)
            assert_memory_equal(of_x, of_y, sizeof of_x);
    }
}

static void test_lists_as_functions(void **state) {
    struct gt_families *built_in = builtin(), *read = builtin();
    gemmtune_problem p;
    int refused = 0;
    (void)state;
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-1000x300x70", NULL), GEMMTUNE_OK);
    assert_int_equal(gt_families_add_folder(read, "templates", NULL), GEMMTUNE_OK);
    for (size_t i = 0; i < gt_families_count(read); i++)
        expect_same_lists(gt_families_at(built_in, i), gt_families_at(read, i), &p,
                          &refused);
    assert_true(refused > 100);
    gt_families_destroy(built_in);
    gt_families_destroy(read);
}

static void test_expressions_as_functions(void **state) {
    struct gt_families *built_in = builtin(), *read = builtin();
    int valid = 0;
    (void)state;
    assert_int_equal(gt_families_add_folder(read, "templates", NULL), GEMMTUNE_OK);
    for (size_t i = 0; i < gt_families_count(read); i++) {
        const struct gt_family *x = gt_families_at(built_in, i);
        const struct gt_family *y = gt_families_at(read, i);
        for (int j = 0; j < x->derive_count; j++)
            expect_same_values(x->derive[j].expr, y->derive[j].expr, &valid);
        for (int j = 0; j < x->require_count; j++)
            expect_same_values(x->require[j].expr, y->require[j].expr, &valid);
        for (int j = 0; j < GT_SHAPE_COUNT && x->has_shape; j++)
            expect_same_values(x->shape[j], y->shape[j], &valid);
    }
    assert_true(valid > 1000);
    gt_families_destroy(built_in);
    gt_families_destroy(read);
}

static void test_folder_that_is_not_there(void **state) {
    struct gt_err err = {""};
    (void)state;
    struct gt_families *all = builtin();
    assert_int_equal(gt_families_add_folder(all, "/nonexistent/gt", &err), GEMMTUNE_EIO);
    assert_non_null(strstr(err.line, "/nonexistent/gt"));
    gt_families_destroy(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builtin_families),
        cmocka_unit_test(test_parameters_have_meanings),
        cmocka_unit_test(test_builtin_families_from_their_folder),
        cmocka_unit_test(test_expressions_as_functions),
        cmocka_unit_test(test_lists_as_functions),
        cmocka_unit_test_setup_teardown(test_folder, folder_create, folder_remove),
        cmocka_unit_test_setup_teardown(test_bad_families_beside_a_sound_one, folder_create,
                                        folder_remove),
        cmocka_unit_test(test_folder_that_is_not_there),
    };
    return cmocka_run_group_tests_name("families", tests, NULL, NULL);
}
