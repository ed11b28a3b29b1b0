/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c - see tree.h. This file stands in for core/embed.c. */
#include "tools/tree.h"

#include "core/embed.h"
#include "runtime/family/family_inside.h"
#include "runtime/family/template_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

/* A part by the path that a program with built-in templates knows it by. */
struct part {
    char path[64];
    char *text;
};

struct gt_tree {
    struct part part[GT_PARTS_MAX];
    struct gt_embedded list[GT_PARTS_MAX + 1]; /* the parts that are there */
    struct gt_families *families;
};

const struct gt_embedded gt_embedded_templates[] = {{NULL, NULL}};
const struct gt_family *const gt_families_built_in[] = {NULL};
static _Thread_local const struct gt_tree *used;

const char *gt_embedded_text(const struct gt_embedded *list, const char *path) {
    if (list == gt_embedded_templates && used != NULL)
        list = used->list;
    while (list->path != NULL && strcmp(list->path, path) != 0)
        list++;
    return list->text;
}

void gt_tree_use(const struct gt_tree *t) {
    used = t;
}

const struct gt_families *gt_tree_families(const struct gt_tree *t) {
    return t->families;
}

void gt_tree_close(struct gt_tree *t) {
    if (t == NULL)
        return;
    if (used == t)
        used = NULL;
    gt_families_destroy(t->families);
    for (int i = 0; i < GT_PARTS_MAX; i++)
        free(t->part[i].text);
    free(t);
}

/* A tree of another day may lack a part: no family of it uses the part then. */
static gt_status read_parts(struct gt_tree *t, const char *folder, struct gt_err *err) {
    int count = 0;
    for (int i = 0; gt_part_name(i) != NULL; i++) {
        char path[PATH_SIZE];
        struct part *p = &t->part[count];
        (void)snprintf(path, sizeof path, "%s/common/%s.h", folder, gt_part_name(i));
        (void)snprintf(p->path, sizeof p->path, "templates/common/%s.h", gt_part_name(i));
        const gt_status status = gt_template_read(&p->text, path, err);
        if (status != GEMMTUNE_OK && status != GEMMTUNE_ENOTFOUND)
            return status;
        if (status == GEMMTUNE_OK)
            t->list[count++] = (struct gt_embedded){p->path, p->text};
    }
    return GEMMTUNE_OK;
}

gt_status gt_tree_open(struct gt_tree **out, const char *folder, struct gt_err *err) {
    struct gt_tree *t = calloc(1, sizeof *t);
    *out = NULL;
    if (t == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    gt_status status = read_parts(t, folder, err);
    gt_tree_use(t);
    if (status == GEMMTUNE_OK)
        status = gt_families_create(&t->families, err);
    if (status == GEMMTUNE_OK)
        status = gt_families_add_sound(t->families, folder, GEMMTUNE_LOG_ERROR, err);
    if (status == GEMMTUNE_OK)
        *out = t;
    else
        gt_tree_close(t);
    return status;
}
