/* SPDX-License-Identifier: Apache-2.0 */
/*
 * issue-rates - what an inner loop of multiply-adds can reach on this GPU, and what takes it away: a patch of
 * TM x TN accumulators a thread, its operands from registers alone or by some loads of 16 bytes a k from shared
 * memory, the multiply-adds in one order or another, unrolled over more or less of k. No global memory, no
 * copies: a GEMM kernel with the same loop is slower. docs/notes/f32-limits.md draws on it.
 *
 *     nvcc -O3 -arch=native -o issue-rates tools/issue-rates.cu && ./issue-rates
 */
#include "rates.h"

enum Order { rows, columns, row_pairs };

template <Order order, int TM, int TN> __device__ constexpr int row_of(int s) {
    return order == rows      ? s / TN
           : order == columns ? (s / TM % 2 ? TM - 1 - s % TM : s % TM)
                              : s / (2 * TN) * 2 + s % 2;
}

template <Order order, int TM, int TN> __device__ constexpr int column_of(int s) {
    return order == rows      ? (s / TN % 2 ? TN - 1 - s % TN : s % TN)
           : order == columns ? s / TM
                              : (s / (2 * TN) % 2 ? TN - 1 - s / 2 % TN : s / 2 % TN);
}

/* NA and NB: loads of 16 bytes that each k does for A and for B; the other operands stay. */
template <int TM, int TN, int NA, int NB, int BK, int T, int BLOCKS, Order order>
__global__ void __launch_bounds__(T, BLOCKS) loop(float *out, const float *in, int turns) {
    __shared__ __align__(16) float a_slab[BK][16 * TM + 4], b_slab[BK][16 * TN + 4];
    float acc[TM * TN] = {}, a[2][TM], b[2][TN];
    for (int i = threadIdx.x; i < BK * (16 * TM + 4); i += T)
        (&a_slab[0][0])[i] = in[i];
    for (int i = threadIdx.x; i < BK * (16 * TN + 4); i += T)
        (&b_slab[0][0])[i] = in[i + 7];
    for (int i = 0; i < TM; i++)
        a[0][i] = a[1][i] = in[threadIdx.x + i];
    for (int j = 0; j < TN; j++)
        b[0][j] = b[1][j] = in[threadIdx.x + j + 99];
    __syncthreads();
    const int y = threadIdx.x / 8 % 4 * 4, x = threadIdx.x % 8 * 4;
#pragma unroll 1
    for (int turn = 0; turn < turns; turn++) {
#pragma unroll
        for (int k = 0; k < BK; k++) {
            const int next = (k + 1) % BK, to = (k + 1) % 2;
            if (next == 0)
                asm volatile("" ::: "memory");
#pragma unroll
            for (int i = 0; i < NA; i++)
                *(float4 *)&a[to][i * 4] = *(const float4 *)&a_slab[next][y + i * 16];
#pragma unroll
            for (int j = 0; j < NB; j++)
                *(float4 *)&b[to][j * 4] = *(const float4 *)&b_slab[next][x + j * 32];
#pragma unroll
            for (int s = 0; s < TM * TN; s++) {
                const int i = row_of<order, TM, TN>(s), j = column_of<order, TM, TN>(s);
                acc[i * TN + j] = __fmaf_rn(a[i >= NA * 4 ? 0 : k % 2][i],
                                            b[j >= NB * 4 ? 0 : k % 2][j], acc[i * TN + j]);
            }
        }
    }
    float sum = 0;
    for (int e = 0; e < TM * TN; e++)
        sum += acc[e];
    out[blockIdx.x * T + threadIdx.x] = sum;
}

static float *out, *in;
static cudaDeviceProp device;
static double peak;

template <int TM, int TN, int NA, int NB, int BK, int T, int BLOCKS, Order order>
static void measure() {
    static const char *const names[] = {"rows", "columns", "row pairs"};
    const auto kernel = loop<TM, TN, NA, NB, BK, T, BLOCKS, order>;
    const int turns = 2000000 / (TM * TN * BK), blocks = device.multiProcessorCount * BLOCKS;
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, kernel));
    const float best = best_ms(4, [&] { kernel<<<blocks, T>>>(out, in, turns); });
    const double rate = 2.0 * blocks * T * TM * TN * BK * turns / (best * 1e-3);
    std::printf("%2d x %-2d  %d x %3d threads  %d loads a k  %2d k unrolled  %-9s  %3d registers  %6.2f TFLOP/s  %4.1f %%\n",
                TM, TN, BLOCKS, T, NA + NB, BK, names[order], attributes.numRegs, rate * 1e-12,
                100 * rate / peak);
}

template <Order order> static void measure_order() {
    measure<8, 8, 0, 0, 8, 256, 2, order>();
    measure<8, 8, 2, 0, 8, 256, 2, order>();
    measure<8, 8, 2, 2, 8, 256, 2, order>();
    measure<16, 8, 0, 0, 8, 256, 1, order>();
    measure<16, 8, 2, 0, 8, 256, 1, order>();
    measure<16, 8, 4, 0, 8, 256, 1, order>();
    measure<16, 8, 4, 2, 8, 256, 1, order>();
    measure<16, 8, 4, 2, 16, 256, 1, order>();
    measure<12, 12, 3, 3, 8, 256, 1, order>();
}

int main() {
    int khz;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    peak = device.multiProcessorCount * 256.0 * khz * 1e3; /* 128 lanes, as on GA10x, Ada and Hopper */
    CHECK(cudaMalloc((void **)&out, sizeof(float) << 20));
    CHECK(cudaMalloc((void **)&in, sizeof(float) << 16));
    float *const host = (float *)std::malloc(sizeof(float) << 16);
    for (int i = 0; i < 1 << 16; i++)
        host[i] = 2.0f * std::rand() / RAND_MAX - 1;
    CHECK(cudaMemcpy(in, host, sizeof(float) << 16, cudaMemcpyHostToDevice));
    std::printf("%s, %d multiprocessors at %d MHz: %.1f TFLOP/s by clock and lanes\n", device.name,
                device.multiProcessorCount, khz / 1000, peak * 1e-12);
    measure_order<rows>();
    measure_order<columns>();
    measure_order<row_pairs>();
    std::free(host);
    return 0;
}
