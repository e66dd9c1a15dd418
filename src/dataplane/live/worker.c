/* SPDX-License-Identifier: BSD-3-Clause */
#include "live/worker.h"

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <rte_prefetch.h>

#include "change/change.h"
#include "packet/burst.h"

/* Fills in the struct packet of each mbuf, for the way to another worker. Returns the number of
 * bytes. */
static uint64_t stamp(struct inlet *inlet, struct rte_mbuf **mbufs, uint16_t n, simtime now)
{
	uint32_t age_ns[BURST_MAX] = {0};
	uint64_t bytes = 0;

	if (unlikely(inlet->time != NULL))
		port_time_ages(inlet->time, mbufs, n, now, age_ns);
	for (uint16_t i = 0; i < n; i++) {
		*packet_of(mbufs[i]) = (struct packet){
		        .t_ns = now,
		        .number = ++inlet->number,
		        .wire_bytes = mbufs[i]->pkt_len,
		        .port = (uint16_t)inlet->index,
		        .age_ns = age_ns[i],
		};
		bytes += mbufs[i]->pkt_len;
	}
	return bytes;
}

static bool pipeline_receive(struct worker *worker, simtime now)
{
	struct rte_mbuf *mbufs[BURST_MAX];
	bool busy = false;

	for (uint32_t i = 0; i < worker->n_inlets; i++) {
		struct inlet *inlet = &worker->inlets[i];
		uint16_t n;

		if (ring_room(inlet->ring) < BURST_MAX)
			continue;
		n = port_receive(inlet->port, mbufs, BURST_MAX, now);
		if (n == 0)
			continue;
		now = worker_instant(worker, now);
		inlet->rx_packets += n;
		inlet->rx_bytes += stamp(inlet, mbufs, n, now);
		rte_ring_sp_enqueue_bulk(inlet->ring, (void **)mbufs, n, NULL);
		busy = true;
	}
	worker->now = now;
	return busy;
}

/* Splits the packets into runs from the same port; each run enters the engine as one burst. */
static void ingress(struct worker *worker, struct rte_mbuf **mbufs, uint32_t n)
{
	struct burst burst;

	for (uint32_t i = 0, run; i < n; i += run) {
		uint16_t port = packet_of(mbufs[i])->port;

		for (run = 1; i + run < n && packet_of(mbufs[i + run])->port == port; run++)
			;
		burst_read(&burst, mbufs + i, (uint16_t)run);
		worker->now = burst_t(&burst, burst.n - 1);
		if (unlikely(worker->tape != NULL))
			tape_burst(worker->tape, &burst);
		engine_ingress(worker->engine, &burst);
	}
}

/* Emulates what rx has stamped. The engine's time is that of rx; `now` only affects the lateness of
 * what is sent. */
static bool pipeline_emulate(struct worker *worker, simtime now)
{
	simtime horizon = __atomic_load_n(worker->stamped_ns, __ATOMIC_ACQUIRE);
	struct rte_mbuf *mbufs[BURST_MAX];
	uint32_t n = rte_ring_sc_dequeue_burst(worker->feed, (void **)mbufs, BURST_MAX, NULL);
	bool busy = n > 0;

	if (n > 0) {
		simtime last = packet_of(mbufs[n - 1])->t_ns;

		/* If a full burst was taken, the ring may hold more packets, stamped at `last` or
		 * later. */
		horizon = n == BURST_MAX ? last : simtime_max(horizon, last);
		ingress(worker, mbufs, n);
	}
	worker->now = horizon;
	if (engine_advance(worker->engine, horizon) > 0 || worker->waiting)
		busy |= worker_send(worker, simtime_max(now, horizon));
	return busy;
}

const char *worker_role_name(enum worker_role role)
{
	static const char *const names[] = {
	        [WORKER_RUN_TO_COMPLETION] = "run-to-completion",
	        [WORKER_RX] = "rx",
	        [WORKER_EMULATION] = "emulation",
	        [WORKER_TX] = "tx",
	};

	return names[role];
}

/* ---- what is recorded of a worker ---- */

/* Records what the engine has put into the outlets since the last call. The engine has advanced to
 * the worker's instant. */
static __attribute__((noinline)) void record_departures(struct worker *worker)
{
	for (uint32_t i = 0; i < worker->n_tx_queues; i++)
		tape_departures(worker->tape, i, worker->tx_queues[i].outlet, worker->now);
	tape_check(worker->tape, worker->engine, worker->now);
}

static void record_message(struct worker *worker, const struct message *message, simtime now)
{
	if (message->kind == MESSAGE_CHANGE)
		tape_change(worker->tape, message->number, now);
	else if (message->kind == MESSAGE_CLEAR)
		tape_clear(worker->tape, now);
	else if (message->kind == MESSAGE_INSERTION)
		tape_insertion(worker->tape, message->insertion, now);
}

void worker_record_end(struct worker *worker)
{
	bool settled;

	if (!worker->tape || !worker->engine)
		return;
	/* What is due may not have reached the ways out yet, or a message that was obeyed after the
	 * last poll has let it out. */
	settled = engine_next(worker->engine) > worker->now;
	for (uint32_t i = 0; i < worker->n_tx_queues; i++)
		settled &= worker->tx_queues[i].outlet->n == 0 &&
		           tx_queue_waiting(&worker->tx_queues[i]) == 0;
	tape_end(worker->tape, worker->now, settled);
}

/* Tries all ways out of the engine. Called only if the engine has put something into an outlet, or
 * if something waits. */
bool worker_send(struct worker *worker, simtime now)
{
	uint64_t sent = 0, waiting = 0;

	if (unlikely(worker->tape != NULL))
		record_departures(worker);
	for (uint32_t i = 0; i < worker->n_tx_queues; i++) {
		uint64_t here;

		sent += tx_queue_flush(&worker->tx_queues[i], worker->clock, now);
		here = tx_queue_waiting(&worker->tx_queues[i]);
		engine_stall(worker->engine, i, here > 0);
		waiting += here;
	}
	worker->waiting = waiting > 0;
	return sent > 0;
}

/* The engine is in the middle of a call here, so its counters are not checked (tape_check). */
void worker_make_room(void *argument, uint32_t port)
{
	struct worker *worker = argument;
	struct tx_queue *tx_queue = &worker->tx_queues[port];

	if (unlikely(worker->tape != NULL))
		tape_departures(worker->tape, port, tx_queue->outlet, worker->now);
	tx_queue_make_room(tx_queue, worker->clock, worker->now);
	worker->waiting |= tx_queue_waiting(tx_queue) > 0;
}

static bool worker_drain(struct worker *worker, simtime now)
{
	uint32_t sent = 0;

	for (uint32_t i = 0; i < worker->n_drains; i++) {
		struct drain *drain = &worker->drains[i];

		for (uint32_t k = 0; k < drain->n_from; k++)
			tx_queue_collect(&drain->tx_queue, drain->from[k]);
		sent += tx_queue_flush(&drain->tx_queue, worker->clock, now);
	}
	return sent > 0;
}

__attribute__((noinline)) void worker_set_ages(const struct inlet *inlet, struct burst *burst)
{
	uint32_t age_ns[BURST_MAX] = {0};

	port_time_ages(inlet->time, burst->mbuf, burst->n, burst->t, age_ns);
	burst_set_ages(burst, age_ns);
}

static bool run_to_completion(struct worker *worker, simtime now)
{
	struct burst burst;
	bool busy = false;

	worker->now = now;
	for (uint32_t i = 0; i < worker->n_inlets; i++) {
		struct inlet *inlet = &worker->inlets[i];
		uint16_t n = port_receive(inlet->port, burst.mbuf, BURST_MAX, now);

		if (n == 0)
			continue;
		worker->now = now = worker_instant(worker, now);
		busy = true;
		/* The frames are read next, so they are prefetched. */
		for (uint16_t k = 0; k < n; k++)
			rte_prefetch0(rte_pktmbuf_mtod(burst.mbuf[k], void *));
		burst_received(&burst, n, inlet->index, now, inlet->number + 1);
		if (unlikely(inlet->time != NULL))
			worker_set_ages(inlet, &burst);
		inlet->number += n;
		inlet->rx_packets += n;
		inlet->rx_bytes += burst.bytes;
		if (unlikely(worker->tape != NULL))
			tape_burst(worker->tape, &burst);
		engine_ingress(worker->engine, &burst);
	}
	if (engine_advance(worker->engine, now) > 0 || worker->waiting)
		busy |= worker_send(worker, now);
	return busy;
}

static void clear(struct worker *worker)
{
	if (worker->engine)
		engine_clear(worker->engine);
	for (uint32_t i = 0; i < worker->n_inlets; i++) {
		worker->inlets[i].rx_packets = 0;
		worker->inlets[i].rx_bytes = 0;
		worker->inlets[i].early = 0;
		worker->inlets[i].aged = 0;
		worker->inlets[i].oldest_ns = 0;
		if (worker->inlets[i].time)
			port_time_clear(worker->inlets[i].time);
	}
	for (uint32_t i = 0; i < worker->n_tx_queues; i++)
		tx_queue_clear(&worker->tx_queues[i]);
	for (uint32_t i = 0; i < worker->n_drains; i++)
		tx_queue_clear(&worker->drains[i].tx_queue);
	worker->longest_poll_ns = 0;
	worker->busy_polls = 0;
}

/* Kept out of the loop. It is rare, so its cost does not matter. */
static __attribute__((noinline)) void obey(struct worker *worker, struct message *message,
                                           simtime now)
{
	if (worker->engine)
		engine_settle(worker->engine, now);
	if (worker->tape && worker->engine)
		record_message(worker, message, now);
	switch (message->kind) {
	case MESSAGE_CHANGE:
		engine_apply(worker->engine, message->change, now);
		break;
	case MESSAGE_CLEAR:
		clear(worker);
		break;
	case MESSAGE_TAPS:
		worker_tap_take(&worker->tap, worker->engine, message->taps);
		break;
	case MESSAGE_INSERTION:
		if (worker->engine)
			engine_insert(worker->engine, message->insertion, now);
		break;
	}
	message_done(message);
}

/* Records a snapshot for a flight: the state of the engine, if nothing that is due is left in the
 * engine or in an outlet. */
static __attribute__((noinline)) void record_snapshot(struct worker *worker)
{
	if (worker->waiting || engine_next(worker->engine) <= worker->now)
		return;
	tape_snapshot(worker->tape, worker->engine, worker->now);
}

bool worker_poll(struct worker *worker, simtime now)
{
	struct message *message;
	bool busy = false;

	switch (worker->role) {
	case WORKER_RUN_TO_COMPLETION:
		busy = unlikely(worker->stamped) ? arrivals_poll(worker, now)
		                                 : run_to_completion(worker, now);
		if (worker->n_drains > 0)
			busy |= worker_drain(worker, worker->now);
		break;
	case WORKER_RX:
		busy = unlikely(worker->stamped) ? arrivals_poll(worker, now)
		                                 : pipeline_receive(worker, now);
		break;
	case WORKER_EMULATION:
		busy = pipeline_emulate(worker, now);
		break;
	case WORKER_TX:
		worker->now = now;
		busy = worker_drain(worker, now);
		break;
	}
	message = mailbox_take(&worker->mailbox);
	if (unlikely(message != NULL)) {
		obey(worker, message, worker->now);
		/* What it has let out waits for no sleep, and is in no snapshot. */
		if (worker->engine && engine_has_left(worker->engine))
			busy |= worker_send(worker, worker->now);
	}
	if (unlikely(worker->tape && worker->engine && tape_wants_snapshot(worker->tape, now)))
		record_snapshot(worker);
	worker->busy_polls += busy;
	__atomic_store_n(&worker->done_ns, worker->now, __ATOMIC_RELEASE);
	/* What the poll has put into taps comes before it (runtime_taps_beat). */
	__atomic_store_n(&worker->polls, worker->polls + 1, __ATOMIC_RELEASE);
	return busy;
}

void worker_obey_rest(struct worker *worker)
{
	struct message *message;

	while ((message = mailbox_take(&worker->mailbox)) != NULL)
		obey(worker, message, worker->now);
}

void worker_ahead(struct worker *worker)
{
	simtime next = engine_next(worker->engine);

	if (next <= worker->now || next - worker->now > WORKER_AHEAD_NS || worker->waiting)
		return;
	worker->now = next;
	if (engine_advance(worker->engine, next) > 0)
		worker_send(worker, next);
}

int worker_main(void *argument)
{
	struct worker *worker = argument;
	simtime last = clock_now(worker->clock);

	priority_begin(&worker->priority, last);
	while (!__atomic_load_n(&worker->stop, __ATOMIC_ACQUIRE)) {
		/* worker->now may be later than the clock: worker_ahead advances the engine to the
		 * next event. */
		simtime now = simtime_max(clock_now(worker->clock), worker->now);

		if (unlikely(now - last > worker->longest_poll_ns))
			worker->longest_poll_ns = now - last;
		last = now;
		priority_spent(&worker->priority, now);
		if (worker_poll(worker, now))
			continue;
		if (worker->role == WORKER_RUN_TO_COMPLETION && worker->engine)
			worker_ahead(worker);
		if (worker->rest_ns > 0) {
			worker_rest(worker);
			last = clock_now(worker->clock);
		} else if (worker->yields) {
			sched_yield();
		}
	}
	__atomic_store_n(&worker->over, 1, __ATOMIC_RELEASE);
	return 0;
}

/* How a worker sleeps. */

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
		refused |= tx_queue_waiting(&worker->drains[i].tx_queue) > 0;
	return refused;
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
		if (polled[i].revents & POLLERR) {
			/* Without this, the error of the socket of an interface that has gone down
			 * would end every sleep. */
			int error;
			socklen_t bytes = sizeof(error);

			(void)getsockopt(polled[i].fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
		}
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
