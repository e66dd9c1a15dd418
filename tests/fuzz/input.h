/* SPDX-License-Identifier: BSD-3-Clause */
/* A fuzzer's input, taken byte by byte; zeros follow its end. */
#ifndef WEIR_FUZZ_INPUT_H
#define WEIR_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>

struct input {
	const uint8_t *at;
	size_t left;
};

static inline uint8_t take(struct input *input)
{
	if (input->left == 0)
		return 0;
	input->left--;
	return *input->at++;
}

#endif
