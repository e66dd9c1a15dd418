/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/port_kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <rte_ether.h>

#include "account/counter_read.h"
#include "machine/clock.h"
#include "port/interface.h"
#include "port/super_frame.h"

#define MESSAGES      32
#define TAG_BYTES     4
#define ROOM_BYTES    RTE_ETHER_HDR_LEN /* before a frame, for a tag or a header */
#define SLOT_BYTES    (ROOM_BYTES + SUPER_FRAME_BYTES_MAX)
#define RECEIVE_BYTES (32 << 20)
#define SEND_BYTES    (4 << 20)
/* The most frames that are dropped at the start: new ones may come faster than they are dropped. */
#define START_DROPS_MAX 100000
/* So few frames are sent with a call of the kernel each. */
#define FEW_MESSAGES 8

/* Room for the control messages that the kernel adds to a frame: its time stamp, and its tag. */
union auxiliary {
	struct cmsghdr header;
	uint8_t bytes[CMSG_SPACE(sizeof(struct timespec)) +
	              CMSG_SPACE(sizeof(struct tpacket_auxdata))];
};

struct packet_port {
	int fd;
	bool bare; /* IP packets without an Ethernet header */
	struct rte_mempool *pool;
	const struct clock *clock; /* NULL: frames have no instants */
	/* the receiving worker's: messages[next] to messages[n - 1] wait, the message before them
	 * is in `frame` */
	struct mmsghdr messages[MESSAGES];
	struct iovec parts[MESSAGES][2];
	struct virtio_net_hdr headers[MESSAGES];
	union auxiliary auxiliaries[MESSAGES];
	uint8_t *slots;
	uint32_t next, n;
	struct super_frame frame;
	simtime came; /* when `frame` came */
	bool drained; /* nothing was left behind the messages */
	bool behind;
	struct wall_clock wall;
	uint64_t no_mbuf, unfinished, unstamped;
	uint64_t early; /* came before the start */
	/* the transmitting worker's */
	struct joined_frame joined[MESSAGES];
	struct mmsghdr sending[MESSAGES];
	uint16_t frames[MESSAGES];
	/* of bare packets; control writes their index */
	struct sockaddr_ll ipv4, ipv6;
	bool refuses_udp; /* joined: Linux before 6.2 */
	uint64_t too_large, not_ip, not_sent;
	/* of any thread that reads losses */
	uint64_t missed;
};

static int set(int fd, int option, int value)
{
	return setsockopt(fd, SOL_PACKET, option, &value, sizeof(value)) < 0 ? -errno : 0;
}

static int attach(int fd, int index)
{
	struct sockaddr_ll address = {
	        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = index};

	return bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
}

static int open_socket(const struct interface *interface, struct problem *problem)
{
	/* Without a protocol the socket receives nothing until it is bound. */
	int rc = 0, fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

	if (fd < 0) {
		rc = -errno;
		interface_no_socket(interface->name, rc, problem);
		return rc;
	}
	/* These sizes need CAP_NET_ADMIN; without that right, smaller buffers do. */
	int receive = RECEIVE_BYTES, send_ = SEND_BYTES;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &receive, sizeof(receive)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive, sizeof(receive));
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &send_, sizeof(send_)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_, sizeof(send_));
	rc = set(fd, PACKET_VNET_HDR, 1);
	if (rc == 0)
		rc = set(fd, PACKET_AUXDATA, 1);
	if (rc == 0)
		rc = set(fd, PACKET_IGNORE_OUTGOING, 1);
	if (rc == 0 && setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) < 0)
		rc = -errno;
	if (rc == 0)
		rc = attach(fd, interface->index);
	if (rc < 0) {
		interface_no_socket(interface->name, rc, problem);
		close(fd);
		return rc;
	}
	return fd;
}

/* Most slots hold small frames for ever, and take no more memory than these need: so no huge
 * pages. */
static uint8_t *slots_make(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = RTE_ALIGN_CEIL((size_t)MESSAGES * SLOT_BYTES, page);
	uint8_t *slots = aligned_alloc(page, bytes);

	if (slots)
		madvise(slots, bytes, MADV_NOHUGEPAGE);
	return slots;
}

static void set_index(struct packet_port *port, int index)
{
	__atomic_store_n(&port->ipv4.sll_ifindex, index, __ATOMIC_RELAXED);
	__atomic_store_n(&port->ipv6.sll_ifindex, index, __ATOMIC_RELAXED);
}

int packet_port_open(const struct interface *interface, struct rte_mempool *pool,
                     struct packet_port **port, struct problem *problem)
{
	struct packet_port *made = calloc(1, sizeof(*made));
	int rc = -ENOMEM;

	if (made)
		made->slots = slots_make();
	if (!made || !made->slots) {
		problem_set(problem, -1, "no memory");
		goto failed;
	}
	rc = open_socket(interface, problem);
	if (rc < 0)
		goto failed;
	made->fd = rc;
	made->pool = pool;
	made->bare = interface->carries == CARRIES_IP;
	made->ipv4 = (struct sockaddr_ll){.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP)};
	made->ipv6 = made->ipv4;
	made->ipv6.sll_protocol = htons(ETH_P_IPV6);
	set_index(made, interface->index);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		struct msghdr *message = &made->messages[i].msg_hdr;

		made->parts[i][0] = (struct iovec){.iov_base = &made->headers[i],
		                                   .iov_len = sizeof(made->headers[i])};
		made->parts[i][1] =
		        (struct iovec){.iov_base = made->slots + i * SLOT_BYTES + ROOM_BYTES,
		                       .iov_len = SUPER_FRAME_BYTES_MAX};
		*message = (struct msghdr){.msg_iov = made->parts[i],
		                           .msg_iovlen = 2,
		                           .msg_control = &made->auxiliaries[i],
		                           .msg_controllen = sizeof(made->auxiliaries[i])};
	}
	*port = made;
	return 0;

failed:
	if (made)
		free(made->slots);
	free(made);
	return rc;
}

void packet_port_close(struct packet_port *port)
{
	if (!port)
		return;
	close(port->fd);
	free(port->slots);
	free(port);
}

int packet_port_move(struct packet_port *port, const struct interface *interface)
{
	int error, rc;
	socklen_t bytes = sizeof(error);

	if (port->bare != (interface->carries == CARRIES_IP))
		return -EMEDIUMTYPE;
	rc = attach(port->fd, interface->index);
	if (rc < 0)
		return rc;
	set_index(port, interface->index);
	/* The kernel has stored that the last interface went down. A worker that sends would get
	 * this for its first frame. */
	getsockopt(port->fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
	return 0;
}

void packet_port_start(struct packet_port *port, const struct clock *clock)
{
	struct packet_port_losses losses;

	port->clock = clock;
	/* With less room than the kernel's header takes, it refuses the frame, and drops it. */
	for (int i = 0; i < START_DROPS_MAX; i++) {
		if (recv(port->fd, port->slots, sizeof(struct virtio_net_hdr), MSG_TRUNC) < 0 &&
		    errno != EINVAL)
			break;
		/* With EINVAL, too: the kernel cannot describe the frame, and has discarded it. */
		port->early++;
	}
	packet_port_losses(port, &losses);
	port->early += losses.missed;
	port->missed = 0;
}

int packet_port_descriptor(const struct packet_port *port)
{
	return port->fd;
}

/* ---- receiving ---- */

/* What the kernel says of a frame, beside its bytes. */
struct aside {
	const struct tpacket_auxdata *auxdata; /* or NULL */
	uint64_t wall_ns;                      /* 0: not stamped */
};

static struct aside read_aside(struct msghdr *message)
{
	struct aside aside = {0};

	for (struct cmsghdr *control = CMSG_FIRSTHDR(message); control;
	     control = CMSG_NXTHDR(message, control)) {
		if (control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_TIMESTAMPNS) {
			struct timespec stamp;

			memcpy(&stamp, CMSG_DATA(control), sizeof(stamp));
			aside.wall_ns =
			        (uint64_t)stamp.tv_sec * SIMTIME_S + (uint64_t)stamp.tv_nsec;
		} else if (control->cmsg_level == SOL_PACKET &&
		           control->cmsg_type == PACKET_AUXDATA) {
			aside.auxdata = (const void *)CMSG_DATA(control);
		}
	}
	return aside;
}

/* Puts back the outermost tag, which the kernel has taken out of the frame, using the room before
 * the frame. Returns where the frame begins now. */
static uint8_t *put_tag_back(struct packet_port *port, uint32_t i, const struct aside *aside,
                             uint32_t *length)
{
	uint8_t *frame = port->parts[i][1].iov_base;
	struct virtio_net_hdr *header = &port->headers[i];
	struct tpacket_auxdata said;
	uint16_t tag[2];

	if (!aside->auxdata || *length < RTE_ETHER_HDR_LEN)
		return frame;
	memcpy(&said, aside->auxdata, sizeof(said));
	if (!(said.tp_status & TP_STATUS_VLAN_VALID))
		return frame;
	tag[0] = said.tp_status & TP_STATUS_VLAN_TPID_VALID ? htons(said.tp_vlan_tpid)
	                                                    : htons(ETHERTYPE_VLAN);
	tag[1] = htons(said.tp_vlan_tci);
	frame -= TAG_BYTES;
	memmove(frame, frame + TAG_BYTES, (size_t)2 * RTE_ETHER_ADDR_LEN);
	memcpy(frame + (size_t)2 * RTE_ETHER_ADDR_LEN, tag, sizeof(tag));
	*length += TAG_BYTES;
	header->csum_start += TAG_BYTES;
	return frame;
}

/* Writes an Ethernet header before a bare IP packet. Returns where the frame begins, or NULL if it
 * is no IP packet. */
static uint8_t *put_header(struct packet_port *port, uint32_t i, uint32_t *length)
{
	static const uint8_t addresses[] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1};
	uint8_t *packet = port->parts[i][1].iov_base;
	uint8_t *frame = packet - RTE_ETHER_HDR_LEN;
	uint16_t type = packet[0] >> 4 == 4   ? htons(ETH_P_IP)
	                : packet[0] >> 4 == 6 ? htons(ETH_P_IPV6)
	                                      : 0;

	memcpy(frame, addresses, sizeof(addresses));
	memcpy(frame + sizeof(addresses), &type, sizeof(type));
	*length += RTE_ETHER_HDR_LEN;
	port->headers[i].csum_start += RTE_ETHER_HDR_LEN;
	return type ? frame : NULL;
}

/* Returns the instant at which a frame came: that of its stamp, or of the latest reading if it has
 * none. */
static simtime instant(struct packet_port *port, const struct aside *aside)
{
	if (unlikely(aside->wall_ns == 0)) {
		port->unstamped++;
		return port->wall.read;
	}
	return wall_clock_instant(&port->wall, aside->wall_ns);
}

/* Opens the next message that holds a frame. Returns false if there is none. */
static bool next_frame(struct packet_port *port)
{
	while (port->next < port->n) {
		uint32_t i = port->next++, length = port->messages[i].msg_len;
		uint8_t *bytes;

		if (length > sizeof(struct virtio_net_hdr) &&
		    !(port->messages[i].msg_hdr.msg_flags & MSG_TRUNC)) {
			const struct aside aside = read_aside(&port->messages[i].msg_hdr);

			port->came = instant(port, &aside);
			length -= sizeof(struct virtio_net_hdr);
			bytes = port->bare ? put_header(port, i, &length)
			                   : put_tag_back(port, i, &aside, &length);
			if (bytes &&
			    super_frame_open(&port->frame, &port->headers[i], bytes, length))
				return true;
		}
		port->unfinished += 1;
	}
	return false;
}

/* Fills the messages as recvmmsg does. A frame that the kernel cannot describe (a super-frame of
 * SCTP or, before Linux 6.2, of UDP) is lost in it, with EINVAL. */
static int fill_messages(struct packet_port *port)
{
	int got = -1;

	for (int tries = 0; got < 0 && tries < MESSAGES; tries++) {
		got = recvmmsg(port->fd, port->messages, MESSAGES, MSG_DONTWAIT, NULL);
		if (got < 0 && errno != EINVAL)
			break;
		port->unfinished += got < 0;
	}
	return got;
}

static bool receive_messages(struct packet_port *port)
{
	int got;

	/* The kernel overwrites this field of each message that it fills. */
	for (uint32_t i = 0; i < port->n; i++)
		port->messages[i].msg_hdr.msg_controllen = sizeof(port->auxiliaries[i]);
	port->next = port->n = 0;
	/* The frames before, none of which is left, may have been the last ones from before a
	 * step. */
	if (port->drained)
		wall_clock_settle(&port->wall);
	got = fill_messages(port);
	port->n = got > 0 ? (uint32_t)got : 0;
	port->drained = got < MESSAGES;
	if (got > 0 && port->clock)
		wall_clock_read(&port->wall, port->clock);
	return got > 0;
}

uint16_t packet_port_receive(struct packet_port *port, struct rte_mbuf **mbufs, simtime *came_ns,
                             uint16_t n)
{
	bool asked = false;
	uint16_t done = 0;

	while (done < n) {
		if (!port->frame.open && !next_frame(port)) {
			if (done > 0)
				break;
			asked = true;
			if (!receive_messages(port) || !next_frame(port))
				break;
		}
		mbufs[done] = super_frame_take(&port->frame, port->pool);
		if (!mbufs[done]) {
			port->no_mbuf += super_frame_left(&port->frame);
			port->frame.open = false;
			break;
		}
		if (came_ns)
			came_ns[done] = port->came;
		done++;
	}
	port->behind = !asked || !port->drained || port->frame.open || port->next < port->n;
	return done;
}

bool packet_port_is_behind(const struct packet_port *port)
{
	return port->behind;
}

/* ---- sending ---- */

/* Removes the Ethernet header of a frame for an interface without it. Returns the address to send
 * it to, or NULL if the frame is not an IP packet behind an untagged header. */
static struct sockaddr_ll *strip(struct packet_port *port, struct joined_frame *joined)
{
	struct iovec *first = &joined->parts[1];
	struct sockaddr_ll *to;
	uint16_t type;

	if (first->iov_len <= RTE_ETHER_HDR_LEN)
		return NULL;
	memcpy(&type, (uint8_t *)first->iov_base + RTE_ETHER_HDR_LEN - sizeof(type), sizeof(type));
	to = type == port->ipv4.sll_protocol   ? &port->ipv4
	     : type == port->ipv6.sll_protocol ? &port->ipv6
	                                       : NULL;
	first->iov_base = (uint8_t *)first->iov_base + RTE_ETHER_HDR_LEN;
	first->iov_len -= RTE_ETHER_HDR_LEN;
	if (joined->header.gso_type != VIRTIO_NET_HDR_GSO_NONE) {
		joined->header.hdr_len -= RTE_ETHER_HDR_LEN;
		joined->header.csum_start -= RTE_ETHER_HDR_LEN;
	}
	return to;
}

/* Makes as many messages as n frames need, MESSAGES at most. Returns their number. If it is 0, the
 * first frame cannot be sent, and is counted. */
static uint32_t join(struct packet_port *port, struct rte_mbuf **mbufs, uint16_t n)
{
	uint32_t messages = 0;

	for (uint16_t at = 0; at < n && messages < MESSAGES; messages++) {
		struct joined_frame *joined = &port->joined[messages];
		struct msghdr *message = &port->sending[messages].msg_hdr;

		port->frames[messages] = joined_frame_make(joined, mbufs + at, (uint16_t)(n - at),
		                                           !port->refuses_udp);
		*message = (struct msghdr){.msg_iov = joined->parts, .msg_iovlen = joined->n_parts};
		if (port->frames[messages] > 0 && port->bare) {
			message->msg_name = strip(port, joined);
			message->msg_namelen = sizeof(port->ipv4);
		}
		if (port->frames[messages] == 0 || (port->bare && !message->msg_name)) {
			if (messages == 0)
				*(port->frames[0] == 0 ? &port->too_large : &port->not_ip) += 1;
			break;
		}
		at += port->frames[messages];
	}
	return messages;
}

/* Returns true if the kernel may take the frames of the first message later. */
static bool is_busy(int error)
{
	return error == EAGAIN || error == ENOBUFS || error == EINTR || error == ENOMEM;
}

uint16_t packet_port_transmit(struct packet_port *port, struct rte_mbuf **mbufs, uint16_t n)
{
	uint16_t done = 0;

	while (done < n) {
		uint32_t messages = join(port, mbufs + done, n - done), sent = 0;
		const bool few = messages <= FEW_MESSAGES && port->frames[0] < n - done;
		uint16_t frames = 0;
		int rc = 0;

		messages = few ? RTE_MIN(messages, 1u) : messages;
		if (messages > 0) {
			rc = sendmmsg(port->fd, port->sending, messages, MSG_DONTWAIT);
			if (rc < 0 && is_busy(errno))
				break;
			if (rc < 0 && errno == EINVAL && port->joined[0].udp) {
				port->refuses_udp = true;
				continue;
			}
		}
		sent = rc > 0 ? (uint32_t)rc : 0;
		if (sent > 0) {
			for (uint32_t i = 0; i < sent; i++)
				frames += port->frames[i];
		} else if (messages == 0) {
			frames = 1;
		} else {
			frames = port->frames[0];
			*(errno == EMSGSIZE ? &port->too_large : &port->not_sent) += frames;
		}
		rte_pktmbuf_free_bulk(mbufs + done, frames);
		done += frames;
		if (few)
			break;
	}
	return done;
}

void packet_port_losses(struct packet_port *port, struct packet_port_losses *losses)
{
	struct tpacket_stats stats;
	socklen_t bytes = sizeof(stats);

	/* Reading resets the counters. Several threads may read, each a part. */
	if (getsockopt(port->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &bytes) == 0)
		__atomic_add_fetch(&port->missed, stats.tp_drops, __ATOMIC_RELAXED);
	*losses = (struct packet_port_losses){.missed = counter_read(&port->missed),
	                                      .no_mbuf = counter_read(&port->no_mbuf),
	                                      .unfinished = counter_read(&port->unfinished),
	                                      .too_large = counter_read(&port->too_large),
	                                      .not_ip = counter_read(&port->not_ip),
	                                      .not_sent = counter_read(&port->not_sent),
	                                      .early = port->early,
	                                      .unstamped = counter_read(&port->unstamped)};
}
