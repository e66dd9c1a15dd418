/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/flight.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "record/flight_losses.h"
#include "record/recorded_file.h"

struct flight {
	pthread_mutex_t lock; /* protects the rings and the losses */
	uint32_t workers;
	struct flight_ring **rings;
	struct flight_view *views;
	struct flight_losses losses, losses_view;
};

struct flight *flight_make(uint32_t workers, uint64_t bytes_max, simtime keep_ns)
{
	struct flight *flight = calloc(1, sizeof(*flight));

	if (!flight)
		return NULL;
	pthread_mutex_init(&flight->lock, NULL);
	flight_losses_make(&flight->losses, workers * bytes_max / RECORDING_FLIGHT_LOSSES);
	flight->rings = calloc(workers, sizeof(struct flight_ring *));
	flight->views = calloc(workers, sizeof(*flight->views));
	while (flight->rings && flight->views && flight->workers < workers) {
		flight->rings[flight->workers] = flight_ring_make(bytes_max, keep_ns);
		if (!flight->rings[flight->workers])
			break;
		flight->workers++;
	}
	if (flight->workers == workers)
		return flight;
	flight_free(flight);
	return NULL;
}

void flight_free(struct flight *flight)
{
	if (!flight)
		return;
	if (flight->views)
		flight_views_release(flight);
	for (uint32_t i = 0; i < flight->workers; i++)
		flight_ring_free(flight->rings[i]);
	flight_losses_free(&flight->losses);
	pthread_mutex_destroy(&flight->lock);
	free(flight->rings);
	free(flight->views);
	free(flight);
}

static simtime earliest(const struct flight *flight)
{
	simtime from_ns = SIMTIME_NEVER;

	for (uint32_t i = 0; i < flight->workers; i++)
		from_ns = simtime_min(from_ns, flight_ring_begin_ns(flight->rings[i]));
	return from_ns;
}

/* Removes everything, because a loss may be missing, of a packet of any engine: without it, the
 * repetition would send that packet. */
static void begin_anew(struct flight *flight)
{
	flight_losses_clear(&flight->losses);
	for (uint32_t i = 0; i < flight->workers; i++)
		flight_ring_clear(flight->rings[i]);
}

void flight_put(struct flight *flight, uint32_t worker, const struct tape_entry *entry)
{
	bool whole = entry->kind != TAPE_GAP;

	pthread_mutex_lock(&flight->lock);
	if (entry->kind == TAPE_UNSENT)
		whole = flight_losses_put(&flight->losses, worker, entry, earliest(flight));
	else
		flight_ring_put(flight->rings[worker], entry);
	if (!whole)
		begin_anew(flight);
	pthread_mutex_unlock(&flight->lock);
}

static void account(const struct flight_view *view, struct recording_dump *dump)
{
	dump->from_ns =
	        dump->workers == 0 ? view->from_ns : simtime_min(dump->from_ns, view->from_ns);
	dump->to_ns = simtime_max(dump->to_ns, view->to_ns);
	dump->packets += view->packets;
	dump->bytes += view->bytes;
	dump->workers++;
}

int flight_views(struct flight *flight, struct recording_dump *dump)
{
	int rc = 0;

	*dump = (struct recording_dump){0};
	pthread_mutex_lock(&flight->lock);
	for (uint32_t i = 0; i < flight->workers && (rc == 0 || rc == -ENODATA); i++) {
		rc = flight_ring_view(flight->rings[i], &flight->views[i]);
		if (rc == 0)
			account(&flight->views[i], dump);
		else if (flight_ring_has_met(flight->rings[i]))
			dump->without++;
	}
	/* A worker without clouds has no entries. */
	if (rc == 0 || rc == -ENODATA)
		rc = dump->workers > 0 ? 0 : -ENODATA;
	if (rc == 0)
		rc = flight_losses_copy(&flight->losses, dump->from_ns, &flight->losses_view);
	pthread_mutex_unlock(&flight->lock);
	if (rc < 0)
		flight_views_release(flight);
	return rc;
}

void flight_views_release(struct flight *flight)
{
	pthread_mutex_lock(&flight->lock);
	for (uint32_t i = 0; i < flight->workers; i++)
		flight_view_release(flight->rings[i], &flight->views[i]);
	pthread_mutex_unlock(&flight->lock);
	flight_losses_free(&flight->losses_view);
}

/* Ends the part of a worker. It is unsettled, because the worker itself has not ended. */
static void put_end(struct block_writer *to, uint32_t worker, simtime t_ns)
{
	const struct tape_entry end = {
	        .bytes = sizeof(end), .kind = TAPE_END, .flags = TAPE_UNSETTLED, .t_ns = t_ns};

	recorded_put(to, worker, &end);
}

/* Writes a view. Skips all snapshots but the first: they serve flights that begin later. */
static void put_view(struct block_writer *to, uint32_t worker, const struct flight_view *view)
{
	const struct tape_entry *entry;
	struct flight_cursor cursor;
	bool begun = false;

	flight_cursor_begin(&cursor, view);
	while ((entry = flight_cursor_next(&cursor)) != NULL) {
		if (entry->kind == TAPE_SNAPSHOT && begun)
			continue;
		begun |= entry->kind == TAPE_SNAPSHOT && (entry->flags & TAPE_LAST);
		recorded_put(to, worker, entry);
	}
	if (view->n_chunks > 0)
		put_end(to, worker, view->to_ns);
}

static void put_losses(struct block_writer *to, const struct flight_losses *losses)
{
	for (uint64_t i = 0; i < losses->n; i++) {
		const struct tape_entry entry = flight_loss_entry(&losses->list[i]);

		recorded_put(to, losses->list[i].worker, &entry);
	}
}

int flight_write(const struct flight *flight, const struct scenario *scenario, uint32_t snap,
                 int fd)
{
	struct block_writer to = {0};
	int rc = block_writer_open(&to, fd, NULL);

	if (rc < 0)
		return rc;
	recorded_begin(&to, scenario, snap);
	for (uint32_t i = 0; i < flight->workers; i++)
		put_view(&to, i, &flight->views[i]);
	put_losses(&to, &flight->losses_view);
	rc = -block_writer_flush(&to);
	block_writer_close(&to);
	return rc;
}
