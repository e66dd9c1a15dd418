/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The output of a replay: writes packets from the outlets of the engine into a capture for each
 * port, in the order of time, and counts them.
 *
 * Ownership: egress_write takes the mbufs and returns them to their pool. The captures are the
 * egress's.
 * Thread: one.
 */
#ifndef WEIR_EGRESS_H
#define WEIR_EGRESS_H

#include "capture/capture.h"
#include "capture/dump.h"
#include "engine/engine.h"
#include "offline/intake.h"
#include "offline/replay.h"

struct egress {
	const struct replay_options *options;
	struct replay_result *result;
	struct dump *dumps[SCENARIO_PORTS_MAX];
	struct busy_second busy[SCENARIO_PORTS_MAX];
	uint8_t *frame; /* buffer for a chain of mbufs as one piece */
};

/* Checks that no output is an input or belongs to two ports, then opens all outputs. `io_thread`
 * writes behind; NULL: the caller writes. Outputs have the link type of the intake, which must
 * exist until egress_close. Returns 0; -EINVAL with problem; or -ENOMEM. `egress` is all zero
 * before. */
int egress_open(struct egress *egress, const struct intake *intake, struct io_thread *io_thread,
                struct replay_result *result, struct problem *problem);
/* Writes and empties an outlet that is not empty. Returns 0, or -errno with problem if writing
 * failed. A packet that is too long is an error in weir: returns -EIO with problem, and leaves the
 * outlet full. */
int egress_write(struct egress *egress, uint32_t port, struct outlet *outlet,
                 struct problem *problem);
/* Completes the captures. Returns 0, or -errno with problem. */
int egress_finish(struct egress *egress, struct problem *problem);
/* Gives the captures their names. Returns 0, or -errno with problem. */
int egress_publish(struct egress *egress, struct problem *problem);
/* Removes what was not published. Must be the last call. */
void egress_close(struct egress *egress);

#endif
