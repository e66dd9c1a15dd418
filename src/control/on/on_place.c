/* SPDX-License-Identifier: BSD-3-Clause */
#include "on/on.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "namespace/namespace.h"

/* An address of the range for documentation (RFC 5737): the way there is the default route. */
#define ANYWHERE "192.0.2.1"

/* ---- the network ---- */

static int no_network(const struct on_arguments *arguments, uint64_t pid, int error,
                      struct problem *problem)
{
	if (pid && error == -ENOENT)
		problem_set(problem, -1, "there is no process %" PRIu64, pid);
	else if (pid)
		problem_set(problem, -1,
		            "the network of process %" PRIu64 " cannot be opened: %s%s", pid,
		            strerror(-error), error == -EACCES ? "; run as root" : "");
	else if (arguments->netns)
		problem_set(problem, -1,
		            "--netns %s: %s; `ip netns` lists the existing ones, and a path may "
		            "be given",
		            arguments->netns, strerror(-error));
	else
		problem_set(problem, -1, "this network namespace cannot be opened in /proc: %s",
		            strerror(-error));
	return error;
}

static int open_net(const struct on_arguments *arguments, uint64_t pid, struct on_place *place,
                    struct problem *problem)
{
	const char *netns = arguments->netns;
	char path[PATH_MAX] = "/proc/thread-self/ns/net";

	if (pid)
		snprintf(path, sizeof(path), "/proc/%" PRIu64 "/ns/net", pid);
	else if (netns)
		snprintf(path, sizeof(path), "%s%s", strchr(netns, '/') ? "" : "/run/netns/",
		         netns);
	/* Before the namespace: the number may become that of another process. */
	if (pid) {
		place->process = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
		if (place->process < 0)
			return no_network(arguments, pid, errno == ESRCH ? -ENOENT : -errno,
			                  problem);
	}
	place->net = open(path, O_RDONLY | O_CLOEXEC);
	return place->net < 0 ? no_network(arguments, pid, -errno, problem) : 0;
}

/* ---- addresses, and the interface ---- */

/* Adds `host ADDRESS` of all addresses that others can reach to a filter. In the namespace. */
static int list_addresses(void *argument)
{
	char *match = argument, text[INET6_ADDRSTRLEN];
	struct ifaddrs *all;

	if (getifaddrs(&all) < 0)
		return -errno;
	for (const struct ifaddrs *one = all; one; one = one->ifa_next) {
		const struct sockaddr_in6 *six = (const void *)one->ifa_addr;
		const struct sockaddr_in *four = (const void *)one->ifa_addr;
		const int family = one->ifa_addr ? one->ifa_addr->sa_family : AF_UNSPEC;
		const size_t used = strlen(match);

		if ((one->ifa_flags & IFF_LOOPBACK) || (family != AF_INET && family != AF_INET6) ||
		    (family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr)) ||
		    used + sizeof(text) + 10 > FILTER_BYTES_MAX)
			continue;
		inet_ntop(family,
		          family == AF_INET ? (const void *)&four->sin_addr : &six->sin6_addr, text,
		          sizeof(text));
		snprintf(match + used, FILTER_BYTES_MAX - used, "%shost %s", used ? " or " : "",
		         text);
	}
	freeifaddrs(all);
	return 0;
}

struct way {
	const char *to;           /* an IPv4 or IPv6 address */
	char interface[IFNAMSIZ]; /* "": there is none, or several without a way to it */
	char all[200];            /* their names */
};

/* Finds the address that this network has on the way to another one. Returns false if there is no
 * way. */
static bool own_address(const char *to, struct sockaddr_storage *own)
{
	struct sockaddr_storage peer = {.ss_family = strchr(to, ':') ? AF_INET6 : AF_INET};
	void *address = peer.ss_family == AF_INET6
	                        ? (void *)&((struct sockaddr_in6 *)&peer)->sin6_addr
	                        : (void *)&((struct sockaddr_in *)&peer)->sin_addr;
	socklen_t bytes = sizeof(*own);
	int fd = socket(peer.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool found;

	((struct sockaddr_in *)&peer)->sin_port = htons(9);
	found = fd >= 0 && inet_pton(peer.ss_family, to, address) == 1 &&
	        connect(fd, (struct sockaddr *)&peer, sizeof(peer)) == 0 &&
	        getsockname(fd, (struct sockaddr *)own, &bytes) == 0;
	if (fd >= 0)
		close(fd);
	return found;
}

static bool has_address(const struct ifaddrs *one, const struct sockaddr_storage *address)
{
	if (!one->ifa_addr || one->ifa_addr->sa_family != address->ss_family)
		return false;
	return address->ss_family == AF_INET6
	               ? memcmp(&((const struct sockaddr_in6 *)one->ifa_addr)->sin6_addr,
	                        &((const struct sockaddr_in6 *)address)->sin6_addr, 16) == 0
	               : ((const struct sockaddr_in *)one->ifa_addr)->sin_addr.s_addr ==
	                         ((const struct sockaddr_in *)address)->sin_addr.s_addr;
}

/* Finds the interface that leads somewhere; without a way, the only one. In the namespace. */
static int find_way(void *argument)
{
	struct way *way = argument;
	struct sockaddr_storage own = {.ss_family = AF_UNSPEC};
	struct ifaddrs *all;
	uint32_t n = 0;
	bool leads = own_address(way->to, &own), found = false;

	if (getifaddrs(&all) < 0)
		return -errno;
	for (const struct ifaddrs *one = all; one; one = one->ifa_next) {
		const size_t used = strlen(way->all);

		if (leads && has_address(one, &own)) {
			snprintf(way->interface, sizeof(way->interface), "%s", one->ifa_name);
			found = true;
		}
		/* Each interface is once in the list of link addresses. */
		if ((one->ifa_flags & IFF_LOOPBACK) || !one->ifa_addr ||
		    one->ifa_addr->sa_family != AF_PACKET ||
		    strncmp(one->ifa_name, "weir-", 5) == 0)
			continue;
		snprintf(way->all + used, sizeof(way->all) - used, "%s%s", n++ ? ", " : "",
		         one->ifa_name);
	}
	if (!found && n == 1)
		snprintf(way->interface, sizeof(way->interface), "%s", way->all);
	freeifaddrs(all);
	return 0;
}

static int choose_interface(const struct on_arguments *arguments, const char *to,
                            struct on_place *place, struct problem *problem)
{
	struct way way = {.to = to};
	int rc;

	if (arguments->interface) {
		snprintf(place->interface, sizeof(place->interface), "%s", arguments->interface);
		return 0;
	}
	rc = namespace_run(place->net, find_way, &way);
	if (rc == 0 && way.interface[0]) {
		memcpy(place->interface, way.interface, sizeof(place->interface));
		return 0;
	}
	if (rc < 0)
		problem_set(problem, -1, "this network cannot be looked at: %s%s", strerror(-rc),
		            rc == -EPERM ? "; another network needs root" : "");
	else
		problem_set(problem, -1, "on which interface? %s%s",
		            way.all[0] ? "there are: " : "there is none there", way.all);
	return rc < 0 ? rc : -ENODEV;
}

/* ---- the place ---- */

/* Sets the filter for packets between the place and another container. `to` receives an address
 * there. */
static int limit_to(const struct on_arguments *arguments, struct on_place *place, char *to,
                    size_t room, struct problem *problem)
{
	const char *name = arguments->container[1];
	struct on_place other = {.net = -1, .process = -1};
	uint64_t pid = 0;
	char hosts[FILTER_BYTES_MAX] = "";
	int rc = on_container_process(name, &pid, problem);

	if (rc == 0)
		rc = open_net(arguments, pid, &other, problem);
	if (rc == 0)
		rc = namespace_run(other.net, list_addresses, hosts);
	on_place_close(&other);
	if (rc < 0)
		return rc;
	if (hosts[0] == '\0')
		return problem_set(problem, -1, "container %s has no address", name);
	snprintf(to, room, "%.*s", (int)strcspn(hosts + strlen("host "), " "),
	         hosts + strlen("host "));
	if ((size_t)snprintf(place->match, sizeof(place->match), "%s%s%s(%s)",
	                     arguments->match ? "(" : "", arguments->match ? arguments->match : "",
	                     arguments->match ? ") and " : "", hosts) >= sizeof(place->match))
		return problem_set(problem, -1,
		                   "container %s has so many addresses that the filter is too long",
		                   name);
	return 0;
}

int on_place_open(const struct on_arguments *arguments, const char *container,
                  struct on_place *place, struct problem *problem)
{
	uint64_t pid = arguments->pid;
	char to[INET6_ADDRSTRLEN] = ANYWHERE;
	int rc = 0;

	*place = (struct on_place){.net = -1, .process = -1, .container = container};
	if (arguments->match)
		snprintf(place->match, sizeof(place->match), "%s", arguments->match);
	if (container)
		rc = on_container_process(container, &pid, problem);
	if (rc == 0)
		rc = open_net(arguments, pid, place, problem);
	if (rc == 0 && arguments->between)
		rc = limit_to(arguments, place, to, sizeof(to), problem);
	return rc == 0 ? choose_interface(arguments, to, place, problem) : rc;
}

void on_place_close(struct on_place *place)
{
	int *fds[] = {&place->net, &place->process};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

bool on_place_is_gone(const struct on_place *place)
{
	struct pollfd process = {.fd = place->process, .events = POLLIN};

	return place->process >= 0 && poll(&process, 1, 0) > 0;
}
