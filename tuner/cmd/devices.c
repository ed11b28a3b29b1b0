/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices.c - `gemmtune devices`: the devices of this machine, and the compilers for them.
 */
#include "tuner/cmd/common.h"

#include "tuner/rig/probe.h"
#include "tuner/base/talk.h"

#include <stdio.h>
#include <string.h>

struct values {
    struct gt_format format;
};

static const struct gt_option options[] = {
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_WIDE(struct values),
    GT_OPTION_END,
};

struct row {
    size_t index;
    const struct gt_device *d;
    char key[GT_DEVICE_KEY_MAX];
    char *extras; /* room for extras_of */
};

static const char *id_of(const struct gt_device *d) {
    return gt_cell_filled(d->uuid[0] != '\0' ? d->uuid : d->pci);
}

static const char *compiler_of(const struct gt_device *d) {
    return gt_cell_filled(d->trouble[0] != '\0' ? d->trouble : d->compiler);
}

enum { EXTRAS_MAX = 128 };

/* Adds a word and, unless it is 0, its number. */
static void add_word(char text[EXTRAS_MAX], const char *word, int number) {
    const size_t length = strlen(text);
    char digits[16] = "";
    if (number != 0)
        (void)snprintf(digits, sizeof digits, "%d", number);
    (void)snprintf(text + length, EXTRAS_MAX - length, "%s%s%s", length > 0 ? " " : "",
                   word, digits);
}

/* Abilities of its OpenCL compiler beyond OpenCL C 1.2, in words. */
static const char *extras_of(char text[EXTRAS_MAX], const struct gt_device *d) {
    text[0] = '\0';
    if (d->has_f16)
        add_word(text, "f16", 0);
    if (d->has_dot4)
        add_word(text, "dot4", 0);
    if (d->ptx > 0)
        add_word(text, "ptx", d->ptx);
    for (int size = 1; size <= d->subgroup_sizes; size *= 2)
        if ((d->subgroup_sizes & size) != 0)
            add_word(text, "subgroup", size);
    return gt_cell_filled(text);
}

#define DEVICES(X)                                                                         \
    X("index", "#", COUNT, 0, r->index, "number of the device, for --device")              \
    X("backend", "backend", TEXT, 0, gt_backend_name(r->d->backend), "cuda or opencl")     \
    X("name", "name", TEXT, 0, r->d->name, "its driver's name for it")                     \
    X("key", NULL, TEXT, 0, r->key, "its name in databases")                               \
    X(NULL, "id", TEXT, 5, id_of(r->d), "UUID, else PCI id")                               \
    X("uuid", NULL, TEXT, 0, gt_cell_filled(r->d->uuid), "UUID")                           \
    X("pci", NULL, TEXT, 0, gt_cell_filled(r->d->pci), "PCI id")                           \
    X("arch", "arch", TEXT, 1, r->d->arch, "architecture: sm_90, gfx90a, cpu")             \
    X("units", "units", COUNT, 2, gt_cell_known(r->d->units), "multiprocessors or cores")  \
    X("memory_bytes", "memory", BYTES, 1, gt_cell_known((double)r->d->mem_bytes),          \
      "device memory")                                                                     \
    X("clock_mhz", NULL, COUNT, 0, gt_cell_known(r->d->clock_mhz), "highest clock")        \
    X("mem_clock_mhz", NULL, COUNT, 0, gt_cell_known(r->d->mem_clock_mhz),                 \
      "highest clock of the memory")                                                       \
    X("bus_bits", "bus", COUNT, 4, gt_cell_known(r->d->bus_bits),                          \
      "width of the memory, bits")                                                         \
    X("l2_bytes", "L2", BYTES, 4, gt_cell_known((double)r->d->l2_bytes),                   \
      "second-level cache")                                                                \
    X("smem_bytes", "smem", BYTES, 4, gt_cell_known((double)r->d->smem_max),               \
      "shared memory that a block may have")                                               \
    X("extras", "extras", TEXT, 6, extras_of(r->extras, r->d),                             \
      "abilities of its OpenCL compiler: f16, dot4, ptx90, subgroup16")                    \
    X("vector_bytes", NULL, COUNT, 0, gt_cell_known(r->d->vector_bytes),                   \
      "a vector register of an OpenCL device")                                             \
    X("driver", "driver", TEXT, 3, gt_cell_filled(r->d->driver), "version of its driver")  \
    X(NULL, "compiler", TAIL, 1, compiler_of(r->d),                                        \
      "the compiler for its kernels, or why there is none")                                \
    X("compiler", NULL, TEXT, 0, gt_cell_filled(r->d->compiler),                           \
      "the compiler for its kernels")                                                      \
    X("trouble", NULL, TEXT, 0, gt_cell_filled(r->d->trouble),                             \
      "the reason why it cannot be used")
GT_COLUMNS(device, struct row, DEVICES)
static const struct gt_form devices = GT_FORM(device, "");

static gt_status print_devices(const struct gt_device_list *list,
                               const struct gt_format *format, struct gt_err *err) {
    struct gt_table *t = NULL;
    gt_status status = gt_table_create(&t, &devices, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < list->count; i++) {
        char extras[EXTRAS_MAX];
        struct row row = {.index = i, .d = &list->device[i], .extras = extras};
        gt_device_key(row.d, row.key);
        status = add_device(t, &row, err);
    }
    if (status == GEMMTUNE_OK && (list->count > 0 || format->json || format->csv))
        gt_common_print(t, format);
    gt_table_destroy(t);
    return status;
}

/* A driver that is not installed is not worth a line when there are devices of another
 * driver. `doctor` mentions it. */
static bool is_news(const char *missing) {
    return missing[0] != '\0' && strstr(missing, "is not installed") == NULL;
}

/* Prints a sentence for each driver that cannot be used. When there is no device at all,
 * the sentences become one. */
static int say_missing(const struct gt_device_list *list) {
    char all[GT_ALL_MISSING_MAX];
    if (list->count == 0)
        return gt_die(GT_EXIT_DEVICE, "no device: %s", gt_devices_missing(all, list));
    for (size_t i = 0; i < sizeof list->missing / sizeof *list->missing; i++)
        if (is_news(list->missing[i]))
            gt_talk("%s", list->missing[i]);
    return GT_EXIT_OK;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.format = {.json = false}};
    struct gt_device_list list;
    struct gt_err err = {""};
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 0, 0, &first);
    if (code >= 0)
        return code;
    if (gt_probe_devices(&list, &err) != GEMMTUNE_OK)
        return gt_die(GT_EXIT_DEVICE, "%s", err.line);
    const gt_status status = print_devices(&list, &v.format, &err);
    code = status == GEMMTUNE_OK ? say_missing(&list) : gt_common_fail(status, &err);
    gt_devices_clear(&list);
    return code;
}

const struct gt_cmd gt_cmd_devices = {
    .name = "devices",
    .operands = "",
    .about = "List the devices of this machine and the compiler that serves each.",
    .options = options,
    .tables = (const struct gt_form *const[]){&devices, NULL},
    .run = run,
};
