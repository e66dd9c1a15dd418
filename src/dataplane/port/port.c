/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/port.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account/counter_read.h"
#include "scenario/port_setting.h"

bool port_keeps_time(const struct port *port)
{
	return port->stamps || port->launch_ns > 0;
}

void port_keep_time(struct port *port, const struct clock *clock)
{
	if (port_keeps_time(port))
		port_time_discipline(&port->time, clock);
}

/* Returns 0, or -ENOTSUP with problem if the port is asked for a clock of its own. */
static int has_no_time(const struct port *port, const char *why, struct problem *problem)
{
	if (!port_keeps_time(port))
		return 0;
	problem_set(problem, -1, "%s: %s", port->stamps ? "time device" : "launch", why);
	return -ENOTSUP;
}

static uint16_t packets_receive(struct port *port, struct rte_mbuf **mbufs, simtime *came_ns,
                                uint16_t n)
{
	return packet_port_receive(port->packets, mbufs, came_ns, n);
}

static bool packets_are_behind(const struct port *port)
{
	return packet_port_is_behind(port->packets);
}

static const struct port_stamped packets_stamped = {.receive = packets_receive,
                                                    .is_behind = packets_are_behind};

static int open_interface(struct port *port, struct rte_mempool *pool, struct problem *problem)
{
	int rc;

	port->driver = "packet socket";
	port->tx_queues = 1;
	port->stamped = &packets_stamped;
	rc = has_no_time(port,
	                 "a packet socket has no clock of its own; a DPDK device may have one",
	                 problem);
	if (rc < 0)
		return rc;
	identity_of(port->device, &port->identity);
	rc = identity_claim(&port->identity, problem);
	if (rc == 0)
		rc = interface_open(port->device, &port->interface, problem);
	if (rc == 0)
		rc = packet_port_open(&port->interface, pool, &port->packets, problem);
	if (rc == 0)
		interface_keep_apart(&port->interface);
	return rc;
}

static uint16_t tap_receive(struct port *port, struct rte_mbuf **mbufs, simtime *came_ns,
                            uint16_t n)
{
	return tap_port_receive(port->tap, mbufs, came_ns, n);
}

static bool tap_is_behind(const struct port *port)
{
	return tap_port_is_behind(port->tap);
}

static const struct port_stamped tap_stamped = {.receive = tap_receive, .is_behind = tap_is_behind};

static int open_tap(struct port *port, const char *device, struct rte_mempool *pool,
                    struct problem *problem)
{
	int rc;

	port->driver = "tap";
	port->tx_queues = 1;
	rc = has_no_time(port, "a tap has no clock of its own", problem);
	if (rc == 0)
		rc = tap_port_open(device, pool, &port->tap, problem);
	if (rc == 0 && tap_port_stamps(port->tap))
		port->stamped = &tap_stamped;
	return rc;
}

static int open_side(struct port *port, struct rte_mempool *pool, struct problem *problem)
{
	int rc = around_side_open(port->device, &port->side, problem);

	if (rc == 0)
		rc = open_tap(port, around_side_tap(port->side), pool, problem);
	return rc;
}

void port_watch(struct port *port, struct frame_queue *frames, uint16_t index)
{
	if (port->tap)
		tap_port_watch(port->tap, frames, index);
}

int port_open(struct port *port, const struct port_conf *conf, uint16_t tx_queues,
              struct rte_mempool *pool, struct problem *problem)
{
	int rc;

	memset(port, 0, sizeof(*port));
	port->id = RTE_MAX_ETHPORTS;
	port->interface.socket = -1;
	snprintf(port->name, sizeof(port->name), "%s", conf->name);
	if (!conf->device)
		return problem_set(problem, -1,
		                   "it has no device; for example: port %s interface eth1",
		                   conf->name);
	port->speed_bps = port_setting_of(conf).speed_bps;
	port->stamps = port_setting_of(conf).time == PORT_TIME_DEVICE;
	port->launch_ns = port_setting_of(conf).launch_ns;
	port->device = strdup(conf->device);
	if (!port->device) {
		problem_set(problem, -1, "no memory");
		return -ENOMEM;
	}
	if (port_text_is_file(conf->device)) {
		port->driver = "file";
		port->tx_queues = 1;
		rc = has_no_time(port, "a capture has no clock of its own", problem);
		return rc < 0 ? rc
		              : paced_file_open(conf->device, conf->folder, pool, &port->file,
		                                problem);
	}
	if (tap_port_is(conf->device))
		return open_tap(port, conf->device, pool, problem);
	if (around_side_interface(conf->device))
		return open_side(port, pool, problem);
	if (port_text_is_interface(conf->device))
		return open_interface(port, pool, problem);
	identity_of(conf->device, &port->identity);
	rc = identity_claim(&port->identity, problem);
	if (rc == 0)
		rc = interface_open(conf->device, &port->interface, problem);
	if (rc == 0)
		rc = ethdev_open(port, tx_queues, pool, problem);
	if (rc == 0)
		interface_find_sockets(&port->interface);
	return rc;
}

static bool link_is_up(const struct port *port);
static void link_note(struct port *port, bool up);

int port_start(struct port *port, const struct clock *clock, struct problem *problem)
{
	int rc;

	if (port->file) {
		port->started = true;
		port->link_up = true;
		return paced_file_start(port->file, clock ? clock_now(clock) : 0, problem);
	}
	if (port->packets) {
		port->started = true;
		packet_port_start(port->packets, clock);
		link_note(port, link_is_up(port));
		return 0;
	}
	if (port->tap) {
		port->started = true;
		port->link_up = true;
		tap_port_start(port->tap, clock);
		return port->side ? around_side_start(port->side, problem) : 0;
	}
	rc = ethdev_start(port, clock, problem);
	if (port->started)
		link_note(port, link_is_up(port));
	return rc;
}

void port_give_back(struct port *port)
{
	if (port->side)
		around_side_halt(port->side);
}

void port_halt(struct port *port)
{
	if (port->file)
		paced_file_halt(port->file);
}

int port_close(struct port *port, struct problem *problem)
{
	int rc = 0;

	if (port->file)
		rc = paced_file_close(port->file, problem);
	else
		ethdev_close(port);
	packet_port_close(port->packets);
	port->packets = NULL;
	tap_port_close(port->tap);
	port->tap = NULL;
	around_side_close(port->side);
	port->side = NULL;
	interface_close(&port->interface);
	identity_release(&port->identity);
	port->file = NULL;
	free(port->device);
	port->device = NULL;
	port->id = RTE_MAX_ETHPORTS;
	port->started = false;
	return rc;
}

static bool link_is_up(const struct port *port)
{
	struct rte_eth_link link;

	/* net_tap reads the state in the network namespace in which its interface was made. The
	 * interface may be in another namespace now. */
	if (port->side)
		return around_side_is_there(port->side);
	if (port->file || port->tap || (!port->packets && strcmp(port->driver, "net_tap") == 0))
		return true;
	if (port->interface.index)
		return interface_link_up(&port->interface);
	return rte_eth_link_get_nowait(port->id, &link) == 0 && link.link_status;
}

bool port_keeps_mbufs(const struct port *port)
{
	return port->driver && strcmp(port->driver, "net_af_xdp") == 0;
}

static void link_note(struct port *port, bool up)
{
	port->link_up = up;
	/* Other virtual devices have no queue in which packets could grow stale. */
	if (port->interface.index || port_is_pci(port->device))
		__atomic_store_n(&port->down, !up, __ATOMIC_RELAXED);
}

bool port_watch_link(struct port *port)
{
	bool up = link_is_up(port), was = port->link_up;

	if (up != was)
		link_note(port, up);
	return up != was;
}

void port_introduce(const struct port *port, char *text, size_t room)
{
	struct interface_look look;

	text[0] = '\0';
	if (!port->packets)
		return;
	interface_look(port->interface.name, &look);
	interface_look_text(&look, text, room);
	snprintf(text + strlen(text), room - strlen(text), ", through a packet socket%s%s",
	         interface_look_xdp(&look) ? "; its driver supports AF_XDP, which may carry more "
	                                     "small frames: device net_af_xdp0,iface="
	                                   : "",
	         interface_look_xdp(&look) ? look.name : "");
}

void port_obstacles(const struct port *port, struct obstacles *obstacles)
{
	struct interface_look look = {.there = false};
	char text[OBSTACLE_BYTES];

	if (port->interface.index)
		interface_look(port->interface.name, &look);
	obstacles_find(&look, !port->packets, obstacles);
	if (port->interface.limited) {
		interface_look_limited(text, sizeof(text));
		obstacle_add(obstacles, "%s", text);
	}
	if (!port->link_up && port->interface.index == 0)
		obstacle_add(obstacles, "its link is down: no packet passes until it is up");
}

int port_descriptor(const struct port *port)
{
	if (port->tap)
		return tap_port_descriptor(port->tap);
	if (port->packets)
		return packet_port_descriptor(port->packets);
	/* The socket of the driver's ring. */
	if (port->interface.n_sockets == 1 && strcmp(port->driver, "net_af_packet") == 0)
		return port->interface.sockets[0];
	return -1;
}

bool port_wakes(const struct port *port)
{
	return port->file || port_descriptor(port) >= 0;
}

simtime port_next(struct port *port, simtime now)
{
	return port->file ? paced_file_next(port->file, now) : SIMTIME_NEVER;
}

uint64_t port_link_bps(const struct port *port)
{
	struct rte_eth_link link;

	if (port->packets)
		return interface_bps(&port->interface);
	if (port->file || port->tap || rte_eth_link_get_nowait(port->id, &link) < 0 ||
	    !link.link_status || link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN)
		return 0;
	return (uint64_t)link.link_speed * 1000000;
}

void port_losses(struct port *port, struct port_losses *losses)
{
	struct rte_eth_stats stats;

	memset(losses, 0, sizeof(*losses));
	if (port->file) {
		losses->not_written = paced_file_not_written(port->file);
		return;
	}
	if (port->packets) {
		struct packet_port_losses from;

		packet_port_losses(port->packets, &from);
		losses->missed = from.missed + from.unfinished;
		losses->no_mbuf = from.no_mbuf;
		losses->not_sent = from.not_sent + from.too_large + from.not_ip;
		losses->unfinished = from.unfinished;
		losses->too_large = from.too_large;
		losses->not_ip = from.not_ip;
		losses->early = from.early;
		losses->unstamped = from.unstamped;
		return;
	}
	if (port->tap) {
		struct tap_port_losses from;

		tap_port_losses(port->tap, &from);
		losses->missed = losses->unfinished = from.unfinished;
		losses->no_mbuf = from.no_mbuf;
		losses->not_sent = from.not_sent;
		losses->unstamped = from.unstamped;
		losses->missed += port->beyond_missed;
		losses->missed += port->side ? around_side_lost(port->side) : 0;
		losses->not_sent += port->beyond_not_sent;
		return;
	}
	if (rte_eth_stats_get(port->id, &stats) == 0) {
		losses->missed = stats.imissed;
		losses->no_mbuf = stats.rx_nombuf;
		losses->not_sent = stats.oerrors;
	}
	losses->chained = counter_read(&port->chained);
	losses->not_sent += losses->chained;
	losses->missed += interface_missed(&port->interface);
}
