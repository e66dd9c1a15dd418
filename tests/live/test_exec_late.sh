#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# weir stands still while a packet is due: everything that it says of the run says how late the
# packet left, and all say the same.

. "$(dirname "$0")/topology.sh"
. "$(dirname "$0")/exec_world.sh"
need tshark python3

LATE_NS=250000000

# Pings once for each file `go` that appears.
cat >"$work/command" <<'END'
cd "$1"
until [ -e end ]; do
	sleep 0.02
	[ ! -e go ] || { rm go; ping -q -c 1 -W 30 192.0.2.1; touch gone; }
done
END

ctl()
{
	"$weir" ctl -s "$work/record/control" "$@"
}

# A packet that has gone before somebody looked is followed by another.
is_held()
{
	[ ! -e "$work/record/gone" ] || { rm "$work/record/gone"; touch "$work/record/go"; }
	[ "$(ctl -j show cloud up 2>/dev/null | jq .held_packets)" = 1 ]
}

is_captured()
{
	ls "$work/record" | grep -q '^sent\.weir-'
}

lateness_ns()
{
	ctl -j show ports | jq '[.ports[] | select(.port == "world") | .lateness_ns.max // 0] | max'
}

# One ping is on its way for a second when weir is stopped, for longer than that. If the machine is
# so slow that the packet has left before, another attempt is made.
stop_for_a_while()
{
	for attempt in 1 2 3 4 5; do
		touch "$work/record/go"
		until_true is_held || fail "$who: no packet is held: $(cat "$work/record/table")"
		kill -STOP "$exec_pid"
		sleep 1.3
		kill -CONT "$exec_pid"
		until_true test -e "$work/record/gone" || fail "$who: no ping came back"
		rm "$work/record/gone"
		[ "$(lateness_ns)" -lt $LATE_NS ] || return 0
	done
	fail "$who: no packet was late: $(ctl show ports)"
}

says() # FILE TEXT...: all in one line
{
	file=$1
	shift
	grep -q "$*" "$work/record/$file" ||
		fail "$who: $file lacks \`$*\`: $(cat "$work/record/$file")"
}

a_packet_that_left_late_is_late_everywhere()
{
	rm -rf "$work/record"
	mkdir -m 777 "$work/record"
	$as "$weir" exec --up 'delay 1s' -s "$work/record/control" \
		--report "$work/record/report" --log "$work/record/log" \
		--pcap "$work/record/pcap" --picture "$work/record/page" -- \
		sh "$work/command" "$work/record" >"$work/out" 2>"$work/record/table" &
	exec_pid=$!
	until_true ctl show cloud up >"$work/out" 2>&1 || fail "$who: $(cat "$work/out")"
	ctl capture up in,sent -o "$work/none" 2>"$work/err" && fail "$who: sent by a cloud?"
	grep -q 'is a point of ports' "$work/err" || fail "$who: $(cat "$work/err")"
	ctl capture world sent -o "$work/record/sent" 2>"$work/err" &
	captures=$!
	until_true is_captured || fail "$who: $(cat "$work/err")"
	stop_for_a_while
	ctl -j show ports >"$work/record/ports"
	ctl -j show cloud up >"$work/record/cloud"
	ctl -j show totals >"$work/record/totals"
	ctl show ports >"$work/record/ports.txt"
	ctl show cloud up >"$work/record/cloud.txt"
	touch "$work/record/end"
	wait "$captures" || fail "$who: $(cat "$work/err")"
	wait "$exec_pid" || fail "$who: $(cat "$work/out" "$work/record/table")"
	tshark -r "$work/record/pcap" -Y icmp.type==8 -T fields -e frame.interface_name \
		-e frame.time_epoch -e icmp.seq -e icmp.ident \
		2>"$work/tshark" >"$work/record/frames" ||
		fail "tshark: $(cat "$work/tshark")"
	tshark -r "$work/record/sent" -Y icmp.type==8 -T fields -e frame.interface_name \
		-e frame.time_epoch -e frame.comment 2>"$work/tshark" >"$work/record/comments" ||
		fail "tshark: $(cat "$work/tshark")"
	python3 "$(dirname "$0")/exec_late.py" "$work/record" $LATE_NS || fail "$who: see above"
	says table 'late  *never  *p50 .*beyond the delay'
	says table 'warning: one packet in a hundred leaves port world .* late or more'
	says ports.txt 'warning: one packet in a hundred leaves port world .* late or more'
	says cloud.txt 'warning: one packet in a hundred leaves port world .* late or more'
	says page '>late<'
}

as="" who=root
a_packet_that_left_late_is_late_everywhere
