/* SPDX-License-Identifier: Apache-2.0 */
/* process.c - see process.h. */
#include "tuner/work/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- what it prints ---- */

/* A file that is gone when it is closed. Everybody appends: it is emptied under the writer.
 */
static FILE *open_said(void) {
    FILE *said = tmpfile();
    if (said && (fcntl(fileno(said), F_SETFL, O_APPEND) != 0 ||
                 fcntl(fileno(said), F_SETFD, FD_CLOEXEC) != 0)) {
        (void)fclose(said);
        return NULL;
    }
    return said;
}

/* The last lines of it, all or our own, to our stderr; then it is empty. */
static void show(struct gt_process *p, bool all) {
    static const char own[] = "gemmtune: ";
    enum { SHOWN_MAX = 8192 };
    char line[1024];
    if (!p->said || fseek(p->said, 0, SEEK_END) != 0)
        return;
    const long size = ftell(p->said);
    if (size <= 0 || fseek(p->said, size > SHOWN_MAX ? size - SHOWN_MAX : 0, SEEK_SET) != 0)
        return;
    while (fgets(line, sizeof line, p->said))
        if (all || strncmp(line, own, sizeof own - 1) == 0)
            fputs(line, stderr);
    rewind(p->said);
    (void)!ftruncate(fileno(p->said), 0);
}

void gt_process_hush(struct gt_process *p) {
    show(p, false);
}

/* ---- start ---- */

static void child(int in, int out, const struct gt_texts *templates) {
    char *argv[4 + 2 * GT_TEXTS_MAX];
    char in_text[16], out_text[16];
    int n = 0;
    snprintf(in_text, sizeof in_text, "%d", in);
    snprintf(out_text, sizeof out_text, "%d", out);
    union {
        const char *text;
        char *arg;
    } cast;
    const char *const fixed[4] = {"gemmtune", "worker", in_text, out_text};
    for (int i = 0; i < 4; i++) {
        cast.text = fixed[i];
        argv[n++] = cast.arg;
    }
    for (int i = 0; templates && i < templates->count && n + 1 < 4 + 2 * GT_TEXTS_MAX;
         i++) {
        cast.text = templates->text[i];
        argv[n++] = cast.arg;
    }
    argv[n] = NULL;
    (void)fcntl(in, F_SETFD, 0);
    (void)fcntl(out, F_SETFD, 0);
    /* Signals often go to the whole group; the parent decides when a trial ends. */
    const int ignored[] = {SIGINT, SIGTERM, SIGUSR1};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        (void)signal(ignored[i], SIG_IGN);
    const char *self = getenv("GEMMTUNE_SELF"); /* a test program stands in for us */
    execv(self ? self : "/proc/self/exe", argv);
    _exit(127);
}

gt_status gt_process_start(struct gt_process *p, const struct gt_texts *templates,
                           const struct gt_core_set *cores, struct gt_err *err) {
    int job_pipe[2], report_pipe[2];
    if (pipe(job_pipe) != 0)
        return gt_fail(err, GEMMTUNE_EDEVICE, "cannot make a pipe: %s", strerror(errno));
    if (pipe(report_pipe) != 0) {
        close(job_pipe[0]);
        close(job_pipe[1]);
        return gt_fail(err, GEMMTUNE_EDEVICE, "cannot make a pipe: %s", strerror(errno));
    }
    const int ends[4] = {job_pipe[0], job_pipe[1], report_pipe[0], report_pipe[1]};
    for (int i = 0; i < 4; i++)
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    FILE *said = open_said();
    const pid_t pid = fork();
    if (pid == 0) {
        gt_cores_keep(cores);
        for (int fd = STDOUT_FILENO; said && fd <= STDERR_FILENO; fd++)
            (void)dup2(fileno(said), fd);
        child(job_pipe[0], report_pipe[1], templates);
    }
    close(job_pipe[0]);
    close(report_pipe[1]);
    if (pid < 0) {
        close(job_pipe[1]);
        close(report_pipe[0]);
        if (said)
            (void)fclose(said);
        return gt_fail(err, GEMMTUNE_EDEVICE, "cannot start a worker: %s", strerror(errno));
    }
    *p = (struct gt_process){pid, job_pipe[1], report_pipe[0], said, false};
    return GEMMTUNE_OK;
}

/* ---- end ---- */

void gt_process_kill(struct gt_process *p) {
    p->killed = true;
    kill(p->pid, SIGKILL);
}

bool gt_process_end(struct gt_process *p, char how[96]) {
    int state = 0;
    snprintf(how, 96, "was stopped");
    if (p->pid == 0)
        return false;
    close(p->to);
    close(p->from);
    if (waitpid(p->pid, &state, WNOHANG) == 0) {
        /* a moment for one that is already on its way out, so that its own end is what we
         * see */
        const struct timespec moment = {.tv_nsec = 50 * 1000 * 1000};
        nanosleep(&moment, NULL);
        if (waitpid(p->pid, &state, WNOHANG) == 0) {
            gt_process_kill(p);
            while (waitpid(p->pid, &state, 0) < 0 && errno == EINTR)
                ;
        }
    }
    if (WIFSIGNALED(state))
        snprintf(how, 96, "was ended by signal %d (%s)", WTERMSIG(state),
                 strsignal(WTERMSIG(state)));
    else if (WIFEXITED(state))
        snprintf(how, 96, "exited with code %d", WEXITSTATUS(state));
    const bool by_others = WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL && !p->killed;
    show(p, state != 0 && !p->killed);
    if (p->said)
        (void)fclose(p->said);
    *p = (struct gt_process){0};
    return by_others;
}
