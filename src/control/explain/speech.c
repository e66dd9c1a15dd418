/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/speech.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "explain/flow.h"
#include "packet/headers.h"

#define DNS_LENGTH 2 /* bytes ahead of a message in TCP */

/* ---- HTTP/1.1 in clear (RFC 9112) ---- */

static const char *const methods[] = {"GET ",   "HEAD ",    "POST ",    "PUT ",  "DELETE ",
                                      "PATCH ", "OPTIONS ", "CONNECT ", "TRACE "};

static bool begins_request(const char *text, size_t bytes)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		const size_t n = strlen(methods[i]);

		if (bytes > n && memcmp(text, methods[i], n) == 0)
			return true;
	}
	return false;
}

/* Copies up to a blank behind the first `words`, or to the end of the line. */
static void copy(const char *text, size_t bytes, int words, char *to, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < bytes && n + 1 < room; i++) {
		if (text[i] < ' ' || text[i] > '~' || (text[i] == ' ' && --words < 0))
			break;
		to[n++] = text[i];
	}
	to[n] = '\0';
}

/* Returns true if a request begins here; and writes its method and target to `line`, and its host
 * to `host`; "": they are not known, or not in these bytes. Both are cut to their room. */
static bool http_request(const uint8_t *data, size_t bytes, char *line, size_t line_room,
                         char *host, size_t host_room)
{
	static const char field[] = "\nhost:";
	const char *text = (const char *)data;

	*line = *host = '\0';
	if (!begins_request(text, bytes))
		return false;
	copy(text, bytes, 1, line, line_room);
	for (size_t i = 0; i + sizeof(field) <= bytes; i++) {
		if (text[i] != '\n' || strncasecmp(text + i, field, sizeof(field) - 1) != 0)
			continue;
		i += sizeof(field) - 1;
		i += text[i] == ' ';
		copy(text + i, bytes - i, 0, host, host_room);
		break;
	}
	return true;
}

/* ---- protocols ---- */

static const struct speech_words *dns_words(const struct speech_words *words,
                                            struct speech_words *own)
{
	*own = *words;
	if (words->tcp && words->here > DNS_LENGTH &&
	    headers_u16(words->data) <= words->bytes - DNS_LENGTH) {
		own->data += DNS_LENGTH;
		own->here -= DNS_LENGTH;
	}
	return own;
}

static uint16_t take_dns(struct speech *speech, const struct speech_words *words)
{
	struct dns_message message;
	struct speech_words own;

	words = dns_words(words, &own);
	if (!speech->dns)
		speech->dns = malloc(sizeof(message));
	if (speech->dns && dns_read(words->data, words->here, &message)) {
		*speech->dns = message;
		memcpy(speech->name, message.name, sizeof(speech->name));
	}
	return PASSAGE_TURN | PASSAGE_DATA;
}

static uint16_t take_http(struct speech *speech, const struct speech_words *words)
{
	char line[SPEECH_LINE_BYTES], host[DNS_NAME_BYTES];
	struct speech_request *more;

	if (words->way != FLOW_UP || speech->n_requests == SPEECH_REQUESTS_MAX ||
	    !http_request(words->data, words->here, line, sizeof(line), host, sizeof(host)))
		return PASSAGE_TURN | PASSAGE_DATA;
	if (!speech->name[0])
		memcpy(speech->name, host, sizeof(speech->name));
	more = realloc(speech->requests, (speech->n_requests + 1) * sizeof(*more));
	if (more) {
		speech->requests = more;
		more += speech->n_requests++;
		more->number = words->number;
		memcpy(more->line, line, sizeof(line));
	}
	return PASSAGE_TURN | PASSAGE_DATA;
}

static enum speech_kind kind_of(const struct speech_words *words)
{
	struct dns_message message;
	struct speech_words own;

	if (words->server_port == DNS_PORT) {
		dns_words(words, &own);
		if (dns_read(own.data, own.here, &message))
			return SPEECH_DNS;
	}
	if (!words->tcp)
		return quic_begins(words->data, words->here) ? SPEECH_QUIC : SPEECH_UNKNOWN;
	if (words->way == FLOW_UP && tls_begins(words->data, words->here))
		return SPEECH_TLS;
	if (words->here > 4 && memcmp(words->data, "SSH-", 4) == 0)
		return SPEECH_SSH;
	return words->way == FLOW_UP && begins_request((const char *)words->data, words->here)
	               ? SPEECH_HTTP
	               : SPEECH_UNKNOWN;
}

uint16_t speech_take(struct speech *speech, const struct speech_words *words)
{
	if (speech->kind == SPEECH_SILENT)
		speech->kind = kind_of(words);
	switch (speech->kind) {
	case SPEECH_DNS:
		return take_dns(speech, words);
	case SPEECH_HTTP:
		return take_http(speech, words);
	case SPEECH_TLS:
		return tls_take(&speech->tls, words, speech->name);
	case SPEECH_QUIC:
		return quic_take(&speech->quic, words->way, words->data, words->here, words->bytes);
	default:
		return PASSAGE_TURN | PASSAGE_DATA;
	}
}

const char *speech_line(const struct speech *speech, uint32_t number)
{
	for (uint32_t i = 0; i < speech->n_requests; i++) {
		if (speech->requests[i].number == number)
			return speech->requests[i].line;
	}
	return NULL;
}

void speech_free(struct speech *speech)
{
	if (speech->kind == SPEECH_TLS)
		tls_free(&speech->tls);
	if (speech->kind == SPEECH_DNS)
		free(speech->dns);
	free(speech->requests);
	speech->requests = NULL;
}
