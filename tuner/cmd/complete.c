/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complete.c - `gemmtune complete SHELL`, for the build: makes a shell's completion
 * from tools/packages/completions/. A line "@commands", "@options" or "@operands" becomes
 * the shell's lines of all commands, from their tables; every other line is copied. The
 * command is hidden, since `make install` puts the results where shells find them.
 */
#include "tuner/cmd/complete.h"
#include "tuner/cmd/common.h"

#include <ctype.h>
#include <string.h>

enum { LINE_MAX_BYTES = 1024, WORDS_SIZE = 1024 };

/* ---- values ---- */

/* The words of options that have few; the help of each option names them
 * (tests/cli/complete.sh compares). Without a command the row holds for every command. */
static const struct {
    const char *cmd, *option, *words;
} choices[] = {
    {NULL, "effort", "quick normal full"},
    {NULL, "spread", "around exact zipf"},
    {"replay", "strategy", "model random full ils anneal genetic clblast"},
    {NULL, "strategy", "model random full"},
    {"tune", "against", "cublas cublaslt"},
    {"stream", "against", "resident cublasxt"},
    {"bench", "against",
     "cublas cublaslt cublas+kernel cublaslt+kernel clblast cpu cublas-autotune self"},
    {"stream", "order", "planned five"},
    {"export", "format", "gemmtune t4"},
    {"exec", "math", "split residues"},
    {"lock", "others", "refuse lookup"},
    {"figures", "by", "type class"},
    {"evaluate", "rule", "lookup nearest volume single untuned default"},
};

static const char *families(void) {
    static char text[WORDS_SIZE];
    int length = 0;
    for (size_t i = 0; length == 0 || gt_families_built_in[i] != NULL; i++) {
        length = gt_text_put(text, sizeof text, length, i > 0 ? " " : "");
        length = gt_text_put(text, sizeof text, length, gt_families_built_in[i]->name);
    }
    return text;
}

static const char *choice(const struct gt_cmd *cmd, const struct gt_option *o) {
    if (strcmp(o->name, "family") == 0)
        return families();
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (strcmp(choices[i].option, o->name) == 0 &&
            (choices[i].cmd == NULL || strcmp(choices[i].cmd, cmd->name) == 0))
            return choices[i].words;
    return NULL;
}

static struct gt_shell_value option_value(const struct gt_cmd *cmd,
                                          const struct gt_option *o) {
    static const struct {
        const char *arg;
        enum gt_shell_value_kind kind;
    } rows[] = {{"FILE", GT_SHELL_FILE},
                {"CACHE", GT_SHELL_FILE},
                {"DIR", GT_SHELL_FOLDER},
                {"FOLDER", GT_SHELL_FOLDER}};
    const char *words = choice(cmd, o);
    if (words != NULL)
        return (struct gt_shell_value){
            o->kind == GT_OPT_NAMES || strcmp(o->arg, "LIST") == 0 ? GT_SHELL_LIST
                                                                   : GT_SHELL_WORD,
            words};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(o->arg, rows[i].arg) == 0)
            return (struct gt_shell_value){rows[i].kind, ""};
    return (struct gt_shell_value){GT_SHELL_OTHER, ""};
}

/* "[stat|clear]": the words of operands that are written in small letters; NULL where any
 * other character is. */
static const char *operand_words(const char *operands) {
    static char text[WORDS_SIZE];
    size_t length = 0;
    for (; *operands != '\0' && length + 1 < sizeof text; operands++)
        if (islower((unsigned char)*operands) || *operands == '|')
            text[length++] = *operands == '|' ? ' ' : *operands;
        else if (*operands != '[' && *operands != ']')
            return NULL;
    text[length] = '\0';
    return length > 0 ? text : NULL;
}

static struct gt_shell_value operands_value(const struct gt_cmd *cmd) {
    const char *words = operand_words(cmd->operands);
    if (cmd->runs_program)
        return (struct gt_shell_value){GT_SHELL_PROGRAM, ""};
    if (words != NULL)
        return (struct gt_shell_value){GT_SHELL_WORD, words};
    if (strncmp(cmd->operands, "[FAMILY", strlen("[FAMILY")) == 0)
        return (struct gt_shell_value){GT_SHELL_WORD, families()};
    if (strncmp(cmd->operands, "FILE", strlen("FILE")) == 0 ||
        strncmp(cmd->operands, "CACHE", strlen("CACHE")) == 0 ||
        strcmp(cmd->operands, "A B") == 0)
        return (struct gt_shell_value){GT_SHELL_FILE, ""};
    return (struct gt_shell_value){GT_SHELL_OTHER, ""};
}

/* ---- the script ---- */

static const struct gt_option help_option = {
    .name = "help", .letter = 'h', .kind = GT_OPT_FLAG, .help = "show help and exit"};

static void put_command(const struct gt_shell *shell, const struct gt_cmd *cmd) {
    shell->command(cmd);
}

static void put_options(const struct gt_shell *shell, const struct gt_cmd *cmd) {
    if (shell->begin != NULL)
        shell->begin(cmd);
    for (const struct gt_option *o = cmd->options; o->name != NULL; o++) {
        const struct gt_shell_value value =
            o->kind == GT_OPT_FLAG ? (struct gt_shell_value){GT_SHELL_OTHER, ""}
                                   : option_value(cmd, o);
        shell->option(cmd, o, o->kind == GT_OPT_FLAG ? NULL : &value);
    }
    shell->option(cmd, &help_option, NULL);
    if (shell->end != NULL)
        shell->end(cmd);
}

static void put_operands(const struct gt_shell *shell, const struct gt_cmd *cmd) {
    const struct gt_shell_value value = operands_value(cmd);
    shell->operands(cmd, &value);
}

static const struct mark {
    const char *line;
    void (*put)(const struct gt_shell *shell, const struct gt_cmd *cmd);
} marks[] = {{"@commands\n", put_command},
             {"@options\n", put_options},
             {"@operands\n", put_operands}};

static void copy_or_replace(const char *line, const struct gt_shell *shell) {
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strcmp(line, marks[i].line) == 0) {
            for (size_t j = 0; gt_cmds[j] != NULL; j++)
                if (!gt_cmds[j]->hidden)
                    marks[i].put(shell, gt_cmds[j]);
            return;
        }
    (void)fputs(line, stdout);
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    char line[LINE_MAX_BYTES];
    size_t i = 0;
    (void)cmd;
    while (argc > 1 && gt_shells[i] != NULL && strcmp(argv[1], gt_shells[i]->name) != 0)
        i++;
    if (argc != 2 || gt_shells[i] == NULL)
        return gt_die(GT_EXIT_USAGE, "complete: bash, zsh or fish, and a file as input");
    while (fgets(line, sizeof line, stdin) != NULL)
        copy_or_replace(line, gt_shells[i]);
    return GT_EXIT_OK;
}

const struct gt_cmd gt_cmd_complete = {
    .name = "complete",
    .operands = "bash|zsh|fish <tools/packages/completions/gemmtune.SHELL.in",
    .about = "Write a shell's completion.",
    .options = (const struct gt_option[]){GT_OPTION_END},
    .run = run,
    .hidden = true,
};
