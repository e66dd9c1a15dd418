/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario/names.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a. */
static uint32_t hash_of(const char *name)
{
	uint32_t hash = 0x811c9dc5;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x01000193;
	return hash;
}

/* Returns the index of the name's entry, or of the entry where it would go. */
static uint32_t place_of(const struct names *names, const char *name, uint32_t hash)
{
	uint32_t at = hash & (names->room - 1);

	while (names->entries[at].name &&
	       (names->entries[at].hash != hash || strcmp(names->entries[at].name, name) != 0))
		at = (at + 1) & (names->room - 1);
	return at;
}

uint32_t names_find(const struct names *names, const char *name)
{
	const struct names_entry *entry;

	if (names->n == 0)
		return NAMES_NONE;
	entry = &names->entries[place_of(names, name, hash_of(name))];
	return entry->name ? entry->value : NAMES_NONE;
}

/* Keeps the table at most half full. Returns false if there is no memory. */
static bool names_grow(struct names *names)
{
	struct names more = {.n = names->n, .room = names->room ? 2 * names->room : 16};

	if (2 * (names->n + 1) <= names->room)
		return true;
	more.entries = calloc(more.room, sizeof(*more.entries));
	if (!more.entries)
		return false;
	for (uint32_t i = 0; i < names->room; i++) {
		const struct names_entry *entry = &names->entries[i];

		if (entry->name)
			more.entries[place_of(&more, entry->name, entry->hash)] = *entry;
	}
	free(names->entries);
	*names = more;
	return true;
}

bool names_add(struct names *names, const char *name, uint32_t value)
{
	uint32_t hash = hash_of(name);

	if (!names_grow(names))
		return false;
	names->entries[place_of(names, name, hash)] =
	        (struct names_entry){.name = name, .hash = hash, .value = value};
	names->n++;
	return true;
}

void names_empty(struct names *names)
{
	if (names->entries)
		memset(names->entries, 0, names->room * sizeof(*names->entries));
	names->n = 0;
}

void names_clear(struct names *names)
{
	free(names->entries);
	memset(names, 0, sizeof(*names));
}
