/* SPDX-License-Identifier: Apache-2.0 */
/* compile_jobs.h - kernels that NVRTC compiles for devices that are not there, on all
 * cores, and what is wrong with them: the machinery of test_nvrtc_compile. */
#ifndef GT_TESTS_TUNE_COMPILE_JOBS_H
#define GT_TESTS_TUNE_COMPILE_JOBS_H

#include "runtime/drivers/build.h"
#include "runtime/family/launch.h"
#include "runtime/drivers/nvrtc.h"
#include "tests/share.h"
#include "tuner/lab/check.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS_MAX = 16, REGISTERS = 65536 };

struct job {
    struct gt_device device;
    const struct gt_family *family; /* NULL: the checking kernels */
    struct gt_point point;
    gemmtune_problem problem;
    int64_t blocks;    /* that must fit the registers of a multiprocessor; 0: one */
    char name[64];     /* the problem's */
    char trouble[512]; /* "" when there is no error */
};

static struct job *job;
static int jobs;
static atomic_int next_job;

/* ---- a device that has the architecture ---- */

static int64_t smem_of(int cc) {
    static const struct {
        int cc, kib;
    } rows[] = {{90, 227}, {87, 163}, {86, 99}, {80, 163}, {75, 64}, {70, 96}, {0, 48}};
    if (cc == 88 || cc == 89 || cc >= 120) /* desktop chips */
        return INT64_C(99) << 10;
    for (size_t i = 0; rows[i].cc; i++)
        if (cc >= rows[i].cc)
            return (int64_t)rows[i].kib << 10;
    return INT64_C(48) << 10;
}

static struct gt_device device_of(int cc) {
    struct gt_device d = {.backend = GEMMTUNE_CUDA,
                          .name = "made up",
                          .cc = cc,
                          .units = 20,
                          .warp = 32,
                          .max_threads = 1024,
                          .regs_per_block = REGISTERS,
                          .mem_bytes = INT64_C(8) << 30,
                          .max_alloc = INT64_C(8) << 30,
                          .smem_max = smem_of(cc),
                          .has_f64 = true};
    snprintf(d.arch, sizeof d.arch, "sm_%d", cc);
    return d;
}

/* ---- one compile ---- */

static gt_status bind(struct gt_binding *b, const struct job *j, struct gt_err *err) {
    gt_bind_problem(b, j->family, &j->device, &j->problem);
    return gt_bind_point(b, &j->point, err);
}

/* The whole text for a job, and how many threads a block of it has. */
static gt_status source_of(char **source, int64_t *threads, const struct job *j,
                           struct gt_err *err) {
    struct gt_binding b;
    struct gt_passes passes;
    *threads = 256; /* of the checking kernels */
    if (!j->family)
        return gt_checker_source(source, &j->device, &j->problem, err);
    gt_status status = bind(&b, j, err);
    if (status == GEMMTUNE_OK && gt_refused(&b))
        status =
            gt_fail(err, GEMMTUNE_EINVAL, "the point is refused: %s", gt_refused(&b)->why);
    if (status == GEMMTUNE_OK)
        status = gt_passes_of(&passes, &b, &j->device, err);
    if (status == GEMMTUNE_OK) {
        const int64_t *block = passes.item[passes.main].launch.block;
        *threads = block[0] * block[1] * block[2];
    }
    return status != GEMMTUNE_OK ? status : gt_source_of(source, &b, &j->device, err);
}

/* Expects an ELF file, no message about values that users may tune, the numbers that ptxas
 * prints, and a block that fits the registers. */
static void judge(struct job *j, const struct gt_image *image, int64_t threads) {
    const char *wrong = NULL;
    if (image->size < 4 || memcmp(image->bytes, "\177ELF", 4) != 0)
        wrong = "the cubin is no ELF file";
    else if (image->log[0] && j->family)
        wrong = "the compiler complains";
    else if (image->registers <= 0 || image->spill_bytes < 0 || image->smem_bytes < 0)
        wrong = "registers, spills or shared memory were not told";
    else if (image->registers * threads * (j->blocks > 1 ? j->blocks : 1) > REGISTERS)
        wrong = "the blocks need more registers than there are";
    if (wrong)
        snprintf(j->trouble, sizeof j->trouble, "%s (%d registers, %lld threads) %.300s",
                 wrong, image->registers, (long long)threads, image->log);
}

static void compile(struct job *j) {
    struct gt_image image = {0};
    struct gt_err err = {""};
    char *source = NULL;
    int64_t threads = 0;
    gt_status status = source_of(&source, &threads, j, &err);
    if (status == GEMMTUNE_OK)
        status = gt_driver_cuda.build(&image, &j->device, source, &err);
    if (status != GEMMTUNE_OK)
        snprintf(j->trouble, sizeof j->trouble, "%s", err.line);
    else
        judge(j, &image, threads);
    gt_image_clear(&image);
    free(source);
}

static void *work(void *unused) {
    (void)unused;
    for (int i = atomic_fetch_add(&next_job, 1); i < jobs;
         i = atomic_fetch_add(&next_job, 1))
        if (is_in_share(i))
            compile(&job[i]);
    return NULL;
}

static void compile_all(void) {
    pthread_t thread[THREADS_MAX];
    next_job = 0;
    const long cores = sysconf(_SC_NPROCESSORS_CONF);
    const int count = cores < 1 ? 1 : cores > THREADS_MAX ? THREADS_MAX : (int)cores;
    for (int i = 0; i < count; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, work, NULL), 0);
    for (int i = 0; i < count; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
}

#endif
