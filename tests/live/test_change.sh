#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   A flood of UDP <--> wa [ clouds down, up: changed a hundred times ] wb <--> B
#
# A hundred random changes under load: of delay, jitter, rate and loss, and clouds that are removed
# and added. Each change is accepted, weir itself loses nothing, and everything adds up at the end.

. "$(dirname "$0")/topology.sh"
need iperf3
make_hosts
scenario <<SCENARIO
cloud down delay 20ms
cloud up delay 20ms
SCENARIO

weir_start --cores "${WEIR_CPU:-$(($(nproc) - 1))}" "$@"
$in_b iperf3 -s >/dev/null 2>&1 &
server=$!
listening
$in_a iperf3 -u -c 10.9.0.2 -b 100M -l 1000 -t 60 --bidir >/dev/null 2>&1 &
background="$server $!"
sleep 0.5

seed=4711
random() # N: sets $drawn to 0..N-1
{
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	drawn=$((seed / 65536 % $1))
}

for change in $(seq 100); do
	random 2
	name=down from=a to=b
	[ "$drawn" = 0 ] || name=up from=b to=a
	random 9
	case $drawn in
	0) line="cloud $name delay $((change))ms" ;;
	1) line="cloud $name delay 30ms jitter 5ms distribution normal order keep" ;;
	2) line="cloud $name delay 30ms jitter 5ms order allow" ;;
	3) line="cloud $name rate $((change * 2 + 20))mbit" ;;
	4) line="no cloud $name rate" ;;
	5) line="cloud $name loss random $change%" ;;
	6) line="cloud $name loss every 10 burst 2" ;;
	7) line="no cloud $name loss" ;;
	8) line="no cloud $name" ;;
	esac
	# What is missing cannot be removed; a removed cloud is added again first.
	ctl "cloud $name from $from to $to" >/dev/null 2>&1 || true
	ctl "$line" >"$work/answer" 2>&1 ||
		grep -q 'not-found\|no such\|has no\|not there' "$work/answer" ||
		fail "change $change, $line: $(cat "$work/answer")"
done
kill $background 2>/dev/null || true
background=
within "packets lost by weir itself" \
	"$(ctl -j show cloud |
		jq '[.clouds[].drops | .["no-buffer"] + .["tx-full"] + .removed] | add // 0')" 0 0
weir_stop
grep -q 'every packet is accounted for, every buffer was returned' "$work/weir.out" ||
	fail "it does not add up"
echo "ok: a hundred changes under load"
