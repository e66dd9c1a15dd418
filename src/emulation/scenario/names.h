/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Maps names to numbers: an open hash table, for scenarios of tens of thousands of clouds.
 *
 * Ownership: the names belong to the caller and must live as long as they are in the table.
 *
 * Thread: one writer at a time; readers only while nobody writes.
 */
#ifndef WEIR_NAMES_H
#define WEIR_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#define NAMES_NONE UINT32_MAX

struct names_entry {
	const char *name; /* NULL: free */
	uint32_t hash;
	uint32_t value;
};

struct names {
	uint32_t n, room; /* room: a power of two, or 0 */
	struct names_entry *entries;
};

/* Returns the value, or NAMES_NONE. */
uint32_t names_find(const struct names *names, const char *name);
/* Adds a name that is not in the table. Returns false if there is no memory; then nothing has
 * changed. */
bool names_add(struct names *names, const char *name, uint32_t value);
/* Removes all names and keeps the memory: as many can be added again without failure. */
void names_empty(struct names *names);
/* Removes all names and frees the memory. */
void names_clear(struct names *names);

#endif
