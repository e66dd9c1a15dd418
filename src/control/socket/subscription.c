/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket/subscription.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "service/event_log.h"
#include "stream/sampler.h"
#include "text/language_error.h"
#include "text/value.h"

static void wrong(struct output *output, const char *name, const char *code, uint32_t column,
                  const char *message)
{
	answer_error(output,
	             &(struct answer_error){
	                     .name = name, .code = code, .column = column, .message = message});
}

static bool word_is(const struct words *words, uint32_t at, const char *text)
{
	return at < words->n && !words->word[at].quoted && strcmp(words->word[at].text, text) == 0;
}

/* ---- events ---- */

/* The numbers of the oldest event that is kept, and of the next one to come; 0: there is no log. */
struct kept {
	uint64_t first, next;
};

static struct kept kept_of(struct control *control)
{
	struct kept kept = {0, 0};

	if (control->events == NULL)
		return kept;
	pthread_mutex_lock(&control->events_lock);
	kept.first = event_log_first(control->events);
	kept.next = event_log_next(control->events);
	pthread_mutex_unlock(&control->events_lock);
	return kept;
}

static void no_such_event(const struct kept *kept, struct output *output, uint64_t number)
{
	uint64_t first = kept->first, next = kept->next;
	char message[240];
	bool gone = number < first;

	if (gone)
		snprintf(message, sizeof(message),
		         "event %" PRIu64 " is gone: weir keeps only the latest events; resume "
		         "with `events from %" PRIu64 "`",
		         number, first);
	else
		snprintf(message, sizeof(message),
		         "event %" PRIu64 " is ahead of this run, whose next event is %" PRIu64
		         ": was weir restarted? say `events from %" PRIu64 "`",
		         number, next, first);
	answer_error(output, &(struct answer_error){.name = "events",
	                                            .code = gone ? "gone" : "ahead",
	                                            .message = message,
	                                            .resume = first});
}

/* Determines the first event. If that is impossible, answers an error and returns false. */
static bool events_from(struct control *control, const struct words *words, struct output *output,
                        uint64_t *from)
{
	const struct kept kept = kept_of(control);
	struct language_error error = {.column = 0};

	*from = kept.next;
	if (words->n == 1)
		return true;
	if (words->n != 3 || !word_is(words, 1, "from")) {
		wrong(output, "events", ERROR_UNKNOWN_WORD,
		      words->word[words->n > 3 ? 3 : 1].column,
		      "write `events`, `events from SEQ`, `events from oldest` or `events off`");
		return false;
	}
	if (word_is(words, 2, "oldest")) {
		*from = kept.first;
		return true;
	}
	if (value_parse_count(words->word[2].text, 0, INT64_MAX, "event", from, &error) != 0) {
		wrong(output, "events", error.name, words->word[2].column, error.text);
		return false;
	}
	if (*from >= kept.first && *from <= kept.next)
		return true;
	no_such_event(&kept, output, *from);
	return false;
}

/* Begins or ends to be woken at each event. */
static bool listen_to(struct control *control, int wake, bool listens)
{
	int result = 0;

	if (wake < 0 || control->events == NULL)
		return true;
	pthread_mutex_lock(&control->events_lock);
	if (listens)
		result = event_log_listen(control->events, wake);
	else
		event_log_ignore(control->events, wake);
	pthread_mutex_unlock(&control->events_lock);
	return result == 0;
}

void subscription_events(struct subscription *subscription, struct control *control,
                         const struct words *words, struct output *output, int wake)
{
	char text[120];
	uint64_t from;
	int n;

	if (words->n == 2 && word_is(words, 1, "off")) {
		subscription->events = false;
		listen_to(control, wake, false);
		answer_ok(output);
		return;
	}
	if (control->events == NULL) {
		wrong(output, "events", ERROR_NO_MEMORY, 0,
		      "there was no memory to keep events when weir was started");
		return;
	}
	if (!events_from(control, words, output, &from))
		return;
	if (!listen_to(control, wake, true)) {
		wrong(output, "events", ERROR_FULL, 0, "too many clients have asked for events");
		return;
	}
	subscription->events = true;
	subscription->next = from;
	n = snprintf(text, sizeof(text), "events from %" PRIu64 " of run %s\n", from, control->run);
	if (output->json)
		answer_object(output, json_pack("{s:b,s:s,s:I}", "ok", 1, "run", control->run,
		                                "from", (json_int_t)from));
	else
		answer_text(output, "events", text, (size_t)n);
}

/* ---- samples ---- */

static bool sample_words(const struct words *words, struct output *output, simtime *interval_ns,
                         uint64_t *rows)
{
	const struct field field = {.name = "interval",
	                            .type = FIELD_TIME,
	                            .min = SAMPLER_LEAST_NS,
	                            .max = SAMPLER_MOST_NS};
	struct language_error error = {.column = 0};
	uint32_t column = 0;
	int result = 0;

	*rows = SAMPLER_ROWS;
	if (words->n != 2 && !(words->n == 4 && word_is(words, 2, "clouds"))) {
		wrong(output, "sample", ERROR_UNKNOWN_WORD,
		      words->n > 2 ? words->word[2].column : 0,
		      "write `sample 1s`, `sample 1s clouds 20`, or `sample off`");
		return false;
	}
	result = value_parse(&field, words->word[1].text, interval_ns, &error);
	column = words->word[1].column;
	if (result == 0 && words->n == 4) {
		result = value_parse_count(words->word[3].text, 1, SAMPLER_ROWS_MOST, "clouds",
		                           rows, &error);
		column = words->word[3].column;
	}
	if (result != 0)
		wrong(output, "sample", error.name, column, error.text);
	return result == 0;
}

void subscription_sample(struct subscription *subscription, struct control *control,
                         const struct words *words, struct output *output)
{
	simtime interval_ns;
	uint64_t rows;

	if (words->n != 2 || !word_is(words, 1, "off")) {
		struct sampler *sampler;

		if (!sample_words(words, output, &interval_ns, &rows))
			return;
		sampler = sampler_make(interval_ns, (uint32_t)rows,
		                       control->ops->now_ns(control->context));
		if (sampler == NULL) {
			wrong(output, "sample", ERROR_NO_MEMORY, 0, "no memory for samples");
			return;
		}
		sampler_free(subscription->sampler);
		subscription->sampler = sampler;
	} else {
		sampler_free(subscription->sampler);
		subscription->sampler = NULL;
	}
	answer_ok(output);
}

/* ---- pushing ---- */

void subscription_end(struct subscription *subscription, struct control *control, int wake)
{
	if (subscription->events)
		listen_to(control, wake, false);
	sampler_free(subscription->sampler);
	*subscription = (struct subscription){.events = false};
}

bool subscription_is_on(const struct subscription *subscription)
{
	return subscription->events || subscription->sampler != NULL;
}

void subscription_poll(struct subscription *subscription, struct control *control)
{
	if (subscription->sampler != NULL)
		sampler_step(subscription->sampler, control,
		             control->ops->now_ns(control->context));
}

uint64_t subscription_next_ns(const struct subscription *subscription)
{
	return subscription->sampler != NULL ? sampler_next_ns(subscription->sampler) : UINT64_MAX;
}

bool subscription_wants(const struct subscription *subscription, struct control *control)
{
	return (subscription->events && subscription->next < kept_of(control).next) ||
	       (subscription->sampler != NULL && sampler_ready(subscription->sampler));
}

bool subscription_has_lost(const struct subscription *subscription, struct control *control)
{
	return subscription->events && subscription->next < kept_of(control).first;
}

uint64_t subscription_resume(const struct subscription *subscription, struct control *control)
{
	uint64_t first = kept_of(control).first;

	if (!subscription->events)
		return 0;
	return subscription->next < first ? first : subscription->next;
}

static void push_events(struct subscription *subscription, struct control *control,
                        struct output *output)
{
	const char *json, *text;
	size_t before = output->n;

	pthread_mutex_lock(&control->events_lock);
	while (output->n - before < SUBSCRIPTION_AT_ONCE && !output->failed &&
	       event_log_get(control->events, subscription->next, &json, &text)) {
		const char *line = output->json ? json : text;

		output_append(output, line, strlen(line));
		output_append(output, "\n", 1);
		subscription->next++;
	}
	pthread_mutex_unlock(&control->events_lock);
}

void subscription_push(struct subscription *subscription, struct control *control,
                       struct output *output)
{
	if (subscription->events)
		push_events(subscription, control, output);
	if (subscription->sampler != NULL && sampler_ready(subscription->sampler))
		sampler_put(subscription->sampler, output);
}
