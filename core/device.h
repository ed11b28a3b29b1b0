/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - a device as its silicon, not its label: two different chips are sold as
 * "GeForce GTX 1050".
 */
#ifndef GT_CORE_DEVICE_H
#define GT_CORE_DEVICE_H

#include "core/backend.h"
#include "core/dtype.h"

enum { GT_DEVICE_KEY_MAX = 96 };

struct gt_device {
    gemmtune_backend backend;
    char name[128]; /* the driver's name for it, without control characters */
    char uuid[48];  /* "" when the driver has none */
    char pci[24];   /* "0000:3b:00.0" or "" */
    char arch[24];  /* "sm_90"; OpenCL: "cpu", "gpu" or "accelerator" */
    char vendor[64];
    char driver[128]; /* driver version */
    /* the compiler for kernels: "NVRTC 13.0", "PoCL 3.1", "" when none */
    char compiler[128];
    char trouble[256];  /* why the device cannot be used, one sentence; "" when it can */
    int cc;             /* CUDA compute capability as 90, 61; 0 elsewhere */
    int units;          /* SMs or compute units */
    int warp;           /* 32; OpenCL: the preferred multiple, 1 when unknown */
    int max_threads;    /* per block */
    int regs_per_block; /* 32-bit registers; 0 when unknown */
    int clock_mhz;      /* maximum */
    int mem_clock_mhz;  /* maximum; 0 when unknown */
    int bus_bits;       /* memory bus width; 0 when unknown */
    int ordinal;        /* the driver's own index; not part of the key */
    int64_t mem_bytes;
    int64_t max_alloc; /* largest single buffer in bytes */
    int64_t l2_bytes;  /* last-level cache; 0 when unknown */
    int64_t smem_max;  /* shared (local) memory bytes a block may have, opt-in included */
    bool has_f64;
    bool is_cpu; /* an OpenCL CPU device: its binaries are host code */

    /* Abilities of an OpenCL compiler beyond OpenCL C 1.2; all 0 on CUDA, where the compute
     * capability says them. Databases do not keep them. */
    bool has_f16;       /* conversions of f16 by an instruction, denormal numbers too */
    bool has_dot4;      /* sums of four products of bytes, in OpenCL C 3.0 */
    int ptx;            /* compute capability of a device that takes PTX in its kernels */
    int subgroup_sizes; /* sum of the sizes of subgroups that a kernel may ask for */
    int vector_bytes;   /* a vector register of the device */
};

/* Gives a device of a database each ability that an OpenCL compiler can have: what it can
 * do is not known, and the trials beside it are of kernels that it could run. */
void gt_device_suppose_abilities(struct gt_device *d);

/* "nvidia-h200-5f1c09aa": a slug of the name and a hash of the properties that make two
 * chips one model: backend, name, architecture, units, bus width, L2, limits, and the
 * memory of a GPU in whole GiB. UUID and driver version are not in it. Memory counts in GiB
 * because a driver reserves a little more or less of it in each version. The memory of a
 * CPU does not count: it belongs to the machine, and a driver may report the free part of
 * it. */
void gt_device_key(const struct gt_device *d, char key[GT_DEVICE_KEY_MAX]);
/* The key that the device had in databases of version 1 and in their exported text. The
 * memory of a CPU counted in it. */
void gt_device_key_1(const struct gt_device *d, char key[GT_DEVICE_KEY_MAX]);

/* Peak arithmetic of the device in operations per second for a mix of types, a row of
 * dtype.h; multiply and add count as two. The peak of tensor cores is meant where they are
 * faster, else the peak of ordinary cores. 0 when unknown and for NULL. It assumes one
 * multiply-add an element: i32 computed from bytes on tensor cores may be faster. */
double gt_device_peak(const struct gt_device *d, const struct gt_dtype *types);
/* The source of that figure, in a clause: "multiply-adds on ordinary cores". */
const char *gt_device_peak_about(const struct gt_device *d, const struct gt_dtype *types);
/* Peak arithmetic on ordinary cores alone, which work in the accumulator's type. */
double gt_device_plain_peak(const struct gt_device *d, const struct gt_dtype *types);
/* An upper bound for every kernel, i32 from bytes on tensor cores included. */
double gt_device_ceiling(const struct gt_device *d, const struct gt_dtype *types);
/* Peak memory traffic in bytes per second; 0 when unknown. */
double gt_device_bandwidth(const struct gt_device *d);

#endif
