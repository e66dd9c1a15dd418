/* SPDX-License-Identifier: BSD-3-Clause */
#include "fates/trace.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fates/fate_capture.h"
#include "fates/fate_order.h"
#include "fates/fate_text.h"
#include "match/packet_key.h"
#include "packet/packet.h"
#include "text/array.h"
#include "units/human_unit.h"

#define SNAP      128
#define TIME_ROOM 12 /* columns of the time */

/* A packet that has arrived, with its copies. */
struct traced {
	uint64_t id;
	simtime came_ns; /* at the first cloud */
	simtime here_ns; /* at the current cloud */
	simtime ended_ns;
	uint32_t alive; /* the packet and copies that have neither left nor been dropped */
	bool printed, lacks;
	char *text;
	size_t bytes;
	FILE *out;
};

struct trace {
	FILE *out;
	struct fate_order *order;
	uint64_t most, n, n_printed;
	struct traced **packets;
	size_t room;
	uint32_t n_ports;
	const char (*ports)[SCENARIO_NAME_BYTES];
	bool lost, failed;
};

struct trace *trace_make(FILE *out, uint64_t packets)
{
	struct trace *trace = calloc(1, sizeof(*trace));

	if (!trace)
		return NULL;
	trace->out = out;
	trace->most = packets;
	trace->order = fate_order_make(SNAP);
	if (trace->order)
		return trace;
	free(trace);
	return NULL;
}

void trace_free(struct trace *trace)
{
	if (!trace)
		return;
	for (uint64_t i = 0; i < trace->n; i++) {
		struct traced *packet = trace->packets[i];

		if (packet->out)
			fclose(packet->out);
		free(packet->text);
		free(packet);
	}
	free(trace->packets);
	fate_order_free(trace->order);
	free(trace);
}

int trace_names(struct trace *trace, uint32_t n, const char (*ports)[SCENARIO_NAME_BYTES])
{
	trace->n_ports = n < SCENARIO_PORTS_MAX ? n : SCENARIO_PORTS_MAX;
	trace->ports = ports;
	return 0;
}

/* ---- one packet ---- */

static const char *protocol_name(const struct packet_key *key, char *text, size_t room)
{
	switch (key->protocol) {
	case IPPROTO_TCP:
		return "TCP";
	case IPPROTO_UDP:
		return "UDP";
	case IPPROTO_ICMP:
		return "ICMP";
	case IPPROTO_ICMPV6:
		return "ICMPv6";
	default:
		snprintf(text, room, "protocol %u", key->protocol);
		return text;
	}
}

static void print_ends(FILE *out, const struct fate *fate)
{
	char from[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN], number[24];
	struct packet_key key;
	int family;

	if (fate->frame.bytes < 14)
		return;
	packet_key_of(fate->frame.data, fate->frame.bytes, fate->wire_bytes, &key);
	if (key.family == 0) {
		fprintf(out, ": ethertype 0x%04x", key.ethertype);
		return;
	}
	family = key.family == 4 ? AF_INET : AF_INET6;
	inet_ntop(family, key.source, from, sizeof(from));
	inet_ntop(family, key.destination, to, sizeof(to));
	if (!key.is_ip)
		fprintf(out, ": ARP %s > %s", from, to);
	else if (key.has_ports)
		fprintf(out, ": %s %s port %u > %s port %u",
		        protocol_name(&key, number, sizeof(number)), from, key.source_port, to,
		        key.destination_port);
	else
		fprintf(out, ": %s %s > %s", protocol_name(&key, number, sizeof(number)), from, to);
}

static const char *whose(const struct fate *fate)
{
	if (fate->flags & PACKET_GENERATED)
		return "weir's answer ";
	return fate->flags & PACKET_COPY ? "the copy " : "";
}

static void print_queue(FILE *out, const struct fate *fate)
{
	char queue[HUMAN_UNIT_SIZE], average[HUMAN_UNIT_SIZE];

	human_unit_format(queue, sizeof(queue), HUMAN_BYTES, (double)fate->queue_bytes, 3);
	fprintf(out, "; %s wait there", queue);
	if (fate->queue_average_bytes == FATE_NO_AVERAGE)
		return;
	human_unit_format(average, sizeof(average), HUMAN_BYTES, (double)fate->queue_average_bytes,
	                  3);
	fprintf(out, ", %s on average", average);
}

static void print_left(FILE *out, const struct traced *packet, const struct fate *fate)
{
	char text[HUMAN_UNIT_SIZE];

	if (fate->flags & PACKET_GENERATED) {
		fprintf(out, "%sgoes back from %s", whose(fate), fate->cloud);
		return;
	}
	human_unit_format(text, sizeof(text), HUMAN_NS, (double)(fate->at_ns - packet->here_ns), 6);
	fprintf(out, "%sleaves %s, %s after it came there", whose(fate), fate->cloud, text);
}

static void print_event(FILE *out, const struct traced *packet, const struct fate *fate)
{
	const char *stage = fate->stage ? fate->stage : "";
	char why[FATE_TEXT_BYTES], after[HUMAN_UNIT_SIZE];

	human_unit_format(after, sizeof(after), HUMAN_NS, (double)(fate->at_ns - packet->came_ns),
	                  6);
	fprintf(out, "  +%-*s ", TIME_ROOM, fate->at_ns != packet->came_ns ? after : "0");
	if (fate->kind == FATE_DROPPED || fate->kind == FATE_MARKED ||
	    (fate->kind == FATE_QUEUED && fate->reason < REASON_COUNT))
		fate_text_why(fate, why, sizeof(why));
	switch (fate->kind) {
	case FATE_ARRIVED:
		fprintf(out, "%scomes to %s, %" PRIu32 " bytes", whose(fate), fate->cloud,
		        fate->wire_bytes);
		break;
	case FATE_PASSED:
		fprintf(out, "%s lets %spass%s", stage, *whose(fate) ? whose(fate) : "it ",
		        fate->changed ? ", changed" : "");
		break;
	case FATE_QUEUED:
		fprintf(out, "%senters the queue of %s", whose(fate), fate->cloud);
		if (fate->reason < REASON_COUNT)
			fprintf(out, ", marked: %s", why);
		else
			print_queue(out, fate);
		break;
	case FATE_MARKED:
		fprintf(out, "%sis marked: %s", whose(fate), why);
		break;
	case FATE_DROPPED:
		fprintf(out, "%sis DROPPED: %s", whose(fate), why);
		break;
	default:
		print_left(out, packet, fate);
		break;
	}
	fputc('\n', out);
}

/* ---- all of them ---- */

static struct traced *find(struct trace *trace, uint64_t id)
{
	for (uint64_t i = trace->n; i > 0; i--) {
		if (trace->packets[i - 1]->id == id)
			return trace->packets[i - 1];
	}
	return NULL;
}

/* Returns NULL if there are enough packets, or no memory. */
static struct traced *add(struct trace *trace, const struct fate *fate)
{
	struct traced *packet;

	if (trace->n == trace->most)
		return NULL;
	if (!array_fits(&trace->packets, &trace->room, trace->n + 1, sizeof(struct traced *))) {
		trace->failed = true;
		return NULL;
	}
	packet = calloc(1, sizeof(*packet));
	if (packet)
		packet->out = open_memstream(&packet->text, &packet->bytes);
	if (!packet || !packet->out) {
		trace->failed = true;
		free(packet);
		return NULL;
	}
	packet->id = fate_id(fate);
	packet->came_ns = fate->at_ns;
	fprintf(packet->out, "packet %" PRIu64 " of port ", fate->packet);
	if (fate->port < trace->n_ports)
		fprintf(packet->out, "%.*s", SCENARIO_NAME_BYTES, trace->ports[fate->port]);
	else
		fprintf(packet->out, "%" PRIu32, fate->port);
	print_ends(packet->out, fate);
	fputc('\n', packet->out);
	trace->packets[trace->n++] = packet;
	return packet;
}

static void count(struct traced *packet, const struct fate *fate)
{
	const bool copied = fate->kind == FATE_PASSED && fate->flags & PACKET_COPY && fate->stage &&
	                    strcmp(fate->stage, "duplicate") == 0;

	if (fate->flags & PACKET_GENERATED)
		return;
	if (fate->kind == FATE_ARRIVED)
		packet->here_ns = fate->at_ns;
	if (fate->kind == FATE_ARRIVED || copied)
		packet->alive++;
	if ((fate->kind == FATE_LEFT || fate->kind == FATE_DROPPED) && packet->alive > 0)
		packet->alive--;
	packet->ended_ns = fate->at_ns;
}

static void take(void *argument, const struct fate *fate, uint64_t lost)
{
	struct trace *trace = argument;
	struct traced *packet;

	trace->lost |= lost > 0;
	if (fate_id(fate) == 0)
		return;
	packet = find(trace, fate_id(fate));
	if (!packet && fate->kind == FATE_ARRIVED)
		packet = add(trace, fate);
	if (!packet || packet->printed)
		return;
	packet->lacks |= trace->lost;
	print_event(packet->out, packet, fate);
	count(packet, fate);
}

static void print(struct trace *trace, struct traced *packet, const char *end)
{
	packet->printed = true;
	trace->n_printed++;
	fclose(packet->out);
	packet->out = NULL;
	fwrite(packet->text, 1, packet->bytes, trace->out);
	fputs(end, trace->out);
	if (packet->lacks)
		fputs("  (packets came too fast: something may be missing here)\n", trace->out);
	free(packet->text);
	packet->text = NULL;
}

bool trace_put(struct trace *trace, const struct fate *fate, uint64_t lost)
{
	return fate_order_put(trace->order, fate, lost) && !trace->failed;
}

int trace_settle(struct trace *trace, simtime until)
{
	fate_order_until(trace->order, until, take, trace);
	for (uint64_t i = 0; i < trace->n; i++) {
		struct traced *packet = trace->packets[i];

		/* At this same instant it may yet arrive at another cloud. */
		if (!packet->printed && packet->alive == 0 && packet->ended_ns < until)
			print(trace, packet, "");
	}
	return trace->n_printed == trace->most;
}

void trace_rest(struct trace *trace)
{
	trace_settle(trace, SIMTIME_NEVER);
	for (uint64_t i = 0; i < trace->n; i++) {
		if (!trace->packets[i]->printed)
			print(trace, trace->packets[i], "  (still under way)\n");
	}
}

bool trace_is_empty(const struct trace *trace)
{
	return trace->n == 0;
}
