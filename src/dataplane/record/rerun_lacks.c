/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/rerun_lacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "packet/digest.h"

int rerun_lacks_add(struct rerun_lacks *lacks, uint32_t worker, const struct tape_entry *entry)
{
	/* A lack that cannot be repeated ends the repetition at its entry (rerun_engine.c). */
	if (entry->flags >= WANTS)
		return 0;
	if (lacks->n == lacks->room) {
		const size_t room = 2 * lacks->room + 64;
		struct lack *list = realloc(lacks->list, room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		lacks->list = list;
		lacks->room = room;
	}
	lacks->list[lacks->n++] = (struct lack){.worker = worker,
	                                        .cloud = entry->word,
	                                        .want = entry->flags,
	                                        .n = entry->n,
	                                        .number = entry->number};
	return 0;
}

static int place(const struct lack *lack, uint32_t worker, uint32_t cloud, uint32_t want)
{
	if (lack->worker != worker)
		return lack->worker < worker ? -1 : 1;
	if (lack->cloud != cloud)
		return lack->cloud < cloud ? -1 : 1;
	return lack->want < want ? -1 : lack->want > want;
}

static int order(const void *a, const void *b)
{
	const struct lack *one = a, *two = b;
	const int at = place(one, two->worker, two->cloud, two->want);

	if (at != 0)
		return at;
	return one->number < two->number ? -1 : one->number > two->number;
}

void rerun_lacks_sort(struct rerun_lacks *lacks)
{
	if (lacks->n > 0)
		qsort(lacks->list, lacks->n, sizeof(*lacks->list), order);
}

void rerun_lacks_free(struct rerun_lacks *lacks)
{
	free(lacks->list);
	*lacks = (struct rerun_lacks){0};
}

/* Returns the first lack of this want that ends behind the number, or NULL if there is none. */
static const struct lack *next_of(const struct rerun_scarcity *scarcity, const char *name,
                                  enum want want, uint64_t number)
{
	const uint32_t cloud = digest_name(name);
	size_t low = 0, high = scarcity->n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct lack *lack = &scarcity->list[middle];
		const int at = place(lack, lack->worker, cloud, want);

		if (at < 0 || (at == 0 && lack->number + lack->n <= number))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == scarcity->n ||
	    place(&scarcity->list[low], scarcity->list[low].worker, cloud, want) != 0)
		return NULL;
	return &scarcity->list[low];
}

static uint32_t ahead(const struct scarcity *scarcity, const char *cloud, enum want want,
                      uint64_t number, uint32_t n)
{
	const struct lack *next =
	        next_of((const struct rerun_scarcity *)scarcity, cloud, want, number);

	if (!next)
		return n;
	return next->number <= number ? 0 : (uint32_t)RTE_MIN((uint64_t)n, next->number - number);
}

static void lacked(struct scarcity *scarcity, const char *cloud, enum want want, uint64_t number,
                   uint32_t n)
{
	struct rerun_scarcity *rerun_scarcity = (struct rerun_scarcity *)scarcity;

	(void)n; /* packets that must find no memory are asked about one by one */
	if (want >= WANTS || ahead(scarcity, cloud, want, number, 1) > 0)
		rerun_scarcity->starved = true;
}

void rerun_scarcity_make(struct rerun_scarcity *rerun_scarcity, const struct rerun_lacks *lacks,
                         uint32_t worker)
{
	size_t from = 0, n = 0;

	while (from < lacks->n && lacks->list[from].worker < worker)
		from++;
	while (from + n < lacks->n && lacks->list[from + n].worker == worker)
		n++;
	*rerun_scarcity = (struct rerun_scarcity){
	        .scarcity = {.forces = n > 0, .ahead = ahead, .lacked = lacked},
	        .list = lacks->list + from,
	        .n = n,
	};
}
