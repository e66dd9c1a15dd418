/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Web traffic: sessions of people who look at pages, each of several objects.
 *
 *   web NAME SESSIONS from SWITCH to SWITCH ...      from: the servers, to: the clients
 *   surge NAME USERS from SWITCH to SWITCH ...
 *
 * Model of `web` (ns-2.1b8a's webtraf, with which both papers of Akujobi et al. were made):
 * SESSIONS begin as a Poisson process, with a mean distance of `gap`, from `start` on. A session
 * belongs to one client, and has `pages` pages; a page belongs to one server, and has a number of
 * objects, ParetoII distributed and rounded up. Client and server are drawn uniformly. The time
 * between the beginnings of two pages of a session is ParetoII distributed (`closed on`: from the
 * end of a page to the next), and so is that between the beginnings of two objects of a page. An
 * object is one connection with a request of one packet, and, when that is acknowledged, another
 * one back with as many packets as a ParetoII draw says, rounded up, or exactly `size` if
 * `size-shape` is 0.
 *
 *   ParetoII: mean (shape - 1) (U^(-1/shape) - 1), U uniform in (0, 1)
 *
 * Model of `surge` (Barford and Crovella; surge.h has the distributions): each user is a session
 * that does not end, and requests one file at a time. The number of files of a page is the draw of
 * its references, rounded down (`references off`: one). Between the end of one file and the request
 * for the next is the active off time, between the end of a page and the next page the inactive
 * one. A file's bytes are sent in as many packets as they fill.
 *
 * Draws: under (seed, name), with an index of session, page and object. So two runs with one seed
 * have the same workload whatever the network does to it (with `closed on` and `surge`: the same
 * objects, at other times).
 *
 * The delay of an object: from its request to the acknowledgement of its last packet at the server.
 * Connections are kept until the run ends, and ports are not reused: 55,000 a host.
 *
 * Ownership: web_close.
 * Thread: the world's.
 */
#ifndef WEIR_LAB_WEB_H
#define WEIR_LAB_WEB_H

#include "lab/flow.h"
#include "lab/group.h"
#include "random/draw.h"

#define WEB_HOSTS_MAX    100
#define WEB_SESSIONS_MAX 100000
#define WEB_PAGES_MAX    65535
/* Bounds of draws from a heavy tail: a larger draw is reduced to the bound. */
#define WEB_OBJECTS_MAX 4095
#define WEB_PACKETS_MAX 1000000

struct web_conf {
	struct group_conf group; /* count: sessions; begins with the struct conf */
	uint64_t servers, clients, pages;
	simtime gap_ns;
	bool closed, references;
	simtime page_gap_ns, object_gap_ns;
	uint64_t objects, size; /* means; the size in packets */
	char *page_gap_shape, *objects_shape, *object_gap_shape,
	        *size_shape; /* decimal; NULL: default */
};

extern const struct statement group_web, group_surge;

struct web_model;
struct web_object;
struct web_page;
struct web_session;

/* Sums over all answers so far. */
struct web_sums {
	uint64_t sent, resent, arrived, marked, in_order; /* packets of answers */
	uint64_t since; /* arrived, of those sent since the mark */
};

struct web {
	const struct web_conf *conf;
	struct tcp_conf tcp;
	const struct web_model *model;
	bool closed; /* the next page follows the end of the one before */
	uint64_t pages_each;
	double page_gap_shape, objects_shape, object_gap_shape, size_shape; /* of `web` */
	struct host **servers, **clients;
	struct draw_key key;
	struct timer arrival;
	uint64_t n_arrived;
	struct web_session *sessions; /* conf->group.count of them */
	struct web_page *pages;       /* all so far */
	struct web_object *objects;
	simtime mark_ns;
	struct web_sums mark;
	/* of objects begun since the mark */
	uint64_t begun, finished;
	double delays_s, squares_s2;
	bool failed; /* memory or ports have run out */
};

/* Returns 0, or -ENOMEM; or -EINVAL with problem. `switches`: of the servers, and of the
 * clients. */
int web_open(struct web *web, struct world *world, const struct web_conf *conf, const char *name,
             uint64_t seed, const uint32_t switches[2], struct problem *problem);
/* Begins the measures: what has been so far does not count. */
void web_mark(struct web *web);
void web_sums(const struct web *web, struct web_sums *sums);
void web_close(struct web *web);

#endif
