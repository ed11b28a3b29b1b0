/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of db/published/ equal the sources' figures, and bad files are refused. */
#include "tuner/base/published.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct gt_published_row *find(const struct gt_published *p, const char *device,
                                           const char *kernel, int64_t volume) {
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->row[i].device, device) == 0 &&
            strcmp(p->row[i].kernel, kernel) == 0 &&
            (volume == 0 || p->row[i].volume == volume))
            return &p->row[i];
    fail_msg("no %s on %s", kernel, device);
    return NULL;
}

static void test_built_in(void **state) {
    static const char gtx1050[] = "NVIDIA GeForce GTX 1050";
    static const char gtx1080[] = "NVIDIA GeForce GTX 1080";
    static const char gtx260[] = "NVIDIA GeForce GTX 260";
    static const struct {
        const char *device, *kernel;
        int64_t volume;
        double ms, gflops;
    } rows[] = {
        {gtx1050, "cpu", 10000000000, 42513, 0.4704},
        {gtx1050, "naive", 10000000000, 530, 37.74},
        {gtx1050, "tile", 10000000000, 221, 90.50},
        {gtx1050, "tile", 1000, 1, 0.002},
        {gtx1050, "naive", 1000, 0, 0}, /* below the source's resolution */
        {gtx1080, "naive", 68719476736, 2900, 47.39},
        {gtx1080, "coalesced", 68719476736, 392, 350.6},
        {gtx1080, "tile", 68719476736, 147, 934.96},
        {gtx1080, "cublas", 68719476736, 20, 6871.9},
        {gtx260, "block", 0, 0, 60},
        {gtx260, "column", 0, 0, 65},
        {gtx260, "cublas", 0, 0, 65},
    };
    struct gt_published p;
    struct gt_err err = {""};
    (void)state;
    const gt_status status = gt_published_load(&p, &err);
    assert_string_equal(err.line, "");
    assert_int_equal(status, GEMMTUNE_OK);
    assert_int_equal(p.count, 36 + 4 + 3);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct gt_published_row *r =
            find(&p, rows[i].device, rows[i].kernel, rows[i].volume);
        assert_true(r->ms == rows[i].ms);
        assert_true(fabs(r->gflops - rows[i].gflops) <= 1e-3 * rows[i].gflops);
        assert_true(r->title[0] != '\0' && r->how[0] != '\0' && r->rung[0] != '\0');
    }
    assert_string_equal(find(&p, gtx1080, "tile", 0)->problem, "f32-nn-4096x4096x4096");
    assert_string_equal(find(&p, gtx1080, "tile", 0)->dtype, "f32");
    assert_string_equal(find(&p, gtx1080, "naive", 0)->point, "naive MAP=0 BX=32 BY=32");
    assert_string_equal(find(&p, gtx1080, "cublas", 0)->point, "");
    assert_true(find(&p, gtx1050, "cpu", 1000)->host);
    assert_false(find(&p, gtx1050, "tile", 1000)->host);
    assert_true(find(&p, gtx1050, "tile", 1000)->resolution_ms == 1);
    assert_string_equal(find(&p, gtx260, "block", 0)->dtype, "f64");
    assert_int_equal(find(&p, gtx260, "block", 0)->volume, 0);
    gt_published_clear(&p);
    gt_published_clear(&p);
}

static void test_refusals(void **state) {
    static const struct {
        const char *text, *line;
    } rows[] = {
        {"", "x.json"},
        {"{}", "\"format\" is missing"},
        {"{\"format\":2}", "/format"},
        {"{\"format\":1,\"device\":\"d\"}", "\"rows\" is missing"},
        {"{\"format\":1,\"device\":\"d\",\"rows\":[],\"x\":1}", "/x: unknown key"},
        {"{\"format\":1,\"device\":7,\"rows\":[]}", "/device: must be a string"},
        {"{\"format\":1,\"device\":\"d\",\"rows\":[{\"problem\":\"f32\"}]}",
         "problem \"f32\""},
        {"{\"format\":1,\"device\":\"d\",\"rows\":[{\"ms\":-1}]}",
         "/rows/0/ms: must not be"},
        {"{\"format\":1,\"device\":\"d\",\"rows\":[{\"volume\":0}]}",
         "/rows/0/volume: must be"},
        {"{\"format\":1,\"device\":\"d\",\"rows\":[{\"kernel\":"
         "\"12345678901234567890123456\"}]}",
         "/rows/0/kernel: longer than"},
        {"{\"format\":1,\"device\":\"d\",\"rows\":[{\"secs\":1}]}",
         "/rows/0/secs: unknown key"},
        {"{\"format\":1,\"device\":\"d\",\"kernels\":{\"t\":{\"why\":\"\"}},"
         "\"rows\":[{\"kernel\":\"t\"}]}",
         "/kernels/t/why: unknown key"},
        {"{\"format\":1,\"device\":\"d\",\"kernels\":{\"t\":{\"host\":1}},"
         "\"rows\":[{\"kernel\":\"t\"}]}",
         "/kernels/t/host: must be"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gt_published p = {0};
        struct gt_err err = {""};
        assert_int_equal(gt_published_parse(&p, "x.json", rows[i].text, &err),
                         GEMMTUNE_EPARSE);
        if (strstr(err.line, rows[i].line) == NULL)
            fail_msg("row %zu: \"%s\"", i, err.line);
        gt_published_clear(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built_in),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
