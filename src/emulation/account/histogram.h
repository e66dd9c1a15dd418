/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A histogram of nanoseconds in the manner of HDR: 32 buckets per octave, so that a percentile is
 * accurate to 1.6 %. The minimum and the maximum are exact, and percentiles are clamped to them, so
 * that a constant delay is shown exactly. From 0 to 2^48 ns (78 hours); larger values fall into the
 * last bucket and stay exact in `max`.
 *
 * Thread: one writer, the owner; readers may see values a moment old (each word is written whole).
 */
#ifndef WEIR_HISTOGRAM_H
#define WEIR_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#define HISTOGRAM_SUB_BITS 5
#define HISTOGRAM_SUB      (1u << HISTOGRAM_SUB_BITS)
#define HISTOGRAM_MOST     ((UINT64_C(1) << 48) - 1)
#define HISTOGRAM_BUCKETS  (HISTOGRAM_SUB * (48 - HISTOGRAM_SUB_BITS + 1))

struct histogram {
	uint64_t count;
	uint64_t min, max;
	uint64_t sum;
	uint64_t bucket[HISTOGRAM_BUCKETS];
};

/* Returns the shift of a value, which is the same within an octave. Below 2 * HISTOGRAM_SUB, each
 * bucket is one value. */
static inline uint32_t histogram_shift_of(uint64_t value)
{
	return 63u - (uint32_t)__builtin_clzll(value | HISTOGRAM_SUB) - HISTOGRAM_SUB_BITS;
}

static inline uint32_t histogram_bucket_of(uint64_t value)
{
	uint64_t most = HISTOGRAM_MOST;
	uint64_t v = value < most ? value : most;
	uint32_t shift = histogram_shift_of(v);

	return (shift << HISTOGRAM_SUB_BITS) + (uint32_t)(v >> shift);
}

/* Adds the value `times` times. */
static inline void histogram_add(struct histogram *h, uint64_t value, uint64_t times)
{
	if (times == 0)
		return;
	if (h->count == 0 || value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->sum += value * times;
	h->bucket[histogram_bucket_of(value)] += times;
	h->count += times;
}

/* Adds the differences to[i] - from[i], in order; to `twin`, too, unless that is NULL. */
void histogram_add_spans(struct histogram *h, struct histogram *twin, const uint64_t *from,
                         const uint64_t *to, uint32_t n);

void histogram_clear(struct histogram *h);
/* Returns the lowest value of a bucket: bucket i holds [floor(i), floor(i + 1)). */
uint64_t histogram_bucket_floor(uint32_t bucket);
/* Returns the value below which `per_million` of the counts lie: 500000 is the median. Returns 0 if
 * the histogram is empty. */
uint64_t histogram_percentile(const struct histogram *h, uint32_t per_million);
/* Adds `from`, which another thread may be writing meanwhile. */
void histogram_merge(struct histogram *into, const struct histogram *from);

/* The contents of a histogram at an instant, in little memory. */
struct histogram_part {
	uint64_t count, sum;
	uint32_t n;
	struct histogram_bucket {
		uint32_t bucket;
		uint64_t count;
	} * bucket; /* owned */
};
/* Returns false if there is no memory. */
bool histogram_part_make(struct histogram_part *part, const struct histogram *h);
void histogram_part_free(struct histogram_part *part);
/* Subtracts the earlier contents. The minimum and maximum of the rest become the bounds of its
 * buckets, within those of the whole; if the rest lies in one bucket, both become its mean. */
void histogram_less(struct histogram *h, const struct histogram_part *part);

#endif
