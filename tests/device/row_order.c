/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_order.c - for tests/tune/row_order.sh: compares rows of one kind on the first device,
 * as `verify --row-order` does, with a point for a record that chooses the order of sums.
 *
 *     row_order PROBLEM FAMILY POINT ROWS LAUNCHES [starts]
 *
 * POINT: other values than the default's. `starts` compares the starts of the order as
 * well. It prints the order, the rows that were compared and that differ, and the kernels.
 * Exit 1 when a row differs, 2 when nothing was compared.
 */
#include "tuner/study/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gt_err err;

static void need(gt_status status) {
    if (status == GEMMTUNE_OK)
        return;
    printf("%s\n", err.line);
    exit(2);
}

/* A record of the problem by the point. */
static void make_record(struct gt_known *k, const struct gt_family *f,
                        const gemmtune_problem *p, const struct gt_device *d,
                        const char *text) {
    struct gt_point point, given;
    gt_family_default(f, &point);
    need(gt_point_parse(&given, text, &err));
    for (int i = 0; i < given.count; i++)
        need(gt_point_set(&point, given.entry[i].name, given.entry[i].value, &err));
    *k = (struct gt_known){.problem = *p, .family = f, .verified = true, .median_ns = 1000};
    need(gt_point_values(k->values, f, &point, &err));
    (void)gt_problem_name(p, k->problem_name);
    gt_device_key(d, k->device_key);
    memcpy(k->arch, d->arch, sizeof k->arch);
}

int main(int argc, char **argv) {
    static struct gt_known record;
    struct gt_device_list devices;
    struct gt_families *families;
    struct gt_rows_report r;
    struct gt_rig *rig;
    gemmtune_problem p;
    if (argc < 6)
        return 2;
    need(gt_problem_from_name(&p, argv[1], &err));
    need(gt_devices_list(&devices, &err));
    need(gt_families_create(&families, &err));
    if (devices.count == 0)
        return 4;
    const struct gt_device *d = &devices.device[0];
    need(gt_rig_open(&rig, d, &err));
    make_record(&record, gt_families_find(families, argv[2]), &p, d, argv[3]);
    const struct gt_snapshot snapshot = {families, &record, 1, NULL};
    const struct gt_rows_setup setup = {.rig = rig,
                                        .snapshot = &snapshot,
                                        .device_key = record.device_key,
                                        .problem = &p,
                                        .rows = strtol(argv[4], NULL, 10),
                                        .launches = (int)strtol(argv[5], NULL, 10),
                                        .starts = argc > 6,
                                        .seed = 1};
    need(gt_rows_compare(&r, &setup, &err));
    printf("%s: %" PRId64 " rows, %" PRId64 " differ, %d kernels, %d refused%s%s\n",
           r.order[0] != '\0' ? r.order : "free", r.compared, r.differing, r.kernels,
           r.refused, r.first[0] != '\0' ? ": " : "", r.first);
    gt_rig_close(rig);
    gt_families_destroy(families);
    gt_devices_clear(&devices);
    return r.compared == 0 ? 2 : r.differing > 0;
}
