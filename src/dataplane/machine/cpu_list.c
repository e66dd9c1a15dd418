/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/cpu_list.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `0-3,8` of what this process may use. */
static void allowed_text(const cpu_set_t *allowed, char *text, size_t room)
{
	size_t at = 0;

	text[0] = '\0';
	for (int cpu = 0; cpu < CPU_SETSIZE && at < room; cpu++) {
		int last = cpu;

		if (!CPU_ISSET(cpu, allowed))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, allowed))
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

static int add_range(struct cpu_list *list, unsigned long from, unsigned long to,
                     const cpu_set_t *allowed, struct problem *problem)
{
	char may[120];

	for (unsigned long cpu = from; cpu <= to; cpu++) {
		if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, allowed)) {
			allowed_text(allowed, may, sizeof(may));
			problem_set(
			        problem, -1,
			        "processor %lu is not one that weir may use here; these are: %s",
			        cpu, may);
			return -EINVAL;
		}
		if (list->n == CPU_LIST_MAX) {
			problem_set(problem, -1, "more than %d workers", CPU_LIST_MAX);
			return -EINVAL;
		}
		list->cpu[list->n++] = (uint32_t)cpu;
	}
	return 0;
}

static int parse(const char *text, struct cpu_list *list, const cpu_set_t *allowed,
                 struct problem *problem)
{
	for (const char *at = text;;) {
		unsigned long from, to;

		if (!number(&at, &from))
			break;
		to = from;
		if (*at == '-') {
			at++;
			if (!number(&at, &to) || to < from)
				break;
		}
		int rc = add_range(list, from, to, allowed, problem);

		if (rc < 0 || *at == '\0')
			return rc;
		if (*at++ != ',')
			break;
	}
	problem_set(problem, -1, "`%s` is no list of processors; one looks like 2,4-5", text);
	return -EINVAL;
}

int cpu_list_parse(const char *text, struct cpu_list *list, struct problem *problem)
{
	cpu_set_t allowed;
	int last = -1;

	list->n = 0;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0) {
		problem_set(problem, -1, "the processors of this process cannot be read: %s",
		            strerror(errno));
		return -errno;
	}
	if (text)
		return parse(text, list, &allowed, problem);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &allowed))
			last = cpu;
	}
	return add_range(list, (unsigned long)last, (unsigned long)last, &allowed, problem);
}
