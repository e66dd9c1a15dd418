/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the payloads of a flow say: the protocol, and where a handshake, a request and an answer
 * are. Each protocol has a file; speech.c chooses among them.
 *
 * A protocol that is not known, and SSH, are turns: who speaks, and when the other answers.
 *
 * Ownership: speech_free frees what a speech has allocated.
 * Thread: one at a time.
 */
#ifndef WEIR_SPEECH_H
#define WEIR_SPEECH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A payload, and which packet of the way carries it. */
struct speech_words {
	int way;
	uint32_t number;
	uint16_t server_port;
	bool tcp;
	uint64_t at; /* of the first byte in the stream */
	const uint8_t *data;
	uint32_t here, bytes; /* there, and in all */
};

/*
 * A message of DNS (RFC 1035): the name that is asked for, and the addresses of the answer.
 *
 * Thread: pure functions, any.
 */

#define DNS_PORT          53
#define DNS_NAME_BYTES    96 /* a longer name is cut */
#define DNS_ADDRESSES_MAX 16

struct dns_address {
	uint8_t bytes[16];
	uint8_t family; /* 4 or 6 */
};

struct dns_message {
	uint16_t id, type;
	bool answer;
	bool cut; /* there is more, by TCP */
	char name[DNS_NAME_BYTES];
	uint32_t n_addresses;
	struct dns_address addresses[DNS_ADDRESSES_MAX];
};

/* Returns false if it is no message with one question. */
bool dns_read(const uint8_t *data, size_t bytes, struct dns_message *message);

/*
 * Datagrams of QUIC, as far as they can be read without keys: the long headers of the handshake
 * (RFC 8999, RFC 9000, RFC 9369). All else is encrypted. A datagram of QUIC_NOTICE_BYTES or less
 * behind the handshake is taken for an acknowledgement.
 *
 * Thread: one at a time.
 */

#define QUIC_NOTICE_BYTES 60

struct quic {
	uint32_t version;
	bool early;   /* the client has sent data with keys of an earlier connection */
	bool open[2]; /* the host has sent something behind the handshake */
};

/* Returns true if a datagram is the first of a client. */
bool quic_begins(const uint8_t *data, size_t bytes);
/* Returns the marks of a datagram of `bytes`, of which `here` are there (flow.h). */
uint16_t quic_take(struct quic *quic, int way, const uint8_t *data, uint32_t here, uint32_t bytes);

/*
 * The records of TLS in a TCP connection, as far as they can be read without keys: types, lengths,
 * directions, and of the two hellos the server's name, the version and whether a session is
 * resumed (RFC 5246, RFC 8446).
 *
 * What the handshake of TLS 1.3 encrypts looks like data. It is told apart by its place: the first
 * such record of a client behind a ServerHello is its Finished. A record that is exactly as long as
 * an alert, or as a frame or two of HTTP/2 that control the connection, carries no request, unless
 * it is the first.
 *
 * Bytes must come in order. If some are missing, nothing is read any more (`lost`).
 *
 * Thread: one at a time.
 */

#define TLS_HELLO_BYTES 4096

#define TLS_VERSION_1_2 0x0303
#define TLS_VERSION_1_3 0x0304

struct tls_way {
	uint64_t next;     /* where the next record begins */
	uint8_t header[6]; /* of the record that begins: its header, and its first byte */
	uint8_t have;
	uint16_t marks; /* of the bytes of the present record */
	bool begun, lost;
	bool spoken;    /* a record of data was seen */
	bool ciphers;   /* ChangeCipherSpec was seen */
	uint8_t *hello; /* the hello that is being read, or NULL */
	uint32_t hello_have, hello_bytes;
};

struct tls {
	struct tls_way ways[2];
	uint16_t version;    /* as the ServerHello says; 0: it has not come */
	bool resumed;        /* the server has taken it, as far as that can be seen */
	bool early;          /* the client has sent data ahead of the ServerHello */
	uint8_t finishing;   /* records of the client that belong to its Finished */
	uint8_t session[32]; /* that the client has named */
	uint8_t session_bytes;
};

/* Returns true if bytes begin as TLS does: with a ClientHello. */
bool tls_begins(const uint8_t *data, size_t bytes);
/* Reads bytes of a way. Writes the name of the server to `name`, if the client says it, and it is
 * empty. Returns marks (flow.h). */
uint16_t tls_take(struct tls *tls, const struct speech_words *words, char name[DNS_NAME_BYTES]);
void tls_free(struct tls *tls);

/* Reads a hello, without its record header. `name`: as above. */
void tls_read_hello(struct tls *tls, int way, const uint8_t *hello, size_t bytes,
                    char name[DNS_NAME_BYTES]);

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
		struct dns_message *dns; /* the latest answer, or question; or NULL */
	};
	struct speech_request *requests;
	uint32_t n_requests;
};

/* Returns the marks of the packet (flow.h). */
uint16_t speech_take(struct speech *speech, const struct speech_words *words);
/* Returns the line of the request that this packet of the client begins, or NULL. */
const char *speech_line(const struct speech *speech, uint32_t number);
void speech_free(struct speech *speech);

#endif
