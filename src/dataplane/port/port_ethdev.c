/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports that are ethdevs: how DPDK's devices are found, configured, started and closed. */
#include "port/port.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_mbuf_dyn.h>

#include "machine/eal.h"
#include "packet/copy.h"
#include "packet/packet.h"

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

int ethdev_open(struct port *port, uint16_t tx_queues, struct rte_mempool *pool,
                struct problem *problem)
{
	int rc = probe(port, problem);

	return rc < 0 ? rc : configure(port, tx_queues, pool, problem);
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

int ethdev_start(struct port *port, const struct clock *clock, struct problem *problem)
{
	int rc = rte_eth_dev_start(port->id);

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
	return port_keeps_time(port) ? start_time(port, clock, problem) : 0;
}

/* Frees what lies in the ring of net_ring, which does not do so itself. */
static void empty_ring(struct port *port)
{
	struct rte_mbuf *mbufs[32];
	uint16_t n;

	while ((n = rte_eth_rx_burst(port->id, 0, mbufs, RTE_DIM(mbufs))) > 0)
		rte_pktmbuf_free_bulk(mbufs, n);
}

void ethdev_close(struct port *port)
{
	struct rte_eth_dev_info info;

	if (port->id == RTE_MAX_ETHPORTS || !rte_eth_dev_is_valid_port(port->id))
		return;
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
