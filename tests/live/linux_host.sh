# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the live tests of weir-host, behind topology.sh: weir-host in host A.
#
# Needs WEIR_HOST, the path of the program, or WEIR_HOST_MISSING, why there is none.

[ -z "${WEIR_HOST_MISSING:-}" ] || skip "weir-host was not built: $WEIR_HOST_MISSING"
[ -n "${WEIR_HOST:-}" ] || fail "WEIR_HOST is not set: the path of weir-host"

# A congestion control is the kernel's, not a namespace's: another weir-host may have it.
host_can() # response
{
	"$WEIR_HOST" "$1" --check >"$work/check" 2>&1 || skip "$(cat "$work/check")"
}

host_pid=
host_start() # arguments of weir-host
{
	: >"$work/host.out"
	ip netns exec A "$WEIR_HOST" "$@" -j >"$work/host.out" 2>"$work/host.err" &
	host_pid=$!
	# topology.sh ends what is named here.
	background="${background:-} $host_pid"
	for _ in $(seq 600); do
		grep -q 'weir-host: running' "$work/host.err" && return 0
		kill -0 $host_pid 2>/dev/null || fail "$(cat "$work/host.err")"
		sleep 0.05
	done
	fail "weir-host did not start within 30 s"
}

# The counters now, a line of JSON.
host_totals()
{
	lines=$(wc -l <"$work/host.out")
	kill -USR1 $host_pid
	for _ in $(seq 500); do
		[ "$(wc -l <"$work/host.out")" -gt "$lines" ] && break
		sleep 0.02
	done
	tail -1 "$work/host.out"
}

# Ends it: it must end well, and leave nothing in the kernel.
host_stop() # name of the congestion control
{
	kill -TERM $host_pid
	wait $host_pid || fail "weir-host ended with $?: $(cat "$work/host.err")"
	background=
	host_leaves_nothing "$1"
}

host_leaves_nothing() # name of the congestion control
{
	# Connections that have ended let it go a moment later.
	for _ in $(seq 400); do
		grep -qw "$1" /proc/sys/net/ipv4/tcp_available_congestion_control || break
		sleep 0.05
	done
	grep -qw "$1" /proc/sys/net/ipv4/tcp_available_congestion_control &&
		fail "$1 is still registered"
	$in_a ip -o link show eth0 | grep -q xdp && fail "an XDP program is left at A's interface"
	return 0
}
