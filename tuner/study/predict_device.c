/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict_device.c - reads the description of a device that is not present. It has the
 * members that `gemmtune devices --json` prints for a CUDA device; all other properties
 * follow from them. Unknown members are refused. The files of devices/ are built
 * in.
 */
#include "tuner/study/predict.h"

#include "core/embed.h"
#include "core/io.h"
#include "core/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CC_LEAST = 50, CC_MOST = 129 };

/* A number of the description. It is required unless it has a preset. */
struct number {
    const char *key;
    int64_t low, high, preset; /* preset -1: it is required */
};

enum field { UNITS, CLOCK, MEM_CLOCK, BUS, MEMORY, L2, SMEM, THREADS, REGISTERS, FIELDS };

static const struct number numbers[FIELDS] = {
    [UNITS] = {"units", 1, 4096, -1},
    [CLOCK] = {"clock_mhz", 1, 100000, -1},
    [MEM_CLOCK] = {"mem_clock_mhz", 1, 100000, -1},
    [BUS] = {"bus_bits", 1, 65536, -1},
    [MEMORY] = {"memory_bytes", INT64_C(1) << 20, INT64_C(1) << 50, -1},
    [L2] = {"l2_bytes", 0, INT64_C(1) << 40, -1},
    [SMEM] = {"smem_bytes", 1024, INT64_C(1) << 30, -1},
    [THREADS] = {"max_threads", 32, 1024, 1024},
    [REGISTERS] = {"registers", 1024, INT64_C(1) << 24, 65536},
};

/* Texts that are read, and texts that are only allowed because `devices --json` prints
 * them. */
static const char *const texts[] = {"backend", "name",     "arch",    "key",    "uuid",
                                    "pci",     "compiler", "trouble", "driver", "index"};

static gt_status take_numbers(int64_t value[FIELDS], struct gt_node root,
                              struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < FIELDS && status == GEMMTUNE_OK; i++) {
        struct gt_node n = gt_json_member(root, numbers[i].key);
        value[i] = numbers[i].preset;
        if (numbers[i].preset < 0)
            status = gt_json_need(&n, root, numbers[i].key, err);
        if (status == GEMMTUNE_OK && gt_json_kind(n) != GT_JSON_ABSENT)
            status = gt_json_int(&value[i], n, numbers[i].low, numbers[i].high, err);
    }
    return status;
}

/* Reads "sm_61" as 61. */
static gt_status take_arch(struct gt_device *d, struct gt_node root, struct gt_err *err) {
    const gt_status status = gt_json_need_text(d->arch, sizeof d->arch, root, "arch", err);
    char again[sizeof d->arch];
    if (status != GEMMTUNE_OK)
        return status;
    d->cc = strncmp(d->arch, "sm_", 3) == 0 ? (int)strtol(d->arch + 3, NULL, 10) : 0;
    (void)snprintf(again, sizeof again, "sm_%d", d->cc);
    if (d->cc < CC_LEAST || d->cc > CC_MOST || strcmp(again, d->arch) != 0)
        return gt_json_fail(gt_json_member(root, "arch"), err,
                            "\"%s\" is no CUDA architecture from sm_%d to sm_%d", d->arch,
                            CC_LEAST, CC_MOST);
    return GEMMTUNE_OK;
}

static gt_status check_keys(struct gt_node root, struct gt_err *err) {
    const char *keys[FIELDS + sizeof texts / sizeof *texts + 2] = {"format"};
    size_t count = 1;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        keys[count++] = texts[i];
    for (int i = 0; i < FIELDS; i++)
        keys[count++] = numbers[i].key;
    return gt_json_only(root, keys, err);
}

/* Accepts only CUDA devices: for others the peak is not known. */
static gt_status check_backend(struct gt_node root, struct gt_err *err) {
    const struct gt_node n = gt_json_member(root, "backend");
    const char *text;
    if (gt_json_kind(n) == GT_JSON_ABSENT)
        return GEMMTUNE_OK;
    const gt_status status = gt_json_string(&text, n, err);
    if (status == GEMMTUNE_OK && strcmp(text, "cuda") != 0)
        return gt_json_fail(n, err, "only CUDA devices can be described, not \"%s\"", text);
    return status;
}

static gt_status read_device(struct gt_device *d, struct gt_node root, struct gt_err *err) {
    int64_t format, value[FIELDS];
    memset(d, 0, sizeof *d);
    if (gt_json_kind(root) != GT_JSON_OBJECT)
        return gt_json_fail(root, err, "must be an object that describes one device");
    gt_status status = check_keys(root, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_int(&format, root, "format", 1, 1, err);
    if (status == GEMMTUNE_OK)
        status = check_backend(root, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_text(d->name, sizeof d->name, root, "name", err);
    if (status == GEMMTUNE_OK)
        status = take_arch(d, root, err);
    if (status == GEMMTUNE_OK)
        status = take_numbers(value, root, err);
    if (status != GEMMTUNE_OK)
        return status;
    d->backend = GEMMTUNE_CUDA;
    d->warp = 32;
    d->has_f64 = true;
    d->units = (int)value[UNITS];
    d->clock_mhz = (int)value[CLOCK];
    d->mem_clock_mhz = (int)value[MEM_CLOCK];
    d->bus_bits = (int)value[BUS];
    d->mem_bytes = d->max_alloc = value[MEMORY];
    d->l2_bytes = value[L2];
    d->smem_max = value[SMEM];
    d->max_threads = (int)value[THREADS];
    d->regs_per_block = (int)value[REGISTERS];
    return GEMMTUNE_OK;
}

gt_status gt_describe_parse(struct gt_device *out, const char *name, const char *text,
                            size_t size, struct gt_err *err) {
    struct gt_json *doc = NULL;
    gt_status status = gt_json_parse(&doc, name, text, size, err);
    if (status == GEMMTUNE_OK)
        status = read_device(out, gt_json_root(doc), err);
    gt_json_destroy(doc);
    return status;
}

/* The name for "devices/gtx-1080/device.json" is "gtx-1080". */
static void name_of(char name[GT_NAME_MAX], const char *path) {
    const char *const folder = strchr(path, '/') + 1;
    (void)snprintf(name, GT_NAME_MAX, "%.*s", (int)strcspn(folder, "/"), folder);
}

bool gt_describe_at(struct gt_device *out, char name[GT_NAME_MAX], size_t index) {
    const struct gt_embedded *e = &gt_embedded_devices[index];
    if (e->path == NULL)
        return false;
    name_of(name, e->path);
    return gt_describe_parse(out, e->path, e->text, strlen(e->text), NULL) == GEMMTUNE_OK;
}

static bool find_built_in(struct gt_device *out, const char *what) {
    char name[GT_NAME_MAX];
    for (size_t i = 0; gt_describe_at(out, name, i); i++)
        if (gt_text_same(name, what))
            return true;
    return false;
}

/* Lists the names of all built-in descriptions, for a message. */
static void list_built_in(char *buf, size_t size) {
    struct gt_device d;
    char name[GT_NAME_MAX];
    size_t len = 0;
    buf[0] = '\0';
    for (size_t i = 0; len < size && gt_describe_at(&d, name, i); i++)
        len += (size_t)snprintf(buf + len, size - len, "%s%s", i > 0 ? ", " : "", name);
}

gt_status gt_describe_load(struct gt_device *out, const char *what, struct gt_err *err) {
    struct gt_json *doc = NULL;
    char names[256];
    if (strpbrk(what, "/.") == NULL && access(what, F_OK) != 0) {
        if (find_built_in(out, what))
            return GEMMTUNE_OK;
        list_built_in(names, sizeof names);
        return gt_fail(
            err, GEMMTUNE_ENOTFOUND,
            "no file '%.60s', and no device file of that name is built in; there are %s",
            what, names);
    }
    gt_status status = gt_json_load(&doc, what, err);
    if (status == GEMMTUNE_OK)
        status = read_device(out, gt_json_root(doc), err);
    gt_json_destroy(doc);
    return status;
}
