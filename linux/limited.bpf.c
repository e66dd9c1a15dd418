/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A congestion control for Linux: Reno with limited slow-start, extended by the figures that
 * routers report (K. Nakauchi and K. Kobayashi, section 5; RFC 3742). Arithmetic: window.h.
 *
 * A connection takes the path's figures once: when its round trip is measured, both figures are
 * known, and nothing has cut its window yet. Then max_ssthresh is half of the shortest queue, and
 * slow start ends at 3/4 of what the least available bandwidth carries in half a round trip. Later
 * figures would measure the connection's own packets. Without figures, max_ssthresh is 100
 * segments, as RFC 3742 recommends, and slow start ends with the first loss.
 *
 * The growth by 1/K is counted in acknowledged segments, without the paper's int(MSS / K).
 */
#include "program.h"
#include "window.h"

#define MOST_DEFAULT 100 /* segments: RFC 3742 */

struct limited {
	uint32_t most;
	bool informed;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct path_figures);
} path SEC(".maps");

static inline __attribute__((always_inline)) void limited_inform(struct tcp_sock *tp,
                                                                 struct limited *limited)
{
	const struct path_figures *figures = bpf_map_lookup_elem(&path, &first);

	if (!figures || figures->available_kbps == 0 || figures->queue_packets == 0 ||
	    tp->srtt_us == 0 || tp->mss_cache == 0)
		return;
	limited->most = figures->queue_packets > 1 ? figures->queue_packets / 2 : 1;
	tp->snd_ssthresh =
	        window_slow_start_end(figures->available_kbps, tp->srtt_us >> 3, tp->mss_cache);
	limited->informed = true;
	COUNT(informed, 1);
}

/* Grows the window in slow start. Returns how many of the acknowledged segments are left for
 * congestion avoidance. */
static inline __attribute__((always_inline)) uint32_t
limited_slow_start(struct tcp_sock *tp, const struct limited *limited, uint32_t acked)
{
	uint32_t window = tp->snd_cwnd, end = tp->snd_ssthresh, count, k;

	if (window < limited->most) {
		uint32_t top = end < limited->most ? end : limited->most;
		uint32_t grown = window + acked < top ? window + acked : top;

		acked -= grown - window;
		window = grown;
	}
	if (window < end && acked > 0) {
		k = window_slow_start_k(window, limited->most);
		count = tp->snd_cwnd_cnt + acked;
		window += count / k;
		tp->snd_cwnd_cnt = count % k;
		acked = 0;
	}
	tp->snd_cwnd = window < tp->snd_cwnd_clamp ? window : tp->snd_cwnd_clamp;
	return acked;
}

SEC("struct_ops/limited_init")
void BPF_PROG(limited_init, struct sock *sk)
{
	struct limited *limited = tcp_private(sk);

	limited->most = MOST_DEFAULT;
	limited->informed = false;
	COUNT(connections, 1);
}

SEC("struct_ops/limited_ssthresh")
uint32_t BPF_PROG(limited_ssthresh, struct sock *sk)
{
	COUNT(losses, 1);
	return tcp_reno_ssthresh(sk);
}

SEC("struct_ops/limited_undo")
uint32_t BPF_PROG(limited_undo, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC("struct_ops/limited_avoid")
void BPF_PROG(limited_avoid, struct sock *sk, uint32_t ack, uint32_t acked)
{
	struct limited *limited = tcp_private(sk);
	struct tcp_sock *tp = tcp_of(sk);

	if (!limited->informed && tp->snd_ssthresh >= TCP_INFINITE)
		limited_inform(tp, limited);
	if (!tcp_is_limited(tp))
		return;
	if (tp->snd_cwnd < tp->snd_ssthresh) {
		acked = limited_slow_start(tp, limited, acked);
		if (acked == 0)
			return;
	}
	tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
}

SEC(".struct_ops")
struct tcp_congestion_ops response = {
        .flags = TCP_NOT_RESTRICTED,
        .init = (void *)limited_init,
        .ssthresh = (void *)limited_ssthresh,
        .undo_cwnd = (void *)limited_undo,
        .cong_avoid = (void *)limited_avoid,
        .name = "weir_limited",
};
