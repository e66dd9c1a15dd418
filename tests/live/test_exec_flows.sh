#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# `keyed flow`: two connections lose, duplicate and corrupt the same packets in every run, however
# busy the machine is and however they mix, and the same ones in a replay of other instants.

. "$(dirname "$0")/topology.sh"
need python3
[ -c /dev/net/tun ] || skip "there is no /dev/net/tun"

flows="python3 $(dirname "$(realpath "$0")")/exec_flows.py"
cat >"$work/keyed.weir" <<'END'
seed 9
port a
port b
cloud down from a to b
cloud up from b to a
cloud up loss gilbert-elliott p 10% r 40% keyed flow
cloud up duplicate random 10% keyed flow
cloud up corrupt checksum udp probability 10% keyed flow
cloud up rate 20mbit queue 10MB
cloud up delay 5ms jitter 2ms order allow keyed flow
END

# The second and third run are beside more busy processes than there are processors.
background=
for run in 1 2 3; do
	if [ $run = 2 ]; then
		for i in 1 2 3 4; do
			nice -n 15 sh -c 'while :; do :; done' &
			background="$background $!"
		done
	fi
	"$WEIR" exec -q -c "$work/keyed.weir" --between "A: $flows receive $work/live.$run" \
		"B: $flows send A $run $work/addresses" || fail "run $run failed"
done
$flows offline "$work" "$WEIR" || fail "the runs and a replay differ"
