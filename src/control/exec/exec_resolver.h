/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Name resolution inside `weir exec`. If the resolver of this machine is at a loopback address
 * (systemd-resolved, dnsmasq) or a link-local one, it cannot be reached from another network
 * namespace. Then the command gets a resolv.conf with the address of the gateway, which forwards
 * queries (gateway.h).
 *
 * Thread: control.
 */
#ifndef WEIR_EXEC_RESOLVER_H
#define WEIR_EXEC_RESOLVER_H

#include <stddef.h>

#include "namespace/address.h"

/* Reads /etc/resolv.conf. Sets `text` to what the command is to read instead, and `resolver` to the
 * server for port 53 of `gateway`. If the command may read the same file, `text` is "", and the
 * family of `resolver` is 0. */
void exec_resolver_choose(const struct address *gateway, union address_socket *resolver, char *text,
                          size_t room);
/* The same for a given text, for tests. */
void exec_resolver_read(const char *conf, const struct address *gateway,
                        union address_socket *resolver, char *text, size_t room);

#endif
