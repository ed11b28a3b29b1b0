/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.c - guard SECONDS COMMAND [ARGUMENT...] runs a command. When the command ends, the
 * guard ends every process that the command has started and left behind. It does the same
 * when it receives SIGHUP, SIGINT or SIGTERM, and when its own parent dies.
 *
 * The command may work for SECONDS (0: without limit). A second counts when a core works
 * for the command, and when none of its processes wants a core. It does not count when the
 * command wants a core and other programs have them all.
 *
 * Exit status: the command's; 128 and its signal; 124 when it has worked for too long.
 */
#define _DEFAULT_SOURCE

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES_MAX = 4096, TOO_LONG = 124, NOT_FOUND = 127 };

static const struct timespec look_every = {.tv_sec = 1};
static const struct timespec a_moment = {.tv_nsec = 10000000};
static const double killing_limit_s = 10;

struct process {
    int pid, parent;
    char state; /* of its first thread, as proc(5) has it */
    /* of all cores: its own time and the time of its children that have ended */
    double seconds;
    bool ours; /* a descendant of the guard */
};

static struct process process[PROCESSES_MAX];
static int processes;

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the program under guard ---- */

/* Reads a file stat of /proc; false when the process is gone. */
static bool read_stat(const char *path, struct process *p) {
    char text[1024];
    unsigned long ticks[4] = {0};
    FILE *f = fopen(path, "r");
    size_t length = f ? fread(text, 1, sizeof text - 1, f) : 0;
    const char *rest;
    if (f)
        fclose(f);
    text[length] = '\0';
    rest = strrchr(text, ')'); /* the name before it may hold anything */
    if (!rest ||
        sscanf(rest, ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu",
               &p->state, &p->parent, &ticks[0], &ticks[1], &ticks[2], &ticks[3]) != 6)
        return false;
    p->seconds =
        (double)(ticks[0] + ticks[1] + ticks[2] + ticks[3]) / (double)sysconf(_SC_CLK_TCK);
    return true;
}

/* Marks the descendants of the guard. A child may come before its parent in the list. */
static void mark_ours(void) {
    int guard = (int)getpid();
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < processes; i++)
            for (int j = 0; j < processes && !process[i].ours; j++)
                if (process[i].parent == guard ||
                    (process[j].ours && process[i].parent == process[j].pid))
                    more = process[i].ours = true;
    }
}

static void list_processes(void) {
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    char path[300];
    processes = 0;
    while (folder && processes < PROCESSES_MAX && (entry = readdir(folder))) {
        struct process *p = &process[processes];
        *p = (struct process){.pid = atoi(entry->d_name)};
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        processes += p->pid > 0 && read_stat(path, p);
    }
    if (folder)
        closedir(folder);
    mark_ours();
}

static bool state_wants_core(char state) {
    return state == 'R' || state == 'D';
}

/* Whether a thread of the process runs, or would run if it had a core. */
static bool wants_core(const struct process *p) {
    struct process thread;
    char path[300];
    bool wants = state_wants_core(p->state);
    DIR *folder;
    const struct dirent *entry;
    snprintf(path, sizeof path, "/proc/%d/task", p->pid);
    folder = opendir(path);
    while (folder && !wants && (entry = readdir(folder))) {
        snprintf(path, sizeof path, "/proc/%d/task/%s/stat", p->pid, entry->d_name);
        wants = read_stat(path, &thread) && state_wants_core(thread.state);
    }
    if (folder)
        closedir(folder);
    return wants;
}

/* ---- how long it worked ---- */

static double worked_s;

static double seconds_of(struct timeval t) {
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Adds the time since the last look to worked_s. */
static void look(void) {
    static double looked_s, used_s;
    double now = now_s(), passed = looked_s > 0 ? now - looked_s : 0, used;
    bool wants = false;
    struct rusage ended;
    if (looked_s > 0 && passed < 0.5)
        return;
    getrusage(RUSAGE_CHILDREN, &ended);
    used = seconds_of(ended.ru_utime) + seconds_of(ended.ru_stime);
    list_processes();
    for (int i = 0; i < processes; i++) {
        if (!process[i].ours)
            continue;
        used += process[i].seconds;
        wants = wants || wants_core(&process[i]);
    }
    worked_s += used - used_s > passed || wants ? used - used_s : passed;
    looked_s = now;
    used_s = used;
}

/* ---- the end ---- */

/* Waits for all processes that have ended. True when the command was among them; says how
 * it ended. */
static bool reap(int *status, pid_t command) {
    bool over = false;
    int state;
    for (pid_t pid; (pid = waitpid(-1, &state, WNOHANG)) > 0;)
        if (pid == command) {
            *status = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
            over = true;
        }
    return over;
}

/* Children of a process that is killed become the guard's: it is a subreaper. */
static void end_all(void) {
    double began = now_s();
    int status;
    for (;;) {
        list_processes();
        for (int i = 0; i < processes; i++)
            if (process[i].ours)
                kill(process[i].pid, SIGKILL);
        reap(&status, 0);
        if ((waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD) ||
            now_s() - began > killing_limit_s)
            return;
        nanosleep(&a_moment, NULL);
    }
}

/* Waits until the command ends, works too long or must stop. Returns the guard's exit
 * status. */
static int watch(pid_t command, double limit_s, const sigset_t *signals) {
    int status = 0;
    for (;;) {
        int signal = sigtimedwait(signals, NULL, &look_every);
        if (reap(&status, command))
            return status;
        if (signal > 0 && signal != SIGCHLD)
            return 128 + signal;
        if (limit_s > 0)
            look();
        if (limit_s > 0 && worked_s > limit_s)
            return TOO_LONG;
    }
}

static pid_t start(char **argv, const sigset_t *signals) {
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0); /* signals of the command to its group stay there */
    sigprocmask(SIG_UNBLOCK, signals, NULL);
    execvp(argv[0], argv);
    fprintf(stderr, "guard: %s: %s\n", argv[0], strerror(errno));
    _exit(NOT_FOUND);
}

int main(int argc, char **argv) {
    pid_t parent = getppid(), command;
    sigset_t signals;
    int status;
    if (argc < 3) {
        fprintf(stderr, "usage: guard SECONDS COMMAND [ARGUMENT...]\n");
        return 2;
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    command = getppid() == parent ? start(argv + 2, &signals) : -1;
    if (command < 0)
        return 1;
    status = watch(command, atof(argv[1]), &signals);
    end_all();
    return status;
}
