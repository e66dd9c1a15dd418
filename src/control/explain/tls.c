/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/speech.h"

#include <stdlib.h>
#include <string.h>

#include "explain/flow.h"
#include "packet/headers.h"

#define RECORD_HEADER 5
#define RECORD_MAX    (16384 + 2048) /* RFC 5246 */

enum { RECORD_CIPHERS = 20, RECORD_ALERT, RECORD_HANDSHAKE, RECORD_DATA };
enum { HELLO_CLIENT = 1, HELLO_SERVER };

bool tls_begins(const uint8_t *data, size_t bytes)
{
	return bytes > RECORD_HEADER && data[0] == RECORD_HANDSHAKE && data[1] == 3 &&
	       data[2] <= 4 && data[RECORD_HEADER] == HELLO_CLIENT;
}

static uint32_t record_bytes(const struct tls_way *way)
{
	return headers_u16(way->header + 3);
}

/* ---- hellos ---- */

static void begin_hello(struct tls_way *way)
{
	free(way->hello);
	way->hello_have = 0;
	way->hello_bytes = record_bytes(way);
	if (way->hello_bytes > TLS_HELLO_BYTES)
		way->hello_bytes = TLS_HELLO_BYTES;
	way->hello = malloc(way->hello_bytes);
}

/* Adds bytes of the record. Once the hello is there, it is read. */
static void add_hello(struct tls *tls, int which, const uint8_t *data, uint32_t bytes,
                      char name[DNS_NAME_BYTES])
{
	struct tls_way *way = &tls->ways[which];
	const uint32_t part = bytes < way->hello_bytes - way->hello_have
	                              ? bytes
	                              : way->hello_bytes - way->hello_have;

	memcpy(way->hello + way->hello_have, data, part);
	way->hello_have += part;
	if (way->hello_have < way->hello_bytes)
		return;
	tls_read_hello(tls, which, way->hello, way->hello_have, name);
	free(way->hello);
	way->hello = NULL;
}

/* ---- records ---- */

/* What a record has beside its data: TLS 1.3; TLS 1.2 with AES-GCM, with ChaCha20. */
static const uint8_t overheads[] = {17, 24, 16};
/* An alert; of HTTP/2: SETTINGS without and with one value, WINDOW_UPDATE, PING, two of them. */
static const uint8_t notices[] = {2, 9, 15, 13, 17, 22, 26};

static bool is_notice(const struct tls *tls, uint32_t bytes)
{
	const bool newest = tls->version == TLS_VERSION_1_3;

	for (size_t i = newest ? 0 : 1; i < (newest ? 1 : sizeof(overheads)); i++) {
		for (size_t k = 0; k < sizeof(notices); k++) {
			if (bytes == overheads[i] + notices[k])
				return true;
		}
	}
	return false;
}

static uint16_t marks_of_turn(const struct tls *tls, struct tls_way *way)
{
	const bool first = !way->spoken;

	way->spoken = true;
	return !first && is_notice(tls, record_bytes(way)) ? PASSAGE_NOTICE
	                                                   : PASSAGE_TURN | PASSAGE_DATA;
}

static uint16_t marks_of_data(struct tls *tls, int which)
{
	struct tls_way *way = &tls->ways[which];

	if (which == FLOW_UP && tls->version == 0) {
		tls->early = way->spoken = true;
		return PASSAGE_TURN | PASSAGE_DATA;
	}
	if (tls->version != TLS_VERSION_1_3 && tls->version != 0)
		return marks_of_turn(tls, way);
	if (which == FLOW_UP && tls->finishing < (tls->early ? 2 : 1)) {
		tls->finishing++;
		return PASSAGE_SECRET | PASSAGE_DATA;
	}
	return marks_of_turn(tls, way) | (which == FLOW_DOWN ? PASSAGE_SECRET : 0);
}

/* Returns the marks of a record whose header, and first byte, are there. */
static uint16_t begin_record(struct tls *tls, int which)
{
	struct tls_way *way = &tls->ways[which];
	const uint8_t first = way->header[RECORD_HEADER];

	switch (way->header[0]) {
	case RECORD_CIPHERS:
		way->ciphers = true;
		return PASSAGE_SECRET | PASSAGE_DATA;
	case RECORD_ALERT:
		return PASSAGE_NOTICE;
	case RECORD_HANDSHAKE:
		if (way->ciphers || first != (which == FLOW_UP ? HELLO_CLIENT : HELLO_SERVER))
			return PASSAGE_DATA;
		begin_hello(way);
		return PASSAGE_HELLO | PASSAGE_DATA;
	default:
		return marks_of_data(tls, which);
	}
}

static bool is_record(const struct tls_way *way)
{
	return way->header[0] >= RECORD_CIPHERS && way->header[0] <= RECORD_DATA &&
	       way->header[1] == 3 && record_bytes(way) > 0 && record_bytes(way) <= RECORD_MAX;
}

/* Adds bytes to the header, and its first byte behind it. Returns how many were used. */
static uint32_t add_header(struct tls_way *way, const uint8_t *data, uint32_t bytes)
{
	uint32_t part = sizeof(way->header) - way->have;

	if (part > bytes)
		part = bytes;
	memcpy(way->header + way->have, data, part);
	way->have = (uint8_t)(way->have + part);
	return part;
}

/* Reads a part of the present record. Returns how many bytes were used. */
static uint32_t take_record(struct tls *tls, const struct speech_words *words, uint32_t done,
                            char name[DNS_NAME_BYTES])
{
	struct tls_way *way = &tls->ways[words->way];
	const uint64_t left = way->next - (words->at + done);
	const uint32_t part = words->bytes - done < left ? words->bytes - done : (uint32_t)left;

	if (way->hello && done + part <= words->here)
		add_hello(tls, words->way, words->data + done, part, name);
	return part;
}

/* Reads a part of the next record's header, and begins the record once it is there. Returns how
 * many bytes were used; 0: this is no record. */
static uint32_t take_header(struct tls *tls, const struct speech_words *words, uint32_t done,
                            char name[DNS_NAME_BYTES])
{
	struct tls_way *way = &tls->ways[words->way];
	uint32_t part;

	if (done >= words->here || words->at + done != way->next + way->have)
		return 0;
	part = add_header(way, words->data + done, words->here - done);
	if (way->have < sizeof(way->header))
		return part;
	if (!is_record(way))
		return 0;
	way->marks = begin_record(tls, words->way);
	if (way->hello)
		add_hello(tls, words->way, way->header + RECORD_HEADER, 1, name);
	way->next += RECORD_HEADER + record_bytes(way);
	way->have = 0;
	return part;
}

uint16_t tls_take(struct tls *tls, const struct speech_words *words, char name[DNS_NAME_BYTES])
{
	struct tls_way *way = &tls->ways[words->way];
	uint16_t marks = 0;

	if (!way->begun) {
		way->begun = true;
		way->next = words->at;
	}
	for (uint32_t done = 0; done < words->bytes && !way->lost;) {
		const bool in_record = words->at + done < way->next;
		const uint32_t part = in_record ? take_record(tls, words, done, name)
		                                : take_header(tls, words, done, name);

		way->lost = part == 0;
		done += part;
		/* Between two headers, a part of one says nothing yet. */
		if (in_record || (part > 0 && way->have == 0))
			marks |= way->marks;
	}
	return way->lost ? marks | PASSAGE_TURN | PASSAGE_DATA : marks;
}

void tls_free(struct tls *tls)
{
	free(tls->ways[FLOW_UP].hello);
	free(tls->ways[FLOW_DOWN].hello);
}
