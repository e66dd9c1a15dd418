/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scenario: the user's configuration, as data. The language (control/) makes and prints it, the
 * engine builds clouds from it. It is a value: a change is made on a copy, checked as a whole, and
 * then takes the place of the old one.
 *
 * Ownership: scenario_free gives back everything that hangs on it.
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

/* What a device text begins with that is an interface of the kernel: `port a interface eth1`. */
#define PORT_INTERFACE "interface:"

struct port_conf {
	char name[SCENARIO_NAME_BYTES];
	char *device; /* `net_af_packet0,iface=veth-a`, `0000:03:00.0`; NULL: bound by the command
	                 line */
	struct conf *setting; /* of the device (port_setting.h), owned; NULL: nothing is known */
	/* Of the scenario file, ending with a slash: where a file that the device names is looked
	 * for first. Owned; NULL: nowhere but where this process was started. */
	char *folder;
};

struct cloud_conf {
	char name[SCENARIO_NAME_BYTES];
	char from[SCENARIO_NAME_BYTES]; /* a port, or the cloud that it goes on from */
	char to[SCENARIO_NAME_BYTES];   /* a port */
	bool many;                      /* a template: one cloud an address (template.h) */
	struct conf *selection;         /* which packets it takes (selection.h), owned; NULL: all */
	/* One configuration a statement name, or a name and a number where statements are numbered,
	 * or belong to a class, which has a number; names in the order given, numbers ascending and
	 * together; owned. The engine sorts stages by the statement table, show prints in that
	 * order too. */
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

/* A configuration of the statement with every field at its initial value, number 1 if it is
 * numbered. NULL: no memory. */
struct conf *conf_make(const struct statement *statement);
struct conf *conf_copy(const struct conf *conf);
void conf_free(struct conf *conf);
/* Same statement, same number, and same value in every field. */
bool conf_equal(const struct conf *a, const struct conf *b);

struct cloud_conf *cloud_conf_copy(const struct cloud_conf *cloud);
void cloud_conf_free(struct cloud_conf *cloud);

struct scenario *scenario_make(void);
struct scenario *scenario_copy(const struct scenario *scenario);
/* The folder of all ports; "": none. 0 or -ENOMEM. */
int scenario_set_folder(struct scenario *scenario, const char *folder);
void scenario_free(struct scenario *scenario);

/* Index or -1. */
int scenario_find_port(const struct scenario *scenario, const char *name);
int scenario_find_cloud(const struct scenario *scenario, const char *name);
/* The port at which the packets of a cloud came in: index, or -ENOENT (a place on the way does not
 * exist), -ELOOP (the chain never comes to a port, or is longer than SCENARIO_CHAIN_MAX). */
int scenario_root(const struct scenario *scenario, const struct cloud_conf *cloud);
/* `setting`: what is known of its device, a copy of which is made; NULL: nothing. 0, or -EEXIST
 * (name taken by a port or a cloud), -ENOSPC, -ENOMEM. */
int scenario_add_port(struct scenario *scenario, const char *name, const char *device,
                      const struct conf *setting);
/* 0, or as scenario_add_port. */
int scenario_add_cloud(struct scenario *scenario, const char *name, const char *from,
                       const char *to);
/* Puts a cloud, whose name is free and whose ownership passes, before the one of that index. 0 or
 * -ENOMEM, and then it is still the caller's. */
int scenario_insert_cloud(struct scenario *scenario, uint32_t index, struct cloud_conf *cloud);
void scenario_remove_cloud(struct scenario *scenario, uint32_t index);

/* The configuration of the statement called `name`, the first if it is numbered, or NULL; never one
 * of a class. */
const struct conf *cloud_conf_get(const struct cloud_conf *cloud, const char *name);
/* That of a class, by its name; "": the cloud's own. */
const struct conf *cloud_conf_scoped(const struct cloud_conf *cloud, const char *scope,
                                     const char *name);
/* The number of the class of that name, 0: there is none; and one that no class has. */
uint32_t cloud_class_number(const struct cloud_conf *cloud, const char *scope);
uint32_t cloud_class_free(const struct cloud_conf *cloud);
/* All that has this scope; the classes behind it move up, so the numbers are those that the same
 * lines give in a file. -ENOENT when there is nothing. */
int cloud_conf_remove_scope(struct cloud_conf *cloud, const char *scope);
/* The one behind it: the same name, the next number; NULL: that was the last. */
const struct conf *cloud_conf_next(const struct cloud_conf *cloud, const struct conf *conf);
/* Puts `conf`, whose ownership passes, in the place of the one with its statement's name and its
 * number, or of the one that is the same (stage.h), if any; one of a class gets the class's number,
 * or the next. -ENOSPC when full. */
int cloud_conf_put(struct cloud_conf *cloud, struct conf *conf);
/* All of that name; -ENOENT when there is none. */
int cloud_conf_remove(struct cloud_conf *cloud, const char *name);
/* The one with that number. */
int cloud_conf_remove_number(struct cloud_conf *cloud, const char *name, uint32_t number);

#endif
