/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict_learn.c - `gemmtune predict --learn` and `--learn-more`: prints trees learned
 * from trials, as the file runtime/learned_h200.c.
 */
#include "tuner/cmd/predict.h"
#include "tuner/base/talk.h"

#include "runtime/learned.h"

#include <string.h>

static const struct gt_learned_trees *next(const struct gt_learning *l, size_t *i) {
    while (*i < l->count && l->family[*i].count == 0)
        ++*i;
    return *i < l->count ? &l->family[(*i)++] : NULL;
}

/* Five digits, as a float of C. */
static void print_value(float value) {
    char text[32];
    (void)snprintf(text, sizeof text, "%.5g", (double)value);
    printf("%s%sf", text, strpbrk(text, ".e") != NULL ? "" : ".");
}

static void print_tree(const struct gt_learned_node *n) {
    (void)fputs("   ", stdout);
    for (int i = 0; i < GT_LEARNED_NODES; i++) {
        (void)fputs(" {", stdout);
        print_value(n[i].value);
        printf(",%d,%d},", n[i].asks, n[i].right);
    }
    (void)fputs("\n", stdout);
}

static void print_file(const struct gt_learning *l, enum gt_learning_way way) {
    const struct gt_learned_trees *t;
    printf("/* SPDX-License-Identifier: Apache-2.0 */\n"
           "/* The trees of learned.h. `gemmtune predict --%s` printed them. */\n"
           "#include \"runtime/learned.h\"\n\n",
           way == GT_LEARN_MORE ? "learn-more" : "learn");
    printf("_Static_assert(GT_LEARNED_COMMON == %d && GT_LEARNED_NODES == %d,\n"
           "               \"learn the trees anew\");\n",
           (int)GT_LEARNED_COMMON, (int)GT_LEARNED_NODES);
    for (size_t i = 0; (t = next(l, &i)) != NULL;) {
        printf("static const struct gt_learned_node learned_%s[] = {\n", t->family->name);
        for (int j = 0; j < t->count; j++)
            print_tree(t->node + (size_t)j * GT_LEARNED_NODES);
        (void)fputs("};\n", stdout);
    }
    (void)fputs("const struct gt_learned gt_learned_h200[] = {\n", stdout);
    for (size_t i = 0; (t = next(l, &i)) != NULL;) {
        printf("    {\"%s\", \"", t->family->name);
        for (int j = 0; j < t->family->param_count; j++)
            printf("%s ", t->family->param[j].name);
        for (int j = 0; j < t->family->derive_count; j++)
            printf("%s ", t->family->symbols.name[t->family->derive[j].slot]);
        printf("\", %d, %d, learned_%s},\n", t->count, t->later, t->family->name);
    }
    (void)fputs("};\n"
                "const size_t gt_learned_h200_count =\n"
                "    sizeof gt_learned_h200 / sizeof *gt_learned_h200;\n",
                stdout);
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
    const gt_status status = gt_predict_learn(&l, view, families, key, way, err);
    if (status == GEMMTUNE_OK) {
        (format->json ? print_json : print_file)(&l, way);
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
