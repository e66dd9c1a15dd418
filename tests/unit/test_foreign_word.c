/* SPDX-License-Identifier: BSD-3-Clause */
/* The words that people bring from other tools, in every place where they can be typed, and what
 * the answer names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "command.h"
#include "language/language.h"
#include "language/scenario_file.h"
#include "runner/group.h"
#include "said.h"
#include "statements.h"
#include "talk.h"
#include "text/foreign_word.h"
#include "text/statement_text.h"

#define ROWS(array) (sizeof(array) / sizeof((array)[0]))
#define TEXT_MAX    16384
#define TOP         "port a\nport b\ncloud down from a to b\ncloud up from b to a\n"

static char folder[] = "/tmp/weir-test-foreign-XXXXXX";
static char scenario_path[64];

static int make_folder(void **state)
{
	(void)state;
	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(scenario_path, sizeof(scenario_path), "%s/x.weir", folder);
	/* A scenario with a name, as it is found from here. */
	return chdir(folder) || mkdir("configs", 0700) || mknod("configs/wifi.weir", 0600, 0);
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(scenario_path);
	unlink("configs/wifi.weir");
	return rmdir("configs") || chdir("/") || rmdir(folder);
}

static int start(void **state)
{
	return talk_begin(state, TOP "cloud down rate 10mbit queue 60kB\ncloud down loss random "
	                             "0.1%\ncloud down delay 40ms\n");
}

/* ---- the places where they can be typed ---- */

/* Runs `weir LINE`; in the line, `|` separates the words. */
static int run(const char *line, char *text)
{
	char copy[1000], *words[24] = {(char *)(uintptr_t) "weir"};
	int argc = 1, status;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *at = copy, *word; argc < 23 && (word = strsep(&at, "|"));)
		words[argc++] = word;
	said_begin(stdout);
	said_begin(stderr);
	status = command_main(argc, words);
	said_end(stderr, text, TEXT_MAX);
	said_end(stdout, text + strlen(text), TEXT_MAX - strlen(text));
	return status;
}

static int in_file(const char *line, char *text)
{
	FILE *file = fopen(scenario_path, "w");
	char command[100];

	assert_non_null(file);
	fprintf(file, "%s%s\n", TOP, line);
	fclose(file);
	snprintf(command, sizeof(command), "check|-c|%s", scenario_path);
	return run(command, text);
}

/* Sends a line to the socket. Returns 2 if it is refused. */
static int on_socket(struct talk *talk, const char *line, char *text)
{
	const char *output;
	size_t waiting;

	session_feed(talk->session, line, strlen(line));
	session_feed(talk->session, "\n", 1);
	output = session_output(talk->session, &waiting);
	snprintf(text, TEXT_MAX, "%.*s", (int)waiting, output);
	session_taken(talk->session, waiting);
	return strncmp(text, "err", 3) == 0 ? 2 : 0;
}

enum { FILES = 1, SOCKET = 2, EXEC = 4, COMMAND = 8, LINES = FILES | SOCKET };

/* Gives these words behind the name of a cloud, in one of the places. */
static int behind_cloud(struct talk *talk, int place, const char *words, char *text)
{
	char line[400];

	snprintf(line, sizeof(line), "%s%s%s", place == EXEC ? "exec|" : "cloud down ", words,
	         place == EXEC ? "|--|true" : "");
	if (place == EXEC)
		return run(line, text);
	return place == FILES ? in_file(line, text) : on_socket(talk, line, text);
}

/* ---- mistakes ---- */

static void what_people_type_who_come_from_elsewhere_is_answered_with_the_right_word(void **state)
{
	static const struct {
		const char *typed, *says;
	} rows[] = {
	        /* those of the issue */
	        {"latency 40ms", "in weir it is `delay 40ms`"},
	        {"bandwidth 2mbit", "in weir it is `rate 2mbit`"},
	        {"jitter 3ms", "in weir it is `delay 40ms jitter 3ms`"},
	        {"queue 90kB", "in weir it is `rate 10mbit queue 90kB`"},
	        {"limit 1000", "in weir it is `rate 10mbit queue 100pkt`"},
	        {"mtu 1300", "in weir it is `hop 192.0.2.1 mtu 1300`"},
	        {"drop 5%", "in weir it is `loss 5%`"},
	        {"rate 10Mbps", "write 10mbit or 80mbit; tc counts bytes with it"},
	        {"delay 40ms jitter off", "leave `jitter` out"},
	        {"loss random 1 ecn", "as a fraction it is 100%, in netem 1%"},
	        {"match udp", "cloud NAME from PLACE to PORT match udp port 53"},
	        {"priority 3", "cloud NAME from PLACE to PORT priority 10"},
	        /* others: names of other tools */
	        {"packet-loss 10%", "in weir it is `loss 10%`"},
	        {"Packet_Loss 10%", "in weir it is `loss 10%`"},
	        {"bw 1gbit", "in weir it is `rate 1gbit`"},
	        {"rtt 80ms", "a round trip is the delay of two clouds"},
	        {"dup 1%", "in weir it is `duplicate 1%`"},
	        {"corruption 1%", "in weir it is `corrupt 1%`"},
	        {"buffer 90kB", "in weir it is `rate 10mbit queue 90kB`"},
	        {"ber 1e-9", "in weir it is `corrupt bit-error 1e-9`"},
	        {"blackhole", "in weir it is `down`"},
	        {"fair-queue", "in weir it is `fq-codel`"},
	        {"loss gemodel 1% 10%", "in weir it is `loss gilbert-elliott p 1% r 30%`"},
	        {"loss state 1%", "in weir it is `loss four-state p13 1% p31 30%`"},
	        {"at 3s latency 9ms", "in weir it is `delay 9ms`"},
	        {"netem bandwidth 1mbit", "did you mean `rate`?"},
	        /* a word of another statement */
	        {"delay 40ms bandwidth 2mbit", "in weir it is `rate 2mbit`"},
	        {"rate 10mbit limit 9pkt", "in weir it is `rate 10mbit queue 9pkt`"},
	        {"half-life 3s", "`half-life` is not a statement but a word of `delay`"},
	        /* positions instead of names */
	        {"delay 40ms 10ms", "says what it is: `jitter`"},
	        {"rate 10mbit 60kB", "`queue`"},
	        /* slips */
	        {"dealy 40ms", "did you mean `delay`?"},
	        {"los 1%", "did you mean `loss`?"},
	        {"DELAY 40ms", "did you mean `delay`?"},
	        {"delay 40ms JITTER 5ms", "in weir it is `delay 40ms jitter 5ms`"},
	        {"delay 40MS", "did you mean `ms`?"},
	        {"delay 40ms jiter 5ms", "did you mean `jitter`?"},
	        {"latncy 40ms", "in weir it is `delay 40ms`"},
	        /* units and values */
	        {"rate 1Gbps", "write 1gbit or 8gbit"},
	        {"rate 10Mb", "write 10mbit"},
	        {"rate 10M", "write 10mbit"},
	        {"rate 100kB/s", "write 800kbit"},
	        {"delay 40msec", "write 40ms"},
	        {"delay 2minutes", "write 120s"},
	        {"delay 40\xc2\xb5s", "write 40us"},
	        {"rate 10mbit queue 15KB", "write 15kB or 15KiB"},
	        {"rate 10mbit queue 100packets", "write 100pkt"},
	        {"delay 40ms jitter 5ms distribution gaussian", "did you mean `normal`?"},
	        {"ecn yes", "did you mean `on`?"},
	        {"delay 40ms off", "`off` stands alone after a statement: `delay off`"},
	        /* probabilities */
	        {"loss 1", "`loss 1` has two readings: as a fraction it is 100%, in netem 1%"},
	        {"loss 0.1", "as a fraction it is 10%, in netem 0.1%"},
	        {"loss 250", "from 0% to 100%"},
	        {"duplicate random 1", "write 100% or 1%"},
	        {"loss bit-error 1", "write 100% or 1%"},
	        {"loss gilbert-elliott p 1 r 30%", "write 100% or 1%"},
	        {"wave loss 0%..1 period 9s", "write 100% or 1%"},
	        {"markov a 1s to b 1 then b 1s down", "write 100% or 1%"},
	        {"loss random 5", "percent are written 5%"},
	};
	static const int places[] = {FILES, SOCKET, EXEC};
	char text[TEXT_MAX];

	for (size_t i = 0; i < ROWS(rows) * ROWS(places); i++) {
		const char *typed = rows[i / ROWS(places)].typed,
		           *says = rows[i / ROWS(places)].says;
		int status = behind_cloud(*state, places[i % ROWS(places)], typed, text);

		if (status != 2 && !(places[i % ROWS(places)] == EXEC && status == 125))
			fail_msg("%s: status %d: %s", typed, status, text);
		if (strstr(text, says) == NULL)
			fail_msg("%s: %s", typed, text);
	}
}

static void other_beginnings_of_a_line_or_a_command_are_answered_with_the_right_one(void **state)
{
	static const struct {
		int places;
		const char *typed, *says;
	} rows[] = {
	        {LINES, "latency 40ms", "in weir it is `cloud NAME delay 40ms`"},
	        {LINES, "delay 40ms", "write: cloud NAME delay ..."},
	        {LINES, "40ms", "`cloud NAME delay 40ms`"},
	        {LINES, "show stats", "in weir it is `show cloud`"},
	        {LINES, "show interfaces", "in weir it is `show ports`"},
	        {LINES, "show running-config", "in weir it is `show config`"},
	        /* only exec accepts these */
	        {LINES, "cloud down 40ms", "needs the statement before it: `delay 40ms`"},
	        {LINES, "cloud down 10mbit", "needs the statement before it: `rate 10mbit`"},
	        {LINES, "cloud down 3%", "needs the statement before it: `loss random 3%`"},
	        {LINES, "set delay 40ms", "in weir it is `cloud NAME delay 40ms`"},
	        {LINES, "del delay", "in weir it is `no cloud NAME delay`"},
	        {LINES, "no cloud down latency", "did you mean `delay`?"},
	        {LINES, "interface eth1", "in weir it is `port NAME interface eth1`"},
	        {LINES, "qdisc add dev eth1 root netem delay 1ms", "cloud NAME netem"},
	        {LINES, "port c eth1", "write: port c interface eth1"},
	        {LINES, "cloud x a to b", "did you mean: cloud x from a to b"},
	        {LINES, "cloud x a -> b", "did you mean: cloud x from a to b"},
	        {SOCKET, "help latency", "in weir it is `delay 40ms`"},
	        {COMMAND, "latency|40ms", "in weir it is `weir exec delay 40ms -- COMMAND`"},
	        {COMMAND, "delay|40ms", "write: weir exec delay ... -- COMMAND"},
	        {COMMAND, "start", "in weir it is `weir run -c FILE`"},
	        {COMMAND, "stats", "in weir it is `weir ctl show cloud`"},
	        {COMMAND, "mm-delay|40", "in weir it is `weir exec delay 40ms -- COMMAND`"},
	        {COMMAND, "run|lab.weir", "lab.weir: cannot be opened: No such file or directory"},
	        {COMMAND, "chekc", "did you mean `check`?"},
	        {COMMAND, "help|bandwidth", "in weir it is `rate 10mbit`"},
	        {COMMAND, "exec|--latency=250ms|--|true", "have no dashes: delay 250ms"},
	        {COMMAND, "exec|--delay|40ms|--|true", "have no dashes: delay 40ms"},
	        {COMMAND, "exec|delay|40|sh|x", "if `sh` is the command, write `--` before it"},
	        {COMMAND, "exec|40|sh|x", "`40ms` is a delay, `40mbit` a rate, `40%` a loss"},
	        {COMMAND, "exec|sh|-c|true", "if `sh` is the command, write `--` before it"},
	        {COMMAND, "40ms|1%|no-such-ping|-c|3|198.18.0.1",
	         "if `no-such-ping` is the command, there is no such program here"},
	        {COMMAND, "exec|wfi|--|true", "did you mean `wifi`?"},
	};
	char text[TEXT_MAX];

	for (size_t i = 0; i < ROWS(rows); i++) {
		for (int place = FILES; place <= COMMAND; place *= 2) {
			int status = 2;

			if (!(rows[i].places & place))
				continue;
			if (place == FILES)
				status = in_file(rows[i].typed, text);
			else if (place == SOCKET)
				status = on_socket(*state, rows[i].typed, text);
			else
				status = run(rows[i].typed, text);
			if ((status != 2 && status != 125) || strstr(text, rows[i].says) == NULL)
				fail_msg("%s: status %d: %s", rows[i].typed, status, text);
		}
	}
}

/* ---- short forms that are accepted ---- */

static void what_can_mean_one_thing_only_is_taken_and_printed_as_weir_writes_it(void **state)
{
	static const char *const rows[][2] = {
	        {"loss 1%", "loss random 1%"},
	        {"loss 0.5% correlation 25%", "loss random 0.5% correlation 25%"},
	        {"duplicate 1%", "duplicate random 1%"},
	        {"corrupt 0.1% bits 2", "corrupt random 0.1% bits 2"},
	        {"at 3s loss 2%", "at 3s loss random 2%"},
	        {"at 3s loss off", "at 3s no loss"},
	        {"at 3s delay 2ms and loss off", "at 3s delay 2ms and no loss"},
	        {"rate 10Mbit", "rate 10mbit"},
	        {"rate 10Mbit/s queue 60kB", "rate 10mbit queue 60kB"},
	        {"rate 1.5Gbit/s", "rate 1.5gbit"},
	        {"rate 64kbit/s", "rate 64kbit"},
	        {"rate 800bit/s", "rate 800bit"},
	        {"wave rate 1Mbit/s..10Mbit/s period 9s", "wave rate 1mbit..10mbit period 9s"},
	        {"loss random 0", "loss random 0%"},
	        {"loss random 0.01", "loss random 1%"},
	        /* A weight or a factor is no probability. */
	        {"red min 15kB max 45kB weight 1", "red min 15kB max 45kB weight 100%"},
	        {"class voice weight 1 match udp", "class voice weight 100% match udp"},
	        {"ecn off", "ecn off"},
	};
	char text[TEXT_MAX], expected[200];

	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct scenario *scenario;
		char *printed;

		snprintf(text, sizeof(text), TOP "cloud down %s\n", rows[i][0]);
		/* Some statements need a queue or an AQM; only the words matter here. */
		if (strncmp(rows[i][0], "red", 3) == 0)
			strcat(text, "cloud down rate 10mbit queue 60kB\n");
		if (strncmp(rows[i][0], "class", 5) == 0)
			strcat(text, "cloud down rate 10mbit\ncloud down class other\n");
		if (strncmp(rows[i][0], "ecn", 3) == 0 || strncmp(rows[i][0], "wave rate", 9) == 0)
			strcat(text, "cloud down rate 10mbit queue 60kB\ncloud down codel\n");
		if (scenario_text_load(text, strlen(text), "t", &scenario, expected,
		                       sizeof(expected)) != 0)
			fail_msg("%s: %s", rows[i][0], expected);
		printed = scenario_text(scenario);
		snprintf(expected, sizeof(expected), "cloud down %s\n", rows[i][1]);
		if (strstr(printed, expected) == NULL)
			fail_msg("%s: %s", rows[i][0], printed);
		free(printed);
		scenario_free(scenario);
	}
}

static void a_statement_that_is_off_is_not_there(void **state)
{
	static const char *const rows[][2] = {
	        {"cloud down loss random 1%\ncloud down delay 40ms\ncloud down loss off\n",
	         "cloud down delay 40ms\n"},
	        {"cloud down loss off\ncloud down delay 40ms\n", "cloud down delay 40ms\n"},
	        {"cloud down rewrite set ip.ttl 9\ncloud down rewrite 20 set ip.ttl 8\n"
	         "cloud down rewrite 20 off\n",
	         "cloud down rewrite 1 set ip.ttl 9\n"},
	        {"cloud down rewrite set ip.ttl 9\ncloud down rewrite 20 set ip.ttl 8\n"
	         "cloud down rewrite off\n",
	         ""},
	        {"cloud down rewrite set ip.ttl 9\ncloud down rewrite 7 off\n",
	         "cloud down rewrite 1 set ip.ttl 9\n"},
	        {"cloud down trace off\n", ""},
	        {"cloud down delay 40ms\nno cloud down delay\n", ""},
	};
	char text[TEXT_MAX], message[SCENARIO_FILE_ERROR];
	struct talk *talk = *state;

	for (size_t i = 0; i < ROWS(rows); i++) {
		struct scenario *scenario;
		char *printed, expected[400];

		snprintf(text, sizeof(text), "port a\nport b\ncloud down from a to b\n%s",
		         rows[i][0]);
		if (scenario_text_load(text, strlen(text), "t", &scenario, message,
		                       sizeof(message)) != 0)
			fail_msg("%s: %s", rows[i][0], message);
		printed = scenario_text(scenario);
		snprintf(expected, sizeof(expected), "port a\nport b\ncloud down from a to b\n%s",
		         rows[i][1]);
		assert_string_equal(printed, expected);
		free(printed);
		scenario_free(scenario);
	}
	/* At run time, too; and once more when the loss is gone. */
	assert_int_equal(on_socket(talk, "cloud down loss off", text), 0);
	assert_int_equal(on_socket(talk, "show config", text), 0);
	assert_null(strstr(text, "loss"));
	assert_int_equal(on_socket(talk, "cloud down loss off", text), 0);
	assert_int_equal(on_socket(talk, "no cloud down loss", text), 2);
	assert_int_equal(on_socket(talk, "cloud dwon loss off", text), 2);
	assert_non_null(strstr(text, "did you mean `down`?"));
}

/* ---- the table itself ---- */

static void every_line_that_the_table_names_is_one_that_weir_takes(void **state)
{
	uint32_t n = 0;

	(void)state;
	for (const struct foreign_word *row = foreign_words; row->words; row++) {
		char line[FOREIGN_TEXT_BYTES + 20], text[FOREIGN_TEXT_BYTES], words[200], *rest;
		struct language_error error = {.text = ""};
		struct command command;

		snprintf(words, sizeof(words), "%s", row->words);
		for (char *word = strtok_r(words, "|", &rest); word;
		     word = strtok_r(NULL, "|", &rest)) {
			assert_false(statement_named(word) && row->place == FOREIGN_STATEMENT);
			assert_ptr_equal(foreign_word_find(row->place, word), row);
			n++;
		}
		if (row->place == FOREIGN_VALUE || row->place == FOREIGN_COMMAND)
			continue;
		if (row->place == FOREIGN_LINE)
			snprintf(line, sizeof(line), "%s", row->write);
		else if (!foreign_word_write(row, NULL, text))
			fail_msg("%s: no such statement: %s", row->words, row->write);
		else
			snprintf(line, sizeof(line), "%s%s",
			         strncmp(text, "cloud ", 6) == 0 ? "" : "cloud NAME ", text);
		if (language_parse(line, &command, &error) != 0)
			fail_msg("%s: %s: %s", row->words, line, error.text);
		language_release(&command);
	}
	assert_in_range(n, 90, 1000);
}

static void every_value_that_the_table_names_is_one_of_some_field(void **state)
{
	(void)state;
	for (const struct foreign_word *value = foreign_words; value->words; value++) {
		bool found = value->place != FOREIGN_VALUE || strcmp(value->write, "on") == 0 ||
		             strcmp(value->write, "off") == 0;

		for (const struct statement *const *row = statements; *row; row++) {
			const struct field *field = (*row)->fields;

			for (; field->name; field++) {
				for (uint32_t i = 0; field->words && field->words[i]; i++)
					found |= strcmp(field->words[i], value->write) == 0;
			}
		}
		if (!found)
			fail_msg("%s: %s is a word of no field", value->words, value->write);
	}
}

static void help_explains_fields_places_and_every_subcommand(void **state)
{
	static const char *const rows[][2] = {
	        {"match", "match udp port 53"},
	        {"priority", "order in which clouds are tried: the lowest first"},
	        {"PLACE", "cloud core from access to b"},
	        {"SELECTION", "priority N"},
	        {"source", "a cloud for each source address in this prefix"},
	        {"jitter", "cloud NAME delay TIME"},
	        {"clouds", "destination TEXT"},
	        {"cloud", "match TEXT"},
	        {"rx-latency", "port NAME"},
	};
	static const char *const commands[] = {"exec", "run",   "replay", "check",
	                                       "ctl",  "bench", "lab",    "help"};
	char text[TEXT_MAX], same[TEXT_MAX], line[40];

	for (size_t i = 0; i < ROWS(rows); i++) {
		snprintf(line, sizeof(line), "help|%s", rows[i][0]);
		assert_int_equal(run(line, text), 0);
		assert_non_null(strstr(text, rows[i][1]));
		snprintf(line, sizeof(line), "help %s", rows[i][0]);
		assert_int_equal(on_socket(*state, line, text), 0);
		assert_non_null(strstr(text, rows[i][1]));
	}
	for (size_t i = 0; i < ROWS(commands); i++) {
		snprintf(line, sizeof(line), "help|%s", commands[i]);
		assert_int_equal(run(line, text), 0);
		snprintf(line, sizeof(line), "%s|--help", commands[i]);
		assert_int_equal(run(line, same), 0);
		assert_string_equal(text, same);
		assert_non_null(strstr(text, "usage: weir "));
	}
}

static void a_unit_of_bits_a_second_is_worth_the_same_in_every_spelling(void **state)
{
	static const char *const same[] = {"kbit", "Kbit", "kbit/s", "Kbit/s", "kb", "kb/s", "K"};
	struct foreign_unit unit;

	(void)state;
	for (size_t i = 1; i < ROWS(same); i++) {
		assert_true(foreign_unit_find(units_rate, same[i], &unit));
		assert_int_equal(unit.factor[0], 1000);
	}
	assert_true(foreign_unit_find(units_rate, "gbps", &unit));
	assert_int_equal(unit.n, 2);
	assert_int_equal(unit.factor[1], 8000000000);
	assert_true(foreign_unit_find(units_bytes, "MB", &unit));
	assert_int_equal(unit.factor[0], 1000000);
	assert_int_equal(unit.factor[1], 1048576);
	assert_false(foreign_unit_find(units_time, "kbit", &unit));
	assert_false(foreign_unit_find(units_rate, "k/s", &unit));
	assert_false(foreign_unit_find(units_rate, "", &unit));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, talk_stop)

GROUP(foreign_word)
{
	const struct CMUnitTest tests[] = {
	        TEST(what_people_type_who_come_from_elsewhere_is_answered_with_the_right_word),
	        TEST(other_beginnings_of_a_line_or_a_command_are_answered_with_the_right_one),
	        TEST(what_can_mean_one_thing_only_is_taken_and_printed_as_weir_writes_it),
	        TEST(a_statement_that_is_off_is_not_there),
	        TEST(every_line_that_the_table_names_is_one_that_weir_takes),
	        TEST(every_value_that_the_table_names_is_one_of_some_field),
	        TEST(help_explains_fields_places_and_every_subcommand),
	        TEST(a_unit_of_bits_a_second_is_worth_the_same_in_every_spelling),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
