/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/filter.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <linux/filter.h>
#include <pcap/pcap.h>

#include "packet/burst.h"

#define IPV4_HEADER_MOST 60u

/* The greatest length of a frame, so that no filter truncates one. */
#define SNAP_BYTES 262144
/* The bytes of a chain of mbufs that the interpreter gets; they include every header. */
#define COPY_BYTES 2048
/* Programs up to this length are optimised when they are checked, which takes less than a
 * millisecond. */
#define OPTIMISED_AT_ONCE 256

/* A compiled filter, shared by all clouds with the same words, and kept through changes. */
struct classifier_filter {
	struct bpf_program program;
	char *words;
	uint32_t references;
	struct classifier_filter *next;
};

/* Compiles a filter. A handle of its own is used, because libpcap keeps its error message in the
 * handle. `optimise` runs libpcap's optimiser, too, which takes far longer than the rest. */
static int compile(const char *words, bool optimise, struct bpf_program *program, char *message,
                   size_t room)
{
	pcap_t *pcap = pcap_open_dead(DLT_EN10MB, SNAP_BYTES);
	int result;

	if (!pcap) {
		snprintf(message, room, "no memory");
		return -ENOMEM;
	}
	result = pcap_compile(pcap, program, words, optimise, PCAP_NETMASK_UNKNOWN) < 0 ? -EINVAL
	                                                                                : 0;
	if (result < 0)
		snprintf(message, room, "%s", pcap_geterr(pcap));
	pcap_close(pcap);
	return result;
}

static bool compiles(const char *words)
{
	struct bpf_program program;
	char message[PCAP_ERRBUF_SIZE];
	size_t at, bytes;

	if (!filter_words_numeric(words, &at, &bytes) ||
	    compile(words, false, &program, message, sizeof(message)) < 0)
		return false;
	pcap_freecode(&program);
	return true;
}

/* Returns true if the first `bytes` of an expression can be continued to a valid one; libpcap does
 * not say where it stopped. What may be missing is a value, a condition, or a bracket. */
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
	char text[FILTER_BYTES_MAX + 64];
	int open = 0;

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

static size_t word_end(const char *words, size_t at)
{
	at += strspn(words + at, " \t");
	return at + strcspn(words + at, " \t");
}

/* Returns the position of the first word with which no continuation is valid any more, or the end
 * of the expression if only something is missing. If a beginning cannot be continued, no longer
 * beginning can be. So a binary search finds the word, in ten steps at most. */
static size_t where_wrong(const char *words)
{
	size_t good = 0, all = strlen(words), bad = all;

	if (could_go_on(words, all))
		return all;
	/* The beginning up to `good` can be continued, the one up to `bad` cannot. Both are ends of
	 * words. */
	while (word_end(words, good) < bad) {
		size_t middle = good + (bad - good) / 2, at = good, next;

		while ((next = word_end(words, at)) < bad && (at == good || next <= middle))
			at = next;
		if (could_go_on(words, at))
			good = at;
		else
			bad = at;
	}
	return good + strspn(words + good, " \t");
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

/* Checks the text before libpcap sees it. */
static int check_words(const char *words, struct problem *problem)
{
	size_t at, bytes, length = strlen(words);

	if (length > FILTER_BYTES_MAX) {
		problem_set(problem, -1,
		            "the filter has %zu bytes; at most %d are allowed: use `portrange`, "
		            "`net` or several clouds to shorten it",
		            length, FILTER_BYTES_MAX);
		problem->letter = 0;
		return -EINVAL;
	}
	if (filter_words_numeric(words, &at, &bytes))
		return 0;
	problem_set(problem, -1,
	            "the filter goes wrong at `%.*s`: this is not a word of filters, and names are "
	            "not looked up: write the address; see pcap-filter(7)",
	            (int)(bytes > 60 ? 60 : bytes), words + at);
	problem->letter = (uint32_t)at;
	return -EINVAL;
}

/* Refuses a filter that no packet fits. Only libpcap's optimiser detects that. It is fast for a
 * short program; what a longer one means is not examined. */
static int check_fits_something(const char *words, const struct bpf_program *plain,
                                struct problem *problem)
{
	char message[PCAP_ERRBUF_SIZE];
	struct bpf_program program;

	if (plain->bf_len > OPTIMISED_AT_ONCE)
		return 0;
	if (compile(words, true, &program, message, sizeof(message)) == 0) {
		pcap_freecode(&program);
		return 0;
	}
	if (!strstr(message, "rejects all packets"))
		return 0;
	problem_set(problem, -1,
	            "the filter `%.80s` contradicts itself: no packet fits it; behind `mpls`, "
	            "`pppoes` and `geneve`, conditions are about the packet inside, and behind "
	            "`vlan`, about a tagged one",
	            words);
	problem->letter = 0;
	return -EINVAL;
}

/* Compiles a filter without optimising it. Refuses it if the program is too long. */
static int compile_plain(const char *words, struct bpf_program *program, struct problem *problem)
{
	char message[PCAP_ERRBUF_SIZE];
	int result = check_words(words, problem);

	if (result)
		return result;
	result = compile(words, false, program, message, sizeof(message));
	if (result == -EINVAL)
		return refuse(words, message, problem);
	if (result) {
		problem_set(problem, -1, "no memory for a filter");
		return result;
	}
	if (program->bf_len <= FILTER_STEPS_MAX) {
		result = check_fits_something(words, program, problem);
		if (result)
			pcap_freecode(program);
		return result;
	}
	problem_set(problem, -1,
	            "the filter becomes a program of %u steps; at most %d are allowed: use "
	            "`portrange`, `net` or several clouds to shorten it",
	            program->bf_len, FILTER_STEPS_MAX);
	problem->letter = 0;
	pcap_freecode(program);
	return -EINVAL;
}

/* ---- making ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct classifier_filter *made;

/* Returns the filter with these words, with a further reference, or NULL if there is none. */
static struct classifier_filter *made_find(const char *words)
{
	struct classifier_filter *filter;

	pthread_mutex_lock(&lock);
	for (filter = made; filter && strcmp(filter->words, words) != 0;)
		filter = filter->next;
	if (filter)
		filter->references++;
	pthread_mutex_unlock(&lock);
	return filter;
}

static void filter_free(struct classifier_filter *filter)
{
	struct classifier_filter **place = &made;
	bool last;

	pthread_mutex_lock(&lock);
	last = --filter->references == 0;
	while (last && *place != filter)
		place = &(*place)->next;
	if (last)
		*place = filter->next;
	pthread_mutex_unlock(&lock);
	if (last) {
		pcap_freecode(&filter->program);
		free(filter->words);
		free(filter);
	}
}

int filter_check(const char *words, struct problem *problem)
{
	struct classifier_filter *filter = made_find(words);
	struct bpf_program program;
	int result = 0;

	if (filter)
		filter_free(filter);
	else
		result = compile_plain(words, &program, problem);
	if (!filter && !result)
		pcap_freecode(&program);
	return result;
}

static uint32_t load_bytes(const struct bpf_insn *step)
{
	return BPF_SIZE(step->code) == BPF_W ? 4 : BPF_SIZE(step->code) == BPF_H ? 2 : 1;
}

bool filter_reads(const char *words, uint32_t from, uint32_t to)
{
	struct bpf_program program;
	struct problem problem;
	bool reads = false;

	if (compile_plain(words, &program, &problem))
		return false;
	for (uint32_t i = 0; i < program.bf_len; i++) {
		const struct bpf_insn *step = &program.bf_insns[i];
		uint32_t mode = BPF_MODE(step->code);
		uint32_t bytes = load_bytes(step);

		if ((BPF_CLASS(step->code) == BPF_LD && (mode == BPF_ABS || mode == BPF_IND)) ||
		    (BPF_CLASS(step->code) == BPF_LDX && mode == BPF_MSH))
			reads |= step->k < to && step->k + bytes > from;
	}
	pcap_freecode(&program);
	return reads;
}

uint32_t filter_reach(const char *words)
{
	char message[PCAP_ERRBUF_SIZE];
	bool computed = false, from_there = false;
	struct bpf_program program;
	uint64_t reach = 0;

	/* Optimised, so that what the text computes from constants becomes a constant. */
	if (compile(words, true, &program, message, sizeof(message)))
		return 0;
	for (uint32_t i = 0; i < program.bf_len; i++) {
		const struct bpf_insn *step = &program.bf_insns[i];
		const uint32_t class = BPF_CLASS(step->code), mode = BPF_MODE(step->code);
		uint64_t end = 0;

		if (class == BPF_LD && mode == BPF_ABS)
			end = (uint64_t)step->k + load_bytes(step);
		else if (class == BPF_LD && mode == BPF_IND)
			end = (uint64_t)step->k + load_bytes(step) + IPV4_HEADER_MOST;
		else if (class == BPF_LDX && mode == BPF_MSH)
			end = (uint64_t)step->k + 1;
		from_there |= class == BPF_LD && mode == BPF_IND;
		computed |= (class == BPF_LDX && mode == BPF_MEM) ||
		            (class == BPF_MISC && BPF_MISCOP(step->code) == BPF_TAX);
		reach = RTE_MAX(reach, end);
	}
	pcap_freecode(&program);
	return computed && from_there ? UINT32_MAX : (uint32_t)RTE_MIN(reach, (uint64_t)UINT32_MAX);
}

/* Compiles outside the lock, because that takes long. Two threads that need the same filter at once
 * make it twice, which does no harm. */
static int filter_compile(const char *words, struct classifier_filter *filter,
                          struct problem *problem)
{
	char message[PCAP_ERRBUF_SIZE];
	struct bpf_program plain;
	int result = compile_plain(words, &plain, problem);

	if (result)
		return result;
	if (compile(words, true, &filter->program, message, sizeof(message)) == 0)
		pcap_freecode(&plain);
	else
		filter->program = plain;
	return 0;
}

int filter_steps(const char *words, struct sock_filter **steps, uint32_t *n,
                 struct problem *problem)
{
	struct classifier_filter filter;
	int result = filter_compile(words, &filter, problem);

	if (result)
		return result;
	*n = filter.program.bf_len;
	/* The kernel's steps are libpcap's, by another name. */
	*steps = malloc(*n * sizeof(**steps) + 1);
	for (uint32_t i = 0; *steps && i < *n; i++) {
		const struct bpf_insn *step = &filter.program.bf_insns[i];

		(*steps)[i] = (struct sock_filter){
		        .code = step->code, .jt = step->jt, .jf = step->jf, .k = step->k};
	}
	pcap_freecode(&filter.program);
	if (*steps)
		return 0;
	problem_set(problem, -1, "no memory for a filter");
	return -ENOMEM;
}

static int filter_make(const char *words, struct classifier_filter **result,
                       struct problem *problem)
{
	struct classifier_filter *filter = made_find(words);
	int error;

	*result = filter;
	if (filter)
		return 0;
	filter = calloc(1, sizeof(*filter));
	if (!filter)
		return -ENOMEM;
	filter->references = 1;
	filter->words = strdup(words);
	error = filter->words ? filter_compile(words, filter, problem) : -ENOMEM;
	if (error) {
		free(filter->words);
		free(filter);
		return error;
	}
	pthread_mutex_lock(&lock);
	filter->next = made;
	made = filter;
	pthread_mutex_unlock(&lock);
	*result = filter;
	return 0;
}

/* ---- running ---- */

static bool filter_fits(const struct classifier_filter *filter, const struct burst *burst,
                        uint32_t i)
{
	const struct rte_mbuf *mbuf = burst->mbuf[i];
	uint8_t copy[COPY_BYTES];
	uint32_t bytes = mbuf->nb_segs == 1 ? mbuf->data_len : RTE_MIN(mbuf->pkt_len, COPY_BYTES);
	const uint8_t *data = rte_pktmbuf_read(mbuf, 0, bytes, copy);

	return bpf_filter(filter->program.bf_insns, data, burst_wire_bytes(burst, i), bytes) != 0;
}

const struct classifier_filters filters = {
        .make = filter_make,
        .free = filter_free,
        .fits = filter_fits,
};
