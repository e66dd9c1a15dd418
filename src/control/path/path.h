/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A live path between two taps that weir makes itself, one at each end (tap_end.h): what `weir
 * exec` and `weir on` share. The command line, the scenario, what is recorded, and the run.
 */
#ifndef WEIR_PATH_H
#define WEIR_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "language/scenario_file.h"
#include "live/runtime.h"
#include "offline/replay.h"
#include "options/options.h"
#include "port/tap_end.h"
#include "record/recording_run.h"
#include "run/run_prepare.h"
#include "scenario/problem.h"
#include "scenario/scenario.h"
#include "text/word.h"

/* `down` leads from the far end to the near end. */
enum { PATH_FAR, PATH_NEAR, PATH_ENDS };

/* The options that both commands have. Their arguments begin with this struct. */
struct path_arguments {
	const char *config, *cores, *report, *log, *picture, *pcap, *socket, *explain_json;
	/* Statements for both directions, and for one; "": none. */
	char both[LINE_BYTES_MAX], down[LINE_BYTES_MAX], up[LINE_BYTES_MAX];
	struct recording_arguments record;
	struct rest_arguments rest;
	uint64_t memory_bytes; /* 0: not given */
	uint64_t seed;
	uint32_t log_level; /* enum run_log_level */
	bool seed_given, quiet, explain;
};

int path_take_statements(const struct field *field, char *text, void *arguments,
                         struct language_error *error);

/* Returns true, and prints an error, if a word is a statement with dashes, as `--latency 40ms` or
 * `--delay=40ms`. `next` is the following word, or NULL. */
bool path_is_statement(const struct options *options, const char *word, const char *next);

#define PATH_OPTION_DOWN(what)                                                                     \
	OPTION("--down", FIELD_TEXT, struct path_arguments, down, .form = "TEXT", .help = what),   \
	        .take = path_take_statements
#define PATH_OPTION_UP(what)                                                                       \
	OPTION("--up", FIELD_TEXT, struct path_arguments, up, .form = "TEXT", .help = what),       \
	        .take = path_take_statements
#define PATH_OPTIONS(socket_what)                                                                  \
	{OPTION("--cores", FIELD_TEXT, struct path_arguments, cores, .form = "LIST",               \
	        .help = "processors for the workers; any, if not given")},                         \
	        {OPTION_MEMORY(struct path_arguments, OPTION_MEMORY_LEAST, 0,                      \
	                       "for packets in flight; if not given, what they take at 1 "         \
	                       "Gbit/s")},                                                         \
	        {REST_OPTION_SLEEP(struct path_arguments)},                                        \
	        {REST_OPTION_PRIORITY(struct path_arguments)},                                     \
	        {OPTION("--seed", FIELD_COUNT, struct path_arguments, seed,                        \
	                .help = "instead of the scenario's; if neither gives one, it is drawn at " \
	                        "random")},                                                        \
	        {OPTION("--report", FIELD_TEXT, struct path_arguments, report, .form = "FILE",     \
	                .help = "the counters, as JSON")},                                         \
	        {OPTION("--log", FIELD_TEXT, struct path_arguments, log, .form = "FILE",           \
	                .help = "the fate of every packet, as CSV")},                              \
	        {OPTION("--explain", FIELD_FLAG, struct path_arguments, explain,                   \
	                .help = "where the time of each connection went, in words and bars")},     \
	        {OPTION("--explain-json", FIELD_TEXT, struct path_arguments, explain_json,         \
	                .form = "FILE", .help = "the same as JSON")},                              \
	        {OPTION("--pcap", FIELD_TEXT, struct path_arguments, pcap, .form = "FILE",         \
	                .help = "the packets at both ends of the path, as pcapng with an "         \
	                        "interface for each end")},                                        \
	        {OPTION("--picture", FIELD_TEXT, struct path_arguments, picture, .form = "FILE",   \
	                .help = "delays, throughput, losses and queues over time, as one HTML "    \
	                        "file")},                                                          \
	        RECORDING_OPTIONS(struct path_arguments),                                          \
	        {.letter = 's',                                                                    \
	         OPTION("--socket", FIELD_TEXT, struct path_arguments, socket, .form = "PATH",     \
	                .help = socket_what)},                                                     \
	        {OPTION_LOG_LEVEL(struct path_arguments)},                                         \
	{                                                                                          \
		OPTION_QUIET(struct path_arguments, "no table at the end")                         \
	}

/* What a command says of its path. */
struct path_words {
	const char *command;         /* `exec` */
	const char *plain;           /* the scenario without impairments */
	const char *near;            /* `the command`: where `down` leads */
	const char *ends[PATH_ENDS]; /* descriptions in a capture */
};

/* Makes the scenario: that of a file, or the plain one, followed by the statements of the command
 * line (short_form.h). Returns 0, and the scenario is the caller's; or -errno, with a line that
 * describes the error. `ports` receives the indices of the ports of both ends. May move the first
 * word of `both` to `config`: the name of a scenario. */
int path_scenario_make(const struct path_words *words, struct path_arguments *arguments,
                       struct scenario **scenario, uint32_t ports[PATH_ENDS], char *message,
                       size_t room);

/*
 * What a run records: the log and the picture, as in a replay (decision_log.h,
 * picture.h), and the capture. If neither log nor picture is requested, the engine
 * has no witness, and a packet costs no more.
 */

struct path_record;
struct frame_queue;

/* Paths, or NULL. */
struct path_record_files {
	const char *log, *picture, *pcap, *explain_json;
	bool explain;     /* in words, on standard error */
	const char *line; /* the command line, for the picture */
	const struct path_words *words;
};

/* Opens the files; `near` is the port of the near end. Returns 0; -EINVAL with problem if a file
 * cannot be created, or if there is a log or a picture, and the scenario has templates; -ENOMEM.
 * *record is NULL if all files are. */
int path_record_open(const struct path_record_files *files, const struct scenario *scenario,
                     uint32_t near, struct path_record **record, struct problem *problem);
/* For the runtime; they return NULL if there is nothing of the kind. */
struct witness *path_record_witness(struct path_record *record);
struct frame_queue *path_record_frames(struct path_record *record);
/* Begins, before any packet comes. `now_ns`: what the clock of the run reads now. Returns 0, or
 * -errno with problem. */
int path_record_begin(struct path_record *record, struct runtime *runtime, uint64_t now_ns,
                      struct problem *problem);
/* Returns how often path_record_take must be called, in ms: `other`, or more often. */
int path_record_pace_ms(const struct path_record *record, int other);
/* Writes what the workers have reported; called also when they stand still. They will report no
 * frame any more that came or left by `until`. */
void path_record_take(struct path_record *record, simtime until);
/* Gives the files their names. Returns 0, or -errno with problem. Reports on standard error what is
 * missing. */
int path_record_publish(struct path_record *record, const struct replay_result *result,
                        struct problem *problem);
/* Prints what was asked for in words, once all is published. */
void path_record_print(const struct path_record *record, FILE *out);
/* Removes files that were not published. Always the last call, when no worker is left. `record` may
 * be NULL, here and above. */
void path_record_close(struct path_record *record);

/*
 * The tap by which the explanation of a run (explain/explain_run.h) looks at the packets
 * (live/tap.h), as `weir ctl explain` does from outside. It is all zero before it begins.
 *
 * Ownership: path_tap_close frees, when no worker is left.
 */
struct path_tap {
	void *memory;
	bool broken;
};
struct explain_run;

/* Returns when all workers have the tap: 0, or -errno with problem. */
int path_tap_begin(struct path_tap *tap, struct runtime *runtime, struct problem *problem);
void path_tap_take(struct path_tap *tap, struct explain_run *explain, simtime until);
/* Returns how many fates are missing. */
uint64_t path_tap_missed(const struct path_tap *tap);
void path_tap_close(struct path_tap *tap);

/*
 * The result of a run: what was configured and achieved, as a table on standard error and as
 * JSON, both as in a replay (replay_report.h, json.h).
 *
 * Thread: control; the workers stand still.
 */

/* Reads the result from the runtime. `start_ns` is on its clock. `result` must be all zero, and is
 * freed by replay_result_free. Returns 0 or -ENOMEM. */
int path_result_read(const struct runtime *runtime, const struct scenario *scenario,
                     uint64_t start_ns, struct replay_result *result);
void path_result_print(FILE *out, const char *command, const struct scenario *scenario,
                       const struct replay_result *result);

/*
 * The run of a path. Its parts are called in this order:
 *
 *   path_run_open     opens the files
 *   path_run_listen   makes the control socket
 *   path_run_start    opens the ports on the ends, and starts the workers
 *   path_run_serve    begins to serve the socket
 *   server_step and path_run_take, in turns
 *   path_run_end      ends all of this, from wherever it was
 *
 * Thread: control.
 */

struct recording;
struct server;
struct serving;

struct path_run {
	/* the caller's; `scenario` is replaced by each change */
	const struct path_words *words;
	const struct path_arguments *arguments;
	const char *line; /* the command line */
	struct scenario *scenario;
	uint32_t ports[PATH_ENDS];
	/* from here on all zero at first */
	struct scenario *as_begun; /* a copy, for log and picture */
	struct server *server;
	struct serving *serving;
	struct atomic_file *report;
	struct path_record *record;
	struct recording *recording; /* --record; or NULL */
	struct runtime *runtime;
	uint64_t start_ns; /* on the clock of the runtime */
};

/* These return 0, or -errno with problem. */
int path_run_open(struct path_run *run, struct problem *problem);
/* `path`: NULL is the default. Without `must`, a run that can have no socket there has none. */
int path_run_listen(struct path_run *run, const char *path, bool must, struct problem *problem);
int path_run_start(struct path_run *run, const struct tap_end ends[PATH_ENDS],
                   struct problem *problem);
int path_run_serve(struct path_run *run, struct problem *problem);

/* Writes what the workers have reported. */
void path_run_take(struct path_run *run);
/* Halts the workers, prints and publishes the result if `result`, and frees all but what is the
 * caller's. Returns 0, or the first error with its problem; later ones are logged. */
int path_run_end(struct path_run *run, bool result, struct problem *problem);

#endif
