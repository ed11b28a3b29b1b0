/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family_parse.c - space.json to a struct gt_family. It knows the format; family.c knows
 * where the text comes from. Every unknown key or value is refused with file and line: a
 * misspelt key must not become a silent default.
 */
#include "runtime/family/family_inside.h"

#include "core/json.h"

#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1, RANK_MAX = 1000, RANK_PRESET = 100, CC_MAX = 999, SOURCE_NAME_MAX = 64 };

/* ---- one function a key ---------------------------------------------------------- */

static gt_status parse_format(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    int64_t format;
    (void)f;
    return gt_json_int(&format, n, FORMAT, FORMAT, err);
}

/* The name must be the folder's, since stored results refer to it. */
static gt_status parse_name(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    const char *name;
    const gt_status status = gt_json_string(&name, n, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (!gt_is_word(name, false))
        return gt_json_fail(n, err,
                            "family names are [a-z][a-z0-9_]* of at most %d characters",
                            GT_NAME_MAX - 1);
    if (strcmp(name, f->name) != 0)
        return gt_json_fail(n, err, "the family is called \"%s\" but its folder \"%s\"",
                            name, f->name);
    return GEMMTUNE_OK;
}

static gt_status parse_about(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    return gt_read_text(&f->about, n, err);
}

/* A file of the family's own folder. A stranger's space.json must not name files outside
 * it. */
static gt_status parse_file(char **out, const struct gt_family *f, struct gt_node n,
                            struct gt_err *err) {
    const char *file;
    const gt_status status = gt_json_string(&file, n, err);
    if (status != GEMMTUNE_OK)
        return status;
    const size_t len = strlen(file);
    /* The name is quoted in a #line, so it may contain no character that needs an
     * escape. */
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-.";
    if (len == 0 || len >= SOURCE_NAME_MAX || file[0] == '.' ||
        strspn(file, plain) != len || strstr(file, "..") != NULL)
        return gt_json_fail(n, err, "\"%s\" is not a plain file name", file);
    const size_t size = strlen(f->name) + 1 + len + 1;
    char *name = malloc(size);
    if (name == NULL)
        return gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
    memcpy(name, f->name, strlen(f->name));
    name[strlen(f->name)] = '/';
    memcpy(name + strlen(f->name) + 1, file, len + 1);
    *out = name;
    return GEMMTUNE_OK;
}

/* One file, or a list of the files that make up the template, in their order. */
static gt_status parse_files(struct gt_family *f, struct gt_template *to, struct gt_node n,
                             struct gt_err *err) {
    if (gt_json_kind(n) == GT_JSON_STRING)
        return parse_file(&to->name, f, n, err);
    gt_status status = gt_read_list(n, GT_JSON_ARRAY, 1, GT_TEMPLATES_MAX, err);
    for (size_t i = 0; i < gt_json_count(n) && status == GEMMTUNE_OK; i++)
        status = parse_file(&to[i].name, f, gt_json_at(n, i), err);
    return status;
}

static gt_status parse_source(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    gt_status status = gt_read_list(n, GT_JSON_OBJECT, 1, GT_BACKENDS, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_only(n, gt_backend_words, err);
    for (int i = 0; i < GT_BACKENDS && status == GEMMTUNE_OK; i++) {
        const struct gt_node files = gt_json_member(n, gt_backend_words[i]);
        if (gt_json_kind(files) != GT_JSON_ABSENT)
            status = parse_files(f, f->source[i], files, err);
    }
    return status;
}

static gt_status parse_entry(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    return gt_read_entry(f->entry, n, err);
}

/* An array of words as a set of bits. No two words have a bit in common. */
static gt_status parse_set(uint64_t *set, struct gt_node n, const char *what,
                           uint64_t (*bits_of)(const char *word), struct gt_err *err) {
    gt_status status = gt_read_list(n, GT_JSON_ARRAY, 1, 32, err);
    for (size_t i = 0; i < gt_json_count(n) && status == GEMMTUNE_OK; i++) {
        const char *word;
        status = gt_json_string(&word, gt_json_at(n, i), err);
        if (status != GEMMTUNE_OK)
            break;
        const uint64_t bits = bits_of(word);
        if (bits == 0)
            status = gt_json_fail(gt_json_at(n, i), err, "\"%s\" is not a %s", word, what);
        else if ((*set & bits) != 0)
            status = gt_json_fail(gt_json_at(n, i), err, "\"%s\" is listed twice", word);
        *set |= bits;
    }
    return status;
}

static gt_status parse_dtypes(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    return parse_set(&f->dtypes, n, "data type", gt_dtype_word_bits, err);
}

/* ["bf16"]: types that the family's other sources do not know. */
static gt_status parse_cuda_only(struct gt_family *f, struct gt_node n,
                                 struct gt_err *err) {
    return gt_json_kind(n) == GT_JSON_ABSENT
               ? GEMMTUNE_OK
               : parse_set(&f->cuda_only, n, "data type", gt_dtype_word_bits, err);
}

static gt_status parse_layouts(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    return parse_set(&f->layouts, n, "layout (nn, nt, tn, tt)", gt_layout_bit, err);
}

/* The least compute capability of the mixes in `set`. */
static void raise_min_cc(struct gt_family *f, uint64_t set, int cc) {
    for (size_t i = 0; i < GT_DTYPES; i++)
        if ((set & gt_dtype_bit(gt_dtype_at(i))) != 0 && f->min_cc[i] < cc)
            f->min_cc[i] = cc;
}

/* {"cuda": 75, "bf16": 80}: for every mix, and for some. */
static gt_status parse_min_arch(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    if (gt_json_kind(n) == GT_JSON_ABSENT)
        return GEMMTUNE_OK;
    gt_status status = gt_read_list(n, GT_JSON_OBJECT, 1, 32, err);
    for (size_t i = 0; i < gt_json_count(n) && status == GEMMTUNE_OK; i++) {
        const struct gt_node member = gt_json_at(n, i);
        const char *key = gt_json_key(member);
        const uint64_t set =
            strcmp(key, "cuda") == 0 ? UINT64_MAX : gt_dtype_word_bits(key);
        int64_t cc = 0;
        if (set == 0)
            status = gt_json_fail(member, err, "is neither \"cuda\" nor a data type");
        else
            status = gt_json_int(&cc, member, 0, CC_MAX, err);
        raise_min_cc(f, set, (int)cc);
    }
    return status;
}

/* {"cuda": 90}: for every mix. */
static gt_status parse_max_arch(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    static const char *const keys[] = {"cuda", NULL};
    int64_t cc = 0;
    f->max_cc = CC_MAX;
    if (gt_json_kind(n) == GT_JSON_ABSENT)
        return GEMMTUNE_OK;
    gt_status status = gt_read_list(n, GT_JSON_OBJECT, 1, 1, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_only(n, keys, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_int(&cc, gt_json_member(n, "cuda"), 0, CC_MAX, err);
    f->max_cc = (int)cc;
    return status;
}

/* An optional whole number up to `most`; `preset` when it is absent. */
static gt_status parse_number(int64_t *out, int64_t preset, struct gt_node n, int64_t most,
                              struct gt_err *err) {
    *out = preset;
    return gt_json_kind(n) == GT_JSON_ABSENT ? GEMMTUNE_OK
                                             : gt_json_int(out, n, 0, most, err);
}

/* An optional 0 or 1. */
static gt_status parse_flag(bool *out, struct gt_node n, struct gt_err *err) {
    int64_t flag;
    const gt_status status = parse_number(&flag, 0, n, 1, err);
    *out = flag != 0;
    return status;
}

static gt_status parse_rank(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    int64_t rank;
    const gt_status status = parse_number(&rank, RANK_PRESET, n, RANK_MAX, err);
    f->rank = (int)rank;
    return status;
}

/* The place, from 1, of an optional word in a list that begins and ends with NULL; 0 when
 * it is absent. `allowed` names the words for people. */
static gt_status parse_word(int *place, const char *const *words, struct gt_node n,
                            const char *allowed, struct gt_err *err) {
    const char *word;
    *place = 0;
    if (gt_json_kind(n) == GT_JSON_ABSENT)
        return GEMMTUNE_OK;
    const gt_status status = gt_json_string(&word, n, err);
    if (status != GEMMTUNE_OK)
        return status;
    for (int i = 1; words[i] != NULL; i++)
        if (strcmp(words[i], word) == 0)
            *place = i;
    return *place > 0 ? GEMMTUNE_OK : gt_json_fail(n, err, "is not %s", allowed);
}

static gt_status parse_role(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    static const char *const words[] = {
        [GT_ROLE_BASELINE] = "baseline", [GT_ROLE_TEXTBOOK] = "textbook", NULL};
    int role;
    const gt_status status =
        parse_word(&role, words, n, "\"baseline\" or \"textbook\"", err);
    f->role = (enum gt_role)role;
    return status;
}

static gt_status parse_ptx(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    return parse_flag(&f->ptx, n, err);
}

static gt_status parse_overlap(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    return parse_flag(&f->overlap, n, err);
}

static gt_status parse_batch(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    static const char *const words[] = {[GT_BATCHING_GRID] = "grid",
                                        [GT_BATCHING_OWN] = "own",
                                        [GT_BATCHING_ONLY] = "only",
                                        NULL};
    int batching;
    const gt_status status =
        parse_word(&batching, words, n, "\"grid\", \"own\" or \"only\"", err);
    f->batching = (enum gt_batching)batching;
    return status;
}

static gt_status parse_pointers(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    return parse_flag(&f->pointers, n, err);
}

static gt_status parse_per_problem(struct gt_family *f, struct gt_node n,
                                   struct gt_err *err) {
    return parse_flag(&f->per_problem, n, err);
}

/* A family that does not say it may have no atomics (family_source.c). */
static gt_status parse_same_bits(struct gt_family *f, struct gt_node n,
                                 struct gt_err *err) {
    int64_t flag;
    const gt_status status = parse_number(&flag, 1, n, 1, err);
    f->same_bits = flag != 0;
    f->says_bits = gt_json_kind(n) != GT_JSON_ABSENT;
    return status;
}

static gt_status parse_epilogue(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    return parse_flag(&f->epilogue, n, err);
}

static bool has_arg(const struct gt_family *f, gt_arg arg) {
    for (int i = 0; i < f->arg_count; i++)
        if (f->args[i] == arg)
            return true;
    return false;
}

/* gt_arg_by_name, for the family's tensor maps as well. */
static int find_arg(const struct gt_family *f, const char *name) {
    for (int i = 0; i < f->map_count; i++)
        if (strcmp(f->map[i].name, name) == 0)
            return (int)GT_ARG_MAP + i;
    return gt_arg_by_name(name);
}

static gt_status parse_arg(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    const char *name;
    const gt_status status = gt_json_string(&name, n, err);
    if (status != GEMMTUNE_OK)
        return status;
    const int arg = find_arg(f, name);
    if (arg < 0)
        return gt_json_fail(n, err, "\"%s\" is not a kernel argument", name);
    if (has_arg(f, (gt_arg)arg))
        return gt_json_fail(n, err, "\"%s\" is listed twice", name);
    if (arg >= GT_ARG_BATCH && arg < GT_ARG_MAP && f->batching < GT_BATCHING_OWN)
        return gt_json_fail(
            n, err, "\"%s\" is for families whose \"batch\" is \"own\" or \"only\"", name);
    f->args[f->arg_count++] = (gt_arg)arg;
    return GEMMTUNE_OK;
}

static gt_status parse_args(struct gt_family *f, struct gt_node n, struct gt_err *err) {
    /* The grid's batches have GT_ARGS_BATCH more. */
    gt_status status = gt_read_list(n, GT_JSON_ARRAY, 1, GT_ARGS_MAX - GT_ARGS_BATCH, err);
    for (size_t i = 0; i < gt_json_count(n) && status == GEMMTUNE_OK; i++)
        status = parse_arg(f, gt_json_at(n, i), err);
    for (const struct gt_arg_name *a = gt_arg_names; a->name && status == GEMMTUNE_OK; a++)
        if (a->needed && !has_arg(f, a->arg))
            status =
                gt_json_fail(n, err, "\"%s\" is missing: no product without it", a->name);
    return status;
}

/* ---- the document ---------------------------------------------------------------- */

/* The keys of space.json, in the order in which they depend on each other. The file may
 * have them in any order. */
static const struct section {
    const char *key;
    gt_status (*parse)(struct gt_family *f, struct gt_node n, struct gt_err *err);
    bool optional; /* parse is called with an absent node and sets the default */
} sections[] = {
    {"format", parse_format, false},
    {"family", parse_name, false},
    {"about", parse_about, false},
    {"source", parse_source, false},
    {"entry", parse_entry, false},
    {"dtypes", parse_dtypes, false},
    {"layouts", parse_layouts, false},
    {"cuda_only", parse_cuda_only, true},
    {"min_arch", parse_min_arch, true},
    {"max_arch", parse_max_arch, true},
    {"ptx", parse_ptx, true},
    {"rank", parse_rank, true},
    {"role", parse_role, true},
    {"overlap", parse_overlap, true},
    {"batch", parse_batch, true},
    {"pointers", parse_pointers, true},
    {"epilogue", parse_epilogue, true},
    {"per_problem", parse_per_problem, true},
    {"same_bits", parse_same_bits, true},
    {"uses", gt_parse_uses, true},
    {"params", gt_parse_params, false},
    {"meaning", gt_parse_meaning, true},
    {"default", gt_parse_default, false},
    {"starts", gt_parse_starts, true},
    {"adapt", gt_parse_adapt, true},
    {"rungs", gt_parse_rungs, true},
    {"derive", gt_parse_derive, true},
    {"variants", gt_parse_variants, true},
    {"require", gt_parse_require, true},
    {"accept", gt_parse_accept, true},
    {"sums", gt_parse_sums, true},
    {"align", gt_parse_align, true},
    {"before", gt_parse_before, true},
    {"launch", gt_parse_launch, false},
    {"after", gt_parse_after, true},
    {"shape", gt_parse_shape, true},
    {"tensor_maps", gt_parse_maps, true},
    {"args", parse_args, false},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

static gt_status parse_sections(struct gt_family *f, struct gt_node root,
                                struct gt_err *err) {
    const char *keys[SECTIONS + 1] = {NULL};
    for (size_t i = 0; i < SECTIONS; i++)
        keys[i] = sections[i].key;
    gt_status status = gt_json_only(root, keys, err);
    for (size_t i = 0; i < SECTIONS && status == GEMMTUNE_OK; i++) {
        struct gt_node n = gt_json_member(root, sections[i].key);
        if (!sections[i].optional)
            status = gt_json_need(&n, root, sections[i].key, err);
        if (status == GEMMTUNE_OK)
            status = sections[i].parse(f, n, err);
    }
    return status;
}

static gt_status add_builtins(struct gt_family *f, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < GT_BUILTIN_COUNT && status == GEMMTUNE_OK; i++) {
        int slot;
        status = gt_symbols_add(&slot, &f->symbols, gt_builtins[i].name, err);
    }
    return status;
}

static gt_status fetch_sources(struct gt_family *f, gt_source_fn read, void *user,
                               struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i < GT_BACKENDS; i++)
        for (int j = 0; j < GT_TEMPLATES_MAX && status == GEMMTUNE_OK; j++)
            if (f->source[i][j].name != NULL)
                status = read(&f->source[i][j].text, user, (gemmtune_backend)i,
                              f->source[i][j].name + strlen(f->name) + 1, err);
    return status;
}

gt_status gt_family_parse_with(struct gt_family **out, const char *folder_name,
                               const char *json_name, const char *json, gt_source_fn read,
                               void *user, struct gt_err *err) {
    struct gt_json *doc = NULL;
    struct gt_family *f = calloc(1, sizeof *f);
    gt_status status = GEMMTUNE_OK;
    *out = NULL;
    if (f == NULL) {
        status = gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
        goto done;
    }
    if (strlen(folder_name) >= sizeof f->name) {
        status = gt_fail(err, GEMMTUNE_EPARSE, "%s: folder name \"%.40s...\" is too long",
                         json_name, folder_name);
        goto done;
    }
    memcpy(f->name, folder_name, strlen(folder_name) + 1);
    status = add_builtins(f, err);
    if (status == GEMMTUNE_OK)
        status = gt_json_parse(&doc, json_name, json, strlen(json), err);
    if (status == GEMMTUNE_OK)
        status = parse_sections(f, gt_json_root(doc), err);
    if (status == GEMMTUNE_OK)
        status = fetch_sources(f, read, user, err);
    if (status == GEMMTUNE_OK)
        status = gt_family_check_sources(f, err);
    if (status == GEMMTUNE_OK)
        status = gt_family_set_hash(f, gt_json_root(doc), gt_part_text, err);
    if (status != GEMMTUNE_OK)
        goto done;
    *out = f;
    f = NULL;
done:
    gt_family_destroy(f);
    gt_json_destroy(doc);
    return status;
}

/* Sources given by the caller, for gt_family_parse. */
static gt_status read_given(char **out, void *user, gemmtune_backend backend,
                            const char *file, struct gt_err *err) {
    const char *const *source = user;
    if (source[backend] == NULL)
        return gt_fail(err, GEMMTUNE_EPARSE, "no text for \"%s\"", file);
    *out = strdup(source[backend]);
    return *out != NULL ? GEMMTUNE_OK : gt_fail(err, GEMMTUNE_ENOMEM, "out of memory");
}

gt_status gt_family_parse(struct gt_family **out, const char *folder_name,
                          const char *json_name, const char *json,
                          const char *const source[GT_BACKENDS], struct gt_err *err) {
    const char *given[GT_BACKENDS];
    memcpy(given, source, sizeof given);
    return gt_family_parse_with(out, folder_name, json_name, json, read_given, given, err);
}

static void clear_rules(struct gt_rule *rules, int count) {
    for (int i = 0; i < count; i++) {
        gt_expr_destroy(rules[i].expr);
        free(rules[i].why);
    }
}

static void clear_pass(struct gt_pass *pass) {
    gt_expr_destroy(pass->when);
    for (int i = 0; i < 3; i++) {
        gt_expr_destroy(pass->grid[i]);
        gt_expr_destroy(pass->block[i]);
        gt_expr_destroy(pass->cluster[i]);
    }
    gt_expr_destroy(pass->smem);
}

static void clear_map(struct gt_map *map) {
    for (int i = 0; i < map->base_count; i++)
        gt_expr_destroy(map->base[i].when);
    gt_expr_destroy(map->at);
    gt_expr_destroy(map->inner);
    gt_expr_destroy(map->outer);
    gt_expr_destroy(map->swizzle);
    gt_expr_destroy(map->planes);
    gt_expr_destroy(map->stride);
    for (int i = 0; i < GT_BACKENDS; i++)
        gt_expr_destroy(map->box[i]);
}

void gt_family_destroy(struct gt_family *f) {
    if (f == NULL)
        return;
    for (int i = 0; i < f->derive_count; i++)
        gt_expr_destroy(f->derive[i].expr);
    clear_rules(f->require, f->require_count);
    clear_rules(f->accept, f->accept_count);
    for (int i = 0; i < f->pass_count; i++)
        clear_pass(&f->pass[i]);
    for (int i = 0; i < f->map_count; i++)
        clear_map(&f->map[i]);
    for (int i = 0; i < 3; i++)
        gt_expr_destroy(f->align[i]);
    for (int i = 0; i < GT_SHAPE_COUNT; i++)
        gt_expr_destroy(f->shape[i]);
    gt_sums_clear(&f->sums);
    gt_expr_destroy(f->workspace);
    gt_expr_destroy(f->walk);
    gt_expr_destroy(f->panel[0]);
    gt_expr_destroy(f->panel[1]);
    for (int i = 0; i < GT_BACKENDS; i++)
        for (int j = 0; j < GT_TEMPLATES_MAX; j++) {
            free(f->source[i][j].name);
            free(f->source[i][j].text);
        }
    for (int i = 0; i < f->param_count; i++)
        free(f->param[i].about);
    free(f->about);
    free(f);
}
