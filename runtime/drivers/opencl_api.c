/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/drivers/opencl_api.h"

#include "runtime/drivers/driver_util.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static const struct gt_symbol symbols[] = {
#define X(type, name, needed, params) {#name, offsetof(struct gt_opencl, name), needed},
    GT_OPENCL_SYMBOLS(X)
#undef X
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct gt_opencl cl;
static bool ready;
static char why_not[400];

static void load_opencl(void) {
    static const char *const names[] = {"libOpenCL.so.1", NULL};
    char text[GT_LIBRARY_TEXT_MAX];
    void *library = gt_library_open("GEMMTUNE_LIBOPENCL", names, text);
    if (!library) {
        snprintf(why_not, sizeof why_not, "OpenCL %s", text);
        return;
    }
    const char *missing =
        gt_library_fill(&cl, library, symbols, sizeof symbols / sizeof *symbols);
    ready = !missing;
    if (missing)
        snprintf(why_not, sizeof why_not,
                 "%.280s is no OpenCL library, or is older than 1.2: it has no %s", text,
                 missing);
}

const struct gt_opencl *gt_opencl_api(struct gt_err *err) {
    (void)pthread_once(&once, load_opencl);
    if (ready)
        return &cl;
    (void)gt_fail(err, GEMMTUNE_ENODRIVER, "%s", why_not);
    return NULL;
}

void gt_opencl_replace(const struct gt_opencl *with) {
    cl = *with;
}

/* ---- errors -------------------------------------------------------------------------- */

/* By -code, from the specification. */
static const char *const error_names[] = {
    [1] = "CL_DEVICE_NOT_FOUND",
    [2] = "CL_DEVICE_NOT_AVAILABLE",
    [3] = "CL_COMPILER_NOT_AVAILABLE",
    [4] = "CL_MEM_OBJECT_ALLOCATION_FAILURE",
    [5] = "CL_OUT_OF_RESOURCES",
    [6] = "CL_OUT_OF_HOST_MEMORY",
    [7] = "CL_PROFILING_INFO_NOT_AVAILABLE",
    [11] = "CL_BUILD_PROGRAM_FAILURE",
    [12] = "CL_MAP_FAILURE",
    [13] = "CL_MISALIGNED_SUB_BUFFER_OFFSET",
    [14] = "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
    [30] = "CL_INVALID_VALUE",
    [32] = "CL_INVALID_PLATFORM",
    [33] = "CL_INVALID_DEVICE",
    [34] = "CL_INVALID_CONTEXT",
    [36] = "CL_INVALID_COMMAND_QUEUE",
    [38] = "CL_INVALID_MEM_OBJECT",
    [42] = "CL_INVALID_BINARY",
    [43] = "CL_INVALID_BUILD_OPTIONS",
    [44] = "CL_INVALID_PROGRAM",
    [45] = "CL_INVALID_PROGRAM_EXECUTABLE",
    [46] = "CL_INVALID_KERNEL_NAME",
    [47] = "CL_INVALID_KERNEL_DEFINITION",
    [48] = "CL_INVALID_KERNEL",
    [49] = "CL_INVALID_ARG_INDEX",
    [50] = "CL_INVALID_ARG_VALUE",
    [51] = "CL_INVALID_ARG_SIZE",
    [52] = "CL_INVALID_KERNEL_ARGS",
    [53] = "CL_INVALID_WORK_DIMENSION",
    [54] = "CL_INVALID_WORK_GROUP_SIZE",
    [55] = "CL_INVALID_WORK_ITEM_SIZE",
    [56] = "CL_INVALID_GLOBAL_OFFSET",
    [57] = "CL_INVALID_EVENT_WAIT_LIST",
    [58] = "CL_INVALID_EVENT",
    [59] = "CL_INVALID_OPERATION",
    [61] = "CL_INVALID_BUFFER_SIZE",
    [63] = "CL_INVALID_GLOBAL_WORK_SIZE",
};

void gt_opencl_error_text(cl_int result, char *out, size_t size) {
    const cl_int count = (cl_int)(sizeof error_names / sizeof *error_names);
    if (result < 0 && result > -count && error_names[-result])
        snprintf(out, size, "%s", error_names[-result]);
    else
        snprintf(out, size, "error %d", (int)result);
}

gt_status gt_opencl_fail(struct gt_err *err, const char *call, cl_int result) {
    char text[64];
    gt_opencl_error_text(result, text, sizeof text);
    const gt_status status =
        result == GT_CL_OUT_OF_HOST_MEMORY ? GEMMTUNE_ENOMEM : GEMMTUNE_EDEVICE;
    return gt_fail(err, status, "%s: %s", call, text);
}

gt_status gt_opencl_result(cl_int result, const char *call, struct gt_err *err) {
    if (result == GT_CL_SUCCESS)
        return GEMMTUNE_OK;
    const gt_status status = gt_opencl_fail(err, call, result);
    return result == GT_CL_MEM_ALLOCATION_FAILURE || result == GT_CL_INVALID_BUFFER_SIZE
               ? GEMMTUNE_ENOMEM
               : status;
}
