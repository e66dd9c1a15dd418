/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a packet was dropped or marked, in words: `red-early: queue 45 kB, average 33.2 kB`, `loss:
 * the loss statement of the cloud`.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_FATE_TEXT_H
#define WEIR_FATE_TEXT_H

#include <stddef.h>

#include "account/witness.h"

#define FATE_TEXT_BYTES 200

/* Describes the fate; "" if there is nothing to add. */
void fate_text(const struct fate *fate, char *text, size_t room);
/* Describes its reason only. */
void fate_text_why(const struct fate *fate, char *text, size_t room);

#endif
