/* SPDX-License-Identifier: BSD-3-Clause */
#include "language/scenario_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "language/language.h"
#include "language/scenario_check.h"
#include "port/tap_port.h"
#include "statements.h"
#include "text/alloc_failure.h"
#include "text/file_read.h"
#include "text/statement_text.h"

/* A scenario while it is being read. */
struct reader {
	const char *text;
	size_t bytes;
	const char *name;
	size_t at;     /* where the next line begins */
	uint32_t line; /* number of the last line taken, from 1 */
	bool running;  /* the lines change a scenario in force */
	struct scenario_fault *fault;
	FILE *remarks; /* on lines of netem; or NULL */
	struct command command;
	struct language_error error;
	char buffer[LINE_BYTES_MAX + 2];
};

static int complain(struct reader *reader, uint32_t line, uint32_t column, const char *text)
{
	reader->fault->line = line;
	reader->fault->column = column == 0 ? 1 : column;
	snprintf(reader->fault->text, sizeof(reader->fault->text), "%s", text);
	return -EINVAL;
}

/* Formats a fault as `file:line:column: text`. */
static void fault_print(const struct scenario_fault *fault, const char *name, char *message,
                        size_t room)
{
	if (fault->line == 0)
		snprintf(message, room, "%s%s%s", name, *name ? ": " : "", fault->text);
	else
		snprintf(message, room, "%s:%" PRIu32 ":%" PRIu32 ": %s", name, fault->line,
		         fault->column, fault->text);
}

/* Copies the next line to the buffer. Returns 1, 0 at the end, or -EINVAL with the message. */
static int next_line(struct reader *reader)
{
	const char *line = reader->text + reader->at, *end;
	size_t bytes;
	char text[100];

	if (reader->at >= reader->bytes)
		return 0;
	end = memchr(line, '\n', reader->bytes - reader->at);
	bytes = end == NULL ? reader->bytes - reader->at : (size_t)(end - line);
	reader->at += bytes + 1;
	reader->line++;
	if (memchr(line, 0, bytes) != NULL)
		return complain(reader, reader->line, 1,
		                "a zero byte in the line; a scenario is a text file");
	if (bytes > LINE_BYTES_MAX + 1) {
		snprintf(text, sizeof(text),
		         "the line is longer than %d bytes, which is the maximum", LINE_BYTES_MAX);
		return complain(reader, reader->line, 1, text);
	}
	memcpy(reader->buffer, line, bytes);
	reader->buffer[bytes] = 0;
	return 1;
}

/* What packets have met cannot change any more. */
static int check_running(const struct command *command, struct language_error *error)
{
	if (command->kind != COMMAND_PORT && command->kind != COMMAND_SEED)
		return 0;
	return language_error_at(error, command->words.word[0].column, ERROR_NOT_HERE,
	                         "the ports and the seed of a network do not change; make another "
	                         "network");
}

static int execute_lines(struct reader *reader, struct scenario *scenario)
{
	int result;

	while ((result = next_line(reader)) == 1) {
		result = language_parse(reader->buffer, &reader->command, &reader->error);
		if (result == 0) {
			if (reader->running)
				result = check_running(&reader->command, &reader->error);
			if (result == 0)
				result = language_edit(scenario, &reader->command, &reader->error);
			/* The remarks on a line of netem say where the statements differ. */
			const struct netem_result *netem = reader->command.netem;
			const char *line = netem != NULL ? netem->remarks : "";

			while (reader->remarks != NULL && *line) {
				size_t bytes = strcspn(line, "\n");

				fprintf(reader->remarks, "%s:%" PRIu32 ": %.*s\n", reader->name,
				        reader->line, (int)bytes, line);
				line += bytes + (line[bytes] == '\n');
			}
			language_release(&reader->command);
		}
		if (result != 0) {
			complain(reader, reader->line, reader->error.column, reader->error.text);
			return result;
		}
	}
	return result;
}

/* Reports a problem of the whole scenario at the last line that made what is wrong. The lines have
 * been executed once, so each of them is valid by itself. */
static int complain_of_whole(struct reader *reader, const struct scenario_place *place,
                             const char *problem)
{
	uint32_t line = 1, column = 1, here;

	reader->at = 0;
	reader->line = 0;
	while (next_line(reader) == 1) {
		if (language_parse(reader->buffer, &reader->command, &reader->error) != 0)
			break;
		here = scenario_place_column(place, &reader->command);
		if (here != 0) {
			line = reader->line;
			column = here;
		}
		language_release(&reader->command);
	}
	return complain(reader, line, column, problem);
}

/* Returns a reader of this text, to be freed; NULL if there is no memory. */
static struct reader *reader_make(const char *text, size_t bytes, const char *name,
                                  struct scenario_fault *fault)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	if (reader == NULL)
		return NULL;
	reader->text = text;
	reader->bytes = bytes;
	reader->name = name;
	reader->fault = fault;
	if (bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		reader->text += 3; /* a byte order mark */
		reader->bytes -= 3;
	}
	return reader;
}

/* Executes a text on `before`, or on an empty scenario if that is NULL. */
static int text_execute(const char *text, size_t bytes, const char *name, FILE *remarks,
                        const struct scenario *before, struct scenario **scenario,
                        struct scenario_fault *fault)
{
	struct reader *reader = reader_make(text, bytes, name, fault);
	struct scenario *made_scenario = before ? scenario_copy(before) : scenario_make();
	struct scenario_place place;
	struct problem problem;
	int result = -ENOMEM;

	*scenario = NULL;
	if (reader == NULL || made_scenario == NULL) {
		*fault = (struct scenario_fault){.text = "no memory to read it"};
		goto err_free;
	}
	reader->remarks = remarks;
	reader->running = before != NULL;
	result = execute_lines(reader, made_scenario);
	if (result != 0)
		goto err_free;
	if (scenario_check_at(made_scenario, before, &place, &problem) != 0) {
		result = complain_of_whole(reader, &place, problem.text);
		goto err_free;
	}
	free(reader);
	*scenario = made_scenario;
	return 0;
err_free:
	scenario_free(made_scenario);
	free(reader);
	return result;
}

int scenario_text_edit(const char *text, size_t bytes, const struct scenario *before,
                       struct scenario **scenario, struct scenario_fault *fault)
{
	return text_execute(text, bytes, "", NULL, before, scenario, fault);
}

static int text_load(const char *text, size_t bytes, const char *name, FILE *remarks,
                     struct scenario **scenario, char *message, size_t room)
{
	struct scenario_fault fault;
	int result = text_execute(text, bytes, name, remarks, NULL, scenario, &fault);

	if (result != 0)
		fault_print(&fault, name, message, room);
	return result;
}

int scenario_text_load(const char *text, size_t bytes, const char *name, struct scenario **scenario,
                       char *message, size_t room)
{
	return text_load(text, bytes, name, NULL, scenario, message, room);
}

static int file_load(const char *path, const char *beside_path, FILE *remarks,
                     struct scenario **scenario, char *message, size_t room)
{
	FILE *file = fopen(path, "r");
	struct file_beside beside;
	size_t bytes;
	char *text;
	int result;

	*scenario = NULL;
	if (file == NULL) {
		result = -errno;
		snprintf(message, room, "%s: cannot be opened: %s", path, strerror(-result));
		return result;
	}
	text = file_read_stream(file, SCENARIO_FILE_BYTES_MAX, &bytes);
	result = text == NULL ? -errno : 0;
	fclose(file);
	if (result == -EFBIG) {
		snprintf(message, room, "%s: larger than %u MiB, which is the maximum", path,
		         SCENARIO_FILE_BYTES_MAX >> 20);
		return result;
	}
	if (text == NULL) {
		snprintf(message, room, "%s: cannot be read: %s", path, strerror(-result));
		return result;
	}
	file_beside_begin(&beside, beside_path);
	result = text_load(text, bytes, path, remarks, scenario, message, room);
	file_beside_end(&beside);
	if (result == 0 && scenario_set_folder(*scenario, beside.folder) < 0) {
		snprintf(message, room, "no memory");
		scenario_free(*scenario);
		*scenario = NULL;
		result = -ENOMEM;
	}
	free(text);
	return result;
}

int scenario_file_load_remarked(const char *path, FILE *remarks, struct scenario **scenario,
                                char *message, size_t room)
{
	return file_load(path, path, remarks, scenario, message, room);
}

int scenario_file_load(const char *path, struct scenario **scenario, char *message, size_t room)
{
	return file_load(path, path, NULL, scenario, message, room);
}

int scenario_file_load_beside(const char *path, const char *beside, struct scenario **scenario,
                              char *message, size_t room)
{
	return file_load(path, beside, NULL, scenario, message, room);
}

static void file_complain(const char *path, const struct scenario_place *place, const char *problem,
                          char *message, size_t room)
{
	struct scenario_fault fault = {.line = 0};
	struct reader *reader = NULL;
	struct file_beside beside;
	FILE *file = NULL;
	struct stat st;
	char *text = NULL;
	size_t bytes;

	if (path == NULL) {
		snprintf(message, room, "%s", problem);
		return;
	}
	/* A pipe has been read already, and opening it again might block. */
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
		file = fopen(path, "r");
	if (file != NULL) {
		text = file_read_stream(file, SCENARIO_FILE_BYTES_MAX, &bytes);
		fclose(file);
	}
	if (text != NULL && bytes > 0)
		reader = reader_make(text, bytes, path, &fault);
	file_beside_begin(&beside, path);
	if (reader != NULL)
		complain_of_whole(reader, place, problem);
	else
		snprintf(fault.text, sizeof(fault.text), "%s", problem);
	fault_print(&fault, path, message, room);
	file_beside_end(&beside);
	free(reader);
	free(text);
}

void scenario_file_complain(const char *path, const char *cloud, const struct conf *statement,
                            const char *problem, char *message, size_t room)
{
	struct scenario_place place = {.cloud = cloud, .word = 1, .scope = ""};

	if (statement != NULL) {
		place.statement = statement->statement->name;
		place.scope = statement->scope;
		place.number = statement->number;
		place.conf = statement;
	}
	file_complain(path, &place, problem, message, room);
}

void scenario_file_complain_port(const char *path, const char *port, const char *problem,
                                 char *message, size_t room)
{
	const struct scenario_place place = {.port = port, .scope = ""};

	file_complain(path, &place, problem, message, room);
}

/* ---- printing ---- */

void scenario_file_print_cloud(FILE *out, const struct cloud_conf *cloud)
{
	fprintf(out, "%s %s from %s to %s%s", cloud->many ? "clouds" : "cloud", cloud->name,
	        cloud->from, cloud->to, cloud->many ? " per" : "");
	if (cloud->selection != NULL)
		statement_print_fields(out, cloud->selection);
	fputc('\n', out);
	for (const struct statement *const *row = statements; *row; row++) {
		for (uint32_t i = 0; i < cloud->n_confs; i++) {
			const struct conf *conf = cloud->confs[i];

			if (conf->statement != *row)
				continue;
			fprintf(out, "%s %s ", cloud->many ? "clouds" : "cloud", cloud->name);
			statement_print(out, conf);
			fputc('\n', out);
		}
	}
}

void scenario_file_print(FILE *out, const struct scenario *scenario)
{
	if (scenario->seed_given)
		fprintf(out, "seed %" PRIu64 "\n", scenario->seed);
	for (uint32_t i = 0; i < scenario->n_ports; i++) {
		const struct port_conf *port = &scenario->ports[i];
		char word[16];
		const char *interface =
		        port->device ? language_port_interface(port->device, word) : NULL;

		fprintf(out, "port %s", port->name);
		if (interface) {
			fprintf(out, " %s ", word);
			word_print(out, interface, false);
		} else if (port->device != NULL && !tap_port_is(port->device)) {
			/* A tap is a descriptor of this process: it says nothing to anybody else.
			 *  */
			fputs(" device ", out);
			word_print(out, port->device, false);
		}
		if (port->setting != NULL)
			statement_print_fields(out, port->setting);
		fputc('\n', out);
	}
	for (uint32_t i = 0; i < scenario->n_clouds; i++)
		scenario_file_print_cloud(out, scenario->clouds[i]);
}

char *scenario_text(const struct scenario *scenario)
{
	struct printed text;

	scenario_file_print(printed_begin(&text), scenario);
	return printed_end(&text);
}
