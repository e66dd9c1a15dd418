#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   A -- wa [ clouds of 5 ms ] wb -- B        wb goes down for a second, and up again; or it goes
#                                             altogether, and another wb comes
#
# weir reports it, and nothing breaks. Packets that were due meanwhile are counted as tx full and
# are not sent late, and packets flow again.

. "$(dirname "$0")/topology.sh"
make_hosts
scenario <<SCENARIO
cloud down delay 5ms
cloud up delay 5ms
SCENARIO

weir_start --cores "${WEIR_CPU:-$(($(nproc) - 1))}"
ping_crosses || fail "no ping before"
ip link set wb down
until_true said 'port b: link down' "$work/weir.err" || fail "link down was not said"
$in_a ping -c 3 -i 0.2 -W 1 10.9.0.2 >/dev/null && fail "a ping crossed a link that is down"
ip link set wb up
until_true said 'port b: link up' "$work/weir.err" || fail "link up was not said"
ping_crosses || fail "no ping after"
grep -q DUP "$work/ping" && fail "stale packets came out"
within "packets dropped while the link was down" \
	"$(ctl -j show ports | jq '.ports[1].tx_full')" 3 3
echo "ok: link down and up"

# ---- a driver of DPDK's loses an interface that goes, for good
b_is() # a field of port b, its value
{
	[ "$(ctl -j show ports | jq -r ".ports[1].$1")" = "$2" ]
}

ip link del wb
until_true said 'port b: interface wb is gone, and net_af_packet cannot take it again: start weir '\
'anew, or use `port b interface wb`' "$work/weir.err" || fail "$(cat "$work/weir.err")"
until_true b_is gone true || fail "$(ctl -j show ports)"
ctl show ports | grep -q 'port b: its interface is gone' || fail "$(ctl show ports)"
weir_stop
grep -q 'every packet is accounted for' "$work/weir.out" || fail "it does not add up"
echo "ok: net_af_packet says that its interface is gone"

# ---- a packet socket takes the next one. weir has given up CAP_NET_RAW by then
mac=$($in_a ip neigh show 10.9.0.2 | sed 's/.*lladdr \([^ ]*\).*/\1/')
another() # interfaces at B, whose host keeps its address
{
	printf '%s\n' "$@" 'link add wb type veth peer name eth0 netns B' 'link set wb up' |
		ip -batch -
	ip -n B link set eth0 address "$mac"
	ip -n B addr add 10.9.0.2/24 dev eth0
	quiet_interface "$in_b" eth0
	quiet_interface "" wb
	$in_b ip neigh replace 10.9.0.1 lladdr "$($in_a cat /sys/class/net/eth0/address)" dev eth0
}
another
sed -i 's/device net_af_packet.,iface=/interface /' "$work/scenario.weir"
weir_start --cores "${WEIR_CPU:-$(($(nproc) - 1))}" $resting
"$WEIR" ctl -s "$socket" -j events from 1 >"$work/events" &
background=$!
ping_crosses || fail "no ping before"

back() # times, in all; how
{
	until_true said 'port b: interface wb is gone: weir takes it again when wb is there' \
		"$work/weir.err" "$1" || fail "$2: it is not said that it is gone"
	until_true said 'port b: interface wb is back; [0-9.]* s without' "$work/weir.err" "$1" ||
		fail "$2: it is not said that it is back"
	until_true b_is link_up true || fail "$2: it stays down"
	b_is gone false && b_is absences "$1" || fail "$2: $(ctl -j show ports)"
	ping_crosses || fail "$2: no ping after"
	ip -d link show wb | grep -q 'promiscuity [1-9]' ||
		fail "$2: it is not promiscuous: $(ip -d link show wb)"
	echo "ok: an interface that is $2"
}
ip link del wb
until_true b_is gone true || fail "it is not noticed that wb is gone"
$in_a ping -c 3 -i 0.2 -W 1 10.9.0.2 >/dev/null && fail "a ping crossed without an interface"
within "packets dropped without an interface, 0.1 s late" \
	"$(ctl -j show ports | jq '.ports[1] | .tx_full + .not_sent')" 3 3
another
back 1 'deleted, and made anew'
another 'link del wb' # between two looks of weir's, often
back 2 'deleted, and made anew at once'
ip netns add C
ip link set wb netns C
until_true b_is gone true || fail "it is not noticed that wb is in another namespace"
ip -n C link set wb netns "$(sh -c 'echo $PPID')"
ip link set wb up
back 3 'moved into another namespace and back'
ip netns del C

# What has its name, and carries something else, is not taken.
if [ -c /dev/net/tun ]; then
	ip link del wb
	mkfifo "$work/hold"
	python3 -c '
import fcntl, os, struct, sys
fd = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(fd, 0x400454CA, struct.pack("16sH22x", b"wb", 0x1001))
sys.stdin.read()' <"$work/hold" &
	holder=$!
	exec 8>"$work/hold"
	until_true said 'port b: interface wb is back, but carries IP packets without an Ethernet '\
'header now: start weir anew to use it' "$work/weir.err" || fail "$(cat "$work/weir.err")"
	b_is gone true || fail "$(ctl -j show ports)"
	exec 8>&-
	wait $holder # and the tun goes with it
	another
	back 4 'there again, after one of another kind'
fi

# A rename is followed: the port then waits for the new name.
ip link set wb down
ip link set wb name wc
ip link set wc up
until_true said 'port b: its interface is now called wc' "$work/weir.err" || fail "a rename is lost"
ip link del wc
until_true said 'port b: interface wc is gone: weir takes it again when wc is there' \
	"$work/weir.err" || fail "$(cat "$work/weir.err")"
another
ping_crosses_not()
{
	$in_a ping -c 1 -W 1 10.9.0.2 >/dev/null && fail "wb is taken, but wc was the last name"
	return 0
}
ping_crosses_not
ip link set wb down
ip link set wb name wc
ip link set wc up
until_true said 'port b: interface wc is back' "$work/weir.err" || fail "$(cat "$work/weir.err")"
ping_crosses || fail "no ping after another name"
echo "ok: a port waits for the last name of its interface"

kill $background
wait $background || true
background=
[ "$(jq -rs '[.[] | select(.event == "interface") | "\(.port) \(.there)"] | unique | join(", ")' \
	"$work/events")" = 'b false, b true' ] || fail "$(cat "$work/events")"
[ "$(jq -s '[.[] | select(.event == "interface" and .there) | .gone_ns] | all(. > 0)' \
	"$work/events")" = true ] || fail "$(cat "$work/events")"
weir_stop
grep -q 'every packet is accounted for' "$work/weir.out" || fail "it does not add up"
echo "ok: interfaces that go and come"
