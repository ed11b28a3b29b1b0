/* SPDX-License-Identifier: Apache-2.0 */
/* devices.c - `gemmtune devices`: what this machine has, and what will compile for it. */
#include "tuner/cmd/common.h"

#include "tuner/rig/probe.h"

struct values {
    struct gt_format format;
};

static const struct gt_option options[] = {
    GT_OPTION_JSON(struct values),
    GT_OPTION_CSV(struct values),
    GT_OPTION_END,
};

static const struct gt_column columns[] = {
    {"#", "index", GT_RIGHT, GT_CELL_NUMBER},
    {"backend", "backend", GT_LEFT, GT_CELL_TEXT},
    {"name", "name", GT_LEFT, GT_CELL_TEXT},
    {NULL, "key", GT_LEFT, GT_CELL_TEXT},
    {"id", NULL, GT_LEFT, GT_CELL_TEXT},
    {NULL, "uuid", GT_LEFT, GT_CELL_TEXT},
    {NULL, "pci", GT_LEFT, GT_CELL_TEXT},
    {"arch", "arch", GT_LEFT, GT_CELL_TEXT},
    {"units", "units", GT_RIGHT, GT_CELL_NUMBER},
    {"memory", NULL, GT_RIGHT, GT_CELL_TEXT},
    {NULL, "memory_bytes", GT_RIGHT, GT_CELL_NUMBER},
    {NULL, "clock_mhz", GT_RIGHT, GT_CELL_NUMBER},
    {NULL, "mem_clock_mhz", GT_RIGHT, GT_CELL_NUMBER},
    {"bus", "bus_bits", GT_RIGHT, GT_CELL_NUMBER},
    {"L2", NULL, GT_RIGHT, GT_CELL_TEXT},
    {NULL, "l2_bytes", GT_RIGHT, GT_CELL_NUMBER},
    {"smem", NULL, GT_RIGHT, GT_CELL_TEXT},
    {NULL, "smem_bytes", GT_RIGHT, GT_CELL_NUMBER},
    {"driver", "driver", GT_LEFT, GT_CELL_TEXT},
    {"compiler", NULL, GT_LEFT, GT_CELL_TEXT},
    {NULL, "compiler", GT_LEFT, GT_CELL_TEXT},
    {NULL, "trouble", GT_LEFT, GT_CELL_TEXT},
};

enum { COLUMNS = sizeof columns / sizeof *columns, NUMBERS = 8 };

/* "" is unknown: an empty cell */
static const char *known(const char *text) {
    return text[0] != '\0' ? text : NULL;
}

/* An integer, or an empty cell for 0: unknown. */
static const char *number(char buf[GT_CELL_MAX], int64_t value) {
    return value != 0 ? gt_show_count(buf, (double)value) : NULL;
}

static const char *bytes(char buf[GT_CELL_MAX], int64_t value) {
    return value != 0 ? gt_show_bytes(buf, (double)value) : NULL;
}

static gt_status add_device(struct gt_table *t, size_t index, const struct gt_device *d,
                            struct gt_err *err) {
    char key[GT_DEVICE_KEY_MAX], num[NUMBERS][GT_CELL_MAX], size[3][GT_CELL_MAX];
    gt_device_key(d, key);
    const char *const row[COLUMNS] = {
        gt_show_count(num[0], (double)index),
        gt_backend_name(d->backend),
        d->name,
        key,
        d->uuid[0] != '\0' ? d->uuid : known(d->pci),
        known(d->uuid),
        known(d->pci),
        d->arch,
        number(num[1], d->units),
        bytes(size[0], d->mem_bytes),
        number(num[2], d->mem_bytes),
        number(num[6], d->clock_mhz),
        number(num[7], d->mem_clock_mhz),
        number(num[3], d->bus_bits),
        bytes(size[1], d->l2_bytes),
        number(num[4], d->l2_bytes),
        bytes(size[2], d->smem_max),
        number(num[5], d->smem_max),
        known(d->driver),
        d->trouble[0] != '\0' ? d->trouble : known(d->compiler),
        known(d->compiler),
        known(d->trouble),
    };
    return gt_table_row(t, row, err);
}

static gt_status print_devices(const struct gt_device_list *list,
                               const struct gt_format *format, struct gt_err *err) {
    struct gt_table *t = NULL;
    gt_status status = gt_table_create(&t, columns, COLUMNS, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < list->count; i++)
        status = add_device(t, i, &list->device[i], err);
    if (status == GEMMTUNE_OK && (list->count > 0 || format->json || format->csv))
        gt_common_print(t, format);
    gt_table_destroy(t);
    return status;
}

/* A sentence for each driver that is not there; joined into one when that leaves no device.
 */
static int say_missing(const struct gt_device_list *list) {
    const char *a = list->missing[0], *b = list->missing[1];
    const bool both = a[0] != '\0' && b[0] != '\0';
    if (list->count == 0)
        return gt_die(GT_EXIT_DEVICE, "no device: %s%s%s", a, both ? "; " : "", b);
    for (size_t i = 0; i < sizeof list->missing / sizeof *list->missing; i++)
        if (list->missing[i][0] != '\0')
            fprintf(stderr, "gemmtune: %s\n", list->missing[i]);
    return GT_EXIT_OK;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {{false, false}};
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
    .run = run,
};
