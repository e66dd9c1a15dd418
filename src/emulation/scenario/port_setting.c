/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario/port_setting.h"

static const char *const times[] = {"poll", "device", NULL};

static const struct field port_setting_fields[] = {
        {FIELD("rx-latency", FIELD_TIME, struct port_setting_conf, rx_latency_ns,
               .max = PORT_LATENCY_MAX,
               .help = "time that the device takes until weir stamps a frame; live, packets leave "
                       "this "
                       "much earlier")},
        {FIELD("tx-latency", FIELD_TIME, struct port_setting_conf, tx_latency_ns,
               .max = PORT_LATENCY_MAX,
               .help = "time that the device takes until a frame is on the wire; live, packets "
                       "leave "
                       "this much earlier")},
        {FIELD("speed", FIELD_RATE, struct port_setting_conf, speed_bps, .min = 1000000,
               .max = RATE_BPS_MAX,
               .help = "rate of the wire: no frame is handed over long before the wire can be "
                       "free")},
        {FIELD("time", FIELD_WORD, struct port_setting_conf, time, .initial = PORT_TIME_POLL,
               .words = times,
               .help = "source of the time stamps: the clock at a poll, or the device")},
        {FIELD("launch", FIELD_TIME, struct port_setting_conf, launch_ns, .max = PORT_LATENCY_MAX,
               .help = "the device is told when to send each frame, and gets it this much earlier; "
                       "packets with less delay leave later by the difference")},
        FIELD_END,
};

const struct statement port_setting_statement = {
        .name = "port",
        .help = "properties of the device behind a port",
        .role = ROLE_CLOUD,
        .fields = port_setting_fields,
        .conf_bytes = sizeof(struct port_setting_conf),
};

struct port_setting_conf port_setting_of(const struct port_conf *port)
{
	if (port->setting)
		return *(const struct port_setting_conf *)port->setting;
	return (struct port_setting_conf){.time = PORT_TIME_POLL};
}

simtime port_setting_early_ns(const struct port_conf *from, const struct port_conf *to)
{
	struct port_setting_conf exit = port_setting_of(to);

	return port_setting_of(from).rx_latency_ns + exit.tx_latency_ns + exit.launch_ns;
}
