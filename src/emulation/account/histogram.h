/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A histogram of nanoseconds that is as fine as its values allow. As in HDR, each octave has 2^bits
 * buckets of one width. There are HISTOGRAM_BUCKETS in all, and they hold what lies between the
 * minimum and the maximum: `bits` is the greatest number, up to HISTOGRAM_BITS, with which that is
 * possible. If a new minimum or maximum demands it, `bits` gets smaller, and neighbours are added
 * up; this happens HISTOGRAM_BITS times at most until the histogram is cleared.
 *
 *   the greatest value is less than so many times the least   1.1    2    4   16  256  65,536  any
 *   a bucket is at most so many % of its values wide         0.02  0.1  0.2  0.4  0.8     1.6  6.3
 *
 * (At most 3.1 % up to 68 s.) The minimum and the maximum are exact. A percentile is interpolated
 * by its rank within its bucket, so it is off by less than the bucket is wide, and a constant is
 * exact. From 0 to 2^48 ns (78 hours); larger values fall into the last bucket and stay exact in
 * `max`.
 *
 * The same values give the same histogram, in whatever order they come.
 *
 * Thread: one writer, the owner. Others read by histogram_read and histogram_merge.
 */
#ifndef WEIR_HISTOGRAM_H
#define WEIR_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#define HISTOGRAM_BITS    16u
#define HISTOGRAM_BUCKETS 1024u /* a power of two */
#define HISTOGRAM_MOST    ((UINT64_C(1) << 48) - 1)

struct histogram {
	uint64_t count;
	uint64_t min, max;
	uint64_t sum;
	uint64_t lacks; /* HISTOGRAM_BITS - bits; histogram.c: also that they are changing */
	/* Bucket number n, of all numbers with these bits, is at n % HISTOGRAM_BUCKETS. */
	uint64_t bucket[HISTOGRAM_BUCKETS];
};

static inline uint32_t histogram_bits(const struct histogram *h)
{
	return HISTOGRAM_BITS - (uint32_t)h->lacks;
}

/* Returns the shift of a value, which is the same within an octave. Below 2^(bits + 1), each bucket
 * is one value. */
static inline uint32_t histogram_shift_of(uint64_t value, uint32_t bits)
{
	return 63u - (uint32_t)__builtin_clzll(value | UINT64_C(1) << bits) - bits;
}

/* Returns the number of the bucket that holds a value. */
static inline uint32_t histogram_bucket_of(uint64_t value, uint32_t bits)
{
	const uint64_t most = HISTOGRAM_MOST;
	const uint64_t v = value < most ? value : most;
	const uint32_t shift = histogram_shift_of(v, bits);

	return (shift << bits) + (uint32_t)(v >> shift);
}

/* Returns the lowest value of a bucket: bucket i holds [floor(i), floor(i + 1)). */
uint64_t histogram_bucket_floor(uint32_t bucket, uint32_t bits);
/* Makes room for values from `least` to `greatest`, which becomes the range of the histogram,
 * together with what it has. */
void histogram_reach(struct histogram *h, uint64_t least, uint64_t greatest);

/* Adds the value `times` times. */
static inline void histogram_add(struct histogram *h, uint64_t value, uint64_t times)
{
	if (times == 0)
		return;
	if (__builtin_expect(h->count == 0 || value < h->min || value > h->max, 0))
		histogram_reach(h, value, value);
	h->sum += value * times;
	h->bucket[histogram_bucket_of(value, histogram_bits(h)) % HISTOGRAM_BUCKETS] += times;
	h->count += times;
}

/* Adds the differences to[i] - from[i], in order; to `twin`, too, unless that is NULL. */
void histogram_add_spans(struct histogram *h, struct histogram *twin, const uint64_t *from,
                         const uint64_t *to, uint32_t n);

void histogram_clear(struct histogram *h);
/* Returns the value at or below which `per_million` of the counts lie: 500000 is the median.
 * Returns 0 if the histogram is empty. */
uint64_t histogram_percentile(const struct histogram *h, uint32_t per_million);
/* Returns how many decimal digits of a percentile mean something. */
int histogram_digits(const struct histogram *h);
/* Copies `from`, which another thread may be writing meanwhile. Words are a moment old. If that
 * thread stands still while it changes `bits`, the copy is empty. */
void histogram_read(struct histogram *into, const struct histogram *from);
/* Adds `from`, which another thread may be writing meanwhile. */
void histogram_merge(struct histogram *into, const struct histogram *from);

/* Goes through the buckets that are not empty, in order:
 *
 *   for (struct histogram_walk w = histogram_walk(h); histogram_walk_next(&w);) */
struct histogram_walk {
	const struct histogram *h;
	uint32_t next, end; /* numbers of buckets */
	uint64_t low, top;  /* the least and the greatest value of this bucket */
	uint64_t count;
};
struct histogram_walk histogram_walk(const struct histogram *h);
bool histogram_walk_next(struct histogram_walk *walk);

/* The contents of a histogram at an instant, in little memory. */
struct histogram_part {
	uint64_t count, sum;
	uint32_t n;
	struct histogram_count {
		uint64_t value; /* of the bucket, the lowest */
		uint64_t count;
	} * counts; /* owned */
};
/* Returns false if there is no memory. */
bool histogram_part_make(struct histogram_part *part, const struct histogram *h);
void histogram_part_free(struct histogram_part *part);
/* Subtracts the earlier contents. The minimum and maximum of the rest become the bounds of its
 * buckets, within those of the whole; if the rest lies in one bucket, both become its mean. */
void histogram_less(struct histogram *h, const struct histogram_part *part);

#endif
