#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   A iperf3 client --- wa [ insert => R1 100 => R2 20 => R3 50 Mbit/s => strip ] wb --- iperf3
#     server B
#                          [ strip <========== 5 ms <==================== answer ]
#
# Linux TCP with a fixed window through three routers, which its own packets query. `show path`
# lists the routers with their exact capacities. The available rates and the queuing delay are
# within 5 % of the values of the routers' own clouds at that time. TCP is unaffected: it fills the
# bottleneck, and no packet is lost or truncated. Before that, `probe` queries the same routers on
# the idle path.

. "$(dirname "$0")/topology.sh"
need iperf3
make_hosts
scenario <<SCENARIO
cloud down feedback proxy insert hops 3
cloud down-1 from down to b
cloud down-1 feedback header window 500ms
cloud down-1 hop 192.0.2.1
cloud down-1 rate 100mbit queue 500pkt
cloud down-2 from down-1 to b
cloud down-2 feedback header window 500ms
cloud down-2 hop 192.0.2.2
cloud down-2 rate 20mbit queue 500pkt
cloud down-3 from down-2 to b
cloud down-3 feedback header window 500ms
cloud down-3 hop 192.0.2.3
cloud down-3 rate 50mbit queue 500pkt
cloud down-4 from down-3 to b
cloud down-4 feedback proxy strip
cloud up feedback proxy answer of down-4
cloud up delay 5ms
cloud up-0 from up to a
cloud up-0 feedback proxy strip
SCENARIO

path() # hop key
{
	jq ".clouds[] | select(.cloud == \"up-0\") | .path[$1 - 1][\"$2\"]" "$work/during.json"
}

meter() # hop key
{
	jq ".clouds[] | select(.cloud == \"down-$1\") | .meter[\"$2\"] / 1000 | floor" \
		"$work/during.json"
}

near() # what value expected
{
	within "$1" "$2" $(($3 - $3 / 20)) $(($3 + $3 / 20 + 1))
}

# The path holds the values of the latest packet, and the meter may have begun another window since.
# Then they refer to two windows; a moment later they agree again.
of_one_window()
{
	for i in 1 3; do
		[ "$(path $i available_kbps)" = "$(meter $i available_bps)" ] || return 1
	done
	[ "$(path 2 delay_us)" = "$(meter 2 delay_ns)" ]
}

sent() # hop: kbit/s that it has sent, by its counters
{
	jq ".clouds[] | select(.cloud == \"down-$1\") | .tx_bytes * 8000000 / $took | floor" \
		"$work/during.json"
}

# A connection of four seconds, of which the third is judged.
measure()
{
	$in_b iperf3 -s -1 >/dev/null &
	server=$!
	listening
	$in_a iperf3 -c 10.9.0.2 -t 4 -w 300K --json >"$work/client" 2>&1 &
	client=$!
	sleep 2
	# Counts what leaves each link during the next second.
	clear_counters
	from=$(date +%s%N)
	sleep 1
	ctl show path up-0
	for _ in 1 2 3 4 5; do
		# One answer, so that all values are of one moment.
		ctl -j show cloud >"$work/during.json"
		took=$(($(date +%s%N) - from))
		of_one_window && break
		sleep 0.05
	done
	wait $client || fail "iperf3: $(tail -1 "$work/client")"
	wait $server || fail "the iperf3 server ended with an error"
	ctl -j show cloud up-0 >"$work/up-0.json"
	ctl -j show cloud down-4 >"$work/down-4.json"

	for i in 1 3; do
		near "kbit/s available at R$i" "$(path $i available_kbps)" \
			"$(meter $i available_bps)" || return 1
	done
	near "kbit/s available at R1, as counted" "$(path 1 available_kbps)" \
		$((100000 - $(sent 1))) || return 1
	near "kbit/s available at R3, as counted" "$(path 3 available_kbps)" \
		$((50000 - $(sent 3))) || return 1
	near "us of queuing delay at R2" "$(path 2 delay_us)" "$(meter 2 delay_ns)" || return 1
	within "us of queuing delay at R2, where packets wait" "$(path 2 delay_us)" \
		1000 300000 || return 1
	# 20 Mbit/s less the headers: 1448 of 1530 bytes a frame.
	within "kbit/s of TCP" \
		"$(jq '.end.sum_received.bits_per_second / 1000 | floor' "$work/client")" \
		17500 19000 || return 1
	within "TCP's retransmissions" "$(jq .end.sum_sent.retransmits "$work/client")" 0 0
}

weir_start --cores "${WEIR_CPU:-$(($(nproc) - 1))}" $resting

# Linux sends tail loss probes when the machine is slow; they do not mean a loss.
$in_a sh -c 'echo 0 >/proc/sys/net/ipv4/tcp_early_retrans'
# Only the first one is checked: the next one may see the packets of this one in its last window.
ctl -j probe down >"$work/probe.json"
ctl probe down
# 9 packets: three routers, three probes.
within "requests of probe that came through" "$(jq .arrived "$work/probe.json")" 9 9 || exit 1
[ "$(jq -c '[.path[] | [.hop, .link_kbps, .available_kbps, .queue_packets]]' \
	"$work/probe.json")" = "[[1,100000,100000,0],[2,20000,20000,0],[3,50000,50000,0]]" ] ||
	fail "probe of an idle path: $(cat "$work/probe.json")"

undisturbed measure || fail "what the path says is not what the routers count, or TCP is harmed"

# Nothing queries the routers any more: the values age.
before=$(jq '.path[0].age_ns / 1000000 | floor' "$work/up-0.json")
sleep 1
after=$(ctl -j show cloud up-0 | jq '.path[0].age_ns / 1000000 | floor')
within "ms by which the path has aged in a second" $((after - before)) 1000 30000 || exit 1

within "routers that have answered" \
	"$(jq '.clouds[] | select(.cloud == "up-0") | .path | length' "$work/during.json")" \
	3 3 || exit 1
within "kbit/s of R1" "$(path 1 link_kbps)" 100000 100000 || exit 1
within "kbit/s of R2" "$(path 2 link_kbps)" 20000 20000 || exit 1
within "kbit/s of R3" "$(path 3 link_kbps)" 50000 50000 || exit 1
within "headers answered" "$(jq .feedback.stripped "$work/up-0.json")" 100 1000000 || exit 1
for cloud in up-0 down-4; do
	within "malformed headers at $cloud" "$(jq .feedback.malformed "$work/$cloud.json")" \
		0 0 || exit 1
done
