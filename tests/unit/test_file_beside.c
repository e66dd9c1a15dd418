/* SPDX-License-Identifier: BSD-3-Clause */
/* Where weir looks for the files that a scenario file names. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "language/scenario_file.h"
#include "runner/group.h"
#include "scenario/file.h"
#include "scenario/scenario.h"

static const struct file *file_of(const struct conf *conf)
{
	const struct field *field = conf->statement->fields;

	while (field->type != FIELD_FILE)
		field++;
	return *(struct file *const *)(const void *)((const char *)conf + field->offset);
}

/* Loads a scenario in `folder` that names the file. Returns the error message, or "" if the
 * scenario is accepted; then the content shows which file was read. */
static const char *load_in(const char *folder, const char *name, const char *content)
{
	static char message[SCENARIO_FILE_ERROR];
	char scenario_path[200], text[300];
	struct scenario *scenario;
	FILE *file;

	snprintf(scenario_path, sizeof(scenario_path), "%sx.weir", folder);
	file = fopen(scenario_path, "w");
	assert_non_null(file);
	snprintf(text, sizeof(text), "port a\nport b\ncloud x from a to b\ncloud x loss list %s\n",
	         name);
	fputs(text, file);
	fclose(file);
	message[0] = 0;
	if (scenario_file_load(scenario_path, &scenario, message, sizeof(message)) != 0)
		return message;
	assert_string_equal(file_of(scenario->clouds[0]->confs[0])->text, content);
	/* The file keeps the name as written. */
	assert_string_equal(file_of(scenario->clouds[0]->confs[0])->name, name);
	scenario_free(scenario);
	unlink(scenario_path);
	return message;
}

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void a_file_of_a_scenario_is_looked_for_beside_it_first(void **state)
{
	char here[PATH_MAX], folder[] = "/tmp/weir-test-beside-XXXXXX", inner[64], expected[600];

	(void)state;
	assert_non_null(getcwd(here, sizeof(here)));
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(mkdir("inner", 0700), 0);
	snprintf(inner, sizeof(inner), "%s/inner/", folder);
	write_text("lost.txt", "1\n");
	/* There is none beside the scenario, so the file here is read. */
	assert_string_equal(load_in("inner/", "lost.txt", "1\n"), "");
	write_text("inner/lost.txt", "2\n");
	assert_string_equal(load_in("inner/", "lost.txt", "2\n"), "");
	assert_string_equal(load_in(inner, "lost.txt", "2\n"), "");
	assert_string_equal(load_in("", "lost.txt", "1\n"), "");
	assert_string_equal(load_in("inner/", "../lost.txt", "1\n"), "");
	snprintf(expected, sizeof(expected),
	         "inner/x.weir:4:19: the file `none.txt` cannot be read: it is neither beside the "
	         "scenario, in inner/, nor in %s",
	         folder);
	assert_string_equal(load_in("inner/", "none.txt", ""), expected);
	snprintf(expected, sizeof(expected),
	         "x.weir:4:19: the file `none.txt` cannot be read: it is not in %s", folder);
	assert_string_equal(load_in("", "none.txt", ""), expected);
	assert_string_equal(load_in("inner/", "/none.txt", ""),
	                    "inner/x.weir:4:19: the file `/none.txt` cannot be read: No such file "
	                    "or directory");
	/* A file that exists but cannot be read is not skipped. */
	assert_int_equal(unlink("inner/lost.txt"), 0);
	assert_int_equal(mkdir("inner/lost.txt", 0700), 0);
	assert_string_equal(load_in("inner/", "lost.txt", ""),
	                    "inner/x.weir:4:19: the file `lost.txt` cannot be read: it is not an "
	                    "ordinary file");
	rmdir("inner/lost.txt");
	/* A message is one line of text, whatever the folders' names are. */
	assert_int_equal(mkdir("in\nner\xff", 0700), 0);
	snprintf(expected, sizeof(expected),
	         "neither beside the scenario, in its folder, nor in %s", folder);
	assert_string_equal(strstr(load_in("in\nner\xff/", "none.txt", ""), "neither"), expected);
	unlink("in\nner\xff/x.weir");
	rmdir("in\nner\xff");
	unlink("inner/x.weir");
	unlink("x.weir");
	unlink("lost.txt");
	rmdir("inner");
	assert_int_equal(chdir(here), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void a_port_knows_the_folder_of_its_scenario(void **state)
{
	char folder[] = "/tmp/weir-test-beside-XXXXXX", path[64], wanted[64];
	char message[SCENARIO_FILE_ERROR] = "";
	struct scenario *scenario, *copy;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x.weir", folder);
	snprintf(wanted, sizeof(wanted), "%s/", folder);
	write_text(path, "port a device file:in.pcap\nport b\ncloud x from a to b\n");
	assert_int_equal(scenario_file_load(path, &scenario, message, sizeof(message)), 0);
	copy = scenario_copy(scenario);
	scenario_free(scenario);
	assert_string_equal(copy->ports[0].folder, wanted);
	/* The name as written is shown and compared. */
	assert_string_equal(copy->ports[0].device, "file:in.pcap");
	scenario_free(copy);
	unlink(path);
	rmdir(folder);
}

GROUP(file_beside)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_port_knows_the_folder_of_its_scenario),
	        cmocka_unit_test(a_file_of_a_scenario_is_looked_for_beside_it_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
