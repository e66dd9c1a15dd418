#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   A -- wa [ clouds down, up ] wb -- B          weir ctl, nc and others at the control socket
#
# Who may connect, what weir answers, and that no client of the socket affects the packets.

. "$(dirname "$0")/topology.sh"
need python3 cmp
make_hosts
scenario <<SCENARIO
cloud down delay 5ms
cloud down loss random 0%
cloud up delay 5ms
SCENARIO
cpu=${WEIR_CPU:-$(($(nproc) - 1))}
weir_start --cores "$cpu" $resting

# answers STATUS WORDS command...: weir ctl must end with the status, and its output must match
# WORDS
answers()
{
	expected=$1
	words=$2
	shift 2
	status=0
	"$@" >"$work/answer" 2>&1 || status=$?
	[ "$status" = "$expected" ] ||
		fail "$*: status $status, not $expected: $(cat "$work/answer")"
	grep -q -- "$words" "$work/answer" || fail "$*: no '$words' in: $(cat "$work/answer")"
	echo "ok: $(tail -1 "$work/answer" | cut -c 1-120)"
}

# ---- the socket
[ "$(stat -c %a "$socket")" = 660 ] || fail "the socket has mode $(stat -c %a "$socket")"
answers 2 "in use by pid $weir_pid (weir)" "$WEIR" run -c "$work/scenario.weir" -s "$socket"
answers 2 "weir run -c FILE" "$WEIR" ctl -s "$work/nowhere" show config
answers 2 "either -f FILE or a command" "$WEIR" ctl -s "$socket" -f x show
if command -v setpriv >/dev/null; then
	chmod 711 "$work"
	answers 2 "permission denied (mode 0660, owner root" \
		setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$WEIR" ctl -s "$socket" show config
fi

# ---- single commands
answers 0 '^ok$' ctl cloud down delay 6ms
answers 1 'did you mean `down`' ctl show cloud dwon
answers 1 'has no unit' ctl cloud down delay 6
answers 1 '"column":18' ctl -j cloud down delay 6
answers 0 'achieved' ctl show cloud down
shows() # FILTER command...: the JSON answer must satisfy jq's filter
{
	filter=$1
	shift
	ctl -j "$@" >"$work/answer" || fail "$*: $(cat "$work/answer")"
	[ "$(jq "$filter" "$work/answer")" = true ] || fail "$*: not $filter: $(cat "$work/answer")"
}
shows '.cloud == "down" and .delay_ns.p50 == 0 and .lateness_ns == null' show cloud down
shows '.ok and (.clouds | map(.cloud) == ["down", "up"])' show cloud
shows '.ok and (.ports | map(.port) == ["a", "b"])' show ports
shows '.ok and (.workers | length == 1)' show workers
shows '.ok and (.config | contains("cloud down delay 6ms"))' show config
shows '.ok' clear counters
echo "ok: JSON"

# ---- a change keeps packets in flight: 500 ms become 1 ms while pings are on their way
# They go on until then, however long a look takes. A counts its replies: ping waits for the last
# one only twice as long as the others took. On a busy machine that may be too short, although the
# reply comes.
replies() # prints how many have come to A so far
{
	$in_a awk '/^Icmp:/ {
		if (at)
			print $at
		for (i = 1; i <= NF && !at; i++)
			if ($i == "InEchoReps")
				at = i
	}' /proc/net/snmp
}
have_come()
{
	[ "$(replies)" = "$1" ]
}
are_on_their_way()
{
	ctl -j show cloud down | jq -e '.held_packets > 0' >/dev/null
}
ctl cloud down delay 500ms >/dev/null
before=$(replies)
$in_a ping -q -i 0.02 -W 20 10.9.0.2 >"$work/ping" &
background=$!
until_true are_on_their_way || fail "no ping is on its way"
ctl cloud down delay 1ms >/dev/null
kill -INT $background
wait $background || true
background=
sent=$(sed -n 's/ packets transmitted.*//p' "$work/ping")
until_true have_come $((before + sent)) ||
	fail "the change lost packets in flight: $(cat "$work/ping")"
echo "ok: a change keeps the packets in flight"

# ---- batches
printf 'cloud up delay 7ms\n\ncloud up los random 1%%\ncloud down delay 7\n' >"$work/wrong"
ctl show config >"$work/before"
answers 1 "$work/wrong:3:10: unknown word" ctl -f "$work/wrong"
grep -q "$work/wrong:4:18: " "$work/answer" || fail "only the first error was told"
ctl show config | cmp - "$work/before" || fail "a batch that was wrong changed something"
printf 'cloud up delay 7ms\nno cloud down loss\ncloud down rate 10mbit' >"$work/right"
answers 0 '^ok$' ctl -f - <"$work/right"
ctl show config | grep -q '^cloud down rate 10mbit$' || fail "the batch was not executed"
printf 'cloud up delay 9ms\nevents from oldest\nsample 100ms\nhello\ncloud up nonsense\n' \
	>"$work/wrong"
ctl show config >"$work/before"
answers 2 "$work/wrong:2:1: events is not a change: its lines would come between" \
	ctl -f "$work/wrong"
grep -q "$work/wrong:3:1: sample is not a change: " "$work/answer" || fail "sample was taken"
grep -q "$work/wrong:4:1: hello is not a change; " "$work/answer" || fail "hello was taken"
ctl show config | cmp - "$work/before" || fail "a batch with events changed something"
answers 2 'does not belong in a file' sh -c "echo commit | '$WEIR' ctl -s '$socket' -f -"
answers 1 'line 2: x: ' sh -c \
	"printf 'cloud up delay 8ms\nshow cloud x\nclear counters\n' | '$WEIR' ctl -s '$socket'"

# ---- files: another user's are read with that user's rights, and root's are not readable then
if command -v setpriv >/dev/null; then
	as_nobody()
	{
		(cd "$work/nobody" && setpriv --reuid 65534 --regid 65534 --clear-groups \
			"$WEIR" ctl -s "$socket" "$@")
	}
	mkdir "$work/nobody"
	chmod 711 "$work"
	chmod 666 "$socket"
	printf '3\n8\n' >"$work/nobody/his"
	printf 'hush\n' >"$work/nobody/wrong"
	printf '3\n' >"$work/nobody/roots"
	chmod 755 "$work/nobody"
	chmod 600 "$work/nobody/roots"
	answers 0 '^ok$' as_nobody cloud up loss list his
	answers 1 'wrong:1: `...` is not the number of a packet' as_nobody cloud up loss list wrong
	answers 1 'did not come with the line' as_nobody cloud up loss list roots
	printf 'cloud up loss list his\ncloud down loss list his\n' >"$work/nobody/batch"
	answers 0 '^ok$' as_nobody -f batch
	answers 0 '^ok$' as_nobody no cloud up loss
	answers 0 '^ok$' as_nobody no cloud down loss
	chmod 660 "$socket"
	echo "ok: files"
fi

# ---- bad clients: seventeen at once, lines without end, answers that nobody reads
python3 - "$socket" <<'PYTHON' || fail "the socket is not bounded"
import socket, sys, time

def connect():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.settimeout(60)
    s.connect(sys.argv[1])
    return s

def line(s):
    text = b""
    while not text.endswith(b"\n"):
        text += s.recv(1)
    return text.decode()

clients = [connect() for _ in range(16)]
for s in clients:
    s.sendall(b"clear counters\n")
    assert line(s) == "ok\n"
extra = connect()
assert line(clients[0]).startswith("err server: this client was silent for longest"), \
    "the longest silent one"
assert clients[0].recv(1) == b""
clients[0] = extra
clients[0].sendall(b"x" * 1000000 + b"\nclear counters\n")
assert line(clients[0]).startswith("err line: longer than 65536 bytes")
assert line(clients[0]) == "ok\n"
slow = clients[1]
slow.settimeout(0.5)
sent = 0
try:
    while sent < 100e6:
        sent += slow.send(b"show cloud\n" * 1000)
except TimeoutError:
    pass
assert sent < 10e6, "reads on from who does not read"
clients[2].sendall(bytes(range(1, 256)) * 10 + b"\nquit\n")
while clients[2].recv(65536):
    pass
PYTHON
before=$(replies)
$in_a ping -q -c 5 -i 0.05 -W 20 10.9.0.2 >"$work/ping" || true
until_true have_come $((before + 5)) || fail "no ping any more: $(cat "$work/ping")"
echo "ok: bounded"

# ---- the output of show config makes the same weir
ctl show config >"$work/config"
weir_stop
cp "$work/config" "$work/scenario.weir"
weir_start --cores "$cpu" $resting
ctl show config | cmp - "$work/config" || fail "show config is not the same after a start with it"
weir_stop
[ ! -e "$socket" ] || fail "the socket was left behind"
echo "ok: show config, weir run -c, show config: identical"
