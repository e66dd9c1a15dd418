/* SPDX-License-Identifier: BSD-3-Clause */
#include "ctl/shell.h"

#include <errno.h>
#include <histedit.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "language/complete.h"
#include "language/scenario_file.h"

/* Commands of the conversation, in addition to the words of the language. */
static const char *const phrases[] = {
        "abort", "begin",  "begin lease", "begin whole", "commit", "events", "events from",
        "exit",  "hello",  "json off",    "json on",     "keep",   "load",   "quit",
        "renew", "revert", "sample",      "save",        NULL};
#define PHRASES (sizeof(phrases) / sizeof(phrases[0]))

void shell_choices_free(char **choices)
{
	for (char **choice = choices; choice != NULL && *choice != NULL; choice++)
		free(*choice);
	free(choices);
}

/* Adds the first n bytes of `word`, unless the last choice is the same. */
static bool choices_add(char **choices, uint32_t *count, const char *word, size_t n)
{
	if (*count > 0 && strlen(choices[*count - 1]) == n &&
	    strncmp(choices[*count - 1], word, n) == 0)
		return true;
	choices[*count] = strndup(word, n);
	if (choices[*count] == NULL)
		return false;
	choices[++*count] = NULL;
	return true;
}

/* Adds the words being typed of the phrases that begin as the line does. */
static bool choices_add_phrases(char **choices, uint32_t *count, const char *line)
{
	const char *typed = line + strspn(line, " \t"), *last = strrchr(typed, ' ');
	size_t at = last != NULL ? (size_t)(last + 1 - typed) : 0;

	for (const char *const *phrase = phrases; *phrase != NULL; phrase++)
		if (strncmp(*phrase, typed, strlen(typed)) == 0 &&
		    !choices_add(choices, count, *phrase + at, strcspn(*phrase + at, " ")))
			return false;
	return true;
}

/* Returns the length of the prefix that all choices have in common. */
static size_t choices_common(char *const *choices)
{
	size_t common = strlen(choices[0]);

	for (char *const *choice = choices + 1; *choice != NULL; choice++) {
		size_t i = 0;

		while (i < common && (*choice)[i] == choices[0][i])
			i++;
		common = i;
	}
	return common;
}

/* Returns what the choices have in common beyond the `have` bytes typed, and a blank after a single
 * choice. */
static char *choices_insert(char *const *choices, uint32_t count, size_t have)
{
	size_t common;
	char *insert;

	if (count == 0)
		return strdup("");
	common = choices_common(choices);
	if (common < have)
		common = have;
	if (asprintf(&insert, "%.*s%s", (int)(common - have), choices[0] + have,
	             count == 1 ? " " : "") < 0)
		return NULL;
	return insert;
}

char **shell_candidates(const char *line, const struct scenario *scenario, size_t *start)
{
	struct completion completion;
	uint32_t n = 0;
	char **found;
	bool added;

	if (complete(line, scenario, &completion) != 0)
		return NULL;
	*start = completion.start;
	found = calloc(completion.n + PHRASES, sizeof(*found));
	added = found != NULL;
	for (uint32_t i = 0; i < completion.n && added; i++)
		added = choices_add(found, &n, completion.words[i], strlen(completion.words[i]));
	added = added && choices_add_phrases(found, &n, line);
	complete_release(&completion);
	if (added)
		return found;
	shell_choices_free(found);
	return NULL;
}

int shell_complete(const char *line, size_t cursor, const struct scenario *scenario, char **insert,
                   char ***choices)
{
	char *typed = strndup(line, cursor), **found = NULL;
	uint32_t n = 0;
	size_t start;

	*insert = NULL;
	*choices = NULL;
	if (typed != NULL)
		found = shell_candidates(typed, scenario, &start);
	free(typed);
	if (found == NULL)
		return -ENOMEM;
	while (found[n] != NULL)
		n++;
	*insert = choices_insert(found, n, cursor - start);
	if (n > 1 && *insert != NULL)
		*choices = found;
	else
		shell_choices_free(found);
	return *insert != NULL ? 0 : -ENOMEM;
}

#define CACHE_S 5 /* age at which the names of ports and clouds are fetched again */

struct shell {
	struct ctl_link *link;
	const char *path;
	EditLine *edit;
	History *history;
	HistEvent event;
	bool in_batch;
	bool cancelled;            /* the line was cancelled, by ^C */
	struct scenario *scenario; /* the server's, for completion; NULL: not fetched */
	time_t fetched;
};

bool shell_history_path(char *path, size_t size)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n;

	if (state != NULL && state[0] == '/')
		n = snprintf(path, size, "%s/weir_history", state);
	else if (home != NULL && home[0] == '/')
		n = snprintf(path, size, "%s/.weir_history", home);
	else
		return false;
	return n > 0 && (size_t)n < size;
}

/* Fetches the scenario with `show config`, if the present one is too old. */
static void shell_fetch(struct shell *shell)
{
	struct ctl_answer answer;
	char message[SCENARIO_FILE_ERROR];
	json_t *object = NULL;
	const char *text;

	if (shell->fetched != 0 && time(NULL) - shell->fetched < CACHE_S)
		return;
	if (ctl_link_ask(shell->link, "show config", &answer) != 0)
		return;
	shell->fetched = time(NULL);
	text = answer.body;
	if (shell->link->json) {
		object = json_loads(answer.body, 0, NULL);
		text = json_string_value(json_object_get(object, "config"));
	}
	scenario_free(shell->scenario);
	shell->scenario = NULL;
	if (answer.ok && text != NULL)
		scenario_text_load(text, strlen(text), "config", &shell->scenario, message,
		                   sizeof(message));
	json_decref(object);
	ctl_answer_release(&answer);
}

static void shell_print_choices(char *const *choices)
{
	struct winsize size = {.ws_col = 80};
	size_t width = 0, column = 0;

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	for (char *const *choice = choices; *choice != NULL; choice++)
		if (strlen(*choice) + 2 > width)
			width = strlen(*choice) + 2;
	putchar('\n');
	for (char *const *choice = choices; *choice != NULL; choice++) {
		if (column > 0 && column + width > size.ws_col) {
			putchar('\n');
			column = 0;
		}
		printf("%-*s", (int)width, *choice);
		column += width;
	}
	putchar('\n');
	fflush(stdout);
}

static unsigned char shell_key_complete(EditLine *edit, int key)
{
	const LineInfo *line = el_line(edit);
	size_t cursor = (size_t)(line->cursor - line->buffer);
	struct shell *shell;
	char *insert, **choices, *typed;
	unsigned char result = CC_REFRESH;

	(void)key;
	el_get(edit, EL_CLIENTDATA, &shell);
	typed = strndup(line->buffer, cursor);
	shell_fetch(shell);
	if (typed == NULL ||
	    shell_complete(typed, cursor, shell->scenario, &insert, &choices) != 0) {
		free(typed);
		return CC_ERROR;
	}
	if (insert[0] != '\0') {
		if (el_insertstr(edit, insert) != 0)
			result = CC_ERROR;
	} else if (choices != NULL) {
		shell_print_choices(choices);
		result = CC_REDISPLAY;
	} else {
		result = CC_ERROR;
	}
	shell_choices_free(choices);
	free(insert);
	free(typed);
	return result;
}

static unsigned char shell_key_cancel(EditLine *edit, int key)
{
	struct shell *shell;

	(void)key;
	el_get(edit, EL_CLIENTDATA, &shell);
	shell->cancelled = true;
	fputs("^C\n", stdout);
	fflush(stdout);
	return CC_NEWLINE;
}

static const char *shell_prompt(EditLine *edit)
{
	struct shell *shell;

	el_get(edit, EL_CLIENTDATA, &shell);
	return shell->in_batch ? "weir (batch)> " : "weir> ";
}

/* ---- the loop ---- */

static bool line_is(const char *line, const char *word)
{
	size_t n = strlen(word);

	line += strspn(line, " \t");
	return strncmp(line, word, n) == 0 && line[n + strspn(line + n, " \t\r")] == '\0';
}

static bool shell_connect_again(struct shell *shell)
{
	struct problem problem;
	bool json = shell->link->json, in_batch = shell->in_batch;
	struct ctl_answer answer;

	ctl_link_close(shell->link);
	shell->in_batch = false;
	if (ctl_link_open(shell->link, shell->path, CTL_ANSWER_TIMEOUT_S, &problem) != 0) {
		fprintf(stderr, "weir ctl: %s\n", problem.text);
		return false;
	}
	if (json && ctl_link_ask(shell->link, "json on", &answer) == 0)
		ctl_answer_release(&answer);
	fprintf(stderr, "weir ctl: the server had closed the connection; connected again%s\n",
	        in_batch ? ", the batch is lost: begin again" : "");
	return !in_batch;
}

/* Prints the answer to a line. Returns false if there is no server any more. */
static bool shell_ask(struct shell *shell, const char *line)
{
	struct ctl_answer answer;
	int result = ctl_link_ask(shell->link, line, &answer);
	bool closed = result == -ECONNRESET ||
	              (result == 0 && !answer.ok && strstr(answer.error, "idle for 10 minutes"));

	if (closed) {
		if (result == 0)
			ctl_answer_release(&answer);
		if (!shell_connect_again(shell))
			return shell->link->fd >= 0;
		result = ctl_link_ask(shell->link, line, &answer);
	}
	if (result != 0) {
		fprintf(stderr, "weir ctl: %s: %s\n", line,
		        result == -ECONNRESET ? "the server is gone" : strerror(-result));
		return false;
	}
	if (answer.ok) {
		shell->in_batch =
		        line_is(line, "begin") || line_is(line, "begin whole") ||
		        (shell->in_batch && !line_is(line, "commit") && !line_is(line, "abort"));
	} else if (line_is(line, "commit")) {
		shell->in_batch = false;
	}
	fputs(answer.body, stdout);
	if (!answer.ok && !shell->link->json)
		printf("err %s\n", answer.error);
	ctl_answer_release(&answer);
	return true;
}

static int shell_open(struct shell *shell, const char *history_path)
{
	shell->history = history_init();
	shell->edit = el_init("weir", stdin, stdout, stderr);
	if (shell->history == NULL || shell->edit == NULL)
		return -ENOMEM;
	history(shell->history, &shell->event, H_SETSIZE, SHELL_HISTORY_LINES);
	history(shell->history, &shell->event, H_SETUNIQUE, 1);
	if (history_path != NULL)
		history(shell->history, &shell->event, H_LOAD, history_path);
	el_set(shell->edit, EL_CLIENTDATA, shell);
	el_set(shell->edit, EL_EDITOR, "emacs");
	el_set(shell->edit, EL_HIST, history, shell->history);
	el_set(shell->edit, EL_PROMPT, shell_prompt);
	el_set(shell->edit, EL_ADDFN, "weir-complete", "Complete the word", shell_key_complete);
	el_set(shell->edit, EL_ADDFN, "weir-cancel", "Discard the line", shell_key_cancel);
	el_set(shell->edit, EL_BIND, "^I", "weir-complete", NULL);
	el_set(shell->edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
	el_source(shell->edit, NULL);
	/* ^C is a key that discards the line, as in other shells, not a signal that ends weir
	 * ctl. */
	el_set(shell->edit, EL_SETTY, "-d", "-isig", NULL);
	el_set(shell->edit, EL_BIND, "^C", "weir-cancel", NULL);
	return 0;
}

int shell_run(struct ctl_link *link, const char *path)
{
	struct shell shell = {.link = link, .path = path};
	char history_path[4096];
	bool kept = shell_history_path(history_path, sizeof(history_path));
	int status = 0;

	if (shell_open(&shell, kept ? history_path : NULL) != 0) {
		fputs("weir ctl: the terminal cannot be used for line editing; give the command as "
		      "arguments\n",
		      stderr);
		status = 1;
		goto out;
	}
	for (;;) {
		const char *typed;
		char *line;
		int n;

		/* el_gets shows the prompt first and takes over the terminal after that. Input
		 * typed in between would still be handled by the terminal: ^C would be a signal,
		 * and ^D would do nothing. */
		el_set(shell.edit, EL_PREP_TERM, 1);
		typed = el_gets(shell.edit, &n);
		if (typed == NULL || n <= 0) {
			putchar('\n'); /* ^D is not echoed: ends the line of the prompt */
			break;
		}
		if (shell.cancelled) {
			shell.cancelled = false;
			continue;
		}
		line = strndup(typed, strcspn(typed, "\r\n"));
		if (line == NULL || line_is(line, "quit") || line_is(line, "exit")) {
			free(line);
			break;
		}
		if (line[strspn(line, " \t")] != '\0') {
			history(shell.history, &shell.event, H_ENTER, line);
			shell.fetched = 0;
			if (ctl_stream_line(line))
				puts("this command never ends; run it outside the shell: weir ctl "
				     "events, weir ctl sample 1s");
			else if (!ctl_scenario_line(link, line, &n) && !shell_ask(&shell, line))
				status = 1;
		}
		free(line);
		fflush(stdout);
		if (status != 0)
			break;
	}
out:
	if (shell.history != NULL && kept)
		history(shell.history, &shell.event, H_SAVE, history_path);
	if (shell.edit != NULL)
		el_end(shell.edit);
	if (shell.history != NULL)
		history_end(shell.history);
	scenario_free(shell.scenario);
	return status;
}
