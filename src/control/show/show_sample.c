/* SPDX-License-Identifier: BSD-3-Clause */
#include "show/show_sample.h"

#include "figures/figures.h"
#include "units/human_unit.h"

static double number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

/* Prints ` in 842 kbit/s 70/s`: bits and packets a second. */
static void put_rate(FILE *out, const char *what, double bps, double pps)
{
	char rate[HUMAN_UNIT_SIZE];

	human_unit_format(rate, sizeof(rate), HUMAN_BPS, bps, 3);
	fprintf(out, " %s %s %.0f/s", what, rate, pps);
}

static void put_rates(FILE *out, const json_t *object, double seconds)
{
	const struct figures_rate rate = figures_rate(object, seconds);

	put_rate(out, "in", rate.in_bps, rate.in_pps);
	put_rate(out, "out", rate.out_bps, rate.out_pps);
}

static void put_time(FILE *out, const char *what, double ns)
{
	char text[HUMAN_UNIT_SIZE];

	human_unit_format(text, sizeof(text), HUMAN_NS, ns, 3);
	fprintf(out, " %s %s", what, text);
}

static void print_port(FILE *out, const json_t *port, double seconds)
{
	const json_t *late = json_object_get(port, "lateness_ns");

	fprintf(out, "sample port %s", json_string_value(json_object_get(port, "port")));
	put_rates(out, port, seconds);
	put_time(out, "late p50", number(late, "p50"));
	put_time(out, "p99", number(late, "p99"));
	put_time(out, "max", number(late, "max"));
	fprintf(out, " lost %.0f%s\n", number(port, "lost"),
	        json_is_true(json_object_get(port, "link_up")) ? "" : " link down");
}

static void print_cloud(FILE *out, const char *what, const json_t *cloud, double seconds)
{
	const json_t *delay = json_object_get(cloud, "delay_ns");
	char queue[HUMAN_UNIT_SIZE];

	fprintf(out, "sample %s %s", what, json_string_value(json_object_get(cloud, "cloud")));
	put_rates(out, cloud, seconds);
	human_unit_format(queue, sizeof(queue), HUMAN_BYTES, number(cloud, "queue_bytes"), 3);
	fprintf(out, " drops emulated %.0f congestion %.0f real %.0f queue %s",
	        number(cloud, "emulated"), number(cloud, "congestion"), number(cloud, "real"),
	        queue);
	if (delay != NULL && number(delay, "count") > 0) {
		put_time(out, "delay p50", number(delay, "p50"));
		put_time(out, "p99", number(delay, "p99"));
	}
	fputc('\n', out);
}

static void print_worker(FILE *out, const json_t *worker)
{
	double polls = number(worker, "polls");
	char used[HUMAN_UNIT_SIZE], room[HUMAN_UNIT_SIZE];

	human_unit_format(used, sizeof(used), HUMAN_BYTES, number(worker, "memory_used_bytes"), 3);
	human_unit_format(room, sizeof(room), HUMAN_BYTES, number(worker, "memory_bytes"), 3);
	fprintf(out, "sample worker %.0f %s busy %.1f%% holds %.0f memory %s of %s\n",
	        number(worker, "worker"), json_string_value(json_object_get(worker, "role")),
	        polls > 0 ? number(worker, "busy_polls") / polls * 100 : 0,
	        number(worker, "held_packets"), used, room);
}

void sample_print(FILE *out, const json_t *sample)
{
	double seconds = number(sample, "for_ns") / 1e9;
	const json_t *each;
	size_t i;

	fprintf(out, "sample +%.3fs of %.3f s, %.0f clouds, %.0f busy\n",
	        number(sample, "t_ns") / 1e9, seconds, number(sample, "clouds_in_all"),
	        number(sample, "clouds_busy"));
	if (seconds <= 0)
		return;
	json_array_foreach(json_object_get(sample, "ports"), i, each)
	        print_port(out, each, seconds);
	json_array_foreach(json_object_get(sample, "templates"), i, each)
	        print_cloud(out, "clouds", each, seconds);
	json_array_foreach(json_object_get(sample, "clouds"), i, each)
	        print_cloud(out, "cloud", each, seconds);
	json_array_foreach(json_object_get(sample, "workers"), i, each) print_worker(out, each);
}
