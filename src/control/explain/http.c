/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/speech.h"

#include <string.h>
#include <strings.h>

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

bool http_request(const uint8_t *data, size_t bytes, char *line, size_t line_room, char *host,
                  size_t host_room)
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
