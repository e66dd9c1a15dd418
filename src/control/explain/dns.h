/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message of DNS (RFC 1035): the name that is asked for, and the addresses of the answer.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_DNS_H
#define WEIR_DNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DNS_PORT          53
#define DNS_NAME_BYTES    96 /* a longer name is cut */
#define DNS_ADDRESSES_MAX 16

struct dns_address {
	uint8_t bytes[16];
	uint8_t family; /* 4 or 6 */
};

struct dns_message {
	uint16_t id, type;
	bool answer;
	bool cut; /* there is more, by TCP */
	char name[DNS_NAME_BYTES];
	uint32_t n_addresses;
	struct dns_address addresses[DNS_ADDRESSES_MAX];
};

/* Returns false if it is no message with one question. */
bool dns_read(const uint8_t *data, size_t bytes, struct dns_message *message);

#endif
