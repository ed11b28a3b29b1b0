/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prelude.c - the texts under templates/ that are compiled in, and the parts of
 * templates/common/. A family's source has the parts that it uses, and its hash covers
 * them: an edit of one part outdates the families that use it.
 */
#include "runtime/family/family_inside.h"

#include "core/embed.h"

#include <stdio.h>
#include <string.h>

enum part {
    DIALECT,
    TYPES,
    EPILOGUE,
    VECTORS,
    OPERANDS,
    SLABS,
    COPIES,
    SLAB_COPIES,
    PATCHES,
    CLUSTERS,
    REDUCE,
    TILES,
    PACK,
    BARRIERS,
    BULK_COPIES,
    BYTES,
    FRAGMENTS,
    DOUBLES,
    BYTE_TILES,
    WARP_TILES,
    REPACK,
    RING,
    SHARES,
    TENSOR_COPIES,
    ELECTED,
    WARPGROUPS,
    MAINLOOP,
    ALONG,
    ACROSS,
    RESIDUES,
    SPLIT,
    POINTERS,
    WALK,
    BATCH,
    DOTS,
    SUBGROUPS,
    PART_COUNT
};

#define BIT(part) (UINT64_C(1) << (part))

/* In the order of parts in a source: each part needs only parts above it. */
static const struct {
    const char *name;
    uint64_t needs; /* bits */
} parts[PART_COUNT] = {
    [DIALECT] = {"dialect", 0}, /* these two are in every source */
    [TYPES] = {"types", 0},
    [EPILOGUE] = {"epilogue", 0}, /* and this one in texts of problems with an epilogue */
    [VECTORS] = {"vectors", 0},
    [OPERANDS] = {"operands", BIT(VECTORS)},
    [SLABS] = {"slabs", BIT(VECTORS)},
    [COPIES] = {"copies", BIT(VECTORS)},
    [SLAB_COPIES] = {"slab_copies", BIT(VECTORS) | BIT(COPIES)},
    [PATCHES] = {"patches", BIT(VECTORS)},
    [CLUSTERS] = {"clusters", 0},
    [REDUCE] = {"reduce", BIT(VECTORS)},
    [TILES] = {"tiles", BIT(VECTORS)},
    [PACK] = {"pack", BIT(VECTORS)},
    [BARRIERS] = {"barriers", 0},
    [BULK_COPIES] = {"bulk_copies", 0},
    [BYTES] = {"bytes", 0},
    [FRAGMENTS] = {"fragments", 0},
    [DOUBLES] = {"doubles", BIT(VECTORS)},
    [BYTE_TILES] = {"byte_tiles", BIT(FRAGMENTS)},
    [WARP_TILES] = {"warp_tiles", BIT(FRAGMENTS) | BIT(DOUBLES)},
    [REPACK] = {"repack", BIT(BYTES)},
    [RING] = {"ring", BIT(BARRIERS)},
    [SHARES] = {"shares", BIT(VECTORS) | BIT(RING)},
    [TENSOR_COPIES] = {"tensor_copies", BIT(BULK_COPIES)},
    [ELECTED] = {"elected", 0},
    [WARPGROUPS] = {"warpgroups", 0},
    [MAINLOOP] = {"mainloop",
                  BIT(CLUSTERS) | BIT(RING) | BIT(BULK_COPIES) | BIT(WARPGROUPS)},
    [ALONG] = {"along", BIT(BYTES) | BIT(REPACK)},
    [ACROSS] = {"across", BIT(FRAGMENTS) | BIT(TENSOR_COPIES) | BIT(WARPGROUPS)},
    [RESIDUES] = {"residues", 0},
    [SPLIT] = {"split", BIT(BYTES)},
    [POINTERS] = {"pointers", 0},
    [WALK] = {"walk", 0},
    [DOTS] = {"dots", 0},
    [SUBGROUPS] = {"subgroups", 0},
    [BATCH] = {"batch", 0}, /* in texts of batches without strides or with epilogues */
};

_Static_assert((int)GT_PARTS_ALWAYS == (BIT(DIALECT) | BIT(TYPES)),
               "as family_inside.h says");
_Static_assert((int)PART_COUNT <= (int)GT_PARTS_MAX,
               "a family's set of parts has a bit for each");

const char *gt_template_text(const char *path) {
    return gt_embedded_text(gt_embedded_templates, path);
}

const char *gt_part_name(int i) {
    return i >= 0 && i < PART_COUNT ? parts[i].name : NULL;
}

const char *gt_part_text(int i) {
    char path[64];
    (void)snprintf(path, sizeof path, "templates/common/%s.h", parts[i].name);
    const char *text = gt_template_text(path);
    return text != NULL ? text : "";
}

uint64_t gt_part_bit(const char *name) {
    for (int i = 0; i < PART_COUNT; i++)
        if (strcmp(parts[i].name, name) == 0)
            return BIT(i);
    return 0;
}

uint64_t gt_parts_closed(uint64_t set) {
    set |= GT_PARTS_ALWAYS;
    for (int i = PART_COUNT - 1; i >= 0; i--)
        if ((set & BIT(i)) != 0)
            set |= parts[i].needs;
    return set & (BIT(PART_COUNT) - 1);
}
