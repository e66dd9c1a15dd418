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
#include <unistd.h>

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
	bool holds;         /* atomic; no change is prepared before this is false */
	bool frees_late;    /* atomic; nothing that was replaced is freed before this is false */
	uint32_t under_way; /* transactions not finished yet */
	uint64_t now_ns;
	struct cloud_report report; /* reported for every cloud */
	const char *one;            /* the full name of a cloud of a template; or NULL */
	struct cloud_report one_report;
	struct port_report port;     /* reported for every port, except its name */
	struct worker_report worker; /* reported for the only worker */
	struct tap *tap;             /* the tap that has begun */
	/* Called while a thread waits, after the clock has advanced by that time; not while it is
	 * called already. NULL: nothing happens meanwhile. */
	void (*meanwhile)(void *argument);
	void *argument;
	bool in_meanwhile;
};

static struct fake *fake_of(const struct runtime *context)
{
	return (struct fake *)(uintptr_t)context;
}

/* The fake's transaction: what it does when it is posted. */
struct transaction {
	struct fake *fake;
	enum { FAKE_CHANGE, FAKE_CLEAR, FAKE_INSERTION } kind;
};

static int fake_transaction(struct fake *fake, int kind, struct transaction **transaction)
{
	*transaction = calloc(1, sizeof(**transaction));
	if (*transaction == NULL)
		return -ENOMEM;
	(*transaction)->fake = fake;
	(*transaction)->kind = kind;
	fake->under_way++;
	return 0;
}

static int fake_change(struct runtime *context, const struct scenario *next,
                       struct transaction **transaction, struct problem *problem)
{
	struct fake *fake = fake_of(context);

	(void)next;
	while (__atomic_load_n(&fake->holds, __ATOMIC_RELAXED))
		usleep(1000);
	if (fake->refuse) {
		problem_set(problem, -1, "the memory would not do: 3 GB of 1 GB");
		return -ENOMEM;
	}
	return fake_transaction(fake, FAKE_CHANGE, transaction);
}

static int fake_clear(struct runtime *context, struct transaction **transaction)
{
	return fake_transaction(fake_of(context), FAKE_CLEAR, transaction);
}

static int fake_insert(struct runtime *context, const struct insertion *insertion,
                       struct transaction **transaction, struct problem *problem)
{
	struct fake *fake = fake_of(context);

	if (fake->refuse) {
		problem_set(problem, -1, "a worker stands still");
		return -EBUSY;
	}
	fake->inserted += insertion->n;
	strcpy(fake->inserted_into, insertion->cloud);
	memcpy(fake->inserted_first, insertion->frames, insertion->frame_bytes);
	return fake_transaction(fake, FAKE_INSERTION, transaction);
}

static void fake_post(struct transaction *transaction)
{
	struct fake *fake = transaction->fake;

	fake->changes += transaction->kind == FAKE_CHANGE;
	fake->clears += transaction->kind == FAKE_CLEAR;
	if (transaction->kind == FAKE_CLEAR)
		memset(&fake->report, 0, sizeof(fake->report));
}

static bool fake_taken(const struct transaction *transaction, uint64_t wait_ns)
{
	(void)wait_ns;
	return !transaction->fake->stands_still;
}

static bool fake_missing(const struct transaction *transaction, uint32_t *worker, uint32_t *cpu)
{
	*worker = 1;
	*cpu = 3;
	return transaction->fake->stands_still;
}

static void fake_finish(struct transaction *transaction)
{
	while (__atomic_load_n(&transaction->fake->frees_late, __ATOMIC_RELAXED))
		usleep(1000);
	__atomic_sub_fetch(&transaction->fake->under_way, 1, __ATOMIC_RELAXED);
	free(transaction);
}

/* Taps of the fake: no worker puts anything into them. */
static int fake_tap_begin(struct runtime *context, struct tap *tap, int64_t wall_ns)
{
	struct fake *fake = fake_of(context);

	(void)wall_ns;
	if (fake->tap)
		return -EBUSY;
	fake->tap = tap;
	return 0;
}

static bool fake_tap_is_on(struct runtime *context, const struct tap *tap)
{
	struct fake *fake = fake_of(context);

	return fake->tap == tap && !fake->stands_still;
}

static void fake_tap_end(struct runtime *context, struct tap *tap)
{
	fake_of(context)->tap = NULL;
	tap_free(tap);
}

static bool fake_cloud(const struct runtime *context, const char *name, struct cloud_report *report)
{
	struct fake *fake = fake_of(context);

	if (fake->one && strcmp(name, fake->one) == 0) {
		*report = fake->one_report;
		return true;
	}
	*report = fake->report;
	return scenario_find_cloud(fake->scenario, name) >= 0;
}

/* Every cloud has one brief; `one` is the only cloud of its template. */
static uint32_t fake_briefs(const struct runtime *context, const char *name, uint32_t from,
                            uint32_t n, struct cloud_brief *briefs)
{
	struct fake *fake = fake_of(context);
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

static bool fake_brief_name(const struct runtime *context, const char *name, uint32_t index,
                            char *text, size_t room)
{
	struct fake *fake = fake_of(context);
	int cloud = scenario_find_cloud(fake->scenario, name);

	if (cloud < 0 || index > 0)
		return false;
	snprintf(text, room, "%s",
	         fake->one && fake->scenario->clouds[cloud]->many ? fake->one : name);
	return true;
}

static bool fake_delays(const struct runtime *context, const char *name, struct histogram *delays)
{
	struct fake *fake = fake_of(context);

	*delays = fake->report.delay_ns;
	return scenario_find_cloud(fake->scenario, name) >= 0;
}

static bool fake_port(const struct runtime *context, uint32_t port, struct port_report *report)
{
	struct fake *fake = fake_of(context);

	*report = fake->port;
	if (port >= fake->scenario->n_ports)
		return false;
	report->name = fake->scenario->ports[port].name;
	report->device = fake->scenario->ports[port].device;
	return true;
}

static bool fake_worker(const struct runtime *context, uint32_t worker,
                        struct worker_report *report)
{
	*report = fake_of(context)->worker;
	return worker == 0;
}

static uint32_t fake_ports(const struct runtime *context)
{
	return fake_of(context)->scenario->n_ports;
}

static uint32_t fake_workers(const struct runtime *context)
{
	(void)context;
	return 1;
}

static uint64_t fake_now_ns(const struct runtime *context)
{
	/* Another thread may read it while the test advances the time. */
	return __atomic_load_n(&fake_of(context)->now_ns, __ATOMIC_RELAXED);
}

/* Waiting takes no time of the machine: the clock of the fake goes on. */
static void fake_wait(struct runtime *context, uint64_t ns)
{
	struct fake *fake = fake_of(context);

	__atomic_add_fetch(&fake->now_ns, ns, __ATOMIC_RELAXED);
	if (fake->meanwhile == NULL || fake->in_meanwhile)
		return;
	fake->in_meanwhile = true;
	fake->meanwhile(fake->argument);
	fake->in_meanwhile = false;
}

/* For tests with one thread. */
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
        .wait = fake_wait,
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
	control_init(&fake->control, &fake_ops, (struct runtime *)fake, &fake->scenario);
	return true;
}

/* Lets threads wait in fact, for tests with several. */
static inline void fake_use_threads(struct fake *fake)
{
	static struct control_ops ops;

	ops = fake_ops;
	ops.wait = NULL;
	fake->control.ops = &ops;
}

static inline void fake_stop(struct fake *fake)
{
	struct transaction *transaction;

	control_end(&fake->control, SIMTIME_S);
	control_join(&fake->control, 60 * SIMTIME_S);
	transaction = fake->control.transaction;
	control_close(&fake->control);
	if (transaction != NULL)
		fake_finish(transaction);
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
