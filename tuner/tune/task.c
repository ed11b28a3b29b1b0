/* SPDX-License-Identifier: Apache-2.0 */
/* task.c - see task.h. */
#include "tuner/tune/task.h"

#include "core/io.h"

#include <stdio.h>
#include <string.h>

enum { TASK_MAGIC = 0x6b736174, NEWS_MAGIC = 0x7377656e };

void gt_task_init(struct gt_task *task, const struct gt_device *device) {
    memset(task, 0, sizeof *task);
    task->magic = TASK_MAGIC;
    task->device = *device;
}

bool gt_task_read(int fd, struct gt_task *task) {
    if (!gt_read_all(fd, task, sizeof *task) || task->magic != TASK_MAGIC)
        return false;
    task->problem[sizeof task->problem - 1] = '\0';
    task->next[sizeof task->next - 1] = '\0';
    task->order[sizeof task->order - 1] = '\0';
    task->next_order[sizeof task->next_order - 1] = '\0';
    return true;
}

void gt_news_init(struct gt_news *news, enum gt_news_kind kind, const char *text) {
    memset(news, 0, sizeof *news);
    news->magic = NEWS_MAGIC;
    news->kind = kind;
    (void)snprintf(news->text, sizeof news->text, "%s", text);
}

/* Its texts are printed, its counts walked over. */
static bool is_sound(struct gt_tune_result *r) {
    r->error[sizeof r->error - 1] = '\0';
    for (size_t i = 0; i < GT_FINALISTS_MAX; i++) {
        struct gt_candidate *c = &r->winner[i].candidate;
        c->family[sizeof c->family - 1] = c->point[sizeof c->point - 1] = '\0';
    }
    return r->winners >= 0 && r->winners <= GT_FINALISTS_MAX;
}

bool gt_news_sound(struct gt_news *news) {
    news->text[sizeof news->text - 1] = '\0';
    return news->magic == NEWS_MAGIC && news->kind >= GT_NEWS_NOTE &&
           news->kind <= GT_NEWS_FAILED && is_sound(&news->result);
}
