/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/group.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lab/group_fields.h"
#include "lab/response.h"

/* In the order of recovery_at and response_at. */
const char *const group_recoveries[] = {"tahoe", "reno", "newreno", NULL};
const char *const group_responses[] = {"none",    "ecn",     "becn",     "ecn-becn", "bcn",
                                       "ecn-mod", "limited", "extended", NULL};

const char *const group_waits[] = {"outstanding", "round-trip", "none", NULL};

static const struct field group_fields[] = {
        {FIELD("count", FIELD_COUNT, struct group_conf, count,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .max = GROUP_FLOWS_MAX,
               .help = "how many flows")},
        {FIELD("from", FIELD_TEXT, struct group_conf, from, .flags = FIELD_REQUIRED,
               .help = "the senders' switch")},
        {FIELD("to", FIELD_TEXT, struct group_conf, to, .flags = FIELD_REQUIRED,
               .help = "the receivers' switch")},
        {FIELD("port", FIELD_COUNT, struct group_conf, port, .min = 1024, .max = 60000,
               .initial = 10000,
               .help = "first port at both ends; lets `match` distinguish groups")},
        {FIELD("access", FIELD_RATE, struct group_conf, access_bps, .min = 1, .max = 400000000000,
               .initial = 100000000, .help = "rate of each host's link")},
        {FIELD("delay", FIELD_TIME, struct group_conf, delay_ns, .max = DELAY_MAX_NS,
               .initial = 2 * SIMTIME_MS, .help = "propagation of each host's link")},
        {FIELD("delay-max", FIELD_TIME, struct group_conf, delay_max_ns, .max = DELAY_MAX_NS,
               .help = "the senders' delays are spread evenly from delay to this")},
        {FIELD("start", FIELD_TIME, struct group_conf, start_ns, .max = DELAY_MAX_NS,
               .help = "when the first flow may begin")},
        {FIELD("spread", FIELD_TIME, struct group_conf, spread_ns, .max = DELAY_MAX_NS,
               .initial = 5 * SIMTIME_S,
               .help = "time over which the flows' beginnings are spread, uniformly")},
        GROUP_TCP_FIELDS(struct group_conf, ),
        FIELD_END,
};

const struct statement group_ftp = {
        .name = "ftp",
        .help = "long-lived TCP transfers",
        .role = ROLE_CLOUD,
        .fields = group_fields,
        .conf_bytes = sizeof(struct group_conf),
};

static double fraction(uint64_t q63)
{
	return (double)q63 / (double)PROBABILITY_ONE;
}

/* Inserts a factor, in ascending order of hops. */
static int factor_add(struct response_conf *signal, uint32_t hops, double factor)
{
	uint32_t at = signal->n_by_hops;

	if (at == TCP_HOP_FACTORS_MAX)
		return -EINVAL;
	for (; at > 0 && signal->by_hops[at - 1].hops > hops; at--)
		signal->by_hops[at] = signal->by_hops[at - 1];
	signal->by_hops[at].hops = hops;
	signal->by_hops[at].factor = factor;
	signal->n_by_hops++;
	return 0;
}

static int factors_read(const char *text, struct response_conf *signal, struct problem *problem)
{
	for (const char *at = text; *at;) {
		char *end;
		unsigned long hops = strtoul(at, &end, 10);
		double factor;

		if (end == at || *end != ':' || hops > FRAME_TTL)
			goto err_text;
		at = end + 1;
		factor = strtod(at, &end);
		if (end == at || !(factor > 0 && factor <= 1) || (*end && *end != ',') ||
		    factor_add(signal, (uint32_t)hops, factor) < 0)
			goto err_text;
		at = *end ? end + 1 : end;
	}
	return 0;

err_text:
	problem_set(problem, -1,
	            "factors `%s`: expected up to %d pairs HOPS:FACTOR, factors above 0 and at "
	            "most 1, like 4:0.975,2:0.875,1:0.7",
	            text, TCP_HOP_FACTORS_MAX);
	return -EINVAL;
}

int group_tcp_conf(const struct group_conf *conf, struct tcp_conf *tcp, struct problem *problem)
{
	tcp_conf_init(tcp);
	tcp->recovery = recovery_at(conf->recovery);
	tcp->response = response_at(conf->response);
	tcp->window = (uint32_t)conf->window;
	tcp->ssthresh = (uint32_t)conf->ssthresh;
	tcp->packet_bytes = (uint32_t)conf->packet_bytes;
	tcp->tick_ns = conf->tick_ns;
	tcp->syn_capable = conf->syn_capable;
	tcp->signal.factor = fraction(conf->factor_q63);
	tcp->signal.increase = fraction(conf->increase_q63);
	tcp->signal.decrease = fraction(conf->decrease_q63);
	tcp->signal.wait = (enum becn_wait)conf->wait;
	tcp->signal.grows_while_marked = conf->grows_while_marked;
	tcp->signal.cuts_to_whole = conf->cuts_to_whole;
	tcp->signal.slow_start_max = (uint32_t)conf->slow_start_max;
	tcp->signal.slow_start_exact = conf->slow_start_exact;
	if (tcp->response->told)
		tcp->hops = (uint32_t)conf->hops;
	if (tcp->hops && tcp->packet_bytes <= FRAME_HEADERS_BYTES + OQ_BYTES) {
		problem_set(
		        problem, -1,
		        "packet %" PRIu32
		        "B: response %s adds a header of %u bytes to each; give %u bytes or more",
		        tcp->packet_bytes, tcp->response->name, OQ_BYTES,
		        FRAME_HEADERS_BYTES + OQ_BYTES + 1);
		return -EINVAL;
	}
	return conf->factors ? factors_read(conf->factors, &tcp->signal, problem) : 0;
}
