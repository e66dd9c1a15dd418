/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/port_identity.h"

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "port/device_text.h"
#include "port/interface_look.h"
#include "port/port.h"

static void add_interface(struct port_identity *identity, const char *name, bool made)
{
	uint32_t n = identity->n_interfaces;
	char found[IFNAMSIZ];

	/* net_vhost names a socket by its path. */
	if (name[0] == '\0' || strlen(name) >= INTERFACE_NAME_BYTES || strchr(name, '/') ||
	    n == IDENTITY_INTERFACES_MAX)
		return;
	identity->interfaces[n].index = interface_find(name, found);
	strcpy(identity->interfaces[n].name, identity->interfaces[n].index ? found : name);
	identity->interfaces[n].made = made;
	identity->interfaces[n].claim = -1;
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(identity->interfaces[i].name, identity->interfaces[n].name) == 0)
			return;
	}
	identity->n_interfaces++;
}

static void read_pci(struct port_identity *identity)
{
	char path[64];
	DIR *folder;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/net", identity->pci);
	folder = opendir(path);
	if (!folder)
		return;
	for (struct dirent *entry; (entry = readdir(folder));) {
		if (entry->d_name[0] != '.')
			add_interface(identity, entry->d_name, false);
	}
	closedir(folder);
}

/* Resolves the file of `out=`, whether it exists or not. */
static void read_file(const char *device, struct port_identity *identity)
{
	char path[PATH_MAX], folder[PATH_MAX], *slash;
	struct stat st;

	if (!device_text_value(device, "out", path, sizeof(path)))
		return;
	if (strcmp(path, "-") == 0) {
		strcpy(identity->file, path);
		return;
	}
	if (stat(path, &st) == 0) {
		/* Anything but a regular file may be written by many: /dev/null. */
		if (!S_ISREG(st.st_mode) || !realpath(path, identity->file))
			identity->file[0] = '\0';
		return;
	}
	slash = strrchr(path, '/');
	if (slash == path || !slash) {
		if (!realpath(slash ? "/" : ".", folder))
			return;
	} else {
		*slash = '\0';
		if (!realpath(path, folder))
			return;
	}
	if ((size_t)snprintf(identity->file, sizeof(identity->file), "%s/%s", folder,
	                     slash ? slash + 1 : path) >= sizeof(identity->file))
		identity->file[0] = '\0';
}

/* The same for an interface by its name. */
static void identity_of_interface(const char *name, struct port_identity *identity)
{
	memset(identity, 0, sizeof(*identity));
	identity->pci_claim = -1;
	add_interface(identity, name, false);
}

void identity_of(const char *device, struct port_identity *identity)
{
	memset(identity, 0, sizeof(*identity));
	identity->pci_claim = -1;
	if (!device)
		return;
	if (strncmp(device, "file:", 5) == 0) {
		read_file(device, identity);
		return;
	}
	if (pci_device_address(device, identity->pci)) {
		read_pci(identity);
	} else {
		/* The interfaces in `driver,key=value,key=value`. */
		static const char *const keys[] = {"iface", "rx_iface", "rx_iface_in", "tx_iface",
		                                   "remote"};
		bool makes = strncmp(device, "net_tap", 7) == 0 ||
		             strncmp(device, "net_virtio_user", 15) == 0;
		char name[INTERFACE_NAME_BYTES];

		if (device_text_interface(device))
			add_interface(identity, device_text_interface(device), false);
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
			if (device_text_value(device, keys[i], name, sizeof(name)))
				add_interface(identity, name, makes && i == 0);
		}
	}
}

bool identity_shared(const struct port_identity *one, const struct port_identity *other, char *what,
                     size_t room)
{
	if (one->pci[0] && strcmp(one->pci, other->pci) == 0) {
		snprintf(what, room, "PCI device %s", one->pci);
		return true;
	}
	if (one->file[0] && strcmp(one->file, other->file) == 0) {
		snprintf(what, room, "the file %s",
		         strcmp(one->file, "-") == 0 ? "of standard output" : one->file);
		return true;
	}
	for (uint32_t i = 0; i < one->n_interfaces; i++) {
		for (uint32_t j = 0; j < other->n_interfaces; j++) {
			unsigned index = one->interfaces[i].index;

			if ((index == 0 || index != other->interfaces[j].index) &&
			    strcmp(one->interfaces[i].name, other->interfaces[j].name) != 0)
				continue;
			snprintf(what, room, "interface %s", one->interfaces[i].name);
			return true;
		}
	}
	return false;
}

/* ---- claims ---- */

static socklen_t address_of(const char *name, struct sockaddr_un *address)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	/* Abstract: a first byte of 0, and no byte at the end. */
	snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "%s", name);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

/* Returns the process that holds a claim, or 0 if it is in another PID namespace, or has ended
 * meanwhile. */
static pid_t holder(const struct sockaddr_un *address, socklen_t bytes)
{
	struct ucred peer = {0};
	socklen_t room = sizeof(peer);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && connect(fd, (const struct sockaddr *)address, bytes) == 0)
		(void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &room);
	if (fd >= 0)
		close(fd);
	return peer.pid;
}

static int claim(const char *name, const char *what, int *fd, struct problem *problem)
{
	struct sockaddr_un address;
	socklen_t bytes = address_of(name, &address);
	char process[48] = "";
	pid_t pid;
	int error;

	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd >= 0 && bind(*fd, (struct sockaddr *)&address, bytes) == 0 && listen(*fd, 8) == 0)
		return 0;
	error = errno;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	if (error != EADDRINUSE) {
		problem_set(problem, -1, "%s cannot be claimed: %s", what, strerror(error));
		return -error;
	}
	pid = holder(&address, bytes);
	if (pid > 0)
		snprintf(process, sizeof(process), ", process %d", (int)pid);
	problem_set(problem, -1,
	            "%s is a port of another weir%s; both would take its packets: stop that weir, "
	            "or use another interface",
	            what, process);
	return -EBUSY;
}

int identity_claim(struct port_identity *identity, struct problem *problem)
{
	char name[64], what[64];
	int rc = 0;

	if (identity->pci[0]) {
		snprintf(name, sizeof(name), "weir/pci/%s", identity->pci);
		snprintf(what, sizeof(what), "PCI device %s", identity->pci);
		rc = claim(name, what, &identity->pci_claim, problem);
	}
	for (uint32_t i = 0; rc == 0 && i < identity->n_interfaces; i++) {
		if (identity->interfaces[i].made || identity->interfaces[i].index == 0)
			continue;
		snprintf(name, sizeof(name), "weir/interface/%u", identity->interfaces[i].index);
		snprintf(what, sizeof(what), "interface %s", identity->interfaces[i].name);
		rc = claim(name, what, &identity->interfaces[i].claim, problem);
	}
	return rc;
}

void identity_release(struct port_identity *identity)
{
	if (identity->pci[0] && identity->pci_claim >= 0)
		close(identity->pci_claim);
	identity->pci_claim = -1;
	for (uint32_t i = 0; i < identity->n_interfaces; i++) {
		if (identity->interfaces[i].claim >= 0)
			close(identity->interfaces[i].claim);
		identity->interfaces[i].claim = -1;
	}
	identity->n_interfaces = 0;
}

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
