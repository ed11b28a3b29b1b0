/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_epilogue.c - any bytes as an epilogue: see epilogue_promises.h. */
#include "tests/fuzz/epilogue_promises.h"
#include "tests/fuzz/standalone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    (void)check_epilogue(text);
    free(text);
    return 0;
}
