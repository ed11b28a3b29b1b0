/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proto.h - the messages between the program and its workers: frames of fixed size over
 * pipes. Both ends are the same binary. A short or foreign frame ends the worker.
 */
#ifndef GT_TUNER_WORK_PROTO_H
#define GT_TUNER_WORK_PROTO_H

#include "core/device.h"
#include "core/outcome.h"
#include "core/point.h"
#include "core/problem/problem.h"
#include "tuner/lab/lists.h"

enum { GT_JOB_POINTS_MAX = 24, GT_VERDICT_TEXT_MAX = 512 };

enum gt_job_kind {
    /* build candidate[0] into the image cache; needs no device where the driver compiles
     * apart */
    GT_JOB_COMPILE,
    /* open the device and make the parts that all problems of these types share, as far as
     * that works. There is no report; the next job makes the missing parts. */
    GT_JOB_OPEN,
    GT_JOB_PREPARE, /* open the device and set the problem up; without candidates */
    GT_JOB_CHECK,   /* build and check all candidates */
    GT_JOB_TRIAL,   /* build, check and time candidate[0] */
    GT_JOB_FINAL,   /* build and check all candidates, time them in turn */
    GT_JOB_COMPARE, /* the same, but no candidate leaves for being slow */
};

/* A candidate: one point of one family. */
struct gt_candidate {
    char family[GT_NAME_MAX];
    char point[GT_POINT_TEXT_MAX];
};
struct gt_family;
/* Copies the texts. `point` is in gt_point_text's form. */
void gt_candidate_set(struct gt_candidate *out, const char *family, const char *point);
void gt_candidate_set_point(struct gt_candidate *out, const struct gt_family *family,
                            const struct gt_point *point);
bool gt_candidate_same(const struct gt_candidate *a, const struct gt_candidate *b);

struct gt_job {
    uint32_t magic;
    enum gt_job_kind kind;
    int64_t id; /* chosen by the sender, repeated in reports */
    struct gt_device device;
    char problem[GT_PROBLEM_NAME_MAX];
    uint64_t seed;
    /* upper end of the interval of the problem's best time so far; 0: none */
    double best_ns;
    enum gt_spread spread; /* of timed rows */
    /* finals: samples and times are so many times the usual ones; 0 counts as 1 */
    double patience;
    int64_t pointer_align; /* COMPILE: as in gt_fit_values; GT_VECTOR_BYTES at first */
    int count;
    struct gt_candidate candidate[GT_JOB_POINTS_MAX];
};

enum gt_stage {
    GT_STAGE_PREPARING, /* opening the device, making data and references */
    GT_STAGE_COMPILING,
    GT_STAGE_LAUNCHING, /* the kernel runs from here on */
    GT_STAGE_DONE,      /* result[0..count) is filled */
    GT_STAGE_FAILED,    /* the job failed for a reason that is not the candidate's */
};

/* Seconds that the run worker spent on candidates: checks before and after, and timing. */
struct gt_spent {
    double check_s, time_s;
};

struct gt_result {
    gt_outcome outcome;
    struct gt_measurement time;
    int registers, spill_bytes, smem_bytes;
    int64_t workspace_bytes; /* the candidate's workspace for the problem */
    double compile_ms;       /* 0: from the cache */
    struct gt_spent spent;   /* of the whole job; only in the first result */
    /* The error on the problem's random data, as struct gt_error has it;
     * of finals alone. */
    bool has_error;
    double error_max, error_mean;
    bool fatal; /* the context is lost, so the worker must be replaced */
    char error[GT_VERDICT_TEXT_MAX];
};

struct gt_report {
    uint32_t magic;
    enum gt_stage stage;
    int64_t id;
    gt_status status; /* with FAILED */
    int count;
    struct gt_result result[GT_JOB_POINTS_MAX];
    char error[512]; /* with FAILED */
};

/* All other members become 0, but pointer_align: there is no candidate yet. */
void gt_job_init(struct gt_job *job, enum gt_job_kind kind, const struct gt_device *device,
                 const char *problem);
void gt_report_init(struct gt_report *report, int64_t id, enum gt_stage stage);
/* Waits for a whole frame. False at end of file, on an error,
 * or when the frame is foreign. */
bool gt_job_read(int fd, struct gt_job *job);
/* Checks a complete frame and terminates its texts. False when the frame is foreign. */
bool gt_report_sound(struct gt_report *report);

#endif
