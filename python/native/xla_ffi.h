/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_ffi.h - the part of XLA's foreign function interface that jax_call.c uses, so that
 * the build needs no jaxlib. Where jaxlib is, tests/python/test_jax.py compares it with
 * jaxlib's own header (xla/ffi/api/c_api.h). All of its structs begin with their size, and
 * grow at their end.
 */
#ifndef GT_PYTHON_XLA_FFI_H
#define GT_PYTHON_XLA_FFI_H

#include <stddef.h>
#include <stdint.h>

enum {
    GT_XLA_METADATA = 1, /* the type of an extension */
    GT_XLA_EXECUTE = 3,  /* a stage */
    GT_XLA_STRING = 4,   /* types of an attribute */
    GT_XLA_SCALAR = 3
};

/* XLA_FFI_Error_Code */
enum { GT_XLA_INVALID_ARGUMENT = 3, GT_XLA_UNIMPLEMENTED = 12, GT_XLA_INTERNAL = 13 };

/* XLA_FFI_DataType */
enum {
    GT_XLA_S8 = 2,
    GT_XLA_S32 = 4,
    GT_XLA_F16 = 10,
    GT_XLA_F32 = 11,
    GT_XLA_F64 = 12,
    GT_XLA_BF16 = 16,
    GT_XLA_F8E5M2 = 19,
    GT_XLA_F8E4M3FN = 20
};

typedef struct gt_xla_error gt_xla_error;
struct gt_xla_context;

struct gt_xla_extension {
    size_t struct_size;
    int type;
    struct gt_xla_extension *next;
};

struct gt_xla_version {
    size_t struct_size;
    struct gt_xla_extension *extension;
    int major, minor;
};

struct gt_xla_metadata {
    size_t struct_size;
    struct gt_xla_version version;
    uint32_t traits;
};

struct gt_xla_metadata_extension {
    struct gt_xla_extension base;
    struct gt_xla_metadata *metadata;
};

struct gt_xla_buffer {
    size_t struct_size;
    struct gt_xla_extension *extension;
    int dtype;
    void *data;
    int64_t rank;
    int64_t *dims;
};

struct gt_xla_span {
    const char *ptr;
    size_t len;
};

struct gt_xla_scalar {
    int dtype;
    void *value;
};

/* Arguments, and results. */
struct gt_xla_buffers {
    size_t struct_size;
    struct gt_xla_extension *extension;
    int64_t size;
    int *types;
    void **buffers; /* struct gt_xla_buffer */
};

struct gt_xla_attributes {
    size_t struct_size;
    struct gt_xla_extension *extension;
    int64_t size;
    int *types;
    struct gt_xla_span **names;
    void **values;
};

struct gt_xla_error_args {
    size_t struct_size;
    struct gt_xla_extension *extension;
    const char *message;
    int code;
};

struct gt_xla_stream_args {
    size_t struct_size;
    struct gt_xla_extension *extension;
    struct gt_xla_context *ctx;
    void *stream; /* out */
};

struct gt_xla_memory_args {
    size_t struct_size;
    struct gt_xla_extension *extension;
    struct gt_xla_context *ctx;
    size_t size, alignment;
    void *data; /* out */
};

/* Memory that calls on the stream may still use: XLA gives it out again in the stream's
 * order. */
struct gt_xla_free_args {
    size_t struct_size;
    struct gt_xla_extension *extension;
    struct gt_xla_context *ctx;
    size_t size;
    void *data;
};

struct gt_xla_ordinal_args {
    size_t struct_size;
    struct gt_xla_extension *extension;
    struct gt_xla_context *ctx;
    int32_t ordinal; /* out */
};

struct gt_xla_api {
    size_t struct_size;
    struct gt_xla_extension *extension;
    struct gt_xla_version version;
    const void *internal;
    gt_xla_error *(*error_create)(struct gt_xla_error_args *args);
    void (*error_message)(void *args);
    void (*error_destroy)(void *args);
    gt_xla_error *(*handler_register)(void *args);
    gt_xla_error *(*stream_get)(struct gt_xla_stream_args *args);
    gt_xla_error *(*type_register)(void *args);
    gt_xla_error *(*context_get)(void *args);
    gt_xla_error *(*state_set)(void *args);
    gt_xla_error *(*state_get)(void *args);
    gt_xla_error *(*memory_allocate)(struct gt_xla_memory_args *args);
    gt_xla_error *(*memory_free)(struct gt_xla_free_args *args);
    gt_xla_error *(*pool_schedule)(void *args);
    gt_xla_error *(*pool_threads)(void *args);
    gt_xla_error *(*future_create)(void *args);
    gt_xla_error *(*future_available)(void *args);
    gt_xla_error *(*future_error)(void *args);
    gt_xla_error *(*run_id_get)(void *args);
    gt_xla_error *(*ordinal_get)(struct gt_xla_ordinal_args *args);
};

struct gt_xla_call {
    size_t struct_size;
    struct gt_xla_extension *extension;
    const struct gt_xla_api *api;
    struct gt_xla_context *ctx;
    int stage;
    struct gt_xla_buffers args, results;
    struct gt_xla_attributes attributes;
};

#endif
