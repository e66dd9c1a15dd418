/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/picture.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/atomic_file.h"
#include "packet/packet.h"
#include "replay/drawing.h"

#define SUBTITLE_SIZE 200

struct picture {
	struct witness witness;
	const char *of;
	const struct scenario *scenario;
	struct atomic_file *atomic_file;
	uint32_t n_tracks;
	struct track tracks[PICTURE_CLOUDS_MAX]; /* in the order of the scenario's clouds */
};

/* Returns the track of a cloud. The clouds of a template (`down/10.0.3.4`) share its track. */
static struct track *find_track(struct picture *picture, const char *cloud)
{
	size_t bytes = strcspn(cloud, "/");

	for (uint32_t i = 0; i < picture->n_tracks; i++) {
		if (picture->tracks[i].name == cloud)
			return &picture->tracks[i];
	}
	for (uint32_t i = 0; i < picture->n_tracks; i++) {
		const char *name = picture->scenario->clouds[i]->name;

		if (strncmp(name, cloud, bytes) == 0 && name[bytes] == '\0') {
			picture->tracks[i].name = cloud;
			return &picture->tracks[i];
		}
	}
	return NULL;
}

/* Returns the instant of the decision. For a delivery, that is when the packet goes from the link
 * to the line: its due time less the delay of the line. With jitter this is right on average. */
static simtime decided_ns(const struct track *track, const struct fate *fate)
{
	if (fate->kind == FATE_DROPPED)
		return fate->at_ns;
	if (fate->t_out_ns < track->line_ns)
		return fate->t_in_ns;
	return simtime_max(fate->t_in_ns, fate->t_out_ns - track->line_ns);
}

static void tell(struct witness *witness, const struct fate *fate)
{
	struct track *track = find_track((struct picture *)witness, fate->cloud);
	double t = (double)fate->t_in_ns;

	/* A packet that is sent back at once has no delay in this direction. */
	if (!track || fate->flags & PACKET_BACK)
		return;
	if (fate->kind == FATE_DELIVERED) {
		samples_add(&track->delay, t,
		            (double)(fate->t_out_ns - fate->t_in_ns + fate->late_ns));
		throughput_add(&track->throughput, fate->t_out_ns + fate->late_ns,
		               fate->wire_bytes);
	} else {
		samples_add(&track->lost[reason_kind(fate->reason)], t, 0);
	}
	samples_add(&track->queue, (double)decided_ns(track, fate), (double)fate->queue_bytes);
	if (fate->queue_average_bytes != FATE_NO_AVERAGE)
		samples_add(&track->average, (double)decided_ns(track, fate),
		            (double)fate->queue_average_bytes);
}

int picture_open(const char *path, const char *of, const struct scenario *scenario,
                 struct picture **picture, struct problem *problem)
{
	struct picture *p = calloc(1, sizeof(*p));
	int error;

	if (!p) {
		problem_set(problem, -1, "%s: no memory to draw it", path);
		return -ENOMEM;
	}
	p->witness.tell = tell;
	p->of = of;
	p->scenario = scenario;
	p->n_tracks =
	        scenario->n_clouds < PICTURE_CLOUDS_MAX ? scenario->n_clouds : PICTURE_CLOUDS_MAX;
	for (uint32_t i = 0; i < p->n_tracks; i++) {
		double line_ns = drawing_asked_delay(scenario->clouds[i]);

		p->tracks[i].line_ns = isfinite(line_ns) ? (simtime)line_ns : 0;
		p->tracks[i].queue.greatest = true;
	}
	error = atomic_file_open(path, &p->atomic_file, problem);
	if (error)
		free(p);
	else
		*picture = p;
	return error;
}

struct witness *picture_witness(struct picture *picture)
{
	return &picture->witness;
}

static bool tracks_failed(const struct picture *picture)
{
	for (uint32_t i = 0; i < picture->n_tracks; i++) {
		const struct track *track = &picture->tracks[i];

		if (track->delay.failed || track->queue.failed || track->average.failed)
			return true;
		for (int j = 0; j < TRACK_REASON_KINDS; j++) {
			if (track->lost[j].failed)
				return true;
		}
	}
	return false;
}

int picture_finish(struct picture *picture, const struct replay_result *result,
                   struct problem *problem)
{
	struct drawing drawing = {
	        .scenario = picture->scenario,
	        .result = result,
	        .duration_ns = fmax(1, (double)(result->last_ns - result->first_ns)),
	};
	char subtitle[SUBTITLE_SIZE];

	snprintf(subtitle, sizeof(subtitle), "%s, seed %" PRIu64 "%s", picture->of,
	         picture->scenario->seed,
	         result->n_clouds > picture->n_tracks ? "; only the first clouds" : "");
	page_open(&drawing.page, atomic_file_stream(picture->atomic_file),
	          "What happened to the packets", subtitle);
	drawing_choose_units(&drawing, picture->tracks, picture->n_tracks);
	for (uint32_t i = 0; i < picture->n_tracks; i++)
		drawing_cloud(&drawing, i, &picture->tracks[i]);
	drawing_scenario(&drawing);
	/* Checked here, because drawing needs memory, too. */
	if (tracks_failed(picture)) {
		problem_set(problem, -1, "%s: no memory for its data",
		            atomic_file_path(picture->atomic_file));
		return -ENOMEM;
	}
	if (page_close(&drawing.page) < 0 && !atomic_file_error(picture->atomic_file, problem)) {
		problem_set(problem, -1, "%s: could not be drawn: %s",
		            atomic_file_path(picture->atomic_file), strerror(-drawing.page.error));
		return -EIO;
	}
	return atomic_file_finish(picture->atomic_file, problem);
}

static void picture_free(struct picture *picture)
{
	for (uint32_t i = 0; i < picture->n_tracks; i++) {
		samples_free(&picture->tracks[i].delay);
		samples_free(&picture->tracks[i].queue);
		samples_free(&picture->tracks[i].average);
		for (int j = 0; j < TRACK_REASON_KINDS; j++)
			samples_free(&picture->tracks[i].lost[j]);
	}
	free(picture);
}

int picture_publish(struct picture *picture, struct problem *problem)
{
	int error = atomic_file_publish(picture->atomic_file, problem);

	picture_free(picture);
	return error;
}

void picture_discard(struct picture *picture)
{
	if (!picture)
		return;
	atomic_file_discard(picture->atomic_file);
	picture_free(picture);
}
