/* SPDX-License-Identifier: Apache-2.0 */
/* space.json in every way it can be wrong. */
#include "tests/unit/short_of_memory.h"
#include "tests/unit/toy_family.h"

static void test_a_good_family(void **state) {
    (void)state;
    struct gt_family *f = parsed(good);
    assert_string_equal(f->name, "toy");
    assert_string_equal(f->about, "A family for tests.");
    assert_string_equal(f->source[GEMMTUNE_CUDA]->text, "cuda text");
    assert_string_equal(f->source[GEMMTUNE_OPENCL]->text, "opencl text");
    assert_string_equal(f->source[GEMMTUNE_CUDA]->name, "toy/toy.cl");
    assert_string_equal(f->entry, "gemm");
    assert_int_equal(f->dtypes, gt_dtype_bit(gt_dtype_by_name("f32", 3)) |
                                    gt_dtype_bit(gt_dtype_by_name("i32", 3)));
    assert_int_equal(f->layouts, gt_layout_bit("nn") | gt_layout_bit("tt"));
    for (size_t i = 0; i < GT_DTYPES; i++)
        assert_int_equal(f->min_cc[i], gt_dtype_at(i)->a == GEMMTUNE_I32 ? 75 : 61);
    assert_int_equal(f->cuda_only, gt_dtype_bit(gt_dtype_by_name("i32", 3)));
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
        " \"max_arch\": {\"cuda\": 99},",
        " \"cuda_only\": [\"i32\" ],\n",
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
    assert_null(f->source[GEMMTUNE_OPENCL]->name);
    assert_null(f->source[GEMMTUNE_OPENCL]->text);
    assert_int_equal(f->pass_count, 1);
    assert_string_equal(gt_expr_text(f->pass[0].cluster[0]), "2");
    assert_string_equal(gt_expr_text(f->align[0]), "sizeof(A)");
    gt_family_destroy(f);
}

/* Each row spoils one thing; the complaint names the line and says what is wrong. */
static const struct {
    const char *was, *now, *said;
} refusals[] = {
    /* the document */
    {"{\n", "[\n", "toy/space.json:"},
    {"\"rank\": 7", "\"rnak\": 7", "toy/space.json:11: /rnak: "},
    {" \"entry\": \"gemm\",\n", "", "entry"},
    {"\"rank\": 7", "\"rank\": 7, \"rank\": 8", "toy/space.json:11:"},
    {"\"format\": 1", "\"format\": 2", "toy/space.json:2: /format:"},
    {"\"format\": 1", "\"format\": \"1\"", "toy/space.json:2: /format:"},
    {"\"rank\": 7", "\"rank\": -1", "/rank:"},
    {"\"rank\": 7", "\"rank\": 1001", "/rank:"},
    {"\"rank\": 7", "\"ptx\": 2", "/ptx:"},
    {"\"rank\": 7", "\"overlap\": 2", "/overlap:"},
    {"\"rank\": 7", "\"overlap\": true", "/overlap:"},
    {"\"rank\": 7", "\"batch\": true", "/batch:"},
    {"\"rank\": 7", "\"per_problem\": 2", "/per_problem"},
    {"\"rank\": 7", "\"same_bits\": 2", "/same_bits"},
    {"\"rank\": 7", "\"batch\": \"x\"", "/batch: is not \"grid\", \"own\" or \"only\""},
    {"\"textbook\"", "\"naive\"", "/role: is not \"baseline\" or \"textbook\""},
    {"\"textbook\"", "1", "/role:"},
    {"{\"toy\": {}, \"toy, padded\": {\"PAD\": 1}}", "{}", "/rungs: has 0"},
    {"\"toy\": {}", "\"\": {}", "a rung's name has 1 to 31 characters"},
    {"\"toy\": {}", "\"toy12345678901234567890123456789\": {}", "1 to 31 characters"},
    {"\"toy\": {}", "\"toy\": 1", "must be an object"},
    {"{\"PAD\": 1}", "{\"PADS\": 1}", "no such parameter"},
    {"{\"PAD\": 1}", "{\"PAD\": 2}", "not one of the values of PAD"},
    /* the order of sums may follow k and the point, and nothing of C or of one device */
    {"\"rank\": 7", "\"sums\": {\"by\": \"fma\", \"numbers\": {\"part\": \"M / W\"}}",
     "/sums/numbers/part: M follows m"},
    {"\"rank\": 7", "\"sums\": {\"by\": \"fma\", \"when\": \"UNITS > 1\"}",
     "/sums/when: UNITS follows m"},
    {"\"rank\": 7", "\"sums\": {\"by\": \"fma\", \"when\": \"ALIGN_A > 1\"}",
     "ALIGN_A follows m"},
    {"\"rank\": 7", "\"sums\": {\"when\": \"1\"}", "/sums"},
    {"\"rank\": 7", "\"sums\": {\"by\": \"Fma\"}", "/sums/by: is no word"},
    {"\"rank\": 7", "\"sums\": {\"by\": \"fma\", \"numbers\": {\"Part\": \"1\"}}",
     "numbers have names"},
    {"\"rank\": 7", "\"sums\": {\"by\": \"fma\", \"default\": 2}", "/sums/default"},
    {"\"too many threads\"]", "\"too many threads\", \"speed\"]", "no such parameter"},
    /* identity */
    {"\"family\": \"toy\"", "\"family\": \"tot\"", "called \"tot\" but its folder \"toy\""},
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
    {"\"cuda\": \"toy.cl\"", "\"cuda\": [\"a.h\", \"../toy.cl\"]", "/source/cuda/1"},
    {"\"cuda\": \"toy.cl\"", "\"cuda\": []", "/source/cuda: has 0 entries"},
    {"\"cuda\": \"toy.cl\"", "\"cuda\": 3", "/source/cuda"},
    {"{\"cuda\": \"toy.cl\", \"opencl\": \"toy.cl\"}", "{}", "at least 1"},
    {"{\"cuda\": \"toy.cl\", \"opencl\": \"toy.cl\"}", "\"toy.cl\"", "must be an object"},
    /* types and layouts */
    {"\"i32\"]", "\"f31\"]", "\"f31\" is not a data type"},
    {"\"i32\"]", "\"f32\"]", "\"f32\" is listed twice"},
    {"[\"f32\", \"i32\"]", "[]", "/dtypes: has 0 entries"},
    {"\"tt\"]", "\"xx\"]", "\"xx\" is not a layout"},
    {"\"tt\"]", "\"nn\"]", "\"nn\" is listed twice"},
    {"{\"i32\": 75, \"cuda\": 61}", "{\"cuda\": -1}", "/min_arch/cuda"},
    {"{\"i32\": 75, \"cuda\": 61}", "{\"opencl\": 1}", "/min_arch/opencl"},
    {"{\"i32\": 75, \"cuda\": 61}", "{\"i31\": 75}", "neither \"cuda\" nor a data type"},
    {"{\"i32\": 75, \"cuda\": 61}", "61", "/min_arch: must be an object"},
    {"{\"cuda\": 99}", "{\"cuda\": \"99\"}", "/max_arch/cuda"},
    {"\"i32\" ]", "\"f31\" ]", "/cuda_only/0: \"f31\" is not a data type"},
    {"[\"i32\" ]", "\"i32\"", "/cuda_only: must be an array"},
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
    /* meaning */
    {"{\"W\": \"how wide\"}", "{\"X\": \"how wide\"}",
     "/meaning/X: the family has no such parameter"},
    {"{\"W\": \"how wide\"}", "{\"W\": 3}", "/meaning/W"},
    {"{\"W\": \"how wide\"}", "\"how wide\"", "/meaning: must be an object"},
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
     "\"K\", \"S\": \"T * sizeof(A)\"},\n \"require\": [[\"S", "S belongs to one problem"},
    {"\"W * W\"", "\"W *\"", "/derive/T:"},
    {"\"W * W\"", "64", "/derive/T:"},
    {"\"T\": ", "\"W\": ", "the name W is taken"},
    {"\"T\": ", "\"CC\": ", "the name CC is built in"},
    {"\"T <= MAX_THREADS\"", "\"T <= K\"", "K belongs to one problem"},
    {"\"T <= MAX_THREADS\"", "\"T <= NOBODY\"", "NOBODY"},
    {"[\"T <= MAX_THREADS\", \"too many threads\"]", "[\"T > 1\"]", "needs at least 2"},
    {"[\"T <= MAX_THREADS\", \"too many threads\"]", "\"T > 1\"", "must be an array"},
    {"\"too many threads\"", "3", "/require/0/1"},
    {"\"too many threads\"", "\"too many threads\", \"T\"", "no such parameter"},
    {"\"too many threads\"", "\"too many threads\", 1", "/require/0/2"},
    {"\"too many threads\"", "\"a\", \"W\", \"W\"", "/require/0: has 4 entries"},
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
    {"\"smem\": \"S\"", "\"panel\": [\"M\"]", "/launch/panel: has 1 entries"},
    {"\"smem\": \"S\"", "\"panel\": \"M\"", "/launch/panel: must be an array"},
    {"\"smem\": \"S\"", "\"panel\": [\"M\", \"Q\"]", "/launch/panel/1"},
    {"\"smem\": \"S\"", "\"walk\": \"M\"", "/launch/walk: M belongs to one problem"},
    /* neither is known by then */
    {"\"smem\": \"S\"", "\"walk\": \"W + T\"", "/launch/walk: may use neither derived"},
    {"\"smem\": \"S\"", "\"walk\": \"WALK\"", "/launch/walk: may use neither derived"},
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
    {"\"16 * M\"", "\"0\", \"planes\": \"N\"", "N belongs to one problem"},
    {"\"rank\": 7", "\"variants\": [\"T\", \"W\"]", "/variants/1: W is no derived name"},
    {"\"rank\": 7", "\"variants\": \"T\"", "/variants: must be an array"},
};

static void test_refusals(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct gt_family *f = NULL;
        struct gt_err err = {""};
        char *json = spoilt(refusals[i].was, refusals[i].now);
        assert_int_equal(gt_family_parse(&f, "toy", "toy/space.json", json, sources, &err),
                         GEMMTUNE_EPARSE);
        assert_null(f);
        if (strstr(err.line, refusals[i].said) == NULL ||
            strncmp(err.line, "toy/space.json:", 15) != 0)
            fail_msg("%s: \"%s\" lacks \"%s\"", refusals[i].now, err.line,
                     refusals[i].said);
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

/* ---- names and sources ---- */

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
        cmocka_unit_test(test_out_of_memory_stays_so),
    };
    return cmocka_run_group_tests_name("family", tests, NULL, NULL);
}
