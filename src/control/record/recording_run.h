/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recording or flight of `weir run` and `weir exec`. It begins before the runtime starts, and
 * its outcome is written when the workers stand still.
 *
 * Thread: control.
 */
#ifndef WEIR_RECORDING_RUN_H
#define WEIR_RECORDING_RUN_H

#include "live/runtime.h"
#include "packet/packet.h"
#include "record/recording.h"
#include "record/recording_folder.h"

/*
 * Finds what in a scenario needs more of a packet than a snap keeps: statements that read or write
 * bytes behind its headers (statement.h: beyond), and a `match` that compares bytes there. If there
 * is none, a recording that keeps only the beginning of packets gives the same fates as one of
 * whole packets. Statements of a schedule count, too.
 *
 * Thread: any.
 */

typedef void reach_say(void *argument, const char *line);

/* Does the same for what `before` does not have. */
void recording_reach_more(uint32_t snap, const struct scenario *before,
                          const struct scenario *scenario, reach_say *say, void *argument);
/* Does the same for a recording: the scenario of its beginning, including `--set` and `-c`, and its
 * changes, as the run reported them. `changes`: the rerun includes the changes. */
void recording_reach(const struct recording_folder *folder, bool changes, reach_say *say,
                     void *argument);

/* The options `--record DIR`, `--flight TIME|SIZE`, and those that belong to them. */
struct recording_arguments {
	const char *folder; /* NULL: no recording */
	uint64_t snap, limit_bytes;
	bool zstd;
	struct limit flight; /* LIMIT_NONE: no flight */
	const char *flight_on, *flight_to;
	uint64_t flight_held;
};

#define RECORDING_FLIGHT_BYTES_MIN (UINT64_C(8) << 20)

/* Less than the headers of a packet would be useless. */
#define RECORDING_SNAP_MIN  96
#define RECORDING_LIMIT_MIN (UINT64_C(1) << 20)

/* Rows of the command's table; the member is its struct recording_arguments, `record`. */
#define RECORDING_OPTIONS(arguments)                                                               \
	{OPTION("--record", FIELD_TEXT, arguments, record.folder, .form = "DIR",                   \
	        .help = "records all received packets and all changes into a folder; "             \
	                "`weir replay --recording DIR` repeats the run exactly")},                 \
	        {OPTION("--snap", FIELD_BYTES, arguments, record.snap, .min = RECORDING_SNAP_MIN,  \
	                .max = PACKET_BYTES_MAX,                                                   \
	                .help = "bytes recorded of each packet; all if not given")},               \
	        {OPTION("--limit", FIELD_BYTES, arguments, record.limit_bytes,                     \
	                .min = RECORDING_LIMIT_MIN, .max = UINT64_C(1) << 44,                      \
	                .help = "ends the recording at this size")},                               \
	        {OPTION("--zstd", FIELD_FLAG, arguments, record.zstd,                              \
	                .help = "compresses the recording while it is written")},                  \
	        {OPTION("--flight", FIELD_LIMIT, arguments, record.flight, .form = "TIME|SIZE",    \
	                .help = "keeps the latest received packets and changes in memory: `weir "  \
	                        "ctl flight dump DIR`, SIGUSR1 or an event makes a recording of "  \
	                        "them")},                                                          \
	        {OPTION("--flight-on", FIELD_TEXT, arguments, record.flight_on, .form = "EVENTS",  \
	                .help = "kinds of events that dump the flight, separated by commas; "      \
	                        "real-loss,stall if not given; none: no event does")},             \
	        {OPTION("--flight-to", FIELD_TEXT, arguments, record.flight_to, .form = "DIR",     \
	                .help = "folder of a flight's dump: DIR, a hyphen and the date; "          \
	                        "weir-flight if not given")},                                      \
	{                                                                                          \
		OPTION("--flight-held", FIELD_COUNT, arguments, record.flight_held, .min = 1,      \
		       .max = UINT64_C(1) << 24,                                                   \
		       .help = "takes a snapshot for the flight only while at most this many "     \
		               "packets are held; 16384 if not given")                             \
	}

/* Returns true if an option is wrong, or they do not fit together; `why` is a sentence then. */
#define RECORDING_WHY_BYTES 400
bool recording_arguments_wrong(const struct recording_arguments *arguments,
                               char why[RECORDING_WHY_BYTES]);

/* Fills in the plan. Returns false if there is nothing to record. */
bool recording_plan_of(const struct recording_arguments *arguments, struct recording_plan *plan);

/* Begins the recording; *recording is NULL if there is nothing to record. Returns 0, or -errno with
 * problem. */
int recording_run_begin(const struct recording_arguments *arguments,
                        const struct scenario *scenario, struct recording **recording,
                        struct problem *problem);
/* To be called before a change is posted: stores the files that the scenario names, and reports, in
 * the log and in changes.jsonl ahead of the change, what it adds that needs more than the snap.
 * Returns the text of the scenario, to be freed; NULL if a file could not be written, or there is
 * no memory. Thread: any. */
char *recording_run_change(struct recording *recording, const struct scenario *before,
                           const struct scenario *next);
/* Logs the size of a recording, and writes its outcome. Returns 0, or -errno with problem. */
int recording_run_end(const struct runtime *runtime, const struct scenario *scenario,
                      struct problem *problem);

#endif
