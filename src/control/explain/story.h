/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The story of a flow: its packets as the client sends and gets them, from which phases follow.
 *
 *   TCP        from the SYN until the SYN-ACK is there
 *   TLS, QUIC  until the client may send its request: it has sent its Finished, and, before TLS
 *              1.3, has got the server's. With data ahead of the ServerHello (0-RTT), until it has
 *              sent its hello
 *   request    from then, or from the end of the answer before it, until the last byte of the
 *              answer is there. The next one begins when the client speaks again; with HTTP/1.1 in
 *              clear, with the line of a request
 *   exchange   with a protocol that is not known: the whole, with the number of its turns
 *
 * A long flow is told in parts: story_tell may be called again and again, and packets that it does
 * not need any more are forgotten.
 *
 * Ownership: the flow's (`flow->verdict` becomes the verdict).
 * Thread: one at a time.
 */
#ifndef WEIR_STORY_H
#define WEIR_STORY_H

#include <stdbool.h>

#include "explain/flow.h"
#include "explain/verdict.h"

/* Tells what is new. `deaf`: as in walk.h. `over`: nothing more comes; else the packets that are
 * not needed any more are forgotten. Returns false if there is no memory; then the flow is as
 * before, or has lost a phase. */
bool story_tell(struct flow *flow, bool deaf, bool over);

#endif
