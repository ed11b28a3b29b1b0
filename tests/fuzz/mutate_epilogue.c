/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutate_epilogue.c - epilogues that are made of others, and what must hold of them
 * (epilogue_promises.h). The same seed makes the same texts.
 *
 *     mutate_epilogue [-n INPUTS] [-s SEED] [-v] FILE...
 *
 * The others are the files, the texts of epilogue_texts.h and random ones of epilogues.h.
 * A text is cut into tokens. Half of the changes keep the grammar: a token becomes another
 * of its list, an operand becomes an operand of another text. The rest breaks it. With -v
 * each text is printed before it is tried: after a crash the last one is its cause.
 *
 * Ends with the counts of accepted and refused texts. Fewer than one accepted text in eight
 * are a failure: then only the parser's first lines are tested.
 */
#include "core/mix.h"
#include "tests/fuzz/epilogue_promises.h"
#include "tests/unit/epilogue_texts.h"
#include "tests/unit/epilogues.h"

#include <ctype.h>
#include <unistd.h>

enum {
    TEXT_MAX = 512, /* bytes, with the NUL: also of texts that are too long */
    TOKENS_MAX = TEXT_MAX,
    FILES_MAX = 64,
    CHANGES_MAX = 3, /* changes that keep the grammar */
    LEAST_ACCEPTED = 8
};

struct text {
    char bytes[TEXT_MAX];
};

/* Bytes of a text, from `begin` up to `end`. */
struct span {
    size_t begin, end;
};

static struct text files[FILES_MAX];
static int file_count;
static uint64_t seed;

static unsigned below(size_t count) {
    return draw(&seed, (unsigned)count);
}

/* ---- tokens ------------------------------------------------------------------------ */

/* Lists of tokens that may stand for each other. A name with "_" is several tokens. */
enum {
    LEAVES,
    INDEXES,
    NAMES,
    FUNCTIONS,
    PAIRS,
    TYPES,
    SIGNS,
    COMPARISONS,
    STEPS,
    REST,
    LISTS,
    NONE = LISTS
};
static const char *const lists[LISTS][20] = {
    {"x", "acc", "c", "alpha", "beta", "1", "0", "0.5", "15", "1e-9", "3.4e38", "1e308",
     "2147483648", "0.10"},
    {"[i]", "[j]", "[i,j]", "[z]", "[z,j]"},
    {"sa", "sb", "bias", "up", "res", "b"},
    {"abs", "relu", "exp", "log", "tanh", "erf", "sqrt", "sigmoid", "gelu", "silu"},
    {"min", "max"},
    {"f64", "f32", "f16", "bf16", "e4m3", "e5m2", "i32", "i8"},
    {"+", "-", "*", "/"},
    {"<", "<=", ">", ">=", "==", "!="},
    {"gelu", "relu", "silu", "bias", "residual", "dequantise", "swiglu", "row_bias",
     "scale_rows", "scale_cols", "gelu_tanh", "batch_bias", "scale_batch"},
    {"(", ")", ",", ";", ":", "=", "?", "_", "d", "d2", "t", "s"},
};

static size_t list_size(int list) {
    size_t count = 0;
    while (count < sizeof *lists / sizeof **lists && lists[list][count] != NULL)
        count++;
    return count;
}

static const char *any_of_list(int list) {
    return lists[list][below(list_size(list))];
}

static size_t token_size(const char *at) {
    static const char *const long_ones[] = {"[i,j]", "[z,j]", "[i]", "[j]", "[z]",
                                            "<=",    ">=",    "==",  "!="};
    const bool number = isdigit((unsigned char)*at) != 0;
    size_t size = 0;
    for (size_t i = 0; i < sizeof long_ones / sizeof *long_ones; i++)
        if (strncmp(at, long_ones[i], strlen(long_ones[i])) == 0)
            return strlen(long_ones[i]);
    while (isalnum((unsigned char)at[size]) || (number && at[size] == '.') ||
           (number && size > 0 && at[size - 1] == 'e' && at[size] == '-'))
        size++;
    return size > 0 ? size : 1;
}

static int tokens_of(struct span out[TOKENS_MAX], const struct text *t) {
    int count = 0;
    for (size_t at = 0; t->bytes[at] != '\0'; at = out[count++].end)
        out[count] = (struct span){at, at + token_size(t->bytes + at)};
    return count;
}

static struct span any_token(const struct text *t) {
    struct span token[TOKENS_MAX];
    const int count = tokens_of(token, t);
    return count > 0 ? token[below((size_t)count)] : (struct span){0, 0};
}

/* From one token up to the end of another, eight tokens at most. */
static struct span any_tokens(const struct text *t) {
    struct span token[TOKENS_MAX];
    const int count = tokens_of(token, t);
    if (count == 0)
        return (struct span){0, 0};
    const int first = (int)below((size_t)count), last = first + (int)below(8);
    return (struct span){token[first].begin, token[last < count ? last : count - 1].end};
}

/* The end of the brackets that are opened at `at`. */
static size_t closed(const struct text *t, size_t at) {
    int depth = 0;
    do {
        depth += (t->bytes[at] == '(') - (t->bytes[at] == ')');
        at++;
    } while (t->bytes[at] != '\0' && depth > 0);
    return at;
}

static bool is_in_list(int list, const struct text *t, struct span s) {
    bool found = false;
    for (size_t i = 0; i < list_size(list); i++)
        found = found || (strlen(lists[list][i]) == s.end - s.begin &&
                          memcmp(lists[list][i], t->bytes + s.begin, s.end - s.begin) == 0);
    return found;
}

/* Whether an operand of an expression begins with the token. */
static bool begins_operand(const struct text *t, struct span s) {
    const char first = t->bytes[s.begin];
    return s.begin > 0 && strchr("=(,+-*/<>?:", t->bytes[s.begin - 1]) != NULL &&
           (first == '(' || isalnum((unsigned char)first)) &&
           (t->bytes[s.end] == '(' || !is_in_list(TYPES, t, s));
}

/* A number, a name with its index, a call, or brackets. Nothing at the end of the text,
 * when none of eight tokens begins one. */
static struct span any_operand(const struct text *t) {
    struct span s = any_token(t);
    for (int i = 0; i < 8 && !begins_operand(t, s); i++)
        s = any_token(t);
    if (!begins_operand(t, s))
        return (struct span){strlen(t->bytes), strlen(t->bytes)};
    const char first = t->bytes[s.begin];
    if (first == '(')
        return (struct span){s.begin, closed(t, s.begin)};
    if (isalnum((unsigned char)first) && t->bytes[s.end] == '(')
        s.end = closed(t, s.end);
    else if (isalpha((unsigned char)first) && t->bytes[s.end] == '[')
        s.end += token_size(t->bytes + s.end);
    return s;
}

/* ---- changes ----------------------------------------------------------------------- */

/* Replaces a part of the text; what does not fit is cut off. */
static void put(struct text *t, struct span at, const char *piece, size_t size) {
    struct text old = *t;
    const int head = (int)at.begin;
    (void)snprintf(t->bytes, TEXT_MAX, "%.*s%.*s%s", head, old.bytes, (int)size, piece,
                   old.bytes + at.end);
}

static void put_span(struct text *t, struct span at, const struct text *from,
                     struct span s) {
    put(t, at, from->bytes + s.begin, s.end - s.begin);
}

static void put_like(struct text *t, const struct text *other) {
    const struct span at = any_token(t);
    const int first = (int)below(REST);
    for (int i = 0; i < REST; i++) {
        const int list = (first + i) % REST;
        if (is_in_list(list, t, at)) {
            const char *word = any_of_list(list);
            put(t, at, word, strlen(word));
            return;
        }
    }
}

static void put_operand(struct text *t, const struct text *other) {
    const struct span at = any_operand(t), by = any_operand(other);
    if (at.end > at.begin && by.end > by.begin)
        put_span(t, at, other, by);
}

/* An operand with a sign, in a call, in a cast, or with another one in brackets. */
static void put_around(struct text *t, const struct text *other) {
    const struct span at = any_operand(t), more = any_operand(other);
    const int ahead[] = {NONE, FUNCTIONS, TYPES, PAIRS, NONE};
    const unsigned form = below(sizeof ahead / sizeof *ahead);
    const char *word = ahead[form] == NONE ? "-" : any_of_list(ahead[form]);
    const char *link = form < 3 ? "" : form == 3 ? "," : any_of_list(SIGNS);
    char piece[3 * TEXT_MAX];
    if (at.end == at.begin || more.end == more.begin)
        return;
    (void)snprintf(piece, sizeof piece, "%s(%.*s%s%.*s)", form == 4 ? "" : word,
                   (int)(at.end - at.begin), t->bytes + at.begin, link,
                   form < 3 ? 0 : (int)(more.end - more.begin), other->bytes + more.begin);
    put(t, at, piece, strlen(piece));
}

static void put_word(struct text *t, const struct text *other) {
    const char *word = any_of_list((int)below(LISTS));
    struct span at = any_token(t);
    at.end = below(2) == 0 ? at.begin : at.end;
    put(t, at, word, strlen(word));
}

static void put_tokens(struct text *t, const struct text *other) {
    struct span at = any_tokens(t);
    at.end = below(2) == 0 ? at.begin : at.end;
    put_span(t, at, other, any_tokens(other));
}

static void drop_tokens(struct text *t, const struct text *other) {
    put(t, below(2) == 0 ? any_token(t) : any_tokens(t), "", 0);
}

static void double_tokens(struct text *t, const struct text *other) {
    const struct text old = *t;
    const struct span s = any_tokens(t);
    put_span(t, (struct span){s.end, s.end}, &old, s);
}

/* The head of the text and the tail of the other. */
static void splice(struct text *t, const struct text *other) {
    const struct span at = {any_token(t).begin, strlen(t->bytes)};
    put_span(t, at, other, (struct span){any_token(other).begin, strlen(other->bytes)});
}

/* The statements of the other text, then this text's. */
static void put_ahead(struct text *t, const struct text *other) {
    put(t, (struct span){0, 0}, ";", 1);
    put(t, (struct span){0, 0}, other->bytes, strlen(other->bytes));
}

static void put_byte(struct text *t, const struct text *other) {
    const char byte = (char)(1 + below(255));
    struct span at = any_token(t);
    at.end = at.begin + below(2);
    put(t, at.end <= strlen(t->bytes) ? at : (struct span){0, 0}, &byte, 1);
}

/* ---- inputs ------------------------------------------------------------------------ */

static void put_origin(struct text *t) {
    struct random_text r = {.seed = gt_mix(seed)};
    const unsigned from = below(file_count > 0 ? 8 : 7);
    const char *origin = epilogue_texts[below(EPILOGUE_TEXTS)].text;
    if (from < 4) {
        write_random_epilogue(&r, 1 + (int)below(3));
        origin = r.text;
    } else if (from == 7)
        origin = files[below((size_t)file_count)].bytes;
    (void)snprintf(t->bytes, TEXT_MAX, "%.*s", TEXT_MAX - 1, origin);
}

/* Every other input has no change that breaks the grammar. */
static bool keeps_grammar(uint64_t i) {
    return i % 2 == 0;
}

static void make_input(struct text *t, uint64_t first, uint64_t i) {
    static void (*const keeping[])(struct text *, const struct text *) = {
        put_like, put_operand, put_around};
    static void (*const breaking[])(struct text *, const struct text *) = {
        put_word, put_tokens, drop_tokens, double_tokens, splice, put_ahead, put_byte};
    struct text other;
    seed = gt_mix(first * GT_MIX_STEP + i);
    put_origin(t);
    for (unsigned changes = below(CHANGES_MAX + 1); changes > 0; changes--) {
        put_origin(&other);
        keeping[below(sizeof keeping / sizeof *keeping)](t, &other);
    }
    put_origin(&other);
    if (!keeps_grammar(i))
        breaking[below(sizeof breaking / sizeof *breaking)](t, &other);
}

static void read_file(const char *path) {
    FILE *file = file_count < FILES_MAX ? fopen(path, "rb") : NULL;
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    struct text *t = &files[file_count++];
    t->bytes[fread(t->bytes, 1, TEXT_MAX - 1, file)] = '\0';
    (void)fclose(file);
}

struct options {
    uint64_t inputs, seed;
    bool says;
};

static void read_options(struct options *o, int argc, char **argv) {
    for (int option; (option = getopt(argc, argv, "n:s:v")) != -1;) {
        if (option == 'n')
            o->inputs = strtoull(optarg, NULL, 10);
        else if (option == 's')
            o->seed = strtoull(optarg, NULL, 10);
        else if (option == 'v')
            o->says = true;
        else
            exit(2);
    }
    for (int i = optind; i < argc; i++)
        read_file(argv[i]);
}

/* Whether some type of problem accepts input `i`. */
static bool try_input(const struct options *o, uint64_t i) {
    struct text t;
    make_input(&t, o->seed, i);
    if (o->says)
        (void)fprintf(stderr, "%llu %s\n", (unsigned long long)i, t.bytes);
    char *exact = strdup(t.bytes); /* so that a sanitizer sees a read past the end */
    const bool accepted = exact != NULL && check_epilogue(exact) > 0;
    free(exact);
    return accepted;
}

int main(int argc, char **argv) {
    struct options o = {.inputs = 20000, .seed = 1};
    unsigned long long accepted = 0, in_grammar = 0;
    read_options(&o, argc, argv);
    for (uint64_t i = 0; i < o.inputs; i++)
        if (try_input(&o, i)) {
            accepted++;
            in_grammar += keeps_grammar(i);
        }
    printf(
        "%llu epilogues of seed %llu: %llu accepted, %llu of them by changes that keep the "
        "grammar; %llu refused\n",
        (unsigned long long)o.inputs, (unsigned long long)o.seed, accepted, in_grammar,
        o.inputs - accepted);
    return accepted >= o.inputs / LEAST_ACCEPTED ? 0 : 1;
}
