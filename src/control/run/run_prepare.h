/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `weir run` and `weir exec` share before a live scenario starts: how workers rest, the seed,
 * and memory that this process can have.
 *
 * Thread: control.
 */
#ifndef WEIR_RUN_PREPARE_H
#define WEIR_RUN_PREPARE_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#include "live/runtime.h"
#include "options/options.h"
#include "record/recording_run.h"
#include "scenario/scenario.h"

/*
 * The options of `weir run` and `weir exec` about workers on a machine that is shared: --sleep and
 * --priority. Neither is needed: workers choose by their processors, their ports and their rights.
 */

struct rest_arguments {
	bool sleep_given;
	uint64_t sleep_ns; /* 0: `none` */
	bool priority_given;
	struct priority priority;
};

int rest_take_sleep(const struct field *field, char *text, void *arguments,
                    struct language_error *error);
int rest_take_priority(const struct field *field, char *text, void *arguments,
                       struct language_error *error);

/* The arguments must have a member `struct rest_arguments rest`. */
#define REST_OPTION_SLEEP(arguments)                                                               \
	OPTION("--sleep", FIELD_TIME, arguments, rest, .form = "TIME|none",                        \
	       .help = "how long an idle worker sleeps at most (1us to 10ms); none: it polls; if " \
	               "not given, until a packet comes or leaves, where its ports can wake it"),  \
	        .take = rest_take_sleep
#define REST_OPTION_PRIORITY(arguments)                                                            \
	OPTION("--priority", FIELD_TEXT, arguments, rest, .form = "PRIORITY",                      \
	       .help = "of workers that sleep: fifo or fifo:N (SCHED_FIFO, 1 to 99), slice (a "    \
	               "time slice of 300us) or none; if not given, the first that is permitted"), \
	        .take = rest_take_priority

/* Sets what workers do. `chosen`: if --sleep is not given. */
void rest_options_set(const struct rest_arguments *arguments, enum runtime_rest chosen,
                      struct runtime_options *options);

/* Lets all threads run on every processor that the process may use. The EAL binds each thread to
 * one, but a thread that sleeps wakes up soonest on an idle one. */
void rest_let_move(const cpu_set_t *allowed);
/* Returns true if all workers sleep. */
bool rest_is_possible(const struct runtime *runtime);
/* Logs of each worker that it sleeps, and its priority; or that it polls where it should not.
 * `moves`: it may run on every processor. */
void rest_say(const struct rest_arguments *arguments, const struct runtime *runtime, bool moves,
              enum run_log_level level);

/* Gives up what is not needed any more, when the ports are open and the workers run: neither for
 * these, nor for the `files` that are made or removed from now on (NULL among them is none), the
 * recording and the dumps. Logs a warning if that fails: as for a thread that blocks signals
 * (privileges.h). */
#define RUN_FILES_MAX 8
void run_give_up_privileges(const struct runtime *runtime, const struct recording_arguments *record,
                            const char *const *files, size_t n);

/* Prepares a live scenario before it starts: a seed, and memory that this process can have. */

/* Logs warnings about a scenario that is odd but can run (scenario_warn). */
void run_warn(const struct scenario *scenario);
/* Chooses a seed if none was given. It is short, because someone may have to type it. */
void run_seed_choose(struct scenario *scenario);
struct run_memory {
	const char *config;   /* the scenario's name, for messages */
	uint64_t asked_bytes; /* of --memory; 0: not given */
	uint64_t port_bps;    /* how fast packets come in without a `rate`; 0: BUDGET_PORT_BPS */
	uint32_t workers;
	const struct recording_arguments *record;
};
/* Sets the memory of `options`. Returns 0, or -errno with message if this process cannot have
 * it. */
int run_memory_size(const struct scenario *scenario, const struct run_memory *asked,
                    struct runtime_options *options, char *message, size_t room);

#endif
