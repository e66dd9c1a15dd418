/* SPDX-License-Identifier: BSD-3-Clause */
#include "namespace/namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/if_tun.h>

#include "namespace/netlink.h"

#define LOOPBACK 1
#ifndef TUN_F_USO4 /* Linux 6.2 and later define them */
#define TUN_F_USO4 0x20
#define TUN_F_USO6 0x40
#endif

/* ---- the user namespace ---- */

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

static int map_ids(uid_t uid, gid_t gid)
{
	char text[64];
	int rc;

	snprintf(text, sizeof(text), "%u %u 1", uid, uid);
	rc = write_text("/proc/self/uid_map", text);
	if (rc == 0)
		rc = write_text("/proc/self/setgroups", "deny");
	snprintf(text, sizeof(text), "%u %u 1", gid, gid);
	return rc ? rc : write_text("/proc/self/gid_map", text);
}

/* Reads the capabilities, because an attempt needs a thread, and that thread may still be ending
 * when unshare requires that there is no other. */
static bool may_make_namespaces(void)
{
	static const uint64_t wanted = UINT64_C(1) << CAP_SYS_ADMIN | UINT64_C(1) << CAP_NET_ADMIN |
	                               UINT64_C(1) << CAP_NET_RAW;
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	return syscall(SYS_capget, &header, data) == 0 && (data[0].effective & wanted) == wanted;
}

static int no_user_namespace(int error, struct problem *problem)
{
	problem_set(problem, -1,
	            "this user cannot create a user namespace (%s): run as root, or %s",
	            strerror(error),
	            error == ENOSPC || error == EUSERS
	                    ? "allow more: sysctl user.max_user_namespaces"
	                    : "allow it: sysctl kernel.unprivileged_userns_clone, "
	                      "kernel.apparmor_restrict_unprivileged_userns; not possible in a "
	                      "chroot and in most containers");
	return -error;
}

int namespace_enter_user(struct problem *problem)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int rc;

	if (may_make_namespaces())
		return 0;
	rc = unshare(CLONE_NEWUSER) < 0 ? -errno : map_ids(uid, gid);
	return rc < 0 ? no_user_namespace(-rc, problem) : 0;
}

/* ---- a thread in another namespace ---- */

struct errand {
	int net; /* -1: a new one */
	int (*work)(void *argument);
	void *argument;
	int rc;
};

/* Returns true if this thread is in a network namespace: to enter that again would take rights. */
static bool is_in(int net)
{
	struct stat here, there;

	return stat("/proc/thread-self/ns/net", &here) == 0 && fstat(net, &there) == 0 &&
	       here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

static int enter(int net)
{
	if (net < 0)
		return unshare(CLONE_NEWNET);
	return is_in(net) ? 0 : setns(net, CLONE_NEWNET);
}

static void *go(void *argument)
{
	struct errand *errand = argument;

	if (enter(errand->net) < 0)
		errand->rc = -errno;
	else
		errand->rc = errand->work(errand->argument);
	return NULL;
}

static int run_errand(struct errand *errand)
{
	pthread_t thread;
	int rc = pthread_create(&thread, NULL, go, errand);

	if (rc != 0)
		return -rc;
	pthread_join(thread, NULL);
	return errand->rc;
}

int namespace_run(int net, int (*work)(void *argument), void *argument)
{
	struct errand errand = {.net = net, .work = work, .argument = argument};

	return run_errand(&errand);
}

static int open_own(void *argument)
{
	int netlink = netlink_open(), fd, rc;

	(void)argument;
	if (netlink < 0)
		return netlink;
	rc = netlink_up(netlink, LOOPBACK, NULL, 0, 0);
	close(netlink);
	if (rc < 0)
		return rc;
	fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int namespace_make_net(struct problem *problem)
{
	struct errand errand = {.net = -1, .work = open_own};
	int rc = run_errand(&errand);

	if (rc < 0)
		problem_set(problem, -1, "a network namespace cannot be created: %s%s",
		            strerror(-rc),
		            rc == -ENOSPC   ? "; the limit is sysctl user.max_net_namespaces"
		            : rc == -ENOENT ? "; it has to be opened in /proc: mount -t proc proc "
		                              "/proc"
		                            : "");
	return rc;
}

/* ---- parameters ---- */

#define SYSCTL_PATH 128

void namespace_sysctl_read(const char *name, char *value, size_t room)
{
	char path[SYSCTL_PATH];
	ssize_t got = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/net/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		got = read(fd, value, room - 1);
		close(fd);
	}
	value[got > 0 ? got : 0] = '\0';
}

void namespace_sysctl_write(const char *name, const char *value)
{
	char path[SYSCTL_PATH];

	snprintf(path, sizeof(path), "/proc/sys/net/%s", name);
	write_text(path, value);
}

/* ---- sockets and taps ---- */

struct wanted_socket {
	int family, type, protocol;
};

static int make_socket(void *argument)
{
	const struct wanted_socket *wanted = argument;
	int fd = socket(wanted->family, wanted->type, wanted->protocol), on = 1, rc = 0;

	if (fd < 0)
		return -errno;
	if ((wanted->family == AF_INET
	             ? setsockopt(fd, IPPROTO_IP, IP_TRANSPARENT, &on, sizeof(on))
	             : setsockopt(fd, IPPROTO_IPV6, IPV6_TRANSPARENT, &on, sizeof(on))) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_MARK, &on, sizeof(on)) < 0)
		rc = -errno;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

int namespace_socket_any_address(int net, int family, int type, int protocol)
{
	struct wanted_socket wanted = {.family = family, .type = type, .protocol = protocol};

	return namespace_run(net, make_socket, &wanted);
}

struct wanted_tap {
	const char *name;
	int index;
};

static int make_tap(void *argument)
{
	static const unsigned tcp = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;
	struct wanted_tap *wanted = argument;
	struct ifreq ifr = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK), rc = 0;

	if (fd < 0)
		return -errno;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", wanted->name);
	if (ioctl(fd, TUNSETIFF, &ifr) < 0)
		rc = -errno;
	/* Linux before 6.2 has none for UDP. */
	else if (ioctl(fd, TUNSETOFFLOAD, tcp | TUN_F_USO4 | TUN_F_USO6) < 0 &&
	         ioctl(fd, TUNSETOFFLOAD, tcp) < 0)
		rc = -errno;
	if (rc == 0) {
		wanted->index = (int)if_nametoindex(ifr.ifr_name);
		return fd;
	}
	close(fd);
	return rc;
}

int namespace_tap(int net, const char *name, int *index, struct problem *problem)
{
	struct wanted_tap wanted = {.name = name};
	int rc = namespace_run(net, make_tap, &wanted);

	*index = wanted.index;
	if (rc == -ENOENT || rc == -ENODEV || rc == -ENXIO)
		problem_set(problem, -1,
		            "there is no /dev/net/tun: modprobe tun; in a container: "
		            "--device /dev/net/tun");
	else if (rc < 0)
		problem_set(problem, -1, "/dev/net/tun: no tap can be created: %s", strerror(-rc));
	return rc;
}
