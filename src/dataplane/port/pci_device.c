/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/pci_device.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
