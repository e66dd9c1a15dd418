/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Holds back the log of DPDK and its drivers: weir's own messages say what is wrong in terms of the
 * scenario, and quote DPDK where it helps.
 *
 * Thread: start, stop and cause: control. Lines may come from any thread.
 */
#ifndef WEIR_EAL_LOG_H
#define WEIR_EAL_LOG_H

#include <stdbool.h>

/* From now on DPDK's log goes nowhere but into eal_log_cause(). May come before rte_eal_init. */
void eal_log_start(void);
void eal_log_stop(void);
/* The last line that was logged as an error or a warning, without its end of line; "" if there was
 * none. Forgets it. Valid until the next call. */
const char *eal_log_cause(void);

#endif
