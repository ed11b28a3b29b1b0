/* SPDX-License-Identifier: Apache-2.0 */
/* again.c - see again.h. */
#include "tuner/cmd/again.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const uint64_t seed_preset = 1; /* the default of `gemmtune trial` */

/* Fetches a run's options. A database that cannot be read was reported before. */
static void look_up(struct gt_again *a, int64_t run_id) {
    bool found = false;
    if (a->run_id == run_id && run_id != 0)
        return;
    a->run_id = run_id;
    a->seed = seed_preset;
    a->options[0] = '\0';
    if (run_id != 0)
        (void)gt_db_run_find(&found, a->options, sizeof a->options, &a->seed, a->db, run_id,
                             NULL);
    if (a->options[0] != '-') /* earlier versions stored the whole command line */
        a->options[0] = '\0';
}

/* Points, families, keys and problem names have no quotes. An epilogue in a name has
 * characters that are special outside of them. */
void gt_again_command(char buf[GT_AGAIN_COMMAND_MAX], struct gt_again *a,
                      const struct gt_view_row *r) {
    look_up(a, r->run_id);
    const char *const quote = strpbrk(r->problem, "()<>&|;*?![]{}~#$") != NULL ? "'" : "";
    const int n =
        snprintf(buf, GT_AGAIN_COMMAND_MAX,
                 "gemmtune trial %s%s%s --device %s --family %s --point \"%s\"%s%s", quote,
                 r->problem, quote, r->device, r->family, r->point,
                 a->options[0] ? " " : "", a->options);
    if (a->seed != seed_preset)
        (void)snprintf(buf + n, GT_AGAIN_COMMAND_MAX - (size_t)n, " --seed %" PRIu64,
                       a->seed);
}
