/* SPDX-License-Identifier: BSD-3-Clause */
#include "figures/figures.h"

#include <string.h>

#include "engine/engine_report.h"
#include "live/runtime.h"
#include "offline/replay.h"

_Static_assert(offsetof(struct cloud_report, counters) == offsetof(struct cloud_brief, counters) &&
                       offsetof(struct cloud_report, queue_bytes) ==
                               offsetof(struct cloud_brief, queue_bytes),
               "a report begins as a brief, so both have figures at the same places");

/* The outputs of most rows. */
#define JSON    FIGURE_JSON
#define SAMPLE  (FIGURE_JSON | FIGURE_SAMPLE)
#define COLUMN  (FIGURE_JSON | FIGURE_COLUMN)
#define LOSSES  (FIGURE_JSON | FIGURE_LOSSES)
#define SUMMARY (FIGURE_COLUMN | FIGURE_SUMMARY)
#define PORT    (FIGURE_JSON | FIGURE_GROWTH | SUMMARY)
#define TRAFFIC (FIGURE_JSON | FIGURE_SINCE | FIGURE_GROWTH | FIGURE_LINE)
#define LINE    (FIGURE_JSON | FIGURE_LINE | FIGURE_IF_ANY)

/* Rows; RECORD is the struct that they are read from. The type follows from the member. */
#define TYPE_OF(member)                                                                            \
	_Generic(((RECORD *)0)->member, uint64_t                                                   \
	         : FIGURE_COUNT, uint32_t                                                          \
	         : FIGURE_COUNT32, bool                                                            \
	         : FIGURE_FLAG, double                                                             \
	         : FIGURE_REAL, const char *                                                       \
	         : FIGURE_WORD, char *                                                             \
	         : FIGURE_TEXT, struct histogram                                                   \
	         : FIGURE_LATE, struct histogram *                                                 \
	         : FIGURE_LATE_AT, struct aqm_report                                               \
	         : FIGURE_AQM)
#define ROW(of, key, type_, member, unit_, kind_, outputs, text, family, what)                     \
	.object = of, .name = key, .type = type_, .offset = offsetof(RECORD, member),              \
	.unit = FIGURE_##unit_, .kind = FIGURE_##kind_, .in = outputs, .label = text,              \
	.metric = family, .help = what
#define VALUE(member, unit, kind, outputs, text, family, what)                                     \
	{                                                                                          \
		ROW(NULL, #member, TYPE_OF(member), member, unit, kind, outputs, text, family,     \
		    what)                                                                          \
	}
#define COUNT(member, outputs, text, family, what)                                                 \
	VALUE(member, PACKETS, COUNTER, outputs, text, family, what)
/* A member of an object inside. */
#define IN(of, key, member, unit, kind, outputs, text, family, what)                               \
	{                                                                                          \
		ROW(of, key, TYPE_OF(member), member, unit, kind, outputs, text, family, what)     \
	}
/* One that not every record has. */
#define SOME(of, key, member, unit, kind, has, outputs, family, what)                              \
	{                                                                                          \
		ROW(of, key, TYPE_OF(member), member, unit, kind, outputs, NULL, family, what),    \
		        .there = has                                                               \
	}
/* A value that is computed, for text and samples; `of`: the losses that it sums, or NULL. */
#define SUM(key, how, of, outputs, text)                                                           \
	{                                                                                          \
		.name = key, .get = how, .loss = of, .in = outputs, .label = text                  \
	}

static struct figure_value count_value(uint64_t count)
{
	return (struct figure_value){.type = FIGURE_COUNT, .count = count};
}

/* ---- ports ---- */

#define RECORD struct port_report

static struct figure_value port_rx_lost(const void *record)
{
	const struct port_report *port = record;

	return count_value(port->rx_missed + port->rx_no_mbuf);
}

static struct figure_value port_tx_lost(const void *record)
{
	const struct port_report *port = record;

	return count_value(port->tx_full + port->not_sent);
}

uint64_t figures_lost(const struct port_report *port)
{
	uint64_t sum = 0;

	for (const struct figure *f = NULL; (f = figure_next(FIGURE_PORT, FIGURE_LOST, port, f));)
		sum += figure_read(f, port).count;
	return sum;
}

static struct figure_value port_lost(const void *record)
{
	return count_value(figures_lost(record));
}

static struct figure_value port_time(const void *record)
{
	const struct port_report *port = record;

	return (struct figure_value){.type = FIGURE_WORD,
	                             .word = port->time != NULL ? port->time : "poll"};
}

static bool has_stamps(const void *record)
{
	const struct port_report *port = record;

	return port->stamped + port->unstamped > 0;
}

static bool has_launch(const void *record)
{
	return ((const struct port_report *)record)->launch_ns > 0;
}

static bool was_late(const void *record)
{
	return ((const struct port_report *)record)->lateness_ns.count > 0;
}

/* A loss of weir's own: its reason in metrics and in the summary of a run. */
#define LOSS(member, outputs, text, reason, what)                                                  \
	{                                                                                          \
		ROW(NULL, #member, FIGURE_COUNT, member, PACKETS, COUNTER,                         \
		    FIGURE_JSON | FIGURE_LOST | FIGURE_LOSSES | outputs, text,                     \
		    "weir_port_lost_packets", what),                                               \
		        .loss = reason                                                             \
	}

/* clang-format off */
static const struct figure ports[] = {
	VALUE(device, PLAIN, GAUGE, JSON, NULL, NULL, "Its device."),
	VALUE(driver, PLAIN, GAUGE, JSON, NULL, NULL, "The driver of its device."),
	VALUE(link_up, PLAIN, GAUGE, SAMPLE, NULL, "weir_port_link_up", "1: the link is up."),
	VALUE(link_bps, BPS, GAUGE, SAMPLE, NULL, "weir_port_link_bytes_per_second",
	      "Capacity of the link; 0: not known."),
	COUNT(rx_packets, PORT | FIGURE_OUTCOME, "received", "weir_port_received_packets",
	      "Packets that came in at the port."),
	VALUE(rx_bytes, BYTES, COUNTER, PORT, "bytes", "weir_port_received_bytes",
	      "Bytes that came in at the port."),
	COUNT(tx_packets, PORT | FIGURE_OUTCOME, "sent", "weir_port_sent_packets",
	      "Packets that left at the port."),
	VALUE(tx_bytes, BYTES, COUNTER, PORT, "bytes", "weir_port_sent_bytes",
	      "Bytes that left at the port."),
	COUNT(no_cloud, LOSSES | FIGURE_SUMMARY, "no cloud", "weir_port_no_cloud_packets",
	      "Packets that came in where no cloud starts."),
	COUNT(untouched, LOSSES | FIGURE_SUMMARY, "untouched", "weir_port_untouched_packets",
	      "Packets that passed untouched."),
	LOSS(rx_missed, FIGURE_OUTCOME, "rx missed", "rx-missed",
	     "Lost by the device, before weir saw them."),
	LOSS(rx_no_mbuf, FIGURE_OUTCOME, "no mbuf", "no-mbuf",
	     "Lost because the mempool was empty."),
	SUM("rx_lost", port_rx_lost, NULL, FIGURE_SUMMARY, "rx lost"),
	LOSS(tx_full, FIGURE_OUTCOME, "tx full", "tx-full",
	     "Dropped: the device did not take them within 100 ms of their due time."),
	LOSS(not_sent, FIGURE_OUTCOME, "not sent", "not-sent",
	     "Taken by the device, which says that it could not send them."),
	SUM("tx_lost", port_tx_lost, NULL, FIGURE_SUMMARY, "tx lost"),
	LOSS(not_written, FIGURE_SUMMARY, "not written", "not-written",
	     "Taken by a file, and could not be written."),
	SUM("lost", port_lost, NULL, FIGURE_GROWTH, NULL),
	IN(NULL, "before_start", early, PACKETS, COUNTER, JSON | FIGURE_OUTCOME, NULL,
	   "weir_port_before_start_packets", "Packets from before the start."),
	COUNT(unfinished, JSON, NULL, NULL,
	      "Of rx_missed: weir cannot finish what offloads left undone."),
	COUNT(too_large, JSON, NULL, NULL, "Of not_sent: larger than the interface takes."),
	COUNT(not_ip, JSON, NULL, NULL, "Of not_sent: no IP, on an interface for IP only."),
	VALUE(gone, PLAIN, GAUGE, JSON, NULL, NULL, "Its interface is not there."),
	VALUE(absences, PLAIN, COUNTER, JSON, NULL, NULL, "How often its interface was gone."),
	VALUE(absent_ns, NS, COUNTER, JSON, NULL, NULL,
	      "For how long its interface was gone, in all."),
	COUNT(chained, JSON, NULL, NULL, "Of not_sent: longer than its driver sends."),
	{.name = "time", .get = port_time, .in = JSON, .type = FIGURE_WORD, .kind = FIGURE_GAUGE,
	 .help = "Source of the instants of reception: poll, kernel, device."},
	SOME("stamps", "packets", stamped, PACKETS, COUNTER, has_stamps, JSON, NULL,
	     "Packets with a time stamp."),
	SOME("stamps", "missing", unstamped, PACKETS, COUNTER, has_stamps, JSON, NULL,
	     "Packets without a time stamp."),
	SOME("stamps", "odd", stamps_odd, PACKETS, COUNTER, has_stamps, JSON, NULL,
	     "Time stamps that were implausible, and corrected."),
	SOME("stamps", "aged", aged, PACKETS, COUNTER, has_stamps, JSON, NULL,
	     "Packets received after weir had passed their instant."),
	SOME("stamps", "oldest_ns", oldest_ns, NS, GAUGE, has_stamps, JSON, NULL,
	     "The longest time by which weir had passed the instant of a packet."),
	SOME("launch", "lead_ns", launch_ns, NS, GAUGE, has_launch, JSON, NULL,
	     "Lead of a device that sends at a given time."),
	SOME("launch", "missed", launch_missed, PACKETS, COUNTER, has_launch, JSON, NULL,
	     "Packets whose time to send had passed."),
	VALUE(lateness_ns, NS, HISTOGRAM, JSON | FIGURE_OUTCOME, NULL,
	      "weir_port_lateness_seconds",
	      "Time from the due time of a packet to its handover to the device."),
	SOME("lateness_ns", "max_ns", lateness_ns.max, NS, GAUGE, was_late, 0,
	     "weir_port_lateness_max_seconds", "The greatest lateness since counting began."),
	{.name = NULL}};
/* clang-format on */

#undef RECORD

/* ---- clouds ---- */

#define RECORD struct cloud_report

#define DROPS_OF(kind, KIND)                                                                       \
	static struct figure_value cloud_##kind(const void *record)                                \
	{                                                                                          \
		const struct cloud_report *report = record;                                        \
                                                                                                   \
		return count_value(counters_drops_of(&report->counters, REASON_##KIND));           \
	}
DROPS_OF(emulated, EMULATED)
DROPS_OF(congestion, CONGESTION)
DROPS_OF(real, REAL)

static struct figure_value cloud_dropped(const void *record)
{
	return count_value(counters_drops(&((const struct cloud_report *)record)->counters));
}

static bool is_template(const void *record)
{
	return ((const struct cloud_report *)record)->clouds_most > 0;
}

static bool has_classes(const void *record)
{
	return ((const struct cloud_report *)record)->n_classes > 0;
}

/* Rows of account/counters.h, with a comma. */
#define COUNTED(of, key, field, unit, outputs, text, family, what)                                 \
	IN(of, key, counters.field, unit, COUNTER, outputs, text, family, what),
#define FLOW(field, text, family, what)                                                            \
	COUNTED(NULL, #field, field, PACKETS, TRAFFIC | SUMMARY, text, family, what)
#define FLOW_BYTES(field, text, family, what)                                                      \
	COUNTED(NULL, #field, field, BYTES, TRAFFIC | FIGURE_BESIDE, text, family, what)
#define EFFECT(field, text, family, what)                                                          \
	COUNTED(NULL, #field, field, PACKETS, LINE | FIGURE_SINCE, text, family, what)
#define REPORTED(field, text, family, what)                                                        \
	COUNTED(NULL, #field, field, PACKETS, LINE, text, family, what)
#define FEEDBACK(field, text, family, what)                                                        \
	COUNTED("feedback", &#field[sizeof("feedback_") - 1], field, PACKETS, LINE, text, family,  \
	        what)
/* Marks are beside quenches in text, but in JSON further below. */
#define AS_TEXT(field, text, family, what)                                                         \
	COUNTED(NULL, #field, field, PACKETS, LINE & ~JSON, text, family, NULL)
#define AS_JSON(field, text, family, what)                                                         \
	COUNTED(NULL, #field, field, PACKETS, JSON, NULL, family, what)
#define NO_ROW(field, text, family, what)

/* clang-format off */
static const struct figure clouds[] = {
	COUNTERS_TRAFFIC(FLOW, FLOW_BYTES)
	SUM("emulated", cloud_emulated, "emulated", FIGURE_SUMMARY, "emulated loss"),
	SUM("congestion", cloud_congestion, "congestion", FIGURE_SUMMARY, "queue drops"),
	SUM("real", cloud_real, "real", FIGURE_SUMMARY, "real loss"),
	VALUE(held_packets, PACKETS, GAUGE, SAMPLE | SUMMARY | FIGURE_LINE, "held",
	      "weir_cloud_held_packets", "Packets in the cloud now."),
	SUM("dropped", cloud_dropped, NULL, FIGURE_LINE, "dropped"),
	SUM("emulated", cloud_emulated, "emulated", FIGURE_GROWTH | FIGURE_COLUMN, "emulated"),
	SUM("congestion", cloud_congestion, "congestion", FIGURE_GROWTH | FIGURE_COLUMN,
	    "congestion"),
	SUM("real", cloud_real, "real", FIGURE_GROWTH | FIGURE_COLUMN, "real"),
	COUNTERS_EFFECTS(EFFECT)
	COUNTERS_LATER(EFFECT)
	COUNTERS_QUENCHES(REPORTED, AS_TEXT)
	{ROW(NULL, "drops", FIGURE_DROPS, counters.drops, PACKETS, COUNTER, JSON | FIGURE_SINCE,
	     NULL, "weir_cloud_dropped_packets",
	     "Packets that were not delivered: emulated, as the scenario demands; congestion, "
	     "by an emulated queue; real, by weir itself, against the scenario.")},
	{ROW(NULL, "delay_ns", FIGURE_SPREAD, delay_ns, NS, HISTOGRAM, JSON, NULL,
	     "weir_cloud_delay_seconds",
	     "Time from the entry of a packet into the cloud to its due departure.")},
	{.name = "lateness_ns", .type = FIGURE_NULL, .unit = FIGURE_NS, .kind = FIGURE_HISTOGRAM,
	 .in = JSON, .help = "The lateness of its port."},
	IN("queue", "packets", queue_packets, PACKETS, GAUGE, JSON | FIGURE_FOOT, "in the queue",
	   "weir_cloud_queue_packets", "Packets that wait now."),
	IN("queue", "bytes", queue_bytes, BYTES, GAUGE, JSON | FIGURE_FOOT | FIGURE_BESIDE, "bytes",
	   "weir_cloud_queue_bytes", "Bytes that wait now."),
	IN("queue", "average", queue_average_bytes, BYTES, GAUGE,
	   JSON | FIGURE_FOOT | FIGURE_IF_ANY, "queue average", NULL,
	   "Bytes that wait, as the management of the queue computes them."),
	IN("queue", "", aqm, PLAIN, GAUGE, JSON, NULL, NULL, "What its management reports."),
	VALUE(queue_packets, PACKETS, GAUGE, FIGURE_SAMPLE, NULL, NULL, NULL),
	VALUE(queue_bytes, BYTES, GAUGE, FIGURE_SAMPLE, NULL, NULL, NULL),
	COUNTERS_CHANGES(REPORTED)
	COUNTERS_QUENCHES(NO_ROW, AS_JSON)
	IN("line", "packets", line_packets, PACKETS, COUNTER, JSON, NULL, NULL,
	   "Packets whose time on the line was measured: of a line with jitter."),
	IN("line", "mean_ns", line_mean_ns, NS, GAUGE, JSON, NULL, NULL,
	   "The mean time of packets on the line."),
	IN("line", "deviation_ns", line_deviation_ns, NS, GAUGE, JSON, NULL, NULL,
	   "The standard deviation of these times."),
	IN("line", "order_waits", order_waits, PACKETS, COUNTER, JSON, NULL, NULL,
	   "Packets that would have overtaken, and were held back."),
	IN("line", "order_waited_ns", order_waited_ns, NS, COUNTER, JSON, NULL, NULL,
	   "For how long packets were held back to keep their order, in all."),
	SOME(NULL, "clouds", clouds, PLAIN, GAUGE, is_template, JSON, "weir_template_clouds",
	     "Clouds of the template that exist now."),
	SOME(NULL, "clouds_most", clouds_most, PLAIN, GAUGE, is_template, JSON,
	     "weir_template_clouds_most", "Clouds that the template may have at most."),
	{.name = "classes", .type = FIGURE_CLASSES, .in = JSON, .there = has_classes,
	 .help = "Its classes."},
	COUNTERS_FEEDBACK(FEEDBACK)
	{.name = NULL}};
/* clang-format on */

#undef RECORD

/* ---- classes ---- */

#define RECORD struct class_report
#define OF_CLASS(field, unit, outputs, text, what)                                                 \
	IN(NULL, #field, counters.field, unit, COUNTER, outputs, text, NULL, what)

/* clang-format off */
static const struct figure classes[] = {
	IN(NULL, "class", name, PLAIN, GAUGE, COLUMN, "class", NULL, "Its name."),
	OF_CLASS(rx_packets, PACKETS, COLUMN, "received", "Packets that came to the class."),
	OF_CLASS(rx_bytes, BYTES, JSON, NULL, "Bytes that came to the class."),
	OF_CLASS(tx_packets, PACKETS, COLUMN, "sent", "Packets that went onto the line."),
	OF_CLASS(tx_bytes, BYTES, COLUMN, "bytes sent", "Bytes that went onto the line."),
	OF_CLASS(dropped, PACKETS, COLUMN, "dropped",
	         "Packets dropped by the limit, the management, or for want of memory."),
	OF_CLASS(ecn_marked, PACKETS, COLUMN, "ECN marked", "Packets marked CE."),
	IN("queue", "packets", queue_packets, PACKETS, GAUGE, COLUMN, "in the queue", NULL,
	   "Packets that wait now."),
	IN("queue", "bytes", queue_bytes, BYTES, GAUGE, COLUMN, "", NULL, "Bytes that wait now."),
	IN("queue", "average", queue_average_bytes, BYTES, GAUGE, JSON, NULL, NULL,
	   "Bytes that wait, as the management of the queue computes them."),
	IN("queue", "", aqm, PLAIN, GAUGE, JSON, NULL, NULL, "What its management reports."),
	{.name = NULL}};
/* clang-format on */

#undef RECORD

/* ---- workers ---- */

#define RECORD struct worker_report

static struct figure_value worker_busy(const void *record)
{
	const struct worker_report *worker = record;

	return (struct figure_value){
	        .type = FIGURE_PART, .count = worker->busy_polls, .whole = worker->polls};
}

/* clang-format off */
static const struct figure workers[] = {
	VALUE(role, PLAIN, GAUGE, SAMPLE | FIGURE_COLUMN, "role", NULL,
	      "Its role: run-to-completion, rx, emulation or tx."),
	VALUE(lcore, PLAIN, GAUGE, COLUMN, "lcore", NULL, "Its lcore."),
	VALUE(cpu, PLAIN, GAUGE, SAMPLE | FIGURE_COLUMN, "cpu", NULL, "Its processor."),
	VALUE(polls, PLAIN, COUNTER, COLUMN | FIGURE_GROWTH, "polls", "weir_worker_polls",
	      "Rounds of the worker."),
	VALUE(busy_polls, PLAIN, COUNTER, JSON | FIGURE_GROWTH, NULL, "weir_worker_busy_polls",
	      "Rounds with something to do."),
	SUM("busy", worker_busy, NULL, FIGURE_COLUMN, "busy"),
	VALUE(longest_poll_ns, NS, GAUGE, SAMPLE | FIGURE_COLUMN, "longest poll",
	      "weir_worker_longest_poll_seconds", "The longest time between two rounds."),
	VALUE(stalls, PLAIN, COUNTER, SAMPLE | FIGURE_COLUMN, "stalls", "weir_worker_stalls",
	      "How often the worker made no round for a second."),
	VALUE(held_packets, PACKETS, GAUGE, SAMPLE | FIGURE_COLUMN, "held",
	      "weir_worker_held_packets", "Packets that the worker holds now."),
	VALUE(memory_used_bytes, BYTES, GAUGE, SAMPLE | FIGURE_COLUMN, "memory used",
	      "weir_worker_memory_used_bytes", "Memory used for held packets."),
	VALUE(memory_bytes, BYTES, GAUGE, SAMPLE | FIGURE_COLUMN, "of", "weir_worker_memory_bytes",
	      "Memory available for held packets."),
	{.name = NULL}};
/* clang-format on */

#undef RECORD

/* ---- ports of a replay, and the run ---- */

#define RECORD struct replay_port_report

/* clang-format off */
static const struct figure replay_ports[] = {
	COUNT(rx_packets, JSON, NULL, NULL, "Packets that came in at the port."),
	VALUE(rx_bytes, BYTES, COUNTER, JSON, NULL, NULL, "Bytes that came in at the port."),
	COUNT(tx_packets, JSON, NULL, NULL, "Packets that left at the port."),
	VALUE(tx_bytes, BYTES, COUNTER, JSON, NULL, NULL, "Bytes that left at the port."),
	COUNT(no_cloud, JSON, NULL, NULL, "Packets that came in where no cloud starts."),
	COUNT(untouched, JSON, NULL, NULL, "Packets that passed untouched."),
	COUNT(lost, JSON, NULL, NULL, "Packets that weir itself lost; only live."),
	VALUE(lateness_ns, NS, HISTOGRAM, JSON, NULL, NULL,
	      "Time from the due time of a packet to its handover to the device; only live."),
	COUNT(no_file, JSON, NULL, NULL, "Packets that left, but to no file."),
	COUNT(clock_back, JSON, NULL, NULL, "Packets with a time before that of the one ahead."),
	VALUE(clock_back_max_ns, NS, GAUGE, JSON, NULL, NULL,
	      "The greatest difference between such a time and that of the packet ahead."),
	COUNT(sorted, JSON, NULL, NULL, "Of clock_back: put where their time belongs."),
	COUNT(late, JSON, NULL, NULL, "Of clock_back: too late for that."),
	COUNT(wrong_stamps, JSON, NULL, NULL, "Packets with a wrong time stamp."),
	VALUE(clock_set_back, PLAIN, COUNTER, JSON, NULL, NULL, "How often a clock was set back."),
	COUNT(no_time, JSON, NULL, NULL, "Packets without a time."),
	COUNT(other_link, JSON, NULL, NULL, "Packets of other link types, left out."),
	COUNT(truncated, JSON, NULL, NULL, "Packets of which only the beginning is there."),
	VALUE(damage, PLAIN, GAUGE, JSON, NULL, NULL, "What was wrong with the end of a capture."),
	{.name = NULL}};

static const struct figure runs[] = {
	{.name = "t_ns", .unit = FIGURE_NS, .kind = FIGURE_GAUGE, .metric = "weir_uptime_seconds",
	 .help = "Time since weir was started."},
	{.name = "clouds_in_all", .kind = FIGURE_GAUGE, .metric = "weir_clouds",
	 .help = "Clouds of the scenario; a template counts as one."},
	{.name = NULL}};
/* clang-format on */

#undef RECORD

/* ---- walking ---- */

static const struct figure *const tables[FIGURE_SCOPES] = {
        [FIGURE_PORT] = ports,     [FIGURE_CLOUD] = clouds, [FIGURE_CLASS] = classes,
        [FIGURE_WORKER] = workers, [FIGURE_RUN] = runs,     [FIGURE_REPLAY_PORT] = replay_ports,
};

const char *const figure_scope_names[] = {
        [FIGURE_PORT] = "port",     [FIGURE_CLOUD] = "cloud", [FIGURE_CLASS] = "class",
        [FIGURE_WORKER] = "worker", [FIGURE_RUN] = "run",     [FIGURE_REPLAY_PORT] = "replay-port",
};

const char *const figure_unit_names[] = {[FIGURE_PLAIN] = "",
                                         [FIGURE_PACKETS] = "packets",
                                         [FIGURE_BYTES] = "bytes",
                                         [FIGURE_NS] = "ns",
                                         [FIGURE_BPS] = "bit/s"};

const char *const figure_kind_names[] = {
        [FIGURE_COUNTER] = "counter", [FIGURE_GAUGE] = "gauge", [FIGURE_HISTOGRAM] = "histogram"};

const struct figure *figure_next(enum figure_scope scope, unsigned in, const void *record,
                                 const struct figure *after)
{
	const struct figure *figure = after != NULL ? after + 1 : tables[scope];

	for (; figure->name != NULL; figure++)
		if ((in == 0 || (figure->in & in) != 0) &&
		    (record == NULL || figure->there == NULL || figure->there(record)))
			return figure;
	return NULL;
}

struct figure_value figure_read(const struct figure *figure, const void *record)
{
	const char *at = (const char *)record + figure->offset;
	struct figure_value value = {.type = figure->type};

	if (figure->get != NULL)
		return figure->get(record);
	switch (figure->type) {
	case FIGURE_COUNT:
		value.count = *(const uint64_t *)(const void *)at;
		break;
	case FIGURE_COUNT32:
		value.count = *(const uint32_t *)(const void *)at;
		break;
	case FIGURE_FLAG:
		value.count = *(const bool *)at;
		break;
	case FIGURE_REAL:
		value.real = *(const double *)(const void *)at;
		break;
	case FIGURE_WORD:
		value.word = *(const char *const *)(const void *)at;
		value.word = value.word != NULL ? value.word : "";
		break;
	case FIGURE_TEXT:
		value.word = at;
		break;
	case FIGURE_LATE_AT:
		value.spread = *(const struct histogram *const *)(const void *)at;
		break;
	case FIGURE_SPREAD:
	case FIGURE_LATE:
		value.spread = (const struct histogram *)(const void *)at;
		break;
	case FIGURE_CLASSES:
		value.record = record;
		break;
	default:
		value.record = at;
	}
	return value;
}

void figures_copy(enum figure_scope scope, void *to, enum figure_scope from_scope, const void *from)
{
	for (const struct figure *f = NULL; (f = figure_next(scope, FIGURE_JSON, NULL, f));) {
		const struct figure *g = NULL;

		do
			g = figure_next(from_scope, 0, from, g);
		while (g != NULL && (g->object != NULL || strcmp(g->name, f->name) != 0));
		if (g != NULL && f->type == FIGURE_COUNT)
			*(uint64_t *)(void *)((char *)to + f->offset) = figure_read(g, from).count;
	}
}
