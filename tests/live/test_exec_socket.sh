#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# weir exec -s: the path is changed while the command runs, as root and as an ordinary user. Records
# contain the initial clouds, whatever happens to these; the socket disappears with the command.

. "$(dirname "$0")/topology.sh"
. "$(dirname "$0")/exec_world.sh"

# ---- pings before and after a change, each answered before the next begins
cat >"$work/change.sh" <<END
set -e
ping -n -c 4 -i 0.2 A | grep -c 'time=[2-9][0-9]\.' >&2
"$weir" ctl -s "\$1" cloud down delay 150ms >/dev/null
ping -n -c 4 -i 0.2 A | grep -c 'time=[1-9][0-9][0-9]' >&2
"$weir" ctl -s "\$1" hello | grep -c 'seed 7' >&2
END
it_is_changed_while_it_runs()
{
	folder=$(mktemp -d "$work/at.XXXX")
	chmod 777 "$folder"
	$as "$weir" exec -q --seed 7 delay 10ms -s "$folder/s" --report "$folder/r.json" --between \
		'A: sleep 1000' "B: sh $work/change.sh $folder/s" 2>"$work/err" ||
		fail "$who: $(cat "$work/err")"
	[ "$(grep -c '^[1-4]$' "$work/err")" = 3 ] || fail "$who: $(cat "$work/err")"
	[ "$(jq '.clouds[0].delay_ns.max >= 150000000' "$folder/r.json")" = true ] ||
		fail "$who: not in force"
	[ ! -e "$folder/s" ] || fail "$who: the socket is still there"
}

# ---- the command finds its weir without being told where it is
cat >"$work/inside.sh" <<END
set -e
[ -S "\$WEIR_SOCKET" ]
cd /
"$weir" ctl show config | grep -c 'cloud down delay 10ms' >&2
"$weir" ctl cloud down delay 150ms >/dev/null
"$weir" ctl show config | grep -c 'cloud down delay 150ms' >&2
END
it_is_found_within_the_command()
{
	for option in "" "-s asked"; do
		folder=$(mktemp -d "$work/at.XXXX")
		chmod 777 "$folder"
		(cd "$folder" && $as "$weir" exec -q delay 10ms $option -- sh "$work/inside.sh") \
			2>"$work/err" || fail "$who: $option: $(cat "$work/err")"
		[ "$(cat "$work/err")" = "1
1" ] || fail "$who: $option: $(cat "$work/err")"
		[ ! -e "$folder/asked" ] || fail "$who: the socket is still there"
	done
}

# ---- process namespaces that share a folder have processes of the same number
processes_of_the_same_number_have_a_socket_each()
{
	folder=$(mktemp -d "$work/at.XXXX")
	alone="unshare --pid --fork --mount-proc $weir exec -q delay 1ms --"
	XDG_RUNTIME_DIR=$folder $alone $alone \
		sh -c '[ -S "$WEIR_SOCKET" ] && ls "$XDG_RUNTIME_DIR"' >"$work/out" ||
		fail "$who: one has none: $(cat "$work/out")"
	[ "$(grep -c '^weir-exec-[0-9]*-1\.sock$' "$work/out")" = 2 ] ||
		fail "$who: the sockets: $(cat "$work/out")"
	[ -z "$(ls "$folder")" ] || fail "$who: they leave $(ls "$folder")"
}

# ---- clouds are removed while decisions about them may be on their way to the log
cat >"$work/remove.sh" <<END
set -e
for i in 1 2 3 4 5; do
	ping -n -q -c 20 -i 0.002 A >/dev/null || true
	"$weir" ctl -s "\$1" no cloud up >/dev/null
	"$weir" ctl -s "\$1" cloud up from B to A >/dev/null
	"$weir" ctl -s "\$1" cloud up delay 1ms >/dev/null
done
END
the_record_outlives_its_clouds()
{
	folder=$(mktemp -d "$work/at.XXXX")
	chmod 777 "$folder"
	$as "$weir" exec -q delay 1ms -s "$folder/s" --log "$folder/log" \
		--picture "$folder/p.html" --between \
		'A: sleep 1000' "B: sh $work/remove.sh $folder/s" 2>"$work/err" ||
		fail "$who: $(cat "$work/err")"
	[ "$(cut -d, -f4 "$folder/log" | sort -u | tr '\n' ' ')" = "cloud down up " ] ||
		fail "$who: clouds of the log: $(cut -d, -f4 "$folder/log" | sort -u)"
	[ "$(wc -l <"$folder/log")" -ge 100 ] || fail "$who: the log is short"
	grep -q '</html>' "$folder/p.html" || fail "$who: the picture does not end"
}

# ---- a socket at which another weir answers is not taken over, and the command does not run
a_socket_in_use_is_refused()
{
	folder=$(mktemp -d "$work/at.XXXX")
	chmod 777 "$folder"
	status=0
	$as "$weir" exec -q delay 1ms -s "$folder/s" -- \
		"$weir" exec -q delay 1ms -s "$folder/s" -- touch "$folder/ran" \
		2>"$work/err" || status=$?
	[ $status = 125 ] && grep -q "$folder/s" "$work/err" ||
		fail "$who: $status: $(cat "$work/err")"
	[ ! -e "$folder/ran" ] || fail "$who: it has run"
}

each_user it_is_changed_while_it_runs
each_user it_is_found_within_the_command
each_user the_record_outlives_its_clouds
each_user a_socket_in_use_is_refused
as="" who=root
processes_of_the_same_number_have_a_socket_each
