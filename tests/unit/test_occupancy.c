/* SPDX-License-Identifier: Apache-2.0 */
/* test_occupancy.c - how many blocks a unit holds, and with how many registers. */
#include "runtime/lookup/occupancy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* By the occupancy tables of the CUDA programming guide. */
static void test_blocks(void **state) {
    static const struct {
        int cc, threads, registers, smem, resident;
    } rows[] = {
        {61, 256, 32, 0, 8},      /* threads: 2048 / 256 */
        {61, 64, 16, 0, 32},      /* blocks */
        {61, 256, 64, 0, 4},      /* registers: 65536 / (64 * 256) */
        {61, 256, 65, 0, 3},      /* given in eights: 72 */
        {61, 128, 255, 0, 2},     /* 8 warps of 256 registers a thread */
        {61, 256, 32, 49152, 2},  /* 96 KiB a unit */
        {61, 1024, 65, 0, 0},     /* no block fits */
        {75, 256, 32, 0, 4},      /* Turing holds 1024 threads */
        {86, 1024, 32, 0, 1},     /* and sm_86 1536 */
        {90, 128, 32, 115712, 2}, /* 228 KiB; a block loses 1 of them */
        {90, 128, 32, 116000, 1}, {90, 96, 168, 0, 4}, {90, 33, 32, 0, 32}, /* two warps */
        {13, 256, 16, 0, 0},      {0, 256, 16, 0, 0},                       /* not known */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (gt_occupancy_blocks(rows[i].cc, rows[i].threads, rows[i].registers,
                                rows[i].smem) != rows[i].resident)
            fail_msg("row %zu: %d", i,
                     gt_occupancy_blocks(rows[i].cc, rows[i].threads, rows[i].registers,
                                         rows[i].smem));
}

/* With so many registers the promised blocks fit, and with eight more they do not. */
static void test_registers(void **state) {
    static const struct {
        int cc, warps, blocks;
    } rows[] = {{61, 8, 4}, {90, 4, 3}, {90, 3, 5}, {86, 16, 2}, {75, 5, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int cc = rows[i].cc, threads = rows[i].warps * GT_WARP;
        const int most = gt_occupancy_registers(cc, rows[i].warps, rows[i].blocks);
        assert_true(gt_occupancy_blocks(cc, threads, most, 0) >= rows[i].blocks);
        assert_true(gt_occupancy_blocks(cc, threads, most + 8, 0) < rows[i].blocks);
    }
    assert_int_equal(gt_occupancy_registers(90, 1, 1), 255);
    assert_false(gt_occupancy_knows(13));
    assert_int_equal(gt_occupancy_registers(13, 8, 1), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
