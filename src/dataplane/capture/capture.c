/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pcap/pcap.h>

#include "capture/block_reader.h"
#include "capture/one_interface.h"
#include "capture/pcap_stream.h"
#include "capture/unpack.h"

/* Bytes of a pcap's record besides its frame (16 more in a pcapng); for progress only. */
#define CAPTURE_RECORD_BYTES 16

#define MAGIC_BYTES 4
#define AHEAD_BYTES 1024

/* The header of each frame in a pcap, in the byte order of its writer. */
struct record {
	uint32_t seconds, fraction, bytes, wire_bytes;
};

_Static_assert(sizeof(struct record) == CAPTURE_RECORD_BYTES, "as the file has it");

struct capture {
	struct unpack *unpack;               /* NULL: the file is not compressed */
	struct one_interface *one_interface; /* NULL: all interfaces */
	struct block_reader block_reader;
	pcap_t *pcap;
	struct pcap_stream pcap_stream;
	FILE *stream; /* for libpcap; closed by pcap_close */
	struct stat stat;
	/* A pcap of the common kind, whose records are read without libpcap: */
	bool plain, swapped;
	uint32_t fraction_ns; /* unit of a record's fraction of a second */
	uint32_t bytes_max;   /* libpcap truncates longer records, or refuses them */
	struct capture_counts counts;
	struct link_layer *link_layer; /* the caller's; NULL: Ethernet */
	uint8_t *frame;                /* the latest frame as Ethernet, if it is of another link */
	simtime last_ns;
	uint64_t done_bytes;
	bool ended;
	char damage[200];
};

/* Reads the first bytes of a file, as many as it has. Returns 0, or -1 with errno. */
static int read_head(int fd, uint8_t head[UNPACK_HEAD_BYTES], uint32_t *bytes)
{
	ssize_t n = 1;

	for (*bytes = 0; *bytes < UNPACK_HEAD_BYTES && n > 0; *bytes += (uint32_t)n) {
		n = read(fd, head + *bytes, UNPACK_HEAD_BYTES - *bytes);
		if (n < 0)
			return -1;
	}
	return 0;
}

/* Opens the block reader for the whole file, or for one interface of a pcapng. Takes the
 * descriptor. Returns 0 or -ENOMEM. */
static int open_reader(struct capture *capture, int fd, const struct block_start *start,
                       const char *interface, struct io_thread *io_thread)
{
	struct block_start of_one = {0};

	if (!interface)
		return block_reader_open(&capture->block_reader, fd, start,
		                         S_ISREG(capture->stat.st_mode) ? io_thread : NULL);
	if (one_interface_open(fd, start, interface, &capture->one_interface) < 0)
		return -ENOMEM;
	of_one.source = one_interface_source(capture->one_interface);
	return block_reader_open(&capture->block_reader, -1, &of_one, NULL);
}

static int open_file(struct capture *capture, const char *path, const char *interface,
                     struct io_thread *io_thread, struct problem *problem)
{
	uint8_t head[UNPACK_HEAD_BYTES];
	struct block_start start = {.head = head};
	int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
	                                : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &capture->stat) < 0)
		goto err_open;
	if (S_ISDIR(capture->stat.st_mode)) {
		errno = EISDIR;
		goto err_open;
	}
	/* A hint only: pipes refuse it. */
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	if (read_head(fd, head, &start.head_bytes) < 0)
		goto err_open;
	if (unpack_open(fd, head, start.head_bytes, &capture->unpack)) {
		close(fd);
		goto err_memory;
	}
	if (capture->unpack)
		start = (struct block_start){.source = unpack_source(capture->unpack)};
	if (open_reader(capture, fd, &start, interface, io_thread) == 0 &&
	    (capture->stream = pcap_stream_open(&capture->pcap_stream, &capture->block_reader)))
		return 0;
err_memory:
	problem_set(problem, -1, "%s: no memory to read it", path);
	return -ENOMEM;

err_open:
	problem_set(problem, -1, "%s: cannot be read: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -EINVAL;
}

/* Returns the damage of a compressed file. Returns NULL if there is none, or if the last block has
 * not been read yet. */
static const char *unpack_why(const struct capture *capture)
{
	if (!capture->unpack || !capture->block_reader.ended ||
	    unpack_damage(capture->unpack)[0] == '\0')
		return NULL;
	return unpack_damage(capture->unpack);
}

/* Returns the damage that one_interface has found, or NULL. */
static const char *interface_why(const struct capture *capture)
{
	if (!capture->one_interface || one_interface_trouble(capture->one_interface)[0] == '\0')
		return NULL;
	return one_interface_trouble(capture->one_interface);
}

/* Returns the kind of a file that libpcap does not know, by its first bytes, or NULL if they do not
 * tell. */
static const char *what_else(const uint8_t *magic, size_t bytes)
{
	if (bytes == 0)
		return "the file is empty";
	if (bytes < MAGIC_BYTES)
		return NULL;
	if (memcmp(magic, "BZh", 3) == 0)
		return "it is compressed: unpack it with bunzip2 first";
	if (memcmp(magic, "\x04\x22\x4d\x18", 4) == 0)
		return "it is compressed: unpack it with unlz4 first";
	if (memcmp(magic, "PK\3\4", 4) == 0)
		return "it is an archive: unpack it with unzip first";
	return NULL;
}

/* Decides whether records can be read without libpcap. This is so for the format that everybody
 * writes, version 2.4. Older versions (lengths that may be exchanged) and private formats (longer
 * records) are left to libpcap. */
static void find_plain(struct capture *capture, const uint8_t *magic)
{
	static const struct {
		uint32_t magic, fraction_ns;
	} formats[] = {{0xa1b2c3d4, 1000}, {0xa1b23c4d, 1}};
	int snapshot = pcap_snapshot(capture->pcap);
	uint32_t word;

	memcpy(&word, magic, sizeof(word));
	if (pcap_major_version(capture->pcap) != 2 || pcap_minor_version(capture->pcap) != 4 ||
	    snapshot <= 0)
		return;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		capture->swapped = word == __builtin_bswap32(formats[i].magic);
		capture->plain = word == formats[i].magic || capture->swapped;
		capture->fraction_ns = formats[i].fraction_ns;
		if (capture->plain)
			break;
	}
	capture->bytes_max = RTE_MIN((uint32_t)snapshot, CAPTURE_FRAME_MAX);
}

static int open_pcap(struct capture *capture, const char *path, struct problem *problem)
{
	struct block_reader *block_reader = &capture->block_reader;
	char why[PCAP_ERRBUF_SIZE] = "";
	uint8_t magic[MAGIC_BYTES] = {0};
	size_t has;

	(void)block_reader_reach(block_reader, MAGIC_BYTES);
	has = RTE_MIN((size_t)(block_reader->end - block_reader->at), sizeof(magic));
	memcpy(magic, block_reader->at, has);
	capture->pcap = pcap_fopen_offline_with_tstamp_precision(capture->stream,
	                                                         PCAP_TSTAMP_PRECISION_NANO, why);
	if (!capture->pcap) {
		const char *else_it_is = block_reader->error ? NULL : what_else(magic, has);

		if (interface_why(capture))
			else_it_is = interface_why(capture);
		if (unpack_why(capture))
			else_it_is = unpack_why(capture);

		problem_set(problem, -1, "%s: is not a readable capture (pcap or pcapng): %s", path,
		            else_it_is ? else_it_is : why);
		return -EINVAL;
	}
	find_plain(capture, magic);
	return 0;
}

static const char *link_name(int link)
{
	const char *name = pcap_datalink_val_to_name(link);

	return name ? name : "unknown";
}

/* Checks that weir takes the link type, and that the captures opened before have the same. */
static int check_link(int link, const char *path, struct link_layer **link_layer,
                      struct problem *problem)
{
	if (link != DLT_EN10MB && !link_layer) {
		problem_set(problem, -1,
		            "%s: is a capture of link type %s (%d); here weir takes Ethernet "
		            "(EN10MB, 1) only",
		            path, link_name(link), link);
		return -EINVAL;
	}
	if (!link_layer_known(link)) {
		problem_set(problem, -1,
		            "%s: is a capture of link type %s (%d); weir takes Ethernet, Linux "
		            "cooked (LINUX_SLL, LINUX_SLL2) and IP (RAW, IPV4, IPV6)",
		            path, link_name(link), link);
		return -EINVAL;
	}
	if (link_layer && *link_layer && link_layer_link(*link_layer) != link) {
		problem_set(problem, -1,
		            "%s: is a capture of link type %s, but those before it are of %s; all "
		            "captures of a replay must have the same",
		            path, link_name(link), link_name(link_layer_link(*link_layer)));
		return -EINVAL;
	}
	return 0;
}

static int open_link(struct capture *capture, const char *path, struct link_layer **link_layer,
                     struct problem *problem)
{
	int link = pcap_datalink(capture->pcap);
	int error = check_link(link, path, link_layer, problem);

	if (error || !link_layer)
		return error;
	if (!*link_layer)
		*link_layer = link_layer_make(link);
	if (*link_layer && link_layer_is_ethernet(*link_layer))
		return 0;
	capture->link_layer = *link_layer;
	capture->plain = false;
	capture->frame = *link_layer ? malloc(CAPTURE_FRAME_MAX) : NULL;
	if (capture->frame)
		return 0;
	problem_set(problem, -1, "%s: no memory to read it", path);
	return -ENOMEM;
}

static int open_any(const char *path, const char *interface, struct io_thread *io_thread,
                    struct link_layer **link_layer, struct capture **capture,
                    struct problem *problem)
{
	struct capture *c = calloc(1, sizeof(*c));
	int error = -ENOMEM;

	if (!c) {
		problem_set(problem, -1, "%s: no memory to read it", path);
		goto err_free;
	}
	error = open_file(c, path, interface, io_thread, problem);
	if (error)
		goto err_free;
	error = open_pcap(c, path, problem);
	if (!error)
		error = open_link(c, path, link_layer, problem);
	if (error)
		goto err_free;
	*capture = c;
	return 0;

err_free:
	capture_close(c);
	return error;
}

int capture_open(const char *path, struct io_thread *io_thread, struct link_layer **link_layer,
                 struct capture **capture, struct problem *problem)
{
	return open_any(path, NULL, io_thread, link_layer, capture, problem);
}

int capture_open_interface(const char *path, const char *interface, struct capture **capture,
                           struct problem *problem)
{
	return open_any(path, interface, NULL, NULL, capture, problem);
}

simtime capture_first_ns(const struct capture *capture)
{
	return capture->one_interface ? one_interface_first_ns(capture->one_interface)
	                              : SIMTIME_NEVER;
}

void capture_close(struct capture *capture)
{
	if (!capture)
		return;
	if (capture->pcap)
		pcap_close(capture->pcap);
	else if (capture->stream)
		fclose(capture->stream);
	block_reader_close(&capture->block_reader);
	one_interface_close(capture->one_interface);
	unpack_close(capture->unpack);
	free(capture->frame);
	free(capture);
}

/* Converts a time stamp. libpcap returns the 32-bit fields of a pcap as signed numbers, and those
 * of a pcapng as 64 bits. Returns false for an instant before 1970 or after 2106. */
static bool stamp_ns(const struct pcap_pkthdr *header, simtime *t_ns)
{
	int64_t seconds = header->ts.tv_sec;
	int64_t fraction_ns = header->ts.tv_usec;

	if (seconds < 0 && seconds >= INT32_MIN)
		seconds += INT64_C(1) << 32;
	if (seconds < 0 || seconds > UINT32_MAX)
		return false;
	/* A fraction of more than a second is carried over; a negative one cannot be intended. */
	if (fraction_ns < 0)
		fraction_ns = 0;
	*t_ns = (uint64_t)seconds * SIMTIME_S + (uint64_t)fraction_ns;
	return true;
}

static bool end_damaged(struct capture *capture, const char *why)
{
	capture->ended = true;
	snprintf(capture->damage, sizeof(capture->damage), "after frame %llu: %s",
	         (unsigned long long)capture->counts.frames, why);
	return false;
}

/* Ends the capture. If a compressed file ends too early, its own damage is reported, and not what
 * libpcap misses because of it. */
static bool end_of_file(struct capture *capture, int got)
{
	const char *why = unpack_why(capture);

	capture->ended = true;
	if (!why)
		why = interface_why(capture);
	if (!why && got == PCAP_ERROR)
		why = pcap_geterr(capture->pcap);
	return why ? end_damaged(capture, why) : false;
}

static void give(struct capture *capture, struct capture_frame *frame, simtime t_ns,
                 const uint8_t *data, uint32_t bytes, uint32_t wire_bytes)
{
	if (unlikely(t_ns < capture->last_ns)) {
		capture->counts.clock_back++;
		capture->counts.clock_back_max_ns =
		        simtime_max(capture->counts.clock_back_max_ns, capture->last_ns - t_ns);
		t_ns = capture->last_ns;
	}
	capture->last_ns = t_ns;
	capture->counts.frames++;
	capture->counts.truncated += wire_bytes > bytes;
	capture->done_bytes += CAPTURE_RECORD_BYTES + bytes;
	frame->t_ns = t_ns;
	frame->bytes = bytes;
	frame->wire_bytes = wire_bytes > bytes ? wire_bytes : bytes;
	frame->data = data;
	frame->sender = NULL;
}

/* Returns a frame of another link with an Ethernet header in place of its own. */
static bool give_as_ethernet(struct capture *capture, struct capture_frame *frame, simtime t_ns,
                             const uint8_t *data, const struct pcap_pkthdr *header)
{
	uint32_t link_bytes = link_layer_bytes(capture->link_layer);
	const uint8_t *sender;
	const char *why = link_layer_enter(capture->link_layer, data, header->caplen,
	                                   capture->frame, &sender);
	uint32_t bytes, wire_bytes = RTE_MAX(header->len, header->caplen) - link_bytes;

	if (why)
		return end_damaged(capture, why);
	bytes = header->caplen - link_bytes;
	if (bytes > CAPTURE_FRAME_MAX - LINK_LAYER_ETHERNET_BYTES)
		return end_damaged(capture, "the next packet has more than 262130 bytes");
	memcpy(capture->frame + LINK_LAYER_ETHERNET_BYTES, data + link_bytes, bytes);
	wire_bytes = RTE_MIN(wire_bytes, UINT32_MAX - LINK_LAYER_ETHERNET_BYTES);
	give(capture, frame, t_ns, capture->frame, bytes + LINK_LAYER_ETHERNET_BYTES,
	     wire_bytes + LINK_LAYER_ETHERNET_BYTES);
	frame->sender = sender;
	return true;
}

/* Returns the next frame of a plain pcap if its record is unambiguous. Otherwise takes nothing and
 * returns false; libpcap then reads the record. */
static bool next_plain(struct capture *capture, struct capture_frame *frame)
{
	struct block_reader *block_reader = &capture->block_reader;
	struct record record;

	if (unlikely(!block_reader_has(block_reader, sizeof(record))))
		return false;
	__builtin_prefetch(block_reader->at + AHEAD_BYTES);
	memcpy(&record, block_reader->at, sizeof(record));
	if (unlikely(capture->swapped)) {
		record.seconds = __builtin_bswap32(record.seconds);
		record.fraction = __builtin_bswap32(record.fraction);
		record.bytes = __builtin_bswap32(record.bytes);
		record.wire_bytes = __builtin_bswap32(record.wire_bytes);
	}
	if (unlikely(record.bytes > capture->bytes_max ||
	             (uint64_t)record.fraction * capture->fraction_ns >= SIMTIME_S ||
	             !block_reader_has(block_reader, (uint32_t)sizeof(record) + record.bytes)))
		return false;
	give(capture, frame,
	     record.seconds * SIMTIME_S + (uint64_t)record.fraction * capture->fraction_ns,
	     block_reader->at + sizeof(record), record.bytes, record.wire_bytes);
	block_reader->at += sizeof(record) + record.bytes;
	return true;
}

bool capture_next(struct capture *capture, struct capture_frame *frame)
{
	struct pcap_pkthdr *header;
	const u_char *data;
	simtime t_ns;
	int got;

	if (unlikely(capture->ended))
		return false;
	if (likely(capture->plain) && next_plain(capture, frame))
		return true;
	got = pcap_next_ex(capture->pcap, &header, &data);
	if (got != 1)
		return end_of_file(capture, got);
	header->len = RTE_MAX(header->len, capture->pcap_stream.wire_bytes);
	if (!stamp_ns(header, &t_ns))
		return end_damaged(capture, "the next frame is stamped before 1970 or after 2106");
	if (header->caplen > CAPTURE_FRAME_MAX)
		return end_damaged(capture, "the next frame claims more than 262144 bytes");
	if (capture->link_layer)
		return give_as_ethernet(capture, frame, t_ns, data, header);
	give(capture, frame, t_ns, data, header->caplen, header->len);
	return true;
}

int capture_error(const struct capture *capture)
{
	return capture->block_reader.error;
}

const char *capture_damage(const struct capture *capture)
{
	return capture->damage;
}

const struct capture_counts *capture_counts(const struct capture *capture)
{
	return &capture->counts;
}

const struct stat *capture_stat(const struct capture *capture)
{
	return &capture->stat;
}

uint64_t capture_done_bytes(const struct capture *capture)
{
	if (capture->ended)
		return capture_all_bytes(capture);
	return capture->unpack ? unpack_done_bytes(capture->unpack) : capture->done_bytes;
}

uint64_t capture_all_bytes(const struct capture *capture)
{
	return S_ISREG(capture->stat.st_mode) ? (uint64_t)capture->stat.st_size : 0;
}
