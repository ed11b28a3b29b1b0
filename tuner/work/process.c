/* SPDX-License-Identifier: Apache-2.0 */
/* process.c - see process.h. */
#include "tuner/work/process.h"

#include "core/text.h"
#include "tuner/base/child.h"
#include "tuner/base/talk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- what it prints ---- */

/* A file that is gone when it is closed. Everybody appends:
 * it is emptied under the writer. */
static FILE *open_said(void) {
    FILE *said = tmpfile();
    if (said && (fcntl(fileno(said), F_SETFL, O_APPEND) != 0 ||
                 fcntl(fileno(said), F_SETFD, FD_CLOEXEC) != 0)) {
        (void)fclose(said);
        return NULL;
    }
    return said;
}

/* A compiler quotes sources, which may be a stranger's. */
static void show_line(char *line) {
    line[strcspn(line, "\n")] = '\0';
    gt_text_clean(line);
    gt_talk_line("%s", line);
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
            show_line(line);
    rewind(p->said);
    (void)!ftruncate(fileno(p->said), 0);
}

void gt_process_hush(struct gt_process *p) {
    show(p, false);
}

/* ---- start ---- */

/* The command line, in memory that the caller frees. */
static char **make_words(const char *in, const char *out,
                         const struct gt_process_setup *setup) {
    const char *const fixed[4] = {"gemmtune", setup->command, in, out};
    char **argv = calloc((size_t)setup->words + 5, sizeof *argv);
    union {
        const char *text;
        char *arg;
    } cast;
    for (int i = 0; argv != NULL && i < 4 + setup->words; i++) {
        cast.text = i < 4 ? fixed[i] : setup->word[i - 4];
        argv[i] = cast.arg;
    }
    return argv;
}

static void become(int in, int out, char **argv) {
    (void)fcntl(in, F_SETFD, 0);
    (void)fcntl(out, F_SETFD, 0);
    const char *self = getenv("GEMMTUNE_SELF"); /* a test program stands in for us */
    execv(self ? self : "/proc/self/exe", argv);
    _exit(127);
}

/* In the child: its cores, its output, its program. */
static void begin(int in, int out, FILE *said, const struct gt_process_setup *setup,
                  char **argv) {
    gt_cores_keep(setup->cores);
    if (setup->aloud)
        (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    for (int fd = STDOUT_FILENO; said && fd <= STDERR_FILENO; fd++)
        (void)dup2(fileno(said), fd);
    become(in, out, argv);
}

/* Two pipes: jobs go through ends[0] and [1], reports through [2] and [3]. */
static gt_status open_pipes(int ends[4], struct gt_err *err) {
    if (pipe(ends) != 0)
        return gt_fail(err, GEMMTUNE_EDEVICE, "cannot make a pipe: %s", strerror(errno));
    if (pipe(ends + 2) != 0) {
        close(ends[0]);
        close(ends[1]);
        return gt_fail(err, GEMMTUNE_EDEVICE, "cannot make a pipe: %s", strerror(errno));
    }
    for (int i = 0; i < 4; i++)
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    return GEMMTUNE_OK;
}

gt_status gt_process_start(struct gt_process *p, const struct gt_process_setup *setup,
                           struct gt_err *err) {
    int ends[4];
    char in[16], out[16];
    const gt_status status = open_pipes(ends, err);
    if (status != GEMMTUNE_OK)
        return status;
    snprintf(in, sizeof in, "%d", ends[0]);
    snprintf(out, sizeof out, "%d", ends[3]);
    char **argv = make_words(in, out, setup);
    FILE *said = setup->aloud ? NULL : open_said();
    const pid_t self = getpid();
    const pid_t pid = argv != NULL ? fork() : -1;
    if (pid == 0) {
        gt_child_begin(self, setup->aloud ? SIGTERM : SIGKILL);
        begin(ends[0], ends[3], said, setup, argv);
    }
    const int why = errno;
    free(argv);
    close(ends[0]);
    close(ends[3]);
    *p = (struct gt_process){.pid = pid, .to = ends[1], .from = ends[2], .said = said};
    if (pid > 0)
        return GEMMTUNE_OK;
    close(p->to);
    close(p->from);
    if (said)
        (void)fclose(said);
    *p = (struct gt_process){0};
    return gt_fail(err, GEMMTUNE_EDEVICE, "cannot start a worker: %s", strerror(why));
}

double gt_process_worked(const struct gt_process *p) {
    clockid_t clock;
    struct timespec t;
    return clock_getcpuclockid(p->pid, &clock) == 0 && clock_gettime(clock, &t) == 0
               ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec
               : 0;
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
    *p = (struct gt_process){.code = WIFSIGNALED(state) ? 128 + WTERMSIG(state)
                                                        : WEXITSTATUS(state)};
    return by_others;
}
