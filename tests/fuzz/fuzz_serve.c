/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the parsing of requests to weir serve. The input consists of pieces, each ended by a 0:
 * Host, the --name, Origin, Sec-Fetch-Site, Authorization, Accept, Last-Event-ID, the name of a
 * cloud, a lease, and a body, which may contain zeros. Asserts: a Host that is admitted is an
 * address, `localhost` or the name; only the right token is accepted; and whatever a body contains,
 * the conversation made of it is `begin`, as many lines as reported, each of which is a change, and
 * `commit`.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "serve/serve_request.h"

#define INPUT_MAX 65536
#define TOKEN     "0123456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns the next piece, terminated by a 0; the caller frees it. */
static char *piece(const uint8_t **data, size_t *left)
{
	const uint8_t *end = *left > 0 ? memchr(*data, 0, *left) : NULL;
	size_t n = end != NULL ? (size_t)(end - *data) : *left;
	char *text = malloc(n + 1);

	assert(text != NULL);
	if (n > 0)
		memcpy(text, *data, n);
	text[n] = '\0';
	n += end != NULL;
	*data += n;
	*left -= n;
	return text;
}

static void look_at_who(const char *host, const char *name, const char *origin, const char *site)
{
	if (serve_host_is_ours(host, name)) {
		const char *colon = strrchr(host, ':');
		size_t named = strlen(name);

		/* Digits and dots, brackets, or one of the two names, followed by a port at
		 * most. */
		assert(host[0] == '[' || strspn(host, "0123456789.") == strcspn(host, ":") ||
		       strncasecmp(host, "localhost", 9) == 0 ||
		       strncasecmp(host, name, named) == 0);
		assert(host[0] == '[' || colon == strchr(host, ':'));
		assert(strpbrk(host, "/@ \t\r\n") == NULL || strpbrk(name, "/@ \t\r\n") != NULL ||
		       host[0] == '[');
	}
	assert(!serve_host_is_ours(NULL, name));
	if (serve_origin_is_ours(origin, NULL, host)) {
		assert(strncmp(origin, "http", 4) == 0);
		assert(strcasecmp(strstr(origin, "://") + 3, host) == 0);
	}
	if (serve_origin_is_ours(origin, site, host))
		assert(strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0);
}

static void look_at_cloud(const char *cloud)
{
	char line[300];
	size_t n;

	if (!serve_cloud_line(cloud, line, sizeof(line)))
		return;
	n = strlen(line);
	assert(strncmp(line, "show cloud", 10) == 0);
	assert(strcspn(line, "\n") == n && strpbrk(line, "\"'\\#\t\r") == NULL);
}

static bool begins(const char *line, const char *word)
{
	size_t n = strlen(word);

	return strncmp(line, word, n) == 0 && (strchr(" \t", line[n]) != NULL || line[n] == '\0');
}

static void look_at_change(const uint8_t *body, size_t n, const char *lease)
{
	char why[SERVE_WHY_BYTES] = "";
	uint32_t n_lines;
	json_t *lines = serve_change_conversation((const char *)body, n, lease, &n_lines, why);

	if (lines == NULL) {
		assert(why[0] != '\0');
		return;
	}
	assert(n_lines >= 1 && n_lines <= SERVE_CHANGE_LINES_MAX);
	assert(json_array_size(lines) == n_lines + 2);
	for (size_t i = 0; i < n_lines + 2; i++) {
		const char *line = json_string_value(json_array_get(lines, i));

		assert(line != NULL && strpbrk(line, "\r\n") == NULL);
		assert(i == 0        ? begins(line, "begin")
		       : i > n_lines ? strcmp(line, "commit") == 0
		                     : begins(line, "cloud") || begins(line, "clouds") ||
		                               begins(line, "no"));
	}
	json_decref(lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *part[9];
	struct serve_from from;

	if (size > INPUT_MAX)
		return 0;
	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		part[i] = piece(&data, &size);
	look_at_who(part[0], part[1], part[2], part[3]);
	assert(serve_token_is_right(part[4], TOKEN) ==
	       (strncasecmp(part[4], "Bearer ", 7) == 0 && strcmp(part[4] + 7, TOKEN) == 0));
	serve_wants_openmetrics(part[5]);
	if (serve_from_read(part[6], &from))
		assert(from.oldest || from.number <= INT64_MAX);
	look_at_cloud(part[7]);
	look_at_change(data, size, part[8]);
	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		free(part[i]);
	return 0;
}
