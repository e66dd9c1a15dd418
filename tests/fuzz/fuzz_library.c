/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes libweir by calls: each byte chooses a call on one of three networks, and the next ones its
 * arguments. Saved states are also changed and given a right digest, so that weir_load reads what
 * was made by hand.
 *
 * Asserts: what is returned is what weir.h promises (order of instants, lengths, errors); a clone
 * that is made and received from gives what the first network gives.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "packet/digest.h"
#include "weir.h"

#define NETS      3
#define CALLS_MAX 300
#define MARKED    6         /* edits of a saved state */
#define MEMORY    (4 << 20) /* little: a sanitizer looks at all of it */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const beginnings[] = {
        "port a\nport b\ncloud x from a to b\ncloud x delay 5ms jitter 2ms\n"
        "cloud y from b to a\ncloud y rate 10mbit queue 100kB\ncloud y fq-codel flows 16\n",
        "port a\nport b\nport c\ncloud x from a to c\ncloud x rate 1mbit queue 20pkt\n"
        "cloud x delay 9ms order allow\ncloud y from b to c\ncloud y duplicate 30%\n",
        "port a\nport b\ncloud x from a to b\ncloud x hop 192.0.2.99 mtu 600\n"
        "cloud x delay 1ms\ncloud y from x to b\ncloud y loss random 10%\n",
        "port a\nport b\nclouds x from a to b per flow most 20\nclouds x delay 3ms\n"
        "cloud y from b to a\ncloud y every 10ms for 3ms loss 50%\n",
        "port a\nport b\ncloud x from a to b match udp\ncloud x delay 1ms\n"
        "cloud y from a to b\ncloud y corrupt random 10%\ncloud y delay 2ms\n",
};

static const char *const changes[] = {
        "cloud x delay 1ms\n",
        "cloud x delay 20ms jitter 5ms order allow\n",
        "cloud x rate 3mbit queue 9kB\n",
        "cloud y rate off\n",
        "cloud y red min 2kB max 9kB\ncloud y ecn on\n",
        "no cloud y\n",
        "cloud y from b to a\n",
        "cloud z from a to b priority 9 match ip6\ncloud z delay 2ms\n",
        "no cloud z\n",
        "cloud x loss gilbert-elliott p 10% r 30%\n",
        "cloud x flap down 2ms every 30ms\n",
        "cloud x delay 3\n",
        "port c\n",
        "cloud y dualpi2 target 2ms\n",
        "cloud y slots 1ms..2ms\n",
};

struct play {
	struct weir *nets[NETS];
	int64_t latest_ns[NETS];
	uint64_t fates;
};

static uint32_t take_two(struct input *input)
{
	const uint32_t high = take(input);

	return high << 8 | take(input);
}

static void count_fate(void *argument, const struct weir_fate *fate)
{
	struct play *play = argument;

	assert(fate->kind <= WEIR_LEFT && fate->cloud[0]);
	assert((fate->kind == WEIR_DROPPED) <= (fate->reason != NULL));
	play->fates += fate->wire_bytes;
}

static uint64_t digest_of_frames(const struct weir_frame *frames, int n, uint64_t digest)
{
	for (int i = 0; i < n; i++) {
		digest = digest_add(digest, (uint64_t)frames[i].t_ns);
		digest = digest_add(digest, frames[i].port);
		digest = digest_bytes(digest, frames[i].data, frames[i].bytes);
	}
	return digest;
}

static int64_t later(const struct weir *net, struct input *input)
{
	const uint32_t step = take_two(input);
	const int64_t next = weir_next(net), now = weir_now(net);

	if (step % 4 == 0 && next != WEIR_NEVER && next < now + INT64_C(10000000000))
		return next;
	return now + (int64_t)step * (step % 8 == 1 ? 10000 : 100);
}

static uint64_t receive(struct play *play, uint32_t at, int64_t until_ns, uint32_t batch)
{
	struct weir *net = play->nets[at];
	struct weir_frame frames[WEIR_BATCH_MAX];
	uint64_t digest = 0;
	int n;

	while ((n = weir_receive(net, until_ns, frames, batch)) > 0) {
		assert((uint32_t)n <= batch);
		for (int i = 0; i < n; i++) {
			assert(frames[i].t_ns >= play->latest_ns[at] && frames[i].t_ns <= until_ns);
			assert(frames[i].bytes <= WEIR_FRAME_MAX);
			assert(frames[i].port < weir_ports(net));
			play->latest_ns[at] = frames[i].t_ns;
		}
		digest = digest_of_frames(frames, n, digest);
	}
	assert(n == 0 || n == -ENOMEM || n == -ETIME);
	return digest;
}

static void send_some(struct weir *net, struct input *input)
{
	static uint8_t frame[WEIR_FRAME_MAX];
	struct weir_frame frames[40];
	const uint32_t n = 1 + take(input) % 40, bytes = take_two(input);
	int64_t t_ns = later(net, input);

	memset(frame, 0, 60);
	frame[12] = 8;
	frame[14] = 0x45;
	frame[16] = (uint8_t)(bytes >> 8);
	frame[17] = (uint8_t)bytes;
	frame[22] = 64;
	frame[23] = take(input) % 2 ? 17 : 6;
	for (uint32_t i = 0; i < n; i++, t_ns += n % 3)
		frames[i] = (struct weir_frame){.t_ns = t_ns,
		                                .port = bytes % 3 ? i % 2 : 2,
		                                .bytes = bytes,
		                                .wire_bytes = n % 5 ? 0 : bytes + n,
		                                .data = frame};
	assert(weir_send_many(net, frames, n) <= (int)n);
}

static void datagrams(struct weir *net, struct input *input)
{
	static uint8_t payload[2048];
	struct weir_datagram out[16], in = {.payload = payload};
	const uint8_t how = take(input);
	int n;

	in.t_ns = later(net, input);
	in.bytes = take_two(input) % sizeof(payload);
	in.from.family = in.to.family = how & 1 ? WEIR_IPV6 : WEIR_IPV4;
	in.to.bytes[3] = how;
	in.ecn = how >> 1 & 3;
	in.port = how >> 3 & 3;
	weir_udp_send(net, &in, 1);
	while ((n = weir_udp_receive(net, weir_now(net), out, 16)) > 0)
		for (int i = 0; i < n; i++)
			assert(out[i].bytes <= WEIR_PAYLOAD_MAX_IPV6 && out[i].ecn <= 3);
}

/* The clone gives what the first network gives. */
static void clone_net(struct play *play, uint32_t at, uint32_t other)
{
	const int64_t until_ns = weir_now(play->nets[at]) + 30000000;

	weir_close(play->nets[other]);
	play->nets[other] = weir_clone(play->nets[at], NULL);
	play->latest_ns[other] = play->latest_ns[at];
	if (play->nets[other] && weir_lacked(play->nets[at]) == WEIR_NEVER) {
		const uint64_t digest = receive(play, at, until_ns, 7);

		assert(receive(play, other, until_ns, 32) == digest);
	}
}

static void save_net(struct play *play, uint32_t at, uint32_t other, struct input *input)
{
	const struct weir_options options = {.size = sizeof(options), .memory_bytes = MEMORY};
	const uint32_t edits = take(input) % MARKED;
	struct weir_error error;
	uint64_t digest;
	size_t bytes;
	uint8_t *saved = weir_save(play->nets[at], &bytes, &error);

	if (!saved)
		return;
	for (uint32_t i = 0; i < edits; i++) {
		const uint32_t where = take_two(input);

		saved[where % (bytes - 8)] = take(input);
	}
	digest = digest_bytes(0, saved, (uint32_t)(bytes - 8));
	memcpy(saved + bytes - 8, &digest, 8);
	weir_close(play->nets[other]);
	play->nets[other] = weir_load(saved, bytes, &options, &error);
	assert(play->nets[other] || error.code < 0);
	assert(play->nets[other] || edits > 0);
	play->latest_ns[other] = 0;
	weir_free(saved);
	/* What was made by hand may be far away, or without an end. */
	if (play->nets[other] && edits > 0) {
		struct weir_frame frames[32];

		for (int i = 0; i < 20; i++) {
			const int64_t next = weir_next(play->nets[other]);

			if (next == WEIR_NEVER ||
			    weir_receive(play->nets[other], next, frames, 32) < 0)
				break;
		}
		weir_free(weir_report(play->nets[other]));
		weir_close(play->nets[other]);
		play->nets[other] = NULL;
	}
}

static void call(struct play *play, struct input *input)
{
	const uint8_t which = take(input);
	const uint32_t at = which % NETS, other = (at + 1 + which / 128) % NETS;
	struct weir *net = play->nets[at];
	struct weir_options options = {.size = sizeof(options), .memory_bytes = MEMORY};

	if (!net) {
		const uint8_t how = take(input);

		options.begin_ns = how / 16 * 1000;
		options.seed = how;
		options.has_seed = 1;
		play->nets[at] =
		        weir_open(beginnings[how % (sizeof(beginnings) / sizeof(beginnings[0]))],
		                  &options, NULL);
		assert(play->nets[at]);
		play->latest_ns[at] = 0;
		return;
	}
	switch (which / NETS % 10) {
	case 0:
	case 1:
	case 2:
		send_some(net, input);
		break;
	case 3:
	case 4:
		receive(play, at, later(net, input), 1 + take(input));
		break;
	case 5:
		weir_change(net, later(net, input),
		            changes[take(input) % (sizeof(changes) / sizeof(changes[0]))], NULL);
		break;
	case 6:
		datagrams(net, input);
		break;
	case 7:
		clone_net(play, at, other);
		break;
	case 8:
		save_net(play, at, other, input);
		break;
	default:
		weir_on_fate(net, which & 64 ? count_fate : NULL, play, take(input) & 0x7f);
		weir_free(weir_report(net));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	struct play play = {.fates = 0};

	for (uint32_t i = 0; i < CALLS_MAX && input.left > 0; i++)
		call(&play, &input);
	for (uint32_t at = 0; at < NETS; at++)
		weir_close(play.nets[at]);
	return 0;
}
