/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of a template's clouds: fields of a packet as text, always in the same form. */
#include <arpa/inet.h>
#include <string.h>

#include "engine/template.h"

#define ADDRESS_BYTES INET6_ADDRSTRLEN

static void address_text(const uint8_t *address, uint8_t family, char text[ADDRESS_BYTES])
{
	inet_ntop(family == 4 ? AF_INET : AF_INET6, address, text, ADDRESS_BYTES);
}

/* Writes an end of a flow: `10.0.0.1`; with ports `10.0.0.1:80`, `[2001:db8::1]:80`. */
static void end_text(const uint8_t *address, uint16_t port, const struct packet_key *key,
                     char *text, size_t size)
{
	char plain[ADDRESS_BYTES];

	address_text(address, key->family, plain);
	if (!key->has_ports)
		__builtin_snprintf(text, size, "%s", plain);
	else
		__builtin_snprintf(text, size, key->family == 4 ? "%s:%u" : "[%s]:%u", plain, port);
}

static void protocol_text(uint8_t protocol, char *text, size_t size)
{
	static const struct {
		uint8_t protocol;
		const char *name;
	} known[] = {{1, "icmp"}, {6, "tcp"}, {17, "udp"}, {58, "icmp6"}, {132, "sctp"}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].protocol == protocol) {
			__builtin_snprintf(text, size, "%s", known[i].name);
			return;
		}
	}
	__builtin_snprintf(text, size, "%u", protocol);
}

uint32_t template_name_bytes(bool flow)
{
	/* the template, a slash and an address; or two of them with brackets and ports, and the
	 * protocol */
	return SCENARIO_NAME_BYTES + 1 + (flow ? 2 * (ADDRESS_BYTES + 8) + 8 : ADDRESS_BYTES);
}

void template_name(const struct template *template, const struct packet_key *key, char *name)
{
	char from[ADDRESS_BYTES + 8], to[ADDRESS_BYTES + 8], protocol[8];

	if (key->family == 0) {
		__builtin_snprintf(name, template->name_bytes, "%s/other", template->name);
	} else if (!template->flow) {
		address_text(template->source ? key->source : key->destination, key->family, from);
		__builtin_snprintf(name, template->name_bytes, "%s/%s", template->name, from);
	} else {
		end_text(key->source, key->source_port, key, from, sizeof(from));
		end_text(key->destination, key->destination_port, key, to, sizeof(to));
		protocol_text(key->protocol, protocol, sizeof(protocol));
		__builtin_snprintf(name, template->name_bytes, "%s/%s-%s-%s", template->name, from,
		                   to, protocol);
	}
}

/* Returns an address as template_name writes it; returns any other text as it is. */
static const char *canonical(const char *text, char *room)
{
	uint8_t address[16];

	if (inet_pton(AF_INET, text, address) == 1)
		return inet_ntop(AF_INET, address, room, ADDRESS_BYTES);
	if (inet_pton(AF_INET6, text, address) == 1)
		return inet_ntop(AF_INET6, address, room, ADDRESS_BYTES);
	return text;
}

const struct cloud *template_address(const struct template *template, const char *text)
{
	char room[ADDRESS_BYTES];
	const char *address = canonical(text, room);
	uint32_t n = template_used(template);
	size_t at = strlen(template->name) + 1;

	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(template->clouds[i].name + at, address) == 0)
			return &template->clouds[i];
	}
	return NULL;
}
