/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process at the other end of a connection, as the kernel reports it, to show who has changed
 * what. The name of the user is not looked up: that may take long, and control never waits.
 *
 * Thread: any.
 */
#ifndef WEIR_PEER_H
#define WEIR_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#define PEER_NAME_BYTES 32
#define PEER_TEXT_BYTES 96

struct peer {
	bool known; /* false: only `name` is valid */
	uint32_t uid, gid, pid;
	char name[PEER_NAME_BYTES]; /* of the process, as ps shows it; or `SIGHUP`; printable */
};

/* Gets the peer of a connected UNIX socket. */
void peer_of(int fd, struct peer *peer);
/* Returns {"uid":0,"gid":0,"pid":812,"process":"python3"}; members that are unknown are missing. */
json_t *peer_json(const struct peer *peer);
/* Formats `uid 0, pid 812 (python3)`. */
void peer_text(const struct peer *peer, char text[PEER_TEXT_BYTES]);

#endif
