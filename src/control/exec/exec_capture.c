/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec/exec_capture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "capture/pcapng.h"
#include "exec/exec_path.h"
#include "fates/fate_order.h"
#include "machine/run_log.h"

struct exec_capture {
	struct pcapng *pcapng;
	struct frame_queue *frames;
	struct fate_order *order;
	uint64_t missing[EXEC_ENDS]; /* for lack of memory */
	uint64_t epoch_ns;           /* the time of day when the clock of the run read 0 */
};

int exec_capture_open(const char *path, const struct scenario *scenario, uint32_t near,
                      struct exec_capture **result, struct problem *problem)
{
	struct exec_capture *capture = calloc(1, sizeof(*capture));
	struct pcapng_interface interfaces[EXEC_ENDS];
	char comment[80];
	int rc;

	if (capture) {
		capture->frames = frame_queue_make();
		capture->order = fate_order_make(FRAME_QUEUE_FRAME_MAX);
	}
	if (!capture || !capture->frames || !capture->order) {
		exec_capture_close(capture);
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

/* A frame that was sent is put into the order as a packet that has left. */
static void write_frame(void *argument, const struct fate *fate, uint64_t lost)
{
	struct exec_capture *capture = argument;
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

void exec_capture_take(struct exec_capture *capture, simtime until)
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

int exec_capture_finish(struct exec_capture *capture, struct problem *problem)
{
	uint64_t missing[EXEC_ENDS], all = 0;

	for (uint16_t i = 0; i < EXEC_ENDS; i++) {
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
	fate_order_free(capture->order);
	frame_queue_free(capture->frames);
	free(capture);
}
