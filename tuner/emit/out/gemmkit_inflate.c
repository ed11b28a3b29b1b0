/* SPDX-License-Identifier: Apache-2.0 */
/* gemmkit_inflate.c - unpacks a kernel's image: the deflate format of RFC 1951. */
#include "gemmkit_inside.h"

#include <string.h>

enum { CODE_BITS = 15, LITERALS = 288, DISTANCES = 32, END = 256 };

/* The rest of the input: its next `count` bits are in `bits`, lowest first. Past the
 * end of the input, zeros follow, and `count` falls below 0. */
struct stream {
    const unsigned char *in, *end;
    uint64_t bits;
    int count;
};

static void refill(struct stream *s) {
    while (s->count <= 56 && s->in < s->end) {
        s->bits |= (uint64_t)*s->in++ << s->count;
        s->count += 8;
    }
}

static unsigned take(struct stream *s, int count) {
    const unsigned value = (unsigned)(s->bits & ((UINT64_C(1) << count) - 1));
    s->bits >>= count;
    s->count -= count;
    return value;
}

/* ---- codes ---- */

/* By the next `bits` bits of the input: 16 * symbol + length of its code; 0: no code. */
struct code {
    int bits;
    uint16_t entry[1 << CODE_BITS];
};

static unsigned reverse(unsigned code, int length) {
    unsigned r = 0;
    for (int i = 0; i < length; i++)
        r |= (code >> i & 1) << (length - 1 - i);
    return r;
}

/* Codes of the same length are numbered in the order of their symbols. */
static bool make_code(struct code *c, const uint8_t *length, int symbols) {
    unsigned of[CODE_BITS + 1] = {0}, next[CODE_BITS + 2] = {0};
    c->bits = 1;
    for (int i = 0; i < symbols; i++)
        of[length[i]]++;
    of[0] = 0;
    for (int i = 1; i <= CODE_BITS; i++) {
        next[i] = (next[i - 1] + of[i - 1]) << 1;
        if (next[i] + of[i] > 1U << i)
            return false;
        if (of[i] > 0)
            c->bits = i;
    }
    memset(c->entry, 0, sizeof *c->entry << c->bits);
    for (int i = 0; i < symbols; i++) {
        if (length[i] == 0)
            continue;
        const unsigned first = reverse(next[length[i]]++, length[i]);
        for (unsigned at = first; at < 1U << c->bits; at += 1U << length[i])
            c->entry[at] = (uint16_t)(i << 4 | length[i]);
    }
    return true;
}

/* The next symbol; -1: its code does not exist. */
static int decode(struct stream *s, const struct code *c) {
    const unsigned e = c->entry[s->bits & ((1U << c->bits) - 1)];
    (void)take(s, (int)(e & 15));
    return e != 0 ? (int)(e >> 4) : -1;
}

/* ---- blocks ---- */

struct codes {
    struct code literal, distance;
};

static bool fixed_codes(struct codes *c) {
    uint8_t length[LITERALS];
    for (int i = 0; i < LITERALS; i++)
        length[i] = (uint8_t)(i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
    if (!make_code(&c->literal, length, LITERALS))
        return false;
    memset(length, 5, DISTANCES);
    return make_code(&c->distance, length, DISTANCES);
}

/* Reads `count` lengths that are packed by the code in `c`. */
static bool read_lengths(uint8_t *length, int count, struct stream *s,
                         const struct code *c) {
    for (int i = 0; i < count;) {
        refill(s);
        const int symbol = decode(s, c);
        if (symbol < 0 || s->count < 0 || (symbol == 16 && i == 0))
            return false;
        if (symbol < 16) {
            length[i++] = (uint8_t)symbol;
            continue;
        }
        const uint8_t again = symbol == 16 ? length[i - 1] : 0;
        int times = symbol == 16   ? 3 + (int)take(s, 2)
                    : symbol == 17 ? 3 + (int)take(s, 3)
                                   : 11 + (int)take(s, 7);
        if (times > count - i)
            return false;
        while (times-- > 0)
            length[i++] = again;
    }
    return true;
}

static bool own_codes(struct codes *c, struct stream *s) {
    static const uint8_t order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t length[LITERALS + DISTANCES + 32] = {0}, small[19] = {0};
    const int literals = 257 + (int)take(s, 5), distances = 1 + (int)take(s, 5);
    const int lengths = 4 + (int)take(s, 4);
    for (int i = 0; i < lengths; i++) {
        refill(s);
        small[order[i]] = (uint8_t)take(s, 3);
    }
    return make_code(&c->literal, small, 19) &&
           read_lengths(length, literals + distances, s, &c->literal) &&
           make_code(&c->literal, length, literals) &&
           make_code(&c->distance, length + literals, distances);
}

/* Of each symbol: the least value, and how many bits of the input are added to it. */
static const struct {
    uint16_t least;
    uint8_t bits;
} lengths_of[29] = {{3, 0},   {4, 0},   {5, 0},   {6, 0},   {7, 0},  {8, 0},
                    {9, 0},   {10, 0},  {11, 1},  {13, 1},  {15, 1}, {17, 1},
                    {19, 2},  {23, 2},  {27, 2},  {31, 2},  {35, 3}, {43, 3},
                    {51, 3},  {59, 3},  {67, 4},  {83, 4},  {99, 4}, {115, 4},
                    {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}},
  distances_of[30] = {{1, 0},     {2, 0},     {3, 0},      {4, 0},      {5, 1},
                      {7, 1},     {9, 2},     {13, 2},     {17, 3},     {25, 3},
                      {33, 4},    {49, 4},    {65, 5},     {97, 5},     {129, 6},
                      {193, 6},   {257, 7},   {385, 7},    {513, 8},    {769, 8},
                      {1025, 9},  {1537, 9},  {2049, 10},  {3073, 10},  {4097, 11},
                      {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13}};

struct output {
    unsigned char *out;
    size_t at, size;
};

static bool copy_back(struct output *o, size_t distance, size_t length) {
    if (distance > o->at || length > o->size - o->at)
        return false;
    unsigned char *to = o->out + o->at;
    const unsigned char *from = to - distance;
    for (size_t i = 0; i < length; i++) /* the two may overlap */
        to[i] = from[i];
    o->at += length;
    return true;
}

static bool packed_block(struct output *o, struct stream *s, const struct codes *c) {
    for (;;) {
        refill(s);
        const int symbol = decode(s, &c->literal);
        if (symbol < 0 || s->count < 0)
            return false;
        if (symbol < END) {
            if (o->at == o->size)
                return false;
            o->out[o->at++] = (unsigned char)symbol;
            continue;
        }
        if (symbol == END)
            return true;
        if (symbol - END - 1 >= 29)
            return false;
        const size_t length =
            lengths_of[symbol - END - 1].least + take(s, lengths_of[symbol - END - 1].bits);
        const int far = decode(s, &c->distance);
        if (far < 0 || far >= 30)
            return false;
        if (!copy_back(o, distances_of[far].least + take(s, distances_of[far].bits),
                       length))
            return false;
    }
}

static bool stored_block(struct output *o, struct stream *s) {
    (void)take(s, s->count & 7);
    refill(s);
    const unsigned length = take(s, 16), check = take(s, 16);
    if (s->count < 0 || (length ^ check) != 0xffff || length > o->size - o->at)
        return false;
    for (unsigned i = 0; i < length; i++) {
        refill(s);
        o->out[o->at++] = (unsigned char)take(s, 8);
    }
    return s->count >= 0;
}

bool gk_inflate(unsigned char *out, size_t size, const unsigned char *in, size_t packed) {
    struct stream s = {in, in + packed, 0, 0};
    struct output o = {out, 0, size};
    struct codes codes;
    bool sound = true, last = false;
    while (sound && !last) {
        refill(&s);
        last = take(&s, 1) != 0;
        const unsigned kind = take(&s, 2);
        if (kind == 0)
            sound = stored_block(&o, &s);
        else
            sound = (kind == 1   ? fixed_codes(&codes)
                     : kind == 2 ? own_codes(&codes, &s)
                                 : false) &&
                    packed_block(&o, &s, &codes);
    }
    return sound && s.count >= 0 && o.at == size;
}
