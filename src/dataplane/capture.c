/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pcap/pcap.h>

#define CAPTURE_BUFFER_BYTES (1u << 20)
/* What a pcap spends on a record beside its frame (a pcapng 16 bytes more): for progress only. */
#define CAPTURE_RECORD_BYTES 16

struct capture {
	pcap_t *pcap;
	FILE *stream; /* closed by pcap_close */
	char *buffer;
	struct stat stat;
	struct capture_counts counts;
	simtime last_ns;
	uint64_t done_bytes;
	bool ended;
	char damage[200];
};

static int open_stream(struct capture *capture, const char *path, struct problem *problem)
{
	int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
	                                : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &capture->stat) < 0)
		goto err_open;
	if (S_ISDIR(capture->stat.st_mode)) {
		errno = EISDIR;
		goto err_open;
	}
	capture->stream = fdopen(fd, "r");
	if (!capture->stream)
		goto err_open;
	/* Both are hints: a pipe takes neither. */
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	setvbuf(capture->stream, capture->buffer, _IOFBF, CAPTURE_BUFFER_BYTES);
	__fsetlocking(capture->stream, FSETLOCKING_BYCALLER);
	return 0;

err_open:
	problem_set(problem, -1, "%s: cannot be read: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -EINVAL;
}

/* The first bytes tell what a file is that libpcap does not know; NULL if they do not. */
static const char *what_else(FILE *stream)
{
	unsigned char magic[4] = {0};

	if (fseek(stream, 0, SEEK_SET) != 0)
		return NULL;
	if (fread(magic, 1, sizeof(magic), stream) == 0)
		return "the file is empty";
	if (magic[0] == 0x1f && magic[1] == 0x8b)
		return "it is compressed: unpack it with gunzip first";
	if (memcmp(magic, "\x28\xb5\x2f\xfd", 4) == 0)
		return "it is compressed: unpack it with unzstd first";
	return NULL;
}

static int open_pcap(struct capture *capture, const char *path, struct problem *problem)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	const char *name;
	int link;

	capture->pcap = pcap_fopen_offline_with_tstamp_precision(capture->stream,
	                                                         PCAP_TSTAMP_PRECISION_NANO, why);
	if (!capture->pcap) {
		const char *else_it_is = what_else(capture->stream);

		problem_set(problem, -1, "%s: is no capture that can be read (pcap or pcapng): %s",
		            path, else_it_is ? else_it_is : why);
		return -EINVAL;
	}
	link = pcap_datalink(capture->pcap);
	if (link == DLT_EN10MB)
		return 0;
	name = pcap_datalink_val_to_name(link);
	problem_set(problem, -1,
	            "%s: is a capture of link type %s (%d); weir takes Ethernet (EN10MB, 1) only",
	            path, name ? name : "unknown", link);
	return -EINVAL;
}

int capture_open(const char *path, struct capture **capture, struct problem *problem)
{
	struct capture *c = calloc(1, sizeof(*c));
	int error = -ENOMEM;

	if (!c || !(c->buffer = malloc(CAPTURE_BUFFER_BYTES))) {
		problem_set(problem, -1, "%s: no memory to read it", path);
		goto err_free;
	}
	error = open_stream(c, path, problem);
	if (error)
		goto err_free;
	error = open_pcap(c, path, problem);
	if (error)
		goto err_free;
	*capture = c;
	return 0;

err_free:
	capture_close(c);
	return error;
}

void capture_close(struct capture *capture)
{
	if (!capture)
		return;
	if (capture->pcap)
		pcap_close(capture->pcap);
	else if (capture->stream)
		fclose(capture->stream);
	free(capture->buffer);
	free(capture);
}

/* libpcap gives the 32-bit fields of a pcap as signed numbers, those of a pcapng with 64 bits. */
static bool stamp_ns(const struct pcap_pkthdr *header, simtime *t_ns)
{
	int64_t seconds = header->ts.tv_sec;
	int64_t fraction_ns = header->ts.tv_usec;

	if (seconds < 0 && seconds >= INT32_MIN)
		seconds += INT64_C(1) << 32;
	if (seconds < 0 || seconds > UINT32_MAX)
		return false;
	/* A fraction of more than a second is carried; a negative one cannot be meant. */
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

bool capture_next(struct capture *capture, struct capture_frame *frame)
{
	struct pcap_pkthdr *header;
	const u_char *data;
	simtime t_ns;
	int got;

	if (capture->ended)
		return false;
	got = pcap_next_ex(capture->pcap, &header, &data);
	if (got != 1) {
		capture->ended = true;
		return got == PCAP_ERROR ? end_damaged(capture, pcap_geterr(capture->pcap)) : false;
	}
	if (!stamp_ns(header, &t_ns))
		return end_damaged(capture, "the next frame is stamped before 1970 or after 2106");
	if (header->caplen > CAPTURE_FRAME_MAX)
		return end_damaged(capture, "the next frame claims more than 262144 bytes");
	if (t_ns < capture->last_ns) {
		capture->counts.clock_back++;
		capture->counts.clock_back_max_ns =
		        simtime_max(capture->counts.clock_back_max_ns, capture->last_ns - t_ns);
		t_ns = capture->last_ns;
	}
	capture->last_ns = t_ns;
	capture->counts.frames++;
	capture->counts.truncated += header->len > header->caplen;
	capture->done_bytes += CAPTURE_RECORD_BYTES + header->caplen;
	frame->t_ns = t_ns;
	frame->bytes = header->caplen;
	frame->wire_bytes = header->len > header->caplen ? header->len : header->caplen;
	frame->data = data;
	return true;
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
	return capture->ended ? capture_all_bytes(capture) : capture->done_bytes;
}

uint64_t capture_all_bytes(const struct capture *capture)
{
	return S_ISREG(capture->stat.st_mode) ? (uint64_t)capture->stat.st_size : 0;
}

int capture_merge_start(struct capture_merge *merge, struct capture *const *captures, uint32_t n)
{
	*merge = (struct capture_merge){.captures = captures, .n = n, .taken = n};
	merge->heads = calloc(n, sizeof(*merge->heads));
	merge->live = calloc(n, sizeof(*merge->live));
	if (n > 0 && (!merge->heads || !merge->live)) {
		capture_merge_stop(merge);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++)
		merge->live[i] = capture_next(captures[i], &merge->heads[i]);
	return 0;
}

void capture_merge_stop(struct capture_merge *merge)
{
	free(merge->heads);
	free(merge->live);
	merge->heads = NULL;
	merge->live = NULL;
	merge->n = 0;
}

const struct capture_frame *capture_merge_next(struct capture_merge *merge, uint32_t *from)
{
	uint32_t first = merge->n;

	/* The reader is moved on only now, because that invalidates the bytes it gave. */
	if (merge->taken < merge->n)
		merge->live[merge->taken] =
		        capture_next(merge->captures[merge->taken], &merge->heads[merge->taken]);
	for (uint32_t i = 0; i < merge->n; i++) {
		if (merge->live[i] &&
		    (first == merge->n || merge->heads[i].t_ns < merge->heads[first].t_ns))
			first = i;
	}
	merge->taken = first;
	if (first == merge->n)
		return NULL;
	*from = first;
	return &merge->heads[first];
}
