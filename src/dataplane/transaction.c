/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of a running emulator. What can be refused is refused before any worker hears of it; once
 * a change is posted, every worker takes it.
 */
#include <errno.h>
#include <string.h>

#include "runtime_state.h"

/* A worker comes round within microseconds. One that does not for so long has stalled. */
#define ANSWER_NS (10 * SIMTIME_S)

struct transaction {
	uint32_t n;
	struct letter letters[WORKERS_MAX];
	uint32_t workers[WORKERS_MAX];
};

/* The most bytes of packets that runtime_insert takes. */
#define INSERTION_BYTES 32768

static void withdraw(struct transaction *transaction)
{
	for (uint32_t i = 0; i < transaction->n; i++)
		change_free(transaction->letters[i].change);
}

static int prepare(struct runtime *runtime, const struct scenario *next,
                   struct transaction *transaction, struct problem *problem)
{
	bool owned[SCENARIO_PORTS_MAX];

	transaction->n = 0;
	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		struct letter *letter = &transaction->letters[transaction->n];
		int rc;

		if (!runtime->workers[i].engine)
			continue;
		layout_owned(runtime, i, owned);
		letter->kind = LETTER_CHANGE;
		rc = change_prepare(runtime->workers[i].engine, next, owned, &letter->change,
		                    problem);
		if (rc < 0) {
			withdraw(transaction);
			return rc;
		}
		transaction->workers[transaction->n++] = i;
	}
	return 0;
}

/* Posts every letter and waits for every answer. */
static int deliver(struct runtime *runtime, struct transaction *transaction,
                   struct problem *problem)
{
	for (uint32_t i = 0; i < transaction->n; i++)
		mailbox_post(&runtime->workers[transaction->workers[i]].mailbox,
		             &transaction->letters[i]);
	for (uint32_t i = 0; i < transaction->n; i++) {
		const struct worker *worker = &runtime->workers[transaction->workers[i]];

		if (letter_wait(&transaction->letters[i], ANSWER_NS))
			continue;
		runtime->lost_letter = true;
		problem_set(
		        problem, -1,
		        "worker %u on processor %u has not taken the change for 10 s: it stands "
		        "still; the change will be in force there when it comes round",
		        transaction->workers[i], worker->cpu);
		return -ETIMEDOUT;
	}
	return 0;
}

int transaction_first(struct runtime *runtime, struct problem *problem)
{
	struct transaction transaction;
	int rc = prepare(runtime, runtime->scenario, &transaction, problem);

	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < transaction.n; i++)
		engine_apply(runtime->workers[transaction.workers[i]].engine,
		             transaction.letters[i].change, 0);
	withdraw(&transaction);
	return 0;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_setting(const struct conf *a, const struct conf *b)
{
	return a == b || (a && b && conf_equal(a, b));
}

static int check_next(const struct runtime *runtime, const struct scenario *next,
                      struct problem *problem)
{
	const struct scenario *now = runtime->scenario;
	bool same = now->n_ports == next->n_ports;

	for (uint32_t i = 0; same && i < now->n_ports; i++)
		same = strcmp(now->ports[i].name, next->ports[i].name) == 0 &&
		       same_text(now->ports[i].device, next->ports[i].device) &&
		       same_setting(now->ports[i].setting, next->ports[i].setting);
	if (!same) {
		problem_set(
		        problem, -1,
		        "ports cannot change while packets flow: stop weir, change the file, and "
		        "start it again");
		return -EINVAL;
	}
	if (now->seed != next->seed) {
		problem_set(
		        problem, -1,
		        "the seed of a run is chosen at its start (now %llu): stop weir, change "
		        "the file, and start it again",
		        (unsigned long long)now->seed);
		return -EINVAL;
	}
	if (runtime->lost_letter) {
		problem_set(problem, -1,
		            "a worker has not taken the change before; no further one is possible");
		return -EBUSY;
	}
	return 0;
}

/* Whether a cloud of `now` is gone, or leads elsewhere, in `next`. */
static bool removes_cloud(const struct scenario *now, const struct scenario *next)
{
	for (uint32_t i = 0; i < now->n_clouds; i++) {
		const struct cloud_conf *cloud = now->clouds[i];
		int at = i < next->n_clouds && strcmp(next->clouds[i]->name, cloud->name) == 0
		                 ? (int)i
		                 : scenario_find_cloud(next, cloud->name);

		if (at < 0 || strcmp(next->clouds[at]->from, cloud->from) != 0 ||
		    strcmp(next->clouds[at]->to, cloud->to) != 0)
			return true;
	}
	return false;
}

int runtime_change(struct runtime *runtime, const struct scenario *next, struct problem *problem)
{
	/* Static: letters must outlive a worker that does not answer. */
	static struct transaction transaction;
	struct scenario *copy;
	int rc = check_next(runtime, next, problem);

	if (rc < 0)
		return rc;
	copy = scenario_copy(next);
	if (!copy) {
		problem_set(problem, -1, "no memory for the new scenario");
		return -ENOMEM;
	}
	rc = prepare(runtime, next, &transaction, problem);
	if (rc < 0) {
		scenario_free(copy);
		return rc;
	}
	runtime->changed_clouds |= removes_cloud(runtime->scenario, next);
	scenario_free(runtime->scenario);
	runtime->scenario = copy;
	rc = deliver(runtime, &transaction, problem);
	if (rc == 0)
		withdraw(&transaction);
	return rc;
}

int runtime_clear(struct runtime *runtime)
{
	static struct transaction transaction;
	struct problem problem;

	if (runtime->lost_letter)
		return -EBUSY;
	transaction.n = runtime->n_workers;
	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		transaction.letters[i] = (struct letter){.kind = LETTER_CLEAR};
		transaction.workers[i] = i;
	}
	for (uint32_t port = 0; port < runtime->n_ports; port++)
		port_losses(&runtime->ports[port], &runtime->cleared[port]);
	for (uint32_t i = 0; i < runtime->n_workers; i++)
		runtime->watches[i].stalls = 0;
	runtime->cleared_ever = true;
	return deliver(runtime, &transaction, &problem);
}

int runtime_insert(struct runtime *runtime, const struct insertion *insertion,
                   struct problem *problem)
{
	/* Static: what a worker that does not answer still has must outlive this call. */
	static struct transaction transaction;
	static uint8_t frames[INSERTION_BYTES];
	static char cloud[SCENARIO_NAME_BYTES];
	static struct insertion copy;
	size_t bytes = (size_t)insertion->n * insertion->frame_bytes;

	if (runtime->lost_letter || bytes > sizeof(frames)) {
		problem_set(problem, -1,
		            runtime->lost_letter
		                    ? "a worker stands still; nothing can be sent through it"
		                    : "more packets than fit in %d bytes",
		            INSERTION_BYTES);
		return -EBUSY;
	}
	memcpy(frames, insertion->frames, bytes);
	strncpy(cloud, insertion->cloud, sizeof(cloud) - 1);
	copy = (struct insertion){cloud, insertion->n, insertion->frame_bytes, frames};
	transaction.n = 0;
	for (uint32_t i = 0; i < runtime->n_workers; i++) {
		if (!runtime->workers[i].engine)
			continue;
		transaction.letters[transaction.n] =
		        (struct letter){.kind = LETTER_INSERTION, .insertion = &copy};
		transaction.workers[transaction.n++] = i;
	}
	return deliver(runtime, &transaction, problem);
}
