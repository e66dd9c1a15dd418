/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A campaign: what `weir lab run` runs for one experiment. It has the points that the rows and
 * figures need, each with every seed. When all have run, it has the values of rows and figures.
 *
 * Ownership: campaign_free; the experiment and the arguments outlive it.
 * Thread: control's.
 */
#ifndef WEIR_LAB_CAMPAIGN_H
#define WEIR_LAB_CAMPAIGN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "lab/lab_experiment.h"
#include "options/options.h"

/*
 * The command line of `weir lab`.
 * Thread: the main thread.
 * Ownership: pointers point into argv.
 */

#define LAB_SETS_MAX  32
#define LAB_SEEDS     5
#define LAB_SEEDS_MAX 10000

struct lab_arguments {
	bool list, json;
	bool points; /* lists what would be run, and does not run it */
	bool merge;
	char *const *folders; /* to merge */
	uint32_t n_folders;
	const char *what; /* experiment, row, file or `all` */
	uint64_t seeds, jobs, first_seed;
	struct lab_override sets[LAB_SETS_MAX];
	uint32_t n_sets;
	const char *only; /* a case */
	const char *out, *pcap, *trace;
	bool no_figures; /* omits an experiment's sweep */
	bool alone;      /* cases as they are, without what rows and figures need beyond */
	bool go_on;      /* continues from what is in `out` */
};

/* Returns how many processes run at once if --jobs is not given; `processors` may be -1:
 * unknown. */
uint64_t lab_jobs_of(long processors);
/* Returns OPTIONS_RUN; otherwise everything has been printed, and the result is the exit status.
 * Splits `NAME=VALUE` in argv. */
int lab_arguments_parse(int argc, char **argv, struct lab_arguments *arguments);

/*
 * Runs points of experiments side by side, in as many processes, forked from this one, as are to
 * run at once. Each starts an EAL of its own (without hugepages, a child would share the parent's
 * EAL memory with it), runs one point after the other, and returns figures through a pipe. So
 * points share nothing, and the result does not depend on how many run at once.
 *
 * Ownership: jobs and what they point at are the caller's; results_release for each.
 * Thread: control's, without an EAL.
 */

struct lab_job {
	struct lab_point point;
	struct lab_override overrides[LAB_SETS_MAX + 2]; /* the point's */
	const char *sweep, *sweep_value; /* the parameter and its value; or NULL: as in the case */
	const struct experiment_plot *trace; /* runs for this figure only; or NULL */
	char *trace_path;                    /* with `trace`; owned */
	struct results results;
	double seconds; /* processor time */
	bool done;      /* the results are there */
	int error;
	char message[EXPERIMENT_MESSAGE]; /* with error */
};

/* Runs the jobs that are not done, `at_once` at a time. Returns 0, the first job's error in their
 * order (the others still run), or -EINTR if *stop became true; the rest is then left out. Calls
 * `progress`, unless it is NULL, after each. */
int lab_jobs_run(struct lab_job *jobs, uint32_t n, uint32_t at_once,
                 const volatile sig_atomic_t *stop,
                 void (*progress)(void *argument, uint32_t done, uint32_t n), void *argument);

struct campaign {
	const struct experiment *experiment;
	const struct lab_arguments *arguments;
	const char *row;    /* only this one; or NULL */
	const char *figure; /* only this one, by the paper's name; or NULL */
	const char *only;   /* only this case; or NULL */
	char sweep[EXPERIMENT_NAME_BYTES];
	char sweep_values[EXPERIMENT_VALUES_MAX][EXPERIMENT_NAME_BYTES];
	uint32_t n_sweep_values;
	bool swept; /* by --set */
	/* values that rows name behind `@` */
	char row_values[EXPERIMENT_VALUES_MAX][EXPERIMENT_NAME_BYTES];
	uint32_t n_row_values;
	struct lab_override fixed[LAB_SETS_MAX]; /* those of --set that are not the sweep */
	uint32_t n_fixed;
	struct lab_job *jobs;
	uint32_t n_jobs, room;
	struct json_t *source; /* of a merged campaign (lab_output.h): owns what the overrides point
	                        * at */
};

/* A value over the seeds. */
struct campaign_value {
	double mean, sigma; /* sigma: of a single value */
	double low, high;   /* the mean less and plus a standard error */
	uint32_t n;
};

/* Makes the campaign with its jobs, none of which has run. Returns 0, or -EINVAL with message: an
 * unknown parameter, or a sweep that cannot be read. */
int campaign_make(const struct experiment *experiment, const struct lab_arguments *arguments,
                  const char *row, const char *figure, struct campaign **campaign, char *message,
                  size_t room);
void campaign_free(struct campaign *campaign);

/* Returns the run of a case, at a value of a parameter (NULL: the case's own), with a seed; NULL if
 * there is none. */
const struct lab_job *campaign_job(const struct campaign *campaign, uint32_t of, const char *sweep,
                                   const char *value, uint64_t seed);
/* Adds a point whose results are known already. Returns NULL if there is no memory. */
struct lab_job *campaign_add_job(struct campaign *campaign, uint32_t of, uint64_t seed);
/* Puts the jobs into the order in which campaign_make makes them. Each point has a job for each
 * seed, and the sweep has all values of the jobs. Returns 0 or -ENOMEM. */
int campaign_sort(struct campaign *campaign);
/* Computes an expression in names of one case, at a value of the sweep (NULL: none). Returns 0, or
 * -EINVAL or -EDOM (it divides by 0) with message. */
int campaign_expression(const struct campaign *campaign, uint32_t of, const char *sweep_value,
                        const char *expression, struct campaign_value *value, char *message,
                        size_t room);
/* Return true if a figure, and a row, belongs to this campaign. */
bool campaign_has_plot(const struct campaign *campaign, const struct experiment_plot *plot);
bool campaign_has_row(const struct campaign *campaign, const struct experiment_row *row);
/* Computes a row's value, and whether it is in the band; `reason` says why not, and is empty if it
 * is. Without a value, it is unknown; left out, if --case left out what it names. If --set changes
 * what the paper measured, it is not comparable; how long is measured changes nothing of that. */
enum verdict {
	VERDICT_INSIDE,
	VERDICT_OUTSIDE,
	VERDICT_UNKNOWN,
	VERDICT_LEFT_OUT,
	VERDICT_NOT_COMPARABLE,
};
enum verdict campaign_verdict(const struct campaign *campaign, const struct experiment_row *row,
                              struct campaign_value *value, char *reason, size_t room);
/* Returns how many of the n_jobs runs have results. */
uint32_t campaign_done(const struct campaign *campaign);

#endif
