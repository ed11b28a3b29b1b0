/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader.c - a program that finds cuBLAS at run time: loader HOW FILE SCENE...
 *
 * - plugin, deepbind: FILE is plugin.c, opened with RTLD_LOCAL, or with RTLD_DEEPBIND too
 * - early: FILE is early.c
 * - both: FILE is plugin.c, linked with 13, and after it FILE12 is played, linked with 12
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

static int play(void *plugin, int argc, char **argv) {
    union {
        void *address;
        int (*call)(int argc, char **argv);
    } play = {dlsym(plugin, "play")};
    return play.address != NULL ? play.call(argc, argv) : 2;
}

int main(int argc, char **argv) {
    char name[4096];
    if (argc < 4)
        return 2;
    const int flags = strcmp(argv[1], "deepbind") == 0 ? RTLD_DEEPBIND : 0;
    blas = open_library(argv[2], flags);
    if (blas == NULL)
        return 2;
    if (strcmp(argv[1], "both") == 0) {
        (void)snprintf(name, sizeof name, "%s12", argv[2]);
        void *other = open_library(name, 0);
        const int code = other != NULL ? play(other, argc - 3, argv + 3) : 2;
        return code != 0 ? code : play(blas, argc - 3, argv + 3);
    }
    if (strcmp(argv[1], "library") != 0)
        return play(blas, argc - 3, argv + 3);
    name_lt(name, sizeof name, argv[2]);
    lt = open_library(name, 0);
    return lt != NULL ? scene(find, argc - 3, argv + 3) : 2;
}
