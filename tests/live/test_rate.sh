#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   A iperf3 client ---> wa [ cloud down 100 Mbit/s, 5 ms ] wb ---> iperf3 server B
#                   <---    [ cloud up 5 ms               ]    <---
#
# Ten seconds of Linux TCP; after five the rate is changed to 50 Mbit/s. The goodput is what the
# rate allows, before and after; the change loses nothing, and the connection survives.

. "$(dirname "$0")/topology.sh"
need iperf3
make_hosts
scenario <<SCENARIO
cloud down rate 100mbit queue 250kB
cloud down delay 5ms
cloud up delay 5ms
SCENARIO

cpu=${WEIR_CPU:-$(($(nproc) - 1))}

# Prints the mean of the receiver's seconds FROM to TO, in bit/s.
received()
{
	jq "[.intervals[$1:$2][].sum.bits_per_second] | add / length" "$work/server.json"
}

# A frame of 1514 bytes carries 1448 of payload: 1500 of MTU less 20 IP, 20 TCP, 12 time stamps.
measure()
{
	ctl cloud down rate 100mbit queue 250kB >/dev/null
	$in_b iperf3 -s -1 -J >"$work/server.json" &
	server=$!
	listening
	: >"$work/client"
	$in_a iperf3 -c 10.9.0.2 -t 10 -i 1 --forceflush >"$work/client" 2>&1 &
	client=$!
	until_true said '[0-9]  *sec .*bits/sec' "$work/client" 5 ||
		fail "iperf3: $(cat "$work/client")"
	ctl cloud down rate 50mbit queue 250kB >/dev/null
	wait $client || fail "iperf3: $(tail -1 "$work/client")"
	wait $server || fail "the iperf3 server ended with an error"
	if grep -q reset "$work/client"; then
		fail "the connection was reset"
	fi
	# The first second is slow start, and the change is in the sixth.
	within "goodput at 100 Mbit/s" "$(received 1 5)" \
		"$(echo | awk '{ print 0.97 * 100e6 * 1448 / 1514 }')" \
		"$(echo | awk '{ print 1.03 * 100e6 * 1448 / 1514 }')" &&
		within "goodput at 50 Mbit/s" "$(received 6 10)" \
			"$(echo | awk '{ print 0.97 * 50e6 * 1448 / 1514 }')" \
			"$(echo | awk '{ print 1.03 * 50e6 * 1448 / 1514 }')"
}

weir_start --cores "$cpu"
undisturbed measure || fail "goodput is not what the rate allows"

ctl -j show cloud down >"$work/down.json"
within "packets lost by weir itself" \
	"$(jq '.drops["no-buffer"] + .drops["tx-full"] + .drops.removed' "$work/down.json")" 0 0

weir_stop
grep -q 'every packet is accounted for' "$work/weir.out" || fail "weir did not add up"
