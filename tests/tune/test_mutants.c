/* SPDX-License-Identifier: Apache-2.0 */
/* check: part */
/*
 * test_mutants.c - does verification notice errors? Kernels of the shipped families are
 * broken one by one, by replacing one piece of text, and tried like any candidate: each
 * must be refused as wrong_result or crashed, at a point where the shipped kernel is
 * correct.
 *
 * Every piece of text must occur exactly once, so that this test reports a template that
 * has changed instead of testing nothing. The functions of templates/common/ are copied in
 * front of the template under other names, so that they can be broken as well. Those in
 * `always` and one in FEW are tried; GT_LONG=1 tries the others, or the share of them that
 * GT_SHARE names (tests/share.h).
 */
#include "core/embed.h"
#include "runtime/family/family_inside.h"
#include "tests/share.h"
#include "tests/tune/mutants_outputs.h"
#include "tests/tune/mutants_products.h"
#include "tests/tune/mutants_types.h"
#include "tuner/base/cores.h"
#include "tuner/work/pool.h"
#include "tuner/rig/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PRODUCTS = sizeof product_mutants / sizeof *product_mutants,
    OUTPUTS = sizeof output_mutants / sizeof *output_mutants,
    TYPES = sizeof type_mutants / sizeof *type_mutants,
    MUTANTS = PRODUCTS + OUTPUTS + TYPES,
    PATH_SIZE = 512,
    TIMEOUT_S = 30,
    FEW = 16
};

static struct mutant mutants[MUTANTS]; /* of all tables */

/* Mistakes that a batch, a group or an epilogue invites. */
static const char *const always[] = {
    "grid_product_skipped",      "grid_stride_a_ignored",
    "groups_last_row_lost",      "naive_epilogue_bias_by_rows",
    "naive_epilogue_beta_twice", "naive_epilogue_relu_before_bias",
    "naive_i8_bf16_beta",        "naive_i8_i8_beta",
};

static int failures;
static const char *only = ""; /* only mutants with this in their names */
static bool made[MUTANTS];
static struct gt_families *shipped;

static void say(bool good, const char *what, const char *name, const char *why) {
    printf("%sok - %s %s%s%s\n", good ? "" : "not ", what, name, good ? "" : ": ",
           good ? "" : why);
    fflush(stdout);
    failures += !good;
}

static void die(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

/* ---- breaking a family ---- */

static const char *text_of(const char *family, const char *file) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "templates/%s/%s", family, file);
    const char *text = gt_embedded_text(gt_embedded_templates, path);
    if (text == NULL)
        die(path, "is not compiled in");
    return text;
}

/* The text with `now` in place of `was`, or NULL unless `was` occurs exactly once. */
static char *replaced(const char *text, const char *was, const char *now) {
    const char *at = strstr(text, was);
    if (!at || strstr(at + 1, was))
        return NULL;
    const size_t size = strlen(text) + strlen(now) + 1;
    char *out = malloc(size);
    if (out)
        snprintf(out, size, "%.*s%s%s", (int)(at - text), text, now, at + strlen(was));
    return out;
}

/* Writes "#define gt_x my_x" for each name that stands between a mark and `end`. */
static void rename_all(FILE *f, const char *text, const char *mark, char end) {
    for (const char *at = strstr(text, mark); at; at = strstr(at + 1, mark)) {
        const char *past = strchr(at + strlen(mark), end), *name = past;
        while (name > at && name[-1] != ' ' && name[-1] != '*')
            name--;
        fprintf(f, "#define %.*s my_%.*s\n", (int)(past - name), name, (int)(past - name),
                name);
    }
}

/* Writes a part's text with its barriers spelled differently: only the template's own
 * barriers count for the family. */
static void write_functions(FILE *f, const char *text) {
    static const char barrier[] = "GT_BARRIER";
    for (const char *at; (at = strstr(text, barrier)) != NULL; text = at + strlen(barrier))
        fprintf(f, "%.*sGT_PASTE(GT_BAR, RIER)", (int)(at - text), text);
    fputs(text, f);
}

/* The place from which a part consists of functions that may be written twice. */
static const char *functions_of(int part) {
    static const struct {
        const char *part, *from;
    } rows[] = {
        {"dialect", NULL},
        {"types", "GT_INLINE void gt_store_c("},
        {"vectors", "GT_INLINE void gt_load_c("},
    };
    const char *text = gt_part_text(part);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].part, gt_part_name(part)) != 0)
            continue;
        text = rows[i].from ? strstr(text, rows[i].from) : "";
        if (!text)
            die(rows[i].part, "its functions begin elsewhere now");
    }
    return text;
}

/* The functions of the parts that the family uses, under other names, then the template.
 * The caller frees it. */
static char *kernel_text(const struct gt_family *family) {
    char file[64], *out = NULL;
    size_t size;
    snprintf(file, sizeof file, "%s.cl", family->name);
    FILE *f = open_memstream(&out, &size);
    if (!f)
        die(family->name, "no memory");
    for (int i = 0; gt_part_name(i); i++)
        if (family->uses & UINT64_C(1) << i) {
            rename_all(f, functions_of(i), "GT_INLINE ", '(');
            rename_all(f, functions_of(i), "\nstruct ", ' ');
            write_functions(f, functions_of(i));
        }
    fputs(text_of(family->name, file), f);
    fclose(f);
    return out;
}

static void write_file(const char *folder, const char *name, const char *text) {
    char path[3 * PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        die(path, "cannot be written");
}

/* The name of a broken family: names of families are short. */
static const char *id_of(const struct mutant *m) {
    static char id[32];
    snprintf(id, sizeof id, "mutant_%d", (int)(m - mutants));
    return id;
}

/* Makes the family in a folder of dir. False when the text to replace is not there exactly
 * once. */
static bool break_family(const struct mutant *m, const char *dir) {
    char folder[2 * PATH_SIZE], file[64], was[64], now[64];
    char *kernel = kernel_text(gt_families_find(shipped, m->family)),
         *broken = replaced(kernel, m->was, m->now);
    snprintf(was, sizeof was, "\"family\": \"%s\"", m->family);
    snprintf(now, sizeof now, "\"family\": \"%s\"", id_of(m));
    char *space = replaced(text_of(m->family, "space.json"), was, now);
    if (broken && space) {
        snprintf(folder, sizeof folder, "%s/%s", dir, id_of(m));
        snprintf(file, sizeof file, "%s.cl", m->family);
        if (mkdir(folder, 0700) != 0)
            die(folder, "cannot be made");
        write_file(folder, "space.json", space);
        write_file(folder, file, broken);
    }
    const bool done = broken && space;
    free(kernel);
    free(broken);
    free(space);
    return done;
}

/* ---- trying ---- */

/* The sizes that a mutant's types and layout lack; "" when it names its own. */
static const char *shape_of(const struct mutant *m) {
    const bool has_sizes = strchr(m->types, '-')[strlen("-nn")] == '-';
    const bool is_small =
        strcmp(m->family, "bundle") == 0 || strcmp(m->family, "series") == 0;
    return has_sizes ? "" : is_small ? SMALL_SHAPE : PROBLEM;
}

/* The sizes stand after types and layout, before options. */
static void name_problem(char name[GT_PROBLEM_NAME_MAX], const struct mutant *m) {
    const size_t head = strcspn(m->types, ",");
    snprintf(name, GT_PROBLEM_NAME_MAX, "%.*s%s%s", (int)head, m->types, shape_of(m),
             m->types + head);
}

static gt_outcome outcome_of(char *why, size_t size, struct gt_pool *pool,
                             const struct gt_device *device, const char *family,
                             const struct mutant *m) {
    struct gt_job job;
    struct gt_report report;
    struct gt_err err = {""};
    char problem[GT_PROBLEM_NAME_MAX];
    name_problem(problem, m);
    gt_job_init(&job, GT_JOB_TRIAL, device, problem);
    job.seed = 1;
    job.count = 1;
    snprintf(job.candidate[0].family, sizeof job.candidate[0].family, "%s", family);
    snprintf(job.candidate[0].point, sizeof job.candidate[0].point, "%s", m->point);
    if (gt_pool_run(&report, pool, &job, &err) != GEMMTUNE_OK)
        die(m->name, err.line);
    snprintf(why, size, "%s: %s", gt_outcome_word(report.result[0].outcome),
             report.result[0].error);
    return report.result[0].outcome;
}

/* Why the family is not for this device; NULL when it is. */
static const char *not_served(const struct gt_device *device, const struct mutant *m) {
    struct gt_err err = {""};
    gemmtune_problem p;
    char name[GT_PROBLEM_NAME_MAX];
    const char *why;
    name_problem(name, m);
    if (gt_problem_from_name(&p, name, &err) != GEMMTUNE_OK)
        die(m->name, err.line);
    (void)gt_family_serves(gt_families_find(shipped, m->family), device, &p, &why);
    return why;
}

/* On a GPU a missing barrier shows only by luck, since warps may run in step;
 * compute-sanitizer's racecheck finds it there. */
static bool is_race(const struct mutant *m) {
    return strstr(m->name, "_no_barrier_") != NULL;
}

static void try_mutant(struct gt_pool *pool, const struct gt_device *device,
                       const struct mutant *m) {
    char why[GT_VERDICT_TEXT_MAX + 32];
    const gt_outcome outcome = outcome_of(why, sizeof why, pool, device, id_of(m), m);
    if (strncmp(m->name, ALLOWED, strlen(ALLOWED)) == 0)
        say(outcome == GT_CORRECT, "accepted: mutant", m->name, why);
    else if (is_race(m) && !device->is_cpu && outcome == GT_CORRECT)
        printf("ok - mutant %s # SKIP race not seen\n", m->name);
    else
        say(outcome == GT_WRONG_RESULT || outcome == GT_CRASHED, "rejected: mutant",
            m->name, why);
}

static bool is_always_tried(int i) {
    for (size_t a = 0; a < sizeof always / sizeof *always; a++)
        if (strcmp(mutants[i].name, always[a]) == 0)
            return true;
    return false;
}

/* Mutants are dealt in pairs, one for each half of main(). */
static bool is_dealt(int i) {
    const bool soon = i / 2 % FEW == 0 || is_always_tried(i);
    return getenv("GT_LONG") != NULL ? !soon && is_in_share(i / 2) : soon;
}

static bool is_tried(int i) {
    return only[0] != '\0' ? strstr(mutants[i].name, only) != NULL : is_dealt(i);
}

/* A name in `always` that no table has would leave its mutant out without a word. */
static void find_always(void) {
    int found = 0;
    for (int i = 0; i < MUTANTS; i++)
        found += is_always_tried(i);
    say(found == sizeof always / sizeof *always, "found:", "all that are always tried",
        "a name is not in the tables");
}

/* The shipped kernel, once for each point and type at which mutants are tried. */
static void try_original(struct gt_pool *pool, const struct gt_device *device, int i) {
    char why[GT_VERDICT_TEXT_MAX + 32], problem[GT_PROBLEM_NAME_MAX], name[2 * PATH_SIZE];
    const struct mutant *m = &mutants[i];
    name_problem(problem, m);
    for (int j = 0; j < i; j++)
        if (is_tried(j) && strcmp(mutants[j].point, m->point) == 0 &&
            strcmp(mutants[j].types, m->types) == 0)
            return;
    snprintf(name, sizeof name, "%s %s %s", problem, m->family, m->point);
    say(outcome_of(why, sizeof why, pool, device, m->family, m) == GT_CORRECT,
        "accepted:", name, why);
}

/* Every `step`th mutant from `first` on. */
static void try_all(const char *dir, const struct gt_device *device, int first, int step) {
    struct gt_texts templates = {.count = 1, .text = {dir}};
    const struct gt_pool_setup setup = {.templates = &templates,
                                        .timeout_s = TIMEOUT_S * gt_cores_crowding()};
    struct gt_pool *pool;
    struct gt_err err = {""};
    if (gt_pool_create(&pool, &setup, &err) != GEMMTUNE_OK)
        die("pool", err.line);
    for (int i = first; i < MUTANTS; i += step) {
        const char *why = not_served(device, &mutants[i]);
        if (why)
            printf("ok - mutant %s # SKIP %s\n", mutants[i].name, why);
        else if (made[i] && is_tried(i))
            try_mutant(pool, device, &mutants[i]);
    }
    for (int i = first; i < MUTANTS; i += step)
        if (is_tried(i) && !not_served(device, &mutants[i]))
            try_original(pool, device, i);
    gt_pool_destroy(pool);
}

static void gather(void) {
    memcpy(mutants, product_mutants, sizeof product_mutants);
    memcpy(mutants + PRODUCTS, output_mutants, sizeof output_mutants);
    memcpy(mutants + PRODUCTS + OUTPUTS, type_mutants, sizeof type_mutants);
}

/* An argument names the mutants to try; all without one. */
int main(int argc, char **argv) {
    char dir[PATH_SIZE];
    struct gt_device device;
    struct gt_err err = {""};
    const char *tmp = getenv("TMPDIR"), *program = getenv("GEMMTUNE");
    int state = 0;
    only = argc > 1 ? argv[1] : "";
    gather();
    find_always();
    snprintf(dir, sizeof dir, "%s/mutants-XXXXXX", tmp ? tmp : "/tmp");
    if (!program) /* its workers are this program again, which must not run the tests */
        die("GEMMTUNE", "must name the program");
    setenv("GEMMTUNE_SELF", program, 0);
    if (!mkdtemp(dir))
        die(dir, "cannot be made");
    if (gt_families_create(&shipped, &err) != GEMMTUNE_OK)
        die("families", err.line);
    for (int i = 0; i < MUTANTS; i++)
        if (!(made[i] = break_family(&mutants[i], dir)))
            say(false, "rejected: mutant", mutants[i].name,
                "the text to replace is not in the template exactly once");
    if (gt_probe_pick(&device, NULL, true, &err) != GEMMTUNE_OK)
        die("no device", err.line);
    const pid_t half = fork(); /* each half waits for the compiler most of the time */
    try_all(dir, &device, half == 0, 2);
    if (half == 0)
        _exit(failures > 0);
    waitpid(half, &state, 0);
    gt_families_destroy(shipped);
    return failures > 0 || state != 0;
}
