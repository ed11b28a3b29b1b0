/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - buffers, copies and events. See fake_opencl.h. */
#include "tests/fake/opencl/fake_opencl.h"

#include <pthread.h>

static struct _cl_mem *buffers;
static pthread_mutex_t buffers_lock = PTHREAD_MUTEX_INITIALIZER;
static cl_ulong now_ns;

/* ---- events ---- */

void fake_event(cl_event *place, cl_ulong ns) {
    const cl_ulong begin = now_ns;
    now_ns += ns;
    if (!place)
        return;
    *place = malloc(sizeof **place);
    if (!*place)
        abort();
    **place = (struct _cl_event){begin, now_ns};
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint wait_count,
                                   const cl_event *wait, cl_event *event) {
    fake_event(event, 0);
    return GT_CL_SUCCESS;
}

cl_int clWaitForEvents(cl_uint count, const cl_event *events) {
    return GT_CL_SUCCESS;
}

cl_int clGetEventInfo(cl_event event, cl_uint what, size_t size, void *value,
                      size_t *needed) {
    static const cl_int complete = GT_CL_COMPLETE;
    return fake_answer(&complete, sizeof complete, size, value, needed);
}

cl_int clGetEventProfilingInfo(cl_event event, cl_uint what, size_t size, void *value,
                               size_t *needed) {
    const cl_ulong at = what == GT_CL_PROFILING_START ? event->begin : event->end;
    return fake_answer(&at, sizeof at, size, value, needed);
}

cl_int clReleaseEvent(cl_event event) {
    free(event);
    return GT_CL_SUCCESS;
}

/* ---- buffers ---- */

static cl_mem keep(char *bytes, size_t size, bool own, cl_int *error) {
    cl_mem m = malloc(sizeof *m);
    if (error)
        *error = m && bytes ? GT_CL_SUCCESS : GT_CL_OUT_OF_HOST_MEMORY;
    if (!m || !bytes) {
        free(m);
        if (own)
            free(bytes);
        return NULL;
    }
    *m = (struct _cl_mem){.bytes = bytes, .size = size, .own = own};
    (void)pthread_mutex_lock(&buffers_lock);
    m->next = buffers;
    buffers = m;
    (void)pthread_mutex_unlock(&buffers_lock);
    return m;
}

cl_mem clCreateBuffer(cl_context context, cl_bitfield flags, size_t size, void *host,
                      cl_int *error) {
    if (host)
        return keep(host, size, false, error);
    const size_t room = (size + FAKE_ALIGN - 1) / FAKE_ALIGN * FAKE_ALIGN;
    return keep(aligned_alloc(FAKE_ALIGN, room), size, true, error);
}

cl_mem clCreateSubBuffer(cl_mem memory, cl_bitfield flags, cl_uint type, const void *region,
                         cl_int *error) {
    const size_t *at = region; /* origin, size */
    return keep(memory->bytes + at[0], at[1], false, error);
}

cl_int clReleaseMemObject(cl_mem memory) {
    (void)pthread_mutex_lock(&buffers_lock);
    struct _cl_mem **at = &buffers;
    while (*at && *at != memory)
        at = &(*at)->next;
    if (*at)
        *at = memory->next;
    (void)pthread_mutex_unlock(&buffers_lock);
    if (memory->own)
        free(memory->bytes);
    free(memory);
    return GT_CL_SUCCESS;
}

cl_int clGetMemObjectInfo(cl_mem memory, cl_uint what, size_t size, void *value,
                          size_t *needed) {
    return fake_answer(&memory->size, sizeof memory->size, size, value, needed);
}

char *fake_address(const void *handle) {
    char *found = NULL;
    (void)pthread_mutex_lock(&buffers_lock);
    for (const struct _cl_mem *m = buffers; m && !found; m = m->next)
        found = m == handle ? m->bytes : NULL;
    (void)pthread_mutex_unlock(&buffers_lock);
    return found;
}

/* The largest buffer there: a part of a buffer is no allocation of its own. */
bool fake_find(uint64_t at, uint64_t *begin, uint64_t *end) {
    bool found = false;
    (void)pthread_mutex_lock(&buffers_lock);
    for (const struct _cl_mem *m = buffers; m; m = m->next) {
        const uint64_t first = (uint64_t)(uintptr_t)m->bytes, last = first + m->size;
        if (at >= first && at < last && (!found || last - first > *end - *begin)) {
            *begin = first;
            *end = last;
            found = true;
        }
    }
    (void)pthread_mutex_unlock(&buffers_lock);
    return found;
}

/* ---- copies ---- */

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem from, cl_bool blocking,
                           size_t offset, size_t size, void *to, cl_uint wait_count,
                           const cl_event *wait, cl_event *event) {
    memcpy(to, from->bytes + offset, size);
    fake_event(event, size);
    return GT_CL_SUCCESS;
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem to, cl_bool blocking,
                            size_t offset, size_t size, const void *from,
                            cl_uint wait_count, const cl_event *wait, cl_event *event) {
    memcpy(to->bytes + offset, from, size);
    fake_event(event, size);
    return GT_CL_SUCCESS;
}

cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to,
                           size_t from_offset, size_t to_offset, size_t size,
                           cl_uint wait_count, const cl_event *wait, cl_event *event) {
    memmove(to->bytes + to_offset, from->bytes + from_offset, size);
    fake_event(event, size);
    return GT_CL_SUCCESS;
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem to, const void *pattern,
                           size_t pattern_size, size_t offset, size_t size,
                           cl_uint wait_count, const cl_event *wait, cl_event *event) {
    for (size_t i = 0; i < size; i += pattern_size)
        memcpy(to->bytes + offset + i, pattern, pattern_size);
    fake_event(event, size);
    return GT_CL_SUCCESS;
}

/* Copies of patches are for products of host matrices, which no test makes here. */
cl_int clEnqueueReadBufferRect(cl_command_queue queue, cl_mem from, cl_bool blocking,
                               const size_t *origin, const size_t *host_origin,
                               const size_t *region, size_t pitch, size_t slice,
                               size_t host_pitch, size_t host_slice, void *to,
                               cl_uint wait_count, const cl_event *wait, cl_event *event) {
    return GT_CL_INVALID_VALUE;
}

cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem to, cl_bool blocking,
                                const size_t *origin, const size_t *host_origin,
                                const size_t *region, size_t pitch, size_t slice,
                                size_t host_pitch, size_t host_slice, const void *from,
                                cl_uint wait_count, const cl_event *wait, cl_event *event) {
    return GT_CL_INVALID_VALUE;
}

void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking,
                         cl_bitfield flags, size_t offset, size_t size, cl_uint event_count,
                         const cl_event *events, cl_event *event, cl_int *error) {
    fake_event(event, 0);
    if (error)
        *error = GT_CL_SUCCESS;
    return memory->bytes + offset;
}

cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void *mapped,
                               cl_uint event_count, const cl_event *events,
                               cl_event *event) {
    fake_event(event, 0);
    return GT_CL_SUCCESS;
}
