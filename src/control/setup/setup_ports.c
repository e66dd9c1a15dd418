/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup/setup.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/memory_plan.h"
#include "language/scenario_file.h"
#include "port/device_text.h"
#include "port/interface.h"
#include "port/port.h"
#include "text/language_error.h"

#define PCI       "/sys/bus/pci/devices"
#define CLASS_NET 0x02 /* class of a PCI device: network */
#define SCENARIOS "/etc/weir/"
#define FLAG_UP   0x1u

__attribute__((format(printf, 2, 3))) static FILE *open_file(const char *root, const char *format,
                                                             ...)
{
	char path[PATH_MAX];
	size_t at = (size_t)snprintf(path, sizeof(path), "%s", root);
	va_list arguments;

	if (at >= sizeof(path))
		return NULL;
	va_start(arguments, format);
	vsnprintf(path + at, sizeof(path) - at, format, arguments);
	va_end(arguments);
	return fopen(path, "r");
}

static unsigned read_hex(FILE *file)
{
	unsigned value = 0;

	if (file && fscanf(file, "%x", &value) != 1)
		value = 0;
	if (file)
		fclose(file);
	return value;
}

static bool exists(const char *root, const char *folder, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s/%s", root, folder, name);
	return access(path, F_OK) == 0;
}

/* Lists the NICs of this machine. */
static void list_nics(const char *root, struct listing *listing)
{
	char path[PATH_MAX];
	struct dirent **entries;
	int n;

	listing_start(listing, "and");
	snprintf(path, sizeof(path), "%s" PCI, root);
	n = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;

		if (name[0] != '.' &&
		    read_hex(open_file(root, PCI "/%s/class", name)) >> 16 == CLASS_NET)
			listing_add_plain(listing, name);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

static int add_device(const char *root, const char *text, struct setup_ports *ports,
                      struct problem *problem)
{
	char address[16], link[80], driver[STEP_NAME_BYTES], name[16];
	struct setup_device *device = &ports->device[ports->n_devices];
	struct listing nics;

	pci_device_address(text, address);
	for (uint32_t i = 0; i < ports->n_devices; i++) {
		if (strcmp(ports->device[i].address, address) == 0)
			return 0;
	}
	if (!exists(root, PCI, address)) {
		list_nics(root, &nics);
		return problem_set(problem, -1, "there is no PCI device %s; NICs here: %s", address,
		                   listing_end(&nics)[0] ? listing_end(&nics) : "none");
	}
	if (ports->n_devices == SETUP_DEVICES_MAX) {
		problem_set(problem, -1, "more than %d devices", SETUP_DEVICES_MAX);
		return -E2BIG;
	}
	memset(device, 0, sizeof(*device));
	strcpy(device->address, address);
	snprintf(link, sizeof(link), PCI "/%s/driver", address);
	step_link_name(root, link, driver);
	snprintf(device->driver, sizeof(device->driver), "%.60s", driver);
	/* The first interface of the device's driver. */
	char path[PATH_MAX];
	DIR *folder;

	snprintf(path, sizeof(path), "%s" PCI "/%s/net", root, device->address);
	folder = opendir(path);
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(device->interface, sizeof(device->interface), "%.15s", entry->d_name);
		device->up = read_hex(open_file(root, "/sys/class/net/%s/flags", entry->d_name)) &
		             FLAG_UP;
		break;
	}
	if (folder)
		closedir(folder);
	snprintf(name, sizeof(name), "nic%u", ports->n_devices + 1);
	ports->n_devices++;
	return scenario_add_port(ports->nics, name, address, NULL);
}

static int add_service(const char *root, const char *word, struct setup_ports *ports,
                       struct problem *problem)
{
	char path[PATH_MAX], message[SCENARIO_FILE_ERROR];
	struct scenario *scenario;
	int rc;

	snprintf(path, sizeof(path), "%s" SCENARIOS "%s.weir", root, word);
	rc = scenario_file_load(path, &scenario, message, sizeof(message));
	if (rc < 0) {
		problem_set(problem, -1, "%.400s", message);
		return rc;
	}
	for (uint32_t i = 0; rc == 0 && i < scenario->n_ports; i++) {
		const char *device = scenario->ports[i].device;

		if (device && port_is_pci(device))
			rc = add_device(root, device, ports, problem);
	}
	ports->huge_mib += memory_plan_huge_mib(scenario);
	scenario_free(scenario);
	return rc;
}

int setup_ports_add(const char *root, const char *word, struct setup_ports *ports,
                    struct problem *problem)
{
	char file[80];
	int rc = 0;

	problem_set(problem, -1, "no memory");
	if (!ports->nics)
		ports->nics = scenario_make();
	if (!ports->nics)
		return -ENOMEM;
	for (uint32_t i = 0; i < ports->n_words; i++) {
		if (strcmp(ports->word[i], word) == 0)
			return 0;
	}
	snprintf(file, sizeof(file), "%.60s.weir", word);
	if (port_is_pci(word)) {
		rc = add_device(root, word, ports, problem);
	} else if (strchr(word, '/') ||
	           (!exists(root, "/sys/class/net", word) && !exists(root, SCENARIOS, file))) {
		problem_set(problem, -1,
		            "`%.60s` is neither a PCI device (0000:03:00.1) nor an interface, and "
		            "%s%s does not exist",
		            word, SCENARIOS, file);
		rc = -EINVAL;
	} else if (exists(root, SCENARIOS, file)) {
		rc = add_service(root, word, ports, problem);
	}
	if (rc == 0 && ports->n_words == SETUP_WORDS_MAX) {
		problem_set(problem, -1, "more than %d devices and services", SETUP_WORDS_MAX);
		rc = -E2BIG;
	}
	if (rc == 0)
		snprintf(ports->word[ports->n_words++], sizeof(ports->word[0]), "%s", word);
	return rc;
}

void setup_ports_finish(struct setup_ports *ports)
{
	if (ports->huge_mib == 0)
		ports->huge_mib = memory_plan_huge_mib(NULL);
}

void setup_ports_release(struct setup_ports *ports)
{
	scenario_free(ports->nics);
}
