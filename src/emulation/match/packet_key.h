/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What clouds are chosen by, taken out of a packet: addresses, protocol, ports, tags, label, DSCP.
 *
 * A key has a fixed layout without gaps, so that a choice is a mask and a value: a packet fits when
 * key & mask == value, word by word. What a packet does not have is 0 in its key; where 0 is also a
 * value, a bit beside it says that it is there.
 *
 * VLAN tags are seen through (headers.h). Addresses are those of IP, or the protocol addresses of
 * ARP, as in tcpdump's `host`. Behind an MPLS label stack nothing is looked for. A fragment that is
 * not the first has no ports, and no packet that is no TCP, UDP or SCTP has any.
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
			uint8_t source[16]; /* in network order; IPv4 and ARP: the first 4 */
			uint8_t destination[16];
			uint16_t ethertype; /* behind the tags */
			uint16_t source_port, destination_port;
			uint16_t tag[2]; /* the outermost and the second */
			uint8_t family;  /* of the addresses: 4 or 6; 0: there are none */
			uint8_t protocol;
			uint32_t label; /* the topmost of MPLS */
			uint8_t dscp;
			uint8_t has_ports, is_ip;
			uint8_t unused[5];
		};
	};
};

_Static_assert(sizeof(struct packet_key) == KEY_WORDS * sizeof(uint64_t), "no gaps");

void packet_key_read(struct burst *burst, uint32_t i, struct packet_key *key);
/* The same of the first `bytes` of a frame that is `whole_bytes` long. */
void packet_key_of(const uint8_t *data, uint32_t bytes, uint32_t whole_bytes,
                   struct packet_key *key);

/* A hash of what a mask leaves of a key; `words`: those n in which the mask has bits. */
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

/* Whether that is these values. */
static inline bool packet_key_is(const struct packet_key *key, const struct packet_key *mask,
                                 const uint8_t *words, uint32_t n, const uint64_t *values)
{
	uint64_t differ = 0;

	for (uint32_t i = 0; i < n; i++)
		differ |= (key->word[words[i]] & mask->word[words[i]]) ^ values[i];
	return differ == 0;
}

#endif
