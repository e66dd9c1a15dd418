/* SPDX-License-Identifier: BSD-3-Clause */
/* The segments at which a TCP flow changes its DSCP (dscp_watch.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "port/dscp_watch.h"
#include "runner/group.h"

static struct dscp_watch watch;
static uint8_t frame[100];

/* Tells the watch of a segment. */
static bool changes(bool ipv6, uint16_t port, uint8_t tos)
{
	uint32_t tcp = ipv6 ? 54 : 34;
	struct headers headers;

	memset(frame, 0, sizeof(frame));
	headers_put_u16(frame + 12, ipv6 ? 0x86dd : 0x0800);
	if (ipv6) {
		headers_put_u32(frame + 14, 6u << 28 | (uint32_t)tos << 20 | 0xabcde);
		headers_put_u16(frame + 18, 20);
		frame[20] = 6;
	} else {
		frame[14] = 0x45;
		frame[15] = tos;
		headers_put_u16(frame + 16, 40);
		frame[23] = 6;
	}
	headers_put_u16(frame + tcp, port);
	frame[tcp + 12] = 0x50;
	assert_true(headers_find(frame, tcp + 20, tcp + 20, &headers));
	assert_int_equal(dscp_of(frame, &headers), tos & 0xfc);
	return dscp_watch_changes(&watch, frame, &headers);
}

static void each_change_of_a_flow_is_found_once(void **state)
{
	(void)state;
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		assert_true(changes(ipv6, 1000, 0));
		assert_false(changes(ipv6, 1000, 0));
		assert_true(changes(ipv6, 1000, 0xb8));
		/* ECN is not DSCP. */
		assert_false(changes(ipv6, 1000, 0xbb));
		assert_true(changes(ipv6, 1000, 0));
	}
}

static void no_change_is_missed_however_many_flows_there_are(void **state)
{
	uint32_t found = 0;

	(void)state;
	for (uint8_t tos = 0; tos < 16; tos += 4) {
		for (uint32_t port = 0; port < 2 * DSCP_WATCH_FLOWS; port++)
			found += changes(false, (uint16_t)port, tos);
	}
	assert_int_equal(found, 4 * 2 * DSCP_WATCH_FLOWS);
}

static void a_flow_that_was_forgotten_changes_again(void **state)
{
	struct headers headers;

	(void)state;
	changes(false, 7, 0x20);
	assert_false(changes(false, 7, 0x20));
	assert_true(headers_find(frame, 54, 54, &headers));
	dscp_watch_forget(&watch, frame, &headers);
	assert_true(changes(false, 7, 0x20));
}

GROUP(dscp_watch)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(each_change_of_a_flow_is_found_once),
	        cmocka_unit_test(no_change_is_missed_however_many_flows_there_are),
	        cmocka_unit_test(a_flow_that_was_forgotten_changes_again),
	};

	return cmocka_run_group_tests_name("dscp-watch", tests, NULL, NULL);
}
