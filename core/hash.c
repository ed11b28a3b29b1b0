/* SPDX-License-Identifier: Apache-2.0 */
/* hash.c - SHA-256. FIPS 180-4 has the same names of variables and constants. */
#include "core/hash.h"

#include "core/io.h"

#include "core/hash_x86.h"

#include <string.h>

enum { BLOCK = 64, LENGTH_AT = 56 }; /* bytes; the message length ends the last block */

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
};

static uint32_t rotr(uint32_t x, int n) {
    return (x >> n) | (x << (32 - n));
}

static uint32_t load_be(const unsigned char *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void schedule(uint32_t w[64], const unsigned char *block) {
    for (int t = 0; t < 16; t++)
        w[t] = load_be(block + 4 * t);
    for (int t = 16; t < 64; t++) {
        const uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
        const uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
}

/* One of the 64 rounds. Instead of moving a..h one place on, the caller names them in
 * another order. */
#define TURN(a, b, c, d, e, f, g, h, t)                                                    \
    do {                                                                                   \
        const uint32_t t1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) +                 \
                            ((e & f) ^ (~e & g)) + K[t] + w[t];                            \
        d += t1;                                                                           \
        h = t1 + (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c)); \
    } while (0)

static void compress_plainly(uint32_t state[8], const unsigned char *block) {
    uint32_t w[64];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    schedule(w, block);
    for (int t = 0; t < 64; t += 8) {
        TURN(a, b, c, d, e, f, g, h, t);
        TURN(h, a, b, c, d, e, f, g, t + 1);
        TURN(g, h, a, b, c, d, e, f, t + 2);
        TURN(f, g, h, a, b, c, d, e, t + 3);
        TURN(e, f, g, h, a, b, c, d, t + 4);
        TURN(d, e, f, g, h, a, b, c, t + 5);
        TURN(c, d, e, f, g, h, a, b, t + 6);
        TURN(b, c, d, e, f, g, h, a, t + 7);
    }
    const uint32_t turned[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++)
        state[i] += turned[i];
}

static void compress(uint32_t state[8], const unsigned char *block, size_t count) {
    if (gt_hash_has_x86())
        gt_hash_compress_x86(state, block, count, K);
    else
        for (size_t i = 0; i < count; i++)
            compress_plainly(state, block + BLOCK * i);
}

void gt_hash_init(struct gt_hash *h) {
    /* The first 32 bits of the fractional parts of the square roots of the first 8
     * primes. */
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memset(h, 0, sizeof *h);
    memcpy(h->state, start, sizeof start);
}

/* Adds bytes to a block that is begun, or begins one. Returns how many. */
static size_t add_some(struct gt_hash *h, const unsigned char *from, size_t size) {
    const size_t used = h->bytes % BLOCK;
    const size_t part = size < BLOCK - used ? size : BLOCK - used;
    memcpy(h->block + used, from, part);
    h->bytes += part;
    if (used + part == BLOCK)
        compress(h->state, h->block, 1);
    return part;
}

void gt_hash_add(struct gt_hash *h, const void *data, size_t size) {
    const unsigned char *from = data;
    while (size > 0) {
        const size_t whole = h->bytes % BLOCK == 0 ? size / BLOCK : 0;
        size_t part = whole * BLOCK;
        if (whole > 0) {
            compress(h->state, from, whole);
            h->bytes += part;
        } else {
            part = add_some(h, from, size);
        }
        from += part;
        size -= part;
    }
}

void gt_hash_add_text(struct gt_hash *h, const char *text) {
    gt_hash_add(h, text, strlen(text) + 1);
}

/* A one bit, zeros, and the length in bits: the message then fills whole blocks. */
static void pad(struct gt_hash *h) {
    static const unsigned char one_and_zeros[BLOCK] = {0x80};
    const uint64_t bits = h->bytes * 8;
    const size_t used = h->bytes % BLOCK;
    gt_hash_add(h, one_and_zeros,
                (used < LENGTH_AT ? LENGTH_AT : LENGTH_AT + BLOCK) - used);
    unsigned char length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    gt_hash_add(h, length, sizeof length);
}

void gt_hash_digits(struct gt_hash *h, char *digits, int count) {
    pad(h);
    for (int i = 0; i < count; i++)
        digits[i] = "0123456789abcdef"[h->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
}

void gt_hash_hex(struct gt_hash *h, char hex[65]) {
    gt_hash_digits(h, hex, 64);
    hex[64] = '\0';
}

gt_status gt_hash_file(char hex[65], const char *path, struct gt_err *err) {
    struct gt_hash h;
    char bytes[8192];
    FILE *in = NULL;
    const gt_status status = gt_fopen_input(&in, path, err);
    if (status != GEMMTUNE_OK)
        return status;
    gt_hash_init(&h);
    for (size_t got; (got = fread(bytes, 1, sizeof bytes, in)) > 0;)
        gt_hash_add(&h, bytes, got);
    const bool failed = ferror(in) != 0;
    (void)fclose(in);
    gt_hash_hex(&h, hex);
    return failed ? gt_fail(err, GEMMTUNE_EIO, "%s: it cannot be read", path) : GEMMTUNE_OK;
}
