/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/lease.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "socket/dialogue.h"
#include "stream/event.h"

#define AGAIN_NS      SIMTIME_S
#define AGAIN_MOST_NS (60 * SIMTIME_S)

struct leases {
	struct control *control;
	struct dialogue dialogue;        /* the dialogue in which they are undone */
	struct lease *lease[LEASES_MAX]; /* in the order in which they came into force */
	uint32_t n;
	uint64_t latest;
	uint64_t undoing; /* the number of the lease being undone; 0: none */
};

uint32_t leases_count(const struct leases *leases)
{
	return leases != NULL ? leases->n : 0;
}

struct scenario *leases_undone(const struct leases *leases)
{
	struct scenario *scenario = scenario_copy(*leases->control->scenario);

	/* The latest first, so that no lease lies below another. */
	for (uint32_t i = leases->n; scenario != NULL && i-- > 0;) {
		if (difference_undo(&leases->lease[i]->difference, scenario, NULL) != 0) {
			scenario_free(scenario);
			return NULL;
		}
	}
	return scenario;
}

struct leases *leases_make(struct control *control)
{
	struct leases *leases = calloc(1, sizeof(*leases));

	if (leases == NULL)
		return NULL;
	leases->control = control;
	leases->dialogue.control = control;
	leases->dialogue.output.json = true;
	return leases;
}

void lease_free(struct lease *lease)
{
	if (lease == NULL)
		return;
	difference_release(&lease->difference);
	free(lease);
}

void leases_stop(struct leases *leases)
{
	if (leases != NULL)
		dialogue_release(&leases->dialogue);
}

void leases_free(struct leases *leases)
{
	if (leases == NULL)
		return;
	leases_stop(leases);
	while (leases->n > 0)
		lease_free(leases->lease[--leases->n]);
	free(leases);
}

static uint32_t index_of(const struct leases *leases, uint64_t number)
{
	uint32_t i = 0;

	while (leases != NULL && i < leases->n && leases->lease[i]->number != number)
		i++;
	return i;
}

static struct lease *find(const struct leases *leases, uint64_t number)
{
	uint32_t i = index_of(leases, number);

	return leases != NULL && i < leases->n ? leases->lease[i] : NULL;
}

static void take_out(struct leases *leases, uint64_t number)
{
	uint32_t i = index_of(leases, number);

	if (i == leases->n)
		return;
	lease_free(leases->lease[i]);
	leases->n--;
	memmove(&leases->lease[i], &leases->lease[i + 1],
	        (leases->n - i) * sizeof(leases->lease[0]));
}

const char *leases_refuse(const struct leases *leases)
{
	if (leases == NULL)
		return "there was no memory for leases when weir was started";
	if (leases->n == LEASES_MAX)
		return "64 leases are under way, which is the maximum; nothing is changed; try "
		       "again when one has ended";
	return NULL;
}

struct lease *lease_make(const struct peer *who, uint64_t for_ns)
{
	struct lease *lease = calloc(1, sizeof(*lease));

	if (lease == NULL)
		return NULL;
	lease->who = *who;
	lease->for_ns = for_ns;
	return lease;
}

/* Returns the time on the clock of the run. The instant of the round would not do: it precedes the
 * wait for clients, which may take as long as the shortest lease. */
static uint64_t run_ns(const struct leases *leases)
{
	return leases->control->ops->now_ns(leases->control->context);
}

uint64_t lease_begin(struct leases *leases, struct lease *lease, struct difference *difference)
{
	assert(leases_refuse(leases) == NULL);
	lease->number = ++leases->latest;
	lease->until_ns = run_ns(leases) + lease->for_ns;
	lease->difference = *difference;
	*difference = (struct difference){NULL, 0};
	leases->lease[leases->n++] = lease;
	return lease->number;
}

const struct lease *lease_find(const struct leases *leases, uint64_t number)
{
	return number != 0 ? find(leases, number) : NULL;
}

bool lease_renew(struct leases *leases, uint64_t number, uint64_t for_ns)
{
	struct lease *lease = find(leases, number);

	if (lease == NULL || lease->due)
		return false;
	lease->for_ns = for_ns != 0 ? for_ns : lease->for_ns;
	lease->until_ns = run_ns(leases) + lease->for_ns;
	return true;
}

bool lease_keep(struct leases *leases, uint64_t number)
{
	struct lease *lease = find(leases, number);

	if (lease == NULL || lease->due)
		return false;
	event_tell(leases->control, RUN_LOG_INFO, "lease-kept",
	           json_pack("{s:I}", "lease", (json_int_t)number),
	           "lease %" PRIu64 " was ended by keep; its change stays", number);
	take_out(leases, number);
	return true;
}

void lease_ask_end(struct leases *leases, uint64_t number)
{
	struct lease *lease = find(leases, number);

	if (lease == NULL || lease->due)
		return;
	lease->end = LEASE_ASKED;
	lease->until_ns = 0;
}

void lease_let_go(struct leases *leases, uint64_t number)
{
	struct lease *lease = find(leases, number);

	if (lease != NULL && lease->end == LEASE_NOT_RENEWED)
		lease->end = LEASE_CONNECTION_ENDED;
}

const char *lease_why(const struct lease *lease)
{
	static const char *const words[] = {[LEASE_NOT_RENEWED] = "not-renewed",
	                                    [LEASE_CONNECTION_ENDED] = "connection-ended",
	                                    [LEASE_ASKED] = "asked"};

	return words[lease->end];
}

int lease_hand_down(struct leases *leases, struct lease *lease)
{
	int error = 0;

	for (uint32_t i = index_of(leases, lease->number) + 1; i < leases->n && error == 0; i++)
		error = difference_hand_down(&lease->difference, &leases->lease[i]->difference);
	return error;
}

/* ---- undoing ---- */

static void stuck(struct leases *leases, struct lease *lease, const char *why)
{
	bool told = lease->stuck[0] != '\0';

	snprintf(lease->stuck, sizeof(lease->stuck), "%s", why);
	lease->pause_ns = lease->pause_ns == 0 ? AGAIN_NS : 2 * lease->pause_ns;
	if (lease->pause_ns > AGAIN_MOST_NS)
		lease->pause_ns = AGAIN_MOST_NS;
	lease->again_ns = run_ns(leases) + lease->pause_ns;
	if (told)
		return;
	event_tell(leases->control, RUN_LOG_WARNING, "lease-stuck",
	           json_pack("{s:I,s:s}", "lease", (json_int_t)lease->number, "message", why),
	           "lease %" PRIu64 " has ended, but cannot be undone yet; weir keeps trying: %s",
	           lease->number, why);
}

static void undone(struct leases *leases)
{
	struct output *output = &leases->dialogue.output;
	json_t *object = json_loadb(output->bytes + output->head, output->n, 0, NULL);
	const char *why =
	        json_string_value(json_object_get(json_object_get(object, "error"), "message"));
	struct lease *lease = find(leases, leases->undoing);

	if (json_is_true(json_object_get(object, "ok")))
		take_out(leases, leases->undoing);
	else if (lease != NULL)
		stuck(leases, lease, why != NULL ? why : "no memory");
	leases->undoing = 0;
	json_decref(object);
	output_taken(output, output->n);
	output->failed = false;
}

static void begin_next(struct leases *leases)
{
	uint64_t now_ns = run_ns(leases);

	for (uint32_t i = 0; i < leases->n; i++) {
		struct lease *lease = leases->lease[i];

		if (now_ns < lease->until_ns || now_ns < lease->again_ns)
			continue;
		lease->due = true;
		leases->undoing = lease->number;
		pending_revert(&leases->dialogue, lease);
		return;
	}
}

bool leases_poll(struct leases *leases, uint64_t now_ns)
{
	struct dialogue *dialogue = &leases->dialogue;

	dialogue->now_ns = now_ns;
	if (leases->undoing == 0)
		begin_next(leases);
	if (leases->undoing == 0)
		return false;
	dialogue_poll(dialogue);
	if (!dialogue_pending(dialogue))
		undone(leases);
	return true;
}
