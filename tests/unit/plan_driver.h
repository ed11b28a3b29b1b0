/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_driver.h - a made-up driver and a database for tests of plans. gt_driver_of,
 * gt_build, gt_build_find, gt_build_know, gt_build_keep, gt_build_keeps and gt_image_clear
 * below replace the library's.
 */
#ifndef GT_TESTS_UNIT_PLAN_DRIVER_H
#define GT_TESTS_UNIT_PLAN_DRIVER_H

#include "runtime/drivers/build.h"
#include "runtime/drivers/cuda_limits.h"
#include "runtime/drivers/stream_memory.h"
#include "runtime/exec/exec.h"

#include "core/embed.h"
#include "db/db.h"
#include "tests/unit/records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the driver ---- */

struct fake_kernel {
    struct gt_kernel head;
    bool vectors; /* built with 16-byte loads of A */
    const char *entry;
};

/* The arguments of this thread's last launch. */
static _Thread_local struct {
    int count;
    struct gt_launch launch;
    int64_t arg[2 * GT_ARGS_MAX + 32];
    int args;
    bool vectors;
    char entries[64];                     /* of all launches, each followed by a space */
    struct gt_launch each[GT_PASSES_MAX]; /* the first ones */
    char orders[128]; /* of all launches and marks: "0>1 1>" waits for nothing and gives an
                       * event 1, then waits for it */
    int events, released;
    bool unordered; /* the queue */
    int fails_at;   /* the launch of this number fails; 0: none */
} seen;

static int64_t buffer_bytes; /* of every buffer of OpenCL; 0: nobody knows */

/* Events are numbered from 1 on. seen.orders has the order, as far as it has room. */
static inline void note_order(struct gt_event_order order) {
    const size_t most = sizeof seen.orders - 1;
    size_t at = strlen(seen.orders);
    void *const *wait = order.wait;
    char word[32];
#define NOTE(...)                                                                          \
    do {                                                                                   \
        at += (size_t)snprintf(word, sizeof word, __VA_ARGS__);                            \
        if (at <= most)                                                                    \
            strcat(seen.orders, word);                                                     \
    } while (0)
    for (uint32_t i = 0; i < order.count; i++)
        NOTE("%s%d", i > 0 ? "," : "", (int)(intptr_t)wait[i]);
    NOTE("%s>", order.count == 0 ? "0" : "");
    if (order.event != NULL) {
        *(void **)order.event = (void *)(intptr_t)++seen.events;
        NOTE("%d", seen.events);
    }
    NOTE(" ");
#undef NOTE
}

static inline gt_status fake_mark(void *stream, struct gt_event_order order,
                                  struct gt_err *err) {
    (void)stream;
    (void)err;
    note_order(order);
    return GEMMTUNE_OK;
}

static inline int64_t fake_memory_bytes(const void *memory) {
    (void)memory;
    return buffer_bytes > 0 ? buffer_bytes : INT64_MAX;
}

static inline bool fake_is_unordered(void *stream) {
    (void)stream;
    return seen.unordered;
}

static inline void fake_release_event(void *event) {
    assert_int_equal((intptr_t)event, seen.released + 1); /* each once, in order */
    seen.released++;
}

static atomic_int builds, loaded, contexts;

/* Memory of streams: `memories` are there, `makes` were made. */
static atomic_int memories, makes;
static atomic_bool captured, no_memory; /* the next stream's */
static atomic_size_t made_bytes;        /* of the last one */

/* Sees each launch; NULL: nobody does. */
static void (*on_launch)(void *stream, const char *entry);

static const char *bad_source;    /* a build fails, if its source holds this */
static const char *cached_source; /* a source that holds this has an image in the cache */

static int64_t smem_max = 49152; /* of the next device */
static bool refuses_maps;        /* the driver accepts no tensor map */

/* With keeps_builds the cache also has the images that gt_build made. Without a folder a
 * plan compiles one kernel after another. While `gate` is closed, builds wait; `waiting`
 * counts them. */
static atomic_bool keeps_builds, gate_closed, has_no_folder = true;
static atomic_int waiting, kept_count;
static atomic_int compiles; /* builds of images that the cache did not have */
static _Atomic(uint64_t) kept[64];

/* FNV-1a. */
static inline uint64_t source_hash(const char *source) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *source != '\0'; source++)
        hash = (hash ^ (unsigned char)*source) * UINT64_C(0x100000001b3);
    return hash;
}

static inline bool is_kept(const char *source) {
    const uint64_t hash = source_hash(source);
    for (int i = 0; i < atomic_load(&kept_count); i++)
        if (atomic_load(&kept[i]) == hash)
            return true;
    return false;
}

static inline bool is_cached(const char *source) {
    return (cached_source != NULL && strstr(source, cached_source) != NULL) ||
           is_kept(source);
}

/* Two threads of a plan build at once. */
static inline void keep_build(const char *source) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    (void)pthread_mutex_lock(&lock);
    const int at = atomic_load(&kept_count);
    if (at < 64 && !is_kept(source)) {
        atomic_store(&kept[at], source_hash(source));
        atomic_store(&kept_count, at + 1);
    }
    (void)pthread_mutex_unlock(&lock);
}

static inline void nap(void) {
    const struct timespec time = {.tv_nsec = 100000};
    (void)nanosleep(&time, NULL);
}

static inline void wait_at_gate(void) {
    atomic_fetch_add(&waiting, 1);
    while (atomic_load(&gate_closed))
        nap();
    atomic_fetch_sub(&waiting, 1);
}

static inline gt_status fake_open(struct gt_gpu **out, const gemmtune_target *target,
                                  struct gt_err *err) {
    if (target->context == NULL)
        return gt_fail(err, GEMMTUNE_EDEVICE, "no context");
    *out = calloc(1, sizeof **out);
    assert_non_null(*out);
    (*out)->driver = gt_driver_of(target->backend);
    (*out)->device = (struct gt_device){.backend = target->backend,
                                        .name = "Fake",
                                        .arch = "sm_90",
                                        .cc = 90,
                                        .units = 4,
                                        .warp = 32,
                                        .max_threads = 1024,
                                        .regs_per_block = 65536,
                                        .smem_max = smem_max,
                                        .has_f64 = true};
    atomic_fetch_add(&contexts, 1);
    return GEMMTUNE_OK;
}

static inline void fake_close(struct gt_gpu *gpu) {
    atomic_fetch_sub(&contexts, 1);
    free(gpu);
}

static inline gt_status fake_load(struct gt_kernel **out, struct gt_gpu *gpu,
                                  struct gt_image *image, const char *source,
                                  const char *entry, const struct gt_launch *launch,
                                  struct gt_err *err) {
    (void)gpu;
    (void)image;
    (void)launch;
    (void)err;
    assert_string_equal(entry, "gemm");
    struct fake_kernel *k = calloc(1, sizeof *k);
    assert_non_null(k);
    k->vectors = strstr(source, "#define GT_VA 4\n") != NULL;
    k->entry = "gemm";
    *out = &k->head;
    atomic_fetch_add(&loaded, 1);
    return GEMMTUNE_OK;
}

static inline gt_status fake_load_also(struct gt_kernel **out, struct gt_gpu *gpu,
                                       const struct gt_kernel *kernel, const char *entry,
                                       const struct gt_launch *launch, struct gt_err *err) {
    (void)gpu;
    (void)launch;
    assert_string_equal(((const struct fake_kernel *)kernel)->entry, "gemm");
    *out = NULL;
    if (strcmp(entry, "nobody") == 0)
        return gt_fail(err, GEMMTUNE_EBUILD, "no kernel %s", entry);
    struct fake_kernel *k = calloc(1, sizeof *k);
    assert_non_null(k);
    k->entry = entry;
    *out = &k->head;
    atomic_fetch_add(&loaded, 1);
    return GEMMTUNE_OK;
}

static inline void fake_unload(struct gt_kernel *kernel) {
    atomic_fetch_sub(&loaded, 1);
    free(kernel);
}

static inline gt_status fake_encode_map(struct gt_tensor_map *out, const struct gt_gpu *gpu,
                                        const struct gt_tiling *tiling, void *memory,
                                        struct gt_err *err) {
    (void)gpu;
    (void)tiling;
    (void)memory;
    *out = (struct gt_tensor_map){0};
    return refuses_maps ? gt_fail(err, GEMMTUNE_EINVAL, "no map") : GEMMTUNE_OK;
}

static inline bool fake_identify(struct gt_stream_id *out, const struct gt_gpu *gpu,
                                 void *stream) {
    *out = (struct gt_stream_id){.handle = stream};
    return !gpu->driver->takes_events || !gpu->driver->is_unordered(stream);
}

static inline gt_status fake_make(void **memory, const struct gt_gpu *gpu, void *stream,
                                  size_t bytes, struct gt_err *err) {
    (void)gpu;
    (void)stream;
    *memory = NULL;
    if (atomic_load(&captured))
        return gt_fail(err, GEMMTUNE_EINVAL, "the stream is captured");
    const int number = atomic_fetch_add(&makes, 1) + 1;
    if (atomic_load(&no_memory))
        return gt_fail(err, GEMMTUNE_ENOMEM, "no room");
    atomic_fetch_add(&memories, 1);
    atomic_store(&made_bytes, bytes);
    *memory = (void *)((uintptr_t)number << 20);
    return GEMMTUNE_OK;
}

static inline void fake_release(const struct gt_gpu *gpu, void *stream, void *memory) {
    (void)gpu;
    (void)stream;
    assert_non_null(memory);
    atomic_fetch_sub(&memories, 1);
}

static const struct gt_stream_memory fake_stream_memory = {
    .identify = fake_identify, .make = fake_make, .release = fake_release};

static inline gt_status fake_launch(const struct gt_kernel *kernel,
                                    const struct gt_launch *launch,
                                    const struct gt_value_ref *args, int arg_count,
                                    void *stream, struct gt_event_order order,
                                    struct gt_err *err) {
    const struct fake_kernel *k = (const struct fake_kernel *)kernel;
    if (on_launch != NULL)
        on_launch(stream, k->entry);
    if (seen.count + 1 == seen.fails_at)
        return gt_fail(err, GEMMTUNE_EDEVICE, "the launch failed");
    note_order(order);
    if (seen.count < GT_PASSES_MAX)
        seen.each[seen.count] = *launch;
    seen.count++;
    if (strlen(seen.entries) + strlen(k->entry) + 2 < sizeof seen.entries) {
        strcat(seen.entries, k->entry);
        strcat(seen.entries, " ");
    }
    seen.vectors = k->vectors;
    seen.launch = *launch;
    seen.args = arg_count;
    for (int i = 0; i < arg_count; i++) {
        seen.arg[i] = 0;
        memcpy(&seen.arg[i], args[i].bytes, args[i].size); /* little-endian */
    }
    return GEMMTUNE_OK;
}

static const struct gt_driver fake[GT_BACKENDS] = {
    {.backend = GEMMTUNE_CUDA,
     .speaks_cuda = true,
     .pointers_are_addresses = true,
     .keeps_images = true,
     .compiles_apart = true,
     .open = fake_open,
     .close = fake_close,
     .load = fake_load,
     .load_also = fake_load_also,
     .unload = fake_unload,
     .check_map = gt_cuda_check_map,
     .encode_map = fake_encode_map,
     .launch = fake_launch,
     .stream_memory = &fake_stream_memory},
    {.backend = GEMMTUNE_OPENCL,
     .takes_events = true,
     .memory_bytes = fake_memory_bytes,
     .mark = fake_mark,
     .is_unordered = fake_is_unordered,
     .release_event = fake_release_event,
     .open = fake_open,
     .close = fake_close,
     .load = fake_load,
     .load_also = fake_load_also,
     .unload = fake_unload,
     .launch = fake_launch,
     .stream_memory = &fake_stream_memory},
};

const struct gt_driver *gt_driver_of(gemmtune_backend backend) {
    return (unsigned)backend < GT_BACKENDS ? &fake[backend] : NULL;
}

gt_status gt_build(struct gt_image *image, const struct gt_driver *driver,
                   const struct gt_device *device, const char *source,
                   struct gt_build_stats *stats, struct gt_err *err) {
    (void)driver;
    (void)device;
    atomic_fetch_add(&builds, 1);
    if (!is_cached(source)) {
        atomic_fetch_add(&compiles, 1);
        wait_at_gate();
    }
    image->log = strdup("the compiler's words");
    assert_non_null(image->log);
    image->registers = 40;
    stats->compile_ms = 1;
    if (bad_source != NULL && strstr(source, bad_source) != NULL)
        return gt_fail(err, GEMMTUNE_EBUILD, "line 1: no");
    image->bytes = strdup("image");
    if (atomic_load(&keeps_builds))
        keep_build(source);
    return GEMMTUNE_OK;
}

bool gt_build_find(struct gt_image *image, const struct gt_driver *driver,
                   const struct gt_device *device, const char *source) {
    (void)driver;
    (void)device;
    *image = (struct gt_image){.registers = -1, .spill_bytes = -1, .smem_bytes = -1};
    if (!is_cached(source))
        return false;
    image->log = strdup("the compiler's words");
    image->bytes = strdup("image");
    image->registers = 40;
    return true;
}

void gt_build_keep(struct gt_image *image, const struct gt_kernel *kernel,
                   const struct gt_device *device, const char *source) {
    (void)image;
    (void)kernel;
    (void)device;
    (void)source;
    fail_msg("no driver here compiles while it loads");
}

void gt_build_know(const struct gt_driver *driver, const struct gt_device *device) {
    (void)driver;
    (void)device;
}

bool gt_build_keeps(const struct gt_driver *driver) {
    return driver->keeps_images && !atomic_load(&has_no_folder);
}

void gt_image_clear(struct gt_image *image) {
    free(image->bytes);
    free(image->log);
    *image = (struct gt_image){0};
}

/* ---- a database that names the points ---- */

static char db_path[512];

static char key[GT_DEVICE_KEY_MAX];

/* One record: the problem's winner is the family's point. */
static inline void put_record(struct gt_db *db, const char *problem, const char *family,
                              const char *hash, const char *point) {
    struct gt_err err = {""};
    const struct gt_record_row row = {.subject = {key, problem, family, hash, point},
                                      .verified = true,
                                      .time = {.median_ns = 7000,
                                               .low_ns = 6900,
                                               .high_ns = 7100,
                                               .samples = 9,
                                               .launches = 1},
                                      .provenance = "local"};
    (void)put_local_records(db, key, problem, &row, 1, &err);
    assert_string_equal(err.line, "");
}

/* The records of a backend's device. */
static inline bool put_records(struct gt_db *db, gemmtune_backend backend,
                               const char *hash) {
    static const char wide[] = "BM=64 BN=64 BK=8 THREADS=128 OWN=1 TM=4 VA=4 VB=4 PAD=4 "
                               "DOUBLE=1 MINB=1 GROUP=4";
    const gemmtune_target target = {
        .struct_size = sizeof target, .backend = backend, .context = &builds};
    const struct gt_run_info info = {"0", "driver", "compiler", "", 1};
    struct gt_gpu *gpu;
    struct gt_err err = {""};
    int64_t run;
    if (fake_open(&gpu, &target, &err) != GEMMTUNE_OK)
        return false;
    gt_device_key(&gpu->device, key);
    const bool begun = gt_db_run_begin(&run, db, &gpu->device, &info, &err) == GEMMTUNE_OK;
    if (begun) {
        put_record(db, "f32-nn-512x512x512", "block", hash, wide);
        put_record(db, "f32-nn-1024x1024x1024", "block", hash, wide);
        (void)gt_db_run_end(db, run, "done", &err);
    }
    fake_close(gpu);
    return begun;
}

/* The block family with vector loads of 16 bytes, tuned for 512 and 1024 cubes. */
static inline int setup(void **state) {
    const char *tmp = getenv("TMPDIR");
    struct gt_families *families;
    struct gt_db *db;
    struct gt_err err = {""};
    (void)state;
    (void)snprintf(db_path, sizeof db_path, "%s/gt-plan-%ld.db", tmp != NULL ? tmp : "/tmp",
                   (long)getpid());
    if (gt_families_create(&families, &err) != GEMMTUNE_OK ||
        gt_db_open(&db, db_path, GT_DB_WRITE, &err) != GEMMTUNE_OK)
        return 1;
    const char *hash = gt_families_find(families, "block")->hash;
    const bool done =
        put_records(db, GEMMTUNE_OPENCL, hash) && put_records(db, GEMMTUNE_CUDA, hash);
    gt_db_close(db);
    gt_families_destroy(families);
    return done ? 0 : 1;
}

static inline int teardown(void **state) {
    (void)state;
    return remove(db_path);
}

static inline gemmtune_ctx *opened(gemmtune_backend backend) {
    const gemmtune_target target = {
        .struct_size = sizeof target, .backend = backend, .context = &builds};
    gemmtune_ctx *ctx;
    assert_int_equal(gemmtune_open(&ctx, db_path, &target), GEMMTUNE_OK);
    builds = compiles = 0;
    seen.count = 0;
    return ctx;
}

/* Nothing of a context or a kernel is left over. */
static inline void close_all(gemmtune_ctx *ctx) {
    gemmtune_close(ctx);
    assert_int_equal(loaded, 0);
    assert_int_equal(memories, 0);
    assert_int_equal(contexts, 0);
}

static inline gemmtune_plan *planned(gemmtune_ctx *ctx, const char *name) {
    gemmtune_problem p;
    gemmtune_plan *plan;
    assert_int_equal(gemmtune_problem_parse(&p, name), GEMMTUNE_OK);
    const gemmtune_status status =
        gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, 0);
    assert_string_equal(gemmtune_errmsg(), "");
    assert_int_equal(status, GEMMTUNE_OK);
    return plan;
}

static inline void *at(uintptr_t address) {
    return (void *)address;
}

/* Kernel arguments of the built-in families: m n k alpha a lda b ldb beta c ldc. */
enum { M, N, K, ALPHA, A, LDA, B, LDB, BETA, C, LDC };

static inline float as_float(int64_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static const float zero = 0, one = 1, two = 2, minus_zero = -0.0f;

/* ---- several passes ---- */

enum { MANY_K, MANY_ALPHA, MANY_A, MANY_B, MANY_BETA, MANY_C, MANY_WORKSPACE };

/* ---- the cache of the one-call form ---- */

enum { THREADS = 8, SHAPES = 100, ROUNDS = 3 };

#endif
