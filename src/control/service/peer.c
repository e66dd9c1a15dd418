/* SPDX-License-Identifier: BSD-3-Clause */
#include "service/peer.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static void read_name(struct peer *peer)
{
	char path[40];
	FILE *comm;

	snprintf(path, sizeof(path), "/proc/%u/comm", peer->pid);
	comm = fopen(path, "re");
	if (comm == NULL)
		return;
	if (fgets(peer->name, sizeof(peer->name), comm) == NULL)
		peer->name[0] = '\0';
	fclose(comm);
	peer->name[strcspn(peer->name, "\n")] = '\0';
	/* A process may choose any name. */
	for (char *c = peer->name; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

void peer_of(int fd, struct peer *peer)
{
	struct ucred ucred;
	socklen_t length = sizeof(ucred);

	memset(peer, 0, sizeof(*peer));
	peer->known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &ucred, &length) == 0;
	if (!peer->known)
		return;
	peer->uid = ucred.uid;
	peer->gid = ucred.gid;
	/* A process in another namespace of pids may have none here: 0. */
	peer->pid = ucred.pid > 0 ? (uint32_t)ucred.pid : 0;
	if (peer->pid > 0)
		read_name(peer);
}

json_t *peer_json(const struct peer *peer)
{
	return json_pack("{s:o*,s:o*,s:o*,s:s*}", "uid",
	                 peer->known ? json_integer(peer->uid) : NULL, "gid",
	                 peer->known ? json_integer(peer->gid) : NULL, "pid",
	                 peer->known ? json_integer(peer->pid) : NULL, "process",
	                 peer->name[0] != '\0' ? peer->name : NULL);
}

void peer_text(const struct peer *peer, char text[PEER_TEXT_BYTES])
{
	if (!peer->known)
		snprintf(text, PEER_TEXT_BYTES, "%s", peer->name[0] != '\0' ? peer->name : "?");
	else if (peer->name[0] != '\0')
		snprintf(text, PEER_TEXT_BYTES, "uid %u, pid %u (%s)", peer->uid, peer->pid,
		         peer->name);
	else
		snprintf(text, PEER_TEXT_BYTES, "uid %u, pid %u", peer->uid, peer->pid);
}
