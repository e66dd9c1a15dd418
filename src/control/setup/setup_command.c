/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir setup`: its command line, and what only this program knows of a machine. The rest is the
 * package python/src/weir/setup: what is lacking, the changes, the record of what was before them.
 *
 * `weir setup --answer` answers the package (python/python.h). Its questions:
 *
 *   {"ask": "cores", "text"}       {"cores": [NUMBER, ...]}: the processors of --cores, or of null
 *   {"ask": "device", "text"}      {"address"}: of a PCI device, 0000:03:00.1; null: it is none
 *   {"ask": "service", "path"}     {"devices": [ADDRESS, ...], "huge_mib"}: of a scenario's file,
 *                                  or without a path of the smallest scenario
 *   {"ask": "machine", "root", "core", "devices": [ADDRESS, ...], "huge_mib"}
 *                                  {"findings", "processors", "intel", "sleep_short_us",
 *                                  "huge_total_mib", "huge_free_mib"}: what doctor.h finds
 *
 * A question may be answered by {"error": TEXT}: of what was asked for.
 */
#include <stdio.h>
#include <string.h>

#include "check/memory_plan.h"
#include "command.h"
#include "language/scenario_file.h"
#include "machine/cpu_list.h"
#include "port/device_text.h"
#include "python/python.h"
#include "show/doctor.h"

static const struct option_row rows[] = {
        {VALUE("--apply", FIELD_FLAG,
               .help = "applies the remedies, also for the devices of earlier calls, now and at "
                       "each start of the machine")},
        {VALUE("--undo", FIELD_FLAG, .help = "restores the state before the first --apply")},
        {OPTION_CORES(union option_value)},
        {VALUE("--unsafe-noiommu", FIELD_FLAG,
               .help = "gives NICs to DPDK where there is no IOMMU: an error there may overwrite "
                       "any memory")},
        {VALUE("--root", FIELD_TEXT, .form = "DIR",
               .help = "a tree in place of the machine's /sys, /proc, /etc and /var")},
        {OPTION_JSON(union option_value, "one JSON array")},
        OPTIONS_END,
};

const struct options setup_options = {
        .command = "setup",
        .usage = "[DEVICE|SERVICE ...] [--apply | --undo]",
        .does = "Shows what this machine lacks for these ports, with remedies; or applies them.",
        .about =
                "DEVICE: a NIC for DPDK, like 0000:03:00.1, or an interface, which stays with the\n"
                "kernel. SERVICE: the ports of /etc/weir/SERVICE.weir.\n",
        .end = "Exit status: 0 --apply has nothing to do, or has done it; 1 it has something\n"
               "to do, a step failed, or the kernel did less; 2 an option, device or service\n"
               "is wrong.\n",
        .rows = rows,
};

/* ---- answers ---- */

static json_t *refuse(const char *text)
{
	return json_pack("{s:s}", "error", text);
}

static const char *text_of(const json_t *question, const char *name)
{
	return json_string_value(json_object_get(question, name));
}

static json_t *answer_cores(const json_t *question)
{
	json_t *cores = json_array();
	struct problem problem;
	struct cpu_list list;

	if (cpu_list_parse(text_of(question, "text"), &list, &problem) < 0) {
		json_decref(cores);
		return refuse(problem.text);
	}
	for (uint32_t i = 0; i < list.n; i++)
		json_array_append_new(cores, json_integer(list.cpu[i]));
	return json_pack("{s:o}", "cores", cores);
}

static json_t *answer_device(const json_t *question)
{
	const char *text = text_of(question, "text");
	char address[16];

	return json_pack("{s:s?}", "address",
	                 text && pci_device_address(text, address) ? address : NULL);
}

static json_t *answer_service(const json_t *question)
{
	const char *path = text_of(question, "path");
	char message[SCENARIO_FILE_ERROR], address[16];
	struct scenario *scenario = NULL;
	json_t *devices, *answer;

	if (path && scenario_file_load(path, &scenario, message, sizeof(message)) < 0)
		return refuse(message);
	devices = json_array();
	for (uint32_t i = 0; scenario && i < scenario->n_ports; i++) {
		const char *device = scenario->ports[i].device;

		if (device && pci_device_address(device, address))
			json_array_append_new(devices, json_string(address));
	}
	answer = json_pack("{s:o,s:i}", "devices", devices, "huge_mib",
	                   (int)memory_plan_huge_mib(scenario));
	scenario_free(scenario);
	return answer;
}

static json_t *answer_machine(const json_t *question)
{
	const char *root = text_of(question, "root");
	const json_t *core = json_object_get(question, "core");
	const json_t *huge = json_object_get(question, "huge_mib");
	struct scenario *nics = scenario_make();
	struct bench_machine machine;
	struct doctor doctor;
	json_t *device;
	size_t i;

	json_array_foreach(json_object_get(question, "devices"), i, device)
	{
		char name[32];

		snprintf(name, sizeof(name), "nic%zu", i + 1);
		if (nics)
			scenario_add_port(nics, name, json_string_value(device), NULL);
	}
	bench_machine_read(root ? root : "", (uint32_t)json_integer_value(core), &machine);
	doctor_examine(root ? root : "", &machine, nics, (unsigned)json_integer_value(huge),
	               &doctor);
	scenario_free(nics);
	return json_pack("{s:o,s:i,s:b,s:i,s:I,s:I}", "findings", doctor_json(&doctor),
	                 "processors", (int)machine.processors, "intel",
	                 strstr(machine.cpu, "Intel") != NULL, "sleep_short_us",
	                 BENCH_SLEEP_SHORT_US, "huge_total_mib",
	                 (json_int_t)(machine.huge_total_bytes >> 20), "huge_free_mib",
	                 (json_int_t)(machine.huge_free_bytes >> 20));
}

static const struct python_ask asks[] = {
        {"cores", answer_cores},
        {"device", answer_device},
        {"service", answer_service},
        {"machine", answer_machine},
        {NULL, NULL},
};

const struct python_command setup_command = {
        .options = &setup_options,
        .module = "weir.setup.command",
        .unable = OPTIONS_WRONG,
        .asks = asks,
};
