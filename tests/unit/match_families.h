/* SPDX-License-Identifier: Apache-2.0 */
/* match_families.h - four small families from a folder, and a device they serve: for groups
 * of tests that begin with setup and end with teardown. */
#ifndef GT_TESTS_UNIT_MATCH_FAMILIES_H
#define GT_TESTS_UNIT_MATCH_FAMILIES_H

#include "runtime/lookup/match.h"
#include "tests/unit/known_point.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* A fast family that is choosy, and a plain one that is not. */
static const char choosy[] =
    "{\"format\": 1, \"family\": \"choosy\", \"about\": \"\", \"rank\": 1,"
    "\"source\": {\"cuda\": \"x\"}, \"entry\": \"gemm\", \"dtypes\": [\"f32\", \"i32\"],"
    "\"layouts\": [\"nn\", \"nt\"], \"params\": {\"V\": [1, 2, 4], \"W\": [8, 64]},"
    "\"default\": {\"V\": 4, \"W\": 8},"
    "\"require\": [[\"W * W <= MAX_THREADS\", \"too many threads\"]],"
    "\"accept\": [[\"K >= 4\", \"a short sum\"]],"
    "\"align\": [\"V * sizeof(A)\", \"V * sizeof(B)\", \"sizeof(C)\"],"
    "\"launch\": {\"block\": [\"W\", \"W\", \"1\"], \"grid\": [\"cdiv(N, W)\","
    "\"cdiv(M, W)\", \"1\"], \"workspace\": \"V == 2 ? 4096 : 0\"},"
    "\"shape\": {\"tile_m\": \"W\", \"tile_n\": \"W\", \"tile_k\": \"16\", \"loads\": "
    "\"32\"},"
    "\"args\": [\"alpha\", \"a\", \"b\", \"beta\", \"c\"]}";

static const char plain[] =
    "{\"format\": 1, \"family\": \"plain\", \"about\": \"\", \"rank\": 9,"
    "\"source\": {\"cuda\": \"x\"}, \"entry\": \"gemm\", \"dtypes\": [\"f32\", \"i32\", "
    "\"f64\"],"
    "\"layouts\": [\"nn\", \"nt\", \"tn\"], \"params\": {}, \"default\": {},"
    "\"launch\": {\"block\": [\"32\", \"1\", \"1\"], \"grid\": [\"cdiv(M * N, 32)\", \"1\","
    "\"1\"]}, \"shape\": {\"tile_m\": \"1\", \"tile_n\": \"32\", \"tile_k\": \"1\", "
    "\"loads\": \"2\"},"
    "\"args\": [\"alpha\", \"a\", \"b\", \"beta\", \"c\"]}";

/* One that may split k. */
static const char deep[] =
    "{\"format\": 1, \"family\": \"deep\", \"about\": \"\", \"rank\": 9,"
    "\"source\": {\"cuda\": \"x\"}, \"entry\": \"gemm\", \"dtypes\": [\"i32\"],"
    "\"layouts\": [\"nn\", \"nt\", \"tn\"],"
    "\"params\": {\"BM\": [32, 128], \"BN\": [32, 128], \"SPLIT\": [1, 8, 64]},"
    "\"default\": {\"BM\": 32, \"BN\": 32, \"SPLIT\": 1},"
    "\"starts\": [{\"BM\": 32, \"BN\": 32, \"SPLIT\": 64}],"
    "\"launch\": {\"block\": [\"128\", \"1\", \"1\"], \"grid\": [\"cdiv(M, BM) * cdiv(N, "
    "BN) *"
    " SPLIT\", \"1\", \"1\"], \"workspace\": \"SPLIT > 1 ? SPLIT * M * N * 4 : 0\"},"
    "\"shape\": {\"tile_m\": \"BM\", \"tile_n\": \"BN\", \"tile_k\": \"16\", \"split\": "
    "\"SPLIT\","
    "\"ahead\": \"1\", \"loads\": \"64\", \"moved\": \"SPLIT > 1 ? 8 * SPLIT * M * N : "
    "0\"},"
    "\"args\": [\"alpha\", \"a\", \"b\", \"beta\", \"c\", \"workspace\"]}";

/* A family with rules that say what to lower. BM is not in order, and the model sees no
 * difference. */
static const char shrinks[] =
    "{\"format\": 1, \"family\": \"shrinks\", \"about\": \"\", \"rank\": 9,"
    "\"source\": {\"cuda\": \"x\"}, \"entry\": \"gemm\", \"dtypes\": [\"i8\"],"
    "\"layouts\": [\"nn\", \"nt\"],"
    "\"params\": {\"V\": [1, 4], \"BM\": [128, 32, 64]},"
    "\"default\": {\"V\": 4, \"BM\": 128}, \"adapt\": [\"V\"],"
    "\"require\": [[\"TB == 0 || BM <= 64\", \"too high for B\", \"BM\"]],"
    "\"accept\": [[\"BM <= M\", \"higher than C\", \"BM\"],"
    "[\"N >= 8\", \"too thin\"]],"
    "\"align\": [\"V\", \"1\", \"4\"],"
    "\"launch\": {\"block\": [\"128\", \"1\", \"1\"], \"grid\": [\"cdiv(M, BM)\","
    "\"cdiv(N, 32)\", \"1\"]}, \"shape\": {\"tile_m\": \"64\", \"tile_n\": \"32\","
    "\"tile_k\": \"16\", \"loads\": \"64\"},"
    "\"args\": [\"alpha\", \"a\", \"b\", \"beta\", \"c\"]}";

static const struct gt_device card = {.backend = GEMMTUNE_CUDA,
                                      .name = "Card A",
                                      .arch = "sm_90",
                                      .cc = 90,
                                      .units = 132,
                                      .warp = 32,
                                      .max_threads = 1024,
                                      .smem_max = 49152,
                                      .has_f64 = true};

static struct gt_families *families;

/* ---- families, from a folder; the built-in ones rank after them ---- */

static char folder[512];

static void path_of(char path[1024], const char *family, const char *name) {
    (void)snprintf(path, 1024, "%s/%s%s", folder, family, name);
}

static int write_file(const char *family, const char *name, const char *text) {
    char path[1024];
    path_of(path, family, name);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return 1;
    const int bad = fputs(text, file) < 0;
    return fclose(file) != 0 || bad;
}

static int make_family(const char *family, const char *json) {
    char path[1024];
    path_of(path, family, "");
    return mkdir(path, 0700) != 0 || write_file(family, "/space.json", json) ||
           write_file(family, "/x", "text");
}

static void remove_family(const char *family) {
    static const char *const names[] = {"/space.json", "/x", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[1024];
        path_of(path, family, names[i]);
        (void)remove(path);
    }
}

static int setup(void **state) {
    const char *tmp = getenv("TMPDIR");
    struct gt_err err = {""};
    (void)state;
    (void)snprintf(folder, sizeof folder, "%s/gt-families-XXXXXX",
                   tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(folder) == NULL || make_family("choosy", choosy) ||
        make_family("plain", plain) || make_family("deep", deep) ||
        make_family("shrinks", shrinks))
        return 1;
    if (gt_families_create(&families, &err) != GEMMTUNE_OK)
        return 1;
    return gt_families_add_folder(families, folder, &err) != GEMMTUNE_OK;
}

static int teardown(void **state) {
    (void)state;
    gt_families_destroy(families);
    remove_family("choosy");
    remove_family("plain");
    remove_family("deep");
    remove_family("shrinks");
    (void)rmdir(folder);
    return 0;
}

#endif
