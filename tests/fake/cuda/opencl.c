/* SPDX-License-Identifier: Apache-2.0 */
/* opencl.c - PoCL, which runs the kernels. See fake_cuda.h. */
#include "tests/fake/cuda/fake_cuda.h"

#include <dlfcn.h>
#include <string.h>

struct fake_cl cl;

static void fill_cl(void *library) {
#define X(name)                                                                            \
    {                                                                                      \
        void *symbol = dlsym(library, #name);                                              \
        memcpy(&cl.name, &symbol, sizeof symbol);                                          \
        if (!symbol)                                                                       \
            stop("libOpenCL has no", #name);                                               \
    }
    CL_FUNCTIONS(X)
#undef X
}

/* Once in a process, and late: the parent of gemmtune's workers must not come here. */
void open_cl(void) {
    if (cl.context)
        return;
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    cl_platform_id platform[8];
    cl_uint count = 0;
    cl_int result = CL_SUCCESS;
    if (!library)
        stop("there is no", "libOpenCL.so.1");
    fill_cl(library);
    (void)cl.clGetPlatformIDs(8, platform, &count);
    for (cl_uint i = 0; i < count && !cl.device; i++)
        (void)cl.clGetDeviceIDs(platform[i], CL_DEVICE_TYPE_CPU, 1, &cl.device, NULL);
    if (!cl.device)
        stop("OpenCL has no", "CPU device");
    cl.context = cl.clCreateContext(NULL, 1, &cl.device, NULL, NULL, &result);
    if (cl.context)
        cl.queue =
            cl.clCreateCommandQueueWithProperties(cl.context, cl.device, NULL, &result);
    if (!cl.queue)
        stop("no OpenCL queue on the", "CPU device");
}
