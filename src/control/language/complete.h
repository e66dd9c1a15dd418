/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion: finds what the last word of an unfinished line may become.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_COMPLETE_H
#define WEIR_COMPLETE_H

#include <stddef.h>
#include <stdint.h>

#include "scenario/scenario.h"

struct completion {
	size_t start; /* byte of the line at which the word to complete begins */
	char **words; /* sorted, without duplicates; owned */
	uint32_t n;
	size_t room;
};

/* Finds the words that may stand at the end of `line`, each beginning with the part that is typed.
 * If the line ends with a blank, the next word is completed. `scenario`, for the names of ports and
 * clouds, may be NULL. Returns 0, even if there is none, or -ENOMEM. */
int complete(const char *line, const struct scenario *scenario, struct completion *completion);
void complete_release(struct completion *completion);

#endif
