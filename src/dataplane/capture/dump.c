/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/dump.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <pcap/pcap.h>

#include "capture/atomic_file.h"
#include "capture/block_file.h"
#include "capture/capture.h"

#define AHEAD_BYTES 1024

struct dump {
	struct atomic_file *atomic_file;
	struct block_writer
	        block_writer; /* into the file of the atomic file, whose stream stays empty */
	const struct link_layer *link_layer; /* NULL: Ethernet */
	bool too_late;                       /* an instant did not fit */
};

/* Lets libpcap write the header of a capture, with precision, link type and length. */
int dump_head(int link, uint8_t head[DUMP_HEAD_BYTES])
{
	pcap_t *pcap = pcap_open_dead_with_tstamp_precision(link, CAPTURE_FRAME_MAX,
	                                                    PCAP_TSTAMP_PRECISION_NANO);
	char *text = NULL;
	size_t bytes = 0;
	FILE *stream = pcap ? open_memstream(&text, &bytes) : NULL;
	pcap_dumper_t *dumper = stream ? pcap_dump_fopen(pcap, stream) : NULL;

	/* A dumper is only its stream, so closing the stream closes the dumper. */
	if (stream && fclose(stream) == 0 && dumper && bytes == DUMP_HEAD_BYTES)
		memcpy(head, text, DUMP_HEAD_BYTES);
	else
		dumper = NULL;
	free(text);
	if (pcap)
		pcap_close(pcap);
	return dumper ? 0 : -ENOMEM;
}

static int write_head(struct block_writer *block_writer, int link)
{
	uint8_t head[DUMP_HEAD_BYTES];
	int error = dump_head(link, head);

	if (!error)
		block_writer_put(block_writer, head, sizeof(head));
	return error;
}

int dump_open(const char *path, struct io_thread *io_thread, const struct link_layer *link_layer,
              struct dump **dump, struct problem *problem)
{
	struct dump *d = calloc(1, sizeof(*d));
	int error = -ENOMEM, fd;
	struct stat st;

	if (!d)
		goto err_memory;
	if (link_layer && !link_layer_is_ethernet(link_layer))
		d->link_layer = link_layer;
	error = atomic_file_open(path, &d->atomic_file, problem);
	if (error)
		goto err_discard;
	fd = atomic_file_descriptor(d->atomic_file);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		io_thread = NULL;
	error = block_writer_open(&d->block_writer, fd, io_thread);
	if (!error && atomic_file_sink(d->atomic_file))
		block_writer_through(&d->block_writer, atomic_file_sink(d->atomic_file));
	if (!error)
		error = write_head(&d->block_writer,
		                   link_layer ? link_layer_link(link_layer) : DLT_EN10MB);
	if (error)
		goto err_memory;
	*dump = d;
	return 0;

err_memory:
	problem_set(problem, -1, "%s: no memory to write it", path);
err_discard:
	dump_discard(d);
	return error;
}

static void write_record(struct dump *dump, simtime t_ns, uint32_t bytes, uint32_t wire_bytes)
{
	const struct dump_record record = {
	        .seconds = (uint32_t)(t_ns / SIMTIME_S),
	        .fraction_ns = (uint32_t)(t_ns % SIMTIME_S),
	        .bytes = bytes,
	        .wire_bytes = wire_bytes,
	};

	block_writer_put(&dump->block_writer, &record, sizeof(record));
}

/* Writes a frame with its own link header in place of the Ethernet header. No stage makes a frame
 * shorter than an Ethernet header. */
static void write_as_it_was(struct dump *dump, simtime t_ns, const uint8_t *data, uint32_t bytes,
                            uint32_t wire_bytes)
{
	uint8_t header[LINK_LAYER_BYTES_MAX];
	uint32_t link_bytes;

	assert(bytes >= LINK_LAYER_ETHERNET_BYTES && wire_bytes >= bytes);
	link_bytes = link_layer_leave(dump->link_layer, data,
	                              wire_bytes - LINK_LAYER_ETHERNET_BYTES, header);
	bytes -= LINK_LAYER_ETHERNET_BYTES;
	wire_bytes -= LINK_LAYER_ETHERNET_BYTES;
	write_record(dump, t_ns, link_bytes + bytes, link_bytes + wire_bytes);
	block_writer_put_across(&dump->block_writer, header, link_bytes);
	block_writer_put(&dump->block_writer, data + LINK_LAYER_ETHERNET_BYTES, bytes);
}

void dump_write(struct dump *dump, simtime t_ns, const void *data, uint32_t bytes,
                uint32_t wire_bytes)
{
	if (unlikely(t_ns / SIMTIME_S > UINT32_MAX))
		dump->too_late = true;
	/* The cache line belonged to the I/O thread's processor. */
	__builtin_prefetch(dump->block_writer.at + AHEAD_BYTES, 1);
	if (unlikely(dump->link_layer != NULL)) {
		write_as_it_was(dump, t_ns, data, bytes, wire_bytes);
		return;
	}
	write_record(dump, t_ns, bytes, wire_bytes);
	block_writer_put(&dump->block_writer, data, bytes);
}

int dump_error(struct dump *dump, struct problem *problem)
{
	if (dump->too_late) {
		problem_set(problem, -1,
		            "%s: a packet leaves after the year 2106, which a pcap cannot express; "
		            "the captures must be from earlier",
		            atomic_file_path(dump->atomic_file));
		return -EIO;
	}
	if (dump->block_writer.error)
		atomic_file_fail(dump->atomic_file, dump->block_writer.error);
	return atomic_file_error(dump->atomic_file, problem);
}

int dump_finish(struct dump *dump, struct problem *problem)
{
	int error;

	(void)block_writer_flush(&dump->block_writer);
	error = dump_error(dump, problem);
	return error ? error : atomic_file_finish(dump->atomic_file, problem);
}

int dump_publish(struct dump *dump, struct problem *problem)
{
	int error;

	block_writer_close(&dump->block_writer);
	error = atomic_file_publish(dump->atomic_file, problem);
	dump->atomic_file = NULL;
	dump_discard(dump);
	return error;
}

void dump_discard(struct dump *dump)
{
	if (!dump)
		return;
	block_writer_close(&dump->block_writer);
	atomic_file_discard(dump->atomic_file);
	free(dump);
}
