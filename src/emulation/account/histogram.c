/* SPDX-License-Identifier: BSD-3-Clause */
#include "account/histogram.h"

#include <stdlib.h>
#include <string.h>

#include <rte_pause.h>

#include "account/counter_read.h"

/* Added to `lacks` while buckets are added up: a reader waits. */
#define CHANGING   UINT64_C(256)
#define READ_TRIES 100000

#define DIGITS_LEAST 3
#define DIGITS_MOST  6

static uint64_t *at(struct histogram *h, uint32_t number)
{
	return &h->bucket[number % HISTOGRAM_BUCKETS];
}

/* ---- writing ---- */

/* Adds up neighbours, so that an octave has 2^bits buckets. */
static void coarsen(struct histogram *h, uint32_t bits)
{
	uint64_t bucket[HISTOGRAM_BUCKETS] = {0};

	for (struct histogram_walk w = histogram_walk(h); histogram_walk_next(&w);)
		bucket[histogram_bucket_of(w.low, bits) % HISTOGRAM_BUCKETS] += w.count;
	__atomic_store_n(&h->lacks, h->lacks + CHANGING, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(h->bucket, bucket, sizeof(bucket));
}

/* Does histogram_reach with at most `bits`. */
static void reach(struct histogram *h, uint64_t least, uint64_t greatest, uint32_t bits)
{
	const uint64_t min = h->count == 0 || least < h->min ? least : h->min;
	const uint64_t max = h->count == 0 || greatest > h->max ? greatest : h->max;

	while (histogram_bucket_of(max, bits) - histogram_bucket_of(min, bits) >= HISTOGRAM_BUCKETS)
		bits--;
	if (h->count > 0 && bits < histogram_bits(h))
		coarsen(h, bits);
	h->min = min;
	h->max = max;
	__atomic_store_n(&h->lacks, HISTOGRAM_BITS - bits, __ATOMIC_RELEASE);
}

void histogram_reach(struct histogram *h, uint64_t least, uint64_t greatest)
{
	reach(h, least, greatest, h->count == 0 ? HISTOGRAM_BITS : histogram_bits(h));
}

/* Counts the differences to[i] - from[i], which lie between `least` and `greatest`; in `twin`, too,
 * unless that is NULL. A twin has the same bits. */
static inline void count_spans(struct histogram *h, struct histogram *twin, const uint64_t *from,
                               const uint64_t *to, uint32_t n, uint64_t least, uint64_t greatest)
{
	const uint32_t bits = histogram_bits(h);
	const uint32_t shift = histogram_shift_of(least, bits), octave = shift << bits;

	if (greatest > HISTOGRAM_MOST || histogram_shift_of(greatest, bits) != shift) {
		for (uint32_t i = 0; i < n; i++) {
			const uint32_t bucket = histogram_bucket_of(to[i] - from[i], bits);

			(*at(h, bucket))++;
			if (twin)
				(*at(twin, bucket))++;
		}
		return;
	}
	for (uint32_t i = 0; !twin && i < n; i++)
		h->bucket[(octave + ((to[i] - from[i]) >> shift)) % HISTOGRAM_BUCKETS]++;
	for (uint32_t i = 0; twin && i < n; i++) {
		const uint64_t bucket = octave + ((to[i] - from[i]) >> shift);

		h->bucket[bucket % HISTOGRAM_BUCKETS]++;
		twin->bucket[bucket % HISTOGRAM_BUCKETS]++;
	}
}

static inline void reach_spans(struct histogram *h, uint64_t least, uint64_t greatest)
{
	if (__builtin_expect(h->count == 0 || least < h->min || greatest > h->max, 0))
		histogram_reach(h, least, greatest);
}

void histogram_add_spans(struct histogram *h, struct histogram *twin, const uint64_t *from,
                         const uint64_t *to, uint32_t n)
{
	uint64_t min = UINT64_MAX, max = 0, sum = 0;

	if (n == 0)
		return;
	/* Two loops: the compiler vectorizes the first one. */
	for (uint32_t i = 0; i < n; i++) {
		uint64_t value = to[i] - from[i];

		min = value < min ? value : min;
		max = value > max ? value : max;
		sum += value;
	}
	reach_spans(h, min, max);
	if (twin)
		reach_spans(twin, min, max);
	if (twin && twin->lacks != h->lacks) {
		count_spans(h, NULL, from, to, n, min, max);
		count_spans(twin, NULL, from, to, n, min, max);
	} else {
		count_spans(h, twin, from, to, n, min, max);
	}
	h->sum += sum;
	h->count += n;
	if (twin) {
		twin->sum += sum;
		twin->count += n;
	}
}

void histogram_clear(struct histogram *h)
{
	memset(h, 0, sizeof(*h));
}

/* ---- reading ---- */

uint64_t histogram_bucket_floor(uint32_t bucket, uint32_t bits)
{
	if (bucket >> bits < 2)
		return bucket;
	uint32_t shift = (bucket >> bits) - 1;

	return (uint64_t)(bucket - (shift << bits)) << shift;
}

struct histogram_walk histogram_walk(const struct histogram *h)
{
	struct histogram_walk walk = {.h = h};

	if (h->count > 0) {
		walk.next = histogram_bucket_of(h->min, histogram_bits(h));
		walk.end = histogram_bucket_of(h->max, histogram_bits(h)) + 1;
	}
	return walk;
}

bool histogram_walk_next(struct histogram_walk *walk)
{
	const uint32_t bits = histogram_bits(walk->h);

	for (; walk->next < walk->end; walk->next++) {
		walk->count = walk->h->bucket[walk->next % HISTOGRAM_BUCKETS];
		if (walk->count == 0)
			continue;
		walk->low = histogram_bucket_floor(walk->next, bits);
		walk->top = histogram_bucket_floor(++walk->next, bits) - 1;
		return true;
	}
	return false;
}

/* Returns the value of one of the counts of a bucket, from 1: they are taken as evenly distributed
 * over what the bucket and the range of all have in common. */
static uint64_t interpolate(const struct histogram_walk *w, uint64_t one)
{
	const uint64_t low = w->low > w->h->min ? w->low : w->h->min;
	const uint64_t top = w->top < w->h->max ? w->top : w->h->max;

	return low + (uint64_t)((unsigned __int128)(top - low) * (2 * one - 1) / (2 * w->count));
}

uint64_t histogram_percentile(const struct histogram *h, uint32_t per_million)
{
	uint64_t seen = 0;
	uint64_t rank;

	if (h->count == 0)
		return 0;
	rank = (uint64_t)(((unsigned __int128)h->count * per_million + 999999) / 1000000);
	if (rank <= 1)
		return h->min;
	for (struct histogram_walk w = histogram_walk(h);
	     rank < h->count && histogram_walk_next(&w); seen += w.count) {
		if (seen + w.count >= rank)
			return interpolate(&w, rank - seen);
	}
	return h->max;
}

int histogram_digits(const struct histogram *h)
{
	const uint64_t bucket = h->max >> histogram_bits(h), range = h->max - h->min;
	const uint64_t width = bucket < range ? bucket : range;
	uint64_t steps = width > 0 ? h->max / width : UINT64_MAX;
	int digits = DIGITS_LEAST;

	for (; digits < DIGITS_MOST && steps >= 1000; steps /= 10)
		digits++;
	return digits;
}

READS_WHILE_IT_RUNS void histogram_read(struct histogram *into, const struct histogram *from)
{
	for (uint32_t tries = 0; tries < READ_TRIES; tries++) {
		uint64_t lacks = __atomic_load_n(&from->lacks, __ATOMIC_ACQUIRE);

		if (lacks < CHANGING) {
			counters_read(into, from, sizeof(*into));
			__atomic_thread_fence(__ATOMIC_ACQUIRE);
			/* Until the next clear, each of them changes in one direction only. */
			if (counter_read(&from->lacks) == lacks && into->lacks == lacks &&
			    counter_read(&from->min) == into->min &&
			    counter_read(&from->max) == into->max)
				return;
		}
		rte_pause();
	}
	histogram_clear(into);
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	struct histogram read;
	uint32_t bits;

	histogram_read(&read, from);
	if (read.count == 0)
		return;
	bits = histogram_bits(&read);
	if (into->count > 0 && histogram_bits(into) < bits)
		bits = histogram_bits(into);
	reach(into, read.min, read.max, bits);
	bits = histogram_bits(into);
	for (struct histogram_walk w = histogram_walk(&read); histogram_walk_next(&w);)
		*at(into, histogram_bucket_of(w.low, bits)) += w.count;
	into->count += read.count;
	into->sum += read.sum;
}

/* ---- differences ---- */

bool histogram_part_make(struct histogram_part *part, const struct histogram *h)
{
	uint32_t n = 0;

	*part = (struct histogram_part){.count = h->count, .sum = h->sum};
	for (struct histogram_walk w = histogram_walk(h); histogram_walk_next(&w);)
		n++;
	part->counts = malloc((n + 1) * sizeof(*part->counts));
	if (!part->counts)
		return false;
	for (struct histogram_walk w = histogram_walk(h); histogram_walk_next(&w);)
		part->counts[part->n++] = (struct histogram_count){w.low, w.count};
	return true;
}

void histogram_part_free(struct histogram_part *part)
{
	free(part->counts);
	*part = (struct histogram_part){.counts = NULL};
}

/* Subtracts `what`, but not below 0. */
static void less(uint64_t *from, uint64_t what)
{
	*from -= what < *from ? what : *from;
}

void histogram_less(struct histogram *h, const struct histogram_part *part)
{
	const uint32_t bits = histogram_bits(h);
	const uint32_t first = histogram_bucket_of(h->min, bits);
	const uint32_t last = histogram_bucket_of(h->max, bits);
	uint64_t low = 0, top = 0;
	uint32_t buckets = 0;

	if (part->count == 0)
		return;
	less(&h->count, part->count);
	less(&h->sum, part->sum);
	for (uint32_t i = 0; i < part->n; i++) {
		const uint32_t bucket = histogram_bucket_of(part->counts[i].value, bits);

		if (bucket >= first && bucket <= last)
			less(at(h, bucket), part->counts[i].count);
	}
	for (struct histogram_walk w = histogram_walk(h); histogram_walk_next(&w); buckets++) {
		low = buckets == 0 ? w.low : low;
		top = w.top;
	}
	if (buckets == 0) {
		histogram_clear(h);
	} else if (buckets == 1) {
		h->min = h->max = (h->sum + h->count / 2) / h->count;
	} else {
		h->min = low > h->min ? low : h->min;
		h->max = top < h->max ? top : h->max;
	}
}
