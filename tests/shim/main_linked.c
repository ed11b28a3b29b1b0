/* SPDX-License-Identifier: Apache-2.0 */
/* main_linked.c - a program that was linked with cuBLAS. */
#include "tests/shim/scene.h"

int main(int argc, char **argv) {
    return scene(find_linked, argc - 1, argv + 1);
}
