/* SPDX-License-Identifier: Apache-2.0 */
/* drawn.h - the options of commands that draw problems at random, and the drawing. */
#ifndef GT_TUNER_CMD_DRAWN_H
#define GT_TUNER_CMD_DRAWN_H

#include "core/device.h"
#include "core/text.h"
#include "tuner/base/sweep.h"
#include "tuner/cmd/common.h"

/* A member `drawn` of a command's values. 0, and no types, mean "not given". */
struct gt_drawn_values {
    int64_t random; /* problems to draw */
    struct gt_texts types;
    double volume;
    int64_t batch;
    double elements; /* the most of A, B and C together; no option */
};

/* Rows of an options table; each command describes --random itself. */
#define GT_OPTION_TYPES(values)                                                            \
    {                                                                                      \
        "types", 0, GT_OPT_NAMES, offsetof(values, drawn.types), "WORDS",                  \
            "types of the drawn problems (default f32,f64)", 0, 0                          \
    }
#define GT_OPTION_VOLUME(values)                                                           \
    {                                                                                      \
        "volume", 0, GT_OPT_NUMBER, offsetof(values, drawn.volume), "N",                   \
            "the most multiplications of a drawn problem, m n k times its products "       \
            "(default 4e10, on a CPU 1e8)",                                                \
            0, 0                                                                           \
    }
#define GT_OPTION_BATCH(values)                                                            \
    {                                                                                      \
        "batch", 0, GT_OPT_INT, offsetof(values, drawn.batch), "N",                        \
            "make every other drawn problem a batch of 2 to N products", 2, 1000000        \
    }

/* Whether an option about drawn problems was given, but not --random. */
bool gt_drawn_lacks_random(const struct gt_drawn_values *v);

/* The most multiplications of a drawn problem, unless --volume gives another number. */
double gt_drawn_volume(const struct gt_device *d);

/* Draws the problems for the device into an empty sweep. Returns -1, or an exit code with
 * the reason on stderr, after the name of the command. */
int gt_drawn_make(struct gt_sweep *out, const struct gt_drawn_values *v, int64_t seed,
                  const struct gt_device *d, const char *command);

#endif
