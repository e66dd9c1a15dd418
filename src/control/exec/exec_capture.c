/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec/exec_capture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "capture/pcapng.h"
#include "exec/exec_path.h"
#include "machine/run_log.h"

struct exec_capture {
	struct pcapng *pcapng;
	struct frame_queue *frames;
	uint64_t epoch_ns; /* the time of day when the clock of the run read 0 */
};

int exec_capture_open(const char *path, const struct scenario *scenario, uint32_t near,
                      struct exec_capture **result, struct problem *problem)
{
	struct exec_capture *capture = calloc(1, sizeof(*capture));
	struct pcapng_interface interfaces[EXEC_ENDS];
	char comment[80];
	int rc;

	if (capture)
		capture->frames = frame_queue_make();
	if (!capture || !capture->frames) {
		free(capture);
		problem_set(problem, -1, "no memory for the capture");
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < EXEC_ENDS; i++)
		interfaces[i] = (struct pcapng_interface){
		        .name = scenario->ports[i].name,
		        .description = i == near ? "the command's end of the path"
		                                 : "the far end of the path"};
	snprintf(comment, sizeof(comment), "weir exec, seed %" PRIu64, scenario->seed);
	rc = pcapng_open(path, comment, interfaces, EXEC_ENDS, &capture->pcapng, problem);
	if (rc == 0)
		*result = capture;
	else
		exec_capture_close(capture);
	return rc;
}

struct frame_queue *exec_capture_frames(struct exec_capture *capture)
{
	return capture->frames;
}

void exec_capture_begin(struct exec_capture *capture, uint64_t now_ns)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	capture->epoch_ns = (uint64_t)now.tv_sec * SIMTIME_S + (uint64_t)now.tv_nsec - now_ns;
}

void exec_capture_take(struct exec_capture *capture)
{
	struct queued_frame frame;

	while (frame_queue_take(capture->frames, &frame))
		pcapng_write(
		        capture->pcapng,
		        &(struct pcapng_frame){.interface = frame.port,
		                               .way = frame.sent ? PCAPNG_INBOUND : PCAPNG_OUTBOUND,
		                               .t_ns = capture->epoch_ns + frame.t_ns,
		                               .data = frame.data,
		                               .bytes = frame.bytes,
		                               .wire_bytes = frame.wire_bytes});
}

int exec_capture_finish(struct exec_capture *capture, struct problem *problem)
{
	uint64_t missing[EXEC_ENDS], all = 0;

	for (uint16_t i = 0; i < EXEC_ENDS; i++) {
		missing[i] = frame_queue_missed(capture->frames, i);
		all += missing[i];
	}
	if (all > 0)
		run_log(RUN_LOG_WARNING,
		        "%" PRIu64
		        " frames came faster than they could be written: the capture lacks them",
		        all);
	return pcapng_finish(capture->pcapng, missing, problem);
}

int exec_capture_publish(struct exec_capture *capture, struct problem *problem)
{
	int rc = pcapng_publish(capture->pcapng, problem);

	capture->pcapng = NULL;
	return rc;
}

void exec_capture_close(struct exec_capture *capture)
{
	if (!capture)
		return;
	pcapng_discard(capture->pcapng);
	frame_queue_free(capture->frames);
	free(capture);
}
