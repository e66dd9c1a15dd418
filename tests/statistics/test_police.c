/* SPDX-License-Identifier: BSD-3-Clause */
/* The policer over a million packets. */
#include "statistics.h"
#include "runner/group.h"

/* Twice the rate, for 1,000,000 packets. The bytes that pass are at most burst + rate x time, and
 * less than a packet below that, because the bucket is never full after the first packets. */
static void over_a_million_packets_the_rate_is_exact_to_the_packet(void **state)
{
	static const struct {
		const char *statement;
		uint64_t rate_bps, burst_bytes;
	} rows[] = {
	        {"police 10mbit burst 15kB", 10000000, 15000},
	        {"police 7654321bit burst 1518B", 7654321, 1518},
	        {"police 999999999bit burst 1MB", 999999999, 1000000},
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct trial *trial = trial_open(rows[i].statement, 1);
		uint64_t n = PACKETS, passed, most;
		const uint64_t bytes = 1000;

		trial->gap_ns = bytes * 8 * SIMTIME_S / (2 * rows[i].rate_bps);
		trial->wire_bytes = (uint32_t)bytes;
		trial_send(trial, n, 16);
		passed = trial_count(trial, TRIAL_DELIVERED) * bytes;
		most = rows[i].burst_bytes + (uint64_t)((unsigned __int128)rows[i].rate_bps *
		                                        (n - 1) * trial->gap_ns / (8 * SIMTIME_S));
		assert_true(passed <= most && passed + bytes > most);
		trial_close(trial);
	}
}

GROUP(police)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(over_a_million_packets_the_rate_is_exact_to_the_packet),
	};

	return cmocka_run_group_tests_name("police", tests, rig_group_setup, rig_group_teardown);
}
