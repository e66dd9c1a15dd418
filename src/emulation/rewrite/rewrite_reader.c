/* SPDX-License-Identifier: BSD-3-Clause */
#include "rewrite/rewrite_rule.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "rewrite/rewrite_field.h"
#include "scenario/problem.h"

#define OFFSET_MAX 65535

/* ---- tokens: words, and signs of comparison ---- */

static bool is_sign(char c)
{
	return c && strchr("&=<>!", c) != NULL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

void rewrite_next(struct rewrite_reader *reader)
{
	const char *at = reader->at;

	while (is_blank(*at))
		at++;
	reader->token.text = at;
	if (*at == '&')
		at++;
	else if (is_sign(*at))
		at += strspn(at, "=<>!");
	else
		while (*at && !is_blank(*at) && !is_sign(*at))
			at++;
	reader->token.bytes = (size_t)(at - reader->token.text);
	reader->at = at;
}

bool rewrite_token_is(struct rewrite_token token, const char *word)
{
	return token.bytes == strlen(word) && memcmp(token.text, word, token.bytes) == 0;
}

int rewrite_wrong(struct rewrite_reader *reader, struct rewrite_token token, const char *format,
                  ...)
{
	char text[sizeof(reader->problem->text)];
	va_list arguments;

	va_start(arguments, format);
	__builtin_vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	problem_set(reader->problem, 0, "%s", text);
	reader->problem->letter = (uint32_t)(token.text - reader->begin);
	return -EINVAL;
}

/* ---- fields ---- */

static int unknown_field(struct rewrite_reader *reader)
{
	struct rewrite_token token = reader->token;
	const char *nearest = rewrite_field_nearest(token.text, token.bytes);

	if (token.bytes == 0)
		return rewrite_wrong(reader, token,
		                     "the rule ends where a field is expected, like ip.ttl");
	if (rewrite_token_is(token, "match"))
		return rewrite_wrong(
		        reader, token,
		        "`match` comes first, and only once; give another match a rule of its own");
	if (is_sign(*token.text) || rewrite_value_is(token.text, token.bytes))
		return rewrite_wrong(reader, token,
		                     "`%.*s` stands where a field is expected, like ip.ttl",
		                     REWRITE_SHOWN(token));
	if (*token.text == '"')
		return rewrite_wrong(reader, token, "quotes are not allowed in a rule");
	if (nearest)
		return rewrite_wrong(reader, token, "unknown field `%.*s`; did you mean `%s`?",
		                     REWRITE_SHOWN(token), nearest);
	return rewrite_wrong(reader, token,
	                     "unknown field `%.*s`; `help cloud rewrite` lists the fields; for any "
	                     "other bytes write LAYER+OFFSET:WIDTH, like ip+8:1",
	                     REWRITE_SHOWN(token));
}

static int bad_place(struct rewrite_reader *reader)
{
	return rewrite_wrong(reader, reader->token,
	                     "`%.*s` is not a field: LAYER+OFFSET:WIDTH has an offset from 0 to %d "
	                     "and a width of 1, 2, 4 or 8 bytes, like ip+8:1",
	                     REWRITE_SHOWN(reader->token), OFFSET_MAX);
}

static int unknown_layer(struct rewrite_reader *reader, size_t bytes)
{
	if (rewrite_layer_find(reader->token.text, bytes))
		return rewrite_wrong(reader, reader->token,
		                     "`%.*s` lacks the type of the option: write it after the "
		                     "name, like ip.option25+2:1",
		                     REWRITE_SHOWN(reader->token));
	return rewrite_wrong(reader, reader->token,
	                     "unknown layer `%.*s`; use frame, vlan, vlan2, network, ip, ip6, "
	                     "transport, tcp, udp, icmp, payload, ip.optionN or ip6.optionN",
	                     (int)(bytes < 40 ? bytes : 40), reader->token.text);
}

/* Reads LAYER+OFFSET:WIDTH; `plus` points at the plus sign. */
static int read_place(struct rewrite_reader *reader, const char *plus, struct rewrite_place *place)
{
	const char *text = reader->token.text, *end = text + reader->token.bytes;
	size_t name = (size_t)(plus - text), digits = 0, n;
	const struct rewrite_layer_name *layer;
	uint64_t option = 0, offset, width;

	while (digits < name && plus[-1 - (ptrdiff_t)digits] >= '0' &&
	       plus[-1 - (ptrdiff_t)digits] <= '9')
		digits++;
	layer = rewrite_layer_find(text, name); /* the digit of vlan2 and ip6 belongs to the name */
	if (!layer && digits > 0) {
		layer = rewrite_layer_find(text, name - digits);
		if (layer && !layer->option)
			layer = NULL;
	} else if (layer && layer->option) {
		layer = NULL;
	}
	if (!layer)
		return unknown_layer(reader, name);
	if (layer->option && (!rewrite_number_read(plus - digits, digits, &option) || option > 255))
		return rewrite_wrong(reader, reader->token,
		                     "`%.*s`: the type of an option is 0 to 255",
		                     REWRITE_SHOWN(reader->token));
	n = rewrite_number_read(plus + 1, (size_t)(end - plus - 1), &offset);
	if (n == 0 || offset > OFFSET_MAX || plus + 1 + n == end || plus[1 + n] != ':')
		return bad_place(reader);
	plus += n + 2;
	n = rewrite_number_read(plus, (size_t)(end - plus), &width);
	if (n == 0 || plus + n != end || (width != 1 && width != 2 && width != 4 && width != 8))
		return bad_place(reader);
	*place = (struct rewrite_place){.layer = layer->layer,
	                                .option = (uint8_t)option,
	                                .width = (uint8_t)width,
	                                .offset = (int32_t)offset,
	                                .mask = UINT64_MAX >> (64 - 8 * width)};
	return 0;
}

static int read_mask(struct rewrite_reader *reader, struct rewrite_written *written)
{
	struct rewrite_place *place = &written->place[0];
	uint64_t max = rewrite_place_max(place), mask;

	if (!rewrite_token_is(reader->token, "&"))
		return 0;
	if (written->pair)
		return rewrite_wrong(reader, reader->token,
		                     "`%.*s` takes no mask; write a prefix, like 2001:db8::/32, or "
		                     "use its halves",
		                     REWRITE_SHOWN(written->token));
	rewrite_next(reader);
	if (reader->token.bytes == 0 || rewrite_number_read(reader->token.text, reader->token.bytes,
	                                                    &mask) != reader->token.bytes)
		return rewrite_wrong(reader, reader->token,
		                     "a mask must follow `&`: a number, like 0x0f");
	if (mask == 0 || mask > max)
		return rewrite_wrong(
		        reader, reader->token,
		        "the mask `%.*s` does not fit: a mask of `%.*s` is 1 to 0x%" PRIx64,
		        REWRITE_SHOWN(reader->token), REWRITE_SHOWN(written->token), max);
	place->mask &= mask << place->shift;
	written->masked = true;
	rewrite_next(reader);
	return 0;
}

int rewrite_read_field(struct rewrite_reader *reader, struct rewrite_written *written)
{
	const struct rewrite_field *field =
	        rewrite_field_find(reader->token.text, reader->token.bytes);
	const char *plus =
	        reader->token.bytes ? memchr(reader->token.text, '+', reader->token.bytes) : NULL;

	memset(written, 0, sizeof(*written));
	written->token = reader->token;
	if (field) {
		memcpy(written->place, field->place, sizeof(written->place));
		written->pair = field->place[1].width != 0;
	} else if (!plus || rewrite_value_is(reader->token.text, reader->token.bytes)) {
		return unknown_field(reader);
	} else {
		int error = read_place(reader, plus, &written->place[0]);

		if (error)
			return error;
	}
	rewrite_next(reader);
	return read_mask(reader, written);
}

/* ---- values ---- */

static const char *bits_of(enum rewrite_value_kind kind)
{
	static const char *const names[] = {
	        [VALUE_IPV4] = "an IPv4 address, 32 bits",
	        [VALUE_ETHERNET] = "an Ethernet address, 48 bits",
	        [VALUE_IPV6] = "an IPv6 address, 128 bits",
	};

	return names[kind];
}

/* Returns 0 if the value fits the field, or -EINVAL. */
static int check_value(struct rewrite_reader *reader, struct rewrite_token token,
                       const struct rewrite_written *written, const struct rewrite_value *value,
                       bool negative_fits)
{
	uint64_t max = rewrite_place_max(&written->place[0]);
	uint64_t full = max;

	if (written->pair && value->kind != VALUE_IPV6)
		return rewrite_wrong(reader, token, "`%.*s` is an IPv6 address; `%.*s` is not",
		                     REWRITE_SHOWN(written->token), REWRITE_SHOWN(token));
	if (written->pair)
		return 0;
	if ((value->kind == VALUE_IPV4 && full >> 31 != 1) ||
	    (value->kind == VALUE_ETHERNET && full >> 47 != 1) || value->kind == VALUE_IPV6)
		return rewrite_wrong(reader, token,
		                     "`%.*s` is %s; `%.*s` is a number from 0 to %" PRIu64,
		                     REWRITE_SHOWN(token), bits_of(value->kind),
		                     REWRITE_SHOWN(written->token), max);
	if (value->negative && !negative_fits)
		return rewrite_wrong(reader, token,
		                     "`%.*s` is negative; only `add` takes such a number",
		                     REWRITE_SHOWN(token));
	if (value->low > max)
		return rewrite_wrong(reader, token,
		                     "`%.*s` does not fit: `%.*s` is 0 to %" PRIu64 " (0x%" PRIx64
		                     ")",
		                     REWRITE_SHOWN(token), REWRITE_SHOWN(written->token), max, max);
	if (value->low & ~max)
		return rewrite_wrong(reader, token,
		                     "`%.*s` has bits outside of the mask 0x%" PRIx64,
		                     REWRITE_SHOWN(token), max);
	return 0;
}

int rewrite_read_operand(struct rewrite_reader *reader, const struct rewrite_written *written,
                         bool negative_fits, struct rewrite_operand *operand)
{
	memset(operand, 0, sizeof(*operand));
	operand->token = reader->token;
	if (reader->token.bytes == 0)
		return rewrite_wrong(reader, reader->token,
		                     "the rule ends where a value for `%.*s` is expected",
		                     REWRITE_SHOWN(written->token));
	if (is_sign(*reader->token.text))
		return rewrite_wrong(reader, reader->token,
		                     "`%.*s` stands where a value is expected",
		                     REWRITE_SHOWN(reader->token));
	if (rewrite_value_is(reader->token.text, reader->token.bytes)) {
		if (!rewrite_value_read(reader->token.text, reader->token.bytes, &operand->value))
			return rewrite_wrong(
			        reader, reader->token,
			        "`%.*s` is not a value: write a number (46, 0x2e) or an address",
			        REWRITE_SHOWN(reader->token));
		rewrite_next(reader);
		return check_value(reader, operand->token, written, &operand->value, negative_fits);
	}
	operand->is_field = true;
	if (rewrite_read_field(reader, &operand->field))
		return -EINVAL;
	if (operand->field.pair != written->pair)
		return rewrite_wrong(
		        reader, operand->token,
		        "`%.*s` and `%.*s` differ in size; an IPv6 address needs another one",
		        REWRITE_SHOWN(written->token), REWRITE_SHOWN(operand->token));
	return 0;
}
