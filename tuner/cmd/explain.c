/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain.c - `gemmtune explain PROBLEM`: how long a problem must take at least, and how
 * much slower its naive kernel must be. With --point: how long one point of a family should
 * take, term by term. For a problem with row_order: its order of sums, and what that costs.
 * It only computes; nothing is run.
 *
 * The naive kernel reads a row of A and a column of B, 2k elements, for each element of C.
 * A perfect one reads A and B and writes C once. Both leave out rows that are in no group
 * or masked. The footprint is what the matrices take, with such rows and padding. The
 * roofline is the larger of FLOPs over peak and bytes over bandwidth.
 */
#include "core/bytes.h"
#include "core/epilogue/epilogue_cost.h"
#include "core/epilogue/epilogue_op.h"
#include "core/epilogue/epilogue_keep.h"
#include "tuner/base/wrap.h"
#include "tuner/cmd/explain_order.h"
#include "tuner/cmd/explain_point.h"

#include "tuner/cmd/which_device.h"
#include "tuner/base/talk.h"

#include <math.h>

struct values {
    struct gt_format format;
    const char *device, *device_file, *db, *point;
    struct gt_texts templates;
    double peak_gflops, bandwidth_gbs; /* 0: ask the device */
};

static const struct gt_option options[] = {
    GT_OPTION_ANY_DEVICE(struct values),
    GT_OPTION_DEVICE_FILE(struct values),
    {"point", 'p', GT_OPT_TEXT, offsetof(struct values, point), "\"FAMILY ...\"",
     "also predict this point: a family and its parameters; missing ones take their "
     "defaults",
     0, 0},
    {"peak-gflops", 0, GT_OPT_NUMBER, offsetof(struct values, peak_gflops), "X",
     "peak GFLOP/s, instead of the device's own figure", 0, 0},
    {"bandwidth-gbs", 0, GT_OPT_NUMBER, offsetof(struct values, bandwidth_gbs), "X",
     "memory GB/s, instead of the device's own figure", 0, 0},
    GT_OPTION_DB(struct values),
    GT_OPTION_TEMPLATES(struct values),
    GT_OPTION_JSON(struct values),
    GT_OPTION_END,
};

/* The figures of a device that are needed here. */
struct machine {
    char name[160];
    double peak;      /* operations per second; 0: unknown */
    const char *of;   /* the kind of peak; NULL when it was given */
    double bandwidth; /* bytes per second; 0: unknown */
    double memory;    /* bytes; 0: unknown */
    bool is_cpu;
};

/* Times are nanoseconds, 0 when the machine's figures are unknown. */
struct analysis {
    char problem[GT_PROBLEM_NAME_MAX];
    double flops, naive_bytes, perfect_bytes, footprint_bytes;
    const struct gt_epilogue *epilogue; /* or NULL */
    double saved_bytes; /* by the epilogue in the same kernel; 0 without one */
    double naive_intensity, perfect_intensity; /* FLOP per byte */
    double compute_ns, memory_ns, roofline_ns;
    double naive_memory_ns; /* the naive traffic at full bandwidth */
    /* part of the roofline's speed, when no cache helps the naive kernel */
    double naive_fraction;
};

static double over(double a, double b) {
    return b > 0 ? a / b : 0;
}

/* Operands and d2 are in memory for all rows, and move for the rows that are computed. */
static void add_epilogue(struct analysis *a, const gemmtune_problem *p) {
    const struct gt_epilogue *const e = a->epilogue = gt_epilogue_of(p);
    if (e == NULL)
        return;
    const int64_t all = gt_problem_outputs(p) * p->m;
    const struct gt_epilogue_cost moved = gt_epilogue_cost_of(
                                      e, p->batch, (int64_t)gt_problem_rows(p), p->n),
                                  stored = gt_epilogue_cost_of(e, p->batch, all, p->n);
    const bool reads_c = gt_epilogue_reads(e, GT_EPI_C);
    const double c = (double)all * (double)p->n * (double)gt_type_size(p->type_c);
    a->saved_bytes = (double)moved.bytes_saved;
    a->naive_bytes += (double)moved.bytes_in + (double)moved.bytes_out;
    a->footprint_bytes += (double)stored.bytes_in + (double)stored.bytes_out -
                          (reads_c ? c : 0); /* C is in it already */
}

static struct analysis analyse(const gemmtune_problem *p, const struct machine *machine) {
    struct analysis a = {.flops = gt_problem_flops(p)};
    const double elements = gt_problem_rows(p) * (double)p->n;
    const double lists = gt_problem_list_bytes(p);
    const double size_c = (double)gt_type_size(p->type_c);
    const double pair = (double)(gt_type_size(p->type_a) + gt_type_size(p->type_b));
    (void)gt_problem_name(p, a.problem);
    a.naive_bytes = elements * ((double)p->k * pair + size_c) + lists;
    a.perfect_bytes = gt_problem_least_bytes(p);
    a.footprint_bytes = gt_problem_bytes(p) + lists;
    add_epilogue(&a, p);
    a.naive_intensity = over(a.flops, a.naive_bytes);
    a.perfect_intensity = over(a.flops, a.perfect_bytes);
    a.compute_ns = 1e9 * over(a.flops, machine->peak);
    a.memory_ns = 1e9 * over(a.perfect_bytes, machine->bandwidth);
    a.naive_memory_ns = 1e9 * over(a.naive_bytes, machine->bandwidth);
    if (machine->peak > 0 && machine->bandwidth > 0) {
        a.roofline_ns = fmax(a.compute_ns, a.memory_ns);
        a.naive_fraction = over(a.roofline_ns, fmax(a.compute_ns, a.naive_memory_ns));
    }
    return a;
}

/* ---- printing ---- */

static const char *bound_of(const struct analysis *a) {
    if (a->roofline_ns == 0)
        return NULL;
    return a->compute_ns >= a->memory_ns ? "compute" : "memory";
}

/* Bytes of the operands of an epilogue as text: a name, an index and a type for each. */
enum { OPERANDS_MAX = 384 };

/* The operands in the order in which a call gives them, and the second output:
 * "sa[i]:f32, res[i,j]:bf16; d2:f16". "" for neither. */
static void name_operands(char *buf, size_t size, const struct gt_epilogue *e) {
    int len = 0;
    buf[0] = '\0';
    for (int i = 0; i < e->operands && (size_t)len < size; i++)
        len += snprintf(buf + len, size - (size_t)len, "%s%s%s:%s", i > 0 ? ", " : "",
                        e->operand[i].name, gt_epi_index[e->operand[i].shape],
                        gt_type_name((gemmtune_dtype)e->operand[i].type));
    if (e->d2 >= 0 && (size_t)len < size)
        (void)snprintf(buf + len, size - (size_t)len, "%sd2:%s", len > 0 ? "; " : "",
                       gt_type_name((gemmtune_dtype)e->type_d2));
}

/* `point` is NULL when none was asked for, `order` when the problem has no row_order. */
static void print_json(const struct analysis *a, const struct machine *machine,
                       const struct gt_predicted *point,
                       const struct gt_explained_order *order) {
    const struct {
        const char *key;
        double value; /* from "peak_gflops" on, 0 is unknown */
    } numbers[] = {
        {"flops", a->flops},
        {"naive_bytes", a->naive_bytes},
        {"perfect_bytes", a->perfect_bytes},
        {"footprint_bytes", a->footprint_bytes},
        {"saved_bytes", a->saved_bytes},
        {"naive_intensity", a->naive_intensity},
        {"perfect_intensity", a->perfect_intensity},
        {"peak_gflops", machine->peak / 1e9},
        {"bandwidth_gbs", machine->bandwidth / 1e9},
        {"compute_ns", a->compute_ns},
        {"memory_ns", a->memory_ns},
        {"roofline_ns", a->roofline_ns},
        {"naive_memory_ns", a->naive_memory_ns},
        {"naive_fraction", a->naive_fraction},
    };
    bool first = true;
    (void)fputs("{", stdout);
    gt_json_text(&first, "problem", a->problem);
    gt_json_text(&first, "device", machine->name);
    if (a->epilogue != NULL) {
        char operands[OPERANDS_MAX];
        name_operands(operands, sizeof operands, a->epilogue);
        gt_json_text(&first, "operands", operands);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        gt_json_number(&first, numbers[i].key,
                       i >= 7 && numbers[i].value == 0 ? NAN : numbers[i].value);
    gt_json_text(&first, "bound", bound_of(a));
    if (point != NULL) {
        gt_json_name(&first, "point");
        gt_explain_point_json(point);
    }
    if (order != NULL) {
        gt_json_name(&first, "row_order");
        gt_explain_order_json(order);
    }
    (void)fputs("}\n", stdout);
}

static void print_operands(const struct gt_epilogue *e) {
    char operands[OPERANDS_MAX];
    if (e == NULL)
        return;
    name_operands(operands, sizeof operands, e);
    gt_wrap_print(stdout, 27, "operands                   %s",
                  operands[0] != '\0' ? operands : "none");
}

static void print_work(const struct analysis *a) {
    char buf[2][GT_CELL_MAX];
    printf("%s\n\n", a->problem);
    gt_wrap_print(stdout, 27, "operations                 %s",
                  gt_show_power(buf[0], a->flops));
    gt_wrap_print(stdout, 27, "footprint                  %s",
                  gt_show_bytes(buf[0], a->footprint_bytes));
    print_operands(a->epilogue);
    gt_wrap_print(
        stdout, 27, "traffic, perfect kernel    %s, %s operations a byte: %s once",
        gt_show_bytes(buf[0], a->perfect_bytes),
        gt_show_rate(buf[1], a->perfect_intensity, 1),
        a->epilogue != NULL ? "A, B, C and what the epilogue moves" : "A, B and C");
    if (a->saved_bytes > 0)
        gt_wrap_print(stdout, 27,
                      "saved by the epilogue      %s: a kernel of its own would write C "
                      "and read it again",
                      gt_show_bytes(buf[0], a->saved_bytes));
    gt_wrap_print(stdout, 27,
                  "traffic, naive kernel      %s, %s operations a byte: 2k elements read "
                  "for each of C",
                  gt_show_bytes(buf[0], a->naive_bytes),
                  gt_show_rate(buf[1], a->naive_intensity, 1));
}

static void print_roofline(const struct analysis *a, const struct machine *machine) {
    char buf[2][GT_CELL_MAX];
    printf("\n%s\n", machine->name);
    if (machine->peak > 0)
        gt_wrap_print(stdout, 27, "arithmetic at peak         %s at %s GFLOP/s%s%s",
                      gt_show_ns(buf[0], a->compute_ns),
                      gt_show_rate(buf[1], machine->peak / 1e9, 1), machine->of ? ", " : "",
                      machine->of ? machine->of : "");
    if (machine->bandwidth > 0)
        gt_wrap_print(stdout, 27, "perfect traffic            %s at %s GB/s",
                      gt_show_ns(buf[0], a->memory_ns),
                      gt_show_count(buf[1], machine->bandwidth / 1e9));
    if (a->roofline_ns > 0) {
        gt_wrap_print(stdout, 27, "roofline                   %s, bound by %s",
                      gt_show_ns(buf[0], a->roofline_ns), bound_of(a));
        gt_wrap_print(
            stdout, 27,
            "naive traffic              %s: without caches at most %.1f %% of the roofline",
            gt_show_ns(buf[0], a->naive_memory_ns), 100 * a->naive_fraction);
    }
    if (machine->memory > 0 && a->footprint_bytes > machine->memory)
        gt_wrap_print(stdout, 27, "memory                     %s: the problem does not fit",
                      gt_show_bytes(buf[0], machine->memory));
}

/* ---- the machine ---- */

static void describe(struct machine *out, const struct gt_device *d,
                     const gemmtune_problem *p) {
    (void)snprintf(out->name, sizeof out->name, "%s", d->name);
    out->peak = gt_device_peak(d, gt_dtype_of(p));
    out->of = gt_device_peak_about(d, gt_dtype_of(p));
    out->bandwidth = gt_device_bandwidth(d);
    out->memory = (double)d->mem_bytes;
    out->is_cpu = d->is_cpu;
}

/* When both figures are given, no device is needed unless one is named. *known says whether
 * there is a device. */
static int find_machine(struct machine *out, struct gt_device *device, bool *known,
                        const struct values *v, const gemmtune_problem *p) {
    struct gt_err err = {""};
    const bool given = v->peak_gflops > 0 && v->bandwidth_gbs > 0;
    *out = (struct machine){.name = "a device with the figures given"};
    *known = false;
    if (v->device != NULL || v->device_file != NULL || !given) {
        const struct gt_which which = {v->device, v->device_file, v->db, NULL};
        const int code = gt_which_device(device, &which, &err);
        *known = code < 0;
        if (*known)
            describe(out, device, p);
        else if (!given || code != GT_EXIT_DEVICE)
            return gt_die(code, "%s", err.line);
        else if (v->device != NULL)
            (void)snprintf(out->name, sizeof out->name, "%s, with the figures given",
                           v->device);
    }
    if (v->peak_gflops > 0) {
        out->peak = v->peak_gflops * 1e9;
        out->of = NULL;
    }
    if (v->bandwidth_gbs > 0)
        out->bandwidth = v->bandwidth_gbs * 1e9;
    return -1;
}

static void print(const struct values *v, const gemmtune_problem *p,
                  const struct machine *machine, const struct gt_predicted *point,
                  const struct gt_explained_order *order) {
    const struct analysis a = analyse(p, machine);
    if (v->format.json) {
        print_json(&a, machine, point, order);
    } else {
        print_work(&a);
        print_roofline(&a, machine);
        if (point != NULL)
            gt_explain_point_print(point, a.flops);
        if (order != NULL)
            gt_explain_order_print(order);
    }
    if (a.roofline_ns == 0)
        gt_talk("%s does not report its %s; give --peak-gflops and --bandwidth-gbs",
                machine->name,
                machine->is_cpu ? "peak and bandwidth, as CPUs do not"
                                : "peak or bandwidth");
}

static int run(const struct gt_cmd *cmd, int argc, char **argv) {
    struct values v = {.db = NULL};
    gemmtune_problem p;
    struct machine machine;
    struct gt_device device;
    bool known;
    struct gt_families *families = NULL;
    struct gt_predicted point;
    struct gt_explained_order order;
    int first;
    int code = gt_common_parse(cmd, argc, argv, &v, &v.format, 1, 1, &first);
    if (code < 0)
        code = gt_common_problem(&p, argv[first]);
    if (code < 0)
        code = gt_common_families(&families, &v.templates);
    if (code < 0)
        code = find_machine(&machine, &device, &known, &v, &p);
    if (code < 0 && v.point != NULL)
        code = known ? gt_explain_point(&point, families, v.point, &device, &p)
                     : gt_die(GT_EXIT_USAGE, "explain: --point needs --device or "
                                             "--device-file");
    const bool in_order = code < 0 && p.row_order && known;
    if (in_order)
        code = gt_explain_order(&order, v.db, families, &device, &p);
    if (code < 0) {
        print(&v, &p, &machine, v.point != NULL ? &point : NULL, in_order ? &order : NULL);
        code = GT_EXIT_OK;
    }
    gt_families_destroy(families);
    return code;
}

const struct gt_cmd gt_cmd_explain = {
    .name = "explain",
    .operands = "PROBLEM [--device N] [--point \"FAMILY ...\"]",
    .about = "Work out a problem's operations, traffic and shortest possible time.",
    .options = options,
    .run = run,
};
