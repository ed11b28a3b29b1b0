/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proto.h - what the program says to its worker processes and hears from them: fixed-size
 * frames over pipes, both ends the same binary. A short or foreign frame ends the worker.
 */
#ifndef GT_TUNER_WORK_PROTO_H
#define GT_TUNER_WORK_PROTO_H

#include "core/device.h"
#include "core/outcome.h"
#include "core/point.h"
#include "core/problem.h"

enum { GT_JOB_POINTS_MAX = 24, GT_VERDICT_TEXT_MAX = 512 };

enum gt_job_kind {
    GT_JOB_COMPILE, /* build candidate[0] into the image cache; touches no device */
    GT_JOB_OPEN,    /* open the device and make what all problems of these types need, if it
                     * can be    done: nothing is reported, and the next job does what is
                     * missing
                     */
    GT_JOB_PREPARE, /* open the device and set the problem up; no candidate */
    GT_JOB_CHECK,   /* build and check all candidates */
    GT_JOB_TRIAL,   /* build, check, time candidate[0] */
    GT_JOB_FINAL,   /* build and check all candidates, time them interleaved */
    GT_JOB_AGAIN,   /* the same, and none leaves for being slow */
};

/* A candidate: one point of one family. */
struct gt_candidate {
    char family[GT_NAME_MAX];
    char point[GT_POINT_TEXT_MAX];
};
bool gt_candidate_same(const struct gt_candidate *a, const struct gt_candidate *b);

struct gt_job {
    uint32_t magic;
    enum gt_job_kind kind;
    int64_t id; /* the sender's; comes back in reports */
    struct gt_device device;
    char problem[GT_PROBLEM_NAME_MAX];
    uint64_t seed;
    double best_ns; /* of the problem so far, upper limit of its median; 0 none */
    int count;
    struct gt_candidate candidate[GT_JOB_POINTS_MAX];
};

enum gt_stage {
    GT_STAGE_PREPARING, /* opening the device, making data and references */
    GT_STAGE_COMPILING,
    GT_STAGE_LAUNCHING, /* the candidate itself runs from here on */
    GT_STAGE_DONE,      /* result[0..count) is filled */
    GT_STAGE_FAILED, /* the job could not be done for reasons that are not the candidate's
                      */
};

/* Seconds of the run worker on candidates: checking them, before and after, and timing
 * them. */
struct gt_spent {
    double check_s, time_s;
};

struct gt_result {
    gt_outcome outcome;
    struct gt_measurement time;
    int registers, spill_bytes, smem_bytes;
    int64_t workspace_bytes; /* that the candidate needs for the problem */
    double compile_ms;       /* 0: from the cache */
    struct gt_spent spent;   /* of the whole job, in its first result */
    bool fatal;              /* the context is lost: the worker must be replaced */
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

/* The rest is 0: no candidate yet. */
void gt_job_init(struct gt_job *job, enum gt_job_kind kind, const struct gt_device *device,
                 const char *problem);
void gt_report_init(struct gt_report *report, int64_t id, enum gt_stage stage);
/* Waits for a whole frame; false at end of file, on an error, or when it is not one of
 * ours. */
bool gt_job_read(int fd, struct gt_job *job);
/* A frame that has come whole: false when it is not one of ours. Its texts are ended. */
bool gt_report_sound(struct gt_report *report);

#endif
