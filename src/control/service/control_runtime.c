/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime behind control. */
#include <stdio.h>

#include "service/control.h"
#include "service/recorded_text.h"

/* The time for which the workers are waited for at once: each polls within microseconds. */
#define AT_ONCE_NS (50 * SIMTIME_US)

static int change(struct runtime *runtime, const struct scenario *next,
                  struct transaction **transaction, struct problem *problem)
{
	int rc = transaction_change(runtime, next, transaction, problem);

	if (rc == 0 && runtime_recording(runtime)) {
		recorded_reach(runtime_recording(runtime), runtime_scenario(runtime), next);
		transaction_describe(*transaction, recorded_text(runtime_recording(runtime), next));
	}
	return rc;
}

static void post(struct runtime *runtime, struct transaction *transaction)
{
	(void)runtime;
	transaction_post(transaction);
}

static bool taken(struct runtime *runtime, const struct transaction *transaction)
{
	(void)runtime;
	return transaction_taken(transaction, AT_ONCE_NS);
}

static void missing(struct runtime *runtime, const struct transaction *transaction, char *text,
                    size_t size)
{
	uint32_t worker = 0, cpu = 0;

	(void)runtime;
	transaction_missing(transaction, &worker, &cpu);
	snprintf(text, size, "worker %u on processor %u", worker, cpu);
}

static void finish(struct runtime *runtime, struct transaction *transaction)
{
	(void)runtime;
	transaction_finish(transaction);
}

const struct control_ops control_ops_runtime = {
        .change = change,
        .clear = transaction_clear,
        .insert = transaction_insertion,
        .post = post,
        .taken = taken,
        .missing = missing,
        .finish = finish,
        .tap_begin = runtime_tap_begin,
        .tap_is_on = runtime_tap_is_on,
        .tap_end = runtime_tap_end,
        .cloud = runtime_cloud_report,
        .briefs = runtime_briefs,
        .brief_name = runtime_brief_name,
        .delays = runtime_delays,
        .port = runtime_port_report,
        .worker = runtime_worker_report,
        .ports = runtime_ports,
        .workers = runtime_workers,
        .now_ns = runtime_now_ns,
};
