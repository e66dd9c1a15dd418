/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frame of the scenarios whose stages look into packets: Ethernet, IPv4 with ECT(0), a unified feedback
 * header that asks for the least LINK of the path (docs/feedback-header.md), UDP from and to port 9,
 * and six bytes of nothing: the shortest frame that has it all, 64 bytes, and so every packet costs what
 * the dearest one does.
 *
 * Addresses are those of RFC 2544. The IPv4 checksum is right; UDP has none. Thread: constant.
 */
#ifndef WEIR_BENCH_QUESTION_H
#define WEIR_BENCH_QUESTION_H

#include <stdint.h>

#define BENCH_QUESTION_BYTES 64

/* clang-format off */
static const uint8_t bench_question[BENCH_QUESTION_BYTES] = {
	/* to, from, IPv4 */
	0x02, 0, 0, 0, 0, 0x02, 0x02, 0, 0, 0, 0, 0x01, 0x08, 0x00,
	/* 50 bytes, TTL 64, protocol 253 */
	0x45, 0x02, 0, 50, 0, 0, 0, 0, 64, 253, 0xed, 0xa5, 198, 18, 0, 1, 198, 19, 0, 1,
	/* MIN of LINK, no answers, UDP follows; nobody has written yet */
	1, 1, 0, 0, 0, 0, 0, 17, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	/* ports, 14 bytes, no checksum */
	0, 9, 0, 9, 0, 14, 0, 0, 0, 0, 0, 0, 0, 0,
};
/* clang-format on */

#endif
