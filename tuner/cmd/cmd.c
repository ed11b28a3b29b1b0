/* SPDX-License-Identifier: Apache-2.0 */
/* cmd.c - the table of subcommands, and how a command line selects one. */
#include "tuner/cmd/cmd.h"
#include "tuner/cmd/common.h"

#include "core/text.h"
#include "tuner/base/wrap.h"

#include <stdio.h>
#include <string.h>

extern const struct gt_cmd gt_cmd_tune, gt_cmd_trial, gt_cmd_run, gt_cmd_verify,
    gt_cmd_ladder, gt_cmd_worker, gt_cmd_devices, gt_cmd_list, gt_cmd_show, gt_cmd_lookup,
    gt_cmd_space, gt_cmd_explain, gt_cmd_compare, gt_cmd_export, gt_cmd_import,
    gt_cmd_merge, gt_cmd_cache, gt_cmd_doctor, gt_cmd_bench, gt_cmd_agree, gt_cmd_replay,
    gt_cmd_predict, gt_cmd_evaluate, gt_cmd_man, gt_cmd_stream, gt_cmd_member,
    gt_cmd_figures, gt_cmd_build, gt_cmd_record, gt_cmd_exec, gt_cmd_complete,
    gt_cmd_report, gt_cmd_lock, gt_cmd_emit;

const struct gt_cmd *const gt_cmds[] = {
    &gt_cmd_devices, &gt_cmd_record,   &gt_cmd_tune,    &gt_cmd_build,    &gt_cmd_emit,
    &gt_cmd_list,    &gt_cmd_report,   &gt_cmd_show,    &gt_cmd_lookup,   &gt_cmd_lock,
    &gt_cmd_exec,    &gt_cmd_run,      &gt_cmd_stream,  &gt_cmd_trial,    &gt_cmd_space,
    &gt_cmd_verify,  &gt_cmd_explain,  &gt_cmd_predict, &gt_cmd_ladder,   &gt_cmd_bench,
    &gt_cmd_figures, &gt_cmd_evaluate, &gt_cmd_compare, &gt_cmd_export,   &gt_cmd_import,
    &gt_cmd_agree,   &gt_cmd_replay,   &gt_cmd_merge,   &gt_cmd_doctor,   &gt_cmd_cache,
    &gt_cmd_worker,  &gt_cmd_member,   &gt_cmd_man,     &gt_cmd_complete, NULL,
};

enum { CMDS = sizeof gt_cmds / sizeof *gt_cmds };

static int print_help(void) {
    printf(
        "usage: gemmtune COMMAND [OPTION]...\n"
        "       gemmtune --device N --sizes FILE    (short for gemmtune tune)\n\n"
        "Finds the fastest matrix multiplication kernel for each problem on each device,\n"
        "and remembers it for libgemmtune.\n\n"
        "Commands:\n");
    for (size_t i = 0; gt_cmds[i] != NULL; i++)
        if (!gt_cmds[i]->hidden)
            gt_wrap_row(stdout, (const char *const[]){gt_cmds[i]->name, gt_cmds[i]->about},
                        (const size_t[]){2, 12}, 2);
    printf(
        "\n'gemmtune help COMMAND' or 'gemmtune COMMAND --help' lists a command's "
        "options.\n"
        "Exit codes: 0 done, 1 failure at run time, 2 usage, 3 bad problem or input file,\n"
        "4 no usable device or compiler, 5 a verification failed, 6 database unusable,\n"
        "7 a kernel is not the one that a lock pins,\n"
        "75 tune, build, ladder or evaluate --keep was stopped; the same command goes on,\n"
        "128 + n signal n stopped another command.\n");
    return GT_EXIT_OK;
}

static const struct gt_cmd *find(const char *name) {
    for (size_t i = 0; gt_cmds[i] != NULL; i++)
        if (strcmp(gt_cmds[i]->name, name) == 0)
            return gt_cmds[i];
    return NULL;
}

static int unknown(const char *name) {
    const char *names[CMDS + 1] = {"help"};
    size_t count = 1;
    for (size_t i = 0; gt_cmds[i] != NULL; i++)
        if (!gt_cmds[i]->hidden)
            names[count++] = gt_cmds[i]->name;
    const char *near = gt_text_nearest(name, names);
    if (near != NULL)
        return gt_die(GT_EXIT_USAGE, "unknown command '%s'; did you mean '%s'?", name,
                      near);
    return gt_die(GT_EXIT_USAGE, "unknown command '%s'; 'gemmtune --help' lists them",
                  name);
}

/* An option of the program itself, or one that looks like a misspelling of it. */
static int own_option(const char *word) {
    static const struct {
        const char *word;
        int (*print)(void);
    } own[] = {
        {"--help", print_help},
        {"-h", print_help},
        {"--version", gt_cmd_print_version},
        {"-V", gt_cmd_print_version},
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(word, own[i].word) == 0)
            return own[i].print();
    const char *near = gt_text_nearest(word, (const char *const[]){"--version", NULL});
    return near == NULL ? -1
                        : gt_die(GT_EXIT_USAGE, "unknown option '%s'; did you mean '%s'?",
                                 word, near);
}

/* `gemmtune help COMMAND` is `gemmtune COMMAND --help`, and `gemmtune help --help` is
 * `gemmtune --help`. */
static int help_of(int argc, char **argv) {
    static char option[] = "--help";
    char *words[] = {argc > 2 ? argv[2] : NULL, option, NULL};
    const struct gt_cmd *cmd = argc > 2 ? find(argv[2]) : NULL;
    if (argc < 3)
        return print_help();
    if (argv[2][0] == '-') {
        const int code = own_option(argv[2]);
        return code >= 0 ? code : unknown(argv[2]);
    }
    return cmd != NULL && !cmd->hidden ? cmd->run(cmd, 2, words) : unknown(argv[2]);
}

int gt_cmd_dispatch(int argc, char **argv) {
    if (argc < 2)
        return print_help();
    if (argv[1][0] == '-') {
        const int code = own_option(argv[1]);
        return code >= 0 ? code : gt_cmd_tune.run(&gt_cmd_tune, argc, argv);
    }
    if (strcmp(argv[1], "help") == 0)
        return help_of(argc, argv);
    const struct gt_cmd *cmd = find(argv[1]);
    return cmd != NULL ? cmd->run(cmd, argc - 1, argv + 1) : unknown(argv[1]);
}
