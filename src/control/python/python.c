/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/python.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options/options.h"
#include "text/alloc_failure.h"

/* What python3 gets besides the words of the command line. */
#define WORDS_MAX (12 + OPTIONS_MAX)
#define GET       "apt install python3-weir, or pip install ./python in weir's sources"

/* Writes the folder of the package if it is beside this program: where it is installed, or was
 * built, src/ or tests/faults/ of the build folder. Otherwise it is "". */
static void find_package(const char *program, char folder[2 * PATH_MAX])
{
	static const char *const ways[] = {WEIR_PYTHON_FROM, "../weir-python", "../../weir-python"};
	const char *slash = strrchr(program, '/');
	char package[3 * PATH_MAX];

	for (size_t i = 0; slash && i < sizeof(ways) / sizeof(ways[0]); i++) {
		snprintf(folder, 2 * PATH_MAX, "%.*s/%s", (int)(slash - program), program, ways[i]);
		snprintf(package, sizeof(package), "%s/weir/__init__.py", folder);
		if (access(package, R_OK) == 0)
			return;
	}
	folder[0] = '\0';
}

/* Adds the word NAME=VALUE. */
static void put(FILE *words, const struct field *field, const union option_value *value)
{
	fprintf(words, "%s=", field->name + 2);
	if (field->type == FIELD_TEXT)
		fputs(value->text, words);
	else if (field->type == FIELD_WORD)
		fputs(field->words[value->word], words);
	else if (field->type != FIELD_FLAG)
		fprintf(words, "%" PRIu64, value->number);
	fputc('\0', words);
}

static int put_given(const struct option_row *row, char *text, void *to,
                     struct language_error *error)
{
	struct option_row alone = *row;
	union option_value value = {.number = 0};
	int rc;

	alone.field.offset = 0;
	rc = options_take(&alone, text, &value, error);
	if (rc == 0)
		put(to, &alone.field, &value);
	return rc;
}

static void put_initial(const struct options *options, FILE *words)
{
	for (const struct option_row *row = options->rows; row->field.name; row++) {
		union option_value value = {.number = row->field.initial};

		if (row->field.initial && row->field.type == FIELD_WORD)
			value.word = (uint32_t)row->field.initial;
		if (row->field.initial)
			put(words, &row->field, &value);
	}
}

/* Becomes Python, with words that end with a 0 each, made of `argc`. Returns only if it cannot. */
static int become(const char *name, const struct python_command *command, int argc,
                  const struct printed *words)
{
	const char *named = getenv("WEIR_PYTHON");
	const char *python = named && named[0] ? named : "python3";
	char program[PATH_MAX] = "", folder[2 * PATH_MAX], unable[12];
	const char **line = calloc((size_t)argc + WORDS_MAX, sizeof(*line)), **at = line;

	if (line == NULL) {
		fprintf(stderr, "weir %s: no memory\n", name);
		return command->unable;
	}
	if (readlink("/proc/self/exe", program, sizeof(program) - 1) > 0)
		setenv("WEIR", program, 1);
	/* Otherwise Python takes the locale C for one with UTF-8, which its terminal has not. */
	setenv("PYTHONCOERCECLOCALE", "0", 0);
	find_package(program, folder);
	*at++ = python;
	/* Without the folders of other packages, Python starts in half the time. */
	if (folder[0] && !command->others)
		*at++ = "-S";
	*at++ = "-c";
	*at++ = python_texts[0].text;
	*at++ = name;
	*at++ = command->module;
	*at++ = folder;
	*at++ = command->get ? command->get : GET;
	*at++ = WEIR_VERSION;
	snprintf(unable, sizeof(unable), "%d", command->unable);
	*at++ = unable;
	for (const char *word = words->bytes; word < words->bytes + words->n;
	     word += strlen(word) + 1)
		*at++ = word;
	execvp(python, (char *const *)line);
	fprintf(stderr, "weir %s: it is Python, and %s cannot be started: %s; %s\n", name, python,
	        strerror(errno), python == named ? "$WEIR_PYTHON names it" : "apt install python3");
	free(line);
	return command->unable;
}

int python_command(const struct python_command *command, int argc, char **argv)
{
	struct options_words given;
	struct printed words;
	bool complete;
	FILE *out;
	int status;

	if (argc == 2 && command->asks && strcmp(argv[1], "--answer") == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		return python_answer(command->asks, stdin, stdout);
	}
	out = printed_begin(&words);
	put_initial(command->options, out);
	fprintf(out, "--%c", '\0');
	status = options_each(command->options, argc, argv, put_given, out, &given);
	fprintf(out, "--%c", '\0');
	for (int i = 0; status == OPTIONS_RUN && i < given.n; i++)
		fprintf(out, "%s%c", given.word[i], '\0');
	complete = printed_end(&words) != NULL;
	if (status == OPTIONS_RUN)
		status = complete ? become(command->options->command, command, argc, &words)
		                  : command->unable;
	free(words.bytes);
	return status;
}

/* In the child: what ends this process ends its parent's work, and Python has the last word. */
static void become_child(const char *name, const struct python_command *command, int end)
{
	const struct printed none = {.n = 0};

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (dup2(end, STDIN_FILENO) >= 0 && dup2(end, STDOUT_FILENO) >= 0)
		become(name, command, 0, &none);
	_exit(command->unable);
}

int python_start(const char *name, const char *module, struct python_process *process)
{
	const struct python_command command = {.module = module, .unable = 1};
	int ends[2] = {-1, -1};

	*process = (struct python_process){.pid = -1};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0 &&
	    (process->in = fdopen(ends[0], "r")) != NULL &&
	    (process->out = fdopen(fcntl(ends[0], F_DUPFD_CLOEXEC, 0), "w")) != NULL)
		process->pid = fork();
	if (process->pid == 0)
		become_child(name, &command, ends[1]);
	if (process->pid < 0)
		fprintf(stderr, "weir %s: no process for Python: %s\n", name, strerror(errno));
	if (ends[0] >= 0 && process->in == NULL)
		close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
	return process->pid < 0 ? -1 : 0;
}

void python_end_input(struct python_process *process)
{
	fflush(process->out);
	shutdown(fileno(process->out), SHUT_WR);
}

int python_end(struct python_process *process)
{
	int status = 1 << 8; /* as of an exit */

	if (process->pid == 0)
		return 0;
	if (process->out) {
		fflush(process->out);
		/* Other children of this process may have the socket, too. */
		shutdown(fileno(process->out), SHUT_RDWR);
		fclose(process->out);
	}
	if (process->in)
		fclose(process->in);
	while (process->pid > 0 && waitpid(process->pid, &status, 0) < 0 && errno == EINTR)
		;
	*process = (struct python_process){.pid = 0};
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
