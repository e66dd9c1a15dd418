/* SPDX-License-Identifier: BSD-3-Clause */
#include "line/line.h"

#include <rte_prefetch.h>

#include "holding/wheel_burst.h"

/* Returns the wheel for a packet that enters now, or NULL for the log. As long as the wheel is not
 * empty, packets that keep order go there, too. So all packets in the log came before those on the
 * wheel, and of two that are due at one instant, the one in the log is first. */
static struct wheel *wheel_for(const struct line *line)
{
	if (line->shared)
		return line->shared;
	if (!line->wheel)
		return NULL;
	return line->conf.on_wheel || line->wheel->records > 0 ? line->wheel : NULL;
}

void line_forget(struct line *line)
{
	line->moments = (struct line_moments){0};
	if (line->spread)
		histogram_clear(line->spread);
}

void line_configure(struct line *line, struct line_conf *conf)
{
	struct line_conf old = line->conf;
	bool same = reorder_rule_same(&old.reorder, &conf->reorder);

	jitter_adopt(&line->jitter, old.jitter, conf->jitter);
	if (old.jitter != conf->jitter || old.delay_ns != conf->delay_ns)
		line_forget(line);
	reorder_begin(&line->back.choice, &conf->reorder, same);
	/* Packets have entered that `back.latest` does not cover. */
	if (old.reorder.kind == REORDER_NONE)
		line->back.latest = line->last_due;
	/* What is held back may be due before others that came ahead of it. */
	if (old.allow_overtaking && !conf->allow_overtaking)
		line->back.passed = simtime_max(line->back.passed, line->last_due);
	line->conf = *conf;
	line->reorders = conf->reorder.kind != REORDER_NONE;
	line->limited = conf->limit != LINE_UNLIMITED;
	*conf = old;
}

static void scale(int64_t *deviation, uint16_t n, uint64_t scale_q32)
{
	for (uint16_t i = 0; i < n; i++)
		deviation[i] = (int64_t)(((__int128)deviation[i] * (__int128)scale_q32) >> 32);
}

/* If all deviations of a burst are at most this, the sum of their squares fits 64 bits. */
#define NEAR_NS (UINT64_C(1) << 28)

_Static_assert(BURST_ROOM <= 64, "squares of a burst add up in 63 bits");

static void moments_add(struct line *line, const simtime *t_ns, const simtime *due_ns, uint16_t n)
{
	struct line_moments *moments = &line->moments;
	const simtime delay = line->conf.delay_ns;
	uint64_t sum = 0, square = 0, far = 0;

	for (uint16_t i = 0; i < n; i++) {
		int64_t off = (int64_t)(due_ns[i] - t_ns[i] - delay);

		far |= ((uint64_t)off + NEAR_NS) / (2 * NEAR_NS);
		sum += (uint64_t)off;
		square += (uint64_t)off * (uint64_t)off;
	}
	for (uint16_t i = 0; unlikely(far) && i < n; i++) {
		int64_t off = (int64_t)(due_ns[i] - t_ns[i] - delay);

		moments->sum += off;
		moments->square += (__int128)off * off;
	}
	if (likely(!far)) {
		moments->sum += (int64_t)sum;
		moments->square += square;
	}
	moments->packets += n;
}

/* Adds the deviations to the due times; no packet is due before it enters. */
static void deviations_add(simtime *restrict due_ns, const int64_t *restrict deviation, uint16_t n,
                           int64_t delay)
{
	for (uint16_t i = 0; i < n; i++)
		due_ns[i] += (uint64_t)(deviation[i] > -delay ? deviation[i] : -delay);
}

uint16_t line_due(struct line *line, const simtime *t_ns, uint16_t n, simtime *due_ns)
{
	const struct line_conf *conf = &line->conf;
	simtime last = line->last_due;
	int64_t deviation[BURST_ROOM];
	uint16_t overtaking = 0;

	if (line->wheel && n > 0)
		wheel_idle_until(line->wheel, t_ns[0]);
	for (uint16_t i = 0; i < n; i++)
		due_ns[i] = t_ns[i] + conf->delay_ns;
	if (conf->jitter) {
		jitter_draw(conf->jitter, &line->jitter, line->key, line->drawn, t_ns, n,
		            deviation);
		line->drawn += n;
		if (unlikely(conf->scaled))
			scale(deviation, n, conf->scale_q32);
		deviations_add(due_ns, deviation, n, (int64_t)conf->delay_ns);
	}
	for (uint16_t i = 0; i < n; i++) {
		if (likely(due_ns[i] >= last)) {
			last = due_ns[i];
		} else if (conf->allow_overtaking) {
			overtaking++;
		} else {
			line->waits++;
			line->waited_ns += last - due_ns[i];
			due_ns[i] = last;
		}
	}
	line->last_due = last;
	if (conf->jitter)
		moments_add(line, t_ns, due_ns, n);
	return overtaking;
}

static __attribute__((noinline)) uint16_t push_on_wheel(struct line *line, struct wheel *wheel,
                                                        struct holder *holder,
                                                        const struct burst *burst, uint16_t from,
                                                        uint16_t n, const simtime *due_ns,
                                                        bool as_one)
{
	simtime same[BURST_ROOM];

	for (uint16_t i = 0; as_one && i < n; i++)
		same[i] = due_ns[0];
	return wheel_burst_push(wheel, holder, line->cloud, burst, from, n, as_one ? same : due_ns,
	                        wheel == line->wheel);
}

/* `wheel`: where they are put; NULL: the log. */
static inline uint16_t push(struct line *line, struct wheel *wheel, struct holder *holder,
                            const struct burst *burst, uint16_t from, uint16_t n,
                            const simtime *due_ns, bool as_one)
{
	uint16_t pushed;

	if (unlikely(line->limited) && !in_flight_reserve(line->in_flight, &holder->arena, n))
		return 0;
	if (wheel)
		pushed = push_on_wheel(line, wheel, holder, burst, from, n, due_ns, as_one);
	else
		pushed = train_push(&line->log, holder, burst, from, n, due_ns, as_one);
	line->held += pushed;
	for (uint16_t i = 0; unlikely(line->limited) && i < pushed; i++)
		in_flight_note(line->in_flight, due_ns[as_one ? 0 : i]);
	return pushed;
}

uint16_t line_push(struct line *line, struct holder *holder, const struct burst *burst,
                   uint16_t from, uint16_t n, const simtime *due_ns, bool as_one)
{
	return push(line, wheel_for(line), holder, burst, from, n, due_ns, as_one);
}

bool line_push_event(struct line *line, struct wheel *events, struct holder *holder,
                     const struct burst *burst, simtime now)
{
	return push(line, events, holder, burst, 0, 1, &now, false) == 1;
}

uint16_t line_push_held(struct line *line, struct holder *holder, const struct held *const *held,
                        uint16_t n, const simtime *due_ns)
{
	struct wheel *wheel = wheel_for(line);
	struct held *to;
	uint16_t pushed;

	if (unlikely(line->limited) && !in_flight_reserve(line->in_flight, &holder->arena, n))
		return 0;
	for (pushed = 0; pushed < n; pushed++) {
		const struct held *from = held[pushed];

		to = wheel ? wheel_append(wheel, due_ns[pushed], line->cloud, from->stored_bytes)
		           : log_append(&line->log, &holder->arena, from->stored_bytes);
		if (unlikely(!to))
			break;
		if (!wheel)
			to->t_ns = due_ns[pushed];
		hold_record(to, from);
	}
	for (uint16_t i = 0; unlikely(line->limited) && i < pushed; i++)
		in_flight_note(line->in_flight, due_ns[i]);
	line->held += pushed;
	return pushed;
}

/* Returns the first packet of the line's own wheel that is due by `now`, and *due, or NULL. */
static const struct held *wheel_first(const struct line *line, simtime now, simtime *due)
{
	*due = SIMTIME_NEVER;
	return line->wheel && line->wheel->records ? wheel_front(line->wheel, now, due) : NULL;
}

bool line_front(struct line *line, simtime now, struct held *head)
{
	simtime due;
	const struct held *held = wheel_first(line, now, &due);

	if (held && due < train_next(&line->log)) {
		*head = *held;
		head->t_ns = due;
		return true;
	}
	if (train_next(&line->log) > now)
		return false;
	train_front(&line->log, head);
	return true;
}

void line_drop(struct line *line, struct holder *holder, simtime now)
{
	simtime due;
	const struct held *held = wheel_first(line, now, &due);

	if (held && due < train_next(&line->log)) {
		hold_drop(holder, held);
		wheel_pass(line->wheel, 1);
	} else {
		line->prefetch.walk.at = NULL;
		train_drop(&line->log, holder);
	}
	line->held--;
}

uint64_t line_pop(struct line *line, struct holder *holder, simtime now, struct outlet *outlet,
                  uint32_t most)
{
	const uint32_t begin = outlet->n;
	uint64_t bytes = 0;
	uint32_t before;
	simtime due;

	line->prefetch.walk.at = holder->kept > 0 ? line->prefetch.walk.at : NULL;
	if (unlikely(holder->kept > 0))
		prefetch_go(&line->prefetch, &line->log, RTE_MIN(OUTLET_ROOM - begin, most));
	do {
		before = outlet->n;
		/* Packets of the log leave first until the first one of the wheel is due. If the
		 * log is empty, any instant will do. */
		due = SIMTIME_NEVER;
		if (unlikely(line->wheel && line->wheel->records > 0)) {
			due = 0;
			if (line->log.records > 0)
				wheel_first(line, now, &due);
		}
		bytes += train_pop(&line->log, holder, simtime_min(now, due), outlet, most);
		most -= outlet->n - before;
		if (unlikely(line->prefetch.walk.at != NULL))
			prefetch_follow(&line->prefetch, outlet->n - before);
		before = outlet->n;
		if (due <= now)
			bytes += wheel_burst_pop(line->wheel, holder,
			                         simtime_min(now, train_next(&line->log) - 1),
			                         outlet, most);
		most -= outlet->n - before;
	} while (due <= now && line->log.records > 0 && outlet->n > before);
	line->held -= outlet->n - begin;
	return bytes;
}

uint64_t line_clear(struct line *line, struct holder *holder)
{
	uint64_t cleared = hold_drop_all(holder, &line->back.packets);

	log_clear(&line->back.notes, &holder->arena);
	line->back_deadline = SIMTIME_NEVER;
	if (line->in_flight)
		in_flight_clear(line->in_flight, &holder->arena);
	for (; line->log.records; cleared++)
		train_drop(&line->log, holder);
	log_clear(&line->log, &holder->arena);
	line->prefetch.walk.at = NULL;
	cleared += wheel_burst_drop(line->wheel, holder);
	line->drains = false;
	line->held -= cleared;
	return cleared;
}
