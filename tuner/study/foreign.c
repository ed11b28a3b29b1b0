/* SPDX-License-Identifier: Apache-2.0 */
/* foreign.c - see foreign.h. */
#include "tuner/study/foreign.h"

#include <stdbool.h>
#include <string.h>

enum {
    WORDS_MAX = 3,
    HEAD = 1 << 16, /* bytes that are looked at: heads and first entries */
};

/* A file is of the kind when its text begins with `first` and has all words. */
struct kind {
    struct gt_foreign foreign;
    const char *first, *word[WORDS_MAX]; /* NULL: none */
};

static const char no_times[] = "it holds no times to replay";
static const char products[] = "gemmtune tune --sizes FILE tunes its products";
static const char begins[] = "gemmtune import FILE lets searches begin with its points";
static const char one_time[] = "a search needs the times of a whole space";

static const struct kind kinds[] = {
    {{"a database", "replay its trials with --db FILE PROBLEM"}, "SQLite format 3", {NULL}},
    {{"what gemmtune export wrote", "import it into a database, and replay that with --db "
                                    "FILE PROBLEM; winners alone are no space"},
     NULL,
     {"\"format\"", "\"devices\"", "\"records\""}},
    {{"a list of problems", "gemmtune tune --sizes FILE tunes them"},
     NULL,
     {"\"format\"", "\"sizes\""}},
    {{"a description of a device", no_times},
     NULL,
     {"\"format\"", "\"units\"", "\"clock_mhz\""}},
    {{"results in the T4 format", begins},
     NULL,
     {"\"results\"", "\"configuration\"", "\"invalidity\""}},
    {{"results in the T4 format", begins},
     NULL,
     {"\"results\"", "\"configuration\"", "\"schema_version\""}},
    {{"a description of a space in the T1 format", no_times},
     NULL,
     {"\"ConfigurationSpace\"", "\"KernelSpecification\""}},
    {{"results of KTT", "only Kernel Tuner's caches can be replayed"},
     NULL,
     {"KttVersion"}},
    {{"results of CLBlast's tuner", begins},
     NULL,
     {"\"best_kernel\"", "\"clblast_device_name\""}},
    {{"a log of AutoTVM", "only Kernel Tuner's caches can be replayed"},
     "{",
     {"\"input\"", "\"config\"", "\"tvm_version\""}},
    {{"a log of TVM's auto-scheduler", "only Kernel Tuner's caches can be replayed"},
     "{\"i\": [[",
     {"\"r\": [["}},
    {{"results of PyTorch's TunableOp", products}, "Validator,", {NULL}},
    {{"a list of PyTorch's TunableOp", products}, NULL, {"TunableOp_"}},
    {{"a log of cublasLt", no_times}, NULL, {"cublasLt", "["}},
    {{"a log of cuBLAS", no_times}, NULL, {"cuBLAS"}},
    {{"a log of oneDNN", one_time}, NULL, {"nednn_verbose,"}},
    {{"a log of oneDNN", one_time}, NULL, {"nnl_verbose,"}},
    {{"a log of oneMKL", one_time}, NULL, {"MKL_VERBOSE "}},
    {{"a log of rocBLAS", products}, NULL, {"rocblas-bench"}},
    {{"a log of rocBLAS", products}, NULL, {"rocblas_function"}},
    {{"a log of hipBLASLt", products}, NULL, {"hipblaslt-bench"}},
    {{"results of CUTLASS's profiler", one_time}, "Problem,Provider,", {NULL}},
    {{"a table of shapes", no_times}, "m,n,k", {NULL}},
    {{"a list of shapes", no_times}, "[[", {NULL}},
    {{"a NumPy array", no_times}, "\x93NUMPY", {NULL}},
};

/* Whether the word is in the text; memmem is not in C11. */
static bool has(const char *text, size_t size, const char *word) {
    const size_t len = strlen(word);
    for (const char *at = text; size >= len; at++, size--) {
        const char *next = memchr(at, word[0], size - len + 1);
        if (next == NULL)
            return false;
        size -= (size_t)(next - at);
        at = next;
        if (memcmp(at, word, len) == 0)
            return true;
    }
    return false;
}

static bool is_kind(const struct kind *k, const char *text, size_t size) {
    if (k->first != NULL &&
        (size < strlen(k->first) || memcmp(text, k->first, strlen(k->first)) != 0))
        return false;
    for (int i = 0; i < WORDS_MAX && k->word[i] != NULL; i++)
        if (!has(text, size, k->word[i]))
            return false;
    return true;
}

const struct gt_foreign *gt_foreign_kind(const char *text, size_t size) {
    const size_t head = size < HEAD ? size : HEAD;
    if (has(text, head, "\"tune_params") || has(text, head, "\"cache\""))
        return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (is_kind(&kinds[i], text, head))
            return &kinds[i].foreign;
    return NULL;
}
