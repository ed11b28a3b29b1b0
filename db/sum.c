/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sum.c - the checksums of rows: the first digits of a SHA-256 over the texts of all
 * columns, each with its NUL.
 */
#include "db/internal.h"

#include "core/text.h"

#include <stdlib.h>
#include <string.h>

/* A checksum that is being made. Its texts are collected, since one long text is hashed in
 * less time than many short ones. */
struct sum {
    struct gt_hash hash;
    size_t used;
    char text[1024];
};

static void begin(struct sum *s) {
    gt_hash_init(&s->hash);
    s->used = 0;
}

/* Hashes what was collected. */
static void empty(struct sum *s) {
    gt_hash_add(&s->hash, s->text, s->used);
    s->used = 0;
}

void gt_checksum_end(char checksum[GT_CHECKSUM_MAX], struct gt_hash *h) {
    gt_hash_digits(h, checksum, GT_CHECKSUM_MAX - 1);
    checksum[GT_CHECKSUM_MAX - 1] = '\0';
}

static void end(char checksum[GT_CHECKSUM_MAX], struct sum *s) {
    empty(s);
    gt_checksum_end(checksum, &s->hash);
}

/* Room for so many bytes, which are not counted yet. */
static char *room(struct sum *s, size_t size) {
    if (size > sizeof s->text - s->used)
        empty(s);
    return s->text + s->used;
}

static void add_text(struct sum *s, const char *text) {
    const size_t size = strlen(text) + 1;
    if (size > sizeof s->text) {
        empty(s);
        gt_hash_add(&s->hash, text, size);
        return;
    }
    memcpy(room(s, size), text, size);
    s->used += size;
}

/* Reals are summed by their bits in hex, without locale. SQLite stores -0 as 0. */
static void add_real(struct sum *s, double value) {
    enum { DIGITS = 16 };
    char *text = room(s, DIGITS + 1);
    uint64_t bits = 0;
    if (value < 0 || value > 0)
        memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < DIGITS; i++)
        text[i] = "0123456789abcdef"[bits >> (60 - 4 * i) & 15];
    text[DIGITS] = '\0';
    s->used += DIGITS + 1;
}

static void add_int(struct sum *s, int64_t value) {
    s->used += (size_t)gt_text_of_int(room(s, GT_INT_TEXT_MAX), value) + 1;
}

static void add_samples(struct sum *s, const struct gt_measurement *m) {
    add_int(s, m->samples);
    for (int i = 0; i < m->samples; i++)
        add_real(s, (double)m->sample_ns[i]);
}

static void add_column(struct sum *s, const struct gt_db_column *column, const void *row) {
    struct gt_measurement m;
    switch (column->kind) {
    case GT_COLUMN_TEXT:
    case GT_COLUMN_CHARS:
    case GT_COLUMN_WORD:
        add_text(s, gt_column_text(column, row));
        break;
    case GT_COLUMN_REAL:
        add_real(s, gt_column_real(column, row));
        break;
    case GT_COLUMN_SAMPLES:
        memcpy(&m, (const char *)row + column->offset, sizeof m);
        add_samples(s, &m);
        break;
    default:
        add_int(s, gt_column_int(column, row));
    }
}

void gt_row_checksum(char checksum[GT_CHECKSUM_MAX], const struct gt_db_table *table,
                     const void *row) {
    struct sum s;
    begin(&s);
    add_text(&s, table->name);
    for (size_t i = 0; i < table->count; i++)
        add_column(&s, &table->column[i], row);
    end(checksum, &s);
}

void gt_subject_checksum(char checksum[GT_CHECKSUM_MAX],
                         const struct gt_db_subject *subject) {
    struct sum s;
    begin(&s);
    add_text(&s, subject->device_key);
    add_text(&s, subject->problem);
    add_text(&s, subject->family);
    add_text(&s, subject->family_hash);
    add_text(&s, subject->point);
    end(checksum, &s);
}

uint64_t gt_db_subject_key(const struct gt_db_subject *subject) {
    char checksum[GT_CHECKSUM_MAX];
    gt_subject_checksum(checksum, subject);
    return strtoull(checksum, NULL, 16);
}
