/* SPDX-License-Identifier: Apache-2.0 */
/* opencl_device.c - see opencl_device.h: every device of every platform. */
#include "runtime/drivers/opencl_device.h"

#include "runtime/drivers/driver_util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest subgroup that a kernel asks for. */
enum { SUBGROUP_MAX = 128 };

/* ---- the description of a device ---------------------------------------------------- */

/* A number of 4 or 8 bytes, 0 when the device does not answer. */
static uint64_t number(const struct gt_opencl *cl, cl_device_id device, cl_uint what) {
    union {
        uint32_t word;
        uint64_t wide;
    } value = {.wide = 0};
    size_t size = 0;
    if (cl->clGetDeviceInfo(device, what, sizeof value, &value, &size) != GT_CL_SUCCESS)
        return 0;
    return size == sizeof value.word ? value.word : value.wide;
}

static int as_int(uint64_t value) {
    return value > INT32_MAX ? INT32_MAX : (int)value;
}

static int64_t large(uint64_t value) {
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* A text of any length; NULL when the device does not answer. The caller frees it. */
static char *text_of(const struct gt_opencl *cl, cl_device_id device, cl_uint what) {
    size_t size = 0;
    if (cl->clGetDeviceInfo(device, what, 0, NULL, &size) != GT_CL_SUCCESS || size == 0)
        return NULL;
    char *text = calloc(size + 1, 1);
    if (text && cl->clGetDeviceInfo(device, what, size, text, NULL) != GT_CL_SUCCESS)
        text[0] = '\0';
    return text;
}

static void copy_text(char *out, size_t room, const struct gt_opencl *cl,
                      cl_device_id device, cl_uint what) {
    char *text = text_of(cl, device, what);
    gt_tidy(out, room, text ? text : "");
    free(text);
}

/* Whether a list of words separated by spaces holds `word`. */
static bool has_word(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (const char *p = list; (p = strstr(p, word)) != NULL; p += length)
        if ((p == list || p[-1] == ' ') && (p[length] == ' ' || p[length] == '\0'))
            return true;
    return false;
}

/* "OpenCL 3.0 PoCL 3.1+debian  Linux, ..." becomes "PoCL 3.1": the text after the
 * standard's version, up to a comma or two spaces, without a packager's suffix. "" when
 * there is none. */
static void compiler_of(char *out, size_t size, const char *version) {
    char cut[128];
    const char *p = version;
    if (strncmp(p, "OpenCL ", 7) == 0)
        p += 7 + strcspn(p + 7, " ");
    p += strspn(p, " ");
    const char *wide_gap = strstr(p, "  ");
    size_t length = strcspn(p, ",+");
    if (wide_gap && (size_t)(wide_gap - p) < length)
        length = (size_t)(wide_gap - p);
    snprintf(cut, sizeof cut, "%.*s", (int)(length < sizeof cut ? length : sizeof cut - 1),
             p);
    gt_tidy(out, size, cut);
}

static void fill_compiler(struct gt_device *d, const struct gt_opencl *cl,
                          cl_platform_id platform) {
    char text[256] = "";
    if (cl->clGetPlatformInfo(platform, GT_CL_PLATFORM_VERSION, sizeof text - 1, text,
                              NULL) != GT_CL_SUCCESS)
        text[0] = '\0';
    compiler_of(d->compiler, sizeof d->compiler, text);
    if (d->compiler[0])
        return;
    if (cl->clGetPlatformInfo(platform, GT_CL_PLATFORM_NAME, sizeof text - 1, text, NULL) !=
        GT_CL_SUCCESS)
        text[0] = '\0';
    char joined[400];
    snprintf(joined, sizeof joined, "%s %s", text, d->driver);
    gt_tidy(d->compiler, sizeof d->compiler, joined);
}

static void fill_uuid(struct gt_device *d, const struct gt_opencl *cl,
                      cl_device_id device) {
    unsigned char id[16];
    char hex[33];
    if (cl->clGetDeviceInfo(device, GT_CL_DEVICE_UUID_KHR, sizeof id, id, NULL) !=
        GT_CL_SUCCESS)
        return;
    for (size_t i = 0; i < sizeof id; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned)id[i]);
    snprintf(d->uuid, sizeof d->uuid, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12,
             hex + 16, hex + 20);
}

/* The sum of the sizes of subgroups that a kernel may ask for. Sizes are powers of 2. */
static int subgroup_sizes(const struct gt_opencl *cl, cl_device_id device) {
    size_t sizes[16], bytes = 0;
    int sum = 0;
    if (cl->clGetDeviceInfo(device, GT_CL_DEVICE_SUB_GROUP_SIZES_INTEL, sizeof sizes, sizes,
                            &bytes) != GT_CL_SUCCESS)
        return 0;
    for (size_t i = 0; i < bytes / sizeof *sizes; i++)
        if (sizes[i] > 0 && sizes[i] <= SUBGROUP_MAX)
            sum |= (int)sizes[i];
    return sum;
}

/* Whether kernels in OpenCL C 3.0 may sum four products of packed bytes. */
static bool has_dot4(const struct gt_opencl *cl, cl_device_id device, const char *list) {
    char version[64];
    copy_text(version, sizeof version, cl, device, GT_CL_DEVICE_VERSION);
    return has_word(list, "cl_khr_integer_dot_product") &&
           strncmp(version, "OpenCL ", 7) == 0 && version[7] >= '3' &&
           (number(cl, device, GT_CL_DEVICE_DOT_PRODUCTS_KHR) &
            GT_CL_DOT_PRODUCTS_PACKED_KHR) != 0;
}

/* Whether f16 below the normal numbers stay as they are. Intel's runtime does not say so of
 * CPUs, but their instructions keep them. */
static bool keeps_small_halves(const struct gt_opencl *cl, cl_device_id device) {
    return (number(cl, device, GT_CL_DEVICE_TYPE) & GT_CL_DEVICE_TYPE_CPU) != 0 ||
           (number(cl, device, GT_CL_DEVICE_HALF_FP_CONFIG) & GT_CL_FP_DENORM) != 0;
}

/* Abilities of its compiler beyond OpenCL C 1.2. */
static void fill_compiler_extras(struct gt_device *d, const struct gt_opencl *cl,
                                 cl_device_id device, const char *list) {
    d->has_f16 = has_word(list, "cl_khr_fp16") && keeps_small_halves(cl, device);
    d->has_dot4 = has_dot4(cl, device, list);
    d->vector_bytes =
        4 * as_int(number(cl, device, GT_CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT));
    if (has_word(list, "cl_intel_required_subgroup_size") &&
        has_word(list, "cl_intel_subgroups"))
        d->subgroup_sizes = subgroup_sizes(cl, device);
    if (has_word(list, "cl_nv_device_attribute_query"))
        d->ptx = 10 * as_int(number(cl, device, GT_CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV)) +
                 as_int(number(cl, device, GT_CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV));
}

/* Facts that only some vendors give, through extensions. */
static void fill_extras(struct gt_device *d, const struct gt_opencl *cl,
                        cl_device_id device) {
    char *extensions = text_of(cl, device, GT_CL_DEVICE_EXTENSIONS);
    const char *list = extensions ? extensions : "";
    fill_compiler_extras(d, cl, device, list);
    d->warp = 1;
    d->has_f64 = number(cl, device, GT_CL_DEVICE_DOUBLE_FP_CONFIG) != 0 ||
                 has_word(list, "cl_khr_fp64");
    if (has_word(list, "cl_khr_device_uuid"))
        fill_uuid(d, cl, device);
    if (has_word(list, "cl_nv_device_attribute_query")) {
        d->warp = as_int(number(cl, device, GT_CL_DEVICE_WARP_SIZE_NV));
        d->regs_per_block = as_int(number(cl, device, GT_CL_DEVICE_REGISTERS_PER_BLOCK_NV));
        /* The slot is the device number. On an H200 it agrees with the CUDA address, which
         * ends in 06.0. */
        snprintf(d->pci, sizeof d->pci, "%04x:%02x:%02x.0",
                 (unsigned)number(cl, device, GT_CL_DEVICE_PCI_DOMAIN_ID_NV) & 0xffffU,
                 (unsigned)number(cl, device, GT_CL_DEVICE_PCI_BUS_ID_NV) & 0xffU,
                 (unsigned)number(cl, device, GT_CL_DEVICE_PCI_SLOT_ID_NV) & 0x1fU);
    } else if (has_word(list, "cl_amd_device_attribute_query")) {
        d->warp = as_int(number(cl, device, GT_CL_DEVICE_WAVEFRONT_WIDTH_AMD));
    }
    if (d->warp < 1)
        d->warp = 1;
    free(extensions);
}

static void fill_kind(struct gt_device *d, const struct gt_opencl *cl,
                      cl_device_id device) {
    const uint64_t type = number(cl, device, GT_CL_DEVICE_TYPE);
    d->is_cpu = (type & GT_CL_DEVICE_TYPE_CPU) != 0;
    snprintf(d->arch, sizeof d->arch, "%s",
             d->is_cpu                        ? "cpu"
             : (type & GT_CL_DEVICE_TYPE_GPU) ? "gpu"
                                              : "accelerator");
}

static void fill_device(struct gt_device *d, const struct gt_opencl *cl, int ordinal,
                        cl_platform_id platform, cl_device_id device) {
    *d = (struct gt_device){.backend = GEMMTUNE_OPENCL, .ordinal = ordinal};
    copy_text(d->name, sizeof d->name, cl, device, GT_CL_DEVICE_NAME);
    copy_text(d->vendor, sizeof d->vendor, cl, device, GT_CL_DEVICE_VENDOR);
    copy_text(d->driver, sizeof d->driver, cl, device, GT_CL_DRIVER_VERSION);
    fill_kind(d, cl, device);
    d->units = as_int(number(cl, device, GT_CL_DEVICE_MAX_COMPUTE_UNITS));
    d->max_threads = as_int(number(cl, device, GT_CL_DEVICE_MAX_WORK_GROUP_SIZE));
    d->clock_mhz = as_int(number(cl, device, GT_CL_DEVICE_MAX_CLOCK_FREQUENCY));
    d->mem_bytes = large(number(cl, device, GT_CL_DEVICE_GLOBAL_MEM_SIZE));
    d->max_alloc = large(number(cl, device, GT_CL_DEVICE_MAX_MEM_ALLOC_SIZE));
    d->l2_bytes = large(number(cl, device, GT_CL_DEVICE_GLOBAL_MEM_CACHE_SIZE));
    d->smem_max = large(number(cl, device, GT_CL_DEVICE_LOCAL_MEM_SIZE));
    fill_extras(d, cl, device);
    if (!number(cl, device, GT_CL_DEVICE_AVAILABLE))
        snprintf(d->trouble, sizeof d->trouble,
                 "the OpenCL driver says it is not available");
    else if (!number(cl, device, GT_CL_DEVICE_COMPILER_AVAILABLE))
        snprintf(d->trouble, sizeof d->trouble, "its OpenCL driver has no compiler");
    else
        fill_compiler(d, cl, platform);
}

/* ---- all devices --------------------------------------------------------------------- */

/* Called for each device; true ends the walk. */
typedef bool visitor(void *user, int ordinal, cl_platform_id platform, cl_device_id device);

static gt_status walk_platform(bool *done, int *ordinal, const struct gt_opencl *cl,
                               cl_platform_id platform, visitor *visit, void *user,
                               struct gt_err *err) {
    cl_uint count = 0;
    cl_int result = cl->clGetDeviceIDs(platform, GT_CL_DEVICE_TYPE_ALL, 0, NULL, &count);
    if (result != GT_CL_SUCCESS || count == 0)
        return GEMMTUNE_OK; /* no devices, or a broken driver: the platform offers none */
    cl_device_id *devices = calloc(count, sizeof(cl_device_id));
    if (!devices)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %u devices", (unsigned)count);
    result = cl->clGetDeviceIDs(platform, GT_CL_DEVICE_TYPE_ALL, count, devices, NULL);
    for (cl_uint i = 0; result == GT_CL_SUCCESS && i < count && !*done; i++)
        *done = visit(user, (*ordinal)++, platform, devices[i]);
    free(devices);
    return GEMMTUNE_OK;
}

static gt_status walk(const struct gt_opencl *cl, visitor *visit, void *user,
                      struct gt_err *err) {
    cl_uint count = 0;
    if (cl->clGetPlatformIDs(0, NULL, &count) != GT_CL_SUCCESS || count == 0)
        return GEMMTUNE_OK; /* a loader without platforms returns an error */
    cl_platform_id *platforms = calloc(count, sizeof(cl_platform_id));
    if (!platforms)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for %u platforms", (unsigned)count);
    gt_status status = GEMMTUNE_OK;
    const cl_int result = cl->clGetPlatformIDs(count, platforms, NULL);
    if (result != GT_CL_SUCCESS)
        status = gt_opencl_fail(err, "clGetPlatformIDs", result);
    bool done = false;
    int ordinal = 0;
    for (cl_uint i = 0; status == GEMMTUNE_OK && i < count && !done; i++)
        status = walk_platform(&done, &ordinal, cl, platforms[i], visit, user, err);
    free(platforms);
    return status;
}

struct report {
    const struct gt_opencl *cl;
    void (*fn)(void *user, const struct gt_device *d);
    void *user;
    int count;
};

static bool report_device(void *user, int ordinal, cl_platform_id platform,
                          cl_device_id device) {
    struct report *r = user;
    struct gt_device d;
    fill_device(&d, r->cl, ordinal, platform, device);
    r->fn(r->user, &d);
    r->count++;
    return false;
}

gt_status gt_opencl_enumerate(void (*fn)(void *user, const struct gt_device *d), void *user,
                              char missing[GT_MISSING_MAX], struct gt_err *err) {
    missing[0] = '\0';
    struct gt_err why;
    const struct gt_opencl *cl = gt_opencl_api(&why);
    if (!cl) {
        snprintf(missing, 512, "%.511s", why.line);
        return GEMMTUNE_OK;
    }
    struct report r = {.cl = cl, .fn = fn, .user = user};
    const gt_status status = walk(cl, report_device, &r, err);
    if (status == GEMMTUNE_OK && r.count == 0)
        snprintf(missing, 512, "OpenCL is installed but no platform of it has a device");
    return status;
}

struct search {
    int ordinal;         /* the one to find; or -1, and */
    cl_device_id device; /* this device */
    bool found;
    int found_ordinal;
    cl_platform_id platform;
};

static bool find_device(void *user, int ordinal, cl_platform_id platform,
                        cl_device_id device) {
    struct search *s = user;
    s->found = s->ordinal >= 0 ? s->ordinal == ordinal : s->device == device;
    if (s->found) {
        s->found_ordinal = ordinal;
        s->platform = platform;
        s->device = device;
    }
    return s->found;
}

gt_status gt_opencl_device(cl_platform_id *platform, cl_device_id *device, int ordinal,
                           struct gt_err *err) {
    const struct gt_opencl *cl = gt_opencl_api(err);
    if (!cl)
        return GEMMTUNE_ENODRIVER;
    struct search s = {.ordinal = ordinal < 0 ? INT32_MAX : ordinal};
    const gt_status status = walk(cl, find_device, &s, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (!s.found)
        return gt_fail(err, GEMMTUNE_ENODRIVER, "there is no OpenCL device %d", ordinal);
    *platform = s.platform;
    *device = s.device;
    return GEMMTUNE_OK;
}

gt_status gt_opencl_describe(struct gt_device *out, const struct gt_opencl *cl,
                             cl_device_id device, struct gt_err *err) {
    cl_platform_id platform = NULL;
    const cl_int result = cl->clGetDeviceInfo(device, GT_CL_DEVICE_PLATFORM,
                                              sizeof(cl_platform_id), &platform, NULL);
    if (result != GT_CL_SUCCESS)
        return gt_opencl_fail(err, "clGetDeviceInfo", result);
    struct search s = {.ordinal = -1, .device = device};
    const gt_status status = walk(cl, find_device, &s, err);
    if (status == GEMMTUNE_OK)
        fill_device(out, cl, s.found ? s.found_ordinal : 0, platform, device);
    return status;
}
