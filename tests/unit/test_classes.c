/* SPDX-License-Identifier: BSD-3-Clause */
/* Classes: the order of transmission, and that nothing is lost. The rig's filter `K of N` chooses
 * by the number of a packet. */
#include "trial.h"
#include "runner/group.h"

#include <stdlib.h>
#include <string.h>

#define MBIT UINT64_C(1000000)

static void put(struct rig *rig, const char *statement)
{
	assert_int_equal(cloud_conf_put(rig->scenario->clouds[0], trial_conf(statement)), 0);
}

/* Opens a link of a byte a microsecond, with these statements. */
static struct rig *shared(const char *const *lines)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});

	rig_cloud(rig, "x", 0, 1);
	put(rig, "rate 8mbit");
	for (; *lines; lines++)
		put(rig, *lines);
	rig_apply(rig, 0);
	return rig;
}

static const struct class_report *class_of(struct rig *rig, uint32_t i)
{
	const struct cloud_report *report = rig_report(rig, "x");

	assert_true(i < report->n_classes);
	return &report->classes[i];
}

/* Packets of odd numbers belong to the second class. Each class is offered more than the whole
 * rate. */
static void saturate(struct rig *rig, uint64_t n, const uint32_t *lengths, uint32_t n_lengths)
{
	for (uint64_t i = 0; i < n; i++) {
		rig_send(rig, 0, lengths[i % n_lengths], rig->sent * 100 * SIMTIME_US);
		if (i % 256 == 0)
			rig_advance(rig, rig->now);
	}
}

/* With a million packets, the shares are as exact as the theory states: the bytes sent of each
 * class, divided by its weight, differ by less than Lmax/W of the one plus that of the other. Over
 * 1.2 x 10^7 bytes that is within 0.1 %. */
static void saturated_classes_get_their_weights_shares(void **state)
{
	static const uint32_t lengths[] = {200, 1500, 1400, 60, 900, 1000, 64};
	static const struct {
		const char *voice, *data, *scheduler;
		double voice_share;
		double slack_bytes; /* of |S1/W1 - S2/W2|; W are the shares */
	} rows[] = {
	        {"class voice weight 0.8 queue 50pkt match 0 of 2",
	         "class data weight 0.2 queue 50pkt", "scheduler scfq", 0.8,
	         1500 / 0.8 + 1500 / 0.2},
	        {"class voice weight 0.4 queue 50pkt match 0 of 2",
	         "class data weight 0.1 queue 50pkt", "scheduler scfq", 0.8,
	         1500 / 0.8 + 1500 / 0.2},
	        {"class voice weight 0.123456789 queue 50pkt match 0 of 2",
	         "class data weight 0.9 queue 50pkt", "scheduler scfq", 0.123456789 / 1.023456789,
	         1500 / 0.12 + 1500 / 0.87},
	        /* drr: a quantum and a packet of each class */
	        {"class voice weight 0.8 queue 50pkt match 0 of 2",
	         "class data weight 0.2 queue 50pkt", "scheduler drr", 0.8,
	         (4 * 1514 + 1500) / 0.8 + (1514 + 1500) / 0.2},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const char *const lines[] = {rows[i].voice, rows[i].data, rows[i].scheduler, NULL};
		struct rig *rig = shared(lines);
		double voice, data, apart;

		saturate(rig, i == 0 ? 1000000 : 100000, lengths, LENGTH(lengths));
		voice = (double)class_of(rig, 0)->counters.tx_bytes;
		data = (double)class_of(rig, 1)->counters.tx_bytes;
		apart = voice / rows[i].voice_share - data / (1 - rows[i].voice_share);
		if (apart > rows[i].slack_bytes || apart < -rows[i].slack_bytes)
			fail_msg("row %zu: %.0f and %.0f bytes, %.0f apart", i, voice, data, apart);
		if (i == 0)
			assert_in_range((uint64_t)(1e6 * voice / (voice + data)), 799200, 800800);
		/* the link was never idle: it sent all the time, except for the packet in
		 * transmission */
		assert_in_range(voice + data, (double)rig->now / 1000 - 1500,
		                (double)rig->now / 1000);
		rig_run_out(rig);
		rig_close(rig);
	}
}

static void an_idle_class_wastes_nothing(void **state)
{
	static const char *const schedulers[] = {"scheduler scfq", "scheduler priority",
	                                         "scheduler drr"};

	(void)state;
	for (size_t s = 0; s < LENGTH(schedulers); s++) {
		const char *const lines[] = {"class voice weight 0.8 match 300 of 2",
		                             "class data weight 0.2 queue 1000pkt", schedulers[s],
		                             NULL};
		struct rig *rig = shared(lines);

		for (uint32_t i = 0; i < 500; i++)
			rig_send(rig, 0, 1000, 5);
		rig_run_out(rig);
		for (uint32_t i = 0; i < 500; i++) {
			assert_int_equal(rig->departures[i].due_ns, 5 + (i + 1) * SIMTIME_MS);
			assert_int_equal(rig->departures[i].number, i + 1);
		}
		rig_close(rig);
	}
}

/* Voice of 200 B comes each 5 ms beside data that always waits. A packet that comes to an empty
 * class waits for one packet of data, and takes L/(W R) itself: the bound of class.h, which is
 * reached. */
static void voice_is_delayed_by_no_more_than_the_theory_says(void **state)
{
	static const char *const lines[] = {"class voice weight 0.8 match 0 of 8",
	                                    "class data weight 0.2 queue 100pkt", "scheduler scfq",
	                                    NULL};
	const simtime bound = 1500 * SIMTIME_US + 250 * SIMTIME_US;
	struct rig *rig = shared(lines);
	simtime *came = calloc(100000, sizeof(*came)), now = 0, longest = 0;
	uint32_t n_voice = 0;

	(void)state;
	assert_non_null(came);
	while (n_voice < 500) {
		bool voice = (rig->sent + 1) % 8 == 0;

		/* 7 packets of data in 4.9 ms, which take 10.5 ms; voice at any instant within
		 * these */
		if (voice)
			now += n_voice++ * 1399;
		came[rig->sent + 1] = now;
		rig_send(rig, 0, voice ? 200 : 1500, now);
		now += voice ? 0 : 700 * SIMTIME_US;
		rig_advance(rig, rig->now);
	}
	rig_run_out(rig);
	for (uint32_t i = 0; i < rig->n_departures; i++) {
		const struct departure *left = &rig->departures[i];

		if (left->wire_bytes != 200)
			continue;
		longest = simtime_max(longest, left->due_ns - came[left->number]);
	}
	assert_in_range(longest, 1500 * SIMTIME_US, bound);
	free(came);
	rig_close(rig);
}

static void the_first_class_goes_first(void **state)
{
	static const char *const lines[] = {"class voice match 0 of 2", "class data",
	                                    "scheduler priority", NULL};
	static const uint64_t order[] = {1, 2, 4, 6, 8, 10, 3, 5, 7, 9};
	struct rig *rig = shared(lines);

	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		rig_send(rig, 0, 1000, 0);
	rig_run_out(rig);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(rig->departures[i].number, order[i]);
	rig_close(rig);
}

/* By hand: lengths 1000, weights 1 : 1. Packet 1 is taken at once, with the tag 2000 (in units of
 * one byte at half the rate). Packets 2 and 3 then have the same tag, and the class defined first
 * goes first. */
static void tags_decide_and_ties_go_to_the_class_defined_first(void **state)
{
	static const char *const lines[] = {"class even match 0 of 2", "class odd", NULL};
	static const uint64_t order[] = {1, 2, 3, 4, 5, 6};
	struct rig *rig = shared(lines);

	(void)state;
	for (uint32_t i = 0; i < 6; i++)
		rig_send(rig, 0, 1000, 0);
	rig_run_out(rig);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(rig->departures[i].number, order[i]);
	rig_close(rig);
}

static void each_class_has_its_own_limit_and_counts_for_itself(void **state)
{
	static const char *const lines[] = {"class voice queue 2pkt match 0 of 2",
	                                    "class data queue 3pkt drop head", NULL};
	struct rig *rig = shared(lines);

	(void)state;
	for (uint32_t i = 0; i < 20; i++)
		rig_send(rig, 0, 1000, 0);
	assert_int_equal(class_of(rig, 0)->counters.rx_packets, 10);
	assert_int_equal(class_of(rig, 0)->counters.dropped, 8);
	assert_int_equal(class_of(rig, 0)->queue_packets, 2);
	assert_int_equal(class_of(rig, 1)->counters.dropped, 6); /* one is being sent */
	assert_int_equal(class_of(rig, 1)->queue_bytes, 3000);
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 6);
	assert_int_equal(class_of(rig, 1)->counters.tx_packets, 4);
	assert_int_equal(rig->departures[5].number, 19); /* the latest of the odd packets */
	rig_close(rig);
}

static void an_aqm_of_a_class_acts_on_that_class(void **state)
{
	static const char *const lines[] = {"class voice queue 20pkt match 0 of 2",
	                                    "class data queue 20pkt", "class data mark above 3pkt",
	                                    NULL};
	struct rig *rig = shared(lines);

	(void)state;
	/* the rig's frames are not IP, so they are not capable */
	for (uint32_t i = 0; i < 20; i++)
		rig_send(rig, 0, 1000, 0);
	assert_int_equal(class_of(rig, 0)->counters.dropped, 0);
	assert_int_equal(class_of(rig, 1)->counters.dropped, 6); /* one is sent, three wait */
	assert_int_equal(rig_report(rig, "x")->counters.drops[REASON_NOT_CAPABLE], 6);
	rig_run_out(rig);
	rig_close(rig);
}

/* Classes are added, changed and removed while packets wait. All packets leave, each once; those
 * that stayed in one class leave in order. */
static void a_change_keeps_what_waits_in_any_class(void **state)
{
	struct rig *rig = rig_open(&(struct rig_setup){.seed = 1});
	bool left[121] = {false};
	uint64_t last = 0;
	simtime now = 0;

	(void)state;
	rig_cloud(rig, "x", 0, 1);
	put(rig, "rate 8mbit queue 1000pkt");
	rig_apply(rig, 0);
	for (uint32_t step = 0; step < 6; step++) {
		for (uint32_t i = 0; i < 20; i++)
			rig_send(rig, 0, i & 1 ? 300 : 1200, now);
		now += 3500 * SIMTIME_US; /* in the middle of a packet */
		if (step == 0) {
			put(rig, "class even weight 0.5 match 0 of 2");
			put(rig, "class odd drop head");
		} else if (step == 1) {
			put(rig, "class even weight 0.9 match 0 of 2");
			put(rig, "scheduler drr");
		} else if (step == 2) {
			assert_int_equal(cloud_conf_remove_scope(rig->scenario->clouds[0], "even"),
			                 0);
		} else if (step == 3) {
			put(rig, "class more match 0 of 2");
			put(rig, "scheduler priority");
		} else {
			cloud_conf_remove_scope(rig->scenario->clouds[0], "odd");
			cloud_conf_remove_scope(rig->scenario->clouds[0], "more");
			rig_unset(rig, "x", step == 4 ? "scheduler" : "rate");
		}
		rig_apply(rig, now);
	}
	rig_run_out(rig);
	assert_int_equal(rig->n_departures, 120);
	for (uint32_t i = 0; i < 120; i++) {
		uint64_t number = rig->departures[i].number;

		assert_true(rig->departures[i].intact);
		assert_false(left[number]);
		left[number] = true;
		/* even packets may overtake those that came before their class existed */
		assert_true(!(number & 1) || number > last);
		last = number & 1 ? number : last;
	}
	rig_close(rig);
}

/* A change in the middle of each packet, which does not concern the order of the classes. */
static void a_change_of_something_else_does_not_touch_the_scheduler(void **state)
{
	static const char *const schedulers[] = {"scheduler scfq", "scheduler drr",
	                                         "scheduler drr quantum 900B"};
	static const char *const changes[][2] = {
	        {"delay 10ms", "delay 11ms"},
	        {"reorder every 1000000 wait 1ms", "reorder every 1000001 wait 1ms"},
	        {"rate 8mbit", "rate 8mbit queue 200pkt"},
	        {"class even mark above 90pkt", "class even mark above 91pkt"},
	        {"class odd weight 0.4", "class odd weight 0.4 queue 99pkt"},
	};
	enum { N = 120 };

	(void)state;
	for (size_t i = 0; i < LENGTH(schedulers) * LENGTH(changes); i++) {
		const char *const *change = changes[i % LENGTH(changes)];
		const char *const lines[] = {"class even weight 0.6 match 0 of 2",
		                             "class odd weight 0.4",
		                             schedulers[i / LENGTH(changes)], change[0], NULL};
		struct rig *left = shared(lines), *changed = shared(lines);

		for (uint32_t k = 0; k < N; k++) {
			rig_send(left, 0, k % 7 * 100 + 300, 0);
			rig_send(changed, 0, k % 7 * 100 + 300, 0);
		}
		for (uint32_t k = 1; k < N; k++) {
			simtime now = k * 500 * SIMTIME_US;

			rig_advance(changed, now);
			put(changed, change[k % 2]);
			rig_apply(changed, now);
		}
		rig_run_out(left);
		rig_run_out(changed);
		assert_int_equal(left->n_departures, N);
		assert_int_equal(changed->n_departures, N);
		for (uint32_t k = 0; k < N; k++) {
			if (changed->departures[k].number != left->departures[k].number)
				fail_msg("%s, %s: packet %u is another", lines[2], change[1], k);
		}
		rig_close(left);
		rig_close(changed);
	}
}

static void what_is_not_right_is_said(void **state)
{
	static const struct {
		const char *lines[4];
		const char *says;
	} rows[] = {
	        {{"class voice", NULL}, "there is no link to share"},
	        {{"rate 1mbit", "class voice match udp", NULL}, "all classes have a `match`"},
	        {{"rate 1mbit", "class voice", "class data", NULL}, "2 classes have no `match`"},
	        {{"rate 1mbit", "class voice weight 0", NULL}, "a weight of 0"},
	        {{"rate 1mbit", "at 1s rate 2mbit", "class voice weight 0.0000000001", NULL},
	         "at most 9 digits"},
	        {{"rate 1mbit", "scheduler drr", NULL}, "there are no classes"},
	        {{"rate 1mbit", "class data", "scheduler scfq quantum 1500B", NULL}, "only `drr`"},
	        {{"rate 1mbit", "class data", "mark above 1kB", NULL}, "the link has classes"},
	        {{"rate 1mbit", "class data match ip and arp", "class rest", NULL},
	         "contradicts itself"},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct cloud_conf cloud = {.name = "x"};
		struct problem problem = {.text = ""};
		int error = 0;

		for (uint32_t k = 0; rows[i].lines[k]; k++)
			assert_int_equal(cloud_conf_put(&cloud, trial_conf(rows[i].lines[k])), 0);
		for (uint32_t k = 0; k < cloud.n_confs && !error; k++)
			error = cloud.confs[k]->statement->check(cloud.confs[k], &cloud, &problem);
		if (!error || !strstr(problem.text, rows[i].says))
			fail_msg("row %zu: %s", i, problem.text);
		for (uint32_t k = 0; k < cloud.n_confs; k++)
			conf_free(cloud.confs[k]);
	}
}

GROUP(classes)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(saturated_classes_get_their_weights_shares),
	        cmocka_unit_test(an_idle_class_wastes_nothing),
	        cmocka_unit_test(voice_is_delayed_by_no_more_than_the_theory_says),
	        cmocka_unit_test(the_first_class_goes_first),
	        cmocka_unit_test(tags_decide_and_ties_go_to_the_class_defined_first),
	        cmocka_unit_test(each_class_has_its_own_limit_and_counts_for_itself),
	        cmocka_unit_test(an_aqm_of_a_class_acts_on_that_class),
	        cmocka_unit_test(a_change_keeps_what_waits_in_any_class),
	        cmocka_unit_test(a_change_of_something_else_does_not_touch_the_scheduler),
	        cmocka_unit_test(what_is_not_right_is_said),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
