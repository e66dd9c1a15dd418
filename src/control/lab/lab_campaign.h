/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A campaign: what `weir lab` runs, or merges, for one experiment. It has the points that the rows
 * and figures need, each with every seed. When all have run, it has the values of rows and figures.
 *
 * This is the only place that knows which runs make up a campaign. `weir lab points` lists them;
 * --continue and merge give runs of results.json to the points that they belong to. The Python
 * client (weir.lab) runs the points that it is told, and leaves the rest to --continue.
 *
 * Ownership: campaign_free; the experiment and the arguments outlive it.
 * Thread: control's.
 */
#ifndef WEIR_LAB_CAMPAIGN_H
#define WEIR_LAB_CAMPAIGN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

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
	bool resume;     /* continues from what is in `out` */
};

/* Returns how many processes run at once if --jobs is not given; `processors` may be -1:
 * unknown. */
uint64_t lab_jobs_of(long processors);

/*
 * Runs points of experiments side by side, in as many processes, forked from this one, as are to
 * run at once. Each starts an EAL of its own (without hugepages, a child would share the parent's
 * EAL memory with it), runs one point after the other, and returns figures through a pipe. So
 * points share nothing but a counter, which says who runs which, and the result does not depend on
 * how many run at once.
 *
 * Ownership: jobs and what they point at are the caller's; results_release for each.
 * Thread: control's, without an EAL.
 */

struct lab_job {
	struct lab_point point; /* its overrides are those below */
	struct lab_override overrides[LAB_SETS_MAX + 2];
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
 * `progress` after each, with the name of the experiment. */
int lab_jobs_run(struct lab_job *jobs, uint32_t n, uint32_t at_once,
                 const volatile sig_atomic_t *stop,
                 void (*progress)(const char *name, uint32_t done, uint32_t n));

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
	uint32_t n_jobs;
	size_t room;
	json_t *runs;  /* of a merge: those it has; the fixed values point into them. Or NULL */
	char *message; /* while it is made */
};

/* A value over the seeds. */
struct campaign_value {
	double mean;
	double low, high; /* the mean less and plus a standard error */
	uint32_t n;
};

/* Makes the campaign with its jobs, none of which has run. Returns 0, or -EINVAL with message: an
 * unknown parameter, or a sweep that cannot be read.
 * With `runs`, it is a merge: the parameters are those of the runs, a point belongs to it if there
 * are runs of it, and then every seed must be there. */
int campaign_make(const struct experiment *experiment, const struct lab_arguments *arguments,
                  const char *row, const char *figure, json_t *runs, struct campaign **campaign,
                  char message[EXPERIMENT_MESSAGE]);
void campaign_free(struct campaign *campaign);

/* Returns true if both texts are NULL, or equal. */
bool lab_same(const char *a, const char *b);

/* Returns the run of a case, at a value of a parameter (NULL: the case's own), with a seed; NULL if
 * there is none. */
const struct lab_job *campaign_job(const struct campaign *campaign, uint32_t of, const char *sweep,
                                   const char *value, uint64_t seed);
/* Reads the run with which a name in a row's expression begins, `CASE.` or `CASE@VALUE.`, and moves
 * *name behind it. `value` is "" if it is the case as it is. Returns false if there is none. */
bool campaign_name_read(const struct experiment *experiment, const char **name, uint32_t *of,
                        char value[EXPERIMENT_NAME_BYTES]);
/* Does the same with the next name in an expression, of which *at is a part; at first, it is the
 * expression. */
bool campaign_name_next(const struct experiment *experiment, const char *expression,
                        const char **at, uint32_t *of, char value[EXPERIMENT_NAME_BYTES]);
/* Computes an expression in names of one case, at a value of the sweep (NULL: none). Returns 0, or
 * -EINVAL or -EDOM (it divides by 0). */
int campaign_expression(const struct campaign *campaign, uint32_t of, const char *sweep_value,
                        const char *expression, struct campaign_value *value);
/* Computes the i-th value of a figure over the sweep, or of bars, for a case; `name` is that of the
 * bar or the value of the sweep. Returns false if there is none. */
bool campaign_plot_value(const struct campaign *campaign, const struct experiment_plot *plot,
                         uint32_t of, uint32_t i, const char **name, struct campaign_value *value);
/* Returns the number of such values, those that there are not included. */
uint32_t campaign_plot_values(const struct campaign *campaign, const struct experiment_plot *plot);
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
                              struct campaign_value *value, char reason[EXPERIMENT_MESSAGE]);
/* Returns how many of all the campaigns' runs have results, and how many runs there are. */
uint32_t campaigns_done(struct campaign *const *campaigns, uint32_t n, uint32_t *all);

/*
 * The output about campaigns that have run: text, JSON, CSV, and a report in HTML.
 *
 * JSON of a row:
 * {"id","experiment","seeds","parameters","values","errors","paper","band","pass","reasons"}:
 * values, paper, band and errors have a key for each of its figures; an error is the standard error
 * over the seeds; a band is [low, high], null where it is open; reasons has those that are not
 * inside. Of an experiment: {"experiment","title","paper","digest","complete","rows":[...],
 * "runs":[{"case","seed","parameters","figures"}]}: digest is of its text, complete false if runs
 * are missing.
 *
 * Thread: control's.
 * Ownership: streams stay the caller's.
 */

/* Prints the rows, or if there are none, the figures of each case; to NULL: nothing. Returns false
 * if a row is outside its band, or has no value. */
bool lab_output_text(const struct campaign *campaign, FILE *out);
/* Returns NULL if there is no memory. */
json_t *lab_output_row(const struct campaign *campaign, const char *id);
json_t *lab_output_experiment(const struct campaign *campaign);
/* Prints experiment,case,sweep,value,seed,figure,mean; a field may be quoted, as in RFC 4180. */
void lab_output_csv(const struct campaign *campaign, bool head, FILE *out);
/* Returns 0 or -errno. */
int lab_output_html(struct campaign *const *campaigns, uint32_t n, FILE *out);

/*
 * The folder of --out: results.csv, results.json, report.html. The files are written under
 * temporary names and renamed when all three are complete. A reader finds either the old files or
 * the new ones, even if the disk is full or the process is killed. So they may be written before
 * the campaign ends; then they say what is missing ("complete" in the JSON, a red line in the
 * report).
 *
 * Continuing: a run is taken from results.json if the text of its experiment, its case, its seed
 * and all parameters are the same. Figures over time, traces and captures are not stored: they run
 * again. Nothing checks that the program is the same.
 *
 * Thread: control's.
 */

/* Makes the folder, if there is none. Returns 0, or -EINVAL with message if it cannot be written
 * to. */
int lab_folder_check(const char *folder, char message[EXPERIMENT_MESSAGE]);
/* Returns 0, or -ENOSPC, -EIO, -ENOMEM, -EINVAL with message. */
int lab_folder_write(const char *folder, struct campaign *const *campaigns, uint32_t n,
                     char message[EXPERIMENT_MESSAGE]);
#define LAB_NOT_OURS "not what `weir lab run --out` writes"
/* Reads the results in the folder, which may be none, into the campaigns' jobs. Returns 0 and how
 * many runs, or -EINVAL with message if the file was not written by lab_folder_write. */
int lab_folder_read(const char *folder, struct campaign *const *campaigns, uint32_t n,
                    uint32_t *taken, char message[EXPERIMENT_MESSAGE]);

/* Returns true if there is a run of this point, with any seed: of its case and all its
 * parameters. */
bool lab_runs_have(const json_t *runs, const struct lab_point *point);
/* Takes the figures of the job's run. Returns 1, 0 if there is none, -EEXIST if there are two that
 * differ, or -ENOMEM. */
int lab_runs_take(const json_t *runs, struct lab_job *job);

/*
 * Combines runs of the lab that were made separately, on several machines: each folder has the
 * results.json that `weir lab run --out` wrote. Rows and figures are then those of all runs, as
 * from a single run, and the runs are in its order, whatever that of the folders is; figures over
 * time, which are files of one machine, are left out. If all runs of an experiment are of one case,
 * it is as with --case.
 *
 * The runs must be of experiments that are built in, and of their text as it is now. Every point
 * needs the same seeds, without gaps. A run that occurs twice counts once, and both
 * copies must have the same figures. Parameters that --set gave to all runs stay; one may differ:
 * the sweep.
 *
 * Thread: control's.
 * Ownership: campaign_free for each; the experiments and the arguments outlive them.
 */

/* Merges into `campaigns`, which has room for n_all; sets the arguments' seeds. Returns 0, or
 * -EINVAL or -ENOMEM with message. */
int lab_merge(struct experiment *const *all, uint32_t n_all, struct lab_arguments *arguments,
              struct campaign **campaigns, uint32_t *n_campaigns, char message[EXPERIMENT_MESSAGE]);
/* Sets the campaign's case, parameters and sweep to those of its runs. Returns the same. */
int lab_merge_sets(struct campaign *campaign);

#endif
