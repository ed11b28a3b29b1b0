/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ptx.h - a GPU in software, for tests: reads PTX (PTX ISA 9.0, sm_75 to sm_90a and the
 * common part of sm_120) and runs it on the CPU, over the memory of this process. It is
 * stricter than a GPU. A launch fails with one sentence that names the block, the thread
 * and the source line when a kernel
 *
 * - touches global memory outside allocations, or shared memory outside its block's
 * - reads shared memory that a copy under way will change; in a strict launch, any that
 *   nothing has written (else it reads NaNs)
 * - reads by an asynchronous unit what threads have written, without a proxy fence between
 * - overwrites the operands of a product or copy under way, or touches its registers
 * - waits for something that can never happen
 * - has an instruction that is not known here
 *
 * Threads run one after another, each until it must wait. Copies and products that run
 * beside the threads end as late as the kernel allows, or at a random moment. So a missing
 * wait shows. The seed decides order and moments.
 *
 * It does not know: races between threads that no barrier separates (they show when
 * the order of threads matters for the result), memory orders weaker than the order of
 * execution, and how each chip's tensor cores add up. Here sums of floats in f32 are cut
 * off as on an H200, once for each instruction.
 *
 * Files, in the order of reading: parse.c (a module; words.c, symbol.c, body.c, operand.c
 * and opcode.c read its parts), run.c (blocks, threads and their turns), memory.c
 * (addresses and their checks), then one file for each group of instructions.
 */
#ifndef GT_TESTS_PTX_H
#define GT_TESTS_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTX_WHY = 480, PTX_PARAMS = 32 };

struct ptx_module;

struct ptx_kernel {
    struct ptx_kernel *next;
    char name[64];
    int params;
    size_t param_at[PTX_PARAMS], param_size[PTX_PARAMS], param_bytes;
    size_t static_smem; /* bytes of a block that the kernel declares */
    unsigned max_threads;
    struct ptx_code *code;
};

/* NULL, with a sentence in `why`, when the text has an error or an instruction that is not
 * known. Owned by the caller: ptx_free. */
struct ptx_module *ptx_parse(const char *text, char why[PTX_WHY]);
void ptx_free(struct ptx_module *module);
/* As in ".target sm_90a": 90. */
int ptx_target(const struct ptx_module *module);
const struct ptx_kernel *ptx_find(const struct ptx_module *module, const char *name);

enum ptx_result { /* as CUDA's */
                  PTX_OK = 0,
                  PTX_ILLEGAL_ADDRESS = 700,
                  PTX_ILLEGAL_INSTRUCTION = 715,
                  PTX_MISALIGNED = 716,
                  PTX_FAILED = 719
};

struct ptx_launch {
    const struct ptx_kernel *kernel;
    unsigned grid[3], block[3], cluster[3];
    size_t smem;        /* dynamic shared memory of a block, in bytes */
    const void *params; /* kernel->param_bytes of them */
    unsigned units;     /* blocks that may be resident at once, at least */
    uint64_t seed;
    uint64_t most_steps; /* of all threads together; 0: without limit */
    bool strict;         /* reading shared memory that nothing has written is an error */
    /* Finds the allocation of global memory that holds an address. */
    bool (*find)(uint64_t at, uint64_t *begin, uint64_t *end);
};

struct ptx_report {
    enum ptx_result result;
    char why[PTX_WHY];
    uint64_t steps;      /* instructions of all threads */
    uint64_t tensor_ops; /* multiplications and additions of tensor cores */
};

void ptx_run(struct ptx_report *report, const struct ptx_launch *launch);

enum ptx_kind { PTX_U8, PTX_S32, PTX_F16, PTX_BF16, PTX_F32, PTX_F64 };

/* The content of a tensor map. `words` are the 128 bytes that a kernel gets. */
struct ptx_tensor {
    uint64_t address, dims[5], strides[5];   /* bytes; strides[0]: an element */
    uint32_t box[5], rank, element, swizzle; /* swizzle: 0, 32, 64 or 128 bytes */
    enum ptx_kind kind;
};

/* Of the second word: what drivers set on Blackwell, where such a map may fault. */
#define PTX_TENSOR_FAULTY (UINT64_C(1) << 21)

void ptx_tensor_pack(uint64_t words[16], const struct ptx_tensor *tensor);

#endif
