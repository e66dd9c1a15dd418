/* SPDX-License-Identifier: BSD-3-Clause */
#include "loss/loss_tcp_byte.h"

#include <errno.h>
#include <stdlib.h>

#include "match/selection.h"
#include "snapshot/snapshot.h"
#include "stage/stage.h"

struct loss_tcp_byte {
	struct stage stage;
	int64_t byte;
	uint64_t drops_max; /* per flow */
	uint32_t epoch;     /* drops of a flow in another epoch do not count */
	struct tcp_flows *flows;
};

static bool is_lost(struct loss_tcp_byte *loss, struct burst *burst, uint16_t i)
{
	struct tcp_segment segment;
	struct tcp_flow *flow;
	int64_t first;

	if (!tcp_segment_find(burst, i, &segment))
		return false;
	flow = tcp_flows_follow(loss->flows, loss->stage.key, &segment, &first);
	if (flow->epoch != loss->epoch) {
		flow->epoch = loss->epoch;
		flow->drops = 0;
	}
	if (loss->byte < first || loss->byte - first >= segment.payload_bytes ||
	    flow->drops >= loss->drops_max)
		return false;
	flow->drops++;
	return true;
}

static void loss_tcp_byte_process(struct stage *stage, struct burst *burst)
{
	struct loss_tcp_byte *loss = (struct loss_tcp_byte *)stage;

	stage->drawn += burst->n;
	for (uint16_t i = 0; i < burst->n; i++) {
		if (is_lost(loss, burst, i))
			cloud_drop(stage->cloud, burst, i, REASON_LOSS);
	}
}

static int loss_tcp_byte_check(const struct conf *conf, const struct cloud_conf *cloud,
                               struct problem *problem)
{
	const struct loss_tcp_byte_conf *tcp = (const struct loss_tcp_byte_conf *)conf;

	return selection_check_copies(cloud, tcp->flows * sizeof(struct tcp_flow), problem);
}

static int loss_tcp_byte_make(const struct conf *conf, struct stage **stage)
{
	const struct loss_tcp_byte_conf *tcp = (const struct loss_tcp_byte_conf *)conf;
	struct loss_tcp_byte *loss = calloc(1, sizeof(*loss));

	if (!loss)
		return -ENOMEM;
	loss->stage.process = loss_tcp_byte_process;
	loss->byte = (int64_t)tcp->byte;
	loss->drops_max = tcp->retransmits + 1;
	loss->flows = tcp_flows_make(tcp->flows);
	if (!loss->flows) {
		free(loss);
		return -ENOMEM;
	}
	*stage = &loss->stage;
	return 0;
}

static void loss_tcp_byte_free(struct stage *stage)
{
	tcp_flows_free(((struct loss_tcp_byte *)stage)->flows);
	free(stage);
}

/* Exchanges the tables, so that nothing is copied. */
static void loss_tcp_byte_adopt(struct stage *stage, const struct stage *old)
{
	struct loss_tcp_byte *to = (struct loss_tcp_byte *)stage;
	struct loss_tcp_byte *from = (struct loss_tcp_byte *)(uintptr_t)old;
	struct tcp_flows *flows = to->flows;

	if (tcp_flows_room(flows) != tcp_flows_room(from->flows))
		return;
	to->flows = from->flows;
	from->flows = flows;
	to->epoch = from->epoch + 1;
}

/* The epoch counts how often the statement came into force again, which depends on whether packets
 * came in between (timeline.h). */
static void loss_tcp_byte_snapshot(struct stage *stage, struct snapshot *snapshot)
{
	struct loss_tcp_byte *loss = (struct loss_tcp_byte *)stage;

	snapshot_value(snapshot, loss->epoch);
	tcp_flows_snapshot(loss->flows, snapshot);
}

static const struct field loss_tcp_byte_fields[] = {
        {.name = "byte",
         .type = FIELD_COUNT,
         .flags = FIELD_POSITIONAL | FIELD_REQUIRED,
         .offset = offsetof(struct loss_tcp_byte_conf, byte),
         .min = 1,
         .max = LOSS_TCP_BYTE_MAX,
         .help = "of each flow, the first byte after SYN being 1"},
        {.name = "retransmits",
         .type = FIELD_COUNT,
         .offset = offsetof(struct loss_tcp_byte_conf, retransmits),
         .max = LOSS_TCP_RETRANSMITS_MAX,
         .help = "how many retransmissions of that byte are lost as well"},
        {.name = "flows",
         .type = FIELD_COUNT,
         .offset = offsetof(struct loss_tcp_byte_conf, flows),
         .min = 8,
         .max = TCP_FLOWS_MAX,
         .initial = LOSS_TCP_FLOWS,
         .help = "how many flows are followed at a time"},
        FIELD_END,
};

const struct statement loss_tcp_byte_statement = {
        .name = "loss",
        .variant = "tcp-byte",
        .help = "the TCP segment with a certain byte of each flow is lost",
        .example = "tcp-byte 1000",
        .role = ROLE_STAGE,
        .fields = loss_tcp_byte_fields,
        .conf_bytes = sizeof(struct loss_tcp_byte_conf),
        .check = loss_tcp_byte_check,
        .acts = {offsetof(struct counters, drops[REASON_LOSS]),
                 offsetof(struct counters, ecn_marked)},
        .make = loss_tcp_byte_make,
        .free = loss_tcp_byte_free,
        .adopt = loss_tcp_byte_adopt,
        .snapshot = loss_tcp_byte_snapshot,
};
