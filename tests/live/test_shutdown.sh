#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   A flood of UDP ---> wa [ cloud down 200 ms, 1 % loss ] wb ---> B
#
# SIGTERM under load: weir prints its counters, everything adds up, every buffer is returned, and
# the machine is as before: interfaces, folders, socket.

. "$(dirname "$0")/topology.sh"
need iperf3
make_hosts
scenario <<SCENARIO
cloud down delay 200ms
cloud down loss random 1%
cloud up delay 200ms
SCENARIO

cpu=${WEIR_CPU:-$(($(nproc) - 1))}

state_of_machine()
{
	ip -d link show wa | grep -o 'promiscuity [0-9]*\|mtu [0-9]*\|<.*>'
	ip -d link show wb | grep -o 'promiscuity [0-9]*\|mtu [0-9]*\|<.*>'
	ls /run/dpdk | grep weir- || true # root's, and of this test alone (topology.sh)
	ls /dev/hugepages 2>/dev/null | grep weir || true
}

under_load()
{
	ctl -j show cloud down | jq -e '.held_packets > 100' >/dev/null
}

state_of_machine >"$work/before"
for signal in TERM INT; do
	weir_start --cores "$cpu" $resting
	ip -d link show wa | grep -q 'promiscuity 1' || fail "wa is not promiscuous while weir runs"
	$in_b iperf3 -s -1 >/dev/null &
	server=$!
	listening
	$in_a iperf3 -u -c 10.9.0.2 -b 200M -l 1400 -t 10 >/dev/null 2>&1 &
	client=$!
	background="$server $client"
	until_true under_load || fail "nothing is in flight"
	sleep 1
	kill -$signal "$weir_pid"
	weir_status=0
	wait "$weir_pid" || fail "status $? after SIG$signal under load"
	weir_pid=
	kill $background 2>/dev/null || true
	wait
	background=
	grep -q 'every packet is accounted for, every buffer was returned' "$work/weir.out" ||
		fail "after SIG$signal it does not add up"
	held=$(cell cloud down held)
	[ "${held:-0}" -gt 0 ] || fail "nothing was in flight: that was no load"
	[ ! -e "$socket" ] || fail "the socket is still there"
	state_of_machine >"$work/after"
	cmp "$work/before" "$work/after" ||
		fail "the machine is not as it was: $(diff "$work/before" "$work/after")"
	echo "ok: SIG$signal under load, $held packets in flight"
done

# A killed weir cannot clean up, but the kernel ends the promiscuous mode.
weir_start --cores "$cpu" $resting
kill -KILL "$weir_pid"
wait "$weir_pid" 2>/dev/null || true
weir_pid=
ip -d link show wa | grep -q 'promiscuity 0' || fail "wa is still promiscuous after SIGKILL"
echo "ok: SIGKILL leaves no promiscuous interface"

# The next weir replaces the stale socket.
weir_start --cores "$cpu" $resting
weir_stop
