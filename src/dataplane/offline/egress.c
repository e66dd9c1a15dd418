/* SPDX-License-Identifier: BSD-3-Clause */
#include "offline/egress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Checks that an output is no input. The inode is compared, because equal names can be different
 * files, and one file can have several names. */
static int check_not_input(const struct replay_options *options, struct capture *const *captures,
                           const char *path, struct problem *problem)
{
	struct stat out;

	if (strcmp(path, "-") == 0 || stat(path, &out) < 0 || !S_ISREG(out.st_mode))
		return 0;
	for (uint32_t i = 0; i < options->n_in; i++) {
		const struct stat *in = capture_stat(captures[i]);

		if (in->st_dev != out.st_dev || in->st_ino != out.st_ino)
			continue;
		return problem_set(problem, -1,
		                   "%s: is the input %s; the output must be another file", path,
		                   options->in[i].path);
	}
	return 0;
}

static int check_outputs(const struct replay_options *options, struct capture *const *captures,
                         struct problem *problem)
{
	for (uint32_t i = 0; i < options->n_out; i++) {
		const char *path = options->out[i].path;

		for (uint32_t j = 0; j < i; j++) {
			bool port = options->out[j].port == options->out[i].port;

			if (!port && strcmp(options->out[j].path, path) != 0)
				continue;
			return problem_set(
			        problem, -1,
			        port ? "%s: its port has an output already; it can have only one"
			             : "%s: is the output of two ports; each needs its own",
			        path);
		}
		if (check_not_input(options, captures, path, problem))
			return -EINVAL;
	}
	return 0;
}

int egress_open(struct egress *egress, const struct intake *intake, struct io_thread *io_thread,
                struct replay_result *result, struct problem *problem)
{
	const struct replay_options *options = intake->options;
	int error = check_outputs(options, intake->captures, problem);

	egress->options = options;
	egress->result = result;
	egress->frame = malloc(CAPTURE_FRAME_MAX);
	if (!error && !egress->frame) {
		problem_set(problem, -1, "no memory for a frame");
		error = -ENOMEM;
	}
	for (uint32_t i = 0; i < options->n_out && !error; i++)
		error = dump_open(options->out[i].path, io_thread, intake->link_layer,
		                  &egress->dumps[options->out[i].port], problem);
	return error;
}

/* Returns true if the mbuf can go back to its pool as it is. */
static inline bool is_plain(const struct rte_mbuf *mbuf)
{
	return mbuf->nb_segs == 1 && RTE_MBUF_DIRECT(mbuf) && rte_mbuf_refcnt_read(mbuf) == 1;
}

int egress_write(struct egress *egress, uint32_t port, struct outlet *outlet,
                 struct problem *problem)
{
	struct replay_port_report *report = &egress->result->ports[port];
	struct dump *dump = egress->dumps[port];
	bool plain = true;

	for (uint32_t i = 0; i < outlet->n; i++) {
		const struct rte_mbuf *mbuf = outlet->mbufs[i];
		uint32_t wire_bytes = outlet->wire_bytes[i];
		uint32_t bytes = mbuf->pkt_len;

		if (unlikely(bytes > PACKET_BYTES_MAX)) {
			/* Reports an error in weir: code that lengthens a packet must call
			 * packet_may_grow first. */
			problem_set(problem, -1,
			            "a packet has grown to %" PRIu32 " bytes, and %" PRIu32
			            " is the maximum: an error in weir",
			            mbuf->pkt_len, PACKET_BYTES_MAX);
			return -EIO;
		}
		plain &= is_plain(mbuf) && mbuf->pool == outlet->mbufs[0]->pool;
		replay_port_left(report, &egress->busy[port], egress->result->first_ns,
		                 outlet->due_ns[i], wire_bytes);
		if (dump)
			dump_write(dump, outlet->due_ns[i],
			           rte_pktmbuf_read(mbuf, 0, bytes, egress->frame), bytes,
			           wire_bytes);
	}
	report->tx_packets += outlet->n;
	if (!dump)
		report->no_file += outlet->n;
	egress->result->last_ns =
	        simtime_max(egress->result->last_ns, outlet->due_ns[outlet->n - 1]);
	if (likely(plain))
		rte_mempool_put_bulk(outlet->mbufs[0]->pool, (void **)outlet->mbufs, outlet->n);
	else
		rte_pktmbuf_free_bulk(outlet->mbufs, outlet->n);
	outlet_clear(outlet);
	return dump ? dump_error(dump, problem) : 0;
}

int egress_finish(struct egress *egress, struct problem *problem)
{
	int error = 0;

	for (uint32_t port = 0; port < SCENARIO_PORTS_MAX && !error; port++) {
		if (egress->dumps[port])
			error = dump_finish(egress->dumps[port], problem);
	}
	return error;
}

int egress_publish(struct egress *egress, struct problem *problem)
{
	int error = 0;

	for (uint32_t port = 0; port < SCENARIO_PORTS_MAX && !error; port++) {
		struct dump *dump = egress->dumps[port];

		egress->dumps[port] = NULL;
		if (dump)
			error = dump_publish(dump, problem);
	}
	return error;
}

void egress_close(struct egress *egress)
{
	for (uint32_t port = 0; port < SCENARIO_PORTS_MAX; port++) {
		dump_discard(egress->dumps[port]);
		egress->dumps[port] = NULL;
	}
	free(egress->frame);
	egress->frame = NULL;
}
