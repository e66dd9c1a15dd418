/* SPDX-License-Identifier: BSD-3-Clause */
#include "service/roll.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a of the name. */
static uint64_t hash_of(const struct cloud_conf *cloud)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) + cloud->many;

	for (const char *c = cloud->name; *c != '\0'; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	return hash;
}

/* Sets `was`. Returns 0 or -ENOMEM. */
static int find_each(const struct roll *roll, const uint64_t *hash, uint32_t n, uint32_t *was)
{
	/* A hash table: a slot has 0 or an index + 1, and at most half of them are in use. */
	uint32_t *slot, room = 16, at;

	while (room < 2 * roll->n)
		room *= 2;
	slot = calloc(room, sizeof(*slot));
	if (slot == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < roll->n; i++) {
		for (at = (uint32_t)(roll->hash[i] >> 20) & (room - 1); slot[at] != 0;)
			at = (at + 1) & (room - 1);
		slot[at] = i + 1;
	}
	for (uint32_t i = 0; i < n; i++) {
		at = (uint32_t)(hash[i] >> 20) & (room - 1);
		while (slot[at] != 0 && roll->hash[slot[at] - 1] != hash[i])
			at = (at + 1) & (room - 1);
		was[i] = slot[at] != 0 ? slot[at] - 1 : ROLL_NEW;
	}
	free(slot);
	return 0;
}

int roll_follow(struct roll *roll, const struct scenario *scenario, uint32_t **was)
{
	uint32_t n = scenario->n_clouds;
	uint64_t *hash = calloc(n + 1, sizeof(*hash));

	*was = NULL;
	if (hash == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		hash[i] = hash_of(scenario->clouds[i]);
	if (roll->n == n && (n == 0 || memcmp(roll->hash, hash, n * sizeof(*hash)) == 0)) {
		free(hash); /* all indices are unchanged */
		return 0;
	}
	*was = calloc(n + 1, sizeof(**was));
	if (*was == NULL || find_each(roll, hash, n, *was) != 0) {
		free(*was);
		free(hash);
		*was = NULL;
		return -ENOMEM;
	}
	free(roll->hash);
	roll->hash = hash;
	roll->n = n;
	return 0;
}

void roll_release(struct roll *roll)
{
	free(roll->hash);
	*roll = (struct roll){NULL, 0};
}
