/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/eal_log.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <rte_log.h>

#include "machine/run_log.h"

#define LINE_BYTES  400
#define CAUSE_BYTES 160 /* what weir quotes of a line */

static struct {
	pthread_mutex_t lock;
	FILE *stream;
	char line[CAUSE_BYTES]; /* the first error */
	bool asked;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Returns the level of a line of DPDK's. What DPDK calls an error is often no error for weir's
 * user: a driver that finds no device, a page that cannot be had and is not needed. weir's own
 * lines report what matters. */
static enum run_log_level level_of(int eal_level)
{
	if (kept.asked)
		return RUN_LOG_NOTICE;
	return eal_level <= (int)RTE_LOG_ERR ? RUN_LOG_INFO : RUN_LOG_DEBUG;
}

/* Logs a message. DPDK flushes after each message, so each arrives here whole. */
static ssize_t keep(void *cookie, const char *text, size_t bytes)
{
	static const struct journal_field fields[] = {{"WEIR_EVENT", "dpdk"}};
	int eal_level = rte_log_cur_msg_loglevel();
	char line[LINE_BYTES];
	size_t n = bytes < LINE_BYTES - 1 ? bytes : LINE_BYTES - 1;
	(void)cookie;

	while (n > 0 && text[n - 1] == '\n')
		n--;
	for (size_t i = 0; i < n; i++)
		line[i] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
	line[n] = '\0';
	if (eal_level <= (int)RTE_LOG_ERR) {
		pthread_mutex_lock(&kept.lock);
		if (kept.line[0] == '\0')
			snprintf(kept.line, sizeof(kept.line), "%s", line);
		pthread_mutex_unlock(&kept.lock);
	}
	if (n > 0)
		run_log_with(level_of(eal_level), fields, 1, "DPDK: %s", line);
	return (ssize_t)bytes;
}

void eal_log_start(bool asked)
{
	kept.asked = asked;
	kept.stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = keep});
	if (kept.stream)
		rte_openlog_stream(kept.stream);
}

void eal_log_stop(void)
{
	if (!kept.stream)
		return;
	rte_openlog_stream(NULL);
	fclose(kept.stream);
	kept.stream = NULL;
}

const char *eal_log_cause(void)
{
	static char cause[CAUSE_BYTES];

	pthread_mutex_lock(&kept.lock);
	memcpy(cause, kept.line, sizeof(cause));
	kept.line[0] = '\0';
	pthread_mutex_unlock(&kept.lock);
	return cause;
}
