/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rival.c - libgemmtune.so as it is, with times of the vendor's that a test makes up. The
 * linker takes this definition, which comes first.
 *
 * - FAKE_RIVAL=faster, tie, slower: the verdict about every plan; unset: nothing is known
 * - FAKE_RIVAL_VERSION: of the library that was measured (130100)
 */
#include "include/gemmtune.h"

#include <stdlib.h>
#include <string.h>

gemmtune_status gemmtune_plan_rival_sized(const gemmtune_plan *plan,
                                          int32_t library_version,
                                          gemmtune_rival_info *info, size_t size) {
    static const char *const words[] = {"slower", "tie", "faster"};
    const char *word = getenv("FAKE_RIVAL"), *version = getenv("FAKE_RIVAL_VERSION");
    const int32_t measured = version != NULL ? atoi(version) : 130100;
    (void)plan;
    if (size != sizeof *info)
        return GEMMTUNE_EINVAL;
    *info = (gemmtune_rival_info){.struct_size = sizeof *info};
    for (int32_t i = 0; i < 3; i++)
        if (word != NULL && strcmp(words[i], word) == 0 && measured == library_version)
            *info = (gemmtune_rival_info){.struct_size = sizeof *info,
                                          .known = 1,
                                          .library = "cublas",
                                          .version = measured,
                                          .verdict = i - 1,
                                          .ours_ns = 1e6,
                                          .rival_ns = 1e6 + 5e5 * (i - 1)};
    return GEMMTUNE_OK;
}
