/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/one_interface.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/pcapng_block.h"

#define NAME_BYTES       64
#define INTERFACES_MAX   64 /* interfaces of a section whose units of time are kept */
#define IDB_OPTIONS      16 /* offset of the options in an interface block */
#define IDB_OPTION_NAME  PCAPNG_OPTION_NAME
#define IDB_OPTION_UNIT  PCAPNG_OPTION_TIME_UNIT
#define IDB_OPTION_SHIFT 14 /* if_tsoffset: seconds, to be added */
#define PACKET_ID_END    12 /* in a packet block: behind the number of the interface */
#define NONE             UINT32_MAX

/* How an interface expresses instants. */
struct unit {
	uint8_t resolution; /* 10^-n s, or with the highest bit 2^-n s */
	int64_t shift_s;
};

struct one_interface {
	struct io_source source; /* first */
	struct block_reader from;
	char name[NAME_BYTES];
	bool swapped;
	uint32_t number; /* number of the interface in this section; NONE: not seen yet */
	uint32_t n;      /* interfaces of this section so far */
	struct unit units[INTERFACES_MAX];
	simtime first_ns;
	bool found, ended;
	/* the block that is handed out: its first bytes, which may be modified, and the rest */
	uint32_t length; /* 0: no block */
	uint32_t done;
	uint8_t head[PACKET_ID_END];
	char others[160]; /* names of the other interfaces */
	char trouble[260];
};

static uint32_t word(const struct one_interface *one, const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return one->swapped ? __builtin_bswap32(value) : value;
}

static uint16_t half(const struct one_interface *one, const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return one->swapped ? __builtin_bswap16(value) : value;
}

static simtime in_ns(const struct unit *unit, uint64_t value)
{
	const uint32_t n = unit->resolution & 0x7f;
	unsigned __int128 ns = (unsigned __int128)value * SIMTIME_S;

	if (unit->resolution & 0x80)
		ns >>= n;
	for (uint32_t i = 0; !(unit->resolution & 0x80) && i < n; i++)
		ns /= 10;
	return (simtime)ns + (simtime)unit->shift_s * SIMTIME_S;
}

/* ---- blocks ---- */

/* Reads an interface, whose options are at `at`. Returns true if it is the wanted one. */
static bool interface_read(struct one_interface *one, const uint8_t *at, uint32_t bytes)
{
	struct unit unit = {.resolution = 6};
	char name[NAME_BYTES] = "";

	while (bytes >= 4) {
		const uint16_t code = half(one, at), length = half(one, at + 2);
		const uint32_t whole = 4 + ((length + 3u) & ~3u);

		if (code == 0 || whole > bytes)
			break;
		if (code == IDB_OPTION_NAME)
			snprintf(name, sizeof(name), "%.*s", (int)length, (const char *)at + 4);
		else if (code == IDB_OPTION_UNIT && length == 1)
			unit.resolution = at[4];
		else if (code == IDB_OPTION_SHIFT && length == 8)
			unit.shift_s =
			        (int64_t)((uint64_t)word(one, at + 4 + 4 * !one->swapped) << 32 |
			                  word(one, at + 4 + 4 * one->swapped));
		at += whole;
		bytes -= whole;
	}
	if (one->n < INTERFACES_MAX)
		one->units[one->n] = unit;
	one->n++;
	if (strcmp(name, one->name) == 0 && one->number == NONE)
		return true;
	if (name[0]) {
		const size_t used = strlen(one->others);

		snprintf(one->others + used, sizeof(one->others) - used, "%s%s", used ? ", " : "",
		         name);
	}
	return false;
}

/* Returns true if this block is handed out. */
static bool look(struct one_interface *one, const uint8_t *block, uint32_t length)
{
	const uint32_t type = word(one, block);
	uint32_t number;

	if (type == PCAPNG_SECTION) {
		one->number = NONE;
		one->n = 0;
		return true;
	}
	if (type == PCAPNG_INTERFACE && length >= IDB_OPTIONS + 4) {
		if (!interface_read(one, block + IDB_OPTIONS, length - IDB_OPTIONS - 4))
			return false;
		one->number = one->n - 1;
		return one->found = true;
	}
	if (type != PCAPNG_PACKET || length < PCAPNG_PACKET_HEAD_BYTES + 4)
		return false;
	number = word(one, block + 8);
	if (one->first_ns == SIMTIME_NEVER && number < one->n && number < INTERFACES_MAX)
		one->first_ns = in_ns(&one->units[number], (uint64_t)word(one, block + 12) << 32 |
		                                                   word(one, block + 16));
	return number == one->number;
}

static bool end(struct one_interface *one, const char *why)
{
	one->ended = true;
	if (why)
		snprintf(one->trouble, sizeof(one->trouble), "%s", why);
	else if (!one->found)
		snprintf(one->trouble, sizeof(one->trouble), "it has no interface `%s`; it has %s",
		         one->name, one->others[0] ? one->others : "none with a name");
	return false;
}

/* Returns the length of the next block, 0 if there is none. */
static uint32_t block_length(struct one_interface *one)
{
	struct block_reader *from = &one->from;
	uint32_t length, type, order;

	if (!block_reader_has(from, PCAPNG_BLOCK_LEAST)) {
		end(one, block_reader_has(from, 1) && one->found ? "ends in the middle of a block"
		                                                 : NULL);
		return 0;
	}
	memcpy(&type, from->at, sizeof(type));
	if (type == PCAPNG_SECTION) {
		memcpy(&order, from->at + 8, sizeof(order));
		one->swapped = order == __builtin_bswap32(PCAPNG_BYTE_ORDER_MARK);
	} else if (one->n == 0 && one->number == NONE && one->head[0] == 0) {
		end(one, "it is not a pcapng: only a pcapng has interfaces with names");
		return 0;
	}
	length = word(one, from->at + 4);
	if (length >= PCAPNG_BLOCK_LEAST && length % 4 == 0 && length <= BLOCK_READER_REACH_MAX &&
	    block_reader_has(from, length))
		return length;
	end(one, "ends in the middle of a block, or with a block of an impossible length");
	return 0;
}

static bool next(struct one_interface *one)
{
	while (!one->ended) {
		const uint32_t length = block_length(one);
		const uint8_t *block = one->from.at;

		if (length == 0)
			return false;
		if (look(one, block, length)) {
			memcpy(one->head, block, sizeof(one->head));
			/* The file that is handed out has only this interface, so its number is
			 * 0. */
			if (word(one, block) == PCAPNG_PACKET)
				memset(one->head + 8, 0, 4);
			one->length = length;
			one->done = 0;
			return true;
		}
		one->from.at += length;
	}
	return false;
}

static ssize_t source_read(struct io_source *source, void *to, size_t bytes)
{
	struct one_interface *one = (struct one_interface *)source;
	const bool in_head = one->length > 0 && one->done < PACKET_ID_END;
	size_t part;

	if (one->length == 0)
		return next(one) ? source_read(source, to, bytes) : 0;
	part = (in_head ? PACKET_ID_END : one->length) - one->done;
	part = bytes < part ? bytes : part;
	memcpy(to, (in_head ? one->head : one->from.at) + one->done, part);
	one->done += (uint32_t)part;
	if (one->done == one->length) {
		one->from.at += one->length;
		one->length = 0;
	}
	return (ssize_t)part;
}

/* ---- the interface ---- */

int one_interface_open(int fd, const struct block_start *start, const char *name,
                       struct one_interface **one_interface)
{
	struct one_interface *one = calloc(1, sizeof(*one));

	if (!one || block_reader_open(&one->from, fd, start, NULL) < 0) {
		if (!one)
			close(fd);
		free(one);
		return -ENOMEM;
	}
	one->source.read = source_read;
	one->number = NONE;
	one->first_ns = SIMTIME_NEVER;
	snprintf(one->name, sizeof(one->name), "%s", name);
	*one_interface = one;
	return 0;
}

void one_interface_close(struct one_interface *one_interface)
{
	if (!one_interface)
		return;
	block_reader_close(&one_interface->from);
	free(one_interface);
}

struct io_source *one_interface_source(struct one_interface *one_interface)
{
	return &one_interface->source;
}

simtime one_interface_first_ns(const struct one_interface *one_interface)
{
	return one_interface->first_ns;
}

const char *one_interface_trouble(const struct one_interface *one_interface)
{
	return one_interface->trouble;
}
