/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/cpu_list.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cpu_list_text(const cpu_set_t *set, char *text, size_t room)
{
	size_t at = 0;

	text[0] = '\0';
	for (int cpu = 0; cpu < CPU_SETSIZE && at < room; cpu++) {
		int last = cpu;

		if (!CPU_ISSET(cpu, set))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
			last++;
		at += (size_t)snprintf(text + at, room - at, last > cpu ? "%s%d-%d" : "%s%d",
		                       at ? "," : "", cpu, last);
		cpu = last;
	}
}

static bool number(const char **text, unsigned long *value)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	*value = strtoul(*text, &end, 10);
	*text = end;
	return errno == 0;
}

/* Reads a number or a range, `8` or `0-3`, as the kernel writes them in a list. */
static bool range(const char **text, unsigned long *from, unsigned long *to)
{
	if (!number(text, from))
		return false;
	*to = *from;
	if (**text != '-')
		return true;
	(*text)++;
	return number(text, to) && *to >= *from;
}

/* Adds the processors of a list in a file of the kernel's; none if there is no such file. */
static void add_file(const char *path, cpu_set_t *set)
{
	char line[4096] = "";
	unsigned long from, to;
	FILE *file = fopen(path, "re");

	if (!file)
		return;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	for (const char *at = line; range(&at, &from, &to); at += *at == ',') {
		for (unsigned long cpu = from; cpu <= to && cpu < CPU_SETSIZE; cpu++)
			CPU_SET(cpu, set);
	}
}

void cpu_list_isolated(const char *root, cpu_set_t *isolated)
{
	static const char *const files[] = {CPU_ISOLATED, "/sys/devices/system/cpu/nohz_full",
	                                    "/sys/fs/cgroup/cpuset.cpus.isolated"};
	char path[PATH_MAX];

	CPU_ZERO(isolated);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", root, files[i]);
		add_file(path, isolated);
	}
}

int cpu_list_allowed(const char *isolated, cpu_set_t *allowed)
{
	cpu_set_t mine, kept, one;

	CPU_ZERO(&mine);
	CPU_ZERO(&kept);
	if (sched_getaffinity(0, sizeof(mine), &mine) < 0)
		return -errno;
	*allowed = mine;
	add_file(isolated, &kept);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		/* The kernel refuses a processor outside the cpuset. */
		if (CPU_ISSET(cpu, &kept) && !CPU_ISSET(cpu, &mine) &&
		    sched_setaffinity(0, sizeof(one), &one) == 0)
			CPU_SET(cpu, allowed);
	}
	if (!CPU_EQUAL(&mine, allowed))
		sched_setaffinity(0, sizeof(mine), &mine);
	return 0;
}

static int add_range(struct cpu_list *list, unsigned long from, unsigned long to,
                     const cpu_set_t *allowed, struct problem *problem)
{
	char may[120];

	for (unsigned long cpu = from; cpu <= to; cpu++) {
		if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, allowed)) {
			cpu_list_text(allowed, may, sizeof(may));
			return problem_set(problem, -1,
			                   "processor %lu is not available to weir; available: %s",
			                   cpu, may);
		}
		if (list->n == CPU_LIST_MAX)
			return problem_set(problem, -1, "more than %d workers", CPU_LIST_MAX);
		list->cpu[list->n++] = (uint32_t)cpu;
	}
	return 0;
}

static int parse(const char *text, struct cpu_list *list, const cpu_set_t *allowed,
                 struct problem *problem)
{
	for (const char *at = text;;) {
		unsigned long from, to;

		if (!range(&at, &from, &to))
			break;
		int rc = add_range(list, from, to, allowed, problem);

		if (rc < 0 || *at == '\0')
			return rc;
		if (*at++ != ',')
			break;
	}
	return problem_set(problem, -1, "`%s` is not a list of processors; an example is 2,4-5",
	                   text);
}

int cpu_list_parse(const char *text, struct cpu_list *list, struct problem *problem)
{
	cpu_set_t allowed;
	int last = -1, rc;

	list->n = 0;
	rc = cpu_list_allowed(text ? CPU_ISOLATED : "", &allowed);
	if (rc < 0) {
		problem_set(problem, -1, "the processors of this process cannot be read: %s",
		            strerror(-rc));
		return rc;
	}
	if (text)
		return parse(text, list, &allowed, problem);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &allowed))
			last = cpu;
	}
	return add_range(list, (unsigned long)last, (unsigned long)last, &allowed, problem);
}
