/* SPDX-License-Identifier: BSD-3-Clause */
#include "exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOSTS    "/etc/hosts"
#define RESOLVER "/etc/resolv.conf"
#define STAGE    "/tmp" /* where the private files are made; hidden afterwards */

struct helper_word {
	enum exec_event event;
	int value;
	pid_t command;
};

/* ---- the helper: files ---- */

/* Ends the last line, if the file does not. */
static void append_file(FILE *to, const char *path)
{
	FILE *from = fopen(path, "re");
	char part[4096], last = '\n';
	size_t n;

	if (!from)
		return;
	while ((n = fread(part, 1, sizeof(part), from)) > 0) {
		fwrite(part, 1, n, to);
		last = part[n - 1];
	}
	if (last != '\n')
		fputc('\n', to);
	fclose(from);
}

/* Mounts a file of our own over `path`, in this mount namespace. */
static int put_over(const char *path, const char *text, bool append)
{
	char made[64];
	FILE *to;

	snprintf(made, sizeof(made), STAGE "/%s", strrchr(path, '/') + 1);
	to = fopen(made, "we");
	if (!to)
		return -1;
	if (append)
		append_file(to, path);
	fputs(text, to);
	return fclose(to) != 0 || mount(made, path, NULL, MS_BIND, NULL) < 0 ? -1 : 0;
}

/* Returns 0, or -1 with errno. */
static int put_files(const struct exec_surroundings *around)
{
	int rc = 0;

	if (!around->hosts[0] && !around->resolver[0])
		return 0;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("weir", STAGE, "tmpfs", 0, "mode=755,size=1m") < 0)
		return -1;
	if (around->hosts[0])
		rc = put_over(HOSTS, around->hosts, true);
	if (rc == 0 && around->resolver[0])
		rc = put_over(RESOLVER, around->resolver, false);
	if (rc == 0)
		umount2(STAGE, MNT_DETACH);
	return rc;
}

/* ---- the helper: processes ---- */

static void tell(int fd, enum exec_event event, int value, pid_t command)
{
	struct helper_word word = {.event = event, .value = value, .command = command};
	ssize_t sent = send(fd, &word, sizeof(word), MSG_NOSIGNAL);

	(void)sent; /* weir has ended: the caller detects that next */
}

/* Waits for the order to start. Returns the network namespace, or -1 if weir has ended. */
static int hear_orders(int fd, struct exec_surroundings *around)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} room;
	struct iovec part = {.iov_base = around, .iov_len = sizeof(*around)};
	struct msghdr message = {.msg_iov = &part,
	                         .msg_iovlen = 1,
	                         .msg_control = &room,
	                         .msg_controllen = sizeof(room)};
	int net = -1;

	if (recvmsg(fd, &message, MSG_CMSG_CLOEXEC) == (ssize_t)sizeof(*around) &&
	    CMSG_FIRSTHDR(&message))
		memcpy(&net, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(net));
	return net;
}

static void become_command(char *const *argv, const sigset_t *mask, int failed)
{
	int error;
	ssize_t told;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	error = errno;
	told = write(failed, &error, sizeof(error));
	(void)told;
	_exit(127);
}

/* Starts the command. Returns 0, or the errno of the failed call. */
static int start_command(char *const *argv, const sigset_t *mask, pid_t *command)
{
	int failed[2], error = 0;

	if (pipe2(failed, O_CLOEXEC) < 0)
		return errno;
	*command = fork();
	if (*command == 0)
		become_command(argv, mask, failed[1]);
	close(failed[1]);
	if (*command < 0)
		error = errno;
	else if (read(failed[0], &error, sizeof(error)) != sizeof(error))
		error = 0;
	close(failed[0]);
	return error;
}

/* Removes the control socket of a weir exec that is killed, which may be among the processes of the
 * command. `own` is that of this weir, "": it has none. */
static void sweep(const char *own, pid_t pid)
{
	char path[SOCKET_PATH_BYTES];
	const char *leaf = strrchr(own, '/');

	if (leaf && strncmp(leaf, EXEC_SOCKET, strlen(EXEC_SOCKET)) == 0 &&
	    (size_t)snprintf(path, sizeof(path), "%.*s-%d.sock", (int)(strrchr(leaf, '-') - own),
	                     own, (int)pid) < sizeof(path))
		unlink(path);
}

/* Kills all children of this process, and those that it inherits when they have ended. */
static void kill_all(const char *socket)
{
	char path[64];
	pid_t pid;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
	for (;;) {
		FILE *children = fopen(path, "re");

		/* The line has any length. A part of a number would be another process. */
		while (children && fscanf(children, "%d", &pid) == 1 && pid > 0) {
			kill(pid, SIGKILL);
			sweep(socket, pid);
		}
		if (children)
			fclose(children);
		if (waitpid(-1, NULL, __WALL) < 0 && errno == ECHILD)
			return;
		/* All that have ended by now, so that thousands do not take as many rounds. */
		while (waitpid(-1, NULL, __WALL | WNOHANG) > 0)
			;
	}
}

/* Handles changes of children. Returns true if the command has ended. */
static bool reap(int fd, pid_t command, const char *socket)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid != command)
			continue;
		if (WIFSTOPPED(status)) {
			tell(fd, EXEC_STOPPED, WSTOPSIG(status), command);
			continue;
		}
		kill_all(socket);
		tell(fd, EXEC_ENDED, status, command);
		return true;
	}
	return false;
}

/* Waits until weir has ended, and the command before it. */
static void wait_for_it(int fd, int signals, pid_t command, const char *socket)
{
	struct pollfd polled[] = {{.fd = fd, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
	struct signalfd_siginfo info;

	for (;;) {
		if (poll(polled, 2, -1) < 0)
			continue;
		/* weir never sends anything here, so weir has ended. */
		if (polled[0].revents)
			break;
		while (read(signals, &info, sizeof(info)) > 0)
			;
		/* From now on only weir is waited for. */
		if (polled[1].fd >= 0 && reap(fd, command, socket))
			polled[1].fd = -1;
	}
	kill_all(socket);
}

static void help(int fd, char *const *argv, const sigset_t *mask)
{
	static struct exec_surroundings around;
	const pid_t weir = getppid();
	sigset_t child;
	pid_t command = 0;
	int net, signals, rc = 0;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0)
		rc = errno;
	net = hear_orders(fd, &around);
	if (net < 0)
		return;
	if (rc == 0 && setns(net, CLONE_NEWNET) < 0)
		rc = errno;
	close(net);
	if (rc == 0 && put_files(&around) < 0) {
		tell(fd, EXEC_UNNAMED, errno, 0);
		return;
	}
	if (around.socket[0] != '\0')
		setenv(SOCKET_VARIABLE, around.socket, 1);
	if (rc == 0)
		rc = start_command(argv, mask, &command);
	if (rc != 0) {
		tell(fd, EXEC_FAILED, rc, 0);
		return;
	}
	tell(fd, EXEC_STARTED, 0, command);
	/* So that the reader of a pipe gets its end when the command has closed it. */
	for (int stream = 0; stream < 2; stream++)
		dup3(open("/dev/null", O_RDWR | O_CLOEXEC), stream, 0);
	wait_for_it(fd, signals, command, around.socket);
	sweep(around.socket, weir);
}

/* ---- weir's side ---- */

int exec_child_make(char *const *argv, const struct exec_child *others, unsigned n_others,
                    struct exec_child *child, struct problem *problem)
{
	sigset_t all, mask;
	int ends[2], error;

	memset(child, 0, sizeof(*child));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		error = errno;
		problem_set(problem, -1, "cannot create a socket for the command: %s",
		            strerror(error));
		return -error;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	child->helper = fork();
	error = errno;
	if (child->helper == 0) {
		close(ends[0]);
		for (unsigned i = 0; i < n_others; i++)
			close(others[i].fd);
		help(ends[1], argv, &mask);
		_exit(0);
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	close(ends[1]);
	child->fd = ends[0];
	if (child->helper > 0)
		return 0;
	close(child->fd);
	problem_set(problem, -1, "cannot create a process for the command: %s", strerror(error));
	memset(child, 0, sizeof(*child));
	return -error;
}

int exec_child_start(struct exec_child *child, int net, const struct exec_surroundings *around)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} room = {.header = {.cmsg_level = SOL_SOCKET,
	                     .cmsg_type = SCM_RIGHTS,
	                     .cmsg_len = CMSG_LEN(sizeof(int))}};
	struct iovec part = {.iov_base = (void *)(uintptr_t)around, .iov_len = sizeof(*around)};
	struct msghdr message = {.msg_iov = &part,
	                         .msg_iovlen = 1,
	                         .msg_control = &room,
	                         .msg_controllen = sizeof(room)};

	memcpy(CMSG_DATA(&room.header), &net, sizeof(net));
	return sendmsg(child->fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

enum exec_event exec_child_hear(struct exec_child *child, int *value)
{
	struct helper_word word;
	ssize_t got = recv(child->fd, &word, sizeof(word), MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return EXEC_NOTHING;
	/* The message was not received; or the helper was killed, and with it the command. */
	if (got < 0)
		word = (struct helper_word){.event = EXEC_FAILED, .value = errno};
	else if (got != (ssize_t)sizeof(word))
		word = (struct helper_word){.event = EXEC_ENDED, .value = SIGKILL};
	if (word.event == EXEC_STARTED)
		child->command = word.command;
	if (word.event == EXEC_ENDED)
		child->command = 0;
	*value = word.value;
	return word.event;
}

void exec_child_signal(const struct exec_child *child, int number)
{
	if (child->command > 0)
		kill(child->command, number);
}

void exec_child_end(struct exec_child *child)
{
	if (child->helper <= 0)
		return;
	close(child->fd); /* ends the helper */
	while (waitpid(child->helper, NULL, 0) < 0 && errno == EINTR)
		;
	memset(child, 0, sizeof(*child));
}

void exec_children_end(void)
{
	kill_all("");
}

#define TCP_LISTENING   0x0a
#define UDP_UNCONNECTED 0x07

/* Searches a table of /proc/net: a heading, then lines of `sl local remote st ...`. */
static bool table_has(pid_t process, const char *table, unsigned wanted)
{
	char path[64], line[512];
	bool found = false;
	unsigned state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/net/%s", (long)process, table);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, " %*s %*s %*s %x", &state) == 1 && state == wanted;
	fclose(file);
	return found;
}

bool exec_is_listening(pid_t process)
{
	return table_has(process, "tcp", TCP_LISTENING) ||
	       table_has(process, "tcp6", TCP_LISTENING) ||
	       table_has(process, "udp", UDP_UNCONNECTED) ||
	       table_has(process, "udp6", UDP_UNCONNECTED);
}
