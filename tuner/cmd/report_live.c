/* SPDX-License-Identifier: Apache-2.0 */
/* report_live.c - see report_live.h. The page is read anew from the database, so it never
 * shows what is not stored. */
#include "tuner/cmd/report_live.h"

#include "core/clock.h"
#include "tuner/base/talk.h"
#include "tuner/cmd/again.h"
#include "tuner/cmd/report.h"

static const double least_s = 5; /* from one page to the next */
static const double share = 20;  /* of the time that writing a page took */

static gt_status write_page(const struct gt_report_live *l, struct gt_db *db,
                            const char *progress, struct gt_err *err) {
    static struct gt_report_page r;
    static struct gt_again again;
    r = (struct gt_report_page){.progress = progress};
    again = (struct gt_again){.db = db};
    gt_status status = GEMMTUNE_OK;
    if (gt_common_families(&r.families, l->templates) >= 0)
        status = gt_fail(err, GEMMTUNE_EINVAL, "its kernel families cannot be read");
    if (status == GEMMTUNE_OK && db != NULL)
        status = gt_report_add(&r, db, NULL, err);
    if (status == GEMMTUNE_OK)
        status = gt_report_find(&r, err);
    if (status == GEMMTUNE_OK)
        status = gt_report_write(&r, &again, l->path, err);
    gt_report_clear(&r);
    return status;
}

void gt_report_live_write(struct gt_report_live *l, const char *progress) {
    const double began = gt_seconds();
    struct gt_err err = {""};
    struct gt_db *db = NULL;
    if (l->path == NULL || !l->begun || (progress != NULL && began < l->next))
        return;
    if (gt_common_peek_db(&db, l->db) >= 0)
        return;
    if (write_page(l, db, progress, &err) != GEMMTUNE_OK) {
        gt_talk("no report: %s", err.line);
        l->path = NULL;
    }
    gt_db_close(db);
    const double took = gt_seconds() - began;
    l->next = began + (share * took > least_s ? share * took : least_s);
}

static void watch(void *user, const char *text) {
    gt_report_live_write(user, text);
}

void gt_report_live_watch(struct gt_report_live *l, struct gt_progress *p) {
    if (l->path == NULL)
        return;
    l->begun = true;
    p->watch = watch;
    p->watcher = l;
}
