/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command lines and tables of options: values, operands, errors, and the tables of all
 * commands.
 */
#include "tests/unit/capture.h"
#include "tuner/cmd/cmd.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 100, TEXT_SIZE = 8192 };

struct values {
    bool json, quiet;
    const char *db;
    struct gt_texts family, names;
    int64_t seed;
    double budget, peak, memory, limit;
};

static const struct gt_option options[] = {
    {"json", 0, GT_OPT_FLAG, offsetof(struct values, json), NULL, "as JSON", 0, 0},
    {"quiet", 'q', GT_OPT_FLAG, offsetof(struct values, quiet), NULL, "be silent", 0, 0},
    {"db", 0, GT_OPT_TEXT, offsetof(struct values, db), "FILE", "the database", 0, 0},
    {"family", 'f', GT_OPT_LIST, offsetof(struct values, family), "NAME", "a family", 0, 0},
    {"names", 'n', GT_OPT_NAMES, offsetof(struct values, names), "NAMES", "some", 0, 0},
    {"seed", 's', GT_OPT_INT, offsetof(struct values, seed), "N", "the seed", -5, 100},
    {"seed-more", 0, GT_OPT_INT, offsetof(struct values, seed), "N", "the same", 0, 100},
    {"budget", 'b', GT_OPT_SECONDS, offsetof(struct values, budget), "TIME", "a time", 0,
     0},
    {"peak", 0, GT_OPT_NUMBER, offsetof(struct values, peak), "X", "a number", 0, 0},
    {"memory", 'm', GT_OPT_BYTES, offsetof(struct values, memory), "SIZE", "bytes", 0, 0},
    {"limit", 0, GT_OPT_LIMIT, offsetof(struct values, limit), "SIZE", "a limit", 0, 0},
    {NULL, 0, GT_OPT_FLAG, 0, NULL, NULL, 0, 0},
};

static const struct gt_cmd cmd = {.name = "toy",
                                  .operands = "PROBLEM",
                                  .about = "A command for tests.",
                                  .options = options};

/* Output of a call on stdout and stderr. */
static char printed[2][TEXT_SIZE];

static char *split(char **argv, int *argc, const char *line) {
    char *text = strdup(line);
    assert_non_null(text);
    *argc = 0;
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " "))
        argv[(*argc)++] = word;
    argv[*argc] = NULL;
    return text;
}

/* Parses "toy <line>"; *operands gets what is left, blank between. */
static int parse(struct values *v, char operands[256], const char *line) {
    char *argv[WORDS_MAX], whole[TEXT_SIZE];
    int argc, first = 0;
    FILE *out = tmpfile(), *err = tmpfile();
    assert_true(out != NULL && err != NULL);
    (void)snprintf(whole, sizeof whole, "toy %s", line);
    char *text = split(argv, &argc, whole);
    const int kept_out = capture(STDOUT_FILENO, out),
              kept_err = capture(STDERR_FILENO, err);
    const int code = gt_options_parse(&cmd, argc, argv, v, &first);
    release(STDOUT_FILENO, kept_out, out, printed[0], sizeof printed[0]);
    release(STDERR_FILENO, kept_err, err, printed[1], sizeof printed[1]);
    operands[0] = '\0';
    for (int i = first; code < 0 && i < argc; i++)
        (void)snprintf(operands + strlen(operands), 256 - strlen(operands), "%s%s",
                       i > first ? " " : "", argv[i]);
    v->db = v->db != NULL ? "given" : NULL; /* its text goes with `text` */
    v->family.text[0] = NULL;
    free(text);
    return code;
}

static void test_values(void **state) {
    struct values v = {.seed = 7};
    char operands[256];
    (void)state;
    assert_int_equal(
        parse(&v, operands, "one --json --db a.db two -f x --family=y -s -3 three"), -1);
    assert_string_equal(operands, "one two three");
    assert_true(v.json && !v.quiet);
    assert_non_null(v.db);
    assert_int_equal(v.family.count, 2);
    assert_int_equal(v.seed, -3);
    assert_string_equal(printed[0], "");
    assert_string_equal(printed[1], "");
    v = (struct values){.seed = 7};
    assert_int_equal(parse(&v, operands, ""), -1);
    assert_int_equal(v.seed, 7);
    assert_int_equal(parse(&v, operands, "-q -- --json -"), -1);
    assert_string_equal(operands, "--json -");
    assert_true(v.quiet && !v.json);
    assert_int_equal(parse(&v, operands, "--js --seed 4"), -1); /* unambiguous beginnings */
    assert_true(v.json && v.seed == 4);
}

static void test_seconds_and_numbers(void **state) {
    static const struct {
        const char *line;
        double budget;
    } rows[] = {
        {"--budget 90s", 90}, {"--budget 90", 90},      {"-b5m", 300},
        {"-b 1h", 3600},      {"--budget=250ms", 0.25}, {"--budget 1.5", 1.5},
        {"--budget .5m", 30}, {"--budget 2.", 2},       {"--peak 8873", 8873},
        {"--peak 0.5", 0.5},  {"--peak 4e10", 4e10},    {"--peak 4E+10", 4e10},
        {"--peak 5e-1", 0.5}, {"--peak .5", 0.5},       {"--peak 2.", 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct values v = {.seed = 0};
        char operands[256];
        assert_int_equal(parse(&v, operands, rows[i].line), -1);
        assert_true(v.budget + v.peak == rows[i].budget);
    }
}

static void test_bytes(void **state) {
    static const struct {
        const char *line;
        double memory;
    } rows[] = {
        {"--memory 4096", 4096},
        {"--memory 1", 1},
        {"-m 7B", 7},
        {"-m500kB", 500e3},
        {"--memory=500MB", 500e6},
        {"--memory 2GB", 2e9},
        {"--memory 1.5TB", 1.5e12},
        {"--memory 64KiB", 65536},
        {"--memory .5MiB", 524288},
        {"--memory 8GiB", 8589934592.0},
        {"--memory 2TiB", 2199023255552.0},
        {"--memory 1000000000000000000", 1e18},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct values v = {.seed = 0};
        char operands[256];
        assert_int_equal(parse(&v, operands, rows[i].line), -1);
        assert_true(v.memory == rows[i].memory);
    }
}

static void test_limit(void **state) {
    static const struct {
        const char *line;
        double limit;
    } rows[] = {{"--limit 0", 0},
                {"--limit=32MiB", 33554432},
                {"--limit 1", 1},
                {"--limit none", (double)INFINITY}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct values v = {.limit = -1};
        char operands[256];
        assert_int_equal(parse(&v, operands, rows[i].line), -1);
        assert_true(v.limit == rows[i].limit);
    }
}

static void test_complaints(void **state) {
    static const struct {
        const char *line, *says;
    } rows[] = {
        {"--jsn", "toy: unknown option '--jsn'; did you mean '--json'?"},
        {"--xyzzy", "toy: unknown option '--xyzzy'; 'gemmtune toy --help' lists them"},
        {"--jsn=3", "did you mean '--json'?"},
        {"--se 4", "toy: option '--se' is ambiguous"},
        {"-z", "toy: unknown option '-z'"},
        {"-5", "toy: unknown option '-5'"},
        {"--db", "toy: --db needs a value"},
        {"-f", "needs a value"},
        {"--json=yes", "toy: --json takes no value"},
        {"--help=yes", "toy: --help takes no value"},
        {"--seed x", "toy: --seed needs an integer from -5 to 100, not 'x'"},
        {"--seed 101", "not '101'"},
        {"--seed -6", "not '-6'"},
        {"--seed 1.5", "not '1.5'"},
        {"--seed 99999999999999999999", "not '99999999999999999999'"},
        {"--seed=", "not ''"},
        {"--budget -1",
         "toy: --budget needs a time above 0 such as 90s, 5m, 1h or 250ms, not '-1'"},
        {"--budget 1d", "not '1d'"},
        {"--budget inf", "not 'inf'"},
        {"--budget nan", "not 'nan'"},
        {"--budget 1e3", "not '1e3'"},
        {"--budget 0", "not '0'"},
        {"--budget 0x10", "not '0x10'"},
        {"--budget .", "not '.'"},
        {"--budget s", "not 's'"},
        {"--budget 99999999999h", "not '99999999999h'"},
        {"--peak 0", "toy: --peak needs a number above 0, not '0'"},
        {"--peak -3", "not '-3'"},
        {"--peak 5x", "not '5x'"},
        {"--peak 1e19", "not '1e19'"},
        {"--peak 5e", "not '5e'"},
        {"--peak 5e+-1", "not '5e+-1'"},
        {"--peak e5", "not 'e5'"},
        {"--peak 1e99999999999999999999", "not '1e99999999999999999999'"},
        {"--peak 1,5", "not '1,5'"},
        {"--memory x", "toy: --memory needs a size such as 8GiB, 500MB or 4096, not 'x'"},
        {"--limit x",
         "toy: --limit needs 0, a size such as 32MiB, or none for no limit, not 'x'"},
        {"--limit 0.5", "not '0.5'"},
        {"--limit -1", "not '-1'"},
        {"--limit None", "not 'None'"},
        {"--limit inf", "not 'inf'"},
        {"--memory 0", "not '0'"},
        {"--memory 0.5", "not '0.5'"},
        {"--memory -1GiB", "not '-1GiB'"},
        {"--memory 8G", "not '8G'"},
        {"--memory 8gib", "not '8gib'"},
        {"--memory 8GiBs", "not '8GiBs'"},
        {"--memory GiB", "not 'GiB'"},
        {"--memory 1e9", "not '1e9'"},
        {"--memory nan", "not 'nan'"},
        {"--memory 1000001TB", "not '1000001TB'"},
        {"--memory=", "not ''"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct values v = {.seed = 0};
        char operands[256];
        assert_int_equal(parse(&v, operands, rows[i].line), GT_EXIT_USAGE);
        if (strstr(printed[1], rows[i].says) == NULL)
            fail_msg("\"%s\" says %s", rows[i].line, printed[1]);
        assert_int_equal(strncmp(printed[1], "gemmtune: ", 10), 0);
        assert_ptr_equal(strchr(printed[1], '\n'), printed[1] + strlen(printed[1]) - 1);
        assert_string_equal(printed[0], "");
    }
}

static void test_list_is_bounded(void **state) {
    struct values v = {.seed = 0};
    char line[TEXT_SIZE] = "", operands[256];
    (void)state;
    for (size_t i = 0, len = 0; i <= GT_TEXTS_MAX; i++)
        len += (size_t)snprintf(line + len, sizeof line - len, "-fx ");
    assert_int_equal(parse(&v, operands, line), GT_EXIT_USAGE);
    assert_non_null(strstr(printed[1], "at most 64 values"));
}

static void test_names_by_commas(void **state) {
    static const char *const names[] = {"block", "column", "tile", "", "x"};
    struct values v = {.seed = 0};
    char *argv[WORDS_MAX];
    int argc, first;
    (void)state;
    char *text = split(argv, &argc, "toy -n block,column --names tile -f a,b -n ,x");
    assert_int_equal(gt_options_parse(&cmd, argc, argv, &v, &first), -1);
    assert_int_equal(v.names.count, 5);
    for (int i = 0; i < v.names.count; i++)
        assert_string_equal(v.names.text[i], names[i]);
    assert_int_equal(v.family.count, 1); /* a folder may have a comma in its name */
    assert_string_equal(v.family.text[0], "a,b");
    free(text);
}

static void test_help(void **state) {
    static const char *const parts[] = {
        "usage: gemmtune toy [OPTION]... PROBLEM\n",
        "A command for tests.\n",
        "      --json         as JSON\n",
        "  -f, --family NAME  a family\n",
        "  -h, --help         show this and exit\n",
    };
    struct values v = {.seed = 0};
    char operands[256];
    (void)state;
    assert_int_equal(parse(&v, operands, "--json --help --nonsense"), GT_EXIT_OK);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(printed[0], parts[i]) == NULL)
            fail_msg("no \"%s\" in:\n%s", parts[i], printed[0]);
    assert_string_equal(printed[1], "");
}

/* Every command's table: names once, letters once and never 'h', help for all, one
 * sentence. */
static void test_tables(void **state) {
    (void)state;
    for (size_t i = 0; gt_cmds[i] != NULL; i++) {
        const struct gt_cmd *c = gt_cmds[i];
        int count = 0;
        assert_non_null(c->run);
        if (c->hidden) /* speaks with its parent, not with people */
            continue;
        assert_non_null(c->options);
        assert_non_null(c->operands);
        for (const struct gt_option *o = c->options; o->name != NULL; o++, count++) {
            assert_non_null(o->help);
            assert_int_not_equal(o->letter, 'h');
            assert_true((o->kind == GT_OPT_FLAG) == (o->arg == NULL));
            assert_true(o->kind != GT_OPT_INT || o->low <= o->high);
            for (const struct gt_option *p = c->options; p < o; p++) {
                assert_string_not_equal(p->name, o->name);
                assert_true(o->letter == 0 || o->letter != p->letter);
            }
        }
        assert_true(count <= 40); /* OPTIONS_MAX of options.c */
        assert_true(c->about[strlen(c->about) - 1] == '.');
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(gt_cmds[j]->name, c->name);
    }
}

static void test_exit_codes(void **state) {
    (void)state;
    assert_int_equal(gt_exit_of(GEMMTUNE_OK), 0);
    assert_int_equal(gt_exit_of(GEMMTUNE_EINVAL), 2);
    assert_int_equal(gt_exit_of(GEMMTUNE_EIO), 3);
    assert_int_equal(gt_exit_of(GEMMTUNE_EPARSE), 3);
    assert_int_equal(gt_exit_of(GEMMTUNE_ENODRIVER), 4);
    assert_int_equal(gt_exit_of(GEMMTUNE_EBUILD), 4);
    assert_int_equal(gt_exit_of(GEMMTUNE_EDB), 6);
    assert_int_equal(gt_exit_of(GEMMTUNE_ESCHEMA), 6);
    assert_int_equal(gt_exit_of(GEMMTUNE_EDEVICE), 1);
    assert_int_equal(gt_exit_of(GEMMTUNE_ENOMEM), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),          cmocka_unit_test(test_seconds_and_numbers),
        cmocka_unit_test(test_bytes),           cmocka_unit_test(test_limit),
        cmocka_unit_test(test_complaints),      cmocka_unit_test(test_list_is_bounded),
        cmocka_unit_test(test_names_by_commas), cmocka_unit_test(test_help),
        cmocka_unit_test(test_tables),          cmocka_unit_test(test_exit_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
