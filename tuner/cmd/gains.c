/* SPDX-License-Identifier: Apache-2.0 */
/* gains.c - see gains.h. */
#include "tuner/cmd/gains.h"

#include "runtime/plan/workspace.h"
#include "tuner/base/talk.h"
#include "tuner/base/view.h"
#include "tuner/bench/bench_stats.h"
#include "tuner/bench/cublas_api.h"
#include "tuner/cmd/standing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- a problem ---- */

/* A problem on a device. Times are NAN where nothing is stored. */
struct gain {
    const struct gt_sweep_item *item;
    const char *device; /* its key; NULL: no device was tuned for any of the problems */
    const char *family; /* of our kernel; NULL: none was tuned */
    const char *status;
    enum gt_standing_kind kind;
    bool faster;     /* than the vendor's library, as it was measured */
    char vendor[64]; /* "cublas 13.1.0"; "": nothing was measured beside our kernel */
    double ours_ns, vendor_ns, ratio;
    double saved_ns;         /* by all calls; 0 where `exec` leaves them to the vendor */
    char saved[GT_CELL_MAX]; /* the same for people */
};

#define GAINS(X)                                                                           \
    X("problem", "problem", TEXT, 0, r->item->name, "its name")                            \
    X("device", "device", KEY, 0, r->device,                                               \
      "key of the device on which it was tuned, or another problem of the file")           \
    X("calls", "calls", COUNT, 0, r->item->count,                                          \
      "calls that were recorded; 1 where the file does not say")                           \
    X("weight", "weight", COUNT, 2, r->item->weight, "its weight in the file")             \
    X("family", "family", TEXT, 3, r->family, "family of our kernel within 32 MiB")        \
    X("ours_ns", "ours", NS, 0, r->ours_ns,                                                \
      "median time of that kernel: in turns with the library's where that was measured")   \
    X("vendor", "vendor", TEXT, 1, gt_cell_filled(r->vendor),                              \
      "the fastest vendor's library that was measured beside that kernel, and its "        \
      "version")                                                                           \
    X("vendor_ns", "vendor's", NS, 0, r->vendor_ns, "median time of that library")         \
    X("vendor_ratio", "vs vendor", FIXED, 1, r->ratio,                                     \
      "its time over ours, round by round, median: above 1 ours is faster")                \
    X("saved_ns", NULL, COUNT, 0, r->saved_ns,                                             \
      "time that exec would save in all calls; 0 where they stay with the vendor")         \
    X(NULL, "saved", TEXT, 0, gt_cell_filled(r->saved), "the same")                        \
    X("status", "status", TEXT, 0, r->status,                                              \
      "win, tie, loss or noisy, as in bench; not measured: tune --against measures it; "   \
      "imported: exec leaves it to the vendor until tune has measured it; not tuned")
GT_COLUMNS(gain, struct gain, GAINS)
const struct gt_form gt_gains_form = GT_FORM(gain, "with --sizes");

static void take_duel(struct gain *g, const struct gt_duel *d) {
    char version[32];
    const bool counts = g->kind == GT_STANDING_TUNED;
    gt_cublas_version(version, (size_t)d->version);
    (void)snprintf(g->vendor, sizeof g->vendor, "%s %s", d->library, version);
    g->ours_ns = d->ours_ns;
    g->vendor_ns = d->rival_ns;
    g->ratio = d->ratio;
    g->faster = counts && d->verdict == GT_WIN;
    g->saved_ns = g->faster ? (double)g->item->count * (d->rival_ns - d->ours_ns) : 0;
    (void)gt_show_ns(g->saved, g->saved_ns);
    if (!g->faster)
        (void)snprintf(g->saved, sizeof g->saved, "0");
    if (counts)
        g->status = gt_verdict_word(d->verdict);
}

/* As `exec` decides for a caller with the usual workspace. `s` may be NULL. */
static void look_up(struct gain *g, const struct gt_standings *s,
                    const struct gt_sweep_item *item) {
    static const char *const words[] = {[GT_STANDING_NONE] = "not tuned",
                                        [GT_STANDING_IMPORTED] = "imported",
                                        [GT_STANDING_TUNED] = "not measured"};
    struct gt_standing standing;
    *g = (struct gain){.item = item,
                       .device = s != NULL ? s->key : NULL,
                       .ours_ns = (double)NAN,
                       .vendor_ns = (double)NAN,
                       .ratio = (double)NAN,
                       .saved_ns = (double)NAN};
    if (s != NULL)
        g->kind = gt_standing_of(&standing, s, item, GT_WORKSPACE_DEFAULT);
    g->status = words[g->kind];
    if (g->kind == GT_STANDING_NONE)
        return;
    const struct gt_duel *const duel =
        gt_duels_pick(standing.duel, standing.duels, 0, GT_WORKSPACE_DEFAULT);
    g->family = standing.choice.family->name;
    g->ours_ns = standing.choice.known->median_ns;
    if (duel != NULL)
        take_duel(g, duel);
}

/* ---- sums ---- */

struct sums {
    const char *device; /* its name; NULL: there is none */
    size_t problems, tuned, imported, measured, faster;
    double weight, measured_weight;
    double vendor_ns, saved_ns; /* of all calls of the measured problems */
};

static void add_up(struct sums *s, const struct gain *g) {
    s->problems++;
    s->tuned += g->kind == GT_STANDING_TUNED;
    s->imported += g->kind == GT_STANDING_IMPORTED;
    s->weight += g->item->weight;
    if (g->kind != GT_STANDING_TUNED || g->vendor[0] == '\0')
        return;
    s->measured++;
    s->faster += g->faster;
    s->measured_weight += g->item->weight;
    s->vendor_ns += (double)g->item->count * g->vendor_ns;
    s->saved_ns += g->saved_ns;
}

static void say_sums(const struct sums *s) {
    char saved[GT_CELL_MAX], all[GT_CELL_MAX], gain[192] = "", imported[48] = "";
    if (s->imported > 0)
        (void)snprintf(imported, sizeof imported, " and %zu imported", s->imported);
    if (s->measured > 0)
        (void)snprintf(
            gain, sizeof gain,
            " (%.0f %% of the weight), %zu faster; with that library their calls "
            "take %s, under exec %s less",
            100 * s->measured_weight / s->weight, s->faster, gt_show_ns(all, s->vendor_ns),
            s->saved_ns > 0 ? gt_show_ns(saved, s->saved_ns) : "no");
    gt_talk("%s%s%zu of %zu problem%s tuned%s, %zu measured beside the vendor's library%s",
            s->device != NULL ? s->device : "", s->device != NULL ? ": " : "", s->tuned,
            s->problems, gt_text_plural((int64_t)s->problems), imported, s->measured, gain);
}

/* ---- devices ---- */

/* The rows, the sums, and all that they are made from. */
struct listing {
    const struct gt_gains_ask *ask;
    size_t most; /* rows of a device */
    struct gt_view view;
    struct gt_table *table;
    struct sums *sums; /* of the devices that have rows */
    size_t devices;
};

static void clear(struct listing *l) {
    free(l->sums);
    gt_table_destroy(l->table);
    gt_view_clear(&l->view);
}

/* `device` is its name; NULL like `s`: there is none. */
static gt_status add_rows(struct listing *l, const struct gt_standings *s,
                          const char *device, struct gt_err *err) {
    const struct gt_sweep *sweep = l->ask->sweep;
    struct sums *const sums = &l->sums[l->devices++];
    gt_status status = GEMMTUNE_OK;
    sums->device = device;
    for (size_t i = 0; i < sweep->count && status == GEMMTUNE_OK; i++) {
        struct gain g;
        look_up(&g, s, &sweep->item[i]);
        add_up(sums, &g);
        if (i < l->most)
            status = add_gain(l->table, &g, err);
    }
    return status;
}

static bool any_tuned(const struct gt_standings *s, const struct gt_sweep *sweep) {
    struct gt_standing unread;
    for (size_t i = 0; i < sweep->count; i++)
        if (gt_standing_of(&unread, s, &sweep->item[i], GT_WORKSPACE_DEFAULT) !=
            GT_STANDING_NONE)
            return true;
    return false;
}

static gt_status add_device(struct listing *l, const struct gt_view_device *d,
                            struct gt_err *err) {
    struct gt_standings s;
    gt_status status = gt_standings_load(&s, l->ask->db, l->ask->families, &d->device, err);
    if (status == GEMMTUNE_OK && (l->ask->device != NULL || any_tuned(&s, l->ask->sweep)))
        status = add_rows(l, &s, d->device.name, err);
    gt_standings_clear(&s);
    return status;
}

/* Adds the device that was asked for, or all of the database. */
static gt_status add_devices(struct listing *l, struct gt_err *err) {
    size_t first = 0, end = l->view.device_count;
    gt_status status = GEMMTUNE_OK;
    if (l->ask->device != NULL) {
        status = gt_view_pick(&first, &l->view, l->ask->device, err);
        end = first + 1;
    }
    if (status != GEMMTUNE_OK)
        return GEMMTUNE_EINVAL;
    for (size_t i = first; i < end && status == GEMMTUNE_OK; i++)
        status = add_device(l, &l->view.device[i], err);
    return status;
}

static gt_status make(struct listing *l, struct gt_err *err) {
    gt_status status = gt_table_create(&l->table, &gt_gains_form, err);
    if (status == GEMMTUNE_OK && l->ask->db != NULL)
        status = gt_view_devices(&l->view, l->ask->db, err);
    if (status != GEMMTUNE_OK)
        return status;
    l->sums = calloc(l->view.device_count + 1, sizeof *l->sums);
    return l->sums != NULL ? add_devices(l, err)
                           : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

static void say_all_sums(const struct listing *l) {
    for (size_t i = 0; i < l->devices; i++)
        say_sums(&l->sums[i]);
}

/* ---- what is asked ---- */

gt_status gt_gains_print(const struct gt_gains_ask *ask, const struct gt_format *format,
                         struct gt_err *err) {
    struct listing l = {.ask = ask, .most = SIZE_MAX};
    gt_status status = make(&l, err);
    if (status == GEMMTUNE_OK && l.devices == 0)
        status = add_rows(&l, NULL, NULL, err);
    if (status == GEMMTUNE_OK) {
        gt_common_print(l.table, format);
        say_all_sums(&l);
    }
    clear(&l);
    return status;
}

static gt_status say(const struct gt_gains_ask *ask, const char *file, size_t most,
                     struct gt_err *err) {
    const struct gt_format format = {.json = false};
    struct listing l = {.ask = ask, .most = most};
    const gt_status status = make(&l, err);
    if (status == GEMMTUNE_OK && l.devices > 0) {
        gt_common_print_people(l.table, &format, stderr);
        say_all_sums(&l);
        if (ask->sweep->count > most)
            gt_talk("\"gemmtune list --sizes %s\" says it of each problem", file);
    }
    clear(&l);
    return status;
}

void gt_gains_say(const char *file, const char *db, size_t most) {
    const struct gt_texts none = {0};
    struct gt_families *families = NULL;
    struct gt_sweep sweep = {0};
    struct gt_gains_ask ask = {.sweep = &sweep};
    struct gt_err err = {""};
    if (gt_common_peek_db(&ask.db, db) < 0 && ask.db != NULL &&
        gt_common_families(&families, &none) < 0 &&
        gt_common_sweep(&sweep, file, NULL, 0) < 0) {
        ask.families = families;
        if (say(&ask, file, most, &err) != GEMMTUNE_OK)
            gt_talk("%s", err.line);
    }
    gt_sweep_clear(&sweep);
    gt_families_destroy(families);
    gt_db_close(ask.db);
}
