/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of the language as JSON, for programs that write, check or read scenarios themselves:
 * `weir help --json`. weir parses with the same tables, so the output cannot be out of date.
 *
 *   {"weir": "0.2.0",
 *    "statements": [{"name": "delay", "variant": null, "help": "...", "role": "line",
 *                    "number_max": 0, "many_max": 0, "scoped": false, "by_percent": false,
 *                    "clears": null, "fields": [...]}, ...],
 *    "port": [field...], "selection": [field...], "template": [field...],
 *    "forms": [{"usage": "seed N", "help": "..."}, ...],
 *    "values": [{"kind": "TIME", "written": "40ms 1.5us 2s", "help": "..."}, ...],
 *    "reasons": [{"name": "loss", "kind": "emulated", "help": "..."}, ...]}
 *
 * A field: {"name", "type", "kind", "help", "positional", "required", "rest", "inner", "min",
 * "max", "initial", "words"}. `type` names an enum field_type; min, max and initial are numbers in
 * its unit (time: ns; rate: bit/s; probability: 2^-63), or null if there is none; `words` has the
 * possible words of the value, or is null.
 *
 * Thread: pure functions, any.
 */
#ifndef WEIR_LANGUAGE_EXPORT_H
#define WEIR_LANGUAGE_EXPORT_H

#include <stdio.h>

#include "scenario/field.h"

/* Prints the tables. Returns 0, or -ENOMEM and nothing is printed, or -EIO. */
int language_json_print(FILE *out);

/*
 * The manual page weir-scenario(5), from the tables. `weir help --man` prints it; the build
 * generates the installed page with that command.
 */

/* Prints the page in man(7) macros. */
void manual_print(FILE *out);

#endif
