/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens captures. */
#include <errno.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture_inside.h"

#define MAGIC_BYTES 4

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

static int open_file(struct capture *capture, const char *path, struct io_thread *io_thread,
                     struct problem *problem)
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
	if (block_reader_open(&capture->block_reader, fd, &start,
	                      S_ISREG(capture->stat.st_mode) ? io_thread : NULL) == 0)
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

/* ---- formats of libpcap ---- */

static ssize_t stream_read(void *argument, char *to, size_t bytes)
{
	struct block_reader *from = argument;
	size_t has;

	if (!block_reader_has(from, 1)) {
		if (!from->error)
			return 0;
		errno = from->error;
		return -1;
	}
	has = RTE_MIN((size_t)(from->end - from->at), bytes);
	memcpy(to, from->at, has);
	from->at += has;
	return (ssize_t)has;
}

/* Returns the bytes of the block reader as a stream for libpcap, which buffers nothing; or NULL if
 * there is no memory. */
static FILE *stream_open(struct block_reader *from)
{
	FILE *stream = fopencookie(from, "r", (cookie_io_functions_t){.read = stream_read});

	if (!stream)
		return NULL;
	setvbuf(stream, NULL, _IONBF, 0);
	__fsetlocking(stream, FSETLOCKING_BYCALLER);
	return stream;
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

static int refuse_file(const struct capture *capture, const char *path, const char *why,
                       struct problem *problem)
{
	/* A compressed file that ends too early is reported as such. */
	if (capture->unpack && capture->block_reader.ended && unpack_damage(capture->unpack)[0])
		why = unpack_damage(capture->unpack);
	return problem_set(problem, -1, "%s: is not a readable capture (pcap or pcapng): %s", path,
	                   why);
}

static int open_pcap(struct capture *capture, const char *path, struct problem *problem)
{
	struct block_reader *block_reader = &capture->block_reader;
	char why[PCAP_ERRBUF_SIZE] = "";
	uint8_t magic[MAGIC_BYTES] = {0};
	const char *else_it_is;
	size_t has;

	(void)block_reader_reach(block_reader, MAGIC_BYTES);
	has = RTE_MIN((size_t)(block_reader->end - block_reader->at), sizeof(magic));
	memcpy(magic, block_reader->at, has);
	capture->stream = stream_open(block_reader);
	if (!capture->stream) {
		problem_set(problem, -1, "%s: no memory to read it", path);
		return -ENOMEM;
	}
	capture->pcap = pcap_fopen_offline_with_tstamp_precision(capture->stream,
	                                                         PCAP_TSTAMP_PRECISION_NANO, why);
	if (capture->pcap) {
		capture->records.link = pcap_datalink(capture->pcap);
		return 0;
	}
	else_it_is = block_reader->error ? NULL : what_else(magic, has);
	return refuse_file(capture, path, else_it_is ? else_it_is : why, problem);
}

/* ---- link types ---- */

static const char *link_name(int link)
{
	const char *name = pcap_datalink_val_to_name(link);

	return name ? name : "unknown";
}

/* Checks that weir takes the link type, and that the captures opened before have the same. */
static int check_link(int link, const char *path, struct link_layer **link_layer,
                      struct problem *problem)
{
	if (link != DLT_EN10MB && !link_layer)
		return problem_set(
		        problem, -1,
		        "%s: is a capture of link type %s (%d); here weir takes Ethernet "
		        "(EN10MB, 1) only",
		        path, link_name(link), link);
	if (!link_layer_known(link))
		return problem_set(
		        problem, -1,
		        "%s: is a capture of link type %s (%d); weir takes Ethernet, Linux "
		        "cooked (LINUX_SLL, LINUX_SLL2), IP (RAW, IPV4, IPV6), BSD loopback "
		        "(NULL, LOOP) and PPP",
		        path, link_name(link), link);
	if (link_layer && *link_layer && link_layer_link(*link_layer) != link)
		return problem_set(
		        problem, -1,
		        "%s: is a capture of link type %s, but those before it are of %s; all "
		        "captures of a replay must have the same",
		        path, link_name(link), link_name(link_layer_link(*link_layer)));
	return 0;
}

static int open_link(struct capture *capture, const char *path, struct link_layer **link_layer,
                     struct problem *problem)
{
	int error = check_link(capture->records.link, path, link_layer, problem);

	if (error || !link_layer)
		return error;
	if (!*link_layer)
		*link_layer = link_layer_make(capture->records.link);
	if (*link_layer && link_layer_is_ethernet(*link_layer))
		return 0;
	capture->link_layer = *link_layer;
	capture->frame = *link_layer ? malloc(CAPTURE_FRAME_MAX) : NULL;
	if (capture->frame)
		return 0;
	problem_set(problem, -1, "%s: no memory to read it", path);
	return -ENOMEM;
}

/* ---- all ---- */

static int open_records(struct capture *capture, const char *path,
                        const struct capture_options *options, struct problem *problem)
{
	struct records *records = &capture->records;

	records_open(records, &capture->block_reader, capture->interface,
	             options->link_wanted ? options->link : RECORDS_ANY_LINK);
	if (records->format == RECORDS_FOREIGN && !capture->interface)
		return open_pcap(capture, path, problem);
	if (records_describe(records))
		return 0;
	return refuse_file(capture, path,
	                   records->refused[0]  ? records->refused
	                   : records->damage[0] ? records->damage
	                                        : "it describes no interface",
	                   problem);
}

/* Reads the first frames of a file, so that what follows an interface of another link type is
 * refused at once; but does not wait for those of a pipe. */
static int read_first(struct capture *capture, const char *path, struct problem *problem)
{
	const char *other;

	if (!S_ISREG(capture->stat.st_mode) || capture->pcap)
		return 0;
	capture_fill(capture);
	if (capture->records.refused[0])
		return problem_set(problem, -1, "%s: %s", path, capture->records.refused);
	if (capture->order.n > 0 || capture_other_link(capture, &other) == 0)
		return 0;
	return problem_set(problem, -1, "%s: has no frame of link type %s (%d), only others (%s)",
	                   path, link_name(capture->records.link), capture->records.link, other);
}

int capture_open_with(const char *path, const struct capture_options *options,
                      struct capture **capture, struct problem *problem)
{
	struct capture *c = calloc(1, sizeof(*c));
	int error = -ENOMEM;

	if (c && options->interface)
		c->interface = strdup(options->interface);
	if (!c || !c->interface != !options->interface) {
		problem_set(problem, -1, "%s: no memory to read it", path);
		goto err_free;
	}
	frame_order_open(&c->order);
	error = open_file(c, path, options->io_thread, problem);
	if (error)
		goto err_free;
	c->depth = options->live && !S_ISREG(c->stat.st_mode) ? 1 : FRAME_ORDER_MAX;
	error = open_records(c, path, options, problem);
	if (!error)
		error = open_link(c, path, options->link_layer, problem);
	if (!error)
		error = read_first(c, path, problem);
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
	return capture_open_with(
	        path, &(struct capture_options){.io_thread = io_thread, .link_layer = link_layer},
	        capture, problem);
}

void capture_close(struct capture *capture)
{
	if (!capture)
		return;
	if (capture->pcap)
		pcap_close(capture->pcap);
	else if (capture->stream)
		fclose(capture->stream);
	records_close(&capture->records);
	block_reader_close(&capture->block_reader);
	unpack_close(capture->unpack);
	free(capture->interface);
	free(capture->frame);
	free(capture);
}
