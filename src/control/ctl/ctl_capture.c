/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "account/witness.h"
#include "capture/fate_ring.h"
#include "explain/explain_run.h"
#include "fates/capture_words.h"
#include "fates/fate_capture.h"
#include "fates/trace.h"
#include "machine/clock.h"

/*
 * Packets of a running weir, from the memory into which its workers put their fates
 * (capture/fate_ring.h).
 */

#define CTL_WATCH_BYTES (UINT64_C(32) << 20)

/* The signal that ended the capture: SIGINT, SIGTERM or SIGHUP; or 0. */
static volatile sig_atomic_t stopped;

/* The most fates taken from one ring before the others have their turn. */
#define AT_ONCE 4096
/* The pause behind less than that, which is as long as it takes for about half of it to come: each
 * time, all that is known of the flows is out of the caches. */
#define REST_MS_LEAST 1
#define REST_MS_MOST  20
/* Connections are in no hurry, and fewer turns find more of them in the caches. */
#define REST_MS_EXPLAIN 40

struct watch {
	struct ctl_link *link;
	const struct capture_words *words;
	/* One of these takes the fates: in words, as connections, or as a file. */
	struct trace *trace;
	struct explain_run *explain;
	struct fate_capture *capture;
	bool pipe; /* the output is a pipe, whose reader may go */
	void *memory;
	uint64_t lost[FATE_RINGS_MAX][FATE_KINDS]; /* of each ring and kind, as reported last */
	/* with a single worker: its latest poll, and the one before, which is complete */
	simtime poll_ns, poll_before_ns;
	uint32_t n_rings;
};

static void stop(int signal)
{
	stopped = signal;
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};

#define SIGNALS (sizeof(signals) / sizeof(signals[0]))

static void catch_signals(struct sigaction before[SIGNALS])
{
	/* An interrupted write continues (SA_RESTART), and a second signal ends the process
	 * (SA_RESETHAND). A terminal that is closed may send SIGHUP twice. */
	struct sigaction end = {.sa_handler = stop, .sa_flags = SA_RESTART | SA_RESETHAND};
	struct sigaction hang_up = {.sa_handler = stop, .sa_flags = SA_RESTART};
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	const struct sigaction *const actions[SIGNALS] = {&end, &end, &hang_up, &ignore, &ignore};

	stopped = 0;
	for (size_t i = 0; i < SIGNALS; i++) {
		sigaction(signals[i], actions[i], &before[i]);
		/* Under nohup, the capture outlives the terminal. */
		if (signals[i] == SIGHUP && before[i].sa_handler == SIG_IGN)
			sigaction(SIGHUP, &before[i], NULL);
	}
}

/* If a terminal was closed, the rest of the hang-ups that it causes is ignored: what was captured
 * still has to get its name. */
static void signals_give_back(const struct sigaction before[SIGNALS])
{
	for (size_t i = 0; i < SIGNALS; i++) {
		if (signals[i] == SIGHUP && stopped == SIGHUP)
			signal(SIGHUP, SIG_IGN);
		else
			sigaction(signals[i], &before[i], NULL);
	}
}

static int broken(const struct watch *watch)
{
	struct problem problem;

	fate_reader_why(watch->memory, &problem);
	fprintf(stderr, "weir ctl: %s: %s\n",
	        watch->trace             ? "trace"
	        : watch->words->explains ? "explain"
	                                 : "capture",
	        problem.text);
	return -EPROTO;
}

static int say(const char *text)
{
	fprintf(stderr, "weir ctl: %s\n", text);
	return -EINVAL;
}

/* Takes the fates of a ring. Returns how many, at most AT_ONCE; or a negative errno. */
static int take_ring(struct watch *watch, uint32_t ring)
{
	struct fate_taken taken;
	bool wrong = false;
	int n = 0;

	while (n < AT_ONCE &&
	       fate_reader_look(watch->memory, CTL_WATCH_BYTES, ring, &taken, &wrong)) {
		uint64_t *lost = &watch->lost[ring][taken.fate.kind];
		bool put = true;

		if (watch->trace)
			put = trace_put(watch->trace, &taken.fate, taken.missed - *lost);
		else
			fate_capture_put(watch->capture, &taken.fate, taken.missed - *lost);
		*lost = taken.missed;
		if (taken.poll_ns > watch->poll_ns) {
			watch->poll_before_ns = watch->poll_ns;
			watch->poll_ns = taken.poll_ns;
		}
		fate_reader_pass(&taken);
		if (!put)
			return say("no memory for the trace");
		n++;
	}
	return wrong ? broken(watch) : n;
}

static int take_connections(struct watch *watch, simtime until, uint64_t *n)
{
	int taken =
	        fate_reader_empty(watch->memory, CTL_WATCH_BYTES, explain_run_take, watch->explain);

	if (taken < 0)
		return broken(watch);
	*n = (uint64_t)taken;
	explain_run_step(watch->explain, until);
	return 0;
}

/* Takes what is there now, of each ring up to AT_ONCE; *n is the number. Returns 0; 1: enough; or a
 * negative errno. */
static int take_all(struct watch *watch, uint64_t *n)
{
	simtime until = fate_reader_settled(watch->memory);
	struct problem problem;

	*n = 0;
	if (watch->explain)
		return take_connections(watch, until, n);
	for (uint32_t i = 0; i < watch->n_rings; i++) {
		int taken = take_ring(watch, i);

		if (taken < 0)
			return taken;
		*n += (uint64_t)taken;
	}
	if (watch->n_rings == 1 && watch->poll_before_ns > until)
		until = watch->poll_before_ns;
	if (watch->trace)
		return trace_settle(watch->trace, until);
	if (fate_capture_settle(watch->capture, until, &problem) < 0)
		return say(problem.text);
	return watch->words->packets > 0 &&
	       fate_capture_frames(watch->capture) >= watch->words->packets;
}

/* Returns true if the reader of the pipe has gone, as it may when it has enough. */
static bool reader_gone(const struct watch *watch)
{
	struct pollfd polled = {.fd = STDOUT_FILENO};

	return watch->pipe && poll(&polled, 1, 0) > 0 && polled.revents & POLLERR;
}

/* Writes what was taken, when no more is available now. Returns as take_all. */
static int flush(struct watch *watch)
{
	struct problem problem;
	int rc;

	if (watch->trace || watch->explain) {
		rc = fflush(stdout) == 0 ? 0 : -errno;
		if (rc < 0)
			fprintf(stderr, "weir ctl: standard output: %s\n", strerror(-rc));
		return rc;
	}
	if (reader_gone(watch))
		return 1;
	rc = fate_capture_flush(watch->capture, &problem);
	if (rc < 0 && reader_gone(watch))
		return 1;
	if (rc < 0)
		say(problem.text);
	return rc;
}

static int begin_explain(struct watch *watch, const struct fate_memory *memory)
{
	const char *output = watch->words->output;
	const bool in_words = strcmp(output, "-") != 0 && !watch->link->json;
	struct problem problem;
	int rc = explain_run_open(
	        &(struct explain_plan){.n_ports = memory->n_ports < SCENARIO_PORTS_MAX
	                                                  ? memory->n_ports
	                                                  : SCENARIO_PORTS_MAX,
	                               .ports = memory->ports,
	                               .json = *output ? output : NULL,
	                               .text = in_words ? stdout : NULL,
	                               .lines = watch->link->json ? stdout : NULL},
	        &watch->explain, &problem);

	if (rc < 0)
		say(problem.text);
	return rc;
}

/* Begins the output: `memory` has the names of ports, and the time. Returns 0, or -errno after
 * printing all messages. */
static int begin(struct watch *watch, const struct fate_memory *memory)
{
	const struct capture_words *words = watch->words;
	struct problem problem;
	char comment[FILTER_BYTES_MAX + SCENARIO_NAME_BYTES + 40];
	bool all = strcmp(words->target, CAPTURE_ALL) == 0;
	int rc;

	if (watch->trace)
		return trace_names(watch->trace, memory->n_ports, memory->ports);
	if (words->explains)
		return begin_explain(watch, memory);
	snprintf(comment, sizeof(comment), "weir ctl capture %s%s%s", words->target,
	         words->matches ? " match " : "", words->match);
	for (uint32_t i = 0; i < memory->n_ports && i < SCENARIO_PORTS_MAX; i++)
		all |= strncmp(memory->ports[i], words->target, SCENARIO_NAME_BYTES) == 0;
	rc = fate_capture_open(words->output,
	                       &(struct fate_capture_plan){.comment = comment,
	                                                   .cloud = all ? NULL : words->target,
	                                                   .points = words->points,
	                                                   .snap = words->snap,
	                                                   .wall_ns = memory->wall_ns},
	                       &watch->capture, &problem);
	if (rc < 0)
		say(problem.text);
	return rc;
}

/* Returns true if the emulator has hung up, after printing its reason, if it has sent one. */
static bool hung_up(struct watch *watch, int rest_ms)
{
	struct pollfd polled = {.fd = watch->link->fd, .events = POLLIN};
	struct ctl_answer answer;

	if (poll(&polled, 1, rest_ms) <= 0)
		return false;
	if (ctl_link_answer(watch->link, &answer) != 0) {
		fputs("weir ctl: weir has ended, or hung up\n", stderr);
	} else {
		fprintf(stderr, "weir ctl: %s\n", answer.ok ? "unexpected answer" : answer.error);
		ctl_answer_release(&answer);
	}
	return true;
}

static int run(struct watch *watch)
{
	const uint64_t for_ns = watch->trace ? 0 : watch->words->for_ns;
	const uint64_t end_ns = for_ns ? clock_machine_ns() + for_ns : UINT64_MAX;
	const uint64_t most = watch->words->explains ? FATE_READER_MOST : AT_ONCE;
	const int rest_ms_most = watch->words->explains ? REST_MS_EXPLAIN : REST_MS_MOST;
	int result = begin(watch, watch->memory), rest_ms = REST_MS_LEAST;
	bool over = false;

	while (result == 0) {
		uint64_t n;

		/* The rings are read once more after the end, so that all that preceded it is
		 * taken. */
		if (!over && (stopped || clock_machine_ns() >= end_ns)) {
			/* Workers add nothing more, so reading comes to an end, however slow the
			 * output is. */
			struct ctl_answer answer;

			if (ctl_link_ask(watch->link, "capture off", &answer) == 0)
				ctl_answer_release(&answer);
			over = true;
		}
		result = take_all(watch, &n);
		if (result == 0 && n < most)
			result = flush(watch);
		if (over && n == 0)
			break;
		if (n < most / 2)
			rest_ms = RTE_MIN(2 * rest_ms, rest_ms_most);
		else if (n >= most)
			rest_ms = RTE_MAX(rest_ms / 2, REST_MS_LEAST);
		over = over || hung_up(watch, n < most ? rest_ms : 0);
	}
	return RTE_MIN(result, 0);
}

static int ask(struct ctl_link *link, const struct capture_words *words, int fd)
{
	struct ctl_answer answer;
	char line[CAPTURE_LINE_BYTES];
	int result;

	capture_words_line(words, line, sizeof(line));
	result = ctl_link_ask_with(link, line, fd, &answer);
	if (result != 0) {
		fprintf(stderr, "weir ctl: %s\n",
		        result == -ETIMEDOUT ? "weir does not answer; its log may say why"
		                             : "weir hung up before it answered");
		return result;
	}
	if (!answer.ok) {
		fprintf(stderr, "weir ctl: %s\n", answer.error);
		result = -EINVAL;
	}
	ctl_answer_release(&answer);
	return result;
}

/* Requests a capture and reads it to its end. `missed`: of each kind, the fates that found no room.
 * Returns 0 if it has reached its end, or was ended; -EINVAL if the emulator refused; or another
 * -errno. All messages are printed. */
static int ctl_watch(struct watch *watch, uint64_t missed[FATE_KINDS])
{
	struct sigaction before[SIGNALS];
	int fd = fate_reader_make(CTL_WATCH_BYTES, &watch->memory), result;

	if (fd < 0) {
		fprintf(stderr, "weir ctl: cannot get 32 MiB of memory for packets: %s\n",
		        strerror(-fd));
		return fd;
	}
	catch_signals(before);
	result = ask(watch->link, watch->words, fd);
	close(fd);
	if (result == 0) {
		watch->n_rings = ((const struct fate_memory *)watch->memory)->n_rings;
		result = watch->n_rings > FATE_RINGS_MAX ? broken(watch) : run(watch);
	}
	for (int kind = 0; result == 0 && kind < FATE_KINDS; kind++)
		missed[kind] =
		        fate_reader_missed(watch->memory, CTL_WATCH_BYTES, (enum fate_kind)kind);
	signals_give_back(before);
	munmap(watch->memory, CTL_WATCH_BYTES);
	return result;
}

static void say_missed(const uint64_t missed[FATE_KINDS])
{
	uint64_t at[POINT_COUNT] = {0}, all = 0;
	const char *gap = "";

	for (int kind = 0; kind < FATE_KINDS; kind++) {
		const enum point point = point_of((enum fate_kind)kind);

		if (point == POINT_COUNT)
			continue;
		at[point] += missed[kind];
		all += missed[kind];
	}
	if (all == 0)
		return;
	fprintf(stderr,
	        "weir ctl: %" PRIu64
	        " entries came faster than they could be written, and are missing here (none of "
	        "the traffic is lost):",
	        all);
	for (int i = 0; i < POINT_COUNT; i++) {
		if (at[i] == 0)
			continue;
		fprintf(stderr, "%s %s %" PRIu64, gap, point_name((enum point)i), at[i]);
		gap = ",";
	}
	fputc('\n', stderr);
}

static int complete(struct watch *watch, const uint64_t missed[FATE_KINDS])
{
	struct problem problem;
	int rc = fate_capture_finish(watch->capture, missed, &problem);

	if (rc == 0) {
		rc = fate_capture_publish(watch->capture, &problem);
		watch->capture = NULL;
	}
	if (rc < 0)
		say(problem.text);
	return rc;
}

/* Keeps what was written before something failed: live packets do not come again. */
static void keep(struct watch *watch)
{
	const char *path = watch->words->output;
	struct problem problem;

	if (!watch->pipe && fate_capture_frames(watch->capture) > 0) {
		if (fate_capture_keep(watch->capture, &problem) < 0)
			say(problem.text);
		else
			fprintf(stderr, "weir ctl: %s has what was written before\n", path);
		watch->capture = NULL;
	}
}

static int capture_to_file(struct watch *watch)
{
	uint64_t missed[FATE_KINDS] = {0};
	int rc = ctl_watch(watch, missed);

	if (rc == 0 && !reader_gone(watch))
		rc = complete(watch, missed);
	if (rc < 0 && watch->capture)
		keep(watch);
	fate_capture_discard(watch->capture);
	if (rc == 0)
		say_missed(missed);
	return rc;
}

static int trace_in_words(struct watch *watch)
{
	uint64_t missed[FATE_KINDS] = {0};
	int rc;

	watch->trace = trace_make(stdout, watch->words->packets);
	if (watch->trace == NULL) {
		say("no memory for the trace");
		return -ENOMEM;
	}
	rc = ctl_watch(watch, missed);
	if (rc == 0)
		trace_rest(watch->trace);
	trace_free(watch->trace);
	return rc;
}

static int explain_in_words(struct watch *watch)
{
	uint64_t missed[FATE_KINDS] = {0}, all = 0;
	struct problem problem;
	int rc = ctl_watch(watch, missed);

	for (int kind = 0; kind < FATE_KINDS; kind++)
		all += missed[kind];
	if (rc == 0)
		rc = explain_run_finish(watch->explain, all, &problem);
	if (rc == 0 && strcmp(watch->words->output, "-") != 0 && !watch->link->json)
		explain_run_print(watch->explain, stdout);
	if (rc == 0)
		rc = explain_run_publish(watch->explain, &problem);
	if (rc < 0 && watch->explain)
		say(problem.text);
	explain_run_free(watch->explain);
	return rc;
}

/* ---- lines ---- */

/* What a line is about. */
enum watching { WATCH_NOTHING, WATCH_CAPTURE, WATCH_TRACE, WATCH_EXPLAIN };

static enum watching watching_of(const struct words *words)
{
	static const char *const names[] = {
	        [WATCH_CAPTURE] = "capture", [WATCH_TRACE] = "trace", [WATCH_EXPLAIN] = "explain"};

	for (int i = WATCH_CAPTURE; i <= WATCH_EXPLAIN; i++) {
		if (words->n > 0 && !words->word[0].quoted &&
		    strcmp(words->word[0].text, names[i]) == 0)
			return (enum watching)i;
	}
	return WATCH_NOTHING;
}

static int parse(enum watching what, const struct words *words, struct capture_words *asked,
                 struct language_error *wrong)
{
	if (what == WATCH_TRACE)
		return capture_words_trace(words, asked, wrong);
	if (what == WATCH_EXPLAIN)
		return capture_words_explain(words, asked, wrong);
	return capture_words_parse(words, true, asked, wrong);
}

bool ctl_capture_line(struct ctl_link *link, const char *line, int *result)
{
	struct language_error wrong = {.column = 0};
	struct capture_words asked;
	struct watch watch = {.link = link, .words = &asked};
	struct words words;
	enum watching what;

	if (words_split(line, &words, &wrong) != 0)
		return false;
	what = watching_of(&words);
	if (what == WATCH_NOTHING)
		return false;
	if (parse(what, &words, &asked, &wrong) != 0) {
		*result = say(wrong.text);
	} else if (what == WATCH_TRACE) {
		*result = trace_in_words(&watch);
	} else if (what == WATCH_EXPLAIN) {
		*result = explain_in_words(&watch);
	} else if (!asked.output[0] && isatty(STDOUT_FILENO)) {
		*result = say("no output given: use -o FILE, or -o - for a pipe: weir ctl capture "
		              "down -o - | wireshark -k -i -");
	} else {
		if (!asked.output[0])
			strcpy(asked.output, "-");
		watch.pipe = strcmp(asked.output, "-") == 0;
		*result = capture_to_file(&watch);
	}
	return true;
}
