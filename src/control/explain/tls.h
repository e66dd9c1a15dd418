/* SPDX-License-Identifier: BSD-3-Clause */
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
#ifndef WEIR_TLS_H
#define WEIR_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TLS_HELLO_BYTES 4096
#define TLS_NAME_BYTES  96

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
	char name[TLS_NAME_BYTES]; /* of the server, as the client says; "": not said */
};

/* Returns true if bytes begin as TLS does: with a ClientHello. */
bool tls_begins(const uint8_t *data, size_t bytes);
/* Reads `here` of `bytes` bytes of a way, which begin at `at`. Returns marks (passage.h). */
uint16_t tls_take(struct tls *tls, int way, uint64_t at, const uint8_t *data, uint32_t here,
                  uint32_t bytes);
void tls_free(struct tls *tls);

/* Reads a hello, without its record header. */
void tls_read_hello(struct tls *tls, int way, const uint8_t *hello, size_t bytes);

#endif
