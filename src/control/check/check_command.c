/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir check`: prints a scenario, what it needs, and whether this machine has it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "check/budget.h"
#include "check/devices.h"
#include "check/memory_plan.h"
#include "command.h"
#include "language/scenario_check.h"
#include "language/scenario_file.h"
#include "language/short_form.h"
#include "machine/eal.h"
#include "options/options.h"
#include "port/port.h"
#include "show/show.h"
#include "text/alloc_failure.h"
#include "text/table.h"
#include "text/value.h"

struct check {
	const char *config;
	struct short_words words;
	bool json;
	struct scenario *scenario;
	struct budget budget;
	struct machine_memory memory;
	struct memory_plan plan;
	char *remarks;          /* on lines of netem, a line each */
	struct problem problem; /* why it does not fit the machine, or "" */
};

static const struct option_row rows[] = {
        {OPTION_CONFIG(struct check, "the scenario")},
        {OPTION_JSON(struct check, "one JSON object")},
        OPTIONS_END,
};

const struct options check_options = {
        .command = "check",
        .usage = "-c FILE [-j]\n"
                 "[INTERFACE INTERFACE] [NAME] [STATEMENTS] [-j]",
        .does = "Validates a scenario, and says what it needs and whether this machine has it.",
        .about = "Prints the scenario as weir understands it, then the rate x delay product of\n"
                 "each cloud, the memory that its packets need and that this machine has, and the\n"
                 "devices of its ports here. Warnings say what is wrong with the devices.\n"
                 "Exit status: 0 valid and fits in memory, 2 invalid or too large.\n",
        .rows = rows,
};

/* ---- text ---- */

static void time_cell(struct table *table, uint64_t ns)
{
	char text[48];

	value_print_number(FIELD_TIME, ns, text, sizeof(text));
	table_text(table, text);
}

/* Prints a size rounded for people; the JSON has the exact number. */
static void size_cell(struct table *table, uint64_t bytes)
{
	char text[HUMAN_UNIT_SIZE];

	human_unit_format(text, sizeof(text), HUMAN_BYTES, (double)bytes, 3);
	table_text(table, text);
}

static void queue_cell(struct table *table, const struct cloud_budget *cloud)
{
	static const enum field_type types[] = {[LIMIT_BYTES] = FIELD_BYTES,
	                                        [LIMIT_PACKETS] = FIELD_COUNT,
	                                        [LIMIT_TIME] = FIELD_TIME};
	char text[48];

	if (cloud->queue.unit == LIMIT_NONE) {
		table_text(table, "-");
		return;
	}
	value_print_number(types[cloud->queue.unit], cloud->queue.value, text, sizeof(text));
	table_format(table, "%s%s%s", text, cloud->queue.unit == LIMIT_PACKETS ? "pkt" : "",
	             cloud->queue_given ? "" : "*");
}

static void print_clouds(FILE *out, const struct budget *budget)
{
	struct table *table = table_make("lrrrrrrrr");

	table_texts(table, "cloud", "rate", "delay", "at most", "rate x delay", "queue",
	            "packets 64B", "packets 1518B", "memory", NULL);
	for (uint32_t i = 0; i < budget->n_clouds; i++) {
		const struct cloud_budget *cloud = &budget->clouds[i];
		char rate[48];

		table_text(table, cloud->name);
		value_print_number(FIELD_RATE, cloud->rate_bps, rate, sizeof(rate));
		table_format(table, "%s%s", rate, cloud->rate_is_ports ? "+" : "");
		time_cell(table, cloud->delay_ns);
		time_cell(table, cloud->delay_max_ns);
		size_cell(table, cloud->product_bytes);
		queue_cell(table, cloud);
		table_count(table, cloud->load[BUDGET_64].packets);
		table_count(table, cloud->load[BUDGET_1518].packets);
		size_cell(table, cloud->bytes);
	}
	table_end(table, out);
}

/* Prints the memory for the clouds of a template, which is taken even without packets. */
static void print_template(const struct cloud_budget *cloud)
{
	char clouds[COUNT_SIZE];

	if (cloud->own_bytes > 0)
		printf("# %s: %s clouds at most, of %" PRIu64
		       " bytes each in addition to what their statements take\n",
		       cloud->name, count_text(clouds, cloud->clouds),
		       cloud->own_bytes / cloud->clouds);
}

/* Warns of too few huge pages, in the words of `weir run`. */
static void print_huge(const struct check *check)
{
	char needed[EAL_HUGE_TEXT], remedy[EAL_HUGE_TEXT];
	unsigned mib = memory_plan_huge_mib(check->scenario);

	if (check->memory.huge_free_bytes >> 20 >= mib)
		return;
	eal_huge_lacking(&check->memory, mib, needed, remedy);
	printf("# hugepages: %s, so weir would run without them; %s\n", needed, remedy);
}

/* Prints the scenario, then comments: the output can be loaded again. */
static void print_text(const struct check *check)
{
	const struct budget *budget = &check->budget;
	const char *remark = check->remarks;
	struct printed table;
	char *rest;
	bool sized = false;

	scenario_file_print(stdout, check->scenario);
	while (*remark) {
		size_t length = strcspn(remark, "\n");

		printf("# %.*s\n", (int)length, remark);
		remark += length + (remark[length] == '\n');
	}
	print_clouds(printed_begin(&table), budget);
	if (printed_end(&table) == NULL)
		return;
	fputs("#\n", stdout);
	for (char *line = strtok_r(table.bytes, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		printf("#%s\n", line);
	free(table.bytes);
	for (uint32_t i = 0; i < budget->n_clouds; i++)
		sized |= budget->clouds[i].queue.unit != LIMIT_NONE &&
		         !budget->clouds[i].queue_given;
	fputs("#\n", stdout);
	for (uint32_t i = 0; i < check->scenario->n_clouds; i++) {
		char indent[SCENARIO_NAME_BYTES + 16];

		snprintf(indent, sizeof(indent), "# %s, ", check->scenario->clouds[i]->name);
		class_text_print(stdout, indent, check->scenario->clouds[i]);
	}
	for (uint32_t i = 0; i < budget->n_clouds; i++)
		print_template(&budget->clouds[i]);
	if (budget->speed_assumed)
		puts("# + no `rate`: the speed of the port, which is not known here; 10gbit is "
		     "assumed");
	if (sized)
		puts("# * no `queue`: rate x delay, at least 64kB; for slots 64 times their "
		     "budget");
	printf("# memory: %" PRIu64 " MiB needed (%" PRIu64
	       " MiB for packets up to 512 bytes, %" PRIu64
	       " packet buffers for larger ones), %" PRIu64 " MiB available (%" PRIu64
	       " MiB of it in huge pages)\n",
	       (check->plan.needed_bytes >> 20) + 1, (budget->memory_bytes >> 20) + 1,
	       budget->mbufs, check->plan.there_bytes >> 20, check->memory.huge_free_bytes >> 20);
	print_huge(check);
	for (uint32_t i = 0; i < check->scenario->n_ports; i++) {
		struct device_look look;

		device_look(&check->scenario->ports[i], &look);
		if (look.what[0])
			printf("# port %s: %s\n", look.port, look.what);
	}
	if (check->plan.limit[0])
		printf("# memory: %s\n", check->plan.limit);
}

/* ---- JSON ---- */

/* Integers of JSON readers are signed. */
static json_t *whole(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static json_t *json_load(const struct budget_load *load)
{
	return json_pack("{s:o,s:o,s:o}", "packets", whole(load->packets), "memory_bytes",
	                 whole(load->memory_bytes), "mbufs", whole(load->mbufs));
}

static json_t *json_queue(const struct cloud_budget *cloud)
{
	static const char *const units[] = {
	        [LIMIT_BYTES] = "bytes", [LIMIT_PACKETS] = "packets", [LIMIT_TIME] = "ns"};

	if (cloud->queue.unit == LIMIT_NONE)
		return json_null();
	return json_pack("{s:o,s:b}", units[cloud->queue.unit], whole(cloud->queue.value), "given",
	                 cloud->queue_given);
}

static json_t *json_cloud_budget(const struct cloud_budget *cloud)
{
	return json_pack("{s:s,s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "cloud", cloud->name,
	                 "rate_bps", whole(cloud->rate_bps), "rate_of",
	                 cloud->rate_is_ports ? "port" : "link", "delay_ns", whole(cloud->delay_ns),
	                 "delay_max_ns", whole(cloud->delay_max_ns), "product_bytes",
	                 whole(cloud->product_bytes), "queue", json_queue(cloud), "frames_64",
	                 json_load(&cloud->load[BUDGET_64]), "frames_1518",
	                 json_load(&cloud->load[BUDGET_1518]), "needed_bytes", whole(cloud->bytes));
}

static void print_object(json_t *object)
{
	if (object == NULL || json_dumpf(object, stdout, 0) != 0)
		fputs("weir check: no memory\n", stderr);
	putchar('\n');
	json_decref(object);
}

/* Returns NULL if there is no memory. */
static json_t *json_budget(const struct check *check)
{
	json_t *clouds = json_array(), *object;
	char *text = scenario_text(check->scenario);

	for (uint32_t i = 0; i < check->budget.n_clouds; i++)
		json_array_append_new(clouds, json_cloud_budget(&check->budget.clouds[i]));
	object = json_pack("{s:b,s:s,s:s,s:o,s:b,s:{s:o,s:o,s:o,s:o,s:o,s:s}}", "ok",
	                   check->problem.text[0] == 0, "file", check->config ? check->config : "",
	                   "scenario", text == NULL ? "" : text, "clouds", clouds,
	                   "port_speed_assumed", check->budget.speed_assumed, "memory",
	                   "needed_bytes", whole(check->plan.needed_bytes), "packet_memory_bytes",
	                   whole(check->budget.memory_bytes), "mbufs", whole(check->budget.mbufs),
	                   "available_bytes", whole(check->plan.there_bytes), "huge_free_bytes",
	                   whole(check->memory.huge_free_bytes), "limit", check->plan.limit);
	free(text);
	return object;
}

/* Returns an object for each port that has a device. */
static json_t *json_devices(const struct scenario *scenario)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < scenario->n_ports; i++) {
		json_t *warnings = json_array();
		struct device_look look;

		device_look(&scenario->ports[i], &look);
		for (uint32_t k = 0; k < look.n_warnings; k++)
			json_array_append_new(warnings, json_string(look.warnings[k]));
		if (look.device == NULL)
			json_decref(warnings);
		else
			json_array_append_new(
			        array, json_pack("{s:s,s:s,s:s,s:b,s:b,s:i,s:o}", "port", look.port,
			                         "device", look.device, "what", look.what, "there",
			                         look.there, "up", look.up, "mtu", look.mtu,
			                         "warnings", warnings));
	}
	return array;
}

/* Returns an error as on the control socket. */
static json_t *json_error(const char *code, const char *message)
{
	return json_pack("{s:s,s:s,s:i,s:s}", "name", "scenario", "code", code, "column", 0,
	                 "message", message);
}

/* ---- */

/* Returns the lines of a text, which is modified, each without its first `skipped` bytes. */
static json_t *json_lines(char *text, size_t skipped)
{
	json_t *array = json_array();
	char *rest;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		json_array_append_new(array, json_string(line + skipped));
	return array;
}

/* Returns the lines of scenario_warn and devices_warn, without `warning: `. */
static json_t *json_warnings(const struct scenario *scenario)
{
	struct printed text;
	FILE *out = printed_begin(&text);
	json_t *array;

	scenario_warn(scenario, out);
	devices_warn(scenario, out);
	array = printed_end(&text) ? json_lines(text.bytes, strlen("warning: ")) : json_array();
	free(text.bytes);
	return array;
}

/* Prints an error on stderr, or as a JSON object. Returns the exit status. */
static int refuse(const struct check *check, const char *code, const char *message)
{
	if (check->json)
		print_object(json_pack("{s:b,s:o}", "ok", 0, "error", json_error(code, message)));
	else
		fprintf(stderr, "weir check: %s\n", message);
	return 2;
}

static int check_and_print(struct check *check)
{
	struct memory_request request = {.scenario = check->scenario,
	                                 .budget = &check->budget,
	                                 .machine = &check->memory,
	                                 .workers = 1};
	int result = machine_memory_read("", &check->memory);
	char message[SCENARIO_FILE_ERROR];
	json_t *object;

	if (result != 0) {
		fprintf(stderr, "weir check: /proc/meminfo: %s\n", strerror(-result));
		return 1;
	}
	if (budget_of(check->scenario, NULL, &check->budget) != 0) {
		fputs("weir check: no memory\n", stderr);
		return 1;
	}
	check->problem.text[0] = 0;
	result = memory_plan_make(&request, &check->plan, &check->problem) == 0 ? 0 : 2;
	if (result != 0)
		budget_complain(&check->budget, check->scenario, check->config, &check->problem,
		                message, sizeof(message));
	if (check->json) {
		object = json_budget(check);
		if (result != 0)
			json_object_set_new(object, "error", json_error("too-large", message));
		json_object_set_new(object, "warnings", json_warnings(check->scenario));
		json_object_set_new(object, "remarks", json_lines(check->remarks, 0));
		json_object_set_new(object, "devices", json_devices(check->scenario));
		print_object(object);
		return result;
	}
	print_text(check);
	fflush(stdout);
	scenario_warn(check->scenario, stderr);
	devices_warn(check->scenario, stderr);
	for (uint32_t i = 0; i < check->scenario->n_ports; i++) {
		struct device_look look;

		device_look(&check->scenario->ports[i], &look);
		for (uint32_t k = 0; k < look.n_warnings; k++)
			fprintf(stderr, "warning: port %s: %s\n", look.port, look.warnings[k]);
	}
	if (result != 0) {
		fflush(stdout);
		fprintf(stderr, "weir check: %s\n", message);
	}
	return result;
}

static int load(struct check *check, char *message, size_t room)
{
	struct printed text;
	FILE *remarks = printed_begin(&text);
	int result;

	if (check->words.n > 0)
		result = short_words_make(&check->words, "check", &check->config, &check->scenario,
		                          message, room);
	else
		result = scenario_file_load_remarked(check->config, remarks, &check->scenario,
		                                     message, room);
	check->remarks = printed_end(&text);
	if (check->remarks != NULL || result != 0)
		return result;
	snprintf(message, room, "no memory");
	return -ENOMEM;
}

int command_check(int argc, char **argv)
{
	struct check check = {.config = NULL};
	char message[SCENARIO_FILE_ERROR];
	struct problem problem;
	struct options_words words;
	int result = options_read(&check_options, argc, argv, &check, &words);

	if (result != OPTIONS_RUN)
		return result;
	if (check.config == NULL && words.n == 0)
		return options_wrong(&check_options,
		                     "no scenario: weir check -c FILE; the machine alone: weir "
		                     "bench machine");
	if (short_words_take(&check.words, words.n, words.word, message, sizeof(message)) != 0)
		return options_wrong(&check_options, "%s", message);
	result = load(&check, message, sizeof(message));
	/* Checks for ports that no machine could open together. */
	if (result == 0 && port_check_distinct(check.scenario, &problem) < 0) {
		result = -EINVAL;
		snprintf(message, sizeof(message), "%s", problem.text);
		if (problem.port > 0)
			scenario_file_complain_port(check.config,
			                            check.scenario->ports[problem.port - 1].name,
			                            problem.text, message, sizeof(message));
	}
	result = result == 0 ? check_and_print(&check) : refuse(&check, "bad-scenario", message);
	free(check.remarks);
	budget_release(&check.budget);
	scenario_free(check.scenario);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "weir check: cannot write: %s\n", strerror(errno));
		return 1;
	}
	return result;
}
