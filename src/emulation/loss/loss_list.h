/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `loss list FILE`: certain packets are lost: those that the file names.
 *
 * The file has either
 *   - the number of a packet in each line, in any order; empty lines, and lines that begin with #,
 *     say nothing; or
 *   - the log of an earlier run (`weir replay --log`): lost is what was lost in the cloud of the
 *     same name, with the reason `loss`, be it the packet or its copy. What a queue, a policer or
 *     the want of memory did happens again by itself. Packets that weir generated have no number
 *     of their own, and pass. In a template each cloud loses what the log says of the cloud of its
 *     name, `down/10.0.3.4`; of numbers each loses those that it meets.
 * Model: a packet's number is its ordinal at the port where it came in, from 1, counted since the
 * beginning of the run, before any cloud. No randomness. Cost: 8 bytes for each packet of the list,
 * beside the file, which stays in memory; the clouds of a template have one list together. Limits:
 * copies of one packet cannot be told apart; numbers to 2^63 - 1.
 */
#ifndef WEIR_LOSS_LIST_H
#define WEIR_LOSS_LIST_H

#include "scenario/statement.h"

struct loss_list_conf {
	struct conf conf;
	struct file *file;
};

extern const struct statement loss_list_statement;

#endif
