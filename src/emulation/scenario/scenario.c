/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario/scenario.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct scenario *scenario_make(void)
{
	return calloc(1, sizeof(struct scenario));
}

void cloud_conf_free(struct cloud_conf *cloud)
{
	if (!cloud)
		return;
	for (uint32_t i = 0; i < cloud->n_confs; i++)
		conf_free(cloud->confs[i]);
	conf_free(cloud->selection);
	free(cloud);
}

struct cloud_conf *cloud_conf_copy(const struct cloud_conf *cloud)
{
	struct cloud_conf *copy = malloc(sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *cloud;
	copy->n_confs = 0;
	if (cloud->selection) {
		copy->selection = conf_copy(cloud->selection);
		if (!copy->selection) {
			free(copy);
			return NULL;
		}
	}
	for (; copy->n_confs < cloud->n_confs; copy->n_confs++) {
		copy->confs[copy->n_confs] = conf_copy(cloud->confs[copy->n_confs]);
		if (!copy->confs[copy->n_confs]) {
			cloud_conf_free(copy);
			return NULL;
		}
	}
	return copy;
}

static int set_folder(struct port_conf *port, const char *folder)
{
	char *own = folder && *folder ? strdup(folder) : NULL;

	if (folder && *folder && !own)
		return -ENOMEM;
	free(port->folder);
	port->folder = own;
	return 0;
}

int scenario_set_folder(struct scenario *scenario, const char *folder)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < scenario->n_ports; i++)
		rc = set_folder(&scenario->ports[i], folder);
	return rc;
}

struct scenario *scenario_copy(const struct scenario *scenario)
{
	struct scenario *copy = scenario_make();

	if (!copy)
		return NULL;
	copy->seed = scenario->seed;
	copy->seed_given = scenario->seed_given;
	for (uint32_t i = 0; i < scenario->n_ports; i++) {
		const struct port_conf *port = &scenario->ports[i];

		if (scenario_add_port(copy, port->name, port->device, port->setting) ||
		    set_folder(&copy->ports[i], port->folder))
			goto err_copy;
	}
	copy->clouds = calloc(scenario->n_clouds + 1, sizeof(struct cloud_conf *));
	if (!copy->clouds)
		goto err_copy;
	for (; copy->n_clouds < scenario->n_clouds; copy->n_clouds++) {
		copy->clouds[copy->n_clouds] = cloud_conf_copy(scenario->clouds[copy->n_clouds]);
		if (!copy->clouds[copy->n_clouds])
			goto err_copy;
		if (!names_add(&copy->index, copy->clouds[copy->n_clouds]->name, copy->n_clouds)) {
			copy->n_clouds++;
			goto err_copy;
		}
	}
	return copy;
err_copy:
	scenario_free(copy);
	return NULL;
}

void scenario_free(struct scenario *scenario)
{
	if (!scenario)
		return;
	for (uint32_t i = 0; i < scenario->n_ports; i++) {
		free(scenario->ports[i].device);
		free(scenario->ports[i].folder);
		conf_free(scenario->ports[i].setting);
	}
	for (uint32_t i = 0; i < scenario->n_clouds; i++)
		cloud_conf_free(scenario->clouds[i]);
	free(scenario->clouds);
	names_clear(&scenario->index);
	free(scenario);
}

int scenario_find_port(const struct scenario *scenario, const char *name)
{
	for (uint32_t i = 0; i < scenario->n_ports; i++) {
		if (strcmp(scenario->ports[i].name, name) == 0)
			return (int)i;
	}
	return -1;
}

int scenario_find_cloud(const struct scenario *scenario, const char *name)
{
	uint32_t i = names_find(&scenario->index, name);

	return i == NAMES_NONE ? -1 : (int)i;
}

int scenario_root(const struct scenario *scenario, const struct cloud_conf *cloud)
{
	for (int depth = 0; depth < SCENARIO_CHAIN_MAX; depth++) {
		int port = scenario_find_port(scenario, cloud->from);
		int before = port < 0 ? scenario_find_cloud(scenario, cloud->from) : -1;

		if (port >= 0)
			return port;
		if (before < 0)
			return -ENOENT;
		cloud = scenario->clouds[before];
	}
	return -ELOOP;
}

static bool name_taken(const struct scenario *scenario, const char *name)
{
	return scenario_find_port(scenario, name) >= 0 || scenario_find_cloud(scenario, name) >= 0;
}

int scenario_add_port(struct scenario *scenario, const char *name, const char *device,
                      const struct conf *setting)
{
	struct port_conf *port = &scenario->ports[scenario->n_ports];

	if (name_taken(scenario, name))
		return -EEXIST;
	if (scenario->n_ports == SCENARIO_PORTS_MAX || strlen(name) >= SCENARIO_NAME_BYTES)
		return -ENOSPC;
	strcpy(port->name, name);
	port->device = device ? strdup(device) : NULL;
	port->setting = setting ? conf_copy(setting) : NULL;
	if ((device && !port->device) || (setting && !port->setting)) {
		free(port->device);
		conf_free(port->setting);
		return -ENOMEM;
	}
	port->folder = NULL;
	scenario->n_ports++;
	return 0;
}

int scenario_add_cloud(struct scenario *scenario, const char *name, const char *from,
                       const char *to)
{
	struct cloud_conf **clouds;
	struct cloud_conf *cloud;

	if (name_taken(scenario, name))
		return -EEXIST;
	if (scenario->n_clouds == SCENARIO_CLOUDS_MAX || strlen(name) >= SCENARIO_NAME_BYTES ||
	    strlen(from) >= SCENARIO_NAME_BYTES || strlen(to) >= SCENARIO_NAME_BYTES)
		return -ENOSPC;
	cloud = calloc(1, sizeof(*cloud));
	clouds = realloc(scenario->clouds, (scenario->n_clouds + 1) * sizeof(struct cloud_conf *));
	if (clouds)
		scenario->clouds = clouds;
	if (cloud)
		strcpy(cloud->name, name);
	if (!cloud || !clouds || !names_add(&scenario->index, cloud->name, scenario->n_clouds)) {
		free(cloud);
		return -ENOMEM;
	}
	strcpy(cloud->from, from);
	strcpy(cloud->to, to);
	scenario->clouds[scenario->n_clouds++] = cloud;
	return 0;
}

static void scenario_index(struct scenario *scenario)
{
	names_empty(&scenario->index);
	for (uint32_t i = 0; i < scenario->n_clouds; i++)
		names_add(&scenario->index, scenario->clouds[i]->name, i);
}

int scenario_insert_cloud(struct scenario *scenario, uint32_t index, struct cloud_conf *cloud)
{
	struct cloud_conf **clouds =
	        realloc(scenario->clouds, (scenario->n_clouds + 1) * sizeof(struct cloud_conf *));

	if (!clouds)
		return -ENOMEM;
	scenario->clouds = clouds;
	if (!names_add(&scenario->index, cloud->name, scenario->n_clouds))
		return -ENOMEM;
	memmove(&clouds[index + 1], &clouds[index],
	        (scenario->n_clouds - index) * sizeof(struct cloud_conf *));
	clouds[index] = cloud;
	scenario->n_clouds++;
	scenario_index(scenario); /* cannot fail: names_add above has made room */
	return 0;
}

void scenario_remove_cloud(struct scenario *scenario, uint32_t index)
{
	names_empty(&scenario->index);
	cloud_conf_free(scenario->clouds[index]);
	scenario->n_clouds--;
	memmove(&scenario->clouds[index], &scenario->clouds[index + 1],
	        (scenario->n_clouds - index) * sizeof(struct cloud_conf *));
	scenario_index(scenario);
}

/* Returns the index of the first configuration of that name whose number is not less than `number`;
 * if there is none, the index at which to insert it. */
static uint32_t conf_place(const struct cloud_conf *cloud, const char *name, uint32_t number)
{
	uint32_t i = 0;

	while (i < cloud->n_confs && strcmp(cloud->confs[i]->statement->name, name) != 0)
		i++;
	while (i < cloud->n_confs && strcmp(cloud->confs[i]->statement->name, name) == 0 &&
	       cloud->confs[i]->number < number)
		i++;
	return i;
}

static bool conf_is(const struct cloud_conf *cloud, uint32_t i, const char *name)
{
	return i < cloud->n_confs && strcmp(cloud->confs[i]->statement->name, name) == 0;
}

const struct conf *cloud_conf_get(const struct cloud_conf *cloud, const char *name)
{
	uint32_t i = conf_place(cloud, name, 0);

	return conf_is(cloud, i, name) && cloud->confs[i]->scope[0] == 0 ? cloud->confs[i] : NULL;
}

const struct conf *cloud_conf_scoped(const struct cloud_conf *cloud, const char *scope,
                                     const char *name)
{
	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		if (conf_is(cloud, i, name) && strcmp(cloud->confs[i]->scope, scope) == 0)
			return cloud->confs[i];
	}
	return NULL;
}

uint32_t cloud_class_number(const struct cloud_conf *cloud, const char *scope)
{
	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		if (cloud->confs[i]->statement->scoped &&
		    strcmp(cloud->confs[i]->scope, scope) == 0)
			return cloud->confs[i]->number;
	}
	return 0;
}

uint32_t cloud_class_free(const struct cloud_conf *cloud)
{
	uint32_t number = 0;

	for (uint32_t i = 0; i < cloud->n_confs; i++) {
		if (cloud->confs[i]->number > number && cloud->confs[i]->statement->scoped)
			number = cloud->confs[i]->number;
	}
	return number + 1;
}

const struct conf *cloud_conf_next(const struct cloud_conf *cloud, const struct conf *conf)
{
	const char *name = conf->statement->name;
	uint32_t i;

	if (conf->number == 0 || conf->scope[0])
		return NULL;
	i = conf_place(cloud, name, conf->number + 1);
	return conf_is(cloud, i, name) ? cloud->confs[i] : NULL;
}

bool cloud_conf_same_path(const struct cloud_conf *a, const struct cloud_conf *b)
{
	return a->many == b->many && strcmp(a->from, b->from) == 0 && strcmp(a->to, b->to) == 0 &&
	       conf_equal(a->selection, b->selection);
}

bool cloud_conf_same(const struct cloud_conf *before, const struct cloud_conf *after,
                     const char *name)
{
	const struct conf *a = before ? cloud_conf_get(before, name) : NULL;
	const struct conf *b = cloud_conf_get(after, name);

	while (a && b && conf_equal(a, b)) {
		a = cloud_conf_next(before, a);
		b = cloud_conf_next(after, b);
	}
	return !a && !b;
}

/* For a statement that a cloud has several times: returns the number of the one that `conf`
 * replaces, or the number behind the last. */
static uint32_t number_for(const struct cloud_conf *cloud, const struct conf *conf)
{
	const struct conf *other = cloud_conf_get(cloud, conf->statement->name);
	uint32_t last = 0;

	for (; other; other = cloud_conf_next(cloud, other)) {
		if (conf->statement->same(conf, other))
			return other->number;
		last = other->number;
	}
	return last + 1;
}

int cloud_conf_put(struct cloud_conf *cloud, struct conf *conf)
{
	uint32_t i;

	if (conf->scope[0] && conf->number == 0)
		conf->number = cloud_class_number(cloud, conf->scope);
	if (conf->scope[0] && conf->number == 0)
		conf->number = cloud_class_free(cloud);
	if (conf->statement->many_max) {
		conf->number = number_for(cloud, conf);
		if (conf->statement->replaces_as_last &&
		    !cloud_conf_remove_number(cloud, conf->statement->name, conf->number))
			conf->number = number_for(cloud, conf);
		if (conf->number > conf->statement->many_max)
			return -ENOSPC;
	}
	i = conf_place(cloud, conf->statement->name, conf->number);
	if (conf_is(cloud, i, conf->statement->name) && cloud->confs[i]->number == conf->number) {
		conf_free(cloud->confs[i]);
		cloud->confs[i] = conf;
		return 0;
	}
	if (cloud->n_confs == CLOUD_CONFS_MAX)
		return -ENOSPC;
	memmove(&cloud->confs[i + 1], &cloud->confs[i],
	        (cloud->n_confs - i) * sizeof(struct conf *));
	cloud->confs[i] = conf;
	cloud->n_confs++;
	return 0;
}

static void conf_take_out(struct cloud_conf *cloud, uint32_t i)
{
	conf_free(cloud->confs[i]);
	cloud->n_confs--;
	memmove(&cloud->confs[i], &cloud->confs[i + 1],
	        (cloud->n_confs - i) * sizeof(struct conf *));
}

int cloud_conf_remove(struct cloud_conf *cloud, const char *name)
{
	uint32_t i = conf_place(cloud, name, 0);

	if (!conf_is(cloud, i, name))
		return -ENOENT;
	while (conf_is(cloud, i, name))
		conf_take_out(cloud, i);
	return 0;
}

int cloud_conf_remove_scope(struct cloud_conf *cloud, const char *scope)
{
	char name[sizeof(cloud->confs[0]->scope)];
	uint32_t number = cloud_class_number(cloud, scope);
	int error = -ENOENT;

	/* `scope` may belong to a configuration that is freed here. */
	__builtin_snprintf(name, sizeof(name), "%s", scope);
	for (uint32_t i = cloud->n_confs; i-- > 0;) {
		if (strcmp(cloud->confs[i]->scope, name) != 0)
			continue;
		conf_take_out(cloud, i);
		error = 0;
	}
	for (uint32_t i = 0; number != 0 && i < cloud->n_confs; i++) {
		if (cloud->confs[i]->scope[0] && cloud->confs[i]->number > number)
			cloud->confs[i]->number--;
	}
	return error;
}

int cloud_conf_remove_number(struct cloud_conf *cloud, const char *name, uint32_t number)
{
	uint32_t i = conf_place(cloud, name, number);
	bool many;

	if (!conf_is(cloud, i, name) || cloud->confs[i]->number != number)
		return -ENOENT;
	many = cloud->confs[i]->statement->many_max != 0;
	conf_take_out(cloud, i);
	for (; many && conf_is(cloud, i, name); i++)
		cloud->confs[i]->number--;
	return 0;
}
