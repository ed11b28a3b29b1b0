/* SPDX-License-Identifier: Apache-2.0 */
/* backend.c - see backend.h. */
#include "core/backend.h"

#include <stddef.h>

const char *const gt_backend_words[GT_BACKENDS + 1] = {
#define X(id, word, title) [id] = (word),
    GT_BACKEND_LIST(X)
#undef X
};

const char *gt_backend_name(gemmtune_backend backend) {
    return (unsigned)backend < GT_BACKENDS ? gt_backend_words[backend] : "unknown";
}
