/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/lab_trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lab_trace {
	struct run_watch watch;
	FILE *out;
};

static void sample(void *argument, const char *cloud, simtime now, double queue_bytes,
                   double average_bytes)
{
	struct lab_trace *trace = argument;

	fprintf(trace->out, "%.6f,%s.queue,%.0f,%.1f\n", (double)now / SIMTIME_S, cloud,
	        queue_bytes, average_bytes);
}

static void window(void *argument, const char *group, uint32_t flow, simtime now, double cwnd)
{
	struct lab_trace *trace = argument;

	fprintf(trace->out, "%.6f,%s.%u.cwnd,%.4f,\n", (double)now / SIMTIME_S, group, flow, cwnd);
}

static void goodput(void *argument, const char *group, simtime now, double bytes)
{
	struct lab_trace *trace = argument;

	fprintf(trace->out, "%.6f,%s.bytes,%.0f,\n", (double)now / SIMTIME_S, group, bytes);
}

int lab_trace_open(const char *path, struct lab_trace **result, const struct run_watch **watch,
                   struct problem *problem)
{
	struct lab_trace *trace = calloc(1, sizeof(*trace));

	if (!trace) {
		problem_set(problem, -1, "no memory for a trace");
		return -ENOMEM;
	}
	trace->out = fopen(path, "w");
	if (!trace->out) {
		int error = -errno;

		problem_set(problem, -1, "%s: %s", path, strerror(errno));
		free(trace);
		return error;
	}
	trace->watch = (struct run_watch){
	        .sample = sample, .window = window, .goodput = goodput, .argument = trace};
	fputs("t_s,what,value,average\n", trace->out);
	*result = trace;
	*watch = &trace->watch;
	return 0;
}

int lab_trace_close(struct lab_trace *trace)
{
	int bad = ferror(trace->out);

	bad |= fclose(trace->out);
	free(trace);
	return bad ? -EIO : 0;
}
