#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# weir exec: however it ends, nothing is left: no process, interface, address, rule or setting. And
# keys typed on the terminal affect the command as they would without weir.

. "$(dirname "$0")/topology.sh"
. "$(dirname "$0")/exec_world.sh"
need pgrep bash
# All tests share this folder, and have things there for a moment. This one looks at its own.
mount -t tmpfs -o mode=1777 none /dev/shm

# Control sockets of its own.
export XDG_RUNTIME_DIR="$work/runtime"
mkdir "$XDG_RUNTIME_DIR"
chmod 1777 "$XDG_RUNTIME_DIR"

# Prints what this machine's users can see of weir exec. The sleepers are descendants of the
# command.
state()
{
	ip -o addr | sed 's/valid_lft.*//'
	ip route show table all
	ip -6 route show table all
	ip rule
	sysctl net.ipv4.ip_forward net.ipv6.conf.all.forwarding net.ipv4.ping_group_range
	mount | grep -c .
	ls /run/dpdk /dev/shm /run/netns
	ls "$XDG_RUNTIME_DIR" | grep -v '^dpdk$' || true
	pgrep -fl '^sleep 98[0-9]$|exec -q delay 5ms' || true
}

is_as_before()
{
	state >"$work/after"
	cmp -s "$work/before" "$work/after"
}

killed() # what is killed, expected status
{
	state >"$work/before"
	$as "$weir" exec -q delay 5ms -- \
		sh -c 'sleep 987 & setsid sleep 988 & (setsid sh -c "sleep 986 & exec sleep 985" &)
			exec sleep 989' &
	job=$!
	until_true pgrep -f '^sleep 989$' >/dev/null || fail "$who: the command did not start"
	until_true sh -c "[ \$(pgrep -fc '^sleep 98[0-9]\$') = 5 ]" ||
		fail "$who: not all have started"
	command=$(pgrep -f '^sleep 989$')
	case $1 in
	weir) kill -9 "$job" ;;
	command) kill -9 "$command" ;;
	both) kill -9 "$job" "$command" ;;
	helper) kill -9 "$(ps -o ppid= "$command")" ;;
	terminated) kill -TERM "$job" ;;
	esac
	status=0
	wait "$job" || status=$?
	[ $status = "$2" ] || fail "$who: $1: status $status instead of $2"
	until_true is_as_before ||
		fail "$who: $1: left behind: $(diff "$work/before" "$work/after")"
	echo "$who: kill of $1: nothing is left"
}

nothing_is_left()
{
	killed weir 137
	killed command 137
	killed both 137
	killed helper 137
	killed terminated 143
	state >"$work/before"
	$as "$weir" exec -q delay 5ms -- sh -c 'setsid sleep 988 & true' || fail "$who: status"
	until_true is_as_before || fail "$who: after its end: $(diff "$work/before" "$work/after")"
	nest="$weir exec -q delay 5ms --"
	$as $nest $nest $nest sleep 989 &
	job=$!
	until_true pgrep -f '^sleep 989$' >/dev/null || fail "$who: three did not start"
	kill -9 $job
	wait $job || true
	until_true is_as_before || fail "$who: of three: $(diff "$work/before" "$work/after")"
}

# More children than fit into one page of /proc/self/task/PID/children. They have numbers of five
# digits, and the victims those of three or four that a cut number would become. The test's own PID
# namespace keeps all others out of reach.
only_its_own_are_killed()
{
	echo 99 >/proc/sys/kernel/ns_last_pid
	victims=
	for number in $(seq 100); do
		sleep 1000 &
		victims="$victims $!"
	done
	echo 999 >/proc/sys/kernel/ns_last_pid
	for number in $(seq 200); do
		sleep 1000 &
		victims="$victims $!"
	done
	echo 10000 >/proc/sys/kernel/ns_last_pid
	"$weir" exec -q delay 5ms -- python3 -c '
import os, signal
for child in range(1000):
    if os.fork() == 0:
        signal.pause()' || fail "many children: status $?"
	for victim in $victims; do
		kill "$victim" 2>/dev/null ||
			fail "weir exec has killed $victim, which was not its own"
		wait "$victim" 2>/dev/null || true
	done
	echo 20000 >/proc/sys/kernel/ns_last_pid
}

# ---- two commands
two_commands_know_each_other()
{
	$as "$weir" exec -q delay 20ms --between \
		'A: python3 -c "
import socket
server = socket.create_server((str(), 7000), family=socket.AF_INET6, dualstack_ipv6=True)
print(server.accept()[0].recv(100).decode(), flush=True)"' \
		'B: python3 -c "
import socket, time
while True: # until A listens
    start = time.monotonic()
    try:
        peer = socket.create_connection((str(chr(65)), 7000))
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
peer.send(b\"hello A\")
print(\"early\" if time.monotonic() - start < 0.04 else \"in time\")"
		ping -4 -c 1 A >/dev/null && ping -6 -c 1 A >/dev/null; exit 3' \
		>"$work/out" 2>&1 || status=$?
	[ "$status" = 3 ] ||
		fail "$who: between: status $status instead of B's 3: $(cat "$work/out")"
	grep -q 'hello A' "$work/out" && grep -q 'in time' "$work/out" ||
		fail "$who: between: $(cat "$work/out")"
	# A does not end by itself: it must end with B.
	$as "$weir" exec -q --between 'A: exec sleep 989' 'B: true' ||
		fail "$who: between: status $?"
	! pgrep -f '^sleep 989$' || fail "$who: A has outlived B"
}

# The last line of this machine's /etc/hosts has no end.
names_have_lines_of_their_own()
{
	printf '127.0.0.1 localhost' >"$work/hosts"
	chmod 644 "$work/hosts"
	unshare -m sh -c 'mount --bind "$0" /etc/hosts && exec "$@"' "$work/hosts" \
		$as "$weir" exec -q delay 1ms --between 'A: exec sleep 989' \
		'B: cat /etc/hosts; ping -4 -c 1 A' \
		>"$work/out" 2>&1 || fail "$who: hosts: status $?: $(cat "$work/out")"
	grep -q '^127.0.0.1 localhost$' "$work/out" &&
		grep -q ' bytes from A (198\.18\.' "$work/out" ||
		fail "$who: hosts: $(cat "$work/out")"
}

# ---- the terminal
the_terminal_is_the_commands()
{
	python3 "$(dirname "$0")/exec_terminal.py" "$weir" $as || fail "$who: the terminal"
}

each_user nothing_is_left
only_its_own_are_killed
if [ -e /etc/hosts ]; then
	each_user two_commands_know_each_other
	each_user names_have_lines_of_their_own
else
	echo "there is no /etc/hosts, where the names of two commands go: not tried"
fi
each_user the_terminal_is_the_commands
