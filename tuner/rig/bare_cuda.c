/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bare_cuda.c - reads launches from a CUDA graph. A captured launch is not executed; its
 * node gives kernel, arguments and clusters. A node does not say whether its launch may
 * begin before the previous one has ended, so here every launch waits for the previous one.
 */
#include "runtime/drivers/cuda_api.h"
#include "tuner/rig/bare.h"

#include <stdlib.h>

enum { CLUSTER_CC = 90 }; /* compute capability from which on devices have clusters */

struct cuda_bare {
    struct gt_bare head;
    const struct gt_cuda *cu;
    CUstream stream;
    CUgraph graph; /* owns the memory that the nodes point to */
    struct {
        CUfunction function;
        void **params;
        struct gt_cu_launch_config config;
        struct gt_cu_launch_attribute cluster;
    } launch[GT_BARE_MAX];
};

static gt_status result(gt_cu_result r, const char *call, struct gt_err *err) {
    return r == GT_CU_SUCCESS ? GEMMTUNE_OK : gt_cuda_fail(err, call, r);
}

/* ---- recording ---- */

static gt_status capture(struct cuda_bare *r, gt_enqueue_fn fn, void *user,
                         struct gt_err *err) {
    gt_status status = result(r->cu->cuStreamBeginCapture(r->stream, GT_CU_CAPTURE_RELAXED),
                              "cuStreamBeginCapture", err);
    if (status != GEMMTUNE_OK)
        return status;
    status = fn(user, err);
    const gt_cu_result ended = r->cu->cuStreamEndCapture(r->stream, &r->graph);
    return status != GEMMTUNE_OK ? status : result(ended, "cuStreamEndCapture", err);
}

static bool is_clustered(const union gt_cu_launch_value *v) {
    return v->cluster.x > 1 || v->cluster.y > 1 || v->cluster.z > 1;
}

/* A cluster is an attribute of the node.
 * Only devices that have clusters are asked for it. */
static gt_status record_cluster(struct cuda_bare *r, int i, CUgraphNode node,
                                struct gt_err *err) {
    struct gt_cu_launch_attribute *cluster = &r->launch[i].cluster;
    *cluster = (struct gt_cu_launch_attribute){.id = GT_CU_LAUNCH_CLUSTER};
    if (!r->cu->cuGraphKernelNodeGetAttribute || !r->cu->cuLaunchKernelEx)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED, "the driver is too old for this");
    const gt_status status = result(
        r->cu->cuGraphKernelNodeGetAttribute(node, GT_CU_LAUNCH_CLUSTER, &cluster->value),
        "cuGraphKernelNodeGetAttribute", err);
    if (status == GEMMTUNE_OK && is_clustered(&cluster->value)) {
        r->launch[i].config.attributes = cluster;
        r->launch[i].config.attribute_count = 1;
    }
    return status;
}

static gt_status record_node(struct cuda_bare *r, CUgraphNode node, bool may_cluster,
                             struct gt_err *err) {
    struct gt_cu_kernel_node n = {0};
    const int i = r->head.launches;
    gt_status status = result(r->cu->cuGraphKernelNodeGetParams(node, &n),
                              "cuGraphKernelNodeGetParams", err);
    if (status != GEMMTUNE_OK)
        return status;
    r->launch[i].function = n.function;
    r->launch[i].params = n.params;
    r->launch[i].config = (struct gt_cu_launch_config){.grid_x = n.grid_x,
                                                       .grid_y = n.grid_y,
                                                       .grid_z = n.grid_z,
                                                       .block_x = n.block_x,
                                                       .block_y = n.block_y,
                                                       .block_z = n.block_z,
                                                       .smem_bytes = n.smem_bytes,
                                                       .stream = r->stream};
    if (may_cluster)
        status = record_cluster(r, i, node, err);
    r->head.launches += status == GEMMTUNE_OK;
    return status;
}

static gt_status record_nodes(struct cuda_bare *r, const struct gt_device *d,
                              struct gt_err *err) {
    CUgraphNode node[GT_BARE_MAX] = {NULL};
    size_t count = 0;
    gt_status status =
        result(r->cu->cuGraphGetNodes(r->graph, NULL, &count), "cuGraphGetNodes", err);
    if (status == GEMMTUNE_OK && count > GT_BARE_MAX)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED, "%zu launches, more than %d", count,
                       GT_BARE_MAX);
    if (status == GEMMTUNE_OK)
        status =
            result(r->cu->cuGraphGetNodes(r->graph, node, &count), "cuGraphGetNodes", err);
    for (size_t i = 0; status == GEMMTUNE_OK && i < count; i++)
        status = record_node(r, node[i], d->cc >= CLUSTER_CC, err);
    return status;
}

static void destroy(struct gt_bare *bare) {
    struct cuda_bare *r = (struct cuda_bare *)bare;
    if (!r)
        return;
    if (r->graph)
        (void)r->cu->cuGraphDestroy(r->graph);
    free(r);
}

static gt_status record(struct gt_bare **out, struct gt_rig *rig, gt_enqueue_fn fn,
                        void *user, struct gt_err *err) {
    const struct gt_cuda *cu = gt_cuda_api(err);
    *out = NULL;
    if (!cu)
        return GEMMTUNE_ENODRIVER;
    if (!cu->cuStreamBeginCapture || !cu->cuStreamEndCapture || !cu->cuGraphDestroy ||
        !cu->cuGraphGetNodes || !cu->cuGraphKernelNodeGetParams)
        return gt_fail(err, GEMMTUNE_EUNSUPPORTED, "the driver is too old for this");
    struct cuda_bare *r = calloc(1, sizeof *r);
    if (!r)
        return gt_fail(err, GEMMTUNE_ENOMEM, "no memory to record launches");
    r->cu = cu;
    r->stream = gt_rig_head(rig)->stream;
    gt_status status = capture(r, fn, user, err);
    if (status == GEMMTUNE_OK)
        status = record_nodes(r, gt_rig_head(rig)->device, err);
    if (status != GEMMTUNE_OK) {
        destroy(&r->head);
        return status;
    }
    *out = &r->head;
    return GEMMTUNE_OK;
}

/* ---- again ---- */

static gt_cu_result launch(const struct cuda_bare *r, int i) {
    const struct gt_cu_launch_config *c = &r->launch[i].config;
    if (c->attribute_count > 0)
        return r->cu->cuLaunchKernelEx(c, r->launch[i].function, r->launch[i].params, NULL);
    return r->cu->cuLaunchKernel(r->launch[i].function, c->grid_x, c->grid_y, c->grid_z,
                                 c->block_x, c->block_y, c->block_z, c->smem_bytes,
                                 c->stream, r->launch[i].params, NULL);
}

static gt_status run(struct gt_bare *bare, struct gt_err *err) {
    const struct cuda_bare *r = (const struct cuda_bare *)bare;
    gt_cu_result result = GT_CU_SUCCESS;
    for (int i = 0; result == GT_CU_SUCCESS && i < r->head.launches; i++)
        result = launch(r, i);
    return result == GT_CU_SUCCESS ? GEMMTUNE_OK : gt_cuda_fail(err, "launch", result);
}

const struct gt_bare_ops gt_bare_cuda = {.record = record, .run = run, .destroy = destroy};
