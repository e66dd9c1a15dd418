/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup/setup_plan.h"

#include <dirent.h>
#include <limits.h>
#include <string.h>

#define NOIOMMU "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"

/* Returns true for drivers that leave the NIC to the kernel as well: DPDK works beside them. */
static bool is_bifurcated(const char *driver)
{
	static const char *const names[] = {"mlx4_core", "mlx5_core", "mana"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(driver, names[i]) == 0)
			return true;
	}
	return false;
}

static bool is_dpdks(const char *driver)
{
	return strcmp(driver, "vfio-pci") == 0 || strcmp(driver, "igb_uio") == 0 ||
	       strcmp(driver, "uio_pci_generic") == 0;
}

static bool has_iommu(const struct making *making)
{
	char path[PATH_MAX];
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/sys/class/iommu", making->request->root);
	folder = opendir(path);
	for (struct dirent *entry; folder && !found && (entry = readdir(folder));)
		found = entry->d_name[0] != '.';
	if (folder)
		closedir(folder);
	return found;
}

static void examine_iommu(struct making *making, bool intel)
{
	struct setup_finding *row =
	        making_finding(making, "IOMMU", making->iommu ? DOCTOR_GOOD : DOCTOR_COSTS);
	struct finding *finding = &row->finding;
	char mode[8];

	if (making->iommu) {
		making_say(finding->what, "on: a NIC can access weir's memory and no other");
		return;
	}
	making_say(finding->what, "off, or none");
	making_say(finding->cost,
	           "only root can open a NIC, and an error of its driver may overwrite any memory");
	making_say(finding->remedy,
	           "VT-d, AMD-Vi or SMMU in the firmware; in a guest, a virtual IOMMU%s",
	           making->request->unsafe ? "" : "; or without one: --unsafe-noiommu");
	if (intel)
		making_kernel_word(making, "intel_iommu=on iommu=pt");
	if (!making->request->unsafe)
		return;
	if (!making_has(making, NOIOMMU)) {
		/* Debian's vfio has no such mode. */
		making->driver = "uio_pci_generic";
		return;
	}
	making_line(making, NOIOMMU, mode, sizeof(mode));
	if (mode[0] == 'Y')
		finding->state = DOCTOR_GOOD;
	else
		making_step(making, STEP_WRITE, NOIOMMU, "Y");
}

static void examine_driver(struct making *making, const struct setup_device *device)
{
	bool shared = is_bifurcated(device->driver);
	bool good = shared || is_dpdks(device->driver);
	struct setup_finding *row =
	        making_finding(making, "driver", good ? DOCTOR_GOOD : DOCTOR_COSTS);
	struct finding *finding = &row->finding;

	making_say(finding->what, "%s has %s%s%s%s", device->address,
	           device->driver[0] ? device->driver : "none", shared ? ", which DPDK shares" : "",
	           device->interface[0] ? ", the kernel's interface " : "", device->interface);
	if (good)
		return;
	making_say(finding->cost,
	           "as an interface of the kernel it takes some 100,000 packets a second, "
	           "with DPDK's driver millions");
	if (device->up) {
		making_say(finding->remedy,
		           "%s is up, and its connections end when DPDK takes it: if that is "
		           "intended, `ip link set %s down` first",
		           device->interface, device->interface);
	} else if (!making->iommu && !making->request->unsafe) {
		making_say(finding->remedy, "set up an IOMMU first, or give --unsafe-noiommu");
	} else {
		making_step(making, STEP_DRIVER, device->address, "%s", making->driver);
	}
}

void setup_examine_nics(struct making *making, bool intel)
{
	const struct setup_ports *ports = making->request->ports;
	bool vfio = false;

	making->iommu = has_iommu(making);
	making->driver = "vfio-pci";
	for (uint32_t i = 0; i < ports->n_devices; i++)
		vfio |= !is_bifurcated(ports->device[i].driver);
	if (vfio)
		examine_iommu(making, intel);
	for (uint32_t i = 0; i < ports->n_devices; i++)
		examine_driver(making, &ports->device[i]);
}
