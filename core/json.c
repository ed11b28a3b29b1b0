/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - documents: built, walked, read with types, and refused with a line and a path.
 *
 * The scanner (json_scan.h) checks first that the text is JSON, and counts its values.
 * cJSON then builds the strings and numbers. A second scan notes the line of each value.
 * Both walk the text in the same order, so value i of one is value i of the other. The
 * members of a container are stored side by side.
 */
#include "core/json.h"

#include "core/io.h"
#include "core/json_python.h"
#include "core/json_scan.h"
#include "core/text.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_LIMIT ((size_t)64 << 20) /* bytes of a file */

enum { PATH_MAX_BYTES = 240 }; /* of a path in a message; a longer one is cut */

struct value {
    const cJSON *item;
    const struct value *parent; /* NULL for the root */
    struct value *child;        /* the first of `count`, side by side */
    size_t count;
    int line;
};

struct gt_json {
    char *name; /* the file's name in messages */
    cJSON *tree;
    struct value *value; /* all of them, the root first */
};

/* ---- building --------------------------------------------------------------- */

struct builder {
    struct value *next; /* where the next container's members go */
    const int *line;    /* of the next value in the order of the text */
};

/* Fills in a value with its item and parent set, and all values inside it. */
static void build(struct value *v, struct builder *b) {
    v->line = *b->line++;
    for (const cJSON *item = v->item->child; item != NULL; item = item->next)
        v->count++;
    v->child = b->next;
    b->next += v->count;
    struct value *child = v->child;
    for (const cJSON *item = v->item->child; item != NULL; item = item->next) {
        *child = (struct value){.item = item, .parent = v};
        build(child++, b);
    }
}

static int compare_keys(const void *a, const void *b) {
    const struct value *const *x = a;
    const struct value *const *y = b;
    const int order = strcmp((*x)->item->string, (*y)->item->string);
    return order != 0 ? order : (*x > *y) - (*x < *y);
}

static bool same_key(const struct value *a, const struct value *b) {
    return strcmp(a->item->string, b->item->string) == 0;
}

/* The first member that repeats a key of the object before it, or NULL. `sorted` has the
 * object's members by key. */
static const struct value *find_repeated(const struct value *object,
                                         struct value *const *sorted) {
    const struct value *repeated = NULL;
    for (size_t i = 1; i < object->count; i++)
        if (same_key(sorted[i], sorted[i - 1]) &&
            (repeated == NULL || sorted[i] < repeated))
            repeated = sorted[i];
    return repeated;
}

/* Leaves the last member of each key. A member that moves takes its own members along. */
static void keep_last(struct value *object, struct value *const *sorted) {
    size_t kept = 0;
    for (size_t i = 1; i < object->count; i++)
        if (same_key(sorted[i - 1], sorted[i]))
            sorted[i - 1]->item = NULL;
    for (size_t i = 0; i < object->count; i++) {
        struct value *to = &object->child[kept];
        if (object->child[i].item == NULL)
            continue;
        *to = object->child[i];
        for (size_t j = 0; j < to->count; j++)
            to->child[j].parent = to;
        kept++;
    }
    for (size_t i = kept; i < object->count; i++)
        object->child[i] = (struct value){0};
    object->count = kept;
}

/* Several members of one key in an object: they are refused, or the last one counts. */
enum keys { KEYS_ONCE, KEYS_LAST };

static gt_status check_keys(const struct gt_json *doc, enum keys keys, size_t count,
                            struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    struct value **sorted = malloc(count * sizeof *sorted);
    if (sorted == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "%s: out of memory", doc->name);
    for (size_t i = 0; i < count && status == GEMMTUNE_OK; i++) {
        struct value *const object = &doc->value[i];
        if (!cJSON_IsObject(object->item))
            continue;
        for (size_t j = 0; j < object->count; j++)
            sorted[j] = &object->child[j];
        qsort(sorted, object->count, sizeof *sorted, compare_keys);
        const struct value *repeated = find_repeated(object, sorted);
        if (repeated != NULL && keys == KEYS_LAST)
            keep_last(object, sorted);
        else if (repeated != NULL)
            status = gt_json_fail((struct gt_node){doc, repeated}, err,
                                  "the key stands a second time in its object");
    }
    free(sorted);
    return status;
}

/* Fills doc from a text of `count` values that the scanner has accepted. */
static gt_status build_document(struct gt_json *doc, size_t count, const char *name,
                                const char *text, size_t size, struct gt_err *err) {
    gt_status status = GEMMTUNE_ENOMEM;
    const size_t name_size = strlen(name) + 1;
    int *lines = malloc(count * sizeof *lines);
    doc->name = malloc(name_size);
    doc->value = malloc(count * sizeof *doc->value);
    doc->tree = cJSON_ParseWithLength(text, size);
    if (lines == NULL || doc->name == NULL || doc->value == NULL || doc->tree == NULL) {
        (void)gt_fail(err, status, "%s: out of memory", name);
        goto done;
    }
    memcpy(doc->name, name, name_size);
    status = gt_json_scan(&count, lines, name, text, size, err);
    if (status != GEMMTUNE_OK)
        goto done;
    struct builder b = {doc->value + 1, lines};
    doc->value[0] = (struct value){.item = doc->tree};
    build(&doc->value[0], &b);
done:
    free(lines);
    return status;
}

static gt_status parse(struct gt_json **out, enum keys keys, const char *name,
                       const char *text, size_t size, struct gt_err *err) {
    size_t count = 0;
    *out = NULL;
    if (size > SIZE_LIMIT)
        return gt_fail(err, GEMMTUNE_EPARSE, "%s: larger than %zu MiB", name,
                       SIZE_LIMIT >> 20);
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        size -= 3;
    }
    gt_status status = gt_json_scan(&count, NULL, name, text, size, err);
    if (status != GEMMTUNE_OK)
        return status;
    struct gt_json *doc = malloc(sizeof *doc);
    if (doc == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "%s: out of memory", name);
    *doc = (struct gt_json){0};
    status = build_document(doc, count, name, text, size, err);
    if (status == GEMMTUNE_OK)
        status = check_keys(doc, keys, count, err);
    if (status == GEMMTUNE_OK) {
        *out = doc;
        doc = NULL;
    }
    gt_json_destroy(doc);
    return status;
}

gt_status gt_json_parse(struct gt_json **out, const char *name, const char *text,
                        size_t size, struct gt_err *err) {
    return parse(out, KEYS_ONCE, name, text, size, err);
}

gt_status gt_json_parse_python(struct gt_json **out, const char *name, const char *text,
                               size_t size, struct gt_err *err) {
    *out = NULL;
    char *json = malloc(GT_JSON_PYTHON_ROOM(size));
    if (json == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "%s: out of memory", name);
    const gt_status status =
        parse(out, KEYS_LAST, name, json, gt_json_of_python(json, text, size), err);
    free(json);
    return status;
}

void gt_json_destroy(struct gt_json *doc) {
    if (doc == NULL)
        return;
    cJSON_Delete(doc->tree);
    free(doc->value);
    free(doc->name);
    free(doc);
}

/* ---- files ------------------------------------------------------------------ */

struct buffer {
    char *text;
    size_t size, room;
};

static bool grow(struct buffer *b) {
    const size_t room = b->room > 0 ? 2 * b->room : 65536;
    char *text = malloc(room);
    if (text == NULL)
        return false;
    if (b->size > 0)
        memcpy(text, b->text, b->size);
    free(b->text);
    b->text = text;
    b->room = room;
    return true;
}

/* Reads to the end, or up to the size that gt_json_parse refuses. It asks for no size: the
 * files of /proc have none. */
static gt_status read_all(struct buffer *b, FILE *file, const char *path,
                          struct gt_err *err) {
    errno = 0;
    while (b->size <= SIZE_LIMIT) {
        if (b->size == b->room && !grow(b))
            return gt_fail(err, GEMMTUNE_ENOMEM, "%s: out of memory", path);
        const size_t got = fread(b->text + b->size, 1, b->room - b->size, file);
        b->size += got;
        if (got == 0)
            break;
    }
    if (ferror(file))
        return gt_fail(err, GEMMTUNE_EIO, "%s: %s", path, strerror(errno));
    return GEMMTUNE_OK;
}

gt_status gt_json_load(struct gt_json **out, const char *path, struct gt_err *err) {
    struct buffer b = {0};
    *out = NULL;
    FILE *file;
    gt_status status = gt_fopen_input(&file, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    status = read_all(&b, file, path, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_parse(out, path, b.text, b.size, err);
    free(b.text);
    (void)fclose(file);
    return status;
}

/* ---- looking ---------------------------------------------------------------- */

static const struct value *value_of(struct gt_node n) {
    return n.item;
}

const char *gt_json_file(const struct gt_json *doc) {
    return doc->name;
}

struct gt_node gt_json_root(const struct gt_json *doc) {
    return (struct gt_node){doc, &doc->value[0]};
}

enum gt_json_kind gt_json_kind(struct gt_node n) {
    if (n.item == NULL)
        return GT_JSON_ABSENT;
    switch (value_of(n)->item->type & 0xFF) {
    case cJSON_NULL:
        return GT_JSON_NULL;
    case cJSON_Number:
        return GT_JSON_NUMBER;
    case cJSON_String:
        return GT_JSON_STRING;
    case cJSON_Array:
        return GT_JSON_ARRAY;
    case cJSON_Object:
        return GT_JSON_OBJECT;
    default:
        return GT_JSON_BOOL;
    }
}

size_t gt_json_count(struct gt_node n) {
    return n.item != NULL ? value_of(n)->count : 0;
}

struct gt_node gt_json_at(struct gt_node n, size_t i) {
    return (struct gt_node){n.doc, i < gt_json_count(n) ? &value_of(n)->child[i] : NULL};
}

const char *gt_json_key(struct gt_node n) {
    const char *key = n.item != NULL ? value_of(n)->item->string : NULL;
    return key != NULL ? key : "";
}

struct gt_node gt_json_member(struct gt_node n, const char *key) {
    if (gt_json_kind(n) == GT_JSON_OBJECT)
        for (size_t i = 0; i < gt_json_count(n); i++)
            if (strcmp(gt_json_key(gt_json_at(n, i)), key) == 0)
                return gt_json_at(n, i);
    return (struct gt_node){n.doc, NULL};
}

int gt_json_line(struct gt_node n) {
    return n.item != NULL ? value_of(n)->line : 0;
}

static bool equal(const struct value *a, const struct value *b) {
    const int kind = a->item->type & 0xFF;
    if (kind != (b->item->type & 0xFF) || a->count != b->count)
        return false;
    if (kind == cJSON_Number)
        return a->item->valuedouble == b->item->valuedouble;
    if (kind == cJSON_String)
        return strcmp(a->item->valuestring, b->item->valuestring) == 0;
    for (size_t i = 0; i < a->count; i++)
        if ((kind == cJSON_Object &&
             strcmp(a->child[i].item->string, b->child[i].item->string) != 0) ||
            !equal(&a->child[i], &b->child[i]))
            return false;
    return true;
}

bool gt_json_equal(struct gt_node a, struct gt_node b) {
    if (a.item == NULL || b.item == NULL)
        return a.item == b.item;
    return equal(value_of(a), value_of(b));
}

/* ---- complaining ------------------------------------------------------------ */

/* Appends "/sizes/3/m" to path; returns its length, PATH_MAX_BYTES - 1 when it is cut. */
static size_t write_path(char path[PATH_MAX_BYTES], const struct value *v) {
    if (v->parent == NULL)
        return 0;
    const size_t used = write_path(path, v->parent);
    const size_t room = PATH_MAX_BYTES - used;
    const int len = v->item->string != NULL
                        ? snprintf(path + used, room, "/%s", v->item->string)
                        : snprintf(path + used, room, "/%td", v - v->parent->child);
    return (size_t)len < room ? used + (size_t)len : PATH_MAX_BYTES - 1;
}

gt_status gt_json_fail(struct gt_node n, struct gt_err *err, const char *fmt, ...) {
    struct gt_err what;
    char path[PATH_MAX_BYTES] = "/";
    va_list args;
    va_start(args, fmt);
    gt_text_line(what.line, sizeof what.line, fmt, args);
    va_end(args);
    if (n.item == NULL)
        return gt_fail(err, GEMMTUNE_EPARSE, "%s: %s", n.doc->name, what.line);
    (void)write_path(path, value_of(n));
    return gt_fail(err, GEMMTUNE_EPARSE, "%s:%d: %s: %s", n.doc->name, gt_json_line(n),
                   path, what.line);
}

gt_status gt_json_fail_because(struct gt_node n, gt_status status, const struct gt_err *why,
                               struct gt_err *err) {
    return status == GEMMTUNE_ENOMEM
               ? gt_fail(err, status, "%s: %s", n.doc->name, why->line)
               : gt_json_fail(n, err, "%s", why->line);
}

static const char *const kinds[] = {
    [GT_JSON_ABSENT] = "absent",    [GT_JSON_NULL] = "null",
    [GT_JSON_BOOL] = "a boolean",   [GT_JSON_NUMBER] = "a number",
    [GT_JSON_STRING] = "a string",  [GT_JSON_ARRAY] = "an array",
    [GT_JSON_OBJECT] = "an object",
};

/* Refuses a node that is not of the kind; `wanted` is the word for it. */
static gt_status check_kind(struct gt_node n, enum gt_json_kind kind, const char *wanted,
                            struct gt_err *err) {
    const enum gt_json_kind found = gt_json_kind(n);
    if (found == kind)
        return GEMMTUNE_OK;
    if (found == GT_JSON_ABSENT)
        return gt_json_fail(n, err, "%s is missing", wanted);
    return gt_json_fail(n, err, "must be %s, not %s", wanted, kinds[found]);
}

/* ---- typed reads ------------------------------------------------------------ */

/* "must be 1" or "must be from 1 to 9", and the number where an integer holds it. */
static gt_status refuse_int(struct gt_node n, int64_t low, int64_t high,
                            const int64_t *value, struct gt_err *err) {
    char range[80], number[40] = "";
    if (low == high)
        (void)snprintf(range, sizeof range, "%" PRId64, low);
    else
        (void)snprintf(range, sizeof range, "from %" PRId64 " to %" PRId64, low, high);
    if (value != NULL)
        (void)snprintf(number, sizeof number, ", not %" PRId64, *value);
    return gt_json_fail(n, err, "must be %s%s", range, number);
}

gt_status gt_json_int(int64_t *out, struct gt_node n, int64_t low, int64_t high,
                      struct gt_err *err) {
    const gt_status status = check_kind(n, GT_JSON_NUMBER, "an integer", err);
    if (status != GEMMTUNE_OK)
        return status;
    const double number = value_of(n)->item->valuedouble;
    /* The scanner limits only numbers without an exponent, so 1e99 comes this far. */
    if (!(number > -(double)GT_JSON_INT_LIMIT && number < (double)GT_JSON_INT_LIMIT))
        return refuse_int(n, low, high, NULL, err);
    const int64_t value = (int64_t)number;
    if ((double)value != number)
        return gt_json_fail(n, err, "must be an integer, not a fraction");
    if (value < low || value > high)
        return refuse_int(n, low, high, &value, err);
    *out = value;
    return GEMMTUNE_OK;
}

gt_status gt_json_double(double *out, struct gt_node n, struct gt_err *err) {
    const gt_status status = check_kind(n, GT_JSON_NUMBER, "a number", err);
    if (status != GEMMTUNE_OK)
        return status;
    const double number = value_of(n)->item->valuedouble;
    if (number - number != 0) /* only an infinity: JSON has no NaN */
        return gt_json_fail(n, err, "is larger than any double");
    *out = number;
    return GEMMTUNE_OK;
}

gt_status gt_json_bool(bool *out, struct gt_node n, struct gt_err *err) {
    const gt_status status = check_kind(n, GT_JSON_BOOL, "true or false", err);
    if (status == GEMMTUNE_OK)
        *out = cJSON_IsTrue(value_of(n)->item);
    return status;
}

gt_status gt_json_string(const char **out, struct gt_node n, struct gt_err *err) {
    const gt_status status = check_kind(n, GT_JSON_STRING, "a string", err);
    if (status == GEMMTUNE_OK)
        *out = value_of(n)->item->valuestring;
    return status;
}

gt_status gt_json_need(struct gt_node *out, struct gt_node object, const char *key,
                       struct gt_err *err) {
    const gt_status status = check_kind(object, GT_JSON_OBJECT, "an object", err);
    if (status != GEMMTUNE_OK)
        return status;
    const struct gt_node member = gt_json_member(object, key);
    if (member.item == NULL)
        return gt_json_fail(object, err, "\"%s\" is missing", key);
    *out = member;
    return GEMMTUNE_OK;
}

static bool is_listed(const char *key, const char *const *keys) {
    while (*keys != NULL && strcmp(*keys, key) != 0)
        keys++;
    return *keys != NULL;
}

gt_status gt_json_only(struct gt_node object, const char *const *keys, struct gt_err *err) {
    const gt_status status = check_kind(object, GT_JSON_OBJECT, "an object", err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < gt_json_count(object); i++) {
        const struct gt_node member = gt_json_at(object, i);
        const char *key = gt_json_key(member);
        if (is_listed(key, keys))
            continue;
        const char *nearest = gt_text_nearest(key, keys);
        if (nearest != NULL)
            return gt_json_fail(member, err, "unknown key, did you mean \"%s\"?", nearest);
        return gt_json_fail(member, err, "unknown key");
    }
    return status;
}

/* ---- writing ---------------------------------------------------------------- */

/* The letter after the backslash for a character that has one, else 0. */
static char short_escape(char c) {
    static const char from[] = "\"\\\b\f\n\r\t";
    static const char to[] = "\"\\bfnrt";
    const char *at = strchr(from, c);
    return at != NULL ? to[at - from] : '\0';
}

void gt_json_quote(void *out, const char *text) {
    FILE *file = out;
    size_t left = strlen(text);
    (void)fputc('"', file);
    while (left > 0) {
        const size_t len = gt_text_utf8(text, left);
        const size_t step = len > 0 ? len : 1;
        if (len == 0)
            (void)fputs("\\ufffd", file); /* not UTF-8: the replacement character */
        else if (short_escape(*text) != '\0')
            (void)fprintf(file, "\\%c", short_escape(*text));
        else if ((unsigned char)*text < 0x20)
            (void)fprintf(file, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            (void)fwrite(text, 1, len, file);
        text += step;
        left -= step;
    }
    (void)fputc('"', file);
}
