/* SPDX-License-Identifier: BSD-3-Clause */
/* Configurations and scenarios as values: copied, compared, replaced, freed once (ASan counts). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runner/group.h"
#include "scenario/scenario.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* A statement with a field of every type that is a plain value or a text. */
struct all_conf {
	struct conf conf;
	uint64_t time, rate, bytes, probability, count;
	struct limit limit;
	uint32_t word, ipv4;
	bool on, flag;
	uint8_t ipv6[16];
	char *text, *rest;
};

#define MEMBER(id, kind, ...)                                                                      \
	{                                                                                          \
		.name = #id, .type = kind, .offset = offsetof(struct all_conf, id), __VA_ARGS__    \
	}

static const struct field all_fields[] = {
        MEMBER(time, FIELD_TIME, .initial = 11),
        MEMBER(rate, FIELD_RATE, .initial = 12),
        MEMBER(bytes, FIELD_BYTES, .initial = 13),
        MEMBER(probability, FIELD_PROBABILITY, .initial = 14),
        MEMBER(count, FIELD_COUNT, .initial = 15),
        MEMBER(limit, FIELD_LIMIT, .initial = 0),
        MEMBER(word, FIELD_WORD, .initial = 2),
        MEMBER(ipv4, FIELD_IPV4, .initial = 0),
        MEMBER(on, FIELD_SWITCH, .initial = 1),
        MEMBER(flag, FIELD_FLAG, .initial = 0),
        MEMBER(ipv6, FIELD_IPV6, .initial = 0),
        MEMBER(text, FIELD_TEXT, .initial = 0),
        MEMBER(rest, FIELD_TEXT, .initial = 0),
        FIELD_END,
};

static const struct statement all = {
        .name = "all", .fields = all_fields, .conf_bytes = sizeof(struct all_conf)};
static const struct statement all_variant = {.name = "all",
                                             .variant = "other",
                                             .fields = all_fields,
                                             .conf_bytes = sizeof(struct all_conf)};

static struct all_conf *filled(const struct statement *statement)
{
	struct all_conf *conf = (struct all_conf *)conf_make(statement);

	assert_non_null(conf);
	conf->text = strdup("a file");
	conf->rest = strdup("");
	conf->ipv6[15] = 1;
	conf->ipv4 = 0x01020304;
	conf->limit = (struct limit){.value = 90000, .unit = LIMIT_BYTES};
	assert_non_null(conf->text);
	assert_non_null(conf->rest);
	return conf;
}

static void a_new_configuration_has_the_initial_values(void **state)
{
	struct all_conf *conf = (struct all_conf *)conf_make(&all);

	(void)state;
	assert_ptr_equal(conf->conf.statement, &all);
	assert_int_equal(conf->conf.given, 0);
	assert_int_equal(conf->time, 11);
	assert_int_equal(conf->rate, 12);
	assert_int_equal(conf->bytes, 13);
	assert_int_equal(conf->probability, 14);
	assert_int_equal(conf->count, 15);
	assert_int_equal(conf->limit.unit, LIMIT_NONE);
	assert_int_equal(conf->word, 2);
	assert_true(conf->on);
	assert_false(conf->flag);
	assert_null(conf->text);
	conf_free(&conf->conf);
}

static void a_copy_is_equal_and_owns_its_own_texts(void **state)
{
	struct all_conf *conf = filled(&all);
	struct all_conf *copy = (struct all_conf *)conf_copy(&conf->conf);

	(void)state;
	assert_non_null(copy);
	assert_true(conf_equal(&conf->conf, &copy->conf));
	assert_ptr_not_equal(conf->text, copy->text);
	assert_string_equal(copy->text, "a file");
	conf->text[0] = 'b';
	assert_string_equal(copy->text, "a file");
	assert_false(conf_equal(&conf->conf, &copy->conf));
	conf_free(&conf->conf);
	assert_string_equal(copy->text, "a file");
	conf_free(&copy->conf);
	conf_free(NULL);
}

/* Changes one byte of one field after the other. */
static void configurations_differ_when_any_field_differs(void **state)
{
	struct all_conf *a = filled(&all), *b = filled(&all), *other = filled(&all_variant);

	(void)state;
	assert_true(conf_equal(&a->conf, &b->conf));
	assert_false(conf_equal(&a->conf, &other->conf));
	for (const struct field *field = all_fields; field->name; field++) {
		uint8_t *byte = (uint8_t *)b + field->offset;

		if (field->type == FIELD_TEXT) {
			char **text = (char **)(void *)byte;
			char *kept = *text;

			*text = NULL;
			assert_false(conf_equal(&a->conf, &b->conf));
			assert_false(conf_equal(&b->conf, &a->conf));
			*text = kept;
		} else {
			*byte ^= 1;
			assert_false(conf_equal(&a->conf, &b->conf));
			*byte ^= 1;
		}
		assert_true(conf_equal(&a->conf, &b->conf));
	}
	b->limit.unit = LIMIT_PACKETS;
	assert_false(conf_equal(&a->conf, &b->conf));
	b->limit.unit = LIMIT_BYTES;
	/* which fields the user wrote does not count */
	b->conf.given = 1;
	assert_true(conf_equal(&a->conf, &b->conf));
	conf_free(&a->conf);
	conf_free(&b->conf);
	conf_free(&other->conf);
}

static struct scenario *two_clouds(void)
{
	struct scenario *scenario = scenario_make();

	assert_non_null(scenario);
	assert_int_equal(scenario_add_port(scenario, "a", "net_null0", NULL), 0);
	assert_int_equal(scenario_add_port(scenario, "b", NULL, NULL), 0);
	assert_int_equal(scenario_add_cloud(scenario, "down", "a", "b"), 0);
	assert_int_equal(scenario_add_cloud(scenario, "up", "b", "a"), 0);
	assert_int_equal(cloud_conf_put(scenario->clouds[1], &filled(&all)->conf), 0);
	scenario->seed = 42;
	scenario->seed_given = true;
	return scenario;
}

static void names_are_found_and_are_taken_once_for_ports_and_clouds_together(void **state)
{
	struct scenario *scenario = two_clouds();

	(void)state;
	assert_int_equal(scenario_find_port(scenario, "b"), 1);
	assert_int_equal(scenario_find_port(scenario, "down"), -1);
	assert_int_equal(scenario_find_cloud(scenario, "up"), 1);
	assert_int_equal(scenario_find_cloud(scenario, "u"), -1);
	assert_int_equal(scenario_add_port(scenario, "a", NULL, NULL), -EEXIST);
	assert_int_equal(scenario_add_port(scenario, "up", NULL, NULL), -EEXIST);
	assert_int_equal(scenario_add_cloud(scenario, "b", "a", "b"), -EEXIST);
	assert_int_equal(scenario_add_cloud(scenario, "down", "a", "b"), -EEXIST);
	assert_int_equal(scenario->n_ports, 2);
	assert_int_equal(scenario->n_clouds, 2);
	scenario_free(scenario);
	scenario_free(NULL);
}

static void a_name_of_31_letters_fits_and_one_of_32_does_not(void **state)
{
	struct scenario *scenario = scenario_make();
	char name[33] = "abcdefghijklmnopqrstuvwxyz012345";

	(void)state;
	assert_int_equal(scenario_add_port(scenario, name, NULL, NULL), -ENOSPC);
	assert_int_equal(scenario_add_cloud(scenario, name, "a", "b"), -ENOSPC);
	assert_int_equal(scenario_add_cloud(scenario, "x", name, "b"), -ENOSPC);
	assert_int_equal(scenario_add_cloud(scenario, "x", "a", name), -ENOSPC);
	name[31] = 0;
	assert_int_equal(scenario_add_port(scenario, name, NULL, NULL), 0);
	assert_int_equal(scenario_add_cloud(scenario, "x", name, name), 0);
	assert_string_equal(scenario->clouds[0]->to, name);
	scenario_free(scenario);
}

static void there_is_room_for_64_ports(void **state)
{
	struct scenario *scenario = scenario_make();
	char name[8];

	(void)state;
	for (int i = 0; i < SCENARIO_PORTS_MAX; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		assert_int_equal(scenario_add_port(scenario, name, name, NULL), 0);
	}
	assert_int_equal(scenario_add_port(scenario, "one-more", "d", NULL), -ENOSPC);
	scenario_free(scenario);
}

static void a_copy_of_a_scenario_is_a_value_of_its_own(void **state)
{
	struct scenario *scenario = two_clouds(), *copy = scenario_copy(scenario);

	(void)state;
	assert_non_null(copy);
	assert_int_equal(copy->seed, 42);
	assert_true(copy->seed_given);
	assert_int_equal(copy->n_ports, 2);
	assert_ptr_not_equal(copy->ports[0].device, scenario->ports[0].device);
	assert_string_equal(copy->ports[0].device, "net_null0");
	assert_null(copy->ports[1].device);
	assert_int_equal(copy->n_clouds, 2);
	assert_true(conf_equal(cloud_conf_get(copy->clouds[1], "all"),
	                       cloud_conf_get(scenario->clouds[1], "all")));
	scenario_remove_cloud(scenario, 0);
	scenario_free(scenario);
	assert_int_equal(scenario_find_cloud(copy, "down"), 0);
	assert_string_equal(((const struct all_conf *)cloud_conf_get(copy->clouds[1], "all"))->text,
	                    "a file");
	scenario_free(copy);
}

static void a_cloud_is_removed_and_the_others_keep_their_order(void **state)
{
	struct scenario *scenario = two_clouds();

	(void)state;
	assert_int_equal(scenario_add_cloud(scenario, "third", "a", "b"), 0);
	scenario_remove_cloud(scenario, 1);
	assert_int_equal(scenario->n_clouds, 2);
	assert_string_equal(scenario->clouds[0]->name, "down");
	assert_string_equal(scenario->clouds[1]->name, "third");
	scenario_remove_cloud(scenario, 1);
	scenario_remove_cloud(scenario, 0);
	assert_int_equal(scenario->n_clouds, 0);
	assert_int_equal(scenario_add_cloud(scenario, "up", "a", "b"), 0);
	scenario_free(scenario);
}

static void
a_configuration_takes_the_place_of_the_one_of_its_name_whatever_its_variant(void **state)
{
	struct scenario *scenario = two_clouds();
	struct cloud_conf *cloud = scenario->clouds[1];
	struct all_conf *other = filled(&all_variant);

	(void)state;
	other->count = 99;
	assert_int_equal(cloud_conf_put(cloud, &other->conf), 0);
	assert_int_equal(cloud->n_confs, 1);
	assert_ptr_equal(cloud_conf_get(cloud, "all"), &other->conf);
	assert_null(cloud_conf_get(cloud, "al"));
	assert_int_equal(cloud_conf_remove(cloud, "none"), -ENOENT);
	assert_int_equal(cloud_conf_remove(cloud, "all"), 0);
	assert_null(cloud_conf_get(cloud, "all"));
	assert_int_equal(cloud_conf_remove(cloud, "all"), -ENOENT);
	scenario_free(scenario);
}

static void
a_cloud_that_is_full_refuses_another_and_the_configuration_stays_the_callers(void **state)
{
	static struct statement many[CLOUD_CONFS_MAX + 1];
	static char names[CLOUD_CONFS_MAX + 1][8];
	struct scenario *scenario = scenario_make();
	struct conf *conf;

	(void)state;
	assert_int_equal(scenario_add_cloud(scenario, "x", "a", "b"), 0);
	for (int i = 0; i <= CLOUD_CONFS_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "s%d", i);
		many[i] = all;
		many[i].name = names[i];
		conf = conf_make(&many[i]);
		assert_int_equal(cloud_conf_put(scenario->clouds[0], conf),
		                 i < CLOUD_CONFS_MAX ? 0 : -ENOSPC);
	}
	conf_free(conf);
	assert_int_equal(cloud_conf_put(scenario->clouds[0], conf_make(&many[7])), 0);
	assert_int_equal(scenario->clouds[0]->n_confs, CLOUD_CONFS_MAX);
	scenario_free(scenario);
}

static void confs_keep_their_order_when_one_is_removed(void **state)
{
	static const char *const names[] = {"s0", "s1", "s2"};
	struct statement many[3];
	struct scenario *scenario = scenario_make();

	(void)state;
	assert_int_equal(scenario_add_cloud(scenario, "x", "a", "b"), 0);
	for (int i = 0; i < 3; i++) {
		many[i] = all;
		many[i].name = names[i];
		assert_int_equal(cloud_conf_put(scenario->clouds[0], conf_make(&many[i])), 0);
	}
	assert_int_equal(cloud_conf_remove(scenario->clouds[0], "s0"), 0);
	assert_ptr_equal(scenario->clouds[0]->confs[0]->statement, &many[1]);
	assert_ptr_equal(scenario->clouds[0]->confs[1]->statement, &many[2]);
	scenario_free(scenario);
}

GROUP(scenario)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_new_configuration_has_the_initial_values),
	        cmocka_unit_test(a_copy_is_equal_and_owns_its_own_texts),
	        cmocka_unit_test(configurations_differ_when_any_field_differs),
	        cmocka_unit_test(names_are_found_and_are_taken_once_for_ports_and_clouds_together),
	        cmocka_unit_test(a_name_of_31_letters_fits_and_one_of_32_does_not),
	        cmocka_unit_test(there_is_room_for_64_ports),
	        cmocka_unit_test(a_copy_of_a_scenario_is_a_value_of_its_own),
	        cmocka_unit_test(a_cloud_is_removed_and_the_others_keep_their_order),
	        cmocka_unit_test(
	                a_configuration_takes_the_place_of_the_one_of_its_name_whatever_its_variant),
	        cmocka_unit_test(
	                a_cloud_that_is_full_refuses_another_and_the_configuration_stays_the_callers),
	        cmocka_unit_test(confs_keep_their_order_when_one_is_removed),
	};

	return cmocka_run_group_tests_name("scenario", tests, NULL, NULL);
}
