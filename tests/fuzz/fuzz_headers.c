/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the parser of headers. The first two bytes of the input say how much longer the frame was
 * on the wire than the captured part. Asserts for every frame: headers lie inside the captured
 * part, in order, and headers found in a piece are also found in every longer piece of the same
 * frame.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "packet/headers.h"

#define INPUT_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void assert_sound(const struct headers *headers, bool found, uint32_t bytes,
                         uint32_t wire_bytes)
{
	assert(found == (headers->ip != 0));
	assert(headers->ip == 0 || headers->ip == 4 || headers->ip == 6);
	assert(headers->n_tags <= HEADERS_TAGS_MAX);
	assert(headers->tag[0] < 4096 && headers->tag[1] < 4096);
	if (!found)
		return;
	assert(headers->network == 14 + 4u * headers->n_tags);
	assert(headers->network + (headers->ip == 4 ? 20u : 40u) <= bytes);
	if (headers->transport == 0)
		return;
	assert(!headers->fragment);
	assert(headers->transport >= headers->network + (headers->ip == 4 ? 20u : 40u));
	assert(headers->transport_here > 0);
	assert(headers->transport_here <= headers->transport_bytes);
	assert(headers->transport + headers->transport_here <= bytes);
	assert(headers->transport_bytes <= 65535 || headers->transport_bytes <= wire_bytes);
}

/* Parses a piece of the frame, at the end of a block of its own. */
static bool find_in_piece(const uint8_t *data, uint32_t bytes, uint32_t wire_bytes,
                          struct headers *headers)
{
	uint8_t *piece = malloc(bytes ? bytes : 1);
	bool found;

	assert(piece != NULL);
	memcpy(piece, data, bytes);
	found = headers_find(piece, bytes, wire_bytes, headers);
	free(piece);
	assert_sound(headers, found, bytes, wire_bytes);
	return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct headers whole, part;
	uint32_t bytes, wire_bytes;

	if (size < 2 || size > INPUT_MAX)
		return 0;
	bytes = (uint32_t)size - 2;
	wire_bytes = bytes + headers_u16(data);
	data += 2;
	find_in_piece(data, bytes, wire_bytes, &whole);
	for (uint32_t cut = 0; cut < bytes && cut < 128; cut++) {
		if (!find_in_piece(data, cut, wire_bytes, &part))
			continue;
		assert(whole.ip == part.ip && whole.network == part.network);
		if (part.transport != 0)
			assert(whole.transport == part.transport &&
			       whole.transport_bytes == part.transport_bytes);
	}
	return 0;
}
