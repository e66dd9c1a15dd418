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
 * all the rest. A value with its unit where a statement may begin is one: `40ms` is `delay 40ms`,
 * `10mbit` is `rate 10mbit`, `1%` is `loss random 1%`, unless the text has that statement already.
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

/* Whether `word`, which stands behind the statements `before`, is the command: a program, and
 * neither a word of the language nor a further one of the last statement. `before` as a whole must
 * be right; it may be "". */
bool exec_scenario_is_command(const char *before, const char *word);

/* Whether a word is such a value. */
bool exec_scenario_is_value(const char *word);

#endif
