/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.c - a library that was linked with cuBLAS, for a program that was not. */
#include "tests/shim/scene.h"

__attribute__((visibility("default"))) int play(int argc, char **argv);

int play(int argc, char **argv) {
    return scene(find_linked, argc, argv);
}
