/* SPDX-License-Identifier: BSD-3-Clause */
#include "learn/pairing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A frame that was read, and its flow. */
struct marked {
	struct packet_mark mark;
	uint16_t flow;
};

/* One of the two captures. */
struct pairing_side {
	struct capture *capture;
	struct marked *probe; /* the first frames, until they are taken */
	uint32_t n_probe, at_probe;
	struct marked ahead; /* the next packet, if `more` */
	struct marked super; /* the super-frame of which that is a part */
	uint32_t cut_bytes;  /* of its payload; 0: it is no part, or all parts were taken */
	bool more;
	uint32_t number; /* of `ahead` */
	uint32_t lonely; /* frames taken since the latest pair */
	struct pairing_table table;
};

/* A pair that was found, for copies. */
struct recent_pair {
	uint64_t key;
	int64_t t_ns[2];
	uint32_t number[2];
	uint16_t flow[2];
};

struct pairing {
	struct pairing_side sides[2];
	struct flow_list flows;
	struct pairing_counts counts;
	struct recent_pair *recent;
	uint32_t room;
	int64_t shift_ns; /* clock of the second capture less that of the first, with the delay */
	bool shift_known; /* from a pair */
	bool first_rests; /* the second one is read for now: the first had no partner for long */
	bool second_rests;
	pair_row_take *take;
	void *argument;
};

struct pairing *pairing_make(uint32_t room, struct capture *const captures[2], pair_row_take *take,
                             void *argument)
{
	struct pairing *pairing = calloc(1, sizeof(*pairing));
	bool fine;

	if (!pairing)
		return NULL;
	pairing->room = room;
	pairing->take = take;
	pairing->argument = argument;
	pairing->counts.parts = MARK_ALL;
	pairing->recent = calloc(room, sizeof(*pairing->recent));
	fine = flow_list_make(&pairing->flows) == 0 && pairing->recent;
	for (uint32_t i = 0; i < 2; i++) {
		struct pairing_side *side = &pairing->sides[i];

		side->capture = captures[i];
		side->probe = calloc(PAIRING_PROBE, sizeof(*side->probe));
		fine = pairing_table_make(&side->table, room) == 0 && side->probe && fine;
	}
	if (fine)
		return pairing;
	pairing_free(pairing);
	return NULL;
}

void pairing_free(struct pairing *pairing)
{
	if (!pairing)
		return;
	for (uint32_t i = 0; i < 2; i++) {
		pairing_table_free(&pairing->sides[i].table);
		free(pairing->sides[i].probe);
	}
	flow_list_free(&pairing->flows);
	free(pairing->recent);
	free(pairing);
}

const struct pairing_counts *pairing_counts(const struct pairing *pairing)
{
	return &pairing->counts;
}

const struct flow_list *pairing_flows(const struct pairing *pairing)
{
	return &pairing->flows;
}

/* ---- reading ---- */

static bool read_frame(struct pairing *pairing, uint32_t i, struct marked *marked)
{
	struct pairing_counts *counts = &pairing->counts;
	struct packet_ends ends;
	struct capture_frame frame;

	if (!capture_next(pairing->sides[i].capture, &frame))
		return false;
	packet_mark_make(&marked->mark, &ends, &frame);
	marked->flow = ends.ip ? flow_list_number(&pairing->flows, &ends, marked->mark.addresses)
	                       : FLOW_LIST_MAX;
	counts->damaged[i] += marked->mark.damaged;
	counts->fragments[i] += marked->mark.fragment;
	counts->longest[i] = RTE_MAX(counts->longest[i], frame.wire_bytes);
	return true;
}

/* Makes the next part of a super-frame the packet ahead. */
static void next_part(struct pairing_side *side)
{
	const struct packet_mark *super = &side->super.mark;

	packet_mark_part(&side->ahead.mark, super, side->cut_bytes);
	side->cut_bytes += super->segment;
	if (side->cut_bytes >= super->payload_bytes)
		side->cut_bytes = 0;
}

static void read_ahead(struct pairing *pairing, uint32_t i)
{
	struct pairing_side *side = &pairing->sides[i];

	if (side->at_probe < side->n_probe) {
		side->ahead = side->probe[side->at_probe++];
		side->more = true;
	} else {
		side->more = read_frame(pairing, i, &side->ahead);
	}
	if (side->more && side->ahead.mark.segment > 0 && pairing->counts.parts & MARK_CUT) {
		side->super = side->ahead;
		pairing->counts.cut[i]++;
		next_part(side);
	}
}

/* Moves on to the next packet of a capture. */
static void step(struct pairing *pairing, uint32_t i)
{
	struct pairing_side *side = &pairing->sides[i];

	side->number++;
	if (side->cut_bytes > 0)
		next_part(side);
	else
		read_ahead(pairing, i);
	pairing->counts.frames[i] += side->more;
}

/* ---- what the path changes ---- */

static int compare_keys(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void probe_keys(const struct pairing_side *side, uint32_t parts, uint64_t *keys)
{
	for (uint32_t i = 0; i < side->n_probe; i++)
		keys[i] = packet_mark_key(&side->probe[i].mark, parts);
	qsort(keys, side->n_probe, sizeof(*keys), compare_keys);
}

/* Returns whether the key at i is there once; moves i to the next key. */
static bool once(const uint64_t *keys, uint32_t n, uint32_t *i)
{
	const uint32_t begin = *i;

	do
		++*i;
	while (*i < n && keys[*i] == keys[begin]);
	return *i == begin + 1;
}

/* Returns how many packets have a partner if these parts are compared, and no double. With too few
 * parts many packets are alike, which proves nothing. */
static uint32_t probe_pairs(const struct pairing *pairing, uint32_t parts, uint64_t *keys[2])
{
	const uint32_t n = pairing->sides[0].n_probe, m = pairing->sides[1].n_probe;
	uint32_t pairs = 0;

	for (uint32_t i = 0; i < 2; i++)
		probe_keys(&pairing->sides[i], parts, keys[i]);
	for (uint32_t i = 0, j = 0; i < n && j < m;) {
		if (keys[0][i] == keys[1][j]) {
			const bool sent = once(keys[0], n, &i), received = once(keys[1], m, &j);

			pairs += sent && received;
		} else if (keys[0][i] < keys[1][j]) {
			i++;
		} else {
			j++;
		}
	}
	return pairs;
}

/* Returns whether the probes have super-frames. Jumbo frames are long, too, but most of them have
 * one length, and hardly any frame beside them has that of Ethernet. */
static bool has_super_frames(const struct pairing *pairing)
{
	uint32_t longest = 0, n = 0, alike = 0, usual = 0;

	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t k = 0; k < pairing->sides[i].n_probe; k++)
			longest = RTE_MAX(longest, pairing->sides[i].probe[k].mark.network_bytes);
	}
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t k = 0; k < pairing->sides[i].n_probe; k++) {
			const struct packet_mark *mark = &pairing->sides[i].probe[k].mark;

			n += mark->segment > 0;
			alike += mark->segment > 0 && mark->network_bytes == longest;
			usual += mark->network_bytes == PACKET_MARK_MTU;
		}
	}
	return n > 0 && (alike <= n / 2 || usual > n / 10 || longest > PAIRING_JUMBO);
}

/* Leaves out the parts without which many more packets are found. */
static void choose_parts(struct pairing *pairing, uint64_t *keys[2])
{
	static const uint32_t tries[] = {MARK_ALL,
	                                 MARK_ALL & ~MARK_ADDRESSES,
	                                 MARK_ALL & ~MARK_ID,
	                                 MARK_PAYLOAD,
	                                 MARK_ALL & ~MARK_PAYLOAD,
	                                 MARK_ID,
	                                 0};
	uint32_t most = 0;

	for (uint32_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		const uint32_t pairs = probe_pairs(pairing, tries[i], keys);

		/* Fewer parts always find a few more, such as damaged packets. */
		if (pairs > most + most / 4) {
			pairing->counts.parts = tries[i];
			most = pairs;
		}
	}
}

/* Finds how far the clocks differ, from the first frame of the second capture that the first one
 * has, too. Returns false if there is none. */
static bool find_shift(struct pairing *pairing, uint64_t *keys)
{
	const struct pairing_side *first = &pairing->sides[0], *second = &pairing->sides[1];

	probe_keys(first, pairing->counts.parts, keys);
	for (uint32_t i = 0; i < second->n_probe; i++) {
		const uint64_t key = packet_mark_key(&second->probe[i].mark, pairing->counts.parts);

		if (!bsearch(&key, keys, first->n_probe, sizeof(key), compare_keys))
			continue;
		for (uint32_t j = 0; j < first->n_probe; j++) {
			if (packet_mark_key(&first->probe[j].mark, pairing->counts.parts) != key)
				continue;
			pairing->shift_ns = (int64_t)second->probe[i].mark.t_ns -
			                    (int64_t)first->probe[j].mark.t_ns;
			return true;
		}
	}
	return false;
}

static int probe(struct pairing *pairing)
{
	uint64_t *keys[2] = {calloc(PAIRING_PROBE, sizeof(uint64_t)),
	                     calloc(PAIRING_PROBE, sizeof(uint64_t))};
	int rc = keys[0] && keys[1] ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < 2 && rc == 0; i++) {
		struct pairing_side *side = &pairing->sides[i];

		while (side->n_probe < PAIRING_PROBE &&
		       read_frame(pairing, i, &side->probe[side->n_probe]))
			side->n_probe++;
	}
	if (rc == 0) {
		choose_parts(pairing, keys);
		if (has_super_frames(pairing))
			pairing->counts.parts |= MARK_CUT;
		/* Without one, the clocks count as equal: one capture may begin much later. */
		pairing->shift_known = find_shift(pairing, keys[0]);
	}
	free(keys[0]);
	free(keys[1]);
	return rc;
}

/* ---- pairs ---- */

static struct recent_pair *recent_of(struct pairing *pairing, uint64_t key)
{
	return &pairing->recent[(key >> 8) & (pairing->room - 1)];
}

static void row_set(struct pair_row *row, uint32_t i, const struct waiting_frame *frame)
{
	row->t_ns[i] = frame->t_ns;
	row->number[i] = frame->number;
	row->flow[i] = frame->flow;
	row->ecn[i] = frame->ecn;
	row->damaged |= (uint8_t)(frame->damaged << i);
	row->fragment |= frame->fragment;
	if (i == 0 || row->wire_bytes == 0)
		row->wire_bytes = frame->wire_bytes;
}

static struct pair_row row_empty(enum pair_kind kind, uint32_t side)
{
	return (struct pair_row){.t_ns = {PAIRING_NEVER, PAIRING_NEVER},
	                         .number = {PAIRING_NONE, PAIRING_NONE},
	                         .flow = {FLOW_LIST_MAX, FLOW_LIST_MAX},
	                         .kind = (uint8_t)kind,
	                         .side = (uint8_t)side};
}

/* Notes the pair of an earlier frame that has the same key. */
static void note_copy(struct waiting_frame *frame, const struct recent_pair *recent, uint32_t i)
{
	frame->copy = true;
	frame->copy_t_ns = recent->t_ns[1 - i];
	frame->copy_number = recent->number[1 - i];
	frame->copy_flow = recent->flow[1 - i];
}

/* `alike` is another frame of the capture `from` with the same key, or NULL. */
static int found(struct pairing *pairing, const struct waiting_frame frames[2],
                 struct waiting_frame *alike, uint32_t from)
{
	struct recent_pair *recent = recent_of(pairing, frames[0].key);
	struct pair_row row = row_empty(PAIR_BOTH, 0);

	recent->key = frames[0].key;
	for (uint32_t i = 0; i < 2; i++) {
		row_set(&row, i, &frames[i]);
		recent->t_ns[i] = frames[i].t_ns;
		recent->number[i] = frames[i].number;
		recent->flow[i] = frames[i].flow;
		pairing->sides[i].lonely = 0;
	}
	if (alike) {
		note_copy(alike, recent, from);
		pairing->counts.alike++;
	}
	pairing->shift_ns = frames[1].t_ns - frames[0].t_ns;
	pairing->shift_known = true;
	pairing->first_rests = pairing->second_rests = false;
	pairing->counts.pairs++;
	return pairing->take(pairing->argument, &row);
}

/* A frame of one capture whose time to find a partner is over. */
static int alone(struct pairing *pairing, uint32_t i, const struct waiting_frame *frame)
{
	struct pair_row row = row_empty(frame->copy ? PAIR_COPY : PAIR_ONLY, i);

	if (frame->copy) {
		row.t_ns[1 - i] = frame->copy_t_ns;
		row.number[1 - i] = frame->copy_number;
		row.flow[1 - i] = frame->copy_flow;
		pairing->counts.copies[i]++;
	} else {
		pairing->counts.only[i]++;
	}
	row_set(&row, i, frame);
	return pairing->take(pairing->argument, &row);
}

/* Takes the next frame of a capture. */
static int take_frame(struct pairing *pairing, uint32_t i)
{
	struct pairing_side *side = &pairing->sides[i];
	const struct packet_mark *mark = &side->ahead.mark;
	struct waiting_frame frame = {
	        .key = packet_mark_key(mark, pairing->counts.parts),
	        .t_ns = (int64_t)mark->t_ns,
	        .number = side->number - 1,
	        .wire_bytes = mark->wire_bytes,
	        .flow = side->ahead.flow,
	        .ecn = mark->ecn,
	        .damaged = mark->damaged,
	        .fragment = mark->fragment,
	};
	const struct recent_pair *recent = recent_of(pairing, frame.key);
	struct waiting_frame both[2], old, *alike;
	int rc = 0;

	if (pairing_table_take(&pairing->sides[1 - i].table, frame.key, &both[1 - i], &alike)) {
		both[i] = frame;
		rc = found(pairing, both, alike, 1 - i);
	} else {
		side->lonely++;
		if (recent->key == frame.key)
			note_copy(&frame, recent, i);
		if (pairing_table_oldest(&side->table, false, &old))
			rc = alone(pairing, i, &old);
		pairing_table_add(&side->table, &frame);
	}
	step(pairing, i);
	return rc;
}

/* Returns the capture to be read next. */
static uint32_t next_side(struct pairing *pairing)
{
	struct pairing_side *first = &pairing->sides[0], *second = &pairing->sides[1];

	if (!first->more || !second->more)
		return !first->more;
	/* A clock that was set makes one capture seem late. If one has found no partner for long,
	 * the other one is read for as long. */
	if (pairing->shift_known && !pairing->first_rests && !pairing->second_rests) {
		pairing->first_rests = first->lonely >= pairing->room / 2;
		pairing->second_rests =
		        !pairing->first_rests && second->lonely >= pairing->room / 2;
	}
	if (pairing->first_rests && second->lonely >= pairing->room / 2) {
		pairing->first_rests = false;
		first->lonely = second->lonely = 0;
	} else if (pairing->second_rests && first->lonely >= pairing->room / 2) {
		pairing->second_rests = false;
		first->lonely = second->lonely = 0;
	}
	if (pairing->first_rests || pairing->second_rests)
		return pairing->first_rests;
	return (int64_t)first->ahead.mark.t_ns + pairing->shift_ns >
	       (int64_t)second->ahead.mark.t_ns;
}

int pairing_run(struct pairing *pairing)
{
	struct waiting_frame old;
	int rc = probe(pairing);

	for (uint32_t i = 0; i < 2 && rc == 0; i++)
		step(pairing, i);
	while (rc == 0 && (pairing->sides[0].more || pairing->sides[1].more))
		rc = take_frame(pairing, next_side(pairing));
	for (uint32_t i = 0; i < 2; i++) {
		while (rc == 0 && pairing_table_oldest(&pairing->sides[i].table, true, &old))
			rc = alone(pairing, i, &old);
	}
	return rc;
}
