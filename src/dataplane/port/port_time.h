/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of a device: the instants at which it received its frames, if it stamps them (`port ...
 * time device`), and the instants at which it shall send them, if it supports that (`port ...
 * launch TIME`).
 *
 * Receiving. The engine uses the clock's instants: a burst enters it with the reading taken after
 * it was received, so no instant is ever before one that the engine has advanced to. The device's
 * stamp adds the *age* of the packet: how long before that reading it arrived. The age is
 * subtracted from the packet's time on the line (packet.h). With a constant delay the packet
 * therefore leaves exactly at the device's instant plus the delay. Like a latency (port_setting.h),
 * an age cannot make a packet leave before it came to the line.
 *
 * A straight line converts the device's ticks to weir's nanoseconds. It is kept in step with the
 * clock as the clock is with CLOCK_MONOTONIC_RAW: it is a struct clock whose counter is the
 * device's and whose reference is weir's.
 *
 * Sending. The worker hands a frame over a lead before the instant at which it shall be sent
 * (port_setting.h), together with that instant in the device's ticks. When exactly the worker polls
 * does not matter any more.
 *
 * Every stamp is checked. An instant is never after the reading, nor before the instant of the
 * packet ahead of it at that port. A stamp older than PORT_TIME_AGE_MAX is ignored. Each such case
 * is counted.
 *
 * The device is behind a few calls (struct port_time_ops), so that a test can supply one.
 *
 * Thread: start and discipline: control. Ages: the worker that receives from the port; launches:
 * the workers that send. Counters: others may read them, a moment old.
 */
#ifndef WEIR_PORT_TIME_H
#define WEIR_PORT_TIME_H

#include <rte_mbuf.h>

#include "machine/clock.h"

#define PORT_TIME_AGE_MAX SIMTIME_MS

struct port_time_ops {
	/* Reads the device's clock at the reception of the frame. Returns false if the frame is not
	 * stamped. */
	bool (*stamp)(const void *device, const struct rte_mbuf *mbuf, uint64_t *ticks);
	/* Sets the time at which the device is to send the frame. */
	void (*launch)(const void *device, struct rte_mbuf *mbuf, uint64_t ticks);
	/* Reads the device's clock now. Returns 0, or -errno. */
	int (*read)(const void *device, uint64_t *ticks);
};

struct port_time {
	const struct port_time_ops *ops;
	const void *device;
	struct clock line; /* device's ticks to ns after origin_raw_ns, which is weir's */
	/* the worker's */
	simtime latest; /* the latest instant so far */
	uint64_t stamped, unstamped;
	uint64_t ahead;    /* after the reading that was taken later */
	uint64_t backward; /* before the packet ahead of it */
	uint64_t stale;    /* older than PORT_TIME_AGE_MAX */
};

/* Samples, waits CLOCK_START_NS, samples again, and starts the line. Returns 0; -errno of the
 * device; or -ERANGE if its clock does not go forward evenly. */
int port_time_start(struct port_time *time, const struct port_time_ops *ops, const void *device,
                    const struct clock *clock);
/* Starts the line from two samples. */
int port_time_start_from(struct port_time *time, const struct port_time_ops *ops,
                         const void *device, const struct clock_sample *first,
                         const struct clock_sample *second);
/* Keeps the line in step. To be called about every 100 ms. */
void port_time_discipline(struct port_time *time, const struct clock *clock);

/* Computes how long before `reading` each frame came. All were received before it. `reading` does
 * not go backwards. */
void port_time_ages(struct port_time *time, struct rte_mbuf *const *mbufs, uint16_t n,
                    simtime reading, uint32_t *age_ns);
/* Sets the time to send of each frame: `lead_ns` after it was due to be handed over. Thread: the
 * worker that sends. */
void port_time_launch(const struct port_time *time, struct rte_mbuf *const *mbufs,
                      const simtime *due_ns, uint16_t n, simtime lead_ns);
/* Sets the counters to 0; the line and the latest instant stay. Thread: the worker that
 * receives. */
void port_time_clear(struct port_time *time);

#endif
