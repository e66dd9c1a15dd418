/* SPDX-License-Identifier: BSD-3-Clause */
#include "standard_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

void standard_streams_hold(void)
{
	/* open() takes the lowest free number, which is that of the closed descriptor. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return;
	}
}

int standard_output_end(const char *name, int status)
{
	bool failed = ferror(stdout), pending = __fpending(stdout) > 0;
	int reason = 0;

	/* The reason of the earlier failure is lost: another write brings it up again. */
	if (failed && !pending)
		fputc('\n', stdout);
	if (fclose(stdout) != 0)
		reason = errno;
	/* If the user has closed it, and nothing was printed, nothing is lost. */
	if (!failed && (reason == 0 || (reason == EBADF && !pending)))
		return status;
	fprintf(stderr, "weir%s%s: standard output: %s\n", *name ? " " : "", name,
	        reason ? strerror(reason) : "not all that was printed could be written");
	return status == 0 ? 1 : status;
}
