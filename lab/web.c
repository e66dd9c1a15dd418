/* SPDX-License-Identifier: BSD-3-Clause */
#include "web.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	struct timer timer; /* its next object */
	uint32_t number, server;
	uint32_t objects, begun, finished;
	struct web_page *next;
};

struct web_session {
	struct web *web;
	struct timer timer; /* its next page */
	uint32_t number, client, pages;
};

/* ---- draws ---- */

enum lane {
	LANE_ARRIVAL,
	LANE_CLIENT,
	LANE_SERVER,
	LANE_PAGE_GAP,
	LANE_OBJECTS,
	LANE_OBJECT_GAP,
	LANE_SIZE,
	LANE_BOOT,
};

static uint64_t index_of(uint32_t session, uint32_t page, uint32_t object)
{
	return (uint64_t)session << 28 | (uint64_t)page << 12 | object;
}

/* In (0, 1). */
static double uniform(const struct web *web, uint64_t index, enum lane lane)
{
	return ((double)(draw_u64(web->key, index, lane) >> 11) + 0.5) / 9007199254740992.0;
}

static double pareto(const struct web *web, uint64_t index, enum lane lane, double mean,
                     double shape)
{
	return mean * (shape - 1) * (pow(uniform(web, index, lane), -1 / shape) - 1);
}

/* At least 1. */
static uint32_t pareto_count(const struct web *web, uint64_t index, enum lane lane, uint64_t mean,
                             double shape, uint32_t most)
{
	double count = ceil(pareto(web, index, lane, (double)mean, shape));

	return count < 1 ? 1 : count > most ? most : (uint32_t)count;
}

static simtime pareto_time(const struct web *web, uint64_t index, enum lane lane, simtime mean_ns,
                           double shape)
{
	double ns = pareto(web, index, lane, (double)mean_ns, shape);

	return ns < (double)DELAY_MAX_NS ? (simtime)ns : DELAY_MAX_NS;
}

/* ---- objects ---- */

static void page_ends(struct web_page *page, simtime now);

static struct heap *heap_of(const struct web *web)
{
	return &web->servers[0]->world->heap;
}

static void give_up(struct web *web, int error)
{
	web->servers[0]->world->error = error;
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
	if (++object->page->finished == object->page->objects)
		page_ends(object->page, now);
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
	uint64_t index = index_of(page->session->number, page->number, page->begun++);
	simtime boot_ns = (simtime)(uniform(web, index, LANE_BOOT) * (double)conf->group.tick_ns);
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
	object->packets = (int64_t)conf->size;
	if (web->size_shape > 0)
		object->packets = pareto_count(web, index, LANE_SIZE, conf->size, web->size_shape,
		                               WEB_PACKETS_MAX);
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

static void page_goes_on(void *argument, simtime now)
{
	struct web_page *page = argument;
	struct web *web = page->web;

	object_begin(page, now);
	if (page->begun < page->objects)
		timer_set(heap_of(web), &page->timer,
		          now + pareto_time(
		                        web,
		                        index_of(page->session->number, page->number, page->begun),
		                        LANE_OBJECT_GAP, web->conf->object_gap_ns,
		                        web->object_gap_shape));
}

static void page_wait(struct web_session *session, simtime now)
{
	struct web *web = session->web;
	uint64_t index = index_of(session->number, session->pages, 0);

	timer_set(heap_of(web), &session->timer,
	          now + pareto_time(web, index, LANE_PAGE_GAP, web->conf->page_gap_ns,
	                            web->page_gap_shape));
}

static void page_ends(struct web_page *page, simtime now)
{
	if (page->web->conf->closed && page->session->pages < page->web->conf->pages)
		page_wait(page->session, now);
}

static void session_goes_on(void *argument, simtime now)
{
	struct web_session *session = argument;
	struct web *web = session->web;
	struct web_page *page = calloc(1, sizeof(*page));
	uint64_t index = index_of(session->number, session->pages, 0);

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
	        .server = (uint32_t)draw_index(draw_u64(web->key, index, LANE_SERVER),
	                                       web->conf->servers),
	        .objects = pareto_count(web, index, LANE_OBJECTS, web->conf->objects,
	                                web->objects_shape, WEB_OBJECTS_MAX),
	        .next = web->pages,
	};
	web->pages = page;
	page_goes_on(page, now);
	if (!web->conf->closed && session->pages < web->conf->pages)
		page_wait(session, now);
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
	        .client = (uint32_t)draw_index(draw_u64(web->key, number, LANE_CLIENT),
	                                       web->conf->clients),
	};
	if (web->n_arrived < web->conf->group.count)
		timer_set(heap_of(web), &web->arrival,
		          now + (simtime)(-log(uniform(web, web->n_arrived, LANE_ARRIVAL)) *
		                          (double)web->conf->gap_ns));
	session_goes_on(session, now);
}

/* ---- the whole ---- */

static int shape_read(const char *field, const char *text, double initial, bool may_be_0,
                      double *shape, struct problem *problem)
{
	char *end;

	*shape = initial;
	if (!text)
		return 0;
	*shape = strtod(text, &end);
	if (end != text && *end == 0 &&
	    ((*shape > 1 && *shape <= 100) || (may_be_0 && *shape == 0)))
		return 0;
	problem_set(problem, -1,
	            "%s `%.20s`: a ParetoII's shape is above 1, where it has a mean, like 1.5%s",
	            field, text, may_be_0 ? "; 0 makes all as long as the mean" : "");
	return -EINVAL;
}

static struct host **hosts_make(struct world *world, const struct web_conf *conf, uint64_t n,
                                uint32_t at)
{
	struct host **hosts = calloc(n, sizeof(struct host *));

	for (uint64_t i = 0; hosts && i < n; i++) {
		hosts[i] = world_host(world, at, conf->group.access_bps, conf->group.delay_ns);
		if (!hosts[i]) {
			free(hosts);
			return NULL;
		}
		hosts[i]->first_port = (uint16_t)conf->group.port;
	}
	return hosts;
}

static int shapes_read(struct web *web, struct problem *problem)
{
	const struct web_conf *conf = web->conf;
	int error = shape_read("page-gap-shape", conf->page_gap_shape, 2, false,
	                       &web->page_gap_shape, problem);

	if (!error)
		error = shape_read("objects-shape", conf->objects_shape, 1.5, false,
		                   &web->objects_shape, problem);
	if (!error)
		error = shape_read("object-gap-shape", conf->object_gap_shape, 1.5, false,
		                   &web->object_gap_shape, problem);
	return error ? error
	             : shape_read("size-shape", conf->size_shape, 1.2, true, &web->size_shape,
	                          problem);
}

int web_open(struct web *web, struct world *world, const struct web_conf *conf, const char *name,
             uint64_t seed, const uint32_t switches[2], struct problem *problem)
{
	int error;

	memset(web, 0, sizeof(*web));
	web->conf = conf;
	error = group_tcp_conf(&conf->group, &web->tcp, problem);
	if (!error)
		error = shapes_read(web, problem);
	if (error)
		return error;
	web->key = draw_key_make(seed, name, "web");
	web->arrival = (struct timer){.fire = session_arrives, .argument = web};
	web->servers = hosts_make(world, conf, conf->servers, switches[0]);
	web->clients = hosts_make(world, conf, conf->clients, switches[1]);
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
	}
}

void web_mark(struct web *web)
{
	web->mark_ns = web->servers[0]->world->now_ns;
	web->begun = web->finished = 0;
	web->delays_s = web->squares_s2 = 0;
	web_sums(web, &web->mark);
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
