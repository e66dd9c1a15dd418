/* SPDX-License-Identifier: BSD-3-Clause */
#include "packet/burst.h"

/* Where nothing holds for all of the packets, of each what its struct packet says. */
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

/* 0: it is as long on the wire as in its mbuf, without flags, of age 0. */
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
	/* They are in order. */
	burst->at_once = packet_of(mbufs[n - 1])->t_ns == burst->t;
	burst->written = true;
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

void burst_read_again(struct burst *burst, struct rte_mbuf *const *before, uint16_t n)
{
	uintptr_t others = burst->n ^ n;
	uint32_t differ = 0;
	uint64_t bytes = 0;

	for (uint16_t i = 0; others == 0 && i < n; i++) {
		others |= (uintptr_t)burst->mbuf[i] ^ (uintptr_t)before[i];
		differ |= differs(burst->mbuf[i]);
		bytes += burst->mbuf[i]->pkt_len;
	}
	burst->bytes = bytes;
	if (likely(others == 0 && differ == 0 && burst->whole))
		return;
	if (n > 0)
		burst_read(burst, burst->mbuf, n);
	burst->n = n;
}

void burst_write(struct burst *burst)
{
	if (burst->written)
		return;
	for (uint16_t i = 0; i < burst->n; i++) {
		*packet_of(burst->mbuf[i]) = (struct packet){
		        .t_ns = burst_t(burst, i),
		        .number = burst_number(burst, i),
		        .wire_bytes = burst_wire_bytes(burst, i),
		        .port = burst->port,
		        .flags = burst_flags(burst, i),
		        .age_ns = burst_age_ns(burst, i),
		};
	}
	burst->written = true;
}

void burst_slice(struct burst *burst, const struct burst *of, uint16_t from, uint16_t n)
{
	burst_begin(burst, of);
	for (uint16_t i = from; i < from + n; i++)
		burst_add(burst, of, i);
}

void burst_keep(struct burst *burst, struct rte_mbuf *const *before, uint16_t n)
{
	uint16_t from = 0;

	if (n == burst->n)
		return;
	burst->bytes = 0;
	for (uint16_t i = 0; i < n; i++, from++) {
		while (before[from] != burst->mbuf[i])
			from++;
		/* What is written here has been read: `from` is never behind. */
		burst->number[i] = burst_number(burst, from);
		if (!burst->at_once)
			burst->t_ns[i] = burst->t_ns[from];
		if (!burst->whole) {
			burst->wire_bytes[i] = burst->wire_bytes[from];
			burst->age_ns[i] = burst->age_ns[from];
			burst->flags[i] = burst->flags[from];
		}
		burst->bytes += burst_wire_bytes(burst, i);
	}
	burst->in_sequence = false;
	burst->n = n;
}

void burst_spell(struct burst *burst, uint32_t from)
{
	for (uint32_t i = from; burst->whole && i < burst->n; i++) {
		burst->wire_bytes[i] = burst->mbuf[i]->pkt_len;
		burst->age_ns[i] = 0;
		burst->flags[i] = 0;
	}
	burst->whole = false;
}

const simtime *burst_times(struct burst *burst)
{
	for (uint16_t i = 0; burst->at_once && i < burst->n; i++)
		burst->t_ns[i] = burst->t;
	return burst->t_ns;
}
