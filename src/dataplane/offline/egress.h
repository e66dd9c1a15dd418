/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the packets of a replay go: from the outlets of the engine into a capture for each port, in
 * the order of time, and into the counters.
 *
 * Ownership: egress_write takes the mbufs and gives them back. The captures are the egress's.
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
	/* The second, from the first packet on, in which the latest packet left; its bytes. */
	uint64_t second[SCENARIO_PORTS_MAX], second_bytes[SCENARIO_PORTS_MAX];
	uint8_t *frame; /* a chain of mbufs put together */
};

/* Opens every output (`io_thread` writes behind, or NULL), after a check that none is an input or
 * that of two ports. They have the link type of the intake, which stays until egress_close. 0;
 * -EINVAL with problem; -ENOMEM. `egress` is all zero before. */
int egress_open(struct egress *egress, const struct intake *intake, struct io_thread *io_thread,
                struct replay_result *result, struct problem *problem);
/* Writes and empties an outlet that is not empty. 0, or -EIO with problem; one packet too long is
 * an error in weir, and the outlet stays full. */
int egress_write(struct egress *egress, uint32_t port, struct outlet *outlet,
                 struct problem *problem);
/* All that was written is on its way to the disk: 0, or -EIO with problem. */
int egress_finish(struct egress *egress, struct problem *problem);
/* The captures get their names: 0, or -EIO with problem. */
int egress_publish(struct egress *egress, struct problem *problem);
/* Removes what was not published; always the last call. */
void egress_close(struct egress *egress);

#endif
