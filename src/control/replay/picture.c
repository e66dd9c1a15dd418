/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/picture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "capture/atomic_file.h"
#include "figures/figures.h"
#include "packet/packet.h"
#include "python/python.h"
#include "replay/replay_command.h"
#include "show/times.h"
#include "text/alloc_failure.h"

struct picture {
	struct witness witness;
	struct picture_run run;
	struct atomic_file *atomic_file;
	struct track tracks[PICTURE_CLOUDS_MAX]; /* in the order of the scenario's clouds */
};

/* Returns the track of a cloud. The clouds of a template (`down/10.0.3.4`) share its track. */
static struct track *find_track(struct picture *picture, const char *cloud)
{
	size_t bytes = strcspn(cloud, "/");

	for (uint32_t i = 0; i < picture->run.n_tracks; i++) {
		if (picture->tracks[i].name == cloud)
			return &picture->tracks[i];
	}
	for (uint32_t i = 0; i < picture->run.n_tracks; i++) {
		const char *name = picture->run.scenario->clouds[i]->name;

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

/* Starts Python, which draws when it has the decisions. Returns when it is ready: 0, or -EINVAL
 * with problem. */
static int start_python(struct python_process *python, const char *path, struct problem *problem)
{
	if (python_start("--picture", "weir._picture", python) == 0 && fgetc(python->in) == '\n')
		return 0;
	return problem_set(problem, -1, "%s: cannot be drawn without Python", path);
}

int picture_open(const char *path, struct picture_of of, const struct scenario *scenario,
                 struct picture **picture, struct problem *problem)
{
	struct picture *p = calloc(1, sizeof(*p));
	struct python_process python = {.pid = 0};
	int error;

	if (!p) {
		problem_set(problem, -1, "%s: no memory to draw it", path);
		return -ENOMEM;
	}
	p->witness.tell = tell;
	p->run = (struct picture_run){
	        .of = of,
	        .scenario = scenario,
	        .tracks = p->tracks,
	        .n_tracks = RTE_MIN(scenario->n_clouds, PICTURE_CLOUDS_MAX),
	};
	for (uint32_t i = 0; i < p->run.n_tracks; i++) {
		p->tracks[i].has_link = line_delay_has_link(scenario->clouds[i]);
		p->tracks[i].queue.greatest = true;
	}
	error = atomic_file_open(path, &p->atomic_file, problem);
	/* Whether there is Python is known before the run. What draws is started behind it,
	 * because a path ends all processes that a command has left. */
	if (!error)
		error = start_python(&python, path, problem);
	python_end(&python);
	if (error)
		picture_discard(p);
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
	for (uint32_t i = 0; i < picture->run.n_tracks; i++) {
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
	json_decref(picture->run.words);
	picture->run.words = json_pack("[s,o]", heading, figures_string(text));
}

int picture_finish(struct picture *picture, const struct replay_result *result,
                   struct problem *problem)
{
	const char *path = atomic_file_path(picture->atomic_file);
	struct python_process python = {.pid = 0};
	char bytes[BUFSIZ];
	bool unread;
	size_t n;
	int rc;

	if (tracks_failed(picture)) {
		problem_set(problem, -1, "%s: no memory for its data", path);
		return -ENOMEM;
	}
	rc = start_python(&python, path, problem);
	if (rc == 0 &&
	    (picture_run_write(&picture->run, result, python.out) < 0 || alloc_failure_taken())) {
		problem_set(problem, -1, "%s: no memory for its data", path);
		rc = -ENOMEM;
	}
	if (rc == 0)
		python_end_input(&python);
	while (rc == 0 && (n = fread(bytes, 1, sizeof(bytes), python.in)) > 0)
		fwrite(bytes, 1, n, atomic_file_stream(picture->atomic_file));
	unread = rc == 0 && ferror(python.in);
	if ((python_end(&python) != 0 && rc == 0) || unread) {
		problem_set(problem, -1, "%s: could not be drawn", path);
		rc = -EIO;
	}
	return rc == 0 ? atomic_file_finish(picture->atomic_file, problem) : rc;
}

static void picture_free(struct picture *picture)
{
	json_decref(picture->run.words);
	for (uint32_t i = 0; i < picture->run.n_tracks; i++) {
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
