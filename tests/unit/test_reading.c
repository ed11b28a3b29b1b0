/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list, show, compare, export, import, merge and doctor on databases made here: two devices
 * in two files, neither of them present.
 */
#include "db/db.h"
#include "runtime/family/family.h"
#include "tests/unit/capture.h"
#include "tests/unit/records.h"
#include "tuner/cmd/cmd.h"
#include "tests/unit/made_up.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 256, TEXT_SIZE = 1 << 16, WORDS_MAX = 16 };

static char folder[PATH_SIZE / 2];
static char out[TEXT_SIZE], talk[TEXT_SIZE]; /* of the last command */

static const char *in_folder(const char *name) {
    static char paths[8][PATH_SIZE];
    static int next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, PATH_SIZE, "%s/%s", folder, name);
    return path;
}

/* ---- databases ---- */

static struct gt_device device(const char *name, int units) {
    struct gt_device d =
        MADE_UP(.arch = "sm_61", .vendor = "NVIDIA", .driver = "1",
                .compiler = "NVRTC 12.9", .cc = 61, .units = units, .clock_mhz = 1500,
                .mem_clock_mhz = 5000, .bus_bits = 256, .mem_bytes = INT64_C(8) << 30,
                .max_alloc = INT64_C(8) << 30, .l2_bytes = 2 << 20, .smem_max = 49152,
                .has_f64 = true);
    (void)snprintf(d.name, sizeof d.name, "%s", name);
    return d;
}

static struct gt_measurement timed(double ns) {
    struct gt_measurement m = {.launches = 1, .samples = 7};
    for (int i = 0; i < m.samples; i++)
        m.sample_ns[i] = (float)(ns + (i - 3));
    gt_measurement_summarize(&m);
    return m;
}

/* One database, one device: what the helpers below write to. */
struct writer {
    struct gt_db *db;
    int64_t run;
    char key[GT_DEVICE_KEY_MAX];
    struct gt_families *families;
    struct gt_err err;
};

#define OK(w, call)                                                                        \
    do {                                                                                   \
        if ((call) != GEMMTUNE_OK)                                                         \
            fail_msg("%s", (w)->err.line);                                                 \
    } while (0)

static void begin(struct writer *w, const char *file, const struct gt_device *d) {
    const struct gt_run_info info = {"0.1.0", "1", "NVRTC", "tune", 1};
    *w = (struct writer){.run = 0};
    OK(w, gt_families_create(&w->families, &w->err));
    OK(w, gt_db_open(&w->db, in_folder(file), GT_DB_WRITE, &w->err));
    OK(w, gt_db_run_begin(&w->run, w->db, d, &info, &w->err));
    gt_device_key(d, w->key);
}

static void end(struct writer *w) {
    OK(w, gt_db_run_end(w->db, w->run, "done", &w->err));
    gt_db_close(w->db);
    gt_families_destroy(w->families);
}

static struct gt_db_subject subject(const struct writer *w, const char *problem,
                                    const char *family, const char *point) {
    const struct gt_family *f = gt_families_find(w->families, family);
    assert_non_null(f);
    return (struct gt_db_subject){w->key, problem, f->name, f->hash, point};
}

static void tried(struct writer *w, const char *problem, const char *point,
                  gt_outcome outcome, double ns, const char *error) {
    const struct gt_db_subject s = subject(w, problem, "tile", point);
    struct gt_trial_row row = {.subject = s,
                               .state = GT_TRIAL_DONE,
                               .attempts = 1,
                               .outcome = outcome,
                               .registers = 40,
                               .spill_bytes = 0,
                               .smem_bytes = -1,
                               .error = error,
                               .provenance = "local"};
    int64_t id = 0;
    bool claimed = false;
    if (outcome == GT_CORRECT)
        row.time = timed(ns);
    OK(w, gt_db_trial_begin(&id, &claimed, w->db, w->run, &s, &w->err));
    assert_true(claimed);
    OK(w, gt_db_trial_end(w->db, id, &row, &w->err));
}

static void won(struct writer *w, const char *problem, const char *point, double ns) {
    const struct gt_record_row row = {.subject = subject(w, problem, "tile", point),
                                      .rank = 0,
                                      .verified = true,
                                      .time = timed(ns),
                                      .baseline_ns = 4 * ns,
                                      .provenance = "local"};
    OK(w, put_local_records(w->db, w->key, problem, &row, 1, &w->err));
}

static void make_databases(void) {
    const struct gt_device small = device("NVIDIA GeForce GTX 1050", 5);
    const struct gt_device large = device("NVIDIA GeForce GTX 1080", 20);
    struct writer w;
    begin(&w, "small.db", &small);
    tried(&w, "f32-nn-64x64x64", "TILE_WIDTH=8 PAD=0 DOUBLE=0", GT_CORRECT, 2000, "");
    tried(&w, "f32-nn-64x64x64", "TILE_WIDTH=16 PAD=0 DOUBLE=0", GT_CORRECT, 2200, "");
    tried(&w, "f32-nn-64x64x64", "TILE_WIDTH=32 PAD=0 DOUBLE=0", GT_CORRECT, 9000, "");
    tried(&w, "f32-nn-64x64x64", "TILE_WIDTH=4 PAD=0 DOUBLE=0", GT_COMPILE, 0,
          "no such name");
    tried(&w, "f32-nn-64x64x64", "TILE_WIDTH=4 PAD=1 DOUBLE=0", GT_TIMEOUT, 0, "too slow");
    tried(&w, "f32-nn-64x64x64", "TILE_WIDTH=4 PAD=1 DOUBLE=1", GT_COMPILE, 0,
          "no such name");
    won(&w, "f32-nn-64x64x64", "TILE_WIDTH=8 PAD=0 DOUBLE=0", 2000);
    won(&w, "f32-nn-99x99x99", "TILE_WIDTH=8 PAD=0 DOUBLE=0", 5000);
    end(&w);
    begin(&w, "large.db", &large);
    tried(&w, "f32-nn-64x64x64", "TILE_WIDTH=32 PAD=0 DOUBLE=0", GT_CORRECT, 1000, "");
    tried(&w, "f32-nn-64x64x64", "TILE_WIDTH=16 PAD=0 DOUBLE=0", GT_CORRECT, 1100, "");
    tried(&w, "f32-nn-64x64x64", "TILE_WIDTH=8 PAD=0 DOUBLE=0", GT_CORRECT, 3000, "");
    won(&w, "f32-nn-64x64x64", "TILE_WIDTH=32 PAD=0 DOUBLE=0", 1000);
    end(&w);
}

/* ---- commands ---- */

/* Runs the words of `line`; in it $ stands for the folder and / after it for a
 * file there. */
static int gemmtune(const char *line) {
    char text[2048] = "gemmtune ", *argv[WORDS_MAX + 1] = {NULL};
    int argc = 0;
    for (size_t len = strlen(text); *line != '\0' && len + PATH_SIZE < sizeof text; line++)
        len +=
            (size_t)(*line == '$' ? snprintf(text + len, sizeof text - len, "%s", folder)
                                  : snprintf(text + len, sizeof text - len, "%c", *line));
    for (char *word = strtok(text, " "); word != NULL && argc < WORDS_MAX;
         word = strtok(NULL, " "))
        argv[argc++] = word;
    FILE *files[2] = {tmpfile(), tmpfile()};
    assert_true(files[0] != NULL && files[1] != NULL);
    const int kept_out = capture(STDOUT_FILENO, files[0]);
    const int kept_err = capture(STDERR_FILENO, files[1]);
    const int code = gt_cmd_dispatch(argc, argv);
    release(STDOUT_FILENO, kept_out, files[0], out, sizeof out);
    release(STDERR_FILENO, kept_err, files[1], talk, sizeof talk);
    return code;
}

static void says(const char *line, const char *const *parts) {
    if (gemmtune(line) != GT_EXIT_OK)
        fail_msg("%s: %s", line, talk);
    const char *at = out;
    for (; *parts != NULL; parts++) { /* in this order */
        const char *found = strstr(at, *parts);
        if (found == NULL)
            fail_msg("%s: no \"%s\" (in order) in:\n%s", line, *parts, out);
        at = found + strlen(*parts);
    }
}

#define SAYS(line, ...) says(line, (const char *const[]){__VA_ARGS__, NULL})

static int make(void **state) {
    const char *tmp = getenv("TMPDIR");
    (void)state;
    (void)snprintf(folder, sizeof folder, "%s/gt-read-XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(folder) == NULL)
        return -1;
    make_databases();
    return 0;
}

static int unmake(void **state) {
    char command[2 * PATH_SIZE];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* ---- tests ---- */

static void test_list(void **state) {
    (void)state;
    SAYS("list --db $/small.db", "problem", "f32-nn-64x64x64", "nvidia-geforce-gtx-1050-",
         "TILE_WIDTH=8 PAD=0 DOUBLE=0", "2 us", "262.1", "verified", "f32-nn-99x99x99");
    SAYS("list --db $/small.db --json",
         "[\n  {\"problem\": \"f32-nn-64x64x64\", \"device\": ", "\"family\": \"tile\"",
         "\"median_ns\": 2000,", "\"gflops\": 262.1", "]\n");
    SAYS("list --db $/small.db --csv --device 1050",
         "problem,device,family,point,median_ns,");
    assert_int_equal(gemmtune("list --db $/small.db --device 1080"), GT_EXIT_USAGE);
    assert_non_null(strstr(talk, "no device '1080' in the database"));
}

static void test_show(void **state) {
    (void)state;
    SAYS("show f32-nn-64x64x64 --db $/small.db", "TILE_WIDTH=8 PAD=0 DOUBLE=0", "2 us",
         "TILE_WIDTH=16", "TILE_WIDTH=32", "9 us", "\ncompile (2)\n",
         "tile TILE_WIDTH=4 PAD=0 DOUBLE=0\n    no such name\n"
         "    gemmtune trial f32-nn-64x64x64 --device nvidia-geforce-gtx-1050-",
         " --family tile --point \"TILE_WIDTH=4 PAD=0 DOUBLE=0\"\n", "\ntimeout (1)\n",
         "too slow");
    SAYS("show f32-nn-64x64x64 --db $/small.db --limit 1", "TILE_WIDTH=8",
         "and 2 slower ones");
    assert_null(strstr(out, "TILE_WIDTH=16"));
    SAYS("show f32-nn-64x64x64 --db $/small.db --json", "\"outcome\": \"correct\"",
         "\"median_ns\": 2000",
         "\"outcome\": \"compile\", \"winner\": false, \"final_ns\": null, \"median_ns\": "
         "null",
         "\"error\": \"no such name\", \"command\": \"gemmtune trial f32-nn-64x64x64 "
         "--device ");
    SAYS("show f32-nn-99x99x99 --db $/small.db", "TILE_WIDTH=8",
         "5 us"); /* a record only */
    assert_int_equal(gemmtune("show f32-nn-1x1x1 --db $/small.db"), GT_EXIT_FAILURE);
    assert_string_equal(out, "");
    assert_non_null(strstr(talk, "f32-nn-1x1x1 has not been tried"));
    assert_int_equal(gemmtune("show f32 --db $/small.db"), GT_EXIT_INPUT);
}

static void test_compare(void **state) {
    (void)state;
    SAYS("compare 1050 1080 --db $/small.db --db $/large.db", "A  NVIDIA GeForce GTX 1050",
         "B  NVIDIA GeForce GTX 1080", "f32-nn-64x64x64", "tuned", "2 us", "1 us", "262.1",
         "524.3", "2  TILE_WIDTH 8->32", "tile TILE_WIDTH=16 PAD=0 DOUBLE=0", "1.1  ",
         "f32-nn-99x99x99", "published", "1 problem in common, 1 on A only, 0 on B only",
         "geometric mean of A/B: 2");
    SAYS("compare 1050 1080 --db $/small.db --db $/large.db --json",
         "{\"a\": {\"name\": ", "\"key\": \"nvidia-geforce-gtx-1050-",
         "\"common\": 1, \"geomean\": 2, \"predicted_geomean\": 3.45, \"best_geomean\": "
         "null, \"rows\": [",
         "\"source\": \"tuned\"", "\"a_ns\": 2000", "\"b_ns\": 1000", "\"ratio\": 2",
         "\"differs\": \"TILE_WIDTH 8->32\"", "\"shared_point\": \"TILE_WIDTH=16 ",
         "\"shared_slowdown\": 1.1", "\"source\": \"published\"",
         "\"title\": \"a course report");
    SAYS("compare 1080 1050 --db $/small.db --db $/large.db --csv", "problem,source,",
         "f32-nn-64x64x64,tuned,tile,TILE_WIDTH=32 PAD=0 DOUBLE=0,1000,");
    /* one side tuned, the other only published */
    SAYS("compare 1050 260 --db $/small.db",
         "B  NVIDIA GeForce GTX 260, published figures only",
         "0 problems in common, 2 on A only, 0 on B only");
    assert_int_equal(gemmtune("compare GTX 1050 --db $/small.db --db $/large.db"),
                     GT_EXIT_USAGE);
    assert_int_equal(gemmtune("compare 1050 4099 --db $/small.db"), GT_EXIT_USAGE);
    assert_non_null(strstr(talk, "no device '4099'"));
    assert_int_equal(gemmtune("compare 1050"), GT_EXIT_USAGE);
}

static void test_export_and_import(void **state) {
    (void)state;
    SAYS("export $/small.json --db $/small.db", "");
    SAYS("export - --db $/small.db --device 1050", "{\n", "\"devices\"", "\"records\"");
    SAYS("import $/small.json --db $/new.db", "file", "devices", "small.json", "1", "2",
         "0");
    SAYS("list --db $/new.db", "f32-nn-64x64x64", "imported");
    SAYS("import $/small.json --db $/new.db --json", "\"records\": 0"); /* nothing new */
    assert_int_equal(gemmtune("import $/small.db --db $/new.db"), GT_EXIT_INPUT);
    assert_int_equal(gemmtune("import $/none.json --db $/new.db"), GT_EXIT_INPUT);
    assert_int_equal(gemmtune("export $/no/where.json --db $/small.db"), GT_EXIT_FAILURE);
    assert_int_equal(gemmtune("export - --db $/small.db --device amd"), GT_EXIT_USAGE);
    assert_int_equal(gemmtune("import --db $/new.db"), GT_EXIT_USAGE);
}

static void test_merge(void **state) {
    (void)state;
    SAYS("merge $/small.db $/large.db --db $/both.db", "small.db", "large.db");
    SAYS("compare 1050 1080 --db $/both.db", "f32-nn-64x64x64", "TILE_WIDTH 8->32",
         "TILE_WIDTH=16");
    assert_int_equal(gemmtune("merge $/small.json --db $/both.db"), GT_EXIT_DATABASE);
    assert_int_equal(gemmtune("merge $/none.db --db $/both.db"), GT_EXIT_DATABASE);
}

static void test_doctor(void **state) {
    (void)state;
    SAYS("doctor --db $/small.db", "database", "ok", "schema", "version ", "checksums",
         "ok", "0 rows with a wrong checksum", "1 device, 2 records, 6 trials",
         "stale rows");
    SAYS("doctor --db $/small.db --json", "{\"check\": \"database\", \"state\": \"ok\"");
    assert_int_equal(gemmtune("doctor --db $/small.json"), GT_EXIT_DATABASE);
    assert_non_null(strstr(out, "bad"));
    assert_int_equal(gemmtune("doctor --db $/none.db"), GT_EXIT_DATABASE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),    cmocka_unit_test(test_show),
        cmocka_unit_test(test_compare), cmocka_unit_test(test_export_and_import),
        cmocka_unit_test(test_merge),   cmocka_unit_test(test_doctor),
    };
    return cmocka_run_group_tests(tests, make, unmake);
}
