/* SPDX-License-Identifier: Apache-2.0 */
/* test_db.h - a folder for databases, and rows to store. The test_db_*.c files share it. */
#ifndef GT_TESTS_UNIT_TEST_DB_H
#define GT_TESTS_UNIT_TEST_DB_H

#include "db/internal.h"
#include "tests/unit/made_up.h"
#include "tests/unit/records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATH_SIZE = 256, HASH_SIZE = 65 };

static char folder[PATH_SIZE / 2];
static struct gt_err err;

#define OK(call) assert_int_equal_line(call, __LINE__)

static inline void assert_int_equal_line(gt_status status, int line) {
    if (status != GEMMTUNE_OK)
        print_error("line %d: %s\n", line, err.line);
    assert_int_equal(status, GEMMTUNE_OK);
}

/* The folder is in memory if possible: thousands of commits would wait for a disk, and kill
 * -9 loses a process but not the kernel's data. TMPDIR=/var/tmp uses a disk. */
static inline int folder_make(void **state) {
    const char *tmp = getenv("TMPDIR");
    (void)state;
    if (tmp == NULL)
        tmp = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
    (void)snprintf(folder, sizeof folder, "%s/gt-db-XXXXXX", tmp);
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static inline int folder_remove(void **state) {
    char command[2 * PATH_SIZE];
    (void)state;
    (void)snprintf(command, sizeof command, "chmod -R u+w '%s' && rm -rf '%s'", folder,
                   folder);
    return system(command);
}

/* The path of a file in the folder. A few at a time may be in use. */
static inline const char *in_folder(const char *name) {
    static char paths[8][PATH_SIZE];
    static int next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, PATH_SIZE, "%s/%s", folder, name);
    return path;
}

static inline struct gt_device a_device(const char *name) {
    struct gt_device d =
        MADE_UP(.uuid = "GPU-1234", .pci = "0000:3b:00.0", .arch = "sm_90",
                .vendor = "NVIDIA \"quoted\"", .driver = "570.1", .compiler = "NVRTC 13.0",
                .cc = 90, .units = 132, .clock_mhz = 1980, .mem_clock_mhz = 3201,
                .bus_bits = 6144, .mem_bytes = INT64_C(150000000000),
                .max_alloc = INT64_C(150000000000), .l2_bytes = 62914560,
                .smem_max = 232448, .has_f64 = true);
    (void)snprintf(d.name, sizeof d.name, "%s", name);
    return d;
}

static inline const char *a_hash(void) {
    return "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
}

/* Subject number i: the texts live until the call after the next seven. */
static inline struct gt_db_subject a_subject(const char *device_key, int i) {
    static char points[8][32];
    static int next;
    char *point = points[next++ % 8];
    (void)snprintf(point, sizeof points[0], "BM=%d BN=64", i);
    return (struct gt_db_subject){device_key, "f32-nn-512x512x512", "tile", a_hash(),
                                  point};
}

static inline struct gt_trial_row a_result(int i) {
    struct gt_trial_row row = {
        .outcome = GT_CORRECT,
        .time = {.median_ns = 1000.1 + i,
                 .low_ns = 999.3 + i,
                 .high_ns = 1001.7 + i,
                 .samples = 3,
                 .launches = 4,
                 .dropped = 1,
                 .clock_mhz = 1755,
                 .sample_ns = {999.3F + (float)i, 1000.1F + (float)i, 1001.7F + (float)i}},
        .registers = 128,
        .spill_bytes = 16,
        .smem_bytes = 49152,
        .compile_ms = 812.625,
        .error = "",
    };
    return row;
}

static inline struct gt_record_row a_record(const char *device_key, int i, int rank) {
    const struct gt_trial_row t = a_result(i);
    struct gt_record_row row = {.subject = a_subject(device_key, i),
                                .rank = rank,
                                .tied = rank == 1,
                                .verified = true,
                                .time = t.time,
                                .baseline_ns = 123456.75};
    return row;
}

static inline struct gt_db *db_open(const char *path, enum gt_db_mode mode) {
    struct gt_db *db = NULL;
    OK(gt_db_open(&db, path, mode, &err));
    return db;
}

static inline int64_t run_begin(struct gt_db *db, const struct gt_device *device) {
    const struct gt_run_info info = {"0.1.0", "570.1", "NVRTC 13.0", "tune --device 0",
                                     UINT64_MAX - 1};
    int64_t run = 0;
    OK(gt_db_run_begin(&run, db, device, &info, &err));
    return run;
}

/* A trial from claim to end. */
static inline void try_one(struct gt_db *db, int64_t run, const char *device_key, int i) {
    const struct gt_db_subject subject = a_subject(device_key, i);
    const struct gt_trial_row row = a_result(i);
    int64_t id = 0;
    bool claimed = false;
    OK(gt_db_trial_begin(&id, &claimed, db, run, &subject, &err));
    assert_true(claimed);
    OK(gt_db_trial_end(db, id, &row, &err));
}

/* A database with `count` trials from `first` on, and its records: the first two of
 * them. */
static inline void fill(const char *path, const char *device_name, int first, int count) {
    const struct gt_device device = a_device(device_name);
    char key[GT_DEVICE_KEY_MAX];
    gt_device_key(&device, key);
    struct gt_db *db = db_open(path, GT_DB_WRITE);
    const int64_t run = run_begin(db, &device);
    for (int i = first; i < first + count; i++)
        try_one(db, run, key, i);
    const struct gt_record_row rows[] = {a_record(key, first, 0),
                                         a_record(key, first + 1, 1)};
    OK(put_local_records(db, key, rows[0].subject.problem, rows, 2, &err));
    gt_db_close(db);
}

/* Runs SQL like any other program: without defences and checks. */
static inline void tamper(const char *path, const char *sql) {
    sqlite3 *conn = NULL;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &conn), SQLITE_OK);
    if (sqlite3_exec(conn, sql, NULL, NULL, &message) != SQLITE_OK)
        print_error("%s: %s\n", sql, message);
    assert_null(message);
    (void)sqlite3_close(conn);
}

static inline unsigned char *file_read(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    (void)fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    (void)fseek(file, 0, SEEK_SET);
    unsigned char *data = malloc(*size + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *size, file), *size);
    (void)fclose(file);
    data[*size] = '\0';
    return data;
}

static inline void file_write(const char *path, const void *data, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

#endif
