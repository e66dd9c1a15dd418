/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is at the other end of a connection, as the kernel says it: for those who ask who has changed
 * what. The name of a user is not looked up: that may take long, and control waits for nobody.
 *
 * Thread: control's.
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
	bool known; /* false: `name` is all there is */
	uint32_t uid, gid, pid;
	char name[PEER_NAME_BYTES]; /* of the process, as ps has it; or `SIGHUP`; printable */
};

/* Of a connected UNIX socket. */
void peer_of(int fd, struct peer *peer);
/* {"uid":0,"gid":0,"pid":812,"process":"python3"}; what is not known is missing. */
json_t *peer_json(const struct peer *peer);
/* `uid 0, pid 812 (python3)` */
void peer_text(const struct peer *peer, char text[PEER_TEXT_BYTES]);

#endif
