/* SPDX-License-Identifier: Apache-2.0 */
/*
 * large_db.c - large databases, and how long the library takes over them.
 *
 *     large_db fill FILE FROM RECORDS   makes FILE: so many records of distinct problems
 *     large_db measure FILE [PROBLEM]   opens it as the library does, and makes plans
 *     large_db steps FILE               times the steps of gemmtune_open, in nine rounds
 *     large_db cost WORD COMMAND...     runs the command, without its output
 *
 * A made-up record is a real one of the database FROM with other sizes: its types, layout,
 * family and point stay. Seven of eight are of the CUDA driver's first device, the others
 * of three made-up devices of other architectures. Problems are drawn from a fixed seed, so
 * a file of one size always has the same records.
 *
 * `measure` opens the driver that GEMMTUNE_LIBCUDA names, so it needs no GPU:
 * tools/measure-large runs it with the fake driver. All times are processor time, not time
 * on the clock, since other programs may be using the cores. Memory is the most that was
 * resident.
 */
#include "db/internal.h"
#include "include/gemmtune.h"
#include "runtime/plan/context.h"
#include "runtime/drivers/cuda_api.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OTHERS = 3, OTHER_EVERY = 8, SIDES_MAX = 16, LOOKUPS = 2000 };

static _Noreturn void die(const char *what, const struct gt_err *err) {
    (void)fprintf(stderr, "large_db: %s: %s\n", what, err != NULL ? err->line : "failed");
    exit(1);
}

static void check(gt_status status, const char *what, const struct gt_err *err) {
    if (status != GEMMTUNE_OK)
        die(what, err);
}

/* ---- fill ------------------------------------------------------------------------ */

/* splitmix64, of Steele, Lea and Flood (2014). */
static uint64_t draw(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

struct model {
    struct gt_families *families;
    struct gt_stored_device device[1 + OTHERS];
    struct gt_stored_record *record;
    size_t count;
};

/* Keeps the first device of the driver. */
static void take_device(void *user, const struct gt_device *d) {
    struct model *m = user;
    if (m->device[0].key[0] != '\0')
        return;
    m->device[0].device = *d;
    gt_device_key(d, m->device[0].key);
}

static gt_status take_record(void *user, void *row, struct gt_err *err) {
    struct model *m = user;
    const struct gt_stored_record *from = row;
    struct gt_stored_record *grown = realloc(m->record, (m->count + 1) * sizeof *grown);
    if (grown == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    m->record = grown;
    struct gt_db_subject *s = &grown[m->count].row.subject;
    grown[m->count] = *from;
    /* The row's texts are only lent; these stay until the program ends. */
    s->problem = strdup(from->row.subject.problem);
    s->family = strdup(from->row.subject.family);
    s->family_hash = strdup(from->row.subject.family_hash);
    s->point = strdup(from->row.subject.point);
    m->count++;
    return GEMMTUNE_OK;
}

static void read_model(struct model *m, const char *from) {
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    char missing[GT_MISSING_MAX];
    check(gt_families_create(&m->families, &err), from, &err);
    check(gt_db_open(&db, from, GT_DB_READ, &err), from, &err);
    check(gt_driver_cuda.enumerate(take_device, m, missing, &err), "devices", &err);
    check(gt_db_each(db, &gt_record_table, NULL, NULL, take_record, m, &err), from, &err);
    gt_db_close(db);
    if (m->count == 0 || m->device[0].key[0] == '\0')
        die("no record or no device", NULL);
    for (int i = 1; i <= OTHERS; i++) {
        static const int cc[OTHERS] = {61, 80, 89};
        struct gt_device *d = &m->device[i].device;
        m->device[i] = m->device[0];
        (void)snprintf(d->name, sizeof d->name, "Made-up GPU %d", i);
        (void)snprintf(d->arch, sizeof d->arch, "sm_%d", d->cc = cc[i - 1]);
        gt_device_key(d, m->device[i].key);
    }
}

/* A side from 1 to 2^SIDES_MAX, log-uniform. */
static int64_t draw_side(uint64_t *state) {
    const uint64_t octave = draw(state) % SIDES_MAX;
    return (int64_t)((UINT64_C(1) << octave) + draw(state) % (UINT64_C(1) << octave));
}

/* A packed problem of the types and layout of `like`: "<types>-<layout>-<sizes>". */
static void draw_problem(char name[GT_PROBLEM_NAME_MAX], uint64_t *state,
                         const char *like) {
    const char *layout = strchr(like, '-') + 1;
    const int64_t m = draw_side(state), n = draw_side(state), k = draw_side(state);
    (void)snprintf(name, GT_PROBLEM_NAME_MAX, "%.*s-%" PRId64 "x%" PRId64 "x%" PRId64,
                   (int)(strchr(layout, '-') - like), like, m, n, k);
}

/* Whether the record's kernel may run the problem. */
static bool may_run(const struct model *m, const struct gt_stored_record *r,
                    const char *problem) {
    struct gt_point point;
    struct gt_fit fit;
    gemmtune_problem p;
    const struct gt_family *f = gt_families_find(m->families, r->row.subject.family);
    return f != NULL && gt_problem_from_name(&p, problem, NULL) == GEMMTUNE_OK &&
           gt_point_parse(&point, r->row.subject.point, NULL) == GEMMTUNE_OK &&
           gt_fit_point(&fit, f, &m->device[0].device, &p, &point, NULL) == GEMMTUNE_OK;
}

static void put_one(struct gt_db *db, struct model *m, uint64_t *state, int64_t i) {
    struct gt_stored_record r;
    char problem[GT_PROBLEM_NAME_MAX];
    struct gt_err err = {""};
    int64_t subject = 0;
    do {
        r = m->record[draw(state) % m->count];
        draw_problem(problem, state, r.row.subject.problem);
    } while (!may_run(m, &r, problem));
    r.row.subject.problem = problem;
    /* A record would not be read, if its family had changed since. */
    r.row.subject.family_hash = gt_families_find(m->families, r.row.subject.family)->hash;
    r.row.subject.device_key = m->device[i % OTHER_EVERY == 0 ? 1 + i % OTHERS : 0].key;
    r.row.rank = 0;
    r.row.provenance = GT_LOCAL;
    r.row.verified = true;
    check(gt_subject_put(&subject, db, &r.row.subject, &err), problem, &err);
    check(gt_row_put(NULL, db, &gt_record_table, subject, &r, &err), problem, &err);
}

static void fill(const char *path, const char *from, int64_t records) {
    static struct model m;
    struct gt_db *db = NULL;
    struct gt_err err = {""};
    uint64_t state = 20;
    read_model(&m, from);
    check(gt_db_open(&db, path, GT_DB_WRITE, &err), path, &err);
    check(gt_txn_begin(db, &err), path, &err);
    for (int i = 0; i <= OTHERS; i++)
        check(gt_row_put(NULL, db, &gt_device_table, 0, &m.device[i], &err), path, &err);
    for (int64_t i = 0; i < records; i++)
        put_one(db, &m, &state, i);
    check(gt_txn_end(db, GEMMTUNE_OK, &err), path, &err);
    gt_db_close(db);
    gt_families_destroy(m.families);
}

/* ---- measure --------------------------------------------------------------------- */

static double cpu_ms(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static double peak_mib(void) {
    struct rusage u;
    (void)getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_maxrss / 1024;
}

static void make_current(void) {
    struct gt_err err = {""};
    const struct gt_cuda *cu = gt_cuda_api(&err);
    CUcontext context;
    CUdevice device;
    if (cu == NULL || cu->cuInit(0) || cu->cuDeviceGet(&device, 0) ||
        cu->cuCtxCreate(&context, 0, device))
        die("no CUDA driver", &err);
}

/* Milliseconds of one lookup, without building: a problem that has a record, or one that
 * has none. */
static double lookup_ms(const gemmtune_ctx *ctx, bool recorded, int lookups) {
    uint64_t state = 7;
    const double begin = cpu_ms();
    for (int i = 0; i < lookups; i++) {
        struct gt_choice choice;
        gemmtune_problem p = ctx->known[draw(&state) % ctx->snapshot.count].problem;
        if (!recorded)
            p.m++;
        if (!recorded && p.trans_a == GEMMTUNE_TRANS)
            p.lda = p.m;
        const struct gt_query query = {.snapshot = &ctx->snapshot,
                                       .device = gt_ctx_device(ctx),
                                       .device_key = ctx->device_key,
                                       .problem = &p,
                                       .worst = GEMMTUNE_MATCH_DEFAULT,
                                       .workspace_max = SIZE_MAX,
                                       .pointer_align = GT_VECTOR_BYTES};
        if (gt_match(&choice, &query, NULL) != GEMMTUNE_OK)
            die("lookup", NULL);
    }
    return (cpu_ms() - begin) / lookups;
}

static double plan_ms(gemmtune_ctx *ctx, const char *name) {
    gemmtune_problem p;
    gemmtune_plan *plan = NULL;
    if (gemmtune_problem_parse(&p, name) != GEMMTUNE_OK)
        die(name, NULL);
    const double begin = cpu_ms();
    if (gemmtune_plan_create(&plan, ctx, &p, GEMMTUNE_MATCH_DEFAULT, SIZE_MAX) !=
        GEMMTUNE_OK) {
        (void)fprintf(stderr, "large_db: %s: %s\n", name, gemmtune_errmsg());
        return -1;
    }
    const double ms = cpu_ms() - begin;
    gemmtune_plan_destroy(plan);
    return ms;
}

/* Milliseconds to make the kernel's source and to read its image out of the cache: the
 * parts of a plan beside the lookup and the driver's loading. -1: there is no image. */
static double image_ms(gemmtune_ctx *ctx, const char *name) {
    static struct gt_choice choice;
    gemmtune_problem p;
    struct gt_err err = {""};
    check(gt_problem_from_name(&p, name, &err), name, &err);
    const struct gt_query query = gt_ctx_query(ctx, &p, GEMMTUNE_MATCH_DEFAULT, SIZE_MAX);
    check(gt_match(&choice, &query, &err), name, &err);
    double least = -1;
    for (int i = 0; i < 9; i++) {
        const double begin = cpu_ms();
        if (!gt_exec_is_cached(ctx->gpu, &choice.fit))
            return -1;
        const double ms = cpu_ms() - begin;
        least = i == 0 || ms < least ? ms : least;
    }
    return least;
}

/* One line: records, open, lookups, plans, memory. */
static void measure(const char *path, const char *problem) {
    const gemmtune_target target = {.struct_size = sizeof target, .backend = GEMMTUNE_CUDA};
    gemmtune_ctx *ctx = NULL;
    make_current();
    const double before_mib = peak_mib(), begin = cpu_ms();
    if (gemmtune_open(&ctx, path, &target) != GEMMTUNE_OK)
        die(path, NULL);
    const double open_ms = cpu_ms() - begin, open_mib = peak_mib() - before_mib;
    (void)printf("%zu records, open %.2f ms %.1f MiB", ctx->snapshot.count, open_ms,
                 open_mib);
    if (ctx->snapshot.count > 0) {
        const double first = lookup_ms(ctx, true, 1);
        const double other = lookup_ms(ctx, false, 1);
        const int often = ctx->snapshot.count > 20000 ? LOOKUPS / 20 : LOOKUPS;
        (void)printf(", first lookup %.3f ms, of a new problem %.3f ms, later %.2f us, "
                     "of new problems %.2f us",
                     first, other, 1e3 * lookup_ms(ctx, true, often),
                     1e3 * lookup_ms(ctx, false, often));
        (void)printf(" %.1f MiB more", peak_mib() - before_mib - open_mib);
    }
    if (problem != NULL) {
        /* The first plan loads the driver's compiler, where the driver is the fake one. */
        const double first = plan_ms(ctx, problem), first_mib = peak_mib();
        const double second = plan_ms(ctx, problem);
        (void)printf(", first plan %.3f ms, second %.3f ms %.1f MiB more", first, second,
                     peak_mib() - first_mib);
        (void)printf(", of it source and image %.3f ms", image_ms(ctx, problem));
    }
    (void)printf("\n");
    gemmtune_close(ctx);
}

enum { STEPS = 5, ROUNDS = 9 };

/* The milliseconds of each step of gemmtune_open. */
static void take_steps(double ms[STEPS], const char *path) {
    const gemmtune_target target = {.struct_size = sizeof target, .backend = GEMMTUNE_CUDA};
    struct gt_gpu *gpu = NULL;
    struct gt_families *families = NULL;
    struct gt_db *db = NULL;
    struct gt_known *known = NULL;
    struct gt_index *index = NULL;
    struct gt_err err = {""};
    size_t count = 0;
    int64_t stale = 0;
    double at[STEPS + 1];
    at[0] = cpu_ms();
    check(gt_driver_cuda.open(&gpu, &target, &err), "driver", &err);
    at[1] = cpu_ms();
    check(gt_families_create(&families, &err), "families", &err);
    at[2] = cpu_ms();
    check(gt_db_open(&db, path, GT_DB_READ, &err), path, &err);
    at[3] = cpu_ms();
    check(gt_known_load(&known, &count, &stale, db, families, gpu->device.arch, &err), path,
          &err);
    at[4] = cpu_ms();
    check(gt_index_create(&index, known, count, &err), path, &err);
    at[5] = cpu_ms();
    for (int i = 0; i < STEPS; i++)
        ms[i] = at[i + 1] - at[i];
    gt_index_destroy(index);
    free(known);
    gt_db_close(db);
    gt_families_destroy(families);
    gpu->driver->close(gpu);
}

/* One line for each step: the least of several rounds, since the cores are shared. */
static void steps(const char *path) {
    static const char *const step[STEPS] = {"the device's description", "kernel families",
                                            "opening the file", "records", "the index"};
    double least[STEPS], ms[STEPS];
    make_current();
    take_steps(least, path);
    for (int round = 1; round < ROUNDS; round++) {
        take_steps(ms, path);
        for (int i = 0; i < STEPS; i++)
            least[i] = ms[i] < least[i] ? ms[i] : least[i];
    }
    for (int i = 0; i < STEPS; i++)
        (void)printf("%-26s %8.2f ms\n", step[i], least[i]);
}

/* ---- cost ------------------------------------------------------------------------- */

static double seconds(struct timeval t) {
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static _Noreturn void run(char **command) {
    const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nothing >= 0 && dup2(nothing, 1) == 1 && dup2(nothing, 2) == 2)
        (void)execvp(command[0], command);
    _exit(127);
}

/* One line: a command's processor time and memory. */
static void cost(const char *word, char **command) {
    struct rusage u;
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        run(command);
    if (child < 0 || waitpid(child, &status, 0) != child ||
        getrusage(RUSAGE_CHILDREN, &u) != 0 || status != 0)
        die(word, NULL);
    (void)printf("    %s %.2f s, %.0f MiB\n", word,
                 seconds(u.ru_utime) + seconds(u.ru_stime), (double)u.ru_maxrss / 1024);
}

int main(int argc, char **argv) {
    if (argc == 5 && strcmp(argv[1], "fill") == 0)
        fill(argv[2], argv[3], strtoll(argv[4], NULL, 10));
    else if ((argc == 3 || argc == 4) && strcmp(argv[1], "measure") == 0)
        measure(argv[2], argv[3]);
    else if (argc == 3 && strcmp(argv[1], "steps") == 0)
        steps(argv[2]);
    else if (argc > 3 && strcmp(argv[1], "cost") == 0)
        cost(argv[2], argv + 3);
    else
        (void)fprintf(stderr, "usage: large_db fill FILE FROM RECORDS | measure FILE "
                              "[PROBLEM] | steps FILE | cost WORD COMMAND...\n");
    return 0;
}
