/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a packet was dropped or marked, in words: `red-early: queue 45 kB, average 33.2 kB`, `loss:
 * the loss statement of the cloud`.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_FATE_TEXT_H
#define WEIR_FATE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "account/witness.h"

/*
 * The points of a cloud at which packets can be observed, each with a name, and the fates that
 * belong to it (account/witness.h).
 */

#define POINTS(X)                                                                                  \
	X(IN, "in", "packets as they come to the cloud", FATE_BIT(ARRIVED))                        \
	X(STAGES, "stages", "packets as a stage has let them through", FATE_BIT(PASSED))           \
	X(QUEUE, "queue", "packets as the queue takes them, and as they are marked",               \
	  FATE_BIT(QUEUED) | FATE_BIT(MARKED))                                                     \
	X(DROPS, "drops", "packets that end here, and why", FATE_BIT(DROPPED))                     \
	X(OUT, "out", "packets as they leave the cloud", FATE_BIT(LEFT))                           \
	X(SENT, "sent", "packets as the device of a port takes them, and how late", FATE_BIT(SENT))

#define FATE_BIT(kind) (1u << FATE_##kind)

enum point {
#define X(id, name, help, kinds) POINT_##id,
	POINTS(X)
#undef X
	        POINT_COUNT
};

/* As bits 1 << point. */
#define POINTS_DEFAULT (1u << POINT_IN | 1u << POINT_QUEUE | 1u << POINT_DROPS | 1u << POINT_OUT)
#define POINTS_ALL     ((1u << POINT_COUNT) - 1)
/* Those of clouds; the others are of ports. */
#define POINTS_OF_CLOUDS (POINTS_ALL & ~(1u << POINT_SENT))

const char *point_name(enum point point);
const char *point_help(enum point point);
/* Returns the kinds of fates at these points, as bits 1 << kind. */
uint32_t points_kinds(uint32_t points);
/* Returns the point of a kind of fate; POINT_COUNT: none. */
enum point point_of(enum fate_kind kind);

#define FATE_TEXT_BYTES 200

/* Describes the fate; "" if there is nothing to add. */
void fate_text(const struct fate *fate, char *text, size_t room);
/* Describes its reason only. */
void fate_text_why(const struct fate *fate, char *text, size_t room);

#endif
