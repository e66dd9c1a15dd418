/* SPDX-License-Identifier: BSD-3-Clause */
#include "check/devices.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "port/device_text.h"
#include "port/around_side.h"
#include "port/interface_look.h"
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
	struct obstacles obstacles;

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
	         device_text_interface(device) ? "; through a packet socket" : "");
	look->there = true;
	look->up = found.carrier;
	look->mtu = (int)found.mtu;
	interface_look_refusal(&found, text, sizeof(text));
	if (text[0])
		warn(look, "%s", text);
	obstacles_find(&found, !device_text_interface(device), &obstacles);
	for (uint32_t i = 0; i < obstacles.n; i++)
		warn(look, "%s", obstacles.texts[i]);
	interface_look_rights(text, sizeof(text));
	if (text[0])
		warn(look, "%s", text);
	look_for_owner(device, look);
}

/* It keeps its addresses and routes, so none is an obstacle. */
static void look_at_side(const char *name, struct device_look *look)
{
	struct interface_look found;

	interface_look(name, &found);
	if (found.there)
		interface_look_text(&found, look->what, sizeof(look->what));
	else
		warn(look,
		     "there is no interface %s in this network namespace; `ip link` lists the "
		     "existing ones",
		     name);
}

void device_look(const struct port_conf *port, struct device_look *look)
{
	struct problem problem;
	char name[INTERFACE_NAME_BYTES];

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
	} else if (around_side_interface(port->device)) {
		look_at_side(around_side_interface(port->device), look);
	} else if (device_text_any_interface(port->device, name)) {
		look_at_interface(port->device, name, look);
	} else {
		snprintf(look->what, sizeof(look->what), "%.300s", port->device);
		if (strncmp(port->device, "file:", 5) == 0 &&
		    paced_file_check(port->device, port->folder, &problem) < 0)
			warn(look, "%s", problem.text);
	}
}

/* ---- ports together ---- */

static void warn_of_idle(const struct scenario *scenario, const struct port_conf *port, FILE *out)
{
	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		if (strcmp(scenario->clouds[i]->from, port->name) == 0)
			return;
	}
	fprintf(out,
	        "warning: port %s: no cloud begins there, so what arrives there is dropped; `cloud "
	        "NAME from %s to PORT` takes it\n",
	        port->name, port->name);
}

/* Returns what the interface of a port carries; CARRIES_OTHER if it has none that is there. */
static enum interface_carries carried(const struct port_conf *port)
{
	const char *name = port->device ? device_text_interface(port->device) : NULL;
	struct interface_look look = {.there = false};

	if (name)
		interface_look(name, &look);
	return look.there ? interface_look_carries(&look) : CARRIES_OTHER;
}

/* Warns of the first cloud between interfaces of both kinds. */
static void warn_of_mixture(const struct scenario *scenario, FILE *out)
{
	enum interface_carries carries[SCENARIO_PORTS_MAX];

	for (uint32_t i = 0; i < scenario->n_ports; i++)
		carries[i] = carried(&scenario->ports[i]);
	for (uint32_t i = 0; i < scenario->n_clouds; i++) {
		const struct cloud_conf *cloud = scenario->clouds[i];
		int from = scenario_find_port(scenario, cloud->from);
		int to = scenario_find_port(scenario, cloud->to);
		bool from_ip;

		if (from < 0 || to < 0 || carries[from] == CARRIES_OTHER ||
		    carries[to] == CARRIES_OTHER || carries[from] == carries[to])
			continue;
		from_ip = carries[from] == CARRIES_IP;
		fprintf(out, "warning: cloud %s leads from %s to %s: %s\n", cloud->name,
		        from_ip ? "IP packets without an Ethernet header" : "Ethernet frames",
		        from_ip ? "Ethernet frames" : "IP packets without an Ethernet header",
		        from_ip ? "they get made-up addresses, which no host there takes"
		                : "their addresses, and ARP, are lost");
		return;
	}
}

void devices_warn(const struct scenario *scenario, FILE *out)
{
	for (uint32_t i = 0; scenario->n_clouds > 0 && i < scenario->n_ports; i++) {
		if (scenario->ports[i].device &&
		    strncmp(scenario->ports[i].device, "file:,", 6) != 0)
			warn_of_idle(scenario, &scenario->ports[i], out);
	}
	warn_of_mixture(scenario, out);
}
