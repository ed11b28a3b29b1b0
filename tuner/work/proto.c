/* SPDX-License-Identifier: Apache-2.0 */
/* proto.c - see proto.h. */
#include "tuner/work/proto.h"

#include "core/io.h"
#include "runtime/family/family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "GTj3" and "GTr5": change the digit when the layout changes. */
#define JOB_MAGIC    UINT32_C(0x47546a33)
#define REPORT_MAGIC UINT32_C(0x47547235)

void gt_candidate_set(struct gt_candidate *out, const char *family, const char *point) {
    (void)snprintf(out->family, sizeof out->family, "%s", family);
    (void)snprintf(out->point, sizeof out->point, "%s", point);
}

void gt_candidate_set_point(struct gt_candidate *out, const struct gt_family *family,
                            const struct gt_point *point) {
    (void)snprintf(out->family, sizeof out->family, "%s", family->name);
    (void)gt_point_text(point, out->point);
}

bool gt_candidate_same(const struct gt_candidate *a, const struct gt_candidate *b) {
    return strcmp(a->family, b->family) == 0 && strcmp(a->point, b->point) == 0;
}

void gt_job_init(struct gt_job *job, enum gt_job_kind kind, const struct gt_device *device,
                 const char *problem) {
    memset(job, 0, sizeof *job);
    job->magic = JOB_MAGIC;
    job->kind = kind;
    job->device = *device;
    job->pointer_align = GT_VECTOR_BYTES;
    (void)snprintf(job->problem, sizeof job->problem, "%s", problem);
}

void gt_report_init(struct gt_report *report, int64_t id, enum gt_stage stage) {
    memset(report, 0, sizeof *report);
    report->magic = REPORT_MAGIC;
    report->id = id;
    report->stage = stage;
}

/* The reader terminates texts and bounds counts: the worker may be corrupted by the kernel
 * that it ran. */
bool gt_job_read(int fd, struct gt_job *job) {
    if (!gt_read_all(fd, job, sizeof *job) || job->magic != JOB_MAGIC)
        return false;
    if (job->count < 0 || job->count > GT_JOB_POINTS_MAX)
        return false;
    job->problem[sizeof job->problem - 1] = '\0';
    for (int i = 0; i < job->count; i++) {
        job->candidate[i].family[GT_NAME_MAX - 1] = '\0';
        job->candidate[i].point[GT_POINT_TEXT_MAX - 1] = '\0';
    }
    return true;
}

static bool sane(const struct gt_result *r) {
    const struct gt_measurement *m = &r->time;
    return (unsigned)r->outcome < GT_OUTCOMES && isfinite(m->median_ns) &&
           isfinite(m->low_ns) && isfinite(m->high_ns) && m->samples >= 0 &&
           m->samples <= GT_SAMPLES_MAX && m->launches >= 0 && m->dropped >= 0 &&
           m->unsettled >= 0 && r->workspace_bytes >= 0;
}

bool gt_report_sound(struct gt_report *report) {
    if (report->magic != REPORT_MAGIC || report->count < 0 ||
        report->count > GT_JOB_POINTS_MAX || (unsigned)report->stage > GT_STAGE_FAILED)
        return false;
    report->error[sizeof report->error - 1] = '\0';
    for (int i = 0; i < report->count; i++) {
        report->result[i].error[sizeof report->result[i].error - 1] = '\0';
        if (!sane(&report->result[i]))
            return false;
    }
    return true;
}
