/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - reads a command line by a command's table of options: values, help, errors.
 * --help is the only option that it knows itself.
 */
#include "tuner/cmd/cmd.h"

#include "core/text.h"
#include "tuner/base/talk.h"
#include "tuner/base/wrap.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONG_BASE = 256,  /* getopt's value of option i is LONG_BASE + i, above all letters */
    OPTIONS_MAX = 40, /* options of a command; tests check our tables */
    WANT_MAX = 96,
};

static const double longest_seconds = 1e9; /* 30 years; a longer time is a typing error */

int gt_die(int code, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    gt_talk_args(fmt, args);
    va_end(args);
    return code;
}

int gt_exit_of(gt_status status) {
    static const struct {
        gt_status status;
        int code;
    } rows[] = {
        {GEMMTUNE_OK, GT_EXIT_OK},
        {GEMMTUNE_EINVAL, GT_EXIT_USAGE},
        {GEMMTUNE_EIO, GT_EXIT_INPUT},
        {GEMMTUNE_EPARSE, GT_EXIT_INPUT},
        {GEMMTUNE_EUNSUPPORTED, GT_EXIT_INPUT},
        {GEMMTUNE_EDB, GT_EXIT_DATABASE},
        {GEMMTUNE_ESCHEMA, GT_EXIT_DATABASE},
        {GEMMTUNE_ENODRIVER, GT_EXIT_DEVICE},
        {GEMMTUNE_ELOCKED, GT_EXIT_LOCK},
        {GEMMTUNE_EBUILD,
         GT_EXIT_DEVICE}, /* built-in families compile, so a compiler is missing */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == status)
            return rows[i].code;
    return GT_EXIT_FAILURE;
}

/* ---- values ---- */

/* Reads a plain decimal such as "12" or "0.25" at the start of `text`. Returns its length,
 * 0 when there is none. strtod would follow the locale and accept "inf" and "0x". */
static size_t read_decimal(double *out, const char *text) {
    size_t digits = 0, i = 0;
    double value = 0, place = 1;
    for (; text[i] >= '0' && text[i] <= '9'; i++, digits++)
        value = 10 * value + (text[i] - '0');
    if (text[i] == '.')
        for (i++; text[i] >= '0' && text[i] <= '9'; i++, digits++)
            value += (text[i] - '0') * (place /= 10);
    *out = value;
    return digits > 0 ? i : 0;
}

/* Stores `text` in the target. When it cannot, it writes the expected form into `want`. */
typedef bool (*store_fn)(char want[WANT_MAX], void *target, const struct gt_option *o,
                         char *text);

static bool store_flag(char want[WANT_MAX], void *target, const struct gt_option *o,
                       char *text) {
    (void)want, (void)o, (void)text;
    *(bool *)target = true;
    return true;
}

static bool store_text(char want[WANT_MAX], void *target, const struct gt_option *o,
                       char *text) {
    (void)want, (void)o;
    *(const char **)target = text;
    return true;
}

static bool store_list(char want[WANT_MAX], void *target, const struct gt_option *o,
                       char *text) {
    struct gt_texts *list = target;
    (void)o;
    if (list->count == GT_TEXTS_MAX) {
        (void)snprintf(want, WANT_MAX, "at most %d values", GT_TEXTS_MAX);
        return false;
    }
    list->text[list->count++] = text;
    return true;
}

/* Ends each name at its comma. */
static bool store_names(char want[WANT_MAX], void *target, const struct gt_option *o,
                        char *text) {
    bool stored = true;
    while (stored && text != NULL) {
        char *comma = strchr(text, ',');
        if (comma != NULL)
            *comma++ = '\0';
        stored = store_list(want, target, o, text);
        text = comma;
    }
    return stored;
}

static bool store_int(char want[WANT_MAX], void *target, const struct gt_option *o,
                      char *text) {
    int64_t value;
    (void)snprintf(want, WANT_MAX, "an integer from %" PRId64 " to %" PRId64, o->low,
                   o->high);
    if (!gt_text_int(&value, text, strlen(text)) || value < o->low || value > o->high)
        return false;
    *(int64_t *)target = value;
    return true;
}

/* A number and one of these units, times each other. */
struct unit {
    const char *name;
    double size;
};

static bool read_units(double *out, const char *text, const struct unit *units,
                       size_t count) {
    double value;
    const size_t len = read_decimal(&value, text);
    for (size_t i = 0; len > 0 && i < count; i++)
        if (strcmp(text + len, units[i].name) == 0) {
            *out = value * units[i].size;
            return true;
        }
    return false;
}

static bool store_seconds(char want[WANT_MAX], void *target, const struct gt_option *o,
                          char *text) {
    static const struct unit units[] = {
        {"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"h", 3600}};
    (void)o;
    (void)snprintf(want, WANT_MAX, "a time above 0 such as 90s, 5m, 1h or 250ms");
    return read_units(target, text, units, sizeof units / sizeof *units) &&
           *(double *)target > 0 && *(double *)target <= longest_seconds;
}

static bool read_bytes(double *out, const char *text) {
    static const struct unit units[] = {{"", 1},
                                        {"B", 1},
                                        {"kB", 1e3},
                                        {"MB", 1e6},
                                        {"GB", 1e9},
                                        {"TB", 1e12},
                                        {"KiB", 1024},
                                        {"MiB", 1048576},
                                        {"GiB", 1073741824},
                                        {"TiB", 1099511627776.0}};
    return read_units(out, text, units, sizeof units / sizeof *units) && *out <= 1e18;
}

static bool store_bytes(char want[WANT_MAX], void *target, const struct gt_option *o,
                        char *text) {
    (void)o;
    (void)snprintf(want, WANT_MAX, "a size such as 8GiB, 500MB or 4096");
    return read_bytes(target, text) && *(double *)target >= 1;
}

static bool store_limit(char want[WANT_MAX], void *target, const struct gt_option *o,
                        char *text) {
    double *const bytes = target;
    (void)o;
    (void)snprintf(want, WANT_MAX, "0, a size such as 32MiB, or none for no limit");
    if (strcmp(text, "none") == 0) {
        *bytes = (double)INFINITY;
        return true;
    }
    return read_bytes(bytes, text) && (*bytes == 0 || *bytes >= 1);
}

/* Multiplies by the power of ten that "e5", "e+5" or "E-3" says; the text may be empty. */
static bool read_power(double *value, const char *text) {
    int64_t exponent = 0;
    if (*text == '\0')
        return true;
    if (*text != 'e' && *text != 'E')
        return false;
    text += text[1] == '+' && text[2] != '-' ? 2 : 1;
    if (!gt_text_int(&exponent, text, strlen(text)) || exponent < -99 || exponent > 99)
        return false;
    *value *= pow(10, (double)exponent);
    return true;
}

static bool store_number(char want[WANT_MAX], void *target, const struct gt_option *o,
                         char *text) {
    double value = 0;
    const size_t len = read_decimal(&value, text);
    (void)o;
    (void)snprintf(want, WANT_MAX, "a number above 0");
    if (len == 0 || !read_power(&value, text + len) || !(value > 0) || value > 1e18)
        return false;
    *(double *)target = value;
    return true;
}

/* strtod rounds correctly; the form is checked first, since strtod reads "inf" and "0x". */
static bool store_real(char want[WANT_MAX], void *target, const struct gt_option *o,
                       char *text) {
    double rough = 0;
    const char *digits = text + (*text == '-' || *text == '+');
    const size_t len = read_decimal(&rough, digits);
    (void)o;
    (void)snprintf(want, WANT_MAX, "a number such as 2, -0.5 or 1e-3");
    if (len == 0 || !read_power(&rough, digits + len))
        return false;
    *(double *)target = strtod(text, NULL);
    return true;
}

static const store_fn stores[] = {
    [GT_OPT_FLAG] = store_flag,     [GT_OPT_TEXT] = store_text,
    [GT_OPT_LIST] = store_list,     [GT_OPT_NAMES] = store_names,
    [GT_OPT_INT] = store_int,       [GT_OPT_SECONDS] = store_seconds,
    [GT_OPT_NUMBER] = store_number, [GT_OPT_REAL] = store_real,
    [GT_OPT_BYTES] = store_bytes,   [GT_OPT_LIMIT] = store_limit,
};

/* ---- help ---- */

static const struct gt_option help_option = {
    .name = "help", .letter = 'h', .kind = GT_OPT_FLAG, .help = "show this and exit"};

/* Writes "  -d, --device N" and returns its length. */
static int option_head(char *buf, size_t size, const struct gt_option *o) {
    char letter[5] = "    ";
    if (o->letter != 0)
        (void)snprintf(letter, sizeof letter, "-%c, ", o->letter);
    return snprintf(buf, size, "  %s--%s%s%s", letter, o->name, o->arg != NULL ? " " : "",
                    o->arg != NULL ? o->arg : "");
}

static void print_option(const struct gt_option *o, int width) {
    char head[96];
    (void)option_head(head, sizeof head, o);
    gt_wrap_row(stdout, (const char *const[]){head, o->help},
                (const size_t[]){0, (size_t)width + 2}, 2);
}

static int longer(int width, const char *text) {
    const int length = text != NULL ? (int)strlen(text) : 0;
    return length > width ? length : width;
}

/* The width of the names of a form's columns under their heading; 0 when they have none. */
static size_t names_width(const struct gt_form *form, bool titles, const char *head) {
    int width = 0;
    for (size_t i = 0; i < form->columns; i++)
        width = longer(width, titles ? form->column[i].title : form->column[i].key);
    return width > 0 ? (size_t)longer(width, head) : 0;
}

static void print_names(const char *title, size_t titles, const char *key, size_t keys,
                        const char *about) {
    const char *cell[3];
    size_t at[3], count = 0, next = 2;
    if (titles > 0) {
        at[count] = next;
        cell[count++] = title != NULL ? title : "";
        next += titles + 2;
    }
    if (keys > 0) {
        at[count] = next;
        cell[count++] = key != NULL ? key : "";
        next += keys + 2;
    }
    at[count] = next;
    cell[count++] = about;
    gt_wrap_row(stdout, cell, at, count);
}

/* Prints the names and meanings of a table's columns. */
static void print_legend(const struct gt_form *form) {
    static const char key_head[] = "in JSON, CSV", title_head[] = "in the table";
    const size_t titles = names_width(form, true, title_head);
    const size_t keys = names_width(form, false, key_head);
    printf("\nColumns%s%s:\n", form->when[0] != '\0' ? " " : "", form->when);
    print_names(title_head, titles, key_head, keys, "meaning");
    for (size_t i = 0; i < form->columns; i++)
        print_names(form->column[i].title, titles, form->column[i].key, keys,
                    form->column[i].about);
}

static int print_help(const struct gt_cmd *cmd) {
    char head[96];
    int width = option_head(head, sizeof head, &help_option);
    for (const struct gt_option *o = cmd->options; o->name != NULL; o++) {
        const int len = option_head(head, sizeof head, o);
        width = len > width ? len : width;
    }
    gt_wrap_print(stdout, 8, "usage: gemmtune %s [OPTION]... %s", cmd->name, cmd->operands);
    printf("\n");
    gt_wrap_print(stdout, 0, "%s", cmd->about);
    printf("\n");
    for (const struct gt_option *o = cmd->options; o->name != NULL; o++)
        print_option(o, width);
    print_option(&help_option, width);
    for (size_t i = 0; cmd->tables != NULL && cmd->tables[i] != NULL; i++)
        print_legend(cmd->tables[i]);
    return GT_EXIT_OK;
}

/* ---- complaints ---- */

static int complain_unknown(const struct gt_cmd *cmd, const char *word) {
    const char *names[OPTIONS_MAX + 2] = {NULL};
    char name[64]; /* without dashes and "=value"; a longer one has no similar name */
    size_t count = 0, matches = 0;
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    for (const struct gt_option *o = cmd->options; o->name != NULL; o++) {
        names[count++] = o->name;
        matches += strncmp(o->name, name, strlen(name)) == 0;
    }
    names[count] = help_option.name;
    if (matches > 1)
        return gt_die(GT_EXIT_USAGE,
                      "%s: option '%s' is ambiguous; 'gemmtune %s --help' lists them",
                      cmd->name, word, cmd->name);
    const char *near = gt_text_nearest(name, names);
    if (near != NULL)
        return gt_die(GT_EXIT_USAGE, "%s: unknown option '%s'; did you mean '--%s'?",
                      cmd->name, word, near);
    return gt_die(GT_EXIT_USAGE, "%s: unknown option '%s'; 'gemmtune %s --help' lists them",
                  cmd->name, word, cmd->name);
}

/* Reports an option that getopt refused. getopt leaves the option's value in optopt, or 0
 * for an unknown long name. */
static int complain(const struct gt_cmd *cmd, int found, char *const *argv) {
    if (optopt == 0)
        return complain_unknown(cmd, argv[optind - 1]);
    if (optopt >= LONG_BASE)
        return gt_die(GT_EXIT_USAGE, "%s: --%s %s", cmd->name,
                      cmd->options[optopt - LONG_BASE].name,
                      found == ':' ? "needs a value" : "takes no value");
    if (optopt == help_option.letter)
        return gt_die(GT_EXIT_USAGE, "%s: --help takes no value", cmd->name);
    if (found == ':')
        return gt_die(GT_EXIT_USAGE, "%s: -%c needs a value", cmd->name, optopt);
    return gt_die(GT_EXIT_USAGE,
                  "%s: unknown option '-%c'; 'gemmtune %s --help' lists them", cmd->name,
                  optopt, cmd->name);
}

/* ---- parsing ---- */

/* The options in getopt's form. */
struct getopt_table {
    char letters[2 * OPTIONS_MAX + 4];
    struct option longs[OPTIONS_MAX + 2];
};

static void fill_table(struct getopt_table *t, const struct gt_option *options,
                       bool stops_at_operand) {
    size_t letters = 0, count = 0;
    if (stops_at_operand)
        t->letters[letters++] = '+';
    t->letters[letters++] = ':'; /* report a missing value by ':' and print nothing */
    for (const struct gt_option *o = options; o->name != NULL && count < OPTIONS_MAX; o++) {
        const bool takes = o->kind != GT_OPT_FLAG;
        t->longs[count] = (struct option){o->name, takes ? required_argument : no_argument,
                                          NULL, LONG_BASE + (int)count};
        count++;
        if (o->letter != 0)
            t->letters[letters++] = o->letter;
        if (o->letter != 0 && takes)
            t->letters[letters++] = ':';
    }
    t->letters[letters++] = help_option.letter;
    t->letters[letters] = '\0';
    t->longs[count++] =
        (struct option){help_option.name, no_argument, NULL, help_option.letter};
    t->longs[count] = (struct option){0};
}

/* The option that getopt found. */
static const struct gt_option *option_of(const struct gt_option *options, int found) {
    if (found >= LONG_BASE)
        return &options[found - LONG_BASE];
    const struct gt_option *o = options;
    while (o->letter != found)
        o++;
    return o;
}

static int store(const struct gt_cmd *cmd, const struct gt_option *o, void *values,
                 char *text) {
    char want[WANT_MAX];
    if (stores[o->kind](want, (char *)values + o->offset, o, text))
        return -1;
    return gt_die(GT_EXIT_USAGE, "%s: --%s needs %s, not '%s'", cmd->name, o->name, want,
                  text);
}

int gt_options_parse(const struct gt_cmd *cmd, int argc, char **argv, void *values,
                     int *first) {
    struct getopt_table table;
    int code = -1;
    fill_table(&table, cmd->options, cmd->runs_program);
    optind = 0; /* makes glibc and musl forget the previous command line */
    while (code < 0) {
        const int found = getopt_long(argc, argv, table.letters, table.longs, NULL);
        if (found == -1)
            break;
        if (found == '?' || found == ':')
            code = complain(cmd, found, argv);
        else if (found == help_option.letter)
            code = print_help(cmd);
        else
            code = store(cmd, option_of(cmd->options, found), values, optarg);
    }
    *first = optind;
    return code;
}
