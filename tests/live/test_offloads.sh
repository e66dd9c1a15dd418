#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   A -- wa [ clouds ] wb -- B
#
# Interfaces as Linux sets them up, with all offloads on: checksums are unfinished, and TCP comes in
# super-frames. A port that is an interface completes the checksums and splits super-frames: TCP,
# IPv4 and IPv6, UDP, tunnels, tags and jumbo frames pass, and a bucket that is smaller than a
# super-frame counts it as many packets.

. "$(dirname "$0")/topology.sh"
need iperf3 tcpdump sha256sum
cpu=${WEIR_CPU:-$(($(nproc) - 1))}

ip link set lo up
for host in A B; do
	ip netns add $host
	side=w$(echo $host | tr AB ab)
	ip link add $side type veth peer name eth0 netns $host
	ip -n $host link set lo up
	ip link set $side up
	ip -n $host link set eth0 up
done
# Neighbour discovery is off here: this machine's end must not answer for itself.
for side in wa wb; do sysctl -qw net.ipv6.conf.$side.disable_ipv6=1; done
ip -n A addr add 10.9.0.1/24 dev eth0
ip -n B addr add 10.9.0.2/24 dev eth0
ip -n A -6 addr add fd00:9::1/64 dev eth0 nodad
ip -n B -6 addr add fd00:9::2/64 dev eth0 nodad
ip netns exec A ethtool -k eth0 | grep -q 'tcp-segmentation-offload: on' ||
	skip "veth has no offloads here"

cat >"$work/scenario.weir" <<SCENARIO
seed 1
port a interface wa
port b wb
cloud down from a to b
cloud up from b to a
cloud down delay 1ms
SCENARIO
# The name of an interface alone is also a device.
sed -i 's/^port b wb/port b device wb/' "$work/scenario.weir"
weir_start --cores "$cpu" $resting

report() # port, field
{
	ctl -j show ports | jq ".ports[] | select(.port == \"$1\") | .$2"
}

nothing_lost()
{
	for port in a b; do
		for field in unfinished too_large not_sent rx_no_mbuf rx_missed; do
			[ "$(report $port $field)" = 0 ] ||
				fail "port $port: $field $(report $port $field)"
		done
	done
}

# ---- the bytes that come out are those that went in, with every protocol
head -c 30000000 /dev/urandom >"$work/sent"
same_bytes() # address in B, what is tested
{
	: >"$work/got"
	$in_b timeout 120 python3 -c '
import socket, sys, hashlib
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
server = socket.create_server((sys.argv[1], 7000), family=family)
print("listening", flush=True)
peer = server.accept()[0]
sums = hashlib.sha256()
while data := peer.recv(1 << 16):
    sums.update(data)
print(sums.hexdigest())' "$1" >"$work/got" &
	background=$!
	until_true said listening "$work/got" || fail "the receiver does not listen"
	$in_a timeout 120 python3 -c '
import socket, sys
socket.create_connection((sys.argv[1], 7000)).sendall(open(sys.argv[2], "rb").read())' \
		"$1" "$work/sent"
	wait $background
	background=
	[ "$(tail -1 "$work/got")" = "$(sha256sum "$work/sent" | cut -d' ' -f1)" ] ||
		fail "$2: other bytes"
	nothing_lost
	echo "ok: $2, offloads as Linux sets them"
}
for to in 10.9.0.2 fd00:9::2; do same_bytes $to "30 MB over TCP to $to"; done
within "the mean length of a packet, super-frames being cut" \
	$(($(report a rx_bytes) / $(report a rx_packets))) 200 1514

# ---- super-frames of tunnels, with and without a checksum outside, and those above 64 KiB
has_super() # a filter: a super-frame comes from A
{
	: >"$work/tcpdump"
	timeout 60 tcpdump -i wa -Q in -c 1 -w "$work/super" "$1" >"$work/tcpdump" 2>&1 &
	watch=$!
	until_true said listening "$work/tcpdump" || fail "tcpdump does not listen"
	same_bytes "$2" "$3"
	wait $watch || fail "$3: no super-frame has come: $(cat "$work/tcpdump")"
}
tunnel() # 4 or 6, number, further options: 10.7.NUMBER.1 and .2
{
	for host in A B; do
		me=$(echo $host | tr AB 12) peer=$(echo $host | tr AB 21)
		[ "$1" = 4 ] && net=10.9.0. || net=fd00:9::
		ip -n $host link add "vx$2" type vxlan id "$2" local $net$me remote $net$peer \
			dstport 4789 $3 2>/dev/null || return 1
		ip -n $host addr add "10.7.$2.$me/24" dev "vx$2"
		ip -n $host link set "vx$2" up
	done
}
if tunnel 4 1 ""; then
	tunnel 4 2 noudpcsum
	tunnel 6 3 ""
	for number in 1 2 3; do
		has_super 'greater 3000' 10.7.$number.2 "30 MB in VXLAN $number"
	done
	# weir joins datagrams of a tunnel. If this end has no offloads, the kernel cuts them again,
	# and the frames have right checksums.
	ethtool -K wb tx off >/dev/null 2>&1
	: >"$work/tcpdump"
	$in_b tcpdump -i eth0 -Q in -c 2000 -w "$work/cut" tcp or udp >"$work/tcpdump" 2>&1 &
	watch=$!
	until_true said listening "$work/tcpdump" || fail "tcpdump does not listen"
	same_bytes 10.7.1.2 "30 MB in VXLAN 1, cut by the kernel"
	wait $watch
	ethtool -K wb tx on >/dev/null 2>&1
	tcpdump -r "$work/cut" -nvvv >"$work/words" 2>/dev/null
	said VXLAN "$work/words" 1000 || fail "$(head "$work/words")"
	! grep -E 'bad cksum|bad udp|incorrect' "$work/words" || fail "wrong checksums"
	[ -z "$(tcpdump -r "$work/cut" 'greater 1515' 2>/dev/null)" ] || fail "longer than the MTU"
	echo "ok: 2,000 frames of it have right checksums, inside and outside"
else
	echo "not tested: this kernel has no VXLAN"
fi
big() # bytes
{
	for host in A B; do
		ip -n $host link set dev eth0 gso_max_size "$1" gro_max_size "$1" || return 1
	done
}
if big 185000 2>/dev/null; then
	has_super 'greater 66000' fd00:9::2 "30 MB over BIG TCP"
	big 65536
else
	echo "not tested: this kernel has no BIG TCP"
fi

# ---- tags: the kernel takes them out of what a packet socket gets
: >"$work/tcpdump"
$in_b timeout 60 tcpdump -i eth0 -c 3 -U -w "$work/tagged" vlan 2>"$work/tcpdump" &
background=$!
until_true said listening "$work/tcpdump" || fail "tcpdump does not listen"
$in_a python3 -c '
import socket
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.bind(("eth0", 0))
for _ in range(3):
    out.send(bytes.fromhex("ffffffffffff 020000000001 8100 2007 88b5") + b"weir" * 20)'
wait $background || fail "no tagged frame has come: $(cat "$work/tcpdump")"
background=
[ "$(tcpdump -r "$work/tagged" -xx 2>/dev/null | grep -c '0001 8100 2007')" = 3 ] ||
	fail "$(tcpdump -r "$work/tagged" -xx)"
nothing_lost
echo "ok: VLAN tags"

# ---- jumbo frames pass whole, and what the interface does not take is counted
for host in A B; do ip -n $host link set eth0 mtu 9000; done
ip link set wa mtu 9000
ip link set wb mtu 9000
$in_a ping -c 3 -i 0.2 -W 20 -M do -s 8972 10.9.0.2 >/dev/null || fail "no jumbo ping"
nothing_lost
echo "ok: frames of 9,000 bytes"
ip link set wb mtu 1500
$in_a ping -c 3 -i 0.2 -W 1 -M do -s 8972 10.9.0.2 >/dev/null &&
	fail "a jumbo frame passes an interface of 1500"
[ "$(report b too_large)" = 3 ] || fail "too large: $(report b too_large)"
ctl show ports | grep -q 'port b: 3 packets lost, because they are larger than the MTU' ||
	fail "$(ctl show ports)"
echo "ok: three that are larger than the interface's MTU are counted, and said"
for host in A B; do ip -n $host link set eth0 mtu 1500; done
ip link set wa mtu 1500

weir_stop

# ---- a driver that sends no chains of buffers loses what needs one, and that is counted
# libxdp does not free 80 bytes of each umem, and weir cannot free them.
echo 'leak:libxdp' >"$work/libxdp.supp"
export LSAN_OPTIONS="suppressions=$work/libxdp.supp:print_suppressions=0"
sed -i 's/^port b .*/port b device net_af_xdp0,iface=wb/' "$work/scenario.weir"
ip -n A link set eth0 mtu 9000
ip link set wa mtu 9000
weir_launch
until_true weir_runs_or_died || fail "with net_af_xdp it neither runs nor ends"
if weir_alive; then
	ping_crosses || fail "no ping through net_af_xdp"
	$in_a ping -c 3 -i 0.2 -W 1 -M do -s 3972 10.9.0.2 >/dev/null &&
		fail "4,000 bytes pass a buffer of 2,048"
	[ "$(report b chained)" = 3 ] || fail "chained: $(ctl -j show ports)"
	ctl show ports | grep -q 'port b: 3 packets lost, because its driver sends no frames' ||
		fail "$(ctl show ports)"
	ping_crosses || fail "no ping after them"
	weir_stop
	echo "ok: three that are larger than a buffer of net_af_xdp are counted, and said"
else
	weir_pid=
	grep -q . "$work/weir.err" || fail "weir ends, and does not say why"
	echo "not tested: net_af_xdp does not start here: $(tail -n 1 "$work/weir.err")"
fi
ip -n A link set eth0 mtu 1500
ip link set wa mtu 1500
sed -i 's/^port b .*/port b device wb/' "$work/scenario.weir"
weir_start --cores "$cpu" $resting

# ---- a super-frame is many packets to a bucket
cat >"$work/rate" <<CHANGE
cloud down rate 100mbit algorithm token-bucket burst 2kB queue 200kB
CHANGE
ctl -f "$work/rate" >/dev/null
goodput()
{
	$in_b iperf3 -s -1 -J >"$work/server.json" &
	background=$!
	listening
	$in_a timeout 60 iperf3 -c 10.9.0.2 -t 6 >/dev/null || fail "no TCP at 100 Mbit/s"
	wait $background || fail "the iperf3 server ended with an error"
	background=
	# Of the 1,514 bytes that the bucket counts 1,448 are payload. The first second is slow
	# start.
	within "goodput at 100 Mbit/s, of 95.6" \
		"$(jq '[.intervals[1:5][].sum.bits_per_second] | add / length / 1e6' \
			"$work/server.json")" \
		94.7 96.6
}
undisturbed goodput || fail "the goodput is wrong"

# ---- what merged frames is as it was
weir_stop
echo "ok: offloads"
