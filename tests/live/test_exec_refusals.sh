#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# weir exec: machines that lack something, and wrong arguments. One line says what is missing or
# wrong and what would help, the status is 125, and the command has not run.

. "$(dirname "$0")/topology.sh"
. "$(dirname "$0")/exec_world.sh"

refused() # the expected message, then the command to run
{
	says=$1
	shift
	status=0
	"$@" >"$work/out" 2>"$work/err" || status=$?
	[ $status = 125 ] || fail "status $status instead of 125: $*: $(cat "$work/err")"
	[ "$(wc -l <"$work/err")" = 1 ] && grep -q -e "^weir exec: .*$says" "$work/err" ||
		fail "$*: should say '$says', in one line: $(cat "$work/err")"
	[ ! -s "$work/out" ] || fail "$*: the command has run"
	echo "ok: $(cat "$work/err")"
}

run="$weir exec -q delay 1ms -- echo it runs"

# ---- machines; the empty folder is in a mount namespace of the command
refused 'there is no /dev/net/tun: modprobe tun' \
	unshare -m sh -c "mount -t tmpfs none /dev/net && exec $run"
refused 'DPDK finds the processors there: mount -t sysfs sysfs /sys' \
	unshare -m sh -c "mount -t tmpfs none /sys && exec $run"
# AddressSanitizer needs /proc itself.
if ! ldd "$weir" | grep -q libasan; then
	refused 'it has to be opened in /proc: mount -t proc proc /proc' \
		unshare -m sh -c "mount -t tmpfs none /proc && exec $run"
	# What is in flight at 1 Gbit/s fits into less than 4 GB.
	prlimit --as=4000000000 "$weir" exec -q delay 3s -- true || fail "a delay of 3 s"
	refused 'at most --memory' prlimit --as=4000000000 \
		"$weir" exec -q --memory 8000MB delay 3s -- echo it runs
fi
# In a chroot no user namespace can be created.
if unshare -Ur true 2>/dev/null; then
	refused 'a network namespace cannot be created' \
		unshare -Ur sh -c "echo 0 >/proc/sys/user/max_net_namespaces; exec $run"
fi
if $user unshare -U true 2>/dev/null; then
	refused 'user.max_user_namespaces' unshare -Ur sh -c "
		echo 0 >/proc/sys/user/max_user_namespaces
		exec setpriv --inh-caps=-all --bounding-set=-all $run"
fi

refused 'no network is left for the path: .*198.18.0.0/15' unshare --net sh -c "
	ip link set lo up
	for all in 198.18.0.0/15 100.64.0.0/10 10.0.0.0/8; do ip route add \$all dev lo; done
	exec $run"

# ---- without IPv6 the command has none, and all else works; without a route, errors come at once
sysctl -qw net.ipv6.conf.all.disable_ipv6=1
"$weir" exec -q delay 1ms -- sh -c 'ip -6 -o addr show weir0; ping -c 1 192.0.2.1' >"$work/out" ||
	fail "without IPv6"
! grep -q inet6 "$work/out" || fail "an IPv6 address where there is none: $(cat "$work/out")"
ip route del default
"$weir" exec -q delay 1ms -- ping -c 1 -W 20 198.51.100.1 >"$work/out" || true
grep -q 'Net Unreachable' "$work/out" || fail "without a route: $(cat "$work/out")"

# ---- words
refused 'unknown unit `xs`' "$weir" exec delay 40xs -- echo it runs
# After statements, a program's name starts the command. Alone, it could be a misspelt statement.
refused 'ping 192.0.2.1: .*if `ping` is the command, write `--`' "$weir" exec ping 192.0.2.1
refused 'delay 40 ping 192.0.2.1: .*if `ping` is the command, write `--`' \
	"$weir" exec delay 40 ping 192.0.2.1
# A command that is not installed is named, whatever else is wrong.
refused 'if `no-such-ping` is the command, there is no such program here' \
	"$weir" 1ms 1% no-such-ping -c 3 192.0.2.1
refused 'if `no-such-curl` is the command, there is no such program here' \
	"$weir" exec delay 1ms no-such-curl http://192.0.2.1
refused 'no such option --dwn; did you mean --down?' "$weir" exec --dwn 'delay 1ms' -- echo it runs
refused 'the scenario needs [0-9]* MiB of memory' \
	"$weir" exec rate 400gbit delay 100s -- echo it runs
grep -q '^weir exec: the scenario' "$work/err" || fail "a file without a name is wrong"
refused '--up rate 1: .*unit' "$weir" exec --up 'rate 1' -- echo it runs
refused 'no-such-scenario' "$weir" exec no-such-scenario -- echo it runs
refused '/no/such.weir: cannot be opened' "$weir" exec -c /no/such.weir -- echo it runs
printf 'port a\nport b\nport c\ncloud down from a to b\n' >"$work/three.weir"
refused 'the scenario must have two ports' "$weir" exec -c "$work/three.weir" -- echo it runs
refused 'no command after --' "$weir" exec delay 1ms --
refused 'each end, A and B, whatever' "$weir" exec delay 1ms --between 'a: true' 'b: true'
refused 'a command for each end' "$weir" exec --between 'iperf3 -s' 'B: iperf3 -c A'
refused 'cannot mount a private file over /etc/hosts, .*; create it' \
	unshare -m sh -c "mount -t tmpfs none /etc &&
		exec $weir exec -q --between 'A: true' 'B: true'"
# A chroot whose root is an ordinary folder, with mounts in it.
cat >"$work/enter" <<EOF
set -e
mkdir "$work/root" && cd "$work/root"
for place in /*; do
	if [ -d "\$place" ] && [ ! -L "\$place" ]; then
		mkdir ".\$place"
		mount --rbind "\$place" ".\$place"
	else
		cp -P "\$place" .
	fi
done
exec chroot . "$weir" exec -q --between 'A: true' 'B: true'
EOF
refused '/ is not a mount point in this chroot: .*mount --bind' unshare -m sh "$work/enter"
refused 'has its commands already' "$weir" exec --between 'A: true' 'B: true' -- true
refused '/no/such/p.pcapng: cannot be written' "$weir" exec --pcap /no/such/p.pcapng -- echo it runs
refused '/no/such/log: cannot be written' "$weir" exec --log /no/such/log -- echo it runs
refused '/no/such/p.html: cannot be written' "$weir" exec --picture /no/such/p.html -- echo it runs
printf 'port a\nport b\nclouds down from a to b per flow\ncloud up from b to a\n' >"$work/many.weir"
refused 'only single clouds can be recorded' \
	"$weir" exec -c "$work/many.weir" --log "$work/log" -- echo it runs
refused '--seed `x`' "$weir" exec --seed x -- echo it runs
refused '4095' "$weir" exec --cores 4095 -- echo it runs
refused '/no/such/report' "$weir" exec --report /no/such/report -- echo it runs
