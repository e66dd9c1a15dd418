/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `hop 192.0.2.1 [2001:db8::1] [mtu 1400]`: the cloud is a router with these addresses.
 *
 * Model: RFC 1812 and RFC 8200, as far as a path shows them. A packet meets the hop when it comes
 * to the cloud, before all other statements, which describe the link behind the hop. In this order:
 *
 *   1. Packets that routers do not forward pass untouched, because the hosts at both ends are
 *      neighbours: frames that are not IP (ARP), neighbour discovery (ICMPv6 133 to 137),
 *      link-local addresses, groups of link scope (224.0.0.0/24, ff02::) and 255.255.255.255. So
 *      does an answer of this very hop that enters a cloud by `through`: it begins there.
 *   2. A packet addressed to the hop itself ends there (reason `to-hop`). The hop answers an echo
 *      request with the reply, and UDP with port unreachable.
 *   3. A packet with TTL or hop limit 0 or 1 is dropped (`ttl-expired`), and answered with time
 *      exceeded.
 *   4. If the IP packet is longer than the mtu: IPv4 without DF is fragmented, in
 *      at most BURST_ROOM fragments, else dropped as `fragments`. So is a packet that ends beyond
 *      65535 bytes, which the offsets of fragments cannot express. Any other packet is dropped
 *      (`too-big`) and answered with fragmentation needed and the next hop's MTU (RFC 1191), or
 *      packet too big. For IPv6 an mtu below 1280 counts as 1280: the link would have to ensure it
 *      (RFC 8200, section 5).
 *   5. TTL or hop limit is decremented, and the IPv4 checksum corrected incrementally (RFC 1624).
 *
 * IPv4 options and IPv6 hop-by-hop options are ignored. A header that is not whole in the first
 * segment does not count as an IP header.
 *
 * Answers have the hop's address as source, and as Ethernet destination the sender of the
 * packet. They leave at the port where the packets of the cloud came in, at the instant of the
 * decision (cloud_generate in stage.h). With `through CLOUD` they enter that cloud instead: the way
 * back from the hop. Packets that must not be answered are not (icmp_may_tell), and a hop without
 * an IPv6 address answers no IPv6 packet. Errors have a limit (RFC 1812 4.3.2.8, RFC 4443 2.4 f): a
 * token bucket in virtual time, exact, full at first, by default 1000 a second and 50 at once, as
 * in Linux. Above the limit, packets are dropped in silence; with `limit 0` the router never
 * answers with an error. Echo replies have no limit.
 *
 * Counters: each answer, and each fragment but the first of its packet, is `generated`. No
 * randomness. A change keeps the bucket and the next identification.
 *
 * Ranges: mtu 256 to 65535, limit 0 to 10^9 a second, burst 1 to 10^6.
 */
#ifndef WEIR_HOP_H
#define WEIR_HOP_H

#include "packet/headers.h"
#include "router/quota.h"
#include "scenario/statement.h"

/*
 * The messages of a router about a packet: ICMP errors (RFC 792, RFC 1191, RFC 1812) and ICMPv6
 * errors (RFC 4443), as whole frames, and the answer to an echo request.
 *
 * A frame goes back to where the packet came from. Its Ethernet addresses are those of the packet,
 * exchanged, because an emulated router has none and resolves none. Its VLAN tags are the packet's.
 *
 *   IPv4   no options, type of service 0xc0 (internetwork control, RFC 1812 4.3.2.5), TTL 64, DF
 *          not set, identification from a counter of the router. It quotes the packet from its IP
 *          header on, as it came, as much as fits into 576 bytes (RFC 1812 4.3.2.3).
 *   IPv6   traffic class and flow label 0, hop limit 64. It quotes as much as fits into 1280 bytes
 *          (RFC 4443 2.4).
 *
 * A source quench is the shortest that RFC 792 allows: it quotes the IP header and 8 bytes, so that
 * one about a packet without options has 56 bytes. IPv6 has none; the router sends type 200, code
 * 0, which is for private experimentation (RFC 4443 2.1), with the same layout: a word of the
 * caller's, the IPv6 header, and the 8 bytes behind it. That type counts as an error: no message is
 * sent about one.
 *
 * Padding behind the IP packet is not quoted, nor bytes that a capture has cut off.
 *
 * Thread: pure functions of their arguments, any.
 */

/* The longest frame: an IPv6 error with all its tags. Also the number of bytes of a packet that are
 * needed to quote it in full. */
#define ICMP_FRAME_MAX (14 + 4 * HEADERS_TAGS_MAX + 1280)

#define ICMP_TTL 64

enum icmp_error {
	ICMP_TIME_EXCEEDED,    /* in transit */
	ICMP_TOO_BIG,          /* `rest`: the MTU of the next hop */
	ICMP_PORT_UNREACHABLE, /* at the router's own address */
	ICMP_SOURCE_QUENCH,    /* `rest`: of the caller's choice */
};

/* The router that sends. */
struct icmp_source {
	uint8_t v4[4];
	uint8_t v6[16];          /* all 0: none, and it sends nothing about IPv6 packets */
	uint16_t identification; /* of the next IPv4 packet */
};

/* Returns true if an error may be sent about the packet whose first `bytes` are at `frame`. It may
 * not be about an ICMP error or redirect, a fragment other than the first, a packet to a group or
 * to all, in Ethernet or in IP, a packet whose source is not the address of one node, or one with a
 * wrong header checksum (RFC 1812 4.3.2.7, RFC 4443 2.4 e), nor about an ICMP packet whose type is
 * cut off. */
bool icmp_may_tell(const struct headers *headers, const uint8_t *frame, uint32_t bytes);

/* Returns true if the router has an IPv6 address. */
bool icmp_has_v6(const struct icmp_source *source);

/* Returns true if the router has an address of that IP version, and that version has the
 * message. */
bool icmp_can_tell(const struct icmp_source *source, enum icmp_error error,
                   const struct headers *headers);

/* Writes the frame to `to`, which has room for ICMP_FRAME_MAX bytes, and returns its length.
 * icmp_can_tell and icmp_may_tell must hold. `bytes` are at `frame`, more than the headers. */
uint32_t icmp_error_write(struct icmp_source *source, enum icmp_error error, uint32_t rest,
                          const struct headers *headers, const uint8_t *frame, uint32_t bytes,
                          uint8_t *to);

/* Returns true if the packet is an echo request, and whole. */
bool icmp_is_echo_request(const struct headers *headers, const uint8_t *frame);
/* Turns it into the reply, from the address that it was sent to. `frame`: its first segment. */
void icmp_echo_turn(struct icmp_source *source, const struct headers *headers, uint8_t *frame);

/* Returns true if the checksum of the IPv4 header is right. */
bool icmp_header_is_right(const struct headers *headers, const uint8_t *frame);

struct burst;
struct cloud;
struct scenario;
struct stage;

#define HOP_RANK_MAX      4 /* the first stages of a cloud: down, meter, feedback, hop */
#define HOP_MTU_MIN       256
#define HOP_LIMIT_DEFAULT 1000
#define HOP_LIMIT_MAX     QUOTA_LIMIT_MAX
#define HOP_BURST_DEFAULT 50
#define HOP_BURST_MAX     QUOTA_BURST_MAX

struct hop_conf {
	struct conf conf;
	uint32_t v4;    /* network order */
	uint8_t v6[16]; /* all 0: no IPv6 address */
	uint64_t mtu;   /* 0: no limit */
	uint64_t limit, burst;
	char *through; /* the name of a cloud, or NULL */
};

extern const struct statement hop_statement;

/* Addresses that no router forwards. */
static inline bool hop_is_link_local_v4(const uint8_t *address)
{
	return address[0] == 169 && address[1] == 254;
}

static inline bool hop_is_link_local_v6(const uint8_t *address)
{
	return address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
}

#define HOP_NOT_THROUGH UINT32_MAX

/* Finds the cloud of the scenario that the answers of `cloud` go through, or HOP_NOT_THROUGH.
 * Returns 0, or -EINVAL with problem if there is no such cloud or it leads elsewhere.
 * Thread: control. */
int hop_through(const struct scenario *scenario, const struct cloud_conf *cloud, uint32_t *index,
                struct problem *problem);

/* Returns the MTU of the cloud's hop, or UINT16_MAX if it has none or there is no hop.
 * Thread: worker. */
uint32_t hop_mtu(const struct cloud *cloud);

/* A packet about which the hop sends a message: its first ICMP_FRAME_MAX bytes, or all of them. */
struct hop_cause {
	const uint8_t *frame;
	uint32_t bytes, wire_bytes;
	simtime t_ns; /* of the decision */
	uint64_t number;
};

/* Sends a message from the hop's address for another statement, if it may be sent (icmp_may_tell).
 * The hop's limit does not apply. Returns true if it was sent, false also if the cloud has no hop.
 * Thread: worker. */
bool hop_tell(struct cloud *cloud, const struct hop_cause *cause, enum icmp_error error,
              uint32_t rest);

/*
 * Fragments IPv4 packets as a router does (RFC 791, section 3.2; RFC 815 reassembles them).
 *
 * Each fragment has the frame's Ethernet header and tags, the IP header, and as much of the data,
 * in units of 8 bytes, as the MTU allows. The first has all options; the others have those with the
 * copied bit, padded with zeros to whole words. A fragment can be fragmented again: its offset and
 * its "more fragments" continue. Identification, type of service, TTL and addresses are the
 * packet's; lengths and checksums are computed for each fragment. Padding behind the IP packet is
 * removed. If a capture has cut the packet, each fragment has what is there of its part, and its
 * full length on the wire.
 *
 * Thread: the worker that owns the packet.
 */

/* Returns how many fragments an IPv4 packet makes that is longer than `mtu` (at least 68), or
 * UINT32_MAX if 13 bits cannot express their offsets: for a fragment that ends beyond 65535 bytes,
 * or a frame that a card was to segment. */
uint32_t ip_fragments(const struct rte_mbuf *packet, const struct headers *headers, uint32_t mtu);

/* Fragments an IPv4 packet that is longer than `mtu` (at least 68) into mbufs of the pool.
 * `fragments` has room for ip_fragments(). On the wire each is as long as its IP header says. The
 * caller keeps the packet, which does not change. Returns their number; 0 if there are not enough
 * mbufs, and then none is taken. */
uint32_t ip_fragment(const struct rte_mbuf *packet, const struct headers *headers, uint32_t mtu,
                     struct rte_mempool *pool, struct rte_mbuf **fragments);

#endif
