/* SPDX-License-Identifier: BSD-3-Clause */
#include "rewrite/rewrite_rule.h"

#include <string.h>

/* The unread rest of a text. */
struct text {
	const char *at;
	size_t bytes;
};

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

/* Reads digits of a base. Returns their number, or 0 if there is none, if there are more than
 * `most`, or if the number does not fit. */
static size_t read_digits(struct text *text, int base, size_t most, uint64_t *number)
{
	size_t n = 0;

	*number = 0;
	for (; n < text->bytes && digit_of(text->at[n]) < base; n++) {
		uint64_t digit = (uint64_t)digit_of(text->at[n]);

		if (n == most || *number > (UINT64_MAX - digit) / (uint64_t)base)
			return 0;
		*number = *number * (uint64_t)base + digit;
	}
	text->at += n;
	text->bytes -= n;
	return n;
}

static bool take(struct text *text, char c)
{
	if (text->bytes == 0 || *text->at != c)
		return false;
	text->at++;
	text->bytes--;
	return true;
}

size_t rewrite_number_read(const char *text, size_t bytes, uint64_t *number)
{
	struct text rest = {text, bytes};
	bool hex = bytes > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');

	if (hex)
		rest = (struct text){text + 2, bytes - 2};
	return read_digits(&rest, hex ? 16 : 10, SIZE_MAX, number) ? bytes - rest.bytes : 0;
}

static bool read_number(const char *text, size_t bytes, struct rewrite_value *value)
{
	value->kind = VALUE_NUMBER;
	value->negative = bytes > 0 && *text == '-';
	if (value->negative) {
		text++;
		bytes--;
	}
	return bytes > 0 && rewrite_number_read(text, bytes, &value->low) == bytes;
}

/* Reads the end of an address: nothing, or a length. */
static bool read_prefix(struct text *text, uint8_t most, struct rewrite_value *value)
{
	uint64_t bits = most;

	if (text->bytes > 0) {
		if (!take(text, '/') || !read_digits(text, 10, 3, &bits) || bits > most)
			return false;
		value->has_prefix = true;
	}
	value->prefix = (uint8_t)bits;
	return text->bytes == 0;
}

/* Reads four numbers from 0 to 255. */
static bool read_dotted(struct text *text, uint64_t *address)
{
	uint64_t part;

	*address = 0;
	for (int i = 0; i < 4; i++) {
		if ((i > 0 && !take(text, '.')) || !read_digits(text, 10, 3, &part) || part > 255)
			return false;
		*address = *address << 8 | part;
	}
	return true;
}

static bool read_ipv4(struct text text, struct rewrite_value *value)
{
	value->kind = VALUE_IPV4;
	return read_dotted(&text, &value->low) && read_prefix(&text, 32, value);
}

static bool read_ethernet(struct text text, struct rewrite_value *value)
{
	uint64_t part;

	value->kind = VALUE_ETHERNET;
	for (int i = 0; i < 6; i++) {
		if ((i > 0 && !take(&text, ':')) || !read_digits(&text, 16, 2, &part))
			return false;
		value->low = value->low << 8 | part;
	}
	return text.bytes == 0;
}

/* Returns true if the rest is an IPv4 address rather than groups. */
static bool is_dotted(const struct text *text)
{
	return memchr(text->at, '.', text->bytes) && !memchr(text->at, ':', text->bytes);
}

/* RFC 4291, section 2.2: groups of 16 bits; `::` stands for zeros, once. The last two groups may be
 * written as an IPv4 address. */
static bool read_ipv6(struct text text, struct rewrite_value *value)
{
	uint64_t groups[8] = {0}, part;
	int n = 0, gap = -1;

	value->kind = VALUE_IPV6;
	while (text.bytes > 0 && *text.at != '/') {
		if (text.bytes > 1 && text.at[0] == ':' && text.at[1] == ':') {
			if (gap >= 0)
				return false;
			gap = n;
			take(&text, ':');
			take(&text, ':');
			continue;
		}
		/* a colon between two groups; no further one behind `::` */
		if (n > 0 && gap != n && !take(&text, ':'))
			return false;
		if (is_dotted(&text)) {
			if (n > 6 || !read_dotted(&text, &part))
				return false;
			groups[n++] = part >> 16;
			groups[n++] = part & 0xffff;
			break;
		}
		if (n == 8 || !read_digits(&text, 16, 4, &part))
			return false;
		groups[n++] = part;
	}
	if (gap < 0 ? n != 8 : n > 7)
		return false;
	if (gap >= 0) {
		memmove(&groups[gap + 8 - n], &groups[gap], (size_t)(n - gap) * sizeof(part));
		memset(&groups[gap], 0, (size_t)(8 - n) * sizeof(part));
	}
	for (int i = 0; i < 4; i++) {
		value->high = value->high << 16 | groups[i];
		value->low = value->low << 16 | groups[i + 4];
	}
	return read_prefix(&text, 128, value);
}

bool rewrite_value_is(const char *text, size_t bytes)
{
	size_t i = 0;

	if (bytes == 0)
		return false;
	if ((*text >= '0' && *text <= '9') || *text == '-' || *text == ':')
		return true;
	while (i < bytes && digit_of(text[i]) < 16)
		i++;
	return i < bytes && i > 0 && text[i] == ':';
}

bool rewrite_value_read(const char *text, size_t bytes, struct rewrite_value *value)
{
	const struct text whole = {text, bytes};

	*value = (struct rewrite_value){.low = 0};
	if (read_number(text, bytes, value))
		return true;
	*value = (struct rewrite_value){.low = 0};
	if (memchr(text, ':', bytes) == NULL)
		return read_ipv4(whole, value);
	if (read_ethernet(whole, value))
		return true;
	*value = (struct rewrite_value){.low = 0};
	return read_ipv6(whole, value);
}
