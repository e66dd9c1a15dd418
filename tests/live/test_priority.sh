#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# How workers sleep and with what priority, chosen by weir or by the user: as the kernel has it, of
# every thread. The command of weir exec has none of it; and a worker that always has something to
# do leaves its processor to others.

. "$(dirname "$0")/topology.sh"
need setpriv setcap prlimit taskset python3
make_hosts
weir_for_all
here=$(cd "$(dirname "$0")" && pwd)
cp "$here/threads.py" "$work/"
mkdir "$work/theirs"
chmod 777 "$work/theirs"
user="setpriv --reuid 65534 --regid 65534 --clear-groups"

ports() # device, device
{
	printf '%s\n' 'seed 1' "port a device $1" "port b device $2" \
		'cloud down from a to b' 'cloud up from b to a' 'cloud down delay 1ms' \
		>"$work/scenario.weir"
}

threads()
{
	python3 "$work/threads.py" "$weir_pid" >"$work/threads"
}

# Checks the scheduling of the workers, that no other thread has any, and what weir says of it.
workers() # what, policy and level, words that weir says
{
	threads
	others=$(grep -v worker "$work/threads" | grep -vc ' other 0 ' || true)
	[ "$others" = 0 ] || fail "$1: threads that are no workers: $(cat "$work/threads")"
	grep -q "worker[^ ]* $2" "$work/threads" ||
		fail "$1: no worker is '$2': $(cat "$work/threads")"
	said "$3" "$work/weir.err" || fail "$1: it does not say: $3"
	echo "ok: $1: $2"
}

alike() # what, policy and level, words, arguments of weir run
{
	what=$1 policy=$2 words=$3
	shift 3
	weir_start "$@"
	workers "$what" "$policy" "$words"
	weir_stop
	[ "$failed" = 0 ] || fail "$what: it did not end well"
}

refused() # words, arguments of weir run
{
	words=$1
	shift
	status=0
	${weir_by:-} "$WEIR" run -c "$work/scenario.weir" -s "$socket" "$@" >"$work/weir.out" \
		2>"$work/weir.err" || status=$?
	[ "$status" = 2 ] || fail "$*: status $status instead of 2"
	said "$words" "$work/weir.err" || fail "$*: it does not say: $words"
	echo "ok: refused: $*"
}

failed=0
slices=$(python3 - <<'END'
import ctypes, os, struct
number = {"x86_64": 314, "aarch64": 274}[os.uname().machine]
libc = ctypes.CDLL(None)
own = ctypes.create_string_buffer(struct.pack("IIQiIQQQ", 48, 0, 0, 0, 0, 100000, 0, 0), 48)
libc.syscall(number, 0, own, 0)
libc.syscall(number + 1, 0, own, 48, 0)
print(struct.unpack_from("IIQiIQ", own)[5] == 100000)
END
)
slice="other 0 300"
[ "$slices" = True ] || slice="other 0"
fifo="fifo 50"
chrt -f 50 true 2>/dev/null || fifo=$slice # a control group that forbids it, even to root

# ---- weir run ----

ports wa wb
alike "interfaces" "$fifo" 'worker 0 sleeps between packets'
ports net_af_packet0,iface=wa net_af_packet1,iface=wb
alike "net_af_packet" "$fifo" 'worker 0 sleeps between packets'
ports wa file:,out="$work/out.pcap"
alike "a capture" "$fifo" 'worker 0 sleeps between packets'
ports wa wb
alike "--priority none" "other 0" 'sleeps between packets' --priority none
alike "--sleep none" "other 0" 'running' --sleep none
! said 'sleeps' "$work/weir.err" || fail "--sleep none: it says that it sleeps"
if [ "$fifo" = "fifo 50" ]; then
	alike "--priority fifo:7" "fifo 7" 'SCHED_FIFO 7' --priority fifo:7
fi
if [ "$slices" = True ]; then
	alike "--priority slice" "$slice" 'slices of 300us' --priority slice
fi
refused 'is not a priority: write fifo, fifo:50, slice or none' --priority high
refused 'from 1 to 99' --priority fifo:100

# A port that cannot wake a worker: it polls, and has no priority.
ports net_null0,size=64 net_null1,size=64
alike "a port that wakes nobody" "other 0" 'polls processor .*isolcpus='
refused 'is for workers that sleep' --priority fifo

# A worker with a priority that never comes to sleep: net_null always has packets. It shares its
# only processor with control, which answers, and it has become ordinary.
weir_by="taskset -c $(($(nproc) - 1))"
weir_start --cores $(($(nproc) - 1)) --sleep 100us
is_ordinary()
{
	threads
	grep -q 'worker[^ ]* other 0' "$work/threads"
}
until_true is_ordinary || fail "a worker without a pause keeps its priority"
ctl show workers >/dev/null || fail "control does not answer beside a worker without a pause"
! said 'has not completed a poll' "$work/weir.err" || fail "the worker stalled"
weir_stop
echo "ok: a worker that is never idle leaves its processor to others"
weir_by=

# As an ordinary user, with the capabilities of docs/run.md, and no right to SCHED_FIFO.
ports wa wb
setcap cap_net_raw,cap_net_admin+ep "$weir"
root_weir=$WEIR root_socket=$socket
WEIR=$weir socket=$work/theirs/socket
weir_by=$user
alike "an ordinary user" "$slice" 'ulimit -r 50'
refused 'ulimit -r 50' --priority fifo
if prlimit --rtprio=50 true 2>/dev/null; then
	weir_by="prlimit --rtprio=50 $user"
	alike "an ordinary user with ulimit -r 50" "$fifo" 'sleeps between packets'
fi
weir_by=$user
setcap cap_net_raw,cap_net_admin,cap_sys_nice+ep "$weir"
alike "an ordinary user with CAP_SYS_NICE" "$fifo" 'sleeps between packets'
WEIR=$root_weir socket=$root_socket weir_by=

# ---- weir exec ----

setcap -r "$weir"
for as in "" "$user"; do
	[ -z "$as" ] || $user unshare -U true 2>/dev/null || continue
	wanted=$fifo
	[ -z "$as" ] || wanted=$slice
	# weir is the parent of the command's parent.
	$as "$weir" exec -q delay 1ms -- sh -c '
		parent=$(cut -d" " -f4 /proc/$$/stat)
		python3 "$0" $$
		python3 "$0" "$(cut -d" " -f4 "/proc/$parent/stat")"
	' "$work/threads.py" >"$work/threads" 2>"$work/said" || fail "exec: $(cat "$work/said")"
	[ ! -s "$work/said" ] || fail "exec is not quiet: $(cat "$work/said")"
	head -n 1 "$work/threads" | grep -q '^sh other 0' ||
		fail "the command has a priority: $(cat "$work/threads")"
	grep -q "worker[^ ]* $wanted" "$work/threads" ||
		fail "exec: no worker is '$wanted': $(cat "$work/threads")"
	$as "$weir" exec -q --log-level info delay 1ms -- true 2>"$work/said"
	said 'worker 0 sleeps between packets' "$work/said" || fail "exec: nothing about workers"
	echo "ok: exec${as:+ by an ordinary user}: the worker is $wanted, the command ordinary"
done
