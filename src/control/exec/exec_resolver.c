/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec/exec_resolver.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "machine/run_log.h"

#define CONF           "/etc/resolv.conf"
#define CONF_BYTES_MAX 4000 /* the command's may be a little longer */

static bool is_here_only(const union address_socket *at)
{
	if (at->any.sa_family == AF_INET)
		return ntohl(at->in.sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&at->in6.sin6_addr) ||
	       IN6_IS_ADDR_LINKLOCAL(&at->in6.sin6_addr);
}

/* Parses an address, perhaps with a scope, as `fe80::1%eth0`: getaddrinfo reads that. */
static bool read_address(const char *text, union address_socket *at)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
	                         .ai_socktype = SOCK_DGRAM};
	struct addrinfo *found;

	if (getaddrinfo(text, "53", &hints, &found) != 0)
		return false;
	memset(at, 0, sizeof(*at));
	memcpy(at, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return true;
}

/* The text for the command, and the servers that it finds at the gateway. */
struct reading {
	const struct address *gateway;
	struct gateway_resolver *resolvers;
	uint32_t n;
	char *text;
	size_t used, room;
};

static void add_line(struct reading *reading, const char *line, int bytes)
{
	size_t left = reading->room - reading->used;

	if ((size_t)bytes + 2 < left)
		reading->used += (size_t)snprintf(reading->text + reading->used, left, "%.*s\n",
		                                  bytes, line);
}

/* Gives a server an address of the gateway's network. .2 is the command. */
static void add_here(struct reading *reading, const union address_socket *server)
{
	struct gateway_resolver *resolver = &reading->resolvers[reading->n];
	char line[INET6_ADDRSTRLEN + sizeof("nameserver ")], name[INET6_ADDRSTRLEN];

	if (reading->n == GATEWAY_RESOLVERS_MAX)
		return; /* no resolver asks it */
	resolver->server = *server;
	resolver->address = *reading->gateway;
	if (reading->n > 0)
		resolver->address.bytes[3] = (uint8_t)(2 + reading->n);
	reading->n++;
	inet_ntop(AF_INET, resolver->address.bytes, name, sizeof(name));
	add_line(reading, line, snprintf(line, sizeof(line), "nameserver %s", name));
}

uint32_t exec_resolver_read(const char *conf, bool here, const struct address *gateway,
                            struct gateway_resolver resolvers[GATEWAY_RESOLVERS_MAX], char *text,
                            size_t room)
{
	struct reading reading = {
	        .gateway = gateway, .resolvers = resolvers, .text = text, .room = room};
	const struct address loopback = {.family = AF_INET, .bytes = {127, 0, 0, 1}};
	union address_socket server;
	char word[128];
	bool any = false;

	for (const char *at = conf; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		int bytes = (int)strcspn(at, "\n");

		if (sscanf(at, "nameserver%*[ \t]%127s", word) != 1) {
			add_line(&reading, at, bytes);
			continue;
		}
		if (!read_address(word, &server))
			continue;
		any = true;
		if (is_here_only(&server))
			add_here(&reading, &server);
		else
			add_line(&reading, at, bytes);
	}
	server = address_socket(&loopback, 53);
	if (!any && here)
		add_here(&reading, &server);
	if (reading.n == 0)
		text[0] = '\0';
	return reading.n;
}

/* Returns true if a server of names listens at 127.0.0.1: an empty datagram is not refused. */
static bool listens_here(void)
{
	const struct address loopback = {.family = AF_INET, .bytes = {127, 0, 0, 1}};
	union address_socket to = address_socket(&loopback, 53);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), error = 0;
	socklen_t bytes = sizeof(error);
	bool listens;

	if (fd < 0)
		return false;
	listens = connect(fd, &to.any, sizeof(to.in)) == 0 && send(fd, "", 0, MSG_DONTWAIT) == 0 &&
	          getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 && error == 0;
	close(fd);
	return listens;
}

uint32_t exec_resolver_choose(const struct address *gateway,
                              struct gateway_resolver resolvers[GATEWAY_RESOLVERS_MAX], char *text,
                              size_t room)
{
	char conf[CONF_BYTES_MAX + 1] = "";
	FILE *file = fopen(CONF, "re");
	bool here;

	if (file) {
		conf[fread(conf, 1, CONF_BYTES_MAX, file)] = '\0';
		fclose(file);
	}
	here = listens_here();
	if (file || !here)
		return exec_resolver_read(conf, here, gateway, resolvers, text, room);
	run_log(RUN_LOG_WARNING, "there is no " CONF ", so the command cannot ask the resolver at "
	                         "127.0.0.1; create it: an empty file suffices");
	text[0] = '\0';
	return 0;
}
