/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shelf.h - what is known of a device before a problem is tuned on it: a folder for each
 * device, with
 *
 *     device.json  a description of the device (tuner/study/predict_device.c)
 *     shelf.json   which devices the folder serves: with "units_min" devices of the
 *                  architecture in device.json with so many units or more, first of all of
 *                  its name; with "device_key" the devices of this key
 *     costs.json   costs of the performance model (costs.h)
 *     trees.bin    what trials have taught about the model's errors (learned.h)
 *     tuned.json   winners, for `gemmtune import`
 *
 * The library reads all but the last one. A folder without shelf.json serves no device. A
 * device that no folder serves gets the usual shelf: that costs time, never a right result.
 *
 * Folders that are shipped stand in $GEMMTUNE_DEVICES. Without that variable they stand in
 * share/gemmtune/devices beside the folder of the library (or of the program that it is
 * linked into), in devices/ there or one folder up, or in /usr/local/share or /usr/share.
 *
 * A folder that was learned from the trials of a database (`gemmtune tune --cover`) stands
 * beside the database, in <database>.shelves/<key of the device>, and counts before those.
 * Its shelf.json also has "model", the version of the model that was learned about, the
 * hashes of costs.json and trees.bin, and "trials", how many taught.
 */
#ifndef GT_RUNTIME_LOOKUP_SHELF_H
#define GT_RUNTIME_LOOKUP_SHELF_H

#include "runtime/lookup/costs.h"
#include "runtime/lookup/learned.h"

#include <limits.h>

struct gt_shelf {
    struct gt_costs costs;
    struct gt_trees trees; /* empty: nothing was learned */
};

/* The shelf of a device that no folder serves: the costs of costs.h and no trees. */
extern const struct gt_shelf gt_shelf_usual;

/* The knowledge about the device, never NULL. The first call for a device reads files, and
 * keeps what it read until the process ends. A folder that cannot be read counts as
 * missing, and the log says why. Any thread may call it. */
const struct gt_shelf *gt_shelf_of(const struct gt_device *d);
/* The same without what was learned from a database. */
const struct gt_shelf *gt_shelf_shipped(const struct gt_device *d);

/* Says that this process works with the database: what was learned from it counts for the
 * devices that are asked about from now on. The first database counts first. */
void gt_shelf_beside(const char *database);
/* Reads the device's files again, for later calls. Results of earlier calls stay. */
void gt_shelf_renew(const struct gt_device *d);
/* The folder of a learned shelf: beside the database, for the device with the key. False:
 * its path is too long. */
bool gt_shelf_learned_folder(char out[PATH_MAX], const char *database, const char *key);

/* Reads the folder `path`, which need not serve any device here. */
gt_status gt_shelf_read(struct gt_shelf *out, const char *path, struct gt_err *err);

#endif
