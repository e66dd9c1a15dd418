/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scenario of `weir exec`: that of a file, or one of a path without impairments,
 *
 *   port world
 *   port command
 *   cloud down from world to command
 *   cloud up from command to world
 *
 * followed by the statements of the command line (short_form.h): `down` is for packets to the
 * command. With --between the ports are A and B.
 *
 * Thread: control.
 */
#ifndef WEIR_EXEC_SCENARIO_H
#define WEIR_EXEC_SCENARIO_H

#include "exec/exec_options.h"
#include "exec/exec_path.h"
#include "scenario/scenario.h"

/* Makes the scenario. Returns 0, and the scenario is the caller's; or -errno, with a line that
 * describes the error. `ports` receives the indices of the far and the near port. May move the
 * first word of `both` to `config`: the name of a scenario. */
int exec_scenario_make(struct exec_arguments *arguments, struct scenario **scenario,
                       uint32_t ports[EXEC_ENDS], char *message, size_t room);

/* Returns true if `word`, which follows the statements `before`, is the command: a program, and
 * neither a word of the language nor another word of the last statement. `before` as a whole must
 * be correct; it may be "". */
bool exec_scenario_is_command(const char *before, const char *word);

#endif
