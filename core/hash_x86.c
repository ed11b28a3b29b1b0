/* SPDX-License-Identifier: Apache-2.0 */
/* hash_x86.c - see hash_x86.h. The instructions come from Intel's "SHA Extensions" (2013):
 * SHA256RNDS2 does two rounds, SHA256MSG1 and SHA256MSG2 the message schedule. */
#include "core/hash_x86.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>

static bool ask_processor(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & bit_SSSE3) == 0 || (c & bit_SSE4_1) == 0)
        return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA) != 0;
}

bool gt_hash_has_x86(void) {
    enum { UNKNOWN, NO, YES };
    static atomic_int answer = UNKNOWN;
    int known = atomic_load_explicit(&answer, memory_order_relaxed);
    if (known == UNKNOWN) {
        known = ask_processor() ? YES : NO;
        atomic_store_explicit(&answer, known, memory_order_relaxed);
    }
    return known == YES;
}

/* Four words of a message, which are stored with the highest byte first. */
__attribute__((target("ssse3"))) static __m128i load_words(const unsigned char *at) {
    const __m128i turned = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)at), turned);
}

/* The words of the schedule after the sixteen in a, b, c, d: the four that follow d. */
__attribute__((target("sha,ssse3"))) static __m128i next_words(__m128i a, __m128i b,
                                                               __m128i c, __m128i d) {
    const __m128i seven_back = _mm_alignr_epi8(d, c, 4);
    return _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(a, b), seven_back), d);
}

/* The instructions keep a b e f in one register and c d g h in another, a and c highest. */
struct halves {
    __m128i abef, cdgh;
};

/* Four rounds with four words and their constants. */
__attribute__((target("sha,sse2"))) static struct halves
four_rounds(struct halves h, __m128i words, const uint32_t *k) {
    const __m128i keyed =
        _mm_add_epi32(words, _mm_loadu_si128((const __m128i *)(const void *)k));
    h.cdgh = _mm_sha256rnds2_epu32(h.cdgh, h.abef, keyed);
    h.abef = _mm_sha256rnds2_epu32(h.abef, h.cdgh, _mm_shuffle_epi32(keyed, 0x0e));
    return h;
}

__attribute__((target("sha,ssse3"))) static struct halves
add_block(struct halves h, const unsigned char *block, const uint32_t k[64]) {
    const struct halves before = h;
    __m128i w[4];
    for (int i = 0; i < 4; i++)
        w[i] = load_words(block + 16 * i);
    for (int t = 0; t < 64; t += 16) {
        h = four_rounds(h, w[0], k + t);
        h = four_rounds(h, w[1], k + t + 4);
        h = four_rounds(h, w[2], k + t + 8);
        h = four_rounds(h, w[3], k + t + 12);
        w[0] = next_words(w[0], w[1], w[2], w[3]);
        w[1] = next_words(w[1], w[2], w[3], w[0]);
        w[2] = next_words(w[2], w[3], w[0], w[1]);
        w[3] = next_words(w[3], w[0], w[1], w[2]);
    }
    h.abef = _mm_add_epi32(h.abef, before.abef);
    h.cdgh = _mm_add_epi32(h.cdgh, before.cdgh);
    return h;
}

__attribute__((target("sha,ssse3,sse4.1"))) void
gt_hash_compress_x86(uint32_t state[8], const unsigned char *block, size_t count,
                     const uint32_t k[64]) {
    const int s[8] = {(int)state[0], (int)state[1], (int)state[2], (int)state[3],
                      (int)state[4], (int)state[5], (int)state[6], (int)state[7]};
    struct halves h = {_mm_set_epi32(s[0], s[1], s[4], s[5]),
                       _mm_set_epi32(s[2], s[3], s[6], s[7])};
    for (size_t i = 0; i < count; i++)
        h = add_block(h, block + 64 * i, k);
    const int sums[8] = {_mm_extract_epi32(h.abef, 3), _mm_extract_epi32(h.abef, 2),
                         _mm_extract_epi32(h.cdgh, 3), _mm_extract_epi32(h.cdgh, 2),
                         _mm_extract_epi32(h.abef, 1), _mm_extract_epi32(h.abef, 0),
                         _mm_extract_epi32(h.cdgh, 1), _mm_extract_epi32(h.cdgh, 0)};
    for (int i = 0; i < 8; i++)
        state[i] = (uint32_t)sums[i];
}

#else

bool gt_hash_has_x86(void) {
    return false;
}

void gt_hash_compress_x86(uint32_t state[8], const unsigned char *block, size_t count,
                          const uint32_t k[64]) {
    (void)state;
    (void)block;
    (void)count;
    (void)k;
}

#endif
