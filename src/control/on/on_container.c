/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the programs that run containers, by their own commands: what these print is the same for
 * years, and they know where their daemons are. */
#include "on/on.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_BYTES 240
#define WORDS_MAX    7

extern char **environ;

struct asked {
	const char *program;
	const char *words[WORDS_MAX]; /* behind which the name follows */
};

static const struct asked all[] = {
        {"docker", {"container", "inspect", "-f", "{{.State.Pid}}", NULL}},
        {"podman", {"container", "inspect", "-f", "{{.State.Pid}}", NULL}},
        {"nerdctl", {"container", "inspect", "-f", "{{.State.Pid}}", NULL}},
        {"crictl", {"inspect", "-o", "go-template", "--template", "{{.info.pid}}", NULL}},
};

#define PROGRAMS (sizeof(all) / sizeof(all[0]))

/* What a program has answered: the first line of each stream. */
struct answer {
	char out[ANSWER_BYTES], complaint[ANSWER_BYTES];
	bool exists, succeeded;
};

static void read_line(int fd, char line[ANSWER_BYTES])
{
	char rest[ANSWER_BYTES];
	size_t n = 0;
	ssize_t got;

	while (n < ANSWER_BYTES - 1 && (got = read(fd, line + n, ANSWER_BYTES - 1 - n)) > 0)
		n += (size_t)got;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	while (read(fd, rest, sizeof(rest)) > 0)
		continue;
	close(fd);
}

/* The complaint is small, so it waits in its pipe meanwhile. */
static void ask(const struct asked *asked, const char *name, struct answer *answer)
{
	char *words[WORDS_MAX + 3] = {(char *)(uintptr_t)asked->program};
	posix_spawn_file_actions_t actions;
	int out[2], complaint[2], status = 0, n = 1;
	pid_t child;

	memset(answer, 0, sizeof(*answer));
	if (pipe2(out, O_CLOEXEC) < 0)
		return;
	if (pipe2(complaint, O_CLOEXEC) < 0) {
		close(out[0]);
		close(out[1]);
		return;
	}
	for (const char *const *word = asked->words; *word; word++)
		words[n++] = (char *)(uintptr_t)*word;
	words[n] = (char *)(uintptr_t)name;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, complaint[1], STDERR_FILENO);
	answer->exists = posix_spawnp(&child, asked->program, &actions, NULL, words, environ) == 0;
	posix_spawn_file_actions_destroy(&actions);
	close(out[1]);
	close(complaint[1]);
	read_line(out[0], answer->out);
	read_line(complaint[0], answer->complaint);
	if (answer->exists)
		answer->succeeded = waitpid(child, &status, 0) == child && status == 0;
}

int on_container_process(const char *name, uint64_t *pid, struct problem *problem)
{
	char complaint[ANSWER_BYTES] = "";
	const char *who = NULL;
	struct answer answer;

	for (size_t i = 0; i < PROGRAMS; i++) {
		ask(&all[i], name, &answer);
		if (answer.succeeded) {
			*pid = strtoull(answer.out, NULL, 10);
			if (*pid > 0)
				return 0;
			problem_set(problem, -1,
			            "container %s does not run (%s knows it): `%s start %s`, or "
			            "wait for it with --wait",
			            name, all[i].program, all[i].program, name);
			return -ENOENT;
		}
		/* Rather the complaint of one whose daemon answers. */
		if (answer.exists && (!who || strstr(complaint, "connect"))) {
			who = all[i].program;
			memcpy(complaint, answer.complaint, sizeof(complaint));
		}
	}
	if (who)
		problem_set(problem, -1,
		            "there is no container %s: %s says `%s`; a process of another one can "
		            "be named with --pid",
		            name, who, complaint);
	else
		problem_set(
		        problem, -1,
		        "container %s: neither docker, podman, nerdctl nor crictl is installed; "
		        "name a process of the container with --pid",
		        name);
	return -ENOENT;
}
