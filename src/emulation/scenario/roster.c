/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "engine/engine_state.h"
#include "engine/fork.h"

void roster_free(struct roster *roster)
{
	struct fork *next;

	if (!roster)
		return;
	for (struct fork *fork = roster->forks; fork; fork = next) {
		next = fork->next;
		fork_free(fork);
	}
	names_clear(&roster->index);
	free(roster->slots);
	free(roster);
}
