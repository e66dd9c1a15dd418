/* SPDX-License-Identifier: BSD-3-Clause */
#include "gateway/gateway.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gateway/gateway_state.h"
#include "machine/clock.h"

#define EVENTS    64
#define EXPIRY_S  1
#define ENDING_MS 10 /* how often it looks whether all is acknowledged */

#define FILES_OF_WEIR 32 /* left for the rest of weir: what begins later, clients, files */
#define FILES_MIN     8
#define FILES_MAX     (1u << 20)

/* A gateway and its thread. */
struct running {
	struct gateway gateway; /* first */
	pthread_t thread;
};

int gateway_watch(struct gateway *gateway, struct source *source, uint32_t interest)
{
	struct epoll_event event = {.events = interest, .data.ptr = source};
	int how = interest == 0           ? EPOLL_CTL_DEL
	          : source->interest == 0 ? EPOLL_CTL_ADD
	                                  : EPOLL_CTL_MOD;

	if (interest == source->interest)
		return 0;
	source->interest = interest;
	return epoll_ctl(gateway->epoll, how, source->fd, &event) < 0 ? -errno : 0;
}

bool gateway_is_own(const struct gateway *gateway, const struct address *address)
{
	const struct gateway_options *options = &gateway->options;
	bool own = address_equal(address, &options->gateway[gateway_family(address->family)]);

	for (uint32_t i = 0; i < options->n_resolvers && !own; i++)
		own = address_equal(address, &options->resolvers[i].address);
	return own;
}

union address_socket gateway_target(const struct gateway *gateway, const struct address *to,
                                    uint16_t port)
{
	struct in_addr loopback = {.s_addr = htonl(INADDR_LOOPBACK)};
	struct address self = to->family == AF_INET ? address_of(AF_INET, &loopback)
	                                            : address_of(AF_INET6, &in6addr_loopback);

	if (!gateway_is_own(gateway, to))
		return address_socket(to, port);
	for (uint32_t i = 0; port == 53 && i < gateway->options.n_resolvers; i++) {
		if (address_equal(to, &gateway->options.resolvers[i].address))
			return gateway->options.resolvers[i].server;
	}
	return address_socket(&self, port);
}

/* Waits for events, and does the account of the thread's priority. Returns their number, or -1. */
static int wait_for_events(struct gateway *gateway, struct epoll_event *events)
{
	struct priority *priority = &gateway->options.priority;
	simtime from = clock_machine_ns(), to;
	int n;

	priority_spent(priority, from);
	n = epoll_wait(gateway->epoll, events, EVENTS,
	               gateway->n_ending > 0 ? ENDING_MS : EXPIRY_S * 1000);
	to = clock_machine_ns();
	priority_slept(priority, from, to);
	gateway->now_s = (time_t)(to / SIMTIME_S);
	return n;
}

bool gateway_files_take(struct gateway *gateway, uint32_t n)
{
	while (gateway->files_free < n && gateway_talks_give(gateway, GATEWAY_IN_USE_S))
		;
	if (gateway->files_free < n)
		return false;
	gateway->files_free -= n;
	return true;
}

/* Counts the descriptors that the gateway may take. Those below the lowest free one are in use.
 * Returns 0, or -errno with problem. */
static int count_files(struct gateway *gateway, struct problem *problem)
{
	uint64_t lowest = (uint64_t)gateway->epoll, used = lowest + FILES_OF_WEIR;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	if (limit.rlim_cur < used + FILES_MIN) {
		problem_set(problem, -1,
		            "weir may open %" PRIu64 " files, of which %" PRIu64
		            " are in use; raise the limit to %" PRIu64 ": ulimit -n",
		            (uint64_t)limit.rlim_cur, lowest, used + FILES_MIN);
		return -EMFILE;
	}
	gateway->files_free =
	        (uint32_t)(limit.rlim_cur - used < FILES_MAX ? limit.rlim_cur - used : FILES_MAX);
	return 0;
}

/* The function of the thread. An event may end a source that has another event in the same round.
 * An ended source therefore ignores events, and is freed only at the end of a round
 * (gateway_..._expire). */
static void *serve(void *argument)
{
	struct gateway *gateway = argument;
	struct epoll_event events[EVENTS];
	time_t expired = 0;

	if (priority_take(&gateway->options.priority) < 0)
		gateway->options.priority.kind = PRIORITY_NONE;
	priority_begin(&gateway->options.priority, clock_machine_ns());
	while (!atomic_load(&gateway->over)) {
		int n = wait_for_events(gateway, events);

		if (n < 0 && errno != EINTR)
			return NULL;
		pthread_mutex_lock(&gateway->handling);
		for (int i = 0; i < n; i++) {
			struct source *source = events[i].data.ptr;

			if (source)
				source->ready(gateway, source, events[i].events);
		}
		gateway_streams_expire(gateway);
		if (gateway->now_s - expired >= EXPIRY_S)
			gateway_talks_expire(gateway);
		expired = gateway->now_s;
		pthread_mutex_unlock(&gateway->handling);
	}
	return NULL;
}

static int open_all(struct gateway *gateway, struct problem *problem)
{
	struct epoll_event stop = {.events = EPOLLIN};
	int rc;

	gateway->epoll = epoll_create1(EPOLL_CLOEXEC);
	gateway->stopping = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	gateway->buffer = malloc(GATEWAY_BUFFER);
	if (gateway->epoll < 0 || gateway->stopping < 0 || !gateway->buffer ||
	    epoll_ctl(gateway->epoll, EPOLL_CTL_ADD, gateway->stopping, &stop) < 0) {
		rc = gateway->buffer ? -errno : -ENOMEM;
		problem_set(problem, -1, "the gateway cannot be opened: %s", strerror(-rc));
		return rc;
	}
	rc = gateway_datagrams_open(gateway, problem);
	if (rc == 0)
		rc = count_files(gateway, problem);
	if (rc == 0)
		rc = gateway_watch(gateway, &gateway->opening, EPOLLIN);
	return rc;
}

static void free_all(struct gateway *gateway)
{
	gateway_streams_close(gateway);
	gateway_talks_close(gateway);
	gateway_datagrams_close(gateway);
	if (gateway->epoll >= 0)
		close(gateway->epoll);
	if (gateway->stopping >= 0)
		close(gateway->stopping);
	free(gateway->buffer);
	pthread_mutex_destroy(&gateway->handling);
}

int gateway_start(const struct gateway_options *options, struct gateway **gateway,
                  struct problem *problem)
{
	struct running *made = calloc(1, sizeof(*made));
	sigset_t all, before;
	int rc;

	if (!made) {
		problem_set(problem, -1, "no memory");
		return -ENOMEM;
	}
	pthread_mutex_init(&made->gateway.handling, NULL);
	made->gateway.options = *options;
	made->gateway.opening =
	        (struct source){.fd = options->opening, .ready = gateway_opening_ready};
	for (unsigned i = 0; i < 2; i++)
		made->gateway.udp[i].fd = made->gateway.echo[i].fd = -1;
	rc = open_all(&made->gateway, problem);
	if (rc == 0) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		rc = -pthread_create(&made->thread, NULL, serve, made);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		if (rc < 0)
			problem_set(problem, -1, "no thread for the gateway: %s", strerror(-rc));
	}
	if (rc < 0) {
		free_all(&made->gateway);
		free(made);
		return rc;
	}
	*gateway = &made->gateway;
	return 0;
}

bool gateway_is_readable(const struct source *source)
{
	struct pollfd polled = {.fd = source->fd, .events = POLLIN};

	return source->fd >= 0 && poll(&polled, 1, 0) > 0;
}

uint64_t gateway_unsent(struct gateway *gateway)
{
	uint64_t bytes;

	if (!gateway)
		return 0;
	pthread_mutex_lock(&gateway->handling);
	bytes = gateway_streams_unsent(gateway);
	if (bytes == 0)
		bytes = gateway_datagrams_wait(gateway);
	pthread_mutex_unlock(&gateway->handling);
	return bytes;
}

void gateway_stop(struct gateway *gateway)
{
	struct running *running = (struct running *)gateway;
	uint64_t one = 1;
	ssize_t woken;

	if (!gateway)
		return;
	atomic_store(&gateway->over, true);
	/* If this fails, the thread reads `over` at the end of its wait. */
	woken = write(gateway->stopping, &one, sizeof(one));
	(void)woken;
	pthread_join(running->thread, NULL);
	free_all(gateway);
	free(running);
}

/* Packets that a gateway loses for want of something that this machine should have. */

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

void gateway_losses(struct gateway *gateway, struct gateway_losses *losses)
{
	*losses = (struct gateway_losses){0};
	if (!gateway)
		return;
	pthread_mutex_lock(&gateway->handling);
	/* Adds what the kernel had to drop before the gateway has read it. */
	uint64_t sum = 0;

	for (unsigned i = 0; i < 2; i++) {
		uint32_t info[SK_MEMINFO_VARS] = {0};
		socklen_t bytes = sizeof(info);

		if (gateway->udp[i].fd >= 0 &&
		    getsockopt(gateway->udp[i].fd, SOL_SOCKET, SO_MEMINFO, info, &bytes) == 0)
			sum += info[SK_MEMINFO_DROPS];
	}
	gateway->lost[GATEWAY_LACKS_TIME] = sum;
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
