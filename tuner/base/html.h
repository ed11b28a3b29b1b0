/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html.h - texts and tables as parts of a page of HTML. Nothing in a text can become
 * markup or script, wherever in the page it stands.
 */
#ifndef GT_TUNER_BASE_HTML_H
#define GT_TUNER_BASE_HTML_H

#include "tuner/base/table.h"

/* A text between tags, or between the quotes of an attribute. */
void gt_html_text(FILE *out, const char *text);
/* A text as a quoted string of JSON between <script> tags. */
void gt_html_json(FILE *out, const char *text);
/* Bytes in base64 (RFC 4648). */
void gt_html_base64(FILE *out, const unsigned char *bytes, size_t count);
/* The table with its columns for people; the heads say what they mean. A cell with a
 * number has it in data-v as well, to sort by. A column that may be left out is left out
 * when all its cells are empty. Nothing where the table has no rows. `id` is trusted. */
void gt_html_table(FILE *out, const struct gt_table *t, const char *id);

#endif
