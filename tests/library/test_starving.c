/* SPDX-License-Identifier: BSD-3-Clause */
/* libweir without memory: every allocation fails in turn, and all behind it. This program is linked
 * with libweir.a, whose allocations starve.c sees. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include <weir.h>

#include "../unit/starve.h"
#include "runner/group.h"

#define ATTEMPTS 20000

/* Mappings fail, too, after so many more. */
static uint32_t mappings = UINT32_MAX;

void *__real_mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);

void *__wrap_mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	if (mappings == 0) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	mappings -= mappings < UINT32_MAX;
	return __real_mmap64(at, bytes, protection, flags, fd, offset);
}

static const char scenario[] = "port a\nport b\ncloud down from a to b\n"
                               "cloud down loss random 10%\n"
                               "cloud down rate 10mbit queue 20kB\n"
                               "cloud down fq-codel flows 16\n"
                               "cloud down delay 10ms jitter 3ms\n"
                               "clouds up from b to a per source 192.0.2.0/24 most 8\n"
                               "clouds up delay 5ms jitter 2ms order allow\n";

/* Everything once; what fails is not used further. */
static void use_all(void)
{
	static uint8_t frame[3000];
	static const struct weir_address from = {WEIR_IPV4, 1, {192, 0, 2, 1}};
	struct weir_datagram datagram = {.t_ns = 1, .port = 1, .from = from, .to = from};
	struct weir_frame frames[32];
	struct weir_error error;
	/* Little memory: a sanitizer looks at all of it. */
	const struct weir_options options = {.size = sizeof(options), .memory_bytes = 8 << 20};
	struct weir *net = weir_open(scenario, &options, &error), *other;
	size_t bytes;
	void *saved;

	if (net == NULL) {
		assert_true(error.code < 0 && error.text[0]);
		return;
	}
	for (int i = 0; i < 300; i++)
		weir_send(net, i * 1000, i % 2, frame, i % 7 ? 100 : 3000);
	datagram.t_ns = weir_now(net);
	weir_udp_send(net, &datagram, 1);
	weir_receive(net, 12000000, frames, 32);
	weir_change(net, 12000000, "cloud down delay 20ms\nno cloud down loss\n", &error);
	other = weir_clone(net, &error);
	if (other != NULL)
		weir_receive(other, 20000000, frames, 32);
	weir_close(other);
	saved = weir_save(net, &bytes, &error);
	other = saved ? weir_load(saved, bytes, &options, &error) : NULL;
	weir_close(other);
	weir_free(saved);
	weir_free(weir_report(net));
	while (weir_receive(net, 100000000, frames, 32) > 0)
		;
	weir_close(net);
}

static void every_allocation_may_fail(void **state)
{
	uint64_t n = 0;

	(void)state;
	do {
		starve_after(n++);
		use_all();
	} while (starve_end() > 0 && n < ATTEMPTS);
	assert_true(n > 100);
	assert_true(n < ATTEMPTS);
}

static void every_mapping_may_fail(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 40; n++) {
		mappings = n;
		use_all();
	}
	mappings = UINT32_MAX;
}

static void nothing_is_allocated_for_a_frame(void **state)
{
	static uint8_t frame[1500];
	struct weir_frame frames[32];
	struct weir *net = weir_open(scenario, NULL, NULL);

	(void)state;
	assert_non_null(net);
	for (int i = 0; i < 4000; i++) {
		/* Warm up: until then, pools and rings grow. */
		if (i == 2000)
			starve_after(0);
		assert_int_equal(weir_send(net, i * INT64_C(1000000), 0, frame, i % 2 ? 100 : 1500),
		                 0);
		assert_true(weir_receive(net, i * INT64_C(1000000), frames, 32) >= 0);
	}
	assert_int_equal(starve_end(), 0);
	weir_close(net);
}

GROUP(library_starving)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_allocation_may_fail),
	        cmocka_unit_test(every_mapping_may_fail),
	        cmocka_unit_test(nothing_is_allocated_for_a_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
