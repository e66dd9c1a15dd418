/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The decision log: who wants to know the fate of every packet gives the engine a witness. Without
 * one it costs nothing.
 *
 * A fate is told when it is decided: a delivery at the moment when its due time is fixed, which is
 * before that time. With a witness, hand packets to the engine one at a time, and the order of
 * the fates depends on nothing but the input.
 */
#ifndef WEIR_WITNESS_H
#define WEIR_WITNESS_H

#include <stdint.h>

#include "account/reason.h"
#include "simtime.h"

#define FATE_NO_AVERAGE UINT64_MAX

enum fate_kind { FATE_DELIVERED, FATE_DROPPED };

struct fate {
	uint64_t packet; /* ordinal at its ingress port, from 1 */
	uint32_t port;   /* ingress port, index in the scenario */
	enum fate_kind kind;
	enum reason reason; /* FATE_DROPPED */
	uint32_t wire_bytes;
	simtime t_in_ns;      /* arrival at the cloud */
	simtime t_out_ns;     /* FATE_DELIVERED: when it leaves */
	simtime dropped_ns;   /* FATE_DROPPED: when, as seen by the link; before that it was held */
	const char *cloud;    /* its name */
	uint8_t flags;        /* PACKET_COPY, PACKET_GENERATED, ... (packet.h) */
	uint64_t queue_bytes; /* held by the link of the cloud at the decision */
	/* what its management takes the queue to be (aqm.h); FATE_NO_AVERAGE: it keeps none */
	uint64_t queue_average_bytes;
};

struct witness {
	void (*tell)(struct witness *witness, const struct fate *fate);
};

#endif
