/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Brings the log of DPDK and its drivers into weir's (run_log.h), where its errors are RUN_LOG_INFO
 * and the rest is RUN_LOG_DEBUG: weir's own messages say what is wrong in terms of the scenario,
 * and quote DPDK where it helps.
 *
 * Thread: start, stop and cause: control. Lines may come from any thread.
 */
#ifndef WEIR_EAL_LOG_H
#define WEIR_EAL_LOG_H

#include <stdbool.h>

/* From now on. May come before rte_eal_init. `asked`: somebody has told DPDK what to log; then all
 * that it logs is RUN_LOG_NOTICE, and so is seen. */
void eal_log_start(bool asked);
void eal_log_stop(void);
/* The first line that DPDK has logged as an error, without its end of line; "" if there was
 * none. Forgets it. Valid until the next call. */
const char *eal_log_cause(void);

#endif
