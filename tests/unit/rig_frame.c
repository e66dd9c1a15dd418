/* SPDX-License-Identifier: BSD-3-Clause */
#include "rig_frame.h"

#include <stdbool.h>
#include <string.h>

#define NUMBER_BYTES 8
#define HEADERS_FROM 12
#define HEADERS_TO   42

/* Steps of 31 modulo 2048 visit every value once, and 991 steps lead to the next value. So the
 * pattern of each number is a part of one circle, which begins at a place of its own. To copy it
 * keeps a test of a million frames short under AddressSanitizer. */
#define CIRCLE     2048
#define STEP       31
#define TO_NEXT    991
#define PER_NUMBER 167

_Static_assert(STEP *TO_NEXT % CIRCLE == 1, "so many steps to the next value");

static void pattern(uint8_t *to, uint64_t number, uint32_t bytes)
{
	static uint8_t circle[CIRCLE];
	static bool drawn;
	uint32_t at = (uint32_t)(number % CIRCLE * PER_NUMBER * TO_NEXT % CIRCLE);

	for (uint32_t i = 0; !drawn && i < CIRCLE; i++)
		circle[i] = (uint8_t)(i * STEP % CIRCLE >> 3);
	drawn = true;
	for (uint32_t n; bytes > 0; bytes -= n, to += n, at = 0) {
		n = bytes < CIRCLE - at ? bytes : CIRCLE - at;
		memcpy(to, circle + at, n);
	}
}

static void headers(uint8_t *to, uint32_t hosts, uint64_t number, uint32_t frame_bytes)
{
	uint32_t chance = (uint32_t)number * 2654435761u;
	uint32_t source = 1 + (chance >> 16) % hosts, destination = 1 + (chance >> 8) % hosts;
	uint32_t ip_bytes = frame_bytes - 14, udp_bytes = frame_bytes - 34;
	/* clang-format off */
	const uint8_t bytes[HEADERS_TO - HEADERS_FROM] = {
		0x08, 0x00,
		0x45, 0, (uint8_t)(ip_bytes >> 8), (uint8_t)ip_bytes, 0, 0, 0, 0, 64, 17, 0, 0,
		192, 0, 2, (uint8_t)source,
		198, 51, 100, (uint8_t)destination,
		0x03, 0xe8, 0, 80, (uint8_t)(udp_bytes >> 8), (uint8_t)udp_bytes, 0, 0};
	/* clang-format on */

	memcpy(to, bytes, sizeof(bytes));
}

const uint8_t *rig_frame(uint32_t hosts, uint64_t number, uint32_t bytes)
{
	static uint8_t frame[RIG_FRAME_MAX];

	if (bytes < NUMBER_BYTES) {
		for (uint32_t i = 0; i < bytes; i++)
			frame[i] = (uint8_t)(0xa5 ^ i);
		return frame;
	}
	pattern(frame, number, bytes);
	for (uint32_t i = 0; i < NUMBER_BYTES; i++)
		frame[i] = (uint8_t)(number >> (8 * i));
	if (hosts && number % 8 && bytes >= HEADERS_TO)
		headers(frame + HEADERS_FROM, hosts, number, bytes);
	return frame;
}
