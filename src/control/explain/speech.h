/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the payloads of a flow say: the protocol, and where a handshake, a request and an answer
 * are. Each protocol has a file; this one chooses among them.
 *
 * A protocol that is not known, and SSH, are turns: who speaks, and when the other answers.
 *
 * Ownership: speech_free frees what a speech has allocated.
 * Thread: one at a time.
 */
#ifndef WEIR_SPEECH_H
#define WEIR_SPEECH_H

#include <stdbool.h>
#include <stdint.h>

#include "explain/dns.h"
#include "explain/quic.h"
#include "explain/tls.h"

#define SPEECHES(X)                                                                                \
	X(SILENT, "nothing")                                                                       \
	X(UNKNOWN, "an unknown protocol")                                                          \
	X(DNS, "DNS")                                                                              \
	X(TLS, "TLS")                                                                              \
	X(HTTP, "HTTP/1.1")                                                                        \
	X(SSH, "SSH")                                                                              \
	X(QUIC, "QUIC")

enum speech_kind {
#define X(id, name) SPEECH_##id,
	SPEECHES(X)
#undef X
};

#define SPEECH_REQUESTS_MAX 64
#define SPEECH_LINE_BYTES   48

struct speech_request {
	uint32_t number; /* of the packet that begins it */
	char line[SPEECH_LINE_BYTES];
};

struct speech {
	enum speech_kind kind;
	char name[DNS_NAME_BYTES]; /* of the server, or that is asked for; "": not known */
	union {
		struct tls tls;
		struct quic quic;
		struct dns_message dns; /* the latest answer, or question */
	};
	struct speech_request *requests;
	uint32_t n_requests;
};

/* A payload, and which packet of the way carries it. */
struct speech_words {
	int way;
	uint32_t number;
	uint16_t server_port;
	bool tcp;
	uint64_t at;
	const uint8_t *data;
	uint32_t here, bytes; /* there, and in all */
};

/* Returns the marks of the packet (passage.h). */
uint16_t speech_take(struct speech *speech, const struct speech_words *words);
/* Returns the line of the request that this packet of the client begins, or NULL. */
const char *speech_line(const struct speech *speech, uint32_t number);
void speech_free(struct speech *speech);

#endif
