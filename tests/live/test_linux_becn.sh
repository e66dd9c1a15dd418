#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   A iperf3 client --- wa [ cloud down: 100 Mbit/s, RED 150/450 kB, ECN, BECN; 100 ms ]
#     wb --- iperf3 server B
#     weir-host      <---------- source quenches (RTT 200 ms)
#                          [ cloud up: 100 ms                                         ]
#
# Ten connections of Linux over a long path, with plain Reno, Reno with ECN, weir_becn and
# weir_ecn_becn, one after the other, for WEIR_ROUND_TRIPS (40) of WEIR_RTT_MS (200; 500 for a
# satellite) each. Prints the throughput of each. Claims: each quench of the router reaches its
# connection; there is at most one cut per connection and round trip; and with quenches fewer
# packets are lost than with plain Reno, at about the same throughput.

. "$(dirname "$0")/topology.sh"
. "$(dirname "$0")/linux_host.sh"
need iperf3 ss
rtt_ms=${WEIR_RTT_MS:-200}
round_trips=${WEIR_ROUND_TRIPS:-40}
seconds=$((round_trips * rtt_ms / 1000))
flows=10
host_can becn
host_can ecn-becn
make_hosts
scenario <<SCENARIO
cloud down hop 192.0.2.1
cloud down rate 100mbit queue 900kB
cloud down red min 150kB max 450kB max-p 0.1 weight 0.002 mean 1500B
cloud down ecn on
cloud down becn
cloud down delay $((rtt_ms / 2))ms
cloud up delay $((rtt_ms / 2))ms
SCENARIO
for host in A B; do
	# Room for twice the product of rate and delay.
	ip netns exec $host sysctl -qw net.ipv4.tcp_rmem="4096 131072 16777216" \
		net.ipv4.tcp_wmem="4096 131072 16777216" net.ipv4.tcp_no_metrics_save=1
done
weir_start --cores "${WEIR_CPU:-$(($(nproc) - 1))}" $resting

all_has_arrived()
{
	ctl -j show cloud | jq -e '[.clouds[].held_packets] | add == 0' >/dev/null
}

none_is_open()
{
	[ -z "$($in_a ss -Htn exclude time-wait)" ]
}

# Writes what iperf3 and weir report for $flows connections into NAME.client and NAME.cloud in
# $work.
measure() # name congestion-control ecn
{
	$in_a sysctl -qw net.ipv4.tcp_ecn="$3"
	$in_b sysctl -qw net.ipv4.tcp_ecn="$3"
	clear_counters
	$in_b iperf3 -s -1 >/dev/null &
	server=$!
	listening
	$in_a iperf3 -c 10.9.0.2 -C "$2" -P $flows -t "$seconds" --json >"$work/$1.client" 2>&1 ||
		fail "iperf3: $(tail -3 "$work/$1.client")"
	wait $server || fail "the iperf3 server ended with an error"
	until_true all_has_arrived || fail "packets stay on their way"
	until_true none_is_open || fail "connections of iperf3 stay open"
	ctl -j show cloud down >"$work/$1.cloud"
	ctl -j show ports | jq '[.ports[].lateness_ns.max // 0] | max' >"$work/$1.late"
}

of_cloud() # name expression
{
	jq "$2" "$work/$1.cloud"
}

mbit() # name
{
	jq '.end.sum_received.bits_per_second / 1e6 * 100 | round / 100' "$work/$1.client"
}

lost() # name: packets that the emulated queue has lost
{
	of_cloud "$1" '.drops["red-early"] + .drops["red-forced"] + .drops["queue-full"]'
}

measure reno reno 0
measure ecn reno 1
for response in becn ecn-becn; do
	host_start $response -i eth0
	measure $response "weir_$(echo $response | tr - _)" 1
	host_totals >"$work/$response.host"
	host_stop "weir_$(echo $response | tr - _)"
done

of_host() # response counter
{
	jq ".$2" "$work/$1.host"
}

echo "response    Mbit/s   dropped  marked  quenches  cuts  within  losses  echoes"
for name in reno ecn becn ecn-becn; do
	printf '%-10s %7s %9s %7s' $name "$(mbit $name)" "$(lost $name)" \
		"$(of_cloud $name .ecn_marked)"
	[ -e "$work/$name.host" ] && printf ' %9s %5s %7s %7s %7s' \
		"$(of_cloud $name .becn_sent)" "$(of_host $name cuts)" \
		"$(of_host $name within)" "$(of_host $name losses)" "$(of_host $name echoes)"
	echo
done

# Returns true if weir itself stood still in the run.
was_late() # name
{
	[ "$(cat "$work/$1.late")" -ge 20000000 ]
}

busy=""
for name in becn ecn-becn; do
	# No quench is lost or doubted, and each one cuts the window or comes within the round trip
	# of one that did. Only if weir itself stood still may some come when iperf3 closes their
	# connection, or after that: these have ended, or are foreign.
	sent=$(of_cloud $name .becn_sent)
	foreign=0 ended=0
	if was_late $name; then
		foreign=$(of_host $name foreign) ended=$(of_host $name ended)
	fi
	within "$name: quenches sent" "$sent" 5 100000 || exit 1
	within "$name: quenches that came" \
		"$(of_host $name 'marked + .dropped + .stale + .foreign')" "$sent" "$sent" || exit 1
	within "$name: foreign quenches" "$(of_host $name foreign)" 0 "$foreign" || exit 1
	within "$name: quenches that came to a connection" "$(of_host $name 'marked + .dropped')" \
		5 "$sent" || exit 1
	within "$name: quenches whose connection ended" "$(of_host $name ended)" 0 "$ended" ||
		exit 1
	within "$name: cuts, and quenches within their windows or ended" \
		"$(of_host $name 'cuts + .within + .ended')" \
		"$(of_host $name 'marked + .dropped')" \
		"$(of_host $name 'marked + .dropped')" || exit 1
	within "$name: malformed quenches" "$(of_host $name malformed)" 0 0 || exit 1
	within "$name: cuts, at most one a connection and round trip" \
		"$(of_host $name 'cuts + .echoes')" \
		1 $((flows * (seconds + 1) * 1000 / rtt_ms)) || exit 1
	# A quench that comes late lets the windows grow meanwhile.
	if ! within "$name: packets lost, of Reno's $(lost reno)" "$(lost $name)" \
		0 $(($(lost reno) - 1)); then
		was_late reno || was_late $name || exit 1
		busy="$busy $name"
	fi
	within "$name: real losses, weir's own" \
		"$(of_cloud $name '.drops["no-buffer"] + .drops["tx-full"] + .drops.removed')" \
		0 0 || exit 1
done
# The echo of a mark comes a round trip after its quench, and must not cut once more for it.
within "ecn-becn: cuts by echoes" "$(of_host ecn-becn echoes)" \
	0 "$(of_host ecn-becn 'within + .losses')" || exit 1
# A machine that is busy in only one of the two runs causes a difference of some 10 %. A host that
# does not grow again after its cuts, or cuts at each quench of a round trip, has less.
least=$(jq -n "$(mbit reno) * 2 / 3")
if ! within "Mbit/s with becn, of Reno's $(mbit reno)" "$(mbit becn)" "$least" 100; then
	clear_counters
	[ "$away" -gt 2000000 ] || exit 1
	skip "the machine is too busy to compare throughput:" \
		"weir had no processor for $((away / 1000000)) ms"
fi
weir_stop
grep -q 'every packet is accounted for' "$work/weir.out" || fail "weir did not add up"
[ -z "$busy" ] || skip "the machine is too busy to compare what is lost with Reno and with$busy"
