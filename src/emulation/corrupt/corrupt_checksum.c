/* SPDX-License-Identifier: BSD-3-Clause */
#include "corrupt/corrupt_checksum.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "packet/copy.h"
#include "stage/draws.h"
#include "packet/headers.h"

#define IPV4_CHECKSUM 10 /* offset in the header */
#define SUMS_MAX      2  /* in a packet: IP's and the transport's */

static const char *const sums[] = {"ip", "tcp", "udp", "icmp", NULL};

/* The checksum of each transport, and its offset. */
static const struct {
	enum corrupt_sum sum;
	uint8_t ip, protocol; /* ip 0: either version */
	uint8_t offset;
	bool optional; /* the value 0 means no checksum */
} transports[] = {
        {CORRUPT_TCP, 0, 6, 16, false},
        {CORRUPT_UDP, 0, 17, 6, true},
        {CORRUPT_ICMP, 4, 1, 2, false},
        {CORRUPT_ICMP, 6, 58, 2, false},
};

struct corrupt_checksum {
	struct stage stage;
	uint32_t sums;
	probability_q63 probability;
};

/* A change: the byte at `offset` in the frame, the lower one of a checksum, is inverted under a
 * mask. */
struct inversion {
	uint32_t offset;
	uint8_t mask;
};

static uint32_t find_transport(const struct corrupt_checksum *corrupt, const uint8_t *frame,
                               const struct headers *headers, struct inversion *inversion)
{
	if (headers->transport == 0)
		return 0;
	for (size_t i = 0; i < RTE_DIM(transports); i++) {
		uint32_t at = headers->transport + transports[i].offset;
		uint16_t value;

		if (transports[i].protocol != headers->protocol ||
		    (transports[i].ip && transports[i].ip != headers->ip) ||
		    !(corrupt->sums >> transports[i].sum & 1) ||
		    headers->transport_here < transports[i].offset + 2u)
			continue;
		value = headers_u16(frame + at);
		if (transports[i].optional && value == 0)
			continue;
		inversion->offset = at + 1;
		inversion->mask = transports[i].optional && value == 1 ? 2 : 1;
		return 1;
	}
	return 0;
}

/* Finds the bytes of the packet to change. Returns their number. */
static uint32_t find(const struct corrupt_checksum *corrupt, struct burst *burst, uint16_t i,
                     struct inversion inversions[SUMS_MAX])
{
	const struct headers *headers = burst_headers(burst, i);
	uint32_t n = 0;

	if (headers->ip == 0)
		return 0;
	if (headers->ip == 4 && corrupt->sums >> CORRUPT_IP & 1)
		inversions[n++] = (struct inversion){headers->network + IPV4_CHECKSUM + 1, 1};
	return n + find_transport(corrupt, burst_frame(burst, i), headers, &inversions[n]);
}

static void corrupt_checksum_process(struct stage *stage, struct burst *burst)
{
	struct corrupt_checksum *corrupt = (struct corrupt_checksum *)stage;
	const uint16_t n = burst->n;
	uint64_t draw[BURST_ROOM];

	draws_burst(stage, burst, 0, draw);
	stage->drawn += n;
	for (uint16_t i = 0; i < n; i++) {
		struct inversion inversions[SUMS_MAX];
		uint32_t found = 0;

		if (draw_below(draw[i], corrupt->probability))
			found = find(corrupt, burst, i, inversions);
		if (found == 0 || !cloud_writable(stage->cloud, burst, i))
			continue;
		cloud_counters(stage->cloud)->corrupted++;
		for (uint32_t j = 0; j < found; j++)
			burst_frame(burst, i)[inversions[j].offset] ^= inversions[j].mask;
	}
}

static int corrupt_checksum_make(const struct conf *conf, struct stage **stage)
{
	const struct corrupt_checksum_conf *checksum = (const struct corrupt_checksum_conf *)conf;
	struct corrupt_checksum *corrupt = calloc(1, sizeof(*corrupt));

	if (!corrupt)
		return -ENOMEM;
	corrupt->stage.process = corrupt_checksum_process;
	corrupt->sums = checksum->sums;
	corrupt->probability = checksum->probability;
	*stage = &corrupt->stage;
	return 0;
}

static const struct field corrupt_checksum_fields[] = {
        {FIELD("checksums", FIELD_WORDS, struct corrupt_checksum_conf, sums,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .words = sums,
               .help = "checksums to make wrong")},
        {FIELD("probability", FIELD_PROBABILITY, struct corrupt_checksum_conf, probability,
               .max = PROBABILITY_ONE, .initial = PROBABILITY_ONE,
               .help = "share of the packets that is changed")},
        KEYED_FIELD(struct corrupt_checksum_conf),
        FIELD_END,
};

const struct statement corrupt_checksum_statement = {
        .name = "corrupt",
        .variant = "checksum",
        .help = "only the checksums of packets are made wrong",
        .example = "checksum ip",
        .role = ROLE_STAGE,
        .fields = corrupt_checksum_fields,
        .conf_bytes = sizeof(struct corrupt_checksum_conf),
        .check = keyed_check,
        .acts = {COUNTER(corrupted)},
        .make = corrupt_checksum_make,
};
