/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads captures, one or several at once, in the order of time.
 *
 * Formats: pcap and pcapng, in microseconds or nanoseconds, in either byte order, also several
 * files in succession (records.h); other variants of pcap by libpcap. Frames are Ethernet;
 * link_layer.h turns frames of other links into Ethernet. Memory does not grow with the file. `-`
 * is standard input; pipes are possible. Compressed files are unpacked (unpack.h).
 *
 * Link types. A capture has one link type. If frames or interfaces of another one follow, the
 * capture is *refused*: it ends, and capture_refused() returns why. If the caller wants a certain
 * link type, frames of others are left out instead, and counted.
 *
 * Time. An instant is the number of nanoseconds since 1970 in the capture, up to the year 2106 (32
 * bits of seconds, which is all that a pcap can express); a capture with others is refused. Frames
 * come in the order of time, and stamps that cannot be right are mended (frame_order.h).
 *
 * Damage. If a capture ends in the middle of a record, or if its next record cannot be right, it
 * yields the frames before that, and then ends; capture_damage() returns what was wrong.
 *
 * Ownership: the reader owns the bytes of a frame until the next call with the same reader.
 * Thread: one at a time a reader.
 */
#ifndef WEIR_CAPTURE_H
#define WEIR_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "capture/frame_order.h"
#include "capture/block_file.h"
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
	/* The 6 bytes of the sender's address in a link header other than Ethernet, or NULL if it
	 * has none. Ethernet: NULL. */
	const uint8_t *sender;
};

struct capture_counts {
	uint64_t frames;
	uint64_t truncated; /* frames of which only the beginning was captured */
};

struct capture;

struct capture_options {
	struct io_thread *io_thread; /* reads ahead; NULL: the caller reads */
	/* NULL: only Ethernet is accepted. *link_layer NULL: any link type that weir knows is
	 * accepted, and *link_layer is made for it. Otherwise the capture must have the link type
	 * of *link_layer, that of captures opened before. Ownership: *link_layer is the
	 * caller's. */
	struct link_layer **link_layer;
	bool link_wanted; /* leaves out the frames of all link types but `link`, a DLT_ value */
	int link;
	const char *interface; /* reads only the interface of a pcapng with this name, or all */
	/* A frame of a pipe is returned at once, and does not wait for those behind it. */
	bool live;
};

/* Opens a capture. Returns 0; -EINVAL with problem if the file cannot be read, is no capture, or
 * has a link type that is not accepted; or -ENOMEM. */
int capture_open_with(const char *path, const struct capture_options *options,
                      struct capture **capture, struct problem *problem);
int capture_open(const char *path, struct io_thread *io_thread, struct link_layer **link_layer,
                 struct capture **capture, struct problem *problem);
void capture_close(struct capture *capture); /* NULL is allowed */
/* Returns, for a capture of one interface, the stamp of the first packet of all interfaces, or
 * SIMTIME_NEVER if it is not known. */
simtime capture_first_ns(const struct capture *capture);

/* Returns true and the next frame, or false at the end. */
bool capture_next(struct capture *capture, struct capture_frame *frame);

/* Returns the errno of a failed read, after which the rest of the capture is missing; 0: none
 * failed. */
int capture_error(const struct capture *capture);
/* Returns what was wrong with the end of the capture, "" if nothing so far. */
const char *capture_damage(const struct capture *capture);
/* Returns why the capture cannot be read although it is not damaged, "" if nothing so far. */
const char *capture_refused(const struct capture *capture);
const struct capture_counts *capture_counts(const struct capture *capture);
const struct frame_order_counts *capture_order_counts(const struct capture *capture);
/* Writes what a person should know about the time stamps so far, in one line. Returns false if
 * there is nothing. */
bool capture_say_order(const struct capture *capture, char *text, size_t room);
/* Returns the number of frames of other link types that were left out, and in *which the first
 * interface that had some. */
uint64_t capture_other_link(const struct capture *capture, const char **which);
/* Returns the status of the file, to compare it with an output. */
const struct stat *capture_stat(const struct capture *capture);
/* Return the bytes of records read so far, and of the whole file (0 if it is a pipe). */
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
	uint32_t taken; /* the capture whose head was returned, and is to be read on; n: none */
};

/* Reads the first frame of each capture. Returns 0 or -ENOMEM. */
int capture_merge_start(struct capture_merge *merge, struct capture *const *captures, uint32_t n);
void capture_merge_stop(struct capture_merge *merge);
/* Returns the next frame, valid until the next call, and the index of its capture; NULL at the end
 * of all. */
const struct capture_frame *capture_merge_next(struct capture_merge *merge, uint32_t *from);

#endif
