/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of a table of fields: the TCP of every kind of group that uses TCP. `at(member)` is the
 * offset of a member of struct group_conf.
 */
#ifndef WEIR_LAB_GROUP_FIELDS_H
#define WEIR_LAB_GROUP_FIELDS_H

#include "lab/group.h"
#include "random/draw.h"

#define GROUP_Q63(x) ((uint64_t)((x) * (double)PROBABILITY_ONE))

/* clang-format off */
#define GROUP_TCP_FIELDS(at) \
        {.name = "tcp", \
         .type = FIELD_WORD, \
         .offset = at(recovery), \
         .initial = 2, \
         .words = group_recoveries, \
         .help = "how losses are recovered"}, \
        {.name = "response", \
         .type = FIELD_WORD, \
         .offset = at(response), \
         .words = group_responses, \
         .help = "what is done about congestion signals"}, \
        {.name = "packet", \
         .type = FIELD_BYTES, \
         .offset = at(packet_bytes), \
         .min = 41, \
         .max = FRAME_IP_BYTES_MAX, \
         .initial = 1000, \
         .help = "length of a data packet: IPv4, TCP and data"}, \
        {.name = "window", \
         .type = FIELD_COUNT, \
         .offset = at(window), \
         .min = 1, \
         .max = 65535, \
         .initial = 100, \
         .help = "largest window, in packets"}, \
        {.name = "ssthresh", \
         .type = FIELD_COUNT, \
         .offset = at(ssthresh), \
         .max = 65535, \
         .help = "slow-start threshold at first; 0: the window"}, \
        {.name = "tick", \
         .type = FIELD_TIME, \
         .offset = at(tick_ns), \
         .min = SIMTIME_MS, \
         .max = SIMTIME_S, \
         .initial = 100 * SIMTIME_MS, \
         .help = "tick of the clock that measures round-trip times"}, \
        {.name = "ack-delay", \
         .type = FIELD_TIME, \
         .offset = at(ack_delay_ns), \
         .max = SIMTIME_S, \
         .help = "longest delay of an acknowledgement; 0: none is delayed"}, \
        {.name = "syn-capable", \
         .type = FIELD_SWITCH, \
         .offset = at(syn_capable), \
         .help = "the SYN can be marked, too; off: a RED that marks nearly all " \
                 "drops nearly all SYNs"}, \
        {.name = "wait", \
         .type = FIELD_WORD, \
         .offset = at(wait), \
         .words = group_waits, \
         .help = "becn: how long a mark stops growth: for all outstanding data, " \
                 "for a round trip, not at all"}, \
        {.name = "factor", \
         .type = FIELD_PROBABILITY, \
         .offset = at(factor_q63), \
         .initial = GROUP_Q63(0.975), \
         .help = "bcn: share of the window that a mark leaves"}, \
        {.name = "factors", \
         .type = FIELD_TEXT, \
         .offset = at(factors), \
         .help = "bcn: instead, by the hops passed, like 4:0.975,2:0.875,1:0.7"}, \
        {.name = "grow", \
         .type = FIELD_SWITCH, \
         .offset = at(grows_while_marked), \
         .help = "bcn: unmarked packets of a marked window grow it"}, \
        {.name = "whole", \
         .type = FIELD_SWITCH, \
         .offset = at(cuts_to_whole), \
         .help = "bcn: a mark cuts the window to whole packets"}, \
        {.name = "increase", \
         .type = FIELD_PROBABILITY, \
         .offset = at(increase_q63), \
         .initial = GROUP_Q63(0.0625), \
         .help = "ecn-mod: packets that an unmarked one adds (c1)"}, \
        {.name = "decrease", \
         .type = FIELD_PROBABILITY, \
         .offset = at(decrease_q63), \
         .initial = GROUP_Q63(0.125), \
         .help = "ecn-mod: share of the window that a mark takes (c2)"}, \
        {.name = "slow-start-max", \
         .type = FIELD_COUNT, \
         .offset = at(slow_start_max), \
         .max = 65535, \
         .help = "limited: max_ssthresh, in packets; 0: no limit"}, \
        {.name = "exact", \
         .type = FIELD_SWITCH, \
         .offset = at(slow_start_exact), \
         .help = "limited: without the truncation to whole bytes"}, \
        {.name = "hops", \
         .type = FIELD_COUNT, \
         .offset = at(hops), \
         .min = 1, \
         .max = ASKING_HOPS_MAX, \
         .initial = 1, \
         .help = "extended: how many routers are asked, in turn"}
/* clang-format on */

#endif
