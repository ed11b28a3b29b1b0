/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_pick.c - finds the two devices for `gemmtune compare`. It looks in this order:
 * databases, device files of the command line, built-in device files by file name,
 * published figures, built-in device files by device name.
 */
#include "tuner/cmd/compare.h"

#include "core/text.h"

#include <string.h>

static void describe(struct gt_compare_side *s, const struct gt_device *d,
                     const char *file) {
    s->device = *d;
    s->described = true;
    (void)snprintf(s->file, sizeof s->file, "%s", file);
}

/* ---- published figures ---- */

/* Whether `published`, a publication's name for a device, means the device called `name`.
 * Vendors sell several chips under one name: for a publication, "GTX 1050 (3 GB)" is a GTX
 * 1050. */
static bool is_called(const char *name, const char *published) {
    char head[128];
    (void)snprintf(head, sizeof head, "%.*s", (int)strcspn(name, "("), name);
    for (size_t len = strlen(head); len > 0 && head[len - 1] == ' '; len--)
        head[len - 1] = '\0';
    return gt_text_same(name, published) || gt_text_same(head, published);
}

static void find_published(struct gt_compare_side *s, const struct gt_published *p) {
    for (size_t i = 0; s->published == NULL && i < p->count; i++)
        if (is_called(s->name, p->row[i].device))
            s->published = p->row[i].device;
}

/* Finds the published device called `what`, or the only one with `what` in its name. *out
 * is NULL when there is none. */
static gt_status pick_published(const char **out, const struct gt_published *p,
                                const char *what, struct gt_err *err) {
    *out = NULL;
    for (size_t i = 0; i < p->count; i++) {
        const char *name = p->row[i].device;
        if (gt_text_same(name, what)) {
            *out = name;
            return GEMMTUNE_OK;
        }
        if (!gt_text_holds(name, what) || (*out != NULL && strcmp(*out, name) == 0))
            continue;
        if (*out != NULL)
            return gt_fail(err, GEMMTUNE_EINVAL, "'%.60s' fits several devices: %s, %s",
                           what, *out, name);
        *out = name;
    }
    return GEMMTUNE_OK;
}

/* ---- device files ---- */

/* Takes a device file of the command line that has the path `what` or a device with `what`
 * in its name. */
static bool take_file(struct gt_compare_side *s, struct gt_comparison *c,
                      const char *what) {
    for (int i = 0; i < c->file_count; i++) {
        struct gt_compare_file *f = &c->file[i];
        if (!gt_text_holds(f->device.name, what) && strcmp(f->path, what) != 0)
            continue;
        f->used = true;
        describe(s, &f->device, "");
        (void)snprintf(s->name, sizeof s->name, "%s", f->device.name);
        return true;
    }
    return false;
}

/* Takes the built-in device file that `fits` by file name or by device name, if only one
 * does. Returns how many fit. */
static int take_built_in(struct gt_compare_side *s, const char *what, bool by_file,
                         bool (*fits)(const char *text, const char *what)) {
    struct gt_device d;
    char file[GT_NAME_MAX];
    int count = 0;
    for (size_t i = 0; gt_describe_at(&d, file, i); i++)
        if (fits(by_file ? file : d.name, what) && count++ == 0)
            describe(s, &d, file);
    return count;
}

/* ---- one device ---- */

enum { LIST_MAX = 768 };

/* Whether a list with commas has the name. A part of another name is no name: h200 is one
 * beside nvidia-h200-07f5ae3c. */
static bool has_name(const char *list, const char *name) {
    const size_t len = strlen(name);
    for (size_t of; *list != '\0'; list += of + strspn(list + of, ", ")) {
        of = strcspn(list, ",");
        if (of == len && memcmp(list, name, len) == 0)
            return true;
    }
    return false;
}

/* Adds a name to a list with commas, unless it is there. */
static int put_name(char list[LIST_MAX], int len, const char *name) {
    if (has_name(list, name))
        return len;
    len = gt_text_put(list, LIST_MAX, len, len > 0 ? ", " : "");
    return gt_text_put(list, LIST_MAX, len, name);
}

/* Names every device that there is. */
static gt_status unknown(const struct gt_comparison *c, const char *what,
                         struct gt_err *err) {
    struct gt_device d;
    char list[LIST_MAX] = "", file[GT_NAME_MAX];
    int len = 0;
    for (size_t i = 0; i < c->view.device_count; i++)
        len = put_name(list, len, c->view.device[i].key);
    for (size_t i = 0; gt_describe_at(&d, file, i); i++)
        len = put_name(list, len, file);
    for (size_t i = 0; i < c->published.count; i++)
        len = put_name(list, len, c->published.row[i].device);
    return gt_fail(err, GEMMTUNE_EINVAL, "no device '%.60s'; there are %s", what, list);
}

static gt_status pick_elsewhere(struct gt_compare_side *s, struct gt_comparison *c,
                                const char *what, struct gt_err *err) {
    const char *published = NULL;
    if (take_file(s, c, what) || take_built_in(s, what, true, gt_text_same) == 1) {
        (void)snprintf(s->name, sizeof s->name, "%s", s->device.name);
        return GEMMTUNE_OK;
    }
    const gt_status status = pick_published(&published, &c->published, what, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (published != NULL) {
        (void)snprintf(s->name, sizeof s->name, "%s", published);
        (void)take_built_in(s, published, false, gt_text_same);
        return GEMMTUNE_OK;
    }
    const int count = take_built_in(s, what, false, gt_text_holds);
    if (count > 1)
        return gt_fail(err, GEMMTUNE_EINVAL,
                       "'%.60s' fits several built-in device files; name one of them, as "
                       "%s",
                       what, s->file);
    if (count == 0)
        return unknown(c, what, err);
    (void)snprintf(s->name, sizeof s->name, "%s", s->device.name);
    return GEMMTUNE_OK;
}

static gt_status pick(struct gt_compare_side *s, struct gt_comparison *c, const char *what,
                      struct gt_err *err) {
    size_t index;
    *s = (struct gt_compare_side){.key = NULL};
    gt_status status = gt_view_pick(&index, &c->view, what, err);
    if (status == GEMMTUNE_OK) {
        const struct gt_view_device *d = &c->view.device[index];
        s->key = d->key;
        (void)snprintf(s->name, sizeof s->name, "%s", d->device.name);
        describe(s, &d->device, "");
    } else if (status == GEMMTUNE_ENOTFOUND) {
        status = pick_elsewhere(s, c, what, err);
    }
    if (status == GEMMTUNE_OK)
        find_published(s, &c->published);
    return status;
}

/* Names alone do not tell: two GPUs of one model have the same, and a file may describe a
 * device that another one describes otherwise. */
static bool are_one(const struct gt_compare_side *a, const struct gt_compare_side *b) {
    if (a->key != NULL && b->key != NULL)
        return strcmp(a->key, b->key) == 0;
    return a->key == b->key && strcmp(a->name, b->name) == 0 &&
           strcmp(a->file, b->file) == 0 &&
           memcmp(&a->device, &b->device, sizeof a->device) == 0;
}

gt_status gt_compare_pick(struct gt_comparison *c, char **names, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; status == GEMMTUNE_OK && i < 2; i++)
        status = pick(&c->side[i], c, names[i], err);
    if (status == GEMMTUNE_OK && are_one(&c->side[0], &c->side[1]))
        status = gt_fail(err, GEMMTUNE_EINVAL, "'%.60s' and '%.60s' are one device: %s",
                         names[0], names[1], c->side[0].name);
    for (int i = 0; status == GEMMTUNE_OK && i < c->file_count; i++)
        if (!c->file[i].used)
            status = gt_fail(err, GEMMTUNE_EINVAL,
                             "%s: %s is neither of the two, or a database knows it",
                             c->file[i].path, c->file[i].device.name);
    return status;
}

const char *gt_compare_short_name(const char *name) {
    const char *const heads[] = {"NVIDIA ", "GeForce "};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (strncmp(name, heads[i], strlen(heads[i])) == 0)
            name += strlen(heads[i]);
    return name;
}
