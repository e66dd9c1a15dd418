/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Congestion controls for Linux: enhanced BECN, and, compiled with WEIR_ECHOES=1, ECN+BECN (F.
 * Akujobi et al.; like the lab's hosts in lab/response_becn.c and lab/response_ecn_becn.c).
 *
 *   quench, marked    halves the window, which then does not grow until everything that was
 *                     outstanding is acknowledged
 *   quench, dropped   halves the window; the kernel detects the lost segment, as always
 *   echo (ECE)        weir_ecn_becn: as a quench; both share the limit of one cut a window.
 *                     weir_becn: nothing
 *   loss, timer       halves the window, unless a signal has cut within it
 *   otherwise         NewReno: slow start, then one segment per round trip
 *
 * A cut by a quench takes effect at the next acknowledgement, because the kernel does not call a
 * congestion control before. Whether the cut is due depends on when the quench came (told.una).
 *
 * The kernel detects losses, retransmits, and undoes cuts for supposed losses. Because there is a
 * cong_control, the kernel leaves the window to this program: also in recovery (proportional rate
 * reduction, RFC 6937), and when it enters CWR for an echo, which here only means that the next
 * segment carries CWR.
 */
#include "quench_xdp.h"

#ifndef WEIR_ECHOES
#define WEIR_ECHOES 0
#endif
#if WEIR_ECHOES
#define NAME "weir_ecn_becn"
#else
#define NAME "weir_becn"
#endif

enum { SIGNAL_NONE, SIGNAL_QUENCH, SIGNAL_LOSS, SIGNAL_TIMER };

struct becn {
	uint32_t recover;   /* snd_nxt at the latest cut */
	uint32_t hold;      /* no growth until this is acknowledged; valid while `holds` */
	uint32_t taken;     /* how many of told.quenches are handled */
	uint32_t delivered; /* the kernel's count at the last acknowledgement */
	uint32_t una;
	uint32_t prr_delivered, prr_out;
	uint8_t signal; /* the latest cut's cause; SIGNAL_NONE: no cut yet, or undone */
	uint8_t holds, echoed;
};

/* Returns true if a signal need not wait for the end of a window that was cut. */
static inline __attribute__((always_inline)) bool becn_free(const struct becn *becn)
{
	return becn->signal == SIGNAL_NONE || becn->signal == SIGNAL_TIMER;
}

/* Cuts because of a signal. Not called in recovery, for which becn_recover sets the window. */
static inline __attribute__((always_inline)) void becn_cut(struct tcp_sock *tp, struct becn *becn,
                                                           bool hold)
{
	uint32_t half = window_half(tp->snd_cwnd);

	tp->snd_ssthresh = half;
	tp->snd_cwnd = half;
	tp->snd_cwnd_cnt = 0;
	becn->recover = tp->snd_nxt;
	becn->signal = SIGNAL_QUENCH;
	becn->hold = tp->snd_nxt;
	becn->holds = hold;
}

/* Returns the window after a loss: half, unless a signal has already cut within this window. */
static inline __attribute__((always_inline)) uint32_t becn_lost(struct tcp_sock *tp,
                                                                struct becn *becn)
{
	if (becn->signal == SIGNAL_QUENCH && sequence_before(tp->snd_una, becn->recover))
		return tp->snd_cwnd > WINDOW_LEAST ? tp->snd_cwnd : WINDOW_LEAST;
	becn->recover = tp->snd_nxt;
	becn->signal = SIGNAL_LOSS;
	becn->holds = false;
	COUNT(losses, 1);
	return window_half(tp->snd_cwnd);
}

static inline __attribute__((always_inline)) void becn_take_quench(struct sock *sk,
                                                                   struct becn *becn, uint8_t state)
{
	struct tcp_sock *tp = tcp_of(sk);
	uint64_t key = (uint64_t)tp;
	struct told *told = bpf_map_lookup_elem(&connections, &key);
	uint32_t came;

	if (!told)
		return;
	came = told->quenches - becn->taken;
	if (came == 0)
		return;
	becn->taken += came;
	if (state != TCP_RECOVERY &&
	    (becn_free(becn) || window_cut_due(told->una, becn->recover))) {
		becn_cut(tp, becn, told->marked);
		if (WEIR_ECHOES)
			tp->ecn_flags |= TCP_ECN_CWR;
		COUNT(cuts, 1);
		came--;
	}
	if (came > 0)
		COUNT(within, came);
}

/* Proportional rate reduction, towards ssthresh (RFC 6937 3.1). */
static inline __attribute__((always_inline)) void becn_recover(struct tcp_sock *tp,
                                                               struct becn *becn, uint32_t acked)
{
	uint32_t pipe = tcp_in_flight(tp), target = tp->snd_ssthresh, out, send, room;

	becn->prr_delivered += acked;
	out = tp->prr_out - becn->prr_out;
	if (pipe > target) {
		uint64_t share = (uint64_t)becn->prr_delivered * target;
		uint32_t before = tp->prior_cwnd > 0 ? tp->prior_cwnd : 1;

		share = (share + before - 1) / before;
		send = share > out ? (uint32_t)share - out : 0;
	} else {
		send = becn->prr_delivered > out ? becn->prr_delivered - out : 0;
		send = (send > acked ? send : acked) + 1;
		room = target - pipe;
		send = send < room ? send : room;
	}
	/* At least the first segment is retransmitted at once. */
	if (out == 0 && send == 0)
		send = 1;
	tp->snd_cwnd = pipe + send > 0 ? pipe + send : 1;
}

static inline __attribute__((always_inline)) void becn_grow(struct tcp_sock *tp, uint32_t acked)
{
	uint32_t window = tp->snd_cwnd;

	if (window < tp->snd_ssthresh) {
		acked = tcp_slow_start(tp, acked);
		if (acked == 0)
			return;
		window = tp->snd_cwnd;
	}
	tcp_cong_avoid_ai(tp, window, acked);
}

/* Computes the pacing rate as the kernel does: segmentation and TCP's small queues need one. */
static inline __attribute__((always_inline)) void becn_pace(struct sock *sk, struct tcp_sock *tp)
{
	uint32_t window = tp->snd_cwnd > tp->packets_out ? tp->snd_cwnd : tp->packets_out;
	uint64_t rate = (uint64_t)window * tp->mss_cache * 8 * 10000;

	if (tp->srtt_us == 0)
		return;
	rate *= tp->snd_cwnd < tp->snd_ssthresh / 2 ? 200 : 120;
	rate /= tp->srtt_us;
	sk->sk_pacing_rate = rate < sk->sk_max_pacing_rate ? rate : sk->sk_max_pacing_rate;
}

SEC("struct_ops/becn_init")
void BPF_PROG(becn_init, struct sock *sk)
{
	struct becn *becn = tcp_private(sk);
	struct tcp_sock *tp = tcp_of(sk);
	uint64_t key = (uint64_t)tp;
	struct told told = {0};

	becn->delivered = tp->delivered;
	becn->una = tp->snd_una;
	COUNT(connections, 1);
	if (bpf_map_update_elem(&connections, &key, &told, BPF_ANY) != 0)
		COUNT(unfollowed, 1);
}

SEC("struct_ops/becn_release")
void BPF_PROG(becn_release, struct sock *sk)
{
	const struct becn *becn = tcp_private(sk);
	struct tcp_sock *tp = tcp_of(sk);
	uint64_t key = (uint64_t)tp;
	const struct told *told = bpf_map_lookup_elem(&connections, &key);

	if (told && told->quenches != becn->taken)
		COUNT(ended, told->quenches - becn->taken);
	bpf_map_delete_elem(&connections, &key);
}

/* The kernel calls this before it enters CWR, recovery or loss. */
SEC("struct_ops/becn_ssthresh")
uint32_t BPF_PROG(becn_ssthresh, struct sock *sk)
{
	struct becn *becn = tcp_private(sk);
	struct tcp_sock *tp = tcp_of(sk);
	uint32_t half;

	/* CWR because of an echo: becn_control cuts, if a cut is due at all. */
	if (becn->echoed && tp->lost_out == 0)
		return tp->snd_ssthresh;
	half = becn_lost(tp, becn);
	/* CWR because the host's own queue is full. */
	if (tp->lost_out == 0)
		tp->snd_cwnd = half;
	return half;
}

SEC("struct_ops/becn_set_state")
void BPF_PROG(becn_set_state, struct sock *sk, uint8_t state)
{
	struct becn *becn = tcp_private(sk);
	struct tcp_sock *tp = tcp_of(sk);
	uint8_t before = BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)sk, icsk_ca_state);

	if (state == TCP_RECOVERY) {
		/* The kernel does not call becn_ssthresh when it goes from CWR to recovery. */
		if (before == TCP_CWR)
			tp->snd_ssthresh = becn_lost(tp, becn);
		becn->prr_delivered = 0;
		becn->prr_out = tp->prr_out;
	} else if (state == TCP_LOSS) {
		/* The next signal cuts, whatever is outstanding: this window is given up. */
		becn->signal = SIGNAL_TIMER;
		becn->holds = false;
	} else if (before == TCP_RECOVERY && tp->undo_marker != 0 &&
	           tp->snd_ssthresh < TCP_INFINITE) {
		tp->snd_cwnd = tp->snd_ssthresh;
	}
}

SEC("struct_ops/becn_acked")
void BPF_PROG(becn_acked, struct sock *sk, uint32_t flags)
{
	struct becn *becn = tcp_private(sk);

	becn->echoed = (flags & TCP_ACK_ECHO) != 0;
}

SEC("struct_ops/becn_undo")
uint32_t BPF_PROG(becn_undo, struct sock *sk)
{
	struct becn *becn = tcp_private(sk);

	becn->signal = SIGNAL_NONE;
	return tcp_reno_undo_cwnd(sk);
}

/* Called at each acknowledgement, after the kernel has processed it. */
SEC("struct_ops/becn_control")
void BPF_PROG(becn_control, struct sock *sk)
{
	struct becn *becn = tcp_private(sk);
	struct tcp_sock *tp = tcp_of(sk);
	uint8_t state = BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)sk, icsk_ca_state);
	uint32_t acked = tp->delivered - becn->delivered;
	bool advanced = becn->una != tp->snd_una;

	becn->delivered = tp->delivered;
	becn->una = tp->snd_una;
	if (becn->holds && window_cut_due(tp->snd_una, becn->hold))
		becn->holds = false;
	becn_take_quench(sk, becn, state);
	if (WEIR_ECHOES && becn->echoed && state != TCP_RECOVERY &&
	    (becn_free(becn) || window_echo_due(tp->snd_una, becn->recover))) {
		becn_cut(tp, becn, false);
		COUNT(echoes, 1);
	}
	if (state == TCP_RECOVERY)
		becn_recover(tp, becn, acked);
	else if (advanced && acked > 0 && !becn->holds && !(WEIR_ECHOES && becn->echoed) &&
	         tcp_is_limited(tp))
		becn_grow(tp, acked);
	becn_pace(sk, tp);
}

SEC(".struct_ops")
struct tcp_congestion_ops response = {
        .flags = TCP_NOT_RESTRICTED,
        .init = (void *)becn_init,
        .release = (void *)becn_release,
        .ssthresh = (void *)becn_ssthresh,
        .set_state = (void *)becn_set_state,
        .in_ack_event = (void *)becn_acked,
        .undo_cwnd = (void *)becn_undo,
        .cong_control = (void *)becn_control,
        .name = NAME,
};
