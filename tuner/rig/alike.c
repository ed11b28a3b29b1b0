/* SPDX-License-Identifier: Apache-2.0 */
/* alike.c - see alike.h. */
#include "tuner/rig/alike.h"

#include "tuner/rig/probe.h"

#include <stdio.h>
#include <string.h>

static bool are_equal(const struct gt_device *a, const struct gt_device *b) {
    char one[GT_DEVICE_KEY_MAX], other[GT_DEVICE_KEY_MAX];
    gt_device_key(a, one);
    gt_device_key(b, other);
    return strcmp(one, other) == 0;
}

static gt_status add(struct gt_alike *out, const struct gt_device_list *list, size_t index,
                     struct gt_err *err) {
    const struct gt_device *d = &list->device[index];
    if (d->trouble[0] != '\0')
        return gt_fail(err, GEMMTUNE_ENODRIVER, "device %zu, %s: %s", index, d->name,
                       d->trouble);
    if (out->count == GT_ALIKE_MAX)
        return gt_fail(err, GEMMTUNE_EINVAL, "more than %d devices", GT_ALIKE_MAX);
    for (size_t i = 0; i < out->count; i++)
        if (out->number[i] == index)
            return gt_fail(err, GEMMTUNE_EINVAL, "device %zu, %s, is named twice", index,
                           d->name);
    if (out->count > 0 && !are_equal(d, &out->device[0]))
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "device %zu, %s, and device %zu, %s, are not equal: tune each kind "
                       "by a command of its own",
                       out->number[0], out->device[0].name, index, d->name);
    out->device[out->count] = *d;
    out->number[out->count++] = index;
    return GEMMTUNE_OK;
}

/* One that the list of the user names, `length` characters. */
static gt_status add_named(struct gt_alike *out, const struct gt_device_list *list,
                           const char *what, size_t length, struct gt_err *err) {
    char name[128];
    size_t index = 0;
    (void)snprintf(name, sizeof name, "%.*s", (int)length, what);
    return gt_devices_pick(&index, list, name, err) == GEMMTUNE_OK
               ? add(out, list, index, err)
               : GEMMTUNE_ENODRIVER;
}

static gt_status add_list(struct gt_alike *out, const struct gt_device_list *list,
                          const char *what, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (const char *at = what; status == GEMMTUNE_OK && at != NULL;) {
        const size_t length = strcspn(at, ",");
        status = add_named(out, list, at, length, err);
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return status;
}

static bool has(const struct gt_alike *devices, size_t index) {
    bool found = false;
    for (size_t i = 0; i < devices->count; i++)
        found = found || devices->number[i] == index;
    return found;
}

static void say_others(struct gt_alike *out, const struct gt_device_list *list) {
    size_t n = 0;
    for (size_t i = 0; i < list->count && n < sizeof out->others; i++)
        if (!has(out, i))
            n += (size_t)snprintf(out->others + n, sizeof out->others - n, "%s%zu",
                                  n == 0 ? "not equal or not usable, and left out: " : ", ",
                                  i);
}

static gt_status add_all(struct gt_alike *out, const struct gt_device_list *list,
                         struct gt_err *err) {
    size_t first = 0;
    while (first + 1 < list->count && list->device[first].trouble[0] != '\0')
        first++;
    gt_status status = add(out, list, first, err);
    for (size_t i = first + 1; status == GEMMTUNE_OK && i < list->count; i++)
        if (list->device[i].trouble[0] == '\0' &&
            are_equal(&list->device[i], &out->device[0]))
            status = add(out, list, i, err);
    if (status == GEMMTUNE_OK)
        say_others(out, list);
    return status;
}

gt_status gt_alike_pick(struct gt_alike *out, const struct gt_device_list *list,
                        const char *what, struct gt_err *err) {
    char missing[GT_ALL_MISSING_MAX];
    out->count = 0;
    out->others[0] = '\0';
    if (list->count == 0)
        return gt_fail(err, GEMMTUNE_ENODRIVER, "no device: %s",
                       gt_devices_missing(missing, list));
    if (what == NULL)
        return add(out, list, 0, err);
    return strcmp(what, "all") == 0 ? add_all(out, list, err)
                                    : add_list(out, list, what, err);
}

gt_status gt_alike_find(struct gt_alike *out, const char *what, struct gt_err *err) {
    struct gt_device_list list;
    if (gt_probe_devices(&list, err) != GEMMTUNE_OK)
        return GEMMTUNE_ENODRIVER;
    const gt_status status = gt_alike_pick(out, &list, what, err);
    gt_devices_clear(&list);
    return status;
}
