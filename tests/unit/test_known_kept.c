/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_known_kept.c - records that are kept in the cache folder: the same array as out of
 * the database, without reading its rows, and never the array of another state.
 *
 * known_kept.c is compiled here with readers that count, and that let a writer in between.
 */
#include "runtime/lookup/known.h"

#include <stdbool.h>

static int reads;           /* of a database's rows */
static void (*after)(void); /* called after a read; NULL: nothing */

static gt_status counted_read(struct gt_known **out, size_t *count,
                              struct gt_known_left *left, struct gt_db *db,
                              const struct gt_families *families, const char *arch,
                              struct gt_err *err) {
    const gt_status status = gt_known_read(out, count, left, db, families, arch, err);
    reads++;
    if (after != NULL)
        after();
    return status;
}

static gt_status counted_load(struct gt_known **out, size_t *count, int64_t *stale,
                              struct gt_db *db, const struct gt_families *families,
                              const char *arch, struct gt_err *err) {
    reads++;
    return gt_known_load(out, count, stale, db, families, arch, err);
}

#define gt_known_read counted_read
#define gt_known_load counted_load
#include "runtime/lookup/known_kept.c"
#undef gt_known_read
#undef gt_known_load

#include "db/internal.h"
#include "tests/unit/match_families.h"

#include <dirent.h>
#include <fcntl.h>

enum { RECORDS = 400, EXTRAS = 5 }; /* problems with a record each, and other kernels */

static char home[600];             /* of one test */
static char path[640], cache[640]; /* the database and the cache folder in it */
static int stale_lines, wrong_lines;

/* ---- a database ---------------------------------------------------------------------- */

static void count_line(void *user, gemmtune_log_level level, const char *line) {
    (void)user;
    (void)level;
    stale_lines += strstr(line, "another source of their family") != NULL;
    wrong_lines += strstr(line, "left out: ") != NULL || strstr(line, "skipped") != NULL;
}

static void in_home(char file[700], const char *name) {
    (void)snprintf(file, 700, "%s/%s", home, name);
}

static struct gt_db *open_to_write(const char *file) {
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    const gt_status status = gt_db_open(&db, file, GT_DB_WRITE, &err);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
    return db;
}

static int64_t begin_run(char key[GT_DEVICE_KEY_MAX], struct gt_db *db, const char *name,
                         const char *arch) {
    const struct gt_run_info info = {"0", "driver", "compiler", "", 1};
    struct gt_device d = card;
    int64_t run = 0;
    (void)snprintf(d.name, sizeof d.name, "%s", name);
    (void)snprintf(d.arch, sizeof d.arch, "%s", arch);
    gt_device_key(&d, key);
    assert_int_equal(gt_db_run_begin(&run, db, &d, &info, NULL), GEMMTUNE_OK);
    return run;
}

static const struct gt_measurement timed = {.median_ns = 5000.25,
                                            .low_ns = 4900,
                                            .high_ns = 5100,
                                            .samples = 1,
                                            .launches = 1,
                                            .sample_ns = {5000}};

static void put_record(struct gt_db *db, const char *key, const char *problem,
                       const char *family, const char *hash, const char *point,
                       bool verified) {
    struct gt_stored_record r = {.row = {.subject = {key, problem, family, hash, point},
                                         .verified = verified,
                                         .time = timed,
                                         .provenance = verified ? GT_LOCAL : "elsewhere",
                                         .measured_ms = 1}};
    struct gt_err err = {""};
    int64_t subject = 0;
    memset(r.row.time.sample_ns, 0, sizeof r.row.time.sample_ns);
    (void)gt_subject_put(&subject, db, &r.row.subject, &err);
    assert_string_equal(err.line, "");
    (void)gt_row_put(NULL, db, &gt_record_table, subject, &r, &err);
    assert_string_equal(err.line, "");
}

static const char *hash_of(const char *family) {
    return gt_families_find(families, family)->hash;
}

static void put_problems(struct gt_db *db, const char *key, int count) {
    for (int i = 0; i < count; i++) {
        char problem[64];
        (void)snprintf(problem, sizeof problem, "i32-nn-%dx512x512", 1000 + i);
        put_record(db, key, problem, "deep", hash_of("deep"), "BM=32 BN=32 SPLIT=1", true);
    }
}

/* A trial with a tile that no record has. */
static void put_runner_up(struct gt_db *db, int64_t run, const char *key) {
    const struct gt_db_subject subject = {key, "i32-nn-1000x512x512", "deep",
                                          hash_of("deep"), "BM=128 BN=32 SPLIT=64"};
    const struct gt_trial_row trial = {.outcome = GT_CORRECT, .time = timed, .error = ""};
    bool claimed = false;
    int64_t id = 0;
    assert_int_equal(gt_db_trial_begin(&id, &claimed, db, run, &subject, NULL),
                     GEMMTUNE_OK);
    assert_int_equal(gt_db_trial_end(db, id, &trial, NULL), GEMMTUNE_OK);
}

/* Two devices of sm_90 and one of sm_80. */
static void fill_database(const char *file, int problems) {
    static const char biased[] = "f32-nn-512x512x512,epi=bias_relu";
    char a[GT_DEVICE_KEY_MAX], b[GT_DEVICE_KEY_MAX], old[GT_DEVICE_KEY_MAX];
    struct gt_db *db = open_to_write(file);
    (void)begin_run(old, db, "Old", "sm_80");
    (void)begin_run(b, db, "Card B", "sm_90");
    const int64_t run = begin_run(a, db, "Card A", "sm_90");
    assert_int_equal(gt_txn_begin(db, NULL), GEMMTUNE_OK);
    put_problems(db, a, problems);
    put_record(db, a, biased, "choosy", hash_of("choosy"), "V=4 W=8", true);
    put_record(db, a, biased, "choosy", hash_of("choosy"), "V=2 W=64", false);
    put_record(db, b, biased, "plain", hash_of("plain"), "", true);
    put_record(db, b, "f64-nn-1x2x3,batch=4,beta", "plain", hash_of("plain"), "", true);
    put_record(db, b, "f64-tn-1x2x3", "plain", hash_of("deep"), "", true); /* stale */
    put_record(db, old, "f64-nn-1x2x3", "plain", hash_of("plain"), "", true);
    assert_int_equal(gt_txn_end(db, GEMMTUNE_OK, NULL), GEMMTUNE_OK);
    put_runner_up(db, run, a);
    gt_db_close(db);
}

static void change(const char *sql) {
    struct gt_db *db = open_to_write(path);
    struct gt_err err = {""};
    (void)gt_sql_script(db, sql, &err);
    assert_string_equal(err.line, "");
    gt_db_close(db);
}

/* A change of a row that no array depends on. */
static const char harmless[] = "UPDATE run SET how = how || 'x'";

/* ---- snapshots ----------------------------------------------------------------------- */

struct seen {
    struct gt_known *known;
    size_t count;
    int64_t stale;
};

typedef gt_status (*load_fn)(struct gt_known **out, size_t *count, int64_t *stale,
                             struct gt_db *db, const struct gt_families *families,
                             const char *arch, struct gt_err *err);

static struct seen see(load_fn load, const char *file, const struct gt_families *list,
                       const char *arch) {
    struct seen s = {NULL, 0, 0};
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    assert_int_equal(gt_db_open(&db, file, GT_DB_READ, &err), GEMMTUNE_OK);
    assert_int_equal(load(&s.known, &s.count, &s.stale, db, list, arch, &err), GEMMTUNE_OK);
    gt_db_close(db);
    return s;
}

static void assert_same_kernel(const struct gt_known *x, const struct gt_known *y) {
    /* A canonical epilogue has one address, so the whole struct is compared. */
    assert_memory_equal(&x->problem, &y->problem, sizeof x->problem);
    assert_memory_equal(x->problem_name, y->problem_name, sizeof x->problem_name);
    assert_memory_equal(x->device_key, y->device_key, sizeof x->device_key);
    assert_memory_equal(x->arch, y->arch, sizeof x->arch);
    assert_ptr_equal(x->family, y->family);
    assert_memory_equal(x->values, y->values, sizeof x->values);
    assert_int_equal(x->rank, y->rank);
    assert_int_equal(x->verified, y->verified);
    assert_memory_equal(&x->median_ns, &y->median_ns, sizeof x->median_ns);
    assert_memory_equal(x->tile, y->tile, sizeof x->tile);
}

static void assert_same(const struct seen *x, const struct seen *y) {
    assert_int_equal(x->count, y->count);
    assert_int_equal(x->stale, y->stale);
    for (size_t i = 0; i < x->count; i++)
        assert_same_kernel(&x->known[i], &y->known[i]);
}

enum from { FROM_KEPT, FROM_ROWS };

/* Opens the file, and expects what is in it. */
static void expect_of(const char *file, const struct gt_families *list, const char *arch,
                      enum from from) {
    const int before = reads;
    struct seen s = see(gt_known_load_kept, file, list, arch);
    assert_int_equal(reads - before, from == FROM_ROWS);
    struct seen truth = see(gt_known_load, file, list, arch);
    assert_same(&s, &truth);
    free(s.known);
    free(truth.known);
}

static void expect(enum from from) {
    expect_of(path, families, "sm_90", from);
}

/* ---- the cache folder ---------------------------------------------------------------- */

/* The number of kept files, and the path of one. */
static int kept_files(char file[1024]) {
    DIR *dir = opendir(cache);
    int count = 0;
    if (dir == NULL)
        return 0;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;)
        if (e->d_name[0] != '.') {
            assert_non_null(strstr(e->d_name, GT_CACHE_KNOWN));
            (void)snprintf(file, 1024, "%s/%.200s", cache, e->d_name);
            count++;
        }
    (void)closedir(dir);
    return count;
}

static const char *the_kept_file(void) {
    static char file[1024];
    assert_int_equal(kept_files(file), 1);
    return file;
}

enum { FILE_MAX = 1 << 20 };

static size_t load_file(unsigned char to[FILE_MAX], const char *file) {
    FILE *f = fopen(file, "rb");
    assert_non_null(f);
    const size_t size = fread(to, 1, FILE_MAX, f);
    assert_int_equal(fclose(f), 0);
    assert_true(size < FILE_MAX);
    return size;
}

static void save_file(const char *file, const unsigned char *from, size_t size) {
    FILE *f = fopen(file, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(from, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static int begin(void **state) {
    (void)state;
    (void)snprintf(home, sizeof home, "%s/home-XXXXXX", folder);
    if (mkdtemp(home) == NULL)
        return 1;
    (void)snprintf(path, sizeof path, "%s/test.db", home);
    (void)snprintf(cache, sizeof cache, "%s/cache", home);
    gemmtune_set_log(count_line, NULL, GEMMTUNE_LOG_INFO);
    after = NULL;
    reads = stale_lines = wrong_lines = 0;
    fill_database(path, RECORDS);
    return setenv("GEMMTUNE_CACHE_DIR", cache, 1);
}

static int end(void **state) {
    char command[700];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -rf %s", home);
    return system(command);
}

/* ---- kept and found ------------------------------------------------------------------ */

/* `expect` reads the rows once more itself, with the line about stale records. */
static void test_second_open(void **state) {
    struct stat s;
    (void)state;
    expect(FROM_ROWS);
    assert_int_equal(stale_lines, 2);
    assert_int_equal(stat(the_kept_file(), &s), 0);
    assert_int_equal(s.st_mode & 0777, 0600);
    assert_in_range(s.st_size, 1, 400 * (RECORDS + EXTRAS));
    expect(FROM_KEPT);
    assert_int_equal(stale_lines, 4);
    assert_int_equal(wrong_lines, 0);
}

/* The database has all that an array may have. */
static void test_all_kinds(void **state) {
    int epilogues = 0, unverified = 0, tiles = 0, ranked = 0;
    (void)state;
    expect(FROM_ROWS);
    struct seen s = see(gt_known_load_kept, path, families, "sm_90");
    assert_int_equal(reads, 1);
    assert_int_equal(s.count, RECORDS + EXTRAS);
    assert_int_equal(s.stale, 1);
    for (size_t i = 0; i < s.count; i++) {
        const struct gt_known *k = &s.known[i];
        epilogues +=
            k->problem.epilogue != NULL && strcmp(k->problem.epilogue, "bias_relu") == 0;
        unverified += !k->verified;
        tiles += k->tile[0] != 0;
        ranked += k->rank > 0;
    }
    assert_int_equal(epilogues, 3);
    assert_int_equal(unverified, 1);
    assert_int_equal(tiles, 2);
    assert_int_equal(ranked, 2);
    free(s.known);
}

/* A link leads to the same file; a copy is another database. */
static void test_other_paths(void **state) {
    static unsigned char bytes[FILE_MAX];
    char file[1024], link[700], copy[700];
    (void)state;
    in_home(link, "link.db");
    in_home(copy, "copy.db");
    expect(FROM_ROWS);
    assert_int_equal(symlink(path, link), 0);
    expect_of(link, families, "sm_90", FROM_KEPT);
    save_file(copy, bytes, load_file(bytes, path));
    expect_of(copy, families, "sm_90", FROM_ROWS);
    expect_of(copy, families, "sm_90", FROM_KEPT);
    expect(FROM_KEPT);
    assert_int_equal(kept_files(file), 2);
}

/* ---- another key --------------------------------------------------------------------- */

static void test_changed_database(void **state) {
    (void)state;
    expect(FROM_ROWS);
    for (int i = 0; i < 3; i++) {
        char key[GT_DEVICE_KEY_MAX], problem[64];
        struct gt_db *db = open_to_write(path);
        (void)begin_run(key, db, "Card A", "sm_90");
        (void)snprintf(problem, sizeof problem, "i32-nt-%dx1x1", i + 1);
        put_record(db, key, problem, "deep", hash_of("deep"), "BM=32 BN=32 SPLIT=8", true);
        gt_db_close(db);
        expect(FROM_ROWS);
        expect(FROM_KEPT);
        (void)the_kept_file(); /* the new file has replaced the old one */
    }
}

static void test_replaced_database(void **state) {
    char other[700], aside[700];
    (void)state;
    in_home(other, "other.db");
    in_home(aside, "aside.db");
    expect(FROM_ROWS);
    fill_database(other, RECORDS - 1);
    assert_int_equal(rename(path, aside), 0);
    assert_int_equal(rename(other, path), 0);
    expect(FROM_ROWS);
    expect(FROM_KEPT);
}

static void test_other_architecture(void **state) {
    char file[1024];
    (void)state;
    expect(FROM_ROWS);
    expect_of(path, families, "sm_80", FROM_ROWS);
    expect_of(path, families, "sm_80", FROM_KEPT);
    expect_of(path, families, "sm_70", FROM_ROWS); /* which has no record */
    expect_of(path, families, "sm_70", FROM_KEPT);
    expect(FROM_KEPT);
    assert_int_equal(kept_files(file), 3);
}

static void test_other_families(void **state) {
    struct gt_families *fewer = NULL;
    (void)state;
    assert_int_equal(gt_families_create(&fewer, NULL), GEMMTUNE_OK);
    expect(FROM_ROWS);
    expect_of(path, fewer, "sm_90", FROM_ROWS);
    expect_of(path, fewer, "sm_90", FROM_KEPT); /* nothing but stale records */
    expect(FROM_ROWS);
    gt_families_destroy(fewer);
}

/* ---- files that are not ours --------------------------------------------------------- */

static void test_damaged_file(void **state) {
    static unsigned char bytes[FILE_MAX];
    (void)state;
    expect(FROM_ROWS);
    const size_t size = load_file(bytes, the_kept_file());
    for (size_t i = 0; i < size; i += 1 + i / 3) {
        bytes[i] ^= 0x10;
        save_file(the_kept_file(), bytes, size);
        expect(FROM_ROWS);
        expect(FROM_KEPT);
        bytes[i] ^= 0x10;
    }
}

static void test_cut_file(void **state) {
    static unsigned char bytes[FILE_MAX];
    (void)state;
    expect(FROM_ROWS);
    const size_t size = load_file(bytes, the_kept_file());
    for (size_t left = 0; left < size; left += 1 + left / 2) {
        save_file(the_kept_file(), bytes, left);
        expect(FROM_ROWS);
    }
    save_file(the_kept_file(), bytes, size + 1); /* a byte too many */
    expect(FROM_ROWS);
    expect(FROM_KEPT);
}

/* The file of another architecture under this one's name, one that others may write, and a
 * link. */
static void test_foreign_file(void **state) {
    char kept[1024], other[700];
    (void)state;
    in_home(other, "other");
    expect_of(path, families, "sm_80", FROM_ROWS);
    assert_int_equal(rename(the_kept_file(), other), 0);
    expect(FROM_ROWS);
    (void)snprintf(kept, sizeof kept, "%s", the_kept_file());
    assert_int_equal(rename(other, kept), 0);
    expect(FROM_ROWS);
    expect(FROM_KEPT);
    assert_int_equal(chmod(kept, 0622), 0);
    expect(FROM_ROWS);
    expect(FROM_KEPT);
    assert_int_equal(rename(kept, other), 0);
    assert_int_equal(symlink(other, kept), 0);
    expect(FROM_ROWS);
    expect(FROM_KEPT);
}

/* Bytes that no digest has passed: refused, or taken for an array, but no crash. */
static void test_garbage(void **state) {
    char *bytes = NULL;
    size_t size = 0;
    uint32_t x = 1;
    int refused = 0;
    (void)state;
    struct seen s = see(gt_known_load, path, families, "sm_90");
    assert_true(gt_known_pack(&bytes, &size, 1, s.known, s.count, families));
    for (int i = 0; i < 5000; i++) {
        struct gt_known *known = NULL;
        char *copy = malloc(size); /* so that a sanitizer sees where it ends */
        assert_non_null(copy);
        memcpy(copy, bytes + 1, size - 1);
        for (int changes = i % 4; changes >= 0; changes--) {
            x = x * 1664525 + 1013904223; /* of Numerical Recipes */
            copy[(x >> 8) % (i % 2 != 0 ? 200 : size - 1)] = (char)(x >> 3);
        }
        refused += !gt_known_unpack(&known, s.count, copy, size - 1, families, "sm_90");
        for (size_t j = 0; known != NULL && j < s.count; j++)
            assert_int_equal(gt_values_check(known[j].family, known[j].values, NULL),
                             GEMMTUNE_OK);
        free(known);
        free(copy);
    }
    assert_in_range(refused, 100, 5000);
    free(bytes);
    free(s.known);
}

/* No part of the bytes is taken for all kernels. */
static void test_parts(void **state) {
    struct gt_known *known = NULL;
    char *bytes = NULL;
    size_t size = 0;
    (void)state;
    struct seen s = see(gt_known_load, path, families, "sm_90");
    assert_true(gt_known_pack(&bytes, &size, 1, s.known, 3, families));
    for (size_t part = 0; part < size - 1; part++) {
        char *copy = malloc(part + 1);
        assert_non_null(copy);
        memcpy(copy, bytes + 1, part);
        assert_false(gt_known_unpack(&known, 3, copy, part, families, "sm_90"));
        free(copy);
    }
    assert_true(gt_known_unpack(&known, 3, bytes + 1, size - 1, families, "sm_90"));
    free(known);
    assert_false(gt_known_unpack(&known, SIZE_MAX, bytes + 1, size - 1, families, "sm_90"));
    assert_false(gt_known_unpack(&known, 3, bytes + 1, size - 1, families,
                                 "an architecture with a long name"));
    free(bytes);
    free(s.known);
}

/* ---- what is not kept ---------------------------------------------------------------- */

/* SQLite reads past a journal that begins with a zero: no process died. */
static void test_journal(void **state) {
    static const unsigned char nothing[512];
    char journal[700], file[1024];
    (void)state;
    in_home(journal, "test.db-journal");
    save_file(journal, nothing, sizeof nothing);
    expect(FROM_ROWS);
    expect(FROM_ROWS);
    assert_int_equal(kept_files(file), 0);
    assert_int_equal(remove(journal), 0);
    expect(FROM_ROWS);
    expect(FROM_KEPT);
    save_file(journal, nothing, sizeof nothing);
    expect(FROM_ROWS);
    assert_int_equal(remove(journal), 0);
    expect(FROM_KEPT);
}

/* The journal of a process that died is still an error. */
static void test_hot_journal(void **state) {
    static const unsigned char journal[512] = {0xd9, 0xd5, 0x05, 0xf9,
                                               0x20, 0xa1, 0x63, 0xd7};
    char file[700];
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    (void)state;
    in_home(file, "test.db-journal");
    expect(FROM_ROWS);
    save_file(file, journal, sizeof journal);
    assert_int_equal(gt_db_open(&db, path, GT_DB_READ, &err), GEMMTUNE_EIO);
}

static void test_state(void **state) {
    struct gt_db_state before, s;
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    char wal[700], aside[700];
    (void)state;
    in_home(wal, "test.db-wal");
    in_home(aside, "aside.db");
    assert_int_equal(gt_db_open(&db, path, GT_DB_READ, &err), GEMMTUNE_OK);
    assert_true(gt_db_state(&before, db));
    assert_true(gt_db_state(&s, db));
    assert_string_equal(s.digest, before.digest);
    assert_true(s.bytes == before.bytes && s.bytes > LEAST_DATABASE);
    change(harmless);
    assert_true(gt_db_state(&s, db));
    assert_string_not_equal(s.digest, before.digest);
    save_file(wal, (const unsigned char *)"", 0);
    assert_false(gt_db_state(&s, db));
    assert_int_equal(remove(wal), 0);
    assert_true(gt_db_state(&s, db));
    assert_int_equal(rename(path, aside), 0);
    assert_false(gt_db_state(&s, db));
    fill_database(path, 1);
    assert_false(gt_db_state(&s, db));
    gt_db_close(db);
}

/* Lines about wrong rows come at every open; `expect` has one more of each. */
static void expect_lines(void) {
    char file[1024];
    for (int i = 1; i < 4; i++) {
        expect(FROM_ROWS);
        assert_int_equal(wrong_lines, 2 * i);
    }
    assert_int_equal(kept_files(file), 0);
}

static void test_damaged_row(void **state) {
    (void)state;
    change("UPDATE record SET median_ns = median_ns + 1 WHERE id = 7");
    expect_lines();
}

static void test_record_left_out(void **state) {
    char key[GT_DEVICE_KEY_MAX];
    struct gt_db *db = open_to_write(path);
    (void)state;
    (void)begin_run(key, db, "Card A", "sm_90");
    put_record(db, key, "f32-nn-8x8x8", "choosy", hash_of("choosy"), "V=3 W=8", true);
    gt_db_close(db);
    expect_lines();
}

static void write_between(void) {
    change(harmless);
}

static void test_written_meanwhile(void **state) {
    char file[1024];
    (void)state;
    after = write_between;
    expect(FROM_ROWS);
    assert_int_equal(kept_files(file), 0);
    after = NULL;
    expect(FROM_ROWS);
    expect(FROM_KEPT);
}

static void test_small_database(void **state) {
    char small[700];
    struct stat s;
    (void)state;
    in_home(small, "small.db");
    fill_database(small, 1);
    expect_of(small, families, "sm_90", FROM_ROWS);
    expect_of(small, families, "sm_90", FROM_ROWS);
    assert_int_equal(stat(cache, &s), -1); /* nor is a folder made for it */
}

static void test_no_folder(void **state) {
    (void)state;
    assert_int_equal(setenv("GEMMTUNE_CACHE_DIR", "", 1), 0);
    expect(FROM_ROWS);
    expect(FROM_ROWS);
    assert_int_equal(setenv("GEMMTUNE_CACHE_DIR", "/dev/null/none", 1), 0);
    expect(FROM_ROWS);
}

static void test_clear(void **state) {
    char file[1024];
    int64_t count = -1, bytes = -1, removed = -1;
    (void)state;
    expect(FROM_ROWS);
    assert_int_equal(gt_cache_stat(file, sizeof file, &count, &bytes, NULL), GEMMTUNE_OK);
    assert_true(count == 0 && bytes == 0);
    assert_int_equal(gt_cache_clear(&removed, NULL), GEMMTUNE_OK);
    assert_int_equal(removed, 0);
    assert_int_equal(kept_files(file), 0);
    expect(FROM_ROWS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_second_open),
        TEST(test_all_kinds),
        TEST(test_other_paths),
        TEST(test_changed_database),
        TEST(test_replaced_database),
        TEST(test_other_architecture),
        TEST(test_other_families),
        TEST(test_damaged_file),
        TEST(test_cut_file),
        TEST(test_foreign_file),
        TEST(test_garbage),
        TEST(test_parts),
        TEST(test_journal),
        TEST(test_hot_journal),
        TEST(test_state),
        TEST(test_damaged_row),
        TEST(test_record_left_out),
        TEST(test_written_meanwhile),
        TEST(test_small_database),
        TEST(test_no_folder),
        TEST(test_clear),
    };
    return cmocka_run_group_tests_name("known_kept", tests, setup, teardown);
}
