/* SPDX-License-Identifier: Apache-2.0 */
/* product.c - see fake_blas.h. */
#include "tests/fake/blas/fake_blas.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The environment is read once: some programs take the time of a call. */
static const char *log_path, *word_of_test = "";

__attribute__((constructor)) static void read_environment(void) {
    const char *text = getenv("FAKE_BLAS");
    log_path = getenv("FAKE_BLAS_LOG");
    if (text != NULL)
        word_of_test = text;
}

#ifndef FAKE_BLAS_VERSION
#define FAKE_BLAS_VERSION 130100
#endif

void fake_log(const char *function) {
    char line[128];
    const int fd =
        log_path != NULL ? open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (fd < 0)
        return;
    const int length =
        snprintf(line, sizeof line, "%s %d\n", function, FAKE_BLAS_VERSION / 10000);
    (void)!write(fd, line, (size_t)length);
    (void)close(fd);
}

bool fake_is(const char *word) {
    return word_of_test[0] != '\0' && strcmp(word_of_test, word) == 0;
}

size_t fake_size(unsigned type) {
    return type == GT_SHIM_R_64F                                                      ? 8
           : type == GT_SHIM_R_32F || type == GT_SHIM_R_32I                           ? 4
           : type == GT_SHIM_R_16F || type == GT_SHIM_R_16BF                          ? 2
           : type == GT_SHIM_R_8I || type == GT_SHIM_R_E4M3 || type == GT_SHIM_R_E5M2 ? 1
                                                                                      : 0;
}

static double half(unsigned bits) {
    const int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);
    const double size =
        exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    return bits & 32768 ? -size : size;
}

/* E4M3: a half with these bits has an exponent that is 8 less. */
static double quarter(unsigned bits) {
    return ldexp(half((bits & 128) << 8 | (bits & 127) << 7), 8);
}

static double get(const void *at, unsigned type, int64_t i) {
    union {
        uint32_t bits;
        float value;
    } f;
    switch (type) {
    case GT_SHIM_R_64F:
        return ((const double *)at)[i];
    case GT_SHIM_R_32F:
        return ((const float *)at)[i];
    case GT_SHIM_R_32I:
        return ((const int32_t *)at)[i];
    case GT_SHIM_R_8I:
        return ((const int8_t *)at)[i];
    case GT_SHIM_R_16F:
        return half(((const uint16_t *)at)[i]);
    case GT_SHIM_R_E4M3:
        return quarter(((const uint8_t *)at)[i]);
    default:
        f.bits = (uint32_t)((const uint16_t *)at)[i] << 16;
        return f.value;
    }
}

/* Values of tests are small integers, which 16-bit floats hold exactly. */
static void put(void *at, unsigned type, int64_t i, double value) {
    union {
        uint32_t bits;
        float value;
    } f = {.value = (float)value};
    int exponent;
    switch (type) {
    case GT_SHIM_R_64F:
        ((double *)at)[i] = value;
        break;
    case GT_SHIM_R_32F:
        ((float *)at)[i] = (float)value;
        break;
    case GT_SHIM_R_32I:
        ((int32_t *)at)[i] = (int32_t)value;
        break;
    case GT_SHIM_R_16F:
        (void)frexp(value, &exponent);
        ((uint16_t *)at)[i] =
            value == 0 ? 0
                       : (uint16_t)((value < 0 ? 32768 : 0) |
                                    ((int)ldexp(fabs(value), 11 - exponent) - 1024) |
                                    (exponent + 14) << 10);
        break;
    default:
        ((uint16_t *)at)[i] = (uint16_t)(f.bits >> 16);
    }
}

static double scalar(const struct fake_product *p, const void *at) {
    return p->wide    ? *(const double *)at
           : p->whole ? (double)*(const int32_t *)at
                      : (double)*(const float *)at;
}

/* Where the element of a row and a column of a matrix is. */
static int64_t place(bool in_rows, int64_t ld, int64_t row, int64_t col) {
    return in_rows ? row * ld + col : col * ld + row;
}

/* The element of op(X). */
static double element(const void *at, unsigned type, unsigned op, bool in_rows, int64_t ld,
                      int64_t row, int64_t col) {
    return get(at, type,
               op == GT_SHIM_N ? place(in_rows, ld, row, col)
                               : place(in_rows, ld, col, row));
}

void fake_compute(const struct fake_product *p) {
    enum { RELU = 2 };
    if (fake_size(p->type_a) == 0 || fake_is("silent"))
        return;
    const double alpha = scalar(p, p->alpha), beta = scalar(p, p->beta);
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = 0; i < p->m; i++) {
            double sum = 0;
            for (int64_t q = 0; q < p->k; q++)
                sum += element(p->a, p->type_a, p->op_a, p->row_a, p->lda, i, q) *
                       element(p->b, p->type_b, p->op_b, p->row_b, p->ldb, q, j);
            sum *= alpha;
            if (beta != 0)
                sum += beta * get(p->c, p->type_c, place(p->row_c, p->ldc, i, j));
            if (p->bias != NULL)
                sum += get(p->bias, p->bias_type, i);
            if (p->epilogue & RELU)
                sum = sum > 0 ? sum : 0;
            put(p->d, p->type_c, place(p->row_d, p->ldd, i, j), sum);
        }
}
