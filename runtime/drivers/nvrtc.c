/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/drivers/nvrtc.h"

#include "runtime/drivers/driver_util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which library, which architecture ---- */

static bool knows_arch(const struct gt_nvrtc *lib, int cc) {
    for (int i = 0; i < lib->arch_count; i++)
        if (lib->arch[i] == cc)
            return true;
    return false;
}

/* The newest architecture of the library that is older than cc and has its major version;
 * else 0. */
static int stand_in(const struct gt_nvrtc *lib, int cc) {
    int best = 0;
    for (int i = 0; i < lib->arch_count; i++)
        if (lib->arch[i] < cc && lib->arch[i] / 10 == cc / 10 && lib->arch[i] > best)
            best = lib->arch[i];
    return best;
}

/* wgmma, setmaxnreg and tcgen05 exist only under the architecture-specific name. */
static bool has_specific_name(int cc) {
    return cc == 90 || cc == 100 || cc == 103 || cc == 110 || cc == 120 || cc == 121;
}

/* Fails with the thing that is missing for cc, in one sentence. */
static gt_status nothing_serves(const struct gt_nvrtcs *all, int cc, struct gt_err *err) {
    if (all->count == 0)
        return gt_fail(err, GEMMTUNE_EBUILD,
                       "no CUDA compiler: libnvrtc %.220s; install "
                       "package nvidia-cuda-nvrtc from PyPI or the CUDA toolkit, or set "
                       "GEMMTUNE_LIBNVRTC to its path",
                       all->why);
    const struct gt_nvrtc *lib = &all->lib[0];
    int oldest = lib->arch[0];
    for (int i = 1; i < lib->arch_count; i++)
        if (lib->arch[i] < oldest)
            oldest = lib->arch[i];
    if (cc >= oldest)
        return gt_fail(err, GEMMTUNE_EBUILD,
                       "sm_%d needs a newer NVRTC than %d.%d, the newest found here", cc,
                       lib->major, lib->minor);
    /* CUDA 13 dropped Maxwell, Pascal and Volta; 12 dropped Kepler. */
    if (cc < 50)
        return gt_fail(err, GEMMTUNE_EBUILD,
                       "sm_%d is older than gemmtune serves: it starts at sm_50", cc);
    return gt_fail(
        err, GEMMTUNE_EBUILD,
        "sm_%d needs NVRTC 12.9 or older (package nvidia-cuda-nvrtc-cu12 on PyPI, or "
        "CUDA 12.9): NVRTC %d.%d, the newest found here, starts at sm_%d",
        cc, lib->major, lib->minor, oldest);
}

gt_status gt_nvrtc_choose(struct gt_nvrtc_choice *out, int cc, struct gt_err *err) {
    const struct gt_nvrtcs *all = gt_nvrtc_api();
    *out = (struct gt_nvrtc_choice){.lib = NULL};
    for (int i = 0; i < all->count && !out->lib; i++)
        if (knows_arch(&all->lib[i], cc))
            out->lib = &all->lib[i];
    if (out->lib) {
        snprintf(out->arch, sizeof out->arch, "sm_%d%s", cc,
                 has_specific_name(cc) ? "a" : "");
        return GEMMTUNE_OK;
    }
    for (int i = 0; i < all->count; i++) {
        const int older = stand_in(&all->lib[i], cc);
        if (!older)
            continue;
        out->lib = &all->lib[i];
        snprintf(out->arch, sizeof out->arch, "sm_%d", older);
        return GEMMTUNE_OK;
    }
    return nothing_serves(all, cc, err);
}

gt_status gt_nvrtc_choose_ptx(struct gt_nvrtc_choice *out, int cc, struct gt_err *err) {
    if (has_specific_name(cc))
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED,
                       "PTX for sm_%d runs on sm_%d alone, as its images do", cc, cc);
    const gt_status status = gt_nvrtc_choose(out, cc, err);
    if (status == GEMMTUNE_OK) /* "sm_86", also where it stands in for a later one */
        snprintf(out->arch, sizeof out->arch, "compute_%d", atoi(out->arch + 3));
    return status;
}

/* ---- options ---- */

/* Everything but the architecture. No fast math: it changes denormals and division. */
static const char *const fixed_options[] = {
    "--std=c++17",
    "--ptxas-options=-v", /* puts registers, spills and shared memory into the log */
    "--fmad=true",
    /* Where a CUDA driver is installed, NVRTC has a cache of its own; a program from it
     * comes without ptxas's log. Last, because 12.8 and older have no cache and no such
     * option. */
    "--no-cache",
};
enum { FIXED_OPTIONS = sizeof fixed_options / sizeof *fixed_options };

static int fixed_option_count(const struct gt_nvrtc *lib) {
    const bool has_cache = lib->major > 12 || (lib->major == 12 && lib->minor >= 9);
    return has_cache ? FIXED_OPTIONS : FIXED_OPTIONS - 1;
}

void gt_nvrtc_name(const struct gt_nvrtc_choice *choice, char *out, size_t size) {
    snprintf(out, size, "NVRTC %d.%d", choice->lib->major, choice->lib->minor);
}

void gt_nvrtc_toolchain(const struct gt_nvrtc_choice *choice, char *out, size_t size) {
    int n = snprintf(out, size, "NVRTC %d.%d --gpu-architecture=%s", choice->lib->major,
                     choice->lib->minor, choice->arch);
    for (int i = 0; i < fixed_option_count(choice->lib) && n > 0 && (size_t)n < size; i++)
        n += snprintf(out + n, size - (size_t)n, " %s", fixed_options[i]);
}

/* ---- the log ---- */

/* Lines of ptxas -v and the note about old architectures: facts, not complaints. */
static bool is_chatter(const char *line) {
    return strncmp(line, "ptxas info", 10) == 0 || strncmp(line, "ptxas   ", 8) == 0 ||
           strncmp(line, "nvrtc: warning: Architectures prior", 35) == 0;
}

/* The number before `what` in [line, end), or -1. */
static int number_before(const char *line, const char *end, const char *what) {
    const size_t length = strlen(what);
    for (const char *p = line; p + length <= end; p++) {
        if (memcmp(p, what, length) != 0)
            continue;
        const char *digit = p;
        while (digit > line && digit[-1] >= '0' && digit[-1] <= '9')
            digit--;
        if (digit < p)
            return (int)strtol(digit, NULL, 10);
    }
    return -1;
}

static void raise_to(int *value, int seen) {
    if (seen > *value)
        *value = seen;
}

/* Reads one line of ptxas -v. Of several kernels in a source the largest number counts. */
static void read_chatter(struct gt_image *image, const char *line, const char *end) {
    const int registers = number_before(line, end, " registers");
    if (registers >= 0) {
        raise_to(&image->registers, registers);
        raise_to(&image->smem_bytes, 0); /* the line leaves out what is zero */
        raise_to(&image->smem_bytes, number_before(line, end, " bytes smem"));
    }
    raise_to(&image->spill_bytes, number_before(line, end, " bytes spill stores"));
    raise_to(&image->spill_bytes, number_before(line, end, " bytes spill loads"));
}

/* Takes the numbers out of a log, in place, and leaves the lines for people. */
static void read_log(struct gt_image *image) {
    char *to = image->log;
    for (const char *line = image->log; *line;) {
        const char *end = line + strcspn(line, "\n");
        const char *next = *end ? end + 1 : end;
        if (is_chatter(line)) {
            read_chatter(image, line, end);
        } else {
            memmove(to, line, (size_t)(next - line));
            to += next - line;
        }
        line = next;
    }
    while (to > image->log && (to[-1] == '\n' || to[-1] == ' '))
        to--;
    *to = '\0';
}

/* ---- compile ---- */

static gt_status fail_nvrtc(const struct gt_nvrtc *lib, const char *call,
                            gt_nvrtc_result result, struct gt_err *err) {
    const gt_status status =
        result == GT_NVRTC_OUT_OF_MEMORY ? GEMMTUNE_ENOMEM : GEMMTUNE_EBUILD;
    return gt_fail(err, status, "%s: %s", call, lib->nvrtcGetErrorString(result));
}

static gt_status take_log(struct gt_image *image, const struct gt_nvrtc *lib,
                          nvrtcProgram program, struct gt_err *err) {
    size_t size = 0; /* the NUL included */
    if (lib->nvrtcGetProgramLogSize(program, &size) != GT_NVRTC_SUCCESS || size < 2)
        return gt_image_log(image, "", 0, err);
    char *text = malloc(size + 1);
    if (!text)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for a build log");
    const bool taken = lib->nvrtcGetProgramLog(program, text) == GT_NVRTC_SUCCESS;
    text[taken ? size : 0] = '\0';
    const gt_status status = gt_image_log(image, text, strlen(text), err);
    free(text);
    if (status == GEMMTUNE_OK)
        read_log(image);
    return status;
}

/* A virtual architecture has PTX, and no cubin. */
static bool makes_ptx(const struct gt_nvrtc_choice *choice) {
    return strncmp(choice->arch, "compute_", 8) == 0;
}

static gt_status take_image(struct gt_image *image, const struct gt_nvrtc_choice *choice,
                            nvrtcProgram program, struct gt_err *err) {
    const struct gt_nvrtc *lib = choice->lib;
    const bool ptx = makes_ptx(choice);
    size_t size = 0;
    gt_nvrtc_result result =
        ptx ? lib->nvrtcGetPTXSize(program, &size) : lib->nvrtcGetCUBINSize(program, &size);
    if (result != GT_NVRTC_SUCCESS)
        return fail_nvrtc(lib, ptx ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize", result, err);
    if (size == 0)
        return gt_fail(err, GEMMTUNE_EBUILD, "NVRTC made no image");
    image->bytes = malloc(size);
    if (!image->bytes)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory for an image");
    result = ptx ? lib->nvrtcGetPTX(program, image->bytes)
                 : lib->nvrtcGetCUBIN(program, image->bytes);
    if (result != GT_NVRTC_SUCCESS)
        return fail_nvrtc(lib, ptx ? "nvrtcGetPTX" : "nvrtcGetCUBIN", result, err);
    image->size = size;
    return GEMMTUNE_OK;
}

gt_status gt_nvrtc_build(struct gt_image *image, const struct gt_nvrtc_choice *choice,
                         const char *source, struct gt_err *err) {
    const struct gt_nvrtc *lib = choice->lib;
    char arch_option[48];
    snprintf(arch_option, sizeof arch_option, "--gpu-architecture=%s", choice->arch);
    const char *options[FIXED_OPTIONS + 1] = {arch_option};
    memcpy(options + 1, fixed_options, sizeof fixed_options);

    nvrtcProgram program = NULL;
    gt_nvrtc_result result =
        lib->nvrtcCreateProgram(&program, source, "gemmtune.cu", 0, NULL, NULL);
    if (result != GT_NVRTC_SUCCESS)
        return fail_nvrtc(lib, "nvrtcCreateProgram", result, err);

    result = lib->nvrtcCompileProgram(program, 1 + fixed_option_count(lib), options);
    gt_status status = take_log(image, lib, program, err);
    if (status != GEMMTUNE_OK)
        goto done;
    if (result == GT_NVRTC_SUCCESS) {
        status = take_image(image, choice, program, err);
    } else if (result == GT_NVRTC_OUT_OF_MEMORY || !image->log[0]) {
        status = fail_nvrtc(lib, "nvrtcCompileProgram", result, err);
    } else {
        char complaint[400];
        gt_first_complaint(complaint, sizeof complaint, image->log);
        status = gt_fail(err, GEMMTUNE_EBUILD, "%s", complaint);
    }
done:
    (void)lib->nvrtcDestroyProgram(&program);
    return status;
}
