/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/tap_port.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/ethernet.h>
#include <net/if.h>

#include "account/counter_read.h"
#include "packet/headers.h"
#include "port/dscp_watch.h"
#include "port/super_frame.h"
#include "simtime.h"

#define COPIES      TAP_STAMPS_COPIES
#define COPY_BYTES  TAP_STAMPS_COPY_BYTES
#define BLOCK_BYTES 65536u
#define RING_BYTES  ((size_t)COPIES * COPY_BYTES)
#define ADDRESSES   ((uint32_t)2 * ETH_ALEN)
#define TAG_BYTES   4u

_Static_assert((COPIES & (COPIES - 1)) == 0, "an index wraps around");

/* Takes frames that the kernel sends, not those that weir writes into the tap. */
static int take_outgoing(int fd)
{
	struct sock_filter code[] = {
	        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 1),
	        BPF_STMT(BPF_RET | BPF_K, COPY_BYTES),
	        BPF_STMT(BPF_RET | BPF_K, 0),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

int tap_stamps_socket(int index)
{
	struct sockaddr_ll address = {
	        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = index};
	struct tpacket_req ring = {.tp_block_size = BLOCK_BYTES,
	                           .tp_block_nr = RING_BYTES / BLOCK_BYTES,
	                           .tp_frame_size = COPY_BYTES,
	                           .tp_frame_nr = COPIES};
	int version = TPACKET_V2, rc;
	/* Without a protocol the socket receives nothing until it is bound. */
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) == 0 &&
	    setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &ring, sizeof(ring)) == 0 &&
	    take_outgoing(fd) == 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

/* Maps the ring of a socket. Returns 0 or -errno. */
static int tap_stamps_open(struct tap_stamps *stamps, int fd)
{
	void *ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	*stamps = (struct tap_stamps){0};
	if (ring == MAP_FAILED)
		return -errno;
	stamps->ring = ring;
	return 0;
}

void tap_stamps_close(struct tap_stamps *stamps)
{
	if (stamps->ring)
		munmap(stamps->ring, RING_BYTES);
	stamps->ring = NULL;
}

static struct tpacket2_hdr *copy_at(const struct tap_stamps *stamps, uint32_t i)
{
	return (struct tpacket2_hdr *)(void *)(stamps->ring +
	                                       (size_t)(i & (COPIES - 1)) * COPY_BYTES);
}

static bool is_there(const struct tpacket2_hdr *copy)
{
	return __atomic_load_n(&copy->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER;
}

static void give_back(struct tap_stamps *stamps, uint32_t until)
{
	for (; stamps->next != until; stamps->next++)
		__atomic_store_n(&copy_at(stamps, stamps->next)->tp_status, TP_STATUS_KERNEL,
		                 __ATOMIC_RELEASE);
}

void tap_stamps_clear(struct tap_stamps *stamps)
{
	uint32_t end = stamps->next;

	while (end - stamps->next < COPIES && is_there(copy_at(stamps, end)))
		end++;
	give_back(stamps, end);
}

/* Returns true if this is the copy of the frame. The kernel takes a VLAN tag out of the copy. */
static bool is_of(const struct tpacket2_hdr *copy, const uint8_t *frame, uint32_t bytes)
{
	const uint32_t tag = copy->tp_status & TP_STATUS_VLAN_VALID ? TAG_BYTES : 0;
	const uint8_t *kept = (const uint8_t *)copy + copy->tp_mac;

	if (copy->tp_len + tag != bytes || copy->tp_snaplen < ADDRESSES)
		return false;
	return memcmp(kept, frame, ADDRESSES) == 0 &&
	       memcmp(kept + ADDRESSES, frame + ADDRESSES + tag, copy->tp_snaplen - ADDRESSES) == 0;
}

uint64_t tap_stamps_find(struct tap_stamps *stamps, const uint8_t *frame, uint32_t bytes)
{
	uint32_t i = stamps->next;

	for (; i - stamps->next < COPIES && is_there(copy_at(stamps, i)); i++) {
		const struct tpacket2_hdr *copy = copy_at(stamps, i);
		uint64_t wall_ns;

		if (!is_of(copy, frame, bytes))
			continue;
		wall_ns = (uint64_t)copy->tp_sec * SIMTIME_S + copy->tp_nsec;
		give_back(stamps, i + 1);
		return wall_ns;
	}
	give_back(stamps, i);
	return 0;
}

#define TCP              6
#define SYN_ACK          0x12
#define SYN              0x02
#define TCP_FLAGS        13
#define TCP_HEADER_BYTES 20
/* The most frames that are dropped at the start: new ones may come faster than they are dropped. */
#define START_DROPS_MAX 100000

struct tap_port {
	int fd;
	int opening; /* or -1 */
	struct tap_stamps stamps;
	struct rte_mempool *pool;
	/* for tap_port_watch, or NULL */
	struct frame_queue *frames;
	const struct clock *clock;
	uint16_t index;
	/* the receiving worker's */
	struct super_frame frame;
	uint64_t wall_ns; /* the stamp of `frame` */
	struct wall_clock wall;
	bool drained; /* the latest call has found no more frames */
	uint64_t no_mbuf, unfinished, unstamped;
	/* the transmitting worker's */
	struct joined_frame joined;
	struct dscp_watch dscps; /* if there is `opening` */
	bool refuses_udp;        /* joined: Linux before 6.2 */
	uint64_t not_sent;
	uint8_t bytes[SUPER_FRAME_BYTES_MAX];
};

bool tap_port_is(const char *device)
{
	return strncmp(device, TAP_PORT, strlen(TAP_PORT)) == 0;
}

static int check_tap(int fd, struct problem *problem)
{
	const int wanted = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
	struct ifreq ifr = {0};

	if (ioctl(fd, TUNGETIFF, &ifr) < 0 || (ifr.ifr_flags & wanted) != wanted)
		return problem_set(problem, -1,
		                   "descriptor %d is not a tap opened with IFF_TAP, IFF_NO_PI and "
		                   "IFF_VNET_HDR",
		                   fd);
	return 0;
}

/* Reads `tap:FD`, and what may follow. Returns false if the text is wrong. */
static bool read_device(const char *device, int *fd, int *opening, int *stamps)
{
	int at = 0, end = 0;

	*opening = *stamps = -1;
	if (sscanf(device, TAP_PORT "%d%n", fd, &at) < 1)
		return false;
	if (sscanf(device + at, ",opening=%d%n", opening, &end) == 1)
		at += end;
	if (sscanf(device + at, ",stamps=%d%n", stamps, &end) == 1)
		at += end;
	return device[at] == '\0';
}

int tap_port_open(const char *device, struct rte_mempool *pool, struct tap_port **port,
                  struct problem *problem)
{
	struct tap_port *made;
	int fd, opening, stamps, rc;

	if (!read_device(device, &fd, &opening, &stamps))
		return problem_set(problem, -1, "%s: expected tap:FD[,opening=FD][,stamps=FD]",
		                   device);
	rc = check_tap(fd, problem);
	if (rc < 0)
		return rc;
	made = calloc(1, sizeof(*made));
	if (!made) {
		problem_set(problem, -1, "no memory");
		return -ENOMEM;
	}
	if (stamps >= 0)
		rc = tap_stamps_open(&made->stamps, stamps);
	if (rc < 0) {
		problem_set(problem, -1, "descriptor %d has no ring of time stamps: %s", stamps,
		            strerror(-rc));
		free(made);
		return rc;
	}
	made->fd = fd;
	made->opening = opening;
	made->pool = pool;
	*port = made;
	return 0;
}

void tap_port_close(struct tap_port *port)
{
	if (!port)
		return;
	tap_stamps_close(&port->stamps);
	free(port);
}

void tap_port_watch(struct tap_port *port, struct frame_queue *frames, uint16_t index)
{
	port->frames = frames;
	port->index = index;
}

void tap_port_start(struct tap_port *port, const struct clock *clock)
{
	port->clock = clock;
	for (int i = 0; i < START_DROPS_MAX; i++) {
		if (read(port->fd, port->bytes, sizeof(port->bytes)) < 0)
			break;
	}
	if (port->stamps.ring)
		tap_stamps_clear(&port->stamps);
}

int tap_port_descriptor(const struct tap_port *port)
{
	return port->fd;
}

/* ---- receiving ---- */

/* Opens the next frame. Returns false if there is none. */
static bool next_frame(struct tap_port *port)
{
	struct virtio_net_hdr header;
	struct iovec parts[] = {{.iov_base = &header, .iov_len = sizeof(header)},
	                        {.iov_base = port->bytes, .iov_len = sizeof(port->bytes)}};

	for (;;) {
		ssize_t bytes = readv(port->fd, parts, 2);

		if (bytes < 0) {
			/* The kernel cannot describe the frame, and has discarded it. */
			port->unfinished += errno == EINVAL;
			return false;
		}
		if ((size_t)bytes > sizeof(header)) {
			uint32_t length = (uint32_t)((size_t)bytes - sizeof(header));

			/* Before the frame is changed. */
			if (port->stamps.ring)
				port->wall_ns = tap_stamps_find(&port->stamps, port->bytes, length);
			if (super_frame_open(&port->frame, &header, port->bytes, length))
				return true;
		}
		port->unfinished += 1;
	}
}

bool tap_port_stamps(const struct tap_port *port)
{
	return port->stamps.ring != NULL;
}

bool tap_port_is_behind(const struct tap_port *port)
{
	return !port->drained;
}

/* Replaces stamps of the wall clock by instants of weir's. Reads the clocks after the frames: no
 * instant is later. */
static void convert(struct tap_port *port, simtime *came_ns, uint16_t n)
{
	simtime now = wall_clock_read(&port->wall, port->clock);

	for (uint16_t i = 0; i < n; i++) {
		if (likely(came_ns[i] > 0)) {
			came_ns[i] = wall_clock_instant(&port->wall, came_ns[i]);
			continue;
		}
		came_ns[i] = now;
		port->unstamped++;
	}
}

/* Copies frames that came into the queue, those of one instant together. */
static void watch(struct tap_port *port, struct rte_mbuf **mbufs, const simtime *came_ns,
                  uint16_t n)
{
	for (uint16_t i = 0, same; i < n; i += same) {
		for (same = 1; i + same < n && came_ns[i + same] == came_ns[i]; same++)
			;
		frame_queue_put(port->frames, port->index, false, came_ns[i], mbufs + i, same);
	}
}

uint16_t tap_port_receive(struct tap_port *port, struct rte_mbuf **mbufs, simtime *came_ns,
                          uint16_t n)
{
	uint16_t done = 0;

	if (port->drained)
		wall_clock_settle(&port->wall);
	port->drained = false;
	while (done < n) {
		if (!port->frame.open && !next_frame(port)) {
			port->drained = true;
			break;
		}
		mbufs[done] = super_frame_take(&port->frame, port->pool);
		if (!mbufs[done]) {
			port->no_mbuf += super_frame_left(&port->frame);
			port->frame.open = false;
			break;
		}
		if (came_ns)
			came_ns[done] = port->wall_ns;
		done++;
	}
	if (done == 0)
		return 0;
	if (came_ns)
		convert(port, came_ns, done);
	if (unlikely(port->frames != NULL) && came_ns)
		watch(port, mbufs, came_ns, done);
	else if (unlikely(port->frames != NULL))
		frame_queue_put(port->frames, port->index, false, clock_now(port->clock), mbufs,
		                done);
	return done;
}

/* ---- sending ---- */

static bool find_segment(const struct rte_mbuf *mbuf, struct headers *headers)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);

	return headers_find(frame, mbuf->data_len, mbuf->pkt_len, headers) &&
	       headers->protocol == TCP && !headers->fragment && headers->transport > 0 &&
	       headers->transport_here >= 20;
}

static bool send_opening(struct tap_port *port, const struct rte_mbuf *mbuf, uint32_t bytes)
{
	return send(port->opening, rte_pktmbuf_mtod(mbuf, const void *), bytes,
	            MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

/* Shows a frame to the owner of `opening`. Returns true if it is for that only. */
static bool take_opening(struct tap_port *port, const struct rte_mbuf *mbuf)
{
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	struct headers headers;
	bool changes;

	if (!find_segment(mbuf, &headers))
		return false;
	changes = dscp_watch_changes(&port->dscps, frame, &headers);
	if ((frame[headers.transport + TCP_FLAGS] & SYN_ACK) == SYN) {
		if (!send_opening(port, mbuf, mbuf->data_len))
			port->not_sent += 1;
		return true;
	}
	if (changes && !send_opening(port, mbuf, headers.transport + TCP_HEADER_BYTES))
		dscp_watch_forget(&port->dscps, frame, &headers);
	return false;
}

/* Sends one or more frames, from the front. Returns how many were sent or lost; 0: to be tried
 * again later. */
static uint16_t send_some(struct tap_port *port, struct rte_mbuf **mbufs, uint16_t n)
{
	uint16_t frames = joined_frame_make(&port->joined, mbufs, n, !port->refuses_udp);
	ssize_t sent = -1;

	errno = 0;
	if (frames > 0)
		sent = writev(port->fd, port->joined.parts, (int)port->joined.n_parts);
	else
		frames = 1;
	if (sent < 0 && errno == EINVAL && port->joined.udp) {
		port->refuses_udp = true;
		return 0;
	}
	if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == EINTR || errno == ENOMEM))
		return 0;
	if (sent < 0)
		port->not_sent += frames;
	return frames;
}

uint16_t tap_port_transmit(struct tap_port *port, struct rte_mbuf **mbufs, uint16_t n)
{
	simtime now = unlikely(port->frames != NULL) ? clock_now(port->clock) : 0;
	uint64_t not_sent = port->not_sent;
	uint16_t frames = 1;

	if (port->opening < 0 || !take_opening(port, *mbufs))
		frames = send_some(port, mbufs, n);
	if (frames == 0)
		return 0;
	if (unlikely(port->frames != NULL) && port->not_sent == not_sent)
		frame_queue_put(port->frames, port->index, true, now, mbufs, frames);
	rte_pktmbuf_free_bulk(mbufs, frames);
	return frames;
}

void tap_port_losses(const struct tap_port *port, struct tap_port_losses *losses)
{
	*losses = (struct tap_port_losses){.no_mbuf = counter_read(&port->no_mbuf),
	                                   .unfinished = counter_read(&port->unfinished),
	                                   .not_sent = counter_read(&port->not_sent),
	                                   .unstamped = counter_read(&port->unstamped)};
}
