/* SPDX-License-Identifier: BSD-3-Clause */
/* AQMs of classes. The AQM of a class that is alone decides like that of a link without classes.
 * The AQMs of two classes decide independently, each by the events in its own class, whichever
 * class the scheduler sends first. */
#include <stdlib.h>
#include <string.h>

#include "aqm/codel.h"
#include "aqm/pie.h"
#include "engine/cloud.h"
#include "engine/engine_state.h"
#include "frame.h"
#include "link/aqm.h"
#include "link/classes.h"
#include "load.h"
#include "trial.h"
#include "runner/group.h"

#define N 8000

static const char *const schedulers[] = {"scheduler scfq", "scheduler priority", "scheduler drr"};

/* ---- the fate of each packet ---- */

struct told {
	bool lost, marked;
	simtime taken; /* by the link: when it was dropped, or began to be sent */
	uint32_t order;
};

static struct told *told;
static uint32_t n_told;

static void tell(struct witness *witness, const struct fate *fate)
{
	struct told *packet = &told[fate->packet];

	trial_tell(witness, fate);
	packet->lost = fate->kind == FATE_DROPPED;
	packet->taken = packet->lost ? fate->at_ns : fate->t_out_ns;
	packet->order = n_told++;
}

static void look(void *argument, struct rte_mbuf *mbuf)
{
	(void)argument;
	told[packet_of(mbuf)->number].marked =
	        (rte_pktmbuf_mtod(mbuf, const uint8_t *)[15] & 3) == 3;
}

static struct trial *open_link(struct told *notebook)
{
	struct trial *trial = trial_open_at("rate 8mbit queue 300pkt", 1, SIMTIME_S);

	told = notebook;
	n_told = 0;
	trial->witness.tell = tell;
	trial->look = look;
	return trial;
}

/* Sets all statements at once, as a change does. The list ends with NULL. */
static void set(struct trial *trial, const char *const *lines)
{
	for (; *lines; lines++)
		assert_int_equal(
		        cloud_conf_put(trial->rig->scenario->clouds[0], trial_conf(*lines)), 0);
	rig_apply(trial->rig, trial->now);
}

/* Two packets of three can be marked. */
static bool is_capable(uint32_t i)
{
	return i % 3 != 0;
}

static void send(struct trial *trial, uint32_t i, uint16_t port, simtime gap_ns)
{
	const struct frame_shape shape = {.ip = 4,
	                                  .protocol = FRAME_UDP,
	                                  .source_port = port,
	                                  .payload_bytes = load_bytes(i) - 42};
	uint8_t frame[FRAME_BYTES_MAX];
	uint32_t bytes = frame_make(frame, &shape);

	frame[15] = is_capable(i) ? 2 : 0;
	trial->gap_ns = gap_ns;
	trial_send_frame(trial, frame, bytes);
}

static struct classes *classes_of(struct trial *trial)
{
	const struct cloud_table *cloud_table = trial->rig->engine->cloud_table;

	for (uint32_t i = 0; i < cloud_table->n_slots; i++) {
		if (cloud_table->slots[i] && cloud_table->slots[i]->link.classes)
			return cloud_table->slots[i]->link.classes;
	}
	fail();
	return NULL;
}

/* ---- one class ---- */

static void run(struct told *notebook, const char *scheduler, const char *ecn, const char *aqm)
{
	struct trial *trial = open_link(notebook);
	const char *in = scheduler ? "class only " : "";
	char its_ecn[80], its_aqm[160];
	const char *const lines[] = {its_ecn, its_aqm, scheduler ? "class only" : NULL, scheduler,
	                             NULL};

	snprintf(its_ecn, sizeof(its_ecn), "%s%s", in, ecn);
	snprintf(its_aqm, sizeof(its_aqm), "%s%s", in, aqm);
	set(trial, lines);
	/* draws depend on the class's name, too; here they have to be the same */
	if (scheduler)
		aqm_key(classes_of(trial)->class[0].queue.aqm, 1, "");
	for (uint32_t i = 1; i < N; i++)
		send(trial, i, 2000, load_gap_ns(i));
	trial_run_out(trial);
	trial_close(trial);
}

#define AQMS_MAX 16

/* Adds the examples of those managements of the table of statements, without bands, that are not in
 * the list yet. */
static size_t add_examples(const char **aqms, size_t n)
{
	static char lines[AQMS_MAX][80];

	for (const struct statement *const *row = statements; *row; row++) {
		bool there = (*row)->role != ROLE_AQM || (*row)->aqm->bands;

		for (size_t a = 0; a < n; a++)
			there |= strncmp(aqms[a], (*row)->name, strlen((*row)->name)) == 0;
		if (there)
			continue;
		assert_true(n < AQMS_MAX);
		snprintf(lines[n], sizeof(lines[n]), "%s %s", (*row)->name, (*row)->example);
		aqms[n] = lines[n];
		n++;
	}
	return n;
}

/* Returns true if the AQM drops only packets that cannot be marked. */
static bool only_marks(const char *aqm)
{
	return strncmp(aqm, "mark ", 5) == 0 || strstr(aqm, "ce-threshold");
}

static void a_class_alone_decides_as_a_link_without_classes(void **state)
{
	const char *aqms[AQMS_MAX] = {
	        "red min 5kB max 15kB max-p 0.1 weight 0.002 unit byte",
	        "red min 5pkt max 15pkt max-p 0.1 weight 0.02 gentle on wait on adaptive on",
	        "mark above 5kB",
	        "codel",
	        "codel ce-threshold 2ms",
	        "pie mark-ecn-threshold 50%",
	        "pie derandomize on mark-ecn-threshold 50%",
	};
	static const char *const ecns[] = {"ecn off", "ecn on"};
	struct told *alone = calloc(N, sizeof(*alone)), *in_class = calloc(N, sizeof(*alone));
	size_t n = 0;

	(void)state;
	while (aqms[n])
		n++;
	n = add_examples(aqms, n);
	for (size_t a = 0; a < n; a++) {
		for (size_t e = 0; e < LENGTH(ecns); e++) {
			uint32_t lost = 0, marked = 0;

			if (e == 0 && only_marks(aqms[a]))
				continue;
			memset(alone, 0, N * sizeof(*alone));
			run(alone, NULL, ecns[e], aqms[a]);
			for (size_t s = 0; s < LENGTH(schedulers); s++) {
				memset(in_class, 0, N * sizeof(*in_class));
				run(in_class, schedulers[s], ecns[e], aqms[a]);
				for (uint32_t i = 1; i < N; i++) {
					if (memcmp(&alone[i], &in_class[i], sizeof(alone[i])) != 0)
						fail_msg("%s, %s, %s: packet %u", aqms[a], ecns[e],
						         schedulers[s], i);
				}
			}
			for (uint32_t i = 1; i < N; i++) {
				lost += alone[i].lost;
				marked += alone[i].marked;
			}
			if (lost <= 50 || (marked > 20) != (e > 0))
				fail_msg("%s, %s: %u lost and %u marked, which shows nothing",
				         aqms[a], ecns[e], lost, marked);
		}
	}
	free(alone);
	free(in_class);
}

/* ---- two classes ---- */

/* Replays the input of a class's AQM through its rule: the arrivals in their order; and for each
 * instant when the link took a packet of any class, what waited then. */
struct again {
	const char *aqm;
	struct draw_key key;
	uint64_t arrivals, waiting_bytes, waiting_packets;
	struct codel codel;
	struct pie pie;
	uint32_t lost, marked;
};

static const struct codel_rule codel_rule = {
        .target_ns = 5 * SIMTIME_MS, .interval_ns = 100 * SIMTIME_MS, .mtu_bytes = 1514};
static const struct pie_rule pie_rule = {.target_ns = 15 * SIMTIME_MS,
                                         .tupdate_ns = 15 * SIMTIME_MS,
                                         .max_burst_ns = 150 * SIMTIME_MS,
                                         .alpha = 125000,
                                         .beta = 1250000,
                                         .mean_bytes = 1024,
                                         .cap = true};

static bool is(const struct again *again, const char *aqm)
{
	return strncmp(again->aqm, aqm, strlen(aqm)) == 0;
}

static void assert_was(struct again *again, uint32_t i, bool selected, bool may_mark)
{
	bool lost = selected && !(may_mark && is_capable(i));

	if (told[i].lost != lost || told[i].marked != (selected && !lost))
		fail_msg("%s: packet %u is lost %d, marked %d; selected %d", again->aqm, i,
		         told[i].lost, told[i].marked, selected);
	again->lost += lost;
	again->marked += selected && !lost;
}

static void arrive_again(struct again *again, uint32_t i, simtime now)
{
	uint64_t draw = draw_u64(again->key, again->arrivals++, 0);

	if (is(again, "mark above 8kB")) {
		assert_was(again, i, again->waiting_bytes >= 8000, true);
	} else if (is(again, "pie")) {
		pie_advance(&again->pie, &pie_rule, now);
		assert_was(again, i, pie_select(&again->pie, &pie_rule, again->waiting_bytes, draw),
		           again->pie.probability < PROBABILITY_ONE / 2);
	}
	if (told[i].lost && !is(again, "codel"))
		return;
	again->waiting_bytes += load_bytes(i);
	again->waiting_packets++;
}

static void take_again(struct again *again, const struct again *other, uint32_t i, simtime came)
{
	simtime now = told[i].taken;
	bool selected;

	if (is(again, "codel")) {
		selected = codel_select(&again->codel, &codel_rule, now - came,
		                        again->waiting_bytes + other->waiting_bytes - load_bytes(i),
		                        now);
		if (selected && is_capable(i))
			codel_marked(&again->codel, &codel_rule);
		assert_was(again, i, selected, true);
	} else if (is(again, "pie")) {
		pie_advance(&again->pie, &pie_rule, now);
		again->pie.delay_ns = again->waiting_packets > 1 ? now - came : 0;
	}
	again->waiting_bytes -= load_bytes(i);
	again->waiting_packets--;
}

/* Compares by the order in which the link took the packets. A packet that CoDel drops is taken at
 * the same instant as the packet behind it, and before that. */
static int by_instant(const void *a, const void *b)
{
	const struct told *x = &told[*(const uint32_t *)a], *y = &told[*(const uint32_t *)b];

	if (x->taken != y->taken)
		return x->taken < y->taken ? -1 : 1;
	if (x->lost != y->lost)
		return x->lost ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static simtime *came;

static uint32_t class_of_packet(uint32_t i)
{
	return draw_u64((struct draw_key){{11, 12}}, i, 0) % 5 < 2 ? 0 : 1;
}

static void assert_told_again(struct again again[2])
{
	uint32_t *taken = calloc(N, sizeof(*taken)), n = 0, next = 0;

	for (uint32_t i = 1; i < N; i++) {
		if (!told[i].lost)
			told[i].taken -= load_bytes(i) * SIMTIME_US;
		/* otherwise it was lost on arrival: the link never took it */
		if (!told[i].lost || is(&again[class_of_packet(i)], "codel"))
			taken[n++] = i;
	}
	qsort(taken, n, sizeof(*taken), by_instant);
	for (uint32_t i = 1; i <= N; i++) {
		for (; next < n &&
		       (i == N || (told[taken[next]].taken <= came[i] && taken[next] < i));
		     next++) {
			uint32_t class = class_of_packet(taken[next]);

			take_again(&again[class], &again[!class], taken[next], came[taken[next]]);
		}
		if (i < N)
			arrive_again(&again[class_of_packet(i)], i, came[i]);
	}
	free(taken);
}

static void two_classes_have_two_managements(void **state)
{
	static const char *const pairs[][2] = {
	        {"codel", "pie mark-ecn-threshold 50%"},
	        {"pie mark-ecn-threshold 50%", "codel"},
	        {"mark above 8kB", "codel"},
	        {"pie mark-ecn-threshold 50%", "mark above 8kB"},
	};

	(void)state;
	came = calloc(N + 1, sizeof(*came));
	for (size_t p = 0; p < LENGTH(pairs); p++) {
		for (size_t s = 0; s < LENGTH(schedulers); s++) {
			struct told *notebook = calloc(N, sizeof(*notebook));
			struct trial *trial = open_link(notebook);
			struct again again[2] = {{.aqm = pairs[p][0]}, {.aqm = pairs[p][1]}};
			char some[80], rest[80];
			const char *const lines[] = {
			        "class some weight 0.4 queue 100000pkt match udp port 2000",
			        "class rest weight 0.6 queue 100000pkt",
			        schedulers[s],
			        "ecn on",
			        some,
			        rest,
			        NULL};

			snprintf(some, sizeof(some), "class some %s", pairs[p][0]);
			snprintf(rest, sizeof(rest), "class rest %s", pairs[p][1]);
			set(trial, lines);
			/* an AQM that comes into force begins at once */
			for (uint32_t c = 0; c < 2; c++) {
				again[c].key = classes_of(trial)->class[c].queue.aqm->key;
				pie_advance(&again[c].pie, &pie_rule, SIMTIME_S);
			}
			for (uint32_t i = 1; i < N; i++) {
				came[i] = trial->now;
				send(trial, i, class_of_packet(i) ? 3000 : 2000, load_gap_ns(i));
			}
			trial_run_out(trial);
			assert_told_again(again);
			for (uint32_t c = 0; c < 2; c++) {
				/* the first class of a strict priority never waits for long */
				if (s == 1 && c == 0)
					continue;
				assert_true(again[c].lost > 20 && again[c].marked > 10);
			}
			trial_close(trial);
			free(notebook);
		}
	}
	free(came);
}

/* RFC 8289, section 4.4. A class has 5 % of the link. It holds five packets of 210 B, and receives
 * one more whenever one leaves. They wait for 21 ms. The bytes that wait in the class are less than
 * an MTU; those before the link are more. */
static void codel_sees_what_waits_in_other_classes(void **state)
{
	(void)state;
	for (uint32_t beside = 0; beside < 2; beside++) {
		struct trial *trial = trial_open("rate 8mbit queue 1000pkt", 1);
		const struct frame_shape thin = {.ip = 4,
		                                 .protocol = FRAME_UDP,
		                                 .source_port = 2000,
		                                 .payload_bytes = 210 - 42};
		uint8_t frame[FRAME_BYTES_MAX];

		frame_make(frame, &thin);
		set(trial, (const char *const[]){"class fat weight 0.95",
		                                 "class thin weight 0.05 match udp port 2000",
		                                 "class thin codel", NULL});
		trial->gap_ns = 0;
		for (uint32_t i = 0; i < 1000; i++) {
			trial->now = i * 4200 * SIMTIME_US;
			if (beside)
				trial_send(trial, i ? 4 : 10, 1000);
			trial_send_frames(trial, i ? 1 : 5, frame, 210);
		}
		trial_run_out(trial);
		assert_int_equal(trial_counters(trial)->drops[REASON_CODEL] > 3, beside);
		trial_close(trial);
	}
}

GROUP(class_aqm)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_class_alone_decides_as_a_link_without_classes),
	        cmocka_unit_test(two_classes_have_two_managements),
	        cmocka_unit_test(codel_sees_what_waits_in_other_classes),
	};

	return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
}
