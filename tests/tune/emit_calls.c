/* SPDX-License-Identifier: Apache-2.0 */
/* emit_calls.c - emit.sh builds it with an emitted folder that has f32-nn-64x64x64: the
 * answers of calls that launch nothing, a line each. */
#include "gemmkit_reference.h"

#include <stdio.h>

static gemmkit_ctx *ctx;

static void ask(const char *name, const gemmkit_problem *p) {
    gemmkit_plan *plan = NULL;
    gemmkit_plan_info info;
    const gemmkit_status status = gemmkit_plan_create(&plan, ctx, p, 0);
    if (status != GEMMKIT_OK) {
        printf("%s: %d %s\n", name, (int)status, gemmkit_errmsg());
        return;
    }
    gemmkit_plan_describe(plan, &info);
    printf("%s: %s\n", name, info.exact ? info.name : "general");
    gemmkit_plan_destroy(plan);
}

static gemmkit_problem square(int64_t side) {
    gemmkit_problem p;
    gemmkit_problem_init(&p, GEMMKIT_F32, side, side, side);
    p.layout = GEMMKIT_ROW_MAJOR;
    return p;
}

int main(void) {
    const float one = 1;
    gemmkit_problem p = square(64);
    gemmkit_plan *plan = NULL;
    gk_open_device();
    if (gemmkit_open(&ctx, NULL) != GEMMKIT_OK)
        gk_stop(1, gemmkit_errmsg(), "");
    ask("listed", &p);
    p.math = GEMMKIT_MATH_TF32;
    ask("other arithmetic", &p);
    p.k = 65;
    ask("other size", &p);
    p = square(0);
    ask("empty", &p);
    p = square(64);
    p.type_a = GEMMKIT_I8;
    ask("types", &p);
    p = square(64);
    p.lda = 3;
    ask("lda", &p);
    p = square(64);
    p.epilogue = "d=log(x)";
    ask("epilogue", &p);
    p = square(INT32_MAX);
    ask("size", &p);
    p = square(64);
    (void)gemmkit_plan_create(&plan, ctx, &p, 0);
    printf("NULL: %d %s\n",
           (int)gemmkit_execute(plan, &one, NULL, NULL, &one, NULL, NULL, NULL),
           gemmkit_errmsg());
    gemmkit_plan_destroy(plan);
    gemmkit_close(ctx);
    return 0;
}
