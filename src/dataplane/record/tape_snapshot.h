/* SPDX-License-Identifier: BSD-3-Clause */
/* What a snapshot on a tape begins with, for who writes it (tape.h) and who reads it. */
#ifndef WEIR_TAPE_SNAPSHOT_H
#define WEIR_TAPE_SNAPSHOT_H

#include "record/tape.h"
#include "snapshot/snapshot.h"

/* Then follows engine_snapshot. */
void tape_account_snapshot(struct tape_account *account, struct snapshot *snapshot);

#endif
