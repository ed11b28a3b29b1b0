/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices in .npy files: files that NumPy wrote, files of our own, and files that are
 * damaged, of another kind, not writable, or cut while they are in use. Each refusal is one
 * sentence with the path.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "tuner/stream/mapped.h"
#include "tuner/stream/npy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct gt_err err;
static char root[200], path[300], part[320];

static int set_up(void **state) {
    const char *tmp = getenv("TMPDIR");
    (void)state;
    snprintf(root, sizeof root, "%.150s/gemmtune-npy-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (mkdtemp(root) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/x.npy", root);
    snprintf(part, sizeof part, "%s.gemmtune-part", path);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    (void)unlink(path);
    return rmdir(root);
}

static void write_file(const void *bytes, size_t size) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* A file of a version's header with `text`, then `data` bytes that count from 0. */
static void write_npy(int version, const char *text, size_t data) {
    unsigned char bytes[1024] = "\x93NUMPY";
    const size_t length = strlen(text), begin = version == 1 ? 10 : 12;
    assert_true(begin + length + data <= sizeof bytes);
    bytes[6] = (unsigned char)version;
    bytes[8] = (unsigned char)length;
    bytes[9] = (unsigned char)(length >> 8);
    memcpy(bytes + begin, text, length);
    for (size_t i = 0; i < data; i++)
        bytes[begin + length + i] = (unsigned char)i;
    write_file(bytes, begin + length + data);
}

#define HEADER(descr, order, shape)                                                        \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }   \n"

/* A file for 2 x 3 elements of f32 is not there. */
static void refuse(gt_status status, const char *words) {
    const struct gt_shape shape = {2, 3};
    struct gt_npy npy = {.size = 77};
    for (int creates = 0; creates < 2; creates++) {
        err.line[0] = '\0';
        assert_int_equal(creates
                             ? gt_npy_create(&npy, path, GEMMTUNE_F32, shape, true, &err)
                             : gt_npy_open(&npy, path, GEMMTUNE_F32, shape, &err),
                         status);
        assert_null(npy.map);
        assert_int_equal(access(part, F_OK), -1);
        if (strstr(err.line, words) == NULL || strstr(err.line, path) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.line, words);
        assert_null(strchr(err.line, '\n'));
        gt_npy_close(&npy);
    }
}

static void accept_counting(void) {
    const struct gt_shape shape = {2, 3};
    struct gt_npy npy;
    if (gt_npy_open(&npy, path, GEMMTUNE_F32, shape, &err) != GEMMTUNE_OK)
        fail_msg("%s", err.line);
    for (unsigned char i = 0; i < 24; i++)
        assert_int_equal(((const unsigned char *)npy.data)[i], i);
    assert_int_equal(gt_npy_check(&npy, path, &err), GEMMTUNE_OK);
    gt_npy_close(&npy);
}

/* ---- files that are right ------------------------------------------------------------ */

static bool is_full(const void *data, size_t bytes, int value) {
    const unsigned char *at = data;
    size_t same = 0;
    while (same < bytes && at[same] == value)
        same++;
    return same == bytes;
}

static void create(struct gt_npy *npy, gemmtune_dtype type, bool reads) {
    const struct gt_shape shape = {7, 5};
    if (gt_npy_create(npy, path, type, shape, reads, &err) != GEMMTUNE_OK)
        fail_msg("%s", err.line);
    assert_int_equal((uintptr_t)npy->data % 64, 0);
}

static void keep(struct gt_npy *npy) {
    if (gt_npy_keep(npy, path, &err) != GEMMTUNE_OK)
        fail_msg("%s", err.line);
    gt_npy_close(npy);
}

/* A new file has zeros, or the elements of the file that it takes the place of. It is in
 * its place when it is kept, and not before. */
static void test_round_trip(void **state) {
    static const gemmtune_dtype types[] = {GEMMTUNE_F32, GEMMTUNE_F64, GEMMTUNE_F16,
                                           GEMMTUNE_I32, GEMMTUNE_I8};
    const struct gt_shape shape = {7, 5};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const size_t bytes = 35 * gt_type_size(types[i]);
        struct gt_npy npy;
        struct stat about;
        create(&npy, types[i], false);
        assert_true(is_full(npy.data, bytes, 0));
        memset(npy.data, (int)i + 1, bytes);
        assert_int_equal(access(path, F_OK), -1);
        keep(&npy);
        assert_int_equal(access(part, F_OK), -1);
        assert_int_equal(stat(path, &about), 0);
        assert_int_equal(about.st_size, 128 + (off_t)bytes);
        assert_int_equal(gt_npy_open(&npy, path, types[i], shape, &err), GEMMTUNE_OK);
        assert_true(is_full(npy.data, bytes, (int)i + 1));
        gt_npy_close(&npy);
        for (int old = 0; old < 2; old++) { /* both are given up */
            create(&npy, types[i], old == 1);
            assert_true(is_full(npy.data, bytes, old == 1 ? (int)i + 1 : 0));
            memset(npy.data, 99, bytes);
            gt_npy_close(&npy);
            assert_int_equal(access(part, F_OK), -1);
        }
        create(&npy, types[i], true);
        assert_true(is_full(npy.data, bytes, (int)i + 1));
        gt_npy_close(&npy);
        assert_int_equal(unlink(path), 0);
    }
}

/* The header of numpy.save, with the length that NumPy pads it to. */
static void test_numpy_header(void **state) {
    static const unsigned char head[] =
        "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    unsigned char bytes[128 + 24];
    (void)state;
    memset(bytes, ' ', 128);
    memcpy(bytes, head, sizeof head - 1);
    bytes[127] = '\n';
    for (unsigned char i = 0; i < 24; i++)
        bytes[128 + i] = i;
    write_file(bytes, sizeof bytes);
    accept_counting();
    struct gt_npy npy;
    assert_int_equal(unlink(path), 0);
    assert_int_equal(
        gt_npy_create(&npy, path, GEMMTUNE_F32, (struct gt_shape){2, 3}, false, &err),
        GEMMTUNE_OK);
    assert_memory_equal(npy.map, bytes, 128); /* ours is the same */
    gt_npy_close(&npy);
}

static void test_versions(void **state) {
    static const char *const text[] = {
        HEADER("'<f4'", "False", "(2, 3)"), HEADER("'<f4'", "False", "(2, 3,)"),
        HEADER("'<f4'", "False", "( 2,3 )"), HEADER("'<f4'", "False", "(2,3)"),
        "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}",
        "{'descr':'<f4','fortran_order':False,'shape':(2,3)}",
        HEADER("'<f4'", "False", "(2L, 3L)"), /* of Python 2 */
        HEADER("u'<f4'", "False", "(2L, 3L,)"),
        "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (2, 3)}",
        "  {\n'descr'\t: '<f4' ,\r\n 'fortran_order' : False , 'shape' : ( 2 ,\n3 , ) , "
        "}\n",
        HEADER("'=f4'", "False", "(2, 3)"), HEADER("'f4'", "False", "(2, 3)"),
        HEADER("'float32'", "False", "(2, 3)"), HEADER("'f'", "False", "(2, 3)"),
        /* of a key that comes twice the last counts */
        "{'shape': (3, 2), 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': [('shape', (9, 9)), \"'shape': (9, 9)\"], 'shape': (2, 3),"
        " 'fortran_order': True, 'descr': '<f4', 'fortran_order': False}"};
    (void)state;
    for (int version = 1; version <= 3; version++)
        for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
            write_npy(version, text[i], 24);
            accept_counting();
            write_npy(version, text[i], 100); /* more than is needed */
            accept_counting();
        }
}

/* ---- files that are not -------------------------------------------------------------- */

static void test_refused_headers(void **state) {
    static const struct {
        const char *text;
        gt_status status;
        const char *words;
    } rows[] = {
        {HEADER("'<f8'", "False", "(2, 3)"), GEMMTUNE_EINVAL,
         "holds '<f8', the problem wants '<f4'"},
        {HEADER("'>f4'", "False", "(2, 3)"), GEMMTUNE_EINVAL, "holds '>f4'"},
        {HEADER("'<f42'", "False", "(2, 3)"), GEMMTUNE_EINVAL, "holds '<f42'"},
        {HEADER("[('x', '<f4'), ('y', '<i4', (2,))]", "False", "(2, 3)"), GEMMTUNE_EINVAL,
         "holds [('x', '<f4'), ('y', '<i4', (2,))], the problem wants '<f4'"},
        {HEADER("['<f4']", "False", "(2, 3)"), GEMMTUNE_EINVAL, "holds ['<f4'], the"},
        {HEADER("'<f4' 'x'", "False", "(2, 3)"), GEMMTUNE_EINVAL, "holds '<f4' 'x', the"},
        {HEADER("'<float32'", "False", "(2, 3)"), GEMMTUNE_EINVAL, "holds '<float32'"},
        {HEADER("''", "False", "(2, 3)"), GEMMTUNE_EINVAL, "holds '', the problem"},
        {HEADER("'<f4'", "True", "(2, 3)"), GEMMTUNE_EPARSE, "is in Fortran order"},
        {HEADER("'<f4'", "False", "(6,)"), GEMMTUNE_EINVAL,
         "holds an array of shape (6,), not a matrix"},
        {HEADER("'<f4'", "False", "()"), GEMMTUNE_EINVAL, "of shape (), not a matrix"},
        {HEADER("'<f4'", "False", "(1, 2, 3)"), GEMMTUNE_EINVAL,
         "holds an array of shape (1, 2, 3), not a matrix"},
        {HEADER("'<f4'", "False", "(3, 2)"), GEMMTUNE_EINVAL,
         "is 3 x 2, the problem wants 2 x 3"},
        {HEADER("'<f4'", "False", "(-2, 3)"), GEMMTUNE_EINVAL, "(-2, 3), not a matrix"},
        {HEADER("'<f4'", "False", "(99999999999999999999, 3)"), GEMMTUNE_EINVAL,
         "not a matrix"},
        {HEADER("'<f4'", "False", "[2, 3]"), GEMMTUNE_EINVAL, "of shape [2, 3], not a"},
        {HEADER("'<f4'", "False", "(2, 3) + ()"), GEMMTUNE_EINVAL, "not a matrix"},
        {HEADER("'<f4'", "False", "(2 3)"), GEMMTUNE_EINVAL, "not a matrix"},
        {HEADER("'<f4'", "False", "(2, 3"), GEMMTUNE_EPARSE, "is damaged"},
        {HEADER("'<f4'", "False", "(2, 3))"), GEMMTUNE_EPARSE, "is damaged"},
        {HEADER("'<f4", "False", "(2, 3)"), GEMMTUNE_EPARSE, "is damaged"},
        {HEADER("'<f4'", "Falsely", "(2, 3)"), GEMMTUNE_EPARSE, "is damaged"},
        {HEADER("'<f4'", "", "(2, 3)"), GEMMTUNE_EPARSE, "is damaged"},
        {HEADER("'<f4'", "False", "(2, 3)") "x", GEMMTUNE_EPARSE, "is damaged"},
        {HEADER("'<f4'", "False", "(2, 3), 'more': 1"), GEMMTUNE_EPARSE, "is damaged"},
        {HEADER("'<f4'", "False", "(2, 3), shape: 1"), GEMMTUNE_EPARSE, "is damaged"},
        {"{}", GEMMTUNE_EPARSE, "is damaged"},
        {"'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)", GEMMTUNE_EPARSE,
         "is damaged"},
        {"{'descr': '<f4', 'fortran_order': False}", GEMMTUNE_EPARSE, "is damaged"},
        {"{'descr': '<f4', 'shape': (2, 3)}", GEMMTUNE_EPARSE, "is damaged"},
        {"{'fortran_order': False, 'shape': (2, 3)}", GEMMTUNE_EPARSE, "is damaged"},
        {"{'descr' '<f4', 'fortran_order': False, 'shape': (2, 3)}", GEMMTUNE_EPARSE,
         "is damaged"},
        {"", GEMMTUNE_EPARSE, "is damaged"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int version = 1; version <= 3; version++) {
            write_npy(version, rows[i].text, 24);
            refuse(rows[i].status, rows[i].words);
        }
}

static void test_short_files(void **state) {
    static const char text[] = HEADER("'<f4'", "False", "(2, 3)");
    (void)state;
    write_npy(1, text, 23);
    refuse(GEMMTUNE_EPARSE, "is too short: 23 bytes of elements where 24 belong");
    write_npy(2, text, 0);
    refuse(GEMMTUNE_EPARSE, "is too short: 0 bytes of elements where 24 belong");
    for (int version = 1; version <= 2; version++)
        for (off_t size = 0; size < (off_t)sizeof text; size++) {
            write_npy(version, text, 24);
            assert_int_equal(truncate(path, size), 0);
            refuse(GEMMTUNE_EPARSE, size < 10 ? "is not a .npy file" : "is damaged");
        }
}

static void test_not_npy(void **state) {
    static const unsigned char long_header[] = "\x93NUMPY\x02\x00\xff\xff\xff\xff{";
    static const unsigned char new_version[] = "\x93NUMPY\x04\x00\x01\x00\x00\x00{}";
    (void)state;
    write_file("PK\x03\x04 an archive of arrays", 25);
    refuse(GEMMTUNE_EPARSE, "is not a .npy file");
    write_file(long_header, sizeof long_header - 1);
    refuse(GEMMTUNE_EPARSE, "is damaged");
    write_file(new_version, sizeof new_version - 1);
    refuse(GEMMTUNE_EPARSE, "is damaged");
    assert_int_equal(unlink(path), 0);
    refuse(GEMMTUNE_EIO, "No such file");
    assert_int_equal(mkdir(path, 0700), 0);
    refuse(GEMMTUNE_EIO, path);
    assert_int_equal(rmdir(path), 0);
}

/* A pipe must not make the program wait for its other end. */
static void test_pipe(void **state) {
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    refuse(GEMMTUNE_EIO, "is not an ordinary file");
}

static void test_read_only(void **state) {
    const struct gt_shape shape = {2, 3};
    struct gt_npy npy;
    (void)state;
    write_npy(1, HEADER("'<f4'", "False", "(2, 3)"), 24);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(root, 0555), 0);
    const bool is_root = geteuid() == 0;
    assert_true(!is_root || seteuid(65534) == 0);
    const bool seen =
        faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0; /* by the id it has now */
    const gt_status reads = gt_npy_open(&npy, path, GEMMTUNE_F32, shape, &err);
    gt_npy_close(&npy);
    const gt_status writes = gt_npy_create(&npy, path, GEMMTUNE_F32, shape, false, &err);
    assert_true(!is_root || seteuid(0) == 0);
    assert_int_equal(chmod(root, 0755), 0);
    assert_true(reads == GEMMTUNE_OK || !seen);
    assert_int_equal(writes, GEMMTUNE_EIO);
    assert_null(npy.map);
    assert_non_null(strstr(err.line, "Permission denied"));
}

/* Types that NumPy has no word for, and files that cannot be made. */
static void test_not_creatable(void **state) {
    const struct gt_shape shape = {2, 3}, huge = {INT64_C(1) << 30, INT64_C(1) << 30};
    struct gt_npy npy;
    (void)state;
    assert_int_equal(gt_npy_create(&npy, path, GEMMTUNE_BF16, shape, false, &err),
                     GEMMTUNE_EUNSUPPORTED);
    assert_non_null(strstr(err.line, "cannot hold bf16"));
    assert_int_equal(gt_npy_open(&npy, path, GEMMTUNE_BF16, shape, &err),
                     GEMMTUNE_EUNSUPPORTED);
    assert_int_equal(gt_npy_create(&npy, path, GEMMTUNE_F32, huge, false, &err),
                     GEMMTUNE_EIO);
    assert_non_null(strstr(err.line, path)); /* no disk has the room */
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(part, F_OK), -1);
    write_npy(1, HEADER("'<f8'", "False", "(2, 3)"), 48); /* there, and of another type */
    assert_int_equal(gt_npy_create(&npy, path, GEMMTUNE_F32, shape, false, &err),
                     GEMMTUNE_EINVAL);
    assert_int_equal(
        gt_npy_create(&npy, "/nowhere/x.npy", GEMMTUNE_F32, shape, false, &err),
        GEMMTUNE_EIO);
    assert_non_null(strstr(err.line, "/nowhere/x.npy: No such file"));
}

/* Files may not be longer than 100 bytes: less than a header is written, which is no error
 * of that write. */
static void test_cut_header(void **state) {
    const struct gt_shape shape = {2, 3};
    struct gt_npy npy;
    struct rlimit limit, little;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    little = limit;
    little.rlim_cur = 100;
    void (*const handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    const gt_status status = gt_npy_create(&npy, path, GEMMTUNE_F32, shape, false, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    (void)signal(SIGXFSZ, handler);
    assert_int_equal(status, GEMMTUNE_EIO);
    assert_non_null(strstr(err.line, "x.npy: File too large"));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(part, F_OK), -1);
}

/* ---- files that change while they are mapped ----------------------------------------- */

enum { ROWS = 300, COLS = 500, BYTES = ROWS * COLS * 4 };
static const struct gt_shape large = {ROWS, COLS};

static void make_large(void) {
    struct gt_npy npy;
    assert_int_equal(gt_npy_create(&npy, path, GEMMTUNE_F32, large, false, &err),
                     GEMMTUNE_OK);
    memset(npy.data, 1, BYTES);
    keep(&npy);
}

/* A sum of all bytes, taken by another thread: any thread may meet the end. */
static void *sum_bytes(void *data) {
    const unsigned char *at = data;
    static size_t sum;
    sum = 0;
    for (size_t i = 0; i < BYTES; i++)
        sum += at[i];
    return &sum;
}

static size_t sum_in_thread(void *data) {
    pthread_t thread;
    void *sum;
    assert_int_equal(pthread_create(&thread, NULL, sum_bytes, data), 0);
    assert_int_equal(pthread_join(thread, &sum), 0);
    return *(size_t *)sum;
}

static void test_cut_input(void **state) {
    static const off_t kept[] = {128, 128 + BYTES - 1}; /* pages are lost, and a byte */
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct gt_npy npy;
        make_large();
        assert_int_equal(gt_npy_open(&npy, path, GEMMTUNE_F32, large, &err), GEMMTUNE_OK);
        assert_int_equal(sum_in_thread(npy.data), BYTES);
        assert_int_equal(gt_npy_check(&npy, path, &err), GEMMTUNE_OK);
        assert_int_equal(truncate(path, kept[i]), 0);
        assert_true(sum_in_thread(npy.data) < BYTES);
        assert_int_equal(gt_npy_check(&npy, path, &err), GEMMTUNE_EIO);
        assert_non_null(strstr(err.line, "x.npy was cut short while it was in use"));
        gt_npy_close(&npy);
        assert_int_equal(unlink(path), 0);
    }
}

/* Cut, touched, and as long as before. */
static void test_refilled_input(void **state) {
    struct gt_npy npy;
    (void)state;
    make_large();
    assert_int_equal(gt_npy_open(&npy, path, GEMMTUNE_F32, large, &err), GEMMTUNE_OK);
    assert_int_equal(truncate(path, 128), 0);
    (void)sum_in_thread(npy.data);
    assert_int_equal(truncate(path, 128 + BYTES), 0);
    assert_int_equal(gt_npy_check(&npy, path, &err), GEMMTUNE_EIO);
    assert_non_null(strstr(err.line, "x.npy could not be read"));
    gt_npy_close(&npy);
}

static void test_cut_result(void **state) {
    struct gt_npy npy;
    (void)state;
    make_large();
    assert_int_equal(gt_npy_create(&npy, path, GEMMTUNE_F32, large, true, &err),
                     GEMMTUNE_OK);
    assert_int_equal(truncate(part, 128), 0);
    memset(npy.data, 2, BYTES);
    assert_int_equal(gt_npy_keep(&npy, path, &err), GEMMTUNE_EIO);
    assert_non_null(strstr(err.line, "x.npy was cut short while it was in use"));
    gt_npy_close(&npy);
    assert_int_equal(access(part, F_OK), -1);
    assert_int_equal(gt_npy_open(&npy, path, GEMMTUNE_F32, large, &err), GEMMTUNE_OK);
    assert_true(is_full(npy.data, BYTES, 1));
    gt_npy_close(&npy);
}

/* A SIGBUS that no watched map explains ends the program, as ever. */
static void test_other_bus_error(void **state) {
    int how;
    (void)state;
    make_large();
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0, 0};
        struct gt_npy npy;
        (void)setrlimit(RLIMIT_CORE, &none);
        (void)signal(SIGBUS, SIG_DFL); /* cmocka's, or a sanitizer's */
        (void)gt_npy_open(&npy, path, GEMMTUNE_F32, large, &err);
        const int fd = open(path, O_RDWR);
        volatile char *other = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
        if (ftruncate(fd, 0) != 0)
            _exit(1);
        (void)other[BYTES / 2];
        _exit(0);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGBUS);
}

/* ---- what a file holds --------------------------------------------------------------- */

static void test_look(void **state) {
    gemmtune_dtype type;
    struct gt_shape shape;
    (void)state;
    write_npy(1, HEADER("'>i1'", "False", "(2, 12)"), 24);
    assert_int_equal(gt_npy_look(&type, &shape, path, &err), GEMMTUNE_OK);
    assert_int_equal(type, GEMMTUNE_I8);
    assert_true(shape.rows == 2 && shape.cols == 12);
    write_npy(1, HEADER("'<c8'", "False", "(2, 3)"), 48);
    assert_int_equal(gt_npy_look(&type, &shape, path, &err), GEMMTUNE_EINVAL);
    assert_non_null(
        strstr(err.line, "x.npy holds '<c8', a type that stream does not read"));
    write_npy(1, HEADER("'<f4'", "False", "(6,)"), 24);
    assert_int_equal(gt_npy_look(&type, &shape, path, &err), GEMMTUNE_EINVAL);
    write_npy(1, HEADER("'<f4'", "True", "(2, 3)"), 24);
    assert_int_equal(gt_npy_look(&type, &shape, path, &err), GEMMTUNE_EPARSE);
}

/* A SIGBUS that is no map's goes to the handler from before us. Returns how a process ends
 * that raises one with a map watched. */
static int end_of(void (*before_us)(int), void (*raise_it)(void)) {
    int how = 0;
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0, 0};
        void *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        (void)setrlimit(RLIMIT_CORE, &none);
        (void)signal(SIGBUS, before_us);
        if (map != MAP_FAILED && gt_mapped_watch(map, 4096))
            raise_it();
        _exit(9);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    return WIFEXITED(how) ? WEXITSTATUS(how) : -WTERMSIG(how);
}

static void exit_7(int number) {
    (void)number;
    _exit(7);
}

static void send_it(void) {
    (void)kill(getpid(), SIGBUS);
}

/* Reads past the end of a file that is not watched. */
static void read_behind(void) {
    FILE *file = tmpfile();
    if (file == NULL)
        return;
    const volatile char *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
    if (map != MAP_FAILED)
        (void)*map;
}

static void test_other_bus_errors(void **state) {
    (void)state;
    assert_int_equal(end_of(SIG_DFL, send_it), -SIGBUS);
    assert_int_equal(end_of(exit_7, send_it), 7);
    assert_int_equal(end_of(SIG_IGN, send_it), 9); /* it goes on */
    assert_int_equal(end_of(SIG_DFL, read_behind), -SIGBUS);
    assert_int_equal(end_of(exit_7, read_behind), 7);
}

int main(void) {
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_round_trip),    CASE(test_numpy_header),
        CASE(test_versions),      CASE(test_refused_headers),
        CASE(test_short_files),   CASE(test_not_npy),
        CASE(test_pipe),          CASE(test_read_only),
        CASE(test_not_creatable), CASE(test_cut_header),
        CASE(test_cut_input),     CASE(test_refilled_input),
        CASE(test_cut_result),    CASE(test_other_bus_error),
        CASE(test_look),          CASE(test_other_bus_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
