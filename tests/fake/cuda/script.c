/* SPDX-License-Identifier: Apache-2.0 */
/* script.c - FAKE_CUDA_SCRIPT: which call fails, and how. See fake_cuda.h. */
#include "tests/fake/cuda/fake_cuda.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Noreturn void stop(const char *why, const char *what) {
    fprintf(stderr, "fake libcuda: %s %s\n", why, what);
    abort();
}

static struct {
    char text[1024];
    int count;
    struct rule rule[RULES_MAX];
    atomic_long own[RULES_MAX], *seen; /* seen: own, or a file that processes share */
} script;

static bool word_is_known(const char *word) {
    static const char *const words[] = {"fault",           "hang",  "corrupt", "lose",
                                        "clock",           "noted", "outlier", "slow",
                                        "stall",
#define X(name, symbol, needed, params) #name,
                                        GT_CUDA_SYMBOLS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

/* The values after each delimiter, in any order. */
static void read_rule(struct rule *r, const char *p) {
    static const char delimiters[] = "/:@=!;";
    size_t length = strcspn(p, delimiters);
    *r = (struct rule){.at = 0};
    snprintf(r->what, sizeof r->what, "%.*s", (int)length, p);
    if (!word_is_known(r->what))
        stop("FAKE_CUDA_SCRIPT does not know", r->what);
    for (p += length; *p && *p != ';'; p += length) {
        const char kind = *p++;
        length = strcspn(p, delimiters);
        if (kind == '/')
            snprintf(r->kernel, sizeof r->kernel, "%.*s", (int)length, p);
        else if (kind == '=')
            r->value = strtod(p, NULL);
        else if (kind == '!')
            r->sticky = true;
        else
            r->at = strtol(p, NULL, 10);
    }
}

static atomic_long *shared_counters(const char *path) {
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *map = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, sizeof script.own) == 0)
        map = mmap(NULL, sizeof script.own, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        stop("cannot use FAKE_CUDA_STATE", path);
    close(fd);
    return map;
}

void read_script(void) {
    const char *text = getenv("FAKE_CUDA_SCRIPT"), *state = getenv("FAKE_CUDA_STATE");
    if (!text)
        text = "";
    if (script.seen && strcmp(text, script.text) == 0)
        return;
    snprintf(script.text, sizeof script.text, "%s", text);
    script.count = 0;
    for (const char *p = text; *p && script.count < RULES_MAX;) {
        read_rule(&script.rule[script.count], p);
        atomic_store(&script.own[script.count++], 0);
        p += strcspn(p, ";");
        p += *p == ';';
    }
    script.seen = state && *state ? shared_counters(state) : script.own;
}

const struct rule *due(const char *what, const char *kernel) {
    const struct rule *found = NULL;
    for (int i = 0; i < script.count; i++) {
        const struct rule *r = &script.rule[i];
        if (strcmp(r->what, what) != 0 || (r->kernel[0] && strcmp(r->kernel, kernel) != 0))
            continue;
        const long seen = atomic_fetch_add(&script.seen[i], 1) + 1;
        if (r->at == 0 || seen == r->at)
            found = r;
    }
    return found;
}

double clock_factor(bool measuring) {
    for (int i = 0; i < script.count; i++) {
        if (strcmp(script.rule[i].what, "clock") != 0)
            continue;
        const long seen = measuring ? atomic_fetch_add(&script.seen[i], 1) + 1
                                    : atomic_load(&script.seen[i]);
        if (seen >= script.rule[i].at)
            return script.rule[i].value;
    }
    return 1;
}
