/* SPDX-License-Identifier: BSD-3-Clause */
#include "language/scenario_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/filter.h"
#include "header/feedback_proxy.h"
#include "language/language.h"
#include "line/delay.h"
#include "link/class.h"
#include "match/match.h"
#include "match/selection.h"
#include "router/hop.h"
#include "text/alloc_failure.h"
#include "text/language_error.h"
#include "text/statement_text.h"
#include "units/human_unit.h"

/* Indices of the words of `cloud NAME from PLACE to PORT`. */
enum { WORD_NAME = 1, WORD_FROM = 3, WORD_TO = 5 };

/* Returns the index of the place where a cloud begins: of a port, or of a cloud, counted behind the
 * ports; -1 if there is none. */
static int place_of(const struct scenario *scenario, const char *name)
{
	int port = scenario_find_port(scenario, name);
	int cloud = port < 0 ? scenario_find_cloud(scenario, name) : -1;

	if (port >= 0)
		return port;
	return cloud < 0 ? -1 : (int)scenario->n_ports + cloud;
}

static int no_place(const struct scenario *scenario, const struct cloud_conf *cloud,
                    struct problem *problem)
{
	struct nearest nearest;
	struct listing listing;

	if (scenario->n_ports == 0)
		return problem_set(
		        problem, -1,
		        "there is no port or cloud `%s`, nor any other; first write: port %s",
		        cloud->from, cloud->from);
	nearest_start(&nearest, cloud->from);
	listing_start(&listing, "and");
	for (uint32_t i = 0; i < scenario->n_ports; i++) {
		if (scenario->n_ports > 1)
			nearest_try(&nearest, scenario->ports[i].name);
		listing_add(&listing, scenario->ports[i].name);
	}
	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		if (scenario->clouds[i] != cloud)
			nearest_try(&nearest, scenario->clouds[i]->name);
	}
	return problem_set(problem, -1, "there is no port or cloud `%s`; %s %s%s%s%s", cloud->from,
	                   scenario->n_ports == 1 ? "the only port is" : "ports are",
	                   listing_end(&listing), nearest.best ? "; did you mean `" : "",
	                   nearest.best ? nearest.best : "", nearest.best ? "`?" : "");
}

/* Reports a chain that comes from no port: names the members of its loop, or says that it is too
 * long. */
static int no_root(const struct scenario *scenario, const struct cloud_conf *asked,
                   struct problem *problem)
{
	const struct cloud_conf *cloud = asked, *member;
	struct listing listing;
	int port = -1;

	for (uint32_t i = 0; i <= scenario->n_clouds && port < 0; i++) {
		port = scenario_find_port(scenario, cloud->from);
		if (port < 0)
			cloud = scenario->clouds[scenario_find_cloud(scenario, cloud->from)];
	}
	if (port >= 0)
		return problem_set(problem, -1,
		                   "a chain of more than %d clouds, which is the maximum",
		                   SCENARIO_CHAIN_MAX);
	if (strcmp(cloud->from, cloud->name) == 0)
		return problem_set(problem, -1,
		                   "cloud `%s` comes from itself: a loop; let it come from a port",
		                   cloud->name);
	listing_start(&listing, "and");
	/* If `asked` is in the loop itself, the list begins with it. */
	for (uint32_t i = 0; i < scenario->n_clouds && cloud != asked; i++)
		cloud = scenario->clouds[scenario_find_cloud(scenario, cloud->from)];
	member = cloud;
	do {
		listing_add(&listing, member->name);
		member = scenario->clouds[scenario_find_cloud(scenario, member->from)];
	} while (member != cloud);
	return problem_set(
	        problem, -1,
	        "the chain of %s is a loop: each comes from the next; let one of them come "
	        "from a port",
	        listing_end(&listing));
}

static int check_cloud(const struct scenario *scenario, const struct cloud_conf *cloud,
                       const struct cloud_conf **rest, struct scenario_place *place,
                       struct problem *problem)
{
	int from = place_of(scenario, cloud->from);

	place->cloud = cloud->name;
	place->word = WORD_TO;
	if (scenario_find_port(scenario, cloud->to) < 0)
		return problem_set(problem, -1,
		                   "cloud `%s` goes to port `%s`, which does not exist",
		                   cloud->name, cloud->to);
	place->word = WORD_FROM;
	if (from < 0)
		return no_place(scenario, cloud, problem);
	if (scenario_root(scenario, cloud) == -ELOOP)
		return no_root(scenario, cloud, problem);
	place->word = WORD_NAME;
	if (selection_chooses(cloud))
		return 0;
	/* A second cloud from one place that takes the rest would never get a packet. */
	if (rest[from] != NULL)
		return problem_set(problem, -1,
		                   "cloud `%s` would get no packets: `%s` takes all that come from "
		                   "%s `%s`; say which it takes with `match`, let it begin "
		                   "elsewhere, or remove `%s`",
		                   cloud->name, rest[from]->name,
		                   from < (int)scenario->n_ports ? "port" : "cloud", cloud->from,
		                   rest[from]->name);
	rest[from] = cloud;
	return 0;
}

/* Returns 0; -EINVAL with problem, and `place` gets the cloud and the word that it is about; or
 * -ENOMEM. */
static int path_check(const struct scenario *scenario, struct scenario_place *place,
                      struct problem *problem)
{
	const struct cloud_conf **rest = calloc(scenario->n_ports + (size_t)scenario->n_clouds + 1,
	                                        sizeof(struct cloud_conf *));
	int result = 0;

	if (rest == NULL) {
		problem_set(problem, -1, "no memory to check the scenario");
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < scenario->n_clouds && result == 0; i++)
		result = check_cloud(scenario, scenario->clouds[i], rest, place, problem);
	free(rest);
	return result;
}

/* ---- clouds that overlap ---- */

/* One condition under which a cloud takes packets. */
struct claim {
	const struct cloud_conf *cloud;
	uint32_t index; /* of the cloud */
	int place;
	const char *filter; /* if not NULL, the condition; `row` is then 0 */
	struct match_row row;
};

struct claims {
	FILE *out;
	uint32_t n, said;
	bool more;
	struct claim *claim;
};

static int compare_words(const struct packet_key *a, const struct packet_key *b)
{
	return memcmp(a->word, b->word, sizeof(a->word));
}

/* Orders claims by place, priority and mask; those with a filter are last. */
static int compare_group(const struct claim *x, const struct claim *y)
{
	uint64_t left = selection_priority(x->cloud), right = selection_priority(y->cloud);

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (left != right)
		return left < right ? -1 : 1;
	if ((x->filter != NULL) != (y->filter != NULL))
		return x->filter != NULL ? 1 : -1;
	return compare_words(&x->row.mask, &y->row.mask);
}

static int compare_claims(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;
	int order = compare_group(x, y);

	if (order != 0)
		return order;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void say_overlap(struct claims *claims, const struct claim *a, const struct claim *b)
{
	const struct claim *first = a->index < b->index ? a : b, *second = first == a ? b : a;

	if (a->cloud == b->cloud)
		return;
	if (claims->said == PATH_WARNINGS_MAX) {
		claims->more = true;
		return;
	}
	claims->said++;
	if (a->filter != NULL || b->filter != NULL)
		fprintf(claims->out,
		        "warning: clouds `%s` and `%s` from `%s` have the same priority, and it "
		        "cannot be determined whether the filter `%s` overlaps with the other; "
		        "packets that match both go to `%s`, which is defined first\n",
		        first->cloud->name, second->cloud->name, first->cloud->from,
		        a->filter != NULL ? a->filter : b->filter, first->cloud->name);
	else
		fprintf(claims->out,
		        "warning: clouds `%s` and `%s` from `%s` have the same priority and "
		        "overlap; packets that match both go to `%s`, which is defined first; "
		        "change the order with `priority`\n",
		        first->cloud->name, second->cloud->name, first->cloud->from,
		        first->cloud->name);
}

/* A claim, and its value under a mask. */
struct seen {
	struct packet_key key;
	const struct claim *claim;
};

static int compare_seen(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;
	int order = compare_words(&x->key, &y->key);

	return order != 0 ? order : x->claim->index < y->claim->index ? -1 : 1;
}

static void see(struct seen *seen, const struct claim *claim, const struct packet_key *mask)
{
	seen->claim = claim;
	for (int i = 0; i < KEY_WORDS; i++)
		seen->key.word[i] = claim->row.value.word[i] & mask->word[i];
}

/* Reports the overlaps of two groups of claims, each with one mask: two claims overlap if they
 * agree on the bits that are in both masks. `a` may equal `b`. `room` has room for both groups. */
static void compare_groups(struct claims *claims, const struct claim *a, uint32_t n_a,
                           const struct claim *b, uint32_t n_b, struct seen *room)
{
	struct packet_key mask;
	uint32_t n = n_a;

	for (int i = 0; i < KEY_WORDS; i++)
		mask.word[i] = a->row.mask.word[i] & b->row.mask.word[i];
	for (uint32_t i = 0; i < n_a; i++)
		see(&room[i], &a[i], &mask);
	for (uint32_t i = 0; i < n_b && a != b; i++)
		see(&room[n++], &b[i], &mask);
	qsort(room, n, sizeof(*room), compare_seen);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = i + 1; k < n && !claims->more; k++) {
			if (compare_words(&room[i].key, &room[k].key) != 0)
				break;
			/* Claims of equal mask are compared only when a == b, so once. */
			if (a == b ||
			    compare_words(&room[i].claim->row.mask, &room[k].claim->row.mask) != 0)
				say_overlap(claims, room[i].claim, room[k].claim);
		}
	}
}

static uint32_t group_size(const struct claims *claims, uint32_t from)
{
	uint32_t n = 1;

	while (from + n < claims->n && claims->claim[from].filter == NULL &&
	       compare_group(&claims->claim[from], &claims->claim[from + n]) == 0)
		n++;
	return n;
}

static void compare_all(struct claims *claims, struct seen *room)
{
	for (uint32_t i = 0; i < claims->n; i += group_size(claims, i)) {
		const struct claim *a = &claims->claim[i];
		uint32_t n_a = group_size(claims, i);

		if (a->filter == NULL)
			compare_groups(claims, a, n_a, a, n_a, room);
		for (uint32_t k = i + n_a; k < claims->n && !claims->more;
		     k += group_size(claims, k)) {
			const struct claim *b = &claims->claim[k];

			if (a->place != b->place ||
			    selection_priority(a->cloud) != selection_priority(b->cloud))
				break;
			if (a->filter != NULL || b->filter != NULL)
				say_overlap(claims, a, b);
			else
				compare_groups(claims, a, n_a, b, group_size(claims, k), room);
		}
	}
}

/* Gets the conditions of one cloud, and returns their number; `claim` has room for
 * MATCH_ROWS_MAX. */
static uint32_t claims_of(const struct scenario *scenario, uint32_t index, struct claim *claim)
{
	const struct cloud_conf *cloud = scenario->clouds[index];
	struct problem problem;
	struct match rows;
	const char *filter;
	bool exact;
	uint32_t n;

	if (!selection_chooses(cloud) ||
	    selection_rows(cloud, &rows, &exact, &filter, &problem) != 0)
		return 0;
	n = filter != NULL ? 1 : rows.n;
	for (uint32_t i = 0; i < n; i++) {
		claim[i] = (struct claim){.cloud = cloud,
		                          .index = index,
		                          .place = place_of(scenario, cloud->from),
		                          .filter = filter};
		if (filter == NULL)
			claim[i].row = rows.rows[i];
	}
	return n;
}

static void path_warn(const struct scenario *scenario, FILE *out)
{
	struct claims claims = {.out = out};
	struct claim of_one[MATCH_ROWS_MAX];
	struct seen *room = NULL;
	uint32_t all = 0;

	for (uint32_t i = 0; i < scenario->n_clouds; i++)
		all += claims_of(scenario, i, of_one);
	claims.claim = calloc((size_t)all + 1, sizeof(*claims.claim));
	room = calloc((size_t)all + 1, sizeof(*room));
	if (claims.claim != NULL && room != NULL) {
		for (uint32_t i = 0; i < scenario->n_clouds; i++) {
			uint32_t n = claims_of(scenario, i, of_one);

			memcpy(&claims.claim[claims.n], of_one, n * sizeof(*of_one));
			claims.n += n;
		}
		qsort(claims.claim, claims.n, sizeof(*claims.claim), compare_claims);
		compare_all(&claims, room);
		if (claims.more)
			fputs("warning: there are more clouds that overlap\n", out);
	}
	if (claims.claim == NULL || room == NULL)
		alloc_failure_note();
	free(claims.claim);
	free(room);
}

/* Checks a class's `match` that weir cannot parse: libpcap decides whether it is a filter. */
static int check_filter(const struct conf *conf, struct problem *problem)
{
	const struct class_conf *class = (const struct class_conf *)conf;
	struct match match;

	if (conf->statement != &class_statement || !class->match ||
	    match_parse(class->match, &match) || filter_check(class->match, problem) == 0)
		return 0;
	problem->field = CLASS_FIELD_MATCH;
	return -EINVAL;
}

static int check_conf(const struct conf *conf, const struct cloud_conf *cloud,
                      struct problem *problem)
{
	struct problem own = {.field = -1, .text = ""};

	if ((conf->statement->check == NULL || conf->statement->check(conf, cloud, &own) == 0) &&
	    check_filter(conf, &own) == 0)
		return 0;
	if (conf->scope[0])
		problem_set(problem, own.field, "cloud `%s`, `class %s%s%s`: %s", cloud->name,
		            conf->scope, conf->statement->scoped ? "" : " ",
		            conf->statement->scoped ? "" : conf->statement->name, own.text);
	else if (conf->statement->number_max != 0)
		problem_set(problem, own.field, "cloud `%s`, `%s %u`: %s", cloud->name,
		            conf->statement->name, conf->number, own.text);
	else
		problem_set(problem, own.field, "cloud `%s`, `%s`: %s", cloud->name,
		            conf->statement->name, own.text);
	problem->letter = own.letter;
	return -EINVAL;
}

static int check_through(const struct scenario *scenario, const struct cloud_conf *cloud,
                         struct scenario_place *place, struct problem *problem)
{
	uint32_t through;

	if (hop_through(scenario, cloud, &through, problem) == 0)
		return 0;
	place->statement = hop_statement.name;
	place->scope = "";
	place->number = 0;
	place->field = problem->field;
	return -EINVAL;
}

/* Returns true if this statement, as a line gives it, is the one at the place. */
static bool place_is(const struct scenario_place *place, const struct conf *conf)
{
	if (strcmp(conf->statement->name, place->statement) != 0 ||
	    strcmp(conf->scope, place->scope) != 0)
		return false;
	/* The line of a class does not give the number: the cloud assigns it. */
	if (conf->scope[0])
		return true;
	if (conf->statement->many_max != 0)
		return place->conf != NULL && conf->statement->same(conf, place->conf);
	return conf->number == place->number;
}

uint32_t scenario_place_column(const struct scenario_place *place, const struct command *command)
{
	const struct words *words = &command->words;
	const char *name = words_text(words, 1);

	if (place->port != NULL)
		return command->kind == COMMAND_PORT && strcmp(name, place->port) == 0
		               ? words->word[words->n > 3 ? 3 : 1].column
		               : 0;
	if (place->cloud == NULL || words->n < 3 || strcmp(name, place->cloud) != 0)
		return 0;
	if (place->statement == NULL)
		return command->kind == COMMAND_CLOUD || command->kind == COMMAND_CLOUDS
		               ? words->word[place->word].column
		               : 0;
	if (command->kind == COMMAND_NETEM)
		return netem_column(command->netem, place->statement);
	return command->kind == COMMAND_STATEMENT && place_is(place, command->conf)
	               ? statement_column(NULL, words, 2, place->field, place->letter)
	               : 0;
}

/* Returns true if the cloud is unchanged from `before`, a scenario that has been checked. */
static bool is_checked(const struct cloud_conf *cloud, const struct scenario *before)
{
	int index = before != NULL ? scenario_find_cloud(before, cloud->name) : -1;
	const struct cloud_conf *other = index >= 0 ? before->clouds[index] : NULL;
	bool same = other != NULL && cloud->n_confs == other->n_confs &&
	            cloud_conf_same_path(cloud, other);

	for (uint32_t i = 0; same && i < cloud->n_confs; i++)
		same = conf_equal(cloud->confs[i], other->confs[i]);
	return same;
}

int scenario_check_at(const struct scenario *scenario, const struct scenario *before,
                      struct scenario_place *place, struct problem *problem)
{
	*place = (struct scenario_place){.field = -1};
	if (path_check(scenario, place, problem) != 0)
		return -EINVAL;
	for (uint32_t c = 0; c < scenario->n_clouds; c++) {
		const struct cloud_conf *cloud = scenario->clouds[c];
		bool checked = is_checked(cloud, before);

		place->cloud = cloud->name;
		place->word = 1;
		for (uint32_t i = 0; i < cloud->n_confs && !checked; i++) {
			place->statement = cloud->confs[i]->statement->name;
			place->number = cloud->confs[i]->number;
			place->scope = cloud->confs[i]->scope;
			place->conf = cloud->confs[i];
			if (check_conf(cloud->confs[i], cloud, problem) != 0) {
				place->field = problem->field;
				place->letter = problem->letter;
				return -EINVAL;
			}
		}
		if (check_through(scenario, cloud, place, problem) != 0)
			return -EINVAL;
		if (feedback_proxy_check_of(scenario, cloud, problem) != 0) {
			place->statement = feedback_proxy_statement.name;
			place->number = 0;
			place->field = problem->field;
			return -EINVAL;
		}
	}
	*place = (struct scenario_place){.field = -1};
	return 0;
}

int scenario_check(const struct scenario *scenario, struct problem *problem)
{
	struct scenario_place place;

	return scenario_check_at(scenario, NULL, &place, problem);
}

#define MEAN_MORE 0.005 /* a mean that is greater by a smaller share is no matter */
#define WARNINGS  10

void scenario_warn(const struct scenario *scenario, FILE *out)
{
	uint32_t said = 0;

	path_warn(scenario, out);
	for (uint32_t i = 0; i < scenario->n_clouds && said < WARNINGS; i++) {
		const struct conf *conf = cloud_conf_get(scenario->clouds[i], "delay");
		const struct delay_conf *delay = (const struct delay_conf *)conf;
		struct delay_asked asked;

		if (!conf || conf->statement != &delay_statement || delay->jitter_ns == 0 ||
		    delay->delay_ns == 0)
			continue;
		if (delay_asked(delay, &asked) != 0) {
			alloc_failure_note();
			continue;
		}
		if (asked.mean_ns <= asked.drawn_mean_ns * (1 + MEAN_MORE))
			continue;
		char delay_text[HUMAN_UNIT_SIZE], jitter[HUMAN_UNIT_SIZE], mean[HUMAN_UNIT_SIZE];

		human_unit_format(delay_text, sizeof(delay_text), HUMAN_NS, asked.drawn_mean_ns, 5);
		human_unit_format(jitter, sizeof(jitter), HUMAN_NS, (double)delay->jitter_ns, 5);
		human_unit_format(mean, sizeof(mean), HUMAN_NS, asked.mean_ns, 3);
		fprintf(out,
		        "warning: cloud `%s`: a jitter of %s around a delay of %s would make some "
		        "delays negative; they become 0, so the mean is %s (%+.1f %%)\n",
		        scenario->clouds[i]->name, jitter, delay_text, mean,
		        (asked.mean_ns / asked.drawn_mean_ns - 1) * 100);
		said++;
	}
}
