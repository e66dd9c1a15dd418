/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands of a conversation about its lease (lease.h): `begin lease TIME`, `renew [TIME]`,
 * `keep`, `revert`.
 *
 * Thread: control's.
 */
#ifndef WEIR_LEASE_WORDS_H
#define WEIR_LEASE_WORDS_H

#include <stdbool.h>

#include "text/word.h"

struct dialogue;

/* Returns true if the line was one of these; it is answered, or will be. */
bool lease_words(struct dialogue *dialogue, const struct words *words);
/* While `revert` waits: answers when the change is undone, or cannot be undone yet. */
void lease_words_poll(struct dialogue *dialogue);

#endif
