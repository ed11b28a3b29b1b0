/* SPDX-License-Identifier: Apache-2.0 */
/* test_shim_original.c - the original of a call is searched for once, whatever calls. */
#include "shim/original.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

/* ---- searches are counted: each opens something ---- */

static int opened;

void *dlopen(const char *file, int mode) {
    union {
        void *address;
        void *(*call)(const char *file, int mode);
    } real = {dlsym(RTLD_NEXT, "dlopen")};
    opened++;
    return real.call(file, mode);
}

/* cuBLAS, loaded as a program loads it. NULL: it was not built. */
static void *load_cublas(void) {
    char path[4096];
    const char *build = getenv("GT_BUILD");
    (void)snprintf(path, sizeof path, "%s/tests/fake/blas13/libcublas.so.13",
                   build != NULL ? build : "build");
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* The answer for a call from an address. */
static const void *answer(const void *from) {
    const struct gt_shim_library *library;
    return gt_shim_original(&library, GT_SHIM_cublasSgemm_v2, from);
}

/* Whether a second call from the address opens nothing. */
static bool is_kept(const void *from) {
    const void *first = answer(from);
    const int before = opened;
    return answer(from) == first && opened == before;
}

/* A program that compiles while it runs has code that lies in no object, at ever new
 * addresses. */
static void test_code_in_no_object(void **state) {
    enum { PLACES = 200, STEP = 16 };
    void *cublas = load_cublas();
    const char *code = mmap(NULL, (size_t)PLACES * STEP, PROT_READ | PROT_EXEC,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const void *sgemm = cublas != NULL ? dlsym(cublas, "cublasSgemm_v2") : NULL;
    (void)state;
    if (cublas == NULL)
        skip();
    assert_true(code != MAP_FAILED);
    for (size_t i = 0; i < PLACES; i++) {
        assert_ptr_equal(answer(code + i * STEP), sgemm);
        assert_true(is_kept(code + i * STEP));
    }
    /* There is room left for objects, and the answer for an object is one for all of its
     * code. */
    assert_ptr_equal(answer(sgemm), sgemm);
    const int before = opened;
    assert_ptr_equal(answer(dlsym(cublas, "cublasDgemm_v2")), sgemm);
    assert_int_equal(opened, before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_in_no_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
