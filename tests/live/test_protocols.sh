#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   A -- veth wa [ clouds ] tap tb -- a process        A -- tap ta [ clouds ] tap tb -- B
#
# What is not plain IP in Ethernet passes unchanged: tags, PPPoE, MPLS, PTP, 802.1X, groups that
# switches keep, runts. TCP passes in super-frames that have tags, and over interfaces that carry IP
# packets without Ethernet. Interfaces that carry anything else are refused.

. "$(dirname "$0")/topology.sh"
need python3 ping
[ -c /dev/net/tun ] || skip "there is no /dev/net/tun"
here=$(dirname "$0")
cpu=${WEIR_CPU:-$(($(nproc) - 1))}
ip link set lo up
ip netns add A
ip netns add B
# The kernel's own packets would be taken for those of the test.
for runner in '' "$in_a" "$in_b"; do
	$runner sysctl -qw net.ipv6.conf.default.disable_ipv6=1
done

ports() # of two interfaces, and the clouds between them
{
	printf '%s\n' 'seed 1' "port a interface $1" "port b interface $2" \
		'cloud down from a to b' 'cloud up from b to a' 'cloud down delay 1ms' \
		>"$work/scenario.weir"
}

ends() # the process that holds the interfaces: they go with it
{
	exec 8>&-
	wait $background || true
	background=
}

nothing_lost()
{
	ctl -j show ports | jq -e 'all(.ports[]; .unfinished + .too_large + .not_sent + .not_ip +
		.rx_no_mbuf + .rx_missed == 0)' >/dev/null || fail "$(ctl show ports)"
}

# ---- every byte, between a veth and a tap
ip link add wa type veth peer name eth0 netns A
ip link set wa up
ip -n A link set eth0 up
mkfifo "$work/go"
python3 "$here/frames.py" A eth0 tb <"$work/go" >"$work/frames" 2>"$work/frames.err" &
background=$!
exec 8>"$work/go"
until_true said ready "$work/frames" || fail "$(cat "$work/frames.err")"
ports wa tb
weir_start --cores "$cpu" $resting
until_true said 'port b: interface tb (tun, MTU 1500), through a packet socket' "$work/weir.err" ||
	fail "$(cat "$work/weir.err")"
echo go >&8
wait $background || fail "$(cat "$work/frames.err")"
background=
exec 8>&-
cat "$work/frames"
nothing_lost
weir_stop

# ---- TCP in super-frames between cables with tags, and between cables without Ethernet
transfer() # what it is
{
	head -c 20000000 /dev/urandom >"$work/sent"
	: >"$work/got"
	$in_b timeout 120 python3 -c '
import socket, hashlib
server = socket.create_server(("10.9.0.2", 7000))
print("listening", flush=True)
peer = server.accept()[0]
sums = hashlib.sha256()
while data := peer.recv(1 << 16):
    sums.update(data)
print(sums.hexdigest())' >"$work/got" &
	receiver=$!
	until_true said listening "$work/got" || fail "the receiver does not listen"
	$in_a timeout 120 python3 -c '
import socket, sys
socket.create_connection(("10.9.0.2", 7000)).sendall(open(sys.argv[1], "rb").read())' \
		"$work/sent"
	wait $receiver
	[ "$(tail -1 "$work/got")" = "$(sha256sum "$work/sent" | cut -d' ' -f1)" ] ||
		fail "$1: other bytes"
	nothing_lost
	within "$1: the mean length of a packet, super-frames being cut" \
		"$(ctl -j show ports | jq '.ports[0] | .rx_bytes / .rx_packets | floor')" 200 1522
	echo "ok: 20 MB over TCP, $1"
}

cable() # tun or tap, what it is, tags
{
	kind=$1
	what=$2
	shift 2
	mkfifo "$work/hold"
	: >"$work/cable.a"
	: >"$work/cable.b"
	python3 "$here/cable.py" $kind ta A eth9 "$@" <"$work/hold" >"$work/cable.a" \
		2>"$work/cable.err" &
	background=$!
	python3 "$here/cable.py" $kind tb B eth9 "$@" <"$work/hold" >"$work/cable.b" \
		2>>"$work/cable.err" &
	background="$background $!"
	exec 8>"$work/hold"
	for side in a b; do
		until_true said ready "$work/cable.$side" || fail "$(cat "$work/cable.err")"
		# Two tags are 8 bytes more. The kernel tolerates one, if it is of 802.1Q.
		[ $kind = tun ] || ip link set t$side mtu 1508
	done
	ip -n A addr add 10.9.0.1/24 dev eth9
	ip -n B addr add 10.9.0.2/24 dev eth9
	ports ta tb
	weir_start --cores "$cpu" $resting
	ping_crosses || fail "$what: no ping"
	ctl clear counters >/dev/null
	transfer "$what"
}

cut_cable()
{
	weir_stop
	ends
	rm "$work/hold"
	[ ! -s "$work/cable.err" ] || fail "$(cat "$work/cable.err")"
}

cable tap 'a VLAN' 8100-0007
cut_cable
cable tap 'QinQ, 802.1ad' 88a8-0009 8100-0007
cut_cable
cable tun 'a tun, without Ethernet'
until_true said 'port a: interface ta (tun, MTU 1500, IP without Ethernet), through' \
	"$work/weir.err" || fail "$(cat "$work/weir.err")"

# ---- what such an interface cannot take is counted
weir_stop
ports wa tb
weir_start --cores "$cpu" $resting
said 'cloud down leads from Ethernet frames to IP packets' "$work/weir.err" ||
	fail "of the mixture nothing is said: $(cat "$work/weir.err")"
$in_a python3 -c '
import socket
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("eth0", 0))
for rest in "0806 0001", "8100 0007 0800 4500", "88b5":
    out.send(bytes.fromhex("ffffffffffff 020000000001" + rest) + bytes(50))'
not_ip()
{
	[ "$(ctl -j show ports | jq '.ports[1].not_ip')" = 3 ]
}
until_true not_ip || fail "$(ctl -j show ports)"
ctl show ports | grep -q 'port b: 3 frames lost, because its interface carries IP packets only' ||
	fail "$(ctl show ports)"
echo "ok: three frames that are no IP packets are counted, and said"
cut_cable

# ---- interfaces of other kinds, and drivers that know no IP without Ethernet
other() # ARPHRD_... and words of the refusal, device
{
	: >"$work/odd"
	python3 -c '
import fcntl, os, struct, sys
fd = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(fd, 0x400454CA, struct.pack("16sH22x", b"odd0", 0x1001))
fcntl.ioctl(fd, 0x400454CD, int(sys.argv[1]))
os.system("ip link set odd0 up")
print("ready", flush=True)
sys.stdin.read()' "$1" <"$work/go" >"$work/odd" &
	background=$!
	exec 8>"$work/go"
	until_true said ready "$work/odd" || fail "no tun of type $1"
	printf 'port a device %s\n' "$3" >"$work/other.weir"
	status=0
	timeout 60 "$WEIR" run -c "$work/other.weir" -s "$work/other" --cores "$cpu" \
		>"$work/other.out" 2>&1 || status=$?
	[ "$status" = 2 ] || fail "type $1: status $status: $(cat "$work/other.out")"
	grep -q "port a: $2" "$work/other.out" || fail "type $1: $(cat "$work/other.out")"
	ends
	echo "ok: $(tail -1 "$work/other.out")"
}
other 280 'interface odd0 carries neither Ethernet frames nor IP packets (its hardware type is '\
'280' odd0
other 803 'interface odd0 carries neither' odd0
other 65534 'interface odd0 carries IP packets without an Ethernet header, which this driver' \
	net_af_packet0,iface=odd0

# ---- the loopback is taken, with a warning
printf 'port a interface lo\nport b device net_null0\ncloud d from a to b\n' >"$work/other.weir"
"$WEIR" check -c "$work/other.weir" 2>&1 >"$work/other.out" |
	grep -q 'interface lo is the loopback: .*weir exec' || fail "of lo nothing is said"
echo "ok: protocols"
