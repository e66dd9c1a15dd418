#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# weir exec, as root and as an ordinary user: a command's packets cross weir, and all else is as
# without weir. Delay, TCP and UDP of both families, refused connections, names, path MTU,
# traceroute; three weir exec, nested.

. "$(dirname "$0")/topology.sh"
. "$(dirname "$0")/exec_world.sh"
need iperf3 traceroute getent

# ---- the servers: echo what they receive, by TCP and UDP
$in_b python3 -c '
import socket, threading
def tcp(family, address):
    server = socket.create_server((address, 7), family=family, backlog=64)
    while True:
        peer = server.accept()[0]
        threading.Thread(target=echo, args=(peer,), daemon=True).start()
def echo(peer):
    while data := peer.recv(1 << 16):
        peer.sendall(data)
    peer.close()
def udp(family, address):
    server = socket.socket(family, socket.SOCK_DGRAM)
    if family == socket.AF_INET6:
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    server.bind((address, 7))
    while True:
        server.sendto(*server.recvfrom(65536))
for family, address in (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::"):
    for work in tcp, udp:
        threading.Thread(target=work, args=(family, address), daemon=True).start()
threading.Event().wait()' &
background=$!
$in_b iperf3 -s -D -I "$work/iperf.pid"
until_true sh -c "$in_b ss -Hltn 'sport = :7' | grep -q . &&
	$in_b ss -Hltn 'sport = :5201' | grep -q ." ||
	fail "the servers did not start"

# ---- a name server at this machine's loopback address, as systemd-resolved is
python3 -c '
import socket, struct
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.53", 53))
while True:
    asked, who = server.recvfrom(2000)
    at = 12
    while asked[at]:
        at += asked[at] + 1
    kind = asked[at + 2]
    found = {1: socket.inet_aton("192.0.2.1"),
             28: socket.inet_pton(socket.AF_INET6, "2001:db8:1::1")}.get(kind)
    answer = (asked[:2] + b"\x81\x80\0\1\0" + (b"\1" if found else b"\0") + bytes(4) +
              asked[12:at + 5])
    if found:
        answer += b"\xc0\x0c\0" + bytes([kind]) + b"\0\1\0\0\0\1\0" + bytes([len(found)]) + found
    server.sendto(answer, who)' &
background="$background $!"
printf 'nameserver 127.0.0.53\n' >"$work/resolv.conf"
chmod 644 "$work/resolv.conf"
# In a mount namespace that ends with the command.
with_resolver()
{
	unshare -m sh -c 'mount --bind "$0" /etc/resolv.conf && exec "$@"' "$work/resolv.conf" "$@"
}

# ---- time: the delay of both directions, once each. Early is never right, so the least of ten has
# 80 ms at least; and it tells them from 40 ms too many, for a busy machine makes one of ten late,
# or nine. `tests/speed/exec` measures. ping waits for the last reply only twice as long as the
# others took, so that it may miss this one.
ping_takes_80_ms()
{
	for to in 192.0.2.1 2001:db8:1::1 198.18.0.1; do
		$as "$weir" exec -q delay 40ms -- ping -c 11 -i 0.1 -W 20 $to >"$work/ping" ||
			fail "$who: $to: $(cat "$work/ping")"
		grep -q ' 1[01] received' "$work/ping" || fail "$who: $to: $(cat "$work/ping")"
		least=$(sed -n 's/.*time=\([0-9.]*\) ms/\1/p' "$work/ping" | sort -n | head -n 1)
		within "$who: $to: least round trip in ms" "$least" 80 119 ||
			fail "$(cat "$work/ping")"
	done
}

# A worker that polls would take two seconds more for two seconds more of nothing. What is started
# and ended takes its own time, 0.03 s more or less on a busy machine.
processor_time() # seconds that the command sleeps
{
	python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)' $as "$weir" exec -q delay 1ms -- sleep "$1"
}

it_leaves_the_processor_to_others()
{
	more=$(echo "$(processor_time 2) $(processor_time 0)" | awk '{ print $1 - $2 }')
	within "$who: seconds of processor time for 2 s of nothing" "$more" -1 1 || fail "it polls"
}

# ---- the command is the command
it_behaves_as_the_command()
{
	status=0
	$as "$weir" exec -q delay 1ms -- sh -c 'exit 7' || status=$?
	[ $status = 7 ] || fail "$who: status $status instead of 7"
	status=0
	$as "$weir" exec -q delay 1ms -- sh -c 'kill -TERM $$' || status=$?
	[ $status = 143 ] || fail "$who: status $status instead of 143, of SIGTERM"
	# A parent that ignores SIGCHLD, as some supervisors do.
	status=0
	timeout -s KILL $PATIENCE_S env --ignore-signal=CHLD $as "$weir" exec -q delay 1ms -- \
		sh -c 'exit 7' || status=$?
	[ $status = 7 ] || fail "$who: SIGCHLD is ignored: status $status instead of 7"
	status=0
	$as "$weir" exec -q delay 1ms -- /nonexistent 2>"$work/said" || status=$?
	[ $status = 127 ] ||
		fail "$who: status $status instead of 127, of a command that is not there"
	grep -q '/nonexistent: No such file' "$work/said" || fail "$who: $(cat "$work/said")"
	head -c 3000000 /dev/urandom >"$work/data"
	chmod 644 "$work/data"
	$as "$weir" exec -q delay 1ms -- sh -c 'cat; echo aside >&2' \
		<"$work/data" >"$work/out" 2>"$work/err"
	cmp -s "$work/data" "$work/out" ||
		fail "$who: standard input and output are not the command's"
	[ "$(cat "$work/err")" = aside ] || fail "$who: standard error: $(cat "$work/err")"
	[ "$($as "$weir" exec -q delay 1ms -- id -u)" = "$($as id -u)" ] ||
		fail "$who: another user"
	$as "$weir" exec --seed 3 delay 1ms loss random 0.5% -- ping -c 1 192.0.2.1 \
		2>"$work/err" >/dev/null
	grep -q 'delay  *1 ms  *1 ms, every packet' "$work/err" ||
		fail "$who: the table: $(cat "$work/err")"
}

# ---- every decision is told, and none that was not taken
it_is_recorded()
{
	rm -rf "$work/record"
	mkdir -m 777 "$work/record"
	$as "$weir" exec -q --seed 3 delay 5ms jitter 1ms loss random 20% \
		--report "$work/record/report" --log "$work/record/log" \
		--picture "$work/record/picture" -- ping -q -c 50 -i 0.01 192.0.2.1 \
		>"$work/out" || fail "$who: $(cat "$work/out")"
	for cloud in down up; do
		decided=$(jq ".clouds[] | select(.cloud == \"$cloud\") | .rx_packets" \
			"$work/record/report")
		lost=$(jq ".clouds[] | select(.cloud == \"$cloud\") | .drops.loss" \
			"$work/record/report")
		[ "$(grep -c ",$cloud," "$work/record/log")" = "$decided" ] ||
			fail "$who: $cloud: not $decided lines"
		[ "$(grep -c ",$cloud,dropped,loss," "$work/record/log")" = "$lost" ] ||
			fail "$who: $cloud: not $lost losses"
	done
	[ "$decided" -ge 50 ] || fail "$who: only $decided packets"
	grep -q '<pre>weir exec .*--picture' "$work/record/picture" ||
		fail "$who: the picture has another command"
	grep -q 'UTC. Seed 3' "$work/record/picture" || fail "$who: the picture is another's"
	grep -q 'Throughput' "$work/record/picture" || fail "$who: the picture has no throughput"
}

# ---- all that a network is for
cat >"$work/client.py" <<'CLIENT'
import errno, hashlib, os, socket, sys
def tcp(family, address):
    data = os.urandom(8_000_000)
    peer = socket.create_connection((address, 7), timeout=120)
    import threading
    threading.Thread(target=lambda: (peer.sendall(data), peer.shutdown(socket.SHUT_WR))).start()
    got = b""
    while part := peer.recv(1 << 16):
        got += part
    assert got == data, f"TCP {address}: {len(got)} of {len(data)} bytes"
def udp(family, address):
    peer = socket.socket(family, socket.SOCK_DGRAM)
    peer.settimeout(60)
    peer.connect((address, 7))
    for n in 1, 1000, 4000, 30000:
        data = os.urandom(n)
        peer.send(data)
        assert peer.recv(65536) == data, f"UDP {address}: {n} bytes"
def refused(family, address):
    for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
        peer = socket.socket(family, kind)
        peer.settimeout(60)
        try:
            peer.connect((address, 81))
            peer.send(b"x")
            peer.recv(1)
        except ConnectionRefusedError:
            continue
        sys.exit(f"port 81 of {address}, kind {kind}: not refused")
for family, address in (socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8:1::1"):
    tcp(family, address)
    udp(family, address)
    refused(family, address)
print("everything works")
CLIENT

all_of_the_network_works()
{
	$as "$weir" exec -q delay 2ms -- python3 "$work/client.py" >"$work/out" 2>&1 || true
	grep -q 'everything works' "$work/out" || fail "$who: $(cat "$work/out")"
}

path_mtu_and_names() # what leads into the path
{
	with_resolver "$@" getent ahosts www.example.org >"$work/out" || true
	grep -q 192.0.2.1 "$work/out" || fail "$who: no name: $(cat "$work/out")"
	"$@" ping -c 1 -M do -s 1400 203.0.113.1 >"$work/out" 2>&1 || true
	grep -q 'Frag needed and DF set (mtu = 1300)' "$work/out" || fail "$who: $(cat "$work/out")"
	"$@" ping -c 1 -M do -s 1400 2001:db8:2::1 >"$work/out" 2>&1 || true
	grep -q 'Packet too big: mtu=1300' "$work/out" || fail "$who: $(cat "$work/out")"
	"$@" iperf3 -n 1M -c 203.0.113.1 >"$work/out" || fail "$who: TCP over the narrow link"
}

names_and_path_mtu_are_found()
{
	path_mtu_and_names $as "$weir" exec -q delay 2ms --
}

three_work_one_inside_the_other()
{
	nest="$weir exec -q delay 2ms --"
	path_mtu_and_names $as $nest $nest $nest
	$as $nest $nest $nest python3 "$work/client.py" >"$work/out" 2>&1 || true
	grep -q 'everything works' "$work/out" || fail "$who: three: $(cat "$work/out")"
	for to in 203.0.113.1 2001:db8:2::1; do
		$as $nest $nest $nest traceroute -n -q 1 -w 20 -m 6 $to >"$work/out" 2>&1 || true
		[ "$(grep -c '^ [1-4]  [0-9]' "$work/out")" = 4 ] ||
			fail "$who: traceroute: $(cat "$work/out")"
	done
}

# ---- the path takes addresses that this machine does not have, also where its own are at both ends
# of the range
addresses_of_this_machine_are_left_alone()
{
	# shellcheck disable=SC2016 # the inner shell expands it
	unshare --net sh -c 'ip link set lo up
		for own in 198.19.255.1 198.18.0.1 198.18.1.1; do
			ip addr add $own/24 dev lo || exit
		done
		exec "$@"' sh $as "$weir" exec -q delay 1ms -- ip -4 -o addr show up >"$work/out" ||
		fail "$who: $(cat "$work/out")"
	grep -q ' 198\.18\.2\.2/24 ' "$work/out" || fail "$who: not 198.18.2.2: $(cat "$work/out")"
	# An address has its whole prefix, and a route has no address.
	unshare --net sh -c 'ip link set lo up && ip addr add 198.18.0.1/16 dev lo &&
		ip route add 198.19.0.0/17 dev lo && exec "$@"' sh \
		$as "$weir" exec -q delay 1ms -- ip -4 -o addr show up >"$work/out" ||
		fail "$who: $(cat "$work/out")"
	grep -q ' 198\.19\.128\.2/24 ' "$work/out" ||
		fail "$who: not 198.19.128.2: $(cat "$work/out")"
}

# ---- both directions have a real TCP sender: it fills most of a narrow link whose queue drops. It
# reaches 94 %, a sender without congestion control 23 %: the bound is twice that, and half of what
# a machine leaves that is not busy. While a machine stands still nothing is sent: one of three has
# to reach it.
reaches_half() # -R or nothing
{
	for attempt in 1 2 3; do
		$as "$weir" exec -q rate 10mbit queue 60kB delay 20ms -- \
			iperf3 -J -c 192.0.2.1 -t 4 $1 >"$work/iperf.json" || fail "$who: iperf3"
		reached=$(jq '.end.sum_received.bits_per_second / 1e6' "$work/iperf.json")
		! within "$who: of 10 Mbit/s ${1:-up}" "$reached" 4.6 10 || return 0
	done
	return 1
}

tcp_fills_a_narrow_link()
{
	reaches_half "" && reaches_half -R || fail "a narrow link is not filled"
}

each_user ping_takes_80_ms
each_user it_leaves_the_processor_to_others
each_user it_behaves_as_the_command
each_user it_is_recorded
each_user all_of_the_network_works
each_user names_and_path_mtu_are_found
each_user three_work_one_inside_the_other
each_user addresses_of_this_machine_are_left_alone
each_user tcp_fills_a_narrow_link
kill "$(cat "$work/iperf.pid")"
