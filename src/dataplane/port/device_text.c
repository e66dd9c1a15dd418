/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/device_text.h"

#include <string.h>

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
