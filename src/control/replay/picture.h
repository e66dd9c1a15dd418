/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A replay as a picture: one HTML file that needs nothing else. For each cloud it shows what was
 * configured and achieved, the delay of each packet over time with the losses, the throughput over
 * time, the distribution of delays, and the queue over time.
 *
 * Memory is bounded for any number of packets. If there are more than SAMPLES_MAX decisions
 * (struct samples), every second, fourth, ... delay is drawn, and the maximum of as many values of
 * the queue; the page says so. If there are more than PICTURE_CLOUDS_MAX clouds, the first ones are
 * drawn.
 *
 * Ownership: picture_publish and picture_discard free it. The scenario must outlive it.
 * Thread: that of the engine.
 */
#ifndef WEIR_PICTURE_H
#define WEIR_PICTURE_H

#include "account/witness.h"
#include "offline/replay.h"
#include "scenario/scenario.h"

#define PICTURE_CLOUDS_MAX 8

struct picture;

/* What the head of the page says of the run. */
struct picture_of {
	const char *command; /* its command line, owned by the caller */
	/* The instants of the run are those of captures, in ns since 1970: the page has the date of
	 * the first packet, so the same run draws the same bytes. Else it has the date of today. */
	bool captured;
};

/* Asks whether there is Python, which draws. Returns 0; -EINVAL with problem if the file cannot be
 * created, or there is no Python, which has said what is missing; -ENOMEM. */
int picture_open(const char *path, struct picture_of of, const struct scenario *scenario,
                 struct picture **picture, struct problem *problem);
struct witness *picture_witness(struct picture *picture);
/* Adds a part in words, with a heading; the text is copied. */
void picture_say(struct picture *picture, const char *heading, const char *text);
/* Draws the picture from the decisions and the result. Returns 0, or -EIO or -ENOMEM with
 * problem. */
int picture_finish(struct picture *picture, const struct replay_result *result,
                   struct problem *problem);
int picture_publish(struct picture *picture, struct problem *problem);
void picture_discard(struct picture *picture); /* NULL is allowed */

#endif
