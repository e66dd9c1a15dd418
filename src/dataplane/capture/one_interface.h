/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Of a pcapng with several interfaces the packets of one, by its name (if_name), as a pcapng of
 * that interface alone: for libpcap, which says of no packet at which interface it was. Sections,
 * either byte order; enhanced packet blocks only, which is what everybody writes. All other blocks
 * are passed over.
 *
 * Memory: what a block reader has; a block is looked at in one piece, and a longer one than
 * BLOCK_READER_REACH_MAX ends the file.
 *
 * Thread: one at a time.
 */
#ifndef WEIR_ONE_INTERFACE_H
#define WEIR_ONE_INTERFACE_H

#include "capture/block_reader.h"
#include "scenario/problem.h"
#include "simtime.h"

struct one_interface;

/* As block_reader_open, whose `fd` and `start` they are; the name is copied. 0, or -ENOMEM; then
 * the descriptor is closed. */
int one_interface_open(int fd, const struct block_start *start, const char *name,
                       struct one_interface **one_interface);
void one_interface_close(struct one_interface *one_interface); /* NULL is allowed */
/* The pcapng of the one, as bytes. */
struct io_source *one_interface_source(struct one_interface *one_interface);

/* The instant of the first packet of all interfaces; SIMTIME_NEVER: none was read yet. */
simtime one_interface_first_ns(const struct one_interface *one_interface);
/* Once the bytes have ended: why there is no such interface, or what is wrong; "": nothing. */
const char *one_interface_trouble(const struct one_interface *one_interface);

#endif
