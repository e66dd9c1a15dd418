/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that a gateway loses for want of something that this machine should have. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>

#include <linux/sock_diag.h>

#include "gateway/gateway_state.h"

/* What is lacking, by the errno that says so, and what would help. */
static const struct {
	int error;
	const char *why;
} lacks[] = {
        [GATEWAY_LACKS_FILES] = {EMFILE, "weir has no file descriptor left for further connections "
                                         "and flows, which wait; raise its limit with ulimit -n"},
        [GATEWAY_LACKS_SYSTEM_FILES] = {ENFILE, "this machine has no file descriptor left; raise "
                                                "its limit with sysctl fs.file-max"},
        [GATEWAY_LACKS_WATCHES] = {ENOSPC, "this user may watch no further descriptor; raise the "
                                           "limit with sysctl fs.epoll.max_user_watches"},
        [GATEWAY_LACKS_PORTS] = {EADDRNOTAVAIL,
                                 "this machine has no port left for a further connection to the "
                                 "same server; widen sysctl net.ipv4.ip_local_port_range"},
        [GATEWAY_LACKS_MEMORY] = {ENOMEM, "this machine has no memory left for sockets"},
        [GATEWAY_LACKS_ROOM] = {ENOBUFS, "the way out of this machine is slower than they come; "
                                         "`rate` limits the path"},
        [GATEWAY_LACKS_TIME] = {EBUSY, "they come faster than weir hands them over to the world; "
                                       "`rate` limits the path"},
        [GATEWAY_LACKS_PLACES] = {EUSERS, "there are more flows of UDP and echo at a time than "
                                          "weir keeps"},
};

static int lack_of(int error)
{
	if (error == EAGAIN)
		error = ENOBUFS;
	for (int i = 0; i < GATEWAY_LACKS; i++) {
		if (lacks[i].error == error)
			return i;
	}
	return -1;
}

bool gateway_lacks(int error)
{
	return lack_of(error) >= 0;
}

void gateway_lose(struct gateway *gateway, int error)
{
	int lack = lack_of(error);

	if (lack >= 0)
		gateway->lost[lack] += 1;
}

/* Adds what the kernel had to drop before the gateway has read it. */
static void read_overruns(struct gateway *gateway)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < 2; i++) {
		uint32_t info[SK_MEMINFO_VARS] = {0};
		socklen_t bytes = sizeof(info);

		if (gateway->udp[i].fd >= 0 &&
		    getsockopt(gateway->udp[i].fd, SOL_SOCKET, SO_MEMINFO, info, &bytes) == 0)
			sum += info[SK_MEMINFO_DROPS];
	}
	gateway->lost[GATEWAY_LACKS_TIME] = sum;
}

void gateway_losses(struct gateway *gateway, struct gateway_losses *losses)
{
	*losses = (struct gateway_losses){0};
	if (!gateway)
		return;
	pthread_mutex_lock(&gateway->handling);
	read_overruns(gateway);
	losses->to_command = gateway->lost_answers;
	for (int i = 0; i < GATEWAY_LACKS; i++)
		losses->to_world += gateway->lost[i];
	pthread_mutex_unlock(&gateway->handling);
}

bool gateway_trouble(struct gateway *gateway, char *line, size_t room)
{
	bool any = false;

	if (!gateway)
		return false;
	pthread_mutex_lock(&gateway->handling);
	for (int i = 0; i < GATEWAY_LACKS && !any; i++) {
		uint64_t lost = gateway->lost[i];

		if (lost == gateway->told[i])
			continue;
		any = true;
		gateway->told[i] = lost;
		snprintf(line, room, "%" PRIu64 " packet%s of the command %s lost so far: %s", lost,
		         lost == 1 ? "" : "s", lost == 1 ? "was" : "were", lacks[i].why);
	}
	pthread_mutex_unlock(&gateway->handling);
	return any;
}
