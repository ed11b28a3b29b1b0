/* SPDX-License-Identifier: Apache-2.0 */
/* complete_shells.c - how bash, zsh and fish write commands, options and values. */
#include "tuner/cmd/complete.h"

#include <stdio.h>
#include <string.h>

/* Prints a text; each of the characters in `marked` follows the text in `by`. */
static void put_marked(const char *text, const char *marked, const char *by) {
    for (; *text != '\0'; text++) {
        if (strchr(marked, *text) != NULL)
            (void)fputs(by, stdout);
        (void)fputc(*text, stdout);
    }
}

/* Within single quotes of sh: a quote ends them, stands alone, and begins them again. */
static void put_quoted(const char *text, const char *marked) {
    for (; *text != '\0'; text++)
        if (*text == '\'')
            (void)fputs("'\\''", stdout);
        else
            put_marked((char[]){*text, '\0'}, marked, "\\");
}

/* ---- bash ---- */

static void bash_command(const struct gt_cmd *cmd) {
    printf("        %s\n", cmd->name);
}

/* The help of an option has no place in bash. */
static void bash_option(const struct gt_cmd *cmd, const struct gt_option *o,
                        const struct gt_shell_value *value) {
    static const char *const kinds[] = {
        [GT_SHELL_OTHER] = "other", [GT_SHELL_FILE] = "file", [GT_SHELL_FOLDER] = "folder",
        [GT_SHELL_WORD] = "word",   [GT_SHELL_LIST] = "list",
    };
    printf("    '%s --%s'", cmd->name, o->name);
    if (o->letter != 0)
        printf(" | '%s -%c'", cmd->name, o->letter);
    if (value == NULL)
        printf(") kind=none ;;\n");
    else if (value->words[0] != '\0')
        printf(") kind=%s words='%s' ;;\n", kinds[value->kind], value->words);
    else
        printf(") kind=%s ;;\n", kinds[value->kind]);
}

static void bash_begin(const struct gt_cmd *cmd) {
    printf("    '%s options') words='", cmd->name);
    for (const struct gt_option *o = cmd->options; o->name != NULL; o++)
        printf("--%s ", o->name);
    printf("--help' ;;\n");
}

static void bash_operands(const struct gt_cmd *cmd, const struct gt_shell_value *value) {
    static const char *const kinds[] = {
        [GT_SHELL_OTHER] = "other",   [GT_SHELL_FILE] = "file",
        [GT_SHELL_FOLDER] = "folder", [GT_SHELL_WORD] = "word",
        [GT_SHELL_LIST] = "list",     [GT_SHELL_PROGRAM] = "program",
    };
    printf("    '%s operands') kind=%s words='%s' ;;\n", cmd->name, kinds[value->kind],
           value->words);
}

static const struct gt_shell bash = {.name = "bash",
                                     .command = bash_command,
                                     .begin = bash_begin,
                                     .option = bash_option,
                                     .operands = bash_operands};

/* ---- zsh ---- */

static void zsh_command(const struct gt_cmd *cmd) {
    printf("        '%s:", cmd->name);
    put_quoted(cmd->about, "\\");
    printf("'\n");
}

/* "N:_files": how a value is called, and the action that completes it. */
static void zsh_value(const char *called, const struct gt_shell_value *value) {
    static const char *const actions[] = {
        [GT_SHELL_OTHER] = " ",
        [GT_SHELL_FILE] = "_files",
        [GT_SHELL_FOLDER] = "_files -/",
        [GT_SHELL_WORD] = "(",
        [GT_SHELL_LIST] = "_sequence compadd - ",
        [GT_SHELL_PROGRAM] = "_normal",
    };
    put_quoted(called, ":\\[]");
    printf(":%s%s%s'", actions[value->kind], value->words,
           value->kind == GT_SHELL_WORD ? ")" : "");
}

static void zsh_begin(const struct gt_cmd *cmd) {
    printf("    %s)\n        options=(\n", cmd->name);
}

static void zsh_end(const struct gt_cmd *cmd) {
    (void)cmd;
    printf("        )\n        ;;\n");
}

/* '(-d --device)'{-d,--device}'[help]:N: ': either form excludes both. Lists may be
 * repeated. */
static void zsh_option(const struct gt_cmd *cmd, const struct gt_option *o,
                       const struct gt_shell_value *value) {
    const bool repeated = o->kind == GT_OPT_LIST || o->kind == GT_OPT_NAMES;
    (void)cmd;
    printf("            ");
    if (repeated)
        printf("'*'");
    else if (o->letter != 0)
        printf("'(-%c --%s)'", o->letter, o->name);
    if (o->letter != 0)
        printf("{-%c,--%s}'[", o->letter, o->name);
    else
        printf("'--%s[", o->name);
    put_quoted(o->help, "\\[]");
    if (value == NULL) {
        printf("]'\n");
        return;
    }
    printf("]:");
    zsh_value(o->arg, value);
    printf("\n");
}

static void zsh_operands(const struct gt_cmd *cmd, const struct gt_shell_value *value) {
    printf("    %s) operands=('*:%s", cmd->name,
           value->kind == GT_SHELL_PROGRAM ? ":" : "");
    zsh_value(cmd->operands[0] != '\0' ? cmd->operands : "no operand", value);
    printf(") ;;\n");
}

static const struct gt_shell zsh = {.name = "zsh",
                                    .command = zsh_command,
                                    .begin = zsh_begin,
                                    .end = zsh_end,
                                    .option = zsh_option,
                                    .operands = zsh_operands};

/* ---- fish ---- */

static void fish_text(const char *option, const char *text) {
    printf(" -%s '", option);
    put_marked(text, "\\'", "\\");
    printf("'");
}

/* As the first word, and after "help". */
static void fish_command(const struct gt_cmd *cmd) {
    static const char *const conditions[] = {"__gemmtune_first",
                                             "'__gemmtune_command help'"};
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        printf("complete -c gemmtune -n %s -f -a %s", conditions[i], cmd->name);
        fish_text("d", cmd->about);
        printf("\n");
    }
}

/* -x: a value that is no file; -r: a value, files are offered. */
static void fish_value(const struct gt_shell_value *value) {
    static const char *const forms[] = {
        [GT_SHELL_OTHER] = "-x",
        [GT_SHELL_FILE] = "-r -F",
        [GT_SHELL_FOLDER] = "-x -a '(__fish_complete_directories)'",
        [GT_SHELL_WORD] = "-x -a '",
        [GT_SHELL_LIST] = "-x -a '(__fish_append , ",
        [GT_SHELL_PROGRAM] = "-x -a '(__gemmtune_program)'",
    };
    printf(" %s%s%s", forms[value->kind], value->words,
           value->kind == GT_SHELL_WORD   ? "'"
           : value->kind == GT_SHELL_LIST ? ")'"
                                          : "");
}

static void fish_option(const struct gt_cmd *cmd, const struct gt_option *o,
                        const struct gt_shell_value *value) {
    printf("complete -c gemmtune -n '__gemmtune_command %s'", cmd->name);
    if (o->letter != 0)
        printf(" -s %c", o->letter);
    printf(" -l %s", o->name);
    if (value != NULL)
        fish_value(value);
    fish_text("d", o->help);
    printf("\n");
}

static void fish_operands(const struct gt_cmd *cmd, const struct gt_shell_value *value) {
    if (value->kind == GT_SHELL_OTHER)
        return;
    printf("complete -c gemmtune -n '__gemmtune_command %s'", cmd->name);
    if (value->kind == GT_SHELL_FILE)
        printf(" -F");
    else
        fish_value(value);
    printf("\n");
}

static const struct gt_shell fish = {.name = "fish",
                                     .command = fish_command,
                                     .option = fish_option,
                                     .operands = fish_operands};

const struct gt_shell *const gt_shells[] = {&bash, &zsh, &fish, NULL};
