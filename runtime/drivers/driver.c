/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c - the list of drivers, and the devices of all of them as one list. */
#include "runtime/drivers/driver.h"

#include "core/element.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct gt_driver *const gt_drivers[] = {&gt_driver_cuda, &gt_driver_opencl, NULL};

const struct gt_driver *gt_driver_of(gemmtune_backend backend) {
    for (size_t i = 0; gt_drivers[i]; i++)
        if (gt_drivers[i]->backend == backend)
            return gt_drivers[i];
    return NULL;
}

void gt_image_clear(struct gt_image *image) {
    free(image->bytes);
    free(image->log);
    *image = (struct gt_image){.registers = -1, .spill_bytes = -1, .smem_bytes = -1};
}

union gt_value gt_value_of(gemmtune_dtype type, double number) {
    union gt_value value = {.i64 = 0};
    gt_element_put(&value, type, number);
    return value;
}

/* ---- the list ------------------------------------------------------------------------ */

struct collector {
    struct gt_device_list *list;
    bool out_of_memory;
};

static void collect(void *user, const struct gt_device *d) {
    struct collector *c = user;
    struct gt_device *grown =
        realloc(c->list->device, (c->list->count + 1) * sizeof *grown);
    if (!grown) {
        c->out_of_memory = true;
        return;
    }
    c->list->device = grown;
    grown[c->list->count++] = *d;
}

void gt_devices_clear(struct gt_device_list *list) {
    free(list->device);
    *list = (struct gt_device_list){.count = 0};
}

gt_status gt_devices_list(struct gt_device_list *out, struct gt_err *err) {
    *out = (struct gt_device_list){.count = 0};
    struct collector c = {.list = out};
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; gt_drivers[i] && status == GEMMTUNE_OK; i++) {
        char *missing = out->missing[gt_drivers[i]->backend];
        struct gt_err why;
        /* An error of one driver must not hide the devices of the others. */
        if (gt_drivers[i]->enumerate(collect, &c, missing, &why) != GEMMTUNE_OK)
            snprintf(missing, sizeof out->missing[0], "%s", why.line);
        if (c.out_of_memory)
            status = gt_fail(err, GEMMTUNE_ENOMEM, "no memory for the list of devices");
    }
    if (status != GEMMTUNE_OK)
        gt_devices_clear(out);
    return status;
}

const char *gt_devices_missing(char out[GT_ALL_MISSING_MAX],
                               const struct gt_device_list *list) {
    size_t length = 0;
    out[0] = '\0';
    for (int i = 0; i < GT_BACKENDS; i++)
        if (list->missing[i][0] != '\0' && length < GT_ALL_MISSING_MAX)
            length += (size_t)snprintf(out + length, GT_ALL_MISSING_MAX - length, "%s%s",
                                       length > 0 ? "; " : "", list->missing[i]);
    return out;
}

/* ---- picking one --------------------------------------------------------------------- */

/* Whether `part` occurs in `text`, in any case of letters. */
static bool contains(const char *text, const char *part) {
    const size_t length = strlen(part);
    for (; *text; text++)
        if (strncasecmp(text, part, length) == 0)
            return true;
    return false;
}

static bool fits_uuid(const struct gt_device *d, const char *what) {
    return d->uuid[0] && strcasecmp(d->uuid, what) == 0;
}

static bool fits_pci(const struct gt_device *d, const char *what) {
    return d->pci[0] && strcasecmp(d->pci, what) == 0;
}

static bool fits_key(const struct gt_device *d, const char *what) {
    char key[GT_DEVICE_KEY_MAX];
    gt_device_key(d, key);
    return strcmp(key, what) == 0;
}

static bool fits_name(const struct gt_device *d, const char *what) {
    return strcasecmp(d->name, what) == 0;
}

static bool fits_part(const struct gt_device *d, const char *what) {
    return contains(d->name, what);
}

/* The ways to name a device, tried in this order; the first that fits a device decides.
 * When several devices fit: with `only_one` all are refused, otherwise they are alike and
 * the first is taken. */
static const struct way {
    bool (*fits)(const struct gt_device *d, const char *what);
    bool only_one;
} ways[] = {
    {fits_uuid, false}, {fits_pci, false}, {fits_key, false},
    {fits_name, true},  {fits_part, true},
};

/* "0 NVIDIA H200 (cuda), 1 ..." */
static void choices(char *out, size_t size, const struct gt_device_list *list) {
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < list->count && n + 1 < size; i++) {
        const struct gt_device *d = &list->device[i];
        const int wrote = snprintf(out + n, size - n, "%s%zu %s (%s)", i ? ", " : "", i,
                                   d->name, gt_backend_name(d->backend));
        n += wrote > 0 ? (size_t)wrote : 0;
    }
}

static gt_status refuse(const struct gt_device_list *list, const char *what,
                        const char *why, struct gt_err *err) {
    char names[360];
    choices(names, sizeof names, list);
    return gt_fail(err, GEMMTUNE_EINVAL, "device '%.64s' %s; there are: %s", what, why,
                   names);
}

static gt_status pick_index(size_t *index, const struct gt_device_list *list,
                            const char *what, struct gt_err *err) {
    char *end = NULL;
    const unsigned long long value = strtoull(what, &end, 10);
    if (strlen(what) > 9 || value >= list->count)
        return refuse(list, what, "does not exist", err);
    *index = (size_t)value;
    return GEMMTUNE_OK;
}

/* Whether device i is a GPU that an earlier driver listed already: OpenCL lists NVIDIA's as
 * well. Such a device is picked by number or UUID only. */
static bool is_twin(const struct gt_device_list *list, size_t i) {
    const struct gt_device *d = &list->device[i];
    for (size_t j = 0; j < i && d->pci[0]; j++)
        if (list->device[j].backend != d->backend &&
            strcasecmp(list->device[j].pci, d->pci) == 0)
            return true;
    return false;
}

gt_status gt_devices_pick(size_t *index, const struct gt_device_list *list,
                          const char *what, struct gt_err *err) {
    *index = 0;
    char missing[GT_ALL_MISSING_MAX];
    if (list->count == 0)
        return gt_fail(err, GEMMTUNE_ENODRIVER, "no device: %s",
                       gt_devices_missing(missing, list));
    if (what[0] && strspn(what, "0123456789") == strlen(what))
        return pick_index(index, list, what, err);
    for (size_t w = 0; what[0] && w < sizeof ways / sizeof *ways; w++) {
        size_t chips = 0;
        bool fits = false;
        for (size_t i = list->count; i-- > 0;) {
            if (!ways[w].fits(&list->device[i], what))
                continue;
            *index = i;
            fits = true;
            chips += !is_twin(list, i);
        }
        if (chips > 1 && ways[w].only_one)
            return refuse(list, what, "fits several: give its number or UUID", err);
        if (fits)
            return GEMMTUNE_OK;
    }
    return refuse(list, what, "is not one of this machine's", err);
}
