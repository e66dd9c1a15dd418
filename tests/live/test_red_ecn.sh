#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   A iperf3 client ---> wa [ cloud down 20 Mbit/s, RED 30/90 kB, 5 ms ] wb ---> iperf3 server B
#                   <---    [ cloud up 5 ms                           ]    <---
#                                                          captured at the server's interface
#
# Linux TCP through RED: without ECN it loses packets, with net.ipv4.tcp_ecn=1 and `ecn on` it loses
# none, but slows down: the receiver sees CE and echoes ECE, and the sender answers with CWR. Two
# connections of three seconds in each case.
#
# If the machine stalls for a moment, the queue grows beyond 2 max: `mark-to` makes RED mark capable
# packets there, too. Retransmissions of Linux are not capable. They happen after a loss, of which
# there is none, and as tail loss probes, which are switched off.

. "$(dirname "$0")/topology.sh"
need iperf3 tshark tcpdump
make_hosts
scenario <<SCENARIO
cloud down rate 20mbit queue 1MB
cloud down red min 30kB max 90kB max-p 0.1 weight 0.01 gentle on mean 1500B mark-to 1MB
cloud down ecn on
cloud down delay 5ms
cloud up delay 5ms
SCENARIO

$in_a sh -c 'echo 0 >/proc/sys/net/ipv4/tcp_early_retrans'

ecn() # 0 or 1, in both hosts
{
	$in_a sysctl -qw net.ipv4.tcp_ecn="$1"
	$in_b sysctl -qw net.ipv4.tcp_ecn="$1"
}

# Makes two connections of three seconds, and captures them at the server's interface in
# $work/NAME.pcap.
connect() # name
{
	clear_counters
	: >"$work/tshark.err"
	$in_b tshark -q -i eth0 -s 100 -B 64 -w "$work/$1.pcap" >/dev/null 2>"$work/tshark.err" &
	capture=$!
	until_true said 'Capturing on' "$work/tshark.err" ||
		fail "tshark: $(cat "$work/tshark.err")"
	$in_b iperf3 -s -1 >/dev/null &
	server=$!
	listening
	$in_a iperf3 -c 10.9.0.2 -t 3 -P 2 >"$work/client" 2>&1 ||
		fail "iperf3: $(tail -1 "$work/client")"
	wait $server || fail "the iperf3 server ended with an error"
	# The last packet of the capture, after all packets of the connections.
	until_true $in_a ping -q -c 1 -W 2 10.9.0.2 >/dev/null ||
		fail "no ping behind the connections"
	until_true captured "$1" icmp || fail "tshark does not write what it captures"
	kill -INT $capture
	wait $capture || true
	ctl -j show cloud down >"$work/$1.json"
}

captured() # name filter of tcpdump
{
	$in_b tcpdump -r "$work/$1.pcap" -n "$2" 2>/dev/null | grep -q .
}

packets() # name filter: prints how many packets of the capture match
{
	tshark -r "$work/$1.pcap" -Y "$2" 2>/dev/null | wc -l
}

dropped()
{
	jq '.drops["red-early"] + .drops["red-forced"] + .drops["queue-full"]' "$work/$1.json"
}

real_drops()
{
	jq '.drops["no-buffer"] + .drops["tx-full"] + .drops.removed' "$work/$1.json"
}

measure()
{
	ecn 0
	connect plain
	ecn 1
	connect ecn

	within "packets of plain TCP that RED dropped" "$(dropped plain)" 3 10000 || return 1
	within "packets of plain TCP that were marked" "$(jq .ecn_marked "$work/plain.json")" \
		0 0 || return 1
	within "packets of TCP with ECN that were dropped" "$(dropped ecn)" 0 0 || return 1
	marked=$(jq .ecn_marked "$work/ecn.json")
	within "packets of TCP with ECN that were marked" "$marked" 3 10000 || return 1
	within "CE at the receiver" "$(packets ecn 'ip.dsfield.ecn == 3 && ip.src == 10.9.0.1')" \
		"$marked" "$marked" || return 1
	within "ECE from the receiver, behind its SYN" \
		"$(packets ecn 'tcp.flags.ece == 1 && tcp.flags.syn == 0 && ip.src == 10.9.0.2')" \
		3 100000 || return 1
	within "CWR from the sender, behind its SYN" \
		"$(packets ecn 'tcp.flags.cwr == 1 && tcp.flags.syn == 0 && ip.src == 10.9.0.1')" \
		1 "$marked" || return 1
	# Nothing was lost; a tail loss probe may retransmit a packet that was only late.
	within "retransmissions with ECN" "$(packets ecn 'tcp.analysis.retransmission')" \
		0 10 || return 1
	within "wrong IP checksums" \
		"$(tshark -r "$work/ecn.pcap" -o ip.check_checksum:TRUE \
			-Y 'ip.checksum.status == 0' 2>/dev/null | wc -l)" \
		0 0 || return 1
	within "goodput with ECN in Mbit/s" "$(awk '/SUM.*receiver/ { print $6 }' "$work/client")" \
		17 19.2
}

weir_start --cores "${WEIR_CPU:-$(($(nproc) - 1))}"
undisturbed measure || fail "ECN does not do what it is for"
within "packets lost by weir itself" "$(($(real_drops plain) + $(real_drops ecn)))" 0 0 || exit 1

weir_stop
grep -q 'every packet is accounted for' "$work/weir.out" || fail "weir did not add up"
