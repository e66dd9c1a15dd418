/* SPDX-License-Identifier: BSD-3-Clause */
#include "dump.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <pcap/pcap.h>

#include "capture.h"
#include "draft.h"

struct dump {
	struct draft *draft;
	pcap_t *pcap; /* of no device: says precision, link type and length */
	pcap_dumper_t
	        *dumper; /* writes to the stream of the draft, which is the draft's to close */
	bool too_late;   /* an instant did not fit */
};

int dump_open(const char *path, struct dump **dump, struct problem *problem)
{
	struct dump *d = calloc(1, sizeof(*d));
	int error = -ENOMEM;

	if (!d)
		goto err_memory;
	d->pcap = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, CAPTURE_FRAME_MAX,
	                                               PCAP_TSTAMP_PRECISION_NANO);
	if (!d->pcap)
		goto err_memory;
	error = draft_open(path, &d->draft, problem);
	if (error)
		goto err_discard;
	d->dumper = pcap_dump_fopen(d->pcap, draft_stream(d->draft));
	if (!d->dumper) {
		problem_set(problem, -1, "%s: cannot be written: %s", path, pcap_geterr(d->pcap));
		error = -EINVAL;
		goto err_discard;
	}
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
	/* With this precision libpcap takes nanoseconds where the name says microseconds. */
	struct pcap_pkthdr header = {
	        .ts = {.tv_sec = (time_t)(t_ns / SIMTIME_S), .tv_usec = (long)(t_ns % SIMTIME_S)},
	        .caplen = bytes,
	        .len = wire_bytes,
	};

	if (t_ns / SIMTIME_S > UINT32_MAX)
		dump->too_late = true;
	pcap_dump((u_char *)dump->dumper, &header, data);
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
	return draft_error(dump->draft, problem);
}

int dump_finish(struct dump *dump, struct problem *problem)
{
	int error = dump_error(dump, problem);

	return error ? error : draft_finish(dump->draft, problem);
}

int dump_publish(struct dump *dump, struct problem *problem)
{
	int error = draft_publish(dump->draft, problem);

	dump->draft = NULL;
	dump_discard(dump);
	return error;
}

void dump_discard(struct dump *dump)
{
	if (!dump)
		return;
	/* The dumper is nothing but the stream, and pcap_dump_close nothing but its fclose, which
	 * would hide that the disk is full: the draft closes it. */
	draft_discard(dump->draft);
	if (dump->pcap)
		pcap_close(dump->pcap);
	free(dump);
}
