/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of pcapng that writing and reading a recording share (recorded_file.h). */
#ifndef WEIR_RECORDED_BLOCK_H
#define WEIR_RECORDED_BLOCK_H

#define BLOCK_SECTION       0x0a0d0d0a
#define BLOCK_ORDER_MARK    0x1a2b3c4d
#define BLOCK_INTERFACE     1
#define BLOCK_PACKET        6
#define BLOCK_LINK_ETHERNET 1

/* Options; a number has another meaning in each block. */
#define BLOCK_OPTION_NAME        2
#define BLOCK_OPTION_APPLICATION 4
#define BLOCK_OPTION_TIME_UNIT   9
#define BLOCK_OPTION_FLAGS       2
#define BLOCK_OPTION_PACKET      5
#define BLOCK_OPTION_QUEUE       6

#define BLOCK_PACKET_HEAD 28 /* bytes ahead of a frame */
#define BLOCK_ENTRY_HEAD  16
#define BLOCK_LEAST       12

#define RECORDED_APPLICATION "weir recording 1"

#endif
