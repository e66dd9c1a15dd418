/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion: what the last word of an unfinished line may become.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_COMPLETE_H
#define WEIR_COMPLETE_H

#include <stddef.h>
#include <stdint.h>

#include "scenario/scenario.h"

struct completion {
	size_t start; /* byte of the line where the word to be completed begins */
	char **words; /* sorted, without doubles; owned */
	uint32_t n;
};

/* The words that may stand where `line` ends, each beginning with what is typed of it. A line that
 * ends with a blank means the next word. `scenario`, for the names of ports and clouds, may be
 * NULL. 0, also when there is none, or -ENOMEM. */
int complete(const char *line, const struct scenario *scenario, struct completion *completion);
void complete_release(struct completion *completion);

#endif
