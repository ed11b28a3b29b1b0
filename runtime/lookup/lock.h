/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.h - a lock: a JSON file that pins the kernels of problems on one device, with the
 * facts under which it was made. docs/lock.md describes the file; `gemmtune lock` writes
 * it. A context with a lock runs the pinned kernel of a problem, or refuses with what has
 * changed.
 */
#ifndef GT_RUNTIME_LOOKUP_LOCK_H
#define GT_RUNTIME_LOOKUP_LOCK_H

#include "core/json.h"
#include "runtime/drivers/pinned.h"
#include "runtime/lookup/match.h"

/* A kernel that is pinned. Texts belong to the file. */
struct gt_pin_kernel {
    const char *family, *point, *hash; /* of the template, when it was pinned */
    struct gt_pinned pinned;
    int64_t workspace;             /* bytes that it needs */
    const struct gt_family *found; /* by gt_lock_bind; NULL before */
    int64_t values[GT_POINT_MAX];  /* its point, from then on */
};

enum { GT_PIN_WIDE, GT_PIN_UNALIGNED, GT_PIN_KERNELS };

struct gt_pin {
    const char *problem; /* its canonical name */
    gemmtune_match match;
    double expected_loss;
    const char *signature; /* the order of sums of a problem with row_order; "": none */
    /* For pointers aligned to 16 bytes, and for others; no family: none is pinned. */
    struct gt_pin_kernel kernel[GT_PIN_KERNELS];
};

struct gt_lock {
    struct gt_json *doc;
    const char *path;
    char *folder; /* of the images; NULL: there is none */
    const char *version, *device_key, *device_name, *arch;
    const char *driver;   /* NULL: any */
    const char *compiler; /* the toolchain */
    bool others;          /* a problem that is not pinned is looked up; else refused */
    struct gt_pin *pin;   /* by problem */
    size_t count;
};

/* The suffix of the folder: "model.lock.d" stands beside "model.lock". */
#define GT_LOCK_FOLDER ".d"

/* Reads a file. EIO; EPARSE with the line; ENOMEM. Whether its facts hold is another
 * question. */
gt_status gt_lock_load(struct gt_lock **out, const char *path, struct gt_err *err);
/* The same from a document of the file `path`, which it takes over. */
gt_status gt_lock_take(struct gt_lock **out, struct gt_json *doc, const char *path,
                       struct gt_err *err);
void gt_lock_destroy(struct gt_lock *lock); /* accepts NULL */

/* The facts about the device, asked one by one: ELOCKED when fact number `fact` is another
 * one here, with a sentence that has both. */
enum {
    GT_LOCK_FACTS = 2
}; /* the model, the driver: a device that is only described has
    * none */
gt_status gt_lock_check_fact(const struct gt_lock *lock, const struct gt_device *d,
                             int fact, struct gt_err *err);
/* Finds the family of a kernel, and reads its point. ELOCKED: the template is another one
 * or is not there. */
gt_status gt_lock_bind_kernel(struct gt_pin_kernel *k, const struct gt_families *families,
                              struct gt_err *err);
/* All facts that gemmtune_open can check: the device's, and the templates of all kernels.
 * The sentence of ELOCKED names the file. */
gt_status gt_lock_bind(struct gt_lock *lock, const struct gt_families *families,
                       const struct gt_device *d, struct gt_err *err);

/* The fit of a pinned kernel that was bound. ELOCKED, with a sentence. */
gt_status gt_lock_fit(struct gt_fit *out, const struct gt_pin_kernel *k,
                      const struct gt_device *d, const gemmtune_problem *p,
                      int64_t pointer_align, struct gt_err *err);

/* gt_match by the query's lock. *pinned: the lock decides, and *out or the failure is the
 * answer. ELOCKED: the pinned kernel may not run. ENOTFOUND: the problem is not pinned, and
 * the lock refuses others; or no kernel is pinned for unaligned pointers. EWORKSPACE: the
 * kernel needs more than the caller has. */
gt_status gt_match_locked(bool *decided, struct gt_choice *out,
                          const struct gt_query *query, struct gt_err *err);

#endif
