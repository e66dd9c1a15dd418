/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the user knows of the device behind a port: the words behind `port NAME device TEXT`.
 *
 *   [rx-latency TIME] [tx-latency TIME] [speed RATE] [time poll|device] [launch TIME]
 *
 * rx-latency: from the instant at which a frame has come to the device to the one at which weir
 * stamps it; tx-latency: from the hand-over to the device until the frame begins on the wire. Both
 * are constant parts, which the user has measured (docs/precision.md). Live, a packet is handed
 * over as much earlier as both together, but not before it came to the end of its cloud's link
 * (line.h). A replay and the lab have no device: there they do nothing.
 *
 * speed: that of the wire. With it no frame is handed over long before the wire can be free
 * (wire.h). time: which instants count: the clock's at a poll, or the device's own time stamps
 * (port_time.h). launch: the device gets with each frame the time to send it, so much later than it
 * is handed over (port_time.h).
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
	uint64_t speed_bps; /* 0: not said */
	uint32_t time;      /* enum port_time_kind */
	simtime launch_ns;  /* 0: the device sends what it is handed */
};

/* Not in the table of statements: the language knows it. */
extern const struct statement port_setting_statement;

/* What was said of the port, or what holds where nothing was. */
struct port_setting_conf port_setting_of(const struct port_conf *port);
/* How much earlier packets that came in at one port are handed to the device of another: the
 * latencies of both, and the lead of a device that sends at a given time. */
simtime port_setting_early_ns(const struct port_conf *from, const struct port_conf *to);

#endif
