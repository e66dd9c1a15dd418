/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Brings the log of DPDK and its drivers into weir's log (run_log.h). Errors of DPDK become
 * RUN_LOG_INFO there, and the rest RUN_LOG_DEBUG: weir's own messages say what is wrong in terms of
 * the scenario, and quote DPDK where it helps.
 *
 * Thread: start, stop and cause: control. Lines may come from any thread.
 */
#ifndef WEIR_EAL_LOG_H
#define WEIR_EAL_LOG_H

#include <stdbool.h>

/* Begins to take DPDK's lines. May be called before rte_eal_init. If `asked`, the user has chosen
 * what DPDK logs: all its lines become RUN_LOG_NOTICE, and so are seen. */
void eal_log_start(bool asked);
void eal_log_stop(void);
/* Returns the first line that DPDK has logged as an error, without its end of line, and forgets it;
 * "" if there is none. The text is valid until the next call. */
const char *eal_log_cause(void);

#endif
