/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/filter.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define ADDRESS_BYTES 64 /* more than the longest address */

/* Words that may be followed by a name from a local file. */
static const char *const local[] = {"port", "portrange", "proto", "protochain", "type", "subtype"};

/* The words of pcap-filter(7), 1.10, without those for links other than Ethernet. */
static const char *const known[] = {
        "dst",
        "src",
        "link",
        "ether",
        "arp",
        "rarp",
        "ip",
        "ip6",
        "icmp6",
        "ah",
        "esp",
        "tcp",
        "udp",
        "sctp",
        "icmp",
        "igmp",
        "igrp",
        "pim",
        "vrrp",
        "carp",
        "atalk",
        "aarp",
        "decnet",
        "lat",
        "sca",
        "moprc",
        "mopdl",
        "iso",
        "esis",
        "es-is",
        "isis",
        "is-is",
        "clnp",
        "stp",
        "ipx",
        "netbeui",
        "host",
        "net",
        "mask",
        "less",
        "greater",
        "byte",
        "broadcast",
        "multicast",
        "and",
        "or",
        "not",
        "len",
        "length",
        "vlan",
        "mpls",
        "pppoed",
        "pppoes",
        "geneve",
        "llc",
        "icmptype",
        "icmpcode",
        "icmp-echoreply",
        "icmp-unreach",
        "icmp-sourcequench",
        "icmp-redirect",
        "icmp-echo",
        "icmp-routeradvert",
        "icmp-routersolicit",
        "icmp-timxceed",
        "icmp-paramprob",
        "icmp-tstamp",
        "icmp-tstampreply",
        "icmp-ireq",
        "icmp-ireqreply",
        "icmp-maskreq",
        "icmp-maskreply",
        "icmp6type",
        "icmp6code",
        "icmp6-destinationrunreach",
        "icmp6-packettoobig",
        "icmp6-timeexceeded",
        "icmp6-parameterproblem",
        "icmp6-echo",
        "icmp6-echoreply",
        "icmp6-multicastlistenerquery",
        "icmp6-multicastlistenerreportv1",
        "icmp6-multicastlistenerdone",
        "icmp6-routersolicit",
        "icmp6-routeradvert",
        "icmp6-neighborsolicit",
        "icmp6-neighboradvert",
        "icmp6-redirect",
        "icmp6-routerrenum",
        "icmp6-nodeinformationquery",
        "icmp6-nodeinformationresponse",
        "icmp6-multicastlistenerreportv2",
        "tcpflags",
        "tcp-fin",
        "tcp-syn",
        "tcp-rst",
        "tcp-push",
        "tcp-ack",
        "tcp-urg",
        "tcp-ece",
        "tcp-cwr",
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static bool among(const char *const *list, size_t n, const char *word, size_t bytes)
{
	for (size_t i = 0; i < n; i++) {
		if (strlen(list[i]) == bytes && memcmp(list[i], word, bytes) == 0)
			return true;
	}
	return false;
}

static bool is_id(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

/* Returns the number of bytes that one word may take up, as a name or an address. */
static size_t run(const char *words, bool colons)
{
	size_t n = 0;

	while (words[n] && (is_id(words[n]) || (colons && words[n] == ':')))
		n++;
	return n;
}

/* Returns the number of bytes that a number takes up: `12`, `0x1f`. */
static size_t number(const char *word, size_t bytes)
{
	bool hex = bytes > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
	size_t n = hex ? 2 : 0;

	while (n < bytes &&
	       (hex ? isxdigit((unsigned char)word[n]) : isdigit((unsigned char)word[n])))
		n++;
	return n;
}

/* Returns true for a number, or for two to four with points between them. */
static bool is_number(const char *word, size_t bytes)
{
	for (int parts = 1; parts <= 4; parts++) {
		size_t n = number(word, bytes);

		if (n == 0)
			return false;
		if (n == bytes)
			return true;
		if (word[n] != '.')
			return false;
		word += n + 1;
		bytes -= n + 1;
	}
	return false;
}

/* Returns true for 12 digits, six groups of up to two, or three groups of four. */
static bool is_mac(const char *word, size_t bytes)
{
	size_t groups = 1, digits = 0, most = 0;
	char sign = 0;

	for (size_t i = 0; i < bytes; i++) {
		if (isxdigit((unsigned char)word[i])) {
			digits++;
			most = digits > most ? digits : most;
			continue;
		}
		if (digits == 0 || (sign && sign != word[i]) || !strchr(":-.", word[i]))
			return false;
		sign = word[i];
		groups++;
		digits = 0;
	}
	if (digits == 0)
		return false;
	if (groups == 1)
		return bytes == 12;
	return (groups == 6 && most <= 2) || (groups == 3 && sign == '.' && bytes == 14);
}

static bool is_address(const char *word, size_t bytes)
{
	char text[ADDRESS_BYTES];
	uint8_t address[16];

	if (is_mac(word, bytes))
		return true;
	if (bytes >= sizeof(text))
		return false;
	memcpy(text, word, bytes);
	text[bytes] = 0;
	return inet_pton(AF_INET6, text, address) == 1;
}

static size_t colons_in(const char *word, size_t bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < bytes; i++)
		n += word[i] == ':';
	return n;
}

/* The kind of a word or sign at the beginning of `words`, and its length. */
enum sort { SORT_SIGN, SORT_NUMBER, SORT_KNOWN, SORT_LOCAL, SORT_JOIN, SORT_NAME };

static enum sort sort_of(const char *words, size_t *bytes)
{
	size_t all = run(words, true), n;

	*bytes = all;
	if (colons_in(words, all) >= 2)
		return is_address(words, all) ? SORT_NUMBER : SORT_NAME;
	*bytes = 1;
	if (words[0] == '\\') {
		*bytes += strcspn(words + 1, " !()\n\t");
		return *bytes > 1 ? SORT_NAME : SORT_SIGN;
	}
	if (!isalnum((unsigned char)words[0]))
		return SORT_SIGN;
	n = run(words, false);
	while (words[n - 1] == '-' || words[n - 1] == '_')
		n--;
	*bytes = n;
	if (is_number(words, n) || is_mac(words, n))
		return SORT_NUMBER;
	if (among((const char *const[]){"or", "and"}, 2, words, n))
		return SORT_JOIN;
	if (among(local, LENGTH(local), words, n))
		return SORT_LOCAL;
	return among(known, LENGTH(known), words, n) ? SORT_KNOWN : SORT_NAME;
}

/* A part of an expression inherits the subject of the part before it, so a name may follow `or`
 * behind another name. Brackets and `not` reset this, except for a bracket right behind `port`. */
bool filter_words_numeric(const char *words, size_t *at, size_t *bytes)
{
	bool names = false, fresh = false;

	for (*at = 0; words[*at]; *at += *bytes) {
		switch (sort_of(words + *at, bytes)) {
		case SORT_LOCAL:
			names = fresh = true;
			continue;
		case SORT_SIGN:
			if (isspace((unsigned char)words[*at]))
				continue;
			names &= strchr("|&,", words[*at]) || (words[*at] == '(' && fresh);
			break;
		case SORT_KNOWN:
			names = false;
			break;
		case SORT_NAME:
			if (!names)
				return false;
			break;
		case SORT_NUMBER:
		case SORT_JOIN:
			break;
		}
		fresh = false;
	}
	return true;
}
