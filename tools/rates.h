/* SPDX-License-Identifier: Apache-2.0 */
/* rates.h - for issue-rates, ring-rates and shared-loads: calls that must not fail, and a
 * kernel's time. */
#ifndef GT_TOOLS_RATES_H
#define GT_TOOLS_RATES_H

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                        \
    do {                                                                                   \
        const cudaError_t error = (call);                                                  \
        if (error != cudaSuccess) {                                                        \
            std::printf("%s: %s\n", #call, cudaGetErrorString(error));                     \
            std::exit(1);                                                                  \
        }                                                                                  \
    } while (0)

/* The least time of `runs` launches, in ms. */
template <typename Launch> static float best_ms(int runs, Launch launch) {
    cudaEvent_t start, stop;
    float best = 1e9f;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    for (int run = 0; run < runs; run++) {
        float ms;
        CHECK(cudaEventRecord(start));
        launch();
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        best = std::min(best, ms);
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return best;
}

#endif
