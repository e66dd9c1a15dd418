/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/bench_tester.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "machine/pool.h"
#include "measure/bench_rig.h"
#include "measure/bench_source.h"
#include "port/port.h"

#define BURST      32
#define MBUFS      32767
#define FCS_BYTES  4
#define MAGIC      UINT16_C(0x7e19)
#define ECHO_PORT  7
#define TTL        64
#define STUCK_NS   2e9
#define PAYLOAD_AT 42 /* behind Ethernet, IPv4 and UDP */

struct mark {
	uint16_t magic;
	uint32_t trial;
	uint64_t tsc; /* at BENCH_STAMP_OFFSET */
	uint8_t tagged;
} __attribute__((packed));

_Static_assert(PAYLOAD_AT + offsetof(struct mark, tsc) == BENCH_STAMP_OFFSET, "where the stamp is");

/* ---- frames ---- */

static void write_frame(struct bench_tester *tester, uint32_t bytes)
{
	struct rte_ether_hdr *ether = (void *)tester->frame;
	struct rte_ipv4_hdr *ip = (void *)(tester->frame + sizeof(*ether));
	struct rte_udp_hdr *udp = (void *)((uint8_t *)ip + sizeof(*ip));
	struct mark mark = {.magic = MAGIC, .trial = tester->trial};
	uint16_t ip_bytes = (uint16_t)(bytes - sizeof(*ether));

	memset(tester->frame, 0, sizeof(tester->frame));
	rte_eth_macaddr_get(tester->ports[0].id, &ether->src_addr);
	rte_eth_macaddr_get(tester->ports[1].id, &ether->dst_addr);
	ether->ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	ip->version_ihl = 0x45;
	ip->total_length = rte_cpu_to_be_16(ip_bytes);
	ip->time_to_live = TTL;
	ip->next_proto_id = IPPROTO_UDP;
	ip->src_addr = rte_cpu_to_be_32(RTE_IPV4(198, 18, 0, 1));
	ip->dst_addr = rte_cpu_to_be_32(RTE_IPV4(198, 19, 0, 1));
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	udp->src_port = rte_cpu_to_be_16(49184);
	udp->dst_port = rte_cpu_to_be_16(ECHO_PORT);
	udp->dgram_len = rte_cpu_to_be_16((uint16_t)(ip_bytes - sizeof(*ip)));
	memcpy(tester->frame + PAYLOAD_AT, &mark, sizeof(mark));
}

/* ---- a trial ---- */

struct round {
	struct bench_tester *tester;
	struct rfc2544_outcome *outcome;
	uint32_t bytes; /* in the mbuf */
	uint64_t frames, start, last, gap;
	uint64_t sent, next_tag, tag_every;
};

/* Sends a burst. Returns how many frames are done with: sent, or lost on the way into the
 * device. */
static uint16_t send_burst(struct round *round, uint16_t n, uint64_t now)
{
	struct bench_tester *tester = round->tester;
	struct rte_mbuf *mbufs[BURST];
	uint16_t sent;

	if (rte_pktmbuf_alloc_bulk(tester->pool, mbufs, n) < 0)
		return 0;
	for (uint16_t i = 0; i < n; i++) {
		uint8_t *data = rte_pktmbuf_mtod(mbufs[i], uint8_t *);

		memcpy(data, tester->frame, sizeof(tester->frame));
		memcpy(data + BENCH_STAMP_OFFSET, &now, sizeof(now));
		data[BENCH_STAMP_OFFSET + sizeof(now)] = round->sent + i == round->next_tag;
		if (round->sent + i == round->next_tag)
			round->next_tag += round->tag_every;
		mbufs[i]->data_len = (uint16_t)round->bytes;
		mbufs[i]->pkt_len = round->bytes;
	}
	sent = port_transmit(&tester->ports[0], 0, mbufs, NULL, n);
	if (sent < n)
		rte_pktmbuf_free_bulk(mbufs + sent, n - sent);
	return tester->full_is_lost ? n : sent;
}

static void receive_burst(struct round *round)
{
	struct bench_tester *tester = round->tester;
	struct rte_mbuf *mbufs[BURST];
	uint16_t n = port_receive(&tester->ports[1], mbufs, BURST, 0);
	uint64_t now;

	if (n == 0)
		return;
	/* Read after the reception: otherwise frames would seem to have come earlier than they
	 * did. */
	now = rte_rdtsc();

	for (uint16_t i = 0; i < n; i++) {
		struct mark mark;

		if (mbufs[i]->data_len < PAYLOAD_AT + sizeof(mark))
			continue;
		memcpy(&mark, rte_pktmbuf_mtod_offset(mbufs[i], void *, PAYLOAD_AT), sizeof(mark));
		if (mark.magic != MAGIC || mark.trial != tester->trial)
			continue;
		round->outcome->received++;
		uint64_t ns = (uint64_t)((double)(now - mark.tsc) * tester->tick_ns);

		histogram_add(&round->outcome->latency_ns, ns, 1);
		if (mark.tagged && round->outcome->n_tagged < RFC2544_TAGGED)
			round->outcome->tagged_ns[round->outcome->n_tagged++] = ns;
	}
	rte_pktmbuf_free_bulk(mbufs, n);
}

/* Reads the TSC. Time that was taken away is not made up for: that would change the rate. */
static uint64_t read_time(struct round *round)
{
	uint64_t now = rte_rdtsc();

	if (unlikely(now - round->last > round->gap)) {
		round->outcome->disturbed = true;
		round->start += now - round->last;
	}
	round->last = now;
	return now;
}

/* Sends all frames. Returns 0, or -ENOBUFS if the device has taken nothing for STUCK_NS. */
static int send_all(struct round *round, double pps)
{
	double frames_a_tick = pps * round->tester->tick_ns / 1e9;
	uint64_t stuck = (uint64_t)(STUCK_NS / round->tester->tick_ns);
	uint64_t sent = 0, now = round->start, moved = now;

	while (sent < round->frames && !bench_stopped()) {
		uint64_t due;

		now = read_time(round);
		due = (uint64_t)((double)(now - round->start) * frames_a_tick) + 1;
		due = RTE_MIN(due, round->frames);
		if (due > sent) {
			uint16_t n = send_burst(
			        round, (uint16_t)RTE_MIN(due - sent, (uint64_t)BURST), now);

			sent += n;
			round->sent = sent;
			moved = n ? now : moved;
			if (unlikely(now - moved > stuck))
				return -ENOBUFS;
		} else {
			moved = now;
		}
		receive_burst(round);
	}
	round->outcome->sent = sent;
	round->outcome->pps =
	        now > round->start ? (double)sent * 1e9 /
	                                     ((double)(now - round->start) * round->tester->tick_ns)
	                           : pps;
	return 0;
}

static bool watch_end(const struct worker *worker)
{
	return worker &&
	       __atomic_load_n(&worker->longest_poll_ns, __ATOMIC_RELAXED) > BENCH_TESTER_GAP_NS;
}

static int make_trial(struct rfc2544_tester *base, const struct rfc2544_trial *trial,
                      struct rfc2544_outcome *outcome)
{
	struct bench_tester *tester = (struct bench_tester *)base;
	struct round round = {
	        .tester = tester,
	        .outcome = outcome,
	        .bytes = trial->frame_bytes - FCS_BYTES,
	        .frames = trial->frames,
	        .tag_every = RTE_MAX(trial->frames / RFC2544_TAGGED, UINT64_C(1)),
	        .gap = (uint64_t)((double)BENCH_TESTER_GAP_NS / tester->tick_ns),
	};

	int rc;

	tester->trial++;
	write_frame(tester, round.bytes);
	if (tester->worker)
		__atomic_store_n(&tester->worker->longest_poll_ns, 0, __ATOMIC_RELAXED);
	round.start = round.last = rte_rdtsc();
	rc = send_all(&round, trial->pps);
	if (rc < 0)
		return rc;
	/* What is still on the way. */
	uint64_t wait = (uint64_t)((double)tester->wait_ns / tester->tick_ns);
	uint64_t end = rte_rdtsc() + wait, now;

	do {
		now = rte_rdtsc();
		receive_burst(&round);
	} while (outcome->received < outcome->sent && now < end);
	outcome->disturbed |= watch_end(tester->worker);
	return bench_stopped() ? -EINTR : 0;
}

/* ---- opening ---- */

int bench_tester_open(struct bench_tester *tester, const char *out, const char *in, double tick_ns,
                      struct problem *problem)
{
	const char *devices[2] = {out, in};
	int rc = -ENOMEM;

	memset(tester, 0, sizeof(*tester));
	tester->base.trial = make_trial;
	tester->tick_ns = tick_ns;
	for (int i = 0; i < 2; i++) {
		tester->ports[i].id = RTE_MAX_ETHPORTS;
		tester->ports[i].interface.socket = -1;
	}
	tester->pool = pool_make("bench-tester", MBUFS, NULL);
	if (!tester->pool) {
		problem_set(problem, -1, "no memory for %d packet buffers of the tester: %s", MBUFS,
		            rte_strerror(rte_errno));
		return rc;
	}
	for (int i = 0; i < 2; i++) {
		snprintf(tester->conf[i].name, sizeof(tester->conf[i].name), "tester%d", i);
		tester->conf[i].device = (char *)(uintptr_t)devices[i];
		rc = port_open(&tester->ports[i], &tester->conf[i], 1, tester->pool, problem);
		if (rc == 0)
			rc = port_start(&tester->ports[i], NULL, problem);
		if (rc < 0)
			goto err_close;
	}
	return 0;

err_close:
	bench_tester_close(tester);
	return rc;
}

void bench_tester_close(struct bench_tester *tester)
{
	struct problem problem;

	for (int i = 1; i >= 0; i--)
		port_close(&tester->ports[i], &problem);
	pool_free(tester->pool);
}

/* Makes the ethdev `name`, of which DPDK takes the part behind `net_ring_`. */
static int make_port(const char *name, struct rte_ring *rx, struct rte_ring *tx)
{
	struct rte_ring *in[1] = {rx}, *out[1] = {tx};

	return rte_eth_from_rings(name + strlen("net_ring_"), in, 1, out, 1, rte_socket_id());
}

int bench_cables_make(struct bench_cables *cables, struct problem *problem)
{
	memset(cables, 0, sizeof(*cables));
	for (int i = 0; i < 4; i++) {
		char name[RTE_RING_NAMESIZE];

		snprintf(name, sizeof(name), "bench-cable-%d", i);
		cables->rings[i] = rte_ring_create(name, BENCH_CABLE_FRAMES, (int)rte_socket_id(),
		                                   RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (!cables->rings[i])
			goto failed;
	}
	for (int i = 0; i < 2; i++) {
		struct rte_ring *to = cables->rings[2 * i], *from = cables->rings[2 * i + 1];

		snprintf(cables->weir[i], sizeof(cables->weir[i]), BENCH_CABLE_PREFIX "_weir%d", i);
		snprintf(cables->tester[i], sizeof(cables->tester[i]),
		         BENCH_CABLE_PREFIX "_tester%d", i);
		if (make_port(cables->weir[i], to, from) < 0 ||
		    make_port(cables->tester[i], from, to) < 0)
			goto failed;
	}
	port_offer(BENCH_CABLE_PREFIX);
	return 0;

failed:
	problem_set(problem, -1, "no rings between weir and the tester: %s",
	            rte_strerror(rte_errno));
	bench_cables_free(cables);
	return -ENOMEM;
}

void bench_cables_empty(struct bench_cables *cables)
{
	struct rte_mbuf *mbuf;

	for (int i = 0; i < 4; i++) {
		while (cables->rings[i] &&
		       rte_ring_sc_dequeue(cables->rings[i], (void **)&mbuf) == 0)
			rte_pktmbuf_free(mbuf);
	}
}

void bench_cables_free(struct bench_cables *cables)
{
	port_offer(NULL);
	bench_cables_empty(cables);
	for (int i = 0; i < 4; i++)
		rte_ring_free(cables->rings[i]);
}
