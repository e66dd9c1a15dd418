/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a device text: which names an interface may have, and where commas belong to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "port/device_text.h"
#include "port/privileges.h"
#include "runner/group.h"

#define LETTERS_50 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwx"

static void a_text_means_an_interface_by_its_whole_name(void **state)
{
	static const struct {
		const char *device, *name; /* NULL: none */
	} cases[] = {
	        {"eth1", "eth1"},
	        {"interface:eth1", "eth1"},
	        {"interface:lan,1", "lan,1"},
	        {"interface:a,iface=b", "a,iface=b"},
	        {"interface:net_tap0", "net_tap0"},
	        {"eth0@if7", "eth0@if7"},
	        {"interface:" LETTERS_50 LETTERS_50, LETTERS_50 LETTERS_50},
	        {"interface:" LETTERS_50 LETTERS_50 LETTERS_50, NULL},
	        {"interface:", NULL},
	        {"", NULL},
	        {"lan,1", NULL},
	        {"net_af_packet0,iface=eth1", "eth1"},
	        {"net_af_packet0,framecnt=512,iface=eth1,qpairs=1", "eth1"},
	        {"net_af_packet0,iface=", NULL},
	        {"net_af_packet0,xiface=eth1", NULL},
	        {"net_tap0,iface=tap7", NULL},
	        {"net_vhost0,iface=/tmp/s0", NULL},
	        {"file:x,iface=eth1", NULL},
	        {"0000:03:00.0", NULL},
	};
	char name[INTERFACE_NAME_BYTES];
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool found = device_text_any_interface(cases[i].device, name);

		if (found != (cases[i].name != NULL) || (found && strcmp(name, cases[i].name)))
			fail_msg("%s: %s", cases[i].device, found ? name : "no interface");
	}
}

static void a_comma_behind_a_backslash_belongs_to_a_value(void **state)
{
	char value[16];
	(void)state;

	assert_true(
	        device_text_value("file:a\\,out=b,out=c\\,d\\e,loop", "out", value, sizeof(value)));
	assert_string_equal(value, "c,d\\e");
	assert_true(device_text_value("x,k=0123456789abcdefgh,l=2", "k", value, sizeof(value)));
	assert_string_equal(value, "0123456789abcde");
	assert_false(device_text_value("interface:x,out=y", "out", value, sizeof(value)));
	assert_string_equal(value, "");
	assert_int_equal(device_text_part("a\\,b,c", value, sizeof(value)), 4);
	assert_string_equal(value, "a,b");
	assert_int_equal(device_text_part("a\\", value, sizeof(value)), 2);
	assert_string_equal(value, "a\\");
}

static void the_name_of_an_interface_is_not_read_for_arguments(void **state)
{
	(void)state;

	assert_int_equal(privileges_of_device("interface:x,out=y"),
	                 privileges_of_device("interface:x"));
}

GROUP(device_text)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_text_means_an_interface_by_its_whole_name),
	        cmocka_unit_test(a_comma_behind_a_backslash_belongs_to_a_value),
	        cmocka_unit_test(the_name_of_an_interface_is_not_read_for_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
