/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - the numbered migrations of db/schema/, compiled in by tools/embed-schema.
 *
 * Append only: a released file never changes. Databases that it made exist, and a database
 * is accepted only when its tables read exactly like ours.
 */
#ifndef GT_DB_SCHEMA_H
#define GT_DB_SCHEMA_H

#include <stddef.h>

struct gt_migration {
    int version;     /* 1, 2, 3, ...; stored as user_version once applied */
    const char *sql; /* statements; NULL ends the list */
};

/* build/gen/schema.c: in order, ended by {0, NULL} */
extern const struct gt_migration gt_migrations[];

#endif
