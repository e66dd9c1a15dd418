/* SPDX-License-Identifier: BSD-3-Clause */
#include "rewrite/rewrite_field.h"

#include <string.h>

#define NAME_BYTES_MAX 32

const struct rewrite_field rewrite_fields[] = {
#define X(name_, layer_, offset_, width_, mask_, shift_, help_)                                    \
	{.name = name_,                                                                            \
	 .help = help_,                                                                            \
	 .place = {{.layer = LAYER_##layer_,                                                       \
	            .width = width_,                                                               \
	            .shift = shift_,                                                               \
	            .offset = offset_,                                                             \
	            .mask = mask_}}},
        REWRITE_FIELDS(X)
#undef X
#define X(name_, layer_, offset_, help_)                                                           \
	{.name = name_,                                                                            \
	 .help = help_,                                                                            \
	 .place = {{.layer = LAYER_##layer_, .width = 8, .offset = offset_, .mask = UINT64_MAX},   \
	           {.layer = LAYER_##layer_,                                                       \
	            .width = 8,                                                                    \
	            .offset = offset_ + 8,                                                         \
	            .mask = UINT64_MAX}}},
                REWRITE_PAIRS(X)
#undef X
                        {.name = NULL},
};

static const struct rewrite_layer_name rewrite_layers[] = {
#define X(name_, layer_, help_) {.name = name_, .help = help_, .layer = LAYER_##layer_},
        REWRITE_LAYERS(X)
#undef X
#define X(name_, layer_, help_)                                                                    \
	{.name = name_, .help = help_, .layer = LAYER_##layer_, .option = true},
                REWRITE_OPTIONS(X)
#undef X
                        {.name = NULL},
};

static bool is(const char *name, const char *text, size_t bytes)
{
	return strlen(name) == bytes && memcmp(name, text, bytes) == 0;
}

const struct rewrite_field *rewrite_field_find(const char *name, size_t bytes)
{
	for (const struct rewrite_field *row = rewrite_fields; row->name; row++) {
		if (is(row->name, name, bytes))
			return row;
	}
	return NULL;
}

const struct rewrite_layer_name *rewrite_layer_find(const char *name, size_t bytes)
{
	for (const struct rewrite_layer_name *row = rewrite_layers; row->name; row++) {
		if (is(row->name, name, bytes))
			return row;
	}
	return NULL;
}

/* Returns the number of insertions, deletions and substitutions of letters between the two. */
static uint32_t distance(const char *name, const char *text, size_t bytes)
{
	uint32_t row[NAME_BYTES_MAX + 1];
	uint32_t n = (uint32_t)strlen(name);

	for (uint32_t i = 0; i <= n; i++)
		row[i] = i;
	for (uint32_t j = 0; j < bytes; j++) {
		uint32_t corner = row[0];

		row[0] = j + 1;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t best = corner + (name[i] != text[j]);

			corner = row[i + 1];
			if (row[i] + 1 < best)
				best = row[i] + 1;
			row[i + 1] = corner + 1 < best ? corner + 1 : best;
		}
	}
	return row[n];
}

const char *rewrite_field_nearest(const char *text, size_t bytes)
{
	const char *best = NULL;
	uint32_t least = bytes < 4 ? 2 : 3;

	if (bytes > NAME_BYTES_MAX)
		return NULL;
	for (const struct rewrite_field *row = rewrite_fields; row->name; row++) {
		uint32_t slips = distance(row->name, text, bytes);

		if (slips < least) {
			least = slips;
			best = row->name;
		}
	}
	return best;
}

bool rewrite_place_moves(const struct rewrite_place *place)
{
	int32_t from = place->offset, to = from + place->width;

	switch (place->layer) {
	case LAYER_FRAME:
		return to > 14 || (to > 12 && place->mask & 0xffff);
	case LAYER_VLAN:
	case LAYER_VLAN2:
	case LAYER_NETWORK:
		return true;
	case LAYER_IP: /* version, header length, total length, fragment, protocol, options */
		return from < 1 || (from < 4 && to > 2) || (from < 8 && to > 6) ||
		       (from < 10 && to > 9) || to > 20;
	case LAYER_IP6: /* version, payload length, next header, extension headers */
		return (from < 1 && place->mask >> (8 * place->width - 4)) ||
		       (from < 7 && to > 4) || to > 40;
	case LAYER_TRANSPORT:
	case LAYER_TCP:
		return from < 13 && to > 12;
	default:
		return false;
	}
}
