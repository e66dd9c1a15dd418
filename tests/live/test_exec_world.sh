#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# weir exec's gateway to the world, as root and as an ordinary user: what of a packet passes it (the
# table in docs/exec.md), resolvers, and what the command sees when this machine lacks something.

. "$(dirname "$0")/topology.sh"
. "$(dirname "$0")/exec_world.sh"
need getent

cp "$(dirname "$0")/exec_fields.py" "$work/"
chmod 644 "$work/exec_fields.py"
fields="python3 $work/exec_fields.py"
sysctl -qw net.ipv4.tcp_ecn=1
$in_b sysctl -qw net.ipv4.tcp_ecn=1
# Trains reach the sockets in one piece.
ethtool -K out gro on >/dev/null 2>&1 || true
$in_b ethtool -K in gro on >/dev/null 2>&1 || true
$in_b $fields server &
background=$!
$in_b $fields watch in >"$work/outside" &
background="$background $!"
until_true sh -c "$in_b ss -Hltn 'sport = :8' | grep -q . &&
	$in_b ss -Hlun 'sport = :7' | grep -c . | grep -q 2 &&
	grep -q watching '$work/outside'" || fail "the servers did not start"

# ---- UDP and echo: DSCP, ECN, hop limit and flow label of each datagram, both ways
datagrams_pass_as_through_a_router()
{
	for to in 192.0.2.1 2001:db8:1::1; do
		$as "$weir" exec -q delay 1ms -- $fields client $to >"$work/out" 2>&1 ||
			fail "$who: $(cat "$work/out")"
	done
}

# A checksum that the path has made wrong is not made right. What comes after the end is the next.
damaged_datagrams_end_at_the_gateway()
{
	for to in 192.0.2.1 2001:db8:1::1; do
		$in_b python3 -c "
import socket
made = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
made.bind(('', 6001))
print(made.recv(10).decode())" >"$work/served" 2>&1 &
		job=$!
		until_true sh -c "$in_b ss -Hlun 'sport = :6001' | grep -q ." || fail "no server"
		$as "$weir" exec -q --up 'corrupt checksum udp 100%' -- python3 -c "
$sender
send('$to', b'damaged')" || fail "$who: status $?"
		python3 -c "
$sender
send('$to', b'whole')"
		wait $job
		[ "$(cat "$work/served")" = whole ] || fail "$who: $to: $(cat "$work/served")"
	done
}

sender="import socket
def send(to, data):
    family = socket.AF_INET6 if ':' in to else socket.AF_INET
    socket.socket(family, socket.SOCK_DGRAM).sendto(data, (to, 6001))"

# ---- TCP: two legs, each with its own headers, and the DSCP to the world; urgent data
connections_have_two_legs()
{
	for to in 192.0.2.1 2001:db8:1::1; do
		case $to in *:*) mss=1440 ;; *) mss=1460 ;; esac
		: >"$work/outside"
		rm -f "$work/here/tcp.pcapng"
		$as "$weir" exec -q delay 1ms --pcap "$work/here/tcp.pcapng" -- $fields tcp $to \
			>"$work/out" 2>&1 || fail "$who: $(cat "$work/out")"
		$fields inside "$work/here/tcp.pcapng" >"$work/inside"
		# The last data to arrive are those with the last DSCP.
		until_true said '^to 0x22 64 PA - data' "$work/outside" ||
			fail "$who: $to: outside: $(cat "$work/outside")"
		# ECN is asked for and granted on both legs; MSS is that of each.
		for leg in "inside 600" "outside $mss"; do
			said "^to 0x00 64 SEC ${leg#* } -" "$work/${leg% *}" &&
				said "^from 0x00 64 SAE $mss -" "$work/${leg% *}" ||
				fail "$who: $to: $leg: $(cat "$work/${leg% *}")"
			dscps=$(sed -n 's/^to \(0x..\) .* data$/\1/p' "$work/${leg% *}" | uniq |
				tr '\n' ' ')
			[ "$dscps" = "0x02 0x4a 0xba 0x02 0x22 " ] ||
				fail "$who: $to: $leg: DSCP and ECN: $dscps"
		done
		# The server's DSCP cannot be known.
		said '^from 0x6a .* data$' "$work/outside" &&
			said '^from 0x02 .* data$' "$work/inside" 5 ||
			fail "$who: $to: back: $(cat "$work/inside")"
	done
}

# ---- resolvers: whatever the first one is, the next one is asked
resolves() # lines of resolv.conf
{
	printf "$1" >"$work/resolv.conf"
	unshare -m sh -c 'mount --bind "$0" /etc/resolv.conf && exec "$@"' "$work/resolv.conf" \
		$as "$weir" exec -q delay 1ms -- \
		getent ahostsv4 www.example.org >"$work/out" 2>&1 || true
	grep -q 192.0.2.77 "$work/out" || fail "$who: '$1': $(cat "$work/out")"
}

cat >"$work/names.py" <<'NAMES'
import socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
while True:
    asked, who = server.recvfrom(2000)
    at = 12
    while len(asked) > at and asked[at]:
        at += asked[at] + 1
    if len(asked) > 12:
        server.sendto(asked[:2] + b"\x81\x80\0\1\0\1" + bytes(4) + asked[12:at + 5] +
                      b"\xc0\x0c\0\1\0\1\0\0\1\0\0\4\xc0\0\2\x4d", who)
NAMES

every_resolver_is_asked()
{
	resolves 'nameserver 127.0.0.1\n'
	resolves 'nameserver ::1\nnameserver 127.0.0.1\n'
	resolves 'nameserver 127.0.0.9\nnameserver ::1\nnameserver 127.0.0.1\n'
	resolves 'nameserver 192.0.2.1\nnameserver 127.0.0.1\n'
	# Without one, the C library asks 127.0.0.1.
	resolves ''
	resolves 'options edns0\n'
}

# ---- what this machine lacks is no error of the network, and weir names it

# Opens connections and keeps them until it is certain that not all can be open at once; then ends
# them one by one, and all are answered.
cat >"$work/crowd.py" <<'CROWD'
import select, socket, sys, time
n, poll = int(sys.argv[1]), select.poll()
waiting, done = {}, []
for i in range(n):
    made = socket.socket()
    made.setblocking(False)
    made.connect_ex(("192.0.2.1", 7))
    waiting[made.fileno()] = made
    poll.register(made, select.POLLOUT)
deadline = time.monotonic() + 100
while waiting and time.monotonic() < deadline:
    for fd, event in poll.poll(700):
        made = waiting.pop(fd)
        poll.unregister(fd)
        error = made.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if error:
            sys.exit(f"errno {error}")
        done.append(made)
    for made in done[:3]:
        made.setblocking(True)
        made.sendall(b"hi")
        assert made.recv(2) == b"hi"
        made.close()
    del done[:3]
print("left:", len(waiting))
CROWD

a_crowd_waits() # connections, the remedy, command before weir...
{
	crowd=$1 remedy=$2
	shift 2
	rm -f "$work/here/report"
	"$@" $as "$weir" exec delay 1ms --report "$work/here/report" -- \
		python3 "$work/crowd.py" "$crowd" >"$work/out" 2>&1 ||
		fail "$who: $remedy: $(cat "$work/out")"
	said '^left: 0' "$work/out" || fail "$who: not all are answered: $(cat "$work/out")"
	said "^weir exec: [0-9]* packets* of the command .* lost so far: .*$remedy" "$work/out" ||
		fail "$who: it does not name $remedy: $(cat "$work/out")"
	said ' lost by weir itself' "$work/out" || fail "$who: no loss: $(cat "$work/out")"
	[ "$(jq '.ports[] | select(.port == "world") | .lost' "$work/here/report")" -gt 0 ] ||
		fail "$who: no loss in the report: $(cat "$work/here/report")"
}

what_is_lacking_is_named()
{
	a_crowd_waits 12 'ulimit -n' sh -c 'ulimit -n 72; exec "$@"' sh
	old=$(sysctl -n net.ipv4.ip_local_port_range)
	# A port is free again a second after its connection.
	sysctl -qw net.ipv4.tcp_tw_reuse=1 net.ipv4.ip_local_port_range="40000 40003"
	a_crowd_waits 6 ip_local_port_range env
	sysctl -qw net.ipv4.ip_local_port_range="$old"
	# Too few for any connection.
	status=0
	sh -c 'ulimit -n 40; exec "$@"' sh $as "$weir" exec -q delay 1ms -- true \
		>"$work/out" 2>&1 || status=$?
	[ $status = 125 ] && said 'ulimit -n' "$work/out" || fail "$who: $(cat "$work/out")"
}

mkdir "$work/here"
chmod 777 "$work/here"
python3 "$work/names.py" &
background="$background $!"
until_true sh -c "ss -Hlun 'src 127.0.0.1 and sport = :53' | grep -q ." || fail "no name server"

each_user datagrams_pass_as_through_a_router
each_user damaged_datagrams_end_at_the_gateway
each_user connections_have_two_legs
each_user every_resolver_is_asked
each_user what_is_lacking_is_named
