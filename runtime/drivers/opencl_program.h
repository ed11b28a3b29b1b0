/* SPDX-License-Identifier: Apache-2.0 */
/* opencl_program.h - OpenCL programs: built from a source or from a binary, and their
 * binaries. */
#ifndef GT_RUNTIME_DRIVERS_OPENCL_PROGRAM_H
#define GT_RUNTIME_DRIVERS_OPENCL_PROGRAM_H

#include "runtime/drivers/driver.h"
#include "runtime/drivers/opencl_api.h"

/* A context and one of its devices, for which programs are built. */
struct gt_opencl_place {
    const struct gt_opencl *cl;
    cl_context context;
    cl_device_id device;
    const struct gt_device *described; /* of the gt_gpu that builds */
};

/* gt_driver's toolchain: the driver, the options, and a digest of the device that binaries
 * are for. A CPU's binary is code of this machine, so its processor's features count. */
gt_status gt_opencl_toolchain(char text[GT_TOOLCHAIN_MAX], const struct gt_device *d,
                              struct gt_err *err);

/* Builds a program from its source; image->log gets the compiler's messages. EBUILD with
 * the first complaint. The caller releases *out, also after a failure, when it is not NULL.
 */
gt_status gt_opencl_from_source(cl_program *out, const struct gt_opencl_place *at,
                                struct gt_image *image, const char *source,
                                struct gt_err *err);
/* Builds a program from the image's bytes. EBUILD: the driver refuses them. *out is NULL
 * then. */
gt_status gt_opencl_from_binary(cl_program *out, const struct gt_opencl_place *at,
                                const struct gt_image *image, struct gt_err *err);
/* Makes the program's binary for the place's device the image's bytes. EDEVICE: the driver
 * does not give it; ENOMEM. */
gt_status gt_opencl_binary(struct gt_image *image, const struct gt_opencl_place *at,
                           cl_program program, struct gt_err *err);

#endif
