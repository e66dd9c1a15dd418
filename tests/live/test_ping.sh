#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   A 10.9.0.1 -- wa [ cloud down 50 ms, cloud up 50 ms ] wb -- 10.9.0.2 B
#
# ping measures 100 ms and loses nothing, also without hugepages. With a worker per port, and with a
# pipeline of workers, the result is the same.

. "$(dirname "$0")/topology.sh"
make_hosts
scenario <<SCENARIO
cloud down delay 50ms
cloud up delay 50ms
SCENARIO

measure()
{
	$in_a ping -c 20 -i 0.05 -W 2 10.9.0.2 >"$work/ping" || return 1
	grep -q ' 0% packet loss' "$work/ping" || return 1
	within "$1: median round trip in ms" \
		"$(sed -n 's/.*time=\([0-9.]*\) ms/\1/p' "$work/ping" | median)" 99 101
}

across()
{
	undisturbed measure "$1" || fail "$1: $(tail -3 "$work/ping")"
}

cpu=${WEIR_CPU:-$(($(nproc) - 1))}

# A worker's number and its processor differ. weir must report the right processor, since reports of
# a processor that was taken away name it.
for cores in "0,0" "$cpu,0"; do
	weir_start --cores "$cores"
	told=$(ctl -j show workers | jq -r '[.workers[].cpu | tostring] | join(",")')
	[ "$told" = "$cores" ] || fail "--cores $cores: show workers has the processors $told"
	weir_stop
done

weir_start --cores "$cpu"
across "one worker"
weir_stop

weir_start --cores "$cpu" -- --no-huge --no-shconf -m 512
across "no hugepages"
weir_stop

weir_start --cores "$cpu,$cpu"
across "a worker a port, on one processor"
weir_stop

weir_start --cores "$cpu,$cpu,$cpu" --layout pipeline
across "a pipeline on one processor"
weir_stop
