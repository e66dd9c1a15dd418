/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `probe CLOUD [to ADDRESS] [within TIME]`: queries the routers of a path now, and prints their
 * answers.
 *
 * The cloud has `feedback proxy insert`, whose words select the queries. A cloud behind it has
 * `feedback proxy strip` of the same protocol, which reads the answers; feedback_probe.h has the
 * packets. The command is answered when all packets have come out at the strip, or when `within`
 * has passed. One probe at a time.
 *
 *   text   the table of `show path`, of the routers that have answered these requests, and a line
 *          that says how many of the requests came through
 *   JSON   {"ok":true,"cloud":NAME,"strip":NAME,"asked":N,"arrived":N,"path":[...]}
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/engine_report.h"
#include "header/feedback_probe.h"
#include "show/show.h"
#include "socket/session_state.h"
#include "text/alloc_failure.h"
#include "text/value.h"

#define LOOK_NS (5 * SIMTIME_MS) /* between two looks whether all have come */

/* A probe that is under way. */
struct probe {
	struct commit commit; /* must be first: begin */
	const struct words *words;
	bool has_right; /* to probe */
	bool six, to;   /* to: an address is given */
	uint8_t address[16];
	uint64_t within_ns, deadline_ns;
	char cloud[SCENARIO_NAME_BYTES], strip[SCENARIO_NAME_BYTES];
	uint32_t asked;
	uint64_t ended_before; /* requests that had come out at the strip */
	uint64_t heard_before; /* the latest instant that the strip had observed */
};

static const struct field within_field = {.name = "within",
                                          .type = FIELD_TIME,
                                          .offset = offsetof(struct probe, within_ns),
                                          .min = SIMTIME_MS,
                                          .max = 50 * SIMTIME_S,
                                          .initial = SIMTIME_S,
                                          .help = "how long to wait for the answers"};

/* ---- sending the requests ---- */

static int parse(struct probe *probe, struct language_error *error)
{
	const struct word *word = &probe->words->word[2];
	const struct word *end = &probe->words->word[probe->words->n];

	probe->within_ns = within_field.initial;
	if (word + 1 < end && strcmp(word[0].text, "to") == 0) {
		const char *to = word[1].text;

		probe->to = true;
		probe->six = strchr(to, ':') != NULL;
		error->column = word[1].column;
		if (inet_pton(probe->six ? AF_INET6 : AF_INET, to, probe->address) != 1)
			return language_error_set(
			        error, ERROR_BAD_VALUE,
			        "`%.*s` is not an address; write one like 192.0.2.1 or 2001:db8::1",
			        language_error_shown(to), to);
		word += 2;
	}
	if (word + 1 >= end)
		return 0;
	error->column = word[1].column;
	return value_parse(&within_field, word[1].text, probe, error);
}

static const struct feedback_proxy_conf *proxy_of(const struct cloud_conf *cloud,
                                                  enum proxy_job job)
{
	const struct conf *conf = cloud_conf_get(cloud, feedback_proxy_statement.name);
	const struct feedback_proxy_conf *proxy = (const struct feedback_proxy_conf *)conf;

	if (conf == NULL || conf->statement != &feedback_proxy_statement || proxy->job != job)
		return NULL;
	return proxy;
}

/* Returns true if packets of `first` may reach `cloud`. */
static bool comes_from(const struct scenario *scenario, const struct cloud_conf *cloud,
                       const struct cloud_conf *first)
{
	for (uint32_t i = 0; i < SCENARIO_CHAIN_MAX; i++) {
		int from = scenario_find_cloud(scenario, cloud->from);

		if (scenario_find_port(scenario, cloud->from) >= 0 || from < 0)
			return false;
		cloud = scenario->clouds[from];
		if (cloud == first)
			return true;
	}
	return false;
}

/* Returns the first cloud behind `cloud` that strips requests of `protocol`; NULL if there is
 * none. */
static const struct cloud_conf *strip_behind(const struct scenario *scenario,
                                             const struct cloud_conf *cloud, uint64_t protocol)
{
	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		const struct cloud_conf *other = scenario->clouds[i];
		const struct feedback_proxy_conf *strip = proxy_of(other, PROXY_STRIP);

		if (strip != NULL && strip->protocol == protocol &&
		    comes_from(scenario, other, cloud))
			return other;
	}
	return NULL;
}

/* Finds the clouds that send the requests and read the answers. */
static int find(struct probe *probe, const struct feedback_proxy_conf **insert,
                struct language_error *error)
{
	const struct scenario *scenario = *probe->commit.control->scenario;
	const struct word *word = &probe->words->word[1];
	int index = scenario_find_cloud(scenario, word->text);
	const struct cloud_conf *cloud, *strip;

	if (index < 0)
		return language_unknown_cloud(scenario, word, error);
	cloud = scenario->clouds[index];
	*insert = proxy_of(cloud, PROXY_INSERT);
	error->column = word->column;
	if (*insert == NULL)
		return language_error_set(error, ERROR_CONFLICT,
		                          "cloud `%s` sends no requests to routers; write: cloud "
		                          "%s feedback proxy insert",
		                          cloud->name, cloud->name);
	strip = strip_behind(scenario, cloud, (*insert)->protocol);
	if (strip == NULL)
		return language_error_set(error, ERROR_CONFLICT,
		                          "no cloud behind `%s` strips its requests, so they would "
		                          "leave weir; write `feedback proxy strip`, of the same "
		                          "protocol, for one that comes from `%s`",
		                          cloud->name, cloud->name);
	error->column = 0;
	strcpy(probe->cloud, cloud->name);
	strcpy(probe->strip, strip->name);
	return 0;
}

/* Reads the report of the strip. Returns false if that cloud is gone. */
static bool look(const struct probe *probe, struct cloud_report *report)
{
	struct control *control = probe->commit.control;

	memset(report, 0, sizeof(*report));
	return control->ops->cloud(control->context, probe->strip, report);
}

/* Makes the transaction that sends the requests. */
static int send_requests(struct probe *probe, const struct feedback_proxy_conf *insert,
                         struct transaction **transaction, struct language_error *error)
{
	struct control *control = probe->commit.control;
	struct cloud_report *report = malloc(sizeof(*report));
	struct feedback_probe *made = malloc(sizeof(*made));
	struct insertion insertion = {.cloud = probe->cloud};
	struct problem problem = {.field = -1};
	int result = -ENOMEM;

	if (report == NULL || made == NULL) {
		language_error_set(error, ERROR_NO_MEMORY, "no memory for the requests");
		goto out;
	}
	look(probe, report);
	probe->ended_before = report->counters.drops[REASON_PROBE];
	probe->heard_before = report->observed.now_ns;
	probe->deadline_ns = control_now_ns(control) + probe->within_ns;
	feedback_probe_make(made, insert, probe->six, probe->to ? probe->address : NULL);
	insertion.n = probe->asked = made->n;
	insertion.frame_bytes = made->frame_bytes;
	insertion.frames = made->frames;
	result = control->ops->insert(control->context, &insertion, transaction, &problem);
	if (result != 0)
		language_error_set(error, ERROR_CONFLICT, "%s", problem.text);
out:
	free(report);
	free(made);
	return result;
}

static int begin(struct commit *commit, struct transaction **transaction)
{
	struct probe *probe = (struct probe *)commit;
	const struct feedback_proxy_conf *insert = NULL;
	struct language_error wrong = {.column = 0};
	int result = parse(probe, &wrong);

	if (result == 0)
		result = find(probe, &insert, &wrong);
	if (result == 0) {
		control_lock(commit->control);
		probe->has_right = !commit->control->probing;
		commit->control->probing = true;
		control_unlock(commit->control);
		if (!probe->has_right)
			result = language_error_set(
			        &wrong, ERROR_CONFLICT,
			        "another probe is under way; try again when it is over");
	}
	if (result == 0)
		result = send_requests(probe, insert, transaction, &wrong);
	if (result != 0)
		batch_error_language(&commit->error, commit->line, &wrong);
	return result;
}

/* ---- the answers ---- */

static uint32_t arrived(const struct probe *probe, const struct cloud_report *report)
{
	uint64_t ended = report->counters.drops[REASON_PROBE];

	/* If the counter is less than before, the counters were cleared. */
	if (ended >= probe->ended_before)
		ended -= probe->ended_before;
	return ended < probe->asked ? (uint32_t)ended : probe->asked;
}

static void answer_as_text(const struct probe *probe, const struct observed *observed,
                           uint32_t came, struct output *output)
{
	struct printed text;
	FILE *out = printed_begin(&text);
	char within[48];

	if (observed->n_hops == 0)
		fprintf(out, "no router has answered\n");
	else
		show_path_table(out, observed);
	value_print_number(FIELD_TIME, probe->within_ns, within, sizeof(within));
	fprintf(out, "%u requests entered cloud %s, ", probe->asked, probe->cloud);
	if (came == probe->asked)
		fprintf(out, "and all came out at cloud %s\n", probe->strip);
	else
		fprintf(out,
		        "%u came out at cloud %s within %s: the others are lost, or still under "
		        "way\n",
		        came, probe->strip, within);
	answer_printed(output, "probe", &text);
}

/* Waits until all requests have come out, or the time is up. Returns whether the strip is still
 * there; or -ECANCELED. */
static int await(const struct probe *probe, struct cloud_report *report)
{
	struct control *control = probe->commit.control;

	control_lock(control);
	control_settle(control);
	control_unlock(control);
	for (;;) {
		bool there, waits;

		if (!control_look_wait(control, probe->commit.asker))
			return -ECANCELED;
		there = look(probe, report);
		control_look_end(control);
		if (!there || arrived(probe, report) == probe->asked ||
		    control_now_ns(control) >= probe->deadline_ns)
			return there;
		control_lock(control);
		waits = control_wait(control, probe->commit.asker, LOOK_NS);
		control_unlock(control);
		if (!waits)
			return -ECANCELED;
	}
}

static void answer(struct session *session, const struct probe *probe, struct cloud_report *report)
{
	uint32_t came = arrived(probe, report);
	uint32_t kept = 0;

	/* Removes answers that precede the probe. */
	for (uint32_t i = 0; i < report->observed.n_hops; i++) {
		struct observed_hop hop = report->observed.hops[i];
		bool heard = false;

		for (int k = 0; k < OBSERVED_PROBES; k++) {
			hop.probe[k].heard &= hop.probe[k].at_ns > probe->heard_before;
			heard |= hop.probe[k].heard;
		}
		if (heard)
			report->observed.hops[kept++] = hop;
	}
	report->observed.n_hops = kept;
	if (session->output.json)
		answer_object(&session->output,
		              json_pack("{s:b,s:s,s:s,s:i,s:i,s:o}", "ok", 1, "cloud", probe->cloud,
		                        "strip", probe->strip, "asked", (int)probe->asked,
		                        "arrived", (int)came, "path",
		                        json_path(&report->observed)));
	else
		answer_as_text(probe, &report->observed, came, &session->output);
}

void session_probe(struct session *session, const struct command *command)
{
	struct probe probe = {.commit = {.control = session->control,
	                                 .asker = &session->asker,
	                                 .line = session->line},
	                      .words = &command->words};
	struct cloud_report *report = alloc_failure_calloc(sizeof(*report));
	int result = report != NULL ? commit_run(&probe.commit, begin, NULL) : 0;

	if (result != 0 && result != -ECANCELED)
		session_batch_error(session, &probe.commit.error);
	else if (result == 0 && report != NULL)
		result = await(&probe, report);
	if (result == -ECANCELED)
		session->over = true;
	else if (probe.commit.number != 0 && result == 0)
		session_error(session, probe.strip, ERROR_CONFLICT,
		              "the cloud was removed while routers were asked; probe again");
	else if (probe.commit.number != 0 && probe.commit.late[0] != '\0')
		session_error(session, probe.cloud, ERROR_CONFLICT,
		              "a worker stands still, so the requests are not sent yet: see show "
		              "workers; probe again when it runs again");
	else if (probe.commit.number != 0)
		answer(session, &probe, report);
	free(report);
	if (probe.has_right) {
		control_lock(session->control);
		session->control->probing = false;
		control_unlock(session->control);
	}
	commit_release(&probe.commit);
}
