/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units as other tools and other people write them: `Mbit/s`, `Mbps`, `KB`, `msec`, `packets`.
 *
 * An unambiguous spelling is accepted if its row in the table says so: `bit` and `bit/s` with any
 * prefix, such as `Mbit/s`. Any other spelling is refused, with what to write instead, including
 * the number. An ambiguous spelling is refused with both readings: `Mbps` means bits to most people
 * and bytes to tc, `KB` has 1000 bytes or 1024.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_FOREIGN_UNIT_H
#define WEIR_FOREIGN_UNIT_H

#include "text/quantity.h"

#define FOREIGN_READINGS_MAX 2

struct foreign_unit {
	const struct unit *units; /* the list of its kind: units_rate... */
	bool taken;
	uint32_t n;
	uint64_t factor[FOREIGN_READINGS_MAX]; /* in base units */
	const char *note; /* why there are two readings, for the end of a sentence; or "" */
};

/* Finds a spelling among those for a list of units (one kind of values). Returns false if it is not
 * there. */
bool foreign_unit_find(const struct unit *units, const char *name, struct foreign_unit *unit);

/* Prints what to write (`10mbit`) for a number in this unit, for each reading that is a whole
 * number of the base unit. Returns their number. */
uint32_t foreign_unit_readings(const struct foreign_unit *unit, const struct decimal *decimal,
                               char text[FOREIGN_READINGS_MAX][QUANTITY_TEXT_BYTES]);

#endif
