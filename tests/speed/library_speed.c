/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libweir through its C interface, with the traffic of drive.c: beside that, the difference is what
 * the interface costs.
 *
 *   library_speed SCENARIO [PACKETS] [MPPS] [BATCH] [FRAME]
 *   library_speed open [N [SCENARIO]]
 *   library_speed open-files FILE...
 *   library_speed clone [N]
 *
 * SCENARIO is one of those of `weir bench`, or statements separated by `;`. BATCH frames (default
 * 32) of FRAME bytes (default 64) arrive at both ports in turn, at distinct instants, MPPS million
 * a second in all (default 20) of virtual time; what has left is received in batches of that size.
 * With 1, each weir_send is followed by one weir_receive. The packets of the first 50 ms and a
 * tenth are a warm-up.
 *
 * open: the time to open a scenario, and one of N networks (default 10000) that are open at once,
 * with the memory that each takes. open-files: the same for files such as those of configs/, each
 * 50 times, the least and the mean; what they name is searched beside them. clone: the time to
 * clone a network with N packets (default 100000) in flight.
 */
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench/bench.h"
#include "language/scenario_file.h"
#include "measure/bench_source.h"
#include "weir.h"

static struct weir *net;
static int64_t now;
static uint64_t out;

static double thread_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static struct weir *open_net(const char *text)
{
	struct weir_error error;
	struct weir *opened = weir_open(text, NULL, &error);

	if (opened)
		return opened;
	fprintf(stderr, "library_speed: %" PRIu32 ":%" PRIu32 ": %s\n", error.line, error.column,
	        error.text);
	exit(1);
}

static char *text_of(const char *words)
{
	const struct bench_scenario *found = bench_scenario_find(words);
	char *lines = strdup(found ? found->statements : words);
	struct scenario *scenario;
	struct problem problem;

	for (char *at = lines; !found && at && *at; at++) {
		if (*at == ';')
			*at = '\n';
	}
	if (bench_scenario_make(lines, true, &scenario, &problem) < 0) {
		fprintf(stderr, "library_speed: %s\n", problem.text);
		exit(1);
	}
	return scenario_text(scenario);
}

static void step(const struct weir_frame *of, uint32_t batch, int64_t step_ns)
{
	struct weir_frame frames[WEIR_BATCH_MAX], got[WEIR_BATCH_MAX];
	int n;

	for (uint32_t port = 0; port < 2; port++) {
		now += step_ns / 2;
		if (batch == 1) {
			weir_send(net, now, port, of->data, of->bytes);
			out += (uint64_t)weir_receive(net, now, got, 1);
			continue;
		}
		for (uint32_t i = 0; i < batch; i++) {
			frames[i] = *of;
			frames[i].t_ns = now;
			frames[i].port = port;
		}
		weir_send_many(net, frames, batch);
	}
	while (batch > 1 && (n = weir_receive(net, now, got, batch)) > 0)
		out += (uint64_t)n;
}

static int measure(int argc, char **argv)
{
	static uint8_t data[WEIR_FRAME_MAX];
	const uint64_t packets = argc > 2 ? strtoull(argv[2], NULL, 10) : 4000000;
	const double mpps = argc > 3 ? strtod(argv[3], NULL) : 20;
	const uint32_t batch = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 32;
	const struct weir_frame frame = {
	        .bytes = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 64, .data = data};
	const int64_t step_ns = (int64_t)(2 * batch * 1e3 / mpps);
	const uint64_t warm_up = (uint64_t)(mpps * 1e6 * 0.05) + packets / 10;
	double began, took;

	if (batch < 1 || batch > WEIR_BATCH_MAX || mpps <= 0 || frame.bytes < BENCH_HEADERS_BYTES ||
	    frame.bytes > sizeof(data)) {
		fprintf(stderr, "usage: library_speed SCENARIO [PACKETS] [MPPS] [BATCH] [FRAME]\n");
		return 2;
	}
	memcpy(data, bench_headers, BENCH_HEADERS_BYTES);
	net = open_net(text_of(argv[1]));
	for (uint64_t i = 0; i < warm_up / (2 * batch); i++)
		step(&frame, batch, step_ns);
	out = 0;
	began = thread_ns(CLOCK_THREAD_CPUTIME_ID);
	for (uint64_t i = 0; i < packets / (2 * batch); i++)
		step(&frame, batch, step_ns);
	took = thread_ns(CLOCK_THREAD_CPUTIME_ID) - began;
	printf("packets %" PRIu64 " out %" PRIu64 " ns_per_packet %.1f mpps %.1f\n", packets, out,
	       took / (double)packets, (double)packets * 1e3 / took);
	weir_close(net);
	return 0;
}

static uint64_t resident(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long all = 0, pages = 0;

	if (file && fscanf(file, "%lu %lu", &all, &pages) != 2)
		pages = 0;
	if (file)
		fclose(file);
	return pages * 4096;
}

static int measure_open(uint32_t n, const char *scenario)
{
	char *text = text_of(scenario);
	struct weir **nets = calloc(n, sizeof(struct weir *));
	static uint8_t data[64];
	uint64_t before;
	double began, opened, used;

	weir_close(open_net(text));
	before = resident();
	began = thread_ns(CLOCK_MONOTONIC);
	for (uint32_t i = 0; i < n; i++)
		nets[i] = open_net(text);
	opened = thread_ns(CLOCK_MONOTONIC);
	for (uint32_t i = 0; i < n; i++)
		weir_send(nets[i], 1, 0, data, sizeof(data));
	used = thread_ns(CLOCK_MONOTONIC);
	printf("networks %" PRIu32 " us_to_open %.1f us_to_send_first %.1f bytes_each %" PRIu64
	       "\n",
	       n, (opened - began) / n / 1e3, (used - opened) / n / 1e3, (resident() - before) / n);
	for (uint32_t i = 0; i < n; i++)
		weir_close(nets[i]);
	return 0;
}

static void measure_open_file(const char *path)
{
	static char text[1 << 20];
	const struct weir_options options = {.size = sizeof(options),
	                                     .base = dirname(strdup(path))};
	FILE *file = fopen(path, "r");
	double least = 1e12, all = 0;
	struct weir_error error;

	if (!file) {
		perror(path);
		exit(1);
	}
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	for (int i = 0; i < 50; i++) {
		const double began = thread_ns(CLOCK_MONOTONIC);
		struct weir *opened = weir_open(text, &options, &error);
		const double took = thread_ns(CLOCK_MONOTONIC) - began;

		if (!opened) {
			fprintf(stderr, "%s:%" PRIu32 ": %s\n", path, error.line, error.text);
			exit(1);
		}
		weir_close(opened);
		least = took < least ? took : least;
		all += took / 50;
	}
	printf("ms_to_open %.2f mean %.2f %s\n", least / 1e6, all / 1e6, path);
}

static int measure_clone(uint32_t n)
{
	static uint8_t data[1500];
	struct weir_error error;
	struct weir *clone;

	for (uint32_t bytes = 64; bytes <= sizeof(data); bytes += sizeof(data) - 64) {
		double began;

		net = open_net("port a\nport b\ncloud down from a to b\ncloud down delay 1s\n");
		for (uint32_t i = 0; i < n; i++)
			weir_send(net, (int64_t)i * 1000, 0, data, bytes);
		for (int i = 0; i < 3; i++) {
			began = thread_ns(CLOCK_MONOTONIC);
			clone = weir_clone(net, &error);
			printf("in_flight %" PRIu32 " bytes %" PRIu32 " ms_to_clone %.1f%s\n", n,
			       bytes, (thread_ns(CLOCK_MONOTONIC) - began) / 1e6,
			       clone ? "" : error.text);
			weir_close(clone);
		}
		weir_close(net);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const uint32_t n = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;

	if (argc < 2) {
		fputs("usage: library_speed SCENARIO [PACKETS] [MPPS] [BATCH] [FRAME]\n"
		      "       library_speed open [N [SCENARIO]]\n"
		      "       library_speed open-files FILE...\n"
		      "       library_speed clone [N]\n",
		      stderr);
		return 2;
	}
	for (int i = 2; strcmp(argv[1], "open-files") == 0 && i < argc; i++)
		measure_open_file(argv[i]);
	if (strcmp(argv[1], "open-files") == 0)
		return 0;
	if (strcmp(argv[1], "open") == 0)
		return measure_open(n ? n : 10000, argc > 3 ? argv[3] : "delay-10ms");
	if (strcmp(argv[1], "clone") == 0)
		return measure_clone(n ? n : 100000);
	return measure(argc, argv);
}
