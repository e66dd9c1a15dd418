/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/flow.h"

#include <errno.h>

/* Sets a timer, unless it is set to an earlier instant: a timer that is put off again and again
 * stays there, and checks the instant when it fires. */
static void arm(struct heap *heap, struct timer *timer, simtime at_ns)
{
	if (at_ns < timer_at(timer))
		timer_set(heap, timer, at_ns);
}

static void sender_settle(struct flow *flow, simtime now)
{
	arm(&flow->from->world->heap, &flow->retransmit, flow->tcp.expires_ns);
	if (!flow->done && tcp_is_done(&flow->tcp)) {
		flow->done = true;
		if (flow->finished)
			flow->finished(flow->argument, flow, now);
	}
}

static void sender_receive(void *argument, const struct frame *frame, simtime now)
{
	struct flow *flow = argument;

	if (frame->kind == FRAME_SEGMENT)
		tcp_segment(&flow->tcp, now, &frame->segment);
	else if (frame->kind == FRAME_QUENCH)
		tcp_quench(&flow->tcp, now, &frame->quench);
	sender_settle(flow, now);
}

static void sender_expire(void *argument, simtime now)
{
	struct flow *flow = argument;

	if (flow->tcp.expires_ns <= now)
		tcp_expire(&flow->tcp, now);
	sender_settle(flow, now);
}

static void sender_begin(void *argument, simtime now)
{
	struct flow *flow = argument;

	tcp_start(&flow->tcp, now, flow->packets);
	sender_settle(flow, now);
}

static void sender_wire(void *argument, const struct segment *segment)
{
	struct flow *flow = argument;

	host_send_segment(flow->from, segment);
}

static void sink_receive(void *argument, const struct frame *frame, simtime now)
{
	struct flow *flow = argument;

	if (frame->kind != FRAME_SEGMENT)
		return;
	arrivals_add(&flow->arrivals, flow->from, frame->id);
	sink_segment(&flow->sink, now, &frame->segment);
	arm(&flow->to->world->heap, &flow->delayed, flow->sink.expires_ns);
}

static void sink_wait_over(void *argument, simtime now)
{
	struct flow *flow = argument;

	if (flow->sink.expires_ns <= now)
		sink_expire(&flow->sink, now);
	arm(&flow->to->world->heap, &flow->delayed, flow->sink.expires_ns);
}

static void sink_wire(void *argument, const struct segment *segment)
{
	struct flow *flow = argument;

	host_send_segment(flow->to, segment);
}

int flow_open(struct flow *flow, struct host *from, struct host *to, const struct tcp_conf *conf,
              simtime boot_ns, simtime ack_delay_ns)
{
	struct heap *heap = &from->world->heap;
	struct frame_end here = {from->address, host_listen(from, sender_receive, flow)};
	struct frame_end there = {to->address, host_listen(to, sink_receive, flow)};

	flow->from = from;
	flow->to = to;
	flow->begin = (struct timer){.fire = sender_begin, .argument = flow};
	flow->retransmit = (struct timer){.fire = sender_expire, .argument = flow};
	flow->delayed = (struct timer){.fire = sink_wait_over, .argument = flow};
	if (here.port == 0 || there.port == 0 || arrivals_open(from) < 0 ||
	    heap_announce(heap) < 0 || heap_announce(heap) < 0 || heap_announce(heap) < 0)
		return -ENOMEM;
	tcp_init(&flow->tcp, conf, here, there, boot_ns);
	flow->tcp.wire = sender_wire;
	flow->tcp.argument = flow;
	if (sink_init(&flow->sink, conf, there, here, ack_delay_ns) < 0)
		return -ENOMEM;
	flow->sink.wire = sink_wire;
	flow->sink.argument = flow;
	return 0;
}

void flow_begin(struct flow *flow, simtime start_ns, int64_t packets)
{
	flow->start_ns = start_ns;
	flow->packets = packets;
	timer_set(&flow->from->world->heap, &flow->begin, start_ns);
}

void flow_close(struct flow *flow)
{
	struct heap *heap = &flow->from->world->heap;

	timer_clear(heap, &flow->begin);
	timer_clear(heap, &flow->retransmit);
	timer_clear(heap, &flow->delayed);
	host_hang_up(flow->from, flow->tcp.here.port);
	host_hang_up(flow->to, flow->tcp.there.port);
	sink_release(&flow->sink);
}
