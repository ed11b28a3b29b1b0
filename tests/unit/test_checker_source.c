/* SPDX-License-Identifier: Apache-2.0 */
/* The text of the checking kernels has all files of tuner/lab/kernels/, each once. */
#include "core/embed.h"
#include "tests/unit/made_up.h"
#include "tuner/lab/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct gt_device card = MADE_UP(.cc = 61, .units = 6, .smem_max = 49152);

static bool is_once_in(const char *text, const char *part) {
    const char *at = strstr(text, part);
    return at != NULL && strstr(at + 1, part) == NULL;
}

/* A file that tuner/lab/checker.c does not list would be left out without a word. */
static void test_all_files(void **state) {
    static const char folder[] = "tuner/lab/kernels/";
    gemmtune_problem p;
    char *text = NULL;
    int files = 0;
    gemmtune_problem_init(&p, GEMMTUNE_F32, 8, 8, 8);
    assert_int_equal(gt_checker_source(&text, &card, &p, NULL), GEMMTUNE_OK);
    for (const struct gt_embedded *e = gt_embedded_kernels; e->path != NULL; e++) {
        if (strncmp(e->path, folder, strlen(folder)) != 0)
            continue;
        if (!is_once_in(text, e->text))
            fail_msg("%s is not in the text once", e->path);
        files++;
    }
    assert_true(files > 1);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
