/* SPDX-License-Identifier: BSD-3-Clause */
#include "match/match.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "packet/headers.h"

#define WORD_MAX 64

struct words {
	const char *at;
	char word[WORD_MAX]; /* the current one; "": the end */
	bool too_long;
};

/* A packet must fit one row of each group. */
struct group {
	uint32_t n;
	struct match_row rows[2];
};

static void next(struct words *words)
{
	size_t length;

	words->at += strspn(words->at, " \t");
	length = strcspn(words->at, " \t");
	words->too_long |= length >= WORD_MAX;
	if (length >= WORD_MAX)
		length = 0;
	memcpy(words->word, words->at, length);
	words->word[length] = 0;
	words->at += length;
}

static bool is(const struct words *words, const char *word)
{
	return strcmp(words->word, word) == 0;
}

/* Advances and returns true if the current word is `word`. */
static bool take(struct words *words, const char *word)
{
	if (!is(words, word))
		return false;
	next(words);
	return true;
}

static bool take_number(struct words *words, unsigned long most, unsigned long *number)
{
	char *end;

	if (!isdigit((unsigned char)words->word[0]))
		return false;
	*number = strtoul(words->word, &end, 10);
	if (*end || *number > most)
		return false;
	next(words);
	return true;
}

/* ---- single conditions ---- */

static void row_ethertype(struct match_row *row, uint16_t ethertype)
{
	row->value.ethertype = ethertype;
	row->mask.ethertype = UINT16_MAX;
}

static void row_protocol(struct match_row *row, uint8_t protocol)
{
	row->value.protocol = protocol;
	row->mask.protocol = UINT8_MAX;
	row->value.is_ip = row->mask.is_ip = 1;
}

static void row_port(struct match_row *row, bool source, uint16_t port)
{
	if (source) {
		row->value.source_port = port;
		row->mask.source_port = UINT16_MAX;
	} else {
		row->value.destination_port = port;
		row->mask.destination_port = UINT16_MAX;
	}
	row->value.has_ports = row->mask.has_ports = 1;
	row->value.is_ip = row->mask.is_ip = 1;
}

static void mask_bits(uint8_t *mask, uint32_t bits)
{
	for (; bits >= 8; bits -= 8)
		*mask++ = UINT8_MAX;
	if (bits)
		*mask = (uint8_t)(0xff00 >> bits);
}

bool match_prefix(const char *text, bool source, struct match_row *row)
{
	uint8_t *value, *mask;
	char address[WORD_MAX];
	const char *slash = strchr(text, '/');
	size_t length = slash ? (size_t)(slash - text) : strlen(text);
	unsigned long bits, most;

	memset(row, 0, sizeof(*row));
	value = source ? row->value.source : row->value.destination;
	mask = source ? row->mask.source : row->mask.destination;
	if (length >= sizeof(address))
		return false;
	memcpy(address, text, length);
	address[length] = 0;
	if (inet_pton(AF_INET, address, value) == 1)
		row->value.family = 4;
	else if (inet_pton(AF_INET6, address, value) == 1)
		row->value.family = 6;
	else
		return false;
	row->mask.family = UINT8_MAX;
	most = row->value.family == 4 ? 32 : 128;
	bits = most;
	if (slash) {
		char *end;

		if (!isdigit((unsigned char)slash[1]))
			return false;
		bits = strtoul(slash + 1, &end, 10);
		if (*end || bits > most)
			return false;
	}
	mask_bits(mask, (uint32_t)bits);
	for (int i = 0; i < 16; i++) {
		if (value[i] & ~mask[i])
			return false; /* bits beyond the length */
	}
	return true;
}

uint32_t match_prefix_size(const struct match_row *row, bool source)
{
	const uint8_t *mask = source ? row->mask.source : row->mask.destination;
	uint32_t bits = row->value.family == 4 ? 32 : 128;

	for (int i = 0; i < 16; i++)
		bits -= (uint32_t)__builtin_popcount(mask[i]);
	return bits >= 32 ? UINT32_MAX : 1u << bits;
}

bool match_row_fits(const struct match_row *row, const struct packet_key *key)
{
	uint64_t differ = 0;

	for (int i = 0; i < KEY_WORDS; i++)
		differ |= (key->word[i] & row->mask.word[i]) ^ row->value.word[i];
	return differ == 0;
}

bool match_row_both(const struct match_row *a, const struct match_row *b, struct match_row *both)
{
	uint64_t differ = 0;

	for (int i = 0; i < KEY_WORDS; i++) {
		differ |= (a->value.word[i] ^ b->value.word[i]) & a->mask.word[i] & b->mask.word[i];
		both->value.word[i] = a->value.word[i] | b->value.word[i];
		both->mask.word[i] = a->mask.word[i] | b->mask.word[i];
	}
	return differ == 0;
}

/* ---- the grammar ---- */

enum side { SIDE_EITHER, SIDE_SOURCE, SIDE_DESTINATION };

static enum side take_side(struct words *words)
{
	if (take(words, "src"))
		return SIDE_SOURCE;
	return take(words, "dst") ? SIDE_DESTINATION : SIDE_EITHER;
}

/* Parses [host|net] ADDRESS[/LENGTH]. `ethertype` is that of a preceding ip or ip6, or 0. */
static bool parse_address(struct words *words, enum side side, uint16_t ethertype,
                          struct group *group)
{
	bool host = take(words, "host"), net = !host && take(words, "net");

	/* A bare address is allowed only behind src or dst. `net 10`, tcpdump's abbreviation, is
	 * not parsed here. */
	if (!host && !net && side == SIDE_EITHER)
		return false;
	if (!net && strchr(words->word, '/'))
		return false;
	group->n = 0;
	for (int source = 1; source >= 0; source--) {
		struct match_row *row = &group->rows[group->n];

		if (side == (source ? SIDE_DESTINATION : SIDE_SOURCE))
			continue;
		if (!match_prefix(words->word, source, row))
			return false;
		if (ethertype)
			row_ethertype(row, ethertype);
		group->n++;
	}
	next(words);
	return true;
}

static bool parse_port(struct words *words, enum side side, uint8_t protocol, struct group *group)
{
	unsigned long port;

	if (!take_number(words, UINT16_MAX, &port))
		return false;
	group->n = 0;
	for (int source = 1; source >= 0; source--) {
		struct match_row *row = &group->rows[group->n];

		if (side == (source ? SIDE_DESTINATION : SIDE_SOURCE))
			continue;
		row_port(row, source, (uint16_t)port);
		if (protocol)
			row_protocol(row, protocol);
		group->n++;
	}
	return true;
}

static uint8_t take_transport(struct words *words)
{
	return take(words, "tcp") ? 6 : take(words, "udp") ? 17 : take(words, "sctp") ? 132 : 0;
}

/* An extension header of IPv6 is not exact: the protocol of a key is that behind all of them. */
static bool parse_protocol(struct words *words, uint16_t ethertype, struct group *group)
{
	struct match_row *row = group->rows;
	unsigned long number;

	if (!take_number(words, UINT8_MAX, &number) ||
	    (ethertype != 0x0800 && headers_is_extension((uint8_t)number)))
		return false;
	row_protocol(row, (uint8_t)number);
	if (ethertype)
		row_ethertype(row, ethertype);
	return true;
}

/* `tags`: the number of `vlan` so far. */
static bool parse_layer2(struct words *words, uint32_t *tags, struct group *group)
{
	struct match_row *row = group->rows;
	unsigned long number;

	if (take(words, "vlan")) {
		if (*tags == 2)
			return false;
		row->value.tag[*tags] = row->mask.tag[*tags] = KEY_TAG_THERE;
		if (isdigit((unsigned char)words->word[0])) {
			if (!take_number(words, 0xfff, &number))
				return false;
			row->value.tag[*tags] |= (uint16_t)number;
			row->mask.tag[*tags] |= 0xfff;
		}
		(*tags)++;
		return true;
	}
	if (take(words, "mpls")) {
		row->value.label = row->mask.label = KEY_LABEL_THERE;
		/* Both types of MPLS. Nothing behind a label is in the key, so a condition about IP
		 * contradicts this one. */
		row->value.ethertype = 0x8840;
		row->mask.ethertype = 0xfff0;
		row->mask.family = row->mask.dscp = UINT8_MAX;
		row->mask.is_ip = 1;
		if (isdigit((unsigned char)words->word[0])) {
			if (!take_number(words, 0xfffff, &number))
				return false;
			row->value.label |= (uint32_t)number;
			row->mask.label |= 0xfffff;
		}
		return true;
	}
	if (take(words, "dscp")) {
		if (!take_number(words, 63, &number))
			return false;
		row->value.dscp = (uint8_t)(KEY_DSCP_THERE | number);
		row->mask.dscp = UINT8_MAX;
		return true;
	}
	return false;
}

/* Parses one condition, which makes one or two rows. */
static bool parse_condition(struct words *words, uint32_t *tags, struct group *group)
{
	struct match_row *row = group->rows;
	uint16_t ethertype;
	uint8_t protocol;
	enum side side;

	memset(group, 0, sizeof(*group));
	group->n = 1;
	if (is(words, "vlan") || is(words, "mpls") || is(words, "dscp"))
		return parse_layer2(words, tags, group);
	if (take(words, "arp")) {
		row_ethertype(row, 0x0806);
		return true;
	}
	if (take(words, "icmp")) {
		row_ethertype(row, 0x0800);
		row_protocol(row, 1);
		return true;
	}
	if (take(words, "icmp6")) {
		row_ethertype(row, 0x86dd);
		row_protocol(row, 58);
		return true;
	}
	ethertype = take(words, "ip") ? 0x0800 : take(words, "ip6") ? 0x86dd : 0;
	if (take(words, "proto"))
		return parse_protocol(words, ethertype, group);
	if (ethertype && (is(words, "") || is(words, "and") || is(words, "&&"))) {
		row_ethertype(row, ethertype);
		return true;
	}
	protocol = ethertype ? 0 : take_transport(words);
	if (protocol && (is(words, "") || is(words, "and") || is(words, "&&"))) {
		row_protocol(row, protocol);
		return true;
	}
	side = take_side(words);
	if (!ethertype && take(words, "port"))
		return parse_port(words, side, protocol, group);
	return !protocol && parse_address(words, side, ethertype, group);
}

/* Joins each row so far with each row of the group. Returns false if there are too many. */
static bool add_group(struct match *match, const struct group *group)
{
	struct match before = *match;

	match->n = 0;
	for (uint32_t i = 0; i < before.n; i++) {
		for (uint32_t k = 0; k < group->n; k++) {
			if (match->n == MATCH_ROWS_MAX)
				return false;
			if (match_row_both(&before.rows[i], &group->rows[k],
			                   &match->rows[match->n]))
				match->n++;
		}
	}
	return true;
}

bool match_parse(const char *text, struct match *match)
{
	struct words words = {.at = text};
	bool behind_label = false;
	uint32_t tags = 0;

	memset(match, 0, sizeof(*match));
	match->n = 1;
	next(&words);
	do {
		struct group group;

		/* Behind `mpls`, a condition is about what the label stack carries, and a key does
		 * not have that. */
		if (behind_label)
			return false;
		behind_label = is(&words, "mpls");
		if (!parse_condition(&words, &tags, &group) || !add_group(match, &group))
			return false;
	} while (take(&words, "and") || take(&words, "&&"));
	return is(&words, "") && !words.too_long;
}

int match_own_word(const char *text)
{
	struct words words = {.at = text};

	for (next(&words); words.word[0]; next(&words)) {
		if (is(&words, "dscp"))
			return (int)(words.at - text) - 4;
	}
	return -1;
}
