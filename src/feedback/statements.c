/* SPDX-License-Identifier: BSD-3-Clause */
#include "statements.h"

#include <stddef.h>
#include <string.h>

#include "schedule/at.h"
#include "notify/becn.h"
#include "link/class.h"
#include "aqm/codel_aqm.h"
#include "corrupt/corrupt_bit_error.h"
#include "corrupt/corrupt_checksum.h"
#include "corrupt/corrupt_random.h"
#include "line/delay.h"
#include "schedule/down.h"
#include "duplicate/duplicate_every.h"
#include "duplicate/duplicate_random.h"
#include "aqm/dualpi2.h"
#include "notify/ecn.h"
#include "schedule/every.h"
#include "header/feedback_header.h"
#include "header/feedback_proxy.h"
#include "aqm/fq_codel.h"
#include "router/hop.h"
#include "loss/loss_bit_error.h"
#include "loss/loss_burst.h"
#include "loss/loss_every.h"
#include "loss/loss_four_state.h"
#include "loss/loss_gilbert_elliott.h"
#include "loss/loss_list.h"
#include "loss/loss_pattern.h"
#include "loss/loss_random.h"
#include "loss/loss_tcp_byte.h"
#include "loss/loss_window.h"
#include "aqm/mark.h"
#include "schedule/markov.h"
#include "header/meter.h"
#include "aqm/pie_aqm.h"
#include "link/police.h"
#include "link/rate.h"
#include "aqm/red.h"
#include "line/reorder.h"
#include "rewrite/rewrite.h"
#include "schedule/path_trace.h"
#include "schedule/wave.h"
#include "link/slots.h"
#include "header/xcp.h"

const struct statement *const statements[] = {
        /* ingress stages; hop.c relies on the hop being the HOP_RANK_MAX-th at most */
        &down_statement,
        &up_statement,
        &meter_statement,
        /* needs the TTL with which a packet arrives */
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
        /* needs packets as they come to the queue */
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
