/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/decision_log.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "capture/atomic_file.h"
#include "packet/packet.h"

/* Four numbers of 20 digits, two names, the words and commas. */
#define LINE_BYTES 256

struct decision_log {
	struct witness witness;
	const struct scenario *scenario;
	bool live;
	struct atomic_file *atomic_file;
};

static char *put_number(char *at, uint64_t value)
{
	char digits[20];
	size_t n = sizeof(digits);

	do {
		digits[--n] = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	memcpy(at, digits + n, sizeof(digits) - n);
	return at + sizeof(digits) - n;
}

static const char *detail_of(uint8_t flags)
{
	bool marked = flags & PACKET_MARKED;

	if (flags & PACKET_GENERATED)
		return marked ? "generated marked" : "generated";
	if (flags & PACKET_COPY)
		return marked ? "copy marked" : "copy";
	return marked ? "marked" : "";
}

/* Formats without fprintf, which takes five times as long: this runs for every packet. */
static void tell(struct witness *witness, const struct fate *fate)
{
	struct decision_log *log = (struct decision_log *)witness;
	char line[LINE_BYTES], *at = line;

	at = put_number(at, fate->packet);
	*at++ = ',';
	at = stpcpy(at, log->scenario->ports[fate->port].name);
	*at++ = ',';
	at = put_number(at, fate->t_in_ns);
	*at++ = ',';
	at = stpcpy(at, fate->cloud);
	*at++ = ',';
	if (fate->kind == FATE_DELIVERED) {
		at = stpcpy(at, "delivered,,");
		at = put_number(at, fate->t_out_ns);
	} else {
		at = stpcpy(at, "dropped,");
		at = stpcpy(at, reason_name(fate->reason));
		*at++ = ',';
	}
	*at++ = ',';
	at = stpcpy(at, detail_of(fate->flags));
	if (log->live)
		*at++ = ',';
	if (fate->sent)
		at = put_number(at, fate->late_ns);
	*at++ = '\n';
	fwrite_unlocked(line, 1, (size_t)(at - line), atomic_file_stream(log->atomic_file));
}

int decision_log_open(const char *path, const struct scenario *scenario, bool live,
                      struct decision_log **log, struct problem *problem)
{
	struct decision_log *l = calloc(1, sizeof(*l));
	int error;

	if (!l) {
		problem_set(problem, -1, "%s: no memory to write it", path);
		return -ENOMEM;
	}
	l->witness.tell = tell;
	l->scenario = scenario;
	l->live = live;
	error = atomic_file_open(path, &l->atomic_file, problem);
	if (error) {
		free(l);
		return error;
	}
	fprintf(atomic_file_stream(l->atomic_file),
	        "packet,port,t_in_ns,cloud,fate,reason,t_out_ns,detail%s\n",
	        live ? ",late_ns" : "");
	*log = l;
	return 0;
}

struct witness *decision_log_witness(struct decision_log *log)
{
	return &log->witness;
}

int decision_log_finish(struct decision_log *log, struct problem *problem)
{
	return atomic_file_finish(log->atomic_file, problem);
}

int decision_log_publish(struct decision_log *log, struct problem *problem)
{
	int error = atomic_file_publish(log->atomic_file, problem);

	free(log);
	return error;
}

void decision_log_discard(struct decision_log *log)
{
	if (!log)
		return;
	atomic_file_discard(log->atomic_file);
	free(log);
}
