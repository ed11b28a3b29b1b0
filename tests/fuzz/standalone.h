/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standalone.h - replaces the fuzzer: with GT_FUZZ_STANDALONE any compiler builds a program
 * that replays the files given as arguments, each in one call, and prints how many there
 * were.
 */
#ifndef GT_TESTS_FUZZ_STANDALONE_H
#define GT_TESTS_FUZZ_STANDALONE_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef GT_FUZZ_STANDALONE
#include <stdio.h>
#include <stdlib.h>

enum { INPUT_MAX = 1 << 20 };

int main(int argc, char **argv) {
    int replayed = 0;
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        uint8_t *data = malloc(INPUT_MAX);
        if (file == NULL || data == NULL) {
            perror(argv[i]);
            return 1;
        }
        const size_t size = fread(data, 1, INPUT_MAX, file);
        (void)fclose(file);
        uint8_t *exact =
            malloc(size + 1); /* so that a sanitizer sees a read past the end */
        for (size_t j = 0; exact != NULL && j < size; j++)
            exact[j] = data[j];
        free(data);
        (void)LLVMFuzzerTestOneInput(exact, size);
        free(exact);
        replayed++;
    }
    printf("%d inputs replayed\n", replayed);
    return 0;
}
#endif

#endif
