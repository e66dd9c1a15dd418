/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fields of a packet that choose its cloud: addresses, protocol, ports, tags, label, DSCP.
 *
 * A key has a fixed layout without gaps, so that a condition is a mask and a value: a packet fits
 * if key & mask == value, word by word. A field that the packet lacks is 0 in its key. Where 0 is a
 * value too, a bit beside it is set if the field is there.
 *
 * VLAN tags are seen through (headers.h). Addresses are those of IP, or the protocol addresses of
 * ARP, as in tcpdump's `host`. Nothing behind an MPLS label stack is read. Only TCP, UDP and SCTP
 * have ports, and of a fragmented packet only the first fragment.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_PACKET_KEY_H
#define WEIR_PACKET_KEY_H

#include <stdint.h>

#include "packet/burst.h"

#define KEY_WORDS 7

#define KEY_TAG_THERE   0x1000     /* in `tag`, beside the 12 bits */
#define KEY_LABEL_THERE (1u << 20) /* in `label`, beside the 20 bits */
#define KEY_DSCP_THERE  0x40       /* in `dscp`, beside the 6 bits */

struct packet_key {
	union {
		uint64_t word[KEY_WORDS];
		struct {
			uint8_t source[16]; /* in network order; the first 4 bytes for IPv4 and
			                     * ARP */
			uint8_t destination[16];
			uint16_t ethertype; /* behind the tags */
			uint16_t source_port, destination_port;
			uint16_t tag[2]; /* the outermost and the second */
			uint8_t family;  /* of the addresses: 4 or 6; 0: none */
			uint8_t protocol;
			uint32_t label; /* the topmost one of MPLS */
			uint8_t dscp;
			uint8_t has_ports, is_ip;
			uint8_t unused[5];
		};
	};
};

_Static_assert(sizeof(struct packet_key) == KEY_WORDS * sizeof(uint64_t), "no gaps");

void packet_key_read(struct burst *burst, uint32_t i, struct packet_key *key);
/* Reads the key of a frame of `whole_bytes`, of which the first `bytes` are at `data`. */
void packet_key_of(const uint8_t *data, uint32_t bytes, uint32_t whole_bytes,
                   struct packet_key *key);

/* Returns a hash of the key under a mask. `words`: the n words in which the mask has bits. */
static inline uint64_t packet_key_hash(const struct packet_key *key, const struct packet_key *mask,
                                       const uint8_t *words, uint32_t n)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < n; i++) {
		hash = (hash ^ (key->word[words[i]] & mask->word[words[i]])) *
		       UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return hash * UINT64_C(0x9e3779b97f4a7c15);
}

/* Returns true if the key under the mask equals the values. */
static inline bool packet_key_is(const struct packet_key *key, const struct packet_key *mask,
                                 const uint8_t *words, uint32_t n, const uint64_t *values)
{
	uint64_t differ = 0;

	for (uint32_t i = 0; i < n; i++)
		differ |= (key->word[words[i]] & mask->word[words[i]]) ^ values[i];
	return differ == 0;
}

#endif
