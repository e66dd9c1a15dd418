/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/port_time.h"

#include <errno.h>
#include <time.h>

#define SAMPLE_TRIES 8

/* Takes a sample of both clocks, the tightest of several. Returns 0, or -errno of the device. */
static int port_time_sample(const struct port_time *time, const struct clock *clock,
                            struct clock_sample *sample)
{
	uint64_t tightest = UINT64_MAX;

	for (int i = 0; i < SAMPLE_TRIES; i++) {
		simtime before = clock_now(clock), after;
		uint64_t ticks;
		int rc = time->ops->read(time->device, &ticks);

		if (rc < 0)
			return rc;
		after = simtime_max(clock_now(clock), before);
		if (after - before >= tightest)
			continue;
		tightest = after - before;
		sample->tsc = ticks;
		sample->raw_ns = before + tightest / 2;
	}
	return 0;
}

int port_time_start_from(struct port_time *time, const struct port_time_ops *ops,
                         const void *device, const struct clock_sample *first,
                         const struct clock_sample *second)
{
	*time = (struct port_time){.ops = ops, .device = device};
	return clock_start(&time->line, first, second);
}

int port_time_start(struct port_time *time, const struct port_time_ops *ops, const void *device,
                    const struct clock *clock)
{
	const struct timespec pause = {.tv_nsec = (long)CLOCK_START_NS};
	struct clock_sample first, second;
	int rc;

	*time = (struct port_time){.ops = ops, .device = device};
	rc = port_time_sample(time, clock, &first);
	for (struct timespec left = pause;
	     rc == 0 && nanosleep(&left, &left) < 0 && errno == EINTR;)
		;
	if (rc == 0)
		rc = port_time_sample(time, clock, &second);
	return rc < 0 ? rc : port_time_start_from(time, ops, device, &first, &second);
}

void port_time_discipline(struct port_time *time, const struct clock *clock)
{
	struct clock_sample sample;

	/* If the device cannot be read, the line stays as it is. */
	if (port_time_sample(time, clock, &sample) == 0)
		clock_discipline(&time->line, &sample);
}

static simtime instant(struct port_time *time, const struct rte_mbuf *mbuf, simtime reading)
{
	simtime at;
	uint64_t ticks;

	if (unlikely(!time->ops->stamp(time->device, mbuf, &ticks))) {
		time->unstamped++;
		return reading;
	}
	time->stamped++;
	at = time->line.origin_raw_ns + clock_ns(&time->line, ticks);
	if (unlikely(at > reading)) {
		time->ahead++;
		return reading;
	}
	if (unlikely(reading - at > PORT_TIME_AGE_MAX)) {
		time->stale++;
		return reading;
	}
	return at;
}

void port_time_ages(struct port_time *time, struct rte_mbuf *const *mbufs, uint16_t n,
                    simtime reading, uint32_t *age_ns)
{
	for (uint16_t i = 0; i < n; i++) {
		simtime at = instant(time, mbufs[i], reading);

		if (unlikely(at < time->latest)) {
			time->backward++;
			at = time->latest;
		}
		time->latest = at;
		age_ns[i] = (uint32_t)(reading - at);
	}
}

void port_time_launch(const struct port_time *time, struct rte_mbuf *const *mbufs,
                      const simtime *due_ns, uint16_t n, simtime lead_ns)
{
	for (uint16_t i = 0; i < n; i++)
		time->ops->launch(
		        time->device, mbufs[i],
		        clock_tick(&time->line, due_ns[i] + lead_ns - time->line.origin_raw_ns));
}

void port_time_clear(struct port_time *time)
{
	time->stamped = time->unstamped = 0;
	time->ahead = time->backward = time->stale = 0;
}
