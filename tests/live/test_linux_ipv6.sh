#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   A iperf3 client --- wa [ cloud down: 20 Mbit/s, marks above 30 packets, BECN; 20 ms ]
#     wb --- iperf3 server B
#     weir-host      <---------- ICMPv6 type 200
#                          [ cloud up: 20 ms                                        ]
#
# The same over IPv6: weir-host recognises weir's quenches, and each of them reaches its connection.
# The queue drops packets that are not ECN-capable: neighbour discovery and, in a TCP connection
# with ECN, acknowledgements without data, retransmissions and FINs. They have their own cloud.

. "$(dirname "$0")/topology.sh"
. "$(dirname "$0")/linux_host.sh"
need iperf3
host_can ecn-becn
make_hosts

address() # namespace address
{
	ip netns exec "$1" sysctl -qw net.ipv6.conf.eth0.disable_ipv6=0 ||
		skip "this kernel has no IPv6"
	ip netns exec "$1" ip addr add "$2/64" dev eth0 nodad || skip "this kernel has no IPv6"
}

mac() # namespace
{
	ip netns exec "$1" cat /sys/class/net/eth0/address
}

address A 2001:db8:9::1
address B 2001:db8:9::2
$in_a ip neigh replace 2001:db8:9::2 lladdr "$(mac B)" dev eth0
$in_b ip neigh replace 2001:db8:9::1 lladdr "$(mac A)" dev eth0
$in_a sysctl -qw net.ipv4.tcp_ecn=1
$in_b sysctl -qw net.ipv4.tcp_ecn=1
scenario <<SCENARIO
cloud down hop 192.0.2.1 2001:db8:ff::1
cloud down rate 20mbit queue 1000pkt
cloud down mark above 30pkt
cloud down ecn on
cloud down becn
cloud down delay 20ms
cloud unmarkable from a to b priority 50 match ip6[1] & 0x30 = 0
cloud unmarkable delay 20ms
cloud up delay 20ms
SCENARIO
weir_start --cores "${WEIR_CPU:-$(($(nproc) - 1))}" $resting
host_start ecn-becn -i eth0
$in_b iperf3 -s -1 >/dev/null &
server=$!
listening
$in_a iperf3 -6 -c 2001:db8:9::2 -C weir_ecn_becn -t 5 >"$work/client" 2>&1 ||
	fail "iperf3: $(tail -3 "$work/client")"
wait $server || fail "the iperf3 server ended with an error"
sent=$(ctl -j show cloud down | jq .becn_sent)
quenches_came()
{
	host_totals >"$work/host"
	[ "$(jq '.marked + .stale + .foreign' "$work/host")" -ge "$sent" ]
}
until_true quenches_came || echo "not all quenches have come"
within "quenches sent" "$sent" 2 100000 || exit 1
within "quenches that came: marked, stale and foreign" \
	"$(jq '.marked + .stale + .foreign' "$work/host")" \
	"$sent" "$sent" || exit 1
within "stale ones" "$(jq .stale "$work/host")" 0 $((sent / 2)) || exit 1
# On a busy machine, a quench about the last packets finds the connection closed.
within "foreign ones" "$(jq .foreign "$work/host")" 0 $((sent / 2)) || exit 1
within "malformed ones" "$(jq .malformed "$work/host")" 0 0 || exit 1
within "cuts by them" "$(jq .cuts "$work/host")" 1 "$sent" || exit 1
within "packets lost" "$(ctl -j show cloud down | jq '[.drops[]] | add')" 0 0 || exit 1
host_stop weir_ecn_becn
weir_stop
grep -q 'every packet is accounted for' "$work/weir.out" || fail "weir did not add up"
