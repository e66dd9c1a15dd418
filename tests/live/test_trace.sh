#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   A iperf3 client ---> wa [ cloud down: a mahimahi LTE trace, 20 ms ] wb ---> iperf3 server B
#                   <---    [ cloud up 20 ms                          ]    <---
#
# Sends more UDP than the trace offers, for ten seconds: the number of packets that arrive is what
# the trace offers in that time, within 3 %. The trace is the first of ../shared/traces, or the
# bundled one.

. "$(dirname "$0")/topology.sh"
need iperf3 awk
root=$(cd "$(dirname "$0")/../.." && pwd)
trace=${WEIR_TRACES:-$root/../shared/traces}/ATT-LTE-driving-2016.down
[ -f "$trace" ] || trace=$root/configs/traces/lte-driving.down
echo "the trace is $(basename "$trace")"
make_hosts
scenario <<SCENARIO
cloud down trace "$trace" format mahimahi loop queue 500pkt
cloud down delay 20ms
cloud up delay 20ms
SCENARIO

cpu=${WEIR_CPU:-$(($(nproc) - 1))}

# Prints the opportunities of the trace between two instants of the run, both in ms.
offered()
{
	awk -v from="$1" -v to="$2" '
		/^[0-9]/ { at[n++] = $1 }
		END {
			for (base = 0; base <= to; base += at[n - 1])
				for (i = 0; i < n; i++)
					count += base + at[i] > from && base + at[i] <= to
			print count
		}' "$trace"
}

# Prints the time since the start of the run, in ms.
run_ms()
{
	echo $(($(date +%s%N) / 1000000 - start_ms))
}

# Reads the counters twice, some 9 s apart, while the queue is never empty. A frame of 1514 bytes
# takes one opportunity. The counters are read at some instant between two known ones, which may be
# far apart on a busy machine: sets NAME, NAME_from and NAME_to.
look() # name
{
	from=$(run_ms)
	ctl -j show cloud down >"$work/look.json"
	to=$(run_ms)
	eval "$1=$(jq .tx_packets "$work/look.json") $1_from=$from $1_to=$to"
}

measure()
{
	$in_b iperf3 -s -1 -J >"$work/server.json" &
	server=$!
	listening
	$in_a iperf3 -c 10.9.0.2 -u -b 30M -l 1472 -t 11 >"$work/client" 2>&1 &
	client=$!
	sleep 1.2
	look first
	sleep 9
	look last
	wait $client || fail "iperf3: $(tail -1 "$work/client")"
	sleep 1
	ctl -j show cloud down >"$work/all.json"
	wait $server || fail "the iperf3 server ended with an error"
	# 20 ms on the line, after the link
	least=$(offered $((first_to - 20)) $((last_from - 20)))
	most=$(offered $((first_from - 20)) $((last_to - 20)))
	received=$(jq '.end.sum.packets - .end.sum.lost_packets' "$work/server.json")
	all=$(jq .tx_packets "$work/all.json")
	within "packets in 9 s of the trace" $((last - first)) \
		"$(awk -v n="$least" 'BEGIN { print 0.97 * n }')" \
		"$(awk -v n="$most" 'BEGIN { print 1.03 * n }')" &&
		within "packets of UDP that iperf3 received, of those that left" "$received" \
			"$(awk -v n="$all" 'BEGIN { print 0.97 * n - 30 }')" "$all"
}

weir_start --cores "$cpu"
# The run began a moment ago, since weir's message is polled every 50 ms. At some 500 packets a
# second an error of 50 ms is half a percent of 9 s.
start_ms=$(($(date +%s%N) / 1000000 - 30))
undisturbed measure || fail "what arrives is not what the trace offers"

ctl -j show cloud down >"$work/down.json"
within "packets lost by weir itself" \
	"$(jq '.drops["no-buffer"] + .drops["tx-full"] + .drops.removed' "$work/down.json")" 0 0

weir_stop
grep -q 'every packet is accounted for' "$work/weir.out" || fail "weir did not add up"
