/* SPDX-License-Identifier: BSD-3-Clause */
#include "statements.h"

#include <stddef.h>
#include <string.h>

#include "at.h"
#include "becn.h"
#include "class.h"
#include "codel_aqm.h"
#include "corrupt_bit_error.h"
#include "corrupt_checksum.h"
#include "corrupt_random.h"
#include "delay.h"
#include "down.h"
#include "duplicate_every.h"
#include "duplicate_random.h"
#include "dualpi2.h"
#include "ecn.h"
#include "every.h"
#include "feedback_header.h"
#include "feedback_proxy.h"
#include "fq_codel.h"
#include "hop.h"
#include "loss_bit_error.h"
#include "loss_burst.h"
#include "loss_every.h"
#include "loss_four_state.h"
#include "loss_gilbert_elliott.h"
#include "loss_list.h"
#include "loss_pattern.h"
#include "loss_random.h"
#include "loss_tcp_byte.h"
#include "loss_window.h"
#include "mark.h"
#include "markov.h"
#include "meter.h"
#include "pie_aqm.h"
#include "police.h"
#include "rate.h"
#include "red_aqm.h"
#include "reorder.h"
#include "rewrite.h"
#include "path_trace.h"
#include "wave.h"
#include "slots.h"
#include "xcp.h"

const struct statement *const statements[] = {
        /* ingress stages; hop.c knows that the hop is the HOP_RANK_MAX-th at most */
        &down_statement,
        &up_statement,
        &meter_statement,
        /* looks at the TTL with which a packet arrives */
        &feedback_header_statement,
        &feedback_sirens_statement,
        &feedback_proxy_statement,
        &hop_statement,
        &rewrite_statement,
        &loss_random_statement,
        &loss_every_statement,
        &loss_burst_statement,
        &loss_gilbert_elliott_statement,
        &loss_four_state_statement,
        &loss_bit_error_statement,
        &loss_pattern_statement,
        &loss_list_statement,
        &loss_window_statement,
        &loss_tcp_byte_statement,
        &duplicate_random_statement,
        &duplicate_every_statement,
        &corrupt_random_statement,
        &corrupt_bit_error_statement,
        &corrupt_checksum_statement,
        &police_statement,
        /* meets packets as they come to the queue */
        &xcp_statement,
        /* link */
        &rate_statement,
        &slots_statement,
        &class_statement,
        &scheduler_statement,
        /* the management of its queue */
        &red_statement,
        &mark_statement,
        &codel_statement,
        &pie_statement,
        &fq_codel_statement,
        &dualpi2_statement,
        &ecn_statement,
        &becn_statement,
        /* line */
        &delay_statement,
        &reorder_every_statement,
        &reorder_random_statement,
        &reorder_early_statement,
        /* what changes with time */
        &at_statement,
        &every_statement,
        &flap_statement,
        &wave_rate_statement,
        &wave_delay_statement,
        &wave_jitter_statement,
        &wave_loss_statement,
        &trace_statement,
        &markov_statement,
        NULL,
};

const struct statement *statement_find(const char *name, const char *variant)
{
	for (const struct statement *const *row = statements; *row; row++) {
		if (strcmp((*row)->name, name) != 0)
			continue;
		if (!(*row)->variant == !variant &&
		    (!variant || strcmp((*row)->variant, variant) == 0))
			return *row;
	}
	return NULL;
}
