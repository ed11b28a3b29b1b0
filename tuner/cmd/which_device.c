/* SPDX-License-Identifier: Apache-2.0 */
/* which_device.c - see which_device.h. */
#include "tuner/cmd/which_device.h"

#include "tuner/rig/probe.h"
#include "tuner/study/predict.h"

static bool find_in(struct gt_device *out, struct gt_db *db, const char *device) {
    struct gt_view view = {0};
    size_t index = 0;
    const bool found = db != NULL && gt_view_devices(&view, db, NULL) == GEMMTUNE_OK &&
                       gt_view_pick(&index, &view, device, NULL) == GEMMTUNE_OK;
    if (found)
        *out = view.device[index].device;
    gt_view_clear(&view);
    return found;
}

static bool find_stored(struct gt_device *out, const struct gt_which *which) {
    struct gt_db *own = NULL;
    if (which->opened != NULL)
        return find_in(out, *which->opened, which->device);
    const bool found =
        gt_common_read_db(&own, which->db) < 0 && find_in(out, own, which->device);
    gt_db_close(own);
    return found;
}

int gt_which_device(struct gt_device *out, const struct gt_which *which,
                    struct gt_err *err) {
    if (which->file != NULL && which->device != NULL) {
        (void)gt_fail(err, GEMMTUNE_EINVAL,
                      "--device and --device-file exclude each other");
        return GT_EXIT_USAGE;
    }
    if (which->file != NULL)
        return gt_describe_load(out, which->file, err) == GEMMTUNE_OK ? -1 : GT_EXIT_INPUT;
    if (gt_probe_pick(out, which->device, false, err) == GEMMTUNE_OK ||
        (which->device != NULL && find_stored(out, which)))
        return -1;
    return GT_EXIT_DEVICE;
}

gt_status gt_which_stored(size_t *index, const struct gt_view *v, const char *device,
                          struct gt_err *err) {
    struct gt_device here;
    char key[GT_DEVICE_KEY_MAX];
    const gt_status status = gt_view_pick(index, v, device, err);
    if (status != GEMMTUNE_ENOTFOUND || device == NULL ||
        gt_probe_pick(&here, device, false, NULL) != GEMMTUNE_OK)
        return status;
    gt_device_key(&here, key);
    return gt_view_pick(index, v, key, err);
}
