#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   A iperf3 client --- wa [ insert => R1 200 => R2 100 => R3 150 Mbit/s, 100 ms => strip ]
#     wb --- iperf3 server B
#     weir_limited         [ strip <============ 100 ms ========================== answer ]
#     weir-host  <-- show path up-0
#
# Linux with limited slow-start, with the values that the routers write into the host's own packets
# (R2: 100 Mbit/s, room for 200 packets). It takes these values during slow start, ends slow start
# accordingly, and loses nothing. Plain Reno doubles its window until R2's queue is full, and loses
# packets in bursts. One connection each, of 8 seconds. SACK=0 disables SACK in Linux.

. "$(dirname "$0")/topology.sh"
. "$(dirname "$0")/linux_host.sh"
need iperf3 ss
host_can limited
make_hosts
scenario <<SCENARIO
cloud down feedback proxy insert hops 3 probe link,queue
cloud down-1 from down to b
cloud down-1 feedback header queue limit
cloud down-1 hop 192.0.2.1
cloud down-1 rate 200mbit queue 500pkt
cloud down-2 from down-1 to b
cloud down-2 feedback header queue limit
cloud down-2 hop 192.0.2.2
cloud down-2 rate 100mbit queue 200pkt
cloud down-2 delay 100ms
cloud down-3 from down-2 to b
cloud down-3 feedback header queue limit
cloud down-3 hop 192.0.2.3
cloud down-3 rate 150mbit queue 500pkt
cloud down-4 from down-3 to b
cloud down-4 feedback proxy strip
cloud up feedback proxy answer of down-4
cloud up delay 100ms
cloud up-0 from up to a
cloud up-0 feedback proxy strip
SCENARIO
for host in A B; do
	ip netns exec $host sysctl -qw net.ipv4.tcp_sack="${SACK:-1}" \
		net.ipv4.tcp_rmem="4096 131072 16777216" \
		net.ipv4.tcp_wmem="4096 131072 16777216" net.ipv4.tcp_no_metrics_save=1
done
weir_start --cores "${WEIR_CPU:-$(($(nproc) - 1))}" $resting

connect() # congestion-control; results in $work/client, threshold, window and dropped
{
	clear_counters
	$in_b iperf3 -s -1 >/dev/null &
	server=$!
	listening
	$in_a iperf3 -c 10.9.0.2 -C "$1" -t 8 --json >"$work/client" 2>&1 &
	client=$!
	sleep 7
	$in_a ss -tin dst 10.9.0.2 | grep "$1" >"$work/ss" || true
	wait $client || fail "iperf3: $(tail -3 "$work/client")"
	wait $server || fail "the iperf3 server ended with an error"
	threshold=$(grep -o '\bssthresh:[0-9]*' "$work/ss" | cut -d: -f2)
	dropped=$(ctl -j show cloud | jq '[.clouds[].drops["queue-full"]] | add')
	mbit=$(jq '.end.sum_received.bits_per_second / 1e6' "$work/client")
	printf '%-13s %6.2f Mbit/s, slow start ended at %s segments, %s packets lost\n' \
		"$1" "$mbit" "${threshold:-?}" "$dropped"
}

connect reno
within "packets that Reno loses at the end of slow start" "$dropped" 50 100000 || exit 1

lose_nothing()
{
	connect weir_limited
	within "packets lost with limited slow-start" "$dropped" 0 0 &&
		# 3/4 of 100 Mbit/s x 100 ms, in segments of 1448 bytes, are 647; less the traffic
		# that passed while the router measured.
		within "segments at which slow start ended" "$threshold" 550 720
}

host_start limited -s "$socket" --path up-0
undisturbed lose_nothing ||
	fail "limited slow-start loses packets, or does not end where the routers say"
host_totals >"$work/host"
within "connections that took the figures" "$(jq .informed "$work/host")" 1 5 || exit 1
within "packets that the proxies could not do their part with" \
	"$(ctl -j show cloud | jq '[.clouds[].feedback // empty | .malformed + .no_room] | add')" \
	0 0 || exit 1
host_stop weir_limited

# When weir ends, weir-host reports it, and ends.
host_start limited -s "$socket" --path up-0
weir_stop
status=0
wait $host_pid || status=$?
background=
[ $status = 1 ] || fail "weir-host ended with $status when weir had gone"
grep -q 'weir has gone' "$work/host.err" ||
	fail "weir-host did not say that weir has gone: $(cat "$work/host.err")"
host_leaves_nothing weir_limited
grep -q 'every packet is accounted for' "$work/weir.out" || fail "weir did not add up"
echo "ok: weir-host ends with weir"
