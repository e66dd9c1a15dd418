/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec/exec_listening.h"

#include <stdio.h>

#define TCP_LISTENING   0x0a
#define UDP_UNCONNECTED 0x07

/* Searches a table of /proc/net: a heading, then lines of `sl local remote st ...`. */
static bool table_has(pid_t process, const char *table, unsigned wanted)
{
	char path[64], line[512];
	bool found = false;
	unsigned state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/net/%s", (long)process, table);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, " %*s %*s %*s %x", &state) == 1 && state == wanted;
	fclose(file);
	return found;
}

bool exec_is_listening(pid_t process)
{
	return table_has(process, "tcp", TCP_LISTENING) ||
	       table_has(process, "tcp6", TCP_LISTENING) ||
	       table_has(process, "udp", UDP_UNCONNECTED) ||
	       table_has(process, "udp6", UDP_UNCONNECTED);
}
