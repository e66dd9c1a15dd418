/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/around_side.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "port/around.h"
#include "scenario/scenario.h"

/* An interface with both sides, of which ports have one or two. */
struct around_pair {
	struct around around;
	char name[INTERFACE_NAME_BYTES]; /* as in the scenario */
	struct around_side {
		struct around_pair *pair;
		bool open, started;
	} sides[AROUND_SIDES];
	struct around_pair *next;
};

static struct around_pair *pairs;

static unsigned which(const struct around_side *side)
{
	return (unsigned)(side - side->pair->sides);
}

static const struct around_side *other(const struct around_side *side)
{
	return &side->pair->sides[which(side) == AROUND_INSIDE ? AROUND_OUTSIDE : AROUND_INSIDE];
}

const char *around_side_interface(const char *device)
{
	if (strncmp(device, PORT_INSIDE, strlen(PORT_INSIDE)) == 0)
		return device + strlen(PORT_INSIDE);
	if (strncmp(device, PORT_OUTSIDE, strlen(PORT_OUTSIDE)) == 0)
		return device + strlen(PORT_OUTSIDE);
	return NULL;
}

/* ---- opening ---- */

static void close_pair(struct around_pair *pair)
{
	struct around_pair **place = &pairs;

	while (*place && *place != pair)
		place = &(*place)->next;
	if (*place)
		*place = pair->next;
	around_close(&pair->around);
	free(pair);
}

/* Returns 0, or -errno with problem. */
static int open_pair(const char *name, struct around_pair **result, struct problem *problem)
{
	struct around_pair *pair = calloc(1, sizeof(*pair));
	struct around_plan plan = {.interface = name};
	int rc;

	if (!pair) {
		problem_set(problem, -1, "no memory");
		return -ENOMEM;
	}
	pair->around = around_none;
	snprintf(pair->name, sizeof(pair->name), "%s", name);
	plan.net = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (plan.net < 0) {
		rc = -errno;
		problem_set(problem, -1, "this network namespace cannot be opened in /proc: %s",
		            strerror(-rc));
	} else {
		rc = around_open(&plan, &pair->around, problem);
		close(plan.net);
	}
	if (rc < 0) {
		close_pair(pair);
		return rc;
	}
	for (unsigned side = 0; side < AROUND_SIDES; side++)
		pair->sides[side].pair = pair;
	pair->next = pairs;
	pairs = pair;
	*result = pair;
	return 0;
}

int around_side_open(const char *device, struct around_side **side, struct problem *problem)
{
	const bool inside = strncmp(device, PORT_INSIDE, strlen(PORT_INSIDE)) == 0;
	const char *name = around_side_interface(device);
	struct around_pair *pair = pairs;
	struct around_side *own;
	int rc = 0;

	while (pair && strcmp(pair->name, name) != 0)
		pair = pair->next;
	if (!pair)
		rc = open_pair(name, &pair, problem);
	if (rc < 0)
		return rc;
	own = &pair->sides[inside ? AROUND_INSIDE : AROUND_OUTSIDE];
	if (own->open)
		return problem_set(problem, -1,
		                   "the %s of interface %s is another port already: each port "
		                   "needs its own",
		                   inside ? "inside" : "outside", name);
	own->open = true;
	*side = own;
	return 0;
}

const char *around_side_tap(const struct around_side *side)
{
	return side->pair->around.ends[which(side)].device;
}

int around_side_start(struct around_side *side, struct problem *problem)
{
	if (!other(side)->open)
		return problem_set(
		        problem, -1,
		        "it is the %s of interface %s, whose %s is no port: `port NAME "
		        "%s %s` makes it one",
		        which(side) == AROUND_INSIDE ? "inside" : "outside", side->pair->name,
		        which(side) == AROUND_INSIDE ? "outside" : "inside",
		        which(side) == AROUND_INSIDE ? "outside" : "inside", side->pair->name);
	side->started = true;
	return other(side)->started ? around_begin(&side->pair->around, problem) : 0;
}

void around_side_halt(struct around_side *side)
{
	side->started = false;
	around_end(&side->pair->around);
}

void around_side_close(struct around_side *side)
{
	if (!side)
		return;
	around_side_halt(side);
	side->open = false;
	if (!other(side)->open)
		close_pair(side->pair);
}

/* ---- what happens to it ---- */

bool around_side_is_there(const struct around_side *side)
{
	return !around_is_gone(&side->pair->around);
}

uint64_t around_side_lost(const struct around_side *side)
{
	uint64_t lost;

	return around_lost(&side->pair->around, which(side), &lost) ? lost : 0;
}
