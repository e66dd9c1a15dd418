/* SPDX-License-Identifier: BSD-3-Clause */
#include "packet/burst.h"

#include <stdlib.h>

#include "packet/copy.h"

/* ---- making ---- */

/* Copies values that are not common to all packets from each packet's struct packet. */
static void read_arrays(struct burst *burst)
{
	for (uint16_t i = 0; !burst->at_once && i < burst->n; i++)
		burst->t_ns[i] = packet_of(burst->mbuf[i])->t_ns;
	for (uint16_t i = 0; !burst->in_sequence && i < burst->n; i++)
		burst->number[i] = packet_of(burst->mbuf[i])->number;
	for (uint16_t i = 0; !burst->whole && i < burst->n; i++) {
		const struct packet *packet = packet_of(burst->mbuf[i]);

		burst->wire_bytes[i] = packet->wire_bytes;
		burst->age_ns[i] = packet->age_ns;
		burst->flags[i] = packet->flags;
	}
}

/* Returns 0 if the packet is as long on the wire as in its mbuf, without flags, of age 0. */
static inline uint32_t differs(struct rte_mbuf *mbuf)
{
	const struct packet *packet = packet_of(mbuf);

	return (packet->wire_bytes ^ mbuf->pkt_len) | packet->age_ns | packet->flags;
}

void burst_read(struct burst *burst, struct rte_mbuf *const *mbufs, uint16_t n)
{
	const struct packet *one = packet_of(mbufs[0]);
	uint64_t skips = 0, bytes = 0;
	uint32_t differ = 0;

	burst->n = n;
	burst->port = one->port;
	burst->t = one->t_ns;
	burst->first = one->number;
	/* The packets are in order of arrival. */
	burst->at_once = packet_of(mbufs[n - 1])->t_ns == burst->t;
	burst->gaps = burst->by_flow = false;
	memset(burst->headers_known, 0, sizeof(burst->headers_known));
	for (uint16_t i = 0; i < n; i++) {
		burst->mbuf[i] = mbufs[i];
		bytes += packet_of(mbufs[i])->wire_bytes;
		skips |= (packet_of(mbufs[i])->number - i) ^ burst->first;
		differ |= differs(mbufs[i]);
	}
	burst->in_sequence = skips == 0;
	burst->whole = differ == 0;
	burst->bytes = bytes;
	read_arrays(burst);
}

void burst_one(struct burst *burst, struct rte_mbuf *mbuf, uint32_t port, simtime t,
               uint64_t number, uint32_t wire_bytes, uint8_t flags)
{
	burst->mbuf[0] = mbuf;
	burst_received(burst, 1, port, t, number);
	if (wire_bytes != mbuf->pkt_len) {
		burst_spell(burst);
		burst->wire_bytes[0] = wire_bytes;
		burst->bytes = wire_bytes;
	}
	if (flags)
		burst_flag(burst, 0, flags);
}

/* Begins a burst that add() will fill with packets of `of`. */
static void begin(struct burst *burst, const struct burst *of)
{
	burst->n = 0;
	burst->port = of->port;
	burst->at_once = of->at_once;
	burst->in_sequence = false;
	burst->whole = of->whole;
	burst->gaps = false;
	burst->by_flow = of->by_flow;
	burst->t = of->t;
	burst->bytes = 0;
}

/* Copies what is known of packet `from` of `of` to packet `to` of `burst`, which was begun with
 * `of`, or is `of`. The caller copies the number. */
static inline void move(struct burst *burst, uint32_t to, const struct burst *of, uint32_t from)
{
	burst->mbuf[to] = of->mbuf[from];
	if (!of->at_once)
		burst->t_ns[to] = of->t_ns[from];
	if (!of->whole) {
		burst->wire_bytes[to] = of->wire_bytes[from];
		burst->age_ns[to] = of->age_ns[from];
		burst->flags[to] = of->flags[from];
	}
	burst->headers_known[to] = of->headers_known[from];
	if (of->headers_known[from])
		burst->headers[to] = of->headers[from];
	if (unlikely(of->by_flow))
		burst->flow[to] = of->flow[from];
}

/* Adds packet i of the burst that this one was begun with. */
static inline void add(struct burst *burst, const struct burst *of, uint32_t i)
{
	uint32_t to = burst->n++;

	move(burst, to, of, i);
	burst->number[to] = burst_number(of, i);
	burst->bytes += burst_wire_bytes(of, i);
}

void burst_slice(struct burst *burst, const struct burst *of, uint16_t from, uint16_t n)
{
	begin(burst, of);
	for (uint16_t i = from; i < from + n; i++)
		add(burst, of, i);
}

void burst_pick(struct burst *burst, const struct burst *of, uint32_t which)
{
	begin(burst, of);
	for (; which; which &= which - 1)
		add(burst, of, (uint32_t)__builtin_ctz(which));
}

/* ---- changing ---- */

void burst_spell(struct burst *burst)
{
	for (uint32_t i = 0; burst->whole && i < burst->n; i++) {
		burst->wire_bytes[i] = likely(burst->mbuf[i] != NULL) ? burst->mbuf[i]->pkt_len : 0;
		burst->age_ns[i] = 0;
		burst->flags[i] = 0;
	}
	burst->whole = false;
}

void burst_set_ages(struct burst *burst, const uint32_t *age_ns)
{
	burst_spell(burst);
	memcpy(burst->age_ns, age_ns, burst->n * sizeof(*age_ns));
}

static void spell_numbers(struct burst *burst)
{
	for (uint32_t i = 0; burst->in_sequence && i < burst->n; i++)
		burst->number[i] = burst->first + i;
	burst->in_sequence = false;
}

uint16_t burst_close(struct burst *burst, uint16_t at)
{
	uint16_t to = 0, ahead = 0;

	if (likely(!burst->gaps))
		return 0;
	spell_numbers(burst);
	for (uint16_t from = 0; from < burst->n; from++) {
		if (!burst->mbuf[from]) {
			ahead += from < at;
			continue;
		}
		if (to != from) {
			move(burst, to, burst, from);
			burst->number[to] = burst->number[from];
		}
		to++;
	}
	burst->n = to;
	burst->gaps = false;
	return ahead;
}

static void put(struct burst *burst, uint16_t i, struct rte_mbuf *mbuf, uint32_t wire_bytes)
{
	if (wire_bytes != mbuf->pkt_len)
		burst_spell(burst);
	burst->mbuf[i] = mbuf;
	burst->headers_known[i] = 0;
	burst->bytes += wire_bytes;
	if (!burst->whole)
		burst->wire_bytes[i] = wire_bytes;
}

void burst_exchange(struct burst *burst, uint16_t i, struct rte_mbuf *mbuf, uint32_t wire_bytes)
{
	burst->bytes -= burst_wire_bytes(burst, i);
	rte_pktmbuf_free(burst->mbuf[i]);
	put(burst, i, mbuf, wire_bytes);
}

void burst_insert(struct burst *burst, uint16_t i, struct rte_mbuf *mbuf, uint32_t wire_bytes)
{
	spell_numbers(burst);
	for (uint16_t to = burst->n++; to > i; to--) {
		move(burst, to, burst, to - 1u);
		burst->number[to] = burst->number[to - 1];
	}
	if (unlikely(burst->by_flow))
		burst->flow[i + 1].part++;
	put(burst, i + 1, mbuf, wire_bytes);
}

struct rte_mbuf *burst_unshare(struct burst *burst, uint32_t i, struct rte_mempool *pool)
{
	struct rte_mbuf *own = copy_unshare(pool, burst->mbuf[i]);

	if (!own)
		return NULL;
	if (own != burst->mbuf[i])
		burst_headers_forget(burst, i);
	return burst->mbuf[i] = own;
}

/* ---- of all packets ---- */

const simtime *burst_times(struct burst *burst)
{
	for (uint16_t i = 0; burst->at_once && i < burst->n; i++)
		burst->t_ns[i] = burst->t;
	return burst->t_ns;
}

/* ---- headers ---- */

static inline const struct headers *read(struct burst *burst, uint32_t i)
{
	struct headers *headers = &burst->headers[i];
	const struct rte_mbuf *mbuf = burst->mbuf[i];
	const uint8_t *data = rte_pktmbuf_mtod(mbuf, const uint8_t *);

	if (likely(headers_find_usual(data, mbuf->data_len, headers) && copy_is_writable(mbuf))) {
		burst->headers_known[i] = HEADERS_USUAL;
		return headers;
	}
	burst->headers_known[i] = HEADERS_KNOWN;
	headers_find(data, mbuf->data_len, burst_wire_bytes(burst, i), headers);
	return headers;
}

const struct headers *burst_headers_read(struct burst *burst, uint32_t i)
{
	return read(burst, i);
}

void burst_headers_read_all(struct burst *burst)
{
	uint32_t unknown = 0;

	for (uint32_t i = 0; i < burst->n; i++)
		unknown += burst->headers_known[i] == 0;
	for (uint32_t i = 0; unknown && i < burst->n; i++) {
		if (likely(burst->headers_known[i] == 0))
			read(burst, i);
	}
}

bool burst_all_usual(struct burst *burst)
{
	uint8_t others = 0;

	burst_headers_read_all(burst);
	for (uint32_t i = 0; i < burst->n; i++)
		others |= burst->headers_known[i] ^ HEADERS_USUAL;
#ifdef __SANITIZE_ADDRESS__
	for (uint32_t i = 0; i < burst->n; i++)
		burst_headers_check(burst, i);
#endif
	return others == 0;
}

void burst_headers_check(const struct burst *burst, uint32_t i)
{
	const struct headers *kept = &burst->headers[i];
	const struct rte_mbuf *mbuf = burst->mbuf[i];
	struct headers now;

	headers_find(rte_pktmbuf_mtod(mbuf, const uint8_t *), mbuf->data_len,
	             burst_wire_bytes(burst, i), &now);
	if (memcmp(kept, &now, sizeof(now)) != 0)
		abort();
	if (burst->headers_known[i] == HEADERS_USUAL &&
	    (kept->network != HEADERS_USUAL_IP || kept->transport != HEADERS_USUAL_TRANSPORT ||
	     kept->ip != 4 || kept->fragment || !copy_is_writable(mbuf)))
		abort();
}
