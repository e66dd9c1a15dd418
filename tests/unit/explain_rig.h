/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections by hand: a test says which host sends what and when, and what the path did with it;
 * the rig makes the frames and their fates, and keeps the verdicts.
 *
 * Instants are in microseconds.
 */
#ifndef WEIR_EXPLAIN_RIG_H
#define WEIR_EXPLAIN_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "explain/explainer.h"
#include "explain/verdict.h"

#define MS 1000u /* in the rig's unit */

enum { UP, DOWN };
enum { FIN = 0x01, SYN = 0x02, RST = 0x04, ACK = 0x10 };

#define RIG_VERDICTS 64

struct talked {
	struct explainer *explainer;
	struct verdict *verdicts[RIG_VERDICTS];
	uint32_t n, told; /* that are kept, and in all */
	uint64_t packets[2];
	/* of the packets to come */
	uint8_t protocol; /* 6: TCP, 17: UDP, NEIGHBOUR_PROTOCOL: ARP, with ACK an answer */
	uint16_t client_port, server_port;
	uint8_t client, server; /* the last bytes of their addresses */
	uint32_t delay_us;      /* of the path, one way */
	uint32_t rate_us;       /* the link needs that for a packet; 0: there is no link */
	uint64_t free_us[2];
	uint32_t late_us; /* of the packets to come */
	uint32_t sequence[2];
	uint16_t window;
	bool lose; /* the next packet */
};

struct talked *talked_make(bool deaf);
void talked_free(struct talked *talk);
/* Ends the run: all connections are told. */
void talked_end(struct talked *talk);
/* Returns the only verdict. */
const struct verdict *talked_only(struct talked *talk);

/* A packet is sent: `bytes` of payload at `data` (NULL: zeros) with TCP's flags. The sequence
 * advances. Returns when it arrives, or 0 if it is lost. */
uint64_t talked_send(struct talked *talk, int way, uint64_t at_us, uint8_t flags, const void *data,
                     uint32_t bytes);
/* The same from an earlier place in the stream, which does not advance it. */
uint64_t talked_again(struct talked *talk, int way, uint64_t at_us, uint8_t flags,
                      uint32_t sequence, const void *data, uint32_t bytes);
/* SYN, SYN-ACK, ACK. Returns when the client has the SYN-ACK. */
uint64_t talked_open(struct talked *talk, uint64_t at_us);

/* Asserts that the parts of each phase sum to its time, and the phases to that of the whole. */
void talked_sums(const struct verdict *verdict);
/* Returns the time of a part over all phases, in us. */
uint64_t talked_part(const struct verdict *verdict, enum part part);
/* Returns the phase of this kind, or NULL. */
const struct verdict_phase *talked_phase(const struct verdict *verdict, enum phase kind);

#endif
