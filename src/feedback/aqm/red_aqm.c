/* SPDX-License-Identifier: BSD-3-Clause */
#include "aqm/red.h"

#include <errno.h>
#include <stdlib.h>

#include "account/counter_read.h"
#include "link/aqm.h"
#include "match/packet_key.h"
#include "notify/becn.h"
#include "notify/ecn.h"
#include "snapshot/snapshot.h"

struct red_aqm {
	struct aqm aqm;
	struct red red;
	struct red_rule rule;
	struct match *match; /* NULL: all packets that can be marked */
	bool begun;          /* red_begin has been called */
	struct becn becn;
	quantity_q64 becn_from; /* average from which on quenches are sent */
	/* the average, in one word for control to read */
	uint64_t average_q16;
};

/* ---- worker ---- */

static inline void begin(struct red_aqm *red, simtime now)
{
	if (likely(red->begun))
		return;
	red->begun = true;
	red_begin(&red->red, &red->rule, now);
}

static bool fits(const struct match *match, struct burst *burst, uint16_t i)
{
	struct packet_key key;

	if (!match)
		return true;
	packet_key_read(burst, i, &key);
	for (uint32_t k = 0; k < match->n; k++) {
		if (match_row_fits(&match->rows[k], &key))
			return true;
	}
	return false;
}

/* Looks up what the variants need to know of a packet; plain RED need not look at it. */
static __attribute__((noinline)) void classify(const struct red_aqm *red, struct burst *burst,
                                               uint16_t i, struct red_arrival *arrival)
{
	struct packet_bytes bytes = packet_bytes_of(burst, i);
	struct ce_place place;

	arrival->capable = red->aqm.marker->look(&bytes, &place) != MARKING_NONE;
	arrival->chosen = arrival->capable && fits(red->match, burst, i);
	if (red->rule.setup.selection == RED_SPACED)
		arrival->capable = arrival->chosen;
}

static uint16_t red_aqm_arrive(struct aqm *aqm, const struct aqm_view *view,
                               const struct aqm_group *group, struct aqm_verdict *verdict)
{
	static const struct aqm_verdict verdicts[] = {
	        [RED_PASS] = {.action = AQM_PASS},
	        [RED_MARK_EARLY] = {.action = AQM_MARK, .reason = REASON_RED_EARLY},
	        [RED_MARK_FORCED] = {.action = AQM_MARK, .reason = REASON_RED_FORCED},
	        [RED_DROP_EARLY] = {.action = AQM_DROP, .reason = REASON_RED_EARLY},
	        [RED_DROP_FORCED] = {.action = AQM_DROP, .reason = REASON_RED_FORCED},
	};
	struct red_aqm *red = (struct red_aqm *)aqm;
	const struct red_setup *setup = &red->rule.setup;
	struct red_arrival arrival = {
	        .now = group->now, .rate_bps = view->rate_bps, .capable = aqm->marker != NULL};
	struct red_group rest = {
	        .now = group->now,
	        .queue = setup->bytes ? view->waiting_bytes : view->waiting_packets,
	        .rate_bps = view->rate_bps,
	        .wait = group->wait,
	        .n = group->n,
	        .length = group->length,
	};
	enum red_verdict judged = RED_PASS;

	begin(red, group->now);
	/* Only for the variants, which get packets one by one. */
	if (unlikely(setup->selection != RED_NS2) && arrival.capable) {
		classify(red, group->burst, group->from, &arrival);
		rest.uncounted =
		        setup->selection == RED_MAPPED && arrival.chosen && arrival.capable;
	}
	while (red_reaches_judge(&red->red, &red->rule, &rest)) {
		arrival.queue = rest.queue;
		arrival.wire_bytes = *rest.length;
		arrival.draw = draw_u64(aqm->key, aqm->drawn + (group->n - rest.n), 0);
		judged = red_judge(&red->red, &red->rule, &arrival);
		if (judged != RED_PASS)
			break;
		red_group_next(&red->rule, &rest);
	}
	red->average_q16 = (uint64_t)(red->red.average >> 48);
	*verdict = verdicts[judged];
	return group->n - rest.n;
}

static void red_aqm_settled(struct aqm *aqm, const struct aqm_view *view, struct burst *burst,
                            uint16_t i, enum aqm_outcome outcome)
{
	struct red_aqm *red = (struct red_aqm *)aqm;

	(void)view;
	if (outcome == AQM_OVERFLOWED)
		red_overflow(&red->red);
	if (unlikely(red->becn.on) && red->red.average >= red->becn_from)
		becn_settled(&red->becn, aqm, burst, i, outcome);
}

static void red_aqm_pushed_out(struct aqm *aqm, const struct aqm_view *view, struct held *held,
                               simtime now)
{
	struct red_aqm *red = (struct red_aqm *)aqm;

	(void)view;
	if (unlikely(red->becn.on) && red->red.average >= red->becn_from)
		becn_pushed_out(&red->becn, aqm, held, now);
}

static void red_aqm_idle(struct aqm *aqm, simtime now)
{
	struct red_aqm *red = (struct red_aqm *)aqm;

	begin(red, now);
	red_idle(&red->red, now);
}

static void red_aqm_adopt(struct aqm *aqm, const struct aqm *old)
{
	struct red_aqm *red = (struct red_aqm *)aqm;
	const struct red_aqm *before = (const struct red_aqm *)old;

	red->begun = before->begun;
	red->red = before->red;
	red_change(&red->red, &before->rule, &red->rule);
	becn_adopt(&red->becn, &before->becn);
	red->average_q16 = (uint64_t)(red->red.average >> 48);
}

static void red_aqm_begin(struct aqm *aqm)
{
	struct red_aqm *red = (struct red_aqm *)aqm;

	red->begun = false;
	red->average_q16 = 0;
}

static void red_aqm_snapshot(struct aqm *aqm, struct snapshot *snapshot)
{
	struct red_aqm *red = (struct red_aqm *)aqm;

	red->begun = snapshot_flag(snapshot, red->begun);
	red_snapshot(&red->red, snapshot);
	becn_snapshot(&red->becn, snapshot);
	red->average_q16 = (uint64_t)(red->red.average >> 48);
}

/* ---- control ---- */

static READS_WHILE_IT_RUNS double red_aqm_average(const struct aqm *aqm)
{
	const struct red_aqm *red = (const struct red_aqm *)aqm;
	double units = (double)red->average_q16 / (1 << 16);

	return red->rule.setup.bytes ? units : units * red->rule.setup.mean_bytes;
}

static READS_WHILE_IT_RUNS uint32_t red_aqm_figures(const struct aqm *aqm,
                                                    struct aqm_figure figures[AQM_FIGURES_MAX])
{
	const struct red_aqm *red = (const struct red_aqm *)aqm;
	double p = (double)red->red.p / (double)PROBABILITY_ONE;
	uint32_t n = 0;

	figures[n++] = (struct aqm_figure){"probability", p, AQM_FRACTION};
	if (red->rule.setup.selection == RED_MAPPED)
		figures[n++] = (struct aqm_figure){
		        "probability ecn-mod", p_mod_of(red->rule.setup.p_mod, p), AQM_FRACTION};
	if (red->rule.setup.selection == RED_SPACED)
		figures[n++] = (struct aqm_figure){
		        "probability drop",
		        p * (double)red->rule.setup.alpha / (double)PROBABILITY_ONE, AQM_FRACTION};
	figures[n++] = (struct aqm_figure){
	        "max-p", (double)red->red.max_p / (double)PROBABILITY_ONE, AQM_FRACTION};
	return n + becn_figures(&red->becn, &figures[n]);
}

static void red_aqm_free(struct aqm *aqm)
{
	free(((struct red_aqm *)aqm)->match);
	free(aqm);
}

/* Prepares becn. A threshold at min is BECN alone, and needs no comparison; one at max is ECN
 * alone, without becn. */
static void make_becn(struct red_aqm *red, const struct conf *conf, const struct cloud_conf *cloud)
{
	const struct becn_conf *becn = becn_beside(conf, cloud);
	quantity_q64 from = 0;

	if (!becn)
		return;
	if (becn->threshold.unit != LIMIT_NONE)
		from = red_conf_threshold((const struct red_conf *)conf, &becn->threshold);
	if (from <= red->rule.setup.min)
		from = 0;
	if (from > 0 && from >= red->rule.setup.max)
		return;
	red->becn_from = from;
	becn_make(&red->becn, becn);
}

static int red_aqm_make(const struct conf *conf, const struct cloud_conf *cloud, struct aqm **aqm)
{
	const struct red_setup setup = red_conf_setup((const struct red_conf *)conf);
	const char *match = ((const struct red_conf *)conf)->match;
	struct red_aqm *red = aligned_alloc(64, RTE_ALIGN_CEIL(sizeof(*red), 64u));

	if (!red)
		return -ENOMEM;
	memset(red, 0, sizeof(*red));
	if (match) {
		red->match = calloc(1, sizeof(*red->match));
		if (!red->match)
			goto err_match;
		match_parse(match, red->match);
	}
	red_rule_make(&red->rule, &setup);
	red->red.max_p = setup.max_p;
	red->aqm.marker = ecn_marker(conf, cloud, NULL);
	make_becn(red, conf, cloud);
	red->aqm.takes_groups = setup.selection == RED_NS2 && !red->becn.on;
	*aqm = &red->aqm;
	return 0;

err_match:
	free(red);
	return -ENOMEM;
}

static const struct aqm_kind red_kind = {
        .make = red_aqm_make,
        .free = red_aqm_free,
        .adopt = red_aqm_adopt,
        .begin = red_aqm_begin,
        .snapshot = red_aqm_snapshot,
        .arrive = red_aqm_arrive,
        .settled = red_aqm_settled,
        .pushed_out = red_aqm_pushed_out,
        .idle = red_aqm_idle,
        .average = red_aqm_average,
        .figures = red_aqm_figures,
};

static int red_check(const struct conf *conf, const struct cloud_conf *cloud,
                     struct problem *problem)
{
	const struct red_conf *red = (const struct red_conf *)conf;
	const struct red_setup setup = red_conf_setup(red);
	int error = red_conf_check(red, problem);

	if (error)
		return error;
	if (setup.selection != RED_NS2 && !ecn_marker(conf, cloud, NULL))
		return problem_set(problem, -1,
		                   "%s needs packets that can be marked: say `ecn on` for it",
		                   setup.selection == RED_SPACED ? "alpha" : "marking ecn-mod");
	return aqm_check(conf, cloud, problem);
}

const struct statement red_statement = {
        .name = "red",
        .help = "random early detection: the queue drops or marks before it is full",
        .example = "min 15kB max 45kB",
        .role = ROLE_AQM,
        .fields = red_fields,
        .counts = {{COUNTER(ecn_marked), .words = "marked"},
                   {DROPS(RED_EARLY), .words = "dropped early", .always = true},
                   {DROPS(RED_FORCED), .words = "by force", .always = true}},
        .conf_bytes = sizeof(struct red_conf),
        .check = red_check,
        .aqm = &red_kind,
};
