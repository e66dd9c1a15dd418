/* SPDX-License-Identifier: BSD-3-Clause */
/* How a worker sleeps. */
#include <poll.h>
#include <sys/socket.h>

#include "live/worker.h"

/* Returns true if another thread has put something into a ring. */
static bool is_called(const struct worker *worker)
{
	if (!ring_is_empty(worker->mailbox.ring))
		return true;
	for (uint32_t i = 0; i < worker->n_drains; i++) {
		for (uint32_t k = 0; k < worker->drains[i].n_from; k++) {
			if (!ring_is_empty(worker->drains[i].from[k]))
				return true;
		}
	}
	return __atomic_load_n(&worker->stop, __ATOMIC_ACQUIRE);
}

static bool has_refused(const struct worker *worker)
{
	bool refused = worker->waiting;

	for (uint32_t i = 0; i < worker->n_drains; i++)
		refused |= worker->drains[i].tx_queue.outlet->n > 0;
	return refused;
}

/* Takes the error of a socket, of an interface that has gone down, which would end every sleep. */
static void forget_error(int fd)
{
	int error;
	socklen_t bytes = sizeof(error);

	(void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
}

/* Sleeps for at most `rest`. Returns true if that has passed. */
static bool sleep_for(struct worker *worker, simtime rest)
{
	struct pollfd polled[SCENARIO_PORTS_MAX + 1];
	const struct timespec wait = {.tv_sec = (time_t)(rest / SIMTIME_S),
	                              .tv_nsec = (long)(rest % SIMTIME_S)};
	const uint32_t n = worker->n_inlets;
	int ready = -1;

	/* A port without a descriptor has -1, which is skipped. */
	for (uint32_t i = 0; i < n; i++)
		polled[i] = (struct pollfd){.fd = port_descriptor(worker->inlets[i].port),
		                            .events = POLLIN};
	polled[n] =
	        (struct pollfd){.fd = worker->bell.made ? worker->bell.fd : -1, .events = POLLIN};
	bell_listen(&worker->bell);
	if (!is_called(worker))
		ready = ppoll(polled, n + 1, &wait, NULL);
	bell_ignore(&worker->bell, polled[n].revents != 0);
	for (uint32_t i = 0; i < n; i++) {
		if (polled[i].revents & POLLERR)
			forget_error(polled[i].fd);
	}
	return ready == 0;
}

/* Follows how late the worker wakes up from short sleeps: at once if that grows, else slowly. On a
 * processor that is busy it wakes up within microseconds, and a thread with a short slice must not
 * use that up by waiting. What comes later than WORKER_WAKE_NS is the work of other programs. */
static void follow(struct worker *worker, simtime late)
{
	simtime wanted = simtime_min(late + WORKER_SPARE_NS, WORKER_WAKE_NS);

	if (wanted > worker->wake_ns)
		worker->wake_ns = wanted;
	else
		worker->wake_ns -= (worker->wake_ns - wanted) / 16;
}

void worker_rest(struct worker *worker)
{
	simtime now = clock_now(worker->clock), woken;
	simtime next = worker->engine ? engine_next(worker->engine) : SIMTIME_NEVER;
	simtime rest;
	bool timed, doze;

	for (uint32_t i = 0; i < worker->n_inlets; i++)
		next = simtime_min(next, port_next(worker->inlets[i].port, now));
	rest = next > now ? next - now : 0;
	/* What a port has not taken is soon offered again. */
	if (has_refused(worker))
		rest = 2 * WORKER_WAKE_NS;
	if (rest <= worker->wake_ns)
		return;
	doze = rest > 2 * WORKER_DOZE_NS;
	rest -= doze ? WORKER_DOZE_NS : worker->wake_ns;
	rest = simtime_min(rest, worker->rest_ns);
	timed = sleep_for(worker, rest);
	woken = clock_now(worker->clock);
	if (timed && !doze && woken > now + rest)
		follow(worker, woken - now - rest);
	priority_slept(&worker->priority, now, woken);
}

int worker_take_priority(void *argument)
{
	struct worker *worker = argument;
	int rc = worker->rest_ns > 0 ? priority_take(&worker->priority) : 0;

	if (rc < 0)
		worker->priority.kind = PRIORITY_NONE;
	return rc;
}
