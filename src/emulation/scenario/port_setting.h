/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the user states about the device behind a port: the words behind `port NAME device TEXT`.
 *
 *   [rx-latency TIME] [tx-latency TIME] [speed RATE] [time poll|device] [launch TIME]
 *
 * rx-latency: from the instant at which a frame reaches the device until weir stamps it.
 * tx-latency: from the hand-over to the device until the frame begins on the wire. Both are
 * constant parts, which the user has measured (docs/precision.md). Live, a packet is handed over
 * earlier by their sum, but not before it reached the end of its cloud's link (line.h). In a replay
 * and in the lab, which have no device, they have no effect.
 *
 * speed: that of the wire. If it is given, no frame is handed over long before the wire can be free
 * (tx_queue.h). time: which instants count: those of the clock at a poll, or the device's own time
 * stamps (port_time.h). launch: each frame is handed to the device with the time to send it, which
 * lies this much later (port_time.h).
 *
 * Thread: control side only.
 */
#ifndef WEIR_PORT_SETTING_H
#define WEIR_PORT_SETTING_H

#include "scenario/scenario.h"

#define PORT_LATENCY_MAX SIMTIME_MS

enum port_time_kind { PORT_TIME_POLL, PORT_TIME_DEVICE };

struct port_setting_conf {
	struct conf conf;
	simtime rx_latency_ns, tx_latency_ns;
	uint64_t speed_bps; /* 0: not given */
	uint32_t time;      /* enum port_time_kind */
	simtime launch_ns;  /* 0: the device sends a frame when it is handed over */
};

/* Not in the table of statements: the language knows it. */
extern const struct statement port_setting_statement;

/* Returns the setting of the port, or the defaults if it has none. */
struct port_setting_conf port_setting_of(const struct port_conf *port);
/* Returns how much earlier packets that came in at `from` are handed to the device of `to`: the
 * latencies of both, and the lead of a device that sends at a given time. */
simtime port_setting_early_ns(const struct port_conf *from, const struct port_conf *to);

#endif
