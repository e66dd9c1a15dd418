/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/eal_log.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <rte_log.h>

#define LINE_BYTES 160

static struct {
	pthread_mutex_t lock;
	FILE *stream;
	char line[LINE_BYTES];
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* DPDK flushes after each message, so each comes here whole. */
static ssize_t keep(void *cookie, const char *text, size_t bytes)
{
	size_t n = bytes < LINE_BYTES - 1 ? bytes : LINE_BYTES - 1;
	(void)cookie;

	if (rte_log_cur_msg_loglevel() > (int)RTE_LOG_ERR)
		return (ssize_t)bytes;
	while (n > 0 && text[n - 1] == '\n')
		n--;
	pthread_mutex_lock(&kept.lock);
	if (kept.line[0] == '\0') {
		memcpy(kept.line, text, n);
		kept.line[n] = '\0';
	}
	pthread_mutex_unlock(&kept.lock);
	return (ssize_t)bytes;
}

void eal_log_start(void)
{
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
	static char cause[LINE_BYTES];

	pthread_mutex_lock(&kept.lock);
	memcpy(cause, kept.line, sizeof(cause));
	kept.line[0] = '\0';
	pthread_mutex_unlock(&kept.lock);
	return cause;
}
