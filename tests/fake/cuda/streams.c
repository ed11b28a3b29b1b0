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

gt_cu_result cuStreamCreate(CUstream *stream, unsigned flags) {
    ENTER(cuStreamCreate);
    *stream = calloc(1, sizeof **stream);
    live.streams += *stream != NULL;
    return *stream ? GT_CU_SUCCESS : GT_CU_OUT_OF_MEMORY;
}

gt_cu_result cuStreamDestroy_v2(CUstream stream) {
    ENTER(cuStreamDestroy);
    (void)cl.clFinish(cl.queue);
    live.streams--;
    if (stream->capturing)
        free_graph(stream->capturing);
    free(stream);
    return GT_CU_SUCCESS;
}

gt_cu_result cuStreamSynchronize(CUstream stream) {
    ENTER(cuStreamSynchronize);
    return not_in_capture(stream) ? IN_CAPTURE : finish();
}

gt_cu_result cuStreamQuery(CUstream stream) {
    ENTER(cuStreamQuery);
    return not_in_capture(stream) ? IN_CAPTURE : finish();
}

gt_cu_result cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    ENTER(cuStreamWaitEvent);
    return event->recorded ? GT_CU_SUCCESS : GT_CU_INVALID_HANDLE; /* all is in order */
}

gt_cu_result cuStreamBeginCapture_v2(CUstream stream, gt_cu_capture_mode mode) {
    ENTER(cuStreamBeginCapture);
    if (!stream || stream->capturing)
        return GT_CU_INVALID_VALUE;
    stream->capturing = calloc(1, sizeof *stream->capturing);
    live.graphs += stream->capturing != NULL;
    return stream->capturing ? GT_CU_SUCCESS : GT_CU_OUT_OF_MEMORY;
}

gt_cu_result cuStreamEndCapture(CUstream stream, CUgraph *graph) {
    ENTER(cuStreamEndCapture);
    *graph = stream->capturing;
    stream->capturing = NULL;
    return *graph ? GT_CU_SUCCESS : GT_CU_INVALID_VALUE;
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

gt_cu_result cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    ENTER(cuGraphLaunch);
    const bool all = !times_are_modelled();
    gt_cu_result result = GT_CU_SUCCESS;
    for (size_t i = 0; !result && !current()->lost && i < exec->graph.count; i++)
        result = run(&exec->graph.node[i], or_null_stream(stream), all || i < MODEL_NODES);
    return result;
}

gt_cu_result cuGraphExecDestroy(CUgraphExec exec) {
    ENTER(cuGraphExecDestroy);
    live.graphs--;
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
