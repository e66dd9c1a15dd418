/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec/exec.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/engine_report.h"
#include "namespace/namespace.h"
#include "text/table.h"

#define BRIEFS     16
#define LOOKS_SOON 4 /* enough if nothing is left */
#define SOON_MS    5
#define LATER_MS   20

/* Files of /proc/net. To read a table of all connections takes the kernel a millisecond and more,
 * as it goes through those of all namespaces. So it is read only if the command's has any. */
enum { COUNT4, COUNT6, TABLE4, TABLE6, FILES };

static const char *const paths[FILES] = {
        [COUNT4] = "/proc/thread-self/net/sockstat",
        [COUNT6] = "/proc/thread-self/net/sockstat6",
        [TABLE4] = "/proc/thread-self/net/tcp",
        [TABLE6] = "/proc/thread-self/net/tcp6",
};

struct left {
	uint64_t tcp_bytes, gateway_bytes, packets;
};

/* The clouds that lead from the command. */
struct clouds {
	uint32_t n;
	uint64_t held;    /* packets */
	uint64_t in, out; /* so far */
};

struct exec_drain {
	const struct exec_path *path;
	struct runtime *runtime;
	uint32_t port;
	int files[FILES]; /* of the command's namespace, or -1 */
	uint32_t n_workers;
	uint64_t *polls; /* of each worker, at the last look */
	struct clouds clouds;
	bool taken;          /* none waits for a worker, at the last look */
	bool entered;        /* all that the command has sent have entered the clouds */
	uint64_t out_at_end; /* then: `out` when the last of them will have left */
	struct left left, moved;
	int64_t moved_ms; /* when something last got less; 0: not looked yet */
	unsigned looks;
};

/* ---- the command's kernel ---- */

static int open_files(void *argument)
{
	int *opened = argument;

	for (int i = 0; i < FILES; i++)
		opened[i] = open(paths[i], O_RDONLY | O_CLOEXEC);
	return 0;
}

/* A count is a line of `TCP: inuse 1 ...`, a table a heading and lines of
 * `sl local remote st tx_queue:rx_queue ...`. */
static bool read_number(const char *line, int i, unsigned long *number)
{
	if (i == COUNT4)
		return sscanf(line, "TCP: inuse %lu", number) == 1;
	if (i == COUNT6)
		return sscanf(line, "TCP6: inuse %lu", number) == 1;
	return sscanf(line, " %*s %*s %*s %*x %lx:", number) == 1;
}

/* Returns the sum of the numbers of all lines; 0 if there is no such file. */
static uint64_t sum_of(const struct exec_drain *drain, int i)
{
	unsigned long number;
	char line[512];
	uint64_t sum = 0;
	FILE *file;
	int fd;

	if (drain->files[i] < 0 || lseek(drain->files[i], 0, SEEK_SET) < 0)
		return 0;
	fd = dup(drain->files[i]);
	file = fd >= 0 ? fdopen(fd, "r") : NULL;
	while (file && fgets(line, sizeof(line), file)) {
		if (read_number(line, i, &number))
			sum += number;
	}
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
	return sum;
}

static uint64_t unacknowledged(const struct exec_drain *drain)
{
	uint64_t bytes = 0;

	if (sum_of(drain, COUNT4) > 0)
		bytes += sum_of(drain, TABLE4);
	if (sum_of(drain, COUNT6) > 0)
		bytes += sum_of(drain, TABLE6);
	return bytes;
}

/* ---- weir ---- */

/* Returns true if each worker has completed a poll since polls_take and has nothing in hand: then
 * it has handed over what it had received. */
static bool polls_have_ended(const struct exec_drain *drain)
{
	struct worker_report report;

	for (uint32_t i = 0; i < drain->n_workers; i++) {
		if (runtime_worker_report(drain->runtime, i, &report) &&
		    (report.polls == drain->polls[i] || report.in_hand > 0))
			return false;
	}
	return true;
}

static void polls_take(struct exec_drain *drain)
{
	struct worker_report report;

	for (uint32_t i = 0; i < drain->n_workers; i++) {
		if (runtime_worker_report(drain->runtime, i, &report))
			drain->polls[i] = report.polls;
	}
}

static struct clouds read_clouds(const struct exec_drain *drain)
{
	const struct scenario *scenario = runtime_scenario(drain->runtime);
	struct cloud_brief briefs[BRIEFS];
	struct clouds clouds = {0};
	uint32_t from, n;

	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		if (scenario_root(scenario, scenario->clouds[i]) != (int)drain->port)
			continue;
		clouds.n++;
		from = 0;
		do {
			n = runtime_briefs(drain->runtime, scenario->clouds[i]->name, from, BRIEFS,
			                   briefs);
			for (uint32_t k = 0; k < n; k++) {
				const struct counters *counters = &briefs[k].counters;

				clouds.held += briefs[k].held_packets;
				clouds.in += counters_in(counters);
				clouds.out += counters_out(counters);
			}
			from += n;
		} while (n == BRIEFS);
	}
	return clouds;
}

/* Returns the longest time that packets have taken so far, there and back. A packet counts when it
 * enters the line: none that is on a line takes longer. */
static int64_t slowest_ms(const struct exec_drain *drain)
{
	const struct scenario *scenario = runtime_scenario(drain->runtime);
	struct histogram delays;
	uint64_t sum_ns = 0;

	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		histogram_clear(&delays);
		if (runtime_delays(drain->runtime, scenario->clouds[i]->name, &delays))
			sum_ns += delays.max;
	}
	return (int64_t)(sum_ns / 1000000);
}

/* ---- the drain ---- */

struct exec_drain *exec_drain_make(const struct exec_path *path, struct runtime *runtime,
                                   uint32_t port)
{
	struct exec_drain *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	*made = (struct exec_drain){.path = path,
	                            .runtime = runtime,
	                            .port = port,
	                            .n_workers = runtime_workers(runtime)};
	for (int i = 0; i < FILES; i++)
		made->files[i] = -1;
	made->polls = calloc(made->n_workers, sizeof(*made->polls));
	if (!made->polls) {
		free(made);
		return NULL;
	}
	namespace_run(path->ends[PATH_NEAR].net, open_files, made->files);
	return made;
}

/* Reads what is left, in the order in which it moves: what goes on meanwhile is seen later on. */
static void look(struct exec_drain *drain)
{
	struct left left = {.tcp_bytes = unacknowledged(drain)};

	drain->clouds = read_clouds(drain);
	if (!drain->entered) {
		left.packets = drain->clouds.held + !drain->taken;
	} else if (drain->clouds.out < drain->out_at_end) {
		left.packets = drain->out_at_end - drain->clouds.out;
		if (left.packets > drain->clouds.held)
			left.packets = drain->clouds.held;
	}
	left.gateway_bytes = gateway_unsent(drain->path->gateway);
	drain->left = left;
}

static bool is_empty(const struct left *left)
{
	return left->tcp_bytes + left->gateway_bytes + left->packets == 0;
}

static bool gives_up(struct exec_drain *drain, int64_t now_ms)
{
	const struct left *left = &drain->left, *moved = &drain->moved;

	if (drain->moved_ms == 0 || left->tcp_bytes < moved->tcp_bytes ||
	    left->gateway_bytes < moved->gateway_bytes || left->packets < moved->packets) {
		drain->moved = *left;
		drain->moved_ms = now_ms;
	}
	return now_ms - drain->moved_ms > EXEC_DRAIN_MS &&
	       now_ms - drain->moved_ms > EXEC_DRAIN_MS + slowest_ms(drain);
}

/* If every worker has completed a poll between two looks, and nothing has entered or left a cloud,
 * then no packet is in the hands of a worker at the second look. */
bool exec_drain_is_over(struct exec_drain *drain, int64_t now_ms)
{
	const struct clouds before = drain->clouds;
	const bool was_empty = drain->moved_ms != 0 && is_empty(&drain->left);
	const bool ended = polls_have_ended(drain);
	struct pollfd polled = {.fd = drain->path->ends[PATH_NEAR].tap, .events = POLLIN};
	bool waits; /* before weir */

	drain->looks++;
	if (!ended && drain->moved_ms != 0)
		return gives_up(drain, now_ms);
	waits = poll(&polled, 1, 0) > 0;
	if (drain->taken && !waits && !drain->entered) {
		struct clouds clouds = read_clouds(drain);

		/* A packet leaves each cloud of a chain. */
		drain->out_at_end = clouds.out + clouds.held * clouds.n;
		drain->entered = true;
	}
	drain->taken = !waits;
	look(drain);
	polls_take(drain);
	if (was_empty && is_empty(&drain->left) && before.in == drain->clouds.in &&
	    before.out == drain->clouds.out)
		return true;
	return gives_up(drain, now_ms);
}

int exec_drain_pace_ms(const struct exec_drain *drain)
{
	return drain->looks < LOOKS_SOON ? SOON_MS : LATER_MS;
}

bool exec_drain_tell(const struct exec_drain *drain, char *text, size_t room)
{
	uint64_t bytes = drain->left.tcp_bytes + drain->left.gateway_bytes;
	uint64_t packets = drain->left.packets;
	int n;

	n = snprintf(text, room, "ended with this still on its way: ");
	if (bytes > 0)
		n += snprintf(text + n, room - (size_t)n, "%s of TCP%s",
		              count_of(bytes, "byte").text, packets > 0 ? ", " : "");
	if (packets > 0)
		snprintf(text + n, room - (size_t)n, "%s", count_of(packets, "packet").text);
	return bytes + packets > 0;
}

void exec_drain_free(struct exec_drain *drain)
{
	if (!drain)
		return;
	for (int i = 0; i < FILES; i++) {
		if (drain->files[i] >= 0)
			close(drain->files[i]);
	}
	free(drain->polls);
	free(drain);
}
