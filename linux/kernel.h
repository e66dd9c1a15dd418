/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the kernel's structures that the programs here use. Order and offsets do not matter:
 * libbpf finds each field by its name in the running kernel's BTF (CO-RE).
 */
#ifndef WEIR_LINUX_KERNEL_H
#define WEIR_LINUX_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#define TCP_NAME_BYTES 16 /* TCP_CA_NAME_MAX */

#define TCP_NOT_RESTRICTED 0x1 /* every namespace may make it its default */

#define TCP_ACK_ECHO 0x4 /* CA_ACK_ECE */

#define TCP_ECN_CWR 0x2 /* in ecn_flags: the next data carry CWR (TCP_ECN_QUEUE_CWR) */

enum tcp_state { TCP_OPEN, TCP_DISORDER, TCP_CWR, TCP_RECOVERY, TCP_LOSS };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock {
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	uint8_t icsk_ca_state : 5;
	uint64_t icsk_ca_priv[13];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	uint32_t snd_una, snd_nxt;
	uint32_t snd_cwnd, snd_cwnd_cnt, snd_cwnd_clamp, snd_ssthresh;
	uint32_t prior_cwnd, prr_out, undo_marker;
	uint32_t packets_out, retrans_out, sacked_out, lost_out;
	uint32_t max_packets_out;
	uint8_t is_cwnd_limited : 1;
	uint32_t delivered;
	uint32_t srtt_us; /* in eighths of a microsecond */
	uint32_t mss_cache;
	uint8_t ecn_flags;
};

#pragma clang attribute pop

/* The members are matched by name, too; callbacks that are missing here are NULL. */
struct tcp_congestion_ops {
	uint32_t flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	uint32_t (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, uint32_t ack, uint32_t acked);
	void (*set_state)(struct sock *sk, uint8_t state);
	void (*in_ack_event)(struct sock *sk, uint32_t flags);
	uint32_t (*undo_cwnd)(struct sock *sk);
	void (*cong_control)(struct sock *sk);
	char name[TCP_NAME_BYTES];
};

/* Functions of the kernel that congestion controls may call. */
extern uint32_t tcp_slow_start(struct tcp_sock *tp, uint32_t acked) __ksym;
extern void tcp_cong_avoid_ai(struct tcp_sock *tp, uint32_t window, uint32_t acked) __ksym;
extern uint32_t tcp_reno_ssthresh(struct sock *sk) __ksym;
extern uint32_t tcp_reno_undo_cwnd(struct sock *sk) __ksym;

#define TCP_INFINITE 0x7fffffff /* snd_ssthresh before the first cut */

static inline __attribute__((always_inline)) struct tcp_sock *tcp_of(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

/* Returns the 104 bytes in the socket that belong to the congestion control; all 0 at first. */
static inline __attribute__((always_inline)) void *tcp_private(struct sock *sk)
{
	return ((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

static inline __attribute__((always_inline)) uint32_t tcp_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
}

/* Returns true if it is the window that limits the sender (the kernel's tcp_is_cwnd_limited). */
static inline __attribute__((always_inline)) bool tcp_is_limited(struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return true;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

#endif
