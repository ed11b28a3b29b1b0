/* SPDX-License-Identifier: Apache-2.0 */
/* args.c - the arguments of a call in a struct: made ready for a caller, and read. */
#include "runtime/plan/context.h"

#include "core/growth.h"

#include <stddef.h>
#include <string.h>

/* The struct of the first release of this ABI ends before this member. */
static const struct gt_growth args_growth = {sizeof(gemmtune_args),
                                             offsetof(gemmtune_args, wait_list), "args",
                                             "gemmtune_args_init"};

gemmtune_status gemmtune_args_init_sized(gemmtune_args *args, size_t size) {
    return gt_growth_init(args, size, &args_growth, gt_public_entry());
}

static gt_status check_offsets(const gemmtune_args *args, struct gt_err *err) {
    const struct {
        const char *name;
        int64_t value;
        gemmtune_argument argument;
    } offsets[] = {
        {"a_offset", args->a_offset, GEMMTUNE_ARG_A},
        {"b_offset", args->b_offset, GEMMTUNE_ARG_B},
        {"c_offset", args->c_offset, GEMMTUNE_ARG_C},
        {"d2_offset", args->d2_offset, GEMMTUNE_ARG_D2},
        {"rows_offset", args->rows_offset, GEMMTUNE_ARG_ROWS},
        {"workspace_offset", args->workspace_offset, GEMMTUNE_ARG_WORKSPACE},
    };
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
        if (offsets[i].value < 0)
            return gt_blame(err,
                            gt_fail(err, GEMMTUNE_EINVAL, "%s is %lld, must be 0 or more",
                                    offsets[i].name, (long long)offsets[i].value),
                            offsets[i].argument);
    return GEMMTUNE_OK;
}

static gt_status check_wait_list(const gemmtune_args *args, struct gt_err *err) {
    void *const *event = args->wait_list;
    if ((args->wait_count > 0) != (event != NULL))
        return gt_fail(err, GEMMTUNE_EINVAL, "wait_count is %u, but wait_list is %s",
                       (unsigned)args->wait_count, event != NULL ? "given" : "NULL");
    for (uint32_t i = 0; i < args->wait_count; i++)
        if (event[i] == NULL)
            return gt_fail(err, GEMMTUNE_EINVAL, "event %u of wait_list is NULL",
                           (unsigned)i);
    return GEMMTUNE_OK;
}

gt_status gt_args_read(gemmtune_args *out, const gemmtune_args *args, struct gt_err *err) {
    const gt_status status =
        gt_blame(err, gt_growth_read(out, args, &args_growth, err), GEMMTUNE_ARG_ARGS);
    if (status != GEMMTUNE_OK)
        return status;
    if (out->event != NULL)
        memset(out->event, 0, sizeof(void *));
    if (out->reserved != 0)
        return gt_blame(err,
                        gt_fail(err, GEMMTUNE_EUNSUPPORTED, "reserved is %d, must be 0",
                                (int)out->reserved),
                        GEMMTUNE_ARG_ARGS);
    const gt_status offsets = check_offsets(out, err);
    return offsets == GEMMTUNE_OK
               ? gt_blame(err, check_wait_list(out, err), GEMMTUNE_ARG_EVENTS)
               : offsets;
}
