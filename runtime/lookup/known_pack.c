/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_pack.c - a snapshot's array as bytes: an entry for each kernel, then the texts in
 * which it differs from the kernel before. It knows no file.
 *
 * A reader believes nothing: problems are parsed from their names again, and a value is a
 * place in its parameter's domain.
 */
#include "runtime/lookup/known.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A kernel, as it lies in memory. A byte follows for each of its values, then the problem's
 * name and the device's key. */
struct entry {
    double median_ns;
    int64_t tile[2];
    int32_t rank;
    uint16_t family; /* its place in the list of families */
    uint16_t verified;
    uint16_t problem_size, key_size; /* with the NUL; 0: the entry before has the same */
    uint32_t unused;
};
_Static_assert(sizeof(struct entry) == 8 + 16 + 4 + 4 * 2 + 4, "no padding");
_Static_assert(GT_VALUES_MAX <= 256, "a place in a domain fits a byte");

/* ---- reading ------------------------------------------------------------------------- */

struct cursor {
    const char *at;
    size_t left;
};

static bool take(void *to, struct cursor *c, size_t size) {
    if (size > c->left)
        return false;
    memcpy(to, c->at, size);
    c->at += size;
    c->left -= size;
    return true;
}

/* A text with its NUL. */
static bool take_text(char *to, size_t room, struct cursor *c, size_t size) {
    return size > 0 && size <= room && take(to, c, size) && to[size - 1] == '\0' &&
           strlen(to) == size - 1;
}

static bool take_values(struct gt_known *k, struct cursor *c) {
    const struct gt_family *f = k->family;
    unsigned char at[GT_POINT_MAX];
    if (!take(at, c, (size_t)f->param_count))
        return false;
    for (int i = 0; i < f->param_count; i++) {
        if (at[i] >= f->param[i].count)
            return false;
        k->values[i] = f->param[i].value[at[i]];
    }
    return true;
}

/* `before` is the kernel before, NULL for the first one. */
static bool take_problem(struct gt_known *k, struct cursor *c,
                         const struct gt_known *before, size_t size) {
    if (size > 0)
        return take_text(k->problem_name, sizeof k->problem_name, c, size) &&
               gt_problem_from_name(&k->problem, k->problem_name, NULL) == GEMMTUNE_OK;
    if (before == NULL)
        return false;
    k->problem = before->problem;
    memcpy(k->problem_name, before->problem_name, sizeof k->problem_name);
    return true;
}

static bool take_key(struct gt_known *k, struct cursor *c, const struct gt_known *before,
                     size_t size) {
    if (size > 0)
        return take_text(k->device_key, sizeof k->device_key, c, size);
    if (before == NULL)
        return false;
    memcpy(k->device_key, before->device_key, sizeof k->device_key);
    return true;
}

/* *k is all zeros. */
static bool take_known(struct gt_known *k, struct cursor *c, const struct gt_known *before,
                       const struct gt_families *families, const char *arch) {
    struct entry e;
    if (!take(&e, c, sizeof e) || strlen(arch) >= sizeof k->arch ||
        !(isfinite(e.median_ns) && e.median_ns >= 0))
        return false;
    k->family = gt_families_at(families, e.family);
    k->rank = e.rank;
    k->verified = e.verified != 0;
    k->median_ns = e.median_ns;
    memcpy(k->tile, e.tile, sizeof k->tile);
    memcpy(k->arch, arch, strlen(arch) + 1);
    return k->family != NULL && take_values(k, c) &&
           take_problem(k, c, before, e.problem_size) && take_key(k, c, before, e.key_size);
}

bool gt_known_unpack(struct gt_known **out, size_t count, const char *bytes, size_t size,
                     const struct gt_families *families, const char *arch) {
    struct cursor c = {bytes, size};
    *out = NULL;
    if (count > size / sizeof(struct entry))
        return false;
    struct gt_known *known = calloc(count + 1, sizeof *known); /* never of 0 bytes */
    bool good = known != NULL;
    for (size_t i = 0; i < count && good; i++)
        good = take_known(&known[i], &c, i > 0 ? &known[i - 1] : NULL, families, arch);
    good = good && c.left == 0;
    if (good) {
        *out = known;
        known = NULL;
    }
    free(known);
    return good;
}

/* ---- writing ------------------------------------------------------------------------- */

/* Bytes that are being written. */
struct bytes {
    char *at;
    size_t size, room;
};

/* The most that an entry takes. */
static const size_t entry_max =
    sizeof(struct entry) + GT_POINT_MAX + GT_PROBLEM_NAME_MAX + GT_DEVICE_KEY_MAX;

/* Makes room for one more entry; false when there is no memory. */
static bool make_room(struct bytes *b) {
    if (b->room - b->size >= entry_max)
        return true;
    const size_t room = 2 * b->room + entry_max;
    char *grown = realloc(b->at, room);
    if (grown == NULL)
        return false;
    b->at = grown;
    b->room = room;
    return true;
}

static void put(struct bytes *b, const void *from, size_t size) {
    memcpy(b->at + b->size, from, size);
    b->size += size;
}

/* Bytes of a text with its NUL; 0 when the entry before has the same text. */
static uint16_t text_size(const char *text, const char *before) {
    return before != NULL && strcmp(text, before) == 0 ? 0 : (uint16_t)(strlen(text) + 1);
}

static uint16_t place_of(const struct gt_families *families, const struct gt_family *f) {
    uint16_t i = 0;
    while (gt_families_at(families, i) != f)
        i++;
    return i;
}

static void put_values(struct bytes *b, const struct gt_known *k) {
    for (int i = 0; i < k->family->param_count; i++) {
        const struct gt_param *param = &k->family->param[i];
        unsigned char place = 0;
        while (place < param->count && param->value[place] != k->values[i])
            place++;
        put(b, &place, 1);
    }
}

static void put_known(struct bytes *b, const struct gt_known *k,
                      const struct gt_known *before, const struct gt_families *families) {
    const struct entry e = {
        .median_ns = k->median_ns,
        .tile = {k->tile[0], k->tile[1]},
        .rank = k->rank,
        .family = place_of(families, k->family),
        .verified = k->verified,
        .problem_size = text_size(k->problem_name, before ? before->problem_name : NULL),
        .key_size = text_size(k->device_key, before ? before->device_key : NULL),
    };
    put(b, &e, sizeof e);
    put_values(b, k);
    put(b, k->problem_name, e.problem_size);
    put(b, k->device_key, e.key_size);
}

bool gt_known_pack(char **out, size_t *size, size_t head, const struct gt_known *known,
                   size_t count, const struct gt_families *families) {
    struct bytes b = {.at = malloc(head), .size = head, .room = head};
    bool good = b.at != NULL;
    for (size_t i = 0; i < count && good; i++) {
        good = make_room(&b);
        if (good)
            put_known(&b, &known[i], i > 0 ? &known[i - 1] : NULL, families);
    }
    if (good) {
        *out = b.at;
        *size = b.size;
        b.at = NULL;
    }
    free(b.at);
    return good;
}
