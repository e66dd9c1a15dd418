/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame.h"

#include <string.h>

#include <rte_ether.h>
#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#define QUOTED_BYTES      8u
#define QUENCH_TYPE       4
#define OPTION_TTL        158 /* experimental, RFC 4727: copied, class 0 */
#define OPTION_TTL_BYTES  4u
#define OPTION_SCALE      3
#define OPTION_SCALE_LEN  3
#define OPTION_NOTHING    1
#define UDP_CHECKSUM_ZERO 0xffff

/* Where the parts of a frame lie. */
struct layout {
	struct rte_ether_hdr *ether;
	struct rte_ipv4_hdr *ip;
	uint8_t *options;
	uint8_t *payload;
};

static void ether_write(struct rte_ether_hdr *ether, uint32_t from, uint32_t to)
{
	uint32_t from_be = rte_cpu_to_be_32(from), to_be = rte_cpu_to_be_32(to);

	*ether = (struct rte_ether_hdr){
	        .dst_addr.addr_bytes = {2},
	        .src_addr.addr_bytes = {2},
	        .ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4),
	};
	memcpy(&ether->dst_addr.addr_bytes[2], &to_be, sizeof(to_be));
	memcpy(&ether->src_addr.addr_bytes[2], &from_be, sizeof(from_be));
}

/* Ethernet and IPv4 for a payload of so many bytes; the checksum waits for the options. */
static struct layout layout_write(struct rte_mbuf *mbuf, const struct rte_ipv4_hdr *ip,
                                  uint32_t options_bytes, uint32_t payload_bytes)
{
	uint32_t header_bytes = (uint32_t)sizeof(*ip) + options_bytes;
	uint8_t *data = rte_pktmbuf_mtod(mbuf, uint8_t *);
	struct layout layout = {
	        .ether = (struct rte_ether_hdr *)data,
	        .ip = (struct rte_ipv4_hdr *)(data + FRAME_ETHER_BYTES),
	        .options = data + FRAME_ETHER_BYTES + sizeof(*ip),
	        .payload = data + FRAME_ETHER_BYTES + header_bytes,
	};

	ether_write(layout.ether, ip->src_addr, ip->dst_addr);
	*layout.ip = *ip;
	layout.ip->version_ihl = (uint8_t)(0x40 | header_bytes / 4);
	layout.ip->total_length = rte_cpu_to_be_16((uint16_t)(header_bytes + payload_bytes));
	layout.ip->fragment_offset = RTE_BE16(RTE_IPV4_HDR_DF_FLAG);
	layout.ip->src_addr = rte_cpu_to_be_32(ip->src_addr);
	layout.ip->dst_addr = rte_cpu_to_be_32(ip->dst_addr);
	mbuf->data_len = (uint16_t)(FRAME_ETHER_BYTES + header_bytes + payload_bytes);
	mbuf->pkt_len = mbuf->data_len;
	return layout;
}

/* The sum of 16-bit words (RFC 1071), four bytes at a time: `bytes` is a multiple of four. 0 only of zeros. */
static inline uint64_t sum_words(const void *from, uint32_t bytes)
{
	const uint8_t *at = from;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < bytes; i += 4) {
		uint32_t word;

		memcpy(&word, at + i, sizeof(word));
		sum += word;
	}
	return sum;
}

static inline uint16_t sum_fold(uint64_t sum)
{
	sum = (sum >> 32) + (sum & UINT32_MAX);
	sum = (sum >> 16 & UINT16_MAX) + (sum >> 32) + (sum & UINT16_MAX);
	sum = (sum >> 16) + (sum & UINT16_MAX);
	return (uint16_t)((sum >> 16) + (sum & UINT16_MAX));
}

static inline uint16_t header_checksum(const struct rte_ipv4_hdr *ip, uint32_t bytes)
{
	return (uint16_t)~sum_fold(sum_words(ip, bytes));
}

/* All words or-ed, so that the compiler takes many words at a time. */
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

/* How many bytes have to be summed: data are zeros, unless something on the way has changed them, and
 * zeros add nothing. */
static uint32_t summed(const uint8_t *payload, uint32_t header_bytes, uint32_t bytes)
{
	return is_zero(payload + header_bytes, bytes - header_bytes) ? header_bytes : bytes;
}

/* Of TCP or UDP of so many bytes, whose data are zeros beyond `bytes`. */
static uint16_t transport_checksum(const struct rte_ipv4_hdr *ip, uint8_t protocol, uint32_t length,
                                   const void *payload, uint32_t bytes)
{
	/* The addresses, and the pseudo-header's protocol and length. */
	uint64_t sum =
	        sum_words(&ip->src_addr, 8) + rte_cpu_to_be_32((uint32_t)protocol << 16 | length);

	sum += sum_words(payload, bytes & ~3u);
	if (unlikely(bytes & 3)) {
		uint32_t rest = 0;

		memcpy(&rest, (const uint8_t *)payload + (bytes & ~3u), bytes & 3);
		sum += rest;
	}
	return (uint16_t)~sum_fold(sum);
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
	uint32_t options_bytes = segment->echoed_ttl ? OPTION_TTL_BYTES : 0;
	uint32_t tcp_bytes = (uint32_t)sizeof(struct rte_tcp_hdr) + (scaled ? 4 : 0);
	uint32_t oq_bytes = oq_bytes_of(segment->oq);
	struct rte_ipv4_hdr ip = {
	        .type_of_service = segment->ecn,
	        .packet_id = rte_cpu_to_be_16(id),
	        .time_to_live = segment->ttl,
	        .next_proto_id = segment->oq ? OQ_PROTOCOL_DEFAULT : IPPROTO_TCP,
	        .src_addr = segment->from.address,
	        .dst_addr = segment->to.address,
	};
	struct layout layout =
	        layout_write(mbuf, &ip, options_bytes, oq_bytes + tcp_bytes + segment->data_bytes);
	struct rte_tcp_hdr *tcp = (struct rte_tcp_hdr *)(layout.payload + oq_bytes);

	if (options_bytes) {
		layout.options[0] = OPTION_TTL;
		layout.options[1] = OPTION_TTL_BYTES;
		layout.options[2] = segment->echoed_ttl;
		layout.options[3] = 0;
	}
	layout.ip->hdr_checksum =
	        header_checksum(layout.ip, (uint32_t)sizeof(*layout.ip) + options_bytes);
	if (unlikely(segment->oq != NULL))
		oq_write(layout.payload, segment->oq);
	*tcp = (struct rte_tcp_hdr){
	        .src_port = rte_cpu_to_be_16(segment->from.port),
	        .dst_port = rte_cpu_to_be_16(segment->to.port),
	        .sent_seq = rte_cpu_to_be_32(segment->seq),
	        .recv_ack = rte_cpu_to_be_32(segment->ack),
	        .data_off = (uint8_t)(tcp_bytes / 4 << 4),
	        .tcp_flags = segment->flags,
	        .rx_win = rte_cpu_to_be_16(segment->window),
	};
	if (scaled) {
		uint8_t *option = (uint8_t *)(tcp + 1);

		option[0] = OPTION_NOTHING;
		option[1] = OPTION_SCALE;
		option[2] = OPTION_SCALE_LEN;
		option[3] = (uint8_t)segment->window_scale;
	}
	memset((uint8_t *)tcp + tcp_bytes, 0, segment->data_bytes);
	tcp->cksum = transport_checksum(layout.ip, IPPROTO_TCP, tcp_bytes + segment->data_bytes,
	                                tcp, tcp_bytes);
}

void frame_write_datagram(struct rte_mbuf *mbuf, const struct datagram *datagram, uint16_t id)
{
	struct rte_ipv4_hdr ip = {
	        .type_of_service = datagram->ecn,
	        .packet_id = rte_cpu_to_be_16(id),
	        .time_to_live = datagram->ttl,
	        .next_proto_id = IPPROTO_UDP,
	        .src_addr = datagram->from.address,
	        .dst_addr = datagram->to.address,
	};
	struct layout layout = layout_write(
	        mbuf, &ip, 0, (uint32_t)sizeof(struct rte_udp_hdr) + datagram->data_bytes);
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)layout.payload;
	uint32_t number_be = rte_cpu_to_be_32(datagram->number), known = sizeof(*udp);

	layout.ip->hdr_checksum = rte_ipv4_cksum(layout.ip);
	*udp = (struct rte_udp_hdr){
	        .src_port = rte_cpu_to_be_16(datagram->from.port),
	        .dst_port = rte_cpu_to_be_16(datagram->to.port),
	        .dgram_len = rte_cpu_to_be_16((uint16_t)(sizeof(*udp) + datagram->data_bytes)),
	};
	memset(udp + 1, 0, datagram->data_bytes);
	if (datagram->data_bytes >= sizeof(number_be)) {
		memcpy(udp + 1, &number_be, sizeof(number_be));
		known += (uint32_t)sizeof(number_be);
	}
	udp->dgram_cksum = transport_checksum(
	        layout.ip, IPPROTO_UDP, (uint32_t)sizeof(*udp) + datagram->data_bytes, udp, known);
	if (udp->dgram_cksum == 0)
		udp->dgram_cksum = UDP_CHECKSUM_ZERO;
}

void frame_write_quench(struct rte_mbuf *mbuf, const struct rte_mbuf *cause, uint32_t router,
                        bool marked, uint8_t mark_bit)
{
	const struct rte_ipv4_hdr *quoted =
	        rte_pktmbuf_mtod_offset(cause, const struct rte_ipv4_hdr *, FRAME_ETHER_BYTES);
	uint32_t quoted_bytes = (uint32_t)rte_ipv4_hdr_len(quoted) + QUOTED_BYTES;
	struct rte_ipv4_hdr ip = {
	        .time_to_live = FRAME_TTL,
	        .next_proto_id = IPPROTO_ICMP,
	        .src_addr = router,
	        .dst_addr = rte_be_to_cpu_32(quoted->src_addr),
	};
	struct layout layout = layout_write(mbuf, &ip, 0, 8 + quoted_bytes);
	uint16_t sum;

	layout.ip->hdr_checksum = rte_ipv4_cksum(layout.ip);
	memset(layout.payload, 0, 8);
	layout.payload[0] = QUENCH_TYPE;
	layout.payload[4] = marked ? mark_bit : 0;
	memcpy(layout.payload + 8, quoted, quoted_bytes);
	sum = (uint16_t)~rte_raw_cksum(layout.payload, 8 + quoted_bytes);
	memcpy(layout.payload + 2, &sum, sizeof(sum));
}

/* ---- reading ---- */

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
	if (tcp_bytes < sizeof(*tcp) || tcp_bytes > bytes ||
	    transport_checksum(ip, IPPROTO_TCP, bytes, payload,
	                       summed(payload, tcp_bytes, bytes)) != 0)
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

	if (bytes < sizeof(*udp) || rte_be_to_cpu_16(udp->dgram_len) != bytes ||
	    transport_checksum(ip, IPPROTO_UDP, bytes, payload, bytes) != 0)
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
                                   uint32_t bytes, uint8_t mark_bit, struct quench *quench)
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
	        .marked = (payload[4] & mark_bit) != 0,
	};
	return FRAME_QUENCH;
}

/* How long the header is; 0: it is none that a host would have sent. */
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

/* TCP behind the unified header. */
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

void frame_read(const struct rte_mbuf *mbuf, uint8_t mark_bit, struct frame *frame)
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
	    bytes + FRAME_ETHER_BYTES > mbuf->data_len || header_checksum(ip, ip_bytes) != 0) {
		frame->kind = FRAME_BROKEN;
		return;
	}
	payload = (const uint8_t *)ip + ip_bytes;
	bytes -= ip_bytes;
	if (ip->next_proto_id == IPPROTO_TCP)
		frame->kind = segment_read(ip, ip_bytes, payload, bytes, &frame->segment);
	else if (ip->next_proto_id == IPPROTO_UDP)
		frame->kind = datagram_read(ip, payload, bytes, &frame->datagram);
	else if (ip->next_proto_id == OQ_PROTOCOL_DEFAULT)
		frame->kind = oq_segment_read(ip, ip_bytes, payload, bytes, frame);
	else if (ip->next_proto_id == IPPROTO_ICMP)
		frame->kind = quench_read(ip, payload, bytes, mark_bit, &frame->quench);
}
