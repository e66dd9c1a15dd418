/* SPDX-License-Identifier: BSD-3-Clause */
#include "schedule/path_trace.h"

#include <errno.h>
#include <stdlib.h>

#include "match/selection.h"
#include "link/class.h"

static const char *const formats[] = {"mahimahi", "csv", NULL};

enum { TRACE_FIELD_FILE, TRACE_FIELD_FORMAT, TRACE_FIELD_LOOP, TRACE_FIELD_QUEUE };

/* The track of a mahimahi trace: put on once, and taken off at its end. */
struct recorded {
	struct track track;
	struct opportunities list;
	struct link_conf link; /* what the trace puts on top */
	struct link_conf below;
	bool queue_given;
};

/* ---- worker ---- */

/* Puts the trace on top of recorded->below. */
static void recorded_cover(struct recorded *recorded, struct cloud *cloud, simtime now)
{
	struct link_conf link = recorded->below;

	if (recorded->queue_given || link.rate_bps == 0)
		link.limit = recorded->link.limit;
	link.rate_bps = recorded->link.rate_bps;
	link.depth_work = 0;
	link.opportunities = &recorded->list;
	link.opportunities_from = cloud->origin_ns;
	link_configure(&cloud->link, &link, now);
}

static void recorded_put_on(struct track *track, struct cloud *cloud, simtime now)
{
	struct recorded *recorded = (struct recorded *)track;

	recorded->below = cloud->link.conf;
	recorded_cover(recorded, cloud, now);
	track->on = true;
}

static bool recorded_put_below(struct track *track, struct cloud *cloud, struct setting *setting,
                               simtime now)
{
	struct recorded *recorded = (struct recorded *)track;
	const struct link_conf old = recorded->below;

	recorded->below = setting->link;
	setting->link = old;
	recorded_cover(recorded, cloud, now);
	return true;
}

static void recorded_take_off(struct track *track, struct cloud *cloud, simtime now)
{
	link_configure(&cloud->link, &((struct recorded *)track)->below, now);
	track->on = false;
}

static void recorded_enter(struct track *track, struct cloud *cloud, simtime now)
{
	const struct opportunities *list = &((struct recorded *)track)->list;
	simtime since = now - cloud->origin_ns;

	track->next = list->loop ? SIMTIME_NEVER : cloud->origin_ns + list->period_ns;
	if (!list->loop && since >= list->period_ns)
		track->next = SIMTIME_NEVER;
	else if (!track->waits)
		recorded_put_on(track, cloud, now);
	else if (list->loop)
		track->next = now + list->period_ns - since % list->period_ns;
}

/* Ends the trace; or, if a statement of the user was in force until now, begins its next round. */
static void recorded_run(struct track *track, struct cloud *cloud, simtime until)
{
	simtime now = track->next;

	(void)until;
	track->next = SIMTIME_NEVER;
	if (track->on)
		recorded_take_off(track, cloud, now);
	else if (((struct recorded *)track)->list.loop)
		recorded_put_on(track, cloud, now);
}

/* ---- control ---- */

static void recorded_free(struct track *track)
{
	struct recorded *recorded = (struct recorded *)track;

	free(recorded->list.at_ms);
	free(recorded);
}

static int plan_mahimahi(const struct trace_conf *trace, struct timeline_plan *plan)
{
	struct recorded *recorded = calloc(1, sizeof(*recorded));
	struct problem problem;
	int error;

	if (!recorded)
		return -ENOMEM;
	error = trace_read_mahimahi(trace, &recorded->list, &problem);
	if (error) {
		free(recorded);
		return error;
	}
	recorded->track.enter = recorded_enter;
	recorded->track.run = recorded_run;
	recorded->track.take_off = recorded_take_off;
	recorded->track.put_below = recorded_put_below;
	recorded->track.free = recorded_free;
	recorded->track.places = timeline_place(plan->setup, "rate");
	recorded->link.rate_bps = trace_mean_bps(&recorded->list);
	recorded->link.limit = curve_queue(plan->conf, trace->queue, recorded->link.rate_bps);
	recorded->queue_given = trace->queue.unit != LIMIT_NONE;
	return timeline_add(plan, &recorded->track);
}

static int trace_plan(const struct conf *conf, struct timeline_plan *plan)
{
	const struct trace_conf *trace = (const struct trace_conf *)conf;
	struct curve_conf curve;
	struct problem problem;
	int error;

	if (trace_format(trace) == TRACE_MAHIMAHI)
		return plan_mahimahi(trace, plan);
	error = trace_read_csv(trace, &curve, &problem);
	return error ? error : curve_plan(&curve, plan);
}

static uint32_t trace_covers(const struct conf *conf, struct order *covers)
{
	const struct trace_conf *trace = (const struct trace_conf *)conf;
	struct curve_conf curve = {.has = CURVE_RATE};
	struct problem problem;

	if (trace_format(trace) == TRACE_CSV && trace_read_csv(trace, &curve, &problem) == 0)
		free(curve.points);
	return curve_covers(curve.has, covers);
}

static int trace_check(const struct conf *conf, const struct cloud_conf *cloud,
                       struct problem *problem)
{
	const struct trace_conf *trace = (const struct trace_conf *)conf;
	struct opportunities list = {.at_ms = NULL};
	struct curve_conf curve = {.points = NULL};
	bool csv = trace_format(trace) == TRACE_CSV;
	const struct class_conf *classes[CLASSES_MAX];
	int error = csv ? trace_read_csv(trace, &curve, problem)
	                : trace_read_mahimahi(trace, &list, problem);

	free(curve.points);
	free(list.at_ms);
	if (!error)
		error = selection_check_copies(
		        cloud, csv ? curve.n * sizeof(*curve.points) : list.n * sizeof(*list.at_ms),
		        problem);
	if (!error && csv && trace->queue.unit != LIMIT_NONE && !(curve.has & CURVE_RATE)) {
		problem_set(problem, TRACE_FIELD_QUEUE,
		            "a trace without a rate makes no link: leave `queue` out");
		error = -EINVAL;
	}
	if (!error && trace->queue.unit != LIMIT_NONE && class_confs(cloud, classes) > 0) {
		problem_set(problem, TRACE_FIELD_QUEUE,
		            "the cloud has classes with a queue each: limit theirs, like `cloud %s "
		            "class %s queue 64kB`, and leave `queue` out",
		            cloud->name, classes[0]->conf.scope);
		error = -EINVAL;
	}
	return error ? error : timeline_check(conf, cloud, problem);
}

static const struct field trace_fields[] = {
        [TRACE_FIELD_FILE] = {FIELD("file", FIELD_FILE, struct trace_conf, file,
                                    .flags = FIELD_POSITIONAL | FIELD_REQUIRED,
                                    .help = "what was measured")},
        [TRACE_FIELD_FORMAT] = {FIELD(
                "format", FIELD_WORD, struct trace_conf, format, .words = formats,
                .help = "mahimahi: the ms at which a packet can be sent; csv: "
                        "columns; if not given, the first line decides")},
        [TRACE_FIELD_LOOP] = {FIELD("loop", FIELD_FLAG, struct trace_conf, loop,
                                    .help = "begins again at its end")},
        [TRACE_FIELD_QUEUE] = {FIELD(
                "queue", FIELD_LIMIT, struct trace_conf, queue, .min = 1,
                .help = "how much may wait for the link: bytes, packets or time; if "
                        "not given, that of `rate`, or rate x delay")},
        FIELD_END,
};

const struct statement trace_statement = {
        .name = "trace",
        .help = "rate, delay, jitter and loss as they were measured",
        .example = "FILE loop queue 10MB",
        .role = ROLE_SCHEDULE,
        .fields = trace_fields,
        .conf_bytes = sizeof(struct trace_conf),
        .acts = {DROPS(LOSS)},
        .check = trace_check,
        .plan = trace_plan,
        .covers = trace_covers,
};
