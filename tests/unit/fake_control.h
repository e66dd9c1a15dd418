/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fake emulator for tests of the control socket: it takes every change unless it is told to
 * refuse, counts the calls, and reports the counters that the test sets.
 */
#ifndef WEIR_FAKE_CONTROL_H
#define WEIR_FAKE_CONTROL_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/engine_report.h"
#include "language/scenario_file.h"
#include "live/tap.h"
#include "service/control.h"
#include "socket/session.h"

struct fake {
	struct scenario *scenario;
	struct control control;
	uint32_t changes, clears;
	uint32_t inserted; /* packets */
	char inserted_into[SCENARIO_NAME_BYTES];
	uint8_t inserted_first[128]; /* the first bytes of the first packet */
	bool refuse;
	bool stands_still;  /* the worker does not take what is posted */
	uint32_t under_way; /* transactions not finished yet */
	uint64_t now_ns;
	struct cloud_report report; /* reported for every cloud */
	const char *one;            /* the full name of a cloud of a template; or NULL */
	struct cloud_report one_report;
	struct port_report port;     /* reported for every port, except its name */
	struct worker_report worker; /* reported for the only worker */
	struct tap *tap;             /* the tap that has begun */
};

/* The fake's transaction: what it does when it is posted. */
struct transaction {
	enum { FAKE_CHANGE, FAKE_CLEAR, FAKE_INSERTION } kind;
};

static int fake_transaction(struct fake *fake, int kind, struct transaction **transaction)
{
	*transaction = calloc(1, sizeof(**transaction));
	if (*transaction == NULL)
		return -ENOMEM;
	(*transaction)->kind = kind;
	fake->under_way++;
	return 0;
}

static int fake_change(void *context, const struct scenario *next, struct transaction **transaction,
                       struct problem *problem)
{
	struct fake *fake = context;

	(void)next;
	if (fake->refuse) {
		problem_set(problem, -1, "the memory would not do: 3 GB of 1 GB");
		return -ENOMEM;
	}
	return fake_transaction(fake, FAKE_CHANGE, transaction);
}

static int fake_clear(void *context, struct transaction **transaction)
{
	return fake_transaction(context, FAKE_CLEAR, transaction);
}

static int fake_insert(void *context, const struct insertion *insertion,
                       struct transaction **transaction, struct problem *problem)
{
	struct fake *fake = context;

	if (fake->refuse) {
		problem_set(problem, -1, "a worker stands still");
		return -EBUSY;
	}
	fake->inserted += insertion->n;
	strcpy(fake->inserted_into, insertion->cloud);
	memcpy(fake->inserted_first, insertion->frames, insertion->frame_bytes);
	return fake_transaction(fake, FAKE_INSERTION, transaction);
}

static void fake_post(void *context, struct transaction *transaction)
{
	struct fake *fake = context;

	fake->changes += transaction->kind == FAKE_CHANGE;
	fake->clears += transaction->kind == FAKE_CLEAR;
	if (transaction->kind == FAKE_CLEAR)
		memset(&fake->report, 0, sizeof(fake->report));
}

static bool fake_taken(void *context, const struct transaction *transaction)
{
	(void)transaction;
	return !((struct fake *)context)->stands_still;
}

static void fake_missing(void *context, const struct transaction *transaction, char *text,
                         size_t size)
{
	(void)context;
	(void)transaction;
	snprintf(text, size, "worker 1 on processor 3");
}

static void fake_finish(void *context, struct transaction *transaction)
{
	__atomic_sub_fetch(&((struct fake *)context)->under_way, 1, __ATOMIC_RELAXED);
	free(transaction);
}

/* Taps of the fake: no worker puts anything into them. */
static int fake_tap_begin(void *context, struct tap *tap, int64_t wall_ns)
{
	struct fake *fake = context;

	(void)wall_ns;
	if (fake->tap)
		return -EBUSY;
	fake->tap = tap;
	return 0;
}

static bool fake_tap_is_on(void *context, const struct tap *tap)
{
	struct fake *fake = context;

	return fake->tap == tap && !fake->stands_still;
}

static void fake_tap_end(void *context, struct tap *tap)
{
	((struct fake *)context)->tap = NULL;
	tap_free(tap);
}

static bool fake_cloud(void *context, const char *name, struct cloud_report *report)
{
	struct fake *fake = context;

	if (fake->one && strcmp(name, fake->one) == 0) {
		*report = fake->one_report;
		return true;
	}
	*report = fake->report;
	return scenario_find_cloud(fake->scenario, name) >= 0;
}

/* Every cloud has one brief; `one` is the only cloud of its template. */
static uint32_t fake_briefs(void *context, const char *name, uint32_t from, uint32_t n,
                            struct cloud_brief *briefs)
{
	struct fake *fake = context;
	int index = scenario_find_cloud(fake->scenario, name);
	const struct cloud_report *report = &fake->report;

	if (index < 0 || n == 0 || from > 0)
		return 0;
	if (fake->one && fake->scenario->clouds[index]->many)
		report = &fake->one_report;
	*briefs = (struct cloud_brief){.counters = report->counters,
	                               .held_packets = report->held_packets,
	                               .queue_packets = report->queue_packets,
	                               .queue_bytes = report->queue_bytes};
	return 1;
}

static bool fake_brief_name(void *context, const char *name, uint32_t index, char *text,
                            size_t room)
{
	struct fake *fake = context;
	int cloud = scenario_find_cloud(fake->scenario, name);

	if (cloud < 0 || index > 0)
		return false;
	snprintf(text, room, "%s",
	         fake->one && fake->scenario->clouds[cloud]->many ? fake->one : name);
	return true;
}

static bool fake_delays(void *context, const char *name, struct histogram *delays)
{
	struct fake *fake = context;

	*delays = fake->report.delay_ns;
	return scenario_find_cloud(fake->scenario, name) >= 0;
}

static bool fake_port(void *context, uint32_t port, struct port_report *report)
{
	struct fake *fake = context;

	*report = fake->port;
	if (port >= fake->scenario->n_ports)
		return false;
	report->name = fake->scenario->ports[port].name;
	report->device = fake->scenario->ports[port].device;
	return true;
}

static bool fake_worker(void *context, uint32_t worker, struct worker_report *report)
{
	*report = ((struct fake *)context)->worker;
	return worker == 0;
}

static uint32_t fake_ports(void *context)
{
	return ((struct fake *)context)->scenario->n_ports;
}

static uint32_t fake_workers(void *context)
{
	(void)context;
	return 1;
}

static uint64_t fake_now_ns(void *context)
{
	/* Another thread may read it while the test advances the time. */
	return __atomic_load_n(&((struct fake *)context)->now_ns, __ATOMIC_RELAXED);
}

static const struct control_ops fake_ops = {
        .change = fake_change,
        .clear = fake_clear,
        .insert = fake_insert,
        .post = fake_post,
        .taken = fake_taken,
        .missing = fake_missing,
        .finish = fake_finish,
        .tap_begin = fake_tap_begin,
        .tap_is_on = fake_tap_is_on,
        .tap_end = fake_tap_end,
        .cloud = fake_cloud,
        .briefs = fake_briefs,
        .brief_name = fake_brief_name,
        .delays = fake_delays,
        .port = fake_port,
        .worker = fake_worker,
        .ports = fake_ports,
        .workers = fake_workers,
        .now_ns = fake_now_ns,
};

/* Returns false if the text is no scenario. */
static inline bool fake_start(struct fake *fake, const char *text)
{
	char message[SCENARIO_FILE_ERROR];

	memset(fake, 0, sizeof(*fake));
	if (scenario_text_load(text, strlen(text), "fake", &fake->scenario, message,
	                       sizeof(message)) != 0)
		return false;
	fake->port.driver = "net_fake";
	fake->port.link_up = true;
	fake->port.link_bps = UINT64_C(10000000000);
	fake->worker.role = "run-to-completion";
	control_init(&fake->control, &fake_ops, fake, &fake->scenario);
	return true;
}

static inline void fake_stop(struct fake *fake)
{
	control_close(&fake->control, SIMTIME_S);
	if (fake->control.transaction != NULL)
		fake_finish(fake, fake->control.transaction);
	scenario_free(fake->scenario);
}

/* Removes the lines that say what changes have replaced, for tests that are about something else.
 * Returns the text. */
static inline char *without_was(char *text)
{
	for (char *line = text; *line != '\0';) {
		char *end = line + strcspn(line, "\n");

		end += *end == '\n';
		if (strncmp(line, SESSION_WAS, strlen(SESSION_WAS)) == 0)
			memmove(line, end, strlen(end) + 1);
		else
			line = end;
	}
	return text;
}

#endif
