/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared-loads - how many cycles a multiprocessor takes for a load of a warp from shared
 * memory, by the width of a lane's load and by which lanes read the same place.
 * docs/notes/f32-limits.md has the table.
 *
 *     nvcc -O3 -arch=native -o shared-loads tools/shared-loads.cu && ./shared-loads
 */
#include "rates.h"

/* The place that a lane reads, in loads. */
struct pattern {
    const char *name;
    int divide, modulo, times; /* lane / divide % modulo * times */
};

static const pattern patterns[] = {
    {"all lanes one place", 32, 1, 1},
    {"lane / 16: 2 places", 16, 32, 1},
    {"lane / 8: 4 places", 8, 32, 1},
    {"lane / 4: 8 places", 4, 32, 1},
    {"lane / 2: 16 places, pairs", 2, 32, 1},
    {"lane: 32 places", 1, 32, 1},
    {"lane % 2: 2 places", 1, 2, 1},
    {"lane % 4: 4 places", 1, 4, 1},
    {"lane % 8: 8 places", 1, 8, 1},
    {"lane / 2 % 8: 8 places, pairs", 2, 8, 1},
    {"lane / 5: 7 places, odd runs", 5, 32, 1},
    {"lane / 25: 2 places, odd runs", 25, 32, 1},
    {"lane % 25: 25 places", 1, 25, 1},
    {"lane / 8, 128 bytes apart", 8, 32, 8},
};

enum { THREADS = 256, LOADS = 8, TURNS = 400, PLACES = 8192 };

/* Volatile loads stay where they are, and their places change, so that none is saved. */
template <int BYTES> __device__ float load(unsigned at) {
    float x, y, z, w;
    if (BYTES == 16)
        asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
                     : "r"(at));
    else if (BYTES == 8)
        asm volatile("ld.volatile.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "r"(at));
    else
        asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(x) : "r"(at));
    return x;
}

template <int BYTES> __global__ void loads(pattern p, long long *cycles, float *out) {
    __shared__ __align__(128) float places[PLACES];
    const int lane = threadIdx.x % 32, place = lane / p.divide % p.modulo * p.times;
    float sum = 0;
    for (int i = threadIdx.x; i < PLACES; i += THREADS)
        places[i] = (float)i;
    const unsigned first = (unsigned)__cvta_generic_to_shared(places) + place * BYTES;
    __syncthreads();
    const long long began = clock64();
    for (int turn = 0; turn < TURNS; turn++)
#pragma unroll
        for (int i = 0; i < LOADS; i++)
            sum += load<BYTES>(first + turn % 2 * 1024 + i * 2048);
    out[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        *cycles = clock64() - began;
}

template <int BYTES> static double cycles_of(const pattern &p, long long *cycles, float *out) {
    for (int run = 0; run < 2; run++) { /* the first one loads the kernel */
        loads<BYTES><<<1, THREADS>>>(p, cycles, out);
        CHECK(cudaDeviceSynchronize());
    }
    return (double)*cycles / ((double)TURNS * LOADS * THREADS / 32);
}

int main() {
    long long *cycles;
    float *out;
    CHECK(cudaMallocManaged(&cycles, sizeof *cycles));
    CHECK(cudaMalloc(&out, THREADS * sizeof *out));
    std::printf("%-32s %8s %8s %8s\n", "cycles a load of a warp", "4 bytes", "8 bytes", "16 bytes");
    for (const pattern &p : patterns)
        std::printf("%-32s %8.2f %8.2f %8.2f\n", p.name, cycles_of<4>(p, cycles, out),
                    cycles_of<8>(p, cycles, out), cycles_of<16>(p, cycles, out));
    return 0;
}
