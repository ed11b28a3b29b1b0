/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bare_opencl.c - sees launches while they are made. During the recording, our functions
 * stand in the table of OpenCL's functions; they record each call and pass it on. OpenCL
 * offers no other way. No other thread may use the table meanwhile.
 */
#include "runtime/drivers/opencl_api.h"
#include "tuner/rig/bare.h"

#include <stdlib.h>
#include <string.h>

enum { ARGS_MAX = 64, ARG_BYTES_MAX = 16 };

/* A launch, or the arguments that the next one has so far. */
struct launch {
    cl_kernel kernel;
    cl_uint dimensions, args;
    size_t global[3], local[3];
    struct {
        size_t size;
        unsigned char bytes[ARG_BYTES_MAX];
    } arg[ARGS_MAX];
};

struct opencl_bare {
    struct gt_bare head;
    struct gt_opencl cl; /* the driver's own functions */
    cl_command_queue queue;
    bool beyond; /* more launches, or another kind of call, than can be recorded */
    struct launch launch[GT_BARE_MAX + 1]; /* launch[head.launches] is being made */
};

static struct opencl_bare *recording; /* the recording under way; NULL when there is none */

/* ---- recording ---- */

static cl_int record_argument(cl_kernel kernel, cl_uint index, size_t size,
                              const void *value) {
    struct launch *l = &recording->launch[recording->head.launches];
    if (index < ARGS_MAX && size <= ARG_BYTES_MAX && value) {
        l->arg[index].size = size;
        memcpy(l->arg[index].bytes, value, size);
        l->args = index + 1 > l->args ? index + 1 : l->args;
    } else {
        recording->beyond = true;
    }
    return recording->cl.clSetKernelArg(kernel, index, size, value);
}

static cl_int record_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                            const size_t *offset, const size_t *global, const size_t *local,
                            cl_uint waits, const cl_event *wait, cl_event *event) {
    struct launch *l = &recording->launch[recording->head.launches];
    l->kernel = kernel;
    l->dimensions = dimensions;
    memcpy(l->global, global, dimensions * sizeof *global);
    recording->beyond |=
        offset || !local || waits > 0 || event || recording->head.launches == GT_BARE_MAX;
    if (local)
        memcpy(l->local, local, dimensions * sizeof *local);
    recording->head.launches += recording->head.launches < GT_BARE_MAX;
    return recording->cl.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global,
                                                local, waits, wait, event);
}

static gt_status watch(struct opencl_bare *r, gt_enqueue_fn fn, void *user,
                       struct gt_err *err) {
    struct gt_opencl watching = r->cl;
    watching.clSetKernelArg = record_argument;
    watching.clEnqueueNDRangeKernel = record_launch;
    recording = r;
    gt_opencl_replace(&watching);
    gt_status status = fn(user, err);
    gt_opencl_replace(&r->cl);
    recording = NULL;
    if (status == GEMMTUNE_OK && r->beyond)
        status = gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                         "a launch of a kind that cannot be recorded");
    return status;
}

static void destroy(struct gt_bare *bare) {
    free(bare);
}

static gt_status record(struct gt_bare **out, struct gt_rig *rig, gt_enqueue_fn fn,
                        void *user, struct gt_err *err) {
    const struct gt_opencl *cl = gt_opencl_api(err);
    *out = NULL;
    if (!cl)
        return GEMMTUNE_ENODRIVER;
    struct opencl_bare *r = calloc(1, sizeof *r);
    if (!r)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to record launches");
    r->cl = *cl;
    r->queue = gt_rig_head(rig)->stream;
    const gt_status status = watch(r, fn, user, err);
    if (status != GEMMTUNE_OK) {
        destroy(&r->head);
        return status;
    }
    *out = &r->head;
    return GEMMTUNE_OK;
}

/* ---- again ---- */

/* Sets all arguments again, as a program has to that uses other matrices each time. */
static gt_status run(struct gt_bare *bare, struct gt_err *err) {
    const struct opencl_bare *r = (const struct opencl_bare *)bare;
    cl_int result = GT_CL_SUCCESS;
    for (int i = 0; i < r->head.launches; i++) {
        const struct launch *l = &r->launch[i];
        for (cl_uint a = 0; result == GT_CL_SUCCESS && a < l->args; a++)
            result = r->cl.clSetKernelArg(l->kernel, a, l->arg[a].size, l->arg[a].bytes);
        if (result == GT_CL_SUCCESS)
            result = r->cl.clEnqueueNDRangeKernel(r->queue, l->kernel, l->dimensions, NULL,
                                                  l->global, l->local, 0, NULL, NULL);
        if (result != GT_CL_SUCCESS)
            return gt_opencl_fail(err, "launch", result);
    }
    return GEMMTUNE_OK;
}

const struct gt_bare_ops gt_bare_opencl = {
    .record = record, .run = run, .destroy = destroy};
