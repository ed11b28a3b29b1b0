/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle.h - workspaces of the calls of a handle of cuBLAS. A program that has given its
 * handle a workspace has given it to us as well: cuBLAS and our kernels use it one after
 * another, on the stream of the handle. Other handles get 32 MiB for each of their streams,
 * at the first call that needs it and is not captured. A captured call gets none of these:
 * graphs outlive handles, and may run beside the stream.
 *
 * Several threads may use one handle. A plan of two passes must not find the parts of
 * another plan in its workspace, so a launch with a workspace holds the lock of its handle.
 * Calls of cuBLAS itself do not hold it. So a workspace that the program gave is ours while
 * one thread alone calls products with the handle; afterwards plans without a workspace
 * serve.
 */
#ifndef GT_SHIM_HANDLE_H
#define GT_SHIM_HANDLE_H

#include "shim/device.h"
#include "shim/original.h"

/* The effects of cublasSetWorkspace, cublasSetStream and cublasDestroy. */
void gt_shim_workspace_given(void *handle, const struct gt_shim_library *library,
                             void *workspace, size_t bytes);
void gt_shim_workspace_lost(void *handle);
void gt_shim_handle_ends(void *handle);

struct gt_shim_handle;

/* This thread calls a product with the handle, whether it is served or not. */
void gt_shim_handle_used(void *handle);
/* From the choice of the workspace to the end of the launch: no other thread launches with
 * the workspaces of the handle. True: the workspace that the program gave may be used.
 * *held is NULL where there is no room; then the handle has no workspace of ours. */
bool gt_shim_workspace_hold(struct gt_shim_handle **held, void *handle);
void gt_shim_workspace_release(struct gt_shim_handle *held);
/* For a child after a fork: no thread of it holds a lock. */
void gt_shim_handle_anew(void);

/* The bytes that a call of the handle on the stream may use; *given: they are the
 * program's, at *workspace. Else they may have to be allocated first. */
size_t gt_shim_workspace_bytes(bool *given, void **workspace, void *handle,
                               const void *stream);
/* Memory of ours for the handle, which is held, and the stream, which is not captured.
 * NULL: there is none. */
void *gt_shim_workspace_own(void *handle, void *stream, const struct gt_shim_driver *d);

#endif
