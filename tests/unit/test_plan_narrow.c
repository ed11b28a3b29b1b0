/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of a plan for pointers that are aligned to their elements and no more. Every
 * problem has one: drawn problems of all types, layouts and kinds of batches are asked
 * about, on devices of several architectures. */
#include "runtime/plan/plan_choose.h"
#include "tests/chance.h"
#include "tests/unit/shipped_families.h"

enum { EACH = 8 }; /* problems of each mix on each device */

static const struct gt_device cards[] = {
    MADE_UP(.arch = "sm_90", .cc = 90, .units = 132, .clock_mhz = 1980,
            .mem_clock_mhz = 3201, .bus_bits = 6016, .l2_bytes = 62914560,
            .smem_max = 232448, .has_f64 = true),
    MADE_UP(.arch = "sm_120", .cc = 120, .units = 84, .clock_mhz = 2600,
            .mem_clock_mhz = 14001, .bus_bits = 256, .l2_bytes = 67108864,
            .smem_max = 101376, .has_f64 = true),
    MADE_UP(.arch = "sm_75", .cc = 75, .units = 40, .clock_mhz = 1590,
            .mem_clock_mhz = 5001, .bus_bits = 256, .l2_bytes = 4194304, .smem_max = 65536,
            .has_f64 = true),
    MADE_UP(.arch = "sm_61", .cc = 61, .units = 20, .clock_mhz = 1733,
            .mem_clock_mhz = 5005, .bus_bits = 256, .l2_bytes = 2097152, .smem_max = 49152,
            .has_f64 = true),
};

static int draw(int count) {
    return (int)(any_bits() % (uint64_t)count);
}

/* Half of the sides are multiples of 16, which kernels with wide copies serve. */
static int draw_side(void) {
    return draw(2) ? 16 << draw(6) : 1 + draw(500);
}

/* A problem of the mix. False when its types do not go with the drawn options. */
static bool draw_problem(gemmtune_problem *p, const char *types) {
    static const char *const layouts[] = {"nn", "nt", "tn", "tt"};
    static const char *const kinds[] = {"",          "",
                                        "",          ",batch=7",
                                        ",groups=3", ",batch=4,masked",
                                        ",packed_b", ",batch=9,sa=0"};
    static const char *const others[] = {"", "", ",beta", ",epi=bias", ",row_order"};
    char text[128];
    (void)snprintf(text, sizeof text, "%s-%s-%dx%dx%d%s%s", types, layouts[draw(4)],
                   draw_side(), draw_side(), draw_side(), kinds[draw(8)], others[draw(5)]);
    return gt_problem_from_name(p, text, NULL) == GEMMTUNE_OK;
}

static void expect_narrow(const struct gt_choice *narrow, const gemmtune_problem *p) {
    const gemmtune_dtype type[] = {p->type_a, p->type_b, p->type_c};
    char name[GT_PROBLEM_NAME_MAX];
    (void)gt_problem_name(p, name);
    for (int i = 0; i < 3; i++)
        if (narrow->fit.align[i] > (int64_t)gt_type_size(type[i]))
            fail_msg("%s: %s wants operand %d aligned to %d bytes", name,
                     narrow->family->name, i, (int)narrow->fit.align[i]);
}

/* Whether the problem's kernel needs a narrow one beside it, which is then there. Also
 * beside a kernel that was asked for with EXACT. */
static bool has_narrow(const struct gt_device *d, const gemmtune_problem *p) {
    const struct gt_snapshot nothing = {.families = families};
    struct gt_query query = {.snapshot = &nothing,
                             .device = d,
                             .device_key = HERE,
                             .problem = p,
                             .worst = GEMMTUNE_MATCH_DEFAULT,
                             .workspace_max = draw(2) ? SIZE_MAX : 0,
                             .pointer_align = GT_VECTOR_BYTES};
    struct gt_choice wide, narrow;
    struct gt_err err = {""};
    if (gt_match(&wide, &query, NULL) != GEMMTUNE_OK || !gt_wants_narrow(&wide.fit, p))
        return false;
    query.worst = (gemmtune_match)draw(4);
    if (gt_match_narrow(&narrow, query, &wide, &err) != GEMMTUNE_OK)
        fail_msg("%s", err.line);
    expect_narrow(&narrow, p);
    return true;
}

static void test_every_type(void **state) {
    int narrow[GT_DTYPES] = {0};
    (void)state;
    for (size_t i = 0; i < GT_DTYPES; i++)
        for (size_t d = 0; d < sizeof cards / sizeof *cards; d++)
            for (int tries = 0; tries < EACH;) {
                gemmtune_problem p;
                if (!draw_problem(&p, gt_dtype_at(i)->name))
                    continue;
                narrow[i] += has_narrow(&cards[d], &p);
                tries++;
            }
    for (size_t i = 0; i < GT_DTYPES; i++)
        if (narrow[i] == 0)
            fail_msg("%s: no kernel wanted a narrow one", gt_dtype_at(i)->name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
