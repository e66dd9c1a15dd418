/* SPDX-License-Identifier: BSD-3-Clause */
#include "aqm/pie_aqm.h"

#include <errno.h>
#include <stdlib.h>

#include "account/counter_read.h"
#include "aqm/pie.h"
#include "holding/log.h"
#include "link/aqm.h"
#include "notify/ecn.h"
#include "snapshot/snapshot.h"

struct pie_aqm {
	struct aqm aqm;
	struct pie pie;
	struct pie_rule rule;
	probability_q63 mark_below;
	uint64_t dropped, marked;
};

/* ---- worker ---- */

static uint16_t pie_aqm_arrive(struct aqm *aqm, const struct aqm_view *view,
                               const struct aqm_group *group, struct aqm_verdict *verdict)
{
	struct pie_aqm *pie = (struct pie_aqm *)aqm;

	pie_advance(&pie->pie, &pie->rule, group->now);
	if (!pie_select(&pie->pie, &pie->rule, view->waiting_bytes,
	                pie->pie.probability ? draw_u64(aqm->key, aqm->drawn, 0) : 0))
		return 1;
	*verdict = (struct aqm_verdict){.action = pie->pie.probability < pie->mark_below ? AQM_MARK
	                                                                                 : AQM_DROP,
	                                .reason = REASON_PIE};
	return 0;
}

static void pie_aqm_settled(struct aqm *aqm, const struct aqm_view *view, struct burst *burst,
                            uint16_t i, enum aqm_outcome outcome)
{
	struct pie_aqm *pie = (struct pie_aqm *)aqm;

	(void)view;
	(void)burst;
	(void)i;
	pie->dropped += outcome == AQM_DROPPED || outcome == AQM_UNMARKABLE;
	pie->marked += outcome == AQM_MARKED;
	if (outcome == AQM_OVERFLOWED)
		pie_overflowed(&pie->pie);
}

static struct aqm_verdict pie_aqm_depart(struct aqm *aqm, const struct aqm_view *view,
                                         struct held *held, simtime now)
{
	struct pie_aqm *pie = (struct pie_aqm *)aqm;

	pie_advance(&pie->pie, &pie->rule, now);
	pie->pie.delay_ns = view->waiting_packets > 1 ? now - held->t_ns : 0;
	return (struct aqm_verdict){.action = AQM_PASS};
}

static void pie_aqm_idle(struct aqm *aqm, simtime now)
{
	struct pie_aqm *pie = (struct pie_aqm *)aqm;

	pie_advance(&pie->pie, &pie->rule, now);
	pie->pie.delay_ns = 0;
}

static void pie_aqm_adopt(struct aqm *aqm, const struct aqm *old)
{
	struct pie_aqm *pie = (struct pie_aqm *)aqm;
	const struct pie_aqm *before = (const struct pie_aqm *)old;

	pie->pie = before->pie;
	pie_change(&pie->pie, &pie->rule);
	pie->dropped = before->dropped;
	pie->marked = before->marked;
}

static void pie_aqm_begin(struct aqm *aqm)
{
	((struct pie_aqm *)aqm)->pie = (struct pie){0};
}

static void pie_aqm_snapshot(struct aqm *aqm, struct snapshot *snapshot)
{
	struct pie_aqm *pie = (struct pie_aqm *)aqm;

	pie_snapshot(&pie->pie, snapshot);
	snapshot_value(snapshot, pie->dropped);
	snapshot_value(snapshot, pie->marked);
}

/* ---- control ---- */

static READS_WHILE_IT_RUNS uint32_t pie_aqm_figures(const struct aqm *aqm,
                                                    struct aqm_figure figures[AQM_FIGURES_MAX])
{
	const struct pie_aqm *pie = (const struct pie_aqm *)aqm;
	uint32_t n = 0;

	figures[n++] = (struct aqm_figure){"probability",
	                                   (double)pie->pie.probability / (double)PROBABILITY_ONE,
	                                   AQM_FRACTION};
	figures[n++] = (struct aqm_figure){"delay", (double)pie->pie.delay_ns, AQM_NS};
	figures[n++] = (struct aqm_figure){"burst left", (double)pie->pie.burst_ns, AQM_NS};
	figures[n++] = (struct aqm_figure){"drops", (double)pie->dropped, AQM_COUNT};
	figures[n++] = (struct aqm_figure){"marks", (double)pie->marked, AQM_COUNT};
	return n;
}

static int pie_aqm_make(const struct conf *conf, const struct cloud_conf *cloud, struct aqm **aqm)
{
	const struct pie_conf *from = (const struct pie_conf *)conf;
	struct pie_aqm *pie = calloc(1, sizeof(*pie));

	if (!pie)
		return -ENOMEM;
	pie->rule = (struct pie_rule){
	        .target_ns = from->target_ns,
	        .tupdate_ns = from->tupdate_ns,
	        .max_burst_ns = from->max_burst_ns,
	        .alpha = from->alpha,
	        .beta = from->beta,
	        .mean_bytes = from->mean_bytes,
	        .derandomize = from->derandomize,
	        .cap = from->cap,
	        .decay_half = from->decay == PIE_DECAY_HALF,
	};
	pie->mark_below = from->mark_below;
	pie->aqm.marker = ecn_marker(conf, cloud, NULL);
	*aqm = &pie->aqm;
	return 0;
}

static const struct aqm_kind pie_kind = {
        .make = pie_aqm_make,
        .adopt = pie_aqm_adopt,
        .begin = pie_aqm_begin,
        .snapshot = pie_aqm_snapshot,
        .arrive = pie_aqm_arrive,
        .settled = pie_aqm_settled,
        .depart = pie_aqm_depart,
        .idle = pie_aqm_idle,
        .figures = pie_aqm_figures,
};

static const char *const decays[] = {"empty", "half", NULL};

static const struct field pie_fields[] = {
        {FIELD("target", FIELD_TIME, struct pie_conf, target_ns, .min = SIMTIME_US,
               .max = 10 * SIMTIME_S, .initial = 15 * SIMTIME_MS,
               .help = "target delay of the queue")},
        {FIELD("tupdate", FIELD_TIME, struct pie_conf, tupdate_ns, .min = 100 * SIMTIME_US,
               .max = 10 * SIMTIME_S, .initial = 15 * SIMTIME_MS,
               .help = "between two updates of the probability")},
        {FIELD("alpha", FIELD_FACTOR, struct pie_conf, alpha, .max = PIE_GAIN_MAX * FACTOR_ONE,
               .initial = FACTOR_ONE / 8,
               .help = "how much a delay of one second above the target adds to the probability")},
        {FIELD("beta", FIELD_FACTOR, struct pie_conf, beta, .max = PIE_GAIN_MAX * FACTOR_ONE,
               .initial = FACTOR_ONE * 5 / 4,
               .help = "how much a delay growth of one second since the last update adds")},
        {FIELD("max-burst", FIELD_TIME, struct pie_conf, max_burst_ns, .max = 10 * SIMTIME_S,
               .initial = 150 * SIMTIME_MS,
               .help = "no drops for this long after an uncongested time")},
        {FIELD("mark-ecn-threshold", FIELD_PROBABILITY, struct pie_conf, mark_below,
               .max = PROBABILITY_ONE, .initial = PROBABILITY_OF(1, 10),
               .help = "probability from which capable packets are dropped too")},
        {FIELD("mean", FIELD_BYTES, struct pie_conf, mean_bytes, .max = 100000, .initial = 1024,
               .help = "size of a mean packet: while no more than two of them wait, nothing is "
                       "dropped")},
        {FIELD("derandomize", FIELD_SWITCH, struct pie_conf, derandomize,
               .help = "drops are neither close together nor far apart")},
        {FIELD("cap", FIELD_SWITCH, struct pie_conf, cap, .initial = 1,
               .help = "from 10% on the probability grows by at most 2% per update")},
        {FIELD("decay", FIELD_WORD, struct pie_conf, decay, .words = decays,
               .help = "when the probability decays: while the queue is empty, or below half the "
                       "target")},
        FIELD_END,
};

const struct statement pie_statement = {
        .name = "pie",
        .help = "proportional integral controller enhanced: the delay of the queue is held at a "
                "target",
        .example = "",
        .role = ROLE_AQM,
        .fields = pie_fields,
        .counts = {{COUNTER(ecn_marked), .words = "marked"},
                   {DROPS(PIE), .words = "dropped", .always = true}},
        .conf_bytes = sizeof(struct pie_conf),
        .check = aqm_check,
        .aqm = &pie_kind,
};
