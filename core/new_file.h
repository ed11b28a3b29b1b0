/* SPDX-License-Identifier: Apache-2.0 */
/*
 * new_file.h - a file that appears whole or not at all. It is written beside its place, as
 * "<path>.gemmtune-part", and takes its place by a rename at the end.
 *
 * A writer holds a lock on its part until the end of its life, however it ends. So a part
 * without a lock is what a killed process has left: the next writer says so and takes it
 * over. A part with a lock is another writer's, and an error. On a file system without
 * locks, two writers at once are not noticed.
 *
 * A symbolic link stays, and the file that it leads to is replaced. The new file gets the
 * permissions of the old one, but not its owner, its access list or its other names (hard
 * links), which keep the old text. A file that may not be written is not replaced either,
 * nor a file in a folder that may not be written, nor another user's part; all this is
 * looked at first. An open file of a process (/dev/stdout, /dev/fd/3) cannot be replaced.
 */
#ifndef GT_CORE_NEW_FILE_H
#define GT_CORE_NEW_FILE_H

#include "core/status.h"

#include <stdbool.h>
#include <stdio.h>

enum { GT_PATH_SIZE = 4096, GT_PART_SIZE = GT_PATH_SIZE + 16 };

/* A struct of zeros is a file that is kept or dropped. */
struct gt_new_file {
    char path[GT_PATH_SIZE]; /* where it goes, without a link at its end */
    char part[GT_PART_SIZE]; /* where it is; "": nowhere */
    int fd;                  /* open for reading and writing, at its beginning */
};

/* Begins an empty file. EIO, with the path: nothing can be written there, or another
 * process is writing it. */
gt_status gt_new_file_begin(struct gt_new_file *out, const char *path, struct gt_err *err);
/* Puts the file in its place, where it survives a power cut, and closes it. A file that
 * could not be written whole is dropped. One that is whole, but cannot take its place,
 * stays a part, which the sentence names. EIO. */
gt_status gt_new_file_keep(struct gt_new_file *f, struct gt_err *err);
/* Removes the part and closes it. */
void gt_new_file_drop(struct gt_new_file *f);

/* A text for a path that may also be a pipe, a device, an open file or "-", the standard
 * output, which no rename can replace. Such a text is written as it comes; what was there
 * before stays. */
struct gt_new_text {
    FILE *out;
    const char *path;        /* as the caller gave it, borrowed; of "-" words */
    struct gt_new_file file; /* zeros for a text that is written as it comes */
};

/* Whether a text for this path is written as it comes. */
bool gt_new_text_flows(const char *path);

/* Asks before long work whether a text can be begun there, and leaves nothing. EIO. */
gt_status gt_new_text_ask(const char *path, struct gt_err *err);
gt_status gt_new_text_begin(struct gt_new_text *out, const char *path, struct gt_err *err);
/* Ends the text and closes it. It takes its place when `status` is GEMMTUNE_OK and all of
 * it could be written. Returns `status`, or EIO. */
gt_status gt_new_text_end(struct gt_new_text *t, gt_status status, struct gt_err *err);

#endif
