/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as aligned columns, as CSV and as JSON; numbers as short texts. */
#include "tuner/base/table.h"

#include "core/json.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct row {
    const char *name;
    double ns, ok;
    const char *note;
};

#define COLUMNS(X)                                                                         \
    X("name", "name", TEXT, 0, r->name, "what it is called")                               \
    X("time_ns", "time", NS, 0, r->ns, "how long it takes")                                \
    X("ok", "ok", BOOL, 0, r->ok, "whether it is right")                                   \
    X("note", "note", TEXT, 0, r->note, "anything else")
GT_COLUMNS(row, struct row, COLUMNS)
static const struct gt_form form = GT_FORM(row, "");

static struct gt_table *make(const struct row *rows, size_t count) {
    struct gt_table *t = NULL;
    assert_int_equal(gt_table_create(&t, &form, NULL), GEMMTUNE_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(add_row(t, &rows[i], NULL), GEMMTUNE_OK);
    return t;
}

static void expect(const struct gt_table *t, void (*write)(const struct gt_table *, FILE *),
                   const char *text) {
    char *found = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&found, &size);
    assert_non_null(out);
    write(t, out);
    (void)fclose(out);
    assert_string_equal(found, text);
    free(found);
}

static void print_all(const struct gt_table *t, FILE *out) {
    gt_table_print(t, 0, out);
}

static void test_people(void **state) {
    static const struct row rows[] = {
        {"a", 1e6, 1, "x"},
        {"l\xc3\xa4nger", 12.5e6, 0, NULL},
        {"", NAN, NAN, "last"},
    };
    struct gt_table *t = make(rows, 3);
    (void)state;
    expect(t, print_all,
           "name       time     ok  note\n"
           "a          1 ms   true  x\n"
           "l\xc3\xa4nger  12.5 ms  false  -\n"
           "-             -      -  last\n");
    gt_table_destroy(t);
    t = make(NULL, 0);
    expect(t, print_all, "");
    expect(t, gt_table_csv, "name,time_ns,ok,note\r\n");
    expect(t, gt_table_json, "[]\n");
    gt_table_destroy(t);
    gt_table_destroy(NULL);
}

static void test_markdown(void **state) {
    static const struct row rows[] = {
        {"a | b", 1e6, 1, "x"},
        {"", NAN, NAN, "last"},
    };
    struct gt_table *t = make(rows, 2);
    (void)state;
    expect(t, gt_table_markdown,
           "| name | time | ok | note |\n"
           "| --- | ---: | ---: | --- |\n"
           "| a \\| b | 1 ms | true | x |\n"
           "| | | | last |\n");
    gt_table_destroy(t);
}

/* ---- on a narrow terminal ---- */

struct kernel {
    const char *device, *family, *point, *note;
    double ns;
};

#define KERNELS(X)                                                                         \
    X("device", "device", KEY, 0, r->device, "a device's key")                             \
    X("family", "family", TEXT, 0, r->family, "a family")                                  \
    X("point", "point", POINT, 1, r->point, "a point")                                     \
    X("ns", "time", NS, 0, r->ns, "a time")                                                \
    X("twice", "twice", NS, 2, 2 * r->ns, "another one")                                   \
    X("spare", "spare", NS, 3, gt_cell_known(0), "empty everywhere")                       \
    X("note", "note", TAIL, 1, r->note, "some words")
GT_COLUMNS(kernel, struct kernel, KERNELS)
static const struct gt_form kernels = GT_FORM(kernel, "");

static const struct kernel some[] = {
    {"a-long-key-1", "tile", "BM=8 BN=16 BK=4", "slow, and there is more to say of it",
     1e3},
    {"a-long-key-1", "tile", "BM=8 BN=32 BK=2", NULL, 2e3},
    {"a-long-key-1", "block", "BM=8 BN=64 BK=8", NULL, 3e3},
};

static void expect_kernels(size_t room, const char *other_key, const char *text) {
    char *found = NULL;
    size_t size = 0;
    struct gt_table *t = NULL;
    FILE *out = open_memstream(&found, &size);
    assert_non_null(out);
    assert_int_equal(gt_table_create(&t, &kernels, NULL), GEMMTUNE_OK);
    for (size_t i = 0; i < 3; i++) {
        struct kernel k = some[i];
        k.device = i == 2 && other_key != NULL ? other_key : k.device;
        assert_int_equal(add_kernel(t, &k, NULL), GEMMTUNE_OK);
    }
    gt_table_print(t, room, out);
    (void)fclose(out);
    assert_string_equal(found, text);
    gt_table_destroy(t);
    free(found);
}

/* A file or a pipe: all of it, but for the column in which no row has anything. */
static void test_wide(void **state) {
    (void)state;
    expect_kernels(0, NULL,
                   "device        family  point            time  twice  note\n"
                   "a-long-key-1  tile    BM=8 BN=16 BK=4  1 us   2 us  slow, and there is "
                   "more to say of it\n"
                   "a-long-key-1  tile    BM=8 BN=32 BK=2  2 us   4 us  -\n"
                   "a-long-key-1  block   BM=8 BN=64 BK=8  3 us   6 us  -\n");
}

/* On a terminal the key stands above, or a letter in its place. */
static void test_keys(void **state) {
    (void)state;
    expect_kernels(200, NULL,
                   "device a-long-key-1\n\n"
                   "family  point            time  twice  note\n"
                   "tile    BM=8 BN=16 BK=4  1 us   2 us  slow, and there is more to say "
                   "of it\n"
                   "tile    BM=8 BN=32 BK=2  2 us   4 us  -\n"
                   "block   BM=8 BN=64 BK=8  3 us   6 us  -\n");
    expect_kernels(
        200, "key-2",
        "device A  a-long-key-1\ndevice B  key-2\n\n"
        "device  family  point            time  twice  note\n"
        "A       tile    BM=8 BN=16 BK=4  1 us   2 us  slow, and there is more to "
        "say of it\n"
        "A       tile    BM=8 BN=32 BK=2  2 us   4 us  -\n"
        "B       block   BM=8 BN=64 BK=8  3 us   6 us  -\n");
}

/* First points leave out what a family's rows share, then columns go,
 * then tails are cut. */
static void test_narrow(void **state) {
    (void)state;
    expect_kernels(60, NULL,
                   "device a-long-key-1\n\n"
                   "family  point            time  note\n"
                   "tile    BN=16 BK=4       1 us  slow, and there is more to...\n"
                   "tile    BN=32 BK=2       2 us  -\n"
                   "block   BM=8 BN=64 BK=8  3 us  -\n"
                   "all rows of tile: BM=8\nleft out: twice\n--wide shows everything\n");
    expect_kernels(50, NULL,
                   "device a-long-key-1\n\n"
                   "family  point            time  note\n"
                   "tile    BN=16 BK=4       1 us  slow, and there ...\n"
                   "tile    BN=32 BK=2       2 us  -\n"
                   "block   BM=8 BN=64 BK=8  3 us  -\n"
                   "all rows of tile: BM=8\nleft out: twice\n--wide shows everything\n");
    expect_kernels(20, NULL,
                   "device a-long-key-1\n\n"
                   "family  time\n"
                   "tile    1 us\n"
                   "tile    2 us\n"
                   "block   3 us\n"
                   "left out: point,\n    twice, note\n--wide shows everything\n");
}

struct interval {
    const char *name, *text;
    double ns, low, high;
};

#define INTERVALS(X)                                                                       \
    X("name", "name", TEXT, 0, r->name, "a name")                                          \
    X("ns", "time", NS, 0, r->ns, "a time")                                                \
    X("low", "low", NS, 2, r->low, "lower end")                                            \
    X("high", "high", NS, GT_PAIRED(2), r->high, "upper end")                              \
    X("text", "text", PROSE, 0, r->text, "sentences")
GT_COLUMNS(interval, struct interval, INTERVALS)
static const struct gt_form intervals = GT_FORM(interval, "");

static void expect_intervals(size_t room, const char *name, const char *text) {
    char *found = NULL;
    size_t size = 0;
    struct gt_table *t = NULL;
    FILE *out = open_memstream(&found, &size);
    assert_non_null(out);
    assert_int_equal(gt_table_create(&t, &intervals, NULL), GEMMTUNE_OK);
    const struct interval rows[] = {{name, "five words of a text", 1e3, 900, 1100},
                                    {"b", NULL, 2e3, 1900, 2100}};
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(add_interval(t, &rows[i], NULL), GEMMTUNE_OK);
    gt_table_print(t, room, out);
    (void)fclose(out);
    assert_string_equal(found, text);
    gt_table_destroy(t);
    free(found);
}

/* Half an interval is of no use: both ends go. A text of several words goes on below. */
static void test_pairs_and_prose(void **state) {
    (void)state;
    expect_intervals(0, "a",
                     "name  time     low    high  text\n"
                     "a     1 us  900 ns  1.1 us  five words of a text\n"
                     "b     2 us  1.9 us  2.1 us  -\n");
    expect_intervals(43, "a",
                     "name  time  text\n"
                     "a     1 us  five words of a text\n"
                     "b     2 us  -\n"
                     "left out: low, high\n--wide shows everything\n");
    expect_intervals(28, "a",
                     "name  time  text\n"
                     "a     1 us  five words of a\n"
                     "            text\n"
                     "b     2 us  -\n"
                     "left out: low, high\n--wide shows everything\n");
}

#define NEIGHBOURS(X)                                                                      \
    X("name", "name", TEXT, 0, r->name, "a name")                                          \
    X("low", "runs", NS, 2, r->low, "a figure")                                            \
    X("high", "kinds", NS, 2, r->high, "another figure of its own")
GT_COLUMNS(neighbour, struct interval, NEIGHBOURS)
static const struct gt_form neighbours = GT_FORM(neighbour, "");

/* Figures that stand side by side are no pair by that: the last one goes, the other one has
 * room. */
static void test_neighbours(void **state) {
    char *found = NULL;
    size_t size = 0;
    struct gt_table *t = NULL;
    FILE *out = open_memstream(&found, &size);
    (void)state;
    assert_non_null(out);
    assert_int_equal(gt_table_create(&t, &neighbours, NULL), GEMMTUNE_OK);
    assert_int_equal(
        add_neighbour(t, &(struct interval){.name = "a", .low = 900, .high = 1100}, NULL),
        GEMMTUNE_OK);
    gt_table_print(t, 15, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(found, "name    runs\n"
                               "a     900 ns\n"
                               "left out: kinds\n"
                               "--wide shows everything\n");
    gt_table_destroy(t);
    free(found);
}

/* A long name is cut where nothing else helps, and that is said. */
static void test_long_name(void **state) {
    (void)state;
    expect_intervals(58, "f32-nn-1000x1000x1000,batch=12,lda=1024,ldb=1024",
                     "name                                time  text\n"
                     "f32-nn-1000x1000x1000,batch=12,...  1 us  five words of a\n"
                     "                                          text\n"
                     "b                                   2 us  -\n"
                     "left out: low, high\n--wide shows everything\n");
}

static void test_csv(void **state) {
    static const struct row rows[] = {
        {"plain", 1e6, 1, "a,b"},
        {"say \"hi\"", NAN, NAN, "two\nlines"},
        {"=1+1", 0, 0, "@cmd"},
        {"-x", 7, 1, "\ttab"},
    };
    struct gt_table *t = make(rows, 4);
    (void)state;
    expect(t, gt_table_csv,
           "name,time_ns,ok,note\r\n"
           "plain,1000000,true,\"a,b\"\r\n"
           "\"say \"\"hi\"\"\",,,\"two\nlines\"\r\n"
           "\"'=1+1\",,false,\"'@cmd\"\r\n"
           "\"'-x\",7,true,\"'\ttab\"\r\n");
    gt_table_destroy(t);
}

/* A number that JSON cannot write is null. */
static void test_json(void **state) {
    static const struct row rows[] = {
        {"a\"b\\", 1e20, 1, "x\ny"},
        {NULL, INFINITY, NAN, NULL},
        {"", -1, 0, ""},
    };
    struct gt_table *t = make(rows, 3);
    (void)state;
    expect(t, gt_table_json,
           "[\n"
           "  {\"name\": \"a\\\"b\\\\\", \"time_ns\": 1e+20, \"ok\": true, \"note\": "
           "\"x\\ny\"},\n"
           "  {\"name\": null, \"time_ns\": null, \"ok\": null, \"note\": null},\n"
           "  {\"name\": \"\", \"time_ns\": null, \"ok\": false, \"note\": \"\"}\n"
           "]\n");
    gt_table_destroy(t);
}

static void heading_alone(const struct gt_table *t, FILE *out) {
    gt_table_csv_line(t, 0, out);
}

static void second_row_alone(const struct gt_table *t, FILE *out) {
    gt_table_csv_line(t, 2, out);
    gt_table_json_row(t, 1, out);
}

static void test_lines(void **state) {
    static const struct row rows[] = {
        {"first", 1, 1, "a"},
        {"second", 2, 0, "b,c"},
    };
    struct gt_table *t = make(rows, 2);
    (void)state;
    expect(t, heading_alone, "name,time_ns,ok,note\r\n");
    expect(t, second_row_alone,
           "second,2,false,\"b,c\"\r\n"
           "{\"name\": \"second\", \"time_ns\": 2, \"ok\": false, \"note\": \"b,c\"}");
    gt_table_destroy(t);
}

static void test_many_rows(void **state) {
    struct gt_table *t = make(NULL, 0);
    char *text = NULL;
    size_t size = 0;
    struct gt_json *doc = NULL;
    (void)state;
    for (int i = 0; i < 1000; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "%d", i);
        assert_int_equal(add_row(t, &(struct row){name, i, 1, NULL}, NULL), GEMMTUNE_OK);
    }
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    gt_table_json(t, out);
    (void)fclose(out);
    assert_int_equal(gt_json_parse(&doc, "table", text, size, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_json_count(gt_json_root(doc)), 1000);
    gt_json_destroy(doc);
    free(text);
    gt_table_destroy(t);
}

static void test_too_many_columns(void **state) {
    struct gt_table *t = NULL;
    struct gt_err err = {""};
    (void)state;
    const struct gt_form wide = {"", row_columns, 1000, fill_row};
    assert_int_equal(gt_table_create(&t, &wide, &err), GEMMTUNE_EINVAL);
    assert_null(t);
}

static void test_cells(void **state) {
    static const struct {
        const char *(*show)(char *, double);
        double value;
        const char *text;
    } rows[] = {
        {gt_show_ns, 1, "1 ns"},
        {gt_show_ns, 0.25, "0.25 ns"},
        {gt_show_ns, 999, "999 ns"},
        {gt_show_ns, 12345, "12.3 us"},
        {gt_show_ns, 1.25e6, "1.25 ms"},
        {gt_show_ns, 3.4e9, "3.4 s"},
        {gt_show_ns, 999999, "1 ms"},
        {gt_show_ns, 999.4e3, "999 us"},
        {gt_show_ns, 3.6e12, "3600 s"},
        {gt_show_ns, 0, ""},
        {gt_show_ns, -5, ""},
        {gt_show_ns, NAN, ""},
        {gt_show_ns, INFINITY, ""},
        {gt_show_bytes, 0, "0 B"},
        {gt_show_bytes, 512, "512 B"},
        {gt_show_bytes, 1536, "1.5 KiB"},
        {gt_show_bytes, 0x1.8p30, "1.5 GiB"},
        {gt_show_bytes, 141.0 * 0x1p30, "141 GiB"},
        {gt_show_bytes, 0x1p60, "1024 PiB"},
        {gt_show_count, 0, "0"},
        {gt_show_count, 12, "12"},
        {gt_show_count, 3.5, "3.5"},
        {gt_show_count, -3.5, "-3.5"},
        {gt_show_count, 137438953472.0, "137438953472"},
        {gt_show_count, 1e20, "1e+20"},
        {gt_show_count, 329604.4, "329604"},
        {gt_show_count, 999999.6, "1000000"},
        {gt_show_count, 1277598.25, "1277598"},
        {gt_show_count, 0.0001234567, "0.000123457"},
        {gt_show_power, 4096, "4096"},
        {gt_show_power, 999999, "999999"},
        {gt_show_power, 1e6, "1e6"},
        {gt_show_power, 2.5e9, "2.5e9"},
        {gt_show_power, 137438953472.0, "1.374e11"},
        {gt_show_power, INFINITY, ""},
        {gt_show_count, 1.0 / 3, "0.333333"},
        {gt_show_count, NAN, ""},
    };
    static const struct {
        double flops, ns;
        const char *text;
    } rates[] = {
        {137438953472.0, 15.5e6, "8867"},
        {2e9, 1e6, "2000"},
        {1e9, 3e6, "333.3"},
        {5e5, 1e6, "0.5"},
        {65.2e12, 1e9, "65200"},
        {1, 0, ""},
        {0, 0, ""},
        {1, -1, ""},
        {12345678, 1, "12345678"},
        {9999.6, 10, "1000"},
    };
    char buf[GT_CELL_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(rows[i].show(buf, rows[i].value), rows[i].text);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        assert_string_equal(gt_show_rate(buf, rates[i].flops, rates[i].ns), rates[i].text);
}

/* A host's decimal comma must not reach a table;
 * skipped where no such locale is installed. */
static void test_locale(void **state) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE",
                                        "fr_FR.UTF-8"};
    char buf[GT_CELL_MAX];
    size_t i = 0;
    (void)state;
    while (i < 4 && setlocale(LC_ALL, names[i]) == NULL)
        i++;
    if (i == 4)
        skip();
    assert_string_equal(gt_show_count(buf, 3.5), "3.5");
    assert_string_equal(gt_show_ns(buf, 1.25e6), "1.25 ms");
    assert_string_equal(gt_show_bytes(buf, 1536), "1.5 KiB");
    assert_string_equal(gt_show_rate(buf, 5e5, 1e6), "0.5");
    (void)setlocale(LC_ALL, "C");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_people),
        cmocka_unit_test(test_markdown),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_pairs_and_prose),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_long_name),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_too_many_columns),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
