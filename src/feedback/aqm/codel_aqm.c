/* SPDX-License-Identifier: BSD-3-Clause */
#include "aqm/codel_aqm.h"

#include <errno.h>
#include <stdlib.h>

#include "account/counter_read.h"
#include "engine/cloud_aqm.h"
#include "holding/log.h"
#include "link/aqm.h"
#include "notify/ecn.h"
#include "snapshot/snapshot.h"

enum { CODEL_FIELD_TARGET, CODEL_FIELD_INTERVAL, CODEL_FIELD_CE_THRESHOLD, CODEL_FIELD_MTU };

struct codel_aqm {
	struct aqm aqm;
	struct codel codel;
	struct codel_rule rule;
	simtime ce_threshold_ns;
	simtime sojourn_ns; /* of the packet taken last */
	uint64_t dropped, marked, marked_at_threshold;
};

/* ---- worker ---- */

static struct aqm_verdict codel_aqm_depart(struct aqm *aqm, const struct aqm_view *view,
                                           struct held *held, simtime now)
{
	struct codel_aqm *codel = (struct codel_aqm *)aqm;
	simtime sojourn = now - held->t_ns;
	enum marking marking;

	codel->sojourn_ns = sojourn;
	if (codel_select(&codel->codel, &codel->rule, sojourn,
	                 aqm_link_waiting(aqm, view) - view->wire_bytes, now)) {
		marking = aqm_look(aqm, held);
		if (marking == MARKING_NONE) {
			codel->dropped++;
			return (struct aqm_verdict){.action = AQM_DROP, .reason = REASON_CODEL};
		}
		codel_marked(&codel->codel, &codel->rule);
		codel->marked += marking == MARKING_POSSIBLE;
		return (struct aqm_verdict){.action = AQM_MARK, .reason = REASON_CODEL};
	}
	if (codel->ce_threshold_ns && sojourn > codel->ce_threshold_ns &&
	    aqm_look(aqm, held) == MARKING_POSSIBLE) {
		codel->marked_at_threshold++;
		return (struct aqm_verdict){.action = AQM_MARK, .reason = REASON_CODEL};
	}
	return (struct aqm_verdict){.action = AQM_PASS};
}

static void codel_aqm_idle(struct aqm *aqm, simtime now)
{
	struct codel_aqm *codel = (struct codel_aqm *)aqm;

	(void)now;
	codel_emptied(&codel->codel);
}

static void codel_aqm_adopt(struct aqm *aqm, const struct aqm *old)
{
	struct codel_aqm *codel = (struct codel_aqm *)aqm;
	const struct codel_aqm *before = (const struct codel_aqm *)old;

	codel->codel = before->codel;
	codel->sojourn_ns = before->sojourn_ns;
	codel->dropped = before->dropped;
	codel->marked = before->marked;
	codel->marked_at_threshold = before->marked_at_threshold;
}

static void codel_aqm_begin(struct aqm *aqm)
{
	((struct codel_aqm *)aqm)->codel = (struct codel){0};
}

static void codel_aqm_snapshot(struct aqm *aqm, struct snapshot *snapshot)
{
	struct codel_aqm *codel = (struct codel_aqm *)aqm;

	codel_snapshot(&codel->codel, snapshot);
	snapshot_value(snapshot, codel->sojourn_ns);
	snapshot_value(snapshot, codel->dropped);
	snapshot_value(snapshot, codel->marked);
	snapshot_value(snapshot, codel->marked_at_threshold);
}

/* ---- control ---- */

static READS_WHILE_IT_RUNS uint32_t codel_aqm_figures(const struct aqm *aqm,
                                                      struct aqm_figure figures[AQM_FIGURES_MAX])
{
	const struct codel_aqm *codel = (const struct codel_aqm *)aqm;
	uint32_t n = 0;

	figures[n++] = (struct aqm_figure){"sojourn", (double)codel->sojourn_ns, AQM_NS};
	figures[n++] = (struct aqm_figure){"dropping", codel->codel.dropping, AQM_COUNT};
	figures[n++] = (struct aqm_figure){"count", codel->codel.count, AQM_COUNT};
	figures[n++] = (struct aqm_figure){"drops", (double)codel->dropped, AQM_COUNT};
	figures[n++] = (struct aqm_figure){"marks", (double)codel->marked, AQM_COUNT};
	if (codel->ce_threshold_ns)
		figures[n++] = (struct aqm_figure){"marks ce-threshold",
		                                   (double)codel->marked_at_threshold, AQM_COUNT};
	return n;
}

static int codel_aqm_make(const struct conf *conf, const struct cloud_conf *cloud, struct aqm **aqm)
{
	const struct codel_conf *from = (const struct codel_conf *)conf;
	struct codel_aqm *codel = calloc(1, sizeof(*codel));

	if (!codel)
		return -ENOMEM;
	codel->rule = (struct codel_rule){.target_ns = from->target_ns,
	                                  .interval_ns = from->interval_ns,
	                                  .mtu_bytes = from->mtu_bytes};
	codel->ce_threshold_ns = from->ce_threshold_ns;
	codel->aqm.marker = ecn_marker(conf, cloud, NULL);
	*aqm = &codel->aqm;
	return 0;
}

static const struct aqm_kind codel_kind = {
        .make = codel_aqm_make,
        .adopt = codel_aqm_adopt,
        .begin = codel_aqm_begin,
        .snapshot = codel_aqm_snapshot,
        .depart = codel_aqm_depart,
        .idle = codel_aqm_idle,
        .figures = codel_aqm_figures,
};

int codel_check(const struct aqm_marker *marker, simtime target_ns, simtime interval_ns,
                simtime ce_threshold_ns, int field, struct problem *problem)
{
	if (target_ns >= interval_ns)
		return problem_set(
		        problem, field,
		        "the target must be shorter than the interval, ideally a tenth of it "
		        "or less: the RFC has 5ms and 100ms");
	if (ce_threshold_ns && !marker)
		return problem_set(
		        problem, field + 2,
		        "ce-threshold needs packets that can be marked: say `ecn on` first, or "
		        "leave it out");
	return 0;
}

static int check(const struct conf *conf, const struct cloud_conf *cloud, struct problem *problem)
{
	const struct codel_conf *codel = (const struct codel_conf *)conf;
	int error = codel_check(ecn_marker(conf, cloud, NULL), codel->target_ns, codel->interval_ns,
	                        codel->ce_threshold_ns, CODEL_FIELD_TARGET, problem);

	return error ? error : aqm_check(conf, cloud, problem);
}

static const struct field codel_fields[] = {
        [CODEL_FIELD_TARGET] = {FIELD("target", FIELD_TIME, struct codel_conf, target_ns,
                                      .min = SIMTIME_US, .max = SIMTIME_S, .initial = CODEL_TARGET,
                                      .help = "how long packets may normally wait")},
        [CODEL_FIELD_INTERVAL] = {FIELD("interval", FIELD_TIME, struct codel_conf, interval_ns,
                                        .min = SIMTIME_US, .max = CODEL_INTERVAL_MAX,
                                        .initial = CODEL_INTERVAL,
                                        .help = "for how long they may wait longer: about a "
                                                "round-trip time")},
        [CODEL_FIELD_CE_THRESHOLD] = {FIELD(
                "ce-threshold", FIELD_TIME, struct codel_conf, ce_threshold_ns, .max = SIMTIME_S,
                .help = "packets that waited longer are marked at once; 0s: off")},
        [CODEL_FIELD_MTU] = {FIELD("mtu", FIELD_BYTES, struct codel_conf, mtu_bytes, .max = 1000000,
                                   .initial = CODEL_MTU,
                                   .help = "a queue with no more than this is never too long")},
        FIELD_END,
};

const struct statement codel_statement = {
        .name = "codel",
        .help = "controlled delay: packets that wait too long for too long are dropped or marked",
        .example = "",
        .role = ROLE_AQM,
        .fields = codel_fields,
        .counts = {{COUNTER(ecn_marked), .words = "marked"},
                   {DROPS(CODEL), .words = "dropped", .always = true}},
        .conf_bytes = sizeof(struct codel_conf),
        .check = check,
        .aqm = &codel_kind,
};
