/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of a running emulator. What can be refused is refused before any worker receives it. Once
 * a change is posted, every worker takes it at the end of a poll, however long that poll lasts.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "change/change.h"
#include "live/runtime_state.h"
#include "record/recording.h"

/* The most bytes of packets in a transaction. */
#define INSERTION_BYTES 32768

struct transaction {
	struct runtime *runtime;
	bool posted, clears, removes_cloud;
	char *text;                /* of the scenario, for the recording; or NULL */
	struct scenario *scenario; /* of a change: the next one; after posting, the previous one */
	struct insertion insertion;
	char cloud[SCENARIO_NAME_BYTES]; /* of the insertion */
	uint8_t *frames;
	uint32_t n;
	struct message messages[WORKERS_MAX];
	uint32_t workers[WORKERS_MAX];
};

void transaction_finish(struct transaction *transaction)
{
	if (!transaction)
		return;
	if (transaction->posted)
		transaction->runtime->posted = NULL;
	for (uint32_t i = 0; i < transaction->n; i++) {
		if (transaction->messages[i].kind == MESSAGE_CHANGE)
			change_free(transaction->messages[i].change);
	}
	scenario_free(transaction->scenario);
	free(transaction->text);
	free(transaction->frames);
	free(transaction);
}

static struct transaction *transaction_make(struct runtime *runtime)
{
	struct transaction *transaction = calloc(1, sizeof(*transaction));

	if (transaction)
		transaction->runtime = runtime;
	return transaction;
}

static void message_add(struct transaction *transaction, uint32_t worker, struct message message)
{
	transaction->messages[transaction->n] = message;
	transaction->workers[transaction->n++] = worker;
}

static int prepare(struct runtime *runtime, const struct scenario *next,
                   struct transaction *transaction, struct problem *problem)
{
	bool owned[SCENARIO_PORTS_MAX];

	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		struct message message = {.kind = MESSAGE_CHANGE};
		int rc;

		if (!runtime->workers[i].engine)
			continue;
		layout_owned(runtime, i, owned);
		rc = change_prepare(runtime->workers[i].engine, next, owned, &message.change,
		                    problem);
		if (rc < 0)
			return rc;
		message_add(transaction, i, message);
		transaction->removes_cloud |= change_removes(message.change);
	}
	return 0;
}

int transaction_first(struct runtime *runtime, struct problem *problem)
{
	struct transaction *transaction = transaction_make(runtime);
	int rc = -ENOMEM;

	problem_set(problem, -1, "no memory for the scenario");
	if (transaction)
		rc = prepare(runtime, runtime->scenario, transaction, problem);
	for (uint32_t i = 0; rc == 0 && i < transaction->n; i++)
		engine_apply(runtime->workers[transaction->workers[i]].engine,
		             transaction->messages[i].change, 0);
	transaction_finish(transaction);
	return rc;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static int check_next(const struct runtime *runtime, const struct scenario *next,
                      struct problem *problem)
{
	const struct scenario *now = runtime->scenario;
	bool same = now->n_ports == next->n_ports;

	for (uint32_t i = 0; same && i < now->n_ports; i++)
		same = strcmp(now->ports[i].name, next->ports[i].name) == 0 &&
		       same_text(now->ports[i].device, next->ports[i].device) &&
		       conf_equal(now->ports[i].setting, next->ports[i].setting);
	if (!same)
		return problem_set(
		        problem, -1,
		        "ports cannot change while packets flow: stop weir, change the file, and "
		        "start it again");
	if (now->seed != next->seed)
		return problem_set(
		        problem, -1,
		        "the seed of a run is chosen at its start (now %llu): stop weir, change "
		        "the file, and start it again",
		        (unsigned long long)now->seed);
	return 0;
}

/* ---- making a transaction ---- */

int transaction_change(struct runtime *runtime, const struct scenario *next,
                       struct transaction **result, struct problem *problem)
{
	struct transaction *transaction;
	int rc = check_next(runtime, next, problem);

	if (rc < 0)
		return rc;
	transaction = transaction_make(runtime);
	if (!transaction || !(transaction->scenario = scenario_copy(next))) {
		transaction_finish(transaction);
		problem_set(problem, -1, "no memory for the new scenario");
		return -ENOMEM;
	}
	rc = prepare(runtime, next, transaction, problem);
	if (rc < 0)
		transaction_finish(transaction);
	else
		*result = transaction;
	return rc;
}

int transaction_clear(struct runtime *runtime, struct transaction **result)
{
	struct transaction *transaction = transaction_make(runtime);

	if (!transaction)
		return -ENOMEM;
	transaction->clears = true;
	for (uint32_t i = 0; i < runtime->n_workers; i++)
		message_add(transaction, i, (struct message){.kind = MESSAGE_CLEAR});
	*result = transaction;
	return 0;
}

int transaction_insertion(struct runtime *runtime, const struct insertion *insertion,
                          struct transaction **result, struct problem *problem)
{
	size_t bytes = (size_t)insertion->n * insertion->frame_bytes;
	struct transaction *transaction;

	if (bytes > INSERTION_BYTES) {
		problem_set(problem, -1, "more packets than fit in %d bytes", INSERTION_BYTES);
		return -EBUSY;
	}
	transaction = transaction_make(runtime);
	if (!transaction || !(transaction->frames = malloc(bytes + 1))) {
		transaction_finish(transaction);
		problem_set(problem, -1, "no memory for the packets");
		return -ENOMEM;
	}
	memcpy(transaction->frames, insertion->frames, bytes);
	strncpy(transaction->cloud, insertion->cloud, sizeof(transaction->cloud) - 1);
	transaction->insertion = (struct insertion){transaction->cloud, insertion->n,
	                                            insertion->frame_bytes, transaction->frames};
	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		if (runtime->workers[i].engine)
			message_add(transaction, i,
			            (struct message){.kind = MESSAGE_INSERTION,
			                             .insertion = &transaction->insertion});
	}
	*result = transaction;
	return 0;
}

/* ---- from control to the workers ---- */

/* Numbers the transaction, and records its text. This happens before any worker gets it, so that
 * the number that a worker records refers to a known text. */
static void record(struct transaction *transaction, uint64_t number)
{
	struct recording *recording = transaction->runtime->options.recording;

	for (uint32_t i = 0; i < transaction->n; i++)
		transaction->messages[i].number = number;
	if (recording && transaction->text)
		recording_change(recording, number, transaction->text);
	transaction->text = NULL;
}

void transaction_describe(struct transaction *transaction, char *text)
{
	free(transaction->text);
	transaction->text = text;
}

void transaction_post(struct transaction *transaction)
{
	struct runtime *runtime = transaction->runtime;
	struct scenario *before = runtime->scenario;

	assert(!runtime->posted);
	runtime->posted = transaction;
	transaction->posted = true;
	runtime->changed_clouds |= transaction->removes_cloud;
	if (transaction->scenario) {
		runtime->scenario = transaction->scenario;
		transaction->scenario = before;
		record(transaction, ++runtime->changes);
	}
	if (transaction->clears) {
		/* What control itself has counted. */
		for (uint32_t port = 0; port < runtime->n_ports; port++)
			port_losses(&runtime->ports[port], &runtime->cleared[port]);
		for (uint32_t i = 0; i < runtime->n_workers; i++)
			runtime->watches[i].stalls = 0;
		runtime->cleared_ever = true;
	}
	/* At most one transaction and one set of taps wait in a mailbox, so there is room. */
	for (uint32_t i = 0; i < transaction->n; i++)
		mailbox_post(&runtime->workers[transaction->workers[i]].mailbox,
		             &transaction->messages[i]);
}

bool transaction_taken(const struct transaction *transaction, uint64_t wait_ns)
{
	for (uint32_t i = 0; i < transaction->n; i++) {
		if (!message_wait(&transaction->messages[i], wait_ns))
			return false;
	}
	return true;
}

bool transaction_missing(const struct transaction *transaction, uint32_t *worker, uint32_t *cpu)
{
	for (uint32_t i = 0; i < transaction->n; i++) {
		if (message_wait(&transaction->messages[i], 0))
			continue;
		*worker = transaction->workers[i];
		*cpu = transaction->runtime->workers[*worker].cpu;
		return true;
	}
	return false;
}

/* The taps of a runtime. One set of taps is posted at a time, and taken by every worker. */

/* ---- sets ---- */

static struct tap_set *set_of(const struct runtime_taps *taps)
{
	struct tap_set *set = calloc(1, sizeof(*set));

	for (uint32_t i = 0; set && i < taps->n; i++) {
		if (taps->taps[i]->ended)
			continue;
		set->kinds |= taps->taps[i]->plan.kinds;
		set->taps[set->n++] = taps->taps[i];
	}
	return set;
}

static bool all_taken(const struct runtime *runtime)
{
	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		if (!message_wait(&runtime->taps.messages[i], 0))
			return false;
	}
	return true;
}

/* Completes the posted set if all workers have taken it, and posts the next one if
 * the taps have changed. */
static void runtime_taps_step(struct runtime *runtime)
{
	struct runtime_taps *taps = &runtime->taps;
	struct tap_set *set;

	if (!runtime->running)
		return;
	if (taps->posted && all_taken(runtime)) {
		/* The set before it is freed, and so are the ended taps that are in no set. */
		uint32_t kept = 0;

		free(taps->force);
		taps->force = taps->posted;
		taps->posted = NULL;
		for (uint32_t i = 0; i < taps->n; i++) {
			bool there = false;

			for (uint32_t k = 0; k < taps->force->n; k++)
				there |= taps->force->taps[k] == taps->taps[i];
			if (taps->taps[i]->ended && !there)
				tap_free(taps->taps[i]);
			else
				taps->taps[kept++] = taps->taps[i];
		}
		taps->n = kept;
	}
	if (taps->posted || !taps->changed)
		return;
	set = set_of(taps);
	if (!set)
		return; /* it is posted at a later step */
	taps->posted = set;
	taps->changed = false;
	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		taps->messages[i] = (struct message){.kind = MESSAGE_TAPS, .taps = set};
		/* At most one transaction and one set wait in a mailbox, so there is room. */
		mailbox_post(&runtime->workers[i].mailbox, &taps->messages[i]);
	}
}

/* Returns true if each worker has completed the poll that was under way at the beat, and another
 * one, and has advanced to the beat. By then, everything that happened before it has been
 * executed. */
static bool beat_is_over(const struct runtime *runtime)
{
	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		uint64_t polls = __atomic_load_n(&runtime->workers[i].polls, __ATOMIC_ACQUIRE);

		if (polls < runtime->taps.beat_polls[i] + 2 ||
		    __atomic_load_n(&runtime->workers[i].done_ns, __ATOMIC_ACQUIRE) <
		            runtime->taps.beat_ns)
			return false;
	}
	return true;
}

void runtime_taps_beat(struct runtime *runtime)
{
	struct runtime_taps *taps = &runtime->taps;

	runtime_taps_step(runtime);
	if (taps->n == 0 || !runtime->running || !beat_is_over(runtime))
		return;
	for (uint32_t i = 0; i < taps->n; i++)
		fate_memory_settle(taps->taps[i]->memory, taps->beat_ns);
	for (uint32_t i = 0; i < runtime->n_workers; i++)
		taps->beat_polls[i] = __atomic_load_n(&runtime->workers[i].polls, __ATOMIC_ACQUIRE);
	taps->beat_ns = clock_now(&runtime->clock);
}

void runtime_taps_free(struct runtime *runtime)
{
	struct runtime_taps *taps = &runtime->taps;

	while (taps->n > 0)
		tap_free(taps->taps[--taps->n]);
	free(taps->posted);
	free(taps->force);
	taps->posted = taps->force = NULL;
}

/* ---- one tap ---- */

int runtime_tap_begin(struct runtime *runtime, struct tap *tap, int64_t wall_ns)
{
	struct runtime_taps *taps = &runtime->taps;

	if (taps->n == TAPS_MAX)
		return -EBUSY;
	fate_memory_begin(tap->memory, runtime->scenario, wall_ns);
	taps->taps[taps->n++] = tap;
	taps->changed = true;
	runtime_taps_step(runtime);
	return 0;
}

bool runtime_tap_is_on(struct runtime *runtime, const struct tap *tap)
{
	const struct tap_set *set;

	runtime_taps_step(runtime);
	set = runtime->taps.force;
	for (uint32_t i = 0; set && i < set->n; i++) {
		if (set->taps[i] == tap)
			return true;
	}
	return false;
}

void runtime_tap_end(struct runtime *runtime, struct tap *tap)
{
	tap->ended = true;
	runtime->taps.changed = true;
	runtime_taps_step(runtime);
}
