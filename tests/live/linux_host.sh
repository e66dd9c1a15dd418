# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the live tests of weir-host, after topology.sh: weir-host in host A.
#
# Needs WEIR_HOST, the path of the program, or WEIR_HOST_MISSING, the reason why there is none.

[ -z "${WEIR_HOST_MISSING:-}" ] || skip "weir-host was not built: $WEIR_HOST_MISSING"
[ -n "${WEIR_HOST:-}" ] || fail "WEIR_HOST is not set: the path of weir-host"

# Congestion controls belong to the kernel, not to a namespace. Tests of several trees take turns.
exec 9>/run/weir-host-tests.lock
flock 9
# Another weir-host may have registered this one.
host_can() # response
{
	"$WEIR_HOST" "$1" --check >"$work/check" 2>&1 || skip "$(cat "$work/check")"
}

host_pid=
host_start() # arguments of weir-host
{
	: >"$work/host.out"
	: >"$work/host.err"
	ip netns exec A "$WEIR_HOST" "$@" -j >"$work/host.out" 2>"$work/host.err" &
	host_pid=$!
	# topology.sh kills the processes in $background.
	background="${background:-} $host_pid"
	until_true host_runs_or_died || fail "weir-host did not start within $PATIENCE_S s"
	said 'weir-host: running' "$work/host.err" ||
		{ wait $host_pid; fail "weir-host ended with $?: $(cat "$work/host.err")"; }
}

host_runs_or_died()
{
	said 'weir-host: running' "$work/host.err" || ! kill -0 $host_pid 2>/dev/null
}

# Prints the current counters, as a line of JSON.
host_totals()
{
	lines=$(wc -l <"$work/host.out")
	kill -USR1 $host_pid
	until_true host_lines_after "$lines" || fail "weir-host does not answer SIGUSR1"
	tail -1 "$work/host.out"
}

host_lines_after()
{
	[ "$(wc -l <"$work/host.out")" -gt "$1" ]
}

# Ends weir-host. It must end well, and leave nothing in the kernel.
host_stop() # name of the congestion control
{
	kill -TERM $host_pid
	wait $host_pid || fail "weir-host ended with $?: $(cat "$work/host.err")"
	background=
	host_leaves_nothing "$1"
}

host_has_let_go() # name of the congestion control
{
	! grep -qw "$1" /proc/sys/net/ipv4/tcp_available_congestion_control
}

host_leaves_nothing() # name of the congestion control
{
	# Connections that have ended release it a moment later.
	until_true host_has_let_go "$1" || fail "$1 is still registered"
	$in_a ip -o link show eth0 | grep -q xdp && fail "an XDP program is left at A's interface"
	return 0
}
