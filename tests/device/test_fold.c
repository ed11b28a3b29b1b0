/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FOLD of `multistage`: one block that sums parts of k one after the other gives the bits
 * that a split of k gives, where both state the same order of sums. On every device of this
 * machine. Tiles differ between the two, sides are no multiples of tiles, and the old C
 * counts. One part alone gives other bits, so the comparison can fail.
 */
#include "core/element.h"
#include "tests/device/bits.h"

#include <stdio.h>
#include <string.h>

#define TILE_OF(bm, bn, bk, tm, tn, more)                                                  \
    "BM=" bm " BN=" bn " BK=" bk " TM=" tm " TN=" tn " STAGES=2 SLICES=1 STREAM=0 VA=1"    \
    " VB=1 ORDER=0 REPACK=0 MINB=1 GROUP=1 " more
#define SMALL(more) TILE_OF("16", "16", "8", "2", "4", more)
#define LARGE(more) TILE_OF("32", "32", "8", "4", "4", more)
#define DEEP(more)  TILE_OF("16", "16", "16", "2", "4", more)
#define ALONE       "SPLIT=1 CLUSTER=0 FOLD=1"
#define FOLDED(by)  "SPLIT=1 CLUSTER=0 FOLD=" by
#define SPLIT(by)   "CLUSTER=0 FOLD=1 SPLIT=" by
#define CLUSTER(by) "CLUSTER=1 FOLD=1 SPLIT=" by

/* A problem, and points of one order: the first folds, the others split. `alone` has the
 * tile of the first one, and one part. */
static const struct fold_case {
    const char *problem, *fold, *split, *cluster, *alone;
} cases[] = {
    {"f32-nn-45x39x64", LARGE(FOLDED("2")), SMALL(SPLIT("2")), SMALL(CLUSTER("2")),
     LARGE(ALONE)},
    {"f32-tt-29x23x93,batch=3,ldc=25", SMALL(FOLDED("6")), DEEP(SPLIT("6")),
     SMALL(CLUSTER("6")), SMALL(ALONE)}, /* the last slab is padded */
    {"f64-nt-19x21x64", SMALL(FOLDED("8")), SMALL(SPLIT("8")), SMALL(CLUSTER("8")),
     SMALL(ALONE)},
};

/* Of each point's products: zeros are results of products that are so small that they
 * become -0. */
enum { PLAIN, WITH_OLD_C, ZEROS, INPUTS };

static struct gt_err err;
static struct { int folded, split, clusters, zeros; } done;

struct outputs {
    unsigned char c[INPUTS][BYTES];
    char order[GT_ORDER_MAX];
};
static struct outputs folded, other;

/* ---- operands ---- */

/* Numbers from -1/3 to 1/3, or `all` where it is not 0. */
static void fill(struct memory *x, void *to, gemmtune_dtype type, unsigned seed,
                 double all) {
    static unsigned char bytes[BYTES];
    const size_t size = gt_type_size(type);
    for (size_t i = 0; i < BYTES / size; i++) {
        seed = seed * 1664525U + 1013904223U;
        const double drawn = ((double)(seed >> 8) / (1 << 23) - 1) / 3;
        gt_element_put(bytes + i * size, type, all != 0 ? all : drawn);
    }
    x->m->ops->write(x->m, x->queue, to, bytes, BYTES);
}

static void fill_all(struct memory *x, gemmtune_dtype type, int input) {
    const double tiny = type == GEMMTUNE_F64 ? 1e-200 : 1e-30;
    fill(x, x->a, type, 1, input == ZEROS ? -tiny : 0);
    fill(x, x->b, type, 2, input == ZEROS ? tiny : 0);
    fill(x, x->c, type, 3, 0);
}

/* ---- products ---- */

static void run(struct outputs *out, struct memory *x, const struct gt_exec *e,
                const gemmtune_problem *p) {
    for (int input = 0; input < INPUTS; input++) {
        const union gt_value one = gt_value_of(p->type_acc, 1),
                             beta = gt_value_of(p->type_acc, input == WITH_OLD_C ? 1.5 : 0);
        const struct gt_call call = {.alpha = &one,
                                     .beta = &beta,
                                     .a = x->a,
                                     .b = x->b,
                                     .c = x->c,
                                     .workspace = x->workspace,
                                     .stream = x->queue};
        fill_all(x, p->type_c, input);
        (void)gt_exec_run(e, &call, &err);
        assert_string_equal(err.line, "");
        x->m->ops->read(x->m, x->queue, out->c[input], x->c, BYTES);
    }
}

/* False: the point may not run on this device. */
static bool run_point(struct outputs *out, struct memory *x, const struct gt_family *f,
                      const char *text, const gemmtune_problem *p) {
    struct gt_exec *e = NULL;
    struct gt_point point;
    struct gt_binding b;
    struct gt_fit fit;
    assert_int_equal(gt_point_parse(&point, text, &err), GEMMTUNE_OK);
    if (gt_fit_point(&fit, f, &x->gpu->device, p, &point, NULL) != GEMMTUNE_OK)
        return false;
    assert_true(fit.passes.workspace_bytes <= BYTES);
    gt_bind_problem(&b, f, &x->gpu->device, p);
    assert_int_equal(gt_bind_point(&b, &point, &err), GEMMTUNE_OK);
    assert_true(gt_order_of(out->order, &b, NULL));
    if (gt_exec_build(&e, x->gpu, &fit, NULL, &err) != GEMMTUNE_OK)
        fail_msg("%s: %s", text, err.line);
    run(out, x, e, p);
    gt_exec_destroy(e);
    return true;
}

/* Whether the point may run. It has the order and the bits of the folded sums. */
static bool is_same(struct memory *x, const struct gt_family *f, const char *text,
                    const gemmtune_problem *p) {
    if (!run_point(&other, x, f, text, p))
        return false;
    assert_string_equal(other.order, folded.order);
    for (int i = 0; i < INPUTS; i++)
        if (memcmp(folded.c[i], other.c[i], BYTES) != 0)
            fail_msg("input %d: \"%s\" differs from the folded sums", i, text);
    return true;
}

static void compare(struct memory *x, const struct gt_family *f,
                    const struct fold_case *k) {
    char name[128];
    gemmtune_problem p;
    (void)snprintf(name, sizeof name, "%s,row_order", k->problem);
    assert_int_equal(gt_problem_from_name(&p, name, &err), GEMMTUNE_OK);
    if (!gt_family_serves(f, x->m->device, &p, NULL))
        return;
    if (!run_point(&folded, x, f, k->fold, &p))
        fail_msg("%s: \"%s\" is refused", name, k->fold);
    done.folded++;
    done.split += is_same(x, f, k->split, &p);
    done.clusters += is_same(x, f, k->cluster, &p);
    assert_true(run_point(&other, x, f, k->alone, &p));
    assert_string_not_equal(other.order, folded.order);
    assert_memory_not_equal(other.c[PLAIN], folded.c[PLAIN], BYTES);
    assert_memory_not_equal(other.c[WITH_OLD_C], folded.c[WITH_OLD_C], BYTES);
    done.zeros += memcmp(other.c[ZEROS], folded.c[ZEROS], BYTES) != 0;
}

/* ---- devices ---- */

static void on_device(struct machine *m) {
    struct memory x;
    memory_open(&x, m);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        compare(&x, gt_families_find(x.families, "multistage"), &cases[i]);
    memory_close(&x);
}

static void test_folded_sums(void **state) {
    (void)state;
    on_every_device(on_device);
    print_message("%d folded points have the bits of %d split ones and of %d clusters; "
                  "with %d one part alone has zeros of another sign\n",
                  done.folded, done.split, done.clusters, done.zeros);
    assert_int_equal(done.split, done.folded);
    assert_true(done.folded == 0 || done.zeros > 0); /* 0: no device gets the family */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_folded_sums)};
    return cmocka_run_group_tests_name("fold", tests, list_devices, clear_devices);
}
