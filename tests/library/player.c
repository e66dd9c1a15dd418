/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plays frames through a network of libweir, and writes what a replay writes: what leaves at each
 * port, the report, and the fates. against_replay.py compares both.
 *
 *   player SCENARIO SEED FRAMES FOLDER [BATCH [HOW [AT]]]
 *
 * FRAMES: records of an instant (8 bytes), a port, the bytes on the wire and the bytes that follow
 * (4 each). The network begins at the first. BATCH frames are sent by one call (default 32), and
 * then what has left is received, BATCH at most by one call. HOW:
 *   plain   only that
 *   next    all instants of weir_next are visited in between
 *   late    nothing is received before the last frame was sent
 *   fates   with the fates, in FOLDER/log.csv
 *   clone   behind AT frames, a clone goes on
 *   load    behind AT frames, a network goes on that was saved and loaded
 */
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir.h>

struct record {
	int64_t t_ns;
	uint32_t port, wire_bytes, bytes;
};

struct player {
	struct weir *net;
	struct weir_options options;
	const char *folder, *how;
	uint32_t batch;
	FILE *out[64];
	FILE *log;
	struct weir_frame sent[WEIR_BATCH_MAX];
	uint32_t n;
};

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "player: %s: %s\n", what, why);
	exit(1);
}

static FILE *open_in(const struct player *player, const char *name, const char *ending)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s%s", player->folder, name, ending);
	file = fopen(path, "wb");
	if (!file)
		fail(path, strerror(errno));
	return file;
}

static char *read_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rb");
	char *text;

	if (!file)
		fail(path, strerror(errno));
	fseek(file, 0, SEEK_END);
	*bytes = (size_t)ftell(file);
	rewind(file);
	text = calloc(1, *bytes + 1);
	if (!text || fread(text, 1, *bytes, file) != *bytes)
		fail(path, "cannot be read");
	fclose(file);
	return text;
}

/* ---- out ---- */

static void write_frame(struct player *player, const struct weir_frame *frame)
{
	const uint32_t head[] = {(uint32_t)(frame->t_ns / 1000000000),
	                         (uint32_t)(frame->t_ns % 1000000000), frame->bytes,
	                         frame->wire_bytes};
	FILE *out = player->out[frame->port];

	fwrite(head, sizeof(head), 1, out);
	fwrite(frame->data, 1, frame->bytes, out);
}

static void receive(struct player *player, int64_t until_ns)
{
	struct weir_frame frames[WEIR_BATCH_MAX];
	int n;

	while ((n = weir_receive(player->net, until_ns, frames, player->batch)) > 0)
		for (int i = 0; i < n; i++)
			write_frame(player, &frames[i]);
	if (n < 0)
		fail("weir_receive", strerror(-n));
}

/* Receives what leaves by an instant, and visits all instants on the way. */
static void visit(struct player *player, int64_t until_ns)
{
	int64_t next;

	while ((next = weir_next(player->net)) <= until_ns && next != WEIR_NEVER) {
		receive(player, next);
		if (weir_next(player->net) == next && weir_now(player->net) == next)
			break;
	}
	if (until_ns != WEIR_NEVER)
		receive(player, until_ns);
}

static void tell(void *argument, const struct weir_fate *fate)
{
	const struct player *player = argument;
	const char *detail = fate->flags & WEIR_FATE_GENERATED ? "generated"
	                     : fate->flags & WEIR_FATE_COPY    ? "copy"
	                                                       : "";

	fprintf(player->log, "%" PRIu64 ",%s,%" PRId64 ",%s,%s,%s,", fate->packet,
	        weir_port_name(player->net, fate->port), fate->arrived_ns, fate->cloud,
	        fate->kind == WEIR_DELIVERED ? "delivered" : "dropped",
	        fate->reason ? fate->reason : "");
	if (fate->kind == WEIR_DELIVERED)
		fprintf(player->log, "%" PRId64, fate->leaves_ns);
	fprintf(player->log, ",%s%s%s\n", detail,
	        *detail && fate->flags & WEIR_FATE_MARKED ? " " : "",
	        fate->flags & WEIR_FATE_MARKED ? "marked" : "");
}

/* ---- in ---- */

static void send_batch(struct player *player)
{
	const int64_t last_ns = player->n ? player->sent[player->n - 1].t_ns : 0;
	const int n = weir_send_many(player->net, player->sent, player->n);

	if (n != (int)player->n)
		fail("weir_send_many", n < 0 ? strerror(-n) : "did not take all frames");
	player->n = 0;
	if (n > 0 && strcmp(player->how, "next") == 0)
		visit(player, last_ns);
	else if (n > 0 && strcmp(player->how, "late") != 0)
		receive(player, last_ns);
}

/* Another network goes on. */
static void turn(struct player *player)
{
	struct weir_error error;
	struct weir *other = NULL;
	size_t bytes = 0;
	void *saved;

	send_batch(player);
	if (strcmp(player->how, "clone") == 0) {
		other = weir_clone(player->net, &error);
	} else {
		saved = weir_save(player->net, &bytes, &error);
		if (saved)
			other = weir_load(saved, bytes, &player->options, &error);
		weir_free(saved);
	}
	if (!other)
		fail(player->how, error.text);
	weir_close(player->net);
	player->net = other;
}

static void play(struct player *player, const char *frames, size_t bytes, uint64_t turn_at)
{
	const char *at = frames;
	uint64_t done = 0;

	while (at < frames + bytes) {
		struct record record;

		memcpy(&record.t_ns, at, 8);
		memcpy(&record.port, at + 8, 12);
		at += 20;
		player->sent[player->n++] = (struct weir_frame){.t_ns = record.t_ns,
		                                                .port = record.port,
		                                                .bytes = record.bytes,
		                                                .wire_bytes = record.wire_bytes,
		                                                .data = at};
		at += record.bytes;
		if (player->n == player->batch)
			send_batch(player);
		if (++done == turn_at)
			turn(player);
	}
	send_batch(player);
	for (int64_t next; (next = weir_next(player->net)) != WEIR_NEVER;)
		receive(player, next);
}

int main(int argc, char **argv)
{
	static const uint32_t head[] = {0xa1b23c4d, 0x00040002, 0, 0, 262144, 1};
	struct player player = {.folder = argc > 4 ? argv[4] : "", .how = "plain", .batch = 32};
	struct weir_error error;
	char *text, *frames, *report, *base;
	size_t bytes;
	FILE *out;

	if (argc < 5 || argc > 8)
		fail("usage", "player SCENARIO SEED FRAMES FOLDER [BATCH [HOW [AT]]]");
	text = read_file(argv[1], &bytes);
	base = strdup(argv[1]);
	player.options = (struct weir_options){
	        .size = sizeof(player.options), .has_seed = 1, .base = dirname(base)};
	player.options.seed = strtoull(argv[2], NULL, 10);
	frames = read_file(argv[3], &bytes);
	if (argc > 5)
		player.batch = (uint32_t)strtoul(argv[5], NULL, 10);
	if (argc > 6)
		player.how = argv[6];
	if (bytes > 0)
		memcpy(&player.options.begin_ns, frames, 8);
	player.net = weir_open(text, &player.options, &error);
	if (!player.net) {
		fprintf(stderr, "%s:%" PRIu32 ":%" PRIu32 ": %s\n", argv[1], error.line,
		        error.column, error.text);
		return 2;
	}
	for (uint32_t i = 0; i < weir_ports(player.net); i++) {
		player.out[i] = open_in(&player, weir_port_name(player.net, i), ".pcap");
		fwrite(head, sizeof(head), 1, player.out[i]);
	}
	if (strcmp(player.how, "fates") == 0) {
		player.log = open_in(&player, "log", ".csv");
		fputs("packet,port,t_in_ns,cloud,fate,reason,t_out_ns,detail\n", player.log);
		weir_on_fate(player.net, tell, &player, WEIR_FATES_DECIDED);
	}
	play(&player, frames, bytes, argc > 7 ? strtoull(argv[7], NULL, 10) : 0);
	report = weir_report(player.net);
	if (!report)
		fail("weir_report", "no memory");
	out = open_in(&player, "report", ".json");
	fputs(report, out);
	fclose(out);
	weir_free(report);
	for (uint32_t i = 0; i < weir_ports(player.net); i++)
		fclose(player.out[i]);
	if (player.log)
		fclose(player.log);
	weir_close(player.net);
	free(base);
	free(frames);
	free(text);
	return 0;
}
