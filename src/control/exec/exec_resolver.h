/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names inside `weir exec`. A resolver that this machine has at a loopback address
 * (systemd-resolved, dnsmasq) or at a link-local one cannot be reached from another network
 * namespace; then the command gets a resolv.conf with the gateway's address, which passes queries
 * on to it (gateway.h).
 *
 * Thread: control.
 */
#ifndef WEIR_EXEC_RESOLVER_H
#define WEIR_EXEC_RESOLVER_H

#include <stddef.h>

#include "namespace/address.h"

/* Reads /etc/resolv.conf. `text` becomes what the command is to read instead, "" where it may read
 * the same; then `resolver` is what port 53 of `gateway` means, family 0 otherwise. */
void exec_resolver_choose(const struct address *gateway, union address_socket *resolver, char *text,
                          size_t room);
/* The same of a text, for tests. */
void exec_resolver_read(const char *conf, const struct address *gateway,
                        union address_socket *resolver, char *text, size_t room);

#endif
