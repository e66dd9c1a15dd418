/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/port_kinds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/pack.h"
#include "port/device_text.h"

#define SPEED_LEAST 0.001
#define SPEED_MOST  1000

#define FORM "file:PATH[,interface=NAME][,speed=N][,loop][,out=PATH]"

/* Reads a speed such as `0.5`. Returns false if it is no speed. */
static bool parse_speed(struct paced_device *to, const char *text)
{
	double speed;
	char *end;

	if (text[0] == '\0' || text[strspn(text, "0123456789.")])
		return false;
	speed = strtod(text, &end);
	if (*end || !(speed >= SPEED_LEAST && speed <= SPEED_MOST))
		return false;
	to->speed_ppm = (uint64_t)(speed * 1e6 + 0.5);
	return true;
}

/* Copies a path to `path`, which has room for PATH_MAX. `word`: what precedes the path in the
 * device. */
static int take_path(char *path, const char *word, const char *text, struct problem *problem)
{
	size_t bytes = strlen(text);

	if (bytes >= PATH_MAX) {
		problem_set(problem, -1,
		            "%s%.60s...: the path has %zu bytes; at most %d are allowed", word,
		            text, bytes, PATH_MAX - 1);
		return -ENAMETOOLONG;
	}
	memcpy(path, text, bytes + 1);
	return 0;
}

/* What a port sends is written as it comes, so that a killed weir leaves it readable. */
static int check_output(const struct paced_device *to, struct problem *problem)
{
	if (!pack_wanted(to->out_path))
		return 0;
	return problem_set(
	        problem, -1,
	        "out=%s: what a port sends is not compressed; give a name without .gz, .xz or "
	        ".zst, and compress the file later",
	        to->out_path);
}

/* Splits FORM. In a path, `\,` is a comma. */
static int parse(const char *device, struct paced_device *to, struct problem *problem)
{
	const char *at = device + strlen("file:");
	char part[PATH_MAX + 16]; /* longer than any path, so that one that is too long shows */
	int rc;

	at += device_text_part(at, part, sizeof(part));
	rc = take_path(to->path, "file:", part, problem);
	while (rc == 0 && *at == ',') {
		at += 1 + device_text_part(at + 1, part, sizeof(part));
		if (strcmp(part, "loop") == 0) {
			to->loop = true;
		} else if (strncmp(part, "out=", 4) == 0 && part[4]) {
			rc = take_path(to->out_path, "out=", part + 4, problem);
		} else if (strncmp(part, "interface=", 10) == 0 && part[10] && !to->interface) {
			to->interface = strdup(part + 10);
			if (!to->interface) {
				problem_set(problem, -1, "no memory for device %s", device);
				return -ENOMEM;
			}
		} else if (strncmp(part, "speed=", 6) == 0) {
			if (!parse_speed(to, part + 6))
				return problem_set(
				        problem, -1,
				        "device %s: `%s` is not a speed: a speed is from "
				        "0.001 to 1000, such as 2 or 0.5",
				        device, part);
		} else {
			return problem_set(
			        problem, -1,
			        "device %s: `%s` is unknown; for a capture file write " FORM
			        "; a comma in a path is written `\\,`",
			        device, part);
		}
	}
	if (rc == 0)
		rc = check_output(to, problem);
	if (rc == 0 && to->path[0] == '\0' && to->out_path[0] == '\0')
		return problem_set(problem, -1, "device %s names no file: " FORM, device);
	return rc;
}

/* Replaces the path by that of the file in `folder`, if there is one. Returns 0, or -ENOENT with
 * problem if the file is nowhere. A fault of a file that exists is reported when the file is
 * opened. */
static int find(struct paced_device *to, const char *folder, struct problem *problem)
{
	char path[sizeof(to->path)];

	if (to->path[0] == '\0' || to->path[0] == '/' || !folder)
		return 0;
	if (snprintf(path, sizeof(path), "%s%s", folder, to->path) < (int)sizeof(path) &&
	    access(path, F_OK) == 0) {
		memcpy(to->path, path, sizeof(path));
		return 0;
	}
	if (access(to->path, F_OK) == 0 || strcmp(to->path, "-") == 0)
		return 0;
	problem_set(problem, -1,
	            "%s: there is no such file, neither in %s nor where weir was started", to->path,
	            folder);
	return -ENOENT;
}

/* If the path is the folder of a recording, replaces it by the capture of what came in. */
static int find_recorded(struct paced_device *to, struct problem *problem)
{
	static const char *const names[] = {"ingress.pcapng", "ingress.pcapng.zst"};
	char path[sizeof(to->path)];
	struct stat stat_of;

	if (stat(to->path, &stat_of) < 0 || !S_ISDIR(stat_of.st_mode))
		return 0;
	for (uint32_t i = 0; i < 2; i++) {
		if (snprintf(path, sizeof(path), "%s/%s", to->path, names[i]) < (int)sizeof(path) &&
		    access(path, F_OK) == 0) {
			memcpy(to->path, path, sizeof(path));
			return 0;
		}
	}
	return problem_set(
	        problem, -1,
	        "%s: this folder holds no recording; give a file, or the folder of a recording",
	        to->path);
}

int paced_device_parse(const char *device, const char *folder, struct paced_device *to,
                       struct problem *problem)
{
	int rc;

	*to = (struct paced_device){.speed_ppm = 1000000};
	rc = parse(device, to, problem);
	if (rc == 0)
		rc = find(to, folder, problem);
	return rc == 0 ? find_recorded(to, problem) : rc;
}

void paced_device_free(struct paced_device *device)
{
	free(device->interface);
	device->interface = NULL;
}
