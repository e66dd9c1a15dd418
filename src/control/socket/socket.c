/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "service/peer.h"
#include "socket/socket.h"

#define SOCKET_MODE 0660
/* Connections that nobody has accepted yet. One more is refused if its socket does not block, as
 * with a timeout in Python. */
#define SOCKET_BACKLOG 256

void socket_default_path(char path[SOCKET_PATH_BYTES])
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (geteuid() == 0)
		snprintf(path, SOCKET_PATH_BYTES, "/run/weir.sock");
	else if (runtime != NULL && runtime[0] == '/' && strlen(runtime) < SOCKET_PATH_BYTES - 16)
		snprintf(path, SOCKET_PATH_BYTES, "%s/weir.sock", runtime);
	else
		snprintf(path, SOCKET_PATH_BYTES, "/tmp/weir-%u.sock", (unsigned)geteuid());
}

void socket_client_path(char path[SOCKET_PATH_BYTES])
{
	const char *given = getenv(SOCKET_VARIABLE);

	if (given != NULL && given[0] != '\0' && strlen(given) < SOCKET_PATH_BYTES)
		strcpy(path, given);
	else
		socket_default_path(path);
}

static int socket_address(const char *path, struct sockaddr_un *address, struct problem *problem)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	if (path[0] == '\0' || strlen(path) >= sizeof(address->sun_path)) {
		problem_set(
		        problem, -1,
		        "socket %.60s%s: the path is %zu bytes long; a socket's may be 1 to %zu",
		        path, strlen(path) > 60 ? "..." : "", strlen(path),
		        sizeof(address->sun_path) - 1);
		return path[0] == '\0' ? -EINVAL : -ENAMETOOLONG;
	}
	memcpy(address->sun_path, path, strlen(path) + 1);
	return 0;
}

/* Writes "mode 0660, owner root, group lab". */
static void socket_owners(const char *path, char *text, size_t size)
{
	struct stat status;
	const struct passwd *owner;
	const struct group *group;
	char owner_id[16], group_id[16];

	if (lstat(path, &status) != 0) {
		snprintf(text, size, "its directory may not be searched");
		return;
	}
	owner = getpwuid(status.st_uid);
	group = getgrgid(status.st_gid);
	snprintf(owner_id, sizeof(owner_id), "%u", (unsigned)status.st_uid);
	snprintf(group_id, sizeof(group_id), "%u", (unsigned)status.st_gid);
	snprintf(text, size, "mode %04o, owner %s, group %s", (unsigned)status.st_mode & 07777,
	         owner != NULL ? owner->pw_name : owner_id,
	         group != NULL ? group->gr_name : group_id);
}

/* Returns 0 if the name is free, or belongs to a socket at which no process answers; else
 * -errno. */
static int socket_probe(const struct sockaddr_un *address, struct problem *problem)
{
	struct stat status;
	struct peer peer;
	char text[160];
	int fd, result;

	if (lstat(address->sun_path, &status) != 0)
		return 0;
	if (!S_ISSOCK(status.st_mode)) {
		problem_set(problem, -1,
		            "socket %s: a file of that name exists that is not a socket; remove "
		            "it, or give another path with -s",
		            address->sun_path);
		return -EEXIST;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		result = -errno;
		problem_set(problem, -1, "socket %s: cannot create a socket: %s", address->sun_path,
		            strerror(-result));
		return result;
	}
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0) {
		peer_of(fd, &peer);
		snprintf(text, sizeof(text),
		         peer.pid == 0          ? "another process"
		         : peer.name[0] != '\0' ? "pid %u (%s)"
		                                : "pid %u",
		         peer.pid, peer.name);
		problem_set(problem, -1,
		            "socket %s: in use by %s; stop it, or give another path with -s",
		            address->sun_path, text);
		result = -EADDRINUSE;
	} else if (errno == ECONNREFUSED || errno == ENOENT) {
		result = 0;
	} else if (errno == EAGAIN) {
		problem_set(
		        problem, -1,
		        "socket %s: in use, and its process does not accept connections; stop it, "
		        "or give another path with -s",
		        address->sun_path);
		result = -EADDRINUSE;
	} else {
		result = -errno;
		socket_owners(address->sun_path, text, sizeof(text));
		problem_set(problem, -1, "socket %s: %s (%s); give another path with -s",
		            address->sun_path, strerror(-result), text);
	}
	close(fd);
	return result;
}

/* Locks the directory, so that two weirs that start at the same moment do not both replace the same
 * stale socket. A process that holds the lock for longer than a second is no weir, and is not
 * waited for. */
static int socket_lock_directory(const char *path)
{
	char directory[SOCKET_PATH_BYTES];
	const char *slash = strrchr(path, '/');
	int fd;

	if (slash == NULL)
		snprintf(directory, sizeof(directory), ".");
	else
		snprintf(directory, sizeof(directory), "%.*s",
		         slash == path ? 1 : (int)(slash - path), path);
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; fd >= 0 && i < 100 && flock(fd, LOCK_EX | LOCK_NB) != 0; i++)
		usleep(10000);
	return fd;
}

/* Determines the number of a group, (gid_t)-1 without one: the file keeps its group. Returns 0, or
 * -errno with problem. */
static int socket_group(const char *group, gid_t *gid, struct problem *problem)
{
	const struct group *known;
	char *end;

	*gid = (gid_t)-1;
	if (group == NULL)
		return 0;
	known = getgrnam(group);
	if (known != NULL) {
		*gid = known->gr_gid;
		return 0;
	}
	errno = 0;
	*gid = (gid_t)strtoul(group, &end, 10);
	if (group[0] >= '0' && group[0] <= '9' && *end == '\0' && errno == 0)
		return 0;
	problem_set(problem, -1,
	            "there is no group `%.40s`; `getent group` lists the existing ones", group);
	return -ENOENT;
}

static int socket_bind(struct socket_listener *listener, const struct sockaddr_un *address,
                       gid_t gid, struct problem *problem)
{
	struct stat status;
	mode_t before;
	int result, bound;

	listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener->fd < 0)
		goto err;
	if (unlink(address->sun_path) != 0 && errno != ENOENT)
		goto err_close;
	/* bind() gives the file the mode of the socket, less the umask. So the mode is right from
	 * the first moment, without a chmod() of a name that may be another file's by then. */
	before = umask(0777 & ~SOCKET_MODE);
	bound = fchmod(listener->fd, SOCKET_MODE) != 0 ||
	        bind(listener->fd, (const struct sockaddr *)address, sizeof(*address)) != 0;
	umask(before);
	if (bound)
		goto err_close;
	/* Nobody can connect before listen(). */
	if ((gid != (gid_t)-1 && lchown(address->sun_path, (uid_t)-1, gid) != 0) ||
	    listen(listener->fd, SOCKET_BACKLOG) != 0 || lstat(address->sun_path, &status) != 0)
		goto err_unlink;
	listener->device = status.st_dev;
	listener->inode = status.st_ino;
	memcpy(listener->path, address->sun_path, sizeof(listener->path));
	return 0;

err_unlink:
	result = errno;
	unlink(address->sun_path);
	errno = result;
err_close:
	result = errno;
	close(listener->fd);
	errno = result;
err:
	result = -errno;
	listener->fd = -1;
	problem_set(problem, -1,
	            "socket %s: cannot be created: %s; give a path that you may write, with -s",
	            address->sun_path, strerror(-result));
	return result;
}

int socket_listen(const char *path, const char *group, struct socket_listener *listener,
                  struct problem *problem)
{
	struct sockaddr_un address;
	gid_t gid;
	int lock, result;

	listener->fd = -1;
	result = socket_address(path, &address, problem);
	if (result == 0)
		result = socket_group(group, &gid, problem);
	if (result != 0)
		return result;
	lock = socket_lock_directory(path);
	result = socket_probe(&address, problem);
	if (result == 0)
		result = socket_bind(listener, &address, gid, problem);
	if (lock >= 0)
		close(lock);
	return result;
}

void socket_unlisten(struct socket_listener *listener)
{
	struct stat status;

	if (listener->fd < 0)
		return;
	close(listener->fd);
	listener->fd = -1;
	if (lstat(listener->path, &status) == 0 && status.st_dev == listener->device &&
	    status.st_ino == listener->inode)
		unlink(listener->path);
}

static void socket_connect_problem(const char *path, int error, struct problem *problem)
{
	char text[120];

	if (error == EACCES || error == EPERM) {
		socket_owners(path, text, sizeof(text));
		problem_set(
		        problem, -1,
		        "%s: permission denied (%s); be its owner or in its group, as with sudo or "
		        "sg",
		        path, text);
	} else if (error == ENOENT || error == ECONNREFUSED) {
		problem_set(
		        problem, -1,
		        "%s: no weir %s; start one with `weir run -c FILE -s %.60s`, or name the "
		        "socket of another with -s",
		        path, error == ENOENT ? "listens there" : "answers there any more", path);
	} else if (error == EAGAIN) {
		problem_set(problem, -1, "%s: weir does not accept connections; try again later",
		            path);
	} else {
		problem_set(problem, -1, "%s: %s; give the path of weir's control socket with -s",
		            path, strerror(error));
	}
}

int socket_connect(const char *path, struct problem *problem)
{
	struct timeval timeout = {.tv_sec = 5};
	char usual[SOCKET_PATH_BYTES];
	struct sockaddr_un address;
	struct peer peer;
	int result = socket_address(path, &address, problem), fd;

	if (result != 0)
		return result;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		result = -errno;
		problem_set(problem, -1, "%s: cannot create a socket: %s", path, strerror(-result));
		return result;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)); /* for connect() */
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
		/* It waits only for weir to accept others; a signal may end this. */
		result = errno == EINTR ? -EAGAIN : -errno;
		socket_connect_problem(path, -result, problem);
		close(fd);
		return result;
	}
	/* Anybody may make a socket in /tmp with the name that is another user's default. */
	socket_default_path(usual);
	peer_of(fd, &peer);
	if (strcmp(path, usual) == 0 && strncmp(path, "/tmp/", 5) == 0 && peer.known &&
	    peer.uid != geteuid() && peer.uid != 0 && geteuid() != 0) {
		problem_set(problem, -1,
		            "%s: listened on by user %u, who is neither you nor root; not trusted",
		            path, peer.uid);
		close(fd);
		return -EPERM;
	}
	return fd;
}
