/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec/exec_resolver.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define CONF_BYTES_MAX 4096

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

void exec_resolver_read(const char *conf, const struct address *gateway,
                        union address_socket *resolver, char *text, size_t room)
{
	char name[INET6_ADDRSTRLEN], line[512], word[128];
	size_t used = 0;
	bool any = false;

	resolver->any.sa_family = 0;
	text[0] = '\0';
	inet_ntop(gateway->family, gateway->bytes, name, sizeof(name));
	for (const char *at = conf; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		union address_socket server;

		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
		if (sscanf(line, " nameserver %127s", word) == 1) {
			if (any || !read_address(word, &server))
				continue;
			any = true;
			if (!is_here_only(&server)) {
				/* This server is queried first, and can be reached. */
				text[0] = '\0';
				return;
			}
			*resolver = server;
			snprintf(line, sizeof(line), "nameserver %s", name);
		}
		if (used + strlen(line) + 2 < room)
			used += (size_t)snprintf(text + used, room - used, "%s\n", line);
	}
	if (!any)
		text[0] = '\0';
}

void exec_resolver_choose(const struct address *gateway, union address_socket *resolver, char *text,
                          size_t room)
{
	char conf[CONF_BYTES_MAX + 1] = "";
	FILE *file = fopen("/etc/resolv.conf", "re");

	if (file)
		conf[fread(conf, 1, CONF_BYTES_MAX, file)] = '\0';
	if (file)
		fclose(file);
	exec_resolver_read(conf, gateway, resolver, text, room);
}
