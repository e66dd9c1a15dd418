/* SPDX-License-Identifier: BSD-3-Clause */
#include "header/feedback_header.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "account/counter_read.h"
#include "engine/cloud.h"
#include "header/meter.h"
#include "header/oq_header.h"
#include "packet/checksum.h"
#include "packet/copy.h"
#include "router/hop.h"

/* Returns how many packets a queue with this limit holds. */
static uint64_t packets_of(const struct limit *limit, uint64_t rate_bps)
{
	switch ((enum limit_unit)limit->unit) {
	case LIMIT_PACKETS:
		return limit->value;
	case LIMIT_BYTES:
		return limit->value / FEEDBACK_FRAME_BYTES;
	case LIMIT_TIME:
		return (uint64_t)((unsigned __int128)limit->value * rate_bps / (8 * SIMTIME_S) /
		                  FEEDBACK_FRAME_BYTES);
	case LIMIT_NONE:
		break;
	}
	return UINT64_MAX;
}

/* Returns how many packets the queues of the link hold when they are full; UINT64_MAX if they have
 * no limit. */
static uint64_t feedback_queue_limit(const struct cloud *cloud)
{
	const struct link *link = &cloud->link;
	const struct queue *queue;
	uint64_t packets = 0;

	for (uint32_t i = 0; (queue = link_queue_at(link, i)); i++) {
		if (__builtin_add_overflow(packets, packets_of(&queue->limit, link->conf.rate_bps),
		                           &packets))
			return UINT64_MAX;
	}
	return packets;
}

/* ---- SIRENS ---- */

/* Returns the offset of the option in the frame; 0 if there is none. */
static uint32_t find_option(const struct headers *headers, const uint8_t *frame)
{
	uint32_t at = headers->network + 20;
	uint32_t end = headers->network + (frame[headers->network] & 0xfu) * 4;

	while (at < end && frame[at] != 0) {
		if (frame[at] == SIRENS_OPTION)
			return at;
		if (frame[at] == 1) {
			at++;
			continue;
		}
		if (at + 1 >= end || frame[at + 1] < 2)
			return 0;
		at += frame[at + 1];
	}
	return 0;
}

static bool is_malformed(const struct headers *headers, const uint8_t *frame, uint32_t at)
{
	uint32_t end = headers->network + (frame[headers->network] & 0xfu) * 4;
	const uint8_t *option = frame + at;

	return at + SIRENS_BYTES > end || option[SIRENS_LENGTH] < SIRENS_BYTES ||
	       at + option[SIRENS_LENGTH] > end ||
	       option[SIRENS_LENGTH] % SIRENS_ANSWER_BYTES != 0 ||
	       option[SIRENS_RES_LEN] != option[SIRENS_LENGTH] - SIRENS_BYTES ||
	       option[SIRENS_REQ_MODE] >= OQ_MODES || option[SIRENS_REQ_PROBE] >= SIRENS_PROBES ||
	       option[SIRENS_RES_PROBE] >= SIRENS_PROBES;
}

static uint64_t congestion_drops(const struct counters *counters)
{
	uint64_t sum = counters->drops[REASON_POLICE];

	for (int i = 0; i < REASON_COUNT; i++)
		sum += reason_kind((enum reason)i) == REASON_CONGESTION ? counters->drops[i] : 0;
	return sum;
}

/* Returns the router's value for this probe. */
static uint32_t sirens_answer(const struct cloud *cloud, uint8_t probe)
{
	const struct meter *meter = meter_of(cloud->watch);
	const struct counters *counters = &cloud->counters;
	uint64_t rate = cloud->link.shaper.rate_bps;

	switch ((enum sirens_probe)probe) {
	case SIRENS_LINK:
		return rate ? oq_number(rate / 1000) : OQ_MOST;
	case SIRENS_OBYTES:
		return (uint32_t)meter->left_bytes_ever;
	case SIRENS_IBYTES:
		return (uint32_t)counters->rx_bytes;
	case SIRENS_DROPS:
		return (uint32_t)congestion_drops(counters);
	case SIRENS_ERRORS:
		return (uint32_t)(counters->drops[REASON_LOSS] + counters->corrupted);
	case SIRENS_QMAX:
		return oq_number(feedback_queue_limit(cloud));
	case SIRENS_QLEN:
		return oq_number(link_queue_packets(&cloud->link));
	case SIRENS_MTU:
		return hop_mtu(cloud);
	case SIRENS_NONE:
	case SIRENS_PROBES:
		break;
	}
	return OQ_NOBODY;
}

/* Replaces four bytes of the IPv4 header. Its checksum stays right, or wrong, as it was. */
static void write_word(uint8_t *ip, uint32_t offset, uint32_t number)
{
	uint32_t before = headers_u32(ip + offset);
	uint32_t growth =
	        offset & 1 ? checksum_growth_odd(before, number) : checksum_growth(before, number);
	uint16_t sum = checksum_grown(headers_u16(ip + 10), growth);

	headers_put_u32(ip + offset, number);
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

/* Answers the request of packet i, if it has one, and counts it. Drops the packet if there is no
 * memory to make it writable. */
static void sirens_serve(struct cloud *cloud, struct burst *burst, uint16_t i)
{
	const struct headers headers = *burst_headers(burst, i);
	const uint8_t *frame = burst_frame(burst, i), *option;
	enum oq_mode mode;
	uint32_t at, mine;

	if (headers.ip != 4)
		return;
	at = find_option(&headers, frame);
	if (likely(at == 0))
		return;
	if (is_malformed(&headers, frame, at)) {
		cloud->counters.feedback_malformed++;
		return;
	}
	option = frame + at;
	mode = (enum oq_mode)option[SIRENS_REQ_MODE];
	if (mode == OQ_NO_MODE || option[SIRENS_REQ_PROBE] == SIRENS_NONE ||
	    (mode == OQ_TTL && option[SIRENS_REQ_TTL] != oq_ttl(&headers, frame)))
		return;
	mine = oq_merge(mode, headers_u32(option + SIRENS_REQUEST),
	                sirens_answer(cloud, option[SIRENS_REQ_PROBE]));
	if (unlikely(!cloud_writable(cloud, burst, i)))
		return;
	write_word(burst_frame(burst, i) + headers.network, at - headers.network + SIRENS_REQUEST,
	           mine);
	cloud->counters.feedback_written++;
}

struct feedback {
	struct stage stage;
	struct meter meter; /* its own; called only if the cloud has no other */
	uint8_t protocol;
	uint32_t queue;
};

static struct oq_value answer_link(const struct cloud *cloud, const struct meter *meter)
{
	uint64_t rate = cloud->link.shaper.rate_bps;

	if (rate == 0)
		return (struct oq_value){{OQ_MOST, OQ_MOST}};
	return (struct oq_value){
	        {oq_number(rate / 1000), oq_number(meter_available(meter, rate) / 1000)}};
}

/* Returns the router's values for this probe. */
static struct oq_value answer(const struct feedback *feedback, uint8_t probe)
{
	const struct cloud *cloud = feedback->stage.cloud;
	const struct meter *meter = meter_of(cloud->watch);
	const struct meter_reading *reading = meter_latest(meter);
	uint64_t queue;

	if (probe == OQ_LINK)
		return answer_link(cloud, meter);
	if (probe == OQ_LOSS)
		return (struct oq_value){{reading->loss_ppb, reading->error_ppb}};
	queue = (reading->queue_milli + 999) / 1000;
	if (feedback->queue == FEEDBACK_QUEUE_LIMIT)
		queue = feedback_queue_limit(cloud);
	return (struct oq_value){{oq_number(queue), oq_number(reading->delay_ns / SIMTIME_US)}};
}

/* The latest request that was answered. A usual packet with an equal request takes a shorter
 * check. */
struct asked {
	uint64_t first; /* the first eight bytes of the header, as in memory */
	uint32_t here;  /* the least bytes from the header on; UINT32_MAX: no request yet */
	uint8_t life[2], mask[2]; /* of the bytes TTL and protocol: values, and bits compared */
	enum oq_mode mode;
	struct oq_value mine;
	uint8_t bytes[OQ_ANSWER_BYTES]; /* the answer, as it is written */
};

/* The answers to the packets of a burst, which come at one instant and get the same answer to a
 * probe. */
struct said {
	struct asked asked;
	bool known[OQ_PROBES];
	struct oq_value value[OQ_PROBES];
	uint64_t written, malformed;
};

static inline const struct oq_value *say(const struct feedback *feedback, struct said *said,
                                         uint8_t probe)
{
	if (unlikely(!said->known[probe])) {
		said->value[probe] = answer(feedback, probe);
		said->known[probe] = true;
	}
	return &said->value[probe];
}

static void keep_asked(struct asked *asked, const uint8_t *oq, uint8_t protocol,
                       const struct oq_value *mine)
{
	bool one = oq[OQ_REQ_MODE] == OQ_TTL;

	asked->mode = (enum oq_mode)oq[OQ_REQ_MODE];
	asked->mine = *mine;
	oq_put(asked->bytes, mine);
	asked->here = (uint32_t)OQ_BYTES + oq[OQ_RES_LEN];
	asked->life[0] = one ? oq[OQ_REQ_TTL] : 0;
	asked->life[1] = protocol;
	asked->mask[0] = one ? UINT8_MAX : 0;
	asked->mask[1] = UINT8_MAX;
	memcpy(&asked->first, oq, sizeof(asked->first));
}

static inline void merge(uint8_t *request, enum oq_mode mode, const struct oq_value *mine)
{
	struct oq_value value = oq_get(request);

	value.number[0] = oq_merge(mode, value.number[0], mine->number[0]);
	value.number[1] = oq_merge(mode, value.number[1], mine->number[1]);
	oq_put(request, &value);
}

/* Answers the request of a packet, if this router is to answer. */
static inline void reply(const struct feedback *feedback, struct burst *burst, uint16_t i,
                         const struct headers *headers, struct said *said)
{
	uint32_t at = headers->transport;
	const uint8_t *frame = burst_frame(burst, i), *oq = frame + at;
	enum oq_mode mode = (enum oq_mode)oq[OQ_REQ_MODE];
	const struct oq_value *mine;

	if (mode == OQ_NO_MODE || oq[OQ_REQ_PROBE] == OQ_NO_PROBE ||
	    (mode == OQ_TTL && oq[OQ_REQ_TTL] != oq_ttl(headers, frame)))
		return;
	mine = say(feedback, said, oq[OQ_REQ_PROBE]);
	keep_asked(&said->asked, oq, feedback->protocol, mine);
	if (unlikely(!cloud_writable(feedback->stage.cloud, burst, i)))
		return;
	merge(burst_frame(burst, i) + at + OQ_REQUEST, mode, mine);
	said->written++;
}

/* Answers a usual packet whose request equals the latest one. Returns false if it is no such
 * packet, or not for certain. */
static inline bool reply_again(const struct asked *asked, struct burst *burst, uint16_t i)
{
	uint8_t *frame = burst_frame(burst, i), *oq = frame + HEADERS_USUAL_TRANSPORT;
	uint16_t life, mask, same;
	uint64_t first;

	if (!burst_usual(burst, i) || burst->headers[i].transport_here < asked->here)
		return false;
	memcpy(&life, frame + HEADERS_USUAL_IP + 8, sizeof(life));
	memcpy(&mask, asked->mask, sizeof(mask));
	memcpy(&same, asked->life, sizeof(same));
	memcpy(&first, oq, sizeof(first));
	if ((life & mask) != same || first != asked->first)
		return false;
	if (likely(asked->mode == OQ_TTL))
		memcpy(oq + OQ_REQUEST, asked->bytes, sizeof(asked->bytes));
	else
		merge(oq + OQ_REQUEST, asked->mode, &asked->mine);
	return true;
}

static __attribute__((noinline)) void serve(const struct feedback *feedback, struct burst *burst,
                                            uint16_t i, struct said *said)
{
	const struct headers headers = *burst_headers(burst, i);
	enum oq_find found = oq_find(&headers, burst_frame(burst, i), feedback->protocol);

	if (likely(found == OQ_FOUND))
		reply(feedback, burst, i, &headers, said);
	said->malformed += found == OQ_MALFORMED;
}

static void feedback_process(struct stage *stage, struct burst *burst)
{
	const struct feedback *feedback = (const struct feedback *)stage;
	uint64_t again = 0;
	struct said said;

	said.asked.here = UINT32_MAX;
	memset(said.known, 0, sizeof(said.known));
	said.written = said.malformed = 0;
	stage->drawn += burst->n;
	for (uint16_t i = 0; i < burst->n; i++) {
		if (likely(reply_again(&said.asked, burst, i)))
			again++;
		else
			serve(feedback, burst, i, &said);
	}
	stage->cloud->counters.feedback_written += said.written + again;
	stage->cloud->counters.feedback_malformed += said.malformed;
}

static void sirens_process(struct stage *stage, struct burst *burst)
{
	stage->drawn += burst->n;
	for (uint16_t i = 0; i < burst->n; i++)
		sirens_serve(stage->cloud, burst, i);
}

/* ---- construction ---- */

static int feedback_make(const struct conf *conf, struct stage **stage)
{
	const struct feedback_header_conf *asked = (const struct feedback_header_conf *)conf;
	struct feedback *feedback = calloc(1, sizeof(*feedback));

	if (!feedback)
		return -ENOMEM;
	meter_init(&feedback->meter, asked->window_ns);
	feedback->protocol = (uint8_t)asked->protocol;
	feedback->queue = asked->queue;
	feedback->stage.process =
	        conf->statement == &feedback_sirens_statement ? sirens_process : feedback_process;
	feedback->stage.watch = &feedback->meter.watch;
	*stage = &feedback->stage;
	return 0;
}

static int feedback_ready(struct stage *stage, const struct conf *conf)
{
	(void)conf;
	((struct feedback *)stage)->meter.cloud = stage->cloud;
	return 0;
}

static void feedback_adopt(struct stage *stage, const struct stage *old)
{
	meter_adopt(&((struct feedback *)stage)->meter, &((const struct feedback *)old)->meter);
}

static void feedback_snapshot(struct stage *stage, struct snapshot *snapshot)
{
	meter_snapshot(&((struct feedback *)stage)->meter, snapshot);
}

static READS_WHILE_IT_RUNS void feedback_report(const struct stage *stage,
                                                struct observed *observed)
{
	if (stage->cloud->watch != stage->watch)
		return; /* the `meter` statement reports its own */
	observed->has_meter = true;
	meter_read(&((const struct feedback *)stage)->meter, &observed->meter);
}

static int feedback_check(const struct conf *conf, const struct cloud_conf *cloud,
                          struct problem *problem)
{
	if (!cloud || cloud_conf_get(cloud, "hop")) /* a single line is checked without its cloud */
		return 0;
	problem_set(problem, -1,
	            "cloud %s has no `hop`, and only a router answers; give it an address: `cloud "
	            "%s hop 192.0.2.1`",
	            cloud->name, cloud->name);
	(void)conf;
	return -EINVAL;
}

/* ---- fields ---- */

static const char *const queue_words[] = {"length", "limit", NULL};

#define WINDOW_FIELD                                                                               \
	{                                                                                          \
		FIELD("window", FIELD_TIME, struct feedback_header_conf, window_ns,                \
		      .min = METER_WINDOW_MIN, .max = METER_WINDOW_MAX,                            \
		      .initial = METER_WINDOW_DEFAULT,                                             \
		      .help = "over how long it measures, in a cloud without `meter`")             \
	}

static const struct field header_fields[] = {
        {FIELD("protocol", FIELD_COUNT, struct feedback_header_conf, protocol, .min = 1, .max = 255,
               .initial = OQ_PROTOCOL_DEFAULT, .help = "the IP protocol of the header")},
        WINDOW_FIELD,
        {FIELD("queue", FIELD_WORD, struct feedback_header_conf, queue, .words = queue_words,
               .help = "what is answered as the size of a queue: its mean length, or its limit")},
        FIELD_END,
};

static const struct field sirens_fields[] = {
        WINDOW_FIELD,
        FIELD_END,
};

const struct statement feedback_header_statement = {
        .name = "feedback",
        .variant = "header",
        .help = "the hop answers packets that ask it in the unified feedback header",
        .example = "header",
        .beside = {"hop 192.0.2.1"},
        .role = ROLE_STAGE,
        .generates = true,
        .watches = true,
        .fields = header_fields,
        .counts = {{COUNTER(feedback_written), .thing = "answer written"},
                   {COUNTER(feedback_malformed), .words = "malformed"}},
        .conf_bytes = sizeof(struct feedback_header_conf),
        .check = feedback_check,
        .make = feedback_make,
        .ready = feedback_ready,
        .adopt = feedback_adopt,
        .snapshot = feedback_snapshot,
        .report = feedback_report,
};

const struct statement feedback_sirens_statement = {
        .name = "feedback",
        .variant = "sirens",
        .help = "the same in the encoding of SIRENS: an IPv4 option",
        .example = "sirens",
        .beside = {"hop 192.0.2.1"},
        .role = ROLE_STAGE,
        .generates = true,
        .fields = sirens_fields,
        .counts = {{COUNTER(feedback_written), .thing = "answer written"},
                   {COUNTER(feedback_malformed), .words = "malformed"}},
        .conf_bytes = sizeof(struct feedback_header_conf),
        .check = feedback_check,
        .make = feedback_make,
        .ready = feedback_ready,
        .adopt = feedback_adopt,
        .snapshot = feedback_snapshot,
        .report = feedback_report,
};
