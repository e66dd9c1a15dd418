/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of tc-netem(8): the statements that they become, and their errors. tc's treatment of units
 * and shortened words was tried with iproute2 6.1.
 */
#include "runner/group.h"
#include "trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "language/language.h"
#include "language/scenario_file.h"
#include "netem/netem_value.h"
#include "random/chance.h"

#define PORTS "port a\nport b\ncloud x from a to b\n"

/* Returns the statements of cloud x of a scenario with this line, each on a line. The caller frees
 * them. */
static char *became(const char *before, const char *line)
{
	char text[2000], message[SCENARIO_FILE_ERROR], *printed;
	struct scenario *scenario;

	snprintf(text, sizeof(text), PORTS "%s%s\n", before, line);
	if (scenario_text_load(text, strlen(text), "t", &scenario, message, sizeof(message)) != 0)
		fail_msg("%s: %s", line, message);
	printed = scenario_text(scenario);
	scenario_free(scenario);
	assert_non_null(printed);
	return printed;
}

static void assert_becomes(const char *before, const char *line, const char *wanted)
{
	char *printed = became(before, line), *at = strstr(printed, "cloud x from a to b\n");

	assert_non_null(at);
	at += strlen("cloud x from a to b\n");
	if (strcmp(at, wanted) != 0)
		fail_msg("%s\nbecame\n%snot\n%s", line, at, wanted);
	free(printed);
}

/* Every parameter of the manual, shortened, with tc's units and initial values. */
static void a_line_becomes_the_statements_that_it_says(void **state)
{
	static const struct {
		const char *line, *wanted;
	} rows[] = {
	        {"delay 100ms", "cloud x delay 100ms\n"},
	        {"delay 100", "cloud x delay 100us\n"},
	        {"latency 1.5ms", "cloud x delay 1.5ms\n"},
	        {"la 1sec", "cloud x delay 1s\n"},
	        {"d 10MSECS", "cloud x delay 10ms\n"},
	        {"delay 1e3ms", "cloud x delay 1s\n"},
	        {"delay 4ns", "cloud x delay 4ns\n"},
	        {"delay 100ms 10ms", "cloud x delay 100ms jitter 10ms distribution uniform order "
	                             "allow\n"},
	        {"delay 100ms 10ms 25%", "cloud x delay 100ms jitter 10ms distribution uniform "
	                                 "correlation 25% order allow\n"},
	        {"del 40000 5000 di normal", "cloud x delay 40ms jitter 5ms distribution normal "
	                                     "order allow\n"},
	        {"distribution pareto delay 40ms 5ms", "cloud x delay 40ms jitter 5ms distribution "
	                                               "pareto order allow\n"},
	        {"delay 5ms 1ms dist paretonormal", "cloud x delay 5ms jitter 1ms distribution "
	                                            "paretonormal order allow\n"},
	        {"delay 10ms 2ms delay 20ms", "cloud x delay 20ms jitter 2ms distribution uniform "
	                                      "order allow\n"},
	        {"delay 3s 3s", "cloud x delay 3s jitter 3s distribution uniform order allow\n"},
	        {"loss 1", "cloud x loss random 1%\n"},
	        {"lo 0.3%", "cloud x loss random 0.3%\n"},
	        {"loss 0%", "cloud x loss random 0%\n"},
	        {"drop 100", "cloud x loss random 100%\n"},
	        {"loss random 1% 25", "cloud x loss random 1% correlation 25%\n"},
	        {"loss 1% ecn", "cloud x loss random 1% ecn\n"},
	        {"e loss 1%", "cloud x loss random 1% ecn\n"},
	        {"loss state 1%",
	         "cloud x loss four-state p13 1% p31 99% p32 0% p23 100% p14 0%\n"},
	        {"loss state 1% 30% 5% 80% 2%",
	         "cloud x loss four-state p13 1% p31 30% p32 5% p23 80% p14 2%\n"},
	        {"loss gemodel 1%", "cloud x loss gilbert-elliott p 1% r 99% bad 100% good 0%\n"},
	        {"loss gemodel 1% 10% 70% 0.1% ecn",
	         "cloud x loss gilbert-elliott p 1% r 10% bad 70% good 0.1% ecn\n"},
	        {"corrupt 1% 20%", "cloud x corrupt random 1% correlation 20%\n"},
	        {"c 1", "cloud x corrupt random 1%\n"},
	        {"duplicate 100%", "cloud x duplicate random 100%\n"},
	        {"du 1% 20", "cloud x duplicate random 1% correlation 20%\n"},
	        {"reorder 25% 50% gap 5 delay 10ms", "cloud x delay 10ms\ncloud x reorder 25% 50% "
	                                             "gap 5\n"},
	        {"r 25% delay 10ms", "cloud x delay 10ms\ncloud x reorder 25%\n"},
	        {"reorder 0% delay 10ms", "cloud x delay 10ms\n"},
	        {"g 0x10 re 1% del 1s", "cloud x delay 1s\ncloud x reorder 1% gap 16\n"},
	        {"rate 1mbit", "cloud x rate 1mbit\n"},
	        {"ra 1000", "cloud x rate 1kbit\n"},
	        {"rate 1mbps", "cloud x rate 8mbit\n"},
	        {"rate 1KiBit", "cloud x rate 1024bit\n"},
	        {"rate 1mbit limit 10k", "cloud x rate 1mbit queue 10240pkt\n"},
	        {"l 5 rate 0.5gbit", "cloud x rate 500mbit queue 5pkt\n"},
	        {"limit 1000 loss 1%", "cloud x loss random 1%\n"},
	        {"delay 10ms limit 1000", "cloud x delay 10ms limit 1000pkt\n"},
	        {"limit 1k delay 10ms 1ms",
	         "cloud x delay 10ms jitter 1ms distribution uniform order allow limit 1024pkt\n"},
	        {"rate 1mbit limit 50 delay 1s",
	         "cloud x rate 1mbit queue 50pkt\ncloud x delay 1s limit 50pkt\n"},
	        {"delay 100ms 10ms 25% distribution normal loss 0.3% 25% duplicate 1% corrupt 0.1% "
	         "reorder 25% 50% gap 5 rate 10mbit",
	         "cloud x loss random 0.3% correlation 25%\ncloud x duplicate random 1%\n"
	         "cloud x corrupt random 0.1%\ncloud x rate 10mbit\n"
	         "cloud x delay 100ms jitter 10ms distribution normal correlation 25% order allow\n"
	         "cloud x reorder 25% 50% gap 5\n"},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		char line[300];

		snprintf(line, sizeof(line), "cloud x netem %s", rows[i].line);
		assert_becomes("", line, rows[i].wanted);
	}
}

static void slots_overhead_and_cells_are_weirs(void **state)
{
	(void)state;
	assert_becomes("", "cloud x netem rate 5kbit 20 100 5",
	               "cloud x rate 5kbit overhead 20 cell 100B cell-overhead 5B\n");
	assert_becomes("", "cloud x netem rate 1mbit -14", "cloud x rate 1mbit overhead -14\n");
	assert_becomes("", "cloud x netem ra 1mbit 0 48 5 l 10",
	               "cloud x rate 1mbit queue 10pkt cell 48B cell-overhead 5B\n");
	assert_becomes("", "cloud x netem slot 800", "cloud x slots min 800ns max 800ns\n");
	assert_becomes("", "cloud x netem s 1ms 5ms pa 3 bytes 10k",
	               "cloud x slots min 1ms max 5ms packets 3 bytes 10KiB\n");
	assert_becomes("", "cloud x netem slot distribution uniform 5ms 1ms limit 50",
	               "cloud x slots min 4ms max 6ms queue 50pkt\n");
	assert_becomes("", "cloud x netem slot 61s 61s rate 1mbit delay 5ms",
	               "cloud x rate 1mbit\ncloud x slots min 61s max 61s\ncloud x delay 5ms\n");
	assert_becomes("cloud x slots min 1ms max 2ms\n", "cloud x netem delay 1ms",
	               "cloud x delay 1ms\n");
}

static void exact_keeps_netems_recurrence(void **state)
{
	(void)state;
	assert_becomes("", "cloud x netem-exact loss 1% 25% duplicate 1% 10% corrupt 2% 5%",
	               "cloud x loss random 1% correlation 25% as-netem\n"
	               "cloud x duplicate random 1% correlation 10% as-netem\n"
	               "cloud x corrupt random 2% correlation 5% as-netem\n");
	assert_becomes("", "cloud x netem-exact delay 10ms 2ms 25% reorder 5% 20% gap 3",
	               "cloud x delay 10ms jitter 2ms distribution uniform correlation 25% order "
	               "allow as-netem\ncloud x reorder 5% 20% gap 3 as-netem\n");
	assert_becomes("", "cloud x netem-exact loss 1%", "cloud x loss random 1%\n");
}

/* The line replaces everything that netem has; statements that netem does not have stay. */
static void a_line_takes_the_place_of_what_netem_has(void **state)
{
	(void)state;
	assert_becomes("cloud x loss every 5\ncloud x delay 1ms\ncloud x rate 1mbit\n"
	               "cloud x police 1mbit burst 15kB\ncloud x reorder every 2\n",
	               "cloud x netem duplicate 1%",
	               "cloud x duplicate random 1%\ncloud x police 1mbit burst 15kB\n");
	assert_becomes("cloud x netem delay 5ms loss 1%\n", "cloud x loss every 7",
	               "cloud x loss every 7\ncloud x delay 5ms\n");
}

static void what_it_became_can_be_loaded_again(void **state)
{
	char *printed =
	        became("", "cloud x netem delay 100ms 10ms 25% distribution normal loss gemodel "
	                   "1% 10% 70% corrupt 1% 3% reorder 5% seed 7");
	char message[SCENARIO_FILE_ERROR], *again;
	struct scenario *scenario;

	(void)state;
	assert_memory_equal(printed, "seed 7\n", 7);
	assert_int_equal(scenario_text_load(printed, strlen(printed), "t", &scenario, message,
	                                    sizeof(message)),
	                 0);
	again = scenario_text(scenario);
	assert_string_equal(printed, again);
	scenario_free(scenario);
	free(again);
	free(printed);
}

/* The place of the error, and the correction. */
static void what_is_wrong_is_said_with_its_place(void **state)
{
	static const struct {
		const char *before, *line, *message;
	} rows[] = {
	        {"", "netem delya 1ms",
	         "t:4:15: netem does not know `delya`; did you mean `delay`?"},
	        {"", "netem jitter 5ms", "t:4:15: netem does not know `jitter`; it knows"},
	        {"", "netem delay 10 ms", "t:4:24: netem does not know `ms`"},
	        {"", "netem delay",
	         "t:4:21: the netem line ends too early; what must follow is delay"},
	        {"", "netem delay 1m", "t:4:21: delay `1m` is not a time as in tc"},
	        {"", "netem delay -5ms", "t:4:21: delay `-5ms` is not a time"},
	        {"", "netem delay 86401s",
	         "t:4:21: delay `86401s` is not a time as in tc, at most a day"},
	        {"", "netem loss 101%", "t:4:20: loss `101%` is not a percentage"},
	        {"", "netem loss 1%%", "t:4:20: loss `1%%` is not a percentage"},
	        {"", "netem loss rand 1%", "t:4:20: loss `rand` is not a percentage, `random`"},
	        {"", "netem loss 1% loss 2%", "t:4:23: a loss was given already"},
	        {"", "netem loss state 1% 130%", "t:4:29: p31 `130%` is not"},
	        {"", "netem loss state 60% 60% 50%",
	         "t:4:15: cloud `x`, `loss`: p31 and p32 are more"},
	        {"", "netem ecn", "t:4:15: ecn marks packets that a loss has chosen"},
	        {"", "netem loss 0% ecn", "t:4:23: ecn marks"},
	        {"", "netem reorder 25%", "t:4:15: packets that are sent at once"},
	        {"", "netem delay 1ms gap 5", "t:4:25: a gap lies between"},
	        {"", "netem delay 1ms distribution normal", "t:4:25: a distribution needs"},
	        {"", "netem delay 9ms 1ms distribution nosuch",
	         "t:4:29: there is no table `nosuch`"},
	        {"", "netem delay 9ms 1ms distribution ./nosuch.dist",
	         "t:4:29: the file `./nosuch.dist` cannot be read"},
	        {"", "netem rate 1mb", "t:4:20: rate `1mb` is not a rate as in tc"},
	        {"", "netem rate 5%", "t:4:20: rate `5%` is not a rate; a share"},
	        {"", "netem rate 500gbit", "t:4:15: rate `500000000000bit` is out of range"},
	        {"", "netem slot 5ms 1ms", "t:4:24: the slot's maximum `1ms` is not"},
	        {"", "netem slot distribution normal 5ms 1ms",
	         "t:4:15: slots are spread evenly here"},
	        {"", "netem rate 1mbit 0 48 -5", "t:4:15: cell-overhead"},
	        {"", "netem seed x", "t:4:20: seed `x` is not a whole number"},
	        {"seed 5\n", "netem seed 6 delay 1ms",
	         "t:5:15: the scenario has the seed 5 already"},
	        {"", "netem", "t:4:15: the line ends too early; what must follow is a line of"},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		char text[400], message[SCENARIO_FILE_ERROR];
		struct scenario *scenario;

		snprintf(text, sizeof(text), "%s" PORTS "cloud x %s\n", rows[i].before,
		         rows[i].line);
		assert_int_equal(scenario_text_load(text, strlen(text), "t", &scenario, message,
		                                    sizeof(message)),
		                 -EINVAL);
		if (strncmp(message, rows[i].message, strlen(rows[i].message)) != 0)
			fail_msg("%s\n%s\nnot\n%s", rows[i].line, message, rows[i].message);
	}
}

static void both_figures_are_said_where_netem_misses_its_words(void **state)
{
	static const struct {
		const char *line, *said; /* NULL: no message */
	} rows[] = {
	        {"cloud x netem loss 1%", NULL},
	        {"cloud x netem loss 1% 25%", "loss 1% 25%: with netem's recurrence 0.000242% of "
	                                      "the packets are lost; here it is "
	                                      "1%"},
	        {"cloud x netem delay 1ms reorder 25% 50%",
	         "reorder 25% 50%: with netem's recurrence 6.94% of the packets are sent at once; "
	         "here it is 25%"},
	        {"cloud x netem-exact duplicate 10% 25%",
	         "duplicate 10% 25%: netem's recurrence is kept: 1.75% of the packets are "
	         "sent "
	         "twice, not 10%"},
	        {"cloud x netem delay 9ms 1ms 25%", "delay with the correlation 25%: netem's"},
	        {"cloud x netem limit 5", "limit 5: has no effect: no packet is held here"},
	        {"cloud x netem limit 5 delay 1ms", NULL},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct language_error error;
		struct command command;

		assert_int_equal(language_parse(rows[i].line, &command, &error), 0);
		assert_int_equal(command.kind, COMMAND_NETEM);
		if (rows[i].said)
			assert_memory_equal(command.netem->remarks, rows[i].said,
			                    strlen(rows[i].said));
		else
			assert_string_equal(command.netem->remarks, "");
		language_release(&command);
	}
}

/* ---- the recurrence ---- */

/* The values were computed elsewhere, with integers of unlimited length. */
static void the_recurrence_is_that_of_32_bit_numbers(void **state)
{
	static const uint32_t fresh[] = {0, 0xffffffff, 0x80000000, 0xdeadbeef};
	static const struct {
		probability_q63 correlation;
		uint32_t rho, x[4];
	} rows[] = {
	        {0, 0x00000000, {0x00000000, 0xffffffff, 0x80000000, 0xdeadbeef}},
	        {PROBABILITY_ONE / 4, 0x40000000, {0x048d159e, 0xc1234565, 0x9048d159, 0xcb148389}},
	        {PROBABILITY_ONE / 2, 0x80000000, {0x091a2b3c, 0x848d159c, 0x82468ace, 0xb07a24de}},
	        {PROBABILITY_ONE, 0xffffffff, {0x12345678, 0x12345678, 0x12345678, 0x12345678}},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct netem_recurrence r = {
		        .rho = netem_share(rows[i].correlation), .last = 0x12345678, .begun = true};

		assert_int_equal(r.rho, rows[i].rho);
		for (size_t k = 0; k < LENGTH(fresh); k++)
			assert_int_equal(
			        netem_recurrence_next(&r, UINT64_C(0xabcdef) << 32 | fresh[k]),
			        rows[i].x[k]);
	}
}

/* 0 % and 100 % are never and always; 0.25 % of a fresh number is 0.25 %. */
static void netems_shares_are_those_of_32_bits(void **state)
{
	struct netem_chance never = netem_chance_make(0, PROBABILITY_ONE / 2);
	struct netem_chance always = netem_chance_make(PROBABILITY_ONE, PROBABILITY_ONE / 2);

	(void)state;
	assert_int_equal(netem_share(PROBABILITY_ONE), UINT32_MAX);
	assert_int_equal(netem_share(0), 0);
	for (uint64_t i = 0; i < 1000; i++) {
		assert_false(netem_chance_next(&never, i * UINT64_C(0x9E3779B97F4A7C15)));
		assert_true(netem_chance_next(&always, i * UINT64_C(0x9E3779B97F4A7C15)));
	}
}

static void what_netem_makes_of_a_share_is_symmetric_and_exact_at_the_ends(void **state)
{
	(void)state;
	assert_true(netem_rate(0, 0.3) == 0 && netem_rate(1, 0.3) == 1);
	assert_true(netem_rate(0.1, 0) == 0.1 && netem_rate(0.1, 1) == 0.1);
	assert_true(fabs(netem_rate(0.5, 0.7) - 0.5) < 1e-4);
	assert_true(fabs(netem_rate(0.2, 0.4) + netem_rate(0.8, 0.4) - 1) < 1e-9);
	/* near a correlation of 1, normal: 0.1 is 4.87 deviations from the middle */
	assert_true(fabs(netem_rate(0.4, 0.99) / 5.13e-7 - 1) < 0.01);
	assert_true(netem_rate(0.1, 0.9999) == 0);
	/* u + u'/2 + ... below 2p, p <= 1/4: 1/2 needs F(p) = integral of F to 2p */
	assert_true(fabs(netem_rate(0.25, 0.5) - 0.069444) < 1e-4);
}

/* ---- marking instead of dropping ---- */

struct seen {
	uint64_t n;
	uint8_t frame[FRAME_BYTES_MAX];
};

static void look(void *argument, struct rte_mbuf *mbuf)
{
	struct seen *seen = argument;

	seen->n++;
	memcpy(seen->frame, rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, seen->frame), mbuf->pkt_len);
}

/* Returns the byte of the header with the ECN bits, to set or to read them. */
static uint8_t *ecn_byte(uint8_t *frame, const struct frame_shape *shape)
{
	return frame + frame_network(shape) + 1;
}

static uint32_t ecn_shift(const struct frame_shape *shape)
{
	return shape->ip == 4 ? 0 : 4;
}

/* Makes a frame with these ECN bits, and the header checksum that they need. */
static uint32_t frame_with_ecn(uint8_t *frame, const struct frame_shape *shape, uint8_t codepoint)
{
	uint32_t bytes = frame_make(frame, shape), sum = 0;
	uint8_t *ip = frame + frame_network(shape);

	*ecn_byte(frame, shape) |= (uint8_t)(codepoint << ecn_shift(shape));
	if (shape->ip != 4)
		return bytes;
	ip[10] = ip[11] = 0;
	for (uint32_t i = 0; i < (ip[0] & 15u) * 4; i += 2)
		sum += (uint32_t)ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
	return bytes;
}

static void ecn_marks_what_can_be_marked_and_loses_the_rest(void **state)
{
	static const char *const losses[] = {
	        "loss random 100% ecn",
	        "loss gilbert-elliott p 100% r 0% ecn",
	        "loss four-state p13 100% p31 0% ecn",
	};
	static const struct frame_shape shapes[] = {
	        {.ip = 4, .protocol = FRAME_TCP, .payload_bytes = 10},
	        {.ip = 4, .protocol = FRAME_UDP, .n_tags = 2, .option_words = 3},
	        {.ip = 6, .protocol = FRAME_TCP, .n_tags = 1},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(losses) * LENGTH(shapes) * RIG_SHAPES; i++) {
		const struct frame_shape *shape = &shapes[i / LENGTH(losses) % LENGTH(shapes)];
		struct trial *trial = trial_open(losses[i % LENGTH(losses)], 1);
		struct seen seen = {0};
		uint8_t frame[FRAME_BYTES_MAX];

		trial->shape = (enum rig_shape)(i / LENGTH(losses) / LENGTH(shapes));
		/* headers are searched in the first segment, which is too short here */
		if (trial->shape == RIG_SEGMENTED)
			trial->shape = RIG_PLAIN;
		trial->look = look;
		trial->argument = &seen;
		for (uint8_t codepoint = 0; codepoint < 4; codepoint++) {
			uint32_t bytes = frame_with_ecn(frame, shape, codepoint);

			seen.n = 0;
			trial_send_frame(trial, frame, bytes);
			assert_int_equal(seen.n, codepoint != 0);
			if (codepoint == 0)
				continue;
			assert_int_equal(*ecn_byte(seen.frame, shape) >> ecn_shift(shape) & 3, 3);
			assert_int_equal(frame_wrong_sums(seen.frame, shape), 0);
			/* nothing else is touched */
			*ecn_byte(frame, shape) |= (uint8_t)(3 << ecn_shift(shape));
			if (shape->ip == 4)
				memcpy(frame + frame_network(shape) + 10,
				       seen.frame + frame_network(shape) + 10, 2);
			assert_memory_equal(seen.frame, frame, bytes);
		}
		assert_int_equal(trial_counters(trial)->ecn_marked, 2); /* one was marked already */
		assert_int_equal(trial_counters(trial)->drops[REASON_LOSS], 1);
		trial_close(trial);
	}
}

static void what_is_no_ip_is_lost_with_ecn_too(void **state)
{
	struct trial *trial = trial_open("loss random 100% ecn", 1);

	(void)state;
	trial_send(trial, 100, 60);
	assert_int_equal(trial_count(trial, TRIAL_LOST), 100);
	assert_int_equal(trial_counters(trial)->ecn_marked, 0);
	trial_close(trial);
}

static void bursts_do_not_matter_to_netems_recurrence(void **state)
{
	static const char *const rows[] = {
	        "loss random 30% correlation 50% as-netem",
	        "loss random 30% correlation 50% ecn",
	        "duplicate random 30% correlation 50% as-netem",
	        "corrupt random 30% correlation 50% as-netem",
	        "corrupt random 30% correlation 50%",
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++)
		trial_assert_bursts_agree(rows[i], 2000, 60);
}

GROUP(netem)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_line_becomes_the_statements_that_it_says),
	        cmocka_unit_test(slots_overhead_and_cells_are_weirs),
	        cmocka_unit_test(exact_keeps_netems_recurrence),
	        cmocka_unit_test(a_line_takes_the_place_of_what_netem_has),
	        cmocka_unit_test(what_it_became_can_be_loaded_again),
	        cmocka_unit_test(what_is_wrong_is_said_with_its_place),
	        cmocka_unit_test(both_figures_are_said_where_netem_misses_its_words),
	        cmocka_unit_test(the_recurrence_is_that_of_32_bit_numbers),
	        cmocka_unit_test(netems_shares_are_those_of_32_bits),
	        cmocka_unit_test(what_netem_makes_of_a_share_is_symmetric_and_exact_at_the_ends),
	        cmocka_unit_test(ecn_marks_what_can_be_marked_and_loses_the_rest),
	        cmocka_unit_test(what_is_no_ip_is_lost_with_ecn_too),
	        cmocka_unit_test(bursts_do_not_matter_to_netems_recurrence),
	};

	return cmocka_run_group_tests_name("netem", tests, rig_group_setup, rig_group_teardown);
}
