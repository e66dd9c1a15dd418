/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "quench.h"

#define FRESH_MS_MAX 3600000

static int wrong(char error[OPTIONS_ERROR_BYTES], const char *format, ...)
        __attribute__((format(printf, 2, 3)));

static int wrong(char error[OPTIONS_ERROR_BYTES], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error, OPTIONS_ERROR_BYTES, format, arguments);
	va_end(arguments);
	return -1;
}

static int parse_response(struct options *options, const char *word,
                          char error[OPTIONS_ERROR_BYTES])
{
	char words[OPTIONS_ERROR_BYTES / 2] = "";

	for (uint32_t i = 0; i < responses_n; i++) {
		size_t n = strlen(words);

		if (strcmp(word, responses[i].word) == 0) {
			options->response = &responses[i];
			return 0;
		}
		snprintf(words + n, sizeof(words) - n, "%s`%s`", n > 0 ? ", " : "",
		         responses[i].word);
	}
	return wrong(error, "there is no response `%.40s`; there are %s", word, words);
}

static int parse_bit(struct options *options, const char *text, char error[OPTIONS_ERROR_BYTES])
{
	char *end;
	unsigned long bit = strtoul(text, &end, 0);

	if (end == text || *end != '\0' || bit == 0 || bit > 0x80 || (bit & (bit - 1)) != 0)
		return wrong(error,
		             "--bit %.40s: it must be one bit of an octet: 0x80, 0x40 ... 0x01",
		             text);
	options->bit = (uint32_t)bit;
	return 0;
}

static int parse_fresh(struct options *options, const char *text, char error[OPTIONS_ERROR_BYTES])
{
	char *end;
	unsigned long ms = strtoul(text, &end, 10);

	if (end == text || strcmp(end, "ms") != 0 || ms == 0 || ms > FRESH_MS_MAX)
		return wrong(error, "--fresh %.40s: it must be from 1ms to %dms", text,
		             FRESH_MS_MAX);
	options->fresh_ms = (uint32_t)ms;
	return 0;
}

/* Checks that the options fit the response. */
static int options_check(const struct options *options, char error[OPTIONS_ERROR_BYTES])
{
	const struct response *response = options->response;

	if (!response->quenched && options->interface != NULL)
		return wrong(error, "`%s` reads no quenches: it takes no -i", response->word);
	if (!response->quenched && options->bit != QUENCH_BIT)
		return wrong(error, "`%s` reads no quenches: it takes no --bit", response->word);
	if (!response->informed && (options->socket != NULL || options->cloud != NULL))
		return wrong(error, "`%s` queries no weir: it takes no -s and no --path",
		             response->word);
	if (!response->informed && options->fresh_ms != OPTIONS_FRESH_MS)
		return wrong(error, "`%s` queries no weir: it takes no --fresh", response->word);
	if (options->check)
		return 0;
	if (response->quenched && options->interface == NULL)
		return wrong(error, "`%s` needs -i INTERFACE: the one at which quenches come in",
		             response->word);
	if (response->informed && options->cloud == NULL)
		return wrong(error,
		             "`%s` needs --path CLOUD: the one with the `feedback proxy strip` "
		             "near this host",
		             response->word);
	if (response->informed && options->socket == NULL)
		return wrong(error, "`%s` needs -s SOCKET: the one of `weir run -s`",
		             response->word);
	return 0;
}

int options_parse(struct options *options, int argc, char **argv, char error[OPTIONS_ERROR_BYTES])
{
	*options = (struct options){.bit = QUENCH_BIT, .fresh_ms = OPTIONS_FRESH_MS};
	if (argc < 2)
		return wrong(error, "a response is missing; `weir-host help` lists them");
	if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0)
		return 0;
	if (parse_response(options, argv[1], error) != 0)
		return -1;
	for (int i = 2; i < argc; i++) {
		const char *word = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
		int result = 0;

		if (strcmp(word, "-j") == 0) {
			options->json = true;
			continue;
		}
		if (strcmp(word, "-v") == 0) {
			options->verbose = true;
			continue;
		}
		if (strcmp(word, "--check") == 0) {
			options->check = true;
			continue;
		}
		if (strcmp(word, "-i") != 0 && strcmp(word, "-s") != 0 &&
		    strcmp(word, "--path") != 0 && strcmp(word, "--bit") != 0 &&
		    strcmp(word, "--fresh") != 0)
			return wrong(error,
			             "no such option %.40s; there are -i, --bit, -s, --path, "
			             "--fresh, --check, -v and -j",
			             word);
		if (value == NULL)
			return wrong(error, "%s needs a value", word);
		i++;
		if (strcmp(word, "-i") == 0)
			options->interface = value;
		else if (strcmp(word, "-s") == 0)
			options->socket = value;
		else if (strcmp(word, "--path") == 0)
			options->cloud = value;
		else if (strcmp(word, "--bit") == 0)
			result = parse_bit(options, value, error);
		else
			result = parse_fresh(options, value, error);
		if (result != 0)
			return -1;
	}
	return options_check(options, error);
}
