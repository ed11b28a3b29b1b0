/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed.h - text files compiled into the program by tools/embed at build time.
 */
#ifndef GT_CORE_EMBED_H
#define GT_CORE_EMBED_H

struct gt_embedded {
    /* as given to tools/embed: "templates/tile/space.json"; NULL ends a list */
    const char *path;
    const char *text; /* NUL-terminated */
};

/* The text of the file that has this path in the list; NULL when none has. */
const char *gt_embedded_text(const struct gt_embedded *list, const char *path);

/* build/gen/templates.c: templates/common/, templates/<family>/ and the library's own
 * kernels in runtime/kernels/, sorted by path */
extern const struct gt_embedded gt_embedded_templates[];
/* build/gen/published.c: db/published/, sorted by path */
extern const struct gt_embedded gt_embedded_published[];
/* build/gen/devices.c: the descriptions of devices/, sorted by path */
extern const struct gt_embedded gt_embedded_devices[];
/* build/gen/seeds.c: tuner/tune/seeds/ */
extern const struct gt_embedded gt_embedded_seeds[];
/* build/gen/kernels.c: the program's own kernels, for checks in tuner/lab/kernels/ and for
 * comparisons in tuner/bench/kernels/ */
extern const struct gt_embedded gt_embedded_kernels[];
/* build/gen/page.c: the style and the script of a report, in tuner/cmd/page/ */
extern const struct gt_embedded gt_embedded_page[];
/* build/gen/emitted.c: the files that every emitted folder has, tuner/emit/out/ and the
 * licence */
extern const struct gt_embedded gt_embedded_emitted[];

#endif
