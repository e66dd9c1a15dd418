/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of `weir lab` that are C: its command line, and what runs one point of an experiment.
 * The rest is the package python/src/weir/lab: what an experiment's text means, which points a
 * campaign has, and what comes of their results.
 *
 * Thread: the main thread, without an EAL.
 */
#ifndef WEIR_LAB_H
#define WEIR_LAB_H

#include <stdint.h>

#include "lab/results.h"
#include "python/python.h"
#include "scenario/scenario.h"
#include "text/embedded_text.h"

/* The experiments of lab/experiments, in the order of their names; made by tools/embed.py. */
extern const struct embedded_text lab_texts[];

/*
 * A point: one case of an experiment, with values for its parameters, and a seed.
 *
 * Its lines are those of the experiment that begin with link, cloud, ftp, voice, web or surge, with
 * values for parameters (docs/lab.md). A line is split as one of the scenario language is.
 */
struct lab_line {
	const char *text;
	uint32_t number; /* in the experiment */
};

struct lab_point {
	const struct lab_line *lines;
	uint32_t n_lines;
	const char *duration, *warmup, *sample, *ties; /* values of these parameters; NULL: none */
	uint64_t seed;
	const char *trace; /* a file for the queues and windows over time; or NULL */
	const char *pcap;  /* a capture file of both directions at the first link's beginning; or
	                    * NULL */
};

struct lab_error {
	uint32_t line; /* of the experiment; 0: none in particular */
	char text[800];
};

/* Builds the point, and runs it, unless results is NULL. Returns 0, or -errno with error. */
int lab_point_run(const struct lab_point *point, struct results *results, struct lab_error *error);

/*
 * Packets of the lab have the length of their IPv4 datagram (frame.h). What takes the 14 bytes of
 * Ethernet off the length of a frame, or adds to them, would be wrong by these 14 bytes: `overhead
 * layer3`, `layer1` and `atm`, and a trace of mahimahi on a link for which none is given.
 *
 * Returns 0, or -EINVAL with problem if a cloud has such a statement, also in a schedule.
 */
int lab_lengths_check(const struct scenario *scenario, struct problem *problem);

/*
 * Questions of the package (python/python.h):
 *
 *   {"ask": "read", "name", "path", "text"}      the experiment of a path, or a text of this name;
 *                                                or else those that are built in, of this name,
 *                                                or all
 *   {"experiments": [{"name", "digest", "lines": [[NUMBER, TEXT, WORD...], ...]}, ...]}
 *                                                lines without words are left out
 *
 *   {"ask": "point", "lines": [[NUMBER, TEXT], ...], "duration", "warmup", "sample", "ties",
 *    "seed", "run": BOOL, "trace": PATH, "pcap": PATH}
 *                                                a point; without "run" it is only built
 *   {"figures": {NAME: VALUE, ...}, "seconds"}   the processor time
 *
 * A PATH is one of python_path. A question may be answered by {"error": TEXT, "line": NUMBER,
 * "wrong": BOOL}: the line of a point, or 0; wrong if what was asked is, and not the machine. The
 * digest is FNV-1a of the text, hexadecimal.
 */
extern const struct python_ask lab_asks[];

#endif
