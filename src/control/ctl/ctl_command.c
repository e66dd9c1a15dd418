/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "command.h"
#include "ctl/ctl.h"
#include "ctl/ctl_link.h"
#include "options/options.h"
#include "python/python.h"
#include "socket/session.h"
#include "text/alloc_failure.h"
#include "text/word.h"

enum { STATUS_DONE, STATUS_WRONG, STATUS_USAGE };

struct ctl {
	const char *socket; /* NULL: the default */
	const char *file;   /* -f */
	bool json;
	struct ctl_link link;
};

static const struct option_row rows[] = {
        {OPTION_SOCKET(struct ctl)},
        {OPTION_JSON(struct ctl, "answers as JSON objects, one per line, errors included")},
        {.letter = 'f',
         OPTION("--file", FIELD_TEXT, struct ctl, file, .form = "FILE",
                .help = "applies the changes in a file (-: standard input) as one transaction, all "
                        "or nothing")},
        OPTIONS_END,
};

const struct options ctl_options = {
        .command = "ctl",
        .usage = "[-s SOCKET] [-j] [COMMAND ...]\n"
                 "[-s SOCKET] [-j] -f FILE\n"
                 "[-s SOCKET] [-j] events [from SEQ]\n"
                 "[-s SOCKET] [-j] sample INTERVAL\n"
                 "[-s SOCKET] capture CLOUD|PORT|all [POINTS] [match EXPRESSION] [snap N]\n"
                 "                    [for TIME | N packets] -o FILE|-\n"
                 "[-s SOCKET] trace [CLOUD|PORT] next N [match EXPRESSION]\n"
                 "[-s SOCKET] [-j] explain [CLOUD|PORT] [match EXPRESSION] [for TIME]\n"
                 "                    [-o FILE]\n"
                 "[-s SOCKET] [-j] load FILE\n"
                 "[-s SOCKET] [-j] save [FILE]",
        .does = "Controls a running weir: queries it, changes its scenario while packets flow.",
        .about = "COMMAND is one command of the scenario language: show cloud down. Without one:\n"
                 "a shell with history and completion; from a pipe, one command per line.\n"
                 "load FILE puts the scenario of a file in force, all of it or nothing;\n"
                 "save [FILE] writes the scenario in force as such a file.\n"
                 "capture writes packets at points of a cloud (in,queue,drops,out) as one pcapng,\n"
                 "with the reason of each loss and mark; trace describes the path of the next N.\n"
                 "explain says where the time of each connection went; -o FILE has it as JSON.\n"
                 "events and sample print events and counters as they come.\n",
        .end = "Exit status: 0 done, 1 the answer was an error, 2 no command was sent.\n"
               "Commands: weir ctl help\n",
        .rows = rows,
        .until_word = true,
};

static int ctl_connect(struct ctl *ctl)
{
	struct problem problem;

	if (ctl_link_open(&ctl->link, ctl->socket, CTL_ANSWER_TIMEOUT_S, &problem) == 0)
		return 0;
	fprintf(stderr, "weir ctl: %s\n", problem.text);
	return -1;
}

static int ctl_lost(int error)
{
	fprintf(stderr, "weir ctl: %s\n",
	        error == -ECONNRESET  ? "weir hung up before it answered; is it still running?"
	        : error == -ETIMEDOUT ? "weir does not answer; its log may say why"
	                              : strerror(-error));
	return STATUS_WRONG;
}

/* Prints an answer; in text, `at` precedes an error. */
static int ctl_print(const struct ctl *ctl, const struct ctl_answer *answer, const char *at)
{
	json_t *object;

	fputs(answer->body, stdout);
	if (answer->ok &&
	    (answer->body_n == 0 || strncmp(answer->body, SESSION_WAS, strlen(SESSION_WAS)) == 0))
		puts("ok");
	if (answer->ok)
		return STATUS_DONE;
	if (!ctl->json) {
		fprintf(stderr, "weir ctl: %s%s\n", at, answer->error);
	} else if (answer->body_n == 0) {
		/* the server refused in text: JSON was not on yet */
		object = json_pack("{s:b,s:{s:s,s:i,s:s}}", "ok", 0, "error", "name", "server",
		                   "column", 0, "message", answer->error);
		json_dumpf(object, stdout, JSON_COMPACT);
		putchar('\n');
		json_decref(object);
	}
	return STATUS_WRONG;
}

static int ctl_ask(struct ctl *ctl, const char *line, const char *at)
{
	struct ctl_answer answer;
	int result = ctl_link_ask(&ctl->link, line, &answer), status;

	if (result != 0)
		return ctl_lost(result);
	status = ctl_print(ctl, &answer, at);
	ctl_answer_release(&answer);
	if (status != STATUS_DONE || !ctl_stream_line(line))
		return status;
	result = ctl_stream_print(&ctl->link);
	return result == 0 || result == -EPIPE ? STATUS_DONE : STATUS_WRONG;
}

/* Executes a command of this side, or sends it to the server. */
static int ctl_say(struct ctl *ctl, const char *line, const char *at)
{
	int result;

	if (ctl_scenario_line(&ctl->link, line, &result) ||
	    ctl_capture_line(&ctl->link, line, &result))
		return result == 0 ? STATUS_DONE : STATUS_WRONG;
	return ctl_ask(ctl, line, at);
}

static int ctl_json(struct ctl *ctl)
{
	struct ctl_answer answer;
	int result, status = STATUS_DONE;

	if (!ctl->json)
		return STATUS_DONE;
	result = ctl_link_ask(&ctl->link, "json on", &answer);
	if (result != 0)
		return ctl_lost(result);
	if (!answer.ok)
		status = ctl_print(ctl, &answer, "");
	ctl_answer_release(&answer);
	return status;
}

/* Makes a line of the arguments: a single argument is the line as it is; of several, each becomes a
 * word. */
static char *ctl_line(int n, char **arguments)
{
	struct printed line;
	FILE *out;

	if (n == 1)
		return strdup(arguments[0]);
	out = printed_begin(&line);
	for (int i = 0; i < n; i++) {
		fputs(i > 0 ? " " : "", out);
		word_print(out, arguments[i], false);
	}
	return printed_end(&line);
}

static int ctl_one(struct ctl *ctl, int n, char **arguments)
{
	char *line = ctl_line(n, arguments);
	int status = STATUS_USAGE;

	if (line == NULL) {
		fputs("weir ctl: no memory\n", stderr);
		return STATUS_WRONG;
	}
	if (strpbrk(line, "\r\n") != NULL)
		fputs("weir ctl: a command is one line; several go into a file, with -f FILE, or "
		      "through a pipe\n",
		      stderr);
	else if (ctl_connect(ctl) == 0) {
		status = ctl_json(ctl);
		if (status == STATUS_DONE)
			status = ctl_say(ctl, line, "");
	}
	free(line);
	return status;
}

/* Executes lines from a pipe, each a command. An error does not stop the rest. */
static int ctl_lines(struct ctl *ctl)
{
	char *line = NULL, at[32];
	size_t room = 0;
	int status = ctl_json(ctl);
	ssize_t n;

	for (unsigned number = 1; status != STATUS_USAGE && (n = getline(&line, &room, stdin)) >= 0;
	     number++) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[strspn(line, " \t")] == '\0')
			continue;
		if (strcmp(line, "quit") == 0 || strcmp(line, "exit") == 0)
			break;
		snprintf(at, sizeof(at), "line %u: ", number);
		if (ctl_say(ctl, line, at) != STATUS_DONE)
			status = STATUS_WRONG;
		fflush(stdout);
	}
	if (ferror(stdin)) {
		fprintf(stderr, "weir ctl: standard input: %s; what follows there was not sent\n",
		        strerror(errno));
		status = STATUS_WRONG;
	}
	free(line);
	return status;
}

static int ctl_file(struct ctl *ctl)
{
	struct ctl_batch batch;
	int status = STATUS_USAGE;

	if (ctl_batch_load(&batch, ctl->file, false) != 0)
		return STATUS_USAGE;
	if (ctl_connect(ctl) == 0)
		status = ctl_batch_send(&batch, &ctl->link, ctl->json) == 0 ? STATUS_DONE
		                                                            : STATUS_WRONG;
	ctl_batch_free(&batch);
	return status;
}

int command_ctl(int argc, char **argv)
{
	static const struct python_command shell = {
	        .options = &ctl_options,
	        .module = "weir.ctl.shell",
	        .get = "apt install python3-weir; or give the command as arguments",
	        .unable = STATUS_USAGE,
	};
	struct ctl ctl = {.link = {.fd = -1}};
	struct options_words words;
	int status = options_read(&ctl_options, argc, argv, &ctl, &words);

	if (status != OPTIONS_RUN)
		return status;
	if (ctl.file != NULL && words.n > 0)
		return options_wrong(&ctl_options, "either -f FILE or a command, not both (%s)",
		                     words.word[0]);
	if (ctl.file != NULL)
		status = ctl_file(&ctl);
	else if (words.n > 0)
		status = ctl_one(&ctl, words.n, words.word);
	else if (isatty(STDIN_FILENO))
		status = python_command(&shell, argc, argv);
	else
		status = ctl_connect(&ctl) == 0 ? ctl_lines(&ctl) : STATUS_USAGE;
	ctl_link_close(&ctl.link);
	if (fflush(stdout) != 0 && status == STATUS_DONE) {
		fprintf(stderr, "weir ctl: standard output: %s\n", strerror(errno));
		status = STATUS_WRONG;
	}
	return status;
}
