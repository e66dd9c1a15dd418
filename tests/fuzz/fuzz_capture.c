/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes the reader of captures: any bytes as a capture, merged with itself; every frame is passed
 * to every split rule, and put back under its link header. It must end, and keep its promises: time
 * does not go backwards, lengths are right, a frame that was not Ethernet gets an Ethernet header.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/capture.h"
#include "offline/intake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define READERS 2

static const char *const rules[] = {"first", "mac=02:00:00:00:00:0a", "ip=10.0.0.0/9",
                                    "ip=2000::/3", "port=80"};
#define RULES (sizeof(rules) / sizeof(rules[0]))

static void put_back(const struct link_layer *link_layer, const struct capture_frame *frame)
{
	uint8_t header[LINK_LAYER_BYTES_MAX] = {0}, ethernet[LINK_LAYER_ETHERNET_BYTES];
	uint8_t again[LINK_LAYER_BYTES_MAX + 1] = {0};
	const uint8_t *sender;
	struct link_layer *same;
	uint32_t bytes, again_bytes, wire_bytes;

	if (link_layer_is_ethernet(link_layer))
		return;
	assert(frame->bytes >= LINK_LAYER_ETHERNET_BYTES);
	wire_bytes = frame->wire_bytes - LINK_LAYER_ETHERNET_BYTES;
	bytes = link_layer_leave(link_layer, frame->data, wire_bytes, header);
	memcpy(again, header, bytes);
	/* For raw IP the type follows from the first byte after the header. */
	again[bytes] = frame->bytes > LINK_LAYER_ETHERNET_BYTES
	                       ? frame->data[LINK_LAYER_ETHERNET_BYTES]
	                       : 0;
	same = link_layer_make(link_layer_link(link_layer));
	if (!same)
		abort();
	assert(!link_layer_enter(same, again, bytes + 1, bytes + wire_bytes, ethernet, &again_bytes,
	                         &sender));
	assert(again_bytes == bytes);
	assert(memcmp(ethernet + 12, frame->data + 12, 2) == 0);
	assert(!sender == !frame->sender || bytes == 0);
	assert(link_layer_leave(same, ethernet, wire_bytes, again) == bytes);
	assert(memcmp(again, header, bytes) == 0);
	link_layer_free(same);
}

static void read_all(struct capture *const *captures, const struct link_layer *link_layer)
{
	struct split splits[RULES];
	struct problem problem;
	struct capture_merge merge;
	const struct capture_frame *frame;
	simtime before_ns = 0;
	uint32_t from;
	volatile uint64_t sum = 0;

	for (size_t i = 0; i < RULES; i++) {
		if (split_parse(rules[i], &splits[i], &problem))
			abort();
	}
	if (capture_merge_start(&merge, captures, READERS))
		return;
	while ((frame = capture_merge_next(&merge, &from))) {
		assert(from < READERS);
		assert(frame->t_ns >= before_ns);
		assert(frame->bytes <= CAPTURE_FRAME_MAX && frame->bytes <= frame->wire_bytes);
		before_ns = frame->t_ns;
		put_back(link_layer, frame);
		if (frame->sender)
			sum += split_matches_sender(&splits[0], frame->sender);
		for (uint32_t i = 0; i < frame->bytes; i++)
			sum += frame->data[i];
		for (size_t i = 0; i < RULES; i++) {
			/* A copy of exactly that length: reads beyond it are detected. */
			uint8_t *copy = malloc(frame->bytes ? frame->bytes : 1);

			if (!copy)
				abort();
			for (uint32_t j = 0; j < frame->bytes; j++)
				copy[j] = frame->data[j];
			sum += split_matches(&splits[i], copy, frame->bytes);
			free(copy);
		}
	}
	capture_merge_stop(&merge);
	(void)sum;
	for (int i = 0; i < READERS; i++) {
		char text[400];
		const char *other;

		(void)capture_say_order(captures[i], text, sizeof(text));
		(void)capture_other_link(captures[i], &other);
		assert(capture_damage(captures[i])[0] == 0 || capture_refused(captures[i])[0] == 0);
	}
	assert(capture_counts(captures[0])->frames == capture_counts(captures[1])->frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct capture *captures[READERS] = {NULL, NULL};
	struct link_layer *link_layer = NULL;
	struct problem problem;
	char path[32];
	int fd = memfd_create("fuzz", MFD_CLOEXEC), opened = 0;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (int i = 0; i < READERS; i++)
		opened += capture_open(path, NULL, &link_layer, &captures[i], &problem) == 0;
	assert(opened == 0 || opened == READERS);
	if (opened)
		read_all(captures, link_layer);
	for (int i = 0; i < READERS; i++)
		capture_close(captures[i]);
	link_layer_free(link_layer);
	close(fd);
	return 0;
}
