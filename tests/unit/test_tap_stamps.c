/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of frames that went into a tap, in a ring that a test fills as the kernel does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/if_packet.h>

#include "port/tap_port.h"
#include "runner/group.h"
#include "simtime.h"

#define MAC_AT  66u /* where the kernel puts the frame in a copy */
#define SNAPPED (TAP_STAMPS_COPY_BYTES - MAC_AT)
#define BYTES   1000u

struct scene {
	struct tap_stamps stamps;
	uint32_t written; /* copies, so far */
	uint8_t frame[BYTES];
};

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	scene->stamps.ring = calloc(TAP_STAMPS_COPIES, TAP_STAMPS_COPY_BYTES);
	*state = scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	free(scene->stamps.ring);
	free(scene);
	return 0;
}

/* Frame i, which differs from the others behind its addresses. */
static const uint8_t *frame_of(struct scene *scene, uint32_t i)
{
	memset(scene->frame, 7, BYTES);
	memcpy(scene->frame + 20, &i, sizeof(i));
	return scene->frame;
}

static struct tpacket2_hdr *copy_at(struct scene *scene, uint32_t i)
{
	return (struct tpacket2_hdr *)(void *)(scene->stamps.ring +
	                                       (size_t)(i % TAP_STAMPS_COPIES) *
	                                               TAP_STAMPS_COPY_BYTES);
}

/* The kernel writes a copy of frame i, stamped with i s and 5 ns; not if the ring is full. */
static void write_copy(struct scene *scene, uint32_t i, uint32_t bytes)
{
	struct tpacket2_hdr *copy = copy_at(scene, scene->written);

	if (copy->tp_status != TP_STATUS_KERNEL)
		return;
	*copy = (struct tpacket2_hdr){.tp_len = bytes,
	                              .tp_snaplen = bytes < SNAPPED ? bytes : SNAPPED,
	                              .tp_mac = MAC_AT,
	                              .tp_sec = i,
	                              .tp_nsec = 5,
	                              .tp_status = TP_STATUS_USER};
	memcpy((uint8_t *)copy + MAC_AT, frame_of(scene, i), copy->tp_snaplen);
	scene->written++;
}

static uint64_t found(struct scene *scene, uint32_t i, uint32_t bytes)
{
	return tap_stamps_find(&scene->stamps, frame_of(scene, i), bytes);
}

/* Copies that the kernel may not overwrite yet. */
static uint32_t kept(struct scene *scene)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < TAP_STAMPS_COPIES; i++)
		n += copy_at(scene, i)->tp_status != TP_STATUS_KERNEL;
	return n;
}

static uint64_t stamp_of(uint32_t i)
{
	return i * SIMTIME_S + 5;
}

static void each_frame_has_the_stamp_of_its_copy_round_and_round_the_ring(void **state)
{
	struct scene *scene = *state;

	for (uint32_t i = 1; i < 2 * TAP_STAMPS_COPIES + 100; i += 2) {
		write_copy(scene, i, BYTES);
		write_copy(scene, i + 1, 60);
		assert_int_equal(found(scene, i, BYTES), stamp_of(i));
		assert_int_equal(found(scene, i + 1, 60), stamp_of(i + 1));
	}
	assert_int_equal(kept(scene), 0);
}

static void copies_of_frames_that_the_tap_had_no_room_for_are_passed_over(void **state)
{
	struct scene *scene = *state;

	for (uint32_t i = 1; i <= 500; i++)
		write_copy(scene, i, BYTES);
	assert_int_equal(found(scene, 1, BYTES), stamp_of(1));
	assert_int_equal(found(scene, 400, BYTES), stamp_of(400));
	assert_int_equal(kept(scene), 100);
	assert_int_equal(found(scene, 401, BYTES), stamp_of(401));
}

static void a_frame_without_a_copy_has_no_stamp_and_the_next_ones_have(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(found(scene, 1, BYTES), 0);
	for (uint32_t i = 1; i <= 10; i++)
		write_copy(scene, i, BYTES);
	assert_int_equal(found(scene, 5, BYTES - 1), 0);
	assert_int_equal(kept(scene), 0);
	write_copy(scene, 11, BYTES);
	assert_int_equal(found(scene, 11, BYTES), stamp_of(11));
}

/* The ring fills while weir stands still. */
static void after_a_full_ring_frames_have_stamps_again(void **state)
{
	struct scene *scene = *state;

	for (uint32_t i = 1; i <= TAP_STAMPS_COPIES + 50; i++)
		write_copy(scene, i, BYTES);
	for (uint32_t i = 1; i <= TAP_STAMPS_COPIES; i++)
		assert_int_equal(found(scene, i, BYTES), stamp_of(i));
	assert_int_equal(found(scene, TAP_STAMPS_COPIES + 1, BYTES), 0);
	write_copy(scene, 7, BYTES);
	assert_int_equal(found(scene, 7, BYTES), stamp_of(7));
}

static void the_tag_that_the_kernel_takes_out_of_a_copy_is_no_difference(void **state)
{
	struct scene *scene = *state;
	uint8_t tagged[BYTES + 4];

	write_copy(scene, 3, BYTES);
	copy_at(scene, 0)->tp_status |= TP_STATUS_VLAN_VALID;
	memcpy(tagged, frame_of(scene, 3), 12);
	memcpy(tagged + 12, "\x81\0\0\x05", 4);
	memcpy(tagged + 16, frame_of(scene, 3) + 12, BYTES - 12);
	assert_int_equal(tap_stamps_find(&scene->stamps, tagged, sizeof(tagged)), stamp_of(3));
}

static void a_cleared_ring_is_the_kernels(void **state)
{
	struct scene *scene = *state;

	for (uint32_t i = 1; i <= TAP_STAMPS_COPIES; i++)
		write_copy(scene, i, BYTES);
	tap_stamps_clear(&scene->stamps);
	assert_int_equal(kept(scene), 0);
	write_copy(scene, 9, BYTES);
	assert_int_equal(found(scene, 9, BYTES), stamp_of(9));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

GROUP(tap_stamps)
{
	const struct CMUnitTest tests[] = {
	        TEST(each_frame_has_the_stamp_of_its_copy_round_and_round_the_ring),
	        TEST(copies_of_frames_that_the_tap_had_no_room_for_are_passed_over),
	        TEST(a_frame_without_a_copy_has_no_stamp_and_the_next_ones_have),
	        TEST(after_a_full_ring_frames_have_stamps_again),
	        TEST(the_tag_that_the_kernel_takes_out_of_a_copy_is_no_difference),
	        TEST(a_cleared_ring_is_the_kernels),
	};

	return cmocka_run_group_tests_name("tap-stamps", tests, NULL, NULL);
}
