/* SPDX-License-Identifier: Apache-2.0 */
/* html.c - see html.h. */
#include "tuner/base/html.h"

#include "tuner/base/cell.h"
#include "tuner/base/table_inside.h"

/* ---- texts ---- */

static const char *entity_of(char c) {
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void gt_html_text(FILE *out, const char *text) {
    for (; *text != '\0'; text++) {
        const char *entity = entity_of(*text);
        if (entity != NULL)
            (void)fputs(entity, out);
        else
            (void)fputc(*text, out);
    }
}

/* "</script>" and "<!--" would end the script, so no "<" is written. */
static bool is_plain(char c) {
    return (unsigned char)c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '>' &&
           c != '&' && c != 0x7f;
}

void gt_html_json(FILE *out, const char *text) {
    (void)fputc('"', out);
    for (; *text != '\0'; text++) {
        if (is_plain(*text))
            (void)fputc(*text, out);
        else
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)*text);
    }
    (void)fputc('"', out);
}

void gt_html_base64(FILE *out, const unsigned char *bytes, size_t count) {
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        const unsigned b = i + 1 < count ? bytes[i + 1] : 0,
                       c = i + 2 < count ? bytes[i + 2] : 0;
        const unsigned all = (unsigned)bytes[i] << 16 | b << 8 | c;
        for (size_t j = 0; j < 4; j++)
            (void)fputc(i + j <= count ? digits[all >> (18 - 6 * j) & 63] : '=', out);
    }
}

/* ---- tables ---- */

static bool is_empty(const struct gt_table *t, size_t column) {
    char buf[GT_CELL_MAX];
    for (size_t row = 0; row < t->rows; row++) {
        const char *text = gt_cell_show(buf, t->form->column[column].kind,
                                        gt_table_cell(t, row, column), true);
        if (text != NULL && text[0] != '\0')
            return false;
    }
    return true;
}

static void put_head(FILE *out, const struct gt_column *column) {
    fprintf(out, "<th scope=\"col\"%s title=\"",
            gt_cell_is_text(column->kind) ? "" : " class=\"n\"");
    gt_html_text(out, column->about);
    (void)fputs("\">", out);
    gt_html_text(out, column->title);
    (void)fputs("</th>", out);
}

static void put_cell(FILE *out, enum gt_cell_kind kind, struct gt_cell cell) {
    char buf[GT_CELL_MAX];
    const char *text = gt_cell_show(buf, kind, cell, true);
    if (text == NULL || text[0] == '\0')
        (void)fputs("<td>", out);
    else if (gt_cell_is_text(kind)) {
        (void)fputs("<td>", out);
        gt_html_text(out, text);
    } else {
        fprintf(out, "<td data-v=\"%.6g\">", cell.number);
        gt_html_text(out, text);
    }
}

void gt_html_table(FILE *out, const struct gt_table *t, const char *id) {
    bool shown[GT_COLUMNS_MAX];
    if (t->rows == 0)
        return;
    fprintf(out, "<div class=\"wide\"><table id=\"%s\"><thead><tr>", id);
    for (size_t i = 0; i < t->form->columns; i++) {
        const struct gt_column *column = &t->form->column[i];
        shown[i] = column->title != NULL && (column->rank == 0 || !is_empty(t, i));
        if (shown[i])
            put_head(out, column);
    }
    (void)fputs("</tr></thead><tbody>\n", out);
    for (size_t row = 0; row < t->rows; row++) {
        (void)fputs("<tr>", out);
        for (size_t i = 0; i < t->form->columns; i++)
            if (shown[i])
                put_cell(out, t->form->column[i].kind, gt_table_cell(t, row, i));
        (void)fputc('\n', out);
    }
    (void)fputs("</tbody></table></div>\n", out);
}
