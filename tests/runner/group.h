/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A group of claims: one file of tests, under the name that it has in its suite's table
 * (meson.build), with `_` for `-`. Many groups are linked into one runner (runner.c), which calls
 * them by name; a group that replaces symbols of others is a program of its own.
 *
 *   GROUP(mark)
 *   {
 *           const struct CMUnitTest tests[] = {...};
 *
 *           return cmocka_run_group_tests(tests, rig_group_setup, rig_group_teardown);
 *   }
 *
 * Returns how many claims failed. A group runs in a process of its own.
 */
#ifndef WEIR_TESTS_GROUP_H
#define WEIR_TESTS_GROUP_H

#ifdef GROUP_ALONE
#define GROUP(name) int main(void)
#else
#define GROUP(name)                                                                                \
	int claims_##name(void);                                                                   \
	int claims_##name(void)
#endif

#endif
