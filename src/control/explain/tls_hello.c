/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two hellos of TLS say. */
#include <string.h>

#include "explain/flow.h"
#include "explain/speech.h"
#include "packet/headers.h"

#define EXTENSION_NAME     0
#define EXTENSION_KEY      41 /* pre_shared_key */
#define EXTENSION_VERSIONS 43

/* Bytes that are read from the front. Once they do not suffice, `data` is NULL. */
struct bytes {
	const uint8_t *data;
	size_t n;
};

static struct bytes take(struct bytes *from, size_t n)
{
	struct bytes part = {from->data, n};

	if (!from->data || n > from->n) {
		*from = (struct bytes){NULL, 0};
		return *from;
	}
	from->data += n;
	from->n -= n;
	return part;
}

static uint32_t take_number(struct bytes *from, size_t n)
{
	struct bytes part = take(from, n);
	uint32_t number = 0;

	for (size_t i = 0; part.data && i < n; i++)
		number = number << 8 | part.data[i];
	return number;
}

/* Takes bytes behind a length of `n` bytes. */
static struct bytes take_vector(struct bytes *from, size_t n)
{
	return take(from, take_number(from, n));
}

static void read_name(struct bytes extension, char server[DNS_NAME_BYTES])
{
	struct bytes list = take_vector(&extension, 2), name;
	size_t n;

	if (server[0] || take_number(&list, 1) != 0 || !list.data)
		return;
	name = take_vector(&list, 2);
	n = name.n < DNS_NAME_BYTES - 1 ? name.n : DNS_NAME_BYTES - 1;
	for (size_t i = 0; name.data && i < n; i++) {
		if (name.data[i] <= ' ' || name.data[i] > '~')
			return;
	}
	if (name.data) {
		memcpy(server, name.data, n);
		server[n] = '\0';
	}
}

static void read_extensions(struct tls *tls, int way, struct bytes extensions,
                            char name[DNS_NAME_BYTES])
{
	while (extensions.data && extensions.n > 0) {
		const uint32_t type = take_number(&extensions, 2);
		struct bytes extension = take_vector(&extensions, 2);

		if (!extension.data)
			return;
		if (way == FLOW_UP && type == EXTENSION_NAME)
			read_name(extension, name);
		if (type == EXTENSION_KEY && way == FLOW_DOWN)
			tls->resumed = true;
		if (type == EXTENSION_VERSIONS && way == FLOW_DOWN)
			tls->version = (uint16_t)take_number(&extension, 2);
	}
}

static void read_session(struct tls *tls, int way, struct bytes session)
{
	if (!session.data || session.n == 0 || session.n > sizeof(tls->session))
		return;
	if (way == FLOW_UP) {
		memcpy(tls->session, session.data, session.n);
		tls->session_bytes = (uint8_t)session.n;
		return;
	}
	/* TLS 1.3 repeats a session that means nothing; what is said of its key decides there. */
	tls->resumed = tls->session_bytes == session.n &&
	               memcmp(tls->session, session.data, session.n) == 0;
}

void tls_read_hello(struct tls *tls, int way, const uint8_t *hello, size_t bytes,
                    char name[DNS_NAME_BYTES])
{
	struct bytes rest = {hello, bytes};
	uint32_t version;
	bool same_session;

	take(&rest, 4); /* type and length */
	version = take_number(&rest, 2);
	take(&rest, 32); /* random */
	if (way == FLOW_DOWN && rest.data)
		tls->version = (uint16_t)version;
	read_session(tls, way, take_vector(&rest, 1));
	if (way == FLOW_UP) {
		take_vector(&rest, 2); /* cipher suites */
		take_vector(&rest, 1); /* compressions */
	} else {
		take(&rest, 3);
	}
	if (!rest.data || rest.n == 0)
		return;
	same_session = tls->resumed;
	tls->resumed = false;
	read_extensions(tls, way, take_vector(&rest, 2), name);
	if (way == FLOW_DOWN && tls->version != TLS_VERSION_1_3)
		tls->resumed = same_session;
}
