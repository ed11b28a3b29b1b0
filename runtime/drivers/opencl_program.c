/* SPDX-License-Identifier: Apache-2.0 */
/* opencl_program.c - see opencl_program.h. */
#include "runtime/drivers/opencl_program.h"

#include "core/hash.h"
#include "core/io.h"
#include "runtime/drivers/driver_util.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* OpenCL C 1.2 is what every device takes. A device with products of bytes has them in 3.0
 * alone. */
static const char *options_for(const struct gt_device *d) {
    return d->has_dot4 ? "-cl-std=CL3.0 -w" : "-cl-std=CL1.2 -w";
}

/* ---- the toolchain ------------------------------------------------------------------- */

enum { FEATURES_MAX = 4096, DIGEST_SHOWN = 16 };

/* The line of /proc/cpuinfo with the features of the first processor; "" where there is
 * none. */
static char features[FEATURES_MAX];
static pthread_once_t features_once = PTHREAD_ONCE_INIT;

static void read_features(void) {
    static const char *const names[] = {"\nflags", "\nFeatures", "\nisa"};
    char text[2 * FEATURES_MAX];
    const int file = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
    const ssize_t got = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (file >= 0)
        (void)close(file);
    if (got <= 0)
        return;
    text[got] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *line = strstr(text, names[i]);
        if (line != NULL) {
            snprintf(features, sizeof features, "%.*s", (int)strcspn(line + 1, "\n"),
                     line + 1);
            return;
        }
    }
}

/* A digest of the device that a binary is for. A home folder may serve several machines. */
static void device_digest(char digest[65], const struct gt_device *d) {
    struct gt_hash h;
    gt_hash_init(&h);
    gt_hash_add_text(&h, d->name);
    gt_hash_add_text(&h, d->vendor);
    if (d->is_cpu) {
        (void)pthread_once(&features_once, read_features);
        gt_hash_add_text(&h, features);
    }
    gt_hash_hex(&h, digest);
}

gt_status gt_opencl_toolchain(char text[GT_TOOLCHAIN_MAX], const struct gt_device *d,
                              struct gt_err *err) {
    char digest[65];
    text[0] = '\0';
    if (!d->compiler[0])
        return gt_fail(err, GEMMTUNE_EBUILD, "%s",
                       d->trouble[0] ? d->trouble : "this OpenCL device has no compiler");
    device_digest(digest, d);
    snprintf(text, GT_TOOLCHAIN_MAX, "%s (driver %s, device %.*s) %s", d->compiler,
             d->driver, DIGEST_SHOWN, digest, options_for(d));
    return GEMMTUNE_OK;
}

/* ---- from a source ------------------------------------------------------------------- */

static gt_status take_log(struct gt_image *image, const struct gt_opencl_place *at,
                          cl_program program, struct gt_err *err) {
    size_t size = 0;
    if (at->cl->clGetProgramBuildInfo(program, at->device, GT_CL_PROGRAM_BUILD_LOG, 0, NULL,
                                      &size) != GT_CL_SUCCESS ||
        size < 2)
        return gt_image_log(image, "", 0, err);
    char *text = calloc(size + 1, 1);
    if (!text)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a build log");
    (void)at->cl->clGetProgramBuildInfo(program, at->device, GT_CL_PROGRAM_BUILD_LOG, size,
                                        text, NULL);
    const size_t blank_tail = strspn(text, " \t\r\n");
    const size_t length = text[blank_tail] ? strlen(text) : 0;
    const gt_status status = gt_image_log(image, text, length, err);
    free(text);
    return status;
}

gt_status gt_opencl_from_source(cl_program *out, const struct gt_opencl_place *at,
                                struct gt_image *image, const char *source,
                                struct gt_err *err) {
    cl_int result = GT_CL_SUCCESS;
    *out = at->cl->clCreateProgramWithSource(at->context, 1, &source, NULL, &result);
    if (!*out)
        return gt_opencl_fail(err, "clCreateProgramWithSource", result);
    result = at->cl->clBuildProgram(*out, 1, &at->device, options_for(at->described), NULL,
                                    NULL);
    const gt_status status = take_log(image, at, *out, err);
    if (status != GEMMTUNE_OK || result == GT_CL_SUCCESS)
        return status;
    char complaint[400];
    gt_first_complaint(complaint, sizeof complaint, image->log);
    if (!complaint[0])
        gt_opencl_error_text(result, complaint, sizeof complaint);
    return gt_fail(err, GEMMTUNE_EBUILD, "%s", complaint);
}

/* ---- binaries ------------------------------------------------------------------------ */

gt_status gt_opencl_from_binary(cl_program *out, const struct gt_opencl_place *at,
                                const struct gt_image *image, struct gt_err *err) {
    const unsigned char *bytes = image->bytes;
    cl_int result = GT_CL_SUCCESS, verdict = GT_CL_SUCCESS;
    char why[64];
    *out = at->cl->clCreateProgramWithBinary(at->context, 1, &at->device, &image->size,
                                             &bytes, &verdict, &result);
    if (*out && result == GT_CL_SUCCESS)
        result = verdict;
    if (*out && result == GT_CL_SUCCESS)
        result = at->cl->clBuildProgram(*out, 1, &at->device, options_for(at->described),
                                        NULL, NULL);
    if (*out && result == GT_CL_SUCCESS)
        return GEMMTUNE_OK;
    if (*out)
        (void)at->cl->clReleaseProgram(*out);
    *out = NULL;
    gt_opencl_error_text(result, why, sizeof why);
    return gt_fail(err, GEMMTUNE_EBUILD, "the driver refuses its binary: %s", why);
}

/* The place of the device among the devices of the program's context. *count: how many
 * devices the context has. */
static cl_int find_device(size_t *index, cl_uint *count, const struct gt_opencl_place *at,
                          cl_program program) {
    cl_int result = at->cl->clGetProgramInfo(program, GT_CL_PROGRAM_NUM_DEVICES,
                                             sizeof *count, count, NULL);
    if (result != GT_CL_SUCCESS)
        return result;
    cl_device_id *devices = calloc(*count + 1, sizeof(cl_device_id));
    if (!devices)
        return GT_CL_OUT_OF_HOST_MEMORY;
    result = at->cl->clGetProgramInfo(program, GT_CL_PROGRAM_DEVICES,
                                      *count * sizeof(cl_device_id), devices, NULL);
    *index = 0;
    while (*index < *count && devices[*index] != at->device)
        ++*index;
    free(devices);
    if (result == GT_CL_SUCCESS && *index == *count)
        return GT_CL_INVALID_VALUE;
    return result;
}

/* A NULL among the places means that the binary for that device is not wanted. */
static cl_int read_binary(struct gt_image *image, const struct gt_opencl_place *at,
                          cl_program program, size_t index, cl_uint count) {
    size_t *size = calloc(count, sizeof *size);
    unsigned char **place = calloc(count, sizeof *place);
    cl_int result = GT_CL_OUT_OF_HOST_MEMORY;
    if (size && place)
        result = at->cl->clGetProgramInfo(program, GT_CL_PROGRAM_BINARY_SIZES,
                                          count * sizeof *size, size, NULL);
    if (result == GT_CL_SUCCESS && size[index] == 0)
        result = GT_CL_INVALID_BINARY;
    if (result == GT_CL_SUCCESS) {
        place[index] = malloc(size[index]);
        result = place[index] == NULL
                     ? GT_CL_OUT_OF_HOST_MEMORY
                     : at->cl->clGetProgramInfo(program, GT_CL_PROGRAM_BINARIES,
                                                count * sizeof *place, place, NULL);
    }
    if (result == GT_CL_SUCCESS) {
        image->bytes = place[index];
        image->size = size[index];
    } else if (place != NULL) {
        free(place[index]);
    }
    free(place);
    free(size);
    return result;
}

gt_status gt_opencl_binary(struct gt_image *image, const struct gt_opencl_place *at,
                           cl_program program, struct gt_err *err) {
    size_t index = 0;
    cl_uint count = 0;
    free(image->bytes);
    image->bytes = NULL;
    image->size = 0;
    cl_int result = find_device(&index, &count, at, program);
    if (result == GT_CL_SUCCESS)
        result = read_binary(image, at, program, index, count);
    return result == GT_CL_SUCCESS ? GEMMTUNE_OK
                                   : gt_opencl_fail(err, "clGetProgramInfo", result);
}
