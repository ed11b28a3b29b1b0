/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.c - the computation of model.h. Counts are per unit (multiprocessor) and in its
 * clocks until the last step. The limits of a unit come from occupancy.h, costs from
 * costs.h.
 */
#include "runtime/lookup/model.h"

#include "runtime/family/family_inside.h"
#include "runtime/lookup/learned.h"
#include "runtime/lookup/model_cpu.h"
#include "runtime/lookup/occupancy.h"
#include "runtime/lookup/shelf.h"

#include <math.h>
#include <string.h>

enum {
    LINE = 128, /* bytes that shared memory or the first-level cache moves a clock */
    REGISTER_GUESS = 32, /* for a family that does not say: two loops and addresses */
};

/* ---- one point ---------------------------------------------------------------------- */

/* A point on a device, in numbers; bytes and clocks of a block are counted for one slab. */
struct work {
    const struct gt_facts *facts;
    const struct gt_device *d;
    const struct gt_costs *costs;
    const int64_t *shape;
    double m, n, k;                /* of one product */
    double products;               /* of the problem */
    double groups, rows;           /* as in gt_facts */
    double size_a, size_b, size_c; /* bytes of an element */
    double clocks_per_ns;
    double fma_rate;          /* multiply-adds of a unit in a clock */
    double warps, tile;       /* of a block: warps, elements of C at a time */
    double slabs, tiles;      /* of a block; of the problem */
    double block_tiles;       /* tiles of a block, one after the other */
    double fma, issue, stall; /* clocks of a partition, for one warp's slab */
    double shared, l2;        /* clocks of a unit, for one block's slab */
    double units;             /* units that the blocks can use at once */
    double end;               /* clocks to add up and write a block's tile */
    double ask;               /* clocks until a block has asked for its first slabs */
};

/* The 4-norm. Times that overlap take as long as the longest of them, and a little longer
 * when two are near each other. */
static double norm(const double *x, int count) {
    double most = 0, sum = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, x[i]);
    for (int i = 0; i < count && most > 0; i++) {
        const double square = x[i] / most * (x[i] / most);
        sum += square * square;
    }
    return most * sqrt(sqrt(sum));
}

/* Multiply-adds of a unit in a clock. On tensor cores: `tensor` per cent of the device's
 * ceiling. */
static double rate_of(const struct gt_device *d, const struct gt_dtype *types,
                      int64_t tensor) {
    const double peak = tensor > 0 ? gt_device_ceiling(d, types) * (double)tensor / 100
                                   : gt_device_plain_peak(d, types);
    return d->units > 0 && d->clock_mhz > 0 ? peak / 2 / d->units / (d->clock_mhz * 1e6)
                                            : 0;
}

/* Products that a block computes tiles of at a time. */
static double at_a_time(const struct work *w) {
    return fmax(1, (double)w->shape[GT_SHAPE_PRODUCTS]);
}

static double slab_bytes(const struct work *w) {
    const int64_t *s = w->shape;
    return s[GT_SHAPE_SLAB] > 0 ? (double)s[GT_SHAPE_SLAB]
                                : ((double)s[GT_SHAPE_TILE_M] * w->size_a +
                                   (double)s[GT_SHAPE_TILE_N] * w->size_b) *
                                      (double)s[GT_SHAPE_TILE_K] * at_a_time(w);
}

/* The clocks that a slab needs of each resource of a unit. */
static void fill_slab(struct work *w) {
    const int64_t *s = w->shape;
    const double fmas = w->tile * (double)s[GT_SHAPE_TILE_K], bytes = slab_bytes(w);
    const double lines =
        (double)(s[GT_SHAPE_LINES] > 0 ? s[GT_SHAPE_LINES] : s[GT_SHAPE_LOADS]);
    const double thread_fmas = fmas / (double)w->facts->threads;
    const bool tensor = s[GT_SHAPE_TENSOR] != 0;
    w->fma = fmas / w->fma_rate / (tensor ? w->costs->tensor_share : 1) * GT_PARTITIONS /
             w->warps;
    w->issue = (tensor ? 0 : thread_fmas) + w->costs->load * (double)s[GT_SHAPE_LOADS] +
               w->costs->copy * (double)s[GT_SHAPE_COPIES] +
               w->costs->conflict * (double)s[GT_SHAPE_CONFLICTS];
    w->stall = 0;
    if (s[GT_SHAPE_BURST] > 0)
        w->stall = w->costs->barrier + (tensor ? w->costs->tensor_wait : w->costs->wait) *
                                           thread_fmas / (double)s[GT_SHAPE_BURST];
    w->shared = w->warps * (w->costs->line * lines +
                            w->costs->copy_line * (double)s[GT_SHAPE_COPIES]) +
                w->costs->write * bytes / LINE;
    w->l2 = bytes / w->costs->l2_bytes;
}

/* Blocks that share all slabs of all tiles about equally. 0: each block has whole tiles, or
 * a part of one. Each product has such blocks, unless they walk over all products. */
static int64_t streams(const struct work *w) {
    return w->shape[GT_SHAPE_STREAM] * w->d->units *
           (w->facts->walks ? 1 : w->facts->products);
}

/* Tiles of a block, one after the other. Only streams and groups of products have more than
 * one. */
static double tiles_of_block(const struct work *w) {
    const double blocks = (double)(streams(w) > 0 ? streams(w) : w->facts->blocks);
    const bool many = streams(w) > 0 || w->shape[GT_SHAPE_PRODUCTS] > 0;
    return many ? fmax(1, w->tiles / blocks) : 1;
}

/* Whether the blocks of a cluster add up their sums. Others only share slabs. */
static bool cluster_adds(const struct gt_facts *f) {
    return f->cluster > 1 && f->cluster == f->shape[GT_SHAPE_SPLIT];
}

static void fill_block(struct work *w) {
    const int64_t *s = w->shape;
    const double tile_m = (double)s[GT_SHAPE_TILE_M], tile_n = (double)s[GT_SHAPE_TILE_N];
    const double depth = fmax(1, ceil(w->k / (double)s[GT_SHAPE_TILE_K]));
    const double folds = (double)(s[GT_SHAPE_FOLDS] > 1 ? s[GT_SHAPE_FOLDS] : 0) +
                         (cluster_adds(w->facts) ? 1 : 0);
    w->warps = ceil((double)w->facts->threads / GT_WARP);
    w->tile = tile_m * tile_n * at_a_time(w);
    w->tiles = ceil(w->products / at_a_time(w)) * fmax(1, ceil(w->m / tile_m)) *
               fmax(1, ceil(w->n / tile_n));
    w->block_tiles = tiles_of_block(w);
    w->slabs = s[GT_SHAPE_STREAM] == 0
                   ? ceil(depth / (double)s[GT_SHAPE_SPLIT]) * w->block_tiles
               : s[GT_SHAPE_STREAM_SLABS] > 0 ? (double)s[GT_SHAPE_STREAM_SLABS]
                                              : w->tiles * depth / (double)streams(w);
    w->end = (w->costs->fold * folds + w->costs->store * (double)s[GT_SHAPE_STORE] / 100) *
             w->tile * w->size_c / LINE;
    fill_slab(w);
    w->ask = fmin(w->slabs, (double)s[GT_SHAPE_AHEAD]) * w->costs->copy *
             (double)s[GT_SHAPE_COPIES] * ceil(w->warps / GT_PARTITIONS);
}

/* Clocks of a partition for one slab of each of `blocks` blocks. A warp needs `each` clocks
 * and then stalls; other warps, if there are any, go on meanwhile. */
static double slab_clocks(const struct work *w, double each, double blocks) {
    const double warps = ceil(blocks * w->warps / GT_PARTITIONS);
    const double times[] = {warps * each, each + w->stall};
    return warps == 0 ? 0 : w->stall > 0 ? norm(times, 2) : warps * each;
}

/* The clocks that the slabs of a block wait for memory. Slabs that are fetched ahead share
 * the latency. With none ahead, the latency is added to the computation. */
static double block_latency(const struct work *w) {
    const double ahead = (double)w->shape[GT_SHAPE_AHEAD];
    const double own[] = {slab_clocks(w, w->fma, 1), slab_clocks(w, w->issue, 1), w->shared,
                          w->l2};
    return ahead > 0
               ? fmax(0, w->slabs - ahead) * w->costs->memory_ns * w->clocks_per_ns / ahead
               : w->slabs * (norm(own, 4) + w->costs->first_memory);
}

/* Ns until a block has its first slab. Where pointers lead to the matrices, a block waits
 * for its pointers before it can ask for the slab. */
static double begin_ns(const struct work *w) {
    return w->costs->begin_ns + (w->facts->pointers ? w->costs->memory_ns : 0);
}

/* Bytes from device memory. When the operands fit the cache: each operand once. Otherwise
 * each round of blocks reads its operands again. */
static double traffic(const struct work *w, double resident) {
    const int64_t *s = w->shape;
    const double bytes_c = w->rows * w->size_c * w->n;
    const double once = gt_facts_bytes(w->facts);
    if (once <= w->costs->l2_share * (double)w->d->l2_bytes)
        return once;
    /* Rows of tiles that share a B: the rows of a product, or of all slots of a group. */
    const double high =
        fmax(1, ceil(w->m / (double)s[GT_SHAPE_TILE_M])) * w->products / fmax(1, w->groups);
    const double wide = fmax(1, ceil(w->n / (double)s[GT_SHAPE_TILE_N]));
    const double round = fmin(w->tiles, resident * w->d->units);
    double rows = fmin(high, (double)s[GT_SHAPE_GROUP]);
    const double columns = fmin(wide, fmax(1, round / rows));
    rows = fmin(high, fmax(rows, round / columns));
    const double read = w->tiles * at_a_time(w) / (rows * columns) *
                        (rows * (double)s[GT_SHAPE_TILE_M] * w->size_a +
                         columns * (double)s[GT_SHAPE_TILE_N] * w->size_b) *
                        w->k;
    return fmax(once, read + bytes_c);
}

/* ---- registers and blocks ----------------------------------------------------------- */

/* The registers that the compiler will probably use: more than the family's estimate where
 * there is room, but never so many that the promised blocks do not fit. */
static int registers_of(const struct work *w, const struct gt_compiled *compiled) {
    const int64_t estimate = w->shape[GT_SHAPE_REGS];
    const int64_t promised = w->shape[GT_SHAPE_FIT] + !w->shape[GT_SHAPE_FIT];
    if (compiled != NULL && compiled->registers > 0)
        return compiled->registers;
    if (estimate == 0 || !gt_occupancy_knows(w->d->cc))
        return REGISTER_GUESS;
    const int most = gt_occupancy_registers(w->d->cc, (int64_t)w->warps, promised);
    return (int)fmin(most, ceil(w->costs->registers * (double)estimate));
}

static void count_blocks(struct gt_prediction *out, int64_t blocks, double units) {
    const int64_t round = (int64_t)fmax(1, floor(out->resident * units));
    const int64_t over = blocks % round;
    out->blocks = blocks;
    out->waves = (blocks + round - 1) / round;
    out->last_wave = over == 0 ? 1 : (double)over / (double)round;
}

/* ---- prediction --------------------------------------------------------------------- */

/* A lower bound for the time. The busiest unit computes its share of the full tiles, and
 * each multiply-add and each load takes at least one slot. Work past the edges does not
 * count, since a warp may skip it. */
static double least_ns(const struct work *w) {
    const int64_t *s = w->shape;
    const bool tensor = s[GT_SHAPE_TENSOR] != 0;
    const double rate = rate_of(w->d, w->facts->types, tensor ? 100 : 0);
    const double full_rows =
        w->groups < w->products
            ? floor(w->rows / (double)s[GT_SHAPE_TILE_M])
            : floor(w->products / at_a_time(w)) * floor(w->m / (double)s[GT_SHAPE_TILE_M]);
    const double tiles = full_rows * floor(w->n / (double)s[GT_SHAPE_TILE_N]);
    const double slabs =
        floor(floor(w->k / (double)s[GT_SHAPE_SPLIT]) / (double)s[GT_SHAPE_TILE_K]);
    /* The parts of a tile may differ in depth; only their mean is certain. */
    const double blocks = tiles * (double)s[GT_SHAPE_SPLIT] / w->d->units;
    const double unit_slabs = s[GT_SHAPE_STREAM] > 0  ? 0
                              : s[GT_SHAPE_SPLIT] > 1 ? blocks * slabs
                                                      : ceil(blocks) * slabs;
    const double fmas = w->tile * (double)s[GT_SHAPE_TILE_K];
    const double slots = fmas / GT_WARP + w->warps * (double)s[GT_SHAPE_LOADS];
    const double slab = tensor ? fmas / rate : fmax(fmas / rate, slots / GT_PARTITIONS);
    const double useful = w->rows * w->n * w->k / (rate * w->d->units);
    return fmax(fmax(useful, unit_slabs * slab) / w->clocks_per_ns,
                gt_facts_bytes(w->facts) / gt_device_bandwidth(w->d) * 1e9);
}

/* The time that the rounds of blocks after the first one wait. Until a block's successor
 * has its first slab, the other blocks of the unit go on. Streams have no successors. */
static double later_rounds_ns(const struct gt_prediction *out, const struct work *w) {
    const double round = norm(out->term_ns, GT_TERM_MAIN) / (double)out->waves;
    const double hidden = round * (out->resident - 1) / out->resident;
    return w->block_tiles > 1
               ? 0
               : (double)(out->waves - 1) * fmax(0, w->costs->again_ns - hidden);
}

static void fill_terms(struct gt_prediction *out, const struct work *w) {
    const double units = w->units, blocks = (double)out->blocks;
    const double full = floor(blocks / (units * out->resident)) * out->resident;
    const double last = ceil((blocks - full * units) / units), busy = full + last;
    const double rounds = full / out->resident;
    const double parts =
        w->shape[GT_SHAPE_STREAM] > 0
            ? w->costs->part * units * (double)streams(w) / w->d->units / w->tiles
            : 0;
    const double clusters = cluster_adds(w->facts)  ? w->costs->cluster
                            : w->facts->cluster > 1 ? w->costs->pair
                                                    : 0;
    double *t = out->term_ns;
    t[GT_TERM_FMA] = w->slabs * (rounds * slab_clocks(w, w->fma, out->resident) +
                                 slab_clocks(w, w->fma, last));
    t[GT_TERM_ISSUE] = w->slabs * (rounds * slab_clocks(w, w->issue, out->resident) +
                                   slab_clocks(w, w->issue, last));
    t[GT_TERM_SHARED] = busy * w->slabs * w->shared;
    t[GT_TERM_L2] = busy * w->slabs * w->l2;
    t[GT_TERM_LATENCY] = (double)out->waves * block_latency(w);
    /* A stream goes from tile to tile; each tile has a beginning and an end. */
    const double begun = streams(w) > 0 ? w->block_tiles : 1;
    const double beginnings =
        fmax(1, begun * (double)out->waves / fmin(busy, out->resident));
    t[GT_TERM_ENDS] = busy * w->block_tiles * w->end +
                      beginnings * (begin_ns(w) * w->clocks_per_ns + w->ask);
    t[GT_TERM_PASSES] = parts + clusters;
    for (int i = 0; i < GT_TERM_COUNT; i++)
        t[i] /= w->clocks_per_ns;
    t[GT_TERM_DRAM] =
        traffic(w, out->resident) / (w->costs->bandwidth * gt_device_bandwidth(w->d)) * 1e9;
    t[GT_TERM_PASSES] += (double)(w->facts->passes - 1) * w->costs->pass_ns +
                         w->products * (double)w->shape[GT_SHAPE_MOVED] / w->costs->moved;
    t[GT_TERM_ENDS] += later_rounds_ns(out, w);
    t[GT_TERM_LAUNCH] = w->costs->launch_ns;
}

static enum gt_term longest(const double *t) {
    int most = 0;
    for (int i = 1; i < GT_TERM_COUNT; i++)
        if (t[i] > t[most])
            most = i;
    return (enum gt_term)most;
}

const char *gt_term_word(enum gt_term term) {
    static const char *const words[] = {
#define X(id, word, about) word,
        GT_TERM_LIST(X)
#undef X
    };
    return words[term];
}

const char *gt_term_about(enum gt_term term) {
    static const char *const about_of[] = {
#define X(id, word, about) about,
        GT_TERM_LIST(X)
#undef X
    };
    return about_of[term];
}

/* The facts of a bound point with its launches. */
static bool fill_facts(struct gt_facts *out, const struct gt_binding *b,
                       const struct gt_passes *passes) {
    if (!gt_shape_of(out->shape, b))
        return false;
    const int64_t *shape = out->shape;
    if (shape[GT_SHAPE_TILE_M] < 1 || shape[GT_SHAPE_TILE_N] < 1 ||
        shape[GT_SHAPE_TILE_K] < 1 || shape[GT_SHAPE_SPLIT] < 1 ||
        shape[GT_SHAPE_GROUP] < 1)
        return false;
    const struct gt_launch *main = &passes->item[passes->main].launch;
    out->m = b->value[GT_IN_M];
    out->n = b->value[GT_IN_N];
    out->k = b->value[GT_IN_K];
    out->products = b->value[GT_IN_BATCH];
    out->groups = b->batch < out->products ? b->batch : out->products;
    const int64_t all_rows = out->m * out->products;
    out->rows = b->rows < all_rows ? b->rows : all_rows;
    out->walks = b->walks > 0;
    out->pointers = b->is_batch && b->batch_kind == GEMMTUNE_BATCH_POINTERS;
    out->types = b->dtype;
    out->threads = main->block[0] * main->block[1] * main->block[2];
    out->blocks = main->grid[0] * main->grid[1] * main->grid[2];
    out->cluster = main->cluster[0];
    out->smem_bytes = main->smem_bytes;
    out->passes = passes->count;
    out->panels = b->panels[0] * b->panels[1];
    return true;
}

/* The binding of the first panel of C: `b`, or a copy in *own. NULL: there is none. */
static const struct gt_binding *with_panels(struct gt_binding *own,
                                            const struct gt_binding *b) {
    if (b->family->panel[0] == NULL || gt_has_panels(b))
        return b;
    *own = *b;
    return gt_bind_panels(own, NULL) == GEMMTUNE_OK ? own : NULL;
}

/* Multiplies all times. */
static void stretch(struct gt_prediction *out, double factor) {
    out->ns *= factor;
    out->least_ns *= factor;
    for (int i = 0; i < GT_TERM_COUNT; i++)
        out->term_ns[i] *= factor;
}

/* All panels take as long as the first one, which is the largest. */
static void count_panels(struct gt_prediction *out, const struct gt_facts *facts) {
    if (facts->panels > 1)
        stretch(out, (double)facts->panels);
}

/* The facts of a binding with its panels. */
static bool facts_of(struct gt_facts *out, const struct gt_binding *b,
                     const struct gt_device *d) {
    struct gt_passes passes;
    return b->family->has_shape && b->dtype != NULL &&
           gt_passes_of(&passes, b, d, NULL) == GEMMTUNE_OK && fill_facts(out, b, &passes);
}

bool gt_facts_of(struct gt_facts *out, const struct gt_binding *b,
                 const struct gt_device *d) {
    struct gt_binding own;
    b = with_panels(&own, b);
    return b != NULL && facts_of(out, b, d);
}

bool gt_model_predict_facts(struct gt_prediction *out, const struct gt_facts *facts,
                            const struct gt_device *d, const struct gt_costs *costs,
                            const struct gt_compiled *compiled) {
    struct work w = {.facts = facts, .d = d, .costs = costs, .shape = facts->shape};
    memset(out, 0, sizeof *out);
    if (d->is_cpu) {
        const bool known = gt_model_on_cpu(out, facts, d, costs);
        stretch(out, costs->scale);
        out->binds = longest(out->term_ns);
        return known;
    }
    w.m = (double)facts->m;
    w.n = (double)facts->n;
    w.k = (double)facts->k;
    w.products = (double)facts->products;
    w.groups = (double)facts->groups;
    w.rows = (double)facts->rows;
    w.size_a = (double)gt_type_size(facts->types->a);
    w.size_b = (double)gt_type_size(facts->types->b);
    w.size_c = (double)gt_type_size(facts->types->c);
    w.clocks_per_ns = d->clock_mhz / 1e3;
    w.fma_rate = rate_of(d, facts->types, facts->shape[GT_SHAPE_TENSOR]);
    if (w.fma_rate <= 0 || gt_device_bandwidth(d) <= 0)
        return false;
    fill_block(&w);
    out->registers = registers_of(&w, compiled);
    const int64_t smem = compiled != NULL && compiled->smem_bytes > 0 ? compiled->smem_bytes
                                                                      : facts->smem_bytes;
    out->resident =
        gt_occupancy_blocks(d->cc, (int)(w.warps * GT_WARP), out->registers, smem);
    if (out->resident < 1)
        return false;
    out->slabs = (int64_t)fmin(ceil(w.slabs), 1e18); /* any finite number will do */
    w.units = gt_occupancy_units(d->units, facts->cluster, out->resident);
    count_blocks(out, streams(&w) > 0 ? streams(&w) : facts->blocks, w.units);
    fill_terms(out, &w);
    out->ns = norm(out->term_ns, GT_TERM_MAIN) + out->term_ns[GT_TERM_PASSES] +
              out->term_ns[GT_TERM_ENDS] + out->term_ns[GT_TERM_LAUNCH];
    out->learned = 1;
    out->binds = longest(out->term_ns);
    out->least_ns = least_ns(&w);
    if (costs->scale != 1) {
        stretch(out, costs->scale);
        out->least_ns = 0;
    }
    return true;
}

bool gt_model_guesses(const struct gt_device *d) {
    return d->is_cpu || gt_device_peak(d, gt_dtype_by_name("f32", 3)) <= 0 ||
           gt_device_bandwidth(d) <= 0;
}

struct gt_device gt_model_device(const struct gt_device *d) {
    struct gt_device r = *d;
    if (!gt_model_guesses(d))
        return r;
    r.cc = 80;
    r.clock_mhz = 1410;
    r.mem_clock_mhz = 1215;
    r.bus_bits = 5120;
    r.units = d->units > 0 ? d->units : 1;
    return r;
}

void gt_model_begin(struct gt_model *m, const struct gt_binding *b,
                    const struct gt_device *d) {
    gt_model_with(m, gt_shelf_of(d), b, d);
}

void gt_model_with(struct gt_model *m, const struct gt_shelf *shelf,
                   const struct gt_binding *b, const struct gt_device *d) {
    *m = (struct gt_model){
        .device = d, .costs = &shelf->costs, .trees = gt_learned_of(&shelf->trees, b)};
}

bool gt_model_predict(struct gt_prediction *out, const struct gt_model *m,
                      const struct gt_binding *b, const struct gt_compiled *compiled) {
    struct gt_facts facts;
    struct gt_binding own;
    memset(out, 0, sizeof *out);
    b = with_panels(&own, b);
    if (b == NULL || !facts_of(&facts, b, m->device) ||
        !gt_model_predict_facts(out, &facts, m->device, m->costs, compiled))
        return false;
    gt_learned_correct(out, m, b, &facts);
    count_panels(out, &facts);
    return true;
}

bool gt_model_predict_fit(struct gt_prediction *out, const struct gt_model *m,
                          const struct gt_fit *fit) {
    struct gt_facts facts;
    memset(out, 0, sizeof *out);
    if (!fill_facts(&facts, &fit->binding, &fit->passes) ||
        !gt_model_predict_facts(out, &facts, m->device, m->costs, NULL))
        return false;
    gt_learned_correct(out, m, &fit->binding, &facts);
    count_panels(out, &facts);
    return true;
}

gt_status gt_model_explain(struct gt_prediction *out, const struct gt_family *f,
                           const struct gt_device *d, const gemmtune_problem *p,
                           const struct gt_point *point, struct gt_err *err) {
    struct gt_model model;
    struct gt_fit fit;
    memset(out, 0, sizeof *out);
    const gt_status status = gt_fit_point(&fit, f, d, p, point, err);
    if (status != GEMMTUNE_OK)
        return status;
    if (!f->has_shape)
        return gt_fail(err, GEMMTUNE_ENOTFOUND,
                       "family %s has no \"shape\" in its space.json: no prediction",
                       f->name);
    if (!d->is_cpu &&
        (!gt_occupancy_knows(d->cc) || gt_device_peak(d, fit.binding.dtype) <= 0 ||
         gt_device_bandwidth(d) <= 0))
        return gt_fail(err, GEMMTUNE_ENOTFOUND,
                       "%s does not report its peak or bandwidth: no prediction", d->name);
    gt_model_begin(&model, &fit.binding, d);
    if (!gt_model_predict_fit(out, &model, &fit))
        return gt_fail(err, GEMMTUNE_ENOTFOUND,
                       d->is_cpu ? "%s: its blocks have many work-items, and how a core "
                                   "goes through them is not known: no prediction"
                                 : "%s: no block of this point fits a unit",
                       f->name);
    out->workspace_bytes = fit.passes.workspace_bytes;
    return GEMMTUNE_OK;
}
