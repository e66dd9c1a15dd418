/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

/* The longest that a frame can be, so that no filter is cut. */
#define SNAP_BYTES 262144
/* Of a chain of mbufs, what the interpreter gets: every header is in it. */
#define COPY_BYTES 2048

struct fork_filter {
	struct bpf_program program;
};

/* libpcap keeps what it says in the handle that it was said with. */
static int compile(const char *words, struct bpf_program *program, char *message, size_t room)
{
	pcap_t *pcap = pcap_open_dead(DLT_EN10MB, SNAP_BYTES);
	int result;

	if (!pcap) {
		snprintf(message, room, "no memory");
		return -ENOMEM;
	}
	result = pcap_compile(pcap, program, words, 1, PCAP_NETMASK_UNKNOWN) < 0 ? -EINVAL : 0;
	if (result < 0)
		snprintf(message, room, "%s", pcap_geterr(pcap));
	pcap_close(pcap);
	return result;
}

static bool compiles(const char *words)
{
	struct bpf_program program;
	char message[PCAP_ERRBUF_SIZE];

	if (compile(words, &program, message, sizeof(message)) < 0)
		return false;
	pcap_freecode(&program);
	return true;
}

/* Whether the beginning of an expression could go on: libpcap does not say where it stopped. What it
 * lacks is a value, a condition, or a bracket. */
static bool could_go_on(const char *words, size_t bytes)
{
	static const char *const rest[] = {"",
	                                   " 1",
	                                   " ip",
	                                   " 1.2.3.4",
	                                   " host ::1",
	                                   " host 1.2.3.4",
	                                   " 1:2:3:4:5:6",
	                                   " = 1",
	                                   " 0 = 1",
	                                   " 1-2",
	                                   "0] = 1",
	                                   "] = 1",
	                                   " multicast",
	                                   " proto 1",
	                                   " net 1.2.3"};
	char text[4096 + 64];
	int open = 0;

	if (bytes > 4000)
		return true;
	for (size_t i = 0; i < bytes; i++)
		open += words[i] == '(' ? 1 : words[i] == ')' ? -1 : 0;
	if (open < 0 || open > 32)
		return false;
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++) {
		int n = snprintf(text, sizeof(text), "%.*s%s", (int)bytes, words, rest[i]);

		memset(text + n, ')', (size_t)open);
		text[n + open] = 0;
		if (compiles(text))
			return true;
	}
	return false;
}

/* The first word with which nothing can come of it any more; the end if only something is missing. */
static size_t where_wrong(const char *words)
{
	size_t at = 0;

	for (;;) {
		size_t begin = at + strspn(words + at, " \t");

		if (words[begin] == 0)
			return begin;
		at = begin + strcspn(words + begin, " \t");
		if (!could_go_on(words, at))
			return begin;
	}
}

static int refuse(const char *words, const char *message, struct problem *problem)
{
	size_t at = where_wrong(words), end = strlen(words);
	size_t length = strcspn(words + at, " \t");

	if (strncmp(message, "can't parse filter expression: ", 31) == 0)
		message += 31;
	if (at == end)
		problem_set(problem, -1,
		            "the filter `%.80s` ends too early: %.100s; see pcap-filter(7)", words,
		            message);
	else
		problem_set(problem, -1,
		            "the filter goes wrong at `%.*s`: %.100s; see pcap-filter(7)",
		            (int)(length > 60 ? 60 : length), words + at, message);
	problem->letter = (uint32_t)at;
	return -EINVAL;
}

int filter_check(const char *words, struct problem *problem)
{
	struct bpf_program program;
	char message[PCAP_ERRBUF_SIZE];
	int result = compile(words, &program, message, sizeof(message));

	if (result == 0)
		pcap_freecode(&program);
	else if (result == -EINVAL)
		return refuse(words, message, problem);
	else
		problem_set(problem, -1, "no memory for a filter");
	return result;
}

/* ---- making ---- */

static int filter_make(const char *words, struct fork_filter **result, struct problem *problem)
{
	struct fork_filter *filter = calloc(1, sizeof(*filter));
	char message[PCAP_ERRBUF_SIZE];
	int error;

	if (!filter)
		return -ENOMEM;
	error = compile(words, &filter->program, message, sizeof(message));
	if (error) {
		free(filter);
		return error == -EINVAL ? refuse(words, message, problem) : error;
	}
	*result = filter;
	return 0;
}

static void filter_free(struct fork_filter *filter)
{
	pcap_freecode(&filter->program);
	free(filter);
}

/* ---- running ---- */

static bool interpret(const struct fork_filter *filter, struct rte_mbuf *mbuf)
{
	uint8_t copy[COPY_BYTES];
	uint32_t bytes = mbuf->nb_segs == 1 ? mbuf->data_len : RTE_MIN(mbuf->pkt_len, COPY_BYTES);
	const uint8_t *data = rte_pktmbuf_read(mbuf, 0, bytes, copy);

	return bpf_filter(filter->program.bf_insns, data, packet_of(mbuf)->wire_bytes, bytes) != 0;
}

static uint32_t filter_fit(const struct fork_filter *filter, struct rte_mbuf *const *mbufs,
                           uint32_t n)
{
	uint32_t fits = 0;

	for (uint32_t i = 0; i < n; i++)
		fits |= (uint32_t)interpret(filter, mbufs[i]) << i;
	return fits;
}

const struct fork_filters filters = {
        .make = filter_make,
        .free = filter_free,
        .fit = filter_fit,
};
