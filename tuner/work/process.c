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

/* ---- output ---- */

/* A file that disappears when it is closed. Everyone appends, because the reader empties
 * it. */
static FILE *open_output(void) {
    FILE *output = tmpfile();
    if (output && (fcntl(fileno(output), F_SETFL, O_APPEND) != 0 ||
                   fcntl(fileno(output), F_SETFD, FD_CLOEXEC) != 0)) {
        (void)fclose(output);
        return NULL;
    }
    return output;
}

/* Prints the last lines of the output to stderr: all, or only our own log lines. Then
 * empties it. */
static void show_output(struct gt_process *p, bool all) {
    static const char own[] = "gemmtune: ";
    enum { SHOWN_MAX = 8192 };
    char line[1024];
    if (!p->output || fseek(p->output, 0, SEEK_END) != 0)
        return;
    const long size = ftell(p->output);
    if (size <= 0 ||
        fseek(p->output, size > SHOWN_MAX ? size - SHOWN_MAX : 0, SEEK_SET) != 0)
        return;
    while (fgets(line, sizeof line, p->output))
        if (all || strncmp(line, own, sizeof own - 1) == 0)
            fputs(line, stderr);
    rewind(p->output);
    (void)!ftruncate(fileno(p->output), 0);
}

void gt_process_drop_output(struct gt_process *p) {
    show_output(p, false);
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
    /* Signals often go to the whole process group. The parent decides when a trial ends. */
    const int ignored[] = {SIGINT, SIGTERM, SIGUSR1};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        (void)signal(ignored[i], SIG_IGN);
    const char *self = getenv("GEMMTUNE_SELF"); /* a test program may replace the worker */
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
    FILE *output = open_output();
    const pid_t pid = fork();
    if (pid == 0) {
        gt_cores_keep(cores);
        for (int fd = STDOUT_FILENO; output && fd <= STDERR_FILENO; fd++)
            (void)dup2(fileno(output), fd);
        child(job_pipe[0], report_pipe[1], templates);
    }
    close(job_pipe[0]);
    close(report_pipe[1]);
    if (pid < 0) {
        close(job_pipe[1]);
        close(report_pipe[0]);
        if (output)
            (void)fclose(output);
        return gt_fail(err, GEMMTUNE_EDEVICE, "cannot start a worker: %s", strerror(errno));
    }
    *p = (struct gt_process){pid, job_pipe[1], report_pipe[0], output, false};
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
        /* a worker may be ending already: wait a moment, so that its own end is reported */
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
    show_output(p, state != 0 && !p->killed);
    if (p->output)
        (void)fclose(p->output);
    *p = (struct gt_process){0};
    return by_others;
}
