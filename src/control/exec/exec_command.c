/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir exec`: runs a command whose packets cross weir, from its command line to its end. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "exec/exec.h"
#include "language/scenario_file.h"
#include "language/short_form.h"
#include "live/runtime.h"
#include "machine/clock.h"
#include "machine/run_log.h"
#include "namespace/namespace.h"
#include "run/run_prepare.h"
#include "socket/server.h"
#include "text/alloc_failure.h"
#include "text/word.h"

#define STATUS_FAILED 125 /* as in env(1): the failure is not the command's */
#define TICK_MS       100
/* --between: how long B waits for A to listen, and how long A may continue after B. */
#define LISTEN_MS      1000
#define LISTEN_PACE_MS 5
#define REST_MS        1000
/* How often new losses of the gateway are told. */
#define GATEWAY_PACE_MS 1000

/* The state of one run. */
struct session {
	struct exec_arguments arguments;
	struct path_run run;
	struct exec_path path;
	struct exec_child children[PATH_ENDS]; /* helper 0: none */
	bool ended[PATH_ENDS];
	int status[PATH_ENDS]; /* of waitpid, after the end */
	int failed;            /* the errno of a command that could not be started */
	int unnamed;           /* the errno of a private file of names that could not be made */
	int signals;
	int heard;                      /* of epoll: readable when there is an event or a signal */
	char socket[SOCKET_PATH_BYTES]; /* the path of its socket; "": it has none */
	struct exec_drain *drain;       /* once the command (B) has ended; or NULL */
	bool drained;                   /* nothing is left that is worth waiting for */
	bool hurried;                   /* by a signal after the end of the command */
	int64_t begun_ms, over_ms;      /* when A was started; when B's data had arrived */
	int64_t looked_ms;              /* when the losses of the gateway were last told */
	char message[SCENARIO_FILE_ERROR];
};

static int64_t now_ms(void)
{
	return (int64_t)(clock_machine_ns() / SIMTIME_MS);
}

/* ---- starting ---- */

/* Catches the signals that are for the command: weir forwards them, except those from the terminal,
 * which reach the command directly, and SIGUSR1 if that dumps a flight. */
static int catch_signals(void)
{
	static const int caught[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,   SIGUSR1,
	                             SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH, SIGALRM};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaddset(&set, caught[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* The table is printed even if the command has the terminal. */
	signal(SIGTTOU, SIG_IGN);
	signal(SIGTTIN, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Forks the helpers, before the first thread is started. */
static int make_children(struct session *session, struct problem *problem)
{
	const struct exec_arguments *arguments = &session->arguments;
	int rc = 0;

	for (unsigned end = 0; rc == 0 && end < PATH_ENDS; end++) {
		session->ended[end] = arguments->command[end] == NULL;
		if (arguments->command[end])
			rc = exec_child_make(arguments->command[end], session->children,
			                     arguments->between ? end : 0, &session->children[end],
			                     problem);
	}
	return rc;
}

/* Replaces standard input and output by /dev/null, so that the reader of a pipe gets its end when
 * the command has closed it. */
static void leave_streams(void)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (nothing < 0)
		return;
	dup3(nothing, STDIN_FILENO, 0);
	dup3(nothing, STDOUT_FILENO, 0);
	close(nothing);
}

/* Makes one descriptor for all events. Returns 0, or -errno with problem. */
static int make_heard(struct session *session, struct problem *problem)
{
	struct epoll_event event = {.events = EPOLLIN};
	int rc = 0;

	session->heard = epoll_create1(EPOLL_CLOEXEC);
	if (session->heard < 0 ||
	    epoll_ctl(session->heard, EPOLL_CTL_ADD, session->signals, &event) < 0)
		rc = -errno;
	for (unsigned end = 0; rc == 0 && end < PATH_ENDS; end++) {
		if (!session->ended[end] &&
		    epoll_ctl(session->heard, EPOLL_CTL_ADD, session->children[end].fd, &event) < 0)
			rc = -errno;
	}
	if (rc < 0)
		problem_set(problem, -1, "cannot create a descriptor to wait with: %s",
		            strerror(-rc));
	return rc;
}

/* Gets the path of a socket of this process's own. Process namespaces that share a folder have
 * processes of the same number. Returns false if there is no place for it. */
static bool own_socket(char path[SOCKET_PATH_BYTES])
{
	const char *folders[] = {getenv("XDG_RUNTIME_DIR"), "/run", "/tmp"};
	struct stat processes = {0};

	(void)stat("/proc/self/ns/pid", &processes);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (folders[i] && folders[i][0] == '/' && access(folders[i], W_OK) == 0 &&
		    (size_t)snprintf(path, SOCKET_PATH_BYTES, "%s" EXEC_SOCKET "%ju-%d.sock",
		                     folders[i], (uintmax_t)processes.st_ino,
		                     (int)getpid()) < SOCKET_PATH_BYTES)
			return true;
	}
	return false;
}

/* Opens the control socket, which the command finds by SOCKET_VARIABLE. If none is asked for, and
 * none can be had, the command runs without. */
static int open_server(struct session *session, struct problem *problem)
{
	const char *asked = session->arguments.path.socket;
	char path[PATH_MAX] = "", folder[PATH_MAX] = "";
	int rc;

	if (!asked && !own_socket(path))
		path[0] = '\0';
	rc = path_run_listen(&session->run, asked ? asked : path, asked != NULL, problem);
	if (rc < 0)
		return rc;
	/* The command may go to another folder. */
	if (asked && asked[0] != '/' && getcwd(folder, sizeof(folder)))
		strncat(folder, "/", 2);
	if ((size_t)snprintf(session->socket, sizeof(session->socket), "%s%s", folder,
	                     server_path(session->run.server)) >= sizeof(session->socket))
		session->socket[0] = '\0';
	return 0;
}

/* Says at a terminal where its user is. */
static void greet(const struct session *session)
{
	if (session->arguments.shell && !session->arguments.path.quiet && isatty(STDERR_FILENO))
		fprintf(stderr,
		        "weir exec: the packets of this shell cross weir.%s `exit` ends it\n",
		        session->socket[0]
		                ? " `weir ctl show` and `weir ctl cloud down delay 80ms` "
		                  "look at the path and change it;"
		                : "");
}

static int start_child(struct session *session, unsigned end, struct problem *problem)
{
	int rc = exec_child_start(&session->children[end], session->path.ends[end].net,
	                          &session->path.around);

	if (rc < 0)
		problem_set(problem, -1, "the command cannot be started: %s", strerror(-rc));
	return rc;
}

/* Starts the gateway, with the priority of a worker, but behind workers: what it has waits for them
 * anyway. */
static int let_out(struct session *session, struct problem *problem)
{
	struct worker_report worker;

	runtime_worker_report(session->run.runtime, 0, &worker);
	if (worker.priority.level > 1)
		worker.priority.level--;
	return exec_path_let_out(&session->path, &worker.priority, problem);
}

static int start(struct session *session, struct problem *problem)
{
	cpu_set_t allowed;
	int rc = namespace_enter_user(problem);
	struct rlimit limit;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	if (rc == 0)
		rc = make_children(session, problem);
	if (rc < 0)
		return rc;
	leave_streams();
	session->signals = catch_signals();
	if (session->signals < 0) {
		rc = -errno;
		problem_set(problem, -1, "cannot create a descriptor for signals: %s",
		            strerror(-rc));
		return rc;
	}
	/* Each flow takes one or two descriptors. The command keeps its limit. */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	rc = make_heard(session, problem);
	if (rc == 0)
		rc = open_server(session, problem);
	if (rc == 0)
		rc = exec_path_open(session->arguments.between, &session->path, problem);
	if (rc == 0)
		rc = path_run_start(&session->run, session->path.ends, problem);
	if (rc == 0)
		rc = let_out(session, problem);
	if (rc == 0)
		rc = path_run_serve(&session->run, problem);
	if (rc == 0 && !session->arguments.path.cores)
		rest_let_move(&allowed);
	memcpy(session->path.around.socket, session->socket, sizeof(session->socket));
	if (rc == 0)
		greet(session);
	if (rc == 0 && session->arguments.between)
		rc = start_child(session, PATH_FAR, problem);
	if (rc == 0 && !session->arguments.between)
		rc = start_child(session, PATH_NEAR, problem);
	session->begun_ms = now_ms();
	return rc;
}

/* ---- while it runs ---- */

/* Returns true if a signal ends the wait for what the command has sent. */
static bool hurries(const struct session *session, const struct signalfd_siginfo *info)
{
	return session->ended[PATH_NEAR] &&
	       (info->ssi_signo == SIGINT || info->ssi_signo == SIGTERM ||
	        info->ssi_signo == SIGQUIT || info->ssi_signo == SIGHUP);
}

static void pass_signals(struct session *session)
{
	struct signalfd_siginfo info;

	while (read(session->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		session->hurried |= hurries(session, &info);
		/* From the terminal: the command has received it, too. */
		if (info.ssi_code == SI_KERNEL && info.ssi_signo != SIGHUP)
			continue;
		if (info.ssi_signo == SIGUSR1 &&
		    session->arguments.path.record.flight.unit != LIMIT_NONE) {
			server_dump_flight(session->run.serving);
			continue;
		}
		for (unsigned end = 0; end < PATH_ENDS; end++)
			exec_child_signal(&session->children[end], (int)info.ssi_signo);
	}
}

static void hear(struct session *session, unsigned end)
{
	struct exec_child *child = &session->children[end];
	enum exec_event event;
	int value;

	while (!session->ended[end] && (event = exec_child_hear(child, &value)) != EXEC_NOTHING) {
		switch (event) {
		case EXEC_STOPPED:
			raise(SIGSTOP);
			exec_child_signal(child, SIGCONT);
			break;
		case EXEC_FAILED:
			session->failed = value;
			session->ended[end] = true;
			break;
		case EXEC_UNNAMED:
			session->unnamed = value;
			session->ended[end] = true;
			break;
		case EXEC_ENDED:
			session->status[end] = value;
			session->ended[end] = true;
			break;
		default:
			break;
		}
	}
}

/* --between: starts B after A, and ends A after B. Returns 0, or -errno with problem. */
static int keep_order(struct session *session, bool *begun, struct problem *problem)
{
	const struct exec_child *first = &session->children[PATH_FAR];

	if (!session->arguments.between)
		return 0;
	if (!*begun && (session->ended[PATH_FAR] || now_ms() - session->begun_ms > LISTEN_MS ||
	                (first->command > 0 && exec_is_listening(first->command)))) {
		*begun = true;
		return start_child(session, PATH_NEAR, problem);
	}
	if (session->drained && session->over_ms == 0)
		session->over_ms = now_ms();
	if (session->over_ms && now_ms() - session->over_ms > REST_MS)
		exec_child_signal(first,
		                  now_ms() - session->over_ms > 2 * REST_MS ? SIGKILL : SIGTERM);
	return 0;
}

static int say_unnamed(const struct session *session, struct problem *problem)
{
	bool hosts = session->path.around.hosts[0];
	const char *help = "";

	if (session->unnamed == ENOENT)
		help = "; create it: an empty file suffices";
	else if (session->unnamed == EINVAL)
		help = "; / is not a mount point in this chroot: run mount --bind ROOT ROOT "
		       "outside of it";
	problem_set(problem, -1, "cannot mount a private file over %s: %s%s",
	            hosts ? "/etc/hosts, for the names A and B" : "/etc/resolv.conf",
	            strerror(session->unnamed), help);
	return -session->unnamed;
}

/* Adds the losses of the gateway to those of its port, and tells new ones, once a second. */
static void count_gateway(struct session *session, bool now)
{
	struct gateway *gateway = session->path.gateway;
	struct gateway_losses losses;
	char line[300];

	if (!gateway)
		return;
	gateway_losses(gateway, &losses);
	runtime_lost_beyond(session->run.runtime, session->run.ports[PATH_FAR], losses.to_command,
	                    losses.to_world);
	if (!now && now_ms() - session->looked_ms < GATEWAY_PACE_MS)
		return;
	while (gateway_trouble(gateway, line, sizeof(line))) {
		run_log(RUN_LOG_WARNING, "%s", line);
		session->looked_ms = now_ms();
	}
}

/* Serves what the command (B) has sent, after its end. */
static void drain(struct session *session)
{
	char text[EXEC_DRAIN_TEXT];

	if (!session->ended[PATH_NEAR] || session->drained || session->failed != 0 ||
	    session->unnamed != 0)
		return;
	if (!session->drain) {
		/* If the helper was killed, what it has left behind would go on sending. */
		exec_child_end(&session->children[PATH_NEAR]);
		if (!session->arguments.between)
			exec_children_end();
		session->drain = exec_drain_make(&session->path, session->run.runtime,
		                                 session->run.ports[PATH_NEAR]);
	}
	session->drained =
	        !session->drain || exec_drain_is_over(session->drain, now_ms()) || session->hurried;
	if (session->drained && session->drain && !session->arguments.path.quiet &&
	    exec_drain_tell(session->drain, text, sizeof(text)))
		run_log(RUN_LOG_WARNING, "%s", text);
}

static bool is_over(const struct session *session)
{
	if (session->failed != 0)
		return true;
	return session->ended[PATH_FAR] && session->ended[PATH_NEAR] &&
	       (session->drained || session->arguments.between);
}

static int pace_ms(const struct session *session, bool begun)
{
	int pace_ms = TICK_MS;

	/* While it waits for A to listen, it polls often. */
	if (session->arguments.between && !begun)
		pace_ms = LISTEN_PACE_MS;
	else if (session->drain && !session->drained)
		pace_ms = exec_drain_pace_ms(session->drain);
	return path_record_pace_ms(session->run.record, pace_ms);
}

static int serve(struct session *session, struct problem *problem)
{
	bool begun = false;
	int rc = 0;

	while (rc == 0 && !is_over(session)) {
		server_step(session->run.serving, session->heard, pace_ms(session, begun));
		pass_signals(session);
		for (unsigned end = 0; end < PATH_ENDS; end++) {
			hear(session, end);
			/* This descriptor brings nothing more, and stays readable. */
			if (session->ended[end] && session->children[end].helper > 0)
				epoll_ctl(session->heard, EPOLL_CTL_DEL, session->children[end].fd,
				          NULL);
		}
		drain(session);
		rc = session->unnamed ? say_unnamed(session, problem)
		                      : keep_order(session, &begun, problem);
		path_run_take(&session->run);
		count_gateway(session, false);
	}
	if (rc == 0)
		count_gateway(session, true);
	return rc;
}

/* ---- the end ---- */

static int stop(struct session *session, bool result, struct problem *problem)
{
	int rc;

	exec_drain_free(session->drain);
	for (unsigned end = PATH_ENDS; end-- > 0;)
		exec_child_end(&session->children[end]);
	exec_children_end();
	rc = path_run_end(&session->run, result, problem);
	exec_path_close(&session->path);
	return rc;
}

/* Ends weir with the status or the signal of the command. */
static int end_as(int status)
{
	struct rlimit none = {0};
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	sigset_t set;

	if (number == 0)
		return WEXITSTATUS(status);
	setrlimit(RLIMIT_CORE, &none);
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	fflush(stderr);
	kill(getpid(), number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return 128 + number;
}

static int run(struct session *session)
{
	struct problem problem = {.text = ""};
	const struct exec_arguments *arguments = &session->arguments;
	int rc = path_run_open(&session->run, &problem), status;

	if (rc == 0)
		rc = start(session, &problem);
	if (rc == 0)
		rc = serve(session, &problem);
	status = stop(session, rc == 0 && session->failed == 0, &problem);
	if (rc == 0 && session->failed != 0) {
		run_log(RUN_LOG_ERROR, "%s: %s",
		        *arguments->command[session->ended[PATH_NEAR] ? PATH_NEAR : PATH_FAR],
		        strerror(session->failed));
		return session->failed == ENOENT ? 127 : 126;
	}
	if (rc < 0 || status < 0) {
		run_log(RUN_LOG_ERROR, "%s", problem.text);
		return STATUS_FAILED;
	}
	return end_as(session->status[PATH_NEAR]);
}

bool command_exec_begins(const char *word)
{
	return short_form_is_value(word) || strcmp(word, "--up") == 0 ||
	       strncmp(word, "--up=", 5) == 0 || strcmp(word, "--down") == 0 ||
	       strncmp(word, "--down=", 7) == 0;
}

int command_exec(int argc, char **argv)
{
	static const char *const all[] = {NULL}; /* nothing is left out */
	struct session *session = calloc(1, sizeof(*session));
	char message[SCENARIO_FILE_ERROR], *line;
	int status;

	if (!session) {
		run_log(RUN_LOG_ERROR, "no memory");
		return STATUS_FAILED;
	}
	line = command_line_text("exec", argc, argv, all);
	status = exec_arguments_parse(argc, argv, &session->arguments);
	if (status != OPTIONS_RUN) {
		free(line);
		free(session);
		return status == OPTIONS_HELP ? 0 : STATUS_FAILED;
	}
	session->run.words = exec_words(&session->arguments);
	session->run.arguments = &session->arguments.path;
	session->run.line = line;
	run_log_begin("exec", session->arguments.path.log_level, JOURNAL_SOCKET);
	if (exec_scenario_make(&session->arguments, &session->run.scenario, session->run.ports,
	                       message, sizeof(message)) < 0) {
		run_log(RUN_LOG_ERROR, "%s", message);
		status = STATUS_FAILED;
	} else {
		run_seed_choose(session->run.scenario);
		status = run(session);
	}
	/* Not 1: that would be the command's status. */
	if (alloc_failure_taken()) {
		run_log(RUN_LOG_ERROR, "out of memory: the output is incomplete");
		status = STATUS_FAILED;
	}
	run_log_end();
	scenario_free(session->run.scenario);
	free(line);
	free(session);
	return status;
}
