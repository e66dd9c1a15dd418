/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/replay_command.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 1024u

static bool samples_grow(struct samples *samples)
{
	size_t room = samples->room ? 2 * samples->room : ROOM_FIRST;
	double *t = realloc(samples->t, room * sizeof(*t));
	double *value;

	if (t)
		samples->t = t;
	value = realloc(samples->value, room * sizeof(*value));
	if (value)
		samples->value = value;
	if (!t || !value)
		return false;
	samples->room = room;
	return true;
}

static void samples_halve(struct samples *samples)
{
	for (size_t i = 0; i < samples->n / 2; i++) {
		double first = samples->value[2 * i], second = samples->value[2 * i + 1];

		samples->t[i] = samples->t[2 * i];
		samples->value[i] = samples->greatest && second > first ? second : first;
	}
	samples->n /= 2;
	samples->stride *= 2;
}

void samples_add(struct samples *samples, double t, double value)
{
	if (samples->stride == 0)
		samples->stride = 1;
	if (samples->phase > 0 && samples->phase < samples->stride) {
		double *last = &samples->value[samples->n - 1];

		samples->phase++;
		if (samples->greatest && value > *last)
			*last = value;
		return;
	}
	if (samples->n == SAMPLES_MAX)
		samples_halve(samples);
	if (samples->failed || (samples->n == samples->room && !samples_grow(samples))) {
		samples->failed = true;
		return;
	}
	samples->t[samples->n] = t;
	samples->value[samples->n] = value;
	samples->n++;
	samples->phase = 1;
}

void samples_free(struct samples *samples)
{
	free(samples->t);
	free(samples->value);
	*samples = (struct samples){.t = NULL};
}

#define SLOT_FIRST_NS SIMTIME_MS

static void halve(struct throughput *throughput)
{
	for (size_t i = 0; i < THROUGHPUT_SLOTS / 2; i++)
		throughput->bytes[i] = throughput->bytes[2 * i] + throughput->bytes[2 * i + 1];
	memset(throughput->bytes + THROUGHPUT_SLOTS / 2, 0,
	       THROUGHPUT_SLOTS / 2 * sizeof(*throughput->bytes));
	throughput->slot_ns *= 2;
	throughput->n = (throughput->n + 1) / 2;
}

static size_t slot_of(const struct throughput *throughput, simtime t_ns)
{
	return t_ns > throughput->from_ns ? (t_ns - throughput->from_ns) / throughput->slot_ns : 0;
}

void throughput_add(struct throughput *throughput, simtime from_ns, simtime to_ns, uint32_t bytes)
{
	size_t first, last;

	if (throughput->slot_ns == 0) {
		throughput->from_ns = from_ns;
		throughput->slot_ns = SLOT_FIRST_NS;
	}
	while (slot_of(throughput, to_ns) >= THROUGHPUT_SLOTS)
		halve(throughput);
	first = slot_of(throughput, from_ns);
	last = slot_of(throughput, to_ns);
	if (first >= last)
		throughput->bytes[last] += bytes;
	/* of each slot that it takes a part of: the share of its time that lies there */
	for (size_t slot = first; first < last && slot <= last; slot++) {
		simtime begin = throughput->from_ns + slot * throughput->slot_ns;
		simtime from = simtime_max(begin, from_ns);
		simtime to = simtime_min(begin + throughput->slot_ns, to_ns);

		throughput->bytes[slot] +=
		        bytes * (double)(to - from) /
		        (double)(to_ns - simtime_max(from_ns, throughput->from_ns));
	}
	if (throughput->n <= last)
		throughput->n = last + 1;
}

size_t throughput_points(const struct throughput *throughput, simtime start_ns, double *t,
                         double *value, double *step_ns)
{
	double begin = (double)throughput->from_ns - (double)start_ns;
	size_t slots = (throughput->n + THROUGHPUT_STEPS - 1) / THROUGHPUT_STEPS, n = 0;

	*step_ns = (double)throughput->slot_ns * (double)slots;
	if (throughput->n == 0)
		return 0;
	if (begin > 0) {
		t[n] = 0;
		value[n++] = 0;
	}
	for (size_t i = 0; i < throughput->n; i += slots) {
		double bytes = 0;

		for (size_t k = i; k < i + slots && k < throughput->n; k++)
			bytes += throughput->bytes[k];
		t[n] = begin + (double)i * (double)throughput->slot_ns;
		value[n++] = bytes * 8e9 / *step_ns;
	}
	t[n] = t[n - 1] + *step_ns;
	value[n++] = 0;
	return n;
}
