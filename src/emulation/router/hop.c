/* SPDX-License-Identifier: BSD-3-Clause */
#include "router/hop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "packet/checksum.h"
#include "packet/copy.h"
#include "scenario/scenario.h"
#include "stage/stage.h"

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

/* The treatment of a packet. */
enum verdict {
	FORWARD,
	UNTOUCHED,
	FRAGMENT,
	EXPIRED,
	TOO_BIG,
	MINE,
};

/* ---- kinds of packets ---- */

/* A router without an IPv6 address does not have the address `::` either. */
static inline bool is_mine_v6(const struct hop *hop, const uint8_t *address)
{
	return memcmp(address, hop->source.v6, 16) == 0 && icmp_has_v6(&hop->source);
}

/* Returns true for an answer of this router in the cloud that it goes back through: it begins
 * here. */
static bool is_own(const struct hop *hop, uint8_t flags, const struct headers *headers,
                   const uint8_t *frame)
{
	const uint8_t *ip = frame + headers->network;

	if (likely(!(flags & PACKET_FOREIGN)))
		return false;
	return headers->ip == 6 ? is_mine_v6(hop, ip + 8) : memcmp(ip + 12, hop->source.v4, 4) == 0;
}

/* Packets that concern only neighbours. */
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
	/* Fragmenting would repair a wrong header checksum; a router drops such a packet. */
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
	if (unlikely(is_mine_v6(hop, ip + 24)))
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

/* Finds the hop, which is one of the first stages. */
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

static void answer(struct hop *hop, const struct burst *burst, uint16_t i,
                   const struct headers *headers, enum icmp_error error, uint32_t rest)
{
	const struct rte_mbuf *mbuf = burst->mbuf[i];
	uint8_t room[ICMP_FRAME_MAX];
	struct hop_cause cause = {
	        .bytes = RTE_MIN(mbuf->pkt_len, (uint32_t)ICMP_FRAME_MAX),
	        .wire_bytes = burst_wire_bytes(burst, i),
	        .t_ns = burst_t(burst, i),
	        .number = burst_number(burst, i),
	};

	cause.frame = rte_pktmbuf_read(mbuf, 0, cause.bytes, room);
	if (icmp_can_tell(&hop->source, error, headers) &&
	    icmp_may_tell(headers, cause.frame, cause.bytes) && quota_take(&hop->quota, cause.t_ns))
		speak(hop->stage.cloud, &hop->source, &cause, headers, error, rest);
}

/* Drops a packet addressed to the hop, and answers an echo request or UDP. */
static void receive(struct hop *hop, struct burst *burst, uint16_t i, const struct headers *headers)
{
	struct rte_mbuf *mbuf = burst->mbuf[i], *reply = NULL;
	const uint8_t *frame = burst_frame(burst, i);
	struct cloud *cloud = hop->stage.cloud;
	bool echo = !(frame[0] & 1) && burst_wire_bytes(burst, i) == mbuf->pkt_len &&
	            icmp_is_echo_request(headers, frame);

	if (echo)
		reply = copy_make(cloud_pool(cloud), mbuf);
	else if (headers->protocol == UDP)
		answer(hop, burst, i, headers, ICMP_PORT_UNREACHABLE, 0);
	cloud_drop(cloud, burst, i, REASON_TO_HOP);
	if (reply) {
		icmp_echo_turn(&hop->source, headers, rte_pktmbuf_mtod(reply, uint8_t *));
		cloud_generate(cloud, reply, burst_t(burst, i), burst_number(burst, i));
	} else if (echo) {
		cloud_generate_nothing(cloud, burst_t(burst, i), burst_number(burst, i));
	}
}

/* ---- forwarding ---- */

/* Decrements the TTL in the word of IPv4 that has TTL, protocol and checksum. */
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

/* The fields of a burst of usual packets that the hop checks, gathered so that the compiler
 * vectorises the checks. */
struct usual {
	uint8_t *ip[BURST_ROOM];
	uint32_t address[BURST_ROOM][2]; /* source, destination; in the byte order of the packet */
	uint32_t life[BURST_ROOM];
	uint32_t bytes_max;
};

/* Returns false if not all packets are usual, or a packet of weir's own is among them. */
static inline bool gather(struct usual *usual, struct burst *burst)
{
	uint32_t bytes_max = 0;
	uint8_t flags = 0;

	if (unlikely(!burst_all_usual(burst)))
		return false;
	for (uint16_t i = 0; !burst->whole && i < burst->n; i++)
		flags |= burst->flags[i];
	for (uint16_t i = 0; i < burst->n; i++) {
		uint8_t *ip = burst_frame(burst, i) + HEADERS_USUAL_IP;
		uint32_t bytes = burst->headers[i].network_bytes;

		bytes_max = bytes > bytes_max ? bytes : bytes_max;
		usual->ip[i] = ip;
		memcpy(usual->address[i], ip + 12, sizeof(usual->address[i]));
		usual->life[i] = headers_u32(ip + 8);
	}
	usual->bytes_max = bytes_max;
	return !(flags & PACKET_FOREIGN);
}

/* Returns true if judge_v4 returns FORWARD for all. Some addresses matter only as a destination,
 * but are compared with the source too: no sender has them, and if one does, its burst only takes
 * the slow way. */
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

/* Forwards a burst of usual packets. Returns false, and does nothing, if one of them is not usual
 * or is not forwarded. */
static bool pass_usual(const struct hop *hop, struct burst *burst)
{
	const uint16_t n = burst->n;
	struct usual usual;

	if (unlikely(!gather(&usual, burst) || !all_go_on(hop, &usual, n)))
		return false;
	for (uint16_t i = 0; i < n; i++)
		usual.life[i] = life_less(usual.life[i]);
	for (uint16_t i = 0; i < n; i++)
		headers_put_u32(usual.ip[i] + 8, usual.life[i]);
	return true;
}

/* Forwards an IPv4 packet whose mbuf has no other reference. Returns false if it is not such a
 * packet, or not certainly one. */
static inline bool pass_plain(const struct hop *hop, struct burst *burst, uint16_t i)
{
	const struct headers *headers = burst_headers(burst, i);

	if (headers->ip != 4 || burst_flags(burst, i) & PACKET_FOREIGN ||
	    judge_v4(hop, headers, burst_frame(burst, i)) != FORWARD ||
	    !copy_is_writable(burst->mbuf[i]))
		return false;
	decrement(burst->mbuf[i], headers);
	return true;
}

/* Replaces packet i by fragments. Returns the index of the last one. */
static uint16_t divide(struct hop *hop, struct burst *burst, uint16_t i)
{
	const struct headers headers = *burst_headers(burst, i);
	struct cloud *cloud = hop->stage.cloud;
	struct rte_mbuf *fragments[BURST_ROOM];
	uint32_t n;

	i -= burst_close(burst, i);
	if (unlikely(ip_fragments(burst->mbuf[i], &headers, hop->mtu) >
	             BURST_ROOM + 1u - burst->n)) {
		cloud_drop(cloud, burst, i, REASON_FRAGMENTS);
		return i;
	}
	n = ip_fragment(burst->mbuf[i], &headers, hop->mtu, cloud_pool(cloud), fragments);
	if (unlikely(n == 0)) {
		cloud_drop(cloud, burst, i, REASON_NO_BUFFER);
		return i;
	}
	for (uint32_t k = 0; k < n; k++) {
		const uint8_t *ip =
		        rte_pktmbuf_mtod_offset(fragments[k], uint8_t *, headers.network);
		uint32_t wire_bytes = headers.network + headers_u16(ip + 2);

		decrement(fragments[k], &headers);
		if (k == 0) {
			burst_exchange(burst, i, fragments[k], wire_bytes);
			continue;
		}
		burst_insert(burst, i++, fragments[k], wire_bytes);
		burst_flag(burst, i, PACKET_GENERATED);
	}
	cloud_counters(cloud)->generated += n - 1;
	cloud_counters(cloud)->joined += n - 1;
	return i;
}

/* Treats packet i. Returns its index, or that of its last fragment. */
static __attribute__((noinline)) uint16_t pass(struct hop *hop, struct burst *burst, uint16_t i)
{
	const uint8_t *frame = burst_frame(burst, i);
	struct cloud *cloud = hop->stage.cloud;
	const struct headers headers = *burst_headers(burst, i);
	enum verdict verdict = UNTOUCHED;

	if (likely(headers.ip != 0 && !is_own(hop, burst_flags(burst, i), &headers, frame)))
		verdict = headers.ip == 6 ? judge_v6(hop, &headers, frame)
		                          : judge_v4(hop, &headers, frame);
	/* Fragments would have bytes that the packet only claims. */
	if (verdict == FRAGMENT &&
	    headers.network + headers.network_bytes > burst_wire_bytes(burst, i))
		verdict = TOO_BIG;
	switch (verdict) {
	case FORWARD:
		if (likely(cloud_writable(cloud, burst, i)))
			decrement(burst->mbuf[i], &headers);
		break;
	case UNTOUCHED:
		break;
	case FRAGMENT:
		return divide(hop, burst, i);
	case EXPIRED:
		answer(hop, burst, i, &headers, ICMP_TIME_EXCEEDED, 0);
		cloud_drop(cloud, burst, i, REASON_TTL_EXPIRED);
		break;
	case TOO_BIG:
		answer(hop, burst, i, &headers, ICMP_TOO_BIG,
		       headers.ip == 6 ? hop->mtu_v6 : hop->mtu);
		cloud_drop(cloud, burst, i, REASON_TOO_BIG);
		break;
	case MINE:
		receive(hop, burst, i, &headers);
		break;
	}
	return i;
}

static void hop_process(struct stage *stage, struct burst *burst)
{
	struct hop *hop = (struct hop *)stage;

	stage->drawn += burst->n;
	if (likely(pass_usual(hop, burst)))
		return;
	for (uint16_t i = 0; i < burst->n; i++) {
		if (unlikely(!pass_plain(hop, burst, i)))
			i = pass(hop, burst, i);
	}
}

/* ---- packets that certainly need no answer ---- */

/* Returns true for untagged IP that needs no answer, whatever else the packet has. Returns false if
 * it is too short to tell, or if its length is 0: then it is as long as its frame (headers.h). */
static bool is_silent(const struct hop *hop, const struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *),
	              *ip = frame + RTE_ETHER_HDR_LEN;
	uint16_t ethertype;

	if (unlikely(mbuf->data_len < RTE_ETHER_HDR_LEN + 20))
		return false;
	ethertype = headers_u16(frame + 12);
	if (ethertype == RTE_ETHER_TYPE_IPV4)
		return ip[8] > 1 && memcmp(ip + 16, hop->source.v4, 4) != 0 &&
		       headers_u16(ip + 2) - 1u < hop->mtu;
	if (ethertype == RTE_ETHER_TYPE_IPV6)
		return mbuf->data_len >= RTE_ETHER_HDR_LEN + 40 && ip[7] > 1 &&
		       memcmp(ip + 24, hop->source.v6, 16) != 0 && headers_u16(ip + 4) != 0 &&
		       headers_u16(ip + 4) + 40u <= hop->mtu_v6;
	return false;
}

/* The same for a usual packet. */
static inline bool is_silent_usual(const struct hop *hop, const struct burst *burst, uint16_t i)
{
	const uint8_t *ip = burst_frame(burst, i) + HEADERS_USUAL_IP;

	return ip[8] > 1 && memcmp(ip + 16, hop->source.v4, 4) != 0 &&
	       burst->headers[i].network_bytes <= hop->mtu;
}

static uint16_t hop_unanswered(const struct stage *stage, struct burst *burst, uint16_t from,
                               uint16_t n)
{
	const struct hop *hop = (const struct hop *)stage;
	uint16_t i = from;

	while (i < from + n && likely(burst_usual(burst, i) ? is_silent_usual(hop, burst, i)
	                                                    : is_silent(hop, burst->mbuf[i])))
		i++;
	return i - from;
}

/* ---- making ---- */

/* The functions of the stage (statement.h). */
static int hop_make(const struct conf *conf, struct stage **stage)
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

static void hop_adopt(struct stage *stage, const struct stage *old)
{
	struct hop *hop = (struct hop *)stage;
	const struct hop *before = (const struct hop *)old;

	hop->source.identification = before->source.identification;
	quota_adopt(&hop->quota, &before->quota);
}

static void hop_snapshot(struct stage *stage, struct snapshot *snapshot)
{
	struct hop *hop = (struct hop *)stage;

	snapshot_value(snapshot, hop->source.identification);
	quota_snapshot(&hop->quota, snapshot);
}

/* The language of `hop`: its fields, and the check of their values. */

static bool is_router_v4(uint32_t address)
{
	const uint8_t *byte = (const uint8_t *)&address;

	return byte[0] != 0 && byte[0] != 127 && byte[0] < 224 && !hop_is_link_local_v4(byte);
}

static bool is_router_v6(const uint8_t *address)
{
	static const uint8_t zero[15];

	return address[0] != 0xff && !hop_is_link_local_v6(address) &&
	       (memcmp(address, zero, sizeof(zero)) != 0 || address[15] > 1);
}

enum { FIELD_OF_V4, FIELD_OF_V6, FIELD_OF_MTU, FIELD_OF_LIMIT, FIELD_OF_BURST, FIELD_OF_THROUGH };

static int hop_check(const struct conf *conf, const struct cloud_conf *cloud,
                     struct problem *problem)
{
	const struct hop_conf *hop = (const struct hop_conf *)conf;

	(void)cloud;
	if (!is_router_v4(hop->v4))
		return problem_set(
		        problem, FIELD_OF_V4,
		        "no router has this address: it is multicast, link-local, loopback or "
		        "reserved; an address for documentation is 192.0.2.1");
	if (conf->given >> FIELD_OF_V6 & 1 && !is_router_v6(hop->v6))
		return problem_set(
		        problem, FIELD_OF_V6,
		        "no router has this address: it is multicast, link-local, loopback or "
		        "unspecified; an address for documentation is 2001:db8::1");
	return 0;
}

int hop_through(const struct scenario *scenario, const struct cloud_conf *cloud, uint32_t *index,
                struct problem *problem)
{
	const struct hop_conf *hop = (const struct hop_conf *)cloud_conf_get(cloud, "hop");
	const struct cloud_conf *back;
	int i, port;

	*index = HOP_NOT_THROUGH;
	if (!hop || !hop->through)
		return 0;
	i = scenario_find_cloud(scenario, hop->through);
	if (i < 0)
		return problem_set(
		        problem, FIELD_OF_THROUGH,
		        "cloud `%s`: its answers go through cloud `%s`, which does not exist",
		        cloud->name, hop->through);
	back = scenario->clouds[i];
	port = scenario_root(scenario, cloud);
	if (back->many || port < 0 || strcmp(back->to, scenario->ports[port].name) != 0)
		return problem_set(
		        problem, FIELD_OF_THROUGH,
		        "cloud `%s`: its answers cannot go through `%s`, which %s; use a cloud "
		        "that leads to port %s, where its packets come in",
		        cloud->name, back->name, back->many ? "is a template" : "leads elsewhere",
		        port < 0 ? "?" : scenario->ports[port].name);
	*index = (uint32_t)i;
	return 0;
}

static const struct field hop_fields[] = {
        [FIELD_OF_V4] = {FIELD("address", FIELD_IPV4, struct hop_conf, v4,
                               .flags = FIELD_POSITIONAL | FIELD_REQUIRED,
                               .help = "the router's address")},
        [FIELD_OF_V6] = {FIELD(
                "address6", FIELD_IPV6, struct hop_conf, v6, .flags = FIELD_POSITIONAL,
                .help = "its IPv6 address; without one it sends no answers for IPv6")},
        [FIELD_OF_MTU] = {FIELD("mtu", FIELD_COUNT, struct hop_conf, mtu, .min = HOP_MTU_MIN,
                                .max = UINT16_MAX,
                                .help = "bytes of the longest IP packet that goes on whole")},
        [FIELD_OF_LIMIT] = {FIELD("limit", FIELD_COUNT, struct hop_conf, limit,
                                  .max = HOP_LIMIT_MAX, .initial = HOP_LIMIT_DEFAULT,
                                  .help = "ICMP errors a second; 0: the router sends none")},
        [FIELD_OF_BURST] = {FIELD("burst", FIELD_COUNT, struct hop_conf, burst, .min = 1,
                                  .max = HOP_BURST_MAX, .initial = HOP_BURST_DEFAULT,
                                  .help = "ICMP errors at once")},
        [FIELD_OF_THROUGH] = {FIELD("through", FIELD_TEXT, struct hop_conf, through,
                                    .help = "the cloud that answers cross on their way back")},
        FIELD_END,
};

const struct statement hop_statement = {
        .name = "hop",
        .help = "the cloud is a router: TTL, time exceeded, MTU; traceroute sees it",
        .example = "192.0.2.1",
        .role = ROLE_STAGE,
        .beyond = "its answers quote packets, and fragments carry all of them",
        .generates = true,
        .fields = hop_fields,
        .counts = {{COUNTER(generated), .thing = "packet of its own", .always = true}},
        .conf_bytes = sizeof(struct hop_conf),
        .check = hop_check,
        .make = hop_make,
        .adopt = hop_adopt,
        .snapshot = hop_snapshot,
        .unanswered = hop_unanswered,
};
