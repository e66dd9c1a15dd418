/* SPDX-License-Identifier: BSD-3-Clause */
#include "path/path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "capture/frame_queue.h"
#include "capture/pcapng.h"
#include "engine/engine_report.h"
#include "explain/explain_run.h"
#include "fates/fate_order.h"
#include "figures/figures.h"
#include "live/fate_queue.h"
#include "machine/run_log.h"
#include "replay/decision_log.h"
#include "replay/picture.h"
#include "replay/replay_report.h"
#include "show/times.h"
#include "units/human_unit.h"

/*
 * The capture of a run: the packets at both ends of the path, as the hosts there see
 * them. Each end is an interface of the capture, named like its port; outbound is what the host at
 * that end sent. A packet from the command is outbound at the command's end, at the instant when
 * the kernel sent it to weir, and inbound at the far end, at the instant when weir handed it over.
 *
 * Instants are of weir's own clock, which runs evenly, shifted to the time of day once, at the
 * start: differences between two packets are as exact as weir's timing.
 *
 * Ownership: path_capture_close frees it.
 * Thread: control; the workers put frames into the queue.
 */

/* How often path_capture_take must be called: the queue then keeps up with 50 Gbit/s. */
#define PATH_CAPTURE_PACE_MS 10

struct path_capture {
	struct pcapng *pcapng;
	struct frame_queue *frames;
	struct fate_order *order;
	uint64_t missing[PATH_ENDS]; /* for lack of memory */
	uint64_t epoch_ns;           /* the time of day when the clock of the run read 0 */
};

/* Called when no worker is left. `capture` may be NULL. */
static void path_capture_close(struct path_capture *capture)
{
	if (!capture)
		return;
	pcapng_discard(capture->pcapng);
	fate_order_free(capture->order);
	frame_queue_free(capture->frames);
	free(capture);
}

/* Opens a capture; `near` is the port of the near end. Returns 0; -EINVAL with problem if the file
 * cannot be created; -ENOMEM. */
static int path_capture_open(const struct path_record_files *files, const struct scenario *scenario,
                             uint32_t near, struct path_capture **result, struct problem *problem)
{
	struct path_capture *capture = calloc(1, sizeof(*capture));
	struct pcapng_interface interfaces[PATH_ENDS];
	char comment[80];
	int rc;

	if (capture) {
		capture->frames = frame_queue_make();
		capture->order = fate_order_make(FRAME_QUEUE_FRAME_MAX);
	}
	if (!capture || !capture->frames || !capture->order) {
		path_capture_close(capture);
		problem_set(problem, -1, "no memory for the capture");
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < PATH_ENDS; i++)
		interfaces[i] = (struct pcapng_interface){
		        .name = scenario->ports[i].name,
		        .description = files->words->ends[i == near ? PATH_NEAR : PATH_FAR]};
	snprintf(comment, sizeof(comment), "weir %s, seed %" PRIu64, files->words->command,
	         scenario->seed);
	rc = pcapng_open(files->pcap, comment, interfaces, PATH_ENDS, &capture->pcapng, problem);
	if (rc == 0)
		*result = capture;
	else
		path_capture_close(capture);
	return rc;
}

/* A frame that was sent is put into the order as a packet that has left. */
static void write_frame(void *argument, const struct fate *fate, uint64_t lost)
{
	struct path_capture *capture = argument;
	(void)lost;

	pcapng_write(capture->pcapng,
	             &(struct pcapng_frame){.interface = (uint16_t)fate->port,
	                                    .way = fate->kind == FATE_LEFT ? PCAPNG_INBOUND
	                                                                   : PCAPNG_OUTBOUND,
	                                    .t_ns = capture->epoch_ns + fate->at_ns,
	                                    .data = fate->frame.data,
	                                    .bytes = fate->frame.bytes,
	                                    .wire_bytes = fate->wire_bytes});
}

/* Takes the frames that are in the queue, and writes those up to `until`, in the order of time. */
static void path_capture_take(struct path_capture *capture, simtime until)
{
	struct queued_frame frame;

	while (frame_queue_take(capture->frames, &frame)) {
		const struct fate fate = {.kind = frame.sent ? FATE_LEFT : FATE_ARRIVED,
		                          .port = frame.port,
		                          .at_ns = frame.t_ns,
		                          .wire_bytes = frame.wire_bytes,
		                          .frame = {.data = frame.data, .bytes = frame.bytes}};

		if (!fate_order_put(capture->order, &fate, 0))
			capture->missing[frame.port]++;
	}
	fate_order_until(capture->order, until, write_frame, capture);
}

/* Returns 0, or -errno with problem. Reports on standard error how many frames are missing. */
static int path_capture_finish(struct path_capture *capture, struct problem *problem)
{
	uint64_t missing[PATH_ENDS], all = 0;

	for (uint16_t i = 0; i < PATH_ENDS; i++) {
		missing[i] = frame_queue_missed(capture->frames, i) + capture->missing[i];
		all += missing[i];
	}
	if (all > 0)
		run_log(RUN_LOG_WARNING,
		        "%" PRIu64
		        " frames came faster than they could be written: the capture lacks them",
		        all);
	return pcapng_finish(capture->pcapng, missing, problem);
}

struct path_record {
	struct witness both;      /* forwards fates to the log and the picture, if there are any */
	struct fate_queue *fates; /* NULL: there is neither log nor picture */
	struct departures *departures;
	struct decision_log *log;
	struct picture *picture;
	struct path_capture *capture;
	struct explain_run *explain;
	struct path_tap tap; /* of the explanation */
	bool in_words;       /* it is printed, too */
};

static void tell(struct witness *witness, const struct fate *fate)
{
	struct path_record *record = (struct path_record *)witness;

	if (record->log)
		decision_log_witness(record->log)->tell(decision_log_witness(record->log), fate);
	if (record->picture)
		picture_witness(record->picture)->tell(picture_witness(record->picture), fate);
}

static int check_clouds(const struct scenario *scenario, const char *option,
                        struct problem *problem)
{
	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		if (!scenario->clouds[i]->many)
			continue;
		return problem_set(
		        problem, -1,
		        "%s: the scenario has the template `clouds %s`, whose clouds come and go; "
		        "live, only single clouds can be recorded (--report FILE counts all)",
		        option, scenario->clouds[i]->name);
	}
	return 0;
}

static int open_fates(struct path_record *record, const struct path_record_files *files,
                      const struct scenario *scenario, struct problem *problem)
{
	int rc = check_clouds(scenario, files->log ? "--log" : "--picture", problem);

	if (rc < 0)
		return rc;
	record->fates = fate_queue_make();
	record->departures = departures_make(&record->both);
	if (!record->fates || !record->departures) {
		problem_set(problem, -1, "no memory for the log or the picture");
		return -ENOMEM;
	}
	record->both.tell = tell;
	if (files->log)
		rc = decision_log_open(files->log, scenario, true, &record->log, problem);
	if (rc == 0 && files->picture)
		rc = picture_open(files->picture, (struct picture_of){.command = files->line},
		                  scenario, &record->picture, problem);
	return rc;
}

int path_record_open(const struct path_record_files *files, const struct scenario *scenario,
                     uint32_t near, struct path_record **result, struct problem *problem)
{
	struct path_record *record;
	int rc = 0;

	*result = NULL;
	if (!files->log && !files->picture && !files->pcap && !files->explain &&
	    !files->explain_json)
		return 0;
	record = calloc(1, sizeof(*record));
	if (!record) {
		problem_set(problem, -1, "no memory to record");
		return -ENOMEM;
	}
	if (files->log || files->picture)
		rc = open_fates(record, files, scenario, problem);
	if (rc == 0 && files->pcap)
		rc = path_capture_open(files, scenario, near, &record->capture, problem);
	if (rc == 0 && (files->explain || files->explain_json))
		rc = explain_run_of(scenario, files->explain_json, false, &record->explain,
		                    problem);
	record->in_words = files->explain;
	if (rc == 0)
		*result = record;
	else
		path_record_close(record);
	return rc;
}

struct witness *path_record_witness(struct path_record *record)
{
	return record && record->fates ? fate_queue_witness(record->fates) : NULL;
}

struct frame_queue *path_record_frames(struct path_record *record)
{
	return record && record->capture ? record->capture->frames : NULL;
}

int path_record_begin(struct path_record *record, struct runtime *runtime, uint64_t now_ns,
                      struct problem *problem)
{
	if (record && record->capture) {
		struct timespec now;

		clock_gettime(CLOCK_REALTIME, &now);
		record->capture->epoch_ns =
		        (uint64_t)now.tv_sec * SIMTIME_S + (uint64_t)now.tv_nsec - now_ns;
	}
	return record && record->explain ? path_tap_begin(&record->tap, runtime, problem) : 0;
}

int path_record_pace_ms(const struct path_record *record, int other)
{
	return record && (record->capture || record->explain) && other > PATH_CAPTURE_PACE_MS
	               ? PATH_CAPTURE_PACE_MS
	               : other;
}

void path_record_take(struct path_record *record, simtime until)
{
	if (record && record->fates)
		fate_queue_empty(record->fates, departures_witness(record->departures));
	if (record && record->capture)
		path_capture_take(record->capture, until);
	if (record && record->explain)
		path_tap_take(&record->tap, record->explain, until);
}

/* Completes the explanation, and its part of the picture, if there is one. */
static int finish_explain(struct path_record *record, struct problem *problem)
{
	int rc = explain_run_finish(record->explain, path_tap_missed(&record->tap), problem);
	char *text = rc == 0 && record->picture ? explain_run_text(record->explain) : NULL;

	if (text)
		picture_say(record->picture, EXPLAIN_HEADING, text);
	free(text);
	return rc;
}

int path_record_publish(struct path_record *record, const struct replay_result *result,
                        struct problem *problem)
{
	uint64_t missed = 0;
	int rc = 0;

	if (!record)
		return 0;
	if (record->departures)
		departures_end(record->departures);
	if (record->fates)
		missed = fate_queue_missed(record->fates) + departures_missed(record->departures);
	if (missed > 0)
		run_log(RUN_LOG_WARNING,
		        "%" PRIu64 " decisions came faster than they could be recorded: they are "
		        "missing in the log and the picture",
		        missed);
	if (record->explain)
		rc = finish_explain(record, problem);
	if (rc == 0 && record->log)
		rc = decision_log_finish(record->log, problem);
	if (rc == 0 && record->picture)
		rc = picture_finish(record->picture, result, problem);
	if (rc == 0 && record->capture)
		rc = path_capture_finish(record->capture, problem);
	if (rc == 0 && record->log) {
		rc = decision_log_publish(record->log, problem);
		record->log = NULL;
	}
	if (rc == 0 && record->picture) {
		rc = picture_publish(record->picture, problem);
		record->picture = NULL;
	}
	if (rc == 0 && record->capture) {
		rc = pcapng_publish(record->capture->pcapng, problem);
		record->capture->pcapng = NULL;
	}
	if (rc == 0 && record->explain)
		rc = explain_run_publish(record->explain, problem);
	return rc;
}

void path_record_print(const struct path_record *record, FILE *out)
{
	if (record && record->explain && record->in_words)
		explain_run_print(record->explain, out);
}

void path_record_close(struct path_record *record)
{
	if (!record)
		return;
	decision_log_discard(record->log);
	picture_discard(record->picture);
	path_capture_close(record->capture);
	explain_run_free(record->explain);
	path_tap_close(&record->tap);
	departures_free(record->departures);
	fate_queue_free(record->fates);
	free(record);
}

#define REMEDY                                                                                     \
	"other programs had weir's processor: run fewer beside it, or give it one of its own "     \
	"(--cores)"

int path_result_read(const struct runtime *runtime, const struct scenario *scenario,
                     uint64_t start_ns, struct replay_result *result)
{
	struct port_report *port = malloc(sizeof(*port));

	result->clouds = calloc(scenario->n_clouds + 1, sizeof(*result->clouds));
	if (!port || !result->clouds) {
		free(port);
		return -ENOMEM;
	}
	result->first_ns = start_ns;
	result->last_ns = runtime_now_ns(runtime);
	result->n_clouds = scenario->n_clouds;
	for (uint32_t i = 0; i < scenario->n_clouds; i++)
		runtime_cloud_report(runtime, scenario->clouds[i]->name, &result->clouds[i]);
	for (uint32_t i = 0; runtime_port_report(runtime, i, port); i++) {
		figures_copy(FIGURE_REPLAY_PORT, &result->ports[i], FIGURE_PORT, port);
		result->ports[i].lateness_ns = malloc(sizeof(struct histogram));
		if (!result->ports[i].lateness_ns) {
			free(port);
			return -ENOMEM;
		}
		*result->ports[i].lateness_ns = port->lateness_ns;
	}
	free(port);
	return 0;
}

void path_result_print(FILE *out, const char *command, const struct scenario *scenario,
                       const struct replay_result *result)
{
	char span[HUMAN_UNIT_SIZE];
	const char *before = "\n";

	human_unit_format(span, sizeof(span), HUMAN_NS,
	                  (double)(result->last_ns - result->first_ns), 3);
	fprintf(out, "weir %s: %s, seed %" PRIu64 "\n", command, span, scenario->seed);
	replay_table_print_clouds(out, scenario, result);
	for (uint32_t i = 0; i < scenario->n_ports; i++) {
		const struct histogram *late = result->ports[i].lateness_ns;

		if (late && late_warn(out, before, scenario->ports[i].name, late,
		                      LATE_WARN_SHARED_NS, REMEDY))
			before = "";
	}
	replay_table_print_books(out, scenario, result);
}
