/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toolchain.h - notes of the image cache: which toolchain a set of compiler libraries is.
 *
 * The key of an image contains the toolchain, "NVRTC 13.0 ...", and only the library itself
 * can name its version. Loading NVRTC takes a second when its files are cold. So the first
 * process that loads it leaves a note under a digest of everything that decides which
 * library is loaded; later ones find an image without loading it. A note that is missing or
 * out of date costs time, never a wrong kernel: an image is found by the hash of its source
 * whatever compiler made it.
 */
#ifndef GT_RUNTIME_DRIVERS_TOOLCHAIN_H
#define GT_RUNTIME_DRIVERS_TOOLCHAIN_H

#include "runtime/drivers/cache.h"

/* Reads the toolchain that was noted for these libraries. False when there is no note. */
bool gt_toolchain_recall(char text[GT_TOOLCHAIN_MAX], int folder,
                         const char libraries[GT_CACHE_KEY_SIZE]);
/* Writes the note, unless it is there already. A failure is ignored. */
void gt_toolchain_note(int folder, const char libraries[GT_CACHE_KEY_SIZE],
                       const char *text);

#endif
