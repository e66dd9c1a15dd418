/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client's end of the control socket: lines out, answers in.
 *
 * Thread: the caller's, one.
 */
#ifndef WEIR_CTL_LINK_H
#define WEIR_CTL_LINK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "scenario/problem.h"

#define CTL_ANSWER_TIMEOUT_S 60

struct ctl_link {
	int fd;
	bool json; /* the mode of the server */
	/* the file that contains the lines; or NULL */
	const char *path;
	char *bytes; /* received, not consumed yet */
	size_t n, room;
	size_t at; /* of the next line (link_line) */
	/* The link's own lines `file` among the lines whose answers are outstanding: their
	 * numbers. */
	uint64_t sent, answered;
	size_t n_own, own_room;
	uint64_t *own;
};

/* An answer. `body`: in text mode the lines before the `ok`; in JSON mode the object's line.
 * `error`, if not ok: in text mode `NAME: what is wrong`; in JSON mode the object's line again.
 * Both are terminated by a 0, the lines of body by LF. Freed by ctl_answer_release. */
struct ctl_answer {
	bool ok;
	char *body, *error;
	size_t body_n;
};

/* Returns 0, or -errno with problem. `path` NULL: socket_client_path. Sending and waiting for an
 * answer take `patience_s` at most. */
int ctl_link_open(struct ctl_link *link, const char *path, time_t patience_s,
                  struct problem *problem);
/* Its fd is -1 then, and may be -1 before. */
void ctl_link_close(struct ctl_link *link);

/* Sends a line (without its end), preceded by the files that it names, whose answers
 * the caller does not see. A line `json on` or `json off` changes the mode. Returns 0 or -errno; if
 * the server has hung up, there may still be an answer that says why. */
int ctl_link_send(struct ctl_link *link, const char *line);
/* Waits for the next answer. Returns 0; -ECONNRESET if the server has hung up; -ETIMEDOUT; -ENOMEM;
 * -EPROTO. */
int ctl_link_answer(struct ctl_link *link, struct ctl_answer *answer);
void ctl_answer_release(struct ctl_answer *answer);

/* Returns the names of the files that a line names, and that this process may read: an array, which
 * the caller releases; NULL: no memory. */
json_t *ctl_link_files(const char *line);

/* As ctl_link_ask, and sends a descriptor, which remains the caller's. */
int ctl_link_ask_with(struct ctl_link *link, const char *line, int fd, struct ctl_answer *answer);

/* Sends a line and waits for its answer. If sending fails, waits for the answer that says why, if
 * there is one. */
int ctl_link_ask(struct ctl_link *link, const char *line, struct ctl_answer *answer);

/*
 * `weir ctl events` and `weir ctl sample 1s`: print what weir pushes as it arrives, until weir ends
 * or the user ends it.
 */

/* Returns true if lines are pushed after the answer to this line. */
bool ctl_stream_line(const char *line);
/* Prints until the other end closes. Returns 0 if it announced its end (`stopped`); -EPIPE if
 * nobody reads the output; -ECONNRESET if it hung up, with the reason on stderr, or in JSON on
 * stdout. */
int ctl_stream_print(struct ctl_link *link);

#endif
