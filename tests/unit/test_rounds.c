/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deficit round robin skips all rounds in which no class may send in one step. Here it is compared
 * with the same algorithm round by round, at random: whatever the lengths, the same packet is next.
 */
#include "rig.h"
#include "runner/group.h"

#include <stdlib.h>
#include <string.h>

#include "aqm/fq_codel.h"
#include "link/aqm.h"
#include "link/classes.h"
#include "link/link.h"

#define PACKETS_MAX 16
#define CASES       400
#define STEPS       200

static struct draw_key key;
static uint64_t rolled;

static uint64_t roll(uint64_t below)
{
	return draw_index(draw_u64(key, rolled++, 0), below);
}

/* Returns a length of any order of magnitude, up to `most`. */
static uint32_t roll_length(uint32_t most)
{
	uint64_t length = 1 + roll(UINT64_C(1) << roll(33));

	return (uint32_t)RTE_MIN(length, (uint64_t)most);
}

static struct arena arena;
static void *memory;

static int setup(void **state)
{
	(void)state;
	memory = aligned_alloc(CHUNK_BYTES, RIG_MEMORY);
	assert_non_null(memory);
	arena_init(&arena, memory, RIG_MEMORY);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(memory);
	return 0;
}

static void put(struct log *log, uint32_t length)
{
	struct held *held = log_append(log, &arena, 0);

	assert_non_null(held);
	memset(held, 0, sizeof(*held));
	held->wire_bytes = length;
}

/* A queue of lengths. */
struct tx_queue {
	uint32_t n, length[PACKETS_MAX];
};

static void tx_queue_pop(struct tx_queue *tx_queue)
{
	memmove(tx_queue->length, tx_queue->length + 1, --tx_queue->n * sizeof(*tx_queue->length));
}

/* ---- classes ---- */

struct rounds {
	uint32_t n, turn;
	bool begun;
	struct tx_queue tx_queue[CLASSES_MAX];
	int64_t deficit[CLASSES_MAX], quantum[CLASSES_MAX];
};

static void rounds_next(struct rounds *rounds)
{
	rounds->turn = (rounds->turn + 1) % rounds->n;
	rounds->begun = false;
}

/* The textbook algorithm, one turn after the other. */
static uint32_t rounds_pick(struct rounds *rounds)
{
	for (;; rounds_next(rounds)) {
		struct tx_queue *tx_queue = &rounds->tx_queue[rounds->turn];
		int64_t *deficit = &rounds->deficit[rounds->turn];

		if (tx_queue->n == 0) {
			*deficit = 0;
			continue;
		}
		if (!rounds->begun)
			*deficit += rounds->quantum[rounds->turn];
		rounds->begun = true;
		if (tx_queue->length[0] <= *deficit)
			return rounds->turn;
	}
}

static void rounds_take(struct rounds *rounds, uint32_t i)
{
	rounds->deficit[i] -= rounds->tx_queue[i].length[0];
	tx_queue_pop(&rounds->tx_queue[i]);
	if (rounds->tx_queue[i].n == 0) {
		rounds->deficit[i] = 0;
		rounds_next(rounds);
	}
}

static void drr_play(uint32_t length_max, uint32_t quantum_min, uint32_t quantum_max)
{
	struct classes classes = {.n = 1 + (uint32_t)roll(CLASSES_MAX), .algorithm = SCHEDULER_DRR};
	struct link link;
	struct rounds rounds = {.n = classes.n};
	uint32_t waiting = 0;

	memset(&link, 0, sizeof(link));
	link_init(&link);
	link.classes = &classes;
	for (uint32_t i = 0; i < classes.n; i++)
		classes.class[i].quantum = rounds.quantum[i] =
		        (int64_t)RTE_MAX(quantum_min, roll_length(quantum_max));
	for (int step = 0; step < STEPS || waiting > 0; step++) {
		uint32_t i = (uint32_t)roll(classes.n);
		struct queue *queue;

		if (step < STEPS && rounds.tx_queue[i].n < PACKETS_MAX && roll(2)) {
			uint32_t length = roll_length(length_max);

			put(&classes.class[i].queue.log, length);
			rounds.tx_queue[i].length[rounds.tx_queue[i].n++] = length;
			waiting++;
		}
		if (waiting == 0 || roll(3) == 0)
			continue;
		queue = classes_pick(&link);
		i = rounds_pick(&rounds);
		assert_ptr_equal(queue, &classes.class[i].queue);
		classes_take(&link, queue);
		log_pop(&queue->log, &arena);
		rounds_take(&rounds, i);
		waiting--;
		for (uint32_t k = 0; k < classes.n; k++)
			assert_int_equal(classes.class[k].deficit, rounds.deficit[k]);
	}
	for (uint32_t i = 0; i < classes.n; i++)
		log_clear(&classes.class[i].queue.log, &arena);
}

static void drr_sends_what_it_would_round_by_round(void **state)
{
	(void)state;
	key = draw_key_make(1, "rounds", "drr");
	rolled = 0;
	for (int i = 0; i < CASES; i++)
		drr_play(i % 4 ? 1 << 16 : UINT32_MAX, i % 4 ? 64 : 1 << 22,
		         i % 4 ? 1 << 14 : UINT32_MAX);
}

/* 2^32 - 1 bytes with a quantum of 64 are 67 million rounds; 10000 of these would take hours. */
static void drr_takes_no_longer_for_longer_packets(void **state)
{
	struct classes classes = {.n = 3, .algorithm = SCHEDULER_DRR};
	struct link link;

	(void)state;
	memset(&link, 0, sizeof(link));
	link_init(&link);
	link.classes = &classes;
	for (uint32_t i = 0; i < 3; i++)
		classes.class[i].quantum = 64;
	for (int n = 0; n < 10000; n++) {
		put(&classes.class[n % 2].queue.log, UINT32_MAX - (uint32_t)n % 2);
		if (n > 2) {
			struct queue *queue = classes_pick(&link);

			classes_take(&link, queue);
			log_pop(&queue->log, &arena);
		}
	}
	for (uint32_t i = 0; i < 3; i++)
		log_clear(&classes.class[i].queue.log, &arena);
}

/* ---- FQ-CoDel ---- */

#define FLOWS 12

struct fair {
	uint32_t n_new, n_old, new[FLOWS], old[FLOWS];
	struct tx_queue tx_queue[FLOWS];
	int64_t credit[FLOWS], quantum;
	bool listed[FLOWS];
};

static void fair_enter(struct fair *fair, uint32_t i, uint32_t length)
{
	fair->tx_queue[i].length[fair->tx_queue[i].n++] = length;
	if (fair->listed[i])
		return;
	fair->listed[i] = true;
	fair->credit[i] = fair->quantum;
	fair->new[fair->n_new++] = i;
}

static void drop_first(uint32_t *list, uint32_t *n)
{
	memmove(list, list + 1, --*n * sizeof(*list));
}

/* RFC 8290, section 4.2, one queue after the other. Returns FLOWS if nothing waits. */
static uint32_t fair_pick(struct fair *fair)
{
	while (fair->n_new + fair->n_old > 0) {
		bool new = fair->n_new > 0;
		uint32_t *list = new ? fair->new : fair->old,
		         *n = new ? &fair->n_new : &fair->n_old;
		uint32_t i = list[0];

		if (fair->credit[i] <= 0) {
			fair->credit[i] += fair->quantum;
			drop_first(list, n);
			fair->old[fair->n_old++] = i;
		} else if (fair->tx_queue[i].n == 0) {
			drop_first(list, n);
			fair->listed[i] = new;
			if (new)
				fair->old[fair->n_old++] = i;
		} else {
			return i;
		}
	}
	return FLOWS;
}

static struct aqm *fair_aqm(uint64_t quantum)
{
	struct fq_codel_conf *conf = (struct fq_codel_conf *)conf_make(&fq_codel_statement);
	struct cloud_conf cloud = {.n_confs = 0};
	struct aqm *aqm = NULL;

	assert_non_null(conf);
	conf->flows = FLOWS;
	conf->quantum_bytes = quantum;
	assert_int_equal(fq_codel_statement.aqm->make(&conf->conf, &cloud, &aqm), 0);
	conf_free(&conf->conf);
	return aqm;
}

static void fair_play(uint32_t length_max, uint64_t quantum)
{
	const struct aqm_kind *kind = fq_codel_statement.aqm;
	struct aqm *aqm = fair_aqm(quantum);
	struct fair fair = {.quantum = (int64_t)quantum};
	uint32_t waiting = 0;

	for (int step = 0; step < STEPS || waiting > 0; step++) {
		uint32_t i = (uint32_t)roll(FLOWS);
		struct aqm_view view = {.waiting_bytes = 0};
		struct log *log;

		if (step < STEPS && fair.tx_queue[i].n < PACKETS_MAX && roll(2)) {
			uint32_t length = roll_length(length_max);

			log = kind->bands->at(aqm, i);
			put(log, length);
			kind->bands->entered(aqm, log, length);
			fair_enter(&fair, i, length);
			waiting++;
		}
		if (roll(3) == 0)
			continue;
		log = kind->bands->next(aqm, 0);
		i = fair_pick(&fair);
		assert_ptr_equal(log, kind->bands->at(aqm, i));
		if (!log)
			continue;
		view.wire_bytes = log_front(log)->wire_bytes;
		view.waiting_bytes = view.wire_bytes;
		assert_int_equal(kind->depart(aqm, &view, log_front(log), 0).action, AQM_PASS);
		fair.credit[i] -= fair.tx_queue[i].length[0];
		log_pop(log, &arena);
		tx_queue_pop(&fair.tx_queue[i]);
		waiting--;
	}
	for (uint32_t i = 0; i < FLOWS; i++)
		log_clear(kind->bands->at(aqm, i), &arena);
	kind->free(aqm);
}

static void fq_codel_sends_what_it_would_turn_by_turn(void **state)
{
	(void)state;
	key = draw_key_make(1, "rounds", "fq-codel");
	rolled = 0;
	for (int i = 0; i < CASES; i++)
		fair_play(i % 4 ? 1 << 16 : UINT32_MAX, i % 4 ? 256 + roll(1 << 14) : 1 << 22);
}

static void fq_codel_takes_no_longer_for_longer_packets(void **state)
{
	const struct aqm_kind *kind = fq_codel_statement.aqm;
	struct aqm *aqm = fair_aqm(256);

	(void)state;
	for (uint32_t n = 0; n < 10000; n++) {
		struct aqm_view view = {.wire_bytes = UINT32_MAX};
		struct log *log = kind->bands->at(aqm, n % FLOWS);

		put(log, UINT32_MAX);
		kind->bands->entered(aqm, log, UINT32_MAX);
		if (n < FLOWS)
			continue;
		log = kind->bands->next(aqm, 0);
		assert_non_null(log);
		view.waiting_bytes = UINT32_MAX;
		kind->depart(aqm, &view, log_front(log), 0);
		log_pop(log, &arena);
	}
	for (uint32_t i = 0; i < FLOWS; i++)
		log_clear(kind->bands->at(aqm, i), &arena);
	kind->free(aqm);
}

GROUP(rounds)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(drr_sends_what_it_would_round_by_round),
	        cmocka_unit_test(drr_takes_no_longer_for_longer_packets),
	        cmocka_unit_test(fq_codel_sends_what_it_would_turn_by_turn),
	        cmocka_unit_test(fq_codel_takes_no_longer_for_longer_packets),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
