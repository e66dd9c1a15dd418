#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# weir exec --record: the recording of a command with real TCP, and with a change during the run,
# can be replayed.

. "$(dirname "$0")/topology.sh"
. "$(dirname "$0")/exec_world.sh"
need jq curl

counts() # in a report
{
	jq -c '[.clouds[] |
		{cloud, rx_packets, tx_packets, tx_bytes, duplicated, drops, delay_ns}]' "$1"
}

# The replay has the same counters as the live run, and every departure was compared.
runs_again() # exec's arguments
{
	rm -rf "$work/record"
	mkdir -m 777 "$work/record"
	$as "$weir" exec -q --record "$work/record/R" --report "$work/record/live" "$@" \
		>"$work/out" 2>"$work/err" || fail "$who: $(cat "$work/out" "$work/err")"
	grep -q "recorded in $work/record/R" "$work/err" || fail "$who: $(cat "$work/err")"
	$as "$weir" replay -q --recording "$work/record/R" --report "$work/record/again" \
		>"$work/said" 2>&1 || fail "$who: $(cat "$work/said")"
	grep -q 'compared: all left at the same nanosecond with the same bytes' "$work/said" ||
		fail "$who: $(cat "$work/said")"
	[ "$(counts "$work/record/live")" = "$(counts "$work/record/again")" ] ||
		fail "$who: $(counts "$work/record/live") live," \
			"$(counts "$work/record/again") again"
}

what_a_command_met_runs_again()
{
	runs_again --seed 3 delay 10ms loss random 10% --between 'A: python3 -m http.server 8000' \
		'B: ping -q -c 20 -i 0.02 A; curl -sf -o /dev/null http://A:8000/; sleep 0.1'
	[ "$(jq '[.clouds[].drops.loss] | add' "$work/record/again")" -gt 0 ] ||
		fail "$who: nothing was lost: $(cat "$work/record/again")"
}

a_change_on_the_way_runs_again()
{
	runs_again -s "$work/record/control" delay 5ms -- sh -c "ping -q -c 5 -i 0.02 192.0.2.1 &&
		$weir ctl -s $work/record/control cloud up delay 30ms &&
		ping -q -c 5 -i 0.02 192.0.2.1; sleep 0.1"
	grep -q ' 1 change,' "$work/said" || fail "$who: $(cat "$work/said")"
	[ "$(jq '.clouds[] | select(.cloud == "up") | .delay_ns.max' "$work/record/again")" \
		-eq 30000000 ] ||
		fail "$who: $(cat "$work/record/again")"
	$as "$weir" diff --json "$work/record/R" --set 'cloud up delay 40ms' >"$work/diff" &&
		fail "$who: a longer delay is no difference"
	[ "$(jq .delays.max_ns "$work/diff")" -eq 35000000 ] || fail "$who: $(cat "$work/diff")"
}

a_folder_that_holds_a_recording_is_refused()
{
	runs_again delay 1ms -- true
	$as "$weir" exec -q --record "$work/record/R" delay 1ms -- true 2>"$work/err" &&
		fail "$who: it was taken"
	grep -q 'the folder holds a recording already' "$work/err" ||
		fail "$who: $(cat "$work/err")"
	$as "$weir" exec -q --snap 96B delay 1ms -- true 2>"$work/err" &&
		fail "$who: a snap of what?"
	grep -q -e '--snap needs --record' "$work/err" || fail "$who: $(cat "$work/err")"
}

# Changes the path whose folder is the first argument, and dumps its flight until all of it is
# later, and packets are in it.
cat >"$work/change.sh" <<END
dump() # name of the dump: prints its end and its begin in seconds, and its packets; or nothing
{
	"$weir" ctl -s "\$folder/control" flight dump "\$folder/\$1" 2>/dev/null |
		sed 's/.*: +\([0-9.]*\) s to +\([0-9.]*\) s: \([0-9]*\) .*/\2 \1 \3/'
}
folder=\$1 n=0
"$weir" ctl -s "\$folder/control" cloud up delay 30ms || exit
until changed=\$(dump first) && [ -n "\$changed" ]; do
	sleep 0.1
done
until echo "\${changed%% *} \$later" | awk '{ exit !(NF == 4 && \$3 > \$1 && \$4 > 0) }'; do
	ping -q -c 40 -i 0.03 192.0.2.1 >/dev/null
	n=\$((n + 1))
	later=\$(dump \$n)
done
mv "\$folder/\$n" "\$folder/F"
END

# The change is older than the flight, so it is in force from the beginning of the flight.
a_flight_of_a_command_runs_again_from_the_middle_on()
{
	rm -rf "$work/record"
	mkdir -m 777 "$work/record"
	$as "$weir" exec -q -s "$work/record/control" --flight 1s delay 5ms loss random 10% -- \
		sh "$work/change.sh" "$work/record" >"$work/out" 2>"$work/err" ||
		fail "$who: $(cat "$work/out" "$work/err")"
	$as "$weir" replay -q --recording "$work/record/F" --report "$work/record/again" \
		>"$work/said" 2>&1 || fail "$who: $(cat "$work/said")"
	grep -q ' 1 change,.* from +[0-9.]* s on;.*all agree' "$work/said" ||
		fail "$who: $(cat "$work/said")"
	[ "$(jq '.clouds[] | select(.cloud == "up") | .delay_ns.min' "$work/record/again")" \
		-eq 30000000 ] ||
		fail "$who: $(cat "$work/record/again")"
	$as "$weir" exec -q --flight 1s delay 1ms -- "$weir" ctl flight dump "$work/record/G" \
		2>"$work/err" || fail "$who: $(cat "$work/err")"
	[ -s "$work/record/G/recording.json" ] || fail "$who: the command has dumped nothing"
}

# A flight takes SIGUSR1 for itself. Without one the signal is the command's.
a_signal_dumps_the_flight_and_does_not_reach_the_command()
{
	rm -rf "$work/record"
	mkdir -m 777 "$work/record"
	: >"$work/err"
	$as "$weir" exec -q -s "$work/record/control" --flight 1s --flight-on none \
		--flight-to "$work/record/F" delay 5ms -- sh -c "
		ping -q -c 100 -i 0.02 192.0.2.1 >/dev/null
		touch $work/record/pinged
		until [ -e $work/record/end ]; do sleep 0.1; done" 2>"$work/err" &
	job=$!
	until_true [ -e "$work/record/pinged" ] ||
		fail "$who: the command did not start: $(cat "$work/err")"
	kill -USR1 $job
	until_true grep -q "flight dumped in $work/record/F" "$work/err" ||
		fail "$who: $(cat "$work/err")"
	touch "$work/record/end"
	status=0
	wait $job || status=$?
	[ $status = 0 ] || fail "$who: the signal has reached the command: $status"
	$as "$weir" replay -q --recording "$work/record/F"-* >"$work/said" 2>&1 ||
		fail "$who: $(cat "$work/said")"

	rm "$work/record/pinged"
	$as "$weir" exec -q delay 5ms -- sh -c "touch $work/record/pinged; exec sleep 1000" &
	job=$!
	until_true [ -e "$work/record/pinged" ] || fail "$who: the command did not start"
	kill -USR1 $job
	status=0
	wait $job || status=$?
	[ $status = 138 ] || fail "$who: status $status, the command's is 138: SIGUSR1"
}

a_record_that_cannot_be_ended_is_said_once_and_with_its_reason()
{
	rm -rf "$work/record"
	mkdir -m 777 "$work/record"
	status=0
	$as "$weir" exec -q --record "$work/record/R" delay 1ms -- rm -r "$work/record/R" \
		2>"$work/err" || status=$?
	[ $status = 125 ] || fail "$who: status $status: $(cat "$work/err")"
	grep -v 'recorded in' "$work/err" >"$work/said" || true
	[ "$(wc -l <"$work/said")" = 1 ] && grep -q outcome.json "$work/said" ||
		fail "$who: $(cat "$work/err")"
}

each_user what_a_command_met_runs_again
each_user a_change_on_the_way_runs_again
each_user a_folder_that_holds_a_recording_is_refused
each_user a_record_that_cannot_be_ended_is_said_once_and_with_its_reason
each_user a_flight_of_a_command_runs_again_from_the_middle_on
each_user a_signal_dumps_the_flight_and_does_not_reach_the_command
