/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.c - `gemmtune cache stat|clear`: the compiled images, which may be deleted at any
 * time.
 */
#include "tuner/cmd/common.h"

#include "runtime/drivers/cache.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { FOLDER_SIZE = 4096 };

struct values {
    struct gt_format format;
};

static const struct gt_option options[] = {
    GT_OPTION_JSON(struct values),
    GT_OPTION_END,
};

static int print_stat(const struct gt_format *format) {
    char folder[FOLDER_SIZE] = "", buf[GT_CELL_MAX], limit[GT_CELL_MAX];
    const double most = (double)gt_cache_max();
    int64_t images = 0, bytes = 0;
    struct gt_err err = {""};
    bool first = true;
    const gt_status status = gt_cache_stat(folder, sizeof folder, &images, &bytes, &err);
    if (status != GEMMTUNE_OK)
        return gt_die(GT_EXIT_FAILURE, "%s", err.line);
    if (!format->json) {
        printf("folder  %s\nimages  %" PRId64 "\nsize    %s\nlimit   %s\n",
               folder[0] != '\0' ? folder : "none: images are not kept", images,
               gt_show_bytes(buf, (double)bytes),
               most > 0 ? gt_show_bytes(limit, most) : "none");
        return GT_EXIT_OK;
    }
    (void)fputs("{", stdout);
    gt_json_text(&first, "folder", folder[0] != '\0' ? folder : NULL);
    gt_json_number(&first, "images", (double)images);
    gt_json_number(&first, "bytes", (double)bytes);
    gt_json_number(&first, "limit_bytes", most > 0 ? most : NAN);
    (void)fputs("}\n", stdout);
    return GT_EXIT_OK;
}

static int clear(const struct gt_format *format) {
    int64_t removed = 0;
    struct gt_err err = {""};
    if (gt_cache_clear(&removed, &err) != GEMMTUNE_OK)
        return gt_die(GT_EXIT_FAILURE, "%s", err.line);
    printf(format->json ? "{\"removed\": %" PRId64 "}\n" : "removed %" PRId64 " image%s\n",
           removed, gt_text_plural(removed));
    return GT_EXIT_OK;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    static const struct {
        const char *word;
        int (*act)(const struct gt_format *format);
    } actions[] = {{"stat", print_stat}, {"clear", clear}};
    struct values v = {.format = {.json = false}};
    int first;
    const int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 0, 1, &first);
    if (code >= 0)
        return code;
    if (first == argc)
        return print_stat(&v.format);
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(argv[first], actions[i].word) == 0)
            return actions[i].act(&v.format);
    return gt_die(GT_EXIT_USAGE, "cache: '%s' is neither stat nor clear", argv[first]);
}

const struct gt_cmd gt_cmd_cache = {
    .name = "cache",
    .operands = "[stat|clear]",
    .about = "Show or empty the cache of compiled kernels.",
    .options = options,
    .run = run,
};
