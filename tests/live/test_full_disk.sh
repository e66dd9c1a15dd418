#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
#   A -- wa [ cloud down ] ---> file:,out=back.pcap on a disk of 256 KiB
#
# The disk is full, then has room, then is full again. weir reports both at once, and counts the
# lost packets as `not written` and as nothing else. The written ones are kept, in a file that
# capture readers can read. The same holds for a file size limit. A replay onto a full disk leaves
# nothing and reports it.

. "$(dirname "$0")/topology.sh"
need tcpdump iperf3 python3
make_hosts
mkdir "$work/disk"
mount -t tmpfs -o size=256k none "$work/disk"
{
	echo 'port a device net_af_packet0,iface=wa'
	echo "port b device file:,out=$work/disk/back.pcap"
	echo 'cloud down from a to b'
} >"$work/scenario.weir"

flood() # hundredths of a second
{
	$in_a python3 - "$1" <<'PYTHON'
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(int(sys.argv[1])):
    for _ in range(20):
        s.sendto(bytes(1400), ("10.9.0.2", 9))
    time.sleep(0.01)
PYTHON
}

not_written()
{
	ctl -j show ports | jq '.ports[1].not_written'
}

# All packets so far are in the file, counted, or kept until there is room: the thread that writes
# has nothing to do. Ten samples are a second in which weir runs, whatever the machine does.
settled()
{
	counted=$(not_written)
	ctl -j sample 100ms | head -n 11 >/dev/null
	[ "$(not_written)" = "$counted" ]
}

is_said() # words, number of times
{
	until_true said "$1" "$work/weir.err" "$2" &&
		[ "$(grep -c "$1" "$work/weir.err")" = "$2" ] ||
		fail "\`$1\` was not said $2 times: $(cat "$work/weir.err")"
}

# Checks that every frame that was handed to the port is in the file or counted, and that the file
# is complete.
check_file() # the file
{
	tcpdump -r "$1" -n >"$work/read" 2>"$work/tcpdump" || fail "$(cat "$work/tcpdump")"
	grep -q truncated "$work/tcpdump" && fail "it ends within a frame"
	written=$(wc -l <"$work/read")
	if command -v capinfos >/dev/null; then
		capinfos "$1" >/dev/null 2>"$work/capinfos" || fail "$(cat "$work/capinfos")"
	fi
	sent=$(cell port b sent)
	lost=$(cell port b 'not written')
	[ "$sent" -gt 0 ] || fail "nothing was sent: $(cat "$work/weir.out")"
	[ $((written + lost)) = "$sent" ] ||
		fail "$sent frames were sent, $written are in the file," \
			"$lost are said to be missing"
	own=$(sed -n "s/^real losses, weir's own: .*not-written //p" "$work/weir.out" | tr -d ,)
	[ "$own" = "$lost" ] ||
		fail "weir's own losses are not its own: $(grep '^real losses' "$work/weir.out")"
	grep -q "port b: $1: $lost frames are missing in it" "$work/weir.err" ||
		fail "the end does not say what is missing: $(cat "$work/weir.err")"
	echo "ok: $sent frames sent, $written in the file, $lost counted as not written"
}

weir_status=1
weir_start --cores "${WEIR_CPU:-$(($(nproc) - 1))}" $resting
flood 150
is_said 'port b: .*/disk/back.pcap cannot be written: No space left on device' 1
[ "$(not_written)" -gt 0 ] || fail "nothing is counted"
ctl show ports | grep -q 'warning: port b: .* packets could not be written to its file' ||
	fail "show ports does not say it"
ctl -j show cloud down | jq -e '[.drops // {} | .. | numbers] | add // 0 | . == 0' >/dev/null ||
	fail "the cloud counts the loss as its own"

# The disk has room again.
until_true settled || fail "what is not written never ends"
before=$(not_written)
mount -o remount,size=64m "$work/disk"
is_said 'port b: .* can be written again; [0-9]* frames are missing in it' 1
flood 50
sleep 0.3
[ "$(not_written)" = "$before" ] || fail "frames are lost although there is room"

# The disk is full again, which is reported once more. Only the file itself fills the disk.
used=$(du -k "$work"/disk/* | awk '{ print $1 }')
mount -o remount,size=$((used + 64))k "$work/disk"
flood 250
is_said 'cannot be written: No space left on device' 2
weir_stop
check_file "$work/disk/back.pcap"
[ "$(ls "$work/disk")" = back.pcap ] || fail "something else was left: $(ls "$work/disk")"
umount "$work/disk"

# A file size limit, whose signal would kill weir by default.
sed -i "s,$work/disk,$work," "$work/scenario.weir"
with_small_files()
{
	ulimit -f 200 # of 512 bytes or of 1,024
	exec "$@"
}
weir_by=with_small_files
weir_start --cores "${WEIR_CPU:-$(($(nproc) - 1))}"
weir_by=
flood 150
is_said 'port b: .*back.pcap cannot be written: File too large' 1
weir_stop
check_file "$work/back.pcap"

# A disk that is full from the start: weir refuses to run, and leaves nothing.
mount -t tmpfs -o size=4k none "$work/disk"
head -c 4096 /dev/zero >"$work/disk/full" || true
sed -i "s,out=.*,out=$work/disk/new.pcap," "$work/scenario.weir"
status=0
"$WEIR" run -c "$work/scenario.weir" -s "$socket" >/dev/null 2>"$work/weir.err" || status=$?
[ "$status" = 2 ] || fail "a disk that is full from the start: status $status"
grep -q 'scenario.weir:2:15: port b: .*/new.pcap: cannot be written: No space left' \
	"$work/weir.err" ||
	fail "$(cat "$work/weir.err")"
[ "$(ls "$work/disk")" = full ] || fail "a file was left: $(ls "$work/disk")"
echo "ok: $(tail -1 "$work/weir.err")"

# A replay can be repeated, so its outputs are all written or none. Checks each output alone.
printf 'port a\nport b\ncloud down from a to b\n' >"$work/replay.weir"
for output in --out --report --log --picture; do
	case $output in
	--out) set -- --out "b=$work/disk/x" ;;
	*) set -- --out "b=$work/whole" "$output" "$work/disk/x" ;;
	esac
	status=0
	"$WEIR" replay -c "$work/replay.weir" --in "a=$work/back.pcap" "$@" >"$work/weir.out" \
		2>"$work/weir.err" || status=$?
	[ "$status" = 1 ] || [ "$status" = 2 ] || fail "replay $*: status $status"
	grep -q 'disk/x: .*No space left on device' "$work/weir.err" ||
		fail "replay $*: $(cat "$work/weir.err")"
	[ "$(ls "$work/disk")" = full ] || fail "replay $*: a file was left: $(ls "$work/disk")"
	[ ! -e "$work/whole" ] || fail "replay $*: half of the outputs appeared"
	echo "ok: replay $output: $(tail -1 "$work/weir.err")"
done
"$WEIR" replay -c "$work/replay.weir" --in "a=$work/back.pcap" --out b=- >/dev/full \
	2>"$work/weir.err" && fail "a replay into /dev/full ends with status 0"
grep -q 'No space left on device' "$work/weir.err" || fail "$(cat "$work/weir.err")"
umount "$work/disk"
