/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve_request.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "text/language_error.h"
#include "text/value.h"
#include "text/word.h"

#define HOST_BYTES 256

/* ---- the recipient and the sender of a request ---- */

/* Extracts the host without its port and without brackets. */
static bool split_host(const char *host, char name[HOST_BYTES])
{
	const char *end, *port;
	size_t n;

	if (host[0] == '[') {
		end = strchr(++host, ']');
		if (end == NULL)
			return false;
		port = end + 1;
	} else {
		end = port = host + strcspn(host, ":");
	}
	n = (size_t)(end - host);
	if (n == 0 || n >= HOST_BYTES)
		return false;
	if (*port != '\0' && (*port != ':' || strspn(port + 1, "0123456789") != strlen(port + 1) ||
	                      strlen(port + 1) > 5))
		return false;
	memcpy(name, host, n);
	name[n] = '\0';
	return true;
}

bool serve_host_is_ours(const char *host, const char *name)
{
	unsigned char address[sizeof(struct in6_addr)];
	char given[HOST_BYTES];

	if (host == NULL || !split_host(host, given))
		return false;
	return inet_pton(host[0] == '[' ? AF_INET6 : AF_INET, given, address) == 1 ||
	       strcasecmp(given, "localhost") == 0 ||
	       (name != NULL && strcasecmp(given, name) == 0);
}

bool serve_origin_is_ours(const char *origin, const char *site, const char *host)
{
	if (site != NULL && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
		return false;
	if (origin == NULL)
		return true;
	if (strncmp(origin, "http://", 7) == 0)
		origin += 7;
	else if (strncmp(origin, "https://", 8) == 0) /* a proxy in front of this speaks TLS */
		origin += 8;
	else
		return false;
	return host != NULL && strcasecmp(origin, host) == 0;
}

bool serve_token_is_right(const char *authorization, const char *token)
{
	size_t n = strlen(token), given_n;
	unsigned char wrong;

	if (authorization == NULL || strncasecmp(authorization, "Bearer ", 7) != 0)
		return false;
	authorization += 7;
	given_n = strlen(authorization);
	/* The loop covers the whole token, whatever was given. */
	wrong = given_n != n;
	for (size_t i = 0; i < n; i++) {
		unsigned char given = given_n > 0 ? (unsigned char)authorization[i % given_n] : 0;

		wrong |= (unsigned char)(given ^ (unsigned char)token[i]);
	}
	return wrong == 0;
}

bool serve_wants_openmetrics(const char *accept)
{
	return accept != NULL && strstr(accept, "application/openmetrics-text") != NULL;
}

/* ---- the content of a request ---- */

bool serve_from_read(const char *text, struct serve_from *from)
{
	const char *dash = strrchr(text, '-');
	size_t run = dash != NULL ? (size_t)(dash - text) : 0;
	struct language_error ignored;

	*from = (struct serve_from){.oldest = strcmp(text, "oldest") == 0};
	if (from->oldest)
		return true;
	if (run >= sizeof(from->run))
		return false;
	memcpy(from->run, text, run);
	return value_parse_count(dash != NULL ? dash + 1 : text, 0, INT64_MAX, "from",
	                         &from->number, &ignored) == 0;
}

/* Returns true if it may be the address of a cloud of a template: no blank, no quote, nothing that
 * could end a word or a line. */
static bool is_address(const char *text)
{
	size_t n = strspn(text, "0123456789abcdefghijklmnopqrstuvwxyz"
	                        "ABCDEFGHIJKLMNOPQRSTUVWXYZ.:/-_,>+[]");

	return n > 0 && n < 160 && text[n] == '\0';
}

bool serve_cloud_line(const char *cloud, char *line, size_t room)
{
	const char *slash = strchr(cloud, '/');
	char name[64];
	size_t n = slash != NULL ? (size_t)(slash - cloud) : strlen(cloud);

	if (n >= sizeof(name))
		return false;
	memcpy(name, cloud, n);
	name[n] = '\0';
	if (!word_is_name(name) || (slash != NULL && !is_address(slash + 1)))
		return false;
	if (slash != NULL)
		snprintf(line, room, "show clouds %s %s", name, slash + 1);
	else
		snprintf(line, room, "show cloud %s", name);
	return true;
}

/* Returns true for lines that edit a scenario: no commands of the conversation, and no queries. */
static bool is_change(const char *line)
{
	static const char *const firsts[] = {"cloud", "clouds", "no"};
	size_t n = strcspn(line, " \t");

	for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++)
		if (strlen(firsts[i]) == n && strncmp(line, firsts[i], n) == 0)
			return true;
	return false;
}

static bool has_control(const char *body, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)body[i] < ' ' && body[i] != '\n' && body[i] != '\t' &&
		     body[i] != '\r') ||
		    body[i] == 0x7F)
			return true;
	return false;
}

/* Returns the next line of the body, terminated by a 0, without blanks around it; NULL if there is
 * none. */
static char *next_line(char **at)
{
	char *line = *at, *end;

	if (line == NULL)
		return NULL;
	end = strchr(line, '\n');
	*at = end != NULL ? end + 1 : NULL;
	if (end == NULL)
		end = line + strlen(line);
	line += strspn(line, " \t\r");
	while (end > line && strchr(" \t\r\n", end[-1]) != NULL)
		end--;
	*end = '\0';
	return line;
}

static bool put_lines(json_t *lines, char *body, uint32_t *n_lines, char why[SERVE_WHY_BYTES])
{
	char *line;

	*n_lines = 0;
	while ((line = next_line(&body)) != NULL) {
		if (line[0] == '\0' || line[0] == '#')
			continue;
		++*n_lines;
		if (!word_is_text(line)) {
			snprintf(why, SERVE_WHY_BYTES, "line %" PRIu32 " is not UTF-8 text",
			         *n_lines);
			return false;
		}
		if (!is_change(line)) {
			snprintf(why, SERVE_WHY_BYTES,
			         "`%.*s` is not a change; each line begins with cloud, clouds or "
			         "no",
			         language_error_shown(line), line);
			return false;
		}
		if (*n_lines > SERVE_CHANGE_LINES_MAX) {
			snprintf(why, SERVE_WHY_BYTES,
			         "more than %d lines; load a file with weir ctl",
			         SERVE_CHANGE_LINES_MAX);
			return false;
		}
		json_array_append_new(lines, json_string(line));
	}
	if (*n_lines == 0)
		snprintf(why, SERVE_WHY_BYTES,
		         "no line; write a change like `cloud down delay 80ms`");
	return *n_lines > 0;
}

static bool put_begin(json_t *lines, const char *lease, char why[SERVE_WHY_BYTES])
{
	const struct field field = {.name = "lease",
	                            .type = FIELD_TIME,
	                            .min = 100 * SIMTIME_MS,
	                            .max = 86400 * SIMTIME_S};
	struct language_error wrong;
	simtime lease_ns;
	char line[48];

	if (lease == NULL || lease[0] == '\0') {
		json_array_append_new(lines, json_string("begin"));
		return true;
	}
	if (!word_is_text(lease)) {
		snprintf(why, SERVE_WHY_BYTES, "`lease` is not UTF-8 text");
		return false;
	}
	if (value_parse(&field, lease, &lease_ns, &wrong) != 0) {
		snprintf(why, SERVE_WHY_BYTES, "%.180s", wrong.text);
		return false;
	}
	snprintf(line, sizeof(line), "begin lease %" PRIu64 "ns", lease_ns);
	json_array_append_new(lines, json_string(line));
	return true;
}

json_t *serve_change_conversation(const char *body, size_t n, const char *lease, uint32_t *n_lines,
                                  char why[SERVE_WHY_BYTES])
{
	json_t *lines;
	char *copy;

	*n_lines = 0;
	if (n > SERVE_CHANGE_BYTES_MAX || has_control(body, n)) {
		snprintf(why, SERVE_WHY_BYTES, "not text, or more than %d bytes",
		         SERVE_CHANGE_BYTES_MAX);
		return NULL;
	}
	copy = strndup(body, n);
	lines = json_array();
	snprintf(why, SERVE_WHY_BYTES, "no memory");
	if (copy == NULL || !put_begin(lines, lease, why) ||
	    !put_lines(lines, copy, n_lines, why) ||
	    json_array_append_new(lines, json_string("commit")) != 0 ||
	    json_array_size(lines) != *n_lines + 2) {
		json_decref(lines);
		lines = NULL;
	}
	free(copy);
	return lines;
}
