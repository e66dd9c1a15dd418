/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/foreign_word.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/scenario.h"
#include "simtime.h"
#include "text/statement_text.h"
#include "text/value.h"

enum prefixes { NO_PREFIX, DECIMAL, BINARY, EITHER };

/* An `other` of 0: there is no second reading. */
struct spelling {
	const char *names; /* as they are written behind the prefix, with `|` between */
	enum prefixes prefixes;
	bool taken;
	uint64_t factor, other;
	const char *note;
};

#define TC "; tc counts bytes with it"

/* With the prefix k, M or G, or without one; BINARY and "" need a prefix. */
static const struct spelling rates[] = {
        {"bit/s|bit", DECIMAL, true, 1, 0, NULL},
        {"bits|bits/s|bit/sec|b|b/s|", DECIMAL, false, 1, 0, NULL},
        {"bps|BPS", DECIMAL, false, 1, 8, TC},
        {"Bps|B|B/s", DECIMAL, false, 8, 0, NULL},
        {"iB/s", BINARY, false, 8, 0, NULL},
        {"ibit", BINARY, false, 1, 0, NULL},
        {NULL, 0, false, 0, 0, NULL},
};

static const struct spelling sizes[] = {
        {"byte|bytes|b|B|", EITHER, false, 1, 0, NULL},
        {"iB|ib", BINARY, false, 1, 0, NULL},
        {NULL, 0, false, 0, 0, NULL},
};

#define MICRO_SIGN "\xc2\xb5"
#define GREEK_MU   "\xce\xbc"

static const struct spelling times[] = {
        {"nsec|nsecs", NO_PREFIX, false, 1, 0, NULL},
        {"usec|usecs|" MICRO_SIGN "s|" GREEK_MU "s", NO_PREFIX, false, SIMTIME_US, 0, NULL},
        {"msec|msecs|millis", NO_PREFIX, false, SIMTIME_MS, 0, NULL},
        {"sec|secs|seconds", NO_PREFIX, false, SIMTIME_S, 0, NULL},
        {"min", NO_PREFIX, true, 60 * SIMTIME_S, 0, NULL},
        {"mins|minutes", NO_PREFIX, false, 60 * SIMTIME_S, 0, NULL},
        {"h", NO_PREFIX, true, 3600 * SIMTIME_S, 0, NULL},
        {"hours", NO_PREFIX, false, 3600 * SIMTIME_S, 0, NULL},
        {NULL, 0, false, 0, 0, NULL},
};

static const struct spelling packets[] = {
        {"p|pkts|packet|packets|frames", NO_PREFIX, false, 1, 0, NULL},
        {NULL, 0, false, 0, 0, NULL},
};

static const struct {
	const struct unit *units;
	const struct spelling *spellings;
} kinds[] = {
        {units_rate, rates}, {units_bytes, sizes}, {units_time, times}, {units_packets, packets}};

/* Returns true if `name` is one of the words of a row. */
static bool is_one_of(const char *words, const char *name)
{
	for (;; words++) {
		size_t bytes = strcspn(words, "|");

		if (strlen(name) == bytes && memcmp(words, name, bytes) == 0)
			return true;
		words += bytes;
		if (*words == '\0')
			return false;
	}
}

/* Gets the decimal and the binary factor of k, M or G; 1 and 1 for any other prefix. */
static void prefix_factors(char prefix, uint64_t *decimal, uint64_t *binary)
{
	static const char letters[] = "kmg";
	const char *at = prefix ? strchr(letters, tolower((unsigned char)prefix)) : NULL;

	*decimal = *binary = 1;
	for (ptrdiff_t i = 0; at != NULL && i <= at - letters; i++) {
		*decimal *= 1000;
		*binary *= 1024;
	}
}

/* Reads a unit of this spelling behind the prefix; a `prefix` of 0: there is none. Returns false if
 * they do not go together. */
static bool read_as(const struct spelling *spelling, char prefix, struct foreign_unit *unit)
{
	uint64_t decimal, binary;

	prefix_factors(prefix, &decimal, &binary);
	if ((decimal == 1) != (prefix == 0) || (prefix && spelling->prefixes == NO_PREFIX) ||
	    (!prefix && spelling->prefixes == BINARY))
		return false;
	unit->taken = spelling->taken;
	unit->note = spelling->note ? spelling->note : "";
	unit->n = 0;
	unit->factor[unit->n++] =
	        spelling->factor * (spelling->prefixes == BINARY ? binary : decimal);
	if (prefix && spelling->prefixes == EITHER)
		unit->factor[unit->n++] = spelling->factor * binary;
	else if (spelling->other)
		unit->factor[unit->n++] = spelling->other * decimal;
	return true;
}

bool foreign_unit_find(const struct unit *units, const char *name, struct foreign_unit *unit)
{
	const struct spelling *spelling = NULL;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].units == units)
			spelling = kinds[i].spellings;
	}
	unit->units = units;
	for (; *name && spelling && spelling->names; spelling++) {
		if ((is_one_of(spelling->names, name) && read_as(spelling, 0, unit)) ||
		    (is_one_of(spelling->names, name + 1) && read_as(spelling, *name, unit)))
			return true;
	}
	return false;
}

uint32_t foreign_unit_readings(const struct foreign_unit *unit, const struct decimal *decimal,
                               char text[FOREIGN_READINGS_MAX][QUANTITY_TEXT_BYTES])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < unit->n; i++) {
		const struct unit reading = {.name = "", .factor = unit->factor[i]};
		uint64_t value;

		if (quantity_value(decimal, &reading, &value) == QUANTITY_OK)
			quantity_print(value, unit->units, text[n++]);
	}
	return n;
}

#define ROUND_TRIP  "; a round trip is the delay of two clouds, one each way"
#define OF_RATE     "; a queue belongs to its `rate`"
#define MANAGEMENT  "; it manages the queue of a `rate`"
#define IN_TEMPLATE "cloud NAME from PLACE to PORT "

const struct foreign_word foreign_words[] = {
        /* delay */
        {FOREIGN_STATEMENT, "latency|lag|owd", "delay", "40ms", NULL},
        {FOREIGN_STATEMENT, "rtt", "delay", "20ms", ROUND_TRIP},
        {FOREIGN_STATEMENT, "jitter|variation|delay-variation|stddev", "delay 40ms jitter", "5ms",
         NULL},
        {FOREIGN_STATEMENT, "distribution", "delay 40ms jitter 5ms distribution", "normal", NULL},
        /* rate and queue */
        {FOREIGN_STATEMENT,
         "bandwidth|bw|target-bw|default-bw|throughput|speed|capacity|ratelimit|rate-limit|shape|"
         "shaper",
         "rate", "10mbit", NULL},
        {FOREIGN_STATEMENT, "tbf", "rate 10mbit algorithm token-bucket queue 60kB burst", "15kB",
         NULL},
        {FOREIGN_STATEMENT, "htb|bottleneck", "rate", "10mbit", NULL},
        {FOREIGN_STATEMENT, "queue|buffer|bfifo", "rate 10mbit queue", "60kB", OF_RATE},
        {FOREIGN_STATEMENT, "pfifo|fifo|droptail|queue-limit", "rate 10mbit queue", "100pkt",
         OF_RATE},
        {FOREIGN_STATEMENT, "queue-size", "rate 10mbit queue", "60kB", OF_RATE},
        {FOREIGN_STATEMENT, "limit", "rate 10mbit queue", "100pkt", OF_RATE},
        {FOREIGN_STATEMENT, "burst", "rate 10mbit algorithm token-bucket queue 60kB burst", "15kB",
         NULL},
        {FOREIGN_STATEMENT, "policer", "police 10mbit burst", "15kB", NULL},
        /* queue management */
        {FOREIGN_STATEMENT, "random-detect|wred", "red min 15kB max 45kB", NULL, MANAGEMENT},
        {FOREIGN_STATEMENT, "fair-queue|fq|sfq|cake", "fq-codel", NULL, MANAGEMENT},
        {FOREIGN_STATEMENT, "l4s", "dualpi2", NULL, MANAGEMENT},
        /* loss, errors, copies, order */
        {FOREIGN_STATEMENT, "drop|packet-loss|packetloss|loss-rate|plr|discard", "loss", "1%",
         NULL},
        {FOREIGN_STATEMENT, "correlation", "loss random 1% correlation", "25%", NULL},
        {FOREIGN_STATEMENT, "gemodel|gilbert", "loss gilbert-elliott p 1% r 30%", NULL, NULL},
        {FOREIGN_STATEMENT, "burst-loss", "loss burst 1% length 2..5", NULL, NULL},
        {FOREIGN_STATEMENT, "state", "loss four-state p13 1% p31 30%", NULL, NULL},
        {FOREIGN_STATEMENT, "dup|duplication", "duplicate", "1%", NULL},
        {FOREIGN_STATEMENT, "corruption", "corrupt", "1%", NULL},
        {FOREIGN_STATEMENT, "noise|ber|bit-error", "corrupt bit-error", "1e-6", NULL},
        {FOREIGN_STATEMENT, "reordering|out-of-order", "reorder", "25%", NULL},
        {FOREIGN_STATEMENT, "gap", "reorder 25% gap", "5", NULL},
        /* routers, headers, outages */
        {FOREIGN_STATEMENT, "mtu", "hop 192.0.2.1 mtu", "1400", "; a router on the path has it"},
        {FOREIGN_STATEMENT, "router", "hop", "192.0.2.1", NULL},
        {FOREIGN_STATEMENT, "ttl", "rewrite set ip.ttl 9", NULL, NULL},
        {FOREIGN_STATEMENT, "dscp|tos", "rewrite set ip.dscp 46", NULL, NULL},
        {FOREIGN_STATEMENT, "blackhole|outage|disconnect", "down", NULL, NULL},
        {FOREIGN_STATEMENT, "disconnection", "flap down 2s every 60s", NULL, NULL},
        {FOREIGN_STATEMENT, "timeout|shutdown", "down", NULL, NULL},
        {FOREIGN_STATEMENT, "match|filter", IN_TEMPLATE "match udp port 53", NULL, NULL},
        {FOREIGN_STATEMENT, "priority", IN_TEMPLATE "priority 10 match udp port 53", NULL, NULL},
        {FOREIGN_LINE, "show stats|show statistics|show status|show counters", "show cloud", NULL,
         NULL},
        {FOREIGN_LINE, "show interfaces|show interface|show links", "show ports", NULL, NULL},
        {FOREIGN_LINE, "show running-config|show run|show scenario", "show config", NULL, NULL},
        {FOREIGN_LINE, "show cores|show cpu", "show workers", NULL, NULL},
        {FOREIGN_LINE, "stats|status|list|ls|get", "show cloud", NULL, NULL},
        {FOREIGN_LINE, "reset", "clear counters", NULL, NULL},
        {FOREIGN_LINE, "set|add|change|replace", "cloud NAME delay 40ms", NULL, NULL},
        {FOREIGN_LINE, "del|delete|remove|rm", "no cloud NAME delay", NULL, NULL},
        {FOREIGN_LINE, "interface|device|dev|nic", "port NAME interface eth1", NULL, NULL},
        {FOREIGN_LINE, "link|path|pipe", "cloud NAME from PORT to PORT", NULL, NULL},
        {FOREIGN_LINE, "qdisc|tc|netem", "cloud NAME netem delay 40ms loss 1%", NULL, NULL},
        {FOREIGN_VALUE, "gaussian|gauss", "normal", NULL, NULL},
        {FOREIGN_VALUE, "exp|poisson", "exponential", NULL, NULL},
        {FOREIGN_VALUE, "tbf|tokenbucket", "token-bucket", NULL, NULL},
        {FOREIGN_VALUE, "leaky", "leaky-bucket", NULL, NULL},
        {FOREIGN_VALUE, "fifo|droptail", "tail", NULL, NULL},
        {FOREIGN_VALUE, "strict", "priority", NULL, NULL},
        {FOREIGN_VALUE, "preserve", "keep", NULL, NULL},
        {FOREIGN_VALUE, "true|yes|enable|enabled|1", "on", NULL, NULL},
        {FOREIGN_VALUE, "false|no|disable|disabled|0", "off", NULL, NULL},
        {FOREIGN_COMMAND, "start|daemon", "weir run -c FILE", NULL, NULL},
        {FOREIGN_COMMAND, "show|status|stats|list", "weir ctl show cloud", NULL, NULL},
        {FOREIGN_COMMAND, "set|add|change", "weir ctl cloud NAME delay 40ms", NULL, NULL},
        {FOREIGN_COMMAND, "shell|console", "weir ctl", NULL, NULL},
        {FOREIGN_COMMAND, "play|pcap|simulate", "weir replay -c FILE --in PORT=CAPTURE", NULL,
         NULL},
        {FOREIGN_COMMAND, "validate|verify|test|lint", "weir check -c FILE", NULL, NULL},
        {FOREIGN_COMMAND, "benchmark", "weir bench", NULL, NULL},
        {FOREIGN_COMMAND, "version", "weir --version", NULL, NULL},
        {FOREIGN_COMMAND, "man", "weir help --man", NULL, NULL},
        {FOREIGN_COMMAND, "tc|netem", "weir exec netem delay 40ms loss 1% -- COMMAND", NULL, NULL},
        {FOREIGN_COMMAND, "mm-delay", "weir exec delay 40ms -- COMMAND", NULL, NULL},
        {FOREIGN_COMMAND, "mm-loss", "weir exec --up 'loss 1%' -- COMMAND", NULL, NULL},
        {FOREIGN_COMMAND, "mm-link", "weir exec --up 'trace FILE' --down 'trace FILE' -- COMMAND",
         NULL, NULL},
        {0, NULL, NULL, NULL, NULL},
};

/* ---- finding ---- */

const struct foreign_word *foreign_word_find(enum foreign_place place, const char *word)
{
	char plain[40];

	/* Cut if it is longer than any that is known. */
	snprintf(plain, sizeof(plain), "%s", word + strspn(word, "-"));
	for (char *letter = plain; *letter; letter++)
		*letter = *letter == '_' ? '-' : (char)tolower((unsigned char)*letter);
	for (const struct foreign_word *row = foreign_words; row->words; row++) {
		if (row->place == place && is_one_of(row->words, plain))
			return row;
	}
	return NULL;
}

const struct foreign_word *foreign_word_nearest(enum foreign_place place, const char *word)
{
	struct nearest nearest;

	nearest_start(&nearest, word);
	for (const struct foreign_word *row = foreign_words; row->words; row++) {
		const char *words = row->place == place ? row->words : "";

		for (size_t bytes; (bytes = strcspn(words, "|")) > 0; words += words[0] == '|') {
			char known[40];

			snprintf(known, sizeof(known), "%.*s", (int)bytes, words);
			nearest_try(&nearest, known);
			words += bytes;
		}
	}
	return nearest.best ? foreign_word_find(place, nearest.best) : NULL;
}

/* ---- what to write ---- */

/* Returns the statement that the words begin with, or NULL. Its `field` is the one that the last
 * word names, else the first field if that is positional, else NULL. */
static const struct statement *value_field(const char *write, const struct field **field)
{
	const struct statement *statement;
	char name[40] = "", second[40] = "";
	struct word last;

	*field = NULL;
	sscanf(write, "%39s %39s", name, second);
	statement = statement_of_words(name, second);
	if (!statement)
		return NULL;
	last = (struct word){.text = strrchr(write, ' ') ? strrchr(write, ' ') + 1 : write};
	*field = statement_keyword(statement->fields, &last);
	if (!*field && statement->fields->name && statement->fields->flags & FIELD_POSITIONAL)
		*field = statement->fields;
	return statement;
}

/* Returns true if the word is a valid value of the field. */
static bool fits(const struct statement *statement, const struct field *field, const char *word)
{
	struct language_error ignored;
	struct conf *conf;
	bool right;

	if (!word || field->type == FIELD_TEXT || field->type == FIELD_FILE ||
	    field->type == FIELD_FLAG || statement_is_inner(field))
		return false;
	conf = conf_make(statement);
	right = conf && value_parse(field, word, conf, &ignored) == 0;
	conf_free(conf);
	return right;
}

bool foreign_word_write(const struct foreign_word *row, const char *next,
                        char text[FOREIGN_TEXT_BYTES])
{
	const struct field *field;
	const struct statement *statement = value_field(row->write, &field);
	bool own = statement && field && row->value && fits(statement, field, next);

	if (!statement && strncmp(row->write, "cloud ", 6) != 0)
		return false;
	snprintf(text, FOREIGN_TEXT_BYTES, "%s%s%s", row->write, row->value ? " " : "",
	         own          ? next
	         : row->value ? row->value
	                      : "");
	return true;
}

bool foreign_value_write(const char *value, char text[FOREIGN_TEXT_BYTES])
{
	static const char *const writes[] = {"delay", "rate", "loss random"};

	for (size_t i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
		const struct field *field;
		const struct statement *statement = value_field(writes[i], &field);

		if (!statement || !field || !fits(statement, field, value))
			continue;
		snprintf(text, FOREIGN_TEXT_BYTES, "%s %s", writes[i], value);
		return true;
	}
	return false;
}

bool foreign_word_refused(const struct foreign_word *row, const char *word, const char *next,
                          const char *before, struct language_error *error)
{
	char text[FOREIGN_TEXT_BYTES];

	if (!row)
		return false;
	if (row->place != FOREIGN_STATEMENT)
		snprintf(text, sizeof(text), "%s", row->write);
	else if (!foreign_word_write(row, next, text))
		return false;
	if (strncmp(text, "cloud ", 6) == 0 || row->place != FOREIGN_STATEMENT)
		before = "";
	language_error_set(error, ERROR_UNKNOWN_WORD, "unknown word `%.*s`; in weir it is `%s%s`%s",
	                   language_error_shown(word), word, before, text,
	                   row->note ? row->note : "");
	return true;
}
