/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client's end of the control socket: lines out, answers in.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_CTL_LINK_H
#define WEIR_CTL_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scenario/problem.h"

#define CTL_ANSWER_TIMEOUT_S 60

struct ctl_link {
	int fd;
	bool json; /* the mode, as the server has it */
	/* of the file that the lines come from (ctl_files.h); or NULL */
	const char *path;
	char *bytes; /* received, not used yet */
	size_t n, room;
	/* Of the answers that are to come, those to lines `file`, which are this side's own: their
	 * numbers. */
	uint64_t sent, answered;
	size_t n_own, own_room;
	uint64_t *own;
};

/* What came back. `body`: text mode, the lines before the `ok`; JSON mode, the object's line.
 * `error`, when not ok: text mode, `NAME: what is wrong`; JSON mode, the object's line again. Both
 * are ended by a 0, body's lines by LF; ctl_answer_release. */
struct ctl_answer {
	bool ok;
	char *body, *error;
	size_t body_n;
};

/* 0, or -errno with problem. `path` NULL: socket_default_path. */
int ctl_link_open(struct ctl_link *link, const char *path, struct problem *problem);
void ctl_link_close(struct ctl_link *link);

/* Sends a line (without its end), and before it the files that it names (ctl_files.h), whose
 * answers are not seen. A line `json on` or `json off` changes the mode. 0 or -errno: when the
 * server has hung up there may still be an answer that says why. */
int ctl_link_send(struct ctl_link *link, const char *line);
/* Waits for the next answer. 0; -ECONNRESET: the server has hung up; -ETIMEDOUT; -ENOMEM; -EPROTO.
 */
int ctl_link_answer(struct ctl_link *link, struct ctl_answer *answer);
void ctl_answer_release(struct ctl_answer *answer);

/* Receives more bytes behind those that are there, as ctl_link_answer does. */
int ctl_link_receive(struct ctl_link *link);

/* As ctl_link_ask, with a descriptor for the emulator, which stays the caller's. */
int ctl_link_ask_with(struct ctl_link *link, const char *line, int fd, struct ctl_answer *answer);

/* send and answer. When sending fails, the answer that says why, if there is one. */
int ctl_link_ask(struct ctl_link *link, const char *line, struct ctl_answer *answer);

#endif
