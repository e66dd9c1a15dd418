/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scenario of `weir exec`: that of a file, or one of a path without impairments,
 *
 *   port world
 *   port command
 *   cloud down from world to command
 *   cloud up from command to world
 *
 * and the statements of the command line behind it: `down` gets those for packets to the command.
 * With --between the ports are A and B. Several statements may follow one another in a text. One
 * ends where the name of another statement stands and what is before it is a whole; `netem` takes
 * all the rest.
 *
 * Thread: control.
 */
#ifndef WEIR_EXEC_SCENARIO_H
#define WEIR_EXEC_SCENARIO_H

#include "exec/exec_options.h"
#include "exec/exec_path.h"
#include "scenario/scenario.h"

/* 0 and the scenario is the caller's; or -errno, with a line that says what is wrong. `ports`: the
 * indices of the far one's port and the near one's. May move the first word of `both` to `config`:
 * the name of a scenario. */
int exec_scenario_make(struct exec_arguments *arguments, struct scenario **scenario,
                       uint32_t ports[EXEC_ENDS], char *message, size_t room);

#endif
