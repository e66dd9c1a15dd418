/* SPDX-License-Identifier: BSD-3-Clause */
#include "text/foreign_word.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/scenario.h"
#include "simtime.h"
#include "statements.h"
#include "text/statement_text.h"
#include "text/value.h"

enum prefixes { NO_PREFIX, DECIMAL, BINARY, EITHER };

/* An `other` of 0: there is no second reading. */
struct spelling {
	const char *name; /* as it is written behind the prefix */
	enum prefixes prefixes;
	bool taken;
	uint64_t factor, other;
	const char *note;
};

#define TC "; tc counts bytes with it"

/* With the prefix k, M or G, or without one; BINARY and "" need a prefix. */
static const struct spelling rates[] = {
        {"bit/s", DECIMAL, true, 1, 0, NULL},    {"bit", DECIMAL, true, 1, 0, NULL},
        {"bits", DECIMAL, false, 1, 0, NULL},    {"bits/s", DECIMAL, false, 1, 0, NULL},
        {"bit/sec", DECIMAL, false, 1, 0, NULL}, {"b", DECIMAL, false, 1, 0, NULL},
        {"b/s", DECIMAL, false, 1, 0, NULL},     {"", DECIMAL, false, 1, 0, NULL},
        {"bps", DECIMAL, false, 1, 8, TC},       {"Bps", DECIMAL, false, 8, 0, NULL},
        {"BPS", DECIMAL, false, 1, 8, TC},       {"B", DECIMAL, false, 8, 0, NULL},
        {"B/s", DECIMAL, false, 8, 0, NULL},     {"iB/s", BINARY, false, 8, 0, NULL},
        {"ibit", BINARY, false, 1, 0, NULL},     {NULL, 0, false, 0, 0, NULL},
};

static const struct spelling sizes[] = {
        {"byte", EITHER, false, 1, 0, NULL}, {"bytes", EITHER, false, 1, 0, NULL},
        {"b", EITHER, false, 1, 0, NULL},    {"B", EITHER, false, 1, 0, NULL},
        {"", EITHER, false, 1, 0, NULL},     {"iB", BINARY, false, 1, 0, NULL},
        {"ib", BINARY, false, 1, 0, NULL},   {NULL, 0, false, 0, 0, NULL},
};

#define TIME(name, ns)                                                                             \
	{                                                                                          \
		name, NO_PREFIX, false, ns, 0, NULL                                                \
	}
#define TAKEN_TIME(name, ns)                                                                       \
	{                                                                                          \
		name, NO_PREFIX, true, ns, 0, NULL                                                 \
	}
static const struct spelling times[] = {
        TIME("nsec", 1),
        TIME("nsecs", 1),
        TIME("usec", SIMTIME_US),
        TIME("usecs", SIMTIME_US),
        TIME("\xc2\xb5s", SIMTIME_US), /* the micro sign */
        TIME("\xce\xbcs", SIMTIME_US), /* the Greek letter */
        TIME("msec", SIMTIME_MS),
        TIME("msecs", SIMTIME_MS),
        TIME("millis", SIMTIME_MS),
        TIME("sec", SIMTIME_S),
        TIME("secs", SIMTIME_S),
        TIME("seconds", SIMTIME_S),
        TAKEN_TIME("min", 60 * SIMTIME_S),
        TIME("mins", 60 * SIMTIME_S),
        TIME("minutes", 60 * SIMTIME_S),
        TAKEN_TIME("h", 3600 * SIMTIME_S),
        TIME("hours", 3600 * SIMTIME_S),
        {NULL, 0, false, 0, 0, NULL},
};

#define PACKETS(name)                                                                              \
	{                                                                                          \
		name, NO_PREFIX, false, 1, 0, NULL                                                 \
	}
static const struct spelling packets[] = {
        PACKETS("p"),       PACKETS("pkts"),   PACKETS("packet"),
        PACKETS("packets"), PACKETS("frames"), {NULL, 0, false, 0, 0, NULL},
};

static const struct {
	const struct unit *units;
	const struct spelling *spellings;
} kinds[] = {
        {units_rate, rates}, {units_bytes, sizes}, {units_time, times}, {units_packets, packets}};

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
	    (!prefix && (spelling->prefixes == BINARY || *spelling->name == 0)))
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
	for (; *name && spelling && spelling->name; spelling++) {
		if ((strcmp(name, spelling->name) == 0 && read_as(spelling, 0, unit)) ||
		    (strcmp(name + 1, spelling->name) == 0 && read_as(spelling, *name, unit)))
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

#define STATEMENT(word, write, value)                                                              \
	{                                                                                          \
		FOREIGN_STATEMENT, word, write, value, NULL                                        \
	}
#define NOTED(word, write, value, note)                                                            \
	{                                                                                          \
		FOREIGN_STATEMENT, word, write, value, note                                        \
	}
#define LINE(word, write)                                                                          \
	{                                                                                          \
		FOREIGN_LINE, word, write, NULL, NULL                                              \
	}
#define VALUE(word, write)                                                                         \
	{                                                                                          \
		FOREIGN_VALUE, word, write, NULL, NULL                                             \
	}
#define COMMAND(word, write)                                                                       \
	{                                                                                          \
		FOREIGN_COMMAND, word, write, NULL, NULL                                           \
	}

#define ROUND_TRIP  "; a round trip is the delay of two clouds, one each way"
#define OF_RATE     "; a queue belongs to its `rate`"
#define MANAGEMENT  "; it manages the queue of a `rate`"
#define IN_TEMPLATE "cloud NAME from PLACE to PORT "

const struct foreign_word foreign_words[] = {
        /* delay */
        STATEMENT("latency", "delay", "40ms"),
        STATEMENT("lag", "delay", "40ms"),
        STATEMENT("owd", "delay", "40ms"),
        NOTED("rtt", "delay", "20ms", ROUND_TRIP),
        STATEMENT("jitter", "delay 40ms jitter", "5ms"),
        STATEMENT("variation", "delay 40ms jitter", "5ms"),
        STATEMENT("delay-variation", "delay 40ms jitter", "5ms"),
        STATEMENT("stddev", "delay 40ms jitter", "5ms"),
        STATEMENT("distribution", "delay 40ms jitter 5ms distribution", "normal"),
        /* rate and queue */
        STATEMENT("bandwidth", "rate", "10mbit"),
        STATEMENT("bw", "rate", "10mbit"),
        STATEMENT("target-bw", "rate", "10mbit"),
        STATEMENT("default-bw", "rate", "10mbit"),
        STATEMENT("throughput", "rate", "10mbit"),
        STATEMENT("speed", "rate", "10mbit"),
        STATEMENT("capacity", "rate", "10mbit"),
        STATEMENT("ratelimit", "rate", "10mbit"),
        STATEMENT("rate-limit", "rate", "10mbit"),
        STATEMENT("shape", "rate", "10mbit"),
        STATEMENT("shaper", "rate", "10mbit"),
        STATEMENT("tbf", "rate 10mbit algorithm token-bucket queue 60kB burst", "15kB"),
        STATEMENT("htb", "rate", "10mbit"),
        STATEMENT("bottleneck", "rate", "10mbit"),
        NOTED("queue", "rate 10mbit queue", "60kB", OF_RATE),
        NOTED("buffer", "rate 10mbit queue", "60kB", OF_RATE),
        NOTED("bfifo", "rate 10mbit queue", "60kB", OF_RATE),
        NOTED("pfifo", "rate 10mbit queue", "100pkt", OF_RATE),
        NOTED("fifo", "rate 10mbit queue", "100pkt", OF_RATE),
        NOTED("droptail", "rate 10mbit queue", "100pkt", OF_RATE),
        NOTED("queue-limit", "rate 10mbit queue", "100pkt", OF_RATE),
        NOTED("queue-size", "rate 10mbit queue", "60kB", OF_RATE),
        NOTED("limit", "rate 10mbit queue", "100pkt", OF_RATE),
        STATEMENT("burst", "rate 10mbit algorithm token-bucket queue 60kB burst", "15kB"),
        STATEMENT("policer", "police 10mbit burst", "15kB"),
        /* queue management */
        NOTED("random-detect", "red min 15kB max 45kB", NULL, MANAGEMENT),
        NOTED("wred", "red min 15kB max 45kB", NULL, MANAGEMENT),
        NOTED("fair-queue", "fq-codel", NULL, MANAGEMENT),
        NOTED("fq", "fq-codel", NULL, MANAGEMENT),
        NOTED("sfq", "fq-codel", NULL, MANAGEMENT),
        NOTED("cake", "fq-codel", NULL, MANAGEMENT),
        NOTED("l4s", "dualpi2", NULL, MANAGEMENT),
        /* loss, errors, copies, order */
        STATEMENT("drop", "loss", "1%"),
        STATEMENT("packet-loss", "loss", "1%"),
        STATEMENT("packetloss", "loss", "1%"),
        STATEMENT("loss-rate", "loss", "1%"),
        STATEMENT("plr", "loss", "1%"),
        STATEMENT("discard", "loss", "1%"),
        STATEMENT("correlation", "loss random 1% correlation", "25%"),
        STATEMENT("gemodel", "loss gilbert-elliott p 1% r 30%", NULL),
        STATEMENT("gilbert", "loss gilbert-elliott p 1% r 30%", NULL),
        STATEMENT("burst-loss", "loss burst 1% length 2..5", NULL),
        STATEMENT("state", "loss four-state p13 1% p31 30%", NULL),
        STATEMENT("dup", "duplicate", "1%"),
        STATEMENT("duplication", "duplicate", "1%"),
        STATEMENT("corruption", "corrupt", "1%"),
        STATEMENT("noise", "corrupt bit-error", "1e-6"),
        STATEMENT("ber", "corrupt bit-error", "1e-6"),
        STATEMENT("bit-error", "corrupt bit-error", "1e-6"),
        STATEMENT("reordering", "reorder", "25%"),
        STATEMENT("out-of-order", "reorder", "25%"),
        STATEMENT("gap", "reorder 25% gap", "5"),
        /* routers, headers, outages */
        NOTED("mtu", "hop 192.0.2.1 mtu", "1400", "; a router on the path has it"),
        STATEMENT("router", "hop", "192.0.2.1"),
        STATEMENT("ttl", "rewrite set ip.ttl 9", NULL),
        STATEMENT("dscp", "rewrite set ip.dscp 46", NULL),
        STATEMENT("tos", "rewrite set ip.dscp 46", NULL),
        STATEMENT("blackhole", "down", NULL),
        STATEMENT("outage", "down", NULL),
        STATEMENT("disconnect", "down", NULL),
        STATEMENT("disconnection", "flap down 2s every 60s", NULL),
        STATEMENT("timeout", "down", NULL),
        STATEMENT("shutdown", "down", NULL),
        STATEMENT("match", IN_TEMPLATE "match udp port 53", NULL),
        STATEMENT("filter", IN_TEMPLATE "match udp port 53", NULL),
        STATEMENT("priority", IN_TEMPLATE "priority 10 match udp port 53", NULL),

        LINE("show stats", "show cloud"),
        LINE("show statistics", "show cloud"),
        LINE("show status", "show cloud"),
        LINE("show counters", "show cloud"),
        LINE("show interfaces", "show ports"),
        LINE("show interface", "show ports"),
        LINE("show links", "show ports"),
        LINE("show running-config", "show config"),
        LINE("show run", "show config"),
        LINE("show scenario", "show config"),
        LINE("show cores", "show workers"),
        LINE("show cpu", "show workers"),
        LINE("stats", "show cloud"),
        LINE("status", "show cloud"),
        LINE("list", "show cloud"),
        LINE("ls", "show cloud"),
        LINE("get", "show cloud"),
        LINE("reset", "clear counters"),
        LINE("set", "cloud NAME delay 40ms"),
        LINE("add", "cloud NAME delay 40ms"),
        LINE("change", "cloud NAME delay 40ms"),
        LINE("replace", "cloud NAME delay 40ms"),
        LINE("del", "no cloud NAME delay"),
        LINE("delete", "no cloud NAME delay"),
        LINE("remove", "no cloud NAME delay"),
        LINE("rm", "no cloud NAME delay"),
        LINE("interface", "port NAME interface eth1"),
        LINE("device", "port NAME interface eth1"),
        LINE("dev", "port NAME interface eth1"),
        LINE("nic", "port NAME interface eth1"),
        LINE("link", "cloud NAME from PORT to PORT"),
        LINE("path", "cloud NAME from PORT to PORT"),
        LINE("pipe", "cloud NAME from PORT to PORT"),
        LINE("qdisc", "cloud NAME netem delay 40ms loss 1%"),
        LINE("tc", "cloud NAME netem delay 40ms loss 1%"),
        LINE("netem", "cloud NAME netem delay 40ms loss 1%"),

        VALUE("gaussian", "normal"),
        VALUE("gauss", "normal"),
        VALUE("exp", "exponential"),
        VALUE("poisson", "exponential"),
        VALUE("tbf", "token-bucket"),
        VALUE("tokenbucket", "token-bucket"),
        VALUE("leaky", "leaky-bucket"),
        VALUE("fifo", "tail"),
        VALUE("droptail", "tail"),
        VALUE("strict", "priority"),
        VALUE("preserve", "keep"),
        VALUE("true", "on"),
        VALUE("yes", "on"),
        VALUE("enable", "on"),
        VALUE("enabled", "on"),
        VALUE("1", "on"),
        VALUE("false", "off"),
        VALUE("no", "off"),
        VALUE("disable", "off"),
        VALUE("disabled", "off"),
        VALUE("0", "off"),

        COMMAND("start", "weir run -c FILE"),
        COMMAND("daemon", "weir run -c FILE"),
        COMMAND("show", "weir ctl show cloud"),
        COMMAND("status", "weir ctl show cloud"),
        COMMAND("stats", "weir ctl show cloud"),
        COMMAND("list", "weir ctl show cloud"),
        COMMAND("set", "weir ctl cloud NAME delay 40ms"),
        COMMAND("add", "weir ctl cloud NAME delay 40ms"),
        COMMAND("change", "weir ctl cloud NAME delay 40ms"),
        COMMAND("shell", "weir ctl"),
        COMMAND("console", "weir ctl"),
        COMMAND("play", "weir replay -c FILE --in PORT=CAPTURE"),
        COMMAND("pcap", "weir replay -c FILE --in PORT=CAPTURE"),
        COMMAND("simulate", "weir replay -c FILE --in PORT=CAPTURE"),
        COMMAND("validate", "weir check -c FILE"),
        COMMAND("verify", "weir check -c FILE"),
        COMMAND("test", "weir check -c FILE"),
        COMMAND("lint", "weir check -c FILE"),
        COMMAND("benchmark", "weir bench"),
        COMMAND("version", "weir --version"),
        COMMAND("man", "weir help --man"),
        COMMAND("tc", "weir exec netem delay 40ms loss 1% -- COMMAND"),
        COMMAND("netem", "weir exec netem delay 40ms loss 1% -- COMMAND"),
        COMMAND("mm-delay", "weir exec delay 40ms -- COMMAND"),
        COMMAND("mm-loss", "weir exec --up 'loss 1%' -- COMMAND"),
        COMMAND("mm-link", "weir exec --up 'trace FILE' --down 'trace FILE' -- COMMAND"),
        {0, NULL, NULL, NULL, NULL},
};

/* ---- finding ---- */

static char plain(char letter)
{
	return letter == '_' ? '-' : (char)tolower((unsigned char)letter);
}

static bool same(const char *word, const char *known)
{
	while (*word == '-')
		word++;
	while (*word && plain(*word) == *known) {
		word++;
		known++;
	}
	return *word == 0 && *known == 0;
}

const struct foreign_word *foreign_word_find(enum foreign_place place, const char *word)
{
	for (const struct foreign_word *row = foreign_words; row->word; row++) {
		if (row->place == place && same(word, row->word))
			return row;
	}
	return NULL;
}

bool foreign_word_means(const char *word, const char *own)
{
	for (const struct foreign_word *row = foreign_words; row->word; row++) {
		if (row->place == FOREIGN_VALUE && same(word, row->word) &&
		    strcmp(row->write, own) == 0)
			return true;
	}
	return false;
}

const struct foreign_word *foreign_word_nearest(enum foreign_place place, const char *word)
{
	struct nearest nearest;

	nearest_start(&nearest, word);
	for (const struct foreign_word *row = foreign_words; row->word; row++) {
		if (row->place == place)
			nearest_try(&nearest, row->word);
	}
	return nearest.best ? foreign_word_find(place, nearest.best) : NULL;
}

/* ---- what to write ---- */

/* Returns the statement that the words begin with, or NULL. Its `field` is the one that the last
 * word names, else the first field if that is positional, else NULL. */
static const struct statement *value_field(const char *write, const struct field **field)
{
	const struct statement *statement;
	char copy[FOREIGN_TEXT_BYTES], *words[3] = {copy, NULL, NULL};
	struct word last;

	snprintf(copy, sizeof(copy), "%s", write);
	for (int i = 1; i < 3 && words[i - 1]; i++) {
		words[i] = strchr(words[i - 1], ' ');
		if (words[i])
			*words[i]++ = 0;
	}
	*field = NULL;
	statement = statement_of_words(words[0], words[1] ? words[1] : "");
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
