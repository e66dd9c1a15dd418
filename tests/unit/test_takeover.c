/* SPDX-License-Identifier: BSD-3-Clause */
/* An engine takes over the state and the packets of another, while packets flow, and continues as
 * the other would have: at the same instants, with the same draws, and with the same reports to its
 * witness. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "account/witness.h"
#include "engine/cloud.h"
#include "engine/engine_snapshot.h"
#include "engine/engine_state.h"
#include "link/classes.h"
#include "match/selection.h"
#include "runner/group.h"
#include "scenario/port_setting.h"
#include "schedule_rig.h"
#include "snapshot/snapshot.h"
#include "snapshot_rig.h"

static uint8_t bytes[BYTES], bytes_of_other[BYTES];

/* The state and the packets of links and lines, in addition. */
static const char *const ways[] = {
        "delay 20ms jitter 5ms correlation 60%",
        "delay 20ms jitter 5ms half-life 30ms",
        "delay 20ms jitter 5ms correlation 60% order allow",
        "delay 20ms jitter 5ms half-life 30ms order allow",
        "delay 30ms; every 100ms for 37ms delay 5ms",
        "delay 20ms limit 30pkt; rate 30mbit queue 20pkt",
        "rate 12mbit; class v weight 0.3 match 1 of 2; class rest weight 0.7",
        "reorder every 5; delay 7ms",
        "reorder random 20% by 3pkt; delay 7ms jitter 2ms",
        "reorder random 20% by 3pkt; delay 7ms jitter 2ms order allow",
        "reorder random 20% by 5ms; delay 7ms",
        "reorder 25% 50% gap 3; delay 7ms",
        "reorder 50% 90%; delay 7ms",
        "reorder 50% 99%; delay 7ms",
        "reorder 25% 50% as-netem; delay 7ms",
        "reorder 50% 99% as-netem; delay 7ms",
        "delay 20ms jitter 5ms correlation 60% as-netem order allow",
        "rate 12mbit queue 100pkt drop head; reorder every 4 wait 30ms",
        "slots min 1ms max 4ms packets 3; delay 3ms",
        "rate 12mbit algorithm token-bucket burst 20kB queue 100pkt; delay 9ms",
};

/* The other engine has the same scenario, and has received no packet. */
static void take_over(struct rig *rig, struct rig *other, const char *words)
{
	struct snapshot written = {.at = bytes, .end = bytes + BYTES}, read;

	rig_advance(rig, rig->now);
	rig_advance(other, rig->now);
	assert_null(engine_snapshot_waits(rig->engine));
	engine_snapshot(rig->engine, rig->now, &written);
	assert_false(written.failed);
	read = (struct snapshot){.at = bytes, .end = written.at, .restores = true};
	engine_snapshot(other->engine, rig->now, &read);
	if (read.failed || read.at != read.end)
		fail_msg("%s: refused", words);
	other->sent = rig->sent;
	other->cleared = rig->n_departures;
}

static void assert_go_on_alike(struct rig *rig, struct rig *other, const char *words)
{
	uint32_t departures = other->cleared;

	traffic_play(rig, BEFORE, BEFORE + BEHIND, rig->now + SIMTIME_US);
	traffic_play(other, BEFORE, BEFORE + BEHIND, other->now + SIMTIME_US);
	assert_same_departures(rig, departures, other, words);
	assert_memory_equal(&cloud_of(rig)->counters, &cloud_of(other)->counters,
	                    sizeof(struct counters));
	assert_int_equal(engine_sent(rig->engine, 1), engine_sent(other->engine, 1));
}

/* Compares the state that few packets reveal, or only a report. */
static void assert_remember_alike(struct rig *rig, struct rig *other, const char *words)
{
	const struct line *one = &cloud_of(rig)->line, *two = &cloud_of(other)->line;
	const struct reorder_back *back = &one->back, *back_of_other = &two->back;
	const struct classes *classes = cloud_of(rig)->link.classes;
	const struct classes *classes_of_other = cloud_of(other)->link.classes;
	const struct opportunity_cursor *cursor = &cloud_of(rig)->link.cursor;
	const struct opportunity_cursor *cursor_of_other = &cloud_of(other)->link.cursor;

	if (back->entered != back_of_other->entered || back->latest != back_of_other->latest ||
	    back->passed != back_of_other->passed || back->released != back_of_other->released)
		fail_msg("%s: reordering is somewhere else", words);
	if (cursor->next != cursor_of_other->next || cursor->at != cursor_of_other->at ||
	    cursor->left != cursor_of_other->left || cursor->taken != cursor_of_other->taken ||
	    cursor->served != cursor_of_other->served)
		fail_msg("%s: the trace is somewhere else", words);
	for (uint32_t i = 0; classes && i < classes->n; i++) {
		if (memcmp(&classes->class[i].counters, &classes_of_other->class[i].counters,
		           sizeof(classes->class[i].counters)) != 0)
			fail_msg("%s: class %u has counted otherwise", words, i);
	}
	if (one->waits != two->waits || one->waited_ns != two->waited_ns)
		fail_msg("%s: they have waited for something else", words);
	if (memcmp(&one->moments, &two->moments, sizeof(one->moments)) != 0)
		fail_msg("%s: other delays have been seen", words);
}

static void goes_on_in_the_middle(const char *words)
{
	struct rig *rig = engine_open(words), *other = engine_open(words);

	traffic_come(rig, 1, BEFORE, SIMTIME_MS);
	take_over(rig, other, words);
	assert_remember_alike(rig, other, words);
	assert_go_on_alike(rig, other, words);
	assert_remember_alike(rig, other, words);
	rig_close(rig);
	rig_close(other);
}

/* Makes a file of the instants at which packets may leave (trace.h). */
static void trace_make(char *path, const char *lines)
{
	const int file = mkstemp(path);
	FILE *to = file < 0 ? NULL : fdopen(file, "w");

	assert_non_null(to);
	fputs(lines, to);
	assert_int_equal(fclose(to), 0);
}

static void an_engine_between_opportunities_goes_on_in_another(void **state)
{
	char path[] = "/tmp/weir-takeover-XXXXXX", words[128];
	(void)state;

	trace_make(path, "1\n4\n5\n5\n13\n");
	snprintf(words, sizeof(words), "trace %s loop queue 50pkt", path);
	goes_on_in_the_middle(words);
	snprintf(words, sizeof(words),
	         "rate 1mbit; slots min 3ms max 9ms packets 2; trace %s loop queue 50pkt", path);
	goes_on_in_the_middle(words);
	unlink(path);
}

/* A part of the packet has been sent at a rate, and the next opportunity is far. */
static void what_a_head_has_been_sent_counts_for_the_trace_of_another_engine(void **state)
{
	char path[] = "/tmp/weir-takeover-XXXXXX", words[128];
	struct rig *rig, *other;
	(void)state;

	trace_make(path, "3000\n");
	snprintf(words, sizeof(words), "trace %s loop queue 50pkt", path);
	rig = engine_open("rate 300kbit queue 50pkt");
	other = engine_open(words);
	traffic_come(rig, 1, BEFORE, SIMTIME_MS);
	schedule_set(rig, words);
	rig_apply(rig, rig->now);
	take_over(rig, other, words);
	assert_true(cloud_of(rig)->link.cursor.served > 0);
	assert_remember_alike(rig, other, words);
	assert_go_on_alike(rig, other, words);
	rig_close(rig);
	rig_close(other);
	unlink(path);
}

static void an_engine_in_the_midst_of_packets_goes_on_in_another(void **state)
{
	const char *words;

	(void)state;
	for (size_t i = 0; (words = remembering(i)) != NULL; i++)
		goes_on_in_the_middle(words);
	for (size_t i = 0; i < LENGTH(ways); i++)
		goes_on_in_the_middle(ways[i]);
}

/* Port 0 has time stamps of its own, so each packet has an age since its reception. */
static struct rig *live_open(void)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = SEED, .live = true});
	struct port_setting_conf *setting =
	        (struct port_setting_conf *)conf_make(&port_setting_statement);

	assert_non_null(setting);
	setting->time = PORT_TIME_DEVICE;
	rig->scenario->ports[0].setting = &setting->conf;
	rig_cloud(rig, "x", 0, 1);
	schedule_set(rig, "delay 40ms");
	rig_apply(rig, 0);
	return rig;
}

/* The packets behind the snapshot are 30 ms old, and would leave before those on the line. */
static void who_was_received_long_ago_leaves_behind_what_a_snapshot_holds(void **state)
{
	struct rig *rig = live_open(), *other = live_open();

	(void)state;
	traffic_come(rig, 1, BEFORE, SIMTIME_MS);
	take_over(rig, other, "ages");
	assert_true(engine_held_packets(other->engine) > 20);
	traffic.age_ns = 30 * SIMTIME_MS;
	assert_go_on_alike(rig, other, "ages");
	traffic.age_ns = 0;
	rig_close(rig);
	rig_close(other);
}

/* The fates received: the number of packets, how many are copies, and a sum of numbers and
 * instants. */
struct listener {
	struct witness witness; /* first */
	uint64_t told, copies, sum;
};

static void hear(struct witness *witness, const struct fate *fate)
{
	struct listener *listener = (struct listener *)witness;

	if (fate->kind != FATE_DELIVERED)
		return;
	assert_true(fate->packet > traffic.numbers_from);
	listener->told++;
	listener->copies += fate->flags == PACKET_COPY;
	listener->sum += draw_u64(traffic_draws, fate->packet, 9) ^ fate->t_out_ns;
}

/* A record holds only half of the bits of its packet's number. */
static void packets_that_a_snapshot_holds_keep_their_names_behind_number_2_to_the_32(void **state)
{
	const char *words = "duplicate every 5; rate 12mbit queue 200pkt";
	struct listener listeners[2] = {0};
	struct rig *rig[2];

	(void)state;
	traffic.numbers_from = UINT64_C(5) << 32;
	for (uint32_t i = 0; i < 2; i++) {
		listeners[i].witness.tell = hear;
		rig[i] = rig_open(
		        &(struct rig_setup){.seed = SEED, .witness = &listeners[i].witness});
		rig_cloud(rig[i], "x", 0, 1);
		schedule_set(rig[i], words);
		rig_apply(rig[i], 0);
	}
	traffic_come(rig[0], 1, BEFORE, SIMTIME_MS);
	take_over(rig[0], rig[1], words);
	assert_true(engine_held_packets(rig[1]->engine) > 20);
	listeners[0] = (struct listener){.witness = listeners[0].witness};
	rig_run_out(rig[0]);
	rig_run_out(rig[1]);
	assert_true(listeners[0].told > 20 && listeners[0].copies > 2);
	assert_int_equal(listeners[1].copies, listeners[0].copies);
	assert_int_equal(listeners[1].told, listeners[0].told);
	assert_int_equal(listeners[1].sum, listeners[0].sum);
	traffic.numbers_from = 0;
	rig_close(rig[0]);
	rig_close(rig[1]);
}

/* The line of the second cloud is shared, since the first one led to the same port. */
static struct rig *removed_open(void)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = SEED});

	rig_cloud(rig, "old", 0, 1);
	rig_delay(rig, "old", 50 * SIMTIME_MS, 0, DELAY_UNIFORM, ORDER_KEEP);
	rig_apply(rig, 0);
	return rig;
}

static void removed_exchange(struct rig *rig)
{
	rig_remove(rig, "old");
	rig_apply(rig, rig->now);
	rig_cloud(rig, "x", 0, 1);
	schedule_set(rig, "rate 12mbit queue 100pkt; delay 20ms jitter 3ms");
	rig_apply(rig, rig->now);
}

static void what_is_shared_with_a_cloud_that_is_gone_stays_so(void **state)
{
	struct rig *rig = removed_open(), *other = removed_open();
	struct snapshot snapshot = {.at = bytes, .end = bytes + BYTES};
	size_t n;

	(void)state;
	traffic_come(rig, 1, 200, SIMTIME_MS);
	other->now = rig->now;
	removed_exchange(rig);
	removed_exchange(other);
	traffic_come(rig, 200, BEFORE, rig->now + SIMTIME_US);
	rig_apply(rig, rig->now);
	take_over(rig, other, "removed");
	assert_true(engine_held_packets(other->engine) > 20);
	assert_int_equal(other->engine->cloud_table->n_own, rig->engine->cloud_table->n_own);
	traffic_play(rig, BEFORE, BEFORE + BEHIND, rig->now + SIMTIME_US);
	traffic_play(other, BEFORE, BEFORE + BEHIND, other->now + SIMTIME_US);
	assert_same_departures(rig, (uint32_t)other->cleared, other, "removed");
	engine_snapshot(rig->engine, rig->now, &snapshot);
	n = (size_t)(snapshot.at - bytes);
	snapshot = (struct snapshot){.at = bytes_of_other, .end = bytes_of_other + BYTES};
	engine_snapshot(other->engine, other->now, &snapshot);
	assert_int_equal(snapshot.at - bytes_of_other, n);
	rig_close(rig);
	rig_close(other);
}

/* Another cloud comes to the port while packets are on the line. */
static void what_was_on_a_line_before_it_was_shared_goes_on_in_another(void **state)
{
	static const char *const lines[] = {"delay 30ms", "delay 30ms jitter 9ms order allow"};

	(void)state;
	for (size_t i = 0; i < LENGTH(lines); i++) {
		struct rig *rig = engine_open(lines[i]), *other = engine_open(lines[i]);

		traffic_come(rig, 1, BEFORE, SIMTIME_MS);
		other->now = rig->now;
		rig_cloud(rig, "y", 2, 1);
		rig_apply(rig, rig->now);
		rig_cloud(other, "y", 2, 1);
		rig_apply(other, rig->now);
		assert_true(cloud_of(rig)->line.drains);
		take_over(rig, other, lines[i]);
		assert_true(cloud_of(other)->line.drains);
		assert_go_on_alike(rig, other, lines[i]);
		rig_run_out(other);
		assert_false(cloud_of(other)->line.drains);
		rig_close(rig);
		rig_close(other);
	}
}

/* Opens a template with a cloud for each source. `behind_another`: its clouds have other slots in
 * the engine, since a cloud that was removed meanwhile came before them. */
static struct rig *template_open(bool behind_another, const char *words)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = SEED});
	struct selection_conf *per = (struct selection_conf *)conf_make(&selection_per_statement);

	if (behind_another) {
		rig_cloud(rig, "old", 1, 0);
		rig_apply(rig, 0);
	}
	rig_cloud(rig, "x", 0, 1);
	assert_non_null(per);
	per->source = strdup("192.0.2.0/24");
	per->most = 20;
	rig->scenario->clouds[rig->scenario->n_clouds - 1]->many = true;
	rig->scenario->clouds[rig->scenario->n_clouds - 1]->selection = &per->conf;
	rig_apply(rig, 0);
	if (behind_another)
		rig_remove(rig, "old");
	schedule_set(rig, words);
	rig_apply(rig, 0);
	return rig;
}

static void clouds_of_a_template_go_on_where_another_engine_has_them(void **state)
{
	static const char *const words = "rate 2mbit queue 100pkt; delay 20ms jitter 3ms";
	struct rig *rig = template_open(true, words), *other = template_open(false, words);
	uint32_t departures;

	(void)state;
	traffic_come(rig, 1, BEFORE, SIMTIME_MS);
	take_over(rig, other, words);
	departures = other->cleared;
	assert_true(engine_held_packets(other->engine) > 20);
	traffic_play(rig, BEFORE, BEFORE + BEHIND, rig->now + SIMTIME_US);
	traffic_play(other, BEFORE, BEFORE + BEHIND, other->now + SIMTIME_US);
	assert_same_departures(rig, departures, other, words);
	rig_close(rig);
	rig_close(other);
}

/* The management came into force at 4 ms in the first engine, and at 0 in the other. Only a few
 * hosts have sent before the snapshot. */
static void a_template_behind_a_snapshot_knows_since_when_its_clouds_exist(void **state)
{
	static const char *const managements[] = {
	        "rate 500kbit queue 100pkt; pie target 5ms max-burst 0s",
	        "rate 500kbit queue 100pkt; dualpi2 target 5ms",
	        "rate 500kbit queue 100pkt; red min 2kB max 9kB weight 0.1 adaptive on",
	        "rate 500kbit queue 100pkt; every 40s for 39s from 1ms pie target 5ms max-burst 0s",
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(managements); i++) {
		const char *words = managements[i];
		struct rig *rig = template_open(false, "rate 500kbit queue 100pkt");
		struct rig *other = template_open(false, words);

		schedule_set(rig, words);
		rig_apply(rig, 4 * SIMTIME_MS);
		traffic_come(rig, 1, 4, 7 * SIMTIME_MS);
		other->now = rig->now;
		take_over(rig, other, words);
		assert_in_range(rig_report(rig, "x")->clouds, 1, 3);
		traffic_play(rig, BEFORE, BEFORE + BEHIND, rig->now + SIMTIME_US);
		traffic_play(other, BEFORE, BEFORE + BEHIND, other->now + SIMTIME_US);
		assert_in_range(rig_report(rig, "x")->clouds, 10, 13);
		assert_same_departures(rig, (uint32_t)other->cleared, other, words);
		assert_int_equal(rig_report(rig, "x")->counters.tx_packets,
		                 rig_report(other, "x")->counters.tx_packets);
		rig_close(rig);
		rig_close(other);
	}
}

/* If a statement was removed and is added again, its draws continue. */
static void what_comes_behind_a_snapshot_draws_on_from_what_was_taken_away(void **state)
{
	struct rig *rig[2];

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		rig[i] = engine_open("rate 12mbit queue 200pkt; loss random 10%");
		if (i == 0)
			traffic_come(rig[0], 1, BEFORE, SIMTIME_MS);
		rig[i]->now = rig[0]->now;
		rig_unset(rig[i], "x", "loss");
		rig_apply(rig[i], rig[i]->now);
	}
	assert_true(cloud_of(rig[0])->drawn_most > 0);
	take_over(rig[0], rig[1], "taken away");
	for (uint32_t i = 0; i < 2; i++) {
		rig[i]->now = rig[0]->now;
		rig_loss(rig[i], "x", PROBABILITY_ONE / 10);
		rig_apply(rig[i], rig[i]->now);
	}
	assert_go_on_alike(rig[0], rig[1], "taken away");
	rig_close(rig[0]);
	rig_close(rig[1]);
}

/* Pairs of scenarios: an engine of the second cannot continue from the snapshot of the first. */
static const char *const unlike[][2] = {
        {"loss every 9", "loss every 9; corrupt bit-error 1e-5"},
        {"loss every 9", "rate 12mbit queue 20pkt; codel"},
        {"every 100s for 37s loss every 4; every 300s for 90s delay 1ms",
         "every 100s for 37s loss every 4; every 400s for 90s delay 1ms"},
        {"at 50s loss every 3", "at 60s loss every 3"},
        {"loss every 9", "loss every 9; flap down 20ms every 300ms"},
        {"loss every 9; every 100s for 37s delay 1ms",
         "loss every 9; every 100s for 37s delay 1ms; flap down 20s every 100s"},
};

static void one_of_another_scenario_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * LENGTH(unlike); i++) {
		const char *const *words = unlike[i / 2];
		struct rig *rig = engine_open(words[i % 2]), *other = engine_open(words[!(i % 2)]);
		struct snapshot snapshot = {.at = bytes, .end = bytes + BYTES};

		engine_snapshot(rig->engine, rig->now, &snapshot);
		assert_false(snapshot.failed);
		snapshot = (struct snapshot){.at = bytes, .end = snapshot.at, .restores = true};
		engine_snapshot(other->engine, rig->now, &snapshot);
		if (!snapshot.failed)
			fail_msg("`%s` takes over `%s`", words[!(i % 2)], words[i % 2]);
		rig_close(rig);
		rig_close(other);
	}
}

/* The snapshot begins with its format. */
static void one_of_another_format_is_refused(void **state)
{
	struct rig *rig = engine_open("delay 1ms"), *other = engine_open("delay 1ms");
	struct snapshot snapshot = {.at = bytes, .end = bytes + BYTES};

	(void)state;
	engine_snapshot(rig->engine, rig->now, &snapshot);
	assert_false(snapshot.failed);
	bytes[0]++;
	snapshot = (struct snapshot){.at = bytes, .end = snapshot.at, .restores = true};
	engine_snapshot(other->engine, rig->now, &snapshot);
	assert_true(snapshot.failed);
	rig_close(rig);
	rig_close(other);
}

GROUP(takeover)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(what_a_head_has_been_sent_counts_for_the_trace_of_another_engine),
	        cmocka_unit_test(an_engine_in_the_midst_of_packets_goes_on_in_another),
	        cmocka_unit_test(an_engine_between_opportunities_goes_on_in_another),
	        cmocka_unit_test(who_was_received_long_ago_leaves_behind_what_a_snapshot_holds),
	        cmocka_unit_test(
	                packets_that_a_snapshot_holds_keep_their_names_behind_number_2_to_the_32),
	        cmocka_unit_test(what_is_shared_with_a_cloud_that_is_gone_stays_so),
	        cmocka_unit_test(what_was_on_a_line_before_it_was_shared_goes_on_in_another),
	        cmocka_unit_test(clouds_of_a_template_go_on_where_another_engine_has_them),
	        cmocka_unit_test(a_template_behind_a_snapshot_knows_since_when_its_clouds_exist),
	        cmocka_unit_test(what_comes_behind_a_snapshot_draws_on_from_what_was_taken_away),
	        cmocka_unit_test(one_of_another_scenario_is_refused),
	        cmocka_unit_test(one_of_another_format_is_refused),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
