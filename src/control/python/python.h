/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A command of weir that is Python.
 *
 * The command's table of options, its help and its completion are C, as those of any other command.
 * What it does is a function `main(words)` of the package in python/src/weir. That package is in
 * the folder where this program was built, or is installed beside it, or is where Python finds
 * it.
 *
 * What the function needs of this program, it asks a process of it: a line of JSON on standard
 * input is a question, a line on standard output the answer (python_answer). $WEIR names this
 * program to it.
 *
 * Thread: the main thread.
 */
#ifndef WEIR_PYTHON_H
#define WEIR_PYTHON_H

#include <stdio.h>
#include <sys/types.h>

#include <jansson.h>

#include "text/embedded_text.h"

extern const struct embedded_text python_texts[]; /* python_start.py; made by tools/embed.py */

struct python_command {
	const char *command; /* `lab`; messages begin with it */
	const char *module;  /* that has main(words), which returns the exit status */
	const char *needs;   /* other modules, `numpy scipy`; "": none */
	const char *get;     /* how to get what is missing, `apt install python3-weir` */
	int unable;          /* the exit status if something is missing */
};

/* Replaces this process by Python, or by what $WEIR_PYTHON names, which calls main with these
 * words. Returns only if there is no Python: the exit status, after a message that says what is
 * missing, and how to get it. */
int python_become(const struct python_command *command, int n, char *const *words);

/* An option, and its value as a text; NULL: it was not given. */
struct python_value {
	const char *name, *text;
};
/* Does the same. The words are `NAME=TEXT`, for each option that was given, up to a NULL name. So
 * Python need not read the command line again. */
int python_become_with(const struct python_command *command, const struct python_value *values);

/* A question, {"ask": NAME, ...}, and the function that answers it: with an object, or NULL if
 * there is no memory. */
struct python_ask {
	const char *name;
	json_t *(*answer)(const json_t *question);
};

/* Answers the questions of `asks`, which ends with a NULL name, and those below, until the input
 * ends. If there is no memory for an answer, it is {"error": TEXT}. Returns the exit status. */
int python_answer(const struct python_ask *asks, FILE *in, FILE *out);

/* Python in a process of its own, whose standard input is a socket. */
struct python_process {
	pid_t pid;
	int unable;
	FILE *in, *out; /* from it, and to it */
};

/* Which standard output it has: this process's; or PYTHON_OWN_OUTPUT, the socket, too. */
enum python_output { PYTHON_SHARED_OUTPUT, PYTHON_OWN_OUTPUT };

/* Starts Python as python_become_with does, but in a process of its own, which ignores SIGINT,
 * SIGTERM and SIGHUP. Returns 0, or -1 after a message. */
int python_start(const struct python_command *command, const struct python_value *values,
                 enum python_output output, struct python_process *process);
/* Ends what it reads. */
void python_end_input(struct python_process *process);
/* Waits for its end. Returns its exit status; 128 and the number of the signal that has ended it;
 * or `unable`, if it was not started. All zero: it returns 0. */
int python_end(struct python_process *process);

/* Starts Python, and answers what it asks. Returns as python_end does. */
int python_run(const struct python_command *command, const struct python_value *values,
               const struct python_ask *asks);

/*
 * Questions that any command may have:
 *
 *   {"ask": "nearest", "word", "words": [...]}         {"nearest"}: the word that may be meant, or
 *                                                      null
 *   {"ask": "table", "columns": "llr", "cells": [...]} {"text"}: as text/table.h prints it
 */

#endif
