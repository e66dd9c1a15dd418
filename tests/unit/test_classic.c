/* SPDX-License-Identifier: BSD-3-Clause */
/* Filters of libpcap, translated for the kernel: it decides about each frame as libpcap does. Needs
 * the right to load programs. */
#include "trial.h"
#include "runner/group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/filter.h"
#include "detour/program.h"

/* libpcap's own; its header and that of the kernel define the same names. */
unsigned bpf_filter(const void *steps, const uint8_t *frame, unsigned wire_bytes, unsigned bytes);

#define FITS        7
#define FRAMES      400
#define FRAME_BYTES 160

static uint64_t state = 1;

static uint32_t draw(uint32_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % below;
}

/* A frame with plausible headers, which may end anywhere behind the addresses. */
static uint32_t make_frame(uint8_t frame[FRAME_BYTES])
{
	static const uint16_t types[] = {0x0800, 0x0800, 0x0800, 0x86dd, 0x86dd, 0x0806, 0x8847};
	static const uint8_t protocols[] = {6, 6, 17, 1, 58, 132, 0};
	static const uint16_t ports[] = {22, 53, 80, 443, 40000};
	const uint16_t type = types[draw(7)];
	uint32_t at = 12, ip, transport;

	for (uint32_t i = 0; i < FRAME_BYTES; i++)
		frame[i] = (uint8_t)draw(256);
	if (draw(5) == 0) {
		frame[at++] = 0x81;
		frame[at++] = 0x00;
		frame[at++] = (uint8_t)draw(2);
		frame[at++] = (uint8_t)(5 + draw(3));
	}
	frame[at++] = (uint8_t)(type >> 8);
	frame[at++] = (uint8_t)type;
	ip = at;
	transport = ip + 40;
	if (type == 0x0800) {
		frame[ip] = (uint8_t)(0x40 | (5 + draw(11)));
		frame[ip + 6] = draw(3) == 0 ? 0x20 : 0;
		frame[ip + 7] = draw(4) == 0 ? 9 : 0;
		frame[ip + 9] = protocols[draw(7)];
		memcpy(frame + ip + 12, (uint8_t[]){192, 0, 2, (uint8_t)draw(3)}, 4);
		memcpy(frame + ip + 16, (uint8_t[]){192, 0, 2, (uint8_t)draw(3)}, 4);
		transport = ip + 4 * (frame[ip] & 15u);
	} else if (type == 0x86dd) {
		frame[ip] = 0x60;
		frame[ip + 6] = protocols[draw(7)];
		memset(frame + ip + 8, 0, 31);
		frame[ip + 8] = frame[ip + 24] = 0xfd;
		frame[ip + 23] = (uint8_t)draw(3);
		frame[ip + 39] = (uint8_t)draw(3);
	}
	for (uint32_t i = 0; i < 2; i++) {
		const uint16_t port = ports[draw(5)];

		frame[transport + 2 * i] = (uint8_t)(port >> 8);
		frame[transport + 2 * i + 1] = (uint8_t)port;
	}
	/* The kernel tries no frame that ends within the header of IPv4 or IPv6. */
	return draw(4) == 0 ? (ip == 14 ? 54 : 15) + draw(40) : FRAME_BYTES - draw(20);
}

/* Loads a translated filter, or skips the test if this process may not. */
static int load(const struct sock_filter *steps, uint32_t n)
{
	struct program program = {.name = "test"};
	int loaded;

	assert_int_equal(classic_add(steps, n, &program), 0);
	program_set(&program, BPF_REG_0, FITS);
	program_add(&program, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	loaded = program_load(&program);
	program_free(&program);
	if (loaded == -EPERM || loaded == -ENOSYS) {
		print_message("SKIP: this process may not load BPF programs\n");
		skip();
	}
	return loaded;
}

static void the_kernel_decides_as_libpcap_does(void **unused)
{
	static const char *const texts[] = {
	        "host 192.0.2.1",
	        "host 192.0.2.1 and tcp port 443",
	        "tcp port 443 or udp port 53",
	        "not tcp port 22",
	        "ip6 and src host fd00::1",
	        "net 192.0.2.0/30 and not icmp",
	        "tcp portrange 20-100",
	        "tcp[tcpflags] & (tcp-syn|tcp-fin) != 0",
	        "ip[2:2] > 576 and ip[0] & 0xf != 5",
	        "ether src 02:00:00:00:00:01 or arp",
	        "vlan 6 and host 192.0.2.2",
	        "len > 100",
	        "greater 60 and less 120",
	        "udp[8:4] / 3 = 7 or ip[8] % 5 = 2",
	        "ip[ip[0] & 0xf] * 2 - 3 > tcp[4]",
	        "ether[100:4] & 0x80000000 != 0",
	        "ether[127] < 100 and ether[128] < 100",
	        "ether[140:2] & 3 = 1",
	        "tcp[12] >> 4 << 2 > 20",
	        "ip[9] / ip[8] > 1",
	        "ip or not ip",
	        "sctp and (dst port 80 or src port 22) and not src net 192.0.2.1/32",
	};
	uint32_t fitted = 0;

	(void)unused;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct sock_filter *steps;
		struct problem problem;
		uint32_t n;
		int loaded, error = 0;

		if (filter_steps(texts[i], &steps, &n, &problem) < 0)
			fail_msg("%s: %s", texts[i], problem.text);
		loaded = load(steps, n);
		if (loaded < 0)
			fail_msg("%s: the kernel refuses it: %s", texts[i], strerror(-loaded));
		for (uint32_t k = 0; k < FRAMES; k++) {
			uint8_t frame[FRAME_BYTES];
			const uint32_t bytes = make_frame(frame);
			const bool should = bpf_filter(steps, frame, bytes, bytes) != 0;
			const int32_t got = program_try(loaded, frame, bytes, &error);

			if (error < 0)
				fail_msg("%u bytes: %s", bytes, strerror(-error));
			if (got != (should ? FITS : -1))
				fail_msg("%s: frame %u of %u bytes: %d", texts[i], k, bytes, got);
			fitted += should;
		}
		close(loaded);
		free(steps);
	}
	/* Else the frames show nothing. */
	assert_in_range(fitted, FRAMES, 20 * FRAMES);
}

static void a_program_that_is_none_is_not_translated(void **unused)
{
	static const struct sock_filter beyond[] = {BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
	                                            BPF_STMT(BPF_RET | BPF_K, 0)},
	                                kernels_own[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	                                                          0xfffff000),
	                                                 BPF_STMT(BPF_RET | BPF_K, 0)},
	                                no_cell[] = {BPF_STMT(BPF_ST, BPF_MEMWORDS),
	                                             BPF_STMT(BPF_RET | BPF_K, 0)};
	struct program program = {.name = "test"};
	struct sock_filter *loop;
	struct problem problem;
	uint32_t n;

	(void)unused;
	assert_int_equal(filter_steps("ip6 protochain 6", &loop, &n, &problem), 0);
	assert_int_equal(classic_add(loop, n, &program), -ENOTSUP);
	free(loop);
	assert_int_equal(classic_add(beyond, 2, &program), -ENOTSUP);
	assert_int_equal(classic_add(kernels_own, 2, &program), -ENOTSUP);
	assert_int_equal(classic_add(no_cell, 2, &program), -ENOTSUP);
	program_free(&program);
}

GROUP(classic)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_kernel_decides_as_libpcap_does),
	        cmocka_unit_test(a_program_that_is_none_is_not_translated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
