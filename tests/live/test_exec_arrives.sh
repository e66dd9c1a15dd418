#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# weir exec loses nothing that the path does not lose: neither when the command ends, nor when one
# side resets a connection, nor when a router answers with an ICMP error.

. "$(dirname "$0")/topology.sh"
. "$(dirname "$0")/exec_world.sh"
need bash

mkdir "$work/here"
chmod 777 "$work/here"

# Servers, by their names: each prints what it has received.
cat >"$work/server.py" <<'SERVER'
import fcntl, socket, struct, sys, termios, time
def unacknowledged(peer):
    return struct.unpack("i", fcntl.ioctl(peer, termios.TIOCOUTQ, bytes(4)))[0]
def all_of(peer):
    got = 0
    try:
        while data := peer.recv(65536):
            got += len(data)
    except ConnectionResetError:
        return f"{got} bytes and a reset"
    return f"{got} bytes and the end"
def server(kind, port):
    made = socket.socket(socket.AF_INET, kind)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    made.bind(("", port))
    if kind == socket.SOCK_STREAM:
        made.listen()
    made.settimeout(600)
    return made
def bytes_of():
    print(all_of(server(socket.SOCK_STREAM, 6001).accept()[0]), flush=True)
def datagrams():
    made = server(socket.SOCK_DGRAM, 6001)
    print(*(made.recv(100).decode().strip() for number in range(5)))
# Input that is not read makes the end a reset.
def answers_and_resets():
    peer = server(socket.SOCK_STREAM, 6001).accept()[0]
    peer.recv(10)
    peer.sendall(bytes(200_000))
    while unacknowledged(peer):
        time.sleep(0.001)
    peer.close()
# The second connection says that the reset of the first has crossed the path.
def reads_late():
    made = server(socket.SOCK_STREAM, 6001)
    peer = made.accept()[0]
    peer.sendall(bytes(10))
    other = made.accept()[0]
    print(all_of(peer))
def counts():
    made = server(socket.SOCK_DGRAM, 6001)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    got = 0
    while (what := made.recvfrom(100))[0] != b"end":
        got += 1
    made.sendto(str(got).encode(), what[1])
globals()[sys.argv[1]]()
SERVER

serve() # in which namespace ("": this one), name of the server
{
	$1 python3 "$work/server.py" "$2" >"$work/served" 2>&1 &
	job=$!
	until_true sh -c "$1 ss -Hlntu 'sport = :6001' | grep -q ." ||
		fail "$who: no server: $(cat "$work/served")"
}

served() # what the server is to have printed
{
	wait $job || fail "$who: the server: $(cat "$work/served")"
	[ "$(cat "$work/served")" = "$1" ] || fail "$who: $(cat "$work/served") instead of $1"
}

# ---- the end of the command

what_it_has_sent_arrives_after_its_end()
{
	serve "" bytes_of
	$as "$weir" exec --up 'rate 1mbit queue 60kB' -- python3 -c '
import socket
peer = socket.create_connection(("198.18.0.1", 6001))
peer.sendall(bytes(200_000))
peer.close()' >"$work/out" 2>&1 || fail "$who: $(cat "$work/out")"
	served "200000 bytes and the end"
	! grep 'on its way' "$work/out" || fail "$who: it has given up"
	serve "" datagrams
	$as "$weir" exec -q --up 'delay 200ms' -- \
		bash -c 'for i in 1 2 3 4 5; do echo $i >/dev/udp/198.18.0.1/6001; done' ||
		fail "$who: status $?"
	served "1 2 3 4 5"
}

# Nothing moves for longer than the drain waits, but the packets on the line are due.
what_is_due_later_is_waited_for()
{
	serve "" datagrams
	$as "$weir" exec --up 'delay 3s' -- \
		bash -c 'for i in 1 2 3 4 5; do echo $i >/dev/udp/198.18.0.1/6001; done' \
		>"$work/out" 2>&1 || fail "$who: status $?: $(cat "$work/out")"
	! grep 'on its way' "$work/out" || fail "$who: it has given up"
	served "1 2 3 4 5"
}

# B takes no time, and its data four seconds: A must not get its signal a second after B's end. Once
# it has everything, A has until SIGKILL to say so.
the_other_command_gets_all()
{
	[ -e /etc/hosts ] || return 0
	$as "$weir" exec -q --up 'rate 200kbit queue 60kB' --between \
		"A: trap '' TERM; python3 $work/server.py bytes_of" \
		'B: python3 -c "
import socket
socket.create_connection((chr(65), 6001)).sendall(bytes(100_000))"' >"$work/out" 2>&1 ||
		fail "$who: $(cat "$work/out")"
	grep -q '100000 bytes and the end' "$work/out" || fail "$who: A: $(cat "$work/out")"
}

a_path_that_holds_for_ever_does_not_hold_the_command()
{
	send='trap "" TERM; for i in 1 2 3; do echo $i >/dev/udp/198.18.0.1/6001; done
		echo >'$work/here/sent'; exit 7'
	rm -f "$work/here/sent"
	status=0
	$as "$weir" exec --up 'rate 1bit' -- bash -c "$send" >"$work/out" 2>&1 || status=$?
	[ $status = 7 ] || fail "$who: status $status instead of 7"
	grep -q '^weir exec: ended with this still on its way: 3 packets$' "$work/out" ||
		fail "$who: $(cat "$work/out")"
	rm -f "$work/here/sent"
	$as "$weir" exec -q --up 'rate 1bit' -- bash -c "$send" >"$work/out" 2>&1 || true
	[ ! -s "$work/out" ] || fail "$who: -q: $(cat "$work/out")"
	# A signal ends it, however long the path would take.
	rm -f "$work/here/sent"
	status=0
	$as "$weir" exec --up 'rate 1mbit delay 100s' -- bash -c "$send" >"$work/out" 2>&1 &
	job=$!
	until_true [ -e "$work/here/sent" ] || fail "$who: it has not started"
	until_true ended_by_signal $job || fail "$who: it waits for the path"
	wait $job || status=$?
	[ $status = 7 ] || fail "$who: status $status instead of 7: $(cat "$work/out")"
	grep -q 'on its way: 3 packets$' "$work/out" || fail "$who: $(cat "$work/out")"
}

ended_by_signal() # sends another one, in case that the command has had the last one
{
	kill -TERM "$1" 2>/dev/null || return 0
	! kill -0 "$1" 2>/dev/null
}

# ---- resets

what_comes_before_a_reset_arrives()
{
	serve "" answers_and_resets
	$as "$weir" exec -q --down 'rate 1mbit queue 60kB' -- python3 -c "
$(sed '/^globals/d' "$work/server.py")
peer = socket.create_connection(('198.18.0.1', 6001), timeout=60)
peer.sendall(bytes(2000))
print(all_of(peer))" >"$work/out" || fail "$who: $(cat "$work/out")"
	served ""
	[ "$(cat "$work/out")" = "200000 bytes and a reset" ] ||
		fail "$who: down: $(cat "$work/out")"
	serve "" reads_late
	$as "$weir" exec -q delay 5ms -- python3 -c "
$(sed '/^globals/d' "$work/server.py")
peer = socket.create_connection(('198.18.0.1', 6001), timeout=60)
peer.sendall(bytes(200_000))
while unacknowledged(peer) or not peer.recv(1, socket.MSG_PEEK):
    time.sleep(0.001)
peer.close()
all_of(socket.create_connection(('198.18.0.1', 6001), timeout=60))" || fail "$who: status $?"
	served "200000 bytes and a reset"
}

# ---- ICMP errors

# Every other datagram expires at B, behind which C is.
an_icmp_error_costs_no_other_datagram()
{
	serve "$in_c" counts
	$as "$weir" exec -q delay 20ms -- python3 -c '
import socket
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
peer.connect(("198.51.100.2", 6001))
for number in range(40):
    for hops in 2, 64:
        peer.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, hops)
        peer.send(b"datagram")
peer.settimeout(2)
for tried in range(30):
    peer.send(b"end")
    try:
        print(peer.recv(10).decode())
        break
    except TimeoutError:
        pass' >"$work/out" || fail "$who: status $?"
	served ""
	[ "$(cat "$work/out")" = 40 ] || fail "$who: $(cat "$work/out") of 40 have arrived"
}

in_c="ip netns exec C"
ip netns add C
ip -n B link add c type veth peer name eth0 netns C
ip -n B addr add 198.51.100.1/24 dev c
ip -n B link set c up
ip -n C addr add 198.51.100.2/24 dev eth0
ip -n C link set eth0 up
ip -n C route add default via 198.51.100.1
$in_b sysctl -qw net.ipv4.ip_forward=1 net.ipv4.icmp_ratelimit=0

each_user what_it_has_sent_arrives_after_its_end
each_user what_is_due_later_is_waited_for
each_user the_other_command_gets_all
each_user a_path_that_holds_for_ever_does_not_hold_the_command
each_user what_comes_before_a_reset_arrives
each_user an_icmp_error_costs_no_other_datagram
