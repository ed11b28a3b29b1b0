/* SPDX-License-Identifier: Apache-2.0 */
/* bench_store.c - see bench_store.h. */
#include "tuner/bench/bench_store.h"

#include "db/db.h"
#include "tuner/bench/bench_stats.h"

#include <math.h>

enum { PATH_SIZE = 4096 };

void gt_bench_store_versions(struct gt_bench_store *s, const struct gt_absence *why) {
    for (int i = 0; i < GT_RIVALS; i++)
        s->version[i] = why[i].version;
}

/* The shortest time of a library's default that is wrong by our bound; INFINITY: none. A
 * rival without a version is nothing that a program calls. */
static double wrong_default_ns(const struct gt_bench_line *line) {
    double least = INFINITY;
    for (int i = 0; i < GT_RIVALS; i++)
        if (line->rival[i].wrong_default_ns > 0 && gt_rivals[i]->version != NULL)
            least = fmin(least, line->rival[i].wrong_default_ns);
    return least;
}

struct gt_bench_side gt_bench_counted(const struct gt_bench_line *line, int i) {
    struct gt_bench_side side = line->rival[i];
    const double share = fmin(1, wrong_default_ns(line) / side.time.median_ns);
    side.time.median_ns *= share;
    side.ratio.median_ns *= share;
    side.ratio.low_ns *= share;
    side.ratio.high_ns *= share;
    return side;
}

static struct gt_rival_row row_of(const struct gt_bench_store *s, int i,
                                  const struct gt_bench_line *line, double floor,
                                  const struct gt_db_subject *kernel) {
    const struct gt_bench_side side = gt_bench_counted(line, i), *rival = &side;
    return (struct gt_rival_row){.subject = *kernel,
                                 .workspace = line->workspace,
                                 .library = gt_rivals[i]->name,
                                 .version = s->version[i],
                                 .verdict = gt_verdict_of(&rival->ratio, floor),
                                 .ours_ns = line->own.time.median_ns,
                                 .rival_ns = rival->time.median_ns,
                                 .ratio = rival->ratio.median_ns,
                                 .ratio_low = rival->ratio.low_ns,
                                 .ratio_high = rival->ratio.high_ns,
                                 .floor = floor,
                                 .rounds = rival->ratio.samples,
                                 .driver = s->device->driver};
}

static gt_status put(const char *path, const struct gt_rival_row *rows, size_t count,
                     struct gt_err *err) {
    char preset[PATH_SIZE];
    struct gt_db *db = NULL;
    gt_status status =
        path != NULL ? GEMMTUNE_OK : gt_db_default_path(preset, sizeof preset, err);
    if (status == GEMMTUNE_OK)
        status = gt_db_open(&db, path != NULL ? path : preset, GT_DB_WRITE, err);
    if (status == GEMMTUNE_OK)
        status = gt_db_rivals_put(db, rows, count, err);
    gt_db_close(db);
    return status;
}

gt_status gt_bench_store_line(struct gt_bench_store *s, const char *problem,
                              const struct gt_bench_line *line, double floor,
                              struct gt_err *err) {
    struct gt_rival_row rows[GT_RIVALS];
    char key[GT_DEVICE_KEY_MAX];
    size_t count = 0;
    const struct gt_family *f = gt_families_find(s->families, line->kernel.family);
    if (!line->own.timed || f == NULL)
        return GEMMTUNE_OK;
    gt_device_key(s->device, key);
    const struct gt_db_subject kernel = {key, problem, f->name, f->hash,
                                         line->kernel.point};
    for (int i = 0; i < GT_RIVALS; i++)
        if (line->rival[i].timed && s->version[i] > 0 && gt_rivals[i]->version != NULL)
            rows[count++] = row_of(s, i, line, floor, &kernel);
    const gt_status status = count > 0 ? put(s->db, rows, count, err) : GEMMTUNE_OK;
    s->stored += status == GEMMTUNE_OK ? (int64_t)count : 0;
    return status;
}
