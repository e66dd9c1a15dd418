/* SPDX-License-Identifier: BSD-3-Clause */
#include "account/count.h"

#include <inttypes.h>
#include <string.h>

const char *count_text(char text[COUNT_SIZE], uint64_t count)
{
	char digits[24];
	size_t n = (size_t)__builtin_snprintf(digits, sizeof(digits), "%" PRIu64, count), at = 0;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
	return text;
}

struct count_of count_of(uint64_t count, const char *thing)
{
	const size_t word = strcspn(thing, " ");
	char digits[COUNT_SIZE];
	struct count_of of;

	__builtin_snprintf(of.text, sizeof(of.text), "%s %.*s%s%s", count_text(digits, count),
	                   (int)word, thing, count == 1 ? "" : "s", thing + word);
	return of;
}

struct count_of count_of_these(uint64_t count, const char *one, const char *several)
{
	char digits[COUNT_SIZE];
	struct count_of of;

	__builtin_snprintf(of.text, sizeof(of.text), "%s %s", count_text(digits, count),
	                   count == 1 ? one : several);
	return of;
}
