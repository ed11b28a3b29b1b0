/* SPDX-License-Identifier: Apache-2.0 */
/* scene.h - calls of cuBLAS that the programs of tests make. The programs differ in the
 * way they find it. */
#ifndef GT_TESTS_SHIM_SCENE_H
#define GT_TESTS_SHIM_SCENE_H

/* The address of a function of cuBLAS or cublasLt; NULL: the program does not find it. */
typedef void *(*finder)(const char *name);

/* Finds functions that the program was linked with. */
void *find_linked(const char *name);

/* Plays the scene of argv[0] with its arguments. Returns the exit code: 0 when every result
 * was right. */
int scene(finder find, int argc, char **argv);

#endif
