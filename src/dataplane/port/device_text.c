/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/device_text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *device_text_interface(const char *device)
{
	size_t bytes = strlen(device);

	if (strncmp(device, PORT_INTERFACE, strlen(PORT_INTERFACE)) == 0)
		return device + strlen(PORT_INTERFACE);
	/* DPDK's virtual devices are called net_... or eth_...; PCI devices and files have a
	 * colon. */
	if (bytes == 0 || bytes >= INTERFACE_NAME_BYTES || strpbrk(device, ",:/") ||
	    strncmp(device, "net_", 4) == 0 || strncmp(device, "eth_", 4) == 0)
		return NULL;
	return device;
}

bool device_text_any_interface(const char *device, char name[INTERFACE_NAME_BYTES])
{
	const char *named = device_text_interface(device);
	size_t bytes = named ? strlen(named) : 0;

	if (named && bytes < INTERFACE_NAME_BYTES) {
		memcpy(name, named, bytes + 1);
		return bytes > 0;
	}
	/* net_tap makes the interface that it names; net_vhost names a socket by its path. */
	return !named && strncmp(device, "net_tap", 7) != 0 && strncmp(device, "file:", 5) != 0 &&
	       device_text_value(device, "iface", name, INTERFACE_NAME_BYTES) && name[0] &&
	       !strchr(name, '/');
}

size_t device_text_part(const char *text, char *part, size_t room)
{
	size_t at = 0, n = 0;

	for (; text[at] && text[at] != ','; at++) {
		at += text[at] == '\\' && text[at + 1] == ',';
		if (n + 1 < room)
			part[n++] = text[at];
	}
	part[n] = '\0';
	return at;
}

bool device_text_value(const char *device, const char *key, char *value, size_t room)
{
	size_t bytes = strlen(key);
	char skipped[1];

	value[0] = '\0';
	if (device_text_interface(device))
		return false;
	for (device += device_text_part(device, skipped, sizeof(skipped)); *device == ',';
	     device += device_text_part(device, skipped, sizeof(skipped))) {
		device++;
		if (strncmp(device, key, bytes) != 0 || device[bytes] != '=')
			continue;
		device_text_part(device + bytes + 1, value, room);
		return true;
	}
	return false;
}

/* Drivers that hand a device over to DPDK, and drivers of the kernel that share it with DPDK. */
static const char *const usable[] = {
        "vfio-pci", "igb_uio", "uio_pci_generic", "mlx5_core", "mlx4_core", "uio_hv_generic", NULL};

bool pci_device_address(const char *device, char address[16])
{
	/* sscanf also takes signs, blanks and 0x. */
	const size_t bytes = strspn(device, "0123456789abcdefABCDEF:.");
	unsigned domain = 0, bus, slot, function;
	int end = 0;

	if (sscanf(device, "%4x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function, &end) != 4) {
		domain = 0;
		end = 0;
		if (sscanf(device, "%2x:%2x.%1x%n", &bus, &slot, &function, &end) != 3)
			return false;
	}
	if ((size_t)end != bytes || (device[end] != '\0' && device[end] != ','))
		return false;
	snprintf(address, 16, "%04x:%02x:%02x.%x", domain, bus, slot, function);
	return true;
}

bool pci_device_is(const char *device)
{
	char address[16];

	return pci_device_address(device, address);
}

static bool is_usable(const char *driver)
{
	for (int i = 0; usable[i]; i++) {
		if (strcmp(driver, usable[i]) == 0)
			return true;
	}
	return false;
}

int pci_device_check(const char *device, struct problem *problem)
{
	char address[16], path[64], target[PATH_MAX];
	const char *driver;
	ssize_t bytes;

	pci_device_address(device, address);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", address);
	if (access(path, F_OK) < 0) {
		problem_set(problem, -1,
		            "there is no PCI device %s; `dpdk-devbind.py --status-dev net` lists "
		            "the existing ones",
		            address);
		return -ENODEV;
	}
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", address);
	bytes = readlink(path, target, sizeof(target) - 1);
	target[bytes > 0 ? bytes : 0] = '\0';
	driver = strrchr(target, '/') ? strrchr(target, '/') + 1 : "no driver";
	if (!is_usable(driver)) {
		problem_set(problem, -1,
		            "PCI device %s is bound to %s, not to a driver for DPDK: "
		            "dpdk-devbind.py --bind=vfio-pci %s (the kernel then lacks its "
		            "interface until it is bound back)",
		            address, driver, address);
		return -EBUSY;
	}
	if (strcmp(driver, "vfio-pci") == 0 && access("/dev/vfio/vfio", R_OK | W_OK) < 0) {
		problem_set(problem, -1,
		            "no permission for /dev/vfio/vfio: run as root, or give this user "
		            "access to /dev/vfio/vfio and to the device's group in /dev/vfio");
		return -EACCES;
	}
	return 0;
}
