/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The unified header of fine-grained explicit router feedback: struct oqhdr of "Development of
 * network emulator and its application to explicit router feedback" (section 4, figure 2), in
 * network order, as an IP protocol of its own between IP and the transport:
 *
 *   byte 0  req_mode   0: no request; OQ_MIN 1, OQ_MAX 2, OQ_TTL 3
 *        1  req_probe  0: nothing; OQ_LINK 1, OQ_LOSS 2, OQ_QUEUE 3
 *        2  req_flag   reserved: 0 when sent, and ignored
 *        3  req_ttl    OQ_TTL: the router answers where the packet arrives with this TTL in IP
 *        4  res_probe  of the answers
 *        5  res_len    bytes of answers: 0, 8, ... 64
 *        6  res_ttl    of the first answer; each that follows is of a TTL less by one
 *        7  oq_p       the protocol that follows
 *        8  request    two numbers of 32 bits, which the router writes
 *       16  answers    res_len / 8 times two numbers
 *
 *   LINK   capacity, available bandwidth   kbit/s, rounded down
 *   LOSS   packet loss rate, error rate    10^-9
 *   QUEUE  size                            packets
 *          queuing delay                   us
 *
 * A number that does not fit, or has no limit, is OQ_MOST. OQ_NOBODY means that no router has
 * written: a request holds it when it is sent, except in mode MAX, where it holds 0.
 *
 * A header is malformed if the end of the packet, of the fragment or of the first segment cuts it
 * off, if it has another mode or probe than these, or if its res_len is no multiple of 8, above 64
 * or beyond the packet. Fragments other than the first have no header.
 *
 * Source: the paper. It leaves open the numbers of modes and probes and the units;
 * docs/feedback-header.md says how they are decided.
 * Thread: pure functions, any.
 */
#ifndef WEIR_OQ_HEADER_H
#define WEIR_OQ_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "packet/burst.h"
#include "packet/headers.h"

#define OQ_PROTOCOL_DEFAULT 253 /* for experiments: RFC 3692 */
#define OQ_BYTES            16
#define OQ_ANSWER_BYTES     8
#define OQ_ANSWERS_MAX      8
#define OQ_NOBODY           UINT32_MAX
#define OQ_MOST             (UINT32_MAX - 1)

enum oq_mode { OQ_NO_MODE, OQ_MIN, OQ_MAX, OQ_TTL, OQ_MODES };
enum oq_probe { OQ_NO_PROBE, OQ_LINK, OQ_LOSS, OQ_QUEUE, OQ_PROBES };

enum oq_at {
	OQ_REQ_MODE,
	OQ_REQ_PROBE,
	OQ_REQ_FLAG,
	OQ_REQ_TTL,
	OQ_RES_PROBE,
	OQ_RES_LEN,
	OQ_RES_TTL,
	OQ_NEXT,
	OQ_REQUEST,
	OQ_ANSWERS = OQ_BYTES,
};

struct oq_value {
	uint32_t number[2];
};

_Static_assert(OQ_MODES == 4 && OQ_PROBES == 4, "two bits each: oq_find");

enum oq_find { OQ_ABSENT, OQ_MALFORMED, OQ_FOUND };

/* Looks for a header of this protocol, and checks it. If it is found, it is at
 * headers->transport. */
static inline enum oq_find oq_find(const struct headers *headers, const uint8_t *frame,
                                   uint8_t protocol)
{
	/* Bits that are 0 in a header that is not malformed, of its first 8 bytes, with the first
	 * byte in the lowest bits: those above modes and probes, and those below 8 in the
	 * length. */
	const uint64_t beyond = 0xfcfc | UINT64_C(0xfc) << 8 * OQ_RES_PROBE |
	                        (OQ_ANSWER_BYTES - UINT64_C(1)) << 8 * OQ_RES_LEN;
	const uint8_t *oq = frame + headers->transport;
	uint32_t here = headers->transport_here;
	uint64_t first;

	if (headers->protocol != protocol || headers->fragment || headers->ip == 0)
		return OQ_ABSENT;
	if (headers->transport == 0 || here < OQ_BYTES)
		return OQ_MALFORMED;
	memcpy(&first, oq, sizeof(first));
	if (rte_le_to_cpu_64(first) & beyond || oq[OQ_RES_LEN] > OQ_ANSWERS_MAX * OQ_ANSWER_BYTES ||
	    here < (uint32_t)OQ_BYTES + oq[OQ_RES_LEN])
		return OQ_MALFORMED;
	return OQ_FOUND;
}

/* Returns the TTL or hop limit of the packet. */
static inline uint8_t oq_ttl(const struct headers *headers, const uint8_t *frame)
{
	return frame[headers->network + (headers->ip == 6 ? 7 : 8)];
}

static inline struct oq_value oq_get(const uint8_t *at)
{
	return (struct oq_value){{headers_u32(at), headers_u32(at + 4)}};
}

static inline void oq_put(uint8_t *at, const struct oq_value *value)
{
	headers_put_u32(at, value->number[0]);
	headers_put_u32(at + 4, value->number[1]);
}

/* Returns what a router whose own number is `mine` writes over the number in a request of this
 * mode. */
static inline uint32_t oq_merge(enum oq_mode mode, uint32_t number, uint32_t mine)
{
	if (mode == OQ_MIN)
		return mine < number ? mine : number;
	if (mode == OQ_MAX)
		return mine > number ? mine : number;
	return mine;
}

/* Returns the number, at most OQ_MOST. */
static inline uint32_t oq_number(uint64_t number)
{
	return number < OQ_MOST ? (uint32_t)number : OQ_MOST;
}

/*
 * Inserts bytes between the IP header and what follows, and removes them.
 *
 * The total length (IPv4) or payload length (IPv6) and the protocol, or the last Next Header,
 * become those of the new packet. The IPv4 header checksum is corrected incrementally (RFC 1624),
 * so a wrong one stays wrong. Nothing else changes; removing what was inserted restores the same
 * bytes. Padding behind the end of the IP packet stays there.
 *
 * Thread: the worker that owns the packet.
 */

/* Returns true if so many bytes can be inserted. The packet must have a transport header, be whole
 * (the fragments would not fit together again), have no authentication header (it covers what would
 * change), and state its length. The longer packet must not exceed IP's length, nor the longer
 * frame, padding included, its limit (packet_may_grow). The mbuf, as it will be when it is
 * writable, must have the headroom. */
bool header_room_fits(const struct headers *headers, const struct burst *burst, uint32_t i,
                      uint32_t bytes);
/* Returns true if a header of so many bytes at the place of the transport can be removed. */
bool header_room_spares(const struct headers *headers, const struct rte_mbuf *mbuf, uint32_t bytes);

/* Inserts `bytes` into packet i, which is writable. `protocol`: of what is inserted. Returns where
 * the bytes begin, which the caller fills in. */
uint8_t *header_room_make(const struct headers *headers, struct burst *burst, uint32_t i,
                          uint32_t bytes, uint8_t protocol);
/* Removes the bytes. `protocol`: of what follows them. */
void header_room_close(const struct headers *headers, struct burst *burst, uint32_t i,
                       uint32_t bytes, uint8_t protocol);

#endif
