/* SPDX-License-Identifier: Apache-2.0 */
/* exec_run.c - one call of an exec: it checks the pointers, copies a few words and launches
 * the kernels. */
#include "runtime/exec/exec_inside.h"

#include "core/element.h"
#include "runtime/exec/exec_epilogue.h"
#include "runtime/drivers/memory.h"

#include <stdint.h>
#include <string.h>

enum { OFFSETS_MAX = GT_ARGS_MAX + GT_EPILOGUE_OPERANDS_MAX + 1 };

/* The places of a call's pointers, by the kind of argument. */
static void find_memory(struct gt_memory memory[GT_ARG_KINDS], const struct gt_exec *e,
                        const struct gt_call *call) {
    const struct {
        gt_arg arg;
        const void *pointer;
        int64_t offset;
    } given[] = {
        {GT_ARG_A, call->a, call->offset.a},
        {GT_ARG_B, call->b, call->offset.b},
        {GT_ARG_C, call->c, call->offset.c},
        {GT_ARG_WORKSPACE, call->workspace, call->offset.workspace},
        {GT_ARG_ROWS, call->rows, call->offset.rows},
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        memory[given[i].arg] = gt_memory_at(e->loaded->driver, given[i].pointer,
                                            given[i].offset, e->unit[given[i].arg]);
}

/* Of an array of pointers only the array itself can be checked. */
static gt_status check_matrix(const struct gt_exec *e, const char *what, int operand,
                              struct gt_memory memory, struct gt_err *err) {
    const bool behind = gt_problem_has_pointers(&e->fit.problem);
    const struct gt_need need = {.what = what,
                                 .align = behind ? (int64_t)sizeof(void *)
                                                 : e->fit.align[operand],
                                 .bytes = e->bytes[operand]};
    return gt_memory_check(e->loaded->driver, memory, need, err);
}

/* Blames A, or B with `is_b`. `swapped`: the problem has A and B swapped. */
static gt_status blame_ab(struct gt_err *err, gt_status status, bool swapped, bool is_b) {
    return gt_blame(err, status, swapped != is_b ? GEMMTUNE_ARG_B : GEMMTUNE_ARG_A);
}

static gt_status check_apart(const struct gt_memory memory[GT_ARG_KINDS], bool swapped,
                             struct gt_err *err) {
    const struct gt_named_memory a = {swapped ? "B" : "A", memory[GT_ARG_A]};
    const struct gt_named_memory b = {swapped ? "A" : "B", memory[GT_ARG_B]};
    const struct gt_named_memory c[] = {{"C", memory[GT_ARG_C]}, {NULL, {NULL, 0}}};
    const gt_status status = blame_ab(err, gt_memory_apart(a, c, err), swapped, false);
    return status == GEMMTUNE_OK ? blame_ab(err, gt_memory_apart(b, c, err), swapped, true)
                                 : status;
}

static gt_status check_workspace(const struct gt_exec *e, struct gt_memory memory,
                                 struct gt_err *err) {
    if (e->fit.passes.workspace_bytes == 0)
        return GEMMTUNE_OK;
    const struct gt_driver *driver = e->loaded->driver;
    const int64_t needed = e->fit.passes.workspace_bytes;
    const int64_t has = memory.pointer == NULL ? 0 : gt_memory_bytes(driver, memory);
    if (has < needed)
        return gt_fail(err, GEMMTUNE_EWORKSPACE,
                       "the kernel needs %lld bytes of workspace, not %lld",
                       (long long)needed, (long long)has);
    const uint64_t place = gt_memory_place(driver, memory);
    if (place % GT_WORKSPACE_ALIGN != 0)
        return gt_fail(err, GEMMTUNE_EWORKSPACE,
                       "the workspace, %s 0x%llx, is not aligned to %d bytes",
                       driver->pointers_are_addresses ? "at" : "from byte",
                       (unsigned long long)place, GT_WORKSPACE_ALIGN);
    return GEMMTUNE_OK;
}

static gt_status check_rows(const struct gt_exec *e, struct gt_memory rows,
                            struct gt_err *err) {
    if (!gt_problem_has_rows(&e->fit.problem))
        return rows.pointer == NULL
                   ? GEMMTUNE_OK
                   : gt_fail(err, GEMMTUNE_EINVAL,
                             "rows is given, but the plan's rows are neither grouped nor "
                             "masked");
    const int64_t each = sizeof(int32_t);
    const struct gt_need need = {
        .what = "the rows", .align = each, .bytes = e->fit.problem.batch * each};
    return gt_memory_check(e->loaded->driver, rows, need, err);
}

static gt_status check_pointers(const struct gt_exec *e, bool reads_ab,
                                const struct gt_memory memory[GT_ARG_KINDS], bool swapped,
                                struct gt_err *err) {
    gt_status status =
        gt_blame(err, check_rows(e, memory[GT_ARG_ROWS], err), GEMMTUNE_ARG_ROWS);
    if (status == GEMMTUNE_OK)
        status =
            gt_blame(err, check_matrix(e, "C", 2, memory[GT_ARG_C], err), GEMMTUNE_ARG_C);
    if (status == GEMMTUNE_OK && reads_ab)
        status =
            blame_ab(err, check_matrix(e, swapped ? "B" : "A", 0, memory[GT_ARG_A], err),
                     swapped, false);
    if (status == GEMMTUNE_OK && reads_ab)
        status =
            blame_ab(err, check_matrix(e, swapped ? "A" : "B", 1, memory[GT_ARG_B], err),
                     swapped, true);
    if (status == GEMMTUNE_OK)
        status = check_apart(memory, swapped, err);
    if (status == GEMMTUNE_OK)
        status = gt_blame(err, check_workspace(e, memory[GT_ARG_WORKSPACE], err),
                          GEMMTUNE_ARG_WORKSPACE);
    return status;
}

/* When neither A nor B is read there may be no matrix to describe: then maps are zeros. So
 * is a map that the point does not have. */
static gt_status encode_maps(struct gt_tensor_map map[GT_MAPS_MAX],
                             const struct gt_loaded *l, const struct gt_passes *passes,
                             const union gt_value value[GT_ARG_KINDS], bool reads_ab,
                             struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    memset(map, 0, (size_t)passes->map_count * sizeof *map);
    for (int i = 0; reads_ab && i < passes->map_count && status == GEMMTUNE_OK; i++) {
        char *base = value[passes->map[i].base].ptr;
        if (passes->map[i].absent)
            continue;
        status = l->driver->encode_map(&map[i], l->gpu, &passes->map[i].tiling,
                                       base + passes->map[i].at, err);
    }
    return status;
}

/* Launches the kernels one after another. The first one waits for the call's events, and
 * the last one's event is the call's. In a queue without an order of its own each kernel
 * waits for the previous one; events would cost time in other queues. Only points with
 * several kernels ask the queue. */
static gt_status launch_passes(const struct gt_loaded *l, const struct gt_passes *passes,
                               const struct gt_value_ref *refs, int count,
                               const struct gt_call *call, struct gt_err *err) {
    const struct gt_driver *driver = l->driver;
    const int last = passes->count - 1;
    const bool chained =
        last > 0 && driver->takes_events && driver->is_unordered(call->stream);
    struct gt_event_order order = {call->order.count, call->order.wait, NULL};
    void *ahead = NULL; /* the event of the kernel ahead */
    gt_status status = GEMMTUNE_OK;
    for (int i = 0; i <= last && status == GEMMTUNE_OK; i++) {
        void *done = NULL;
        order.event = i == last ? call->order.event : chained ? &done : NULL;
        status = driver->launch(l->kernel[i], &passes->item[i].launch, refs, count,
                                call->stream, order, err);
        if (ahead != NULL)
            driver->release_event(ahead);
        ahead = done;
        order = (struct gt_event_order){chained, chained ? &ahead : NULL, NULL};
    }
    return status;
}

/* The elements before the first one of each pointer of a family's kernel, as
 * GT_OFFSET_PARAMS lists them (source.c). An offset of the workspace is one of lines, and
 * kernels count sums in it. Returns how many. */
static int count_offsets(int64_t offset[OFFSETS_MAX], const struct gt_exec *e,
                         const struct gt_memory memory[GT_ARG_KINDS],
                         const struct gt_epilogue_args *epilogue) {
    int count = 0;
    for (int i = 0; i < e->arg_count; i++) {
        const gt_arg arg = e->args[i];
        if (gt_arg_pointer(arg) != NULL)
            offset[count++] =
                memory[arg].at /
                (int64_t)(arg == GT_ARG_WORKSPACE ? e->size[GT_ARG_ALPHA] : e->unit[arg]);
    }
    memcpy(offset + count, epilogue->offset, (size_t)epilogue->offsets * sizeof *offset);
    return count + epilogue->offsets;
}

static gt_status launch(const struct gt_exec *e, const struct gt_passes *passes,
                        const union gt_value value[GT_ARG_KINDS],
                        const struct gt_memory memory[GT_ARG_KINDS],
                        const struct gt_tensor_map map[GT_MAPS_MAX],
                        const struct gt_epilogue_args *epilogue, const struct gt_call *call,
                        struct gt_err *err) {
    struct gt_value_ref refs[GT_ARGS_MAX + GT_EPILOGUE_ARGS_MAX + OFFSETS_MAX];
    int64_t offset[OFFSETS_MAX];
    for (int i = 0; i < e->arg_count; i++) {
        const gt_arg arg = e->args[i];
        refs[i] = arg < GT_ARG_MAP
                      ? (struct gt_value_ref){&value[arg], e->size[arg]}
                      : (struct gt_value_ref){&map[arg - GT_ARG_MAP], sizeof *map};
    }
    for (int i = 0; i < epilogue->count; i++)
        refs[e->arg_count + i] =
            (struct gt_value_ref){&epilogue->value[i], epilogue->size[i]};
    int count = e->arg_count + epilogue->count;
    const int offsets = e->loaded->driver->pointers_are_addresses
                            ? 0
                            : count_offsets(offset, e, memory, epilogue);
    for (int i = 0; i < offsets; i++)
        refs[count++] = (struct gt_value_ref){&offset[i], sizeof *offset};
    return launch_passes(e->loaded, passes, refs, count, call, err);
}

/* ---- panels of C ------------------------------------------------------------------- */

/* Moves the arguments of a call to a panel. */
static void move_to_panel(union gt_value value[GT_ARG_KINDS], const struct gt_exec *e,
                          const struct gt_panel *at) {
    const gemmtune_problem *p = &e->fit.problem;
    const struct {
        gt_arg arg;
        int64_t ahead; /* elements */
    } moves[] = {
        {GT_ARG_A, p->trans_a != GEMMTUNE_NOTRANS ? at->row : at->row * p->lda},
        {GT_ARG_B, p->trans_b != GEMMTUNE_NOTRANS ? at->col * p->ldb : at->col},
        {GT_ARG_C, at->row * p->ldc + at->col},
    };
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        char *const first = value[moves[i].arg].ptr;
        if (first != NULL)
            value[moves[i].arg].ptr =
                first + moves[i].ahead * (int64_t)e->unit[moves[i].arg];
    }
    value[GT_ARG_M].i32 = (int32_t)at->m;
    value[GT_ARG_N].i32 = (int32_t)at->n;
}

/* The arguments of a call and its launches. */
struct frame {
    const union gt_value *value;
    const struct gt_memory *memory;
    const struct gt_epilogue_args *epilogue;
    const struct gt_call *call;
    bool reads_ab;
};

/* A pointer to rows or columns that the workspace has already is NULL. The first kernel
 * waits for the panel before by itself, where kernels do. */
static gt_status launch_panel(const struct gt_exec *e, const struct gt_panel *at,
                              int64_t number, const struct frame *f, struct gt_err *err) {
    union gt_value value[GT_ARG_KINDS];
    struct gt_tensor_map map[GT_MAPS_MAX];
    struct gt_passes passes = e->panel[at->kind];
    passes.item[0].launch.overlaps = number > 0 && e->fit.binding.family->overlap;
    memcpy(value, f->value, sizeof value);
    move_to_panel(value, e, at);
    const gt_status status = encode_maps(map, e->loaded, &passes, value, f->reads_ab, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (at->same_rows)
        value[GT_ARG_A].ptr = NULL;
    if (at->same_cols)
        value[GT_ARG_B].ptr = NULL;
    return launch(e, &passes, value, f->memory, map, f->epilogue, f->call, err);
}

static gt_status launch_panels(const struct gt_exec *e, const struct frame *f,
                               struct gt_err *err) {
    const struct gt_binding *b = &e->fit.binding;
    gt_status status = GEMMTUNE_OK;
    for (int64_t i = 0; i < b->panels[0] * b->panels[1] && status == GEMMTUNE_OK; i++) {
        const struct gt_panel at = gt_panel_at(b, i);
        status = launch_panel(e, &at, i, f, err);
    }
    return status;
}

/* ---- arguments --------------------------------------------------------------------- */

/* The arguments of a call: the problem decides some, and the call has its own. */
static void fill_values(union gt_value value[GT_ARG_KINDS], const struct gt_exec *e,
                        const struct gt_call *call,
                        const struct gt_memory memory[GT_ARG_KINDS], bool reads_ab) {
    memcpy(value, e->value, sizeof e->value);
    if (reads_ab)
        memcpy(&value[GT_ARG_ALPHA], call->alpha, e->size[GT_ARG_ALPHA]);
    else
        value[GT_ARG_K].i32 = 0;
    memcpy(&value[GT_ARG_BETA], call->beta, e->size[GT_ARG_BETA]);
    for (int i = 0; i < GT_ARG_KINDS; i++)
        if (e->unit[i] != 0)
            value[i].ptr = gt_device_pointer(memory[i].pointer);
}

/* ---- what a call reads ----------------------------------------------------------- */

gt_status gt_call_check_scalars(const gemmtune_problem *p, const struct gt_call *call,
                                struct gt_err *err) {
    if (gt_exec_is_empty(p) || (call->alpha != NULL && call->beta != NULL))
        return GEMMTUNE_OK;
    return call->alpha == NULL ? gt_fail_null(err, "alpha", GEMMTUNE_ARG_ALPHA)
                               : gt_fail_null(err, "beta", GEMMTUNE_ARG_BETA);
}

/* Whether the call reads A and B. */
static bool reads_inputs(const gemmtune_problem *p, const struct gt_call *call) {
    return p->k > 0 && gt_element_get(call->alpha, p->type_acc) != 0;
}

bool gt_call_is_idle(const gemmtune_problem *p, const struct gt_call *call) {
    return gt_exec_is_empty(p) || (p->epilogue == NULL && !reads_inputs(p, call) &&
                                   gt_element_get(call->beta, p->type_acc) == 1);
}

/* ---- a call ---------------------------------------------------------------------- */

static bool has_order(const struct gt_call *call) {
    return call->order.count > 0 || call->order.event != NULL;
}

/* The order of a call that has nothing to compute. */
static gt_status mark(const struct gt_exec *e, const struct gt_call *call,
                      struct gt_err *err) {
    return has_order(call) ? e->loaded->driver->mark(call->stream, call->order, err)
                           : GEMMTUNE_OK;
}

/* As in BLAS, neither A nor B is read when alpha or k is 0. The kernel then runs with both
 * 0: the sum over an empty k is 0, so it writes beta C only. The other passes run as well,
 * since the pass that adds partial sums is the one that writes C. */
static gt_status run(const struct gt_exec *e, const struct gt_call *call,
                     struct gt_err *err) {
    gt_status status = gt_call_check_scalars(&e->fit.problem, call, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (gt_call_is_idle(&e->fit.problem, call))
        return mark(e, call, err);
    const bool reads_ab = reads_inputs(&e->fit.problem, call);
    struct gt_memory memory[GT_ARG_KINDS];
    struct gt_epilogue_args epilogue;
    find_memory(memory, e, call);
    const struct gt_call_matrices matrices = {memory[GT_ARG_A], memory[GT_ARG_B],
                                              memory[GT_ARG_C]};
    status = check_pointers(e, reads_ab, memory, call->swapped, err);
    if (status == GEMMTUNE_OK)
        status = gt_epilogue_args_of(&epilogue, e->epilogue, &e->fit.problem, call,
                                     &matrices, e->loaded->driver, err);
    if (status != GEMMTUNE_OK)
        return status;
    union gt_value value[GT_ARG_KINDS];
    struct gt_tensor_map map[GT_MAPS_MAX];
    fill_values(value, e, call, memory, reads_ab);
    if (e->panel != NULL)
        return launch_panels(e, &(struct frame){value, memory, &epilogue, call, reads_ab},
                             err);
    status = encode_maps(map, e->loaded, &e->fit.passes, value, reads_ab, err);
    return status == GEMMTUNE_OK
               ? launch(e, &e->fit.passes, value, memory, map, &epilogue, call, err)
               : status;
}

gt_status gt_exec_run(const struct gt_exec *e, const struct gt_call *call,
                      struct gt_err *err) {
    if (has_order(call) && !e->loaded->driver->takes_events)
        return gt_blame(err,
                        gt_fail(err, GEMMTUNE_EINVAL,
                                "wait_list and event are for OpenCL queues: a stream "
                                "orders its own calls"),
                        GEMMTUNE_ARG_EVENTS);
    return run(e, call, err);
}
