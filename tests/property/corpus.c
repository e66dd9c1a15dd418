/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the corpus of the property tests, one line a case: what left at each port, in its order,
 * as a digest of instants, lengths and bytes; there is no order between ports. Two builds of weir
 * that print the same behave the same in all cases; tests/speed/same_bytes compares them.
 *
 *   property_corpus [CASES]      of each set (default 100)
 *   property_corpus CASES text   each scenario as text instead, followed by a blank line
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_hash_crc.h>

#include "language/scenario_file.h"
#include "play.h"

/* The sets of test_drives.c. */
static const struct {
	uint64_t from;
	uint32_t what;
} sets[] = {
        {1000000, SCRIPT_LOSS | SCRIPT_JITTER},
        {2000000, SCRIPT_SHARED | SCRIPT_LOSS | SCRIPT_JITTER},
        {3000000, SCRIPT_CHANGES | SCRIPT_LOSS | SCRIPT_JITTER},
        {4000000, SCRIPT_ALL},
        {8000000, SCRIPT_CHAINS | SCRIPT_SHARED | SCRIPT_LOSS | SCRIPT_JITTER},
        {9000000, SCRIPT_ALL | SCRIPT_CHAINS},
        {11000000, SCRIPT_CLASSIFIERS | SCRIPT_SHARED | SCRIPT_LOSS | SCRIPT_JITTER},
        {12000000, SCRIPT_CLASSIFIERS | SCRIPT_CHAINS | SCRIPT_ALL},
        {13000000, SCRIPT_LINKS | SCRIPT_LOSS | SCRIPT_JITTER},
        {14000000, SCRIPT_LINKS | SCRIPT_ALL | SCRIPT_CHAINS},
        {15000000, SCRIPT_TIMES | SCRIPT_LOSS | SCRIPT_JITTER},
        {16000000, SCRIPT_TIMES | SCRIPT_ALL},
        {17000000, SCRIPT_TIMES | SCRIPT_ALL | SCRIPT_CHAINS | SCRIPT_CLASSIFIERS},
        {18000000, SCRIPT_TIMES | SCRIPT_LINKS | SCRIPT_LOSS},
        {19000000, SCRIPT_TIMES | SCRIPT_LINKS | SCRIPT_ALL | SCRIPT_CHAINS},
        {20000000, SCRIPT_LIMITS | SCRIPT_LOSS | SCRIPT_JITTER},
        {21000000, SCRIPT_LIMITS | SCRIPT_ALL | SCRIPT_CHAINS},
        {22000000, SCRIPT_LIMITS | SCRIPT_TIMES | SCRIPT_LINKS | SCRIPT_ALL},
        {23000000, SCRIPT_TEMPLATES | SCRIPT_LOSS | SCRIPT_JITTER},
        {24000000, SCRIPT_TEMPLATES | SCRIPT_ALL | SCRIPT_LIMITS},
        {25000000, SCRIPT_TEMPLATES | SCRIPT_ALL | SCRIPT_CHAINS | SCRIPT_CLASSIFIERS},
        {26000000, SCRIPT_TEMPLATES | SCRIPT_TIMES | SCRIPT_LINKS | SCRIPT_ALL},
        {27000000, SCRIPT_TEMPLATES | SCRIPT_TIMES | SCRIPT_SHARED | SCRIPT_JITTER},
        {28000000, SCRIPT_TEMPLATES | SCRIPT_ALL | SCRIPT_LINKS},
        {43000000, SCRIPT_KEYED | SCRIPT_ALL | SCRIPT_CHAINS | SCRIPT_CLASSIFIERS},
};

static uint64_t cases;
static bool as_text;

/* Returns true if a field differs from its initial value. The rig marks no field as given. */
static bool is_other(const struct field *field, const struct conf *conf)
{
	const void *at = (const char *)conf + field->offset;

	switch (field->type) {
	case FIELD_TIME:
	case FIELD_RATE:
	case FIELD_BYTES:
	case FIELD_PROBABILITY:
	case FIELD_COUNT:
	case FIELD_FACTOR:
		return *(const uint64_t *)at != field->initial;
	case FIELD_LIMIT:
		return ((const struct limit *)at)->unit != LIMIT_NONE;
	case FIELD_WORD:
		return *(const uint32_t *)at != field->initial;
	case FIELD_SWITCH:
	case FIELD_FLAG:
		return *(const bool *)at != (field->initial != 0);
	case FIELD_TEXT:
		return *(char *const *)at != NULL;
	default:
		return field->flags & FIELD_REQUIRED;
	}
}

static void give(const struct conf *conf)
{
	const struct field *fields = conf ? conf->statement->fields : NULL;

	for (uint32_t i = 0; fields && fields[i].name; i++)
		if (fields[i].flags & FIELD_REQUIRED || is_other(&fields[i], conf))
			((struct conf *)(uintptr_t)conf)->given |= UINT64_C(1) << i;
}

static void print_scenario(const struct scenario *of)
{
	struct scenario *scenario = scenario_copy(of);

	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		give(scenario->clouds[i]->selection);
		for (uint32_t k = 0; k < scenario->clouds[i]->n_confs; k++)
			give(scenario->clouds[i]->confs[k]);
	}
	char *text = scenario_text(scenario);

	printf("%s\n", text);
	free(text);
	scenario_free(scenario);
}

static void print(uint64_t seed, const char *way, const struct played *played)
{
	uint32_t digests[SCENARIO_PORTS_MAX] = {0}, digest = 0;

	for (uint32_t i = 0; i < played->n; i++) {
		const struct departure *left = &played->departures[i];
		uint32_t *of = &digests[left->port];

		*of = rte_hash_crc_8byte(left->due_ns, *of);
		*of = rte_hash_crc_8byte(left->number, *of);
		*of = rte_hash_crc_4byte(left->wire_bytes, *of);
		*of = rte_hash_crc_4byte(left->frame_bytes, *of);
		*of = rte_hash_crc_4byte(left->digest, *of);
	}
	for (uint32_t port = 0; port < SCENARIO_PORTS_MAX; port++)
		digest = rte_hash_crc_4byte(digests[port], digest);
	printf("%" PRIu64 " %s %u %08x %" PRIu64 " %" PRIu64 "\n", seed, way, played->n, digest,
	       played->limited, played->without_cloud);
}

static void play_all(void **state)
{
	static const struct {
		const char *name;
		enum play_way way;
		uint32_t burst;
	} ways[] = {{"bursts", PLAY_BURSTS, 32}, {"lazy", PLAY_LAZY, 7}, {"live", PLAY_LIVE, 0}};
	static struct script script;

	(void)state;
	for (size_t i = 0; i < LENGTH(sets) * cases; i++) {
		uint64_t seed = sets[i / cases].from + i % cases;

		property_begin(seed);
		script_make(&script, seed, sets[i / cases].what);
		for (size_t w = 0; w < (as_text ? 1 : LENGTH(ways)); w++) {
			struct played played =
			        script_play(&script, ways[w].way, ways[w].burst, seed);

			if (!as_text)
				print(seed, ways[w].name, &played);
			played_free(&played);
		}
	}
	property_begin(0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_teardown(play_all, property_teardown),
	};

	cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
	as_text = argc > 2;
	if (as_text)
		play_scenario = print_scenario;
	return cmocka_run_group_tests_name("corpus", tests, rig_group_setup, rig_group_teardown);
}
