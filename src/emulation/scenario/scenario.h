/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scenario: the user's configuration, as data. The language (control/) makes and prints it, and
 * the engine builds clouds from it. It is a value: a change is made on a copy, which is checked as
 * a whole and then replaces the original.
 *
 * Ownership: scenario_free frees everything that belongs to the scenario.
 *
 * Thread: control side only.
 */
#ifndef WEIR_SCENARIO_H
#define WEIR_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include "scenario/names.h"
#include "scenario/statement.h"

#define SCENARIO_NAME_BYTES 32 /* with the final 0: letters, digits, '-', '_', '.' */
#define SCENARIO_PORTS_MAX  64
#define SCENARIO_CLOUDS_MAX 262144
#define SCENARIO_CHAIN_MAX  64 /* clouds one behind the other */
#define CLOUD_CONFS_MAX     64
#define CLASSES_MAX         8  /* of a link */
#define CLOUD_STAGES_MAX    32 /* statements that act on arrival */

/* The prefix of a device text that names an interface of the kernel: `port a interface eth1`. */
#define PORT_INTERFACE "interface:"
/* Those of the two sides of an interface: `port a inside eth1`, `port b outside eth1`. */
#define PORT_INSIDE  "inside:"
#define PORT_OUTSIDE "outside:"
/* The name of an interface, with the final 0: an alternative name may have 127 letters. */
#define INTERFACE_NAME_BYTES 128

struct port_conf {
	char name[SCENARIO_NAME_BYTES];
	char *device; /* `net_af_packet0,iface=veth-a`, `0000:03:00.0`; NULL: bound by the command
	                 line */
	struct conf *setting; /* of the device (port_setting.h), owned; NULL: none given */
	/* The folder of the scenario file, with a final slash. A file that the device names is
	 * looked for here first. Owned; NULL: only the working directory of this process is
	 * searched. */
	char *folder;
};

struct cloud_conf {
	char name[SCENARIO_NAME_BYTES];
	char from[SCENARIO_NAME_BYTES]; /* a port, or the cloud whose packets it takes */
	char to[SCENARIO_NAME_BYTES];   /* a port */
	bool many;                      /* a template: one cloud an address (template.h) */
	struct conf *selection;         /* which packets it takes (selection.h), owned; NULL: all */
	/* One configuration for each statement name, or for each name and number if the statement
	 * is numbered or belongs to a class, which has a number. Names stand in the order given,
	 * numbers ascending and together. Owned. The engine sorts stages by the statement table;
	 * show prints in that order too. */
	struct conf *confs[CLOUD_CONFS_MAX];
	uint32_t n_confs;
};

struct scenario {
	uint64_t seed;
	bool seed_given;
	struct port_conf ports[SCENARIO_PORTS_MAX];
	uint32_t n_ports;
	struct cloud_conf **clouds; /* owned, in the order of definition */
	uint32_t n_clouds;
	struct names index; /* of the clouds, by name */
};

/* Makes a configuration of the statement with the initial value in every field, and number 1 if the
 * statement is numbered. Returns NULL if there is no memory. */
struct conf *conf_make(const struct statement *statement);
struct conf *conf_copy(const struct conf *conf);
void conf_free(struct conf *conf);
/* Returns true if statement, number, scope and all fields are equal, or both are NULL. */
bool conf_equal(const struct conf *a, const struct conf *b);
/* Does the same, but for the number, and not for NULL. */
bool conf_alike(const struct conf *a, const struct conf *b);

struct cloud_conf *cloud_conf_copy(const struct cloud_conf *cloud);
void cloud_conf_free(struct cloud_conf *cloud);

struct scenario *scenario_make(void);
struct scenario *scenario_copy(const struct scenario *scenario);
/* Sets the folder of all ports; "": none. Returns 0 or -ENOMEM. */
int scenario_set_folder(struct scenario *scenario, const char *folder);
void scenario_free(struct scenario *scenario);

/* Return an index, or -1. */
int scenario_find_port(const struct scenario *scenario, const char *name);
int scenario_find_cloud(const struct scenario *scenario, const char *name);
/* Returns the index of the port at which the packets of a cloud came in, or -ENOENT if a place on
 * the way does not exist, or -ELOOP if the chain never reaches a port or is longer than
 * SCENARIO_CHAIN_MAX. */
int scenario_root(const struct scenario *scenario, const struct cloud_conf *cloud);
/* Adds a port. `setting` is that of its device, and is copied; NULL: none. Returns 0, -EEXIST if a
 * port or a cloud has the name, -ENOSPC or -ENOMEM. */
int scenario_add_port(struct scenario *scenario, const char *name, const char *device,
                      const struct conf *setting);
/* Returns 0, or an error as scenario_add_port. */
int scenario_add_cloud(struct scenario *scenario, const char *name, const char *from,
                       const char *to);
/* Inserts a cloud before the one at `index`, and takes ownership of it. Its name must be free.
 * Returns 0, or -ENOMEM; then the caller still owns the cloud. */
int scenario_insert_cloud(struct scenario *scenario, uint32_t index, struct cloud_conf *cloud);
void scenario_remove_cloud(struct scenario *scenario, uint32_t index);

/* Returns the configuration of the statement `name`, the first one if it is numbered, or NULL.
 * Never returns one of a class. */
const struct conf *cloud_conf_get(const struct cloud_conf *cloud, const char *name);
/* Returns the configuration of the statement `name` in a class; scope "": the cloud's own. Or
 * NULL. */
const struct conf *cloud_conf_scoped(const struct cloud_conf *cloud, const char *scope,
                                     const char *name);
/* Return the number of the class `scope`, or 0 if there is none; and the first number behind those
 * of all classes. */
uint32_t cloud_class_number(const struct cloud_conf *cloud, const char *scope);
uint32_t cloud_class_free(const struct cloud_conf *cloud);
/* Removes all configurations of this scope. The classes behind it move up, so that the numbers are
 * those that the same lines give in a file. Returns 0, or -ENOENT if there is none. */
int cloud_conf_remove_scope(struct cloud_conf *cloud, const char *scope);
/* Returns the configuration of the same name with the next number, or NULL after the last. */
const struct conf *cloud_conf_next(const struct cloud_conf *cloud, const struct conf *conf);
/* Returns true if both clouds begin and end at the same places and take the same packets. */
bool cloud_conf_same_path(const struct cloud_conf *a, const struct cloud_conf *b);
/* Returns true if both clouds have the same configurations of the statement `name`, or none.
 * `before` may be NULL. */
bool cloud_conf_same(const struct cloud_conf *before, const struct cloud_conf *after,
                     const char *name);
/* Puts `conf` into the cloud and takes ownership of it. It replaces the one with the same name and
 * number, or the one that is the `same` (statement.h). A configuration of a class gets the number
 * of the class, or the next free one. Returns 0, or -ENOSPC if the cloud is full; then the caller
 * still owns `conf`. */
int cloud_conf_put(struct cloud_conf *cloud, struct conf *conf);
/* Removes all configurations of that name. Returns 0, or -ENOENT if there is none. */
int cloud_conf_remove(struct cloud_conf *cloud, const char *name);
/* Removes the configuration with that number. Returns 0, or -ENOENT. */
int cloud_conf_remove_number(struct cloud_conf *cloud, const char *name, uint32_t number);

#endif
