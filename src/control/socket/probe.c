/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "engine/engine_report.h"
#include "header/feedback_probe.h"
#include "language/language.h"
#include "show/show_feedback.h"
#include "socket/commit.h"
#include "text/value.h"

#define LOOK_NS (5 * SIMTIME_MS) /* between two looks whether all have come */

/* Words of `probe CLOUD [to ADDRESS] [within TIME]`. */
enum { WORD_CLOUD = 1, WORD_KEY = 2 };

struct request {
	const char *to; /* or NULL */
	bool six;
	uint8_t address[16];
	uint64_t within_ns;
};

/* A probe that is under way. */
struct probe {
	struct commit commit; /* must be first: begin */
	const struct words *words;
	bool has_right; /* to probe */
	char cloud[SCENARIO_NAME_BYTES], strip[SCENARIO_NAME_BYTES];
	uint32_t asked;
	uint64_t ended_before; /* requests that had come out at the strip */
	uint64_t heard_before; /* the latest instant that the strip had observed */
	uint64_t within_ns, deadline_ns;
};

static const struct field within_field = {.name = "within",
                                          .type = FIELD_TIME,
                                          .offset = offsetof(struct request, within_ns),
                                          .min = PROBE_WITHIN_MIN,
                                          .max = PROBE_WITHIN_MAX,
                                          .initial = PROBE_WITHIN_DEFAULT,
                                          .help = "how long to wait for the answers"};

static int parse(const struct words *words, struct request *request, struct language_error *error)
{
	const struct word *word = words->word;
	uint32_t at = WORD_KEY;

	*request = (struct request){.within_ns = PROBE_WITHIN_DEFAULT};
	if (at + 1 < words->n && strcmp(word[at].text, "to") == 0) {
		request->to = word[at + 1].text;
		request->six = strchr(request->to, ':') != NULL;
		error->column = word[at + 1].column;
		if (inet_pton(request->six ? AF_INET6 : AF_INET, request->to, request->address) !=
		    1)
			return language_error_set(
			        error, ERROR_BAD_VALUE,
			        "`%.*s` is not an address; write one like 192.0.2.1 or 2001:db8::1",
			        language_error_shown(request->to), request->to);
		at += 2;
	}
	if (at + 1 >= words->n)
		return 0;
	error->column = word[at + 1].column;
	return value_parse(&within_field, word[at + 1].text, request, error);
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

static int find(struct control *control, const struct words *words,
                const struct feedback_proxy_conf **insert, struct probe *probe,
                struct language_error *error)
{
	const struct scenario *scenario = *control->scenario;
	const struct word *word = &words->word[WORD_CLOUD];
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
	strcpy(probe->cloud, cloud->name);
	strcpy(probe->strip, strip->name);
	return 0;
}

/* Reads the report of the strip. Returns false if that cloud is gone. */
static bool look(struct control *control, const struct probe *probe, struct cloud_report *report)
{
	memset(report, 0, sizeof(*report));
	return control->ops->cloud(control->context, probe->strip, report);
}

static uint32_t arrived(const struct probe *probe, const struct cloud_report *report)
{
	uint64_t ended = report->counters.drops[REASON_PROBE];

	/* If the counter is less than before, the counters were cleared. */
	if (ended >= probe->ended_before)
		ended -= probe->ended_before;
	return ended < probe->asked ? (uint32_t)ended : probe->asked;
}

static int send_requests(struct control *control, const struct request *request,
                         const struct feedback_proxy_conf *insert, struct probe *probe,
                         struct transaction **transaction, struct language_error *error)
{
	struct feedback_probe *made = malloc(sizeof(*made));
	struct insertion insertion = {.cloud = probe->cloud};
	struct problem problem = {.field = -1};
	int result;

	if (made == NULL)
		return language_error_set(error, ERROR_NO_MEMORY, "no memory for the requests");
	feedback_probe_make(made, insert, request->six, request->to ? request->address : NULL);
	insertion.n = made->n;
	insertion.frame_bytes = made->frame_bytes;
	insertion.frames = made->frames;
	probe->asked = made->n;
	result = control->ops->insert(control->context, &insertion, transaction, &problem);
	free(made);
	if (result != 0)
		language_error_set(error, ERROR_CONFLICT, "%s", problem.text);
	return result;
}

/* Takes the right to probe, which one conversation has at a time. */
static bool take_right(struct probe *probe)
{
	struct control *control = probe->commit.control;

	control_lock(control);
	probe->has_right = !control->probing;
	control->probing = true;
	control_unlock(control);
	return probe->has_right;
}

static void release(struct probe *probe)
{
	struct control *control = probe->commit.control;

	if (probe->has_right) {
		control_lock(control);
		control->probing = false;
		control_unlock(control);
	}
	commit_release(&probe->commit);
}

/* Makes the transaction that sends the requests. */
static int make(struct probe *probe, struct transaction **transaction, struct language_error *error)
{
	struct control *control = probe->commit.control;
	const struct feedback_proxy_conf *insert = NULL;
	struct cloud_report *report;
	struct request request;
	int result = parse(probe->words, &request, error);

	if (result == 0)
		result = find(control, probe->words, &insert, probe, error);
	if (result != 0)
		return result;
	error->column = 0;
	if (!take_right(probe))
		return language_error_set(error, ERROR_CONFLICT,
		                          "another probe is under way; try again when it is over");
	report = malloc(sizeof(*report));
	if (report == NULL)
		return language_error_set(error, ERROR_NO_MEMORY, "no memory for the answer");
	look(control, probe, report);
	probe->ended_before = report->counters.drops[REASON_PROBE];
	probe->heard_before = report->observed.now_ns;
	free(report);
	probe->within_ns = request.within_ns;
	probe->deadline_ns = control->ops->now_ns(control->context) + request.within_ns;
	return send_requests(control, &request, insert, probe, transaction, error);
}

static int begin(struct commit *commit, struct transaction **transaction)
{
	struct language_error wrong = {.column = 0};
	int result = make((struct probe *)commit, transaction, &wrong);

	if (result != 0)
		batch_error_language(&commit->error, commit->line, &wrong);
	return result;
}

/* Removes answers that precede the probe. */
static void keep_new(struct observed *observed, uint64_t before_ns)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < observed->n_hops; i++) {
		struct observed_hop hop = observed->hops[i];
		bool heard = false;

		for (int k = 0; k < OBSERVED_PROBES; k++) {
			hop.probe[k].heard &= hop.probe[k].at_ns > before_ns;
			heard |= hop.probe[k].heard;
		}
		if (heard)
			observed->hops[kept++] = hop;
	}
	observed->n_hops = kept;
}

static void answer_as_text(const struct probe *probe, const struct observed *observed,
                           uint32_t came, struct output *output)
{
	char *text = NULL, within[48];
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	if (out == NULL) {
		answer_object(output, NULL);
		return;
	}
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
	if (fclose(out) == 0)
		answer_text(output, "probe", text, n);
	else
		answer_object(output, NULL);
	free(text);
}

static void answer(const struct probe *probe, struct cloud_report *report, struct output *output)
{
	uint32_t came = arrived(probe, report);

	keep_new(&report->observed, probe->heard_before);
	if (output->json)
		answer_object(output, json_pack("{s:b,s:s,s:s,s:i,s:i,s:o}", "ok", 1, "cloud",
		                                probe->cloud, "strip", probe->strip, "asked",
		                                (int)probe->asked, "arrived", (int)came, "path",
		                                json_path(&report->observed)));
	else
		answer_as_text(probe, &report->observed, came, output);
}

static void answer_wrong(const char *name, const char *message, struct output *output)
{
	answer_error(output, &(struct answer_error){
	                             .name = name, .code = ERROR_CONFLICT, .message = message});
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
		there = look(control, probe, report);
		control_look_end(control);
		if (!there || arrived(probe, report) == probe->asked ||
		    control->ops->now_ns(control->context) >= probe->deadline_ns)
			return there;
		control_lock(control);
		waits = control_wait(control, probe->commit.asker, LOOK_NS);
		control_unlock(control);
		if (!waits)
			return -ECANCELED;
	}
}

static int hear(const struct probe *probe, struct output *output)
{
	struct cloud_report *report = malloc(sizeof(*report));
	int result;

	if (report == NULL) {
		answer_object(output, NULL);
		return 0;
	}
	result = await(probe, report);
	if (result == 0)
		answer_wrong(probe->strip,
		             "the cloud was removed while routers were asked; probe again", output);
	else if (result > 0 && probe->commit.late[0] != '\0')
		answer_wrong(probe->cloud,
		             "a worker stands still, so the requests are not sent yet: see show "
		             "workers; probe again when it runs again",
		             output);
	else if (result > 0)
		answer(probe, report, output);
	free(report);
	return result < 0 ? result : 0;
}

int probe_line(struct control *control, const struct asker *asker, const char *line,
               const struct words *words, struct output *output, struct batch_error *error)
{
	struct probe probe = {.commit = {.control = control, .asker = asker, .line = line},
	                      .words = words};
	int result = commit_other(&probe.commit, begin);

	if (result == 0)
		result = hear(&probe, output);
	else
		*error = probe.commit.error;
	release(&probe);
	return result;
}
