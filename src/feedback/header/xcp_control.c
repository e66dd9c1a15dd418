/* SPDX-License-Identifier: BSD-3-Clause */
#include "header/xcp.h"
#include "snapshot/snapshot.h"

#include <rte_common.h>

#define MILLIONTHS INT64_C(1000000)
#define ALPHA      400000 /* of the spare bandwidth */
#define BETA       226000 /* of the queue */
#define SHUFFLED   100000 /* of the traffic */

#define PER_BITS 32 /* fraction bits of Cp and Cn */

static simtime ns_of(uint64_t seconds_q28)
{
	return (simtime)((unsigned __int128)seconds_q28 * SIMTIME_S / XCP_SECOND);
}

static uint64_t q28_of(simtime ns)
{
	return (uint64_t)((unsigned __int128)ns * XCP_SECOND / SIMTIME_S);
}

void xcp_control_init(struct xcp_control *control)
{
	*control = (struct xcp_control){.rtt = q28_of(XCP_INTERVAL_FIRST),
	                                .interval_ns = XCP_INTERVAL_FIRST};
}

void xcp_control_arrival(struct xcp_control *control, uint32_t bytes, uint32_t x, uint32_t rtt)
{
	control->bytes += bytes;
	if (rtt == 0)
		return;
	control->sum_x += x;
	control->sum_xrtt += (uint64_t)x * RTE_MIN(rtt, XCP_SECOND);
}

static unsigned __int128 share(uint64_t rate, uint64_t of)
{
	return of ? ((unsigned __int128)rate << PER_BITS) / of : 0;
}

/* A long queue at a short RTT exceeds 64 bits. */
static int64_t limited(__int128 aggregate)
{
	return (int64_t)RTE_MAX(RTE_MIN(aggregate, (__int128)INT64_MAX), -(__int128)INT64_MAX);
}

void xcp_control_end(struct xcp_control *control, uint64_t capacity)
{
	__int128 spare, drain, aggregate;
	uint64_t shuffled, magnitude;

	control->capacity = capacity;
	control->input =
	        (uint64_t)((unsigned __int128)control->bytes * SIMTIME_S / control->interval_ns);
	if (control->sum_x)
		control->rtt = RTE_MAX((uint64_t)(control->sum_xrtt / control->sum_x), 1ul);
	spare = (__int128)ALPHA * ((__int128)capacity - (__int128)control->input);
	drain = (__int128)BETA * control->queue_bytes * XCP_SECOND;
	aggregate = spare * (1 << XCP_RATE_BITS) -
	            drain * (1 << XCP_RATE_BITS) / (__int128)control->rtt;
	control->aggregate = limited(aggregate / MILLIONTHS);
	magnitude = (uint64_t)(control->aggregate < 0 ? -control->aggregate : control->aggregate);
	shuffled = (uint64_t)(((unsigned __int128)control->input * SHUFFLED << XCP_RATE_BITS) /
	                      MILLIONTHS);
	shuffled = shuffled > magnitude ? shuffled - magnitude : 0;
	control->positive = shuffled + (control->aggregate > 0 ? magnitude : 0);
	control->negative = shuffled + (control->aggregate < 0 ? magnitude : 0);
	control->per_x = share(control->positive, control->sum_x);
	control->per_byte = share(control->negative, control->bytes);
	control->interval_ns = RTE_MAX(ns_of(control->rtt), XCP_INTERVAL_MIN);
	control->bytes = control->sum_x = 0;
	control->sum_xrtt = 0;
}

simtime xcp_control_queue_ns(const struct xcp_control *control, uint64_t waiting, uint64_t capacity)
{
	simtime rtt_ns = ns_of(control->rtt), wait_ns;

	wait_ns = (simtime)((unsigned __int128)waiting * SIMTIME_S / RTE_MAX(capacity, 1ul));
	return RTE_MAX(rtt_ns > wait_ns ? (rtt_ns - wait_ns) / 2 : 0, XCP_QUEUE_MIN);
}

static uint64_t less(uint64_t from, int64_t much)
{
	if (much > 0 && (uint64_t)much >= from)
		return 0;
	return from - (uint64_t)much;
}

int32_t xcp_control_allot(struct xcp_control *control, uint32_t bytes, uint32_t x, int32_t request)
{
	unsigned __int128 gain = control->per_x * x >> PER_BITS;
	unsigned __int128 toll = control->per_byte * bytes >> PER_BITS;
	int64_t positive = (int64_t)(gain < control->positive ? gain : control->positive);
	int64_t negative = (int64_t)(toll < control->negative ? toll : control->negative);
	int64_t feedback = positive - negative;
	int64_t asked = (int64_t)request * (1 << XCP_RATE_BITS);

	if (asked >= feedback) {
		request = (int32_t)RTE_MAX(feedback >> XCP_RATE_BITS, (int64_t)INT32_MIN);
	} else {
		negative = (int64_t)RTE_MIN(control->negative,
		                            (uint64_t)(negative + feedback - asked));
		positive = asked + negative;
	}
	control->positive = less(control->positive, positive);
	control->negative = less(control->negative, negative);
	if (control->positive == 0)
		control->per_x = 0;
	if (control->negative == 0)
		control->per_byte = 0;
	return request;
}

/* No link has more bytes waiting. */
#define QUEUE_BYTES_MAX (UINT64_C(1) << 48)

void xcp_control_snapshot(struct xcp_control *control, struct snapshot *snapshot)
{
	snapshot_value(snapshot, control->bytes);
	snapshot_value(snapshot, control->sum_x);
	snapshot_value(snapshot, control->sum_xrtt);
	snapshot_value(snapshot, control->capacity);
	snapshot_value(snapshot, control->input);
	snapshot_value(snapshot, control->rtt);
	snapshot_value(snapshot, control->aggregate);
	snapshot_value(snapshot, control->positive);
	snapshot_value(snapshot, control->negative);
	snapshot_value(snapshot, control->per_x);
	snapshot_value(snapshot, control->per_byte);
	snapshot_value(snapshot, control->queue_bytes);
	snapshot_value(snapshot, control->interval_ns);
	snapshot_holds(snapshot, control->rtt >= 1 && control->rtt <= XCP_SECOND &&
	                                 control->interval_ns >= XCP_INTERVAL_MIN &&
	                                 control->interval_ns <= SIMTIME_S &&
	                                 control->queue_bytes <= QUEUE_BYTES_MAX);
}
