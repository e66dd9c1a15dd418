#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The live part of ./quickstart. Runs in network, mount and process namespaces of its own (unshare):
# however it ends, the kernel removes the interfaces, the hosts and weir.
#
#   host a                        this namespace                        host b
#   eth0 10.9.0.1/24 ---- weir-a  [ weir run ]  weir-b ---- eth0 10.9.0.2/24
#
# usage: live-demo.sh WEIR SCENARIO OUT-FOLDER
set -eu
weir=$1 scenario=$2 out=$3

fail() {
	echo "live demo: $*" >&2
	exit 1
}

# A private /run, for the names of the namespaces, weir's socket, and DPDK's files.
mount -t tmpfs tmpfs /run
mkdir -p /run/netns
socket=/run/weir.sock

mac() {
	[ "$1" = a ] && echo 02:00:00:00:09:0a || echo 02:00:00:00:09:0b
}

host() { # NAME ADDRESS
	ip netns add "host-$1"
	ip link add "weir-$1" type veth peer name eth0 netns "host-$1"
	# The emulator must see frames as on a wire: no merged segments, finished checksums.
	ethtool -K "weir-$1" gro off gso off tso off tx off > /dev/null 2>&1 || true
	ip netns exec "host-$1" ethtool -K eth0 gro off gso off tso off tx off > /dev/null 2>&1 ||
		true
	ip link set "weir-$1" addrgenmode none up
	ip -n "host-$1" link set eth0 address "$(mac "$1")" addrgenmode none
	ip -n "host-$1" address add "$2/24" dev eth0
	ip -n "host-$1" link set eth0 up
	ip -n "host-$1" link set lo up
}

host a 10.9.0.1
host b 10.9.0.2
# Otherwise the first ping would wait for ARP, which also crosses the satellite.
ip -n host-a neigh add 10.9.0.2 lladdr "$(mac b)" dev eth0
ip -n host-b neigh add 10.9.0.1 lladdr "$(mac a)" dev eth0

# The same scenario, with devices for its ports.
live=$out/live.weir
sed -e 's/^port a$/port a device net_af_packet0,iface=weir-a/' \
	-e 's/^port b$/port b device net_af_packet1,iface=weir-b/' "$scenario" > "$live"
grep -q iface=weir-a "$live" && grep -q iface=weir-b "$live" ||
	fail "$scenario has no bare lines 'port a', 'port b'"

ping_across() {
	ip netns exec host-a ping -n -i 0.2 -c 10 -W 3 10.9.0.2 |
		grep -E 'transmitted|rtt' | sed 's/^/  /'
}

echo "$weir run -c $live -s $socket"
"$weir" run -c "$live" -s "$socket" > "$out/live.log" 2>&1 &
pid=$!
for _ in $(seq 150); do
	"$weir" ctl -s "$socket" show ports > /dev/null 2>&1 && break
	kill -0 $pid 2> /dev/null || {
		cat "$out/live.log" >&2
		fail "weir run ended"
	}
	sleep 0.1
done
"$weir" ctl -s "$socket" show ports

echo
echo "ping across it, 280 ms each way asked for, so 560 ms there and back:"
ping_across

echo
echo "A change while it runs: weir ctl 'cloud down delay 40ms', and the same for up;" \
	"80 ms there and back:"
"$weir" ctl -s "$socket" cloud down delay 40ms
"$weir" ctl -s "$socket" cloud up delay 40ms
# So that the counters below are those of the new delay only.
"$weir" ctl -s "$socket" clear counters > /dev/null
ping_across

echo
echo "weir ctl show cloud down"
"$weir" ctl -s "$socket" show cloud down | sed 's/^/  /'

kill -TERM $pid
status=0
wait $pid || status=$?
[ $status = 0 ] || {
	tail -n 20 "$out/live.log" >&2
	fail "weir run ended with status $status"
}
echo
echo "weir's closing account:"
tail -n 30 "$out/live.log" | sed 's/^/  /'
