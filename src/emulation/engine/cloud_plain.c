/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/cloud.h"

#include "engine/cloud_link.h"

/* Those of a burst that the stages let pass, in the order in which they came, each with the number
 * that it had. Returns how many of them the line has taken. */
static uint16_t push_what_passes(struct cloud *cloud, struct rte_mbuf *const *all,
                                 struct rte_mbuf **passed, uint16_t n, simtime due, uint64_t number)
{
	uint16_t done = 0, at = 0;

	while (done < n) {
		uint16_t run = 0, pushed;

		while (all[at] != passed[done])
			at++;
		while (done + run < n && all[at + run] == passed[done + run])
			run++;
		pushed = line_push_plain(&cloud->line, cloud->holder, passed + done, run, due,
		                         number + at);
		done += pushed;
		at += pushed;
		if (unlikely(pushed < run))
			break;
	}
	return done;
}

/* When what enters the line of a plain cloud now leaves it; `due` is when it is at the other
 * end. */
static simtime plain_leaves(struct cloud *cloud, simtime now, simtime *due)
{
	line_due_one(&cloud->line, now, due);
	return cloud_leaves_at(cloud, now, *due, 0);
}

/* `held` of n have entered the line. */
static void plain_entered(struct cloud *cloud, struct rte_mbuf **mbufs, uint16_t n, uint16_t held,
                          simtime delay_ns)
{
	histogram_add(cloud->delay_ns, delay_ns, held);
	for (uint16_t i = held; i < n; i++)
		cloud_drop(cloud, mbufs[i], REASON_NO_BUFFER);
}

static __attribute__((noinline)) void pass_plain(struct cloud *cloud, struct rte_mbuf **mbufs,
                                                 uint16_t n, simtime now, uint64_t number)
{
	struct rte_mbuf *passed[BURST_ROOM];
	simtime leaves, due;

	memcpy(passed, mbufs, n * sizeof(*passed));
	for (uint16_t i = 0; i < cloud->n_stages; i++)
		n = cloud->stages[i]->process(cloud->stages[i], passed, n);
	/* Without packets the line's last due time must not move. */
	if (unlikely(n == 0))
		return;
	leaves = plain_leaves(cloud, now, &due);
	plain_entered(cloud, passed, n, push_what_passes(cloud, mbufs, passed, n, leaves, number),
	              due - now);
}

static uint64_t bytes_of(struct rte_mbuf *const *mbufs, uint16_t n)
{
	uint64_t bytes = 0;

	for (uint16_t i = 0; i < n; i++)
		bytes += mbufs[i]->pkt_len;
	return bytes;
}

static void count(struct cloud *cloud, uint16_t n, uint64_t bytes)
{
	cloud->counters.rx_packets += n;
	cloud->counters.rx_bytes += bytes;
}

void cloud_arrive_plain(struct cloud *cloud, struct rte_mbuf **mbufs, uint16_t n, simtime now,
                        uint64_t number)
{
	simtime leaves, due;

	if (unlikely(n == 0))
		return;
	count(cloud, n, bytes_of(mbufs, n));
	if (cloud->n_stages > 0) {
		pass_plain(cloud, mbufs, n, now, number);
		return;
	}
	leaves = plain_leaves(cloud, now, &due);
	plain_entered(cloud, mbufs, n,
	              line_push_plain(&cloud->line, cloud->holder, mbufs, n, leaves, number),
	              due - now);
}

/* Of those of a burst that the stages let pass, in the order in which they came: the numbers that
 * they had, low halves. */
static void numbers_of(struct rte_mbuf *const *all, struct rte_mbuf *const *passed, uint16_t n,
                       uint64_t first, uint32_t *numbers)
{
	uint32_t at = (uint32_t)first;

	for (uint16_t i = 0; i < n; i++, at++) {
		for (; unlikely(*all != passed[i]); all++)
			at++;
		all++;
		numbers[i] = at;
	}
}

/* They go the way of all others. */
static __attribute__((noinline)) void go_on_stamped(struct cloud *cloud, struct rte_mbuf **mbufs,
                                                    uint16_t n, simtime now, uint64_t first,
                                                    const uint32_t *numbers)
{
	for (uint16_t i = 0; i < n; i++) {
		*packet_of(mbufs[i]) = (struct packet){
		        .t_ns = now,
		        .number = first + (numbers[i] - (uint32_t)first),
		        .wire_bytes = mbufs[i]->pkt_len,
		        .port = (uint16_t)cloud->from_port,
		};
	}
	cloud_meet_link(cloud, mbufs, n);
}

static void enter_line(struct cloud *cloud, struct rte_mbuf **mbufs, uint16_t n, simtime now,
                       const uint32_t *numbers)
{
	simtime t_ns[BURST_ROOM], due_ns[BURST_ROOM], compensated[BURST_ROOM], *leaves = due_ns;
	uint16_t held;

	for (uint16_t i = 0; i < n; i++)
		t_ns[i] = now;
	cloud->counters.reordered += line_due(&cloud->line, t_ns, n, due_ns);
	if (unlikely(cloud->compensates_latency)) {
		leaves = compensated;
		for (uint16_t i = 0; i < n; i++)
			leaves[i] = cloud_leaves_at(cloud, now, due_ns[i], 0);
	}
	held = line_push_numbered(&cloud->line, cloud->holder, mbufs, n, leaves, numbers);
	histogram_add_spans(cloud->delay_ns, t_ns, due_ns, held);
	for (uint16_t i = held; i < n; i++)
		cloud_drop(cloud, mbufs[i], REASON_NO_BUFFER);
}

void cloud_arrive_unstamped(struct cloud *cloud, struct rte_mbuf **mbufs, uint16_t n, simtime now,
                            uint64_t number)
{
	struct rte_mbuf *passed[BURST_ROOM];
	uint32_t numbers[BURST_ROOM];
	uint64_t bytes = bytes_of(mbufs, n);
	uint16_t came = n;

	if (unlikely(n == 0))
		return;
	count(cloud, n, bytes);
	cloud->latest_number = number + n - 1;
	memcpy(passed, mbufs, n * sizeof(*passed));
	for (uint16_t i = 0; i < cloud->n_stages; i++)
		n = cloud->stages[i]->process(cloud->stages[i], passed, n);
	if (unlikely(n == 0))
		return;
	numbers_of(mbufs, passed, n, number, numbers);
	if (unlikely(n < came))
		bytes = bytes_of(passed, n);
	if (likely(!link_in_use(&cloud->link) || cloud_passes_link(cloud, bytes, now)))
		enter_line(cloud, passed, n, now, numbers);
	else
		go_on_stamped(cloud, passed, n, now, number, numbers);
}
