/* SPDX-License-Identifier: BSD-3-Clause */
#include "aqm/mark.h"

#include <errno.h>
#include <stdlib.h>

#include "account/counter_read.h"
#include "link/link.h"
#include "notify/becn.h"
#include "notify/ecn.h"
#include "snapshot/snapshot.h"

enum { MARK_FIELD_ABOVE };

struct mark {
	struct aqm aqm;
	struct limit above;
	struct becn becn;
	struct limit becn_from; /* LIMIT_NONE: at any length */
};

static bool is_above(const struct limit *above, const struct aqm_view *view)
{
	return queue_compare(above, view->rate_bps, view->waiting_packets, view->waiting_bytes) >=
	       0;
}

static uint16_t mark_arrive(struct aqm *aqm, const struct aqm_view *view,
                            const struct aqm_group *group, struct aqm_verdict *verdict)
{
	const struct mark *mark = (const struct mark *)aqm;

	(void)group;
	if (!is_above(&mark->above, view))
		return 1;
	*verdict = (struct aqm_verdict){.action = AQM_MARK, .reason = REASON_NOT_CAPABLE};
	return 0;
}

static bool is_congested(const struct mark *mark, const struct aqm_view *view)
{
	return mark->becn_from.unit == LIMIT_NONE || is_above(&mark->becn_from, view);
}

static void mark_settled(struct aqm *aqm, const struct aqm_view *view, struct burst *burst,
                         uint16_t i, enum aqm_outcome outcome)
{
	struct mark *mark = (struct mark *)aqm;

	if (mark->becn.on && is_congested(mark, view))
		becn_settled(&mark->becn, aqm, burst, i, outcome);
}

static void mark_pushed_out(struct aqm *aqm, const struct aqm_view *view, struct held *held,
                            simtime now)
{
	struct mark *mark = (struct mark *)aqm;

	if (mark->becn.on && is_congested(mark, view))
		becn_pushed_out(&mark->becn, aqm, held, now);
}

static void mark_adopt(struct aqm *aqm, const struct aqm *old)
{
	becn_adopt(&((struct mark *)aqm)->becn, &((const struct mark *)old)->becn);
}

static void mark_snapshot(struct aqm *aqm, struct snapshot *snapshot)
{
	becn_snapshot(&((struct mark *)aqm)->becn, snapshot);
}

static READS_WHILE_IT_RUNS uint32_t mark_figures(const struct aqm *aqm,
                                                 struct aqm_figure figures[AQM_FIGURES_MAX])
{
	return becn_figures(&((const struct mark *)aqm)->becn, figures);
}

static int mark_make(const struct conf *conf, const struct cloud_conf *cloud, struct aqm **aqm)
{
	const struct becn_conf *becn = becn_beside(conf, cloud);
	struct mark *mark = calloc(1, sizeof(*mark));

	if (!mark)
		return -ENOMEM;
	mark->above = ((const struct mark_conf *)conf)->above;
	mark->aqm.marker = ecn_marker(conf, cloud, &ecn_marker_3168);
	if (becn) {
		becn_make(&mark->becn, becn);
		/* A threshold equal to `above` needs no check: marks occur only from it on, and an
		 * overflow below it sends a quench, too. */
		if (becn->threshold.value > mark->above.value)
			mark->becn_from = becn->threshold;
	}
	*aqm = &mark->aqm;
	return 0;
}

static const struct aqm_kind mark_kind = {
        .make = mark_make,
        .adopt = mark_adopt,
        .snapshot = mark_snapshot,
        .arrive = mark_arrive,
        .settled = mark_settled,
        .pushed_out = mark_pushed_out,
        .figures = mark_figures,
};

static int mark_check(const struct conf *conf, const struct cloud_conf *cloud,
                      struct problem *problem)
{
	if (!ecn_marker(conf, cloud, &ecn_marker_3168))
		return problem_set(
		        problem, -1,
		        "`mark` has no effect with `ecn off`: say `ecn on`, or leave it out");
	return aqm_check(conf, cloud, problem);
}

static const struct field mark_fields[] = {
        [MARK_FIELD_ABOVE] = {FIELD(
                "above", FIELD_LIMIT, struct mark_conf, above, .flags = FIELD_REQUIRED, .min = 1,
                .help = "threshold of the waiting queue: bytes, packets or time")},
        FIELD_END,
};

const struct statement mark_statement = {
        .name = "mark",
        .help = "packets that arrive while this much or more waits are marked (ECN)",
        .example = "above 100kB",
        .role = ROLE_AQM,
        .fields = mark_fields,
        .counts = {{COUNTER(ecn_marked), .words = "marked", .always = true},
                   {DROPS(NOT_CAPABLE), .words = "dropped as not capable", .always = true}},
        .conf_bytes = sizeof(struct mark_conf),
        .check = mark_check,
        .aqm = &mark_kind,
};
