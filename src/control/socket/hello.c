/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/hello.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "account/count.h"
#include "units/human_unit.h"
#include "service/event_log.h"
#include "show/json.h"
#include "socket/session.h"
#include "stream/sampler.h"

/* In alphabetical order. */
static const char *const capabilities[] = {
        "batch", "capture", "events",           "files",  "flight", "json",
        "lease", "probe",   "read-only-socket", "sample", "totals", "whole"};
#define CAPABILITIES (sizeof(capabilities) / sizeof(capabilities[0]))

static void answer_json(struct output *output, struct control *control, bool read_only)
{
	const struct scenario *scenario = *control->scenario;
	json_t *words = json_array(), *object;

	for (size_t i = 0; i < CAPABILITIES; i++)
		json_array_append_new(words, json_string(capabilities[i]));
	object = json_pack("{s:s,s:i,s:b,s:s,s:I,s:o,s:I,s:b,s:i,s:i,s:i,s:o}", "weir",
	                   WEIR_VERSION, "protocol", HELLO_PROTOCOL, "ok", 1, "run", control->run,
	                   "pid", (json_int_t)getpid(), "seed", json_seed(scenario->seed),
	                   "uptime_ns", (json_int_t)control->ops->now_ns(control->context),
	                   "read_only", read_only, "ports", (int)scenario->n_ports, "clouds",
	                   (int)scenario->n_clouds, "workers",
	                   (int)control->ops->workers(control->context), "capabilities", words);
	if (object != NULL && control->events != NULL)
		json_object_set_new(object, "events",
		                    json_pack("{s:I,s:I}", "first",
		                              (json_int_t)event_log_first(control->events), "next",
		                              (json_int_t)event_log_next(control->events)));
	if (object != NULL)
		json_object_set_new(object, "limits",
		                    json_pack("{s:i,s:I,s:I,s:i}", "line_bytes", SESSION_LINE_MAX,
		                              "sample_min_ns", (json_int_t)SAMPLER_LEAST_NS,
		                              "sample_max_ns", (json_int_t)SAMPLER_MOST_NS,
		                              "sample_clouds", SAMPLER_ROWS_MOST));
	answer_object(output, object);
}

void hello_answer(struct output *output, struct control *control, bool read_only)
{
	const struct scenario *scenario = *control->scenario;
	char text[1024], up[HUMAN_UNIT_SIZE];
	int n;

	if (output->json) {
		answer_json(output, control, read_only);
		return;
	}
	human_unit_format(up, sizeof(up), HUMAN_NS, (double)control->ops->now_ns(control->context),
	                  3);
	n = snprintf(text, sizeof(text),
	             "weir %s, protocol %d\npid %d, up for %s, seed %" PRIu64 ", run %s\n"
	             "%s, %s, %s\n%s\ncapabilities:",
	             WEIR_VERSION, HELLO_PROTOCOL, (int)getpid(), up, scenario->seed, control->run,
	             count_of(scenario->n_ports, "port").text,
	             count_of(scenario->n_clouds, "cloud").text,
	             count_of(control->ops->workers(control->context), "worker").text,
	             read_only ? "this socket is read-only"
	                       : "this conversation may change everything");
	for (size_t i = 0; i < CAPABILITIES; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " %s", capabilities[i]);
	n += snprintf(text + n, sizeof(text) - (size_t)n, "\n");
	answer_text(output, "hello", text, (size_t)n);
}
