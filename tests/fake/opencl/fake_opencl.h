/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_opencl.h - NVIDIA's OpenCL without a GPU, for tests: one device that takes PTX in
 * its kernels. clang compiles OpenCL C to PTX, which tests/ptx/ runs. So the kernels that
 * only NVIDIA's OpenCL can run are checked, and everything above libOpenCL is the real
 * gemmtune:
 *
 *     export GEMMTUNE_LIBOPENCL=build/tests/fake/libopencl_ptx.so GEMMTUNE_LIBCUDA=/nowhere
 *     gemmtune trial bf16-nt-65x70x72 --device 0 --family mma --untimed
 *
 * Commands are done when they are called. A model gives the times: four instructions of
 * each warp scheduler in a clock.
 *
 *     FAKE_OPENCL_CC=NN    compute capability (80)
 *     FAKE_OPENCL_CLANG=X  the compiler (clang)
 */
#ifndef GT_TESTS_FAKE_OPENCL_H
#define GT_TESTS_FAKE_OPENCL_H

#include "runtime/drivers/opencl_api.h"
#include "tests/ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum { FAKE_UNITS = 4, FAKE_PARAM_BYTES = 1024, FAKE_ALIGN = 4096 };

struct _cl_mem {
    struct _cl_mem *next; /* of the buffers that are no part of another */
    char *bytes;
    size_t size;
    bool own; /* the memory is ours */
};

struct _cl_program {
    char *source, *log, *ptx;
    struct ptx_module *module;
    int users; /* the program and its kernels */
};

struct _cl_kernel {
    struct _cl_program *program;
    const struct ptx_kernel *code;
    char name[64];
    _Alignas(128) unsigned char params[FAKE_PARAM_BYTES];
};

struct _cl_event {
    cl_ulong begin, end;
};

#define X(type, name, needed, params) type name params;
GT_OPENCL_SYMBOLS(X)
#undef X

/* The compute capability. */
int fake_cc(void);
/* The address of a buffer when `handle` is one, else 0. */
char *fake_address(const void *handle);
/* ptx_launch's find, over all buffers. */
bool fake_find(uint64_t at, uint64_t *begin, uint64_t *end);
/* The event of a command that took so long; a command without an event has a NULL place. */
void fake_event(cl_event *place, cl_ulong ns);
/* Copies an answer of OpenCL's functions that are asked for facts. */
cl_int fake_answer(const void *bytes, size_t length, size_t room, void *value,
                   size_t *needed);

#endif
