/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/port.h"

#include <stdio.h>
#include <string.h>

/* Claims the interface, and binds the sockets to it. */
static int take(struct port *port, const struct interface_look *look, struct problem *problem)
{
	enum interface_carries carries = interface_look_carries(look);
	int rc;

	if (carries != port->interface.carries && carries != CARRIES_OTHER) {
		problem_set(problem, -1,
		            "interface %s is back, but carries %s now: start weir anew to use it",
		            look->name,
		            carries == CARRIES_IP ? "IP packets without an Ethernet header"
		                                  : "Ethernet frames");
		return -EMEDIUMTYPE;
	}
	identity_release(&port->identity);
	identity_of_interface(look->name, &port->identity);
	rc = identity_claim(&port->identity, problem);
	if (rc == 0)
		rc = interface_replace(&port->interface, look, problem);
	if (rc == 0) {
		rc = packet_port_move(port->packets, &port->interface);
		if (rc < 0)
			interface_no_socket(look->name, rc, problem);
	}
	if (rc < 0)
		identity_release(&port->identity);
	else
		interface_keep_apart(&port->interface);
	return rc;
}

static enum presence_change look_for(struct port *port, char *line, size_t room)
{
	struct presence *presence = &port->presence;
	struct interface_look look;
	struct problem problem;

	if (!port->packets)
		return PRESENCE_SAME;
	interface_look(port->interface.wanted, &look);
	if (!look.there) {
		presence->why[0] = '\0';
		return PRESENCE_SAME;
	}
	if (take(port, &look, &problem) < 0) {
		if (strcmp(presence->why, problem.text) == 0)
			return PRESENCE_SAME;
		snprintf(presence->why, sizeof(presence->why), "%s", problem.text);
		snprintf(line, room, "%s", presence->why);
		return PRESENCE_REFUSED;
	}
	presence->gone = false;
	presence->last_ns = presence->looked_ns - presence->seen_ns;
	presence->seen_ns = presence->looked_ns;
	presence->why[0] = '\0';
	snprintf(line, room, "interface %s is back; %.1f s without it", look.name,
	         (double)presence->last_ns / 1e9);
	return PRESENCE_BACK;
}

enum presence_change presence_watch(struct port *port, uint64_t now_ns, char *line, size_t room)
{
	struct presence *presence = &port->presence;

	if (port->interface.index == 0)
		return PRESENCE_SAME;
	if (presence->looked_ns == 0)
		presence->seen_ns = now_ns;
	if (presence->gone)
		presence->absent_ns += now_ns - presence->looked_ns;
	presence->looked_ns = now_ns;
	if (presence->gone)
		return look_for(port, line, room);
	if (interface_is_there(&port->interface)) {
		presence->seen_ns = now_ns;
		return PRESENCE_SAME;
	}
	presence->gone = true;
	presence->absences++;
	presence->absent_ns += now_ns - presence->seen_ns;
	identity_release(&port->identity);
	const struct interface *interface = &port->interface;

	if (port->packets)
		snprintf(line, room, "interface %s is gone: weir takes it again when %s is there",
		         interface->name, interface->wanted);
	else
		snprintf(line, room,
		         "interface %s is gone, and %s cannot take it again: start weir anew, or "
		         "use `port %s interface %s`, which can",
		         interface->name, port->driver, port->name, interface->wanted);
	return PRESENCE_GONE;
}
