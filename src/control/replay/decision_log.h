/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fate of every packet, as CSV: a line for each decision, in the order of the decisions:
 *
 *   packet,port,t_in_ns,cloud,fate,reason,t_out_ns,detail[,late_ns]
 *   1,a,1500000000000000000,down,delivered,,1500000000100000000,
 *   2,a,1500000000000100000,down,dropped,loss,,
 *   2,a,1500000000000100000,down,delivered,,1500000000100100000,copy
 *
 *   packet   ordinal at the port where it came in, from 1
 *   port     that port
 *   t_in_ns  when it came to the cloud; t_out_ns when it leaves it (empty if dropped): ns since
 *            1970
 *   fate     delivered or dropped; reason: why it was dropped (reason.h), else empty
 *   detail   `copy` (of a duplicator) or `generated` (by weir itself), and `marked`; or empty
 *   late_ns  live only: how long after it was to leave the device has taken it; empty: dropped, or
 *            not known (fates/fate_order.h)
 *
 * The file appears when it is complete (atomic_file.h). Errors of writing are kept and reported at
 * the end.
 * Ownership: decision_log_publish and decision_log_discard free the log. The scenario must outlive
 * it.
 * Thread: that of the engine.
 */
#ifndef WEIR_DECISION_LOG_H
#define WEIR_DECISION_LOG_H

#include "account/witness.h"
#include "scenario/scenario.h"

struct decision_log;

/* `live`: packets may be late. Returns 0; -EINVAL with problem if the file cannot be created;
 * -ENOMEM. */
int decision_log_open(const char *path, const struct scenario *scenario, bool live,
                      struct decision_log **log, struct problem *problem);
struct witness *decision_log_witness(struct decision_log *log);
int decision_log_finish(struct decision_log *log, struct problem *problem);
int decision_log_publish(struct decision_log *log, struct problem *problem);
void decision_log_discard(struct decision_log *log); /* NULL is allowed */

#endif
