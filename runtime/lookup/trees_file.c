/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trees_file.c - trees.bin, the file of learned.h:
 *
 *     gemmtune trees 1
 *     {"questions": "<SHA-256>", "nodes_sha256": "<SHA-256>", "families":
 *         [{"family": NAME, "names": "TM TN ", "trees": 200, "later": 200}, ...]}
 *     nodes
 *
 * The second line is one line of JSON. A node has 6 bytes: its value, a float of 32 bits
 * with the low byte first; what it asks about; the way to its right child. The nodes of a
 * tree follow one another, in preorder, and so do trees and families. "questions" is the
 * hash of GT_LEARNED_LIST: trees that were asked other questions are refused.
 */
#include "runtime/lookup/learned.h"

#include "core/hash.h"
#include "core/io.h"
#include "core/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NODE_BYTES = 6, FILE_MAX = 256 << 20, TREES_MAX = 1 << 16, DIGEST = 65 };
static const char first_line[] = "gemmtune trees 1\n";

static void hash_questions(char hex[DIGEST]) {
    struct gt_hash h;
    gt_hash_init(&h);
#define X(value, about) gt_hash_add_text(&h, #value);
    GT_LEARNED_LIST(X)
#undef X
    gt_hash_hex(&h, hex);
}

/* ---- nodes --------------------------------------------------------------------------- */

static void put_node(unsigned char to[NODE_BYTES], const struct gt_learned_node *n) {
    uint32_t bits;
    memcpy(&bits, &n->value, sizeof bits);
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(bits >> (8 * i));
    to[4] = (unsigned char)n->asks;
    to[5] = n->right;
}

static void get_node(struct gt_learned_node *n, const unsigned char from[NODE_BYTES]) {
    uint32_t bits = 0;
    for (int i = 0; i < 4; i++)
        bits |= (uint32_t)from[i] << (8 * i);
    memcpy(&n->value, &bits, sizeof bits);
    n->asks = (int8_t)from[4];
    n->right = from[5];
}

/* Nodes of the subtree that begins at n. */
static int subtree_size(const struct gt_learned_node *n) {
    return n->asks < 0 ? 1 : n->right + subtree_size(n + n->right);
}

/* Bytes that are still to be read. */
struct bytes {
    const unsigned char *at;
    size_t left;
};

/* Reads a subtree into at most `room` nodes; returns how many it has, 0: it is no tree. */
static int read_subtree(struct gt_learned_node *n, int room, int inputs, struct bytes *b) {
    if (room < 1 || b->left < NODE_BYTES)
        return 0;
    get_node(n, b->at);
    if (!isfinite(n->value))
        return 0;
    b->at += NODE_BYTES;
    b->left -= NODE_BYTES;
    if (n->asks < 0)
        return n->asks == -1 && n->right == 0;
    const int left = n->asks < inputs ? read_subtree(n + 1, room - 1, inputs, b) : 0;
    if (left == 0 || n->right != left + 1)
        return 0;
    const int right = read_subtree(n + n->right, room - n->right, inputs, b);
    return right > 0 ? n->right + right : 0;
}

static int count_names(const char *names) {
    int count = 0;
    for (; (names = strchr(names, ' ')) != NULL; names++)
        count++;
    return count;
}

static gt_status read_trees(struct gt_learned *l, struct bytes *b, const char *path,
                            struct gt_err *err) {
    const int inputs = GT_LEARNED_COMMON + count_names(l->names);
    l->node = calloc((size_t)l->trees * GT_LEARNED_NODES, sizeof *l->node);
    if (l->node == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (int i = 0; i < l->trees; i++)
        if (read_subtree(l->node + (size_t)i * GT_LEARNED_NODES, GT_LEARNED_NODES, inputs,
                         b) == 0)
            return gt_fail(err, GEMMTUNE_EPARSE, "%s: tree %d of %s is no tree", path, i,
                           l->family);
    return GEMMTUNE_OK;
}

/* ---- the second line ----------------------------------------------------------------- */

static gt_status copy_text(char **out, struct gt_node object, const char *key,
                           struct gt_err *err) {
    const char *text;
    gt_status status = gt_json_need_string(&text, object, key, err);
    if (status == GEMMTUNE_OK && (*out = strdup(text)) == NULL)
        status = gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    return status;
}

static gt_status read_family(struct gt_learned *l, struct gt_node n, struct gt_err *err) {
    static const char *const keys[] = {"family", "names", "trees", "later", NULL};
    int64_t trees = 0, later = 0;
    gt_status status = gt_json_only(n, keys, err);
    if (status == GEMMTUNE_OK)
        status = copy_text(&l->family, n, "family", err);
    if (status == GEMMTUNE_OK)
        status = copy_text(&l->names, n, "names", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_int(&trees, n, "trees", 1, TREES_MAX, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need_int(&later, n, "later", 0, trees, err);
    l->trees = (int)trees;
    l->later = (int)later;
    return status;
}

static gt_status expect_text(struct gt_node root, const char *key, const char *expected,
                             const char *trouble, struct gt_err *err) {
    const char *text;
    gt_status status = gt_json_need_string(&text, root, key, err);
    if (status == GEMMTUNE_OK && strcmp(text, expected) != 0)
        status = gt_json_fail(gt_json_member(root, key), err, "%s", trouble);
    return status;
}

/* Checks what the line says of the whole file, and reads what it says of families. */
static gt_status read_line(struct gt_trees *out, struct gt_node root,
                           const struct bytes *body, struct gt_err *err) {
    static const char *const keys[] = {"questions", "nodes_sha256", "families", NULL};
    struct gt_node families;
    struct gt_hash h;
    char questions[DIGEST], digest[DIGEST];
    hash_questions(questions);
    gt_hash_init(&h);
    gt_hash_add(&h, body->at, body->left);
    gt_hash_hex(&h, digest);
    gt_status status = gt_json_only(root, keys, err);
    if (status == GEMMTUNE_OK)
        status =
            expect_text(root, "questions", questions,
                        "these trees were asked other questions: learn them anew", err);
    if (status == GEMMTUNE_OK)
        status = expect_text(root, "nodes_sha256", digest, "the nodes are damaged", err);
    if (status == GEMMTUNE_OK)
        status = gt_json_need(&families, root, "families", err);
    const size_t count = status == GEMMTUNE_OK ? gt_json_count(families) : 0;
    if (status == GEMMTUNE_OK && (out->of = calloc(count + 1, sizeof *out->of)) == NULL)
        status = gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    for (; status == GEMMTUNE_OK && out->count < count; out->count++)
        status = read_family(&out->of[out->count], gt_json_at(families, out->count), err);
    return status;
}

/* ---- the file ------------------------------------------------------------------------ */

static gt_status read_bytes(unsigned char **out, size_t *size, const char *path,
                            struct gt_err *err) {
    struct stat s;
    int fd;
    gt_status status = gt_open_input(&fd, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (fstat(fd, &s) != 0)
        status = gt_fail(err, GEMMTUNE_EIO, "%s: %s", path, strerror(errno));
    else if (s.st_size > FILE_MAX)
        status = gt_fail(err, GEMMTUNE_EPARSE, "%s: no file of trees", path);
    else if ((*out = malloc((size_t)s.st_size + 1)) == NULL)
        status = gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    else if (*size = (size_t)s.st_size, !gt_read_all(fd, *out, *size))
        status = gt_fail(err, GEMMTUNE_EIO, "%s: cannot be read", path);
    (void)close(fd);
    return status;
}

static gt_status parse(struct gt_trees *out, const unsigned char *text, size_t size,
                       const char *path, struct gt_err *err) {
    const size_t first = sizeof first_line - 1;
    struct gt_json *doc = NULL;
    const unsigned char *end = NULL;
    if (size > first && memcmp(text, first_line, first) == 0)
        end = memchr(text + first, '\n', size - first);
    if (end == NULL)
        return gt_fail(err, GEMMTUNE_EPARSE, "%s: no trees of this version", path);
    struct bytes body = {end + 1, (size_t)(text + size - end - 1)};
    gt_status status = gt_json_parse(&doc, path, (const char *)text + first,
                                     (size_t)(end - text) - first, err);
    if (status == GEMMTUNE_OK)
        status = read_line(out, gt_json_root(doc), &body, err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < out->count; i++)
        status = read_trees(&out->of[i], &body, path, err);
    if (status == GEMMTUNE_OK && body.left > 0)
        status = gt_fail(err, GEMMTUNE_EPARSE, "%s: nodes that belong to no tree", path);
    gt_json_destroy(doc);
    return status;
}

gt_status gt_trees_read(struct gt_trees *out, const char *path, struct gt_err *err) {
    unsigned char *text = NULL;
    size_t size = 0;
    memset(out, 0, sizeof *out);
    gt_status status = read_bytes(&text, &size, path, err);
    if (status == GEMMTUNE_OK)
        status = parse(out, text, size, path, err);
    if (status != GEMMTUNE_OK)
        gt_trees_clear(out);
    free(text);
    return status;
}

void gt_trees_clear(struct gt_trees *t) {
    for (size_t i = 0; t->of != NULL && i < t->count + 1; i++) {
        free(t->of[i].family);
        free(t->of[i].names);
        free(t->of[i].node);
    }
    free(t->of);
    memset(t, 0, sizeof *t);
}

/* Calls `put` for the bytes of each tree. */
static void each_tree(const struct gt_trees *t,
                      void (*put)(void *user, const void *bytes, size_t size), void *user) {
    for (size_t i = 0; i < t->count; i++)
        for (int j = 0; j < t->of[i].trees; j++) {
            const struct gt_learned_node *n = t->of[i].node + (size_t)j * GT_LEARNED_NODES;
            unsigned char bytes[GT_LEARNED_NODES * NODE_BYTES];
            const int nodes = subtree_size(n);
            for (int k = 0; k < nodes; k++)
                put_node(bytes + (size_t)k * NODE_BYTES, &n[k]);
            put(user, bytes, (size_t)nodes * NODE_BYTES);
        }
}

static void put_hash(void *user, const void *bytes, size_t size) {
    gt_hash_add(user, bytes, size);
}

static void put_file(void *user, const void *bytes, size_t size) {
    (void)fwrite(bytes, 1, size, user);
}

gt_status gt_trees_write(void *file, const struct gt_trees *trees, struct gt_err *err) {
    char questions[DIGEST], digest[DIGEST];
    struct gt_hash h;
    hash_questions(questions);
    gt_hash_init(&h);
    each_tree(trees, put_hash, &h);
    gt_hash_hex(&h, digest);
    (void)fprintf(file,
                  "%s{\"questions\": \"%s\", \"nodes_sha256\": \"%s\", \"families\": [",
                  first_line, questions, digest);
    for (size_t i = 0; i < trees->count; i++) {
        (void)fprintf(file, "%s{\"family\": ", i > 0 ? ", " : "");
        gt_json_quote(file, trees->of[i].family);
        (void)fputs(", \"names\": ", file);
        gt_json_quote(file, trees->of[i].names);
        (void)fprintf(file, ", \"trees\": %d, \"later\": %d}", trees->of[i].trees,
                      trees->of[i].later);
    }
    (void)fputs("]}\n", file);
    each_tree(trees, put_file, file);
    return fflush(file) == 0 && !ferror(file)
               ? GEMMTUNE_OK
               : gt_fail(err, GEMMTUNE_EIO, "trees cannot be written: %s", strerror(errno));
}
