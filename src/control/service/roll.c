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

/* A hash table: a slot has 0 or an index + 1, and at most half of them are in use. */
struct finder {
	uint32_t *slot, mask;
};

static bool finder_make(struct finder *finder, const struct roll *roll)
{
	uint32_t room = 16;

	while (room < 2 * roll->n)
		room *= 2;
	finder->mask = room - 1;
	finder->slot = calloc(room, sizeof(*finder->slot));
	for (uint32_t i = 0; finder->slot != NULL && i < roll->n; i++) {
		uint32_t at = (uint32_t)(roll->hash[i] >> 20) & finder->mask;

		while (finder->slot[at] != 0)
			at = (at + 1) & finder->mask;
		finder->slot[at] = i + 1;
	}
	return finder->slot != NULL;
}

static uint32_t finder_find(const struct finder *finder, const struct roll *roll, uint64_t hash)
{
	for (uint32_t at = (uint32_t)(hash >> 20) & finder->mask; finder->slot[at] != 0;
	     at = (at + 1) & finder->mask)
		if (roll->hash[finder->slot[at] - 1] == hash)
			return finder->slot[at] - 1;
	return ROLL_NEW;
}

static bool stands_still(const struct roll *roll, const uint64_t *hash, uint32_t n)
{
	return roll->n == n && (n == 0 || memcmp(roll->hash, hash, n * sizeof(*hash)) == 0);
}

int roll_follow(struct roll *roll, const struct scenario *scenario, uint32_t **was)
{
	uint32_t n = scenario->n_clouds;
	uint64_t *hash = calloc(n + 1, sizeof(*hash));
	struct finder finder = {NULL, 0};

	*was = NULL;
	if (hash == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		hash[i] = hash_of(scenario->clouds[i]);
	if (stands_still(roll, hash, n)) {
		free(hash);
		return 0;
	}
	*was = calloc(n + 1, sizeof(**was));
	if (*was == NULL || !finder_make(&finder, roll)) {
		free(*was);
		free(hash);
		*was = NULL;
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++)
		(*was)[i] = finder_find(&finder, roll, hash[i]);
	free(finder.slot);
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
