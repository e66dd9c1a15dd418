/* SPDX-License-Identifier: BSD-3-Clause */
#include "diff/fate_differences.h"

#include <string.h>

#include <rte_common.h>

const char *became_name(uint32_t became)
{
	if (became == BECAME_DELIVERED)
		return "delivered";
	return became == BECAME_NOTHING ? "not decided" : reason_name((enum reason)became);
}

static bool is_earlier(const struct fate_example *one, const struct fate_example *other)
{
	if (one->t_ns != other->t_ns)
		return one->t_ns < other->t_ns;
	if (one->port != other->port)
		return one->port < other->port;
	return one->packet < other->packet;
}

/* Keeps the earliest examples. Pairs do not come in the order of their packets: a packet is decided
 * when it leaves a queue. */
static void add_example(struct fate_change *change, const struct fate_example *example)
{
	uint32_t at = (uint32_t)RTE_MIN(change->packets, (uint64_t)FATE_EXAMPLES);

	change->packets++;
	if (at == FATE_EXAMPLES && !is_earlier(example, &change->few[--at]))
		return;
	for (; at > 0 && is_earlier(example, &change->few[at - 1]); at--)
		change->few[at] = change->few[at - 1];
	change->few[at] = *example;
}

static void take_first(struct fate_first *first, const struct fate_example *at, uint32_t from,
                       uint32_t to, int64_t later_ns)
{
	if (!first->found || is_earlier(at, &first->at))
		*first = (struct fate_first){true, *at, from, to, later_ns};
}

static int64_t add_delay(struct fate_differences *differences, uint64_t before_ns,
                         uint64_t after_ns)
{
	if (after_ns > before_ns)
		histogram_add(&differences->later, after_ns - before_ns, 1);
	else if (after_ns < before_ns)
		histogram_add(&differences->earlier, before_ns - after_ns, 1);
	else
		differences->equal++;
	return (int64_t)(after_ns - before_ns);
}

void fate_differences_add(struct fate_differences *differences, const struct fate_seen *first,
                          const struct fate_seen *second)
{
	const struct fate_seen *known = first ? first : second;
	const struct fate_example at = {known->packet, known->t_in_ns, known->port};
	const uint32_t from = first ? first->became : BECAME_NOTHING;
	const uint32_t to = second ? second->became : BECAME_NOTHING;
	const bool other_length = first && second && first->wire_bytes != second->wire_bytes;
	int64_t later_ns = 0;

	differences->pairs++;
	differences->other_length += other_length;
	if (from != to)
		add_example(&differences->changes[from][to], &at);
	else if (from == BECAME_DELIVERED)
		later_ns = add_delay(differences, first->delay_ns, second->delay_ns);
	if (from != to || later_ns != 0 || other_length)
		take_first(&differences->first, &at, from, to, later_ns);
}

bool fate_differences_none(const struct fate_differences *differences)
{
	return !differences->first.found &&
	       memcmp(differences->own[0], differences->own[1], sizeof(differences->own[0])) == 0;
}

uint64_t fate_differences_changed(const struct fate_differences *differences)
{
	uint64_t n = 0;

	for (uint32_t from = 0; from < BECAME_KINDS; from++) {
		for (uint32_t to = 0; to < BECAME_KINDS; to++)
			n += differences->changes[from][to].packets;
	}
	return n;
}

/* Returns the difference at a rank: first the earlier ones, by descending amount, then the equal
 * ones, then the later ones. The extremes are taken from the histograms' greatest values, from
 * which a percentile may differ. */
static int64_t delay_at(const struct fate_differences *differences, uint64_t rank)
{
	const struct histogram *earlier = &differences->earlier, *later = &differences->later;
	uint64_t n = earlier->count;

	if (rank == 0 && n > 0)
		return -(int64_t)earlier->max;
	if (rank < n)
		return -(int64_t)histogram_percentile(earlier,
		                                      (uint32_t)((n - rank) * 1000000 / n));
	rank -= n;
	if (rank < differences->equal)
		return 0;
	rank -= differences->equal;
	n = later->count;
	if (rank + 1 == n)
		return (int64_t)later->max;
	return (int64_t)histogram_percentile(later, (uint32_t)((rank + 1) * 1000000 / n));
}

int64_t fate_differences_delay(const struct fate_differences *differences, uint32_t per_million)
{
	const uint64_t n =
	        differences->earlier.count + differences->equal + differences->later.count;

	if (n == 0)
		return 0;
	return delay_at(differences,
	                (uint64_t)((unsigned __int128)(n - 1) * per_million / 1000000));
}
