/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader.c - a program that finds cuBLAS at run time: loader HOW FILE SCENE...
 *
 * - plugin, deepbind: FILE is plugin.c, opened with RTLD_LOCAL, or with RTLD_DEEPBIND too
 * - library: FILE is libcublas, by a name or a path. dlsym finds its functions.
 */
#include "tests/shim/scene.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void *blas, *lt;

static void *find(const char *name) {
    return dlsym(strncmp(name, "cublasLt", 8) == 0 ? lt : blas, name);
}

static void *open_library(const char *file, int flags) {
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL | flags);
    if (library == NULL)
        fprintf(stderr, "%s\n", dlerror());
    return library;
}

/* libcublas.so.13 becomes libcublasLt.so.13. */
static void name_lt(char *out, size_t size, const char *file) {
    const char *at = strstr(file, "libcublas");
    const int before = at != NULL ? (int)(at - file) + 9 : 0;
    snprintf(out, size, "%.*sLt%s", before, file, file + before);
}

int main(int argc, char **argv) {
    char name[4096];
    union {
        void *address;
        int (*call)(int argc, char **argv);
    } play;
    if (argc < 4)
        return 2;
    const int flags = strcmp(argv[1], "deepbind") == 0 ? RTLD_DEEPBIND : 0;
    blas = open_library(argv[2], flags);
    if (blas == NULL)
        return 2;
    if (strcmp(argv[1], "library") != 0) {
        play.address = dlsym(blas, "play");
        return play.address != NULL ? play.call(argc - 3, argv + 3) : 2;
    }
    name_lt(name, sizeof name, argv[2]);
    lt = open_library(name, 0);
    return lt != NULL ? scene(find, argc - 3, argv + 3) : 2;
}
