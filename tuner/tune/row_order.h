/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_order.h - the order of sums in which a problem with row_order is tuned. A search
 * tries points of this order only, so that all records of one (types, layout, n, k,
 * epilogue) add alike.
 */
#ifndef GT_TUNER_TUNE_ROW_ORDER_H
#define GT_TUNER_TUNE_ROW_ORDER_H

#include "tuner/tune/tune.h"

/* The order for the problem; "" where it has no row_order. A run chooses once for each kind
 * of rows and keeps to it, in t->orders. EDB, EIO: the database; EUNSUPPORTED: no family
 * states an order for the problem. */
gt_status gt_tune_order(char out[GT_ORDER_MAX], struct gt_tuner *t,
                        const gemmtune_problem *p, struct gt_err *err);
/* Keeps the orders of the sweep's problems that the records decide already, so that stored
 * results in another order count as none. EDB, EIO: the database. */
gt_status gt_tune_recall_orders(struct gt_tuner *t, const struct gt_sweep *s,
                                struct gt_err *err);
/* Keeps this order, unless it is "" or the run has one for the problem. */
void gt_tune_keep_order(struct gt_tuner *t, const gemmtune_problem *p,
                        const char order[GT_ORDER_MAX]);
/* The order that the run has kept for the problem; "" where it has none. */
const char *gt_tune_kept_order(const struct gt_tuner *t, const gemmtune_problem *p);
void gt_tune_orders_free(struct gt_tune_orders *orders); /* accepts NULL */

#endif
