/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict_learn.c - `gemmtune predict --learn` and `--learn-more`: prints trees learned
 * from trials, as the file trees.bin of runtime/lookup/shelf.h.
 */
#include "tuner/cmd/predict.h"
#include "tuner/base/talk.h"

#include "runtime/lookup/learned.h"

#include <stdlib.h>
#include <string.h>

/* Prints trees.bin. */
static gt_status print_file(const struct gt_learning *l, struct gt_err *err) {
    struct gt_trees trees;
    gt_status status = gt_learning_trees(&trees, l, err);
    if (status == GEMMTUNE_OK)
        status = gt_trees_write(stdout, &trees, err);
    gt_trees_clear(&trees);
    return status;
}

static void print_json_types(const struct gt_learning *l) {
    bool first_of_all = true;
    (void)fputs(", \"types\": [", stdout);
    for (size_t t = 0; t < GT_DTYPES; t++)
        for (int batch = 0; batch < 2; batch++) {
            const struct gt_held_out *h = &l->of[t][batch];
            bool first = true;
            if (h->problems == 0)
                continue;
            (void)fputs(first_of_all ? "{" : ", {", stdout);
            first_of_all = false;
            gt_json_text(&first, "type", gt_dtype_at(t)->name);
            gt_json_number(&first, "batches", batch);
            gt_json_number(&first, "held_out_problems", (double)h->problems);
            gt_json_number(&first, "held_out_loss", h->loss[1]);
            gt_json_number(&first, "held_out_loss_without", h->loss[0]);
            (void)fputs("}", stdout);
        }
    (void)fputs("]", stdout);
}

static void print_json(const struct gt_learning *l, enum gt_learning_way way) {
    bool first = true;
    (void)fputs("{", stdout);
    gt_json_text(&first, "without", way == GT_LEARN_MORE ? "new trees" : "trees");
    gt_json_number(&first, "trials", (double)l->trials);
    gt_json_number(&first, "held_out_problems", (double)l->all.problems);
    gt_json_number(&first, "held_out_loss", l->all.loss[1]);
    gt_json_number(&first, "held_out_loss_without", l->all.loss[0]);
    print_json_types(l);
    (void)fputs("}\n", stdout);
}

static void print_held_out(const struct gt_held_out *h, const char *what,
                           enum gt_learning_way way) {
    if (h->problems > 0)
        gt_talk(
            "%s: on %zu problems held out the least forecast loses %.1f %% (%s %.1f %%)",
            what, h->problems, 100 * h->loss[1],
            way == GT_LEARN_MORE ? "with the shipped trees alone" : "without trees",
            100 * h->loss[0]);
}

static void print_losses(const struct gt_learning *l, enum gt_learning_way way) {
    static const char *const words[2] = {"", ", batches"};
    for (size_t t = 0; t < GT_DTYPES; t++)
        for (int batch = 0; batch < 2; batch++) {
            char what[GT_NAME_MAX];
            (void)snprintf(what, sizeof what, "%s%s", gt_dtype_at(t)->name, words[batch]);
            print_held_out(&l->of[t][batch], what, way);
        }
    print_held_out(&l->all, "all", way);
}

static gt_status print_learned(const struct gt_view *view, const char *key,
                               const struct gt_families *families,
                               const struct gt_format *format, enum gt_learning_way way,
                               struct gt_err *err) {
    struct gt_learning l;
    gt_status status = gt_predict_learn(
        &l, view, families, key, gt_shelf_shipped(gt_view_device(view, key)), way, err);
    if (status == GEMMTUNE_OK && format->json)
        print_json(&l, way);
    else if (status == GEMMTUNE_OK)
        status = print_file(&l, err);
    if (status == GEMMTUNE_OK) {
        gt_talk("trials and records that teach: %zu", l.trials);
        print_losses(&l, way);
    }
    gt_learning_clear(&l);
    return status;
}

gt_status gt_predict_learn_print(const struct gt_view *view, const char *key,
                                 const struct gt_families *families,
                                 const struct gt_format *format, struct gt_err *err) {
    return print_learned(view, key, families, format, GT_LEARN_ANEW, err);
}

gt_status gt_predict_learn_more_print(const struct gt_view *view, const char *key,
                                      const struct gt_families *families,
                                      const struct gt_format *format, struct gt_err *err) {
    return print_learned(view, key, families, format, GT_LEARN_MORE, err);
}
