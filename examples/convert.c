/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.c - data for a product of 8-bit floats, made from ordinary numbers, and the loss
 * of each type: gemmtune_convert needs no device.
 *
 *     cc examples/convert.c $(pkg-config --cflags --libs gemmtune) -lm
 */
#include "gemmtune.h"

#include <math.h>
#include <stdio.h>

enum { ROWS = 64, COLS = 100, LD = 112 }; /* rows of whole 16 bytes, for fast loads */

static float numbers[ROWS * COLS], back[ROWS * COLS];
static double stored[ROWS * LD]; /* room for elements of any type */

/* The largest difference, relative to the number, after a way there and back. */
static double loss(gemmtune_dtype type) {
    double most = 0;
    if (gemmtune_convert(stored, type, LD, numbers, GEMMTUNE_F32, 0, ROWS, COLS) !=
            GEMMTUNE_OK ||
        gemmtune_convert(back, GEMMTUNE_F32, 0, stored, type, LD, ROWS, COLS) !=
            GEMMTUNE_OK) {
        (void)fprintf(stderr, "%s\n", gemmtune_errmsg());
        return INFINITY;
    }
    for (int i = 0; i < ROWS * COLS; i++)
        most = fmax(most, fabs((double)back[i] - (double)numbers[i]) / (double)numbers[i]);
    return most;
}

int main(void) {
    static const struct {
        const char *name;
        gemmtune_dtype type;
        double most; /* half of the gap after 1 */
    } types[] = {
        {"f16", GEMMTUNE_F16, 0x1p-11},
        {"bf16", GEMMTUNE_BF16, 0x1p-8},
        {"e4m3", GEMMTUNE_E4M3, 0x1p-4},
        {"e5m2", GEMMTUNE_E5M2, 0x1p-3},
    };
    int bad = 0;
    for (int i = 0; i < ROWS * COLS; i++)
        numbers[i] = 1 + (float)i / 100;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const double most = loss(types[i].type);
        (void)printf("%-5s loses up to %.2g of a number\n", types[i].name, most);
        bad += !(most <= types[i].most);
    }
    return bad > 0;
}
