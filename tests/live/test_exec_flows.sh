#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# `keyed flow`: two connections lose, duplicate and corrupt the same packets in every run, however
# busy the machine is and however they mix, and the same ones in a replay of other instants. `keyed
# connection`: so they do from ports that the kernel chooses.

. "$(dirname "$0")/topology.sh"
need python3
[ -c /dev/net/tun ] || skip "there is no /dev/net/tun"

flows="python3 $(dirname "$(realpath "$0")")/exec_flows.py"
for by in flow connection; do
	cat >"$work/$by.weir" <<END
seed 9
port a
port b
cloud down from a to b
cloud up from b to a
cloud up loss gilbert-elliott p 10% r 40% keyed $by
cloud up duplicate random 10% keyed $by
cloud up corrupt checksum udp probability 10% keyed $by
cloud up rate 20mbit queue 10MB
cloud up delay 5ms jitter 2ms order allow keyed $by
END
done

run() # BY NUMBER
{
	"$WEIR" exec -q -c "$work/$1.weir" --between "A: $flows receive $work/$1.$2" \
		"B: $flows send A $1 $2 $work/addresses" || fail "a run by $1 failed"
}

run flow 1
run connection 1
# The others are beside more busy processes than there are processors.
background=
for i in 1 2 3 4; do
	nice -n 15 sh -c 'while :; do :; done' &
	background="$background $!"
done
run flow 2
run connection 2
for by in flow connection; do
	$flows offline "$work" "$WEIR" $by || fail "by $by, the runs and a replay differ"
done
