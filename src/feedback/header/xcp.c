/* SPDX-License-Identifier: BSD-3-Clause */
#include "header/xcp.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include <rte_common.h>

#include "account/counter_read.h"
#include "engine/cloud.h"
#include "header/oq_header.h"
#include "packet/copy.h"
#include "snapshot/snapshot.h"

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

/* Writes or reads its state (snapshot.h). */
static void xcp_control_snapshot(struct xcp_control *control, struct snapshot *snapshot)
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

struct xcp {
	struct stage stage;
	struct cloud_watch watch;
	uint8_t protocol;
	bool begun;
	simtime interval_at, queue_at; /* when the two timers fire next */
	uint64_t waiting, least;       /* bytes: since the last event, and the least since the last
	                                * queue timer */
	struct xcp_control control;
};

static struct xcp *xcp_of(struct cloud_watch *watch)
{
	return (struct xcp *)(void *)((char *)watch - offsetof(struct xcp, watch));
}

/* ---- timers ---- */

static uint64_t capacity_of(const struct xcp *xcp)
{
	return xcp->stage.cloud->link.shaper.rate_bps / 8;
}

static void queue_timer(struct xcp *xcp)
{
	struct xcp_control *control = &xcp->control;

	control->queue_bytes = xcp->least;
	xcp->least = xcp->waiting;
	xcp->queue_at += xcp_control_queue_ns(control, xcp->waiting, capacity_of(xcp));
}

/* Advances a timer past `now` at once. Nothing happens up to `now`, and each timer has fired so
 * often that firing again changes nothing. */
static void pass_over(simtime *at, simtime every, simtime now)
{
	if (*at <= now)
		*at += ((now - *at) / every + 1) * every;
}

#define SETTLED 3 /* firings: bytes that came, the least queue, what depends on both */

/* Fires the timers up to `now`; each a few times, however long ago the last packet was. */
static void timers_run(struct xcp *xcp, simtime now)
{
	struct xcp_control *control = &xcp->control;
	uint32_t intervals = 0, queues = 0, queues_here = 0; /* queues_here: in this interval */

	while (RTE_MIN(xcp->interval_at, xcp->queue_at) <= now) {
		if (xcp->queue_at <= xcp->interval_at) {
			queue_timer(xcp);
			queues++;
			queues_here++;
		} else {
			xcp_control_end(control, capacity_of(xcp));
			xcp->interval_at += control->interval_ns;
			intervals++;
			queues_here = 0;
		}
		if (intervals >= SETTLED && queues >= SETTLED)
			pass_over(&xcp->interval_at, control->interval_ns, now);
		if (queues_here >= SETTLED || (intervals >= SETTLED && queues >= SETTLED))
			pass_over(&xcp->queue_at,
			          xcp_control_queue_ns(control, xcp->waiting, capacity_of(xcp)),
			          RTE_MIN(now, xcp->interval_at));
	}
}

static void xcp_before(struct cloud_watch *watch, simtime now)
{
	struct xcp *xcp = xcp_of(watch);

	xcp->waiting = link_queue_bytes(&xcp->stage.cloud->link);
	if (unlikely(!xcp->begun)) {
		xcp->begun = true;
		xcp->least = xcp->waiting;
		xcp->interval_at = now + xcp->control.interval_ns;
		xcp->queue_at = now + XCP_QUEUE_MIN;
	}
	if (unlikely(RTE_MIN(xcp->interval_at, xcp->queue_at) <= now))
		timers_run(xcp, now);
	if (xcp->waiting < xcp->least)
		xcp->least = xcp->waiting;
}

/* ---- packets ---- */

enum xcp_find { XCP_ABSENT, XCP_MALFORMED, XCP_WITHOUT, XCP_REQUEST };

static enum xcp_find find(const struct xcp *xcp, const struct headers *headers,
                          const uint8_t *frame)
{
	const uint8_t *header = frame + headers->transport;

	if (headers->protocol != xcp->protocol || headers->fragment)
		return XCP_ABSENT;
	if (headers->transport == 0 || headers->transport_here < XCP_BYTES ||
	    header[XCP_LENGTH] != XCP_BYTES || header[XCP_VERSION_FORMAT] >> 4 != XCP_VERSION)
		return XCP_MALFORMED;
	switch (header[XCP_VERSION_FORMAT] & 0x0f) {
	case XCP_DATA:
		return XCP_REQUEST;
	case XCP_MINIMAL:
		return XCP_WITHOUT;
	default:
		return XCP_MALFORMED;
	}
}

static void serve(struct xcp *xcp, struct burst *burst, uint16_t i)
{
	struct cloud *cloud = xcp->stage.cloud;
	const uint8_t *frame = burst_frame(burst, i);
	const struct headers headers = *burst_headers(burst, i);
	uint32_t wire_bytes = burst_wire_bytes(burst, i), rtt, x;
	enum xcp_find found = XCP_ABSENT;
	int32_t asked, allotted;

	if (headers.ip != 0)
		found = find(xcp, &headers, frame);
	cloud->counters.feedback_malformed += found == XCP_MALFORMED;
	if (found != XCP_REQUEST) {
		xcp_control_arrival(&xcp->control, wire_bytes, 0, 0);
		return;
	}
	frame += headers.transport;
	rtt = headers_u32(frame + XCP_RTT);
	x = headers_u32(frame + XCP_X);
	asked = (int32_t)headers_u32(frame + XCP_DELTA);
	xcp_control_arrival(&xcp->control, wire_bytes, x, rtt);
	allotted = rtt ? xcp_control_allot(&xcp->control, wire_bytes, x, asked) : 0;
	if (allotted == asked || unlikely(!cloud_writable(cloud, burst, i)))
		return;
	headers_put_u32(burst_frame(burst, i) + headers.transport + XCP_DELTA, (uint32_t)allotted);
	cloud->counters.feedback_written++;
}

static void xcp_process(struct stage *stage, struct burst *burst)
{
	stage->drawn += burst->n;
	for (uint16_t i = 0; i < burst->n; i++)
		serve((struct xcp *)stage, burst, i);
}

/* ---- construction ---- */

static int xcp_make(const struct conf *conf, struct stage **stage)
{
	struct xcp *xcp = calloc(1, sizeof(*xcp));

	if (!xcp)
		return -ENOMEM;
	xcp->protocol = (uint8_t)((const struct xcp_conf *)conf)->protocol;
	xcp->watch = (struct cloud_watch){.before = xcp_before, .beside = true};
	xcp_control_init(&xcp->control);
	xcp->stage.process = xcp_process;
	xcp->stage.watch = &xcp->watch;
	*stage = &xcp->stage;
	return 0;
}

static void xcp_adopt(struct stage *stage, const struct stage *old)
{
	struct xcp *xcp = (struct xcp *)stage;
	const struct xcp *before = (const struct xcp *)old;

	xcp->begun = before->begun;
	xcp->interval_at = before->interval_at;
	xcp->queue_at = before->queue_at;
	xcp->waiting = before->waiting;
	xcp->least = before->least;
	xcp->control = before->control;
}

/* Omits `waiting`, which xcp_before computes before anything else happens. */
static void xcp_snapshot(struct stage *stage, struct snapshot *snapshot)
{
	struct xcp *xcp = (struct xcp *)stage;

	xcp->begun = snapshot_flag(snapshot, xcp->begun);
	snapshot_value(snapshot, xcp->interval_at);
	snapshot_value(snapshot, xcp->queue_at);
	snapshot_value(snapshot, xcp->least);
	xcp_control_snapshot(&xcp->control, snapshot);
	snapshot_holds(snapshot,
	               xcp->interval_at < SIMTIME_HORIZON && xcp->queue_at < SIMTIME_HORIZON);
}

static double rate_of(uint64_t rate)
{
	return (double)rate / (1 << XCP_RATE_BITS);
}

static READS_WHILE_IT_RUNS void xcp_report(const struct stage *stage, struct observed *observed)
{
	const struct xcp_control *control = &((const struct xcp *)stage)->control;

	observed->has_xcp = true;
	observed->xcp = (struct xcp_reading){
	        .capacity = (double)control->capacity,
	        .input = (double)control->input,
	        .aggregate = (double)control->aggregate / (1 << XCP_RATE_BITS),
	        .positive = rate_of(control->positive),
	        .negative = rate_of(control->negative),
	        .queue_bytes = control->queue_bytes,
	        .rtt_ns = (simtime)((unsigned __int128)control->rtt * SIMTIME_S / XCP_SECOND),
	        .interval_ns = control->interval_ns,
	};
}

/* ---- fields ---- */

static int xcp_check(const struct conf *conf, const struct cloud_conf *cloud,
                     struct problem *problem)
{
	(void)conf;
	if (!cloud || cloud_conf_get(cloud, "rate")) /* a single line is checked without its
	                                              * cloud */
		return 0;
	return problem_set(
	        problem, -1,
	        "cloud %s has no rate, and XCP divides a rate among flows; give it one: `cloud "
	        "%s rate 10mbit`",
	        cloud->name, cloud->name);
}

static const struct field xcp_fields[] = {
        {FIELD("protocol", FIELD_COUNT, struct xcp_conf, protocol, .min = 1, .max = 255,
               .initial = XCP_PROTOCOL_DEFAULT, .help = "the IP protocol of the header")},
        FIELD_END,
};

const struct statement xcp_statement = {
        .name = "xcp",
        .help = "an XCP router: tells senders by how much to go faster or slower",
        .example = "",
        .beside = {"hop 192.0.2.1"},
        .role = ROLE_STAGE,
        .generates = true, /* its packets come one by one */
        .fields = xcp_fields,
        .counts = {{COUNTER(feedback_written), .thing = "request reduced", .always = true},
                   {COUNTER(feedback_malformed), .words = "malformed"}},
        .conf_bytes = sizeof(struct xcp_conf),
        .check = xcp_check,
        .make = xcp_make,
        .adopt = xcp_adopt,
        .snapshot = xcp_snapshot,
        .report = xcp_report,
};
