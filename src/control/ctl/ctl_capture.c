/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/ctl_capture.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl/ctl_watch.h"
#include "fates/fate_capture.h"
#include "fates/trace.h"

static int say(const char *text)
{
	fprintf(stderr, "weir ctl: %s\n", text);
	return -EINVAL;
}

/* ---- as a file ---- */

struct to_file {
	const struct capture_words *words;
	struct fate_capture *capture;
	bool pipe; /* the output is a pipe, whose reader may go */
};

static int file_begin(void *argument, const struct fate_memory *memory)
{
	struct to_file *to = argument;
	const struct capture_words *words = to->words;
	struct problem problem;
	char comment[FILTER_BYTES_MAX + SCENARIO_NAME_BYTES + 40];
	bool all = strcmp(words->target, CAPTURE_ALL) == 0;
	int rc;

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
	                       &to->capture, &problem);
	if (rc < 0)
		say(problem.text);
	return rc;
}

static int file_put(void *argument, const struct fate *fate, uint64_t lost)
{
	struct to_file *to = argument;

	fate_capture_put(to->capture, fate, lost);
	return 0;
}

static bool enough(const struct to_file *to)
{
	return to->words->packets > 0 && fate_capture_frames(to->capture) >= to->words->packets;
}

static int file_settle(void *argument, simtime until)
{
	struct to_file *to = argument;
	struct problem problem;
	int rc = fate_capture_settle(to->capture, until, &problem);

	if (rc < 0)
		say(problem.text);
	return rc < 0 ? rc : enough(to);
}

/* Returns true if the reader of the pipe has gone, as it may when it has enough. */
static bool reader_gone(const struct to_file *to)
{
	struct pollfd polled = {.fd = STDOUT_FILENO};

	return to->pipe && poll(&polled, 1, 0) > 0 && polled.revents & POLLERR;
}

static int file_flush(void *argument)
{
	struct to_file *to = argument;
	struct problem problem;
	int rc;

	if (reader_gone(to))
		return 1;
	rc = fate_capture_flush(to->capture, &problem);
	if (rc < 0 && reader_gone(to))
		return 1;
	if (rc < 0)
		say(problem.text);
	return rc;
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

static int complete(struct to_file *to, const uint64_t missed[FATE_KINDS])
{
	struct problem problem;
	int rc = fate_capture_finish(to->capture, missed, &problem);

	if (rc == 0) {
		rc = fate_capture_publish(to->capture, &problem);
		to->capture = NULL;
	}
	if (rc < 0)
		say(problem.text);
	return rc;
}

/* Keeps what was written before something failed: live packets do not come again. */
static void keep(struct to_file *to)
{
	const char *path = to->words->output;
	struct problem problem;

	if (!to->pipe && fate_capture_frames(to->capture) > 0) {
		if (fate_capture_keep(to->capture, &problem) < 0)
			say(problem.text);
		else
			fprintf(stderr, "weir ctl: %s has what was written before\n", path);
		to->capture = NULL;
	}
}

static int capture_to_file(struct ctl_link *link, const struct capture_words *words)
{
	struct to_file to = {.words = words, .pipe = strcmp(words->output, "-") == 0};
	const struct ctl_watcher watcher = {.begin = file_begin,
	                                    .put = file_put,
	                                    .settle = file_settle,
	                                    .flush = file_flush,
	                                    .argument = &to,
	                                    .for_ns = words->for_ns,
	                                    .name = "capture"};
	uint64_t missed[FATE_KINDS] = {0};
	int rc = ctl_watch(link, words, &watcher, missed);
	bool gone = rc == 0 && reader_gone(&to);

	if (rc == 0 && !gone)
		rc = complete(&to, missed);
	if (rc < 0 && to.capture)
		keep(&to);
	fate_capture_discard(to.capture);
	if (rc == 0)
		say_missed(missed);
	return rc;
}

/* ---- in words ---- */

static int trace_begin(void *argument, const struct fate_memory *memory)
{
	return trace_names((struct trace *)argument, memory->n_ports, memory->ports);
}

static int trace_take(void *argument, const struct fate *fate, uint64_t lost)
{
	return trace_put(argument, fate, lost) ? 0 : say("no memory for the trace");
}

static int trace_until(void *argument, simtime until)
{
	return trace_settle(argument, until);
}

static int trace_flush(void *argument)
{
	int rc = fflush(stdout) == 0 ? 0 : -errno;

	(void)argument;
	if (rc < 0)
		fprintf(stderr, "weir ctl: standard output: %s\n", strerror(-rc));
	return rc;
}

static int trace_in_words(struct ctl_link *link, const struct capture_words *words)
{
	struct trace *trace = trace_make(stdout, words->packets);
	const struct ctl_watcher watcher = {.begin = trace_begin,
	                                    .put = trace_take,
	                                    .settle = trace_until,
	                                    .flush = trace_flush,
	                                    .argument = trace,
	                                    .name = "trace"};
	uint64_t missed[FATE_KINDS] = {0};
	int rc;

	if (trace == NULL) {
		say("no memory for the trace");
		return -ENOMEM;
	}
	rc = ctl_watch(link, words, &watcher, missed);
	if (rc == 0)
		trace_rest(trace);
	trace_free(trace);
	return rc;
}

/* ---- lines ---- */

static int complain(const struct language_error *wrong)
{
	fprintf(stderr, "weir ctl: %s\n", wrong->text);
	return -EINVAL;
}

static int capture(struct ctl_link *link, const struct words *words)
{
	struct language_error wrong = {.column = 0};
	struct capture_words asked;

	if (capture_words_parse(words, true, &asked, &wrong) != 0)
		return complain(&wrong);
	if (!asked.output[0] && isatty(STDOUT_FILENO))
		return say("no output given: use -o FILE, or -o - for a pipe: weir ctl capture "
		           "down -o - | wireshark -k -i -");
	if (!asked.output[0])
		strcpy(asked.output, "-");
	return capture_to_file(link, &asked);
}

bool ctl_capture_line(struct ctl_link *link, const char *line, int *result)
{
	struct language_error wrong = {.column = 0};
	struct capture_words asked;
	struct words words;

	if (words_split(line, &words, &wrong) != 0 || words.n == 0 || words.word[0].quoted)
		return false;
	if (strcmp(words.word[0].text, "capture") == 0)
		*result = capture(link, &words);
	else if (strcmp(words.word[0].text, "trace") != 0)
		return false;
	else if (capture_words_trace(&words, &asked, &wrong) != 0)
		*result = complain(&wrong);
	else
		*result = trace_in_words(link, &asked);
	return true;
}
