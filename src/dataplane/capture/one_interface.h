/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduces a pcapng with several interfaces to the one with a given name (if_name). libpcap reads
 * the result, because it does not tell at which interface a packet was. Several sections and either
 * byte order are possible. Only enhanced packet blocks are read, which is what everybody writes;
 * all other blocks are skipped.
 *
 * Memory: that of a block reader. A block is examined in one piece; a block longer than
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

/* `fd` and `start` are those of block_reader_open. The name is copied. Returns 0, or -ENOMEM; then
 * the descriptor is closed. */
int one_interface_open(int fd, const struct block_start *start, const char *name,
                       struct one_interface **one_interface);
void one_interface_close(struct one_interface *one_interface); /* NULL is allowed */
/* Returns the source of the bytes of the reduced pcapng. */
struct io_source *one_interface_source(struct one_interface *one_interface);

/* Returns the instant of the first packet of all interfaces, SIMTIME_NEVER if none was read yet. */
simtime one_interface_first_ns(const struct one_interface *one_interface);
/* After the end of the bytes, returns why there is no such interface, or what is wrong with the
 * file; "" if nothing. */
const char *one_interface_trouble(const struct one_interface *one_interface);

#endif
