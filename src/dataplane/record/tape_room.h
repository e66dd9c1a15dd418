/* SPDX-License-Identifier: BSD-3-Clause */
/* Room on a tape, for code that writes entries (tape.h). Thread: the worker's. */
#ifndef WEIR_TAPE_ROOM_H
#define WEIR_TAPE_ROOM_H

#include "record/tape.h"

/* Returns the number of free bytes. */
uint64_t tape_room(struct tape *tape);
/* Returns the place for an entry of `bytes`, so that `spare` bytes are left behind it; puts a
 * pending GAP first. Returns NULL if there is no room. */
struct tape_entry *tape_entry_begin(struct tape *tape, uint32_t bytes, uint32_t spare);
void tape_publish(struct tape *tape, const struct tape_entry *entry);

#endif
