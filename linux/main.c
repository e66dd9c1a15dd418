/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weir-host: turns this Linux into a host that responds to the routers which weir emulates.
 * Attaches a response and keeps its figures up to date. At the end, prints the counters and
 * detaches the response.
 *
 * SIGTERM and SIGINT end it, SIGUSR1 prints the counters. Exit status: 0; 1 if something failed; 2
 * if the command line is wrong.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "kernel_side.h"
#include "options.h"
#include "path.h"

#define ASK_EVERY_MS 50

static void print_help(void)
{
	printf("usage: weir-host RESPONSE [options]\n\n");
	for (uint32_t i = 0; i < responses_n; i++)
		printf("  %-9s %s\n            (%s)\n", responses[i].word, responses[i].help,
		       responses[i].name);
	printf("\n"
	       "  -i INTERFACE   the interface at which quenches come in (becn, ecn-becn)\n"
	       "  --bit 0x80     the bit of a quench that stands for a marked packet\n"
	       "  -s SOCKET      the socket of `weir run -s` (limited)\n"
	       "  --path CLOUD   the cloud with the `feedback proxy strip` near this host\n"
	       "  --fresh 10000ms  ignores older answers of routers\n"
	       "  --check        loads and registers the congestion control, then ends: shows\n"
	       "                 whether this kernel supports it\n"
	       "  -j             prints the counters as JSON\n"
	       "  -v             prints the messages of libbpf and of the kernel's verifier\n\n"
	       "It runs until SIGTERM or SIGINT; SIGUSR1 prints the counters.\n"
	       "Connections select the congestion control meanwhile:\n"
	       "  sysctl net.ipv4.tcp_congestion_control=weir_becn, or iperf3 -C weir_becn\n");
}

static void print_totals(const struct kernel_side *side, const struct options *options)
{
	struct totals totals;
	int result = kernel_side_totals(side, &totals);

	if (result != 0) {
		fprintf(stderr, "weir-host: the counters cannot be read: %s\n", strerror(-result));
		return;
	}
	if (options->json) {
		printf("{\"response\":\"%s\"", options->response->name);
#define TOTALS_JSON(field, help) printf(",\"" #field "\":%" PRIu64, totals.field);
		TOTALS(TOTALS_JSON)
#undef TOTALS_JSON
		printf("}\n");
	} else {
		printf("%s\n", options->response->name);
#define TOTALS_TEXT(field, help) printf("  %-11s %10" PRIu64 "  %s\n", #field, totals.field, help);
		TOTALS(TOTALS_TEXT)
#undef TOTALS_TEXT
	}
	fflush(stdout);
}

/* Copies the path's figures from weir into the kernel. Returns 0, or -errno if weir has gone, there
 * is no such cloud, or the kernel refuses the figures. */
static int inform(struct kernel_side *side, const struct options *options, struct path *path)
{
	struct path_figures figures;
	int result = path_ask(path, options->cloud, options->fresh_ms, &figures);

	if (result == 0)
		result = kernel_side_inform(side, &figures);
	return result;
}

/* Serves signals, and keeps the figures up to date, until a signal ends it. Returns 0 or -errno. */
static int stay(struct kernel_side *side, const struct options *options, struct path *path,
                const sigset_t *signals)
{
	const struct timespec interval = {.tv_nsec = ASK_EVERY_MS * 1000000};
	bool asks = options->response->informed;

	for (;;) {
		int signal =
		        asks ? sigtimedwait(signals, NULL, &interval) : sigwaitinfo(signals, NULL);

		if (signal == SIGTERM || signal == SIGINT)
			return 0;
		if (signal == SIGUSR1)
			print_totals(side, options);
		if (asks) {
			int result = inform(side, options, path);

			if (result != 0)
				return result;
		}
	}
}

static int run(const struct options *options)
{
	struct path path = {.fd = -1};
	struct kernel_side side;
	sigset_t signals;
	int result;

	/* Blocked before anything is attached: from here on, a signal leads to an orderly end. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (options->response->informed && !options->check &&
	    path_open(&path, options->socket) != 0) {
		fprintf(stderr, "weir-host: %s\n", path.error);
		return 1;
	}
	kernel_side_verbose = options->verbose;
	result = kernel_side_attach(&side, options->response,
	                            options->check ? NULL : options->interface, options->bit);
	if (result != 0) {
		fprintf(stderr, "weir-host: %s\n", side.error);
		path_close(&path);
		return 1;
	}
	if (options->check) {
		printf("%s can be used on this machine\n", options->response->name);
	} else {
		result = options->response->informed ? inform(&side, options, &path) : 0;
		if (result == 0) {
			fprintf(stderr, "weir-host: running: %s\n", options->response->name);
			result = stay(&side, options, &path, &signals);
		}
		if (result != 0)
			fprintf(stderr, "weir-host: %s\n",
			        path.error[0] != '\0' ? path.error : strerror(-result));
		print_totals(&side, options);
	}
	kernel_side_detach(&side);
	path_close(&path);
	return result != 0;
}

int main(int argc, char **argv)
{
	char error[OPTIONS_ERROR_BYTES];
	struct options options;

	if (options_parse(&options, argc, argv, error) != 0) {
		fprintf(stderr, "weir-host: %s\n", error);
		return 2;
	}
	if (options.response == NULL) {
		print_help();
		return 0;
	}
	return run(&options);
}
