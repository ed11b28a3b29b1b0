/* SPDX-License-Identifier: Apache-2.0 */
/* The knowledge about a device stands in files: which folder serves which device, and files
 * that are refused. */
#include "runtime/lookup/shelf.h"

#include "core/hash.h"
#include "runtime/lookup/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char folders[512]; /* of a test */

static void write_file(const char *folder, const char *file, const void *bytes,
                       size_t size) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", folders, folder);
    (void)mkdir(path, 0700);
    (void)snprintf(path, sizeof path, "%s/%s/%s", folders, folder, file);
    FILE *const out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
}

static void write_text(const char *folder, const char *file, const char *text) {
    write_file(folder, file, text, strlen(text));
}

static const char *path_of(char path[1024], const char *folder, const char *file) {
    (void)snprintf(path, 1024, "%s/%s%s%s", folders, folder, file[0] ? "/" : "", file);
    return path;
}

/* An empty folder of folders, where gt_shelf_of looks from now on. */
static int set_up(void **state) {
    const char *const temp = getenv("TMPDIR");
    (void)state;
    (void)snprintf(folders, sizeof folders, "%s/shelf.XXXXXX", temp ? temp : "/tmp");
    return mkdtemp(folders) == NULL || setenv("GEMMTUNE_DEVICES", folders, 1) != 0;
}

static struct gt_device device_of(const char *name, const char *arch, int units) {
    struct gt_device d = {.units = units};
    (void)snprintf(d.name, sizeof d.name, "%s", name);
    (void)snprintf(d.arch, sizeof d.arch, "%s", arch);
    return d;
}

/* costs.json, where `name` has the value `text` and all others cost as usual. */
static void write_cost(const char *folder, const char *name, const char *text) {
    struct gt_costs costs = gt_shelf_usual.costs;
    char file[4096];
    size_t len = (size_t)snprintf(file, sizeof file, "{\"format\": 1");
    for (int i = 0; i < GT_COSTS; i++) {
        char usual[40];
        (void)snprintf(usual, sizeof usual, "%g", *gt_cost_at(&costs, i));
        len += (size_t)snprintf(file + len, sizeof file - len, ",\n\"%s\": %s",
                                gt_cost_list[i].name,
                                strcmp(gt_cost_list[i].name, name) == 0 ? text : usual);
    }
    (void)snprintf(file + len, sizeof file - len, "}");
    write_text(folder, "costs.json", file);
}

/* The two files that say which devices a folder serves. */
static void write_card(const char *folder, const char *name, const char *arch,
                       int units_min) {
    char text[200];
    (void)snprintf(text, sizeof text, "{\"format\": 1, \"units_min\": %d}", units_min);
    write_text(folder, "shelf.json", text);
    (void)snprintf(text, sizeof text,
                   "{\"format\": 1, \"name\": \"%s\", \"arch\": \"%s\", \"units\": 60}",
                   name, arch);
    write_text(folder, "device.json", text);
}

/* Two trees for a made-up family: x[0] <= 2 ? -0.5 : 0.25, and a leaf. */
static struct gt_trees some_trees(void) {
    struct gt_trees t = {.count = 1, .of = calloc(2, sizeof *t.of)};
    assert_non_null(t.of);
    t.of[0] = (struct gt_learned){strdup("toy"), strdup("TM TN "), 2, 1,
                                  calloc(2 * GT_LEARNED_NODES, 8)};
    t.of[0].node[0] = (struct gt_learned_node){2, 0, 2};
    t.of[0].node[1] = (struct gt_learned_node){-0.5F, -1, 0};
    t.of[0].node[2] = (struct gt_learned_node){0.25F, -1, 0};
    t.of[0].node[GT_LEARNED_NODES] = (struct gt_learned_node){8, -1, 0};
    return t;
}

static void write_trees(const char *folder, struct gt_trees t) {
    char path[1024];
    write_text(folder, "trees.bin", "");
    FILE *const out = fopen(path_of(path, folder, "trees.bin"), "wb");
    assert_non_null(out);
    assert_int_equal(gt_trees_write(out, &t, NULL), GEMMTUNE_OK);
    assert_int_equal(fclose(out), 0);
    gt_trees_clear(&t);
}

static void test_which_folder_serves(void **state) {
    static const struct {
        const char *name, *arch;
        int units;
        double launch_ns; /* of the folder that serves; 0: none does */
    } rows[] = {
        {"Card", "sm_77", 50, 111},   {"Card", "sm_77", 49, 222}, /* a slice of it */
        {"Sister", "sm_77", 80, 222}, {"Other", "sm_77", 80, 111},
        {"Sister", "sm_78", 80, 0},   {"Other", "sm_77", 9, 0},
    };
    (void)state;
    write_card("a-card", "Card", "sm_77", 50);
    write_cost("a-card", "launch_ns", "111");
    write_card("b-sister", "Sister", "sm_77", 10);
    write_cost("b-sister", "launch_ns", "222");
    write_card("c-bad", "Other", "sm_77", 1);
    write_text("c-bad", "shelf.json", "{\"format\": 2}");
    write_card("d-nameless", "", "sm_77", 1);
    write_text("e-half", "shelf.json", "{\"format\": 1, \"units_min\": 1}");
    write_text("f-none", "device.json", "{}");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_device d = device_of(rows[i].name, rows[i].arch, rows[i].units);
        const struct gt_shelf *const s = gt_shelf_of(&d);
        const double expected =
            rows[i].launch_ns > 0 ? rows[i].launch_ns : gt_shelf_usual.costs.launch_ns;
        assert_true(s->costs.launch_ns == expected);
        assert_int_equal(s->trees.count, 0);
        assert_ptr_equal(gt_shelf_of(&d), s); /* read once */
    }
}

static void test_trees_come_back(void **state) {
    struct gt_shelf s;
    struct gt_err err;
    char path[1024];
    float x[1] = {2};
    (void)state;
    write_trees("toy", some_trees());
    assert_int_equal(gt_shelf_read(&s, path_of(path, "toy", ""), &err), GEMMTUNE_OK);
    assert_int_equal(s.trees.count, 1);
    assert_string_equal(s.trees.of[0].family, "toy");
    assert_string_equal(s.trees.of[0].names, "TM TN ");
    assert_int_equal(s.trees.of[0].trees, 2);
    assert_int_equal(s.trees.of[0].later, 1);
    assert_true(gt_learned_sum(s.trees.of[0].node, 2, x) == 7.5);
    x[0] = 2.5F;
    assert_true(gt_learned_sum(s.trees.of[0].node, 2, x) == 8.25);
    gt_trees_clear(&s.trees);
}

static size_t read_file(char *to, size_t room, const char *folder, const char *file) {
    char path[1024];
    FILE *const in = fopen(path_of(path, folder, file), "rb");
    assert_non_null(in);
    const size_t size = fread(to, 1, room, in);
    assert_int_equal(fclose(in), 0);
    return size;
}

/* ---- shelves beside a database ---- */

/* Hashes of the files of a folder, for its shelf.json. */
static void hash_files(char costs[65], char trees[65], const char *folder) {
    char path[1024];
    assert_int_equal(gt_hash_file(costs, path_of(path, folder, "costs.json"), NULL),
                     GEMMTUNE_OK);
    assert_int_equal(gt_hash_file(trees, path_of(path, folder, "trees.bin"), NULL),
                     GEMMTUNE_OK);
}

/* The fault of a device's shelf. */
enum spoilt { SOUND, OTHER_KEY, OTHER_MODEL, OTHER_TREES, OTHER_COSTS, NO_CARD };

/* Makes the shelf of the device beside the database `file`. */
static void write_learned(const char *file, const struct gt_device *d, enum spoilt how) {
    char folder[400], key[GT_DEVICE_KEY_MAX], path[1024], costs[65], trees[65], text[600];
    gt_device_key(d, key);
    (void)snprintf(folder, sizeof folder, "%s.shelves", file);
    (void)mkdir(path_of(path, folder, ""), 0700);
    (void)snprintf(folder, sizeof folder, "%s.shelves/%s", file, key);
    write_cost(folder, "launch_ns", "4321");
    write_trees(folder, some_trees());
    hash_files(costs, trees, folder);
    (void)snprintf(text, sizeof text,
                   "{\"format\": 1, \"device_key\": \"%s%s\", \"model\": %d, \"trials\": 9,"
                   " \"costs_sha256\": \"%s\", \"trees_sha256\": \"%s\"}",
                   key, how == OTHER_KEY ? "0" : "",
                   GT_MODEL_VERSION + (how == OTHER_MODEL), costs, trees);
    if (how != NO_CARD)
        write_text(folder, "shelf.json", text);
    if (how == OTHER_TREES)
        write_text(folder, "trees.bin", "");
    if (how == OTHER_COSTS)
        write_cost(folder, "launch_ns", "4322");
}

/* A learned shelf counts before the shipped one, if it is of this very device, whole, and
 * of this release's model. */
static void test_learned_folder(void **state) {
    static const enum spoilt rows[] = {SOUND,       OTHER_KEY,   OTHER_MODEL,
                                       OTHER_TREES, OTHER_COSTS, NO_CARD};
    char path[1024];
    (void)state;
    write_card("shipped", "Learned", "sm_66", 1);
    write_cost("shipped", "launch_ns", "1234");
    write_file("", "learned.db", "", 0);
    gt_shelf_beside(path_of(path, "learned.db", ""));
    gt_shelf_beside(path); /* counts once */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_device d = device_of("Learned", "sm_66", 10 + (int)i);
        write_learned("learned.db", &d, rows[i]);
        const struct gt_shelf *const s = gt_shelf_of(&d);
        assert_true(s->costs.launch_ns == (rows[i] == SOUND ? 4321 : 1234));
        assert_int_equal(s->trees.count, rows[i] == SOUND);
        assert_true(gt_shelf_shipped(&d)->costs.launch_ns == 1234);
    }
}

/* A shelf that is learned later counts for later questions; earlier answers stay. */
static void test_learned_later(void **state) {
    const struct gt_device d = device_of("Later", "sm_65", 7);
    char path[1024];
    (void)state;
    write_file("", "later.db", "", 0);
    gt_shelf_beside(path_of(path, "later.db", ""));
    const struct gt_shelf *const before = gt_shelf_of(&d);
    write_learned("later.db", &d, SOUND);
    assert_ptr_equal(gt_shelf_of(&d), before);
    gt_shelf_renew(&d);
    assert_true(gt_shelf_of(&d)->costs.launch_ns == 4321);
    assert_true(before->costs.launch_ns == gt_shelf_usual.costs.launch_ns);
}

enum { NODE_BYTES = 6, NODES = 4 }; /* of some_trees, in the file */

/* Writes the file of some_trees with another byte `at` in node `node`, cut after `nodes`
 * nodes, with the digest of what it has then. */
static void write_changed(const char *folder, int node, int at, int byte, int nodes) {
    static const char key[] = "\"nodes_sha256\": \"";
    char text[4096], digest[65];
    struct gt_hash h;
    write_trees(folder, some_trees());
    const size_t size = read_file(text, sizeof text - 1, folder, "trees.bin");
    char *const body = text + size - (size_t)NODES * NODE_BYTES;
    body[node * NODE_BYTES + at] = (char)byte;
    gt_hash_init(&h);
    gt_hash_add(&h, body, (size_t)nodes * NODE_BYTES);
    gt_hash_hex(&h, digest);
    memcpy(strstr(text, key) + sizeof key - 1, digest, 64);
    write_file(folder, "trees.bin", text,
               (size_t)(body - text) + (size_t)nodes * NODE_BYTES);
}

/* Trees that lead out of their nodes, or ask what there is not, never get in, even with a
 * right digest. */
static void test_trees_that_are_none(void **state) {
    enum { ASKS = 4, RIGHT = 5 };
    static const struct {
        int node, at, byte, nodes;
    } rows[] = {
        {0, RIGHT, 3, NODES},                    /* not where the left child ends */
        {0, RIGHT, 0, NODES},                    /* leads to itself */
        {0, ASKS, GT_LEARNED_COMMON + 2, NODES}, /* asks what there is not */
        {1, ASKS, 0xFE, NODES},                  /* neither a leaf nor a question */
        {1, RIGHT, 1, NODES},                    /* a leaf that leads on */
        {3, ASKS, 0, NODES},                     /* the file ends inside of a tree */
        {0, RIGHT, 2, NODES - 1},                /* a tree is missing */
        {0, ASKS, 0xFF, NODES},                  /* nodes are left over */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_trees read;
        struct gt_err err;
        char path[1024];
        write_changed("bad", rows[i].node, rows[i].at, rows[i].byte, rows[i].nodes);
        if (gt_trees_read(&read, path_of(path, "bad", "trees.bin"), &err) !=
                GEMMTUNE_EPARSE ||
            strstr(err.line, "digest") != NULL || strstr(err.line, "damaged") != NULL)
            fail_msg("row %zu", i);
        assert_null(read.of);
    }
    write_changed("bad", 0, RIGHT, 2, NODES);
    struct gt_trees read;
    char path[1024];
    assert_int_equal(gt_trees_read(&read, path_of(path, "bad", "trees.bin"), NULL),
                     GEMMTUNE_OK);
    gt_trees_clear(&read);
}

/* Every byte of the file counts: one that is changed is refused, and so is every part of
 * the file. */
static void test_damaged_files(void **state) {
    char path[1024], whole[4096], part[4096];
    struct gt_err err;
    struct gt_trees t;
    (void)state;
    write_trees("toy", some_trees());
    const size_t size = read_file(whole, sizeof whole, "toy", "trees.bin");
    for (size_t i = 0; i < size; i++) {
        memcpy(part, whole, size);
        write_file("part", "trees.bin", part, i);
        assert_int_equal(gt_trees_read(&t, path_of(path, "part", "trees.bin"), &err),
                         GEMMTUNE_EPARSE);
        part[i] = (char)(part[i] ^ 1);
        write_file("part", "trees.bin", part, size);
        if (gt_trees_read(&t, path_of(path, "part", "trees.bin"), &err) == GEMMTUNE_OK) {
            /* Only in names of families and parameters, which then are others. */
            assert_true(strcmp(t.of[0].family, "toy") != 0 ||
                        strcmp(t.of[0].names, "TM TN ") != 0 || t.of[0].later != 1);
            gt_trees_clear(&t);
        }
    }
    assert_int_equal(gt_trees_read(&t, path_of(path, "none", "trees.bin"), &err),
                     GEMMTUNE_EIO);
    assert_int_equal(gt_trees_read(&t, folders, &err), GEMMTUNE_EIO);
    assert_non_null(strstr(err.line, "Is a directory"));
    /* a pipe without a writer would be waited for */
    assert_int_equal(mkfifo(path_of(path, "part", "pipe"), 0600), 0);
    assert_int_equal(gt_trees_read(&t, path, &err), GEMMTUNE_EIO);
    assert_non_null(strstr(err.line, "is a pipe"));
}

/* A folder with damaged costs counts as missing. */
static void test_bad_costs(void **state) {
    const struct gt_device d = device_of("Bad", "sm_79", 20);
    (void)state;
    write_card("bad-costs", "Bad", "sm_79", 1);
    write_text("bad-costs", "costs.json", "{\"format\": 1, \"load\": 2.5}");
    write_trees("bad-costs", some_trees());
    const struct gt_shelf *const s = gt_shelf_of(&d);
    assert_true(s->costs.load == gt_shelf_usual.costs.load);
    assert_int_equal(s->trees.count, 0);
}

/* A cost of this value is refused, in a sentence that names the file and the cost. */
static void refuse_cost(const char *name, const char *text, const char *said) {
    struct gt_shelf s;
    struct gt_err err = {""};
    char path[1024], place[40];
    write_cost("odd", name, text);
    (void)snprintf(place, sizeof place, ": /%s: ", name);
    if (gt_shelf_read(&s, path_of(path, "odd", ""), &err) != GEMMTUNE_EPARSE ||
        strstr(err.line, "odd/costs.json:") == NULL || strstr(err.line, place) == NULL ||
        strstr(err.line, said) == NULL)
        fail_msg("%s of %s: %s", name, text, err.line);
    assert_memory_equal(&s.costs, &gt_shelf_usual.costs, sizeof s.costs);
}

/* No cost may be beyond its bounds or infinite, and all may be at their bounds. */
static void test_costs_have_bounds(void **state) {
    struct gt_shelf s;
    struct gt_err err;
    char path[1024], text[40];
    (void)state;
    for (int i = 0; i < GT_COSTS; i++) {
        const struct gt_cost_row *const c = &gt_cost_list[i];
        const double out[2] = {c->low - 0.001, c->high * 1.001}, in[2] = {c->low, c->high};
        for (int j = 0; j < 2; j++) {
            (void)snprintf(text, sizeof text, "%.9g", out[j]);
            refuse_cost(c->name, text, "must be from ");
            (void)snprintf(text, sizeof text, "%.9g", in[j]);
            write_cost("odd", c->name, text);
            assert_int_equal(gt_shelf_read(&s, path_of(path, "odd", ""), &err),
                             GEMMTUNE_OK);
            assert_true(*gt_cost_at(&s.costs, i) == in[j]);
        }
    }
    refuse_cost("load", "1e999", "is larger than any double");
    refuse_cost("moved", "\"2300\"", "must be a number, not a string");
    write_cost("odd", "load", "NaN");
    assert_int_equal(gt_shelf_read(&s, path_of(path, "odd", ""), &err), GEMMTUNE_EPARSE);
    assert_non_null(strstr(err.line, "odd/costs.json:2:"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_folder_serves),
        cmocka_unit_test(test_trees_come_back),
        cmocka_unit_test(test_trees_that_are_none),
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_bad_costs),
        cmocka_unit_test(test_costs_have_bounds),
        cmocka_unit_test(test_learned_folder),
        cmocka_unit_test(test_learned_later),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
