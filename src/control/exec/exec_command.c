/* SPDX-License-Identifier: BSD-3-Clause */
/* `weir exec`: runs a command whose packets cross weir, from its command line to its end. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/atomic_file.h"
#include "command.h"
#include "exec/exec.h"
#include "language/scenario_file.h"
#include "language/short_form.h"
#include "live/runtime.h"
#include "machine/clock.h"
#include "machine/cpu_list.h"
#include "machine/eal.h"
#include "machine/run_log.h"
#include "namespace/namespace.h"
#include "record/recording_run.h"
#include "replay/replay_report.h"
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
/* What memory is taken for, without --memory: enough for many connections. */
#define EXEC_PORT_BPS UINT64_C(1000000000)
/* How often new losses of the gateway are told. */
#define GATEWAY_PACE_MS 1000

/* The state of one run. */
struct session {
	struct exec_arguments arguments;
	char *command; /* the command line */
	struct scenario *scenario;
	struct scenario *as_begun; /* a copy, for log and picture */
	uint32_t ports[EXEC_ENDS];
	struct exec_path path;
	struct exec_child children[EXEC_ENDS]; /* helper 0: none */
	bool ended[EXEC_ENDS];
	int status[EXEC_ENDS]; /* of waitpid, after the end */
	int failed;            /* the errno of a command that could not be started */
	int unnamed;           /* the errno of a private file of names that could not be made */
	int signals;
	int heard; /* of epoll: readable when there is an event or a signal */
	struct server *server;
	char socket[SOCKET_PATH_BYTES]; /* the path of its socket; "": it has none */
	struct serving *serving;
	struct atomic_file *report;
	struct exec_record *record;
	struct recording *recording; /* --record; or NULL */
	struct runtime *runtime;
	uint64_t start_ns;
	struct exec_drain *drain;  /* once the command (B) has ended; or NULL */
	bool drained;              /* nothing is left that is worth waiting for */
	bool hurried;              /* by a signal after the end of the command */
	int64_t begun_ms, over_ms; /* when A was started; when B's data had arrived */
	int64_t looked_ms;         /* when the losses of the gateway were last told */
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

	for (unsigned end = 0; rc == 0 && end < EXEC_ENDS; end++) {
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

static int bind_ports(struct session *session, struct problem *problem)
{
	for (unsigned end = 0; end < EXEC_ENDS; end++) {
		struct port_conf *port = &session->scenario->ports[session->ports[end]];

		free(port->device);
		port->device = strdup(session->path.ends[end].device);
		if (!port->device) {
			problem_set(problem, -1, "no memory");
			return -ENOMEM;
		}
	}
	return 0;
}

static int start_runtime(struct session *session, struct problem *problem)
{
	const struct exec_arguments *arguments = &session->arguments;
	struct runtime_options options = {.witness = exec_record_witness(session->record),
	                                  .frames = exec_record_frames(session->record)};
	struct cpu_list workers;
	int rc = cpu_list_parse(arguments->cores, &workers, problem);

	if (rc < 0)
		return rc;
	rest_options_set(&arguments->rest, REST_WOKEN, &options);
	rc = run_memory_size(
	        session->scenario,
	        &(struct run_memory){.config = arguments->config ? arguments->config : "",
	                             .asked_bytes = arguments->memory_bytes,
	                             .port_bps = EXEC_PORT_BPS,
	                             .workers = workers.n,
	                             .record = &arguments->record},
	        &options, session->message, sizeof(session->message));
	if (rc < 0)
		return rc;
	rc = eal_start_live(arguments->cores, 0, NULL, false,
	                    runtime_eal_mib(session->scenario, &options, workers.n), problem);
	if (rc < 0)
		return rc;
	rc = recording_run_begin(&arguments->record, session->scenario, &session->recording,
	                         problem);
	if (rc < 0)
		return rc;
	options.recording = session->recording;
	rc = runtime_start(session->scenario, &options, &session->runtime, problem);
	if (rc == 0) {
		rest_say(&arguments->rest, session->runtime, !arguments->cores, RUN_LOG_INFO);
		session->start_ns = runtime_now_ns(session->runtime);
		rc = exec_record_begin(session->record, session->runtime, session->start_ns,
		                       problem);
	}
	return rc;
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
	for (unsigned end = 0; rc == 0 && end < EXEC_ENDS; end++) {
		if (!session->ended[end] &&
		    epoll_ctl(session->heard, EPOLL_CTL_ADD, session->children[end].fd, &event) < 0)
			rc = -errno;
	}
	if (rc < 0)
		problem_set(problem, -1, "cannot create a descriptor to wait with: %s",
		            strerror(-rc));
	return rc;
}

/* Gets the path of a socket of this process's own. Returns false if there is no place for it. */
static bool own_socket(char path[SOCKET_PATH_BYTES])
{
	const char *folders[] = {getenv("XDG_RUNTIME_DIR"), "/run", "/tmp"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (folders[i] && folders[i][0] == '/' && access(folders[i], W_OK) == 0 &&
		    (size_t)snprintf(path, SOCKET_PATH_BYTES, "%s" EXEC_SOCKET "%d.sock",
		                     folders[i], (int)getpid()) < SOCKET_PATH_BYTES)
			return true;
	}
	return false;
}

/* Opens the control socket, which the command finds by SOCKET_VARIABLE. If none is asked for, and
 * none can be had, the command runs without. */
static int open_server(struct session *session, struct problem *problem)
{
	const char *asked = session->arguments.socket;
	char path[PATH_MAX] = "", folder[PATH_MAX] = "";
	int rc = -ENOENT;

	if (asked || own_socket(path))
		rc = server_open(&(struct server_paths){.control = asked ? asked : path},
		                 &session->server, problem);
	if (rc < 0 && asked)
		return rc;
	if (rc < 0)
		rc = server_open(&(struct server_paths){.control = ""}, &session->server, problem);
	if (rc < 0)
		return rc;
	/* What is said of a problem at the end must not be about this. */
	problem->text[0] = '\0';
	/* The command may go to another folder. */
	if (asked && asked[0] != '/' && getcwd(folder, sizeof(folder)))
		strncat(folder, "/", 2);
	if ((size_t)snprintf(session->socket, sizeof(session->socket), "%s%s", folder,
	                     server_path(session->server)) >= sizeof(session->socket))
		session->socket[0] = '\0';
	return 0;
}

static void take_record(void *argument)
{
	struct session *session = argument;

	exec_record_take(session->record, runtime_done_ns(session->runtime));
}

/* Begins to serve the control socket. Before a change frees anything, decisions that may name it
 * are written (take_record). */
static int begin_serving(struct session *session, struct problem *problem)
{
	const struct recording_arguments *record = &session->arguments.record;
	int rc;

	server_flight(session->server,
	              &(struct flight_wish){.on = record->flight_on, .to = record->flight_to});
	rc = server_begin(session->server, session->runtime, &session->scenario,
	                  session->arguments.config, NULL, &session->serving);
	if (rc < 0)
		problem_set(problem, -1, "control socket: %s", strerror(-rc));
	else
		server_when_taken(session->serving, take_record, session);
	return rc;
}

/* Says at a terminal where its user is. */
static void greet(const struct session *session)
{
	if (session->arguments.shell && !session->arguments.quiet && isatty(STDERR_FILENO))
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

	runtime_worker_report(session->runtime, 0, &worker);
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
		rc = bind_ports(session, problem);
	if (rc == 0)
		run_warn(session->scenario);
	if (rc == 0)
		rc = start_runtime(session, problem);
	if (rc == 0)
		rc = let_out(session, problem);
	if (rc == 0)
		rc = begin_serving(session, problem);
	if (rc == 0 && !session->arguments.cores)
		rest_let_move(&allowed);
	memcpy(session->path.around.socket, session->socket, sizeof(session->socket));
	if (rc == 0)
		greet(session);
	if (rc == 0 && session->arguments.between)
		rc = start_child(session, EXEC_FAR, problem);
	if (rc == 0 && !session->arguments.between)
		rc = start_child(session, EXEC_NEAR, problem);
	session->begun_ms = now_ms();
	return rc;
}

/* ---- while it runs ---- */

/* Returns true if a signal ends the wait for what the command has sent. */
static bool hurries(const struct session *session, const struct signalfd_siginfo *info)
{
	return session->ended[EXEC_NEAR] &&
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
		    session->arguments.record.flight.unit != LIMIT_NONE) {
			server_dump_flight(session->serving);
			continue;
		}
		for (unsigned end = 0; end < EXEC_ENDS; end++)
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
	const struct exec_child *first = &session->children[EXEC_FAR];

	if (!session->arguments.between)
		return 0;
	if (!*begun && (session->ended[EXEC_FAR] || now_ms() - session->begun_ms > LISTEN_MS ||
	                (first->command > 0 && exec_is_listening(first->command)))) {
		*begun = true;
		return start_child(session, EXEC_NEAR, problem);
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
	runtime_lost_beyond(session->runtime, session->ports[EXEC_FAR], losses.to_command,
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

	if (!session->ended[EXEC_NEAR] || session->drained || session->failed != 0 ||
	    session->unnamed != 0)
		return;
	if (!session->drain) {
		/* If the helper was killed, what it has left behind would go on sending. */
		exec_child_end(&session->children[EXEC_NEAR]);
		if (!session->arguments.between)
			exec_children_end();
		session->drain = exec_drain_make(&session->path, session->runtime,
		                                 session->ports[EXEC_NEAR]);
	}
	session->drained =
	        !session->drain || exec_drain_is_over(session->drain, now_ms()) || session->hurried;
	if (session->drained && session->drain && !session->arguments.quiet &&
	    exec_drain_tell(session->drain, text, sizeof(text)))
		run_log(RUN_LOG_WARNING, "%s", text);
}

static bool is_over(const struct session *session)
{
	if (session->failed != 0)
		return true;
	return session->ended[EXEC_FAR] && session->ended[EXEC_NEAR] &&
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
	return exec_record_pace_ms(session->record, pace_ms);
}

static int serve(struct session *session, struct problem *problem)
{
	bool begun = false;
	int rc = 0;

	while (rc == 0 && !is_over(session)) {
		server_step(session->serving, session->heard, pace_ms(session, begun));
		pass_signals(session);
		for (unsigned end = 0; end < EXEC_ENDS; end++) {
			hear(session, end);
			/* This descriptor brings nothing more, and stays readable. */
			if (session->ended[end] && session->children[end].helper > 0)
				epoll_ctl(session->heard, EPOLL_CTL_DEL, session->children[end].fd,
				          NULL);
		}
		drain(session);
		rc = session->unnamed ? say_unnamed(session, problem)
		                      : keep_order(session, &begun, problem);
		take_record(session);
		count_gateway(session, false);
	}
	if (rc == 0)
		count_gateway(session, true);
	return rc;
}

/* ---- the end ---- */

static int write_report(struct session *session, const struct replay_result *result,
                        struct problem *problem)
{
	int rc = report_file_write(session->report, session->scenario, result, problem);

	if (rc == 0) {
		rc = atomic_file_publish(session->report, problem);
		session->report = NULL;
	}
	return rc;
}

static int tell_result(struct session *session, struct problem *problem)
{
	struct replay_result result = {.last_ns = 0};
	int rc = exec_result_read(session->runtime, session->scenario, session->start_ns, &result);

	if (rc == 0 && !session->arguments.quiet)
		exec_result_print(stderr, session->scenario, &result);
	if (rc < 0)
		problem_set(problem, -1, "no memory for the table");
	if (rc == 0 && session->report)
		rc = write_report(session, &result, problem);
	replay_result_free(&result);
	/* The log and the picture have the clouds that existed at the beginning. */
	if (rc == 0 && session->record) {
		result = (struct replay_result){.last_ns = 0};
		rc = exec_result_read(session->runtime, session->as_begun, session->start_ns,
		                      &result);
		if (rc < 0)
			problem_set(problem, -1, "no memory for the log or the picture");
		else
			rc = exec_record_publish(session->record, &result, problem);
		replay_result_free(&result);
		if (rc == 0)
			exec_record_print(session->record, stderr);
	}
	return rc;
}

/* Returns the first failure, with its problem; a later one is only logged. */
static int also_failed(int rc, const struct problem *later, struct problem *problem)
{
	if (rc < 0) {
		run_log(RUN_LOG_ERROR, "%s", later->text);
		return rc;
	}
	*problem = *later;
	return -EIO;
}

static int stop(struct session *session, bool result, struct problem *problem)
{
	struct problem later = {.text = ""};
	int rc = 0;

	exec_drain_free(session->drain);
	for (unsigned end = EXEC_ENDS; end-- > 0;)
		exec_child_end(&session->children[end]);
	exec_children_end();
	if (session->serving)
		server_end(session->serving, 0);
	if (session->runtime) {
		runtime_halt(session->runtime);
		exec_record_take(session->record, SIMTIME_NEVER);
		if (result)
			rc = tell_result(session, problem);
		if (recording_run_end(session->runtime, session->scenario, &later) < 0)
			rc = also_failed(rc, &later, problem);
		if (runtime_stop(session->runtime, &later) < 0)
			rc = also_failed(rc, &later, problem);
	}
	if (session->runtime)
		recording_free(session->recording);
	else
		recording_discard(session->recording);
	eal_stop_live();
	server_close(session->server);
	exec_path_close(&session->path);
	atomic_file_discard(session->report);
	exec_record_close(session->record);
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
	const struct exec_record_files files = {
	        .log = arguments->log,
	        .picture = arguments->picture,
	        .pcap = arguments->pcap,
	        .explain = arguments->explain,
	        .explain_json = arguments->explain_json,
	        .command = session->command,
	};
	int rc = 0, status;

	session->as_begun = scenario_copy(session->scenario);
	if (!session->as_begun) {
		run_log(RUN_LOG_ERROR, "no memory");
		return STATUS_FAILED;
	}
	if (arguments->report)
		rc = atomic_file_open(arguments->report, &session->report, &problem);
	if (rc == 0)
		rc = exec_record_open(&files, session->as_begun, session->ports[EXEC_NEAR],
		                      &session->record, &problem);
	if (rc == 0)
		rc = start(session, &problem);
	if (rc == 0)
		rc = serve(session, &problem);
	status = stop(session, rc == 0 && session->failed == 0, &problem);
	if (rc == 0 && session->failed != 0) {
		run_log(RUN_LOG_ERROR, "%s: %s",
		        *arguments->command[session->ended[EXEC_NEAR] ? EXEC_NEAR : EXEC_FAR],
		        strerror(session->failed));
		return session->failed == ENOENT ? 127 : 126;
	}
	if (rc < 0 || status < 0) {
		run_log(RUN_LOG_ERROR, "%s", problem.text[0] ? problem.text : session->message);
		return STATUS_FAILED;
	}
	return end_as(session->status[EXEC_NEAR]);
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
	int status;

	if (!session) {
		run_log(RUN_LOG_ERROR, "no memory");
		return STATUS_FAILED;
	}
	session->command = command_line_text("exec", argc, argv, all);
	status = exec_arguments_parse(argc, argv, &session->arguments);
	if (status != OPTIONS_RUN) {
		free(session->command);
		free(session);
		return status == OPTIONS_HELP ? 0 : STATUS_FAILED;
	}
	run_log_begin("exec", session->arguments.log_level, JOURNAL_SOCKET);
	if (exec_scenario_make(&session->arguments, &session->scenario, session->ports,
	                       session->message, sizeof(session->message)) < 0) {
		run_log(RUN_LOG_ERROR, "%s", session->message);
		status = STATUS_FAILED;
	} else {
		run_seed_choose(session->scenario);
		status = run(session);
	}
	/* Not 1: that would be the command's status. */
	if (alloc_failure_taken()) {
		run_log(RUN_LOG_ERROR, "out of memory: the output is incomplete");
		status = STATUS_FAILED;
	}
	scenario_free(session->as_begun);
	run_log_end();
	scenario_free(session->scenario);
	free(session->command);
	free(session);
	return status;
}
