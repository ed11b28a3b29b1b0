/* SPDX-License-Identifier: Apache-2.0 */
/* crew.c - see crew.h. */
#include "tuner/tune/crew.h"

#include "core/clock.h"
#include "core/io.h"
#include "tuner/tune/deal.h"
#include "tuner/tune/row_order.h"
#include "tuner/tune/task.h"
#include "tuner/work/process.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STOP_SECONDS = 15 }; /* for members that are told to stop: then they are killed */
static const double poll_s = 0.2;

struct member {
    size_t number; /* of its device, as `gemmtune devices` counts */
    const struct gt_device *device;
    struct gt_process process; /* started with its first problem */
    bool dead;                 /* it ended early; its device gets nothing more */
    bool busy;
    size_t item;            /* while busy: the problem that it tunes */
    double share_s;         /* seconds that the problem was given */
    double until;           /* by gt_seconds: when the problem should be done */
    enum gt_note_kind note; /* kind of its last note; GT_NOTE_LINE: none yet */
    size_t done;            /* trials of the problem */
    double rate;            /* trials a second */
    struct gt_news news;    /* the frame that is being received */
    size_t heard;           /* bytes of it that have come */
};

struct crew {
    const struct gt_crew_setup *setup;
    const struct gt_sweep *sweep;
    struct gt_tune_result *result;
    struct member *member; /* one a device */
    size_t members;
    struct gt_core_set cores; /* of the program */
    size_t parts; /* into which the cores are divided: members at work at once */
    struct gt_deal deal;
    bool ending;      /* members have been told to end */
    bool hurried;     /* they have been told to end at once */
    double last_s;    /* by gt_seconds: when hurried, members that live longer are killed */
    int code;         /* worst exit code of a member that ended early */
    gt_status status; /* of the first failure */
    struct gt_err why;
};

/* ---- problems ---- */

static void end_problem(struct crew *c, size_t item) {
    gt_deal_end(&c->deal, item);
    c->setup->ended(c->setup->user, item);
}

/* Ends a problem without a result. */
static void give_up(struct crew *c, size_t item, const char *why) {
    struct gt_tune_result *r = &c->result[item];
    memset(r, 0, sizeof *r);
    r->reached = true;
    (void)snprintf(r->error, sizeof r->error, "%s", why);
    c->setup->budget->given[item] = true;
    end_problem(c, item);
}

/* ---- members ---- */

static gt_status start(struct crew *c, struct member *m, struct gt_err *err) {
    struct gt_core_set cores;
    const struct gt_process_setup setup = {.command = "member",
                                           .word = c->setup->word,
                                           .words = c->setup->words,
                                           .cores = &cores,
                                           .aloud = true};
    gt_cores_part(&cores, &c->cores, (size_t)(m - c->member) % c->parts, c->parts,
                  gt_cores_beside);
    return gt_process_start(&m->process, &setup, err);
}

static bool any(const struct crew *c, bool busy) {
    bool found = false;
    for (size_t i = 0; i < c->members; i++)
        found = found || (c->member[i].process.pid != 0 && (!busy || c->member[i].busy));
    return found;
}

/* A member ended while it tuned a problem: another member gets the problem, unless it was
 * lost before. */
static void lose_problem(struct crew *c, struct member *m, const char *how) {
    char text[1024];
    struct gt_progress *progress = &c->setup->tuner->progress;
    const bool again = gt_deal_lose(&c->deal, m->item);
    (void)snprintf(text, sizeof text, "device %zu: its process %s while tuning %s%s",
                   m->number, how, c->sweep->item[m->item].name,
                   again ? ", which another one will tune" : "");
    gt_progress_line(progress, text);
    m->busy = false;
    if (!again)
        give_up(c, m->item, "two processes ended while tuning it");
}

static void end_member(struct crew *c, struct member *m) {
    char how[96], text[160];
    (void)gt_process_end(&m->process, how);
    const bool early = !c->ending || m->busy;
    m->dead = true;
    gt_deal_leave(&c->deal, (size_t)(m - c->member));
    const int code = m->process.code < 128 ? m->process.code : 1; /* ended by a signal */
    if (early && code > c->code)
        c->code = code;
    if (m->busy && !c->ending)
        lose_problem(c, m, how);
    else if (early && c->status == GEMMTUNE_OK) {
        (void)snprintf(text, sizeof text, "device %zu: its process %s", m->number, how);
        gt_progress_line(&c->setup->tuner->progress, text);
    }
    m->busy = false;
}

/* Closes the pipes through which tasks go. Idle members end then. Busy ones end after their
 * problem. */
static void tell_end(struct crew *c) {
    if (c->ending)
        return;
    c->ending = true;
    for (size_t i = 0; i < c->members; i++) {
        struct gt_process *p = &c->member[i].process;
        if (p->pid == 0)
            continue;
        close(p->to);
        p->to = -1;
    }
}

/* Ends all members as soon as they have stored their trials. Members that were told to end
 * are told too: one may hang while it exits. */
static void hurry_end(struct crew *c) {
    if (c->hurried)
        return;
    c->hurried = true;
    c->last_s = gt_seconds() + STOP_SECONDS * gt_cores_crowding();
    for (size_t i = 0; i < c->members; i++) {
        const struct member *m = &c->member[i];
        if (m->process.pid != 0 && (m->busy || c->ending))
            (void)kill(m->process.pid, SIGTERM);
    }
    tell_end(c);
}

static void kill_late(struct crew *c) {
    for (size_t i = 0; i < c->members; i++)
        if (c->member[i].process.pid != 0 && c->hurried && gt_seconds() > c->last_s)
            gt_process_kill(&c->member[i].process);
}

/* ---- tasks and news ---- */

/* Seconds that the other members still need for their problems. */
static double promised_s(const struct crew *c, const struct member *but) {
    double sum = 0;
    for (size_t i = 0; i < c->members; i++)
        if (&c->member[i] != but && c->member[i].busy)
            sum += fmax(c->member[i].until - gt_seconds(), 0);
    return sum;
}

/* A failure will occur again in the member, which tells it. */
static void decide_order(char order[GT_ORDER_MAX], const struct crew *c, size_t item) {
    if (gt_tune_order(order, c->setup->tuner, &c->sweep->item[item].problem, NULL) !=
        GEMMTUNE_OK)
        order[0] = '\0';
}

static void hand(struct crew *c, struct member *m, size_t item) {
    struct gt_task task;
    const struct gt_budget *b = c->setup->budget;
    const size_t next = c->deal.next[m - c->member];
    m->share_s = gt_budget_share(b, item, promised_s(c, m));
    gt_task_init(&task, m->device);
    task.share_s = m->share_s;
    task.promised_s = gt_budget_promised(b, item);
    (void)snprintf(task.problem, sizeof task.problem, "%s", c->sweep->item[item].name);
    decide_order(task.order, c, item);
    if (next != GT_DEAL_NONE) {
        (void)snprintf(task.next, sizeof task.next, "%s", c->sweep->item[next].name);
        decide_order(task.next_order, c, next);
    }
    m->busy = true;
    m->item = item;
    m->until = gt_seconds() + m->share_s;
    m->note = GT_NOTE_LINE;
    /* a dead member is noticed when its pipe is read */
    (void)gt_write_all(m->process.to, &task, sizeof task);
}

static void fail(struct crew *c, gt_status status, const char *why) {
    if (c->status == GEMMTUNE_OK)
        c->status = gt_fail(&c->why, status, "%s", why);
    hurry_end(c);
}

static void hand_out(struct crew *c) {
    struct gt_err err = {""};
    for (size_t i = 0; i < c->members && !c->ending; i++) {
        struct member *m = &c->member[i];
        const size_t item = m->dead || m->busy ? GT_DEAL_NONE : gt_deal_next(&c->deal, i);
        gt_status status = GEMMTUNE_OK;
        if (item != GT_DEAL_NONE && m->process.pid == 0)
            status = start(c, m, &err);
        if (status != GEMMTUNE_OK)
            fail(c, status, err.line);
        else if (item != GT_DEAL_NONE)
            hand(c, m, item);
    }
    if (!any(c, true)) /* idle members were offered every problem: none is left */
        tell_end(c);
}

static void end_task(struct crew *c, struct member *m) {
    c->result[m->item] = m->news.result;
    c->result[m->item].reached = true;
    m->busy = false;
    end_problem(c, m->item);
}

static void take(struct crew *c, struct member *m) {
    const struct gt_news *news = &m->news;
    if (news->kind == GT_NEWS_ENDED && m->busy) {
        end_task(c, m);
    } else if (news->kind == GT_NEWS_FAILED) {
        fail(c, news->status, news->text);
    } else if (news->note == GT_NOTE_LINE) {
        gt_progress_line(&c->setup->tuner->progress, news->text);
    } else {
        m->note = news->note;
        m->done = news->done;
        m->rate = news->rate;
    }
}

/* Reads the bytes that have come. A member that is stopped inside a frame must not block
 * the program. */
static void hear(struct crew *c, struct member *m) {
    const ssize_t n =
        read(m->process.from, (char *)&m->news + m->heard, sizeof m->news - m->heard);
    if (n < 0 && errno == EINTR)
        return;
    if (n > 0 && (m->heard += (size_t)n) < sizeof m->news)
        return;
    m->heard = 0;
    if (n > 0 && gt_news_sound(&m->news))
        take(c, m);
    else
        end_member(c, m);
}

static void listen_to_all(struct crew *c) {
    struct pollfd fds[GT_ALIKE_MAX];
    size_t who[GT_ALIKE_MAX], n = 0;
    for (size_t i = 0; i < c->members; i++)
        if (c->member[i].process.pid != 0) {
            fds[n] = (struct pollfd){.fd = c->member[i].process.from, .events = POLLIN};
            who[n++] = i;
        }
    const int ready = n > 0 ? poll(fds, (nfds_t)n, (int)(1e3 * poll_s)) : 0;
    for (size_t i = 0; ready > 0 && i < n; i++)
        if (fds[i].revents != 0)
            hear(c, &c->member[who[i]]);
}

/* ---- progress ---- */

/* Assumes that cost and time go together: -1 while no problem has ended. */
static double left_s(const struct crew *c) {
    const struct gt_budget *b = c->setup->budget;
    const double spent = gt_seconds() - b->began;
    const double left = c->deal.done > 0 ? spent * c->deal.left / c->deal.done : -1;
    if (b->seconds <= 0)
        return left;
    return left < 0 ? b->seconds - spent : fmin(left, b->seconds - spent);
}

static size_t say_member(char *text, size_t size, const struct crew *c,
                         const struct member *m) {
    const char *name = c->sweep->item[m->item].name;
    char doing[64] = "";
    if (m->note == GT_NOTE_TRIALS)
        (void)snprintf(doing, sizeof doing, " %zu trial%s", m->done,
                       gt_text_plural((int64_t)m->done));
    else if (m->note == GT_NOTE_STEP)
        (void)snprintf(doing, sizeof doing, " finals");
    const int n = snprintf(text, size, "  %zu: %s%s", m->number, name, doing);
    return n > 0 && (size_t)n < size ? (size_t)n : size - 1;
}

static void show(const struct crew *c) {
    char text[1024];
    const double left = left_s(c);
    double rate = 0;
    for (size_t i = 0; i < c->members; i++)
        rate += c->member[i].busy && c->member[i].note == GT_NOTE_TRIALS ? c->member[i].rate
                                                                         : 0;
    size_t n = (size_t)snprintf(text, sizeof text, "%.1f trials/s", rate);
    if (left > 0)
        n += (size_t)snprintf(text + n, sizeof text - n, ", %.0f s left", left);
    for (size_t i = 0; i < c->members && n + 1 < sizeof text; i++)
        if (c->member[i].busy)
            n += say_member(text + n, sizeof text - n, c, &c->member[i]);
    gt_progress_crowd(&c->setup->tuner->progress, text);
}

/* ---- all of it ---- */

static gt_status create(struct crew *c, struct gt_err *err) {
    const struct gt_alike *devices = c->setup->devices;
    size_t pending = 0;
    for (size_t i = 0; i < c->sweep->count; i++)
        pending += !c->setup->budget->given[i];
    c->members = devices->count;
    c->parts = pending < c->members ? pending : c->members;
    c->member = calloc(c->members, sizeof *c->member);
    if (c->member == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %zu devices", c->members);
    for (size_t i = 0; i < c->members; i++) {
        c->member[i].number = devices->number[i];
        c->member[i].device = &devices->device[i];
    }
    gt_cores_allowed(&c->cores);
    return gt_deal_begin(&c->deal, c->setup->budget, c->members, err);
}

/* Until no member is left. */
static void run_all(struct crew *c) {
    signal(SIGPIPE, SIG_IGN); /* a dead member's pipe is an error of write, not our end */
    do {
        if (*c->setup->tuner->stop)
            hurry_end(c);
        hand_out(c);
        listen_to_all(c);
        kill_late(c);
        show(c);
    } while (any(c, false) || !c->ending);
}

static void give_up_rest(struct crew *c) {
    for (size_t i = 0; i < c->sweep->count; i++)
        if (!c->setup->budget->given[i])
            give_up(c, i, "no device is left to tune it");
}

static void destroy(struct crew *c) {
    char how[96];
    for (size_t i = 0; c->member != NULL && i < c->members; i++)
        (void)gt_process_end(&c->member[i].process, how);
    free(c->member);
    gt_deal_clear(&c->deal);
}

gt_status gt_crew_tune(struct gt_tune_result *result, int *code,
                       const struct gt_crew_setup *setup, struct gt_err *err) {
    struct crew c = {.setup = setup, .sweep = setup->budget->sweep, .result = result};
    gt_status status = create(&c, err);
    if (status == GEMMTUNE_OK)
        run_all(&c);
    if (status == GEMMTUNE_OK && c.status != GEMMTUNE_OK)
        status = gt_fail(err, c.status, "%s", c.why.line);
    if (status == GEMMTUNE_OK && !*setup->tuner->stop)
        give_up_rest(&c);
    destroy(&c);
    *code = c.code;
    return status;
}
