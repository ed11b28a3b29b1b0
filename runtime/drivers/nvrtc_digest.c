/* SPDX-License-Identifier: Apache-2.0 */
/* nvrtc_digest.c - which NVRTC would be loaded, told by files and environment; see
 * nvrtc.h. */
#include "runtime/drivers/nvrtc.h"

#include "core/hash.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

/* Whether a library of this name is in the process. It is not loaded for that. */
static bool is_loaded(const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (library)
        (void)dlclose(library);
    return library != NULL;
}

/* A file's identity: it changes when the file is replaced. */
static void add_file(struct gt_hash *h, const char *path) {
    char text[128] = "none";
    struct stat s;
    if (stat(path, &s) == 0)
        (void)snprintf(text, sizeof text, "%llu %llu %lld %lld.%09ld",
                       (unsigned long long)s.st_dev, (unsigned long long)s.st_ino,
                       (long long)s.st_size, (long long)s.st_mtim.tv_sec,
                       s.st_mtim.tv_nsec);
    gt_hash_add_text(h, path);
    gt_hash_add_text(h, text);
}

/* The library in every folder of a list as in LD_LIBRARY_PATH. */
static void add_in_folders(struct gt_hash *h, const char *folders, const char *name) {
    char path[PATH_SIZE];
    for (const char *p = folders; *p; p += *p == ':' || *p == ';') {
        const size_t length = strcspn(p, ":;");
        const int n = snprintf(path, sizeof path, "%.*s/%s", (int)length, p, name);
        if (length > 0 && n > 0 && n < PATH_SIZE)
            add_file(h, path);
        p += length;
    }
}

static void add_library(struct gt_hash *h, const char *name) {
    if (strchr(name, '/')) {
        add_file(h, name);
        return;
    }
    add_in_folders(h, variable("LD_LIBRARY_PATH"), name);
    add_in_folders(h, "/lib64:/usr/lib64:/lib:/usr/lib", name);
}

/* The program's run path takes part in the search. */
static void add_program(struct gt_hash *h) {
    char path[PATH_SIZE] = "";
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length > 0)
        add_file(h, path);
}

void gt_nvrtc_digest(char digest[65], const char *salt) {
    const char *chosen = variable("GEMMTUNE_LIBNVRTC");
    const char *const *names = *chosen ? &chosen : gt_nvrtc_names;
    const size_t count = *chosen ? 1 : GT_NVRTC_NAMES;
    struct gt_hash h;
    digest[0] = '\0';
    for (size_t i = 0; i < count; i++)
        if (is_loaded(names[i]))
            return;
    gt_hash_init(&h);
    gt_hash_add_text(&h, salt);
    gt_hash_add_text(&h, variable("LD_LIBRARY_PATH"));
    add_program(&h);
    add_file(&h, "/etc/ld.so.cache");
    for (size_t i = 0; i < count; i++)
        add_library(&h, names[i]);
    gt_hash_hex(&h, digest);
}
