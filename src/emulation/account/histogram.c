/* SPDX-License-Identifier: BSD-3-Clause */
#include "account/histogram.h"

#include <stdlib.h>
#include <string.h>

#include "account/counter_read.h"

/* Counts the differences to[i] - from[i], which lie between `least` and `greatest`; in `twin`, too,
 * unless that is NULL. */
static inline void count_spans(struct histogram *h, struct histogram *twin, const uint64_t *from,
                               const uint64_t *to, uint32_t n, uint64_t least, uint64_t greatest)
{
	const uint32_t shift = histogram_shift_of(least), octave = shift << HISTOGRAM_SUB_BITS;

	if (greatest > HISTOGRAM_MOST || histogram_shift_of(greatest) != shift) {
		for (uint32_t i = 0; i < n; i++) {
			const uint32_t bucket = histogram_bucket_of(to[i] - from[i]);

			h->bucket[bucket]++;
			if (twin)
				twin->bucket[bucket]++;
		}
		return;
	}
	for (uint32_t i = 0; !twin && i < n; i++)
		h->bucket[octave + ((to[i] - from[i]) >> shift)]++;
	for (uint32_t i = 0; twin && i < n; i++) {
		const uint64_t bucket = octave + ((to[i] - from[i]) >> shift);

		h->bucket[bucket]++;
		twin->bucket[bucket]++;
	}
}

/* Updates the other fields after n values were counted in the buckets. */
static inline void counted(struct histogram *h, uint32_t n, uint64_t min, uint64_t max,
                           uint64_t sum)
{
	if (h->count == 0 || min < h->min)
		h->min = min;
	if (max > h->max)
		h->max = max;
	h->sum += sum;
	h->count += n;
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
	count_spans(h, twin, from, to, n, min, max);
	counted(h, n, min, max, sum);
	if (twin)
		counted(twin, n, min, max, sum);
}

void histogram_clear(struct histogram *h)
{
	memset(h, 0, sizeof(*h));
}

uint64_t histogram_bucket_floor(uint32_t bucket)
{
	if (bucket < 2 * HISTOGRAM_SUB)
		return bucket;
	uint32_t shift = (bucket >> HISTOGRAM_SUB_BITS) - 1;

	return (uint64_t)(bucket - (shift << HISTOGRAM_SUB_BITS)) << shift;
}

uint64_t histogram_percentile(const struct histogram *h, uint32_t per_million)
{
	uint64_t seen = 0;
	uint64_t rank;

	if (h->count == 0)
		return 0;
	rank = (uint64_t)(((unsigned __int128)h->count * per_million + 999999) / 1000000);
	if (rank == 0)
		return h->min;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen >= rank) {
			uint64_t low = histogram_bucket_floor(i);
			uint64_t high = histogram_bucket_floor(i + 1);
			uint64_t middle = low + (high - low) / 2;

			if (middle < h->min)
				return h->min;
			return middle > h->max ? h->max : middle;
		}
	}
	return h->max;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	uint64_t count = counter_read(&from->count), min = counter_read(&from->min);
	uint64_t max = counter_read(&from->max);

	if (count == 0)
		return;
	if (into->count == 0 || min < into->min)
		into->min = min;
	if (max > into->max)
		into->max = max;
	into->count += count;
	into->sum += counter_read(&from->sum);
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		into->bucket[i] += counter_read(&from->bucket[i]);
}

bool histogram_part_make(struct histogram_part *part, const struct histogram *h)
{
	uint32_t n = 0;

	*part = (struct histogram_part){.count = h->count, .sum = h->sum};
	for (uint32_t i = 0; h->count > 0 && i < HISTOGRAM_BUCKETS; i++)
		n += h->bucket[i] > 0;
	part->bucket = malloc((n + 1) * sizeof(*part->bucket));
	if (!part->bucket)
		return false;
	for (uint32_t i = 0; h->count > 0 && i < HISTOGRAM_BUCKETS; i++) {
		if (h->bucket[i] > 0)
			part->bucket[part->n++] = (struct histogram_bucket){i, h->bucket[i]};
	}
	return true;
}

void histogram_part_free(struct histogram_part *part)
{
	free(part->bucket);
	*part = (struct histogram_part){.bucket = NULL};
}

/* Subtracts `what`, but not below 0. */
static void less(uint64_t *from, uint64_t what)
{
	*from -= what < *from ? what : *from;
}

void histogram_less(struct histogram *h, const struct histogram_part *part)
{
	uint32_t first = HISTOGRAM_BUCKETS, last = 0;

	if (part->count == 0)
		return;
	less(&h->count, part->count);
	less(&h->sum, part->sum);
	for (uint32_t i = 0; i < part->n; i++)
		less(&h->bucket[part->bucket[i].bucket], part->bucket[i].count);
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (h->bucket[i] == 0)
			continue;
		first = first < i ? first : i;
		last = i;
	}
	if (first > last || h->count == 0) {
		histogram_clear(h);
	} else if (first == last) {
		h->min = h->max = (h->sum + h->count / 2) / h->count;
	} else {
		uint64_t low = histogram_bucket_floor(first);
		uint64_t high = histogram_bucket_floor(last + 1) - 1;

		h->min = low > h->min ? low : h->min;
		h->max = high < h->max ? high : h->max;
	}
}
