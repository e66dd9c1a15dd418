/* SPDX-License-Identifier: BSD-3-Clause */
#include "check/memory_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "live/runtime.h"
#include "machine/eal.h"
#include "machine/pool.h"
#include "port/port.h"
#include "service/event_log.h"
#include "stream/watch.h"

#define LEAST_BYTES (UINT64_C(4) << 20)  /* for packets in flight; also the minimum of --memory */
#define ROOM_BYTES  (UINT64_C(64) << 20) /* a second at 100 Mbit/s */
#define ROOM_MBUFS  UINT64_C(16384)
#define MBUFS_MOST  (UINT32_MAX / 2)

/* Memory of the process besides what is counted: 7 MiB were measured, more with clients, files and
 * workers. A thread's stack counts both as data and as addresses. */
#define PROCESS_BYTES (UINT64_C(24) << 20)
#define STACK_BYTES   (UINT64_C(8) << 20)
/* Further addresses: stacks of the EAL's threads, heaps of the C library for each thread, DPDK's
 * drivers. */
#define ADDRESS_BYTES (UINT64_C(96) << 20)

#define SHARES 256u /* steps in which the room for changes is reduced */

typedef unsigned __int128 wide;

/* Memory for packets in flight. */
struct share {
	uint64_t memory_bytes, mbufs;
};

struct need {
	uint64_t pages, huge, address, locked;
};

static uint64_t narrow(wide value)
{
	return value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
}

static uint64_t mib_up(uint64_t bytes)
{
	return (bytes >> 20) + 1;
}

/* Returns the size of packet buffers and rings: what is, or would be, in the EAL's memory. */
static wide eal_bytes(const struct memory_request *request, uint64_t mbufs)
{
	const struct runtime_options none = {0};
	unsigned base_mib = runtime_eal_mib(request->scenario, &none, request->workers);

	return ((wide)base_mib << 20) + (wide)mbufs * (pool_mbuf_bytes() + sizeof(void *));
}

static uint32_t ports_of(const struct scenario *scenario, const char *driver)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < scenario->n_ports; i++) {
		const char *device = scenario->ports[i].device;

		n += device && strncmp(device, driver, strlen(driver)) == 0;
	}
	return n;
}

/* Returns the memory of the process itself; an eighth of each stack is assumed to be used. */
static wide process_bytes(const struct memory_request *request)
{
	uint32_t files = ports_of(request->scenario, "file:");

	return PROCESS_BYTES + EAL_LCORE_BYTES + EVENT_LOG_TAKES +
	       (wide)(request->workers + files) * (STACK_BYTES / 8) +
	       (wide)request->scenario->n_clouds * LOSS_WATCH_CLOUD_BYTES;
}

/* A cloud of a template with a loss, a rate and a delay takes 880 bytes. If this room is too small,
 * the writer enlarges it as long as there is memory (recording_writer.c). */
#define SNAPSHOT_CLOUD_BYTES  2048u
#define SNAPSHOT_BAND_BYTES   64u
#define SNAPSHOT_PACKET_BYTES 64u /* besides its frame */
#define FRAME_BYTES           1518u

/* Returns the room for snapshots of all workers. */
static wide snapshot_bytes(const struct memory_request *request)
{
	const struct recording_plan *plan = request->recording;
	const uint32_t snap = plan->snap && plan->snap < FRAME_BYTES ? plan->snap : FRAME_BYTES;
	wide bytes = 0, packets = 0;

	for (uint32_t i = 0; i < request->budget->n_clouds; i++) {
		const struct cloud_budget *cloud = &request->budget->clouds[i];

		bytes += (wide)cloud->clouds *
		         (SNAPSHOT_CLOUD_BYTES + (wide)cloud->bands * SNAPSHOT_BAND_BYTES);
		packets += cloud->load[BUDGET_64].packets;
	}
	packets = RTE_MIN(packets, (wide)plan->held_max * request->workers);
	bytes += packets * (snap + SNAPSHOT_PACKET_BYTES);
	bytes = RTE_MAX(bytes, (wide)request->workers * RECORDING_SNAPSHOT_BYTES);
	return RTE_MIN(bytes, (wide)request->workers * RECORDING_SNAPSHOT_MOST);
}

static wide recording_bytes(const struct memory_request *request)
{
	const struct recording_plan *plan = request->recording;
	wide bytes;

	if (!plan)
		return 0;
	bytes = (wide)request->workers *
	        (plan->tape_bytes ? plan->tape_bytes : RECORDING_TAPE_BYTES);
	if (!plan->folder) {
		bytes += (wide)request->workers * plan->flight_bytes;
		bytes += (wide)request->workers * plan->flight_bytes / RECORDING_FLIGHT_LOSSES;
		bytes += snapshot_bytes(request);
	}
	return bytes;
}

static struct need need_of(const struct memory_request *request, struct share share)
{
	wide eal = eal_bytes(request, share.mbufs), own = eal + ((wide)EAL_OWN_MIB << 20);
	/* The EAL rounds up to MiB at its start. */
	bool huge = request->machine->huge_free_bytes >= own + (UINT64_C(2) << 20);
	bool pci = port_any_pci(request->scenario);
	wide pages = (wide)share.memory_bytes + request->budget->own_bytes +
	             process_bytes(request) + recording_bytes(request);
	wide pinned = (pci ? own : 0) + ports_of(request->scenario, "net_af_xdp") * eal;

	if (!huge)
		pages += pci ? 2 * own : eal; /* eal.c gives the reason */
	return (struct need){
	        .pages = narrow(pages),
	        .huge = huge ? narrow(own) : 0,
	        /* Without huge pages the EAL reserves addresses that it does not use. */
	        .address =
	                narrow(pages + own + ADDRESS_BYTES + (wide)request->workers * STACK_BYTES),
	        .locked = narrow(pinned),
	};
}

static bool fits(const struct machine_memory *machine, const struct need *need)
{
	return need->pages <= machine->pages.free_bytes &&
	       need->address <= machine->address.free_bytes &&
	       need->locked <= machine->locked.free_bytes;
}

/* Returns what the scenario needs, plus `step` / SHARES of the room for changes. */
static struct share share_at(const struct budget *budget, uint32_t step)
{
	struct share share = {.memory_bytes = RTE_MAX(budget->memory_bytes, LEAST_BYTES),
	                      .mbufs = budget->mbufs};

	if (share.memory_bytes < ROOM_BYTES)
		share.memory_bytes += (ROOM_BYTES - share.memory_bytes) / SHARES * step;
	if (share.mbufs < ROOM_MBUFS)
		share.mbufs += (ROOM_MBUFS - share.mbufs) * step / SHARES;
	return share;
}

/* Divides the requested amount into memory and mbufs, in the proportion that the scenario needs. */
static struct share share_asked(const struct budget *budget, uint64_t asked_bytes)
{
	struct share share = share_at(budget, SHARES);
	double held = (double)share.memory_bytes + (double)share.mbufs * pool_mbuf_bytes();
	double part = (double)asked_bytes / held;

	share.memory_bytes = (uint64_t)((double)share.memory_bytes * part);
	share.mbufs = (uint64_t)((double)share.mbufs * part);
	return share;
}

/* Returns the part of the need that counts against a limit. */
static uint64_t needed_of(const struct machine_memory *machine, const struct memory_limit *limit,
                          const struct need *need)
{
	return limit == &machine->pages     ? need->pages
	       : limit == &machine->address ? need->address
	                                    : need->locked;
}

/* Returns the first limit that is exceeded; if none is, that of pages. */
static const struct memory_limit *tightest(const struct machine_memory *machine,
                                           const struct need *need)
{
	const struct memory_limit *limits[] = {&machine->pages, &machine->address,
	                                       &machine->locked};

	for (size_t i = 0; i < RTE_DIM(limits); i++) {
		if (needed_of(machine, limits[i], need) > limits[i]->free_bytes)
			return limits[i];
	}
	return limits[0];
}

static bool fits_asked(const struct memory_request *request, uint64_t asked_bytes)
{
	struct need need = need_of(request, share_asked(request->budget, asked_bytes));

	return fits(request->machine, &need);
}

/* Returns the largest amount that could be requested, to a MiB; 0: none. */
static uint64_t most_asked(const struct memory_request *request)
{
	uint64_t right = LEAST_BYTES, wrong = request->asked_bytes;

	if (!fits_asked(request, right))
		return 0;
	while (wrong - right > 1 << 20) {
		uint64_t middle = right + (wrong - right) / 2;

		if (fits_asked(request, middle))
			right = middle;
		else
			wrong = middle;
	}
	return right;
}

static void refuse_scenario(const struct memory_request *request, const struct memory_limit *limit,
                            const struct memory_plan *plan, struct problem *problem)
{
	struct need beside = need_of(request, (struct share){0});
	struct budget_sums sums = {.needed_bytes = plan->needed_bytes,
	                           .there_bytes = plan->there_bytes,
	                           .beside_bytes = needed_of(request->machine, limit, &beside) +
	                                           beside.huge};

	if (limit != &request->machine->locked) {
		budget_refuse(request->budget, &sums, plan->limit, problem);
		return;
	}
	problem_set(problem, -1,
	            "its devices use DMA on %" PRIu64
	            " MiB of memory, which must be locked, and %s; raise it (ulimit -l unlimited), "
	            "or run as root",
	            mib_up(plan->needed_bytes), plan->limit);
}

int memory_plan_make(const struct memory_request *request, struct memory_plan *plan,
                     struct problem *problem)
{
	const struct machine_memory *machine = request->machine;
	struct share share = request->asked_bytes
	                             ? share_asked(request->budget, request->asked_bytes)
	                             : share_at(request->budget, 0);
	struct need need = need_of(request, share);
	const struct memory_limit *limit = tightest(machine, &need);
	uint64_t huge = limit == &machine->pages ? need.huge : 0;

	*plan = (struct memory_plan){
	        .needed_bytes = narrow((wide)needed_of(machine, limit, &need) + huge),
	        .there_bytes = limit->free_bytes + huge,
	        .limit = limit->text,
	};
	if (!fits(machine, &need)) {
		if (request->asked_bytes) {
			char right[64] = "not even --memory 4MiB would fit";
			uint64_t most = most_asked(request);

			if (most > 0)
				snprintf(right, sizeof(right), "at most --memory %" PRIu64 "MiB",
				         most >> 20);
			problem_set(problem, -1,
			            "--memory %" PRIu64 "MiB: together with what ports and weir "
			            "itself need, that is %" PRIu64 " MiB, but %" PRIu64
			            " MiB are available%s%s%s; %s",
			            request->asked_bytes >> 20, mib_up(plan->needed_bytes),
			            plan->there_bytes >> 20, plan->limit[0] ? " (" : "",
			            plan->limit, plan->limit[0] ? ")" : "", right);
		} else {
			refuse_scenario(request, limit, plan, problem);
		}
		return -ENOMEM;
	}
	for (uint32_t step = request->asked_bytes ? 0 : SHARES; step > 0; step--) {
		struct share more = share_at(request->budget, step);

		need = need_of(request, more);
		if (fits(machine, &need)) {
			share = more;
			break;
		}
	}
	plan->memory_bytes = share.memory_bytes;
	plan->mbufs = (uint32_t)RTE_MIN(share.mbufs, (uint64_t)MBUFS_MOST);
	return 0;
}

unsigned memory_plan_huge_mib(const struct scenario *scenario)
{
	struct runtime_options options = {.mbufs = ROOM_MBUFS};
	struct machine_memory machine = {.pages.free_bytes = UINT64_MAX,
	                                 .address.free_bytes = UINT64_MAX,
	                                 .locked.free_bytes = UINT64_MAX};
	struct budget budget;
	struct memory_plan plan;
	struct memory_request request = {
	        .scenario = scenario, .budget = &budget, .machine = &machine, .workers = 1};
	struct scenario *two = NULL;
	struct problem problem;
	unsigned mib;

	if (!scenario) {
		two = scenario_make();
		if (!two)
			return 0;
		two->n_ports = 2;
	} else {
		if (budget_of(scenario, NULL, &budget) != 0)
			return 0;
		if (memory_plan_make(&request, &plan, &problem) == 0)
			options.mbufs = plan.mbufs;
		budget_release(&budget);
	}
	mib = runtime_eal_mib(two ? two : scenario, &options, 1) + EAL_OWN_MIB;
	scenario_free(two);
	return mib;
}
