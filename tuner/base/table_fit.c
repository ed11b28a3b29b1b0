/* SPDX-License-Identifier: Apache-2.0 */
/* table_fit.c - see table_fit.h. */
#include "tuner/base/table_fit.h"

#include "tuner/base/cell.h"
#include "tuner/base/wrap.h"

#include <string.h>

/* How many characters a cell of a kind may be cut to: first gently, then hard, when columns
 * of a lower rank would have to go otherwise. */
static const struct {
    size_t gently, hard;
} cuts[] = {
    [GT_CELL_TEXT] = {0, 32},   [GT_CELL_POINT] = {44, 20}, [GT_CELL_TAIL] = {28, 16},
    [GT_CELL_PROSE] = {30, 16}, [GT_CELL_BYTES] = {0, 0},
};

static enum gt_cell_kind kind_of(const struct gt_table *t, size_t column) {
    return t->form->column[column].kind;
}

/* ---- keys ---- */

/* The index of the key, or the number of keys when it is not there. */
static size_t find_key(const struct gt_table_fit *f, const char *key) {
    size_t i = 0;
    while (i < f->keys && strcmp(f->key[i], key) != 0)
        i++;
    return i;
}

/* When there are more keys than letters, the keys stay in their rows. */
static void collect_keys(struct gt_table_fit *f, size_t column) {
    for (size_t row = 0; row < f->t->rows; row++) {
        const char *key = gt_table_cell(f->t, row, column).text;
        const size_t at = key != NULL ? find_key(f, key) : 0;
        if (key == NULL || at == GT_TABLE_FIT_KEYS_MAX) {
            f->keys = 0;
            return;
        }
        f->key[at] = key;
        f->keys += at == f->keys;
    }
}

/* ---- points ---- */

/* The next word of *at and its length; 0 at the end. */
static size_t next_word(const char **word, const char **at) {
    *word = *at + strspn(*at, " ");
    const size_t len = strcspn(*word, " ");
    *at = *word + len;
    return len;
}

static bool has_word(const char *text, const char *word, size_t len) {
    const char *have;
    size_t n;
    while ((n = next_word(&have, &text)) > 0)
        if (n == len && strncmp(have, word, n) == 0)
            return true;
    return false;
}

/* Selects the words of `text` that are also in `other`, or the words that are not. */
static void select_words(char out[GT_TABLE_FIT_TEXT_MAX], const char *text,
                         const char *other, bool common) {
    const char *word;
    size_t len, used = 0;
    out[0] = '\0';
    while ((len = next_word(&word, &text)) > 0)
        if (has_word(other, word, len) == common && used + len + 2 < GT_TABLE_FIT_TEXT_MAX)
            used += (size_t)snprintf(out + used, GT_TABLE_FIT_TEXT_MAX - used, "%s%.*s",
                                     used > 0 ? " " : "", (int)len, word);
}

/* The index of the family, or the number of families when it is not there. */
static size_t find_family(const struct gt_table_fit *f, const char *family) {
    size_t i = 0;
    while (i < f->families && strcmp(f->shared[i].family, family) != 0)
        i++;
    return i;
}

static void share(struct gt_table_fit *f, const char *family, const char *point) {
    const size_t at = find_family(f, family);
    struct gt_table_fit_shared *s = &f->shared[at];
    char words[GT_TABLE_FIT_TEXT_MAX];
    if (at == GT_TABLE_FIT_FAMILIES_MAX)
        return;
    if (at == f->families) {
        *s = (struct gt_table_fit_shared){.family = family};
        (void)snprintf(s->words, sizeof s->words, "%s", point);
        f->families++;
    }
    s->rows++;
    select_words(words, s->words, point, true);
    memcpy(s->words, words, sizeof words);
}

/* A family with one row shares nothing. */
static void collect_shared(struct gt_table_fit *f, size_t column) {
    for (size_t row = 0; column > 0 && row < f->t->rows; row++) {
        const char *family = gt_table_cell(f->t, row, column - 1).text;
        const char *point = gt_table_cell(f->t, row, column).text;
        if (family != NULL && point != NULL)
            share(f, family, point);
    }
    for (size_t i = 0; i < f->families; i++)
        if (f->shared[i].rows < 2)
            f->shared[i].words[0] = '\0';
}

static const char *brief_point(char buf[GT_TABLE_FIT_TEXT_MAX],
                               const struct gt_table_fit *f, const char *family,
                               const char *point) {
    const size_t at = family != NULL ? find_family(f, family) : f->families;
    if (at == f->families || f->shared[at].words[0] == '\0')
        return point;
    select_words(buf, point, f->shared[at].words, false);
    return buf[0] != '\0' ? buf : "...";
}

/* ---- cells ---- */

const char *gt_table_fit_text(char buf[GT_TABLE_FIT_TEXT_MAX], const struct gt_table_fit *f,
                              size_t row, size_t column) {
    const enum gt_cell_kind kind = kind_of(f->t, column);
    const char *text = gt_cell_show(buf, kind, gt_table_cell(f->t, row, column), true);
    if (text == NULL || text[0] == '\0')
        return "-";
    if (kind == GT_CELL_KEY && f->keys > 0) {
        (void)snprintf(buf, GT_TABLE_FIT_TEXT_MAX, "%c", 'A' + (int)find_key(f, text));
        return buf;
    }
    if (kind == GT_CELL_POINT && f->brief)
        return brief_point(buf, f, gt_table_cell(f->t, row, column - 1).text, text);
    return text;
}

static size_t column_width(const struct gt_table_fit *f, size_t column) {
    char buf[GT_TABLE_FIT_TEXT_MAX];
    size_t width = gt_wrap_width(f->t->form->column[column].title);
    for (size_t row = 0; row < f->t->rows; row++) {
        const size_t cell = gt_wrap_width(gt_table_fit_text(buf, f, row, column));
        width = cell > width ? cell : width;
    }
    return width > 0 ? width : 1;
}

/* A column that may be left out is left out when all its cells are empty. */
static bool is_empty(const struct gt_table *t, size_t column) {
    char buf[GT_CELL_MAX];
    bool empty = t->rows > 0 && t->form->column[column].rank > 0;
    for (size_t row = 0; empty && row < t->rows; row++) {
        const char *text =
            gt_cell_show(buf, kind_of(t, column), gt_table_cell(t, row, column), true);
        empty = text == NULL || text[0] == '\0';
    }
    return empty;
}

/* ---- fitting ---- */

enum cut { UNCUT, GENTLY, HARD };

/* The least width that a column can be cut to. */
static size_t least(const struct gt_table_fit *f, size_t column, enum cut cut) {
    const enum gt_cell_kind kind = kind_of(f->t, column);
    const size_t most = f->width[column];
    const size_t wish = cut == GENTLY ? cuts[kind].gently : cuts[kind].hard;
    return cut != UNCUT && wish > 0 && wish < most ? wish : most;
}

/* Characters of a line when its cells are cut so far. */
static size_t line_width(const struct gt_table_fit *f, enum cut cut) {
    size_t sum = 0;
    for (size_t i = 0; i < f->t->form->columns; i++)
        if (f->width[i] > 0)
            sum += (sum > 0 ? GT_TABLE_FIT_GAP : 0) + least(f, i, cut);
    return sum;
}

static void drop(struct gt_table_fit *f, size_t column) {
    f->width[column] = 0;
    f->dropped[column] = true;
}

/* Leaves out the last column of the highest rank, if that rank is above `rank`. The first
 * of a pair goes with the second. */
static bool drop_column(struct gt_table_fit *f, int rank) {
    size_t worst = GT_COLUMNS_MAX;
    for (size_t i = 0; i < f->t->form->columns; i++) {
        const int other = f->t->form->column[i].rank;
        if (f->width[i] > 0 && (worst == GT_COLUMNS_MAX ? other > rank : other >= rank)) {
            worst = i;
            rank = other;
        }
    }
    if (worst == GT_COLUMNS_MAX)
        return false;
    drop(f, worst);
    if (f->t->form->column[worst].paired && f->width[worst - 1] > 0)
        drop(f, worst - 1);
    return true;
}

/* The lowest rank of a column that is cut gently; 0 when there is none. */
static int rank_of_cut(const struct gt_table_fit *f) {
    int lowest = 0;
    for (size_t i = 0; i < f->t->form->columns; i++) {
        const int rank = f->t->form->column[i].rank;
        if (f->width[i] > 0 && cuts[kind_of(f->t, i)].gently > 0 &&
            (lowest == 0 || rank < lowest))
            lowest = rank;
    }
    return lowest;
}

/* Cuts columns from the right until the line fits or nothing can be cut further. */
static void cut_columns(struct gt_table_fit *f) {
    for (size_t i = f->t->form->columns; i-- > 0;) {
        const size_t now = line_width(f, UNCUT);
        const size_t excess = now > f->room ? now - f->room : 0;
        const size_t spare = f->width[i] > 0 ? f->width[i] - least(f, i, HARD) : 0;
        f->width[i] -= excess < spare ? excess : spare;
        f->cut |= excess > 0 && spare > 0 && kind_of(f->t, i) != GT_CELL_PROSE;
    }
}

/* Measures a column in its present form. */
static void measure(struct gt_table_fit *f, size_t column) {
    const struct gt_column *c = &f->t->form->column[column];
    const bool above = c->kind == GT_CELL_KEY && f->keys == 1;
    f->width[column] =
        c->title == NULL || above || is_empty(f->t, column) ? 0 : column_width(f, column);
}

static void shorten_points(struct gt_table_fit *f) {
    for (size_t i = 0; i < f->t->form->columns; i++)
        if (kind_of(f->t, i) == GT_CELL_POINT && f->width[i] > 0) {
            collect_shared(f, i);
            f->brief = true;
            measure(f, i);
        }
}

void gt_table_fit_make(struct gt_table_fit *out, const struct gt_table *t, size_t room) {
    memset(out, 0, sizeof *out);
    out->t = t;
    out->room = room;
    for (size_t i = 0; room > 0 && i < t->form->columns; i++)
        if (kind_of(t, i) == GT_CELL_KEY)
            collect_keys(out, i);
    for (size_t i = 0; i < t->form->columns; i++)
        measure(out, i);
    if (room == 0 || line_width(out, UNCUT) <= room)
        return;
    shorten_points(out);
    const int dear = rank_of_cut(out);
    while (line_width(out, GENTLY) > room && drop_column(out, dear)) {
    }
    while (line_width(out, HARD) > room && drop_column(out, 0)) {
    }
    cut_columns(out);
}
