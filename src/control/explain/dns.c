/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/speech.h"

#include <string.h>

#include "packet/headers.h"

#define HEADER     12
#define LABEL_MAX  63
#define NAME_MAX   255
#define TYPE_A     1
#define TYPE_AAAA  28
#define CLASS_IN   1
#define ANSWER_BIT 0x8000
#define CUT_BIT    0x0200

/* Reads the name at `at` into `name`. Returns the offset behind it, or 0. Only the question is
 * read so, and nothing precedes it to which it could point. */
static size_t read_name(const uint8_t *data, size_t bytes, size_t at, char *name)
{
	size_t n = 0;

	while (at < bytes && data[at] > 0 && data[at] <= LABEL_MAX) {
		const size_t label = data[at++];

		if (at + label >= bytes || at > HEADER + NAME_MAX)
			return 0;
		for (size_t i = 0; i <= label && n < DNS_NAME_BYTES - 1; i++) {
			const char c = (char)(i < label ? data[at + i] : '.');

			name[n++] = c > ' ' && c <= '~' ? c : '?';
		}
		at += label;
	}
	/* Without the last dot. */
	name[n > 0 && n < DNS_NAME_BYTES - 1 ? n - 1 : n] = '\0';
	return at < bytes && data[at] == 0 ? at + 1 : 0;
}

/* Returns the offset behind a name that may point elsewhere, or 0. */
static size_t skip_name(const uint8_t *data, size_t bytes, size_t at)
{
	while (at < bytes && data[at] > 0 && data[at] <= LABEL_MAX)
		at += data[at] + 1u;
	if (at >= bytes)
		return 0;
	return data[at] == 0 ? at + 1 : at + 2;
}

static void read_answers(const uint8_t *data, size_t bytes, size_t at, uint32_t n,
                         struct dns_message *message)
{
	for (uint32_t i = 0; i < n && message->n_addresses < DNS_ADDRESSES_MAX; i++) {
		struct dns_address *address = &message->addresses[message->n_addresses];
		uint16_t type, length;

		at = skip_name(data, bytes, at);
		if (at == 0 || at + 10 > bytes)
			return;
		type = headers_u16(data + at);
		length = headers_u16(data + at + 8);
		at += 10;
		if (at + length > bytes)
			return;
		if ((type == TYPE_A && length == 4) || (type == TYPE_AAAA && length == 16)) {
			memcpy(address->bytes, data + at, length);
			address->family = type == TYPE_A ? 4 : 6;
			message->n_addresses++;
		}
		at += length;
	}
}

bool dns_read(const uint8_t *data, size_t bytes, struct dns_message *message)
{
	uint16_t flags;
	size_t at;

	*message = (struct dns_message){.id = 0};
	if (bytes < HEADER + 5 || headers_u16(data + 4) != 1)
		return false;
	message->id = headers_u16(data);
	flags = headers_u16(data + 2);
	message->answer = flags & ANSWER_BIT;
	message->cut = flags & CUT_BIT;
	at = read_name(data, bytes, HEADER, message->name);
	if (at == 0 || at + 4 > bytes || headers_u16(data + at + 2) != CLASS_IN)
		return false;
	message->type = headers_u16(data + at);
	if (message->answer)
		read_answers(data, bytes, at + 4, headers_u16(data + 6), message);
	return true;
}
