/* SPDX-License-Identifier: Apache-2.0 */
/* stamp.c - see stamp.h. */
#include "tools/stamp.h"

#include "core/hash.h"
#include "tuner/base/parallel.h"
#include "tuner/base/progress.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGEST = 65 };

/* ---- rows --------------------------------------------------------------------------- */

static void judge(struct gt_stamp_row *row, const struct gt_stamp *s) {
    row->new_family = gt_families_find(gt_tree_families(s->new_tree), row->family);
    if (s->old_tree != NULL)
        row->old_family = gt_families_find(gt_tree_families(s->old_tree), row->family);
    const bool is_new =
        row->new_family != NULL && strcmp(row->new_family->hash, row->hash) == 0;
    const bool is_old =
        row->old_family != NULL && strcmp(row->old_family->hash, row->hash) == 0;
    row->state = row->new_family == NULL ? GT_STAMP_GONE
                 : s->all && row->old_family != NULL && (is_new || is_old)
                     ? GT_STAMP_COMPARED
                 : is_new ? GT_STAMP_CURRENT
                 : is_old ? GT_STAMP_COMPARED
                          : GT_STAMP_UNKNOWN;
}

/* The row of a record; NULL: it has none yet. */
static struct gt_stamp_row *row_of(const struct gt_stamp *s, const struct gt_recorded *r) {
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->row[i].family, r->family) == 0 &&
            strcmp(s->row[i].hash, r->hash) == 0)
            return &s->row[i];
    return NULL;
}

static int by_family(const void *a, const void *b) {
    const struct gt_stamp_row *x = a, *y = b;
    const int families = strcmp(x->family, y->family);
    return families != 0 ? families : strcmp(x->hash, y->hash);
}

gt_status gt_stamp_begin(struct gt_stamp *s, struct gt_err *err) {
    for (size_t i = 0; i < s->records->count; i++) {
        const struct gt_recorded *r = &s->records->item[i];
        struct gt_stamp_row *row = row_of(s, r);
        if (row == NULL) {
            row = realloc(s->row, (s->count + 1) * sizeof *row);
            if (row == NULL)
                return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
            s->row = row;
            row += s->count++;
            *row = (struct gt_stamp_row){.family = r->family, .hash = r->hash};
            judge(row, s);
        }
        row->records++;
    }
    if (s->count > 0)
        qsort(s->row, s->count, sizeof *s->row, by_family);
    return GEMMTUNE_OK;
}

void gt_stamp_clear(struct gt_stamp *s) {
    free(s->row);
    s->row = NULL;
    s->count = 0;
}

/* ---- the order of comparing --------------------------------------------------------- */

/* A record to compare. The digests order the records: always the same way, and with the
 * families mixed, so that threads end at one time. */
struct item {
    char digest[DIGEST];
    const struct gt_recorded *record;
    struct gt_stamp_row *row;
};

static void digest_of(char digest[DIGEST], const char *a, const char *b, const char *c) {
    struct gt_hash h;
    gt_hash_init(&h);
    gt_hash_add_text(&h, a);
    gt_hash_add_text(&h, b);
    gt_hash_add_text(&h, c);
    gt_hash_hex(&h, digest);
}

static int by_digest(const void *a, const void *b) {
    return strcmp(((const struct item *)a)->digest, ((const struct item *)b)->digest);
}

/* Keeps the first record of each row, and then the next ones until there are `sample`. */
static size_t thin_out(struct item *item, size_t count, size_t sample) {
    size_t first = 0, kept = 0;
    for (size_t i = 0; i < count; i++)
        first += item[i].row->compared++ == 0;
    size_t others = sample > first ? sample - first : 0;
    for (size_t i = 0; i < count; i++) {
        const bool is_first = item[i].row->compared > 0;
        item[i].row->compared = 0;
        if (is_first || others > 0)
            item[kept++] = item[i];
        others -= !is_first && others > 0;
    }
    return kept;
}

static struct item *list_items(size_t *count, const struct gt_stamp *s) {
    struct item *item = calloc(s->records->count + 1, sizeof *item);
    *count = 0;
    for (size_t i = 0; item != NULL && i < s->records->count; i++) {
        const struct gt_recorded *r = &s->records->item[i];
        struct gt_stamp_row *row = row_of(s, r);
        if (row == NULL || row->state != GT_STAMP_COMPARED)
            continue;
        digest_of(item[*count].digest, r->family, r->problem, r->point);
        item[*count].record = r;
        item[(*count)++].row = row;
    }
    if (*count > 0)
        qsort(item, *count, sizeof *item, by_digest);
    if (s->sample > 0)
        *count = thin_out(item, *count, s->sample);
    return item;
}

/* ---- comparing ---------------------------------------------------------------------- */

struct work {
    const struct gt_stamp *stamp;
    const struct item *item;
    size_t count, done, pairs;
    char (*pair)[DIGEST]; /* digests of the old and the new source of each kernel */
    pthread_mutex_t lock; /* of all that changes here, and of the rows */
    struct gt_progress progress;
};

/* Whether these two sources have not been met before. */
static bool is_new_pair(struct work *w, const struct gt_made *a, const struct gt_made *b) {
    char digest[DIGEST];
    bool met = false;
    digest_of(digest, a->source, b->source, "");
    (void)pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < w->pairs && !met; i++)
        met = strcmp(w->pair[i], digest) == 0;
    if (!met)
        memcpy(w->pair[w->pairs++], digest, DIGEST);
    (void)pthread_mutex_unlock(&w->lock);
    return !met;
}

/* The first line of `a` that `b` does not have in its place. */
static void tell_launch(char why[GT_KERNEL_WHY_MAX], const char *a, const char *b) {
    while (*a != '\0' && *b != '\0') {
        const int x = (int)strcspn(a, "\n"), y = (int)strcspn(b, "\n");
        if (x != y || strncmp(a, b, (size_t)x) != 0) {
            (void)snprintf(why, GT_KERNEL_WHY_MAX,
                           "its launch was \"%.*s\" and is \"%.*s\"", x > 200 ? 200 : x, a,
                           y > 200 ? 200 : y, b);
            return;
        }
        a += x + (a[x] != '\0');
        b += y + (b[y] != '\0');
    }
    (void)snprintf(why, GT_KERNEL_WHY_MAX, "it has another number of launches or maps");
}

/* Whether the record's kernel counts: *how is then what it is. */
static bool compare(enum gt_same *how, char why[GT_KERNEL_WHY_MAX], struct work *w,
                    const struct gt_recorded *r) {
    const struct gt_device *d = &w->stamp->records->device[r->device];
    struct gt_made a, b = {NULL, NULL};
    struct gt_err err = {""};
    const char *which = "old";
    bool counts = true;
    gt_status status = gt_made_create(&a, w->stamp->old_tree, d, r, &err);
    if (status == GEMMTUNE_OK) {
        which = "new";
        status = gt_made_create(&b, w->stamp->new_tree, d, r, &err);
    }
    *how = GT_SAME_NOT;
    if (status != GEMMTUNE_OK)
        (void)snprintf(why, GT_KERNEL_WHY_MAX, "the %s tree refuses it: %.400s", which,
                       err.line);
    else if (strcmp(a.launches, b.launches) != 0)
        tell_launch(why, a.launches, b.launches);
    else if (!is_new_pair(w, &a, &b))
        counts = false;
    else
        *how = gt_kernel_compare(d, a.source, b.source, why);
    gt_made_clear(&a);
    gt_made_clear(&b);
    return counts;
}

static void note(struct work *w, size_t at, bool counts, enum gt_same how,
                 const char *why) {
    struct gt_stamp_row *row = w->item[at].row;
    (void)pthread_mutex_lock(&w->lock);
    row->compared++;
    row->kernels += counts;
    row->same[how] += counts;
    if (counts && how == GT_SAME_NOT && (row->differs == NULL || at < row->first)) {
        row->differs = w->item[at].record;
        row->first = at;
        (void)snprintf(row->why, sizeof row->why, "%s", why);
    }
    (void)pthread_mutex_unlock(&w->lock);
}

/* Gives out the next record. False: there is none. *left_out: one of its family differs. */
static bool take(size_t *at, bool *left_out, struct work *w) {
    (void)pthread_mutex_lock(&w->lock);
    const bool any = w->done < w->count;
    if (any) {
        gt_progress_count(&w->progress, "records", w->done, w->count);
        *at = w->done++;
        *left_out = w->item[*at].row->differs != NULL && !w->stamp->keep_going;
    }
    (void)pthread_mutex_unlock(&w->lock);
    return any;
}

/* Each thread takes one record after the other: some take a thousand times as long. */
static void compare_some(void *user, int thread, int64_t first, int64_t end) {
    struct work *w = user;
    size_t at;
    bool left_out;
    (void)thread, (void)first, (void)end;
    while (take(&at, &left_out, w)) {
        char why[GT_KERNEL_WHY_MAX] = "";
        enum gt_same how;
        if (left_out)
            continue;
        const bool counts = compare(&how, why, w, w->item[at].record);
        note(w, at, counts, how, why);
    }
}

gt_status gt_stamp_compare(struct gt_stamp *s, struct gt_err *err) {
    struct work w = {.stamp = s};
    struct item *item = list_items(&w.count, s);
    w.item = item;
    w.pair = calloc(w.count + 1, sizeof *w.pair);
    gt_status status = GEMMTUNE_OK;
    if (item == NULL || w.pair == NULL)
        status = gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    if (status == GEMMTUNE_OK && w.count > 0) {
        (void)pthread_mutex_init(&w.lock, NULL);
        gt_progress_init(&w.progress, 1, false);
        gt_parallel(compare_some, &w, gt_parallel_threads());
        gt_progress_end(&w.progress);
        (void)pthread_mutex_destroy(&w.lock);
    }
    free(item);
    free(w.pair);
    return status;
}
