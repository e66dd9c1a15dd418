/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the time of one connection went: a value. It is divided in phases, which follow each other
 * without gaps, and the time of each phase in parts. The parts of a phase sum to its time, the
 * phases to that of the connection; each nanosecond is counted once.
 *
 * The time is that of the client: from the first packet that it sends (the query for the name, if
 * it has waited for one) to the last byte that it gets.
 *
 * Ownership: verdict_free frees a verdict, and all that it has.
 * Thread: one at a time.
 */
#ifndef WEIR_VERDICT_H
#define WEIR_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "account/reason.h"
#include "explain/flow.h"

/* Key, and words for people; docs/explain.md says what each is. */
#define PARTS(X)                                                                                   \
	X(DELAY, "delay", "network delay")                                                         \
	X(RATE, "rate", "bandwidth")                                                               \
	X(QUEUE, "queue", "queue")                                                                 \
	X(WEIR, "weir", "weir itself")                                                             \
	X(LOST, "lost", "lost and resent")                                                         \
	X(ACK, "ack", "delayed ACK")                                                               \
	X(WINDOW, "window", "receiver did not read")                                               \
	X(SERVER, "server", "server")                                                              \
	X(CLIENT, "client", "client")                                                              \
	X(UNEXPLAINED, "unexplained", "unexplained")

enum part {
#define X(id, key, words) PART_##id,
	PARTS(X)
#undef X
	        PART_COUNT
};

#define PHASES(X)                                                                                  \
	X(ARP, "arp", "ARP")                                                                       \
	X(DNS, "dns", "DNS")                                                                       \
	X(ATTEMPT, "attempt", "attempt")                                                           \
	X(TCP, "tcp", "TCP")                                                                       \
	X(TLS, "tls", "TLS")                                                                       \
	X(QUIC, "quic", "QUIC")                                                                    \
	X(REQUEST, "request", "request")                                                           \
	X(EXCHANGE, "exchange", "exchange")

enum phase {
#define X(id, key, words) PHASE_##id,
	PHASES(X)
#undef X
	        PHASE_COUNT
};

#define VERDICT_PHASES_MAX 64 /* what follows is counted in the last */
#define VERDICT_LOSSES_MAX 32 /* what follows is counted only */

struct verdict_phase {
	enum phase kind;
	char detail[SPEECH_LINE_BYTES]; /* "1.3", "GET /index.html"; "": none */
	simtime begin_ns, end_ns;
	uint32_t round_trips;
	uint32_t windows; /* of these: the sender had to wait for an acknowledgement */
	uint32_t turns;   /* of an exchange: how often the client spoke and was answered */
	uint64_t parts_ns[PART_COUNT];
};

enum verdict_resent { RESENT_NOT, RESENT_FAST, RESENT_TIMEOUT };

struct verdict_loss {
	uint64_t packet;
	uint32_t number;
	uint8_t port, way, reason;
	bool acknowledgement; /* it had nothing else */
	uint8_t resent;       /* enum verdict_resent */
	simtime at_ns, again_ns;
	uint64_t cost_ns; /* by how much the connection took longer */
};

struct verdict {
	struct flow_end ends[FLOW_WAYS];
	uint8_t protocol;
	char speech[16];           /* "TLS 1.3", "SSH"; "": nothing was said */
	char name[DNS_NAME_BYTES]; /* of the server; "": not known */
	bool whole;                /* its beginning was seen */
	bool open;                 /* it goes on, as far as is known */
	bool refused;              /* it was reset before anything was said */
	simtime begin_ns, end_ns;
	uint64_t packets[FLOW_WAYS], bytes[FLOW_WAYS]; /* of the stream or the datagrams */
	uint64_t lost[FLOW_WAYS];
	uint64_t needless; /* packets that were sent again, although they had not been lost */
	uint64_t holes;    /* packets of which weir does not know what became of them */
	struct verdict_phase *phases;
	uint64_t phases_room, losses_room;
	uint32_t n_phases, n_losses;
	struct verdict_loss *losses;
};

/* Returns a verdict without phases, or NULL. */
struct verdict *verdict_make(void);
void verdict_free(struct verdict *verdict); /* NULL is allowed */
/* Adds a phase that begins and ends where the last one ends. Returns NULL if there is no memory. */
struct verdict_phase *verdict_phase_add(struct verdict *verdict, enum phase kind);
/* Adds a loss, if there is room. Returns NULL if there is none. */
struct verdict_loss *verdict_loss_add(struct verdict *verdict);
/* Appends the phases up to an instant, and the losses, of what came before, in another flow. */
void verdict_append(struct verdict *to, const struct verdict *from, simtime until_ns);
/* Returns the sum of a part over all phases. */
uint64_t verdict_part_ns(const struct verdict *verdict, enum part part);
uint32_t verdict_round_trips(const struct verdict *verdict);

const char *part_key(enum part part);
const char *part_words(enum part part);
const char *phase_key(enum phase phase);
const char *phase_words(enum phase phase);

#endif
