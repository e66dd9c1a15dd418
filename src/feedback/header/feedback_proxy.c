/* SPDX-License-Identifier: BSD-3-Clause */
#include "header/feedback_proxy.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "account/counter_read.h"
#include "engine/cloud.h"
#include "header/feedback_probe.h"
#include "scenario/scenario.h"
#include "snapshot/snapshot.h"

/* Stores the answer of the router with this TTL. */
static void ledger_hear(struct ledger *ledger, uint8_t probe, uint8_t ttl,
                        const struct oq_value *value, simtime now)
{
	ledger->rows[probe][ttl] =
	        (struct ledger_row){.heard = true, .at_ns = now, .value = *value};
}

static struct ledger_run *run_at(const struct ledger *ledger, uint32_t i)
{
	return (struct ledger_run *)(uintptr_t)&ledger->runs[(ledger->oldest + i) % LEDGER_RUNS];
}

void ledger_queue(struct ledger *ledger, uint8_t probe, uint8_t ttl, const struct oq_value *value)
{
	struct ledger_run *run = ledger->n_runs ? run_at(ledger, ledger->n_runs - 1) : NULL;

	if (!run || run->probe != probe || run->n == OQ_ANSWERS_MAX || run->ttl - run->n != ttl) {
		if (ledger->n_runs == LEDGER_RUNS)
			ledger_told(ledger);
		run = run_at(ledger, ledger->n_runs++);
		*run = (struct ledger_run){.probe = probe, .ttl = ttl};
	}
	run->answers[run->n++] = *value;
}

const struct ledger_run *ledger_next(const struct ledger *ledger)
{
	return ledger->n_runs ? run_at(ledger, 0) : NULL;
}

void ledger_told(struct ledger *ledger)
{
	ledger->oldest = (ledger->oldest + 1) % LEDGER_RUNS;
	ledger->n_runs--;
}

static void row_snapshot(struct ledger_row *row, struct snapshot *snapshot)
{
	row->heard = snapshot_flag(snapshot, row->heard);
	if (!row->heard)
		return;
	snapshot_value(snapshot, row->at_ns);
	snapshot_value(snapshot, row->value.number);
}

static void run_snapshot(struct ledger_run *run, struct snapshot *snapshot)
{
	snapshot_value(snapshot, run->probe);
	snapshot_value(snapshot, run->ttl);
	snapshot_value(snapshot, run->n);
	if (!snapshot_holds(snapshot,
	                    run->probe < OQ_PROBES && run->n >= 1 && run->n <= OQ_ANSWERS_MAX))
		run->n = 0;
	for (uint32_t i = 0; i < run->n; i++)
		snapshot_value(snapshot, run->answers[i].number);
}

/* Writes or reads the answers, and what is still to be sent (snapshot.h). Two stages may have one
 * ledger: each writes all of it, and reads the same. Runs are in order from the oldest on, so their
 * place in the ring does not matter. */
static void ledger_snapshot(struct ledger *ledger, struct snapshot *snapshot)
{
	for (uint32_t probe = 0; probe < OQ_PROBES; probe++) {
		for (uint32_t ttl = 0; ttl < LEDGER_TTLS; ttl++)
			row_snapshot(&ledger->rows[probe][ttl], snapshot);
	}
	snapshot_value(snapshot, ledger->now_ns);
	ledger->n_runs = snapshot_index(snapshot, ledger->n_runs, LEDGER_RUNS + 1);
	for (uint32_t i = 0; i < ledger->n_runs; i++)
		run_snapshot(run_at(ledger, i), snapshot);
}

/* Reports the answers of one TTL. Returns false if there is none. */
static READS_WHILE_IT_RUNS bool report_row(const struct ledger *ledger, uint32_t ttl,
                                           struct observed_hop *hop)
{
	bool heard = false;

	for (uint32_t i = 0; i < OBSERVED_PROBES; i++) {
		const struct ledger_row *row = &ledger->rows[OQ_LINK + i][ttl];

		hop->probe[i].heard = row->heard;
		hop->probe[i].at_ns = row->at_ns;
		memcpy(hop->probe[i].value, row->value.number, sizeof(row->value.number));
		heard |= row->heard;
	}
	hop->ttl = ttl;
	return heard;
}

/* Reports the rows, from the highest TTL with an answer downwards: that is hop 1. */
static READS_WHILE_IT_RUNS void ledger_report(const struct ledger *ledger,
                                              struct observed *observed)
{
	uint32_t highest = 0;

	observed->has_path = true;
	observed->now_ns = ledger->now_ns;
	observed->n_hops = 0;
	for (uint32_t ttl = LEDGER_TTLS; ttl-- > 0 && observed->n_hops < OBSERVED_HOPS_MAX;) {
		struct observed_hop *hop = &observed->hops[observed->n_hops];

		if (!report_row(ledger, ttl, hop))
			continue;
		if (observed->n_hops++ == 0)
			highest = ttl;
		hop->hop = highest - ttl + 1;
	}
}

struct proxy {
	struct stage stage;
	uint8_t protocol, ttl;
	uint32_t hops, mtu;
	uint32_t n_probes;
	uint8_t probes[OQ_PROBES];
	uint64_t asked;        /* requests so far */
	struct ledger *ledger; /* a reference; NULL: needs none */
};

/* A packet whose headers have been found. */
struct subject {
	struct burst *burst;
	uint16_t i;
	struct headers headers;
	const uint8_t *frame;
};

/* ---- the ledgers that stages share ---- */

/*
 * The ledger of a cloud is found by the cloud's name among those of one engine (the holder selects
 * it). So both stages see one ledger if their clouds belong to one worker, and two if not: then no
 * answer is ever sent. A ledger lives as long as a stage uses it, so it survives a change of
 * stages. All engines of the process have one list, because engines know nothing of feedback; it is
 * as long as there are proxies, and only control changes it.
 */
struct shared_ledger {
	struct ledger ledger; /* first */
	struct shared_ledger *next;
	uint32_t users;
	const void *holder;
	char cloud[SCENARIO_NAME_BYTES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shared_ledger *shared;

/* Takes a reference; NULL if there is no memory. */
static struct ledger *ledger_get(const void *holder, const char *cloud)
{
	struct shared_ledger *entry;

	pthread_mutex_lock(&lock);
	entry = shared;
	while (entry && (entry->holder != holder || strcmp(entry->cloud, cloud) != 0))
		entry = entry->next;
	if (!entry) {
		entry = calloc(1, sizeof(*entry));
		if (entry) {
			entry->holder = holder;
			strncpy(entry->cloud, cloud, sizeof(entry->cloud) - 1);
			entry->next = shared;
			shared = entry;
		}
	}
	if (entry)
		entry->users++;
	pthread_mutex_unlock(&lock);
	return entry ? &entry->ledger : NULL;
}

/* Releases a reference; the last one frees the ledger. NULL is allowed. */
static void ledger_put(struct ledger *ledger)
{
	struct shared_ledger *entry = (struct shared_ledger *)ledger, **place = &shared;

	if (!entry)
		return;
	pthread_mutex_lock(&lock);
	if (--entry->users == 0) {
		while (*place != entry)
			place = &(*place)->next;
		*place = entry->next;
		free(entry);
	}
	pthread_mutex_unlock(&lock);
}

static struct counters *counters_of(struct proxy *proxy)
{
	return &proxy->stage.cloud->counters;
}

/* Inserts room for a header of so many bytes into a packet that has none, and returns where it
 * begins. Returns NULL if the packet stays as it is, or was dropped. */
static uint8_t *make_room(struct proxy *proxy, struct subject *subject, uint32_t bytes)
{
	const struct headers *headers = &subject->headers;

	if (!header_room_fits(headers, subject->burst, subject->i, bytes) ||
	    headers->network_bytes + bytes > proxy->mtu) {
		counters_of(proxy)->feedback_no_room++;
		return NULL;
	}
	if (unlikely(!cloud_writable(proxy->stage.cloud, subject->burst, subject->i)))
		return NULL;
	return header_room_make(headers, subject->burst, subject->i, bytes, proxy->protocol);
}

/* ---- requests ---- */

static void write_request(struct proxy *proxy, uint8_t *oq, uint8_t ttl)
{
	static const struct oq_value nobody = {{OQ_NOBODY, OQ_NOBODY}};
	uint32_t back = (uint32_t)(proxy->asked % proxy->hops);

	oq[OQ_REQ_MODE] = OQ_TTL;
	oq[OQ_REQ_PROBE] = proxy->probes[proxy->asked / proxy->hops % proxy->n_probes];
	/* A packet whose TTL is too small for that hop has a request to the first router. */
	oq[OQ_REQ_TTL] = (uint8_t)(back < ttl ? ttl - back : ttl);
	oq_put(oq + OQ_REQUEST, &nobody);
	proxy->asked++;
	counters_of(proxy)->feedback_inserted++;
}

static void insert(struct proxy *proxy, struct subject *subject, enum oq_find found)
{
	uint8_t ttl = oq_ttl(&subject->headers, subject->frame), *oq;
	uint8_t next = subject->headers.protocol;

	if (proxy->ttl && ttl != proxy->ttl)
		return;
	if (found == OQ_FOUND) {
		if (subject->frame[subject->headers.transport + OQ_REQ_MODE] != OQ_NO_MODE)
			return;
		if (likely(cloud_writable(proxy->stage.cloud, subject->burst, subject->i)))
			write_request(proxy,
			              burst_frame(subject->burst, subject->i) +
			                      subject->headers.transport,
			              ttl);
		return;
	}
	oq = make_room(proxy, subject, OQ_BYTES);
	if (!oq)
		return;
	memset(oq, 0, OQ_BYTES);
	oq[OQ_NEXT] = next;
	write_request(proxy, oq, ttl);
}

/* ---- answers received ---- */

static void hear_request(struct ledger *ledger, const uint8_t *oq, simtime now)
{
	struct oq_value value = oq_get(oq + OQ_REQUEST);

	if (oq[OQ_REQ_MODE] != OQ_TTL || oq[OQ_REQ_PROBE] == OQ_NO_PROBE ||
	    (value.number[0] == OQ_NOBODY && value.number[1] == OQ_NOBODY))
		return;
	ledger_hear(ledger, oq[OQ_REQ_PROBE], oq[OQ_REQ_TTL], &value, now);
	ledger_queue(ledger, oq[OQ_REQ_PROBE], oq[OQ_REQ_TTL], &value);
}

static void hear_answers(struct ledger *ledger, const uint8_t *oq, simtime now)
{
	uint32_t n = oq[OQ_RES_LEN] / OQ_ANSWER_BYTES;

	if (oq[OQ_RES_PROBE] == OQ_NO_PROBE)
		return;
	for (uint32_t i = 0; i < n && i <= oq[OQ_RES_TTL]; i++) {
		struct oq_value value = oq_get(oq + OQ_ANSWERS + i * OQ_ANSWER_BYTES);

		ledger_hear(ledger, oq[OQ_RES_PROBE], (uint8_t)(oq[OQ_RES_TTL] - i), &value, now);
	}
}

static void strip(struct proxy *proxy, struct subject *subject, enum oq_find found)
{
	const uint8_t *oq = subject->frame + subject->headers.transport;
	simtime now = burst_t(subject->burst, subject->i);
	uint32_t bytes;
	uint8_t next;

	proxy->ledger->now_ns = now;
	if (found != OQ_FOUND)
		return;
	bytes = OQ_BYTES + oq[OQ_RES_LEN];
	next = oq[OQ_NEXT];
	if (!header_room_spares(&subject->headers, subject->burst->mbuf[subject->i], bytes)) {
		counters_of(proxy)->feedback_no_room++;
		return;
	}
	hear_request(proxy->ledger, oq, now);
	hear_answers(proxy->ledger, oq, now);
	if (unlikely(feedback_probe_is(burst_flags(subject->burst, subject->i), next))) {
		cloud_drop(proxy->stage.cloud, subject->burst, subject->i, REASON_PROBE);
		return;
	}
	if (unlikely(!cloud_writable(proxy->stage.cloud, subject->burst, subject->i)))
		return;
	header_room_close(&subject->headers, subject->burst, subject->i, bytes, next);
	counters_of(proxy)->feedback_stripped++;
}

/* ---- answers sent ---- */

static void answer(struct proxy *proxy, struct subject *subject, enum oq_find found)
{
	const struct ledger_run *run = ledger_next(proxy->ledger);
	uint8_t next = subject->headers.protocol, *oq;
	uint32_t bytes;

	if (!run || found == OQ_FOUND)
		return;
	bytes = OQ_BYTES + run->n * (uint32_t)OQ_ANSWER_BYTES;
	oq = make_room(proxy, subject, bytes);
	if (!oq)
		return;
	memset(oq, 0, OQ_BYTES);
	oq[OQ_RES_PROBE] = run->probe;
	oq[OQ_RES_LEN] = (uint8_t)(run->n * OQ_ANSWER_BYTES);
	oq[OQ_RES_TTL] = run->ttl;
	oq[OQ_NEXT] = next;
	for (uint32_t i = 0; i < run->n; i++)
		oq_put(oq + OQ_ANSWERS + i * OQ_ANSWER_BYTES, &run->answers[i]);
	ledger_told(proxy->ledger);
	counters_of(proxy)->feedback_answered++;
}

/* ---- all three jobs ---- */

typedef void (*proxy_act)(struct proxy *proxy, struct subject *subject, enum oq_find found);

static inline void act_on(struct stage *stage, struct burst *burst, proxy_act act)
{
	struct proxy *proxy = (struct proxy *)stage;

	stage->drawn += burst->n;
	for (uint16_t i = 0; i < burst->n; i++) {
		struct subject subject = {.burst = burst, .i = i};
		enum oq_find found;

		subject.headers = *burst_headers(burst, i);
		if (subject.headers.ip == 0)
			continue;
		subject.frame = burst_frame(burst, i);
		found = oq_find(&subject.headers, subject.frame, proxy->protocol);
		if (found == OQ_MALFORMED)
			counters_of(proxy)->feedback_malformed++;
		else
			act(proxy, &subject, found);
	}
}

static void insert_process(struct stage *stage, struct burst *burst)
{
	act_on(stage, burst, insert);
}

static void strip_process(struct stage *stage, struct burst *burst)
{
	act_on(stage, burst, strip);
}

static void answer_process(struct stage *stage, struct burst *burst)
{
	act_on(stage, burst, answer);
}

/* ---- construction ---- */

static int proxy_make(const struct conf *conf, struct stage **stage)
{
	static void (*const process[])(struct stage *, struct burst *) = {
	        [PROXY_INSERT] = insert_process,
	        [PROXY_STRIP] = strip_process,
	        [PROXY_ANSWER] = answer_process,
	};
	const struct feedback_proxy_conf *asked = (const struct feedback_proxy_conf *)conf;
	struct proxy *proxy = calloc(1, sizeof(*proxy));

	if (!proxy)
		return -ENOMEM;
	proxy->stage.process = process[asked->job];
	proxy->protocol = (uint8_t)asked->protocol;
	proxy->hops = (uint32_t)asked->hops;
	proxy->ttl = (uint8_t)asked->ttl;
	proxy->mtu = (uint32_t)asked->mtu;
	for (uint32_t i = 0; i < OBSERVED_PROBES; i++) {
		if (asked->probes >> i & 1)
			proxy->probes[proxy->n_probes++] = (uint8_t)(OQ_LINK + i);
	}
	*stage = &proxy->stage;
	return 0;
}

static int proxy_ready(struct stage *stage, const struct conf *conf)
{
	const struct feedback_proxy_conf *asked = (const struct feedback_proxy_conf *)conf;
	struct proxy *proxy = (struct proxy *)stage;

	if (asked->job == PROXY_INSERT)
		return 0;
	proxy->ledger = ledger_get(stage->cloud->holder,
	                           asked->job == PROXY_STRIP ? stage->cloud->name : asked->of);
	return proxy->ledger ? 0 : -ENOMEM;
}

static void proxy_free(struct stage *stage)
{
	ledger_put(((struct proxy *)stage)->ledger);
	free(stage);
}

static void proxy_adopt(struct stage *stage, const struct stage *old)
{
	((struct proxy *)stage)->asked = ((const struct proxy *)old)->asked;
}

static void proxy_snapshot(struct stage *stage, struct snapshot *snapshot)
{
	struct proxy *proxy = (struct proxy *)stage;

	snapshot_value(snapshot, proxy->asked);
	if (proxy->ledger)
		ledger_snapshot(proxy->ledger, snapshot);
}

static READS_WHILE_IT_RUNS void proxy_report(const struct stage *stage, struct observed *observed)
{
	const struct proxy *proxy = (const struct proxy *)stage;

	if (stage->process == strip_process)
		ledger_report(proxy->ledger, observed);
}

/* ---- fields ---- */

enum {
	PROXY_FIELD_JOB,
	PROXY_FIELD_OF,
	PROXY_FIELD_PROTOCOL,
	PROXY_FIELD_PROBE,
	PROXY_FIELD_HOPS,
	PROXY_FIELD_TTL,
	PROXY_FIELD_MTU
};

static int proxy_check(const struct conf *conf, const struct cloud_conf *cloud,
                       struct problem *problem)
{
	const struct feedback_proxy_conf *proxy = (const struct feedback_proxy_conf *)conf;

	if (proxy->job == PROXY_ANSWER && !proxy->of)
		return problem_set(
		        problem, PROXY_FIELD_JOB,
		        "`answer` needs `of CLOUD`: the cloud of the other direction that "
		        "strips the requests, like `answer of down-4`");
	if (proxy->job != PROXY_ANSWER && proxy->of)
		return problem_set(problem, PROXY_FIELD_OF,
		                   "`of` is a word of `answer` only; leave it out");
	if (cloud && cloud->many)
		return problem_set(
		        problem, -1,
		        "a template makes many clouds, but a path has one; put the proxy on a "
		        "cloud before or after it");
	return 0;
}

int feedback_proxy_check_of(const struct scenario *scenario, const struct cloud_conf *cloud,
                            struct problem *problem)
{
	const struct conf *conf = cloud_conf_get(cloud, feedback_proxy_statement.name);
	const struct feedback_proxy_conf *proxy, *other = NULL;
	int i;

	if (!conf || conf->statement != &feedback_proxy_statement)
		return 0;
	proxy = (const struct feedback_proxy_conf *)conf;
	if (proxy->job != PROXY_ANSWER || !proxy->of)
		return 0;
	i = scenario_find_cloud(scenario, proxy->of);
	if (i >= 0)
		conf = cloud_conf_get(scenario->clouds[i], feedback_proxy_statement.name);
	if (i >= 0 && conf && conf->statement == &feedback_proxy_statement)
		other = (const struct feedback_proxy_conf *)conf;
	if (other && other->job == PROXY_STRIP)
		return 0;
	return problem_set(
	        problem, PROXY_FIELD_OF,
	        "cloud `%s`: it answers what `%s` has stripped, %s; use a cloud with `feedback "
	        "proxy strip`",
	        cloud->name, proxy->of,
	        i < 0 ? "but there is no cloud of that name" : "which strips nothing");
}

static const char *const job_words[] = {"insert", "strip", "answer", NULL};
static const char *const probe_words[] = {"link", "loss", "queue", NULL};

static const struct field proxy_fields[] = {
        [PROXY_FIELD_JOB] = {FIELD(
                "job", FIELD_WORD, struct feedback_proxy_conf, job,
                .flags = FIELD_POSITIONAL | FIELD_REQUIRED, .words = job_words,
                .help = "inserts requests, strips headers, or sends answers back")},
        [PROXY_FIELD_OF] = {FIELD("of", FIELD_TEXT, struct feedback_proxy_conf, of,
                                  .help = "answer: the cloud that has stripped the requests")},
        [PROXY_FIELD_PROTOCOL] = {FIELD(
                "protocol", FIELD_COUNT, struct feedback_proxy_conf, protocol, .min = 1, .max = 255,
                .initial = OQ_PROTOCOL_DEFAULT, .help = "the IP protocol of the header")},
        [PROXY_FIELD_PROBE] = {FIELD("probe", FIELD_WORDS, struct feedback_proxy_conf, probes,
                                     .words = probe_words, .initial = (1u << OBSERVED_PROBES) - 1,
                                     .help = "insert: what it asks for, in turn")},
        [PROXY_FIELD_HOPS] = {FIELD("hops", FIELD_COUNT, struct feedback_proxy_conf, hops, .min = 1,
                                    .max = PROXY_HOPS_MAX, .initial = PROXY_HOPS_DEFAULT,
                                    .help = "insert: how many routers it asks in turn")},
        [PROXY_FIELD_TTL] = {FIELD("ttl", FIELD_COUNT, struct feedback_proxy_conf, ttl, .max = 255,
                                   .initial = PROXY_TTL_DEFAULT,
                                   .help = "insert: of the packets that take part; 0: any")},
        [PROXY_FIELD_MTU] = {FIELD("mtu", FIELD_COUNT, struct feedback_proxy_conf, mtu,
                                   .min = PROXY_MTU_MIN, .max = UINT16_MAX, .initial = UINT16_MAX,
                                   .help = "bytes of the longest IP packet with a header")},
        FIELD_END,
};

const struct statement feedback_proxy_statement = {
        .name = "feedback",
        .variant = "proxy",
        .help = "asks routers, and answers, for hosts that know nothing of the header",
        .example = "proxy insert",
        .role = ROLE_STAGE,
        .generates = true, /* its clouds are executed in the order of time */
        .fields = proxy_fields,
        .counts = {{COUNTER(feedback_inserted), .thing = "request inserted"},
                   {COUNTER(feedback_answered), .thing = "header with answers inserted"},
                   {COUNTER(feedback_stripped), .thing = "header removed"},
                   {COUNTER(feedback_no_room), .words = "without room"},
                   {COUNTER(feedback_malformed), .words = "malformed"}},
        .conf_bytes = sizeof(struct feedback_proxy_conf),
        .check = proxy_check,
        .make = proxy_make,
        .ready = proxy_ready,
        .free = proxy_free,
        .adopt = proxy_adopt,
        .snapshot = proxy_snapshot,
        .report = proxy_report,
};
