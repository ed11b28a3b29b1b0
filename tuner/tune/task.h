/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task.h - the frames between a program that tunes on several devices and its members, one
 * process a device. They have a fixed size and go over pipes; both ends are the same
 * binary.
 */
#ifndef GT_TUNER_TUNE_TASK_H
#define GT_TUNER_TUNE_TASK_H

#include "tuner/tune/tune.h"

/* A problem to tune. */
struct gt_task {
    uint32_t magic;
    struct gt_device device; /* the same in every task of a member */
    char problem[GT_PROBLEM_NAME_MAX];
    char next[GT_PROBLEM_NAME_MAX]; /* the problem of the next task, probably; "": none */
    /* Their orders of sums, which the program decides: members add alike. "": none. */
    char order[GT_ORDER_MAX], next_order[GT_ORDER_MAX];
    double share_s;    /* seconds for the problem; 0: no limit */
    double promised_s; /* as gt_tuned_note wants it */
};

enum gt_news_kind {
    GT_NEWS_NOTE,  /* a gt_progress_note: `note`, `done`, `rate`, `text` */
    GT_NEWS_ENDED, /* the task: `result` */
    GT_NEWS_FAILED /* so has the member, for all tasks: `status`, `text` */
};

struct gt_news {
    uint32_t magic;
    enum gt_news_kind kind;
    enum gt_note_kind note;
    size_t done;
    double rate;
    gt_status status;
    char text[1024];
    struct gt_tune_result result;
};

void gt_task_init(struct gt_task *task, const struct gt_device *device);
/* Waits for a whole frame; false at end of file, or when it is not one of ours. */
bool gt_task_read(int fd, struct gt_task *task);
void gt_news_init(struct gt_news *news, enum gt_news_kind kind, const char *text);
/* A frame that has come whole: false when it is not one of ours. Its texts are ended. */
bool gt_news_sound(struct gt_news *news);

#endif
