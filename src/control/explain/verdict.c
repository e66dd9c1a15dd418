/* SPDX-License-Identifier: BSD-3-Clause */
#include "explain/verdict.h"

#include <stdlib.h>

#include "text/array.h"

struct verdict *verdict_make(void)
{
	return calloc(1, sizeof(struct verdict));
}

void verdict_free(struct verdict *verdict)
{
	if (!verdict)
		return;
	free(verdict->phases);
	free(verdict->losses);
	free(verdict);
}

struct verdict_phase *verdict_phase_add(struct verdict *verdict, enum phase kind)
{
	size_t room = verdict->phases_room;
	struct verdict_phase *phase;

	if (!array_fits(&verdict->phases, &room, verdict->n_phases + 1, sizeof(*phase)))
		return NULL;
	verdict->phases_room = room;
	phase = &verdict->phases[verdict->n_phases++];
	*phase = (struct verdict_phase){
	        .kind = kind, .begin_ns = verdict->end_ns, .end_ns = verdict->end_ns};
	return phase;
}

struct verdict_loss *verdict_loss_add(struct verdict *verdict)
{
	size_t room = verdict->losses_room;

	if (verdict->n_losses == VERDICT_LOSSES_MAX ||
	    !array_fits(&verdict->losses, &room, verdict->n_losses + 1,
	                sizeof(struct verdict_loss)))
		return NULL;
	verdict->losses_room = room;
	verdict->losses[verdict->n_losses] = (struct verdict_loss){.packet = 0};
	return &verdict->losses[verdict->n_losses++];
}

void verdict_append(struct verdict *to, const struct verdict *from, simtime until_ns)
{
	for (uint32_t i = 0; i < from->n_phases && from->phases[i].end_ns <= until_ns; i++) {
		struct verdict_phase *phase = verdict_phase_add(to, from->phases[i].kind);

		if (!phase)
			return;
		*phase = from->phases[i];
		to->end_ns = phase->end_ns;
	}
	for (uint32_t i = 0; i < from->n_losses; i++) {
		struct verdict_loss *loss = verdict_loss_add(to);

		if (loss) {
			*loss = from->losses[i];
			/* Its number is one of another flow. */
			loss->number = PASSAGE_NONE;
		}
	}
	for (int way = 0; way < FLOW_WAYS; way++)
		to->lost[way] += from->lost[way];
}

uint64_t verdict_part_ns(const struct verdict *verdict, enum part part)
{
	uint64_t sum_ns = 0;

	for (uint32_t i = 0; i < verdict->n_phases; i++)
		sum_ns += verdict->phases[i].parts_ns[part];
	return sum_ns;
}

uint32_t verdict_round_trips(const struct verdict *verdict)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < verdict->n_phases; i++)
		sum += verdict->phases[i].round_trips;
	return sum;
}

/* ---- words ---- */

static const struct words {
	const char *key, *words;
} parts[] =
        {
#define X(id, key, words) {key, words},
                PARTS(X)
#undef X
},
  phases[] = {
#define X(id, key, words) {key, words},
          PHASES(X)
#undef X
};

const char *part_key(enum part part)
{
	return parts[part].key;
}

const char *part_words(enum part part)
{
	return parts[part].words;
}

const char *phase_key(enum phase phase)
{
	return phases[phase].key;
}

const char *phase_words(enum phase phase)
{
	return phases[phase].words;
}
