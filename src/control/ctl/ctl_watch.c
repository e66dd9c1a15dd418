/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/ctl_watch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* The most fates taken from one ring before the others have their turn. */
#define AT_ONCE 4096
/* The pause when nothing was there: the first, and the longest. */
#define REST_MS_LEAST 1
#define REST_MS_MOST  20

volatile sig_atomic_t ctl_watch_stopped;

struct watch {
	struct ctl_link *link;
	const struct ctl_watcher *watcher;
	void *memory;
	uint64_t lost[FATE_RINGS_MAX][FATE_KINDS]; /* of each ring and kind, as reported last */
	/* with a single worker: its latest poll, and the one before, which is complete */
	simtime poll_ns, poll_before_ns;
	uint32_t n_rings;
};

static void stop(int signal)
{
	ctl_watch_stopped = signal;
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

	ctl_watch_stopped = 0;
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
		if (signals[i] == SIGHUP && ctl_watch_stopped == SIGHUP)
			signal(SIGHUP, SIG_IGN);
		else
			sigaction(signals[i], &before[i], NULL);
	}
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SIMTIME_S + (uint64_t)now.tv_nsec;
}

static int broken(const struct watch *watch)
{
	fprintf(stderr, "weir ctl: %s: weir writes another version of the format\n",
	        watch->watcher->name);
	return -EPROTO;
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
		int result = watch->watcher->put(watch->watcher->argument, &taken.fate,
		                                 taken.missed - *lost);

		*lost = taken.missed;
		if (taken.poll_ns > watch->poll_ns) {
			watch->poll_before_ns = watch->poll_ns;
			watch->poll_ns = taken.poll_ns;
		}
		fate_reader_pass(&taken);
		if (result < 0)
			return result;
		n++;
	}
	return wrong ? broken(watch) : n;
}

/* Takes what is there now, of each ring up to AT_ONCE; *n is the number. Returns 0; 1: enough; or a
 * negative errno. */
static int take_all(struct watch *watch, uint64_t *n)
{
	simtime until = fate_reader_settled(watch->memory);

	*n = 0;
	for (uint32_t i = 0; i < watch->n_rings; i++) {
		int taken = take_ring(watch, i);

		if (taken < 0)
			return taken;
		*n += (uint64_t)taken;
	}
	if (watch->n_rings == 1 && watch->poll_before_ns > until)
		until = watch->poll_before_ns;
	return watch->watcher->settle(watch->watcher->argument, until);
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

/* Ends the capture: workers add nothing more, so reading comes to an end, however slow the output
 * is. */
static void capture_off(struct watch *watch)
{
	struct ctl_answer answer;

	if (ctl_link_ask(watch->link, "capture off", &answer) == 0)
		ctl_answer_release(&answer);
}

static int run(struct watch *watch)
{
	const struct ctl_watcher *watcher = watch->watcher;
	const uint64_t end_ns = watcher->for_ns ? now_ns() + watcher->for_ns : UINT64_MAX;
	int result = watcher->begin(watcher->argument, watch->memory), rest_ms = REST_MS_LEAST;
	bool over = false;

	while (result == 0) {
		uint64_t n;

		/* The rings are read once more after the end, so that all that preceded it is
		 * taken. */
		if (!over && (ctl_watch_stopped || now_ns() >= end_ns)) {
			capture_off(watch);
			over = true;
		}
		result = take_all(watch, &n);
		if (result == 0 && n == 0) {
			result = watcher->flush(watcher->argument);
			if (over)
				break;
			over = hung_up(watch, rest_ms);
			rest_ms = RTE_MIN(2 * rest_ms, REST_MS_MOST);
		} else {
			rest_ms = REST_MS_LEAST;
			over = over || hung_up(watch, 0);
		}
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

int ctl_watch(struct ctl_link *link, const struct capture_words *words,
              const struct ctl_watcher *watcher, uint64_t missed[FATE_KINDS])
{
	struct watch *watch = calloc(1, sizeof(*watch));
	struct sigaction before[SIGNALS];
	int fd = -ENOMEM, result;

	if (watch)
		fd = fate_reader_make(CTL_WATCH_BYTES, &watch->memory);
	if (fd < 0) {
		fprintf(stderr, "weir ctl: cannot get 32 MiB of memory for packets: %s\n",
		        strerror(-fd));
		free(watch);
		return fd;
	}
	watch->link = link;
	watch->watcher = watcher;
	catch_signals(before);
	result = ask(link, words, fd);
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
	free(watch);
	return result;
}
