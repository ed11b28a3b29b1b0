/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - allocations and copies. See fake_cuda.h. */
#include "tests/fake/cuda/fake_cuda.h"

#include <stdlib.h>
#include <string.h>

struct memory {
    struct memory *next;
    CUcontext context;
    void *room; /* as allocated */
    char *base; /* aligned as CUDA does */
    size_t bytes;
    struct trail trail;
};

static struct memory *memories;

struct trail *trail_of(CUdeviceptr at) {
    for (struct memory *m = memories; m; m = m->next)
        if (host(at) >= m->base && host(at) < m->base + m->bytes)
            return &m->trail;
    return NULL;
}

bool is_allocated(CUdeviceptr at, size_t bytes) {
    for (const struct memory *m = memories; m; m = m->next) {
        const CUdeviceptr base = (CUdeviceptr)(uintptr_t)m->base;
        if (at >= base && at - base <= m->bytes && bytes <= m->bytes - (at - base))
            return true;
    }
    return false;
}

bool find_memory(uint64_t at, uint64_t *begin, uint64_t *end) {
    for (const struct memory *m = memories; m; m = m->next) {
        *begin = (uint64_t)(uintptr_t)m->base;
        *end = *begin + m->bytes;
        if (at >= *begin && at < *end)
            return true;
    }
    return false;
}

static void free_memory(struct memory *m) {
    cl.clSVMFree(cl.context, m->room);
    free(m);
}

void clear_memories(CUcontext context, long *count, size_t *bytes) {
    for (struct memory **at = &memories; *at;) {
        struct memory *m = *at;
        if (m->context != context) {
            at = &m->next;
            continue;
        }
        (*count)++;
        *bytes += m->bytes;
        *at = m->next;
        free_memory(m);
    }
}

static size_t used(CUcontext context) {
    size_t bytes = 0;
    for (const struct memory *m = memories; m; m = m->next)
        bytes += m->context == context ? m->bytes : 0;
    return bytes;
}

gt_cu_result cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes) {
    ENTER(cuMemGetInfo);
    *total_bytes = device[current()->device]->memory;
    *free_bytes = *total_bytes - used(current());
    return GT_CU_SUCCESS;
}

gt_cu_result cuMemAlloc_v2(CUdeviceptr *memory, size_t bytes) {
    ENTER(cuMemAlloc);
    const size_t total = device[current()->device]->memory;
    if (bytes == 0)
        return GT_CU_INVALID_VALUE;
    if (ends_a_capture())
        return IN_CAPTURE;
    if (bytes > total - used(current()))
        return GT_CU_OUT_OF_MEMORY;
    struct memory *m = calloc(1, sizeof *m);
    if (m) /* some room after it, so that "corrupt" may write a word to anything */
        m->room = cl.clSVMAlloc(cl.context, CL_MEM_READ_WRITE, bytes + 2 * ALIGNMENT, 0);
    if (!m || !m->room) {
        free(m);
        return GT_CU_OUT_OF_MEMORY;
    }
    m->base = (char *)m->room + ALIGNMENT - (uintptr_t)m->room % ALIGNMENT;
    memset(m->base, 0xcb, bytes); /* whatever was there before; not zeros */
    m->bytes = bytes;
    m->context = current();
    m->next = memories;
    memories = m;
    *memory = (CUdeviceptr)(uintptr_t)m->base;
    return GT_CU_SUCCESS;
}

gt_cu_result cuMemFree_v2(CUdeviceptr memory) {
    ENTER(cuMemFree);
    if (memory == 0)
        return GT_CU_SUCCESS;
    (void)cl.clFinish(cl.queue);
    for (struct memory **at = &memories; *at; at = &(*at)->next) {
        struct memory *m = *at;
        if (m->base != host(memory))
            continue;
        *at = m->next;
        free_memory(m);
        return GT_CU_SUCCESS;
    }
    return GT_CU_INVALID_VALUE;
}

/* ---- pinned host memory ---- */

struct pinned {
    struct pinned *next;
    char *base;
    size_t bytes;
};

static struct pinned *pinned;

static gt_cu_result pin(void **memory, size_t bytes) {
    struct pinned *p = calloc(1, sizeof *p);
    *memory = malloc(bytes);
    if (!p || !*memory) {
        free(p);
        free(*memory);
        return GT_CU_OUT_OF_MEMORY;
    }
    *p = (struct pinned){pinned, *memory, bytes};
    pinned = p;
    live.pinned++;
    return GT_CU_SUCCESS;
}

gt_cu_result cuMemAllocHost_v2(void **memory, size_t bytes) {
    ENTER(cuMemAllocHost);
    return pin(memory, bytes);
}

gt_cu_result cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
    ENTER(cuMemHostAlloc);
    return pin(memory, bytes);
}

gt_cu_result cuMemFreeHost(void *memory) {
    ENTER(cuMemFreeHost);
    for (struct pinned **at = &pinned; *at; at = &(*at)->next) {
        struct pinned *p = *at;
        if (p->base != memory)
            continue;
        *at = p->next;
        live.pinned--;
        free(p->base);
        free(p);
        return GT_CU_SUCCESS;
    }
    return GT_CU_INVALID_VALUE;
}

gt_cu_result cuPointerGetAttribute(void *value, gt_cu_pointer_attribute attribute,
                                   CUdeviceptr pointer) {
    ENTER(cuPointerGetAttribute);
    unsigned type = 0;
    for (const struct pinned *p = pinned; p; p = p->next)
        if (host(pointer) >= p->base && host(pointer) < p->base + p->bytes)
            type = GT_CU_MEMORY_HOST;
    if (is_allocated(pointer, 1))
        type = GT_CU_MEMORY_DEVICE;
    if (attribute != GT_CU_POINTER_MEMORY_TYPE || type == 0)
        return GT_CU_INVALID_VALUE;
    memcpy(value, &type, sizeof type);
    return GT_CU_SUCCESS;
}

/* ---- copies ---- */

gt_cu_result not_in_capture(CUstream stream) {
    return stream && stream->capturing ? IN_CAPTURE : GT_CU_SUCCESS;
}

/* Before the host touches [at, at + bytes) for a stream. */
static gt_cu_result reach(CUdeviceptr at, size_t bytes, CUstream stream) {
    if (not_in_capture(stream))
        return IN_CAPTURE;
    if (!is_allocated(at, bytes))
        return GT_CU_INVALID_VALUE;
    return finish();
}

static gt_cu_result to_device(CUdeviceptr to, const void *from, size_t bytes,
                              CUstream stream) {
    const gt_cu_result result = reach(to, bytes, stream);
    if (!result)
        memcpy(host(to), from, bytes);
    return result;
}

static gt_cu_result to_host(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    const gt_cu_result result = reach(from, bytes, stream);
    if (!result)
        memcpy(to, host(from), bytes);
    return result;
}

gt_cu_result cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
    ENTER(cuMemcpyHtoD);
    return to_device(to, from, bytes, NULL);
}

gt_cu_result cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
    ENTER(cuMemcpyDtoH);
    return to_host(to, from, bytes, NULL);
}

gt_cu_result cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes,
                                  CUstream stream) {
    ENTER(cuMemcpyHtoDAsync);
    return to_device(to, from, bytes, stream);
}

gt_cu_result cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes,
                                  CUstream stream) {
    ENTER(cuMemcpyDtoHAsync);
    return to_host(to, from, bytes, stream);
}

static gt_cu_result copy_rows(const struct gt_cu_copy_2d *c, CUstream stream) {
    const bool in = c->to_type == GT_CU_MEMORY_DEVICE;
    gt_cu_result r = order_access(trail_of(in ? c->to_device : c->from_device), stream, in);
    for (size_t i = 0; r == GT_CU_SUCCESS && i < c->rows; i++) {
        const size_t from = (c->from_y + i) * c->from_pitch + c->from_x;
        const size_t to = (c->to_y + i) * c->to_pitch + c->to_x;
        if (in)
            r = to_device(c->to_device + to, (const char *)c->from_host + from,
                          c->row_bytes, stream);
        else
            r = to_host((char *)c->to_host + to, c->from_device + from, c->row_bytes,
                        stream);
    }
    return r;
}

gt_cu_result cuMemcpy2DAsync_v2(const struct gt_cu_copy_2d *copy, CUstream stream) {
    ENTER(cuMemcpy2DAsync);
    if (copy->row_bytes > copy->from_pitch || copy->row_bytes > copy->to_pitch ||
        copy->from_type == copy->to_type)
        return GT_CU_INVALID_VALUE;
    return copy_rows(copy, stream);
}

gt_cu_result cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                  CUstream stream) {
    ENTER(cuMemcpyDtoDAsync);
    const gt_cu_result result = reach(from, bytes, stream);
    return result ? result : to_device(to, host(from), bytes, stream);
}

gt_cu_result cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count,
                             CUstream stream) {
    ENTER(cuMemsetD8Async);
    const gt_cu_result result = reach(to, count, stream);
    if (!result)
        memset(host(to), value, count);
    return result;
}

gt_cu_result cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count,
                              CUstream stream) {
    ENTER(cuMemsetD32Async);
    if (to % 4 != 0)
        return GT_CU_INVALID_VALUE;
    const gt_cu_result result = reach(to, 4 * count, stream);
    for (size_t i = 0; !result && i < count; i++)
        memcpy(host(to) + 4 * i, &value, 4);
    return result;
}
