/* SPDX-License-Identifier: Apache-2.0 */
/* A family that says "same_bits" keeps it: its default point, and its starting points with
 * GT_LONG=1, give the same bits twice, whatever lay in C and in the workspace before. On
 * every device of this machine. */
#include "tests/device/bits.h"

#include <stdio.h>
#include <string.h>

static const char *const problems[] = {"f32-nn-64x48x320", "f32-nn-24x20x36,batch=5"};

static struct gt_err err;
static struct { int families, runs; } done;

static void *filled(struct memory *x, void *memory, unsigned seed, bool floats) {
    static union {
        float number[BYTES / 4];
        unsigned char byte[BYTES];
    } data;
    for (size_t i = 0; i < BYTES / 4; i++) {
        seed = seed * 1664525U + 1013904223U;
        if (floats)
            data.number[i] = (float)(seed >> 8) / (float)(1 << 24);
        else
            memcpy(&data.byte[4 * i], &seed, 4);
    }
    x->m->ops->write(x->m, x->queue, memory, data.byte, BYTES);
    return memory;
}

static void run(unsigned char *c, struct memory *x, const struct gt_exec *e,
                const gemmtune_problem *p, unsigned seed) {
    const union gt_value one = gt_value_of(p->type_acc, 1),
                         zero = gt_value_of(p->type_acc, 0);
    struct gt_exec_info info;
    gt_exec_describe(e, &info);
    const struct gt_call call = {.alpha = &one,
                                 .beta = &zero,
                                 .a = x->a,
                                 .b = x->b,
                                 .c = filled(x, x->c, seed, false),
                                 .workspace = info.fit->passes.workspace_bytes > 0
                                                  ? filled(x, x->workspace, ~seed, false)
                                                  : NULL,
                                 .stream = x->queue};
    (void)gt_exec_run(e, &call, &err);
    assert_string_equal(err.line, "");
    x->m->ops->read(x->m, x->queue, c, x->c, BYTES);
}

/* False: the point may not run the problem. */
static bool twice(struct memory *x, const struct gt_family *f, const struct gt_point *point,
                  const gemmtune_problem *p) {
    static unsigned char c[2][BYTES];
    struct gt_exec *e = NULL;
    struct gt_fit fit;
    if (gt_fit_point(&fit, f, &x->gpu->device, p, point, NULL) != GEMMTUNE_OK ||
        fit.passes.workspace_bytes > BYTES)
        return false;
    if (gt_exec_build(&e, x->gpu, &fit, NULL, &err) != GEMMTUNE_OK)
        fail_msg("%s: %s", f->name, err.line);
    for (unsigned i = 0; i < 2; i++)
        run(c[i], x, e, p, 7 + i);
    const size_t size = (size_t)gt_problem_elems_c(p) * gt_type_size(p->type_c);
    assert_true(size <= BYTES);
    if (memcmp(c[0], c[1], size) != 0)
        fail_msg("%s: two runs differ in bits", f->name);
    gt_exec_destroy(e);
    done.runs++;
    return true;
}

static void every_point(struct memory *x, const struct gt_family *f) {
    const int starts = getenv("GT_LONG") != NULL ? f->start_count : 0;
    int ran = 0;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        gemmtune_problem p;
        assert_int_equal(gt_problem_from_name(&p, problems[i], &err), GEMMTUNE_OK);
        filled(x, x->a, 1, p.type_a == GEMMTUNE_F32);
        filled(x, x->b, 2, p.type_a == GEMMTUNE_F32);
        for (int j = -1; j < starts; j++) {
            struct gt_point point;
            if (j < 0)
                gt_family_default(f, &point);
            else
                gt_family_start(f, j, &point);
            ran += twice(x, f, &point, &p);
        }
    }
    done.families += ran > 0;
}

static void on_device(struct machine *m) {
    struct memory x;
    memory_open(&x, m);
    for (size_t i = 0; i < gt_families_count(x.families); i++)
        if (gt_families_at(x.families, i)->same_bits)
            every_point(&x, gt_families_at(x.families, i));
    memory_close(&x);
}

static void test_same_bits(void **state) {
    (void)state;
    on_every_device(on_device);
    print_message("%d families, %d kernels\n", done.families, done.runs);
    assert_true(done.families >= 5 && done.runs >= 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits)};
    return cmocka_run_group_tests_name("same bits", tests, list_devices, clear_devices);
}
