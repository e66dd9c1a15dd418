/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text of a port that plays a capture: `file:PATH[,interface=NAME][,speed=N][,loop][,out=PATH]`
 * (paced_file.h).
 *
 * Thread: any.
 */
#ifndef WEIR_PACED_DEVICE_H
#define WEIR_PACED_DEVICE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "scenario/problem.h"

struct paced_device {
	char path[PATH_MAX], out_path[PATH_MAX]; /* "": nothing is played; nothing is written */
	bool loop;
	char *interface;    /* NULL: all interfaces */
	uint64_t speed_ppm; /* millionths */
};

/* Parses the text, and finds the capture: a relative PATH in `folder` first (NULL, or ending with a
 * slash), then in the working directory; in the folder of a recording, what came in. Returns 0, or
 * -errno with problem. Call paced_device_free in any case. */
int paced_device_parse(const char *text, const char *folder, struct paced_device *device,
                       struct problem *problem);
void paced_device_free(struct paced_device *device);

#endif
