/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - `gemmtune stream PROBLEM`: a product of matrices in host memory, which may be
 * larger than the device's, on one device or several.
 */
#include "tuner/stream/stream.h"

#include "core/element.h"
#include "runtime/drivers/driver.h"
#include "tuner/base/choose.h"
#include "tuner/base/table.h"
#include "tuner/base/progress.h"
#include "tuner/base/wrap.h"
#include "tuner/cmd/common.h"
#include "tuner/cmd/session.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct values {
    struct gt_texts devices, against;
    const char *db, *cut, *order, *a, *b, *c, *timeline;
    double memory, alpha, beta; /* beta: NAN when it is not given */
    int64_t rounds, threads, seed;
    bool pageable, quiet;
    struct gt_format format;
};

static const struct gt_option options[] = {
    {"device", 'd', GT_OPT_NAMES, offsetof(struct values, devices), "N",
     "device: index, UUID, PCI id, key or part of its name; several by commas, or all", 0,
     0},
    {"devices", 0, GT_OPT_NAMES, offsetof(struct values, devices), "N,...",
     "the same as --device", 0, 0},
    {"memory", 'm', GT_OPT_BYTES, offsetof(struct values, memory), "SIZE",
     "take at most this much memory of each device, as 8GiB (default: its free memory)", 0,
     0},
    {"pageable", 0, GT_OPT_FLAG, offsetof(struct values, pageable), NULL,
     "keep the matrices in ordinary memory, not in pinned memory", 0, 0},
    {"a", 0, GT_OPT_TEXT, offsetof(struct values, a), "FILE",
     "A is a .npy file (default: random numbers)", 0, 0},
    {"b", 0, GT_OPT_TEXT, offsetof(struct values, b), "FILE", "B is a .npy file", 0, 0},
    {"c", 0, GT_OPT_TEXT, offsetof(struct values, c), "FILE",
     "C goes to a .npy file, whole and checked or not at all; with a beta it is read first",
     0, 0},
    {"alpha", 0, GT_OPT_REAL, offsetof(struct values, alpha), "X",
     "C = X A B + beta C (default 1)", 0, 0},
    {"beta", 0, GT_OPT_REAL, offsetof(struct values, beta), "X",
     "C = alpha A B + X C (default 0; 1 for a problem with \",beta\")", 0, 0},
    {"against", 0, GT_OPT_NAMES, offsetof(struct values, against), "NAMES",
     "compare with the product of matrices on the device (resident) or with cublasxt", 0,
     0},
    {"rounds", 0, GT_OPT_INT, offsetof(struct values, rounds), "N",
     "rounds; each times all contestants (default 1; 3 with --against)", 1,
     GT_STREAM_ROUNDS_MAX},
    {"order", 0, GT_OPT_TEXT, offsetof(struct values, order), "NAME",
     "planned (default), or five: the five buffers of the paper of 2010", 0, 0},
    {"cut", 0, GT_OPT_TEXT, offsetof(struct values, cut), "MxNxK",
     "tiles of C of M x N, slabs of K (default: planned)", 0, 0},
    {"threads", 0, GT_OPT_INT, offsetof(struct values, threads), "N",
     "threads that copy ordinary memory (default: half of the cores)", 1, 256},
    {"timeline", 0, GT_OPT_TEXT, offsetof(struct values, timeline), "FILE",
     "draw the times of copies and products, as SVG", 0, 0},
    GT_OPTION_DB(struct values),
    GT_OPTION_SEED(struct values),
    GT_OPTION_QUIET(struct values),
    GT_OPTION_JSON(struct values),
    GT_OPTION_END,
};

/* ---- options ------------------------------------------------------------------------- */

static int read_cut(int64_t tile[3], const char *text) {
    struct gt_reader r = {text, text != NULL ? text + strlen(text) : NULL};
    for (int i = 0; text != NULL && i < 3; i++) {
        const struct gt_piece part = gt_piece_take(&r, "x");
        if (!gt_text_int(&tile[i], part.text, (size_t)part.len) || tile[i] < 1 ||
            (part.stop == 'x') != (i < 2))
            return gt_die(GT_EXIT_USAGE, "--cut %s: give it as 8192x8192x4096", text);
    }
    return -1;
}

static int read_against(struct gt_stream_setup *setup, const struct gt_texts *names) {
    static const char *const known[] = {"resident", "cublasxt", NULL};
    for (int i = 0; i < names->count; i++) {
        if (strcmp(names->text[i], known[0]) == 0)
            setup->resident = true;
        else if (strcmp(names->text[i], known[1]) == 0)
            setup->cublasxt = true;
        else
            return gt_die(GT_EXIT_USAGE,
                          "--against %s: choose one of resident and cublasxt",
                          names->text[i]);
    }
    return -1;
}

static int read_order(struct gt_stream_setup *setup, const char *order) {
    if (order == NULL || strcmp(order, "planned") == 0)
        return -1;
    setup->five_buffers = strcmp(order, "five") == 0;
    return setup->five_buffers
               ? -1
               : gt_die(GT_EXIT_USAGE, "--order %s: choose one of planned and five", order);
}

static bool is_packed(const gemmtune_problem *p, int operand) {
    const struct gt_shape shape[3] = {gt_problem_shape_a(p), gt_problem_shape_b(p),
                                      gt_problem_shape_c(p)};
    const int64_t ld[3] = {p->lda, p->ldb, p->ldc};
    return ld[operand] == gt_shape_least_ld(shape[operand]);
}

/* The number as the type has it; NAN when it has none near. A float may round a number, but
 * neither to infinity nor to 0. */
static double number_of(gemmtune_dtype type, double number) {
    const bool whole =
        number >= INT32_MIN && number <= INT32_MAX && number == floor(number);
    if (!gt_type_is_float(type))
        return whole ? number : (double)NAN;
    const union gt_value value = gt_value_of(type, number);
    const double near = gt_element_get(&value, type);
    return isfinite(near) && (near != 0 || number == 0) ? near : (double)NAN;
}

static int read_factors(struct gt_stream_setup *setup, const struct values *v) {
    const gemmtune_dtype type = setup->p.type_acc;
    const double given[] = {v->alpha, !isnan(v->beta) ? v->beta : setup->p.reads_c ? 1 : 0};
    setup->alpha = number_of(type, given[0]);
    setup->beta = number_of(type, given[1]);
    for (int i = 0; i < 2; i++)
        if (isnan(i == 0 ? setup->alpha : setup->beta))
            return gt_die(GT_EXIT_USAGE,
                          "--%s %g: it is of type %s, which has no such number",
                          i == 0 ? "alpha" : "beta", given[i], gt_type_name(type));
    setup->p.reads_c = setup->beta != 0;
    return -1;
}

static int check_files(const struct gt_stream_setup *setup) {
    for (int i = 0; i < 3; i++)
        if (setup->path[i] != NULL && !is_packed(&setup->p, i))
            return gt_die(GT_EXIT_USAGE,
                          "%s: rows of a .npy file have no gaps, so leave out its leading "
                          "dimension",
                          setup->path[i]);
    if (setup->path[2] != NULL && (setup->cublasxt || setup->rounds > 1))
        return gt_die(GT_EXIT_USAGE,
                      "--c keeps the first product: give neither --rounds nor --against "
                      "cublasxt with it");
    return -1;
}

static int read_setup(struct gt_stream_setup *setup, const struct values *v,
                      const char *problem) {
    int code = gt_common_product(&setup->p, problem);
    if (code < 0)
        code = read_factors(setup, v);
    if (code < 0)
        code = read_cut(setup->tile, v->cut);
    if (code < 0)
        code = read_against(setup, &v->against);
    if (code < 0)
        code = read_order(setup, v->order);
    setup->path[0] = v->a;
    setup->path[1] = v->b;
    setup->path[2] = v->c;
    setup->pageable = v->pageable;
    setup->memory = v->memory;
    setup->threads = (int)v->threads;
    setup->rounds = v->rounds > 0 ? (int)v->rounds : v->against.count > 0 && !v->c ? 3 : 1;
    setup->seed = (uint64_t)v->seed;
    return code < 0 ? check_files(setup) : code;
}

/* ---- devices ------------------------------------------------------------------------- */

struct picked {
    struct gt_device_list list;
    const struct gt_device *device[GT_CONTEST_DEVICES_MAX];
    int count;
};

static gt_status add_device(struct picked *p, const struct gt_device *d,
                            struct gt_err *err) {
    if (d->trouble[0] != '\0')
        return gt_fail(err, GEMMTUNE_EBUILD, "%s: %s", d->name, d->trouble);
    for (int i = 0; i < p->count; i++)
        if (p->device[i] == d)
            return gt_fail(err, GEMMTUNE_EINVAL, "%s is named twice", d->name);
    if (p->count == GT_CONTEST_DEVICES_MAX)
        return gt_fail(err, GEMMTUNE_EINVAL, "at most %d devices", GT_CONTEST_DEVICES_MAX);
    p->device[p->count++] = d;
    return GEMMTUNE_OK;
}

/* All usable devices of the first one's backend: OpenCL lists the same GPUs again. */
static gt_status add_all(struct picked *p, struct gt_err *err) {
    gt_status status = GEMMTUNE_OK;
    for (size_t i = 0; status == GEMMTUNE_OK && i < p->list.count; i++) {
        const struct gt_device *d = &p->list.device[i];
        if (d->trouble[0] == '\0' && (p->count == 0 || d->backend == p->device[0]->backend))
            status = add_device(p, d, err);
    }
    if (status == GEMMTUNE_OK && p->count == 0)
        status = gt_fail(err, GEMMTUNE_ENODRIVER, "there is no usable device");
    return status;
}

static gt_status pick_devices(struct picked *p, const struct gt_texts *names,
                              struct gt_err *err) {
    gt_status status = gt_devices_list(&p->list, err);
    if (status == GEMMTUNE_OK && names->count == 1 && strcmp(names->text[0], "all") == 0)
        return add_all(p, err);
    for (int i = 0; status == GEMMTUNE_OK && i < (names->count > 0 ? names->count : 1);
         i++) {
        size_t index = 0;
        status =
            gt_devices_pick(&index, &p->list, names->count > 0 ? names->text[i] : "0", err);
        if (status == GEMMTUNE_OK)
            status = add_device(p, &p->list.device[index], err);
    }
    return status;
}

/* ---- progress ------------------------------------------------------------------------ */

static void show_step(void *user, const char *what) {
    gt_progress_step(user, what);
}

static int show_progress(void *user, const gemmtune_host_progress *p) {
    char text[160];
    const double rate = p->seconds > 0 ? p->flops_done / p->seconds : 0;
    const double left = rate > 0 ? (p->flops - p->flops_done) / rate : 0;
    snprintf(text, sizeof text,
             "%" PRId64 " of %" PRId64 " tiles, %.4g GFLOP/s, %.0f s left", p->tiles_done,
             p->tiles, rate * 1e-9, left);
    if (p->tiles_done < p->tiles)
        gt_progress_step(user, text);
    return gt_session_stop;
}

/* ---- answers ------------------------------------------------------------------------- */

struct answer {
    struct gt_progress progress;
    const struct gt_stream_setup *setup;
    const struct picked *picked;
    const char *problem;
    struct gt_stream s;
};

static void print_contestant(const struct answer *a, const char *name,
                             const struct gt_stream_times *t) {
    char time[GT_CELL_MAX], rate[GT_CELL_MAX];
    if (!t->took_part) {
        if (t->why[0] != '\0')
            gt_wrap_print(stdout, 11, "%-11sleft out: %s", name, t->why);
        return;
    }
    const double seconds = gt_stream_median(t, a->setup->rounds);
    const double flops = gt_problem_flops(&a->setup->p);
    printf("%-11s%s", name, gt_show_ns(time, seconds * 1e9));
    if (a->setup->alpha != 0) /* else C is only scaled */
        printf("  %s GFLOP/s", gt_show_rate(rate, flops, seconds * 1e9));
    if (t->block > 0)
        printf(", blocks of %d", t->block);
    if (t != &a->s.own)
        printf("; ours has %.3f of its rate", gt_stream_ratio(&a->s, t, a->setup->rounds));
    printf("\n");
}

/* "A", "A and B": the operands that are files, or the others. */
static const char *name_operands(char text[16], const struct gt_stream_setup *setup,
                                 bool files) {
    size_t n = 0;
    text[0] = '\0';
    for (int i = 0; i < 3; i++)
        if ((setup->path[i] != NULL) == files)
            n += (size_t)snprintf(text + n, 16 - n, "%s%c", n > 0 ? " and " : "", "ABC"[i]);
    return text;
}

static void print_matrices(const struct answer *a) {
    const struct gt_stream_setup *s = a->setup;
    const char *memory = s->pageable ? "pageable memory" : "pinned memory";
    const int files = (s->path[0] != NULL) + (s->path[1] != NULL) + (s->path[2] != NULL);
    char bytes[GT_CELL_MAX], mapped[16], others[16];
    printf("matrices   %s", gt_show_bytes(bytes, a->s.bytes));
    if (files == 0 || files == 3)
        printf(" in %s\n", files == 0 ? memory : "mapped files");
    else
        printf("; %s in mapped files, %s in %s\n", name_operands(mapped, s, true),
               name_operands(others, s, false), memory);
}

/* Digits that tell all numbers of the accumulator's type apart. */
static int factor_digits(const struct gt_stream_setup *s) {
    return gt_type_size(s->p.type_acc) > 4 ? 17 : 9;
}

static bool has_factors(const struct gt_stream_setup *s) {
    return s->alpha < 1 || s->alpha > 1 || s->beta < 0 || s->beta > 0;
}

/* The product, how it was cut and what it took. */
static void print_work(const struct answer *a) {
    const gemmtune_host_report *r = &a->s.report;
    char b[6][GT_CELL_MAX];
    gt_wrap_print(
        stdout, 11,
        "tiles      %" PRId64 " of C, %" PRId64 " x %" PRId64 ", slabs of %" PRId64 "; "
        "%" PRId64 " of A, %" PRId64 " of B, %" PRId64 " of C in %s of device memory",
        r->tiles, r->tile_m, r->tile_n, r->tile_k, r->slots_a, r->slots_b, r->slots_c,
        gt_show_bytes(b[0], (double)r->device_bytes));
    gt_wrap_print(stdout, 11, "slabs      %s: %s; %s", a->s.slab,
                  gt_match_word(a->s.report.match), a->s.report.kernel);
    gt_wrap_print(stdout, 11, "copied     %s in, %s out; the link has %s/s in, %s/s out",
                  gt_show_bytes(b[0], r->bytes_in), gt_show_bytes(b[1], r->bytes_out),
                  gt_show_bytes(b[2], r->link_in), gt_show_bytes(b[3], r->link_out));
    gt_wrap_print(stdout, 11,
                  "time       %s; forecast %s (%s if all copies and products overlapped); "
                  "%s to prepare",
                  gt_show_ns(b[0], r->seconds * 1e9),
                  gt_show_ns(b[1], r->forecast_seconds * 1e9),
                  gt_show_ns(b[2], r->bound_seconds * 1e9),
                  gt_show_ns(b[3], r->prepare_seconds * 1e9));
    gt_wrap_print(stdout, 11,
                  "products   %.1f %% of the time%s; copies that no product hides %.1f %%",
                  100 * r->compute_seconds / r->seconds,
                  a->setup->five_buffers ? " (in the paper of 2010: 90 %)" : "",
                  100 * r->exposed_seconds / r->seconds);
}

static void print_people(const struct answer *a) {
    const struct gt_stream_setup *s = a->setup;
    const int digits = factor_digits(s);
    gt_wrap_print(stdout, 11, "problem    %s", a->problem);
    if (has_factors(s))
        gt_wrap_print(stdout, 11, "factors    alpha %.*g, beta %.*g", digits, s->alpha,
                      digits, s->beta);
    for (int i = 0; i < a->picked->count; i++)
        gt_wrap_print(stdout, 11, "device     %s", a->picked->device[i]->name);
    print_matrices(a);
    if (a->s.report.tiles > 0)
        print_work(a);
    else
        gt_wrap_print(stdout, 11,
                      "tiles      none: there is nothing to compute, C stays as it is");
    if (a->s.correct)
        gt_wrap_print(stdout, 11,
                      "checked    correct; the largest error is %.2g of its bound",
                      a->s.worst);
    else
        gt_wrap_print(stdout, 11, "checked    wrong: %s", a->s.wrong);
    if (a->s.report.tiles > 0)
        print_contestant(a, "this", &a->s.own);
    print_contestant(a, "resident", &a->s.resident);
    print_contestant(a, "cublasXt", &a->s.cublasxt);
}

static void json_contestant(bool *first, const struct answer *a, const char *seconds,
                            const char *ratio, const struct gt_stream_times *t) {
    if (!t->took_part)
        return;
    gt_json_number(first, seconds, gt_stream_median(t, a->setup->rounds));
    if (ratio != NULL)
        gt_json_number(first, ratio, gt_stream_ratio(&a->s, t, a->setup->rounds));
}

static void json_factor(bool *first, const struct gt_stream_setup *s, const char *key,
                        double value) {
    if (!has_factors(s))
        return;
    gt_json_name(first, key);
    printf("%.*g", factor_digits(s), value);
}

static void json_report(bool *first, const struct answer *a) {
    const gemmtune_host_report *r = &a->s.report;
    const struct {
        const char *key;
        double value;
    } number[] = {{"tile_m", (double)r->tile_m},
                  {"tile_n", (double)r->tile_n},
                  {"tile_k", (double)r->tile_k},
                  {"tiles", (double)r->tiles},
                  {"slots_a", (double)r->slots_a},
                  {"slots_b", (double)r->slots_b},
                  {"slots_c", (double)r->slots_c},
                  {"bytes_in", r->bytes_in},
                  {"bytes_out", r->bytes_out},
                  {"device_bytes", (double)r->device_bytes},
                  {"pinned_bytes", (double)r->pinned_bytes},
                  {"link_in", r->link_in},
                  {"link_out", r->link_out},
                  {"prepare_seconds", r->prepare_seconds},
                  {"compute_seconds", r->compute_seconds},
                  {"copy_seconds", r->copy_seconds},
                  {"exposed_seconds", r->exposed_seconds},
                  {"forecast_seconds", r->forecast_seconds},
                  {"bound_seconds", r->bound_seconds},
                  {"worst", a->s.worst}};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        gt_json_number(first, number[i].key, number[i].value);
}

static void print_json(const struct answer *a) {
    const gemmtune_host_report *r = &a->s.report;
    const bool computed = r->tiles > 0;
    bool first = true;
    printf("{");
    gt_json_text(&first, "problem", a->problem);
    gt_json_number(&first, "devices", (double)r->devices);
    json_factor(&first, a->setup, "alpha", a->setup->alpha);
    json_factor(&first, a->setup, "beta", a->setup->beta);
    gt_json_text(&first, "slab", computed ? a->s.slab : NULL);
    gt_json_text(&first, "match", computed ? gt_match_word(r->match) : NULL);
    gt_json_text(&first, "kernel", computed ? r->kernel : NULL);
    gt_json_text(&first, "checked", a->s.correct ? "correct" : "wrong");
    gt_json_text(&first, "error", a->s.correct ? NULL : a->s.wrong);
    json_contestant(&first, a, "seconds", NULL, &a->s.own);
    json_report(&first, a);
    json_contestant(&first, a, "resident_seconds", "of_resident", &a->s.resident);
    json_contestant(&first, a, "cublasxt_seconds", "of_cublasxt", &a->s.cublasxt);
    if (a->s.cublasxt.took_part)
        gt_json_number(&first, "cublasxt_block", (double)a->s.cublasxt.block);
    printf("}\n");
}

/* ---- the command --------------------------------------------------------------------- */

static int draw(const struct answer *a, const char *path) {
    struct gt_err err;
    char title[512];
    snprintf(title, sizeof title, "%s on %s%s, %.3g s", a->problem,
             a->picked->device[0]->name, a->picked->count > 1 ? " and others" : "",
             a->s.report.seconds);
    if (path == NULL ||
        gt_timeline_draw(&a->s.timeline, path, title, &a->s.report, &err) == GEMMTUNE_OK)
        return -1;
    return gt_die(GT_EXIT_FAILURE, "%s", err.line);
}

/* Files are the input here: EIO is not a database's. */
static int exit_of(gt_status status, const struct gt_stream_setup *setup) {
    const bool file =
        setup->path[0] != NULL || setup->path[1] != NULL || setup->path[2] != NULL;
    if (gt_session_stop)
        return gt_session_exit(GT_EXIT_FAILURE);
    if (file &&
        (status == GEMMTUNE_EIO || status == GEMMTUNE_EPARSE || status == GEMMTUNE_EINVAL))
        return GT_EXIT_INPUT;
    return gt_exit_of(status);
}

static int stream(struct answer *a, struct gt_stream_setup *setup, const struct values *v) {
    struct gt_err err = {""};
    gt_progress_init(&a->progress, 1, v->quiet);
    setup->progress = show_progress;
    setup->step = show_step;
    setup->user = &a->progress;
    gt_session_catch(false);
    const gt_status status =
        gt_stream_run(&a->s, setup, a->picked->device, a->picked->count, v->db, &err);
    gt_progress_end(&a->progress);
    if (status != GEMMTUNE_OK)
        return gt_die(exit_of(status, setup), "%s", err.line);
    if (v->format.json)
        print_json(a);
    else
        print_people(a);
    const int code = draw(a, v->timeline);
    if (code >= 0 || a->s.correct)
        return code >= 0 ? code : GT_EXIT_OK;
    char fate[160];
    gt_stream_unkept(fate, sizeof fate, v->c);
    return gt_die(GT_EXIT_VERIFY, "the product is wrong: %.200s%s", a->s.wrong,
                  v->c != NULL ? fate : "");
}

/* The name of the product of two files: row by row, in the type that they hold. */
static int name_files(char name[GT_PROBLEM_NAME_MAX], const struct values *v) {
    gemmtune_dtype a, b;
    struct gt_shape of_a, of_b;
    struct gt_err err = {""};
    if (v->a == NULL || v->b == NULL)
        return gt_die(GT_EXIT_USAGE,
                      "stream: name a problem, or give both --a and --b, which say it");
    gt_status status = gt_npy_look(&a, &of_a, v->a, &err);
    if (status == GEMMTUNE_OK)
        status = gt_npy_look(&b, &of_b, v->b, &err);
    if (status != GEMMTUNE_OK)
        return gt_die(status == GEMMTUNE_ENOMEM ? GT_EXIT_FAILURE : GT_EXIT_INPUT, "%s",
                      err.line);
    if (a != b || of_a.cols != of_b.rows)
        return gt_die(GT_EXIT_INPUT,
                      "%.200s is %s, %" PRId64 " x %" PRId64 ", and %.200s is %s, %" PRId64
                      " x %" PRId64 ": they have no product",
                      v->a, gt_type_name(a), of_a.rows, of_a.cols, v->b, gt_type_name(b),
                      of_b.rows, of_b.cols);
    (void)snprintf(name, GT_PROBLEM_NAME_MAX, "%s-nn-%" PRId64 "x%" PRId64 "x%" PRId64,
                   gt_type_name(a), of_a.rows, of_b.cols, of_a.cols);
    return -1;
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.seed = 1, .alpha = 1, .beta = NAN};
    struct gt_stream_setup setup = {.rounds = 1};
    struct picked picked = {.count = 0};
    struct gt_err err = {""};
    char problem[GT_PROBLEM_NAME_MAX];
    int first = 0;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 0, 1, &first);
    if (code < 0 && first == argc)
        code = name_files(problem, &v);
    if (code < 0)
        code = read_setup(&setup, &v, first < argc ? argv[first] : problem);
    if (code < 0)
        code = gt_common_picture(v.timeline);
    if (code >= 0)
        return code;
    gt_problem_name(&setup.p, problem);
    const gt_status status = pick_devices(&picked, &v.devices, &err);
    if (status != GEMMTUNE_OK) {
        code = gt_die(status == GEMMTUNE_EINVAL ? GT_EXIT_USAGE : GT_EXIT_DEVICE, "%s",
                      err.line);
    } else {
        struct answer *a = calloc(1, sizeof *a);
        if (a == NULL) {
            code = gt_die(GT_EXIT_FAILURE, "out of memory");
        } else {
            a->setup = &setup;
            a->picked = &picked;
            a->problem = problem;
            code = stream(a, &setup, &v);
            gt_stream_clear(&a->s);
        }
        free(a);
    }
    gt_devices_clear(&picked.list);
    return code;
}

const struct gt_cmd gt_cmd_stream = {
    .name = "stream",
    .operands = "[PROBLEM] [--device N]",
    .about = "Multiply matrices in host memory, larger than the device.",
    .options = options,
    .run = run,
};
