/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a network of libweir is inside (weir.h): an engine, the frames that have left and were not
 * received yet, and the changes that it has had.
 *
 * The engine follows the caller at a distance: weir_send advances it no further than necessary, and
 * weir_receive only until it has enough frames, so that what is in flight stays in the engine,
 * where a small frame takes few bytes. `reached_ns` is the instant that the caller has named,
 * `advanced_ns` the one that the engine has advanced to.
 *
 * Thread: that of the network.
 */
#ifndef WEIR_LIBRARY_NETWORK_H
#define WEIR_LIBRARY_NETWORK_H

#include <stdbool.h>

#include "account/witness.h"
#include "library/weir.h"
#include "offline/offline_engine.h"
#include "offline/offline_pool.h"

/* A frame that has left. */
struct departure {
	struct rte_mbuf *mbuf;
	simtime due_ns;
	uint32_t wire_bytes;
};

/* Those of a port, in the order of their due times: a ring, whose room is a power of two. */
struct departures {
	struct departure *list;
	uint32_t first, n, room;
};

/* A port of the network. */
struct network_port {
	struct replay_port_report report;
	struct busy_second busy;
	struct departures departures;
};

/* A scenario, and the instant from which on it is in force. */
struct revision {
	simtime t_ns;
	struct scenario *scenario;
};

struct weir {
	struct weir_options options; /* `base` is owned, ends with a slash, and is not NULL */
	struct mbuf_supply supply;
	struct offline_engine offline;
	simtime reached_ns, advanced_ns;
	simtime first_ns, last_ns; /* of the first arrival, and of the last event, for the report */
	simtime lacked_ns;
	simtime fed_ns; /* of the last arrival; the engine is advanced no less far */
	bool fed;       /* frames have come in since the engine has advanced */
	int error;      /* the network has lost frames, for lack of memory */
	uint32_t n_ports;
	struct network_port *ports;
	/* Received by the caller: valid until the next call. */
	struct rte_mbuf *lent[WEIR_BATCH_MAX];
	uint32_t n_lent;
	uint8_t *whole; /* for frames in several mbufs: WEIR_FRAME_MAX bytes; or NULL */
	uint32_t whole_bytes;
	uint8_t *datagram; /* buffer for a frame that is made; or NULL */
	uint64_t skipped;  /* by weir_udp_receive */
	/* The first is that of weir_open, the last the one in force. */
	struct revision *revisions;
	uint32_t n_revisions, revisions_room;
	struct witness witness;
	void (*on_fate)(void *argument, const struct weir_fate *fate);
	void *fate_argument;
	uint32_t fate_kinds;
};

static inline const struct scenario *network_scenario(const struct weir *net)
{
	return net->revisions[net->n_revisions - 1].scenario;
}

/* Sets an error, if it is not NULL. Returns `code`. */
int network_fail(struct weir_error *error, int code, uint32_t line, uint32_t column,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Copies the options of a caller, who may know fewer or more of them, and the folder. Returns 0, or
 * -errno with error. */
int network_options(struct weir_options *options, const struct weir_options *given,
                    struct weir_error *error);
void network_options_free(struct weir_options *options);
void revisions_free(struct revision *revisions, uint32_t n);

/* Makes a network with these revisions, which it takes in any case: each in force at its instant,
 * and the engine advanced to `now`. Returns NULL with error. */
struct weir *network_make(const struct weir_options *options, struct revision *revisions,
                          uint32_t n, simtime now, struct weir_error *error);
/* Puts a scenario in force, and takes it. The engine has advanced to `now`. Returns 0, or -errno
 * with error. */
int network_revise(struct weir *net, struct scenario *scenario, simtime now,
                   struct weir_error *error);

/* Advances the engine. Returns 0, or -ENOMEM if the network has lost frames. */
int network_advance(struct weir *net, simtime now);
/* Does the same, to the instant that the caller has named. */
int network_catch_up(struct weir *net);
/* Lets the engine tell all clouds' fates, or no longer, from now on. The engine has caught up. */
void network_follow(struct weir *net);
/* Gives back what the caller has received. */
void network_reclaim(struct weir *net);
/* Returns 0, or the error for an instant that a call names. */
int network_check_instant(const struct weir *net, int64_t t_ns);
/* Appends a frame that has left. Returns 0; or -ENOMEM, and the mbuf is still the caller's. */
int departures_add(struct departures *departures, const struct departure *departure);

static inline struct departure *departures_at(const struct departures *departures, uint32_t i)
{
	return &departures->list[(departures->first + i) & (departures->room - 1)];
}

#endif
