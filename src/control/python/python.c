/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/python.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define BEFORE_MAX 11 /* what python3 gets before the words of the command */
#define VALUES_MAX 16 /* options of a command */

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

int python_become(const struct python_command *command, int n, char *const *words)
{
	const char *named = getenv("WEIR_PYTHON");
	const char *python = named && named[0] ? named : "python3";
	char program[PATH_MAX] = "", folder[2 * PATH_MAX], unable[12];
	const char **line = calloc((size_t)n + BEFORE_MAX + 1, sizeof(*line)), **at = line;

	if (line == NULL) {
		fprintf(stderr, "weir %s: no memory\n", command->command);
		return command->unable;
	}
	if (readlink("/proc/self/exe", program, sizeof(program) - 1) > 0)
		setenv("WEIR", program, 1);
	find_package(program, folder);
	*at++ = python;
	/* Without the folders of other packages, Python starts in half the time. */
	if (folder[0] && !command->needs[0])
		*at++ = "-S";
	*at++ = "-c";
	*at++ = python_texts[0].text;
	*at++ = command->command;
	*at++ = command->module;
	*at++ = folder;
	*at++ = command->needs;
	*at++ = command->get;
	*at++ = WEIR_VERSION;
	snprintf(unable, sizeof(unable), "%d", command->unable);
	*at++ = unable;
	memcpy(at, words, (size_t)n * sizeof(*words));
	execvp(python, (char *const *)line);
	fprintf(stderr, "weir %s: it is Python, and %s cannot be started: %s; %s\n",
	        command->command, python, strerror(errno),
	        python == named ? "$WEIR_PYTHON names it" : "apt install python3");
	free(line);
	return command->unable;
}

int python_become_with(const struct python_command *command, const struct python_value *values)
{
	char *words[VALUES_MAX] = {NULL};
	int n = 0, status;

	for (const struct python_value *value = values; value->name && n < VALUES_MAX; value++)
		if (value->text && asprintf(&words[n], "%s=%s", value->name, value->text) >= 0)
			n++;
	status = python_become(command, n, words);
	while (n > 0)
		free(words[--n]);
	return status;
}

/* In the child: what ends this process ends its parent's work, and Python has the last word. */
static void become_child(const struct python_command *command, const struct python_value *values,
                         enum python_output output, int end)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (dup2(end, STDIN_FILENO) < 0 ||
	    (output == PYTHON_OWN_OUTPUT && dup2(end, STDOUT_FILENO) < 0))
		_exit(command->unable);
	_exit(python_become_with(command, values));
}

int python_start(const struct python_command *command, const struct python_value *values,
                 enum python_output output, struct python_process *process)
{
	int ends[2] = {-1, -1};

	*process = (struct python_process){.pid = -1, .unable = command->unable};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0 &&
	    (process->in = fdopen(ends[0], "r")) != NULL &&
	    (process->out = fdopen(fcntl(ends[0], F_DUPFD_CLOEXEC, 0), "w")) != NULL)
		process->pid = fork();
	if (process->pid == 0)
		become_child(command, values, output, ends[1]);
	if (process->pid < 0)
		fprintf(stderr, "weir %s: no process for Python: %s\n", command->command,
		        strerror(errno));
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
	int status = process->unable << 8; /* as of an exit */

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

int python_run(const struct python_command *command, const struct python_value *values,
               const struct python_ask *asks)
{
	struct python_process process;

	if (python_start(command, values, PYTHON_SHARED_OUTPUT, &process) == 0)
		python_answer(asks, process.in, process.out);
	return python_end(&process);
}
