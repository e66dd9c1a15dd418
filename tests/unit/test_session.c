/* SPDX-License-Identifier: BSD-3-Clause */
/* The conversation on the control socket: bytes in, answers out. The emulator is a fake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "runner/group.h"
#include "service/peer.h"
#include "socket/keep.h"
#include "talk.h"

#define SCENARIO                                                                                   \
	"seed 42\nport a\nport b\ncloud down from a to b\ncloud up from b to a\n"                  \
	"cloud down loss random 0.1%\ncloud down rate 10mbit queue 90kB\n"                         \
	"cloud down delay 40ms jitter 2ms\n"

static int talk_start(void **state)
{
	return talk_begin(state, SCENARIO);
}

/* Returns the answer to these bytes. The caller frees it. */
static char *say_bytes(struct talk *talk, const void *bytes, size_t n)
{
	const char *output;
	char *answer;
	size_t waiting;

	assert_int_equal(session_feed(talk->session, bytes, n), n);
	output = session_output(talk->session, &waiting);
	answer = strndup(output, waiting);
	session_taken(talk->session, waiting);
	return answer;
}

static char *say(struct talk *talk, const char *text)
{
	return say_bytes(talk, text, strlen(text));
}

static void expect(struct talk *talk, const char *text, const char *expected)
{
	char *answer = say(talk, text);

	assert_string_equal(answer, expected);
	free(answer);
}

static void expect_begins(struct talk *talk, const char *text, const char *expected)
{
	char *answer = say(talk, text);

	if (strncmp(answer, expected, strlen(expected)) != 0)
		fail_msg("said %s\nexpected %s...\nheard    %s", text, expected, answer);
	free(answer);
}

static uint32_t statements_of(const struct talk *talk, const char *cloud)
{
	int index = scenario_find_cloud(talk->fake.scenario, cloud);

	return talk->fake.scenario->clouds[index]->n_confs;
}

static void a_line_is_executed_when_its_end_has_come(void **state)
{
	struct talk *talk = *state;

	expect(talk, "no cloud do", "");
	expect(talk, "wn loss", "");
	assert_int_equal(talk->fake.changes, 0);
	expect(talk, "\n", "was: loss random 0.1%\nok\n");
	assert_int_equal(talk->fake.changes, 1);
	assert_int_equal(statements_of(talk, "down"), 2);
}

static void many_commands_in_one_write_are_answered_in_order(void **state)
{
	struct talk *talk = *state;

	expect(talk,
	       "cloud up delay 1ms\r\n\n# a comment\ncommit\nclear counters\njson on\njson off\n",
	       "was: no delay\nok\nok\nok\nerr commit: no batch has begun; say begin "
	       "first\nok\n{\"ok\":true}\nok\n");
	assert_int_equal(talk->fake.changes, 1);
	assert_int_equal(talk->fake.clears, 1);
}

/* In the words of the language: a statement as it was, or that it was not there. Lines of a batch
 * do not say it: they take effect together, at commit. */
static void a_change_is_answered_with_what_it_has_replaced(void **state)
{
	static const struct {
		const char *line, *was;
	} cases[] = {
	        {"cloud down delay 80ms", "delay 40ms jitter 2ms"},
	        {"cloud down delay 80ms", ""}, /* it changes nothing */
	        {"cloud down loss gilbert-elliott p 1% r 50%", "loss random 0.1%"},
	        {"cloud up delay 5ms", "no delay"},
	        {"no cloud up delay", "delay 5ms"},
	        {"cloud up delay off", ""},
	        {"cloud down rewrite 2 set ip.ttl 64", "no rewrite 2"},
	        {"cloud down rewrite 2 off", "rewrite 2 set ip.ttl 64"},
	        {"cloud up at 1s loss random 1%", "no at"},
	        {"cloud up at 2s loss random 2%", ""}, /* one more */
	        {"no cloud up at", "at 1s loss random 1%\nat 2s loss random 2%"},
	        {"cloud new from a to b match udp", "no cloud new"},
	        {"cloud new delay 1ms", "no delay"},
	        {"no cloud new", "cloud new from a to b match udp\ncloud new delay 1ms"},
	};
	struct talk *talk = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[200], *answer, expected[200] = "";
		const char *was = cases[i].was;

		while (*was != '\0') {
			int n = (int)strcspn(was, "\n");

			snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected),
			         "was: %.*s\n", n, was);
			was += n + (was[n] == '\n');
		}
		strcat(expected, "ok\n");
		snprintf(line, sizeof(line), "%s\n", cases[i].line);
		answer = say(talk, line);
		if (strcmp(answer, expected) != 0)
			fail_msg("%s\nexpected %s\nheard    %s", line, expected, answer);
		free(answer);
	}
	expect(talk, "json on\ncloud down delay 90ms\nno cloud down rate\ncloud up delay off\n",
	       "{\"ok\":true}\n{\"ok\":true,\"was\":\"delay 80ms\"}\n"
	       "{\"ok\":true,\"was\":\"rate 10mbit queue 90kB\"}\n{\"ok\":true}\n");
	expect(talk, "begin\ncloud down delay 1ms\ncommit\n",
	       "{\"ok\":true}\n{\"ok\":true}\n{\"ok\":true}\n");
}

/* The answer comes at once, also in a batch, where the line takes effect at commit. An error of the
 * whole is reported at the word of the line that caused it. */
static void a_netem_line_is_answered_with_what_it_becomes(void **state)
{
	struct talk *talk = *state;

	expect(talk, "cloud down netem delay 20ms loss 1% 25%\n",
	       "# was: loss random 0.1%\n# was: rate 10mbit queue 90kB\n"
	       "# was: delay 40ms jitter 2ms\n"
	       "cloud down loss random 1% correlation 25%\ncloud down delay 20ms\n"
	       "# loss 1% 25%: with netem's recurrence 0.000242% of the packets are lost; here it "
	       "is 1%, as in the line\nok\n");
	assert_int_equal(talk->fake.changes, 1);
	assert_int_equal(statements_of(talk, "down"), 2);
	expect(talk, "begin\ncloud up netem loss 2%\n", "ok\ncloud up loss random 2%\nok\n");
	assert_int_equal(statements_of(talk, "up"), 0);
	expect(talk, "commit\n", "ok\n");
	assert_int_equal(statements_of(talk, "up"), 1);
	expect(talk, "json on\ncloud up netem dup 3\njson off\n",
	       "{\"ok\":true}\n{\"ok\":true,\"was\":\"loss random 2%\\nno "
	       "duplicate\",\"became\":\"cloud up duplicate random 3%\\n\"}\nok\n");
	expect_begins(talk, "cloud down netem delay 20ms loss 120%\n",
	              "err 120%: loss `120%` is not");
	expect_begins(talk, "cloud down netem loss state 9% 60% 50%\n", "err down: ");
	assert_int_equal(talk->fake.changes, 3);
}

static void an_error_names_the_word_that_is_wrong(void **state)
{
	static const struct {
		const char *line, *answer;
	} cases[] = {
	        {"show cloud dwon\n", "err dwon: "},
	        {"cloud dwon loss random 1%\n", "err dwon: "},
	        {"cloud down loss randm 1%\n", "err randm: "},
	        {"cloud down loss random\n", "err down: "},
	        {"cloud down from a to b\n", "err down: "},
	        {"cloud new from a to c\n", "err c: "},
	        {"cloud down delay 40\n", "err 40: "},
	        {"frobnicate\n", "err frobnicate: "},
	        {"show config please\n", "err please: "},
	        {"cloud down loss random \"1 %\"\n", "err down: "},
	        {"commit\n", "err commit: "},
	        {"abort\n", "err abort: "},
	        {"\x1b[2J\n", "err line: "},
	        {"cloud \xff\n", "err line: "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_begins(*state, cases[i].line, cases[i].answer);
	assert_int_equal(((struct talk *)*state)->fake.changes, 0);
}

static void a_line_longer_than_64_KiB_is_refused_and_skipped_to_its_end(void **state)
{
	struct talk *talk = *state;
	size_t n = SESSION_LINE_MAX + 10;
	char *line = malloc(n + 1);

	memset(line, 'x', n);
	line[n] = '\0';
	for (size_t step = 1; step < n; step = step * 7 + 1000) {
		char *answer = NULL;

		for (size_t at = 0; at < n; at += step) {
			char *part = say_bytes(talk, line + at, at + step < n ? step : n - at);

			if (part[0] != '\0' && answer == NULL)
				answer = part;
			else
				free(part);
		}
		assert_non_null(answer);
		assert_string_equal(answer,
		                    "err line: longer than 65536 bytes, skipped up to its end; "
		                    "send one command per line\n");
		free(answer);
		expect(talk, "xxx\nclear counters\n", "ok\n");
	}
	free(line);
}

static void a_line_of_64_KiB_is_still_taken_as_one(void **state)
{
	struct talk *talk = *state;
	char *line = malloc(SESSION_LINE_MAX + 3);

	memset(line, '#', SESSION_LINE_MAX);
	strcpy(line + SESSION_LINE_MAX, "\r\n");
	expect_begins(talk, line, "err line: "); /* the language takes 4096 bytes a line */
	strcpy(line + SESSION_LINE_MAX, "x\n");
	expect_begins(talk, line, "err line: longer than 65536 bytes");
	free(line);
}

static void a_byte_0_in_a_line_is_refused(void **state)
{
	char *answer = say_bytes(*state, "clear\0 counters\n", 16);

	assert_string_equal(answer,
	                    "err line: not a line of text: it contains a zero byte; send UTF-8 "
	                    "text\n");
	free(answer);
	assert_int_equal(((struct talk *)*state)->fake.clears, 0);
}

static void a_line_that_is_cut_off_is_not_executed(void **state)
{
	struct talk *talk = *state;
	const char *output;
	size_t n;

	expect(talk, "cloud down loss every 10", ""); /* ... 00 never came */
	session_end(talk->session);
	output = session_output(talk->session, &n);
	assert_memory_equal(output, "err line: not ended by a newline", 32);
	assert_true(session_over(talk->session));
	assert_int_equal(talk->fake.changes, 0);
}

static void a_batch_takes_effect_at_commit_and_at_once(void **state)
{
	struct talk *talk = *state;

	expect(talk, "begin\ncloud up delay 1ms\ncloud up loss random 1%\nno cloud down delay\n",
	       "ok\nok\nok\nok\n");
	assert_int_equal(talk->fake.changes, 0);
	assert_int_equal(statements_of(talk, "up"), 0);
	expect(talk, "commit\n", "ok\n");
	assert_int_equal(talk->fake.changes, 1);
	assert_int_equal(statements_of(talk, "up"), 2);
	assert_int_equal(statements_of(talk, "down"), 2);
}

static void a_batch_with_one_wrong_line_changes_nothing(void **state)
{
	struct talk *talk = *state;

	expect(talk, "begin\ncloud up delay 1ms\n", "ok\nok\n");
	expect_begins(talk, "cloud up los random 1%\n", "err los: line 2: ");
	expect(talk, "cloud up rate 1mbit\n", "ok\n");
	expect_begins(talk, "commit\n",
	              "err commit: line 2: this line was wrong, so the batch was not applied");
	assert_int_equal(talk->fake.changes, 0);
	assert_int_equal(statements_of(talk, "up"), 0);
	expect_begins(talk, "commit\n", "err commit: no batch");
}

static void a_batch_that_is_wrong_as_a_whole_names_the_line(void **state)
{
	struct talk *talk = *state;

	expect(talk, "begin\n# one\ncloud up rate 1mbit algorithm token-bucket\n", "ok\nok\nok\n");
	expect_begins(talk, "commit\n", "err up: line 2: ");
	assert_int_equal(talk->fake.changes, 0);
}

static void an_aborted_batch_is_forgotten(void **state)
{
	struct talk *talk = *state;

	expect(talk, "begin\nno cloud up\nabort\n", "ok\nok\nok\n");
	assert_int_equal(talk->fake.scenario->n_clouds, 2);
	expect(talk, "begin\ncommit\n", "ok\nok\n");
	assert_int_equal(talk->fake.changes, 0);
	expect_begins(talk, "begin\nbegin\n", "ok\nerr begin: ");
}

static void counters_are_not_cleared_in_a_batch(void **state)
{
	struct talk *talk = *state;

	expect(talk, "begin\ncloud up delay 1ms\nclear counters\n",
	       "ok\nok\nerr clear: line 2: `clear counters` takes effect at once, so it cannot be "
	       "part of a batch; commit or abort it first\n");
	expect_begins(talk, "commit\n", "err commit: line 2: ");
	expect(talk, "begin whole\n", "ok\n");
	expect_begins(talk, "clear counters\n", "err clear: ");
	expect(talk, "abort\n", "ok\n");
	assert_int_equal(talk->fake.clears, 0);
	expect(talk, "clear counters\n", "ok\n");
	assert_int_equal(talk->fake.clears, 1);
}

static void a_refused_change_leaves_the_scenario_as_it_was(void **state)
{
	struct talk *talk = *state;
	const struct scenario *before = talk->fake.scenario;

	talk->fake.refuse = true;
	expect(talk, "cloud up delay 1s\n",
	       "err up: the memory would not do: 3 GB of 1 GB; nothing is changed\n");
	expect(talk, "begin\ncloud up delay 1s\ncloud down delay 1s\ncommit\n",
	       "ok\nok\nok\n"
	       "err scenario: the memory would not do: 3 GB of 1 GB; nothing is changed\n");
	assert_ptr_equal(talk->fake.scenario, before);
	talk->fake.refuse = false;
	expect(talk, "cloud up delay 1s\n", "was: no delay\nok\n");
}

static void a_batch_keeps_what_another_client_changed_meanwhile(void **state)
{
	struct talk *talk = *state;
	struct talk other = {.session = session_make(&talk->fake.control)};

	expect(talk, "begin\ncloud up delay 1ms\n", "ok\nok\n");
	expect(&other, "cloud down loss random 5%\ncloud up loss random 2%\n",
	       "was: loss random 0.1%\nok\nwas: no loss\nok\n");
	expect(talk, "commit\n", "ok\n");
	assert_int_equal(statements_of(talk, "up"), 2);
	expect(talk, "begin\ncloud up rate 1mbit\n", "ok\nok\n");
	expect_begins(&other, "no cloud up\n", "was: cloud up from b to a\nwas: ");
	expect_begins(talk, "commit\n", "err up: line 1: ");
	assert_int_equal(talk->fake.scenario->n_clouds, 1);
	session_free(other.session);
}

struct answered {
	struct talk *talk;
	uint32_t asked;
	size_t waiting;
};

static bool note_what_waits(void *argument)
{
	struct answered *answered = argument;

	answered->asked++;
	session_output(answered->talk->session, &answered->waiting);
	return true;
}

/* A file that weir opens may be on a disk that does not answer. So what was answered before is sent
 * first, and a batch that is executed again in its turn opens nothing. */
static void a_file_of_a_batch_is_opened_once_and_outside_of_its_turn(void **state)
{
	struct talk *talk = *state;
	struct talk other = {.session = session_make(&talk->fake.control)};
	struct answered answered = {.talk = talk};
	char path[] = "/tmp/weir-batch-XXXXXX", line[100];
	int fd = mkstemp(path);

	assert_int_equal(write(fd, "3\n8\n", 4), 4);
	close(fd);
	session_introduce(talk->session, &(struct peer){.known = false}, false, true);
	expect(talk, "begin\n", "ok\n");
	session_attend(talk->session, &(struct asker){note_what_waits, &answered}, -1);
	snprintf(line, sizeof(line), "cloud up delay 1ms\ncloud up loss list %s\n", path);
	expect(talk, line, "ok\nok\n");
	assert_int_equal(answered.asked, 1);
	assert_int_equal(answered.waiting, 3);
	expect(&other, "cloud down delay 5ms\n", "was: delay 40ms jitter 2ms\nok\n");
	assert_int_equal(unlink(path), 0);
	expect(talk, "commit\n", "ok\n");
	assert_int_equal(statements_of(talk, "up"), 2);
	/* The next line opens it anew. */
	snprintf(line, sizeof(line), "cloud down loss list %s\n", path);
	expect_begins(talk, line, "err ");
	session_free(other.session);
}

/* ---- a whole scenario ---- */

static void a_whole_batch_takes_the_place_of_what_is_in_force(void **state)
{
	struct talk *talk = *state;
	char *text;

	expect(talk,
	       "begin whole\nport b\nport a\ncloud down from a to b\ncloud down delay 5ms\n"
	       "clouds many from b to a per source 10.0.0.0/24\ncommit\n",
	       "ok\nok\nok\nok\nok\nok\nok\n");
	assert_int_equal(talk->fake.changes, 1);
	text = say(talk, "show config\n");
	assert_string_equal(text, "seed 42\nport a\nport b\ncloud down from a to b\n"
	                          "cloud down delay 5ms\n"
	                          "clouds many from b to a per source 10.0.0.0/24\nok\n");
	free(text);
}

static void a_whole_batch_with_one_wrong_line_changes_nothing(void **state)
{
	struct talk *talk = *state;
	const struct scenario *before = talk->fake.scenario;

	expect(talk, "begin whole\nport a\nport b\n", "ok\nok\nok\n");
	expect_begins(talk, "cloud down delay 5ms\n", "err down: line 3: there is no cloud `down`");
	expect_begins(talk, "commit\n", "err commit: line 3: ");
	expect(talk, "begin whole\nno cloud down\n",
	       "ok\nerr down: line 1: there is no cloud `down`, nor any other; first write: cloud "
	       "NAME from PORT to PORT\n");
	expect(talk, "abort\n", "ok\n");
	talk->fake.refuse = true;
	expect(talk, "begin whole\nport a\nport b\ncommit\n",
	       "ok\nok\nok\nerr scenario: the memory would not do: 3 GB of 1 GB; nothing is "
	       "changed\n");
	assert_ptr_equal(talk->fake.scenario, before);
	assert_int_equal(talk->fake.changes, 0);
}

static void what_cannot_change_is_named_line_by_line_in_one_message(void **state)
{
	struct talk *talk = *state;
	const struct scenario *before = talk->fake.scenario;

	expect(talk, "begin whole\n# mine\nseed 43\nport a device net_null0\nport c\ncommit\n",
	       "ok\nok\nok\nok\nok\nerr scenario: while packets flow this cannot change: line 2, "
	       "seed 43 (it runs with 42); line 3, port a (differs from the running one); line 4, "
	       "port c (a "
	       "new one); port b, which is in use, has no line; nothing is changed: leave "
	       "these as they run, or restart weir with the file\n");
	expect_begins(talk, "begin whole\ncommit\n",
	              "ok\nerr scenario: while packets flow this cannot change: port a, which "
	              "is in use, has no line; port b, ");
	assert_ptr_equal(talk->fake.scenario, before);
}

/* More names than a message has room for: the message still ends properly. */
static void of_very_many_things_that_cannot_change_the_first_are_named(void **state)
{
	struct talk *talk = *state;
	char line[64], *answer;

	expect(talk, "begin whole\n", "ok\n");
	for (int i = 0; i < SCENARIO_PORTS_MAX; i++) {
		snprintf(line, sizeof(line), "port p%d-with-a-name-of-31-letters\n", i);
		expect(talk, line, "ok\n");
	}
	answer = say(talk, "commit\n");
	assert_non_null(strstr(answer, "line 8, port p7-with-a-name-of-31-letters (a new one); "
	                               "and 58 more; nothing is changed"));
	assert_null(strstr(answer, "p8-"));
	free(answer);
}

/* What another client has changed meanwhile is not in the file: the file counts. */
static void a_whole_batch_does_not_keep_what_another_client_changed_meanwhile(void **state)
{
	struct talk *talk = *state;
	struct talk other = {.session = session_make(&talk->fake.control)};

	expect(talk, "begin whole\nport a\nport b\n", "ok\nok\nok\n");
	expect(&other, "cloud down loss random 5%\n", "was: loss random 0.1%\nok\n");
	expect(talk, "commit\n", "ok\n");
	assert_int_equal(talk->fake.scenario->n_clouds, 0);
	session_free(other.session);
}

/* ---- the file that weir was started with ---- */

struct heard {
	char text[2000];
	uint32_t lines;
};

static void hear(void *argument, enum run_log_level level, const char *line)
{
	struct heard *heard = argument;
	(void)level;

	heard->lines++;
	snprintf(heard->text, sizeof(heard->text), "%s", line);
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void a_file_is_read_again_whole_or_not_at_all(void **state)
{
	static const struct {
		const char *text, *said;
	} rows[] = {
	        {"port a\nport b\ncloud down from a to b\n", ": reloaded, and in force"},
	        {"\xef\xbb\xbfport a\r\nport b\r\n", ": reloaded, and in force"},
	        {"port a\nport b\n\ncloud down from a to c\n", ":4:22: there is no port `c`"},
	        {"port a\nport b\ncloud x from a to b\ncloud x rate 1mbit algorithm "
	         "token-bucket\n",
	         ":4:30: cloud `x`, `rate`: "},
	        {"seed 7\nport a\nport b\n", "cannot change: line 1, seed 7 (it runs with 42); "},
	        {"", "port a, which is in use, has no line; "},
	        {NULL, "cannot be read: No such file or directory (the scenario in force stays)"},
	};
	struct talk *talk = *state;
	char folder[] = "/tmp/weir-reload-XXXXXX", path[64];
	struct heard heard = {.lines = 0};
	struct reload reload;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/mine.weir", folder);
	reload_init(&reload, &talk->fake.control, path, hear, &heard);
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct scenario *before = talk->fake.scenario;

		if (rows[i].text)
			write_file(path, rows[i].text);
		else
			unlink(path);
		reload_now(&reload);
		assert_int_equal(heard.lines, i + 1);
		assert_non_null(strstr(heard.text, path));
		if (strstr(heard.text, rows[i].said) == NULL)
			fail_msg("said %s\nexpected %s", heard.text, rows[i].said);
		assert_true((talk->fake.scenario == before) == (i >= 2));
	}
	assert_int_equal(talk->fake.changes, 2);
	rmdir(folder);
}

/* If a reload is requested while another is in progress, one more follows. The worker takes nothing
 * until all were requested. */
static void what_is_asked_for_meanwhile_is_done_afterwards(void **state)
{
	struct talk *talk = *state;
	struct control *control = &talk->fake.control;
	char path[] = "/tmp/weir-reload-XXXXXX";
	struct heard heard = {.lines = 0};
	struct reload reload;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	write_file(path, "port a\nport b\n");
	fake_use_threads(&talk->fake);
	reload_init(&reload, control, path, hear, &heard);
	control_lock(control);
	talk->fake.stands_still = true;
	control_unlock(control);
	for (int i = 0; i < 5; i++)
		reload_ask(&reload);
	control_lock(control);
	assert_int_equal(heard.lines, 0);
	talk->fake.stands_still = false;
	control_unlock(control);
	assert_true(control_join(control, 60 * SIMTIME_S));
	assert_int_equal(heard.lines, 2);
	assert_int_equal(talk->fake.changes, 2);
	unlink(path);
}

static void a_reload_that_does_not_end_is_told(void **state)
{
	struct talk *talk = *state;
	struct control *control = &talk->fake.control;
	char path[] = "/tmp/weir-reload-XXXXXX";
	struct heard heard = {.lines = 0};
	struct reload reload;

	close(mkstemp(path));
	write_file(path, "port a\nport b\n");
	fake_use_threads(&talk->fake);
	reload_init(&reload, control, path, hear, &heard);
	__atomic_store_n(&talk->fake.holds, true, __ATOMIC_RELAXED);
	reload_watch(&reload, 60 * SIMTIME_S);
	reload_ask(&reload);
	for (uint64_t ms = 0; ms < 30000; ms += 100) {
		reload_watch(&reload, 60 * SIMTIME_S + ms * SIMTIME_MS);
		assert_int_equal(heard.lines, ms >= 20000);
	}
	assert_non_null(strstr(heard.text, ": not reloaded after 20 s: its disk does not answer"));
	__atomic_store_n(&talk->fake.holds, false, __ATOMIC_RELAXED);
	assert_true(control_join(control, 60 * SIMTIME_S));
	assert_non_null(strstr(heard.text, ": reloaded, and in force"));
	for (uint64_t ms = 0; ms < 30000; ms += 100)
		reload_watch(&reload, 100 * SIMTIME_S + ms * SIMTIME_MS);
	assert_int_equal(heard.lines, 2);
	unlink(path);
}

static void show_config_loads_again_to_the_same_text(void **state)
{
	struct talk *talk = *state, again = {.session = NULL};
	char *first = say(talk, "show config\n"), *second;

	assert_string_equal(first + strlen(first) - 4, "\nok\n");
	first[strlen(first) - 3] = '\0';
	assert_true(fake_start(&again.fake, first));
	again.session = session_make(&again.fake.control);
	second = say(&again, "show config\n");
	second[strlen(second) - 3] = '\0';
	assert_string_equal(first, second);
	session_free(again.session);
	fake_stop(&again.fake);
	free(first);
	free(second);
}

static void in_json_mode_every_answer_is_one_object_on_a_line(void **state)
{
	static const char *const lines[] = {
	        "show cloud",
	        "show cloud down",
	        "show config",
	        "show ports",
	        "show workers",
	        "help",
	        "help cloud loss",
	        "clear counters",
	        "cloud up delay 1ms",
	        "",
	        "# comment",
	        "begin",
	        "cloud up delay",
	        "commit",
	        "show cloud \"a b\"",
	        "\xff\xfe",
	        "a\tb\"c\\d",
	        "cloud \xc3\xa9 loss",
	        "\x01",
	        "json on",
	        "seed x",
	        "help frobnicate",
	};
	struct talk *talk = *state;

	expect(talk, "json on\n", "{\"ok\":true}\n");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char line[128], *answer;
		json_error_t error;
		json_t *object;

		snprintf(line, sizeof(line), "%s\n", lines[i]);
		answer = say(talk, line);
		assert_non_null(strchr(answer, '\n'));
		assert_string_equal(strchr(answer, '\n'), "\n");
		object = json_loads(answer, 0, &error);
		if (object == NULL)
			fail_msg("%s: %s: %s", lines[i], answer, error.text);
		assert_true(json_is_object(object));
		json_decref(object);
		free(answer);
	}
}

static void a_json_error_has_name_column_and_message(void **state)
{
	struct talk *talk = *state;
	char *answer = say(talk, "json on\ncloud dwon loss random 1%\n");
	json_t *object = json_loads(strchr(answer, '\n'), 0, NULL);
	const char *name, *message;
	int ok, column;

	assert_int_equal(json_unpack(object, "{s:b,s:{s:s,s:i,s:s}}", "ok", &ok, "error", "name",
	                             &name, "column", &column, "message", &message),
	                 0);
	assert_false(ok);
	assert_string_equal(name, "dwon");
	assert_int_equal(column, 7);
	assert_non_null(strstr(message, "down"));
	json_decref(object);
	free(answer);
}

static void answers_that_are_not_taken_stop_the_execution(void **state)
{
	struct talk *talk = *state;
	const char *line = "help\n";
	size_t n = strlen(line), waiting;
	unsigned answered = 0;

	while (session_feed(talk->session, line, n) == n)
		assert_true(++answered < 1000000);
	assert_false(session_ready(talk->session));
	session_output(talk->session, &waiting);
	assert_true(waiting >= SESSION_OUTPUT_MAX && waiting < SESSION_OUTPUT_MAX + 65536);
	session_taken(talk->session, 65536);
	assert_true(session_ready(talk->session));
	session_taken(talk->session, waiting - 65536);
	session_output(talk->session, &waiting);
	assert_int_equal(waiting, 0);
}

static void quit_ends_the_conversation_and_what_follows_is_not_executed(void **state)
{
	struct talk *talk = *state;
	const char *text = "quit\nclear counters\n";

	assert_int_equal(session_feed(talk->session, text, strlen(text)), 5);
	assert_true(session_over(talk->session));
	assert_int_equal(talk->fake.clears, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, talk_start, talk_stop)

GROUP(session)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_line_is_executed_when_its_end_has_come),
	        TEST(many_commands_in_one_write_are_answered_in_order),
	        TEST(a_change_is_answered_with_what_it_has_replaced),
	        TEST(a_netem_line_is_answered_with_what_it_becomes),
	        TEST(an_error_names_the_word_that_is_wrong),
	        TEST(a_line_longer_than_64_KiB_is_refused_and_skipped_to_its_end),
	        TEST(a_line_of_64_KiB_is_still_taken_as_one),
	        TEST(a_byte_0_in_a_line_is_refused),
	        TEST(a_line_that_is_cut_off_is_not_executed),
	        TEST(a_batch_takes_effect_at_commit_and_at_once),
	        TEST(a_batch_with_one_wrong_line_changes_nothing),
	        TEST(a_batch_that_is_wrong_as_a_whole_names_the_line),
	        TEST(an_aborted_batch_is_forgotten),
	        TEST(counters_are_not_cleared_in_a_batch),
	        TEST(a_refused_change_leaves_the_scenario_as_it_was),
	        TEST(a_batch_keeps_what_another_client_changed_meanwhile),
	        TEST(a_file_of_a_batch_is_opened_once_and_outside_of_its_turn),
	        TEST(show_config_loads_again_to_the_same_text),
	        TEST(a_whole_batch_takes_the_place_of_what_is_in_force),
	        TEST(a_whole_batch_with_one_wrong_line_changes_nothing),
	        TEST(what_cannot_change_is_named_line_by_line_in_one_message),
	        TEST(of_very_many_things_that_cannot_change_the_first_are_named),
	        TEST(a_whole_batch_does_not_keep_what_another_client_changed_meanwhile),
	        TEST(a_file_is_read_again_whole_or_not_at_all),
	        TEST(what_is_asked_for_meanwhile_is_done_afterwards),
	        TEST(a_reload_that_does_not_end_is_told),
	        TEST(in_json_mode_every_answer_is_one_object_on_a_line),
	        TEST(a_json_error_has_name_column_and_message),
	        TEST(answers_that_are_not_taken_stop_the_execution),
	        TEST(quit_ends_the_conversation_and_what_follows_is_not_executed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
