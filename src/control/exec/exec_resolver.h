/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Name resolution inside `weir exec`. A resolver of this machine at a loopback address
 * (systemd-resolved, dnsmasq) or a link-local one cannot be reached from another network namespace.
 * Then the command gets a resolv.conf in which such a server has an address of the gateway, which
 * passes the queries on (gateway.h). All servers stay, in their order, with all other lines: which
 * of them is asked, and for how long, is the business of the command's resolver, as it is outside.
 *
 * Without any server, the C library asks 127.0.0.1.
 *
 * Thread: control.
 */
#ifndef WEIR_EXEC_RESOLVER_H
#define WEIR_EXEC_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>

#include "gateway/gateway.h"

/* Reads /etc/resolv.conf. Sets `text` to what the command is to read instead, and `resolvers` to
 * the servers that the gateway passes on, at its address and those behind that of the command.
 * Returns how many. If the command may read the same file, `text` is "", and there are none. */
uint32_t exec_resolver_choose(const struct address *gateway,
                              struct gateway_resolver resolvers[GATEWAY_RESOLVERS_MAX], char *text,
                              size_t room);
/* The same for a given text, for tests. `here`: a server listens at 127.0.0.1. */
uint32_t exec_resolver_read(const char *conf, bool here, const struct address *gateway,
                            struct gateway_resolver resolvers[GATEWAY_RESOLVERS_MAX], char *text,
                            size_t room);

#endif
