/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An experiment of the lab as text: a file that a person reads and changes. A line is split like
 * one of the scenario language (word.h); `$NAME` in it stands for the value of a parameter.
 *
 *   title TEXT              about TEXT (any number of lines)        paper TEXT
 *   set NAME VALUE          a parameter and its value, which --set NAME=VALUE replaces. There are
 *                           always duration, warmup, sample and ties
 *   link NAME from SWITCH to SWITCH      two clouds, NAME and NAME.back
 *   cloud NAME STATEMENT...              what they do: scenario language
 *   ftp NAME COUNT from SWITCH to SWITCH [FIELDS]     (lab/group.h)
 *   voice NAME CALLS from SWITCH to SWITCH [FIELDS]   (lab/voice.h)
 *   web NAME SESSIONS from SWITCH to SWITCH [FIELDS]  (lab/web.h)
 *   surge NAME USERS from SWITCH to SWITCH [FIELDS]   (lab/web.h)
 *   case NAME ... end       lines that hold in this case only; without any case there is one,
 *                           `only`
 *   sweep NAME VALUES...    for figures: each case with each of the values
 *   plot TITLE EXPRESSION [LABEL] [figure ID]   a figure: the expression, with names without the
 *                           case, for each case over the sweep
 *   bars TITLE LABEL NAME=EXPRESSION... [figure ID]   a bar for each case and expression
 *   trace TITLE CASE WHAT [LABEL] [set NAME=VALUE] [figure ID]   WHAT over the time of one run:
 *                           CLOUD.queue, GROUP.FLOW.cwnd or GROUP.rate
 *   point CASE X Y          what the paper has at X of the figure above it
 *   row ID WHAT EXPRESSION paper TEXT accept LOW HIGH    a row of the acceptance table; names in
 *                           the expression are CASE.FIGURE, or CASE@VALUE.FIGURE at a value of the
 *                           sweep. Rows of one ID belong together
 *
 * An error is a line of text: `char message[EXPERIMENT_MESSAGE]` here means such an array.
 *
 * Ownership: experiment_free.
 * Thread: control's.
 */
#ifndef WEIR_LAB_EXPERIMENT_H
#define WEIR_LAB_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/results.h"
#include "scenario/scenario.h"
#include "text/embedded_text.h"

#define EXPERIMENT_NAME_BYTES 48
#define EXPERIMENT_CASES_MAX  32
#define EXPERIMENT_SETS_MAX   64
#define EXPERIMENT_ROWS_MAX   32
#define EXPERIMENT_PLOTS_MAX  16
#define EXPERIMENT_BARS_MAX   16
#define EXPERIMENT_POINTS_MAX 64
#define EXPERIMENT_VALUES_MAX 64
#define EXPERIMENT_NO_CASE    UINT32_MAX
#define EXPERIMENT_MESSAGE    1024

/* Writes the message, and returns the error. */
int lab_fail(char message[EXPERIMENT_MESSAGE], int error, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* A parameter has one value; a case may override it. */
struct experiment_set {
	char name[EXPERIMENT_NAME_BYTES];
	char value[EXPERIMENT_NAME_BYTES];
	uint32_t of; /* case, or EXPERIMENT_NO_CASE */
};

struct experiment_line {
	char *text;
	uint32_t number; /* in the file */
	uint32_t of;     /* case, or EXPERIMENT_NO_CASE */
};

struct experiment_row {
	char id[16];
	char *what, *expression, *paper;
	double low, high; /* inclusive; may be infinite */
	uint32_t line;    /* of the file */
};

enum plot_kind { PLOT_SWEEP, PLOT_BARS, PLOT_TRACE };

struct experiment_plot {
	enum plot_kind kind;
	char *title, *expression, *label;   /* a trace's expression is WHAT */
	char figure[EXPERIMENT_NAME_BYTES]; /* of the paper; "": none */
	char names[EXPERIMENT_BARS_MAX][EXPERIMENT_NAME_BYTES];
	char *expressions[EXPERIMENT_BARS_MAX]; /* of the bars */
	uint32_t n_bars;
	uint32_t of;                                                   /* a trace's case */
	char set[EXPERIMENT_NAME_BYTES], value[EXPERIMENT_NAME_BYTES]; /* a trace's; "": none */
};

/* A value of a paper's figure that the paper states in words. */
struct experiment_point {
	uint32_t plot, of;
	char x[EXPERIMENT_NAME_BYTES];
	double y;
};

struct experiment {
	char *name;                  /* or the path of its file */
	char digest[17];             /* of its text: FNV-1a, hexadecimal */
	char *title, *paper, *about; /* never NULL, as the name */
	char cases[EXPERIMENT_CASES_MAX][EXPERIMENT_NAME_BYTES];
	uint32_t n_cases;
	struct experiment_set sets[EXPERIMENT_SETS_MAX];
	uint32_t n_sets;
	struct experiment_line *lines; /* from which a point is built */
	uint32_t n_lines;
	struct experiment_row rows[EXPERIMENT_ROWS_MAX];
	uint32_t n_rows;
	struct experiment_plot plots[EXPERIMENT_PLOTS_MAX];
	uint32_t n_plots;
	struct experiment_point points[EXPERIMENT_POINTS_MAX];
	uint32_t n_points;
	char sweep[EXPERIMENT_NAME_BYTES]; /* "": none */
	char sweep_values[EXPERIMENT_VALUES_MAX][EXPERIMENT_NAME_BYTES];
	uint32_t n_sweep_values;
};

/* Reads an experiment, which is the caller's. Returns 0, or -EINVAL or -ENOMEM with message,
 * `NAME:LINE: ...`. */
int experiment_read(const char *text, size_t bytes, const char *name,
                    struct experiment **experiment, char message[EXPERIMENT_MESSAGE]);
void experiment_free(struct experiment *experiment);

/* Returns true if there is a parameter of that name. */
bool experiment_has(const struct experiment *experiment, const char *parameter);
/* Returns the index of a case, or -1. */
int experiment_case(const struct experiment *experiment, const char *name);
/* Returns the index of the case with which a name of a row begins, `CASE.` or `CASE@`; -1: there is
 * none. Of several (`a` and `a.b`), the one with the longest name counts. */
int experiment_case_named(const struct experiment *experiment, const char *name);
/* Returns the value of a parameter in a case, or NULL if there is no such parameter. */
const char *experiment_value(const struct experiment *experiment, uint32_t of,
                             const char *parameter);

/*
 * The source of experiments: those of lab/experiments are built in; any other is a file.
 *
 * Ownership: experiments are the caller's.
 * Thread: control's.
 */

/* In the order of their names, ended by a NULL name; made by tools/embed.py. */
extern const struct embedded_text lab_texts[];

/* Reads all that are built in. Returns 0 and an array of as many pointers as lab_texts has, the
 * caller's; or -errno with message. */
int lab_store_all(struct experiment ***all, uint32_t *n, char message[EXPERIMENT_MESSAGE]);
void lab_store_free(struct experiment **all, uint32_t n);
/* Reads one from a file. */
int lab_store_file(const char *path, struct experiment **experiment,
                   char message[EXPERIMENT_MESSAGE]);

/*
 * A point of an experiment: one case, values for parameters, a seed. It is run and measured.
 *
 * Ownership: the caller's.
 * Thread: control's, one, the EAL running.
 */

/* NAME=VALUE of the command line, or of a sweep: overrides what the experiment says. */
struct lab_override {
	const char *name, *value;
};

struct lab_point {
	const struct experiment *experiment;
	uint32_t of; /* case */
	const struct lab_override *overrides;
	uint32_t n_overrides;
	uint64_t seed;
	const char *trace; /* a file for the queues and windows over time; or NULL */
	const char *pcap;  /* a capture file of both directions at the first link's beginning; or
	                    * NULL */
};

/* Returns 0; or -errno with message, one line, which names the line of the experiment that caused
 * the error, if one did. */
int lab_point_run(const struct lab_point *point, struct results *results,
                  char message[EXPERIMENT_MESSAGE]);
/* Builds everything and runs nothing. Returns the same errors. */
int lab_point_check(const struct lab_point *point, char message[EXPERIMENT_MESSAGE]);
/* Returns the value of a parameter at this point; NULL if there is no such parameter. */
const char *lab_point_value(const struct lab_point *point, const char *parameter);

/*
 * Packets of the lab have the length of their IPv4 datagram (frame.h). What takes the 14 bytes of
 * Ethernet off the length of a frame, or adds to them, would be wrong by these 14 bytes: `overhead
 * layer3`, `layer1` and `atm`, and a trace of mahimahi on a link for which none is given.
 *
 * Thread: control.
 */

/* Returns 0, or -EINVAL with problem if a cloud has such a statement, also in a schedule. */
int lab_lengths_check(const struct scenario *scenario, struct problem *problem);

#endif
