/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEVICES      "/sys/bus/pci/devices/"
#define DRIVERS      "/sys/bus/pci/drivers/"
#define BIND_TRIES   200 /* of 10 ms each: some drivers probe in a thread of their own */
#define BIND_STEP_NS 10000000

extern char **environ;

__attribute__((format(printf, 3, 4))) static const char *
below(char path[PATH_MAX], const char *root, const char *format, ...)
{
	size_t at = (size_t)snprintf(path, PATH_MAX, "%s", root);
	va_list arguments;

	va_start(arguments, format);
	if (at < PATH_MAX)
		vsnprintf(path + at, PATH_MAX - at, format, arguments);
	va_end(arguments);
	return path;
}

static int failed(struct problem *problem, const char *path, const char *what)
{
	int error = errno;

	problem_set(problem, -1, "%s cannot be %s: %s", path, what, strerror(error));
	return -error;
}

/* Reads a whole file, which has no byte 0. Returns 0 or -errno. */
static int read_text(const char *path, char **text)
{
	FILE *file = fopen(path, "re");
	size_t room = 0;
	ssize_t n;
	int rc = 0;

	*text = NULL;
	if (!file)
		return -errno;
	n = getdelim(text, &room, '\0', file);
	if (n < 0 && feof(file)) {
		free(*text);
		*text = strdup("");
	}
	if (!*text)
		rc = -ENOMEM;
	else if (ferror(file))
		rc = -EIO;
	else if (n > 0 && !(*text)[n - 1])
		rc = -EILSEQ;
	fclose(file);
	return rc;
}

/* Keeps the first line, and of it the word in brackets, which is in force: `madvise` of `always
 * [madvise] never`. */
static void keep_chosen(char *text)
{
	char *from, *to;

	text[strcspn(text, "\n")] = '\0';
	from = strchr(text, '[');
	to = from ? strchr(from, ']') : NULL;
	if (!to)
		return;
	*to = '\0';
	memmove(text, from + 1, (size_t)(to - from));
}

/* Writes all of the file, in one piece: the kernel wants it so. */
static int write_text(const char *path, int flags, const char *text, struct problem *problem)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | flags, 0644);
	size_t n = strlen(text);
	int rc = 0;

	if (fd < 0)
		return failed(problem, path, "opened");
	if (write(fd, text, n) != (ssize_t)n)
		rc = failed(problem, path, "written");
	if (close(fd) < 0 && rc == 0)
		rc = failed(problem, path, "written");
	return rc;
}

static int write_line(const char *path, int flags, const char *line, struct problem *problem)
{
	char *text;
	int rc;

	if (asprintf(&text, "%s\n", line) < 0)
		return failed(problem, path, "written");
	rc = write_text(path, flags, text, problem);
	free(text);
	return rc;
}

void step_release(struct step *step)
{
	free(step->value);
	free(step->before);
}

void step_link_name(const char *root, const char *path, char name[STEP_NAME_BYTES])
{
	char whole[PATH_MAX], target[PATH_MAX];
	ssize_t n = readlink(below(whole, root, "%s", path), target, sizeof(target) - 1);
	const char *slash;

	target[n > 0 ? n : 0] = '\0';
	slash = strrchr(target, '/');
	snprintf(name, STEP_NAME_BYTES, "%.100s", slash ? slash + 1 : target);
}

/* ---- drivers ---- */

static void driver_of(const char *root, const char *address, char name[STEP_NAME_BYTES])
{
	char path[PATH_MAX];

	step_link_name(root, below(path, "", DEVICES "%s/driver", address), name);
}

/* Runs a program of this machine; does nothing for the tree of a test. Returns 0, or -errno. */
static int run_program(const char *root, char *const words[])
{
	pid_t child;
	int status = 0, rc;

	if (root[0])
		return 0;
	rc = posix_spawnp(&child, words[0], NULL, NULL, words, environ);
	if (rc != 0)
		return -rc;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

static int have_driver(const char *root, const char *driver, struct problem *problem)
{
	char path[PATH_MAX];
	char *const words[] = {(char *)(uintptr_t) "modprobe", (char *)(uintptr_t)driver, NULL};

	if (!driver[0] || access(below(path, root, DRIVERS "%s", driver), F_OK) == 0)
		return 0;
	if (run_program(root, words) == 0 && access(path, F_OK) == 0)
		return 0;
	problem_set(problem, -1, "the kernel has no driver %s, and `modprobe %s` does not load it",
	            driver, driver);
	return -ENODEV;
}

static bool comes_to(const char *root, const char *address, const char *driver)
{
	const struct timespec pause = {.tv_nsec = BIND_STEP_NS};
	char now[STEP_NAME_BYTES];

	for (int i = 0; i < BIND_TRIES; i++) {
		driver_of(root, address, now);
		if (strcmp(now, driver) == 0)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* Binds a device to `driver`; "": to none. `lasting`: reserves it for this driver until that is
 * undone. */
static int give_to(const char *root, const char *address, const char *driver, bool lasting,
                   struct problem *problem)
{
	char path[PATH_MAX], now[STEP_NAME_BYTES];
	int rc = have_driver(root, driver, problem);

	if (rc == 0)
		rc = write_line(below(path, root, DEVICES "%s/driver_override", address), 0,
		                lasting ? driver : "", problem);
	driver_of(root, address, now);
	if (rc == 0 && strcmp(now, driver) == 0)
		return 0;
	if (rc == 0 && now[0])
		rc = write_line(below(path, root, DRIVERS "%s/unbind", now), 0, address, problem);
	if (rc == 0 && !comes_to(root, address, "")) {
		problem_set(problem, -1, "driver %s does not release %s", now, address);
		rc = -EBUSY;
	}
	if (rc == 0 && driver[0])
		rc = write_line(below(path, root, "/sys/bus/pci/drivers_probe"), 0, address,
		                problem);
	if (rc == 0 && !comes_to(root, address, driver)) {
		problem_set(problem, -1, "driver %s does not bind to %s", driver, address);
		rc = -EIO;
	}
	return rc;
}

/* ---- the steps ---- */

void step_print(FILE *out, const struct step *step)
{
	const char *leaf = strrchr(step->path, '/');

	switch (step->kind) {
	case STEP_WRITE:
		fprintf(out, "echo %s > %s", step->value, step->path);
		break;
	case STEP_DRIVER:
		fprintf(out, "driverctl set-override %s %s", step->path, step->value);
		break;
	case STEP_FILE:
		fprintf(out, "echo '%s' > %s && update-grub", step->value, step->path);
		break;
	case STEP_LINK:
		fprintf(out, "systemctl enable %s", leaf ? leaf + 1 : step->path);
		break;
	default:
		break;
	}
}

int step_look(const char *root, struct step *step, struct problem *problem)
{
	char path[PATH_MAX], driver[STEP_NAME_BYTES];
	int rc = 0;

	below(path, root, "%s", step->path);
	switch (step->kind) {
	case STEP_WRITE:
		rc = read_text(path, &step->before);
		if (rc == 0)
			keep_chosen(step->before);
		break;
	case STEP_DRIVER:
		driver_of(root, step->path, driver);
		step->before = strdup(driver);
		rc = step->before ? 0 : -ENOMEM;
		break;
	case STEP_FILE:
		rc = read_text(path, &step->before);
		if (rc == -ENOENT)
			rc = 0;
		break;
	default:
		break;
	}
	if (rc == 0)
		return 0;
	errno = -rc;
	return failed(problem, path, "read");
}

/* Updates the boot loader's command line for the kernel. If that fails, the file takes effect when
 * somebody runs the program. */
static void boot_loader(const char *root)
{
	char *const words[] = {(char *)(uintptr_t) "update-grub", NULL};

	if (run_program(root, words) < 0)
		fputs("weir setup: `update-grub` could not be run; the kernel's command line does "
		      "not change until it is\n",
		      stderr);
}

static int make_link(const char *root, const struct step *step, struct problem *problem)
{
	char path[PATH_MAX], *slash;

	below(path, root, "%s", step->path);
	slash = strrchr(path, '/');
	*slash = '\0';
	mkdir(path, 0755);
	*slash = '/';
	if (symlink(step->value, path) < 0 && errno != EEXIST)
		return failed(problem, path, "made");
	return 0;
}

int step_do(const char *root, const struct step *step, struct problem *problem)
{
	char path[PATH_MAX];
	int rc;

	below(path, root, "%s", step->path);
	switch (step->kind) {
	case STEP_WRITE:
		return write_line(path, 0, step->value, problem);
	case STEP_DRIVER:
		return give_to(root, step->path, step->value, true, problem);
	case STEP_FILE:
		rc = write_line(path, O_CREAT, step->value, problem);
		if (rc == 0)
			boot_loader(root);
		return rc;
	case STEP_LINK:
		return make_link(root, step, problem);
	default:
		return -EINVAL;
	}
}

bool step_fell_short(const char *root, const struct step *step, struct problem *problem)
{
	char path[PATH_MAX], *text = NULL;
	bool fell_short = false;

	if (step->kind == STEP_WRITE &&
	    read_text(below(path, root, "%s", step->path), &text) == 0) {
		keep_chosen(text);
		fell_short = strcmp(text, step->value) != 0;
		if (fell_short)
			problem_set(problem, -1, "%s has %s instead of %s", path, text,
			            step->value);
	}
	free(text);
	return fell_short;
}

bool step_may_be_half_done(const struct step *step)
{
	return step->kind == STEP_DRIVER || step->kind == STEP_FILE;
}

int step_undo(const char *root, const struct step *step, struct problem *problem)
{
	char path[PATH_MAX];
	int rc = 0;

	below(path, root, "%s", step->path);
	switch (step->kind) {
	case STEP_WRITE:
		return write_line(path, 0, step->before, problem);
	case STEP_DRIVER:
		if (access(below(path, root, DEVICES "%s", step->path), F_OK) < 0)
			return failed(problem, path, "found");
		return give_to(root, step->path, step->before, false, problem);
	case STEP_FILE:
		if (step->before)
			rc = write_text(path, O_CREAT, step->before, problem);
		else if (unlink(path) < 0 && errno != ENOENT)
			rc = failed(problem, path, "removed");
		boot_loader(root);
		return rc;
	case STEP_LINK:
		if (unlink(path) < 0 && errno != ENOENT)
			return failed(problem, path, "removed");
		return 0;
	default:
		return -EINVAL;
	}
}
