/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a network as bytes: weir_save, weir_load and weir_clone (weir.h).
 *
 *   "weirnet", the format   8 bytes
 *   the changes             for each its instant, and the scenario that was in force from then on
 *   the network             instants, counters, frames that have left and were not received
 *   the engine              engine_snapshot.h
 *   a digest                of all that precedes it
 *
 * A network that reads them has made the same changes at the same instants, and no packet has met
 * it. A clone takes the scenarios as they are, so it reads no file again.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_snapshot.h"
#include "language/scenario_file.h"
#include "library/network.h"
#include "machine/pool.h"
#include "packet/digest.h"
#include "text/alloc_failure.h"
#include "text/file_read.h"

#define FORMAT         "weirnet1"
#define FORMAT_BYTES   8
#define DIGEST_BYTES   8
#define REVISIONS_MOST (UINT32_C(1) << 20)
#define TEXT_MOST      (UINT32_C(1) << 28)

static const char no_memory[] = "no memory for the state of a network";

/* ---- the network ---- */

/* Writes or reads a frame that has left. */
static void departure_snapshot(struct weir *net, struct departures *departures, uint32_t i,
                               struct snapshot *snapshot)
{
	struct departure departure = {.mbuf = NULL};
	struct problem problem;
	uint32_t bytes = 0;

	if (!snapshot->restores) {
		departure = *departures_at(departures, i);
		bytes = departure.mbuf->pkt_len;
	}
	snapshot_value(snapshot, departure.due_ns);
	snapshot_value(snapshot, departure.wire_bytes);
	snapshot_value(snapshot, bytes);
	if (!snapshot->restores) {
		for (struct rte_mbuf *at = departure.mbuf; at != NULL; at = at->next)
			snapshot_bytes(snapshot, rte_pktmbuf_mtod(at, void *), at->data_len);
		return;
	}
	if (!snapshot_holds(snapshot, bytes <= PACKET_BYTES_MAX &&
	                                      bytes <= (size_t)(snapshot->end - snapshot->at)))
		return;
	departure.mbuf = mbuf_supply_frame(&net->supply, snapshot->at, bytes, &problem);
	snapshot->at += bytes;
	if (departure.mbuf != NULL && departures_add(departures, &departure) < 0) {
		rte_pktmbuf_free(departure.mbuf);
		departure.mbuf = NULL;
	}
	snapshot_holds(snapshot, departure.mbuf != NULL);
}

static void port_snapshot(struct weir *net, struct network_port *port, struct snapshot *snapshot)
{
	uint32_t n = port->departures.n;

	snapshot_value(snapshot, port->report.rx_packets);
	snapshot_value(snapshot, port->report.rx_bytes);
	snapshot_value(snapshot, port->report.tx_packets);
	snapshot_value(snapshot, port->report.tx_bytes);
	snapshot_value(snapshot, port->report.busiest_second_bytes);
	snapshot_value(snapshot, port->busy.second);
	snapshot_value(snapshot, port->busy.bytes);
	snapshot_value(snapshot, n);
	for (uint32_t i = 0; i < n && !snapshot->failed; i++)
		departure_snapshot(net, &port->departures, i, snapshot);
}

/* Writes or reads all but the changes. The network has caught up. */
static void network_snapshot(struct weir *net, struct snapshot *snapshot)
{
	snapshot_value(snapshot, net->first_ns);
	snapshot_value(snapshot, net->last_ns);
	snapshot_value(snapshot, net->lacked_ns);
	snapshot_value(snapshot, net->skipped);
	for (uint32_t port = 0; port < net->n_ports && !snapshot->failed; port++)
		port_snapshot(net, &net->ports[port], snapshot);
	engine_snapshot(net->offline.engine, net->advanced_ns, snapshot);
}

/* ---- writing ---- */

static int check_state(struct weir *net, struct weir_error *error)
{
	const char *waits;

	if (network_catch_up(net) < 0)
		return network_fail(error, -ENOMEM, 0, 0, "the network has lost frames");
	engine_settle(net->offline.engine, net->advanced_ns);
	if (network_advance(net, net->advanced_ns) < 0)
		return network_fail(error, -ENOMEM, 0, 0, "the network has lost frames");
	/* Each call of the engine brings some clouds of a template up to date. */
	for (uint32_t i = 0; engine_snapshot_waits(net->offline.engine) != NULL && i < 4096; i++)
		network_advance(net, net->advanced_ns);
	waits = engine_snapshot_waits(net->offline.engine);
	if (waits != NULL)
		return network_fail(error, -EAGAIN, 0, 0, "not at this instant: %s", waits);
	return 0;
}

/* Writes the instant and the scenario of a change. Returns 0 or -ENOMEM. */
static int revision_write(const struct revision *revision, struct snapshot *snapshot)
{
	simtime t_ns = revision->t_ns;
	char *text = scenario_text(revision->scenario);
	uint32_t bytes;

	if (text == NULL) {
		alloc_failure_taken();
		return -ENOMEM;
	}
	bytes = (uint32_t)strlen(text);
	snapshot_value(snapshot, t_ns);
	snapshot_value(snapshot, bytes);
	snapshot_bytes(snapshot, text, bytes);
	free(text);
	return 0;
}

/* Writes everything but the digest. Returns 0 or -ENOMEM. */
static int state_write(struct weir *net, struct snapshot *snapshot)
{
	char format[] = FORMAT;
	uint32_t n = net->n_revisions;
	simtime reached_ns = net->reached_ns;

	snapshot_bytes(snapshot, format, FORMAT_BYTES);
	snapshot_value(snapshot, reached_ns);
	snapshot_value(snapshot, n);
	for (uint32_t i = 0; i < n; i++) {
		if (revision_write(&net->revisions[i], snapshot) < 0)
			return -ENOMEM;
	}
	network_snapshot(net, snapshot);
	return snapshot->failed ? -ENOMEM : 0;
}

/* A digest of more bytes than 32 bits count. */
static uint64_t digest_of(const uint8_t *bytes, size_t n)
{
	const size_t part = (size_t)1 << 30;
	uint64_t digest = 0;

	for (; n > part; bytes += part, n -= part)
		digest = digest_bytes(digest, bytes, (uint32_t)part);
	return digest_bytes(digest, bytes, (uint32_t)n);
}

void *weir_save(struct weir *net, size_t *bytes, struct weir_error *error)
{
	struct snapshot measure = {.measures = true}, snapshot = {0};
	uint8_t *saved = NULL;
	uint64_t digest;

	if (check_state(net, error) < 0)
		return NULL;
	if (state_write(net, &measure) == 0)
		saved = malloc(measure.measured + DIGEST_BYTES);
	if (saved == NULL)
		goto err_memory;
	snapshot.at = saved;
	snapshot.end = saved + measure.measured;
	if (state_write(net, &snapshot) < 0)
		goto err_memory;
	digest = digest_of(saved, measure.measured);
	memcpy(saved + measure.measured, &digest, DIGEST_BYTES);
	*bytes = measure.measured + DIGEST_BYTES;
	return saved;

err_memory:
	free(saved);
	network_fail(error, -ENOMEM, 0, 0, "%s", no_memory);
	return NULL;
}

/* ---- reading ---- */

/* Reads the state of a network into one that has made the same changes. Frees the network if it
 * does not fit. */
static struct weir *state_read(struct weir *net, struct snapshot *snapshot,
                               struct weir_error *error)
{
	if (net == NULL)
		return NULL;
	snapshot->restores = true;
	network_snapshot(net, snapshot);
	if (!snapshot->failed && snapshot->at == snapshot->end)
		return net;
	weir_close(net);
	network_fail(error, -EINVAL, 0, 0,
	             "the state does not fit the scenario, or there is no memory for it");
	return NULL;
}

static int revision_read(struct revision *revision, simtime least_ns, struct snapshot *snapshot,
                         struct weir_error *error)
{
	struct scenario_fault fault;
	uint32_t bytes = 0;
	int result;

	snapshot_value(snapshot, revision->t_ns);
	snapshot_value(snapshot, bytes);
	if (!snapshot_holds(snapshot, revision->t_ns >= least_ns &&
	                                      revision->t_ns < (simtime)WEIR_NEVER &&
	                                      bytes <= (size_t)(snapshot->end - snapshot->at)))
		return network_fail(error, -EINVAL, 0, 0, "the state is damaged");
	result = scenario_text_edit((const char *)snapshot->at, bytes, NULL, &revision->scenario,
	                            &fault);
	snapshot->at += bytes;
	if (result < 0)
		return network_fail(error, result, 0, 0,
		                    "line %" PRIu32 ":%" PRIu32 " of the scenario in the state: %s",
		                    fault.line, fault.column, fault.text);
	return 0;
}

/* Reads the changes. Returns NULL with error. */
static struct revision *revisions_read(uint32_t *n, simtime *now, const char *base,
                                       struct snapshot *snapshot, struct weir_error *error)
{
	struct revision *revisions = NULL;
	struct file_beside beside;
	char format[FORMAT_BYTES] = "";
	simtime least_ns = 0;
	int result = 0;

	snapshot_bytes(snapshot, format, FORMAT_BYTES);
	snapshot_value(snapshot, *now);
	snapshot_value(snapshot, *n);
	if (!snapshot_holds(snapshot, memcmp(format, FORMAT, FORMAT_BYTES) == 0 && *n > 0 &&
	                                      *n <= REVISIONS_MOST && *now < (simtime)WEIR_NEVER)) {
		network_fail(error, -EINVAL, 0, 0, "this is no state of a network of this version");
		return NULL;
	}
	revisions = calloc(*n, sizeof(*revisions));
	if (revisions == NULL) {
		network_fail(error, -ENOMEM, 0, 0, "%s", no_memory);
		return NULL;
	}
	file_beside_begin(&beside, base);
	for (uint32_t i = 0; i < *n && result == 0; i++) {
		result = revision_read(&revisions[i], least_ns, snapshot, error);
		least_ns = revisions[i].t_ns;
	}
	file_beside_end(&beside);
	if (result == 0 && least_ns > *now)
		result = network_fail(error, -EINVAL, 0, 0, "the state is damaged");
	if (result == 0)
		return revisions;
	revisions_free(revisions, *n);
	return NULL;
}

struct weir *weir_load(const void *saved, size_t bytes, const struct weir_options *given,
                       struct weir_error *error)
{
	struct snapshot snapshot = {.restores = true};
	struct weir_options options;
	struct revision *revisions;
	struct weir *net = NULL;
	uint64_t digest = 0;
	simtime now = 0;
	uint32_t n = 0;

	if (bytes >= DIGEST_BYTES)
		memcpy(&digest, (const uint8_t *)saved + bytes - DIGEST_BYTES, DIGEST_BYTES);
	if (bytes < DIGEST_BYTES || digest != digest_of(saved, bytes - DIGEST_BYTES)) {
		network_fail(error, -EINVAL, 0, 0, "the state is damaged, or is none of a network");
		return NULL;
	}
	if (network_options(&options, given, error) < 0)
		return NULL;
	snapshot.at = (uint8_t *)(uintptr_t)saved;
	snapshot.end = snapshot.at + bytes - DIGEST_BYTES;
	revisions = revisions_read(&n, &now, options.base, &snapshot, error);
	if (revisions != NULL)
		net = state_read(network_make(&options, revisions, n, now, error), &snapshot,
		                 error);
	network_options_free(&options);
	return net;
}

/* ---- cloning ---- */

static struct revision *revisions_copy(const struct weir *net)
{
	struct revision *revisions = calloc(net->n_revisions, sizeof(*revisions));

	for (uint32_t i = 0; revisions != NULL && i < net->n_revisions; i++) {
		revisions[i].t_ns = net->revisions[i].t_ns;
		revisions[i].scenario = scenario_copy(net->revisions[i].scenario);
		if (revisions[i].scenario == NULL) {
			revisions_free(revisions, i);
			return NULL;
		}
	}
	return revisions;
}

struct weir *weir_clone(struct weir *net, struct weir_error *error)
{
	struct snapshot measure = {.measures = true, .shares = true}, snapshot = {.shares = true};
	struct revision *revisions;
	struct weir *clone = NULL;
	uint8_t *state;

	if (check_state(net, error) < 0)
		return NULL;
	network_snapshot(net, &measure);
	/* Large pages: what is in flight may be much. */
	state = memory_reserve(measure.measured + 1);
	revisions = state != NULL ? revisions_copy(net) : NULL;
	if (revisions == NULL) {
		network_fail(error, -ENOMEM, 0, 0, "%s", no_memory);
		goto out;
	}
	snapshot.at = state;
	snapshot.end = state + measure.measured;
	network_snapshot(net, &snapshot);
	snapshot.at = state;
	clone = state_read(
	        network_make(&net->options, revisions, net->n_revisions, net->advanced_ns, error),
	        &snapshot, error);
out:
	memory_free(state, measure.measured + 1);
	return clone;
}
