/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The XDP program on a host's interface: finds source quenches among received packets, and passes
 * those about a segment in flight to the congestion control of its connection. Linux itself ignores
 * quenches (icmp(7)). Every packet goes on to the kernel, quenches too.
 *
 * After the checks of quench.h, it checks a quench as RFC 5927 checks ICMP errors:
 *
 *   foreign     no established connection of this network namespace has the quoted addresses and
 *               ports, or it has another congestion control. Nothing happens
 *   stale       the quoted sequence number is not in flight: already acknowledged, or never sent
 *   otherwise   the congestion control gets it, with the first sequence number that is not
 *               acknowledged at this instant
 *
 * Included by the program whose congestion control it serves.
 */
#ifndef WEIR_LINUX_QUENCH_XDP_H
#define WEIR_LINUX_QUENCH_XDP_H

#include "program.h"
#include "quench.h"
#include "window.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct settings);
} settings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TABLE_CONNECTIONS);
	__type(key, uint64_t);
	__type(value, struct told);
} connections SEC(".maps");

/* Returns the quoted connection, or NULL. The quoted segment went from local to remote; the lookup
 * takes the addresses of the opposite direction. */
static inline __attribute__((always_inline)) struct bpf_sock *
quench_socket(struct xdp_md *ctx, const struct quench *quench)
{
	struct bpf_sock_tuple tuple = {0};

	if (!quench->ipv6) {
		tuple.ipv4.saddr = quench->remote[0];
		tuple.ipv4.daddr = quench->local[0];
		tuple.ipv4.sport = quench->remote_port;
		tuple.ipv4.dport = quench->local_port;
		return bpf_sk_lookup_tcp(ctx, &tuple, sizeof(tuple.ipv4), BPF_F_CURRENT_NETNS, 0);
	}
	for (int i = 0; i < 4; i++) {
		tuple.ipv6.saddr[i] = quench->remote[i];
		tuple.ipv6.daddr[i] = quench->local[i];
	}
	tuple.ipv6.sport = quench->remote_port;
	tuple.ipv6.dport = quench->local_port;
	return bpf_sk_lookup_tcp(ctx, &tuple, sizeof(tuple.ipv6), BPF_F_CURRENT_NETNS, 0);
}

/* Passes the quench to its connection, and counts it. */
static inline __attribute__((always_inline)) void quench_tell(struct bpf_sock *sk,
                                                              const struct quench *quench)
{
	struct tcp_sock *tp = (struct tcp_sock *)bpf_skc_to_tcp_sock(sk);
	struct told *told;
	uint64_t key;
	uint32_t una;

	if (!tp) {
		COUNT(foreign, 1);
		return;
	}
	key = (uint64_t)tp;
	told = bpf_map_lookup_elem(&connections, &key);
	if (!told) {
		COUNT(foreign, 1);
		return;
	}
	una = tp->snd_una;
	if (!window_in_flight(una, tp->snd_nxt, quench->sequence)) {
		COUNT(stale, 1);
		return;
	}
	told->una = una;
	told->marked = quench->marked;
	__sync_fetch_and_add(&told->quenches, 1);
	if (quench->marked)
		COUNT(marked, 1);
	else
		COUNT(dropped, 1);
}

SEC("xdp")
int weir_quench(struct xdp_md *ctx)
{
	const struct settings *set = bpf_map_lookup_elem(&settings, &first);
	const uint8_t *frame = (const uint8_t *)(unsigned long)ctx->data;
	const uint8_t *end = (const uint8_t *)(unsigned long)ctx->data_end;
	struct quench quench = {0};
	struct bpf_sock *sk;

	if (!set)
		return XDP_PASS;
	switch (quench_parse(frame, end, (uint8_t)set->bit, &quench)) {
	case QUENCH_NONE:
		return XDP_PASS;
	case QUENCH_MALFORMED:
		COUNT(malformed, 1);
		return XDP_PASS;
	case QUENCH_FOUND:
		break;
	}
	sk = quench_socket(ctx, &quench);
	if (!sk) {
		COUNT(foreign, 1);
		return XDP_PASS;
	}
	quench_tell(sk, &quench);
	bpf_sk_release(sk);
	return XDP_PASS;
}

#endif
