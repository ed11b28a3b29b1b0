/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complete.h - which values an option or an operand may have, for the completions of
 * shells, and how each shell writes them.
 */
#ifndef GT_TUNER_CMD_COMPLETE_H
#define GT_TUNER_CMD_COMPLETE_H

#include "tuner/cmd/cmd.h"

enum gt_shell_value_kind {
    GT_SHELL_OTHER, /* nothing is known */
    GT_SHELL_FILE,
    GT_SHELL_FOLDER,
    GT_SHELL_WORD,    /* one of the words */
    GT_SHELL_LIST,    /* some of the words, with commas between */
    GT_SHELL_PROGRAM, /* another program, and its own arguments */
};
struct gt_shell_value {
    enum gt_shell_value_kind kind;
    const char *words; /* with blanks between; "" unless the kind has words */
};

/* A shell's lines of a command (of all commands, one after another), of an option and of a
 * command's operands. `value` is NULL for an option without a value. */
struct gt_shell {
    const char *name;
    void (*command)(const struct gt_cmd *cmd);
    /* before the first option of a command and after the last one; may be NULL */
    void (*begin)(const struct gt_cmd *cmd);
    void (*end)(const struct gt_cmd *cmd);
    void (*option)(const struct gt_cmd *cmd, const struct gt_option *o,
                   const struct gt_shell_value *value);
    void (*operands)(const struct gt_cmd *cmd, const struct gt_shell_value *value);
};
extern const struct gt_shell *const gt_shells[]; /* ended by NULL */

#endif
