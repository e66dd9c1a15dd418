#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   A iperf3 client --- wa [ cloud down 100 ms ] wb --- iperf3 server B
#     weir_becn     <---'  [ cloud up 100 ms   ]
#     weir-host       quench.py: source quenches at wa, about segments that A has just sent
#
# Linux with weir_becn: a quench halves the congestion window of its connection. k quenches that are
# more than a round trip apart make k cuts; ten at once, or within one round trip, make one.
# Quenches that are foreign, stale, about unsent data, or have a wrong checksum have no effect, and
# connections with another congestion control are left alone. A quench whose connection ends before
# it acts is counted as such. When weir-host ends, by SIGTERM or by SIGKILL, nothing of it is left.

. "$(dirname "$0")/topology.sh"
. "$(dirname "$0")/linux_host.sh"
need iperf3 python3 ss
quench="python3 $(dirname "$0")/quench.py"
host_can becn
make_hosts
scenario <<SCENARIO
cloud down delay 100ms
cloud up delay 100ms
SCENARIO
weir_start --cores "${WEIR_CPU:-$(($(nproc) - 1))}" $resting
host_start becn -i eth0

connect() # congestion-control seconds
{
	$in_b iperf3 -s -1 >/dev/null 2>&1 &
	server=$!
	listening
	# Too few bytes for a queue anywhere: a round trip takes 200 ms.
	$in_a iperf3 -c 10.9.0.2 -C "$1" -t "$2" -w 128K >"$work/client" 2>&1 &
	client=$!
	background="$background $server $client"
	sleep 2.5
}

connection_ends()
{
	kill $client 2>/dev/null || true
	wait $client $server 2>/dev/null || true
	background=$host_pid
}

tcp() # cwnd or ssthresh, in segments, of the connection that sends
{
	$in_a ss -tin dst 10.9.0.2 | grep -o "\b$1:[0-9]*" | cut -d: -f2 | sort -n | tail -1
}

# Prints the window once it has stopped growing: then the socket's buffer limits the sender, not the
# window.
settled_window()
{
	for _ in $(seq 60); do
		window=$(tcp cwnd)
		sleep 1
		[ "$(tcp cwnd)" = "$window" ] && echo "$window" && return 0
	done
	skip "the machine is too busy: the window does not settle within a minute"
}

# Counts what happens while quench.py runs, in $work/before and $work/after.
since() # arguments of quench.py
{
	for _ in 1 2 3 4 5; do
		status=0
		host_totals >"$work/before"
		$quench wa A "$@" || status=$?
		# A cut takes effect at the next acknowledgement. A quench that acts twice would do
		# so at once.
		until_true all_have_come "$2" ||
			fail "of $2 quenches came: $(cat "$work/before" "$work/after")"
		sleep 0.25
		host_totals >"$work/after"
		case $1 in stale | future) break ;; esac
		# A delayed quench arrives after the acknowledgement of its segment.
		[ $status = 3 ] || [ "$(grown stale)" != 0 ] || break
		sleep 1
	done
	[ $status != 3 ] || skip "the machine is too busy: a round trip is over before $* have gone"
	[ $status = 0 ] || fail "quench.py $*"
}

all_have_come() # how many
{
	host_totals >"$work/after"
	[ $(($(grown marked) + $(grown dropped) + $(grown foreign) + $(grown malformed) +
		$(grown stale))) -ge "$1" ] &&
		[ $(($(grown cuts) + $(grown within))) -ge $(($(grown marked) + $(grown dropped))) ]
}

grown() # counter
{
	echo $(($(jq ".$1" "$work/after") - $(jq ".$1" "$work/before")))
}

# Checks that each named counter has grown by this number, and all others by nothing.
grew() # what, then counter=n ...
{
	said=$1
	shift
	for counter in malformed foreign stale marked dropped cuts within ended echoes losses; do
		expected=0
		for pair; do
			[ "${pair%=*}" = $counter ] && expected=${pair#*=}
		done
		within "$said: $counter" "$(grown $counter)" "$expected" "$expected" || exit 1
	done
}

connect weir_becn 600
before=$(settled_window)
since marked 1
grew "a quench" marked=1 cuts=1
within "segments, half of the window of $before" "$(tcp ssthresh)" \
	$((before / 2)) $((before / 2)) || exit 1
within "and there is a window to halve" "$before" 30 100000 || exit 1
sleep 1
since marked 10 within
grew "10 quenches within a round trip, with acknowledgements between" marked=10 cuts=1 within=9
since dropped 1
grew "a quench of a drop" dropped=1 cuts=1
since both 20
grew "20 quenches, a round trip apart" marked=10 dropped=10 cuts=20
since marked 10 together
grew "10 quenches at once" marked=10 cuts=1 within=9
since port 5
grew "another port" foreign=5
since address 5
grew "another address" foreign=5
since stale 3
grew "segments that are acknowledged" stale=3
since future 5
grew "segments that are not sent yet" stale=5
since checksum 5
grew "wrong checksums" malformed=5
connection_ends

connect reno 600
since marked 5
grew "a connection of reno" foreign=5
connection_ends

# A connection gets a quench, no acknowledgement after it, and is reset.
$in_b python3 -c 'import socket
receives, _ = socket.create_server(("10.9.0.2", 5201)).accept()
while receives.recv(1 << 16):
	pass' 2>/dev/null &
server=$!
listening
$in_a python3 -c 'import socket, struct, time
sends = socket.socket()
sends.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"weir_becn")
sends.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
sends.connect(("10.9.0.2", 5201))
while True:
	sends.send(bytes(1400))
	time.sleep(0.05)' &
client=$!
background="$background $server $client"
is_connected()
{
	[ -n "$($in_a ss -Htn state established dst 10.9.0.2)" ]
}
until_true is_connected || fail "the client does not connect"
ctl cloud up loss random 100%
acknowledgements_are_over()
{
	[ "$(ctl -j show cloud up | jq .held_packets)" = 0 ]
}
until_true acknowledgements_are_over || fail "acknowledgements stay on their way"
grown_by() # counter, number
{
	host_totals >"$work/after"
	[ "$(grown "$1")" = "$2" ]
}
host_totals >"$work/before"
$quench wa A marked 1
until_true grown_by marked 1 || fail "the quench did not come to the connection"
within "cuts without an acknowledgement" "$(grown cuts)" 0 0 || exit 1
connection_ends
until_true grown_by ended 1 || fail "the connection ended, and its quench is not counted"
within "quenches whose connection ended" "$(grown ended)" 1 1 || exit 1

host_stop weir_becn
echo "ok: nothing is left after SIGTERM"
host_start becn -i eth0
kill -KILL $host_pid
wait $host_pid || true
background=
host_leaves_nothing weir_becn
echo "ok: nothing is left after SIGKILL"
weir_stop
grep -q 'every packet is accounted for' "$work/weir.out" || fail "weir did not add up"
