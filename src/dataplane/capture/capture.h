/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading captures, one or several at once, in the order of time.
 *
 * pcap and pcapng, microseconds or nanoseconds, either byte order; frames of Ethernet, and as
 * Ethernet what link_layer.h makes of Linux cooked and IP captures. Read by libpcap at nanosecond
 * precision, one frame at a time, so memory does not grow with the file. `-` is standard input;
 * pipes are fine. What is compressed is unpacked (unpack.h). Frames of a pcap that are beyond doubt
 * are taken where they lie, without libpcap; what is not goes to libpcap, whose judgement counts
 * (capture.c).
 *
 * Time. An instant is the nanoseconds since 1970 that the capture says, up to the year 2106 (32
 * bits of seconds, which is all that a pcap can say). Within one capture time does not go
 * backwards: a frame that is stamped before its predecessor gets its predecessor's instant, and is
 * counted.
 *
 * Damage. A capture that ends in the middle of a record, or whose next record cannot be right,
 * gives the frames up to there, and then ends; capture_damage() says what was wrong.
 *
 * Ownership: the reader owns the bytes of a frame until the next call with the same reader.
 * Thread: one at a time a reader.
 */
#ifndef WEIR_CAPTURE_H
#define WEIR_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "capture/io_thread.h"
#include "capture/link_layer.h"
#include "packet/packet.h"
#include "simtime.h"
#include "scenario/problem.h"

/* The longest record that is read or written. */
#define CAPTURE_FRAME_MAX PACKET_BYTES_MAX

struct capture_frame {
	simtime t_ns;
	uint32_t bytes;      /* in the capture, 0..CAPTURE_FRAME_MAX */
	uint32_t wire_bytes; /* on the wire, >= bytes */
	const uint8_t *data;
	/* Where the link header is none of Ethernet: the 6 bytes of the sender's address, or NULL:
	 * it says none. Ethernet: NULL. */
	const uint8_t *sender;
};

struct capture_counts {
	uint64_t frames;
	uint64_t truncated; /* frames of which only the beginning was captured */
	uint64_t clock_back;
	simtime clock_back_max_ns;
};

struct capture;

/* `io_thread` reads ahead, or NULL (io_thread.h). 0; -EINVAL with problem when the file cannot be
 * read, is no capture, or has a link type that is not taken; -ENOMEM. `link_layer` NULL: Ethernet
 * only. Else *link_layer NULL: any that weir knows, and *link_layer is made of it, the caller's; or
 * that of captures opened before, which this one must have, too. */
int capture_open(const char *path, struct io_thread *io_thread, struct link_layer **link_layer,
                 struct capture **capture, struct problem *problem);
/* Of a pcapng the packets of the interface of that name (one_interface.h), and none if it is NULL
 * but all; Ethernet only. As capture_open. */
int capture_open_interface(const char *path, const char *interface, struct capture **capture,
                           struct problem *problem);
void capture_close(struct capture *capture); /* NULL is allowed */
/* Then the instant of the first packet of all interfaces; SIMTIME_NEVER: it is not known. */
simtime capture_first_ns(const struct capture *capture);

/* True and the next frame, or false at the end. */
bool capture_next(struct capture *capture, struct capture_frame *frame);

/* The errno of a read that failed: what came ahead of it is not all that the capture holds. 0:
 * none. */
int capture_error(const struct capture *capture);
/* What was wrong with the end of the capture, "" if nothing (so far). */
const char *capture_damage(const struct capture *capture);
const struct capture_counts *capture_counts(const struct capture *capture);
/* The file itself, to compare it with an output. */
const struct stat *capture_stat(const struct capture *capture);
/* Bytes of records read so far, and of the whole file (0 if it is a pipe). */
uint64_t capture_done_bytes(const struct capture *capture);
uint64_t capture_all_bytes(const struct capture *capture);

/*
 * Several captures as one: frames in the order of their instants, equal instants in the order of
 * the captures.
 */
struct capture_merge {
	struct capture *const *captures; /* the caller's */
	struct capture_frame *heads;
	bool *live;
	uint32_t n;
	uint32_t taken; /* the capture whose head was handed out and must be read on; n: none */
};

/* Reads the first frame of each. 0 or -ENOMEM. */
int capture_merge_start(struct capture_merge *merge, struct capture *const *captures, uint32_t n);
void capture_merge_stop(struct capture_merge *merge);
/* The next frame, valid until the next call, and the index of its capture; NULL at the end of all.
 */
const struct capture_frame *capture_merge_next(struct capture_merge *merge, uint32_t *from);

#endif
