/* SPDX-License-Identifier: BSD-3-Clause */
#include "check/devices.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "port/interface.h"
#include "port/interface_look.h"
#include "port/pci_device.h"
#include "port/port.h"
#include "port/port_identity.h"

__attribute__((format(printf, 2, 3))) static void warn(struct device_look *look, const char *format,
                                                       ...)
{
	va_list arguments;

	if (look->n_warnings == DEVICE_WARNINGS_MAX)
		return;
	va_start(arguments, format);
	vsnprintf(look->warnings[look->n_warnings++], DEVICE_TEXT_BYTES, format, arguments);
	va_end(arguments);
}

/* Warns if another weir has the device: claims it for a moment. */
static void look_for_owner(const char *device, struct device_look *look)
{
	struct port_identity identity;
	struct problem problem;

	identity_of(device, &identity);
	if (identity_claim(&identity, &problem) < 0)
		warn(look, "%s", problem.text);
	identity_release(&identity);
}

static void look_at_interface(const char *device, const char *name, struct device_look *look)
{
	char text[DEVICE_TEXT_BYTES];
	struct interface_look found;

	interface_look(name, &found);
	if (!found.there) {
		snprintf(look->what, sizeof(look->what), "interface %s, not here", name);
		warn(look,
		     "there is no interface %s in this network namespace; `ip link` lists the "
		     "existing ones",
		     name);
		return;
	}
	interface_look_text(&found, text, sizeof(text));
	snprintf(look->what, sizeof(look->what), "%.200s, %s%s", text,
	         found.carrier ? "up"
	         : found.up    ? "without carrier"
	                       : "down",
	         interface_named(device) ? "; through a packet socket" : "");
	look->there = true;
	look->up = found.carrier;
	look->mtu = found.mtu;
	interface_look_down(&found, text, sizeof(text));
	if (text[0])
		warn(look, "%s", text);
	if (found.master[0])
		warn(look,
		     "interface %s belongs to %s, which takes its packets: ip link set %s "
		     "nomaster",
		     found.name, found.master, found.name);
	if (found.address[0])
		warn(look,
		     "interface %s has an address of this machine, %s: the kernel answers there, "
		     "too; remove it (ip addr del), or move the interface into a network namespace",
		     found.name, found.address);
	interface_look_rights(text, sizeof(text));
	if (text[0])
		warn(look, "%s", text);
	look_for_owner(device, look);
}

void device_look(const struct port_conf *port, struct device_look *look)
{
	struct problem problem;
	char name[IFNAMSIZ];

	memset(look, 0, sizeof(*look));
	look->port = port->name;
	look->device = port->device;
	if (!port->device)
		return;
	if (port_is_pci(port->device)) {
		snprintf(look->what, sizeof(look->what), "PCI device %.100s", port->device);
		if (pci_device_check(port->device, &problem) < 0)
			warn(look, "%s", problem.text);
		else
			look_for_owner(port->device, look);
	} else if (interface_name_of(port->device, name)) {
		look_at_interface(port->device, name, look);
	} else {
		snprintf(look->what, sizeof(look->what), "%.300s", port->device);
		if (strncmp(port->device, "file:", 5) == 0 &&
		    paced_file_check(port->device, port->folder, &problem) < 0)
			warn(look, "%s", problem.text);
	}
}
