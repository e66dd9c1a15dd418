/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams of QUIC, as far as they can be read without keys: the long headers of the handshake
 * (RFC 8999, RFC 9000, RFC 9369). All else is encrypted. A datagram of QUIC_NOTICE_BYTES or less
 * behind the handshake is taken for an acknowledgement.
 *
 * Thread: one at a time.
 */
#ifndef WEIR_QUIC_H
#define WEIR_QUIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUIC_NOTICE_BYTES 60

struct quic {
	uint32_t version;
	bool early;   /* the client has sent data with keys of an earlier connection */
	bool open[2]; /* the host has sent something behind the handshake */
};

/* Returns true if a datagram is the first of a client. */
bool quic_begins(const uint8_t *data, size_t bytes);
/* Returns the marks of a datagram of `bytes`, of which `here` are there (passage.h). */
uint16_t quic_take(struct quic *quic, int way, const uint8_t *data, uint32_t here, uint32_t bytes);

#endif
