/* SPDX-License-Identifier: BSD-3-Clause */
/* The gateway of `weir exec` when it cannot start. Its traffic is tested in tests/live. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "gateway/gateway.h"
#include "runner/group.h"

/* Zeros taken for descriptors would close descriptor 0 first. */
static void a_gateway_without_descriptors_closes_none_of_others(void **state)
{
	const struct gateway_options options = {.net = -1, .tap = -1, .opening = -1};
	const int lowest = fcntl(0, F_DUPFD_CLOEXEC, 0);
	struct rlimit before, none;
	struct problem problem;
	struct gateway *gateway;
	int rc;

	(void)state;
	assert_true(lowest > 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = (rlim_t)lowest;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	rc = gateway_start(&options, &gateway, &problem);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(rc, -EMFILE);
	assert_non_null(strstr(problem.text, "Too many open files"));
	for (int fd = 0; fd <= lowest; fd++)
		assert_true(fcntl(fd, F_GETFD) >= 0);
	close(lowest);
}

GROUP(gateway)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_gateway_without_descriptors_closes_none_of_others),
	};

	return cmocka_run_group_tests_name("gateway", tests, NULL, NULL);
}
