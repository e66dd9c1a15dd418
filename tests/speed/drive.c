/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine alone, in virtual time: for profiles that do not depend on the machine's other work.
 *
 *   drive [-1] [-c CLOUDS] SCENARIO [PACKETS] [MPPS] [WARM-UP] [FRAME] [COPY] [SNAP [flight]]
 *
 * SCENARIO is one of those of `weir bench` (`weir bench cost --help`), or statements separated by
 * `;`: 'rate 1gbit; delay 10ms', whose frames have headers. Bursts of 32 frames of 64 bytes arrive
 * at both ports in turn, at distinct instants, stamped as by a worker, MPPS million packets a
 * second in all (default 20) of virtual time; what leaves is freed. So the number of packets on the
 * way is that on the wire at that rate, however slowly this runs: under
 *
 *   valgrind --tool=callgrind --cache-sim=yes --toggle-collect=measured tests/speed/drive full
 *
 * instructions and cache misses are those of a packet in a live run, without ports. It prints the
 * number by which to divide them: the packets that arrived. WARM-UP packets (default: what the
 * scenario's delay holds, twice) are not included. FRAME: bytes of each frame, or imix (28 of 64,
 * 16 of 570, 4 of 1518); COPY: frames up to this are copied out of their mbufs (default: hold.h's).
 * SNAP: with a tape (record/tape.h) that keeps this many bytes of each packet, and is emptied at
 * once; `flight`: with the tape of a flight, between two snapshots. -1: frames come one by one, and
 * the engine is advanced after each: what a program does that calls libweir for each frame
 * (library_speed.c). -c: all come in at one port, from so many addresses in turn, each with a cloud
 * of its own, as in `weir bench clouds`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_mbuf.h>

#include "bench/bench.h"
#include "change/change.h"
#include "engine/engine.h"
#include "holding/hold.h"
#include "packet/burst.h"
#include "eal/offline_eal.h"
#include "machine/pool.h"
#include "measure/bench_rig.h"
#include "measure/bench_source.h"
#include "record/tape.h"
#include "statements.h"

#define MBUFS  8192
#define IMIX   48
#define MEMORY (UINT64_C(1) << 30)

struct drive {
	struct engine *engine;
	struct rte_mempool *pool;
	bool headers;
	uint32_t burst;           /* frames at one instant */
	uint32_t clouds, address; /* -c, and the next address; 0: two clouds, one each way */
	uint32_t copy_bytes_max;
	uint16_t lengths[IMIX]; /* in turns */
	uint32_t turn;
	simtime now, step_ns;
	uint64_t received[2], out;
	struct tape *tape; /* or NULL */
};

static void empty(struct drive *drive)
{
	for (uint32_t port = 0; port < 2; port++) {
		struct outlet *outlet = engine_outlet(drive->engine, port);

		if (drive->tape)
			tape_departures(drive->tape, port, outlet, drive->now);
		rte_pktmbuf_free_bulk(outlet->mbufs, outlet->n);
		drive->out += outlet->n;
		outlet->n = 0;
	}
}

static void make_room(void *argument, uint32_t port)
{
	(void)port;
	empty(argument);
}

static void arrive(struct drive *drive, uint32_t port)
{
	struct burst burst;

	if (rte_pktmbuf_alloc_bulk(drive->pool, burst.mbuf, drive->burst) < 0)
		return;
	for (uint32_t i = 0; i < drive->burst; i++) {
		burst.mbuf[i]->data_len = drive->lengths[drive->turn];
		burst.mbuf[i]->pkt_len = drive->lengths[drive->turn];
		drive->turn = drive->turn + 1 == IMIX ? 0 : drive->turn + 1;
		if (drive->headers)
			memcpy(rte_pktmbuf_mtod(burst.mbuf[i], void *), bench_headers,
			       BENCH_HEADERS_BYTES);
		if (drive->clouds) {
			struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(
			        burst.mbuf[i], struct rte_ipv4_hdr *, RTE_ETHER_HDR_LEN);

			ip->src_addr = rte_cpu_to_be_32(RTE_IPV4(10, 0, 0, 0) + drive->address);
			drive->address = (drive->address + 1) % drive->clouds;
		}
	}
	burst_received(&burst, (uint16_t)drive->burst, port, drive->now, drive->received[port] + 1);
	drive->received[port] += drive->burst;
	if (drive->tape)
		tape_burst(drive->tape, &burst);
	engine_ingress(drive->engine, &burst);
}

static void step(struct drive *drive)
{
	for (uint32_t port = 0; port < 2; port++) {
		drive->now += drive->step_ns / 2;
		arrive(drive, drive->clouds ? 0 : port);
		if (port == 0 && drive->burst > 1)
			continue;
		while (engine_advance(drive->engine, drive->now) > 0)
			empty(drive);
	}
	if (drive->tape) {
		tape_check(drive->tape, drive->engine, drive->now);
		drive->tape->passed = drive->tape->published;
	}
}

/* Returns a scenario of the bench, or makes one from statements. Returns NULL if `words` is
 * neither, or there is no memory. */
static const struct bench_scenario *find(const char *words)
{
	static struct bench_scenario own = {.name = "own", .headers = true};
	const struct bench_scenario *found = bench_scenario_find(words);
	char *lines;

	if (found || !strchr(words, ' '))
		return found;
	lines = strdup(words);
	for (char *at = lines; at && *at; at++) {
		if (*at == ';')
			*at = '\n';
	}
	own.statements = lines;
	return lines ? &own : NULL;
}

/* Not inlined: --toggle-collect needs the name. */
__attribute__((noinline)) void measured(void *drive, uint64_t steps);
void measured(void *drive, uint64_t steps)
{
	for (uint64_t i = 0; i < steps; i++)
		step(drive);
}

static int run(struct drive *drive, const struct scenario *scenario, uint64_t packets,
               uint64_t warm_up)
{
	const struct engine_setup setup = {
	        .statements = statements,
	        .pool = drive->pool,
	        .memory = memory_make(MEMORY),
	        .memory_bytes = MEMORY,
	        .seed = 42,
	        .copy_bytes_max = drive->copy_bytes_max,
	        .make_room = make_room,
	        .room_argument = drive,
	};
	struct timespec from, to;
	struct problem problem;
	uint64_t held, memory;

	drive->engine = setup.memory ? engine_make(&setup) : NULL;
	if (!drive->engine || change_at_once(drive->engine, scenario, NULL, 0, &problem) < 0) {
		fprintf(stderr, "drive: %s\n", drive->engine ? problem.text : "no memory");
		return 1;
	}
	if (drive->tape && drive->tape->snapshots.every_ns > 0)
		tape_snapshot(drive->tape, drive->engine, 0);
	for (uint64_t i = 0; i < warm_up / (2 * drive->burst); i++)
		step(drive);
	drive->out = 0;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	measured(drive, packets / (2 * drive->burst));
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	held = engine_held_packets(drive->engine);
	memory = engine_memory_used(drive->engine) +
	         (uint64_t)(pool_size(drive->pool) - pool_available(drive->pool)) *
	                 pool_mbuf_bytes();
	printf("packets %lu out %lu held %lu bytes_per_held %lu ns_per_packet %.1f\n", packets,
	       drive->out, held, held ? memory / held : 0,
	       ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
	               (double)packets);
	engine_free(drive->engine);
	memory_free(setup.memory, MEMORY);
	return 0;
}

static bool set_lengths(struct drive *drive, const char *frame)
{
	unsigned long bytes = strtoul(frame, NULL, 10);

	for (uint32_t i = 0; i < IMIX; i++) {
		drive->lengths[i] = (uint16_t)bytes;
		/* Mixed, as on a wire, not one length after the other. */
		if (strcmp(frame, "imix") == 0)
			drive->lengths[i] = i % 12 == 5 ? 1518 : i % 3 == 1 ? 570 : 64;
	}
	return drive->lengths[0] >= BENCH_HEADERS_BYTES && bytes <= 1518;
}

/* Returns how many mbufs hold packets on the way: large frames stay in theirs. */
static uint64_t waiting_mbufs(const struct drive *drive, uint64_t warm_up)
{
	const uint32_t copied =
	        drive->copy_bytes_max ? drive->copy_bytes_max : HOLD_COPY_BYTES_DEFAULT;

	for (uint32_t i = 0; i < IMIX; i++)
		if (drive->lengths[i] > copied)
			return warm_up / 2 * 5 / 4;
	return 0;
}

static int usage(void)
{
	fprintf(stderr, "usage: drive [-1] [-c CLOUDS] SCENARIO [PACKETS] [MPPS] [WARM-UP] [FRAME] "
	                "[COPY] [SNAP [flight]]\n");
	return 2;
}

/* Returns argument i as a number, or `otherwise` if there is none, or it is 0. */
static double number(int argc, char **argv, int i, double otherwise)
{
	const double value = argc > i ? strtod(argv[i], NULL) : 0;

	return value != 0 ? value : otherwise;
}

int main(int argc, char **argv)
{
	struct drive drive = {.burst = BURST_MAX};
	const struct bench_scenario *which;
	static const struct tape_snapshots flight = {
	        .room_bytes = 64 << 10, .every_ns = SIMTIME_HORIZON, .every_bytes = UINT64_MAX / 2};
	static struct tape tape;
	struct scenario *scenario;
	struct problem problem;
	uint64_t packets, warm_up;
	double mpps;
	int option;

	while ((option = getopt(argc, argv, "+1c:")) != -1) {
		if (option == '1')
			drive.burst = 1;
		else if (option == 'c')
			drive.clouds = (uint32_t)strtoul(optarg, NULL, 10);
		else
			return usage();
	}
	argc -= optind - 1;
	argv += optind - 1;
	which = argc > 1 ? find(argv[1]) : NULL;
	packets = (uint64_t)number(argc, argv, 2, 1e6);
	mpps = number(argc, argv, 3, 20);
	if (!which || mpps <= 0 || !set_lengths(&drive, argc > 5 ? argv[5] : "64"))
		return usage();
	if (offline_eal_start(64, &problem) < 0 ||
	    (drive.clouds
	             ? bench_scenario_clouds(drive.clouds, which->statements, &scenario, &problem)
	             : bench_scenario_make(which->statements, true, &scenario, &problem)) < 0) {
		fprintf(stderr, "drive: %s\n", problem.text);
		return 1;
	}
	warm_up = (uint64_t)number(argc, argv, 4, mpps / 1e3 * (double)bench_held_ns(scenario) * 2);
	drive.copy_bytes_max = (uint32_t)number(argc, argv, 6, 0);
	if (argc > 7 && tape_make(&tape, 32 << 20, (uint32_t)strtoul(argv[7], NULL, 10)) == 0)
		drive.tape = &tape;
	if (argc > 8 && drive.tape && tape_take_snapshots(&tape, &flight) < 0)
		return 1;
	drive.pool = pool_make_outside("drive", MBUFS + (uint32_t)waiting_mbufs(&drive, warm_up));
	drive.headers = which->headers || drive.clouds;
	drive.step_ns = (simtime)(2 * drive.burst * 1e3 / mpps);
	return drive.pool ? run(&drive, scenario, packets, warm_up) : 1;
}
