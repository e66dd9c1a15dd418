/* SPDX-License-Identifier: BSD-3-Clause */
#include "account/histogram.h"

#include <string.h>

#include "account/counter_read.h"

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
