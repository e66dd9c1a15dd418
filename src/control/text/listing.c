/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/listing.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define CUT_MARK ", ..."

void listing_start(struct listing *listing, const char *conjunction)
{
	memset(listing, 0, sizeof(*listing));
	listing->conjunction = conjunction;
}

/* Appends the pending word, with the comma or conjunction before it. */
static void append(struct listing *listing, bool last)
{
	char text[128];
	int length;

	if (listing->pending[0] == 0 || listing->length >= sizeof(listing->text))
		return;
	if (listing->n == 0)
		length = snprintf(text, sizeof(text), "%s", listing->pending);
	else if (last)
		length = snprintf(text, sizeof(text), " %s %s", listing->conjunction,
		                  listing->pending);
	else
		length = snprintf(text, sizeof(text), ", %s", listing->pending);
	if (listing->length + (uint32_t)length + sizeof(CUT_MARK) > sizeof(listing->text)) {
		strcpy(listing->text + listing->length, CUT_MARK);
		listing->length = sizeof(listing->text);
		return;
	}
	memcpy(listing->text + listing->length, text, (size_t)length + 1);
	listing->length += (uint32_t)length;
	listing->n++;
}

static void add(struct listing *listing, const char *text)
{
	if (strcmp(listing->pending, text) == 0)
		return;
	append(listing, false);
	snprintf(listing->pending, sizeof(listing->pending), "%s", text);
}

void listing_add(struct listing *listing, const char *word)
{
	char text[sizeof(listing->pending)];

	snprintf(text, sizeof(text), "`%.50s`", word);
	add(listing, text);
}

void listing_add_plain(struct listing *listing, const char *words)
{
	add(listing, words);
}

const char *listing_end(struct listing *listing)
{
	append(listing, true);
	listing->pending[0] = 0;
	return listing->text;
}
