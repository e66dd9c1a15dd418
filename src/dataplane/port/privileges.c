/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/privileges.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "port/device_text.h"

#define BIT(capability) (UINT64_C(1) << (capability))
/* Capabilities to write into folders of others, and to replace their files. */
#define FILES_OF_OTHERS (BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER))
/* Threads react within microseconds; a machine that swaps may take longer. */
#define PATIENCE_MS 1000
#define STATE_BYTES 512

static const struct {
	const char *driver;
	uint64_t needed;
} devices[] = {
        /* If a descriptor is closed, the kernel undoes what belongs to it: the packet socket and
         * its promiscuity, the interface of net_tap. */
        {"file:", 0},
        {PORT_INSIDE, 0},
        {PORT_OUTSIDE, 0},
        {"net_af_packet", 0},
        {"net_memif", 0},
        {"net_null", 0},
        {"net_ring", 0},
        {"net_tap", 0},
        {"tap:", 0},
        /* libxdp removes its program from the interface, and opens programs and maps by number. */
        {"net_af_xdp", BIT(CAP_NET_ADMIN) | BIT(CAP_BPF) | BIT(CAP_SYS_ADMIN)},
};
/* An interface of the kernel: the offloads that merge frames are switched on again at the end. */
#define INTERFACE BIT(CAP_NET_ADMIN)
/* NICs and unknown drivers: what their control paths may use, by netlink, verbs, locked memory and
 * I/O ports. */
#define OTHER_DEVICES                                                                              \
	(BIT(CAP_NET_ADMIN) | BIT(CAP_NET_RAW) | BIT(CAP_IPC_LOCK) | BIT(CAP_SYS_RAWIO))

uint64_t privileges_of_device(const char *device)
{
	for (size_t i = 0; device && i < sizeof(devices) / sizeof(devices[0]); i++) {
		if (strncmp(device, devices[i].driver, strlen(devices[i].driver)) == 0)
			return devices[i].needed;
	}
	return device && device_text_interface(device) ? INTERFACE : OTHER_DEVICES;
}

/* ---- one thread ---- */

static uint64_t kept; /* set before the first signal is sent, and not changed again */

static int caps_read(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return (int)syscall(SYS_capget, &header, data);
}

static uint64_t caps_permitted(void)
{
	struct __user_cap_data_struct data[2];

	return caps_read(data) < 0 ? 0 : data[0].permitted | (uint64_t)data[1].permitted << 32;
}

/* Sets the permitted and effective capabilities of this thread to these, without those that are not
 * permitted now. */
static void caps_write(uint64_t permitted, uint64_t effective)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (caps_read(data) < 0)
		return;
	for (int i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(permitted >> 32 * i);
		data[i].effective = data[i].permitted & (uint32_t)(effective >> 32 * i);
		data[i].inheritable = 0;
	}
	syscall(SYS_capset, &header, data);
}

/* Also called by a signal handler: only system calls are allowed. */
static void give_up(void)
{
	/* Only a process with CAP_SETPCAP may reduce the bounding set. For others, no_new_privs has
	 * the same effect. */
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	caps_write(kept, kept);
}

static void give_up_signal(int number)
{
	int error = errno;

	(void)number;
	give_up();
	errno = error;
}

/* ---- all threads ---- */

/* Reads a thread's privileges, as the kernel lists them, and its name. Returns false if the thread
 * has ended. */
static bool state_of(const char *thread, char state[STATE_BYTES], char name[32])
{
	char path[PATH_MAX], line[128];
	size_t at = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", thread);
	status = fopen(path, "re");
	if (!status)
		return false;
	state[0] = '\0';
	while (fgets(line, sizeof(line), status)) {
		sscanf(line, "Name: %31[^\n]", name);
		if (strncmp(line, "Cap", 3) == 0 || strncmp(line, "NoNewPrivs", 10) == 0)
			at += (size_t)snprintf(state + at, STATE_BYTES - at, "%s", line);
	}
	fclose(status);
	return at > 0;
}

/* Signals every thread whose privileges differ from this thread's. Returns their number and the
 * name of the last, or -errno. */
static int remind(char name[32])
{
	char own[32], wanted_state[STATE_BYTES], state[STATE_BYTES], other[32];
	DIR *threads = opendir("/proc/self/task");
	int behind = 0;

	if (!threads)
		return -errno;
	snprintf(own, sizeof(own), "%ld", (long)gettid());
	if (!state_of(own, wanted_state, other)) {
		closedir(threads);
		return -ENOENT;
	}
	for (struct dirent *entry; (entry = readdir(threads));) {
		if (entry->d_name[0] == '.' || !state_of(entry->d_name, state, other) ||
		    strcmp(state, wanted_state) == 0)
			continue;
		memcpy(name, other, sizeof(other));
		syscall(SYS_tgkill, getpid(), atoi(entry->d_name), SIGRTMIN);
		behind++;
	}
	closedir(threads);
	return behind;
}

static int all_threads(struct problem *problem)
{
	const struct timespec rest = {.tv_nsec = 1000000};
	struct sigaction action = {.sa_handler = give_up_signal, .sa_flags = SA_RESTART};
	char name[32] = "";
	int behind = 1;

	sigemptyset(&action.sa_mask);
	sigaction(SIGRTMIN, &action, NULL);
	give_up();
	for (int ms = 0; behind > 0 && ms < PATIENCE_MS; ms++) {
		behind = remind(name);
		if (behind > 0)
			nanosleep(&rest, NULL);
	}
	if (behind == 0) {
		/* Ignores the signals that are still on their way: a thread may have been signalled
		 * twice. */
		action.sa_handler = SIG_IGN;
		sigaction(SIGRTMIN, &action, NULL);
		return 0;
	}
	/* The handler stays for threads that take the signal later. */
	if (behind < 0)
		problem_set(problem, -1,
		            "threads other than the main one may still have their capabilities: "
		            "/proc/self/task cannot be read: %s",
		            strerror(-behind));
	else
		problem_set(problem, -1,
		            "%d threads (one of them %s) still have their capabilities: they block "
		            "signals",
		            behind, name);
	return -EPERM;
}

/* ---- files ---- */

/* Returns true if this thread, with its present effective capabilities, may make and remove files
 * in the folder of `path`, and write the file if it exists. */
static bool may_finish(const char *path)
{
	char folder[PATH_MAX], whole[PATH_MAX];
	const char *slash;

	/* The folder is that of the file to which a symbolic link leads. */
	if (!realpath(path, whole)) {
		if (errno != ENOENT)
			return false;
		snprintf(whole, sizeof(whole), "%s", path);
	} else if (faccessat(AT_FDCWD, whole, W_OK, AT_EACCESS) < 0) {
		return false;
	}
	slash = strrchr(whole, '/');
	if (!slash)
		snprintf(folder, sizeof(folder), ".");
	else
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - whole) + 1, whole);
	return faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0;
}

/* Checks the files that a device's text names to be written: a capture, a socket. */
static bool device_may_finish(const char *device)
{
	static const char *const keys[] = {"out", "socket"};
	char path[PATH_MAX];

	for (size_t i = 0; device && i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (device_text_value(device, keys[i], path, sizeof(path)) && !may_finish(path))
			return false;
	}
	return true;
}

/* Checks with the effective capabilities reduced to `keep`. */
static bool may_finish_all(const struct scenario *scenario, const char *const *files, uint64_t keep)
{
	bool may = true;

	caps_write(UINT64_MAX, keep);
	for (; may && files && *files; files++)
		may = may_finish(*files);
	for (uint32_t i = 0; may && i < scenario->n_ports; i++)
		may = device_may_finish(scenario->ports[i].device);
	caps_write(UINT64_MAX, UINT64_MAX);
	return may;
}

int privileges_give_up(const struct scenario *scenario, uint64_t others, const char *const *files,
                       struct problem *problem)
{
	uint64_t keep = others;

	if (caps_permitted() == 0)
		return 0;
	for (uint32_t i = 0; i < scenario->n_ports; i++)
		keep |= privileges_of_device(scenario->ports[i].device);
	if (!may_finish_all(scenario, files, keep))
		keep |= FILES_OF_OTHERS;
	kept = keep;
	return all_threads(problem);
}
