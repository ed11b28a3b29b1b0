/* SPDX-License-Identifier: Apache-2.0 */
/* space.json in every way it can be wrong, and the collection of families. */
#include "runtime/family.h"
#include "runtime/family_inside.h"
#include "tests/unit/short_of_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* One key a line, so that a row below can say which line it spoils. */
static const char good[] =
    "{\n"
    " \"format\": 1,\n"
    " \"family\": \"toy\",\n"
    " \"about\": \"A family for tests.\","
    " \"role\": \"textbook\", \"rungs\": {\"toy\": {}, \"toy, padded\": {\"PAD\": 1}},\n"
    " \"source\": {\"cuda\": \"toy.cl\", \"opencl\": \"toy.cl\"},\n"
    " \"entry\": \"gemm\",\n"
    " \"dtypes\": [\"f32\", \"i32\"],\n"
    " \"layouts\": [\"nn\", \"tt\"],\n"
    " \"min_arch\": {\"i32\": 75, \"cuda\": 61},\n"
    " \"max_arch\": {\"cuda\": 99},\n"
    " \"rank\": 7,\n"
    " \"params\": {\"W\": [4, 8, 16], \"PAD\": [0, 1]},\n"
    " \"default\": {\"W\": 8, \"PAD\": 0},\n"
    " \"derive\": {\"T\": \"W * W\", \"S\": \"T * sizeof(A)\"},\n"
    " \"require\": [[\"T <= MAX_THREADS\", \"too many threads\"]],\n"
    " \"accept\": [[\"K >= 1\", \"an empty sum\"]],\n"
    " \"align\": [\"4\", \"8\", \"sizeof(C)\"],\n"
    " \"launch\": {\"block\": [\"W\", \"W\", \"1\"],"
    " \"grid\": [\"cdiv(N, W)\", \"cdiv(M, W)\", \"1\"],"
    " \"smem\": \"S\"},\n"
    " \"after\": [{\"entry\": \"add\", \"when\": \"W > 4\","
    " \"block\": [\"64\", \"1\", \"1\"], \"grid\": [\"cdiv(M * N, 64)\", \"1\", \"1\"]}],\n"
    " \"before\": [{\"entry\": \"pack\", \"block\": [\"W\", \"1\", \"1\"],"
    " \"grid\": [\"K\", \"1\", \"1\"], \"cluster\": [\"2\", \"1\", \"1\"], \"smem\": "
    "\"N\"}],\n"
    " \"args\": [\"m\", \"n\", \"k\", \"alpha\", \"a\", \"lda\", \"b\","
    " \"ldb\", \"beta\", \"c\", \"ldc\", \"map\"],\n"
    " \"tensor_maps\": {\"map\": {\"of\": {\"workspace\": \"PAD\", \"b\": \"1\"},"
    " \"inner\": \"N\", \"outer\": \"K\", \"stride\": \"LDB * sizeof(B)\","
    " \"at\": \"16 * M\", \"box\": [\"W\", \"T\"]}}\n"
    "}\n";

static const char *const sources[2] = {"cuda text", "opencl text"};

/* `good` with `now` in place of `was`. The caller frees it. */
static char *spoilt(const char *was, const char *now) {
    const char *at = strstr(good, was);
    assert_non_null(at);
    const size_t before = (size_t)(at - good), size = sizeof good + strlen(now);
    char *text = malloc(size);
    assert_non_null(text);
    (void)snprintf(text, size, "%.*s%s%s", (int)before, good, now, at + strlen(was));
    return text;
}

static struct gt_family *parsed(const char *json) {
    struct gt_family *f;
    struct gt_err err = {""};
    const gt_status status =
        gt_family_parse(&f, "toy", "toy/space.json", json, sources, &err);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
    return f;
}

static void test_a_good_family(void **state) {
    (void)state;
    struct gt_family *f = parsed(good);
    assert_string_equal(f->name, "toy");
    assert_string_equal(f->about, "A family for tests.");
    assert_string_equal(f->source[GEMMTUNE_CUDA], "cuda text");
    assert_string_equal(f->source[GEMMTUNE_OPENCL], "opencl text");
    assert_string_equal(f->source_name[GEMMTUNE_CUDA], "toy/toy.cl");
    assert_string_equal(f->entry, "gemm");
    assert_int_equal(f->dtypes, gt_dtype_bit(gt_dtype_by_name("f32", 3)) |
                                    gt_dtype_bit(gt_dtype_by_name("i32", 3)));
    assert_int_equal(f->layouts, gt_layout_bit("nn") | gt_layout_bit("tt"));
    for (size_t i = 0; i < GT_DTYPES; i++)
        assert_int_equal(f->min_cc[i], gt_dtype_at(i)->a == GEMMTUNE_I32 ? 75 : 61);
    assert_int_equal(f->max_cc, 99);
    assert_int_equal(f->rank, 7);
    assert_int_equal(f->role, GT_ROLE_TEXTBOOK);
    assert_int_equal(f->rung_count, 2);
    assert_string_equal(f->rung[0].name, "toy");
    assert_int_equal(f->rung[0].fixed.count, 0);
    assert_string_equal(f->rung[1].name, "toy, padded");
    assert_int_equal(f->rung[1].fixed.count, 1);
    assert_string_equal(f->rung[1].fixed.entry[0].name, "PAD");
    assert_int_equal(f->rung[1].fixed.entry[0].value, 1);
    assert_false(f->overlap);
    assert_int_equal(f->param_count, 2);
    assert_string_equal(f->param[0].name, "W");
    assert_int_equal(f->param[0].count, 3);
    assert_int_equal(f->param[0].value[2], 16);
    assert_int_equal(f->param[0].preset, 8);
    assert_int_equal(f->derive_count, 2);
    assert_string_equal(f->symbols.name[f->derive[1].slot], "S");
    assert_string_equal(f->require[0].why, "too many threads");
    assert_string_equal(gt_expr_text(f->accept[0].expr), "K >= 1");
    assert_string_equal(gt_expr_text(f->align[1]), "8");
    assert_string_equal(gt_expr_text(f->pass[f->main].cluster[0]), "1");
    assert_string_equal(gt_expr_text(f->workspace), "0");
    assert_int_equal(f->arg_count, 12);
    assert_int_equal(f->args[5], GT_ARG_LDA);
    gt_family_destroy(f);
    gt_family_destroy(NULL);
}

/* In the order they run, whatever the file's. */
static void test_passes(void **state) {
    (void)state;
    struct gt_family *f = parsed(good);
    assert_int_equal(f->pass_count, 3);
    assert_int_equal(f->main, 1);
    assert_string_equal(f->pass[0].entry, "pack");
    assert_string_equal(gt_expr_text(f->pass[0].when), "1");
    assert_string_equal(gt_expr_text(f->pass[0].cluster[0]), "2");
    assert_string_equal(gt_expr_text(f->pass[0].smem), "N");
    assert_string_equal(f->pass[1].entry, "gemm");
    assert_string_equal(gt_expr_text(f->pass[1].when), "1");
    assert_string_equal(gt_expr_text(f->pass[1].smem), "S");
    assert_string_equal(f->pass[2].entry, "add");
    assert_string_equal(gt_expr_text(f->pass[2].when), "W > 4");
    assert_string_equal(gt_expr_text(f->pass[2].smem), "0");
    gt_family_destroy(f);
}

static void test_tensor_maps(void **state) {
    (void)state;
    struct gt_family *f = parsed(good);
    assert_int_equal(f->map_count, 1);
    assert_int_equal(f->args[11], GT_ARG_MAP);
    const struct gt_map *map = &f->map[0];
    assert_string_equal(map->name, "map");
    assert_int_equal(map->base_count, 2);
    assert_int_equal(map->base[0].arg, GT_ARG_WORKSPACE);
    assert_string_equal(gt_expr_text(map->base[0].when), "PAD");
    assert_int_equal(map->base[1].arg, GT_ARG_B);
    assert_string_equal(gt_expr_text(map->inner), "N");
    assert_string_equal(gt_expr_text(map->outer), "K");
    assert_string_equal(gt_expr_text(map->stride), "LDB * sizeof(B)");
    assert_string_equal(gt_expr_text(map->at), "16 * M");
    assert_string_equal(gt_expr_text(map->box[1]), "T");
    assert_string_equal(gt_expr_text(map->swizzle), "0");
    gt_family_destroy(f);
}

static void test_what_may_be_left_out(void **state) {
    static const char *const lines[] = {
        " \"min_arch\": {\"i32\": 75, \"cuda\": 61},\n",
        " \"max_arch\": {\"cuda\": 99},\n",
        " \"rank\": 7,\n",
        " \"accept\": [[\"K >= 1\", \"an empty sum\"]],\n",
        " \"align\": [\"4\", \"8\", \"sizeof(C)\"],\n",
        " \"require\": [[\"T <= MAX_THREADS\", \"too many threads\"]],\n",
        ", \"smem\": \"S\"",
        "\"cuda\": \"toy.cl\", ",
        "\"when\": \"W > 4\", ",
        " \"at\": \"16 * M\",",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char *json = spoilt(lines[i], "");
        struct gt_family *f = parsed(json);
        assert_non_null(f->align[0]);
        assert_non_null(f->pass[f->main].smem);
        gt_family_destroy(f);
        free(json);
    }
}

static void test_a_family_without_parameters(void **state) {
    static const char json[] =
        "{\"format\": 1, \"family\": \"toy\", \"about\": \"\", \"source\": {\"cuda\": "
        "\"a\"},"
        "\"entry\": \"_g1\", \"dtypes\": [\"f16\"], \"layouts\": [\"nt\"], \"params\": {},"
        "\"default\": {}, \"launch\": {\"block\": [\"1\", \"1\", \"1\"],"
        "\"grid\": [\"M\", \"N\", \"1\"], \"cluster\": [\"2\", \"1\", \"1\"],"
        "\"workspace\": \"M * N * sizeof(ACC)\"},"
        "\"args\": [\"alpha\", \"a\", \"b\", \"beta\", \"c\", \"workspace\"]}";
    (void)state;
    struct gt_family *f = parsed(json);
    assert_int_equal(f->param_count, 0);
    assert_null(f->source[GEMMTUNE_OPENCL]);
    assert_null(f->source_name[GEMMTUNE_OPENCL]);
    assert_int_equal(f->pass_count, 1);
    assert_string_equal(gt_expr_text(f->pass[0].cluster[0]), "2");
    assert_string_equal(gt_expr_text(f->align[0]), "sizeof(A)");
    gt_family_destroy(f);
}

/* Each row spoils one thing; the complaint names the line and says what is wrong. */
static void test_refusals(void **state) {
    static const struct {
        const char *was, *now, *said;
    } rows[] = {
        /* the document */
        {"{\n", "[\n", "toy/space.json:"},
        {"\"rank\": 7", "\"rnak\": 7", "toy/space.json:11: /rnak: "},
        {" \"entry\": \"gemm\",\n", "", "entry"},
        {"\"rank\": 7", "\"rank\": 7, \"rank\": 8", "toy/space.json:11:"},
        {"\"format\": 1", "\"format\": 2", "toy/space.json:2: /format:"},
        {"\"format\": 1", "\"format\": \"1\"", "toy/space.json:2: /format:"},
        {"\"rank\": 7", "\"rank\": -1", "/rank:"},
        {"\"rank\": 7", "\"rank\": 1001", "/rank:"},
        {"\"rank\": 7", "\"overlap\": 2", "/overlap:"},
        {"\"rank\": 7", "\"overlap\": true", "/overlap:"},
        {"\"rank\": 7", "\"batch\": true", "/batch:"},
        {"\"rank\": 7", "\"batch\": \"x\"", "/batch: is not \"grid\" or \"own\""},
        {"\"textbook\"", "\"naive\"", "/role: is not \"baseline\" or \"textbook\""},
        {"\"textbook\"", "1", "/role:"},
        {"{\"toy\": {}, \"toy, padded\": {\"PAD\": 1}}", "{}", "/rungs: has 0"},
        {"\"toy\": {}", "\"\": {}", "a rung's name has 1 to 31 characters"},
        {"\"toy\": {}", "\"toy12345678901234567890123456789\": {}", "1 to 31 characters"},
        {"\"toy\": {}", "\"toy\": 1", "must be an object"},
        {"{\"PAD\": 1}", "{\"PADS\": 1}", "no such parameter"},
        {"{\"PAD\": 1}", "{\"PAD\": 2}", "not one of the values of PAD"},
        /* identity */
        {"\"family\": \"toy\"", "\"family\": \"tot\"",
         "called \"tot\" but its folder \"toy\""},
        {"\"family\": \"toy\"", "\"family\": \"Toy\"", "[a-z][a-z0-9_]*"},
        {"\"family\": \"toy\"", "\"family\": \"\"", "[a-z][a-z0-9_]*"},
        {"\"family\": \"toy\"", "\"family\": 3", "/family:"},
        {"\"A family for tests.\"", "4", "/about:"},
        {"\"entry\": \"gemm\"", "\"entry\": \"1gemm\"", "not a C name"},
        {"\"entry\": \"gemm\"", "\"entry\": \"ge mm\"", "not a C name"},
        {"\"entry\": \"gemm\"", "\"entry\": \"abcdefghijklmnopqrstuvwx\"", "not a C name"},
        /* sources stay in the folder */
        {"\"cuda\": \"toy.cl\"", "\"cuda\": \"../toy.cl\"", "not a plain file name"},
        {"\"cuda\": \"toy.cl\"", "\"cuda\": \"/etc/passwd\"", "not a plain file name"},
        {"\"cuda\": \"toy.cl\"", "\"cuda\": \"a/b.cl\"", "not a plain file name"},
        {"\"cuda\": \"toy.cl\"", "\"cuda\": \"a..cl\"", "not a plain file name"},
        {"\"cuda\": \"toy.cl\"", "\"cuda\": \".toy\"", "not a plain file name"},
        {"\"cuda\": \"toy.cl\"", "\"cuda\": \"\"", "not a plain file name"},
        {"\"cuda\": \"toy.cl\"", "\"cuda\": \"a\\\\b\"", "not a plain file name"},
        {"\"cuda\": \"toy.cl\"", "\"cuda\": \"a\\\"b\"", "not a plain file name"},
        {"\"cuda\": \"toy.cl\"", "\"vulkan\": \"toy.cl\"", "/source/vulkan"},
        {"{\"cuda\": \"toy.cl\", \"opencl\": \"toy.cl\"}", "{}", "at least 1"},
        {"{\"cuda\": \"toy.cl\", \"opencl\": \"toy.cl\"}", "\"toy.cl\"",
         "must be an object"},
        /* types and layouts */
        {"\"i32\"]", "\"f31\"]", "\"f31\" is not a data type"},
        {"\"i32\"]", "\"f32\"]", "\"f32\" is listed twice"},
        {"[\"f32\", \"i32\"]", "[]", "/dtypes: has 0 entries"},
        {"\"tt\"]", "\"xx\"]", "\"xx\" is not a layout"},
        {"\"tt\"]", "\"nn\"]", "\"nn\" is listed twice"},
        {"{\"i32\": 75, \"cuda\": 61}", "{\"cuda\": -1}", "/min_arch/cuda"},
        {"{\"i32\": 75, \"cuda\": 61}", "{\"opencl\": 1}", "/min_arch/opencl"},
        {"{\"i32\": 75, \"cuda\": 61}", "{\"i31\": 75}",
         "neither \"cuda\" nor a data type"},
        {"{\"i32\": 75, \"cuda\": 61}", "61", "/min_arch: must be an object"},
        {"{\"cuda\": 99}", "{\"cuda\": \"99\"}", "/max_arch/cuda"},
        /* parameters */
        {"\"W\": [", "\"w\": [", "names are [A-Z]"},
        {"\"W\": [", "\"ABCDEFGHIJKLMNOPQRSTUVWX\": [", "names are [A-Z]"},
        {"\"W\": [", "\"M\": [", "toy/space.json:12: /params/M: the name M is built in"},
        {"\"W\": [", "\"WARP\": [", "WARP is built in"},
        {"\"W\": [", "\"ALIGN_A\": [", "ALIGN_A is built in"},
        {"\"W\": [", "\"SIZEOF_ACC\": [", "SIZEOF_ACC is built in"},
        {"\"W\": [", "\"DTYPE_F32\": [", "DTYPE_F32 is built in"},
        {"\"W\": [", "\"STATIC_ASSERT\": [", "STATIC_ASSERT is built in"},
        {"\"W\": [", "\"MIN\": [", "MIN is built in"},
        {"[4, 8, 16]", "[]", "/params/W: has 0 entries"},
        {"[4, 8, 16]", "[4, 8, 8]", "/params/W/2: the value is listed twice"},
        {"[4, 8, 16]", "[4, 8, -16]", "/params/W/2"},
        {"[4, 8, 16]", "[4, 8, 1.5]", "/params/W/2"},
        {"[4, 8, 16]", "[4, 8, 2147483648]", "/params/W/2"},
        {"[4, 8, 16]", "[4, 8, \"16\"]", "/params/W/2"},
        {"[4, 8, 16]", "4", "/params/W: must be an array"},
        /* default */
        {"\"W\": 8, \"PAD\": 0", "\"W\": 8", "/default: no value for PAD"},
        {"\"W\": 8, \"PAD\": 0", "\"W\": 5, \"PAD\": 0", "not one of the values of W"},
        {"\"W\": 8, \"PAD\": 0", "\"W\": 8, \"PAD\": 0, \"X\": 1", "no such parameter"},
        /* expressions */
        {"\"W * W\"", "\"S * W\"", "toy/space.json:14: /derive/T:"}, /* S comes later */
        {"\"T <= MAX_THREADS\"", "\"T <= ALIGN_B\"", "ALIGN_B belongs to one problem"},
        {"\"W * W\"", "\"W * M\"",
         "T belongs to one problem"}, /* and what is derived from it */
        {"\"W * W\", \"S\": \"T * sizeof(A)\"},\n \"require\": [[\"T",
         "\"K\", \"S\": \"T * sizeof(A)\"},\n \"require\": [[\"S",
         "S belongs to one problem"},
        {"\"W * W\"", "\"W *\"", "/derive/T:"},
        {"\"W * W\"", "64", "/derive/T:"},
        {"\"T\": ", "\"W\": ", "the name W is taken"},
        {"\"T\": ", "\"CC\": ", "the name CC is built in"},
        {"\"T <= MAX_THREADS\"", "\"T <= K\"", "K belongs to one problem"},
        {"\"T <= MAX_THREADS\"", "\"T <= NOBODY\"", "NOBODY"},
        {"[\"T <= MAX_THREADS\", \"too many threads\"]", "[\"T > 1\"]", "needs at least 2"},
        {"[\"T <= MAX_THREADS\", \"too many threads\"]", "\"T > 1\"", "must be an array"},
        {"\"too many threads\"", "3", "/require/0/1"},
        {"\"K >= 1\"", "\"K >> 1\"", "/accept/0/0:"},
        {"[\"4\", \"8\", \"sizeof(C)\"]", "[\"4\", \"8\"]", "/align: has 2 entries"},
        {"[\"4\", \"8\", \"sizeof(C)\"]", "[\"4\", \"8\", \"LDA\"]",
         "LDA belongs to one problem"},
        /* launch and arguments */
        {"\"smem\": \"S\"", "\"shared\": \"S\"", "/launch/shared"},
        {"\"block\": [\"W\", \"W\", \"1\"]", "\"block\": [\"W\", \"W\"]",
         "/launch/block: has 2"},
        {"\"block\": [\"W\", \"W\", \"1\"], ", "", "block"},
        {"\"block\": [\"W\", \"W\", \"1\"]", "\"block\": \"W\"", "must be an array"},
        {"\"smem\": \"S\"", "\"smem\": 0", "/launch/smem"},
        {"\"smem\": \"S\"", "\"when\": \"1\"", "/launch/when"},
        {"\"when\": \"W > 4\"", "\"whan\": \"1\"", "/after/0/whan"},
        {"\"when\": \"W > 4\"", "\"workspace\": \"1\"", "/after/0/workspace"},
        {"\"when\": \"W > 4\"", "\"when\": \"M > 4\"",
         "toy/space.json:19: /after/0/when: M belongs to one problem"},
        {"\"when\": \"W > 4\"", "\"when\": 1", "/after/0/when"},
        {"\"entry\": \"add\", ", "", "entry"},
        {"\"entry\": \"add\"", "\"entry\": \"a-d\"", "/after/0/entry: \"a-d\" is not a C"},
        {"\"block\": [\"64\", \"1\", \"1\"], ", "", "block"},
        {", \"grid\": [\"cdiv(M * N, 64)\", \"1\", \"1\"]", "", "grid"},
        {"\"cdiv(M * N, 64)\"", "\"cdiv(M * N)\"", "/after/0/grid/0"},
        {"\"before\": [", "\"before\": [3, ", "toy/space.json:20: /before/0"},
        {"\"lda\"", "\"ldz\"", "\"ldz\" is not a kernel argument"},
        {"\"lda\"", "\"a\"", "\"a\" is listed twice"},
        {"\"alpha\", ", "", "\"alpha\" is missing"},
        {"\"c\", ", "", "\"c\" is missing"},
        /* tensor maps */
        {"\"ldc\", \"map\"", "\"ldc\", \"mop\"", "\"mop\" is not a kernel argument"},
        {"\"ldc\", \"map\"", "\"map\", \"map\"", "\"map\" is listed twice"},
        {"{\"map\": {", "{\"lda\": {", "toy/space.json:22: /tensor_maps/lda: the name is"},
        {"{\"map\": {", "{\"abcdefghijklmnopqrstuvwx\": {", "longer than 23 characters"},
        {"{\"map\": {", "{\"mop\": {", "\"map\" is not a kernel argument"},
        {"\"tensor_maps\": {\"map\": {", "\"tensor_maps\": {\"x\": 3, \"map\": {",
         "/tensor_maps/x"},
        {"{\"workspace\": \"PAD\", \"b\": \"1\"}", "\"b\"", "/of: must be an object"},
        {"{\"workspace\": \"PAD\", \"b\": \"1\"}", "{}", "/of: has 0 entries"},
        {"\"workspace\": \"PAD\"", "\"lda\": \"PAD\"", "/of/lda"},
        {"\"workspace\": \"PAD\"", "\"workspace\": \"M > 1\"",
         "/of/workspace: M belongs to one problem"},
        {" \"inner\": \"N\",", "", "inner"},
        {"\"outer\": \"K\"", "\"outer\": 3", "/tensor_maps/map/outer"},
        {"\"outer\": \"K\"", "\"otter\": \"K\"", "/tensor_maps/map/otter"},
        {"[\"W\", \"T\"]", "[\"W\"]", "/box: has 1 entries"},
        {"[\"W\", \"T\"]", "[\"W\", \"N\"]", "N belongs to one problem"},
        {"\"16 * M\"", "\"16 * Z\"", "/tensor_maps/map/at"},
        {"\"16 * M\"", "\"0\", \"swizzle\": \"N\"", "N belongs to one problem"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_family *f = NULL;
        struct gt_err err = {""};
        char *json = spoilt(rows[i].was, rows[i].now);
        assert_int_equal(gt_family_parse(&f, "toy", "toy/space.json", json, sources, &err),
                         GEMMTUNE_EPARSE);
        assert_null(f);
        if (strstr(err.line, rows[i].said) == NULL ||
            strncmp(err.line, "toy/space.json:", 15) != 0)
            fail_msg("%s: \"%s\" lacks \"%s\"", rows[i].now, err.line, rows[i].said);
        free(json);
    }
}

/* ---- counts have limits ----------------------------------------------------------- */

/* `good` with a list of `count` entries, made by `fmt` from their number, for `was`. */
static char *with_many(const char *was, const char *open, const char *fmt, int count,
                       const char *close) {
    char *list = calloc(1, 64 * (size_t)count + 64);
    assert_non_null(list);
    size_t at = (size_t)sprintf(list, "%s", open);
    for (int i = 0; i < count; i++) {
        char entry[64];
        (void)snprintf(entry, sizeof entry, fmt, i);
        at += (size_t)sprintf(list + at, "%s%s", i > 0 ? ", " : "", entry);
    }
    (void)sprintf(list + at, "%s", close);
    char *json = spoilt(was, list);
    free(list);
    return json;
}

static void expect_too_many(char *json) {
    struct gt_family *f = NULL;
    struct gt_err err = {""};
    assert_int_equal(gt_family_parse(&f, "toy", "toy/space.json", json, sources, &err),
                     GEMMTUNE_EPARSE);
    assert_non_null(strstr(err.line, "are allowed"));
    free(json);
}

#define VALUES "[4, 8, 16]"
#define PARAMS "{\"W\": [4, 8, 16], \"PAD\": [0, 1]}"
#define DERIVE "{\"T\": \"W * W\", \"S\": \"T * sizeof(A)\"}"
#define ACCEPT "[[\"K >= 1\", \"an empty sum\"]]"

static void test_counts_have_limits(void **state) {
    (void)state;
    expect_too_many(with_many(VALUES, "[8, ", "1%d", GT_VALUES_MAX, "]"));
    expect_too_many(with_many(PARAMS, "{\"W\": [8], ", "\"P%d\": [0]", GT_POINT_MAX, "}"));
    expect_too_many(with_many(DERIVE, "{\"T\": \"1\", \"S\": \"1\", ", "\"D%d\": \"1\"",
                              GT_RULES_MAX - 1, "}"));
    expect_too_many(with_many(ACCEPT, "[", "[\"1\", \"%d\"]", GT_RULES_MAX + 1, "]"));
    expect_too_many(with_many("[\"m\", ", "[\"m\", ", "\"x%d\"", GT_ARGS_MAX, ", "));
    expect_too_many(with_many("\"after\": [", "\"after\": [", "{\"entry\": \"x%d\"}",
                              GT_BESIDE_MAX, ", "));
    expect_too_many(with_many("\"tensor_maps\": {", "\"tensor_maps\": {", "\"x%d\": 1",
                              GT_MAPS_MAX, ", "));
    expect_too_many(with_many("\"before\": [", "\"before\": [", "{\"entry\": \"x%d\"}",
                              GT_BESIDE_MAX, ", "));
}

static void test_counts_at_their_limits(void **state) {
    (void)state;
    char *json = with_many(ACCEPT, "[", "[\"1\", \"%d\"]", GT_RULES_MAX, "]");
    struct gt_family *f = parsed(json);
    assert_int_equal(f->accept_count, GT_RULES_MAX);
    gt_family_destroy(f);
    free(json);
    json = with_many(VALUES, "[8, ", "1%d", GT_VALUES_MAX - 1, "]");
    f = parsed(json);
    assert_int_equal(f->param[0].count, GT_VALUES_MAX);
    gt_family_destroy(f);
    free(json);
    json = spoilt("\"before\": [", "\"before\": [{\"entry\": \"first\", \"block\": [\"1\","
                                   "\"1\", \"1\"], \"grid\": [\"1\", \"1\", \"1\"]}, ");
    f = parsed(json);
    assert_int_equal(f->pass_count, 4);
    assert_int_equal(f->main, 2);
    assert_string_equal(f->pass[0].entry, "first");
    assert_string_equal(f->pass[2].entry, "gemm");
    gt_family_destroy(f);
    free(json);
}

/* ---- sources and hash --------------------------------------------------------------- */

static void test_missing_source(void **state) {
    static const char *const none[2] = {"cuda text", NULL};
    struct gt_family *f = NULL;
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(gt_family_parse(&f, "toy", "toy/space.json", good, none, &err),
                     GEMMTUNE_EPARSE);
    assert_non_null(strstr(err.line, "toy.cl"));
    assert_null(f);
}

static void test_long_folder_name(void **state) {
    struct gt_family *f = NULL;
    struct gt_err err = {""};
    (void)state;
    assert_int_equal(
        gt_family_parse(&f, "a_name_of_more_than_23_bytes", "x", good, sources, &err),
        GEMMTUNE_EPARSE);
    assert_non_null(strstr(err.line, "too long"));
}

static void test_hash_covers_everything(void **state) {
    static const char *const other[2] = {"cuda text", "opencl  text;"};
    struct gt_family *g;
    (void)state;
    struct gt_family *f = parsed(good);
    assert_int_equal(strlen(f->hash), 64);
    struct gt_family *again = parsed(good);
    assert_string_equal(f->hash, again->hash);
    assert_int_equal(gt_family_parse(&g, "toy", "elsewhere", good, other, NULL),
                     GEMMTUNE_OK);
    assert_string_not_equal(f->hash, g->hash);
    gt_family_destroy(g);
    gt_family_destroy(again);
    gt_family_destroy(f);
}

/* ---- the collection -------------------------------------------------------------------
 */

static struct gt_families *builtin(void) {
    struct gt_families *all;
    struct gt_err err = {""};
    const gt_status status = gt_families_create(&all, &err);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
    return all;
}

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

/* A kernel that is launched early and does not wait computes wrongly now and then only:
 * families are held to it when they are loaded, the kernels of parts here. */
static void test_kernels_of_parts_wait(void **state) {
    static const char head[] = "(GT_PARAMS) {";
    (void)state;
    int kernels = 0;
    for (int i = 0; gt_part_name(i) != NULL; i++) {
        const char *text = gt_part_text(i);
        for (const char *at = strstr(text, head); at != NULL; at = strstr(at, head)) {
            const char *follow = strstr(at, "GT_FOLLOW();"),
                       *next = strstr(at, "const int");
            assert_true(follow != NULL && follow < next);
            at += strlen(head);
            kernels++;
        }
    }
    assert_int_equal(kernels, 5);
}

/* ---- parts ------------------------------------------------------------------------------
 */

static void test_parts(void **state) {
    (void)state;
    assert_string_equal(gt_part_name(0), "dialect");
    assert_string_equal(gt_part_name(1), "types");
    assert_null(gt_part_name(-1));
    assert_int_equal(gt_part_bit("nobody"), 0);
    assert_int_equal(gt_parts_closed(0), GT_PARTS_ALWAYS);
    assert_int_equal(gt_parts_closed(gt_part_bit("slab_copies")),
                     GT_PARTS_ALWAYS | gt_part_bit("slab_copies") | gt_part_bit("copies") |
                         gt_part_bit("vectors"));
    int count = 0;
    while (gt_part_name(count) != NULL) {
        assert_true(strlen(gt_part_text(count)) > 100);
        count++;
    }
    assert_int_equal(gt_parts_closed(~0u), (1u << count) - 1);
}

static const char *before_entry = " \"entry\": \"gemm\",\n";

/* `good` with a line more. */
static char *with_line(const char *line) {
    char text[512];
    (void)snprintf(text, sizeof text, "%s%s", line, before_entry);
    return spoilt(before_entry, text);
}

static void test_uses(void **state) {
    (void)state;
    struct gt_family *f = parsed(good);
    assert_int_equal(f->uses, gt_parts_closed(~0u)); /* says nothing, so it may use all */
    gt_family_destroy(f);
    char *json = with_line(" \"uses\": [],\n");
    f = parsed(json);
    assert_int_equal(f->uses, GT_PARTS_ALWAYS);
    assert_int_equal(f->constant_count, 0);
    gt_family_destroy(f);
    free(json);
    json = with_line(" \"uses\": [\"reduce\"],\n");
    f = parsed(json);
    assert_int_equal(f->uses, gt_parts_closed(gt_part_bit("reduce")));
    gt_family_destroy(f);
    free(json);
}

/* The integer macros of the parts that a family uses are names of its expressions. */
static void test_constants(void **state) {
    static const char derived[] = "\"S\": \"T * sizeof(A)\"";
    struct gt_family *f;
    struct gt_err err = {""};
    (void)state;
    char *json = spoilt(derived, "\"S\": \"2 * REDUCE_THREADS\"");
    f = parsed(json);
    struct gt_binding b;
    struct gt_device d = {.max_threads = 1024};
    struct gt_point point;
    gemmtune_problem p;
    assert_int_equal(gt_problem_from_name(&p, "f32-nn-8x8x8", NULL), GEMMTUNE_OK);
    gt_bind_problem(&b, f, &d, &p);
    gt_family_default(f, &point);
    assert_int_equal(gt_bind_point(&b, &point, NULL), GEMMTUNE_OK);
    assert_int_equal(b.value[f->derive[1].slot], 512);
    gt_family_destroy(f);
    free(json);
    char *unused = with_line(" \"uses\": [\"vectors\"],\n");
    char *at = strstr(unused, "T * sizeof(A)");
    assert_non_null(at);
    memcpy(at, "REDUCE_EACH  ", strlen("T * sizeof(A)"));
    assert_int_equal(gt_family_parse(&f, "toy", "toy/space.json", unused, sources, &err),
                     GEMMTUNE_EPARSE);
    assert_non_null(strstr(err.line, "REDUCE_EACH"));
    free(unused);
}

static int edited_part;

static const char *part_with_an_edit(int part) {
    return part == edited_part ? "another text" : gt_part_text(part);
}

/* An edit of a part outdates the results of families that use the part, and no others. */
static void test_an_edit_of_a_part_outdates_its_users(void **state) {
    const struct gt_node space = {NULL, NULL}; /* the same in all hashes */
    int kept = 0, outdated = 0;
    (void)state;
    struct gt_families *all = builtin();
    for (size_t i = 0; i < gt_families_count(all); i++) {
        struct gt_family f = *gt_families_at(all, i), now = f;
        assert_int_equal(gt_family_set_hash(&f, space, gt_part_text, NULL), GEMMTUNE_OK);
        for (edited_part = 0; gt_part_name(edited_part) != NULL; edited_part++) {
            const bool uses = (f.uses & 1u << edited_part) != 0;
            assert_int_equal(gt_family_set_hash(&now, space, part_with_an_edit, NULL),
                             GEMMTUNE_OK);
            if ((strcmp(now.hash, f.hash) != 0) != uses)
                fail_msg("%s after an edit of %s", f.name, gt_part_name(edited_part));
            kept += !uses;
            outdated += uses;
        }
    }
    assert_true(kept > 0 && outdated > 0);
    gt_families_destroy(all);
}

/* ---- the hash ----------------------------------------------------------------------- */

static void test_code_without_comments(void **state) {
    static const struct {
        const char *code, *canonical;
    } rows[] = {
        {"", ""},
        {"a = b; // why\nc = d;", "a = b; c = d;"},
        {"a /* one\n two */ = b;", "a = b;"},
        {"a = \"/* not */ // a comment\";", "a = \"/* not */ // a comment\";"},
        {"a = \"\\\"  // \" ; // real", "a = \"\\\"  // \" ;"},
        {"a = '\"'; // it's", "a = '\"';"},
        {"// don't\nb", "b"},
        {"// goes on \\\n here\nb", "b"},
        {"x\n  #define A 1 // one\n\ny  z", "x\n#define A 1\ny z"},
        {"#define A \\\n  1\n#define B", "#define A 1\n#define B"},
        {"#define A /* on\n */ 1\nb", "#define A 1\nb"},
        {"a /* to the end", "a"},
        {"R\"(//  )\"  b", "R\"(//  )\"  b"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *code = strdup(rows[i].code);
        assert_non_null(code);
        gt_code_canonical(code);
        assert_string_equal(code, rows[i].canonical);
        free(code);
    }
}

/* Whether the toy family has another hash with this text in space.json and this source. */
static bool hash_differs(const char *json, const char *source) {
    const char *const before[] = {"int a; // one\n", ""}, *const after[] = {source, ""};
    struct gt_family *f, *now;
    assert_int_equal(gt_family_parse(&f, "toy", "toy/space.json", good, before, NULL),
                     GEMMTUNE_OK);
    assert_int_equal(gt_family_parse(&now, "toy", "toy/space.json", json, after, NULL),
                     GEMMTUNE_OK);
    const bool differs = strcmp(f->hash, now->hash) != 0;
    gt_family_destroy(f);
    gt_family_destroy(now);
    return differs;
}

/* Texts that only people read may be reworded. Every other edit outdates results. */
static void test_hash_is_of_what_machines_read(void **state) {
    static const struct {
        const char *was, *now;
        bool differs;
    } rows[] = {
        {"A family for tests.", "Another sentence.", false},
        {"too many threads", "more threads than there may be", false},
        {"an empty sum", "k is 0", false},
        {"\"rank\": 7,", "  \"rank\" :7,\n", false},
        {"\"rank\": 7,", "\"rank\": 7, \"adapt\": [\"W\"],", false},
        {"\"rank\": 7", "\"rank\": 8", true},
        {"[4, 8, 16]", "[4, 8, 32]", true},
        {"T <= MAX_THREADS", "T < MAX_THREADS", true},
        {"K >= 1", "K >= 2", true},
        {"W * W", "W  * W", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *json = spoilt(rows[i].was, rows[i].now);
        if (hash_differs(json, "int a; // one\n") != rows[i].differs)
            fail_msg("%s for %s", rows[i].now, rows[i].was);
        free(json);
    }
    assert_false(hash_differs(good, "int a; /* another\n comment */"));
    assert_false(hash_differs(good, "int\n    a;\n"));
    assert_true(hash_differs(good, "int b; // one\n"));
    assert_true(hash_differs(good, "int a = 1; // one\n"));
}

/* ---- what sources are held to -----------------------------------------------------------
 */

#define KERNEL "GT_KERNEL(gemm, GT_W, f(1, 2), 1)"

static void test_sources_are_held_to(void **state) {
    static const struct {
        int head;                  /* 0: a plain family; 1: "overlap"; 2: "batch" */
        const char *source, *said; /* NULL: nothing */
    } rows[] = {
        {0, "", NULL},
        {0, KERNEL "(GT_PARAMS) { return; }", NULL},
        {0, KERNEL " \\\n\t( GT_PARAMS )\n{}", NULL},
        {0, "MY_GT_KERNEL(gemm)(int m) {}", NULL},
        {0, "// " KERNEL "(int m)\n/* " KERNEL "\n */", NULL},
        {0, "\n\n" KERNEL "(int m, int n) {}",
         "toy/toy.cl:3: a kernel must take (GT_PARAMS)"},
        {0, KERNEL "(GT_PARAMS_) {}", "toy/toy.cl:1: a kernel must take (GT_PARAMS)"},
        {0, KERNEL, "toy/toy.cl:1: a kernel must take (GT_PARAMS)"},
        {0, "GT_KERNEL(gemm, 1", "toy/toy.cl:1: a kernel must take (GT_PARAMS)"},
        {0, KERNEL "(GT_PARAMS);", "toy/toy.cl:1: a kernel's body must follow"},
        {0, "/*\n*/ " KERNEL "(GT_PARAMS) { int i; GT_FOLLOW(); }",
         "toy/toy.cl:2: GT_FOLLOW() is for families whose \"overlap\" is 1"},
        {1, KERNEL "(GT_PARAMS) { GT_FOLLOW(); }", NULL},
        {1, KERNEL "(GT_PARAMS) {\n GT_SHARED_ARRAY(gt_a, s, 4);\n GT_FOLLOW(); }", NULL},
        {1, KERNEL "(GT_PARAMS) { extern __shared__ int s[];\nGT_FOLLOW (); }", NULL},
        {1, KERNEL "(GT_PARAMS) { /* first */ GT_FOLLOW(); }", NULL},
        {1, KERNEL "(GT_PARAMS) { int i; GT_FOLLOW(); }",
         "toy/toy.cl:1: a kernel must begin with GT_FOLLOW();"},
        {1, KERNEL "(GT_PARAMS) { GT_FOLLOW(); }\n" KERNEL "(GT_PARAMS) {}",
         "toy/toy.cl:2: a kernel must begin with GT_FOLLOW();"},
        {1, KERNEL "(GT_PARAMS) { // GT_FOLLOW();\n}",
         "toy/toy.cl:1: a kernel must begin with GT_FOLLOW();"},
        {1, KERNEL "(GT_PARAMS) { GT_SHARED_ARRAY(gt_a, s, 4)",
         "toy/toy.cl:1: a kernel must begin with GT_FOLLOW();"},
        {2, KERNEL "(GT_PARAMS) {\n GT_SHARED_ARRAY(gt_a, s, 4);\n GT_PRODUCT(); }", NULL},
        {2, KERNEL "(GT_PARAMS) { GT_PRODUCT(); }\n" KERNEL "(GT_PARAMS) { int i; }",
         "toy/toy.cl:2: a kernel must begin with GT_PRODUCT();"},
    };
    (void)state;
    char *overlap = with_line(" \"overlap\": 1,\n");
    char *batch = with_line(" \"batch\": \"grid\",\n");
    const char *const json[] = {good, overlap, batch};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const source[2] = {rows[i].source, ""};
        struct gt_family *f = NULL;
        struct gt_err err = {""};
        const gt_status status =
            gt_family_parse(&f, "toy", "toy/space.json", json[rows[i].head], source, &err);
        gt_family_destroy(f);
        if (rows[i].said == NULL)
            assert_string_equal(err.line, "");
        else if (strstr(err.line, rows[i].said) == NULL)
            fail_msg("row %zu: \"%s\" lacks \"%s\"", i, err.line, rows[i].said);
        assert_int_equal(status, rows[i].said == NULL ? GEMMTUNE_OK : GEMMTUNE_EPARSE);
    }
    free(overlap);
    free(batch);
}

/* ---- a folder ---------------------------------------------------------------------------
 */

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
    static const char *const names[] = {"toy/space.json", "toy/toy.cl", "toy", "common/x",
                                        "common",         "stray",      ""};
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
    assert_string_equal(gt_families_find(all, "toy")->source[0], "the text");
    assert_string_equal(gt_families_at(all, 0)->name, "toy"); /* rank 7 */
    make_file("toy/toy.cl", "newer", 5);
    assert_int_equal(gt_families_add_folder(all, folder, NULL), GEMMTUNE_OK);
    assert_int_equal(gt_families_count(all), before + 1); /* replaced, not added */
    assert_string_equal(gt_families_find(all, "toy")->source[1], "newer");
    make_file("toy/space.json", "{", 1);
    expect_folder_refused(all, GEMMTUNE_EPARSE, "toy/space.json:1");
    gt_families_destroy(all);
}

static void test_folder_that_is_not_there(void **state) {
    struct gt_err err = {""};
    (void)state;
    struct gt_families *all = builtin();
    assert_int_equal(gt_families_add_folder(all, "/nonexistent/gt", &err), GEMMTUNE_EIO);
    assert_non_null(strstr(err.line, "/nonexistent/gt"));
    gt_families_destroy(all);
}

/* An expression that finds no memory is no mistake in space.json. */
static void test_out_of_memory_stays_so(void **state) {
    gt_status status = GEMMTUNE_ENOMEM;
    int n = 0;
    (void)state;
    if (__real_malloc == NULL)
        skip();
    for (; status == GEMMTUNE_ENOMEM && n < 1000; n++) {
        struct gt_family *f = NULL;
        struct gt_err err = {""};
        allocations_left = n;
        status = gt_family_parse(&f, "toy", "toy/space.json", good, sources, &err);
        allocations_left = -1;
        assert_int_equal(f != NULL, status == GEMMTUNE_OK);
        assert_int_equal(err.line[0] == '\0', status == GEMMTUNE_OK);
        gt_family_destroy(f);
    }
    assert_int_equal(status, GEMMTUNE_OK);
    assert_in_range(n, 30, 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_good_family),
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_tensor_maps),
        cmocka_unit_test(test_what_may_be_left_out),
        cmocka_unit_test(test_a_family_without_parameters),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_counts_have_limits),
        cmocka_unit_test(test_counts_at_their_limits),
        cmocka_unit_test(test_missing_source),
        cmocka_unit_test(test_long_folder_name),
        cmocka_unit_test(test_hash_covers_everything),
        cmocka_unit_test(test_builtin_families),
        cmocka_unit_test(test_kernels_of_parts_wait),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_uses),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_an_edit_of_a_part_outdates_its_users),
        cmocka_unit_test(test_code_without_comments),
        cmocka_unit_test(test_hash_is_of_what_machines_read),
        cmocka_unit_test(test_sources_are_held_to),
        cmocka_unit_test_setup_teardown(test_folder, folder_create, folder_remove),
        cmocka_unit_test(test_folder_that_is_not_there),
        cmocka_unit_test(test_out_of_memory_stays_so),
    };
    return cmocka_run_group_tests_name("family", tests, NULL, NULL);
}
