# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the live tests. Gives them two hosts with weir between:
#
#     namespace A                  the test's namespace                   namespace B
#   +--------------+        +--------------------------------+        +--------------+
#   | eth0         |        |                                |        |         eth0 |
#   | 10.9.0.1/24 -+--veth--+- wa    weir run   (port a, b)  wb -+--veth--+- 10.9.0.2/24 |
#   +--------------+        +--------------------------------+        +--------------+
#
# The script runs itself again in network, mount and process namespaces of its own, so nothing can
# be left behind. On every exit weir is stopped. If it died before that, or does not end with the
# expected status, the test fails, whatever its own result.
#
# Needs WEIR, the path of the program. Without root, or without a tool, the test is skipped (status
# 77).

set -eu

skip()
{
	echo "SKIP: $*"
	exit 77
}

fail()
{
	echo "FAIL: $*" >&2
	exit 1
}

need()
{
	for tool; do
		command -v "$tool" >/dev/null 2>&1 || skip "$tool is not installed"
	done
}

# Copies weir to where an ordinary user may read it, as $weir: a clone may be in root's home. The
# programs of the levels are copied, too.
weir_for_all()
{
	chmod 755 "$work"
	for program in "$WEIR" "$WEIR"-v[234]; do
		[ ! -e "$program" ] || cp "$program" "$work/"
	done
	# The package, which draws pictures.
	cp -rL "$(dirname "$WEIR")/../weir-python" "$work/python"
	export PYTHONPATH="$work/python"
	weir=$work/${WEIR##*/}
}

[ -n "${WEIR:-}" ] || fail "WEIR is not set: the path of the program under test"
if [ -z "${WEIR_UNSHARED:-}" ]; then
	[ "$(id -u)" = 0 ] || skip "live tests make network namespaces, which takes root"
	need unshare ip ethtool ping jq
	unshare --net --mount --pid --fork true 2>/dev/null ||
		skip "this kernel or container forbids unshare"
	export WEIR_UNSHARED=1
	exec unshare --net --mount --pid --fork --kill-child --mount-proc -- "$0" "$@"
fi

# Takes precedence over other processes: on a shared machine they would distort the figures.
renice -n -15 $$ >/dev/null 2>&1 || true

# How long a test waits for something that must happen. This is not a claim about time, so it is far
# more than any machine takes.
PATIENCE_S=60

# cell TABLE ROW HEADING: a number of a table that weir has printed at its end. Columns that have no
# room beside the others are in a further row, under a heading of their own.
cell()
{
	awk -F '   *' -v table="$1" -v row="$2" -v wanted="$3" '
		$2 == table { for (i = 3; i <= NF; i++) heading[i] = $i }
		$2 == row { for (i = 3; i <= NF; i++) if (heading[i] == wanted) print $i }' \
		"$work/weir.out" | tr -d ,
}

until_true() # a command, which may itself call this function: repeats it until it succeeds
{
	local deadline
	deadline=$(($(date +%s) + PATIENCE_S))
	until "$@"; do
		[ "$(date +%s)" -lt $deadline ] || return 1
		sleep 0.05
	done
}

# Pings from A to B. When a link has come up, Linux begins to send on it up to a second later, at
# each end. Until then nothing arrives, which is not weir's fault.
ping_crosses()
{
	until_true $in_a ping -c 3 -i 0.2 -W 2 10.9.0.2 >"$work/ping"
}

# Checks that a file contains the words, in at least so many lines.
said() # words, file, number of lines
{
	[ "$(grep -c -e "$1" "$2" || true)" -ge "${3:-1}" ]
}

work=$(mktemp -d)
socket=$work/socket
weir_pid=
weir_status=0 # the expected status of weir

weir_alive()
{
	[ -n "$weir_pid" ] && kill -0 "$weir_pid" 2>/dev/null
}

# Stops weir, and reports an unexpected end.
weir_stop()
{
	status=0
	[ -n "$weir_pid" ] || return 0
	if weir_alive; then
		kill -TERM "$weir_pid"
	else
		echo "FAIL: weir died before it was stopped" >&2
		failed=1
	fi
	wait "$weir_pid" || status=$?
	weir_pid=
	if [ "$status" != "$weir_status" ]; then
		echo "FAIL: weir ended with status $status" >&2
		failed=1
	fi
}

clean_up()
{
	result=$?
	failed=0
	trap - EXIT INT TERM
	# Some may have ended.
	[ -z "${background:-}" ] || kill $background 2>/dev/null || true
	weir_stop
	if [ "$result" != 0 ] && [ "$result" != 77 ] || [ "$failed" != 0 ]; then
		echo "---- what weir said" >&2
		cat "$work"/weir.err "$work"/weir.out >&2 2>/dev/null || true
		[ "$result" = 0 ] && result=1
	fi
	# If a test is skipped early, the namespaces do not exist yet, which is not a failure.
	ip netns del A 2>/dev/null || true
	ip netns del B 2>/dev/null || true
	umount "$work"/* 2>/dev/null || true
	# A bind mount may be of the same file system; then --one-file-system does not detect it.
	if grep -q " $work/" /proc/self/mountinfo; then
		echo "FAIL: something is still mounted in $work, which is left as it is" >&2
		[ "$result" = 0 ] && result=1
	else
		rm -rf --one-file-system "$work"
	fi
	exit $result
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# ip netns and DPDK need these folders, and must not use the machine's.
mkdir -p /run/netns /run/dpdk
mount -t tmpfs none /run/netns || skip "no permission to mount"
mount -t tmpfs none /run/dpdk
ip link add probe type veth peer name eborp 2>/dev/null || skip "this kernel has no veth"
ip link del probe

# Variables and not functions: a background process must be the command itself, so that it can be
# killed.
in_a="ip netns exec A"
in_b="ip netns exec B"

quiet_interface() # runner interface: no offloads, no chatter of the kernel's own
{
	runner=$1
	shift
	$runner sysctl -qw "net.ipv6.conf.$1.disable_ipv6=1"
	$runner ethtool -K "$1" tx off tso off gso off gro off >/dev/null 2>&1
	$runner ip link set "$1" up
}

make_host() # namespace, its interface here, address
{
	ip netns add "$1"
	ip link add "$2" type veth peer name eth0 netns "$1"
	ip netns exec "$1" ip link set lo up
	ip netns exec "$1" ip addr add "$3" dev eth0
	quiet_interface "ip netns exec $1" eth0
	quiet_interface "" "$2"
}

make_hosts()
{
	ip link set lo up
	make_host A wa 10.9.0.1/24
	make_host B wb 10.9.0.2/24
	# Avoids ARP across the clouds under test, which would delay the first packet.
	$in_a ip neigh replace 10.9.0.2 lladdr "$($in_b cat /sys/class/net/eth0/address)" dev eth0
	$in_b ip neigh replace 10.9.0.1 lladdr "$($in_a cat /sys/class/net/eth0/address)" dev eth0
}

# Writes a scenario with two ports and two clouds; further lines come from standard input.
scenario()
{
	{
		echo 'seed 1'
		echo 'port a device net_af_packet0,iface=wa'
		echo 'port b device net_af_packet1,iface=wb'
		echo 'cloud down from a to b'
		echo 'cloud up from b to a'
		cat
	} >"$work/scenario.weir"
}

# For tests that judge no timing: an idle worker leaves its processor to others.
resting="--sleep 100us"

weir_launch() # further arguments of weir run
{
	# Discards the messages of the previous weir: the new one has not started when it is waited
	# for, and a signal would reach the shell that starts it. The shell that runs in the
	# background empties a file, too, but when it gets a processor.
	: >"$work/weir.err"
	${weir_by:-} "$WEIR" run -c "$work/scenario.weir" -s "$socket" "$@" >"$work/weir.out" \
		2>"$work/weir.err" &
	weir_pid=$!
}

weir_start() # further arguments of weir run
{
	weir_launch "$@"
	weir_runs
}

weir_runs() # waits for the weir that was just started
{
	until_true weir_runs_or_died || fail "weir did not start within $PATIENCE_S s"
	weir_alive || fail "weir did not start"
}

weir_runs_or_died()
{
	grep -q 'weir run: running' "$work/weir.err" || ! weir_alive
}

ctl()
{
	"$WEIR" ctl -s "$socket" "$@"
}

# Resets the counters. In a measurement, use this function: it remembers how long a worker was away.
away=0
clear_counters()
{
	longest=$(ctl -j show workers | jq '[.workers[].longest_poll_ns] | max')
	[ "$longest" -le "$away" ] || away=$longest
	ctl clear counters >/dev/null
}

# Repeats a measurement until its figure is right, five times at most. A figure is spoilt if a
# processor is taken away from a worker (for over 2 ms, which weir reports) or from the hosts (which
# nothing reports). So a figure that is wrong three times while no worker was disturbed is a
# failure; if workers were disturbed too often, the test is skipped.
undisturbed() # a function that measures and returns 1 if the figure is wrong
{
	quiet=0
	for attempt in 1 2 3 4 5; do
		ctl clear counters >/dev/null
		away=0
		"$@" && return 0
		clear_counters
		if [ "$away" -gt 2000000 ]; then
			echo "the processor was taken away for $((away / 1000000)) ms;" \
				"attempt $attempt of 5"
		else
			quiet=$((quiet + 1))
			[ $quiet -lt 3 ] || return 1
			echo "wrong $quiet times, and no worker was disturbed;" \
				"attempt $attempt of 5"
		fi
	done
	skip "the machine is too busy for a measurement"
}

listens() # in B: port
{
	$in_b ss -Hltn "sport = :$1" | grep -q .
}

listening() # in B: waits until the iperf3 that was just started there listens
{
	until_true listens 5201 || fail "iperf3 -s does not listen"
}

# Prints the median of a column of numbers.
median()
{
	sort -n | awk '{ v[NR] = $1 }
		END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# within WHAT VALUE LEAST MOST: checks that LEAST <= VALUE <= MOST, and prints the result
within()
{
	if awk -v v="$2" -v l="$3" -v m="$4" \
		'BEGIN { exit !(v != "" && v + 0 >= l && v + 0 <= m) }'; then
		echo "ok: $1: $2 (from $3 to $4)"
	else
		echo "not ok: $1: $2 (should be from $3 to $4)"
		return 1
	fi
}

# loads LEAST MOST: checks the seconds that curl takes for http://$web/hello, the least of three
loads()
{
	for _ in 1 2 3; do
		curl -s -o "$work/got" -w '%{time_total}\n' "http://$web/hello" ||
			fail "curl failed"
		[ "$(cat "$work/got")" = hello ] || fail "curl got: $(cat "$work/got")"
	done >"$work/times"
	took=$(sort -n "$work/times" | head -n 1)
	within "curl in s" "$took" "$1" "$2" || fail "curl"
}
