/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One change of the machine: a value written to a file of the kernel, a driver bound to a PCI
 * device, a file of weir's own, a link by which systemd starts a unit. It can be printed as a
 * command of a shell, done, and undone.
 *
 * `root` is a prefix of every path: "" for this machine, a folder for a test.
 * Ownership: a value, which owns its texts: step_release.
 * Thread: the main thread of `weir setup`.
 */
#ifndef WEIR_SETUP_STEP_H
#define WEIR_SETUP_STEP_H

#include <stdbool.h>
#include <stdio.h>

#include "scenario/problem.h"

#define STEP_PATH_BYTES 160
#define STEP_NAME_BYTES 128 /* of a driver */

enum step_kind {
	STEP_WRITE,  /* path: of the kernel; value: what is written */
	STEP_DRIVER, /* path: a PCI address; value: the driver to bind */
	STEP_FILE,   /* path: of a file of weir's own; value: its line */
	STEP_LINK,   /* path: of a new symbolic link; value: its target */
	STEP_KINDS
};

struct step {
	enum step_kind kind;
	bool may_fail; /* the kernel refuses some of them: interrupts of its own */
	char path[STEP_PATH_BYTES];
	char *value;
	/* what was read, the driver ("": none), or the whole file (NULL: none); of a link NULL */
	char *before;
};

void step_release(struct step *step);
/* Prints the equivalent command, without a line end. */
void step_print(FILE *out, const struct step *step);
/* Fills in `before`. Returns 0 or -errno with problem. */
int step_look(const char *root, struct step *step, struct problem *problem);
/* Does the step. Returns 0; or -errno with problem, and then nothing
 * has changed, unless the step may be half done. */
int step_do(const char *root, const struct step *step, struct problem *problem);
/* Returns true with problem if the kernel has taken less than step_do wrote: it reserves as many
 * hugepages as it finds memory in one piece. */
bool step_fell_short(const char *root, const struct step *step, struct problem *problem);
/* Returns true for a driver and a file: if step_do fails, step_undo is to be called. */
bool step_may_be_half_done(const struct step *step);
/* Restores what was before. Returns 0; -ENOENT with problem if the thing is gone: a device, a
 * processor; or -errno with problem. */
int step_undo(const char *root, const struct step *step, struct problem *problem);

/* Gets the last part of the target of `path` below root, such as `vfio-pci` of a driver; "" if it
 * is no link. */
void step_link_name(const char *root, const char *path, char name[STEP_NAME_BYTES]);

#endif
