/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/picture.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/atomic_file.h"
#include "packet/packet.h"
#include "replay/replay_command.h"
#include "show/times.h"
#include "text/alloc_failure.h"

#define SUBTITLE_SIZE 200
#define DATE_SIZE     64
#define DATE_FIRST    (10 * 365 * 86400) /* captures from before 1980 have no clock */

struct picture {
	struct witness witness;
	struct picture_of of;
	const struct scenario *scenario;
	struct atomic_file *atomic_file;
	char *heading, *words; /* a part in words; or NULL */
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
 * to the line. */
static simtime decided_ns(const struct fate *fate)
{
	return fate->kind == FATE_DROPPED ? fate->at_ns : fate->entered_ns;
}

/* Adds a packet to what the link has sent. It is sent from when it came, or when the one ahead of
 * it was sent, until it leaves the link. The links of a template's clouds send side by side. */
static void add_sent(struct track *track, const struct fate *fate, bool alone)
{
	simtime from = simtime_max(fate->t_in_ns, track->sent_ns);

	if (!track->has_link || !alone || from > fate->entered_ns)
		from = fate->entered_ns;
	throughput_add(&track->throughput, from, fate->entered_ns, fate->wire_bytes);
	track->sent_ns = simtime_max(track->sent_ns, fate->entered_ns);
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
		add_sent(track, fate, strchr(fate->cloud, '/') == NULL);
	} else {
		samples_add(&track->lost[reason_kind(fate->reason)], t, 0);
	}
	samples_add(&track->queue, (double)decided_ns(fate), (double)fate->queue_bytes);
	if (fate->queue_average_bytes != FATE_NO_AVERAGE)
		samples_add(&track->average, (double)decided_ns(fate),
		            (double)fate->queue_average_bytes);
}

int picture_open(const char *path, struct picture_of of, const struct scenario *scenario,
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
		p->tracks[i].has_link = line_delay_has_link(scenario->clouds[i]);
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

void picture_say(struct picture *picture, const char *heading, const char *text)
{
	picture->heading = strdup(heading);
	picture->words = strdup(text);
	if (!picture->heading || !picture->words)
		alloc_failure_note();
}

int picture_finish(struct picture *picture, const struct replay_result *result,
                   struct problem *problem)
{
	time_t at = picture->of.captured ? (time_t)(result->first_ns / SIMTIME_S) : time(NULL);
	struct tm tm;
	struct drawing drawing = {
	        .scenario = picture->scenario,
	        .result = result,
	        .duration_ns = fmax(1, (double)(result->last_ns - result->first_ns)),
	};
	char subtitle[SUBTITLE_SIZE], date[DATE_SIZE];

	/* Formats `1 May 2025, 13:37:00 UTC. `; "" if the captures have no date. */
	date[0] = '\0';
	if (at >= DATE_FIRST && gmtime_r(&at, &tm))
		strftime(date, DATE_SIZE, "%-d %B %Y, %H:%M:%S UTC. ", &tm);
	snprintf(subtitle, sizeof(subtitle), "%sSeed %" PRIu64 "%s", date, picture->scenario->seed,
	         result->n_clouds > picture->n_tracks ? "; only the first clouds" : "");
	page_open(&drawing.page, atomic_file_stream(picture->atomic_file),
	          "What happened to the packets", subtitle);
	if (picture->of.command)
		page_code(&drawing.page, picture->of.command);
	drawing_choose_units(&drawing, picture->tracks, picture->n_tracks);
	for (uint32_t i = 0; i < picture->n_tracks; i++)
		drawing_cloud(&drawing, i, &picture->tracks[i]);
	if (picture->heading && picture->words) {
		page_heading(&drawing.page, picture->heading);
		page_code(&drawing.page, picture->words);
	}
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
	free(picture->heading);
	free(picture->words);
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
