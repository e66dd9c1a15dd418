/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/dump.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <pcap/pcap.h>

#include "capture/capture.h"
#include "capture/draft.h"
#include "capture/outflow.h"

#define AHEAD_BYTES 1024

struct dump {
	struct draft *draft;
	struct outflow outflow; /* into the draft's file, whose stream stays empty */
	bool too_late;          /* an instant did not fit */
};

/* What a capture begins with, by libpcap: precision, link type and length. */
int dump_head(uint8_t head[DUMP_HEAD_BYTES])
{
	pcap_t *pcap = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, CAPTURE_FRAME_MAX,
	                                                    PCAP_TSTAMP_PRECISION_NANO);
	char *text = NULL;
	size_t bytes = 0;
	FILE *stream = pcap ? open_memstream(&text, &bytes) : NULL;
	pcap_dumper_t *dumper = stream ? pcap_dump_fopen(pcap, stream) : NULL;

	/* A dumper is nothing but its stream. */
	if (stream && fclose(stream) == 0 && dumper && bytes == DUMP_HEAD_BYTES)
		memcpy(head, text, DUMP_HEAD_BYTES);
	else
		dumper = NULL;
	free(text);
	if (pcap)
		pcap_close(pcap);
	return dumper ? 0 : -ENOMEM;
}

static int write_head(struct outflow *outflow)
{
	uint8_t head[DUMP_HEAD_BYTES];
	int error = dump_head(head);

	if (!error)
		outflow_put(outflow, head, sizeof(head));
	return error;
}

int dump_open(const char *path, struct porter *porter, struct dump **dump, struct problem *problem)
{
	struct dump *d = calloc(1, sizeof(*d));
	int error = -ENOMEM, fd;
	struct stat st;

	if (!d)
		goto err_memory;
	error = draft_open(path, &d->draft, problem);
	if (error)
		goto err_discard;
	fd = fileno(draft_stream(d->draft));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		porter = NULL;
	error = outflow_open(&d->outflow, fd, porter);
	if (!error)
		error = write_head(&d->outflow);
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

void dump_write(struct dump *dump, simtime t_ns, const void *data, uint32_t bytes,
                uint32_t wire_bytes)
{
	const struct dump_record record = {
	        .seconds = (uint32_t)(t_ns / SIMTIME_S),
	        .fraction_ns = (uint32_t)(t_ns % SIMTIME_S),
	        .bytes = bytes,
	        .wire_bytes = wire_bytes,
	};

	if (unlikely(t_ns / SIMTIME_S > UINT32_MAX))
		dump->too_late = true;
	/* The line was another processor's, that of the porter. */
	__builtin_prefetch(dump->outflow.at + AHEAD_BYTES, 1);
	outflow_put(&dump->outflow, &record, sizeof(record));
	outflow_put(&dump->outflow, data, bytes);
}

int dump_error(struct dump *dump, struct problem *problem)
{
	if (dump->too_late) {
		problem_set(problem, -1,
		            "%s: a packet leaves after the year 2106, which a pcap "
		            "cannot say; the captures must lie before",
		            draft_path(dump->draft));
		return -EIO;
	}
	if (dump->outflow.error)
		draft_fail(dump->draft, dump->outflow.error);
	return draft_error(dump->draft, problem);
}

int dump_finish(struct dump *dump, struct problem *problem)
{
	int error;

	(void)outflow_flush(&dump->outflow);
	error = dump_error(dump, problem);
	return error ? error : draft_finish(dump->draft, problem);
}

int dump_publish(struct dump *dump, struct problem *problem)
{
	int error;

	outflow_close(&dump->outflow);
	error = draft_publish(dump->draft, problem);
	dump->draft = NULL;
	dump_discard(dump);
	return error;
}

void dump_discard(struct dump *dump)
{
	if (!dump)
		return;
	outflow_close(&dump->outflow);
	draft_discard(dump->draft);
	free(dump);
}
