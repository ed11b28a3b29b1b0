/* SPDX-License-Identifier: Apache-2.0 */
/* reason.h - why a call is passed on to the program's own library. X(name, words for
 * people) */
#ifndef GT_SHIM_REASON_H
#define GT_SHIM_REASON_H

#define GT_SHIM_REASONS(X)                                                                 \
    X(NONE, "served")                                                                      \
    X(EMPTY, "nothing to compute")                                                         \
    X(COMPLEX, "complex numbers")                                                          \
    X(TYPES, "types without a kernel")                                                     \
    X(COMPUTE, "a compute type without a kernel")                                          \
    X(MATH, "math mode")                                                                   \
    X(EMULATION, "emulation")                                                              \
    X(SCALARS, "scalars in device memory")                                                 \
    X(GROUPS, "groups of products")                                                        \
    X(ORDER, "an order of cublasLt without a kernel")                                      \
    X(SCALES, "scales of cublasLt")                                                        \
    X(COUNTERS, "counters of cublasLt")                                                    \
    X(EPILOGUE, "an epilogue of cublasLt without an equal")                                \
    X(ROW_EPILOGUE, "a bias or a second output beside a D in row order")                   \
    X(NOT_IN_PLACE, "C is read and is not D")                                              \
    X(ALGORITHM, "an algorithm of the program's choice")                                   \
    X(SMS, "a target for the number of SMs")                                               \
    X(ALIGNMENT, "pointers not aligned to 16 bytes")                                       \
    X(INVALID, "arguments that cuBLAS may refuse")                                         \
    X(UNSUPPORTED, "problems without a kernel")                                            \
    X(CAPTURED, "first met in a capture")                                                  \
    X(UNTUNED, "not tuned on this device")                                                 \
    X(UNPINNED, "not pinned by the lock")                                                  \
    X(UNMEASURED, "not measured against this version")                                     \
    X(SLOWER, "not faster than the library")                                               \
    X(BUILDING, "kernel not built yet")                                                    \
    X(WORKSPACE, "no workspace")                                                           \
    X(CONTEXT, "stream of another context")                                                \
    X(MANY, "too many problems")                                                           \
    X(UNCHECKED, "not compared by check")                                                  \
    X(FORKED, "process after a fork")                                                      \
    X(FAILED, "an error of gemmtune's")

enum gt_shim_reason {
#define X(name, words) GT_SHIM_##name,
    GT_SHIM_REASONS(X)
#undef X
        GT_SHIM_REASON_COUNT
};

#endif
