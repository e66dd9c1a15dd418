/* SPDX-License-Identifier: BSD-3-Clause */
#include "notify/becn.h"

#include "account/counter_read.h"
#include "engine/cloud.h"
#include "holding/hold.h"
#include "router/hop.h"
#include "snapshot/snapshot.h"

static bool is_capable(const struct aqm *aqm, const struct packet_bytes *frame)
{
	struct ce_place place;

	return aqm->marker && aqm->marker->look(frame, &place) != MARKING_NONE;
}

/* Returns true if the quench was sent. */
static bool quench(struct becn *becn, struct cloud *cloud, const struct hop_cause *cause,
                   bool marked)
{
	struct quota before = becn->quota;

	if (becn->limited && !quota_take(&becn->quota, cause->t_ns)) {
		becn->withheld++;
		return false;
	}
	if (!hop_tell(cloud, cause, ICMP_SOURCE_QUENCH, marked ? becn->marked : 0)) {
		/* A quench that must not be sent does not consume the quota. */
		becn->quota = before;
		return false;
	}
	cloud->counters.becn_sent++;
	cloud->counters.becn_marked += marked;
	return true;
}

void becn_settled(struct becn *becn, const struct aqm *aqm, struct burst *burst, uint16_t i,
                  enum aqm_outcome outcome)
{
	const struct rte_mbuf *mbuf = burst->mbuf[i];
	uint8_t room[ICMP_FRAME_MAX];
	struct packet_bytes frame;
	struct hop_cause cause;

	switch (outcome) {
	case AQM_MARKED:
		break;
	case AQM_DROPPED:
	case AQM_OVERFLOWED:
		if (!(outcome == AQM_DROPPED ? becn->on_drop : becn->on_overflow))
			return;
		frame = packet_bytes_of(burst, i);
		if (!is_capable(aqm, &frame))
			return;
		break;
	case AQM_QUEUED:
	case AQM_MARKED_PAST:
	case AQM_UNMARKABLE:
		return;
	}
	cause = (struct hop_cause){
	        .bytes = RTE_MIN(mbuf->pkt_len, (uint32_t)ICMP_FRAME_MAX),
	        .wire_bytes = burst_wire_bytes(burst, i),
	        .t_ns = burst_t(burst, i),
	        .number = burst_number(burst, i),
	};
	cause.frame = rte_pktmbuf_read(mbuf, 0, cause.bytes, room);
	if (quench(becn, aqm->cloud, &cause, outcome == AQM_MARKED) && outcome == AQM_MARKED)
		burst_flag(burst, i, PACKET_TOLD);
}

void becn_pushed_out(struct becn *becn, const struct aqm *aqm, struct held *held, simtime now)
{
	const struct packet_bytes frame = packet_bytes_of_held(held);
	const struct hop_cause cause = {
	        .frame = frame.data,
	        .bytes = frame.bytes,
	        .wire_bytes = frame.wire_bytes,
	        .t_ns = now,
	        .number = cloud_number(aqm->cloud, held->flags, held->number),
	};

	if (becn->on_overflow && !(held->flags & PACKET_TOLD) && is_capable(aqm, &frame))
		quench(becn, aqm->cloud, &cause, false);
}

/* ---- control ---- */

void becn_make(struct becn *becn, const struct becn_conf *conf)
{
	*becn = (struct becn){
	        .on = true,
	        .on_drop = conf->on_drop,
	        .on_overflow = conf->on_overflow,
	        .limited = conf->limit > 0,
	        .marked = UINT32_C(0x80000000) >> conf->bit,
	};
	quota_make(&becn->quota, conf->limit, conf->burst);
}

void becn_adopt(struct becn *becn, const struct becn *old)
{
	becn->withheld = old->withheld;
	if (old->limited)
		quota_adopt(&becn->quota, &old->quota);
}

void becn_snapshot(struct becn *becn, struct snapshot *snapshot)
{
	quota_snapshot(&becn->quota, snapshot);
	snapshot_value(snapshot, becn->withheld);
}

READS_WHILE_IT_RUNS uint32_t becn_figures(const struct becn *becn, struct aqm_figure *figures)
{
	if (!becn->limited)
		return 0;
	figures[0] = (struct aqm_figure){"quenches withheld", (double)becn->withheld, AQM_COUNT};
	return 1;
}
