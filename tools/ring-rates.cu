/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring-rates - what one slab's turn of a ring costs on sm_90, where the family wgmma has
 * one: a thread has boxes of bf16 copied to the stages in shared memory, and warpgroups
 * multiply them. The same loop runs with both sides, with copies alone and with products
 * alone, and with one or two teams that take slabs in turns. The time of a slab is a slope:
 * the time of 1024 slabs more. The rows lie in the L2 cache, or with "far" each slab of X is
 * new and comes from device memory. docs/notes/kernels-tried.md draws on it.
 *
 *     nvcc -O3 -gencode arch=compute_90a,code=sm_90a -I templates/common -o ring-rates \
 *         tools/ring-rates.cu && ./ring-rates
 */
#include "rates.h"

#include <cuda.h>

#define GT_FLOAT 1
#define GT_SIZEOF_ACC 4
#define GT_BATCH 0
typedef float gt_acc;
#include "dialect.h"

#include "barriers.h"
#include "elected.h"
#include "ring.h"
#include "tensor_copies.h"
#include "warpgroups.h"

/* NEAR: slabs until k begins anew, where data are to stay in the cache. */
enum { BK = 64, LINE = 128, NEAR = 16, FEW = 1024, MORE = 2048, BLOCKS = 128 };

#if __CUDA_ARCH__ == 900
GT_WGMMA(multiply_16, 16, bf16, bf16, 0, 0)
GT_WGMMA(multiply_32, 32, bf16, bf16, 0, 0)
GT_WGMMA(multiply_64, 64, bf16, bf16, 0, 0)
GT_WGMMA(multiply_128, 128, bf16, bf16, 0, 0)

typedef unsigned long long tile; /* a descriptor */

template <int N> __device__ void multiply(float *sums, tile x, tile y) {
    if constexpr (N == 16)
        multiply_16(sums, x, y);
    else if constexpr (N == 32)
        multiply_32(sums, x, y);
    else if constexpr (N == 64)
        multiply_64(sums, x, y);
    else
        multiply_128(sums, x, y);
}
#endif

/* A tile of 64 x N. COPIES, PRODUCTS: whether that side does its work, or only arrives.
 * TEAMS: warpgroups that take slabs in turns. RUNNING: slabs of a team that may be
 * unfinished when it waits for the next one. */
template <int N, int STAGES, int TEAMS, int RUNNING, bool COPIES, bool PRODUCTS>
__global__ void __launch_bounds__(128 * TEAMS + 128, 1)
    turns(float *out, int slabs, int around, const __grid_constant__ gt_tensor_map map_x,
          const __grid_constant__ gt_tensor_map map_y) {
#if __CUDA_ARCH__ == 900
    enum { SLAB_X = 64 * LINE, SLAB = SLAB_X + N * LINE };
    extern __shared__ __align__(1024) unsigned char smem[];
    const int stages = gt_shared_address(smem), full = stages + STAGES * SLAB,
              empty = full + STAGES * 8, t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < STAGES; s++) {
            gt_barrier_init(full + s * 8, 1);
            gt_barrier_init(empty + s * 8, 4);
        }
        gt_barrier_init_done();
    }
    __syncthreads();
    if (t >= 128 * TEAMS) {
        gt_turn turn = {0, 0};
        if (t < 128 * TEAMS + 32 && gt_is_elected())
#pragma unroll 1
            for (int s = 0; s < slabs; s++, turn = gt_turn_next(STAGES, turn)) {
                const int at = stages + turn.stage * SLAB, told = full + turn.stage * 8,
                          k = s % around * BK;
                gt_barrier_wait(empty + turn.stage * 8, turn.parity ^ 1);
                if (COPIES) {
                    gt_barrier_arrive_expecting(told, SLAB);
                    gt_box_load(at, &map_x, k, blockIdx.x * 64, told);
                    gt_box_load(at + SLAB_X, &map_y, s % NEAR * BK, 0, told);
                } else {
                    gt_barrier_arrive(told);
                }
            }
        return;
    }
    float sums[N / 2] = {};
    const int team = __shfl_sync(0xffffffff, t / 128, 0);
    int before[RUNNING], done = 0;
    for (int i = 0; i < RUNNING; i++)
        before[i] = 0;
    gt_turn turn = gt_turn_at(STAGES, team);
#pragma unroll 1
    for (int s = team; s < slabs; s += TEAMS) {
        const int at = stages + turn.stage * SLAB;
        gt_barrier_wait(full + turn.stage * 8, turn.parity);
        gt_warp_barrier();
        if (PRODUCTS) {
            const tile x = gt_wgmma_along_k(at), y = gt_wgmma_along_k(at + SLAB_X);
            gt_wgmma_hold(N / 2, sums);
            gt_wgmma_fence();
#pragma unroll
            for (int i = 0; i < 4; i++)
                multiply<N>(sums, x + i * 2, y + i * 2);
            gt_wgmma_commit();
            gt_wgmma_hold(N / 2, sums);
            GT_WGMMA_WAIT(RUNNING);
        }
        if (done >= RUNNING && t % 32 == 0)
            gt_barrier_arrive(empty + before[0] * 8);
#pragma unroll
        for (int i = 0; i + 1 < RUNNING; i++)
            before[i] = before[i + 1];
        before[RUNNING - 1] = turn.stage;
        done++;
        for (int i = 0; i < TEAMS; i++)
            turn = gt_turn_next(STAGES, turn);
    }
    if (PRODUCTS) {
        GT_WGMMA_WAIT(0);
        gt_wgmma_hold(N / 2, sums);
    }
    float sum = 0;
    for (int i = 0; i < N / 2; i++)
        sum += sums[i];
    out[blockIdx.x * 256 + t] = sum;
#endif
}

static float *out;
static void *data;

typedef CUresult (*encode_fn)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                              const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                              const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                              CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static gt_tensor_map map_of(int slabs, int rows, int box_rows) {
    static encode_fn encode;
    cudaDriverEntryPointQueryResult found;
    gt_tensor_map map;
    const cuuint64_t wide = (cuuint64_t)slabs * BK, sizes[2] = {wide, (cuuint64_t)rows},
                     pitch[1] = {wide * 2};
    const cuuint32_t box[2] = {BK, (cuuint32_t)box_rows}, steps[2] = {1, 1};
    if (!encode)
        CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode,
                                               12000, cudaEnableDefault, &found));
    if (encode((CUtensorMap *)&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, sizes, pitch,
               box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)) {
        std::printf("cuTensorMapEncodeTiled failed\n");
        std::exit(1);
    }
    return map;
}

template <int N, int STAGES, int TEAMS, int RUNNING, bool COPIES, bool PRODUCTS>
static float ms_of(int blocks, int slabs, int around) {
    const auto kernel = turns<N, STAGES, TEAMS, RUNNING, COPIES, PRODUCTS>;
    const int smem = STAGES * (64 + N) * LINE + STAGES * 16;
    const gt_tensor_map x = map_of(around, BLOCKS * 64, 64), y = map_of(NEAR, N, N);
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, smem));
    return best_ms(5, [&] {
        kernel<<<blocks, 128 * TEAMS + 128, smem>>>(out, slabs, around, x, y);
    });
}

template <int N, int STAGES, int TEAMS, int RUNNING, bool COPIES, bool PRODUCTS>
static float slab_ns(int blocks, int around) {
    const auto ms = ms_of<N, STAGES, TEAMS, RUNNING, COPIES, PRODUCTS>;
    return (ms(blocks, MORE, around) - ms(blocks, FEW, around)) * 1e6f / (MORE - FEW);
}

template <int N, int STAGES, int TEAMS, int RUNNING> static void measure() {
    for (int blocks = BLOCKS; blocks >= 16; blocks /= 8)
        std::printf("64 x %-3d %2d stages, %d teams, %d running, %3d blocks: both %6.1f "
                    "ns, far %6.1f, copies %6.1f, far %6.1f, products %6.1f, "
                    "neither %6.1f\n",
                    N, STAGES, TEAMS, RUNNING, blocks,
                    slab_ns<N, STAGES, TEAMS, RUNNING, true, true>(blocks, NEAR),
                    slab_ns<N, STAGES, TEAMS, RUNNING, true, true>(blocks, MORE),
                    slab_ns<N, STAGES, TEAMS, RUNNING, true, false>(blocks, NEAR),
                    slab_ns<N, STAGES, TEAMS, RUNNING, true, false>(blocks, MORE),
                    slab_ns<N, STAGES, TEAMS, RUNNING, false, true>(blocks, NEAR),
                    slab_ns<N, STAGES, TEAMS, RUNNING, false, false>(blocks, NEAR));
}

int main() {
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaMalloc((void **)&out, sizeof(float) * BLOCKS * 256));
    const size_t bytes = (size_t)BLOCKS * 64 * MORE * BK * 2;
    CHECK(cudaMalloc(&data, bytes));
    CHECK(cudaMemset(data, 0x3c, bytes));
    std::printf("%s, %d multiprocessors\n", device.name, device.multiProcessorCount);
    measure<16, 8, 1, 1>();
    measure<16, 16, 1, 1>();
    measure<32, 8, 1, 1>();
    measure<32, 16, 1, 1>();
    measure<64, 8, 1, 1>();
    measure<64, 12, 1, 1>();
    measure<128, 8, 1, 1>();
    measure<32, 16, 1, 2>();
    measure<64, 12, 1, 2>();
    measure<128, 8, 1, 2>();
    measure<16, 16, 2, 1>();
    measure<32, 16, 2, 1>();
    measure<64, 12, 2, 1>();
    measure<128, 8, 2, 1>();
    return 0;
}
