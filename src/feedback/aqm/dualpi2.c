/* SPDX-License-Identifier: BSD-3-Clause */
#include "aqm/dualpi2.h"

#include <errno.h>
#include <stdlib.h>

#include "account/counter_read.h"
#include "aqm/pie.h"
#include "engine/cloud_aqm.h"
#include "holding/log.h"
#include "link/aqm.h"
#include "link/shaper.h"
#include "notify/ecn.h"
#include "snapshot/snapshot.h"

enum { L4S, CLASSIC, BANDS };

/* Fraction bits of the share and the credit. */
#define SHARE_BITS 32

struct dualpi2 {
	struct aqm aqm;
	struct log band[BANDS];
	uint64_t sum_q62[BANDS]; /* sums of recur() */
	uint32_t current;        /* the band from which the link takes */
	int64_t credit;          /* of the Classic queue, in bytes x 2^SHARE_BITS */
	struct pi2 pi2;
	struct pi2_rule rule;
	uint64_t min_packets;
	probability_q63 classic_most; /* p_C from which on ECT(0) is dropped */
	int64_t share;                /* of the Classic queue, x 2^SHARE_BITS */
	simtime delay_ns[BANDS];      /* of the packet taken last */
	uint64_t dropped, marked[BANDS];
};

/* ---- sorting and scheduling ---- */

static struct log *dualpi2_at(struct aqm *aqm, uint32_t i)
{
	return i < BANDS ? &((struct dualpi2 *)aqm)->band[i] : NULL;
}

static struct log *dualpi2_choose(struct aqm *aqm, const struct packet_bytes *frame)
{
	struct ce_place place;
	int bits = ce_codepoint(frame, &place);

	return &((struct dualpi2 *)aqm)->band[bits > 0 && bits & 1 ? L4S : CLASSIC];
}

static void dualpi2_entered(struct aqm *aqm, struct log *band, uint32_t wire_bytes)
{
	(void)aqm;
	(void)band;
	(void)wire_bytes;
}

/* Executes the updates up to `now`. The greater delay is that of the packet that arrived
 * earlier. */
static void advance(struct dualpi2 *self, simtime now)
{
	simtime first = SIMTIME_NEVER;

	for (uint32_t i = 0; i < BANDS; i++) {
		if (self->band[i].records)
			first = simtime_min(first, log_front(&self->band[i])->t_ns);
	}
	pi2_advance(&self->pi2, &self->rule, first, now);
}

static struct log *dualpi2_next(struct aqm *aqm, simtime now)
{
	struct dualpi2 *self = (struct dualpi2 *)aqm;

	advance(self, now);
	if (self->band[L4S].records == 0 || self->band[CLASSIC].records == 0) {
		self->credit = 0;
		self->current = self->band[L4S].records == 0 ? CLASSIC : L4S;
	} else {
		self->current = self->credit > 0 ? CLASSIC : L4S;
	}
	return self->band[self->current].records ? &self->band[self->current] : NULL;
}

/* ---- verdicts ---- */

static enum aqm_action judge_l4s(struct dualpi2 *self, simtime delay)
{
	probability_q63 p = self->pi2.scale;
	uint64_t *sum = &self->sum_q62[L4S];

	if (p == PROBABILITY_ONE) {
		if (pi2_recur(sum, self->pi2.classic))
			return AQM_DROP;
	} else if (self->band[L4S].records > self->min_packets) {
		p = RTE_MAX(p, pi2_ramp(&self->rule, delay));
	}
	return pi2_recur(sum, p) ? AQM_MARK : AQM_PASS;
}

static enum aqm_action judge_classic(struct dualpi2 *self, struct held *held)
{
	if (!pi2_recur(&self->sum_q62[CLASSIC], self->pi2.classic))
		return AQM_PASS;
	if (self->pi2.classic >= self->classic_most || aqm_look(&self->aqm, held) == MARKING_NONE)
		return AQM_DROP;
	return AQM_MARK;
}

static struct aqm_verdict dualpi2_depart(struct aqm *aqm, const struct aqm_view *view,
                                         struct held *held, simtime now)
{
	struct dualpi2 *self = (struct dualpi2 *)aqm;
	uint32_t band = self->current;
	struct aqm_verdict verdict = {.reason = REASON_DUALPI2};

	self->delay_ns[band] = now - held->t_ns;
	verdict.action =
	        band == L4S ? judge_l4s(self, self->delay_ns[band]) : judge_classic(self, held);
	if (verdict.action == AQM_DROP) {
		self->dropped++;
		return verdict;
	}
	self->marked[band] += verdict.action == AQM_MARK && aqm_look(aqm, held) == MARKING_POSSIBLE;
	self->credit += RTE_MIN(view->wire_bytes, SHAPER_BYTES_MAX) *
	                (self->share - (band == CLASSIC ? INT64_C(1) << SHARE_BITS : 0));
	return verdict;
}

static void dualpi2_idle(struct aqm *aqm, simtime now)
{
	advance((struct dualpi2 *)aqm, now);
}

static uint16_t dualpi2_arrive(struct aqm *aqm, const struct aqm_view *view,
                               const struct aqm_group *group, struct aqm_verdict *verdict)
{
	(void)view;
	(void)verdict;
	advance((struct dualpi2 *)aqm, group->now);
	return 1;
}

/* ---- changes ---- */

static void dualpi2_adopt(struct aqm *aqm, const struct aqm *old)
{
	struct dualpi2 *self = (struct dualpi2 *)aqm;
	const struct dualpi2 *before = (const struct dualpi2 *)old;

	self->pi2 = before->pi2;
	pi2_change(&self->pi2, &self->rule);
	self->current = before->current;
	self->credit = before->credit;
	self->dropped = before->dropped;
	for (uint32_t i = 0; i < BANDS; i++) {
		self->sum_q62[i] = before->sum_q62[i];
		self->delay_ns[i] = before->delay_ns[i];
		self->marked[i] = before->marked[i];
	}
}

static void dualpi2_begin(struct aqm *aqm)
{
	struct dualpi2 *self = (struct dualpi2 *)aqm;

	self->pi2 = (struct pi2){0};
	self->credit = 0;
	memset(self->sum_q62, 0, sizeof(self->sum_q62));
}

static bool dualpi2_inherit(struct aqm *aqm, struct aqm *old)
{
	struct dualpi2 *self = (struct dualpi2 *)aqm, *before = (struct dualpi2 *)old;

	memcpy(self->band, before->band, sizeof(self->band));
	memset(before->band, 0, sizeof(before->band));
	return true;
}

static void dualpi2_emptied(struct aqm *aqm)
{
	((struct dualpi2 *)aqm)->credit = 0;
}

/* ---- snapshots ---- */

/* No packet, whatever its length, takes the credit beyond this. */
#define CREDIT_MAX (INT64_C(1) << 57)

static void dualpi2_snapshot(struct aqm *aqm, struct snapshot *snapshot)
{
	struct dualpi2 *self = (struct dualpi2 *)aqm;

	pi2_snapshot(&self->pi2, snapshot);
	self->current = snapshot_index(snapshot, self->current, BANDS);
	snapshot_value(snapshot, self->credit);
	snapshot_value(snapshot, self->sum_q62);
	snapshot_value(snapshot, self->delay_ns);
	snapshot_value(snapshot, self->dropped);
	snapshot_value(snapshot, self->marked);
	snapshot_holds(snapshot, self->credit >= -CREDIT_MAX && self->credit <= CREDIT_MAX);
}

/* Returns false if a waiting packet did not arrive before the next update: its delay there could be
 * negative. */
static bool dualpi2_fits(const struct aqm *aqm)
{
	const struct dualpi2 *self = (const struct dualpi2 *)aqm;
	const struct held *held;

	for (uint32_t i = 0; self->pi2.begun && i < BANDS; i++) {
		struct log_walk walk = log_walk(&self->band[i]);

		while ((held = log_walk_next(&walk))) {
			if (held->t_ns >= self->pi2.update)
				return false;
		}
	}
	return true;
}

/* ---- control ---- */

static struct aqm_figure fraction(const char *name, probability_q63 p)
{
	return (struct aqm_figure){name, (double)p / (double)PROBABILITY_ONE, AQM_FRACTION};
}

static READS_WHILE_IT_RUNS uint32_t dualpi2_figures(const struct aqm *aqm,
                                                    struct aqm_figure figures[AQM_FIGURES_MAX])
{
	const struct dualpi2 *self = (const struct dualpi2 *)aqm;
	uint32_t n = 0;

	figures[n++] = fraction("probability", self->pi2.base);
	figures[n++] = fraction("probability classic", self->pi2.classic);
	figures[n++] = fraction("probability l4s", self->pi2.scale);
	figures[n++] =
	        (struct aqm_figure){"delay classic", (double)self->delay_ns[CLASSIC], AQM_NS};
	figures[n++] = (struct aqm_figure){"delay l4s", (double)self->delay_ns[L4S], AQM_NS};
	figures[n++] = (struct aqm_figure){"drops", (double)self->dropped, AQM_COUNT};
	figures[n++] =
	        (struct aqm_figure){"marks classic", (double)self->marked[CLASSIC], AQM_COUNT};
	figures[n++] = (struct aqm_figure){"marks l4s", (double)self->marked[L4S], AQM_COUNT};
	return n;
}

static int dualpi2_make(const struct conf *conf, const struct cloud_conf *cloud, struct aqm **aqm)
{
	const struct dualpi2_conf *from = (const struct dualpi2_conf *)conf;
	struct dualpi2 *self = calloc(1, sizeof(*self));
	double coupling = (double)from->coupling / (double)FACTOR_ONE;

	(void)cloud;
	if (!self)
		return -ENOMEM;
	self->rule = (struct pi2_rule){
	        .target_ns = from->target_ns,
	        .tupdate_ns = from->tupdate_ns,
	        .alpha = from->alpha,
	        .beta = from->beta,
	        .coupling = from->coupling,
	        .min_ns = from->min_ns,
	        .range_ns = from->range_ns,
	};
	self->min_packets = from->min_packets;
	self->classic_most = PROBABILITY_ONE;
	if (coupling > 1)
		self->classic_most =
		        (probability_q63)((double)PROBABILITY_ONE / (coupling * coupling));
	self->share = (int64_t)(from->classic_share >> (63 - SHARE_BITS));
	self->aqm.marker = &ecn_marker_3168;
	*aqm = &self->aqm;
	return 0;
}

static uint32_t dualpi2_most(const struct conf *conf)
{
	(void)conf;
	return BANDS;
}

static const struct aqm_bands dualpi2_bands = {
        .at = dualpi2_at,
        .choose = dualpi2_choose,
        .entered = dualpi2_entered,
        .next = dualpi2_next,
        .inherit = dualpi2_inherit,
        .emptied = dualpi2_emptied,
        .fits = dualpi2_fits,
        .most = dualpi2_most,
};

static const struct aqm_kind dualpi2_kind = {
        .make = dualpi2_make,
        .adopt = dualpi2_adopt,
        .begin = dualpi2_begin,
        .snapshot = dualpi2_snapshot,
        .arrive = dualpi2_arrive,
        .depart = dualpi2_depart,
        .idle = dualpi2_idle,
        .bands = &dualpi2_bands,
        .figures = dualpi2_figures,
};

static int dualpi2_check(const struct conf *conf, const struct cloud_conf *cloud,
                         struct problem *problem)
{
	if (ecn_marker(conf, cloud, &ecn_marker_3168) != &ecn_marker_3168)
		return problem_set(
		        problem, -1,
		        "L4S needs the marks of RFC 3168: say `ecn on`, or leave `ecn` out");
	return aqm_check_bands(conf, cloud, problem);
}

static const struct field dualpi2_fields[] = {
        {FIELD("target", FIELD_TIME, struct dualpi2_conf, target_ns, .min = SIMTIME_US,
               .max = 10 * SIMTIME_S, .initial = 15 * SIMTIME_MS,
               .help = "target delay of the queue whose head has waited longer")},
        {FIELD("tupdate", FIELD_TIME, struct dualpi2_conf, tupdate_ns, .min = 100 * SIMTIME_US,
               .max = 10 * SIMTIME_S, .initial = 16 * SIMTIME_MS,
               .help = "between two updates of the probability")},
        {FIELD("alpha", FIELD_FACTOR, struct dualpi2_conf, alpha, .max = PIE_GAIN_MAX * FACTOR_ONE,
               .initial = 160000,
               .help = "how much a delay of one second above the target adds to the probability")},
        {FIELD("beta", FIELD_FACTOR, struct dualpi2_conf, beta, .max = PIE_GAIN_MAX * FACTOR_ONE,
               .initial = 3200000,
               .help = "how much a delay growth of one second since the last update adds")},
        {FIELD("coupling", FIELD_FACTOR, struct dualpi2_conf, coupling, .min = 1,
               .max = 1000 * FACTOR_ONE, .initial = 2 * FACTOR_ONE,
               .help = "L4S packets are marked with this many times the base probability")},
        {FIELD("min", FIELD_TIME, struct dualpi2_conf, min_ns, .max = 10 * SIMTIME_S,
               .initial = 800 * SIMTIME_US, .help = "delay of the L4S queue above which it marks")},
        {FIELD("range", FIELD_TIME, struct dualpi2_conf, range_ns, .max = 10 * SIMTIME_S,
               .initial = 400 * SIMTIME_US,
               .help = "from min to the delay at which all are marked; 0s: a step")},
        {FIELD("min-packets", FIELD_COUNT, struct dualpi2_conf, min_packets, .max = 1000000,
               .initial = 1,
               .help = "with this many packets or fewer, the L4S queue does not mark for delay")},
        {FIELD("classic-share", FIELD_PROBABILITY, struct dualpi2_conf, classic_share,
               .min = PROBABILITY_OF(1, 1000), .max = PROBABILITY_ONE,
               .initial = PROBABILITY_OF(1, 16),
               .help = "of the link, for the Classic queue while packets wait in both")},
        FIELD_END,
};

const struct statement dualpi2_statement = {
        .name = "dualpi2",
        .help = "two queues for L4S and Classic senders, with coupled marks and drops",
        .example = "",
        .role = ROLE_AQM,
        .fields = dualpi2_fields,
        .counts = {{COUNTER(ecn_marked), .words = "marked"},
                   {DROPS(DUALPI2), .words = "dropped", .always = true}},
        .conf_bytes = sizeof(struct dualpi2_conf),
        .check = dualpi2_check,
        .aqm = &dualpi2_kind,
};
