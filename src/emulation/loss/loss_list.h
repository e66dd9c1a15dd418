/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `loss list FILE`: the packets that a file names are lost.
 *
 * The file has either
 *   - the number of a packet in each line, in any order; empty lines and lines that begin with #
 *     are skipped; or
 *   - the log of an earlier run (`weir replay --log`): each packet or copy that was lost in the
 *     cloud of the same name with the reason `loss` is lost again. Drops by a queue, a policer or
 *     want of memory happen again by themselves. Packets that weir generated have no number of
 *     their own, and pass. In a template, each cloud loses what the log says of the cloud of its
 *     name, `down/10.0.3.4`. If the file has numbers, each cloud loses those that it meets.
 * Model: a packet's number is its ordinal at the port where it came in, from 1, counted since the
 * beginning of the run, before any cloud. No randomness. Cost: 8 bytes for each packet of the list,
 * beside the file, which stays in memory; the clouds of a template share one list. Limits: copies
 * of one packet cannot be told apart; numbers to 2^63 - 1.
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
