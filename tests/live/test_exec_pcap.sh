#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# weir exec --pcap, checked with tshark: the packets at each end of the path, as many as weir
# counts. At the other end they appear later by at least the delay.

. "$(dirname "$0")/topology.sh"
. "$(dirname "$0")/exec_world.sh"
need tshark python3

# Prints a line per frame, with columns separated by tabs.
fields() # NAME... of tshark
{
	set -- $(printf ' -e %s' "$@")
	tshark -r "$work/record/pcap" -o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE \
		-T fields "$@" 2>"$work/tshark" >"$work/fields" ||
		fail "tshark: $(cat "$work/tshark")"
}

capture() # exec's arguments
{
	rm -rf "$work/record"
	mkdir -m 777 "$work/record"
	$as "$weir" exec -q --pcap "$work/record/pcap" --report "$work/record/report" "$@" \
		>"$work/out" 2>"$work/err" || fail "$who: $(cat "$work/out" "$work/err")"
	! grep -q lacks "$work/err" || fail "$who: $(cat "$work/err")"
}

counted() # CLOUD FIELD
{
	jq ".clouds[] | select(.cloud == \"$1\") | .$2" "$work/record/report"
}

seen() # INTERFACE DIRECTION: 1 in, 2 out, as seen by the host there
{
	awk -F '\t' -v i="$1" -v d="$2" '$1 == i && $2 % 4 == d { n++ } END { print n + 0 }' \
		"$work/directions"
}

counts_agree() # COMMAND'S-PORT FAR-PORT
{
	fields frame.interface_name frame.packet_flags_direction
	awk -F '\t' -v OFS='\t' '{ sub(/^0x0*/, "", $2); print }' "$work/fields" >"$work/directions"
	for row in "$1 2 up rx" "$2 1 up tx" "$2 2 down rx" "$1 1 down tx"; do
		set -- "$1" "$2" $row
		[ "$(seen "$3" "$4")" = "$(counted "$5" "$6_packets")" ] ||
			fail "$who: $3, direction $4: $(seen "$3" "$4") frames," \
				"and $5 counts $(counted "$5" "$6_packets")"
	done
}

pings_are_there_twice_a_delay_apart()
{
	before=$(date +%s.%N)
	capture --seed 3 delay 40ms loss random 20% duplicate 10% -- \
		sh -c 'ping -q -c 40 -i 0.02 192.0.2.1; sleep 0.3'
	after=$(date +%s.%N)
	counts_agree command world
	[ "$(counted up rx_packets)" -ge 40 ] && [ "$(counted up drops.loss)" -gt 0 ] ||
		fail "$who: nothing was lost: $(cat "$work/record/report")"
	fields frame.interface_name frame.time_epoch icmp.type icmp.ident icmp.seq
	python3 - "$work/fields" "$before" "$after" <<'END' || fail "$who: the times"
import decimal, sys
sent, delays, times = {}, [], []
before, after = map(decimal.Decimal, sys.argv[2:])
for line in open(sys.argv[1]):
    end, time, kind, ident, seq = line.rstrip("\n").split("\t")
    time = decimal.Decimal(time)
    times.append(time)
    if not kind:
        continue
    packet = kind, ident, seq
    if (end == "command") == (kind == "8"):
        # A request that was duplicated is answered twice; both answers count from the first.
        sent.setdefault(packet, time)
    else:
        delays.append(time - sent[packet])
assert times == sorted(times), "not in the order of time"
assert before < times[0] and times[-1] < after, (before, times[0], times[-1], after)
assert len(delays) > 40 and min(delays) >= decimal.Decimal("0.040"), sorted(delays)[:5]
# Late by what a busy machine makes of it; the bound tells once from twice.
assert min(delays) < decimal.Decimal("0.079"), sorted(delays)[:5]
END
}

# A tap hands over super-frames and leaves checksums unfinished; neither may appear on the path.
tcp_is_whole_frames_with_right_sums()
{
	capture delay 1ms --between 'A: python3 -c "import socket
s = socket.create_server((\"A\", 7007)).accept()[0]
while s.recv(65536): pass"' 'B: python3 -c "import socket, time
s = socket.create_connection((\"A\", 7007))
s.sendall(bytes(2000000)); s.shutdown(1); s.recv(1); time.sleep(0.3)"'
	counts_agree B A
	fields frame.len tcp.checksum.status ip.checksum.status
	awk -F '\t' '$1 > 1514 || $2 ~ /0/ || $3 ~ /0/ { bad++ } $1 == 1514 { whole++ }
		END { exit bad > 0 || whole < 1000 }' "$work/fields" ||
		fail "$who: $(sort "$work/fields" | uniq -c)"
}

what_is_read_while_it_runs_comes_by_a_pipe()
{
	$as "$weir" exec -q delay 1ms --pcap - -- \
		sh -c 'ping -q -c 3 -i 0.1 198.18.0.1 >/dev/null' |
		tshark -r - -Y icmp 2>"$work/tshark" >"$work/out"
	[ "$(wc -l <"$work/out")" = 12 ] || fail "$who: $(cat "$work/out" "$work/tshark")"
}

each_user pings_are_there_twice_a_delay_apart
if [ -e /etc/hosts ]; then
	each_user tcp_is_whole_frames_with_right_sums
else
	echo "there is no /etc/hosts, where the names of two commands go: not tried"
fi
each_user what_is_read_while_it_runs_comes_by_a_pipe
