/* SPDX-License-Identifier: BSD-3-Clause */
#include "router/hop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "packet/copy.h"
#include "stage/stage.h"
#include "packet/checksum.h"
#include "router/ip_fragment.h"

#define IPV4_DF      0x4000
#define IPV6_MTU_MIN 1280
#define UDP          17
#define ICMPV6       58

struct hop {
	struct stage stage;
	struct icmp_source source;
	uint32_t mtu; /* UINT32_MAX: none */
	uint32_t mtu_v6;
	struct quota quota;
};

/* What becomes of a packet. */
enum verdict {
	FORWARD,
	UNTOUCHED,
	FRAGMENT,
	EXPIRED,
	TOO_BIG,
	MINE,
};

/* ---- what kind of packet it is ---- */

/* It begins here: an answer of this router in the cloud that it goes back through. */
static bool is_own(const struct hop *hop, const struct rte_mbuf *mbuf,
                   const struct headers *headers, const uint8_t *frame)
{
	const uint8_t *ip = frame + headers->network;

	if (likely(!(packet_of((struct rte_mbuf *)(uintptr_t)mbuf)->flags & PACKET_FOREIGN)))
		return false;
	return headers->ip == 6 ? memcmp(ip + 8, hop->source.v6, 16) == 0
	                        : memcmp(ip + 12, hop->source.v4, 4) == 0;
}

/* What concerns only neighbours. */
static inline bool is_of_link_v4(const uint8_t *ip)
{
	const uint8_t *to = ip + 16;

	if (to[0] == 224 && to[1] == 0 && to[2] == 0)
		return true;
	return headers_u32(to) == UINT32_MAX || hop_is_link_local_v4(to) ||
	       hop_is_link_local_v4(ip + 12);
}

static bool is_of_link_v6(const struct headers *headers, const uint8_t *frame)
{
	const uint8_t *ip = frame + headers->network, *to = ip + 24;
	uint8_t type;

	if ((to[0] == 0xff && (to[1] & 0xf) <= 2) || hop_is_link_local_v6(to) ||
	    hop_is_link_local_v6(ip + 8))
		return true;
	if (headers->protocol != ICMPV6 || headers->transport == 0)
		return false;
	type = frame[headers->transport];
	return type >= 133 && type <= 137;
}

static inline enum verdict judge_v4(const struct hop *hop, const struct headers *headers,
                                    const uint8_t *frame)
{
	const uint8_t *ip = frame + headers->network;

	if (unlikely(is_of_link_v4(ip)))
		return UNTOUCHED;
	if (unlikely(memcmp(ip + 16, hop->source.v4, 4) == 0))
		return MINE;
	if (unlikely(ip[8] <= 1))
		return EXPIRED;
	if (likely(headers->network_bytes <= hop->mtu))
		return FORWARD;
	/* To fragment what came broken would mend it: a router drops it. */
	if (headers_u16(ip + 6) & IPV4_DF || !icmp_header_is_right(headers, frame))
		return TOO_BIG;
	return FRAGMENT;
}

static enum verdict judge_v6(const struct hop *hop, const struct headers *headers,
                             const uint8_t *frame)
{
	const uint8_t *ip = frame + headers->network;

	if (unlikely(is_of_link_v6(headers, frame)))
		return UNTOUCHED;
	if (unlikely(memcmp(ip + 24, hop->source.v6, 16) == 0))
		return MINE;
	if (unlikely(ip[7] <= 1))
		return EXPIRED;
	return likely(headers->network_bytes <= hop->mtu_v6) ? FORWARD : TOO_BIG;
}

/* ---- answers ---- */

static void speak(struct cloud *cloud, struct icmp_source *source, const struct hop_cause *cause,
                  const struct headers *headers, enum icmp_error error, uint32_t rest)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(cloud_pool(cloud));
	uint32_t bytes;

	if (unlikely(!mbuf || rte_pktmbuf_tailroom(mbuf) < ICMP_FRAME_MAX)) {
		rte_pktmbuf_free(mbuf);
		cloud_generate_nothing(cloud, cause->t_ns, cause->number);
		return;
	}
	bytes = icmp_error_write(source, error, rest, headers, cause->frame, cause->bytes,
	                         rte_pktmbuf_mtod(mbuf, uint8_t *));
	mbuf->data_len = (uint16_t)bytes;
	mbuf->pkt_len = bytes;
	cloud_generate(cloud, mbuf, cause->t_ns, cause->number);
}

/* It is among the first of all stages. */
static struct hop *hop_of(const struct cloud *cloud)
{
	struct stage *stage;

	for (uint16_t i = 0; i < HOP_RANK_MAX && (stage = cloud_stage(cloud, i)); i++) {
		if (stage->statement == &hop_statement)
			return (struct hop *)stage;
	}
	return NULL;
}

uint32_t hop_mtu(const struct cloud *cloud)
{
	const struct hop *hop = hop_of(cloud);

	return hop ? RTE_MIN(hop->mtu, (uint32_t)UINT16_MAX) : UINT16_MAX;
}

bool hop_tell(struct cloud *cloud, const struct hop_cause *cause, enum icmp_error error,
              uint32_t rest)
{
	struct hop *hop = hop_of(cloud);
	struct headers headers;

	if (!hop || !headers_find(cause->frame, cause->bytes, cause->wire_bytes, &headers) ||
	    !icmp_can_tell(&hop->source, error, &headers) ||
	    !icmp_may_tell(&headers, cause->frame, cause->bytes))
		return false;
	speak(cloud, &hop->source, cause, &headers, error, rest);
	return true;
}

static void answer(struct hop *hop, struct rte_mbuf *mbuf, const struct headers *headers,
                   enum icmp_error error, uint32_t rest)
{
	const struct packet *packet = packet_of(mbuf);
	uint8_t room[ICMP_FRAME_MAX];
	struct hop_cause cause = {
	        .bytes = RTE_MIN(mbuf->pkt_len, (uint32_t)ICMP_FRAME_MAX),
	        .wire_bytes = packet->wire_bytes,
	        .t_ns = packet->t_ns,
	        .number = packet->number,
	};

	cause.frame = rte_pktmbuf_read(mbuf, 0, cause.bytes, room);
	if (icmp_can_tell(&hop->source, error, headers) &&
	    icmp_may_tell(headers, cause.frame, cause.bytes) && quota_take(&hop->quota, cause.t_ns))
		speak(hop->stage.cloud, &hop->source, &cause, headers, error, rest);
}

/* The packet ended here: dropped, and answered if it asks for it. */
static void receive(struct hop *hop, struct rte_mbuf *mbuf, const struct headers *headers)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	struct cloud *cloud = hop->stage.cloud;
	struct packet packet = *packet_of(mbuf);
	struct rte_mbuf *reply = NULL;
	bool echo = !(frame[0] & 1) && packet.wire_bytes == mbuf->pkt_len &&
	            icmp_is_echo_request(headers, frame);

	if (echo)
		reply = copy_make(cloud_pool(cloud), mbuf);
	else if (headers->protocol == UDP)
		answer(hop, mbuf, headers, ICMP_PORT_UNREACHABLE, 0);
	cloud_drop(cloud, mbuf, REASON_TO_HOP);
	if (reply) {
		icmp_echo_turn(&hop->source, headers, rte_pktmbuf_mtod(reply, uint8_t *));
		cloud_generate(cloud, reply, packet.t_ns, packet.number);
	} else if (echo) {
		cloud_generate_nothing(cloud, packet.t_ns, packet.number);
	}
}

/* ---- the way on ---- */

/* TTL, protocol and checksum of IPv4, which are one word. */
static inline uint32_t life_less(uint32_t life)
{
	return ((life - 0x01000000) & 0xffff0000) | checksum_upper_less((uint16_t)life);
}

static inline void decrement(struct rte_mbuf *mbuf, const struct headers *headers)
{
	uint8_t *ip = rte_pktmbuf_mtod_offset(mbuf, uint8_t *, headers->network);

	if (headers->ip == 6)
		ip[7]--;
	else
		headers_put_u32(ip + 8, life_less(headers_u32(ip + 8)));
}

/* What the hop asks of a burst of usual packets, gathered, so that of the questions the compiler
 * makes vector instructions. */
struct usual {
	uint8_t *ip[BURST_ROOM];
	uint32_t address[BURST_ROOM][2]; /* from, to; as the bytes lie */
	uint32_t life[BURST_ROOM];
	uint32_t bytes_max;
};

/* False: not all are usual, or an answer is among them. */
static inline bool gather(struct usual *usual, struct rte_mbuf *const *mbufs, uint16_t n)
{
	uint32_t bytes_max = 0;
	uint8_t flags = 0;

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *mbuf = mbufs[i];
		uint8_t *ip = rte_pktmbuf_mtod_offset(mbuf, uint8_t *, HEADERS_USUAL_IP);
		uint32_t bytes;

		if (unlikely(!headers_usual(mbuf)))
			return false;
		bytes = headers_place(mbuf)->network_bytes;
		bytes_max = bytes > bytes_max ? bytes : bytes_max;
		flags |= packet_of(mbuf)->flags;
		usual->ip[i] = ip;
		memcpy(usual->address[i], ip + 12, sizeof(usual->address[i]));
		usual->life[i] = headers_u32(ip + 8);
	}
	usual->bytes_max = bytes_max;
	return !(flags & PACKET_FOREIGN);
}

/* Whether judge_v4 says FORWARD of all. Addresses that it asks for in packets to them are those of
 * no sender, or it does not matter. */
static inline bool all_go_on(const struct hop *hop, const struct usual *usual, uint16_t n)
{
	const uint32_t first_two = RTE_BE32(0xffff0000), first_three = RTE_BE32(0xffffff00);
	const uint32_t *address = usual->address[0];
	uint32_t others = 0, mine;

	memcpy(&mine, hop->source.v4, sizeof(mine));
	for (uint32_t i = 0; i < 2u * n; i++)
		others |= ((address[i] & first_three) == RTE_BE32(0xe0000000)) |
		          (address[i] == UINT32_MAX) |
		          ((address[i] & first_two) == RTE_BE32(0xa9fe0000)) | (address[i] == mine);
	for (uint32_t i = 0; i < n; i++)
		others |= usual->life[i] < 0x02000000;
	return !others && usual->bytes_max <= hop->mtu;
}

/* False: not all are usual packets that go on, and nothing was done. */
static bool pass_usual(const struct hop *hop, struct rte_mbuf *const *mbufs, uint16_t n)
{
	struct usual usual;

	if (unlikely(!gather(&usual, mbufs, n) || !all_go_on(hop, &usual, n)))
		return false;
	for (uint16_t i = 0; i < n; i++)
		usual.life[i] = life_less(usual.life[i]);
	for (uint16_t i = 0; i < n; i++)
		headers_put_u32(usual.ip[i] + 8, usual.life[i]);
	return true;
}

/* IPv4 that goes on, in an mbuf that nobody else sees. False: it is no such packet, or not for
 * certain. */
static inline bool pass_plain(const struct hop *hop, struct rte_mbuf *mbuf)
{
	const struct headers *headers = headers_at(mbuf);

	if (headers->ip != 4 || packet_of(mbuf)->flags & PACKET_FOREIGN ||
	    judge_v4(hop, headers, rte_pktmbuf_mtod(mbuf, const uint8_t *)) != FORWARD ||
	    !copy_is_writable(mbuf))
		return false;
	decrement(mbuf, headers);
	return true;
}

/* Fragments in the packet's place; how many. */
static uint16_t divide(struct hop *hop, struct rte_mbuf *mbuf, const struct headers *headers,
                       struct rte_mbuf **fragments, uint16_t room)
{
	struct cloud *cloud = hop->stage.cloud;
	uint16_t n;

	if (unlikely(ip_fragments(mbuf, headers, hop->mtu) > room)) {
		cloud_drop(cloud, mbuf, REASON_FRAGMENTS);
		return 0;
	}
	n = (uint16_t)ip_fragment(mbuf, headers, hop->mtu, cloud_pool(cloud), fragments);
	if (unlikely(n == 0)) {
		cloud_drop(cloud, mbuf, REASON_NO_BUFFER);
		return 0;
	}
	rte_pktmbuf_free(mbuf);
	for (uint16_t i = 0; i < n; i++) {
		decrement(fragments[i], headers);
		if (i > 0)
			packet_of(fragments[i])->flags |= PACKET_GENERATED;
	}
	cloud_counters(cloud)->generated += n - 1u;
	return n;
}

/* What becomes of one packet goes to `out`, which has room for so many. */
static __attribute__((noinline)) uint16_t pass(struct hop *hop, struct rte_mbuf *mbuf,
                                               struct rte_mbuf **out, uint16_t room)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	struct cloud *cloud = hop->stage.cloud;
	const struct headers *headers = headers_at(mbuf);
	enum verdict verdict = UNTOUCHED;
	struct headers kept; /* for who looks at them when the packet is gone */

	if (likely(headers->ip != 0 && !is_own(hop, mbuf, headers, frame)))
		verdict = headers->ip == 6 ? judge_v6(hop, headers, frame)
		                           : judge_v4(hop, headers, frame);
	switch (verdict) {
	case FORWARD:
		mbuf = cloud_writable(cloud, mbuf);
		if (unlikely(!mbuf))
			return 0;
		decrement(mbuf, headers_at(mbuf));
		break;
	case UNTOUCHED:
		break;
	case FRAGMENT:
		kept = *headers;
		return divide(hop, mbuf, &kept, out, room);
	case EXPIRED:
		answer(hop, mbuf, headers, ICMP_TIME_EXCEEDED, 0);
		cloud_drop(cloud, mbuf, REASON_TTL_EXPIRED);
		return 0;
	case TOO_BIG:
		answer(hop, mbuf, headers, ICMP_TOO_BIG, headers->ip == 6 ? hop->mtu_v6 : hop->mtu);
		cloud_drop(cloud, mbuf, REASON_TOO_BIG);
		return 0;
	case MINE:
		kept = *headers;
		receive(hop, mbuf, &kept);
		return 0;
	}
	*out = mbuf;
	return 1;
}

static uint16_t hop_process(struct stage *stage, struct rte_mbuf **packets, uint16_t n)
{
	struct hop *hop = (struct hop *)stage;
	struct rte_mbuf *came[BURST_ROOM];
	uint16_t kept = 0;

	stage->drawn += n;
	if (likely(pass_usual(hop, packets, n)))
		return n;
	memcpy(came, packets, n * sizeof(*came));
	for (uint16_t i = 0; i < n; i++) {
		/* There stays a place for each that is still to come. */
		uint16_t room = (uint16_t)(BURST_ROOM - kept - (n - i - 1));

		if (likely(pass_plain(hop, came[i])))
			packets[kept++] = came[i];
		else
			kept = (uint16_t)(kept + pass(hop, came[i], &packets[kept], room));
	}
	return kept;
}

/* ---- what surely needs no answer ---- */

/* Untagged IP that goes on, whatever else is in it. Of what is too short to say: no. */
static bool is_calm(const struct hop *hop, const struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *),
	              *ip = frame + RTE_ETHER_HDR_LEN;
	uint16_t ethertype;

	if (unlikely(mbuf->data_len < RTE_ETHER_HDR_LEN + 20))
		return false;
	ethertype = headers_u16(frame + 12);
	if (ethertype == RTE_ETHER_TYPE_IPV4)
		return ip[8] > 1 && memcmp(ip + 16, hop->source.v4, 4) != 0 &&
		       headers_u16(ip + 2) <= hop->mtu;
	if (ethertype == RTE_ETHER_TYPE_IPV6)
		return mbuf->data_len >= RTE_ETHER_HDR_LEN + 40 && ip[7] > 1 &&
		       memcmp(ip + 24, hop->source.v6, 16) != 0 &&
		       headers_u16(ip + 4) + 40u <= hop->mtu_v6;
	return false;
}

/* The same of a usual packet. */
static inline bool is_calm_usual(const struct hop *hop, struct rte_mbuf *mbuf)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(mbuf, const uint8_t *, HEADERS_USUAL_IP);

	return ip[8] > 1 && memcmp(ip + 16, hop->source.v4, 4) != 0 &&
	       headers_place(mbuf)->network_bytes <= hop->mtu;
}

uint16_t hop_calm(const struct stage *stage, struct rte_mbuf *const *packets, uint16_t n)
{
	const struct hop *hop = (const struct hop *)stage;
	uint16_t calm = 0;

	while (calm < n && likely(headers_usual(packets[calm]) ? is_calm_usual(hop, packets[calm])
	                                                       : is_calm(hop, packets[calm])))
		calm++;
	return calm;
}

/* ---- making ---- */

int hop_make(const struct conf *conf, struct stage **stage)
{
	const struct hop_conf *asked = (const struct hop_conf *)conf;
	struct hop *hop = calloc(1, sizeof(*hop));

	if (!hop)
		return -ENOMEM;
	hop->stage.process = hop_process;
	memcpy(hop->source.v4, &asked->v4, 4);
	memcpy(hop->source.v6, asked->v6, 16);
	hop->mtu = asked->mtu ? (uint32_t)asked->mtu : UINT32_MAX;
	hop->mtu_v6 = RTE_MAX(hop->mtu, (uint32_t)IPV6_MTU_MIN);
	quota_make(&hop->quota, asked->limit, asked->burst);
	*stage = &hop->stage;
	return 0;
}

void hop_free(struct stage *stage)
{
	free(stage);
}

void hop_adopt(struct stage *stage, const struct stage *old)
{
	struct hop *hop = (struct hop *)stage;
	const struct hop *before = (const struct hop *)old;

	hop->source.identification = before->source.identification;
	quota_adopt(&hop->quota, &before->quota);
}
