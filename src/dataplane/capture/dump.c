/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/dump.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Lets libpcap write the header of a capture, with precision, link type and length. `link` is a
 * DLT_ value. Returns 0 or -ENOMEM. */
static int dump_head(int link, uint8_t head[DUMP_HEAD_BYTES])
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

#define ROOM_BYTES  (1u << 20)
#define WRITE_BYTES (64u << 10)
#define PAUSE_NS    (100 * SIMTIME_MS)
/* After recorder_hurry: so often a pipe may have no room, before it is given up. */
#define WAIT_MS   100
#define WAITS_MAX 10

struct recorder {
	struct atomic_file *atomic_file; /* its stream stays empty */
	int fd;
	bool pipe; /* or a terminal, a socket: somebody reads it, or does not */
	/* control, read by the writer */
	uint32_t hurry;
	/* writer: whole records, the first `done` bytes of which are in the file */
	uint8_t *room;
	uint32_t used, done;
	uint64_t tried_ns;
	bool given_up; /* the pipe has no reader that reads */
	/* written by the writer, read by control */
	uint64_t lost;
	uint32_t begun, over; /* number of troubles; equal: none at present */
	uint32_t error;       /* errno of the latest trouble */
	/* control only */
	uint32_t told; /* `begun` at the last event */
	bool telling;  /* the end of that trouble has not been reported yet */
	uint64_t told_lost;
};

static uint32_t record_bytes(const uint8_t *at)
{
	struct dump_record record;

	memcpy(&record, at, sizeof(record));
	return (uint32_t)sizeof(record) + record.bytes;
}

static void lose(struct recorder *recorder, uint64_t frames)
{
	__atomic_store_n(&recorder->lost, recorder->lost + frames, __ATOMIC_RELAXED);
}

static bool in_trouble(const struct recorder *recorder)
{
	return recorder->begun != recorder->over;
}

static void begin_trouble(struct recorder *recorder, int error)
{
	__atomic_store_n(&recorder->error, (uint32_t)error, __ATOMIC_RELAXED);
	if (!in_trouble(recorder))
		__atomic_store_n(&recorder->begun, recorder->begun + 1, __ATOMIC_RELEASE);
}

/* Waits until a pipe has room for PIPE_BUF bytes. Returns 0; EAGAIN if nobody reads and
 * recorder_hurry was called; or an errno. */
static int wait_for_room(struct recorder *recorder)
{
	struct pollfd to = {.fd = recorder->fd, .events = POLLOUT};

	for (uint32_t waits = 0; waits < WAITS_MAX;) {
		int n = poll(&to, 1, recorder->given_up ? 0 : WAIT_MS);

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return errno;
		if (recorder->given_up)
			break;
		waits += __atomic_load_n(&recorder->hurry, __ATOMIC_RELAXED);
	}
	recorder->given_up = true;
	return EAGAIN;
}

/* Writes the bytes from *done on, and advances *done. Returns 0, or the errno of the failed
 * write. */
static int write_on(struct recorder *recorder, const uint8_t *data, uint32_t bytes, uint32_t *done)
{
	const uint32_t most = recorder->pipe ? PIPE_BUF : UINT32_MAX;

	while (*done < bytes) {
		const uint32_t part = bytes - *done < most ? bytes - *done : most;
		int error = recorder->pipe ? wait_for_room(recorder) : 0;
		ssize_t n;

		if (error)
			return error;
		n = write(recorder->fd, data + *done, part);
		if (n > 0)
			*done += (uint32_t)n;
		else if (n == 0 || errno != EINTR)
			return n < 0 ? errno : EIO;
	}
	return 0;
}

static void push(struct recorder *recorder)
{
	int error = write_on(recorder, recorder->room, recorder->used, &recorder->done);

	/* Removes the frames that are wholly in the file. */
	uint32_t whole = 0;

	while (whole < recorder->done) {
		uint32_t next = whole + record_bytes(recorder->room + whole);

		if (next > recorder->done)
			break;
		whole = next;
	}
	recorder->used -= whole;
	recorder->done -= whole;
	memmove(recorder->room, recorder->room + whole, recorder->used);
	if (error)
		begin_trouble(recorder, error);
	else
		__atomic_store_n(&recorder->over, recorder->begun, __ATOMIC_RELEASE);
}

static const char *cause(uint32_t error)
{
	switch (error) {
	case EOVERFLOW:
		return "it leaves after the year 2106, which a pcap cannot express";
	case EAGAIN:
		return "its reader does not read";
	default:
		return strerror((int)error);
	}
}

/* Writes the head, so that a file that cannot even begin is reported before anything runs. Returns
 * 0, or -errno with problem. */
static int begin_file(struct recorder *recorder, const char *path, struct problem *problem)
{
	uint8_t head[DUMP_HEAD_BYTES];
	uint32_t done = 0;
	int error;

	if (dump_head(DLT_EN10MB, head) < 0) {
		problem_set(problem, -1, "%s: no memory to write it", path);
		return -ENOMEM;
	}
	recorder->hurry = 1; /* nothing runs yet that could be lost */
	error = write_on(recorder, head, sizeof(head), &done);
	recorder->hurry = 0;
	if (error == 0)
		return 0;
	return problem_set(problem, -1, "%s: cannot be written: %s", path, cause((uint32_t)error));
}

int recorder_open(const char *path, struct recorder **result, struct problem *problem)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	struct stat stat_of;
	int rc = -ENOMEM;

	if (recorder)
		recorder->room = malloc(ROOM_BYTES);
	if (!recorder || !recorder->room) {
		problem_set(problem, -1, "%s: no memory to write it", path);
		goto err_discard;
	}
	rc = atomic_file_open(path, &recorder->atomic_file, problem);
	if (rc < 0)
		goto err_discard;
	recorder->fd = atomic_file_descriptor(recorder->atomic_file);
	recorder->pipe = fstat(recorder->fd, &stat_of) == 0 &&
	                 (S_ISFIFO(stat_of.st_mode) || S_ISSOCK(stat_of.st_mode) ||
	                  S_ISCHR(stat_of.st_mode));
	rc = begin_file(recorder, path, problem);
	if (rc < 0)
		goto err_discard;
	*result = recorder;
	return 0;

err_discard:
	recorder_discard(recorder);
	return rc;
}

void recorder_put(struct recorder *recorder, simtime t_ns, const void *data, uint32_t bytes,
                  uint32_t wire_bytes)
{
	const struct dump_record record = {
	        .seconds = (uint32_t)(t_ns / SIMTIME_S),
	        .fraction_ns = (uint32_t)(t_ns % SIMTIME_S),
	        .bytes = bytes,
	        .wire_bytes = wire_bytes,
	};

	if (t_ns / SIMTIME_S > UINT32_MAX) {
		begin_trouble(recorder, EOVERFLOW);
		lose(recorder, 1);
		return;
	}
	if (recorder->used + sizeof(record) + bytes > ROOM_BYTES) {
		lose(recorder, 1);
		return;
	}
	memcpy(recorder->room + recorder->used, &record, sizeof(record));
	memcpy(recorder->room + recorder->used + sizeof(record), data, bytes);
	recorder->used += (uint32_t)sizeof(record) + bytes;
	if (recorder->used >= WRITE_BYTES && !in_trouble(recorder))
		push(recorder);
}

void recorder_keep(struct recorder *recorder, uint64_t now_ns)
{
	if (recorder->used == 0 || now_ns - recorder->tried_ns < PAUSE_NS)
		return;
	recorder->tried_ns = now_ns;
	push(recorder);
}

void recorder_hurry(struct recorder *recorder)
{
	__atomic_store_n(&recorder->hurry, 1, __ATOMIC_RELAXED);
}

void recorder_finish(struct recorder *recorder)
{
	uint64_t frames = 0;

	if (recorder->used == 0)
		return;
	push(recorder);
	for (uint32_t at = 0; at < recorder->used; at += record_bytes(recorder->room + at))
		frames++;
	lose(recorder, frames);
	/* Cuts off a part of a frame, so that the file ends with a whole one. If the target cannot
	 * be truncated (a pipe), its reader notices. The cause remains that of the failed write. */
	if (recorder->done > 0)
		(void)!ftruncate(recorder->fd, lseek(recorder->fd, 0, SEEK_CUR) - recorder->done);
	recorder->used = recorder->done = 0;
}

int recorder_close(struct recorder *recorder, struct problem *problem)
{
	char path[200];
	int rc;

	recorder_finish(recorder);
	snprintf(path, sizeof(path), "%s", atomic_file_path(recorder->atomic_file));
	rc = atomic_file_keep(recorder->atomic_file, problem);
	recorder->atomic_file = NULL;
	if (rc == 0 && recorder->lost > 0) {
		problem_set(problem, -1,
		            "%s: %" PRIu64 " frames are missing in it, because they could not be "
		            "written (%s); the file holds the others",
		            path, recorder->lost, cause(recorder->error));
		rc = -EIO;
	}
	recorder_discard(recorder);
	return rc;
}

void recorder_discard(struct recorder *recorder)
{
	if (!recorder)
		return;
	atomic_file_discard(recorder->atomic_file);
	free(recorder->room);
	free(recorder);
}

/* ---- control, during the run ---- */

bool recorder_event(struct recorder *recorder, char *line, size_t room)
{
	/* In this order: a trouble that is over has begun before. */
	uint32_t over = __atomic_load_n(&recorder->over, __ATOMIC_ACQUIRE);
	uint32_t begun = __atomic_load_n(&recorder->begun, __ATOMIC_ACQUIRE);
	const char *path = atomic_file_path(recorder->atomic_file);
	uint64_t lost = recorder_lost(recorder);

	if (!recorder->telling && begun != recorder->told) {
		recorder->telling = true;
		recorder->told = begun;
		snprintf(line, room,
		         "%s cannot be written: %s; weir keeps trying; frames that find no room "
		         "meanwhile are lost (`not written`)",
		         path, cause(__atomic_load_n(&recorder->error, __ATOMIC_RELAXED)));
		return true;
	}
	if (!recorder->telling || (int32_t)(over - recorder->told) < 0)
		return false;
	recorder->telling = false;
	snprintf(line, room, "%s can be written again; %" PRIu64 " frames are missing in it", path,
	         lost - recorder->told_lost);
	recorder->told_lost = lost;
	return true;
}

uint64_t recorder_lost(const struct recorder *recorder)
{
	return __atomic_load_n(&recorder->lost, __ATOMIC_RELAXED);
}
