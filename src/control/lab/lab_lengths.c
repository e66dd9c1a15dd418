/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "lab/lab.h"
#include "link/rate.h"
#include "schedule/at.h"
#include "schedule/every.h"
#include "schedule/markov.h"
#include "schedule/path_trace.h"

/* The words of `overhead`, and what to write in the lab. */
static const struct {
	const char *word, *instead;
} overheads[] = {
        {"layer3", "leave it out"},
        {"layer1", "write `overhead 38`"},
        {"atm", "write `overhead N cell 48B cell-overhead 5B`, with N 8 more than `encap`"},
};

static int refuse(const struct cloud_conf *cloud, const char *word, const char *instead,
                  struct problem *problem)
{
	return problem_set(
	        problem, -1,
	        "cloud %s: %s expects frames with Ethernet, but links of the lab count IPv4 "
	        "datagrams: %s",
	        cloud->name, word, instead);
}

static int check(const struct cloud_conf *cloud, const struct conf *conf, struct problem *problem);

static int check_orders(const struct cloud_conf *cloud, const struct orders *orders,
                        struct problem *problem)
{
	int error = 0;

	for (uint32_t i = 0; !error && i < orders->n; i++)
		if (orders->order[i].conf)
			error = check(cloud, orders->order[i].conf, problem);
	return error;
}

static int check(const struct cloud_conf *cloud, const struct conf *conf, struct problem *problem)
{
	int error = 0;

	if (conf->statement == &rate_statement) {
		const char *overhead = ((const struct rate_conf *)conf)->overhead;
		char word[32];

		for (size_t i = 0; overhead && i < sizeof(overheads) / sizeof(overheads[0]); i++) {
			if (strcmp(overhead, overheads[i].word) != 0)
				continue;
			snprintf(word, sizeof(word), "`overhead %s`", overhead);
			return refuse(cloud, word, overheads[i].instead, problem);
		}
	} else if (conf->statement == &trace_statement) {
		const struct rate_conf *rate =
		        (const struct rate_conf *)cloud_conf_get(cloud, "rate");

		if (trace_format((const struct trace_conf *)conf) == TRACE_MAHIMAHI &&
		    (!rate || !rate_overhead(rate).given))
			return refuse(cloud, "a trace of mahimahi",
			              "write a `rate` with `overhead 4`, as mahimahi counts them",
			              problem);
	} else if (conf->statement == &at_statement) {
		error = check_orders(cloud, &((const struct at_conf *)conf)->orders, problem);
	} else if (conf->statement == &every_statement) {
		error = check_orders(cloud, &((const struct every_conf *)conf)->orders, problem);
	} else if (conf->statement == &markov_statement) {
		const struct states *states = &((const struct markov_conf *)conf)->states;

		for (uint32_t i = 0; !error && i < states->n; i++)
			error = check_orders(cloud, &states->state[i].orders, problem);
	}
	return error;
}

int lab_lengths_check(const struct scenario *scenario, struct problem *problem)
{
	int error = 0;

	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		const struct cloud_conf *cloud = scenario->clouds[i];

		for (uint32_t k = 0; !error && k < cloud->n_confs; k++)
			error = check(cloud, cloud->confs[k], problem);
	}
	return error;
}
