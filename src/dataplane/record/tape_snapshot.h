/* SPDX-License-Identifier: BSD-3-Clause */
/* The beginning of a snapshot on a tape, for code that writes it (tape.h) or reads it. */
#ifndef WEIR_TAPE_SNAPSHOT_H
#define WEIR_TAPE_SNAPSHOT_H

#include "record/tape.h"
#include "snapshot/snapshot.h"

/* Writes or reads the departures so far. What engine_snapshot writes follows. */
void tape_account_snapshot(struct tape_account *account, struct snapshot *snapshot);

#endif
