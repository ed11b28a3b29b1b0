/* SPDX-License-Identifier: Apache-2.0 */
/*
 * member.c - the other end of tuner/tune/crew.c: a process that tunes on one of several
 * devices. It reads tasks from one descriptor, reports to another, and
 * stores its trials and records itself. It has the command line of `gemmtune tune`; the
 * device and the problems come with the tasks.
 */
#include "core/io.h"
#include "tuner/cmd/tune.h"
#include "tuner/tune/ahead.h"
#include "tuner/tune/row_order.h"
#include "tuner/tune/task.h"
#include "tuner/tune/tuned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Problems that live: the present one, the one prepared for it, the one prepared next. */
enum { ITEMS = 3 };

struct member {
    int in, out;
    const struct gt_tune_values *v;
    struct gt_tuner *t;
    struct gt_task task;
    struct gt_news news;
    struct gt_sweep_item item[ITEMS];
    size_t used; /* of them, so far, in turns */
};

/* A program that is gone is seen when the next task is read. */
static void send(struct member *m) {
    (void)gt_write_all(m->out, &m->news, sizeof m->news);
}

static void relay(void *user, const struct gt_progress_note *note) {
    struct member *m = user;
    gt_news_init(&m->news, GT_NEWS_NOTE, note->text);
    m->news.note = note->kind;
    m->news.done = note->done;
    m->news.rate = note->rate;
    send(m);
}

static const struct gt_sweep_item *item_of(struct member *m, const char *name,
                                           gt_status *status, struct gt_err *err) {
    struct gt_sweep_item *item = &m->item[m->used++ % ITEMS];
    memset(item, 0, sizeof *item);
    *status = gt_problem_from_name(&item->problem, name, err);
    (void)snprintf(item->name, sizeof item->name, "%s", name);
    return item;
}

static gt_status do_task(struct member *m, struct gt_err *err) {
    gt_status status, unread;
    const struct gt_task *task = &m->task;
    const struct gt_sweep_item *item = item_of(m, task->problem, &status, err);
    const struct gt_sweep_item *next = item_of(m, task->next, &unread, NULL);
    struct gt_tune_result *result = calloc(1, sizeof *result);
    if (result == NULL)
        status = gt_fail(err, GEMMTUNE_ENOMEM, "no memory to tune %s", task->problem);
    m->t->next = unread == GEMMTUNE_OK ? next : NULL;
    if (status == GEMMTUNE_OK)
        gt_tune_keep_order(m->t, &item->problem, task->order);
    if (unread == GEMMTUNE_OK)
        gt_tune_keep_order(m->t, &next->problem, task->next_order);
    if (status == GEMMTUNE_OK)
        status = gt_tune_problem(result, m->t, item, task->share_s, err);
    if (status == GEMMTUNE_OK)
        status = gt_tuned_note(result, m->t, item, task->promised_s, err);
    if (status == GEMMTUNE_OK) {
        gt_news_init(&m->news, GT_NEWS_ENDED, "");
        m->news.result = *result;
        send(m);
    }
    free(result);
    return status;
}

static int serve(struct gt_tuner *t, struct gt_session *session, void *user) {
    struct member *m = user;
    struct gt_err err = {""};
    int code = gt_common_write_db(&t->db, m->v->db);
    if (code >= 0)
        return code;
    t->progress.live = true;
    t->progress.quiet = m->v->quiet;
    t->progress.relay = relay;
    t->progress.user = m;
    gt_status status = gt_session_begin_run(t, session, &err);
    do {
        if (status == GEMMTUNE_OK)
            status = do_task(m, &err);
    } while (status == GEMMTUNE_OK && !gt_session_stop && gt_task_read(m->in, &m->task));
    gt_ahead_clear(&t->ahead);
    gt_session_end_run(t, status);
    gt_db_close(t->db);
    if (status != GEMMTUNE_OK) {
        gt_news_init(&m->news, GT_NEWS_FAILED, err.line);
        m->news.status = status;
        send(m);
    }
    return status != GEMMTUNE_OK ? gt_exit_of(status) : gt_session_exit(GT_EXIT_OK);
}

static int work(struct member *m) {
    struct gt_session_setup setup;
    const int code = gt_tune_set_up(m->t, &setup, m->v);
    if (code >= 0 || !gt_task_read(m->in, &m->task))
        return code >= 0 ? code : GT_EXIT_OK; /* there is nothing to do */
    setup.found = &m->task.device;
    return gt_session_tune(m->t, &setup, 1, m->v->quiet, serve, m);
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct gt_tune_values v;
    int first = 0, code = GT_EXIT_FAILURE;
    (void)cmd;
    gt_session_obey();
    if (argc < 3)
        return gt_die(GT_EXIT_USAGE, "member is for gemmtune's own use");
    struct member *m = calloc(1, sizeof *m);
    struct gt_tuner *t = calloc(1, sizeof *t);
    if (m != NULL && t != NULL) {
        m->in = atoi(argv[1]);
        m->out = atoi(argv[2]);
        m->v = &v;
        m->t = t;
        code = gt_tune_parse(&v, argc - 2, argv + 2, &first);
    }
    if (code < 0)
        code = work(m);
    free(t);
    free(m);
    return code;
}

const struct gt_cmd gt_cmd_member = {
    .name = "member",
    .operands = "IN OUT OPTION...",
    .about = "Tune problems that gemmtune hands out, on one of several devices.",
    .options = NULL,
    .run = run,
    .hidden = true,
};
