/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units as other tools and other people write them: `Mbit/s`, `Mbps`, `KB`, `msec`, `packets`.
 *
 * A spelling that can mean one thing only is taken where a table says so: those of bits a second
 * with `bit` in them, Mbit/s and the like. Any other spelling is refused with what to write,
 * the number included. What two readings know is refused with both: `Mbps` is bits to most people
 * and bytes to tc, `KB` has 1000 bytes or 1024.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_FOREIGN_UNIT_H
#define WEIR_FOREIGN_UNIT_H

#include "text/quantity.h"

#define FOREIGN_READINGS_MAX 2

struct foreign_unit {
	const struct unit *units; /* the list that it belongs to: units_rate... */
	bool taken;
	uint32_t n;
	uint64_t factor[FOREIGN_READINGS_MAX]; /* in base units */
	const char *note; /* why there are two, for the end of a sentence; "" */
};

/* Whether a list of units, of one kind of values, has such a spelling. */
bool foreign_unit_find(const struct unit *units, const char *name, struct foreign_unit *unit);

/* `10mbit`: what is to be written for a number in this unit, for each reading that is a whole
 * number of the base unit. Returns how many there are. */
uint32_t foreign_unit_readings(const struct foreign_unit *unit, const struct decimal *decimal,
                               char text[FOREIGN_READINGS_MAX][QUANTITY_TEXT_BYTES]);

#endif
