/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this folder share: the command line, and what a picture is drawn with. */
#ifndef WEIR_REPLAY_COMMAND_H
#define WEIR_REPLAY_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "offline/replay.h"
#include "options/options.h"
#include "record/recording_folder.h"
#include "replay/picture.h"
#include "scenario/scenario.h"
#include "simtime.h"
#include "text/word.h"

/*
 * The command line of `weir replay`, parsed and checked; docs/man/weir-replay.1 describes it.
 *
 * Thread: control.
 */

/* The parts of `a,b=FILE`. */
struct replay_binding {
	const char *first, *second, *path;
};

struct replay_arguments {
	char statements[LINE_BYTES_MAX]; /* on the command line (short_form.h); "": none */
	const char *config, *split, *link_type, *report, *log, *picture, *capture, *explain_json;
	/* the folder of a recording that is run again, or NULL */
	const char *recording;
	struct rerun_asked asked;
	uint64_t packet; /* whose way is printed in words; 0: none */
	uint64_t burst, memory_bytes;
	bool explain;
	bool quiet;
	bool stdout_taken; /* a file goes to standard output, so the table must not */
	struct replay_binding in_text[REPLAY_FILES_MAX], out_text[REPLAY_FILES_MAX];
	/* set by replay_arguments_bind */
	struct replay_file in[REPLAY_FILES_MAX], out[REPLAY_FILES_MAX];
	uint32_t n_in, n_out;
};

/* Returns OPTIONS_RUN; else everything was printed, and the result is the exit status. Splits
 * PORT=PCAP in argv, and points into it. */
int replay_arguments_parse(int argc, char **argv, struct replay_arguments *arguments);

/* Finds the ports in the scenario, and checks that no output file is also an input, or another
 * output. Returns 0, or -EINVAL with problem. */
int replay_arguments_bind(struct replay_arguments *arguments, const struct scenario *scenario,
                          struct problem *problem);

/*
 * A bounded sample of a long series of (instant, value): at most SAMPLES_MAX of them, evenly spaced
 * in their order. When it is full, every second one is discarded, and from then on a sample
 * represents twice as many values. The samples kept depend on the series alone.
 *
 * Thread: one.
 */

#define SAMPLES_MAX 131072u

/* Empty if all zero. */
struct samples {
	double *t, *value;
	size_t n, room;
	uint64_t stride; /* values that a sample represents; 0: there were none yet */
	uint64_t phase;  /* how many of them came for the last sample */
	bool greatest;   /* keeps the greatest value, else the first; set at the start */
	bool failed;     /* there was no memory: later values are missing */
};

void samples_add(struct samples *samples, double t, double value);
void samples_free(struct samples *samples);

/*
 * The bytes that pass a link over time, each packet for as long as the link sends it, in at most
 * THROUGHPUT_SLOTS slots of equal length. When the last slot is full, each two are merged, and
 * slots are twice as long from then on. They begin at 1 ms. At most THROUGHPUT_STEPS steps are
 * drawn.
 */

#define THROUGHPUT_SLOTS 1024u
#define THROUGHPUT_STEPS 200u

/* Empty if all zero. */
struct throughput {
	simtime from_ns; /* the beginning of the first slot, set by the first call */
	simtime slot_ns; /* 0: nothing was added yet */
	size_t n;        /* slots in use */
	double bytes[THROUGHPUT_SLOTS];
};

/* Adds a packet that is sent from one instant to another, which may be the same. What is before the
 * first slot counts as its beginning. */
void throughput_add(struct throughput *throughput, simtime from_ns, simtime to_ns, uint32_t bytes);
/* Computes the throughput in bit/s, in steps of `step_ns` of one or more slots each, with their
 * beginnings relative to `start_ns`; a final point of 0 ends the last step. `t` and `value` have
 * room for THROUGHPUT_STEPS + 2. Returns the number of points. */
size_t throughput_points(const struct throughput *throughput, simtime start_ns, double *t,
                         double *value, double *step_ns);

/* What a picture has of the decisions of a cloud (picture.h). */

#define TRACK_REASON_KINDS 3 /* of enum reason_kind */

struct track {
	const char *name; /* the engine's, as in the last fate: compared by address first */
	bool has_link;
	simtime sent_ns; /* when its link had sent the latest packet */
	struct samples delay, queue, average, lost[TRACK_REASON_KINDS];
	struct throughput throughput; /* of its link, or, without one, of the packets that pass */
};

/* A run, as it is handed to Python. */
struct picture_run {
	struct picture_of of;
	const struct scenario *scenario;
	json_t *words; /* [HEADING, TEXT] of a part in words; or NULL */
	const struct track *tracks;
	uint32_t n_tracks;
};

/* Returns 0, or -ENOMEM if only a part was written. Errors of writing stay in ferror(out). */
int picture_run_write(const struct picture_run *run, const struct replay_result *result, FILE *out);

#endif
