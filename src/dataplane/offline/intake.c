/* SPDX-License-Identifier: BSD-3-Clause */
#include "offline/intake.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/filter.h"
#include "link/class.h"
#include "match/match.h"
#include "match/selection.h"
#include "rewrite/rewrite.h"
#include "rewrite/rewrite_rule.h"
#include "scenario/orders.h"

static int check_split(const struct intake *intake, uint32_t i, struct problem *problem)
{
	enum split_kind kind = intake->splits[i].kind;

	if (link_layer_has_sender(intake->link_layer) || kind == SPLIT_IP || kind == SPLIT_PORT)
		return 0;
	return problem_set(
	        problem, -1,
	        "--split %s: %s is a capture of IP, without link-layer addresses; split it by "
	        "ip=ADDRESS or port=NUMBER",
	        intake->options->split, intake->options->in[i].path);
}

static int open_captures(struct intake *intake, struct io_thread *io_thread,
                         struct problem *problem)
{
	const struct replay_options *options = intake->options;
	struct capture_options how = {.io_thread = io_thread, .link_layer = &intake->link_layer};

	if (options->link_type && !link_layer_find(options->link_type, &how.link))
		return problem_set(
		        problem, -1,
		        "--link-type %.40s: weir does not know this link type; it knows "
		        "ethernet, raw, ipv4, ipv6, linux_sll, linux_sll2, null, loop, ppp, "
		        "ppp_serial, ppp_pppd, ppp_with_dir and ppp_ether",
		        options->link_type);
	how.link_wanted = options->link_type != NULL;
	for (uint32_t i = 0; i < options->n_in; i++) {
		int error =
		        capture_open_with(options->in[i].path, &how, &intake->captures[i], problem);

		if (error)
			return error;
		if (options->in[i].second == REPLAY_NO_PORT)
			continue;
		if (!options->split)
			return problem_set(
			        problem, -1,
			        "%s: brings packets to two ports: give a rule to divide them "
			        "(--split mac=..., ip=..., port=... or first)",
			        options->in[i].path);
		error = split_parse(options->split, &intake->splits[i], problem);
		if (!error)
			error = check_split(intake, i, problem);
		if (error)
			return error;
	}
	return 0;
}

/* Returns true if the split rule matches. In a frame of another link than Ethernet, the sender is
 * not where Ethernet has it. */
static bool comes_in_first(struct intake *intake, const struct capture_frame *frame, uint32_t from)
{
	struct split *split = &intake->splits[from];

	if (!link_layer_is_ethernet(intake->link_layer) &&
	    (split->kind == SPLIT_MAC || split->kind == SPLIT_FIRST))
		return frame->sender && split_matches_sender(split, frame->sender);
	return split_matches(split, frame->data, frame->bytes);
}

static __attribute__((noinline)) uint32_t split_port(struct intake *intake)
{
	const struct replay_file *file = &intake->options->in[intake->ahead_from];
	bool other = !comes_in_first(intake, intake->ahead, intake->ahead_from);

	intake->split_packets[intake->ahead_from][other]++;
	return other ? file->second : file->port;
}

static inline void look_ahead(struct intake *intake)
{
	const struct replay_file *file;

	intake->ahead = capture_merge_next(&intake->merge, &intake->ahead_from);
	file = &intake->options->in[intake->ahead_from];
	if (unlikely(file->second != REPLAY_NO_PORT) && intake->ahead)
		intake->ahead_port = split_port(intake);
	else
		intake->ahead_port = file->port;
}

int intake_open(struct intake *intake, const struct replay_options *options, uint32_t n_ports,
                struct io_thread *io_thread, struct problem *problem)
{
	const struct mbuf_supply_plan plan = {
	        .memory_bytes = options->memory_bytes ? options->memory_bytes : REPLAY_MEMORY,
	        .outlets = n_ports,
	        .ops = options->mempool_ops,
	};
	int error;

	intake->options = options;
	if (options->n_in == 0 || options->n_in > REPLAY_FILES_MAX)
		return problem_set(problem, -1, "there must be 1 to %d captures, not %" PRIu32,
		                   REPLAY_FILES_MAX, options->n_in);
	error = open_captures(intake, io_thread, problem);
	if (error)
		return error;
	error = mbuf_supply_open(&intake->supply, &plan, problem);
	if (error)
		return error;
	intake->pool = intake->supply.pool;
	error = capture_merge_start(&intake->merge, intake->captures, options->n_in);
	if (error)
		problem_set(problem, -1, "no memory to merge captures");
	else
		look_ahead(intake);
	return error;
}

void intake_close(struct intake *intake)
{
	mbuf_supply_return(&intake->supply);
	intake->ahead = NULL;
	capture_merge_stop(&intake->merge);
	for (uint32_t i = 0; i < REPLAY_FILES_MAX; i++) {
		capture_close(intake->captures[i]);
		intake->captures[i] = NULL;
	}
}

void intake_free(struct intake *intake)
{
	link_layer_free(intake->link_layer);
	intake->link_layer = NULL;
	mbuf_supply_close(&intake->supply);
	intake->pool = NULL;
}

simtime intake_next_ns(const struct intake *intake)
{
	return intake->ahead ? intake->ahead->t_ns : SIMTIME_NEVER;
}

int intake_read(struct intake *intake, struct burst *burst, uint32_t n, struct problem *problem)
{
	const struct capture_frame *frame;

	burst_open(burst, intake->ahead_port, intake->numbers[intake->ahead_port] + 1);
	while (burst->n < n && (frame = intake->ahead) && intake->ahead_port == burst->port) {
		struct rte_mbuf *mbuf =
		        mbuf_supply_frame(&intake->supply, frame->data, frame->bytes, problem);

		if (unlikely(!mbuf)) {
			rte_pktmbuf_free_bulk(burst->mbuf, burst->n);
			return -ENOMEM;
		}
		burst_put(burst, mbuf, frame->t_ns, frame->wire_bytes);
		look_ahead(intake);
	}
	intake->numbers[burst->port] += burst->n;
	return burst->n;
}

/* Adds what is to be said about a capture to the texts of its port. */
static void report_text(char *text, size_t room, const struct replay_file *file, const char *said)
{
	const size_t at = strlen(text);

	if (said[0])
		snprintf(text + at, room - at, "%s%s: %s", at > 0 ? "; " : "", file->path, said);
}

static void report_capture(const struct replay_file *file, const struct capture *capture,
                           struct replay_port_report *report)
{
	const struct frame_order_counts *order = capture_order_counts(capture);
	char said[REPLAY_TEXT_BYTES];
	const char *other;

	report->truncated += capture_counts(capture)->truncated;
	report->clock_back += order->back;
	report->clock_back_max_ns = simtime_max(report->clock_back_max_ns, order->back_max_ns);
	report->sorted += order->sorted;
	report->late += order->late;
	report->wrong_stamps += order->wrong;
	report->clock_set_back += order->set_back;
	report->no_time += order->timeless;
	report->other_link += capture_other_link(capture, &other);
	if (capture_other_link(capture, &other) > 0)
		report_text(report->other_links, sizeof(report->other_links), file, other);
	if (capture_say_order(capture, said, sizeof(said)))
		report_text(report->stamps, sizeof(report->stamps), file, said);
	report_text(report->damage, sizeof(report->damage), file, capture_damage(capture));
}

int intake_check(const struct intake *intake, struct problem *problem)
{
	for (uint32_t i = 0; i < intake->options->n_in; i++) {
		int error = capture_error(intake->captures[i]);

		if (capture_refused(intake->captures[i])[0])
			return problem_set(problem, -1, "%s: %s", intake->options->in[i].path,
			                   capture_refused(intake->captures[i]));
		if (error == 0)
			continue;
		problem_set(problem, -1, "%s: cannot be read any further: %s",
		            intake->options->in[i].path, strerror(error));
		return -EIO;
	}
	return 0;
}

void intake_report(const struct intake *intake, struct replay_result *result)
{
	for (uint32_t i = 0; i < intake->options->n_in; i++) {
		const struct replay_file *file = &intake->options->in[i];
		report_capture(file, intake->captures[i], &result->ports[file->port]);
		if (file->second == REPLAY_NO_PORT)
			continue;
		result->splits[result->n_splits++] = (struct replay_split){
		        .rule = intake->options->split,
		        .path = file->path,
		        .ports = {file->port, file->second},
		        .packets = {intake->split_packets[i][0], intake->split_packets[i][1]},
		};
	}
}

uint64_t intake_done_bytes(const struct intake *intake)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < intake->options->n_in; i++)
		sum += capture_done_bytes(intake->captures[i]);
	return sum;
}

uint64_t intake_all_bytes(const struct intake *intake)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < intake->options->n_in; i++)
		sum += capture_all_bytes(intake->captures[i]);
	return sum;
}

#define ADDRESS_BYTES 12 /* both addresses, at the beginning of a frame */

/* The subject of a message. */
struct place {
	const char *cloud, *what;
	struct problem *problem;
};

static int refuse(const struct place *place, const char *statement, const char *words)
{
	return problem_set(
	        place->problem, -1,
	        "cloud `%s`: `%s %.80s` is about Ethernet addresses, and %s has none; match "
	        "and rewrite what is in IP and above",
	        place->cloud, statement, words, place->what);
}

static int check_match(const struct place *place, const char *words)
{
	struct match match;

	if (!words || match_parse(words, &match) || !filter_reads(words, 0, ADDRESS_BYTES))
		return 0;
	return refuse(place, "match", words);
}

static bool reads_addresses(const struct rewrite_place *place)
{
	return place->width > 0 && place->layer == LAYER_FRAME && place->offset < ADDRESS_BYTES;
}

static int check_rewrite(const struct place *place, const char *words)
{
	struct rewrite_rule *rule;
	int error = rewrite_rule_make(words, &rule, place->problem);

	if (error)
		return error;
	for (uint16_t i = 0; i < rule->n_steps && !error; i++) {
		if (reads_addresses(&rule->step[i].place) || reads_addresses(&rule->step[i].source))
			error = refuse(place, "rewrite", words);
	}
	free(rule);
	return error;
}

static int check_conf(const struct place *place, const struct conf *conf);

static int check_orders(const struct place *place, const struct orders *orders)
{
	int error = 0;

	for (uint32_t i = 0; i < orders->n && !error; i++) {
		if (orders->order[i].conf)
			error = check_conf(place, orders->order[i].conf);
	}
	return error;
}

/* Checks a statement, and the statements inside it. */
static int check_conf(const struct place *place, const struct conf *conf)
{
	const struct field *field = conf->statement->fields;
	int error = 0;

	if (conf->statement == &class_statement)
		error = check_match(place, ((const struct class_conf *)conf)->match);
	if (conf->statement == &rewrite_statement)
		error = check_rewrite(place, ((const struct rewrite_conf *)conf)->rule);
	for (; field->name && !error; field++) {
		const void *value = (const char *)conf + field->offset;
		const struct states *states = value;

		if (field->type == FIELD_ORDERS)
			error = check_orders(place, value);
		for (uint32_t i = 0; field->type == FIELD_STATES && i < states->n && !error; i++)
			error = check_orders(place, &states->state[i].orders);
	}
	return error;
}

int link_fields_check(const struct scenario *scenario, const char *what, struct problem *problem)
{
	int error = 0;

	for (uint32_t i = 0; i < scenario->n_clouds && !error; i++) {
		const struct cloud_conf *cloud = scenario->clouds[i];
		const struct place place = {cloud->name, what, problem};

		if (cloud->selection)
			error = check_match(&place, selection_filter(selection_of(cloud)));
		for (uint32_t k = 0; k < cloud->n_confs && !error; k++)
			error = check_conf(&place, cloud->confs[k]);
	}
	return error;
}
