/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/web.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/web_draw.h"

#define PORT_LAST 65000u

struct web_object {
	struct web *web;
	struct web_page *page;
	struct flow request, answer;
	int64_t packets;
	simtime begun_ns;
	bool answered;
	struct web_object *next;
};

struct web_page {
	struct web *web;
	struct web_session *session;
	struct timer timer; /* for its next object */
	uint32_t number, server;
	uint32_t objects, begun, finished;
	struct web_page *next;
};

struct web_session {
	struct web *web;
	struct timer timer; /* for its next page */
	uint32_t number, client, pages;
};

/* ---- objects ---- */

static void object_over(struct web_page *page, simtime now);

static struct heap *heap_of(const struct web *web)
{
	return &web->servers[0]->world->heap;
}

static void give_up(struct web *web, int error)
{
	struct world *world = web->servers[0]->world;

	/* At the end nothing is sent, so no port is needed. */
	if (error != -ENOSPC || !world->silent)
		world->error = error;
}

static void answer_over(void *argument, struct flow *flow, simtime now)
{
	struct web_object *object = argument;
	struct web *web = object->web;
	double delay_s = (double)(now - object->begun_ns) / SIMTIME_S;

	(void)flow;
	if (object->begun_ns >= web->mark_ns) {
		web->finished++;
		web->delays_s += delay_s;
		web->squares_s2 += delay_s * delay_s;
	}
	object_over(object->page, now);
}

static void request_over(void *argument, struct flow *flow, simtime now)
{
	struct web_object *object = argument;

	(void)flow;
	object->answered = true;
	flow_begin(&object->answer, now, object->packets);
}

static bool has_port(const struct host *host)
{
	return host->first_port + host->n_listeners < PORT_LAST;
}

static void object_begin(struct web_page *page, simtime now)
{
	struct web *web = page->web;
	const struct web_conf *conf = web->conf;
	struct host *server = web->servers[page->server];
	struct host *client = web->clients[page->session->client];
	uint64_t index = web_index(page->session->number, page->number, page->begun++);
	simtime boot_ns =
	        (simtime)(web_uniform(web, index, WEB_LANE_BOOT) * (double)conf->group.tick_ns);
	struct web_object *object;

	if (!has_port(server) || !has_port(client)) {
		give_up(web, -ENOSPC);
		return;
	}
	object = calloc(1, sizeof(*object));
	if (!object) {
		give_up(web, -ENOMEM);
		return;
	}
	object->web = web;
	object->page = page;
	object->packets = web->model->packets(web, index);
	object->begun_ns = now;
	if (flow_open(&object->request, client, server, &web->tcp, boot_ns,
	              conf->group.ack_delay_ns) < 0 ||
	    flow_open(&object->answer, server, client, &web->tcp, boot_ns,
	              conf->group.ack_delay_ns) < 0)
		give_up(web, -ENOMEM);
	object->next = web->objects;
	web->objects = object;
	object->request.finished = request_over;
	object->answer.finished = answer_over;
	object->request.argument = object->answer.argument = object;
	web->begun += now >= web->mark_ns;
	flow_begin(&object->request, now, 1);
}

/* ---- pages and sessions ---- */

static void page_wait(struct web_page *page, simtime now)
{
	struct web *web = page->web;

	timer_set(heap_of(web), &page->timer,
	          now + web->model->object_gap(
	                        web, web_index(page->session->number, page->number, page->begun)));
}

static void page_goes_on(void *argument, simtime now)
{
	struct web_page *page = argument;

	object_begin(page, now);
	if (page->begun < page->objects && !page->web->model->in_turn)
		page_wait(page, now);
}

static void session_wait(struct web_session *session, simtime now)
{
	struct web *web = session->web;

	timer_set(heap_of(web), &session->timer,
	          now + web->model->page_gap(web, web_index(session->number, session->pages, 0)));
}

static void object_over(struct web_page *page, simtime now)
{
	struct web *web = page->web;

	page->finished++;
	if (page->finished < page->objects) {
		if (web->model->in_turn)
			page_wait(page, now);
	} else if (web->closed && page->session->pages < web->pages_each) {
		session_wait(page->session, now);
	}
}

static void session_goes_on(void *argument, simtime now)
{
	struct web_session *session = argument;
	struct web *web = session->web;
	struct web_page *page = calloc(1, sizeof(*page));
	uint64_t index = web_index(session->number, session->pages, 0);

	if (!page || heap_announce(heap_of(web)) < 0) {
		free(page);
		give_up(web, -ENOMEM);
		return;
	}
	*page = (struct web_page){
	        .web = web,
	        .session = session,
	        .timer = {.fire = page_goes_on, .argument = page},
	        .number = session->pages++,
	        .server = (uint32_t)draw_index(draw_u64(web->key, index, WEB_LANE_SERVER),
	                                       web->conf->servers),
	        .objects = web->model->objects(web, index),
	        .next = web->pages,
	};
	web->pages = page;
	page_goes_on(page, now);
	if (!web->closed && session->pages < web->pages_each)
		session_wait(session, now);
}

static void session_arrives(void *argument, simtime now)
{
	struct web *web = argument;
	uint32_t number = (uint32_t)web->n_arrived++;
	struct web_session *session = &web->sessions[number];

	*session = (struct web_session){
	        .web = web,
	        .timer = {.fire = session_goes_on, .argument = session},
	        .number = number,
	        .client = (uint32_t)draw_index(draw_u64(web->key, number, WEB_LANE_CLIENT),
	                                       web->conf->clients),
	};
	if (web->n_arrived < web->conf->group.count)
		timer_set(heap_of(web), &web->arrival,
		          now + (simtime)(-log(web_uniform(web, web->n_arrived, WEB_LANE_ARRIVAL)) *
		                          (double)web->conf->gap_ns));
	session_goes_on(session, now);
}

/* ---- web ---- */

/* Makes hosts whose links have delays evenly spaced from that of the group to `delay_max_ns`, if
 * that is more. */
static struct host **hosts_make(struct world *world, const struct web_conf *conf, uint64_t n,
                                uint32_t at, simtime delay_max_ns)
{
	struct host **hosts = calloc(n, sizeof(struct host *));

	for (uint64_t i = 0; hosts && i < n; i++) {
		simtime delay_ns = conf->group.delay_ns;

		if (delay_max_ns > delay_ns && n > 1)
			delay_ns += (delay_max_ns - delay_ns) * i / (n - 1);
		hosts[i] = world_host(world, at, conf->group.access_bps, delay_ns);
		if (!hosts[i]) {
			free(hosts);
			return NULL;
		}
		hosts[i]->first_port = (uint16_t)conf->group.port;
	}
	return hosts;
}

int web_open(struct web *web, struct world *world, const struct web_conf *conf, const char *name,
             uint64_t seed, const uint32_t switches[2], struct problem *problem)
{
	int error;

	memset(web, 0, sizeof(*web));
	web->conf = conf;
	error = group_tcp_conf(&conf->group, &web->tcp, problem);
	if (!error)
		error = web_model_choose(web, problem);
	if (error)
		return error;
	web->key = draw_key_make(seed, name, "web");
	web->arrival = (struct timer){.fire = session_arrives, .argument = web};
	web->servers = hosts_make(world, conf, conf->servers, switches[0], 0);
	web->clients =
	        hosts_make(world, conf, conf->clients, switches[1], conf->group.delay_max_ns);
	web->sessions = calloc(conf->group.count + 1, sizeof(*web->sessions));
	error = heap_announce(&world->heap);
	for (uint64_t i = 0; !error && i < conf->group.count; i++)
		error = heap_announce(&world->heap);
	if (error || !web->servers || !web->clients || !web->sessions) {
		problem_set(problem, -1, "group %s: no memory for its sessions", name);
		return -ENOMEM;
	}
	if (conf->group.count)
		timer_set(&world->heap, &web->arrival, conf->group.start_ns);
	return 0;
}

void web_sums(const struct web *web, struct web_sums *sums)
{
	*sums = (struct web_sums){0};
	for (const struct web_object *object = web->objects; object; object = object->next) {
		sums->sent += object->answer.tcp.counters.sent;
		sums->resent += object->answer.tcp.counters.resent;
		sums->arrived += object->answer.sink.counters.arrived;
		sums->marked += object->answer.sink.counters.marked;
		sums->in_order += object->answer.sink.counters.in_order;
		sums->since += object->answer.arrivals.n;
	}
}

void web_mark(struct web *web)
{
	web->mark_ns = web->servers[0]->world->now_ns;
	web->begun = web->finished = 0;
	web->delays_s = web->squares_s2 = 0;
	web_sums(web, &web->mark);
	for (struct web_object *object = web->objects; object; object = object->next) {
		arrivals_mark(&object->answer.arrivals, object->answer.from);
		/* One that has begun at this instant is measured. */
		web->begun += object->begun_ns >= web->mark_ns;
	}
}

void web_close(struct web *web)
{
	while (web->objects) {
		struct web_object *object = web->objects;

		web->objects = object->next;
		flow_close(&object->request);
		flow_close(&object->answer);
		free(object);
	}
	while (web->pages) {
		struct web_page *page = web->pages;

		web->pages = page->next;
		timer_clear(heap_of(web), &page->timer);
		free(page);
	}
	for (uint64_t i = 0; i < web->n_arrived; i++)
		timer_clear(heap_of(web), &web->sessions[i].timer);
	if (web->servers && web->clients && web->sessions)
		timer_clear(heap_of(web), &web->arrival);
	free(web->sessions);
	free(web->servers);
	free(web->clients);
	memset(web, 0, sizeof(*web));
}
