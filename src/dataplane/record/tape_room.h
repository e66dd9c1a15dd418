/* SPDX-License-Identifier: BSD-3-Clause */
/* Room on a tape, for those that write entries (tape.h). Thread: the worker's. */
#ifndef WEIR_TAPE_ROOM_H
#define WEIR_TAPE_ROOM_H

#include "record/tape.h"

/* Bytes that are free. */
uint64_t tape_room(struct tape *tape);
/* Where an entry of so many bytes goes, behind what says that something is missing, so that `spare`
 * bytes are left; NULL: there is no room. */
struct tape_entry *tape_entry_begin(struct tape *tape, uint32_t bytes, uint32_t spare);
void tape_publish(struct tape *tape, const struct tape_entry *entry);

#endif
