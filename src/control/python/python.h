/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A command of weir that is Python.
 *
 * The command's table of options, its help and its completion are C, as those of any other command.
 * What it does is a function `main(words)` of the package in python/src/weir. That package is in
 * the folder where this program was built, or is installed beside it, or is where Python finds
 * it.
 *
 * main gets what the command line has after it was checked, as words (weir._command.Given):
 *
 *   NAME=VALUE ...   the initial values of options
 *   -- NAME=VALUE... the options that were given, in their order
 *   -- WORD ...      the words that are no options
 *
 * NAME is without its dashes. VALUE is the text or the word; a number in the unit that a field of
 * the type is stored in; nothing for a flag. What is wrong with options together, Python says.
 *
 * What the function needs of this program, it asks a process `weir COMMAND --answer`: a line of
 * JSON on standard input is a question, a line on standard output the answer. $WEIR names this
 * program to it.
 *
 * Thread: the main thread.
 */
#ifndef WEIR_PYTHON_H
#define WEIR_PYTHON_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include <jansson.h>

#include "text/embedded_text.h"

extern const struct embedded_text python_texts[]; /* python_start.py; made by tools/embed.py */

/* A question, {"ask": NAME, ...}, and the function that answers it: with an object, or NULL if
 * there is no memory. */
struct python_ask {
	const char *name;
	json_t *(*answer)(const json_t *question);
};

struct options;

struct python_command {
	const struct options *options;
	const char *module;            /* that has main(words), which returns the exit status */
	const char *get;               /* how to get what is missing; NULL: weir's package */
	int unable;                    /* the exit status if something is missing */
	bool others;                   /* it needs other packages than weir's */
	const struct python_ask *asks; /* ends with a NULL name; or NULL */
};

/* Reads the command line, and replaces this process by Python, or by what $WEIR_PYTHON names, which
 * calls main; or answers its questions, if the command line is `--answer`. Otherwise returns the
 * exit status: after the help, an error, or a message that says what is missing, and how to get
 * it. */
int python_command(const struct python_command *command, int argc, char **argv);

/* Answers the questions of `asks`, and those below, until the input ends. If there is no memory for
 * an answer, it is {"error": TEXT}. Returns the exit status. */
int python_answer(const struct python_ask *asks, FILE *in, FILE *out);

/* Returns a path of a question in `path`, or NULL if there is none. It has a character below U+0100
 * for each byte, because a file's name need not be UTF-8. */
const char *python_path(const json_t *question, const char *name, char path[PATH_MAX]);

/* Python in a process of its own, whose standard input and output are a socket. */
struct python_process {
	pid_t pid;
	FILE *in, *out; /* from it, and to it */
};

/* Starts main of a module, without words, in such a process, which ignores SIGINT, SIGTERM and
 * SIGHUP. Its messages begin with `name`. Returns 0, or -1 after a message. */
int python_start(const char *name, const char *module, struct python_process *process);
/* Ends what it reads. */
void python_end_input(struct python_process *process);
/* Waits for its end. Returns its exit status; 128 and the number of the signal that has ended it;
 * or 1, if it was not started. All zero: it returns 0. */
int python_end(struct python_process *process);

/*
 * Questions that any command may have:
 *
 *   {"ask": "nearest", "word", "words": [...]}         {"nearest"}: the word that may be meant, or
 *                                                      null
 *   {"ask": "table", "columns": "llr", "cells": [...]} {"text"}: as text/table.h prints it
 */

#endif
