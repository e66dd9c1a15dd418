/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scenario language over a table of statements of its own, with a field of every type: the
 * language must not depend on the name of any statement.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "language/complete.h"
#include "language/describe.h"
#include "language/language.h"
#include "language/language_export.h"
#include "language/scenario_check.h"
#include "language/scenario_file.h"
#include "random/draw.h"
#include "runner/group.h"
#include "statements.h"
#include "text/statement_text.h"

#define ROWS(array) (sizeof(array) / sizeof((array)[0]))

/* ---- the table ---- */

static const char *const shapes[] = {"square", "round", NULL};

struct paint_conf {
	struct conf conf;
	simtime dry_ns;
	uint64_t flow_bps;
	uint32_t shape;
	bool glossy;
	bool heated;
	struct limit bucket;
	char *from;
};

static const struct field paint_fields[] = {
        {.name = "dry",
         .type = FIELD_TIME,
         .flags = FIELD_POSITIONAL | FIELD_REQUIRED,
         .offset = offsetof(struct paint_conf, dry_ns),
         .max = DELAY_MAX_NS,
         .help = "how long it dries"},
        {.name = "flow",
         .type = FIELD_RATE,
         .flags = FIELD_POSITIONAL,
         .offset = offsetof(struct paint_conf, flow_bps),
         .min = 1,
         .max = 1000000,
         .initial = 1000,
         .help = "how fast it flows"},
        {.name = "shape",
         .type = FIELD_WORD,
         .offset = offsetof(struct paint_conf, shape),
         .words = shapes,
         .initial = 1,
         .help = "of the brush"},
        {.name = "glossy",
         .type = FIELD_FLAG,
         .offset = offsetof(struct paint_conf, glossy),
         .help = "it shines"},
        {.name = "heated",
         .type = FIELD_SWITCH,
         .offset = offsetof(struct paint_conf, heated),
         .help = "dries sooner"},
        {.name = "bucket",
         .type = FIELD_LIMIT,
         .offset = offsetof(struct paint_conf, bucket),
         .min = 1,
         .help = "how much there is"},
        {.name = "from",
         .type = FIELD_TEXT,
         .offset = offsetof(struct paint_conf, from),
         .help = "the shop"},
        FIELD_END,
};

static int paint_check(const struct conf *conf, const struct cloud_conf *cloud,
                       struct problem *problem)
{
	const struct paint_conf *paint = (const struct paint_conf *)conf;

	if (paint->heated && cloud_conf_get(cloud, "mark") == NULL) {
		problem_set(problem, 4, "heated paint needs a `mark`");
		return -EINVAL;
	}
	return 0;
}

static const struct statement paint_statement = {
        .name = "paint",
        .help = "puts paint on packets",
        .fields = paint_fields,
        .conf_bytes = sizeof(struct paint_conf),
        .check = paint_check,
};

struct spill_conf {
	struct conf conf;
	uint64_t share;
	uint64_t count;
	uint64_t size_bytes;
};

static const struct field spill_random_fields[] = {
        {.name = "share",
         .type = FIELD_PROBABILITY,
         .flags = FIELD_POSITIONAL | FIELD_REQUIRED,
         .offset = offsetof(struct spill_conf, share),
         .max = PROBABILITY_ONE,
         .help = "how much is spilled"},
        FIELD_END,
};
static const struct field spill_every_fields[] = {
        {.name = "count",
         .type = FIELD_COUNT,
         .flags = FIELD_POSITIONAL | FIELD_REQUIRED,
         .offset = offsetof(struct spill_conf, count),
         .min = 1,
         .max = 1000,
         .help = "at which packet"},
        {.name = "size",
         .type = FIELD_BYTES,
         .flags = FIELD_REQUIRED,
         .offset = offsetof(struct spill_conf, size_bytes),
         .min = 1,
         .max = 1000000,
         .help = "how much"},
        FIELD_END,
};
static const struct statement spill_random_statement = {
        .name = "spill",
        .variant = "random",
        .help = "spills at random",
        .fields = spill_random_fields,
        .conf_bytes = sizeof(struct spill_conf),
};
static const struct statement spill_every_statement = {
        .name = "spill",
        .variant = "every",
        .help = "spills now and then",
        .fields = spill_every_fields,
        .conf_bytes = sizeof(struct spill_conf),
};

struct mark_conf {
	struct conf conf;
	char *label;
	uint32_t ipv4;
	uint8_t ipv6[16];
};

static const struct field mark_fields[] = {
        {.name = "label",
         .type = FIELD_TEXT,
         .flags = FIELD_POSITIONAL | FIELD_REQUIRED,
         .offset = offsetof(struct mark_conf, label),
         .help = "what is written on it"},
        {.name = "at",
         .type = FIELD_IPV4,
         .offset = offsetof(struct mark_conf, ipv4),
         .help = "where"},
        {.name = "at6",
         .type = FIELD_IPV6,
         .offset = offsetof(struct mark_conf, ipv6),
         .help = "where, in IPv6"},
        FIELD_END,
};
static const struct statement mark_statement = {
        .name = "mark",
        .help = "labels packets",
        .fields = mark_fields,
        .conf_bytes = sizeof(struct mark_conf),
};

struct quote_conf {
	struct conf conf;
	char *line;
};

static const struct field quote_fields[] = {
        {.name = "line",
         .type = FIELD_TEXT,
         .flags = FIELD_POSITIONAL | FIELD_REQUIRED | FIELD_REST,
         .offset = offsetof(struct quote_conf, line),
         .help = "a line of another language"},
        FIELD_END,
};
static const struct statement quote_statement = {
        .name = "quote",
        .help = "what others say",
        .fields = quote_fields,
        .conf_bytes = sizeof(struct quote_conf),
};

const struct statement *const statements[] = {
        &spill_random_statement, &spill_every_statement, &mark_statement,
        &paint_statement,        &quote_statement,       NULL,
};

const struct statement *statement_find(const char *name, const char *variant)
{
	for (const struct statement *const *row = statements; *row; row++) {
		if (strcmp((*row)->name, name) == 0 && !(*row)->variant == !variant &&
		    (!variant || strcmp((*row)->variant, variant) == 0))
			return *row;
	}
	return NULL;
}

/* ---- a scenario made line by line ---- */

static void edit(struct scenario *scenario, const char *line)
{
	struct language_error error = {.text = ""};
	struct command command;

	if (language_parse(line, &command, &error) != 0 ||
	    language_edit(scenario, &command, &error) != 0)
		fail_msg("%s: %u: %s", line, error.column, error.text);
	language_release(&command);
}

static struct scenario *two_ports_and_a_cloud(void)
{
	struct scenario *scenario = scenario_make();

	assert_non_null(scenario);
	edit(scenario, "port a");
	edit(scenario, "port b device 0000:03:00.1");
	edit(scenario, "cloud down from a to b");
	return scenario;
}

static void assert_prints(const struct scenario *scenario, const char *expected)
{
	char *text = scenario_text(scenario);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

#define TOP "port a\nport b device 0000:03:00.1\ncloud down from a to b\n"

static void a_line_edits_the_scenario(void **state)
{
	static const struct {
		const char *line, *printed;
	} rows[] = {
	        {"", TOP},
	        {"   \t ", TOP},
	        {"# seed 1", TOP},
	        {"\r", TOP},
	        {"seed 42", "seed 42\n" TOP},
	        {"seed 42 # the answer", "seed 42\n" TOP},
	        {"seed 18446744073709551615", "seed 18446744073709551615\n" TOP},
	        {"\tport  c \t",
	         "port a\nport b device 0000:03:00.1\nport c\ncloud down from a to b\n"},
	        {"port c device \"net_pcap0,rx_pcap=my file\"",
	         "port a\nport b device 0000:03:00.1\nport c device \"net_pcap0,rx_pcap=my file\"\n"
	         "cloud down from a to b\n"},
	        {"port c device net_null0 launch 20us time device speed 10gbit tx-latency 420ns "
	         "rx-latency 350ns",
	         "port a\nport b device 0000:03:00.1\nport c device net_null0 rx-latency 350ns "
	         "tx-latency 420ns speed 10gbit time device launch 20us\ncloud down from a to b\n"},
	        {"cloud up from b to a", TOP "cloud up from b to a\n"},
	        {"cloud down paint 40ms", TOP "cloud down paint 40ms\n"},
	        {"cloud down paint 0.04s\r", TOP "cloud down paint 40ms\n"},
	        {"cloud down paint 40ms 2kbit", TOP "cloud down paint 40ms 2kbit\n"},
	        {"cloud down paint 40ms shape square", TOP "cloud down paint 40ms shape square\n"},
	        {"cloud down paint 40ms glossy shape round 2", NULL},
	        {"cloud down paint 40ms from shop heated off glossy shape round",
	         TOP "cloud down paint 40ms shape round glossy heated off from shop\n"},
	        {"cloud down paint 1500ns bucket 10pkt from \"my shop\"",
	         TOP "cloud down paint 1.5us bucket 10pkt from \"my shop\"\n"},
	        {"cloud down paint 1s from glossy", TOP "cloud down paint 1s from glossy\n"},
	        {"cloud down spill random 0.1%", TOP "cloud down spill random 0.1%\n"},
	        {"cloud down spill every 7 size 1500B",
	         TOP "cloud down spill every 7 size 1500B\n"},
	        {"cloud down mark x at 192.0.2.1 at6 2001:db8::1",
	         TOP "cloud down mark x at 192.0.2.1 at6 2001:db8::1\n"},
	        {"cloud down mark \"at\"", TOP "cloud down mark \"at\"\n"},
	        {"cloud down mark \"\" at 10.0.0.1", TOP "cloud down mark \"\" at 10.0.0.1\n"},
	        {"cloud down quote delay 100ms  10ms 25% \"a b\" # said",
	         TOP "cloud down quote delay 100ms 10ms 25% \"a b\"\n"},
	        {"no cloud down", "port a\nport b device 0000:03:00.1\n"},
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct scenario *scenario = two_ports_and_a_cloud();

		if (rows[i].printed != NULL) {
			edit(scenario, rows[i].line);
			assert_prints(scenario, rows[i].printed);
		}
		scenario_free(scenario);
	}
}

static void a_statement_given_again_is_replaced_as_a_whole(void **state)
{
	struct scenario *scenario = two_ports_and_a_cloud();
	const struct paint_conf *paint;

	(void)state;
	edit(scenario, "cloud down paint 40ms glossy from shop");
	edit(scenario, "cloud down paint 10ms shape square");
	assert_prints(scenario, TOP "cloud down paint 10ms shape square\n");
	paint = (const struct paint_conf *)cloud_conf_get(scenario->clouds[0], "paint");
	assert_false(paint->glossy);
	assert_null(paint->from);
	assert_int_equal(paint->flow_bps, 1000);
	assert_int_equal(paint->conf.given, 1u << 0 | 1u << 2);
	scenario_free(scenario);
}

static void variants_of_a_statement_exclude_each_other(void **state)
{
	struct scenario *scenario = two_ports_and_a_cloud();

	(void)state;
	edit(scenario, "cloud down spill random 0.1%");
	edit(scenario, "cloud down spill every 7 size 1kB");
	assert_prints(scenario, TOP "cloud down spill every 7 size 1kB\n");
	edit(scenario, "no cloud down spill");
	assert_prints(scenario, TOP);
	scenario_free(scenario);
}

static void statements_print_in_the_order_of_the_table(void **state)
{
	struct scenario *scenario = two_ports_and_a_cloud();

	(void)state;
	edit(scenario, "cloud down quote x");
	edit(scenario, "cloud down paint 1s");
	edit(scenario, "cloud down mark y");
	edit(scenario, "cloud down spill random 100%");
	assert_prints(scenario, TOP "cloud down spill random 100%\n"
	                            "cloud down mark y\n"
	                            "cloud down paint 1s\n"
	                            "cloud down quote x\n");
	scenario_free(scenario);
}

static void what_is_wrong_with_a_line_is_said_with_its_column(void **state)
{
	static const struct {
		const char *line, *name;
		uint32_t column;
		const char *text;
	} rows[] = {
	        /* words */
	        {"claud down from a to b", ERROR_UNKNOWN_WORD, 1,
	         "unknown word `claud`; did you mean `cloud`?"},
	        {"xyzzy", ERROR_UNKNOWN_WORD, 1,
	         "unknown word `xyzzy`; what may stand here is `seed`, `port`, `cloud`, `clouds`, "
	         "`no`, "
	         "`show`, `probe`, "
	         "`clear` or `help`"},
	        {"cloud down piant 40ms", ERROR_UNKNOWN_WORD, 12,
	         "unknown word `piant`; did you mean `paint`?"},
	        {"cloud down form a to b", ERROR_UNKNOWN_WORD, 12,
	         "unknown word `form`; did you mean `from`?"},
	        {"paint 40ms", ERROR_UNKNOWN_WORD, 1,
	         "`paint` belongs to a cloud; write: cloud NAME paint ..."},
	        {"cloud down spill 1%", ERROR_UNKNOWN_WORD, 18,
	         "unknown word `1%`; what follows `spill` is `random` or `every`"},
	        {"cloud down spill randm 1%", ERROR_UNKNOWN_WORD, 18,
	         "unknown word `randm`; did you mean `random`?"},
	        {"cloud down spill", ERROR_MISSING_WORD, 18,
	         "`spill` needs a variant: `random` or `every`"},
	        {"cloud down paint 40ms 2kbit shap round", ERROR_UNKNOWN_WORD, 29,
	         "unknown word `shap`; did you mean `shape`?"},
	        {"cloud down paint 40ms shap round", ERROR_UNKNOWN_WORD, 23,
	         "unknown word `shap`; did you mean `shape`?"},
	        {"cloud down paint 40ms 2kbit 7 round", ERROR_UNKNOWN_WORD, 29,
	         "unknown word `7`; what may follow here is `shape`, `glossy`, `heated`, `bucket` "
	         "or "
	         "`from`"},
	        {"cloud down paint 40ms 2kbit mark x", ERROR_UNKNOWN_WORD, 29,
	         "`mark` is a statement of its own, not a word of `paint`; give it a line of its "
	         "own: "
	         "cloud NAME mark ..."},
	        {"cloud down spill random 1% 2%", ERROR_EXTRA_WORD, 28,
	         "`2%` is too much; `spill` ends before it"},
	        {"cloud down paint 40ms glossy glossy", ERROR_DUPLICATE_WORD, 30,
	         "`glossy` was given already; give it once"},
	        {"cloud down paint 40ms shape oval", ERROR_UNKNOWN_WORD, 29,
	         "shape `oval` is unknown; it is `square` or `round`"},
	        {"cloud down paint 40ms \"glossy\"", ERROR_BAD_VALUE, 23, NULL},
	        {"\"cloud\" down paint 40ms", ERROR_UNKNOWN_WORD, 1, NULL},
	        {"show cluod", ERROR_UNKNOWN_WORD, 6,
	         "unknown word `cluod`; did you mean `cloud`?"},
	        {"show clouds", ERROR_MISSING_WORD, 13, NULL},
	        {"show clouds down 10.0.0.1 10.0.0.2", ERROR_EXTRA_WORD, 27, NULL},
	        {"show config now", ERROR_EXTRA_WORD, 13,
	         "`now` is too much; the line ends before it"},
	        {"no cloud down paint 40ms", ERROR_EXTRA_WORD, 21, NULL},
	        {"cloud down from a to b c", ERROR_UNKNOWN_WORD, 24,
	         "unknown word `c`; what may follow here is `priority` or `match`"},
	        /* what is missing */
	        {"cloud", ERROR_MISSING_WORD, 7,
	         "the line ends too early; what must follow is a new name or the name of a cloud"},
	        {"cloud down", ERROR_MISSING_WORD, 12,
	         "the line ends too early; what must follow is `from`, `netem`, `netem-exact`, "
	         "`spill`, `mark`, `paint` or "
	         "`quote`"},
	        {"cloud up from b to", ERROR_MISSING_WORD, 20,
	         "the line ends too early; what must follow is the name of a port"},
	        {"port c device", ERROR_MISSING_WORD, 15, NULL},
	        {"port c interface", ERROR_MISSING_WORD, 18,
	         "the line ends too early; what must follow is the name of an interface"},
	        {"probe down to", ERROR_MISSING_WORD, 15,
	         "the line ends too early; what must follow is an address"},
	        {"clouds many from a to b per", ERROR_MISSING_WORD, 29,
	         "the line ends too early; what must follow is `source` PREFIX, `destination` "
	         "PREFIX or `flow`"},
	        {"seed", ERROR_MISSING_WORD, 6, NULL},
	        {"cloud down paint", ERROR_MISSING_WORD, 18,
	         "`paint` needs `dry`: TIME (ns, us, ms or s)"},
	        {"cloud down paint glossy", ERROR_MISSING_WORD, 18,
	         "`paint` needs `dry`: TIME (ns, us, ms or s)"},
	        {"cloud down paint 40ms shape", ERROR_MISSING_WORD, 29,
	         "`shape` needs a value: square|round"},
	        {"cloud down spill every 7", ERROR_MISSING_WORD, 26,
	         "`spill` needs `size`: SIZE (B, kB, MB, KiB or MiB)"},
	        {"cloud down quote", ERROR_MISSING_WORD, 18, NULL},
	        /* values */
	        {"cloud down paint 40", ERROR_MISSING_UNIT, 18, NULL},
	        {"cloud down paint 40ms 2gbit", ERROR_OUT_OF_RANGE, 23,
	         "flow `2gbit` is out of range; it goes from 1bit to 1mbit"},
	        {"seed -1", ERROR_OUT_OF_RANGE, 6, NULL},
	        {"seed 1.5", ERROR_BAD_VALUE, 6, NULL},
	        {"port c device \"\"", ERROR_BAD_VALUE, 15, NULL},
	        {"port c device x rx-latency 2ms", ERROR_OUT_OF_RANGE, 28,
	         "rx-latency `2ms` is out of range; it goes from 0s to 1ms"},
	        {"port c device x rx-latnecy 2us", ERROR_UNKNOWN_WORD, 17, NULL},
	        {"port c device x time wire", ERROR_UNKNOWN_WORD, 22, NULL},
	        {"port c rx-latency 2us", ERROR_UNKNOWN_WORD, 8, NULL},
	        /* names */
	        {"port a", ERROR_DUPLICATE_NAME, 6,
	         "there is a port `a` already; choose another name for this port"},
	        {"port down", ERROR_DUPLICATE_NAME, 6,
	         "there is a cloud `down` already; choose another name for this port"},
	        {"cloud down from a to b", ERROR_DUPLICATE_NAME, 7,
	         "there is a cloud `down` already; choose another name for this cloud"},
	        {"cloud up from a to ccc", ERROR_UNKNOWN_PORT, 20,
	         "there is no port `ccc`; there are `a` and `b`"},
	        {"cloud dwon paint 40ms", ERROR_UNKNOWN_CLOUD, 7,
	         "there is no cloud `dwon`; the only one is `down`"},
	        {"no cloud up", ERROR_UNKNOWN_CLOUD, 10, NULL},
	        {"no cloud down paint", ERROR_UNKNOWN_WORD, 15,
	         "cloud `down` has no `paint`, nor any other statement"},
	        {"port a/b", ERROR_BAD_NAME, 6,
	         "`a/b` cannot be a name; a name is 1 to 31 letters, digits, `-`, `_` and `.`"},
	        {"port aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", ERROR_BAD_NAME, 6, NULL},
	        {"cloud \"my cloud\" from a to b", ERROR_BAD_NAME, 7, NULL},
	        {"port c interface \"my x\"", ERROR_BAD_NAME, 18,
	         "`my x` cannot be the name of an interface; a name has 1 to 127 letters, "
	         "without blanks, `/` and `:`"},
	        {"port c device \"interface:my x\"", ERROR_BAD_NAME, 15,
	         "`my x` cannot be the name of an interface; a name has 1 to 127 letters, "
	         "without blanks, `/` and `:`"},
	        {"port c device \"interface:my\tx\"", ERROR_BAD_NAME, 15, NULL},
	        {"port c device interface:", ERROR_BAD_NAME, 15, NULL},
	        /* characters */
	        {"port \"a", ERROR_BAD_QUOTE, 6, "this quote is not closed; end the text with \""},
	        {"port a\"b", ERROR_BAD_QUOTE, 7, NULL},
	        {"port \"a\"b", ERROR_BAD_QUOTE, 9, NULL},
	        {"port \"a\\b\"", ERROR_BAD_QUOTE, 8, NULL},
	        {"port a\001", ERROR_BAD_CHARACTER, 7, NULL},
	        {"port a\rb", ERROR_BAD_CHARACTER, 7, NULL},
	        {"port \xc3\xa4\xff", ERROR_BAD_CHARACTER, 7,
	         "the byte 0xff is not part of UTF-8 text"},
	        {"port \xed\xa0\x80", ERROR_BAD_CHARACTER, 6, NULL},
	        /* queries do not edit */
	        {"show config", ERROR_NOT_HERE, 1, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct scenario *scenario = two_ports_and_a_cloud();
		struct language_error error = {.name = "none", .text = ""};
		struct command command;
		int result = language_parse(rows[i].line, &command, &error);

		if (result == 0) {
			result = language_edit(scenario, &command, &error);
			language_release(&command);
		}
		if (result != -EINVAL || strcmp(error.name, rows[i].name) != 0 ||
		    error.column != rows[i].column)
			fail_msg("%s: %d %s:%u: %s", rows[i].line, result, error.name, error.column,
			         error.text);
		if (rows[i].text != NULL)
			assert_string_equal(error.text, rows[i].text);
		assert_prints(scenario, TOP);
		scenario_free(scenario);
	}
}

static void a_column_counts_characters(void **state)
{
	struct language_error error;
	struct command command;

	(void)state;
	assert_int_equal(language_parse("cloud d mark \"\xc3\xa4\xe2\x82\xac\" att 10.0.0.1",
	                                &command, &error),
	                 -EINVAL);
	assert_int_equal(error.column, 19);
}

static void a_long_line_and_many_words_are_refused(void **state)
{
	char line[LINE_BYTES_MAX + 2];
	struct language_error error;
	struct command command;

	(void)state;
	memset(line, 'x', sizeof(line));
	line[LINE_BYTES_MAX + 1] = 0;
	assert_int_equal(language_parse(line, &command, &error), -EINVAL);
	assert_string_equal(error.name, ERROR_TOO_LONG);
	line[LINE_BYTES_MAX] = 0;
	assert_int_equal(language_parse(line, &command, &error), -EINVAL);
	assert_string_equal(error.name, ERROR_UNKNOWN_WORD);
	for (int i = 1; i < LINE_BYTES_MAX; i += 2)
		line[i] = ' ';
	assert_int_equal(language_parse(line, &command, &error), -EINVAL);
	assert_string_equal(error.name, ERROR_TOO_LONG);
}

static void queries_are_parsed_to_kinds(void **state)
{
	static const struct {
		const char *line;
		enum command_kind kind;
		uint32_t n;
	} rows[] = {
	        {"show cloud", COMMAND_SHOW_CLOUD, 2},
	        {"show cloud down", COMMAND_SHOW_CLOUD, 3},
	        {"show clouds down", COMMAND_SHOW_CLOUD, 3},
	        {"show clouds down 10.0.3.4", COMMAND_SHOW_CLOUD, 4},
	        {"show config", COMMAND_SHOW_CONFIG, 2},
	        {"show ports", COMMAND_SHOW_PORTS, 2},
	        {"show workers", COMMAND_SHOW_WORKERS, 2},
	        {"show totals", COMMAND_SHOW_TOTALS, 2},
	        {"show totals 12", COMMAND_SHOW_TOTALS, 3},
	        {"clear counters", COMMAND_CLEAR_COUNTERS, 2},
	        {"help", COMMAND_HELP, 1},
	        {"help cloud paint", COMMAND_HELP, 3},
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct language_error error;
		struct command command;

		assert_int_equal(language_parse(rows[i].line, &command, &error), 0);
		assert_int_equal(command.kind, rows[i].kind);
		assert_int_equal(command.words.n, rows[i].n);
		language_release(&command);
	}
}

/* ---- files ---- */

static struct scenario *loaded(const char *text)
{
	char message[SCENARIO_FILE_ERROR];
	struct scenario *scenario;

	if (scenario_text_load(text, strlen(text), "f", &scenario, message, sizeof(message)) != 0)
		fail_msg("%s", message);
	return scenario;
}

static void what_is_printed_loads_to_the_same_bytes(void **state)
{
	static const char text[] = "seed 7\n"
	                           "port a device net_af_packet0,iface=veth-a\n"
	                           "port b\n"
	                           "cloud down from a to b\n"
	                           "cloud down spill every 7 size 15kB\n"
	                           "cloud down mark \"at\" at 192.0.2.1\n"
	                           "cloud down paint 1.5us 2kbit shape square glossy heated on\n"
	                           "cloud down quote \"x y\" z\n"
	                           "cloud up from b to a\n"
	                           "cloud up spill random 33.33333333333333333%\n";
	struct scenario *scenario = loaded(text), *copy = scenario_copy(scenario);

	(void)state;
	assert_prints(scenario, text);
	assert_non_null(copy);
	assert_prints(copy, text);
	scenario_free(copy);
	scenario_free(scenario);
}

static void a_file_may_end_without_a_line_end_and_may_come_from_windows(void **state)
{
	struct scenario *scenario = loaded("\xef\xbb\xbfport a\r\n# x\xff\r\n\r\nport b");

	(void)state;
	assert_prints(scenario, "port a\nport b\n");
	scenario_free(scenario);
	scenario = loaded("");
	assert_prints(scenario, "");
	scenario_free(scenario);
}

static void an_error_in_a_file_is_said_with_line_and_column(void **state)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
	        {"port a\nport b\ncloud x from a to b\ncloud x piant 1s\n",
	         "f:4:9: unknown word `piant`; did you mean `paint`?"},
	        {"port a\nshow ports\n", "f:2:1: `show` is a command for a running weir; only "
	                                 "lines that describe a scenario are allowed "
	                                 "here"},
	        {"port a\ncloud x from a to b\n",
	         "f:2:19: there is no port `b`; the only one is `a`"},
	        {"cloud x from a to b\n",
	         "f:1:19: there is no port `b`, nor any other; first write: port b"},
	        /* a cloud may come from one that is defined later, so this is detected at the
	         * end */
	        {"port a\nport b\ncloud x from c to b\n",
	         "f:3:14: there is no port or cloud `c`; ports are `a` and `b`"},
	        {"port a\nport b\ncloud down from a to b\ncloud x from dwon to b\n",
	         "f:4:14: there is no port or cloud `dwon`; ports are `a` and `b`; did you mean "
	         "`down`?"},
	        {"port a\nport b\ncloud x from y to b\ncloud y from z to b\ncloud z from x to b\n"
	         "cloud w from z to b match udp\n",
	         "f:3:14: the chain of `x`, `y` and `z` is a loop: each comes from the next; let "
	         "one "
	         "of them come from a port"},
	        {"port a\nport b\ncloud x from x to b\n",
	         "f:3:14: cloud `x` comes from itself: a loop; let it come from a port"},
	        {"port a\nport b\ncloud x from a to b match src hots 10.0.0.1\n",
	         "f:3:31: the filter goes wrong at `hots`: this is not a word of filters, and "
	         "names are not looked up: write the address; see pcap-filter(7)"},
	        {"port a\nport b\ncloud x from a to b priority 3 match udp or or tcp\n",
	         "f:3:45: the filter goes wrong at `or`: syntax error; see pcap-filter(7)"},
	        {"port a\nport b\ncloud x from a to b match udp or dscp 3\n",
	         "f:3:34: `dscp` and a number from 0 to 63 can be joined to other conditions by "
	         "`and` only, and those must be simple: addresses, port, protocol, vlan"},
	        {"port a\nport b\ncloud x from a to b match udp and tcp\n",
	         "f:3:27: `match udp and tcp` contradicts itself: no packet fits it"},
	        {"port a\nport b\ncloud x from a to b match host 10.0.0.1 and mpls\n",
	         "f:3:27: `match host 10.0.0.1 and mpls` contradicts itself: no packet fits it"},
	        {"port a\nport b\ncloud x from a to b match (ip) and mpls\n",
	         "f:3:27: the filter `(ip) and mpls` contradicts itself: no packet fits it; behind "
	         "`mpls`, `pppoes` and `geneve`, conditions are about the packet inside, and "
	         "behind `vlan`, about a tagged one"},
	        {"port a\nport b\nclouds x from a to b per source 10.0.0.0/16 match src 10.1.0.1\n",
	         "f:3:51: `match src 10.1.0.1` contradicts `source 10.0.0.0/16`: no packet fits "
	         "both"},
	        {"port a\nport b\nclouds x from a to b per source 10.0.0.1/16\n",
	         "f:3:33: `10.0.0.1/16` is not a prefix; write one like 10.0.0.0/16 or "
	         "2001:db8::/112, without bits set beyond its length"},
	        /* the whole is checked at the end; the error names the last line that caused it */
	        {"port a\nport b\ncloud x from a to b\ncloud x paint 1s heated on\nseed 1\n",
	         "f:4:25: cloud `x`, `paint`: heated paint needs a `mark`"},
	        {"port a\nport b\ncloud x from a to b\ncloud x paint 1s\ncloud x paint 2s heated "
	         "on\n",
	         "f:5:25: cloud `x`, `paint`: heated paint needs a `mark`"},
	        {"port a\nport b\ncloud x from a to b\n\ncloud y from a to b\n",
	         "f:5:7: cloud `y` would get no packets: `x` takes all that come from port `a`; "
	         "say which it takes with `match`, let it begin elsewhere, or remove `x`"},
	};

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		char message[SCENARIO_FILE_ERROR];
		struct scenario *scenario;

		assert_int_equal(scenario_text_load(rows[i].text, strlen(rows[i].text), "f",
		                                    &scenario, message, sizeof(message)),
		                 -EINVAL);
		assert_string_equal(message, rows[i].message);
		assert_null(scenario);
	}
}

static void a_file_with_a_zero_byte_is_refused(void **state)
{
	static const char text[] = "port a\npo\0rt b\n";
	char message[SCENARIO_FILE_ERROR];
	struct scenario *scenario;

	(void)state;
	assert_int_equal(scenario_text_load(text, sizeof(text) - 1, "f", &scenario, message,
	                                    sizeof(message)),
	                 -EINVAL);
	assert_string_equal(message, "f:2:1: a zero byte in the line; a scenario is a text file");
}

static void a_file_that_is_not_there_is_said(void **state)
{
	char message[SCENARIO_FILE_ERROR];
	struct scenario *scenario;

	(void)state;
	assert_int_equal(scenario_file_load("/nowhere/x.weir", &scenario, message, sizeof(message)),
	                 -ENOENT);
	assert_string_equal(message,
	                    "/nowhere/x.weir: cannot be opened: No such file or directory");
	assert_int_equal(scenario_file_load("/", &scenario, message, sizeof(message)), -EISDIR);
	assert_string_equal(message, "/: cannot be read: Is a directory");
}

/* ---- completion and help ---- */

static void completion_offers_what_may_follow(void **state)
{
	static const struct {
		const char *line, *words; /* joined by blanks */
		size_t start;
	} rows[] = {
	        {"", "clear cloud clouds help no port probe seed show", 0},
	        {"c", "clear cloud clouds", 0},
	        {"cl", "clear cloud clouds", 0},
	        {"sh", "show", 0},
	        {"show ", "cloud clouds config path ports totals workers", 5},
	        {"show c", "cloud clouds config", 5},
	        {"show cloud ", "down up", 11},
	        {"show cloud d", "down", 11},
	        {"cloud ", "down up", 6},
	        {"cloud down netem d", "delay distribution duplicate", 17},
	        {"cloud down netem-exact delay 5ms 1ms se", "seed", 37},
	        {"cloud down ", "from mark netem netem-exact paint quote spill", 11},
	        {"cloud down p", "paint", 11},
	        {"cloud down spill ", "every random", 17},
	        {"cloud down spill every ", "", 23},
	        {"cloud down spill every 7 ", "size", 25},
	        {"cloud down spill every 7 size 15", "15B 15KiB 15MB 15MiB 15kB", 30},
	        {"cloud down spill random 1", "1%", 24},
	        {"cloud down paint 4", "4ms 4ns 4s 4us", 17},
	        {"cloud down paint 4ms ", "bucket from glossy heated shape", 21},
	        {"cloud down paint 4ms sh", "shape", 21},
	        {"cloud down paint 4ms shape ", "round square", 27},
	        {"cloud down paint 4ms shape r", "round", 27},
	        {"cloud down paint 4ms glossy ", "bucket from heated shape", 28},
	        {"cloud down paint 4ms heated ", "off on", 28},
	        {"cloud down paint 4ms from ", "", 26},
	        {"cloud new from ", "a b down up", 15},
	        {"cloud new from a to ", "a b", 20},
	        {"cloud new from a to b ", "match priority", 22},
	        {"clouds new from a to b per ", "destination flow match most priority source v6",
	         27},
	        {"no ", "cloud", 3},
	        {"no cloud down ", "paint spill", 14},
	        {"no cloud up ", "", 12},
	        {"help ",
	         "clear cloud clouds help mark no paint port probe quote seed show spill units", 5},
	        {"help cloud m", "mark", 11},
	        {"xyzzy ", "", 6},
	        {"port a # co", "", 11},
	        {"port \"x", "", 7},
	};
	struct scenario *scenario = two_ports_and_a_cloud();

	(void)state;
	edit(scenario, "cloud up from b to a");
	edit(scenario, "cloud down paint 1s");
	edit(scenario, "cloud down spill random 1%");
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct completion completion;
		char words[500] = "";

		assert_int_equal(complete(rows[i].line, scenario, &completion), 0);
		for (uint32_t j = 0; j < completion.n; j++) {
			strcat(words, j > 0 ? " " : "");
			strcat(words, completion.words[j]);
		}
		if (strcmp(words, rows[i].words) != 0 || completion.start != rows[i].start)
			fail_msg("`%s` offers `%s` at %zu", rows[i].line, words, completion.start);
		complete_release(&completion);
	}
	scenario_free(scenario);
}

/* Returns the answer of `help` to a line that begins with it. The caller frees it. */
static char *helped(const char *line, struct language_error *error)
{
	struct command command;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	assert_int_equal(language_parse(line, &command, error), 0);
	error->name = NULL;
	describe(out, &command.words, 1, error);
	fclose(out);
	language_release(&command);
	return text;
}

static void help_tells_what_the_tables_say(void **state)
{
	static const struct {
		const char *line, *contains;
	} rows[] = {
	        {"help",
	         "  port NAME [device TEXT] [SETTING...] a port, and the DPDK device behind it"},
	        {"help port",
	         "  rx-latency TIME          time that the device takes until weir stamps "},
	        {"help cloud", "  paint TIME [RATE] [shape square|round] [glossy] [heated on|off] "
	                       "[bucket LIMIT] [from TEXT]\n      puts paint on packets\n"},
	        {"help cloud paint",
	         "  TIME                     how long it dries; 0s to 86400s\n"},
	        {"help paint",
	         "  RATE                     how fast it flows; 1bit to 1mbit; 1kbit if not "
	         "given\n"},
	        {"help paint", "  shape square|round       of the brush; round if not given\n"},
	        {"help paint", "  glossy                   it shines\n"},
	        {"help paint", "  bucket LIMIT             how much there is; more than 0\n"},
	        {"help spill", "cloud NAME spill every N size SIZE\n"},
	        {"help cloud spill random", "cloud NAME spill random PROBABILITY\n"},
	        {"help show", "show workers"},
	        {"help units", "mbit"},
	};
	struct language_error error;

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		char *text = helped(rows[i].line, &error);

		if (strstr(text, rows[i].contains) == NULL)
			fail_msg("%s: %s", rows[i].line, text);
		free(text);
	}
}

static void help_for_an_unknown_word_names_the_nearest(void **state)
{
	struct language_error error;
	char *text = helped("help cloud piant", &error);

	(void)state;
	assert_string_equal(text, "");
	assert_string_equal(error.text, "no help for `piant`; did you mean `paint`?");
	assert_int_equal(error.column, 12);
	free(text);
}

static void the_manual_page_names_every_field(void **state)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	manual_print(out);
	fclose(out);
	assert_non_null(strstr(text, ".SS spill every\n"));
	assert_non_null(strstr(text, "\\fBbucket\\fR \\fILIMIT\\fR\nhow much there is"));
	free(text);
}

GROUP(language)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_line_edits_the_scenario),
	        cmocka_unit_test(a_statement_given_again_is_replaced_as_a_whole),
	        cmocka_unit_test(variants_of_a_statement_exclude_each_other),
	        cmocka_unit_test(statements_print_in_the_order_of_the_table),
	        cmocka_unit_test(what_is_wrong_with_a_line_is_said_with_its_column),
	        cmocka_unit_test(a_column_counts_characters),
	        cmocka_unit_test(a_long_line_and_many_words_are_refused),
	        cmocka_unit_test(queries_are_parsed_to_kinds),
	        cmocka_unit_test(what_is_printed_loads_to_the_same_bytes),
	        cmocka_unit_test(a_file_may_end_without_a_line_end_and_may_come_from_windows),
	        cmocka_unit_test(an_error_in_a_file_is_said_with_line_and_column),
	        cmocka_unit_test(a_file_with_a_zero_byte_is_refused),
	        cmocka_unit_test(a_file_that_is_not_there_is_said),
	        cmocka_unit_test(completion_offers_what_may_follow),
	        cmocka_unit_test(help_tells_what_the_tables_say),
	        cmocka_unit_test(help_for_an_unknown_word_names_the_nearest),
	        cmocka_unit_test(the_manual_page_names_every_field),
	};

	return cmocka_run_group_tests_name("language", tests, NULL, NULL);
}
