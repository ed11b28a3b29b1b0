/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h - the interface to a device: find it, build for it, load, launch. One file a
 * driver (cuda.c, opencl.c), listed once in driver.c. Functions that only tuning needs
 * (allocating, copying, timing) are in the program: tuner/rig/rig.h.
 */
#ifndef GT_RUNTIME_DRIVERS_DRIVER_H
#define GT_RUNTIME_DRIVERS_DRIVER_H

#include "core/device.h"
#include "core/launch.h"
#include "core/status.h"

/* A context in which kernels are built and loaded. The context is the caller's. A driver's
 * own struct begins with this one. */
struct gt_gpu {
    const struct gt_driver *driver;
    struct gt_device device;
    gemmtune_target target; /* the caller's handles; NULL only for CUDA's device */
};

/* The output of a compiler. Valid, and to be cleared, after a failed build as well. */
struct gt_image {
    void *bytes; /* cubin, or a program's binary; NULL: a load builds from the source */
    size_t size;
    int registers, spill_bytes,
        smem_bytes; /* per thread, per thread, static per block; -1 unknown */
    char *log;      /* the compiler's messages, or ""; NULL only after ENOMEM */
};
void gt_image_clear(struct gt_image *image);

/* A loaded kernel. Any thread may launch it. A driver's own struct begins with this one. */
struct gt_kernel {
    const struct gt_driver *driver;
};

/* One argument's bytes, in the kernel's type. Pointers: CUdeviceptr, or cl_mem by value. */
union gt_value {
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    void *ptr;
};
/* A number in a type's bytes, rounded as gt_element_put rounds: alpha or beta of a type. */
union gt_value gt_value_of(gemmtune_dtype type, double number);

struct gt_value_ref {
    const void *bytes;
    size_t size;
};

/* A matrix as described to hardware that copies boxes of it: an argument, by value. */
struct gt_tensor_map {
    uint64_t opaque[16];
};

enum { GT_TOOLCHAIN_MAX = 512 };

enum { GT_MISSING_MAX = 512 };

/* The place of work among other work of a queue; all 0: no more than the queue's own order.
 * Only drivers with `takes_events` take another one. */
struct gt_event_order {
    uint32_t count;
    const void *wait; /* `count` events (cl_event) that the work waits for */
    void *event;      /* NULL, or the place (cl_event *) of an event of the work's end; the
                       * event is the caller's */
};

struct gt_driver {
    gemmtune_backend backend;

    /* Properties of all devices of this driver. */
    bool speaks_cuda;            /* its sources are CUDA C++ (GT_CUDA is 1), not OpenCL C */
    bool pointers_are_addresses; /* a pointer's low bits say how it is aligned */
    bool keeps_images;           /* an image can be kept in a file and loaded later */
    bool compiles_apart;         /* `build` makes the image, without a context; else `load`
                                  * compiles, and `image_of` has the image afterwards */
    bool compiles_late;          /* it may still compile at a kernel's first launch */
    bool takes_events;           /* its queues take events; see struct gt_event_order */

    /* Whether the device accepts such a launch, beyond the limits that gt_passes_of checks
     * for every backend. EINVAL names the number and its limit. Needs no context. NULL:
     * there are no further limits. */
    gt_status (*check_launch)(const struct gt_launch *launch, const struct gt_device *d,
                              struct gt_err *err);
    /* Whether hardware can copy boxes of a matrix that lies `at` bytes into a buffer. Needs
     * no context. NULL: devices have no tensor maps. */
    gt_status (*check_map)(const struct gt_tiling *tiling, int64_t at, struct gt_err *err);

    /* Calls fn for every device of this driver in the driver's order. A missing driver
     * library is no error: `missing` gets one sentence and no device is reported. */
    gt_status (*enumerate)(void (*fn)(void *user, const struct gt_device *d), void *user,
                           char missing[GT_MISSING_MAX], struct gt_err *err);
    /* Wraps a caller's context. ENODRIVER, EDEVICE. */
    gt_status (*open)(struct gt_gpu **out, const gemmtune_target *target,
                      struct gt_err *err);
    void (*close)(struct gt_gpu *gpu);
    /* Fills in the version of the driver, d->driver, which `open` has left out: asking
     * takes milliseconds. NULL: `open` has it. */
    void (*fill_version)(struct gt_device *d);

    /* The compiler and options that will be used for this device: part of the image key.
     * EBUILD with a sentence when no compiler serves the device. */
    gt_status (*toolchain)(char text[GT_TOOLCHAIN_MAX], const struct gt_device *d,
                           struct gt_err *err);
    /* A digest, 64 hex digits, of everything that decides which compiler `toolchain` would
     * find, without loading it. "" when it is loaded already, so that asking costs little.
     * NULL: asking always costs little. */
    void (*libraries)(char digest[65], const struct gt_device *d);
    /* Compiles, where `compiles_apart`. EBUILD: image->log has the compiler's messages, and
     * `err` the first complaint. Thread-safe. */
    gt_status (*build)(struct gt_image *image, const struct gt_device *d,
                       const char *source, struct gt_err *err);
    /* Loads `entry` from an image. Without `compiles_apart` an image without bytes is built
     * from the source, which fills image->log. The same is done when the driver
     * refuses an image's bytes: then image->bytes is NULL afterwards. With a source of NULL
     * such an image is refused. */
    gt_status (*load)(struct gt_kernel **out, struct gt_gpu *gpu, struct gt_image *image,
                      const char *source, const char *entry, const struct gt_launch *launch,
                      struct gt_err *err);
    /* Loads another entry of the same image as `kernel`; unload it before `kernel`. */
    gt_status (*load_also)(struct gt_kernel **out, struct gt_gpu *gpu,
                           const struct gt_kernel *kernel, const char *entry,
                           const struct gt_launch *launch, struct gt_err *err);
    /* Writes the bytes of a loaded kernel's program to the image. NULL where
     * `compiles_apart`. EDEVICE: the driver does not give them; ENOMEM. */
    gt_status (*image_of)(struct gt_image *image, const struct gt_kernel *kernel,
                          struct gt_err *err);
    void (*unload)(struct gt_kernel *kernel);
    /* Describes the matrix at an address, which is not dereferenced. No allocation, no
     * lock. NULL together with `check_map`. EINVAL: the driver is too old or refuses the
     * matrix. */
    gt_status (*encode_map)(struct gt_tensor_map *out, const struct gt_gpu *gpu,
                            const struct gt_tiling *tiling, void *memory,
                            struct gt_err *err);
    /* The bytes of a buffer, INT64_MAX when the driver does not say. NULL: pointers are
     * addresses, and nobody knows where their memory ends. */
    int64_t (*memory_bytes)(const void *memory);
    /* Enqueues a launch that passed `check_launch` on the caller's stream or queue. No
     * allocation, no lock, no wait for the device. EINVAL: the launch was refused, no part
     * of it runs, and the context is sound. */
    gt_status (*launch)(const struct gt_kernel *kernel, const struct gt_launch *launch,
                        const struct gt_value_ref *args, int arg_count, void *stream,
                        struct gt_event_order order, struct gt_err *err);
    /* These three are there where `takes_events` is. */
    /* Enqueues nothing but the order: its event ends when its waits have ended. */
    gt_status (*mark)(void *stream, struct gt_event_order order, struct gt_err *err);
    /* Whether the queue may begin work before earlier work has ended. */
    bool (*is_unordered)(void *stream);
    void (*release_event)(void *event);

    /* Memory for the calls of a stream. NULL: the library holds none. */
    const struct gt_stream_memory *stream_memory;
};

extern const struct gt_driver gt_driver_cuda, gt_driver_opencl;
extern const struct gt_driver *const gt_drivers[]; /* CUDA first; NULL-ended */
/* The backend's driver; NULL when there is none. */
const struct gt_driver *gt_driver_of(gemmtune_backend backend);

/* ---- all devices of the machine, CUDA first ---- */

struct gt_device_list {
    size_t count;
    struct gt_device *device;
    /* by backend: why the driver is missing, one sentence; "" when it is there */
    char missing[GT_BACKENDS][GT_MISSING_MAX];
};
/* The sentences about missing drivers, joined by "; ". Returns `out`. */
enum { GT_ALL_MISSING_MAX = GT_BACKENDS * GT_MISSING_MAX };
const char *gt_devices_missing(char out[GT_ALL_MISSING_MAX],
                               const struct gt_device_list *list);
gt_status gt_devices_list(struct gt_device_list *out, struct gt_err *err);
void gt_devices_clear(struct gt_device_list *list);
/* Picks a device by index ("0"), UUID, PCI id, key, or a name or part of a name that fits
 * one chip only. A chip that both CUDA and OpenCL list is one chip, and CUDA's entry is
 * taken. ENODRIVER when there is no device at all; EINVAL lists the choices. */
gt_status gt_devices_pick(size_t *index, const struct gt_device_list *list,
                          const char *what, struct gt_err *err);

#endif
