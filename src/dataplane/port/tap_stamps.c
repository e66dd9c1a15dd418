/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/tap_stamps.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>

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

int tap_stamps_open(struct tap_stamps *stamps, int fd)
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
