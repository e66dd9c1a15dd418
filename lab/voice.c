/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/voice.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DATAGRAM_HEADERS 28 /* IPv4 and UDP */

static const struct field voice_fields[] = {
        {FIELD("calls", FIELD_COUNT, struct voice_conf, calls,
               .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .max = VOICE_CALLS_MAX,
               .help = "how many calls go on, on average")},
        {FIELD("from", FIELD_TEXT, struct voice_conf, from, .flags = FIELD_REQUIRED,
               .help = "the talkers' switch")},
        {FIELD("to", FIELD_TEXT, struct voice_conf, to, .flags = FIELD_REQUIRED,
               .help = "the listeners' switch")},
        {FIELD("port", FIELD_COUNT, struct voice_conf, port, .min = 1024, .max = 60000,
               .initial = 30000,
               .help = "first port at both ends; lets `match` distinguish groups")},
        {FIELD("most", FIELD_COUNT, struct voice_conf, most, .min = 1, .max = VOICE_CALLS_MAX,
               .initial = 300, .help = "calls at once; further ones are refused")},
        {FIELD("holding", FIELD_TIME, struct voice_conf, holding_ns, .min = SIMTIME_S,
               .max = DELAY_MAX_NS, .initial = 100 * SIMTIME_S, .help = "mean length of a call")},
        {FIELD("talk", FIELD_TIME, struct voice_conf, talk_ns, .min = SIMTIME_MS,
               .max = DELAY_MAX_NS, .initial = 352 * SIMTIME_MS,
               .help = "mean length of a talkspurt")},
        {FIELD("silence", FIELD_TIME, struct voice_conf, silence_ns, .min = SIMTIME_MS,
               .max = DELAY_MAX_NS, .initial = 650 * SIMTIME_MS,
               .help = "mean length of the silence between")},
        {FIELD("every", FIELD_TIME, struct voice_conf, every_ns, .min = SIMTIME_MS,
               .max = SIMTIME_S, .initial = 20 * SIMTIME_MS,
               .help = "time between datagrams during a talkspurt")},
        {FIELD("packet", FIELD_BYTES, struct voice_conf, packet_bytes, .min = 32,
               .max = FRAME_IP_BYTES_MAX, .initial = 200,
               .help = "length of a datagram: IPv4, UDP and voice")},
        FIELD_END,
};

const struct statement group_voice = {
        .name = "voice",
        .help = "calls in which talk and silence alternate",
        .role = ROLE_CLOUD,
        .fields = voice_fields,
        .conf_bytes = sizeof(struct voice_conf),
};

/* Returns an exponentially distributed time, never 0. */
static simtime exponential(struct voice *voice, simtime mean_ns)
{
	uint64_t draw = draw_u64(voice->key, voice->drawn++, 0);
	double u = ((double)(draw >> 11) + 1) / 9007199254740992.0;

	return 1 + (simtime)(-log(u) * (double)mean_ns);
}

uint64_t voice_spurt(simtime talk_ns, simtime every_ns)
{
	uint64_t fit = (talk_ns + every_ns / 2) / every_ns;

	return fit ? fit : 1;
}

static void call_send(struct voice_call *call)
{
	struct voice *voice = call->voice;
	const struct datagram datagram = {
	        .from = voice->here,
	        .to = voice->there,
	        .data_bytes = (uint16_t)(voice->conf->packet_bytes - DATAGRAM_HEADERS),
	        .ttl = FRAME_TTL,
	        .number = call->number++,
	};

	voice->counters.sent++;
	host_send_datagram(voice->from, &datagram);
}

/* Handles the timer of a call: a datagram is due, a silence ends, or the call ends. */
static void call_goes_on(void *argument, simtime now)
{
	struct voice_call *call = argument;
	struct voice *voice = call->voice;
	simtime next;

	if (now >= call->dies_ns) {
		call->going = false;
		voice->n_going--;
		return;
	}
	if (!call->talking) {
		call->talking = true;
		call->left = voice_spurt(exponential(voice, voice->conf->talk_ns),
		                         voice->conf->every_ns);
	}
	if (call->left) {
		call->left--;
		call_send(call);
		next = now + voice->conf->every_ns;
	} else {
		call->talking = false;
		next = now + exponential(voice, voice->conf->silence_ns);
	}
	timer_set(&voice->from->world->heap, &call->timer, simtime_min(next, call->dies_ns));
}

static void call_begin(struct voice *voice, simtime now)
{
	uint32_t free_one = 0;

	if (voice->n_going == voice->conf->most) {
		voice->counters.refused++;
		return;
	}
	while (voice->calls[free_one].going)
		free_one++;
	voice->n_going++;
	voice->calls[free_one].going = true;
	voice->calls[free_one].talking = false;
	voice->calls[free_one].dies_ns = now + exponential(voice, voice->conf->holding_ns);
	/* A call begins with a silence. */
	timer_set(&voice->from->world->heap, &voice->calls[free_one].timer,
	          simtime_min(now + exponential(voice, voice->conf->silence_ns),
	                      voice->calls[free_one].dies_ns));
}

static void birth_next(struct voice *voice, simtime now)
{
	simtime mean_ns = voice->conf->calls ? voice->conf->holding_ns / voice->conf->calls : 0;

	if (mean_ns)
		timer_set(&voice->from->world->heap, &voice->birth,
		          now + exponential(voice, mean_ns));
}

static void born(void *argument, simtime now)
{
	struct voice *voice = argument;

	call_begin(voice, now);
	birth_next(voice, now);
}

static void listen_voice(void *argument, const struct frame *frame, simtime now)
{
	struct voice *voice = argument;

	(void)now;
	if (frame->kind != FRAME_DATAGRAM)
		return;
	voice->counters.arrived += arrivals_add(&voice->arrivals, voice->from, frame->id);
}

int voice_open(struct voice *voice, const struct voice_conf *conf, const char *name, uint64_t seed,
               struct host *from, struct host *to)
{
	struct heap *heap = &from->world->heap;

	memset(voice, 0, sizeof(*voice));
	voice->conf = conf;
	voice->from = from;
	voice->to = to;
	voice->key = draw_key_make(seed, name, "voice");
	from->first_port = to->first_port = (uint16_t)conf->port;
	voice->here = (struct frame_end){from->address, host_listen(from, listen_voice, voice)};
	voice->there = (struct frame_end){to->address, host_listen(to, listen_voice, voice)};
	voice->birth = (struct timer){.fire = born, .argument = voice};
	voice->calls = calloc(conf->most, sizeof(*voice->calls));
	if (!voice->calls || !voice->here.port || !voice->there.port || arrivals_open(from) < 0 ||
	    heap_announce(heap) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < conf->most; i++) {
		voice->calls[i].voice = voice;
		voice->calls[i].timer =
		        (struct timer){.fire = call_goes_on, .argument = &voice->calls[i]};
		if (heap_announce(heap) < 0)
			return -ENOMEM;
	}
	for (uint64_t i = 0; i < conf->calls; i++)
		call_begin(voice, 0);
	birth_next(voice, 0);
	return 0;
}

void voice_close(struct voice *voice)
{
	for (uint32_t i = 0; voice->calls && i < voice->conf->most; i++)
		timer_clear(&voice->from->world->heap, &voice->calls[i].timer);
	if (voice->from)
		timer_clear(&voice->from->world->heap, &voice->birth);
	free(voice->calls);
	voice->calls = NULL;
}
