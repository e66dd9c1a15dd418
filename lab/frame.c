/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/frame.h"

#include <string.h>

#include <rte_ether.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#define HEADER_BYTES       20u /* of IPv4, and of TCP, without options */
#define QUOTED_BYTES       8u
#define QUENCH_TYPE        4
#define OPTION_TTL         158 /* experimental, RFC 4727: copied, class 0 */
#define OPTION_TTL_BYTES   4u
#define OPTION_SCALE       3
#define OPTION_SCALE_LEN   3
#define OPTION_SCALE_BYTES 4u /* with a padding byte ahead */
#define OPTION_NOTHING     1
#define UDP_CHECKSUM_ZERO  RTE_BE32(0xffff)

/*
 * A header is composed of 32-bit words in network order. Its checksum is computed from these words
 * before they are written: reading them back in other sizes would have to wait for the writes.
 */
static inline uint32_t word_of(uint8_t first, uint8_t second, uint16_t rest)
{
	return rte_cpu_to_be_32((uint32_t)first << 24 | (uint32_t)second << 16 | rest);
}

static inline uint8_t *word_write(uint8_t *at, uint32_t word)
{
	memcpy(at, &word, sizeof(word));
	return at + sizeof(word);
}

static inline uint32_t word_read(const uint8_t *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* Returns the sum of 16-bit words (RFC 1071), added four bytes at a time: `bytes` is a multiple of
 * four. The sum is 0 only if all words are. */
static inline uint64_t sum_words(const uint8_t *at, uint32_t bytes)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < bytes; i += 4)
		sum += word_read(at + i);
	return sum;
}

/* Most headers have no options. */
static inline uint64_t sum_header(const uint8_t *at, uint32_t bytes)
{
	uint64_t sum = sum_words(at, HEADER_BYTES);

	return likely(bytes == HEADER_BYTES)
	               ? sum
	               : sum + sum_words(at + HEADER_BYTES, bytes - HEADER_BYTES);
}

static inline uint16_t sum_fold(uint64_t sum)
{
	sum = (sum >> 32) + (sum & UINT32_MAX);
	sum = (sum >> 16 & UINT16_MAX) + (sum >> 32) + (sum & UINT16_MAX);
	sum = (sum >> 16) + (sum & UINT16_MAX);
	return (uint16_t)((sum >> 16) + (sum & UINT16_MAX));
}

/* Each returns a word that has the checksum in its first, or its last, two bytes. */
static inline uint32_t checksum_first(uint64_t sum)
{
	uint16_t pair[2] = {(uint16_t)~sum_fold(sum), 0};
	uint32_t word;

	memcpy(&word, pair, sizeof(word));
	return word;
}

static inline uint32_t checksum_last(uint64_t sum)
{
	uint16_t pair[2] = {0, (uint16_t)~sum_fold(sum)};
	uint32_t word;

	memcpy(&word, pair, sizeof(word));
	return word;
}

/* The fields of an IPv4 header that vary. */
struct ip_fields {
	uint32_t from, to;
	uint16_t id;
	uint8_t tos, ttl, protocol;
	uint32_t option; /* four bytes, as written; 0: none */
};

static uint8_t *ether_write(uint8_t *at, uint32_t from, uint32_t to)
{
	at = word_write(at, word_of(2, 0, (uint16_t)(to >> 16)));
	at = word_write(at, word_of((uint8_t)(to >> 8), (uint8_t)to, 0x0200));
	at = word_write(at, rte_cpu_to_be_32(from));
	at[0] = RTE_ETHER_TYPE_IPV4 >> 8;
	at[1] = RTE_ETHER_TYPE_IPV4 & UINT8_MAX;
	return at + 2;
}

/* Writes Ethernet and IPv4 headers for a payload of so many bytes, and returns where it begins. */
static inline uint8_t *network_write(struct rte_mbuf *mbuf, const struct ip_fields *ip,
                                     uint32_t payload_bytes)
{
	uint32_t header_bytes = HEADER_BYTES + (ip->option ? (uint32_t)sizeof(ip->option) : 0);
	uint32_t bytes = header_bytes + payload_bytes;
	uint32_t length = word_of((uint8_t)(0x40 | header_bytes / 4), ip->tos, (uint16_t)bytes);
	uint32_t whole = word_of((uint8_t)(ip->id >> 8), (uint8_t)ip->id, RTE_IPV4_HDR_DF_FLAG);
	uint32_t living = word_of(ip->ttl, ip->protocol, 0);
	uint32_t from = rte_cpu_to_be_32(ip->from), to = rte_cpu_to_be_32(ip->to);
	uint64_t sum = (uint64_t)length + whole + living + from + to + ip->option;
	uint8_t *at = ether_write(rte_pktmbuf_mtod(mbuf, uint8_t *), ip->from, ip->to);

	at = word_write(at, length);
	at = word_write(at, whole);
	at = word_write(at, living | checksum_last(sum));
	at = word_write(at, from);
	at = word_write(at, to);
	if (ip->option)
		at = word_write(at, ip->option);
	mbuf->data_len = (uint16_t)(FRAME_ETHER_BYTES + bytes);
	mbuf->pkt_len = mbuf->data_len;
	return at;
}

/* Returns the sum for TCP or UDP of so many bytes. */
static inline uint64_t pseudo_header_sum(uint32_t from, uint32_t to, uint8_t protocol,
                                         uint32_t bytes)
{
	return (uint64_t)rte_cpu_to_be_32(from) + rte_cpu_to_be_32(to) +
	       word_of(0, protocol, (uint16_t)bytes);
}

/* Combines all words by OR, so that the compiler can vectorise the loop. */
static bool is_zero(const uint8_t *bytes, uint32_t n)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < n / sizeof(uint64_t); i++) {
		uint64_t word;

		memcpy(&word, bytes + i * sizeof(word), sizeof(word));
		any |= word;
	}
	for (uint32_t i = n & ~(uint32_t)(sizeof(uint64_t) - 1); i < n; i++)
		any |= bytes[i];
	return any == 0;
}

/* Data are zeros, which add nothing, unless they were changed on the way. */
static inline uint64_t sum_data(const uint8_t *at, uint32_t bytes)
{
	uint32_t last = 0;

	if (likely(is_zero(at, bytes)))
		return 0;
	memcpy(&last, at + (bytes & ~3u), bytes & 3);
	return sum_words(at, bytes & ~3u) + last;
}

static uint32_t oq_bytes_of(const struct frame_oq *oq)
{
	return oq ? OQ_BYTES + oq->n * (uint32_t)OQ_ANSWER_BYTES : 0;
}

static void oq_write(uint8_t *at, const struct frame_oq *oq)
{
	at[OQ_REQ_MODE] = oq->mode;
	at[OQ_REQ_PROBE] = oq->probe;
	at[OQ_REQ_FLAG] = 0;
	at[OQ_REQ_TTL] = oq->ttl;
	at[OQ_RES_PROBE] = oq->res_probe;
	at[OQ_RES_LEN] = (uint8_t)(oq->n * OQ_ANSWER_BYTES);
	at[OQ_RES_TTL] = oq->res_ttl;
	at[OQ_NEXT] = IPPROTO_TCP;
	oq_put(at + OQ_REQUEST, &oq->request);
	for (uint32_t i = 0; i < oq->n; i++)
		oq_put(at + OQ_ANSWERS + i * OQ_ANSWER_BYTES, &oq->answers[i]);
}

void frame_write_segment(struct rte_mbuf *mbuf, const struct segment *segment, uint16_t id)
{
	bool scaled = segment->window_scale >= 0;
	uint32_t tcp_bytes = HEADER_BYTES + (scaled ? OPTION_SCALE_BYTES : 0);
	uint32_t bytes = tcp_bytes + segment->data_bytes, oq_bytes = oq_bytes_of(segment->oq);
	const struct ip_fields ip = {
	        .from = segment->from.address,
	        .to = segment->to.address,
	        .id = id,
	        .tos = segment->ecn,
	        .ttl = segment->ttl,
	        .protocol = segment->oq ? OQ_PROTOCOL_DEFAULT : IPPROTO_TCP,
	        .option = segment->echoed_ttl ? word_of(OPTION_TTL, OPTION_TTL_BYTES,
	                                                (uint16_t)(segment->echoed_ttl << 8))
	                                      : 0,
	};
	uint32_t ports = rte_cpu_to_be_32((uint32_t)segment->from.port << 16 | segment->to.port);
	uint32_t seq = rte_cpu_to_be_32(segment->seq), ack = rte_cpu_to_be_32(segment->ack);
	uint32_t window = word_of((uint8_t)(tcp_bytes / 4 << 4), segment->flags, segment->window);
	uint32_t scale = scaled ? word_of(OPTION_NOTHING, OPTION_SCALE,
	                                  (uint16_t)(OPTION_SCALE_LEN << 8 | segment->window_scale))
	                        : 0;
	uint64_t sum = pseudo_header_sum(ip.from, ip.to, IPPROTO_TCP, bytes) + ports + seq + ack +
	               window + scale;
	uint8_t *at = network_write(mbuf, &ip, oq_bytes + bytes);

	if (unlikely(segment->oq != NULL))
		oq_write(at, segment->oq);
	at = word_write(at + oq_bytes, ports);
	at = word_write(at, seq);
	at = word_write(at, ack);
	at = word_write(at, window);
	at = word_write(at, checksum_first(sum));
	if (scaled)
		at = word_write(at, scale);
	memset(at, 0, segment->data_bytes);
}

void frame_write_datagram(struct rte_mbuf *mbuf, const struct datagram *datagram, uint16_t id)
{
	const struct ip_fields ip = {
	        .from = datagram->from.address,
	        .to = datagram->to.address,
	        .id = id,
	        .tos = datagram->ecn,
	        .ttl = datagram->ttl,
	        .protocol = IPPROTO_UDP,
	};
	uint32_t bytes = (uint32_t)sizeof(struct rte_udp_hdr) + datagram->data_bytes;
	uint32_t ports = rte_cpu_to_be_32((uint32_t)datagram->from.port << 16 | datagram->to.port);
	uint32_t length = rte_cpu_to_be_32(bytes << 16);
	uint32_t number =
	        datagram->data_bytes >= sizeof(number) ? rte_cpu_to_be_32(datagram->number) : 0;
	uint64_t sum =
	        pseudo_header_sum(ip.from, ip.to, IPPROTO_UDP, bytes) + ports + length + number;
	uint32_t checksum = checksum_last(sum);
	uint8_t *at = network_write(mbuf, &ip, bytes);

	at = word_write(at, ports);
	at = word_write(at, length | (checksum ? checksum : UDP_CHECKSUM_ZERO));
	memset(at, 0, datagram->data_bytes);
	if (datagram->data_bytes >= sizeof(number))
		word_write(at, number);
}

/* ---- reading ---- */

static inline uint64_t read_pseudo_header(const struct rte_ipv4_hdr *ip, uint8_t protocol,
                                          uint32_t bytes)
{
	return pseudo_header_sum(rte_be_to_cpu_32(ip->src_addr), rte_be_to_cpu_32(ip->dst_addr),
	                         protocol, bytes);
}

static void options_read(const uint8_t *option, uint32_t bytes, struct segment *segment)
{
	for (uint32_t at = 0; at + 2 < bytes && option[at] != 0;) {
		if (option[at] == OPTION_NOTHING) {
			at++;
			continue;
		}
		if (option[at] == OPTION_TTL)
			segment->echoed_ttl = option[at + 2];
		if (option[at + 1] < 2)
			return;
		at += option[at + 1];
	}
}

static enum frame_kind segment_read(const struct rte_ipv4_hdr *ip, uint32_t ip_bytes,
                                    const uint8_t *payload, uint32_t bytes, struct segment *segment)
{
	const struct rte_tcp_hdr *tcp = (const struct rte_tcp_hdr *)payload;
	uint32_t tcp_bytes;

	if (bytes < sizeof(*tcp))
		return FRAME_BROKEN;
	tcp_bytes = (uint32_t)(tcp->data_off >> 4) * 4;
	if (tcp_bytes < sizeof(*tcp) || tcp_bytes > bytes)
		return FRAME_BROKEN;
	if (sum_fold(read_pseudo_header(ip, IPPROTO_TCP, bytes) + sum_header(payload, tcp_bytes) +
	             sum_data(payload + tcp_bytes, bytes - tcp_bytes)) != UINT16_MAX)
		return FRAME_BROKEN;
	*segment = (struct segment){
	        .from = {rte_be_to_cpu_32(ip->src_addr), rte_be_to_cpu_16(tcp->src_port)},
	        .to = {rte_be_to_cpu_32(ip->dst_addr), rte_be_to_cpu_16(tcp->dst_port)},
	        .seq = rte_be_to_cpu_32(tcp->sent_seq),
	        .ack = rte_be_to_cpu_32(tcp->recv_ack),
	        .window = rte_be_to_cpu_16(tcp->rx_win),
	        .data_bytes = (uint16_t)(bytes - tcp_bytes),
	        .flags = tcp->tcp_flags,
	        .ecn = ip->type_of_service & FRAME_ECN_MASK,
	        .ttl = ip->time_to_live,
	        .window_scale = -1,
	};
	if (tcp_bytes >= sizeof(*tcp) + 4 && payload[sizeof(*tcp) + 1] == OPTION_SCALE)
		segment->window_scale = (int8_t)payload[sizeof(*tcp) + 3];
	options_read((const uint8_t *)(ip + 1), ip_bytes - (uint32_t)sizeof(*ip), segment);
	return FRAME_SEGMENT;
}

static enum frame_kind datagram_read(const struct rte_ipv4_hdr *ip, const uint8_t *payload,
                                     uint32_t bytes, struct datagram *datagram)
{
	const struct rte_udp_hdr *udp = (const struct rte_udp_hdr *)payload;
	uint32_t number_be = 0;

	if (bytes < sizeof(*udp) || rte_be_to_cpu_16(udp->dgram_len) != bytes)
		return FRAME_BROKEN;
	if (sum_fold(read_pseudo_header(ip, IPPROTO_UDP, bytes) + sum_words(payload, sizeof(*udp)) +
	             sum_data(payload + sizeof(*udp), bytes - (uint32_t)sizeof(*udp))) !=
	    UINT16_MAX)
		return FRAME_BROKEN;
	if (bytes >= sizeof(*udp) + sizeof(number_be))
		memcpy(&number_be, udp + 1, sizeof(number_be));
	*datagram = (struct datagram){
	        .from = {rte_be_to_cpu_32(ip->src_addr), rte_be_to_cpu_16(udp->src_port)},
	        .to = {rte_be_to_cpu_32(ip->dst_addr), rte_be_to_cpu_16(udp->dst_port)},
	        .data_bytes = (uint16_t)(bytes - sizeof(*udp)),
	        .ecn = ip->type_of_service & FRAME_ECN_MASK,
	        .ttl = ip->time_to_live,
	        .number = rte_be_to_cpu_32(number_be),
	};
	return FRAME_DATAGRAM;
}

static enum frame_kind quench_read(const struct rte_ipv4_hdr *ip, const uint8_t *payload,
                                   uint32_t bytes, struct quench *quench)
{
	const struct rte_ipv4_hdr *quoted = (const struct rte_ipv4_hdr *)(payload + 8);
	const struct rte_tcp_hdr *tcp;

	if (bytes < 8 + sizeof(*quoted) + QUOTED_BYTES || payload[0] != QUENCH_TYPE)
		return FRAME_OTHER;
	if (rte_raw_cksum(payload, bytes) != UINT16_MAX)
		return FRAME_BROKEN;
	if (quoted->next_proto_id != IPPROTO_TCP ||
	    8u + rte_ipv4_hdr_len(quoted) + QUOTED_BYTES > bytes)
		return FRAME_OTHER;
	tcp = (const struct rte_tcp_hdr *)(payload + 8 + rte_ipv4_hdr_len(quoted));
	*quench = (struct quench){
	        .router = rte_be_to_cpu_32(ip->src_addr),
	        .from = {rte_be_to_cpu_32(quoted->src_addr), rte_be_to_cpu_16(tcp->src_port)},
	        .to = {rte_be_to_cpu_32(quoted->dst_addr), rte_be_to_cpu_16(tcp->dst_port)},
	        .seq = rte_be_to_cpu_32(tcp->sent_seq),
	        .marked = payload[4] != 0,
	};
	return FRAME_QUENCH;
}

/* Returns the length of the header; 0 if no host would have sent it. */
static uint32_t oq_read(const uint8_t *at, uint32_t bytes, struct frame_oq *oq)
{
	if (bytes < OQ_BYTES || at[OQ_RES_LEN] % OQ_ANSWER_BYTES != 0 ||
	    at[OQ_RES_LEN] > OQ_ANSWERS_MAX * OQ_ANSWER_BYTES ||
	    bytes < (uint32_t)OQ_BYTES + at[OQ_RES_LEN] || at[OQ_NEXT] != IPPROTO_TCP)
		return 0;
	*oq = (struct frame_oq){
	        .mode = at[OQ_REQ_MODE],
	        .probe = at[OQ_REQ_PROBE],
	        .ttl = at[OQ_REQ_TTL],
	        .request = oq_get(at + OQ_REQUEST),
	        .res_probe = at[OQ_RES_PROBE],
	        .res_ttl = at[OQ_RES_TTL],
	        .n = at[OQ_RES_LEN] / OQ_ANSWER_BYTES,
	};
	for (uint32_t i = 0; i < oq->n; i++)
		oq->answers[i] = oq_get(at + OQ_ANSWERS + i * OQ_ANSWER_BYTES);
	return oq_bytes_of(oq);
}

/* Reads TCP behind the unified header. */
static enum frame_kind oq_segment_read(const struct rte_ipv4_hdr *ip, uint32_t ip_bytes,
                                       const uint8_t *payload, uint32_t bytes, struct frame *frame)
{
	uint32_t oq_bytes = oq_read(payload, bytes, &frame->oq);
	enum frame_kind kind;

	if (oq_bytes == 0)
		return FRAME_BROKEN;
	kind = segment_read(ip, ip_bytes, payload + oq_bytes, bytes - oq_bytes, &frame->segment);
	if (kind == FRAME_SEGMENT)
		frame->segment.oq = &frame->oq;
	return kind;
}

uint32_t frame_to(const struct rte_mbuf *mbuf)
{
	const uint8_t *data = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	const struct rte_ether_hdr *ether = (const struct rte_ether_hdr *)data;
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(data + FRAME_ETHER_BYTES);

	if (mbuf->data_len < FRAME_ETHER_BYTES + sizeof(*ip) ||
	    ether->ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4))
		return 0;
	return rte_be_to_cpu_32(ip->dst_addr);
}

void frame_read(const struct rte_mbuf *mbuf, struct frame *frame)
{
	const uint8_t *data = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(data + FRAME_ETHER_BYTES);
	const uint8_t *payload;
	uint32_t ip_bytes, bytes;

	frame->kind = FRAME_OTHER;
	frame->to = frame_to(mbuf);
	if (frame->to == 0)
		return;
	ip_bytes = rte_ipv4_hdr_len(ip);
	bytes = rte_be_to_cpu_16(ip->total_length);
	if (ip_bytes < sizeof(*ip) || bytes < ip_bytes ||
	    bytes + FRAME_ETHER_BYTES > mbuf->data_len ||
	    sum_fold(sum_header((const uint8_t *)ip, ip_bytes)) != UINT16_MAX) {
		frame->kind = FRAME_BROKEN;
		return;
	}
	frame->id = rte_be_to_cpu_16(ip->packet_id);
	payload = (const uint8_t *)ip + ip_bytes;
	bytes -= ip_bytes;
	if (ip->next_proto_id == IPPROTO_TCP)
		frame->kind = segment_read(ip, ip_bytes, payload, bytes, &frame->segment);
	else if (ip->next_proto_id == IPPROTO_UDP)
		frame->kind = datagram_read(ip, payload, bytes, &frame->datagram);
	else if (ip->next_proto_id == OQ_PROTOCOL_DEFAULT)
		frame->kind = oq_segment_read(ip, ip_bytes, payload, bytes, frame);
	else if (ip->next_proto_id == IPPROTO_ICMP)
		frame->kind = quench_read(ip, payload, bytes, &frame->quench);
}
