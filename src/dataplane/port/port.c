/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/port.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_mbuf_dyn.h>
#include <rte_version.h>

#include "account/counter_read.h"
#include "machine/eal.h"
#include "packet/copy.h"
#include "packet/packet.h"
#include "port/device_text.h"
#include "scenario/port_setting.h"

#define DEVICE_BYTES 512
#define DESCRIPTORS  1024
/* Frames in the ring between kernel and net_af_packet, unless the user gives a number: its own
 * default of 512 is 0.6 ms at 10 Gbit/s. 8 MiB a direction. */
#define AF_PACKET_FRAMES ",framecnt=4096"

static const char *offered; /* see port_offer */

void port_offer(const char *prefix)
{
	offered = prefix;
}

/* Returns where the driver's name ends, and its arguments begin. */
static size_t driver_bytes(const char *device)
{
	return strcspn(device, ",");
}

bool port_is_pci(const char *device)
{
	return device && pci_device_is(device);
}

bool port_any_pci(const struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->n_ports; i++) {
		if (port_is_pci(scenario->ports[i].device))
			return true;
	}
	return false;
}

int port_check_pci(const struct scenario *scenario, struct problem *problem)
{
	for (uint32_t i = 0; i < scenario->n_ports; i++) {
		const struct port_conf *conf = &scenario->ports[i];
		struct problem why;
		int rc;

		if (!port_is_pci(conf->device))
			continue;
		rc = pci_device_check(conf->device, &why);
		if (rc < 0) {
			problem_set(problem, -1, "port %s: %s", conf->name, why.text);
			problem->port = i + 1;
			return rc;
		}
	}
	return 0;
}

static bool is_file(const char *device)
{
	return strncmp(device, "file:", 5) == 0;
}

/* Returns true if the text means a kernel interface. An ethdev that this process has made
 * (port_offer) may have any name. */
static bool means_interface(const char *device)
{
	uint16_t id;

	return device_text_interface(device) && rte_eth_dev_get_port_by_name(device, &id) != 0;
}

int port_check_room(const struct scenario *scenario, struct problem *problem)
{
	uint32_t room = RTE_MAX_ETHPORTS - rte_eth_dev_count_total(), wanted = 0;

	for (uint32_t i = 0; i < scenario->n_ports; i++) {
		const char *device = scenario->ports[i].device;
		uint16_t id;

		/* What this process has made is open already (port_offer). */
		if (!device || is_file(device) || tap_port_is(device) ||
		    around_side_interface(device) || means_interface(device) ||
		    rte_eth_dev_get_port_by_name(device, &id) == 0)
			continue;
		if (wanted++ < room)
			continue;
		problem_set(problem, -1,
		            "port %s: it is device number %u, but this DPDK has room for %u "
		            "(RTE_MAX_ETHPORTS, fixed when DPDK was built); captures (file:PATH) "
		            "do not count, and a DPDK built with -Dmax_ethports=%u has more room",
		            scenario->ports[i].name, wanted, room, SCENARIO_PORTS_MAX);
		return -ENOSPC;
	}
	return 0;
}

/* Reports, for the port of `later`, that `earlier` is the same device. */
static int refuse_same(const char *later, const char *earlier, const char *earlier_port,
                       const char *what, struct problem *problem)
{
	return problem_set(problem, -1,
	                   "%s is %s, which port %s (%s) already uses: each port needs its own",
	                   later, what, earlier_port, earlier);
}

int port_check_distinct(const struct scenario *scenario, struct problem *problem)
{
	struct port_identity *identities = calloc(scenario->n_ports + 1, sizeof(*identities));
	int rc = 0;

	if (!identities) {
		problem_set(problem, -1, "no memory");
		return -ENOMEM;
	}
	for (uint32_t i = 0; rc == 0 && i < scenario->n_ports; i++) {
		const struct port_conf *conf = &scenario->ports[i];
		char what[PATH_MAX];
		struct problem why;

		identity_of(conf->device, &identities[i]);
		for (uint32_t j = 0; rc == 0 && j < i; j++) {
			if (!identity_shared(&identities[i], &identities[j], what, sizeof(what)))
				continue;
			rc = refuse_same(conf->device, scenario->ports[j].device,
			                 scenario->ports[j].name, what, &why);
			problem_set(problem, -1, "port %s: %s", conf->name, why.text);
			problem->port = i + 1;
		}
	}
	free(identities);
	return rc;
}

/* Returns the index of the kernel interface under a port: 0 if there is none, or the driver does
 * not report it. */
static unsigned interface_of(const struct port *port)
{
	struct rte_eth_dev_info info;

	if (port->packets)
		return (unsigned)port->interface.index;
	return !port->file && !port->tap && rte_eth_dev_info_get(port->id, &info) == 0
	               ? info.if_index
	               : 0;
}

int port_check_opened(const struct port *ports, uint32_t n, struct problem *problem)
{
	const struct port *last = &ports[n - 1];
	unsigned index = interface_of(last);
	char name[IFNAMSIZ], what[64] = "the same device";

	for (uint32_t i = 0; !last->file && !last->tap && i + 1 < n; i++) {
		bool same = index > 0 && interface_of(&ports[i]) == index;

		if (ports[i].file || ports[i].tap ||
		    (!same && (last->packets || ports[i].id != last->id)))
			continue;
		if (same && if_indextoname(index, name))
			snprintf(what, sizeof(what), "interface %s", name);
		return refuse_same(last->device, ports[i].device, ports[i].name, what, problem);
	}
	return 0;
}

static int probe_failed(int rc, const char *device, struct problem *problem)
{
	const char *cause = eal_log_cause();
	int bytes = (int)driver_bytes(device);

	if (rc == -EEXIST)
		problem_set(problem, -1,
		            "device %.*s is in use already: give each port one of its own (%.*s1)",
		            bytes, device, bytes, device);
	else if (strstr(cause, "DMA remapping, error 28 "))
		/* ENOSPC of vfio: each page of 4 KiB takes an entry of its table. */
		problem_set(
		        problem, -1,
		        "DPDK cannot open device %s: %s; its memory has more pages than vfio maps "
		        "(dma_entry_limit of vfio_iommu_type1): reserve hugepages, with `weir "
		        "setup SERVICE --apply` or `dpdk-hugepages.py -r SIZE`",
		        device, cause);
	else
		problem_set(
		        problem, -1,
		        "DPDK cannot open device %s: %s; a device is an interface (eth1), a PCI "
		        "address (0000:03:00.1), a virtual device with its arguments "
		        "(net_tap0,iface=tap7), or file:PATH",
		        device, *cause ? cause : strerror(-rc));
	return rc < 0 ? rc : -EIO;
}

static bool find_id(const char *text, uint16_t *id)
{
	struct rte_dev_iterator iterator;
	uint16_t found;

	RTE_ETH_FOREACH_MATCHING_DEV(found, text, &iterator)
	{
		rte_eth_iterator_cleanup(&iterator);
		*id = found;
		return true;
	}
	return false;
}

static int probe(struct port *port, struct problem *problem)
{
	char text[DEVICE_BYTES], name[RTE_ETH_NAME_MAX_LEN];
	size_t bytes = driver_bytes(port->device);
	int rc;

	/* The device text for DPDK, with weir's additions. */
	bool add = strncmp(port->device, "net_af_packet", 13) == 0 &&
	           !strstr(port->device, ",framecnt=") && !strstr(port->device, ",blocksz=") &&
	           !strstr(port->device, ",framesz=");

	snprintf(text, sizeof(text), "%s%s", port->device, add ? AF_PACKET_FRAMES : "");
	snprintf(name, sizeof(name), "%.*s", (int)bytes, port->device);
	if (rte_eth_dev_get_port_by_name(name, &port->id) == 0 && offered &&
	    strncmp(name, offered, strlen(offered)) == 0)
		return 0;
	if (rte_eth_dev_get_port_by_name(name, &port->id) == 0)
		return probe_failed(-EEXIST, port->device, problem);
	eal_log_cause();
	rc = rte_dev_probe(text);
	if (rc != 0)
		return probe_failed(rc, port->device, problem);
	if (rte_eth_dev_get_port_by_name(name, &port->id) == 0 || find_id(name, &port->id))
		return 0;
	problem_set(problem, -1, "device %s exists, but is not a network device", port->device);
	return -ENODEV;
}

static uint64_t tx_offloads(const struct port *port, const struct rte_eth_dev_info *info)
{
	uint64_t wanted = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;

	if (port->launch_ns > 0)
		wanted |= RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP;
	return info->tx_offload_capa & wanted;
}

static int setup_queues(struct port *port, const struct rte_eth_dev_info *info,
                        struct rte_mempool *pool)
{
	uint16_t rx = DESCRIPTORS, tx = DESCRIPTORS;
	int socket = rte_eth_dev_socket_id(port->id);
	int rc = rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &rx, &tx);

	if (rc == 0)
		rc = rte_eth_rx_queue_setup(port->id, 0, rx, (unsigned)socket, NULL, pool);
	for (uint16_t queue = 0; rc == 0 && queue < port->tx_queues; queue++) {
		struct rte_eth_txconf conf = info->default_txconf;

		conf.offloads = tx_offloads(port, info);
		rc = rte_eth_tx_queue_setup(port->id, queue, tx, (unsigned)socket, &conf);
	}
	return rc;
}

static int configure_with(struct port *port, const struct rte_eth_dev_info *info, uint16_t mtu,
                          struct rte_mempool *pool)
{
	struct rte_eth_conf conf = {0};
	int rc;

	if (mtu) {
		conf.rxmode.mtu = mtu;
		conf.rxmode.offloads = info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	}
	if (port->stamps)
		conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	conf.txmode.offloads = tx_offloads(port, info);
	rc = rte_eth_dev_configure(port->id, 1, port->tx_queues, &conf);
	return rc < 0 ? rc : setup_queues(port, info, pool);
}

/* ---- time stamps ---- */

static bool ethdev_stamp(const void *device, const struct rte_mbuf *mbuf, uint64_t *ticks)
{
	const struct port_stamping *stamping = device;

	if (!(mbuf->ol_flags & stamping->flag))
		return false;
	*ticks = *RTE_MBUF_DYNFIELD(mbuf, stamping->offset, const rte_mbuf_timestamp_t *);
	return true;
}

static int ethdev_read(const void *device, uint64_t *ticks)
{
	return rte_eth_read_clock(((const struct port_stamping *)device)->id, ticks);
}

static void ethdev_launch(const void *device, struct rte_mbuf *mbuf, uint64_t ticks)
{
	const struct port_stamping *stamping = device;

	mbuf->ol_flags |= stamping->launch_flag;
	*RTE_MBUF_DYNFIELD(mbuf, stamping->launch_offset, rte_mbuf_timestamp_t *) = ticks;
}

static const struct port_time_ops ethdev_time = {
        .stamp = ethdev_stamp, .launch = ethdev_launch, .read = ethdev_read};

/* A feature that is configured and missing is an error: the user relies on it. */
static int prepare_launch(struct port *port, const struct rte_eth_dev_info *info,
                          struct problem *problem)
{
	if ((info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP) &&
	    rte_mbuf_dyn_tx_timestamp_register(&port->stamping.launch_offset,
	                                       &port->stamping.launch_flag) == 0)
		return 0;
	problem_set(problem, -1,
	            "launch: %s (%s) cannot send at a given time; without `launch` it sends frames "
	            "when they are handed over",
	            port->device, info->driver_name);
	return -ENOTSUP;
}

static int prepare_stamps(struct port *port, const struct rte_eth_dev_info *info,
                          struct problem *problem)
{
	if ((info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP) &&
	    rte_mbuf_dyn_rx_timestamp_register(&port->stamping.offset, &port->stamping.flag) == 0)
		return 0;
	problem_set(problem, -1,
	            "time device: %s (%s) does not time-stamp received frames; without `time "
	            "device`, weir's clock is used",
	            port->device, info->driver_name);
	return -ENOTSUP;
}

static bool keeps_time(const struct port *port)
{
	return port->stamps || port->launch_ns > 0;
}

static int start_time(struct port *port, const struct clock *clock, struct problem *problem)
{
	int rc = port_time_start(&port->time, &ethdev_time, &port->stamping, clock);

	if (rc == 0)
		return 0;
	problem_set(problem, -1,
	            "%s: the clock of %s cannot be %s (%s); without %s weir's clock counts",
	            port->stamps ? "time device" : "launch", port->device,
	            rc == -ERANGE ? "followed" : "read", strerror(-rc),
	            port->stamps ? "these words" : "this word");
	return rc;
}

void port_keep_time(struct port *port, const struct clock *clock)
{
	if (keeps_time(port))
		port_time_discipline(&port->time, clock);
}

/* Returns the MTU to set; 0: unchanged. Without scattered reception a frame must fit into one
 * mbuf. */
static uint16_t mtu_of(const struct port *port, const struct rte_eth_dev_info *info)
{
	uint32_t mtu = RTE_MIN((uint32_t)info->max_mtu, (uint32_t)PORT_MTU_MAX);

	if (!port_is_pci(port->device))
		return 0;
	if (!(info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER))
		mtu = RTE_MIN(mtu, (uint32_t)RTE_MBUF_DEFAULT_DATAROOM - 64);
	return (uint16_t)mtu;
}

/* Returns whether a driver sends chains of mbufs. net_null and net_pcap do, and do not say so in
 * DPDK 22.11. net_af_xdp does not: it would read and write behind the end of a buffer. */
static bool sends_chains(const struct rte_eth_dev_info *info)
{
	return (info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) ||
	       strcmp(info->driver_name, "net_null") == 0 ||
	       strcmp(info->driver_name, "net_pcap") == 0;
}

static int configure(struct port *port, uint16_t tx_queues, struct rte_mempool *pool,
                     struct problem *problem)
{
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_info_get(port->id, &info);
	uint16_t mtu;

	if (rc < 0)
		goto failed;
	port->driver = info.driver_name;
	port->stamping.id = port->id;
	if (port->stamps)
		rc = prepare_stamps(port, &info, problem);
	if (rc == 0 && port->launch_ns > 0)
		rc = prepare_launch(port, &info, problem);
	if (rc < 0)
		return rc;
	port->tx_queues = RTE_MIN(tx_queues, info.max_tx_queues);
	port->one_buffer = !sends_chains(&info);
	mtu = mtu_of(port, &info);
	rc = configure_with(port, &info, mtu, pool);
	if (rc < 0 && mtu)
		rc = configure_with(port, &info, 0, pool);
	if (rc == 0)
		return 0;
failed:;
	const char *cause = eal_log_cause();

	problem_set(problem, -1, "device %s cannot be configured: %s%s%s", port->device,
	            strerror(-rc), *cause ? "; DPDK reports: " : "", cause);
	return rc;
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
	if (keeps_time(port)) {
		problem_set(
		        problem, -1,
		        "%s: a packet socket has no clock of its own; a DPDK device may have one",
		        port->stamps ? "time device" : "launch");
		return -ENOTSUP;
	}
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
	if (keeps_time(port)) {
		problem_set(problem, -1, "%s: a tap has no clock of its own",
		            port->stamps ? "time device" : "launch");
		return -ENOTSUP;
	}
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
	char driver[64];
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
	if (is_file(conf->device)) {
		port->driver = "file";
		if (keeps_time(port)) {
			problem_set(problem, -1, "%s: a capture has no clock of its own",
			            port->stamps ? "time device" : "launch");
			return -ENOTSUP;
		}
		port->tx_queues = 1;
		return paced_file_open(conf->device, conf->folder, pool, &port->file, problem);
	}
	if (tap_port_is(conf->device))
		return open_tap(port, conf->device, pool, problem);
	if (around_side_interface(conf->device))
		return open_side(port, pool, problem);
	if (means_interface(conf->device))
		return open_interface(port, pool, problem);
	snprintf(driver, sizeof(driver), "%.*s", (int)driver_bytes(conf->device), conf->device);
	identity_of(conf->device, &port->identity);
	rc = identity_claim(&port->identity, problem);
	if (rc == 0)
		rc = interface_open(conf->device, &port->interface, problem);
	if (rc == 0)
		rc = probe(port, problem);
	if (rc == 0)
		rc = configure(port, tx_queues, pool, problem);
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
	rc = rte_eth_dev_start(port->id);
	if (rc < 0) {
		problem_set(problem, -1, "device %s does not start: %s; DPDK reports: %s",
		            port->device, strerror(-rc), eal_log_cause());
		return rc;
	}
	port->started = true;
	/* A device that cannot be promiscuous (a virtual device that takes every frame) need not
	 * be. */
	if (port->interface.index == 0)
		rte_eth_promiscuous_enable(port->id);
	link_note(port, link_is_up(port));
	return keeps_time(port) ? start_time(port, clock, problem) : 0;
}

/* Frees what lies in the ring of net_ring, which does not do so itself. */
static void empty_ring(struct port *port)
{
	struct rte_mbuf *mbufs[32];
	uint16_t n;

	while ((n = rte_eth_rx_burst(port->id, 0, mbufs, RTE_DIM(mbufs))) > 0)
		rte_pktmbuf_free_bulk(mbufs, n);
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
	else if (port->id != RTE_MAX_ETHPORTS && rte_eth_dev_is_valid_port(port->id)) {
		struct rte_eth_dev_info info;

		if (port->started) {
			if (strcmp(port->driver, "net_ring") == 0)
				empty_ring(port);
			if (port->interface.index == 0)
				rte_eth_promiscuous_disable(port->id);
			rte_eth_dev_stop(port->id);
		}
		if (rte_eth_dev_info_get(port->id, &info) < 0)
			info.device = NULL;
		rte_eth_dev_close(port->id);
		if (info.device)
			rte_dev_remove(info.device);
	}
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

static bool fits_one_mbuf(const struct rte_mbuf *mbuf)
{
	return mbuf->pkt_len + RTE_PKTMBUF_HEADROOM <= rte_pktmbuf_data_room_size(mbuf->pool);
}

/* Replaces a chain by one mbuf. Returns false if it does not fit, or if there is no mbuf. */
static bool make_whole(struct rte_mbuf **mbuf)
{
	struct rte_mbuf *chain = *mbuf, *whole;

	if (chain->nb_segs == 1)
		return true;
	whole = fits_one_mbuf(chain) ? copy_make(chain->pool, chain) : NULL;
	if (!whole)
		return false;
	*packet_of(whole) = *packet_of(chain);
	rte_pktmbuf_free(chain);
	*mbuf = whole;
	return true;
}

uint16_t port_transmit_whole(struct port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	uint16_t done = 0;

	while (done < n) {
		uint16_t whole = 0, sent;

		while (done + whole < n && make_whole(&mbufs[done + whole]))
			whole++;
		sent = rte_eth_tx_burst(port->id, queue, mbufs + done, whole);
		done += sent;
		/* Without an mbuf for a copy, the frame is offered again later. */
		if (sent < whole || done == n || fits_one_mbuf(mbufs[done]))
			break;
		rte_pktmbuf_free(mbufs[done++]);
		__atomic_add_fetch(&port->chained, 1, __ATOMIC_RELAXED);
	}
	return done;
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
