/* SPDX-License-Identifier: Apache-2.0 */
/* A family's source: the parts that it uses, its hash, what kernels are held to. */
#include "tests/unit/toy_family.h"

/* ---- parts ---- */

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
    assert_int_equal(gt_parts_closed(UINT64_MAX), (UINT64_C(1) << count) - 1);
}

static void test_uses(void **state) {
    (void)state;
    struct gt_family *f = parsed(good);
    /* It says nothing, so it may use all. */
    assert_int_equal(f->uses, gt_parts_closed(UINT64_MAX));
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
            const bool uses = (f.uses & UINT64_C(1) << edited_part) != 0;
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

/* ---- the hash ---- */

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

/* The toy family with a shape. */
#define SHAPED(tile_m, tile_n)                                                             \
    "\"shape\": {\"tile_m\": \"" tile_m "\", \"tile_n\": \"" tile_n                        \
    "\", \"tile_k\": \"1\"}, \"rank\": 7,"

/* An edit of what only the model reads outdates nothing. Launches depend on tile_m. */
static void test_hash_of_a_shape(void **state) {
    static const char rank[] = "\"rank\": 7,";
    char *wide = spoilt(rank, SHAPED("W", "W")), *flat = spoilt(rank, SHAPED("W", "1")),
         *high = spoilt(rank, SHAPED("T", "W"));
    struct gt_family *f = parsed(wide), *g = parsed(flat), *h = parsed(high);
    (void)state;
    assert_string_equal(f->hash, g->hash);
    assert_string_not_equal(f->hash, h->hash);
    gt_family_destroy(f);
    gt_family_destroy(g);
    gt_family_destroy(h);
    free(wide);
    free(flat);
    free(high);
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
        {"how wide", "how high", false},
        {"\"meaning\": {\"W\": \"how wide\"},", "", false},
        {"\"too many threads\"", "\"too many threads\", \"W\"", false},
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

/* ---- what sources are held to ---- */

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
        {0, KERNEL "(GT_PARAMS) {\n atomicAdd(c, sum); }",
         "toy/toy.cl:2: a template with atomics must say in \"same_bits\""},
        {0, KERNEL "(GT_PARAMS) { asm(\"red.global.add.f32 [%0], %1;\" :: \"l\"(c)); }",
         "toy/toy.cl:1: a template with atomics must say in \"same_bits\""},
        {0, KERNEL "(GT_PARAMS) { asm(\"red.relaxed.gpu.add.f32 [%0], %1;\"); }",
         "must say in \"same_bits\""},
        {0, KERNEL "(GT_PARAMS) { asm(\"multimem.red.add.f32 [%0], %1;\"); }",
         "must say in \"same_bits\""},
        {0, KERNEL "(GT_PARAMS) { asm(\"bar.red.or.pred any, 1, 128, yes;\"); }", NULL},
        {0, KERNEL "(GT_PARAMS) { atom_add(c, 1); }", "must say in \"same_bits\""},
        {0, KERNEL "(GT_PARAMS) { asm(\"cp.async.cg.shared.global [%0], [%1], 16;\"); }",
         NULL},
        {0, KERNEL "(GT_PARAMS) { /* no atomicAdd */ }", NULL},
        {3, KERNEL "(GT_PARAMS) { atomicAdd(c, sum); }", NULL},
        {2, KERNEL "(GT_PARAMS) {\n GT_SHARED_ARRAY(gt_a, s, 4);\n GT_PRODUCT(); }", NULL},
        {2, KERNEL "(GT_PARAMS) { GT_PRODUCT(); }\n" KERNEL "(GT_PARAMS) { int i; }",
         "toy/toy.cl:2: a kernel must begin with GT_PRODUCT();"},
    };
    (void)state;
    char *overlap = with_line(" \"overlap\": 1,\n");
    char *batch = with_line(" \"batch\": \"grid\",\n");
    char *bits = with_line(" \"same_bits\": 0,\n");
    const char *const json[] = {good, overlap, batch, bits};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const source[2] = {rows[i].source, ""};
        struct gt_family *f = NULL;
        struct gt_err err = {""};
        const gt_status status =
            gt_family_parse(&f, "toy", "toy/space.json", json[rows[i].head], source, &err);
        if (f != NULL)
            assert_int_equal(f->same_bits, rows[i].head != 3);
        gt_family_destroy(f);
        if (rows[i].said == NULL)
            assert_string_equal(err.line, "");
        else if (strstr(err.line, rows[i].said) == NULL)
            fail_msg("row %zu: \"%s\" lacks \"%s\"", i, err.line, rows[i].said);
        assert_int_equal(status, rows[i].said == NULL ? GEMMTUNE_OK : GEMMTUNE_EPARSE);
    }
    free(overlap);
    free(batch);
    free(bits);
}

/* Families are refused for atomics of their own. Of the parts one has an atomic, which
 * counts: the order of the sums does not depend on it. */
static void test_parts_have_one_atomic(void **state) {
    static const char counter[] = "atomicAdd(w->arrived, own)";
    int found = 0;
    (void)state;
    for (int i = 0; gt_part_name(i) != NULL; i++) {
        char *text = strdup(gt_part_text(i));
        assert_non_null(text);
        gt_code_blank_comments(text);
        for (const char *at = gt_code_atomic(text); at != NULL;
             at = gt_code_atomic(at + 1)) {
            if (strncmp(at, counter, sizeof counter - 1) != 0)
                fail_msg("part %s has an atomic: %.40s", gt_part_name(i), at);
            found++;
        }
        free(text);
    }
    assert_int_equal(found, 1);
}

/* The key "same_bits" changes no kernel. */
static void test_the_hash_leaves_bits_out(void **state) {
    char *bits = with_line(" \"same_bits\": 1,\n");
    (void)state;
    struct gt_family *f = parsed(good), *g = parsed(bits);
    assert_string_equal(f->hash, g->hash);
    gt_family_destroy(f);
    gt_family_destroy(g);
    free(bits);
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
    assert_int_equal(kernels, 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_uses),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_an_edit_of_a_part_outdates_its_users),
        cmocka_unit_test(test_hash_covers_everything),
        cmocka_unit_test(test_code_without_comments),
        cmocka_unit_test(test_hash_is_of_what_machines_read),
        cmocka_unit_test(test_hash_of_a_shape),
        cmocka_unit_test(test_sources_are_held_to),
        cmocka_unit_test(test_kernels_of_parts_wait),
        cmocka_unit_test(test_parts_have_one_atomic),
        cmocka_unit_test(test_the_hash_leaves_bits_out),
    };
    return cmocka_run_group_tests_name("family source", tests, NULL, NULL);
}
