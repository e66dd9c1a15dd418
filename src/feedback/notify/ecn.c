/* SPDX-License-Identifier: BSD-3-Clause */
#include "notify/ecn.h"

#include "packet/ce_mark.h"
#include "scenario/scenario.h"

#define ECT_0 2

/* ---- marking ---- */

/* Codepoints from `least` on mean that the transport is capable. */
static inline enum marking look(const struct packet_bytes *frame, struct ce_place *place, int least)
{
	int codepoint = ce_codepoint(frame, place);

	if (codepoint < least)
		return MARKING_NONE;
	return codepoint == CE_CODEPOINT ? MARKING_DONE : MARKING_POSSIBLE;
}

static enum marking look_3168(const struct packet_bytes *frame, struct ce_place *place)
{
	return look(frame, place, 1);
}

static enum marking look_2481(const struct packet_bytes *frame, struct ce_place *place)
{
	return look(frame, place, ECT_0);
}

const struct aqm_marker ecn_marker_3168 = {.look = look_3168, .set = ce_set};
static const struct aqm_marker ecn_marker_2481 = {.look = look_2481, .set = ce_set};

const struct aqm_marker *ecn_marker(const struct conf *conf, const struct cloud_conf *cloud,
                                    const struct aqm_marker *initial)
{
	const struct ecn_conf *ecn = (const struct ecn_conf *)aqm_beside(conf, cloud, "ecn");

	if (!ecn)
		return initial;
	if (!ecn->on)
		return NULL;
	return ecn->standard == ECN_2481 ? &ecn_marker_2481 : &ecn_marker_3168;
}

/* ---- statement ---- */

static const char *const standards[] = {"3168", "2481", NULL};

static const struct field ecn_fields[] = {
        {FIELD("on", FIELD_SWITCH, struct ecn_conf, on, .flags = FIELD_POSITIONAL | FIELD_REQUIRED,
               .help = "whether capable packets are marked where others are dropped")},
        {FIELD("standard", FIELD_WORD, struct ecn_conf, standard, .words = standards,
               .help = "the RFC that defines which packets are capable: in 2481, ECT(1) is not")},
        FIELD_END,
};

const struct statement ecn_statement = {
        .name = "ecn",
        .help = "the queue's management marks packets that are capable of it",
        .example = "on",
        .beside = {"red min 15kB max 45kB"},
        .role = ROLE_AQM_MODIFIER,
        .fields = ecn_fields,
        .counts = {{COUNTER(ecn_marked), .words = "marked", .always = true}},
        .conf_bytes = sizeof(struct ecn_conf),
};
