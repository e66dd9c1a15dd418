#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   A <--> wa [ clouds down, up: from files ] wb <--> B
#
# Replaces the running scenario: by weir ctl load, and by SIGHUP; weir ctl save writes it. A wrong
# scenario changes nothing; unchanged clouds keep their counters.

. "$(dirname "$0")/topology.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
make_hosts
scenario <<SCENARIO
cloud down delay 20ms
cloud up delay 20ms
SCENARIO
sed -i 's/^seed 1$/seed 42/' "$work/scenario.weir" # the seed of configs/
# nohup makes its children ignore SIGHUP.
weir_by="env --default-signal=HUP"
weir_start "$@"

rtt() # the minimum, in ms: the machine adds to the others
{
	$in_a ping -q -i 0.02 -c 15 10.9.0.2 | sed -n 's|.*= \([0-9.]*\)/.*|\1|p'
}

received() # by a cloud
{
	ctl -j show cloud "$1" | jq .rx_packets
}

config() # what is in force
{
	ctl show config
}

# ---- the running scenario, loaded again ----
within "rtt before" "$(rtt)" 40 300
before=$(received down)
[ "$before" = 15 ] || fail "$before packets came, 15 were sent"
config >"$work/config"
ctl save >"$work/saved" && ctl save "$work/saved-file" >/dev/null
diff "$work/config" "$work/saved" && diff "$work/config" "$work/saved-file" ||
	fail "saved is not what runs"
ctl load "$work/saved-file" >/dev/null
ctl load "$work/scenario.weir" >/dev/null
ctl load - <"$work/scenario.weir" >/dev/null
config | diff "$work/config" - || fail "what runs, loaded, is something else"
[ "$(received down)" = 15 ] || fail "what runs, loaded, has lost its counters"
echo "ok: what runs, loaded again, is as it was"

# ---- another scenario ----
sed 's/down delay 20ms/down delay 70ms/' "$work/scenario.weir" >"$work/other.weir"
ctl load "$work/other.weir" >/dev/null
within "rtt with the other scenario" "$(rtt)" 90 300
# In a cloud that was changed, `achieved` counts from the change on, or from a little later
# (marks.h): on a busy machine the first pings come before that.
ctl -j show cloud down | jq -e '.rx_packets == 30 and .since.what == "change"
	and .since.rx_packets >= 5 and .since.rx_packets <= 15 and .since.delay_ns.min >= 70e6
	and .since.line_ns.p50 >= 70e6 and .delay_ns.min < 70e6' >/dev/null ||
	fail "since the change: $(ctl -j show cloud down | jq -c .since)"
ctl -j show cloud up | jq -e '.since.what == "start" and .since.rx_packets == 30' >/dev/null ||
	fail "since the start: $(ctl -j show cloud up | jq -c .since)"
ctl show cloud down | grep -q 'achieved since the last change, ' || fail "$(ctl show cloud down)"
ctl show cloud down all | grep -q 'achieved since the start, ' || fail "$(ctl show cloud down all)"
echo "ok: achieved since the last change"
[ "$(received up)" = 30 ] || fail "a cloud that did not change has lost its counters"

# ---- files are read with the rights of the client, and relative to its folder ----
mkdir "$work/elsewhere"
echo 1 >"$work/elsewhere/drops.txt"
{
	cat "$work/scenario.weir"
	echo 'cloud down loss list drops.txt'
} >"$work/elsewhere/listed.weir"
(cd "$work/elsewhere" && ctl load listed.weir >/dev/null) ||
	fail "a file of the client's is not taken"
config | grep -q 'loss list drops.txt' || fail "the list is not in force"
ctl load "$work/scenario.weir" >/dev/null
(cd / && ctl load "$work/elsewhere/listed.weir" >/dev/null) ||
	fail "a file beside the scenario is not taken"
config | grep -q 'loss list drops.txt' || fail "the list beside it is not in force"

# ---- errors change nothing ----
config >"$work/config"
refused() # the expected message; the file
{
	if ctl load "$2" >/dev/null 2>"$work/said"; then
		fail "$2 was taken"
	fi
	grep -q "$1" "$work/said" || fail "of $2 was said: $(cat "$work/said")"
	config | diff "$work/config" - || fail "$2 was refused, and changed something"
}
sed 's/up delay/up dealy/' "$work/scenario.weir" >"$work/typo.weir"
refused "typo.weir:[0-9]*:10: .*delay" "$work/typo.weir"
{
	sed 's/seed 42/seed 2/; s/iface=wb/iface=wx/' "$work/scenario.weir"
	echo 'port c device net_null3'
} >"$work/ports.weir"
refused "line 1, seed 2.*line 3, port b.*, port c" "$work/ports.weir"
refused "No such file" "$work/nowhere.weir"
echo "ok: errors change nothing, and name their lines"

# ---- all shipped scenarios, one after the other ---- A saved scenario names files as the loaded
# one did: relative to the scenario's folder, or to the folder where it was loaded.
n=0
for file in "$root"/configs/*.weir; do
	(cd "$root" && ctl load "$file" >/dev/null) || fail "$file was not taken"
	ctl save "$work/back.weir" >/dev/null
	(cd "$root" && ctl load "$work/back.weir" >/dev/null 2>&1) ||
		(cd "$root/configs" && ctl load "$work/back.weir" >/dev/null) ||
		fail "$file, saved, was not taken"
	config | diff "$work/back.weir" - || fail "$file, saved and loaded, is something else"
	n=$((n + 1))
done
[ $n -ge 20 ] || fail "only $n scenarios"
echo "ok: $n scenarios over one another"

# ---- SIGHUP ----
hup_said()
{
	tail -n "+$((lines + 1))" "$work/weir.err" | grep -q "$1"
}

hup() # the expected message
{
	lines=$(wc -l <"$work/weir.err")
	kill -HUP "$weir_pid"
	until_true hup_said "$1" ||
		fail "after SIGHUP weir said: $(tail -n "+$((lines + 1))" "$work/weir.err")"
}
sed -i 's/down delay 20ms/down delay 50ms/' "$work/scenario.weir"
hup "scenario.weir: reloaded, and in force"
within "rtt after SIGHUP" "$(rtt)" 70 300
cp "$work/elsewhere/drops.txt" "$work/beside.txt"
echo 'cloud down loss list beside.txt' >>"$work/scenario.weir"
hup "scenario.weir: reloaded, and in force"
config | grep -q 'loss list beside.txt' || fail "after SIGHUP the list beside it is not in force"
config >"$work/config"
before=$(received down)
cp "$work/typo.weir" "$work/scenario.weir"
hup "scenario.weir:[0-9]*:10: .*delay"
cp "$work/ports.weir" "$work/scenario.weir"
hup "scenario.weir: .*line 1, seed 2"
rm "$work/scenario.weir"
hup "scenario.weir: .*cannot be read"
config | diff "$work/config" - || fail "SIGHUP with a wrong file changed something"
[ "$(received down)" = "$before" ] || fail "SIGHUP with a wrong file touched the counters"
weir_stop
grep -q 'every buffer was returned' "$work/weir.out" || fail "it does not add up"
echo "ok: SIGHUP reads the file again"
