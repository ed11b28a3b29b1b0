/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec.c - `gemmtune exec PROGRAM ARG...`: runs a program, and serves its calls of cuBLAS
 * where that is faster. The exit code is the program's.
 */
#include "tuner/cmd/common.h"
#include "tuner/cmd/lock.h"
#include "tuner/cmd/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct values {
    const char *db, *lock;
    struct gt_texts math;
    bool check, quiet;
};

static const struct gt_option options[] = {
    {"check", 0, GT_OPT_FLAG, offsetof(struct values, check), NULL,
     "let the original compute C and our kernel a copy of it, and compare: slow", 0, 0},
    {"math", 0, GT_OPT_NAMES, offsetof(struct values, math), "NAMES",
     "split: strict f32 may be computed as f32@split; residues: f64 as f64@residues", 0, 0},
    GT_OPTION_DB(struct values),
    {"lock", 0, GT_OPT_TEXT, offsetof(struct values, lock), "FILE",
     "serve with the kernels that FILE pins (gemmtune lock), and nothing else (else "
     "$GEMMTUNE_LOCK, else what was measured faster)",
     0, 0},
    {"quiet", 'q', GT_OPT_FLAG, offsetof(struct values, quiet), NULL,
     "no line on stderr when the program ends", 0, 0},
    GT_OPTION_END,
};

static int check_math(const struct values *v) {
    static const char *const words[] = {"split", "residues", NULL};
    for (int i = 0; i < v->math.count; i++) {
        const char *const word = v->math.text[i];
        if (strcmp(word, words[0]) != 0 && strcmp(word, words[1]) != 0) {
            const char *near = gt_text_nearest(word, words);
            return gt_die(GT_EXIT_USAGE,
                          "exec: --math %s is neither split nor residues%s%s%s", word,
                          near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                          near != NULL ? "'?" : "");
        }
    }
    return -1;
}

/* The value of GEMMTUNE_EXEC. */
static void write_mode(char *text, size_t size, const struct values *v) {
    int length = gt_text_put(text, size, 0, v->check ? "check" : "serve");
    for (int i = 0; i < v->math.count; i++) {
        length = gt_text_put(text, size, length, ",");
        length = gt_text_put(text, size, length, v->math.text[i]);
    }
    if (v->quiet)
        (void)gt_text_put(text, size, length, ",quiet");
}

/* The lock of the command line, else of the environment. It is looked at before the program
 * begins: there a refusal could only be said at the end. */
static int check_lock(struct values *v) {
    const char *variable = getenv("GEMMTUNE_LOCK");
    if (v->lock == NULL && variable != NULL && variable[0] != '\0')
        v->lock = variable;
    return v->lock != NULL ? gt_lock_glance(v->lock) : -1;
}

/* Hands a path on to the program, which may change its folder. */
static gt_status set_path(const char *variable, const char *path, struct gt_err *err) {
    char whole[GT_PATH_SIZE];
    if (path == NULL)
        return GEMMTUNE_OK;
    const gt_status status = gt_program_path(whole, path, err);
    if (status == GEMMTUNE_OK && setenv(variable, whole, 1) != 0)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    return status;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.db = NULL};
    struct gt_err err = {""};
    char mode[1024] = "";
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, NULL, 1, argc, &first);
    if (code < 0)
        code = check_math(&v);
    if (code < 0)
        code = check_lock(&v);
    if (code >= 0)
        return code;
    write_mode(mode, sizeof mode, &v);
    gt_status status = gt_program_prepare(mode, &err);
    if (status == GEMMTUNE_OK)
        status = set_path("GEMMTUNE_DB", v.db, &err);
    if (status == GEMMTUNE_OK)
        status = set_path("GEMMTUNE_LOCK", v.lock, &err);
    return status == GEMMTUNE_OK ? gt_program_become(argv + first)
                                 : gt_die(GT_EXIT_FAILURE, "%s", err.line);
}

const struct gt_cmd gt_cmd_exec = {
    .name = "exec",
    .operands = "PROGRAM ARG...",
    .about = "Run a program; its cuBLAS calls that are faster here are served.",
    .options = options,
    .run = run,
    .runs_program = true,
};
