/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket itself: who may own it, who may connect, and for how long. The sockets are
 * real, in a directory of the test; the test sets the clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_control.h"
#include "runner/group.h"
#include "unable.h"
#include "text/file_read.h"
#include "socket/server.h"
#include "socket/session.h"
#include "socket/socket.h"
#include "stream/event.h"

#define SCENARIO "port a\nport b\ncloud down from a to b\ncloud up from b to a\n"

struct bench {
	struct fake fake;
	struct server *server;
	char directory[64], path[100];
	uint64_t now_ns;
};

static int bench_start(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	struct problem problem;

	strcpy(bench->directory, "/tmp/weir-test-XXXXXX");
	if (mkdtemp(bench->directory) == NULL || !fake_start(&bench->fake, SCENARIO))
		return -1;
	fake_use_threads(&bench->fake);
	snprintf(bench->path, sizeof(bench->path), "%s/socket", bench->directory);
	*state = bench;
	return server_open(&(struct server_paths){.control = bench->path}, &bench->server,
	                   &problem);
}

static int bench_stop(void **state)
{
	struct bench *bench = *state;

	server_close(bench->server);
	fake_stop(&bench->fake);
	unlink(bench->path);
	if (rmdir(bench->directory) != 0)
		return -1;
	free(bench);
	return 0;
}

static int bench_connect(const struct bench *bench)
{
	struct problem problem;
	int fd = socket_connect(bench->path, &problem);

	assert_true(fd >= 0);
	return fd;
}

#define PATIENCE 60000 /* rounds of a millisecond, for a busy machine */

/* The clock of the run goes on: a look that waits for a change to be settled settles it itself
 * after a while. */
static void rounds(struct bench *bench, int n)
{
	for (int i = 0; i < n; i++) {
		__atomic_add_fetch(&bench->fake.now_ns, SIMTIME_MS, __ATOMIC_RELAXED);
		assert_int_equal(
		        server_round(bench->server, &bench->fake.control, bench->now_ns, -1, 1), 0);
	}
}

static void until_clients(struct bench *bench, uint32_t n)
{
	for (int i = 0; i < PATIENCE && server_clients(bench->server) != n; i++)
		rounds(bench, 1);
	assert_int_equal(server_clients(bench->server), n);
}

/* Returns the number of answers, or of their beginnings. */
static int answers_in(const char *text)
{
	int n = 0;

	for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1)
		n += strncmp(text, "ok\n", 3) == 0 || strncmp(text, "err ", 4) == 0 || *text == '{';
	return n;
}

/* Runs rounds until n answers have come, or the server has hung up. */
static void hear(struct bench *bench, int fd, int n, char answer[4096])
{
	size_t bytes = 0;

	answer[0] = '\0';
	for (int i = 0; i < PATIENCE && answers_in(answer) < n; i++) {
		ssize_t more;

		rounds(bench, 1);
		more = recv(fd, answer + bytes, 4095 - bytes, MSG_DONTWAIT);
		if (more == 0)
			return;
		bytes += more > 0 ? (size_t)more : 0;
		answer[bytes] = '\0';
	}
}

static void expect_answer(struct bench *bench, int fd, const char *expected)
{
	char answer[4096];

	hear(bench, fd, answers_in(expected), answer);
	assert_string_equal(without_was(answer), expected);
}

static void expect_closed(struct bench *bench, int fd)
{
	ssize_t n = -1;
	char byte;

	for (int i = 0; i < PATIENCE && n < 0; i++) {
		rounds(bench, 1);
		n = recv(fd, &byte, 1, MSG_DONTWAIT);
	}
	assert_int_equal(n, 0);
}

static void send_text(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void commands_are_answered_to_the_client_that_gave_them(void **state)
{
	struct bench *bench = *state;
	int one = bench_connect(bench), two = bench_connect(bench);

	send_text(one, "cloud down delay 10ms\nclear coun");
	send_text(two, "json on\nclear counters\n");
	expect_answer(bench, one, "ok\n");
	expect_answer(bench, two, "{\"ok\":true}\n{\"ok\":true}\n");
	send_text(one, "ters\n");
	expect_answer(bench, one, "ok\n");
	assert_int_equal(bench->fake.clears, 2);
	close(one);
	close(two);
	until_clients(bench, 0);
}

static void a_client_that_only_writes_and_shuts_down_gets_its_answers(void **state)
{
	struct bench *bench = *state;
	int fd = bench_connect(bench);

	send_text(fd, "clear counters\ncloud up delay 1ms\n");
	shutdown(fd, SHUT_WR);
	expect_answer(bench, fd, "ok\nok\n");
	expect_closed(bench, fd);
	close(fd);
	assert_int_equal(bench->fake.changes, 1);
}

/* Connects with the rights of another user; only root can do this. */
static int bench_connect_as(const struct bench *bench, uid_t user)
{
	int fd;

	chmod(bench->path, 0666);
	chmod(bench->directory, 0755);
	assert_int_equal(seteuid(user), 0);
	fd = bench_connect(bench);
	assert_int_equal(seteuid(0), 0);
	return fd;
}

#define NOBODY 65534

static void connect_all(struct bench *bench, int fds[SERVER_CLIENTS_MAX])
{
	for (int i = 0; i < SERVER_CLIENTS_MAX; i++)
		fds[i] = bench_connect(bench);
	until_clients(bench, SERVER_CLIENTS_MAX);
}

/* Lets each client but one send this line, which is answered by `ok`. */
static void answer_all_but(struct bench *bench, const int fds[SERVER_CLIENTS_MAX], int but,
                           const char *line)
{
	for (int i = 0; i < SERVER_CLIENTS_MAX; i++) {
		if (i == but)
			continue;
		send_text(fds[i], line);
		expect_answer(bench, fds[i], "ok\n");
	}
}

static void of_seventeen_clients_the_one_goes_that_was_silent_for_longest(void **state)
{
	struct bench *bench = *state;
	int fds[SERVER_CLIENTS_MAX + 1];

	connect_all(bench, fds);
	bench->now_ns = SIMTIME_S;
	rounds(bench, 1);
	answer_all_but(bench, fds, 5, "clear counters\n");
	fds[SERVER_CLIENTS_MAX] = bench_connect(bench);
	expect_answer(bench, fds[5],
	              "err server: this client was silent for longest, and another client "
	              "needs its place; connect again\n");
	expect_closed(bench, fds[5]);
	assert_int_equal(server_clients(bench->server), SERVER_CLIENTS_MAX);
	send_text(fds[SERVER_CLIENTS_MAX], "clear counters\n");
	expect_answer(bench, fds[SERVER_CLIENTS_MAX], "ok\n");
	for (int i = 0; i <= SERVER_CLIENTS_MAX; i++)
		close(fds[i]);
}

/* Within one round of the server all clients were silent equally long. */
static void of_those_that_were_silent_equally_long_the_first_to_arrive_goes(void **state)
{
	struct bench *bench = *state;
	int before = bench_connect(bench), fds[SERVER_CLIENTS_MAX + 1];

	until_clients(bench, 1);
	for (int i = 0; i < SERVER_CLIENTS_MAX - 1; i++)
		fds[i] = bench_connect(bench);
	until_clients(bench, SERVER_CLIENTS_MAX);
	close(before);
	until_clients(bench, SERVER_CLIENTS_MAX - 1);
	fds[SERVER_CLIENTS_MAX - 1] = bench_connect(bench);
	until_clients(bench, SERVER_CLIENTS_MAX);
	for (int i = 0; i < SERVER_CLIENTS_MAX; i++) {
		send_text(fds[i], "clear counters\n");
		expect_answer(bench, fds[i], "ok\n");
	}
	bench->now_ns = 2 * SIMTIME_S;
	fds[SERVER_CLIENTS_MAX] = bench_connect(bench);
	expect_answer(bench, fds[0],
	              "err server: this client was silent for longest, and another client "
	              "needs its place; connect again\n");
	for (int i = 0; i <= SERVER_CLIENTS_MAX; i++)
		close(fds[i]);
}

/* Its thread may be busy, or have no processor, for a while after the answer. The others are
 * answered then, and silent for less than SERVER_SILENT_NS. */
static void a_client_is_silent_from_its_answer_on(void **state)
{
	struct bench *bench = *state;
	int fds[SERVER_CLIENTS_MAX + 1];

	connect_all(bench, fds);
	__atomic_store_n(&bench->fake.frees_late, true, __ATOMIC_RELAXED);
	bench->now_ns = SIMTIME_S;
	rounds(bench, 1);
	send_text(fds[5], "clear counters\n");
	expect_answer(bench, fds[5], "ok\n");
	bench->now_ns += SERVER_SILENT_NS / 2;
	rounds(bench, 1);
	answer_all_but(bench, fds, 5, "\n");
	bench->now_ns += SERVER_SILENT_NS / 2;
	rounds(bench, 1);
	__atomic_store_n(&bench->fake.frees_late, false, __ATOMIC_RELAXED);
	fds[SERVER_CLIENTS_MAX] = bench_connect(bench);
	expect_answer(bench, fds[5],
	              "err server: this client was silent for longest, and another client "
	              "needs its place; connect again\n");
	for (int i = 0; i <= SERVER_CLIENTS_MAX; i++)
		close(fds[i]);
}

/* Sixty clients at one instant, of which none is silent for longer than the others. */
static void clients_beyond_the_sixteenth_wait_until_one_leaves(void **state)
{
	struct bench *bench = *state;
	int fds[60];

	for (int i = 0; i < 60; i++) {
		fds[i] = bench_connect(bench);
		send_text(fds[i], "clear counters\n");
		rounds(bench, 1);
	}
	until_clients(bench, SERVER_CLIENTS_MAX);
	for (int i = 0; i < 60; i++) {
		expect_answer(bench, fds[i], "ok\n");
		close(fds[i]);
	}
	until_clients(bench, 0);
}

static void hold(struct bench *bench, bool holds)
{
	__atomic_store_n(&bench->fake.holds, holds, __ATOMIC_RELAXED);
}

/* One change is being prepared, fifteen wait for their turn. */
static void a_client_that_waits_for_an_answer_keeps_its_place(void **state)
{
	struct bench *bench = *state;
	int fds[SERVER_CLIENTS_MAX + 1];

	hold(bench, true);
	for (int i = 0; i < SERVER_CLIENTS_MAX; i++) {
		fds[i] = bench_connect(bench);
		send_text(fds[i], "cloud up delay 1ms\n");
	}
	until_clients(bench, SERVER_CLIENTS_MAX);
	bench->now_ns = 5 * SIMTIME_S;
	fds[SERVER_CLIENTS_MAX] = bench_connect(bench);
	send_text(fds[SERVER_CLIENTS_MAX], "clear counters\n");
	rounds(bench, 100);
	hold(bench, false);
	for (int i = 0; i <= SERVER_CLIENTS_MAX; i++) {
		expect_answer(bench, fds[i], "ok\n");
		close(fds[i]);
	}
}

static void a_line_that_does_not_end_is_given_up_and_changes_nothing(void **state)
{
	static const char *const modes[] = {"ok\n", "{\"ok\":true}\n"};
	static const char *const errors[] = {
	        "err line: this takes longer than 20 s and was given up; nothing is changed; "
	        "split it into smaller steps\n",
	        "{\"ok\":false,\"error\":{\"name\":\"line\",\"code\":\"refused\",\"column\":0,"
	        "\"message\":\"this takes longer than 20 s and was given up; nothing is changed; "
	        "split it into smaller steps\"}}\n"};
	struct bench *bench = *state;

	for (int json = 0; json < 2; json++) {
		int fd = bench_connect(bench), other = bench_connect(bench);

		send_text(fd, json ? "json on\n" : "json off\n");
		expect_answer(bench, fd, modes[json]);
		hold(bench, true);
		send_text(fd, "cloud up delay 1ms\n");
		rounds(bench, 100);
		for (uint64_t end_ns = bench->now_ns + CONNECTION_WORK_NS; bench->now_ns < end_ns;
		     bench->now_ns += 50 * SIMTIME_MS)
			rounds(bench, 1);
		expect_answer(bench, fd, errors[json]);
		expect_closed(bench, fd);
		assert_int_equal(server_clients(bench->server), 1);
		hold(bench, false);
		send_text(other, "clear counters\n"); /* after the turn of the other */
		expect_answer(bench, other, "ok\n");
		assert_int_equal(bench->fake.changes, 0);
		close(fd);
		close(other);
		until_clients(bench, 0);
	}
}

/* However many other clients there are, and however much they send. */
static void others_cannot_lock_root_out(void **state)
{
	struct bench *bench = *state;
	int fds[SERVER_CLIENTS_MAX], root, one_more;

	if (geteuid() != 0)
		UNABLE("only root can take the part of another user");
	for (int i = 0; i < SERVER_CLIENTS_MAX; i++)
		fds[i] = bench_connect_as(bench, NOBODY);
	until_clients(bench, SERVER_CLIENTS_MAX);
	root = bench_connect(bench);
	send_text(root, "clear counters\n");
	expect_answer(bench, root, "ok\n");
	bench->now_ns = SIMTIME_S;
	for (int i = 0; i < SERVER_CLIENTS_MAX; i++)
		send(fds[i], "clear counters\n", 15, MSG_NOSIGNAL);
	one_more = bench_connect_as(bench, NOBODY);
	rounds(bench, 5);
	assert_int_equal(server_clients(bench->server), SERVER_CLIENTS_MAX);
	send_text(root, "cloud up delay 1ms\n");
	expect_answer(bench, root, "ok\n");
	for (int i = 0; i < SERVER_CLIENTS_MAX; i++)
		close(fds[i]);
	close(one_more);
	close(root);
}

static void where_only_root_is_connected_another_user_is_told_so(void **state)
{
	struct bench *bench = *state;
	int fds[SERVER_CLIENTS_MAX], other;
	char byte;

	if (geteuid() != 0)
		UNABLE("only root can take the part of another user");
	for (int i = 0; i < SERVER_CLIENTS_MAX; i++)
		fds[i] = bench_connect(bench);
	until_clients(bench, SERVER_CLIENTS_MAX);
	other = bench_connect_as(bench, NOBODY);
	rounds(bench, 5);
	assert_int_equal(recv(other, &byte, 1, MSG_DONTWAIT), -1);
	bench->now_ns += SERVER_WAIT_NS;
	expect_answer(bench, other,
	              "err server: 16 clients of root or of the user that runs weir are "
	              "connected, which is the maximum; try again when one has left\n");
	expect_closed(bench, other);
	for (int i = 0; i < SERVER_CLIENTS_MAX; i++)
		close(fds[i]);
	close(other);
}

/* Writes a file that only root may read. */
static void write_secret(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	chmod(path, 0600);
}

static void send_with(int to, const char *text, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} room = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
	                     .cmsg_level = SOL_SOCKET,
	                     .cmsg_type = SCM_RIGHTS}};
	struct iovec bytes = {(void *)(uintptr_t)text, strlen(text)};
	struct msghdr message = {.msg_iov = &bytes,
	                         .msg_iovlen = 1,
	                         .msg_control = &room,
	                         .msg_controllen = sizeof(room)};

	memcpy(CMSG_DATA(&room.header), &fd, sizeof(fd));
	assert_int_equal(sendmsg(to, &message, MSG_NOSIGNAL), strlen(text));
}

static void a_client_reads_no_file_of_roots(void **state)
{
	static const char *const lines[] = {
	        "cloud down loss list",
	        "cloud down trace",
	        "cloud down delay 1ms distribution table",
	        "cloud down at 1s loss list",
	        "cloud down netem delay 10ms 1ms distribution",
	};
	struct bench *bench = *state;
	char path[120], line[300], answer[4096];
	int fd;

	if (geteuid() != 0)
		UNABLE("only root can take the part of another user");
	snprintf(path, sizeof(path), "%s.secret", bench->path);
	write_secret(path, "hush-hush\n");
	fd = bench_connect_as(bench, NOBODY);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(line, sizeof(line), "%s %s\n", lines[i], path);
		send_text(fd, line);
		hear(bench, fd, 1, answer);
		if (memcmp(answer, "err ", 4) != 0 || strstr(answer, "hush") != NULL)
			fail_msg("%s is answered: %s", line, answer);
	}
	close(fd);
	unlink(path);
}

static void what_a_client_has_opened_himself_is_read_and_not_shown(void **state)
{
	struct bench *bench = *state;
	char path[120], answer[4096];
	int fd, file;

	if (geteuid() != 0)
		UNABLE("only root can take the part of another user");
	snprintf(path, sizeof(path), "%s.own", bench->path);
	write_secret(path, "3\n8\n");
	file = open(path, O_RDONLY);
	fd = bench_connect_as(bench, NOBODY);
	send_with(fd, "file mine\n", file);
	expect_answer(bench, fd, "ok\n");
	send_text(fd, "cloud down loss list mine\nshow config\ncloud up loss list mine\n");
	hear(bench, fd, 3, answer);
	assert_non_null(strstr(answer, "cloud down loss list mine\n"));
	/* the file was handed over for one line */
	assert_non_null(strstr(answer, "err mine: the file `mine` did not come with the line"));
	write_secret(path, "hush\n");
	send_text(fd, "begin\n");
	send_with(fd, "file mine\n", file);
	send_text(fd, "cloud up loss list mine\nshow config\ncommit\n");
	hear(bench, fd, 5, answer);
	assert_memory_equal(answer, "ok\nok\nok\n", 9);
	assert_non_null(strstr(answer, "\nok\nerr up: line 1: "));
	assert_non_null(strstr(answer, ":1: `...` is not the number of a packet"));
	assert_null(strstr(answer, "hush"));
	send_text(fd, "file mine\n");
	expect_answer(bench, fd,
	              "err file: no descriptor came with the line; send one with it, by "
	              "SCM_RIGHTS\n");
	close(file);
	close(fd);
	unlink(path);
}

/* Each line may name 8 MiB; at most eight of them are in force at once. */
static void files_in_force_are_bounded_in_all(void **state)
{
	struct bench *bench = *state;
	char path[120], line[300], answer[4096];
	int fd = bench_connect(bench);
	FILE *file;

	snprintf(path, sizeof(path), "%s.list", bench->path);
	file = fopen(path, "w");
	assert_non_null(file);
	for (size_t i = 0; i < FILE_CLIENT_BYTES_MAX - 2; i++)
		fputc('#', file);
	fputs("\n7", file);
	fclose(file);
	for (int i = 0; i <= 8; i++) {
		snprintf(line, sizeof(line),
		         "begin\ncloud c%d from a to b match src 10.0.0.%d\ncloud c%d loss list "
		         "%s\ncommit\n",
		         i, i, i, path);
		send_text(fd, line);
		hear(bench, fd, 4, answer);
		if (i < 8)
			assert_string_equal(answer, "ok\nok\nok\nok\n");
		else
			assert_non_null(strstr(answer,
			                       "would have 72 MiB in total; at most 64 MiB are "
			                       "allowed"));
	}
	close(fd);
	unlink(path);
}

static void an_idle_client_is_told_and_closed_after_10_minutes(void **state)
{
	struct bench *bench = *state;
	int idle = bench_connect(bench), busy = bench_connect(bench);

	until_clients(bench, 2);
	bench->now_ns = CONNECTION_IDLE_NS - 1;
	rounds(bench, 1);
	send_text(busy, "clear counters\n");
	expect_answer(bench, busy, "ok\n");
	assert_int_equal(server_clients(bench->server), 2);
	bench->now_ns = CONNECTION_IDLE_NS;
	expect_answer(bench, idle,
	              "err session: idle for 10 minutes, so it is closed; connect again\n");
	expect_closed(bench, idle);
	assert_int_equal(server_clients(bench->server), 1);
	close(idle);
	close(busy);
}

static void a_client_that_does_not_read_is_held_at_4_MiB_and_closed_after_30_seconds(void **state)
{
	struct bench *bench = *state;
	int slow = bench_connect(bench), other = bench_connect(bench);
	int refused = 0, sent = 0;

	/* Refused for a second: the client is not read from any more. */
	for (; sent < 100000 && refused < 1000; rounds(bench, refused > 0)) {
		bool is = send(slow, "help\n", 5, MSG_DONTWAIT | MSG_NOSIGNAL) == 5;

		sent += is;
		refused = is ? 0 : refused + 1;
	}
	assert_true(sent < 100000);
	send_text(other, "clear counters\n");
	expect_answer(bench, other, "ok\n"); /* other clients are not affected */
	bench->now_ns += CONNECTION_STALL_NS - 1;
	rounds(bench, 5);
	assert_int_equal(server_clients(bench->server), 2);
	bench->now_ns += 1;
	until_clients(bench, 1);
	close(slow);
	close(other);
}

/* Events, and no answer, wait for a client that does not read. They are fewer than the log
 * keeps. */
static void a_client_that_reads_no_events_is_told_after_30_seconds_and_closed(void **state)
{
	static char pushed[400 * 1000];
	struct bench *bench = *state;
	int slow = bench_connect(bench);
	char answer[4096], text[1001] = "";
	const char *end;
	size_t n = 0;

	send_text(slow, "events\n");
	hear(bench, slow, 1, answer);
	memset(text, 'x', sizeof(text) - 1);
	for (int i = 0; i < 400; i++)
		event_tell(&bench->fake.control, RUN_LOG_DEBUG, "remark", json_object(), "%s",
		           text);
	rounds(bench, 20);
	bench->now_ns = CONNECTION_STALL_NS - 1;
	rounds(bench, 20);
	assert_int_equal(server_clients(bench->server), 1);
	/* On a busy machine its thread may have noticed only now. */
	for (int i = 0; i < PATIENCE && server_clients(bench->server) > 0; i++) {
		bench->now_ns += SIMTIME_S;
		rounds(bench, 1);
	}
	assert_int_equal(server_clients(bench->server), 0);
	for (ssize_t more = 1; more > 0; n += (size_t)more) {
		more = recv(slow, pushed + n, sizeof(pushed) - 1 - n, 0);
		assert_true(more >= 0);
	}
	end = strstr(pushed, "\nerr events: ");
	assert_non_null(end);
	assert_memory_equal(
	        end, "\nerr events: nothing was read for 30 s; resume with `events from ", 65);
	close(slow);
}

static void answers_that_do_not_fit_the_socket_arrive_whole_when_they_are_read(void **state)
{
	struct bench *bench = *state;
	int fd = bench_connect(bench), patience = PATIENCE;
	size_t received = 0, once = 0;
	char bytes[65536];

	send_text(fd, "help\n");
	while (once < 4 || memcmp(bytes + once - 4, "\nok\n", 4) != 0) {
		ssize_t n;

		rounds(bench, 1);
		n = recv(fd, bytes + once, sizeof(bytes) - once, MSG_DONTWAIT);
		once += n > 0 ? (size_t)n : 0;
		assert_true(patience-- > 0);
	}
	for (int i = 0; i < 2000; i++)
		memcpy(bytes + 5 * (size_t)i, "help\n", 6);
	send_text(fd, bytes);
	while (received < 2000 * once && patience-- > 0) {
		ssize_t n = recv(fd, bytes, 1000, MSG_DONTWAIT);

		received += n > 0 ? (size_t)n : 0;
		patience += n > 0;
		rounds(bench, n <= 0);
	}
	assert_int_equal(received, 2000 * once);
	assert_true(recv(fd, bytes, 1, MSG_DONTWAIT) < 0);
	close(fd);
}

static void a_live_socket_is_not_taken_and_the_error_says_whose_it_is(void **state)
{
	struct bench *bench = *state;
	struct socket_listener second;
	struct problem problem;
	char pid[32];

	assert_int_equal(socket_listen(bench->path, NULL, &second, &problem), -EADDRINUSE);
	snprintf(pid, sizeof(pid), "in use by pid %d (", (int)getpid());
	assert_non_null(strstr(problem.text, pid));
	assert_int_equal(access(bench->path, F_OK), 0);
}

static void the_read_only_socket_is_another_one(void **state)
{
	struct bench *bench = *state;
	char path[120], again[120];
	struct server_paths paths = {.control = path, .read_only = again};
	struct server *server;
	struct problem problem;

	snprintf(path, sizeof(path), "%.90s.one", bench->path);
	snprintf(again, sizeof(again), "/proc/self/root/%.90s.one", bench->path);
	assert_int_equal(server_open(&paths, &server, &problem), -EADDRINUSE);
	assert_non_null(strstr(problem.text,
	                       ".one: it is the control socket and the read-only one at "
	                       "once; give another path with --socket-readonly"));
	assert_int_equal(access(path, F_OK), -1);
}

static void a_stale_socket_is_replaced(void **state)
{
	struct bench *bench = *state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct socket_listener listener;
	struct problem problem;
	const char *path = address.sun_path;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%.90s.stale", bench->path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd); /* the file stays, as after a kill -9 */
	assert_true(socket_connect(path, &problem) == -ECONNREFUSED);
	assert_int_equal(socket_listen(path, NULL, &listener, &problem), 0);
	fd = socket_connect(path, &problem);
	assert_true(fd >= 0);
	close(fd);
	socket_unlisten(&listener);
	assert_int_equal(access(path, F_OK), -1);
}

static void a_file_that_is_no_socket_is_left_alone(void **state)
{
	struct bench *bench = *state;
	struct socket_listener listener;
	struct problem problem;
	char path[110];

	snprintf(path, sizeof(path), "%s.file", bench->path);
	fclose(fopen(path, "w"));
	assert_int_equal(socket_listen(path, NULL, &listener, &problem), -EEXIST);
	assert_int_equal(unlink(path), 0);
}

static void a_path_that_is_too_long_or_not_there_is_refused(void **state)
{
	struct socket_listener listener;
	struct problem problem;
	char path[200];

	(void)state;
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(socket_listen(path, NULL, &listener, &problem), -ENAMETOOLONG);
	assert_non_null(strstr(problem.text, "199 bytes long; a socket's may be 1 to 107"));
	assert_int_equal(socket_connect(path, &problem), -ENAMETOOLONG);
	assert_int_equal(socket_listen("/nowhere/weir.sock", NULL, &listener, &problem), -ENOENT);
	assert_int_equal(socket_connect("/nowhere/weir.sock", &problem), -ENOENT);
	assert_non_null(strstr(problem.text, "weir run"));
}

static void the_socket_has_mode_0660_whatever_the_umask(void **state)
{
	static const mode_t umasks[] = {0, 0022, 0077, 0777};
	struct bench *bench = *state;
	struct socket_listener listener;
	struct problem problem;
	struct stat status;
	char path[110];

	snprintf(path, sizeof(path), "%s.mode", bench->path);
	for (size_t i = 0; i < sizeof(umasks) / sizeof(umasks[0]); i++) {
		mode_t before = umask(umasks[i]);

		assert_int_equal(socket_listen(path, NULL, &listener, &problem), 0);
		umask(before);
		assert_int_equal(stat(path, &status), 0);
		assert_int_equal(status.st_mode & 07777, 0660);
		socket_unlisten(&listener);
	}
}

static void at_exit_only_the_own_socket_is_removed(void **state)
{
	struct bench *bench = *state;
	struct socket_listener first, second;
	struct problem problem;
	char path[110];

	snprintf(path, sizeof(path), "%s.own", bench->path);
	assert_int_equal(socket_listen(path, NULL, &first, &problem), 0);
	assert_int_equal(unlink(path), 0); /* somebody removed the file, and another weir started */
	assert_int_equal(socket_listen(path, NULL, &second, &problem), 0);
	socket_unlisten(&first);
	assert_int_equal(access(path, F_OK), 0);
	socket_unlisten(&second);
	assert_int_equal(access(path, F_OK), -1);
}

static void a_signal_ends_the_round_with_its_number(void **state)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
	struct bench *bench = *state;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		raise(signals[i]);
		assert_int_equal(server_round(bench->server, &bench->fake.control, 0, -1, 60000),
		                 signals[i]);
	}
}

static void a_fourth_signal_that_nobody_takes_ends_the_process(void **state)
{
	int status;
	pid_t child;

	child = fork();
	if (child == 0) {
		for (int i = 0; i < 3; i++)
			raise(SIGTERM);
		if (server_round(((struct bench *)*state)->server,
		                 &((struct bench *)*state)->fake.control, 0, -1, 0) != SIGTERM)
			_exit(1);
		for (int i = 0; i < 4; i++)
			raise(SIGTERM);
		_exit(2);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

/* Returns true when the process sleeps; false when it has ended. */
static bool sleeps(pid_t pid)
{
	char path[64], text[200] = "", state = 'R';
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	while (state == 'R' || state == 'D') {
		FILE *file = fopen(path, "r");

		assert_non_null(file);
		n = fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
		text[n] = '\0';
		state = strrchr(text, ')')[2];
	}
	return state == 'S';
}

/* Opens the pipe of a port, whose other end nobody has opened, as at the start of weir. */
static void a_signal_ends_the_wait_for_the_other_end_of_a_pipe(void **state)
{
	static const int signals[] = {SIGTERM, SIGINT};
	const struct bench *bench = *state;
	char path[120];
	int status;

	snprintf(path, sizeof(path), "%s/pipe", bench->directory);
	assert_int_equal(mkfifo(path, 0600), 0);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(open(path, O_WRONLY) < 0 && errno == EINTR ? 0 : 1);
		assert_true(sleeps(child));
		kill(child, signals[i]);
		for (int patience = PATIENCE; waitpid(child, &status, WNOHANG) == 0; patience--) {
			if (patience == 0)
				kill(child, SIGKILL);
			poll(NULL, 0, 1);
		}
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
	unlink(path);
}

static void wake_up(int number)
{
	(void)number;
}

/* As when a process that waits for a weir without room is stopped and continued. */
static void a_signal_while_a_client_waits_to_be_accepted_is_no_other_error(void **state)
{
	const struct itimerval often = {{.tv_usec = 20000}, {.tv_usec = 20000}}, never = {{0}, {0}};
	const struct sigaction action = {.sa_handler = wake_up};
	const struct bench *bench = *state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), only;
	struct sigaction before;
	struct problem problem;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/full", bench->directory);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 0), 0);
	only = socket_connect(address.sun_path, &problem);
	assert_true(only >= 0);
	sigaction(SIGALRM, &action, &before);
	setitimer(ITIMER_REAL, &often, NULL);
	assert_int_equal(socket_connect(address.sun_path, &problem), -EAGAIN);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	assert_non_null(strstr(problem.text, "weir does not accept connections"));
	close(only);
	close(listener);
	unlink(address.sun_path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_start, bench_stop)

GROUP(server)
{
	const struct CMUnitTest tests[] = {
	        TEST(commands_are_answered_to_the_client_that_gave_them),
	        TEST(a_client_that_only_writes_and_shuts_down_gets_its_answers),
	        TEST(clients_beyond_the_sixteenth_wait_until_one_leaves),
	        TEST(of_seventeen_clients_the_one_goes_that_was_silent_for_longest),
	        TEST(of_those_that_were_silent_equally_long_the_first_to_arrive_goes),
	        TEST(a_client_is_silent_from_its_answer_on),
	        TEST(a_client_that_waits_for_an_answer_keeps_its_place),
	        TEST(a_line_that_does_not_end_is_given_up_and_changes_nothing),
	        TEST(others_cannot_lock_root_out),
	        TEST(where_only_root_is_connected_another_user_is_told_so),
	        TEST(a_client_reads_no_file_of_roots),
	        TEST(files_in_force_are_bounded_in_all),
	        TEST(what_a_client_has_opened_himself_is_read_and_not_shown),
	        TEST(an_idle_client_is_told_and_closed_after_10_minutes),
	        TEST(a_client_that_does_not_read_is_held_at_4_MiB_and_closed_after_30_seconds),
	        TEST(a_client_that_reads_no_events_is_told_after_30_seconds_and_closed),
	        TEST(answers_that_do_not_fit_the_socket_arrive_whole_when_they_are_read),
	        TEST(a_live_socket_is_not_taken_and_the_error_says_whose_it_is),
	        TEST(the_read_only_socket_is_another_one),
	        TEST(a_stale_socket_is_replaced),
	        TEST(a_file_that_is_no_socket_is_left_alone),
	        TEST(a_path_that_is_too_long_or_not_there_is_refused),
	        TEST(the_socket_has_mode_0660_whatever_the_umask),
	        TEST(at_exit_only_the_own_socket_is_removed),
	        TEST(a_signal_ends_the_round_with_its_number),
	        TEST(a_fourth_signal_that_nobody_takes_ends_the_process),
	        TEST(a_signal_ends_the_wait_for_the_other_end_of_a_pipe),
	        TEST(a_signal_while_a_client_waits_to_be_accepted_is_no_other_error),
	};

	/* Under nohup, SIGHUP is ignored. */
	signal(SIGHUP, SIG_DFL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
