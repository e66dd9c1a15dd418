/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of a table of fields: the TCP of every kind of group that uses TCP. `in` leads from `conf`
 * to the members of struct group_conf: nothing, or `group.`.
 */
#ifndef WEIR_LAB_GROUP_FIELDS_H
#define WEIR_LAB_GROUP_FIELDS_H

#include "lab/group.h"
#include "random/draw.h"

#define GROUP_Q63(x) ((uint64_t)((x) * (double)PROBABILITY_ONE))

/* clang-format off */
#define GROUP_TCP_FIELDS(conf, in) \
        {FIELD("tcp", FIELD_WORD, conf, in recovery, .initial = 2, .words = group_recoveries, \
               .help = "how losses are recovered")}, \
        {FIELD("response", FIELD_WORD, conf, in response, .words = group_responses, \
               .help = "what is done about congestion signals")}, \
        {FIELD("packet", FIELD_BYTES, conf, in packet_bytes, .min = 41, .max = FRAME_IP_BYTES_MAX, \
               .initial = 1000, .help = "length of a data packet: IPv4, TCP and data")}, \
        {FIELD("window", FIELD_COUNT, conf, in window, .min = 1, .max = 65535, .initial = 100, \
               .help = "largest window, in packets")}, \
        {FIELD("ssthresh", FIELD_COUNT, conf, in ssthresh, .max = 65535, \
               .help = "slow-start threshold at first; 0: the window")}, \
        {FIELD("tick", FIELD_TIME, conf, in tick_ns, .min = SIMTIME_MS, .max = SIMTIME_S, \
               .initial = 100 * SIMTIME_MS, \
               .help = "tick of the clock that measures round-trip times")}, \
        {FIELD("ack-delay", FIELD_TIME, conf, in ack_delay_ns, .max = SIMTIME_S, \
               .help = "longest delay of an acknowledgement; 0: none is delayed")}, \
        {FIELD("syn-capable", FIELD_SWITCH, conf, in syn_capable, \
               .help = "the SYN can be marked, too; off: a RED that marks nearly all " \
                       "drops nearly all SYNs")}, \
        {FIELD("wait", FIELD_WORD, conf, in wait, .words = group_waits, \
               .help = "becn: how long a mark stops growth: for all outstanding data, " \
                       "for a round trip, not at all")}, \
        {FIELD("factor", FIELD_PROBABILITY, conf, in factor_q63, .initial = GROUP_Q63(0.975), \
               .help = "bcn: share of the window that a mark leaves")}, \
        {FIELD("factors", FIELD_TEXT, conf, in factors, \
               .help = "bcn: instead, by the hops passed, like 4:0.975,2:0.875,1:0.7")}, \
        {FIELD("grow", FIELD_SWITCH, conf, in grows_while_marked, \
               .help = "bcn: unmarked packets of a marked window grow it")}, \
        {FIELD("whole", FIELD_SWITCH, conf, in cuts_to_whole, \
               .help = "bcn: a mark cuts the window to whole packets")}, \
        {FIELD("increase", FIELD_PROBABILITY, conf, in increase_q63, .initial = GROUP_Q63(0.0625), \
               .help = "ecn-mod: packets that an unmarked one adds (c1)")}, \
        {FIELD("decrease", FIELD_PROBABILITY, conf, in decrease_q63, .initial = GROUP_Q63(0.125), \
               .help = "ecn-mod: share of the window that a mark takes (c2)")}, \
        {FIELD("slow-start-max", FIELD_COUNT, conf, in slow_start_max, .max = 65535, \
               .help = "limited: max_ssthresh, in packets; 0: no limit")}, \
        {FIELD("exact", FIELD_SWITCH, conf, in slow_start_exact, \
               .help = "limited: without the truncation to whole bytes")}, \
        {FIELD("hops", FIELD_COUNT, conf, in hops, .min = 1, .max = ASKING_HOPS_MAX, .initial = 1, \
               .help = "extended: how many routers are asked, in turn")}
/* clang-format on */

#endif
