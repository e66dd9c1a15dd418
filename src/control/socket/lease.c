/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/lease.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "socket/change.h"
#include "stream/event.h"

#define AGAIN_NS      SIMTIME_S
#define AGAIN_MOST_NS (60 * SIMTIME_S)
#define SLEEP_NS      SIMTIME_S

/* ---- all with the lock ---- */

static uint32_t index_of(const struct leases *leases, uint64_t number)
{
	uint32_t i = 0;

	while (i < leases->n && leases->lease[i]->number != number)
		i++;
	return i;
}

static struct lease *find(const struct control *control, uint64_t number)
{
	uint32_t i = index_of(&control->leases, number);

	return i < control->leases.n ? control->leases.lease[i] : NULL;
}

static void take_out(struct leases *leases, uint64_t number)
{
	uint32_t i = index_of(leases, number);

	lease_free(leases->lease[i]);
	leases->n--;
	memmove(&leases->lease[i], &leases->lease[i + 1],
	        (leases->n - i) * sizeof(leases->lease[0]));
}

void lease_begin(struct control *control, struct lease *lease, struct difference *difference)
{
	struct leases *leases = &control->leases;

	assert(leases->n < LEASES_MAX);
	lease->number = ++leases->latest;
	lease->difference = *difference;
	*difference = (struct difference){0};
	leases->lease[leases->n++] = lease;
}

/* ---- */

void lease_free(struct lease *lease)
{
	if (lease == NULL)
		return;
	difference_release(&lease->difference);
	free(lease);
}

void leases_free(struct control *control)
{
	while (control->leases.n > 0)
		lease_free(control->leases.lease[--control->leases.n]);
}

struct scenario *leases_undone(struct control *control)
{
	struct scenario *scenario = scenario_copy(*control->scenario);
	int error = 0;

	control_lock(control);
	/* The latest first, so that no lease lies below another. */
	for (uint32_t i = control->leases.n; scenario != NULL && error == 0 && i-- > 0;)
		error = difference_undo(&control->leases.lease[i]->difference, scenario, NULL);
	control_unlock(control);
	if (error == 0)
		return scenario;
	scenario_free(scenario);
	return NULL;
}

const char *leases_refuse(struct control *control)
{
	bool full;

	control_lock(control);
	full = control->leases.n == LEASES_MAX;
	control_unlock(control);
	return full ? "64 leases are under way, which is the maximum; nothing is changed; try "
	              "again when one has ended"
	            : NULL;
}

bool lease_is(struct control *control, uint64_t number)
{
	bool is;

	control_lock(control);
	is = find(control, number) != NULL;
	control_unlock(control);
	return is;
}

/* Returns 0, -ENOENT, or -EALREADY if its change is about to be undone. */
static int find_running(struct control *control, uint64_t number, struct lease **lease)
{
	*lease = find(control, number);
	if (*lease == NULL)
		return -ENOENT;
	return (*lease)->due ? -EALREADY : 0;
}

int lease_renew(struct control *control, uint64_t number, uint64_t *for_ns)
{
	struct lease *lease;
	int result;

	control_lock(control);
	result = find_running(control, number, &lease);
	if (result == 0) {
		lease->for_ns = *for_ns != 0 ? *for_ns : lease->for_ns;
		lease->until_ns = control_now_ns(control) + lease->for_ns;
		*for_ns = lease->for_ns;
	}
	control_unlock(control);
	return result;
}

int lease_keep(struct control *control, uint64_t number)
{
	struct lease *lease;
	int result;

	control_lock(control);
	result = find_running(control, number, &lease);
	if (result == 0) {
		event_tell(control, RUN_LOG_INFO, "lease-kept",
		           json_pack("{s:I}", "lease", (json_int_t)number),
		           "lease %" PRIu64 " was ended by keep; its change stays", number);
		take_out(&control->leases, number);
	}
	control_unlock(control);
	return result;
}

void lease_let_go(struct control *control, uint64_t number)
{
	struct lease *lease;

	control_lock(control);
	lease = find(control, number);
	if (lease != NULL && lease->end == LEASE_NOT_RENEWED)
		lease->end = LEASE_CONNECTION_ENDED;
	control_unlock(control);
}

/* ---- undoing: the change, in its turn ---- */

static int make(struct commit *commit, struct transaction **transaction)
{
	struct leases *leases = &commit->control->leases;
	struct lease *lease = commit->lease;
	int result = 0;

	/* Later leases get the values that lie below theirs. If that fails, it is done again. */
	control_lock(commit->control);
	for (uint32_t i = index_of(leases, lease->number) + 1; i < leases->n && result == 0; i++)
		result = difference_hand_down(&lease->difference, &leases->lease[i]->difference);
	control_unlock(commit->control);
	if (result == 0)
		result = batch_begin(&commit->batch, commit->control);
	if (result == 0)
		result = difference_undo(&lease->difference, commit->batch.draft, lease->kept);
	if (result == -ENOSPC)
		answer_error_set(&commit->error, "lease", ERROR_FULL,
		                 "a cloud has no room for what it had before");
	else if (result != 0)
		answer_error_set(&commit->error, "lease", ERROR_NO_MEMORY,
		                 "no memory to undo the change");
	if (result != 0)
		return result;
	commit->batch.edited = true;
	return batch_prepare(&commit->batch, commit->control, transaction, &commit->error);
}

static void posted(void *argument)
{
	static const struct {
		const char *word, *sentence;
	} ends[] = {[LEASE_NOT_RENEWED] = {"not-renewed", "it was not renewed"},
	            [LEASE_CONNECTION_ENDED] = {"connection-ended", "its connection ended"},
	            [LEASE_ASKED] = {"asked", "its owner asked for it"}};
	const struct commit *commit = argument;
	const struct lease *lease = commit->lease;
	json_t *clouds = json_array(), *kept = json_array();
	char whom[PEER_TEXT_BYTES];
	uint32_t n_kept = 0;

	for (uint32_t i = 0; i < lease->difference.n; i++) {
		const struct difference_cloud *cloud = &lease->difference.clouds[i];

		n_kept += lease->kept[i];
		if (i < EVENT_CLOUDS_MAX)
			json_array_append_new(clouds, json_string(cloud->name));
		if (lease->kept[i] && n_kept <= EVENT_CLOUDS_MAX)
			json_array_append_new(kept, json_string(cloud->name));
	}
	peer_text(&lease->who, whom);
	event_tell(commit->control, RUN_LOG_NOTICE, "change",
	           json_pack("{s:o,s:s,s:I,s:s,s:o,s:i,s:o}", "who", peer_json(&lease->who), "how",
	                     "revert", "lease", (json_int_t)lease->number, "why",
	                     ends[lease->end].word, "clouds", clouds, "clouds_in_all",
	                     (int)lease->difference.n, "kept", kept),
	           "lease %" PRIu64 " of %s is undone: %s%s", lease->number, whom,
	           ends[lease->end].sentence, n_kept > 0 ? "; later changes by others stay" : "");
}

/* ---- undoing: all with the lock ---- */

static void stuck(struct control *control, struct lease *lease, const char *why)
{
	bool told = lease->stuck[0] != '\0';

	snprintf(lease->stuck, sizeof(lease->stuck), "%.299s", why);
	lease->pause_ns = lease->pause_ns == 0 ? AGAIN_NS : 2 * lease->pause_ns;
	if (lease->pause_ns > AGAIN_MOST_NS)
		lease->pause_ns = AGAIN_MOST_NS;
	lease->again_ns = control_now_ns(control) + lease->pause_ns;
	if (told)
		return;
	event_tell(control, RUN_LOG_WARNING, "lease-stuck",
	           json_pack("{s:I,s:s}", "lease", (json_int_t)lease->number, "message", why),
	           "lease %" PRIu64 " has ended, but cannot be undone yet; weir keeps trying: %s",
	           lease->number, why);
}

/* Releases the lock meanwhile; the lease is gone if this returns 0. */
static int undo(struct control *control, struct lease *lease, const struct asker *asker)
{
	struct commit commit = {
	        .control = control, .asker = asker, .who = &lease->who, .lease = lease};
	int result;

	lease->due = lease->undoing = true;
	control_unlock(control);
	result = commit_run(&commit, make, posted);
	control_lock(control);
	lease->undoing = false;
	if (commit.number != 0)
		take_out(&control->leases, lease->number);
	else if (result != -ECANCELED)
		stuck(control, lease, commit.error.message);
	pthread_cond_broadcast(&control->changed);
	commit_release(&commit);
	return result;
}

/* Undoes what is due. Returns how long nothing more is; the lock was not released since that was
 * found. */
static uint64_t undo_due(struct control *control)
{
	for (;;) {
		struct lease *next = NULL;
		uint64_t at_ns = UINT64_MAX, now_ns;

		for (uint32_t i = 0; i < control->leases.n; i++) {
			struct lease *lease = control->leases.lease[i];
			uint64_t due_ns = simtime_max(lease->until_ns, lease->again_ns);

			if (lease->undoing || due_ns >= at_ns)
				continue;
			next = lease;
			at_ns = due_ns;
		}
		now_ns = control_now_ns(control);
		if (next == NULL || now_ns < at_ns || control->ends)
			return at_ns > now_ns ? at_ns - now_ns : 0;
		if (undo(control, next, NULL) == -ECANCELED)
			return SLEEP_NS;
	}
}

void leases_undo_due(struct control *control)
{
	control_lock(control);
	undo_due(control);
	control_unlock(control);
}

void leases_run(void *argument)
{
	struct control *control = argument;

	control_lock(control);
	while (!control->ends) {
		uint64_t sleep_ns;

		control_settle(control);
		sleep_ns = undo_due(control);
		if (!control->ends)
			control_wait(control, NULL, sleep_ns < SLEEP_NS ? sleep_ns : SLEEP_NS);
	}
	control_unlock(control);
}

int lease_revert(struct control *control, uint64_t number, const struct asker *asker,
                 char why[LEASE_WHY_BYTES])
{
	struct lease *lease;
	int result = -ENOENT;
	bool waits = true;

	control_lock(control);
	while ((lease = find(control, number)) != NULL && lease->undoing && waits) {
		waits = control_wait(control, asker, SLEEP_NS / 50);
		result = 0; /* its time was up; if it is gone now, it is undone */
	}
	if (lease != NULL) {
		if (!lease->due) {
			lease->end = LEASE_ASKED;
			lease->until_ns = 0; /* from now on it is due, even if this fails */
		}
		result = waits ? undo(control, lease, asker) : -ECANCELED;
		lease = find(control, number);
		snprintf(why, LEASE_WHY_BYTES, "%s", lease != NULL ? lease->stuck : "");
	}
	control_unlock(control);
	return result;
}
