/* SPDX-License-Identifier: Apache-2.0 */
/*
 * man.c - `gemmtune man`, for `make man`: makes the manual page from
 * docs/man/gemmtune.1.in. A line "@command NAME" becomes the options and the columns of the
 * command, from its tables; every other line is copied. The command is hidden, since users
 * read the page.
 */
#include "tuner/cmd/common.h"

#include <string.h>

enum { LINE_MAX_BYTES = 1024, COMMANDS_MAX = 64 };

/* ---- mdoc ---- */

/* Prints text on its own line. A leading "." or "'" and backslashes are escaped, since they
 * would be commands. */
static void put_text(const char *text) {
    if (text[0] == '.' || text[0] == '\'')
        (void)fputs("\\&", stdout);
    for (; *text != '\0'; text++)
        (void)fputs(*text == '\\' ? "\\e" : (char[]){*text, '\0'}, stdout);
    (void)fputc('\n', stdout);
}

/* Prints arguments of a macro. A word must not be taken for another macro. */
static void put_argument(const char *macro, const char *text) {
    printf(" %s \"", macro);
    for (; *text != '\0'; text++)
        (void)fputs(*text == '"' ? "\\(dq" : (char[]){*text, '\0'}, stdout);
    (void)fputc('"', stdout);
}

static void put_option(const struct gt_option *o) {
    (void)fputs(".It", stdout);
    if (o->letter != 0)
        printf(" Fl %c ,", o->letter);
    printf(" Fl -%s", o->name);
    if (o->arg != NULL)
        put_argument("Ar", o->arg);
    (void)fputc('\n', stdout);
    put_text(o->help);
}

static void put_column(const struct gt_column *c) {
    const char *title = gt_cell_filled(c->title);
    if (c->key == NULL && title == NULL)
        return;
    (void)fputs(".It", stdout);
    if (title != NULL)
        put_argument("Sy", title);
    if (c->key != NULL && (title == NULL || strcmp(title, c->key) != 0))
        put_argument(title != NULL ? "Pq Li" : "Li", c->key);
    (void)fputc('\n', stdout);
    put_text(c->about);
}

static void put_command(const struct gt_cmd *cmd) {
    printf(".Pp\nOptions:\n.Bl -tag -width Ds -compact\n");
    for (const struct gt_option *o = cmd->options; o->name != NULL; o++)
        put_option(o);
    printf(".El\n");
    for (size_t i = 0; cmd->tables != NULL && cmd->tables[i] != NULL; i++) {
        const struct gt_form *form = cmd->tables[i];
        printf(".Pp\nColumns%s%s:\n.Bl -tag -width Ds -compact\n",
               form->when[0] != '\0' ? " " : "", form->when);
        for (size_t j = 0; j < form->columns; j++)
            put_column(&form->column[j]);
        printf(".El\n");
    }
}

/* ---- the page ---- */

/* The index of a command that is not hidden; -1 when there is none of this name. */
static int find(const char *name) {
    for (int i = 0; gt_cmds[i] != NULL; i++)
        if (!gt_cmds[i]->hidden && strcmp(gt_cmds[i]->name, name) == 0)
            return i;
    return -1;
}

static int check_all(const bool seen[COMMANDS_MAX]) {
    for (int i = 0; gt_cmds[i] != NULL; i++)
        if (!gt_cmds[i]->hidden && !seen[i])
            return gt_die(GT_EXIT_FAILURE, "man: no line \"@command %s\"",
                          gt_cmds[i]->name);
    return GT_EXIT_OK;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    static const char mark[] = "@command ";
    bool seen[COMMANDS_MAX] = {false};
    char line[LINE_MAX_BYTES];
    (void)cmd, (void)argc, (void)argv;
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (strncmp(line, mark, strlen(mark)) != 0) {
            (void)fputs(line, stdout);
            continue;
        }
        line[strcspn(line, "\n")] = '\0';
        const int index = find(line + strlen(mark));
        if (index < 0)
            return gt_die(GT_EXIT_INPUT, "man: no command '%s'", line + strlen(mark));
        seen[index] = true;
        put_command(gt_cmds[index]);
    }
    return check_all(seen);
}

const struct gt_cmd gt_cmd_man = {
    .name = "man",
    .operands = "<docs/man/gemmtune.1.in",
    .about = "Write the manual page.",
    .options = (const struct gt_option[]){GT_OPTION_END},
    .run = run,
    .hidden = true,
};
