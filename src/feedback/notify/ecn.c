/* SPDX-License-Identifier: BSD-3-Clause */
#include "notify/ecn.h"

#include "packet/checksum.h"
#include "packet/headers.h"
#include "scenario/scenario.h"

#define ECT 0x2
#define CE  0x3

/* ---- the marking ---- */

/* The two bits; -1: there are none. */
static int ecn_bits(const struct packet_bytes *frame, struct mark_place *place)
{
	struct headers headers;

	if (!headers_find(frame->data, frame->bytes, frame->wire_bytes, &headers))
		return -1;
	place->at = frame->data + headers.network;
	place->version = headers.ip;
	return (headers.ip == 4 ? place->at[1] : place->at[1] >> 4) & CE;
}

int ecn_codepoint(const struct packet_bytes *frame)
{
	struct mark_place place;

	return ecn_bits(frame, &place);
}

static enum marking look_3168(const struct packet_bytes *frame, struct mark_place *place)
{
	int bits = ecn_bits(frame, place);

	if (bits <= 0)
		return MARKING_NONE;
	return bits == CE ? MARKING_DONE : MARKING_POSSIBLE;
}

static enum marking look_2481(const struct packet_bytes *frame, struct mark_place *place)
{
	int bits = ecn_bits(frame, place);

	if (bits < ECT)
		return MARKING_NONE;
	return bits == CE ? MARKING_DONE : MARKING_POSSIBLE;
}

static void ecn_set(const struct mark_place *place)
{
	uint8_t *ip = place->at;
	uint16_t before, sum;

	if (place->version == 6) {
		ip[1] |= CE << 4;
		return;
	}
	before = headers_u16(ip);
	ip[1] |= CE;
	sum = checksum_grown(headers_u16(ip + 10), checksum_growth(before, headers_u16(ip)));
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
}

const struct aqm_marker ecn_marker_3168 = {.look = look_3168, .set = ecn_set};
static const struct aqm_marker ecn_marker_2481 = {.look = look_2481, .set = ecn_set};

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

/* ---- the statement ---- */

static const char *const standards[] = {"3168", "2481", NULL};

static const struct field ecn_fields[] = {
        {.name = "on",
         .type = FIELD_SWITCH,
         .flags = FIELD_POSITIONAL | FIELD_REQUIRED,
         .offset = offsetof(struct ecn_conf, on),
         .help = "whether capable packets are marked where others are dropped"},
        {.name = "standard",
         .type = FIELD_WORD,
         .offset = offsetof(struct ecn_conf, standard),
         .words = standards,
         .help = "the RFC that says who is capable: in 2481 ECT(1) is not"},
        FIELD_END,
};

const struct statement ecn_statement = {
        .name = "ecn",
        .help = "the queue's management marks packets that are capable of it",
        .role = ROLE_AQM_MODIFIER,
        .fields = ecn_fields,
        .conf_bytes = sizeof(struct ecn_conf),
};
