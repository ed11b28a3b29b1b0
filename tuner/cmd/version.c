/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.c - `gemmtune --version`: the version, and how this program was built. A time or
 * a path of the build is not in it, so the same sources and compiler give the same program.
 */
#include "tuner/cmd/common.h"

#include "core/backend.h"
#include "tuner/base/wrap.h"

#include <cjson/cJSON.h>
#include <zlib.h>

enum { TEXT_SIZE = 1024 };

const char *gt_cmd_revision = NULL;

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

#if defined(__x86_64__)
#define PROCESSOR "x86_64"
#elif defined(__aarch64__)
#define PROCESSOR "aarch64"
#else
#define PROCESSOR "another processor"
#endif

static void put_fact(const char *fact, const char *text) {
    gt_wrap_row(stdout, (const char *const[]){fact, text}, (const size_t[]){0, 11}, 2);
}

/* Adds a word to a list. */
static int put_word(char text[TEXT_SIZE], int length, const char *word,
                    const char *between) {
    length = gt_text_put(text, TEXT_SIZE, length, length > 0 ? between : "");
    return gt_text_put(text, TEXT_SIZE, length, word);
}

static void put_libraries(void) {
    char text[TEXT_SIZE];
    (void)snprintf(text, sizeof text, "SQLite %s, cJSON %s, zlib %s",
                   gt_db_sqlite_version(), cJSON_Version(), zlibVersion());
    put_fact("libraries", text);
}

/* The names of X in core/backend.h. */
static void put_backends(void) {
    static const char *const titles[] = {
#define X(id, word, title) title,
        GT_BACKEND_LIST(X)
#undef X
    };
    char text[TEXT_SIZE] = "";
    int length = 0;
    for (size_t i = 0; i < GT_BACKENDS; i++)
        length = put_word(text, length, titles[i], ", ");
    (void)put_word(text, length, "opened when the program runs", "; ");
    put_fact("backends", text);
}

static void put_families(void) {
    char text[TEXT_SIZE] = "";
    int length = 0;
    for (size_t i = 0; gt_families_built_in[i] != NULL; i++)
        length = put_word(text, length, gt_families_built_in[i]->name, " ");
    put_fact("families", text);
}

int gt_cmd_print_version(void) {
    char soname[TEXT_SIZE];
    const int version = gemmtune_version();
    (void)snprintf(soname, sizeof soname, "libgemmtune.so.%d", version / 10000);
    if (version < 10000) /* while the major version is 0, each minor version is an ABI */
        (void)snprintf(soname, sizeof soname, "libgemmtune.so.0.%d", version / 100);
    printf("gemmtune %s\n", gt_common_version());
    put_fact("revision", gt_cmd_revision != NULL ? gt_cmd_revision : "unknown");
    put_fact("abi", soname);
    put_fact("compiler", COMPILER ", " PROCESSOR);
    put_libraries();
    put_backends();
    put_families();
    return GT_EXIT_OK;
}
