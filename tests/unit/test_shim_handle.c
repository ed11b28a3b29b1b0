/* SPDX-License-Identifier: Apache-2.0 */
/* test_shim_handle.c - workspaces of a handle that several threads use. */
#include "shim/handle.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 4, HANDLES = 200, STREAMS = 9, BUFFERS = 8, OWN_BYTES = 32 << 20 };

static atomic_int allocations;

static unsigned allocate(uint64_t *memory, size_t bytes) {
    (void)bytes;
    *memory = (uint64_t)atomic_fetch_add(&allocations, 1) + 1;
    return 0;
}

static unsigned exchange_mode(unsigned *mode) {
    *mode = 0;
    return 0;
}

static const struct gt_shim_driver driver = {.allocate = allocate,
                                             .exchange_mode = exchange_mode};

static void *number(int i) {
    return (void *)(uintptr_t)(i + 1);
}

/* ---- one lock for each handle ---- */

static atomic_int inside[HANDLES], together;
static struct gt_shim_handle *_Atomic slot[HANDLES];
static void *_Atomic memory[HANDLES][STREAMS];
static atomic_int differ;
static pthread_barrier_t barrier;

static void visit(int handle) {
    struct gt_shim_handle *held;
    (void)gt_shim_workspace_hold(&held, number(handle));
    const struct gt_shim_handle *earlier = atomic_exchange(&slot[handle], held);
    if (earlier != NULL && earlier != held)
        atomic_fetch_add(&differ, 1);
    if (atomic_fetch_add(&inside[handle], 1) != 0)
        atomic_fetch_add(&together, 1);
    (void)sched_yield(); /* others try to get in */
    for (int s = 0; s < STREAMS; s++) {
        void *own = gt_shim_workspace_own(number(handle), number(s), &driver);
        void *before = atomic_exchange(&memory[handle][s], own);
        if (before != NULL && before != own)
            atomic_fetch_add(&differ, 1);
    }
    atomic_fetch_sub(&inside[handle], 1);
    gt_shim_workspace_release(held);
}

static void *visit_all(void *user) {
    for (int handle = 0; handle < HANDLES; handle++) {
        (void)pthread_barrier_wait(&barrier); /* so that all of them add the handle */
        visit(handle);
    }
    return user;
}

static void test_threads_take_turns(void **state) {
    pthread_t thread[THREADS];
    (void)state;
    assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, visit_all, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(together, 0);
    assert_int_equal(differ, 0);
    assert_int_equal(allocations, HANDLES * BUFFERS);
    for (int handle = 0; handle < HANDLES; handle++)
        assert_null(memory[handle][STREAMS - 1]); /* there is no ninth buffer */
}

/* ---- a workspace that was given ---- */

static unsigned get_stream(void *handle, void **stream) {
    (void)handle;
    *stream = NULL;
    return 0;
}

static char given_memory[64];

/* The bytes that a call may use of the workspace that was given. */
static size_t given_bytes(void *handle) {
    bool given = false;
    void *at = NULL;
    struct gt_shim_handle *held;
    const size_t bytes = gt_shim_workspace_bytes(&given, &at, handle, NULL);
    assert_true(given);
    assert_ptr_equal(at, bytes > 0 ? given_memory : NULL);
    assert_int_equal(gt_shim_workspace_hold(&held, handle), bytes > 0);
    gt_shim_workspace_release(held);
    return bytes;
}

static void *use(void *handle) {
    gt_shim_handle_used(handle);
    return NULL;
}

static void use_in_another_thread(void *handle) {
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, use, handle), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_a_second_thread_ends_its_use(void **state) {
    struct gt_shim_library library;
    void *handle = number(HANDLES);
    (void)state;
    memset(&library, 0, sizeof library);
    library.get_stream = get_stream;
    gt_shim_workspace_given(handle, &library, given_memory, sizeof given_memory);
    assert_int_equal(given_bytes(handle), sizeof given_memory);
    gt_shim_handle_used(handle);
    gt_shim_handle_used(handle);
    assert_int_equal(given_bytes(handle), sizeof given_memory);
    use_in_another_thread(handle);
    assert_int_equal(given_bytes(handle), 0);
    gt_shim_handle_used(handle);
    assert_int_equal(given_bytes(handle), 0);
    gt_shim_workspace_given(handle, &library, given_memory, sizeof given_memory);
    assert_int_equal(given_bytes(handle), sizeof given_memory);
}

/* ---- an address that is used again ---- */

/* The next handle may get the address of one that was destroyed, and other handles may have
 * come after that one. */
static void test_a_handle_at_an_old_address_is_new(void **state) {
    struct gt_shim_library library;
    void *handle = number(HANDLES + 1), *at = NULL;
    bool given = true;
    (void)state;
    memset(&library, 0, sizeof library);
    library.get_stream = get_stream;
    gt_shim_workspace_given(handle, &library, given_memory, sizeof given_memory);
    use_in_another_thread(handle);
    gt_shim_handle_ends(handle);
    assert_int_equal(gt_shim_workspace_bytes(&given, &at, handle, NULL), OWN_BYTES);
    assert_false(given);
    void *first = gt_shim_workspace_own(handle, NULL, &driver);
    assert_non_null(first);
    assert_int_equal(gt_shim_workspace_bytes(&given, &at, handle, NULL), OWN_BYTES);
    assert_false(given);
    assert_null(at);
    gt_shim_handle_ends(handle); /* gives the memory back */
    assert_ptr_not_equal(gt_shim_workspace_own(handle, NULL, &driver), first);
    gt_shim_workspace_given(handle, &library, given_memory, sizeof given_memory);
    assert_int_equal(given_bytes(handle), sizeof given_memory);
    gt_shim_workspace_lost(handle);
    assert_int_equal(gt_shim_workspace_bytes(&given, &at, handle, NULL), OWN_BYTES);
    assert_false(given);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_take_turns),
        cmocka_unit_test(test_a_second_thread_ends_its_use),
        cmocka_unit_test(test_a_handle_at_an_old_address_is_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
