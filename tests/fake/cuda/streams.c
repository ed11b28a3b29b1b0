/* SPDX-License-Identifier: Apache-2.0 */
/* streams.c - streams and graphs. See fake_cuda.h. */
#include "tests/fake/cuda/fake_cuda.h"

#include <stdlib.h>
#include <string.h>

gt_cu_result record(CUgraph g, const struct launch *l) {
    if (g->count == g->room) {
        const size_t room = g->room ? 2 * g->room : 16;
        struct launch *grown = realloc(g->node, room * sizeof *grown);
        if (!grown)
            return GT_CU_OUT_OF_MEMORY;
        g->node = grown;
        g->room = room;
    }
    g->node[g->count++] = *l;
    return GT_CU_SUCCESS;
}

static void free_graph(CUgraph graph) {
    live.graphs--;
    free(graph->node);
    free(graph);
}

/* Streams that are captured in global mode, and what this thread has promised. */
static int strict_captures;
static _Thread_local gt_cu_capture_mode promise = GT_CU_CAPTURE_GLOBAL;

bool ends_a_capture(void) {
    return strict_captures > 0 && promise != GT_CU_CAPTURE_RELAXED;
}

gt_cu_result cuStreamCreate(CUstream *stream, unsigned flags) {
    ENTER(cuStreamCreate);
    static unsigned long long ids = 2; /* the legacy stream and a thread's have two */
    *stream = calloc(1, sizeof **stream);
    live.streams += *stream != NULL;
    if (*stream) {
        order_open(*stream);
        (*stream)->id = ++ids;
        (*stream)->context = current();
    }
    return *stream ? GT_CU_SUCCESS : GT_CU_OUT_OF_MEMORY;
}

gt_cu_result cuStreamDestroy_v2(CUstream stream) {
    ENTER(cuStreamDestroy);
    (void)cl.clFinish(cl.queue);
    live.streams--;
    order_close(stream);
    strict_captures -= stream->strictly;
    if (stream->capturing)
        free_graph(stream->capturing);
    free(stream);
    return GT_CU_SUCCESS;
}

gt_cu_result cuStreamSynchronize(CUstream stream) {
    ENTER(cuStreamSynchronize);
    order_join(or_null_stream(stream)->seen);
    return not_in_capture(stream) ? IN_CAPTURE : finish();
}

gt_cu_result cuStreamQuery(CUstream stream) {
    ENTER(cuStreamQuery);
    return not_in_capture(stream) ? IN_CAPTURE : finish();
}

gt_cu_result cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    ENTER(cuStreamWaitEvent);
    if (!event->recorded)
        return GT_CU_INVALID_HANDLE;
    order_wait(or_null_stream(stream), event);
    return GT_CU_SUCCESS; /* everything is in order anyway */
}

gt_cu_result cuStreamBeginCapture_v2(CUstream stream, gt_cu_capture_mode mode) {
    ENTER(cuStreamBeginCapture);
    if (!stream || stream->capturing)
        return GT_CU_INVALID_VALUE;
    stream->capturing = calloc(1, sizeof *stream->capturing);
    live.graphs += stream->capturing != NULL;
    stream->strictly = stream->capturing && mode == GT_CU_CAPTURE_GLOBAL;
    strict_captures += stream->strictly;
    return stream->capturing ? GT_CU_SUCCESS : GT_CU_OUT_OF_MEMORY;
}

gt_cu_result cuStreamEndCapture(CUstream stream, CUgraph *graph) {
    ENTER(cuStreamEndCapture);
    *graph = stream->capturing;
    stream->capturing = NULL;
    strict_captures -= stream->strictly;
    stream->strictly = false;
    if (*graph && stream->broken) {
        free_graph(*graph);
        *graph = NULL;
        stream->broken = false;
        return CAPTURE_ENDED;
    }
    return *graph ? GT_CU_SUCCESS : GT_CU_INVALID_VALUE;
}

gt_cu_result cuStreamIsCapturing(CUstream stream, gt_cu_capture_status *status) {
    ENTER(cuStreamIsCapturing);
    *status = stream && stream->capturing ? GT_CU_CAPTURE_ACTIVE : GT_CU_CAPTURE_NONE;
    return GT_CU_SUCCESS;
}

gt_cu_result cuThreadExchangeStreamCaptureMode(gt_cu_capture_mode *mode) {
    ENTER(cuThreadExchangeStreamCaptureMode);
    const gt_cu_capture_mode before = promise;
    promise = *mode;
    *mode = before;
    return GT_CU_SUCCESS;
}

gt_cu_result cuStreamGetId(CUstream stream, unsigned long long *number) {
    ENTER(cuStreamGetId);
    if (not_in_capture(stream)) {
        stream->broken = true; /* as driver 580 */
        return IN_CAPTURE;
    }
    *number = stream ? stream->id : 1;
    return GT_CU_SUCCESS;
}

gt_cu_result cuStreamGetCtx(CUstream stream, CUcontext *context) {
    *context = stream ? stream->context : current();
    return GT_CU_SUCCESS;
}

gt_cu_result cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
                                         unsigned long long flags) {
    ENTER(cuGraphInstantiateWithFlags);
    CUgraphExec e = calloc(1, sizeof *e);
    struct launch *node = calloc(graph->count + 1, sizeof *node);
    if (!e || !node) {
        free(e);
        free(node);
        return GT_CU_OUT_OF_MEMORY;
    }
    if (graph->count)
        memcpy(node, graph->node, graph->count * sizeof *node);
    e->graph.node = node;
    e->graph.count = graph->count;
    live.graphs++;
    *exec = e;
    return GT_CU_SUCCESS;
}

gt_cu_result cuGraphUpload(CUgraphExec exec, CUstream stream) {
    ENTER(cuGraphUpload);
    return GT_CU_SUCCESS;
}

/* The graph that was launched last. */
static CUgraphExec last_graph;

/* Nodes of one of the launches that a graph has, which all have the same kernels. */
static size_t nodes_of_a_launch(const struct CUgraph_st *g) {
    for (size_t i = 1; i < g->count; i++)
        if (g->node[i].function == g->node[0].function && g->count % i == 0)
            return i;
    return g->count;
}

static bool is_given(const struct launch *nodes, size_t count, CUdeviceptr c) {
    for (size_t i = 0; i < count; i++)
        if (points_to(&nodes[i], c))
            return true;
    return false;
}

/* The nodes that are executed where times come from the model: a few whole launches. */
static size_t nodes_of_a_model(const struct CUgraph_st *g) {
    const size_t each = nodes_of_a_launch(g);
    return each < MODEL_NODES ? MODEL_NODES / each * each : each;
}

gt_cu_result run_launches_on(CUdeviceptr c) {
    const struct CUgraph_st *g = last_graph ? &last_graph->graph : NULL;
    const size_t each = g ? nodes_of_a_launch(g) : 1;
    gt_cu_result result = GT_CU_SUCCESS;
    for (size_t at = g ? nodes_of_a_model(g) : 0; g && at < g->count; at += each)
        for (size_t i = 0; is_given(&g->node[at], each, c) && i < each; i++)
            if (!result)
                result = run_untimed(&g->node[at + i]);
    return result;
}

gt_cu_result cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    ENTER(cuGraphLaunch);
    const struct CUgraph_st *g = &exec->graph;
    const size_t real = times_are_modelled() && g->count ? nodes_of_a_model(g) : g->count;
    gt_cu_result result = GT_CU_SUCCESS;
    last_graph = exec;
    for (size_t i = 0; !result && !current()->lost && i < g->count; i++)
        result = run(&g->node[i], or_null_stream(stream), i < real);
    return result;
}

gt_cu_result cuGraphExecDestroy(CUgraphExec exec) {
    ENTER(cuGraphExecDestroy);
    live.graphs--;
    if (last_graph == exec)
        last_graph = NULL;
    free(exec->graph.node);
    free(exec);
    return GT_CU_SUCCESS;
}

gt_cu_result cuGraphDestroy(CUgraph graph) {
    ENTER(cuGraphDestroy);
    free_graph(graph);
    return GT_CU_SUCCESS;
}

gt_cu_result cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    ENTER(cuGraphGetNodes);
    for (size_t i = 0; nodes && i < *count && i < graph->count; i++)
        nodes[i] = (CUgraphNode)(void *)&graph->node[i];
    *count = graph->count;
    return GT_CU_SUCCESS;
}

gt_cu_result cuGraphKernelNodeGetParams_v2(CUgraphNode node,
                                           struct gt_cu_kernel_node *params) {
    ENTER(cuGraphKernelNodeGetParams);
    struct launch *l = (void *)node;
    for (int i = 0; i < l->function->count; i++)
        l->param[i] = l->value[i];
    *params = (struct gt_cu_kernel_node){
        .function = l->function,
        .grid_x = l->grid[0],
        .grid_y = l->grid[1],
        .grid_z = l->grid[2],
        .block_x = l->block[0],
        .block_y = l->block[1],
        .block_z = l->block[2],
        .smem_bytes = l->smem,
        .params = l->param,
    };
    return GT_CU_SUCCESS;
}

/* As the driver, which says 0 of a launch without clusters. */
gt_cu_result cuGraphKernelNodeGetAttribute(CUgraphNode node, gt_cu_launch_attribute_id id,
                                           union gt_cu_launch_value *value) {
    ENTER(cuGraphKernelNodeGetAttribute);
    const struct launch *l = (void *)node;
    const bool clustered = l->cluster[0] * l->cluster[1] * l->cluster[2] > 1;
    if (id != GT_CU_LAUNCH_CLUSTER)
        return GT_CU_INVALID_VALUE;
    memset(value, 0, sizeof *value);
    if (clustered)
        memcpy(&value->cluster, l->cluster, sizeof l->cluster);
    return GT_CU_SUCCESS;
}
