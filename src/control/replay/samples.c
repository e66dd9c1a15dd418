/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/samples.h"

#include <stdlib.h>

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

struct sample {
	double t, value;
	size_t place;
};

static int compare(const void *one, const void *two)
{
	const struct sample *a = one, *b = two;

	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	return a->place < b->place ? -1 : 1;
}

void samples_sort(struct samples *samples)
{
	struct sample *sorted = calloc(samples->n + 1, sizeof(*sorted));

	if (!sorted) {
		samples->failed = true;
		samples->n = 0;
		return;
	}
	for (size_t i = 0; i < samples->n; i++)
		sorted[i] = (struct sample){samples->t[i], samples->value[i], i};
	qsort(sorted, samples->n, sizeof(*sorted), compare);
	for (size_t i = 0; i < samples->n; i++) {
		samples->t[i] = sorted[i].t;
		samples->value[i] = sorted[i].value;
	}
	free(sorted);
}

void samples_free(struct samples *samples)
{
	free(samples->t);
	free(samples->value);
	*samples = (struct samples){.t = NULL};
}
