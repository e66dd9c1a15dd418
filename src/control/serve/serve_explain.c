/* SPDX-License-Identifier: BSD-3-Clause */
#include "serve/serve_http.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/fate_ring.h"
#include "ctl/ctl_link.h"
#include "explain/explainer.h"
#include "explain/explanation.h"
#include "fates/capture_words.h"
#include "text/alloc_failure.h"

#define MEMORY_BYTES (UINT64_C(32) << 20)
#define PACE_MS      20
#define PATIENCE_S   5

/* What the thread has while it looks. */
struct look {
	struct serve_explain *explain;
	struct explainer *explainer;
	struct explanation_of of;
	struct ctl_link link;
	void *memory;
};

void serve_explain_init(struct serve_explain *explain, const char *path)
{
	*explain = (struct serve_explain){.path = path};
	pthread_mutex_init(&explain->asking, NULL);
	pthread_mutex_init(&explain->lock, NULL);
}

/* ---- the thread ---- */

static void say(struct serve_explain *explain, const char *why)
{
	pthread_mutex_lock(&explain->lock);
	snprintf(explain->why, sizeof(explain->why), "%s", why);
	pthread_mutex_unlock(&explain->lock);
}

static bool is_over(struct serve_explain *explain)
{
	bool over;

	pthread_mutex_lock(&explain->lock);
	explain->over |= explain->asked_ms + SERVE_EXPLAIN_IDLE_MS < serve_now_ms();
	over = explain->over;
	pthread_mutex_unlock(&explain->lock);
	return over;
}

static json_t *words_json(const struct verdict *verdict, const struct explanation_of *of)
{
	struct printed text;
	json_t *json;

	verdict_print(verdict, of, printed_begin(&text));
	json = printed_end(&text) != NULL ? json_string(text.bytes) : NULL;
	free(text.bytes);
	return json;
}

static void keep(void *argument, struct verdict *verdict)
{
	struct look *look = argument;
	struct serve_explain *explain = look->explain;
	json_t *json = verdict_json(verdict, &look->of);
	char *text;

	json_object_set_new(json, "text", words_json(verdict, &look->of));
	text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	json_decref(json);
	verdict_free(verdict);
	if (!text)
		return;
	pthread_mutex_lock(&explain->lock);
	free(explain->kept[explain->n % SERVE_EXPLAIN_KEPT]);
	explain->kept[explain->n++ % SERVE_EXPLAIN_KEPT] = text;
	pthread_mutex_unlock(&explain->lock);
}

/* Asks weir for the fates of all packets. Returns false if it does not give them; it was said. */
static bool begin(struct look *look, int fd)
{
	static const struct capture_words all = {
	        .target = CAPTURE_ALL, .explains = true, .snap = FATE_SNAP_MAX};
	struct ctl_answer answer;
	struct problem problem;
	char line[CAPTURE_LINE_BYTES];
	bool ok;

	if (ctl_link_open(&look->link, look->explain->path, PATIENCE_S, &problem) < 0) {
		say(look->explain, problem.text);
		return false;
	}
	capture_words_line(&all, line, sizeof(line));
	if (ctl_link_ask_with(&look->link, line, fd, &answer) != 0) {
		say(look->explain, "weir does not answer");
		return false;
	}
	ok = answer.ok;
	if (!ok)
		say(look->explain, answer.error);
	ctl_answer_release(&answer);
	return ok;
}

static void run(struct look *look)
{
	const struct fate_memory *memory = look->memory;
	struct pollfd polled = {.fd = look->link.fd, .events = POLLIN};
	struct problem problem;
	int n = 0;

	look->of.n_ports =
	        memory->n_ports < SCENARIO_PORTS_MAX ? memory->n_ports : SCENARIO_PORTS_MAX;
	look->of.ports = memory->ports;
	while (n >= 0 && !is_over(look->explain)) {
		n = fate_reader_empty(look->memory, MEMORY_BYTES, explainer_take, look->explainer);
		explainer_step(look->explainer, fate_reader_settled(look->memory));
		/* weir says nothing, unless it ends. */
		if (n == 0 && poll(&polled, 1, PACE_MS) > 0)
			break;
	}
	problem.text[0] = '\0';
	if (n < 0)
		fate_reader_why(look->memory, &problem);
	say(look->explain, problem.text);
}

static void *look(void *argument)
{
	struct look own = {.explain = argument, .link = {.fd = -1}};
	int fd = fate_reader_make(MEMORY_BYTES, &own.memory);

	own.explainer = explainer_make(false, keep, &own);
	if (fd < 0 || !own.explainer)
		say(own.explain, "no memory to look at packets");
	else if (begin(&own, fd))
		run(&own);
	ctl_link_close(&own.link);
	explainer_free(own.explainer);
	if (fd >= 0) {
		close(fd);
		munmap(own.memory, MEMORY_BYTES);
	}
	pthread_mutex_lock(&own.explain->lock);
	own.explain->over = true;
	pthread_mutex_unlock(&own.explain->lock);
	return NULL;
}

/* ---- those who ask ---- */

/* Ends the thread, if there is one. With `asking`. */
static void join(struct serve_explain *explain)
{
	if (explain->begun)
		pthread_join(explain->thread, NULL);
	explain->begun = false;
	pthread_mutex_lock(&explain->lock);
	for (uint32_t i = 0; i < SERVE_EXPLAIN_KEPT; i++) {
		free(explain->kept[i]);
		explain->kept[i] = NULL;
	}
	explain->n = 0;
	explain->why[0] = '\0';
	explain->over = false;
	pthread_mutex_unlock(&explain->lock);
}

char *serve_explain_text(struct serve_explain *explain)
{
	struct printed text;
	FILE *out = printed_begin(&text);
	json_t *why;

	/* What it could not do is said once; then it tries again. */
	pthread_mutex_lock(&explain->asking);
	pthread_mutex_lock(&explain->lock);
	why = json_string(explain->why);
	explain->asked_ms = serve_now_ms();
	explain->over |= !explain->begun;
	pthread_mutex_unlock(&explain->lock);
	if (is_over(explain)) {
		join(explain);
		explain->begun = pthread_create(&explain->thread, NULL, look, explain) == 0;
	}
	pthread_mutex_unlock(&explain->asking);
	pthread_mutex_lock(&explain->lock);
	fprintf(out, "{\"n\":%llu,\"why\":", (unsigned long long)explain->n);
	json_dumpf(why, out, JSON_ENCODE_ANY);
	fputs(",\"connections\":[", out);
	for (uint64_t i = explain->n; i > 0 && i + SERVE_EXPLAIN_KEPT > explain->n; i--)
		fprintf(out, "%s%s", i < explain->n ? ",\n" : "\n",
		        explain->kept[(i - 1) % SERVE_EXPLAIN_KEPT]);
	pthread_mutex_unlock(&explain->lock);
	json_decref(why);
	fputs("]}\n", out);
	return printed_end(&text);
}

void serve_explain_end(struct serve_explain *explain)
{
	pthread_mutex_lock(&explain->lock);
	explain->over = true;
	pthread_mutex_unlock(&explain->lock);
	join(explain);
	pthread_mutex_destroy(&explain->lock);
	pthread_mutex_destroy(&explain->asking);
}
